//! One connection's session: command dispatch, variables, prepared statements, the transaction in progress.

use std::sync::Arc;

/// Everything that sessions share. One a process (tests may make several).
pub struct Server {}

/// Where a client comes from.
#[derive(Clone, Debug)]
pub enum Peer {
    Tcp(std::net::SocketAddr),
    Unix,
}

/// What the worker does after a call of [`Session::serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A command was answered: come again.
    Continue,
    /// The connection is over (QUIT, error, kill, timeout): close the socket.
    Close,
}

pub struct Session {}

impl Session {
    /// A session for a connection just accepted; `id` is the connection id.
    pub fn new(_server: &Arc<Server>, _id: u64, _peer: Peer) -> Session {
        todo!()
    }
}
