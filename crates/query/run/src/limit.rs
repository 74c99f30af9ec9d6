//! LIMIT.

use super::{Frame, Op, Receive, Run, Scope, Step};
use expr::{Execution, Expr};
use types::codes::*;
use types::{Result, Value, err};

/// The value of a LIMIT clause, of which NULL is 0. Errors 1210, 1690 for parameters that are no counts. COM_STMT_EXECUTE may
/// bring a string, as clients do that bind everything as one; EXECUTE may not.
pub fn limit_value(e: &Expr, run: &Run<'_>, at: Scope<'_>) -> Result<u64> {
    match e.eval(run, at)? {
        Value::Int(v) if v >= 0 => Ok(v as u64),
        Value::UInt(v) => Ok(v),
        Value::Null => Ok(0),
        // A variable of a program counts as it is without a sign.
        Value::Int(v) if matches!(e.node, expr::Node::Local(..)) => Ok(v as u64),
        given => given_limit(&given, run.env.borrow().runs_execute()),
    }
}

/// So many rows, from the offset on.
pub struct LimitOp {
    pub input: Box<dyn Op>,
    pub count: Expr,
    pub offset: Option<Expr>,
    pub left: u64,
    pub skip: u64,
    /// SQL_CALC_FOUND_ROWS: goes on to the end of the input.
    pub count_all: bool,
    /// Rows of the input so far, and whether its end was reached.
    pub seen: u64,
    pub ended: bool,
}

impl LimitOp {
    /// Counts what is left of the input.
    #[cold]
    fn count_rest(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        while !self.ended {
            run.check_interrupt()?;
            match self.input.next(run, frame, outer)? {
                true => self.seen += 1,
                false => self.ended = true,
            }
        }
        run.found_rows.set(Some(self.seen));
        Ok(())
    }
}

impl Op for LimitOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let at = Scope::new(frame, outer);
        self.left = limit_value(&self.count, run, at)?;
        self.skip = match &self.offset {
            Some(o) => limit_value(o, run, at)?,
            None => 0,
        };
        self.seen = 0;
        self.ended = false;
        if self.left == 0 && !self.count_all {
            return Ok(());
        }
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        while self.skip > 0 && self.left > 0 {
            if !self.input.next(run, frame, outer)? {
                self.left = 0;
                self.ended = true;
                break;
            }
            self.seen += 1;
            self.skip -= 1;
            run.check_interrupt()?;
        }
        if self.left == 0 {
            if self.count_all {
                self.count_rest(run, frame, outer)?;
            }
            return Ok(false);
        }
        self.left -= 1;
        let found = self.input.next(run, frame, outer)?;
        self.seen += found as u64;
        if !found {
            self.left = 0;
            self.ended = true;
            if self.count_all {
                self.count_rest(run, frame, outer)?;
            }
        }
        Ok(found)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        if self.count_all {
            while self.next(run, frame, outer)? {
                receive(Scope::new(frame, outer))?;
            }
            return Ok(());
        }
        if self.left == 0 {
            return Ok(());
        }
        let LimitOp { input, left, skip, .. } = self;
        input.each(run, frame, outer, &mut |at| {
            if *skip > 0 {
                *skip -= 1;
                run.check_interrupt()?;
                return Ok(Step::More);
            }
            *left -= 1;
            let step = receive(at)?;
            Ok(if *left == 0 { Step::Stop } else { step })
        })
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

#[cold]
fn given_limit(given: &Value<'_>, runs_execute: bool) -> Result<u64> {
    let (range, command) = match runs_execute {
        true => ("unsigned integer", "EXECUTE"),
        false => ("SIGNED INTEGER", "mysqld_stmt_execute"),
    };
    match given {
        Value::Int(_) => Err(err!(ER_DATA_OUT_OF_RANGE, range, command)),
        Value::Bytes(_) if !runs_execute => Ok(given.to_u64()),
        _ => Err(err!(ER_WRONG_ARGUMENTS, command)),
    }
}
