//! Undoing: of whole transactions, of statements, and of transactions that a crash left open.
//!
//! Each record is undone and marked as undone in one mini-transaction, so undoing may stop anywhere and start again from the end. A
//! row is looked at by its roll pointer, which must be the record's; an entry by its transaction.
//!
//! An undo needs no page: a row that grows again finds its place ([`crate::version`]). When a page cannot be read, or the log has no room
//! on a full disk, it goes on in the [`background`](crate::shared::rollbacks).

use crate::btree::Target;
use crate::mtr::Mtr;
use crate::page::node::Node;
use crate::page::{OFF_WORD_A, get_u64, put_u64};
use crate::pool::Exclusive;
use crate::shared::Core;
use crate::txn::countdown::is_change;
use crate::undo::{self, Kind, RECORDS_AT, Record};
use crate::version::{Header, PAYLOAD_AT, ROW_AT, patch_back, spare_tail, without_spare};
use crate::{Error, Result, Tree, TreeKind, btree::merge, overflow, segment};

const TRUSTED: &str = "a latched node has sound offsets";

/// What stands before a place in a chain of undo pages.
enum Before {
    /// Nothing on this page: the place behind the last record of the page before.
    Page(u64),
    /// The roll pointer of a record.
    Record(u64),
}

impl Core {
    /// Looks at what stands before a roll pointer that is behind a record.
    fn before(&self, end: u64) -> Result<Before> {
        let (page, at) = undo::split_roll_ptr(end);
        loop {
            let view = self.pool.read(page)?;
            let (previous, start) = (get_u64(view.bytes(), OFF_WORD_A), undo::record_before(view.bytes(), at));
            if !view.validate() {
                continue;
            }
            if at != RECORDS_AT {
                let start =
                    start.ok_or_else(|| self.pool.corrupt(page, &format!("no undo record ends at offset {at}")))?;
                return Ok(Before::Record(undo::roll_ptr(page, start)));
            }
            let view = self.pool.read(previous)?;
            let free_at = undo::free_at(view.bytes());
            if view.validate() {
                return Ok(Before::Page(undo::roll_ptr(previous, free_at)));
            }
        }
    }

    /// The trees in which records of a transaction, from roll pointer `end` (exclusive) back to `stop` (inclusive), have changed
    /// something that is not undone. `ask` may end the walk. Reads as much as the rollback will.
    pub fn trees_to_undo(&self, end: u64, stop: u64, ask: impl Fn() -> Result<()>) -> Result<Vec<u32>> {
        let mut trees = Vec::new();
        let mut note = |record: &Record<'_>| {
            if record.kind != Kind::Prepare && !trees.contains(&record.tree) {
                trees.push(record.tree);
            }
        };
        self.walk_back(end, stop, ask, &mut note)?;
        Ok(trees)
    }

    /// The changes among the same records. `ask` may end the count.
    pub fn changes_to_undo(&self, end: u64, stop: u64, ask: impl Fn() -> Result<()>) -> Result<u64> {
        let mut count = 0;
        self.walk_back(end, stop, ask, &mut |record| count += u64::from(is_change(record)))?;
        Ok(count)
    }

    /// `see` is called with each of these records that is not undone.
    fn walk_back(
        &self,
        mut end: u64,
        stop: u64,
        ask: impl Fn() -> Result<()>,
        see: &mut dyn FnMut(&Record<'_>),
    ) -> Result<()> {
        let mut bytes = Vec::new();
        while end != stop {
            end = match self.before(end)? {
                Before::Page(page_end) => {
                    ask()?;
                    page_end
                }
                Before::Record(roll_ptr) => {
                    segment::read_record(self.store(), roll_ptr, &mut bytes)?;
                    if !undo::is_undone(&bytes) {
                        see(&Record::decode(&bytes).expect("read_record checked it"));
                    }
                    roll_ptr
                }
            };
        }
        Ok(())
    }

    /// Undoes the records of `trx` from roll pointer `end` (exclusive) back to `stop` (inclusive), newest first; `before` is
    /// called with each. `end` follows, so that after an error or a pause it can go on from there. True: all is undone.
    pub fn undo_back(
        &self,
        trx: u64,
        end: &mut u64,
        stop: u64,
        mut before: impl FnMut(&Record<'_>),
        pause: impl Fn() -> bool,
    ) -> Result<bool> {
        let mut bytes = Vec::new();
        while *end != stop {
            let roll_ptr = match self.before(*end)? {
                Before::Page(page_end) => {
                    *end = page_end;
                    continue;
                }
                Before::Record(roll_ptr) => roll_ptr,
            };
            if pause() {
                return Ok(false);
            }
            segment::read_record(self.store(), roll_ptr, &mut bytes)?;
            let record = Record::decode(&bytes).expect("read_record checked it");
            if record.trx != trx {
                let (page, start) = undo::split_roll_ptr(roll_ptr);
                return Err(self
                    .pool
                    .corrupt(page, &format!("the undo record at offset {start} is of another transaction")));
            }
            if !undo::is_undone(&bytes) {
                before(&record);
                self.undo(&record, roll_ptr)?;
            }
            *end = roll_ptr;
        }
        Ok(true)
    }

    fn undo(&self, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let kind = if record.secondary { TreeKind::Secondary } else { TreeKind::Clustered };
        let tree = Tree { id: record.tree, root: record.root, kind };
        // On a full disk that may take long, and who frees trees waits for the guard.
        self.log.ensure_room_owed(64 << 10)?;
        let _in_use = self.space.keep_trees();
        match record.kind {
            // Without its session a transaction does not keep its tables from being dropped.
            Kind::Insert | Kind::Update | Kind::LongValue if !self.store().exists(tree)? => self.mark_undone(roll_ptr),
            Kind::Insert | Kind::Update => self.undo_entry(tree, record, roll_ptr),
            Kind::CreateTree => {
                self.store().doom(tree)?;
                self.mark_undone(roll_ptr)
            }
            Kind::LongValue => {
                overflow::free_all(self.store(), tree, record.dropped)?;
                self.mark_undone(roll_ptr)
            }
            Kind::DropTree | Kind::Prepare => self.mark_undone(roll_ptr),
        }
    }

    /// Marks the record as undone where there is nothing to change.
    fn mark_undone(&self, roll_ptr: u64) -> Result<()> {
        self.log.ensure_room_owed(4096)?;
        let (page, at) = undo::split_roll_ptr(roll_ptr);
        let mut undo_page = self.pool.exclusive(page)?;
        let mut mtr = Mtr::new();
        mark(&mut mtr, &mut undo_page, at);
        mtr.commit(&self.log, &mut [&mut undo_page]);
        Ok(())
    }

    fn undo_entry(&self, tree: Tree, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let store = self.store();
        let (undo_id, undo_at) = undo::split_roll_ptr(roll_ptr);
        let mut old_row = Vec::new();
        loop {
            self.log.ensure_room_owed(64 << 10)?;
            let Some(mut leaf) = store.leaf(tree, Target::At(record.key))?.upgrade() else {
                std::hint::spin_loop();
                continue;
            };
            let node = Node(leaf.bytes());
            let (slot, equal) = node.search(record.key).expect(TRUSTED);
            if !equal {
                drop(leaf);
                return self.mark_undone(roll_ptr);
            }
            let stored = node.value(slot).expect(TRUSTED);
            let value = without_spare(stored).expect(TRUSTED);
            let header = Header::read(value);
            let ours = header.trx() == record.trx && (record.secondary || get_u64(value, 8) == roll_ptr);
            if !ours {
                drop(leaf);
                return self.mark_undone(roll_ptr);
            }
            let row = &value[if record.secondary { PAYLOAD_AT } else { ROW_AT }..];
            // Chains that only the undone version refers to. A deletion has those of the row that it deleted.
            let mut chains = match header.is_deleted() || record.secondary {
                true => Vec::new(),
                false => overflow::references(header, row)?.to_vec(),
            };
            let restored = if record.kind == Kind::Update {
                patch_back(row, record.prefix, record.suffix, record.data, &mut old_row)
                    .ok_or_else(|| Error::Corrupt("an undo record does not fit its row".into()))?;
                if !chains.is_empty() {
                    let kept = overflow::references(Header(record.header), &old_row)?;
                    chains.retain(|chain| !kept.contains(chain));
                }
                let mut words = [0; ROW_AT];
                let value_at = if record.secondary { PAYLOAD_AT } else { ROW_AT };
                let before = Header(record.header);
                let spare = match stored.len().checked_sub(value_at + old_row.len()) {
                    None if !node.fits_value(slot, value_at + old_row.len()) => {
                        let what = format!("slot {slot} has no room for what transaction {} found there", record.trx);
                        return Err(self.pool.corrupt(leaf.id, &what));
                    }
                    // Of the transaction's versions an earlier one may be longer.
                    Some(spare) if before.trx() == record.trx => spare,
                    _ => 0,
                };
                put_u64(&mut words, 0, before.stored(spare));
                put_u64(&mut words, 8, record.roll_ptr);
                let mut value = [&words[..value_at], &old_row].concat();
                if spare > 0 {
                    let (tail, len) = spare_tail(spare);
                    value.resize(stored.len() - len, 0);
                    value.extend_from_slice(&tail[..len]);
                }
                Some(value)
            } else {
                None
            };
            let Some(mut undo_page) = self.pool.try_exclusive(undo_id) else {
                drop(leaf);
                self.pool.read(undo_id)?;
                continue;
            };
            let mut mtr = Mtr::new();
            match &restored {
                Some(value) => mtr.replace(&mut leaf, slot, value),
                None => mtr.remove(&mut leaf, slot),
            }
            mark(&mut mtr, &mut undo_page, undo_at);
            let underfull = restored.is_none() && merge::is_underfull(Node(leaf.bytes()));
            mtr.commit(&self.log, &mut [&mut leaf, &mut undo_page]);
            drop((leaf, undo_page));
            overflow::free_all(store, tree, &chains)?;
            if underfull && !self.log.is_short() {
                // It only tidies up, and what is kept for rollbacks is not for that.
                match store.merge(tree, record.key, 0) {
                    Err(Error::DiskFull) => {}
                    merged => merged?,
                }
            }
            return Ok(());
        }
    }
}

/// Notes that the record at `at` of an undo page is undone.
fn mark(mtr: &mut Mtr, undo_page: &mut Exclusive<'_>, at: usize) {
    let (at, mark) = undo::undone_mark(undo_page.bytes(), at);
    mtr.write(undo_page, at, &[mark]);
}
