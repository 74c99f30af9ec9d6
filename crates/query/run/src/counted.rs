//! EXPLAIN ANALYZE: rows, loops and time of an operator and all below it.

use super::subquery::Query;
use super::{Frame, Op, Run, Scope, Settled, Step};
use crate::context::{Outcome, RowSink};
use observe::clock::now_ns;
use plan::ColumnMeta;
use plan::explain::tree_text;
use plan::node::Explain;
use plan::node::Line;
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, Value};

/// What one operator did in all its loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    loops: u64,
    rows: u64,
    /// Nanoseconds until the first rows and until the ends.
    first_ns: u64,
    total_ns: u64,
}

pub struct CountedOp {
    pub inner: Box<dyn Op>,
    pub number: usize,
    /// Of this loop.
    pub spent_ns: u64,
    pub rows: u64,
}

impl CountedOp {
    fn count(&self, run: &Run<'_>, f: impl FnOnce(&mut Count)) {
        let mut counts = run.counts.borrow_mut();
        if counts.len() <= self.number {
            counts.resize(self.number + 1, Count::default());
        }
        f(&mut counts[self.number]);
    }
}

impl Op for CountedOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let start = now_ns();
        let result = self.inner.open(run, frame, outer);
        (self.spent_ns, self.rows) = (now_ns() - start, 0);
        let spent = self.spent_ns;
        self.count(run, |c| {
            c.loops += 1;
            c.total_ns += spent;
        });
        result
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let start = now_ns();
        let found = self.inner.next(run, frame, outer)?;
        let took = now_ns() - start;
        self.spent_ns += took;
        let (spent, first) = (self.spent_ns, found && self.rows == 0);
        self.rows += found as u64;
        self.count(run, |c| {
            c.total_ns += took;
            c.rows += found as u64;
            c.first_ns += if first { spent } else { 0 };
        });
        Ok(found)
    }

    fn reject(&mut self, run: &Run<'_>) {
        self.inner.reject(run);
    }

    fn settle(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<Settled> {
        self.inner.settle(run, frame, outer)
    }

    fn forget(&mut self) {
        self.inner.forget();
    }
}

pub struct ExplainStatement {
    rows: Vec<Vec<Value<'static>>>,
    analyze: Option<(Query, Vec<Line>)>,
    into: Option<String>,
}

impl ExplainStatement {
    pub fn new(e: Explain) -> ExplainStatement {
        let analyze = e.analyze.map(|(plan, lines)| (Query::new(*plan), lines));
        ExplainStatement { rows: e.rows, analyze, into: e.into }
    }

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
