//! Splits: one structural step at a time, each a mini-transaction that leaves a whole tree.

use super::{Store, Target};
use crate::mtr::Mtr;
use crate::page::node::{Node, NodeMut, SLOT_BYTES, separator};
use crate::page::{OFF_ID, OFF_LSN, OFF_WORD_B, PageId, get_u64, page_lsn, put_u64};
use crate::pool::{Exclusive, Frame};
use crate::space::Place;
use crate::{Result, Tree};
use observe::Counter;

const TRUSTED: &str = "a latched node has sound offsets";

/// Where to cut a node: the first slot that goes right, and the separator.
struct Cut {
    at: usize,
    separator: Vec<u8>,
}

impl<'s> Store<'s> {
    /// Splits the node at `level` that covers `key` so that an entry of this size has a better chance to fit; or does a step
    /// towards that (splits an ancestor first). The caller looks again and repeats.
    pub fn split(self, tree: Tree, key: &[u8], level: u8, entry_bytes: usize) -> Result<()> {
        loop {
            let frame = self.pool.reserve_frame()?;
            let Some(found) = self.node(tree, Target::At(key), level)? else { return Ok(()) };
            let Some(parent) = found.parent else {
                match found.node.upgrade() {
                    Some(root) => return self.grow_root(tree, root, frame),
                    None => continue,
                }
            };
            // Parent before child; attempts only.
            let Some(mut parent) = parent.upgrade() else { continue };
            let Some(mut node) = found.node.upgrade() else { continue };
            let view = Node(node.bytes());
            if view.free() >= entry_bytes + SLOT_BYTES {
                return Ok(()); // somebody made room
            }
            let cut = cut(view, key);
            if !Node(parent.bytes()).fits(cut.separator.len(), size_of::<PageId>()) {
                drop((parent, node, frame));
                self.split(tree, key, level + 1, cut.separator.len() + size_of::<PageId>())?;
                continue;
            }
            let mut mtr = Mtr::new();
            let rising = cut.at == view.len();
            let place = if rising { Place::behind(tree, node.id) } else { Place::beside(tree, node.id) };
            let mut right = self.space.allocate(self.pool, frame, &mut mtr, place)?;
            let id = right.page.id;
            fill_right(&mut right.page, Node(node.bytes()), id, &cut);
            mtr.image(&right.page);
            mtr.truncate(&mut node, cut.at, &cut.separator);
            let (slot, equal) = Node(parent.bytes()).search(&cut.separator).expect(TRUSTED);
            assert!(!equal, "a separator stands once in its parent");
            let prefix = Node(parent.bytes()).prefix_len();
            mtr.insert(&mut parent, slot, &cut.separator[prefix..], &id.to_le_bytes());
            mtr.commit(self.log, &mut [&mut right.map, &mut right.page, &mut node, &mut parent]);
            observe::increment(Counter::PageSplits);
            return Ok(());
        }
    }

    /// Moves the root's content into a new child, its only one.
    fn grow_root(self, tree: Tree, mut root: Exclusive<'s>, frame: Frame<'s>) -> Result<()> {
        let mut mtr = Mtr::new();
        let mut child = self.space.allocate(self.pool, frame, &mut mtr, Place::beside(tree, root.id))?;
        let id = child.page.id;
        child.page.bytes_mut().copy_from_slice(root.bytes());
        put_u64(child.page.bytes_mut(), OFF_ID, id);
        put_u64(child.page.bytes_mut(), OFF_WORD_B, 0);
        let (level, counter, lsn) =
            (Node(root.bytes()).level(), get_u64(root.bytes(), OFF_WORD_B), page_lsn(root.bytes()));
        let mut node = NodeMut(root.bytes_mut());
        node.format(tree.root, tree.id, level + 1, None, None);
        node.set_leftmost_child(id);
        put_u64(root.bytes_mut(), OFF_WORD_B, counter);
        put_u64(root.bytes_mut(), OFF_LSN, lsn);
        mtr.image(&child.page);
        mtr.image(&root);
        mtr.commit(self.log, &mut [&mut child.map, &mut child.page, &mut root]);
        Ok(())
    }
}

fn whole_key(node: Node<'_>, slot: usize) -> Vec<u8> {
    let mut key = Vec::new();
    node.copy_key(slot, &mut key).expect(TRUSTED);
    key
}

/// In the middle by bytes; at the end when `key` extends the last leaf, so that rising keys leave full leaves behind.
fn cut(node: Node<'_>, key: &[u8]) -> Cut {
    let n = node.len();
    assert!(n >= 2, "a full node has at least two cells");
    if node.is_leaf() && node.upper_fence().expect(TRUSTED).is_none() {
        let last = whole_key(node, n - 1);
        // The fence takes room that a leaf full to the last byte does not have.
        let fence = if *last < *key { separator(&last, key) } else { Vec::new() };
        if !fence.is_empty() && fence.len() <= node.free() {
            return Cut { at: n, separator: fence };
        }
    }
    let cell = |i: usize| SLOT_BYTES + node.key_rest(i).expect(TRUSTED).len() + node.value(i).expect(TRUSTED).len();
    let total: usize = (0..n).map(cell).sum();
    let (mut at, mut left) = (0, 0);
    while at < n - 1 && (at == 0 || left + cell(at) / 2 < total / 2) {
        left += cell(at);
        at += 1;
    }
    if node.is_leaf() {
        return Cut { at, separator: separator(&whole_key(node, at - 1), &whole_key(node, at)) };
    }
    Cut { at, separator: whole_key(node, at) }
}

fn fill_right(right: &mut Exclusive<'_>, node: Node<'_>, id: PageId, cut: &Cut) {
    let upper = node.upper_fence().expect(TRUSTED);
    let mut fresh = NodeMut(right.bytes_mut());
    fresh.format(id, node.tree(), node.level(), Some(&cut.separator), upper);
    if node.is_leaf() {
        fresh.append_from(node, cut.at..node.len());
    } else {
        // The separator's own child becomes the leftmost of the right node; the separator moves up.
        fresh.set_leftmost_child(node.child(cut.at + 1).expect(TRUSTED));
        fresh.append_from(node, cut.at + 1..node.len());
    }
}
