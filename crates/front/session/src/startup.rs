//! Start of a server: what it reads and makes before the first session, and what virtual tables ask of it.

use crate::binary_log::{self, LOG_BIN};
use crate::com::COM;
use crate::connection_control::FailedLogins;
use crate::error_log::Level;
use crate::events::scheduler::Scheduler;
use crate::gathering::Gathering;
use crate::gtids::Gtids;
use crate::hosts::Hosts;
use crate::logs::{Log, Logs, rows_of};
use crate::panics::note;
use crate::process::Processes;
use crate::server::{ACCOUNTS_ENTRY, store_accounts};
use crate::variables::{Extension, Globals, Origin, VARIABLES, Val, VarId, Variable, id};
use crate::xids::{Detached, of_label};
use crate::{Server, Settings};
use accounts::strength::StrengthPolicy;
use accounts::{Accounts, Directory};
use catalog::dictionary::Kind;
use catalog::mdl::Name;
use catalog::{Catalog, Emptied, MetadataPins, Table, Waiting};
use engine::{Engine, Transaction};
use inspect::{CloneRecord, Process, VariableInfo, VariableSource};
use protocol::RsaKeys;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use sync::waits::{Operation, Wait, files, pending};
use sync::{Mutex, Parker, Rank, Snapshot};
use types::codes::*;
use types::{Result, SqlError, err};

const NO_DELAY_COUNT: VarId = id("binlog_group_commit_sync_no_delay_count");
const SYNC_DELAY: VarId = id("binlog_group_commit_sync_delay");
const WRITE_LOCKS_MAX: VarId = id("max_write_lock_count");
const HOST_CACHE_SIZE: VarId = id("host_cache_size");
const LOG_CAPACITY: VarId = id("innodb_redo_log_capacity");
const PURGE_LAG_DELAY: VarId = id("innodb_max_purge_lag_delay");
const LOG_BUFFER: VarId = id("innodb_log_buffer_size");
const PURGE_LAG: VarId = id("innodb_max_purge_lag");
const PURGE_BATCH: VarId = id("innodb_purge_batch_size");
const FILL_FACTOR: VarId = id("innodb_fill_factor");
const STATS_AUTO_RECALC: VarId = id("innodb_stats_auto_recalc");
const DEADLOCK_DETECT: VarId = id("innodb_deadlock_detect");
const SAMPLE_AGE: VarId = id("performance_schema_max_digest_sample_age");
const FLUSH_LOG: VarId = id("innodb_flush_log_at_trx_commit");
const LISTS_LOCKS: VarId = id("innodb_status_output_locks");
const IDLE_TICK: Duration = Duration::from_millis(100);

/// How often deadlines are looked at while there are any.
const DEADLINE_TICK: Duration = Duration::from_millis(5);

/// How often running statements are asked whether their clients are still there.
const REAP_TICK_US: u64 = 300_000;
const SOCKET: VarId = id("socket");
const PORT: VarId = id("port");
const VERSION_COMMENT: VarId = id("version_comment");
const VERSION: VarId = id("version");

impl Server {
    /// At start: transactions that were prepared when the server ended get the metadata locks of what they have changed, before anybody
    /// is let in. Errors 1105 for a label that is none, and those of reading undo.
    pub(crate) fn load_prepared(&self) -> Result<()> {
        let found = self.engine.take_prepared();
        if !found.is_empty() {
            crate::panics::tell(&format!("Found {} prepared XA transactions", found.len()));
        }
        for (label, prepared) in found {
            let damaged = || SqlError::new(ER_UNKNOWN_ERROR, "the identifier of a prepared transaction is damaged");
            let (id, logged) = of_label(&label).ok_or_else(damaged)?;
            let trees = self.engine.trees_changed_by(&prepared).map_err(catalog::error::engine)?;
            let mut pins = MetadataPins::claim_alone(self.catalog.locks()).ok_or_else(|| err!(ER_CON_COUNT_ERROR))?;
            let version = self.catalog.current();
            let tables = version.schemas.values().flat_map(|s| s.tables.values());
            let changed = tables.filter(|t| t.indexes.iter().any(|index| trees.contains(&index.tree.id)));
            let names: Vec<_> = changed.map(|t| catalog::mdl::Pin::new(&t.schema, &t.name, true)).collect();
            let mut tx = Transaction::new(&self.engine).map_err(catalog::error::engine)?;
            // Nobody else is there: nobody is waited for.
            let (timeout, writes) = (Duration::from_secs(1), false);
            while !pins.pin(&names, writes, Waiting { timeout, tx: &mut tx })? {}
            self.xids.put(Detached { id, changes: Some(prepared), pins, logged }, false);
        }
        Ok(())
    }
}

/// What a file of the slow log or the general log begins with, each time that it is opened.
pub(crate) fn log_heading(globals: &Globals) -> String {
    let program = std::env::current_exe().map_or_else(|_| "clearway".to_string(), |path| path.display().to_string());
    let (version, comment) = (globals.text(VERSION), globals.text(VERSION_COMMENT));
    let (port, socket) = (globals.uint(PORT), globals.text(SOCKET));
    format!(
        "{program}, Version: {version} ({comment}). started with:\nTcp port: {port}  Unix socket: {socket}\n\
         Time                 Id Command    Argument\n"
    )
}

pub(crate) fn watch_deadlines(server: &Weak<Server>) {
    let mut parker = Parker::new();
    let mut reaped_us = 0;
    loop {
        let Some(server) = server.upgrade() else { return };
        // Relaxed: a hint each; deadlines are read under their lanes' locks.
        if server.stopping.load(Ordering::Relaxed) {
            return;
        }
        // Relaxed: a hint, as above.
        let any = server.deadlines.load(Ordering::Relaxed) > 0;
        if any {
            server.processes.expire(observe::clock::now_ns());
        }
        let now = crate::clock::clock_us();
        if now.saturating_sub(reaped_us) >= REAP_TICK_US {
            reaped_us = now;
            server.processes.reap(now);
        }
        drop(server);
        parker.park_timeout(if any { DEADLINE_TICK } else { IDLE_TICK }, Wait::Timer);
    }
}

impl inspect::Source for Server {
    fn monitor(&self) -> &inspect::monitor::Monitor {
        &self.monitor
    }

    fn lists_locks(&self) -> bool {
        self.globals.load().bool(LISTS_LOCKS)
    }

    fn replication(&self, table: inspect::Replication) -> Vec<inspect::Row> {
        crate::replica_tables::rows(self, table)
    }

    fn logged(&self, slow: bool) -> Result<Vec<inspect::Row>> {
        let log = if slow { Log::Slow } else { Log::General };
        rows_of(log, &self.logs.table(log)?)
    }

    fn statement_events(&self, history: bool) -> Vec<inspect::StatementEvent> {
        crate::performance::statement_events(self, history)
    }

    fn transaction_events(&self, history: bool) -> Vec<inspect::TransactionEvent> {
        crate::performance::transaction_events(self, history)
    }

    fn stage_events(&self, history: bool) -> Vec<inspect::StageEvent> {
        crate::performance::stage_events(self, history)
    }

    fn prepared_instances(&self) -> Vec<inspect::PreparedInstance> {
        crate::performance::prepared_instances(self)
    }

    fn program_sums(&self) -> Vec<observe::programs::ProgramSum> {
        crate::performance::program_sums(self)
    }

    fn session_sums(&self) -> Vec<inspect::SessionSums> {
        crate::performance::session_sums(self)
    }

    fn thread_variables(&self, own: u32) -> Vec<inspect::ThreadVariables> {
        crate::seen::thread_variables(self, own)
    }

    fn user_variables(&self) -> Vec<inspect::UserVariables> {
        crate::seen::user_variables(self)
    }

    fn connect_attributes(&self) -> Vec<inspect::ConnectAttributes> {
        crate::seen::connect_attributes(self)
    }

    fn thread_counts(&self) -> Vec<inspect::ThreadCounts> {
        crate::seen::thread_counts(self)
    }

    fn account_sums(&self, by: inspect::GroupedBy) -> Vec<inspect::AccountSums> {
        crate::seen::account_sums(self, by)
    }

    fn thread_memory(&self) -> Vec<(u64, u64, u64)> {
        crate::seen::thread_memory(self)
    }

    fn server_memory(&self) -> Vec<(&'static str, u64, u64)> {
        let globals = self.globals.load();
        let (ring, ring_max) = self.error_log.ring_bytes();
        let log_buffer = globals.uint(LOG_BUFFER);
        let of_connections = crate::seen::thread_memory(self).iter().map(|(_, bytes, _)| bytes).sum();
        vec![
            ("memory/sql/THD::main_mem_root", of_connections, sync::memory::highest()),
            ("memory/innodb/log_buffer_memory", log_buffer, log_buffer),
            ("memory/sql/log_sink_pfs", ring, ring_max),
        ]
    }

    fn loaded_functions(&self) -> Vec<(&'static str, &'static str)> {
        self.globals.load().functions()
    }

    fn has_tls(&self) -> bool {
        self.tls.load().0.is_some()
    }

    fn error_log(&self) -> Vec<inspect::LoggedError> {
        crate::error_log::shown(self.error_log.rows())
    }

    fn processes(&self) -> Vec<Process> {
        let mut list = self.processes.list();
        list.extend(self.events.process(crate::clock::clock_us()));
        for (connection, state) in self.catalog.locks().waits() {
            list.iter_mut().filter(|p| p.id == connection).for_each(|p| p.state = state.into());
        }
        list
    }

    fn gtid_executed(&self) -> Vec<inspect::ExecutedGtids> {
        self.binlog.as_ref().map_or_else(Vec::new, |binlog| crate::gtids::executed_rows(binlog))
    }

    fn binlog_compression(&self) -> Vec<inspect::BinlogCompression> {
        self.binlog.as_ref().map_or_else(Vec::new, |binlog| crate::binary_log::compression_rows(binlog))
    }

    fn clone_record(&self) -> Option<CloneRecord> {
        let record = self.clone.lock().clone();
        record.map(|record| CloneRecord { now_us: crate::clock::clock_us(), ..record })
    }

    fn foreign_servers(&self) -> Result<Vec<catalog::servers::ForeignServer>> {
        self.catalog.foreign_servers()
    }

    fn installed(&self) -> Result<Vec<catalog::installed::Installed>> {
        self.catalog.installed()
    }

    fn hosts(&self) -> Vec<inspect::HostEntry> {
        self.hosts.rows()
    }

    fn forget_hosts(&self) {
        self.hosts.clear();
    }

    fn forget_compression(&self) -> types::Result<()> {
        let Some(binlog) = &self.binlog else { return Ok(()) };
        binlog.forget_statistics(sync::blocking::is_interrupted).map_err(crate::binary_log::binlog_error)
    }

    fn watch(&self, thread: u64, answers: observe::watched::Answers) {
        self.watch_thread(thread, answers);
    }

    fn failed_logins(&self) -> Option<Vec<(String, u64)>> {
        self.globals.load().has(Extension::FailedLoginAttempts).then(|| self.failed_logins.list())
    }

    fn has_native_password(&self) -> bool {
        self.accounts.has_plugin(accounts::Plugin::NativePassword)
    }

    fn metadata_locks(&self) -> Vec<catalog::mdl::LockRow> {
        let version = self.catalog.current();
        let tables = version.schemas.values().flat_map(|s| s.tables.values());
        let tables = tables.map(|t| Name::table(&t.schema, &t.name));
        let routines = version.schemas.values().flat_map(|s| s.routines.values());
        let routines = routines.map(|r| Name::routine(r.kind, &r.schema, &r.name));
        self.catalog.locks().list(tables.chain(routines))
    }

    fn sample(&self, table: &catalog::Table) -> Result<Arc<Option<catalog::statistics::Sample>>> {
        plan::statistics::shown(&self.engine, table)
    }

    fn global_variables(&self, wanted: inspect::Wanted<'_>) -> Vec<(&'static str, String)> {
        let globals = self.globals.load();
        let is_global = |id: usize, variable: &Variable| {
            variable.scope != crate::variables::Scope::Session && globals.shows(id as VarId)
        };
        let shown = VARIABLES.iter().enumerate().filter(|(i, v)| is_global(*i, v) && wanted(v.name));
        shown.map(|(i, v)| (v.name, self.printed_global(&globals, i as VarId))).collect()
    }

    fn variable_infos(&self) -> Vec<VariableInfo> {
        let globals = self.globals.load();
        let info = |(i, v): (usize, &'static Variable)| {
            let (origin, by) = globals.origin(i as VarId);
            let (min, max) = v.bounds();
            let source = match origin {
                Origin::Compiled => VariableSource::Compiled,
                Origin::CommandLine => VariableSource::CommandLine,
                Origin::Persisted => VariableSource::Persisted,
                Origin::Dynamic => VariableSource::Dynamic,
            };
            let set_by = by.map(|by| (by.user.clone(), by.host.clone(), by.time_us));
            VariableInfo { name: v.name, source, min, max, set_by }
        };
        VARIABLES.iter().enumerate().filter(|(i, _)| globals.shows(*i as VarId)).map(info).collect()
    }

    fn persisted_variables(&self) -> Vec<(&'static str, String)> {
        self.persisted.lock().entries.iter().map(|e| (e.name, e.value.clone())).collect()
    }
}

/// The accounts of the dictionary; where it has none yet, root with the first password.
pub(crate) fn stored_accounts(
    engine: &Arc<Engine>,
    catalog: &Catalog,
    first_password: impl FnOnce() -> String,
) -> Result<Directory> {
    let stored = catalog.load_entries(Kind::Account)?;
    Ok(match stored.into_iter().find(|(name, _)| name == ACCOUNTS_ENTRY) {
        Some((_, bytes)) => Directory::from_bytes(&bytes).map_err(|_| {
            SqlError::new(ER_INDEX_CORRUPT, "Index dictionary is corrupted: the accounts can not be read")
        })?,
        None => {
            let directory = Directory::bootstrap(&first_password());
            let mut tx = Transaction::new(engine).map_err(catalog::error::from_engine)?;
            store_accounts(catalog, &mut tx, &directory, |_| Ok(()))?;
            directory
        }
    })
}

/// Reads and writes that wait for the disk.
const PENDING: [(&str, &[Wait], Operation); 5] = [
    ("Innodb_data_pending_fsyncs", DATA_FILES, Operation::Sync),
    ("Innodb_data_pending_reads", DATA_FILES, Operation::Read),
    ("Innodb_data_pending_writes", DATA_FILES, Operation::Write),
    ("Innodb_os_log_pending_fsyncs", &[Wait::LogFile], Operation::Sync),
    ("Innodb_os_log_pending_writes", &[Wait::LogFile], Operation::Write),
];
const DATA_FILES: &[Wait] = &[Wait::DataFile, Wait::DoublewriteFile];

fn definitions(server: &Server) -> u64 {
    server.catalog.current().schemas.values().map(|schema| schema.tables.len() as u64).sum()
}

/// Files that are open, of the engine or of others.
fn open_files(is_wanted: fn(bool) -> bool) -> u64 {
    let (open, _) = files::files();
    let is_engine = |wait: Wait| wait.name().starts_with("wait/io/file/innodb/");
    open.iter().filter(|file| is_wanted(is_engine(file.what))).map(|file| u64::from(file.open)).sum()
}

pub(crate) fn register_gauges(server: &Arc<Server>) {
    let gauge = |name: &str, read: fn(&Server) -> u64| {
        let server: Weak<Server> = Arc::downgrade(server);
        observe::register_gauge(name, move || server.upgrade().map_or(0, |s| read(&s)));
    };
    gauge("Threads_connected", |s| s.processes.connected());
    gauge("Threads_running", |s| s.processes.running());
    // Relaxed: a figure for the reader.
    gauge("Prepared_stmt_count", |s| s.prepared.load(Ordering::Relaxed) as u64);
    gauge("Uptime_since_flush_status", |s| {
        // Relaxed: a figure for the reader.
        observe::clock::uptime_s().saturating_sub(s.status_flushed_s.load(Ordering::Relaxed))
    });
    gauge("Open_table_definitions", definitions);
    // Every table is open, once for all sessions.
    gauge("Open_tables", definitions);
    observe::register_gauge("Open_files", || open_files(|is_engine| !is_engine));
    observe::register_gauge("Innodb_num_open_files", || open_files(|is_engine| is_engine));
    for (name, waits, operation) in PENDING {
        let pending = move || waits.iter().map(|wait| pending(*wait, operation)).sum();
        observe::register_gauge(name, pending);
    }
    observe::register_gauge("Global_connection_memory", sync::memory::tracked);
    observe::register_gauge("Uptime", observe::clock::uptime_s);
    observe::register_gauge("Performance_schema_digest_lost", observe::digests::lost);
}

impl Server {
    /// Loads dictionary and accounts. In a new directory root@localhost is made, with the password that `first_password`
    /// gives.
    pub fn open(
        engine: Arc<Engine>,
        settings: Settings,
        first_password: impl FnOnce() -> String,
    ) -> Result<Arc<Server>> {
        let mut globals = settings.globals;
        crate::performance::start(&globals);
        if settings.binlog.is_none() {
            globals.set(LOG_BIN, Val::Bool(false));
        }
        let mut emptied = |table: &Table, tx: &mut Transaction| {
            settings.binlog.as_ref().map_or(Ok(()), |_| binary_log::log_emptied(&globals, &engine, table, tx))
        };
        let emptied = if settings.goes_on { None } else { Some(&mut emptied as Emptied<'_>) };
        let catalog = Catalog::open_telling(&engine, inspect::system_schemas(), emptied)?;
        let directory = stored_accounts(&engine, &catalog, first_password)?;
        let logs = Logs::new(&globals, &settings.datadir, log_heading(&globals))?;
        let server = Arc::new(Server {
            binlog: settings.binlog,
            gtids: Gtids::default(),
            dumps: Mutex::new(Rank::Session, BTreeMap::new()),
            gathering: Gathering::default(),
            client_charset: settings.client_charset,
            filter_options: settings.filter_options,
            replicas: Mutex::new(Rank::Session, BTreeMap::new()),
            channels: crate::channels::Channels::new(),
            catalog,
            accounts: Accounts::new(directory).with_native_password(settings.native_password),
            globals: Snapshot::new(globals),
            processes: Processes::new(),
            ended: crate::performance::Ended::new(),
            seen: crate::seen::Accounts::new(),
            rsa: RsaKeys::new(&settings.datadir),
            datadir: settings.datadir,
            tls: Snapshot::new(settings.tls),
            com: observe::register_family("Com_", COM),
            status_flushed_s: AtomicU64::new(0),
            account_ddl: Mutex::new(Rank::Accounts, ()),
            prepared: AtomicUsize::new(0),
            deadlines: AtomicUsize::new(0),
            xids: crate::xids::Xids::default(),
            stop: settings.stop,
            persisted: Mutex::new(Rank::Variables, settings.persisted),
            write_persisted: settings.write_persisted,
            adopt_copy: settings.adopt_copy,
            clone: Mutex::new(Rank::Session, settings.cloned.map(crate::clone_remote::record_of)),
            // Before all that a change of variables takes.
            resizing: Mutex::new(Rank::Session, ()),
            monitor: inspect::monitor::Monitor::default(),
            hosts: Hosts::new(),
            failed_logins: FailedLogins::new(),
            installing: Mutex::new(Rank::Session, ()),
            strength: Snapshot::new(StrengthPolicy::default()),
            events: Scheduler::new(),
            logs,
            error_log: settings.error_log,
            on_set_global: OnceLock::new(),
            stopping: AtomicBool::new(false),
            engine,
        });
        crate::panics::install();
        server.load_extensions()?;
        server.apply_globals();
        server.heed_restrictions()?;
        server.check_mandatory_roles()?;
        server.load_prepared()?;
        server.load_channels()?;
        register_gauges(&server);
        let told = Arc::downgrade(&server);
        server
            .engine
            .set_teller(Box::new(move |slot| told.upgrade().map_or(String::new(), |s| s.processes.tell(slot))));
        server.engine.tell_of_rollbacks(Box::new(|text| note(Level::System, ER_IB_MSG_707, text)));
        let watched = Arc::downgrade(&server);
        std::thread::Builder::new()
            .name("deadlines".to_string())
            .spawn(move || watch_deadlines(&watched))
            .map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("Can't create a new thread (errno {e})")))?;
        Ok(server)
    }

    /// Hands dynamic variables to those who obey them.
    pub(crate) fn apply_globals(&self) {
        let globals = self.globals.load();
        self.engine.set_flush_log_at_commit(globals.uint(FLUSH_LOG) as u8);
        self.engine.set_deadlock_detect(globals.bool(DEADLOCK_DETECT));
        plan::statistics::recalculate(globals.bool(STATS_AUTO_RECALC));
        self.engine.set_fill_factor(globals.uint(FILL_FACTOR) as u8);
        self.engine.set_purge(engine::PurgeSettings {
            batch_pages: globals.uint(PURGE_BATCH) as u32,
            lag_max: globals.uint(PURGE_LAG) as u32,
            delay_us_max: globals.uint(PURGE_LAG_DELAY) as u32,
        });
        self.engine.set_log_capacity(globals.uint(LOG_CAPACITY));
        crate::memory::apply_globals(&globals);
        observe::digests::set_sample_age(globals.uint(SAMPLE_AGE));
        self.logs.set(&globals);
        self.error_log.set(&globals);
        if globals.bool(crate::login::OFFLINE) {
            self.processes.end_unprivileged();
        }
        self.engine.set_pool_settings(crate::buffer_pool::settings(&globals));
        self.hosts.resize(globals.uint(HOST_CACHE_SIZE) as usize);
        self.catalog.locks().set_write_lock_max(globals.uint(WRITE_LOCKS_MAX));
        if let Some(binlog) = &self.binlog {
            binlog.set(crate::binary_log::settings(&globals));
            binlog.set_semisync(crate::semisync::settings(&globals));
            self.gathering.set(globals.uint(SYNC_DELAY), globals.uint(NO_DELAY_COUNT));
        }
        if let Some(told) = self.on_set_global.get() {
            told(&globals);
        }
    }
}
