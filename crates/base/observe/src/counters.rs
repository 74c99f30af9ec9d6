//! The counters known at compile time, under the names that `SHOW GLOBAL STATUS` prints.

/// A counter's place in every lane: a [`Counter`], or one registered by name at start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub(crate) u16);

impl CounterId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Known when it is compiled, where the counter is.
    #[inline]
    pub(crate) fn is_rare(self) -> bool {
        Counter::RARE.contains(&self.0)
    }
}

impl From<Counter> for CounterId {
    #[inline]
    fn from(counter: Counter) -> CounterId {
        CounterId(counter as u16)
    }
}

/// Makes the enum and its table of names from one list.
macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A counter that never falls. The variant is MySQL's name in camel case; units are in the text where not "times".
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Counter {
            $($(#[$doc])* #[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Counter {
            /// All of them, in the order of their places in a lane.
            pub const ALL: &'static [Counter] = &[$(Counter::$variant,)*];

            /// The name in `SHOW STATUS`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Counter::$variant => $name,)*
                }
            }
        }
    };
}

counters! {
    /// Statements sent by clients.
    Questions = "Questions",
    /// Statements executed, those within stored programs too.
    Queries = "Queries",
    /// Bytes read from clients.
    BytesReceived = "Bytes_received",
    /// Bytes written to clients.
    BytesSent = "Bytes_sent",
    /// Connection attempts, successful or not.
    Connections = "Connections",
    /// Connections that ended without COM_QUIT.
    AbortedClients = "Aborted_clients",
    /// Attempts to connect that failed.
    AbortedConnects = "Aborted_connects",
    /// Attempts to log in as an account that is locked.
    LockedConnects = "Locked_connects",
    /// Reads of the deprecated process list, by SHOW PROCESSLIST too.
    DeprecatedProcesslist = "Deprecated_use_i_s_processlist_count",
    ConnectionErrorsAccept = "Connection_errors_accept",
    ConnectionErrorsInternal = "Connection_errors_internal",
    ConnectionErrorsMaxConnections = "Connection_errors_max_connections",
    ConnectionErrorsPeerAddress = "Connection_errors_peer_address",
    ConnectionErrorsSelect = "Connection_errors_select",
    SlowQueries = "Slow_queries",
    /// Statements that ended by a panic, with error 1815.
    StatementsPanicked = "Clearway_statements_panicked",
    ThreadsCreated = "Threads_created",
    /// FLUSH TABLES, and what is done like it.
    FlushCommands = "Flush_commands",
    CreatedTmpDiskTables = "Created_tmp_disk_tables",
    CreatedTmpTables = "Created_tmp_tables",
    SelectFullJoin = "Select_full_join",
    SelectFullRangeJoin = "Select_full_range_join",
    SelectRange = "Select_range",
    SelectScan = "Select_scan",
    SortMergePasses = "Sort_merge_passes",
    SortRows = "Sort_rows",
    SortScan = "Sort_scan",
    /// Milliseconds spent waiting for row locks.
    InnodbRowLockTime = "Innodb_row_lock_time",
    CreatedTmpFiles = "Created_tmp_files",
    /// Statements with a deadline.
    MaxExecutionTimeSet = "Max_execution_time_set",
    MaxExecutionTimeExceeded = "Max_execution_time_exceeded",
    HandlerCommit = "Handler_commit",
    HandlerDelete = "Handler_delete",
    HandlerExternalLock = "Handler_external_lock",
    HandlerMrrInit = "Handler_mrr_init",
    HandlerPrepare = "Handler_prepare",
    /// Reads of the first entry of an index.
    HandlerReadFirst = "Handler_read_first",
    /// Reads of a row by key.
    HandlerReadKey = "Handler_read_key",
    HandlerReadLast = "Handler_read_last",
    /// Steps forward in key order.
    HandlerReadNext = "Handler_read_next",
    /// Steps backward in key order.
    HandlerReadPrev = "Handler_read_prev",
    /// Reads of a row by position.
    HandlerReadRnd = "Handler_read_rnd",
    /// Steps of a table scan.
    HandlerReadRndNext = "Handler_read_rnd_next",
    HandlerRollback = "Handler_rollback",
    HandlerSavepoint = "Handler_savepoint",
    HandlerSavepointRollback = "Handler_savepoint_rollback",
    HandlerUpdate = "Handler_update",
    HandlerWrite = "Handler_write",
    InnodbRowsDeleted = "Innodb_rows_deleted",
    InnodbRowsInserted = "Innodb_rows_inserted",
    InnodbRowsRead = "Innodb_rows_read",
    InnodbRowsUpdated = "Innodb_rows_updated",
    /// Logical page reads.
    InnodbBufferPoolReadRequests = "Innodb_buffer_pool_read_requests",
    /// Page reads that went to disk.
    InnodbBufferPoolReads = "Innodb_buffer_pool_reads",
    InnodbBufferPoolReadAhead = "Innodb_buffer_pool_read_ahead",
    /// Pages read ahead because much of their extent was in memory.
    InnodbBufferPoolReadAheadRnd = "Innodb_buffer_pool_read_ahead_rnd",
    /// Pages that were read ahead and evicted before anybody used them.
    InnodbBufferPoolReadAheadEvicted = "Innodb_buffer_pool_read_ahead_evicted",
    /// Pages that were changed, once for each change that is one in the log.
    InnodbBufferPoolWriteRequests = "Innodb_buffer_pool_write_requests",
    InnodbBufferPoolWaitFree = "Innodb_buffer_pool_wait_free",
    InnodbBufferPoolPagesFlushed = "Innodb_buffer_pool_pages_flushed",
    /// Flushes of data files and log.
    InnodbDataFsyncs = "Innodb_data_fsyncs",
    /// Bytes read from data files.
    InnodbDataRead = "Innodb_data_read",
    /// Reads from data files.
    InnodbDataReads = "Innodb_data_reads",
    /// Writes to data files and log.
    InnodbDataWrites = "Innodb_data_writes",
    /// Bytes written to data files and log.
    InnodbDataWritten = "Innodb_data_written",
    /// Deadlocks found among row locks, a victim each.
    InnodbDeadlocks = "Innodb_deadlocks",
    InnodbDblwrPagesWritten = "Innodb_dblwr_pages_written",
    InnodbDblwrWrites = "Innodb_dblwr_writes",
    InnodbLogWaits = "Innodb_log_waits",
    InnodbLogWriteRequests = "Innodb_log_write_requests",
    InnodbLogWrites = "Innodb_log_writes",
    /// Flushes of the log.
    InnodbOsLogFsyncs = "Innodb_os_log_fsyncs",
    /// Bytes written to the log.
    InnodbOsLogWritten = "Innodb_os_log_written",
    InnodbPagesCreated = "Innodb_pages_created",
    InnodbPagesRead = "Innodb_pages_read",
    InnodbPagesWritten = "Innodb_pages_written",
    /// Reports of SHOW ENGINE INNODB STATUS that left transactions out.
    InnodbTruncatedStatusWrites = "Innodb_truncated_status_writes",
    InnodbRowLockWaits = "Innodb_row_lock_waits",
    /// Waits for row locks that ended with error 1205.
    RowLockTimeouts = "Clearway_row_lock_timeouts",
    /// Commits and rollbacks of transactions that have written.
    TrxRwCommits = "Clearway_trx_rw_commits",
    TrxRollbacks = "Clearway_trx_rollbacks",
    PageSplits = "Clearway_page_splits",
    PageMerges = "Clearway_page_merges",
    BinlogCacheUse = "Binlog_cache_use",
    BinlogCacheDiskUse = "Binlog_cache_disk_use",
    BinlogStmtCacheUse = "Binlog_stmt_cache_use",
    BinlogStmtCacheDiskUse = "Binlog_stmt_cache_disk_use",
}

impl Counter {
    /// Whatever adds to one of these tells [`RARE`](crate::RARE): they are figures of statements that few statements have.
    pub(crate) const RARE: std::ops::RangeInclusive<u16> =
        Counter::CreatedTmpDiskTables as u16..=Counter::InnodbRowLockTime as u16;
}
