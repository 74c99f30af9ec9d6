//! What a session knows of its statement and its transaction, and forgets when they end.

use super::look::{RARE_FIGURES, cpu_us};
use super::transaction::bit as of_transaction;
use super::{Lane, bit, word};
use crate::com::COM;
use crate::digest_place::Digests;
use observe::digests::Place;
use observe::instrument::{self, InstrumentId};
use observe::setup::{self, Consumer};
use observe::{Counter, Figure, Figures, RARE, SessionCounters};
use std::sync::atomic::{AtomicU64, Ordering};
use sync::Writing;

/// Bytes of a statement that its record shows: `performance_schema_max_sql_text_length`.
pub(super) const SQL_TEXT_MAX: usize = 1024;
/// Bytes of a schema's name.
pub(super) const SCHEMA_MAX: usize = 64 * 4;
/// Characters of a message.
pub(super) const MESSAGE_MAX: usize = 128;

/// A command whose text nobody has parsed.
pub(super) const QUERY: InstrumentId = instrument::id("statement/abstract/Query");
pub(super) const ERROR: InstrumentId = instrument::id("statement/sql/error");
pub(crate) const EXECUTE: InstrumentId = instrument::id("statement/com/Execute");
pub(crate) const PREPARE: InstrumentId = instrument::id("statement/com/Prepare");

/// The class of statements that count in a `Com_*`; those of commands have classes of their own.
pub(super) const CLASSES: [InstrumentId; COM.len()] = {
    let mut classes = [QUERY; COM.len()];
    let mut at = 0;
    while at < COM.len() {
        if let Some(class) = instrument::find_joined("statement/sql/", COM[at]) {
            classes[at] = class;
        }
        at += 1;
    }
    classes
};

/// What a session knows of the statement at hand and forgets when it ends.
pub(crate) struct Recorder {
    /// Statements so far.
    pub(super) statements: u64,
    pub(super) class: InstrumentId,
    /// It has an event, whose record has its text.
    pub(super) is_noted: bool,
    /// The record's slot has had this statement before, in this schema: all of its texts stand there.
    pub(super) has_texts: bool,
    /// The transaction that it began in, or 0.
    pub(super) nesting: u64,
    /// Its plan reads whole tables.
    pub uses_no_index: bool,
    /// One of the statements of the programs that it runs does.
    pub part_uses_no_index: bool,
    pub(super) before: Before,
    /// What the session had counted when one was looked for last.
    pub(super) rare_counts: [u64; RARE_FIGURES.len()],
    pub(super) lock_ms: u64,
    /// The transaction in progress.
    pub transaction: TransactionRecorder,
    pub digests: Digests,
    /// The prepared statement at hand, or 0.
    pub prepared: u32,
    /// It is prepared, not executed.
    pub prepares: bool,
    /// How often its plan was made anew.
    pub reprepared: u64,
}

/// What had been counted when a statement began.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    /// Processor time of the thread, in microseconds; `None`: nobody wants to know.
    pub cpu_us: Option<u64>,
    /// Rows that the lane had read.
    pub read: u64,
    /// Of what few statements touch.
    pub rare: u64,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder {
            statements: 0,
            class: QUERY,
            is_noted: false,
            has_texts: false,
            nesting: 0,
            uses_no_index: false,
            part_uses_no_index: false,
            before: Before::default(),
            rare_counts: [0; RARE_FIGURES.len()],
            lock_ms: 0,
            transaction: TransactionRecorder::default(),
            digests: Digests::default(),
            prepared: 0,
            prepares: false,
            reprepared: 0,
        }
    }
}

impl Recorder {
    /// The kind of the statement at hand: `select`.
    pub fn class_name(&self) -> &'static str {
        self.class.instrument().name.rsplit('/').next().unwrap_or_default()
    }

    /// A command begins.
    #[inline]
    pub fn begin(&mut self) {
        self.class = QUERY;
        self.is_noted = false;
        (self.uses_no_index, self.part_uses_no_index) = (false, false);
        self.digests.place = Place::default();
        self.prepared = 0;
        self.reprepared = 0;
        let lane = observe::lane();
        self.before = Before { cpu_us: cpu_us(), read: lane.get(Counter::InnodbRowsRead), rare: lane.get(RARE) };
    }

    /// What the planner reads of the dictionary and of samples is not the statement's.
    #[inline]
    pub fn planned(&mut self) {
        self.before.read = observe::lane().get(Counter::InnodbRowsRead);
    }

    /// What it is, and its text. The rest of the record is written when it ends.
    #[inline]
    pub(super) fn note(&mut self, lane: &Lane, class: InstrumentId, text: Text<'_>) {
        self.class = class;
        if !setup::consumers().have(RECORDED) {
            return;
        }
        let event_id = lane.next_event();
        // Relaxed: single writer; readers want recent figures.
        lane.statement.store(event_id << 16 | class.index() as u64, Ordering::Relaxed);
        self.statements += 1;
        self.is_noted = true;
        self.nesting = self.transaction.event_id();
        let (tag, text) = match text {
            Text::Planned(plan, text) => {
                let tag = plan << SCHEMA_BITS | lane.schemas() & ((1 << SCHEMA_BITS) - 1);
                self.has_texts = lane.records().peek(word::TAG) == tag;
                if self.has_texts {
                    return;
                }
                (tag, Some(text))
            }
            Text::Other(text) => (0, text),
        };
        self.has_texts = false;
        let record = lane.records().write();
        set_statement(&record, text);
        record.set(word::TAG, tag);
        record.leave_open();
    }

    /// Figures that few statements have.
    #[cold]
    pub(super) fn rare_figures(&mut self, counters: &SessionCounters, figures: &mut Figures) {
        let since = |now: u64, before: &mut u64| {
            // FLUSH STATUS begins anew.
            let n = now.checked_sub(*before).unwrap_or(now);
            *before = now;
            n
        };
        for ((counter, figure), before) in RARE_FIGURES.into_iter().zip(&mut self.rare_counts) {
            figures.set(figure, since(counters.value(counter), before));
        }
        let lock_ms = since(counters.value(Counter::InnodbRowLockTime), &mut self.lock_ms);
        figures.set(Figure::LockTime, lock_ms * 1_000_000);
        figures.set(Figure::RowsExamined, figures.get(Figure::RowsExamined) + figures.get(Figure::SortRows));
        figures.set(Figure::NoIndexUsed, self.uses_no_index.into());
    }
}

/// Bits of a tag that say in which schema.
const SCHEMA_BITS: u32 = 20;

/// The text of a statement.
#[derive(Clone, Copy)]
pub(crate) enum Text<'t> {
    /// Of one that is planned, with the plan's number: it is the same each time.
    Planned(u64, &'t [u8]),
    Other(Option<&'t [u8]>),
}

/// The number of another plan.
pub(crate) fn new_plan() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: a number of its own for each, nothing else. Plans are made, not executed, by the thousand.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// With these on a statement has a record; with the other one it is kept.
pub(super) const RECORDED: &[Consumer] = &[Consumer::Global, Consumer::Thread, Consumer::StatementsCurrent];
pub(super) const KEPT: &[Consumer] = &[Consumer::StatementsHistory];

/// A text that could not be parsed may hold what nobody should read.
pub(super) fn may_hold_secrets(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    ["password", "identified"].iter().any(|word| lower.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// The record's text begins with the statement.
#[inline]
pub(super) fn set_statement(record: &Writing<'_, { word::COUNT }>, text: Option<&[u8]>) {
    record.clear_text();
    let texts = match text {
        Some(text) => record.push(&text[..text.len().min(SQL_TEXT_MAX)]) as u64 | bit::HAS_TEXT,
        None => 0,
    };
    record.set(word::TEXTS, texts);
}

/// What a session knows of its transaction.
#[derive(Default)]
pub(crate) struct TransactionRecorder {
    pub(super) stage: Stage,
    pub(super) event_id: u64,
    pub(super) nesting: u64,
    pub(super) bits: u64,
    /// Microseconds since 1970; 0: with the statement at hand.
    pub(super) began_us: u64,
    /// On the scale of [`now_ns`](observe::clock::now_ns).
    pub(super) began_ns: u64,
    pub(super) savepoints: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    None,
    Open,
    /// It is over, and recorded when the statement ends.
    Over,
}

/// What can be done with savepoints, in the order of the columns.
#[derive(Clone, Copy)]
pub(crate) enum Savepointing {
    Set,
    RolledBackTo,
    Released,
}

impl TransactionRecorder {
    #[inline]
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// The event that statements of the transaction belong to; 0: there is none.
    #[inline]
    pub fn event_id(&self) -> u64 {
        if self.is_open() { self.event_id } else { 0 }
    }

    pub fn count(&mut self, what: Savepointing) {
        self.savepoints += 1 << (21 * what as u32);
    }

    /// The transaction in progress will end without its changes.
    #[inline]
    pub fn rolls_back(&mut self) {
        self.bits |= of_transaction::ROLLED_BACK;
    }
}
