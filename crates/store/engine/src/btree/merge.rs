//! Merges of underfull nodes, and shrinking of the root.

use super::{Store, Target};
use crate::mtr::Mtr;
use crate::page::node::{NODE_BYTES, Node, NodeMut, SLOT_BYTES};
use crate::page::{OFF_ID, OFF_WORD_B, PageId, get_u64, put_u64};
use crate::pool::{Exclusive, View};
use crate::{Result, Tree};
use observe::Counter;

const TRUSTED: &str = "a latched node has sound offsets";

/// A node that uses less than this looks for a neighbour to merge with.
pub const UNDERFULL_BYTES: usize = NODE_BYTES / 4;
/// A merged node is at most this full, so that it does not split again at once.
const MERGED_BYTES_MAX: usize = NODE_BYTES * 3 / 4;

pub fn is_underfull(node: Node<'_>) -> bool {
    node.used() < UNDERFULL_BYTES
}

impl<'s> Store<'s> {
    /// Merges the node at `level` that covers `key` with a neighbour, if they are small enough, and then its ancestors.
    /// An attempt: gives up when somebody else is at work there.
    pub fn merge(self, tree: Tree, key: &[u8], level: u8) -> Result<()> {
        let Some(found) = self.node(tree, Target::At(key), level)? else { return Ok(()) };
        let Some(parent) = found.parent else { return Ok(()) };
        let Ok(at) = Node(parent.bytes()).child_for(key) else { return Ok(()) };
        if !parent.validate() {
            return Ok(());
        }
        if self.merge_pair(tree, key, parent, at)? || at == 0 {
            return Ok(());
        }
        self.merge_pair(tree, key, parent, at - 1)?;
        Ok(())
    }

    /// Merges children `left_at` and `left_at + 1` of a parent. False: they are there and too big for one node.
    fn merge_pair(self, tree: Tree, key: &[u8], parent: View<'s>, left_at: usize) -> Result<bool> {
        let node = Node(parent.bytes());
        if left_at >= node.len() {
            return Ok(!parent.validate());
        }
        let (Ok(left), Ok(right)) = (node.child(left_at), node.child(left_at + 1)) else { return Ok(true) };
        if !parent.validate() {
            return Ok(true);
        }
        // Into memory before anything is latched.
        self.pool.read(left)?;
        self.pool.read(right)?;
        let Some(mut parent) = parent.upgrade() else { return Ok(true) };
        let (Some(mut left), Some(mut right)) = (self.pool.try_exclusive(left), self.pool.try_exclusive(right)) else {
            return Ok(true);
        };
        let (l, r) = (Node(left.bytes()), Node(right.bytes()));
        // An empty node goes whatever its neighbour holds.
        let bytes_max = if l.is_empty() || r.is_empty() { NODE_BYTES } else { MERGED_BYTES_MAX };
        if !(is_underfull(l) || is_underfull(r)) || merged_bytes(l, r) > bytes_max {
            return Ok(false);
        }
        let level = l.level();
        let mut mtr = Mtr::new();
        absorb(&mut left, Node(right.bytes()));
        mtr.image(&left);
        let mut map = self.space.free(self.pool, &mut mtr, &mut right)?;
        mtr.remove(&mut parent, left_at);
        mtr.commit(self.log, &mut [&mut map, &mut left, &mut right, &mut parent]);
        observe::increment(Counter::PageMerges);
        let (is_root, emptied, small) =
            (parent.id == tree.root, Node(parent.bytes()).is_empty(), is_underfull(Node(parent.bytes())));
        drop((parent, left, right, map));
        match (is_root, emptied, small) {
            (true, true, _) => self.shrink_root(tree)?,
            (false, _, true) => self.merge(tree, key, level + 1)?,
            _ => {}
        }
        Ok(true)
    }

    /// A root with one child takes the child's content.
    fn shrink_root(self, tree: Tree) -> Result<()> {
        let Some(mut root) = self.pool.try_exclusive(tree.root) else { return Ok(()) };
        let node = Node(root.bytes());
        if node.is_leaf() || !node.is_empty() {
            return Ok(());
        }
        let Some(mut child) = self.pool.try_exclusive(node.child(0).expect(TRUSTED)) else { return Ok(()) };
        let mut mtr = Mtr::new();
        let counter = get_u64(root.bytes(), OFF_WORD_B);
        root.bytes_mut().copy_from_slice(child.bytes());
        put_u64(root.bytes_mut(), OFF_ID, tree.root);
        put_u64(root.bytes_mut(), OFF_WORD_B, counter);
        mtr.image(&root);
        let mut map = self.space.free(self.pool, &mut mtr, &mut child)?;
        mtr.commit(self.log, &mut [&mut map, &mut child, &mut root]);
        Ok(())
    }
}

/// Bytes of slots and cells after `right` is merged into `left`.
fn merged_bytes(left: Node<'_>, right: Node<'_>) -> usize {
    let (lower, upper) = (left.lower_fence().expect(TRUSTED), right.upper_fence().expect(TRUSTED));
    let prefix = lower.zip(upper).map_or(0, |(l, u)| l.iter().zip(u).take_while(|(a, b)| a == b).count());
    let cells = |node: Node<'_>| -> usize {
        let grows = node.prefix_len() - prefix;
        (0..node.len())
            .map(|i| SLOT_BYTES + grows + node.key_rest(i).expect(TRUSTED).len() + node.value(i).expect(TRUSTED).len())
            .sum()
    };
    let fences = lower.map_or(0, <[u8]>::len) + upper.map_or(0, <[u8]>::len);
    let middle = if left.is_leaf() {
        0
    } else {
        SLOT_BYTES + right.lower_fence().expect(TRUSTED).map_or(0, <[u8]>::len) + size_of::<PageId>()
    };
    cells(left) + cells(right) + fences + middle
}

/// Takes over the entries of the right neighbour.
fn absorb(left: &mut Exclusive<'_>, right: Node<'_>) {
    let lower = Node(left.bytes()).lower_fence().expect(TRUSTED).map(<[u8]>::to_vec);
    let n = Node(left.bytes()).len();
    let mut node = NodeMut(left.bytes_mut());
    node.rebuild(0..n, lower.as_deref(), right.upper_fence().expect(TRUSTED));
    if !right.is_leaf() {
        let separator = right.lower_fence().expect(TRUSTED).expect("a right neighbour has a lower fence");
        let prefix = node.node().prefix_len();
        node.insert_rest(n, &separator[prefix..], &right.child(0).expect(TRUSTED).to_le_bytes());
    }
    node.append_from(right, 0..right.len());
}
