//! What expressions ask of the execution that they are evaluated in: subqueries, stored functions, the session.

use crate::program::function;
use crate::{Run, long, subquery};
use catalog::Table;
use expr::call::StoredCall;
use expr::operator::CmpOp;
use expr::row::Outside;
use expr::{Evaluation, Execution, Expr, Scope};
use std::cell::RefMut;
use std::sync::Arc;
use std::time::Duration;
use types::{CollationId, Result, Value};

impl Outside for Run<'_> {
    fn absent<'t>(&self, table: &'t Table, row: &[u8], column: usize) -> Result<Value<'t>> {
        long::absent(&self.tx.borrow(), table, row, column)
    }
}

impl Execution for Run<'_> {
    #[inline]
    fn evaluation(&self) -> &Evaluation<'_> {
        &self.evaluation
    }

    fn session(&self) -> RefMut<'_, dyn expr::Env + '_> {
        RefMut::map(self.env.borrow_mut(), |env| -> &mut (dyn expr::Env + '_) { &mut **env })
    }

    fn scalar(&self, query: usize, column: usize, at: Scope<'_>) -> Result<Value<'_>> {
        subquery::scalar(self, query, column, at)
    }

    fn exists(&self, query: usize, at: Scope<'_>) -> Result<bool> {
        subquery::exists(self, query, at)
    }

    fn contains(
        &self,
        query: usize,
        operands: &[Expr],
        collations: &[CollationId],
        at: Scope<'_>,
    ) -> Result<Option<bool>> {
        subquery::contains(self, query, operands, collations, at)
    }

    fn quantified(
        &self,
        query: usize,
        op: CmpOp,
        all: bool,
        operand: &Expr,
        collation: CollationId,
        at: Scope<'_>,
    ) -> Result<Option<bool>> {
        subquery::quantified(self, query, op, all, operand, collation, at)
    }

    fn call(&self, stored: &StoredCall, args: &[Expr], at: Scope<'_>) -> Result<Value<'static>> {
        function::evaluate(self, stored, args, at)
    }

    fn interrupt(&self) -> u8 {
        self.tx.borrow().interrupt().reason()
    }

    fn sleep(&self, time: Duration) -> bool {
        let interrupt = Arc::clone(self.tx.borrow().interrupt());
        interrupt.arm();
        interrupt.sleep(time, sync::waits::Wait::Sleep) != engine::Slept::Interrupted
    }

    fn get_lock(&self, name: &str, timeout: Duration) -> Result<bool> {
        self.env.borrow_mut().get_lock(name, timeout, &mut self.tx.borrow_mut())
    }
}
