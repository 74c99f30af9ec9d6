//! JSON_VALUE and MEMBER OF, which have a syntax of their own.

use super::{JSON_VALUE, MEMBER_OF};
use crate::error::out_of_range;
use crate::function::Args;
use crate::{Expr, Node, boolean_type, convert};
use types::error::*;
use types::json::Json;
use types::{DataType, Result, TypeKind, Value, err};

/// `value MEMBER OF (array)`.
pub fn member_of(value: Expr, array: Expr) -> Expr {
    let nullable = value.ty.nullable || array.ty.nullable;
    Expr::new(Node::Call(&MEMBER_OF, vec![value, array]), boolean_type(nullable))
}

/// `JSON_VALUE(doc, path RETURNING ty ...)`. What to do where nothing is found and for errors: 0 NULL, 1 an error, 2 the
/// default that follows.
pub fn json_value(doc: Expr, path: Expr, ty: DataType, empty: (u8, Expr), error: (u8, Expr)) -> Expr {
    let kinds = Expr::int(empty.0 as i64 * 3 + error.0 as i64);
    let args = vec![doc, path, kinds, empty.1, error.1];
    Expr::new(Node::Call(&JSON_VALUE, args), DataType { nullable: true, ..ty })
}

/// JSON_VALUE: the third argument says what is done ON EMPTY and ON ERROR.
pub fn eval<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let kinds = a.int(2)?.unwrap_or(0);
    let (empty, error) = (kinds / 3, kinds % 3);
    // What the document is computed of has errors of its own.
    if a.value(0)?.is_null() {
        return Ok(Value::Null);
    }
    match look(&a, empty) {
        Ok(v) => Ok(v),
        Err(e) if error == 1 => Err(e),
        // What is no document is an error whatever stands for errors within one.
        Err(e) if matches!(e.code, ER_INVALID_JSON_PATH | ER_MISSING_JSON_VALUE | ER_INVALID_JSON_CHARSET) => Err(e),
        Err(e) if e.code == ER_INVALID_JSON_TEXT_IN_PARAM => {
            a.run.tell(e.code, e.message);
            if error == 2 { convert::cast(a.value(4)?, a.ty, &a.args[4].ty, a.run) } else { Ok(Value::Null) }
        }
        Err(_) if error == 2 => convert::cast(a.value(4)?, a.ty, &a.args[4].ty, a.run),
        Err(_) => Ok(Value::Null),
    }
}

fn look<'a>(a: &Args<'a>, empty: i64) -> Result<Value<'a>> {
    let Some(doc) = a.places(0)? else { return Ok(Value::Null) };
    let Some(path) = a.path(1)? else { return Ok(Value::Null) };
    let mut found = doc.seek(&path)?;
    let one = match &found[..] {
        [] if empty == 1 => {
            return Err(err!(ER_MISSING_JSON_VALUE, "json_value"));
        }
        [] if empty == 2 => return convert::cast(a.value(3)?, a.ty, &a.args[3].ty, a.run),
        [] => return Ok(Value::Null),
        [_] => found.remove(0).tree()?,
        _ => {
            return Err(err!(ER_MULTIPLE_JSON_VALUES, "json_value"));
        }
    };
    returned(&one, a)
}

fn returned<'a>(v: &Json, a: &Args<'a>) -> Result<Value<'a>> {
    let wrong = || err!(ER_INVALID_JSON_VALUE_FOR_CAST, type_name(a.ty), "", "json_value", 1);
    match (v, a.ty.kind) {
        (v, TypeKind::Json) => return Ok(Value::from_json(v)),
        (Json::Null, _) => return Ok(Value::Null),
        (Json::Array(_) | Json::Object(_), k) if !k.is_text() => return Err(wrong()),
        (Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) | Json::Bool(_), k) if k.is_temporal() => {
            return Err(wrong());
        }
        (Json::Date(_) | Json::Time(_) | Json::DateTime(_), k) if k.is_numeric() => return Err(wrong()),
        // A document's time has no day, and its day no time.
        (Json::Time(_), TypeKind::Date | TypeKind::DateTime) => return Err(wrong()),
        (Json::Date(_) | Json::DateTime(_) | Json::Timestamp(_), TypeKind::Time) => return Err(wrong()),
        _ => {}
    }
    if a.ty.kind.is_text() || a.ty.kind.is_bytes() {
        let mut text = Vec::new();
        v.write_unquoted(&mut text);
        let length = a.ty.collation.charset().char_count(&text);
        if length > a.ty.length as usize {
            return Err(err!(ER_DATA_TOO_LONG, "json_value", 1));
        }
        return Ok(Value::Bytes(text.into()));
    }
    let scalar = v.clone().into_scalar();
    if let Value::Bytes(_) = &scalar
        && a.ty.kind.is_numeric()
        && !scalar.is_clean_number()
    {
        return Err(out_of_range(type_name(a.ty), "json_value"));
    }
    let from = convert::type_of(&scalar);
    if a.ty.kind.is_integer() {
        let whole = scalar.to_integer();
        let fits = if a.ty.unsigned { u64::try_from(whole).is_ok() } else { i64::try_from(whole).is_ok() };
        if !fits {
            return Err(err!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, type_name(a.ty), "", "json_value", 1));
        }
    }
    convert::cast(scalar, a.ty, &from, a.run)
}

fn type_name(ty: &DataType) -> &'static str {
    match ty.kind {
        TypeKind::BigInt if ty.unsigned => "UNSIGNED",
        TypeKind::BigInt => "SIGNED",
        TypeKind::Decimal => "DECIMAL",
        TypeKind::Double | TypeKind::Float => "DOUBLE",
        TypeKind::Date => "DATE",
        TypeKind::Time => "TIME",
        TypeKind::DateTime => "DATETIME",
        TypeKind::Year => "YEAR",
        TypeKind::Json => "JSON",
        _ => "CHAR",
    }
}
