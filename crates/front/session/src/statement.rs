//! What is asked of statements of all kinds.

use sql::ast::{ExplainTarget, Into, Parsed, Statement, Str};
use types::codes::*;
use types::{SqlError, err};

pub(crate) fn unsupported(what: &str) -> SqlError {
    err!(ER_NOT_SUPPORTED_YET, what)
}

pub(crate) fn text_of(parsed: &Parsed, s: Str) -> String {
    String::from_utf8_lossy(parsed.bytes(s)).into_owned()
}

pub(crate) fn parse_error(e: sql::ParseError) -> SqlError {
    expr::error::parse_error(&e)
}

/// Is this statement the executor's?
pub(crate) fn is_planned(statement: &Statement) -> bool {
    match statement {
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => true,
        Statement::Do(_) => true,
        Statement::Explain(e) => !matches!(e.target, ExplainTarget::Connection(_)),
        _ => false,
    }
}

/// Is it the interpreter's of stored programs?
pub(crate) fn is_interpreted(statement: &Statement) -> bool {
    matches!(statement, Statement::Call { .. } | Statement::Signal(_) | Statement::GetDiagnostics(_))
}

/// Is it a query that writes a file?
pub(crate) fn writes_file(parsed: &Parsed) -> bool {
    let Statement::Query(query) = parsed.statement else { return false };
    matches!(parsed[query].into.as_deref(), Some(Into::Outfile { .. } | Into::Dumpfile(_)))
}
