//! Operators that pass rows on: filter, limit, distinct, values, derived tables, set operations.

use crate::key_set::{KeySet, hash_bytes};
use crate::saved_slots::{restore_slots, save_slots};
use crate::spill::{Aside, Kept, Place, Reader, Room, Spill};
use crate::subquery::Query;
use crate::{Frame, Op, Receive, Run, Scope, Settled, Step, tuple};
use expr::key::encode_key;
use expr::{Execution, Expr};
use hashbrown::HashMap;
use observe::Counter;
use plan::node::SetKind;
use std::sync::Arc;
use types::Result;

/// One row without columns.
pub struct OneOp {
    pub done: bool,
}

impl Op for OneOp {
    fn open(&mut self, _run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<()> {
        self.done = false;
        Ok(())
    }

    fn next(&mut self, _run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        Ok(!std::mem::replace(&mut self.done, true))
    }
}

/// Rows that are lists of expressions.
pub struct ValuesOp {
    pub slot: usize,
    pub rows: Vec<Vec<Expr>>,
    pub next: usize,
}

impl Op for ValuesOp {
    fn open(&mut self, _run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<()> {
        self.next = 0;
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let Some(row) = self.rows.get(self.next) else { return Ok(false) };
        self.next += 1;
        fill(self.slot, row, run, frame, outer)?;
        Ok(true)
    }
}

/// The row's tuple `slot` of those values.
fn fill(slot: usize, values: &[Expr], run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
    let mut bytes = std::mem::take(&mut frame.slots[slot].bytes);
    bytes.clear();
    let mut w = tuple::Writer::new(&mut bytes, values.len());
    for e in values {
        w.push(&e.eval(run, Scope::new(frame, outer))?);
    }
    w.finish();
    frame.slots[slot].bytes = bytes;
    frame.slots[slot].present = true;
    Ok(())
}

/// Rows with values that are computed once for all who read them.
pub struct ComputedOp {
    pub input: Box<dyn Op>,
    pub slot: usize,
    pub values: Vec<Expr>,
}

impl Op for ComputedOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if !self.input.next(run, frame, outer)? {
            return Ok(false);
        }
        fill(self.slot, &self.values, run, frame, outer)?;
        Ok(true)
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

/// The rows that a condition is true of.
pub struct FilterOp {
    pub input: Box<dyn Op>,
    pub condition: Expr,
}

impl Op for FilterOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        while self.input.next(run, frame, outer)? {
            if self.condition.eval_bool(run, Scope::new(frame, outer))? == Some(true) {
                return Ok(true);
            }
            self.input.reject(run);
            run.check_interrupt()?;
        }
        Ok(false)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        let condition = &self.condition;
        self.input.each(run, frame, outer, &mut |at| {
            if condition.eval_bool(run, at)? == Some(true) {
                return receive(at);
            }
            run.check_interrupt()?;
            Ok(Step::Reject)
        })
    }

    fn settle(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<Settled> {
        let settled = self.input.settle(run, frame, outer)?;
        if settled == Settled::Changed && self.condition.eval_bool(run, Scope::new(frame, outer))? != Some(true) {
            self.input.reject(run);
            return Ok(Settled::Gone);
        }
        Ok(settled)
    }

    fn reject(&mut self, run: &Run<'_>) {
        self.input.reject(run);
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

/// Each different row once, by a hash table that spills.
pub struct DistinctOp {
    input: Box<dyn Op>,
    distinct: Distinct,
    /// The rows at hand: a partition that was put aside, or the input.
    partition: Option<(Arc<Spill>, Reader)>,
}

struct Distinct {
    values: Vec<Expr>,
    seen: KeySet,
    memory_max: usize,
    aside: Aside,
    key: Vec<u8>,
    row: Vec<u8>,
}

impl DistinctOp {
    /// Rows are the same where these values are.
    pub fn new(input: Box<dyn Op>, values: Vec<Expr>) -> DistinctOp {
        let (seen, aside) = (KeySet::default(), Aside::default());
        let distinct = Distinct { values, seen, memory_max: 0, aside, key: Vec::new(), row: Vec::new() };
        DistinctOp { input, distinct, partition: None }
    }

    /// Goes on to the next row, of the input or put aside.
    fn advance(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            run.check_interrupt()?;
            if let Some((spill, rows)) = &mut self.partition {
                if rows.next(spill)? {
                    let slots: Vec<usize> = (0..frame.slots.len()).collect();
                    restore_slots(rows.payload(), frame, &slots);
                    return Ok(true);
                }
            } else if self.input.next(run, frame, outer)? {
                return Ok(true);
            }
            self.partition = self.distinct.aside.next_partition()?;
            if self.partition.is_none() {
                return Ok(false);
            }
            self.distinct.seen.clear();
        }
    }
}

impl Distinct {
    /// Is this the first such row? Not when it is put aside.
    fn is_new(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<bool> {
        observe::increment(Counter::HandlerWrite);
        self.key.clear();
        for e in self.values.iter() {
            encode_key(&mut self.key, &e.eval(run, at)?, &e.ty, false);
        }
        run.check_work(self.key.len())?;
        if !run.must_spill(self.seen.memory(), self.memory_max) || !self.aside.may_grow() {
            return self.seen.insert(run, &self.key);
        }
        if !self.seen.contains(&self.key) {
            self.row.clear();
            let slots: Vec<usize> = (0..at.slot_count()).collect();
            save_slots(&mut self.row, at, &slots);
            self.aside.push(run, hash_bytes(&self.key), &self.row)?;
        }
        Ok(false)
    }
}

impl Op for DistinctOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.distinct.seen.clear();
        self.distinct.aside.clear();
        self.distinct.memory_max = run.tmp_memory();
        self.partition = None;
        observe::increment(Counter::CreatedTmpTables);
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        while self.advance(run, frame, outer)? {
            if self.distinct.is_new(run, Scope::new(frame, outer))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        let DistinctOp { input, distinct, .. } = self;
        let mut stopped = false;
        input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            let step = if distinct.is_new(run, at)? { receive(at)? } else { Step::More };
            stopped = step == Step::Stop;
            Ok(step)
        })?;
        if stopped {
            return Ok(());
        }
        // The input is at its end: what was put aside.
        self.partition = self.distinct.aside.next_partition()?;
        self.distinct.seen.clear();
        while self.partition.is_some() && self.next(run, frame, outer)? {
            if receive(Scope::new(frame, outer))? == Step::Stop {
                break;
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}

/// A query in FROM. Its rows stream through, or are kept when it is the inner side of a join and opened often.
pub struct DerivedOp {
    pub slot: usize,
    pub query: Query,
    pub keep: bool,
    /// The query reads the current rows of this frame.
    pub lateral: bool,
    pub kept: Option<Kept>,
    pub bytes: Vec<u8>,
    pub next: Place,
}

impl DerivedOp {
    fn open_within(&mut self, run: &Run<'_>, around: Option<&Scope<'_>>) -> Result<()> {
        if !self.keep {
            return self.query.open(run, around);
        }
        // Kept rows serve later openings of the same execution; `forget` drops them before the next.
        if self.kept.is_some() {
            return Ok(());
        }
        let (mut rows, memory_max) = (Kept::default(), run.tmp_memory());
        observe::increment(Counter::CreatedTmpTables);
        self.query.open(run, around)?;
        while self.query.next(run, around)? {
            self.bytes.clear();
            self.query.write_row(run, around, &mut self.bytes)?;
            run.check_work(self.bytes.len())?;
            rows.push(run, &self.bytes, memory_max)?;
            observe::increment(Counter::HandlerWrite);
        }
        self.kept = Some(rows);
        Ok(())
    }

    /// Writes the query's next row into `bytes`.
    fn next_within(&mut self, run: &Run<'_>, around: Option<&Scope<'_>>) -> Result<bool> {
        if !self.query.next(run, around)? {
            return Ok(false);
        }
        self.bytes.clear();
        self.query.write_row(run, around, &mut self.bytes)?;
        Ok(true)
    }
}

impl Op for DerivedOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.next = Place::default();
        match self.lateral {
            true => self.open_within(run, Some(&Scope::new(frame, outer))),
            false => self.open_within(run, outer),
        }
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if let Some(kept) = &self.kept {
            let slot = &mut frame.slots[self.slot];
            slot.present = kept.read(&mut self.next, &mut slot.bytes)?;
            observe::increment(Counter::HandlerReadRndNext);
            return Ok(slot.present);
        }
        let found = match self.lateral {
            true => self.next_within(run, Some(&Scope::new(frame, outer)))?,
            false => self.next_within(run, outer)?,
        };
        let slot = &mut frame.slots[self.slot];
        std::mem::swap(&mut slot.bytes, &mut self.bytes);
        slot.present = found;
        Ok(found)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        if self.kept.is_some() {
            while self.next(run, frame, outer)? {
                if receive(Scope::new(frame, outer))? == Step::Stop {
                    break;
                }
            }
            return Ok(());
        }
        let DerivedOp { slot, query, lateral, bytes, .. } = self;
        let frame = &*frame;
        let own = Scope::new(frame, outer);
        let around = if *lateral { Some(&own) } else { outer };
        query.each_tuple(run, around, bytes, &mut |row| {
            Ok(match receive(Scope::with_row(frame, outer, *slot, row))? {
                Step::Stop => Step::Stop,
                Step::More | Step::Reject => Step::More,
            })
        })
    }

    fn forget(&mut self) {
        self.kept = None;
        self.query.forget();
    }
}

/// UNION, INTERSECT and EXCEPT.
pub struct SetOpOp {
    pub kind: SetKind,
    pub all: bool,
    pub left: Query,
    pub right: Query,
    pub slot: usize,
    pub second: bool,
    /// INTERSECT and EXCEPT: whether the left has a first row, which waits to be looked at. Without one the right is not read.
    pub waiting: Option<bool>,
    pub seen: KeySet,
    /// INTERSECT and EXCEPT: how often each row comes on the right.
    pub counts: HashMap<Vec<u8>, u64>,
    /// Bytes of its keys, roughly.
    pub counted_bytes: usize,
    pub key: Vec<u8>,
}

impl SetOpOp {
    fn key_of(query: &Query, run: &Run<'_>, outer: Option<&Scope<'_>>, key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        let at = Scope::new(&query.frame, outer);
        for e in &query.outputs {
            encode_key(key, &e.eval(run, at)?, &e.ty, false);
        }
        run.check_work(key.len())
    }

    fn emit(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        slot.present = true;
        let query = if self.second { &self.right } else { &self.left };
        query.write_row(run, outer, &mut slot.bytes)?;
        Ok(true)
    }
}

impl Op for SetOpOp {
    fn open(&mut self, run: &Run<'_>, _frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.second = false;
        self.seen.clear();
        self.counts.clear();
        self.counted_bytes = 0;
        self.left.open(run, outer)?;
        if self.kind != SetKind::Union {
            let found = self.left.next(run, outer)?;
            self.waiting = Some(found);
            if !found {
                return Ok(());
            }
            observe::increment(Counter::CreatedTmpTables);
            self.right.open(run, outer)?;
            while self.right.next(run, outer)? {
                run.check_interrupt()?;
                observe::increment(Counter::HandlerWrite);
                Self::key_of(&self.right, run, outer, &mut self.key)?;
                let before = self.counts.len();
                *self.counts.entry_ref(&self.key[..]).or_insert(0) += 1;
                if self.counts.len() > before {
                    self.counted_bytes += self.key.len() + size_of::<(Vec<u8>, u64)>();
                    run.check_growth(self.counted_bytes)?;
                }
            }
        }
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            let query = if self.second { &mut self.right } else { &mut self.left };
            let found = match self.waiting.take() {
                Some(found) => found,
                None => query.next(run, outer)?,
            };
            if !found {
                if self.second || self.kind != SetKind::Union {
                    return Ok(false);
                }
                self.second = true;
                self.right.open(run, outer)?;
                continue;
            }
            run.check_interrupt()?;
            if self.kind == SetKind::Union && self.all {
                return self.emit(run, frame, outer);
            }
            observe::increment(Counter::HandlerReadKey);
            let query = if self.second { &self.right } else { &self.left };
            Self::key_of(query, run, outer, &mut self.key)?;
            let found = self.counts.get_mut(&self.key[..]);
            let take = match (self.kind, found) {
                (SetKind::Union, _) => true,
                (SetKind::Intersect, Some(n)) if !self.all || *n > 0 => {
                    *n = n.saturating_sub(1);
                    true
                }
                (SetKind::Except, Some(n)) if self.all && *n > 0 => {
                    *n -= 1;
                    false
                }
                (SetKind::Except, Some(_)) => self.all,
                (SetKind::Except, None) => true,
                (SetKind::Intersect, _) => false,
            };
            if take && (self.all || self.seen.insert(run, &self.key)?) {
                return self.emit(run, frame, outer);
            }
        }
    }

    fn forget(&mut self) {
        self.left.forget();
        self.right.forget();
    }
}
