//! Rows of a JSON_TABLE: made anew from its document whenever it is opened.

use crate::{Frame, Op, Run, Scope, tuple};
use expr::document::{document, parse_text};
use expr::{Execution, convert};
use observe::Counter;
use plan::node::json_table::{Column, JsonTable, Level, Response, What};
use types::error::*;
use types::json::Json;
use types::sql_mode::SqlMode;
use types::store::{StoreContext, coerce_for_store};
use types::{CollationId, DataType, Result, TypeKind, Value, err};

/// JSON_TABLE: rows of a document.
pub struct JsonTableOp {
    pub table: JsonTable,
    /// The rows, one behind the other, and where each ends.
    rows: Vec<u8>,
    ends: Vec<usize>,
    next: usize,
}

impl JsonTableOp {
    /// Made of its plan.
    pub fn new(table: JsonTable) -> JsonTableOp {
        JsonTableOp { table, rows: Vec::new(), ends: Vec::new(), next: 0 }
    }

    /// The rows of a level: of each element that its path leads to.
    fn level(&mut self, run: &Run<'_>, level: &Level, doc: &Json, row: &mut Vec<Value<'static>>) -> Result<bool> {
        let found = level.path.seek(doc)?;
        for (number, element) in found.iter().enumerate() {
            for column in &level.columns {
                row[column.at] = value(run, column, element, number as u64 + 1)?;
            }
            // Each level within in turn; the columns of the others are NULL meanwhile.
            let mut any = false;
            for nested in &level.nested {
                any |= self.level(run, nested, element, row)?;
                clear(nested, row);
            }
            if !any {
                self.emit(run, row)?;
            }
        }
        Ok(!found.is_empty())
    }

    fn emit(&mut self, run: &Run<'_>, row: &[Value<'static>]) -> Result<()> {
        let mut w = tuple::Writer::new(&mut self.rows, row.len());
        row.iter().for_each(|v| w.push(v));
        w.finish();
        self.ends.push(self.rows.len());
        observe::increment(Counter::HandlerWrite);
        run.check_interrupt()?;
        run.check_growth(self.rows.len())
    }
}

fn clear(level: &Level, row: &mut [Value<'static>]) {
    level.columns.iter().for_each(|c| row[c.at] = Value::Null);
    level.nested.iter().for_each(|n| clear(n, row));
}

impl Op for JsonTableOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.ends.clear();
        self.next = 0;
        observe::increment(Counter::CreatedTmpTables);
        let doc = match self.table.doc.eval(run, Scope::new(frame, outer))? {
            Value::Null => return Ok(()),
            Value::Bytes(text) => parse_text(&text, 0, "json_table")?,
            v @ Value::Json(_) => document(&v)?,
            _ => return Err(err!(ER_INVALID_TYPE_FOR_JSON, 1, "json_table")),
        };
        let mut row = vec![Value::Null; self.table.width];
        let top = std::mem::replace(&mut self.table.top, Level::empty());
        let made = self.level(run, &top, &doc, &mut row);
        self.table.top = top;
        made.map(drop)
    }

    fn next(&mut self, _run: &Run<'_>, frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<bool> {
        observe::increment(Counter::HandlerReadRndNext);
        let slot = &mut frame.slots[self.table.slot];
        let Some(end) = self.ends.get(self.next) else {
            slot.present = false;
            return Ok(false);
        };
        let start = self.next.checked_sub(1).map_or(0, |before| self.ends[before]);
        slot.bytes.clear();
        slot.bytes.extend_from_slice(&self.rows[start..*end]);
        slot.present = true;
        self.next += 1;
        Ok(true)
    }

    fn forget(&mut self) {}
}

/// A column's value for one element.
fn value(run: &Run<'_>, column: &Column, element: &Json, number: u64) -> Result<Value<'static>> {
    let (path, on_empty, on_error) = match &column.what {
        What::Ordinality => return Ok(Value::Int(number as i64)),
        What::Exists(path) => return stored(run, column, &Json::Int(!path.seek(element)?.is_empty() as i64)),
        What::Value { path, on_empty, on_error } => (path, on_empty, on_error),
    };
    let found = path.seek(element)?;
    let result = match &found[..] {
        [] => match on_empty {
            Response::Null => return Ok(Value::Null),
            Response::Error => return Err(err!(ER_MISSING_JSON_TABLE_VALUE, column.name)),
            Response::Default(json) => return stored(run, column, json),
        },
        [one] => stored(run, column, one),
        many if column.data_type.kind == TypeKind::Json => {
            return Ok(Value::from_json(&Json::Array(many.iter().map(|j| (*j).clone()).collect())));
        }
        _ => Err(err!(ER_WRONG_JSON_TABLE_VALUE, column.name)),
    };
    match (result, on_error) {
        (Ok(v), _) => Ok(v),
        (Err(_), Response::Null) => Ok(Value::Null),
        (Err(e), Response::Error) => Err(e),
        (Err(_), Response::Default(json)) => stored(run, column, json),
    }
}

/// A part of a document as the column's type holds it. Errors 3156, 3666 and 3669.
fn stored(run: &Run<'_>, column: &Column, json: &Json) -> Result<Value<'static>> {
    let ty = &column.data_type;
    if ty.kind == TypeKind::Json {
        return Ok(match json {
            Json::Null => Value::Null,
            json => Value::from_json(json),
        });
    }
    if matches!(json, Json::Array(_) | Json::Object(_)) {
        return Err(err!(ER_WRONG_JSON_TABLE_VALUE, column.name));
    }
    let mut v = json.clone().into_scalar();
    let mut source = convert::type_of(&v);
    if (ty.kind.is_text() || ty.kind.is_bytes()) && !v.is_null() {
        let mut text = Vec::new();
        json.write_unquoted(&mut text);
        source = DataType::string(TypeKind::VarChar, text.len() as u32, CollationId::UTF8MB4_BIN);
        v = Value::Bytes(text.into());
    }
    let is_text = matches!(v, Value::Bytes(_));
    if let (Value::Time(_), TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp) = (&v, ty.kind) {
        v = convert::datetime(&v, run).map_or(Value::Null, Value::DateTime);
    }
    let mode = SqlMode::STRICT_ALL_TABLES;
    let context = StoreContext { mode, column: &column.name, row: 1, members: &[] };
    match coerce_for_store(v, &source, ty, &context) {
        Ok((v, warning)) => {
            if let Some(w) = warning {
                run.evaluation.warnings.set(run.evaluation.warnings.get() + 1);
                run.env.borrow_mut().warn(w.level.name(), w.code, w.message);
            }
            Ok(v.into_owned())
        }
        Err(e) if e.code != ER_WARN_DATA_OUT_OF_RANGE && is_text && ty.kind.is_numeric() => {
            let kind = match ty.kind {
                TypeKind::Decimal => "DECIMAL",
                TypeKind::Float | TypeKind::Double => "DOUBLE",
                _ => "INTEGER",
            };
            Err(err!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", column.name, 1))
        }
        Err(_) => Err(err!(ER_JT_VALUE_OUT_OF_RANGE, column.name)),
    }
}
