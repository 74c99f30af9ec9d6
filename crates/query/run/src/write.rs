//! Rows and index entries: how a table's row becomes bytes in its trees.
//!
//! ```text
//!   clustered tree   key = parts of the primary key (or the hidden row id)     value = all columns, as RowLayout encodes
//!   secondary tree   key = the index's parts, then the whole clustered key     value = empty
//! ```
//! A unique secondary index is unique in its own parts, unless one of them is NULL. A row has an entry in each secondary tree; in
//! that of a multi-valued index it has as many as its array has elements ([`entries`]).

use crate::entries::{self, Entries};
use crate::logged::LoggedRows;
use crate::long::{self, has_outside};
use crate::{Run, added_column};
use catalog::{Table, error};
use engine::Transaction;
use expr::{array, convert};
use observe::Counter;
use types::row::long::{Outside, Parts};
use types::{Result, SqlError, TypeKind, Value, key};

/// Column `i` of an encoded row, which is inside: see [`super::long`].
#[inline]
pub fn column<'r>(table: &'r Table, row: &'r [u8], i: usize) -> Value<'r> {
    match table.layout.get(row, i) {
        Some(v) => v,
        None => {
            assert!(table.layout.outside(row, i).is_none(), "column {i} of {} is brought inside first", table.name);
            added_column(table, i)
        }
    }
}

/// Appends the own parts of index `index` for a row; says whether one is NULL.
pub fn index_parts(out: &mut Vec<u8>, table: &Table, index: usize, row: &[u8]) -> bool {
    debug_assert!(table.indexes[index].array_part.is_none(), "a row has many entries in a multi-valued index");
    let mut null = false;
    for part in &table.indexes[index].parts {
        let v = column(table, row, part.column);
        null |= v.is_null();
        key::encode_part(out, &part.key, &v);
    }
    null
}

/// Puts the key of a secondary index's entry into `out` (cleared first). The length of the unique prefix comes back for a
/// unique index without NULLs.
pub fn secondary_key(out: &mut Vec<u8>, table: &Table, index: usize, row: &[u8], clustered: &[u8]) -> Option<usize> {
    out.clear();
    let null = index_parts(out, table, index, row);
    let prefix = (table.indexes[index].unique && !null).then_some(out.len());
    out.extend_from_slice(clustered);
    prefix
}

/// Tells whoever logs the row of a key that it has in a unique index; none where that is no unique one, or has a NULL.
#[inline]
fn note_key(logged: &Option<Box<LoggedRows>>, tx: &mut Transaction, table: &Table, index: usize, key: Option<&[u8]>) {
    if let (Some(logged), Some(key)) = (logged, key) {
        logged.note_key(tx, table, index, key);
    }
}

/// The same of a multi-valued index.
fn note_many(logged: &Option<Box<LoggedRows>>, tx: &mut Transaction, table: &Table, index: usize) {
    if let (Some(logged), true) = (logged, table.indexes[index].unique) {
        logged.note_many(tx);
    }
}

/// Why a row was not written.
pub enum Refused {
    /// Index `0` of the table has an entry with this key.
    Duplicate(usize),
    /// It is not the row any more that was read without a lock; nothing was written.
    Changed,
    Error(SqlError),
}

impl Refused {
    /// The error where the row is locked, and no key is new.
    pub fn locked(self) -> SqlError {
        match self {
            Refused::Error(e) => e,
            Refused::Changed => error::engine(engine::Error::RowChanged),
            Refused::Duplicate(_) => error::engine(engine::Error::DuplicateKey),
        }
    }
}

impl From<engine::Error> for Refused {
    fn from(e: engine::Error) -> Refused {
        match e {
            engine::Error::RowChanged => Refused::Changed,
            e => Refused::Error(error::engine(e)),
        }
    }
}

/// Buffers of a statement that writes rows.
#[derive(Default)]
pub struct RowWriter {
    /// The row to be written, encoded, and its clustered key.
    pub row: Vec<u8>,
    pub key: Vec<u8>,
    old_entry: Vec<u8>,
    new_entry: Vec<u8>,
    /// The own parts of the entry of a multi-valued index that was refused as a duplicate.
    pub refused: Vec<u8>,
    /// The row as it is stored, where values go outside.
    parts: Parts,
    /// The old row and the new one with all values inside, where indexes ask for some that are not.
    old_inside: Vec<u8>,
    inside: Vec<u8>,
    /// Where written rows are told to the binary log.
    logged: Option<Box<LoggedRows>>,
}

impl RowWriter {
    /// Before the first row of an execution: are rows of `table` told to the binary log? `changing`: columns that an UPDATE may change.
    pub fn begin(&mut self, table: &Table, changing: impl FnOnce() -> Vec<usize>, run: &Run<'_>) {
        self.logged = LoggedRows::begin(self.logged.take(), table, changing, run);
        if self.logged.is_some() {
            // Each statement names its tables anew.
            run.tx.borrow_mut().events().set_mark(0);
        }
    }

    /// Encodes a row of all columns and its clustered key.
    pub fn encode(&mut self, table: &Table, values: &[Value<'_>]) {
        self.row.clear();
        self.key.clear();
        table.layout.encode(&mut self.row, values);
        for part in &table.indexes[0].parts {
            key::encode_part(&mut self.key, &part.key, &values[part.column]);
        }
    }

    /// Encodes a row that differs from an old row, which has that key, in some columns. `rekey`: one of them is part of the
    /// clustered key. Long values that stay are not looked at: the row keeps them outside, for [`RowWriter::update`] of that
    /// very row.
    pub fn change(
        &mut self,
        tx: &Transaction,
        table: &Table,
        (old_row, old_key): (&[u8], &[u8]),
        columns: &[usize],
        values: &[Value<'_>],
        rekey: bool,
    ) -> Result<()> {
        self.row.clear();
        let mut rekey = rekey;
        if !table.layout.patch(&mut self.row, old_row, columns, values) {
            let given = |i| columns.iter().rposition(|c| *c == i).map(|n| expr::reborrow(&values[n]));
            // Under another key it is another row, which has its own long values.
            let (keeps, mut inside) = (long::keeps(old_row) && !rekey, std::mem::take(&mut self.inside));
            let stored = old_row;
            let old_row = if keeps { stored } else { long::inside(tx, table, stored, &mut inside)? };
            if keeps {
                self.change_keeping(tx, table, old_row, &given)?;
            } else if columns.iter().all(|c| given(*c) == Some(column(table, old_row, *c))) {
                // As it was, its long values outside.
                self.row.extend_from_slice(stored);
                rekey = false;
            } else {
                let all: Vec<Value<'_>> =
                    (0..table.columns.len()).map(|i| given(i).unwrap_or_else(|| column(table, old_row, i))).collect();
                table.layout.encode(&mut self.row, &all);
            }
            self.inside = inside;
        }
        self.key.clear();
        if rekey {
            index_parts(&mut self.key, table, 0, &self.row);
        } else {
            self.key.extend_from_slice(old_key);
        }
        Ok(())
    }

    /// The row of [`RowWriter::change`] where the old one has values outside.
    #[cold]
    fn change_keeping<'v>(
        &mut self,
        tx: &Transaction,
        table: &Table,
        old_row: &[u8],
        given: &dyn Fn(usize) -> Option<Value<'v>>,
    ) -> Result<()> {
        let (mut values, mut kept, mut same) = (Vec::with_capacity(table.columns.len()), Vec::new(), true);
        for i in 0..table.columns.len() {
            let outside = table.layout.outside(old_row, i);
            let value = match given(i) {
                Some(value) => {
                    let is_old = long::column(tx, table, old_row, i)? == value;
                    same &= is_old;
                    if is_old { None } else { Some(value) }
                }
                None => None,
            };
            match (value, outside) {
                (Some(value), _) => values.push(value.into_owned()),
                (None, Some(Outside::Value(reference))) => {
                    kept.push((i, *reference));
                    values.push(Value::Null);
                }
                (None, _) => values.push(column(table, old_row, i).into_owned()),
            }
        }
        if same {
            self.row.extend_from_slice(old_row);
        } else {
            table.layout.encode_keeping(&mut self.row, &values, &kept);
        }
        Ok(())
    }

    /// Inserts the encoded row and its index entries. After a refusal the caller rolls back to before the row.
    pub fn insert(&mut self, table: &Table, tx: &mut Transaction) -> Result<(), Refused> {
        observe::increment(Counter::HandlerWrite);
        self.insert_clustered(table, tx)?;
        for i in 1..table.indexes.len() {
            if table.indexes[i].array_part.is_some() {
                let all = Entries::of(table, i, &self.row, &self.key);
                entries::insert(tx, table, i, all.with_prefix(table.indexes[i].unique), &mut self.refused)?;
                note_many(&self.logged, tx, table, i);
                continue;
            }
            let prefix = secondary_key(&mut self.new_entry, table, i, &self.row, &self.key);
            match tx.index_insert(table.indexes[i].tree, &self.new_entry, prefix, &[]) {
                Err(engine::Error::DuplicateKey) => return Err(Refused::Duplicate(i)),
                other => other?,
            }
            note_key(&self.logged, tx, table, i, prefix.map(|n| &self.new_entry[..n]));
        }
        note_key(&self.logged, tx, table, 0, Some(&self.key));
        note(table, tx, &self.key);
        match &self.logged {
            None => Ok(()),
            Some(logged) => logged.inserted(tx, |i| column(table, &self.row, i)).map_err(Refused::Error),
        }
    }

    /// Deletes a row that was read by an exclusive locking read, or to write. The row first: an unlocked one is checked there.
    pub fn delete(
        &mut self,
        table: &Table,
        tx: &mut Transaction,
        old_key: &[u8],
        old_row: &[u8],
    ) -> Result<(), Refused> {
        observe::increment(Counter::HandlerDelete);
        tx.delete(table.indexes[0].tree, old_key)?;
        let (all, buffer) = (1..table.indexes.len(), &mut self.old_inside);
        // The binary log has all values.
        let old_row = match &self.logged {
            None => long::indexed(tx, table, all, old_row, buffer),
            Some(_) => long::inside(tx, table, old_row, buffer),
        };
        let old_row = old_row.map_err(Refused::Error)?;
        for i in 1..table.indexes.len() {
            if table.indexes[i].array_part.is_some() {
                entries::delete(tx, table, i, Entries::of(table, i, old_row, old_key).iter())?;
                note_many(&self.logged, tx, table, i);
                continue;
            }
            let prefix = secondary_key(&mut self.old_entry, table, i, old_row, old_key);
            tx.index_delete(table.indexes[i].tree, &self.old_entry)?;
            note_key(&self.logged, tx, table, i, prefix.map(|n| &self.old_entry[..n]));
        }
        note_key(&self.logged, tx, table, 0, Some(old_key));
        note(table, tx, old_key);
        match &self.logged {
            None => Ok(()),
            Some(logged) => logged.deleted(tx, |i| column(table, old_row, i)).map_err(Refused::Error),
        }
    }

    /// Replaces a row, read by an exclusive locking read or to write, by the encoded one. False: they are the same, and the old
    /// one is locked. `touched[i]`: index `i` has a column that may have changed.
    pub fn update(
        &mut self,
        table: &Table,
        tx: &mut Transaction,
        old_key: &[u8],
        old_row: &[u8],
        touched: &[bool],
    ) -> Result<bool, Refused> {
        if self.row == old_row {
            tx.keep_lock(table.indexes[0].tree, old_key)?;
            return Ok(false);
        }
        observe::increment(Counter::HandlerUpdate);
        let moved = self.key != old_key;
        if moved {
            tx.delete(table.indexes[0].tree, old_key)?;
            self.insert_clustered(table, tx)?;
        } else {
            let (tree, key) = (table.indexes[0].tree, &self.key);
            long::store(tx, table, key.len(), &self.row, &mut self.parts, |tx, row| tx.update(tree, key, row))?;
        }
        let whole = self.logged.is_some();
        let inside = |row, buffer| match whole {
            false => long::indexed(tx, table, (1..touched.len()).filter(|i| moved || touched[*i]), row, buffer),
            // The binary log has all values.
            true => long::inside(tx, table, row, buffer),
        };
        let old_row = inside(old_row, &mut self.old_inside).map_err(Refused::Error)?;
        let row = inside(&self.row, &mut self.inside).map_err(Refused::Error)?;
        for (i, touched) in touched.iter().enumerate().skip(1) {
            if !moved && !touched {
                continue;
            }
            if table.indexes[i].array_part.is_some() {
                let old = Entries::of(table, i, old_row, old_key);
                let new = Entries::of(table, i, row, &self.key);
                entries::delete(tx, table, i, old.without(&new, false).map(|(entry, _)| entry))?;
                let unique = table.indexes[i].unique;
                entries::insert(tx, table, i, new.without(&old, unique), &mut self.refused)?;
                note_many(&self.logged, tx, table, i);
                continue;
            }
            let old_prefix = secondary_key(&mut self.old_entry, table, i, old_row, old_key);
            let prefix = secondary_key(&mut self.new_entry, table, i, row, &self.key);
            if self.old_entry == self.new_entry {
                continue;
            }
            let tree = table.indexes[i].tree;
            tx.index_delete(tree, &self.old_entry)?;
            match tx.index_insert(tree, &self.new_entry, prefix, &[]) {
                Err(engine::Error::DuplicateKey) => return Err(Refused::Duplicate(i)),
                other => other?,
            }
            note_key(&self.logged, tx, table, i, old_prefix.map(|n| &self.old_entry[..n]));
            note_key(&self.logged, tx, table, i, prefix.map(|n| &self.new_entry[..n]));
        }
        note(table, tx, &self.key);
        note_key(&self.logged, tx, table, 0, Some(&self.key));
        if moved {
            note(table, tx, old_key);
            note_key(&self.logged, tx, table, 0, Some(old_key));
        }
        if let Some(logged) = &self.logged {
            let (old, new) = (|i| column(table, old_row, i), |i| column(table, row, i));
            logged.updated(tx, old, new).map_err(Refused::Error)?;
        }
        Ok(true)
    }

    /// 1062 for the encoded row and the index that has its key already.
    #[cold]
    pub fn duplicate(&self, table: &Table, index: usize, run: &Run<'_>) -> SqlError {
        // What the row has outside is of the old row, which is still there.
        let mut inside = Vec::new();
        let row = long::indexed(&run.tx.borrow(), table, [index].into_iter(), &self.row, &mut inside);
        row.map_or_else(|error| error, |row| duplicate_entry(table, index, row, Some(run)))
    }

    /// Inserts the encoded row into the clustered tree, all its long values new.
    fn insert_clustered(&mut self, table: &Table, tx: &mut Transaction) -> Result<(), Refused> {
        debug_assert!(!has_outside(&self.row), "a row's long values are its own");
        let (tree, key) = (table.indexes[0].tree, &self.key);
        match long::store(tx, table, key.len(), &self.row, &mut self.parts, |tx, row| tx.insert(tree, key, row)) {
            Err(engine::Error::DuplicateKey) => Err(Refused::Duplicate(0)),
            other => Ok(other?),
        }
    }
}

/// A row was written: for whoever builds an index meanwhile.
#[inline]
fn note(table: &Table, tx: &Transaction, key: &[u8]) {
    if table.row_log.is_open() {
        table.row_log.note(tx.id(), key);
    }
}

/// 1062 with the row's values of the index.
#[cold]
pub fn duplicate_entry(table: &Table, index: usize, row: &[u8], run: Option<&Run<'_>>) -> SqlError {
    error::duplicate(&shown_entry(table, index, row, run), &table.name, &table.indexes[index].name)
}

/// The row's values of the index as messages show them: prefixes where the index has prefixes, TIMESTAMPs in the session's zone where
/// a statement runs.
#[cold]
pub fn shown_entry(table: &Table, index: usize, row: &[u8], run: Option<&Run<'_>>) -> String {
    let mut entry = String::new();
    for (i, part) in table.indexes[index].parts.iter().enumerate() {
        if i > 0 {
            entry.push('-');
        }
        let c = &table.columns[part.column];
        let shown = if part.key.prefix > 0 { part.key.prefix as usize } else { usize::MAX };
        if let Some(element) = c.array_of() {
            match column(table, row, part.column) {
                Value::Null => entry.push_str("NULL"),
                v => entry.push_str(&array::shown(&v, &element)),
            }
            continue;
        }
        let v = match (column(table, row, part.column), run) {
            (Value::DateTime(t), Some(run)) if c.data_type.kind == TypeKind::Timestamp => {
                Value::DateTime(convert::from_utc(t, run))
            }
            (v, _) => v,
        };
        match (c.data_type.kind, &v) {
            (_, Value::Null) => entry.push_str("NULL"),
            (TypeKind::Enum, Value::UInt(n)) => {
                entry.push_str((*n as usize).checked_sub(1).and_then(|n| c.members.get(n)).map_or("", |m| m))
            }
            (TypeKind::Binary, Value::Bytes(b)) => {
                let end = b.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
                push_escaped(&mut entry, &b[..end.min(shown)]);
            }
            (_, Value::Bytes(b)) if c.data_type.collation.is_binary() && c.data_type.kind.is_bytes() => {
                push_escaped(&mut entry, &b[..b.len().min(shown)]);
            }
            (TypeKind::Bit, _) => push_escaped(&mut entry, &convert::text(&v, &c.data_type)),
            (TypeKind::Set, Value::UInt(bits)) => {
                let is_in = |(at, _): &(usize, &String)| bits >> *at & 1 == 1;
                let members = c.members.iter().enumerate().filter(is_in).map(|(_, member)| member.as_str());
                entry.push_str(&members.collect::<Vec<_>>().join(","));
            }
            (_, Value::Bytes(b)) if c.data_type.kind.is_text() => {
                let text = c.data_type.collation.charset().to_utf8(b);
                entry.extend(String::from_utf8_lossy(&text).chars().take(shown));
            }
            _ => entry.extend(String::from_utf8_lossy(&convert::text(&v, &c.data_type)).chars().take(shown)),
        }
    }
    // MySQL's message is a string of C.
    entry.truncate(entry.find('\0').unwrap_or(entry.len()));
    entry
}

/// Bytes of a binary string as messages show them.
fn push_escaped(out: &mut String, bytes: &[u8]) {
    for b in bytes {
        match b {
            0x20..0x7F => out.push(char::from(*b)),
            _ => out.push_str(&format!("\\x{b:02X}")),
        }
    }
}

/// The AUTO_INCREMENT column of some row has `value` now.
pub(crate) fn observe(table: &Table, value: u64, run: &Run<'_>) -> Result<()> {
    if table.counts_in_groups() {
        return Ok(());
    }
    let counter = table.auto_increment.as_ref().expect("an AUTO_INCREMENT column has a counter");
    let column = table.columns.iter().find(|c| c.auto_increment).expect("the counter's column");
    let (_, max) = column.data_type.integer_bounds();
    // Where values are handed out again it tells the greatest one from its being used up.
    let max = if table.engine.is_transactional() { max } else { max.saturating_add(1) };
    counter.observe(run.env.borrow().engine(), value, max).map_err(error::engine)
}
