//! One life of the engine: from its start, over whatever the seed asks of sessions, background and disk, to its end or death.

use crate::faults::Weather;
use crate::model::{Row, Rows, State, Trees};
use crate::plan::Event;
use crate::run::Run;
use crate::session::{Fail, Session, rows_of};
use engine::{Cursor, Direction, Engine, Error, Isolation, Range, Read, Stepper, Transaction};
use std::ops::Bound;
use std::rc::Rc;
use std::time::Duration;

/// What the page cleaner takes for the time since its last round, mostly.
const TICK: Duration = Duration::from_millis(100);
/// The clock stands still, is set, or the machine slept.
const JUMPS: [Duration; 3] = [Duration::ZERO, Duration::from_secs(3600), Duration::from_secs(40 * 365 * 86_400)];

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The power failed.
    PowerCut,
    /// The process died, or would have to: its log takes no more.
    Killed,
    /// A clean shutdown.
    Closed,
    /// There are no more steps.
    Done,
}

pub enum Stop {
    End(End),
    Wrong(String),
}

pub type Flow<T = ()> = Result<T, Stop>;

pub fn wrong<T>(what: impl Into<String>) -> Flow<T> {
    Err(Stop::Wrong(what.into()))
}

/// A statement, given its session, the newest committed state and the engine.
type Statement = Box<dyn FnOnce(&mut Session, &State, &Engine) -> Result<(), Fail>>;

pub struct Life<'e, 'r> {
    engine: &'e Engine,
    pub stepper: Stepper<'e>,
    pub run: &'r mut Run,
    pub sessions: Vec<Option<Session>>,
    pub weather: Weather,
    /// Operations have failed, or could have: what is written in two places may be whole in one.
    pub has_failed: bool,
}

impl<'e, 'r> Life<'e, 'r> {
    pub fn new(engine: &'e Engine, stepper: Stepper<'e>, run: &'r mut Run) -> Life<'e, 'r> {
        let sessions = (0..run.profile.sessions).map(|_| None).collect();
        Life { engine, stepper, run, sessions, weather: Weather::Fair, has_failed: false }
    }

    /// Checks what was recovered, then goes on.
    pub fn live(mut self) -> Flow<End> {
        let flow = self.verify().and_then(|()| self.steps());
        match flow {
            Ok(end) | Err(Stop::End(end)) => {
                for session in self.sessions.drain(..).flatten() {
                    session.crash();
                }
                Ok(end)
            }
            // The sessions stay as they are: who knows what their end would do.
            Err(error) => {
                std::mem::forget(self.sessions);
                Err(error)
            }
        }
    }

    // ---- what a start finds

    /// Acknowledged commits are there, the one in doubt whole or not at all, and nothing else.
    fn verify(&mut self) -> Flow {
        let found = match self.state() {
            Ok(found) => found,
            Err(Fail::Engine(error)) => return wrong(format!("after the start: {error}")),
            Err(Fail::Wrong(what)) => return wrong(format!("after the start: {what}")),
        };
        if found != self.run.committed {
            match self.run.in_doubt.take() {
                Some(in_doubt) if in_doubt == found => self.run.trace(|| "the commit in doubt is there".into()),
                Some(in_doubt) => {
                    let (one, other) = (found.difference(&self.run.committed), found.difference(&in_doubt));
                    return wrong(format!("after the start: {one}; with the commit in doubt: {other}"));
                }
                None => return wrong(format!("after the start: {}", found.difference(&self.run.committed))),
            }
            self.run.committed = found;
        }
        self.run.in_doubt = None;
        self.check()
    }

    fn state(&self) -> Result<State, Fail> {
        let mut tx = Transaction::new(self.engine)?;
        tx.begin(Isolation::RepeatableRead, true);
        let mut state = State::default();
        let all = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
        let mut names = Cursor::new(self.engine.dictionary(), all, Direction::Forward, Read::Consistent, 0);
        let mut places = Vec::new();
        while let Some(place) = names.next(&mut tx)? {
            let number = u64::from_be_bytes(place.key.try_into().expect("a table's number has eight bytes"));
            places.push((number, Trees::placed(place.value)));
        }
        for (number, trees) in places {
            let rows = Rc::new(rows_of(&mut tx, trees.table, Direction::Forward)?);
            state.tables.insert(number, crate::model::Table { trees, rows });
        }
        tx.rollback()?;
        Ok(state)
    }

    fn check(&mut self) -> Flow {
        let report = self.engine.check(&self.run.committed.trees());
        if !report.is_clean() {
            return wrong(format!("check: {report}"));
        }
        if !self.run.had_faults && !report.leaked.is_empty() {
            return wrong(format!("without a fault pages leaked: {:?}", report.leaked));
        }
        Ok(())
    }

    // ---- steps

    fn steps(&mut self) -> Flow<End> {
        while self.run.step < self.run.profile.steps {
            self.run.step += 1;
            self.run.versions = 0;
            if !self.run.enter(Event::Step(self.run.step)) {
                continue;
            }
            match self.run.random.below(100) {
                0..62 => self.session_step()?,
                62..88 => self.background_step()?,
                _ => self.fault_step()?,
            }
        }
        self.clear_weather()?;
        for i in 0..self.sessions.len() {
            self.roll_back(i)?;
        }
        self.settle()?;
        self.check()?;
        Ok(End::Done)
    }

    /// What an error of the engine means: whether it may be, and whether the life goes on.
    pub fn excuse(&mut self, error: &Error, what: &str) -> Flow {
        self.run.trace(|| format!("{what}: {error}"));
        self.is_alive()?;
        let excused = match error {
            Error::LockNoWait | Error::LockWaitTimeout | Error::RowChanged => self.has_company(),
            Error::Io(_) => self.weather == Weather::Failing,
            // Where pages cannot be written, checkpoints are late.
            Error::DiskFull => self.weather != Weather::Fair,
            _ => false,
        };
        if excused { Ok(()) } else { wrong(format!("{what}: {error}, in {:?} weather", self.weather)) }
    }

    /// Is there anybody else whose locks could be in the way?
    fn has_company(&self) -> bool {
        self.sessions.iter().flatten().count() > 1 || self.engine.rollbacks_pending() > 0
    }

    fn session_step(&mut self) -> Flow {
        let i = self.run.random.below(self.sessions.len() as u64) as usize;
        let Some(session) = &self.sessions[i] else { return self.begin(i) };
        if session.tx.must_roll_back() {
            return if self.run.random.below(2) == 0 { self.commit(i) } else { self.roll_back(i) };
        }
        let profile = self.run.profile;
        let (endings, savepoints) = (profile.endings, profile.endings + profile.savepoints);
        let definitions = savepoints + profile.definitions;
        let (dice, other) = (self.run.random.below(100), self.run.random.below(100));
        match dice {
            _ if dice < endings && other < 70 => self.commit(i),
            _ if dice < endings => self.roll_back(i),
            _ if dice < savepoints && other < 60 => self.set_savepoint(i),
            _ if dice < savepoints => self.roll_back_to_savepoint(i),
            _ if dice < definitions => match other {
                0..50 => self.create(i),
                50..75 => self.empty_table(i),
                _ => self.drop_table(i),
            },
            _ if other < 10 => self.sweep(i),
            _ => self.statement_on_table(i),
        }
    }

    fn begin(&mut self, i: usize) -> Flow {
        let levels = [Isolation::ReadCommitted, Isolation::RepeatableRead];
        let isolation = levels[self.run.random.below(2) as usize];
        self.run.trace(|| format!("session {i}: begin {isolation:?}"));
        match Session::begin(self.engine, isolation) {
            Ok(session) => self.sessions[i] = Some(session),
            Err(Fail::Engine(error)) => self.excuse(&error, "begin")?,
            Err(Fail::Wrong(what)) => return wrong(what),
        }
        Ok(())
    }

    /// Runs a statement; one that fails is undone.
    fn statement(
        &mut self,
        i: usize,
        what: impl Fn() -> String,
        run: impl FnOnce(&mut Session, &State, &Engine) -> Result<(), Fail>,
    ) -> Flow<bool> {
        let session = self.sessions[i].as_mut().expect("the session is open");
        let (savepoint, changes) = (session.tx.savepoint(), session.changes.clone());
        let outcome = run(session, &self.run.committed, self.engine);
        let error = match outcome {
            Ok(()) => {
                session.tx.end_statement();
                return Ok(true);
            }
            Err(Fail::Wrong(wrong)) => return Err(Stop::Wrong(format!("session {i}: {}: {wrong}", what()))),
            Err(Fail::Engine(error)) => error,
        };
        self.excuse(&error, &format!("session {i}: {}", what()))?;
        let session = self.sessions[i].as_mut().expect("the session is open");
        session.changes = changes;
        let undone = session.tx.rollback_to(savepoint);
        session.tx.end_statement();
        if let Err(error) = undone {
            let doomed = session.tx.must_roll_back();
            self.excuse(&error, "undoing the statement")?;
            if !doomed {
                return wrong(format!("a statement was not undone ({error}), and its transaction may go on"));
            }
        }
        Ok(false)
    }

    fn statement_on_table(&mut self, i: usize) -> Flow {
        let Some((table, trees, view_has)) = self.pick_table(i) else { return Ok(()) };
        let what = self.run.random.below(64);
        let id = self.run.random.below(self.run.profile.keys);
        let direction = if self.run.random.below(2) == 0 { Direction::Forward } else { Direction::Backward };
        let span = 1 + self.run.random.below(12);
        let new = self.fresh_row();
        let (name, run): (_, Statement) = match what {
            ..26 => ("put", Box::new(move |s, state, _| s.put(trees, table, id, new, state))),
            26..31 => ("insert", Box::new(move |s, state, _| s.insert(trees, table, id, new, state))),
            31..42 => ("remove", Box::new(move |s, state, _| s.remove(trees, table, id, state))),
            42..47 => ("lock range", Box::new(move |s, state, _| s.lock_range(trees, table, id..id + span, state))),
            _ if !view_has => return Ok(()),
            47..59 => ("read", Box::new(move |s, state, _| s.read(trees, table, id, state))),
            _ => ("scan", Box::new(move |s, state, _| s.scan(trees, table, direction, state))),
        };
        self.run.trace(|| format!("session {i}: {name} table {table} row {id} ({new:?})"));
        self.statement(i, || format!("{name} table {table} row {id}"), run)?;
        Ok(())
    }

    /// A table that the session may use, and whether its snapshot has it.
    fn pick_table(&mut self, i: usize) -> Option<(u64, Trees, bool)> {
        let session = self.sessions[i].as_ref()?;
        let newest = session.changes.over(&self.run.committed);
        // The snapshot that it has, or would take.
        let view = session.changes.over(session.snapshot.as_ref().unwrap_or(&self.run.committed));
        // What another session drops or empties is locked by it.
        let defined: Vec<u64> = self.others(i).flat_map(|other| other.changes.tables.keys().copied()).collect();
        let tables: Vec<_> = newest.tables.iter().filter(|(number, _)| !defined.contains(number)).collect();
        let at = self.run.random.below(tables.len().max(1) as u64) as usize;
        let (number, table) = tables.get(at)?;
        // A table that was emptied since a snapshot is another one to it.
        let view_has = view.tables.get(number).is_some_and(|seen| seen.trees == table.trees);
        Some((**number, table.trees, view_has))
    }

    fn fresh_row(&mut self) -> Row {
        let len = self.run.profile.lengths.one(&mut self.run.random);
        (self.run.fresh_version(), len)
    }

    fn set_savepoint(&mut self, i: usize) -> Flow {
        self.run.trace(|| format!("session {i}: savepoint"));
        let session = self.sessions[i].as_mut().expect("the session is open");
        session.savepoints.push((session.tx.savepoint(), session.changes.clone()));
        Ok(())
    }

    fn roll_back_to_savepoint(&mut self, i: usize) -> Flow {
        let session = self.sessions[i].as_mut().expect("the session is open");
        let at = self.run.random.below(session.savepoints.len().max(1) as u64) as usize;
        session.savepoints.truncate(at + 1);
        let Some((savepoint, changes)) = session.savepoints.get(at).cloned() else { return Ok(()) };
        self.run.trace(|| format!("session {i}: rollback to savepoint {at}"));
        session.changes = changes;
        let undone = session.tx.rollback_to(savepoint);
        let doomed = session.tx.must_roll_back();
        match undone {
            Ok(()) => self.catch_up(),
            Err(_) if !doomed => wrong("a savepoint was not reached, and its transaction may go on"),
            Err(error) => self.excuse(&error, "rollback to savepoint"),
        }
    }

    fn create(&mut self, i: usize) -> Flow {
        if self.sessions[i].as_ref().expect("the session is open").changes.over(&self.run.committed).tables.len() >= 3 {
            return Ok(());
        }
        let table = self.run.step;
        let mut rows = Rows::new();
        if self.run.random.below(2) == 0 {
            for id in 0..self.run.random.below(self.run.profile.load()) {
                rows.insert(id, self.fresh_row());
            }
        }
        self.run.trace(|| format!("session {i}: create table {table} with {} rows", rows.len()));
        let what = || format!("create table {table}");
        self.statement(i, what, |session, _, engine| {
            let trees = session.create(engine, table)?;
            session.load(trees, table, &rows)
        })?;
        Ok(())
    }

    /// A table that nobody else has locked anything in.
    fn pick_table_alone(&mut self, i: usize) -> Option<(u64, Trees)> {
        let (table, trees, _) = self.pick_table(i)?;
        let locked = self.others(i).any(|other| other.touched.contains(&table));
        (!locked).then_some((table, trees))
    }

    /// The other sessions that are in a transaction.
    fn others(&self, i: usize) -> impl Iterator<Item = &Session> {
        self.sessions.iter().enumerate().filter(move |(at, _)| *at != i).filter_map(|(_, session)| session.as_ref())
    }

    fn drop_table(&mut self, i: usize) -> Flow {
        let Some((table, trees)) = self.pick_table_alone(i) else { return Ok(()) };
        self.run.trace(|| format!("session {i}: drop table {table}"));
        let what = || format!("drop table {table}");
        self.statement(i, what, |session, _, engine| session.drop_table(engine, trees, table))?;
        Ok(())
    }

    fn empty_table(&mut self, i: usize) -> Flow {
        let Some((table, trees)) = self.pick_table_alone(i) else { return Ok(()) };
        self.run.trace(|| format!("session {i}: truncate table {table}"));
        let what = || format!("truncate table {table}");
        self.statement(i, what, |session, _, engine| session.empty_table(engine, trees, table))?;
        Ok(())
    }

    /// Many rows at once: shrunk, grown, put between others, removed.
    fn sweep(&mut self, i: usize) -> Flow {
        let Some((table, trees, _)) = self.pick_table(i) else { return Ok(()) };
        let keys = self.run.profile.keys;
        let random = &mut self.run.random;
        let low = random.below(keys);
        let count = (1 + random.below(self.run.profile.sweep)).min(keys - low);
        let (kind, odd) = (random.below(4), random.below(2));
        let lengths = [10, 2900, 700, 300];
        self.run.trace(|| format!("session {i}: sweep {kind} of table {table}, rows {low}, {count}"));
        for id in (low..low + count).filter(|id| id % 2 == odd) {
            let new = (self.run.fresh_version(), lengths[kind as usize]);
            let what = || format!("sweep {kind} of table {table}, row {id}");
            let goes_on = match kind {
                3 => self.statement(i, what, |s, state, _| s.remove(trees, table, id, state))?,
                _ => self.statement(i, what, |s, state, _| s.put(trees, table, id, new, state))?,
            };
            if !goes_on {
                return Ok(());
            }
            if id % 64 < 2 {
                self.write_pages(TICK)?;
            }
        }
        Ok(())
    }

    fn commit(&mut self, i: usize) -> Flow {
        let Some(mut session) = self.sessions[i].take() else { return Ok(()) };
        self.run.trace(|| format!("session {i}: commit of {} rows", session.changes.rows.len()));
        let state = session.changes.over(&self.run.committed);
        let doomed = session.tx.must_roll_back();
        if self.weather.is_short() {
            // Nobody would make room while it waits.
            session.tx.interrupt().raise(2);
        }
        let outcome = session.tx.commit();
        if outcome.is_ok() && doomed {
            std::mem::forget(session);
            return wrong("a transaction that could not be undone was committed");
        }
        let changed = !session.changes.is_empty();
        let ended = match outcome {
            Ok(()) => {
                self.run.committed = state;
                Ok(())
            }
            Err(Error::MustRollBack) if doomed => Ok(()),
            Err(Error::Interrupted) if self.weather.is_short() => Ok(()),
            Err(Error::Unacknowledged) if self.weather.is_short() => {
                self.run.in_doubt = changed.then_some(state);
                Err(Stop::End(End::Killed))
            }
            Err(error) => {
                let excused = self.excuse(&error, "commit");
                if matches!(excused, Err(Stop::End(_))) && changed {
                    self.run.in_doubt = Some(state);
                }
                excused
            }
        };
        match ended {
            Ok(()) => session.end(),
            Err(_) => session.crash(),
        }
        ended
    }

    /// A rollback may have written more log than checkpoints are behind: statements would wait for the cleaner.
    fn catch_up(&mut self) -> Flow {
        for _ in 0..3 {
            self.write_pages(TICK)?;
            self.stepper.place_pages();
            self.is_alive()?;
        }
        Ok(())
    }

    pub fn roll_back(&mut self, i: usize) -> Flow {
        let Some(mut session) = self.sessions[i].take() else { return Ok(()) };
        self.run.trace(|| format!("session {i}: rollback of {} rows", session.changes.rows.len()));
        match session.tx.rollback() {
            Ok(()) => session.end(),
            Err(error) => {
                let ended = self.excuse(&error, "rollback");
                match ended {
                    Ok(()) => session.end(),
                    Err(_) => session.crash(),
                }
                ended?;
            }
        }
        self.catch_up()
    }

    // ---- background

    fn background_step(&mut self) -> Flow {
        if self.weather == Weather::Slow && self.run.random.below(3) > 0 {
            return Ok(());
        }
        match self.run.random.below(12) {
            11 => {
                let elapsed = self.run.random.one_of(&JUMPS);
                self.run.trace(|| format!("the clock goes on by {elapsed:?}"));
                self.write_pages(elapsed)
            }
            10 => self.tend_space().map(drop),
            0..4 => self.write_pages(TICK),
            4 => {
                self.stepper.place_pages();
                self.is_alive()
            }
            5..8 => self.purge().map(drop),
            8 => {
                let records = 1 + self.run.random.below(30) as u32;
                self.stepper.roll_back(records);
                self.is_alive()
            }
            _ => match self.stepper.flush_log() {
                Ok(()) => Ok(()),
                Err(error) => self.excuse(&error, "flush of the log"),
            },
        }
    }

    fn write_pages(&mut self, elapsed: Duration) -> Flow {
        match self.stepper.write_pages(elapsed) {
            Ok(_) => Ok(()),
            Err(error) => self.excuse(&error, "page cleaner"),
        }
    }

    /// Frees dropped trees, gives blocks back, makes room. On a full disk it is done as far as it goes.
    pub fn tend_space(&mut self) -> Flow<bool> {
        match self.stepper.tend_space() {
            Ok(more) => Ok(more),
            Err(error) => self.excuse(&error, "space").map(|()| false),
        }
    }

    fn purge(&mut self) -> Flow<u64> {
        match self.stepper.purge() {
            Ok(records) => Ok(records),
            Err(error) => self.excuse(&error, "purge").map(|()| 0),
        }
    }

    /// Has the life come to its end by what was just done?
    pub fn is_alive(&self) -> Flow {
        if self.run.disk.is_down() {
            return Err(Stop::End(End::PowerCut));
        }
        if self.stepper.is_log_dead() { Err(Stop::End(End::Killed)) } else { Ok(()) }
    }

    /// All that the background has to do is done.
    fn settle(&mut self) -> Flow {
        let mut turns = 0;
        loop {
            self.stepper.roll_back(u32::MAX);
            self.is_alive()?;
            self.write_pages(TICK)?;
            self.stepper.place_pages();
            self.is_alive()?;
            let more = self.tend_space()?;
            if self.purge()? == 0 && self.engine.rollbacks_pending() == 0 && !more {
                return Ok(());
            }
            turns += 1;
            if turns > 1000 {
                return wrong(format!("{} rollbacks do not come to an end", self.engine.rollbacks_pending()));
            }
        }
    }
}
