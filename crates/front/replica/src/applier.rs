//! A worker of a channel: MySQL's applier worker. Takes transactions as the schedule gives them, reads their events in the relay log,
//! has them made in the seat that comes with them, and commits them in their turn, with those that were parked behind.

use crate::changes::{Changes, damaged, unreadable};
use crate::config::Position;
use crate::errors;
use crate::group::{Groups, Step};
use crate::host::{Apply, Origin};
use crate::relay::{Cursor, Next, RelayLog};
use crate::schedule::{Due, Job, Parking, Schedule, Seat, Taken, Takes, Turn};
use crate::shared::Shared;
use crate::workers::Report;
use binlog::decode::{body_of, code};
use binlog::event::{Checksum, Header, xa_prepared};
use std::sync::Arc;
use std::time::Duration;
use types::codes::*;
use types::{SqlError, err};

/// Before a transaction is begun anew that met others' locks in its turn.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

pub(crate) struct Applier {
    channel: Arc<Shared>,
    schedule: Arc<Schedule>,
    takes: Takes,
    relay: Arc<RelayLog>,
    /// Opened with the first transaction.
    cursor: Option<Cursor>,
    /// Of the transaction at hand.
    seat: Option<Seat>,
    changes: Changes,
    report: Report,
    groups: Groups,
    /// Where the source is behind the event at hand.
    position: Position,
    origin: Origin,
}

/// However the thread ends: nobody waits for a transaction that it had.
pub(crate) struct Ends(pub Arc<Schedule>, pub bool);

impl Drop for Ends {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fail(0, errors::panicked("a worker"));
        }
    }
}

/// The session of the transaction at hand.
fn seated(seat: &mut Option<Seat>) -> &mut dyn Apply {
    &mut *seat.as_mut().expect("a transaction has a seat").apply
}

impl Applier {
    pub fn new(channel: &Arc<Shared>, schedule: &Arc<Schedule>, takes: Takes, report: Report) -> Applier {
        Applier {
            channel: Arc::clone(channel),
            schedule: Arc::clone(schedule),
            takes,
            relay: channel.relay(),
            cursor: None,
            seat: None,
            changes: Changes::new(channel.filters()),
            report,
            groups: Groups::default(),
            position: Position::default(),
            origin: Origin::default(),
        }
    }

    /// The thread.
    pub fn run(mut self) {
        let mut ends = Ends(Arc::clone(&self.schedule), false);
        loop {
            match self.schedule.take(self.takes) {
                Taken::Job(job, seat) => self.work(&job, seat),
                Taken::Nothing => {
                    self.settle();
                    self.schedule.wait(self.takes);
                }
                Taken::Ended => break,
            }
        }
        self.settle();
        ends.1 = true;
    }

    /// Has a transaction made, and committed if its turn has come.
    fn work(&mut self, job: &Arc<Job>, seat: Seat) {
        self.report.begins(job, seat.apply.thread());
        self.seat = Some(seat);
        match self.attempt(job) {
            Ok(true) => self.committed(job),
            Ok(false) => self.park_or_commit(job),
            Err(e) => self.failed(job, &e),
        }
    }

    fn park_or_commit(&mut self, job: &Arc<Job>) {
        if !self.schedule.is_due(job.number) {
            let mut seat = self.seat.take().expect("it is applied");
            seat.apply.park(&Turn::new(&self.schedule, job.number));
            match self.schedule.park(job.number, seat, self.report.applying()) {
                Parking::Parked => return self.report.parks(),
                Parking::Due(mut seat) => {
                    seat.apply.unpark();
                    self.seat = Some(seat);
                }
                Parking::Evicted(mut seat) => {
                    seat.apply.unpark();
                    self.seat = Some(seat);
                    return self.failed(job, &err!(ER_LOCK_DEADLOCK));
                }
            }
        }
        self.commit(job);
    }

    /// Commits the transaction at hand, whose turn it is, and those that are parked behind.
    fn commit(&mut self, job: &Arc<Job>) {
        let mark = self.schedule.mark_of(job);
        match seated(&mut self.seat).commit(&mark) {
            Ok(()) => self.committed(job),
            Err(e) => self.failed(job, &e),
        }
    }

    fn committed(&mut self, job: &Arc<Job>) {
        self.channel.counts_transaction();
        self.report.ends(true);
        let seat = self.seat.take().expect("it was applied");
        let (due, settles) = self.schedule.committed(job.number, seat);
        if let Some(Due { job, mut seat, progress }) = due {
            seat.apply.unpark();
            self.report.goes_on(progress);
            (self.position, self.seat) = (job.to.clone(), Some(seat));
            return self.commit(&job);
        }
        if settles {
            self.settle();
        }
    }

    /// Nothing of the transaction stays; it is applied again, or that is told.
    fn failed(&mut self, job: &Job, e: &SqlError) {
        let mut seat = self.seat.take().expect("a transaction has a seat");
        seat.apply.rollback();
        if self.schedule.is_stopped() {
            self.report.ends(false);
            return self.schedule.give_back(seat);
        }
        let due = self.schedule.is_due(job.number);
        if due && !(is_temporary(e) && self.schedule.attempt(job.number) < self.channel.host.retries()) {
            let error = self.report.fails(&self.position, e);
            self.channel.host.tell(&format!(
                "Replica worker for channel '{}': {}, Error_code: MY-{:06}",
                self.channel.name,
                self.report.error(),
                e.code
            ));
            self.schedule.give_back(seat);
            return self.schedule.fail(job.number, error);
        }
        if is_temporary(e) {
            self.channel.retried();
            self.report.retries(e);
        }
        if due {
            Turn::new(&self.schedule, job.number).evict_later();
            self.channel.pause_sql(RETRY_PAUSE);
        }
        // Before its turn, what others still have to do may be all that is wrong.
        self.schedule.again(job.number, seat);
    }

    /// True: it has committed by itself.
    fn attempt(&mut self, job: &Job) -> Result<bool, SqlError> {
        (self.origin, self.position) = (job.origin, job.from.clone());
        if job.done {
            return Ok(true);
        }
        seated(&mut self.seat).starts_from(&job.from);
        if job.skipped {
            return seated(&mut self.seat).begin(&self.origin).map(|()| false);
        }
        self.changes.forget_tables();
        self.groups = Groups::default();
        let cursor = match self.cursor.take() {
            Some(cursor) => cursor.moved(&self.relay, job.begin, job.checksum),
            None => Cursor::at(&self.relay, job.begin, job.checksum),
        };
        let mut cursor = cursor.map_err(|e| unreadable(&e))?;
        let mut event = Vec::new();
        let result = loop {
            let header = match cursor.next_unpacked(&self.relay, &mut event) {
                Ok(Next::Event(header)) => header,
                Ok(_) => break Err(damaged("a transaction is cut short")),
                Err(e) => break Err(unreadable(&e)),
            };
            match self.event(&header, &event, cursor.checksum(), job) {
                Ok(Step::Alone) => break Ok(true),
                Ok(step) if step.ends() => break Ok(false),
                Ok(_) => {}
                Err(e) => break Err(e),
            }
        };
        self.cursor = Some(cursor);
        result
    }

    fn event(&mut self, header: &Header, event: &[u8], checksum: Checksum, job: &Job) -> Result<Step, SqlError> {
        let cut = || damaged("an event is damaged");
        let body = body_of(event, checksum).ok_or_else(cut)?;
        let step = self.groups.step(header, body).ok_or_else(cut)?;
        if step == Step::Outside {
            return Ok(step);
        }
        if header.end_position != 0 {
            self.position.offset = header.end_position.into();
        }
        self.step(step, header, body, job).map(|()| step)
    }

    /// Waits until all that was committed is durable, and tells of it then. Where an order to stop or an error ends the waiting it is
    /// told of, too: the next start goes on behind what is committed, or it would be made a second time.
    fn settle(&mut self) {
        let Some((number, position, place)) = self.schedule.unsettled() else { return };
        let durable = self.channel.host.settle();
        self.channel.applied(&position, place, number);
        match durable {
            Ok(()) => self.schedule.settled(number),
            // Those who end are not waited for.
            Err(_) if self.schedule.is_stopped() => {}
            Err(e) => self.schedule.fail(number + 1, e),
        }
    }

    fn step(&mut self, step: Step, header: &Header, body: &[u8], job: &Job) -> Result<(), SqlError> {
        match step {
            Step::Head | Step::Outside => Ok(()),
            Step::Opens => seated(&mut self.seat).begin(&self.origin),
            Step::Commits if header.code == code::XA_PREPARE => {
                let (id, one_phase) = xa_prepared(body).ok_or_else(|| damaged("an event is damaged"))?;
                if !one_phase {
                    seated(&mut self.seat).prepares(id);
                }
                Ok(())
            }
            Step::Commits => Ok(()),
            Step::RollsBack => {
                seated(&mut self.seat).rollback();
                // The position behind it is stored all the same.
                seated(&mut self.seat).begin(&self.origin)
            }
            Step::Alone => self.changes.alone(seated(&mut self.seat), header, body, &self.origin, &job.to),
            Step::Inside => self.changes.inside(seated(&mut self.seat), header, body, &self.position),
        }
    }
}

/// Errors 1205 and 1213, which another attempt may not meet.
fn is_temporary(e: &SqlError) -> bool {
    matches!(e.code, ER_LOCK_WAIT_TIMEOUT | ER_LOCK_DEADLOCK)
}
