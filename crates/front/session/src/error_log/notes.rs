//! What the error log is told of connections, for whoever asks for notes.

use super::Level;
use crate::panics;
use crate::session::Session;
use expr::Env;
use protocol::ClosedBy;
use types::codes::*;
use types::{SqlError, err};

impl Session {
    /// A login has failed: what the client was told.
    #[cold]
    pub(crate) fn note_denied(&self, error: &SqlError) {
        let code = match error.code {
            ER_ACCESS_DENIED_ERROR | ER_ACCESS_DENIED_NO_PASSWORD_ERROR => ER_ACCESS_DENIED_ERROR_WITH_PASSWORD,
            _ => return,
        };
        panics::note_of(self.state.id, Level::Note, code, &error.message);
    }

    /// The connection has ended without COM_QUIT.
    #[cold]
    pub(crate) fn note_aborted(&self, by: ClosedBy) {
        let why = match by {
            ClosedBy::Client => "Got an error reading communication packets",
            ClosedBy::IdleTimeout => "The client was disconnected by the server because of inactivity.",
            ClosedBy::ProtocolError => "Got packets out of order",
            ClosedBy::Service | ClosedBy::Shutdown => return,
        };
        let user = self.access.as_ref().map_or("unauthenticated", |access| access.account().name.user.as_str());
        let schema = self.state.database().unwrap_or("unconnected");
        let told = err!(ER_ABORTING_USER_CONNECTION, self.state.id, schema, user, self.peer.host(), why);
        panics::note_of(self.state.id, Level::Note, told.code, &told.message);
    }
}
