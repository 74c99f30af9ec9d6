//! Functions of GTID sets: GTID_SUBSET, GTID_SUBTRACT, WAIT_FOR_EXECUTED_GTID_SET; and the receipt of a GTID.

use super::{Args, Function, Rule, f, volatile};
use std::time::Duration;
use types::codes::*;
use types::gtid::{Gtid, GtidSet};
use types::{Result, SqlError, Value, err};

/// Characters that a set may print as.
const SET_LENGTH: u32 = 1 << 16;
/// Characters of a receipt.
const RECEIPT_LENGTH: u32 = 1024;
/// The longest wait, a year.
const SECONDS_MAX: f64 = 31_536_000.0;

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
    volatile(f("clearway_receipt", 1, 1, Rule::Text(RECEIPT_LENGTH), receipt)),
    volatile(f("wait_for_executed_gtid_set", 1, 2, Rule::Int(21), wait_for)),
];

/// 0: all of the set is executed; 1: not within the seconds that the second argument allows, 0 of which are no bound. Errors 1210,
/// 1772, 3062.
fn wait_for<'a>(a: Args<'a>) -> Result<Value<'a>> {
    a.run.session().may_wait_for_gtids()?;
    let Some(set) = set(&a, 0)? else { return Err(malformed("NULL")) };
    let seconds = if a.len() > 1 { a.double(1)?.unwrap_or(0.0) } else { 0.0 };
    if seconds < 0.0 {
        return Err(err!(ER_WRONG_ARGUMENTS, "WAIT_FOR_EXECUTED_GTID_SET."));
    }
    let time = (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(SECONDS_MAX)));
    let done = a.run.session().wait_for_gtids(&set, time)?;
    Ok(Value::Int((!done).into()))
}

/// The durability receipt of a GTID; NULL: it is not executed. Error 1774.
fn receipt<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(text) = a.text(0)? else { return Ok(Value::Null) };
    let text = String::from_utf8_lossy(&text);
    let gtid = Gtid::parse(text.trim()).ok_or_else(|| err!(ER_MALFORMED_GTID_SPECIFICATION, text))?;
    let receipt = a.run.session().receipt(gtid)?;
    Ok(receipt.map_or(Value::Null, |receipt| Value::Bytes(receipt.into_bytes().into())))
}

fn malformed(text: &str) -> SqlError {
    err!(ER_MALFORMED_GTID_SET_SPECIFICATION, text)
}

/// An argument as a set; `None`: it is NULL. Error 1772.
fn set(a: &Args<'_>, at: usize) -> Result<Option<GtidSet>> {
    let Some(text) = a.text(at)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text);
    GtidSet::parse(&text).map(Some).ok_or_else(|| malformed(&text))
}
