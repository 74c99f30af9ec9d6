//! Rows that a statement changes, on their way into the binary log: which tables, and which of their columns, in which form.
//!
//! Whether rows are logged is asked once an execution; then a writer has an encoder or none. Tables of one session alone are not
//! logged, and what foreign keys change in other tables is not: a replica's own foreign keys do it there.

use super::Run;
use binlog::dependency;
use binlog::payload::{RowImage, RowSettings, TableRows};
use binlog::row::{ColumnDef, TableDef};
use catalog::Table;
use catalog::error;
use engine::Transaction;
use types::codes::*;
use types::{Result, SqlError, Value, err};

/// The encoder of one table's rows, kept from one execution to the next.
pub struct LoggedRows {
    rows: TableRows,
    /// Which form of which table it was made for, and which columns change, where images differ by that.
    made_for: (u64, u64, Vec<usize>),
    keys: Keys,
    /// `max_binlog_cache_size`, or `max_binlog_stmt_cache_size`
    bytes_max: u64,
    /// The table is not transactional.
    is_beside: bool,
}

/// What a row's keys tell a replica of who must come before whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// All: two rows of the table that have none in common are nobody's business.
    Tell,
    /// There is none.
    Missing,
    /// Other tables have a say.
    Related,
}

impl LoggedRows {
    /// For the rows of `table` in the statement that begins; `None`: they are not logged. `changing`: what an UPDATE may change.
    pub fn begin(
        kept: Option<Box<LoggedRows>>,
        table: &Table,
        changing: impl FnOnce() -> Vec<usize>,
        run: &Run<'_>,
    ) -> Option<Box<LoggedRows>> {
        if table.temporary || table.is_virtual() {
            return None;
        }
        let is_beside = !table.engine.is_transactional();
        let (settings, bytes_max) = run.env.borrow().logged_rows(is_beside)?;
        let keys = || match run.env.borrow().has_foreign_keys(table) {
            true => Keys::Related,
            false if table.indexes[0].is_hidden() => Keys::Missing,
            false => Keys::Tell,
        };
        Some(LoggedRows::begin_with(kept, table, changing, keys, &settings, bytes_max))
    }

    fn begin_with(
        kept: Option<Box<LoggedRows>>,
        table: &Table,
        changing: impl FnOnce() -> Vec<usize>,
        keys: impl FnOnce() -> Keys,
        settings: &RowSettings,
        bytes_max: u64,
    ) -> Box<LoggedRows> {
        let columns = if settings.image == RowImage::Full { Vec::new() } else { changing() };
        let made_for = (table.id, table.version, columns);
        match kept {
            Some(mut kept) if kept.made_for == made_for && kept.rows.fits(settings) => {
                kept.rows.begin(settings);
                kept.bytes_max = bytes_max;
                kept
            }
            _ => {
                let (definition, places) = definition(table);
                let rows = TableRows::new(&definition, &places, settings, |i| made_for.2.contains(&places[i]));
                let is_beside = !table.engine.is_transactional();
                Box::new(LoggedRows { rows, made_for, keys: keys(), bytes_max, is_beside })
            }
        }
    }

    /// A row has, or had, this key in a unique index.
    #[inline]
    pub fn note_key(&self, tx: &mut Transaction, table: &Table, index: usize, key: &[u8]) {
        match self.keys {
            Keys::Related => dependency::note_unknown(tx.events()),
            Keys::Missing if index == 0 => dependency::note_keyless(tx.events()),
            _ => dependency::note_key(tx.events(), table.id, index, key),
        }
    }

    /// A row has keys in a unique multi-valued index.
    pub fn note_many(&self, tx: &mut Transaction) {
        dependency::note_unknown(tx.events());
    }

    /// A row was inserted: notes its image for the binary log.
    pub fn inserted<'v>(&self, tx: &mut Transaction, row: impl Fn(usize) -> Value<'v>) -> Result<()> {
        self.logged(tx, |rows, events| rows.insert(events, row))
    }

    /// A row was updated: notes both images.
    pub fn updated<'v>(
        &self,
        tx: &mut Transaction,
        old: impl Fn(usize) -> Value<'v>,
        new: impl Fn(usize) -> Value<'v>,
    ) -> Result<()> {
        self.logged(tx, |rows, events| rows.update(events, old, new))
    }

    /// A row was deleted: notes its image.
    pub fn deleted<'v>(&self, tx: &mut Transaction, row: impl Fn(usize) -> Value<'v>) -> Result<()> {
        self.logged(tx, |rows, events| rows.delete(events, row))
    }

    #[inline]
    fn logged(
        &self,
        tx: &mut Transaction,
        put: impl FnOnce(&TableRows, &mut engine::Events) -> engine::Result<()>,
    ) -> Result<()> {
        let events = tx.events();
        put(&self.rows, events).map_err(unwritten)?;
        match events.len() > self.bytes_max {
            false => Ok(()),
            true if self.is_beside => Err(err!(ER_STMT_CACHE_FULL)),
            true => Err(err!(ER_TRANS_CACHE_FULL)),
        }
    }
}

/// The file that events go on in could not be written.
#[cold]
fn unwritten(e: engine::Error) -> SqlError {
    error::engine(e)
}

/// What the log says of a table, and where its columns are in the table's rows: hidden ones are nobody's business.
fn definition(table: &Table) -> (TableDef<'_>, Vec<usize>) {
    let shown = || table.columns.iter().enumerate().filter(|(_, c)| !c.hidden);
    let places: Vec<usize> = shown().map(|(i, _)| i).collect();
    let columns = shown().map(|(_, c)| ColumnDef {
        name: &c.name,
        data_type: c.data_type,
        members: &c.members,
        visible: !c.invisible,
    });
    // A table without a key has none that tells its rows apart.
    let key = &table.indexes[0];
    let parts = key.parts.iter().filter_map(|part| {
        let at = places.iter().position(|place| *place == part.column)?;
        Some((at, part.key.prefix))
    });
    let definition = TableDef {
        id: table.id << 16 & 0xFFFF_FFFF_0000 | table.version & 0xFFFF,
        schema: &table.schema,
        name: &table.name,
        columns: columns.collect(),
        primary_key: if key.is_hidden() { Vec::new() } else { parts.collect() },
        is_beside: !table.engine.is_transactional(),
    };
    (definition, places)
}
