//! A connection as it is handed from thread to thread.

use protocol::{ClosedBy, Connection, Service};

/// One connection with its session, wherever it is.
pub struct Task<S: Service> {
    pub conn: Connection,
    pub session: S::Session,
    pub slot: usize,
    /// The socket is in the poller.
    pub registered: bool,
    pub stage: Stage,
    /// The session has what an active one has.
    pub resumed: bool,
    /// When it was last served, it had something that others may wait for.
    pub midway: bool,
    /// What of the connection's byte counts has been added to the status.
    pub counted: (u64, u64),
}

/// What a worker does first with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Greet,
    Serve,
    /// Nothing more is read.
    Close(ClosedBy),
}
