//! Statements and ends of transactions on their way into the binary log.

use crate::binary_log::{LoggedAs, SERVER_ID, UTF8MB4_GENERAL_CI, binlog_error};
use crate::state::State;
use crate::variables::{VarId, id};
use binlog::event::{self, FLAG_SUPPRESS_USE, Kind, Query, XaId};
use binlog::payload::{self, Commit, RowSettings};
use binlog::{Binlog, compress};
use engine::Transaction;
use expr::Env;
use observe::Counter;
use sql::ast::Parsed;
use std::sync::Arc;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{Result, err};

const FOREIGN_KEY_CHECKS: VarId = id("foreign_key_checks");
const UNIQUE_CHECKS: VarId = id("unique_checks");
const TIME_ZONE: VarId = id("time_zone");
const EXPLICIT_DEFAULTS: VarId = id("explicit_defaults_for_timestamp");
const REQUIRE_PRIMARY_KEY: VarId = id("sql_require_primary_key");
const DEFAULT_ENCRYPTION: VarId = id("default_table_encryption");
const TMPDIR: VarId = id("tmpdir");

/// `binlog_row_image` by its place among its words.
const IMAGE_FULL: u64 = 2;
const ROW_IMAGE: VarId = id("binlog_row_image");
const COMPRESSION_LEVEL: VarId = id("binlog_transaction_compression_level_zstd");
const COMPRESSION: VarId = id("binlog_transaction_compression");
const CACHE_SIZE: VarId = id("binlog_cache_size");
const ROWS_QUERY: VarId = id("binlog_rows_query_log_events");
const CACHE_MAX: VarId = id("max_binlog_cache_size");
const STATEMENT_CACHE_MAX: VarId = id("max_binlog_stmt_cache_size");
const ROW_METADATA: VarId = id("binlog_row_metadata");
const EVENT_MAX: VarId = id("binlog_row_event_max_size");

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
    pub fn seconds(&self) -> u32 {
        (self.now_us / 1_000_000) as u32
    }

    /// What statements' texts are in: the client's, as it has named it; those of others are kept in utf8mb4.
    pub fn text_collation(&self) -> u16 {
        if self.vars.hot().client != Charset::Utf8mb4 {
            return UTF8MB4_GENERAL_CI;
        }
        let named = self.results_collation.filter(|named| named.charset() == Charset::Utf8mb4);
        named.unwrap_or(CollationId::default_of(Charset::Utf8mb4)).0
    }

    pub fn query<'q>(&'q self, database: &'q str, defines: bool) -> Query<'q> {
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

    pub fn put_statement(&self, database: &str, tx: &mut Transaction, text: &[u8], xid: Option<u64>) -> Result<()> {
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
    pub fn is_numbered(&self) -> bool {
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
    pub fn log_end_as(&mut self, tx: &mut Transaction, kind: LoggedAs, word: &str, ends_itself: bool) -> Result<()> {
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
