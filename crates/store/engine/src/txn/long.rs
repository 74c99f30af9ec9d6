//! Long values of rows that are being written: see [`crate::overflow`].

use crate::mtr::Mtr;
use crate::overflow::{self, DATA_BYTES, Long, OFF_NEXT, Row};
use crate::page::{PAGE_BYTES, PageId};
use crate::space::Need;
use crate::undo::{self, Kind, LONG_VALUE_BYTES, Record};
use crate::version::LongReference;
use crate::{Error, Result, Transaction, Tree};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Transaction {
    /// Puts a row together as it is stored, its new long values in chains of their own, which `new` notes. Holds no latch before. After
    /// an error, the caller frees what is in `new`.
    pub(super) fn store_row(
        &mut self,
        tree: Tree,
        row: Row<'_>,
        stored: &mut Vec<u8>,
        new: &mut Vec<LongReference>,
    ) -> Result<()> {
        stored.clear();
        stored.extend_from_slice(row.body);
        for long in row.long {
            match long {
                Long::Kept(reference) => stored.extend_from_slice(*reference),
                Long::New(value) => stored.extend_from_slice(&self.store_long(tree, value, new)?),
            }
        }
        let count = u16::try_from(row.long.len()).map_err(|_| Error::TooLong)?;
        stored.extend_from_slice(&count.to_le_bytes());
        Ok(())
    }

    /// Writes a value into a new chain and returns the reference to it.
    fn store_long(&mut self, tree: Tree, value: &[u8], new: &mut Vec<LongReference>) -> Result<LongReference> {
        let mut pieces = value.chunks(DATA_BYTES);
        let Some(first) = pieces.next() else { return Ok(overflow::encode(0, 0, 0)) };
        let reference = self.begin_chain(tree, first, value.len())?;
        new.push(reference);
        let overflow::Reference { first: mut last, chain, .. } = overflow::decode(&reference);
        for piece in pieces {
            last = self.continue_chain(tree, piece, chain, last)?;
        }
        Ok(reference)
    }

    fn make_room_for_piece(&self) -> Result<()> {
        self.core.space.ensure_headroom(&self.core.pool, &self.core.log, Need::Room)?;
        Ok(self.core.log.ensure_room(2 * PAGE_BYTES)?)
    }

    /// The first page of a chain, and the record that frees it. A tree that this transaction has made needs none: it goes with its chains.
    fn begin_chain(&mut self, tree: Tree, piece: &[u8], len: usize) -> Result<LongReference> {
        self.make_room_for_piece()?;
        let core = Arc::clone(&self.core);
        let store = core.store();
        loop {
            let frame = core.pool.reserve_frame()?;
            let mut mtr = Mtr::new();
            if self.trees_made.contains(&tree.id) {
                let (mut fresh, chain) = overflow::add_piece(store, tree, frame, &mut mtr, piece, None)?;
                mtr.commit(&core.log, &mut [&mut fresh.map, &mut fresh.page]);
                return Ok(overflow::encode(fresh.page.id, chain, len));
            }
            let segment = self.segment.clone().expect("start_writing took one");
            // Relaxed: only the session that has the segment stores it.
            let undo_id = segment.newest.load(Ordering::Relaxed);
            let mut undo_page = core.pool.exclusive(undo_id)?;
            if !undo::fits(undo_page.bytes(), LONG_VALUE_BYTES) {
                drop((undo_page, frame));
                segment.extend(store)?;
                continue;
            }
            let (mut fresh, chain) = overflow::add_piece(store, tree, frame, &mut mtr, piece, None)?;
            let reference = overflow::encode(fresh.page.id, chain, len);
            let record = Record { dropped: &[reference], ..Record::of_tree(Kind::LongValue, tree, self.trx) };
            record.encode(&mut self.record);
            let roll_ptr = undo::roll_ptr(undo_id, mtr.undo(&mut undo_page, &self.record));
            mtr.commit(&core.log, &mut [&mut fresh.map, &mut fresh.page, &mut undo_page]);
            drop((fresh, undo_page));
            self.recorded(roll_ptr);
            return Ok(reference);
        }
    }

    /// One page more, behind the `last` one. Returns its number.
    fn continue_chain(&self, tree: Tree, piece: &[u8], chain: u64, last: PageId) -> Result<PageId> {
        self.make_room_for_piece()?;
        let core = &*self.core;
        let frame = core.pool.reserve_frame()?;
        let mut before = core.pool.exclusive(last)?;
        let mut mtr = Mtr::new();
        let (mut fresh, _) = overflow::add_piece(core.store(), tree, frame, &mut mtr, piece, Some(chain))?;
        let id = fresh.page.id;
        mtr.write(&mut before, OFF_NEXT, &id.to_le_bytes());
        mtr.commit(&core.log, &mut [&mut fresh.map, &mut fresh.page, &mut before]);
        Ok(id)
    }
}
