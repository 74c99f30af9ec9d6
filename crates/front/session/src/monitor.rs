//! What the storage engine's monitor hears of statements that fail, and what it writes into the error log.

use crate::error_log::Level;
use crate::panics::note_of;
use crate::session::Session;
use crate::variables::{VARIABLES, Val, VarId, id};
use expr::Env;
use inspect::monitor::{KeyError, Order, deadlock_report, named};
use std::time::SystemTime;
use types::codes::*;
use types::{Result, SqlError};

/// MySQL's numbers of events in the error log.
const DEADLOCK_FOUND: u16 = 12_468;
const DEADLOCK_DETAILS: u16 = 12_469;

const PRINTS_DEADLOCKS: VarId = id("innodb_print_all_deadlocks");

const NO_DEFAULT: &str =
    "Default value is not defined for this set option. Please specify correct counter or module name.";

/// The variables that switch metrics, and what each orders.
const ORDERS: [(VarId, Order); 4] = [
    (id("innodb_monitor_enable"), Order::Enable),
    (id("innodb_monitor_disable"), Order::Disable),
    (id("innodb_monitor_reset"), Order::Reset),
    (id("innodb_monitor_reset_all"), Order::ResetAll),
];

fn order_of(id: VarId) -> Option<Order> {
    ORDERS.iter().find(|(of, _)| *of == id).map(|(_, order)| *order)
}

impl Session {
    /// May a variable that switches metrics get this value? `given`: it is no DEFAULT. Error 1231.
    pub(crate) fn check_metrics(&mut self, of: VarId, new: &Val, given: bool) -> Result<()> {
        if order_of(of).is_none() {
            return Ok(());
        }
        let variable = &VARIABLES[of as usize];
        match new {
            Val::Null if given => Err(variable.cannot("NULL")),
            Val::Null => {
                self.state.warn("Warning", ER_NO_DEFAULT, NO_DEFAULT.to_string());
                Ok(())
            }
            new if named(new.text()).is_some() => Ok(()),
            new => Err(variable.cannot(new.text())),
        }
    }

    /// SET GLOBAL of a variable that switches metrics.
    pub(crate) fn order_metrics(&self, id: VarId, value: &Val) {
        let Some(order) = order_of(id).filter(|_| *value != Val::Null) else { return };
        if let Some(metrics) = named(value.text()) {
            self.server.monitor.order(&self.inspect_context(), order, &metrics);
        }
    }

    /// The statement has failed, and its transaction is not rolled back yet unless the error says so.
    #[cold]
    pub(crate) fn note_for_monitors(&self, error: &SqlError) {
        match error.code {
            ER_ROW_IS_REFERENCED_2 | ER_NO_REFERENCED_ROW_2 => self.server.monitor.note_key_error(|| KeyError {
                at: SystemTime::now(),
                thread: self.state.id.into(),
                trx: self.tx.id(),
                slot: self.tx.slot(),
                began_us: self.tx.began_us(),
                work: self.tx.work(),
                session: self.entry.told(),
                error: error.clone(),
            }),
            // The victim tells of it: a deadlock has one.
            ER_LOCK_DEADLOCK if self.server.globals.load().bool(PRINTS_DEADLOCKS) => {
                let report = deadlock_report(&self.inspect_context());
                // An event is a line.
                let lines = report.iter().flat_map(|report| report.lines()).filter(|line| !line.is_empty());
                for (at, line) in lines.enumerate() {
                    note_of(self.state.id, Level::Note, if at == 0 { DEADLOCK_FOUND } else { DEADLOCK_DETAILS }, line);
                }
            }
            _ => {}
        }
    }
}
