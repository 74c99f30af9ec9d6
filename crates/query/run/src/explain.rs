//! EXPLAIN, and what EXPLAIN ANALYZE has counted.

use crate::build::build_query;
use crate::context::{Outcome, RowSink};
use crate::execution::Count;
use crate::subquery::Query;
use crate::{Run, Step};
use plan::ColumnMeta;
use plan::explain::tree_text;
use plan::node::{Explain, Line};
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, Value};

/// EXPLAIN, and EXPLAIN ANALYZE with the statement that it runs.
pub struct ExplainStatement {
    rows: Vec<Vec<Value<'static>>>,
    analyze: Option<(Query, Vec<Line>)>,
    into: Option<String>,
}

impl ExplainStatement {
    /// Made of its plan.
    pub fn new(e: Explain) -> ExplainStatement {
        let analyze = e.analyze.map(|(plan, lines)| (build_query(*plan), lines));
        ExplainStatement { rows: e.rows, analyze, into: e.into }
    }

    /// Sends the rows; those of ANALYZE once the statement has run.
    pub fn execute(&mut self, run: &Run<'_>, columns: &[ColumnMeta], sink: &mut dyn RowSink) -> Result<Outcome> {
        if let Some((query, lines)) = &mut self.analyze {
            query.forget();
            query.open(run, None)?;
            query.each(run, &mut |outputs, at| {
                for e in outputs {
                    e.eval(run, at)?;
                }
                Ok(Step::More)
            })?;
            let of = |c: &Count| {
                let per = |ns: u64| ns as f64 / 1e6 / c.loops.max(1) as f64;
                (per(c.first_ns), per(c.total_ns), c.rows as f64 / c.loops.max(1) as f64, c.loops)
            };
            let actual: Vec<_> = run.counts.borrow().iter().map(of).collect();
            let text = tree_text(lines, Some(&actual));
            self.rows = vec![vec![Value::Bytes(text.into_bytes().into())]];
        }
        if let Some(name) = &self.into {
            let ty = DataType::string(TypeKind::LongText, u32::MAX, CollationId::UTF8MB4_0900_AI_CI);
            for text in self.rows.iter().flatten() {
                run.env.borrow_mut().set_user_variable(name, text.clone(), ty);
            }
            return Ok(Outcome::default());
        }
        sink.columns(columns)?;
        for row in &self.rows {
            sink.row(row)?;
        }
        Ok(Outcome { affected_rows: self.rows.len() as u64, ..Outcome::default() })
    }
}
