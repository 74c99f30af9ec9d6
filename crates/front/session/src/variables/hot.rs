//! What statements look at: a few of a session's variables, decoded once where they change.

use super::{Val, VarId, id};
use binlog::payload::{ROWS_NO_FOREIGN_KEYS, ROWS_RELAXED_UNIQUE, RowImage};
use engine::Isolation;
use std::time::Duration;
use types::charset::Charset;
use types::collation::CollationId;

const AUTOCOMMIT: VarId = id("autocommit");
const ISOLATION: VarId = id("transaction_isolation");
const READ_ONLY: VarId = id("transaction_read_only");
const SELECT_LIMIT: VarId = id("sql_select_limit");
const MAX_EXECUTION_TIME: VarId = id("max_execution_time");
const LONG_QUERY_TIME: VarId = id("long_query_time");
const PROFILING: VarId = id("profiling");
const OPTIMIZER_TRACE: VarId = id("optimizer_trace");
const LOCK_WAIT_TIMEOUT: VarId = id("lock_wait_timeout");
const TMP_TABLE_SIZE: VarId = id("tmp_table_size");
const MAX_HEAP_TABLE_SIZE: VarId = id("max_heap_table_size");
const BIG_TABLES: VarId = id("big_tables");
const SORT_BUFFER_SIZE: VarId = id("sort_buffer_size");
const MAX_SORT_LENGTH: VarId = id("max_sort_length");
const CLIENT: VarId = id("character_set_client");
const RESULTS: VarId = id("character_set_results");
const COLLATION: VarId = id("collation_connection");
const SQL_LOG_BIN: VarId = id("sql_log_bin");
const ROW_IMAGE: VarId = id("binlog_row_image");
const ROW_VALUES: VarId = id("binlog_row_value_options");
const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
const UNIQUE_CHECKS: VarId = id("unique_checks");

/// All that [`Hot::read`] reads.
const READ: [VarId; 22] = [
    LONG_QUERY_TIME,
    PROFILING,
    OPTIMIZER_TRACE,
    AUTOCOMMIT,
    ISOLATION,
    READ_ONLY,
    SELECT_LIMIT,
    MAX_EXECUTION_TIME,
    LOCK_WAIT_TIMEOUT,
    TMP_TABLE_SIZE,
    MAX_HEAP_TABLE_SIZE,
    BIG_TABLES,
    SORT_BUFFER_SIZE,
    MAX_SORT_LENGTH,
    CLIENT,
    RESULTS,
    COLLATION,
    SQL_LOG_BIN,
    ROW_IMAGE,
    ROW_VALUES,
    FOREIGN_KEY_CHECKS,
    UNIQUE_CHECKS,
];

/// Variables that every statement reads, decoded: the fields are theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hot {
    pub autocommit: bool,
    pub isolation: Isolation,
    /// `transaction_read_only`.
    pub read_only: bool,
    /// `sql_select_limit`.
    pub select_limit: u64,
    /// 0: no limit.
    pub max_execution_time_ms: u64,
    /// `long_query_time`
    pub long_query_ns: u64,
    /// `optimizer_trace` has `enabled`.
    pub traces: bool,
    /// `profiling`
    pub profiles: bool,
    pub tmp_table_size: u64,
    /// The lesser of `tmp_table_size` and `max_heap_table_size`: bytes of a temporary table in memory;
    /// none under `big_tables`.
    pub tmp_memory: u64,
    pub sort_buffer_size: u64,
    pub max_sort_length: u64,
    /// For metadata; rows have `innodb_lock_wait_timeout`.
    pub lock_wait_timeout: Duration,
    /// Statements come in this character set.
    pub client: Charset,
    /// Results are converted to this one; `None`: they go out as they are.
    pub results: Option<Charset>,
    /// The collation of string literals.
    pub literals: CollationId,
    /// `sql_log_bin`
    pub logs: bool,
    pub rows: LoggedRows,
}

/// How rows that are written go into the binary log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedRows {
    pub image: RowImage,
    /// `binlog_row_value_options=PARTIAL_JSON`
    pub partial_json: bool,
    /// Of row events.
    pub flags: u16,
}

/// A level by its place in `transaction_isolation`.
pub fn isolation_of(value: u64) -> Isolation {
    match value {
        0 => Isolation::ReadUncommitted,
        1 => Isolation::ReadCommitted,
        2 => Isolation::RepeatableRead,
        _ => Isolation::Serializable,
    }
}

impl Hot {
    /// Does anything here follow from this variable?
    pub(super) fn reads(id: VarId) -> bool {
        READ.contains(&id)
    }

    pub(super) fn read<'v>(get: impl Fn(VarId) -> &'v Val) -> Hot {
        let get = |id| {
            debug_assert!(Hot::reads(id));
            get(id)
        };
        let off = |id, flag| if get(id).bool() { 0 } else { flag };
        let charset = |id| Charset::by_name(get(id).text());
        Hot {
            autocommit: get(AUTOCOMMIT).bool(),
            isolation: isolation_of(get(ISOLATION).uint()),
            read_only: get(READ_ONLY).bool(),
            select_limit: get(SELECT_LIMIT).uint(),
            max_execution_time_ms: get(MAX_EXECUTION_TIME).uint(),
            profiles: get(PROFILING).bool(),
            traces: get(OPTIMIZER_TRACE).uint() & 1 != 0,
            long_query_ns: (get(LONG_QUERY_TIME).double() * 1e9) as u64,
            tmp_table_size: get(TMP_TABLE_SIZE).uint(),
            tmp_memory: match get(BIG_TABLES).bool() {
                true => 0,
                false => get(TMP_TABLE_SIZE).uint().min(get(MAX_HEAP_TABLE_SIZE).uint()),
            },
            sort_buffer_size: get(SORT_BUFFER_SIZE).uint(),
            max_sort_length: get(MAX_SORT_LENGTH).uint(),
            lock_wait_timeout: Duration::from_secs(get(LOCK_WAIT_TIMEOUT).uint()),
            client: charset(CLIENT).unwrap_or(Charset::Utf8mb4),
            results: charset(RESULTS).filter(|c| *c != Charset::Binary),
            literals: CollationId::by_name(get(COLLATION).text()).unwrap_or(CollationId::UTF8MB4_0900_AI_CI),
            logs: get(SQL_LOG_BIN).bool(),
            rows: LoggedRows {
                image: match get(ROW_IMAGE).uint() {
                    0 => RowImage::Minimal,
                    1 => RowImage::NoBlob,
                    _ => RowImage::Full,
                },
                partial_json: get(ROW_VALUES).uint() == 1,
                flags: off(FOREIGN_KEY_CHECKS, ROWS_NO_FOREIGN_KEYS) | off(UNIQUE_CHECKS, ROWS_RELAXED_UNIQUE),
            },
        }
    }
}
