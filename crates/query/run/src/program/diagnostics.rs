//! Conditions: what SIGNAL raises, and what GET DIAGNOSTICS tells of them.

use super::handlers::{is_not_found, is_warning};
use sql::ast::{Condition as Wanted, ConditionItem};
use types::codes::*;
use types::{CollationId, DataType, Result, SqlError, TypeKind, Value, err};

/// One line of SHOW WARNINGS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Note, Warning, Error.
    pub level: &'static str,
    pub code: u16,
    pub sqlstate: [u8; 5],
    pub message: String,
    /// What SIGNAL said of it.
    pub items: Option<Box<ConditionItems>>,
}

/// What SIGNAL can say beside number, SQLSTATE and message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionItems {
    pub class_origin: String,
    pub subclass_origin: String,
    pub constraint_catalog: String,
    pub constraint_schema: String,
    pub constraint_name: String,
    pub catalog_name: String,
    pub schema_name: String,
    pub table_name: String,
    pub column_name: String,
    pub cursor_name: String,
}

impl Condition {
    /// A condition without items of its own.
    pub fn new(level: &'static str, code: u16, message: String) -> Condition {
        Condition { level, code, sqlstate: types::error::sqlstate(code), message, items: None }
    }

    /// What an error is, as a condition.
    pub fn of_error(error: &SqlError) -> Condition {
        let SqlError { code, sqlstate, message } = error.clone();
        Condition { level: "Error", code, sqlstate, message, items: None }
    }

    /// The condition as an error.
    pub fn error(&self) -> SqlError {
        SqlError { code: self.code, sqlstate: self.sqlstate, message: self.message.clone() }
    }

    /// Is it what tells of this error?
    pub fn is_of(&self, error: &SqlError) -> bool {
        self.is_error() && self.code == error.code && self.message == error.message
    }

    /// Is it an error, and not a warning or note?
    pub fn is_error(&self) -> bool {
        self.level == "Error"
    }

    /// What SIGNAL SQLSTATE raises before its items are looked at.
    pub fn signalled(wanted: &Wanted) -> Condition {
        let sqlstate = match wanted {
            Wanted::State(state) => *state,
            _ => *b"45000",
        };
        let (level, code) = match &sqlstate {
            state if is_warning(state) => ("Warning", ER_SIGNAL_WARN),
            state if is_not_found(state) => ("Error", ER_SIGNAL_NOT_FOUND),
            _ => ("Error", ER_SIGNAL_EXCEPTION),
        };
        Condition { level, code, sqlstate, message: err!(code).message, items: Some(Box::default()) }
    }

    /// SET item = value. Errors 1231, 1648; `lenient`: a text that is too long is cut off, which is to be warned of (1647).
    pub fn set(
        &mut self,
        item: ConditionItem,
        value: &Value<'_>,
        ty: &DataType,
        lenient: bool,
    ) -> Result<Option<SqlError>> {
        use ConditionItem as I;
        let name = name_of(item);
        if value.is_null() {
            return Err(err!(ER_WRONG_VALUE_FOR_VAR, name, "NULL"));
        }
        let mut text = String::from_utf8_lossy(&expr::convert::text(value, ty)).into_owned();
        if item == I::MysqlErrno {
            let number = match value {
                // A literal in hexadecimal digits or bits, which is a number here.
                Value::Bytes(b) if ty.kind == TypeKind::VarBinary && ty.unsigned => {
                    b.iter().fold(0, |n: i64, byte| n.saturating_mul(256).saturating_add(i64::from(*byte)))
                }
                value => value.to_i64(),
            };
            self.code = match number {
                n @ 1..=65535 => n as u16,
                _ => return Err(err!(ER_WRONG_VALUE_FOR_VAR, name, text)),
            };
            return Ok(None);
        }
        let limit = if item == I::MessageText { 128 } else { 64 };
        let mut told = None;
        if let Some((end, _)) = text.char_indices().nth(limit) {
            if !lenient {
                return Err(err!(ER_COND_ITEM_TOO_LONG, name));
            }
            text.truncate(end);
            told = Some(err!(WARN_COND_ITEM_TRUNCATED, name));
        }
        let items = self.items.get_or_insert_default();
        match item {
            I::MessageText => self.message = text,
            I::ClassOrigin => items.class_origin = text,
            I::SubclassOrigin => items.subclass_origin = text,
            I::ConstraintCatalog => items.constraint_catalog = text,
            I::ConstraintSchema => items.constraint_schema = text,
            I::ConstraintName => items.constraint_name = text,
            I::CatalogName => items.catalog_name = text,
            I::SchemaName => items.schema_name = text,
            I::TableName => items.table_name = text,
            I::ColumnName => items.column_name = text,
            I::CursorName => items.cursor_name = text,
            I::MysqlErrno | I::ReturnedSqlstate => {}
        }
        Ok(told)
    }

    /// GET DIAGNOSTICS CONDITION.
    pub fn get(&self, item: ConditionItem) -> (Value<'static>, DataType) {
        use ConditionItem as I;
        let items = self.items.as_deref();
        let of = |get: fn(&ConditionItems) -> &String| items.map(get).cloned().unwrap_or_default();
        // Standard classes are ISO's, with all that is in them.
        let is_standard = matches!(self.sqlstate[0], b'0'..=b'4' | b'A'..=b'H');
        let origin = || if is_standard { "ISO 9075" } else { "MySQL" }.to_string();
        text_value(match item {
            I::MysqlErrno => return (Value::UInt(self.code.into()), DataType::new(TypeKind::BigInt).unsigned()),
            I::MessageText => self.message.clone(),
            I::ReturnedSqlstate => String::from_utf8_lossy(&self.sqlstate).into_owned(),
            I::ClassOrigin => items.map_or_else(origin, |i| i.class_origin.clone()),
            I::SubclassOrigin => items.map_or_else(origin, |i| i.subclass_origin.clone()),
            I::ConstraintCatalog => of(|i| &i.constraint_catalog),
            I::ConstraintSchema => of(|i| &i.constraint_schema),
            I::ConstraintName => of(|i| &i.constraint_name),
            I::CatalogName => of(|i| &i.catalog_name),
            I::SchemaName => of(|i| &i.schema_name),
            I::TableName => of(|i| &i.table_name),
            I::ColumnName => of(|i| &i.column_name),
            I::CursorName => of(|i| &i.cursor_name),
        })
    }
}

fn text_value(text: String) -> (Value<'static>, DataType) {
    let length = text.chars().count() as u32;
    let ty = DataType::string(TypeKind::VarChar, length, CollationId::UTF8MB4_0900_AI_CI);
    (Value::Bytes(text.into_bytes().into()), ty)
}

fn name_of(item: ConditionItem) -> &'static str {
    use ConditionItem as I;
    match item {
        I::ClassOrigin => "CLASS_ORIGIN",
        I::SubclassOrigin => "SUBCLASS_ORIGIN",
        I::ConstraintCatalog => "CONSTRAINT_CATALOG",
        I::ConstraintSchema => "CONSTRAINT_SCHEMA",
        I::ConstraintName => "CONSTRAINT_NAME",
        I::CatalogName => "CATALOG_NAME",
        I::SchemaName => "SCHEMA_NAME",
        I::TableName => "TABLE_NAME",
        I::ColumnName => "COLUMN_NAME",
        I::CursorName => "CURSOR_NAME",
        I::MessageText => "MESSAGE_TEXT",
        I::MysqlErrno => "MYSQL_ERRNO",
        I::ReturnedSqlstate => "RETURNED_SQLSTATE",
    }
}
