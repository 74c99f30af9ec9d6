//! Functions of GTID sets: GTID_SUBSET, GTID_SUBTRACT, WAIT_FOR_EXECUTED_GTID_SET; the wait for a place of a source, SOURCE_POS_WAIT;
//! and the receipt of a GTID.

use crate::function::{Args, Function, Rule, f, volatile};
use crate::{SourcePlace, SourceWait};
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

/// Of sets of GTIDs.
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
    volatile(f("source_pos_wait", 2, 4, Rule::Int(21), wait_for_place)),
    volatile(f("master_pos_wait", 2, 4, Rule::Int(21), wait_for_place)),
    volatile(f("clearway_receipt", 1, 1, Rule::Text(RECEIPT_LENGTH), receipt)),
    volatile(f("wait_for_executed_gtid_set", 1, 2, Rule::Int(21), wait_for)),
];

/// 0: all of the set is executed; 1: not within the seconds that the second argument allows, 0 of which are no bound. Errors 1210,
/// 1772, 3062.
fn wait_for<'a>(a: Args<'a>) -> Result<Value<'a>> {
    a.run.session().may_wait_for_gtids()?;
    let Some(set) = set(&a, 0)? else { return Err(malformed("NULL")) };
    let time = time(&a, 1, "WAIT_FOR_EXECUTED_GTID_SET")?;
    let done = a.run.session().wait_for_gtids(&set, time)?;
    Ok(Value::Int((!done).into()))
}

/// How long a function may wait by one of its arguments; `None`: for ever, which 0 and NULL say. Error 1210.
fn time(a: &Args<'_>, at: usize, function: &str) -> Result<Option<Duration>> {
    let seconds = if a.len() > at { a.double(at)?.unwrap_or(0.0) } else { 0.0 };
    if seconds < 0.0 {
        return Err(err!(ER_WRONG_ARGUMENTS, format!("{function}.")));
    }
    Ok((seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(SECONDS_MAX))))
}

/// How often the applier has moved until it was there; -1: not within the seconds that the third argument allows; NULL: it does not run.
/// Errors 1210, 3079.
fn wait_for_place<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(file) = a.text(0)? else { return Ok(Value::Null) };
    let offset = a.int(1)?.unwrap_or(0);
    let time = time(&a, 2, "SOURCE_POS_WAIT")?;
    let channel = if a.len() > 3 { Some(a.text(3)?) } else { None };
    let channel = match &channel {
        Some(None) => return Ok(Value::Null),
        Some(Some(name)) => Some(String::from_utf8_lossy(name)),
        None => None,
    };
    let Ok(offset) = u64::try_from(offset) else { return Ok(Value::Null) };
    let file = String::from_utf8_lossy(&file);
    let place = SourcePlace { channel: channel.as_deref(), file: &file, offset };
    Ok(match a.run.session().wait_for_source(&place, time)? {
        SourceWait::NotRunning => Value::Null,
        SourceWait::TimedOut => Value::Int(-1),
        SourceWait::Reached(moves) => Value::Int(moves as i64),
    })
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
