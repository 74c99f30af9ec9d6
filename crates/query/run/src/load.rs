//! LOAD DATA: rows from the lines of a file.

use super::fields::{FieldEnd, FieldReader};
use super::insert::{InsertStatement, Progress, absent, auto_increment, complete, finish};
use super::{Run, Scope};
use catalog::{ColumnDefault, Table};
use expr::Execution;
use expr::Strictness;
use expr::convert;
use expr::store;
use plan::node::{Assigned, FieldTarget, FileSource};
use std::io;
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

fn unreadable(e: io::Error) -> SqlError {
    SqlError::new(EE_READ, format!("Error reading file (OS errno {} - {e})", e.raw_os_error().unwrap_or(0)))
}

/// An error in strict mode, else a warning.
fn complain(e: SqlError, how: Strictness, run: &Run<'_>) -> Result<()> {
    if how.lenient {
        run.warn(e.code, e.message);
        return Ok(());
    }
    Err(e)
}

/// The fields of a line, as they are read or cut out of it.
enum Line<'s> {
    Separated {
        source: &'s FileSource,
        end: FieldEnd,
    },
    /// The line stands in the caller's buffer.
    Fixed {
        widths: &'s [usize],
        at: usize,
        /// It has ended, within the widths.
        is_whole: bool,
    },
}

impl<'s> Line<'s> {
    fn new(source: &'s FileSource, reader: &mut FieldReader, buffer: &mut Vec<u8>) -> Result<Line<'s>> {
        if source.widths.is_empty() {
            return Ok(Line::Separated { source, end: FieldEnd::Field });
        }
        let width = source.widths.iter().fold(0_usize, |sum, width| sum.saturating_add(*width));
        let is_whole = reader.fixed_line(width, buffer).map_err(unreadable)?;
        Ok(Line::Fixed { widths: &source.widths, at: 0, is_whole })
    }

    /// The next field; `None`: the line has ended before. Error 1300.
    fn next<'b>(&mut self, reader: &mut FieldReader, buffer: &'b mut Vec<u8>) -> Result<Option<Value<'b>>> {
        match self {
            Line::Separated { end: FieldEnd::Line, .. } => Ok(None),
            Line::Separated { source, end } => {
                let null;
                (null, *end) = reader.field(buffer).map_err(unreadable)?;
                // In a set of single bytes the file is read on: what is none of its characters a column says.
                let valid = source.charset.valid_up_to(buffer);
                if valid < buffer.len() && !source.charset.is_single_byte() {
                    return Err(err!(
                        ER_INVALID_CHARACTER_STRING,
                        source.charset.name(),
                        String::from_utf8_lossy(&buffer[..valid])
                    ));
                }
                Ok(Some(if null { Value::Null } else { Value::Bytes(buffer.as_slice().into()) }))
            }
            Line::Fixed { widths, at, .. } => {
                let (width, rest) = widths.split_first().expect("there are as many widths as fields");
                let field = &buffer[*at..];
                let field = &field[..field.len().min(*width)];
                (*widths, *at) = (rest, *at + field.len());
                // Borders may cut characters: the column says so.
                Ok((!field.is_empty()).then(|| Value::Bytes(field.into())))
            }
        }
    }

    fn is_fixed(&self) -> bool {
        matches!(self, Line::Fixed { .. })
    }

    /// Steps behind the end of the line. True: there was more.
    fn rest(&mut self, reader: &mut FieldReader, buffer: &mut Vec<u8>) -> Result<bool> {
        match self {
            Line::Separated { end, .. } => {
                let more = *end == FieldEnd::Field;
                while *end == FieldEnd::Field {
                    *end = reader.field(buffer).map_err(unreadable)?.1;
                }
                Ok(more)
            }
            Line::Fixed { is_whole: true, .. } => Ok(false),
            Line::Fixed { .. } => reader.rest_of_line().map_err(unreadable),
        }
    }
}

impl InsertStatement {
    pub(super) fn insert_file(
        &mut self,
        table: &Table,
        source: &FileSource,
        p: &mut Progress,
        run: &Run<'_>,
    ) -> Result<()> {
        let file = run.env.borrow_mut().take_file();
        let file = file.ok_or_else(|| SqlError::new(EE_FILENOTFOUND, "File not found: it is not open"))?;
        let mut reader = FieldReader::new(file, source.format.clone());
        for _ in 0..source.ignore_lines {
            if !reader.skip_line().map_err(unreadable)? {
                return Ok(());
            }
        }
        let mut field = Vec::new();
        while reader.start_line().map_err(unreadable)? {
            run.check_interrupt()?;
            p.start_row(table, run);
            self.insert_line(table, source, &mut reader, &mut field, p, run)?;
        }
        Ok(())
    }

    fn insert_line(
        &mut self,
        table: &Table,
        source: &FileSource,
        reader: &mut FieldReader,
        field: &mut Vec<u8>,
        p: &mut Progress,
        run: &Run<'_>,
    ) -> Result<()> {
        let mut values: Vec<Value<'static>> = Vec::with_capacity(table.columns.len());
        for (i, c) in table.columns.iter().enumerate() {
            values.push(match self.given[i] {
                Some(_) => store::placeholder(&c.data_type),
                // Triggers see that there is no value yet.
                None if p.defers_nulls && c.auto_increment => Value::Null,
                None => absent(table, i, p, run)?.into_owned(),
            });
        }
        let mut line = Line::new(source, reader, field)?;
        // NULL for columns that can not be, unless SET gives them something.
        let mut nulls = Vec::new();
        for target in &source.targets {
            let value = line.next(reader, field)?;
            match target {
                FieldTarget::Variable(name) => {
                    let value = value.map_or(Value::Null, Value::into_owned);
                    run.env.borrow_mut().set_user_variable(name, value, source.data_type);
                }
                FieldTarget::Column(c) => {
                    let column = &table.columns[*c];
                    if value.as_ref().is_some_and(Value::is_null)
                        && !column.data_type.nullable
                        && !column.auto_increment
                    {
                        nulls.push(*c);
                    }
                    if value.as_ref().is_some_and(Value::is_null) && column.auto_increment && p.defers_nulls {
                        // One that is NULL is seen as NULL.
                        nulls.push(*c);
                    }
                    values[*c] = match value {
                        None if line.is_fixed() => missing_fixed(table, *c, source, p, run)?,
                        value => field_value(table, *c, value, source, p, run)?,
                    };
                }
                FieldTarget::Nowhere if value.is_none() => complain(err!(ER_WARN_TOO_FEW_RECORDS, p.row), p.how, run)?,
                FieldTarget::Nowhere => {}
            }
        }
        if line.rest(reader, field)? {
            complain(err!(ER_WARN_TOO_MANY_RECORDS, p.row), p.how, run)?;
        }
        for (c, value) in &source.set {
            nulls.retain(|n| n != c);
            self.show_line(table, &mut values);
            let column = &table.columns[*c];
            values[*c] = match value {
                Assigned::Default => absent(table, *c, p, run)?.into_owned(),
                Assigned::Value(e) => {
                    let v = e.eval(run, Scope::new(&self.frame, None))?.into_owned();
                    match column.auto_increment && !p.defers_nulls {
                        true => auto_increment(table, v, &e.ty, *c, p, run)?,
                        false if column.auto_increment && v.is_null() => Value::Null,
                        false if p.defers_nulls && v.is_null() && !column.data_type.nullable => {
                            nulls.push(*c);
                            store::implicit_default(&column.data_type)
                        }
                        false => store::store(v, &e.ty, column, p.row, p.how, run)?,
                    }
                }
            };
        }
        if p.defers_nulls {
            p.nulls.append(&mut nulls);
        }
        for c in nulls {
            complain(err!(ER_WARN_NULL_TO_NOTNULL, table.columns[c].name, p.row), p.how, run)?;
        }
        self.write_line(table, &mut values, p, run)
    }

    /// What SET reads of the line so far. A number that is still to be generated is 0 there.
    fn show_line(&mut self, table: &Table, values: &mut [Value<'_>]) {
        let missing = self.counted.filter(|c| values[*c].is_null());
        if let Some(c) = missing {
            values[c] = store::implicit_default(&table.columns[c].data_type);
        }
        self.writer.encode(table, values);
        if let Some(c) = missing {
            values[c] = Value::Null;
        }
        self.frame.slots[0].bytes.clone_from(&self.writer.row);
        self.frame.slots[0].present = true;
    }

    fn write_line(&mut self, table: &Table, values: &mut [Value<'_>], p: &mut Progress, run: &Run<'_>) -> Result<()> {
        let given = &self.given;
        let (rules, writer, absent) = (&mut self.rules, &mut self.writer, |c: usize| given[c].is_none());
        let is_complete = match p.defers_nulls {
            true => finish(table, self.counted, rules, writer, values, &absent, self.ignore, p, run)?,
            false => {
                writer.encode(table, values);
                complete(rules, writer, &absent, self.ignore, p, run)?
            }
        };
        if is_complete { self.write(table, p, run) } else { Ok(()) }
    }
}

/// What a column gets whose field is missing in a line of fixed widths: its default, and where that is NULL, what stands for NULL.
/// Error 1261.
fn missing_fixed(
    table: &Table,
    at: usize,
    source: &FileSource,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<Value<'static>> {
    let column = &table.columns[at];
    if column.auto_increment || column.data_type.kind == TypeKind::Timestamp && !column.data_type.nullable {
        return field_value(table, at, None, source, p, run);
    }
    complain(err!(ER_WARN_TOO_FEW_RECORDS, p.row), p.how, run)?;
    match &column.default {
        ColumnDefault::None | ColumnDefault::Value(Value::Null) => Ok(store::implicit_default(&column.data_type)),
        _ => Ok(absent(table, at, p, run)?.into_owned()),
    }
}

/// What a column gets from a field; `None`: the line has ended before. Error 1261.
fn field_value(
    table: &Table,
    at: usize,
    value: Option<Value<'_>>,
    source: &FileSource,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<Value<'static>> {
    let column = &table.columns[at];
    match value {
        None => {
            complain(err!(ER_WARN_TOO_FEW_RECORDS, p.row), p.how, run)?;
            if column.auto_increment {
                return if p.defers_nulls { Ok(Value::Null) } else { Ok(absent(table, at, p, run)?.into_owned()) };
            }
            match &column.default {
                ColumnDefault::None if column.data_type.nullable => Ok(Value::Null),
                ColumnDefault::Value(Value::Null) => Ok(Value::Null),
                _ if column.data_type.kind == TypeKind::Timestamp && !column.data_type.nullable => {
                    let now = convert::now(run, column.data_type.decimals);
                    let source = DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) };
                    store::store(now, &source, column, p.row, p.how, run).map(Value::into_owned)
                }
                // Not its default, which is for columns that the file does not have.
                _ => Ok(store::implicit_default(&column.data_type)),
            }
        }
        Some(value) if column.auto_increment && p.defers_nulls && value.is_null() => Ok(Value::Null),
        Some(value) if column.auto_increment && !p.defers_nulls => {
            auto_increment(table, value, &source.data_type, at, p, run).map(Value::into_owned)
        }
        Some(value) if value.is_null() && !column.data_type.nullable => Ok(store::implicit_default(&column.data_type)),
        Some(value) => store::store(value, &source.data_type, column, p.row, p.how, run).map(Value::into_owned),
    }
}
