//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.

use super::{ExprId, ExprList, FileFormat, Limit, Name, ObjectName, OrderItem, QueryId, Str, TableId, With};

/// INSERT and REPLACE. Manual: 15.2.7, 15.2.12.
#[derive(Debug)]
pub struct Insert {
    /// REPLACE
    pub replace: bool,
    pub priority: Priority,
    pub ignore: bool,
    pub table: ObjectName,
    pub partitions: Vec<Name>,
    /// None: no column list was written (all columns). `Some` and empty: `INSERT INTO t () VALUES ()`.
    pub columns: Option<Vec<Name>>,
    pub source: InsertSource,
    /// AS alias[(columns)]
    pub row_alias: Option<(Name, Vec<Name>)>,
    /// ON DUPLICATE KEY UPDATE; empty: none.
    pub on_duplicate: Vec<Assignment>,
}

/// Where the rows of an INSERT come from.
#[derive(Debug)]
pub enum InsertSource {
    /// One list per row; a row may be empty (all defaults). INSERT ... SET is one row with `columns` set.
    Rows(Vec<ExprList>),
    Query(QueryId),
}

/// LOW_PRIORITY, HIGH_PRIORITY or DELAYED of a statement that writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Priority {
    #[default]
    Normal,
    Low,
    High,
    Delayed,
}

/// `[[schema.]table.]column = value`; `column` is an [`super::Expr::Column`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assignment {
    pub column: ExprId,
    /// May be [`super::Expr::DefaultValue`].
    pub value: ExprId,
}

/// UPDATE of one table or several. Manual: 15.2.17.
#[derive(Debug)]
pub struct Update {
    pub with: Option<Box<With>>,
    pub low_priority: bool,
    pub ignore: bool,
    pub tables: TableId,
    pub set: Vec<Assignment>,
    pub filter: Option<ExprId>,
    pub order: Vec<OrderItem>,
    pub limit: Option<Limit>,
}

/// DELETE from one table or several. Manual: 15.2.2.
#[derive(Debug)]
pub struct Delete {
    pub with: Option<Box<With>>,
    pub low_priority: bool,
    pub quick: bool,
    pub ignore: bool,
    /// Empty: the single-table form, `from` is that table. Else the tables (or aliases) to delete from.
    pub targets: Vec<ObjectName>,
    pub from: TableId,
    pub filter: Option<ExprId>,
    pub order: Vec<OrderItem>,
    pub limit: Option<Limit>,
}

/// LOAD DATA. Manual: 15.2.9.
#[derive(Debug)]
pub struct LoadData {
    pub xml: bool,
    pub low_priority: bool,
    pub concurrent: bool,
    pub local: bool,
    pub file: Str,
    pub duplicates: OnDuplicate,
    pub table: ObjectName,
    pub partitions: Vec<Name>,
    pub charset: Option<Name>,
    /// ROWS IDENTIFIED BY of LOAD XML
    pub rows_identified: Option<Str>,
    pub format: FileFormat,
    pub ignore_lines: u64,
    /// Columns and user variables that receive the fields; empty: all columns.
    pub targets: Vec<ExprId>,
    pub set: Vec<Assignment>,
}

/// What becomes of a row whose unique key is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnDuplicate {
    Error,
    Ignore,
    Replace,
}
