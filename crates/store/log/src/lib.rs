//! The one write-ahead log: reserve, append, group flush, checkpoints, recovery scan.
//!
//! The log is an endless stream of bytes; an LSN is a position in it. A *group* is one contiguous, atomic append: all page changes of a
//! mini-transaction, or a commit with its binlog events. What is in it is the callers' business. Its place fixes its order.
//!
//! ```text
//!   appenders            ring in memory              segment files            device
//!   reserve: fetch_add   |free|....incomplete...|complete|   clearway-0000000007.log
//!   fill: memcpy                                 ^bound      ^written_lsn     ^flushed_lsn
//!   complete: own lane                           (computed)  (leader: pwrite) (leader: fdatasync)
//! ```
//!
//! | file | what it is |
//! | --- | --- |
//! | `log` | the handle: open, reserve, append, waits, checkpoints |
//! | `prefix` | the shared tail, the lanes, the contiguous complete prefix |
//! | `ring` | the bytes in memory |
//! | `turnstile` | who flushes next, who sleeps where, who wakes whom |
//! | `flush` | what the leader writes; waiting |
//! | `background` | the thread for what nobody waits for |
//! | `format` | groups and segment headers as bytes, and why stale bytes never pass |
//! | `segment`, `control` | the files |
//! | `sealed` | groups that are encrypted |
//! | `recovery` | finding the end, torn tail or damage, the scan |
//! | `follow`, `retention` | reading what is durable while the log grows; what the reader and writers without room tell each other |
//! | `copy` | a copy of the files while the log grows |
//!
//! ## What a commit shares
//!
//! One `fetch_add` on `tail`; reads of `written` and `flushed`, which leaders store once a round; its own lane. Then a wait: sleepers of
//! a round share one futex word, and are woken by one call.
//!
//! ## Full disk, failed disk
//!
//! A write or sync that fails poisons the log: what is on disk is unknown, a second sync would lie, so every later wait
//! fails until a restart reads what is there. A full disk shows only when a segment is made (they are zero-written whole); nothing is lost
//! by it: groups stay in the ring, and the next wait tries again. `ensure_room` finds out before the work is begun.

#[cfg(not(loom))]
mod background;
#[cfg(not(loom))]
mod control;
#[cfg(not(loom))]
mod copy;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
mod flush;
#[cfg(not(loom))]
mod follow;
#[cfg(not(loom))]
mod format;
#[cfg(not(loom))]
mod log;
#[cfg(not(loom))]
mod prefix;
#[cfg(not(loom))]
mod recovery;
#[cfg(not(loom))]
mod reservation;
#[cfg(not(loom))]
mod retention;
#[cfg(not(loom))]
mod ring;
#[cfg(not(loom))]
mod sealed;
#[cfg(not(loom))]
mod segment;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod survey;
#[cfg(not(loom))]
mod turnstile;

// The model checker sees the two protocols alone: `tests/loom.rs`.
#[cfg(loom)]
pub mod prefix;
#[cfg(loom)]
pub mod turnstile;

#[cfg(not(loom))]
pub use copy::LogCopy;
#[cfg(not(loom))]
pub use error::{Error, Result};
#[cfg(not(loom))]
pub use follow::Follower;
#[cfg(not(loom))]
pub use log::{Log, LogFile, Options, Owed};
#[cfg(not(loom))]
pub use recovery::{Group, Groups, Recovery};
#[cfg(not(loom))]
pub use reservation::{Appended, Reservation};
#[cfg(not(loom))]
pub use shared::Checkpoint;
#[cfg(not(loom))]
pub use survey::{Step, Survey};

/// Log sequence number: a byte position in the endless stream of groups. Always a multiple of 8; never reused; 0 is never.
pub type Lsn = u64;
