//! Data definition: databases, tables with columns, keys and options, indexes, views.

use super::{Account, ExprId, Name, ObjectName, OnDuplicate, OrderItem, QueryId, Str};

/// CREATE DATABASE. Manual: 15.1.12.
#[derive(Debug)]
pub struct CreateDatabase {
    pub if_not_exists: bool,
    pub name: Name,
    pub options: DatabaseOptions,
}

/// ALTER DATABASE. Manual: 15.1.2.
#[derive(Debug)]
pub struct AlterDatabase {
    /// None: the current database.
    pub name: Option<Name>,
    pub options: DatabaseOptions,
}

/// Options of a database; what was not written is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DatabaseOptions {
    pub charsets: Vec<CharsetOption>,
    pub encryption: Option<Str>,
    /// READ ONLY = 0 | 1 | DEFAULT (0)
    pub read_only: Option<bool>,
}

/// CREATE TABLE. Manual: 15.1.20.
#[derive(Debug)]
pub struct CreateTable {
    pub temporary: bool,
    pub if_not_exists: bool,
    pub name: ObjectName,
    pub body: CreateTableBody,
    /// The whole PARTITION BY clause as written: answer 1235.
    pub partitioning: Option<Str>,
}

/// What CREATE TABLE makes its table of: another table, or definitions and perhaps a query.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one a statement, nearly always the large one")]
pub enum CreateTableBody {
    Like(ObjectName),
    Columns {
        columns: Vec<ColumnDef>,
        /// Keys and constraints in order, those written beside a column not included.
        keys: Vec<KeyDef>,
        options: TableOptions,
        /// CREATE TABLE ... SELECT, with what to do about duplicate keys.
        select: Option<(OnDuplicate, QueryId)>,
    },
}

/// A column's definition.
#[derive(Debug)]
pub struct ColumnDef {
    pub name: Name,
    pub column_type: CreateColumnType,
    pub attributes: ColumnAttributes,
}

/// A data type as written. Lengths that were not written are None, defaults are the planner's affair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CreateColumnType {
    pub base: BaseType,
    /// CHAR(n), INT(n), DECIMAL(n, m), TIME(n) ...
    pub length: Option<u32>,
    pub scale: Option<u32>,
    /// One of the two was written larger than 32 bits hold, and is the largest that they do.
    pub oversize: bool,
    pub unsigned: bool,
    pub zerofill: bool,
    /// CHARACTER SET; `binary` turns CHAR into BINARY and TEXT into BLOB.
    pub charset: Option<Name>,
    pub collation: Option<Name>,
    /// The BINARY attribute: the `_bin` collation of the character set.
    pub binary: bool,
    /// Members of ENUM and SET.
    pub members: Vec<Str>,
}

/// What is stored and runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramKind {
    Procedure,
    Function,
    Trigger,
    Event,
}

/// A column's type as written, without attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BaseType {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    /// SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE
    Serial,
    /// BOOL: TINYINT(1)
    Bool,
    Bit,
    Decimal,
    Float,
    Double,
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Char,
    /// NCHAR: CHAR CHARACTER SET utf8mb3
    NChar,
    VarChar,
    NVarChar,
    Binary,
    VarBinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Enum,
    Set,
    Json,
    /// GEOMETRY, POINT ...: answer 1235.
    Geometry,
}

/// What may stand behind a column's type, in any order: the fields are the grammar's attributes.
#[derive(Debug, Default)]
pub struct ColumnAttributes {
    /// Some(true): NULL, Some(false): NOT NULL.
    pub nullable: Option<bool>,
    pub default: Option<DefaultValue>,
    /// ON UPDATE CURRENT_TIMESTAMP[(digits)]
    pub on_update_now: Option<u8>,
    pub auto_increment: bool,
    pub primary_key: bool,
    pub unique: bool,
    pub comment: Option<Str>,
    pub generated: Option<Generated>,
    pub invisible: bool,
    pub visible: bool,
    pub column_format: Option<Name>,
    pub storage: Option<Name>,
    pub engine_attribute: Option<Str>,
    pub secondary_engine_attribute: Option<Str>,
    pub srid: Option<u32>,
    pub references: Option<Box<References>>,
    pub checks: Vec<Check>,
    pub not_secondary: bool,
}

/// DEFAULT: a literal, the present time, or an expression in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefaultValue {
    /// A literal, signed number, NULL, NOW() ...
    Literal(ExprId),
    /// DEFAULT (expr), with the text between the parentheses.
    Expr(ExprId, Str),
}

/// GENERATED ALWAYS AS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generated {
    pub expr: ExprId,
    /// The text between the parentheses.
    pub text: Str,
    pub stored: bool,
}

/// A CHECK constraint of a column or a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Check {
    pub name: Option<Name>,
    pub expr: ExprId,
    /// The text between the parentheses.
    pub text: Str,
    pub enforced: bool,
}

/// A key in a table's definition: an index or a foreign key.
#[derive(Debug)]
pub enum KeyDef {
    Index(IndexDef),
    ForeignKey(ForeignKey),
    Check(Check),
}

/// What kind of index is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    Plain,
    Unique,
    Primary,
    Fulltext,
    Spatial,
}

/// An index's definition.
#[derive(Debug)]
pub struct IndexDef {
    pub kind: IndexKind,
    /// The name of the CONSTRAINT, else of the index.
    pub name: Option<Name>,
    pub parts: Vec<KeyPart>,
    pub options: IndexOptions,
}

/// One part of a key, with its direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyPart {
    pub what: KeyPartKind,
    pub descending: bool,
    /// ASC or DESC was written.
    pub ordered: bool,
}

/// A column, perhaps a prefix of it, or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPartKind {
    Column {
        name: Name,
        prefix: Option<u32>,
    },
    /// (expr), with the text between the parentheses.
    Expr(ExprId, Str),
}

/// Options of an index; what was not written is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IndexOptions {
    pub algorithm: Option<IndexAlgorithm>,
    pub comment: Option<Str>,
    pub key_block_size: Option<u64>,
    pub parser: Option<Name>,
    pub invisible: bool,
    pub engine_attribute: Option<Str>,
    pub secondary_engine_attribute: Option<Str>,
}

/// USING BTREE or HASH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexAlgorithm {
    BTree,
    Hash,
    RTree,
}

/// FOREIGN KEY. Manual: 15.1.20.5.
#[derive(Debug)]
pub struct ForeignKey {
    pub constraint: Option<Name>,
    pub index: Option<Name>,
    pub columns: Vec<Name>,
    pub references: References,
}

/// REFERENCES: the parent's table and columns, and what is carried over.
#[derive(Debug)]
pub struct References {
    pub table: ObjectName,
    pub columns: Vec<Name>,
    pub match_kind: Option<MatchKind>,
    pub on_delete: Option<ReferenceAction>,
    pub on_update: Option<ReferenceAction>,
}

/// MATCH of a foreign key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchKind {
    Full,
    Partial,
    Simple,
}

/// What ON DELETE or ON UPDATE does to the rows of children.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

/// CHARACTER SET or COLLATE of a table or a schema, either of which may stand several times; those of DEFAULT are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CharsetOption {
    Charset(Name),
    Collation(Name),
}

/// Table options; those that this server has no use for are kept by name in `other`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableOptions {
    pub engine: Option<Str>,
    pub auto_increment: Option<u64>,
    pub charsets: Vec<CharsetOption>,
    pub comment: Option<Str>,
    pub row_format: Option<Name>,
    pub key_block_size: Option<u64>,
    pub stats_persistent: Option<OptionValue>,
    pub stats_auto_recalc: Option<OptionValue>,
    pub stats_sample_pages: Option<OptionValue>,
    pub encryption: Option<Str>,
    pub compression: Option<Str>,
    /// The keyword, lower case, and its value.
    pub other: Vec<(&'static str, OptionValue)>,
}

/// A table option's value, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionValue {
    Default,
    Number(u64),
    Text(Str),
    Tables(Vec<ObjectName>),
}

/// ALTER TABLE: its actions in the order in which they stand. Manual: 15.1.9.
#[derive(Debug)]
pub struct AlterTable {
    pub name: ObjectName,
    pub actions: Vec<AlterAction>,
    /// Table options among the actions, merged.
    pub options: TableOptions,
    pub algorithm: Option<AlterAlgorithm>,
    pub lock: Option<AlterLock>,
    /// WITH VALIDATION (true) or WITHOUT VALIDATION (false).
    pub validation: Option<bool>,
}

/// One action of ALTER TABLE.
#[derive(Debug)]
pub enum AlterAction {
    AddColumns(Vec<ColumnDef>, ColumnPosition),
    AddKey(KeyDef),
    DropColumn(Name),
    DropPrimaryKey,
    DropIndex(Name),
    DropForeignKey(Name),
    DropCheck(Name),
    /// DROP CONSTRAINT: a key, foreign key or check of that name.
    DropConstraint(Name),
    /// CHANGE old definition, MODIFY definition (`old` is the name in it).
    ChangeColumn {
        old: Name,
        column: ColumnDef,
        position: ColumnPosition,
    },
    RenameColumn(Name, Name),
    RenameIndex(Name, Name),
    RenameTable(ObjectName),
    SetDefault(Name, DefaultValue),
    DropDefault(Name),
    SetColumnVisible(Name, bool),
    SetIndexVisible(Name, bool),
    /// ALTER CHECK name [NOT] ENFORCED
    SetEnforced(Name, bool),
    /// ALTER CONSTRAINT name [NOT] ENFORCED
    SetConstraintEnforced(Name, bool),
    ConvertCharset {
        charset: Option<Name>,
        collation: Option<Name>,
    },
    OrderBy(Vec<OrderItem>),
    EnableKeys(bool),
    DiscardTablespace,
    ImportTablespace,
    Force,
    /// Table options only (`ENGINE=...`, `COMMENT ...`): see [`AlterTable::options`].
    Options,
    /// ADD, DROP, REORGANIZE ... PARTITION and PARTITION BY: answer 1235 (1505 for a table without partitions).
    Partition(&'static str),
    /// SECONDARY_LOAD, SECONDARY_UNLOAD
    Secondary(&'static str),
}

/// FIRST or AFTER a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnPosition {
    Last,
    First,
    After(Name),
}

/// ALGORITHM of ALTER TABLE and of CREATE and DROP INDEX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlterAlgorithm {
    Default,
    Instant,
    Inplace,
    Copy,
}

/// LOCK of ALTER TABLE and of CREATE and DROP INDEX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlterLock {
    Default,
    None,
    Shared,
    Exclusive,
}

/// CREATE INDEX. Manual: 15.1.15.
#[derive(Debug)]
pub struct CreateIndex {
    pub index: IndexDef,
    pub table: ObjectName,
    pub algorithm: Option<AlterAlgorithm>,
    pub lock: Option<AlterLock>,
}

/// DROP INDEX. Manual: 15.1.27.
#[derive(Debug)]
pub struct DropIndex {
    pub name: Name,
    pub table: ObjectName,
    pub algorithm: Option<AlterAlgorithm>,
    pub lock: Option<AlterLock>,
}

/// CREATE or ALTER VIEW. Manual: 15.1.23.
#[derive(Debug)]
pub struct CreateView {
    /// ALTER VIEW
    pub alter: bool,
    pub or_replace: bool,
    pub algorithm: ViewAlgorithm,
    pub definer: Option<Account>,
    /// SQL SECURITY: is it INVOKER? `None`: not written.
    pub invoker: Option<bool>,
    pub name: ObjectName,
    pub columns: Vec<Name>,
    pub query: QueryId,
    /// The text of the query as written.
    pub text: Str,
    pub check_option: CheckOption,
}

/// ALGORITHM of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

/// WITH CHECK OPTION of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckOption {
    None,
    Local,
    Cascaded,
}

/// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE.
#[derive(Debug)]
pub struct TableMaintenance {
    pub verb: MaintenanceVerb,
    /// NO_WRITE_TO_BINLOG or LOCAL
    pub local: bool,
    pub tables: Vec<ObjectName>,
    pub options: Vec<MaintenanceOption>,
    pub histogram: Option<Histogram>,
}

/// What a statement about the upkeep of tables does. Manual: 15.7.3, 15.7.8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaintenanceVerb {
    Analyze,
    Check,
    Optimize,
    Repair,
    Checksum,
    /// CACHE INDEX ... IN DEFAULT
    AssignKeyCache,
    /// LOAD INDEX INTO CACHE
    PreloadKeys,
}

/// A word behind the tables of such a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaintenanceOption {
    ForUpgrade,
    Quick,
    Fast,
    Medium,
    Extended,
    Changed,
    UseFrm,
}

/// ANALYZE TABLE ... UPDATE | DROP HISTOGRAM ON columns
#[derive(Debug)]
pub struct Histogram {
    pub drop: bool,
    pub columns: Vec<Name>,
    pub buckets: Option<u64>,
    pub data: Option<Str>,
    /// MANUAL UPDATE, AUTO UPDATE
    pub auto_update: Option<bool>,
}
