//! Joins: nested loops (the inner side is opened again for each outer row, usually an index lookup) and hash joins.
//!
//! A hash join whose right side finds no room goes on in files: both sides are put aside by the hash of their keys, and one
//! partition after the other is joined in memory, or divided again. Left rows come in another order then.

use crate::key_set::hash_bytes;
use crate::saved_slots::{restore_slots, save_slots};
use crate::spill::{self, Pair, Room, Sides};
use crate::{Frame, Op, Run, Scope};
use expr::key::encode_key;
use expr::{Execution, Expr};
use plan::node::JoinKind;
use types::Result;

/// The join that opens its right side for each left row.
pub struct LoopOp {
    pub left: Box<dyn Op>,
    pub right: Box<dyn Op>,
    pub kind: JoinKind,
    pub condition: Option<Expr>,
    pub right_slots: Vec<usize>,
    pub state: State,
}

/// How far a join by loops has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A left row is wanted.
    Left,
    /// The right side is open; no row of it matched yet, or one did.
    Right {
        matched: bool,
    },
    Done,
}

/// The right side is at its end, or an antijoin has found a match and wants a left row already. Does the left row come out
/// alone? Then the right side is NULL.
fn unmatched(state: &mut State, matched: bool, kind: JoinKind, frame: &mut Frame, right_slots: &[usize]) -> bool {
    let ended = std::mem::replace(state, State::Left) != State::Left;
    let alone = ended && !matched && matches!(kind, JoinKind::LeftOuter | JoinKind::Anti);
    if alone {
        for s in right_slots {
            frame.slots[*s].present = false;
        }
    }
    alone
}

/// Does the join's condition hold for the rows in the frame?
fn holds(condition: &Option<Expr>, run: &Run<'_>, at: Scope<'_>) -> Result<bool> {
    match condition {
        Some(c) => Ok(c.eval_bool(run, at)? == Some(true)),
        None => Ok(true),
    }
}

/// A right row goes with the left one. True: the left row is passed on; false: it has found what it must not.
fn found(state: &mut State, kind: JoinKind) -> bool {
    *state = match kind {
        JoinKind::Inner | JoinKind::LeftOuter => State::Right { matched: true },
        JoinKind::Semi | JoinKind::Anti => State::Left,
    };
    kind != JoinKind::Anti
}

impl Op for LoopOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.state = State::Left;
        self.left.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            match self.state {
                State::Done => return Ok(false),
                State::Left => {
                    if !self.left.next(run, frame, outer)? {
                        self.state = State::Done;
                        return Ok(false);
                    }
                    self.right.open(run, frame, outer)?;
                    self.state = State::Right { matched: false };
                }
                State::Right { matched } => {
                    while self.right.next(run, frame, outer)? {
                        run.check_interrupt()?;
                        if holds(&self.condition, run, Scope::new(frame, outer))? {
                            if found(&mut self.state, self.kind) {
                                return Ok(true);
                            }
                            self.left.reject(run);
                            break;
                        }
                        self.right.reject(run);
                    }
                    if unmatched(&mut self.state, matched, self.kind, frame, &self.right_slots) {
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn forget(&mut self) {
        self.left.forget();
        self.right.forget();
    }
}

/// One right row in the hash table: its key, and the bytes of each of its slots.
struct Built {
    key: (u32, u32),
    row: u32,
    /// Next row with the same hash bucket chain; `u32::MAX` at the end.
    next: u32,
}

/// The join by a hash table of its right side.
pub struct HashOp {
    pub left: Box<dyn Op>,
    pub right: Box<dyn Op>,
    pub kind: JoinKind,
    pub condition: Option<Expr>,
    pub right_slots: Vec<usize>,
    pub left_keys: Vec<Expr>,
    pub right_keys: Vec<Expr>,
    pub in_order: bool,
    pub rows: Rows,
    pub state: State,
    pub chain: u32,
    pub key: Vec<u8>,
    pub spilled: Spilled,
}

/// What a hash join has in files.
#[derive(Default)]
pub struct Spilled {
    /// Bytes that the right side may take in memory.
    memory_max: usize,
    /// Being written: the right side has found no room.
    sides: Option<Sides>,
    pending: Vec<Pair>,
    /// The left rows of the partition at hand; those of the left side itself while there are no partitions.
    current: Option<spill::Rows>,
    active: bool,
    left_slots: Vec<usize>,
    row: Vec<u8>,
}

/// The rows of one side, by key.
#[derive(Default)]
pub struct Rows {
    /// By key the first row of its chain, and the last one.
    table: hashbrown::HashTable<(u32, u32)>,
    built: Vec<Built>,
    keys: Vec<u8>,
    /// `present u8 | length u32 | bytes` for each slot, and the same for its key.
    bytes: Vec<u8>,
}

const END: u32 = u32::MAX;

impl Rows {
    fn clear(&mut self) {
        self.table.clear();
        self.built.clear();
        self.keys.clear();
        self.bytes.clear();
    }

    /// `in_order`: behind the rows of its key that are there, else before them.
    fn add(&mut self, run: &Run<'_>, key: &[u8], frame: &Frame, slots: &[usize], in_order: bool) -> Result<()> {
        let row = self.bytes.len() as u32;
        for s in slots {
            let slot = &frame.slots[*s];
            self.bytes.push(slot.present as u8);
            for part in [&slot.bytes, &slot.key] {
                self.bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(part);
            }
        }
        run.check_growth(self.bytes.len() + self.keys.len())?;
        let from = self.keys.len() as u32;
        self.keys.extend_from_slice(key);
        let at = self.built.len() as u32;
        self.built.push(Built { key: (from, self.keys.len() as u32), row, next: END });
        let (built, keys) = (&self.built, &self.keys);
        let of = |i: &(u32, u32)| {
            let k = built[i.0 as usize].key;
            &keys[k.0 as usize..k.1 as usize]
        };
        let hash = hash_bytes(key);
        match self.table.find_mut(hash, |i| of(i) == key) {
            Some((_, last)) if in_order => {
                let before = std::mem::replace(last, at);
                self.built[before as usize].next = at;
            }
            Some((head, _)) => {
                let first = std::mem::replace(head, at);
                self.built[at as usize].next = first;
            }
            None => _ = self.table.insert_unique(hash, (at, at), |i| hash_bytes(of(i))),
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.bytes.len() + self.keys.len() + self.built.len() * (size_of::<Built>() + 4 * size_of::<u32>())
    }

    /// Hands each row with its key on, and forgets them.
    fn drain(&mut self, mut f: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        for (i, b) in self.built.iter().enumerate() {
            let end = self.built.get(i + 1).map_or(self.bytes.len(), |next| next.row as usize);
            f(&self.keys[b.key.0 as usize..b.key.1 as usize], &self.bytes[b.row as usize..end])?;
        }
        self.clear();
        Ok(())
    }

    fn find(&self, key: &[u8]) -> u32 {
        let of = |i: &(u32, u32)| {
            let k = self.built[i.0 as usize].key;
            &self.keys[k.0 as usize..k.1 as usize]
        };
        self.table.find(hash_bytes(key), |i| of(i) == key).map_or(END, |(first, _)| *first)
    }

    /// Puts a row back into its slots; gives the next of its chain.
    fn restore(&self, i: u32, frame: &mut Frame, slots: &[usize]) -> u32 {
        let b = &self.built[i as usize];
        let mut rest = &self.bytes[b.row as usize..];
        for s in slots {
            let slot = &mut frame.slots[*s];
            slot.present = rest[0] != 0;
            rest = &rest[1..];
            for part in [&mut slot.bytes, &mut slot.key] {
                let n = u32::from_le_bytes(rest[..4].try_into().expect("four bytes")) as usize;
                part.clear();
                part.extend_from_slice(&rest[4..4 + n]);
                rest = &rest[4 + n..];
            }
        }
        b.next
    }
}

/// Encodes the join key; false when a part is NULL and nothing can match.
fn join_key(key: &mut Vec<u8>, exprs: &[Expr], run: &Run<'_>, at: Scope<'_>) -> Result<bool> {
    key.clear();
    for e in exprs {
        let v = e.eval(run, at)?;
        if v.is_null() {
            return Ok(false);
        }
        encode_key(key, &v, &e.ty, false);
    }
    run.check_work(key.len())?;
    Ok(true)
}

impl HashOp {
    /// The right row in the frame goes to the table, or aside when there is no room for all.
    fn build(&mut self, run: &Run<'_>, frame: &Frame, outer: Option<&Scope<'_>>, depth: u32) -> Result<()> {
        let at = Scope::new(frame, outer);
        if !join_key(&mut self.key, &self.right_keys, run, at)? {
            return Ok(());
        }
        if self.spilled.sides.is_none() {
            self.rows.add(run, &self.key, frame, &self.right_slots, self.in_order)?;
            if !run.must_spill(self.rows.memory(), self.spilled.memory_max) || !Sides::may_grow(depth) {
                return Ok(());
            }
            let mut sides = Sides::new(run, depth)?;
            self.rows.drain(|key, row| sides.push_right(hash_bytes(key), row))?;
            self.spilled.sides = Some(sides);
            return Ok(());
        }
        let Spilled { sides, row, .. } = &mut self.spilled;
        row.clear();
        save_slots(row, at, &self.right_slots);
        sides.as_mut().expect("looked at above").push_right(hash_bytes(&self.key), row)
    }

    /// The left row in the frame goes aside, unless it can match nothing and is not wanted then.
    fn put_aside(&mut self, run: &Run<'_>, frame: &Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        let at = Scope::new(frame, outer);
        let found = join_key(&mut self.key, &self.left_keys, run, at)?;
        if !found && matches!(self.kind, JoinKind::Inner | JoinKind::Semi) {
            return Ok(());
        }
        let Spilled { sides, row, left_slots, .. } = &mut self.spilled;
        row.clear();
        save_slots(row, at, left_slots);
        sides.as_mut().expect("the right side is aside").push_left(hash_bytes(&self.key), row)
    }

    /// The next left row: of the left side, or of the partition at hand.
    fn next_left(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if !self.spilled.active {
            return self.left.next(run, frame, outer);
        }
        loop {
            run.check_interrupt()?;
            let Spilled { current, left_slots, .. } = &mut self.spilled;
            if let Some(rows) = current {
                if let Some(row) = rows.advance()? {
                    restore_slots(row, frame, left_slots);
                    return Ok(true);
                }
                *current = None;
            }
            if !self.next_partition(run, frame, outer)? {
                return Ok(false);
            }
        }
    }

    /// Reads the right rows of the next partition into the table, or divides it once more; false: there is none.
    fn next_partition(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let Some(Pair { mut left, mut right, depth }) = self.spilled.pending.pop() else { return Ok(false) };
        self.rows.clear();
        while let Some(row) = right.advance()? {
            run.check_interrupt()?;
            restore_slots(row, frame, &self.right_slots);
            self.build(run, frame, outer, depth)?;
        }
        if self.spilled.sides.is_none() {
            self.spilled.current = Some(left);
            return Ok(true);
        }
        while let Some(row) = left.advance()? {
            run.check_interrupt()?;
            restore_slots(row, frame, &self.spilled.left_slots);
            self.put_aside(run, frame, outer)?;
        }
        self.divided()?;
        Ok(true)
    }

    /// Both sides are in files: their partitions have their turns.
    fn divided(&mut self) -> Result<()> {
        let sides = self.spilled.sides.take().expect("both sides are aside");
        self.spilled.pending.extend(sides.finish()?);
        Ok(())
    }

    /// Bytes that the right side may take: those of a temporary table, or of the join buffer if that is greater.
    fn memory_max(run: &Run<'_>) -> usize {
        run.tmp_memory().max(usize::try_from(run.variable("join_buffer_size")).unwrap_or(usize::MAX))
    }
}

impl Op for HashOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.state = State::Left;
        self.spilled.sides = None;
        self.spilled.pending.clear();
        self.spilled.current = None;
        self.spilled.active = false;
        // The join buffer is asked for when there is need.
        self.spilled.memory_max = run.tmp_memory();
        self.right.open(run, frame, outer)?;
        let mut asked = false;
        while self.right.next(run, frame, outer)? {
            run.check_interrupt()?;
            if !asked && self.rows.memory() * 2 > self.spilled.memory_max {
                asked = true;
                self.spilled.memory_max = HashOp::memory_max(run);
            }
            self.build(run, frame, outer, 0)?;
        }
        self.left.open(run, frame, outer)?;
        if self.spilled.sides.is_none() {
            return Ok(());
        }
        self.spilled.active = true;
        self.spilled.left_slots = (0..frame.slots.len()).filter(|s| !self.right_slots.contains(s)).collect();
        while self.left.next(run, frame, outer)? {
            run.check_interrupt()?;
            self.put_aside(run, frame, outer)?;
        }
        self.divided()
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            match self.state {
                State::Done => return Ok(false),
                State::Left => {
                    if !self.next_left(run, frame, outer)? {
                        self.state = State::Done;
                        return Ok(false);
                    }
                    let found = join_key(&mut self.key, &self.left_keys, run, Scope::new(frame, outer))?;
                    self.chain = if found { self.rows.find(&self.key) } else { END };
                    self.state = State::Right { matched: false };
                }
                State::Right { matched } => {
                    while self.chain != END {
                        run.check_interrupt()?;
                        self.chain = self.rows.restore(self.chain, frame, &self.right_slots);
                        if holds(&self.condition, run, Scope::new(frame, outer))? {
                            if found(&mut self.state, self.kind) {
                                return Ok(true);
                            }
                            self.left.reject(run);
                            break;
                        }
                    }
                    if unmatched(&mut self.state, matched, self.kind, frame, &self.right_slots) {
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn forget(&mut self) {
        self.left.forget();
        self.right.forget();
    }
}
