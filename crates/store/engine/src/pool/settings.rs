//! What can be changed about the buffer pool while the server runs: MySQL's variables, by their names without `innodb_`.

/// The fields are the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolSettings {
    /// Pages a second that the cleaner writes in the background, and the most it writes under pressure.
    pub io_capacity: u64,
    pub io_capacity_max: u64,
    /// Share of dirty pages that is not to be exceeded, and that from which on pages are written for its sake (0: off).
    pub max_dirty_pages_pct: f64,
    pub max_dirty_pages_pct_lwm: f64,
    /// Does the pace follow from the age of the log from `adaptive_flushing_lwm` percent of its capacity on?
    pub adaptive_flushing: bool,
    pub adaptive_flushing_lwm: u64,
    /// Seconds over which rates are averaged.
    pub flushing_avg_loops: u64,
    /// 0: only what is due; 1: with it dirty pages next to it, 2: all dirty pages of its extent.
    pub flush_neighbors: u64,
    /// Share of `io_capacity` that an idle server writes, in percent.
    pub idle_flush_pct: u64,
    /// Frames that are kept free ahead of need, a sixteenth of all at most.
    pub lru_scan_depth: u64,
    /// Share of the frames, in percent, that new pages pass through unless they are used again, and the milliseconds for
    /// which the use of a new page does not count.
    pub old_blocks_pct: u64,
    pub old_blocks_time: u64,
    /// Leaves that a scan reads one after the other before further ones are read ahead; 0: never.
    pub read_ahead_threshold: u64,
    /// Is the rest of an extent read when thirteen of its pages are in memory?
    pub random_read_ahead: bool,
    /// May the pace go beyond `io_capacity_max` when the log is full?
    pub flush_sync: bool,
    /// Are pages part of a core dump of the process?
    pub in_core_file: bool,
}

impl Default for PoolSettings {
    fn default() -> PoolSettings {
        PoolSettings {
            io_capacity: 10_000,
            io_capacity_max: 20_000,
            max_dirty_pages_pct: 90.0,
            max_dirty_pages_pct_lwm: 10.0,
            adaptive_flushing: true,
            adaptive_flushing_lwm: 10,
            flushing_avg_loops: 30,
            flush_neighbors: 0,
            idle_flush_pct: 100,
            lru_scan_depth: 1024,
            old_blocks_pct: 37,
            old_blocks_time: 1000,
            read_ahead_threshold: 56,
            random_read_ahead: false,
            flush_sync: true,
            in_core_file: false,
        }
    }
}
