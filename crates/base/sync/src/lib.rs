//! The only home of latches, locks, lanes, snapshot cells, lock ranks and parked threads.
//!
//! No other crate makes a lock, parks a thread or calls a futex: "no hot lock" is proved by reading this crate's callers.
//!
//! | kind | cost uncontended | who waits, and how | use it for |
//! | --- | --- | --- | --- |
//! | [`PageLatch`] optimistic | two loads, no write | nobody: the reader retries | every descent of a B+tree |
//! | [`PageLatch`] shared, exclusive | one CAS, one add | spins briefly, then parks by address | changing a page; a read that keeps failing |
//! | [`Snapshot`] + [`Cached`] | one load | nobody | catalog, grants, system variables |
//! | [`Lanes`], [`thread_lane`] | plain load and store in the own lane | nobody | counters, announced read views |
//! | [`Mutex`], [`Condvar`] | one CAS, one swap | parks | short critical sections off the statement path, or partitioned |
//! | [`RwLock`] | one CAS, one add, *by readers too* | parks | cold structures only; never on a statement path |
//! | [`LaneRwLock`] | reader: two fences in its own lane; writer: a look at each lane | parks | gates that all pass and few close |
//! | [`PreferReaderLock`], [`PreferWriterLock`], [`SystemRwLock`] | one or two RMWs, *by readers too* | sleeps | comparison: see [`ReaderWriter`] |
//! | [`PinLane`] + [`Gate`] | a fence in the own lane, a load | nobody on the weak side; the strong one is told | metadata locks |
//! | [`Records`] | stores in the own slots | nobody: the reader reads again | events that others look at |
//! | [`Parker`] | none | its one thread | a wait with a timeout that KILL can end |
//! | [`futex`] | none | any thread that names the word | the log's flush waiters |
//!
//! [`stack`] says when recursion should end, and makes room for it; [`memory`] what a statement may have.
//!
//! All that makes a thread sleep takes a name, a [`waits::Wait`], and is counted for it where it really sleeps.
//! Before a thread sleeps here it does what it has left with [`blocking`]: one that serves many connections lets another go on.
//!
//! Ranks: each lock has a [`Rank`]; a thread takes locks in rising rank only, and debug builds panic when it does not.
//! The table of ranks is at [`Rank`].
//!
//! Orderings are Acquire and Release plus fences, and each names its partner. Atomics come from [`shim`], which is `std` in
//! every build but one: under `RUSTFLAGS="--cfg loom"` it is the model checker, and `tests/loom.rs` runs the algorithms of
//! this crate through every interleaving and every permitted reordering.

#[cfg(not(loom))]
pub mod blocking;
#[cfg(not(loom))]
pub mod clock;
mod compact_rwlock;
pub mod futex;
mod lane_rwlock;
mod lanes;
mod lock;
#[cfg(not(loom))]
pub mod memory;
pub mod page_latch;
mod parker;
mod parking;
pub mod pins;
mod rank;
mod reader_writer;
mod records;
pub mod shim;
mod snapshot;
#[cfg(not(loom))]
pub mod stack;
#[cfg(not(loom))]
mod system_rwlock;
#[cfg(not(loom))]
mod thread_lane;
mod times;
pub mod waits;

pub use compact_rwlock::{
    CompactExclusive, CompactRwLock, CompactShared, PreferReader, PreferReaderLock, PreferWriter, PreferWriterLock,
    Preference,
};
pub use crossbeam_utils::CachePadded;
pub use lane_rwlock::LaneRwLock;
#[cfg(not(loom))]
pub use lane_rwlock::{LaneExclusive, LaneShared};
pub use lanes::{LaneId, LaneSet, Lanes};
pub use lock::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use page_latch::{Evicted, Optimistic, PageLatch, TryLatch};
pub use parker::{Parker, Unparker};
pub use pins::{Gate, PinLane};
pub use rank::Rank;
#[cfg(not(loom))]
pub use rank::holds_lock;
pub use reader_writer::ReaderWriter;
pub use records::{Record, Records, RecordsMemory, TEXT_BYTES_MAX, Writing};
pub use snapshot::{Cached, Snapshot};
#[cfg(not(loom))]
pub use system_rwlock::{SystemExclusive, SystemRwLock, SystemShared};
#[cfg(not(loom))]
pub use thread_lane::{LANES_MAX, thread_lane, thread_lane_high_water, try_thread_lane};
pub use times::{TimeCells, TimeTotals};
