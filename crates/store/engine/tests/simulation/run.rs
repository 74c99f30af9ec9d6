//! A run: lives of one engine on one disk, one after the other, by a plan.

use crate::faults::Trouble;
use crate::life::{End, Life, Stop};
use crate::model::State;
use crate::plan::{Event, Plan, Random};
use crate::profile::Profile;
use engine::{Engine, EngineOptions};
use io::faults::{Script, SimDisk};
use io::{Directory, File, OpenOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

/// What one life leaves to the next.
pub struct Run {
    pub plan: Plan,
    /// Of the event that is on.
    pub random: Random,
    pub profile: Profile,
    pub disk: SimDisk,
    /// The newest state that a commit acknowledged.
    pub committed: State,
    /// What a commit would have made whose outcome nobody was told.
    pub in_doubt: Option<State>,
    /// The step that is on, or was last.
    pub step: u64,
    /// Row versions made in it.
    pub versions: u64,
    pub versions_in_all: u64,
    /// Anything went wrong on purpose.
    pub had_faults: bool,
    pub lives: u64,
    /// To whoever started the run, who hears it also when an assertion ends the run.
    trace: mpsc::Sender<(u64, String)>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub digest: u64,
    pub lives: u64,
    pub versions: u64,
}

/// How a run failed.
#[derive(Debug)]
pub struct Failure {
    pub what: String,
    pub profile: Profile,
    /// The last step that was begun.
    pub step: u64,
    pub trace: Vec<String>,
}

impl Failure {
    /// Equal for failures of the same kind: the words without the numbers.
    pub fn kind(&self) -> String {
        self.what.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
    }
}

/// A disk that goes with its run, however that ends.
struct Mounted(SimDisk);

impl Drop for Mounted {
    fn drop(&mut self) {
        self.0.clone().unmount();
    }
}

/// Does the device promise to write pages whole, so that they are not written twice?
fn writes_whole_pages(seed: u64) -> bool {
    seed % 8 == 7
}

/// Are all tables encrypted, so that no file may show a row?
fn encrypts(seed: u64) -> bool {
    seed % 5 == 2
}

/// Bytes of a row that its neighbours follow from: no other bytes look so for that long.
const SHOWN: usize = 24;

/// Where the bytes of a row stand, in its plain form (see [`crate::model::bytes`]).
fn row_in(bytes: &[u8]) -> Option<usize> {
    let mut run = 1;
    bytes.windows(2).position(|pair| {
        run = if pair[1] == pair[0].wrapping_add(7) { run + 1 } else { 1 };
        run >= SHOWN
    })
}

/// Keys for a new disk, durable as all that a server is given.
fn make_keys(disk: &SimDisk) {
    let directory = Directory::open(disk.root()).unwrap();
    let config = directory.open_file(cipher::CONFIG_FILE, OpenOptions::create(sync::waits::Wait::DataFile)).unwrap();
    config.write_at(br#"{"path": "keyring"}"#, 0).unwrap();
    config.sync_all().unwrap();
    directory.sync().unwrap();
    cipher::Vault::open(&directory).unwrap().make_keys().unwrap();
}

/// Runs a plan, in a thread of its own: an assertion of the engine's is a failure like others.
pub fn attempt(plan: &Plan) -> Result<Outcome, Box<Failure>> {
    let profile = Profile::of(&mut plan.of_all());
    let (trace, told) = mpsc::channel();
    let of_run = plan.clone();
    let runner = std::thread::spawn(move || run(of_run, profile, trace));
    let ended = runner.join();
    let lines: Vec<(u64, String)> = told.try_iter().collect();
    let what = match ended {
        Ok(Ok(outcome)) => return Ok(outcome),
        Ok(Err(wrong)) => wrong,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            format!("assertion: {}", text.or(panic.downcast_ref().copied()).unwrap_or("without words"))
        }
    };
    let step = lines.iter().map(|(step, _)| *step).max().unwrap_or(0);
    let trace = lines.into_iter().map(|(step, line)| format!("{step:5} {line}")).collect();
    Err(Box::new(Failure { what, profile, step, trace }))
}

/// Runs that have begun: two tests may run one seed at a time, each on a disk of its own.
static RUNS: AtomicU64 = AtomicU64::new(0);

fn run(plan: Plan, profile: Profile, trace: mpsc::Sender<(u64, String)>) -> Result<Outcome, String> {
    let datadir = PathBuf::from(format!("/sim/engine-{}-{}", plan.seed, RUNS.fetch_add(1, Ordering::Relaxed)));
    let disk = Mounted(SimDisk::mount(&datadir, plan.seed));
    let atomic = writes_whole_pages(plan.seed);
    if atomic {
        disk.0.set_atomic_write_bytes(32 << 10);
    }
    let encrypts = encrypts(plan.seed);
    if encrypts {
        make_keys(&disk.0);
    }
    let mut run = Run {
        random: plan.of_all(),
        profile: Profile { steps: profile.steps.min(plan.steps), ..profile },
        plan,
        disk: disk.0.clone(),
        committed: State::default(),
        in_doubt: None,
        step: 0,
        versions: 0,
        versions_in_all: 0,
        had_faults: false,
        lives: 0,
        trace,
    };
    let options = EngineOptions {
        datadir,
        buffer_pool_bytes: profile.pool_bytes,
        log_capacity_bytes: 2 << 20,
        log_buffer_bytes: 16 << 20,
        address_space_bytes: 256 << 20,
        doublewrite: true,
        direct_io: atomic,
        flush_log_at_commit: 1,
        read_io_threads: 0,
        write_io_threads: 1,
        purge_threads: 1,
        events_from: None,
    };
    while run.life(&options)? != End::Done {
        if encrypts {
            run.search_disk()?;
        }
    }
    if encrypts {
        // The power may have failed without anybody having noticed.
        if run.disk.is_down() {
            run.disk.reboot();
        }
        run.search_disk()?;
    }
    Ok(Outcome { digest: disk.0.digest(), lives: run.lives, versions: run.versions_in_all })
}

impl Run {
    /// Notes what is done, to be told if the run fails.
    pub fn trace(&mut self, what: impl FnOnce() -> String) {
        // Who started the run hears it until it has ended.
        let _ = self.trace.send((self.step, what()));
    }

    /// Takes an event's random numbers. False: it is left out.
    pub fn enter(&mut self, event: Event) -> bool {
        let random = self.plan.random(event);
        random.map(|random| self.random = random).is_some()
    }

    /// A number that no other row of the run has, whatever else is left out.
    pub fn fresh_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions_in_all += 1;
        assert!(self.versions < 1 << 16, "a step writes that many rows");
        (self.step + 1) << 16 | self.versions
    }

    /// A script without rules, for the rest of this event.
    pub fn fair_script(&mut self) -> Script {
        Script::seeded(self.random.next())
    }

    /// Starts the engine, on a disk that may fail meanwhile, and lives until it ends.
    fn life(&mut self, options: &EngineOptions) -> Result<End, String> {
        let mut attempts = 0;
        let end = loop {
            attempts += 1;
            let entered = attempts > 1 || self.enter(Event::Start(self.step));
            let troubled =
                entered && self.profile.faults > 0 && attempts < 4 && self.lives > 0 && self.random.below(3) == 0;
            if troubled {
                self.trouble_start();
            }
            let disk = self.disk.clone();
            let opened = Engine::open_stepped(options.clone(), &mut |_| (), |engine, stepper| {
                // What is checked first is what the start made of the disk, not the disk.
                disk.set_script(self.fair_script());
                if disk.is_down() {
                    disk.reboot();
                    return Ok(End::PowerCut);
                }
                self.lives += 1;
                let end = Life::new(engine, stepper, self).live()?;
                // Before what is left of the engine goes: the dead write nothing.
                match end {
                    End::Killed | End::Closed if !disk.is_down() => disk.restart(),
                    End::Done => {}
                    _ => disk.reboot(),
                }
                Ok(end)
            });
            let error = match opened {
                Ok(Ok(end)) => break end,
                Ok(Err(Stop::Wrong(what))) => return Err(what),
                Ok(Err(Stop::End(end))) => break end,
                Err(error) => error,
            };
            self.trace(|| format!("start: {error}"));
            if !troubled {
                return Err(format!("the engine does not start: {error}"));
            }
            match disk.is_down() {
                true => disk.reboot(),
                false => disk.restart(),
            }
        };
        self.trace(|| format!("{end:?}"));
        Ok(end)
    }

    /// No file has a row's bytes.
    fn search_disk(&self) -> Result<(), String> {
        for (place, within) in [(self.disk.root().to_path_buf(), ""), (self.disk.root().join("redo"), "redo/")] {
            let directory = Directory::open(&place).map_err(|e| e.to_string())?;
            for name in directory.list().map_err(|e| e.to_string())? {
                let Ok(file) = File::open(directory.join(&name), OpenOptions::read(sync::waits::Wait::DataFile)) else {
                    continue;
                };
                let mut bytes = vec![0; file.len().map_err(|e| e.to_string())? as usize];
                file.read_at(&mut bytes, 0).map_err(|e| e.to_string())?;
                if let Some(at) = row_in(&bytes) {
                    return Err(format!("{within}{name} shows a row at byte {at}"));
                }
            }
        }
        Ok(())
    }

    fn trouble_start(&mut self) {
        if self.random.below(2) == 0 {
            let script = self.failing_script(Trouble::Fails);
            self.disk.set_script(script);
        } else {
            let nth = 1 + self.random.below(40);
            self.trace(|| format!("power cut at change {nth} of the start"));
            self.disk.crash_at_change(nth);
        }
    }
}
