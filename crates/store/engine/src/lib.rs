//! The transactional storage engine: B+trees over a larger-than-memory buffer pool, multi-version rows, row locks, undo,
//! purge, recovery. It knows keys and values as bytes; what they mean is the callers' business (crates `types`, `catalog`).
//!
//! Vocabulary: a *tree* is a B+tree of (key, value) entries, clustered (values are rows) or secondary (keys are index
//! columns followed by the primary key, values are small payloads). A *consistent read* sees the transaction's snapshot and
//! takes no lock; a *locking read* sees the newest committed version and locks it.

mod backup;
mod btree;
mod check;
mod checkpoint;
mod cursor;
pub mod dump;
mod engine;
mod error;
mod events;
mod figures;
mod inventory;
mod isolation;
mod lock;
mod mtr;
mod options;
mod overflow;
mod page;
mod parallel;
mod pool;
mod prepared;
mod purge;
mod recovery;
mod redo;
mod segment;
mod shared;
mod space;
mod stepper;
mod transaction;
mod txn;
mod undo;
mod version;

pub use ::log::{LogFile, Lsn};
pub use backup::{Backup, PAGES_FILE, PageRuns, verify_pages};
pub use check::{Problem, Report, TreeFigures};
pub use cipher::KeyringStatus;
pub use cursor::{Cursor, Direction, Entry, Extent, Range};
pub use engine::{Engine, EngineStatus};
pub use error::{Error, Result};
pub use events::{CommittedEvents, EventStream, Events};
pub use figures::{Figures, KeyPlace, LogFigures};
pub use inventory::{BufferPage, DataFile, PageContent, TreeSpace};
pub use isolation::{Isolation, LockMode, Read, Wait};
pub use lock::slot::{Begin, SLOTS_MAX};
pub use lock::{
    Deadlock, DeadlockMember, ForeignWait, Interrupt, LockInfo, LockOn, Slept, Teller, TransactionInfo, WaitInfo,
};
pub use options::EngineOptions;
pub use overflow::{Long, Row};
pub use page::PageType;
pub use parallel::{PARTS_A_THREAD, Part};
pub use pool::doublewrite::FILE_NAME as DOUBLEWRITE_FILE;
pub use pool::resize::{ResizeRefused, ResizeStage};
pub use pool::settings::PoolSettings;
pub use prepared::{Decision, LABEL_BYTES_MAX, Prepared, Undecided};
pub use recovery::{DATA_FILE, LOG_DIRECTORY};
pub use shared::confirm::{Confirmation, Confirmer, Whose};
pub use shared::history::PurgeSettings;
pub use shared::rollbacks::Teller as RollbackTeller;
pub use shared::warm::{WarmFailure, WarmStage};
pub use stepper::Stepper;
pub use transaction::{FreshLock, Savepoint, Transaction};
pub use txn::countdown::Progress;
pub use txn::write::row_bytes_max;
pub use version::{LongReference, REFERENCE_BYTES};

/// A B+tree: where its root is. Roots never move. Stored in the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    /// Unique for ever, also after a drop.
    pub id: u32,
    /// Page number of the root.
    pub root: u64,
    pub kind: TreeKind,
}

impl Tree {
    /// Is what it holds encrypted wherever it is written?
    #[inline(always)]
    pub fn is_encrypted(self) -> bool {
        self.id & page::ENCRYPTED != 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeKind {
    /// Key: primary key; value: row.
    Clustered,
    /// Key: index columns then primary key; value: payload of the caller.
    Secondary,
}

/// Bytes of a page.
pub const PAGE_BYTES: u64 = page::PAGE_BYTES as u64;

/// The longest key in bytes, as encoded (InnoDB's 3072 bytes of columns, and room for encoding and the primary key).
pub const KEY_BYTES_MAX: usize = 3500;
