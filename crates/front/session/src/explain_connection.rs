//! EXPLAIN FOR CONNECTION: the plan of what another session runs, made anew from its text in this session, whose variables count.

use crate::needs::Action;
use crate::run::lexer_mode;
use crate::session::{Done, Session};
use crate::statement::{is_planned, parse_error};
use protocol::{Output, RowFormat};
use run::Outcome;
use sql::ast::{Explain, ExplainFormat, ExplainTarget, Statement};
use types::codes::*;
use types::{Result, SqlError, Value, err};

impl Session {
    /// OK without rows for a session that runs nothing. Errors 1045, 1094, 3012 and those of planning.
    pub(crate) fn explain_connection(&mut self, explain: &Explain, out: &mut Output) -> Result<Done> {
        let ExplainTarget::Connection(id) = explain.target else { unreachable!("the rest is planned") };
        if explain.analyze {
            return Err(err!(ER_NOT_SUPPORTED_YET, "EXPLAIN ANALYZE FOR CONNECTION"));
        }
        let process = self.server.processes.list().into_iter().find(|p| p.id == id);
        let process = process.ok_or_else(|| err!(ER_NO_SUCH_THREAD, id))?;
        // Of a session that runs nothing there is nothing to hide.
        let Some(text) = process.info else {
            self.ok(out, &Outcome::default())?;
            return Ok(Done::Answered);
        };
        if self.state.login_name() != process.user {
            let account = &self.access().account().name;
            let denied = |_| err!(ER_ACCESS_DENIED_ERROR, account.user, account.host, self.used_password());
            self.need(Action::ExplainOthers).map_err(denied)?;
        }
        let verb = match explain.format {
            ExplainFormat::Default => "EXPLAIN ",
            ExplainFormat::Traditional => "EXPLAIN FORMAT=TRADITIONAL ",
            ExplainFormat::Json => "EXPLAIN FORMAT=JSON ",
            ExplainFormat::Tree => "EXPLAIN FORMAT=TREE ",
        };
        let before = self.state.database.clone();
        self.state.database = process.database;
        let result = self.explain_text(&format!("{verb}{text}"), out);
        self.state.database = before;
        result
    }

    fn explain_text(&mut self, text: &str, out: &mut Output) -> Result<Done> {
        let parsed = sql::parse(text.as_bytes(), lexer_mode(self.state.sql_mode)).map_err(|e| match e.code() {
            // Another kind of statement, or several.
            ER_PARSE_ERROR => not_explainable(),
            _ => parse_error(e),
        })?;
        if !matches!(parsed.statement, Statement::Explain(_)) || !is_planned(&parsed.statement) {
            return Err(not_explainable());
        }
        let values = vec![Value::Null; parsed.param_count as usize];
        let mut planned = self.plan(parsed, &[])?;
        self.run(&mut planned, &values, RowFormat::Text, out)
    }
}

fn not_explainable() -> SqlError {
    err!(ER_EXPLAIN_NOT_SUPPORTED)
}
