//! Joins: nested loops (the inner side is opened again for each outer row, usually an index lookup) and hash joins.

use super::sort::encode_key;
use super::{Frame, Op, Run, Scope};
use crate::expr::Expr;
use crate::plan::node::JoinKind;
use crate::run::flow::hash_bytes;
use types::Result;

pub struct LoopOp {
    pub left: Box<dyn Op>,
    pub right: Box<dyn Op>,
    pub kind: JoinKind,
    pub condition: Option<Expr>,
    pub right_slots: Vec<usize>,
    pub state: State,
}

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
                        let ok = match &self.condition {
                            Some(c) => c.eval_bool(run, Scope::new(frame, outer))? == Some(true),
                            None => true,
                        };
                        if ok {
                            match self.kind {
                                JoinKind::Inner | JoinKind::LeftOuter => self.state = State::Right { matched: true },
                                JoinKind::Semi => self.state = State::Left,
                                JoinKind::Anti => {
                                    self.state = State::Left;
                                    self.left.reject(run);
                                    break;
                                }
                            }
                            return Ok(true);
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

pub struct HashOp {
    pub left: Box<dyn Op>,
    pub right: Box<dyn Op>,
    pub kind: JoinKind,
    pub condition: Option<Expr>,
    pub right_slots: Vec<usize>,
    pub left_keys: Vec<Expr>,
    pub right_keys: Vec<Expr>,
    pub rows: Rows,
    pub state: State,
    pub chain: u32,
    pub key: Vec<u8>,
}

#[derive(Default)]
pub struct Rows {
    table: hashbrown::HashTable<u32>,
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

    fn add(&mut self, run: &Run<'_>, key: &[u8], frame: &Frame, slots: &[usize]) -> Result<()> {
        let row = self.bytes.len() as u32;
        for s in slots {
            let slot = &frame.slots[*s];
            self.bytes.push(slot.present as u8);
            for part in [&slot.bytes, &slot.key] {
                self.bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(part);
            }
        }
        run.check_temp_bytes(self.bytes.len() + self.keys.len())?;
        let from = self.keys.len() as u32;
        self.keys.extend_from_slice(key);
        let at = self.built.len() as u32;
        self.built.push(Built { key: (from, self.keys.len() as u32), row, next: END });
        let (built, keys) = (&self.built, &self.keys);
        let of = |i: &u32| {
            let k = built[*i as usize].key;
            &keys[k.0 as usize..k.1 as usize]
        };
        let hash = hash_bytes(key);
        match self.table.find_mut(hash, |i| of(i) == key) {
            Some(head) => {
                let first = std::mem::replace(head, at);
                self.built[at as usize].next = first;
            }
            None => _ = self.table.insert_unique(hash, at, |i| hash_bytes(of(i))),
        }
        Ok(())
    }

    fn find(&self, key: &[u8]) -> u32 {
        let of = |i: &u32| {
            let k = self.built[*i as usize].key;
            &self.keys[k.0 as usize..k.1 as usize]
        };
        self.table.find(hash_bytes(key), |i| of(i) == key).copied().unwrap_or(END)
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
    Ok(true)
}

impl Op for HashOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.state = State::Left;
        self.right.open(run, frame, outer)?;
        while self.right.next(run, frame, outer)? {
            run.check_interrupt()?;
            if join_key(&mut self.key, &self.right_keys, run, Scope::new(frame, outer))? {
                self.rows.add(run, &self.key, frame, &self.right_slots)?;
            }
        }
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
                    let found = join_key(&mut self.key, &self.left_keys, run, Scope::new(frame, outer))?;
                    self.chain = if found { self.rows.find(&self.key) } else { END };
                    self.state = State::Right { matched: false };
                }
                State::Right { matched } => {
                    while self.chain != END {
                        run.check_interrupt()?;
                        self.chain = self.rows.restore(self.chain, frame, &self.right_slots);
                        let ok = match &self.condition {
                            Some(c) => c.eval_bool(run, Scope::new(frame, outer))? == Some(true),
                            None => true,
                        };
                        if ok {
                            match self.kind {
                                JoinKind::Inner | JoinKind::LeftOuter => self.state = State::Right { matched: true },
                                JoinKind::Semi => self.state = State::Left,
                                JoinKind::Anti => {
                                    self.state = State::Left;
                                    self.left.reject(run);
                                    break;
                                }
                            }
                            return Ok(true);
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
