//! Figures of the moment for monitors: read from what is there anyway, word by word, so that nobody is stopped. Two of them may be of
//! slightly different moments.

use crate::btree::Target;
use crate::lock::LockInfo;
use crate::page::node::Node;
use crate::{Engine, LockOn, Lsn, Tree};
use std::sync::atomic::Ordering;

/// What SHOW ENGINE INNODB STATUS and INNODB_METRICS show of the moment, beside what is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// The next transaction's id.
    pub trx_next: u64,
    /// Changes of transactions with smaller ids are seen by everybody: purge has noted that they are over.
    pub trx_settled: u64,
    /// Snapshots that are open.
    pub snapshots: u64,
    /// Transactions that have written, and those that are prepared and have no session.
    pub writers: u64,
    /// Times that the workers of purge were called.
    pub purge_rounds: u64,
    /// Runs of pages that are to be read ahead, and batches of pages that are to be written: queued or in progress.
    pub reads_pending: u64,
    pub writes_pending: u64,
    pub pool_bytes: u64,
    /// Bytes of lock objects, as transactions with many of them tell.
    pub lock_bytes: u64,
    pub log: LogFigures,
}

/// How far the log has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogFigures {
    pub assigned: Lsn,
    pub completed: Lsn,
    pub written: Lsn,
    pub flushed: Lsn,
    pub checkpoint: Lsn,
    /// The oldest change that is not in the data file yet; with no such change, the end.
    pub oldest_dirty: Lsn,
    pub capacity: u64,
    pub used: u64,
    /// Numbers of the first and of the last file.
    pub files: (u64, u64),
}

/// Where a key is now, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPlace {
    pub page: u64,
    /// Its place among the entries of the page.
    pub slot: usize,
    /// How many there are.
    pub slots: usize,
}

impl Engine {
    pub fn figures(&self) -> Figures {
        let core = self.core();
        let mut figures = Figures {
            trx_next: core.system.next_id(),
            trx_settled: core.system.settled(),
            purge_rounds: core.history.rounds(),
            reads_pending: core.pool.reads_pending() as u64,
            writes_pending: core.pool.writes_pending() as u64,
            pool_bytes: core.pool.frame_count() as u64 * crate::page::PAGE_BYTES as u64,
            lock_bytes: core.locks.memory() as u64,
            log: self.log_figures(),
            ..Figures::default()
        };
        for (_, slot) in core.system.slots.iter_claimed() {
            // Relaxed: numbers to show.
            figures.snapshots += u64::from(slot.snapshot.load(Ordering::Relaxed) != u64::MAX);
            figures.writers += u64::from(slot.shown_trx() != 0);
        }
        figures
    }

    fn log_figures(&self) -> LogFigures {
        let (log, pool) = (&self.core().log, &self.core().pool);
        let assigned = log.tail_lsn();
        LogFigures {
            assigned,
            completed: log.known_complete_lsn(),
            written: log.written_lsn(),
            flushed: log.flushed_lsn(),
            checkpoint: log.oldest_needed(),
            oldest_dirty: pool.dirty_pages().map(|(_, since)| since).min().unwrap_or(assigned),
            capacity: log.capacity(),
            used: log.used(),
            files: log.file_numbers(),
        }
    }

    /// Where a key is. `None`: the page cannot be read, or the tree is gone.
    pub fn place_of(&self, tree: Tree, key: &[u8]) -> Option<KeyPlace> {
        let store = self.core().store();
        // Somebody may change the page while it is looked at.
        for _ in 0..100 {
            let view = store.leaf(tree, Target::At(key)).ok()?;
            let node = Node(view.bytes());
            let (slots, found) = (node.len(), node.search(key));
            if view.validate() {
                let (slot, _) = found.ok()?;
                return Some(KeyPlace { page: view.id, slot, slots });
            }
        }
        None
    }
}

impl LockInfo {
    /// The key that it is on, or ends at; `None`: it is on the end of the tree.
    pub fn key(&self) -> Option<&[u8]> {
        match &self.on {
            LockOn::Record(key) | LockOn::Gap(key) | LockOn::Insertion(key) => Some(key),
            LockOn::Span { high, .. } => high.as_deref(),
        }
    }

    /// What it takes of memory, as the bound of all locks' memory counts it.
    pub fn bytes(&self) -> u64 {
        crate::lock::held::bytes_of_info(self) as u64
    }
}
