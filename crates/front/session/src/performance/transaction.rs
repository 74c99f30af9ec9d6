//! The transaction in progress, from BEGIN or its first statement to its end.
//!
//! A transaction of one statement takes that one's times: it reads no clock of its own.

use super::recorder::Stage;
use super::{HAS_HISTORY, INSTRUMENTED};
use crate::session::Session;
use engine::Isolation;
use observe::clock::now_ns;
use observe::instrument::{self, InstrumentId};
use observe::setup::{self, Consumer, Consumers};
use std::sync::atomic::Ordering;

const TRANSACTION: InstrumentId = instrument::id("transaction");

/// Words of a transaction's record.
pub(super) mod word {
    pub const EVENT_ID: usize = 0;
    /// 0: it is going on.
    pub const END_EVENT_ID: usize = 1;
    pub const BITS: usize = 2;
    /// Microseconds since 1970; 0: with the statement at hand.
    pub const BEGAN_US: usize = 3;
    /// Nanoseconds.
    pub const TOOK: usize = 4;
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

impl Session {
    /// A transaction begins, by BEGIN or by the statement at hand.
    #[inline]
    pub(crate) fn note_transaction(&mut self, isolation: Isolation, read_only: bool, autocommit: bool) {
        if self.recorder.transaction.stage != Stage::None {
            self.note_next_transaction();
        }
        let lane = &self.entry.performance;
        let transaction = &mut self.recorder.transaction;
        transaction.stage = Stage::Open;
        transaction.event_id = lane.next_event();
        // Relaxed: single writer.
        transaction.nesting = lane.statement.load(Ordering::Relaxed) >> 16;
        transaction.bits = ((isolation as u64) << bit::ISOLATION)
            | (u64::from(read_only) * bit::READ_ONLY)
            | (u64::from(autocommit) * bit::AUTOCOMMIT);
        transaction.began_us = 0;
        transaction.savepoints = 0;
        if !autocommit {
            self.show_transaction();
        }
    }

    /// The statement at hand has ended one already.
    #[cold]
    fn note_next_transaction(&mut self) {
        let took_ns = now_ns().saturating_sub(self.log.began_ns);
        self.record_transaction(setup::consumers(), false, took_ns);
    }

    /// The transaction is over, whatever came of it.
    #[inline]
    pub(crate) fn note_transaction_end(&mut self) {
        if self.recorder.transaction.is_open() {
            self.recorder.transaction.stage = Stage::Over;
        }
    }

    /// The statement at hand has ended, and took so long. `recorded`: it will have a record. Answers what that one says of the
    /// transaction, if it was the statement's alone: such a transaction needs no record of its own.
    #[inline]
    pub(super) fn settle_transaction(&mut self, consumers: Consumers, recorded: bool, took_ns: u64) -> u64 {
        match self.recorder.transaction.stage {
            Stage::Over => return self.record_transaction(consumers, recorded, took_ns),
            Stage::Open if self.recorder.transaction.began_us == 0 => {
                self.recorder.transaction.began_us = self.state.clock_us;
                self.recorder.transaction.began_ns = self.log.began_ns;
                self.show_transaction();
            }
            Stage::Open | Stage::None => {}
        }
        0
    }

    /// Whoever looks sees that it is going on.
    fn show_transaction(&mut self) {
        if !setup::consumers().have(RECORDED) {
            return;
        }
        let lane = &self.entry.performance;
        let transaction = &self.recorder.transaction;
        let record = lane.transactions().write();
        record.set(word::EVENT_ID, transaction.event_id);
        record.set(word::END_EVENT_ID, 0);
        record.set(word::BITS, transaction.bits);
        record.set(word::BEGAN_US, transaction.began_us);
        record.set(word::NESTING, transaction.nesting);
        record.set(word::SAVEPOINTS, transaction.savepoints);
    }

    #[inline]
    fn record_transaction(&mut self, consumers: Consumers, recorded: bool, took_ns: u64) -> u64 {
        let transaction = &mut self.recorder.transaction;
        transaction.stage = Stage::None;
        let lane = &self.entry.performance;
        let flags = setup::flags(TRANSACTION);
        // Relaxed: a transaction goes by what it finds.
        let watched = lane.watched.load(Ordering::Relaxed);
        if !(flags.is_enabled() && consumers.has(Consumer::Global) && watched & INSTRUMENTED != 0) {
            return 0;
        }
        let (began_us, took_ns) = match transaction.began_us {
            // It is one of the statement at hand.
            0 => (self.state.clock_us, took_ns),
            began_us => (began_us, now_ns().saturating_sub(transaction.began_ns)),
        };
        let timed_ns = flags.is_timed().then_some(took_ns);
        let took_ns = timed_ns.unwrap_or(0);
        lane.transaction_sums.add(consumers, transaction.bits & bit::READ_ONLY != 0, timed_ns);
        let bits = transaction.bits | if flags.is_timed() { bit::TIMED } else { 0 };
        // Relaxed: single writer.
        let statement = lane.statement.load(Ordering::Relaxed) >> 16;
        if recorded && transaction.began_us == 0 && transaction.nesting == statement && consumers.have(WITH_STATEMENT) {
            return bits << 32 | transaction.event_id.saturating_sub(statement);
        }
        if !consumers.have(RECORDED) {
            return 0;
        }
        let record = lane.transactions().write();
        record.set(word::EVENT_ID, transaction.event_id);
        // Relaxed: single writer.
        record.set(word::END_EVENT_ID, lane.events.load(Ordering::Relaxed));
        record.set(word::BITS, bits);
        record.set(word::BEGAN_US, began_us);
        record.set(word::TOOK, took_ns);
        record.set(word::NESTING, transaction.nesting);
        record.set(word::SAVEPOINTS, transaction.savepoints);
        drop(record);
        if consumers.has(Consumer::TransactionsHistory) && watched & HAS_HISTORY != 0 {
            lane.transactions().keep();
        }
        0
    }
}

/// With these on a statement's record tells of the transaction, too.
const WITH_STATEMENT: &[Consumer] = &[
    Consumer::Global,
    Consumer::Thread,
    Consumer::StatementsCurrent,
    Consumer::StatementsHistory,
    Consumer::TransactionsCurrent,
    Consumer::TransactionsHistory,
];

/// With these on a transaction has a record.
const RECORDED: &[Consumer] = &[Consumer::Global, Consumer::Thread, Consumer::TransactionsCurrent];
