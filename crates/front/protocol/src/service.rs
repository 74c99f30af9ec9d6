//! What stands behind a connection. The trait is owned here so that `listen` (sockets and threads) and `session`
//! (commands) need not know each other.

use crate::{Connection, HangUp, Peer};
use std::time::Duration;

/// What the worker does after a call of [`Service::greet`] or [`Service::serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Answered (the listener flushes what is still in the output buffer): come again with the next command.
    Continue,
    /// Answered, but not a byte may leave before [`Service::settle`] has returned.
    Settle,
    /// The connection is over (QUIT, error, kill): flush and close the socket.
    Close,
}

/// Why a session ends, for `Aborted_clients` and for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// [`Next::Close`] from the service.
    Service,
    /// The client closed the socket without COM_QUIT, or it broke.
    Client,
    /// `wait_timeout` or `interactive_timeout` ran out.
    IdleTimeout,
    /// A packet was malformed, too large or out of order.
    ProtocolError,
    /// The server stops.
    Shutdown,
}

/// Answers commands. One value a server; sessions are its per-connection state.
pub trait Service: Send + Sync + 'static {
    /// Travels between worker threads when the connection is parked, hence `Send`.
    type Session: Send + 'static;

    /// A client connected. Nothing was sent yet.
    fn open(&self, id: u32, peer: Peer, hang_up: HangUp) -> Self::Session;

    /// Handshake and authentication. The service sends its own OK or ERR, and counts Aborted_connects.
    fn greet(&self, session: &mut Self::Session, conn: &mut Connection) -> Next;

    /// One command is in `conn` (see [`Connection::split`]). The service writes the answer; the listener flushes.
    fn serve(&self, session: &mut Self::Session, conn: &mut Connection) -> Next;

    /// Waits until the answer that [`Service::serve`] has made may leave. Called on any thread that has entered the session; other
    /// sessions may be served before.
    fn settle(&self, session: &mut Self::Session, conn: &mut Connection) -> Next;

    /// The session becomes active: after `open`, and after it was parked.
    fn resume(&self, session: &mut Self::Session);

    /// The session is no longer active: it is parked.
    fn pause(&self, session: &mut Self::Session);

    /// The calling thread serves the session, which is active, and no other until [`Service::leave`]: for as long as it is
    /// active, or for one command.
    fn enter(&self, session: &mut Self::Session);

    /// The calling thread serves the session no longer.
    fn leave(&self, session: &mut Self::Session);

    /// Has the session something that others may wait for: a transaction, table locks, named locks? Then its next command is not kept
    /// waiting for theirs. Asked after each command, by the thread that has entered it.
    fn is_midway(&self, session: &Self::Session) -> bool;

    /// How long the session may stay idle: `wait_timeout` or `interactive_timeout`. Asked when it is parked.
    fn idle_limit(&self, session: &Self::Session) -> Duration;

    /// The server stops: interrupts the statements that run. New ones do not begin, since no more packets are read.
    fn interrupt(&self);

    /// The connection is over, its socket closed; the session may be active, but no thread serves it. Rolls back, releases, forgets,
    /// counts Aborted_clients.
    fn close(&self, session: Self::Session, by: ClosedBy);
}
