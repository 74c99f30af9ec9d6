//! Sockets, worker threads, parking of idle connections, shutdown.
//!
//! ```text
//!            accept                       hand over                   serve
//!  socket -----------> [acceptor thread] ------------> [worker thread] -------> Service::serve, command after command
//!     |                   [poller thread] ------------>  ^ |
//!     |                   ^     | ready                  | |
//!     |                   |     +-- parked connections <---+ no command for some tens of milliseconds
//!     |                   +-------- epoll, one-shot      |
//!     +--------------------------------------------------+ accept: workers whose connection has ended (`doors`)
//! ```
//!
//! A worker serves one connection with blocking reads for as long as it is active. A busy connection touches nothing that
//! is shared: no queue, no poller, no table. Only a connection that falls idle goes through the table of slots (one mutex)
//! and the poller; its memory is then a slot, a session and two empty buffers, and it holds no thread.
//!
//! In a crowd, more active connections than a thread each does well with, workers pass them on to the `crew`: a thread a CPU serves
//! them in turn, few of them at a time (`turns`).
//!
//! There may be as many workers as connections, so a statement that waits for a lock never keeps another connection's
//! COMMIT from being read. Workers that find nothing to do end after a while.
//!
//! Must never know what a command means: all that is behind [`protocol::Service`].

mod config;
mod crew;
mod doors;
mod poller;
mod pool;
mod proxy;
mod readiness;
mod shared;
mod slots;
mod socket;
mod task;
mod turns;
mod worker;

pub use config::Config;
pub use poller::Listener;
pub use proxy::Network;
pub use socket::check;
