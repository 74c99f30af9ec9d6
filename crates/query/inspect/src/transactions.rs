//! Transactions in `performance_schema`: the last ones of each session, and sums.

use crate::grouped::{By, grouped};
use crate::statements::{ps, times};
use crate::{Context, Row, uint, word};
use observe::TransactionTotals;
use types::{Result, Value};

/// A transaction of a session that is there.
#[derive(Clone, Debug)]
pub struct TransactionEvent {
    pub thread: u64,
    pub event_id: u64,
    /// `None`: it is going on.
    pub end_event_id: Option<u64>,
    pub rolled_back: bool,
    /// Begin and end, or now, in nanoseconds since the server began. `None`: it was not timed.
    pub timer: Option<(u64, u64)>,
    pub read_only: bool,
    /// 0: READ UNCOMMITTED, ..., 3: SERIALIZABLE.
    pub isolation: u8,
    pub autocommit: bool,
    /// Savepoints that were set, rolled back to, released.
    pub savepoints: [u64; 3],
    /// The statement that began it.
    pub nesting: u64,
}

const LEVELS: [&str; 4] = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];

fn event_row(event: TransactionEvent) -> Row {
    let (began, ended) = event.timer.map_or((Value::Null, Value::Null), |(began, ended)| (ps(began), ps(ended)));
    let wait = event.timer.map_or(Value::Null, |(began, ended)| ps(ended.saturating_sub(began)));
    // ENUM('ACTIVE','COMMITTED','ROLLED BACK')
    let state = match (event.end_event_id, event.rolled_back) {
        (None, _) => 1,
        (Some(_), false) => 2,
        (Some(_), true) => 3,
    };
    let mut row = vec![
        uint(event.thread),
        uint(event.event_id),
        event.end_event_id.map_or(Value::Null, uint),
        word("transaction"),
        uint(state),
    ];
    // TRX_ID, GTID, and what is known of an XA transaction.
    row.extend(std::iter::repeat_n(Value::Null, 6));
    row.extend([Value::Null, began, ended, wait]);
    // ENUM('READ ONLY','READ WRITE'), ENUM('YES','NO'), ENUM('TRANSACTION','STATEMENT', ...)
    row.push(uint(if event.read_only { 1 } else { 2 }));
    row.push(word(LEVELS[usize::from(event.isolation).min(LEVELS.len() - 1)]));
    row.push(uint(if event.autocommit { 1 } else { 2 }));
    row.extend(event.savepoints.map(uint));
    row.extend([Value::Null, uint(event.nesting), uint(2)]);
    row
}

pub(crate) fn current(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.transaction_events(false).into_iter().map(event_row));
    Ok(())
}

pub(crate) fn history(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.transaction_events(true).into_iter().map(event_row));
    Ok(())
}

/// Sums of all, of those that may write, and of READ ONLY ones.
pub(crate) fn sums(cx: &Context, by: By, out: &mut Vec<Row>) -> Result<()> {
    let groups = grouped(cx, by, |all: &mut TransactionTotals, sums| {
        all.iter_mut().zip(&sums.transactions).for_each(|(sum, totals)| sum.merge(totals));
    });
    out.extend(groups.into_iter().map(|(mut row, [writing, read_only])| {
        let mut all = writing;
        all.merge(&read_only);
        row.push(word("transaction"));
        row.extend([all, writing, read_only].iter().flat_map(times));
        row
    }));
    Ok(())
}
