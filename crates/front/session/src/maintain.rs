//! ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE. ANALYZE samples the table anew for the planner, which does so itself when a
//! table has grown a lot. CHECK reads all of a table, OPTIMIZE builds it anew, REPAIR of a MyISAM table reads it, too: what it would
//! mend the log has mended. Each engine answers to what MySQL's does.
//! Key caches have nothing to do. CHECKSUM is in [`crate::checksum`].

use crate::alter::Work;
use crate::alter_actions::maintains_partitions;
use crate::needs::Action;
use crate::session::{Done, Session};
use crate::variables::{VarId, id};
use catalog::{Pin, StorageEngine, Table, Waiting};
use inspect::Rows;
use protocol::Output;
use sql::ast::{AlterTable, MaintenanceVerb, ObjectName, Parsed, TableMaintenance};
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// Threads that read for one statement at most.
pub(crate) const READ_THREADS: VarId = id("innodb_parallel_read_threads");

impl Session {
    pub(crate) fn maintain(&mut self, parsed: &Parsed, statement: &TableMaintenance, out: &mut Output) -> Result<Done> {
        if let Some(histogram) = &statement.histogram {
            return self.maintain_histograms(parsed, statement, histogram, out);
        }
        let (op, action) = match statement.verb {
            MaintenanceVerb::Checksum => return self.checksum(parsed, statement, out),
            MaintenanceVerb::AssignKeyCache => ("assign_to_keycache", Action::CacheIndex),
            MaintenanceVerb::PreloadKeys => ("preload_keys", Action::CacheIndex),
            MaintenanceVerb::Analyze => ("analyze", Action::Analyze),
            MaintenanceVerb::Check => ("check", Action::Check),
            MaintenanceVerb::Optimize if statement.local => ("optimize", Action::OptimizeLocal),
            MaintenanceVerb::Optimize => ("optimize", Action::Optimize),
            MaintenanceVerb::Repair => ("repair", Action::Repair),
        };
        self.commit_all()?;
        let mut rows = Vec::new();
        for name in &statement.tables {
            let (schema, table) = self.object(parsed, *name)?;
            match action {
                Action::OptimizeLocal => self.need(action)?,
                _ => self.need_on_shared(action, &schema, &table)?,
            }
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
                Err(e) if e.code == ER_NO_SUCH_TABLE || e.code == ER_WRONG_OBJECT => {
                    say("Error", &e.message);
                    say("status", "Operation failed");
                }
                Err(e) if e.code == ER_BAD_DB_ERROR || e.code == ER_SCHEMA_READ_ONLY => {
                    say("Error", &e.message);
                    say("error", "Corrupt");
                }
                Err(e) => return Err(e),
            }
        }
        self.log_maintenance(parsed, statement)?;
        self.send_maintained(rows, out)
    }

    /// Replicas do the same, but for what changes nothing and what says that it is for this server alone.
    pub(crate) fn log_maintenance(&mut self, parsed: &Parsed, statement: &TableMaintenance) -> Result<()> {
        use MaintenanceVerb::{Analyze, Optimize, Repair};
        let is_shared = |name: &ObjectName| {
            self.object(parsed, *name).is_ok_and(|(schema, table)| !self.is_temporary(&schema, &table))
        };
        let replicates = matches!(statement.verb, Analyze | Optimize | Repair)
            && !statement.local
            && self.may_add_events()
            && statement.tables.iter().any(is_shared);
        match replicates {
            true => self.commit_event(Some(parsed.source())),
            false => self.commit_number(),
        }
    }

    /// Error 1066 where a table is named twice.
    pub(crate) fn check_distinct(&self, parsed: &Parsed, tables: &[ObjectName]) -> Result<()> {
        let mut seen = Vec::with_capacity(tables.len());
        for name in tables {
            let object = self.object(parsed, *name)?;
            if seen.contains(&object) {
                return Err(err!(ER_NONUNIQ_TABLE, object.1));
            }
            seen.push(object);
        }
        Ok(())
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
        self.need_on(Action::AlterTable, &schema, &table)?;
        self.commit_all()?;
        let found = self.base_table(&schema, &table);
        self.pins.release();
        let title = format!("{schema}.{table}");
        let failure = match found {
            Ok(_) => err!(ER_PARTITION_MGMT_ON_NONPARTITIONED).message,
            Err(e) if e.code == ER_NO_SUCH_TABLE || e.code == ER_WRONG_OBJECT => e.message,
            Err(e) => return Err(e),
        };
        let told = [["Error", failure.as_str()], ["status", "Operation failed"]];
        let rows = told.map(|[kind, message]| [title.as_str(), verb, kind, message].map(str::to_string));
        self.send_maintained(rows.to_vec(), out)
    }

    /// Lines of (Table, Op, Msg_type, Msg_text).
    pub(crate) fn send_maintained(&mut self, rows: Vec<[String; 4]>, out: &mut Output) -> Result<Done> {
        let rows = rows.into_iter().map(|row| row.iter().map(|s| text(s)).collect()).collect();
        let varchar = |n| DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI);
        let message = DataType::string(TypeKind::Text, 393_216, CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("Table", varchar(128)), ("Op", varchar(10)), ("Msg_type", varchar(10)), ("Msg_text", message)];
        self.send(Rows::new(&columns, rows), out)
    }

    /// A table that has rows of its own, pinned against DDL; `None` for a computed one. Errors 1049, 1146, 1347.
    fn base_table(&mut self, schema: &str, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        loop {
            let version = self.dictionary();
            version.schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
            let table = version.table(schema, name).ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?;
            if table.view.is_some() {
                return Err(err!(ER_WRONG_OBJECT, schema, name, "BASE TABLE"));
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
        plan::statistics::take(&self.server.engine, &table)?;
        self.pins.release();
        self.refresh_histograms(&table)
    }

    /// Reads all of a table.
    fn check(&mut self, schema: &str, name: &str) -> Result<Said, SqlError> {
        let Some(table) = self.base_table(schema, name)? else { return Ok(Said::Ok) };
        self.begin_if_needed();
        let threads = self.state.vars.uint(READ_THREADS) as usize;
        let result = ddl::check::check_table(&mut self.tx, &table, threads);
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
