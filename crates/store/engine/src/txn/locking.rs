//! Locking reads: the newest committed version, or our own, locked until the transaction ends.

use crate::cursor::next_key::lock_gap_at;
use crate::isolation::{LockMode, Wait};
use crate::lock::Name;
use crate::transaction::Transaction;
use crate::txn::read::Found;
use crate::txn::{Status, read};
use crate::version::Header;
use crate::{Error, Result, Tree};

const BLOCK: Wait = Wait::Block;

impl Transaction {
    /// Reads the newest version of a row that the statement is about to change. Where nobody else has a claim on the row, no
    /// lock object is made: the change itself locks the row, and fails with [`crate::Error::RowChanged`] if the row is no
    /// longer the one that was read. So the caller goes on with `update` or `delete` of the same key, or with
    /// [`Transaction::keep_lock`], before it reads the next row; after `RowChanged` it uses an exclusive locking read.
    pub fn read_to_write(&mut self, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<bool> {
        self.claim.tree = 0;
        let Some(found) = read::newest(self.core.store(), tree, key, row)? else {
            return self.lock_absent(tree, key, row);
        };
        let trx = found.header.trx();
        if trx == self.trx && trx != 0 {
            return Ok(!found.header.is_deleted());
        }
        let core = &*self.core;
        let is_open = matches!(core.system.status(trx), Status::Open(_));
        // Nothing else keeps the long values of the version that was read.
        if is_open || found.header.has_long() || core.locks.must_wait(self.slot(), tree.id, key, false).is_some() {
            return self.lock_and_get(tree, key, LockMode::Exclusive, BLOCK, row);
        }
        if found.header.is_deleted() {
            // Unlike that of a row, which is looked at again when it is written, this status decides: it may be that of a rollback.
            return self.lock_and_get(tree, key, LockMode::Exclusive, BLOCK, row);
        }
        self.rest_on(trx);
        self.claim.tree = tree.id;
        self.claim.key.clear();
        self.claim.key.extend_from_slice(key);
        self.claim.words = (found.header.0, found.roll_ptr);
        Ok(true)
    }

    /// The row to be written is not there: so it stays, where gaps are locked.
    #[cold]
    fn lock_absent(&mut self, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<bool> {
        if self.locks_gaps() { self.lock_and_get(tree, key, LockMode::Exclusive, BLOCK, row) } else { Ok(false) }
    }

    /// The row of the last [`Transaction::read_to_write`] stays as it is: locks it until the transaction ends.
    pub fn keep_lock(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        if !self.claim.is_for(tree.id, key) {
            return Ok(()); // locked already
        }
        self.claim.tree = 0;
        let name = Name { tree: tree.id, key: key.into() };
        let fresh = self.acquire(&name, LockMode::Exclusive, BLOCK)?;
        let mut row = Vec::new();
        let found = read::newest(self.core.store(), tree, key, &mut row)?;
        if found.map(|found| (found.header.0, found.roll_ptr)) == Some(self.claim.words) {
            return Ok(());
        }
        if fresh {
            self.release(&name);
        }
        Err(Error::RowChanged)
    }

    /// Locks the row that kept an insertion from its key. False: it has gone meanwhile.
    #[cold]
    pub(crate) fn lock_duplicate(&mut self, tree: Tree, key: &[u8]) -> Result<bool> {
        self.lock_record(tree, key, self.duplicates, BLOCK, &mut Vec::new()).map(|found| found.is_ok())
    }

    /// Locks the row with this key and reads it. False: there is none; then the gap where it would be is locked, as the isolation
    /// level asks.
    pub(crate) fn lock_and_get(
        &mut self,
        tree: Tree,
        key: &[u8],
        mode: LockMode,
        wait: Wait,
        row: &mut Vec<u8>,
    ) -> Result<bool> {
        loop {
            match self.lock_record(tree, key, mode, wait, row)? {
                Ok(()) => return Ok(true),
                Err(header) if self.locks_gaps() && !lock_gap_at(self, tree, key, mode, header)? => {}
                Err(_) => return Ok(false),
            }
        }
    }

    /// If no row lives at the key, and no open transaction has put or removed one there: the header of what stands there.
    #[cold]
    fn look_for_absence(&mut self, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<Option<Option<Header>>> {
        let Some((found, status)) = read::newest_settled(&self.core, tree, key, row)? else { return Ok(Some(None)) };
        let header = found.header;
        let is_open = header.trx() != self.trx && matches!(status, Status::Open(_));
        if !header.is_deleted() || is_open {
            return Ok(None);
        }
        self.rest_on(header.trx());
        Ok(Some(Some(header)))
    }

    /// Locks the row with this key and reads it. If there is none, nothing is locked, and the header of what stands there comes
    /// back as an error.
    fn lock_record(
        &mut self,
        tree: Tree,
        key: &[u8],
        mode: LockMode,
        wait: Wait,
        row: &mut Vec<u8>,
    ) -> Result<std::result::Result<(), Option<Header>>> {
        let name = Name { tree: tree.id, key: key.into() };
        let mut fresh = false;
        self.fresh_lock = None;
        loop {
            // First the lock, then the look: see `lock` on why that order.
            match self.acquire(&name, mode, Wait::NoWait) {
                Ok(taken) => fresh |= taken,
                Err(Error::LockNoWait) => {
                    // A span or a request of others stands at the key. Where no row lives they only keep others from inserting one,
                    // which is nothing to wait for.
                    if let Some(header) = self.look_for_absence(tree, key, row)? {
                        return Ok(Err(header));
                    }
                    fresh |= self.acquire(&name, mode, wait)?;
                }
                Err(error) => return Err(error),
            }
            let found = read::newest_settled(&self.core, tree, key, row)?;
            let header = found.map(|(found, _)| found.header);
            if let Some((Found { header, .. }, status)) = found {
                if header.trx() != self.trx
                    && let Status::Open(holder) = status
                {
                    // An implicit lock that was there before ours.
                    if fresh {
                        self.release(&name);
                    }
                    fresh = self.wait_for(holder, header.trx(), &name, mode, wait)?;
                    continue;
                }
                self.rest_on(header.trx());
                if !header.is_deleted() {
                    self.fresh_lock = fresh.then_some(name);
                    return Ok(Ok(()));
                }
            }
            if fresh {
                self.release(&name);
            }
            return Ok(Err(header));
        }
    }
}
