//! What a session tells Performance Schema of its statements, and what others read of it.
//!
//! A session writes to its own lane only: the record of the statement at hand, the last ten, and sums by class. Nobody stops
//! it to read them (`sync::Records`, `observe::StatementSums`). When it ends, its sums go to its account's.

mod look;
mod nested;
mod prepared;
mod programs;
mod recorder;
mod rows;
mod setup;
mod stage;
mod statement;
mod sums;
mod transaction;

pub(crate) use look::Nested;
pub(crate) use prepared::{Instance, forget as forget_prepared};
pub(crate) use programs::sums as program_sums;
pub(crate) use recorder::{EXECUTE, PREPARE, Recorder, Savepointing, TransactionRecorder, new_plan};
pub(crate) use rows::{memory, prepared_instances, session_sums, stage_events, statement_events, transaction_events};
pub(crate) use setup::{PERFORMANCE_SCHEMA, start};
pub(crate) use stage::instrument_of;
pub(crate) use sums::Ended;

use observe::errors::ErrorSums;
use observe::forgotten::Events;
use observe::programs::ProgramSums;
use observe::setup::history;
use observe::{StatementSums, TransactionSums};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use sync::Records;

/// Words of a statement's record.
mod word {
    use observe::FIGURES;

    pub const EVENT_ID: usize = 0;
    /// 0: it is going on.
    pub const END_EVENT_ID: usize = 1;
    /// Class, 16 bits; then bits, see [`super::bit`].
    pub const BITS: usize = 2;
    /// Microseconds since 1970.
    pub const BEGAN_US: usize = 3;
    /// Nanoseconds.
    pub const TOOK: usize = 4;
    pub const STATEMENT_ID: usize = 5;
    /// Error number, 16 bits; SQLSTATE, 40 bits.
    pub const ERROR: usize = 6;
    /// Bytes of the statement, the schema and the message, 16 bits each; [`super::bit::HAS_TEXT`].
    pub const TEXTS: usize = 7;
    /// The transaction that it is part of, or 0.
    pub const NESTING: usize = 8;
    /// Of what its texts are, if they are all of a planned statement's: see [`super::Recorder`].
    pub const TAG: usize = 9;
    /// The transaction of this statement alone, or 0: bits of `transaction::bit` from bit 32 on, and how far its number is from
    /// the statement's.
    pub const TRANSACTION: usize = 10;
    /// See `observe::digests::Place`.
    pub const DIGEST: usize = 11;
    /// The routine whose statement it is: bytes of its schema and of its name, 16 bits each, and its kind; 0: none.
    pub const OBJECT: usize = 12;
    pub const FIGURES_FROM: usize = 13;
    pub const COUNT: usize = FIGURES_FROM + FIGURES;
}

/// Bits beside the class.
mod bit {
    /// It has a duration.
    pub const TIMED: u64 = 1 << 16;
    pub const HAS_SCHEMA: u64 = 1 << 18;
    pub const HAS_MESSAGE: u64 = 1 << 19;
    /// From here on: how many routines it is within.
    pub const LEVEL: u32 = 24;
    pub const LEVEL_MAX: u64 = 255;
    /// In the word of texts: it has one.
    pub const HAS_TEXT: u64 = 1 << 48;
    /// It has ended in an OK or an error, not in rows.
    pub const HAS_STATE: u64 = 1 << 20;
    /// Figures from `observe::FIRST_RARE` on are not all 0.
    pub const HAS_RARE: u64 = 1 << 21;
}

/// A session is instrumented, and keeps a history: bits of [`Lane::watched`].
pub(crate) const INSTRUMENTED: u8 = 1;
pub(crate) const HAS_HISTORY: u8 = 2;

/// What others read of a session's statements. It stays when the session ends, for the next one in its place.
#[repr(align(64))]
pub(crate) struct Lane {
    /// [`INSTRUMENTED`], [`HAS_HISTORY`]. W: the login, UPDATE of `threads`. R: the session's statements.
    pub watched: AtomicU8,
    /// The last event's number. W: the session.
    events: AtomicU64,
    /// The event of the statement at hand, and in the last 16 bits its class. W: the session. R: anybody.
    statement: AtomicU64,
    /// How often the session has gone to another schema. W, R: the session.
    schemas: AtomicU64,
    pub stages: stage::Stages,
    /// Made at the first statement. W: the session. R: anybody.
    records: OnceLock<Records<{ word::COUNT }>>,
    /// W: the session. R: anybody.
    sums: StatementSums,
    /// As `records`, of transactions.
    transactions: OnceLock<Records<{ transaction::word::COUNT }>>,
    /// W: the session. R: anybody.
    transaction_sums: TransactionSums,
    /// W: the session. R: anybody.
    pub errors: ErrorSums,
    /// W: the session. R: anybody.
    pub programs: ProgramSums,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane {
            watched: AtomicU8::new(INSTRUMENTED | HAS_HISTORY),
            events: AtomicU64::new(0),
            statement: AtomicU64::new(0),
            schemas: AtomicU64::new(0),
            stages: stage::Stages::default(),
            records: OnceLock::new(),
            sums: StatementSums::default(),
            transactions: OnceLock::new(),
            transaction_sums: TransactionSums::default(),
            errors: ErrorSums::default(),
            programs: ProgramSums::new(),
        }
    }
}

impl Lane {
    /// The session is in another schema.
    pub fn schema_changed(&self) {
        // Relaxed: written and read by one thread at a time.
        self.schemas.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts changes of the default schema.
    #[inline]
    pub fn schemas(&self) -> u64 {
        // Relaxed: single writer.
        self.schemas.load(Ordering::Relaxed)
    }

    /// The last event's number.
    pub fn event_id(&self) -> u64 {
        // Relaxed: single writer.
        self.events.load(Ordering::Relaxed)
    }

    /// The number of another event of the session.
    #[inline]
    fn next_event(&self) -> u64 {
        // Relaxed: single writer.
        let next = self.events.load(Ordering::Relaxed) + 1;
        self.events.store(next, Ordering::Relaxed); // Relaxed: as above
        next
    }

    fn records(&self) -> &Records<{ word::COUNT }> {
        // Transactions of one statement alone stand in its record, so as many are kept as either table shows.
        let size = || history(Events::Statements).max(history(Events::Transactions));
        self.records.get_or_init(|| Records::new(size()))
    }

    fn transactions(&self) -> &Records<{ transaction::word::COUNT }> {
        self.transactions.get_or_init(|| Records::new(history(Events::Transactions)))
    }

    /// A session begins: the records are not those of the one before.
    pub fn open(&self) {
        // Relaxed: the session is not there yet for anybody else.
        self.watched.store(INSTRUMENTED | HAS_HISTORY, Ordering::Relaxed);
        self.events.store(0, Ordering::Relaxed); // Relaxed: as above
        self.statement.store(0, Ordering::Relaxed); // Relaxed: as above
        self.stages.clear();
        if let Some(records) = self.records.get() {
            records.clear();
        }
        if let Some(records) = self.transactions.get() {
            records.clear();
        }
    }
}
