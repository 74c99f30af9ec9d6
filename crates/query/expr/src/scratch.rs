//! What functions remember during one execution.

use crate::alternatives::Remembered;
use crate::functions::regexp::Cached;
use crate::list::Lists;
use std::cell::{Cell, RefCell};
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
    /// Operands of CASE at the row at hand: see [`crate::functions::written`].
    pub(crate) operands: RefCell<Vec<(i64, Value<'static>)>>,
    pub lists: Lists,
    pub alternatives: Remembered,
    calls: Cell<u64>,
}

impl Scratch {
    /// 0, 1, 2, ...
    pub fn count(&self) -> u64 {
        self.calls.replace(self.calls.get() + 1)
    }
}
