//! The server's replication channels: what is kept of them in the dictionary, and the server as they see it ([`replica::Host`]).

use crate::Server;
use crate::applied::{AHEAD_ENTRY, POSITION_ENTRY};
use crate::binary_log::SERVER_ID;
use crate::replica_apply::SessionApplier;
use crate::variables::{Val, VarId, id};
use binlog::LogKeys;
use catalog::dictionary::{self, Entry, Kind};
use catalog::error::from_engine;
use engine::{Isolation, Transaction};
use replica::replay::Plan;
use replica::{Apply, Channel, Done, Filters, Host, Position, SourceConfig, ThreadChoice, Until};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;
use types::codes::*;
use types::gtid::{GtidSet, Uuid};
use types::{Result, SqlError, err};

const GTID_MODE: VarId = id("gtid_mode");
const SERVER_UUID: VarId = id("server_uuid");
const VERSION: VarId = id("version");
const RELAY_LOG: VarId = id("relay_log");
const REPORT_HOST: VarId = id("report_host");
const REPORT_PORT: VarId = id("report_port");
const DATADIR: VarId = id("datadir");
const NET_TIMEOUT: VarId = id("replica_net_timeout");
const RETRIES: VarId = id("replica_transaction_retries");
const WORKERS: VarId = id("replica_parallel_workers");
const PRESERVES_ORDER: VarId = id("replica_preserve_commit_order");
const RELAY_FILE_MAX: VarId = id("max_relay_log_size");
const BINLOG_FILE_MAX: VarId = id("max_binlog_size");
const SKIP_COUNTER: VarId = id("sql_replica_skip_counter");
const OLD_SKIP_COUNTER: VarId = id("sql_slave_skip_counter");
const SKIP_START: VarId = id("skip_replica_start");
const CONFIG_ENTRY: &str = "source";
/// Filters without a channel.
const FILTERS_ENTRY: &str = "filters";
/// Of files of a binary log, for as long as they are applied.
const REPLAY_CHANNEL: &str = "clearway_restore";

/// The server as its channels see it. A channel does not keep it.
struct Here(Weak<Server>);

/// Error 1053: the server ends.
fn ended() -> SqlError {
    err!(ER_SERVER_SHUTDOWN)
}

impl Server {
    /// Of the binary log, or of relay logs of a server without one.
    pub(crate) fn log_keys(&self) -> Arc<LogKeys> {
        const ENCRYPTION: VarId = id("binlog_encryption");
        let globals = self.globals.load();
        let own = || LogKeys::new(self.engine.vault(), globals.text(SERVER_UUID).to_string(), globals.bool(ENCRYPTION));
        self.binlog.as_ref().map_or_else(|| Arc::new(own()), |binlog| Arc::clone(binlog.keys()))
    }

    pub(crate) fn replica_host(self: &Arc<Self>) -> Arc<dyn Host> {
        Arc::new(Here(Arc::downgrade(self)))
    }

    /// Channels as the dictionary has them. Error 1712 for a damaged entry.
    pub(crate) fn load_channels(self: &Arc<Self>) -> Result<()> {
        let mut tx = Transaction::new(&self.engine).map_err(from_engine)?;
        tx.begin(Isolation::RepeatableRead, true);
        let entries = dictionary::load(&mut tx, self.engine.dictionary(), Kind::Replication);
        tx.commit().map_err(from_engine)?;
        let entries = entries?;
        let value = |channel: &str, name: &str| {
            entries.iter().find(|e| e.schema == channel && e.name == name).map(|e| &e.value[..])
        };
        if let Some(bytes) = value("", FILTERS_ENTRY) {
            let kept = SourceConfig::decode(bytes).ok_or_else(|| dictionary::damaged(b"R"))?;
            *self.channels.filters.lock() = kept.filters;
        }
        let (options, now_us) = (&self.filter_options, crate::clock::clock_us());
        let all = options.over(self.channels.filters(), now_us);
        *self.channels.filters.lock() = all;
        for Entry { schema, value: config, .. } in entries.iter().filter(|e| e.name == CONFIG_ENTRY) {
            let damaged = || dictionary::damaged(format!("R{schema}").as_bytes());
            let mut config = SourceConfig::decode(config).ok_or_else(damaged)?;
            config.filters = options.over_channel(schema, options.over(config.filters, now_us), now_us);
            let position = done_of(&entries, schema)?.low;
            self.channels.put(&Arc::new(Channel::new(schema, self.replica_host(), config, position)));
        }
        Ok(())
    }

    /// The threads of all channels begin, unless `skip_replica_start` is on: as MySQL does at its start. What goes wrong goes to the
    /// error log.
    pub fn start_replicas(self: &Arc<Self>) {
        if self.globals.load().bool(SKIP_START) {
            return;
        }
        for channel in self.channels.all().iter().filter(|c| !c.config().host.is_empty()) {
            if let Err(e) = channel.start(ThreadChoice { io: true, sql: true }, &Until::Never) {
                crate::panics::tell(&format!("replication channel '{}' does not start: {}", channel.name(), e.message));
            }
        }
    }

    /// Before the server ends.
    pub fn stop_replicas(&self) {
        for channel in self.channels.all() {
            channel.stop(ThreadChoice { io: true, sql: true });
        }
    }

    /// Keeps what new channels begin with.
    pub(crate) fn set_global_filters(self: &Arc<Self>, filters: Filters) -> Result<()> {
        let bytes = SourceConfig { filters: filters.clone(), ..SourceConfig::default() }.encode();
        Here(Arc::downgrade(self)).change(|server, tx| {
            dictionary::put(tx, server.engine.dictionary(), Kind::Replication, "", FILTERS_ENTRY, &bytes)
        })?;
        *self.channels.filters.lock() = filters;
        Ok(())
    }

    /// Error 3017 for a variable that workers go by while they run.
    pub(crate) fn may_set_of_appliers(&self, id: VarId) -> Result<()> {
        let is_one = id == PRESERVES_ORDER || crate::variables::other_name(id) == Some(PRESERVES_ORDER);
        if is_one && self.channels.all().iter().any(|channel| channel.applies()) {
            return Err(replica::errors::appliers_must_stop());
        }
        Ok(())
    }

    /// Point-in-time recovery: applies what is planned of files of a binary log. `tell` hears how many transactions are done. Errors: the
    /// applier's.
    pub fn replay(self: &Arc<Self>, plan: &Plan, tell: &mut dyn FnMut(u64)) -> Result<()> {
        let position = Position::new("", 4);
        let channel = Channel::new(REPLAY_CHANNEL, self.replica_host(), SourceConfig::default(), position);
        replica::replay::replay(&Arc::new(channel), plan, tell)
    }

    /// All transactions with GTIDs that this server has, its own and others'.
    pub fn executed(self: &Arc<Self>) -> GtidSet {
        self.replica_host().executed()
    }

    /// A channel that there is not yet, unless there is.
    pub(crate) fn make_channel(self: &Arc<Self>, name: &str) -> Arc<Channel> {
        if let Some(channel) = self.channels.find(name) {
            return channel;
        }
        let position = Position::new("", 4);
        let filters = Filters { counts: Default::default(), ..self.channels.filters() };
        let filters = self.filter_options.over_channel(name, filters, crate::clock::clock_us());
        let config = SourceConfig { filters, ..SourceConfig::default() };
        Arc::new(Channel::new(name, self.replica_host(), config, position))
    }
}

/// Entries about how far a channel is.
fn is_mark(entry: &Entry, channel: &str) -> bool {
    entry.schema == channel && (entry.name.starts_with(POSITION_ENTRY) || entry.name.starts_with(AHEAD_ENTRY))
}

/// What of a channel's transactions is committed, by its entries. Error 1712 for a damaged one.
fn done_of(entries: &[Entry], channel: &str) -> Result<Done> {
    let (mut lows, mut ahead) = (Vec::new(), Vec::new());
    for entry in entries.iter().filter(|e| is_mark(e, channel)) {
        let position = Position::decode(&entry.value);
        let position = position.ok_or_else(|| dictionary::damaged(format!("R{channel}").as_bytes()))?;
        if entry.name.starts_with(AHEAD_ENTRY) { ahead.push(position) } else { lows.push(position) }
    }
    Ok(Done::of(lows.into_iter(), ahead.into_iter()))
}

/// The channels' entries as committed, not as durable: the applier before may not have waited for its last commit.
fn entries(server: &Server) -> Result<Vec<Entry>> {
    let mut tx = Transaction::new(&server.engine).map_err(from_engine)?;
    tx.begin(Isolation::ReadUncommitted, true);
    let entries = dictionary::load(&mut tx, server.engine.dictionary(), Kind::Replication);
    tx.commit().map_err(from_engine)?;
    entries
}

/// One entry takes the place of all that say how far a channel is.
fn replace_marks(server: &Server, tx: &mut Transaction, channel: &str, position: Option<&Position>) -> Result<()> {
    let tree = server.engine.dictionary();
    for entry in entries(server)?.iter().filter(|e| is_mark(e, channel) && e.name != POSITION_ENTRY) {
        dictionary::remove(tx, tree, Kind::Replication, channel, &entry.name)?;
    }
    let position = position.map(Position::encode).unwrap_or_default();
    dictionary::put(tx, tree, Kind::Replication, channel, POSITION_ENTRY, &position)
}

impl Here {
    fn server(&self) -> Result<Arc<Server>> {
        self.0.upgrade().ok_or_else(ended)
    }

    fn global<T>(&self, read: impl FnOnce(&crate::variables::Globals) -> T, gone: T) -> T {
        self.0.upgrade().map_or(gone, |server| read(&server.globals.load()))
    }

    /// In a transaction of its own.
    fn change(&self, change: impl FnOnce(&Server, &mut Transaction) -> Result<()>) -> Result<()> {
        let server = self.server()?;
        let mut tx = Transaction::new(&server.engine).map_err(from_engine)?;
        tx.begin(Isolation::ReadCommitted, false);
        match change(&server, &mut tx) {
            Ok(()) => tx.commit().map_err(from_engine),
            Err(e) => {
                tx.rollback().map_err(from_engine)?;
                Err(e)
            }
        }
    }
}

impl Host for Here {
    fn log_keys(&self) -> Option<Arc<LogKeys>> {
        self.0.upgrade().map(|server| server.log_keys())
    }

    fn applier(&self, channel: &str, number: usize) -> Result<Box<dyn Apply>> {
        let server = self.server()?;
        let low = done_of(&entries(&server)?, channel)?.low;
        Ok(Box::new(SessionApplier::new(&server, channel, number, low)?))
    }

    fn done(&self, channel: &str) -> Result<Done> {
        let all = entries(&*self.server()?)?;
        let done = done_of(&all, channel)?;
        let is_kept = |entry: &Entry| {
            entry.name == POSITION_ENTRY || Position::decode(&entry.value).is_some_and(|end| done.ahead.contains(&end))
        };
        let stale: Vec<&Entry> = all.iter().filter(|e| is_mark(e, channel) && !is_kept(e)).collect();
        if !stale.is_empty() {
            self.change(|server, tx| {
                let tree = server.engine.dictionary();
                for entry in &stale {
                    dictionary::remove(tx, tree, Kind::Replication, channel, &entry.name)?;
                }
                dictionary::put(tx, tree, Kind::Replication, channel, POSITION_ENTRY, &done.low.encode())
            })?;
        }
        Ok(done)
    }

    fn save(&self, channel: &str, config: Option<&[u8]>, position: Option<&Position>) -> Result<()> {
        self.change(|server, tx| {
            let tree = server.engine.dictionary();
            if let Some(config) = config {
                dictionary::put(tx, tree, Kind::Replication, channel, CONFIG_ENTRY, config)?;
            }
            match position {
                Some(at) => replace_marks(server, tx, channel, Some(at)),
                None => Ok(()),
            }
        })
    }

    fn forget(&self, channel: &str) -> Result<()> {
        self.change(|server, tx| {
            let tree = server.engine.dictionary();
            dictionary::remove(tx, tree, Kind::Replication, channel, CONFIG_ENTRY)?;
            replace_marks(server, tx, channel, None)
        })
    }

    fn settle(&self) -> Result<()> {
        settle(&*self.server()?)
    }

    fn executed(&self) -> GtidSet {
        let Some(server) = self.0.upgrade() else { return GtidSet::default() };
        let Some(binlog) = &server.binlog else { return GtidSet::default() };
        // Whoever is interrupted in the wait sees what there was before.
        let now = binlog.catch_up(sync::blocking::is_interrupted).unwrap_or_else(|_| binlog.published());
        GtidSet::clone(&now.executed)
    }

    fn gtid_mode(&self) -> u64 {
        self.global(|globals| globals.uint(GTID_MODE), 0)
    }

    fn server_id(&self) -> u32 {
        self.global(|globals| globals.uint(SERVER_ID) as u32, 0)
    }

    fn server_uuid(&self) -> Uuid {
        self.global(|globals| Uuid::parse(globals.text(SERVER_UUID)).unwrap_or_default(), Uuid::default())
    }

    fn version(&self) -> String {
        self.global(|globals| globals.text(VERSION).to_string(), String::new())
    }

    fn report(&self) -> (String, u16) {
        let told = |globals: &crate::variables::Globals| {
            (globals.text(REPORT_HOST).to_string(), globals.uint(REPORT_PORT) as u16)
        };
        self.global(told, (String::new(), 0))
    }

    fn answers(&self) -> bool {
        self.global(crate::semisync::answers, false)
    }

    fn net_timeout(&self) -> Duration {
        Duration::from_secs(self.global(|globals| globals.uint(NET_TIMEOUT), 60))
    }

    fn retries(&self) -> u64 {
        self.global(|globals| globals.uint(RETRIES), 0)
    }

    fn workers(&self) -> usize {
        self.global(|globals| globals.uint(WORKERS) as usize, 1)
    }

    fn preserves_order(&self) -> bool {
        self.global(|globals| globals.bool(PRESERVES_ORDER), true)
    }

    fn relay_file_max(&self) -> u64 {
        let max = |globals: &crate::variables::Globals| match globals.uint(RELAY_FILE_MAX) {
            0 => globals.uint(BINLOG_FILE_MAX),
            max => max,
        };
        self.global(max, u64::MAX)
    }

    fn relay_base(&self) -> (PathBuf, String) {
        let base = |globals: &crate::variables::Globals| {
            let base = match globals.text(RELAY_LOG) {
                "" => "relay-bin",
                base => base,
            };
            (PathBuf::from(globals.text(DATADIR)), base.to_string())
        };
        self.global(base, (PathBuf::new(), "relay-bin".to_string()))
    }

    fn take_skip_counter(&self) -> u64 {
        let Some(server) = self.0.upgrade() else { return 0 };
        let left = server.globals.load().uint(SKIP_COUNTER);
        if left > 0 {
            server.globals.update(|old| {
                let mut globals = crate::variables::Globals::clone(old);
                globals.set(SKIP_COUNTER, Val::UInt(0));
                globals.set(OLD_SKIP_COUNTER, Val::UInt(0));
                globals
            });
        }
        left
    }

    fn tell(&self, text: &str) {
        crate::panics::tell(text);
    }
}

/// Waits until all that was committed so far is durable, where commits are.
pub(crate) fn settle(server: &Server) -> Result<()> {
    const AT_EACH_COMMIT: u8 = 1;
    match server.engine.flush_log_at_commit() {
        AT_EACH_COMMIT => server.engine.hurry_events().map(drop).map_err(from_engine),
        // Nobody waits for a flush.
        _ => Ok(()),
    }
}
