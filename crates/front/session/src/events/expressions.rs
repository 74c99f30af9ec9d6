//! What a schedule may ask for.

use sql::ast::{Expr, ExprId, Parsed, Statement};
use types::codes::*;
use types::{Result, err};

/// The expressions whose values the statement needs before it runs.
pub(crate) fn scheduled(statement: &Statement) -> Option<Vec<ExprId>> {
    let schedule = match statement {
        Statement::CreateEvent(create) => create.clauses.schedule,
        Statement::AlterEvent(alter) => alter.clauses.schedule,
        _ => None,
    };
    schedule.map(|schedule| schedule.expressions())
}

/// Error 1235 for what a schedule may not ask for.
pub(crate) fn check_schedule(parsed: &Parsed) -> Result<()> {
    let calls = |e: &Expr| match e {
        Expr::Call { name, .. } => expr::functions::find(parsed.name(*name)).is_none(),
        _ => false,
    };
    if parsed.table_refs().is_empty() && !parsed.exprs().iter().any(calls) {
        return Ok(());
    }
    let what = "Event schedule expressions which contain subqueries or stored function calls";
    Err(err!(ER_NOT_SUPPORTED_YET, what))
}
