//! The syntax tree: what one statement says, before any name is looked up.
//!
//! A [`Parsed`] owns everything it speaks of, so it can be cached, sent to another thread and planned later. Expressions,
//! queries and table references live in flat vectors and refer to each other by 4-byte ids; the operands of an expression
//! stand before it. Nothing in it is recursive in memory: dropping a tree of any shape is a handful of `free` calls.
//!
//! ```text
//!   Parsed
//!    +- source   bytes of this statement alone          <- Str { offset, length }
//!    +- extra    unescaped strings, decoded x'..' b'..' <- Str with the high bit of the offset set
//!    +- exprs    Expr, Expr, Expr ...                   <- ExprId
//!    +- lists    ExprId, ExprId ...                     <- ExprList { start, length }
//!    +- queries  Query ...                              <- QueryId
//!    +- tables   TableRef ...                           <- TableId
//!    +- statement: Statement
//! ```

mod account;
mod admin;
mod ddl;
mod dml;
mod event;
mod expr;
mod notes;
mod program;
mod query;

pub use account::*;
pub use admin::*;
pub use ddl::*;
pub use dml::*;
pub use event::*;
pub use expr::*;
pub use notes::*;
pub use program::*;
pub use query::*;

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Index, Range};
use std::sync::Arc;
use types::CollationId;

/// A run of bytes of the statement: an identifier, or the contents of a string literal (unquoted, unescaped).
/// Resolve it with [`Parsed::bytes`] or [`Parsed::name`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Str {
    /// Offset + 1; bit 31 set: into `extra`, else into `source`.
    start: NonZeroU32,
    len: u32,
}

const EXTRA_BIT: u32 = 1 << 31;

impl Str {
    pub(crate) fn source(start: u32, end: u32) -> Str {
        assert!(start <= end && start < EXTRA_BIT - 1);
        Str { start: NonZeroU32::MIN.saturating_add(start), len: end - start }
    }

    pub(crate) fn extra(start: usize, end: usize) -> Str {
        assert!(start <= end && end < (EXTRA_BIT - 1) as usize);
        let start32 = NonZeroU32::MIN.saturating_add(start as u32);
        Str { start: start32 | EXTRA_BIT, len: (end - start) as u32 }
    }

    pub(crate) fn resolve<'a>(self, source: &'a [u8], extra: &'a [u8]) -> &'a [u8] {
        let raw = self.start.get();
        let (from, offset) = match raw & EXTRA_BIT {
            0 => (source, raw - 1),
            _ => (extra, (raw & !EXTRA_BIT) - 1),
        };
        &from[offset as usize..offset as usize + self.len as usize]
    }

    /// Where it stands in the statement. Only for what was made by [`Str::source`].
    pub(crate) fn range(self) -> (usize, usize) {
        assert!(self.start.get() & EXTRA_BIT == 0, "it stands in the text");
        let from = self.start.get() as usize - 1;
        (from, from + self.len as usize)
    }

    /// Its first bytes.
    pub(crate) fn first(self, bytes: usize) -> Str {
        assert!(bytes <= self.len());
        Str { len: bytes as u32, ..self }
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Is there nothing in it?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Str({:#x}+{})", self.start.get() - 1, self.len)
    }
}

/// An identifier. Always valid UTF-8 (the parser refuses others with 1300).
pub type Name = Str;

macro_rules! id {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $id(NonZeroU32);

        impl $id {
            pub(crate) fn new(index: usize) -> $id {
                $id(NonZeroU32::MIN.saturating_add(index as u32))
            }

            /// Position in its vector; ids are dense, so side tables can be indexed by it.
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($id), self.index())
            }
        }
    };
}

id!(
    /// An expression of a [`Parsed`].
    ExprId
);
id!(
    /// A query expression (SELECT, VALUES, TABLE, or a set operation of two) of a [`Parsed`].
    QueryId
);
id!(
    /// A table reference (table, derived table, join) of a [`Parsed`].
    TableId
);

/// A list of expressions; resolve with [`Parsed::list`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExprList {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl ExprList {
    /// How many there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Is there nothing in it?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// `[schema.]name` of a table, view or routine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ObjectName {
    pub schema: Option<Name>,
    pub name: Name,
}

/// One parsed statement with all that it owns.
#[derive(Debug)]
pub struct Parsed {
    /// The text that it stands in, and where: parts of a stored program share one.
    pub(crate) source: Arc<[u8]>,
    pub(crate) own: Range<u32>,
    pub(crate) extra: Vec<u8>,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lists: Vec<ExprId>,
    pub(crate) queries: Vec<Query>,
    pub(crate) tables: Vec<TableRef>,
    pub(crate) notes: Vec<Note>,
    pub(crate) reserved: Vec<ObjectName>,
    /// Text of the optimizer hint comment (`/*+ ... */`) that followed the first verb, without the comment marks.
    pub hints: Option<Str>,
    /// How many `?` (or lifted literals) there are; they are numbered from 0 in the order of the text.
    pub param_count: u32,
    pub statement: Statement,
    pub(crate) height: u32,
    /// The collation of utf8mb4 where a definition names none, as the session had it whose statement this repeats; `None`: its own.
    pub utf8mb4_collation: Option<CollationId>,
}

impl Parsed {
    /// The statement's own text (comments in it included; the terminating `;` not).
    pub fn source(&self) -> &[u8] {
        &self.source[self.own.start as usize..self.own.end as usize]
    }

    /// How high a tree the statement can become: expressions with the subqueries in them, with the columns of what may be merged
    /// into their query under them, and chains of set operations. Whoever walks over it needs stack for so many levels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The bytes of a string or identifier.
    pub fn bytes(&self, s: Str) -> &[u8] {
        s.resolve(&self.source, &self.extra)
    }

    /// The text of an identifier, unquoted.
    pub fn name(&self, name: Name) -> &str {
        std::str::from_utf8(self.bytes(name)).expect("identifiers are checked when parsed")
    }

    /// The expressions of a list.
    pub fn list(&self, list: ExprList) -> &[ExprId] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    /// All table references of the statement, wherever they stand. The target of INSERT is not one.
    pub fn table_refs(&self) -> &[TableRef] {
        &self.tables
    }

    /// Tables by name in FROM or behind UPDATE, in the order they are written.
    pub fn factors(&self, tables: TableId) -> Vec<&TableFactor> {
        let (mut found, mut left) = (Vec::new(), vec![tables]);
        while let Some(id) = left.pop() {
            match &self[id] {
                TableRef::Table(factor) => found.push(factor),
                TableRef::Join { left: first, right, .. } => left.extend([*right, *first]),
                TableRef::Derived { .. } | TableRef::JsonTable(_) => {}
            }
        }
        found
    }

    /// The names among those of tables that are [reserved](crate::kind_of_reserved) in the schema `mysql`.
    pub fn reserved(&self) -> &[ObjectName] {
        &self.reserved
    }

    /// Whether a common table expression of the statement, wherever it stands, has the name.
    pub fn has_common_table(&self, name: &str) -> bool {
        let mut tables = self.queries.iter().filter_map(|q| q.with.as_ref()).flat_map(|w| &w.tables);
        tables.any(|t| self.name(t.name).eq_ignore_ascii_case(name))
    }

    /// All query expressions, inner ones before those around them.
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// What it says that is deprecated.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// All expressions, children before parents; `exprs()[id.index()]` is `self[id]`.
    pub fn exprs(&self) -> &[Expr] {
        &self.exprs
    }
}

impl Index<ExprId> for Parsed {
    type Output = Expr;
    #[inline]
    fn index(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }
}

impl Index<QueryId> for Parsed {
    type Output = Query;
    #[inline]
    fn index(&self, id: QueryId) -> &Query {
        &self.queries[id.index()]
    }
}

impl Index<TableId> for Parsed {
    type Output = TableRef;
    #[inline]
    fn index(&self, id: TableId) -> &TableRef {
        &self.tables[id.index()]
    }
}

/// Every statement. Large variants are boxed.
#[derive(Debug)]
pub enum Statement {
    /// SELECT, VALUES, TABLE, set operations, with their WITH, INTO and locking clauses.
    Query(QueryId),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    LoadData(Box<LoadData>),
    /// DO expr, ...
    Do(ExprList),
    Call {
        name: ObjectName,
        args: ExprList,
    },
    Signal(Box<Signal>),
    GetDiagnostics(Box<GetDiagnostics>),

    CreateDatabase(CreateDatabase),
    AlterDatabase(AlterDatabase),
    DropDatabase {
        if_exists: bool,
        name: Name,
    },
    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    DropTable {
        temporary: bool,
        if_exists: bool,
        names: Vec<ObjectName>,
    },
    RenameTable(Vec<(ObjectName, ObjectName)>),
    TruncateTable(ObjectName),
    CreateIndex(Box<CreateIndex>),
    DropIndex(Box<DropIndex>),
    CreateView(Box<CreateView>),
    CreateRoutine(Box<CreateRoutine>),
    CreateTrigger(Box<CreateTrigger>),
    AlterRoutine(Box<AlterRoutine>),
    CreateEvent(Box<CreateEvent>),
    AlterEvent(Box<AlterEvent>),
    DropProgram {
        kind: ProgramKind,
        if_exists: bool,
        name: ObjectName,
    },
    DropView {
        if_exists: bool,
        names: Vec<ObjectName>,
    },

    /// BEGIN or START TRANSACTION.
    Begin {
        consistent_snapshot: bool,
        access: Option<AccessMode>,
    },
    Commit(Completion),
    Rollback(Completion),
    Savepoint(Name),
    RollbackTo(Name),
    ReleaseSavepoint(Name),
    LockTables(Vec<LockTable>),
    UnlockTables,
    LockInstance,
    /// ALTER INSTANCE RELOAD TLS
    ReloadTls {
        channel: Option<Name>,
        /// Not with NO ROLLBACK ON ERROR.
        rolls_back: bool,
    },
    UnlockInstance,
    /// ALTER INSTANCE ROTATE INNODB MASTER KEY
    RotateMasterKey,
    /// ALTER INSTANCE ROTATE BINLOG MASTER KEY
    RotateBinlogKey,
    /// ALTER INSTANCE RELOAD KEYRING
    ReloadKeyring,
    Xa(Xa),

    Use(Name),
    Set(Vec<SetItem>),
    Show(Box<Show>),
    Explain(Box<Explain>),
    /// DESCRIBE table [column | 'pattern'].
    DescribeTable {
        table: ObjectName,
        column: Option<Str>,
    },
    Help(Str),
    Prepare {
        name: Name,
        from: PrepareSource,
    },
    Execute {
        name: Name,
        using: Vec<Name>,
    },
    Deallocate(Name),
    Kill {
        query: bool,
        id: ExprId,
    },
    Flush(Flush),
    Reset(Vec<Reset>),
    TableMaintenance(Box<TableMaintenance>),
    Shutdown,
    Restart,

    CreateUser(Box<CreateUser>),
    AlterUser(Box<AlterUser>),
    DropUser {
        if_exists: bool,
        users: Vec<Account>,
    },
    RenameUser(Vec<(Account, Account)>),
    CreateRole {
        if_not_exists: bool,
        roles: Vec<Account>,
    },
    DropRole {
        if_exists: bool,
        roles: Vec<Account>,
    },
    Grant(Box<Grant>),
    Revoke(Box<Revoke>),
    SetPassword(Box<SetPassword>),
    SetRole(RoleSelection),
    SetDefaultRole {
        roles: RoleSelection,
        users: Vec<Account>,
    },

    PurgeLogs(PurgeLogs),
    /// BINLOG: events in base 64.
    Binlog(Str),
    /// CLONE LOCAL DATA DIRECTORY
    CloneLocal(Str),
    CloneInstance(CloneInstance),
    Absent(Absent),
    Replica(ReplicaStatement),
    Handler(HandlerStatement),
    Server(ServerStatement),
    Extension(ExtensionStatement),

    /// Parsed in full and correct, but not executed by this server: answer with error 1235 and `what`.
    Unsupported(Unsupported),
}

/// A statement whose syntax was checked and whose meaning is not implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The words for error 1235: "This version of MySQL doesn't yet support '...'".
    pub what: &'static str,
    /// Name of the command for `Com_*` counters and SHOW PROCESSLIST, e.g. `create_procedure`.
    pub command: &'static str,
}
