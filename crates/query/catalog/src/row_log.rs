//! Which rows are written while an index, or a new form of the table, is built beside writers.
//!
//! The log knows keys and who wrote, not what: the builder looks the rows up itself, in two snapshots, and brings the new trees from the
//! older to the newer one (`ddl`). A table has one log, which all versions of it share until its rows get another form.
//! While it is shut, as it is nearly always, a writer reads one word of a line that nobody writes.

use std::sync::atomic::{AtomicBool, Ordering};
use sync::{Mutex, Rank};

#[derive(Debug)]
pub struct RowLog {
    /// W: the builder, while nobody else uses the table or when it gives up. R: writers.
    open: AtomicBool,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    rows: Vec<Note>,
    bytes: usize,
    bytes_max: usize,
    full: bool,
}

/// A row was written.
#[derive(Debug)]
pub struct Note {
    pub trx: u64,
    /// In the clustered tree.
    pub key: Box<[u8]>,
}

/// The log holds no more: the build fails.
#[derive(Debug)]
pub struct Full;

impl Default for RowLog {
    fn default() -> RowLog {
        RowLog { open: AtomicBool::new(false), notes: Mutex::new(Rank::Catalog, Notes::default()) }
    }
}

impl RowLog {
    /// Writers are to note what they write from now on. For a builder that keeps everybody else from the table at this moment.
    pub fn open(&self, bytes_max: usize) {
        *self.notes.lock() = Notes { bytes_max, ..Notes::default() };
        // Release: pairs with the Acquire in `is_open`; writers come after the builder has let them in anyway.
        self.open.store(true, Ordering::Release);
    }

    pub fn shut(&self) {
        // Release: as in `open`.
        self.open.store(false, Ordering::Release);
        *self.notes.lock() = Notes::default();
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        // Acquire: pairs with the Release in `open`.
        self.open.load(Ordering::Acquire)
    }

    /// A row was written by `trx`, which is open still.
    #[cold]
    pub fn note(&self, trx: u64, key: &[u8]) {
        let mut notes = self.notes.lock();
        if notes.bytes + key.len() + size_of::<Note>() > notes.bytes_max {
            notes.full = true;
            return;
        }
        notes.bytes += key.len() + size_of::<Note>();
        notes.rows.push(Note { trx, key: key.into() });
    }

    /// Takes what is noted.
    pub fn take(&self) -> Result<Vec<Note>, Full> {
        let mut notes = self.notes.lock();
        if notes.full {
            return Err(Full);
        }
        notes.bytes = 0;
        Ok(std::mem::take(&mut notes.rows))
    }
}
