//! CHECKSUM TABLE: MySQL's numbers, see [`ddl::checksum`]. Tables that are computed when they are read, `performance_schema`'s
//! for one, have numbers too, but their own.

use crate::maintain::READ_THREADS;
use crate::needs::Action;
use crate::session::{Done, Session};
use catalog::{StorageEngine, Table};
use ddl::checksum::Record;
use expr::Env;
use inspect::Rows;
use plan::ColumnMeta;
use protocol::Output;
use run::{Outcome, RowSink};
use sql::ast::{MaintenanceOption, Parsed, TableMaintenance};
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, Value, err};

/// Errors that make one table's sum NULL, and are warnings there: the table can not be had.
const NOT_HAD: [u16; 6] = [
    ER_BAD_DB_ERROR,
    ER_TABLE_NOT_LOCKED,
    ER_NO_SUCH_TABLE,
    ER_LOCK_WAIT_TIMEOUT,
    ER_WRONG_OBJECT,
    ER_TABLE_DEF_CHANGED,
];

impl Session {
    /// Each table is read on its own, in the session's transaction where one runs.
    pub(crate) fn checksum(&mut self, parsed: &Parsed, statement: &TableMaintenance, out: &mut Output) -> Result<Done> {
        let mut rows = Vec::new();
        for name in &statement.tables {
            let (schema, table) = self.object(parsed, *name)?;
            self.need_on_shared(Action::Checksum, &schema, &table)?;
            let sum = match self.sum_of(&schema, &table, statement.options.first().copied()) {
                Ok(sum) => sum.map_or(Value::Null, |sum| Value::Int(sum.into())),
                Err(e) if NOT_HAD.contains(&e.code) => {
                    self.state.warn("Error", e.code, e.message);
                    Value::Null
                }
                Err(e) => return Err(e),
            };
            rows.push(vec![Value::Bytes(format!("{schema}.{table}").into_bytes().into()), sum]);
        }
        let title = DataType::string(TypeKind::VarChar, 128, CollationId::UTF8MB4_0900_AI_CI);
        let columns = [("Table", title), ("Checksum", DataType::new(TypeKind::BigInt))];
        self.send(Rows::new(&columns, rows), out)
    }

    /// `None`: QUICK, of a table whose engine keeps no sum beside the rows.
    fn sum_of(&mut self, schema: &str, name: &str, option: Option<MaintenanceOption>) -> Result<Option<u32>> {
        let quick = option == Some(MaintenanceOption::Quick);
        let virtual_table = match self.dictionary().table(schema, name) {
            Some(t) if t.is_virtual() && t.schema == "information_schema" => {
                return Err(err!(ER_WRONG_OBJECT, t.schema, t.name, "BASE TABLE"));
            }
            Some(t) => t.is_virtual(),
            None => false,
        };
        if virtual_table {
            return if quick { Ok(None) } else { self.sum_of_computed(schema, name).map(Some) };
        }
        self.check_locked_name(schema, name)?;
        let table = self.pin_handled(schema, name).map_err(|e| self.not_begun(e))?;
        let record = if keeps_sum(&table) && option != Some(MaintenanceOption::Extended) {
            Record::Stored
        } else {
            Record::Read
        };
        let wanted = !quick || record == Record::Stored;
        self.state.single_statement = self.autocommits();
        let threads = self.state.vars.uint(READ_THREADS) as usize;
        let mut sum = None;
        let mut read = |tx: &mut engine::Transaction| {
            if wanted {
                sum = Some(ddl::checksum::sum_table(tx, &table, record, threads)?);
            }
            Ok(Outcome::default())
        };
        let result = match table.engine.is_transactional() {
            true => self.begin_readable(table.readable_since, true).and_then(|()| read(&mut self.tx)),
            false => self.with_beside(None, |_, beside| read(beside)),
        };
        self.finish_statement(result)?;
        Ok(sum)
    }

    fn sum_of_computed(&mut self, schema: &str, table: &str) -> Result<u32> {
        let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
        let query = format!("SELECT * FROM {}.{}", quoted(schema), quoted(table));
        let parsed = sql::parse(query.as_bytes(), sql::SqlMode::default()).map_err(crate::statement::parse_error)?;
        let mut planned = self.plan(parsed, &[])?;
        let mut sums = Texts::default();
        self.run_into(&mut planned, &[], &mut sums)?;
        Ok(sums.total)
    }
}

/// Engine MyISAM keeps the sum of a table that was made with CHECKSUM=1.
fn keeps_sum(table: &Table) -> bool {
    table.engine == StorageEngine::MyIsam && table.create_options.get("CHECKSUM") == Some("1")
}

/// Adds up a figure for each row of a computed table, whose values are texts and numbers of no certain width.
#[derive(Default)]
struct Texts {
    types: Vec<DataType>,
    total: u32,
    scratch: Vec<u8>,
}

impl RowSink for Texts {
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
