//! Tables and views as they are defined.

use crate::column::{Column, ColumnDefault, eq_name};
use crate::counter::AutoIncrement;
use crate::evolution::Evolution;
use crate::index::{Index, IndexPart};
use crate::options::{CreateOptions, StorageEngine};
use crate::row_log::RowLog;
use crate::statistics::Statistics;
use crate::trigger::{Trigger, TriggerEvent};
use crate::virtual_table::VirtualTable;
use std::sync::{Arc, OnceLock};
use types::Value;
use types::collation::CollationId;
use types::row::RowLayout;

/// Schema and name of a table.
pub type TableName = (String, String);

/// One version of a table's definition. The fields are the parts and options of a CREATE TABLE.
#[derive(Clone)]
pub struct Table {
    /// Unique for ever; a table that is altered keeps it.
    pub id: u64,
    /// Grows with each change of the definition.
    pub version: u64,
    pub schema: String,
    pub name: String,
    pub columns: Vec<Column>,
    /// `indexes[0]` is the clustered index: PRIMARY, else the hidden row id.
    pub indexes: Vec<Index>,
    pub checks: Vec<Check>,
    pub foreign_keys: Vec<ForeignKey>,
    pub layout: RowLayout,
    /// Of a table whose columns came or went without a rewrite of its rows.
    pub evolution: Option<Evolution>,
    pub auto_increment: Option<Arc<AutoIncrement>>,
    /// Hands out the hidden row ids of a table without a primary key.
    pub row_ids: Option<Arc<AutoIncrement>>,
    pub default_collation: CollationId,
    pub comment: String,
    pub engine: StorageEngine,
    /// Table options without effect here that SHOW CREATE TABLE repeats, such as `ROW_FORMAT=DYNAMIC`.
    pub create_options: CreateOptions,
    /// Seconds since 1970.
    pub created: u64,
    /// [`crate::Version::number`] from which the trees hold the rows: a transaction whose snapshot is older can not read them
    /// (error 1412). 0 after a restart.
    pub readable_since: u64,
    /// Of one session, which alone knows it; needs no metadata lock and no privilege.
    pub temporary: bool,
    /// Written rows are noted here while an index is built beside writers.
    pub row_log: Arc<RowLog>,
    /// What planners know of its contents.
    pub statistics: Arc<Statistics>,
    /// Set for tables of information_schema and performance_schema: no trees, rows computed when asked.
    pub virtual_rows: Option<Arc<dyn VirtualTable>>,
    /// Set for views: no trees either, the columns are the query's.
    pub view: Option<Arc<View>>,
    /// Of each event and time in the order in which they fire.
    pub triggers: Vec<Arc<Trigger>>,
}

impl Table {
    /// Columns that a definition names: all but hidden ones.
    pub fn named_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| !c.hidden)
    }

    /// Indexes that SHOW INDEX lists: all but the hidden clustered one.
    pub fn named_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|i| !i.is_hidden())
    }

    /// What rows have for column `i` that were written before it was added.
    pub fn initial_value(&self, i: usize) -> &Value<'static> {
        let evolution = self.evolution.as_ref().expect("rows lack columns where columns were added to rows alone");
        &evolution.columns[i].initial
    }

    /// Position of a column by name, in any case.
    pub fn column_position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name))
    }

    pub fn is_virtual(&self) -> bool {
        self.virtual_rows.is_some()
    }

    /// Is a visible unique index on this column alone? Then nothing is to be learnt from a histogram of it.
    pub fn is_unique_alone(&self, column: usize) -> bool {
        let alone = |i: &Index| i.unique && !i.invisible && i.parts.len() == 1 && i.parts[0].column == column;
        self.indexes.iter().any(alone)
    }

    /// Rows of its own in trees of its own: neither a view nor computed.
    pub fn is_base(&self) -> bool {
        self.virtual_rows.is_none() && self.view.is_none()
    }

    /// Is the AUTO_INCREMENT column, if there is one, counted among rows that are alike in the parts before it of an index?
    pub fn counts_in_groups(&self) -> bool {
        let counted = |p: &IndexPart| self.columns[p.column].auto_increment;
        let indexes = || self.indexes.iter().filter(|_| !self.engine.is_transactional());
        indexes().any(|i| i.parts.iter().any(counted)) && !indexes().any(|i| counted(&i.parts[0]))
    }

    /// Has a row to satisfy more than types and keys: are there generated columns, checks, foreign keys?
    pub fn has_rules(&self) -> bool {
        !self.checks.is_empty()
            || !self.foreign_keys.is_empty()
            || self.columns.iter().any(|c| c.generated.is_some() || matches!(c.default, ColumnDefault::Expression(_)))
    }

    /// Those that fire at that time of that event, in their order.
    pub fn triggers_of(&self, event: TriggerEvent, before: bool) -> impl Iterator<Item = &Arc<Trigger>> {
        self.triggers.iter().filter(move |t| t.event == event && t.before == before)
    }

    /// For another version of the table: nothing is known of what was compiled for this one.
    pub(crate) fn renew_triggers(&mut self) {
        for trigger in &mut self.triggers {
            *trigger = Arc::new(Trigger { compiled: OnceLock::new(), ..Trigger::clone(trigger) });
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    /// Canonical text.
    pub expression: String,
    pub enforced: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    pub name: String,
    /// Positions in [`Table::columns`].
    pub columns: Vec<usize>,
    pub parent: TableName,
    pub parent_columns: Vec<String>,
    pub on_delete: ReferenceAction,
    pub on_update: ReferenceAction,
}

impl ForeignKey {
    /// `FOREIGN KEY ...` as SHOW CREATE TABLE and the errors of the key print it, for a key of `table`.
    pub fn clause(&self, table: &Table) -> String {
        let quote = |name: &str| format!("`{}`", name.replace('`', "``"));
        let own: Vec<String> = self.columns.iter().map(|c| quote(&table.columns[*c].name)).collect();
        let theirs: Vec<String> = self.parent_columns.iter().map(|c| quote(c)).collect();
        let schema = if self.parent.0 == table.schema { String::new() } else { quote(&self.parent.0) + "." };
        let mut text = format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {schema}{} ({})",
            quote(&self.name),
            own.join(", "),
            quote(&self.parent.1),
            theirs.join(", ")
        );
        for (event, action) in [("DELETE", self.on_delete), ("UPDATE", self.on_update)] {
            if action != ReferenceAction::NoAction {
                text.push_str(&format!(" ON {event} {}", action.words()));
            }
        }
        text
    }
}

impl ReferenceAction {
    pub const fn words(self) -> &'static str {
        match self {
            ReferenceAction::NoAction => "NO ACTION",
            ReferenceAction::Restrict => "RESTRICT",
            ReferenceAction::Cascade => "CASCADE",
            ReferenceAction::SetNull => "SET NULL",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
}

/// The definition of a view; the columns are those of its [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Canonical text of the query: every name qualified, every column with an alias.
    pub query: String,
    /// Its columns were named: `CREATE VIEW v (a, b) AS`.
    pub named: bool,
    pub algorithm: ViewAlgorithm,
    /// `user@host`
    pub definer: String,
    /// SQL SECURITY INVOKER
    pub invoker: bool,
    pub check_option: CheckOption,
    /// Character set and collation of the connection that made it.
    pub client_charset: String,
    pub connection_collation: String,
    pub updatable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOption {
    None,
    Local,
    Cascaded,
}
