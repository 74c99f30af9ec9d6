//! `performance_schema.prepared_statements_instances`.

use crate::statements::{figures, ps, times};
use crate::{Context, Row, maybe, text, uint};
use observe::{Figure, StatementTotals};
use types::{Result, Value};

/// A prepared statement that is there.
#[derive(Clone, Debug)]
pub struct PreparedInstance {
    pub address: u64,
    pub id: u64,
    /// Of SQL PREPARE.
    pub name: Option<String>,
    pub text: String,
    pub thread: u64,
    /// The event that has prepared it.
    pub event_id: u64,
    /// The program that has prepared it: its kind, schema and name.
    pub owner: Option<(&'static str, String, String)>,
    pub prepare_ns: u64,
    pub reprepared: u64,
    /// Of its executions.
    pub totals: StatementTotals,
}

/// Kinds of programs as the column has them.
const KINDS: [&str; 5] = ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"];

pub(crate) fn instances(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.prepared_instances().into_iter().map(|instance| {
        let PreparedInstance { address, id, name, text: sql, thread, event_id, owner, totals, .. } = instance;
        let mut row = vec![uint(address), uint(id), maybe(name), text(sql), uint(thread), uint(event_id)];
        match owner {
            Some((kind, schema, name)) => {
                let kind = KINDS.iter().position(|known| *known == kind).map_or(0, |at| at as u64 + 1);
                row.extend([uint(kind), text(schema), text(name)]);
            }
            None => row.extend([Value::Null, Value::Null, Value::Null]),
        }
        // ENUM('PRIMARY','SECONDARY')
        row.extend([uint(1), ps(instance.prepare_ns), uint(instance.reprepared)]);
        row.extend(times(&totals.time));
        row.extend(figures(&totals.figures).take(Figure::MaxTotalMemory as usize + 1));
        // COUNT_SECONDARY
        row.push(uint(0));
        row
    }));
    Ok(())
}
