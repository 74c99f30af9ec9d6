//! Sums of errors in `performance_schema`: each error that there is, whether it was ever raised or not.

use crate::{Context, Row, SessionSums, datetime, text, uint, word};
use observe::errors::ErrorTotals;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use types::error::{self, Entry};
use types::{Result, Value};

/// Errors from here on are of the error log, and no session's.
const FIRST_OF_LOG: u16 = 10_000;

/// Those that the tables show: the server's.
static ENTRIES: LazyLock<Vec<&'static Entry>> =
    LazyLock::new(|| (1..u16::MAX).filter_map(error::entry).filter(|e| e.symbol.starts_with("ER_")).collect());

/// By number; 0 is that of all that have no row of their own.
type Codes = BTreeMap<u16, ErrorTotals>;

/// The rows of one group: all other errors, then each one by its number.
fn rows(group: &[Value<'static>], totals: &Codes, with_log: bool, out: &mut Vec<Row>) {
    let time = |s: u64| if s == 0 { Value::Null } else { datetime(s) };
    let mut push = |columns: [Value<'static>; 3], code: u16| {
        let totals = totals.get(&code).copied().unwrap_or_default();
        let mut row = group.to_vec();
        row.extend(columns);
        row.extend([uint(totals.raised), uint(totals.handled), time(totals.first_s), time(totals.last_s)]);
        out.push(row);
    };
    push([Value::Null, Value::Null, Value::Null], 0);
    for entry in ENTRIES.iter().filter(|entry| with_log || entry.code < FIRST_OF_LOG) {
        let state = String::from_utf8_lossy(&entry.sqlstate).into_owned();
        push([Value::Int(entry.code.into()), word(entry.symbol), text(state)], entry.code);
    }
}

/// Sums by a key of the group.
fn grouped<K: Ord>(cx: &Context, key: impl Fn(&SessionSums) -> Option<K>) -> BTreeMap<K, Codes> {
    let mut groups: BTreeMap<K, Codes> = BTreeMap::new();
    for group in cx.source.session_sums() {
        let Some(key) = key(&group) else { continue };
        let codes = groups.entry(key).or_default();
        for (code, totals) in &group.errors {
            let shown = ENTRIES.binary_search_by_key(code, |entry| entry.code).map_or(0, |_| *code);
            codes.entry(shown).or_default().merge(totals);
        }
    }
    groups
}

pub(crate) fn by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (thread, codes) in grouped(cx, |group| group.thread) {
        rows(&[uint(thread)], &codes, false, out);
    }
    Ok(())
}

pub(crate) fn by_account(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for ((user, host), codes) in grouped(cx, |group| Some((group.user.clone(), group.host.clone()))) {
        rows(&[text(user), text(host)], &codes, false, out);
    }
    Ok(())
}

pub(crate) fn by_user(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (user, codes) in grouped(cx, |group| Some(group.user.clone())) {
        rows(&[text(user)], &codes, false, out);
    }
    Ok(())
}

pub(crate) fn by_host(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (host, codes) in grouped(cx, |group| Some(group.host.clone())) {
        rows(&[text(host)], &codes, false, out);
    }
    Ok(())
}

pub(crate) fn global(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let groups = grouped(cx, |_| Some(()));
    rows(&[], groups.get(&()).unwrap_or(&Codes::new()), true, out);
    Ok(())
}
