//! Recursive common table expressions. The working table holds all rows; the recursive blocks read those of the last round and
//! append those of the next, until there are none.

use crate::key_set::KeySet;
use crate::limit::limit_value;
use crate::spill::{Place, WorkingTable};
use crate::subquery::Query;
use crate::{Frame, Op, Receive, Run, Scope, Step, tuple};
use expr::key::encode_key;
use expr::{Execution, convert};
use observe::Counter;
use plan::node::{QueryPlan, Recursive};
use std::sync::Arc;
use types::codes::*;
use types::{DataType, Result, StoreContext, TypeKind, Value, err};

/// A recursive common table expression.
pub struct RecursiveOp {
    number: usize,
    slot: usize,
    seed: Query,
    steps: Vec<Query>,
    distinct: bool,
    types: Vec<DataType>,
    members: Vec<Arc<[String]>>,
    names: Vec<String>,
    limit: Option<(expr::Expr, Option<expr::Expr>)>,
    seen: KeySet,
    key: Vec<u8>,
    row: Vec<u8>,
    next: Place,
    memory_max: usize,
}

impl RecursiveOp {
    /// `build`: what makes a query of a plan.
    pub fn new(r: Recursive, build: fn(QueryPlan) -> Query) -> RecursiveOp {
        RecursiveOp {
            number: r.number,
            slot: r.slot,
            seed: build(r.seed),
            steps: r.steps.into_iter().map(build).collect(),
            distinct: r.distinct,
            types: r.types,
            members: r.members,
            names: r.names,
            limit: r.limit,
            seen: KeySet::default(),
            key: Vec::new(),
            row: Vec::new(),
            next: Place::default(),
            memory_max: 0,
        }
    }

    /// Appends the rows of a block; the first so many in all.
    fn append(&mut self, block: Option<usize>, most: usize, run: &Run<'_>, outer: Option<&Scope<'_>>) -> Result<()> {
        let RecursiveOp { number, seed, steps, distinct, types, members, names, seen, key, row, memory_max, .. } = self;
        let query = match block {
            None => seed,
            Some(i) => &mut steps[i],
        };
        query.open(run, outer)?;
        let mut count = run.working.borrow()[*number].rows.count();
        while count < most && query.next(run, outer)? {
            run.check_interrupt()?;
            row.clear();
            key.clear();
            let at = Scope::new(&query.frame, outer);
            let mut w = tuple::Writer::new(row, types.len());
            for (i, (e, ty)) in query.outputs.iter().zip(types.iter()).enumerate() {
                let v = e.eval(run, at)?;
                // What nothing is to be done for.
                if let (Value::Int(_), TypeKind::BigInt, false, false) = (&v, ty.kind, ty.unsigned, *distinct) {
                    w.push(&v);
                    continue;
                }
                let source = convert::source_type(&e.ty, &v);
                // The mode of the session: a value that does not fit its column is an error where an INSERT of it is.
                let context =
                    StoreContext { mode: run.evaluation.sql_mode, column: &names[i], row: 1, members: &members[i] };
                let v = if v.is_null() { v } else { types::coerce_for_store(v, &source, ty, &context)?.0 };
                if *distinct {
                    encode_key(key, &v, ty, false);
                }
                w.push(&v);
            }
            w.finish();
            run.check_strict()?;
            run.check_work(row.len())?;
            if *distinct && !seen.insert(run, key)? {
                continue;
            }
            let mut working = run.working.borrow_mut();
            working[*number].rows.push(run, row, *memory_max)?;
            observe::increment(Counter::HandlerWrite);
            count += 1;
        }
        Ok(())
    }

    /// Fills the working table: rows of the seed, then round after round.
    fn fill(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.next = Place::default();
        self.seen.clear();
        self.memory_max = run.tmp_memory();
        observe::increment(Counter::CreatedTmpTables);
        {
            let mut working = run.working.borrow_mut();
            if working.len() <= self.number {
                working.resize_with(self.number + 1, WorkingTable::default);
            }
            working[self.number] = WorkingTable::default();
        }
        let mut most = usize::MAX;
        if let Some((count, offset)) = &self.limit {
            let at = Scope::new(frame, outer);
            let offset = offset.as_ref().map_or(Ok(0), |o| limit_value(o, run, at))?;
            most = usize::try_from(limit_value(count, run, at)?.saturating_add(offset)).unwrap_or(usize::MAX);
        }
        let depth_max = run.env.borrow().system_variable(Some(false), "cte_max_recursion_depth")?.0.to_u64();
        self.append(None, most, run, outer)?;
        let mut round = 0;
        loop {
            {
                let mut working = run.working.borrow_mut();
                let table = &mut working[self.number];
                (table.from, table.to) = (table.to, table.rows.end());
                if table.from == table.to || table.rows.count() >= most {
                    return Ok(());
                }
            }
            round += 1;
            if round > depth_max {
                return Err(err!(ER_CTE_MAX_RECURSION_DEPTH, round));
            }
            for i in 0..self.steps.len() {
                self.append(Some(i), most, run, outer)?;
            }
        }
    }
}

impl Op for RecursiveOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        // Rows come into the table as those of an INSERT do: what they are computed of is an error under a strict mode.
        let strict = &run.evaluation.strict;
        let before = strict.replace(strict.get() || run.evaluation.sql_mode.is_strict());
        let filled = self.fill(run, frame, outer).and_then(|()| run.check_strict());
        strict.set(before);
        filled
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        observe::increment(Counter::HandlerReadRndNext);
        let working = run.working.borrow();
        let slot = &mut frame.slots[self.slot];
        slot.present = working[self.number].rows.read(&mut self.next, &mut slot.bytes)?;
        Ok(slot.present)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        let lane = observe::lane();
        loop {
            lane.increment(Counter::HandlerReadRndNext);
            // Whoever receives the row may read or fill other such tables.
            let found = run.working.borrow()[self.number].rows.read(&mut self.next, &mut self.row)?;
            if !found || receive(Scope::with_row(frame, outer, self.slot, &self.row))? == Step::Stop {
                return Ok(());
            }
        }
    }

    fn forget(&mut self) {
        self.seed.forget();
        self.steps.iter_mut().for_each(Query::forget);
    }
}

/// The last round's rows, in a recursive block.
pub struct WorkingOp {
    pub slot: usize,
    pub number: usize,
    pub next: Place,
    pub end: u64,
}

impl Op for WorkingOp {
    fn open(&mut self, run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<()> {
        let working = run.working.borrow();
        (self.next, self.end) = (Place::new(working[self.number].from), working[self.number].to);
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.next.at() == self.end {
            return Ok(false);
        }
        observe::increment(Counter::HandlerReadRndNext);
        let working = run.working.borrow();
        let slot = &mut frame.slots[self.slot];
        slot.present = working[self.number].rows.read(&mut self.next, &mut slot.bytes)?;
        Ok(slot.present)
    }
}
