//! Deadlock detection: a depth-first search along "waits for", by the transaction that has just queued.
//!
//! Each step looks at one slot and one partition under their own mutexes and lets go of them before the next. An edge goes
//! away only when its wait ends, so a real cycle stays until somebody breaks it, and the transaction that closes it sees all
//! other edges. What looked like a cycle but mixed edges of different moments is told by looking twice: each edge must still
//! belong to the same wait, by its number.

//!
//! Waits for locks that are not the engine's (metadata locks) are edges of the same graph: see [`ForeignWait`].

use super::{LockTable, Name, Request, Slot, VICTIM, WaitOn, Waiting, conflict, finish_wait, grant, wake};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use sync::{LaneId, Lanes};

/// One wait of one session for a lock outside the engine, so that cycles through metadata and row locks are found.
///
/// The object stands for this very wait: its owner makes it for the wait and drops it after. In order, the session
/// 1. queues for its lock, so that whoever looks from now on finds the queued request and who stands before it;
/// 2. calls [`crate::Transaction::enter_wait`], which makes the wait known and looks for a cycle through it. A victim found is told
///    at once, the caller itself included: by [`ForeignWait::abort`];
/// 3. sleeps until its lock is granted, its time is up, it is killed or aborted;
/// 4. calls [`crate::Transaction::leave_wait`].
///
/// After an abort the session answers 1213; what is rolled back is the caller's to decide ([`crate::Transaction::rollback`]).
/// Holders are known by the slot of their session's transaction, [`crate::Transaction::slot`], which never changes. No lock of the
/// engine is held during a call, and each may come from the thread of another session.
pub trait ForeignWait: Send + Sync {
    /// Appends the slots of all sessions that must do something before this wait can end: holders in conflict, and holders whom
    /// requests queued before this one wait for. Empty once the wait is over.
    fn blockers(&self, out: &mut Vec<u32>);
    /// Ends the wait without the lock, because of a deadlock. False: it was over already.
    fn abort(&self) -> bool;
    /// What is waited for, in one line, for `SHOW ENGINE INNODB STATUS`.
    fn describe(&self) -> String;
}

/// One wait on the path of the search.
#[derive(Clone)]
pub(super) struct Step {
    pub slot: u32,
    pub wait: Waiting,
}

impl LockTable {
    /// Looks for a cycle through `start`, which has just queued, and ends the wait of the victim: the transaction with the
    /// least changes on the cycle, and among equals the one that began to wait last. It wakes with [`crate::Error::Deadlock`].
    ///
    /// Two who close a cycle in the same moment both find it. Who waits changes nothing, so both choose the same victim, and
    /// the second finds its wait over.
    pub fn resolve_deadlock(&self, slots: &Lanes<Slot>, start: u32) {
        while let Some(cycle) = self.find_cycle(slots, start) {
            // Relaxed: a hint for the choice of the victim.
            let work = |slot: u32| slots.get(LaneId::from_index(slot as usize)).work.load(Ordering::Relaxed);
            let cost = |step: &Step| {
                let rollback = work(step.slot).saturating_add(step.wait.weight);
                (rollback, Reverse(step.wait.began), step.slot)
            };
            let victim = cycle.iter().min_by_key(|step| cost(step)).expect("a cycle has members");
            self.note_deadlock(slots, &cycle, victim.slot);
            if self.end_wait(slots, victim) {
                observe::add(observe::Counter::InnodbDeadlocks, 1);
                if victim.slot == start {
                    return;
                }
            }
        }
    }

    fn find_cycle(&self, slots: &Lanes<Slot>, start: u32) -> Option<Vec<Step>> {
        let mut seen = HashSet::from([start]);
        let mut path: Vec<(Step, Vec<u32>)> = Vec::new();
        let first = waiting(slots, start)?;
        let blockers = self.blockers(start, &first);
        path.push((Step { slot: start, wait: first }, blockers));
        while let Some((_, blockers)) = path.last_mut() {
            let Some(next) = blockers.pop() else {
                path.pop();
                continue;
            };
            // Any cycle, not only one through `start`: an implicit lock that `start` made explicit gives others, who queued before it, an
            // edge that they did not see when they searched.
            if let Some(at) = path.iter().position(|(step, _)| step.slot == next) {
                let cycle: Vec<Step> = path[at..].iter().map(|(step, _)| step.clone()).collect();
                if self.still_cycle(slots, &cycle) {
                    return Some(cycle);
                }
                continue;
            }
            if !seen.insert(next) {
                continue;
            }
            if let Some(wait) = waiting(slots, next) {
                let blockers = self.blockers(next, &wait);
                path.push((Step { slot: next, wait }, blockers));
            }
        }
        None
    }

    /// Holders that `slot` waits for, directly or through requests queued before its own.
    pub(super) fn blockers(&self, slot: u32, wait: &Waiting) -> Vec<u32> {
        match &wait.on {
            WaitOn::Row(name) => self.row_blockers(slot, name),
            WaitOn::Foreign(wait) => {
                let mut out = Vec::new();
                wait.blockers(&mut out);
                out.retain(|holder| *holder != slot);
                out
            }
        }
    }

    fn row_blockers(&self, slot: u32, name: &Name) -> Vec<u32> {
        let mut queues = self.queues_of(name);
        let Some(queue) = queues.get(name) else { return Vec::new() };
        let Some(own) = queue.iter().position(|r| r.slot == slot && !r.is_granted()) else { return Vec::new() };
        let mut asking = vec![&queue[own]];
        asking.extend(queue[..own].iter().filter(|r| !r.is_granted() && conflict(r, &queue[own])));
        let in_the_way = |holder: &Request| {
            holder.is_granted() && asking.iter().any(|asker| holder.slot != asker.slot && conflict(holder, asker))
        };
        let mut out: Vec<u32> = queue.iter().filter(|r| in_the_way(r)).map(|r| r.slot).collect();
        out.retain(|holder| *holder != slot || asking.len() > 1);
        out.dedup();
        out
    }

    fn still_cycle(&self, slots: &Lanes<Slot>, cycle: &[Step]) -> bool {
        cycle.iter().enumerate().all(|(i, step)| {
            let next = cycle[(i + 1) % cycle.len()].slot;
            waiting(slots, step.slot).is_some_and(|now| now.number == step.wait.number)
                && self.blockers(step.slot, &step.wait).contains(&next)
        })
    }

    /// Ends the very wait that the search saw. False: it is over already.
    fn end_wait(&self, slots: &Lanes<Slot>, victim: &Step) -> bool {
        let name = match &victim.wait.on {
            WaitOn::Row(name) => name,
            WaitOn::Foreign(wait) => return wait.abort(),
        };
        let mut woken = Vec::new();
        {
            let mut queues = self.queues_of(name);
            if waiting(slots, victim.slot).is_none_or(|now| now.number != victim.wait.number) {
                return false;
            }
            let Some(queue) = queues.get(name) else { return false };
            let Some(at) = queue.iter().position(|r| r.slot == victim.slot && !r.is_granted()) else { return false };
            let request = queue.remove(at);
            finish_wait(request.waiter.as_deref().expect("a waiting request has a waiter"), VICTIM);
            grant(queue, &mut woken);
            queues.drop_if_empty(name);
        }
        wake(woken);
        true
    }
}

fn waiting(slots: &Lanes<Slot>, slot: u32) -> Option<Waiting> {
    slots.get(LaneId::from_index(slot as usize)).state.lock().waiting.clone()
}
