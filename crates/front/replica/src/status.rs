//! What is told of a channel.

use crate::config::{Position, SourceConfig};
use crate::progress::{LastError, Progress};
use crate::until::Until;
use crate::workers::WorkerStatus;
use std::time::Duration;
use types::gtid::GtidSet;

/// What the receiver is at, in the words of `Replica_IO_State`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoState {
    #[default]
    Stopped,
    Connecting,
    Reconnecting,
    Waiting,
}

impl IoState {
    pub fn words(self) -> &'static str {
        match self {
            IoState::Stopped => "",
            IoState::Connecting => "Connecting to source",
            IoState::Reconnecting => "Reconnecting after a failed source event read",
            IoState::Waiting => "Waiting for source to send event",
        }
    }

    /// `Replica_IO_Running`
    pub fn running(self) -> &'static str {
        match self {
            IoState::Stopped => "No",
            IoState::Connecting | IoState::Reconnecting => "Connecting",
            IoState::Waiting => "Yes",
        }
    }
}

/// What the applier is at, in the words of `Replica_SQL_Running_State`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SqlState {
    #[default]
    Stopped,
    Reading,
    Delayed,
    Waiting,
}

impl SqlState {
    pub fn words(self) -> &'static str {
        match self {
            SqlState::Stopped => "",
            SqlState::Reading => "Reading event from the relay log",
            SqlState::Delayed => "Waiting until SOURCE_DELAY seconds after source executed event",
            SqlState::Waiting => "Replica has read all relay log; waiting for more updates",
        }
    }
}

/// All that is told of a channel. The fields are what SHOW REPLICA STATUS and `replication_*` tables have columns for.
#[derive(Clone, Debug, Default)]
pub struct Status {
    pub channel: String,
    pub config: SourceConfig,
    pub io: IoState,
    pub sql: SqlState,
    pub io_error: LastError,
    pub sql_error: LastError,
    /// Up to where events have come.
    pub read: Position,
    /// Behind the last transaction that has been applied.
    pub applied: Position,
    pub relay_file: String,
    pub relay_offset: u64,
    pub relay_space: u64,
    pub source_server_id: u32,
    pub source_uuid: String,
    pub retrieved: GtidSet,
    pub skip_left: u64,
    /// `Seconds_Behind_Source`; `None`: not known.
    pub behind_s: Option<u64>,
    /// What is left of SOURCE_DELAY.
    pub delay_left_s: Option<u64>,
    /// The source is told what has come.
    pub answers: bool,
    pub heartbeats: u64,
    pub heartbeat_us: u64,
    /// How often the source is to send one.
    pub heartbeat: Duration,
    /// The last transaction that has come, and the one that comes.
    pub queued: Progress,
    pub queueing: Progress,
    /// The same of those that the coordinator has read in the relay log.
    pub read_whole: Progress,
    pub reading: Progress,
    pub until: Until,
    pub transactions: u64,
    pub retries: u64,
    /// Of the present start of the applier, or the last one.
    pub workers: Vec<WorkerStatus>,
}
