//! Deadlock detection: a depth-first search along "waits for", by the transaction that has just queued.
//!
//! Each step looks at one slot and one partition under their own mutexes and lets go of them before the next. What makes it find
//! every deadlock:
//!
//! 1. An edge leads from a transaction that waits to one that must do something first. It goes away only when its wait ends, so a
//!    cycle stays until somebody breaks it.
//! 2. Whoever adds an edge that may close a cycle searches afterwards, and sees all other edges of the cycle. A transaction that queues
//!    adds its own. One that makes a lock explicit for its holder, which may wait, also gives those an edge who queued there before: it
//!    queues next, and the holder stands before it, so it searches for any cycle that it can reach, not only for one through
//!    itself. A lock that is granted gives those an edge who queued behind it; its holder does not wait, and searches when it does.
//! 3. What looked like a cycle may mix edges of different moments. That is told by looking twice: each edge must still belong to the
//!    same wait, by its number. If not, a wait has ended meanwhile, and everything is looked at anew: what was passed on the way
//!    to the false cycle is not expanded twice in one search, and another way through it may be the true one.
//!
//! Waits for locks that are not the engine's (metadata locks) are edges of the same graph: see [`super::ForeignWait`].

use super::slot::{Slot, WaitOn, Waiting};
use super::{LockTable, Name, Request, VICTIM, conflict, finish_wait, grant, wake};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use sync::{LaneId, Lanes};

/// One wait on the path of the search.
#[derive(Clone)]
pub(super) struct Step {
    pub slot: u32,
    pub wait: Waiting,
}

/// What one search came to.
enum Search {
    /// There is no cycle that the start leads to.
    None,
    Cycle(Vec<Step>),
    /// What looked like a cycle was none when looked at again.
    Outdated,
}

impl LockTable {
    /// Looks for a cycle through `start`, which has just queued, and ends the wait of the victim: the transaction with the
    /// least changes on the cycle, and among equals the one that began to wait last, unless one has a
    /// [`super::ForeignWait::place`]. It wakes with [`crate::Error::Deadlock`].
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
            let place = |step: &Step| match &step.wait.on {
                WaitOn::Row(_) => None,
                WaitOn::Foreign(wait) => wait.place(),
            };
            let last = cycle.iter().filter(|step| place(step).is_some()).max_by_key(|step| place(step));
            let victim = last.or_else(|| cycle.iter().min_by_key(|step| cost(step))).expect("a cycle has members");
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
        loop {
            match self.search(slots, start) {
                Search::None => return None,
                Search::Cycle(cycle) => return Some(cycle),
                // Each time a wait of another transaction has ended.
                Search::Outdated => {}
            }
        }
    }

    fn search(&self, slots: &Lanes<Slot>, start: u32) -> Search {
        let mut seen = HashSet::from([start]);
        let mut path: Vec<(Step, Vec<u32>)> = Vec::new();
        let Some(first) = waiting(slots, start) else { return Search::None };
        let blockers = self.blockers(start, &first);
        path.push((Step { slot: start, wait: first }, blockers));
        while let Some((_, blockers)) = path.last_mut() {
            let Some(next) = blockers.pop() else {
                path.pop();
                continue;
            };
            // Any cycle, not only one through `start`: see the module, 2.
            if let Some(at) = path.iter().position(|(step, _)| step.slot == next) {
                let cycle: Vec<Step> = path[at..].iter().map(|(step, _)| step.clone()).collect();
                return if self.still_cycle(slots, &cycle) { Search::Cycle(cycle) } else { Search::Outdated };
            }
            if !seen.insert(next) {
                continue;
            }
            if let Some(wait) = waiting(slots, next) {
                let blockers = self.blockers(next, &wait);
                path.push((Step { slot: next, wait }, blockers));
            }
        }
        Search::None
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{ForeignWait, Interrupt, Outcome};
    use crate::{Error, LockMode};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// A wait for slot 0 which, the first time it is asked, ends the wait of slot 2.
    struct EndsAnother {
        table: Arc<LockTable>,
        slots: Arc<Lanes<Slot>>,
        asked: AtomicBool,
        aborted: AtomicBool,
        others: Name,
    }

    impl ForeignWait for EndsAnother {
        fn blockers(&self, out: &mut Vec<u32>) {
            if !self.asked.swap(true, Ordering::SeqCst) {
                assert!(self.table.withdraw(2, &self.others), "slot 2 waits");
                self.slots.get(LaneId::from_index(2)).state.lock().waiting = None;
            }
            if !self.aborted.load(Ordering::SeqCst) {
                out.push(0);
            }
        }

        fn abort(&self) -> bool {
            !self.aborted.swap(true, Ordering::SeqCst)
        }

        fn describe(&self) -> String {
            String::new()
        }
    }

    /// ```text
    ///   0 -> 2 -> 3      2, which the search passes first, ends its wait just then;
    ///   0 -> 1 -> 3      the cycle through 1 is still there.
    ///   3 -> 0
    /// ```
    #[test]
    fn a_cycle_is_found_behind_one_that_falls_apart_during_the_search() {
        let (table, slots) = (Arc::new(LockTable::new(usize::MAX)), Arc::new(Lanes::with(4, Slot::default)));
        let waiters: [_; 4] = std::array::from_fn(|slot| Arc::new(Interrupt::of_slot(slot as u32)));
        waiters.iter().for_each(|_| assert!(slots.claim().is_some()));
        let names = [7, 8].map(|key| Name { tree: 1, key: [key].into() });
        let ask = |slot: usize, name: &Name, mode| table.request(&slots, slot as u32, name, mode, Some(&waiters[slot]));
        assert_eq!(ask(1, &names[0], LockMode::Shared), Outcome::Granted);
        assert_eq!(ask(2, &names[0], LockMode::Shared), Outcome::Granted);
        assert_eq!(ask(3, &names[1], LockMode::Exclusive), Outcome::Granted);
        assert_eq!(ask(1, &names[1], LockMode::Shared), Outcome::Queued);
        assert_eq!(ask(2, &names[1], LockMode::Shared), Outcome::Queued);
        let wait = Arc::new(EndsAnother {
            table: Arc::clone(&table),
            slots: Arc::clone(&slots),
            asked: AtomicBool::new(false),
            aborted: AtomicBool::new(false),
            others: names[1].clone(),
        });
        table.enter_foreign(&slots, 3, Arc::clone(&wait) as Arc<dyn ForeignWait>, 1);
        for (slot, work) in [(0, 2), (1, 3)] {
            slots.get(LaneId::from_index(slot)).work.store(work, Ordering::Relaxed);
        }
        assert_eq!(ask(0, &names[0], LockMode::Exclusive), Outcome::Queued);
        table.resolve_deadlock(&slots, 0);
        assert!(wait.asked.load(Ordering::SeqCst), "the search came by");
        assert!(wait.aborted.load(Ordering::SeqCst), "the one with the least to undo is the victim");
        let outcome = table.wait(&slots, 1, &names[1], &waiters[1], std::time::Duration::ZERO);
        assert!(matches!(outcome, Err(Error::LockWaitTimeout)));
    }
}
