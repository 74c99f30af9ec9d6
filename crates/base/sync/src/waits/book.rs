//! The books: who has waited for what, how often and how long.

use super::names::{Operation, Wait};
use crate::clock::now_ns;
use crate::lanes::{LaneId, Lanes};
use crate::records::{Record, Records, RecordsMemory};
use crate::shim::RawMutex;
use crate::{TimeCells, TimeTotals};
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

/// Most threads and sessions that have a book at once.
const BOOKS_MAX: usize = 1 << 18;
/// Most accounts whose ended sessions are remembered.
const ACCOUNTS_MAX: usize = 1 << 14;
/// Events that a book keeps: `performance_schema_events_waits_history_size`. W: the start. R: who first has an event.
static HISTORY: AtomicUsize = AtomicUsize::new(10);

static BOOKS: LazyLock<Lanes<Book>> = LazyLock::new(|| Lanes::new(BOOKS_MAX));
static GONE: RawMutex<Gone> =
    RawMutex::new(Gone { epoch: 0, sums: [TimeTotals::NONE; Wait::COUNT], accounts: BTreeMap::new() });

/// What is collected, as the consumers say. W: UPDATE of `setup_consumers`. R: who waits.
static SWITCHES: AtomicU8 = AtomicU8::new(Switches::DEFAULT.0);
/// Sums of an earlier one are zero. W: TRUNCATE. R: who waits, and who asks.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// By wait. W: UPDATE of `setup_instruments`. R: who waits.
static FLAGS: [AtomicU8; Wait::COUNT] = {
    let mut flags = [const { AtomicU8::new(0) }; Wait::COUNT];
    let mut at = 0;
    while at < Wait::COUNT {
        flags[at] = AtomicU8::new(if Wait::ALL[at].is_on() { ENABLED | TIMED } else { 0 });
        at += 1;
    }
    flags
};
const ENABLED: u8 = 1;
const TIMED: u8 = 2;

/// Which figures and events are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches(u8);

impl Switches {
    const GLOBAL: u8 = 1;
    const THREAD: u8 = 2;
    const CURRENT: u8 = 4;
    const HISTORY: u8 = 8;
    const DEFAULT: Switches = Switches(Switches::GLOBAL | Switches::THREAD);

    /// The consumers `global_instrumentation`, `thread_instrumentation`, `events_waits_current`, and either history.
    pub const fn of(global: bool, thread: bool, current: bool, history: bool) -> Switches {
        Switches(global as u8 | (thread as u8) << 1 | (current as u8) << 2 | (history as u8) << 3)
    }

    fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }
}

/// What is on now.
pub fn switches() -> Switches {
    // Relaxed: read-mostly, and no other memory hangs from it.
    Switches(SWITCHES.load(Ordering::Relaxed))
}

pub fn set_switches(switches: Switches) {
    // Relaxed: as in `switches`.
    SWITCHES.store(switches.0, Ordering::Relaxed);
}

/// Is the wait counted, and is it timed?
#[inline]
pub fn flags(wait: Wait) -> (bool, bool) {
    // Relaxed: as in `switches`.
    let flags = FLAGS[wait.index()].load(Ordering::Relaxed);
    (flags & ENABLED != 0, flags & TIMED != 0)
}

pub fn set_flags(wait: Wait, enabled: bool, timed: bool) {
    // Relaxed: as in `switches`.
    FLAGS[wait.index()].store(u8::from(enabled) | u8::from(timed) << 1, Ordering::Relaxed);
}

/// Books keep so many events. Called at the start of the server.
pub fn set_history(size: usize) {
    // Relaxed: no event was recorded yet.
    HISTORY.store(size, Ordering::Relaxed);
}

/// All sums begin anew.
pub fn start_over() {
    // Relaxed: as in `switches`.
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// Sums of another one are zero.
#[inline]
pub fn current_epoch() -> u32 {
    epoch()
}

pub(super) fn epoch() -> u32 {
    // Relaxed: as in `switches`.
    EPOCH.load(Ordering::Relaxed)
}

/// The places in the words of an event.
mod word {
    pub const ID: usize = 0;
    pub const WAIT: usize = 1;
    pub const BEGAN: usize = 2;
    /// 0: it lasts.
    pub const ENDED: usize = 3;
    pub const BYTES: usize = 4;
    /// Whether [`BYTES`] is a number.
    pub const HAS_BYTES: usize = 5;
    pub const OWNER: usize = 6;
    pub const IS_TIMED: usize = 7;
    pub const OPERATION: usize = 8;
    pub const COUNT: usize = 9;
}

/// One wait that a book tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose it is, see [`Book::owner`].
    pub owner: u64,
    /// From 1, in the order of their beginnings.
    pub id: u64,
    pub what: Wait,
    pub operation: Operation,
    /// Since the process began; `None`: not timed.
    pub began_ns: Option<u64>,
    /// `None`: it lasts, or is not timed.
    pub ended_ns: Option<u64>,
    pub is_over: bool,
    pub bytes: Option<u64>,
    /// What it is about: the name of a file, of a lock.
    pub object: String,
}

impl Event {
    fn of(record: &Record<{ word::COUNT }>) -> Option<Event> {
        let words = &record.words;
        if words[word::ID] == 0 {
            return None;
        }
        let is_over = words[word::ENDED] != 0;
        let is_timed = words[word::IS_TIMED] != 0;
        Some(Event {
            owner: words[word::OWNER],
            id: words[word::ID],
            what: Wait::from_index(words[word::WAIT] as usize)?,
            operation: Operation::from_number(words[word::OPERATION])?,
            began_ns: is_timed.then_some(words[word::BEGAN]),
            ended_ns: (is_timed && is_over).then_some(words[word::ENDED]),
            is_over,
            bytes: (words[word::HAS_BYTES] != 0).then_some(words[word::BYTES]),
            object: String::from_utf8_lossy(&record.text).into_owned(),
        })
    }
}

/// The waits of one session, or of a thread that serves nobody.
pub struct Book {
    /// The session's number; 0: it is a thread's of the server. W: the writer. R: readers.
    owner: AtomicU64,
    /// Of what epoch the sums are. W: the writer. R: readers.
    epoch: AtomicU32,
    /// Since when the session has nothing to do, in nanoseconds; 0: it has. W: the writer. R: readers.
    idle_since: AtomicU64,
    sums: [TimeCells; Wait::COUNT],
    /// Made when events are first asked for.
    events: OnceLock<Box<Records<{ word::COUNT }>>>,
    /// Events so far. W: the writer.
    written: AtomicU64,
    /// The wait that lasts, and what it does, see [`pending`]; 0: none. W: the writer. R: readers.
    pending: AtomicU16,
}

impl Default for Book {
    fn default() -> Book {
        Book {
            owner: AtomicU64::new(0),
            epoch: AtomicU32::new(0),
            idle_since: AtomicU64::new(0),
            sums: [const { TimeCells::new() }; Wait::COUNT],
            events: OnceLock::new(),
            written: AtomicU64::new(0),
            pending: AtomicU16::new(0),
        }
    }
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Book").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Book {
    /// The number of the session whose it is; 0: it is a thread's.
    pub fn owner(&self) -> u64 {
        // Relaxed: a figure to show.
        self.owner.load(Ordering::Relaxed)
    }

    /// Adds a wait that is over. For the one writer.
    pub fn add(&self, what: Wait, ns: Option<u64>) {
        let now = epoch();
        // Relaxed: single writer.
        if self.epoch.load(Ordering::Relaxed) != now {
            self.clear_sums(now);
        }
        self.sums[what.index()].add(ns);
    }

    #[cold]
    fn clear_sums(&self, epoch: u32) {
        self.sums.iter().for_each(TimeCells::clear);
        // Release: pairs with Acquire in `sums`: who sees the epoch sees that the sums began anew.
        self.epoch.store(epoch, Ordering::Release);
    }

    /// What it has had a wait for, with the sums.
    pub fn sums(&self) -> Vec<(Wait, TimeTotals)> {
        // Acquire: pairs with Release in `clear_sums`.
        if self.epoch.load(Ordering::Acquire) != epoch() {
            return Vec::new();
        }
        let sums = Wait::ALL.iter().map(|&wait| (wait, self.sums[wait.index()].totals()));
        sums.filter(|(_, sum)| sum.count > 0).collect()
    }

    /// The session has nothing to do from now on. For the one writer.
    #[inline]
    pub fn idle_from(&self, now_ns: u64) {
        // Relaxed: single writer; a figure to show.
        self.idle_since.store(now_ns, Ordering::Relaxed);
    }

    /// It has something to do. For the one writer.
    #[inline]
    pub fn idle_until(&self, now_ns: u64) {
        // Relaxed: single writer.
        let since = self.idle_since.load(Ordering::Relaxed);
        if since == 0 {
            return;
        }
        self.idle_since.store(0, Ordering::Relaxed); // Relaxed: as above
        let (enabled, timed) = flags(Wait::Idle);
        let switches = switches();
        if !enabled || !switches.has(Switches::GLOBAL) {
            return;
        }
        let now_ns = now_ns.max(since);
        if switches.has(Switches::THREAD | Switches::CURRENT) {
            self.record_begin(Wait::Idle, Operation::Idle, since, timed, "");
            self.record_end(now_ns, None, switches);
        }
        self.add(Wait::Idle, timed.then_some(now_ns - since));
    }

    #[cold]
    fn record_begin(&self, what: Wait, operation: Operation, began_ns: u64, timed: bool, object: &str) {
        // Relaxed: as in `set_history`.
        let events = self.events.get_or_init(|| Box::new(Records::new(HISTORY.load(Ordering::Relaxed))));
        // Relaxed: single writer.
        let id = self.written.load(Ordering::Relaxed) + 1;
        self.written.store(id, Ordering::Relaxed); // Relaxed: as above
        let record = events.write();
        record.set(word::ID, id);
        record.set(word::WAIT, what.index() as u64);
        record.set(word::OPERATION, operation as u64);
        record.set(word::BEGAN, began_ns);
        record.set(word::ENDED, 0);
        record.set(word::BYTES, 0);
        record.set(word::HAS_BYTES, 0);
        record.set(word::OWNER, self.owner());
        record.set(word::IS_TIMED, u64::from(timed));
        record.clear_text();
        record.push(object.as_bytes());
    }

    #[cold]
    fn record_end(&self, ended_ns: u64, bytes: Option<u64>, switches: Switches) {
        let Some(events) = self.events.get() else { return };
        let record = events.write();
        record.set(word::ENDED, ended_ns.max(1));
        record.set(word::BYTES, bytes.unwrap_or(0));
        record.set(word::HAS_BYTES, u64::from(bytes.is_some()));
        drop(record);
        if switches.has(Switches::HISTORY) {
            events.keep();
        }
    }

    /// What is waited for now, or was last.
    pub fn current(&self) -> Option<Event> {
        // Relaxed: a figure to show.
        let since = self.idle_since.load(Ordering::Relaxed);
        let last = self.events.get().and_then(|events| events.current()).and_then(|record| Event::of(&record));
        let (enabled, timed) = flags(Wait::Idle);
        // An answer may wait for its flush when the statement is over.
        let is_waiting = last.as_ref().is_some_and(|event| !event.is_over);
        if since == 0
            || is_waiting
            || !enabled
            || !switches().has(Switches::GLOBAL | Switches::THREAD | Switches::CURRENT)
        {
            return last;
        }
        Some(Event {
            owner: self.owner(),
            // Relaxed: a figure to show. It is the next one.
            id: self.written.load(Ordering::Relaxed) + 1,
            what: Wait::Idle,
            operation: Operation::Idle,
            began_ns: timed.then_some(since),
            ended_ns: None,
            is_over: false,
            bytes: None,
            object: String::new(),
        })
    }

    /// The last waits that are over, in the order of their beginnings.
    pub fn history(&self) -> Vec<Event> {
        let records = self.events.get().map_or_else(Vec::new, |events| events.history());
        let mut events: Vec<Event> = records.iter().filter_map(Event::of).filter(|event| event.is_over).collect();
        events.sort_by_key(|event| event.id);
        events.dedup_by_key(|event| event.id);
        events
    }

    /// The session has ended: its sums are added to those of its account and to those of all that have ended. For the one writer.
    pub fn retire(&self, account: Option<(&str, &str)>) {
        let mut gone = GONE.lock();
        gone.take(&self.sums(), account);
        self.clear_sums(epoch());
        // Relaxed: figures to show.
        self.owner.store(0, Ordering::Relaxed);
        self.idle_since.store(0, Ordering::Relaxed); // Relaxed: as above
        self.written.store(0, Ordering::Relaxed); // Relaxed: as above
        if let Some(events) = self.events.get() {
            events.clear();
            let record = events.write();
            record.set(word::ID, 0);
        }
    }
}

/// What sessions and threads have left that have ended.
pub struct Gone {
    epoch: u32,
    sums: [TimeTotals; Wait::COUNT],
    accounts: BTreeMap<(String, String), Vec<(Wait, TimeTotals)>>,
}

impl Gone {
    fn take(&mut self, sums: &[(Wait, TimeTotals)], account: Option<(&str, &str)>) {
        let now = epoch();
        if self.epoch != now {
            *self = Gone { epoch: now, sums: [TimeTotals::NONE; Wait::COUNT], accounts: BTreeMap::new() };
        }
        for (wait, sum) in sums {
            self.sums[wait.index()].merge(sum);
        }
        let Some((user, host)) = account else { return };
        let key = (user.to_owned(), host.to_owned());
        if self.accounts.len() >= ACCOUNTS_MAX && !self.accounts.contains_key(&key) {
            return;
        }
        let known = self.accounts.entry(key).or_default();
        for (wait, sum) in sums {
            match known.iter_mut().find(|(of, _)| of == wait) {
                Some((_, known)) => known.merge(sum),
                None => known.push((*wait, *sum)),
            }
        }
    }
}

/// A book with one owner, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    lane: LaneId,
    book: &'static Book,
}

impl Claim {
    /// For a session of this number, or (0) a thread. `None` when too many have one.
    pub fn new(owner: u64) -> Option<Claim> {
        let books: &'static Lanes<Book> = &BOOKS;
        let lane = books.claim()?;
        let book = books.get(lane);
        // Relaxed: a figure to show.
        book.owner.store(owner, Ordering::Relaxed);
        Some(Claim { lane, book })
    }

    #[inline]
    pub fn book(&self) -> &'static Book {
        self.book
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.book.retire(None);
        BOOKS.release(self.lane);
    }
}

/// The books of all sessions and threads.
pub fn books() -> impl Iterator<Item = &'static Book> {
    let books: &'static Lanes<Book> = &BOOKS;
    books.iter_claimed().map(|(_, book)| book)
}

/// What all events take that books keep, also books that nobody has now.
pub fn events_memory() -> RecordsMemory {
    let mut all = RecordsMemory::default();
    for records in BOOKS.iter_below(BOOKS.high_water()).filter_map(|book| book.events.get()) {
        all.merge(records.memory());
    }
    all
}

fn pending_word(what: Wait, operation: Operation) -> u16 {
    1 + (what.index() as u16) * 16 + operation as u16
}

/// How many are at this now: a figure of a moment.
pub fn pending(what: Wait, operation: Operation) -> u64 {
    let word = pending_word(what, operation);
    // Relaxed: a figure to show.
    books().filter(|book| book.pending.load(Ordering::Relaxed) == word).count() as u64
}

/// All sums at one moment: no session counts twice or is left out because it ends meanwhile.
#[derive(Debug)]
pub struct Picture {
    /// Of all that ever waited, by number of the wait.
    pub all: Vec<TimeTotals>,
    /// Of sessions and threads that are there, by [`Book::owner`].
    pub live: Vec<(u64, Vec<(Wait, TimeTotals)>)>,
    /// Of sessions that have ended, by user and host.
    pub ended: BTreeMap<(String, String), Vec<(Wait, TimeTotals)>>,
}

pub fn picture() -> Picture {
    let gone = GONE.lock();
    let is_current = gone.epoch == epoch();
    let mut all = if is_current { gone.sums.to_vec() } else { vec![TimeTotals::NONE; Wait::COUNT] };
    let live: Vec<_> = books().map(|book| (book.owner(), book.sums())).collect();
    for (wait, sum) in live.iter().flat_map(|(_, sums)| sums) {
        all[wait.index()].merge(sum);
    }
    Picture { all, live, ended: if is_current { gone.accounts.clone() } else { BTreeMap::new() } }
}

thread_local! {
    /// No destructor, so no registration check on access.
    static OWN: Cell<Option<&'static Book>> = const { Cell::new(None) };
    static CLAIM: OnceCell<Own> = const { OnceCell::new() };
}

struct Own(Option<Claim>);

impl Drop for Own {
    fn drop(&mut self) {
        OWN.set(None);
    }
}

/// The book of this thread, whomever it serves. `None` as the thread ends.
pub fn own_book() -> Option<&'static Book> {
    if let Some(book) = OWN.get() {
        return Some(book);
    }
    let book = CLAIM.try_with(|claim| claim.get_or_init(|| Own(Claim::new(0))).0.as_ref().map(Claim::book)).ok()??;
    OWN.set(Some(book));
    Some(book)
}

/// A wait that has begun.
pub struct Ticket {
    book: &'static Book,
    what: Wait,
    /// `None`: it is not timed.
    began_ns: Option<u64>,
    is_recorded: bool,
}

impl Ticket {
    /// A wait begins. `None`: it is not counted.
    pub fn begin(book: &'static Book, what: Wait, operation: Operation, object: &str) -> Option<Ticket> {
        let (enabled, timed) = flags(what);
        let switches = switches();
        if !enabled || !switches.has(Switches::GLOBAL) {
            return None;
        }
        let began_ns = timed.then(now_ns);
        // Relaxed: single writer; a figure to show.
        book.pending.store(pending_word(what, operation), Ordering::Relaxed);
        let is_recorded = switches.has(Switches::THREAD | Switches::CURRENT);
        if is_recorded {
            book.record_begin(what, operation, began_ns.unwrap_or(0), timed, object);
        }
        Some(Ticket { book, what, began_ns, is_recorded })
    }

    /// It was none. What has been told of it is over all the same.
    pub fn cancel(self) {
        match self.is_recorded {
            true => _ = self.end(None),
            false => self.book.pending.store(0, Ordering::Relaxed), // Relaxed: as in `begin`
        }
    }

    /// It is over. Answers how long it took, if it is timed.
    pub fn end(self, bytes: Option<u64>) -> Option<u64> {
        // Relaxed: as in `begin`.
        self.book.pending.store(0, Ordering::Relaxed);
        let ended_ns = self.began_ns.map(|_| now_ns());
        let took = self.began_ns.zip(ended_ns).map(|(began, ended)| ended.saturating_sub(began));
        if self.is_recorded {
            self.book.record_end(ended_ns.unwrap_or(1), bytes, switches());
        }
        self.book.add(self.what, took);
        took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(book: &Book, what: Wait) -> TimeTotals {
        book.sums().into_iter().find(|(wait, _)| *wait == what).map_or(TimeTotals::NONE, |(_, sum)| sum)
    }

    /// One test: switches, flags and the epoch are the process's.
    #[test]
    fn waits_are_counted_shown_and_left_behind() {
        let claim = Claim::new(7).unwrap();
        let book = claim.book();
        book.add(Wait::RowLock, Some(30));
        book.add(Wait::RowLock, Some(10));
        book.add(Wait::Sleep, None);
        assert_eq!(sum_of(book, Wait::RowLock), TimeTotals { count: 2, sum_ns: 40, min_ns: 10, max_ns: 30 });
        assert_eq!(sum_of(book, Wait::Sleep), TimeTotals { count: 1, ..TimeTotals::NONE });
        assert_eq!(book.current(), None);

        let ticket = Ticket::begin(book, Wait::Checkpoint, Operation::Wait, "").unwrap();
        assert!(ticket.end(None).is_some());
        assert_eq!((book.current(), sum_of(book, Wait::Checkpoint).count), (None, 1), "no consumer wants the event");

        set_switches(Switches::of(true, true, true, true));
        let ticket = Ticket::begin(book, Wait::DataFile, Operation::Read, "a/b").unwrap();
        let open = book.current().unwrap();
        assert_eq!([Operation::Read, Operation::Write].map(|how| pending(Wait::DataFile, how)), [1, 0]);
        assert_eq!((open.what, open.is_over, open.ended_ns, &*open.object), (Wait::DataFile, false, None, "a/b"));
        assert!(ticket.end(Some(16384)).is_some());
        assert_eq!(pending(Wait::DataFile, Operation::Read), 0);
        let [over] = &book.history()[..] else { panic!("one event") };
        assert_eq!((over.owner, over.id, over.is_over, over.bytes), (7, 1, true, Some(16384)));
        book.idle_from(5);
        assert_eq!(book.current().map(|event| (event.what, event.is_over)), Some((Wait::Idle, false)));
        book.idle_until(25);
        assert_eq!((sum_of(book, Wait::Idle).sum_ns, book.history().len()), (20, 2));
        set_flags(Wait::Purge, false, false);
        assert!(Ticket::begin(book, Wait::Purge, Operation::Wait, "").is_none());
        set_flags(Wait::Purge, true, false);
        assert_eq!(Ticket::begin(book, Wait::Purge, Operation::Wait, "").unwrap().end(None), None, "not timed");
        set_switches(Switches::DEFAULT);

        let before = picture().all[Wait::RowLock.index()];
        book.retire(Some(("u", "h")));
        assert_eq!((book.owner(), book.sums().len(), book.current()), (0, 0, None));
        let after = picture();
        assert_eq!(after.all[Wait::RowLock.index()], before, "they are the same waits");
        let ended = &after.ended[&("u".to_owned(), "h".to_owned())];
        assert!(ended.iter().any(|(wait, s)| *wait == Wait::RowLock && s.count == 2));

        book.add(Wait::RowLock, Some(1));
        start_over();
        assert_eq!((book.sums().len(), picture().ended.len()), (0, 0));
        book.add(Wait::RowLock, Some(2));
        assert_eq!(sum_of(book, Wait::RowLock), TimeTotals { count: 1, sum_ns: 2, min_ns: 2, max_ns: 2 });
    }
}
