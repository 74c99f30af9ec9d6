//! Carries out a plan: prepares, warms up and measures, one sysbench at a time, and keeps every failure.

use std::collections::HashMap;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::options::{Address, Options, Target};
use crate::plan::{self, Step};
use crate::probe::{self, Shares, SwitchWatch};
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

pub fn sweep(options: &Options, sysbench: &str) -> Sweep {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut sweep =
        Sweep { started, sysbench: sysbench.to_owned(), versions: Vec::new(), runs: Vec::new(), failures: Vec::new() };
    // A target that cannot be used fails each of its runs with this reason, and the others are measured all the same.
    let mut broken: HashMap<usize, String> = HashMap::new();
    for (index, target) in options.targets.iter().enumerate() {
        match sysbench::connect(target, &options.database) {
            Ok(version) => sweep.versions.push(version),
            Err(message) => {
                sweep.versions.push("unreachable".to_owned());
                broken.insert(index, message);
            }
        }
    }
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
        progress.done(&step, sweep.runs.last());
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
    let mut command = sysbench::command(options, target, test, threads, options.time, action);
    let child = command.spawn().map_err(|error| format!("cannot start sysbench: {error}"))?;
    sysbench::finish(child).map(drop)
}

fn measure(options: &Options, target: &Target, test: &str, threads: usize) -> Result<Measured, String> {
    if !options.warmup.is_zero() {
        run(options, target, test, threads, options.warmup, None)?;
    }
    let pid = probe::listener(&target.address);
    let machine = probe::machine();
    let (server_cpu, client_cpu) = (pid.and_then(probe::cpu_seconds), probe::children_cpu_seconds());
    let mut watch = None;
    let text = run(options, target, test, threads, options.time, pid.map(|pid| (pid, &mut watch)))?;
    let report = sysbench::parse(&text)?;
    let server_seconds = match (server_cpu, pid.and_then(probe::cpu_seconds)) {
        (Some(before), Some(after)) => Some(after - before),
        _ => None,
    };
    let client_seconds = probe::children_cpu_seconds() - client_cpu;
    let queries = report.queries.max(1) as f64;
    let switches = watch.as_ref().and_then(SwitchWatch::per_second);
    let server = server_seconds.map(|seconds| {
        let [voluntary, involuntary] = switches.unwrap_or([f64::NAN; 2]).map(|rate| rate / report.qps);
        ServerCost {
            cpu_us_per_query: seconds * 1e6 / queries,
            voluntary_switches_per_query: voluntary,
            involuntary_switches_per_query: involuntary,
            peak_memory_kib: pid.and_then(probe::peak_memory_kib),
        }
    });
    let machine = match (machine, probe::machine()) {
        (Some(before), Some(after)) => probe::shares(before, after, server_seconds, client_seconds),
        _ => None,
    };
    Ok(Measured { report, server, machine })
}

/// One sysbench run to its end. `watched` gets the switches of the server process from when the load stands.
fn run(
    options: &Options,
    target: &Target,
    test: &str,
    threads: usize,
    time: Duration,
    mut watched: Option<(u32, &mut Option<SwitchWatch>)>,
) -> Result<String, String> {
    let mut command = sysbench::command(options, target, test, threads, time, "run");
    let mut child = command.spawn().map_err(|error| format!("cannot start sysbench: {error}"))?;
    let started = Instant::now();
    loop {
        thread::sleep(LOOK_EVERY);
        match child.try_wait() {
            Ok(Some(_)) => return sysbench::finish(child),
            Ok(None) => {}
            Err(error) => return Err(format!("cannot wait for sysbench: {error}")),
        }
        if started.elapsed() > time + GRACE {
            return Err(kill(child, time + GRACE, &target.address));
        }
        // Looks after `time` would count a server that rests.
        if let Some((pid, watch)) = &mut watched {
            match watch {
                Some(watch) if started.elapsed() < time => watch.look(),
                Some(_) => {}
                None => **watch = Some(SwitchWatch::start(*pid)),
            }
        }
    }
}

fn kill(mut child: Child, after: Duration, address: &Address) -> String {
    let killed = child.kill().and_then(|()| child.wait());
    let place = match address {
        Address::Tcp { host, port } => format!("{host}:{port}"),
        Address::Unix(path) => path.display().to_string(),
    };
    match killed {
        Ok(_) => format!("sysbench hung on {place} and was ended after {} s", after.as_secs()),
        Err(error) => format!("sysbench hangs on {place} and cannot be ended: {error}"),
    }
}
