//! FLUSH.

use crate::logs::Log;
use crate::needs::Action;
use crate::session::Session;
use crate::statement::text_of;
use sql::ast::{Flush, FlushTables, FlushWhat, Parsed};
use std::sync::atomic::Ordering;
use types::Result;

impl Session {
    /// FLUSH: what there is to flush is flushed, the rest is refused.
    pub(crate) fn flush(&mut self, parsed: &Parsed, flush: &Flush) -> Result<()> {
        for what in &flush.what {
            self.need(flushes(what))?;
        }
        self.commit_all()?;
        for what in &flush.what {
            match what {
                // Accounts are read from one place, there is no second copy to reload, unless tables were made that tell of others.
                FlushWhat::Privileges => {
                    self.take_over_tables()?;
                    self.server.accounts.forget_all_failures();
                    self.server.accounts.forget_sha2();
                    self.server.accounts.reset_usage();
                }
                // No cost tables.
                FlushWhat::OptimizerCosts => {}
                FlushWhat::RelayLogs(channel) => {
                    let channel = channel.map(|name| text_of(parsed, name).to_lowercase());
                    self.server.channels.begin_relay_files(channel.as_deref())?;
                }
                FlushWhat::UserResources => self.server.accounts.reset_usage(),
                FlushWhat::Tables { tables, mode } => {
                    observe::increment(observe::Counter::FlushCommands);
                    self.flush_tables(parsed, tables, *mode)?;
                }
                // Every commit is flushed when its answer goes out.
                FlushWhat::EngineLogs => {}
                FlushWhat::ErrorLogs => self.server.error_log.reopen(),
                FlushWhat::BinaryLogs => self.flush_binary_logs()?,
                FlushWhat::Logs => {
                    self.flush_binary_logs()?;
                    self.server.error_log.reopen();
                    Log::ALL.into_iter().try_for_each(|log| self.server.logs.reopen(log))?;
                }
                FlushWhat::GeneralLogs => self.server.logs.reopen(Log::General)?,
                FlushWhat::SlowLogs => self.server.logs.reopen(Log::Slow)?,
                // What the session has counted is in the global figures already.
                FlushWhat::Status => self.flush_status(),
            }
        }
        if flush.local || !flush.what.iter().all(replicates) {
            return Ok(());
        }
        match self.state.log_text.take().filter(|_| self.may_add_events()) {
            Some(text) => self.commit_event(Some(&text)),
            None => Ok(()),
        }
    }

    /// FLUSH STATUS, and TRUNCATE of the status.
    pub(crate) fn flush_status(&mut self) {
        self.counters.reset();
        // Relaxed: a figure for the reader.
        self.server.status_flushed_s.store(observe::clock::uptime_s(), Ordering::Relaxed);
    }
}

/// Is a FLUSH of this for replicas too?
fn replicates(what: &FlushWhat) -> bool {
    match what {
        FlushWhat::Logs | FlushWhat::BinaryLogs => false,
        FlushWhat::Tables { mode, .. } => matches!(mode, FlushTables::Close),
        FlushWhat::EngineLogs
        | FlushWhat::ErrorLogs
        | FlushWhat::GeneralLogs
        | FlushWhat::OptimizerCosts
        | FlushWhat::Privileges
        | FlushWhat::RelayLogs(_)
        | FlushWhat::SlowLogs
        | FlushWhat::Status
        | FlushWhat::UserResources => true,
    }
}

fn flushes(what: &FlushWhat) -> Action {
    match what {
        FlushWhat::Privileges => Action::FlushPrivileges,
        FlushWhat::Tables { .. } => Action::FlushTables,
        FlushWhat::Status => Action::FlushStatus,
        FlushWhat::UserResources => Action::FlushUserResources,
        FlushWhat::OptimizerCosts => Action::FlushOptimizerCosts,
        FlushWhat::Logs
        | FlushWhat::BinaryLogs
        | FlushWhat::EngineLogs
        | FlushWhat::ErrorLogs
        | FlushWhat::GeneralLogs
        | FlushWhat::SlowLogs
        | FlushWhat::RelayLogs(_) => Action::FlushLogs,
    }
}
