//! What a statement has of memory: one account, from which everything draws that allocates.
//!
//! The allocator keeps a count for each thread anyway ([`count_by`]), and a statement runs on one thread. So whatever planner, operators,
//! functions, sets, aggregates and buffers take is in the account without a word from them, and what they give back is out of it again.
//!
//! ```text
//!   arm      a command begins: whose it is; the thread's count is noted when somebody first asks, or by `begin`
//!   begin    the thread's count is noted; nothing is written that another session reads
//!   check    asked by whoever works long or keeps rows: a comparison, as long as the statement has less than a step more than before
//!   step     what the connection has is published in its account and added to the server's sum, and compared with three bounds:
//!            the statement's, the connection's, the server's
//!   end      what stays (prepared statements, variables) is the connection's; what was published is taken back
//! ```
//!
//! At the server's bound the connection that has most ends, whoever it was that asked for more.

use crate::waits::Wait;
use crate::{CachePadded, Mutex, Rank, blocking};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// Answers how many bytes the calling thread has allocated and not freed; below 0 when it freed what others had allocated.
pub type Count = fn() -> i64;

/// What a statement may take before somebody else hears of it, unless the connection is tracked more closely.
const STEP: i64 = 1 << 20;
/// How long who asks for more waits for the connection that has most to end.
const PATIENCE: Duration = Duration::from_secs(1);
const ASK_AGAIN: Duration = Duration::from_millis(5);

/// [`START`] of a command that nobody has asked about.
const NOT_BEGUN: i64 = i64::MIN;

static COUNT: OnceLock<Count> = OnceLock::new();
/// What all connections have published, and those among them that are tracked. W: statements, once a step. R: the same; SHOW STATUS.
static ALL: CachePadded<AtomicI64> = CachePadded::new(AtomicI64::new(0));
static TRACKED: CachePadded<AtomicI64> = CachePadded::new(AtomicI64::new(0));
/// The most that [`ALL`] has been. W: statements, once a step. R: who looks at memory.
static ALL_HIGHEST: AtomicI64 = AtomicI64::new(0);
/// What they may have. W: SET GLOBAL, start. R: statements, once a step.
static TRACKED_MAX: AtomicU64 = AtomicU64::new(u64::MAX);
static ALL_MAX: AtomicU64 = AtomicU64::new(u64::MAX);
static ACCOUNTS: Mutex<Vec<Weak<Account>>> = Mutex::new(Rank::Observe, Vec::new());

thread_local! {
    /// The thread's count when the statement began.
    static START: Cell<i64> = const { Cell::new(0) };
    /// The count beyond which [`check`] looks closer, and beyond which operators are to spill what they can.
    static NEXT: Cell<i64> = const { Cell::new(i64::MAX) };
    static TIGHT: Cell<i64> = const { Cell::new(i64::MAX) };
    /// Whose statement it is, to compare with, and to ask. Weak: an account goes with its connection, and keeps its address till then.
    static OF_AT: Cell<*const Account> = const { Cell::new(std::ptr::null()) };
    static OF: RefCell<Weak<Account>> = const { RefCell::new(Weak::new()) };
}

/// Why a statement has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// It has as much as one statement may.
    Statement { limit: u64 },
    /// Its connection has.
    Connection { limit: u64, used: u64 },
    /// All connections together have, and this one has most.
    Server { limit: u64, used: u64 },
}

/// In bytes; what MySQL calls the limits of a connection stands in its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of one statement, at most.
    pub statement: u64,
    /// `connection_memory_limit`, of statement and connection together.
    pub connection: u64,
    /// `connection_memory_chunk_size`, if it is tracked.
    pub chunk: Option<u64>,
    /// An administrator: the limits that are variables do not end it.
    pub exempt: bool,
}

/// The memory of one connection. On cache lines of its own.
#[repr(align(128))]
pub struct Account {
    /// What the connection has while no statement runs, roughly. W, R: its worker.
    resting: AtomicI64,
    /// W, R: its worker.
    step: AtomicI64,
    limits: Mutex<Limits>,
    /// The most that it has had, as far as it was counted: at the ends of commands, and once a step. W: its worker, and who forgets it.
    /// R: who looks at memory.
    highest: AtomicI64,
    /// What the others count for it, and whether in [`TRACKED`] too. W: its worker. R: who looks for the one that has most.
    published: AtomicI64,
    tracked: AtomicBool,
    exempt: AtomicBool,
    /// It has been told to end.
    ended: AtomicBool,
    /// Ends the connection, from another thread.
    end: Box<dyn Fn() + Send + Sync>,
}

/// The allocator's count. The first call counts; without one no statement has anything.
pub fn count_by(count: Count) {
    // A second server in one process has the same allocator.
    let _ = COUNT.set(count);
}

/// `all`: of all connections, at most, administrators or not; `tracked`: `global_connection_memory_limit`.
pub fn set_server_limits(all: u64, tracked: u64) {
    // Relaxed: bounds for whoever comes by next.
    ALL_MAX.store(all, Ordering::Relaxed);
    TRACKED_MAX.store(tracked, Ordering::Relaxed);
}

/// `Global_connection_memory`: bytes of the connections that are tracked.
pub fn tracked() -> u64 {
    // Relaxed: a figure to show.
    TRACKED.load(Ordering::Relaxed).max(0) as u64
}

/// The most that all connections together have had, counted in steps.
pub fn highest() -> u64 {
    // Relaxed: a figure to show.
    ALL_HIGHEST.load(Ordering::Relaxed).max(0) as u64
}

/// That is counted anew.
pub fn forget_highest() {
    // Relaxed: a figure to show.
    ALL_HIGHEST.store(ALL.load(Ordering::Relaxed), Ordering::Relaxed);
}

#[inline]
fn held() -> i64 {
    match COUNT.get() {
        Some(count) => count(),
        None => 0,
    }
}

impl Account {
    /// `end` is called, from any thread and with any locks held, when the connection has to give its memory back.
    pub fn open(limits: Limits, end: impl Fn() + Send + Sync + 'static) -> Arc<Account> {
        let account = Arc::new(Account {
            resting: AtomicI64::new(0),
            step: AtomicI64::new(STEP),
            limits: Mutex::new(Rank::Observe, limits),
            highest: AtomicI64::new(0),
            published: AtomicI64::new(0),
            tracked: AtomicBool::new(false),
            exempt: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            end: Box::new(end),
        });
        account.set_limits(limits);
        let mut all = ACCOUNTS.lock();
        if all.len() == all.capacity() {
            all.retain(|account| account.strong_count() > 0);
        }
        all.push(Arc::downgrade(&account));
        drop(all);
        account
    }

    /// From the next step on.
    pub fn set_limits(&self, limits: Limits) {
        *self.limits.lock() = limits;
        let step = limits.chunk.map_or(STEP, |chunk| (chunk.max(1)).min(STEP as u64) as i64);
        // Relaxed: these are the worker's own; others want a recent figure.
        self.step.store(step, Ordering::Relaxed);
        self.exempt.store(limits.exempt, Ordering::Relaxed); // Relaxed: as above
        let before = self.tracked.swap(limits.chunk.is_some(), Ordering::Relaxed);
        let has = self.published.load(Ordering::Relaxed); // Relaxed: as above
        match (before, limits.chunk.is_some()) {
            (false, true) => add(&TRACKED, has),
            (true, false) => add(&TRACKED, -has),
            _ => {}
        }
    }

    /// A command begins on this thread. One that is over before anybody asks what it has, as a prepared look-up is, is not counted.
    #[inline]
    pub fn arm(self: &Arc<Account>) {
        if OF_AT.get() != Arc::as_ptr(self) {
            OF_AT.set(Arc::as_ptr(self));
            // A thread that is ending runs no statements.
            let _ = OF.try_with(|of| of.replace(Arc::downgrade(self)));
        }
        START.set(NOT_BEGUN);
        NEXT.set(i64::MIN);
        TIGHT.set(i64::MAX);
    }

    /// It is one that may leave something with its connection (texts, plans, variables): what it has is counted from here on.
    pub fn begin(&self) {
        let held = held();
        START.set(held);
        // Relaxed: the worker's own. Of a connection that has a step or more the first question is looked into.
        let step = if self.published.load(Ordering::Relaxed) == 0 { self.step.load(Ordering::Relaxed) } else { -1 };
        NEXT.set(held + step);
        TIGHT.set(i64::MAX);
    }

    /// It is over, on the thread on which it began.
    #[inline]
    pub fn end(&self) {
        NEXT.set(i64::MAX);
        if START.get() != NOT_BEGUN {
            self.settle();
        }
    }

    fn settle(&self) {
        TIGHT.set(i64::MAX);
        // Relaxed: the worker's own.
        let rests = (self.resting.load(Ordering::Relaxed) + held() - START.get()).max(0);
        self.resting.store(rests, Ordering::Relaxed); // Relaxed: as above
        self.note(rests);
        if (rests - self.published.load(Ordering::Relaxed)).abs() >= self.step.load(Ordering::Relaxed) {
            self.publish(rests);
        }
    }

    /// What others count for the connection is so much from now on, to a step.
    #[cold]
    fn publish(&self, bytes: i64) {
        self.note(bytes);
        // Relaxed: the worker's own; others want a recent figure.
        let step = self.step.load(Ordering::Relaxed);
        let bytes = bytes.div_euclid(step) * step;
        let before = self.published.swap(bytes, Ordering::Relaxed); // Relaxed: as above
        add(&ALL, bytes - before);
        // Relaxed: a figure to show.
        ALL_HIGHEST.fetch_max(ALL.load(Ordering::Relaxed), Ordering::Relaxed);
        if self.tracked.load(Ordering::Relaxed) {
            add(&TRACKED, bytes - before);
        }
    }

    fn note(&self, bytes: i64) {
        // Relaxed: the worker's own; others want a recent figure.
        if bytes > self.highest.load(Ordering::Relaxed) {
            self.highest.store(bytes, Ordering::Relaxed); // Relaxed: as above
        }
    }

    /// Bytes that the connection has, to a step while a statement runs, and the most that it has had.
    pub fn used(&self) -> (u64, u64) {
        // Relaxed: figures of a moment.
        let now = self.resting.load(Ordering::Relaxed).max(self.published.load(Ordering::Relaxed)).max(0);
        let highest = self.highest.load(Ordering::Relaxed).max(now); // Relaxed: as above
        (now as u64, highest as u64)
    }

    /// The most that it has had is counted anew.
    pub fn forget_highest(&self) {
        // Relaxed: a figure; a statement that notes one at the same time may win.
        self.highest.store(0, Ordering::Relaxed);
    }

    /// Has it been told to end since there was no memory left? What its client is to hear.
    pub fn ended(&self) -> Option<Excess> {
        // Relaxed: the interrupt that comes with it is what is waited for.
        self.ended.load(Ordering::Relaxed).then(server_excess)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.publish(0);
    }
}

fn add(sum: &AtomicI64, bytes: i64) {
    if bytes == 0 {
        return;
    }
    // Relaxed: a sum, and no order with anything else.
    sum.fetch_add(bytes, Ordering::Relaxed);
}

/// Which of the two sums of the server is beyond its bound.
fn over() -> Option<(u64, u64)> {
    // Relaxed: figures of a moment, looked at again and again.
    let (all, tracked) = (ALL.load(Ordering::Relaxed).max(0) as u64, TRACKED.load(Ordering::Relaxed).max(0) as u64);
    // Relaxed: as above.
    let (all_max, tracked_max) = (ALL_MAX.load(Ordering::Relaxed), TRACKED_MAX.load(Ordering::Relaxed));
    if tracked > tracked_max {
        return Some((tracked_max, tracked));
    }
    (all > all_max).then_some((all_max, all))
}

fn server_excess() -> Excess {
    // Relaxed: figures to tell.
    let used = ALL.load(Ordering::Relaxed).max(0) as u64;
    let (limit, used) = over().unwrap_or((ALL_MAX.load(Ordering::Relaxed), used)); // Relaxed: as above
    Excess::Server { limit, used }
}

/// Has the thread's statement more than it may? To be asked where something grows, and where interrupts are looked for.
#[inline]
pub fn check() -> Result<(), Excess> {
    check_for(0)
}

/// The same, before so many bytes are taken at once.
#[inline]
pub fn check_for(bytes: usize) -> Result<(), Excess> {
    let wanted = bytes as i64;
    if held() <= NEXT.get().saturating_sub(wanted) { Ok(()) } else { check_slow(wanted) }
}

/// Has the statement half of what it may have? What can go on in a file does so then.
#[inline]
pub fn is_tight() -> bool {
    held() > TIGHT.get()
}

#[cold]
fn check_slow(wanted: i64) -> Result<(), Excess> {
    let Some(account) = OF.with(|of| of.borrow().upgrade()) else { return Ok(()) };
    if START.get() == NOT_BEGUN {
        account.begin();
        return check_for(usize::try_from(wanted).unwrap_or(0));
    }
    let limits = *account.limits.lock();
    let now = held();
    let own = now - START.get() + wanted;
    if own > clamped(limits.statement) {
        return Err(Excess::Statement { limit: limits.statement });
    }
    // Relaxed: the worker's own.
    let used = account.resting.load(Ordering::Relaxed) + own;
    if !limits.exempt && used > clamped(limits.connection) {
        return Err(Excess::Connection { limit: limits.connection, used: used as u64 });
    }
    account.publish(used);
    if over().is_some() {
        make_room(&account)?;
    }
    // Relaxed: as above.
    NEXT.set(now.max(START.get()) + account.step.load(Ordering::Relaxed));
    TIGHT.set(START.get() + clamped(limits.statement.min(limits.connection)) / 2);
    Ok(())
}

fn clamped(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The server is at its bound: the connection that has most ends.
#[cold]
fn make_room(own: &Arc<Account>) -> Result<(), Excess> {
    let until = Instant::now() + PATIENCE;
    loop {
        let Some((limit, used)) = over() else { return Ok(()) };
        // Relaxed: figures of a moment.
        let spares_admins = ALL.load(Ordering::Relaxed).max(0) as u64 <= ALL_MAX.load(Ordering::Relaxed);
        let has = |account: &Account| match spares_admins && account.exempt.load(Ordering::Relaxed) {
            true => 0,
            false => account.published.load(Ordering::Relaxed), // Relaxed: as above
        };
        let all: Vec<Arc<Account>> = ACCOUNTS.lock().iter().filter_map(Weak::upgrade).collect();
        let Some(most) = all.iter().max_by_key(|account| has(account)) else { return Ok(()) };
        let admin = has(own) == 0;
        if has(most) <= has(own) && !admin {
            return Err(Excess::Server { limit, used });
        }
        if has(most) == 0 {
            return Ok(());
        }
        // Relaxed: said once; the interrupt follows.
        if !most.ended.swap(true, Ordering::Relaxed) {
            (most.end)();
        }
        if admin {
            return Ok(());
        }
        if Instant::now() >= until || blocking::is_interrupted() {
            return Err(Excess::Server { limit, used });
        }
        blocking::sleep(Wait::MemoryLimit, ASK_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static HELD: Cell<i64> = const { Cell::new(0) };
    }

    fn grow(bytes: i64) {
        HELD.set(HELD.get() + bytes);
    }

    const MIB: i64 = 1 << 20;
    const LIMITS: Limits = Limits { statement: 64 << 20, connection: u64::MAX, chunk: None, exempt: false };

    /// The sums are the process's, so the tests are one.
    #[test]
    fn a_statement_draws_from_its_account_and_gives_back() {
        count_by(|| HELD.get());
        let account = Account::open(LIMITS, || {});
        account.arm();
        account.begin();
        grow(MIB / 2);
        assert_eq!((check(), check_for(MIB as usize / 4)), (Ok(()), Ok(())));
        assert_eq!(ALL.load(Ordering::SeqCst), 0, "a small statement tells nobody");
        grow(32 * MIB);
        assert_eq!(check(), Ok(()));
        assert_eq!(ALL.load(Ordering::SeqCst), 32 * MIB);
        assert!(is_tight());
        assert_eq!((account.used().0, highest()), (32 * MIB as u64, 32 * MIB as u64));
        assert_eq!(check_for(32 << 20), Err(Excess::Statement { limit: 64 << 20 }));
        grow(32 * MIB);
        assert_eq!(check(), Err(Excess::Statement { limit: 64 << 20 }));
        grow(-62 * MIB);
        account.end();
        assert_eq!(ALL.load(Ordering::SeqCst), 2 * MIB, "what stays is the connection's");

        // Nobody asks: nothing is counted. Somebody does: from then on.
        account.arm();
        grow(MIB / 4);
        account.end();
        assert_eq!(ALL.load(Ordering::SeqCst), 2 * MIB);
        account.arm();
        grow(64 * MIB);
        assert_eq!(check(), Ok(()), "what it had before is not its own");
        assert_eq!(check_for(65 << 20), Err(Excess::Statement { limit: 64 << 20 }));
        account.end();
        grow(-64 * MIB - MIB / 4);

        // The connection's own bound, which administrators do not have; and what is tracked.
        account.set_limits(Limits { connection: 8 << 20, chunk: Some(8192), ..LIMITS });
        assert_eq!(tracked(), 2 * MIB as u64);
        account.arm();
        account.begin();
        grow(6 * MIB);
        assert!(matches!(check(), Err(Excess::Connection { limit: 8_388_608, used: 8_388_609.. })));
        account.set_limits(Limits { connection: 8 << 20, chunk: Some(8192), exempt: true, ..LIMITS });
        assert_eq!(check(), Ok(()));
        grow(-6 * MIB);
        account.end();

        // The server's: whoever has most ends, and who asks waits for it.
        let told = Arc::new(AtomicBool::new(false));
        let (seen, greedy) = (Arc::clone(&told), Arc::new(OnceLock::new()));
        let itself: Arc<OnceLock<Weak<Account>>> = Arc::clone(&greedy);
        let other = Account::open(LIMITS, move || {
            seen.store(true, Ordering::SeqCst);
            // What it had it gives back.
            itself.get().and_then(Weak::upgrade).expect("it is there").publish(0);
        });
        greedy.set(Arc::downgrade(&other)).expect("once");
        other.publish(30 * MIB);
        account.set_limits(LIMITS);
        set_server_limits(40 << 20, u64::MAX);
        account.arm();
        account.begin();
        grow(20 * MIB);
        assert_eq!((check(), told.load(Ordering::SeqCst), other.ended().is_some()), (Ok(()), true, true));
        grow(30 * MIB);
        assert!(matches!(check(), Err(Excess::Server { limit: 41_943_040, .. })), "it has most itself");
        grow(-50 * MIB);
        account.end();
        drop((account, other));
        assert_eq!((ALL.load(Ordering::SeqCst), tracked()), (0, 0));
    }
}
