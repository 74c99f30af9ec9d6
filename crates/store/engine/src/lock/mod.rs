//! Row locks.
//!
//! A transaction that changed a row holds an exclusive lock on it without any lock object: the row's header names the
//! transaction, and the status ring says that it is open (an *implicit* lock, as in InnoDB). Objects exist only for locking
//! reads and for waits. They live in a table of 1,024 partitions, each with its own mutex, under the name (tree, key).
//!
//! Whoever changes a row holds its page latched and then looks for explicit locks; whoever takes an explicit lock enters it
//! first and then reads the row's header: one of the two sees the other. A requester that meets an implicit lock makes it
//! explicit on the holder's behalf and queues behind it; the holder finds it in its [`Slot`] when it ends.
//!
//! Gap and next-key locks are intervals of a tree's keys ([`range`]); whoever waits for one makes it explicit for one key.
//!
//! Requests are granted first come, first served: a request waits for conflicting locks granted or asked for before it.
//! Deadlocks are found by the transaction that closes the cycle, at once, by [`deadlock`]; no lock is held across the search.

pub mod deadlock;
pub mod held;
pub mod monitor;
pub mod range;
pub mod slot;

pub use monitor::{Deadlock, DeadlockMember, LockInfo, LockOn, Teller, TransactionInfo, WaitInfo};
pub use slot::{ForeignWait, Name};

use crate::isolation::LockMode;
use crate::{Error, Result};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use held::HeldLocks;
use range::{Covers, Holding, Ranges, Trees};
use slot::{SLOTS_MAX, Slot, WaitOn};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use sync::blocking::{self, Served};
use sync::waits::{self, Wait};
use sync::{CachePadded, Mutex, MutexGuard, Rank, futex};

const PARTITIONS: usize = 1024;

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const GRANTED: u32 = 2;
const VICTIM: u32 = 3;
/// Added to the wake word by an interrupt, so that a thread about to sleep does not.
const INTERRUPTED: u32 = 8;

/// How others end what a session is doing. W: KILL, shutdown, deadline. R: the session's worker, in every wait and scan.
#[derive(Debug, Default)]
pub struct Interrupt {
    /// The session's slot, see [`crate::Transaction::slot`].
    slot: u32,
    state: AtomicU8,
    /// What a lock wait came to; the futex it sleeps on.
    wake: AtomicU32,
    /// The [`Wait`] below the statement that the session's worker is in, 0: none. W: the worker. R: who lists sessions.
    waits: AtomicU8,
    /// Where the session's waits are counted.
    book: OnceLock<waits::Claim>,
}

impl Served for Interrupt {
    fn interruption(&self) -> u8 {
        self.reason()
    }

    fn waits_for(&self, what: Option<Wait>) {
        // Relaxed: a figure to show.
        self.waits.store(what.map_or(0, |what| what as u8 + 1), Ordering::Relaxed);
    }
}

impl Interrupt {
    pub(crate) fn of_slot(slot: u32) -> Interrupt {
        Interrupt { slot, ..Interrupt::default() }
    }

    /// From now on the waits of this session are counted for its number.
    pub fn open_book(&self, session: u64) {
        if self.book.get().is_none()
            && let Some(claim) = waits::Claim::new(session)
        {
            let _ = self.book.set(claim);
        }
    }

    /// Where its waits are counted while a thread serves it, see [`blocking::count_in`]; `None`: it has none of its own.
    #[inline]
    pub fn book(&self) -> Option<&'static waits::Book> {
        self.book.get().map(waits::Claim::book)
    }

    /// The slot of the session's transaction, see [`crate::Transaction::slot`].
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// 1 KILL QUERY, 2 KILL CONNECTION, 3 `max_execution_time`. A greater number replaces a smaller one.
    pub fn raise(&self, reason: u8) {
        // AcqRel: the reason before the wake word, whose Acquire partner is the load in `wait`.
        self.state.fetch_max(reason, Ordering::AcqRel);
        self.wake.fetch_or(INTERRUPTED, Ordering::AcqRel);
        futex::wake_all(&self.wake);
    }

    /// What the session's worker waits for below its statement, other than locks.
    pub fn waits(&self) -> Option<Wait> {
        // Relaxed: a figure to show.
        Wait::from_index(usize::from(self.waits.load(Ordering::Relaxed)).checked_sub(1)?)
    }

    /// 0: nobody asked.
    #[inline(always)]
    pub fn reason(&self) -> u8 {
        // Relaxed: looked at again and again; a waiter has it by the Acquire load of `wake`.
        self.state.load(Ordering::Relaxed)
    }

    /// Before the session queues for something outside the engine: from now on [`Interrupt::notify`] ends [`Interrupt::sleep`].
    pub fn arm(&self) {
        // AcqRel: after an interrupt that it overwrites, so that `sleep` finds the reason.
        self.wake.swap(WAITING, Ordering::AcqRel);
    }

    /// What the session sleeps for has come. Told under the lock that guards it, so that no notice comes after the wait.
    pub fn notify(&self) {
        finish_wait(self, GRANTED);
    }

    /// Sleeps, after [`Interrupt::arm`], until notified, interrupted or `timeout` has passed.
    pub fn sleep(&self, timeout: Duration, what: Wait) -> Slept {
        let mut waiting = None;
        let started = Instant::now();
        loop {
            let word = self.wake.load(Ordering::Acquire); // pairs with the Release in `set_outcome`
            if word & !INTERRUPTED == GRANTED {
                return Slept::Notified;
            }
            if self.reason() != 0 {
                return Slept::Interrupted;
            }
            let Some(left) = timeout.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) else {
                return Slept::TimedOut;
            };
            if word & INTERRUPTED != 0 {
                // An interrupt that was cleared before we looked.
                // AcqRel: keeps what was stored with Release meanwhile visible to the next load.
                self.wake.fetch_and(!INTERRUPTED, Ordering::AcqRel);
                continue;
            }
            waiting.get_or_insert_with(|| blocking::waiting(what));
            futex::wait(&self.wake, word, Some(left), what);
        }
    }

    /// The statement has ended: KILL QUERY and deadlines are over, KILL CONNECTION is not.
    pub fn clear_statement(&self) {
        for reason in [1, 3] {
            // Relaxed would do: one word, no data comes with it.
            let _ = self.state.compare_exchange(reason, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

/// How [`Interrupt::sleep`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slept {
    Notified,
    Interrupted,
    TimedOut,
}

/// What a request asks for at its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The record.
    Record,
    /// The gap that the key is in, made explicit for a waiting insertion. Always granted.
    Gap,
    /// To insert the key: waits for gaps of others, and is dropped when granted.
    Insertion,
}

struct Request {
    slot: u32,
    mode: LockMode,
    on: On,
    /// Set while it waits: whom to wake.
    waiter: Option<Arc<Interrupt>>,
}

impl Request {
    fn is_granted(&self) -> bool {
        self.waiter.is_none()
    }
}

fn modes_conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

/// Of two transactions.
fn conflict(a: &Request, b: &Request) -> bool {
    match (a.on, b.on) {
        (On::Record, On::Record) => modes_conflict(a.mode, b.mode),
        (On::Gap, On::Insertion) | (On::Insertion, On::Gap) => true,
        _ => false,
    }
}

/// Does the transaction hold the record in `mode` or a stronger one?
fn holds(queue: &[Request], slot: u32, mode: LockMode) -> bool {
    let enough = |r: &Request| r.mode == mode || r.mode == LockMode::Exclusive;
    queue.iter().any(|r| r.slot == slot && r.on == On::Record && r.is_granted() && enough(r))
}

/// The requests for one name, first come first.
struct Queue {
    name: Name,
    requests: Vec<Request>,
}

struct Partition {
    /// Names with requests. W: under the mutex. R: writers of rows, without it.
    names: AtomicU32,
    queues: Mutex<HashTable<Queue>>,
}

/// A partition's table, locked, with what it takes to find a name in it.
struct Queues<'l> {
    partition: &'l Partition,
    table: MutexGuard<'l, HashTable<Queue>>,
    hash: u64,
    hasher: &'l RandomState,
}

impl Queues<'_> {
    fn find(&mut self, tree: u32, key: &[u8]) -> Option<&mut Vec<Request>> {
        let queue = self.table.find_mut(self.hash, |q| q.name.tree == tree && *q.name.key == *key)?;
        Some(&mut queue.requests)
    }

    fn get(&mut self, name: &Name) -> Option<&mut Vec<Request>> {
        self.find(name.tree, &name.key)
    }

    fn get_or_insert(&mut self, name: &Name) -> &mut Vec<Request> {
        let hasher = self.hasher;
        let entry = self.table.entry(self.hash, |q| q.name == *name, |q| hash_of(hasher, q.name.tree, &q.name.key));
        match entry {
            Entry::Occupied(entry) => &mut entry.into_mut().requests,
            Entry::Vacant(entry) => {
                // SeqCst: before the caller reads the row; pairs with the load in `must_wait`.
                self.partition.names.fetch_add(1, Ordering::SeqCst);
                let queue = Queue { name: name.clone(), requests: Vec::with_capacity(2) };
                &mut entry.insert(queue).into_mut().requests
            }
        }
    }

    fn drop_if_empty(&mut self, name: &Name) {
        if let Ok(entry) = self.table.find_entry(self.hash, |q| q.name == *name)
            && entry.get().requests.is_empty()
        {
            entry.remove();
            // SeqCst: as above.
            self.partition.names.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn hash_of(hasher: &RandomState, tree: u32, key: &[u8]) -> u64 {
    hasher.hash_one((tree, key))
}

/// All explicit row locks.
pub struct LockTable {
    /// The last deadlock that was broken. W, R: who breaks or shows one.
    latest: Mutex<Option<Arc<Deadlock>>>,
    /// Says who the session in a slot is and what it runs.
    teller: OnceLock<Teller>,
    ranges: Ranges,
    partitions: Box<[CachePadded<Partition>]>,
    hasher: RandomState,
    /// Bytes of locks, as transactions tell of them. W: transactions with many locks.
    memory: CachePadded<AtomicUsize>,
    /// The most that locks may take: then [`Error::LockTableFull`]. W: SET GLOBAL. R: transactions with many locks.
    memory_max: AtomicUsize,
}

/// What a request came to at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Held already, in this mode or a stronger one.
    Held,
    /// Granted now: to be released later.
    Granted,
    /// Queued: call [`LockTable::wait`].
    Queued,
    /// Not granted and not queued (the caller did not want to wait).
    Refused,
}

/// What a scan's attempt to lock its next stretch came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    Covered,
    /// Others hold or await the record in a mode that conflicts.
    Locked,
    /// What was read is out of date.
    Changed,
}

impl LockTable {
    pub fn new(memory_max: usize) -> LockTable {
        let partition =
            || Partition { names: AtomicU32::new(0), queues: Mutex::new(Rank::LockTable, HashTable::new()) };
        LockTable {
            latest: Mutex::new(Rank::Observe, None),
            teller: OnceLock::new(),
            ranges: Ranges::new(),
            partitions: (0..PARTITIONS).map(|_| CachePadded::new(partition())).collect(),
            hasher: RandomState::default(),
            memory: CachePadded::new(AtomicUsize::new(0)),
            memory_max: AtomicUsize::new(memory_max),
        }
    }

    /// Bytes of locks, as transactions tell of them.
    pub fn memory(&self) -> usize {
        // Relaxed: a number to show.
        self.memory.load(Ordering::Relaxed)
    }

    /// The most bytes that all locks may take from now on.
    pub fn set_memory_max(&self, bytes: usize) {
        // Relaxed: a setting that orders nothing.
        self.memory_max.store(bytes, Ordering::Relaxed);
    }

    fn queues(&self, tree: u32, key: &[u8]) -> Queues<'_> {
        let hash = hash_of(&self.hasher, tree, key);
        self.lock_partition(hash)
    }

    fn queues_of(&self, name: &Name) -> Queues<'_> {
        self.queues(name.tree, &name.key)
    }

    fn lock_partition(&self, hash: u64) -> Queues<'_> {
        let partition = &*self.partitions[hash as usize % PARTITIONS];
        Queues { partition, table: partition.queues.lock(), hash, hasher: &self.hasher }
    }

    /// Must `slot`, which is about to change this row or entry, wait for locks of others? Asked with the leaf latched.
    /// `insert`: a row is to live where none does, in a gap, though a deleted one may still be there.
    #[inline]
    pub fn must_wait(&self, slot: u32, tree: u32, key: &[u8], insert: bool) -> Option<On> {
        if self.is_queued(slot, tree, key) {
            return Some(On::Record);
        }
        if self.ranges.in_use(tree) { self.in_range(slot, tree, key, insert) } else { None }
    }

    /// Does somebody else hold or await the record, and we not hold it?
    #[inline]
    fn is_queued(&self, slot: u32, tree: u32, key: &[u8]) -> bool {
        let hash = hash_of(&self.hasher, tree, key);
        // SeqCst: a writer's latch, a read-modify-write, comes before this load; a locker's count, before its read of the row.
        fence(Ordering::SeqCst);
        self.partitions[hash as usize % PARTITIONS].names.load(Ordering::SeqCst) != 0
            && self.is_in_queue(slot, tree, key, hash)
    }

    #[cold]
    fn is_in_queue(&self, slot: u32, tree: u32, key: &[u8], hash: u64) -> bool {
        let mut queues = self.lock_partition(hash);
        let Some(queue) = queues.find(tree, key) else { return false };
        !holds(queue, slot, LockMode::Exclusive) && queue.iter().any(|r| r.slot != slot && r.on == On::Record)
    }

    #[cold]
    fn in_range(&self, slot: u32, tree: u32, key: &[u8], insert: bool) -> Option<On> {
        let trees = self.ranges.lock(tree);
        let in_the_way = |h: &Holding| if insert { h.covers.gaps() } else { h.covers.records() };
        let blocked = range::others(&trees, slot, tree, key, in_the_way).next().is_some();
        blocked.then_some(if insert { On::Gap } else { On::Record })
    }

    /// Asks for a record lock. With `waiter`, queues when it conflicts.
    pub fn request(
        &self,
        slots: &sync::Lanes<Slot>,
        slot: u32,
        name: &Name,
        mode: LockMode,
        waiter: Option<&Arc<Interrupt>>,
    ) -> Outcome {
        if !self.ranges.in_use(name.tree) {
            let outcome = self.request_in_queue(slots, slot, name, mode, waiter);
            // Entered before this look, so that a scan that registers from now on finds it: see `range`.
            if outcome != Outcome::Granted || !self.ranges.in_use(name.tree) {
                return outcome;
            }
            self.release(slot, name);
        }
        let trees = self.ranges.lock(name.tree);
        let own = trees.get(&name.tree).into_iter().flatten().any(|h| {
            let enough = h.mode == mode || h.mode == LockMode::Exclusive;
            h.slot == slot && h.covers.records() && enough && h.contains(&name.key)
        });
        // Who has the record from before has it still: the span passed it by when there was no row.
        if own && !self.is_queued(slot, name.tree, &name.key) {
            return Outcome::Held;
        }
        let in_the_way = |h: &Holding| h.covers.records() && modes_conflict(h.mode, mode);
        for holding in range::others(&trees, slot, name.tree, &name.key, in_the_way) {
            if waiter.is_none() {
                return Outcome::Refused;
            }
            self.make_span_explicit(slots, holding, name, On::Record);
        }
        self.request_in_queue(slots, slot, name, mode, waiter)
    }

    fn request_in_queue(
        &self,
        slots: &sync::Lanes<Slot>,
        slot: u32,
        name: &Name,
        mode: LockMode,
        waiter: Option<&Arc<Interrupt>>,
    ) -> Outcome {
        let mut queues = self.queues_of(name);
        let queue = queues.get_or_insert(name);
        if holds(queue, slot, mode) {
            return Outcome::Held;
        }
        debug_assert!(!queue.iter().any(|r| r.slot == slot && !r.is_granted()), "who waits here asks for nothing more");
        let mut request = Request { slot, mode, on: On::Record, waiter: None };
        if !queue.iter().any(|r| r.slot != slot && conflict(r, &request)) {
            queue.push(request);
            return Outcome::Granted;
        }
        let Some(waiter) = waiter else {
            queues.drop_if_empty(name);
            return Outcome::Refused;
        };
        request.waiter = Some(waiter.clone());
        enqueue(slots, queue, request, name);
        Outcome::Queued
    }

    /// Asks to insert a key that gap locks of others may cover. `Granted`: nothing is in the way (any more).
    pub fn request_insertion(
        &self,
        slots: &sync::Lanes<Slot>,
        slot: u32,
        name: &Name,
        waiter: &Arc<Interrupt>,
    ) -> Outcome {
        let trees = self.ranges.lock(name.tree);
        let mut blocked = false;
        for holding in range::others(&trees, slot, name.tree, &name.key, |h| h.covers.gaps()) {
            self.make_span_explicit(slots, holding, name, On::Gap);
            blocked = true;
        }
        if !blocked {
            return Outcome::Granted;
        }
        let mut queues = self.queues_of(name);
        let queue = queues.get_or_insert(name);
        let waiter = Some(waiter.clone());
        debug_assert!(!queue.iter().any(|r| r.slot == slot && r.on == On::Insertion), "it inserts the key once");
        enqueue(slots, queue, Request { slot, mode: LockMode::Exclusive, on: On::Insertion, waiter }, name);
        Outcome::Queued
    }

    /// The insertion that was waited for may be tried again.
    pub fn end_insertion(&self, slot: u32, name: &Name) {
        self.drop_requests(name, |r| r.slot == slot && r.on == On::Insertion);
    }

    /// A scan has come to a record, or to the end (no record): covers `[low, high)` by a lock of this kind unless the record is
    /// locked by others or (`unchanged` says no) what the scan has read is out of date.
    #[expect(clippy::too_many_arguments, reason = "one span and one record, both by their parts")]
    pub fn cover(
        &self,
        slot: u32,
        tree: u32,
        (mode, covers): (LockMode, Covers),
        (low, high): (&[u8], Option<&[u8]>),
        record: Option<&[u8]>,
        unchanged: impl FnOnce() -> bool,
        held: &mut HeldLocks,
    ) -> Cover {
        let mut trees = self.ranges.lock(tree);
        // First of all, see `range`.
        let (_, made) = self.ranges.holding(&mut trees, tree, slot, mode, covers);
        if made {
            held.add_tree(tree);
        }
        if let Some(key) = record
            && self.is_locked_by_others(&trees, slot, tree, key, mode)
        {
            return Cover::Locked;
        }
        // SeqCst: the count before the version; pairs with the fence in `must_wait`.
        fence(Ordering::SeqCst);
        if !unchanged() {
            return Cover::Changed;
        }
        held.change_spans(self.ranges.holding(&mut trees, tree, slot, mode, covers).0.add(low, high));
        Cover::Covered
    }

    fn is_locked_by_others(&self, trees: &Trees, slot: u32, tree: u32, key: &[u8], mode: LockMode) -> bool {
        let hash = hash_of(&self.hasher, tree, key);
        // SeqCst: after the scan's count; pairs with the addition of a locker, which looks at the count later.
        if self.partitions[hash as usize % PARTITIONS].names.load(Ordering::SeqCst) != 0 {
            let mut queues = self.lock_partition(hash);
            if let Some(queue) = queues.find(tree, key) {
                if holds(queue, slot, mode) {
                    return false;
                }
                let in_the_way = |r: &Request| r.slot != slot && r.on == On::Record && modes_conflict(r.mode, mode);
                if queue.iter().any(in_the_way) {
                    return true;
                }
            }
        }
        range::others(trees, slot, tree, key, |h| h.covers.records() && modes_conflict(h.mode, mode)).next().is_some()
    }

    /// Makes a span explicit for one key: its owner holds a request there from now on. Called under the mutex of the span's tree,
    /// so before its owner gives it up.
    fn make_span_explicit(&self, slots: &sync::Lanes<Slot>, holding: &Holding, name: &Name, on: On) {
        let mut queues = self.queues_of(name);
        let queue = queues.get_or_insert(name);
        let (slot, mode) = (holding.slot, holding.mode);
        let there = match on {
            On::Record => holds(queue, slot, mode),
            _ => queue.iter().any(|r| r.slot == slot && r.on == on),
        };
        if !there {
            // In front: it was held before anybody else asked.
            queue.insert(0, Request { slot, mode, on, waiter: None });
            slots.get(sync::LaneId::from_index(slot as usize)).state.lock().converted.push(name.clone());
        }
    }

    /// Makes the implicit lock of transaction `trx` in `holder` explicit. False: the transaction is over.
    pub fn make_explicit(&self, slots: &sync::Lanes<Slot>, holder: u32, trx: u64, name: &Name) -> bool {
        assert!((holder as usize) < SLOTS_MAX);
        let mut queues = self.queues_of(name);
        let mut state = slots.get(sync::LaneId::from_index(holder as usize)).state.lock();
        if state.trx != trx {
            return false;
        }
        let queue = queues.get_or_insert(name);
        if !holds(queue, holder, LockMode::Exclusive) {
            // In front: it was held before anybody else asked.
            queue.insert(0, Request { slot: holder, mode: LockMode::Exclusive, on: On::Record, waiter: None });
            state.converted.push(name.clone());
        }
        true
    }

    /// Makes an implicit lock of `slot` explicit for itself: the change that carried it is about to be undone, the lock stays.
    /// False: it was explicit already, or it goes with the change. For somebody may have been granted the record and not have looked
    /// at the row yet, which is how it would find the implicit lock. It may look after the change is undone, and then has the lock.
    pub fn keep(&self, slot: u32, name: &Name) -> bool {
        let mut queues = self.queues_of(name);
        let queue = queues.get_or_insert(name);
        let granted = queue.iter().any(|r| r.on == On::Record && r.is_granted() && r.slot != slot);
        let kept = !granted && !holds(queue, slot, LockMode::Exclusive);
        if kept {
            // In front: it was held before anybody else asked.
            queue.insert(0, Request { slot, mode: LockMode::Exclusive, on: On::Record, waiter: None });
        }
        kept
    }

    /// Sleeps until the queued request is granted, fails, or is interrupted.
    pub fn wait(
        &self,
        slots: &sync::Lanes<Slot>,
        slot: u32,
        name: &Name,
        waiter: &Arc<Interrupt>,
        timeout: Duration,
    ) -> Result<()> {
        let started = Instant::now();
        let mut waiting = None;
        let outcome = loop {
            let word = waiter.wake.load(Ordering::Acquire); // pairs with the granter's Release
            debug_assert_ne!(word & !INTERRUPTED, IDLE, "it has queued");
            match word & !INTERRUPTED {
                GRANTED => break Ok(()),
                VICTIM => break Err(Error::Deadlock),
                _ => {}
            }
            if waiter.reason() != 0 {
                break Err(Error::Interrupted);
            }
            let Some(left) = timeout.checked_sub(started.elapsed()) else { break Err(Error::LockWaitTimeout) };
            if word & INTERRUPTED != 0 {
                // An interrupt that was cleared before we looked.
                // AcqRel: keeps what a granter stored with Release meanwhile visible to the next load.
                waiter.wake.fetch_and(!INTERRUPTED, Ordering::AcqRel);
                continue;
            }
            waiting.get_or_insert_with(|| blocking::waiting(Wait::RowLock));
            futex::wait(&waiter.wake, word, Some(left), Wait::RowLock);
        };
        drop(waiting);
        let outcome = match outcome {
            Err(Error::Interrupted | Error::LockWaitTimeout) if !self.withdraw(slot, name) => decided(waiter),
            other => other,
        };
        slots.get(sync::LaneId::from_index(slot as usize)).state.lock().waiting = None;
        // Release: pairs with the next waiter's Acquire load; no granter knows of us any more.
        waiter.wake.store(IDLE, Ordering::Release);
        outcome
    }

    /// See [`crate::Transaction::enter_wait`].
    pub fn enter_foreign(&self, slots: &sync::Lanes<Slot>, slot: u32, wait: Arc<dyn ForeignWait>, weight: u64) {
        slots.get(sync::LaneId::from_index(slot as usize)).state.lock().begin_wait(WaitOn::Foreign(wait), weight);
    }

    pub fn leave_foreign(&self, slots: &sync::Lanes<Slot>, slot: u32) {
        let ended = slots.get(sync::LaneId::from_index(slot as usize)).state.lock().waiting.take();
        debug_assert!(ended.is_some(), "leave_wait follows enter_wait");
    }

    /// Takes a waiting request back. False: it has been granted meanwhile.
    fn withdraw(&self, slot: u32, name: &Name) -> bool {
        let mut woken = Vec::new();
        let removed = {
            let mut queues = self.queues_of(name);
            let Some(queue) = queues.get(name) else { return false };
            let Some(at) = queue.iter().position(|r| r.slot == slot && !r.is_granted()) else { return false };
            queue.remove(at);
            grant(queue, &mut woken);
            queues.drop_if_empty(name);
            true
        };
        wake(woken);
        removed
    }

    /// Gives back the record lock that the transaction was granted last under this name, and grants what can be granted now. A
    /// weaker one that it took before stays.
    pub fn release(&self, slot: u32, name: &Name) {
        let mut woken = Vec::new();
        {
            let mut queues = self.queues_of(name);
            let Some(queue) = queues.get(name) else { return };
            let own = |r: &Request| r.slot == slot && r.is_granted() && r.on == On::Record;
            let Some(last) = queue.iter().rposition(own) else { return };
            queue.remove(last);
            grant(queue, &mut woken);
            queues.drop_if_empty(name);
        }
        wake(woken);
    }

    fn drop_requests(&self, name: &Name, dropped: impl Fn(&Request) -> bool) {
        let mut woken = Vec::new();
        {
            let mut queues = self.queues_of(name);
            let Some(queue) = queues.get(name) else { return };
            queue.retain(|r| !dropped(r));
            grant(queue, &mut woken);
            queues.drop_if_empty(name);
        }
        wake(woken);
    }

    /// Gives a granted lock back if nobody else asks for the row: it is locked otherwise now, by its header or a span.
    pub fn release_if_alone(&self, slot: u32, name: &Name) -> bool {
        let mut queues = self.queues_of(name);
        let Some(queue) = queues.get(name) else { return false };
        if queue.iter().any(|r| r.slot != slot) {
            return false;
        }
        queue.clear();
        queues.drop_if_empty(name);
        true
    }

    /// The granted locks of a transaction that has moved from one slot to another move along. `held`: those that it knows of.
    pub fn hand_over(&self, slots: &sync::Lanes<Slot>, from: u32, to: u32, held: &HeldLocks) {
        debug_assert_ne!(from, to, "another slot takes the locks");
        // Spans first: who makes one explicit does so on behalf of the slot that the span then names.
        held.trees().iter().for_each(|tree| self.ranges.hand_over(*tree, from, to));
        let converted = {
            let mut state = slots.get(sync::LaneId::from_index(from as usize)).state.lock();
            state.trx = 0;
            std::mem::take(&mut state.converted)
        };
        for name in held.names().iter().chain(&converted) {
            let mut queues = self.queues_of(name);
            let Some(queue) = queues.get(name) else { continue };
            queue.iter_mut().filter(|r| r.slot == from && r.is_granted()).for_each(|r| r.slot = to);
        }
        slots.get(sync::LaneId::from_index(to as usize)).state.lock().converted.extend(converted);
    }

    /// Gives back all that a transaction without a session holds beside the locks of its changes.
    pub fn release_held(&self, slot: u32, held: &mut HeldLocks) {
        held.trees().iter().for_each(|tree| self.ranges.release(*tree, slot));
        held.clear(self, |name| self.release(slot, &name));
        debug_assert!(held.is_empty(), "all was given back");
    }

    /// The transaction is over: no implicit lock and no span of it may be made explicit from now on; those that were are
    /// released. `trees`: where it has spans.
    pub fn release_converted(&self, slots: &sync::Lanes<Slot>, slot: u32, trees: &[u32]) {
        trees.iter().for_each(|tree| self.ranges.release(*tree, slot));
        let converted = {
            let mut state = slots.get(sync::LaneId::from_index(slot as usize)).state.lock();
            state.trx = 0;
            std::mem::take(&mut state.converted)
        };
        for name in &converted {
            self.drop_requests(name, |r| r.slot == slot && r.is_granted());
        }
    }
}

/// Adds a request that waits.
fn enqueue(slots: &sync::Lanes<Slot>, queue: &mut Vec<Request>, request: Request, name: &Name) {
    let slot = request.slot;
    debug_assert!(queue.iter().any(|r| r.slot != slot && conflict(r, &request)), "somebody is in the way");
    // AcqRel: after an interrupt that it overwrites, so that `wait` finds the reason; before the Acquire load there. Granters come
    // after it by the mutex of the partition.
    request.waiter.as_ref().expect("it waits").wake.swap(WAITING, Ordering::AcqRel);
    queue.push(request);
    slots.get(sync::LaneId::from_index(slot as usize)).state.lock().begin_wait(WaitOn::Row(name.clone()), 0);
}

/// Grants waiting requests that no earlier request conflicts with.
fn grant(queue: &mut [Request], woken: &mut Vec<Arc<Interrupt>>) {
    for i in 0..queue.len() {
        let (before, rest) = queue.split_at_mut(i);
        let request = &mut rest[0];
        if request.is_granted() || before.iter().any(|r| r.slot != request.slot && conflict(r, request)) {
            continue;
        }
        // Told under the partition's mutex, woken after it: told later, a waiter that has given up meanwhile (and found here that it
        // holds the lock) could take the news for that of its next wait.
        if let Some(waiter) = request.waiter.take() {
            set_outcome(&waiter, GRANTED);
            woken.push(waiter);
        }
    }
}

/// What others made of a request that its owner, who was about to give up, found neither waiting nor there any more.
fn decided(waiter: &Interrupt) -> Result<()> {
    // Relaxed: stored under the mutex of the partition, which the owner has had since.
    match waiter.wake.load(Ordering::Relaxed) & !INTERRUPTED {
        VICTIM => Err(Error::Deadlock),
        outcome => {
            assert_eq!(outcome, GRANTED, "a request goes only when it is granted or withdrawn");
            Ok(())
        }
    }
}

fn wake(woken: Vec<Arc<Interrupt>>) {
    for waiter in woken {
        futex::wake_all(&waiter.wake);
    }
}

fn finish_wait(waiter: &Interrupt, outcome: u32) {
    set_outcome(waiter, outcome);
    futex::wake_all(&waiter.wake);
}

fn set_outcome(waiter: &Interrupt, outcome: u32) {
    // Keeps an interrupt that came meanwhile. Release: pairs with the waiter's Acquire.
    let interrupted = waiter.wake.load(Ordering::Relaxed) & INTERRUPTED;
    waiter.wake.store(outcome | interrupted, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sync::Lanes;

    /// A deadlock's victim whose time runs out, or who is killed, in the same moment holds no lock.
    #[test]
    fn who_gives_up_as_others_decide_goes_by_what_they_decided() {
        let (table, slots) = (LockTable::new(usize::MAX), Lanes::with(2, Slot::default));
        let waiters = [0, 1].map(|slot| Arc::new(Interrupt::of_slot(slot)));
        waiters.iter().for_each(|_| assert!(slots.claim().is_some()));
        let names = [7, 8].map(|key| Name { tree: 1, key: [key].into() });
        let ask = |slot: usize, name: usize| {
            table.request(&slots, slot as u32, &names[name], LockMode::Exclusive, Some(&waiters[slot]))
        };
        assert_eq!(
            [ask(0, 0), ask(1, 1), ask(0, 1), ask(1, 0)].map(|o| o == Outcome::Queued),
            [false, false, true, true]
        );
        table.resolve_deadlock(&slots, 1);
        assert!(!table.withdraw(1, &names[0]));
        assert!(matches!(decided(&waiters[1]), Err(Error::Deadlock)));
        table.release(1, &names[1]);
        assert!(!table.withdraw(0, &names[1]));
        assert!(matches!(decided(&waiters[0]), Ok(())));
    }

    /// Whoever closes a cycle in the same moment as another one agrees with it about the victim.
    #[test]
    fn two_who_find_one_deadlock_choose_one_victim() {
        let (table, slots) = (LockTable::new(usize::MAX), Lanes::with(2, Slot::default));
        let waiters = [0, 1].map(|slot| Arc::new(Interrupt::of_slot(slot)));
        waiters.iter().for_each(|_| assert!(slots.claim().is_some()));
        let names = [7, 8].map(|key| Name { tree: 1, key: [key].into() });
        for round in 0..3000 {
            let ask = |slot: usize, name: usize| {
                table.request(&slots, slot as u32, &names[name], LockMode::Exclusive, Some(&waiters[slot]))
            };
            assert_eq!([ask(0, 0), ask(1, 1)], [Outcome::Granted; 2]);
            let together = std::sync::Barrier::new(2);
            let close = |slot: usize| {
                together.wait();
                assert!(ask(slot, 1 - slot) == Outcome::Queued);
                table.resolve_deadlock(&slots, slot as u32);
            };
            std::thread::scope(|threads| {
                threads.spawn(|| close(0));
                close(1);
            });
            let ended = [0, 1].map(|slot| !table.withdraw(slot as u32, &names[1 - slot]));
            assert_eq!(ended.iter().filter(|ended| **ended).count(), 1, "round {round}: {ended:?}");
            for slot in 0..2 {
                table.release(slot as u32, &names[slot]);
                slots.get(sync::LaneId::from_index(slot)).state.lock().waiting = None;
                waiters[slot].wake.store(IDLE, Ordering::Relaxed);
            }
        }
    }

    /// A scan below REPEATABLE READ gives rows back that it does not want; an earlier statement may have locked them.
    #[test]
    fn a_shared_lock_outlives_the_exclusive_one_that_came_after_it() {
        let (table, slots) = (LockTable::new(usize::MAX), Lanes::with(2, Slot::default));
        (0..2).for_each(|_| assert!(slots.claim().is_some()));
        let name = Name { tree: 1, key: [7].into() };
        let ask = |slot, mode| table.request(&slots, slot, &name, mode, None);
        assert_eq!([ask(0, LockMode::Shared), ask(0, LockMode::Exclusive)], [Outcome::Granted; 2]);
        table.release(0, &name);
        assert_eq!(ask(1, LockMode::Exclusive), Outcome::Refused);
        assert_eq!(ask(1, LockMode::Shared), Outcome::Granted);
        table.release(1, &name);
        table.release(0, &name);
        assert_eq!(ask(1, LockMode::Exclusive), Outcome::Granted);
    }
    /// It finds no implicit lock any more when it looks at the row: with both granted, one would write over what the other wrote.
    #[test]
    fn who_undoes_a_change_keeps_no_lock_beside_one_who_was_granted_it() {
        let (table, slots) = (LockTable::new(usize::MAX), Lanes::with(2, Slot::default));
        (0..2).for_each(|_| assert!(slots.claim().is_some()));
        let name = Name { tree: 1, key: [7].into() };
        let ask = |slot, mode| table.request(&slots, slot, &name, mode, None);
        for mode in [LockMode::Shared, LockMode::Exclusive] {
            assert_eq!(ask(1, mode), Outcome::Granted);
            assert!(!table.keep(0, &name));
            assert_eq!(table.must_wait(0, name.tree, &name.key, false), Some(On::Record));
            table.release(1, &name);
        }
        assert!(table.keep(0, &name));
        assert!(!table.keep(0, &name), "it is explicit now");
        assert_eq!(ask(1, LockMode::Shared), Outcome::Refused);
    }
}
