//! What functions remember during one execution.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use types::Value;
use types::json::path::Path;

/// What functions remember during one execution.
#[derive(Default)]
pub struct Scratch {
    pub(crate) patterns: RefCell<Vec<Cached>>,
    /// Paths into documents, by their texts.
    pub(crate) paths: RefCell<Vec<(Vec<u8>, Rc<Path>)>>,
    /// RAND(n): call site and both halves of its state.
    pub(crate) random: RefCell<Vec<(usize, u32, u32)>>,
    /// Constants in the order of their numbers, once they have been computed: see [`crate::functions::once`].
    pub once: RefCell<Vec<(i64, Value<'static>)>>,
    /// Operands of CASE at the row at hand: see [`crate::written`].
    pub(crate) operands: RefCell<Vec<(i64, Value<'static>)>>,
    /// Lists of IN, each under the planner's number. There are few of them: see [`crate::list`].
    pub(crate) lists: RefCell<Vec<(i64, KnownList)>>,
    /// Conditions, each list under its place in memory. There are few of them: see [`crate::alternatives`].
    pub(crate) alternatives: RefCell<Vec<(usize, KnownConditions)>>,
    calls: Cell<u64>,
}

impl Scratch {
    /// 0, 1, 2, ...
    pub fn count(&self) -> u64 {
        self.calls.replace(self.calls.get() + 1)
    }
}

/// A pattern, compiled.
pub struct Pattern {
    pub(crate) text: String,
    pub(crate) flags: Flags,
    /// What of a subject decides which variant matches it.
    pub(crate) asks: Asks,
    /// The plainest one first, the others when a subject wants them: see [`crate::functions`]' `regexp::pattern`.
    pub(crate) variants: [OnceCell<fancy_regex::Regex>; 4],
}

/// What a pattern must be told of its subject.
#[derive(Clone, Copy, Default, Debug)]
pub struct Asks {
    /// Is there a line break at its end?
    pub(crate) last_break: bool,
    /// Is there one other than `\n`?
    pub(crate) breaks: bool,
    /// Is there a character that folds to several?
    pub(crate) expansions: bool,
}

/// Flags of a match: `c`, `i`, `m`, `n`, `u`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
    pub(crate) dot_all: bool,
    pub(crate) unix_lines: bool,
}

/// One entry of the cache of an execution.
pub struct Cached {
    pub(crate) text: Vec<u8>,
    pub(crate) flags: Flags,
    pub(crate) pattern: Rc<Pattern>,
}

/// What may be sorted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Exact,
    Double,
    Text,
    Moment,
    Time,
}

/// The values of a list, but NULL, in their order, each once.
pub struct Sorted {
    pub(crate) class: Class,
    pub(crate) values: Vec<Value<'static>>,
    pub(crate) has_null: bool,
}

/// What is known of one list.
pub enum KnownList {
    AskedOnce,
    /// Of several classes, or for another one than the operand's: gone through.
    Mixed,
    Sorted(Sorted),
}

/// Conditions that are looked up.
pub struct Alternatives {
    /// The condition whose columns stand for those of all that can be looked up.
    pub(crate) model: usize,
    /// The constants of each column.
    pub(crate) members: Vec<Sorted>,
    /// By the constants' places: the first condition that has them.
    pub(crate) by_places: HashMap<Box<[u32]>, usize>,
    /// Conditions that are asked one by one.
    pub(crate) others: Vec<usize>,
}

/// What is known of the conditions of one OR or CASE.
#[derive(Clone)]
pub enum KnownConditions {
    AskedOnce,
    /// They are gone through.
    Mixed,
    Alternatives(Rc<Alternatives>),
}
