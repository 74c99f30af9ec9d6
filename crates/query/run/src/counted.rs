//! EXPLAIN ANALYZE: rows, loops and time of an operator and all below it.

use crate::execution::Count;
use crate::{Frame, Op, Run, Scope, Settled};
use observe::clock::now_ns;
use types::Result;

/// An operator that EXPLAIN ANALYZE watches.
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
