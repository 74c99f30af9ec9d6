//! Prepared transactions: the first half of a commit in two phases (X/Open XA), and what decides it later.
//!
//! ```text
//!   prepare    one log group: events | the transaction's last undo record, a Prepare with its label | END of `beside`
//!              then id, undo segment and locks go from the session's slot to one of their own: no session has it any more
//!   commit     one log group: events | END of the transaction | END of the session's own
//!   rollback   one log group: events | its Prepare record is marked as undone | END of the session's own
//!              then it is undone as others are
//! ```
//! A start finds a transaction open whose last undo record is a Prepare that stands: that one is prepared, its rows are locked, and it
//! waits for whoever decides ([`crate::Engine::take_prepared`]). All others are rolled back. Undo lies in pages, so a transaction that
//! stays prepared for days keeps neither the log nor checkpoints; purge passes everybody's history but its own.
//!
//! What is committed in the same group as the decision is that of a second transaction: a replica's position stands behind the
//! source's XA PREPARE while the rows of that are nobody's to see.

use super::Transaction;
use crate::mtr::Mtr;
use crate::pool::Exclusive;
use crate::prepared::{Decision, LABEL_BYTES_MAX, Prepared, Undecided};
use crate::shared::rollbacks::Rollback;
use crate::space::Need;
use crate::txn::Status;
use crate::undo::{self, Kind, Record};
use crate::{Error, Result};
use log::Lsn;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Transaction {
    /// Prepares the transaction under a label of at most [`LABEL_BYTES_MAX`] bytes: it has its place in the log with its events, keeps its
    /// locks, and belongs to nobody. With it `beside` commits, whose events are not looked at. Nobody may be told before
    /// [`Transaction::await_durable`] has returned. The transaction is over for the session; after an error it is not, and can only be
    /// rolled back.
    pub fn prepare(&mut self, label: &[u8], beside: Option<&mut Transaction>) -> Result<Prepared> {
        assert!(self.active && self.first_undo != 0, "there is something to prepare");
        assert!(label.len() <= LABEL_BYTES_MAX, "the label fits a page");
        self.start_writing(Need::Undo)?;
        let core = Arc::clone(&self.core);
        let slot = core.system.slots.claim().ok_or(Error::TooManyTransactions)?;
        let end = match self.log_prepare(label, beside) {
            Ok(end) => end,
            Err(error) => {
                core.system.slots.release(slot);
                return Err(error);
            }
        };
        let (own, other) = (core.system.slots.get(self.slot), core.system.slots.get(slot));
        // Relaxed for all: for those who list transactions.
        other.begun.store(own.begun.load(Ordering::Relaxed), Ordering::Relaxed);
        other.work.store(self.work, Ordering::Relaxed);
        core.system.hand_over(self.slot, slot, self.trx);
        core.locks.hand_over(&core.system.slots, self.slot(), slot.index() as u32, &self.locks);
        let prepared = Prepared {
            slot,
            trx: self.trx,
            segment: self.segment.take().expect("a transaction with undo has a segment"),
            first: self.first_undo,
            end: self.undo_end,
            locks: std::mem::take(&mut self.locks),
            owed: self.undo_cost.owed.take(),
        };
        self.awaits_events |= !self.events.is_empty();
        self.events.clear();
        self.forget();
        self.is_in_log_at(end);
        Ok(prepared)
    }

    fn log_prepare(&mut self, label: &[u8], beside: Option<&mut Transaction>) -> Result<Lsn> {
        self.events.log_parts(&self.core.log, self.trx)?;
        self.await_room(self.events.last_bytes())?;
        let record = Record {
            kind: Kind::Prepare,
            secondary: false,
            tree: 0,
            root: 0,
            trx: self.trx,
            header: 0,
            roll_ptr: 0,
            prefix: 0,
            suffix: 0,
            key: label,
            data: &[],
            dropped: &[],
        };
        record.encode(&mut self.record);
        let core = &*self.core;
        let (id, end) = loop {
            let segment = self.segment.as_ref().expect("a transaction with undo has a segment");
            // Relaxed: only the session that has the segment stores it.
            let id = segment.newest.load(Ordering::Relaxed);
            let mut page = core.pool.exclusive(id)?;
            if !undo::fits(page.bytes(), self.record.len()) {
                drop(page);
                segment.extend(core.store())?;
                continue;
            }
            let Some(mut own) = beside.as_deref().map_or(Ok(Some(None)), Transaction::try_latch_end)? else {
                drop(page);
                continue;
            };
            let mut mtr = Mtr::new();
            if let Some(events) = self.events.last(self.trx) {
                mtr.events(&events);
            }
            self.undo_end = undo::roll_ptr(id, mtr.undo(&mut page, &self.record)) + self.record.len() as u64;
            break (id, end_with(&core.log, mtr, page, beside.as_deref(), own.take(), |_| ()));
        };
        debug_assert_eq!(undo::split_roll_ptr(self.undo_end).0, id);
        if let Some(beside) = beside {
            beside.forget();
            beside.is_in_log_at(end);
        }
        Ok(end)
    }

    /// Decides what becomes of a prepared transaction, in one log group with the commit of this one and its events. Nobody may be told
    /// before [`Transaction::await_durable`] has returned. After an error nothing has changed but that this transaction was rolled back.
    /// What of
    /// a rollback cannot be undone now is undone in the background.
    pub fn decide(&mut self, prepared: Prepared, decision: Decision) -> std::result::Result<(), Box<Undecided>> {
        assert!(self.active, "what decides is a transaction of its own");
        let end = match self.log_decision(&prepared, decision) {
            Ok(end) => end,
            Err(error) => {
                // What the rollback met the background meets again; the decision's error is the one to tell.
                let _ = self.rollback();
                return Err(Box::new(Undecided { error, prepared }));
            }
        };
        self.awaits_events |= !self.events.is_empty();
        self.events.clear();
        self.forget();
        self.is_in_log_at(end);
        let Prepared { slot, trx, segment, first, end, mut locks, owed } = prepared;
        let core = &*self.core;
        match decision {
            Decision::Commit => {
                core.locks.release_converted(&core.system.slots, slot.index() as u32, locks.trees());
                core.locks.release_held(slot.index() as u32, &mut locks);
                core.leave_slot(slot, segment);
            }
            Decision::RollBack => {
                // Nobody relies on what it has read; what it has changed is locked until it is undone.
                core.locks.release_held(slot.index() as u32, &mut locks);
                segment.note_work();
                let _undo = sync::blocking::shield();
                core.roll_back_now(Rollback::new(slot, trx, segment, first, end).with(owed));
            }
        }
        Ok(())
    }

    fn log_decision(&mut self, prepared: &Prepared, decision: Decision) -> Result<Lsn> {
        self.check_alive()?;
        self.events.log_parts(&self.core.log, self.trx)?;
        self.await_room(self.events.last_bytes())?;
        let core = &*self.core;
        loop {
            let mut page = core.pool.exclusive(prepared.newest())?;
            let Some(own) = self.try_latch_end()? else { continue };
            let mut mtr = Mtr::new();
            if let Some(events) = self.events.last(self.trx) {
                mtr.events(&events);
            }
            if decision == Decision::Commit {
                mtr.end_transaction(&mut page, prepared.trx);
            } else {
                let (_, at) = undo::split_roll_ptr(prepared.end);
                let at = undo::record_before(page.bytes(), at).expect("its last record is the one that prepared it");
                let (at, mark) = undo::undone_mark(page.bytes(), at);
                mtr.write(&mut page, at, &[mark]);
            }
            return Ok(end_with(&core.log, mtr, page, Some(self), own, |lsn| {
                if decision == Decision::Commit {
                    core.system.finish(prepared.slot, prepared.trx, Status::Committed(lsn), lsn);
                }
            }));
        }
    }

    /// Latches the undo page that is to say that this transaction is over; `Some(None)`: it has written nothing. `None`: somebody else has
    /// the page, which is there for the next attempt.
    fn try_latch_end(&self) -> Result<Option<Option<Exclusive<'_>>>> {
        if self.first_undo == 0 {
            return Ok(Some(None));
        }
        let segment = self.segment.as_ref().expect("a transaction with undo has a segment");
        // Relaxed: only who has the segment stores it.
        let id = segment.newest.load(Ordering::Relaxed);
        match self.core.pool.try_exclusive(id) {
            Some(page) => Ok(Some(Some(page))),
            None => {
                self.core.pool.read(id)?;
                Ok(None)
            }
        }
    }

    /// Waits for room in the log for a group with so many bytes of events. Gives way to any KILL.
    fn await_room(&self, bytes: usize) -> Result<()> {
        while let Err(error) = self.core.log.ensure_room_critical(8192 + bytes) {
            if !matches!(error, log::Error::NoSpace { .. }) || self.core.stopping() {
                return Err(error.into());
            }
            if self.interrupt.reason() != 0 {
                return Err(Error::Interrupted);
            }
            self.core.pause();
        }
        Ok(())
    }

    /// What nobody may be told of before it is durable.
    fn is_in_log_at(&mut self, end: Lsn) {
        self.commit_end = end;
        self.depends_on = self.depends_on.max(end);
        self.awaits_own = true;
    }
}

/// Appends the group that `mtr` has begun on `page`, with the end of `tx` on its page; a transaction that has written nothing has none.
fn end_with<'p>(
    log: &log::Log,
    mut mtr: Mtr,
    mut page: Exclusive<'p>,
    tx: Option<&Transaction>,
    own: Option<Exclusive<'p>>,
    publish: impl FnOnce(Lsn),
) -> Lsn {
    let Some((mut own, tx)) = own.zip(tx) else {
        let end = mtr.commit_with(log, &mut [&mut page], publish);
        if let Some(tx) = tx.filter(|tx| tx.trx != 0) {
            tx.core.system.finish(tx.slot, tx.trx, Status::RolledBack, 1);
        }
        return end;
    };
    mtr.end_transaction(&mut own, tx.trx);
    mtr.commit_with(log, &mut [&mut page, &mut own], |lsn| {
        publish(lsn);
        tx.core.system.finish(tx.slot, tx.trx, Status::Committed(lsn), lsn);
    })
}
