//! ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE. ANALYZE samples the table anew for the planner, which does so itself when a
//! table has grown a lot. CHECK reads all of a table, OPTIMIZE builds it anew, REPAIR of a MyISAM table reads it, too: what it would
//! mend the log has mended. Each engine answers to what MySQL's does.
//! CHECKSUM sums up the rows as this server prints them, so its figures are equal for equal tables, but not MySQL's. Key caches have
//! nothing to do.

use crate::alter::Work;
use crate::alter_actions::maintains_partitions;
use crate::command::{Done, Session};
use crate::server::com_index;
use accounts::Privileges;
use catalog::{Pin, StorageEngine, Table, Waiting};
use exec::{ColumnMeta, Env, RowSink};
use inspect::Rows;
use protocol::Output;
use sql::ast::{AlterTable, MaintenanceOption, MaintenanceVerb, Parsed, TableMaintenance};
use std::sync::Arc;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

const ANALYZE: usize = com_index("analyze");

impl Session {
    pub(crate) fn maintain(&mut self, parsed: &Parsed, statement: &TableMaintenance, out: &mut Output) -> Result<Done> {
        if let Some(histogram) = &statement.histogram {
            return self.maintain_histograms(parsed, statement, histogram, out);
        }
        let (op, privileges) = match statement.verb {
            MaintenanceVerb::Checksum => return self.checksum(parsed, statement, out),
            MaintenanceVerb::AssignKeyCache => ("assign_to_keycache", Privileges::INDEX),
            MaintenanceVerb::PreloadKeys => ("preload_keys", Privileges::INDEX),
            MaintenanceVerb::Analyze => ("analyze", Privileges(Privileges::SELECT.0 | Privileges::INSERT.0)),
            MaintenanceVerb::Check => ("check", Privileges(Privileges::SELECT.0)),
            MaintenanceVerb::Optimize => ("optimize", Privileges(Privileges::SELECT.0 | Privileges::INSERT.0)),
            MaintenanceVerb::Repair => ("repair", Privileges(Privileges::SELECT.0 | Privileges::INSERT.0)),
        };
        self.commit_all()?;
        let mut rows = Vec::new();
        for name in &statement.tables {
            let (schema, table) = self.object(parsed, *name)?;
            self.access().check_table(privileges, &schema, &table)?;
            let mut say = |kind: &str, message: &str| {
                let title = format!("{schema}.{table}");
                rows.push([&title, op, kind, message].map(str::to_string));
            };
            let found = self.base_table(&schema, &table);
            let engine = found.as_ref().map(|t| t.as_ref().map_or(StorageEngine::InnoDb, |t| t.engine));
            let rebuilds = matches!(statement.verb, MaintenanceVerb::Optimize | MaintenanceVerb::Repair);
            let writable = match rebuilds && !self.is_temporary(&schema, &table) {
                true => self.dictionary().check_writable(&schema),
                false => Ok(()),
            };
            let result = match (statement.verb, engine) {
                _ if writable.is_err() => writable.map(|()| Said::Ok),
                (_, Err(e)) => Err(e.clone()),
                (_, Ok(StorageEngine::Memory)) => Ok(Said::NotSupported),
                (MaintenanceVerb::Repair, Ok(StorageEngine::MyIsam)) => self.check(&schema, &table),
                (MaintenanceVerb::AssignKeyCache | MaintenanceVerb::PreloadKeys, Ok(StorageEngine::MyIsam)) => {
                    Ok(Said::Ok)
                }
                (MaintenanceVerb::Repair | MaintenanceVerb::AssignKeyCache | MaintenanceVerb::PreloadKeys, _) => {
                    Ok(Said::NotSupported)
                }
                (MaintenanceVerb::Check, _) => self.check(&schema, &table),
                (MaintenanceVerb::Optimize, Ok(engine)) => {
                    self.pins.release();
                    self.optimize(&schema, &table, engine)
                }
                _ => self.analyze(&schema, &table).map(|()| Said::Ok),
            };
            self.pins.release();
            match result {
                Ok(Said::Ok) => say("status", "OK"),
                Ok(Said::Recreated) => {
                    say("note", "Table does not support optimize, doing recreate + analyze instead");
                    say("status", "OK");
                }
                Ok(Said::NotSupported) => {
                    say("note", &format!("The storage engine for the table doesn't support {op}"));
                }
                Ok(Said::Corrupt(what)) => {
                    say("error", &what);
                    say("error", "Corrupt");
                }
                Err(e) if e.code == 1146 || e.code == 1347 => {
                    say("Error", &e.message);
                    say("status", "Operation failed");
                }
                Err(e) if e.code == 3989 => {
                    say("Error", &e.message);
                    say("error", "Corrupt");
                }
                Err(e) => return Err(e),
            }
        }
        self.send_maintained(rows, out)
    }

    /// The same for partitions, which no table has.
    pub(crate) fn maintain_partitions(
        &mut self,
        parsed: &Parsed,
        alter: &AlterTable,
        out: &mut Output,
    ) -> Result<Done> {
        let verb = maintains_partitions(alter).expect("the caller has asked");
        let (schema, table) = self.object(parsed, alter.name)?;
        self.access().check_table(Privileges::ALTER, &schema, &table)?;
        self.commit_all()?;
        let found = self.base_table(&schema, &table);
        self.pins.release();
        let title = format!("{schema}.{table}");
        let failure = match found {
            Ok(_) => err!(1505).message,
            Err(e) if e.code == 1146 || e.code == 1347 => e.message,
            Err(e) => return Err(e),
        };
        let told = [["Error", failure.as_str()], ["status", "Operation failed"]];
        let rows = told.map(|[kind, message]| [title.as_str(), verb, kind, message].map(str::to_string));
        self.send_maintained(rows.to_vec(), out)
    }

    /// Lines of (Table, Op, Msg_type, Msg_text).
    pub(crate) fn send_maintained(&mut self, rows: Vec<[String; 4]>, out: &mut Output) -> Result<Done> {
        observe::increment(self.server.com.at(ANALYZE));
        let rows = rows.into_iter().map(|row| row.iter().map(|s| text(s)).collect()).collect();
        let varchar = |n| DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI);
        let message = DataType::string(TypeKind::Text, 393_216, CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("Table", varchar(128)), ("Op", varchar(10)), ("Msg_type", varchar(10)), ("Msg_text", message)];
        self.send(Rows::new(&columns, rows), out)
    }

    /// CHECKSUM TABLE: NULL for QUICK, which only figures kept beside the rows could answer, and for what is no table.
    fn checksum(&mut self, parsed: &Parsed, statement: &TableMaintenance, out: &mut Output) -> Result<Done> {
        let quick = statement.options.contains(&MaintenanceOption::Quick);
        let mut rows = Vec::new();
        for name in &statement.tables {
            let (schema, table) = self.object(parsed, *name)?;
            self.access().check_table(Privileges::SELECT, &schema, &table)?;
            let found = self.base_table(&schema, &table);
            self.pins.release_statement();
            let sum = match found {
                Err(e) if e.code == 1146 || e.code == 1347 => {
                    self.state.warn("Error", e.code, e.message);
                    Value::Null
                }
                Err(e) => return Err(e),
                Ok(_) if quick => Value::Null,
                Ok(_) => Value::Int(self.sum_of_rows(&schema, &table)?.into()),
            };
            rows.push(vec![text(&format!("{schema}.{table}")), sum]);
        }
        let title = DataType::string(TypeKind::VarChar, 128, CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("Table", title), ("Checksum", DataType::new(TypeKind::BigInt))];
        self.send(Rows::new(&columns, rows), out)
    }

    fn sum_of_rows(&mut self, schema: &str, table: &str) -> Result<u32> {
        let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
        let query = format!("SELECT * FROM {}.{}", quoted(schema), quoted(table));
        let parsed = sql::parse(query.as_bytes(), sql::SqlMode::default()).map_err(crate::run::parse_error)?;
        let mut planned = self.plan(parsed, &[])?;
        let mut sums = Sums::default();
        self.run_into(&mut planned, &[], &mut sums)?;
        Ok(sums.total)
    }

    /// A table that has rows of its own, pinned against DDL; `None` for a computed one. Errors 1146, 1347.
    fn base_table(&mut self, schema: &str, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        loop {
            let version = self.dictionary();
            let table = version.table(schema, name).ok_or_else(|| err!(1146, schema, name))?;
            if table.view.is_some() {
                return Err(err!(1347, schema, name, "BASE TABLE"));
            }
            if table.is_virtual() {
                return Ok(None);
            }
            let table = Arc::clone(table);
            if table.temporary {
                return Ok(Some(table));
            }
            let timeout = self.state.vars.hot().lock_wait_timeout;
            let waiting = Waiting { timeout, tx: &mut self.tx };
            if !self.pins.pin(&[Pin::new(schema, name, false)], false, waiting)?
                || !self.catalog.is_current(self.server.catalog.cell())
            {
                self.pins.release();
                continue;
            }
            return Ok(Some(table));
        }
    }

    /// Samples a table.
    fn analyze(&mut self, schema: &str, name: &str) -> Result<(), SqlError> {
        let Some(table) = self.base_table(schema, name)? else { return Ok(()) };
        exec::plan::statistics::take(&self.server.engine, &table)?;
        self.pins.release();
        self.refresh_histograms(&table)
    }

    /// Reads all of a table.
    fn check(&mut self, schema: &str, name: &str) -> Result<Said, SqlError> {
        let Some(table) = self.base_table(schema, name)? else { return Ok(Said::Ok) };
        self.begin_if_needed();
        let result = exec::check::check_table(&mut self.tx, &table);
        self.rollback_all();
        Ok(result?.map_or(Said::Ok, Said::Corrupt))
    }

    /// Builds a table anew.
    fn optimize(&mut self, schema: &str, name: &str, engine: StorageEngine) -> Result<Said, SqlError> {
        self.alter(schema, name, |_, _, plan| {
            plan.rebuild(Work::Inplace);
            Ok(())
        })?;
        Ok(if engine == StorageEngine::MyIsam { Said::Ok } else { Said::Recreated })
    }
}

/// Adds up a figure for each row: the order of rows does not matter.
#[derive(Default)]
struct Sums {
    types: Vec<DataType>,
    total: u32,
    scratch: Vec<u8>,
}

impl RowSink for Sums {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.types = columns.iter().map(|c| c.data_type).collect();
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.scratch.clear();
        for (value, data_type) in values.iter().zip(&self.types) {
            // A mark and the length keep one value's bytes apart from the next one's.
            self.scratch.push(u8::from(!value.is_null()));
            let at = self.scratch.len();
            if !value.is_null() {
                value.write_text(data_type, &mut self.scratch);
            }
            let length = (self.scratch.len() - at) as u32;
            self.scratch.extend_from_slice(&length.to_le_bytes());
        }
        self.total = self.total.wrapping_add(crc32fast::hash(&self.scratch));
        Ok(())
    }
}

/// What a statement has to say of one table.
enum Said {
    Ok,
    /// OPTIMIZE
    Recreated,
    NotSupported,
    Corrupt(String),
}

fn text(s: &str) -> Value<'static> {
    Value::Bytes(s.as_bytes().to_vec().into())
}
