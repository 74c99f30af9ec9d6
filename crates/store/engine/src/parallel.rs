//! Reads of one snapshot by several threads at once: who reads a tree from end to end does it in parts.
//!
//! A part is a range of keys between separators of the tree's upper levels. Each thread takes one part after the other, reads it with a
//! transaction of its own in the snapshot of the one that asked, and keeps what it found; nothing is written that others read
//! until the part is done.
//!
//! The snapshot stays announced in the slot of the transaction that asked, which waits for all threads: so it is in use exactly as
//! announced ([`crate::txn::System::open_snapshot`]), and the others need not announce it again.

use crate::btree::{Store, Target};
use crate::cursor::Range;
use crate::page::node::{Node, Torn};
use crate::transaction::Transaction;
use crate::{Result, Tree};
use std::num::NonZero;
use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tree of fewer leaves is one part: they are read in half a millisecond.
const LEAVES_LEAST: usize = 64;

/// Parts for each thread that reads, so that none waits for long for the one that has the largest.
pub const PARTS_A_THREAD: usize = 8;

/// A part of a tree: keys from `from` on and below `to`, where these are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub from: Option<Vec<u8>>,
    pub to: Option<Vec<u8>>,
}

impl Part {
    pub fn range(&self) -> Range<'_> {
        let lower = self.from.as_deref().map_or(Bound::Unbounded, Bound::Included);
        let upper = self.to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        Range { lower, upper }
    }
}

impl Transaction {
    /// The parts of a tree, in the order of their keys: about as many as are wanted, of about the same number of pages; of a tree
    /// that is read sooner than threads are started, one. All keys are in one of them, also those that come later.
    pub fn parts(&self, tree: Tree, wanted: usize) -> Result<Vec<Part>> {
        let store = self.core.store();
        let mut separators = Vec::new();
        let height = store.height(tree)?;
        for level in (1..=height).rev().take_while(|_| wanted > 1) {
            if separators.len() + 1 < wanted {
                separators = store.separators(tree, level)?;
            }
        }
        if height == 1 && separators.len() < LEAVES_LEAST {
            separators.clear();
        }
        let each = (separators.len() + 1).div_ceil(wanted.max(1));
        let mut parts = vec![Part::default()];
        for separator in separators.into_iter().skip(each - 1).step_by(each) {
            parts.last_mut().expect("there is one").to = Some(separator.clone());
            parts.push(Part { from: Some(separator), to: None });
        }
        Ok(parts)
    }

    /// Reads each of `parts` with `read`, in up to `threads` threads, this one among them, fewer where other statements have the
    /// processors; what it gave, in the order of the parts. `read` sees what this transaction's snapshot shows, and ends with its
    /// statement. A transaction that has changed rows reads in this thread alone, since others do not see what it has changed. A
    /// panic in one of the threads goes on in this one.
    pub fn read_parts<P: Sync, R: Send>(
        &mut self,
        parts: &[P],
        threads: usize,
        read: impl Fn(&mut Transaction, &P) -> R + Sync,
    ) -> Vec<R> {
        let wanted = threads.min(parts.len()).saturating_sub(1);
        let helpers = Helpers::claim(if self.has_writes() { 0 } else { wanted });
        // Where no slot is left this thread reads alone.
        let readers: Vec<Transaction> = (0..helpers.0).map_while(|_| self.join_snapshot().ok()).collect();
        let next = AtomicUsize::new(0);
        let work = |tx: &mut Transaction| {
            let mut found = Vec::new();
            loop {
                // Relaxed: a number that each thread gets once; what is found comes with the thread's end.
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return found };
                found.push((at, read(tx, part)));
            }
        };
        let mut found = std::thread::scope(|scope| {
            let start = |mut reader: Transaction| {
                let work = &work;
                std::thread::Builder::new().name("reader".into()).spawn_scoped(scope, move || work(&mut reader))
            };
            // One that cannot be started leaves its parts to the others.
            let threads: Vec<_> = readers.into_iter().map_while(|reader| start(reader).ok()).collect();
            let mut found = work(self);
            for thread in threads {
                // A panic of this thread's own: the hook that keeps what a statement panicked with is asked in it.
                found.extend(thread.join().expect("a reader has panicked, see the log"));
            }
            found
        });
        found.sort_unstable_by_key(|(at, _)| *at);
        assert_eq!(found.len(), parts.len(), "each part is read once");
        found.into_iter().map(|(_, result)| result).collect()
    }
}

/// Threads of this process that read for a statement beside the one that serves it. W: statements that begin or end to.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// A number of those threads, given back at the end.
struct Helpers(usize);

impl Helpers {
    /// As many as are wanted, as long as a processor is left for each beside the statements that run and their helpers.
    fn claim(wanted: usize) -> Helpers {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        if wanted == 0 {
            return Helpers(0);
        }
        let processors = *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get));
        let running = observe::status_value("Threads_running").map_or(1, |running| running.max(1) as usize);
        let spare = |helpers: usize| wanted.min(processors.saturating_sub(running + helpers));
        // Relaxed: a count that publishes nothing.
        let claimed = HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |h| Some(h + spare(h)));
        Helpers(claimed.map_or(0, spare))
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        // Relaxed: as in `claim`.
        HELPERS.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Store<'_> {
    /// The level of the root.
    fn height(self, tree: Tree) -> Result<u8> {
        self.leaf(tree, Target::First)?;
        loop {
            let root = self.pool.read(tree.root)?;
            let level = Node(root.bytes()).level();
            if root.validate() {
                return Ok(level);
            }
        }
    }

    /// The separators between the children of all nodes at `level`, and between those nodes, as they are now or were a moment ago.
    fn separators(self, tree: Tree, level: u8) -> Result<Vec<Vec<u8>>> {
        debug_assert!(level > 0, "leaves have no children");
        let mut separators: Vec<Vec<u8>> = Vec::new();
        loop {
            let target = separators.last().map_or(Target::First, |key| Target::At(key));
            // A tree that has become lower meanwhile has no more to give.
            let Some(found) = self.node(tree, target, level)? else { return Ok(separators) };
            let mut own = Vec::new();
            let copied = copy_separators(Node(found.node.bytes()), &mut own);
            if !found.node.validate() {
                continue;
            }
            let Ok(is_last) = copied else {
                self.torn(found.node, Torn)?;
                continue;
            };
            let last = separators.last().cloned();
            separators.extend(own.into_iter().filter(|key| last.as_ref().is_none_or(|last| key > last)));
            if is_last {
                return Ok(separators);
            }
        }
    }
}

/// The node's separators with its upper fence; `true`: it has none, it is the last one of its level.
fn copy_separators(node: Node<'_>, keys: &mut Vec<Vec<u8>>) -> std::result::Result<bool, Torn> {
    for i in 0..node.len() {
        let mut key = Vec::new();
        node.copy_key(i, &mut key)?;
        keys.push(key);
    }
    let upper = node.upper_fence()?;
    keys.extend(upper.map(<[u8]>::to_vec));
    Ok(upper.is_none())
}
