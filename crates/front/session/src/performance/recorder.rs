//! The statement at hand, from the moment that it is known to its end.

use super::transaction::TransactionRecorder;
use super::{HAS_HISTORY, INSTRUMENTED, Lane, bit, word};
use crate::com::COM;
use crate::session::Session;
use crate::statement::is_planned;
use observe::instrument::{self, InstrumentId};
use observe::setup::{self, Consumer, Consumers};
use observe::{Counter, CounterId, Figure, Figures, RARE, SessionCounters};
use sql::ast::Parsed;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
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
    /// Its plan reads whole tables.
    pub uses_no_index: bool,
    /// Rows read when it began.
    read: u64,
    rare: u64,
    rare_counts: [u64; RARE_FIGURES.len()],
    lock_ms: u64,
    /// The transaction in progress.
    pub transaction: TransactionRecorder,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder {
            statements: 0,
            class: QUERY,
            is_noted: false,
            uses_no_index: false,
            read: 0,
            rare: 0,
            rare_counts: [0; RARE_FIGURES.len()],
            lock_ms: 0,
            transaction: TransactionRecorder::default(),
        }
    }
}

impl Recorder {
    /// A command begins.
    #[inline]
    pub fn begin(&mut self) {
        self.class = QUERY;
        self.is_noted = false;
        self.uses_no_index = false;
    }

    /// What the planner reads of the dictionary and of samples is not the statement's.
    #[inline]
    pub fn planned(&mut self, counters: &SessionCounters) {
        self.read = counters.value(Counter::InnodbRowsRead);
    }

    /// What it is, and its text.
    #[inline]
    fn note(&mut self, lane: &Lane, watch: Watch, class: InstrumentId, connection: u64, text: Option<&[u8]>) {
        self.class = class;
        if !watch.records {
            return;
        }
        let event_id = lane.next_event();
        // Relaxed: single writer.
        lane.statement.store(event_id, Ordering::Relaxed);
        self.statements += 1;
        self.is_noted = true;
        let record = lane.records().write();
        record.set(word::EVENT_ID, event_id);
        record.set(word::END_EVENT_ID, 0);
        record.set(word::STATEMENT_ID, connection << 32 | (self.statements & 0xffff_ffff));
        record.set(word::CLASS, class.index() as u64);
        record.set(word::NESTING, self.transaction.event_id().unwrap_or(0));
        set_statement(&record, text);
    }

    /// The session's figures since the statement began. True: some are of the rare ones.
    #[inline]
    fn figures(&mut self, counters: &SessionCounters, figures: &mut Figures) -> bool {
        let since = |now: u64, before: &mut u64| {
            // FLUSH STATUS begins anew.
            let n = now.checked_sub(*before).unwrap_or(now);
            *before = now;
            n
        };
        figures.set(Figure::RowsExamined, since(counters.value(Counter::InnodbRowsRead), &mut self.read));
        let rare = counters.value(RARE);
        if rare == self.rare {
            return false;
        }
        self.rare = rare;
        for ((counter, figure), before) in RARE_FIGURES.into_iter().zip(&mut self.rare_counts) {
            figures.set(figure, since(counters.value(counter), before));
        }
        let lock_ms = since(counters.value(Counter::InnodbRowLockTime), &mut self.lock_ms);
        figures.set(Figure::LockTime, lock_ms * 1_000_000);
        figures.set(Figure::RowsExamined, figures.get(Figure::RowsExamined) + figures.get(Figure::SortRows));
        true
    }
}

/// What is collected of a session's statement, as the setup says when it is asked.
#[derive(Clone, Copy)]
struct Watch {
    consumers: Consumers,
    /// It counts in the sums.
    sums: bool,
    /// It has a record.
    records: bool,
    /// The record is kept.
    history: bool,
    /// It has a duration.
    timed: bool,
}

impl Watch {
    #[inline]
    fn of(lane: &Lane, class: InstrumentId) -> Watch {
        let (consumers, flags) = (setup::consumers(), setup::flags(class));
        // Relaxed: a statement goes by what it finds.
        let watched = lane.watched.load(Ordering::Relaxed);
        let sums = flags.is_enabled() && watched & INSTRUMENTED != 0 && consumers.has(Consumer::Global);
        let records = sums && consumers.have(&[Consumer::Thread, Consumer::StatementsCurrent]);
        let history = records && watched & HAS_HISTORY != 0 && consumers.has(Consumer::StatementsHistory);
        Watch { consumers, sums, records, history, timed: flags.is_timed() }
    }
}

/// The record's text begins with the statement.
#[inline]
fn set_statement(record: &Writing<'_, { word::COUNT }>, text: Option<&[u8]>) {
    record.clear_text();
    let text = text.map(|text| &text[..text.len().min(SQL_TEXT_MAX)]);
    let bytes = text.map_or(0, |text| record.push(text));
    record.set(word::TEXTS, bytes as u64);
    if text.is_some() {
        record.set(word::CLASS, record.get(word::CLASS) | bit::HAS_TEXT);
    }
}

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
        let lane = &self.entry.lane().performance;
        let watch = Watch::of(lane, class);
        self.recorder.note(lane, watch, class, self.state.id.into(), text);
    }

    /// The same of one that was parsed: its text without what nobody should read.
    pub(crate) fn note_statement(&mut self, class: InstrumentId, parsed: &Parsed) {
        self.note_event(class, Some(&self.shown_text(parsed)));
    }

    /// The statement at hand shows the text that is, or was, prepared.
    pub(crate) fn note_text(&mut self, parsed: &Parsed) {
        let lane = &self.entry.lane().performance;
        if self.recorder.is_noted {
            set_statement(&lane.records().write(), Some(&self.shown_text(parsed)));
        }
    }

    /// The text without what nobody should read. Statements of the executor's hold no passwords.
    fn shown_text<'p>(&self, parsed: &'p Parsed) -> Cow<'p, [u8]> {
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
        let ended = observe::clock::now_ns();
        self.settle_transaction(ended, took_ns);
        let lane = &self.entry.lane().performance;
        let class = self.recorder.class;
        let watch = Watch::of(lane, class);
        let mut figures = Figures::default();
        let mut has_rare = self.recorder.figures(&self.counters, &mut figures);
        if !watch.sums {
            return;
        }
        figures.set(Figure::Errors, u64::from(error.is_some()));
        figures.set(Figure::Warnings, self.state.warning_count - self.state.error_count.min(self.state.warning_count));
        figures.set(Figure::RowsAffected, self.state.row_count.max(0) as u64);
        figures.set(Figure::RowsSent, self.log.sent);
        if self.recorder.uses_no_index {
            figures.set(Figure::NoIndexUsed, 1);
            has_rare = true;
        }
        let took_ns = if watch.timed { took_ns } else { 0 };
        lane.sums.add(watch.consumers, class, took_ns, &figures);
        if !watch.records {
            return;
        }
        if !self.recorder.is_noted {
            self.recorder.note(lane, watch, class, self.state.id.into(), None);
        }
        let record = lane.records().write();
        record.set(word::END_EVENT_ID, lane.events.load(Ordering::Relaxed)); // Relaxed: single writer
        record.set(word::BEGAN, ended.saturating_sub(took_ns));
        record.set(word::ENDED, ended);
        let mut bits = record.get(word::CLASS) & bit::HAS_TEXT | class.index() as u64;
        if watch.timed {
            bits |= bit::TIMED;
        }
        let mut texts = record.get(word::TEXTS);
        if let Some(schema) = self.state.database.as_deref() {
            let bytes = record.push(&schema.as_bytes()[..schema.len().min(SCHEMA_MAX)]);
            texts |= (bytes as u64) << 16;
            bits |= bit::HAS_SCHEMA;
        }
        let mut told = 0;
        match error {
            Some(error) => {
                let state = error.sqlstate.iter().fold(0, |word, b| word << 8 | u64::from(*b));
                told = u64::from(error.code) | state << 16;
                let message = &error.message;
                let end = message.char_indices().nth(MESSAGE_MAX).map_or(message.len(), |(at, _)| at);
                texts |= (record.push(&message.as_bytes()[..end]) as u64) << 32;
                bits |= bit::HAS_MESSAGE | bit::HAS_STATE;
            }
            None if self.state.row_count >= 0 => bits |= bit::HAS_STATE,
            None => {}
        }
        record.set(word::ERROR, told);
        record.set(word::TEXTS, texts);
        if has_rare {
            bits |= bit::HAS_RARE;
            figures.0.iter().enumerate().for_each(|(at, &n)| record.set(word::FIGURES_FROM + at, n));
        } else {
            let common = Figure::LockTime as usize..Figure::CreatedTmpDiskTables as usize;
            common.for_each(|at| record.set(word::FIGURES_FROM + at, figures.0[at]));
        }
        record.set(word::CLASS, bits);
        drop(record);
        if watch.history {
            lane.records().keep();
        }
    }
}

/// Without what surrounds it.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b";").unwrap_or(text).trim_ascii()
}
