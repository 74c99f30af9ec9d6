//! Routines that only compute, at hand from one call of a statement to its next.
//!
//! A function such as `RETURN x * 2 + 1`, or a trigger that sets a column, reads and changes nothing but its variables. Where it finds the
//! session as it wants it (the account, the schema, the SQL mode and the collation are those it was made under), its first call has
//! asked for the rights, and the next ones have nothing to make theirs and to give back but the conditions.

use super::function::{Transactions, Within, tell};
use super::interpreter::{Ended, Interpreter, Plans};
use super::lent::{Dictionary, Lent, SubPlan};
use super::{Compiled, Own};
use crate::Run;
use crate::context::{Conditions, Env, Kept};
use catalog::Routine;
use expr::call::StoredCall;
use observe::TimeTotals;
use observe::programs;
use sql::ast::{Expr, LocalId, Op, Parsed, Program};
use std::any::Any;
use std::sync::Arc;
use types::{Result, Value};

/// A routine that a statement has called, and might call again.
pub(crate) struct AtHand {
    pub compiled: Own,
    /// Of a function: what calls name.
    function: Option<Arc<Routine>>,
    /// `None`: in use.
    held: Option<(Plans<SubPlan>, Arc<Dictionary>)>,
    /// Buffers of the variables, and of those that were set.
    pub locals: Vec<Value<'static>>,
    pub set: Vec<LocalId>,
    /// Variables that it might set: see [`super::Rights::may_set`].
    pub settable: Vec<LocalId>,
    /// How often it ran, and those runs that were timed.
    runs: u64,
    timed: TimeTotals,
}

/// One in so many runs is timed, and stands for all: two looks at the clock take an eighth of what a short one takes.
const TIMED_EACH: u64 = 16;

impl AtHand {
    /// Is the call one of it?
    pub fn is_called(&self, stored: &StoredCall) -> bool {
        self.function.as_ref().is_some_and(|f| Arc::ptr_eq(f, &stored.routine)) && is_callers(stored)
    }

    /// Runs it with the values of its variables. Its conditions follow those that there are, if it `tells` of them or fails.
    pub(super) fn compute(
        &mut self,
        called: Option<&StoredCall>,
        tells: bool,
        both: Transactions<'_>,
        env: &mut dyn Env,
    ) -> Result<Ended> {
        let began_ns = if self.runs.is_multiple_of(TIMED_EACH) { programs::began_ns() } else { None };
        self.runs += 1;
        let before = env.exchange_conditions(Conditions::default());
        let (plans, version) = self.held.take().expect("it is there between calls");
        let mut host = Within::new(both, env, version);
        let mut interpreter = Interpreter::over(&mut host, plans, std::mem::take(&mut self.locals));
        interpreter.called = called;
        interpreter.set = std::mem::take(&mut self.set);
        let (_, plans, ended) = interpreter.run_with(&self.compiled);
        self.held = Some((plans, host.version));
        if let Some(began_ns) = began_ns {
            self.timed.merge(&programs::run_since(began_ns));
        }
        tell(env, before, tells || ended.is_err());
        ended
    }
}

/// Whose rights the call needs are those of the statement.
fn is_callers(stored: &StoredCall) -> bool {
    stored.caller.is_none() && stored.view.is_none()
}

impl Run<'_> {
    /// The routine at hand, which is kept again after its call.
    pub(super) fn take_at_hand(&self, is: impl Fn(&AtHand) -> bool) -> Option<Box<AtHand>> {
        let mut all = self.at_hand.borrow_mut();
        let of = |kept: &dyn Kept| (kept as &dyn Any).downcast_ref().is_some_and(&is);
        let at = all.iter().position(|kept| of(&**kept))?;
        let kept: Box<dyn Any> = all.swap_remove(at);
        kept.downcast().ok()
    }

    pub(super) fn keep_at_hand(&self, hand: Box<AtHand>) {
        self.at_hand.borrow_mut().push(hand);
    }

    /// A routine was called that has found the session as it wants it: it stays at hand, if it only computes.
    pub(super) fn put_at_hand(&self, compiled: &Own, stored: Option<&StoredCall>) -> Result<()> {
        if !compiled.computes || !stored.is_none_or(is_callers) {
            return Ok(());
        }
        let mut env = self.env.borrow_mut();
        let lent = Lent::of(env.lent())?;
        self.keep_at_hand(Box::new(AtHand {
            compiled: compiled.clone(),
            function: stored.map(|s| Arc::clone(&s.routine)),
            held: Some((lent.take_plans(compiled), lent.dictionary()?)),
            locals: Vec::new(),
            set: Vec::new(),
            settable: Vec::new(),
            runs: 0,
            timed: TimeTotals::NONE,
        }));
        Ok(())
    }
}

impl Kept for AtHand {
    #[cold]
    fn give_back(self: Box<Self>, env: &mut dyn Env) {
        if self.runs > 0 {
            let sum_ns = u128::from(self.timed.sum_ns) * u128::from(self.runs) / u128::from(self.timed.count.max(1));
            let runs = TimeTotals { count: self.runs, sum_ns: sum_ns as u64, ..self.timed };
            env.note_runs(&self.compiled.routine, &runs);
        }
        if let (Ok(lent), Some((plans, _))) = (Lent::of(env.lent()), self.held) {
            lent.keep_plans(plans);
        }
    }
}

/// Does a program do nothing but compute?
pub(super) fn computes(program: &Program) -> bool {
    let is_step = |op: &Op| {
        matches!(
            op,
            Op::Set { .. }
                | Op::Clear(_)
                | Op::SetCase { .. }
                | Op::Jump(_)
                | Op::JumpUnless { .. }
                | Op::CaseNotFound
                | Op::Return(_)
        )
    };
    program.code.iter().all(is_step) && program.parts.iter().all(|part| part.exprs().iter().all(|e| is_plain(part, e)))
}

/// No subquery, no other routine, and nothing that is put aside while a routine runs: a function with LAST_INSERT_ID(x).
fn is_plain(part: &Parsed, e: &Expr) -> bool {
    match e {
        Expr::InQuery { .. } | Expr::Quantified { .. } | Expr::Exists(_) | Expr::Subquery(_) => false,
        Expr::AssignUserVar { .. } => false,
        Expr::Call { schema, name, .. } => {
            let name = part.name(*name);
            schema.is_none() && !name.eq_ignore_ascii_case("last_insert_id") && expr::functions::find(name).is_some()
        }
        _ => true,
    }
}

impl Compiled {
    /// See [`AtHand`].
    pub(super) fn find_computes(mut self) -> Compiled {
        self.computes = computes(self.program());
        self
    }
}
