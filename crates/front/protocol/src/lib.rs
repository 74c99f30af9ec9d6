//! MySQL client/server packets <-> typed commands and rows; handshake and authentication exchange.
//!
//! Knows bytes and sockets. Must never know what a statement means, who has which privilege or what a session holds:
//! whoever answers commands implements [`Service`], whoever knows passwords implements [`Authenticator`].
//!
//! ```text
//!  listen                      protocol                              session
//!  ------                      --------                              -------
//!  accept ------------------>  Connection::new
//!  Service::open  ------------------------------------------------>  a session
//!  Service::greet ------------------------------------------------>  Connection::authenticate, then OK or ERR
//!  loop
//!    Connection::read_packet -> Idle: park, Closed: end
//!    Service::serve ---------------------------------------------->  let (packet, out) = conn.split();
//!                                                                    Command::parse(packet), answer through `out`
//! ```
//!
//! A busy client costs two system calls a command: one `recv` (header and body come together) and one `send` (the whole
//! answer, unless it is larger than [`output::FLUSH_BYTES`]).
//!
//! A packet on the wire, in both directions:
//!
//! ```text
//!  0        3      4
//!  +--------+------+---------------------------+
//!  | length | seq  | payload                   |   length 0xffffff: the payload goes on in the next packet
//!  +--------+------+---------------------------+
//! ```

pub mod auth;
pub mod binary;
pub mod capability;
pub mod column;
pub mod command;
pub mod compress;
pub mod connection;
pub mod execute;
pub mod handshake;
pub mod head;
pub mod input;
pub mod output;
mod peer;
mod pem;
mod plain;
pub mod reply;
pub mod rsa;
pub mod service;
pub mod stream;
pub mod text;
pub mod tls;
pub mod wire;

pub use auth::{Authenticator, FastAuth, LoginError, Offer, Plugin};
pub use capability::{Capabilities, ServerStatus};
pub use column::{Column, ColumnFlags};
pub use command::Command;
pub use compress::{Algorithm, Allowed};
pub use connection::{Connection, ReadOutcome, Timeouts, WRITE_TIMEOUT, idle_for_too_long, too_many_connections};
pub use execute::{Parameter, ParameterType};
pub use handshake::{Greeting, Login};
pub use head::RowsHead;
pub use output::{AnswerStart, Output};
pub use peer::{HangUp, Peer};
pub use reply::{OkReply, RowFormat, StateChange};
pub use rsa::RsaKeys;
pub use service::{ClosedBy, Next, Service};
pub use stream::Stream;
pub use tls::TlsInfo;
