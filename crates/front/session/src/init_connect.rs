//! `init_connect`: statements that run behind the login of whoever has not the privilege CONNECTION_ADMIN.

use crate::error_log::Level;
use crate::hosts::HostError;
use crate::needs::{Action, may};
use crate::panics;
use crate::process::Doing;
use crate::session::{Done, Session};
use crate::variables::{VarId, id};
use expr::Env;
use protocol::{Connection, Next, Output};
use types::codes::*;
use types::{Result, SqlError, err};

const INIT_CONNECT: VarId = id("init_connect");

impl Session {
    /// The client has been let in. Of an error in one of the statements it hears with its first command, and the connection ends with that.
    pub(crate) fn init_connect(&mut self, conn: &mut Connection) -> Next {
        let globals = self.server.globals.load();
        let text = globals.text(INIT_CONNECT);
        if text.is_empty() || may(self.access(), Action::ReservedConnection) {
            return Next::Continue;
        }
        let text = text.to_string();
        drop(globals);
        self.run_init_connect(&text, conn)
    }

    #[cold]
    fn run_init_connect(&mut self, text: &str, conn: &mut Connection) -> Next {
        if self.password_expired {
            let (user, host) = self.state.user.rsplit_once('@').unwrap_or((&self.state.user, ""));
            let ignored = err!(ER_CONN_INIT_CONNECT_IGNORED, user, host);
            panics::note_of(self.state.id, Level::Warning, ignored.code, &ignored.message);
            return Next::Continue;
        }
        // The client need not wait for what it does not see.
        if conn.output().flush().is_err() {
            return Next::Close;
        }
        let mut out = Output::nowhere(&conn.hang_up());
        out.set_multi_statements(true);
        self.more = false;
        self.state.begin_statement();
        self.begin_logged(&out);
        self.entry.begin(Doing::Query, text.as_bytes(), self.state.clock_us);
        let result = self.query(text.as_bytes(), &mut out).and_then(|done| self.settle_unseen().map(|()| done));
        self.end_logged(result.as_ref().err(), &out);
        self.more = false;
        if self.settings_changed() {
            self.apply_to(conn);
        }
        match result {
            Ok(Done::Answered) => Next::Continue,
            Ok(Done::Close | Done::Upload | Done::Dump) => Next::Close,
            Err(error) => {
                self.abort(&error);
                Next::Continue
            }
        }
    }

    /// What the session has answered nobody becomes durable.
    pub(crate) fn settle_unseen(&mut self) -> Result<()> {
        if std::mem::take(&mut self.unsettled) { self.await_settled() } else { Ok(()) }
    }

    /// The connection is as good as killed.
    fn abort(&mut self, why: &SqlError) {
        let (user, host) = self.state.user.rsplit_once('@').unwrap_or((&self.state.user, ""));
        let (id, database) = (self.state.id, self.state.database().unwrap_or("unconnected"));
        let what = "init_connect command failed";
        let code = format!("{:06}", why.code);
        let logged = err!(ER_SERVER_NEW_ABORTING_CONNECTION, id, database, user, host, what, code, why.message);
        panics::note_of(id, Level::Warning, logged.code, &logged.message);
        self.aborted = Some(err!(ER_NEW_ABORTING_CONNECTION, id, database, user, host, what));
        self.server.hosts.outcome(&self.peer, Err(HostError::InitConnect));
        self.tx.interrupt().raise(2);
    }

    /// The first command of a session that was killed before: the error that it has waited with.
    #[cold]
    pub(crate) fn end_killed(&mut self, conn: &mut Connection) -> Next {
        if let Some(error) = self.aborted.take() {
            // Whether the client hears it or not, this was its last command.
            let _ = conn.output().error(&error);
        }
        Next::Close
    }
}
