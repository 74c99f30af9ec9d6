//! Purge: removes what no snapshot can see any more, in the background.
//!
//! For each undo segment it walks the records from the oldest on, as far as their transactions are over and visible to every
//! snapshot. A delete mark still standing as that record left it becomes a removal; replaced off-page rows and dropped trees
//! are freed; emptied undo pages go back to the free pages. Where it stands is not logged: after a crash it looks at records
//! again, and finds nothing to do.

use crate::btree::{Target, merge};
use crate::engine::Core;
use crate::mtr::Mtr;
use crate::page::get_u64;
use crate::page::node::Node;
use crate::segment::{self, Segment};
use crate::txn::Status;
use crate::undo::{self, Kind, Record};
use crate::version::{Header, ROW_AT};
use crate::{Result, Tree, TreeKind, overflow};
use std::sync::atomic::Ordering;

const TRUSTED: &str = "a latched node has sound offsets";

impl Core {
    /// One round over all segments. Returns the number of records dealt with.
    pub fn purge(&self) -> Result<u64> {
        let horizon = self.system.advance(|| self.newest());
        let (mut records, mut outcome) = (0, Ok(()));
        for segment in self.segments.all() {
            match self.purge_segment(&segment, horizon) {
                Ok(n) => records += n,
                // A damaged page keeps its own segment from being purged, not the others.
                Err(error) => outcome = Err(error),
            }
            if self.stopping() {
                break;
            }
        }
        outcome.map(|()| records)
    }

    fn purge_segment(&self, segment: &Segment, horizon: u64) -> Result<u64> {
        // Relaxed: purge alone loads and stores it.
        let (mut page, mut at) = undo::split_roll_ptr(segment.purged_to.load(Ordering::Relaxed));
        let mut records = 0;
        let mut bytes = Vec::new();
        while !self.stopping() {
            // Acquire: pairs with the Release in `extend`.
            let newest = segment.newest.load(Ordering::Acquire);
            let view = self.pool.read(page)?;
            let free_at = undo::free_at(view.bytes());
            if !view.validate() {
                continue;
            }
            if at >= free_at {
                if page == newest {
                    break;
                }
                self.log.ensure_room_critical(4096)?;
                page = segment.free_first(self.store(), page)?;
                at = undo::RECORDS_AT;
                // Relaxed: purge alone loads and stores it.
                segment.purged_to.store(undo::roll_ptr(page, at), Ordering::Relaxed);
                continue;
            }
            let roll_ptr = undo::roll_ptr(page, at);
            segment::read_record(self.store(), roll_ptr, &mut bytes)?;
            let record = Record::decode(&bytes).expect("read_record checked it");
            match self.system.status(record.trx) {
                Status::Old => {}
                Status::Committed(lsn) if lsn <= horizon => {}
                _ => break,
            }
            let kind = if record.secondary { TreeKind::Secondary } else { TreeKind::Clustered };
            let tree = Tree { id: record.tree, root: record.root, kind };
            let old = Header(record.header);
            if !undo::is_undone(&bytes) {
                self.purge_record(&record, roll_ptr)?;
            } else if record.kind == Kind::Update && old.is_deleted() {
                // The mark stands again; purge may have passed it while it was covered.
                self.purge_mark(tree, record.key, old.trx(), record.roll_ptr)?;
            }
            at += bytes.len();
            records += 1;
            // Relaxed: purge alone loads and stores it.
            segment.purged_to.store(undo::roll_ptr(page, at), Ordering::Relaxed);
        }
        Ok(records)
    }

    fn purge_record(&self, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let kind = if record.secondary { TreeKind::Secondary } else { TreeKind::Clustered };
        let tree = Tree { id: record.tree, root: record.root, kind };
        match record.kind {
            Kind::Insert | Kind::CreateTree => Ok(()),
            Kind::DropTree => self.store().free_tree(tree),
            Kind::Update => self.purge_update(tree, record, roll_ptr),
        }
    }

    /// An update replaced an off-page row, or set a delete mark, or neither.
    fn purge_update(&self, tree: Tree, record: &Record<'_>, roll_ptr: u64) -> Result<()> {
        let store = self.store();
        let old = Header(record.header);
        // A delete mark keeps the row and so has no difference; secondary entries keep theirs too.
        let may_be_mark = !old.is_deleted() && record.data.is_empty();
        if old.is_off_page() && tree.kind == TreeKind::Clustered && !record.data.is_empty() {
            overflow::free(store, record.data)?;
        }
        if may_be_mark {
            self.purge_mark(tree, record.key, record.trx, roll_ptr)?;
        }
        Ok(())
    }

    /// Removes the delete mark that `trx` left with its undo record at `roll_ptr`, if it is still there.
    fn purge_mark(&self, tree: Tree, key: &[u8], trx: u64, roll_ptr: u64) -> Result<()> {
        let store = self.store();
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
            let value = node.value(slot).expect(TRUSTED);
            let chain = (Header(get_u64(value, 0)).is_off_page() && tree.kind == TreeKind::Clustered)
                .then(|| value[ROW_AT..].to_vec());
            let mut mtr = Mtr::new();
            mtr.remove(&mut leaf, slot);
            let underfull = merge::is_underfull(Node(leaf.bytes()));
            mtr.commit(&self.log, &mut [&mut leaf]);
            drop(leaf);
            if let Some(reference) = chain {
                overflow::free(store, &reference)?;
            }
            if underfull {
                store.merge(tree, key, 0)?;
            }
            return Ok(());
        }
    }
}
