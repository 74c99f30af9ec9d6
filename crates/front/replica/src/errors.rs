//! Numbers and texts of errors about channels, as MySQL has them.

use types::SqlError;

pub const NAME_INVALID: u16 = 3076;
pub const MUST_STOP: u16 = 3081;
pub const WAS_RUNNING: u16 = 3083;
pub const WAS_NOT_RUNNING: u16 = 3084;
pub const UNTIL_IGNORED: u16 = 1279;

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
    stop_first(MUST_STOP, "running replication threads", "", channel)
}

pub fn receiver_must_stop(channel: &str) -> SqlError {
    let error = stop_first(3021, "a running replica io thread", "IO_THREAD ", channel);
    SqlError::new(error.code, format!("{}.", error.message))
}

pub fn applier_must_stop(channel: &str) -> SqlError {
    let error = stop_first(3085, "a running replica sql thread", "SQL_THREAD ", channel);
    SqlError::new(error.code, format!("{}.", error.message))
}

/// Where no channel is meant.
pub fn appliers_must_stop() -> SqlError {
    let text =
        "This operation cannot be performed with a running replica sql thread; run STOP REPLICA SQL_THREAD first";
    SqlError::new(3017, text)
}

pub fn invalid_name() -> SqlError {
    SqlError::new(NAME_INVALID, "Couldn't create channel: Channel name is either invalid or too long.")
}

pub fn not_allowed(statement: &str, channel: &str) -> SqlError {
    let text = format!("{statement} with the given parameters cannot be performed on channel '{channel}'.");
    SqlError::new(3139, text)
}

pub fn not_configured() -> SqlError {
    let text = "Replica is not configured or failed to initialize properly. You must at least set --server-id to enable either a source \
                or a replica. Additional error messages can be found in the MySQL error log.";
    SqlError::new(1794, text)
}

pub fn positions_with_auto_position() -> SqlError {
    let text = "Parameters SOURCE_LOG_FILE, SOURCE_LOG_POS, RELAY_LOG_FILE and RELAY_LOG_POS cannot be set when SOURCE_AUTO_POSITION is \
                active.";
    SqlError::new(1776, text)
}

pub fn auto_position_without_gtids(channel: &str) -> SqlError {
    let text = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1 cannot be executed for channel '{channel}' because @@GLOBAL.GTID_MODE = \
         OFF."
    );
    SqlError::new(1777, text)
}

pub fn gtid_only(channel: &str) -> SqlError {
    let text = format!(
        "GTID_ONLY cannot be enabled for replication channel '{channel}'. You need GTID_MODE = ON, SOURCE_AUTO_POSITION = 1 and \
         REQUIRE_ROW_FORMAT = 1."
    );
    SqlError::new(4065, text)
}

pub fn delay_too_long(value: &str) -> SqlError {
    let text = format!("The requested value {value} for the source delay exceeds the maximum 2147483647");
    SqlError::new(1729, text)
}

pub fn wrong_heartbeat() -> SqlError {
    let text = "The requested value for the heartbeat period is either negative or exceeds the maximum allowed (4294967 seconds).";
    SqlError::new(1624, text)
}

pub fn wrong_algorithms(value: &str, channel: &str) -> SqlError {
    SqlError::new(3920, format!("Invalid SOURCE_COMPRESSION_ALGORITHMS '{value}' for channel '{channel}'."))
}

pub fn wrong_level(value: &str, channel: &str) -> SqlError {
    SqlError::new(3921, format!("Invalid SOURCE_ZSTD_COMPRESSION_LEVEL {value} for channel '{channel}'."))
}

pub fn wrong_table_pattern() -> SqlError {
    let text = "Supplied filter list contains a value which is not in the required format 'db_pattern.table_pattern'";
    SqlError::new(3067, text)
}

pub fn wrong_until() -> SqlError {
    SqlError::new(1277, "Incorrect parameter or combination of parameters for START REPLICA UNTIL")
}

/// Behind transactions that are not committed there are some that are.
pub fn gaps() -> SqlError {
    let text = "CHANGE REPLICATION SOURCE cannot be executed when the replica was stopped with an error or killed in MTA mode. Consider \
                using RESET REPLICA or START REPLICA UNTIL.";
    SqlError::new(1802, text)
}

/// A thread of a channel has ended by a fault of this server. `who`: which.
pub(crate) fn panicked(who: &str) -> SqlError {
    SqlError::new(1756, format!("The replica coordinator and worker threads are stopped: {who} has panicked."))
}

/// Nothing more can be put into the relay log.
pub(crate) fn unwritten(e: impl std::fmt::Display) -> SqlError {
    SqlError::new(13_122, format!("Relay log write failure: {e}"))
}

/// The source says that its binary log is not all that it did.
pub(crate) fn incident() -> SqlError {
    let text = "The incident LOST_EVENTS occurred on the source. Message: error writing to the binary log";
    SqlError::new(13_119, text)
}

/// The text of a note.
pub fn was_running(channel: &str) -> String {
    format!("Replication thread(s) for channel '{channel}' are already runnning.")
}

pub fn was_not_running(channel: &str) -> String {
    format!("Replication thread(s) for channel '{channel}' are already stopped.")
}
