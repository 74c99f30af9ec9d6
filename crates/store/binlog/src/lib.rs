//! The binary log: MySQL's files, made of the engine's one log.
//!
//! ```text
//!   session: items of `payload` --> the transaction's events --> the group that commits it, in the log
//!                                                                    |  durable
//!   one thread, `writer`:  EventStream --> number, header, checksum --> binlog.000007 --> published end
//!                                                                                            |
//!   dump threads, SHOW BINLOG EVENTS: `reader`, below the published end  <-------------------+
//! ```
//! The place of a commit in the log is its place here: numbers, `last_committed`, positions and bytes follow from the log alone, so a
//! crash changes none of them. No session waits for this thread, and it takes no lock that a session takes to commit.

pub mod compress;
mod copy;
pub mod decode;
pub mod dependency;
pub mod error;
pub mod event;
pub mod files;
pub mod partial;
pub mod payload;
pub mod reader;
pub mod row;
mod sealed;
pub mod semisync;
pub mod statistics;
mod tagged;
pub mod writer;

pub use copy::Copied;
pub use error::{Error, Result};
pub use reader::{Read, Reader};
pub use sealed::{LogFile, LogKeys};
pub use semisync::{SemiSync, SemiSyncSettings, SemiSyncStatus};
pub use writer::{Binlog, Config, FileInfo, News, Published, Tracked, Tracker};
