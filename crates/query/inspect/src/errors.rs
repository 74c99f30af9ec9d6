//! Sums of errors in `performance_schema`: each error that there is, whether it was ever raised or not.

use crate::grouped::{By, grouped};
use crate::{Context, Row, datetime, text, uint, word};
use catalog::ComputedRows;
use observe::errors::ErrorTotals;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use types::Value;
use types::error::{self, Entry};

/// Errors from here on are of the error log, and no session's.
const FIRST_OF_LOG: u16 = 10_000;

/// Those that the tables show: the server's.
static ENTRIES: LazyLock<Vec<&'static Entry>> =
    LazyLock::new(|| (1..u16::MAX).filter_map(error::entry).filter(|e| e.symbol.starts_with("ER_")).collect());

/// By number; 0 is that of all that have no row of their own.
type Codes = BTreeMap<u16, ErrorTotals>;

/// The rows of one group: all other errors, then each one by its number.
fn rows(group: Row, totals: Codes, with_log: bool) -> impl Iterator<Item = Row> {
    let time = |s: u64| if s == 0 { Value::Null } else { datetime(s) };
    let entries = ENTRIES.iter().filter(move |entry| with_log || entry.code < FIRST_OF_LOG);
    std::iter::once(None).chain(entries.map(Some)).map(move |entry| {
        let totals = totals.get(&entry.map_or(0, |entry| entry.code)).copied().unwrap_or_default();
        let mut row = group.clone();
        row.extend(match entry {
            None => [Value::Null, Value::Null, Value::Null],
            Some(entry) => {
                let state = String::from_utf8_lossy(&entry.sqlstate).into_owned();
                [Value::Int(entry.code.into()), word(entry.symbol), text(state)]
            }
        });
        row.extend([uint(totals.raised), uint(totals.handled), time(totals.first_s), time(totals.last_s)]);
        row
    })
}

/// Sums by error, a row for each. What the log says is no session's: it is among those of all together.
pub(crate) fn sums(cx: &Context, by: By) -> ComputedRows {
    let groups = grouped(cx, by, |codes: &mut Codes, sums| {
        for (code, totals) in &sums.errors {
            let shown = ENTRIES.binary_search_by_key(code, |entry| entry.code).map_or(0, |_| *code);
            codes.entry(shown).or_default().merge(totals);
        }
    });
    Box::new(groups.into_iter().flat_map(move |(group, codes)| rows(group, codes, by == By::Nothing)))
}
