//! Sums by stored program: how often each ran, and the statements that it ran.

use super::{INSTRUMENTED, Lane};
use crate::Server;
use crate::state::State;
use observe::programs::{Program, ProgramSum, ProgramTotals};
use observe::setup::{self, Consumer};
use observe::{StatementTotals, TimeTotals};
use run::program::RoutineName;
use std::sync::atomic::Ordering;

impl State {
    /// What others read of the session; `None`: it is none that has logged in.
    pub(super) fn performance(&self) -> Option<&Lane> {
        Some(&self.server.processes.0.get(self.lane?).performance)
    }

    /// A program has run.
    pub(crate) fn note_program(&self, program: &RoutineName, runs: &TimeTotals) {
        self.add_to_program(program, &ProgramTotals { runs: *runs, ..ProgramTotals::default() });
    }

    /// A statement of it has.
    pub(super) fn note_program_statement(&self, program: &RoutineName, statement: StatementTotals) {
        self.add_to_program(program, &ProgramTotals { statements: statement, ..ProgramTotals::default() });
    }

    fn add_to_program(&self, program: &RoutineName, totals: &ProgramTotals) {
        let consumers = setup::consumers();
        let Some(lane) = self.performance() else { return };
        // Relaxed: a program goes by what it finds.
        let is_watched = lane.watched.load(Ordering::Relaxed) & INSTRUMENTED != 0;
        if is_watched && consumers.has(Consumer::Global) && !program.name.is_empty() {
            lane.programs.add(consumers.epoch(), name_of(program), totals);
        }
    }
}

fn name_of(program: &RoutineName) -> Program<'_> {
    (program.kind.word(), &program.schema, &program.name)
}

/// The sums of each session, and of those that have ended.
pub(crate) fn sums(server: &Server) -> Vec<ProgramSum> {
    if setup::is_off() {
        return Vec::new();
    }
    let epoch = setup::consumers().epoch();
    let mut all = Vec::new();
    let live = |all: &mut Vec<ProgramSum>| {
        for (_, lane) in server.processes.0.iter_claimed() {
            all.extend(lane.performance.programs.all(epoch));
        }
    };
    server.ended.read(|_, _, _| {}, || live(&mut all));
    all.extend(server.ended.programs.all(epoch));
    all
}
