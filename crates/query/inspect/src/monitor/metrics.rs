//! information_schema.INNODB_METRICS: which metrics are on, since when, and from where they count.
//!
//! Nothing is counted for them: each reads a figure that is there anyway, and remembers where that stood when it was switched on. So
//! metrics that are off cost nothing, and those that are on as little.

use super::table::{Figure, Kind, METRICS, MODULES, Metric};
use crate::{Context, Row, datetime, word};
use std::collections::HashMap;
use std::time::SystemTime;
use types::{Result, Value};

/// `innodb_monitor_enable`, `_disable`, `_reset`, `_reset_all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Enable,
    Disable,
    Reset,
    ResetAll,
}

/// A metric's state. Figures wrap: what a counter has grown by while the metric was on is the sum of two differences.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    on: bool,
    /// Subtracted from the figure while the metric is on; what it showed when it went off, while it is off.
    base: i64,
    /// What the metric showed at its last reset.
    reset_at: i64,
    extremes: Extremes,
    since_reset: Extremes,
    /// Seconds since 1970; 0: never.
    enabled_s: u64,
    disabled_s: u64,
    reset_s: u64,
}

/// The largest and the smallest value that anybody has looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes(Option<(i64, i64)>);

impl Extremes {
    fn note(&mut self, n: i64) {
        let (low, high) = self.0.unwrap_or((n, n));
        self.0 = Some((low.min(n), high.max(n)));
    }
}

/// The states of all metrics, in the order of [`METRICS`].
pub(super) struct States(Vec<State>);

impl Default for States {
    /// As a server begins: what counts from the start on has counted since then.
    fn default() -> States {
        let state = |m: &Metric| State { on: m.on, enabled_s: if m.on { now_s() } else { 0 }, ..State::default() };
        States(METRICS.iter().map(state).collect())
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// The metrics that a value of `innodb_monitor_*` names: `all`, a module, a metric, or a pattern with `%`. `None`: there is no such name.
pub fn named(name: &str) -> Option<Vec<usize>> {
    let all = || METRICS.iter().enumerate();
    if name.eq_ignore_ascii_case("all") {
        return Some((0..METRICS.len()).collect());
    }
    if let Some(module) = MODULES.iter().find(|module| module.eq_ignore_ascii_case(name)) {
        return Some(all().filter(|(_, m)| m.module == *module).map(|(at, _)| at).collect());
    }
    if name.contains('%') {
        let like = |m: &Metric| is_like(m.name.as_bytes(), name.as_bytes());
        let found: Vec<usize> = all().filter(|(_, m)| like(m)).map(|(at, _)| at).collect();
        return (!found.is_empty()).then_some(found);
    }
    all().find(|(_, m)| m.name.eq_ignore_ascii_case(name)).map(|(at, _)| vec![at])
}

/// `%` stands for any text, other characters for themselves, whatever their case.
fn is_like(name: &[u8], pattern: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'%', rest)) => (0..=name.len()).any(|from| is_like(&name[from..], rest)),
        Some((first, rest)) => {
            name.split_first().is_some_and(|(c, name)| c.eq_ignore_ascii_case(first) && is_like(name, rest))
        }
    }
}

/// Where metrics read.
struct Figures {
    status: HashMap<String, String>,
    engine: engine::Figures,
    process: io::Usage,
}

impl Figures {
    fn take(cx: &Context) -> Figures {
        Figures {
            status: cx.status().into_iter().collect(),
            engine: cx.engine.figures(),
            process: io::Usage::of_process(),
        }
    }

    fn of(&self, metric: &Metric) -> i64 {
        match metric.figure {
            Figure::Status(name) => self.status.get(name).and_then(|v| v.parse().ok()).unwrap_or(0),
            Figure::Engine(read) => read(&self.engine) as i64,
            Figure::Flush(read) => (read(&observe::histogram(observe::Timer::LogFlush)) / 1_000_000) as i64,
            Figure::Process(read) => read(&self.process) as i64,
            Figure::Processors => std::thread::available_parallelism().map_or(0, |n| n.get() as i64),
        }
    }
}

impl super::Monitor {
    /// Switches metrics or sets them back, as [`named`] has found them.
    pub fn order(&self, cx: &Context, order: Order, metrics: &[usize]) {
        let figures = Figures::take(cx);
        let mut states = self.metrics.lock();
        for at in metrics {
            states.0[*at].obey(order, figures.of(&METRICS[*at]), METRICS[*at].kind);
        }
    }
}

impl State {
    fn obey(&mut self, order: Order, figure: i64, kind: Kind) {
        let shown = self.shown(figure, kind);
        match order {
            Order::Enable if !self.on => {
                *self = State {
                    on: true,
                    // Goes on from what it showed when it went off.
                    base: if kind == Kind::Value { 0 } else { figure.wrapping_sub(shown) },
                    enabled_s: now_s(),
                    disabled_s: 0,
                    ..*self
                };
            }
            Order::Disable if self.on => {
                *self = State { on: false, base: shown, disabled_s: now_s(), reset_s: 0, ..*self };
            }
            Order::Reset => {
                let reset_at = if kind == Kind::Value { 0 } else { shown };
                *self = State { reset_at, reset_s: now_s(), since_reset: Extremes::default(), ..*self };
            }
            // Not of what is on, as in MySQL.
            Order::ResetAll if !self.on => *self = State::default(),
            _ => {}
        }
    }

    /// COUNT.
    fn shown(&self, figure: i64, kind: Kind) -> i64 {
        match (self.on, kind) {
            (false, _) => self.base,
            (true, Kind::Value) => figure,
            (true, _) => figure.wrapping_sub(self.base),
        }
    }

    fn row(&mut self, metric: &Metric, figure: i64) -> Row {
        let count = self.shown(figure, metric.kind);
        let since = count.wrapping_sub(self.reset_at);
        // A counter that has counted nothing has no extremes.
        if self.on && (metric.kind == Kind::Value || count != 0) {
            self.extremes.note(count);
            self.since_reset.note(since);
        }
        let end_s = if self.on { now_s() } else { self.disabled_s };
        let elapsed_s = end_s.saturating_sub(self.enabled_s);
        let average = |n: i64, seconds: u64| Value::Double(n as f64 / seconds.max(1) as f64);
        let counts = metric.kind != Kind::Value;
        let time = |s: u64| if s == 0 { Value::Null } else { datetime(s) };
        let high = |e: &Extremes| e.0.map_or(Value::Null, |(_, high)| Value::Int(high));
        let low = |e: &Extremes| e.0.filter(|_| !counts).map_or(Value::Null, |(low, _)| Value::Int(low));
        let is_known = self.enabled_s != 0;
        let mut row = vec![word(metric.name), word(metric.subsystem), Value::Int(count)];
        row.extend([high(&self.extremes), low(&self.extremes)]);
        row.push(if counts && is_known { average(count, elapsed_s) } else { Value::Null });
        row.extend([Value::Int(since), high(&self.since_reset), low(&self.since_reset)]);
        row.push(match counts && self.reset_s != 0 {
            true => average(since, end_s.saturating_sub(self.reset_s)),
            false => Value::Null,
        });
        row.extend([time(self.enabled_s), time(self.disabled_s)]);
        row.push(if is_known { Value::Int(elapsed_s as i64) } else { Value::Null });
        row.extend([time(self.reset_s), word(if self.on { "enabled" } else { "disabled" })]);
        row.extend([word(metric.kind.name()), word(metric.comment)]);
        row
    }
}

/// The rows of INNODB_METRICS.
pub(crate) fn rows(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let figures = Figures::take(cx);
    let mut states = cx.source.monitor().metrics.lock();
    out.extend(METRICS.iter().zip(&mut states.0).map(|(metric, state)| state.row(metric, figures.of(metric))));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_counts_while_it_is_on() {
        let mut state = State::default();
        state.obey(Order::Enable, 10, Kind::Counter);
        assert_eq!(state.shown(13, Kind::Counter), 3);
        state.obey(Order::Disable, 15, Kind::Counter);
        assert_eq!(state.shown(99, Kind::Counter), 5);
        state.obey(Order::Enable, 100, Kind::Counter);
        assert_eq!(state.shown(101, Kind::Counter), 6);
        state.obey(Order::ResetAll, 101, Kind::Counter);
        assert!(state.on, "what is on is not set back as a whole");
        state.obey(Order::Disable, 101, Kind::Counter);
        state.obey(Order::ResetAll, 101, Kind::Counter);
        assert_eq!(state.shown(101, Kind::Counter), 0);
    }

    #[test]
    fn names_patterns_and_modules_are_found() {
        assert_eq!(named("ALL").map(|all| all.len()), Some(METRICS.len()));
        assert!(named("module_dml").is_some_and(|found| found.iter().all(|at| METRICS[*at].subsystem == "dml")));
        assert_eq!(named("DML_%s").map(|found| found.len()), Some(4));
        assert_eq!(named("lock_deadlocks").map(|found| found.len()), Some(1));
        assert_eq!(named("no%such"), None);
        assert_eq!(named("nosuch"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn each_metric_is_of_a_module_that_is_known() {
        for metric in METRICS {
            assert!(MODULES.contains(&metric.module), "{}", metric.name);
        }
    }
}
