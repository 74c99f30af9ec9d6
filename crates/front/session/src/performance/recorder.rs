//! The statement at hand, from the moment that it is known to its end.

use super::transaction::TransactionRecorder;
use super::{HAS_HISTORY, INSTRUMENTED, Instance, Lane, bit, word};
use crate::com::COM;
use crate::digest_place::Digests;
use crate::session::Session;
use crate::session::plans::Planned;
use crate::statement::is_planned;
use observe::clock::Moment;
use observe::digests::{self, Place};
use observe::instrument::{self, InstrumentId};
use observe::setup::{self, Consumer};
use observe::{Counter, CounterId, FIGURES, FIRST_RARE, Figure, Figures, RARE, SessionCounters};
use sql::ast::Parsed;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::Writing;
use types::SqlError;

/// Bytes of a statement that its record shows: `performance_schema_max_sql_text_length`.
const SQL_TEXT_MAX: usize = 1024;
/// Bytes of a schema's name.
const SCHEMA_MAX: usize = 64 * 4;
/// Characters of a message.
const MESSAGE_MAX: usize = 128;

/// A command whose text nobody has parsed.
const QUERY: InstrumentId = instrument::id("statement/abstract/Query");
const ERROR: InstrumentId = instrument::id("statement/sql/error");
pub(crate) const EXECUTE: InstrumentId = instrument::id("statement/com/Execute");
pub(crate) const PREPARE: InstrumentId = instrument::id("statement/com/Prepare");

/// The class of statements that count in a `Com_*`; those of commands have classes of their own.
const CLASSES: [InstrumentId; COM.len()] = {
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

/// Counters that few statements touch, with their figures.
const RARE_FIGURES: [(Counter, Figure); 9] = [
    (Counter::CreatedTmpDiskTables, Figure::CreatedTmpDiskTables),
    (Counter::CreatedTmpTables, Figure::CreatedTmpTables),
    (Counter::SelectFullJoin, Figure::SelectFullJoin),
    (Counter::SelectFullRangeJoin, Figure::SelectFullRangeJoin),
    (Counter::SelectRange, Figure::SelectRange),
    (Counter::SelectScan, Figure::SelectScan),
    (Counter::SortMergePasses, Figure::SortMergePasses),
    (Counter::SortRows, Figure::SortRows),
    (Counter::SortScan, Figure::SortScan),
];

/// What a session knows of the statement at hand and forgets when it ends.
pub(crate) struct Recorder {
    /// Statements so far.
    statements: u64,
    class: InstrumentId,
    /// Its record was begun: the text stands there.
    is_noted: bool,
    /// The record's slot has had this statement before, in this schema: all of its texts stand there.
    has_texts: bool,
    /// Its plan reads whole tables.
    pub uses_no_index: bool,
    /// What the lane had counted when it began: rows read, and what few statements touch.
    read: u64,
    rare: u64,
    /// What the session had counted when one was looked for last.
    rare_counts: [u64; RARE_FIGURES.len()],
    lock_ms: u64,
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

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder {
            statements: 0,
            class: QUERY,
            is_noted: false,
            has_texts: false,
            uses_no_index: false,
            read: 0,
            rare: 0,
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
        self.uses_no_index = false;
        self.digests.place = Place::default();
        self.prepared = 0;
        self.reprepared = 0;
        let lane = observe::lane();
        self.read = lane.get(Counter::InnodbRowsRead);
        self.rare = lane.get(RARE);
    }

    /// What the planner reads of the dictionary and of samples is not the statement's.
    #[inline]
    pub fn planned(&mut self) {
        self.read = observe::lane().get(Counter::InnodbRowsRead);
    }

    /// What it is, and its text.
    #[inline]
    fn note(&mut self, lane: &Lane, class: InstrumentId, connection: u32, text: Text<'_>) {
        self.class = class;
        if !setup::consumers().have(RECORDED) {
            return;
        }
        let event_id = lane.next_event();
        // Relaxed: single writer; readers want recent figures.
        lane.statement.store(event_id << 16 | class.index() as u64, Ordering::Relaxed);
        self.statements += 1;
        self.is_noted = true;
        let record = lane.records().write();
        record.set(word::EVENT_ID, event_id);
        record.set(word::STATEMENT_ID, u64::from(connection) << 32 | (self.statements & 0xffff_ffff));
        record.set(word::NESTING, self.transaction.event_id());
        match text {
            Text::Planned(tag, text) => {
                // Relaxed: single writer.
                let schemas = lane.schemas.load(Ordering::Relaxed);
                let tag = tag << SCHEMA_BITS | schemas & ((1 << SCHEMA_BITS) - 1);
                self.has_texts = record.get(word::TAG) == tag;
                if !self.has_texts {
                    set_statement(&record, Some(text));
                    record.set(word::TAG, tag);
                }
            }
            Text::Other(text) => {
                self.has_texts = false;
                set_statement(&record, text);
                record.set(word::TAG, 0);
            }
        }
        record.leave_open();
    }

    /// Figures that few statements have.
    #[cold]
    fn rare_figures(&mut self, counters: &SessionCounters, figures: &mut Figures) {
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
const RECORDED: &[Consumer] = &[Consumer::Global, Consumer::Thread, Consumer::StatementsCurrent];
const KEPT: &[Consumer] = &[Consumer::StatementsHistory];

/// A text that could not be parsed may hold what nobody should read.
fn may_hold_secrets(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    ["password", "identified"].iter().any(|word| lower.windows(word.len()).any(|part| part == word.as_bytes()))
}

impl Session {
    /// The class of the statements that count in this counter.
    #[inline]
    pub(crate) fn class_of(&self, com: CounterId) -> InstrumentId {
        self.server.com.place(com).map_or(QUERY, |at| CLASSES[at])
    }

    /// The statement at hand is this one.
    #[inline]
    pub(crate) fn note_event(&mut self, class: InstrumentId, text: Option<&[u8]>) {
        self.recorder.note(&self.entry.performance, class, self.state.id, Text::Other(text));
    }

    /// The same of a prepared one.
    #[inline]
    pub(crate) fn note_planned(&mut self, class: InstrumentId, planned: &Planned) {
        let text = Text::Planned(planned.number, planned.parsed.source());
        self.recorder.note(&self.entry.performance, class, self.state.id, text);
    }

    /// The same of one that was parsed: its text without what nobody should read.
    pub(crate) fn note_statement(&mut self, class: InstrumentId, parsed: &Parsed) {
        self.note_event(class, Some(&self.shown_text(parsed)));
    }

    /// The statement at hand shows the text that is, or was, prepared.
    pub(crate) fn note_text(&mut self, parsed: &Parsed) {
        if self.recorder.is_noted {
            let record = self.entry.performance.records().write();
            set_statement(&record, Some(&self.shown_text(parsed)));
            record.set(word::TAG, 0);
            record.leave_open();
        }
    }

    /// The text without what nobody should read. Statements of the executor's hold no passwords.
    pub(crate) fn shown_text<'p>(&self, parsed: &'p Parsed) -> Cow<'p, [u8]> {
        let mode = crate::run::lexer_mode(self.state.sql_mode);
        let hidden = match is_planned(&parsed.statement) {
            true => None,
            false => crate::logs::without_secrets(parsed, mode),
        };
        hidden.map_or_else(|| Cow::Borrowed(trimmed(parsed.source())), Cow::Owned)
    }

    /// The text at hand is no statement.
    #[cold]
    pub(crate) fn note_unread(&mut self, text: &[u8]) {
        let text = trimmed(text);
        self.note_event(ERROR, (!may_hold_secrets(text)).then_some(text));
    }

    /// A statement or another command has ended.
    #[inline]
    pub(crate) fn end_event(&mut self, took_ns: u64, error: Option<&SqlError>) {
        let consumers = setup::consumers();
        let class = self.recorder.class;
        let flags = setup::flags(class);
        let alone = self.settle_transaction(consumers, flags.is_enabled(), took_ns);
        let lane = &self.entry.performance;
        // Relaxed: a statement goes by what it finds.
        let watched = lane.watched.load(Ordering::Relaxed);
        if !(flags.is_enabled() && consumers.has(Consumer::Global) && watched & INSTRUMENTED != 0) {
            return;
        }
        let mut figures = Figures::default();
        let counted = observe::lane();
        figures.set(Figure::RowsExamined, counted.get(Counter::InnodbRowsRead).wrapping_sub(self.recorder.read));
        let has_rare = counted.get(RARE) != self.recorder.rare || self.recorder.uses_no_index;
        if has_rare {
            self.recorder.rare_figures(&self.counters, &mut figures);
        }
        figures.set(Figure::Errors, u64::from(error.is_some()));
        if self.state.warning_count > 0 {
            figures.set(Figure::Warnings, self.state.warning_count.saturating_sub(self.state.error_count));
        }
        let is_answered = self.state.row_count >= 0;
        if is_answered {
            figures.set(Figure::RowsAffected, self.state.row_count as u64);
        }
        figures.set(Figure::RowsSent, self.log.sent);
        let took_ns = if flags.is_timed() { took_ns } else { 0 };
        lane.sums.add(consumers, class, took_ns, &figures, has_rare);
        if self.recorder.prepared != 0 {
            self.end_prepared(took_ns, &figures, has_rare);
        }
        let place = self.recorder.digests.place;
        let bucket = if flags.is_timed() { observe::latency::bucket_of(took_ns) } else { 0 };
        if flags.is_timed() {
            digests::add_latency(bucket);
        }
        let ended = digests::Ended {
            took_ns: flags.is_timed().then_some(took_ns),
            bucket,
            now_us: self.state.clock_us + took_ns / 1000,
            figures: &figures,
            has_rare,
        };
        let sampling = if place.is_current() { digests::add(place, &ended) } else { None };
        if !consumers.have(RECORDED) {
            return;
        }
        if !self.recorder.is_noted {
            self.recorder.note(lane, class, self.state.id, Text::Other(None));
        }
        let records = lane.records();
        let record = records.write();
        record.set(word::DIGEST, place.to_word());
        // Relaxed: single writer.
        record.set(word::END_EVENT_ID, lane.events.load(Ordering::Relaxed));
        record.set(word::BEGAN_US, self.state.clock_us);
        record.set(word::TOOK, took_ns);
        record.set(word::TRANSACTION, alone);
        record.set(word::OBJECT, 0);
        let mut bits = class.index() as u64;
        if flags.is_timed() {
            bits |= bit::TIMED;
        }
        if is_answered {
            bits |= bit::HAS_STATE;
        }
        if self.recorder.has_texts {
            bits |= record.get(word::BITS) & bit::HAS_SCHEMA;
        } else if let Some(schema) = self.state.database.as_deref() {
            let bytes = record.push(&schema.as_bytes()[..schema.len().min(SCHEMA_MAX)]);
            record.set(word::TEXTS, record.get(word::TEXTS) | (bytes as u64) << 16);
            bits |= bit::HAS_SCHEMA;
        }
        record.set(word::ERROR, 0);
        if let Some(error) = error {
            tell_error(&record, error);
            record.set(word::TAG, 0);
            bits |= bit::HAS_MESSAGE | bit::HAS_STATE;
        }
        (0..FIRST_RARE).for_each(|at| record.set(word::FIGURES_FROM + at, figures.0[at]));
        if has_rare {
            bits |= bit::HAS_RARE;
            (FIRST_RARE..FIGURES).for_each(|at| record.set(word::FIGURES_FROM + at, figures.0[at]));
        }
        record.set(word::BITS, bits);
        drop(record);
        if let Some(sampling) = sampling {
            take_sample(sampling, lane, &ended);
        }
        if consumers.have(KEPT) && watched & HAS_HISTORY != 0 {
            records.keep();
        }
    }
}

impl Recorder {
    /// What the session has counted so far.
    pub fn look(&self, counters: &SessionCounters, sent: u64) -> Look {
        let rare = RARE_FIGURES.map(|(counter, _)| counters.value(counter));
        let lock_ms = counters.value(Counter::InnodbRowLockTime);
        Look { began: Moment::now(), rare, lock_ms, read: counters.value(Counter::InnodbRowsRead), sent }
    }
}

/// What a session had counted when a statement of a program began.
pub(crate) struct Look {
    began: Moment,
    rare: [u64; RARE_FIGURES.len()],
    lock_ms: u64,
    read: u64,
    sent: u64,
}

impl Session {
    /// A prepared statement was prepared, or executed by its id.
    fn end_prepared(&self, took_ns: u64, figures: &Figures, has_rare: bool) {
        let Some(stmt) = self.statements.get(self.recorder.prepared) else { return };
        match self.recorder.prepares {
            true => stmt.instance.prepared(took_ns),
            false => stmt.instance.executed(took_ns, figures, has_rare, self.recorder.reprepared),
        }
    }

    /// EXECUTE has ended, by itself or in a program.
    pub(crate) fn end_execute(&mut self, instance: &Instance, began: Look, error: Option<&SqlError>) {
        let now = self.recorder.look(&self.counters, self.log.sent);
        let mut figures = Figures::default();
        for ((_, figure), (now, before)) in RARE_FIGURES.into_iter().zip(now.rare.into_iter().zip(began.rare)) {
            figures.set(figure, now.saturating_sub(before));
        }
        figures.set(Figure::LockTime, now.lock_ms.saturating_sub(began.lock_ms) * 1_000_000);
        let examined = now.read.saturating_sub(began.read) + figures.get(Figure::SortRows);
        figures.set(Figure::RowsExamined, examined);
        figures.set(Figure::RowsSent, now.sent.saturating_sub(began.sent));
        figures.set(Figure::RowsAffected, if error.is_some() { 0 } else { self.state.row_count.max(0) as u64 });
        figures.set(Figure::Errors, u64::from(error.is_some()));
        figures.set(Figure::Warnings, self.state.warning_count.saturating_sub(self.state.error_count));
        figures.set(Figure::NoIndexUsed, self.recorder.uses_no_index.into());
        let reprepared = std::mem::take(&mut self.recorder.reprepared);
        instance.executed(began.began.elapsed_ns(), &figures, true, reprepared);
    }
}

/// The statement at hand is an example of its digest, if its text is known.
#[cold]
fn take_sample(sampling: digests::Sampling, lane: &Lane, ended: &digests::Ended<'_>) {
    let Some(record) = lane.records().current() else { return };
    let texts = record.words[word::TEXTS];
    if texts & bit::HAS_TEXT != 0 {
        sampling.take(&record.text[..(texts & 0xffff) as usize], ended);
    }
}

/// The error that a statement has ended with.
#[cold]
pub(super) fn tell_error(record: &Writing<'_, { word::COUNT }>, error: &SqlError) {
    let state = error.sqlstate.iter().fold(0, |word, b| word << 8 | u64::from(*b));
    record.set(word::ERROR, u64::from(error.code) | state << 16);
    let message = &error.message;
    let end = message.char_indices().nth(MESSAGE_MAX).map_or(message.len(), |(at, _)| at);
    let bytes = record.push(&message.as_bytes()[..end]);
    record.set(word::TEXTS, record.get(word::TEXTS) | (bytes as u64) << 32);
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

/// Without what surrounds it.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b";").unwrap_or(text).trim_ascii()
}
