//! Queries: SELECT, VALUES, TABLE, set operations, and the table references in FROM.

use super::{
    CreateColumnType, ExprId, ExprList, JsonOnResponse, Name, ObjectName, OrderItem, QueryId, Str, TableId, WindowSpec,
};

/// A query expression: `[WITH ...] body [ORDER BY ...] [LIMIT ...] [locking] [INTO ...]`.
#[derive(Debug)]
pub struct Query {
    pub with: Option<Box<With>>,
    pub body: QueryBody,
    pub order: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locking: Vec<Locking>,
    pub into: Option<Box<Into>>,
    /// Written in parentheses of its own, as an operand of a set operation.
    pub parenthesized: bool,
}

/// What a query expression is made of: a SELECT, VALUES, TABLE, or a set operation.
#[derive(Debug)]
pub enum QueryBody {
    Select(Box<Select>),
    /// VALUES ROW(...), ROW(...)
    Values(Vec<ExprList>),
    /// TABLE name
    Table(ObjectName),
    /// left op right; INTERSECT has bound tighter, else left to right.
    SetOp {
        op: SetOp,
        all: bool,
        left: QueryId,
        right: QueryId,
    },
    /// A query in parentheses to which more was added outside: `(SELECT ... LIMIT 5) LIMIT 1`.
    Nested(QueryId),
}

/// UNION, EXCEPT or INTERSECT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// One SELECT without its ORDER BY and LIMIT. Manual: 15.2.13.
#[derive(Debug, Default)]
pub struct Select {
    /// Where its SELECT stands in the text: blocks are numbered in this order.
    pub start: u32,
    /// Text of the `/*+ ... */` behind SELECT, without the comment marks.
    pub hints: Option<Str>,
    pub options: SelectOptions,
    pub items: Vec<SelectItem>,
    /// None: no FROM, or FROM DUAL. Comma lists are inner joins without a condition.
    pub from: Option<TableId>,
    pub filter: Option<ExprId>,
    pub group: Vec<ExprId>,
    pub rollup: bool,
    pub having: Option<ExprId>,
    pub windows: Vec<(Name, WindowSpec)>,
}

/// Words between SELECT and its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SelectOptions {
    pub distinct: bool,
    pub all: bool,
    pub straight_join: bool,
    pub high_priority: bool,
    pub calc_found_rows: bool,
    pub small_result: bool,
    pub big_result: bool,
    pub buffer_result: bool,
    pub no_cache: bool,
    /// FROM DUAL was written.
    pub from_dual: bool,
}

/// One entry of a select list.
#[derive(Clone, Copy, Debug)]
pub enum SelectItem {
    /// `*`
    Star,
    /// `[schema.]table.*`
    TableStar { schema: Option<Name>, table: Name },
    /// An expression with its alias, and its text as written, which names the result column when there is no alias.
    Expr { expr: ExprId, alias: Option<Name>, text: Str },
}

/// LIMIT with its offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// An integer, `?`, or a variable of a stored program.
    pub count: ExprId,
    pub offset: Option<ExprId>,
}

/// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locking {
    pub exclusive: bool,
    /// Tables of OF; empty: all.
    pub of: Vec<ObjectName>,
    pub wait: LockWait,
}

/// What a locking clause does about locked rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// INTO of a SELECT.
#[derive(Debug)]
pub enum Into {
    Vars(Vec<IntoVar>),
    Outfile { file: Str, charset: Option<Name>, format: FileFormat },
    Dumpfile(Str),
}

/// A variable that INTO names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntoVar {
    User(Name),
    /// A variable of a stored program.
    Local(super::LocalId),
}

/// FIELDS and LINES clauses of LOAD DATA and INTO OUTFILE; None: MySQL's default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileFormat {
    pub fields_terminated: Option<Str>,
    pub enclosed: Option<Str>,
    pub optionally_enclosed: bool,
    pub escaped: Option<Str>,
    pub lines_starting: Option<Str>,
    pub lines_terminated: Option<Str>,
}

/// WITH: common table expressions in front of a query.
#[derive(Debug)]
pub struct With {
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

/// One common table expression.
#[derive(Debug)]
pub struct CommonTable {
    pub name: Name,
    pub columns: Vec<Name>,
    pub query: QueryId,
    /// The places of what its query reads from, at any depth, in [`Parsed::table_refs`](super::Parsed::table_refs).
    pub tables: std::ops::Range<usize>,
}

/// What stands in FROM.
#[derive(Debug)]
pub enum TableRef {
    Table(TableFactor),
    Derived {
        lateral: bool,
        query: QueryId,
        alias: Name,
        columns: Vec<Name>,
    },
    Join {
        left: TableId,
        right: TableId,
        kind: JoinKind,
        /// NATURAL was written; then `constraint` is None.
        natural: bool,
        constraint: JoinConstraint,
    },
    JsonTable(Box<JsonTable>),
}

/// A table by name, with its alias and index hints.
#[derive(Debug)]
pub struct TableFactor {
    pub name: ObjectName,
    pub alias: Option<Name>,
    pub partitions: Vec<Name>,
    pub index_hints: Vec<IndexHint>,
}

/// Which rows without a match a join keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, CROSS JOIN and the comma.
    Inner,
    Left,
    Right,
    /// STRAIGHT_JOIN: inner, left table first.
    Straight,
}

/// ON or USING.
#[derive(Debug)]
pub enum JoinConstraint {
    None,
    On(ExprId),
    Using(Vec<Name>),
}

/// USE, FORCE or IGNORE INDEX behind a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexHint {
    pub action: IndexHintAction,
    pub scope: IndexHintScope,
    /// Index names (`PRIMARY` for the primary key); empty only in USE INDEX ().
    pub indexes: Vec<Name>,
}

/// What an index hint does with the indexes that it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexHintAction {
    Use,
    Force,
    Ignore,
}

/// What an index hint is for; not written: for everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexHintScope {
    All,
    Join,
    OrderBy,
    GroupBy,
}

/// JSON_TABLE(doc, path COLUMNS (...)) AS alias
#[derive(Debug)]
pub struct JsonTable {
    pub doc: ExprId,
    pub path: Str,
    pub columns: Vec<JsonColumn>,
    pub alias: Name,
}

/// A column of JSON_TABLE. Manual: 14.17.6.
#[derive(Debug)]
pub enum JsonColumn {
    Ordinality(Name),
    Path {
        name: Name,
        column_type: CreateColumnType,
        exists: bool,
        path: Str,
        on_empty: JsonOnResponse,
        on_error: JsonOnResponse,
    },
    Nested {
        path: Str,
        columns: Vec<JsonColumn>,
    },
}
