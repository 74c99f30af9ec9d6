//! Statements in `performance_schema`: the last ones of each session, and sums by class of them.

use crate::grouped::{By, grouped};
use crate::{Context, Row, maybe, text, uint, word};
use catalog::{ComputedRows, RoutineKind};
use observe::digests::DigestHash;
use observe::errors::ErrorTotals;
use observe::instrument::{ALL, InstrumentId, STATEMENTS};
use observe::programs::ProgramTotals;
use observe::{Figures, StatementTotals, TimeTotals, TransactionTotals};
use std::collections::BTreeMap;
use types::{Result, Value};

/// A statement of a session that is there: its fields are the columns of the tables.
#[derive(Clone, Debug)]
pub struct StatementEvent {
    pub thread: u64,
    pub event_id: u64,
    /// `None`: it is going on.
    pub end_event_id: Option<u64>,
    pub class: InstrumentId,
    /// Begin and end, or now, in nanoseconds since the server began. `None`: it was not timed.
    pub timer: Option<(u64, u64)>,
    pub text: Option<String>,
    /// The digest's hash and text.
    pub digest: Option<(DigestHash, String)>,
    pub schema: Option<String>,
    pub error: u16,
    /// `None`: it has ended in rows, or not yet.
    pub sqlstate: Option<String>,
    pub message: Option<String>,
    pub figures: Figures,
    pub statement_id: u64,
    /// The transaction that it is part of; of a statement of a program, the statement.
    pub nesting: Option<u64>,
    /// How many programs it is within.
    pub level: u32,
    /// The program: kind, schema and name.
    pub object: Option<(&'static str, String, String)>,
}

/// Sums of a session, or of those of an account that have ended.
#[derive(Clone, Debug)]
pub struct SessionSums {
    pub thread: Option<u64>,
    pub user: String,
    pub host: String,
    pub statements: Vec<(InstrumentId, StatementTotals)>,
    pub transactions: TransactionTotals,
    /// By number.
    pub errors: Vec<(u16, ErrorTotals)>,
    pub stages: Vec<(InstrumentId, TimeTotals)>,
}

/// A client's host without its port.
pub fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => host,
    }
}

/// Nanoseconds as the picoseconds of a column.
pub(crate) fn ps(ns: u64) -> Value<'static> {
    uint(ns.saturating_mul(1000))
}

/// Figures as the columns have them: two are times.
pub(crate) fn figures(figures: &Figures) -> impl Iterator<Item = Value<'static>> + '_ {
    let is_time = |at| at == observe::Figure::LockTime as usize || at == observe::Figure::CpuTime as usize;
    figures.0.iter().enumerate().map(move |(at, &n)| if is_time(at) { ps(n) } else { uint(n) })
}

/// DIGEST and DIGEST_TEXT.
pub(crate) fn digest_columns(digest: Option<(DigestHash, String)>) -> (Value<'static>, Value<'static>) {
    let Some((hash, digest)) = digest else { return (Value::Null, Value::Null) };
    (text(hash.iter().map(|b| format!("{b:02x}")).collect::<String>()), text(digest))
}

fn event_row(event: StatementEvent) -> Row {
    let (began, ended) = event.timer.map_or((Value::Null, Value::Null), |(began, ended)| (ps(began), ps(ended)));
    let wait = event.timer.map_or(Value::Null, |(began, ended)| ps(ended.saturating_sub(began)));
    let mut figures = figures(&event.figures);
    let (kind, of_schema, name) = match event.object {
        Some((kind, schema, name)) => (word(kind), text(schema), text(name)),
        None => (Value::Null, Value::Null, Value::Null),
    };
    let (hash, digest_text) = digest_columns(event.digest);
    let mut row = vec![
        uint(event.thread),
        uint(event.event_id),
        event.end_event_id.map_or(Value::Null, uint),
        word(event.class.instrument().name),
        Value::Null,
        began,
        ended,
        wait,
        figures.next().expect("the time of locks is the first"),
        maybe(event.text),
        hash,
        digest_text,
        maybe(event.schema),
        kind,
        of_schema,
        name,
        Value::Null,
        Value::Int(event.error.into()),
        maybe(event.sqlstate),
        maybe(event.message),
    ];
    row.extend(figures.by_ref().take(18));
    let (cpu, controlled, total) = (figures.next(), figures.next(), figures.next());
    // ENUM('TRANSACTION', ...)
    let (nesting, kind) =
        event.nesting.map_or((Value::Null, Value::Null), |id| (uint(id), uint(if event.level > 0 { 2 } else { 1 })));
    row.extend([nesting, kind, Value::Int(event.level.into()), uint(event.statement_id)]);
    row.extend([cpu, controlled, total].map(|figure| figure.expect("three are left")));
    // ENUM('PRIMARY','SECONDARY')
    row.push(uint(1));
    row
}

pub(crate) fn current(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.statement_events(false).into_iter().map(event_row));
    Ok(())
}

pub(crate) fn history(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.statement_events(true).into_iter().map(event_row));
    Ok(())
}

/// COUNT_STAR to MAX_TIMER_WAIT.
pub(crate) fn times(time: &TimeTotals) -> [Value<'static>; 5] {
    let least = if time.min_ns == u64::MAX { 0 } else { time.min_ns };
    let average = time.sum_ns.checked_div(time.count).unwrap_or(0);
    [uint(time.count), ps(time.sum_ns), ps(least), ps(average), ps(time.max_ns)]
}

/// Sums by class, a row for each.
pub(crate) fn sums(cx: &Context, by: By) -> ComputedRows {
    let groups = grouped(cx, by, |classes: &mut BTreeMap<usize, StatementTotals>, sums| {
        for (class, totals) in &sums.statements {
            classes.entry(class.index()).or_default().merge(totals);
        }
    });
    Box::new(groups.into_iter().flat_map(|(group, classes)| {
        ALL[..STATEMENTS].iter().enumerate().map(move |(class, instrument)| {
            let totals = classes.get(&class).copied().unwrap_or_default();
            let mut row = group.clone();
            row.push(word(instrument.name));
            row.extend(times(&totals.time));
            row.extend(figures(&totals.figures));
            // COUNT_SECONDARY
            row.push(uint(0));
            row
        })
    }))
}

/// A row for each stored program that has run and is still there.
pub(crate) fn by_program(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let mut programs: BTreeMap<(u64, String, String), ProgramTotals> = BTreeMap::new();
    for sum in cx.source.program_sums() {
        // ENUM('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER')
        let kind = match sum.kind {
            "EVENT" => 1,
            "FUNCTION" => 2,
            "PROCEDURE" => 3,
            _ => 5,
        };
        programs.entry((kind, sum.schema, sum.name)).or_default().merge(&sum.totals);
    }
    let ran = programs.into_iter().filter(|((kind, schema, name), _)| is_there(cx, *kind, schema, name));
    out.extend(ran.map(|((kind, schema, name), totals)| {
        let mut row = vec![uint(kind), text(schema), text(name)];
        row.extend(times(&totals.runs));
        row.extend(times(&totals.statements.time));
        row.extend(figures(&totals.statements.figures));
        // COUNT_SECONDARY
        row.push(uint(0));
        row
    }));
    Ok(())
}

fn is_there(cx: &Context, kind: u64, schema: &str, name: &str) -> bool {
    let version = &cx.version;
    match kind {
        1 => version.event(schema, name).is_some(),
        2 => version.routine(schema, RoutineKind::Function, name).is_some(),
        3 => version.routine(schema, RoutineKind::Procedure, name).is_some(),
        _ => version.trigger(schema, name).is_some(),
    }
}
