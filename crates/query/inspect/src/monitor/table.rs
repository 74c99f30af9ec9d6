//! The metrics of INNODB_METRICS under MySQL's names, and where each reads. Those of what this engine does not have (change buffer,
//! adaptive hash index, latches that spin, lists of young and old pages) are left out.

use observe::Histogram;

/// TYPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    /// A counter that a status variable shows too.
    StatusCounter,
    /// A figure of the moment.
    Value,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::StatusCounter => "status_counter",
            Kind::Value => "value",
        }
    }
}

/// Where a metric reads.
#[derive(Clone, Copy)]
pub(super) enum Figure {
    /// The status variable of this name.
    Status(&'static str),
    Engine(fn(&engine::Figures) -> u64),
    /// Flushes of the log: nanoseconds, shown as milliseconds.
    Flush(fn(&Histogram) -> u64),
    Process(fn(&io::Usage) -> u64),
    Processors,
}

pub(super) struct Metric {
    pub name: &'static str,
    pub subsystem: &'static str,
    pub module: &'static str,
    pub kind: Kind,
    /// Is it on when the server begins?
    pub on: bool,
    pub figure: Figure,
    pub comment: &'static str,
}

/// Names of groups of metrics, those included that have no member here.
pub(super) const MODULES: [&str; 22] = [
    "module_metadata",
    "module_lock",
    "module_buffer",
    "module_buf_page",
    "module_os",
    "module_trx",
    "module_purge",
    "module_undo",
    "module_log",
    "module_compress",
    "module_index",
    "module_adaptive_hash",
    "module_file",
    "module_ibuf_system",
    "module_srv",
    "module_dml",
    "module_sampling",
    "module_ddl",
    "module_icp",
    "module_cpu",
    "module_page_track",
    "module_dblwr",
];

const fn metric(
    name: &'static str,
    (subsystem, module): (&'static str, &'static str),
    (kind, on): (Kind, bool),
    figure: Figure,
    comment: &'static str,
) -> Metric {
    Metric { name, subsystem, module, kind, on, figure, comment }
}

const LOCK: (&str, &str) = ("lock", "module_lock");
const BUFFER: (&str, &str) = ("buffer", "module_buffer");
const OS: (&str, &str) = ("os", "module_os");
const FILE_SYSTEM: (&str, &str) = ("file_system", "module_file");
const TRX: (&str, &str) = ("transaction", "module_trx");
const PURGE: (&str, &str) = ("purge", "module_purge");
const LOG: (&str, &str) = ("log", "module_log");
const INDEX: (&str, &str) = ("index", "module_index");
const SERVER: (&str, &str) = ("server", "module_srv");
const DML: (&str, &str) = ("dml", "module_dml");
const CPU: (&str, &str) = ("cpu", "module_cpu");

const COUNTER: (Kind, bool) = (Kind::Counter, true);
const COUNTER_OFF: (Kind, bool) = (Kind::Counter, false);
const STATUS: (Kind, bool) = (Kind::StatusCounter, true);
const STATUS_OFF: (Kind, bool) = (Kind::StatusCounter, false);
const VALUE: (Kind, bool) = (Kind::Value, true);
const VALUE_OFF: (Kind, bool) = (Kind::Value, false);

use Figure::{Engine, Flush, Process, Processors, Status};

/// In MySQL's order.
pub(super) static METRICS: &[Metric] = &[
    metric("lock_deadlocks", LOCK, COUNTER, Status("Innodb_deadlocks"), "Deadlocks that were broken"),
    metric(
        "lock_threads_waiting",
        LOCK,
        VALUE,
        Status("Innodb_row_lock_current_waits"),
        "Sessions that wait for a lock",
    ),
    metric(
        "lock_timeouts",
        LOCK,
        COUNTER,
        Status("Clearway_row_lock_timeouts"),
        "Waits for locks that lasted too long",
    ),
    metric("lock_rec_lock_waits", LOCK, COUNTER_OFF, Status("Innodb_row_lock_waits"), "Waits for row locks"),
    metric(
        "lock_row_lock_current_waits",
        LOCK,
        (Kind::StatusCounter, true),
        Status("Innodb_row_lock_current_waits"),
        "Row locks that are waited for now (innodb_row_lock_current_waits)",
    ),
    metric(
        "lock_row_lock_time",
        LOCK,
        STATUS,
        Status("Innodb_row_lock_time"),
        "Milliseconds of waits for row locks (innodb_row_lock_time)",
    ),
    metric(
        "lock_row_lock_time_max",
        LOCK,
        VALUE,
        Status("Innodb_row_lock_time_max"),
        "The longest wait for a row lock, in milliseconds (innodb_row_lock_time_max)",
    ),
    metric(
        "lock_row_lock_waits",
        LOCK,
        STATUS,
        Status("Innodb_row_lock_waits"),
        "Waits for row locks (innodb_row_lock_waits)",
    ),
    metric(
        "lock_row_lock_time_avg",
        LOCK,
        VALUE,
        Status("Innodb_row_lock_time_avg"),
        "An average wait for a row lock, in milliseconds (innodb_row_lock_time_avg)",
    ),
    metric(
        "buffer_pool_size",
        ("server", "module_buffer"),
        VALUE,
        Engine(|f| f.pool_bytes),
        "Bytes of the buffer pool",
    ),
    metric(
        "buffer_pool_reads",
        BUFFER,
        STATUS,
        Status("Innodb_buffer_pool_reads"),
        "Pages that were read because they were not in memory",
    ),
    metric(
        "buffer_pool_read_requests",
        BUFFER,
        STATUS,
        Status("Innodb_buffer_pool_read_requests"),
        "Pages that were asked for",
    ),
    metric(
        "buffer_pool_write_requests",
        BUFFER,
        STATUS,
        Status("Innodb_buffer_pool_write_requests"),
        "Pages that were changed",
    ),
    metric("buffer_pool_wait_free", BUFFER, STATUS, Status("Innodb_buffer_pool_wait_free"), "Waits for a free frame"),
    metric(
        "buffer_pool_read_ahead",
        BUFFER,
        STATUS,
        Status("Innodb_buffer_pool_read_ahead"),
        "Pages that were read ahead",
    ),
    metric(
        "buffer_pool_read_ahead_evicted",
        BUFFER,
        STATUS,
        Status("Innodb_buffer_pool_read_ahead_evicted"),
        "Pages that were read ahead and evicted unused",
    ),
    metric(
        "buffer_pool_pages_total",
        BUFFER,
        VALUE,
        Status("Innodb_buffer_pool_pages_total"),
        "Frames of the buffer pool",
    ),
    metric("buffer_pool_pages_data", BUFFER, VALUE, Status("Innodb_buffer_pool_pages_data"), "Frames that hold a page"),
    metric(
        "buffer_pool_bytes_data",
        BUFFER,
        VALUE,
        Status("Innodb_buffer_pool_bytes_data"),
        "Bytes of frames that hold a page",
    ),
    metric(
        "buffer_pool_pages_dirty",
        BUFFER,
        VALUE,
        Status("Innodb_buffer_pool_pages_dirty"),
        "Pages that are to be written",
    ),
    metric(
        "buffer_pool_bytes_dirty",
        BUFFER,
        VALUE,
        Status("Innodb_buffer_pool_bytes_dirty"),
        "Bytes of pages that are to be written",
    ),
    metric(
        "buffer_pool_pages_free",
        BUFFER,
        VALUE,
        Status("Innodb_buffer_pool_pages_free"),
        "Frames that hold nothing",
    ),
    metric("buffer_pages_created", BUFFER, STATUS, Status("Innodb_pages_created"), "Pages that were made"),
    metric("buffer_pages_written", BUFFER, STATUS, Status("Innodb_pages_written"), "Pages that were written"),
    metric("buffer_pages_read", BUFFER, STATUS, Status("Innodb_pages_read"), "Pages that were read"),
    metric("buffer_data_reads", BUFFER, STATUS, Status("Innodb_data_read"), "Bytes that were read"),
    metric("buffer_data_written", BUFFER, STATUS, Status("Innodb_data_written"), "Bytes that were written"),
    metric("os_data_reads", OS, STATUS, Status("Innodb_data_reads"), "Reads of files"),
    metric("os_data_writes", OS, STATUS, Status("Innodb_data_writes"), "Writes to files"),
    metric("os_data_fsyncs", OS, STATUS, Status("Innodb_data_fsyncs"), "Flushes of files"),
    metric("os_pending_reads", OS, VALUE_OFF, Engine(|f| f.reads_pending), "Runs of pages that are to be read ahead"),
    metric(
        "os_pending_writes",
        OS,
        VALUE_OFF,
        Engine(|f| f.writes_pending),
        "Batches of pages that writers are called to",
    ),
    metric("os_log_bytes_written", OS, STATUS, Status("Innodb_os_log_written"), "Bytes that were written to the log"),
    metric("os_log_fsyncs", OS, STATUS, Status("Innodb_os_log_fsyncs"), "Flushes of the log"),
    metric("os_log_pending_fsyncs", OS, STATUS, Status("Innodb_os_log_pending_fsyncs"), "Flushes of the log that last"),
    metric("os_log_pending_writes", OS, STATUS, Status("Innodb_os_log_pending_writes"), "Writes of the log that last"),
    metric("file_num_open_files", FILE_SYSTEM, VALUE, Status("Innodb_num_open_files"), "Files that are open"),
    metric(
        "trx_rw_commits",
        TRX,
        COUNTER_OFF,
        Status("Clearway_trx_rw_commits"),
        "Commits of transactions that have written",
    ),
    metric(
        "trx_rollbacks",
        TRX,
        COUNTER_OFF,
        Status("Clearway_trx_rollbacks"),
        "Rollbacks of transactions that have written",
    ),
    metric(
        "trx_active_transactions",
        TRX,
        VALUE_OFF,
        Engine(|f| f.writers),
        "Transactions that have written and are open",
    ),
    metric(
        "trx_rseg_history_len",
        TRX,
        VALUE,
        Status("Innodb_history_list_length"),
        "Transactions whose undo is not purged",
    ),
    metric("purge_invoked", PURGE, COUNTER_OFF, Engine(|f| f.purge_rounds), "Calls of the workers of purge"),
    metric("log_lsn_last_flush", LOG, VALUE_OFF, Engine(|f| f.log.flushed), "Up to here the log is durable"),
    metric("log_lsn_last_checkpoint", LOG, VALUE_OFF, Engine(|f| f.log.checkpoint), "Where recovery would begin"),
    metric("log_lsn_current", LOG, VALUE_OFF, Engine(|f| f.log.assigned), "Where the log ends"),
    metric(
        "log_lsn_checkpoint_age",
        LOG,
        VALUE_OFF,
        Engine(|f| f.log.assigned.saturating_sub(f.log.checkpoint)),
        "Bytes of log since the checkpoint",
    ),
    metric(
        "log_lsn_buf_pool_oldest_approx",
        LOG,
        VALUE_OFF,
        Engine(|f| f.log.oldest_dirty),
        "The oldest change that is not in the data file",
    ),
    metric("log_waits", LOG, STATUS, Status("Innodb_log_waits"), "Waits for room in the log's buffer"),
    metric(
        "log_write_requests",
        LOG,
        STATUS,
        Status("Innodb_log_write_requests"),
        "Groups that were appended to the log",
    ),
    metric("log_writes", LOG, STATUS, Status("Innodb_log_writes"), "Writes of the log"),
    metric("log_flush_total_time", LOG, COUNTER_OFF, Flush(|h| h.sum_ns()), "Milliseconds of flushes of the log"),
    metric(
        "log_flush_max_time",
        LOG,
        VALUE_OFF,
        Flush(|h| h.max_ns()),
        "The longest flush of the log, in milliseconds",
    ),
    metric(
        "log_flush_avg_time",
        LOG,
        VALUE_OFF,
        Flush(|h| h.sum_ns().checked_div(h.count()).unwrap_or(0)),
        "An average flush of the log, in milliseconds",
    ),
    metric(
        "log_free_space",
        LOG,
        VALUE_OFF,
        Engine(|f| f.log.capacity.saturating_sub(f.log.used)),
        "Bytes that the log may still grow by",
    ),
    metric("index_page_splits", INDEX, COUNTER_OFF, Status("Clearway_page_splits"), "Pages that were split"),
    metric(
        "index_page_merge_successful",
        INDEX,
        COUNTER_OFF,
        Status("Clearway_page_merges"),
        "Pages that were merged with a neighbour",
    ),
    metric("innodb_dblwr_writes", SERVER, STATUS, Status("Innodb_dblwr_writes"), "Writes to the doublewrite file"),
    metric(
        "innodb_dblwr_pages_written",
        SERVER,
        STATUS,
        Status("Innodb_dblwr_pages_written"),
        "Pages that were written to the doublewrite file",
    ),
    metric("innodb_page_size", SERVER, VALUE, Status("Innodb_page_size"), "Bytes of a page"),
    metric("dml_reads", DML, STATUS_OFF, Status("Innodb_rows_read"), "Rows that were read"),
    metric("dml_inserts", DML, STATUS, Status("Innodb_rows_inserted"), "Rows that were inserted"),
    metric("dml_deletes", DML, STATUS, Status("Innodb_rows_deleted"), "Rows that were deleted"),
    metric("dml_updates", DML, STATUS, Status("Innodb_rows_updated"), "Rows that were updated"),
    metric(
        "cpu_utime_abs",
        CPU,
        COUNTER_OFF,
        Process(|u| u.user_us / 1_000_000),
        "Seconds of processors in the server's own code",
    ),
    metric(
        "cpu_stime_abs",
        CPU,
        COUNTER_OFF,
        Process(|u| u.system_us / 1_000_000),
        "Seconds of processors in the kernel",
    ),
    metric("cpu_n", CPU, VALUE_OFF, Processors, "Processors"),
];
