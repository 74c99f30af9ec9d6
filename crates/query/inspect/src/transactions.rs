//! Transactions in `performance_schema`: the last ones of each session, and sums.

use crate::statements::{SessionSums, ps, times};
use crate::{Context, Row, text, uint, word};
use observe::{TimeTotals, TransactionTotals};
use std::collections::BTreeMap;
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

/// Sums of one group.
fn row(mut group: Row, [writing, read_only]: &TransactionTotals) -> Row {
    let mut all = TimeTotals::default();
    all.merge(writing);
    all.merge(read_only);
    group.push(word("transaction"));
    group.extend([&all, writing, read_only].into_iter().flat_map(times));
    group
}

/// Sums by a key of the group.
fn grouped<K: Ord>(cx: &Context, key: impl Fn(&SessionSums) -> Option<K>) -> BTreeMap<K, TransactionTotals> {
    let mut groups: BTreeMap<K, TransactionTotals> = BTreeMap::new();
    for group in cx.source.session_sums() {
        let Some(key) = key(&group) else { continue };
        let sums = groups.entry(key).or_default();
        sums.iter_mut().zip(&group.transactions).for_each(|(sum, totals)| sum.merge(totals));
    }
    groups
}

pub(crate) fn by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(grouped(cx, |group| group.thread).into_iter().map(|(thread, sums)| row(vec![uint(thread)], &sums)));
    Ok(())
}

pub(crate) fn by_account(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let groups = grouped(cx, |group| Some((group.user.clone(), group.host.clone())));
    out.extend(groups.into_iter().map(|((user, host), sums)| row(vec![text(user), text(host)], &sums)));
    Ok(())
}

pub(crate) fn by_user(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let groups = grouped(cx, |group| Some(group.user.clone()));
    out.extend(groups.into_iter().map(|(user, sums)| row(vec![text(user)], &sums)));
    Ok(())
}

pub(crate) fn by_host(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let groups = grouped(cx, |group| Some(group.host.clone()));
    out.extend(groups.into_iter().map(|(host, sums)| row(vec![text(host)], &sums)));
    Ok(())
}

pub(crate) fn global(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let groups = grouped(cx, |_| Some(()));
    out.push(row(Vec::new(), &groups.get(&()).copied().unwrap_or_default()));
    Ok(())
}
