//! One wait for a metadata lock: how it sleeps, how it ends, and what the engine's deadlock search may ask it.

use super::lane::NOBODY;
use super::{MetadataLocks, Name};
use engine::{ForeignWait, Interrupt};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};

const WAITING: u8 = 0;
const GRANTED: u8 = 1;
const VICTIM: u8 = 2;

pub(super) struct Wait {
    pub locks: Weak<MetadataLocks>,
    pub name: Arc<Name>,
    pub number: u64,
    pub interrupt: Arc<Interrupt>,
    /// W: under the queues' mutex. R: the waiter.
    outcome: AtomicU8,
}

impl std::fmt::Debug for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wait({:?}, {})", self.name, self.number)
    }
}

impl Wait {
    pub fn new(locks: &Arc<MetadataLocks>, name: &Arc<Name>, number: u64, interrupt: &Arc<Interrupt>) -> Wait {
        Wait {
            locks: Arc::downgrade(locks),
            name: Arc::clone(name),
            number,
            interrupt: Arc::clone(interrupt),
            outcome: AtomicU8::new(WAITING),
        }
    }

    fn end(&self, outcome: u8) {
        // Release: pairs with Acquire in `is_granted` and `is_victim`.
        self.outcome.store(outcome, Ordering::Release);
        self.interrupt.notify();
    }

    /// Called under the queues' mutex, by whoever grants.
    pub fn granted(&self) {
        self.end(GRANTED);
    }

    pub fn is_granted(&self) -> bool {
        // Acquire: pairs with Release in `end`.
        self.outcome.load(Ordering::Acquire) == GRANTED
    }

    pub fn is_victim(&self) -> bool {
        // Acquire: pairs with Release in `end`.
        self.outcome.load(Ordering::Acquire) == VICTIM
    }
}

impl ForeignWait for Wait {
    fn blockers(&self, out: &mut Vec<u32>) {
        let Some(locks) = self.locks.upgrade() else { return };
        let mut lanes = Vec::new();
        locks.queues.lock().blockers(locks.view(), &self.name, self.number, &mut lanes);
        // Relaxed: stored before the session could lock anything.
        let slots = lanes.into_iter().map(|lane| locks.lanes.get(lane).slot.load(Ordering::Relaxed));
        out.extend(slots.filter(|slot| *slot != NOBODY));
    }

    fn abort(&self) -> bool {
        let Some(locks) = self.locks.upgrade() else { return false };
        let mut queues = locks.queues.lock();
        if !queues.withdraw(locks.view(), &self.name, self.number) {
            return false;
        }
        self.end(VICTIM);
        true
    }

    fn describe(&self) -> String {
        let (schema, object) = self.name.parts();
        let parts: Vec<&str> = schema.into_iter().chain(object).collect();
        format!("metadata lock on {} {}", self.name.kind().to_lowercase(), parts.join("."))
    }
}
