//! Whose command is next: few connections of a group at a time, a command or a transaction of each.
//!
//! Hundreds of open transactions stand in each other's way. So a connection is given a *turn*: a command, or a transaction up to
//! [`TURN_MOST`] of being served, and no more than [`AT_ONCE`] have one at a time; the others stand in line. This is [concurrency
//! restriction][malthusian]; InnoDB does the same with `innodb_thread_concurrency` and its tickets.
//!
//! What keeps it harmless:
//! - Who has something that others may wait for, a transaction or locks, is served at once, turn or not.
//! - When there is nothing to do for those who have a turn, places are free whose holders have been silent, or waiting for a flush, for
//!   [`ABSENT`], or at one command, asleep or not, for [`LONG`]: clients that are far away, or think, slow disks and statements that
//!   sleep keep nobody out. Who waits for less keeps its place, or soon all would stand behind the row that all want.
//! - The line is first come, first served: nobody stands in it for longer than a turn of each other takes.
//!
//! [malthusian]: https://arxiv.org/abs/1511.06035

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Connections of a group that have a turn at a time.
const AT_ONCE: usize = 16;
/// What a turn is at most while its transaction goes on, in time of being served.
const TURN_MOST: Duration = Duration::from_millis(1);
/// A holder that has sent nothing for so long after its last answer loses its turn; one that waits for a flush does not count meanwhile.
pub const ABSENT: Duration = Duration::from_millis(1);
/// Who has been at one command for so long does not count while it goes on.
pub const LONG: Duration = Duration::from_millis(10);

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// It has had its answer.
    Nothing,
    Command,
    /// Its command is done and waits to be durable.
    Flush,
}

/// One connection.
struct Place {
    /// For how long it has been served since its turn began.
    served: Duration,
    /// It counts as one of the few.
    counted: bool,
    /// It has something that others may wait for.
    midway: bool,
    /// A command is there; it stands in `ready` or in `line`.
    asks: bool,
    doing: Doing,
    /// When that began, or a moment earlier.
    since: Instant,
}

impl Place {
    /// The command that ends now counts for its turn. The time of a flush is nobody's.
    fn pay(&mut self, now: Instant) {
        if self.doing == Doing::Command {
            self.served += now.saturating_duration_since(self.since);
        }
    }

    fn has_had_its_turn(&self) -> bool {
        !self.midway || self.served >= TURN_MOST
    }
}

/// The connections of a group, by their seats.
#[derive(Default)]
pub struct Turns {
    places: Vec<Place>,
    /// Who asks and is to be served at once.
    ready: VecDeque<usize>,
    /// Who asks for a turn.
    line: VecDeque<usize>,
    /// How many places count.
    counted: usize,
    /// When absent holders were last looked for.
    looked: Option<Instant>,
    /// The time, a moment ago.
    clock: Option<Instant>,
}

impl Turns {
    /// A connection takes this seat.
    pub fn sit(&mut self, key: usize, midway: bool, now: Instant) {
        let doing = Doing::Nothing;
        let place = Place { served: Duration::ZERO, counted: false, midway, asks: false, doing, since: now };
        if key == self.places.len() {
            self.places.push(place);
        } else {
            self.places[key] = place;
        }
    }

    /// The connection of this seat, whose command is being served or who does not ask, leaves.
    pub fn leave(&mut self, key: usize) {
        self.uncount(key);
        self.places[key].asks = false;
    }

    /// It has sent something.
    pub fn ask(&mut self, key: usize) {
        let place = &mut self.places[key];
        if std::mem::replace(&mut place.asks, true) {
            return;
        }
        if place.counted || place.midway {
            self.ready.push_back(key);
        } else {
            self.line.push_back(key);
        }
    }

    /// Has it sent something that has not been served?
    pub fn asks(&self, key: usize) -> bool {
        self.places[key].asks
    }

    /// Does somebody stand in line who has to wait for one who has a turn?
    pub fn is_held_up(&self) -> bool {
        self.ready.is_empty() && !self.line.is_empty() && self.counted >= AT_ONCE
    }

    /// Is there a command to be served now?
    pub fn has_next(&self) -> bool {
        !self.ready.is_empty() || (!self.line.is_empty() && self.counted < AT_ONCE)
    }

    /// Who is served now.
    pub fn next(&mut self) -> Option<usize> {
        while self.has_next() {
            let (key, in_line) = match self.ready.pop_front() {
                Some(key) => (key, false),
                None => (self.line.pop_front()?, true),
            };
            let place = &mut self.places[key];
            // It has left since.
            if !std::mem::take(&mut place.asks) {
                continue;
            }
            (place.doing, place.since) = (Doing::Command, self.clock.unwrap_or(place.since));
            if in_line {
                place.served = Duration::ZERO;
                self.count(key);
            }
            return Some(key);
        }
        None
    }

    /// Its command is done but for the flush.
    pub fn flushes(&mut self, key: usize, now: Instant) {
        self.clock = Some(now);
        let place = &mut self.places[key];
        place.pay(now);
        (place.doing, place.since) = (Doing::Flush, now);
    }

    /// Its command computes for long: others may have its place meanwhile.
    pub fn step_aside(&mut self, key: usize) {
        self.uncount(key);
    }

    /// Its command is done.
    pub fn answered(&mut self, key: usize, midway: bool, now: Instant) {
        self.clock = Some(now);
        let place = &mut self.places[key];
        place.pay(now);
        (place.doing, place.midway, place.since) = (Doing::Nothing, midway, now);
        if place.has_had_its_turn() {
            self.uncount(key);
        }
    }

    /// The leader has waited for commands until now.
    pub fn tick(&mut self, now: Instant) {
        self.clock = Some(now);
    }

    /// Ends the turns of those who have been silent for long, and frees the places of those whose commands go on for long. Called
    /// when [`Turns::is_held_up`] for a while.
    pub fn look(&mut self, now: Instant) {
        if self.looked.is_some_and(|looked| now < looked + ABSENT) {
            return;
        }
        self.looked = Some(now);
        for key in 0..self.places.len() {
            let place = &self.places[key];
            let age = now.saturating_duration_since(place.since);
            match place.doing {
                _ if !place.counted => {}
                Doing::Nothing if !place.asks && age >= ABSENT => self.uncount(key),
                Doing::Flush if age >= ABSENT => self.uncount(key),
                Doing::Command if age >= LONG => self.uncount(key),
                Doing::Nothing | Doing::Flush | Doing::Command => {}
            }
        }
    }

    fn count(&mut self, key: usize) {
        self.counted += usize::from(!std::mem::replace(&mut self.places[key].counted, true));
    }

    fn uncount(&mut self, key: usize) {
        self.counted -= usize::from(std::mem::take(&mut self.places[key].counted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(count: usize, now: Instant) -> Turns {
        let mut turns = Turns::default();
        (0..count).for_each(|key| turns.sit(key, false, now));
        (0..count).for_each(|key| turns.ask(key));
        turns
    }

    /// Serves commands of clients that ask again at once, each for `time`; who was served.
    fn serve(turns: &mut Turns, commands: u32, time: Duration, now: &mut Instant) -> Vec<usize> {
        let serve_one = |_| {
            let key = turns.next().expect("somebody asks");
            *now += time;
            turns.answered(key, false, *now);
            turns.ask(key);
            key
        };
        (0..commands).map(serve_one).collect()
    }

    #[test]
    fn all_are_served_in_the_order_in_which_they_ask() {
        let mut now = Instant::now();
        let mut turns = asking(5 * AT_ONCE, now);
        turns.tick(now);
        for round in 0..3 {
            let served = serve(&mut turns, 5 * AT_ONCE as u32, Duration::from_micros(20), &mut now);
            assert_eq!(served, Vec::from_iter(0..5 * AT_ONCE), "round {round}");
        }
    }

    #[test]
    fn a_turn_ends_with_its_transaction_and_a_flush_is_no_part_of_it() {
        let mut now = Instant::now();
        let mut turns = asking(AT_ONCE + 1, now);
        turns.tick(now);
        (0..AT_ONCE).for_each(|key| assert_eq!(turns.next(), Some(key)));
        now += TURN_MOST / 2;
        turns.flushes(0, now);
        now += 2 * TURN_MOST;
        turns.answered(0, true, now);
        assert_eq!(turns.places[0].served, TURN_MOST / 2);
        turns.ask(0);
        assert_eq!((turns.next(), turns.next()), (Some(0), None), "its transaction goes on");
        now += TURN_MOST;
        turns.answered(0, true, now);
        turns.ask(0);
        assert_eq!((turns.next(), turns.next()), (Some(0), Some(AT_ONCE)), "it goes on, and others begin");
        turns.answered(0, false, now);
        turns.ask(0);
        assert_eq!(turns.next(), None, "its turn is over");
    }

    #[test]
    fn who_has_locks_is_served_at_once() {
        let now = Instant::now();
        let mut turns = asking(AT_ONCE + 2, now);
        let last = AT_ONCE + 1;
        // It had begun a transaction before it came here.
        turns.leave(last);
        turns.sit(last, true, now);
        turns.ask(last);
        assert_eq!(turns.next(), Some(last));
        turns.answered(last, true, now);
        (0..AT_ONCE).for_each(|key| assert_eq!(turns.next(), Some(key)));
        assert_eq!(turns.next(), None);
        assert!(turns.is_held_up());
        turns.ask(last);
        assert_eq!(turns.next(), Some(last));
        turns.answered(last, false, now);
        turns.ask(last);
        assert_eq!(turns.next(), None, "its transaction is over");
    }

    #[test]
    fn who_takes_long_keeps_nobody_out() {
        let start = Instant::now();
        let (soon, late) = (start + ABSENT, start + LONG);
        let mut turns = asking(2 * AT_ONCE, start);
        (0..AT_ONCE).for_each(|key| assert_eq!(turns.next(), Some(key)));
        turns.flushes(0, start);
        turns.answered(1, true, start);
        turns.answered(2, true, start);
        turns.ask(2);
        assert_eq!(turns.next(), Some(2));
        assert!(turns.is_held_up());
        turns.look(soon - Duration::from_micros(1));
        assert_eq!(turns.next(), None, "a moment is not long");
        turns.tick(soon + ABSENT);
        turns.look(soon + ABSENT);
        assert_eq!(
            (turns.next(), turns.next()),
            (Some(AT_ONCE), Some(AT_ONCE + 1)),
            "for the flush and the silent one"
        );
        assert_eq!(turns.next(), None);
        turns.look(late);
        assert_eq!(turns.next(), Some(AT_ONCE + 2), "for those at a command");
        assert_eq!(turns.counted, 3);
    }

    #[test]
    fn who_steps_aside_makes_room_and_stands_in_line_again() {
        let now = Instant::now();
        let mut turns = asking(AT_ONCE + 2, now);
        (0..AT_ONCE).for_each(|key| assert_eq!(turns.next(), Some(key)));
        turns.step_aside(3);
        assert_eq!(turns.next(), Some(AT_ONCE));
        turns.answered(3, false, now);
        turns.ask(3);
        assert_eq!(turns.next(), None, "its place is taken");
        turns.step_aside(4);
        assert_eq!((turns.next(), turns.next()), (Some(AT_ONCE + 1), None));
        turns.step_aside(5);
        assert_eq!((turns.next(), turns.next()), (Some(3), None));
    }

    #[test]
    fn who_leaves_is_not_served() {
        let now = Instant::now();
        let mut turns = asking(3, now);
        turns.leave(1);
        assert_eq!((turns.next(), turns.next(), turns.next()), (Some(0), Some(2), None));
        turns.answered(0, false, now);
        turns.leave(2);
        turns.leave(0);
        assert_eq!(turns.counted, 0);
    }
}
