//! What a scan will read next: children of its leaf's parent, asked for ahead.

use super::Direction;
use crate::btree::{Store, Target};
use crate::page::PageId;
use crate::page::node::{Node, Torn};
use crate::{Result, Tree};
use std::ops::Bound;

/// Leaves that are asked for at a time; half of them later the next are. Fewer where that would be more than a sixteenth of the pool.
const WINDOW: usize = 256;

/// How far a scan has come, in leaves.
#[derive(Default)]
pub struct Ahead {
    /// Leaves read one after the other.
    leaves: u32,
    /// Leaves to go until the next look at the parent.
    rest: usize,
    ids: Vec<PageId>,
}

impl Ahead {
    /// The scan goes on in the leaf for `target`, as far as `end`.
    pub fn enter(
        &mut self,
        store: Store<'_>,
        tree: Tree,
        direction: Direction,
        target: Target<'_>,
        end: &Bound<Vec<u8>>,
    ) -> Result<()> {
        self.leaves = self.leaves.saturating_add(1);
        if self.rest > 0 {
            self.rest -= 1;
            return Ok(());
        }
        let Some(threshold) = store.pool.read_ahead_threshold() else { return Ok(()) };
        if self.leaves < threshold {
            return Ok(());
        }
        // An attempt: a parent that changes meanwhile is looked at again at the next leaf.
        let Some(parent) = store.node(tree, target, 1)? else { return Ok(()) };
        let window = WINDOW.min(store.pool.frame_count() / 16);
        let copied = children(Node(parent.node.bytes()), direction, target, end, window, &mut self.ids);
        if copied.is_ok() && parent.node.validate() {
            self.rest = self.ids.len() / 2;
            store.pool.read_ahead(&mut self.ids);
        }
        self.ids.clear();
        Ok(())
    }
}

/// The child for `target` and those behind it, `window` in all, as far as the scan's end.
fn children(
    node: Node<'_>,
    direction: Direction,
    target: Target<'_>,
    end: &Bound<Vec<u8>>,
    window: usize,
    ids: &mut Vec<PageId>,
) -> std::result::Result<(), Torn> {
    let from = match target {
        Target::At(key) => node.child_for(key)?,
        Target::Below(key) => node.child_below(key)?,
        Target::First => 0,
    };
    let last = match (end, direction) {
        // The end may lie beyond the node's fences.
        (Bound::Included(key) | Bound::Excluded(key), _) => node.search(key).map(|(i, equal)| i + equal as usize)?,
        (Bound::Unbounded, Direction::Forward) => node.len(),
        (Bound::Unbounded, Direction::Backward) => 0,
    };
    let mut add = |i: usize| node.child(i).map(|id| ids.push(id));
    match direction {
        Direction::Forward => (from..=last.min(node.len())).take(window).try_for_each(&mut add),
        Direction::Backward => (last..=from.min(node.len())).rev().take(window).try_for_each(&mut add),
    }
}
