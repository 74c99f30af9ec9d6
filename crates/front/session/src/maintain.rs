//! ANALYZE TABLE: samples the table anew for the planner, which does so itself when a table has grown a lot. CHECK, OPTIMIZE,
//! REPAIR and CHECKSUM are refused.

use crate::command::{Done, Session};
use crate::server::com_index;
use accounts::Privileges;
use catalog::{Pin, Waiting};
use inspect::Rows;
use protocol::Output;
use sql::ast::{MaintenanceVerb, Parsed, TableMaintenance};
use std::sync::Arc;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

const ANALYZE: usize = com_index("analyze");

impl Session {
    pub(crate) fn maintain(&mut self, parsed: &Parsed, statement: &TableMaintenance, out: &mut Output) -> Result<Done> {
        let what = match statement.verb {
            MaintenanceVerb::Analyze if statement.histogram.is_none() => "",
            MaintenanceVerb::Analyze => "histograms",
            MaintenanceVerb::Check => "CHECK TABLE",
            MaintenanceVerb::Optimize => "OPTIMIZE TABLE",
            MaintenanceVerb::Repair => "REPAIR TABLE",
            MaintenanceVerb::Checksum => "CHECKSUM TABLE",
        };
        if !what.is_empty() {
            return Err(err!(1235, what));
        }
        self.commit_all()?;
        let mut rows = Vec::new();
        for name in &statement.tables {
            let (schema, table) = self.object(parsed, *name)?;
            self.access().check_table(Privileges(Privileges::SELECT.0 | Privileges::INSERT.0), &schema, &table)?;
            let mut say = |kind: &str, message: &str| {
                let title = format!("{schema}.{table}");
                rows.push([title.as_str(), "analyze", kind, message].map(text).to_vec());
            };
            let result = self.analyze(&schema, &table);
            self.pins.release();
            match result {
                Ok(()) => say("status", "OK"),
                Err(e) if e.code == 1146 => {
                    say("Error", &e.message);
                    say("status", "Operation failed");
                }
                Err(e) => return Err(e),
            }
        }
        observe::increment(self.server.com.at(ANALYZE));
        let varchar = |n| DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI);
        let message = DataType::string(TypeKind::Text, 393_216, CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("Table", varchar(128)), ("Op", varchar(10)), ("Msg_type", varchar(10)), ("Msg_text", message)];
        self.send(Rows::new(&columns, rows), out)
    }

    /// Samples a table, pinned against DDL.
    fn analyze(&mut self, schema: &str, name: &str) -> Result<(), SqlError> {
        loop {
            let version = Arc::clone(self.catalog.get(self.server.catalog.cell()));
            let table = version.table(schema, name).ok_or_else(|| err!(1146, schema, name))?;
            if table.is_virtual() {
                return Ok(());
            }
            let timeout = self.state.vars.hot().lock_wait_timeout;
            let waiting = Waiting { timeout, tx: &mut self.tx };
            if !self.pins.pin(&[Pin::new(schema, name, false)], false, waiting)?
                || !self.catalog.is_current(self.server.catalog.cell())
            {
                self.pins.release();
                continue;
            }
            exec::plan::statistics::take(&self.server.engine, table)?;
            return Ok(());
        }
    }
}

fn text(s: &str) -> Value<'static> {
    Value::Bytes(s.as_bytes().to_vec().into())
}
