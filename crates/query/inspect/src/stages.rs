//! Stages of statements in `performance_schema`.

use crate::grouped::{By, grouped};
use crate::statements::{ps, times};
use crate::{Context, Row, uint, word};
use catalog::ComputedRows;
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

/// Sums by stage, a row for each.
pub(crate) fn sums(cx: &Context, by: By) -> ComputedRows {
    let groups = grouped(cx, by, |classes: &mut BTreeMap<usize, TimeTotals>, sums| {
        for (class, totals) in &sums.stages {
            classes.entry(class.index()).or_default().merge(totals);
        }
    });
    Box::new(groups.into_iter().flat_map(|(group, classes)| {
        let stages = ALL.iter().enumerate().filter(|(_, instrument)| instrument.kind == Kind::Stage);
        stages.map(move |(class, instrument)| {
            let mut row = group.clone();
            row.push(word(instrument.name));
            row.extend(times(classes.get(&class).unwrap_or(&TimeTotals::NONE)));
            row
        })
    }))
}
