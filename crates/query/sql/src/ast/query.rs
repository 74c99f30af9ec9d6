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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

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

#[derive(Clone, Copy, Debug)]
pub enum SelectItem {
    /// `*`
    Star,
    /// `[schema.]table.*`
    TableStar { schema: Option<Name>, table: Name },
    /// An expression with its alias, and its text as written, which names the result column when there is no alias.
    Expr { expr: ExprId, alias: Option<Name>, text: Str },
}

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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

#[derive(Debug)]
pub enum Into {
    Vars(Vec<IntoVar>),
    Outfile { file: Str, charset: Option<Name>, format: FileFormat },
    Dumpfile(Str),
}

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

#[derive(Debug)]
pub struct With {
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

#[derive(Debug)]
pub struct CommonTable {
    pub name: Name,
    pub columns: Vec<Name>,
    pub query: QueryId,
    /// The places of what its query reads from, at any depth, in [`Parsed::table_refs`](super::Parsed::table_refs).
    pub tables: std::ops::Range<usize>,
}

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

#[derive(Debug)]
pub struct TableFactor {
    pub name: ObjectName,
    pub alias: Option<Name>,
    pub partitions: Vec<Name>,
    pub index_hints: Vec<IndexHint>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, CROSS JOIN and the comma.
    Inner,
    Left,
    Right,
    /// STRAIGHT_JOIN: inner, left table first.
    Straight,
}

#[derive(Debug)]
pub enum JoinConstraint {
    None,
    On(ExprId),
    Using(Vec<Name>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexHint {
    pub action: IndexHintAction,
    pub scope: IndexHintScope,
    /// Index names (`PRIMARY` for the primary key); empty only in USE INDEX ().
    pub indexes: Vec<Name>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexHintAction {
    Use,
    Force,
    Ignore,
}

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
