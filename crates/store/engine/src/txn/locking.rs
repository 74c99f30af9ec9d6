//! Locking reads: the newest committed version, or our own, locked until the transaction ends.

use crate::lock::Name;
use crate::transaction::{LockMode, Transaction, Wait};
use crate::txn::{Status, read};
use crate::{Result, Tree};

impl Transaction {
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
