//! A session and the binary log: what its transactions put into the log beside their changes, and the statements about its files.
//!
//! Rows go there as they are written ([`run`]), statements that define something when they commit, and the end of a transaction
//! right before it: all in the events of the engine's transaction, so there is nothing to hold or to wait for.

use crate::gtids::{ENFORCE_GTIDS, ENFORCE_ON, GTID_MODE, MODE_ON, numbers};
use crate::state::State;
use crate::variables::{Globals, Val, VarId, id};
use binlog::event::{self, FLAG_SUPPRESS_USE, Kind, Query, XaId};
use binlog::payload::{self, Commit, Numbering, RowSettings};
use binlog::statistics::{Measured, Tally};
use binlog::{Binlog, compress};
use catalog::Table;
use engine::{Engine, Transaction};
use expr::Env;
use observe::Counter;
use sql::ast::{CreateTable, CreateTableBody, Parsed, Statement};
use std::sync::Arc;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::gtid::Tag;
use types::{Result, SqlError, err};

const ROW_IMAGE: VarId = id("binlog_row_image");
const ROW_METADATA: VarId = id("binlog_row_metadata");
const ROWS_QUERY: VarId = id("binlog_rows_query_log_events");
pub(crate) const ROW_VALUES: VarId = id("binlog_row_value_options");
const COMPRESSION: VarId = id("binlog_transaction_compression");
const COMPRESSION_LEVEL: VarId = id("binlog_transaction_compression_level_zstd");
const EVENT_MAX: VarId = id("binlog_row_event_max_size");
const CACHE_SIZE: VarId = id("binlog_cache_size");
pub(crate) const ENCRYPTION: VarId = id("binlog_encryption");
const TMPDIR: VarId = id("tmpdir");
const CACHE_MAX: VarId = id("max_binlog_cache_size");
const STATEMENT_CACHE_MAX: VarId = id("max_binlog_stmt_cache_size");
pub(crate) const SERVER_ID: VarId = id("server_id");
pub(crate) const LOG_BIN: VarId = id("log_bin");
const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
const UNIQUE_CHECKS: VarId = id("unique_checks");
const EXPLICIT_DEFAULTS: VarId = id("explicit_defaults_for_timestamp");
const REQUIRE_PRIMARY_KEY: VarId = id("sql_require_primary_key");
const DEFAULT_ENCRYPTION: VarId = id("default_table_encryption");
const TIME_ZONE: VarId = id("time_zone");
/// Of the server, and of utf8mb4 where none is named.
pub(crate) const COLLATIONS: [VarId; 2] = [id("collation_server"), id("default_collation_for_utf8mb4")];

/// Texts of statements are kept in utf8mb4 whatever the client sends.
const UTF8MB4_GENERAL_CI: u16 = 45;

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

impl State {
    /// The binary log, where this session's changes go there.
    #[inline]
    pub(crate) fn logs_to(&self) -> Option<&Arc<Binlog>> {
        self.server.binlog.as_ref().filter(|_| self.vars.hot().logs)
    }

    /// How rows of the statement at hand are logged, and how many bytes a transaction's may take.
    pub(crate) fn row_settings(&self, beside: bool) -> Option<(RowSettings, u64)> {
        self.logs_to()?;
        let (globals, rows) = (self.server.globals.load(), self.vars.hot().rows);
        let settings = RowSettings {
            timestamp: self.seconds(),
            event_max: globals.uint(EVENT_MAX).min(u64::from(u32::MAX)) as u32,
            image: rows.image,
            full_metadata: globals.uint(ROW_METADATA) == 1,
            partial_json: rows.partial_json,
            flags: rows.flags,
            text: self.keeps_text.then(|| self.text.clone()),
        };
        Some((settings, globals.uint(if beside { STATEMENT_CACHE_MAX } else { CACHE_MAX })))
    }

    /// Keeps the text of the statement at hand where its rows are to tell it.
    #[inline]
    pub(crate) fn note_text(&mut self, text: &[u8]) {
        if self.keeps_text {
            self.text.clear();
            self.text.extend_from_slice(text);
        }
    }

    /// The same of a statement that was parsed before.
    #[inline]
    pub(crate) fn note_source(&mut self, parsed: &Parsed) {
        if self.keeps_text {
            self.note_text(parsed.source());
        }
    }

    /// Is `binlog_rows_query_log_events` on?
    pub(crate) fn tells_text(&self) -> bool {
        self.server.binlog.is_some() && self.vars.bool(ROWS_QUERY)
    }

    /// The statement's time, seconds since 1970.
    fn seconds(&self) -> u32 {
        (self.now_us / 1_000_000) as u32
    }

    /// What statements' texts are in: the client's, as it has named it; those of others are kept in utf8mb4.
    fn text_collation(&self) -> u16 {
        if self.vars.hot().client != Charset::Utf8mb4 {
            return UTF8MB4_GENERAL_CI;
        }
        let named = self.results_collation.filter(|named| named.charset() == Charset::Utf8mb4);
        named.unwrap_or(CollationId::default_of(Charset::Utf8mb4)).0
    }

    fn query<'q>(&'q self, database: &'q str, defines: bool) -> Query<'q> {
        let off = |id, flag| if self.vars.bool(id) { 0 } else { flag };
        Query {
            thread_id: self.pseudo_thread_id as u32,
            database,
            sql_mode: self.sql_mode.0,
            flags: off(FOREIGN_KEY_CHECKS, event::NO_FOREIGN_KEY_CHECKS) | off(UNIQUE_CHECKS, event::NO_UNIQUE_CHECKS),
            collations: [self.text_collation(), self.vars.hot().literals.0, self.log_collations[0]],
            time_zone: if defines && self.log_reads.times { self.vars.text(TIME_ZONE) } else { "" },
            // What a definition puts into rows that there are.
            microseconds: if defines { self.now_us.rem_euclid(1_000_000) as u32 } else { 0 },
            invoker: if defines { self.current_user.rsplit_once('@') } else { None },
            utf8mb4_collation: self.log_collations[1],
            explicit_defaults: (defines && self.log_reads.times).then(|| self.vars.bool(EXPLICIT_DEFAULTS)),
            xid: None,
            any_database: defines,
            require_primary_key: (defines && self.log_reads.primary_key).then(|| self.vars.bool(REQUIRE_PRIMARY_KEY)),
            default_encryption: (defines && self.log_database.is_some()).then(|| self.vars.bool(DEFAULT_ENCRYPTION)),
        }
    }

    /// Puts a statement into the events of the transaction that does what it says.
    pub(crate) fn log_statement(&self, tx: &mut Transaction, text: &[u8]) -> Result<()> {
        let database = self.log_database.as_deref().or(self.database.as_deref());
        self.log_statement_in(database.unwrap_or(""), tx, text)
    }

    /// The same of a definition, which is made in this very transaction.
    pub(crate) fn log_definition(&self, tx: &mut Transaction, text: &[u8]) -> Result<()> {
        let database = self.log_database.as_deref().or(self.database.as_deref());
        self.put_statement(database.unwrap_or(""), tx, text, Some(self.server.engine.events_end()))
    }

    /// As [`State::log_statement`] where unqualified names are of this database.
    pub(crate) fn log_statement_in(&self, database: &str, tx: &mut Transaction, text: &[u8]) -> Result<()> {
        self.put_statement(database, tx, text, None)
    }

    fn put_statement(&self, database: &str, tx: &mut Transaction, text: &[u8], xid: Option<u64>) -> Result<()> {
        let mut body = Query { xid, ..self.query(database, true) }.head();
        body.extend_from_slice(text);
        // The database that is made or dropped is not used before.
        let flags = if self.log_database.is_some() { event::FLAG_SUPPRESS_USE } else { 0 };
        payload::put_event(tx.events(), Kind::Query, flags, self.seconds(), &[&body]).map_err(catalog::error::engine)
    }

    /// How much of a transaction's events stays in memory, and where the rest goes.
    pub(crate) fn bound_events(&self, tx: &mut Transaction) {
        if self.server.binlog.is_some() {
            let memory_max = self.server.globals.load().uint(CACHE_SIZE) as usize;
            tx.events().set_bounds(memory_max, self.vars.text(TMPDIR).into());
        }
    }

    /// Before an XA transaction is prepared, or committed in one phase: its end. False: the binary log has nothing of it.
    pub(crate) fn log_xa(&mut self, tx: &mut Transaction, id: &XaId, one_phase: bool) -> Result<bool> {
        if tx.events().is_empty() && !self.is_numbered() {
            return Ok(false);
        }
        let mut end = self.query("", false).head();
        end.extend_from_slice(format!("XA END {id}").as_bytes());
        let (seconds, last) = (self.seconds(), event::xa_prepare(id, one_phase));
        payload::put_event(tx.events(), Kind::Query, FLAG_SUPPRESS_USE, seconds, &[&end])
            .and_then(|()| payload::put_event(tx.events(), Kind::XaPrepare, 0, seconds, &[&last]))
            .map_err(catalog::error::engine)?;
        self.log_end_as(tx, LoggedAs::Rows, &format!("XA START {id}"), true)?;
        Ok(true)
    }

    /// Before a prepared transaction is decided: the statement that says so.
    pub(crate) fn log_xa_decision(&mut self, tx: &mut Transaction, text: &str) -> Result<()> {
        if self.logs_to().is_none() {
            return Ok(());
        }
        let mut body = self.query("", false).head();
        body.extend_from_slice(text.as_bytes());
        payload::put_event(tx.events(), Kind::Query, FLAG_SUPPRESS_USE, self.seconds(), &[&body])
            .map_err(catalog::error::engine)?;
        self.log_end(tx, LoggedAs::Statement)
    }

    /// A source's transaction has its number here too, whatever is left of it.
    fn is_numbered(&self) -> bool {
        self.applied.as_ref().is_some_and(|applied| applied.gtid().is_some()) && self.logs_to().is_some()
    }

    /// Before the commit of a transaction with events: what its end says.
    pub(crate) fn log_commit(&mut self, tx: &mut Transaction, kind: LoggedAs) -> Result<()> {
        if tx.events().is_empty() && !self.is_numbered() {
            return Ok(());
        }
        self.log_end(tx, kind)
    }

    /// Before a commit in a session that makes a source's changes: where the source's next transaction begins.
    pub(crate) fn store_position(&self, tx: &mut Transaction) -> Result<()> {
        self.applied.as_ref().map_or(Ok(()), |applied| applied.store(&self.server, tx))
    }

    /// The same, also of a transaction that has none: it is an empty one.
    pub(crate) fn log_end(&mut self, tx: &mut Transaction, kind: LoggedAs) -> Result<()> {
        self.log_end_as(tx, kind, "BEGIN", false)
    }

    /// `word`: what its events begin with. `ends_itself`: see [`Commit`].
    fn log_end_as(&mut self, tx: &mut Transaction, kind: LoggedAs, word: &str, ends_itself: bool) -> Result<()> {
        let is_block = kind != LoggedAs::Statement;
        // Statements that define something, and rows of tables that are not transactional, are the statements' cache's.
        let (uses, disk_uses) = match kind {
            LoggedAs::Rows | LoggedAs::Both => (Counter::BinlogCacheUse, Counter::BinlogCacheDiskUse),
            LoggedAs::RowsBeside | LoggedAs::Statement => {
                (Counter::BinlogStmtCacheUse, Counter::BinlogStmtCacheDiskUse)
            }
        };
        observe::increment(uses);
        if tx.events().spilled() {
            observe::increment(disk_uses);
        }
        let globals = self.server.globals.load();
        let mut begin = Vec::new();
        if is_block {
            begin = self.query("", false).head();
            begin.extend_from_slice(word.as_bytes());
        }
        let (original_us, original_version) = self.origin();
        let numbering = self.numbering();
        let applied = self.applied.as_deref();
        let mut commit = Commit {
            is_block,
            ends_itself,
            is_beside: kind == LoggedAs::RowsBeside,
            has_statements: !matches!(kind, LoggedAs::Rows | LoggedAs::RowsBeside),
            numbering,
            server_id: applied.map_or(globals.uint(SERVER_ID) as u32, |applied| applied.server_id()),
            commit_us: crate::clock::clock_us(),
            original_us,
            original_version,
            prepared: self.server.engine.events_end(),
            timestamp: self.seconds(),
            begin,
        };
        // As in MySQL, not what ends with XA PREPARE.
        if self.vars.bool(COMPRESSION) && kind == LoggedAs::Rows && !ends_itself && !tx.events().is_empty() {
            let level = self.vars.uint(COMPRESSION_LEVEL) as i32;
            let xid = commit.prepared;
            compress::compress(tx.events(), &mut commit, level, xid).map_err(binlog_error)?;
        }
        commit.put(tx.events()).map_err(catalog::error::engine)
    }

    /// Warning 3647: `binlog_row_value_options` does not do all that it could.
    pub(crate) fn warn_of_partial(&mut self, global: bool) {
        let image = if global { self.server.globals.load().uint(ROW_IMAGE) } else { self.vars.uint(ROW_IMAGE) };
        if image == IMAGE_FULL {
            self.push_warning(
                "Warning",
                err!(ER_WARN_BINLOG_PARTIAL_UPDATES_SUGGESTS_PARTIAL_IMAGES, "binlog_row_image=FULL", "PARTIAL_JSON"),
            );
        }
    }
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

/// `binlog_row_image` by its place among its words.
const IMAGE_FULL: u64 = 2;

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
