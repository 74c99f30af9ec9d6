//! The sweep for programs. The schema, which only ever grows:
//!
//! ```text
//! { "schema": 1,
//!   "started": unix seconds, "sysbench": version,
//!   "options": { "tables", "table_size", "time_s", "warmup_s", "repeat", "rand_type", "extra": [word] },
//!   "targets": [ { "name", "address", "version" } ],
//!   "runs": [ { "round", "target": name, "test", "threads",
//!               "error": text                                      -- either this
//!               "transactions", "queries", "seconds", "tps", "qps",  -- or all of these
//!               "ignored_errors", "reconnects", "latency_ms": { "avg", "p95", "max" },
//!               "server": null | { "cpu_us_per_query", "voluntary_switches_per_query",
//!                                  "involuntary_switches_per_query", "peak_memory_kib" },
//!               "machine": null | { "idle", "io_wait", "server", "sysbench" }   -- shares of all CPU time
//!             } ],
//!   "cells": [ { "test", "threads",
//!                "targets": { name: { "qps", "tps", "p95_ms", "qps_spread", "p95_ms_spread",
//!                                     "server_cpu_us_per_query", "errors", "reconnects", "failed_runs",
//!                                     "ratio": first target / this one } } } ],
//!                                            -- a spread is the [least, greatest] of the rounds
//!   "collapses": [ { "test", "target", "peak_threads", "last_threads", "kept", "cause" } ],
//!   "failures": [ text ] }                                          -- prepares and cleanups
//! ```
//!
//! A figure that does not exist (a failed run, a server elsewhere) is null.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::options::{Options, Target};
use crate::run::{Measured, Run, Sweep};
use crate::summary::{Cell, Figures, Place, Summary, ratio};

#[derive(Serialize)]
struct Root<'a> {
    schema: u32,
    started: u64,
    sysbench: &'a str,
    options: OptionsOut<'a>,
    targets: Vec<TargetOut<'a>>,
    runs: Vec<RunOut<'a>>,
    cells: Vec<CellOut<'a>>,
    collapses: Vec<CollapseOut<'a>>,
    failures: &'a [String],
}

#[derive(Serialize)]
struct OptionsOut<'a> {
    tables: usize,
    table_size: usize,
    time_s: u64,
    warmup_s: u64,
    repeat: usize,
    rand_type: &'a str,
    extra: &'a [String],
}

#[derive(Serialize)]
struct TargetOut<'a> {
    name: &'a str,
    address: String,
    version: Option<&'a str>,
}

#[derive(Serialize)]
struct RunOut<'a> {
    round: usize,
    target: &'a str,
    test: &'a str,
    threads: usize,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome<'a> {
    Failed { error: &'a str },
    Measured(MeasuredOut),
}

#[derive(Serialize)]
struct MeasuredOut {
    transactions: u64,
    queries: u64,
    seconds: f64,
    tps: f64,
    qps: f64,
    ignored_errors: u64,
    reconnects: u64,
    latency_ms: Latency,
    server: Option<ServerOut>,
    machine: Option<MachineOut>,
}

#[derive(Serialize)]
struct Latency {
    avg: f64,
    p95: f64,
    max: f64,
}

/// NaN is written as null.
#[derive(Serialize)]
struct ServerOut {
    cpu_us_per_query: f64,
    voluntary_switches_per_query: f64,
    involuntary_switches_per_query: f64,
    peak_memory_kib: Option<u64>,
}

#[derive(Serialize)]
struct MachineOut {
    idle: f64,
    io_wait: f64,
    server: Option<f64>,
    sysbench: f64,
}

#[derive(Serialize)]
struct CellOut<'a> {
    test: &'a str,
    threads: usize,
    targets: ByName<'a>,
}

/// An object whose fields stand in the order of the targets.
struct ByName<'a>(Vec<(&'a str, PlaceOut)>);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, place) in &self.0 {
            map.serialize_entry(name, place)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct PlaceOut {
    qps: Option<f64>,
    tps: Option<f64>,
    p95_ms: Option<f64>,
    qps_spread: Option<(f64, f64)>,
    p95_ms_spread: Option<(f64, f64)>,
    server_cpu_us_per_query: Option<f64>,
    errors: u64,
    reconnects: u64,
    failed_runs: usize,
    ratio: Option<f64>,
}

#[derive(Serialize)]
struct CollapseOut<'a> {
    test: &'a str,
    target: &'a str,
    peak_threads: usize,
    last_threads: usize,
    kept: f64,
    cause: &'static str,
}

/// The whole sweep as one JSON document.
pub fn render(options: &Options, sweep: &Sweep, summary: &Summary) -> String {
    let targets = options.targets.iter().enumerate().map(|(i, target)| TargetOut {
        name: &target.name,
        address: target.address.to_string(),
        version: sweep.versions.get(i).map(String::as_str),
    });
    let collapses = summary.collapses.iter().map(|fall| CollapseOut {
        test: &fall.test,
        target: &options.targets[fall.target].name,
        peak_threads: fall.peak_threads,
        last_threads: fall.last_threads,
        kept: fall.kept,
        cause: fall.cause.word(),
    });
    let root = Root {
        schema: 1,
        started: sweep.started,
        sysbench: &sweep.sysbench,
        options: OptionsOut {
            tables: options.tables,
            table_size: options.table_size,
            time_s: options.time.as_secs(),
            warmup_s: options.warmup.as_secs(),
            repeat: options.repeat,
            rand_type: &options.rand_type,
            extra: &options.extra,
        },
        targets: targets.collect(),
        runs: sweep.runs.iter().map(|one| run(options, one)).collect(),
        cells: summary.cells.iter().map(|one| cell(&options.targets, one)).collect(),
        collapses: collapses.collect(),
        failures: &sweep.failures,
    };
    // Keys are texts and nothing is written to but memory.
    serde_json::to_string_pretty(&root).expect("a sweep is JSON") + "\n"
}

fn run<'a>(options: &'a Options, run: &'a Run) -> RunOut<'a> {
    let outcome = match &run.outcome {
        Err(error) => Outcome::Failed { error },
        Ok(one) => Outcome::Measured(measured(one)),
    };
    let target = &options.targets[run.target].name;
    RunOut { round: run.round, target, test: &run.test, threads: run.threads, outcome }
}

fn measured(measured: &Measured) -> MeasuredOut {
    let report = &measured.report;
    MeasuredOut {
        transactions: report.transactions,
        queries: report.queries,
        seconds: report.seconds,
        tps: report.tps,
        qps: report.qps,
        ignored_errors: report.ignored_errors,
        reconnects: report.reconnects,
        latency_ms: Latency { avg: report.latency_avg_ms, p95: report.latency_p95_ms, max: report.latency_max_ms },
        server: measured.server.as_ref().map(|server| ServerOut {
            cpu_us_per_query: server.cpu_us_per_query,
            voluntary_switches_per_query: server.voluntary_switches_per_query,
            involuntary_switches_per_query: server.involuntary_switches_per_query,
            peak_memory_kib: server.peak_memory_kib,
        }),
        machine: measured.machine.map(|shares| MachineOut {
            idle: shares.idle,
            io_wait: shares.io_wait,
            server: shares.server,
            sysbench: shares.sysbench,
        }),
    }
}

fn cell<'a>(targets: &'a [Target], cell: &'a Cell) -> CellOut<'a> {
    let place = |place: &Place| {
        let figures: Option<&Figures> = place.figures.as_ref();
        let server = figures.and_then(|figures| figures.server.as_ref());
        PlaceOut {
            qps: figures.map(|figures| figures.qps),
            tps: figures.map(|figures| figures.tps),
            p95_ms: figures.map(|figures| figures.p95_ms),
            qps_spread: figures.map(|figures| figures.qps_spread),
            p95_ms_spread: figures.map(|figures| figures.p95_ms_spread),
            server_cpu_us_per_query: server.map(|server| server.cpu_us_per_query),
            errors: place.errors,
            reconnects: place.reconnects,
            failed_runs: place.failed_runs,
            ratio: ratio(&cell.places[0], place),
        }
    };
    let places = cell.places.iter().zip(targets).map(|(one, target)| (target.name.as_str(), place(one)));
    CellOut { test: &cell.test, threads: cell.threads, targets: ByName(places.collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{options, run as one, sweep};

    #[test]
    fn text_is_escaped_and_missing_figures_are_null() {
        let options = options("--target a\"b=h:1 --tests t --threads 4");
        let mut failed = one(0, 4, 1.0, 0.0);
        failed.outcome = Err("line\n\"two\"\u{1}".into());
        let sweep = sweep(vec![failed, one(0, 4, 10.0, 0.5), one(0, 4, 30.0, 0.5)]);
        let text = render(&options, &sweep, &Summary::of(&options, &sweep));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["runs"][0]["error"], "line\n\"two\"\u{1}");
        assert!(json["runs"][0].get("qps").is_none(), "{text}");
        assert!(json["runs"][1]["server"]["involuntary_switches_per_query"].is_null(), "NaN is no JSON: {text}");
        let place = &json["cells"][0]["targets"]["a\"b"];
        assert_eq!((place["qps"].as_f64(), place["failed_runs"].as_u64()), (Some(400.0), Some(1)), "{text}");
        assert_eq!(place["qps_spread"], serde_json::json!([200.0, 600.0]));
        let order: Vec<_> = ["schema", "options", "targets", "runs", "cells"].map(|name| text.find(name)).into();
        assert!(order.is_sorted(), "fields stand in the order of the schema: {text}");
    }
}
