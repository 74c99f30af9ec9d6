//! The schema `sys`: views, functions and procedures over `performance_schema` and `information_schema`. They are stored objects like
//! those of a user, made from the texts in this folder when a data directory is new, or is of a build that had none; a start that finds
//! them made reads none of the texts.

use crate::Server;
use crate::process::new_id;
use crate::session::Session;
use crate::variables::{Val, VarId, id};
use accounts::AccountName;
use catalog::dictionary::Kind;
use protocol::{ClosedBy, HangUp, Output, Peer};
use std::sync::Arc;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{Result, SqlError};

const SQL_LOG_BIN: VarId = id("sql_log_bin");
const SQL_MODE: VarId = id("sql_mode");

/// What a text is called, and what it says.
type Text = (&'static str, &'static str);

/// The dictionary's entry that says that the objects have been made, and the texts that make them: whoever drops some, or the schema,
/// keeps it so.
const SETS: [(&str, &[Text]); 2] = [("sys", &TEXTS), ("kept", &[("kept", include_str!("kept.sql"))])];

/// Of `sys`, in an order in which each finds what it uses. Statements end with a line that has [`END`] alone.
const TEXTS: [Text; 12] = [
    ("account", include_str!("account.sql")),
    ("config", include_str!("config.sql")),
    ("functions", include_str!("functions.sql")),
    ("thread_functions", include_str!("thread_functions.sql")),
    ("statements", include_str!("statements.sql")),
    ("accounts_views", include_str!("accounts_views.sql")),
    ("files", include_str!("files.sql")),
    ("tables", include_str!("tables.sql")),
    ("server", include_str!("server.sql")),
    ("setup", include_str!("setup.sql")),
    ("tools", include_str!("tools.sql")),
    ("reports", include_str!("reports.sql")),
];

const END: &str = "$$";

impl Server {
    /// Makes `sys`, and tables of `mysql`, where the data directory has none yet.
    pub fn make_sys(self: &Arc<Self>) -> Result<()> {
        let made = self.catalog.load_entries(Kind::Made)?;
        let missing = SETS.iter().filter(|(set, _)| !made.iter().any(|(name, _)| name == set));
        missing.into_iter().try_for_each(|(set, texts)| self.make_set(set, texts))
    }

    fn make_set(self: &Arc<Self>, set: &str, texts: &[Text]) -> Result<()> {
        // One flush is enough, that of the entry that says that all is there: the log has what was before it.
        self.engine.set_flush_log_at_commit(0);
        let made = self.run_texts(texts);
        self.apply_globals();
        let mut session = made?;
        let result = session.define(|ddl| ddl.put_entry(Kind::Made, set, b"1"));
        // No client has asked for any of it.
        session.counters.take_back();
        end(session);
        observe::setup::start_over();
        observe::digests::forget();
        crate::seen::truncate(self, "accounts");
        result
    }

    fn run_texts(self: &Arc<Self>, texts: &[Text]) -> Result<Box<Session>> {
        let no_socket = |e| SqlError::new(ER_CANT_CREATE_THREAD, format!("no socket: {e}"));
        let (hang_up, _peer) = HangUp::of_nobody().map_err(no_socket)?;
        let mut session = Box::new(Session::new(self, new_id(), Peer::Unix, hang_up.clone())?);
        let mut access = self.accounts.unlimited();
        access.act_for(AccountName::new("mysql.sys", "localhost"));
        session.access = Some(access);
        session.state.user = "mysql.sys@localhost".to_string();
        session.state.current_user = session.state.user.clone();
        session.entry_identify("mysql.sys");
        session.restrict();
        crate::charset::set_names(&mut session.state, CollationId::default_of(Charset::Utf8mb4));
        session.state.vars.set(SQL_LOG_BIN, Val::Bool(false));
        session.state.vars.set(SQL_MODE, Val::UInt(SqlMode::DEFAULT.0));
        session.state.reload();
        session.counters.attach();
        session.counters.enter();
        session.memory.arm();
        let mut out = Output::nowhere(&hang_up);
        for (name, text) in texts {
            for statement in statements(text) {
                if let Err(e) = session.run_text(statement, &mut out) {
                    end(session);
                    let start: String = statement.trim().chars().take(60).collect();
                    return Err(SqlError::new(e.code, format!("{name}: {start}: {}", e.message)));
                }
            }
        }
        Ok(session)
    }
}

impl Session {
    fn run_text(&mut self, text: &str, out: &mut Output) -> Result<()> {
        sync::blocking::serve(self.tx.interrupt());
        self.memory.begin();
        self.state.begin_statement();
        let result = self.query(text.as_bytes(), out);
        self.memory.end();
        result?;
        self.settle_unseen()
    }
}

fn end(mut session: Box<Session>) {
    session.counters.leave();
    session.counters.detach();
    session.close(ClosedBy::Service);
}

/// The statements of a text, without comments above them.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.find(&format!("\n{END}\n"))?;
        let statement = &rest[..at];
        rest = &rest[at + END.len() + 2..];
        Some(statement)
    })
}
