//! What several tables tell in the same way: the figures of a type, how a table's rows are stored, a session.

use crate::ddl_text::has_charset;
use crate::{Row, maybe, text, uint, word};
use catalog::{StorageEngine, Table};
use types::{DECIMALS_NOT_FIXED, TypeKind, Value};

/// CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME,
/// COLLATION_NAME of a type.
pub(crate) fn type_figures(t: &types::DataType) -> [Value<'static>; 7] {
    use TypeKind::*;
    let is_string = t.kind.is_bytes() && t.kind != Json || matches!(t.kind, Enum | Set);
    let (chars, bytes) = match is_string {
        true if t.kind.is_blob() => (uint(t.max_bytes()), uint(t.max_bytes())),
        // Of the longest member, or of all with their commas.
        true if matches!(t.kind, Enum | Set) => {
            let chars = u64::from(t.length);
            (uint(chars), uint(chars * u64::from(t.collation.charset().mbmaxlen())))
        }
        true => (uint(t.length.into()), uint(t.max_bytes().max(t.length.into()))),
        false => (Value::Null, Value::Null),
    };
    let (precision, scale) = match t.kind {
        TinyInt => (uint(3), uint(0)),
        SmallInt => (uint(5), uint(0)),
        MediumInt => (uint(7), uint(0)),
        Int => (uint(10), uint(0)),
        BigInt => (uint(if t.unsigned { 20 } else { 19 }), uint(0)),
        Decimal => (uint(t.length.into()), uint(t.decimals.into())),
        Float | Double if t.decimals != DECIMALS_NOT_FIXED => (uint(t.length.into()), uint(t.decimals.into())),
        Float => (uint(12), Value::Null),
        Double => (uint(22), Value::Null),
        Bit => (uint(t.length.into()), Value::Null),
        _ => (Value::Null, Value::Null),
    };
    let digits = if matches!(t.kind, Time | DateTime | Timestamp) { uint(t.decimals.into()) } else { Value::Null };
    let (charset, collation) = match has_charset(t) {
        true => (word(t.collation.charset().name()), word(t.collation.info().name)),
        false => (Value::Null, Value::Null),
    };
    [chars, bytes, precision, scale, digits, charset, collation]
}

/// ROW_FORMAT of SHOW TABLE STATUS.
pub(crate) fn row_format(table: &Table) -> &'static str {
    match (table.engine, table.create_options.get("ROW_FORMAT")) {
        (StorageEngine::Memory, _) => "Fixed",
        (StorageEngine::MyIsam, given) => match table.named_columns().any(|c| c.data_type.kind.is_blob()) {
            false if given == Some("FIXED") => "Fixed",
            false if given != Some("DYNAMIC") && !table.named_columns().any(|c| is_var(c.data_type.kind)) => "Fixed",
            _ => "Dynamic",
        },
        (StorageEngine::InnoDb, Some("COMPACT")) => "Compact",
        (StorageEngine::InnoDb, Some("REDUNDANT")) => "Redundant",
        (StorageEngine::InnoDb, _) => "Dynamic",
    }
}

/// A row of SHOW PROCESSLIST. `full`: the whole text, else its first 100 characters.
pub(crate) fn process_row(p: crate::Process, full: bool) -> Row {
    let info = p.info.map(|text| if full { text } else { text.chars().take(100).collect() });
    vec![
        uint(p.id),
        text(p.user),
        text(p.host),
        maybe(p.database),
        word(p.command),
        Value::Int(p.time_s as i64),
        text(p.state),
        maybe(info),
    ]
}

fn is_var(kind: TypeKind) -> bool {
    matches!(kind, TypeKind::VarChar | TypeKind::VarBinary)
}
