//! Grouping by hash: one accumulator a group and aggregate; without GROUP BY one group, and no table at all. Rows that come
//! group by group need neither: one group is computed, and told when the next one begins.

use crate::key_set::hash_bytes;
use crate::saved_slots::{restore_slots, save_slots};
use crate::spill::{Aside, Room};
use crate::{Frame, Op, Receive, Run, Scope, Step, tuple};
use expr::aggregate::Accumulator;
use expr::call::{AggregateCall, AggregateKind};
use expr::key::encode_key;
use expr::{Execution, Expr, convert};
use observe::Counter;
use plan::node::Group;
use types::{Result, Value};

#[derive(Clone, Copy)]
struct Grouped {
    key: (u32, u32),
    /// The key's values as a tuple, then the kept slots of the first row up to `end`.
    values: (u32, u32),
    end: u32,
    /// How many keys are not rolled up.
    level: u32,
}

/// Groups of the input's rows, in memory or spilled.
pub struct GroupOp {
    input: Box<dyn Op>,
    slot: usize,
    groups: Groups,
    next: usize,
    in_order: bool,
    ahead: Ahead,
}

/// Of rows that come group by group: what the input has behind the group that was told last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    /// It has not been asked.
    Unknown,
    /// The first row of the next group, whose key is in `key`: in the slots, or put aside where those of the group are restored.
    Row,
    Nothing,
}

/// The groups, and how they are made. The first fields are the plan's; the others are buffers that the next execution uses again, and each
/// row touches them all.
struct Groups {
    keys: Vec<Expr>,
    aggregates: Vec<AggregateCall>,
    /// By aggregate: which one's accumulator has its rows, an earlier one's or its own.
    states: Vec<usize>,
    implicit: bool,
    rollup: bool,
    /// Groups come in the order of their keys: as in MySQL, which sorts rows for aggregates that it keeps in no temporary table.
    /// Groups that go on in files come in any order.
    sorts: bool,
    conditions: Vec<Expr>,
    keep: Vec<usize>,
    /// Slots of the input's rows.
    slots: Vec<usize>,
    /// Bytes that the groups may take before new ones are put aside.
    memory_max: usize,
    /// Aggregates of DISTINCT values, and the bytes of what they have seen.
    distinct: bool,
    seen_bytes: usize,
    aside: Aside,
    table: hashbrown::HashTable<u32>,
    groups: Vec<Grouped>,
    bytes: Vec<u8>,
    /// `aggregates.len()` for each group, in order; kept beyond `groups` for the next execution.
    accumulators: Vec<Accumulator>,
    key: Vec<u8>,
    scratch: Vec<u8>,
    /// See [`Ahead::Row`].
    row_ahead: Vec<u8>,
}

impl GroupOp {
    /// Made of its plan.
    pub fn new(input: Box<dyn Op>, g: Group) -> GroupOp {
        let state = |i: usize| (0..i).find(|j| g.aggregates[*j].same_state(&g.aggregates[i])).unwrap_or(i);
        let states = (0..g.aggregates.len()).map(state).collect();
        let groups = Groups {
            distinct: g.aggregates.iter().any(|a| a.distinct),
            sorts: !g.in_order && (g.rollup || !g.implicit && g.aggregates.iter().any(needs_sorted_rows)),
            seen_bytes: 0,
            keys: g.keys,
            aggregates: g.aggregates,
            states,
            implicit: g.implicit,
            rollup: g.rollup,
            conditions: g.conditions,
            keep: g.keep,
            slots: (0..g.slot).collect(),
            memory_max: 0,
            aside: Aside::default(),
            table: hashbrown::HashTable::new(),
            groups: Vec::new(),
            bytes: Vec::new(),
            accumulators: Vec::new(),
            key: Vec::new(),
            scratch: Vec::new(),
            row_ahead: Vec::new(),
        };
        GroupOp { input, slot: g.slot, groups, next: 0, in_order: g.in_order, ahead: Ahead::Unknown }
    }
}

fn needs_sorted_rows(call: &AggregateCall) -> bool {
    match call.kind {
        AggregateKind::GroupConcat | AggregateKind::JsonArray | AggregateKind::JsonObject => true,
        AggregateKind::Min | AggregateKind::Max => false,
        _ => call.distinct,
    }
}

/// In a group's key, in place of a key that is rolled up: behind all values.
const ROLLED_UP: u8 = 2;

impl Groups {
    /// Number of the group with the key in `key`, made if it is new; `None` when there is no room for a new one.
    fn find(&mut self, level: usize, run: &Run<'_>, at: Scope<'_>) -> Result<Option<usize>> {
        let hash = hash_bytes(&self.key);
        let lane = observe::lane();
        lane.increment(Counter::HandlerReadKey);
        let (groups, bytes) = (&self.groups, &self.bytes);
        let of = |i: &u32| {
            let k = groups[*i as usize].key;
            &bytes[k.0 as usize..k.1 as usize]
        };
        if let Some(i) = self.table.find(hash, |i| of(i) == &self.key[..]) {
            lane.increment(Counter::HandlerUpdate);
            return Ok(Some(*i as usize));
        }
        if run.must_spill(self.memory(), self.memory_max) && !self.rollup && self.aside.may_grow() {
            self.scratch.clear();
            save_slots(&mut self.scratch, at, &self.slots);
            self.aside.push(run, hash, &self.scratch)?;
            return Ok(None);
        }
        lane.increment(Counter::HandlerWrite);
        let n = self.begin(level, run, at)?;
        let (groups, bytes) = (&self.groups, &self.bytes);
        self.table.insert_unique(hash, n as u32, |i| {
            let k = groups[*i as usize].key;
            hash_bytes(&bytes[k.0 as usize..k.1 as usize])
        });
        Ok(Some(n))
    }

    /// A group with the key in `key`, whose first row is there.
    fn begin(&mut self, level: usize, run: &Run<'_>, at: Scope<'_>) -> Result<usize> {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&self.key);
        let key = (from, self.bytes.len() as u32);
        let mut w = tuple::Writer::new(&mut self.bytes, self.keys.len());
        for (i, e) in self.keys.iter().enumerate() {
            match i < level {
                true => w.push(&convert::within(e.eval(run, at)?, &e.ty)),
                false => w.push(&Value::Null),
            }
        }
        w.finish();
        let values = (key.1, self.bytes.len() as u32);
        if !self.keep.is_empty() {
            save_slots(&mut self.bytes, at, &self.keep);
        }
        run.check_growth(self.bytes.len())?;
        let n = self.groups.len();
        let end = self.bytes.len() as u32;
        self.groups.push(Grouped { key, values, end, level: level as u32 });
        self.start(n);
        Ok(n)
    }

    /// Encodes the row's key into `key`. `level`: how many of its parts are not rolled up.
    fn encode(&mut self, level: usize, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        self.key.clear();
        for (i, e) in self.keys.iter().enumerate() {
            match i < level {
                true => encode_key(&mut self.key, &e.eval(run, at)?, &e.ty, false),
                false => self.key.push(ROLLED_UP),
            }
        }
        run.check_work(self.key.len())
    }

    fn memory(&self) -> usize {
        let group = size_of::<Grouped>() + self.aggregates.len() * size_of::<Accumulator>();
        self.bytes.len() + self.seen_bytes + self.groups.len() * group
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
        self.seen_bytes = 0;
        if self.implicit {
            self.groups.push(Grouped { key: (0, 0), values: (0, 0), end: 0, level: 0 });
            self.start(0);
        }
    }

    /// Is nothing wanted but how many rows there are?
    fn only_counts(&self) -> bool {
        self.implicit && self.keep.is_empty() && self.aggregates.iter().all(|call| call.args.is_empty())
    }

    /// The grand total of no rows.
    fn add_total(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        let mut impossible = false;
        for e in &self.conditions {
            impossible |= e.eval_bool(run, at)? != Some(true);
        }
        let from = self.bytes.len() as u32;
        let mut w = tuple::Writer::new(&mut self.bytes, self.keys.len());
        for e in &self.keys {
            w.push(&if impossible && e.is_constant() { e.eval(run, at)? } else { Value::Null });
        }
        w.finish();
        let end = self.bytes.len() as u32;
        self.groups.push(Grouped { key: (from, from), values: (from, end), end, level: 0 });
        self.start(0);
        Ok(())
    }

    /// By keys; subtotals behind what they are the totals of.
    fn sort(&mut self) {
        let bytes = &self.bytes;
        let of = |g: &Grouped| &bytes[g.key.0 as usize..g.key.1 as usize];
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|a, b| of(&self.groups[*a]).cmp(of(&self.groups[*b])));
        let width = self.aggregates.len();
        let mut old: Vec<Option<Accumulator>> = self.accumulators.drain(..).map(Some).collect();
        for i in &order {
            for n in 0..width {
                self.accumulators.push(old[i * width + n].take().expect("each group once"));
            }
        }
        self.groups = order.into_iter().map(|i| self.groups[i]).collect();
    }

    /// Folds a row into its group, and with ROLLUP into its totals.
    fn add(&mut self, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        if self.implicit {
            if !self.keep.is_empty() && self.groups[0].end == 0 {
                save_slots(&mut self.bytes, at, &self.keep);
                self.groups[0].end = self.bytes.len() as u32;
            }
            return self.fold(0, run, at);
        }
        let least = if self.rollup { 0 } else { self.keys.len() };
        for level in least..=self.keys.len() {
            self.encode(level, run, at)?;
            if let Some(n) = self.find(level, run, at)? {
                self.fold(n, run, at)?;
            }
        }
        Ok(())
    }

    fn fold(&mut self, n: usize, run: &Run<'_>, at: Scope<'_>) -> Result<()> {
        let width = self.aggregates.len();
        let own = &mut self.accumulators[n * width..(n + 1) * width];
        let seen = |own: &[Accumulator]| own.iter().map(Accumulator::memory).sum::<usize>();
        let before = if self.distinct { seen(own) } else { 0 };
        for (i, (accumulator, call)) in own.iter_mut().zip(&self.aggregates).enumerate() {
            if self.states[i] == i {
                accumulator.add(call, run, at, &mut self.scratch)?;
            }
        }
        if self.distinct {
            self.seen_bytes += seen(own) - before;
            run.check_growth(self.seen_bytes)?;
        }
        Ok(())
    }

    /// Groups the rows of the next partition that was put aside; false: there is none.
    fn next_partition(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let Some((spill, mut rows)) = self.aside.next_partition()? else { return Ok(false) };
        self.clear();
        while rows.next(&spill)? {
            run.check_interrupt()?;
            restore_slots(rows.payload(), frame, &self.slots);
            self.add(run, Scope::new(frame, outer))?;
        }
        Ok(true)
    }

    /// Appends the row of group `n` as a tuple.
    fn write(&mut self, n: usize, out: &mut Vec<u8>, run: &Run<'_>) -> Result<()> {
        let (width, keys) = (self.aggregates.len(), self.keys.len());
        let (from, to) = self.groups[n].values;
        let values = &self.bytes[from as usize..to as usize];
        let mut w = tuple::Writer::new(out, keys + width + self.rollup as usize);
        for i in 0..keys {
            w.push(&tuple::get(values, keys, i));
        }
        for (i, call) in self.aggregates.iter().enumerate() {
            w.push(&self.accumulators[n * width + self.states[i]].result(call, run)?);
        }
        if self.rollup {
            let bits = (self.groups[n].level as usize..keys).fold(0, |bits, i| bits | 1i64 << i);
            w.push(&Value::Int(bits));
        }
        w.finish();
        Ok(())
    }
}

impl GroupOp {
    /// Computes the next group of rows that come group by group; false: there is none.
    fn next_in_order(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let groups = &mut self.groups;
        match self.ahead {
            Ahead::Nothing => return Ok(false),
            Ahead::Unknown => {
                if !self.input.next(run, frame, outer)? {
                    self.ahead = Ahead::Nothing;
                    return Ok(false);
                }
                groups.encode(groups.keys.len(), run, Scope::new(frame, outer))?;
            }
            Ahead::Row if groups.keep.is_empty() => {}
            Ahead::Row => restore_slots(&groups.row_ahead, frame, &groups.slots),
        }
        groups.clear();
        let at = Scope::new(frame, outer);
        groups.begin(groups.keys.len(), run, at)?;
        groups.fold(0, run, at)?;
        self.ahead = Ahead::Nothing;
        while self.input.next(run, frame, outer)? {
            run.check_interrupt()?;
            let at = Scope::new(frame, outer);
            groups.encode(groups.keys.len(), run, at)?;
            let (from, to) = groups.groups[0].key;
            if groups.bytes[from as usize..to as usize] == groups.key[..] {
                groups.fold(0, run, at)?;
                continue;
            }
            if !groups.keep.is_empty() {
                groups.row_ahead.clear();
                save_slots(&mut groups.row_ahead, at, &groups.slots);
            }
            self.ahead = Ahead::Row;
            break;
        }
        Ok(true)
    }

    /// Passes on the groups of rows that come group by group, each when the next one begins. No slots are kept of them.
    fn each_in_order(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        let GroupOp { input, slot, groups, .. } = self;
        let mut row = std::mem::take(&mut groups.row_ahead);
        let mut pass_on = |groups: &mut Groups, at: Scope<'_>| -> Result<Step> {
            row.clear();
            groups.write(0, &mut row, run)?;
            groups.clear();
            receive(at.instead(*slot, &row))
        };
        input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            groups.encode(groups.keys.len(), run, at)?;
            if let Some(group) = groups.groups.first() {
                let (from, to) = group.key;
                let is_next = groups.bytes[from as usize..to as usize] != groups.key[..];
                if is_next && pass_on(groups, at)? == Step::Stop {
                    return Ok(Step::Stop);
                }
            }
            if groups.groups.is_empty() {
                groups.begin(groups.keys.len(), run, at)?;
            }
            groups.fold(0, run, at)?;
            Ok(Step::More)
        })?;
        if !groups.groups.is_empty() {
            pass_on(groups, Scope::new(frame, outer))?;
        }
        groups.row_ahead = row;
        Ok(())
    }
}

impl Op for GroupOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.groups.clear();
        self.groups.aside.clear();
        self.groups.memory_max = run.tmp_memory();
        self.next = 0;
        self.ahead = Ahead::Unknown;
        if !self.groups.implicit && !self.in_order {
            observe::increment(Counter::CreatedTmpTables);
        }
        self.input.open(run, frame, outer)?;
        if self.in_order {
            return Ok(());
        }
        let groups = &mut self.groups;
        if groups.only_counts()
            && let Some(rows) = self.input.count_rows(run)?
        {
            groups.accumulators.iter_mut().take(groups.aggregates.len()).for_each(|a| a.count_unseen(rows));
            return Ok(());
        }
        self.input.each(run, frame, outer, &mut |at| {
            run.check_interrupt()?;
            groups.add(run, at)?;
            Ok(Step::More)
        })?;
        if groups.rollup && groups.groups.is_empty() {
            groups.add_total(run, Scope::new(frame, outer))?;
        }
        if groups.sorts {
            groups.sort();
        }
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.in_order {
            if !self.next_in_order(run, frame, outer)? {
                return Ok(false);
            }
            self.next = 0;
        } else if !self.groups.implicit {
            observe::increment(Counter::HandlerReadRndNext);
        }
        while self.next == self.groups.groups.len() {
            if !self.groups.next_partition(run, frame, outer)? {
                return Ok(false);
            }
            self.next = 0;
        }
        let slot = &mut frame.slots[self.slot];
        slot.bytes.clear();
        self.groups.write(self.next, &mut slot.bytes, run)?;
        slot.present = true;
        if !self.groups.keep.is_empty() {
            let g = &self.groups.groups[self.next];
            match g.end == g.values.1 {
                true => self.groups.keep.iter().for_each(|s| frame.slots[*s].present = false),
                false => {
                    let saved = &self.groups.bytes[g.values.1 as usize..g.end as usize];
                    restore_slots(saved, frame, &self.groups.keep);
                }
            }
        }
        self.next += 1;
        Ok(true)
    }

    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        if self.in_order && self.groups.keep.is_empty() {
            return self.each_in_order(run, frame, outer, receive);
        }
        while self.next(run, frame, outer)? {
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
