//! Functions of GTID sets: GTID_SUBSET, GTID_SUBTRACT.

use super::{Args, Function, Rule, f};
use binlog::gtid::GtidSet;
use types::{Result, SqlError, Value};

/// Characters that a set may print as.
const SET_LENGTH: u32 = 1 << 16;

pub static FUNCTIONS: &[Function] = &[
    f("gtid_subset", 2, 2, Rule::Int(1), |a| {
        let (Some(left), Some(right)) = (set(&a, 0)?, set(&a, 1)?) else { return Ok(Value::Null) };
        Ok(Value::Int(left.is_subset_of(&right).into()))
    }),
    f("gtid_subtract", 2, 2, Rule::Text(SET_LENGTH), |a| {
        let (Some(mut left), Some(right)) = (set(&a, 0)?, set(&a, 1)?) else { return Ok(Value::Null) };
        left.subtract(&right);
        Ok(Value::Bytes(left.to_string().into_bytes().into()))
    }),
];

/// An argument as a set; `None`: it is NULL. Error 1772.
fn set(a: &Args<'_, '_>, at: usize) -> Result<Option<GtidSet>> {
    let Some(text) = a.text(at)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text);
    let wrong = || SqlError::new(1772, format!("Malformed GTID set specification '{text}'."));
    GtidSet::parse(&text).map(Some).ok_or_else(wrong)
}
