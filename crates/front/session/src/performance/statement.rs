//! The statement at hand, from the moment that it is known to its end.

use super::look::{Look, RARE_FIGURES, cpu_ns_since};
use super::recorder::{
    CLASSES, ERROR, KEPT, MESSAGE_MAX, QUERY, RECORDED, Recorder, SCHEMA_MAX, Text, may_hold_secrets, set_statement,
};
use super::{HAS_HISTORY, INSTRUMENTED, Instance, Lane, bit, word};
use crate::session::Session;
use crate::session::plans::Planned;
use crate::state::State;
use crate::statement::is_planned;
use observe::digests;
use observe::instrument::InstrumentId;
use observe::setup::{self, Consumer};
use observe::{Counter, CounterId, FIGURES, FIRST_RARE, Figure, Figures, RARE, SessionCounters};
use sql::ast::Parsed;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use sync::Writing;
use types::SqlError;

impl Session {
    /// The class of the statements that count in this counter.
    #[inline]
    pub(crate) fn class_of(&self, com: CounterId) -> InstrumentId {
        self.server.com.place(com).map_or(QUERY, |at| CLASSES[at])
    }

    /// The statement at hand is this one.
    #[inline]
    pub(crate) fn note_event(&mut self, class: InstrumentId, text: Option<&[u8]>) {
        self.recorder.note(&self.entry.performance, class, Text::Other(text));
    }

    /// The same of a prepared one.
    #[inline]
    pub(crate) fn note_planned(&mut self, class: InstrumentId, planned: &Planned) {
        let text = Text::Planned(planned.number, planned.parsed.source());
        self.recorder.note(&self.entry.performance, class, text);
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
        self.state.shown_text(parsed)
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
        let mut figures = Figures::default();
        let counted = observe::lane();
        figures.set(Figure::RowsExamined, counted.get(Counter::InnodbRowsRead).wrapping_sub(self.recorder.before.read));
        let mut has_rare = counted.get(RARE) != self.recorder.before.rare || self.recorder.uses_no_index;
        if has_rare {
            // Also of a statement that is not collected: the next one's figures begin here.
            self.recorder.rare_figures(&self.counters, &mut figures);
        }
        if !(flags.is_enabled() && consumers.has(Consumer::Global) && watched & INSTRUMENTED != 0) {
            return;
        }
        if let Some(began_us) = self.recorder.before.cpu_us {
            figures.set(Figure::CpuTime, cpu_ns_since(began_us));
            has_rare = true;
        }
        let is_answered = self.answered(error, &mut figures);
        let timed_ns = flags.is_timed().then_some(took_ns);
        let took_ns = timed_ns.unwrap_or(0);
        lane.sums.add(consumers, class, timed_ns, &figures, has_rare);
        if self.recorder.prepared != 0 {
            self.end_prepared(timed_ns, &figures, has_rare);
        }
        let place = self.recorder.digests.place;
        let bucket = if flags.is_timed() { observe::latency::bucket_of(took_ns) } else { 0 };
        let ended = digests::Ended {
            took_ns: timed_ns,
            bucket,
            now_us: self.state.clock_us + took_ns / 1000,
            figures: &figures,
            has_rare,
        };
        let sampling = digests::add(place, &ended);
        if !consumers.have(RECORDED) {
            return;
        }
        if !self.recorder.is_noted {
            self.recorder.note(lane, class, Text::Other(None));
        }
        let records = lane.records();
        let record = records.write();
        // Relaxed: single writer.
        record.set(word::EVENT_ID, lane.statement.load(Ordering::Relaxed) >> 16);
        record.set(word::STATEMENT_ID, u64::from(self.state.id) << 32 | (self.recorder.statements & 0xffff_ffff));
        record.set(word::NESTING, self.recorder.nesting);
        record.set(word::DIGEST, place.to_word());
        // Relaxed: as above.
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

impl State {
    pub(super) fn shown_text<'p>(&self, parsed: &'p Parsed) -> Cow<'p, [u8]> {
        let mode = crate::run::lexer_mode(self.sql_mode);
        let hidden = match is_planned(&parsed.statement) {
            true => None,
            false => crate::logs::without_secrets(parsed, mode),
        };
        hidden.map_or_else(|| Cow::Borrowed(trimmed(parsed.source())), Cow::Owned)
    }

    /// The figures of a statement of a program, or of one that EXECUTE runs, from a look at its beginning and one at its end.
    pub(super) fn figures_of(&self, began: &Look, now: &Look, error: Option<&SqlError>) -> Figures {
        let mut figures = Figures::default();
        for ((_, figure), (now, before)) in RARE_FIGURES.into_iter().zip(now.rare.into_iter().zip(began.rare)) {
            figures.set(figure, now.saturating_sub(before));
        }
        figures.set(Figure::CpuTime, began.cpu_us.map_or(0, cpu_ns_since));
        figures.set(Figure::LockTime, now.lock_ms.saturating_sub(began.lock_ms) * 1_000_000);
        let examined = now.read.saturating_sub(began.read) + figures.get(Figure::SortRows);
        figures.set(Figure::RowsExamined, examined);
        figures.set(Figure::RowsSent, now.sent.saturating_sub(began.sent));
        figures.set(Figure::RowsAffected, if error.is_some() { 0 } else { self.row_count.max(0) as u64 });
        figures.set(Figure::Errors, u64::from(error.is_some()));
        figures.set(Figure::Warnings, self.warning_count.saturating_sub(self.error_count));
        figures
    }
}

impl Session {
    /// What the statement at hand has answered; false: it gave rows.
    #[inline]
    fn answered(&self, error: Option<&SqlError>, figures: &mut Figures) -> bool {
        figures.set(Figure::Errors, u64::from(error.is_some()));
        if self.state.warning_count > 0 {
            figures.set(Figure::Warnings, self.state.warning_count.saturating_sub(self.state.error_count));
        }
        figures.set(Figure::RowsSent, self.log.sent);
        let is_answered = self.state.row_count >= 0;
        if is_answered {
            figures.set(Figure::RowsAffected, self.state.row_count as u64);
        }
        is_answered
    }
}

impl Recorder {
    /// What the session has counted so far.
    pub fn look(&self, counters: &SessionCounters, sent: u64) -> Look {
        Look::new(|counter| counters.value(counter), sent)
    }
}

impl Session {
    /// A prepared statement was prepared, or executed by its id.
    #[inline]
    fn end_prepared(&self, took_ns: Option<u64>, figures: &Figures, has_rare: bool) {
        let Some(stmt) = self.statements.get(self.recorder.prepared) else { return };
        match self.recorder.prepares {
            true => stmt.instance.prepared(took_ns.unwrap_or(0)),
            false => stmt.instance.executed(took_ns, figures, has_rare, self.recorder.reprepared),
        }
    }

    /// EXECUTE has ended, by itself or in a program.
    pub(crate) fn end_execute(&mut self, instance: &Instance, began: &Look, error: Option<&SqlError>) {
        let mut figures = self.since(began, error);
        figures.set(Figure::NoIndexUsed, self.recorder.uses_no_index.into());
        let reprepared = std::mem::take(&mut self.recorder.reprepared);
        instance.executed(Some(began.elapsed_ns()), &figures, true, reprepared);
    }

    /// The figures of a statement of a program, or of one that EXECUTE runs, which began with a look and has ended.
    pub(super) fn since(&self, began: &Look, error: Option<&SqlError>) -> Figures {
        let now = self.recorder.look(&self.counters, self.log.sent);
        self.state.figures_of(began, &now, error)
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

/// Without what surrounds it.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix(b";").unwrap_or(text).trim_ascii()
}
