//! Locking reads: the newest committed version, or our own, locked until the transaction ends.

use crate::lock::Name;
use crate::transaction::{LockMode, Transaction, Wait};
use crate::txn::{Status, read};
use crate::{Error, Result, Tree};

const BLOCK: Wait = Wait::Block;

impl Transaction {
    /// Reads the newest version of a row that the statement is about to change. Where nobody else has a claim on the row, no
    /// lock object is made: the change itself locks the row, and fails with [`crate::Error::RowChanged`] if the row is no
    /// longer the one that was read. So the caller goes on with `update` or `delete` of the same key, or with
    /// [`Transaction::keep_lock`], before it reads the next row; after `RowChanged` it uses an exclusive locking read.
    pub fn read_to_write(&mut self, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<bool> {
        self.claim.tree = 0;
        let Some(found) = read::newest(self.core.store(), tree, key, row)? else { return Ok(false) };
        let trx = found.header.trx();
        if trx == self.trx && trx != 0 {
            return read::finish(self.core.store(), found.header, row);
        }
        let core = &*self.core;
        let is_open = matches!(core.system.status(trx), Status::Open(_));
        if is_open || core.locks.must_wait(self.slot.index() as u32, tree.id, key) {
            return self.lock_and_get(tree, key, LockMode::Exclusive, BLOCK, row);
        }
        self.rest_on(trx);
        if found.header.is_deleted() {
            return Ok(false);
        }
        self.claim.tree = tree.id;
        self.claim.key.clear();
        self.claim.key.extend_from_slice(key);
        self.claim.words = (found.header.0, found.roll_ptr);
        read::finish(self.core.store(), found.header, row)
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

    /// Locks the row with this key and reads it. False: there is none.
    pub(crate) fn lock_and_get(
        &mut self,
        tree: Tree,
        key: &[u8],
        mode: LockMode,
        wait: Wait,
        row: &mut Vec<u8>,
    ) -> Result<bool> {
        let name = Name { tree: tree.id, key: key.into() };
        loop {
            // First the lock, then the look: see `lock` on why that order.
            let fresh = self.acquire(&name, mode, wait)?;
            let Some(found) = read::newest(self.core.store(), tree, key, row)? else { return Ok(false) };
            let trx = found.header.trx();
            if trx != self.trx
                && let Status::Open(holder) = self.core.system.status(trx)
            {
                // An implicit lock that was there before ours.
                if fresh {
                    self.release(&name);
                }
                self.wait_for(holder, trx, &name, mode, wait)?;
                continue;
            }
            self.rest_on(trx);
            return read::finish(self.core.store(), found.header, row);
        }
    }
}
