//! Semi-synchronous replication: the plugins' variables and status. What the source does is in [`binlog::semisync`], what the replica does
//! in its receiver.

use crate::Server;
use crate::variables::{Extension, Globals, VarId, id};
use binlog::SemiSyncSettings;
use std::time::Duration;

const SOURCE_ENABLED: VarId = id("rpl_semi_sync_source_enabled");
const TIMEOUT: VarId = id("rpl_semi_sync_source_timeout");
const REPLICAS: VarId = id("rpl_semi_sync_source_wait_for_replica_count");
const WAIT_NO_REPLICA: VarId = id("rpl_semi_sync_source_wait_no_replica");
const WAIT_POINT: VarId = id("rpl_semi_sync_source_wait_point");
const REPLICA_ENABLED: VarId = id("rpl_semi_sync_replica_enabled");

/// User variables by which a replica says that it answers.
pub(crate) const ANSWERS: &[&str] = &["rpl_semi_sync_replica", "rpl_semi_sync_slave"];

pub(crate) fn settings(globals: &Globals) -> SemiSyncSettings {
    SemiSyncSettings {
        enabled: globals.has(Extension::SemiSyncSource) && globals.bool(SOURCE_ENABLED),
        hides: globals.uint(WAIT_POINT) == 0,
        timeout: Duration::from_millis(globals.uint(TIMEOUT)),
        replicas: globals.uint(REPLICAS) as usize,
        waits_for_none: globals.bool(WAIT_NO_REPLICA),
    }
}

/// Does this server answer its sources?
pub(crate) fn answers(globals: &Globals) -> bool {
    globals.has(Extension::SemiSyncReplica) && globals.bool(REPLICA_ENABLED)
}

fn on_off(on: bool) -> String {
    if on { "ON" } else { "OFF" }.to_string()
}

impl Server {
    /// Status of the plugins that are installed. What MySQL shows beside and nobody counts here is left out.
    pub(crate) fn semisync_status(&self, all: &mut Vec<(String, String)>) {
        let globals = self.globals.load();
        if globals.has(Extension::SemiSyncReplica) {
            let answers = self.channels.all().iter().any(|channel| channel.answers());
            all.push(("Rpl_semi_sync_replica_status".to_string(), on_off(answers)));
        }
        if globals.has(Extension::SemiSyncSource) {
            let status = self.binlog.as_ref().map(|binlog| binlog.semisync_status()).unwrap_or_default();
            let rows = [
                ("clients", status.clients),
                ("net_waits", status.answers),
                ("no_times", status.times_off),
                ("no_tx", status.unconfirmed),
                ("tx_avg_wait_time", status.wait_us.checked_div(status.waits).unwrap_or(0)),
                ("tx_wait_time", status.wait_us),
                ("tx_waits", status.waits),
                ("wait_sessions", status.waiting),
                ("yes_tx", status.confirmed),
            ];
            all.extend(rows.map(|(name, n)| (format!("Rpl_semi_sync_source_{name}"), n.to_string())));
            all.push(("Rpl_semi_sync_source_status".to_string(), on_off(status.on)));
        }
    }
}
