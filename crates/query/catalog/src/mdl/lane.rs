//! The fast path: a session's own lane, and the gates that tell it to leave the fast path.

use super::Name;
use super::name::Weak;
use std::sync::atomic::{AtomicU32, AtomicU64};
use sync::{CachePadded, Gate, PinLane};

/// Tables and routines that one transaction can pin in its lane; further ones go through the queues.
pub(super) const SLOTS: usize = 11;
/// The two scopes, behind them.
pub(super) const GLOBAL: usize = SLOTS;
pub(super) const COMMIT: usize = SLOTS + 1;
pub(super) const WORDS: usize = SLOTS + 2;

/// In place of a slot: a holder that never waits for anything.
pub(super) const NOBODY: u32 = u32::MAX;

/// One session's weak locks: a word is a name's key and a [`Weak`] mode.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub pins: PinLane<WORDS>,
    /// The slot of the session's [`engine::Transaction`]. W: at connect. R: deadlock search.
    pub slot: AtomicU32,
    /// The connection's id. W: at connect. R: monitoring.
    pub connection: AtomicU64,
}

const _: () = assert!(size_of::<Lane>() <= 128);

const GATES: usize = 1024;

/// Gates by name. Names may share one: then the queues find out that nobody is in the way.
#[derive(Debug)]
pub(super) struct Gates {
    global: CachePadded<Gate>,
    commit: CachePadded<Gate>,
    /// Each on its own cache line: DDL on one table is not felt by statements on another.
    tables: Box<[CachePadded<Gate>]>,
}

impl Gates {
    pub fn new() -> Gates {
        let gate = || CachePadded::new(Gate::default());
        Gates { global: gate(), commit: gate(), tables: (0..GATES).map(|_| gate()).collect() }
    }

    /// The gate of a table or routine, by its word or key.
    #[inline]
    pub fn of_word(&self, word: u64) -> &Gate {
        &self.tables[(word >> 2) as usize % GATES]
    }

    pub fn global(&self) -> &Gate {
        &self.global
    }

    pub fn commit(&self) -> &Gate {
        &self.commit
    }

    /// The gate that weak requests for a name look at; none where there are no weak requests.
    pub fn of(&self, name: &Name, key: u64) -> Option<&Gate> {
        match name {
            Name::Global => Some(&self.global),
            Name::Commit => Some(&self.commit),
            Name::Table(..) | Name::Routine(..) => Some(self.of_word(key)),
            Name::BackupLock | Name::Schema(_) | Name::Rows(..) | Name::User(_) => None,
        }
    }
}

impl Weak {
    /// Which of a gate's two classes stops it.
    #[inline]
    pub(super) fn class(self) -> usize {
        usize::from(self != Weak::Read)
    }
}
