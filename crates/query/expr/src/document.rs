//! Documents where a number is asked for. Warning 3156 of one that is none from end to end.

use super::functions::once::is_number;
use crate::Execution;
use types::codes::*;
use types::{Decimal, Value};

/// The number of a document.
pub fn json_number(v: &Value<'_>, run: &dyn Execution) -> Value<'static> {
    match v.json_scalar() {
        Value::Null => {
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
        Value::Null => {
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
        Value::Null => {
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
