//! Prepared statements: what their executions have come to, for who reads `prepared_statements_instances`.

use inspect::PreparedInstance;
use observe::{Figures, StatementCells};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Sums of all prepared statements begin anew. W: TRUNCATE. R: sessions.
static EPOCH: AtomicU32 = AtomicU32::new(1);

/// TRUNCATE of prepared_statements_instances.
pub(crate) fn forget() {
    // Relaxed: an execution counts for the epoch that it finds.
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// One prepared statement. W: its session. R: anybody.
pub(crate) struct Instance {
    pub id: u32,
    /// Of SQL PREPARE.
    pub name: OnceLock<String>,
    /// Without passwords.
    pub text: String,
    /// The event that has prepared it.
    pub event_id: u64,
    /// The program that has prepared it: its kind, schema and name.
    pub owner: Option<(&'static str, String, String)>,
    prepare_ns: AtomicU64,
    reprepared: AtomicU64,
    epoch: AtomicU32,
    sums: StatementCells,
}

impl Instance {
    pub fn new(id: u32, text: String, event_id: u64, owner: Option<(&'static str, String, String)>) -> Instance {
        Instance {
            id,
            name: OnceLock::new(),
            text,
            event_id,
            owner,
            prepare_ns: AtomicU64::new(0),
            reprepared: AtomicU64::new(0),
            epoch: AtomicU32::new(0),
            sums: StatementCells::default(),
        }
    }

    /// It was prepared in this time. For the session.
    pub fn prepared(&self, took_ns: u64) {
        self.begin();
        // Relaxed: single writer.
        self.prepare_ns.store(took_ns, Ordering::Relaxed);
    }

    #[inline]
    fn begin(&self) {
        // Relaxed: single writer, and see `forget`.
        let epoch = EPOCH.load(Ordering::Relaxed);
        if self.epoch.load(Ordering::Relaxed) != epoch {
            self.begin_anew(epoch);
        }
    }

    /// It was executed. `reprepared`: how often it was planned anew for that. For the session.
    #[inline]
    pub fn executed(&self, took_ns: Option<u64>, figures: &Figures, has_rare: bool, reprepared: u64) {
        self.begin();
        self.sums.add(took_ns, figures, has_rare);
        if reprepared > 0 {
            // Relaxed: single writer.
            let before = self.reprepared.load(Ordering::Relaxed);
            self.reprepared.store(before + reprepared, Ordering::Relaxed); // Relaxed: single writer
        }
    }

    #[cold]
    fn begin_anew(&self, epoch: u32) {
        self.sums.clear();
        // Relaxed: single writer.
        self.reprepared.store(0, Ordering::Relaxed);
        self.prepare_ns.store(0, Ordering::Relaxed); // Relaxed: as above
        // Release: pairs with Acquire in `row`: who sees the epoch sees that the sums began anew.
        self.epoch.store(epoch, Ordering::Release);
    }

    pub(super) fn row(&self, thread: u64) -> PreparedInstance {
        // Acquire: pairs with Release in `begin_anew`. Relaxed: a recent figure.
        let is_current = self.epoch.load(Ordering::Acquire) == EPOCH.load(Ordering::Relaxed);
        // Relaxed: a recent figure.
        let count = |word: &AtomicU64| if is_current { word.load(Ordering::Relaxed) } else { 0 };
        PreparedInstance {
            address: std::ptr::from_ref(self) as u64,
            id: self.id.into(),
            name: self.name.get().cloned(),
            text: self.text.clone(),
            thread,
            event_id: self.event_id,
            owner: self.owner.clone(),
            prepare_ns: count(&self.prepare_ns),
            reprepared: count(&self.reprepared),
            totals: if is_current { self.sums.totals() } else { Default::default() },
        }
    }
}
