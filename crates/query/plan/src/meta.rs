//! What clients are told of result columns, and the types that values have in temporary tables.

use super::Planner;
use crate::{ColumnMeta, Extreme, KEPT, Provenance, Told};
use expr::call::AggregateKind;
use expr::{Expr, Node, functions};
use types::TypeKind;

impl Planner<'_> {
    /// What the client is told of an output.
    pub fn meta(&self, name: &str, e: &Expr) -> ColumnMeta {
        let raw = e.raw();
        if let Some((source, column)) = self.merged_column(e)
            && let Some(origin) = &source.columns[column].origin
        {
            let (table, name, told) = (source.name.clone(), name.to_string(), source.told(column, origin, false));
            let provenance = Provenance::Merged;
            return ColumnMeta { table, name, data_type: e.ty, provenance, told, ..(**origin).clone() };
        }
        if let Node::Column { depth: 0, slot, column } = raw
            && let Some(source) = self.current_block().sources.iter().find(|s| s.slot == *slot as usize)
        {
            let column = *column as usize;
            if let Some(table) = &source.table {
                let meta = ColumnMeta {
                    schema: table.schema.clone(),
                    table: source.name.clone(),
                    org_table: table.name.clone(),
                    name: name.to_string(),
                    org_name: table.columns[column].name.clone(),
                    data_type: e.ty,
                    flags: type_flags(&e.ty) | key_flags(table, column),
                    provenance: if source.named == Some(table.id) { Provenance::Table } else { Provenance::Merged },
                    told: None,
                    extreme_of: None,
                };
                let told = source.view.as_ref().and_then(|_| source.told(column, &meta, false));
                return ColumnMeta { told, ..meta };
            }
            if let Some(origin) = &source.columns[column].origin {
                return ColumnMeta {
                    table: source.name.clone(),
                    name: name.to_string(),
                    data_type: e.ty,
                    flags: type_flags(&e.ty) | origin.flags & (NO_DEFAULT_VALUE | KEPT),
                    provenance: if origin.provenance == Provenance::Merged {
                        Provenance::Merged
                    } else {
                        Provenance::Kept
                    },
                    told: source.told(column, origin, true),
                    ..(**origin).clone()
                };
            }
            if source.json_table.is_some() {
                let told = Told {
                    org_table: "json_table".to_string(),
                    computed: false,
                    ..*Told::kept(name).expect("of rows")
                };
                let meta = plain_meta(name, e);
                return ColumnMeta { table: source.name.clone(), told: Some(Box::new(told)), ..meta };
            }
        }
        if let Node::Call(_, args) = raw
            && args.first().is_some_and(|routine| matches!(routine.node, Node::Routine(_)))
        {
            return routine_meta(name, e);
        }
        let provenance = match &e.node {
            Node::Window(_) => return kept_meta(name, e),
            Node::Subquery { .. } => Provenance::Subquery,
            Node::Aggregate(call) if matches!(call.kind, AggregateKind::Min | AggregateKind::Max) => {
                if call.args[0].own_column().is_some() { Provenance::Extreme } else { Provenance::ExtremeValue }
            }
            Node::Case { .. } => Provenance::Choice,
            // IFNULL of BITs is one, too.
            Node::Call(f, _) if f.name == "ifnull" && e.ty.kind == TypeKind::Bit => Provenance::Table,
            Node::Call(f, _) if functions::is_choice(f) => Provenance::Choice,
            _ => Provenance::Table,
        };
        // The value of an ENUM or SET is a string there.
        let is_apart = provenance == Provenance::Subquery || matches!(raw, Node::Local(..));
        if is_apart && matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set) {
            let text = Expr { ty: types::DataType { kind: TypeKind::Char, ..e.ty }, ..Expr::null() };
            return ColumnMeta { provenance, ..plain_meta(name, &text) };
        }
        let extreme_of = match &e.node {
            Node::Aggregate(call) if provenance == Provenance::Extreme => {
                self.table_column(&call.args[0]).map(Box::new)
            }
            _ => None,
        };
        ColumnMeta { provenance, extreme_of, ..plain_meta(name, e) }
    }

    /// The table's column that an expression is, also by way of a derived table or a view.
    fn table_column(&self, e: &Expr) -> Option<Extreme> {
        let of = |m: &ColumnMeta| Extreme {
            schema: m.schema.clone(),
            table: m.org_table.clone(),
            column: m.org_name.clone(),
        };
        let meta = self.meta("", e);
        match meta.extreme_of {
            None if meta.org_table.is_empty() || matches!(e.raw(), Node::Aggregate(_)) => None,
            None => Some(of(&meta)),
            Some(extreme) => Some(*extreme),
        }
    }
}

/// The outputs of a block whose rows go through a temporary table as clients are told of them: but for constants, all are columns
/// of that.
pub fn describe_kept(columns: &mut [ColumnMeta], outputs: &[Expr]) {
    for (meta, _) in columns.iter_mut().zip(outputs).filter(|(_, e)| !e.is_constant()) {
        let stored = match &meta.told {
            Some(told) => told.stored,
            None => !meta.org_table.is_empty() || meta.flags & KEPT != 0,
        };
        if stored {
            meta.flags = type_flags(&meta.data_type) | meta.flags & (NO_DEFAULT_VALUE | KEPT);
        } else {
            meta.told = Told::kept(&meta.name);
            meta.data_type = kept_expression(meta.data_type);
        }
    }
}

/// The type that a column of a temporary table has for the value of an expression: integers are of two sizes, ENUM and SET are texts.
fn kept_expression(ty: types::DataType) -> types::DataType {
    /// Digits of the shortest integers that MySQL keeps as BIGINT.
    const BIGINT_LENGTH: u32 = 10;
    let kind = match ty.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            if ty.length < BIGINT_LENGTH { TypeKind::Int } else { TypeKind::BigInt }
        }
        TypeKind::Enum | TypeKind::Set => TypeKind::VarChar,
        kind => kind,
    };
    // A literal is one no more.
    let unsigned = ty.unsigned && !ty.kind.is_bytes();
    types::DataType { kind, unsigned, ..ty }
}

const NOT_NULL: u16 = 1;
const PRI_KEY: u16 = 2;
const UNIQUE_KEY: u16 = 4;
const MULTIPLE_KEY: u16 = 8;
const BLOB: u16 = 16;
const UNSIGNED: u16 = 32;
const ZEROFILL: u16 = 64;
const BINARY: u16 = 128;
const ENUM: u16 = 256;
const AUTO_INCREMENT: u16 = 512;
const TIMESTAMP: u16 = 1024;
const SET: u16 = 2048;
const NO_DEFAULT_VALUE: u16 = 4096;
const ON_UPDATE_NOW: u16 = 8192;
const PART_KEY: u16 = 16384;

impl ColumnMeta {
    /// A parameter of a procedure, among what a CALL gives back.
    pub fn of_parameter(routine: (String, String), name: String, data_type: types::DataType) -> ColumnMeta {
        let (schema, routine) = routine;
        ColumnMeta {
            schema,
            table: routine.clone(),
            org_table: routine,
            org_name: name.clone(),
            name,
            data_type,
            flags: type_flags(&data_type),
            provenance: Provenance::Table,
            told: None,
            extreme_of: None,
        }
    }
}

fn type_flags(ty: &types::DataType) -> u16 {
    let mut flags = 0;
    if !ty.nullable {
        flags |= NOT_NULL;
    }
    // Of bytes these are marks of literals and casts.
    let is_bits = ty.kind.is_bytes() && ty.zerofill;
    if ty.unsigned && !is_bits {
        flags |= UNSIGNED;
    }
    if ty.zerofill && !is_bits {
        flags |= ZEROFILL;
    }
    if ty.kind.is_blob() {
        flags |= BLOB;
    }
    if ty.kind.is_temporal() || (ty.kind.is_bytes() && ty.collation.is_binary()) {
        flags |= BINARY;
    }
    match ty.kind {
        TypeKind::Enum => flags | ENUM,
        TypeKind::Set => flags | SET,
        _ => flags,
    }
}

fn key_flags(table: &catalog::Table, column: usize) -> u16 {
    let mut flags = 0;
    for index in &table.indexes {
        let Some(at) = index.parts.iter().position(|p| p.column == column) else { continue };
        if table.columns[column].hidden {
            continue;
        }
        flags |= PART_KEY;
        flags |= match (index.primary, index.unique, at, index.parts.len()) {
            (true, ..) => PRI_KEY,
            (_, true, 0, 1) => UNIQUE_KEY,
            (_, _, 0, _) => MULTIPLE_KEY,
            _ => 0,
        };
    }
    let c = &table.columns[column];
    if c.auto_increment {
        flags |= AUTO_INCREMENT;
    }
    // Of a TIMESTAMP that takes the current time by itself.
    if c.data_type.kind == TypeKind::Timestamp {
        flags |= if c.on_update_now { TIMESTAMP | ON_UPDATE_NOW } else { 0 };
        flags |= if matches!(c.default, catalog::ColumnDefault::Now) { TIMESTAMP } else { 0 };
    }
    if matches!(c.default, catalog::ColumnDefault::None) && !c.data_type.nullable && !c.auto_increment {
        flags |= NO_DEFAULT_VALUE;
    }
    flags
}

/// The type that a column of a temporary table has for integer expressions that are no columns: MySQL makes it INT when their
/// digits fit.
pub fn kept_type(ty: types::DataType, of: &[&Expr]) -> types::DataType {
    let computed = of.iter().all(|e| !matches!(e.node, Node::Column { .. }) && e.ty.length < 10);
    match ty.kind == TypeKind::BigInt && computed && ty.length < 10 {
        true => types::DataType { kind: TypeKind::Int, ..ty },
        false => ty,
    }
}

/// The same of an integer that a set operation makes of two: INT where those that are computed wide are so by few digits. MySQL
/// takes numbers that are written, and those of functions, to be wide.
pub fn united_type(ty: types::DataType, of: &[&Expr]) -> types::DataType {
    const INT_LENGTH: u32 = 11;
    let is_small = |e: &&Expr| {
        e.ty.kind != TypeKind::BigInt || matches!(e.node, Node::Arith(..) | Node::Neg(_)) && e.ty.length <= INT_LENGTH
    };
    let computed = of.iter().any(|e| e.ty.kind == TypeKind::BigInt);
    match computed && ty.kind == TypeKind::BigInt && of.iter().all(is_small) && ty.length <= INT_LENGTH {
        true => types::DataType { kind: TypeKind::Int, ..ty },
        false => ty,
    }
}

/// A result column that is no table's.
pub fn plain_meta(name: &str, e: &Expr) -> ColumnMeta {
    let binary = if e.ty.kind.is_text() || e.ty.kind == TypeKind::Bit { 0 } else { BINARY };
    ColumnMeta {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        data_type: e.ty,
        flags: type_flags(&e.ty) | binary,
        provenance: Provenance::Table,
        told: None,
        extreme_of: None,
    }
}

/// What a stored function gives: a column of no table.
fn routine_meta(name: &str, e: &Expr) -> ColumnMeta {
    let told = Told::kept(name).map(|told| Box::new(Told { computed: false, ..*told }));
    ColumnMeta { flags: type_flags(&e.ty), told, provenance: Provenance::Routine, ..plain_meta(name, e) }
}

/// A column of a temporary table: strings have no digits behind the point, as those of tables.
pub fn kept_meta(name: &str, e: &Expr) -> ColumnMeta {
    let meta = plain_meta(name, e);
    let data_type = match e.ty.kind {
        TypeKind::Null => types::DataType::string(TypeKind::VarBinary, 0, types::CollationId::BINARY),
        _ => e.ty,
    };
    ColumnMeta { flags: meta.flags | KEPT, told: Told::kept(name), data_type, ..meta }
}
