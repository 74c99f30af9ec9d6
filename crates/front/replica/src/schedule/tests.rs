use super::*;
use crate::config::{Done, Filters, Mark};
use binlog::decode::{QueryEvent, RowsEvent, SourceTable};
use types::codes::*;

/// A session that does nothing, known by a number.
struct Idle(u32);

impl Apply for Idle {
    fn starts_from(&mut self, _: &Position) {}

    fn begin(&mut self, _: &Origin) -> Result<(), SqlError> {
        Ok(())
    }

    fn set_insert_id(&mut self, _: bool, _: u64) {}

    fn set_random(&mut self, _: (u64, u64)) {}

    fn statement(&mut self, _: &QueryEvent<'_>, _: u32, _: &Filters, _: Option<&Position>) -> Result<(), SqlError> {
        Ok(())
    }

    fn rows(&mut self, _: &SourceTable, _: &RowsEvent<'_>, _: u32) -> Result<(), SqlError> {
        Ok(())
    }

    fn park(&mut self, _: &Turn) {}

    fn unpark(&mut self) {}

    fn commit(&mut self, _: &Mark) -> Result<(), SqlError> {
        Ok(())
    }

    fn prepares(&mut self, _: binlog::event::XaId) {}

    fn rollback(&mut self) {}

    fn slot(&self) -> u32 {
        self.0
    }

    fn thread(&self) -> u32 {
        self.0
    }

    fn interrupter(&self) -> Box<dyn Fn() + Send + Sync> {
        Box::new(|| {})
    }
}

fn job(number: u64, after: u64, alone: bool) -> Job {
    let place = |offset| Place { number: 1, offset };
    Job {
        number,
        after,
        alone,
        origin: Origin::default(),
        skipped: false,
        done: false,
        begin: place(number * 10),
        end: place(number * 10 + 10),
        checksum: Checksum::Crc32,
        from: Position::new("b.1", number * 10),
        to: Position::new("b.1", number * 10 + 10),
        timestamp: number as u32,
    }
}

fn schedule(order: Order, seats: usize, jobs: &[(u64, u64, bool)]) -> Arc<Schedule> {
    let schedule = Arc::new(Schedule::new(order));
    (0..seats).for_each(|id| schedule.add_seat(Seat { id, apply: Box::new(Idle(100 + id as u32)) }));
    jobs.iter().for_each(|(number, after, alone)| assert!(schedule.push(job(*number, *after, *alone))));
    schedule
}

fn take(schedule: &Schedule, wanted: u64) -> Seat {
    match schedule.take(Takes::All) {
        Taken::Job(job, seat) => {
            assert_eq!(job.number, wanted);
            seat
        }
        _ => panic!("{wanted} may begin"),
    }
}

fn nothing(schedule: &Schedule) -> bool {
    matches!(schedule.take(Takes::All), Taken::Nothing)
}

fn parks(schedule: &Schedule, number: u64, seat: Seat) -> bool {
    matches!(schedule.park(number, seat, Progress::default()), Parking::Parked)
}

#[test]
fn who_commits_commits_what_is_parked_behind() {
    let jobs = [(1, 0, false), (2, 0, false), (3, 0, false), (4, 1, false), (5, 4, true), (6, 5, false)];
    let schedule = schedule(Order::Kept, 3, &jobs);
    let [first, second, third] = [1, 2, 3].map(|n| take(&schedule, n));
    assert!(nothing(&schedule), "there is no seat");
    assert!(schedule.is_due(1) && !schedule.is_due(2));
    let mut earlier = Vec::new();
    let third_turn = Turn::new(&schedule, 3);
    third_turn.earlier(&mut earlier);
    assert_eq!(earlier, [first.apply.slot(), second.apply.slot()]);
    assert!(parks(&schedule, 3, third) && parks(&schedule, 2, second));
    assert_eq!(schedule.oldest(), Some(1));
    let (due, _) = schedule.committed(1, first);
    let due = due.expect("the second is parked");
    assert_eq!(due.job.number, 2);
    let (due, _) = schedule.committed(2, due.seat);
    let (due, _) = schedule.committed(3, due.expect("so is the third").seat);
    assert!(due.is_none());
    let fourth = take(&schedule, 4);
    assert!(nothing(&schedule), "the fifth runs alone");
    schedule.committed(4, fourth);
    let fifth = take(&schedule, 5);
    assert_eq!(fifth.id, FIRST);
    schedule.committed(5, fifth);
    let sixth = take(&schedule, 6);
    schedule.committed(6, sixth);
    let (low, position, _) = schedule.unsettled().unwrap();
    assert_eq!((low, position), (6, Position::new("b.1", 70)));
    schedule.settled(6);
    assert!(schedule.is_idle() && schedule.drain());
}

#[test]
fn who_is_evicted_is_applied_again_in_its_turn() {
    let schedule = schedule(Order::Kept, 4, &[(1, 0, false), (2, 0, false), (3, 0, false)]);
    let [first, second, third] = [1, 2, 3].map(|n| take(&schedule, n));
    let turn = Turn::new(&schedule, 3);
    assert!(parks(&schedule, 3, third));
    assert!(turn.evict() && !turn.evict(), "once");
    let mut earlier = Vec::new();
    turn.earlier(&mut earlier);
    assert!(earlier.is_empty(), "it waits for nobody any more");
    let (number, seat) = schedule.next_eviction().unwrap();
    assert_eq!(number, 3);
    schedule.again(number, seat);
    assert!(nothing(&schedule), "its turn has not come");
    // One that is evicted before it is parked.
    assert!(Turn::new(&schedule, 2).evict());
    let Parking::Evicted(second) = schedule.park(2, second, Progress::default()) else { panic!("it was evicted") };
    schedule.again(2, second);
    assert!(schedule.committed(1, first).0.is_none());
    let second = take(&schedule, 2);
    assert!(schedule.is_due(2) && !Turn::new(&schedule, 2).evict());
    schedule.committed(2, second);
    let third = take(&schedule, 3);
    schedule.committed(3, third);
    assert_eq!(schedule.unsettled().map(|(low, ..)| low), Some(3));
}

#[test]
fn who_is_applied_again_needs_no_thread_and_no_seat_of_others() {
    let jobs = [1, 2, 3, 4, 5].map(|n| (n, 0, false));
    let schedule = schedule(Order::Kept, 3, &jobs);
    let [first, second, third] = [1, 2, 3].map(|n| take(&schedule, n));
    assert!(parks(&schedule, 3, third) && parks(&schedule, 2, second));
    assert!(Turn::new(&schedule, 2).evict());
    let (number, second) = schedule.next_eviction().unwrap();
    schedule.again(number, second);
    assert!(nothing(&schedule), "the seat that is free is the second one's");
    assert!(matches!(schedule.take(Takes::Again), Taken::Nothing), "its turn has not come");
    assert!(schedule.committed(1, first).0.is_none());
    // Threads that take all wait for rows of what is parked.
    let Taken::Job(job, second) = schedule.take(Takes::Again) else { panic!("its turn has come") };
    assert_eq!(job.number, 2);
    let fourth = take(&schedule, 4);
    assert!(matches!(schedule.take(Takes::Again), Taken::Nothing), "the fifth has not begun");
    let (due, _) = schedule.committed(2, second);
    schedule.committed(3, due.expect("the third is parked").seat);
    schedule.committed(4, fourth);
    take(&schedule, 5);
}

#[test]
fn behind_a_failure_nobody_commits() {
    let schedule = schedule(Order::Kept, 4, &[(1, 0, false), (2, 0, false), (3, 0, false)]);
    let [first, second, third] = [1, 2, 3].map(|n| take(&schedule, n));
    assert!(parks(&schedule, 3, third));
    schedule.fail(2, types::err!(ER_KEY_NOT_FOUND, "t"));
    schedule.give_back(second);
    assert!(nothing(&schedule), "the first one is not over");
    assert!(schedule.committed(1, first).0.is_none());
    assert!(matches!(schedule.take(Takes::All), Taken::Ended));
    assert_eq!(schedule.failure().map(|(n, e)| (n, e.code)), Some((2, 1032)));
    assert!(!schedule.push(job(4, 0, false)) && !schedule.drain());
    assert_eq!(schedule.take_seats().0.len(), 1);
}

#[test]
fn out_of_order_the_position_stays_in_front_of_the_gap() {
    let at = |offset| Position::new("b.1", offset);
    for order in [Order::Numbers, Order::Positions] {
        let schedule = schedule(order, 3, &[(1, 0, false), (2, 0, false), (3, 0, false)]);
        let [first, second, third] = [1, 2, 3].map(|n| take(&schedule, n));
        let mark = |n| schedule.mark_of(&job(n, 0, false));
        let is_own = order == Order::Positions;
        let kept = |end| Some(at(end)).filter(|_| is_own);
        assert!(schedule.is_due(3));
        assert_eq!(mark(3), Mark { low: at(10), ahead: kept(40), is_own, ..Mark::default() });
        schedule.committed(3, third);
        assert!(schedule.unsettled().is_none());
        assert_eq!(mark(1), Mark { low: at(20), is_own, ..Mark::default() });
        schedule.committed(1, first);
        // The third ends where nothing is open any more.
        assert_eq!(mark(2), Mark { low: at(40), passed: kept(40).into_iter().collect(), is_own, ..Mark::default() });
        schedule.committed(2, second);
        assert_eq!(schedule.unsettled().unwrap().1, at(40));
    }
}

#[test]
fn what_seats_have_stored_says_what_is_done() {
    let at = |file: u64, offset| Position::new(&format!("b.{file:06}"), offset);
    let done =
        Done::of([at(2, 900), at(10, 100), at(9, 500)].into_iter(), [at(10, 100), at(10, 300), at(2, 950)].into_iter());
    assert_eq!(done, Done { low: at(10, 100), ahead: vec![at(10, 300)] });
    assert!(done.has(&at(9, 999)) && done.has(&at(10, 300)) && !done.has(&at(10, 200)));
    let made = Position { made: true, ..at(3, 7) };
    assert!(Done::of([at(3, 7), made.clone(), at(3, 7)].into_iter(), [].into_iter()).low == made);
    assert_eq!(Done::of([].into_iter(), [].into_iter()).low, Position::new("", 4));
}
