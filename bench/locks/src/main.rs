//! The lock kinds of crate `sync` side by side: readers only, writers only, and mixes, at rising thread counts.
//!
//! ```text
//!   locks [--kinds K,K] [--threads N,N] [--writers PER_MILLE,...] [--seconds S] [--rounds R] [--tsv FILE] [--svg FILE]
//!   locks --gate FILE --kinds K --threads N --writers PER_MILLE --operations N      under an emulator that counts cache lines
//! ```
//! A *cell* is one kind at one thread count and one share of writers. It runs twice: once without looking at the clock, for
//! throughput and context switches, and once timing every operation, for the longest wait. Kinds take turns within a cell, so that a
//! noisy second hits all alike; figures are medians over the rounds. See `bench/locks.sh`.

mod kinds;
mod measure;
mod report;

use measure::Cell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

struct Options {
    kinds: Vec<kinds::Entry>,
    threads: Vec<usize>,
    /// Writers among a thousand operations.
    writers: Vec<u32>,
    seconds: f64,
    rounds: usize,
    tsv: Option<PathBuf>,
    svg: Option<PathBuf>,
    gate: Option<PathBuf>,
    operations: u64,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _nowhere_to_say = writeln!(io::stderr(), "locks: {message}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        kinds: kinds::ALL.to_vec(),
        threads: (0..=8).map(|power| 1 << power).collect(),
        writers: vec![0, 10, 100, 500, 1000],
        seconds: 0.2,
        rounds: 3,
        tsv: None,
        svg: None,
        gate: None,
        operations: 1000,
    };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next().ok_or_else(|| format!("{name} wants a value"))?;
        match name.as_str() {
            "--kinds" => options.kinds = value.split(',').map(kinds::named).collect::<Result<_, _>>()?,
            "--threads" => options.threads = numbers(&value)?,
            "--writers" => options.writers = numbers(&value)?,
            "--seconds" => options.seconds = number(&value)?,
            "--rounds" => options.rounds = number(&value)?,
            "--operations" => options.operations = number(&value)?,
            "--tsv" => options.tsv = Some(value.into()),
            "--svg" => options.svg = Some(value.into()),
            "--gate" => options.gate = Some(value.into()),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if options.writers.iter().any(|writers| *writers > 1000) || options.rounds == 0 || options.threads.contains(&0) {
        return Err("writers are at most 1000 per mille; rounds and threads at least 1".to_owned());
    }
    Ok(options)
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

fn numbers<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, String> {
    text.split(',').map(number).collect()
}

fn run(options: &Options) -> Result<(), String> {
    if let Some(gate) = &options.gate {
        let (Some(kind), Some(threads), Some(writers)) =
            (options.kinds.first(), options.threads.first(), options.writers.first())
        else {
            return Err("--gate wants a kind, a thread count and a share of writers".to_owned());
        };
        let done = (kind.gated)(gate, *threads, *writers, options.operations).map_err(|error| error.to_string())?;
        return say(&format!("{done}\n"));
    }
    let cells = measure_all(options)?;
    let write = |path: &Option<PathBuf>, text: String| match path {
        Some(path) => std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display())),
        None => Ok(()),
    };
    write(&options.tsv, report::tsv(&cells))?;
    write(&options.svg, report::svg(&cells, options))?;
    say(&report::markdown(&cells, options))
}

fn say(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
}

/// One cell's median for each kind, thread count and mix.
fn measure_all(options: &Options) -> Result<Vec<Cell>, String> {
    let duration = Duration::from_secs_f64(options.seconds);
    let mut cells = Vec::new();
    for &writers in &options.writers {
        for &threads in &options.threads {
            let mut rounds = vec![Vec::new(); options.kinds.len()];
            for round in 0..options.rounds {
                // Another kind begins in each round.
                for at in 0..options.kinds.len() {
                    let at = (at + round) % options.kinds.len();
                    let cell =
                        (options.kinds[at].cell)(threads, writers, duration).map_err(|error| error.to_string())?;
                    rounds[at].push(cell);
                }
            }
            let _nowhere_to_say = write!(io::stderr(), "\r{} writers, {threads} threads   ", report::share(writers));
            cells.extend(rounds.iter().map(|rounds| measure::median(rounds)));
        }
    }
    let _nowhere_to_say = writeln!(io::stderr());
    Ok(cells)
}
