//! Sums of runs of stored programs, by program, of one session each.
//!
//! A session adds to its own, under a lock that nobody else takes but who reads the sums of all.

use crate::clock::now_ns;
use crate::setup::{self, Consumer};
use crate::statements::StatementTotals;
use crate::watched;
use sync::{Mutex, Rank, TimeTotals};

/// Programs that one session, or all that have ended, have sums of.
const PROGRAMS_MAX: usize = 4096;

/// A program: PROCEDURE, FUNCTION, TRIGGER or EVENT, its schema and its name.
pub type Program<'p> = (&'static str, &'p str, &'p str);

/// How often a program ran and how long, and the statements that it ran itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramTotals {
    pub runs: TimeTotals,
    pub statements: StatementTotals,
}

impl ProgramTotals {
    /// Both together.
    pub fn merge(&mut self, other: &ProgramTotals) {
        self.runs.merge(&other.runs);
        self.statements.merge(&other.statements);
    }
}

/// A run, or more of them, that were counted and took so long.
pub fn run_of(took_ns: u64) -> TimeTotals {
    TimeTotals { count: 1, sum_ns: took_ns, min_ns: took_ns, max_ns: took_ns }
}

/// When a program begins, on the scale of [`now_ns`]; `None`: nobody wants to know.
#[inline]
pub fn began_ns() -> Option<u64> {
    setup::consumers().has(Consumer::Global).then(now_ns)
}

/// A run that began then and ends now.
pub fn run_since(began_ns: u64) -> TimeTotals {
    run_of(now_ns().saturating_sub(began_ns))
}

/// The sums of one program.
#[derive(Clone, Debug)]
pub struct ProgramSum {
    pub kind: &'static str,
    pub schema: String,
    pub name: String,
    pub totals: ProgramTotals,
    /// What `setup_objects` says of it, as of that version.
    watched: (watched::Answers, u64),
}

impl ProgramSum {
    fn is(&self, (kind, schema, name): Program<'_>) -> bool {
        self.kind == kind && self.name == name && self.schema == schema
    }

    /// Adds what `setup_objects` does not leave out.
    fn add(&mut self, totals: &ProgramTotals) {
        let watched::Answers { enabled, other: is_timed } = self.watched.0;
        if !enabled {
            return;
        }
        let mut totals = *totals;
        if !is_timed {
            for time in [&mut totals.runs, &mut totals.statements.time] {
                *time = TimeTotals { count: time.count, ..TimeTotals::NONE };
            }
        }
        self.totals.merge(&totals);
    }
}

#[derive(Default)]
struct Sums {
    /// Of what epoch they are, see [`crate::setup`].
    epoch: u32,
    programs: Vec<ProgramSum>,
}

impl Sums {
    const fn new() -> Sums {
        Sums { epoch: 0, programs: Vec::new() }
    }

    fn begin(&mut self, epoch: u32) {
        if self.epoch != epoch {
            // Who has run is known to have.
            self.programs.iter_mut().for_each(|p| p.totals = ProgramTotals::default());
            self.epoch = epoch;
        }
    }

    /// The one that was looked for last stands last: who runs a program runs it again, and those that it runs.
    fn find(&mut self, program: Program<'_>) -> Option<&mut ProgramSum> {
        let at = self.programs.iter().rposition(|p| p.is(program))?;
        self.programs[at..].rotate_left(1);
        self.programs.last_mut()
    }

    /// `None`: there are as many as there may be.
    fn find_or_make(&mut self, program: Program<'_>, watched: (watched::Answers, u64)) -> Option<&mut ProgramSum> {
        if self.programs.iter().any(|p| p.is(program)) {
            return self.find(program);
        }
        if self.programs.len() >= PROGRAMS_MAX {
            return None;
        }
        let (kind, schema, name) = program;
        let (schema, name, totals) = (schema.to_string(), name.to_string(), ProgramTotals::default());
        self.programs.push(ProgramSum { kind, schema, name, totals, watched });
        self.programs.last_mut()
    }
}

/// The sums of one session, or of those that have ended. W: the session, when a program or a statement of it has ended. R: anybody.
pub struct ProgramSums(Mutex<Sums>);

impl Default for ProgramSums {
    fn default() -> ProgramSums {
        ProgramSums::new()
    }
}

impl ProgramSums {
    /// Of no program yet.
    pub const fn new() -> ProgramSums {
        ProgramSums(Mutex::new(Rank::Observe, Sums::new()))
    }

    /// Adds to a program's sums, unless `setup_objects` leaves it out.
    pub fn add(&self, epoch: u32, program: Program<'_>, totals: &ProgramTotals) {
        let version = watched::OBJECTS.version();
        {
            let mut sums = self.0.lock();
            sums.begin(epoch);
            if let Some(sum) = sums.find(program).filter(|sum| sum.watched.1 == version) {
                return sum.add(totals);
            }
        }
        // Not under the lock, which is of the same rank.
        let answers = watched::object(program.0, program.1, program.2);
        let mut sums = self.0.lock();
        sums.begin(epoch);
        if let Some(sum) = sums.find_or_make(program, (answers, version)) {
            sum.watched = (answers, version);
            sum.add(totals);
        }
    }

    /// The sums of this epoch.
    pub fn all(&self, epoch: u32) -> Vec<ProgramSum> {
        let mut sums = self.0.lock();
        sums.begin(epoch);
        sums.programs.clone()
    }

    /// Takes what a session has that ends.
    pub fn take(&self, epoch: u32, ended: &ProgramSums) {
        let taken = {
            let mut sums = ended.0.lock();
            sums.begin(epoch);
            std::mem::take(&mut sums.programs)
        };
        if taken.is_empty() {
            return;
        }
        let mut sums = self.0.lock();
        sums.begin(epoch);
        for sum in taken {
            if let Some(known) = sums.find_or_make((sum.kind, &sum.schema, &sum.name), sum.watched) {
                known.totals.merge(&sum.totals);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watched::Answers;

    const F: Program<'static> = ("FUNCTION", "s", "f");

    #[test]
    fn sums_follow_a_session_that_ends() {
        let counted = ProgramTotals { runs: run_of(5), ..ProgramTotals::default() };
        let (session, ended) = (ProgramSums::new(), ProgramSums::new());
        watched::OBJECTS.start(&[(["FUNCTION", "%", "%"], Answers::YES)], 10);
        session.add(1, F, &counted);
        session.add(1, F, &counted);
        ended.take(1, &session);
        assert!(session.all(1).is_empty());
        let all = ended.all(1);
        assert_eq!(all[0].totals.runs, TimeTotals { count: 2, sum_ns: 10, min_ns: 5, max_ns: 5 });
        session.add(1, ("EVENT", "s", "e"), &counted);
        assert_eq!(session.all(1)[0].totals, ProgramTotals::default(), "no row of setup_objects has events");
        session.add(2, F, &counted);
        let all = session.all(2);
        assert_eq!((all.len(), all[0].totals.runs.count), (2, 0), "TRUNCATE leaves rows of zeros");
        assert_eq!(all[1].totals.runs.count, 1);
    }
}
