//! How far the sweep is: one line that rewrites itself on a terminal, a line a run elsewhere. On standard error, so that
//! the table on standard output stays clean.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::options::Options;
use crate::plan::Step;
use crate::run::Run;

const BAR_CELLS: usize = 24;

/// What is told while the sweep runs.
pub struct Progress {
    terminal: bool,
    started: Instant,
    runs_total: usize,
    runs_done: usize,
    /// Time of a run with its warm-up, to guess the rest before there is a measurement.
    run_time: Duration,
}

impl Progress {
    /// Counts the runs of the plan.
    pub fn start(steps: &[Step], options: &Options) -> Progress {
        Progress {
            terminal: std::io::stderr().is_terminal(),
            started: Instant::now(),
            runs_total: steps.iter().filter(|step| matches!(step, Step::Run { .. })).count(),
            runs_done: 0,
            run_time: options.time + options.warmup,
        }
    }

    /// A step begins: on a terminal the line says which.
    pub fn begin(&mut self, step: &Step, options: &Options) {
        if self.terminal {
            let text = describe(step, options);
            self.write(&format!("\r\x1b[K{} {} {text}", bar(self.runs_done, self.runs_total), self.rest()));
        }
    }

    /// A step is over: a line for its result, unless a terminal shows the next step at once.
    pub fn done(&mut self, step: &Step, last: Option<&Run>, options: &Options) {
        if !matches!(step, Step::Run { .. }) {
            return;
        }
        self.runs_done += 1;
        let Some(run) = last else { return };
        let result = match &run.outcome {
            Ok(measured) => format!("{:.0} queries/s", measured.report.qps),
            Err(message) => format!("FAILED: {message}"),
        };
        let (test, threads, target) = (&run.test, run.threads, &options.targets[run.target].name);
        let text = format!("{target}: {test}, {threads} threads, round {}: {result}", run.round + 1);
        if self.terminal {
            if run.outcome.is_err() {
                self.write(&format!("\r\x1b[K{text}\n"));
            }
        } else {
            let (done, total) = (self.runs_done, self.runs_total);
            self.write(&format!("[{done}/{total}, {}] {text}\n", self.rest()));
        }
    }

    /// Clears the line of a terminal.
    pub fn finish(&mut self) {
        if self.terminal {
            self.write("\r\x1b[K");
        }
    }

    /// From the runs so far, preparing included; before the first one, from their planned length.
    fn rest(&self) -> String {
        let left = (self.runs_total - self.runs_done) as u32;
        let each = match self.runs_done {
            0 => self.run_time,
            done => self.started.elapsed() / done as u32,
        };
        let seconds = (each * left).as_secs();
        format!("{}:{:02} left", seconds / 60, seconds % 60)
    }

    fn write(&self, text: &str) {
        let mut stderr = std::io::stderr();
        let _nobody_reads = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}

fn bar(done: usize, total: usize) -> String {
    let filled = (done * BAR_CELLS).checked_div(total).unwrap_or(BAR_CELLS);
    format!("[{}{}] {done}/{total}", "=".repeat(filled), " ".repeat(BAR_CELLS - filled))
}

fn describe(step: &Step, options: &Options) -> String {
    match step {
        Step::Prepare { target, test, .. } => format!("{}: loading {test}", options.targets[*target].name),
        Step::Cleanup { target, test, .. } => format!("{}: dropping {test}", options.targets[*target].name),
        Step::Run { round, target, test, threads } => {
            let name = &options.targets[*target].name;
            format!("{name}: {test}, {threads} threads, round {}", round + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_full_at_the_end_and_for_nothing() {
        assert_eq!(bar(0, 4), format!("[{}] 0/4", " ".repeat(BAR_CELLS)));
        assert_eq!(bar(4, 4), format!("[{}] 4/4", "=".repeat(BAR_CELLS)));
        assert_eq!(bar(0, 0), format!("[{}] 0/0", "=".repeat(BAR_CELLS)));
    }
}
