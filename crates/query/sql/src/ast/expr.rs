//! Expressions: one [`Expr`] is 32 bytes and refers to its operands by id.

use super::{ExprId, ExprList, Name, QueryId, Str};

/// An expression; operands are ids into the statement's arena.
#[derive(Clone, Debug)]
pub enum Expr {
    Null,
    Bool(bool),
    /// An unsigned decimal integer that fits 64 bits.
    Int(u64),
    /// A number with a point, or an integer beyond 64 bits: its text, exact.
    Decimal(Str),
    /// A number with an exponent: its text.
    Float(Str),
    /// A string; adjacent strings are joined. `introducer` is the character set of `_utf8mb4'..'` without the underscore,
    /// `utf8mb3` for N'..'.
    String {
        text: Str,
        introducer: Option<Name>,
    },
    /// x'..' or 0x..: the bytes. `bit` for b'..' and 0b.. (right-aligned, big-endian).
    Bytes {
        bytes: Str,
        introducer: Option<Name>,
        bit: bool,
    },
    /// DATE '..', TIME '..', TIMESTAMP '..', {d '..'} ...
    Temporal {
        kind: TemporalKind,
        text: Str,
        /// The string between braces, which is what it is if it cannot be read.
        escaped: Option<ExprId>,
    },
    /// The n-th `?` or lifted literal, from 0.
    Param(u32),
    /// A variable of the stored program that it is part of.
    Local(super::LocalId),
    /// `[[schema.]table.]column`.
    Column {
        schema: Option<Name>,
        table: Option<Name>,
        column: Name,
    },
    UserVar(Name),
    /// `@name := value`
    AssignUserVar {
        name: Name,
        value: ExprId,
    },
    /// `@@[scope.][base.]name`; base is the component or key cache of a structured variable.
    SystemVar {
        scope: VarScope,
        base: Option<Name>,
        name: Name,
    },

    Unary {
        op: UnaryOp,
        operand: ExprId,
    },
    Binary {
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    },
    /// a AND b AND c: two or more operands, in order.
    And(ExprList),
    /// a OR b OR c: two or more operands, in order.
    Or(ExprList),
    Is {
        operand: ExprId,
        negated: bool,
        test: Truth,
    },
    Like {
        operand: ExprId,
        negated: bool,
        pattern: ExprId,
        escape: Option<ExprId>,
    },
    /// REGEXP, RLIKE.
    Regexp {
        operand: ExprId,
        negated: bool,
        pattern: ExprId,
    },
    Between {
        operand: ExprId,
        negated: bool,
        low: ExprId,
        high: ExprId,
    },
    InList {
        operand: ExprId,
        negated: bool,
        list: ExprList,
    },
    InQuery {
        operand: ExprId,
        negated: bool,
        query: QueryId,
    },
    /// `left op ALL (query)`, or ANY/SOME.
    Quantified {
        op: BinaryOp,
        all: bool,
        left: ExprId,
        query: QueryId,
    },
    Exists(QueryId),
    /// A scalar or row subquery.
    Subquery(QueryId),
    /// (a, b) or ROW(a, b); two or more members (ROW may have one).
    Row(ExprList),
    /// `whens` holds condition, result, condition, result ...
    Case {
        operand: Option<ExprId>,
        whens: ExprList,
        otherwise: Option<ExprId>,
    },

    /// A function by name: native, loadable or stored. Special syntax of SUBSTRING, POSITION, CURRENT_TIMESTAMP, ... has become
    /// plain arguments, and synonyms their usual name (`now`, `curdate`, `locate` ...).
    Call {
        schema: Option<Name>,
        name: Name,
        args: ExprList,
    },
    /// A builtin whose name the grammar itself knows.
    Builtin {
        func: Builtin,
        args: ExprList,
    },
    Aggregate {
        func: Aggregate,
        distinct: bool,
        args: ExprList,
    },
    /// COUNT(*)
    CountStar,
    GroupConcat(Box<GroupConcat>),
    Window(Box<WindowCall>),
    Cast(Box<Cast>),
    /// CONVERT(expr USING charset)
    ConvertUsing {
        operand: ExprId,
        charset: Name,
    },
    Collate {
        operand: ExprId,
        collation: Name,
    },
    /// date + INTERVAL amount unit, DATE_ADD, DATE_SUB ...
    DateArith {
        subtract: bool,
        date: ExprId,
        amount: ExprId,
        unit: IntervalUnit,
    },
    Extract {
        unit: IntervalUnit,
        operand: ExprId,
    },
    /// TIMESTAMPADD(unit, amount, date)
    TimestampAdd {
        unit: IntervalUnit,
        amount: ExprId,
        date: ExprId,
    },
    /// TIMESTAMPDIFF(unit, from, to)
    TimestampDiff {
        unit: IntervalUnit,
        from: ExprId,
        to: ExprId,
    },
    /// GET_FORMAT(DATE | TIME | DATETIME, format)
    GetFormat {
        kind: TemporalKind,
        format: ExprId,
    },
    Trim {
        side: TrimSide,
        remove: Option<ExprId>,
        operand: ExprId,
    },
    /// CHAR(n, ... [USING charset])
    Char {
        args: ExprList,
        charset: Option<Name>,
    },
    WeightString {
        operand: ExprId,
        form: WeightForm,
    },
    /// MATCH (columns) AGAINST (expr mode)
    Match {
        columns: ExprList,
        against: ExprId,
        mode: MatchMode,
    },
    JsonValue(Box<JsonValue>),
    /// DEFAULT alone, as a value of INSERT, UPDATE or SET.
    DefaultValue,
    /// DEFAULT(column)
    DefaultOf(ExprId),
    /// VALUES(column) in ON DUPLICATE KEY UPDATE
    ValuesOf(ExprId),
}

const _: () = assert!(size_of::<Expr>() == 32);

/// DATE, TIME or TIMESTAMP in front of a literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TemporalKind {
    Date,
    Time,
    /// TIMESTAMP literals and DATETIME of GET_FORMAT.
    DateTime,
}

/// What IS compares with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Truth {
    Null,
    True,
    False,
    Unknown,
}

/// An operator in front of its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum UnaryOp {
    Neg,
    Plus,
    /// `~`
    BitNot,
    Not,
    /// BINARY expr
    Binary,
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BinaryOp {
    Xor,
    Eq,
    /// `<=>`
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    SoundsLike,
    MemberOf,
    BitOr,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Sub,
    Mul,
    Div,
    IntDiv,
    Mod,
    BitXor,
    /// `||` under PIPES_AS_CONCAT
    Concat,
    /// `->`
    JsonExtract,
    /// `->>`
    JsonUnquoteExtract,
}

impl BinaryOp {
    /// Arithmetic and bits: the result is a number, not a truth value.
    pub const fn is_number(self) -> bool {
        use BinaryOp::*;
        matches!(self, BitOr | BitAnd | ShiftLeft | ShiftRight | Add | Sub | Mul | Div | IntDiv | Mod | BitXor)
    }
}

/// Which value of a system variable is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum VarScope {
    /// None written: session, or global where there is no session value.
    #[default]
    Unspecified,
    /// SESSION or LOCAL
    Session,
    Global,
    Persist,
    PersistOnly,
}

/// Functions whose names are keywords with a grammar of their own. The arguments are as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Builtin {
    /// NOW, CURRENT_TIMESTAMP, LOCALTIME, LOCALTIMESTAMP: no or one argument (digits).
    Now,
    /// SYSDATE
    SysDate,
    /// CURDATE, CURRENT_DATE
    CurDate,
    /// CURTIME, CURRENT_TIME: no or one argument (digits).
    CurTime,
    UtcDate,
    UtcTime,
    UtcTimestamp,
    /// CURRENT_USER
    CurrentUser,
    /// USER, SESSION_USER, SYSTEM_USER
    User,
    /// DATABASE, SCHEMA
    Database,
    If,
    Coalesce,
    Mod,
    Left,
    Right,
    Repeat,
    Replace,
    /// INSERT(str, pos, len, new)
    Insert,
    Truncate,
    /// SUBSTRING, SUBSTR, MID, with FROM/FOR as arguments
    Substring,
    /// POSITION(a IN b) and LOCATE(a, b): needle, haystack
    Locate,
    /// INTERVAL(n, a, b, ...)
    Interval,
    Charset,
    Format,
    Ascii,
    Grouping,
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
    Quarter,
    Week,
    Date,
    Time,
    Timestamp,
    RowCount,
    Reverse,
    Collation,
    Log,
}

impl Builtin {
    /// The function's name, one of them where there are several, in lower case.
    pub fn name(self) -> &'static str {
        use Builtin::*;
        match self {
            Now => "now",
            SysDate => "sysdate",
            CurDate => "curdate",
            CurTime => "curtime",
            UtcDate => "utc_date",
            UtcTime => "utc_time",
            UtcTimestamp => "utc_timestamp",
            CurrentUser => "current_user",
            User => "user",
            Database => "database",
            Coalesce => "coalesce",
            Left => "left",
            Right => "right",
            Repeat => "repeat",
            Replace => "replace",
            Insert => "insert",
            Truncate => "truncate",
            Substring => "substring",
            Locate => "locate",
            Interval => "interval",
            Charset => "charset",
            Format => "format",
            Ascii => "ascii",
            Year => "year",
            Month => "month",
            Day => "day",
            Hour => "hour",
            Minute => "minute",
            Second => "second",
            Microsecond => "microsecond",
            Quarter => "quarter",
            Week => "week",
            Date => "date",
            Time => "time",
            Timestamp => "timestamp",
            RowCount => "row_count",
            Reverse => "reverse",
            Collation => "collation",
            Log => "log",
            If => "if",
            Mod => "mod",
            Grouping => "grouping",
        }
    }
}

/// An aggregate function. Manual: 14.19.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Aggregate {
    Count,
    Sum,
    Min,
    Max,
    Avg,
    BitAnd,
    BitOr,
    BitXor,
    /// STD, STDDEV, STDDEV_POP
    StdPop,
    StdSamp,
    /// VARIANCE, VAR_POP
    VarPop,
    VarSamp,
    JsonArrayAgg,
    JsonObjectAgg,
}

/// GROUP_CONCAT with its order and separator.
#[derive(Clone, Debug)]
pub struct GroupConcat {
    pub distinct: bool,
    pub args: ExprList,
    pub order: Vec<OrderItem>,
    /// None: a comma.
    pub separator: Option<Str>,
}

/// `expr [ASC | DESC]`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderItem {
    pub expr: ExprId,
    pub descending: bool,
}

/// A call with OVER.
#[derive(Clone, Debug)]
pub struct WindowCall {
    pub func: WindowFunc,
    pub args: ExprList,
    /// NTH_VALUE ... FROM LAST
    pub from_last: bool,
    pub ignore_nulls: bool,
    pub over: WindowSpec,
}

/// A function that exists over windows only. Manual: 14.20.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowFunc {
    RowNumber,
    Rank,
    DenseRank,
    CumeDist,
    PercentRank,
    Ntile,
    Lead,
    Lag,
    FirstValue,
    LastValue,
    NthValue,
    /// An aggregate used as a window function: an [`Expr::Aggregate`], `CountStar` ...; `args` of the call is empty.
    Aggregate(ExprId),
}

/// `OVER name`, `OVER ([name] ...)`, and each definition of the WINDOW clause.
#[derive(Clone, Debug, Default)]
pub struct WindowSpec {
    /// The named window that this one is, or extends.
    pub base: Option<Name>,
    /// True for OVER name without parentheses.
    pub by_name: bool,
    pub partition: ExprList,
    pub order: Vec<OrderItem>,
    pub frame: Option<Frame>,
}

/// The frame of a window.
#[derive(Clone, Debug)]
pub struct Frame {
    pub unit: FrameUnit,
    pub start: FrameBound,
    /// CURRENT ROW when BETWEEN was not written.
    pub end: FrameBound,
}

/// ROWS or RANGE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameUnit {
    Rows,
    Range,
    /// Parsed; MySQL answers 1235.
    Groups,
}

/// One end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameBound {
    UnboundedPreceding,
    UnboundedFollowing,
    CurrentRow,
    Preceding(ExprId, Option<IntervalUnit>),
    Following(ExprId, Option<IntervalUnit>),
}

/// What WEIGHT_STRING weighs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeightForm {
    Whole,
    /// AS CHAR(n), in characters.
    Char(u32),
    /// AS BINARY(n), in bytes.
    Binary(u32),
    /// `, bytes, characters, flags`: so many characters, their weights cut or filled up to so many bytes.
    Sized {
        bytes: u32,
        characters: u32,
    },
}

/// CAST, and CONVERT to a type.
#[derive(Clone, Debug)]
pub struct Cast {
    pub operand: ExprId,
    pub to: CastType,
    /// CAST(... AS type ARRAY), in multi-valued index keys only.
    pub array: bool,
    /// CAST(x AT TIME ZONE 'zone' AS DATETIME)
    pub time_zone: Option<Str>,
}

/// The type that CAST names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastType {
    Signed,
    Unsigned,
    Binary(Option<u32>),
    Char {
        length: Option<u32>,
        charset: Option<Name>,
    },
    NChar(Option<u32>),
    Date,
    Time(u8),
    DateTime(u8),
    Year,
    /// precision, scale
    Decimal(Option<u8>, Option<u8>),
    /// FLOAT, FLOAT(p)
    Float(Option<u8>),
    Double,
    Json,
    /// POINT, GEOMETRY ...: answer 1235.
    Spatial,
}

/// The unit of an INTERVAL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// LEADING, TRAILING or BOTH of TRIM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// The mode of MATCH ... AGAINST.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchMode {
    NaturalLanguage,
    NaturalLanguageWithExpansion,
    Boolean,
    WithExpansion,
}

/// JSON_VALUE(doc, path [RETURNING type] [ON EMPTY] [ON ERROR])
#[derive(Clone, Debug)]
pub struct JsonValue {
    pub doc: ExprId,
    pub path: ExprId,
    pub returning: Option<CastType>,
    pub on_empty: JsonOnResponse,
    pub on_error: JsonOnResponse,
}

/// ON EMPTY or ON ERROR of JSON_VALUE and JSON_TABLE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonOnResponse {
    /// Not written: NULL.
    Implicit,
    Null,
    Error,
    Default(ExprId),
}
