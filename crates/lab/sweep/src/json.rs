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
//!                "targets": { name: { "qps", "tps", "p95_ms", "server_cpu_us_per_query", "errors",
//!                                     "reconnects", "failed_runs", "ratio": first target / this one } } } ],
//!   "collapses": [ { "test", "target", "peak_threads", "last_threads", "kept", "cause" } ],
//!   "failures": [ text ] }                                          -- prepares and cleanups
//! ```
//!
//! A figure that does not exist (a failed run, a server elsewhere) is null. The writer is a few lines of its own because
//! nothing else of the sweep needs a library.

use std::fmt::Write;

use crate::options::{Address, Options};
use crate::run::{Run, Sweep};
use crate::summary::{Summary, ratio};

/// A value under construction.
enum Json {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
        Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Number(value) if !value.is_finite() => out.push_str("null"),
            Json::Number(value) => {
                let _infallible = write!(out, "{value}");
            }
            Json::Text(text) => quote(text, out),
            Json::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ",\n" } else { "\n" });
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (i, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    quote(name, out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Json {
        Json::Number(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Number(value as f64)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Json {
        Json::Number(value as f64)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _infallible = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

pub fn render(options: &Options, sweep: &Sweep, summary: &Summary) -> String {
    let texts = |list: &[String]| Json::List(list.iter().map(|text| text.as_str().into()).collect());
    let targets = options.targets.iter().enumerate().map(|(i, target)| {
        Json::object([
            ("name", target.name.as_str().into()),
            ("address", address(&target.address).as_str().into()),
            ("version", sweep.versions.get(i).map(String::as_str).into()),
        ])
    });
    let root = Json::object([
        ("schema", Json::Number(1.0)),
        ("started", sweep.started.into()),
        ("sysbench", sweep.sysbench.as_str().into()),
        (
            "options",
            Json::object([
                ("tables", options.tables.into()),
                ("table_size", options.table_size.into()),
                ("time_s", options.time.as_secs().into()),
                ("warmup_s", options.warmup.as_secs().into()),
                ("repeat", options.repeat.into()),
                ("rand_type", options.rand_type.as_str().into()),
                ("extra", texts(&options.extra)),
            ]),
        ),
        ("targets", Json::List(targets.collect())),
        ("runs", Json::List(sweep.runs.iter().map(|one| run(options, one)).collect())),
        ("cells", cells(options, summary)),
        ("collapses", collapses(options, summary)),
        ("failures", texts(&sweep.failures)),
    ]);
    let mut out = String::new();
    root.write(&mut out);
    out.push('\n');
    out
}

pub fn address(address: &Address) -> String {
    match address {
        Address::Tcp { host, port } => format!("{host}:{port}"),
        Address::Unix(path) => path.display().to_string(),
    }
}

fn run(options: &Options, run: &Run) -> Json {
    let mut fields: Vec<(String, Json)> = Vec::new();
    let mut put = |name: &str, value: Json| fields.push((name.to_owned(), value));
    put("round", run.round.into());
    put("target", options.targets[run.target].name.as_str().into());
    put("test", run.test.as_str().into());
    put("threads", run.threads.into());
    match &run.outcome {
        Err(message) => put("error", message.as_str().into()),
        Ok(measured) => {
            let report = &measured.report;
            put("transactions", report.transactions.into());
            put("queries", report.queries.into());
            put("seconds", report.seconds.into());
            put("tps", report.tps.into());
            put("qps", report.qps.into());
            put("ignored_errors", report.ignored_errors.into());
            put("reconnects", report.reconnects.into());
            let latency = Json::object([
                ("avg", report.latency_avg_ms.into()),
                ("p95", report.latency_p95_ms.into()),
                ("max", report.latency_max_ms.into()),
            ]);
            put("latency_ms", latency);
            let server = measured.server.as_ref().map(|server| {
                Json::object([
                    ("cpu_us_per_query", server.cpu_us_per_query.into()),
                    ("voluntary_switches_per_query", server.voluntary_switches_per_query.into()),
                    ("involuntary_switches_per_query", server.involuntary_switches_per_query.into()),
                    ("peak_memory_kib", server.peak_memory_kib.into()),
                ])
            });
            put("server", server.unwrap_or(Json::Null));
            let machine = measured.machine.map(|shares| {
                Json::object([
                    ("idle", shares.idle.into()),
                    ("io_wait", shares.io_wait.into()),
                    ("server", shares.server.into()),
                    ("sysbench", shares.sysbench.into()),
                ])
            });
            put("machine", machine.unwrap_or(Json::Null));
        }
    }
    Json::Object(fields)
}

fn cells(options: &Options, summary: &Summary) -> Json {
    let cell = |cell: &crate::summary::Cell| {
        let places = cell.places.iter().zip(&options.targets).map(|(place, target)| {
            let figures = place.figures.as_ref();
            let server = figures.and_then(|figures| figures.server.as_ref());
            let value = Json::object([
                ("qps", figures.map(|figures| figures.qps).into()),
                ("tps", figures.map(|figures| figures.tps).into()),
                ("p95_ms", figures.map(|figures| figures.p95_ms).into()),
                ("server_cpu_us_per_query", server.map(|server| server.cpu_us_per_query).into()),
                ("errors", place.errors.into()),
                ("reconnects", place.reconnects.into()),
                ("failed_runs", place.failed_runs.into()),
                ("ratio", ratio(&cell.places[0], place).into()),
            ]);
            (target.name.clone(), value)
        });
        Json::object([
            ("test", cell.test.as_str().into()),
            ("threads", cell.threads.into()),
            ("targets", Json::Object(places.collect())),
        ])
    };
    Json::List(summary.cells.iter().map(cell).collect())
}

fn collapses(options: &Options, summary: &Summary) -> Json {
    let fall = |fall: &crate::summary::Collapse| {
        Json::object([
            ("test", fall.test.as_str().into()),
            ("target", options.targets[fall.target].name.as_str().into()),
            ("peak_threads", fall.peak_threads.into()),
            ("last_threads", fall.last_threads.into()),
            ("kept", fall.kept.into()),
            ("cause", fall.cause.word().into()),
        ])
    };
    Json::List(summary.collapses.iter().map(fall).collect())
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
        let sweep = sweep(vec![failed, one(0, 4, 10.0, 0.5)]);
        let text = render(&options, &sweep, &Summary::of(&options, &sweep));
        assert!(text.contains(r#""error": "line\n\"two\"\u0001""#), "{text}");
        assert!(text.contains(r#""involuntary_switches_per_query": null"#), "NaN is no JSON: {text}");
        assert!(text.contains(r#""a\"b": {"qps": 200"#), "{text}");
        assert!(text.contains(r#""failed_runs": 1"#), "{text}");
    }
}
