//! Operators that pass rows on: filter, limit, distinct, values, derived tables, set operations.

use super::sort::encode_key;
use super::{Frame, Op, Receive, Run, Scope, Settled, Step, tuple};
use crate::expr::Expr;
use crate::plan::node::SetKind;
use crate::run::subquery::Query;
use hashbrown::HashMap;
use types::{Result, SqlError, Value};

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
        let mut bytes = std::mem::take(&mut frame.slots[self.slot].bytes);
        bytes.clear();
        let mut w = tuple::Writer::new(&mut bytes, row.len());
        for e in row {
            w.push(&e.eval(run, Scope::new(frame, outer))?);
        }
        w.finish();
        frame.slots[self.slot].bytes = bytes;
        frame.slots[self.slot].present = true;
        Ok(true)
    }
}

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

/// The value of a LIMIT clause.
pub fn limit_value(e: &Expr, run: &Run<'_>, at: Scope<'_>) -> Result<u64> {
    match e.eval(run, at)? {
        Value::Int(v) if v >= 0 => Ok(v as u64),
        Value::UInt(v) => Ok(v),
        Value::Null | Value::Int(_) => Err(SqlError::new(1210, "Incorrect arguments to LIMIT")),
        v => Ok(v.to_u64()),
    }
}

pub struct LimitOp {
    pub input: Box<dyn Op>,
    pub count: Expr,
    pub offset: Option<Expr>,
    pub left: u64,
    pub skip: u64,
}

impl Op for LimitOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let at = Scope::new(frame, outer);
        self.left = limit_value(&self.count, run, at)?;
        self.skip = match &self.offset {
            Some(o) => limit_value(o, run, at)?,
            None => 0,
        };
        if self.left == 0 {
            return Ok(());
        }
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        while self.skip > 0 {
            if !self.input.next(run, frame, outer)? {
                self.left = 0;
                return Ok(false);
            }
            self.skip -= 1;
            run.check_interrupt()?;
        }
        self.left -= 1;
        let found = self.input.next(run, frame, outer)?;
        if !found {
            self.left = 0;
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

/// Byte strings seen so far, kept in one buffer.
#[derive(Default)]
pub struct KeySet {
    table: hashbrown::HashTable<(u32, u32)>,
    bytes: Vec<u8>,
}

pub fn hash_bytes(bytes: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::default().hash_one(bytes)
}

impl KeySet {
    pub fn clear(&mut self) {
        self.table.clear();
        self.bytes.clear();
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        self.table.find(hash_bytes(key), |e| &self.bytes[e.0 as usize..e.1 as usize] == key).is_some()
    }

    /// True when the key is new.
    pub fn insert(&mut self, run: &Run<'_>, key: &[u8]) -> Result<bool> {
        let bytes = &self.bytes;
        let of = |e: &(u32, u32)| &bytes[e.0 as usize..e.1 as usize];
        let hash = hash_bytes(key);
        if self.table.find(hash, |e| of(e) == key).is_some() {
            return Ok(false);
        }
        run.check_temp_bytes(bytes.len() + key.len())?;
        let entry = (bytes.len() as u32, (bytes.len() + key.len()) as u32);
        self.table.insert_unique(hash, entry, |e| hash_bytes(of(e)));
        self.bytes.extend_from_slice(key);
        Ok(true)
    }
}

pub struct DistinctOp {
    pub input: Box<dyn Op>,
    pub values: Vec<Expr>,
    pub seen: KeySet,
    pub key: Vec<u8>,
}

impl Op for DistinctOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.seen.clear();
        self.input.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        while self.input.next(run, frame, outer)? {
            run.check_interrupt()?;
            self.key.clear();
            for e in &self.values {
                encode_key(&mut self.key, &e.eval(run, Scope::new(frame, outer))?, &e.ty, false);
            }
            if self.seen.insert(run, &self.key)? {
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
        let DistinctOp { input, values, seen, key } = self;
        input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            key.clear();
            for e in values.iter() {
                encode_key(key, &e.eval(run, at)?, &e.ty, false);
            }
            if seen.insert(run, key)? { receive(at) } else { Ok(Step::More) }
        })
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
    pub kept: Option<Vec<(usize, usize)>>,
    pub bytes: Vec<u8>,
    pub next: usize,
}

impl Op for DerivedOp {
    fn open(&mut self, run: &Run<'_>, _frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.next = 0;
        if !self.keep {
            return self.query.open(run, outer);
        }
        // Kept rows serve later openings of the same execution; `forget` drops them before the next.
        if self.kept.is_some() {
            return Ok(());
        }
        self.bytes.clear();
        let mut rows = Vec::new();
        self.query.open(run, outer)?;
        while self.query.next(run, outer)? {
            let from = self.bytes.len();
            self.query.write_row(run, outer, &mut self.bytes)?;
            rows.push((from, self.bytes.len()));
            run.check_temp_bytes(self.bytes.len())?;
        }
        self.kept = Some(rows);
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let slot = &mut frame.slots[self.slot];
        if let Some(kept) = &self.kept {
            let Some(row) = kept.get(self.next) else { return Ok(false) };
            self.next += 1;
            slot.bytes.clear();
            slot.bytes.extend_from_slice(&self.bytes[row.0..row.1]);
            slot.present = true;
            return Ok(true);
        }
        if !self.query.next(run, outer)? {
            return Ok(false);
        }
        slot.bytes.clear();
        self.query.write_row(run, outer, &mut slot.bytes)?;
        slot.present = true;
        Ok(true)
    }

    fn forget(&mut self) {
        self.kept = None;
        self.query.forget();
    }
}

pub struct SetOpOp {
    pub kind: SetKind,
    pub all: bool,
    pub left: Query,
    pub right: Query,
    pub slot: usize,
    pub second: bool,
    pub seen: KeySet,
    /// INTERSECT and EXCEPT: how often each row comes on the right.
    pub counts: HashMap<Vec<u8>, u64>,
    pub key: Vec<u8>,
}

impl SetOpOp {
    fn key_of(query: &Query, run: &Run<'_>, outer: Option<&Scope<'_>>, key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        let at = Scope::new(&query.frame, outer);
        for e in &query.outputs {
            encode_key(key, &e.eval(run, at)?, &e.ty, false);
        }
        Ok(())
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
        if self.kind != SetKind::Union {
            self.right.open(run, outer)?;
            while self.right.next(run, outer)? {
                run.check_interrupt()?;
                Self::key_of(&self.right, run, outer, &mut self.key)?;
                *self.counts.entry_ref(&self.key[..]).or_insert(0) += 1;
            }
        }
        self.left.open(run, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            let query = if self.second { &mut self.right } else { &mut self.left };
            if !query.next(run, outer)? {
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
