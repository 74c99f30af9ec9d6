//! Tables of `mysql` that are made anew. A dump drops them, makes tables of their names and fills these; FLUSH PRIVILEGES takes over what
//! they say, and the computed ones are there again.

use super::{Ddl, Touched};
use crate::mdl::Mode;
use crate::schema::MYSQL;
use crate::table::Table;
use std::sync::Arc;
use types::Result;

impl Ddl<'_> {
    /// A computed table whose name may be given to another one.
    pub(super) fn is_replaceable(&self, schema: &str, name: &str) -> bool {
        schema == MYSQL && !self.temporary && self.next.base_table(schema, name).is_some_and(|t| t.is_virtual())
    }

    /// DROP TABLE of a computed table: until a table of its name is taken over, or the next start.
    pub(super) fn hide_computed(&mut self, schema: &str, name: &str) -> Result<()> {
        self.lock_name(schema, name, Mode::Exclusive)?;
        self.put_in_place(schema, name, None);
        Ok(())
    }

    fn put_in_place(&mut self, schema: &str, name: &str, table: Option<Arc<Table>>) {
        self.next.remove_table(schema, name);
        if let Some(table) = table {
            self.next.insert_table(table);
        }
        self.touched.push(Touched::Table(schema.to_string(), name.to_string()));
    }

    /// The tables that stand in the place of computed ones, locked against everybody until the commit.
    /// Errors 1205, 1213, 1317.
    pub fn lock_replaced(&mut self) -> Result<Vec<Arc<Table>>> {
        let mut names: Vec<String> = self.catalog.computed.iter().map(|table| table.name.clone()).collect();
        names.retain(|name| self.catalog.replaces(&self.next, name));
        names.sort();
        names.iter().map(|name| self.lock_table(MYSQL, name)).collect()
    }

    /// Computed tables are there again; those in the places of them go. Errors 1205, 1213, 1317.
    pub fn restore_computed(&mut self) -> Result<()> {
        for table in self.lock_replaced()? {
            self.drop_trees(&table)?;
            self.forget(&table)?;
        }
        let catalog = self.catalog;
        for table in &catalog.computed {
            if self.next.base_table(MYSQL, &table.name).is_none() {
                self.lock_name(MYSQL, &table.name, Mode::Exclusive)?;
                self.put_in_place(MYSQL, &table.name, Some(Arc::clone(table)));
            }
        }
        Ok(())
    }
}
