//! A run: lives of one engine on one disk, one after the other, from a seed.

use crate::life::{End, Lengths, Life, Stop};
use crate::model::State;
use engine::{Engine, EngineOptions};
use io::faults::SimDisk;
use std::collections::VecDeque;
use std::path::PathBuf;

/// So many of the last steps are told of a run that fails.
const TRACE_LINES: usize = 60;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

/// What a seed is about.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub sessions: usize,
    pub keys: u64,
    pub lengths: Lengths,
    /// Rows of one sweep, at most.
    pub sweep: u64,
    /// How many of a hundred chances for a fault are taken.
    pub faults: u64,
    pub pool_bytes: u64,
    pub steps: u64,
}

/// What one life leaves to the next.
pub struct Run {
    pub seed: u64,
    pub random: Random,
    pub profile: Profile,
    pub disk: SimDisk,
    /// The newest state that a commit acknowledged.
    pub committed: State,
    /// What a commit would have made whose outcome nobody was told.
    pub in_doubt: Option<State>,
    pub versions: u64,
    pub tables: u64,
    pub steps_left: u64,
    /// Anything went wrong on purpose.
    pub had_faults: bool,
    pub lives: u64,
    trace: VecDeque<String>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub digest: u64,
    pub lives: u64,
    pub versions: u64,
}

impl Run {
    /// Notes a step, to be told if the run fails.
    pub fn trace(&mut self, what: impl FnOnce() -> String) {
        if self.trace.len() == TRACE_LINES {
            self.trace.pop_front();
        }
        let left = self.steps_left;
        self.trace.push_back(format!("{left:5} {}", what()));
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Run { seed, profile, lives, trace, .. } = self;
            let lines: Vec<_> = trace.iter().map(String::as_str).collect();
            eprintln!("seed {seed}, life {lives}, {profile:?}, by steps that were left:\n{}", lines.join("\n"));
        }
    }
}

/// Runs a seed to its end, or panics with what went wrong.
pub fn run(seed: u64) -> Outcome {
    let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let profile = Profile::of(&mut random);
    let datadir = PathBuf::from(format!("/sim/engine-seed-{seed}"));
    let disk = SimDisk::mount(&datadir, seed);
    let mut run = Run {
        seed,
        random,
        profile,
        disk: disk.clone(),
        committed: State::default(),
        in_doubt: None,
        versions: 0,
        tables: 0,
        steps_left: profile.steps,
        had_faults: false,
        lives: 0,
        trace: VecDeque::new(),
    };
    let options = EngineOptions {
        datadir,
        buffer_pool_bytes: profile.pool_bytes,
        log_capacity_bytes: 2 << 20,
        log_buffer_bytes: 16 << 20,
        address_space_bytes: 256 << 20,
        doublewrite: true,
        direct_io: false,
        flush_log_at_commit: 1,
        read_io_threads: 0,
        write_io_threads: 1,
        purge_threads: 1,
    };
    while run.life(&options) != End::Done {}
    let outcome = Outcome { digest: disk.digest(), lives: run.lives, versions: run.versions };
    drop(run);
    disk.unmount();
    outcome
}

impl Run {
    /// Starts the engine, on a disk that may fail meanwhile, and lives until it ends.
    fn life(&mut self, options: &EngineOptions) -> End {
        let mut attempts = 0;
        let end = loop {
            attempts += 1;
            let troubled = self.profile.faults > 0 && attempts < 4 && self.lives > 0 && self.random.below(3) == 0;
            if troubled {
                self.trouble_start();
            }
            let disk = self.disk.clone();
            let opened = Engine::open_stepped(options.clone(), &mut |_| (), |engine, stepper| {
                // What is checked first is what the start made of the disk, not the disk.
                disk.set_script(io::faults::Script::seeded(self.random.below(u64::MAX)));
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
                Ok(Err(Stop::Wrong(what))) => panic!("seed {}: {what}", self.seed),
                Ok(Err(Stop::End(end))) => break end,
                Err(error) => error,
            };
            self.trace(|| format!("start: {error}"));
            assert!(troubled, "seed {}: the engine does not start: {error}", self.seed);
            match disk.is_down() {
                true => disk.reboot(),
                false => disk.restart(),
            }
        };
        self.trace(|| format!("{end:?}"));
        end
    }

    fn trouble_start(&mut self) {
        if self.random.below(2) == 0 {
            let script = self.failing_script();
            self.disk.set_script(script);
        } else {
            let nth = 1 + self.random.below(40);
            self.trace(|| format!("power cut at change {nth} of the start"));
            self.disk.crash_at_change(nth);
        }
    }
}
