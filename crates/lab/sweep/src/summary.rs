//! Medians over rounds, ratios between targets, and the collapse verdict of each test on each target.

use crate::cause::{self, COLLAPSE_BELOW, Cause};
use crate::options::Options;
use crate::probe::Shares;
use crate::run::{Measured, Run, ServerCost, Sweep};

/// One cell on one target: the median of each figure by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    pub qps: f64,
    pub tps: f64,
    pub p95_ms: f64,
    /// Least and greatest of the rounds.
    pub qps_spread: (f64, f64),
    pub p95_ms_spread: (f64, f64),
    pub server: Option<ServerCost>,
    pub machine: Option<Shares>,
}

/// One cell on one target, over all rounds.
#[derive(Clone, Debug)]
pub struct Place {
    /// None when no run of the cell on this target gave figures.
    pub figures: Option<Figures>,
    /// Over all rounds: errors that sysbench went on after, and connections that it had to open anew.
    pub errors: u64,
    pub reconnects: u64,
    pub failed_runs: usize,
    pub first_failure: Option<String>,
}

/// One test at one thread count.
#[derive(Clone, Debug)]
pub struct Cell {
    pub test: String,
    pub threads: usize,
    /// One for each target, in their order.
    pub places: Vec<Place>,
}

/// A target that does not keep its throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct Collapse {
    pub test: String,
    pub target: usize,
    pub peak_threads: usize,
    pub last_threads: usize,
    /// Transactions per second at the highest thread count over those at the peak; below [`COLLAPSE_BELOW`].
    pub kept: f64,
    pub cause: Cause,
}

/// What the reports are made of.
pub struct Summary {
    pub cells: Vec<Cell>,
    pub collapses: Vec<Collapse>,
    pub failures: Vec<String>,
}

impl Summary {
    /// Medians, spreads and collapses of a sweep.
    pub fn of(options: &Options, sweep: &Sweep) -> Summary {
        let mut cells = Vec::new();
        for test in &options.tests {
            for &threads in &options.threads {
                let place = |target| {
                    let here = |run: &&Run| run.target == target && run.test == *test && run.threads == threads;
                    place(sweep.runs.iter().filter(here))
                };
                let places = (0..options.targets.len()).map(place).collect();
                cells.push(Cell { test: test.clone(), threads, places });
            }
        }
        let mut collapses = Vec::new();
        for test in &options.tests {
            for target in 0..options.targets.len() {
                let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.test == *test).collect();
                collapses.extend(collapse(&cells, target));
            }
        }
        Summary { cells, collapses, failures: sweep.failures.clone() }
    }
}

fn place<'a>(runs: impl Iterator<Item = &'a Run>) -> Place {
    let mut place = Place { figures: None, errors: 0, reconnects: 0, failed_runs: 0, first_failure: None };
    let mut measured = Vec::new();
    for run in runs {
        match &run.outcome {
            Ok(figures) => {
                place.errors += figures.report.ignored_errors;
                place.reconnects += figures.report.reconnects;
                measured.push(figures);
            }
            Err(message) => {
                place.failed_runs += 1;
                place.first_failure.get_or_insert_with(|| message.clone());
            }
        }
    }
    place.figures = figures(&measured);
    place
}

fn figures(measured: &[&Measured]) -> Option<Figures> {
    let over = |figure: &dyn Fn(&Measured) -> Option<f64>| median(measured.iter().filter_map(|m| figure(m)).collect());
    let cost = |figure: &dyn Fn(&ServerCost) -> f64| over(&|m| m.server.as_ref().map(figure));
    let share = |figure: &dyn Fn(&Shares) -> f64| over(&|m| m.machine.as_ref().map(figure));
    let server = cost(&|server| server.cpu_us_per_query).map(|cpu_us_per_query| ServerCost {
        cpu_us_per_query,
        voluntary_switches_per_query: cost(&|server| server.voluntary_switches_per_query).unwrap_or(f64::NAN),
        involuntary_switches_per_query: cost(&|server| server.involuntary_switches_per_query).unwrap_or(f64::NAN),
        peak_memory_kib: measured.iter().filter_map(|m| m.server.as_ref()?.peak_memory_kib).max(),
    });
    let machine = match (share(&|s| s.idle), share(&|s| s.io_wait), share(&|s| s.sysbench)) {
        (Some(idle), Some(io_wait), Some(sysbench)) => {
            Some(Shares { idle, io_wait, sysbench, server: over(&|m| m.machine.as_ref()?.server) })
        }
        _ => None,
    };
    Some(Figures {
        qps: over(&|m| Some(m.report.qps))?,
        tps: over(&|m| Some(m.report.tps))?,
        p95_ms: over(&|m| Some(m.report.latency_p95_ms))?,
        qps_spread: spread(measured.iter().map(|m| m.report.qps)),
        p95_ms_spread: spread(measured.iter().map(|m| m.report.latency_p95_ms)),
        server,
        machine,
    })
}

/// The middle value, or the mean of the two middle ones; what is not a number is left out.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| !value.is_nan());
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// The least and the greatest.
fn spread(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// Queries a second of `a` over those of `b`.
pub fn ratio(a: &Place, b: &Place) -> Option<f64> {
    let (a, b) = (a.figures.as_ref()?.qps, b.figures.as_ref()?.qps);
    if b > 0.0 { Some(a / b) } else { None }
}

/// `cells` are those of one test, by threads.
fn collapse(cells: &[&Cell], target: usize) -> Option<Collapse> {
    let seen: Vec<(usize, &Figures)> =
        cells.iter().filter_map(|cell| Some((cell.threads, cell.places[target].figures.as_ref()?))).collect();
    let (peak_threads, peak) = seen.iter().max_by(|(_, a), (_, b)| a.tps.total_cmp(&b.tps))?;
    let (last_threads, last) = seen.last()?;
    let kept = last.tps / peak.tps;
    if peak.tps <= 0.0 || kept >= COLLAPSE_BELOW {
        return None;
    }
    Some(Collapse {
        test: cells[0].test.clone(),
        target,
        peak_threads: *peak_threads,
        last_threads: *last_threads,
        kept,
        cause: cause::cause(last.machine),
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::options::{Parsed, parse};
    use crate::sysbench::Report;

    pub fn options(text: &str) -> Options {
        match parse(text.split_whitespace().map(String::from)) {
            Ok(Parsed::Run(options)) => *options,
            _ => panic!("usage: {text}"),
        }
    }

    /// A run with `tps` transactions a second on a machine that idles `idle` of its time.
    pub fn run(target: usize, threads: usize, tps: f64, idle: f64) -> Run {
        let report = Report {
            transactions: tps as u64,
            queries: (tps * 20.0) as u64,
            ignored_errors: 1,
            reconnects: 0,
            seconds: 1.0,
            tps,
            qps: tps * 20.0,
            latency_avg_ms: 1.0,
            latency_p95_ms: 2.5,
            latency_max_ms: 9.0,
        };
        let server = Some(ServerCost {
            cpu_us_per_query: 12.5,
            voluntary_switches_per_query: 1.25,
            involuntary_switches_per_query: f64::NAN,
            peak_memory_kib: Some(2048),
        });
        let machine = Some(Shares { idle, io_wait: 0.0, server: Some(0.7 * (1.0 - idle)), sysbench: 0.2 });
        let outcome = Ok(Measured { report, server, machine });
        Run { round: 0, target, test: "t".into(), threads, outcome }
    }

    pub fn sweep(runs: Vec<Run>) -> Sweep {
        Sweep { started: 1_795_000_000, sysbench: "sysbench 1.0.20".into(), versions: vec![], runs, failures: vec![] }
    }

    #[test]
    fn medians_of_odd_even_and_nothing() {
        assert_eq!(median(vec![3.0, 1.0, 100.0]), Some(3.0));
        assert_eq!(median(vec![4.0, f64::NAN, 1.0]), Some(2.5));
        assert_eq!(median(vec![f64::NAN]), None);
    }

    #[test]
    fn a_failed_run_is_counted_and_the_others_still_give_figures() {
        let options = options("--target a=h:1 --target b=h:2 --tests t --threads 4");
        let mut failed = run(1, 4, 1.0, 0.0);
        failed.outcome = Err("error 1040".into());
        let runs = vec![run(0, 4, 100.0, 0.0), run(1, 4, 40.0, 0.0), failed];
        let summary = Summary::of(&options, &sweep(runs));
        let [a, b] = summary.cells[0].places.as_slice() else { panic!("two targets") };
        assert_eq!((b.failed_runs, b.first_failure.as_deref()), (1, Some("error 1040")));
        assert_eq!(ratio(a, b), Some(2.5));
        assert_eq!(a.errors, 1);
    }

    #[test]
    fn a_fall_is_named_and_a_plateau_is_not() {
        let options = options("--target a=h:1 --target b=h:2 --tests t --threads 4,64,256");
        let runs = vec![
            run(0, 4, 900.0, 0.1),
            run(0, 64, 1000.0, 0.1),
            run(0, 256, 960.0, 0.9),
            run(1, 4, 940.0, 0.1),
            run(1, 64, 400.0, 0.8),
            run(1, 256, 22.0, 0.965),
        ];
        let collapses = Summary::of(&options, &sweep(runs)).collapses;
        assert_eq!(collapses.len(), 1);
        let fall = &collapses[0];
        assert_eq!((fall.target, fall.peak_threads, fall.last_threads, fall.cause), (1, 4, 256, Cause::Lock));
        assert!((fall.kept - 22.0 / 940.0).abs() < 1e-9);
    }
}
