//! Lock ranks: the order in which a thread may take locks, checked in debug builds.

/// The class of a lock, in acquisition order: while a thread holds a lock it takes only locks of a higher rank, and a second
/// lock of the same rank only where the class says so (page latches, or [`crate::Mutex::lock_same_rank`]).
///
/// | rank | protects | may be held while waiting for |
/// | --- | --- | --- |
/// | `EndedSessions` | sums of sessions that have ended, against those that end | what sessions show |
/// | `Session` | one session against KILL, SHOW PROCESSLIST and the parking of idle connections | anything below it |
/// | `MetadataLocks` | the queues of metadata locks | leaf locks |
/// | `CatalogDdl` | the one data definition statement in progress | catalog, accounts, pages, log |
/// | `Catalog` | the next schema version while it is built | pages, log |
/// | `Accounts` | the next version of the grants while it is built | pages, log |
/// | `Checkpoint` | the one checkpoint or flush round in progress | pages, pool, log |
/// | `TreesInUse` | trees that purge or rollback is changing against being freed | pages, log |
/// | `Purge` | which segments are to be purged | free space |
/// | `FileGrowth` | the one growth of the data file in progress | pages, log |
/// | `Keys` | the keyring and the wrapped data keys | their files |
/// | `PageLatch` | one page; a thread may hold several, in tree order | its own read from disk; pool, locks, free space, log buffer |
/// | `LockRanges` | the gap and next-key locks of some trees | lock table |
/// | `LockTable` | one partition of the row lock table | transaction state |
/// | `TransactionState` | one transaction's state and wait slot | leaf locks |
/// | `PagePool` | lists of free frames, the clock hand | leaf locks |
/// | `FreeSpace` | extents and free pages of the data file | log buffer |
/// | `LogBuffer` | what reservations in the log cannot do alone | log file |
/// | `LogFile` | the file being written and its segments | file input and output |
/// | `TemporaryFile` | a temporary file to which several threads of a statement write | file input and output |
/// | `Workers` | which thread serves which connections; taken by threads about to sleep, whatever they hold | nothing |
/// | `Observe` | registries of counters and gauges | nothing but a gauge's own leaf locks |
/// | `Kernel` | simulated disks, in tests | nothing |
///
/// Why `PageLatch` stands before `LockTable`: an insert finds its gap on a latched leaf and then asks the lock table; the other
/// way round, a lock table partition would be held while its owner waits for a page to come from disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rank {
    /// Sums of sessions that have ended.
    EndedSessions,
    /// One session against KILL, SHOW PROCESSLIST and parking.
    Session,
    /// The queues of metadata locks.
    MetadataLocks,
    /// The one data definition statement in progress.
    CatalogDdl,
    /// The next schema version while it is built.
    Catalog,
    /// The next version of the grants while it is built.
    Accounts,
    /// The variables that outlive the server, and their file.
    Variables,
    /// What the threads of a replication channel tell, and what is asked of them.
    Replication,
    /// What the writer of the binary log tells others, and what they ask of it.
    Binlog,
    /// The one checkpoint or flush round in progress.
    Checkpoint,
    /// Trees that purge or rollback is changing against being freed.
    TreesInUse,
    /// Which segments are to be purged.
    Purge,
    /// The one growth of the data file in progress.
    FileGrowth,
    /// The keyring and the wrapped data keys.
    Keys,
    /// One page. Several may be held at once, in tree order, which the engine answers for.
    PageLatch,
    /// The gap and next-key locks of some trees.
    LockRanges,
    /// One partition of the row lock table.
    LockTable,
    /// One transaction's state and wait slot.
    TransactionState,
    /// Lists of free frames, the clock hand.
    PagePool,
    /// Extents and free pages of the data file.
    FreeSpace,
    /// What reservations in the log cannot do alone.
    LogBuffer,
    /// The log file being written, and its segments.
    LogFile,
    /// A temporary file to which several threads of a statement write.
    TemporaryFile,
    /// Which thread serves which connections.
    Workers,
    /// Registries of counters and gauges.
    Observe,
    /// Simulated disks and fault scripts: inside a call to the kernel, so the last of all.
    Kernel,
}

/// Whether a second lock of a rank that is already held is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SameRank {
    Refused,
    Allowed,
}

/// Call before waiting for a lock: panics (debug builds) when the thread already holds one that ranks higher, or as high.
#[inline(always)]
pub(crate) fn check(rank: Rank, same: SameRank) {
    #[cfg(all(debug_assertions, not(loom)))]
    held::check(rank, same);
    let _ = (rank, same);
}

/// Call once the lock is held.
#[inline(always)]
pub(crate) fn acquired(rank: Rank) {
    #[cfg(not(loom))]
    held::acquired(rank);
    let _ = rank;
}

/// Call when the lock is given back.
#[inline(always)]
pub(crate) fn released(rank: Rank) {
    #[cfg(not(loom))]
    held::released(rank);
    let _ = rank;
}

/// Does this thread hold a ranked lock or a page latch? A panic then leaves what it protects half changed, so that nothing but recovery
/// is safe; else it can be unwound. Lane locks and snapshot cells, which protect words that are whole at any time, do not count.
#[cfg(not(loom))]
pub fn holds_lock() -> bool {
    held::any()
}

/// How many locks of each rank this thread holds. Not under loom, whose threads share one system thread.
#[cfg(all(debug_assertions, not(loom)))]
mod held {
    use super::{Rank, SameRank};
    use std::cell::RefCell;

    thread_local! {
        static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn check(rank: Rank, same: SameRank) {
        // A lock taken while thread-locals are torn down goes unchecked.
        let highest = HELD.try_with(|held| held.borrow().iter().copied().max()).ok().flatten();
        let Some(highest) = highest else { return };
        assert!(
            highest <= rank,
            "lock order: this thread holds a lock of rank {highest:?} and asks for one of rank {rank:?}, which must \
             come first"
        );
        assert!(
            highest < rank || same == SameRank::Allowed,
            "lock order: this thread holds a lock of rank {highest:?} and asks for another of rank {rank:?} without \
             lock_same_rank"
        );
    }

    pub(super) fn acquired(rank: Rank) {
        let _ = HELD.try_with(|held| held.borrow_mut().push(rank));
    }

    pub(super) fn released(rank: Rank) {
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            let at = held.iter().rposition(|&r| r == rank);
            // A thread that unwinds has a better message on its way than this one.
            assert!(
                at.is_some() || std::thread::panicking(),
                "a lock of rank {rank:?} is released by a thread that does not hold one"
            );
            if let Some(at) = at {
                held.swap_remove(at);
            }
        });
    }

    pub(super) fn any() -> bool {
        HELD.try_with(|held| !held.borrow().is_empty()).unwrap_or(false)
    }
}

/// How many locks this thread holds: two instructions where one is taken or given back, no shared memory.
#[cfg(all(not(debug_assertions), not(loom)))]
mod held {
    use super::Rank;
    use std::cell::Cell;

    thread_local! {
        static HELD: Cell<u32> = const { Cell::new(0) };
    }

    #[inline(always)]
    pub(super) fn acquired(_: Rank) {
        HELD.set(HELD.get() + 1);
    }

    #[inline(always)]
    pub(super) fn released(_: Rank) {
        HELD.set(HELD.get().wrapping_sub(1));
    }

    pub(super) fn any() -> bool {
        HELD.get() != 0
    }
}
