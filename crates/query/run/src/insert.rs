//! INSERT, INSERT IGNORE, REPLACE, INSERT ... ON DUPLICATE KEY UPDATE, from rows or a query.

mod auto_increment;
mod triggers;

pub(super) use auto_increment::{auto_increment, number};

use crate::assign::Assigner;
use crate::beside::{row_savepoint, undo_row};
use crate::build::build_query;
use crate::context::{Outcome, info};
use crate::execution::LOCKING;
use crate::reread::read_anew;
use crate::rules::{RuleSet, is_ignorable};
use crate::spill::{Kept, Place};
use crate::subquery::Query;
use crate::write::{self, Refused, RowWriter, observe};
use crate::{Frame, Run, Scope, long, recycle, virtual_table};
use catalog::{Index, Table, TriggerEvent, error};
use engine::{Cursor, Direction, Extent, LockMode, Range};
use expr::row::SlotNames;
use expr::{Execution, Expr, Strictness, convert, store};
use observe::Counter;
use plan::node::{self, Assigned};
use std::ops::Bound;
use std::sync::Arc;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{DataType, Date, DateTime, Result, SqlError, TypeKind, Value, err, key};

enum Source {
    Rows(Vec<Vec<Assigned>>),
    Query(Query),
    File(Box<node::FileSource>),
}

/// INSERT and REPLACE. Its fields are the parts of the plan and the buffers of the row at hand: methods of all steps use both.
pub struct InsertStatement {
    /// Taken out while the statement runs, so that its methods may borrow the table and change the rest.
    table: Option<Arc<Table>>,
    view: Option<Arc<(String, String)>>,
    visible: Option<Expr>,
    replace: bool,
    pub(super) ignore: bool,
    columns: Vec<usize>,
    /// By column: which given value it gets.
    pub(super) given: Vec<Option<usize>>,
    /// Columns that get no given value, without the AUTO_INCREMENT column.
    absent: Vec<usize>,
    /// The AUTO_INCREMENT column.
    pub(super) counted: Option<usize>,
    source: Source,
    on_duplicate: Option<Assigner>,
    pub(super) rules: Option<RuleSet>,
    pub(super) frame: Frame,
    pub(super) writer: RowWriter,
    values: Vec<Value<'static>>,
    probe: Vec<u8>,
    /// Some value reads a column of the row that it is part of.
    reads_row: bool,
    /// The query reads the table itself.
    kept: bool,
    /// Where the query's rows are buffered: its outputs that are dates, with their names.
    dates: Vec<(usize, DataType, String)>,
    /// The query's row at hand.
    tuple: Vec<u8>,
}

/// What the rows of one execution have come to. Its fields are counters and the state of AUTO_INCREMENT, which each row moves on
/// together.
pub(super) struct Progress {
    pub how: Strictness,
    /// The rows are a query's.
    from_query: bool,
    pub row: u64,
    /// Rows that IGNORE left out because of a check.
    pub refused: u64,
    affected: u64,
    /// Duplicates that ON DUPLICATE KEY UPDATE left as they were.
    unchanged: u64,
    pub duplicates: u64,
    /// Rows that were written: inserted, or changed in place of a duplicate.
    copied: u64,
    /// Columns whose NULL was warned of: once a statement.
    nulls_told: Vec<usize>,
    /// NULL is refused once triggers have seen the row: columns of the row at hand that are NULL and cannot be.
    pub defers_nulls: bool,
    pub nulls: Vec<usize>,
    /// What a trigger has set the AUTO_INCREMENT column to.
    set_number: Option<Value<'static>>,
    /// AUTO_INCREMENT: values reserved and not used yet, (next, left, step).
    reserved: (u64, u64, u64),
    /// How many values are reserved at a time: the number of all rows at first, of those that are left later; 0 where it is not
    /// known.
    rows: u64,
    /// Values reserved at a time otherwise: 1, 2, 4, ...
    batch: u64,
    has_reserved: bool,
    /// The value generated for the row at hand, 0 for none; the first one of a row that was inserted.
    generated: u64,
    first_generated: u64,
    /// The value given for the AUTO_INCREMENT column of the row at hand, 0 for none: the counter hears of it when the row is
    /// inserted.
    given: u64,
    /// The counter hears of it also when the row is refused as a duplicate.
    tells_refused: bool,
    /// A value was generated: SET INSERT_ID has had its say.
    generated_any: bool,
    /// The counter hears of the value generated for the row at hand when the row is written, and no sooner.
    counts_on_write: bool,
    /// The row at hand gets its value when all others are known: see [`Table::counts_in_groups`].
    counts_in_group: bool,
    /// The AUTO_INCREMENT column's value in the row that was written last.
    last_value: u64,
    /// Some row was inserted.
    inserted: bool,
}

impl InsertStatement {
    /// Made of its plan.
    pub fn new(i: node::Insert) -> InsertStatement {
        let mut given = vec![None; i.table.columns.len()];
        for (n, c) in i.columns.iter().enumerate() {
            given[*c] = Some(n);
        }
        let dates = match &i.source {
            node::InsertSource::Query(q) if i.buffered => dates_of(q),
            _ => Vec::new(),
        };
        let on_duplicate =
            (!i.on_duplicate.is_empty()).then(|| Assigner::new(&i.table, 0, i.on_duplicate, i.rules.clone()));
        let counted = i.table.columns.iter().position(|c| c.auto_increment);
        let absent = (0..given.len()).filter(|c| given[*c].is_none() && Some(*c) != counted).collect();
        let names = vec![SlotNames::of_table(0, &i.table, &i.table.name)];
        InsertStatement {
            view: i.view,
            visible: i.visible,
            replace: i.replace,
            ignore: i.ignore,
            columns: i.columns,
            given,
            absent,
            counted,
            kept: i.kept,
            dates,
            tuple: Vec::new(),
            source: match i.source {
                node::InsertSource::Rows(rows) => Source::Rows(rows),
                node::InsertSource::Query(q) => Source::Query(build_query(*q)),
                node::InsertSource::File(file) => Source::File(file),
            },
            on_duplicate,
            rules: i.rules.map(RuleSet::new),
            frame: Frame::new(i.shapes, names),
            table: Some(i.table),
            writer: RowWriter::default(),
            values: Vec::new(),
            probe: Vec::new(),
            reads_row: i.reads_row,
        }
    }

    /// Writes the rows. Errors of the rows' types, keys and rules are the statement's.
    pub fn execute(&mut self, run: &Run<'_>) -> Result<Outcome> {
        let table = self.table.take().expect("put back after each execution");
        let result = self.execute_on(&table, run);
        self.table = Some(table);
        result
    }

    fn execute_on(&mut self, table: &Table, run: &Run<'_>) -> Result<Outcome> {
        let row_count = match &self.source {
            Source::Rows(rows) => rows.len() as u64,
            Source::Query(_) | Source::File(_) => 0,
        };
        let how = Strictness::new(run, self.ignore, row_count == 1);
        run.evaluation.strict.set(!how.lenient);
        if self.view.is_some() {
            run.target_view.borrow_mut().clone_from(&self.view);
        }
        run.evaluate_constants()?;
        // What meets a duplicate locks it: to change it, or to rest on it.
        let changes = self.replace || self.on_duplicate.is_some();
        let mode = if changes { LockMode::Exclusive } else { LockMode::Shared };
        {
            let _within = run.within(table);
            run.tx.borrow_mut().lock_duplicates(mode);
        }
        match &self.on_duplicate {
            Some(assigner) => self.writer.begin(table, || assigner.changing(), run),
            None => self.writer.begin(table, Vec::new, run),
        }
        let mut p = Progress {
            how,
            from_query: matches!(self.source, Source::Query(_)),
            row: 0,
            refused: 0,
            affected: 0,
            unchanged: 0,
            duplicates: 0,
            copied: 0,
            nulls_told: Vec::new(),
            defers_nulls: self.rules.as_ref().is_some_and(|r| r.fires(TriggerEvent::Insert, true)),
            nulls: Vec::new(),
            set_number: None,
            reserved: (0, 0, 1),
            rows: row_count,
            has_reserved: false,
            batch: 1,
            generated: 0,
            first_generated: 0,
            given: 0,
            tells_refused: (self.replace || row_count == 0) && table.engine.is_transactional(),
            generated_any: false,
            counts_in_group: false,
            counts_on_write: false,
            last_value: 0,
            inserted: false,
        };
        let mut source = std::mem::replace(&mut self.source, Source::Rows(Vec::new()));
        let result = match &mut source {
            Source::Rows(rows) => self.insert_rows(table, rows, &mut p, run),
            Source::Query(query) => self.insert_query(table, query, &mut p, run),
            Source::File(file) => self.insert_file(table, file, &mut p, run),
        };
        let from_file = matches!(source, Source::File(_));
        let from_query = matches!(source, Source::Query(_));
        self.source = source;
        result?;
        if p.first_generated != 0 {
            run.env.borrow_mut().set_last_insert_id(p.first_generated);
        }
        let warnings = run.warning_count();
        let info = if from_file {
            let (deleted, skipped) = if self.replace { (p.duplicates, 0) } else { (0, p.duplicates) };
            info(&[
                ("Records: ", p.row - p.refused),
                ("  Deleted: ", deleted),
                ("  Skipped: ", skipped),
                ("  Warnings: ", warnings),
            ])
        } else if from_query || row_count > 1 || (warnings > 0 && run.variable("sql_warnings") != 0) {
            let records = p.row - p.refused;
            let duplicates = if self.ignore { records - p.copied } else { p.duplicates };
            info(&[("Records: ", records), ("  Duplicates: ", duplicates), ("  Warnings: ", warnings)])
        } else {
            String::new()
        };
        let insert_id = match p.first_generated {
            _ if from_file => 0,
            // Of a query's rows those that may change others leave no value behind.
            0 if p.copied == 0 || from_query && (!p.inserted || self.on_duplicate.is_some()) => {
                run.evaluation.given_id.get().unwrap_or(0)
            }
            0 => run.evaluation.given_id.get().unwrap_or(p.last_value),
            first => first,
        };
        let matched_rows = self.on_duplicate.is_some().then_some(p.affected + p.unchanged);
        Ok(Outcome { affected_rows: p.affected, matched_rows, insert_id, info, ..Outcome::default() })
    }

    fn insert_rows(&mut self, table: &Table, rows: &[Vec<Assigned>], p: &mut Progress, run: &Run<'_>) -> Result<()> {
        for row in rows {
            run.check_interrupt()?;
            p.start_row(table, run);
            if self.reads_row {
                self.insert_in_turn(table, row, p, run)?;
                continue;
            }
            let mut values = recycle(std::mem::take(&mut self.values));
            values.resize(table.columns.len(), Value::Null);
            let at = Scope::new(&self.frame, None);
            for (c, value) in self.columns.iter().zip(row) {
                let column = &table.columns[*c];
                values[*c] = match value {
                    Assigned::Default if column.auto_increment => Value::Null,
                    Assigned::Default => store::default_value(column, p.how, run)?,
                    Assigned::Value(e) => store::computed(e.eval(run, at)?, e, column, p.row, p.how, run)
                        .and_then(|v| store::store_nullable(v, &e.ty, column, p.row, p.how, run))
                        .map_err(|e| store::named(e, table))?,
                };
                if values[*c].is_null() && !column.data_type.nullable {
                    values[*c] = replace_null(table, *c, p, run)?;
                }
            }
            let given = |c: usize| self.given[c].and_then(|n| row.get(n));
            match row.is_empty() {
                false => absent_values(table, &self.absent, &mut values, p, run)?,
                true => {
                    let all: Vec<usize> = (0..values.len()).filter(|c| Some(*c) != self.counted).collect();
                    absent_values(table, &all, &mut values, p, run)?;
                }
            }
            let absent = |c: usize| !matches!(given(c), Some(Assigned::Value(_)));
            if finish(
                table,
                self.counted,
                &mut self.rules,
                &mut self.writer,
                &mut values,
                &absent,
                self.ignore,
                p,
                run,
            )? {
                self.values = recycle(values);
                self.write(table, p, run)?;
            } else {
                self.values = recycle(values);
            }
        }
        Ok(())
    }

    /// A row whose values may read its columns: those given before have their values, the others their defaults.
    #[cold]
    fn insert_in_turn(&mut self, table: &Table, row: &[Assigned], p: &mut Progress, run: &Run<'_>) -> Result<()> {
        let lenient = Strictness { lenient: true, ..p.how };
        let mut values: Vec<Value<'static>> = Vec::new();
        for (i, c) in table.columns.iter().enumerate() {
            values.push(match (&c.default, self.given[i].is_some() || c.auto_increment || c.hidden) {
                (catalog::ColumnDefault::None, true) => store::placeholder(&c.data_type),
                (_, true) => store::default_value(c, lenient, run)?.into_owned(),
                (_, false) => absent(table, i, p, run)?.into_owned(),
            });
        }
        for (c, value) in self.columns.iter().zip(row) {
            self.writer.encode(table, &values);
            self.frame.slots[0].bytes.clone_from(&self.writer.row);
            self.frame.slots[0].present = true;
            let column = &table.columns[*c];
            values[*c] = match value {
                Assigned::Default if column.auto_increment => absent(table, *c, p, run)?.into_owned(),
                Assigned::Default => store::default_value(column, p.how, run)?.into_owned(),
                Assigned::Value(e) => {
                    let v = e.eval(run, Scope::new(&self.frame, None))?.into_owned();
                    match column.auto_increment {
                        true => auto_increment(table, v, &e.ty, *c, p, run)?,
                        false => store::store(v, &e.ty, column, p.row, p.how, run)?,
                    }
                }
            };
        }
        for (i, c) in table.columns.iter().enumerate() {
            if self.given[i].is_none() && c.auto_increment {
                values[i] = absent(table, i, p, run)?.into_owned();
            }
            if c.hidden {
                values[i] = absent(table, i, p, run)?.into_owned();
            }
        }
        self.writer.encode(table, &values);
        let given = &self.given;
        if complete(&mut self.rules, &mut self.writer, &|c| given[c].is_none(), self.ignore, p, run)? {
            self.write(table, p, run)?;
        }
        Ok(())
    }

    fn insert_query(&mut self, table: &Table, query: &mut Query, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        query.forget();
        query.open(run, None)?;
        let mut tuple = std::mem::take(&mut self.tuple);
        let result = match self.kept {
            true => self.insert_kept(table, query, &mut tuple, p, run),
            false => self.insert_stream(table, query, &mut tuple, p, run),
        };
        self.tuple = tuple;
        result
    }

    /// Each row is written as the query brings it.
    fn insert_stream(
        &mut self,
        table: &Table,
        query: &mut Query,
        tuple: &mut Vec<u8>,
        p: &mut Progress,
        run: &Run<'_>,
    ) -> Result<()> {
        while query.next(run, None)? {
            run.check_interrupt()?;
            tuple.clear();
            query.write_row(run, None, tuple)?;
            run.check_work(tuple.len())?;
            self.insert_tuple(table, query, tuple, p, run)?;
        }
        Ok(())
    }

    /// A query that reads the table itself sees none of the new rows: they are kept apart until it ends.
    fn insert_kept(
        &mut self,
        table: &Table,
        query: &mut Query,
        tuple: &mut Vec<u8>,
        p: &mut Progress,
        run: &Run<'_>,
    ) -> Result<()> {
        let (mut rows, memory_max) = (Kept::default(), run.tmp_memory());
        while query.next(run, None)? {
            run.check_interrupt()?;
            tuple.clear();
            query.write_row(run, None, tuple)?;
            if !self.dates.is_empty() && run.evaluation.sql_mode.has(SqlMode::NO_ZERO_DATE) {
                self.refuse_zero_dates(tuple, query.outputs.len(), p.how, run)?;
            }
            run.check_work(tuple.len())?;
            rows.push(run, tuple, memory_max)?;
            observe::increment(Counter::HandlerWrite);
        }
        observe::increment(Counter::CreatedTmpTables);
        observe::add(Counter::HandlerReadRndNext, rows.count() as u64 + 1);
        let mut place = Place::default();
        while rows.read(&mut place, tuple)? {
            run.check_interrupt()?;
            self.insert_tuple(table, query, tuple, p, run)?;
        }
        Ok(())
    }

    /// One row of the query.
    fn insert_tuple(
        &mut self,
        table: &Table,
        query: &Query,
        tuple: &[u8],
        p: &mut Progress,
        run: &Run<'_>,
    ) -> Result<()> {
        let width = query.outputs.len();
        debug_assert!(self.columns.len() <= width);
        p.start_row(table, run);
        if self.on_duplicate.is_some() {
            let selected = &mut self.frame.slots[2];
            selected.bytes.clear();
            selected.bytes.extend_from_slice(tuple);
            selected.present = true;
        }
        let mut values = recycle(std::mem::take(&mut self.values));
        values.resize(table.columns.len(), Value::Null);
        for (n, c) in self.columns.iter().enumerate() {
            let (column, ty) = (&table.columns[*c], &query.outputs[n].ty);
            let v = expr::tuple::get(tuple, width, n);
            values[*c] = store::store_nullable(v, ty, column, p.row, p.how, run)?;
            if values[*c].is_null() && !column.data_type.nullable {
                values[*c] = replace_null(table, *c, p, run)?;
            }
        }
        absent_values(table, &self.absent, &mut values, p, run)?;
        let absent = |c: usize| self.given[c].is_none();
        let (rules, writer) = (&mut self.rules, &mut self.writer);
        let kept = finish(table, self.counted, rules, writer, &mut values, &absent, self.ignore, p, run)?;
        self.values = recycle(values);
        if kept { self.write(table, p, run) } else { Ok(()) }
    }

    /// Under NO_ZERO_DATE the temporary table takes no zero dates. Error 1292.
    fn refuse_zero_dates(&self, tuple: &[u8], width: usize, how: Strictness, run: &Run<'_>) -> Result<()> {
        for (n, ty, name) in &self.dates {
            let value = expr::tuple::get(tuple, width, *n);
            let what = match value {
                Value::Date(Date::ZERO) => "date",
                Value::DateTime(DateTime::ZERO) => "datetime",
                _ => continue,
            };
            let zero = String::from_utf8_lossy(&convert::text(&value, ty)).into_owned();
            let message = format!("Incorrect {what} value: '{zero}' for column '{name}' at row 1");
            if !how.lenient {
                return Err(SqlError::new(ER_TRUNCATED_WRONG_VALUE, message));
            }
            run.warn(ER_TRUNCATED_WRONG_VALUE, message);
        }
        Ok(())
    }

    /// Writes the encoded row to a table that is computed: a duplicate is refused, whatever the statement would do with it.
    #[cold]
    fn write_computed(&mut self, table: &Table, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        match virtual_table::insert(table, &self.writer, run).map_err(Refused::locked) {
            Err(e) if self.ignore && matches!(e.code, ER_DUP_KEY | ER_NO_SYSTEM_TABLE_ACCESS) => {
                run.warn(e.code, e.message);
                p.duplicates += 1;
            }
            result => {
                result?;
                p.affected += 1;
                p.copied += 1;
                p.inserted = true;
            }
        }
        run.row_stands();
        Ok(())
    }

    /// Writes the encoded row.
    pub(super) fn write(&mut self, table: &Table, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        if table.is_virtual() {
            return self.write_computed(table, p, run);
        }
        let special = self.ignore || self.replace || self.on_duplicate.is_some();
        let _within = run.within(table);
        if p.counts_in_group {
            self.count_in_group(table, p, run)?;
        }
        loop {
            let mut tx = run.tx.borrow_mut();
            let savepoint = row_savepoint(special, table, run, &tx);
            let index = match self.writer.insert(table, &mut tx) {
                Ok(()) => {
                    drop(tx);
                    if let Some(rules) = &self.rules
                        && let Err(e) = rules.inserted(&self.writer.row, run)
                    {
                        if !(self.ignore && is_ignorable(&e)) {
                            return Err(e);
                        }
                        undo_row(savepoint, &mut run.tx.borrow_mut())?;
                        p.give_back();
                        run.warn(e.code, e.message);
                        p.refused += 1;
                        return Ok(());
                    }
                    run.row_stands();
                    p.affected += 1;
                    p.copied += 1;
                    p.inserted = true;
                    if p.first_generated == 0 {
                        p.first_generated = p.generated;
                    }
                    if p.counts_on_write {
                        observe(table, p.generated, run)?;
                    }
                    return if p.given > 0 { p.skip_given(table, run) } else { Ok(()) };
                }
                Err(Refused::Duplicate(i)) => i,
                Err(refused) => {
                    undo_row(savepoint, &mut tx)?;
                    return Err(refused.locked());
                }
            };
            if p.given > 0 && p.tells_refused {
                observe(table, p.given, run)?;
            }
            undo_row(savepoint, &mut tx)?;
            drop(tx);
            // A value that was generated takes no row's place.
            let counts = |c: usize| table.indexes[index].parts.first().is_some_and(|part| part.column == c);
            let generated = self.replace && p.generated > 0 && self.counted.is_some_and(counts);
            if !special || generated {
                return Err(self.writer.duplicate(table, index, run));
            }
            if self.replace || self.on_duplicate.is_some() {
                if !self.find_conflict(table, index, run)? {
                    // The other row has gone between the check and the lock: try again.
                    run.check_interrupt_now()?;
                    continue;
                }
                if self.replace {
                    if self.replace_conflict(table, index, p, run)? {
                        return Ok(());
                    }
                    continue;
                }
                p.give_back();
                return self.update_conflict(table, p, run);
            }
            p.give_back();
            run.row_stands();
            p.duplicates += 1;
            let e = self.writer.duplicate(table, index, run);
            run.warn(e.code, e.message);
            return Ok(());
        }
    }

    /// REPLACE: takes away the row that is in the way, in slot 0. True: it is as the new one, and stays. Error 3059.
    fn replace_conflict(&mut self, table: &Table, index: usize, p: &mut Progress, run: &Run<'_>) -> Result<bool> {
        let at = Scope::new(&self.frame, None);
        if let Some(visible) = &self.visible
            && visible.eval_bool(run, at)? != Some(true)
        {
            return Err(err!(ER_REPLACE_INACCESSIBLE_ROWS));
        }
        let slot = &self.frame.slots[0];
        // With no other key that may be in the way it is an update, which changes nothing here; engines but InnoDB do not
        // look, and say that they did.
        let last = table.engine.is_transactional() && !table.indexes[index + 1..].iter().any(|i| i.unique);
        let bound = self.rules.as_ref().is_some_and(|r| r.has_children() || r.fires_at_delete());
        let mut whole = Vec::new();
        if last
            && !bound
            && slot.key == self.writer.key
            && long::inside(&run.tx.borrow(), table, &slot.bytes, &mut whole)? == self.writer.row
        {
            p.affected += 1;
            p.copied += 1;
            return Ok(true);
        }
        p.duplicates += 1;
        if let Some(rules) = &self.rules {
            rules.before_delete(&slot.bytes, run)?;
        }
        let slot = &mut self.frame.slots[0];
        if read_anew(table, &slot.key, &mut slot.bytes, run)? {
            let mut tx = run.tx.borrow_mut();
            self.writer.delete(table, &mut tx, &slot.key, &slot.bytes).map_err(Refused::locked)?;
        }
        if let Some(rules) = &mut self.rules {
            rules.deleted(&slot.bytes, run)?;
        }
        p.affected += 1;
        Ok(false)
    }

    /// Gives the encoded row the AUTO_INCREMENT value behind those of the rows that are like it in the index's parts before. Error 1467.
    #[cold]
    fn count_in_group(&mut self, table: &Table, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        let c = table.columns.iter().position(|c| c.auto_increment).expect("it is counted");
        let at = |i: &Index| i.parts.iter().position(|part| part.column == c);
        let found = table.indexes.iter().find_map(|i| Some((i, at(i)?)));
        let (index, at) = found.expect("an index counts the AUTO_INCREMENT column (1075)");
        let mut lower = Vec::new();
        for part in &index.parts[..at] {
            key::encode_part(&mut lower, &part.key, &write::column(table, &self.writer.row, part.column));
        }
        let mut upper = lower.clone();
        let bounded = key::successor(&mut upper);
        let range = Range {
            lower: Bound::Included(&lower[..]),
            upper: if bounded { Bound::Excluded(&upper[..]) } else { Bound::Unbounded },
        };
        let mut cursor = Cursor::new(index.tree, range, Direction::Backward, LOCKING, 1);
        let greatest = match cursor.next(&mut run.tx.borrow_mut()).map_err(|e| run.engine_error(e))? {
            Some(entry) => {
                let value = key::decode_part(&mut &entry.key[lower.len()..], &index.parts[at].key);
                let corrupt = || engine::Error::Corrupt(format!("key of index {}", index.name));
                value.ok_or_else(|| run.engine_error(corrupt()))?.to_i64().cast_unsigned()
            }
            None => 0,
        };
        let data_type = &table.columns[c].data_type;
        let greatest = if !data_type.unsigned && greatest.cast_signed() < 0 { 0 } else { greatest };
        let (step, offset) = run.env.borrow().auto_increment_step();
        let steps = greatest.saturating_sub(offset.wrapping_sub(1)).div_ceil(step);
        let value = offset.saturating_add(steps.saturating_mul(step));
        if value > data_type.integer_bounds().1 {
            return Err(err!(ER_AUTOINC_READ_FAILED));
        }
        let of_type = if data_type.unsigned { Value::UInt(value) } else { Value::Int(value.cast_signed()) };
        let (row, key) = (std::mem::take(&mut self.writer.row), std::mem::take(&mut self.writer.key));
        let rekey = table.indexes[0].parts.iter().any(|part| part.column == c);
        self.writer.change(&run.tx.borrow(), table, (&row, &key), &[c], &[of_type], rekey)?;
        (p.generated, p.last_value) = (value, value);
        Ok(())
    }

    /// Reads and locks the row that has the encoded row's key in `index`, into slot 0.
    fn find_conflict(&mut self, table: &Table, index: usize, run: &Run<'_>) -> Result<bool> {
        observe::increment(Counter::HandlerReadKey);
        let mut tx = run.tx.borrow_mut();
        let slot = &mut self.frame.slots[0];
        slot.present = true;
        slot.key.clear();
        if index == 0 {
            slot.key.extend_from_slice(&self.writer.key);
        } else {
            self.probe.clear();
            match table.indexes[index].array_part {
                None => _ = write::index_parts(&mut self.probe, table, index, &self.writer.row),
                Some(_) => self.probe.extend_from_slice(&self.writer.refused),
            }
            let mut upper = self.probe.clone();
            let bounded = key::successor(&mut upper);
            let range = Range {
                lower: Bound::Included(&self.probe[..]),
                upper: if bounded { Bound::Excluded(&upper[..]) } else { Bound::Unbounded },
            };
            let mut cursor = Cursor::new(table.indexes[index].tree, range, Direction::Forward, LOCKING, 1);
            cursor.set_extent(Extent::Unique);
            match cursor.next(&mut tx).map_err(|e| run.engine_error(e))? {
                Some(entry) => slot.key.extend_from_slice(&entry.key[self.probe.len()..]),
                None => return Ok(false),
            }
        }
        tx.get(table.indexes[0].tree, &slot.key, LOCKING, &mut slot.bytes).map_err(|e| run.engine_error(e))
    }

    /// ON DUPLICATE KEY UPDATE of the row in slot 0.
    fn update_conflict(&mut self, table: &Table, p: &mut Progress, run: &Run<'_>) -> Result<()> {
        run.row_stands();
        let new = &mut self.frame.slots[1];
        new.bytes.clear();
        new.bytes.extend_from_slice(&self.writer.row);
        new.present = true;
        let assigner = self.on_duplicate.as_mut().expect("called for ON DUPLICATE KEY UPDATE");
        // One row is changed at a time: NULL is no value for it, as in an INSERT of one row.
        let how = Strictness { null_is_error: p.how.null_is_error || (p.from_query && !self.ignore), ..p.how };
        match assigner.apply(table, &mut self.frame, &mut self.writer, p.row, how, run) {
            // The row stays as it is.
            Err(e) if self.ignore && is_ignorable(&e) => {
                run.warn(e.code, e.message);
                return Ok(());
            }
            is_there => {
                if !is_there? {
                    p.unchanged += 1;
                    return Ok(());
                }
            }
        }
        let slot = &self.frame.slots[0];
        let savepoint = row_savepoint(true, table, run, &run.tx.borrow()).expect("it is wanted");
        let written = {
            let mut tx = run.tx.borrow_mut();
            let written = self.writer.update(table, &mut tx, &slot.key, &slot.bytes, &assigner.touched);
            if written.is_err() {
                tx.rollback_to(savepoint).map_err(error::during_rollback)?;
            }
            written
        };
        match written {
            Ok(true) => {
                assigner.count(table, &self.writer, run)?;
                let followed = match &mut self.rules {
                    Some(rules) => rules.updated(&slot.bytes, &self.writer.row, run),
                    None => Ok(()),
                };
                match followed {
                    Err(e) if self.ignore && is_ignorable(&e) => {
                        run.tx.borrow_mut().rollback_to(savepoint).map_err(error::during_rollback)?;
                        run.warn(e.code, e.message);
                        return Ok(());
                    }
                    followed => followed?,
                }
                p.affected += 2;
                p.copied += 1;
                p.duplicates += 1;
            }
            Ok(false) => {
                if let Some(rules) = &self.rules {
                    rules.unchanged(&slot.bytes, &self.writer.row, run)?;
                }
                p.unchanged += 1;
            }
            Err(Refused::Duplicate(i)) => {
                let e = assigner.refused(table, &slot.bytes, &self.writer, i, run)?;
                if !self.ignore {
                    return Err(e);
                }
                run.warn(e.code, e.message);
            }
            Err(refused) => return Err(refused.locked()),
        }
        run.row_stands();
        if let Some(c) = table.columns.iter().position(|c| c.auto_increment) {
            let tx = run.tx.borrow();
            let value = long::column(&tx, table, &self.writer.row, c)?;
            p.last_value = if table.columns[c].data_type.unsigned { value.to_u64() } else { value.to_i64() as u64 };
        }
        Ok(())
    }
}

impl Progress {
    pub(super) fn start_row(&mut self, table: &Table, run: &Run<'_>) {
        self.row += 1;
        if self.row == 2 && !table.engine.is_transactional() && !run.evaluation.sql_mode.has(SqlMode::STRICT_ALL_TABLES)
        {
            // The first row stays whatever becomes of the others, so only that one may end the statement.
            self.how = Strictness { null_is_error: false, ..Strictness::new(run, true, false) };
            run.evaluation.strict.set(false);
        }
        (self.generated, self.given) = (0, 0);
        self.nulls.clear();
        (self.counts_in_group, self.counts_on_write) = (false, false);
    }

    /// The row at hand was inserted with a value that was given: generated ones go on behind it.
    #[cold]
    fn skip_given(&mut self, table: &Table, run: &Run<'_>) -> Result<()> {
        let (next, left, step) = self.reserved;
        if left > 0 && self.given >= next {
            let passed = ((self.given - next) / step + 1).min(left);
            self.reserved = (next.saturating_add(passed.saturating_mul(step)), left - passed, step);
        }
        observe(table, self.given, run)
    }

    /// The row was not inserted: the next one gets the value that was generated for it.
    fn give_back(&mut self) {
        if self.generated != 0 && !self.counts_in_group && !self.counts_on_write {
            let (_, left, step) = self.reserved;
            self.reserved = (self.generated, left + 1, step);
            self.generated = 0;
        }
    }
}

/// The outputs of a query that are dates, with their names.
fn dates_of(q: &node::QueryPlan) -> Vec<(usize, DataType, String)> {
    let is_date = |kind| matches!(kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
    let outputs = q.outputs.iter().zip(&q.columns).enumerate();
    outputs.filter(|(_, (e, _))| is_date(e.ty.kind)).map(|(n, (e, meta))| (n, e.ty, meta.name.clone())).collect()
}

/// What stands in for NULL in a column that cannot be: zero, with a warning once a statement. The AUTO_INCREMENT column's is left
/// to [`number`]. Error 1048.
#[cold]
fn replace_null<'v>(table: &Table, c: usize, p: &mut Progress, run: &Run<'_>) -> Result<Value<'v>> {
    if table.columns[c].auto_increment {
        return Ok(Value::Null);
    }
    if p.defers_nulls {
        p.nulls.push(c);
        return Ok(store::implicit_default(&table.columns[c].data_type));
    }
    let told = p.nulls_told.contains(&c);
    if !told {
        p.nulls_told.push(c);
    }
    store::null_value(&table.columns[c], told, p.how, run)
}

/// The values of columns that none were given for.
fn absent_values<'v>(
    table: &'v Table,
    absent_columns: &[usize],
    values: &mut [Value<'v>],
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<()> {
    for c in absent_columns {
        values[*c] = absent(table, *c, p, run)?;
    }
    Ok(())
}

/// Encodes a row and completes it by the table's rules; the AUTO_INCREMENT column comes last, so that a row which fails before
/// leaves no gap. False: it breaks a rule, which IGNORE makes a warning.
#[expect(clippy::too_many_arguments, reason = "the last step of two ways to insert")]
pub(super) fn finish<'v>(
    table: &Table,
    counted: Option<usize>,
    rules: &mut Option<RuleSet>,
    writer: &mut RowWriter,
    values: &mut [Value<'v>],
    absent: &dyn Fn(usize) -> bool,
    ignore: bool,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<bool> {
    let Some(c) = counted else {
        writer.encode(table, values);
        return complete(rules, writer, absent, ignore, p, run);
    };
    if rules.is_none() {
        values[c] = number(table, std::mem::replace(&mut values[c], Value::Null), c, p, run)?;
        writer.encode(table, values);
        return Ok(true);
    }
    let given = std::mem::replace(&mut values[c], store::implicit_default(&table.columns[c].data_type));
    if !given.is_null() {
        values[c] = expr::reborrow(&given).into_owned();
    }
    writer.encode(table, values);
    if !complete(rules, writer, absent, ignore, p, run)? {
        // Also a refused row's value is told as the last one.
        p.last_value = if given.is_null() { 0 } else { given.to_i64().cast_unsigned() };
        return Ok(false);
    }
    let given = p.set_number.take().unwrap_or(given);
    let value = number(table, given, c, p, run)?;
    let (row, key) = (std::mem::take(&mut writer.row), std::mem::take(&mut writer.key));
    let rekey = table.indexes[0].parts.iter().any(|p| p.column == c);
    writer.change(&run.tx.borrow(), table, (&row, &key), &[c], &[value], rekey)?;
    Ok(true)
}

/// Completes the encoded row by the table's rules. False: it breaks one, which IGNORE makes a warning.
pub(super) fn complete(
    rules: &mut Option<RuleSet>,
    writer: &mut RowWriter,
    absent: &dyn Fn(usize) -> bool,
    ignore: bool,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<bool> {
    let Some(rules) = rules else { return Ok(true) };
    let completed = match p.defers_nulls {
        true => triggers::before_insert(rules, writer, absent, p, run)
            .and_then(|()| rules.complete(writer, &|_| false, p.row, p.how, run)),
        false => rules.complete(writer, absent, p.row, p.how, run),
    };
    match completed {
        Err(e) if ignore && is_ignorable(&e) => {
            run.warn(e.code, e.message);
            p.refused += 1;
            Ok(false)
        }
        result => result.map(|()| true),
    }
}

/// The value of a column that none was given for.
pub(super) fn absent<'v>(table: &'v Table, i: usize, p: &mut Progress, run: &Run<'_>) -> Result<Value<'v>> {
    let c = &table.columns[i];
    if c.auto_increment {
        return auto_increment(table, Value::Null, &DataType::new(TypeKind::Null), i, p, run);
    }
    if c.is_row_id() {
        let ids = table.row_ids.as_ref().expect("a table with a hidden key has a row id counter");
        let id = ids.reserve(run.env.borrow().engine(), 1, 1, 1, u64::MAX).map_err(error::engine)?;
        let id = id.ok_or_else(|| err!(ER_AUTOINC_READ_FAILED))?;
        return Ok(if c.data_type.unsigned { Value::UInt(id) } else { Value::Int(id as i64) });
    }
    if matches!(c.default, catalog::ColumnDefault::None)
        && c.generated.is_none()
        && (c.data_type.kind != TypeKind::Enum || c.data_type.nullable)
        && let Some(view) = &*run.target_view.borrow()
    {
        let e = err!(ER_NO_DEFAULT_FOR_VIEW_FIELD, view.0, view.1);
        if !p.how.lenient {
            return Err(e);
        }
        if p.row <= 1 {
            run.warn(e.code, e.message);
        }
        return Ok(store::implicit_default(&c.data_type));
    }
    let lacks = matches!(c.default, catalog::ColumnDefault::None) && c.generated.is_none();
    if p.defers_nulls && lacks && !c.data_type.nullable {
        p.nulls.push(i);
        return Ok(store::placeholder(&c.data_type));
    }
    // What lacks a default is told once a statement.
    if p.row > 1 && p.how.lenient && lacks {
        return Ok(store::placeholder(&c.data_type));
    }
    store::default_value(c, p.how, run)
}
