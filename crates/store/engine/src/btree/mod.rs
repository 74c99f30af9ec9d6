//! B+trees with optimistic lock coupling (Leis et al., "The ART of Practical Synchronization", DaMoN 2016; LeanStore).
//!
//! A descent reads each node's latch version, finds the child, reads the child's version and validates the parent: no latch is
//! taken and no shared memory written. A writer upgrades the leaf's version to an exclusive latch, which fails if the leaf has
//! changed. Structure changes ([`split`], [`merge`]) latch parent before child, and only by attempts while they hold another
//! latch, so no cycle of latch waits can form. Nodes carry fence keys instead of sibling links: a scan that leaves a leaf
//! descends again with the fence as its key.
//!
//! The root never moves: it grows and shrinks in place, so a tree is known by its root page for ever.

pub mod merge;
pub mod split;

use crate::page::node::{Node, Torn};
use crate::page::{PageId, PageType};
use crate::pool::{Pool, View};
use crate::space::Space;
use crate::{Error, Result, Tree};
use log::Log;
use observe::Counter;

/// What every structure needs: pages, the log that protects them, free space.
#[derive(Clone, Copy)]
pub struct Store<'s> {
    pub pool: &'s Pool,
    pub log: &'s Log,
    pub space: &'s Space,
}

/// Where a descent for a key should end.
#[derive(Clone, Copy, Debug)]
pub enum Target<'k> {
    /// The node that covers the key.
    At(&'k [u8]),
    /// The node that covers the greatest keys below; `None`: the greatest of all.
    Below(Option<&'k [u8]>),
    /// The node that covers the least keys of all.
    First,
}

/// A node found, with its parent as it was found there.
pub struct Found<'s> {
    pub node: View<'s>,
    pub parent: Option<View<'s>>,
}

impl<'s> Store<'s> {
    /// The leaf for `target`, unlatched.
    #[inline]
    pub fn leaf(self, tree: Tree, target: Target<'_>) -> Result<View<'s>> {
        loop {
            if let Some(found) = self.try_descend(tree, target, 0)? {
                return Ok(found.node);
            }
        }
    }

    /// The node at `level` for `target`; when the tree is lower, `None`.
    pub fn node(self, tree: Tree, target: Target<'_>, level: u8) -> Result<Option<Found<'s>>> {
        loop {
            if let Some(found) = self.try_descend(tree, target, level)? {
                if Node(found.node.bytes()).level() == level {
                    return Ok(Some(found));
                }
                if found.node.validate() {
                    return Ok(None);
                }
            }
        }
    }

    /// `None`: something changed on the way.
    #[inline]
    fn try_descend(self, tree: Tree, target: Target<'_>, level: u8) -> Result<Option<Found<'s>>> {
        let mut parent = None;
        let mut view = self.pool.read(tree.root)?;
        let mut steps = 1;
        loop {
            let node = Node(view.bytes());
            if !node.is_node() || node.tree() != tree.id {
                if !view.validate() {
                    return Ok(None);
                }
                return Err(self.not_a_node(tree, view));
            }
            if node.level() <= level {
                observe::add(Counter::InnodbBufferPoolReadRequests, steps);
                return Ok(Some(Found { node: view, parent }));
            }
            let Ok(child) = child_of(node, target) else {
                if view.validate() {
                    return Err(self.pool.corrupt(view.id, "offsets point outside the page"));
                }
                return Ok(None);
            };
            if !view.validate() {
                return Ok(None);
            }
            let next = self.pool.read(child)?;
            // The child was the child when its version was read.
            if !view.validate() {
                return Ok(None);
            }
            parent = Some(view);
            view = next;
            steps += 1;
        }
    }

    #[cold]
    fn not_a_node(self, tree: Tree, view: View<'_>) -> Error {
        match view.kind() {
            Some(PageType::Leaf | PageType::Inner) => {
                self.pool.corrupt(view.id, &format!("it belongs to another tree than {}", tree.id))
            }
            kind => self.pool.corrupt(view.id, &format!("it is no node of tree {} but {kind:?}", tree.id)),
        }
    }

    /// What to do about a torn read: look again if the page changed, else the page is damaged.
    #[cold]
    pub fn torn(self, view: View<'_>, _torn: Torn) -> Result<()> {
        if view.validate() {
            return Err(self.pool.corrupt(view.id, "offsets point outside the page"));
        }
        Ok(())
    }

    /// Is the tree there, and not given up since?
    pub fn exists(self, tree: Tree) -> Result<bool> {
        self.space.has(self.pool, tree, tree.root)
    }

    /// Gives up a tree that nobody uses any more: see [`Space::doom`].
    pub fn doom(self, tree: Tree) -> Result<()> {
        self.space.doom(self.pool, self.log, tree)
    }
}

#[inline(always)]
fn child_of(node: Node<'_>, target: Target<'_>) -> std::result::Result<PageId, Torn> {
    let i = match target {
        Target::At(key) => node.child_for(key)?,
        Target::Below(key) => node.child_below(key)?,
        Target::First => 0,
    };
    node.child(i)
}
