//! Purge: removes what no snapshot can see any more, in the background.
//!
//! Most undo records leave nothing behind: all that is to be done about them is to give their page back once everybody sees
//! their transactions. Those that do leave something (a delete mark, a dropped long value, a dropped tree) are counted by
//! the session that appends them, in [`Segment::work`]. So purge reads nothing of a segment whose count it has caught up
//! with, apart from the last record of each page that it frees, and a session that updates rows in place shares no line with it.
//!
//! Where there is work, it walks the segment's records from the oldest on, as far as their transactions are over and visible
//! to every snapshot, several threads at several segments ([`crate::shared::history`]). A delete mark still standing as that record
//! left it becomes a removal; dropped long values and dropped trees are freed. Where it stands is not logged: after a crash it
//! looks at records again, and finds nothing to do.

use crate::btree::{Target, merge};
use crate::mtr::Mtr;
use crate::page::get_u64;
use crate::page::node::Node;
use crate::segment::{self, Segment};
use crate::shared::Core;
use crate::undo::{self, Kind, Record};
use crate::version::{Header, ROW_AT, without_spare};
use crate::{Error, Result, Tree, TreeKind, overflow};
use log::Lsn;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const TRUSTED: &str = "a latched node has sound offsets";

/// How far purge has come in one segment.
pub struct Place {
    segment: Arc<Segment>,
    /// The first record not yet dealt with.
    page: u64,
    at: usize,
    /// The count of work that had been reached when all records had been dealt with.
    done: u64,
    /// The horizon that it could not pass; 0: it has not come to one.
    blocked_at: Lsn,
    /// Rounds in which it is left alone, after an error.
    pub rests: u32,
}

/// What a visit to a segment came to.
pub struct Progress {
    /// Records acted on.
    pub records: u64,
    /// Is there more to do right now?
    pub more: bool,
}

/// What stands at a place of an undo page.
enum Next {
    /// A record that purge has to act on.
    Work,
    /// No more records on this page; there may be a next one.
    End,
    /// A record that some snapshot may still need.
    Blocked,
}

impl Place {
    pub fn new(segment: Arc<Segment>) -> Place {
        // Of what a former life left nobody knows, so there may be work.
        let (page, at) = undo::split_roll_ptr(segment.first);
        Place { segment, page, at, done: 0, blocked_at: 0, rests: 0 }
    }

    /// Would a visit up to `horizon` find anything? Reads nothing but the segment's counts.
    pub fn has_work(&mut self, horizon: Lsn) -> bool {
        if self.rests > 0 {
            self.rests -= 1;
            return false;
        }
        if self.blocked_at == horizon {
            return false;
        }
        // Acquire for both: as in `purge_segment`.
        self.page != self.segment.newest.load(Ordering::Acquire)
            || self.done != self.segment.work.load(Ordering::Acquire)
    }
}

impl Core {
    /// Purges a segment up to the horizon, which no snapshot is older than, and as far as `pages` pages.
    pub fn purge_segment(&self, place: &mut Place, horizon: Lsn, pages: u32) -> Result<Progress> {
        place.blocked_at = 0;
        // Acquire: pairs with the Release in `note_work`: the records that were counted are found below. The horizon was taken
        // before, so what is history has been counted: a session counts first and commits after.
        let work = place.segment.work.load(Ordering::Acquire);
        let (mut records, mut bytes, mut pages_left) = (0, Vec::new(), pages);
        while !self.stopping() {
            // Acquire: pairs with the Release in `extend`.
            let newest = place.segment.newest.load(Ordering::Acquire);
            if place.page == newest && place.done == work {
                break;
            }
            if pages_left == 0 {
                return Ok(Progress { records, more: true });
            }
            let next =
                if place.done == work { self.last_of_page(place, horizon)? } else { self.next_work(place, horizon)? };
            match next {
                Next::Blocked => {
                    place.blocked_at = horizon;
                    break;
                }
                Next::End if place.page == newest => {
                    place.done = work;
                    break;
                }
                Next::End => {
                    self.log.ensure_room_critical(4096)?;
                    place.page = place.segment.free_first(self.store(), place.page)?;
                    place.at = undo::RECORDS_AT;
                    pages_left -= 1;
                }
                Next::Work => {
                    let roll_ptr = undo::roll_ptr(place.page, place.at);
                    segment::read_record(self.store(), roll_ptr, &mut bytes)?;
                    self.purge_or_leave(&bytes, roll_ptr)?;
                    place.at += bytes.len();
                    records += 1;
                }
            }
        }
        Ok(Progress { records, more: false })
    }

    /// May the whole page go? Its records are of one session, so the last one is the one that is needed longest.
    fn last_of_page(&self, place: &Place, horizon: Lsn) -> Result<Next> {
        loop {
            let view = self.pool.read(place.page)?;
            let page = view.bytes();
            let last = undo::record_before(page, undo::free_at(page)).map(|at| undo::record_transaction(&page[at..]));
            if view.validate() {
                return Ok(if last.is_none_or(|trx| self.system.is_history(trx, horizon)) {
                    Next::End
                } else {
                    Next::Blocked
                });
            }
        }
    }

    /// Passes over records that ask for nothing.
    fn next_work(&self, place: &mut Place, horizon: Lsn) -> Result<Next> {
        loop {
            let view = self.pool.read(place.page)?;
            let page = view.bytes();
            let (mut at, mut seen) = (place.at, 0);
            let next = loop {
                if at >= undo::free_at(page) {
                    break Some(Next::End);
                }
                let Some(len) = undo::record_len(page, at) else { break None };
                let record = &page[at..at + len];
                let trx = undo::record_transaction(record);
                if trx != seen && !self.system.is_history(trx, horizon) {
                    break Some(Next::Blocked);
                }
                seen = trx;
                if undo::leaves_work(record) {
                    break Some(Next::Work);
                }
                at += len;
            };
            if !view.validate() {
                continue;
            }
            place.at = at;
            return next
                .ok_or_else(|| self.pool.corrupt(place.page, &format!("there is no undo record at offset {at}")));
        }
    }

    /// Acts on a record, unless a damaged page of its tree keeps it from that: then what it would have removed stays until the tree is
    /// dropped. Nobody sees it, a delete mark that everybody sees as one; and the history goes on.
    fn purge_or_leave(&self, bytes: &[u8], roll_ptr: u64) -> Result<()> {
        let record = &Record::decode(bytes).expect("read_record checked it");
        match self.purge_record(bytes, record, roll_ptr) {
            // A tree that is to be dropped is not left: nobody would drop it later.
            Err(Error::Corrupt(what)) if record.kind == Kind::Update => {
                if self.history.note_damaged(record.tree) {
                    eprintln!("[ERROR] [Engine] purge: {what}; what is deleted there stays until the table is dropped");
                }
                Ok(())
            }
            outcome => outcome,
        }
    }

    fn purge_record(&self, bytes: &[u8], record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let kind = if record.secondary { TreeKind::Secondary } else { TreeKind::Clustered };
        let tree = Tree { id: record.tree, root: record.root, kind };
        let _in_use = self.space.keep_trees();
        if undo::is_undone(bytes) {
            let old = Header(record.header);
            if record.kind == Kind::Update && old.is_deleted() {
                // The mark stands again; purge may have passed it while it was covered.
                self.purge_mark(tree, record.key, old.trx(), record.roll_ptr)?;
            }
            return Ok(());
        }
        match record.kind {
            Kind::Insert | Kind::CreateTree | Kind::Prepare | Kind::LongValue => Ok(()),
            Kind::DropTree => self.store().doom(tree),
            Kind::Update => self.purge_update(tree, record, roll_ptr),
        }
    }

    /// An update dropped long values, or set a delete mark, or neither.
    fn purge_update(&self, tree: Tree, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let store = self.store();
        let old = Header(record.header);
        // A delete mark keeps the row and so has no difference; secondary entries keep theirs too.
        let may_be_mark = !old.is_deleted() && record.data.is_empty();
        overflow::free_all(store, tree, record.dropped)?;
        if may_be_mark {
            self.purge_mark(tree, record.key, record.trx, roll_ptr)?;
        }
        Ok(())
    }

    /// Removes the delete mark that `trx` left with its undo record at `roll_ptr`, if it is still there.
    fn purge_mark(&self, tree: Tree, key: &[u8], trx: u64, roll_ptr: u64) -> Result<()> {
        let store = self.store();
        let mut is_freed = false;
        loop {
            self.log.ensure_room_critical(64 << 10)?;
            if !store.exists(tree)? {
                return Ok(()); // dropped meanwhile
            }
            let leaf = store.leaf(tree, Target::At(key))?;
            let node = Node(leaf.bytes());
            // A look first: most updates left no mark, and cost no latch.
            let marked = node.search(key).and_then(|(slot, equal)| {
                if !equal {
                    return Ok(false);
                }
                let value = node.value(slot)?;
                let (Some(header), false) =
                    (Header::of(value), tree.kind == TreeKind::Clustered && value.len() < ROW_AT)
                else {
                    return Ok(false);
                };
                let ours = header.trx() == trx && (tree.kind == TreeKind::Secondary || get_u64(value, 8) == roll_ptr);
                Ok(ours && header.is_deleted())
            });
            match marked {
                Ok(false) if leaf.validate() => return Ok(()),
                Ok(true) => {}
                Ok(false) => continue,
                Err(torn) => {
                    store.torn(leaf, torn)?;
                    continue;
                }
            }
            let Some(mut leaf) = leaf.upgrade() else { continue };
            let node = Node(leaf.bytes());
            let (slot, equal) = node.search(key).expect(TRUSTED);
            assert!(equal, "the leaf did not change since the look");
            let value = without_spare(node.value(slot).expect(TRUSTED)).expect(TRUSTED);
            let chains = match tree.kind {
                TreeKind::Clustered => overflow::references(Header::read(value), &value[ROW_AT..])?.to_vec(),
                TreeKind::Secondary => Vec::new(),
            };
            if !chains.is_empty() && !is_freed {
                // Before the row that refers to them goes: after a crash they are found once more.
                drop(leaf);
                overflow::free_all(store, tree, &chains)?;
                is_freed = true;
                continue;
            }
            let mut mtr = Mtr::new();
            mtr.remove(&mut leaf, slot);
            let underfull = merge::is_underfull(Node(leaf.bytes()));
            mtr.commit(&self.log, &mut [&mut leaf]);
            drop(leaf);
            if underfull {
                store.merge(tree, key, 0)?;
            }
            return Ok(());
        }
    }
}
