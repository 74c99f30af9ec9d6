//! Ids that have left the status ring while an old snapshot, or a transaction that stays open, keeps `oldest` from passing them.
//!
//! The snapshots in use are few, and a commit LSN is only ever compared with them, so what is over need not be known exactly:
//! commits that lie between the same two snapshots are of one *class*, and consecutive ids of one class become one run.
//!
//! ```text
//!  snapshots in use                  S1              S2
//!  commit LSNs           -----------------|-----------------|----------------
//!  classes                       0                1                2
//!
//!  ids, in the ring     0 0 0 0 0 0 1 0 1 1 open 1 1 1 1 2 1 2 2 2 2 2 2 2
//!  runs                 [0         ]1[0][1 ][open][1     ]2[1][2           ]
//! ```
//!
//! A run keeps the greatest LSN of its members: any snapshot sees all of them or none, and so it is with that LSN. Snapshots
//! that are opened later are at or above every LSN here (see [`super::System::open_snapshot`]). A transaction that is still
//! open has a run of its own with a word of its own, where its end is stored.
//!
//! That a transaction was rolled back is forgotten here: it counts as a commit at the end of its last log group, as it does below
//! `oldest`. Nothing on any page names it after that LSN, so only who copied a page before can ask, whose snapshot is older.
//!
//! So the table has as many runs as there are snapshots in use, and transactions that were open at one of them or are still, and
//! not as there are ids in it.

use super::ring::{OPEN, UNDONE};
use log::Lsn;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::{Cached, Mutex, MutexGuard, Rank, Snapshot};

/// Ids from `first` to the next run's first.
#[derive(Clone)]
struct Run {
    first: u64,
    outcome: Outcome,
}

#[derive(Clone)]
enum Outcome {
    /// Over, the last of them at this LSN; 0: none of the ids was used.
    Over(Lsn),
    /// One transaction that was open when it left the ring: its word, as in the ring. W: its owner, once. R: everybody.
    Open(Arc<AtomicU64>),
}

impl Outcome {
    fn word(&self) -> u64 {
        match self {
            Outcome::Over(lsn) => *lsn,
            // Acquire: pairs with the Release in `Moved::finish`.
            Outcome::Open(word) => word.load(Ordering::Acquire),
        }
    }
}

/// Runs in the order of their ids, without gaps.
#[derive(Default)]
pub struct Table {
    runs: Vec<Run>,
    /// Behind the last run.
    end: u64,
}

impl Table {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// The first id of the first run.
    pub fn first(&self) -> Option<u64> {
        self.runs.first().map(|run| run.first)
    }

    /// The word that `trx` would have in the ring, and the first id of the next run; `None` for ids before the first run.
    pub fn find(&self, trx: u64) -> Option<(u64, u64)> {
        let next = self.runs.partition_point(|run| run.first <= trx);
        let run = &self.runs[next.checked_sub(1)?];
        Some((run.outcome.word(), self.runs.get(next).map_or(self.end, |run| run.first)))
    }
}

/// Makes the runs of a table.
pub struct Builder<'s> {
    /// The snapshots in use, rising.
    snapshots: &'s [Lsn],
    /// The newest LSN that new snapshots are not below.
    floor: Lsn,
    runs: Vec<Run>,
}

impl<'s> Builder<'s> {
    pub fn new(snapshots: &'s [Lsn], floor: Lsn) -> Builder<'s> {
        debug_assert!(snapshots.is_sorted());
        Builder { snapshots, floor, runs: Vec::new() }
    }

    fn class(&self, lsn: Lsn) -> usize {
        self.snapshots.partition_point(|snapshot| *snapshot < lsn)
    }

    /// Takes over what an earlier table knows from `oldest` on.
    pub fn keep(&mut self, table: &Table, oldest: u64) {
        if oldest >= table.end {
            return;
        }
        let first_kept = table.runs.partition_point(|run| run.first <= oldest).saturating_sub(1);
        for run in &table.runs[first_kept..] {
            let first = run.first.max(oldest);
            match &run.outcome {
                Outcome::Over(lsn) => self.over(first, *lsn),
                Outcome::Open(word) => {
                    let now = word.load(Ordering::Acquire); // pairs with the Release in `Moved::finish`
                    if !self.try_over(first, now) {
                        self.open(first, word.clone());
                    }
                }
            }
        }
    }

    /// Enters an id by its word, if it is over at or below the floor: new snapshots see it whatever its LSN.
    pub fn try_over(&mut self, trx: u64, word: u64) -> bool {
        let is_over = word & OPEN == 0 && word & !UNDONE <= self.floor;
        if is_over {
            self.over(trx, word & !UNDONE);
        }
        is_over
    }

    fn over(&mut self, first: u64, lsn: Lsn) {
        if let Some(Run { outcome: Outcome::Over(last), .. }) = self.runs.last()
            && (lsn == 0 || self.class(*last) == self.class(lsn))
        {
            let greatest = lsn.max(*last);
            self.runs.last_mut().expect("it was there").outcome = Outcome::Over(greatest);
            return;
        }
        self.runs.push(Run { first, outcome: Outcome::Over(lsn) });
    }

    /// Enters a transaction that goes on.
    pub fn open(&mut self, trx: u64, word: Arc<AtomicU64>) {
        self.runs.push(Run { first: trx, outcome: Outcome::Open(word) });
    }

    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// The table of ids below `end`.
    pub fn build(self, end: u64) -> Table {
        Table { runs: self.runs, end }
    }
}

/// The table that is in force, and the transactions in it that may still be open.
pub struct Moved {
    table: Snapshot<Table>,
    /// Tells the tables of several engines in one process apart.
    number: u64,
    /// W: purge adds, the owner of a transaction takes it out when it ends.
    open: Mutex<OpenOnes>,
}

/// Transactions that were open when they left the ring, with their words.
type OpenOnes = Vec<(u64, Arc<AtomicU64>)>;

/// Ids are being moved: until this ends, no transaction that was admitted does.
pub struct Admission<'m> {
    moved: &'m Moved,
    open: MutexGuard<'m, OpenOnes>,
}

impl Admission<'_> {
    /// Puts the table with the moved ids in force, and then the ring's start. Were a transaction to end before, who looks in the
    /// ring still would find it open.
    pub fn conclude(self, table: Table, raise_ring_start: impl FnOnce()) {
        self.moved.publish(table);
        raise_ring_start();
        drop(self.open);
    }

    /// Gives a transaction that is about to leave the ring a word of its own.
    pub fn admit(&mut self, trx: u64, word: u64) -> Arc<AtomicU64> {
        let word = Arc::new(AtomicU64::new(word));
        self.open.push((trx, word.clone()));
        word
    }

    /// The transaction that was admitted last ends in the ring.
    pub fn dismiss(&mut self) {
        self.open.pop();
    }
}

thread_local! {
    /// What this thread last read, and of which [`Moved`].
    static SEEN: RefCell<Option<(u64, Cached<Table>)>> = const { RefCell::new(None) };
}

impl Moved {
    /// Of the ids below `end` these are open; all others are over, and seen by everybody.
    pub fn new(open: impl Iterator<Item = u64>, end: u64) -> Moved {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let mut open: OpenOnes = open.map(|trx| (trx, Arc::new(AtomicU64::new(OPEN)))).collect();
        open.sort_unstable_by_key(|(trx, _)| *trx);
        let mut runs = Builder::new(&[], 0);
        for (trx, word) in &open {
            runs.open(*trx, word.clone());
            runs.over(trx + 1, 0);
        }
        Moved {
            table: Snapshot::new(runs.build(end)),
            // Relaxed: a number that nobody else has.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            open: Mutex::new(Rank::TransactionState, open),
        }
    }

    /// The word of `trx`, which has left the ring; 0 if it is older than all that is in the table.
    #[cold]
    pub fn word(&self, trx: u64) -> u64 {
        let seen = SEEN.try_with(|seen| {
            let mut seen = seen.borrow_mut();
            match &mut *seen {
                Some((number, table)) if *number == self.number => table.get(&self.table).find(trx),
                other => other.insert((self.number, self.table.cached())).1.peek().find(trx),
            }
        });
        // A thread that is ending has no thread-local memory any more.
        let found = seen.unwrap_or_else(|_| self.table.load().find(trx));
        found.map_or(0, |(word, _)| word)
    }

    /// Purge: the table in force.
    pub fn table(&self) -> Arc<Table> {
        self.table.load()
    }

    /// Purge: puts another table in force.
    pub fn publish(&self, table: Table) {
        self.table.store(Arc::new(table));
    }

    /// Purge: begins to move ids.
    pub fn begin_move(&self) -> Admission<'_> {
        Admission { moved: self, open: self.open.lock() }
    }

    /// A transaction that has left the ring gets another word, and stays open.
    pub fn set(&self, trx: u64, word: u64) {
        let open = self.open.lock();
        let (_, own_word) = open.iter().find(|(other, _)| *other == trx).expect("it has left the ring and is open");
        // Release: pairs with the Acquire in `Outcome::word`.
        own_word.store(word, Ordering::Release);
    }

    /// A transaction that has left the ring, or is about to, ends.
    #[cold]
    pub fn finish(&self, trx: u64, word: u64) {
        let mut open = self.open.lock();
        let at =
            open.iter().position(|(other, _)| *other == trx).expect("purge admits it before it says that it has moved");
        // Release: pairs with the Acquire in `Outcome::word`.
        open.swap_remove(at).1.store(word, Ordering::Release);
    }
}
