//! Rewriting a table: ALTER TABLE that gives all rows another form, in new trees.
//!
//! The new form of a row depends on the row alone and on what stands still during the statement: its time, the session's mode and
//! zone. So who rewrites beside writers ([`crate::online`]) makes of an old version of a row, at any time, the same that was made of
//! it before. What depends on more, new numbers and values of DEFAULT expressions, is asked of copies that keep writers out.

use crate::bulk::{Order, Sorter};
use crate::copied;
use crate::definition::rules_of;
use crate::fill::{ALL, check_interrupt, fill_index, newest};
use crate::progress::Progress;
use catalog::error;
use catalog::{Column, Table, Version};
use engine::{Cursor, Direction, Read, Transaction};
use expr::Execution;
use expr::Stage;
use expr::Strictness;
use expr::convert;
use expr::store;
use run::Env;
use run::Run;
use run::long;
use run::rules::RuleSet;
use run::write::{self, RowWriter, duplicate_entry};
use std::cell::Cell;
use std::sync::Arc;
use types::codes::*;
use types::row::long::Parts;
use types::{Result, SqlMode, StoreContext, Value, err};

/// How rows of a table become rows of its new form.
pub struct Rewrite {
    pub(crate) from: Arc<Table>,
    pub(crate) to: Arc<Table>,
    /// `columns[i]` is the column that column `i` gets its values from, `None` for its default.
    columns: Vec<Option<usize>>,
    /// MySQL would do it in place: values that stay are taken as they are, no check or foreign key is asked again, and NULL where
    /// there may be none has an error of its own.
    in_place: bool,
    rules: Option<RuleSet>,
    /// Rows so far: errors name the row.
    rows: u64,
    /// The first number that a copy has made up for a row.
    first_number: Cell<Option<u64>>,
}

impl Rewrite {
    /// From `from` to `to`, a new version of it in `version` whose trees are empty. `columns[i]` is the position in `from` of column
    /// `i`, `None` for new ones; a hidden row id stays what it was. Errors of the table's expressions.
    pub fn new(
        env: &mut dyn Env,
        version: &Arc<Version>,
        (from, to): (&Arc<Table>, &Arc<Table>),
        columns: &[Option<usize>],
        in_place: bool,
    ) -> Result<Rewrite> {
        let mut columns = columns.to_vec();
        columns.resize(to.columns.len(), None);
        if let Some(at) = to.columns.iter().position(Column::is_row_id) {
            columns[at] = from.columns.iter().position(Column::is_row_id);
        }
        let mut rules = rules_of(env, version, to)?;
        if let Some(rules) = rules.as_mut().filter(|_| in_place) {
            rules.only_complete(&|c| columns[c].is_none());
        }
        Ok(Rewrite {
            from: Arc::clone(from),
            to: Arc::clone(to),
            columns,
            in_place,
            rules,
            rows: 0,
            first_number: Cell::default(),
        })
    }

    /// Is the new form of a row the same whenever it is asked for?
    pub(crate) fn repeats(&self) -> bool {
        let comes = |i: usize| self.columns[i].is_some();
        let numbers = |c: &Column| c.is_row_id() || c.auto_increment;
        self.in_place && self.to.columns.iter().enumerate().all(|(i, c)| comes(i) || !numbers(c))
    }

    /// Writes the new form of all rows, and every index. Nobody else writes the old ones, or `snapshot` says which there are.
    /// Generated columns are computed, checks and foreign keys looked at, unless that is in place. Values that do not fit the new
    /// types are errors or warnings as the session's mode says; the number of rows comes back.
    pub fn copy(&mut self, tx: &mut Transaction, env: &mut dyn Env, snapshot: Option<&mut Transaction>) -> Result<u64> {
        let to = Arc::clone(&self.to);
        let read = if snapshot.is_some() { Read::Consistent } else { newest(tx) };
        let run = Run::new(tx, env, &[], &[]);
        self.copy_rows(&run, snapshot, read)?;
        self.set_numbers_aside(&run)?;
        for index in 1..to.indexes.len() {
            fill_index(&run, &to, index)?;
        }
        if let Some(rules) = self.rules.as_ref().filter(|r| r.refers_to_itself() && !self.in_place) {
            check_parents(&to, rules, &run)?;
        }
        Ok(self.rows)
    }

    fn copy_rows(&mut self, run: &Run<'_>, mut snapshot: Option<&mut Transaction>, read: Read) -> Result<()> {
        let to = Arc::clone(&self.to);
        let mut scan = Cursor::new(self.from.indexes[0].tree, ALL, Direction::Forward, read, 0);
        let (mut loaded, mut parts) = (0, Parts::default());
        let mut sorter = Sorter::new(run, Order::Natural, |key, row| {
            let mut tx = run.tx.borrow_mut();
            check_interrupt(&tx, loaded)?;
            loaded += 1;
            let load = |tx: &mut Transaction, row: engine::Row<'_>| tx.load(to.indexes[0].tree, key, row);
            match long::store(&mut tx, &to, key.len(), row, &mut parts, load) {
                Err(engine::Error::DuplicateKey) => Err(duplicate_entry(&to, 0, row, None)),
                other => other.map_err(error::engine),
            }
        })?;
        let (mut writer, mut inside, mut read_rows) = (RowWriter::default(), Vec::new(), 0);
        let progress = Progress::begin(run, Stage::CopyToTmpTable, &self.from);
        loop {
            run.check_interrupt()?;
            progress.step(read_rows);
            read_rows += 1;
            let entry = match snapshot.as_deref_mut() {
                Some(snapshot) => scan.next(snapshot),
                None => scan.next(&mut run.tx.borrow_mut()),
            };
            let Some(entry) = entry.map_err(error::engine)? else { break };
            let row = match snapshot.as_deref() {
                Some(snapshot) => long::inside(snapshot, &self.from, entry.value, &mut inside)?,
                None => long::inside(&run.tx.borrow(), &self.from, entry.value, &mut inside)?,
            };
            self.convert(row, &mut writer, run)?;
            if let Some(rules) = self.rules.as_ref().filter(|r| !r.refers_to_itself()) {
                rules.inserted(&writer.row, run)?;
            }
            sorter.push(run, &writer.key, &writer.row)?;
        }
        sorter.finish(run)
    }

    /// Puts the new form of a row and its clustered key into `writer`. Errors 1138, 1265, 3819 and those of conversions.
    pub(crate) fn convert(&mut self, row: &[u8], writer: &mut RowWriter, run: &Run<'_>) -> Result<()> {
        let how = Strictness::new(run, false, false);
        run.evaluation.strict.set(!how.lenient);
        self.rows += 1;
        let values = self.values(row, how, run)?;
        writer.encode(&self.to, &values);
        if let Some(rules) = &mut self.rules {
            let columns = &self.columns;
            rules.complete(writer, &|c| columns[c].is_none(), self.rows, how, run)?;
        }
        Ok(())
    }

    /// The values of the new form, with placeholders for what rules compute.
    fn values<'v>(&'v self, row: &'v [u8], how: Strictness, run: &Run<'_>) -> Result<Vec<Value<'v>>> {
        let (from, to) = (&*self.from, &*self.to);
        let convert = |i: usize, c: &'v Column| {
            let old = write::column(from, row, i);
            convert_column(old, &from.columns[i], c, self.rows, (how.mode, self.in_place), run)
        };
        let mut values = Vec::with_capacity(to.columns.len());
        for (c, source) in to.columns.iter().zip(&self.columns) {
            values.push(match *source {
                Some(i) if c.generated.is_some() && self.in_place => convert(i, c)?,
                _ if c.generated.is_some() => store::placeholder(&c.data_type),
                source if c.auto_increment => {
                    let given = match source {
                        Some(i) if !write::column(from, row, i).is_null() => convert(i, c)?,
                        _ => Value::Null,
                    };
                    // A column that counted already holds what was meant, a zero too.
                    let counted = source.is_some_and(|i| from.columns[i].auto_increment);
                    self.numbered(given, counted, c, run)?
                }
                Some(i) => convert(i, c)?,
                None if c.is_row_id() => {
                    let ids = to.row_ids.as_ref().expect("the column's counter");
                    let id = ids.reserve(run.env.borrow().engine(), 1, 1, 1, u64::MAX).map_err(error::engine)?;
                    Value::UInt(id.ok_or_else(|| err!(ER_AUTOINC_READ_FAILED))?)
                }
                None => match &c.default {
                    catalog::ColumnDefault::Value(v) => expr::reborrow(v),
                    catalog::ColumnDefault::Now => store::default_value(c, how, run)?,
                    _ => store::placeholder(&c.data_type),
                },
            });
        }
        Ok(values)
    }

    /// The value of the AUTO_INCREMENT column: made up for NULL, and for zeros that `counted` does not tell to keep. Error 1467.
    fn numbered<'v>(&self, given: Value<'v>, counted: bool, column: &Column, run: &Run<'_>) -> Result<Value<'v>> {
        let counter = self.to.auto_increment.as_ref().expect("an AUTO_INCREMENT column has a counter");
        let (_, max) = column.data_type.integer_bounds();
        let env = run.env.borrow();
        let keeps_zero = counted || run.evaluation.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
        let is_zero = matches!(given, Value::Int(0) | Value::UInt(0)) || given.to_f64() == 0.0;
        if !given.is_null() && (keeps_zero || !is_zero) {
            if given.to_f64() > 0.0 {
                counter.observe(env.engine(), given.to_u64(), max).map_err(error::engine)?;
            }
            return Ok(given);
        }
        let (step, offset) = env.auto_increment_step();
        let id = counter.reserve(env.engine(), 1, step, offset, max).map_err(error::engine)?;
        let id = id.ok_or_else(|| err!(ER_AUTOINC_READ_FAILED))?;
        self.first_number.set(self.first_number.get().or(Some(id)));
        Ok(if column.data_type.unsigned { Value::UInt(id) } else { Value::Int(id as i64) })
    }

    /// A copy that makes up numbers sets one aside for each row, as MySQL's does, also for those that have one.
    fn set_numbers_aside(&self, run: &Run<'_>) -> Result<()> {
        let Some(first) = self.first_number.get().filter(|_| !self.in_place) else { return Ok(()) };
        let column = self.to.columns.iter().find(|c| c.auto_increment).expect("the column that has the number");
        let counter = self.to.auto_increment.as_ref().expect("an AUTO_INCREMENT column has a counter");
        let env = run.env.borrow();
        let last = first.saturating_add(self.rows.saturating_mul(env.auto_increment_step().0)) - 1;
        counter.observe(env.engine(), last, column.data_type.integer_bounds().1).map_err(error::engine)
    }
}

/// Looks for the parents of all rows of a table. Error 1452.
fn check_parents(table: &Table, rules: &RuleSet, run: &Run<'_>) -> Result<()> {
    let read = newest(&run.tx.borrow());
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, read, 0);
    let mut row = Vec::new();
    loop {
        run.check_interrupt()?;
        match scan.next(&mut run.tx.borrow_mut()).map_err(error::engine)? {
            Some(entry) => {
                row.clear();
                row.extend_from_slice(entry.value);
            }
            None => return Ok(()),
        }
        rules.inserted(&row, run)?;
    }
}

fn convert_column<'v>(
    v: Value<'v>,
    from: &catalog::Column,
    to: &catalog::Column,
    row: u64,
    (mode, in_place): (SqlMode, bool),
    run: &Run<'_>,
) -> Result<Value<'v>> {
    if v.is_null() {
        let truncated = || format!("Data truncated for column '{}' at row {row}", to.name);
        return match to.data_type.nullable {
            true => Ok(Value::Null),
            false if mode.is_strict() && in_place => Err(err!(ER_INVALID_USE_OF_NULL)),
            false if mode.is_strict() => Err(types::SqlError::new(WARN_DATA_TRUNCATED, truncated())),
            false => {
                run.warn(WARN_DATA_TRUNCATED, truncated());
                match to.data_type.kind {
                    types::TypeKind::Enum => Ok(Value::UInt(0)),
                    _ => Ok(store::placeholder(&to.data_type)),
                }
            }
        };
    }
    // Copied, dates are looked at anew.
    let looks = !in_place && matches!(v, Value::Date(_) | Value::DateTime(_));
    if from.data_type == to.data_type && from.members == to.members && !looks {
        return Ok(v);
    }
    // What is no member of an ENUM is none of another.
    if matches!(v, Value::UInt(0)) && [from, to].iter().all(|c| c.data_type.kind == types::TypeKind::Enum) {
        return Ok(v);
    }
    let v = copied::as_read(v, from, to, (mode, row), run)?;
    let stamp = types::TypeKind::Timestamp;
    let context = StoreContext { mode, column: &to.name, row, members: &to.members };
    let v = match (v, from.data_type.kind) {
        (Value::DateTime(t), kind) if kind == stamp => Value::DateTime(convert::from_utc(t, run)),
        // A time becomes one of today.
        (Value::Time(t), _)
            if matches!(
                to.data_type.kind,
                types::TypeKind::Date | types::TypeKind::DateTime | types::TypeKind::Timestamp
            ) =>
        {
            let (moment, note) = convert::moment_of_today(t, &to.data_type, &context, run);
            note.into_iter().for_each(|note| store::tell(note, run));
            moment
        }
        (v, _) => v,
    };
    // The number of a date is no year.
    let v = match v {
        Value::Date(_) | Value::DateTime(_) if to.data_type.kind == types::TypeKind::Year => Value::Int(v.to_i64()),
        v => v,
    };
    let source = convert::source_type(&from.data_type, &v);
    let (v, warning) = types::coerce_for_store(v, &source, &to.data_type, &context)?;
    match warning {
        // A rebuild changes no value without saying so.
        Some(w) if mode.is_strict() && w.level != types::error::Level::Note => return Err(w.into()),
        Some(w) => store::tell(w, run),
        None => {}
    }
    match v {
        Value::DateTime(t) if to.data_type.kind == stamp => {
            let has_day = t.date().month() > 0 && t.date().day() > 0 || t.date().is_zero();
            match convert::to_utc(t, run).filter(|_| has_day) {
                Some(t) => Ok(Value::DateTime(t)),
                None if !mode.is_strict() => {
                    run.tell(ER_WARN_DATA_OUT_OF_RANGE, err!(ER_WARN_DATA_OUT_OF_RANGE, to.name, row).message);
                    Ok(Value::DateTime(types::DateTime::ZERO))
                }
                None => {
                    let shown = convert::text(&Value::DateTime(t), &to.data_type).into_owned();
                    let shown = String::from_utf8_lossy(&shown);
                    let message = format!("Incorrect datetime value: '{shown}' for column '{}' at row {row}", to.name);
                    Err(types::SqlError::new(ER_TRUNCATED_WRONG_VALUE, message))
                }
            }
        }
        v => Ok(v),
    }
}
