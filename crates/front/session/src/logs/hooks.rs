//! What a session tells the logs of its commands.

use super::Throttled;
use super::entry::{Command, Extra, Log, Slow};
use super::secrets::{with_values, without_secrets};
use crate::logs::progress::COUNTED;
use crate::session::Session;
use crate::variables::{VarId, id};
use expr::Env;
use observe::Counter;
use observe::clock::now_ns;
use protocol::{Output, Peer};
use sql::ast::{MaintenanceVerb, Parsed, Statement};
use types::codes::*;
use types::{SqlError, Value};

const SERVER_ID: VarId = id("server_id");
const TIMESTAMPS: VarId = id("log_timestamps");
const RAW: VarId = id("log_raw");
const EXTRA: VarId = id("log_slow_extra");
const ADMIN: VarId = id("log_slow_admin_statements");
const NO_INDEX: VarId = id("log_queries_not_using_indexes");
const THROTTLE: VarId = id("log_throttle_queries_not_using_indexes");
const EXAMINED_MIN: VarId = id("min_examined_row_limit");
const OFF: VarId = id("sql_log_off");

/// Bytes of answers, whether they have left or not.
fn answered(out: &Output) -> u64 {
    out.bytes_sent() + out.buffered() as u64
}

/// Statements that `log_slow_admin_statements` is about.
fn is_admin(statement: &Statement) -> bool {
    match statement {
        Statement::AlterTable(_) | Statement::CreateIndex(_) | Statement::DropIndex(_) => true,
        Statement::TableMaintenance(maintenance) => maintenance.verb != MaintenanceVerb::Checksum,
        _ => false,
    }
}

impl Session {
    /// A statement or another command begins.
    #[inline]
    pub(crate) fn begin_logged(&mut self, out: &Output) {
        self.log.began_ns = now_ns();
        if let Some(book) = self.tx.interrupt().book() {
            book.idle_until(self.log.began_ns);
        }
        self.log.sent = 0;
        self.recorder.begin();
        if self.state.vars.hot().profiles {
            self.begin_profile();
        }
        if self.server.logs.any() || self.log.base.is_some() {
            self.begin_logged_slow(out);
        }
    }

    #[cold]
    fn begin_logged_slow(&mut self, out: &Output) {
        let log = &mut self.log;
        log.answered = answered(out);
        log.text.clear();
        log.command = "";
        (log.uses_no_index, log.is_admin) = (false, false);
        log.base = self.server.logs.any().then(|| Box::new(COUNTED.map(|c| self.counters.value(c))));
    }

    /// A statement is about to run: its text goes to the general log, and waits for the slow log.
    #[inline]
    pub(crate) fn log_query(&mut self, source: &[u8], parsed: &Parsed, uses_no_index: bool) {
        if self.log.base.is_some() {
            self.log_query_slow(source, parsed, uses_no_index);
        }
    }

    #[cold]
    fn log_query_slow(&mut self, source: &[u8], parsed: &Parsed, uses_no_index: bool) {
        let mode = crate::run::lexer_mode(self.state.sql_mode);
        let source = source.trim_ascii().strip_suffix(b";").unwrap_or(source).trim_ascii();
        let shown = without_secrets(parsed, mode).unwrap_or_else(|| source.to_vec());
        let raw = self.server.globals.load().bool(RAW);
        self.log_command("Query", if raw { source } else { &shown });
        self.log.text = shown;
        self.log.command = "Query";
        self.log.uses_no_index = uses_no_index;
        self.log.is_admin = is_admin(&parsed.statement);
    }

    /// What reads a whole table is known once it is planned.
    #[inline]
    pub(crate) fn log_plan(&mut self, uses_no_index: bool) {
        self.log.uses_no_index = uses_no_index;
        self.recorder.uses_no_index = uses_no_index;
    }

    /// The plan is there: what the planner has read of the dictionary and of samples is not the statement's.
    #[inline]
    pub(crate) fn log_planned(&mut self) {
        if let Some(base) = self.log.base.as_deref_mut() {
            let at = COUNTED.iter().position(|c| *c == Counter::InnodbRowsRead).expect("it is counted");
            base[at] = self.counters.value(Counter::InnodbRowsRead);
        }
    }

    /// A prepared statement is about to run.
    #[inline]
    pub(crate) fn log_execute(&mut self, parsed: &Parsed, values: &[Value<'_>], uses_no_index: bool) {
        if self.log.base.is_some() {
            self.log_execute_slow(parsed, values, uses_no_index);
        }
    }

    #[cold]
    fn log_execute_slow(&mut self, parsed: &Parsed, values: &[Value<'_>], uses_no_index: bool) {
        let mode = crate::run::lexer_mode(self.state.sql_mode);
        let text = match without_secrets(parsed, mode) {
            Some(shown) => shown,
            None => with_values(parsed.source(), values, mode),
        };
        self.log_command("Execute", &text);
        self.log.text = text;
        self.log.command = "Execute";
        self.log.uses_no_index = uses_no_index;
        self.log.is_admin = is_admin(&parsed.statement);
    }

    /// A statement was prepared.
    pub(crate) fn log_prepare(&mut self, parsed: &Parsed) {
        if self.server.logs.wants(Log::General) {
            let mode = crate::run::lexer_mode(self.state.sql_mode);
            let shown = without_secrets(parsed, mode).unwrap_or_else(|| parsed.source().to_vec());
            self.log_command("Prepare", &shown);
        }
    }

    /// A command that is no statement.
    pub(crate) fn log_administration(&mut self, name: &'static str, argument: &[u8]) {
        if self.log.base.is_some() {
            self.log_command(name, argument);
            self.log.command = name;
            self.log.text = format!("# administrator command: {name}").into_bytes();
        }
    }

    /// One entry of the general log.
    pub(crate) fn log_command(&self, name: &str, argument: &[u8]) {
        let logs = &self.server.logs;
        if !logs.wants(Log::General) || self.state.vars.bool(OFF) {
            return;
        }
        let globals = self.server.globals.load();
        let command = Command {
            at_us: crate::clock::clock_us(),
            is_system: globals.uint(TIMESTAMPS) == 1,
            connection: self.state.id,
            server_id: globals.uint(SERVER_ID),
            user_host: &self.user_host(),
            name,
            argument,
        };
        logs.push(self.state.id, command.entry(logs.writes_file(), logs.writes_table()));
    }

    /// `root[root] @ localhost [127.0.0.1]`: the account, the name that the client gave, its host and address.
    fn user_host(&self) -> String {
        let account = self.access.as_ref().map_or("", |access| access.account().name.user.as_str());
        let (host, address) = match self.peer {
            Peer::Unix => ("localhost".to_string(), String::new()),
            Peer::Tcp(at) => {
                let address = at.ip().to_canonical().to_string();
                (if self.peer.is_localhost() { "localhost".to_string() } else { address.clone() }, address)
            }
        };
        format!("{account}[{}] @ {host} [{address}]", self.state.login_name())
    }

    /// The session has nothing to do from now on: what comes is the wait `idle`.
    #[inline]
    pub(crate) fn idle_from(&self, now_ns: u64) {
        if let Some(book) = self.tx.interrupt().book() {
            book.idle_from(now_ns);
        }
    }

    /// A statement or another command has ended. `error`: 0 for none.
    #[inline]
    pub(crate) fn end_logged(&mut self, error: Option<&SqlError>, out: &Output) {
        let ended_ns = now_ns();
        let took_ns = ended_ns.saturating_sub(self.log.began_ns);
        self.end_event(took_ns, error);
        self.idle_from(ended_ns);
        if self.log.is_profiled {
            self.end_profile();
        }
        if took_ns > self.state.vars.hot().long_query_ns || self.log.base.is_some() {
            self.end_logged_slow(took_ns, error.map_or(0, |e| e.code), out);
        }
    }

    #[cold]
    fn end_logged_slow(&mut self, took_ns: u64, error: u16, out: &Output) {
        if self.server.logs.wants(Log::Audit) {
            self.audit_statement(error);
        }
        let counts = self.log.base.as_deref().map(|base| {
            let mut counts = COUNTED.map(|c| self.counters.value(c));
            counts.iter_mut().zip(base).for_each(|(now, before)| *now = now.saturating_sub(*before));
            counts
        });
        let count = |c: Counter| {
            let at = COUNTED.iter().position(|known| *known == c);
            counts.map_or(0, |counts| counts[at.expect("it is counted")])
        };
        let globals = self.server.globals.load();
        let is_long = took_ns > self.state.vars.hot().long_query_ns;
        let lacks_index = self.log.uses_no_index && globals.bool(NO_INDEX);
        let examined = count(Counter::InnodbRowsRead) + count(Counter::SortRows);
        let is_small = counts.is_some() && examined < self.state.vars.uint(EXAMINED_MIN);
        if !(is_long || lacks_index) || is_small {
            return;
        }
        observe::increment(Counter::SlowQueries);
        let is_wanted = !self.log.is_admin || globals.bool(ADMIN);
        let logs = &self.server.logs;
        if !logs.wants(Log::Slow) || self.log.text.is_empty() || !is_wanted {
            return;
        }
        let ended_us = crate::clock::clock_us();
        let is_system = globals.uint(TIMESTAMPS) == 1;
        let mut slow = Slow {
            ended_us,
            is_system,
            connection: self.state.id,
            server_id: globals.uint(SERVER_ID),
            user_host: &self.user_host(),
            took_us: took_ns / 1000,
            lock_us: 1000 * count(Counter::InnodbRowLockTime),
            sent: self.log.sent,
            examined,
            schema: self.state.database().unwrap_or(""),
            last_insert_id: 0,
            insert_id: 0,
            now_us: self.state.now_us(),
            extra: globals.bool(EXTRA).then(|| self.extra(error, answered(out) - self.log.answered, &count)),
            text: &self.log.text,
        };
        if !is_long {
            match logs.throttle.lock().ask(ended_us, globals.uint(THROTTLE)) {
                Throttled::Made => {}
                Throttled::Suppressed => return,
                Throttled::After(suppressed) => {
                    let text = format!("throttle: {suppressed:>10} 'index not used' warning(s) suppressed.");
                    let summary = Slow {
                        connection: 0,
                        user_host: "[] @  []",
                        sent: 0,
                        examined: 0,
                        schema: "",
                        extra: None,
                        text: text.as_bytes(),
                        ..slow
                    };
                    logs.push(self.state.id, summary.entry(logs.writes_file(), logs.writes_table()));
                    slow.ended_us = ended_us;
                }
            }
        }
        logs.push(self.state.id, slow.entry(logs.writes_file(), logs.writes_table()));
    }

    fn extra(&self, error: u16, sent: u64, count: &dyn Fn(Counter) -> u64) -> Extra {
        // A packet's header and the command's number.
        let received = self.log.text.len() as u64 + 5;
        [
            ("Thread_id", self.state.id.into()),
            ("Errno", error.into()),
            ("Killed", if matches!(error, ER_QUERY_INTERRUPTED | ER_QUERY_TIMEOUT) { error.into() } else { 0 }),
            ("Bytes_received", received),
            ("Bytes_sent", sent),
            ("Read_first", count(Counter::HandlerReadFirst)),
            ("Read_last", count(Counter::HandlerReadLast)),
            ("Read_key", count(Counter::HandlerReadKey)),
            ("Read_next", count(Counter::HandlerReadNext)),
            ("Read_prev", count(Counter::HandlerReadPrev)),
            ("Read_rnd", count(Counter::HandlerReadRnd)),
            ("Read_rnd_next", count(Counter::HandlerReadRndNext)),
            ("Sort_merge_passes", count(Counter::SortMergePasses)),
            ("Sort_range_count", 0),
            ("Sort_rows", count(Counter::SortRows)),
            ("Sort_scan_count", count(Counter::SortScan)),
            ("Created_tmp_disk_tables", count(Counter::CreatedTmpDiskTables)),
            ("Created_tmp_tables", count(Counter::CreatedTmpTables)),
        ]
    }

    /// The rows of a log's table are for whoever may read it.
    pub(crate) fn empty_log(&mut self, table: &str) -> types::Result<bool> {
        let Some(log) = Log::ALL.into_iter().find(|log| table.eq_ignore_ascii_case(log.table())) else {
            return Ok(false);
        };
        self.server.logs.truncate(log)?;
        Ok(true)
    }
}
