//! Commits that somebody else is to have as well before their clients are told: semi-synchronous replication.
//!
//! ```text
//!   nobody                            a commit pays a fence and a load, a snapshot a load
//!   before the answer                 whoever commits waits for the [`Confirmer`]; others see the commit once it is durable
//!   before anybody sees it            snapshots end at `bound`, too, and whoever's answer rests on a commit waits with it
//! ```
//! The bound only rises while there is one, and begins above all that anybody was shown. Who decides about it does so
//! under a mutex of its own, which commits take only while they wait.

use super::Core;
use crate::{Error, Interrupt, Result};
use log::Lsn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};
use sync::blocking;
use sync::waits::Wait;

/// There is no bound.
const ALL: Lsn = Lsn::MAX;

/// Whose commit a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The waiting session's, with events.
    Own,
    /// Another one's, or one without events: it matters only where nobody is to see commits that are not confirmed.
    Other,
}

/// Knows which commits others have.
pub trait Confirmer: Send + Sync {
    /// All commits up to `lsn` are durable. Returns once they are confirmed, or no longer have to be; false: `ended` said that
    /// the wait should end.
    fn wait(&self, engine: &Confirmation, lsn: Lsn, whose: Whose, ended: &dyn Fn() -> bool) -> bool;
}

/// W: SET GLOBAL, acknowledgements of replicas. R: every commit and snapshot.
pub struct Confirmation {
    /// Commits have to be confirmed.
    wanted: AtomicBool,
    /// Snapshots show commits up to here.
    bound: AtomicU64,
    confirmer: OnceLock<Arc<dyn Confirmer>>,
}

impl Confirmation {
    pub(crate) fn new() -> Confirmation {
        Confirmation { wanted: AtomicBool::new(false), bound: AtomicU64::new(ALL), confirmer: OnceLock::new() }
    }

    /// What may be shown of what is durable up to `newest`, which was read before.
    #[inline(always)]
    pub(crate) fn shown(&self, newest: Lsn) -> Lsn {
        // Acquire: pairs with the Release in `show_up_to`; orders nothing else.
        newest.min(self.bound.load(Ordering::Acquire))
    }

    /// Commits up to `lsn` may be shown, unless all may.
    pub fn show_up_to(&self, lsn: Lsn) {
        // Relaxed: only the caller writes it, under its mutex.
        let bound = self.bound.load(Ordering::Relaxed);
        if bound != ALL && lsn > bound {
            self.bound.store(lsn, Ordering::Release); // pairs with the Acquire in `shown`
        }
    }

    /// All that is durable may be shown.
    pub fn show_all(&self) {
        self.bound.store(ALL, Ordering::Release); // pairs with the Acquire in `shown`, too
    }
}

impl Core {
    pub fn set_confirmer(&self, confirmer: Arc<dyn Confirmer>) {
        assert!(self.confirmation.confirmer.set(confirmer).is_ok(), "there is one confirmer");
    }

    /// See [`crate::Engine::want_confirmation`].
    pub fn want_confirmation(&self, on: bool) {
        // Relaxed: ordered by the fence.
        self.confirmation.wanted.store(on, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `await_confirmed`
    }

    /// See [`crate::Engine::show_confirmed`].
    pub fn show_confirmed(&self) -> Lsn {
        let mut bound = self.log.tail_lsn();
        loop {
            // SeqCst, and what is durable after it: who still read that there is no bound read what is durable before that.
            self.confirmation.bound.store(bound, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if self.durable_newest() <= bound {
                return bound;
            }
            bound = self.log.tail_lsn();
        }
    }

    /// After the wait for the flush: the wait for others.
    #[inline]
    pub(crate) fn await_confirmed(&self, lsn: Lsn, interrupt: &Interrupt, own: bool, whose: Whose) -> Result<()> {
        // SeqCst: pairs with the fence in `want_confirmation`: either this finds the wish, or that finds our commit in the log.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if self.confirmation.wanted.load(Ordering::Relaxed) {
            self.await_confirmed_slow(lsn, interrupt, own, whose)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn await_confirmed_slow(&self, lsn: Lsn, interrupt: &Interrupt, own: bool, whose: Whose) -> Result<()> {
        let Some(confirmer) = self.confirmation.confirmer.get() else { return Ok(()) };
        // Others get only what is durable, whatever `innodb_flush_log_at_trx_commit` says.
        self.await_log(interrupt, own, |log| log.wait_flushed(lsn))?;
        self.log.hurry_followers();
        let _waiting = blocking::waiting(Wait::Acknowledgement);
        let ended = || interrupt.reason() >= if own { 2 } else { 1 } || self.stopping();
        match confirmer.wait(&self.confirmation, lsn, whose, &ended) {
            true => Ok(()),
            false if own => Err(Error::Unacknowledged),
            false => Err(Error::Interrupted),
        }
    }
}
