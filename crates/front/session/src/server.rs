//! What all sessions share.

use crate::connection_control::FailedLogins;
use crate::error_log::ErrorLog;
use crate::events::scheduler::Scheduler;
use crate::gathering::Gathering;
use crate::gtids::{GTID_EXECUTED, GTID_OWNED, GTID_PURGED, Gtids};
use crate::hosts::Hosts;
use crate::logs::Logs;
use crate::persisted::Persisted;
use crate::process::Processes;
use crate::tls::Tls;
use crate::variables::{Extension, Globals, VARIABLES, Val, VarId, id};
use accounts::strength::StrengthPolicy;
use accounts::{Accounts, Directory, Policy};
use catalog::Catalog;
use catalog::dictionary::Kind;
use engine::{Engine, Transaction};
use inspect::CloneRecord;
use observe::Family;
use protocol::RsaKeys;
use replica::FilterOptions;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use sync::waits::Wait;
use sync::{Mutex, Snapshot};
use types::codes::*;
use types::{Result, err};

pub(crate) const EVENT_SCHEDULER: VarId = id("event_scheduler");
/// Numbers of its values.
pub(crate) const EVENTS_ON: u64 = 1;
pub(crate) const EVENTS_DISABLED: u64 = 2;

/// Name of the dictionary entry that holds all accounts.
pub(crate) const ACCOUNTS_ENTRY: &str = "accounts";

/// What the binary decides.
pub struct Settings {
    pub error_log: Arc<ErrorLog>,
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
    /// A client that logs in says which character set it speaks; else it is the server's.
    pub client_charset: bool,
    /// What the first connections are offered.
    pub tls: Tls,
    /// What channels begin with.
    pub filter_options: FilterOptions,
    pub binlog: Option<Arc<binlog::Binlog>>,
}

/// Replaces the file; what it says is durable after.
pub type WritePersisted = Box<dyn Fn(&str) -> std::io::Result<()> + Send + Sync>;

/// From then on a server can be started from the directory.
pub type AdoptCopy = Box<dyn Fn(&Path) -> std::io::Result<()> + Send + Sync>;

pub(crate) const USER_CONNECTIONS: VarId = id("max_user_connections");
pub(crate) const PARTIAL_REVOKES: VarId = id("partial_revokes");
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

/// Everything that sessions share. One a process (tests may make several). Its fields are doors to what has rules of its own, each with
/// those who write it (W) and read it (R).
pub struct Server {
    pub engine: Arc<Engine>,
    /// `None`: `log_bin` is off.
    pub(crate) binlog: Option<Arc<binlog::Binlog>>,
    /// W, R: sessions that name the number of their transaction.
    pub(crate) gtids: Gtids,
    /// By connection. W: dumps that begin and end.
    pub(crate) dumps: Mutex<BTreeMap<u32, crate::dumps::Dumping>>,
    pub(crate) gathering: Gathering,
    /// See [`Settings::client_charset`].
    pub(crate) client_charset: bool,
    pub(crate) filter_options: FilterOptions,
    /// By connection. W: replicas that register and go. R: SHOW REPLICAS.
    pub(crate) replicas: Mutex<BTreeMap<u32, crate::dumps::Replica>>,
    /// This server's own sources.
    pub(crate) channels: crate::channels::Channels,
    pub catalog: Arc<Catalog>,
    pub accounts: Accounts,
    /// W: SET GLOBAL. R: sessions at connect, `@@global.x`.
    pub globals: Snapshot<Globals>,
    pub(crate) processes: Processes,
    /// W: sessions that end. R: whoever reads sums of sessions.
    pub(crate) ended: crate::performance::Ended,
    /// What accounts keep of their sessions. W: logins, sessions that end. R: whoever asks.
    pub(crate) seen: crate::seen::Accounts,
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
    pub(crate) monitor: inspect::monitor::Monitor,
    /// R, W: logins, while the plugin `CONNECTION_CONTROL` is installed.
    pub(crate) failed_logins: FailedLogins,
    /// INSTALL and UNINSTALL, one at a time.
    pub(crate) installing: Mutex<()>,
    /// What `validate_password` asks for. W: SET GLOBAL, INSTALL and UNINSTALL. R: whoever sets a password.
    pub(crate) strength: Snapshot<StrengthPolicy>,
    pub(crate) events: Arc<Scheduler>,
    /// The slow log and the general log.
    pub(crate) logs: Arc<Logs>,
    pub(crate) error_log: Arc<ErrorLog>,
    /// Told of each SET GLOBAL: what lies outside of sessions and engine obeys too.
    pub(crate) on_set_global: OnceLock<Told>,
    pub(crate) stopping: AtomicBool,
}

impl Server {
    /// Where accounts have partial revokes these hold whatever the option file says, as in MySQL; what the variables say of accounts holds.
    pub(crate) fn heed_restrictions(&self) -> Result<()> {
        if self.accounts.directory().has_restrictions() {
            self.globals.update(|old| {
                let mut globals = Globals::clone(old);
                globals.set(PARTIAL_REVOKES, Val::Bool(true));
                globals
            });
        }
        self.apply_policy(&self.globals.load())
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
        let _lock = self.account_ddl.lock_or_end(Wait::AccountsMutex).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
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

    /// The error log and the files of the query logs, which somebody may have moved. An error is one of the file.
    pub fn reopen_logs(&self) -> Result<()> {
        self.error_log.reopen();
        crate::logs::Log::ALL.into_iter().try_for_each(|log| self.logs.reopen(log))
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
