//! Rows that a replica has been told of: whole images of them, written by key, without a statement.
//!
//! ```text
//!   image before  --> find: primary key, else a unique one, else any index, else the whole table  --> the row, locked
//!   image after   --> columns of the image over that row, or over defaults                         --> RowWriter
//! ```
//! As on MySQL's replicas generated columns are computed here, checks are asked, foreign keys looked at and carried on, unless the event
//! says that its session did not; times that a column would take by itself are those of the image.

use crate::context::Env;
use crate::execution::LOCKING;
use crate::rules::RuleSet;
use crate::write::{self, Refused, RowWriter, column, observe};
use crate::{Run, long};
use binlog::partial::{Refusal, apply_changes};
use catalog::{Changes, Pin, Table, Version, error};
use engine::{Cursor, Direction, LockMode, Range};
use expr::{Execution, Strictness, store};
use plan::stored::planned;
use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;
use types::codes::*;
use types::json::binary;
use types::{Result, SqlError, Value, err, key};

/// A row by column of the table; `None`: the image does not have the column.
pub type Image<'v> = [Option<Value<'v>>];

/// A column, and the changes of its document.
pub type DocumentChanges<'v> = (usize, Cow<'v, [u8]>);

/// How rows that are there already, or are not, are taken: `replica_exec_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Strict,
    /// What is there is replaced, what is not there has been changed.
    Idempotent,
}

/// Writes rows of one version of a table.
pub struct RowApplier {
    table: Arc<Table>,
    /// What has to be pinned while it writes.
    pins: Vec<Pin>,
    rules: Option<RuleSet>,
    writer: RowWriter,
    /// Which indexes an update may touch: all, by what the images say.
    touched: Vec<bool>,
    row: Vec<u8>,
    key: Vec<u8>,
    inside: Vec<u8>,
    columns: Vec<usize>,
}

impl RowApplier {
    /// For a table of `version`. Errors of its expressions.
    pub fn new(env: &mut dyn Env, version: &Arc<Version>, table: &Arc<Table>) -> Result<RowApplier> {
        let rules = planned(env, version, |planner| planner.rules(table, Changes::ALL, None))?;
        let mut pins = vec![Pin::new(&table.schema, &table.name, true)];
        for related in version.related(table, Changes::ALL) {
            if related.table.id != table.id {
                pins.push(Pin::new(&related.table.schema, &related.table.name, related.written));
            }
        }
        Ok(RowApplier {
            table: Arc::clone(table),
            pins,
            rules: rules.map(RuleSet::new),
            writer: RowWriter::default(),
            touched: vec![true; table.indexes.len()],
            row: Vec::new(),
            key: Vec::new(),
            inside: Vec::new(),
            columns: Vec::new(),
        })
    }

    /// The table that rows go to.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The metadata locks that applying takes.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// Before the first row of an event.
    pub fn begin(&mut self, run: &Run<'_>) {
        let all = 0..self.table.columns.len();
        self.writer.begin(&self.table, || all.collect(), run);
        run.tx.borrow_mut().lock_duplicates(LockMode::Shared);
    }

    /// Values as the image has them: what does not fit was converted before.
    fn how(run: &Run<'_>) -> Strictness {
        Strictness { mode: run.evaluation.sql_mode, lenient: true, null_is_error: false, names_null: false }
    }

    /// Error 1062, and those of rules.
    pub fn insert(&mut self, image: &Image<'_>, mode: Mode, run: &Run<'_>) -> Result<()> {
        let table = Arc::clone(&self.table);
        let how = Self::how(run);
        let mut values = Vec::with_capacity(table.columns.len());
        for (i, c) in table.columns.iter().enumerate() {
            let given = image.get(i).and_then(|v| v.as_ref().map(expr::reborrow));
            values.push(match given {
                Some(value) => value,
                None if c.is_row_id() => row_id(&table, run)?,
                // The counter has no say: where the source's table has no such column, the row has no number.
                None if c.auto_increment => store::implicit_default(&c.data_type),
                None => store::default_value(c, how, run)?,
            });
        }
        self.writer.encode(&table, &values);
        if let Some(rules) = &mut self.rules {
            let absent = |c: usize| image.get(c).is_none_or(Option::is_none);
            rules.complete(&mut self.writer, &absent, 1, how, run)?;
        }
        // Rows that are in the way, one for each unique key at most.
        for _ in 0..=table.indexes.len() {
            let savepoint = run.tx.borrow().savepoint();
            let written = self.writer.insert(&table, &mut run.tx.borrow_mut());
            let index = match written {
                Ok(()) => return self.inserted(&table, run),
                Err(Refused::Duplicate(index)) => index,
                Err(refused) => return Err(refused.locked()),
            };
            run.tx.borrow_mut().rollback_to(savepoint).map_err(error::during_rollback)?;
            if mode == Mode::Strict {
                return Err(self.writer.duplicate(&table, index, run));
            }
            self.remove_conflict(&table, index, run)?;
        }
        Err(err!(ER_KEY_NOT_FOUND, table.name))
    }

    fn inserted(&mut self, table: &Table, run: &Run<'_>) -> Result<()> {
        if let Some(rules) = &self.rules {
            rules.inserted(&self.writer.row, run)?;
        }
        count(table, &self.writer.row, run)
    }

    /// Deletes the row that has the encoded row's key in an index.
    #[cold]
    fn remove_conflict(&mut self, table: &Table, index: usize, run: &Run<'_>) -> Result<()> {
        let mut prefix = Vec::new();
        if index == 0 {
            prefix.extend_from_slice(&self.writer.key);
        } else {
            write::index_parts(&mut prefix, table, index, &self.writer.row);
        }
        let (row, key) = (std::mem::take(&mut self.writer.row), std::mem::take(&mut self.writer.key));
        let found = self.first_under(table, index, &prefix, |_| true, run)?;
        let removed = if found { self.remove(table, run) } else { Ok(()) };
        (self.writer.row, self.writer.key) = (row, key);
        removed
    }

    /// Deletes the row that was found.
    fn remove(&mut self, table: &Table, run: &Run<'_>) -> Result<()> {
        let removed = self.writer.delete(table, &mut run.tx.borrow_mut(), &self.key, &self.row);
        removed.map_err(Refused::locked)?;
        self.rules.as_mut().map_or(Ok(()), |rules| rules.deleted(&self.row, run))
    }

    /// Error 1032, and those of rules.
    pub fn delete(&mut self, image: &Image<'_>, mode: Mode, run: &Run<'_>) -> Result<()> {
        let table = Arc::clone(&self.table);
        match (self.find(&table, image, run)?, mode) {
            (true, _) => self.remove(&table, run),
            (false, Mode::Idempotent) => Ok(()),
            (false, Mode::Strict) => Err(err!(ER_KEY_NOT_FOUND, table.name)),
        }
    }

    /// `changes`: of documents by column, made in what the row has. Errors 1032, 1062, 3648, 3649, and those of rules.
    pub fn update(
        &mut self,
        before: &Image<'_>,
        after: &Image<'_>,
        changes: &[DocumentChanges<'_>],
        mode: Mode,
        run: &Run<'_>,
    ) -> Result<()> {
        let table = Arc::clone(&self.table);
        match (self.find(&table, before, run)?, mode) {
            (true, _) => {}
            (false, Mode::Idempotent) => return Ok(()),
            (false, Mode::Strict) => return Err(err!(ER_KEY_NOT_FOUND, table.name)),
        }
        self.columns.clear();
        let mut values = Vec::with_capacity(table.columns.len());
        for (i, value) in after.iter().enumerate() {
            if let Some(value) = value {
                self.columns.push(i);
                values.push(expr::reborrow(value));
            }
        }
        for (column, list) in changes {
            self.columns.push(*column);
            values.push(self.changed(&table, *column, list, run)?);
        }
        let how = Self::how(run);
        let old = (&self.row[..], &self.key[..]);
        self.writer.change(&run.tx.borrow(), &table, old, &self.columns, &values, true)?;
        if let Some(rules) = &mut self.rules {
            rules.complete(&mut self.writer, &|_| false, 1, how, run)?;
        }
        let savepoint = run.tx.borrow().savepoint();
        let mut tx = run.tx.borrow_mut();
        let written = self.writer.update(&table, &mut tx, &self.key, &self.row, &self.touched);
        match written {
            Ok(false) => Ok(()),
            Ok(true) => {
                drop(tx);
                if let Some(rules) = &mut self.rules {
                    rules.updated(&self.row, &self.writer.row, run)?;
                }
                count(&table, &self.writer.row, run)
            }
            Err(Refused::Duplicate(index)) => {
                tx.rollback_to(savepoint).map_err(error::during_rollback)?;
                drop(tx);
                Err(self.writer.duplicate(&table, index, run))
            }
            Err(refused) => Err(refused.locked()),
        }
    }

    /// The document of the row that was found, changed. Errors 3648, 3649.
    fn changed(&self, table: &Table, column: usize, list: &[u8], run: &Run<'_>) -> Result<Value<'static>> {
        let value = long::column(&run.tx.borrow(), table, &self.row, column)?.into_owned();
        let doc = if let Value::Json(bytes) = &value { binary::decode(bytes) } else { None };
        let made = doc.ok_or(Refusal::Inapplicable).and_then(|mut doc| {
            apply_changes(&mut doc, list)?;
            Ok(Value::from_json(&doc))
        });
        let name = &table.columns[column].name;
        made.map_err(|refusal| match refusal {
            Refusal::Corrupt => err!(ER_CORRUPTED_JSON_DIFF, table.name, name),
            Refusal::Inapplicable => err!(ER_COULD_NOT_APPLY_JSON_DIFF, table.name, name),
        })
    }

    /// Reads and locks the row that an image is of. False: there is none.
    fn find(&mut self, table: &Arc<Table>, image: &Image<'_>, run: &Run<'_>) -> Result<bool> {
        let given = |c: usize| image.get(c).and_then(Option::as_ref);
        let primary = &table.indexes[0];
        if !primary.is_hidden() && primary.parts.iter().all(|p| given(p.column).is_some()) {
            self.key.clear();
            for part in &primary.parts {
                key::encode_part(&mut self.key, &part.key, given(part.column).expect("looked at above"));
            }
            let mut tx = run.tx.borrow_mut();
            return tx.get(primary.tree, &self.key, LOCKING, &mut self.row).map_err(error::engine);
        }
        // Of the others a unique one is best, then the longest one.
        let usable = |i: &usize| {
            let index = &table.indexes[*i];
            index.array_part.is_none() && index.parts.iter().all(|p| given(p.column).is_some())
        };
        let rank = |i: &usize| {
            let index = &table.indexes[*i];
            let null = index.parts.iter().any(|p| given(p.column).is_some_and(Value::is_null));
            (index.unique && !null, index.parts.len())
        };
        let best = (1..table.indexes.len()).filter(usable).max_by_key(rank);
        let mut prefix = Vec::new();
        for part in best.map_or(&[][..], |i| &table.indexes[i].parts) {
            key::encode_part(&mut prefix, &part.key, given(part.column).expect("it is usable"));
        }
        let is_it = |row: &[u8]| {
            let mut shown = table.columns.iter().enumerate().filter(|(_, c)| !c.hidden);
            shown.all(|(i, _)| given(i).is_none_or(|value| *value == column(table, row, i)))
        };
        self.first_under(table, best.unwrap_or(0), &prefix, is_it, run)
    }

    /// Reads and locks the first row whose entry in an index begins like this and that `is_it`.
    fn first_under(
        &mut self,
        table: &Table,
        index: usize,
        prefix: &[u8],
        is_it: impl Fn(&[u8]) -> bool,
        run: &Run<'_>,
    ) -> Result<bool> {
        let mut upper = prefix.to_vec();
        let bounded = !prefix.is_empty() && key::successor(&mut upper);
        let range = Range {
            lower: if prefix.is_empty() { Bound::Unbounded } else { Bound::Included(prefix) },
            upper: if bounded { Bound::Excluded(&upper[..]) } else { Bound::Unbounded },
        };
        let mut cursor = Cursor::new(table.indexes[index].tree, range, Direction::Forward, LOCKING, 0);
        loop {
            // Asks the transaction, which must not be borrowed meanwhile.
            run.check_interrupt()?;
            let mut tx = run.tx.borrow_mut();
            {
                let Some(entry) = cursor.next(&mut tx).map_err(error::engine)? else { return Ok(false) };
                self.key.clear();
                self.row.clear();
                if index == 0 {
                    self.key.extend_from_slice(entry.key);
                    self.row.extend_from_slice(entry.value);
                } else {
                    let own = crate::entries::own_parts(table, index, entry.key);
                    self.key.extend_from_slice(&entry.key[own..]);
                }
            }
            let mut row_lock = None;
            if index > 0 {
                if !tx.get(table.indexes[0].tree, &self.key, LOCKING, &mut self.row).map_err(error::engine)? {
                    continue;
                }
                row_lock = tx.fresh_lock();
            }
            let inside = long::inside(&tx, table, &self.row, &mut self.inside)?;
            if is_it(inside) {
                return Ok(true);
            }
            cursor.release_last(&mut tx);
            if let Some(lock) = row_lock {
                tx.give_back(lock);
            }
        }
    }
}

fn row_id(table: &Table, run: &Run<'_>) -> Result<Value<'static>> {
    let ids = table.row_ids.as_ref().expect("a table with a hidden key has a row id counter");
    let id = ids.reserve(run.env.borrow().engine(), 1, 1, 1, u64::MAX).map_err(error::engine)?;
    Ok(Value::UInt(id.ok_or_else(|| err!(ER_AUTOINC_READ_FAILED))?))
}

/// The row's AUTO_INCREMENT value counts as one that was given here.
fn count(table: &Table, row: &[u8], run: &Run<'_>) -> Result<(), SqlError> {
    let Some(c) = table.columns.iter().position(|c| c.auto_increment) else { return Ok(()) };
    let value = long::column(&run.tx.borrow(), table, row, c)?.into_owned();
    let negative = !table.columns[c].data_type.unsigned && value.to_i64() < 0;
    if negative || value.is_null() { Ok(()) } else { observe(table, value.to_u64(), run) }
}
