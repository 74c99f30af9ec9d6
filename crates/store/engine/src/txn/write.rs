//! Changes of rows and index entries: check locks and existence on the latched leaf, append the undo record, change the leaf,
//! in one mini-transaction.

use crate::btree::Target;
use crate::isolation::{LockMode, Read, Wait};
use crate::lock::{Name, On};
use crate::mtr::Mtr;
use crate::overflow::{self, Row};
use crate::page::node::{CELL_BYTES_MAX, NODE_BYTES, Node};
use crate::page::{get_u64, put_u64};
use crate::pool::Exclusive;
use crate::shared::Core;
use crate::space::{DICTIONARY_TREE, Need};
use crate::transaction::Transaction;
use crate::txn::Status;
use crate::undo::{self, Kind, Record};
use crate::version::{Header, LongReference, PAYLOAD_AT, ROW_AT, common_ends, has_spare, spare_tail, without_spare};
use crate::{Direction, Error, KEY_BYTES_MAX, Range, Result, Tree, TreeKind};
use observe::{Counter, RowUse};
use std::ops::Bound;
use std::sync::atomic::Ordering;

/// What to do to an entry. Rows as they are stored: long values by reference.
#[derive(Clone, Copy)]
enum Change<'a> {
    Insert {
        row: &'a [u8],
        has_long: bool,
    },
    Update {
        row: &'a [u8],
        has_long: bool,
    },
    Delete,
    /// Into a tree that goes whole if the transaction does not commit: without an undo record.
    Load {
        row: &'a [u8],
        has_long: bool,
    },
}

impl<'a> Change<'a> {
    /// The header and the row that the entry gets by transaction `trx`.
    #[inline]
    fn stored(self, trx: u64, old_header: Header, old_row: &'a [u8]) -> (Header, &'a [u8]) {
        match self {
            Change::Insert { row, has_long } | Change::Update { row, has_long } | Change::Load { row, has_long } => {
                let header = Header::new(trx);
                (if has_long { header.with_long() } else { header }, row)
            }
            Change::Delete => {
                let header = Header::new(trx).deleted();
                (if old_header.has_long() { header.with_long() } else { header }, old_row)
            }
        }
    }
}

/// What an attempt on the latched leaf came to.
enum Attempt {
    Done,
    /// The leaf or the undo page changed or was not at hand: again.
    Again,
    /// Another open transaction wrote this entry.
    WaitFor {
        holder: u32,
        trx: u64,
    },
    /// Somebody holds a lock on the record, or the gap.
    Lock(On),
    /// The leaf has no room for this many bytes.
    Split(usize),
    /// The undo page has no room.
    ExtendUndo,
}

/// Bytes that a row with a key of so many bytes may have as it is stored: [`Row::stored_bytes`]. Some quarter of a page; 0 with a
/// key that is too long for any row.
pub fn row_bytes_max(key_bytes: usize) -> usize {
    (CELL_BYTES_MAX - ROW_AT).saturating_sub(key_bytes)
}

const TRUSTED: &str = "a latched node has sound offsets";

/// What a change of the tree needs, in the dictionary as much as elsewhere `need`.
fn need_of(tree: Tree, need: Need) -> Need {
    if tree.id == DICTIONARY_TREE { Need::Definition } else { need }
}

/// Would an entry of so many bytes take room that a load leaves free in the last leaf? At 100 % a sixteenth of clustered trees is
/// left, as the manual says of `innodb_fill_factor`, so that rows may grow a little.
fn is_filled(node: Node<'_>, kind: TreeKind, bytes: usize, percent: u8) -> bool {
    let most = match (percent, kind) {
        (100, TreeKind::Clustered) => NODE_BYTES - NODE_BYTES / 16,
        _ => NODE_BYTES * usize::from(percent) / 100,
    };
    // A split needs two cells.
    node.len() >= 2 && node.used() + bytes > most
}

impl Transaction {
    /// Inserts a row into a clustered tree. Waits for a transaction that deletes or inserts the same key; a duplicate is locked
    /// (see [`Transaction::lock_duplicates`]). The row fits: see [`row_bytes_max`].
    pub fn insert<'r>(&mut self, tree: Tree, key: &[u8], row: impl Into<Row<'r>>) -> Result<()> {
        debug_assert_eq!(tree.kind, TreeKind::Clustered);
        self.with_stored_row(tree, key, row.into(), Need::Room, |tx, row, has_long| {
            loop {
                match tx.change(tree, key, Change::Insert { row, has_long }) {
                    // It may go before it is locked.
                    Err(Error::DuplicateKey) if !tx.lock_duplicate(tree, key)? => {}
                    other => return other,
                }
            }
        })?;
        observe::add(Counter::InnodbRowsInserted, 1);
        observe::count_rows(tree.id, RowUse::Insert, 1);
        Ok(())
    }

    /// Replaces the row with this key, which exists and has been read by an exclusive locking read in this transaction. Long values that
    /// the new row does not keep are dropped.
    pub fn update<'r>(&mut self, tree: Tree, key: &[u8], row: impl Into<Row<'r>>) -> Result<()> {
        debug_assert_eq!(tree.kind, TreeKind::Clustered);
        self.with_stored_row(tree, key, row.into(), Need::Undo, |tx, row, has_long| {
            tx.change(tree, key, Change::Update { row, has_long })
        })?;
        observe::add(Counter::InnodbRowsUpdated, 1);
        observe::count_rows(tree.id, RowUse::Update, 1);
        Ok(())
    }

    /// Appends a long value of a row to `out`. The caller has the snapshot that saw that version of the row, or the row's lock.
    pub fn load_long(&self, reference: &LongReference, out: &mut Vec<u8>) -> Result<()> {
        overflow::load(self.core.store(), reference, out)
    }

    /// Deletes the row with this key, which exists and has been read by an exclusive locking read in this transaction.
    pub fn delete(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        debug_assert_eq!(tree.kind, TreeKind::Clustered);
        self.start_writing(need_of(tree, Need::Undo))?;
        self.change(tree, key, Change::Delete)?;
        observe::add(Counter::InnodbRowsDeleted, 1);
        observe::count_rows(tree.id, RowUse::Delete, 1);
        Ok(())
    }

    /// Adds an entry to a secondary tree. `unique_prefix`: length of the key's unique part (index columns, none of them NULL);
    /// another live entry with that prefix is [`Error::DuplicateKey`], one of an unfinished transaction is waited for.
    pub fn index_insert(&mut self, tree: Tree, key: &[u8], unique_prefix: Option<usize>, payload: &[u8]) -> Result<()> {
        debug_assert_eq!(tree.kind, TreeKind::Secondary);
        if key.len() > KEY_BYTES_MAX || key.len() + PAYLOAD_AT + payload.len() > CELL_BYTES_MAX {
            return Err(Error::TooLong);
        }
        self.start_writing(Need::Room)?;
        let insert = Change::Insert { row: payload, has_long: false };
        let Some(prefix) = unique_prefix else { return self.change(tree, key, insert) };
        // The lock on the value keeps two inserts of it apart until the entry is there, which the second then waits for.
        let name = Name { tree: tree.id, key: key[..prefix].into() };
        let fresh = self.acquire(&name, LockMode::Exclusive, Wait::Block)?;
        let outcome = match self.check_unique(tree, &key[..prefix]) {
            Ok(()) => self.change(tree, key, insert),
            Err(error) => Err(error),
        };
        if fresh && self.is_active() {
            self.release(&name);
        }
        outcome
    }

    /// Removes an entry from a secondary tree (marks it; purge removes it when nobody can see it).
    pub fn index_delete(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        debug_assert_eq!(tree.kind, TreeKind::Secondary);
        debug_assert!(key.len() <= KEY_BYTES_MAX, "no entry has a longer key");
        self.start_writing(Need::Undo)?;
        self.change(tree, key, Change::Delete)
    }

    /// Inserts into a tree that this transaction has made and that nobody else knows of, without undo and without a look at locks:
    /// a rollback frees the tree, so it costs the same for a million rows as for none. A key that is there: [`Error::DuplicateKey`].
    pub fn load<'r>(&mut self, tree: Tree, key: &[u8], row: impl Into<Row<'r>>) -> Result<()> {
        assert!(self.trees_made.contains(&tree.id), "a tree of this transaction");
        self.with_stored_row(tree, key, row.into(), Need::Room, |tx, row, has_long| {
            tx.change(tree, key, Change::Load { row, has_long })
        })
    }

    /// As [`Transaction::load`], for a secondary tree. Who fills one looks himself whether a unique value is there twice.
    pub fn index_load(&mut self, tree: Tree, key: &[u8]) -> Result<()> {
        assert!(self.trees_made.contains(&tree.id), "a tree of this transaction");
        if key.len() > KEY_BYTES_MAX {
            return Err(Error::TooLong);
        }
        self.start_writing(Need::Room)?;
        self.change(tree, key, Change::Load { row: &[], has_long: false })
    }

    /// Looks for a live entry that has the unique value, which is locked; locks it.
    fn check_unique(&mut self, tree: Tree, prefix: &[u8]) -> Result<()> {
        let mut cursor = crate::Cursor::new(
            tree,
            Range { lower: Bound::Included(prefix), upper: Bound::Unbounded },
            Direction::Forward,
            Read::Locking { mode: self.duplicates, wait: Wait::Block },
            1,
        );
        cursor.stop_at_prefix(prefix);
        cursor.set_extent(crate::Extent::Records);
        match cursor.next(self)? {
            Some(_) => Err(Error::DuplicateKey),
            None => Ok(()),
        }
    }

    /// Gets ready to write and puts long values outside.
    fn with_stored_row(
        &mut self,
        tree: Tree,
        key: &[u8],
        row: Row<'_>,
        need: Need,
        write: impl FnOnce(&mut Self, &[u8], bool) -> Result<()>,
    ) -> Result<()> {
        if key.len() > KEY_BYTES_MAX || row.stored_bytes() > row_bytes_max(key.len()) {
            return Err(Error::TooLong);
        }
        self.start_writing(need_of(tree, need))?;
        if row.long.is_empty() {
            return write(self, row.body, false);
        }
        let (mut stored, mut new) = (Vec::with_capacity(row.stored_bytes()), Vec::new());
        let outcome = self.store_row(tree, row, &mut stored, &mut new).and_then(|()| write(self, &stored, true));
        if outcome.is_err() {
            overflow::free_all(self.core.store(), tree, &new)?;
        }
        outcome
    }

    fn change(&mut self, tree: Tree, key: &[u8], change: Change<'_>) -> Result<()> {
        let claimed = self.claim.is_for(tree.id, key);
        self.claim.tree = 0;
        let claim = claimed.then_some(self.claim.words);
        if tree.is_encrypted() {
            self.events.seal();
        }
        loop {
            match self.try_change(tree, key, change, claim)? {
                Attempt::Done => {
                    self.drop_redundant_lock(tree, key);
                    return Ok(());
                }
                Attempt::WaitFor { .. } | Attempt::Lock(_) if claimed => return Err(Error::RowChanged),
                Attempt::Again => std::thread::yield_now(),
                Attempt::WaitFor { holder, trx } => {
                    let name = Name { tree: tree.id, key: key.into() };
                    self.wait_for(holder, trx, &name, LockMode::Exclusive, Wait::Block)?;
                }
                Attempt::Lock(on) => self.wait_to_write(tree, key, on)?,
                Attempt::Split(bytes) => {
                    let need = need_of(tree, Need::Room);
                    self.core.space.ensure_headroom(&self.core.pool, &self.core.log, need)?;
                    self.core.store().split(tree, key, 0, bytes)?;
                }
                Attempt::ExtendUndo => {
                    self.segment.as_ref().expect("start_writing took one").extend(self.core.store())?
                }
            }
        }
    }

    /// The row is locked by its header now: the lock object that reading it took need not be kept, so that a statement that
    /// changes a million rows holds few of them.
    fn drop_redundant_lock(&mut self, tree: Tree, key: &[u8]) {
        if let Some(last) = self.locks.last()
            && last.tree == tree.id
            && *last.key == *key
            && self.core.locks.release_if_alone(self.slot.index() as u32, last)
        {
            self.locks.pop();
        }
    }

    fn try_change(&mut self, tree: Tree, key: &[u8], change: Change<'_>, claim: Option<(u64, u64)>) -> Result<Attempt> {
        let core = &*self.core;
        let store = core.store();
        let leaf = store.leaf(tree, Target::At(key))?;
        let Some(mut leaf) = leaf.upgrade() else { return Ok(Attempt::Again) };
        let node = Node(leaf.bytes());
        let (slot, equal) = node.search_within(key).expect(TRUSTED);
        let me = self.slot.index() as u32;
        let value_at = if tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };

        let stored = if equal { Some(node.value(slot).expect(TRUSTED)) } else { None };
        let old = stored.map(|value| without_spare(value).expect(TRUSTED));
        let old_header = old.map_or(Header(0), Header::read);
        if old.is_some()
            && old_header.trx() != self.trx
            && let Status::Open(holder) = core.system.status(old_header.trx())
        {
            return Ok(Attempt::WaitFor { holder, trx: old_header.trx() });
        }
        let live = old.is_some() && !old_header.is_deleted();
        let load = matches!(change, Change::Load { .. });
        let insert = load || matches!(change, Change::Insert { .. });
        // Before the look at locks: a duplicate is no insertion into a gap, and is locked by the caller.
        if insert && live {
            drop(leaf);
            self.rest_on(old_header.trx());
            return Err(Error::DuplicateKey);
        }
        if !load && let Some(on) = core.locks.must_wait(me, tree.id, key, insert) {
            return Ok(Attempt::Lock(on));
        }
        if let Some(claim) = claim
            && old.map(|value| (old_header.0, get_u64(value, 8))) != Some(claim)
        {
            return Err(Error::RowChanged);
        }
        if !insert && !live {
            return Err(no_entry(tree));
        }

        let before = Before::read(old, old_header, tree.kind, value_at);
        let (header, row) = change.stored(self.trx, old_header, before.row);
        if let Change::Load { row, .. } = change {
            assert!(old.is_none(), "a tree that is loaded has no deletions");
            return Ok(put_loaded(core, &mut leaf, slot, tree, key, header, row));
        }
        let dropped = before.dropped_references(header, row)?;
        // What the old row has in common with the new one need not be kept.
        let (prefix, suffix) = common_ends(before.row, row);
        before.record(tree, self.trx, key, (prefix, suffix), &dropped).encode(&mut self.record);

        let bytes = value_at + row.len();
        // A shorter row leaves what it does not need for the longer one's return: see [`crate::version`].
        let spare = stored.and_then(|stored| stored.len().checked_sub(bytes));
        let fits = match stored {
            None => node.fits(key.len(), bytes),
            Some(_) => spare.is_some() || node.fits_value(slot, bytes),
        };
        if !fits {
            return Ok(match core.take_spare(&mut leaf) {
                true => Attempt::Again,
                false => Attempt::Split(key.len() + bytes),
            });
        }
        // Relaxed: only we store it, the segment is ours.
        let undo_id = self.segment.as_ref().expect("start_writing took one").newest.load(Ordering::Relaxed);
        let Some(mut undo_page) = core.pool.try_exclusive(undo_id) else {
            drop(leaf);
            core.pool.read(undo_id)?;
            return Ok(Attempt::Again);
        };
        if !undo::fits(undo_page.bytes(), self.record.len()) {
            return Ok(Attempt::ExtendUndo);
        }

        let (is_new, old_len, prefix_len) = (old.is_none(), before.row.len(), node.prefix_len());
        let stored_len = stored.map_or(0, <[u8]>::len);
        // A deletion keeps the row where it is and sets words only.
        let (row, len) = match change {
            Change::Insert { row, .. } | Change::Update { row, .. } | Change::Load { row, .. } => (row, row.len()),
            Change::Delete => (&[][..], old_len),
        };
        let mut mtr = Mtr::new();
        let roll_ptr = undo::roll_ptr(undo_id, mtr.undo(&mut undo_page, &self.record));
        let mut words = [0; ROW_AT];
        put_u64(&mut words, 0, header.stored(spare.unwrap_or(0)));
        put_u64(&mut words, 8, roll_ptr);
        let words = &words[..value_at];
        match spare {
            _ if is_new => mtr.insert(&mut leaf, slot, &key[prefix_len..], &[words, row].concat()),
            Some(spare) => {
                patch_value(&mut mtr, &mut leaf, slot, words, Patch { row, len, old_len, prefix, suffix, spare });
            }
            None => mtr.replace(&mut leaf, slot, &[words, row].concat()),
        }
        mtr.commit(&core.log, &mut [&mut leaf, &mut undo_page]);
        drop((leaf, undo_page));
        self.changed(roll_ptr, stored_len);
        Ok(Attempt::Done)
    }
}

impl Core {
    /// Takes the spare bytes of a full leaf that no transaction can need any more. False: there were none.
    #[cold]
    fn take_spare(&self, leaf: &mut Exclusive<'_>) -> bool {
        let mut mtr = Mtr::new();
        for slot in 0..Node(leaf.bytes()).len() {
            let stored = Node(leaf.bytes()).value(slot).expect(TRUSTED);
            let header = Header::read(stored);
            if !has_spare(stored) || matches!(self.system.status(header.trx()), Status::Open(_)) {
                continue;
            }
            let mut value = without_spare(stored).expect(TRUSTED).to_vec();
            put_u64(&mut value, 0, header.0);
            mtr.replace(leaf, slot, &value);
        }
        let found = mtr.bytes() > 0;
        if found {
            mtr.commit(&self.log, &mut [leaf]);
        }
        found
    }
}

#[cold]
fn no_entry(tree: Tree) -> Error {
    Error::Corrupt(format!(
        "tree {}: the entry to change is not there: an index does not agree with its table",
        tree.id
    ))
}

/// Puts an entry that is loaded into the leaf, without an undo record.
fn put_loaded(
    core: &Core,
    leaf: &mut Exclusive<'_>,
    slot: usize,
    tree: Tree,
    key: &[u8],
    header: Header,
    row: &[u8],
) -> Attempt {
    let node = Node(leaf.bytes());
    let value_at = if tree.kind == TreeKind::Clustered { ROW_AT } else { PAYLOAD_AT };
    let bytes = key.len() + value_at + row.len();
    if !node.fits(key.len(), value_at + row.len()) {
        return Attempt::Split(bytes);
    }
    // Relaxed: a setting that orders nothing.
    let percent = core.fill_factor.load(Ordering::Relaxed);
    if slot == node.len() && node.upper_fence().expect(TRUSTED).is_none() && is_filled(node, tree.kind, bytes, percent)
    {
        // More than it has room for: a new leaf behind it.
        return Attempt::Split(node.free() + 1);
    }
    let mut value = vec![0; value_at];
    put_u64(&mut value, 0, header.0);
    value.extend_from_slice(row);
    let prefix = node.prefix_len();
    let mut mtr = Mtr::new();
    mtr.insert(leaf, slot, &key[prefix..], &value);
    mtr.commit(&core.log, &mut [leaf]);
    Attempt::Done
}

/// An entry as it was; without `exists`, all is empty.
struct Before<'a> {
    exists: bool,
    header: Header,
    roll_ptr: u64,
    row: &'a [u8],
}

impl<'a> Before<'a> {
    #[inline]
    fn read(value: Option<&'a [u8]>, header: Header, kind: TreeKind, value_at: usize) -> Before<'a> {
        let roll_ptr = match value {
            Some(value) if kind == TreeKind::Clustered => get_u64(value, 8),
            _ => 0,
        };
        Before { exists: value.is_some(), header, roll_ptr, row: value.map_or(&[][..], |value| &value[value_at..]) }
    }

    /// Long values that it has and the new row has not. A deletion keeps them.
    #[inline]
    fn dropped_references(&self, header: Header, row: &[u8]) -> Result<Vec<LongReference>> {
        if !self.header.has_long() || header.is_deleted() {
            return Ok(Vec::new());
        }
        let kept = overflow::references(header, row)?;
        let mut dropped = overflow::references(self.header, self.row)?.to_vec();
        dropped.retain(|reference| !kept.contains(reference));
        Ok(dropped)
    }

    /// The undo record that brings it back. The row keeps so many bytes at its ends (`kept`) and loses the references `dropped`.
    #[inline]
    fn record(
        &self,
        tree: Tree,
        trx: u64,
        key: &'a [u8],
        kept: (usize, usize),
        dropped: &'a [LongReference],
    ) -> Record<'a> {
        let (prefix, suffix) = kept;
        Record {
            kind: if self.exists { Kind::Update } else { Kind::Insert },
            secondary: tree.kind == TreeKind::Secondary,
            tree: tree.id,
            root: tree.root,
            trx,
            header: self.header.0,
            roll_ptr: self.roll_ptr,
            prefix,
            suffix,
            key,
            data: if self.exists { &self.row[prefix..self.row.len() - suffix] } else { &[] },
            dropped,
        }
    }
}

/// A row that takes the place of one that is not shorter.
struct Patch<'a> {
    /// Empty: it stays, and only the words in front of it change.
    row: &'a [u8],
    len: usize,
    old_len: usize,
    /// Bytes at both ends that the rows have in common.
    prefix: usize,
    suffix: usize,
    /// Bytes behind the row that it does not need.
    spare: usize,
}

#[inline]
fn patch_value(mtr: &mut Mtr, leaf: &mut Exclusive<'_>, slot: usize, words: &[u8], patch: Patch<'_>) {
    let Patch { row, len, old_len, prefix, suffix, spare } = patch;
    let value_at = words.len();
    mtr.patch(leaf, slot, 0, words);
    let suffix = if len == old_len { suffix.min(row.len()) } else { 0 };
    mtr.patch(leaf, slot, value_at + prefix, row.get(prefix..row.len() - suffix).unwrap_or_default());
    if len != old_len && spare > 0 {
        let (tail, tail_len) = spare_tail(spare);
        mtr.patch(leaf, slot, value_at + len + spare - tail_len, &tail[..tail_len]);
    }
}
