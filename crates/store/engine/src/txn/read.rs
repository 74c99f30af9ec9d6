//! Consistent reads: which version of a row a snapshot sees, and how to build it.

use crate::btree::{Store, Target};
use crate::lock::Interrupt;
use crate::page::get_u64;
use crate::page::node::{Node, Torn};
use crate::pool::Stamp;
use crate::shared::Core;
use crate::txn::Status;
use crate::txn::versions::Versions;
use crate::undo::{self, Kind, Record};
use crate::version::{Header, ROW_AT, patch_back, without_spare};
use crate::{Error, Result, Tree, segment};
use log::Lsn;

/// Through whose eyes to read.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The reading transaction's own id; 0 if it has none.
    pub trx: u64,
    pub snapshot: Lsn,
    /// READ UNCOMMITTED: the newest version, whoever wrote it.
    pub uncommitted: bool,
}

/// What a transaction lends to a walk over older versions.
pub struct Past<'t> {
    /// What its snapshot is known to see; `None` where the reader goes by something else.
    pub versions: Option<&'t mut Versions>,
    /// Remember what took at least so many steps to find.
    pub worth_steps: u64,
    pub interrupt: &'t Interrupt,
}

/// A value's header and roll pointer as found in a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub header: Header,
    pub roll_ptr: u64,
}

/// Copies the newest version of a row out of its leaf, whoever wrote it. The row is as stored: see [`crate::overflow`].
#[inline]
pub fn newest(store: Store<'_>, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<Option<Found>> {
    Ok(newest_of_leaf(store, tree, key, row)?.map(|(found, _)| found))
}

/// As [`newest`], with what became of the row's author. Invariant: who is said to be over has committed. A rollback takes the rows out
/// before it sets its status, so after a status that says "over" the leaf has changed if that was a rollback: the Acquire loads of the
/// status pair with the Release store in `System::finish`, and the stamp is looked at after them.
pub fn newest_settled(core: &Core, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<Option<(Found, Status)>> {
    loop {
        let Some((found, stamp)) = newest_of_leaf(core.store(), tree, key, row)? else { return Ok(None) };
        let status = core.system.status(found.header.trx());
        if stamp.is_current(&core.pool) {
            return Ok(Some((found, status)));
        }
    }
}

#[inline]
fn newest_of_leaf(store: Store<'_>, tree: Tree, key: &[u8], row: &mut Vec<u8>) -> Result<Option<(Found, Stamp)>> {
    loop {
        let leaf = store.leaf(tree, Target::At(key))?;
        let node = Node(leaf.bytes());
        match find(node, key) {
            Ok(None) if leaf.validate() => return Ok(None),
            Ok(Some(value)) => {
                row.clear();
                row.extend_from_slice(&value[ROW_AT..]);
                let header = Header::read(value);
                let found = Found { header, roll_ptr: get_u64(value, 8) };
                let stamp = leaf.stamp();
                if leaf.validate() {
                    return Ok(Some((found, stamp)));
                }
            }
            Ok(None) => {}
            Err(torn) => store.torn(leaf, torn)?,
        }
    }
}

#[inline(always)]
fn find<'a>(node: Node<'a>, key: &[u8]) -> std::result::Result<Option<&'a [u8]>, Torn> {
    let (slot, equal) = node.search_within(key)?;
    if !equal {
        return Ok(None);
    }
    let value = without_spare(node.value(slot)?).ok_or(Torn)?;
    if value.len() < ROW_AT { Err(Torn) } else { Ok(Some(value)) }
}

impl Reader {
    /// Does this reader see what `trx` wrote?
    #[inline(always)]
    pub fn sees(&self, core: &Core, trx: u64) -> bool {
        (trx == self.trx && trx != 0) || self.uncommitted || core.system.sees(self.snapshot, trx)
    }

    /// The row with this key, into `row`.
    #[inline]
    pub fn get(&self, core: &Core, tree: Tree, key: &[u8], row: &mut Vec<u8>, past: Past<'_>) -> Result<bool> {
        match newest(core.store(), tree, key, row)? {
            None => Ok(false),
            Some(found) => self.resolve(core, tree, key, found, row, past),
        }
    }

    /// The newest committed version of a row, or one that `trx` itself wrote. Undo lasts only as long as a snapshot: the
    /// transaction has one.
    pub fn get_committed(
        core: &Core,
        (trx, interrupt): (u64, &Interrupt),
        tree: Tree,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<bool> {
        let reader = Reader { trx, snapshot: Lsn::MAX, uncommitted: false };
        loop {
            let Some(found) = newest(core.store(), tree, key, row)? else { return Ok(false) };
            let author = found.header.trx();
            if author != trx && matches!(core.system.status(author), Status::Committed(_)) {
                // Or rolled back since the copy, and out of the ring: then what it wrote stands here no more.
                let again = newest(core.store(), tree, key, &mut Vec::new())?;
                if again.map(|again| (again.header, again.roll_ptr)) != Some((found.header, found.roll_ptr)) {
                    continue;
                }
            }
            let past = Past { versions: None, worth_steps: 0, interrupt };
            return reader.resolve(core, tree, key, found, row, past);
        }
    }

    /// Turns the newest version in `row` into the one that this reader sees. False: it sees none.
    #[inline]
    pub fn resolve(
        &self,
        core: &Core,
        tree: Tree,
        key: &[u8],
        found: Found,
        row: &mut Vec<u8>,
        past: Past<'_>,
    ) -> Result<bool> {
        if self.uncommitted && found.header.has_long() {
            // A rollback may be freeing the long values of an uncommitted row: here even READ UNCOMMITTED reads what its snapshot sees.
            return Reader { uncommitted: false, ..*self }.resolve(core, tree, key, found, row, past);
        }
        if !self.sees(core, found.header.trx()) {
            return self.resolve_older(core, tree, key, found, row, past);
        }
        Ok(!found.header.is_deleted())
    }

    #[cold]
    fn resolve_older(
        &self,
        core: &Core,
        tree: Tree,
        key: &[u8],
        found: Found,
        row: &mut Vec<u8>,
        mut past: Past<'_>,
    ) -> Result<bool> {
        if let Some(versions) = &mut past.versions
            && let Some(header) = versions.get(tree.id, key, row)
        {
            return Ok(!header.is_deleted());
        }
        let (header, steps) = self.walk_back(core, key, found, row, past.interrupt)?;
        if let Some(versions) = past.versions {
            versions.steps += steps;
            if steps >= past.worth_steps {
                versions.put(tree.id, key, header, row);
            }
        }
        Ok(!header.is_deleted())
    }

    /// Puts the version that this reader sees into `row`, as it is stored; nothing if it sees none. Returns its header, that of a
    /// deletion if it sees none, and how many undo records that took.
    fn walk_back(
        &self,
        core: &Core,
        key: &[u8],
        mut found: Found,
        row: &mut Vec<u8>,
        interrupt: &Interrupt,
    ) -> Result<(Header, u64)> {
        /// Undo records between two looks at the interrupt.
        const STEPS_UNASKED: u64 = 64;
        let store = core.store();
        let (mut bytes, mut older) = (Vec::new(), Vec::new());
        for steps in 1.. {
            if steps % STEPS_UNASKED == 0 && interrupt.reason() != 0 {
                return Err(Error::Interrupted);
            }
            if found.roll_ptr == 0 {
                return Err(Error::Corrupt(format!(
                    "a version by transaction {} has no undo and is not visible",
                    found.header.trx()
                )));
            }
            segment::read_record(store, found.roll_ptr, &mut bytes)?;
            let record = Record::decode(&bytes).expect("read_record checked it");
            if record.trx != found.header.trx() || record.key != key {
                let (page, at) = undo::split_roll_ptr(found.roll_ptr);
                return Err(store
                    .pool
                    .corrupt(page, &format!("the undo record at offset {at} belongs to another row or transaction")));
            }
            match record.kind {
                Kind::Insert => {
                    row.clear();
                    return Ok((Header(0).deleted(), steps));
                }
                Kind::Update => {}
                other => {
                    return Err(Error::Corrupt(format!("a row version leads to an undo record of kind {other:?}")));
                }
            }
            patch_back(row, record.prefix, record.suffix, record.data, &mut older)
                .ok_or_else(|| Error::Corrupt("an undo record does not fit its row".into()))?;
            std::mem::swap(row, &mut older);
            found = Found { header: Header(record.header), roll_ptr: record.roll_ptr };
            if self.sees(core, found.header.trx()) {
                return Ok((found.header, steps));
            }
        }
        unreachable!("a chain ends at an insertion")
    }
}
