//! The one write-ahead log.
pub mod error;
pub mod log;
pub mod recovery;

pub use error::{Error, Result};
pub use log::{Appended, Checkpoint, Log, Options, Reservation, Status};
pub use recovery::{Group, Groups, Recovery};

/// Log sequence number: a byte position in the endless stream of groups. Always a multiple of 8; never reused.
pub type Lsn = u64;
