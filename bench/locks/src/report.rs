//! The cells as a table (Markdown), as lines (tab-separated) and as plots (SVG).

use crate::Options;
use crate::measure::Cell;
use std::fmt::Write;
use sweep::svg::{self, Line, Plot};

/// 10 as "1 %".
pub fn share(per_mille: u32) -> String {
    format!("{} %", f64::from(per_mille) / 10.0)
}

pub fn tsv(cells: &[Cell]) -> String {
    let mut out = String::from(
        "writers_per_mille\tthreads\tkind\toperations_per_s\tleast_share\tlongest_ms\tswitches_per_1000\n",
    );
    for c in cells {
        let _infallible = writeln!(
            out,
            "{}\t{}\t{}\t{:.0}\t{:.3}\t{:.3}\t{:.3}",
            c.writers_per_mille,
            c.threads,
            c.kind,
            c.operations_per_s,
            c.least_share,
            c.longest_ms,
            c.switches_per_1000
        );
    }
    out
}

/// A table for each share of writers: throughput at every thread count; fairness and context switches at a few threads a core,
/// and at the highest count.
pub fn markdown(cells: &[Cell], options: &Options) -> String {
    let mut out = String::new();
    let most = options.threads.last().copied().unwrap_or(1);
    let few = options.threads.iter().copied().find(|threads| *threads >= 16).unwrap_or(most);
    for &writers in &options.writers {
        let threads: Vec<String> = options.threads.iter().map(usize::to_string).collect();
        let _infallible = write!(out, "\n{} writers, million operations/s by threads:\n\n", share(writers));
        let (heads, rules) = (threads.join(" | "), "---: | ".repeat(threads.len()));
        let pair = format!("{few}, {most}");
        let _infallible = write!(out, "| kind | {heads} | longest wait at {pair}, ms | least share at {pair} | ");
        let _infallible = writeln!(out, "switches/1000 at {pair} |");
        let _infallible = writeln!(out, "| --- | {rules}---: | ---: | ---: |");
        for kind in &options.kinds {
            let of_kind: Vec<&Cell> =
                cells.iter().filter(|cell| cell.kind == kind.name && cell.writers_per_mille == writers).collect();
            let _infallible = write!(out, "| {} |", kind.name);
            for cell in &of_kind {
                let _infallible = write!(out, " {:.2} |", cell.operations_per_s / 1e6);
            }
            let at = |threads| of_kind.iter().find(|cell| cell.threads == threads);
            if let (Some(few), Some(most)) = (at(few), at(most)) {
                let _infallible = write!(out, " {:.1}, {:.0} |", few.longest_ms, most.longest_ms);
                let _infallible = write!(out, " {:.2}, {:.2} |", few.least_share, most.least_share);
                let _infallible = writeln!(out, " {:.2}, {:.2} |", few.switches_per_1000, most.switches_per_1000);
            }
        }
    }
    out
}

/// A row of plots for each share of writers.
pub fn svg(cells: &[Cell], options: &Options) -> String {
    type Figure = (&'static str, &'static str, fn(&Cell) -> f64);
    let figures: [Figure; 3] = [
        ("throughput", "operations/s", |cell| cell.operations_per_s),
        ("longest wait", "ms", |cell| cell.longest_ms),
        ("context switches", "for 1000 operations", |cell| cell.switches_per_1000),
    ];
    let titles: Vec<[(String, String); 3]> = options
        .writers
        .iter()
        .map(|writers| {
            figures.map(|(name, _, _)| {
                (format!("p{writers}{}", &name[..2]), format!("{} writers: {name}", share(*writers)))
            })
        })
        .collect();
    let mut plots = Vec::new();
    for (&writers, titles) in options.writers.iter().zip(&titles) {
        for ((_, unit, figure), (id, title)) in figures.into_iter().zip(titles) {
            let of_kind = |name: &str| {
                let cells = cells.iter().filter(|cell| cell.kind == name && cell.writers_per_mille == writers);
                cells.map(|cell| Some(figure(cell))).collect()
            };
            let lines = options
                .kinds
                .iter()
                .map(|kind| Line { name: kind.name, values: of_kind(kind.name), spread: Vec::new() })
                .collect();
            plots.push(Plot { id, title, unit, threads: &options.threads, lines });
        }
    }
    svg::document(&plots, figures.len())
}
