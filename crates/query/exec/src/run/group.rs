//! Grouping by hash: one accumulator a group and aggregate; without GROUP BY one group, and no table at all.

use super::flow::hash_bytes;
use super::sort::encode_key;
use super::{Frame, Op, Run, Scope, Step, tuple};
use crate::expr::Expr;
use crate::expr::aggregate::{Accumulator, AggregateCall};
use types::Result;

struct Grouped {
    key: (u32, u32),
    /// The key's values as a tuple.
    values: (u32, u32),
}

pub struct GroupOp {
    input: Box<dyn Op>,
    slot: usize,
    groups: Groups,
    next: usize,
}

struct Groups {
    keys: Vec<Expr>,
    aggregates: Vec<AggregateCall>,
    implicit: bool,
    table: hashbrown::HashTable<u32>,
    groups: Vec<Grouped>,
    bytes: Vec<u8>,
    /// `aggregates.len()` for each group, in order; kept beyond `groups` for the next execution.
    accumulators: Vec<Accumulator>,
    key: Vec<u8>,
    scratch: Vec<u8>,
}

impl GroupOp {
    pub fn new(
        input: Box<dyn Op>,
        keys: Vec<Expr>,
        aggregates: Vec<AggregateCall>,
        slot: usize,
        implicit: bool,
    ) -> GroupOp {
        let groups = Groups {
            keys,
            aggregates,
            implicit,
            table: hashbrown::HashTable::new(),
            groups: Vec::new(),
            bytes: Vec::new(),
            accumulators: Vec::new(),
            key: Vec::new(),
            scratch: Vec::new(),
        };
        GroupOp { input, slot, groups, next: 0 }
    }
}

impl Groups {
    /// Number of the group with the key in `key`, made if it is new.
    fn find(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<usize> {
        let hash = hash_bytes(&self.key);
        let (groups, bytes) = (&self.groups, &self.bytes);
        let of = |i: &u32| {
            let k = groups[*i as usize].key;
            &bytes[k.0 as usize..k.1 as usize]
        };
        if let Some(i) = self.table.find(hash, |i| of(i) == &self.key[..]) {
            return Ok(*i as usize);
        }
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&self.key);
        let key = (from, self.bytes.len() as u32);
        let mut w = tuple::Writer::new(&mut self.bytes, self.keys.len());
        for e in &self.keys {
            w.push(&e.eval(run, at)?);
        }
        w.finish();
        let values = (key.1, self.bytes.len() as u32);
        run.check_temp_bytes(self.bytes.len())?;
        let n = self.groups.len();
        self.groups.push(Grouped { key, values });
        let (groups, bytes) = (&self.groups, &self.bytes);
        self.table.insert_unique(hash, n as u32, |i| {
            let k = groups[*i as usize].key;
            hash_bytes(&bytes[k.0 as usize..k.1 as usize])
        });
        self.start(n);
        Ok(n)
    }

    /// Fresh accumulators for group `n`.
    fn start(&mut self, n: usize) {
        let width = self.aggregates.len();
        for (i, call) in self.aggregates.iter().enumerate() {
            match self.accumulators.get_mut(n * width + i) {
                Some(a) => a.reset(call),
                None => self.accumulators.push(Accumulator::new(call)),
            }
        }
    }

    fn clear(&mut self) {
        self.table.clear();
        self.groups.clear();
        self.bytes.clear();
        if self.implicit {
            self.groups.push(Grouped { key: (0, 0), values: (0, 0) });
            self.start(0);
        }
    }

    /// Folds a row into its group.
    fn add(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        let n = if self.implicit {
            0
        } else {
            self.key.clear();
            for e in &self.keys {
                encode_key(&mut self.key, &e.eval(run, at)?, &e.ty, false);
            }
            self.find(run, at)?
        };
        let width = self.aggregates.len();
        let own = &mut self.accumulators[n * width..(n + 1) * width];
        for (accumulator, call) in own.iter_mut().zip(&self.aggregates) {
            accumulator.add(call, run, at, &mut self.scratch)?;
        }
        Ok(())
    }

    /// Appends the row of group `n` as a tuple.
    fn write(&mut self, n: usize, out: &mut Vec<u8>, run: &Run<'_>) -> Result<()> {
        let (width, keys) = (self.aggregates.len(), self.keys.len());
        let (from, to) = self.groups[n].values;
        let values = &self.bytes[from as usize..to as usize];
        let mut w = tuple::Writer::new(out, keys + width);
        for i in 0..keys {
            w.push(&tuple::get(values, keys, i));
        }
        for (i, call) in self.aggregates.iter().enumerate() {
            w.push(&self.accumulators[n * width + i].result(call, run)?);
        }
        w.finish();
        Ok(())
    }
}

impl Op for GroupOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.groups.clear();
        self.next = 0;
        self.input.open(run, frame, outer)?;
        let groups = &mut self.groups;
        self.input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            groups.add(run, at)?;
            Ok(Step::More)
        })
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.next == self.groups.groups.len() {
            return Ok(false);
        }
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        self.groups.write(self.next, &mut slot.bytes, run)?;
        slot.present = true;
        self.next += 1;
        Ok(true)
    }

    fn forget(&mut self) {
        self.input.forget();
    }
}
