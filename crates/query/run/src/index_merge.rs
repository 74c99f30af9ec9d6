//! Index merge: rows of one table that the branches of an OR find by an index each.
//!
//! A row is passed on by the first branch whose condition it fulfils: what an earlier branch has passed on is known from its
//! condition, so no keys are kept or sorted. Rows come branch by branch.

use super::scan::ScanOp;
use super::{Frame, Op, Run, Scope};
use expr::Execution;
use expr::Expr;
use plan::node::IndexMerge;
use types::Result;

/// The rows that one of several scans finds, each once.
pub struct IndexMergeOp {
    branches: Vec<(ScanOp, Expr)>,
    /// The branch that is read.
    at: usize,
}

impl IndexMergeOp {
    /// Made of its plan, which has at least two branches.
    pub fn new(m: IndexMerge) -> IndexMergeOp {
        assert!(m.branches.len() > 1, "one branch is a scan");
        IndexMergeOp { branches: m.branches.into_iter().map(|(s, e)| (ScanOp::new(s), e)).collect(), at: 0 }
    }

    /// Is the row at hand the current branch's, and none's before it?
    fn is_own(&self, run: &Run<'_>, at: Scope<'_>) -> Result<bool> {
        for (_, condition) in &self.branches[..self.at] {
            if condition.eval_bool(run, at)? == Some(true) {
                return Ok(false);
            }
        }
        Ok(self.branches[self.at].1.eval_bool(run, at)? == Some(true))
    }
}

impl Op for IndexMergeOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.at = 0;
        self.branches[0].0.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            while self.branches[self.at].0.next(run, frame, outer)? {
                if self.is_own(run, Scope::new(frame, outer))? {
                    return Ok(true);
                }
                run.check_interrupt()?;
            }
            if self.at + 1 == self.branches.len() {
                return Ok(false);
            }
            self.at += 1;
            self.branches[self.at].0.open(run, frame, outer)?;
        }
    }
}
