//! What all sessions share, and the [`protocol::Service`] that the listener drives.

use crate::binary_log::{self, LOG_BIN};
use crate::com::COM;
use crate::command::Session;
use crate::connection_control::FailedLogins;
use crate::events::scheduler::Scheduler;
use crate::gathering::Gathering;
use crate::gtid::{GTID_EXECUTED, GTID_OWNED, GTID_PURGED, Gtids};
use crate::hosts::Hosts;
use crate::logs::{Log, Logs, rows_of};
use crate::persist::Persisted;
use crate::process::Processes;
use crate::tls::Tls;
use crate::variables::{Extension, Globals, Origin, VARIABLES, Val, VarId, Variable, id};
use accounts::strength::StrengthPolicy;
use accounts::{Accounts, Directory, Policy};
use catalog::dictionary::Kind;
use catalog::mdl::Name;
use catalog::{Catalog, Emptied, Table};
use engine::{Engine, Transaction};
use inspect::{CloneRecord, Process, VariableInfo, VariableSource};
use observe::Family;
use protocol::{ClosedBy, Connection, HangUp, Next, Peer, RsaKeys, Service};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use sync::blocking::Wait;
use sync::{Mutex, Parker, Rank, Snapshot};
use types::codes::*;
use types::{Result, SqlError, err};

const VERSION: VarId = id("version");
const VERSION_COMMENT: VarId = id("version_comment");
const PORT: VarId = id("port");
const SOCKET: VarId = id("socket");
const SYNC_DELAY: VarId = id("binlog_group_commit_sync_delay");
const NO_DELAY_COUNT: VarId = id("binlog_group_commit_sync_no_delay_count");
const WAIT_TIMEOUT: VarId = id("wait_timeout");
const HOST_CACHE_SIZE: VarId = id("host_cache_size");
const FLUSH_LOG: VarId = id("innodb_flush_log_at_trx_commit");
const DEADLOCK_DETECT: VarId = id("innodb_deadlock_detect");
const FILL_FACTOR: VarId = id("innodb_fill_factor");
const LOG_CAPACITY: VarId = id("innodb_redo_log_capacity");
const PURGE_BATCH: VarId = id("innodb_purge_batch_size");
const PURGE_LAG: VarId = id("innodb_max_purge_lag");
const PURGE_LAG_DELAY: VarId = id("innodb_max_purge_lag_delay");
pub(crate) const EVENT_SCHEDULER: VarId = id("event_scheduler");
/// Numbers of its values.
pub(crate) const EVENTS_ON: u64 = 1;
pub(crate) const EVENTS_DISABLED: u64 = 2;
const WRITE_LOCKS_MAX: VarId = id("max_write_lock_count");

/// Name of the dictionary entry that holds all accounts.
const ACCOUNTS_ENTRY: &str = "accounts";
/// How often deadlines are looked at while there are any.
const DEADLINE_TICK: Duration = Duration::from_millis(5);
/// How often running statements are asked whether their clients are still there.
const REAP_TICK_US: u64 = 300_000;
const IDLE_TICK: Duration = Duration::from_millis(100);

/// What the binary decides.
pub struct Settings {
    pub globals: Globals,
    /// Where caching_sha2_password's keys are kept.
    pub datadir: std::path::PathBuf,
    /// Called by SHUTDOWN: asks the process to stop.
    pub stop: Box<dyn Fn() + Send + Sync>,
    /// What `mysqld-auto.cnf` said at start.
    pub persisted: Persisted,
    /// Called by SET PERSIST and RESET PERSIST with the new text of `mysqld-auto.cnf`, one at a time.
    pub write_persisted: WritePersisted,
    /// Called by CLONE with a copy that is whole: makes it a data directory, of another server.
    pub adopt_copy: AdoptCopy,
    /// What the data say of themselves that CLONE INSTANCE has put in place of others.
    pub cloned: Option<backup::Manifest>,
    /// Rows of engine MEMORY stay: the data are a copy that goes on where the server was that it was made of.
    pub goes_on: bool,
    /// mysql_native_password can be used.
    pub native_password: bool,
    /// What the first connections are offered.
    pub tls: Tls,
    pub binlog: Option<Arc<binlog::Binlog>>,
}

/// Replaces the file; what it says is durable after.
pub type WritePersisted = Box<dyn Fn(&str) -> std::io::Result<()> + Send + Sync>;

/// From then on a server can be started from the directory.
pub type AdoptCopy = Box<dyn Fn(&Path) -> std::io::Result<()> + Send + Sync>;

pub(crate) const USER_CONNECTIONS: VarId = id("max_user_connections");
const PARTIAL_REVOKES: VarId = id("partial_revokes");
const PASSWORD_LIFETIME: VarId = id("default_password_lifetime");
const PASSWORD_HISTORY: VarId = id("password_history");
const PASSWORD_REUSE: VarId = id("password_reuse_interval");
const CHECK_PROXIES: VarId = id("check_proxy_users");
const PROXIES_CACHING_SHA2: VarId = id("caching_sha2_password_proxy_users");
const PROXIES_SHA256: VarId = id("sha256_password_proxy_users");
const PASSWORD_REQUIRE_CURRENT: VarId = id("password_require_current");
/// What [`Server::apply_policy`] hands on.
pub(crate) const POLICY: [VarId; 9] = [
    PARTIAL_REVOKES,
    PASSWORD_LIFETIME,
    PASSWORD_HISTORY,
    PASSWORD_REUSE,
    PASSWORD_REQUIRE_CURRENT,
    USER_CONNECTIONS,
    CHECK_PROXIES,
    PROXIES_CACHING_SHA2,
    PROXIES_SHA256,
];

/// Called with the global variables as they now are.
type Told = Box<dyn Fn(&Globals) + Send + Sync>;

/// Everything that sessions share. One a process (tests may make several).
pub struct Server {
    pub engine: Arc<Engine>,
    /// `None`: `log_bin` is off.
    pub(crate) binlog: Option<Arc<binlog::Binlog>>,
    /// W, R: sessions that name the number of their transaction.
    pub(crate) gtids: Gtids,
    /// By connection. W: dumps that begin and end.
    pub(crate) dumps: Mutex<BTreeMap<u32, crate::dump::Dumping>>,
    pub(crate) gathering: Gathering,
    /// By connection. W: replicas that register and go. R: SHOW REPLICAS.
    pub(crate) replicas: Mutex<BTreeMap<u32, crate::dump::Replica>>,
    /// This server's own sources.
    pub(crate) channels: crate::replicas::Channels,
    pub catalog: Arc<Catalog>,
    pub accounts: Accounts,
    /// W: SET GLOBAL. R: sessions at connect, `@@global.x`.
    pub globals: Snapshot<Globals>,
    pub(crate) processes: Processes,
    pub(crate) rsa: RsaKeys,
    pub(crate) datadir: std::path::PathBuf,
    /// W: ALTER INSTANCE RELOAD TLS. R: connections that log in, SHOW STATUS.
    pub(crate) tls: Snapshot<Tls>,
    pub(crate) com: Family,
    /// Uptime at the last FLUSH STATUS. W: who flushes. R: whoever asks for the status.
    pub(crate) status_flushed_s: AtomicU64,
    /// Account statements, one at a time.
    pub(crate) account_ddl: Mutex<()>,
    /// Prepared statements of all sessions. W: PREPARE and close, never execution.
    pub(crate) prepared: AtomicUsize,
    /// Sessions with `max_execution_time` that run now. W: those sessions. R: the deadline thread.
    pub(crate) deadlines: AtomicUsize,
    /// R, W: XA START and the ends of XA transactions.
    pub(crate) xids: crate::xids::Xids,
    pub(crate) stop: Box<dyn Fn() + Send + Sync>,
    /// As it stands in the file. Held while that is written.
    pub(crate) persisted: Mutex<Persisted>,
    pub(crate) write_persisted: WritePersisted,
    pub(crate) adopt_copy: AdoptCopy,
    /// The copy of the server that was made last, or is being made. W: CLONE. R: `performance_schema`.
    pub(crate) clone: Mutex<Option<CloneRecord>>,
    /// Held while the buffer pool's size is set.
    pub(crate) resizing: Mutex<()>,
    pub(crate) hosts: Hosts,
    /// R, W: logins, while the plugin `CONNECTION_CONTROL` is installed.
    pub(crate) failed_logins: FailedLogins,
    /// INSTALL and UNINSTALL, one at a time.
    pub(crate) installing: Mutex<()>,
    /// What `validate_password` asks for. W: SET GLOBAL, INSTALL and UNINSTALL. R: whoever sets a password.
    pub(crate) strength: Snapshot<StrengthPolicy>,
    pub(crate) events: Arc<Scheduler>,
    /// The slow log and the general log.
    pub(crate) logs: Arc<Logs>,
    /// FLUSH ERROR LOGS: set by whoever writes the error log.
    flush_error_log: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Told of each SET GLOBAL: what lies outside of sessions and engine obeys too.
    on_set_global: OnceLock<Told>,
    stopping: AtomicBool,
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
            replicas: Mutex::new(Rank::Session, BTreeMap::new()),
            channels: crate::replicas::Channels::new(),
            catalog,
            accounts: Accounts::new(directory).with_native_password(settings.native_password),
            globals: Snapshot::new(globals),
            processes: Processes::new(),
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
            hosts: Hosts::new(),
            failed_logins: FailedLogins::new(),
            installing: Mutex::new(Rank::Session, ()),
            strength: Snapshot::new(StrengthPolicy::default()),
            events: Scheduler::new(),
            logs,
            flush_error_log: OnceLock::new(),
            on_set_global: OnceLock::new(),
            stopping: AtomicBool::new(false),
            engine,
        });
        crate::panics::install();
        server.load_extensions()?;
        server.apply_globals();
        if server.accounts.directory().has_restrictions() {
            // As MySQL does: they hold whatever the option file says.
            server.globals.update(|old| {
                let mut globals = Globals::clone(old);
                globals.set(PARTIAL_REVOKES, crate::variables::Val::Bool(true));
                globals
            });
        }
        server.apply_policy(&server.globals.load())?;
        server.check_mandatory_roles()?;
        server.load_prepared()?;
        server.load_channels()?;
        register_gauges(&server);
        let told = Arc::downgrade(&server);
        server
            .engine
            .set_teller(Box::new(move |slot| told.upgrade().map_or(String::new(), |s| s.processes.tell(slot))));
        let watched = Arc::downgrade(&server);
        std::thread::Builder::new()
            .name("deadlines".to_string())
            .spawn(move || watch_deadlines(&watched))
            .map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("Can't create a new thread (errno {e})")))?;
        Ok(server)
    }

    /// What the variables say of accounts, from the next statement and login on. Error 3896: `partial_revokes` cannot be OFF while
    /// there are partial revokes.
    pub(crate) fn apply_policy(&self, globals: &Globals) -> Result<()> {
        let policy = Policy {
            partial_revokes: globals.bool(PARTIAL_REVOKES),
            lifetime_days: globals.uint(PASSWORD_LIFETIME) as u16,
            history: globals.uint(PASSWORD_HISTORY).min(u32::MAX.into()) as u32,
            reuse_days: globals.uint(PASSWORD_REUSE).min(u32::MAX.into()) as u32,
            require_current: globals.bool(PASSWORD_REQUIRE_CURRENT),
            user_connections: globals.uint(USER_CONNECTIONS).min(u32::MAX.into()) as u32,
            proxies_caching_sha2: globals.bool(CHECK_PROXIES) && globals.bool(PROXIES_CACHING_SHA2),
            proxies_sha256: globals.bool(CHECK_PROXIES) && globals.bool(PROXIES_SHA256),
            auth_socket: globals.has(Extension::AuthSocket),
            no_login: globals.has(Extension::NoLogin),
        };
        let _lock = self.account_ddl.lock_or_end(Wait::LogFlush).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        let mut directory = Directory::clone(&self.accounts.directory());
        if !policy.partial_revokes && directory.has_restrictions() {
            return Err(err!(ER_PARTIAL_REVOKES_EXIST));
        }
        if *directory.policy() != policy {
            directory.set_policy(policy);
            self.accounts.replace(directory);
        }
        Ok(())
    }

    /// After the last session has ended: stores what has to be exact. The engine is closed afterwards.
    pub fn close(&self) -> Result<()> {
        // Relaxed: only ends the deadline thread.
        self.stopping.store(true, Ordering::Relaxed);
        self.logs.end();
        self.catalog.close()
    }

    /// `flush` is called by FLUSH ERROR LOGS. The first call counts.
    pub fn on_flush_error_log(&self, flush: Box<dyn Fn() + Send + Sync>) {
        let _ = self.flush_error_log.set(flush);
    }

    pub(crate) fn flush_error_log(&self) {
        if let Some(flush) = self.flush_error_log.get() {
            flush();
        }
    }

    /// `told` is called with the new values after each SET GLOBAL. The first call counts.
    pub fn on_set_global(&self, told: Told) {
        let _ = self.on_set_global.set(told);
    }

    /// A global variable as SHOW prints it: some are computed.
    pub(crate) fn printed_global(&self, globals: &Globals, id: VarId) -> String {
        match self.gtid_set(id) {
            Some(set) => set,
            None if id == GTID_OWNED => self.gtids.print_owned(),
            None => VARIABLES[id as usize].print(globals.get(id)).into_owned(),
        }
    }

    /// `gtid_executed` and `gtid_purged` as of all commits so far; `None`: it is neither.
    pub(crate) fn gtid_set(&self, id: VarId) -> Option<String> {
        if !matches!(id, GTID_EXECUTED | GTID_PURGED) {
            return None;
        }
        let Some(binlog) = &self.binlog else { return Some(String::new()) };
        // Whoever is interrupted in the wait sees what there was before.
        let now = binlog.catch_up(sync::blocking::is_interrupted).unwrap_or_else(|_| binlog.published());
        Some(if id == GTID_EXECUTED { now.executed.to_string() } else { now.purged.to_string() })
    }

    /// Hands dynamic variables to those who obey them.
    pub(crate) fn apply_globals(&self) {
        let globals = self.globals.load();
        self.engine.set_flush_log_at_commit(globals.uint(FLUSH_LOG) as u8);
        self.engine.set_deadlock_detect(globals.bool(DEADLOCK_DETECT));
        self.engine.set_fill_factor(globals.uint(FILL_FACTOR) as u8);
        self.engine.set_purge(engine::PurgeSettings {
            batch_pages: globals.uint(PURGE_BATCH) as u32,
            lag_max: globals.uint(PURGE_LAG) as u32,
            delay_us_max: globals.uint(PURGE_LAG_DELAY) as u32,
        });
        self.engine.set_log_capacity(globals.uint(LOG_CAPACITY));
        crate::memory::apply_globals(&globals);
        self.logs.set(&globals);
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

/// What a file of the slow log or the general log begins with, each time that it is opened.
fn log_heading(globals: &Globals) -> String {
    let program = std::env::current_exe().map_or_else(|_| "clearway".to_string(), |path| path.display().to_string());
    let (version, comment) = (globals.text(VERSION), globals.text(VERSION_COMMENT));
    let (port, socket) = (globals.uint(PORT), globals.text(SOCKET));
    format!(
        "{program}, Version: {version} ({comment}). started with:\nTcp port: {port}  Unix socket: {socket}\n\
         Time                 Id Command    Argument\n"
    )
}

/// Writes all accounts in a transaction of its own.
pub(crate) fn store_accounts(
    catalog: &Catalog,
    tx: &mut Transaction,
    directory: &Directory,
    log: impl FnOnce(&mut Transaction) -> Result<()>,
) -> Result<()> {
    use catalog::dictionary::put;
    use catalog::error::from_engine;
    tx.begin(engine::Isolation::RepeatableRead, false);
    let tree = catalog.engine().dictionary();
    let stored = put(tx, tree, Kind::Account, "", ACCOUNTS_ENTRY, &directory.to_bytes());
    match stored.and_then(|()| log(tx)) {
        Ok(()) => tx.commit().map_err(from_engine),
        Err(e) => {
            tx.rollback().map_err(from_engine)?;
            Err(e)
        }
    }
}

fn watch_deadlines(server: &Weak<Server>) {
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
        let now = crate::state::clock_us();
        if now.saturating_sub(reaped_us) >= REAP_TICK_US {
            reaped_us = now;
            server.processes.reap(now);
        }
        drop(server);
        parker.park_timeout(if any { DEADLINE_TICK } else { IDLE_TICK });
    }
}

impl inspect::Source for Server {
    fn replication(&self, table: inspect::Replication) -> Vec<inspect::Row> {
        crate::replica_tables::rows(self, table)
    }

    fn logged(&self, slow: bool) -> Result<Vec<inspect::Row>> {
        let log = if slow { Log::Slow } else { Log::General };
        rows_of(log, &self.logs.table(log)?)
    }

    fn processes(&self) -> Vec<Process> {
        let mut list = self.processes.list();
        list.extend(self.events.process(crate::state::clock_us()));
        for (connection, state) in self.catalog.locks().waits() {
            list.iter_mut().filter(|p| p.id == connection).for_each(|p| p.state = state);
        }
        list
    }

    fn gtid_executed(&self) -> Vec<inspect::ExecutedGtids> {
        self.binlog.as_ref().map_or_else(Vec::new, |binlog| crate::gtid::executed_rows(binlog))
    }

    fn binlog_compression(&self) -> Vec<inspect::BinlogCompression> {
        self.binlog.as_ref().map_or_else(Vec::new, |binlog| crate::binary_log::compression_rows(binlog))
    }

    fn clone_record(&self) -> Option<CloneRecord> {
        let record = self.clone.lock().clone();
        record.map(|record| CloneRecord { now_us: crate::state::clock_us(), ..record })
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

/// Sets variables that the server computes: `hostname`, `server_uuid`, `version_compile_machine`, ...
pub fn computed_variables(globals: &mut Globals, datadir: &Path, uuid: String, hostname: String) {
    let mut set = |name: &str, value: String| {
        let id = crate::variables::find(name).expect("the table has it");
        globals.set(id, Val::Str(value.into()));
    };
    set("server_uuid", uuid);
    set("hostname", hostname);
    set("version_compile_machine", std::env::consts::ARCH.to_string());
    set("datadir", format!("{}/", datadir.display()));
    let zone = jiff::Zoned::now();
    set("system_time_zone", zone.time_zone().to_offset_info(zone.timestamp()).abbreviation().to_string());
}

/// The server as the listener sees it.
pub struct Sessions(pub Arc<Server>);

/// A connection's session, or why it gets none.
pub enum Opened {
    Session(Box<Session>),
    Refused(SqlError),
}

impl Service for Sessions {
    type Session = Opened;

    fn open(&self, id: u32, peer: Peer, hang_up: HangUp) -> Opened {
        match Session::new(&self.0, id, peer, hang_up) {
            Ok(session) => Opened::Session(Box::new(session)),
            Err(error) => Opened::Refused(error),
        }
    }

    fn greet(&self, session: &mut Opened, conn: &mut Connection) -> Next {
        match session {
            Opened::Session(session) => session.admit(conn),
            Opened::Refused(error) => {
                // The connection closes whether the client reads it or not.
                let _ = conn.output().error(error);
                Next::Close
            }
        }
    }

    #[inline]
    fn serve(&self, session: &mut Opened, conn: &mut Connection) -> Next {
        match session {
            Opened::Session(session) => session.serve(conn),
            Opened::Refused(_) => Next::Close,
        }
    }

    fn settle(&self, session: &mut Opened, conn: &mut Connection) -> Next {
        match session {
            Opened::Session(session) => session.settle(conn.output()),
            Opened::Refused(_) => Next::Close,
        }
    }

    fn is_midway(&self, session: &Opened) -> bool {
        match session {
            Opened::Session(session) => session.is_midway(),
            Opened::Refused(_) => false,
        }
    }

    fn idle_limit(&self, session: &Opened) -> Duration {
        match session {
            Opened::Session(session) => {
                // An interactive client's wait_timeout was set from interactive_timeout at the login.
                Duration::from_secs(session.state.vars.uint(WAIT_TIMEOUT))
            }
            Opened::Refused(_) => Duration::ZERO,
        }
    }

    fn resume(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.counters.attach();
        }
    }

    fn pause(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.pause();
        }
    }

    #[inline]
    fn enter(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.counters.enter();
        }
    }

    #[inline]
    fn leave(&self, session: &mut Opened) {
        if let Opened::Session(session) = session {
            session.counters.leave();
        }
    }

    fn interrupt(&self) {
        self.0.processes.interrupt_all();
    }

    fn close(&self, session: Opened, by: ClosedBy) {
        if let Opened::Session(session) = session {
            session.close(by);
        }
    }
}

/// The accounts of the dictionary; where it has none yet, root with the first password.
fn stored_accounts(
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

fn register_gauges(server: &Arc<Server>) {
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
    observe::register_gauge("Global_connection_memory", sync::memory::tracked);
    observe::register_gauge("Uptime", observe::clock::uptime_s);
}
