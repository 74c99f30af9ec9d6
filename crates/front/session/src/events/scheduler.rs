//! The scheduler: one thread that sleeps until an event is due.
//!
//! ```text
//!   definitions ----wake----> queue: enabled events, when each is due     a run: a thread and a session of its own
//!   SET GLOBAL ---start/stop-> due: Catalog::note_run, durable ---launch--> the body, as the definer; DROP behind the last one
//! ```
//! It knows no sessions: [`Work::launch`] makes them. An event that is due again while a run of it goes on begins beside it, as in MySQL.

use super::schedule::{Due, due, due_again};
use catalog::{Catalog, Event, EventStatus, Version};
use engine::Transaction;
use inspect::Process;
use observe::watched::Answers;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;
use sync::waits::Wait;
use sync::{Mutex, Parker, Rank, Unparker};

/// How long it sleeps at most: somebody may have set the machine's clock.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// When a run is tried again that could not be noted: with a full disk, for one.
const AGAIN_S: i64 = 10;

/// What a thread is launched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// `last`: the event goes behind it, unless it is to be preserved.
    Run { last: bool },
    /// Its times were over before it could run.
    Drop,
}

/// Begins a thread for an event.
pub(crate) type Launch = Box<dyn Fn(&Arc<Event>, Task) + Send + Sync>;

/// What the scheduler needs of the server.
pub(crate) struct Work {
    pub catalog: Arc<Catalog>,
    pub launch: Launch,
    /// A connection id for its row in the process list.
    pub new_id: fn() -> u32,
    pub now_us: fn() -> u64,
    /// To the error log.
    pub tell: fn(&str),
}

pub(crate) struct Scheduler {
    /// Nothing runs before it is set: the server starts.
    work: OnceLock<Work>,
    /// W, R: SET GLOBAL, definitions of events, runs that begin, the process list.
    state: Mutex<State>,
    /// Microseconds since 1970. W: the scheduler's thread. R: the process list.
    since_us: AtomicU64,
    /// No event waits for its time. W: the scheduler's thread. R: the process list.
    is_idle: AtomicBool,
    /// What `performance_schema.threads` says of its being watched. It runs no statements. W: UPDATE. R: the list.
    watched: AtomicU8,
}

#[derive(Default)]
struct State {
    thread: Option<Thread>,
    /// Those that run or have just ended: the ids of their sessions.
    runs: Vec<(u32, JoinHandle<()>)>,
    /// The server ends: nothing is launched any more.
    is_over: bool,
}

struct Thread {
    id: u32,
    stop: Arc<AtomicBool>,
    unparker: Unparker,
    handle: JoinHandle<()>,
}

impl Scheduler {
    pub fn new() -> Arc<Scheduler> {
        Arc::new(Scheduler {
            work: OnceLock::new(),
            state: Mutex::new(Rank::Session, State::default()),
            since_us: AtomicU64::new(0),
            is_idle: AtomicBool::new(true),
            watched: AtomicU8::new(Answers::YES.bits()),
        })
    }

    /// From here on events can run. The first call counts.
    pub fn open(&self, work: Work) {
        let _ = self.work.set(work);
    }

    /// `event_scheduler` is ON, or not. Runs that go on are left alone.
    pub fn set(self: &Arc<Self>, on: bool) {
        let Some(work) = self.work.get() else { return };
        let mut state = self.state.lock();
        let stopped = match (on, &state.thread) {
            (true, None) if !state.is_over => {
                match self.begin(work) {
                    Ok(thread) => state.thread = Some(thread),
                    Err(e) => (work.tell)(&format!("Event Scheduler: cannot start the scheduler thread: {e}")),
                }
                None
            }
            (true, _) => None,
            (false, _) => state.thread.take(),
        };
        drop(state);
        if let Some(thread) = stopped {
            // Relaxed: the token of `unpark` publishes it.
            thread.stop.store(true, Ordering::Relaxed);
            thread.unparker.unpark();
            // A scheduler that has panicked has told of it.
            let _ = thread.handle.join();
        }
    }

    fn begin(self: &Arc<Self>, work: &Work) -> std::io::Result<Thread> {
        let (parker, stop) = (Parker::new(), Arc::new(AtomicBool::new(false)));
        let (unparker, own, stopped) = (parker.unparker(), Arc::clone(self), Arc::clone(&stop));
        self.note((work.now_us)(), true);
        let handle = std::thread::Builder::new().name("events".to_string()).spawn(move || {
            if let Some(work) = own.work.get() {
                own.serve(work, parker, &stopped);
            }
        })?;
        Ok(Thread { id: (work.new_id)(), stop, unparker, handle })
    }

    /// Definitions have changed.
    pub fn wake(&self) {
        if let Some(thread) = &self.state.lock().thread {
            thread.unparker.unpark();
        }
    }

    /// The server ends: no run begins any more, and those that go on are ended with `kill`, by the ids of their sessions.
    pub fn end(self: &Arc<Self>, kill: impl Fn(u32)) {
        self.state.lock().is_over = true;
        self.set(false);
        let runs = std::mem::take(&mut self.state.lock().runs);
        runs.iter().for_each(|(id, _)| kill(*id));
        for (_, run) in runs {
            // Its session has told of a panic.
            let _ = run.join();
        }
    }

    pub fn is_over(&self) -> bool {
        self.state.lock().is_over
    }

    /// Begins a thread for a run, whose session has that id.
    pub fn spawn(&self, id: u32, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let mut state = self.state.lock();
        if state.is_over {
            return Ok(());
        }
        state.runs.retain(|(_, run)| !run.is_finished());
        let handle = std::thread::Builder::new().name("event".to_string()).spawn(run)?;
        state.runs.push((id, handle));
        Ok(())
    }

    /// Its row in the process list, while it is there.
    pub fn process(&self, now_us: u64) -> Option<Process> {
        let id = self.state.lock().thread.as_ref()?.id;
        // Relaxed: figures for the reader.
        let (since, is_idle) = (self.since_us.load(Ordering::Relaxed), self.is_idle.load(Ordering::Relaxed));
        Some(Process {
            id: id.into(),
            user: "event_scheduler".to_string(),
            host: "localhost".to_string(),
            thread: Some("thread/sql/event_scheduler"),
            command: "Daemon",
            time_s: now_us.saturating_sub(since) / 1_000_000,
            state: if is_idle { "Waiting on empty queue" } else { "Waiting for next activation" }.into(),
            slot: u32::MAX,
            watched: Answers::from_bits(self.watched.load(Ordering::Relaxed)), // Relaxed: as above
            ..Process::default()
        })
    }

    /// UPDATE of `performance_schema.threads`, if the thread is its own.
    pub fn watch(&self, thread: u64, answers: Answers) {
        if self.state.lock().thread.as_ref().is_some_and(|own| u64::from(own.id) == thread) {
            // Relaxed: a figure for the reader.
            self.watched.store(answers.bits(), Ordering::Relaxed);
        }
    }

    fn note(&self, now_us: u64, is_idle: bool) {
        // Relaxed: figures for the reader.
        self.since_us.store(now_us, Ordering::Relaxed);
        self.is_idle.store(is_idle, Ordering::Relaxed); // Relaxed: as above
    }

    fn serve(&self, work: &Work, mut parker: Parker, stop: &AtomicBool) {
        let mut queue = Queue::default();
        let mut tx = match Transaction::new(work.catalog.engine()) {
            Ok(tx) => tx,
            Err(e) => return (work.tell)(&format!("Event Scheduler: the scheduler does not start: {e:?}")),
        };
        // Relaxed: pairs with the token of `unpark`.
        while !stop.load(Ordering::Relaxed) {
            let now_us = (work.now_us)();
            let now = (now_us / 1_000_000) as i64;
            for event in queue.follow(&work.catalog.current(), now) {
                match event.preserve {
                    true => work.catalog.note_over(&event),
                    false => (work.launch)(&event, Task::Drop),
                }
            }
            let due = queue.due(now);
            self.note(now_us, due.is_empty() && queue.waiting.is_empty());
            for event in &due {
                self.run(work, &mut tx, &mut queue, event);
            }
            if !due.is_empty() {
                continue;
            }
            match queue.next() {
                None => parker.park(Wait::EventScheduler),
                Some(next) => {
                    let wait = Duration::from_micros((next as u64 * 1_000_000).saturating_sub((work.now_us)()));
                    parker.park_timeout(wait.min(SLEEP_MAX), Wait::EventScheduler);
                }
            }
        }
    }

    /// Notes the run of an event that is due, and launches it.
    fn run(&self, work: &Work, tx: &mut Transaction, queue: &mut Queue, event: &Arc<Event>) {
        // What has been dropped or changed a moment ago does not run any more.
        let is_it = |current: &Arc<Event>| Arc::ptr_eq(current, event);
        if !work.catalog.current().event(&event.schema, &event.name).is_some_and(is_it) {
            queue.waiting.remove(&event.id);
            return;
        }
        let now = ((work.now_us)() / 1_000_000) as i64;
        let next = due_again(event, now);
        if let Err(e) = work.catalog.note_run(tx, event, now, next == Due::Over) {
            (work.tell)(&format!("Event Scheduler: [{}.{}] does not run now: {}", event.schema, event.name, e.message));
            queue.waiting.insert(event.id, (now + AGAIN_S, Arc::clone(event)));
            return;
        }
        match next {
            Due::At(at) => queue.waiting.insert(event.id, (at, Arc::clone(event))),
            Due::Over => queue.waiting.remove(&event.id),
        };
        (work.launch)(event, Task::Run { last: next == Due::Over });
    }
}

/// The events that wait for their time.
#[derive(Default)]
struct Queue {
    /// By [`Event::id`]: when it is due.
    waiting: HashMap<u64, (i64, Arc<Event>)>,
    /// [`Version::number`] that it is of.
    number: u64,
}

impl Queue {
    /// Takes over what definitions have changed. Answers events that are over without having run.
    fn follow(&mut self, version: &Version, now: i64) -> Vec<Arc<Event>> {
        if version.number == self.number {
            return Vec::new();
        }
        let is_first = self.number == 0;
        self.number = version.number;
        // A definition counts from its own moment on, so that nothing is missed on the way here.
        let since = |event: &Event| if is_first { now } else { event.altered.min(now) };
        let (mut waiting, mut over) = (HashMap::new(), Vec::new());
        for event in version.events().filter(|event| event.status() == EventStatus::Enabled) {
            let known = self.waiting.remove(&event.id).filter(|(_, known)| Arc::ptr_eq(known, event));
            match known.map_or_else(|| due(event, since(event)), |(at, _)| Due::At(at)) {
                Due::At(at) => _ = waiting.insert(event.id, (at, Arc::clone(event))),
                Due::Over => over.push(Arc::clone(event)),
            }
        }
        self.waiting = waiting;
        over
    }

    /// Those that are due, the longest first.
    fn due(&self, now: i64) -> Vec<Arc<Event>> {
        let mut due: Vec<_> = self.waiting.values().filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, event)| (*at, event.id));
        due.into_iter().map(|(_, event)| Arc::clone(event)).collect()
    }

    fn next(&self) -> Option<i64> {
        self.waiting.values().map(|(at, _)| *at).min()
    }
}
