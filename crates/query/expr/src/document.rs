//! Values as documents, and documents where a number is asked for: warning 3156 of one that is none from end to end.

use crate::operator::ArithOp;
use crate::{Execution, Expr, Node};
use types::codes::*;
use types::json::{Json, binary, opaque, parse};
use types::number::is_number;
use types::{Charset, DataType, Decimal, Result, SqlError, TypeKind, Value, err};

/// The number of a document.
pub fn json_number(v: &Value<'_>, run: &dyn Execution) -> Value<'static> {
    match v.json_scalar() {
        Value::Null | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            warn_json("DOUBLE", run);
            Value::Double(0.0)
        }
        Value::Bytes(b) => {
            if b.is_empty() || !is_number(&b) {
                warn_json("DOUBLE", run);
            }
            Value::Double(types::number::parse_f64(&b).0)
        }
        other => other,
    }
}

/// The decimal that a document is.
pub fn json_decimal(v: &Value<'_>, run: &dyn Execution) -> Value<'static> {
    match v.json_scalar() {
        Value::Null | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            warn_json("DECIMAL", run);
            Value::Decimal(Decimal::ZERO)
        }
        Value::Bytes(b) => {
            if b.is_empty() || !is_number(&b) {
                warn_json("DECIMAL", run);
            }
            Value::Decimal(Decimal::parse(&b).0)
        }
        other => other,
    }
}

/// The integer that a document is.
pub fn json_integer(v: &Value<'_>, run: &dyn Execution) -> Value<'static> {
    match v.json_scalar() {
        Value::Null | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            warn_json("INTEGER", run);
            Value::Int(0)
        }
        Value::Bytes(b) => {
            let (i, used, beyond) = types::number::parse_integer(&b);
            if used == 0 || used < b.len() || beyond {
                warn_json("INTEGER", run);
            }
            Value::Int(i.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        }
        other => other,
    }
}

/// 3156: a document has no value of that type.
pub fn warn_json(to: &str, run: &dyn Execution) {
    let row = run.evaluation().row.get();
    run.warn(ER_INVALID_JSON_VALUE_FOR_CAST, format!("Invalid JSON value for CAST to {to} from column  at row {row}"));
}

/// Is the expression's value a truth value: `true`, a comparison, a predicate function?
pub fn is_boolean(e: &Expr) -> bool {
    // These are told to be wider than a truth value.
    let is_wide = matches!(&e.node, Node::Call(f, _) if matches!(f.name, "json_valid" | "json_contains"));
    e.ty.kind == TypeKind::BigInt
        && (e.ty.length == 1 || is_wide)
        && !matches!(e.node, Node::Column { .. } | Node::Param(_) | Node::UserVariable(_))
}

/// Bytes of a document whose tree is small beside what a statement may have.
const SMALL_DOCUMENT: usize = 1 << 16;

/// The tree of a JSON value. Errors of [`crate::error::check_memory`].
pub fn document(v: &Value<'_>) -> Result<Json> {
    if let Value::Json(bytes) = v
        && bytes.len() > SMALL_DOCUMENT
    {
        crate::error::check_memory_for(binary::tree_bytes(bytes))?;
    }
    Ok(v.json().expect("a JSON value"))
}

/// The document of text in an argument (from 0) of a function; 3141 for what is none.
pub fn parse_text(text: &[u8], argument: usize, function: &str) -> Result<Json> {
    parse::parse(text).map_err(|e| match (e.ended, e.code) {
        (Some(ended), _) => *ended,
        (None, Some(code)) => SqlError::format(code, &[]),
        (None, None) => {
            let words = format!("\"{}\"", e.message);
            err!(ER_INVALID_JSON_TEXT_IN_PARAM, argument + 1, function, words, e.at)
        }
    })
}

/// Text as UTF-8; 3144 for binary strings.
pub fn utf8(text: &[u8], ty: &DataType) -> Result<Vec<u8>> {
    let charset = match ty.kind.is_text() || ty.kind.is_bytes() {
        true => ty.collation.charset(),
        false => Charset::Utf8mb4,
    };
    if charset == Charset::Binary {
        return Err(err!(ER_INVALID_JSON_CHARSET, charset.name()));
    }
    let mut out = Vec::with_capacity(text.len());
    charset.convert(Charset::Utf8mb4, text, &mut out);
    Ok(out)
}

/// An SQL value as a document: JSON as it is, all else as a scalar.
pub fn scalar(v: &Value<'_>, e: &Expr) -> Result<Json> {
    Ok(match v {
        Value::Json(_) => document(v)?,
        Value::Int(n) if is_boolean(e) => Json::Bool(*n != 0),
        // A difference that is nothing has no decimals.
        Value::Decimal(d) if d.is_zero() && matches!(e.node, Node::Arith(ArithOp::Sub, ..)) => {
            Json::Decimal(Decimal::ZERO)
        }
        Value::DateTime(t) if e.ty.kind == TypeKind::Timestamp => Json::Timestamp(*t),
        Value::UInt(bits) if e.ty.kind == TypeKind::Bit => {
            let bytes = e.ty.length.clamp(1, 64).div_ceil(8) as usize;
            Json::Opaque(opaque::BIT, bits.to_be_bytes()[8 - bytes..].to_vec())
        }
        Value::Bytes(b) if (e.ty.kind.is_bytes() || e.ty.kind.is_text()) && e.ty.collation.is_binary() => {
            let kind = match e.ty.kind {
                TypeKind::TinyBlob => opaque::TINY_BLOB,
                TypeKind::MediumBlob => opaque::MEDIUM_BLOB,
                TypeKind::LongBlob => opaque::LONG_BLOB,
                TypeKind::Blob => opaque::BLOB,
                TypeKind::Binary => opaque::STRING,
                TypeKind::Geometry => opaque::GEOMETRY,
                _ => opaque::VARCHAR,
            };
            Json::Opaque(kind, b.to_vec())
        }
        Value::Bytes(b) if e.ty.kind.is_bytes() || e.ty.kind.is_text() => {
            let text = utf8(b, &e.ty)?;
            Json::String(String::from_utf8_lossy(&text).into_owned())
        }
        other => Json::from_scalar(other),
    })
}

/// CAST(... AS JSON): text is read, all else becomes a scalar.
pub fn cast(v: &Value<'_>, from: &DataType) -> Result<Value<'static>> {
    let doc = match v {
        Value::Bytes(b) if matches!(from.kind, TypeKind::Enum | TypeKind::Set) => {
            Json::String(String::from_utf8_lossy(&utf8(b, from)?).into_owned())
        }
        Value::Bytes(b) if from.kind.is_text() || !from.collation.is_binary() => {
            parse_text(&utf8(b, from)?, 0, "cast_as_json")?
        }
        v => scalar(v, &Expr::new(Node::Const(Value::Null), *from))?,
    };
    Ok(Value::from_json(&doc))
}
