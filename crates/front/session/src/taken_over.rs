//! Tables of `mysql` that were made anew, as a dump of another server makes them: FLUSH PRIVILEGES takes over what they say of
//! accounts and servers. Until then they are tables as others.

use crate::server::store_accounts;
use crate::session::Session;
use crate::sink::gone;
use catalog::Table;
use catalog::error::from_engine;
use engine::{Cursor, Direction, Range, Read, Transaction};
use inspect::granted::{self, Made};
use std::ops::Bound;
use std::sync::Arc;
use sync::waits::Wait;
use types::codes::*;
use types::{Result, err};

/// Of so many rows at most a table is taken over.
const ROWS_MAX: usize = 10_000_000;

/// All rows of a table. Errors 1317, 1728.
pub(crate) fn rows_of(tx: &mut Transaction, table: Arc<Table>) -> Result<Made> {
    let tree = table.indexes[0].tree;
    let (mut rows, mut inside) = (Vec::new(), Vec::new());
    let all = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
    let mut scan = Cursor::new(tree, all, Direction::Forward, Read::Consistent, 0);
    while let Some(entry) = scan.next(tx).map_err(from_engine)? {
        let row = run::long::inside(tx, &table, entry.value, &mut inside)?;
        rows.push((0..table.columns.len()).map(|i| run::write::column(&table, row, i).into_owned()).collect());
        if rows.len() > ROWS_MAX {
            return Err(err!(ER_CANNOT_LOAD_FROM_TABLE_V2, table.schema, table.name));
        }
        tx.check_interrupt().map_err(from_engine)?;
    }
    Ok(Made { table, rows })
}

impl Session {
    /// Errors 1100, 1205, 1317, 1524, 1728; then nothing is taken over.
    pub(crate) fn take_over_tables(&mut self) -> Result<()> {
        if !self.server.catalog.has_replaced() {
            return Ok(());
        }
        // The statement is logged by itself, behind all of it.
        let text = self.state.log_text.take();
        let result = self.take_over();
        self.state.log_text = text;
        result
    }

    fn take_over(&mut self) -> Result<()> {
        let made = self.define(|ddl| {
            let tables = ddl.lock_replaced()?;
            tables.into_iter().map(|table| rows_of(ddl.tx(), table)).collect::<Result<Vec<Made>>>()
        })?;
        let servers = made.iter().find(|m| m.table.name == granted::SERVERS).map(granted::servers).transpose()?;
        self.begin_system_change("user")?;
        let stored = self.store_granted(&made);
        self.pins.release_statement();
        stored?;
        self.define(|ddl| {
            if let Some(servers) = &servers {
                for gone in ddl.lock_foreign_servers()? {
                    ddl.remove_foreign_server(&gone.name)?;
                }
                servers.iter().try_for_each(|server| ddl.put_foreign_server(server))?;
            }
            ddl.restore_computed()
        })
    }

    fn store_granted(&mut self, made: &[Made]) -> Result<()> {
        if !made.iter().any(|m| granted::TABLES.contains(&m.table.name.as_str())) {
            return Ok(());
        }
        let server = Arc::clone(&self.server);
        let lock = server.account_ddl.lock_or_end(Wait::AccountsMutex).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        let directory = granted::directory(&server.accounts.directory(), made)?;
        let stored = store_accounts(&server.catalog, &mut self.tx, &directory, |_| Ok(()));
        // Without acknowledgement it is committed nevertheless.
        if stored.is_ok() || stored.as_ref().is_err_and(|e| e.code == gone().code) {
            server.accounts.replace(directory);
        }
        drop(lock);
        stored?;
        server.heed_restrictions()
    }
}
