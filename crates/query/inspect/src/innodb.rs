//! information_schema.INNODB_*: the dictionary in the storage engine's terms. Types of columns are given by InnoDB's numbers, which
//! tools know; where pages and spaces are, by ours: all tables lie in one space.

use crate::figures::row_format;
use crate::{Context, Row, innodb_statistics, text, uint, word};
use catalog::{Column, ForeignKey, Index, ReferenceAction, StorageEngine, Table};
use std::sync::Arc;
use types::collation::CollationId;
use types::{DataType, Decimal, Result, TypeKind, Value};

/// Columns that each of InnoDB's tables has beside its own: row id, transaction, roll pointer.
pub(crate) const SYSTEM_COLUMNS: usize = 3;

/// Compact rows with long columns off-page: ROW_FORMAT=DYNAMIC.
const FLAG_DYNAMIC: i64 = 33;

/// The name that InnoDB has for a table.
pub(crate) fn name(table: &Table) -> String {
    format!("{}/{}", table.schema, table.name)
}

fn number(n: usize) -> Value<'static> {
    Value::Int(n as i64)
}

fn base_tables(cx: &Context) -> impl Iterator<Item = &Arc<Table>> {
    cx.all_tables().filter(|t| is_own(t))
}

/// Is it a table of the storage engine?
pub(crate) fn is_own(table: &Table) -> bool {
    table.is_base() && table.engine == StorageEngine::InnoDb
}

fn is_virtual(c: &Column) -> bool {
    c.generated.as_ref().is_some_and(|g| !g.stored)
}

/// Columns that InnoDB keeps in rows.
fn kept(table: &Table) -> impl Iterator<Item = (usize, &Column)> {
    table.columns.iter().enumerate().filter(|(_, c)| !c.is_row_id() && !is_virtual(c))
}

/// Virtual columns, with POS: their number, above that of the column in the table.
fn virtuals(table: &Table) -> impl Iterator<Item = (u64, &Column)> {
    let columns = table.columns.iter().enumerate().filter(|(_, c)| is_virtual(c));
    columns.enumerate().map(|(n, (at, c))| ((n as u64 + 1) << 16 | at as u64, c))
}

pub(crate) fn tables(_: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    if !is_own(table) {
        return Ok(());
    }
    let format = row_format(table);
    let flag = match format {
        "Dynamic" => FLAG_DYNAMIC,
        "Compact" => 1,
        _ => 0,
    };
    out.push(vec![
        uint(table.id),
        text(name(table)),
        Value::Int(flag),
        number(kept(table).count() + SYSTEM_COLUMNS),
        Value::Int(0),
        word(format),
        uint(0),
        word("System"),
        Value::Int(0),
        Value::Int(table.evolution.as_ref().map_or(0, |e| i64::from(e.versions))),
    ]);
    Ok(())
}

pub(crate) fn columns(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in base_tables(cx) {
        for (pos, (at, c)) in kept(table).enumerate() {
            let added = table.evolution.as_ref().map(|e| &e.columns[at]).filter(|p| p.added > 0);
            let default = added.map(|p| &p.initial).filter(|v| !v.is_null());
            out.push(column_row(table, pos as u64, c, added.is_some(), default));
        }
        out.extend(virtuals(table).map(|(pos, c)| column_row(table, pos, c, false, None)));
    }
    Ok(())
}

fn column_row(table: &Table, pos: u64, c: &Column, added: bool, default: Option<&Value<'_>>) -> Row {
    let t = &c.data_type;
    let virtual_flag = if is_virtual(c) { 8192 } else { 0 };
    vec![
        uint(table.id),
        text(&c.name),
        uint(pos),
        Value::Int(main_type(t)),
        Value::Int(precise_type(t) | virtual_flag),
        Value::Int(length(t, c.members.len())),
        Value::Int(i64::from(added)),
        default.map_or(Value::Null, |v| text(initial_text(t, v))),
    ]
}

/// The bytes that a row would have, in hexadecimal digits: strings as they are, others as keys have them.
fn initial_text(t: &DataType, v: &Value<'_>) -> String {
    let mut bytes = Vec::new();
    match v {
        Value::Bytes(b) | Value::Json(b) => bytes.extend_from_slice(b),
        v => {
            let part =
                types::key::KeyPart { data_type: DataType { nullable: false, ..*t }, descending: false, prefix: 0 };
            types::key::encode_part(&mut bytes, &part, v);
        }
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Is it a string of bytes, without a character set?
fn is_binary(t: &DataType) -> bool {
    t.collation == CollationId::BINARY
}

/// InnoDB's own number of a type.
fn main_type(t: &DataType) -> i64 {
    use TypeKind as K;
    let latin1 = t.collation.0 == 8;
    match t.kind {
        K::VarChar if latin1 => 1,
        K::Char if latin1 => 2,
        K::Decimal | K::DateTime | K::Timestamp | K::Time | K::Bit | K::Binary => 3,
        K::VarBinary => 4,
        K::Float => 9,
        K::Double => 10,
        K::VarChar => 12,
        K::Char => 13,
        K::Geometry => 14,
        k if k.is_blob() || k == K::Json => 5,
        _ => 6,
    }
}

/// MySQL's number of a type, with flags, and its collation from bit 16 on.
fn precise_type(t: &DataType) -> i64 {
    use TypeKind as K;
    const NOT_NULL: i64 = 256;
    const UNSIGNED: i64 = 512;
    const BINARY: i64 = 1024;
    const LONG_VARCHAR: i64 = 4096;
    let string = |kind: i64| kind | i64::from(t.collation.0) << 16 | if is_binary(t) { BINARY } else { 0 };
    // Numbers in their binary form count as strings in the character set of numbers.
    let numeric = |kind: i64| kind | 8 << 16 | BINARY;
    let plain = match t.kind {
        K::TinyInt => 1 | BINARY,
        K::SmallInt => 2 | BINARY,
        K::Int => 3 | BINARY,
        K::Float => 4 | BINARY,
        K::Double => 5 | BINARY,
        K::BigInt => 8 | BINARY,
        K::MediumInt => 9 | BINARY,
        K::Date => 10 | BINARY,
        K::Year => 13 | BINARY | UNSIGNED,
        K::Decimal => numeric(246),
        K::Timestamp => numeric(7),
        K::Time => numeric(11),
        K::DateTime => numeric(12),
        K::Bit => 16 | 63 << 16 | BINARY | UNSIGNED,
        K::Enum | K::Set => 254 | UNSIGNED,
        K::Json => 245 | 46 << 16 | BINARY,
        K::VarChar | K::VarBinary => string(15) | if t.max_bytes() > 255 { LONG_VARCHAR } else { 0 },
        K::Char | K::Binary => string(254),
        K::Geometry => 255 | 63 << 16 | BINARY,
        _ => string(252),
    };
    plain | if t.nullable { 0 } else { NOT_NULL } | if t.unsigned && t.kind != K::Year { UNSIGNED } else { 0 }
}

/// Bytes of a value; of a long one, those of its length and reference.
fn length(t: &DataType, members: usize) -> i64 {
    use TypeKind as K;
    let fraction = i64::from(t.decimals.div_ceil(2));
    match t.kind {
        K::TinyInt | K::Year => 1,
        K::SmallInt => 2,
        K::MediumInt | K::Date => 3,
        K::Int | K::Float => 4,
        K::BigInt | K::Double => 8,
        K::Time => 3 + fraction,
        K::Timestamp => 4 + fraction,
        K::DateTime => 5 + fraction,
        K::Decimal => Decimal::binary_bytes(t.length, t.decimals) as i64,
        K::Bit => i64::from(t.length.div_ceil(8)),
        K::Enum => 1 + i64::from(members > 255),
        K::Set => match members.div_ceil(8) {
            n @ 0..=4 => n as i64,
            _ => 8,
        },
        K::TinyText | K::TinyBlob => 9,
        K::Text | K::Blob => 10,
        K::MediumText | K::MediumBlob => 11,
        K::LongText | K::LongBlob | K::Json | K::Geometry => 12,
        _ => t.max_bytes() as i64,
    }
}

pub(crate) fn indexes(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in base_tables(cx) {
        for (at, index) in table.indexes.iter().enumerate() {
            out.push(vec![
                uint(u64::from(index.tree.id)),
                text(&index.name),
                uint(table.id),
                Value::Int(index_type(table, at, index)),
                number(index_fields(table, at, index)),
                Value::Int(index.tree.root as i64),
                Value::Int(0),
                Value::Int(50),
            ]);
        }
    }
    Ok(())
}

fn index_type(table: &Table, at: usize, index: &Index) -> i64 {
    const CLUSTERED: i64 = 1;
    const UNIQUE: i64 = 2;
    const VIRTUAL: i64 = 128;
    let over_virtual = index.parts.iter().any(|p| is_virtual(&table.columns[p.column]));
    match at {
        0 => CLUSTERED | if index.primary { UNIQUE } else { 0 },
        _ => (if index.unique { UNIQUE } else { 0 }) | if over_virtual { VIRTUAL } else { 0 },
    }
}

/// Of the clustered index all columns; of others their own and what of the clustered key is not among them.
fn index_fields(table: &Table, at: usize, index: &Index) -> usize {
    let clustered = &table.indexes[0];
    if at == 0 {
        return kept(table).count() + if clustered.primary { SYSTEM_COLUMNS - 1 } else { SYSTEM_COLUMNS };
    }
    let whole = |column: usize| index.parts.iter().any(|p| p.column == column && p.key.prefix == 0);
    index.parts.len() + clustered.parts.iter().filter(|p| !whole(p.column)).count()
}

pub(crate) fn fields(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in base_tables(cx) {
        for index in table.named_indexes() {
            out.extend(index.parts.iter().enumerate().map(|(pos, part)| {
                let id = text(index.tree.id.to_string());
                vec![id, text(&table.columns[part.column].name), uint(pos as u64)]
            }));
        }
    }
    Ok(())
}

pub(crate) fn table_statistics(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    if !is_own(table) {
        return Ok(());
    }
    let (rows, _) = cx.engine.estimate(table.indexes[0].tree).map_err(catalog::error::from_engine)?;
    let pages = innodb_statistics::pages(cx, &table.indexes[0]);
    let others = table.indexes[1..].iter().map(|index| innodb_statistics::pages(cx, index)).sum();
    let next =
        table.auto_increment.as_ref().map_or(Ok(0), |c| c.next(&cx.engine)).map_err(catalog::error::from_engine)?;
    out.push(vec![
        uint(table.id),
        text(name(table)),
        word("Initialized"),
        uint(rows),
        uint(pages),
        uint(others),
        uint(0),
        uint(next),
        Value::Int(0),
    ]);
    Ok(())
}

fn foreign_keys(cx: &Context) -> impl Iterator<Item = (String, &Table, &ForeignKey)> {
    let keys = base_tables(cx).flat_map(|t| t.foreign_keys.iter().map(move |k| (t, k)));
    keys.map(|(t, k)| (format!("{}/{}", t.schema, k.name), &**t, k))
}

pub(crate) fn foreign(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let kind = |k: &ForeignKey| {
        let bits = |action, cascade: u64, set_null, no_action| match action {
            ReferenceAction::Cascade => cascade,
            ReferenceAction::SetNull => set_null,
            ReferenceAction::NoAction => no_action,
            ReferenceAction::Restrict => 0,
        };
        bits(k.on_delete, 1, 2, 16) | bits(k.on_update, 4, 8, 32)
    };
    out.extend(foreign_keys(cx).map(|(id, table, k)| {
        let parent = format!("{}/{}", k.parent.0, k.parent.1);
        vec![text(id), text(name(table)), text(parent), number(k.columns.len()), uint(kind(k))]
    }));
    Ok(())
}

pub(crate) fn foreign_columns(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (id, table, key) in foreign_keys(cx) {
        for (at, (own, theirs)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
            out.push(vec![text(&*id), text(&table.columns[*own].name), text(theirs), uint(at as u64 + 1)]);
        }
    }
    Ok(())
}

/// Which columns virtual ones are computed from.
pub(crate) fn virtual_columns(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in base_tables(cx) {
        for (pos, column) in virtuals(table) {
            let text = column.generated.as_ref().map_or("", |g| &g.expression);
            let named = |c: &Column| text.contains(&format!("`{}`", c.name.replace('`', "``")));
            let bases = kept(table).enumerate().filter(|(_, (_, c))| named(c));
            out.extend(bases.map(|(base, _)| vec![uint(table.id), uint(pos), uint(base as u64)]));
        }
    }
    Ok(())
}
