//! Stages of statements. All but those with progress are off at first, as in MySQL: then going on to another stage is one
//! test more.

use super::Lane;
use expr::Stage;
use inspect::profile::Mark;
use io::Usage;
use observe::forgotten::Events;
use observe::instrument::{self, InstrumentId};
use observe::setup::{self, Consumer, Consumers};
use observe::{TimeCells, TimeTotals};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use sync::{Mutex, Rank, Records};

/// Words of a stage's record.
pub(super) mod word {
    pub const EVENT_ID: usize = 0;
    /// 0: it is going on.
    pub const END_EVENT_ID: usize = 1;
    pub const STAGE: usize = 2;
    /// Nanoseconds since the server began.
    pub const BEGAN: usize = 3;
    pub const ENDED: usize = 4;
    pub const NESTING: usize = 5;
    /// 1: it has a duration.
    pub const TIMED: usize = 6;
    pub const COUNT: usize = 7;
}

/// The instruments of all stages, by number.
const INSTRUMENTS: [InstrumentId; Stage::ALL.len()] = {
    let mut instruments = [instrument::id("stage/sql/starting"); Stage::ALL.len()];
    let mut at = 0;
    while at < Stage::ALL.len() {
        instruments[at] = instrument::id(Stage::ALL[at].instrument());
        at += 1;
    }
    instruments
};

/// In [`Stages::open`]: the statement is profiled.
const PROFILED: u8 = 1 << 7;
const _: () = assert!(Stage::ALL.len() < PROFILED as usize);

/// Of one statement so many stages are told apart; then the last one goes on.
const MARKS_MAX: usize = 10_000;

/// The instrument of a stage.
pub(crate) fn instrument_of(stage: Stage) -> InstrumentId {
    INSTRUMENTS[stage as usize]
}

/// Stages of one session.
#[derive(Default)]
pub(crate) struct Stages {
    /// The stage that is recorded, plus 1, with [`PROFILED`]; 0: none. W: the session.
    open: AtomicU8,
    /// Of the statement that is profiled. W, R: the session.
    marks: OnceLock<Mutex<Vec<Mark>>>,
    /// Its number and when it began. W: the session.
    event_id: AtomicU64,
    began_ns: AtomicU64,
    /// How much of it is done, and of how much; 0: nobody knows. W: the session, and who works for it. R: anybody.
    completed: AtomicU64,
    estimated: AtomicU64,
    records: OnceLock<Records<{ word::COUNT }>>,
    /// As that of `observe::StatementSums`.
    epoch: AtomicU32,
    sums: OnceLock<Box<[TimeCells; Stage::ALL.len()]>>,
}

impl Stages {
    pub(super) fn clear(&self) {
        // Relaxed: the session is not there yet for anybody else.
        self.open.store(0, Ordering::Relaxed);
        if let Some(records) = self.records.get() {
            records.clear();
        }
    }

    /// Each stage of the statement that begins is kept, with what the thread has used.
    pub fn begin_profile(&self) {
        // Relaxed: single writer.
        self.open.store(self.open.load(Ordering::Relaxed) | PROFILED, Ordering::Relaxed);
        let marks = self.marks.get_or_init(|| Mutex::new(Rank::Observe, Vec::new()));
        marks.lock().clear();
        self.mark("starting");
    }

    /// The stages of the statement that ends.
    pub fn end_profile(&self) -> Vec<Mark> {
        // Relaxed: single writer.
        self.open.store(self.open.load(Ordering::Relaxed) & !PROFILED, Ordering::Relaxed);
        let Some(marks) = self.marks.get() else { return Vec::new() };
        let mut marks = std::mem::take(&mut *marks.lock());
        marks.push(Mark { stage: "", at_ns: observe::clock::now_ns(), usage: Usage::of_thread() });
        marks
    }

    #[cold]
    fn mark(&self, stage: &'static str) {
        let Some(mut marks) = self.marks.get().map(Mutex::lock) else { return };
        let is_same = marks.last().is_some_and(|last| last.stage == stage);
        if !is_same && marks.len() < MARKS_MAX {
            marks.push(Mark { stage, at_ns: observe::clock::now_ns(), usage: Usage::of_thread() });
        }
    }

    pub(super) fn records(&self) -> Option<&Records<{ word::COUNT }>> {
        self.records.get()
    }

    /// Completed and estimated, while that is known.
    pub fn progress(&self) -> Option<(u64, u64)> {
        // Relaxed: a figure for the reader.
        let (completed, estimated) = (self.completed.load(Ordering::Relaxed), self.estimated.load(Ordering::Relaxed));
        (estimated > 0).then_some((completed.min(estimated), estimated))
    }

    /// The stage at hand has come so far. For the session, and who works for it.
    pub fn note_progress(&self, completed: u64, estimated: u64) {
        // Relaxed: readers want recent figures.
        self.completed.store(completed, Ordering::Relaxed);
        self.estimated.store(estimated, Ordering::Relaxed);
    }

    /// The sums by stage.
    pub(super) fn totals(&self, consumers: Consumers) -> impl Iterator<Item = (InstrumentId, TimeTotals)> + '_ {
        // Acquire: pairs with Release in `begin_anew`.
        let is_current = self.epoch.load(Ordering::Acquire) == consumers.epoch();
        let sums = self.sums.get().filter(|_| is_current);
        let sums = sums.into_iter().flat_map(|sums| INSTRUMENTS.into_iter().zip(sums.iter().map(TimeCells::totals)));
        sums.filter(|(_, totals)| totals.count > 0)
    }

    /// All sums are 0. For the session.
    #[cold]
    pub(super) fn begin_anew(&self, consumers: Consumers) {
        if let Some(sums) = self.sums.get() {
            sums.iter().for_each(TimeCells::clear);
        }
        // Release: pairs with Acquire in `totals`.
        self.epoch.store(consumers.epoch(), Ordering::Release);
    }

    fn add(&self, consumers: Consumers, stage: usize, took_ns: Option<u64>) {
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != consumers.epoch() {
            self.begin_anew(consumers);
        }
        self.sums.get_or_init(|| Box::new(std::array::from_fn(|_| TimeCells::default())))[stage].add(took_ns);
    }
}

impl Lane {
    /// The session goes on to a stage without progress.
    #[inline]
    pub fn go_on(&self, stage: Stage) {
        if setup::consumers().watches_stages() {
            self.go_on_slow(Some(stage));
        }
    }

    /// The statement is over.
    #[inline]
    pub fn end_stages(&self) {
        // Relaxed: written by this thread.
        if self.stages.open.load(Ordering::Relaxed) != 0 {
            self.go_on_slow(None);
        }
    }

    /// The session goes on to a stage that may have progress.
    pub fn go_on_far(&self, stage: Stage) {
        match stage.has_progress() {
            true => self.go_on_slow(Some(stage)),
            false => self.go_on(stage),
        }
    }

    #[cold]
    fn go_on_slow(&self, stage: Option<Stage>) {
        let (consumers, now_ns) = (setup::consumers(), observe::clock::now_ns());
        let stages = &self.stages;
        let kept = consumers.have(&[Consumer::Thread, Consumer::StagesCurrent]);
        // Relaxed: all words here are this thread's.
        let before = stages.open.load(Ordering::Relaxed);
        let profiled = before & PROFILED;
        if let Some(stage) = stage.filter(|_| profiled != 0) {
            stages.mark(stage.name());
        }
        stages.open.store(profiled, Ordering::Relaxed); // Relaxed: as above
        if let Some(open) = (before & !PROFILED).checked_sub(1) {
            // Relaxed: as above.
            let began_ns = stages.began_ns.load(Ordering::Relaxed);
            let is_timed = setup::flags(INSTRUMENTS[usize::from(open)]).is_timed();
            stages.add(consumers, usize::from(open), is_timed.then(|| now_ns.saturating_sub(began_ns)));
            if kept && let Some(records) = stages.records.get() {
                let record = records.write();
                // Relaxed: as above.
                record.set(word::END_EVENT_ID, self.events.load(Ordering::Relaxed));
                record.set(word::ENDED, now_ns);
                drop(record);
                if consumers.has(Consumer::StagesHistory) {
                    records.keep();
                }
            }
        }
        stages.note_progress(0, 0);
        let Some(stage) = stage else { return };
        let flags = setup::flags(INSTRUMENTS[stage as usize]);
        // Relaxed: a stage goes by what it finds.
        let is_watched = self.watched.load(Ordering::Relaxed) & super::INSTRUMENTED != 0;
        if !flags.is_enabled() || !is_watched || !consumers.has(Consumer::Global) {
            return;
        }
        let event_id = self.next_event();
        // Relaxed: as above.
        stages.open.store(profiled | (stage as u8 + 1), Ordering::Relaxed);
        stages.event_id.store(event_id, Ordering::Relaxed); // Relaxed: as above
        stages.began_ns.store(now_ns, Ordering::Relaxed); // Relaxed: as above
        if kept {
            let record = stages.records.get_or_init(|| Records::new(setup::history(Events::Stages))).write();
            record.set(word::EVENT_ID, event_id);
            record.set(word::END_EVENT_ID, 0);
            record.set(word::STAGE, stage as u64);
            record.set(word::BEGAN, now_ns);
            // Relaxed: as above.
            record.set(word::NESTING, self.statement.load(Ordering::Relaxed) >> 16);
            record.set(word::TIMED, flags.is_timed().into());
        }
    }
}
