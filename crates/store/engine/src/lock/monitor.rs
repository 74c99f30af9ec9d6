//! Who holds and awaits which row locks, for `performance_schema` and `SHOW ENGINE INNODB STATUS`.
//!
//! Collected partition by partition: nobody is stopped, and the picture as a whole is of no single moment. Rows that a
//! transaction has changed are locked by their headers and appear only once somebody waits for them.

use super::deadlock::Step;
use super::slot::{BEGUN_ALONE, BEGUN_ROLLING_BACK, Slot, WaitOn};
use super::{LockTable, Name, On, Request};
use crate::{Isolation, LockMode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
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
    pub isolation: Isolation,
    pub read_only: bool,
    /// It is one statement in autocommit.
    pub alone: bool,
    /// Microseconds since 1970; 0: not known.
    pub began_us: u64,
    /// It is undone in the background, without a session.
    pub rolling_back: bool,
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

/// Says who the session in a slot is and what it runs, in MySQL's words; empty if nobody is there.
pub type Teller = Box<dyn Fn(u32) -> String + Send + Sync>;

/// A cycle of waits that was broken.
#[derive(Clone, Debug)]
pub struct Deadlock {
    pub at: SystemTime,
    /// Each waits for the next, the last for the first.
    pub members: Vec<DeadlockMember>,
    /// Which member was rolled back.
    pub victim: usize,
}

/// A transaction of a cycle.
#[derive(Clone, Debug)]
pub struct DeadlockMember {
    pub slot: u32,
    pub trx: u64,
    pub work: u64,
    pub began_us: u64,
    /// What the teller said.
    pub session: String,
    /// What it waits for: the request, or the description of a lock that is not the engine's.
    pub waits: Result<LockInfo, String>,
    /// Its locks that the member before waits for.
    pub holds: Vec<LockInfo>,
}

impl LockTable {
    /// Who tells of sessions in reports. The first call counts.
    pub fn set_teller(&self, teller: Teller) {
        let _ = self.teller.set(teller);
    }

    pub fn latest_deadlock(&self) -> Option<Arc<Deadlock>> {
        self.latest.lock().clone()
    }

    /// Notes a cycle that is about to be broken.
    pub(super) fn note_deadlock(&self, slots: &Lanes<Slot>, cycle: &[Step], victim: u32) {
        let members = (0..cycle.len()).map(|i| {
            let (step, before) = (&cycle[i], &cycle[(i + cycle.len() - 1) % cycle.len()]);
            let slot = slots.get(LaneId::from_index(step.slot as usize));
            // Relaxed: numbers to show.
            let (trx, work) = (slot.shown_trx(), slot.work.load(Ordering::Relaxed));
            let began_us = slot.begun.load(Ordering::Relaxed) & (BEGUN_ALONE - 1);
            let waits = match &step.wait.on {
                WaitOn::Row(name) => {
                    let own = self.locks_on(name).into_iter().find(|l| l.slot == step.slot && !l.granted);
                    own.ok_or_else(|| "a row lock".to_string())
                }
                WaitOn::Foreign(wait) => Err(wait.describe()),
            };
            let mut holds = match &before.wait.on {
                WaitOn::Row(name) => self.locks_on(name),
                WaitOn::Foreign(_) => Vec::new(),
            };
            holds.retain(|l| l.slot == step.slot && l.granted);
            let session = self.teller.get().map_or_else(String::new, |tell| tell(step.slot));
            DeadlockMember { slot: step.slot, trx, work, began_us, session, waits, holds }
        });
        let report = Deadlock {
            at: SystemTime::now(),
            members: members.collect(),
            victim: cycle.iter().position(|step| step.slot == victim).expect("a member"),
        };
        *self.latest.lock() = Some(Arc::new(report));
    }

    /// Requests for one name.
    fn locks_on(&self, name: &Name) -> Vec<LockInfo> {
        let mut queues = self.queues_of(name);
        queues.get(name).map_or_else(Vec::new, |queue| queue.iter().map(|r| describe(name, r)).collect())
    }

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
            out.extend(queues.iter().flat_map(|q| q.requests.iter().map(|r| describe(&q.name, r))));
        }
        out
    }

    /// The transactions in progress.
    pub fn transactions(&self, slots: &Lanes<Slot>) -> Vec<TransactionInfo> {
        let mut out = Vec::new();
        for (id, slot) in slots.iter_claimed() {
            // Relaxed: numbers to show.
            let (trx, work) = (slot.shown_trx(), slot.work.load(Ordering::Relaxed));
            let begun = slot.begun.load(Ordering::Relaxed);
            if begun == 0 {
                continue;
            }
            let waiting = slot.state.lock().waiting.clone();
            let waiting = waiting.map(|wait| WaitInfo {
                blockers: self.blockers(id.index() as u32, &wait),
                since: wait.began.elapsed(),
                on: match &wait.on {
                    WaitOn::Row(name) => Ok((name.tree, name.key.to_vec())),
                    WaitOn::Foreign(wait) => Err(wait.describe()),
                },
            });
            out.push(TransactionInfo {
                slot: id.index() as u32,
                trx,
                work,
                isolation: [
                    Isolation::ReadUncommitted,
                    Isolation::ReadCommitted,
                    Isolation::RepeatableRead,
                    Isolation::Serializable,
                ][(begun >> 61 & 3) as usize],
                read_only: begun >> 60 & 1 != 0,
                began_us: begun & (BEGUN_ALONE - 1),
                alone: begun & BEGUN_ALONE != 0,
                rolling_back: begun & BEGUN_ROLLING_BACK != 0,
                waiting,
            });
        }
        out
    }

    /// How many sessions wait for a row lock of the engine now.
    pub fn row_waits(&self, slots: &Lanes<Slot>) -> usize {
        let waits = |lane: &(LaneId, &Slot)| {
            lane.1.state.lock().waiting.as_ref().is_some_and(|wait| matches!(wait.on, WaitOn::Row(_)))
        };
        slots.iter_claimed().filter(waits).count()
    }

    /// How many sessions wait for a lock now.
    pub fn waits(&self, slots: &Lanes<Slot>) -> usize {
        let waits = |lane: &(LaneId, &Slot)| lane.1.state.lock().waiting.is_some();
        slots.iter_claimed().filter(waits).count()
    }
}

fn describe(name: &Name, request: &Request) -> LockInfo {
    let key = name.key.to_vec();
    LockInfo {
        tree: name.tree,
        slot: request.slot,
        mode: request.mode,
        on: match request.on {
            On::Record => LockOn::Record(key),
            On::Gap => LockOn::Gap(key),
            On::Insertion => LockOn::Insertion(key),
        },
        granted: request.is_granted(),
    }
}
