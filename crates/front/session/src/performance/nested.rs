//! Statements of stored programs, within the statement that runs them.

use super::look::{Look, Nested};
use super::recorder::set_statement;
use super::statement::tell_error;
use super::{HAS_HISTORY, INSTRUMENTED, bit, word};
use crate::session::Session;
use crate::state::State;
use catalog::RoutineKind;
use observe::instrument::{self, InstrumentId};
use observe::programs::run_of;
use observe::setup::{self, Consumer};
use observe::{FIGURES, FIRST_RARE, Figures, StatementTotals, TimeTotals};
use run::program::RoutineName;
use sql::ast::Parsed;
use std::sync::atomic::Ordering;
use types::SqlError;

const STATEMENT: InstrumentId = instrument::id("statement/sp/stmt");

impl Session {
    /// A statement of a procedure or an event begins. `None`: nobody wants to know.
    pub(crate) fn begin_nested(&mut self) -> Option<Nested> {
        // A call is no statement of a program.
        self.programs.calls.last()?;
        self.state.begin_nested(|| self.recorder.look(&self.counters, self.log.sent))
    }

    /// It has ended.
    pub(crate) fn end_nested(&mut self, begun: Nested, part: &Parsed, error: Option<&SqlError>) {
        let figures = self.since(&begun.look, error);
        let routine = &self.programs.calls.last().expect("it runs").compiled.routine;
        let took_ns = begun.look.elapsed_ns();
        self.state.end_nested(begun, took_ns, &figures, part, error, (routine, self.programs.calls.len()));
    }
}

impl State {
    /// A statement of a function or trigger begins. False: nobody wants to know.
    pub(crate) fn begin_inner_statement(&mut self) -> bool {
        let begun = self.begin_nested(Look::of_lane);
        let is_watched = begun.is_some();
        self.inner_statements.extend(begun);
        is_watched
    }

    /// The innermost of them that has begun has ended.
    pub(crate) fn end_inner_statement(&mut self, part: &Parsed, error: Option<&SqlError>) {
        let Some(begun) = self.inner_statements.pop() else { return };
        let Some((running, depth)) = self.lent.as_ref().and_then(|lent| lent.running()) else { return };
        let now = Look::of_lane();
        let figures = self.figures_of(&begun.look, &now, error);
        let took_ns = now.since_ns(&begun.look);
        self.end_nested(begun, took_ns, &figures, part, error, (&running.routine, self.outer_programs + depth));
    }

    /// A statement of a program begins. `None`: nobody wants to know.
    pub(crate) fn begin_nested(&self, look: impl FnOnce() -> Look) -> Option<Nested> {
        let lane = self.performance()?;
        // Relaxed: a statement goes by what it finds.
        let is_watched = lane.watched.load(Ordering::Relaxed) & INSTRUMENTED != 0;
        if !(is_watched && setup::flags(STATEMENT).is_enabled() && setup::consumers().has(Consumer::Global)) {
            return None;
        }
        // Relaxed: single writer; readers want recent figures.
        let outer = lane.statement.load(Ordering::Relaxed);
        let event_id = lane.next_event();
        lane.statement.store(event_id << 16 | STATEMENT.index() as u64, Ordering::Relaxed); // Relaxed: as above
        Some(Nested { event_id, outer, began_us: crate::clock::clock_us(), look: look() })
    }

    /// It has ended. `of`: the program, and how many run up to it.
    fn end_nested(
        &self,
        begun: Nested,
        took_ns: u64,
        figures: &Figures,
        part: &Parsed,
        error: Option<&SqlError>,
        of: (&RoutineName, usize),
    ) {
        let Some(lane) = self.performance() else { return };
        let (consumers, flags) = (setup::consumers(), setup::flags(STATEMENT));
        let took_ns = flags.is_timed().then_some(took_ns);
        let (routine, depth) = of;
        // Relaxed: single writer.
        lane.statement.store(begun.outer, Ordering::Relaxed);
        let has_rare = figures.has_rare();
        lane.sums.add(consumers, STATEMENT, took_ns, figures, has_rare);
        let time = took_ns.map_or(TimeTotals { count: 1, ..TimeTotals::NONE }, run_of);
        self.note_program_statement(routine, StatementTotals { time, figures: *figures });
        // Relaxed: a statement goes by what it finds.
        let has_history = lane.watched.load(Ordering::Relaxed) & HAS_HISTORY != 0;
        let wanted = [Consumer::Thread, Consumer::StatementsCurrent, Consumer::StatementsHistory];
        if !has_history || !consumers.have(&wanted) {
            return;
        }
        let Some(record) = lane.records().write_beside() else { return };
        record.set(word::EVENT_ID, begun.event_id);
        // Relaxed: single writer.
        record.set(word::END_EVENT_ID, lane.events.load(Ordering::Relaxed));
        record.set(word::BEGAN_US, begun.began_us);
        record.set(word::TOOK, took_ns.unwrap_or(0));
        record.set(word::STATEMENT_ID, 0);
        record.set(word::ERROR, 0);
        record.set(word::NESTING, begun.outer >> 16);
        record.set(word::TAG, 0);
        record.set(word::TRANSACTION, 0);
        record.set(word::DIGEST, 0);
        set_statement(&record, Some(&self.shown_text(part)));
        let mut bits = STATEMENT.index() as u64 | bit::HAS_SCHEMA | (depth as u64).min(bit::LEVEL_MAX) << bit::LEVEL;
        if flags.is_timed() {
            bits |= bit::TIMED;
        }
        if self.row_count >= 0 {
            bits |= bit::HAS_STATE;
        }
        let schema = record.push(self.database.as_deref().unwrap_or(&routine.schema).as_bytes()) as u64;
        record.set(word::TEXTS, record.get(word::TEXTS) | schema << 16);
        if let Some(error) = error {
            tell_error(&record, error);
            bits |= bit::HAS_MESSAGE | bit::HAS_STATE;
        }
        let (of_schema, name) = (record.push(routine.schema.as_bytes()), record.push(routine.name.as_bytes()));
        let kind = match routine.kind {
            RoutineKind::Procedure => 1,
            RoutineKind::Event => 2,
            RoutineKind::Function => 3,
            RoutineKind::Trigger => 4,
        };
        record.set(word::OBJECT, of_schema as u64 | (name as u64) << 16 | kind << 32);
        let known = if has_rare { FIGURES } else { FIRST_RARE };
        (0..known).for_each(|at| record.set(word::FIGURES_FROM + at, figures.0[at]));
        if has_rare {
            bits |= bit::HAS_RARE;
        }
        record.set(word::BITS, bits);
    }
}
