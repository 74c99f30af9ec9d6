//! Conditions that are the same for all rows: where one does not hold, no row is read at all, as where MySQL sees an impossible
//! WHERE.

use super::flow::FilterOp;
use super::{Frame, Op, Receive, Run, Scope, Settled};
use expr::{Expr, Node};
use plan::all_of;
use types::Result;

/// Rows of the input that a condition lets through.
pub fn filter(input: Box<dyn Op>, condition: Expr) -> Box<dyn Op> {
    let all = match condition.node {
        Node::And(list) => list,
        _ => vec![condition],
    };
    let (constants, others): (Vec<Expr>, Vec<Expr>) = all.into_iter().partition(Expr::is_constant);
    let input: Box<dyn Op> = match all_of(others) {
        Some(condition) => Box::new(FilterOp { input, condition }),
        None => input,
    };
    if constants.is_empty() { input } else { Box::new(OneTimeFilterOp { input, constants, is_open: false }) }
}

struct OneTimeFilterOp {
    input: Box<dyn Op>,
    constants: Vec<Expr>,
    is_open: bool,
}

impl Op for OneTimeFilterOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.is_open = false;
        for condition in &self.constants {
            if condition.eval_bool(run, Scope::new(frame, outer))? != Some(true) {
                return Ok(());
            }
        }
        self.is_open = true;
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.is_open { self.input.next(run, frame, outer) } else { Ok(false) }
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        if self.is_open { self.input.each(run, frame, outer, receive) } else { Ok(()) }
    }

    fn settle(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<Settled> {
        self.input.settle(run, frame, outer)
    }

    fn reject(&mut self, run: &Run<'_>) {
        self.input.reject(run);
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}
