//! What a native function is: a name, how many arguments it takes, how its type follows from theirs, an evaluator.

use crate::{Execution, Expr, Node, Scope};
use std::borrow::Cow;
use types::{DataType, Result, Value};

/// What an evaluator gets. Arguments are evaluated by it, so that it may leave some out: see [`crate::args`].
pub struct Args<'a> {
    pub run: &'a dyn Execution,
    pub at: Scope<'a>,
    pub args: &'a [Expr],
    /// The function's name, for messages.
    pub function: &'static str,
    /// Are texts wanted in the character set of the result?
    pub converts: bool,
    /// Type of the result, as planned.
    pub ty: &'a DataType,
}

impl<'a> Args<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.args.len()
    }

    /// Is it a call without arguments?
    pub fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Was argument `i` written as it is?
    pub fn is_literal(&self, i: usize) -> bool {
        matches!(self.args[i].node, Node::Const(_))
    }

    /// As it is.
    #[inline]
    pub fn value(&self, i: usize) -> Result<Value<'a>> {
        self.args[i].eval(self.run, self.at)
    }
}

/// How a function's result type follows from its arguments.
#[derive(Clone, Copy)]
pub enum Rule {
    /// BIGINT of so many digits.
    Int(u32),
    UInt(u32),
    Year,
    Double,
    Date,
    /// With the digits of the second that the first argument (a constant) says.
    DateTime,
    Time,
    /// TIME with the most digits of the second that an argument's type has.
    TimeOf,
    /// DATETIME with the digits of the second that the first argument's type has.
    Moment,
    /// What the format in the last argument gives: a date, a time, or both.
    ByFormat,
    /// A string of at most so many characters, under the collation of the string arguments.
    Text(u32),
    /// A string in the connection's character set.
    System(u32),
    /// The server's own text, such as names of its objects: utf8mb3.
    Server(u32),
    Binary(u32),
    /// Text of any length, under the collation of the string arguments.
    LongText,
    Json,
    /// Text of a document: utf8mb4 under its binary collation.
    JsonText,
    /// A string as long as its arguments let it be: [`crate::functions::lengths`].
    ByLength,
    Unquoted,
    /// As long as all arguments together.
    Joined,
    /// The common type of all arguments; of all but the first.
    Common,
    CommonTail,
    /// The type of the last argument.
    Last,
    /// The first argument's as a number, with all its digits.
    Magnitude,
    Shifted,
    Seconds,
    /// The type of the first argument; as a number, rounded.
    First,
    Number,
    /// As a number without digits behind the point: BIGINT where it fits.
    Whole,
}

/// A native function: what is called, and by how many arguments.
pub struct Function {
    pub name: &'static str,
    pub min: usize,
    pub max: usize,
    pub rule: Rule,
    /// Another value at each call: not computed once, not used for index lookups.
    pub volatile: bool,
    /// A statement calls it by its name; others are what the planner makes of something else.
    pub listed: bool,
    pub eval: for<'a> fn(Args<'a>) -> Result<Value<'a>>,
}

/// Functions are static: two are the same where they are at one place.
pub type Func = &'static Function;

/// Functions of [`Rule::ByLength`], [`Rule::First`] and [`Rule::Unquoted`] whose text has a collation of its own, whatever its
/// arguments are under.
const OWN_COLLATION: [&str; 9] = [
    "aes_decrypt",
    "aes_encrypt",
    "compress",
    "date_add",
    "from_base64",
    "json_quote",
    "json_unquote",
    "to_base64",
    "unhex",
];

impl Function {
    /// Is the result a string in the connection's character set, or of bytes, whatever the arguments are?
    pub fn has_own_collation(&self) -> bool {
        let by_rule = matches!(self.rule, Rule::System(_) | Rule::Binary(_) | Rule::Shifted);
        by_rule && self.name != "weight_string" || OWN_COLLATION.contains(&self.name)
    }

    /// Is the result made of the texts of the arguments, so that they are brought to its character set?
    pub fn joins_text(&self) -> bool {
        matches!(self.rule, Rule::Text(_) | Rule::Joined | Rule::LongText | Rule::CommonTail) || self.name == "replace"
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// No bound of the number of arguments.
pub const MANY: usize = usize::MAX;

/// One entry of the table.
pub const fn f(
    name: &'static str,
    min: usize,
    max: usize,
    rule: Rule,
    eval: for<'a> fn(Args<'a>) -> Result<Value<'a>>,
) -> Function {
    Function { name, min, max, rule, volatile: false, listed: true, eval }
}

/// A function that no statement calls by its name.
pub const fn unlisted(
    name: &'static str,
    min: usize,
    max: usize,
    rule: Rule,
    eval: for<'a> fn(Args<'a>) -> Result<Value<'a>>,
) -> Function {
    Function { listed: false, ..f(name, min, max, rule, eval) }
}

/// The same function, with another value at each call.
pub const fn volatile(mut f: Function) -> Function {
    f.volatile = true;
    f
}

/// A string result.
pub fn bytes<'a>(b: impl Into<Cow<'a, [u8]>>) -> Value<'a> {
    Value::Bytes(b.into())
}
