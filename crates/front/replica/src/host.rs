//! What a channel needs of the server that it is in.

use crate::config::{Done, Filters, Mark, Position};
use crate::schedule::Turn;
use binlog::LogKeys;
use binlog::decode::{Head, QueryEvent, RowsEvent, SourceTable};
use binlog::event::XaId;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use types::SqlError;
use types::gtid::{GtidSet, Uuid};

/// Where a transaction comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub head: Head,
    pub server_id: u32,
}

/// Makes the changes of transactions, one after the other. One value a thread.
pub trait Apply: Send {
    /// Where the next transaction begins at the source. Nothing is open.
    fn starts_from(&mut self, from: &Position);

    /// A transaction begins. Nothing is open.
    fn begin(&mut self, origin: &Origin) -> Result<(), SqlError>;

    /// INSERT_ID or (`last`) LAST_INSERT_ID() of the statement that follows.
    fn set_insert_id(&mut self, last: bool, id: u64);

    /// The state of RAND() for the statement that follows.
    fn set_random(&mut self, seeds: (u64, u64));

    /// A statement, unless the filters leave it out. `ends`: it is a transaction of its own, which stores this position.
    fn statement(
        &mut self,
        query: &QueryEvent<'_>,
        timestamp: u32,
        filters: &Filters,
        ends: Option<&Position>,
    ) -> Result<(), SqlError>;

    /// Rows of one table.
    fn rows(&mut self, table: &SourceTable, event: &RowsEvent<'_>, timestamp: u32) -> Result<(), SqlError>;

    /// The transaction is applied and waits for its turn to commit, without a thread: from now on it is found by those who wait for what it
    /// has locked, and may be evicted.
    fn park(&mut self, turn: &Turn);

    /// It waits no longer.
    fn unpark(&mut self);

    /// The transaction ends with its changes, and stores how far the channel is.
    fn commit(&mut self, mark: &Mark) -> Result<(), SqlError>;

    /// The commit that follows prepares the transaction under this identifier; a statement decides later.
    fn prepares(&mut self, id: XaId);

    /// The transaction ends without its changes. Nothing happens when there is none.
    fn rollback(&mut self);

    /// What its transaction is known by where others wait for it: see [`Turn::earlier`].
    fn slot(&self) -> u32;

    /// The number of its session.
    fn thread(&self) -> u32;

    /// The thread that uses it ends. What it waits for ends too, with error 1317.
    fn interrupter(&self) -> Box<dyn Fn() + Send + Sync>;
}

/// The server.
pub trait Host: Send + Sync {
    /// An applier of a channel in which nobody applies yet but those with lower numbers. Errors: too many sessions.
    fn applier(&self, channel: &str, number: usize) -> Result<Box<dyn Apply>, SqlError>;

    /// What of the channel's transactions is committed, while nobody applies any.
    fn done(&self, channel: &str) -> Result<Done, SqlError>;

    /// Keeps what is given of a channel, all or nothing, durably. `None`: that stays as it is.
    fn save(&self, channel: &str, config: Option<&[u8]>, position: Option<&Position>) -> Result<(), SqlError>;

    /// Forgets a channel.
    fn forget(&self, channel: &str) -> Result<(), SqlError>;

    /// Waits until all that was committed so far is durable, by whomever: [`Apply::commit`] does not.
    fn settle(&self) -> Result<(), SqlError>;

    /// All transactions that this server has, its own and others'.
    fn executed(&self) -> GtidSet;

    /// By number among `OFF`, `OFF_PERMISSIVE`, `ON_PERMISSIVE`, `ON`.
    fn gtid_mode(&self) -> u64;

    fn server_id(&self) -> u32;

    fn server_uuid(&self) -> Uuid;

    /// `8.4.0`
    fn version(&self) -> String;

    /// `report_host` and `report_port`.
    fn report(&self) -> (String, u16);

    /// Is a source told what has come (`rpl_semi_sync_replica_enabled`)?
    fn answers(&self) -> bool;

    /// `replica_net_timeout`
    fn net_timeout(&self) -> Duration;

    /// `replica_transaction_retries`
    fn retries(&self) -> u64;

    /// `replica_parallel_workers`
    fn workers(&self) -> usize;

    /// `replica_preserve_commit_order`
    fn preserves_order(&self) -> bool;

    /// `max_relay_log_size`, or `max_binlog_size` where that is 0.
    fn relay_file_max(&self) -> u64;

    /// For relay logs, which are encrypted where the binary log is.
    fn log_keys(&self) -> Option<Arc<LogKeys>>;

    /// Where relay logs are, and what their names begin with.
    fn relay_base(&self) -> (PathBuf, String);

    /// `sql_replica_skip_counter`, which is 0 after.
    fn take_skip_counter(&self) -> u64;

    /// For the error log.
    fn tell(&self, text: &str);
}
