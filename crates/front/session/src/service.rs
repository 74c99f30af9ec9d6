//! The [`protocol::Service`] that the listener drives.

use crate::Server;
use crate::session::Session;
use crate::variables::{VarId, id};
use protocol::{ClosedBy, Connection, HangUp, Next, Peer, Service};
use std::sync::Arc;
use std::time::Duration;
use types::SqlError;

const WAIT_TIMEOUT: VarId = id("wait_timeout");

/// The server as the listener sees it.
pub struct Sessions(pub Arc<Server>);

/// A connection's session, or why it gets none.
pub enum Opened {
    Session(Box<Session>),
    Refused(SqlError),
}

impl Service for Sessions {
    type Session = Opened;

    fn open(&self, id: u32, peer: Peer, hang_up: HangUp) -> Opened {
        match Session::new(&self.0, id, peer, hang_up) {
            Ok(session) => Opened::Session(Box::new(session)),
            Err(error) => Opened::Refused(error),
        }
    }

    fn greet(&self, session: &mut Opened, conn: &mut Connection) -> Next {
        match session {
            Opened::Session(session) => session.admit(conn),
            Opened::Refused(error) => {
                // The connection closes whether the client reads it or not.
                let _ = conn.output().error(error);
                Next::Close
            }
        }
    }

    #[inline]
    fn serve(&self, session: &mut Opened, conn: &mut Connection) -> Next {
        match session {
            Opened::Session(session) => session.serve(conn),
            Opened::Refused(_) => Next::Close,
        }
    }

    fn settle(&self, session: &mut Opened, conn: &mut Connection) -> Next {
        match session {
            Opened::Session(session) => session.settle(conn.output()),
            Opened::Refused(_) => Next::Close,
        }
    }

    fn is_midway(&self, session: &Opened) -> bool {
        match session {
            Opened::Session(session) => session.is_midway(),
            Opened::Refused(_) => false,
        }
    }

    fn idle_limit(&self, session: &Opened) -> Duration {
        match session {
            Opened::Session(session) => {
                // An interactive client's wait_timeout was set from interactive_timeout at the login.
                Duration::from_secs(session.state.vars.uint(WAIT_TIMEOUT))
            }
            Opened::Refused(_) => Duration::ZERO,
        }
    }

    fn resume(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.counters.attach();
        }
    }

    fn pause(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.pause();
        }
    }

    #[inline]
    fn enter(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.attend();
        }
    }

    #[inline]
    fn leave(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.stop_attending();
        }
    }

    fn interrupt(&self) {
        self.0.processes.interrupt_all();
    }

    fn close(&self, session: Opened, by: ClosedBy) {
        if let Opened::Session(session) = session {
            session.close(by);
        }
    }
}
