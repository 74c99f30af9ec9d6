//! A replica: reads the binary log of another server and has its changes made here.
//!
//! ```text
//!   source --packets--> receiver: Connection, handshake, COM_BINLOG_DUMP
//!                          |  whole events, as they come
//!                          v
//!                       relay log: MySQL's files; dropped at each start of the server
//!                          |  published end
//!                          v
//!                       coordinator: which transactions, and what each depends on
//!                          |  schedule
//!                          v
//!                       workers: transactions of events  --trait Apply-->  a session each
//!                                                                             |  changes and position in one transaction
//!                                                                             v
//!                                                                          the engine
//! ```
//! What has been applied is known to the engine alone: the position of the next transaction is written by the transaction before it, so
//! that a crash neither skips nor repeats one. The relay log is a buffer: after a start of the server it is fetched anew from there on
//! (what MySQL calls `relay_log_recovery`), which needs no second file to be flushed and no agreement between two. Its price: what the
//! source has purged meanwhile cannot be taken from a relay log that was there.
//!
//! Knows packets of a client, events and positions. Must never know what a statement means or how rows are stored: whoever makes
//! changes implements [`Apply`], whoever has channels implements [`Host`].

mod applier;
mod auth;
mod changes;
mod channel;
pub mod client;
pub mod config;
mod coordinator;
pub mod errors;
pub mod fetch;
mod filter_options;
mod group;
mod host;
mod progress;
mod receiver;
mod relay;
pub mod replay;
mod schedule;
mod shared;
mod status;
mod until;
mod workers;

pub use channel::{Awaited, Channel, ThreadChoice};
pub use config::{Done, Filters, Mark, Position, SourceConfig};
pub use filter_options::FilterOptions;
pub use host::{Apply, Host, Origin};
pub use progress::{LastError, Progress};
pub use schedule::Turn;
pub use status::{IoState, SqlState, Status};
pub use until::Until;
pub use workers::WorkerStatus;
