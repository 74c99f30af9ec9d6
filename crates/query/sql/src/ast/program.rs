//! Stored programs: what CREATE PROCEDURE and FUNCTION say, with the body as instructions.
//!
//! ```text
//!   CREATE PROCEDURE p(x INT) BEGIN DECLARE i INT DEFAULT 1; WHILE i < x DO SET i = i + 1; END WHILE; END
//!
//!   locals  x i           parts  [0] DO 1   [1] DO i < x   [2] DO i + 1
//!   0 Set i = [0]
//!   1 JumpUnless [1] -> 4
//!   2 Set i = [2]
//!   3 Jump -> 1
//! ```
//!
//! Blocks, loops and choices become jumps while they are read. Each expression and each statement that is none of these is a *part*:
//! a [`Parsed`] of its own, which is planned and run alone, and which knows local variables by number.

use super::{Account, CreateColumnType, ExprId, Name, ObjectName, Parsed, Str};
use std::sync::Arc;
use types::codes::*;

/// CREATE PROCEDURE, CREATE FUNCTION.
#[derive(Debug)]
pub struct CreateRoutine {
    pub function: bool,
    pub if_not_exists: bool,
    pub definer: Option<Account>,
    pub name: ObjectName,
    /// What stands between the parentheses.
    pub parameters: Str,
    /// Of a function.
    pub returns: Option<CreateColumnType>,
    pub characteristics: Characteristics,
    pub body: Str,
    pub program: Program,
}

/// CREATE TRIGGER.
#[derive(Debug)]
pub struct CreateTrigger {
    pub if_not_exists: bool,
    pub definer: Option<Account>,
    pub name: ObjectName,
    pub before: bool,
    pub event: TriggerEvent,
    pub table: ObjectName,
    /// FOLLOWS or PRECEDES another one.
    pub place: Option<(TriggerPlace, Name)>,
    pub body: Str,
    pub program: Program,
}

/// What a trigger fires at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

/// FOLLOWS or PRECEDES another trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerPlace {
    Follows,
    Precedes,
}

/// A row that a trigger is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowImage {
    New,
    Old,
}

/// ALTER PROCEDURE, ALTER FUNCTION.
#[derive(Debug)]
pub struct AlterRoutine {
    pub function: bool,
    pub name: ObjectName,
    pub characteristics: Characteristics,
}

/// What is said of a routine between its head and its body; None: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Characteristics {
    pub comment: Option<Str>,
    /// LANGUAGE, unless it is SQL.
    pub language: Option<Name>,
    pub deterministic: Option<bool>,
    pub access: Option<DataAccess>,
    /// SQL SECURITY INVOKER, or DEFINER.
    pub invoker: Option<bool>,
}

/// What a routine says that it does with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataAccess {
    #[default]
    ContainsSql,
    NoSql,
    ReadsSqlData,
    ModifiesSqlData,
}

/// A body, ready to be run.
#[derive(Debug, Default)]
pub struct Program {
    /// Parameters come first, in their order.
    pub locals: Vec<Local>,
    pub parameter_count: u32,
    pub cursors: Vec<Cursor>,
    pub handlers: Vec<Handler>,
    pub parts: Vec<Arc<Parsed>>,
    pub code: Vec<Op>,
    /// What keeps functions and triggers from calling it.
    pub forbidden: Option<Forbidden>,
}

/// What functions and triggers may not do, nor procedures that they call; of several the first here is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forbidden {
    DynamicSql,
    ResultSet,
    Autocommit,
    Commit,
    Reset,
    Flush,
}

impl Forbidden {
    /// What there is to say of it in a `place`: function or trigger.
    pub fn error(self, place: &str) -> (u16, String) {
        let not_in = |what: &str| {
            (ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, format!("{what} is not allowed in stored function or trigger"))
        };
        match self {
            Forbidden::DynamicSql => not_in("Dynamic SQL"),
            Forbidden::ResultSet => (ER_SP_NO_RETSET, format!("Not allowed to return a result set from a {place}")),
            Forbidden::Autocommit => (
                ER_SP_CANT_SET_AUTOCOMMIT,
                "Not allowed to set autocommit from a stored function or trigger".to_string(),
            ),
            Forbidden::Commit => {
                let message = "Explicit or implicit commit is not allowed in stored function or trigger.";
                (ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, message.to_string())
            }
            Forbidden::Reset => not_in("RESET"),
            Forbidden::Flush => not_in("FLUSH"),
        }
    }
}

/// The number of a local variable: its place in [`Program::locals`].
pub type LocalId = u32;
/// The number of a part: its place in [`Program::parts`].
pub type PartId = u32;
/// The place of an instruction.
pub type Place = u32;

/// A parameter, a variable of DECLARE, or the value that a CASE compares.
#[derive(Debug)]
pub struct Local {
    pub name: String,
    /// `None`: it takes the type of what it is given, for CASE.
    pub data_type: Option<CreateColumnType>,
    pub mode: ParameterMode,
    /// Of a trigger: the column of that name of this row, which has its type.
    pub row: Option<RowImage>,
}

/// What a parameter does; variables are `In`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterMode {
    In,
    Out,
    InOut,
}

/// DECLARE name CURSOR FOR query.
#[derive(Debug)]
pub struct Cursor {
    pub name: String,
    pub query: PartId,
}

/// DECLARE EXIT | CONTINUE HANDLER FOR conditions statement.
#[derive(Debug)]
pub struct Handler {
    pub conditions: Vec<Condition>,
    /// Where its statement begins; it ends with [`Op::EndHandler`].
    pub body: Place,
    /// How many blocks with handlers and cursors of their own are around it: what is in force inside of it.
    pub handlers: u32,
    pub cursors: u32,
}

/// What a handler is for, and what SIGNAL raises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// An error number of the server.
    Code(u16),
    State([u8; 5]),
    /// SQLSTATE beginning with 01.
    Warning,
    /// SQLSTATE beginning with 02.
    NotFound,
    /// Any other.
    Exception,
}

/// One instruction.
#[derive(Debug)]
pub enum Op {
    /// The variable becomes the value of the part, as a column would.
    Set {
        local: LocalId,
        value: PartId,
    },
    /// The variable becomes NULL.
    Clear(LocalId),
    /// What a CASE compares. `otherwise`: where a CONTINUE handler goes on, behind the CASE.
    SetCase {
        local: LocalId,
        value: PartId,
        otherwise: Place,
    },
    /// A statement.
    Run(PartId),
    Jump(Place),
    /// `otherwise`: where a CONTINUE handler goes on when the condition fails or warns.
    JumpUnless {
        condition: PartId,
        to: Place,
        otherwise: Place,
    },
    /// Error 1339.
    CaseNotFound,
    Open(u32),
    Fetch {
        cursor: u32,
        into: Vec<LocalId>,
    },
    Close(u32),
    /// The handler of that number is in force; how many blocks deep tells which goes first.
    PushHandler(u32),
    PopHandlers(u32),
    /// A cursor of the block is there, and closed.
    PushCursor(u32),
    PopCursors(u32),
    /// A handler's statement is over. `None`: the program goes on behind what failed.
    EndHandler {
        exit: Option<Place>,
    },
    /// RETURN of a function.
    Return(PartId),
}

/// SIGNAL, RESIGNAL.
#[derive(Debug)]
pub struct Signal {
    pub resignal: bool,
    /// `None`: RESIGNAL of the condition at hand.
    pub condition: Option<Condition>,
    pub items: Vec<(ConditionItem, ExprId)>,
}

/// GET DIAGNOSTICS.
#[derive(Debug)]
pub struct GetDiagnostics {
    pub stacked: bool,
    pub what: Diagnosed,
}

/// What GET DIAGNOSTICS asks for.
#[derive(Debug)]
pub enum Diagnosed {
    Statement(Vec<(DiagnosticTarget, StatementItem)>),
    /// CONDITION number ...
    Condition(ExprId, Vec<(DiagnosticTarget, ConditionItem)>),
}

/// What an item of diagnostics goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagnosticTarget {
    User(Name),
    Local(LocalId),
}

/// What it asks of the statement before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementItem {
    Number,
    RowCount,
}

/// What a condition says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionItem {
    ClassOrigin,
    SubclassOrigin,
    ConstraintCatalog,
    ConstraintSchema,
    ConstraintName,
    CatalogName,
    SchemaName,
    TableName,
    ColumnName,
    CursorName,
    MessageText,
    MysqlErrno,
    ReturnedSqlstate,
}
