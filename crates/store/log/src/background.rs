//! The background thread: writes and flushes what nobody waits for, and makes segments ahead of need.
//!
//! It is never needed for progress (a full ring is written by whoever wants room, a missing segment made by whoever wants to
//! write it); it only keeps others from having to.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sync::shim::atomic::{AtomicBool, AtomicU32, Ordering};
use sync::waits::Wait;
use sync::{Mutex, Rank, futex};

use crate::shared::Core;
use crate::turnstile::Want;
use crate::{Error, Result};

/// How soon to try again when the disk is full.
const RETRY: Duration = Duration::from_millis(100);

/// The handle of the thread.
pub struct Background {
    signal: Arc<Signal>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Signal {
    /// Changes when there is something to do.
    kicks: AtomicU32,
    stop: AtomicBool,
}

impl Background {
    /// Starts the thread, if there is to be one.
    pub fn start(core: &Arc<Core>, interval: Option<Duration>) -> Result<Background> {
        let signal = Arc::new(Signal::default());
        let thread = match interval {
            None => None,
            Some(interval) => {
                let (core, signal) = (Arc::clone(core), Arc::clone(&signal));
                let thread =
                    std::thread::Builder::new().name("log".into()).spawn(move || run(&core, &signal, interval));
                let what = |error: std::io::Error| Error::Io {
                    what: format!("cannot start the log thread: {error}"),
                    errno: error.raw_os_error().unwrap_or(0),
                };
                Some(thread.map_err(what)?)
            }
        };
        Ok(Background { signal, thread: Mutex::new(Rank::LogBuffer, thread) })
    }

    /// There is something to do.
    #[cold]
    pub fn kick(&self) {
        // Release: pairs with Acquire in `run`.
        self.signal.kicks.fetch_add(1, Ordering::Release);
        futex::wake_one(&self.signal.kicks);
    }

    /// Ends the thread, once.
    pub fn stop(&self) {
        // Release: pairs with Acquire in `run`.
        self.signal.stop.store(true, Ordering::Release);
        self.kick();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            eprintln!("[ERROR] [log] the log thread panicked");
        }
    }
}

fn run(core: &Core, signal: &Signal, interval: Duration) {
    let mut due = Instant::now() + interval;
    let mut complained = false;
    loop {
        // Acquire: pairs with Release in `kick`: what the kicker saw, we see.
        let seen = signal.kicks.load(Ordering::Acquire);
        // Acquire: pairs with Release in `stop`.
        if signal.stop.load(Ordering::Acquire) {
            return;
        }
        let timely = Instant::now() >= due;
        if timely {
            due = Instant::now() + interval;
        }
        let wait = match work(core, timely) {
            Ok(()) => {
                complained = false;
                due.saturating_duration_since(Instant::now())
            }
            Err(Error::Poisoned { .. }) => return,
            Err(error) => {
                if !complained {
                    eprintln!("[ERROR] [log] {error}");
                }
                complained = true;
                RETRY
            }
        };
        futex::wait(&signal.kicks, seen, Some(wait), Wait::Background);
    }
}

/// One round of what there is to do.
fn work(core: &Core, timely: bool) -> Result<()> {
    while core.prefix.tail() > core.flusher.written() + core.ring.bytes() / 4 {
        core.flusher.wait(core, core.prefix.bound(), Want::Written)?;
    }
    // A full disk must not keep the flush back: grow last, but look first whether there is need.
    let flushed = if timely { core.flusher.wait(core, core.prefix.bound(), Want::Flushed) } else { Ok(()) };
    core.segments.grow_to(core.prefix.tail() + 2 * core.segments.data_bytes())?;
    if timely {
        core.keep_reserve(0)?;
    }
    flushed
}
