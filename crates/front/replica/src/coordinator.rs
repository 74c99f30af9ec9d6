//! The coordinator of a channel: MySQL's SQL thread. Reads the relay log, finds where transactions begin and end and which of them
//! depend on each other, and leaves applying them to workers.
//!
//! What a transaction depends on is told by its source: MySQL by `last_committed` and `sequence_number`, MariaDB by the number of the group
//! that it was committed in. Where it is not told, each depends on the one before it. Statements run alone.

use crate::applier::{Applier, Ends};
use crate::changes::unreadable;
use crate::config::{Done, Position};
use crate::errors;
use crate::group::{Groups, Step};
use crate::host::Origin;
use crate::progress::now_us;
use crate::relay::{Cursor, Next, Place, RelayLog};
use crate::schedule::{Job, Order, SPARE_SEATS, Schedule, Seat, Takes};
use crate::shared::Shared;
use crate::status::SqlState;
use crate::until::Until;
use crate::workers::Report;
use binlog::decode::{self, Head, QueryEvent, body_of, code};
use binlog::event::{Checksum, Header, Kind};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use types::codes::*;
use types::gtid::GtidSet;
use types::{SqlError, err};

/// How often a thread that waits for more looks whether it should stop.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// The same while workers are at the last transactions.
const LOOK_SOON: Duration = Duration::from_millis(10);
/// Transactions of a source's file whose numbers are remembered.
const REMEMBERED_MAX: usize = 1 << 14;

pub(crate) fn run(channel: &Arc<Shared>) {
    let mut ends = Told(channel, false);
    let ended = Coordinator::new(channel).and_then(|mut coordinator| coordinator.run());
    channel.set_schedule(None);
    let stops = channel.sql_stops();
    // What an order to stop has interrupted is no error.
    ends.1 = true;
    channel.sql_ended(
        ended.as_ref().err().filter(|e| !(stops && matches!(e.code, ER_QUERY_INTERRUPTED | ER_SERVER_SHUTDOWN))),
    );
}

/// However the thread ends: that is told.
struct Told<'c>(&'c Shared, bool);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.set_schedule(None);
            self.0.sql_ended(Some(&errors::panicked("the coordinator")));
        }
    }
}

/// Which transactions must be committed before another one begins, by the numbers of jobs.
#[derive(Debug, Default)]
struct Clock {
    /// The last job's number.
    number: u64,
    /// Everybody comes after this one.
    barrier: u64,
    /// Sequence numbers of the source's file, with the jobs of them.
    recent: VecDeque<(u64, u64)>,
    /// MariaDB's group at hand, and the last job before it.
    group: (u64, u64),
}

impl Clock {
    /// The source begins to count anew.
    fn begin_file(&mut self) {
        self.barrier = self.number;
        self.recent.clear();
        self.group = (0, 0);
    }

    /// The next job's number, and the last one that it depends on.
    fn next(&mut self, head: &Head, alone: bool) -> (u64, u64) {
        let after = self.after(head, alone).max(self.barrier);
        self.number += 1;
        if head.sequence_number > 0 {
            self.recent.push_back((head.sequence_number, self.number));
        }
        if self.recent.len() > REMEMBERED_MAX {
            self.recent.pop_front();
        }
        if alone {
            self.barrier = self.number;
        }
        (self.number, after)
    }

    fn after(&mut self, head: &Head, alone: bool) -> u64 {
        if self.group.0 != head.group {
            self.group = (head.group, self.number);
        }
        if alone || head.sequence_number == 0 && head.group == 0 {
            return self.number;
        }
        if head.group != 0 {
            return self.group.1;
        }
        let Some((first, last)) = self.recent.front().zip(self.recent.back()) else { return self.number };
        if head.sequence_number <= last.0 || head.last_committed >= head.sequence_number {
            // No source counts like that.
            return self.number;
        }
        let behind = self.recent.partition_point(|(sequence, _)| *sequence <= head.last_committed);
        behind.checked_sub(1).map_or(first.1 - 1, |at| self.recent[at].1)
    }
}

/// The transaction whose events come.
struct Open {
    begin: Place,
    from: Position,
    checksum: Checksum,
    timestamp: u32,
    origin: Origin,
    skipped: bool,
    /// `sql_replica_skip_counter` has it left out.
    counted: bool,
    alone: bool,
}

struct Coordinator<'c> {
    channel: &'c Arc<Shared>,
    relay: Arc<RelayLog>,
    cursor: Cursor,
    schedule: Arc<Schedule>,
    workers: Vec<JoinHandle<()>>,
    evictor: Option<JoinHandle<()>>,
    delay: Duration,
    until: Until,
    groups: Groups,
    clock: Clock,
    /// Where the source is behind the event at hand.
    position: Position,
    open: Option<Open>,
    /// Transactions that this server has, or has read.
    executed: GtidSet,
    /// The same by their positions: those behind a gap, and those of a worker that did not come to tell of its commit.
    done: Option<Done>,
}

impl Drop for Coordinator<'_> {
    fn drop(&mut self) {
        self.end_workers();
    }
}

impl Coordinator<'_> {
    fn new(channel: &Arc<Shared>) -> Result<Coordinator<'_>, SqlError> {
        let relay = channel.relay();
        let cursor = Cursor::open(&relay, channel.applied_place()).map_err(|e| unreadable(&e))?;
        let config = channel.config();
        let order = match (channel.host.preserves_order(), config.auto_position) {
            (true, _) => Order::Kept,
            (false, true) => Order::Numbers,
            (false, false) => Order::Positions,
        };
        let schedule = Arc::new(Schedule::new(order));
        channel.set_schedule(Some(Arc::clone(&schedule)));
        let mut coordinator = Coordinator {
            channel,
            relay,
            cursor,
            schedule,
            workers: Vec::new(),
            evictor: None,
            delay: Duration::from_secs(config.delay_s.into()),
            until: channel.until(),
            groups: Groups::default(),
            clock: Clock::default(),
            position: channel.status().applied,
            open: None,
            executed: channel.host.executed(),
            // Positions of another source than before say nothing.
            done: if config.auto_position { None } else { Some(channel.host.done(&channel.name)?) },
        };
        coordinator.begin_workers()?;
        Ok(coordinator)
    }

    fn begin_workers(&mut self) -> Result<(), SqlError> {
        let count = self.channel.host.workers().max(1);
        let seats = if count > 1 && self.channel.host.preserves_order() { count + SPARE_SEATS } else { count };
        for id in 0..seats {
            let apply = self.channel.host.applier(&self.channel.name, id)?;
            self.channel.sql_interrupt(apply.interrupter());
            self.schedule.add_seat(Seat { id, apply });
        }
        let failed =
            |e: std::io::Error| SqlError::new(ER_CANT_CREATE_THREAD, format!("Can't create a new thread (errno {e})"));
        let reports = self.channel.begin_workers(count);
        // One thread more where transactions are parked: what it does is told as the first worker's.
        let spare = (seats > count).then(|| (reports[0].spare(), Takes::Again));
        for (report, takes) in reports.into_iter().map(|report| (report, Takes::All)).chain(spare) {
            let applier = Applier::new(self.channel, &self.schedule, takes, Report::clone(&report));
            let thread = std::thread::Builder::new().name("replica_worker".into());
            let thread = thread.spawn(move || {
                applier.run();
                report.stopped();
            });
            self.workers.push(thread.map_err(failed)?);
        }
        let schedule = Arc::clone(&self.schedule);
        let thread = std::thread::Builder::new().name("replica_evict".into());
        let evictor = thread.spawn(move || {
            let mut ends = Ends(Arc::clone(&schedule), false);
            evict(&schedule);
            ends.1 = true;
        });
        self.evictor = Some(evictor.map_err(failed)?);
        Ok(())
    }

    fn end_workers(&mut self) {
        self.schedule.close();
        for worker in self.workers.drain(..) {
            // One that has panicked has told the schedule.
            let _ = worker.join();
        }
        self.schedule.finish();
        if let Some(evictor) = self.evictor.take() {
            let _ = evictor.join();
        }
        let (parked, _) = self.schedule.take_seats();
        // Whose turn has not come is rolled back with its session.
        parked.into_iter().for_each(|mut seat| seat.apply.unpark());
    }

    fn run(&mut self) -> Result<(), SqlError> {
        let ended = self.read();
        // What was read before is applied.
        if !self.channel.sql_stops() {
            self.schedule.drain();
        }
        self.end_workers();
        match self.schedule.failure() {
            Some((_, e)) => Err(e),
            None => ended,
        }
    }

    /// Until it is to stop, a worker has failed, or it is where it should end.
    fn read(&mut self) -> Result<(), SqlError> {
        let mut event = Vec::new();
        while !self.channel.sql_stops() {
            let place = self.cursor.place();
            if self.open.is_none() && self.until.is_reached(&self.position, place, &self.executed, self.has_gaps()) {
                return Ok(());
            }
            match self.cursor.next(&self.relay, &mut event).map_err(|e| unreadable(&e))? {
                Next::Wait => self.await_more(),
                Next::File => {
                    // What the file before had of a transaction comes again, whole.
                    (self.open, self.groups) = (None, Groups::default());
                    if !self.schedule.drain() {
                        return Ok(());
                    }
                    let place = self.cursor.place();
                    self.channel.passed(place);
                    self.relay.let_go(place.number).map_err(|e| unreadable(&e))?;
                }
                Next::Event(header) => {
                    self.channel.sql_state(SqlState::Reading);
                    if !self.event(&header, &event, place)? {
                        return Ok(());
                    }
                }
            }
            if self.schedule.failure().is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn await_more(&mut self) {
        let idle = self.schedule.is_idle();
        if idle && !self.groups.is_open() {
            self.channel.applied(&self.position, self.cursor.place(), self.clock.number);
        }
        self.channel.sql_state(SqlState::Waiting);
        self.relay.wait(self.cursor.place(), if idle { LOOK_AGAIN } else { LOOK_SOON });
    }

    /// False: no more transactions are wanted.
    fn event(&mut self, header: &Header, event: &[u8], place: Place) -> Result<bool, SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("an event is damaged".into()));
        let is_format = header.kind() == Some(Kind::FormatDescription);
        let sums = if is_format { Checksum::Crc32 } else { self.cursor.checksum() };
        let body = body_of(event, sums).ok_or_else(damaged)?;
        let step = self.groups.step(header, body).ok_or_else(damaged)?;
        if step == Step::Outside {
            return self.outside(header, body).map(|()| true);
        }
        if self.open.is_none() {
            self.open = Some(Open {
                begin: place,
                from: self.position.clone(),
                checksum: sums,
                timestamp: header.timestamp,
                origin: Origin { head: Head::default(), server_id: header.server_id },
                skipped: false,
                counted: false,
                alone: false,
            });
        }
        if header.end_position != 0 {
            self.position.offset = header.end_position.into();
        }
        let is_head = step == Step::Head || step == Step::Opens && header.code == code::MARIA_GTID;
        if is_head && !self.headed(header, body)? {
            return Ok(false);
        }
        let open = self.open.as_mut().expect("made above");
        open.alone |= step == Step::Alone || step == Step::Inside && has_statement(header, body);
        if step.ends() { Ok(self.ended()) } else { Ok(true) }
    }

    fn outside(&mut self, header: &Header, body: &[u8]) -> Result<(), SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("an event is damaged".into()));
        match header.kind() {
            Some(Kind::Rotate) => {
                let (file, offset) = decode::rotate(body).ok_or_else(damaged)?;
                self.position = Position::new(&file, offset);
                self.clock.begin_file();
            }
            Some(Kind::FormatDescription) => self.clock.begin_file(),
            // What stands at the front of a file has been passed.
            Some(Kind::PreviousGtids) if header.end_position != 0 => {
                self.position.offset = header.end_position.into();
            }
            _ => {}
        }
        if header.code == code::INCIDENT {
            return Err(errors::incident());
        }
        Ok(())
    }

    /// The event in front of a transaction: who it is, whether it is wanted, and when. False: it ends here.
    fn headed(&mut self, header: &Header, body: &[u8]) -> Result<bool, SqlError> {
        let damaged = || unreadable(&binlog::Error::Corrupt("an event is damaged".into()));
        let head = match header.code {
            code::MARIA_GTID => Head::decode_maria(body),
            _ => header.kind().and_then(|kind| Head::decode(kind, body)),
        };
        let mut head = head.ok_or_else(damaged)?;
        if self.until.is_before(head.gtid) {
            return Ok(false);
        }
        self.channel.reads(&head);
        let known = head.gtid.is_some_and(|g| self.executed.contains(g));
        let counted = !known && self.channel.has_skip();
        let skipped = known || counted;
        if known {
            // It is no transaction of this server a second time.
            head.gtid = None;
        }
        let open = self.open.as_mut().expect("an event in front opens it");
        open.origin = Origin { head, server_id: header.server_id };
        (open.skipped, open.counted) = (skipped, counted);
        if !skipped {
            self.await_delay(header, &head)?;
        }
        Ok(true)
    }

    /// SOURCE_DELAY.
    fn await_delay(&mut self, header: &Header, head: &Head) -> Result<(), SqlError> {
        if self.delay.is_zero() {
            return Ok(());
        }
        let committed = match head.immediate_commit_us {
            0 => u64::from(header.timestamp) * 1_000_000,
            us => us,
        };
        let due = committed + self.delay.as_micros() as u64;
        self.channel.delays_event_of(Some(header.timestamp));
        while !self.channel.sql_stops() {
            let left = due.saturating_sub(now_us());
            if left == 0 {
                self.channel.delays_event_of(None);
                return Ok(());
            }
            self.channel.sql_state(SqlState::Delayed);
            self.channel.pause_sql(Duration::from_micros(left.min(500_000)));
        }
        Err(err!(ER_QUERY_INTERRUPTED))
    }

    /// Is something committed that comes later?
    fn has_gaps(&self) -> bool {
        self.done.as_ref().is_some_and(|done| done.ahead.iter().any(|end| end.is_behind(&self.position)))
    }

    /// A transaction is whole.
    fn ended(&mut self) -> bool {
        let mut open = self.open.take().expect("it was opened by its first event");
        // Positions of events of one file are 32 bits: behind 4 GiB they begin anew.
        let done =
            self.position.is_behind(&open.from) && self.done.as_ref().is_some_and(|done| done.has(&self.position));
        if done {
            // As one whose number is known.
            (open.counted, open.origin.head.gtid) = (false, None);
        }
        // Only now: one of which a file has the beginning alone comes again in the next.
        if let Some(gtid) = open.origin.head.gtid {
            self.executed.add(gtid);
        }
        if open.counted {
            self.channel.takes_skip();
        }
        self.channel.has_read();
        let (number, after) = self.clock.next(&open.origin.head, open.alone);
        self.schedule.push(Job {
            number,
            after,
            alone: open.alone,
            origin: open.origin,
            skipped: open.skipped,
            done,
            begin: open.begin,
            end: self.cursor.place(),
            checksum: open.checksum,
            from: open.from,
            to: self.position.clone(),
            timestamp: open.timestamp,
        })
    }
}

/// The thread that rolls back what was evicted.
fn evict(schedule: &Schedule) {
    while let Some((number, mut seat)) = schedule.next_eviction() {
        seat.apply.unpark();
        seat.apply.rollback();
        schedule.again(number, seat);
    }
}

/// Is this event inside of a transaction a statement, or of one? Those that only name places in it are none.
fn has_statement(header: &Header, body: &[u8]) -> bool {
    if header.kind() != Some(Kind::Query) {
        return matches!(header.code, code::INTVAR | code::RAND | code::USER_VAR);
    }
    let begins =
        |text: &[u8], word: &str| text.get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word.as_bytes()));
    let names_place = |text: &[u8]| ["SAVEPOINT ", "ROLLBACK TO ", "RELEASE "].iter().any(|word| begins(text, word));
    !QueryEvent::decode(body).is_some_and(|query| names_place(query.text.trim_ascii_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(sequence_number: u64, last_committed: u64) -> Head {
        Head { sequence_number, last_committed, ..Head::default() }
    }

    #[test]
    fn sequence_numbers_of_a_file_become_numbers_of_jobs() {
        let mut clock = Clock::default();
        let mut next = |head| clock.next(&head, false);
        assert_eq!(next(numbered(1, 0)), (1, 0));
        assert_eq!(next(numbered(2, 0)), (2, 0));
        assert_eq!(next(numbered(3, 1)), (3, 1));
        // The fourth was not for this server.
        assert_eq!(next(numbered(5, 4)), (4, 3));
        assert_eq!(next(numbered(6, 5)), (5, 4));
        clock.begin_file();
        assert_eq!(clock.next(&numbered(1, 0), false), (6, 5));
        assert_eq!(clock.next(&numbered(2, 0), false), (7, 5));
        // A statement alone, and who comes after it.
        assert_eq!(clock.next(&numbered(3, 0), true), (8, 7));
        assert_eq!(clock.next(&numbered(4, 0), false), (9, 8));
        // Numbers that go back are no numbers.
        assert_eq!(clock.next(&numbered(4, 1), false), (10, 9));
        assert_eq!(clock.next(&Head::default(), false), (11, 10));
    }

    #[test]
    fn members_of_a_mariadb_group_depend_on_what_was_before_it() {
        let mut clock = Clock::default();
        let mut next = |group| clock.next(&Head { group, ..Head::default() }, false);
        assert_eq!(
            [next(0), next(7), next(7), next(7), next(8), next(0)],
            [(1, 0), (2, 1), (3, 1), (4, 1), (5, 4), (6, 5)]
        );
    }
}
