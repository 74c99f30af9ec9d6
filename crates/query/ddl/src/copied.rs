//! What a value is read as where ALTER TABLE gives its column another type: MySQL copies between some kinds of columns by way of a text or
//! an integer.
//!
//! | from | to | read as |
//! |---|---|---|
//! | ENUM, SET | what is no number | its name |
//! | numbers, YEAR | JSON, DATE, DATETIME, TIMESTAMP, ENUM, SET | text |
//! | numbers | TIME | text |
//! | JSON | numbers but DECIMAL, DATE, TIME, DATETIME, TIMESTAMP | text |
//! | strings, JSON | BIT | integer |
//! | DECIMAL, FLOAT, DOUBLE | BIT, YEAR | integer |
//! | FLOAT, DOUBLE | CHAR, VARCHAR, BINARY, VARBINARY | text |
//! | BIT | CHAR, VARCHAR, BINARY, VARBINARY | the digits of its number |

use catalog::Column;
use expr::{Execution, convert};
use run::Run;
use types::codes::*;
use types::{Result, SqlMode, TypeKind, Value, err};

/// The value of a row of `from` as `to` takes it. Error 1292 in a strict mode.
pub fn as_read<'v>(
    v: Value<'v>,
    from: &Column,
    to: &Column,
    (mode, row): (SqlMode, u64),
    run: &Run<'_>,
) -> Result<Value<'v>> {
    use TypeKind::*;
    let text = |v: &Value<'_>| Value::Bytes(convert::text(v, &from.data_type).into_owned().into());
    let (kind, into) = (from.data_type.kind, to.data_type.kind);
    if !from.members.is_empty() && from.members != to.members && !into.is_numeric() {
        return Ok(named(v, from));
    }
    Ok(match (kind, into) {
        // A number is looked for among the members as a text, as a string is.
        _ if kind.is_numeric() && kind != Bit && !to.members.is_empty() => text(&v),
        _ if kind.is_numeric() && kind != Bit && into == Json => text(&v),
        _ if kind.is_numeric() && kind != Bit && into.is_temporal() && (kind, into) != (Year, Time) => text(&v),
        (Json, Bit) => integer(&v.json_scalar(), from, (mode, row), run)?,
        (Json, _) if into != Decimal && into.is_numeric() || into.is_temporal() => text(&v),
        (_, Bit) if kind.is_bytes() => integer(&v, from, (mode, row), run)?,
        (Decimal, Bit) => integer(&v, from, (mode, row), run)?,
        (Float | Double, Bit | Year) => Value::Int(v.to_i64()),
        (Float | Double, Char | VarChar | Binary | VarBinary) => text(&v),
        (Bit, Char | VarChar | Binary | VarBinary) => {
            Value::Bytes(v.to_i64().cast_unsigned().to_string().into_bytes().into())
        }
        _ => v,
    })
}

/// What an ENUM or a SET is called.
fn named<'v>(v: Value<'v>, from: &Column) -> Value<'v> {
    match v {
        Value::UInt(n) if from.data_type.kind == TypeKind::Enum => {
            let name = (n as usize).checked_sub(1).and_then(|n| from.members.get(n)).cloned().unwrap_or_default();
            Value::Bytes(name.into_bytes().into())
        }
        Value::UInt(bits) if from.data_type.kind == TypeKind::Set => {
            let names = from.members.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
            Value::Bytes(names.join(",").into_bytes().into())
        }
        v => v,
    }
}

/// The integer that a BIT gets. A TEXT or a BLOB that is none says nothing.
fn integer<'v>(v: &Value<'_>, from: &Column, (mode, row): (SqlMode, u64), run: &Run<'_>) -> Result<Value<'v>> {
    let (kind, name) = (from.data_type.kind, &from.name);
    let text: &[u8] = match v {
        Value::Bytes(text) => text,
        // An array, an object or null.
        Value::Json(_) | Value::Null => &[],
        v => return Ok(Value::Int(v.to_i64())),
    };
    let (number, used, beyond) = types::number::parse_integer(text);
    let number = number.clamp(i64::MIN.into(), u64::MAX.into());
    let is_whole = used > 0 && !beyond && text[used..].iter().all(|c| types::number::is_blank(*c));
    if !is_whole && (!kind.is_blob() || kind == TypeKind::Json) {
        let error = match kind {
            TypeKind::Json => err!(ER_INVALID_JSON_VALUE_FOR_CAST, "INTEGER", "", name, row),
            _ => err!(ER_TRUNCATED_WRONG_VALUE, "INTEGER", String::from_utf8_lossy(text)),
        };
        if mode.is_strict() {
            return Err(error);
        }
        run.tell(error.code, error.message);
    }
    Ok(Value::Int(number as i64))
}
