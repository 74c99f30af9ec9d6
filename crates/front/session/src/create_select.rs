//! CREATE TABLE ... SELECT: one data definition that makes the table and fills it, so that nothing is left when the query fails.
//!
//! ```text
//!   plan the query -> columns --+-> specification -> [ lock the name, pin the query's tables -> make -> fill -> commit ]
//!   columns of the definition --+                      \-> one of them has changed meanwhile: all over again
//! ```

use crate::beside::rows_read;
use crate::run::REPLANS_MAX;
use crate::session::Session;
use crate::session::plans::pins_of;
use crate::sink::MemorySink;
use catalog::eq_name;
use catalog::{Column, ColumnDefault, Table, TableSpec, Version};
use expr::Env;
use plan::{ColumnMeta, Provenance, TableUse};
use run::{Outcome, Prepared};
use sql::ast::{ColumnDef, CreateTable, KeyDef, Note, OnDuplicate, Parsed, QueryId, TableOptions};
use std::borrow::Cow;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::datatype::DECIMALS_NOT_FIXED;
use types::sql_mode::SqlMode;
use types::{DataType, Date, DateTime, Decimal, Result, Time, TypeKind, Value, err};

/// Characters beyond which MySQL makes the strings of an expression a TEXT.
const VARCHAR_MAX: u32 = 512;
/// Most bytes of a VARCHAR column.
const VARCHAR_BYTES_MAX: u64 = 65_535;

/// The parts of the statement.
#[derive(Clone, Copy)]
pub(crate) struct CreateSelect<'s> {
    pub create: &'s CreateTable,
    pub columns: &'s [ColumnDef],
    pub keys: &'s [KeyDef],
    pub options: &'s TableOptions,
    pub duplicates: OnDuplicate,
    pub query: QueryId,
}

impl Session {
    /// Errors 1050, 1060, 1786, 3978, and those of the definition, the query and the insertion.
    pub(crate) fn create_table_select(&mut self, parsed: &Parsed, of: CreateSelect<'_>) -> Result<Outcome> {
        let (schema, name) = self.object(parsed, of.create.name)?;
        if of.keys.iter().any(|k| matches!(k, KeyDef::ForeignKey(_))) {
            return Err(err!(ER_FOREIGN_KEY_WITH_ATOMIC_CREATE_SELECT));
        }
        for _ in 0..REPLANS_MAX {
            self.state.clear_conditions();
            self.state.note_parsed(parsed);
            if !self.engine_named(parsed, of.options).is_transactional() {
                self.check_gtid_consistency(|| err!(ER_GTID_UNSAFE_CREATE_SELECT))?;
            }
            match self.try_create_select(parsed, of, (&schema, &name)) {
                Err(e) if e.code == ER_NEED_REPREPARE => {}
                other => return other,
            }
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    /// Error 1615: a table of the query was changed by others between planning and locking.
    fn try_create_select(&mut self, parsed: &Parsed, of: CreateSelect<'_>, to: (&str, &str)) -> Result<Outcome> {
        let version = self.dictionary();
        let (values, types) = self.bound_values();
        let collation = version.schema(to.0).ok_or_else(|| err!(ER_BAD_DB_ERROR, to.0))?.default_collation;
        if version.base_table(to.0, to.1).is_some() {
            return Err(err!(ER_TABLE_EXISTS_ERROR, to.1));
        }
        let planned = Prepared::of_query(parsed, of.query, &version, &mut self.state, &types);
        let planned = planned.map_err(|e| self.denied_or(parsed, e))?;
        self.check_rights(&planned)?;
        refuse_exclusive(&planned, to.1)?;
        self.note_hints(&planned);
        let selected = made_columns(&version, planned.columns(), self.state.sql_mode)?;
        let spec = self.table_spec(parsed, to, false, collation, of.columns, &selected, of.keys, of.options)?;
        self.check_new_table(&spec)?;
        let deprecated: Vec<Note> = selected.iter().flat_map(|c| deprecated_attributes(&c.data_type)).collect();
        let ((pins, _), rows) = (pins_of(&planned, &version), rows_read(&planned, &version));
        if planned.tables().iter().any(|t| version.table(&t.schema, &t.table).is_some_and(|t| t.is_virtual())) {
            self.state.inspect = Some(Box::new(self.inspect_context()));
        }
        for note in deprecated {
            self.state.push_warning("Warning", note.warning(parsed));
        }
        self.state.single_statement = false;
        let isolation = self.state.vars.hot().isolation;
        if planned.calls() {
            self.lend_copy();
        }
        let result = self.define_at(isolation, |ddl, state| {
            ddl.lock_to_create(to.0, to.1)?;
            ddl.pin_to_read(&pins, &rows)?;
            let found = |v: &Version, t: &TableUse| v.base_table(&t.schema, &t.table).map(Arc::as_ptr);
            let mut shared = planned.tables().iter().filter(|t| !t.temporary);
            if shared.any(|t| found(&version, t) != found(ddl.version(), t)) {
                return Err(err!(ER_NEED_REPREPARE));
            }
            let table = ddl.create_table(spec)?;
            if state.log_text.is_some() {
                // The table and its rows are one transaction there, too, where its engine can have that.
                let encrypts = ddl.version().schema(to.0).is_some_and(|schema| schema.encrypts);
                let mut text = inspect::create::create_table(&table, encrypts, &state.server.engine)?;
                if table.engine.is_transactional() {
                    text += " START TRANSACTION";
                }
                state.log_statement_in(to.0, ddl.tx(), text.as_bytes())?;
            }
            let columns = positions(&table, &selected);
            let (table, query) = ((&table, columns), of.query);
            let mut prepared = Prepared::filling(parsed, query, table, of.duplicates, &version, state, &types)?;
            prepared.execute(ddl.tx(), &values, state, &mut MemorySink::new(0))
        });
        self.take_back();
        self.state.inspect = None;
        result
    }
}

/// Error 1746: the query locks rows exclusively.
pub(crate) fn refuse_exclusive(planned: &Prepared, made: &str) -> Result<()> {
    match planned.tables().iter().find(|t| t.for_update || (t.by_routine && t.carried)) {
        Some(t) => Err(err!(ER_CANT_UPDATE_TABLE_IN_CREATE_TABLE_SELECT, t.table, made)),
        None => Ok(()),
    }
}

/// Where the query's columns stand in the table made for them.
pub(crate) fn positions(table: &Table, selected: &[Column]) -> Vec<usize> {
    let position = |c: &Column| table.column_position(&c.name).expect("every column of the query is one of the table");
    selected.iter().map(position).collect()
}

/// Columns of the query join those of the definition: what both have stands where the query has it, as the definition has it.
pub(crate) fn join_columns(spec: &mut TableSpec, selected: &[Column]) {
    for column in selected {
        let defined = spec.columns.iter().position(|c| eq_name(&c.name, &column.name));
        let column = match defined {
            Some(at) => spec.columns.remove(at),
            None => column.clone(),
        };
        spec.columns.push(column);
    }
}

/// The columns that a query makes. Error 1060.
pub(crate) fn made_columns(version: &Version, outputs: &[ColumnMeta], mode: SqlMode) -> Result<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::with_capacity(outputs.len());
    for output in outputs {
        if output.name.chars().count() > catalog::NAME_CHARS_MAX {
            return Err(err!(ER_WRONG_COLUMN_NAME, output.name));
        }
        if columns.iter().any(|c| eq_name(&c.name, &output.name)) {
            return Err(err!(ER_DUP_FIELDNAME, output.name));
        }
        columns.push(made_column(version, output, mode));
    }
    Ok(columns)
}

/// What MySQL says of the type of a column that a query makes.
fn deprecated_attributes(t: &DataType) -> impl Iterator<Item = Note> {
    let is_double = matches!(t.kind, TypeKind::Float | TypeKind::Double);
    let digits = (is_double && t.decimals < DECIMALS_NOT_FIXED).then_some(Note::FloatDigits);
    let unsigned = (t.unsigned && (is_double || t.kind == TypeKind::Decimal)).then_some(Note::UnsignedFraction);
    let zerofill = (t.zerofill && t.kind != TypeKind::Year).then_some(Note::Zerofill);
    [digits, unsigned, zerofill].into_iter().flatten()
}

/// The column of MIN or MAX of a column: that one, with NULL.
fn extreme_column(version: &Version, output: &ColumnMeta) -> Option<Column> {
    let of = output.extreme_of.as_deref()?;
    let table = version.table(&of.schema, &of.table)?;
    let column = table.columns.iter().find(|c| eq_name(&c.name, &of.column))?;
    let data_type = DataType { nullable: true, ..column.data_type };
    // Where it had to be given it has no default, though it may be NULL.
    let default = match column.default {
        ColumnDefault::None if !column.data_type.nullable => ColumnDefault::None,
        _ => ColumnDefault::Value(Value::Null),
    };
    Some(Column { data_type, default, members: column.members.clone(), ..Column::new(&output.name, data_type) })
}

fn made_column(version: &Version, output: &ColumnMeta, mode: SqlMode) -> Column {
    let table = version.table(&output.schema, &output.org_table);
    let shown = table.and_then(|t| t.columns.iter().find(|c| eq_name(&c.name, &output.org_name)).map(|c| (t, c)));
    if let Some(column) = extreme_column(version, output) {
        return column;
    }
    let plain = Column::new(&output.name, output.data_type);
    let Some((table, column)) = shown else {
        let data_type = match output.provenance {
            _ if output.flags & plan::KEPT != 0 => kept_type(output.data_type),
            Provenance::Kept if output.data_type.kind == TypeKind::Null => kept_type(output.data_type),
            Provenance::Kept if output.data_type.kind.is_integer() => subquery_type(output.data_type),
            Provenance::Subquery => made_type(subquery_type(output.data_type), false),
            Provenance::Extreme => output.data_type,
            Provenance::ExtremeValue => extreme_type(output.data_type),
            Provenance::Choice => made_type(choice_type(output.data_type), true),
            Provenance::Routine => made_type(routine_type(output.data_type), true),
            _ if output.table.is_empty() => made_type(longest_text(output.data_type), true),
            _ => made_type(output.data_type, false),
        };
        let default = made_default(&data_type, mode);
        return Column { data_type, default, ..plain };
    };
    let members = column.members.clone();
    let from_base = table.is_base();
    let mut data_type = output.data_type;
    // Only computed tables have columns that no row of a stored one has room for.
    if table.is_virtual() && data_type.kind == TypeKind::VarChar && data_type.max_bytes() > VARCHAR_BYTES_MAX {
        data_type = DataType { kind: TypeKind::LongText, length: u32::MAX, ..data_type };
    }
    let default = match &column.default {
        // What stands in a view or is computed has no default but that of its type.
        _ if column.auto_increment || !from_base => made_default(&data_type, mode),
        // Where it must be given it must be given here.
        ColumnDefault::None if output.provenance == Provenance::Merged && !data_type.nullable => ColumnDefault::None,
        _ if output.provenance == Provenance::Merged => made_default(&data_type, mode),
        ColumnDefault::None if column.generated.is_some() && data_type.nullable => ColumnDefault::Value(Value::Null),
        other => other.clone(),
    };
    let comment = if from_base { column.comment.clone() } else { String::new() };
    let on_update_now = column.on_update_now && from_base;
    let explicit_collation = column.explicit_collation && output.provenance == Provenance::Table;
    Column { data_type, default, members, comment, on_update_now, explicit_collation, ..plain }
}

/// The type of a column for what a stored function gives: its long texts are of the longest kind.
fn routine_type(t: DataType) -> DataType {
    match t.kind {
        kind if kind.is_blob() && kind != TypeKind::Json => {
            let kind = if kind.is_text() { TypeKind::LongText } else { TypeKind::LongBlob };
            DataType { kind, length: u32::MAX, ..t }
        }
        TypeKind::Binary => DataType { kind: TypeKind::VarBinary, ..t },
        _ => t,
    }
}

/// The type of a column that holds the column of a set operation or a window, which a temporary table had.
fn kept_type(t: DataType) -> DataType {
    match t.kind {
        TypeKind::Null => DataType::string(TypeKind::VarBinary, 0, CollationId::BINARY),
        TypeKind::Char => t,
        _ => made_type(wider_text(t), false),
    }
}

/// The type of a column that holds the value of a scalar subquery, or an integer of a derived table: MySQL has integers of two
/// sizes then.
fn subquery_type(t: DataType) -> DataType {
    /// Characters from which on an integer is a BIGINT.
    const BIGINT_LENGTH: u32 = 10;
    let kind = match t.kind {
        TypeKind::Year => TypeKind::Int,
        k if k.is_integer() && t.length < BIGINT_LENGTH => TypeKind::Int,
        k if k.is_integer() => TypeKind::BigInt,
        TypeKind::TinyText => {
            return DataType { nullable: t.nullable, ..DataType::string(TypeKind::VarChar, 255, t.collation) };
        }
        _ => return wider_text(t),
    };
    DataType { kind, unsigned: t.unsigned || t.kind == TypeKind::Year, zerofill: false, ..t }
}

/// The type of a column that holds MIN or MAX of an expression: integers are not as small as they could be.
fn extreme_type(t: DataType) -> DataType {
    match t.kind {
        TypeKind::Year => DataType { kind: TypeKind::BigInt, unsigned: true, zerofill: false, ..t },
        kind if kind.is_integer() => DataType { kind: TypeKind::BigInt, zerofill: false, ..t },
        TypeKind::Null => DataType::string(TypeKind::VarBinary, 0, CollationId::BINARY),
        _ => made_type(t, false),
    }
}

/// The type of a column that holds one of several values.
fn choice_type(t: DataType) -> DataType {
    match t.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt => DataType { kind: TypeKind::Int, ..t },
        TypeKind::Binary => DataType { kind: TypeKind::VarBinary, ..t },
        // It is an integer, of as many digits as there are bits.
        TypeKind::Bit => subquery_type(DataType { kind: TypeKind::BigInt, unsigned: true, ..t }),
        _ => longest_text(t),
    }
}

/// The long text that an expression is comes to stand in a column of the longest kind.
fn longest_text(t: DataType) -> DataType {
    let kind = match t.kind {
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText => TypeKind::LongText,
        TypeKind::TinyBlob | TypeKind::Blob | TypeKind::MediumBlob => TypeKind::LongBlob,
        _ => return t,
    };
    DataType { kind, length: u32::MAX, ..t }
}

/// A text as a temporary table keeps it: in a type for as many characters as the type has bytes.
fn wider_text(t: DataType) -> DataType {
    let kind = match t.kind {
        TypeKind::TinyText => TypeKind::Text,
        TypeKind::Text => TypeKind::MediumText,
        TypeKind::MediumText => TypeKind::LongText,
        other => other,
    };
    DataType { kind, ..t }
}

/// The type of a column that holds the values of an expression, or (not `computed`) of a derived table's column.
pub(crate) fn made_type(t: DataType, computed: bool) -> DataType {
    let string = |kind, length| DataType { kind, length, unsigned: false, zerofill: false, ..t };
    match t.kind {
        TypeKind::Null => DataType { nullable: true, ..DataType::string(TypeKind::Binary, 0, CollationId::BINARY) },
        // MySQL has integers of two sizes for what is computed.
        TypeKind::BigInt if computed && t.length <= 11 => DataType { kind: TypeKind::Int, ..t },
        // The members are nobody's.
        TypeKind::Enum | TypeKind::Set => string(TypeKind::VarChar, t.length),
        TypeKind::Char => string(TypeKind::VarChar, t.length),
        TypeKind::VarChar | TypeKind::VarBinary if t.length > VARCHAR_MAX => {
            let text = t.kind == TypeKind::VarChar;
            let bytes = u64::from(t.length) * u64::from(if text { t.collation.charset().mbmaxlen() } else { 1 });
            let kinds = match bytes {
                0..65_536 => (TypeKind::Text, TypeKind::Blob, 65_535),
                65_536..16_777_216 => (TypeKind::MediumText, TypeKind::MediumBlob, 16_777_215),
                _ => (TypeKind::LongText, TypeKind::LongBlob, u32::MAX),
            };
            string(if text { kinds.0 } else { kinds.1 }, kinds.2)
        }
        // GROUP_CONCAT says how long its text may come to be.
        TypeKind::LongText | TypeKind::LongBlob => {
            let bytes = u64::from(t.length) * u64::from(t.collation.charset().mbmaxlen());
            let kind = match (bytes, t.kind) {
                (0, kind) => kind,
                (..65_536, TypeKind::LongText) => TypeKind::Text,
                (..65_536, _) => TypeKind::Blob,
                (..16_777_216, TypeKind::LongText) => TypeKind::MediumText,
                (..16_777_216, _) => TypeKind::MediumBlob,
                (_, kind) => kind,
            };
            string(kind, t.length)
        }
        kind if kind.is_bytes() => string(kind, t.length),
        TypeKind::Year => DataType { zerofill: true, ..t },
        _ => t,
    }
}

/// NULL where that is allowed, else the type's own zero.
pub(crate) fn made_default(t: &DataType, mode: SqlMode) -> ColumnDefault {
    if t.nullable {
        return ColumnDefault::Value(Value::Null);
    }
    let no_zero_date = mode.has(SqlMode::NO_ZERO_DATE);
    ColumnDefault::Value(match t.kind {
        TypeKind::Decimal => {
            let zero = format!("0.{}", "0".repeat(t.decimals.into()));
            Value::Decimal(Decimal::parse(zero.trim_end_matches('.').as_bytes()).0)
        }
        TypeKind::Float | TypeKind::Double => Value::Double(0.0),
        TypeKind::Time => Value::Time(Time::from_micros(0).expect("midnight")),
        TypeKind::Bit | TypeKind::Year => Value::UInt(0),
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp if no_zero_date => return ColumnDefault::None,
        TypeKind::Date => Value::Date(Date::ZERO),
        TypeKind::DateTime | TypeKind::Timestamp => Value::DateTime(DateTime::ZERO),
        kind if kind.is_integer() => {
            if t.unsigned {
                Value::UInt(0)
            } else {
                Value::Int(0)
            }
        }
        kind if kind.is_blob() => return ColumnDefault::None,
        kind if kind.is_bytes() => Value::Bytes(Cow::Borrowed(b"")),
        _ => return ColumnDefault::None,
    })
}
