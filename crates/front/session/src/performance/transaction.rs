//! The transaction in progress, from BEGIN or its first statement to its end.
//!
//! A transaction of one statement takes that one's times: it reads no clock of its own.

use super::{HAS_HISTORY, INSTRUMENTED, Lane};
use crate::session::Session;
use engine::Isolation;
use observe::instrument::{self, InstrumentId};
use observe::setup::{self, Consumer};
use std::sync::atomic::Ordering;

const TRANSACTION: InstrumentId = instrument::id("transaction");

/// Words of a transaction's record.
pub(super) mod word {
    pub const EVENT_ID: usize = 0;
    /// 0: it is going on.
    pub const END_EVENT_ID: usize = 1;
    pub const BITS: usize = 2;
    /// Nanoseconds since the server began.
    pub const BEGAN: usize = 3;
    pub const ENDED: usize = 4;
    /// Savepoints set, rolled back to, released: 21 bits each.
    pub const SAVEPOINTS: usize = 5;
    /// The statement that began it.
    pub const NESTING: usize = 6;
    pub const COUNT: usize = 7;
}

/// Bits of [`word::BITS`]; beside them, from bit 8 on, the isolation level.
pub(super) mod bit {
    pub const READ_ONLY: u64 = 1;
    pub const AUTOCOMMIT: u64 = 2;
    pub const ROLLED_BACK: u64 = 4;
    pub const TIMED: u64 = 8;
    pub const ISOLATION: u32 = 8;
}

/// What a session knows of its transaction.
#[derive(Default)]
pub(crate) struct TransactionRecorder {
    stage: Stage,
    event_id: u64,
    nesting: u64,
    bits: u64,
    /// 0: with the statement at hand.
    began_ns: u64,
    savepoints: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    None,
    Open,
    /// It is over, and recorded when the statement ends.
    Over,
}

/// What can be done with savepoints, in the order of the columns.
#[derive(Clone, Copy)]
pub(crate) enum Savepointing {
    Set,
    RolledBackTo,
    Released,
}

impl TransactionRecorder {
    #[inline]
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// The event that statements of the transaction belong to.
    pub fn event_id(&self) -> Option<u64> {
        self.is_open().then_some(self.event_id)
    }

    pub fn count(&mut self, what: Savepointing) {
        self.savepoints += 1 << (21 * what as u32);
    }

    /// The transaction in progress will end without its changes.
    #[inline]
    pub fn rolls_back(&mut self) {
        self.bits |= bit::ROLLED_BACK;
    }
}

impl Session {
    /// A transaction begins, by BEGIN or by the statement at hand.
    #[inline]
    pub(crate) fn note_transaction(&mut self, isolation: Isolation, read_only: bool, autocommit: bool) {
        if self.recorder.transaction.stage != Stage::None {
            self.note_next_transaction();
        }
        let lane = &self.entry.lane().performance;
        // Relaxed: single writer.
        let nesting = lane.statement.load(Ordering::Relaxed);
        let event_id = lane.next_event();
        let bits = (isolation as u64) << bit::ISOLATION
            | if read_only { bit::READ_ONLY } else { 0 }
            | if autocommit { bit::AUTOCOMMIT } else { 0 };
        self.recorder.transaction =
            TransactionRecorder { stage: Stage::Open, event_id, nesting, bits, began_ns: 0, savepoints: 0 };
        if !autocommit {
            self.show_transaction();
        }
    }

    /// The statement at hand has ended one already.
    #[cold]
    fn note_next_transaction(&mut self) {
        self.record_transaction(observe::clock::now_ns(), self.log.began.elapsed_ns());
    }

    /// The transaction is over, whatever came of it.
    #[inline]
    pub(crate) fn note_transaction_end(&mut self) {
        if self.recorder.transaction.is_open() {
            self.recorder.transaction.stage = Stage::Over;
        }
    }

    /// The statement at hand ended at `ended_ns`, and took so long.
    #[inline]
    pub(super) fn settle_transaction(&mut self, ended_ns: u64, took_ns: u64) {
        match self.recorder.transaction.stage {
            Stage::None => {}
            Stage::Over => self.record_transaction(ended_ns, took_ns),
            Stage::Open if self.recorder.transaction.began_ns == 0 => {
                self.recorder.transaction.began_ns = ended_ns.saturating_sub(took_ns);
                self.show_transaction();
            }
            Stage::Open => {}
        }
    }

    /// Whoever looks sees that it is going on.
    fn show_transaction(&mut self) {
        let lane = &self.entry.lane().performance;
        if !watch(lane).records {
            return;
        }
        let transaction = &self.recorder.transaction;
        let record = lane.transactions().write();
        record.set(word::EVENT_ID, transaction.event_id);
        record.set(word::END_EVENT_ID, 0);
        record.set(word::BITS, transaction.bits);
        record.set(word::BEGAN, transaction.began_ns);
        record.set(word::NESTING, transaction.nesting);
        record.set(word::SAVEPOINTS, transaction.savepoints);
    }

    #[inline]
    fn record_transaction(&mut self, ended_ns: u64, took_ns: u64) {
        let transaction = &mut self.recorder.transaction;
        transaction.stage = Stage::None;
        let lane = &self.entry.lane().performance;
        // Relaxed: single writer.
        let end_event = lane.events.load(Ordering::Relaxed);
        let watch = watch(lane);
        if !watch.sums {
            return;
        }
        let began_ns = match transaction.began_ns {
            0 => ended_ns.saturating_sub(took_ns),
            began => began,
        };
        let took_ns = if watch.timed { ended_ns.saturating_sub(began_ns) } else { 0 };
        lane.transaction_sums.add(watch.consumers, transaction.bits & bit::READ_ONLY != 0, took_ns);
        if !watch.records {
            return;
        }
        let record = lane.transactions().write();
        record.set(word::EVENT_ID, transaction.event_id);
        record.set(word::END_EVENT_ID, end_event.max(transaction.event_id));
        record.set(word::BITS, transaction.bits | if watch.timed { bit::TIMED } else { 0 });
        record.set(word::BEGAN, began_ns);
        record.set(word::ENDED, ended_ns);
        record.set(word::NESTING, transaction.nesting);
        record.set(word::SAVEPOINTS, transaction.savepoints);
        drop(record);
        if watch.history {
            lane.transactions().keep();
        }
    }
}

/// What is collected of a session's transactions.
struct Watch {
    consumers: setup::Consumers,
    sums: bool,
    records: bool,
    history: bool,
    timed: bool,
}

#[inline]
fn watch(lane: &Lane) -> Watch {
    let (consumers, flags) = (setup::consumers(), setup::flags(TRANSACTION));
    // Relaxed: a transaction goes by what it finds.
    let watched = lane.watched.load(Ordering::Relaxed);
    let sums = flags.is_enabled() && watched & INSTRUMENTED != 0 && consumers.has(Consumer::Global);
    let records = sums && consumers.have(&[Consumer::Thread, Consumer::TransactionsCurrent]);
    let history = records && watched & HAS_HISTORY != 0 && consumers.has(Consumer::TransactionsHistory);
    Watch { consumers, sums, records, history, timed: flags.is_timed() }
}
