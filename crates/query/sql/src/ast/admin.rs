//! Transactions, variables, SHOW, EXPLAIN, prepared statements and server administration.

use super::{Account, ExprId, ExprList, Limit, Name, ObjectName, QueryId, Statement, Str, VarScope};

/// READ WRITE or READ ONLY of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessMode {
    ReadOnly,
    ReadWrite,
}

/// The four levels of SET TRANSACTION.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// AND [NO] CHAIN, [NO] RELEASE; None: not written, `completion_type` decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Completion {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

/// One table of LOCK TABLES.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockTable {
    pub name: ObjectName,
    pub alias: Option<Name>,
    pub mode: TableLockMode,
}

/// How LOCK TABLES locks a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableLockMode {
    Read,
    ReadLocal,
    Write,
    LowPriorityWrite,
}

/// The XA statements. Manual: 15.3.8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Xa {
    Start { xid: Xid, join: bool, resume: bool },
    End { xid: Xid, suspend: bool, for_migrate: bool },
    Prepare(Xid),
    Commit { xid: Xid, one_phase: bool },
    Rollback(Xid),
    Recover { convert_xid: bool },
}

/// The identifier of an XA transaction: gtrid, bqual, format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Xid {
    pub gtrid: Str,
    pub bqual: Option<Str>,
    /// 1 when not written.
    pub format_id: u64,
}

/// One assignment of a SET statement.
#[derive(Clone, Copy, Debug)]
pub enum SetItem {
    UserVar {
        name: Name,
        value: ExprId,
    },
    SystemVar {
        scope: VarScope,
        base: Option<Name>,
        name: Name,
        /// None: DEFAULT. Bare words (`ON`, `utf8mb4`) have become strings.
        value: Option<ExprId>,
    },
    /// SET NAMES; `charset` None: DEFAULT.
    Names {
        charset: Option<Str>,
        collation: Option<Str>,
    },
    /// SET CHARACTER SET; None: DEFAULT.
    CharacterSet(Option<Str>),
    Transaction {
        scope: VarScope,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
    },
}

/// LIKE 'pattern' or WHERE expr of SHOW.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ShowFilter {
    #[default]
    None,
    Like(Str),
    /// A query of all columns of [`SHOWN`] under the condition: the rows of that name are whatever is shown.
    Where(QueryId),
}

/// The schema and the table that a WHERE of SHOW reads.
pub const SHOWN: (&str, &str) = ("information_schema", "show");

/// SHOW with its LIKE or WHERE. Manual: 15.7.7.
#[derive(Debug)]
pub struct Show {
    pub what: ShowWhat,
    pub filter: ShowFilter,
}

/// What SHOW is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShowWhat {
    Databases,
    Tables {
        extended: bool,
        full: bool,
        schema: Option<Name>,
    },
    TableStatus {
        schema: Option<Name>,
    },
    OpenTables {
        schema: Option<Name>,
    },
    Columns {
        extended: bool,
        full: bool,
        table: ObjectName,
    },
    Index {
        extended: bool,
        table: ObjectName,
    },
    CreateTable(ObjectName),
    CreateDatabase {
        if_not_exists: bool,
        name: Name,
    },
    CreateView(ObjectName),
    CreateProcedure(ObjectName),
    CreateFunction(ObjectName),
    CreateTrigger(ObjectName),
    CreateEvent(ObjectName),
    CreateUser(Account),
    Grants {
        user: Option<Account>,
        using: Vec<Account>,
    },
    Variables(VarScope),
    Status(VarScope),
    Warnings {
        limit: Option<ShowLimit>,
    },
    CountWarnings,
    Errors {
        limit: Option<ShowLimit>,
    },
    CountErrors,
    ProcessList {
        full: bool,
    },
    Engines,
    /// SHOW ENGINE name STATUS | MUTEX | LOGS; None: ALL
    Engine {
        name: Option<Name>,
        what: EngineInfo,
    },
    Plugins,
    CharacterSet,
    Collation,
    Privileges,
    Triggers {
        full: bool,
        schema: Option<Name>,
    },
    Events {
        schema: Option<Name>,
    },
    ProcedureStatus,
    FunctionStatus,
    ProcedureCode(ObjectName),
    FunctionCode(ObjectName),
    BinaryLogs,
    BinaryLogStatus,
    BinlogEvents {
        relay: bool,
        file: Option<Str>,
        position: Option<u64>,
        limit: Option<ShowLimit>,
        channel: Option<Str>,
    },
    ReplicaStatus {
        channel: Option<Str>,
        /// SHOW SLAVE STATUS: its columns have the names of that time.
        old: bool,
    },
    Replicas,
    Profile {
        types: Vec<&'static str>,
        query: Option<u64>,
        limit: Option<ShowLimit>,
    },
    Profiles,
    ParseTree,
}

/// LIMIT [offset,] count of SHOW.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShowLimit {
    pub count: ExprId,
    pub offset: Option<ExprId>,
}

/// What SHOW ENGINE is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineInfo {
    Status,
    Mutex,
    Logs,
}

/// EXPLAIN or DESCRIBE. Manual: 15.8.2.
#[derive(Debug)]
pub struct Explain {
    pub format: ExplainFormat,
    pub analyze: bool,
    /// EXPLAIN INTO @var
    pub into: Option<Name>,
    /// FOR SCHEMA name
    pub schema: Option<Name>,
    pub target: ExplainTarget,
}

/// FORMAT of EXPLAIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExplainFormat {
    /// Not written: `explain_format` decides.
    Default,
    Traditional,
    Json,
    Tree,
}

/// What is explained: a statement, or that of a connection.
#[derive(Debug)]
pub enum ExplainTarget {
    Query(QueryId),
    Statement(Box<Statement>),
    Connection(u64),
}

/// Where PREPARE has its text from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrepareSource {
    Text(Str),
    UserVar(Name),
}

/// FLUSH. Manual: 15.7.8.3.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flush {
    /// NO_WRITE_TO_BINLOG or LOCAL
    pub local: bool,
    pub what: Vec<FlushWhat>,
}

/// One thing that FLUSH names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlushWhat {
    Privileges,
    /// Empty: all tables.
    Tables {
        tables: Vec<ObjectName>,
        mode: FlushTables,
    },
    Logs,
    BinaryLogs,
    EngineLogs,
    ErrorLogs,
    GeneralLogs,
    SlowLogs,
    RelayLogs(Option<Str>),
    Status,
    UserResources,
    OptimizerCosts,
}

/// What FLUSH TABLES does with its tables beyond closing them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlushTables {
    Close,
    WithReadLock,
    ForExport,
}

/// PURGE BINARY LOGS: which go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PurgeLogs {
    /// Those before this file.
    To(Str),
    /// Those that were written last before a time; where its text begins in the source.
    Before(ExprId, u32),
}

/// INSTALL and UNINSTALL.
#[derive(Clone, Debug)]
pub enum ExtensionStatement {
    /// INSTALL COMPONENT urns [SET ...]: system variables only.
    InstallComponents {
        urns: Vec<Str>,
        set: Vec<SetItem>,
    },
    UninstallComponents(Vec<Str>),
    /// INSTALL PLUGIN name SONAME 'library'
    InstallPlugin {
        name: Name,
        library: Str,
    },
    UninstallPlugin(Name),
}

/// CLONE INSTANCE FROM user@host:port
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CloneInstance {
    pub user: Str,
    pub host: Option<Str>,
    pub port: u64,
    pub password: Str,
    /// `None`: in place of the server's own data.
    pub directory: Option<Str>,
    /// REQUIRE SSL, REQUIRE NO SSL.
    pub ssl: Option<bool>,
}

/// What a statement is about that a server without it answers for all names alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Absent {
    /// CACHE INDEX tables IN name
    KeyCache(Name, Vec<ObjectName>),
    /// CREATE RESOURCE GROUP
    NewResourceGroup,
    /// ALTER, DROP, SET RESOURCE GROUP
    ResourceGroup { name: Name, sets: bool },
    /// IMPORT TABLE FROM 'file'
    ImportTable,
    /// ALTER, DROP TABLESPACE
    Tablespace(Name),
}

/// HANDLER OPEN, READ, CLOSE. Manual: 15.2.5.
#[derive(Debug)]
pub enum HandlerStatement {
    Open { table: ObjectName, alias: Name },
    Close(Name),
    Read(HandlerRead),
}

/// HANDLER READ: from where, and which rows.
#[derive(Clone, Copy, Debug)]
pub struct HandlerRead {
    pub handler: Name,
    /// In this index's order.
    pub index: Option<Name>,
    pub step: HandlerStep,
    pub filter: Option<ExprId>,
    pub limit: Option<Limit>,
}

/// Which row HANDLER READ goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandlerStep {
    First,
    Next,
    Prev,
    Last,
    /// Values for the first parts of the index.
    Key(KeyComparison, ExprList),
}

/// How HANDLER READ compares with the key that it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyComparison {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// One thing that RESET names. Manual: 15.7.8.6.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reset {
    /// RESET BINARY LOGS AND GTIDS
    BinaryLogs {
        to: Option<u64>,
    },
    Replica {
        all: bool,
        channel: Option<Str>,
    },
    Persist {
        if_exists: bool,
        name: Option<ObjectName>,
    },
}

/// CHANGE REPLICATION SOURCE and FILTER, START and STOP REPLICA. Words stand for the names of options, in any letter case.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplicaStatement {
    ChangeSource {
        options: Vec<(Str, SourceValue)>,
        channel: Option<Str>,
    },
    ChangeFilter {
        rules: Vec<(Str, Vec<FilterItem>)>,
        channel: Option<Str>,
    },
    Start {
        io: bool,
        sql: bool,
        /// What UNTIL says: `SQL_AFTER_MTS_GAPS` has no value.
        until: Vec<(Str, Option<SourceValue>)>,
        /// A user or a password was said.
        credentials: bool,
        channel: Option<Str>,
    },
    Stop {
        io: bool,
        sql: bool,
        channel: Option<Str>,
    },
}

/// A value of an option of CHANGE REPLICATION SOURCE TO.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceValue {
    Text(Str),
    /// As it is written.
    Number(Str),
    Word(Str),
    Numbers(Vec<u64>),
}

/// An item of a replication filter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FilterItem {
    Name(ObjectName),
    /// `'db.table'` with wildcards.
    Pattern(Str),
    /// REPLICATE_REWRITE_DB
    Pair(Name, Name),
}

/// CREATE, ALTER, DROP SERVER
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerStatement {
    pub verb: ServerVerb,
    pub name: Str,
    pub options: ServerOptions,
}

/// CREATE, ALTER or DROP SERVER.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerVerb {
    Create { wrapper: Str },
    Alter,
    Drop { if_exists: bool },
}

/// The last of each that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerOptions {
    pub host: Option<Str>,
    pub database: Option<Str>,
    pub user: Option<Str>,
    pub password: Option<Str>,
    pub socket: Option<Str>,
    pub owner: Option<Str>,
    pub port: Option<u64>,
}
