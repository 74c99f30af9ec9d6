//! Carries out a plan: prepares, warms up and measures, one sysbench at a time, and keeps every failure.

use std::collections::HashMap;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::options::{Options, Target};
use crate::plan::{self, Step};
use crate::probe::{self, Machine, Shares, SwitchWatch};
use crate::progress::Progress;
use crate::sysbench::{self, Report};

/// How often a run's server is looked at; 4 looks a second cost well under 1 % of a CPU.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// sysbench that is so much later than its `--time` hangs on a server that does not answer.
const GRACE: Duration = Duration::from_secs(60);

/// What the server process did during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerCost {
    pub cpu_us_per_query: f64,
    /// Context switches a query: the thread waited, the thread was put off its CPU.
    pub voluntary_switches_per_query: f64,
    pub involuntary_switches_per_query: f64,
    /// Peak resident memory since the server started.
    pub peak_memory_kib: Option<u64>,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub report: Report,
    /// None when the server is not a local process.
    pub server: Option<ServerCost>,
    /// None where there is no `/proc/stat`.
    pub machine: Option<Shares>,
}

/// One run of one cell on one target.
#[derive(Clone, Debug)]
pub struct Run {
    pub round: usize,
    pub target: usize,
    pub test: String,
    pub threads: usize,
    pub outcome: Result<Measured, String>,
}

/// Everything that a sweep has measured.
pub struct Sweep {
    /// Seconds since 1970.
    pub started: u64,
    pub sysbench: String,
    /// What each target calls itself.
    pub versions: Vec<String>,
    pub runs: Vec<Run>,
    /// Prepares and cleanups that failed.
    pub failures: Vec<String>,
}

/// Asks every target for its version, in their order, and makes the database where it is missing. The error has a line for each
/// target that does not answer.
pub fn ask(options: &Options) -> Result<Vec<String>, String> {
    let (mut versions, mut silent) = (Vec::new(), Vec::new());
    for target in &options.targets {
        match sysbench::connect(target, &options.database) {
            Ok(version) => versions.push(version),
            Err(message) => silent.push(format!("target {} at {}: {message}", target.name, target.address)),
        }
    }
    if silent.is_empty() { Ok(versions) } else { Err(silent.join("\n")) }
}

/// Carries out the whole plan on targets that have told their `versions` ([`ask`]).
pub fn sweep(options: &Options, sysbench: &str, versions: Vec<String>) -> Sweep {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut sweep = Sweep { started, sysbench: sysbench.to_owned(), versions, runs: Vec::new(), failures: Vec::new() };
    // A target that cannot be loaded fails each of its runs with this reason, and the others are measured all the same.
    let mut broken: HashMap<usize, String> = HashMap::new();
    let steps = plan::steps(options);
    let mut progress = Progress::start(&steps, options);
    for step in steps {
        progress.begin(&step, options);
        match &step {
            Step::Prepare { target, test, threads } => {
                if broken.contains_key(target) {
                    continue;
                }
                let result = prepare(options, &options.targets[*target], test, *threads);
                if let Err(message) = result {
                    sweep.failures.push(format!("{}: prepare {test}: {message}", options.targets[*target].name));
                    broken.insert(*target, format!("prepare failed: {message}"));
                }
            }
            Step::Cleanup { target, test, threads } => {
                if broken.contains_key(target) {
                    continue;
                }
                let result = tables(options, &options.targets[*target], test, *threads, "cleanup");
                if let Err(message) = result {
                    sweep.failures.push(format!("{}: cleanup {test}: {message}", options.targets[*target].name));
                }
            }
            Step::Run { round, target, test, threads } => {
                let outcome = match broken.get(target) {
                    Some(message) => Err(message.clone()),
                    None => measure(options, &options.targets[*target], test, *threads),
                };
                sweep.runs.push(Run { round: *round, target: *target, test: test.clone(), threads: *threads, outcome });
            }
        }
        progress.done(&step, sweep.runs.last(), options);
    }
    progress.finish();
    sweep
}

/// Drops what an earlier sweep left, then loads.
fn prepare(options: &Options, target: &Target, test: &str, threads: usize) -> Result<(), String> {
    tables(options, target, test, threads, "cleanup")?;
    tables(options, target, test, threads, "prepare")
}

fn tables(options: &Options, target: &Target, test: &str, threads: usize, action: &str) -> Result<(), String> {
    let mut command = sysbench::command(options, target, test, threads, action);
    let child = command.spawn().map_err(|error| format!("cannot start sysbench: {error}"))?;
    sysbench::finish(child).map(drop)
}

/// One sysbench, warm-up and measurement: the client has to get warm as well as the server. Each of its threads compiles its Lua code anew,
/// which costs a thousand threads more CPU time in their first minute than all their queries.
fn measure(options: &Options, target: &Target, test: &str, threads: usize) -> Result<Measured, String> {
    let pid = probe::listener(&target.address);
    let reaped = probe::children_cpu_seconds();
    let (text, window) = run(options, target, test, threads, pid)?;
    let report = sysbench::parse(&text, options.warmup)?;
    let Some(window) = window else { return Err("sysbench ended before its time".to_owned()) };
    // What was seen from the window's begin to sysbench's end stands for the seconds of the report.
    let share = report.seconds / window.begin.elapsed().as_secs_f64();
    let server_seconds = match (window.server_cpu, pid.and_then(probe::cpu_seconds)) {
        (Some(before), Some(after)) => Some((after - before) * share),
        _ => None,
    };
    let client_seconds = (probe::children_cpu_seconds() - reaped - window.client_cpu) * share;
    let queries = report.queries.max(1) as f64;
    let switches = window.switches.as_ref().and_then(SwitchWatch::per_second);
    let server = server_seconds.map(|seconds| {
        let [voluntary, involuntary] = switches.unwrap_or([f64::NAN; 2]).map(|rate| rate / report.qps);
        ServerCost {
            cpu_us_per_query: seconds * 1e6 / queries,
            voluntary_switches_per_query: voluntary,
            involuntary_switches_per_query: involuntary,
            peak_memory_kib: pid.and_then(probe::peak_memory_kib),
        }
    });
    let machine = match (window.machine, probe::machine()) {
        (Some(before), Some(after)) => probe::shares(before, after, server_seconds, client_seconds, share),
        _ => None,
    };
    Ok(Measured { report, server, machine })
}

/// How things stood when the warm-up was over.
struct Window {
    begin: Instant,
    /// CPU seconds so far.
    server_cpu: Option<f64>,
    client_cpu: f64,
    machine: Option<Machine>,
    switches: Option<SwitchWatch>,
}

impl Window {
    fn open(server: Option<u32>, sysbench: u32) -> Window {
        Window {
            begin: Instant::now(),
            server_cpu: server.and_then(probe::cpu_seconds),
            client_cpu: probe::cpu_seconds(sysbench).unwrap_or(0.0),
            machine: probe::machine(),
            switches: server.map(SwitchWatch::start),
        }
    }
}

/// One sysbench run to its end: what it says, and the window over what is to be measured, unless it ended before that began.
#[expect(clippy::disallowed_methods, reason = "the lab looks at servers from outside, and has no waits of its own")]
fn run(
    options: &Options,
    target: &Target,
    test: &str,
    threads: usize,
    server: Option<u32>,
) -> Result<(String, Option<Window>), String> {
    let time = options.warmup + options.time;
    let mut child = sysbench::command(options, target, test, threads, "run")
        .spawn()
        .map_err(|error| format!("cannot start sysbench: {error}"))?;
    let started = Instant::now();
    let mut window: Option<Window> = None;
    loop {
        thread::sleep(LOOK_EVERY);
        match child.try_wait() {
            Ok(Some(_)) => return Ok((sysbench::finish(child)?, window)),
            Ok(None) => {}
            Err(error) => return Err(format!("cannot wait for sysbench: {error}")),
        }
        let elapsed = started.elapsed();
        if elapsed > time + GRACE {
            return Err(kill(child, time + GRACE, target));
        }
        match &mut window {
            None if elapsed >= options.warmup => window = Some(Window::open(server, child.id())),
            // Looks after `time` would count a server that rests.
            Some(Window { switches: Some(watch), .. }) if elapsed < time => watch.look(),
            None | Some(_) => {}
        }
    }
}

fn kill(mut child: Child, after: Duration, target: &Target) -> String {
    let killed = child.kill().and_then(|()| child.wait());
    let (name, place) = (&target.name, &target.address);
    match killed {
        Ok(_) => format!("sysbench hung on {name} at {place} and was ended after {} s", after.as_secs()),
        Err(error) => format!("sysbench hangs on {name} at {place} and cannot be ended: {error}"),
    }
}
