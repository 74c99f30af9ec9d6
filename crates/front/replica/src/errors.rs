//! Numbers and texts of errors about channels, as MySQL has them.

use types::codes::*;
use types::{SqlError, err};

/// Which threads a statement about a channel cannot meet running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopped {
    #[default]
    None,
    Receiver,
    Applier,
    Both,
}

impl Stopped {
    /// What two parts of a statement need together.
    pub fn and(self, other: Stopped) -> Stopped {
        match (self, other) {
            (Stopped::None, which) | (which, Stopped::None) => which,
            (a, b) if a == b => a,
            _ => Stopped::Both,
        }
    }
}

fn stop_first(code: u16, thread: &str, stop: &str, channel: &str) -> SqlError {
    let text = format!(
        "This operation cannot be performed with {thread}; run STOP REPLICA {stop}FOR CHANNEL '{channel}' first"
    );
    SqlError::new(code, text)
}

pub fn must_stop(channel: &str) -> SqlError {
    stop_first(ER_REPLICA_CHANNEL_MUST_STOP, "running replication threads", "", channel)
}

pub fn receiver_must_stop(channel: &str) -> SqlError {
    let error =
        stop_first(ER_REPLICA_CHANNEL_IO_THREAD_MUST_STOP, "a running replica io thread", "IO_THREAD ", channel);
    SqlError::new(error.code, format!("{}.", error.message))
}

pub fn applier_must_stop(channel: &str) -> SqlError {
    let error =
        stop_first(ER_REPLICA_CHANNEL_SQL_THREAD_MUST_STOP, "a running replica sql thread", "SQL_THREAD ", channel);
    SqlError::new(error.code, format!("{}.", error.message))
}

/// Where no channel is meant.
pub fn appliers_must_stop() -> SqlError {
    err!(ER_REPLICA_SQL_THREAD_MUST_STOP)
}

pub fn invalid_name() -> SqlError {
    err!(ER_REPLICA_CHANNEL_NAME_INVALID_OR_TOO_LONG)
}

pub fn not_allowed(statement: &str, channel: &str) -> SqlError {
    err!(ER_REPLICA_CHANNEL_OPERATION_NOT_ALLOWED, format!("{statement} with the given parameters"), channel)
}

pub fn not_configured() -> SqlError {
    err!(ER_REPLICA_CONFIGURATION)
}

pub fn positions_with_auto_position() -> SqlError {
    err!(ER_BAD_REPLICA_AUTO_POSITION)
}

pub fn auto_position_without_gtids(channel: &str) -> SqlError {
    let text = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1 cannot be executed for channel '{channel}' because \
         @@GLOBAL.GTID_MODE = \
         OFF."
    );
    SqlError::new(ER_AUTO_POSITION_REQUIRES_GTID_MODE_NOT_OFF, text)
}

pub fn gtid_only(channel: &str) -> SqlError {
    err!(ER_CHANGE_REPLICATION_SOURCE_NO_OPTIONS_FOR_GTID_ONLY, channel)
}

pub fn delay_too_long(value: &str) -> SqlError {
    err!(ER_SOURCE_DELAY_VALUE_OUT_OF_RANGE, value, "2147483647")
}

pub fn wrong_heartbeat() -> SqlError {
    err!(ER_REPLICA_HEARTBEAT_VALUE_OUT_OF_RANGE, 4294967)
}

pub fn wrong_algorithms(value: &str, channel: &str) -> SqlError {
    err!(ER_CHANGE_SOURCE_WRONG_COMPRESSION_ALGORITHM_CLIENT, value, channel)
}

pub fn wrong_level(value: &str, channel: &str) -> SqlError {
    err!(ER_CHANGE_SOURCE_WRONG_COMPRESSION_LEVEL_CLIENT, value, channel)
}

pub fn wrong_table_pattern() -> SqlError {
    err!(ER_INVALID_RPL_WILD_TABLE_FILTER_PATTERN)
}

pub fn wrong_until() -> SqlError {
    err!(ER_BAD_REPLICA_UNTIL_COND)
}

/// Behind transactions that are not committed there are some that are.
pub fn gaps() -> SqlError {
    err!(ER_MTA_CHANGE_SOURCE_CANT_RUN_WITH_GAPS)
}

/// A thread of a channel has ended by a fault of this server. `who`: which.
pub(crate) fn panicked(who: &str) -> SqlError {
    err!(
        ER_MTA_INCONSISTENT_DATA,
        format!("The replica coordinator and worker threads are stopped: {who} has panicked.")
    )
}

/// Nothing more can be put into the relay log.
pub(crate) fn unwritten(e: impl std::fmt::Display) -> SqlError {
    err!(ER_REPLICA_RELAY_LOG_WRITE_FAILURE, e)
}

/// The source says that its binary log is not all that it did.
pub(crate) fn incident() -> SqlError {
    err!(ER_REPLICA_INCIDENT, "LOST_EVENTS", "error writing to the binary log")
}

/// The text of a note.
pub fn was_running(channel: &str) -> String {
    format!("Replication thread(s) for channel '{channel}' are already runnning.")
}

pub fn was_not_running(channel: &str) -> String {
    format!("Replication thread(s) for channel '{channel}' are already stopped.")
}
