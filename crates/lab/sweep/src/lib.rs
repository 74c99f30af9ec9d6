//! The contention lab: `clearway sweep` drives stock sysbench over several servers and thread counts, side by side,
//! and says where throughput falls and what it waited for. It works on any server that speaks MySQL's protocol.
//!
//! ```text
//!   options ──> plan ──────────> run ─────────────> summary ──> table   (terminal, Markdown)
//!   (targets,   (cells in an     (sysbench, probe:  (medians,   json    (one file a sweep)
//!    tests,      order fair to    CPU, switches,     ratios,    html    (one page with plots)
//!    threads)    every target)    memory)            collapse)
//! ```
//!
//! A *cell* is one test at one thread count; a *run* is one cell on one target in one round. Runs of the same cell follow
//! each other target by target, and the order of targets rotates every round, so that a noisy minute hits all alike.
//! The crate depends on nothing of the house: it must measure other servers with the same yardstick.

mod cause;
mod html;
mod json;
mod options;
mod plan;
mod probe;
mod progress;
mod run;
mod summary;
pub mod svg;
mod sysbench;
mod table;

use std::io::Write;
use std::path::Path;

use options::Parsed;
use summary::Summary;

/// `clearway sweep ARGS`, where `args` are the words after `sweep`.
///
/// What the command can be told.
pub fn help() -> String {
    options::help()
}

/// The exit code: 0 when every run gave a figure, 1 when one failed (the report is written all the same, with the
/// errors in it), 2 for wrong usage, a missing sysbench, or a
/// target that does not answer before the sweep begins.
pub fn command(args: impl Iterator<Item = String>) -> i32 {
    let options = match options::parse(args) {
        Ok(Parsed::Run(options)) => options,
        Ok(Parsed::Help) => {
            say(&options::help());
            return 0;
        }
        Err(message) => {
            complain(&format!("{message}\nclearway sweep --help lists the options"));
            return 2;
        }
    };
    let sysbench = match sysbench::find() {
        Ok(version) => version,
        Err(message) => {
            complain(&message);
            return 2;
        }
    };
    let versions = match run::ask(&options) {
        Ok(versions) => versions,
        Err(message) => {
            message.lines().for_each(complain);
            complain("nothing was loaded or measured");
            return 2;
        }
    };
    let sweep = run::sweep(&options, &sysbench, versions);
    let summary = Summary::of(&options, &sweep);
    say(&table::render(&options, &summary));
    let mut code = i32::from(sweep.runs.iter().any(|run| run.outcome.is_err()) || !sweep.failures.is_empty());
    if let Some(path) = &options.json {
        code |= write(path, &json::render(&options, &sweep, &summary));
    }
    if let Some(path) = &options.html {
        code |= write(path, &html::render(&options, &sweep, &summary));
    }
    if let Some(path) = &options.svg {
        code |= write(path, &html::picture(&options, &summary));
    }
    code
}

fn write(path: &Path, text: &str) -> i32 {
    match std::fs::write(path, text) {
        Ok(()) => {
            say(&format!("wrote {}", path.display()));
            0
        }
        Err(error) => {
            complain(&format!("cannot write {}: {error}", path.display()));
            1
        }
    }
}

/// To standard output; a closed pipe (`| head`) is no reason to stop the sweep.
fn say(text: &str) {
    let _closed_pipe = writeln!(std::io::stdout(), "{}", text.trim_end());
}

/// To standard error, where there is nothing to be done about a failure to write.
fn complain(text: &str) {
    let _closed_pipe = writeln!(std::io::stderr(), "clearway sweep: {text}");
}
