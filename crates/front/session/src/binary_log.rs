//! A session and the binary log: what its transactions put into the log beside their changes, and the statements about its files.
//!
//! Rows go there as they are written ([`exec`]), statements that define something when they commit, and the end of a transaction
//! right before it: all in the events of the engine's transaction, so there is nothing to hold or to wait for.

use crate::gtid::{ENFORCE_GTIDS, ENFORCE_ON, GTID_MODE, MODE_ON, numbers};
use crate::state::State;
use crate::variables::{Globals, Val, VarId, id};
use binlog::Binlog;
use binlog::event::{self, Kind, Query};
use binlog::payload::{self, Commit, Numbering, ROWS_NO_FOREIGN_KEYS, ROWS_RELAXED_UNIQUE, RowImage, RowSettings};
use catalog::Table;
use engine::{Engine, Transaction};
use observe::Counter;
use std::sync::Arc;
use types::{Result, SqlError, err};

const SQL_LOG_BIN: VarId = id("sql_log_bin");
const ROW_IMAGE: VarId = id("binlog_row_image");
const ROW_METADATA: VarId = id("binlog_row_metadata");
const ROWS_QUERY: VarId = id("binlog_rows_query_log_events");
const EVENT_MAX: VarId = id("binlog_row_event_max_size");
const CACHE_SIZE: VarId = id("binlog_cache_size");
const TMPDIR: VarId = id("tmpdir");
const CACHE_MAX: VarId = id("max_binlog_cache_size");
pub(crate) const SERVER_ID: VarId = id("server_id");
pub(crate) const LOG_BIN: VarId = id("log_bin");
const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
const UNIQUE_CHECKS: VarId = id("unique_checks");
const EXPLICIT_DEFAULTS: VarId = id("explicit_defaults_for_timestamp");
const TIME_ZONE: VarId = id("time_zone");
/// Of the server, and of utf8mb4 where none is named.
pub(crate) const COLLATIONS: [VarId; 2] = [id("collation_server"), id("default_collation_for_utf8mb4")];

/// Texts of statements are kept in utf8mb4 whatever the client sends.
const UTF8MB4_GENERAL_CI: u16 = 45;

/// An error of the binary log for a client. Errors 1236, 1317, 1373, 1026, 1053.
pub(crate) fn binlog_error(e: binlog::Error) -> SqlError {
    match e {
        binlog::Error::UnknownFile => err!(1373),
        binlog::Error::Interrupted => err!(1317),
        binlog::Error::Stopped => err!(1053),
        other => err!(1026, "binlog", 5, other),
    }
}

/// What a transaction's events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoggedAs {
    Rows,
    Statement,
    /// CREATE TABLE ... SELECT
    Both,
}

/// Errors 1779, 1788, 3111 of the variables that decide about GTIDs.
pub(crate) fn may_set(globals: &Globals, id: VarId, new: &Val) -> Result<()> {
    match id {
        GTID_MODE => {
            if globals.uint(GTID_MODE).abs_diff(new.uint()) > 1 {
                return Err(err!(1788));
            }
            if new.uint() == MODE_ON && globals.uint(ENFORCE_GTIDS) != ENFORCE_ON {
                let why = "ENFORCE_GTID_CONSISTENCY is not ON";
                return Err(SqlError::new(3111, format!("SET @@GLOBAL.GTID_MODE = ON is not allowed because {why}.")));
            }
            Ok(())
        }
        ENFORCE_GTIDS if globals.uint(GTID_MODE) == MODE_ON && new.uint() != ENFORCE_ON => {
            Err(SqlError::new(1779, "GTID_MODE = ON requires ENFORCE_GTID_CONSISTENCY = ON."))
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
        self.server.binlog.as_ref().filter(|_| self.vars.bool(SQL_LOG_BIN))
    }

    /// How rows of the statement at hand are logged, and how many bytes a transaction's may take.
    pub(crate) fn row_settings(&self) -> Option<(RowSettings, u64)> {
        self.logs_to()?;
        let globals = self.server.globals.load();
        let off = |id, flag| if self.vars.bool(id) { 0 } else { flag };
        let settings = RowSettings {
            timestamp: self.seconds(),
            event_max: globals.uint(EVENT_MAX).min(u64::from(u32::MAX)) as u32,
            image: match self.vars.uint(ROW_IMAGE) {
                0 => RowImage::Minimal,
                1 => RowImage::NoBlob,
                _ => RowImage::Full,
            },
            full_metadata: globals.uint(ROW_METADATA) == 1,
            flags: off(FOREIGN_KEY_CHECKS, ROWS_NO_FOREIGN_KEYS) | off(UNIQUE_CHECKS, ROWS_RELAXED_UNIQUE),
            text: self.keeps_text.then(|| self.text.clone()),
        };
        Some((settings, globals.uint(CACHE_MAX)))
    }

    /// Keeps the text of the statement at hand where its rows are to tell it.
    #[inline]
    pub(crate) fn note_text(&mut self, text: &[u8]) {
        if self.keeps_text {
            self.text.clear();
            self.text.extend_from_slice(text);
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

    fn query<'q>(&'q self, database: &'q str, defines: bool) -> Query<'q> {
        let off = |id, flag| if self.vars.bool(id) { 0 } else { flag };
        Query {
            thread_id: self.id,
            database,
            sql_mode: self.sql_mode.0,
            flags: off(FOREIGN_KEY_CHECKS, event::NO_FOREIGN_KEY_CHECKS) | off(UNIQUE_CHECKS, event::NO_UNIQUE_CHECKS),
            collations: [UTF8MB4_GENERAL_CI, self.vars.hot().literals.0, self.log_collations[0]],
            time_zone: if defines { self.vars.text(TIME_ZONE) } else { "" },
            invoker: if defines { self.current_user.rsplit_once('@') } else { None },
            utf8mb4_collation: self.log_collations[1],
            explicit_defaults: defines.then(|| self.vars.bool(EXPLICIT_DEFAULTS)),
        }
    }

    /// Puts a statement into the events of the transaction that does what it says.
    pub(crate) fn log_statement(&self, tx: &mut Transaction, text: &[u8]) -> Result<()> {
        self.log_statement_in(self.database.as_deref().unwrap_or(""), tx, text)
    }

    /// The same where unqualified names are of this database.
    pub(crate) fn log_statement_in(&self, database: &str, tx: &mut Transaction, text: &[u8]) -> Result<()> {
        let mut body = self.query(database, true).head();
        body.extend_from_slice(text);
        payload::put_event(tx.events(), Kind::Query, 0, self.seconds(), &[&body]).map_err(exec::error::engine)
    }

    /// How much of a transaction's events stays in memory, and where the rest goes.
    pub(crate) fn bound_events(&self, tx: &mut Transaction) {
        if self.server.binlog.is_some() {
            let memory_max = self.server.globals.load().uint(CACHE_SIZE) as usize;
            tx.events().set_bounds(memory_max, self.vars.text(TMPDIR).into());
        }
    }

    /// Before the commit of a transaction with events: what its end says.
    pub(crate) fn log_commit(&mut self, tx: &mut Transaction, kind: LoggedAs) -> Result<()> {
        // A source's transaction has its number here too, whatever is left of it.
        let numbered =
            self.applied.as_ref().is_some_and(|applied| applied.gtid().is_some()) && self.logs_to().is_some();
        if tx.events().is_empty() && !numbered {
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
        let is_block = kind != LoggedAs::Statement;
        observe::increment(Counter::BinlogCacheUse);
        if tx.events().spilled() {
            observe::increment(Counter::BinlogCacheDiskUse);
        }
        let globals = self.server.globals.load();
        let mut begin = Vec::new();
        if is_block {
            begin = self.query("", false).head();
            begin.extend_from_slice(b"BEGIN");
        }
        let (original_us, original_version) = self.origin();
        let numbering = self.numbering();
        let applied = self.applied.as_deref();
        let commit = Commit {
            is_block,
            has_statements: kind != LoggedAs::Rows,
            numbering,
            server_id: applied.map_or(globals.uint(SERVER_ID) as u32, |applied| applied.server_id()),
            commit_us: crate::state::clock_us(),
            original_us,
            original_version,
            prepared: self.server.engine.events_end(),
            timestamp: self.seconds(),
            begin,
        };
        commit.put(tx.events()).map_err(exec::error::engine)
    }
}

/// A start has thrown away the rows of a table of engine MEMORY: replicas do so as well.
pub(crate) fn log_emptied(globals: &Globals, engine: &Engine, table: &Table, tx: &mut Transaction) -> Result<()> {
    let now_us = crate::state::clock_us();
    let timestamp = (now_us / 1_000_000) as u32;
    let query = Query {
        thread_id: 0,
        database: &table.schema,
        sql_mode: 0,
        flags: 0,
        collations: [UTF8MB4_GENERAL_CI; 3],
        time_zone: "",
        invoker: None,
        utf8mb4_collation: 0,
        explicit_defaults: None,
    };
    let quote = |name: &str| format!("`{}`", name.replace('`', "``"));
    let text = format!("TRUNCATE TABLE {}.{} /* generated by server */", quote(&table.schema), quote(&table.name));
    payload::put_event(tx.events(), Kind::Query, 0, timestamp, &[&query.head(), text.as_bytes()])
        .map_err(exec::error::engine)?;
    let commit = Commit {
        is_block: false,
        has_statements: true,
        numbering: if numbers(globals) { Numbering::Automatic } else { Numbering::Anonymous },
        server_id: globals.uint(SERVER_ID) as u32,
        commit_us: now_us,
        original_us: 0,
        original_version: 0,
        prepared: engine.events_end(),
        timestamp,
        begin: Vec::new(),
    };
    commit.put(tx.events()).map_err(exec::error::engine)
}

/// What a SET of a variable says is what the writer of the files does from now on.
pub fn settings(globals: &Globals) -> binlog::writer::Settings {
    const FILE_MAX: VarId = id("max_binlog_size");
    const CHECKSUM: VarId = id("binlog_checksum");
    const EXPIRE: VarId = id("binlog_expire_logs_seconds");
    const AUTO_PURGE: VarId = id("binlog_expire_logs_auto_purge");
    let expires = globals.bool(AUTO_PURGE);
    binlog::writer::Settings {
        file_max: globals.uint(FILE_MAX),
        checksum: if globals.uint(CHECKSUM) == 0 { event::Checksum::None } else { event::Checksum::Crc32 },
        expire: std::time::Duration::from_secs(if expires { globals.uint(EXPIRE) } else { 0 }),
    }
}
