//! What the logs know of the statement at hand.

use observe::Counter;

/// Counters that the slow log tells of.
pub(crate) const COUNTED: [Counter; 14] = [
    Counter::HandlerReadFirst,
    Counter::HandlerReadLast,
    Counter::HandlerReadKey,
    Counter::HandlerReadNext,
    Counter::HandlerReadPrev,
    Counter::HandlerReadRnd,
    Counter::HandlerReadRndNext,
    Counter::SortMergePasses,
    Counter::SortRows,
    Counter::SortScan,
    Counter::CreatedTmpDiskTables,
    Counter::CreatedTmpTables,
    Counter::InnodbRowsRead,
    Counter::InnodbRowLockTime,
];

/// The statement at hand, as far as the logs are concerned.
#[derive(Default)]
pub(crate) struct Progress {
    /// When it began, on the scale of [`now_ns`](observe::clock::now_ns).
    pub began_ns: u64,
    /// Rows sent.
    pub sent: u64,
    /// The session's counts when it began; `None`: no log wanted any.
    pub base: Option<Box<[u64; COUNTED.len()]>>,
    /// Bytes of answers before it.
    pub answered: u64,
    /// The command that it came with; empty: it is not known yet.
    pub command: &'static str,
    /// As the logs show it; empty: the slow log wants no entry of it.
    pub text: Vec<u8>,
    /// It reads a whole table or index, by its plan.
    pub uses_no_index: bool,
    /// ALTER TABLE, ANALYZE TABLE, ...: see `log_slow_admin_statements`.
    pub is_admin: bool,
    /// With `profiling`.
    pub is_profiled: bool,
}
