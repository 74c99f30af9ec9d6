//! Who holds and awaits which row locks, for `performance_schema` and `SHOW ENGINE INNODB STATUS`.
//!
//! Collected partition by partition: nobody is stopped, and the picture as a whole is of no single moment. Rows that a
//! transaction has changed are locked by their headers and appear only once somebody waits for them.

use super::{LockTable, On, Slot, WaitOn};
use crate::LockMode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sync::{LaneId, Lanes};

/// A lock, or a request for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// The tree's id.
    pub tree: u32,
    /// See [`crate::Transaction::slot`].
    pub slot: u32,
    pub mode: LockMode,
    pub on: LockOn,
    pub granted: bool,
}

/// What a lock is on. Keys as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockOn {
    Record(Vec<u8>),
    /// The gap that the key is in: a span made explicit for an insertion that waits.
    Gap(Vec<u8>),
    Insertion(Vec<u8>),
    /// Keys from `low` up to, not including, `high` (`None`: to the end). A key with a zero byte behind it is the place just
    /// behind that key.
    Span {
        low: Vec<u8>,
        high: Option<Vec<u8>>,
        gaps: bool,
        records: bool,
    },
}

/// A transaction that is open now.
#[derive(Clone, Debug)]
pub struct TransactionInfo {
    pub slot: u32,
    /// 0: it has written nothing.
    pub trx: u64,
    /// Rows and entries changed.
    pub work: u64,
    /// Has it a snapshot?
    pub snapshot: bool,
    pub waiting: Option<WaitInfo>,
}

/// What a transaction waits for.
#[derive(Clone, Debug)]
pub struct WaitInfo {
    /// The tree and key of a row lock, or the description of another lock.
    pub on: Result<(u32, Vec<u8>), String>,
    pub since: Duration,
    /// The slots that it waits for.
    pub blockers: Vec<u32>,
}

impl LockTable {
    /// All explicit locks and requests.
    pub fn locks(&self) -> Vec<LockInfo> {
        let mut out = Vec::new();
        self.ranges.visit(|tree, holding| {
            out.extend(holding.spans().map(|(low, high)| LockInfo {
                tree,
                slot: holding.slot,
                mode: holding.mode,
                on: LockOn::Span {
                    low: low.to_vec(),
                    high: high.map(<[u8]>::to_vec),
                    gaps: holding.covers.gaps(),
                    records: holding.covers.records(),
                },
                granted: true,
            }));
        });
        for partition in &self.partitions {
            // Relaxed: a look; what is entered meanwhile may be missed.
            if partition.names.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let queues = partition.queues.lock();
            out.extend(queues.iter().flat_map(|q| {
                q.requests.iter().map(|r| LockInfo {
                    tree: q.name.tree,
                    slot: r.slot,
                    mode: r.mode,
                    on: match r.on {
                        On::Record => LockOn::Record(q.name.key.to_vec()),
                        On::Gap => LockOn::Gap(q.name.key.to_vec()),
                        On::Insertion => LockOn::Insertion(q.name.key.to_vec()),
                    },
                    granted: r.is_granted(),
                })
            }));
        }
        out
    }

    /// The transactions that have an id, a snapshot or a wait.
    pub fn transactions(&self, slots: &Lanes<Slot>) -> Vec<TransactionInfo> {
        let mut out = Vec::new();
        for (id, slot) in slots.iter_claimed() {
            // Relaxed: numbers to show.
            let (trx, work) = (slot.trx.load(Ordering::Relaxed), slot.work.load(Ordering::Relaxed));
            let snapshot = slot.snapshot.load(Ordering::Relaxed) != u64::MAX;
            let waiting = slot.state.lock().waiting.clone();
            let waiting = waiting.map(|wait| WaitInfo {
                blockers: self.blockers(id.index() as u32, &wait),
                since: wait.began.elapsed(),
                on: match &wait.on {
                    WaitOn::Row(name) => Ok((name.tree, name.key.to_vec())),
                    WaitOn::Foreign(wait) => Err(wait.describe()),
                },
            });
            if trx != 0 || snapshot || waiting.is_some() {
                out.push(TransactionInfo { slot: id.index() as u32, trx, work, snapshot, waiting });
            }
        }
        out
    }

    /// How many sessions wait for a row lock now.
    pub fn waits(&self, slots: &Lanes<Slot>) -> usize {
        let waits = |lane: &(LaneId, &Slot)| lane.1.state.lock().waiting.is_some();
        slots.iter_claimed().filter(waits).count()
    }
}
