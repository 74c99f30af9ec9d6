//! What locks one transaction holds, and what they take of the memory that all may take.
//!
//! A transaction counts its own; to the sum that all share it adds in portions, so that those who lock few rows touch nothing that
//! others do. What is not in the sum is a portion for each session at most.

use super::{LockInfo, LockOn, LockTable, Name};
use std::sync::atomic::Ordering;

/// Bytes that a transaction takes before it tells of them.
const PORTION: usize = 64 << 10;
/// What a lock object takes besides its key, which the queue and its owner have: [`super::Queue`] with its list, and a name.
const OBJECT_BYTES: usize = 200;
/// What a span of keys takes, about.
const SPAN_BYTES: usize = 200;

/// One transaction's locks.
#[derive(Default)]
pub struct HeldLocks {
    names: Vec<Name>,
    /// Trees in which it holds gap or next-key locks.
    trees: Vec<u32>,
    /// Spans of those.
    spans: usize,
    /// Bytes of the lock objects.
    objects_bytes: usize,
    /// Bytes that are in [`LockTable::memory`].
    told: usize,
}

fn bytes_of(name: &Name) -> usize {
    OBJECT_BYTES + 2 * name.key.len()
}

/// The same of a lock as monitors see it.
pub fn bytes_of_info(lock: &LockInfo) -> usize {
    match &lock.on {
        LockOn::Record(key) | LockOn::Gap(key) | LockOn::Insertion(key) => OBJECT_BYTES + 2 * key.len(),
        LockOn::Span { .. } => SPAN_BYTES,
    }
}

impl HeldLocks {
    pub fn push(&mut self, name: Name) {
        self.objects_bytes += bytes_of(&name);
        self.names.push(name);
    }

    /// The lock object taken last.
    pub fn last(&self) -> Option<&Name> {
        self.names.last()
    }

    pub fn pop(&mut self) {
        if let Some(name) = self.names.pop() {
            self.objects_bytes -= bytes_of(&name);
        }
    }

    /// Forgets a lock object, one of the last most likely.
    pub fn remove(&mut self, name: &Name) {
        if let Some(at) = self.names.iter().rposition(|held| held == name) {
            self.objects_bytes -= bytes_of(name);
            self.names.swap_remove(at);
        }
    }

    /// There is nothing to give back, memory told of included.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.trees.is_empty() && self.told == 0
    }

    /// Lock objects.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn names(&self) -> &[Name] {
        &self.names
    }

    pub fn trees(&self) -> &[u32] {
        &self.trees
    }

    /// It holds spans in this tree.
    pub fn add_tree(&mut self, tree: u32) {
        if !self.trees.contains(&tree) {
            self.trees.push(tree);
        }
    }

    /// The number of its spans has changed.
    pub fn change_spans(&mut self, by: isize) {
        self.spans = self.spans.checked_add_signed(by).expect("it holds the spans that were joined");
    }

    /// Tells of what it takes when that has changed by a portion. False: that is more than all may take together.
    #[must_use]
    pub fn tell(&mut self, table: &LockTable) -> bool {
        let bytes = self.objects_bytes + self.spans * SPAN_BYTES;
        if bytes.abs_diff(self.told) < PORTION {
            return true;
        }
        // Relaxed: a number that orders nothing. Wraps when the difference is negative, and so comes out right.
        let before = table.memory.fetch_add(bytes.wrapping_sub(self.told), Ordering::Relaxed);
        let all = before.wrapping_add(bytes.wrapping_sub(self.told));
        let grows = bytes > self.told;
        self.told = bytes;
        // Relaxed: a setting.
        !grows || all <= table.memory_max.load(Ordering::Relaxed)
    }

    /// Everything is given back, by `release`.
    pub fn clear(&mut self, table: &LockTable, release: impl FnMut(Name)) {
        self.names.drain(..).for_each(release);
        self.names.shrink_to(64);
        self.trees.clear();
        (self.spans, self.objects_bytes) = (0, 0);
        if self.told != 0 {
            // Relaxed: as above.
            table.memory.fetch_sub(self.told, Ordering::Relaxed);
            self.told = 0;
        }
    }
}
