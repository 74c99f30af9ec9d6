//! Stages of statements in `performance_schema`.

use crate::statements::{SessionSums, ps, times};
use crate::{Context, Row, text, uint, word};
use observe::TimeTotals;
use observe::instrument::{ALL, InstrumentId, Kind};
use std::collections::BTreeMap;
use types::{Result, Value};

/// A stage of a session that is there.
#[derive(Clone, Debug)]
pub struct StageEvent {
    pub thread: u64,
    pub event_id: u64,
    /// `None`: it is going on.
    pub end_event_id: Option<u64>,
    pub class: InstrumentId,
    /// Begin and end, or now, in nanoseconds since the server began. `None`: it was not timed.
    pub timer: Option<(u64, u64)>,
    /// Completed and estimated, in units of the stage.
    pub progress: Option<(u64, u64)>,
    /// The statement.
    pub nesting: u64,
}

fn event_row(event: StageEvent) -> Row {
    let (began, ended) = event.timer.map_or((Value::Null, Value::Null), |(began, ended)| (ps(began), ps(ended)));
    let wait = event.timer.map_or(Value::Null, |(began, ended)| ps(ended.saturating_sub(began)));
    let (completed, estimated) =
        event.progress.map_or((Value::Null, Value::Null), |(completed, estimated)| (uint(completed), uint(estimated)));
    vec![
        uint(event.thread),
        uint(event.event_id),
        event.end_event_id.map_or(Value::Null, uint),
        word(event.class.instrument().name),
        Value::Null,
        began,
        ended,
        wait,
        completed,
        estimated,
        uint(event.nesting),
        // ENUM('TRANSACTION','STATEMENT', ...)
        uint(2),
    ]
}

pub(crate) fn current(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.stage_events(false).into_iter().map(event_row));
    Ok(())
}

pub(crate) fn history(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.stage_events(true).into_iter().map(event_row));
    Ok(())
}

type Classes = BTreeMap<usize, TimeTotals>;

/// Sums by a key of the group.
fn grouped<K: Ord>(cx: &Context, key: impl Fn(&SessionSums) -> Option<K>) -> BTreeMap<K, Classes> {
    let mut groups: BTreeMap<K, Classes> = BTreeMap::new();
    for group in cx.source.session_sums() {
        let Some(key) = key(&group) else { continue };
        let classes = groups.entry(key).or_default();
        for (class, totals) in &group.stages {
            classes.entry(class.index()).or_default().merge(totals);
        }
    }
    groups
}

/// Sums of one group, a row for each stage.
fn rows(group: &[Value<'static>], classes: Option<&Classes>, out: &mut Vec<Row>) {
    for (class, instrument) in ALL.iter().enumerate().filter(|(_, instrument)| instrument.kind == Kind::Stage) {
        let totals = classes.and_then(|classes| classes.get(&class)).copied().unwrap_or_default();
        let mut row = group.to_vec();
        row.push(word(instrument.name));
        row.extend(times(&totals));
        out.push(row);
    }
}

pub(crate) fn by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (thread, classes) in grouped(cx, |group| group.thread) {
        rows(&[uint(thread)], Some(&classes), out);
    }
    Ok(())
}

pub(crate) fn by_account(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for ((user, host), classes) in grouped(cx, |group| Some((group.user.clone(), group.host.clone()))) {
        rows(&[text(user), text(host)], Some(&classes), out);
    }
    Ok(())
}

pub(crate) fn by_user(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (user, classes) in grouped(cx, |group| Some(group.user.clone())) {
        rows(&[text(user)], Some(&classes), out);
    }
    Ok(())
}

pub(crate) fn by_host(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (host, classes) in grouped(cx, |group| Some(group.host.clone())) {
        rows(&[text(host)], Some(&classes), out);
    }
    Ok(())
}

pub(crate) fn global(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    rows(&[], grouped(cx, |_| Some(())).get(&()), out);
    Ok(())
}
