//! Undoing: of whole transactions, of statements, and of transactions that a crash left open.
//!
//! Each record is undone in its own mini-transaction and only if it was not undone before: a row by its roll pointer, which
//! must be the record's; an entry by its transaction. So undoing may stop anywhere and start again from the end.

use crate::btree::Target;
use crate::engine::Core;
use crate::mtr::Mtr;
use crate::page::node::Node;
use crate::page::{OFF_WORD_A, get_u64, put_u64};
use crate::undo::{self, Kind, RECORDS_AT, Record};
use crate::version::{Header, PAYLOAD_AT, ROW_AT, patch_back};
use crate::{Error, Result, Tree, TreeKind, btree::merge, overflow, segment};

const TRUSTED: &str = "a latched node has sound offsets";

impl Core {
    /// Undoes the records of `trx` from roll pointer `end` (exclusive) back to `stop` (inclusive), newest first; `before` is
    /// called with each.
    pub fn undo_back(&self, trx: u64, end: u64, stop: u64, mut before: impl FnMut(&Record<'_>)) -> Result<()> {
        let (mut page, mut at) = undo::split_roll_ptr(end);
        let (stop_page, stop_at) = undo::split_roll_ptr(stop);
        let mut bytes = Vec::new();
        while (page, at) != (stop_page, stop_at) {
            let view = self.pool.read(page)?;
            let (previous, start) = (get_u64(view.bytes(), OFF_WORD_A), undo::record_before(view.bytes(), at));
            if !view.validate() {
                continue;
            }
            if at == RECORDS_AT {
                // On to the page before.
                let view = self.pool.read(previous)?;
                let free_at = undo::free_at(view.bytes());
                if view.validate() {
                    (page, at) = (previous, free_at);
                }
                continue;
            }
            let Some(start) = start else {
                return Err(self.pool.corrupt(page, &format!("no undo record ends at offset {at}")));
            };
            at = start;
            let roll_ptr = undo::roll_ptr(page, at);
            segment::read_record(self.store(), roll_ptr, &mut bytes)?;
            let record = Record::decode(&bytes).expect("read_record checked it");
            if record.trx != trx {
                return Err(self
                    .pool
                    .corrupt(page, &format!("the undo record at offset {at} is of another transaction")));
            }
            if undo::is_undone(&bytes) {
                continue;
            }
            before(&record);
            self.undo(&record, roll_ptr)?;
            // Last: after a crash in between it is undone once more, which finds nothing to do.
            self.log.ensure_room_critical(4096)?;
            let mut undo_page = self.pool.exclusive(page)?;
            let (mark_at, mark) = undo::undone_mark(undo_page.bytes(), at);
            let mut mtr = Mtr::new();
            mtr.write(&mut undo_page, mark_at, &[mark]);
            mtr.commit(&self.log, &mut [&mut undo_page]);
        }
        Ok(())
    }

    fn undo(&self, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let kind = if record.secondary { TreeKind::Secondary } else { TreeKind::Clustered };
        let tree = Tree { id: record.tree, root: record.root, kind };
        match record.kind {
            Kind::Insert | Kind::Update => self.undo_entry(tree, record, roll_ptr),
            Kind::CreateTree => self.store().free_tree(tree),
            Kind::DropTree => Ok(()),
        }
    }

    fn undo_entry(&self, tree: Tree, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let store = self.store();
        let mut old_row = Vec::new();
        loop {
            self.log.ensure_room_critical(64 << 10)?;
            let Some(mut leaf) = store.leaf(tree, Target::At(record.key))?.upgrade() else {
                std::hint::spin_loop();
                continue;
            };
            let node = Node(leaf.bytes());
            let (slot, equal) = node.search(record.key).expect(TRUSTED);
            if !equal {
                return Ok(());
            }
            let value = node.value(slot).expect(TRUSTED);
            let header = Header(get_u64(value, 0));
            let ours = header.trx() == record.trx && (record.secondary || get_u64(value, 8) == roll_ptr);
            if !ours {
                return Ok(());
            }
            let row = &value[if record.secondary { PAYLOAD_AT } else { ROW_AT }..];
            // A chain that only the undone version refers to.
            let off_page =
                header.is_off_page() && !header.is_deleted() && (record.kind == Kind::Insert || record.data != row);
            let chain = off_page.then(|| row.to_vec());
            let mut mtr = Mtr::new();
            if record.kind == Kind::Insert {
                mtr.remove(&mut leaf, slot);
                let underfull = merge::is_underfull(Node(leaf.bytes()));
                mtr.commit(&self.log, &mut [&mut leaf]);
                drop(leaf);
                if underfull {
                    store.merge(tree, record.key, 0)?;
                }
            } else {
                patch_back(row, record.prefix, record.suffix, record.data, &mut old_row)
                    .ok_or_else(|| Error::Corrupt("an undo record does not fit its row".into()))?;
                let mut words = [0; ROW_AT];
                put_u64(&mut words, 0, record.header);
                put_u64(&mut words, 8, record.roll_ptr);
                let words = &words[..if record.secondary { PAYLOAD_AT } else { ROW_AT }];
                let value = [words, &old_row].concat();
                if !node.fits_value(slot, value.len()) {
                    drop(leaf);
                    store.split(tree, record.key, 0, record.key.len() + value.len())?;
                    continue;
                }
                mtr.replace(&mut leaf, slot, &value);
                mtr.commit(&self.log, &mut [&mut leaf]);
                drop(leaf);
            }
            if let Some(reference) = chain {
                overflow::free(store, &reference)?;
            }
            return Ok(());
        }
    }
}
