//! Pages that are thrown away: those of a dropped tree, and free ones whose blocks go back to the file system. A dirty one is
//! not written.
//!
//! Redo applies an operation to what the disk has of the page, so it must not begin between two changes of a page that is on disk
//! without either. As long as anything older than the moment of the throwing away is not on disk, the page therefore counts as
//! dirty since its first change that is not on disk. Once everything is, redo begins behind its last change.

use super::Pool;
use crate::page::PageId;
use log::{Log, Lsn};
use std::sync::atomic::Ordering;
use sync::{Mutex, Rank};

/// What was thrown away, as the checkpoint has to see it. W: who throws away. R, and W of what has passed: the cleaner.
pub(super) struct Discards {
    list: Mutex<Vec<Discard>>,
}

struct Discard {
    /// Start of the oldest change that was not on disk.
    since: Lsn,
    /// All changes of these pages are below; the greatest LSN while the work goes on.
    until: Lsn,
}

impl Discards {
    pub(super) fn new() -> Discards {
        Discards { list: Mutex::new(Rank::PagePool, Vec::new()) }
    }
}

impl Pool {
    /// Throws pages away that nobody reads or writes any more. Pages that are being written stay in memory, clean.
    pub fn throw_away(&self, log: &Log, pages: impl Iterator<Item = PageId>) {
        let mut since = Lsn::MAX;
        let mut note = |dirty: Lsn| {
            let mut list = self.discards.list.lock();
            if since == Lsn::MAX {
                // One caller at a time has an entry that is open: the last one.
                list.push(Discard { since: dirty, until: Lsn::MAX });
            }
            since = since.min(dirty);
            list.last_mut().expect("just pushed").since = since;
        };
        for id in pages {
            let meta = self.meta(id);
            if meta.latch.exclusive().is_err() {
                continue; // not in memory
            }
            // Acquire: pairs with the cleaner's Release when the write is done.
            if meta.in_flight.load(Ordering::Acquire) != 0 {
                meta.latch.unlock_exclusive_unchanged();
                continue;
            }
            // Relaxed: written by the page's loader, before it released the latch that we hold.
            let frame = meta.frame.load(Ordering::Relaxed);
            // Relaxed: written under the latch that we hold.
            let dirty = self.dirty_since[frame as usize].load(Ordering::Relaxed);
            if dirty != 0 {
                note(dirty);
                // Release: pairs with the Acquire in `dirty_pages`: who sees the page clean finds it in the list.
                self.dirty_since[frame as usize].store(0, Ordering::Release);
            }
            // Relaxed: the end of the latch's hold releases it.
            self.frames[frame as usize].store(0, Ordering::Relaxed);
            self.let_go(id..id + 1);
            self.give_back(frame);
        }
        if since != Lsn::MAX {
            self.discards.list.lock().last_mut().expect("pushed above").until = log.tail_lsn();
        }
    }

    /// How far back redo has to begin, where `oldest` is the oldest change in memory that is not on disk: taken before this is
    /// called. Called by the cleaner's thread alone.
    pub(super) fn redo_from(&self, mut oldest: Lsn) -> Lsn {
        let mut list = self.discards.list.lock();
        while let Some(since) = list.iter().filter(|d| d.until > oldest && d.since < oldest).map(|d| d.since).min() {
            oldest = since;
        }
        list.retain(|d| d.until > oldest);
        oldest
    }
}
