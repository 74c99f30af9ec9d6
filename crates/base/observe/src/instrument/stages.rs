//! Stages of statements: what the State column of the process list shows while somebody works, and the steps of long work
//! that tell how far they are.

use super::{Instrument, Kind};

/// Off at first, as in MySQL: a stage costs two readings of the clock.
const fn stage(name: &'static str) -> Instrument {
    Instrument { enabled: false, timed: Some(false), ..Instrument::new(name, Kind::Stage) }
}

/// A stage that knows how much is done of how much.
const fn progress(name: &'static str) -> Instrument {
    Instrument { properties: "progress", ..Instrument::new(name, Kind::Stage) }
}

pub(super) const STAGES: &[Instrument] = &[
    stage("stage/sql/starting"),
    stage("stage/sql/init"),
    stage("stage/sql/executing"),
    stage("stage/sql/update"),
    stage("stage/sql/updating"),
    stage("stage/sql/User sleep"),
    stage("stage/sql/waiting for handler commit"),
    stage("stage/sql/creating table"),
    progress("stage/sql/copy to tmp table"),
    stage("stage/sql/altering table"),
    stage("stage/sql/Sending binlog event to replica"),
    stage("stage/sql/Source has sent all binlog to replica; waiting for more updates"),
    stage("stage/sql/Waiting in connection_control plugin"),
    stage("stage/sql/Waiting for the replica SQL thread to advance position"),
    progress("stage/innodb/alter table (read PK and internal sort)"),
    progress("stage/innodb/alter table (insert)"),
    progress("stage/innodb/alter table (log apply index)"),
];
