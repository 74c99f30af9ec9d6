//! A session and the binary log: what its transactions put into the log beside their changes, and the statements about its files.
//!
//! Rows go there as they are written ([`run`]), statements that define something when they commit, and the end of a transaction
//! right before it: all in the events of the engine's transaction, so there is nothing to hold or to wait for.

use crate::gtids::{ENFORCE_GTIDS, ENFORCE_ON, GTID_MODE, MODE_ON, numbers};
use crate::variables::{Globals, Val, VarId, id};
use binlog::Binlog;
use binlog::event::{self, Kind, Query};
use binlog::payload::{self, Commit, Numbering};
use binlog::statistics::{Measured, Tally};
use catalog::Table;
use engine::{Engine, Transaction};
use sql::ast::{CreateTable, CreateTableBody, Parsed, Statement};
use types::codes::*;
use types::gtid::Tag;
use types::{Result, SqlError, err};

pub(crate) const ROW_VALUES: VarId = id("binlog_row_value_options");
pub(crate) const ENCRYPTION: VarId = id("binlog_encryption");
pub(crate) const SERVER_ID: VarId = id("server_id");
pub(crate) const LOG_BIN: VarId = id("log_bin");
/// Of the server, and of utf8mb4 where none is named.
pub(crate) const COLLATIONS: [VarId; 2] = [id("collation_server"), id("default_collation_for_utf8mb4")];

/// Texts of statements are kept in utf8mb4 whatever the client sends.
pub(crate) const UTF8MB4_GENERAL_CI: u16 = 45;

/// No space left on device.
pub(crate) const ENOSPC: u32 = 28;

/// An error of the binary log for a client. Errors 1236, 1317, 1373, 1026, 1053.
pub(crate) fn binlog_error(e: binlog::Error) -> SqlError {
    match e {
        binlog::Error::UnknownFile => err!(ER_UNKNOWN_TARGET_BINLOG),
        binlog::Error::Interrupted => err!(ER_QUERY_INTERRUPTED),
        binlog::Error::Stopped => err!(ER_SERVER_SHUTDOWN),
        binlog::Error::Keys(_) => err!(ER_BINLOG_MASTER_KEY_ROTATION_FAIL_TO_OPERATE_KEY),
        binlog::Error::DiskFull => err!(ER_ERROR_ON_WRITE, "binlog", ENOSPC, "No space left on device"),
        other => err!(ER_ERROR_ON_WRITE, "binlog", 5, other),
    }
}

/// What of its session a statement that defines something goes by, beside its text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reads {
    /// The time zone, and what TIMESTAMP columns are where nothing is said of them.
    pub times: bool,
    /// Has a table to have a primary key?
    pub primary_key: bool,
}

impl Reads {
    pub fn of(parsed: &Parsed) -> Reads {
        const TIMESTAMP: &[u8] = b"timestamp";
        let is_told = |create: &CreateTable| matches!(create.body, CreateTableBody::Columns { select: None, .. });
        let names_one = || parsed.source().windows(TIMESTAMP.len()).any(|w| w.eq_ignore_ascii_case(TIMESTAMP));
        match &parsed.statement {
            // Of a table LIKE another one, or AS a query, the columns are not in the text.
            Statement::CreateTable(create) => Reads { times: !is_told(create) || names_one(), primary_key: true },
            Statement::AlterTable(_) => Reads { times: true, primary_key: true },
            // The times of a schedule.
            Statement::CreateEvent(_) | Statement::AlterEvent(_) => Reads { times: true, primary_key: false },
            Statement::CreateIndex(_) => Reads { times: true, primary_key: false },
            _ => Reads::default(),
        }
    }
}

/// What a transaction's events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoggedAs {
    Rows,
    /// Of tables that are not transactional: never compressed, as in MySQL.
    RowsBeside,
    Statement,
    /// CREATE TABLE ... SELECT
    Both,
}

/// Errors 1779, 1788, 3111 of the variables that decide about GTIDs.
pub(crate) fn may_set(globals: &Globals, id: VarId, new: &Val) -> Result<()> {
    match id {
        GTID_MODE => {
            if globals.uint(GTID_MODE).abs_diff(new.uint()) > 1 {
                return Err(err!(ER_GTID_MODE_CAN_ONLY_CHANGE_ONE_STEP_AT_A_TIME));
            }
            if new.uint() == MODE_ON && globals.uint(ENFORCE_GTIDS) != ENFORCE_ON {
                let why = "ENFORCE_GTID_CONSISTENCY is not ON";
                return Err(err!(ER_CANT_SET_GTID_MODE, "ON", why));
            }
            Ok(())
        }
        ENFORCE_GTIDS if globals.uint(GTID_MODE) == MODE_ON && new.uint() != ENFORCE_ON => {
            Err(err!(ER_GTID_MODE_ON_REQUIRES_ENFORCE_GTID_CONSISTENCY_ON))
        }
        _ => Ok(()),
    }
}

/// The same at start. An error is one line for stderr.
pub fn check_options(globals: &Globals) -> std::result::Result<(), String> {
    if globals.uint(GTID_MODE) == MODE_ON && globals.uint(ENFORCE_GTIDS) != ENFORCE_ON {
        return Err("GTID_MODE = ON requires ENFORCE_GTID_CONSISTENCY = ON.".to_string());
    }
    if globals.uint(GTID_MODE) != 0 && !globals.bool(LOG_BIN) {
        return Err("gtid_mode needs the binary log (--log-bin): transactions are numbered there".to_string());
    }
    Ok(())
}

/// What `performance_schema` says of compression: a line for each way that transactions have gone, all commits so far among them unless
/// the wait for them is interrupted.
pub(crate) fn compression_rows(binlog: &Binlog) -> Vec<inspect::BinlogCompression> {
    let _ = binlog.catch_up(sync::blocking::is_interrupted);
    let statistics = binlog.statistics();
    let one = |measured: Measured| inspect::CompressedTransaction {
        gtid: measured.gtid.map_or_else(|| "ANONYMOUS".to_string(), |gtid| gtid.to_string()),
        compressed_bytes: measured.compressed_bytes,
        events_bytes: measured.events_bytes,
        commit_us: measured.commit_us,
    };
    let row = |(compression, tally): (&'static str, Tally)| {
        Some(inspect::BinlogCompression {
            compression,
            transactions: tally.transactions,
            compressed_bytes: tally.compressed_bytes,
            events_bytes: tally.events_bytes,
            first: one(tally.first?),
            last: one(tally.last?),
        })
    };
    [("ZSTD", statistics.zstd), ("NONE", statistics.none)].into_iter().filter_map(row).collect()
}

/// A start has thrown away the rows of a table of engine MEMORY: replicas do so as well.
pub(crate) fn log_emptied(globals: &Globals, engine: &Engine, table: &Table, tx: &mut Transaction) -> Result<()> {
    let now_us = crate::clock::clock_us();
    let timestamp = (now_us / 1_000_000) as u32;
    let query = Query {
        thread_id: 0,
        database: &table.schema,
        sql_mode: 0,
        flags: 0,
        collations: [UTF8MB4_GENERAL_CI; 3],
        time_zone: "",
        microseconds: 0,
        invoker: None,
        utf8mb4_collation: 0,
        explicit_defaults: None,
        xid: None,
        any_database: false,
        require_primary_key: None,
        default_encryption: None,
    };
    let quote = |name: &str| format!("`{}`", name.replace('`', "``"));
    let text = format!("TRUNCATE TABLE {}.{} /* generated by server */", quote(&table.schema), quote(&table.name));
    payload::put_event(tx.events(), Kind::Query, 0, timestamp, &[&query.head(), text.as_bytes()])
        .map_err(catalog::error::engine)?;
    let commit = Commit {
        is_block: false,
        ends_itself: false,
        is_beside: false,
        has_statements: true,
        numbering: if numbers(globals) { Numbering::Automatic(Tag::default()) } else { Numbering::Anonymous },
        server_id: globals.uint(SERVER_ID) as u32,
        commit_us: now_us,
        original_us: 0,
        original_version: 0,
        prepared: engine.events_end(),
        timestamp,
        begin: Vec::new(),
    };
    commit.put(tx.events()).map_err(catalog::error::engine)
}

/// What a SET of a variable says is what the writer of the files does from now on.
pub fn settings(globals: &Globals) -> binlog::writer::Settings {
    const FILE_MAX: VarId = id("max_binlog_size");
    const CHECKSUM: VarId = id("binlog_checksum");
    const EXPIRE: VarId = id("binlog_expire_logs_seconds");
    const AUTO_PURGE: VarId = id("binlog_expire_logs_auto_purge");
    const HISTORY: VarId = id("binlog_transaction_dependency_history_size");
    let expires = globals.bool(AUTO_PURGE);
    binlog::writer::Settings {
        file_max: globals.uint(FILE_MAX),
        encrypts: globals.bool(ENCRYPTION),
        checksum: if globals.uint(CHECKSUM) == 0 { event::Checksum::None } else { event::Checksum::Crc32 },
        expire: std::time::Duration::from_secs(if expires { globals.uint(EXPIRE) } else { 0 }),
        history_max: globals.uint(HISTORY),
    }
}
