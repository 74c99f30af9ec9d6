//! What a native function is: a name, how many arguments it takes, how its type follows from theirs, an evaluator.

use crate::{Execution, Expr, Node, Scope, charset, compare, convert, document, integer};
use std::borrow::Cow;
use types::{Charset, CollationId, DataType, Result, Value};

/// What an evaluator gets. Arguments are evaluated by it, so that it may leave some out.
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
    pub fn len(&self) -> usize {
        self.args.len()
    }

    pub fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Was argument `i` written as it is?
    pub fn is_literal(&self, i: usize) -> bool {
        matches!(self.args[i].node, Node::Const(_))
    }

    #[inline]
    pub fn value(&self, i: usize) -> Result<Value<'a>> {
        self.args[i].eval(self.run, self.at)
    }

    /// As text; `None` for NULL.
    #[inline]
    pub fn text(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let e = &self.args[i];
        // A string column, which most arguments are, is neither shown as something else nor converted.
        let Node::Column { depth: 0, .. } = e.node else { return self.text_of(i) };
        match e.eval(self.run, self.at)? {
            Value::Null => Ok(None),
            Value::Bytes(text)
                if !self.converts || e.ty.kind.is_text() && e.ty.collation.charset() == self.charset(i) =>
            {
                self.run.check_work(text.len()).map(|()| Some(text))
            }
            _ => self.text_of(i),
        }
    }

    fn text_of(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let (v, own) = self.args[i].eval_shown(self.run, self.at)?;
        if v.is_null() {
            return Ok(None);
        }
        let text = convert::into_text(v, own);
        self.run.check_work(text.len())?;
        Ok(Some(match self.converts {
            false => text,
            true if charset::charset_of(own) == self.ty.collation.charset() && own.kind.is_text() => text,
            // Nothing is known of its characters before it is here.
            true if self.checks_text(i) => charset::in_charset(text, &self.args[i].ty, self.ty.collation)?,
            true => charset::transcode(text, &self.args[i].ty, self.ty),
        }))
    }

    /// Must a text be one of the function's character set, and not what can be made of it there?
    fn checks_text(&self, i: usize) -> bool {
        match self.args[i].node {
            // Bytes that are bound stay what they are, as in MySQL.
            Node::Param(_) => charset::charset_of(&self.args[i].ty) != Charset::Binary,
            _ => compare::FIRST_DECIDES.contains(&self.function) || self.function == "quote",
        }
    }

    /// The character set that [`Args::text`] gives argument `i` in.
    pub fn charset(&self, i: usize) -> Charset {
        let ty = &self.args[i].ty;
        match ty.kind.is_text() || ty.kind.is_bytes() {
            _ if self.converts => self.ty.collation.charset(),
            true => ty.collation.charset(),
            false => Charset::Utf8mb4,
        }
    }

    /// What is asked for an integer. Error 1690, warning 1292.
    pub fn whole(&self, i: usize) -> Result<Value<'a>> {
        let v = self.value(i)?;
        integer::check(&v, &self.args[i], self.run, self.at)?;
        Ok(v)
    }

    pub fn int(&self, i: usize) -> Result<Option<i64>> {
        let v = self.whole(i)?;
        Ok(match &v {
            Value::Null => None,
            Value::Bytes(text) if !convert::is_long_column(&self.args[i]) => {
                Some(convert::integer_of_text(text, (i64::MIN.into(), u64::MAX.into()), self.run) as i64)
            }
            Value::Decimal(d) => Some(convert::integer_of_decimal(d, self.run)),
            Value::Json(_) => Some(convert::bits64(&v, self.run) as i64),
            v => Some(v.to_i64()),
        })
    }

    pub fn double(&self, i: usize) -> Result<Option<f64>> {
        let v = self.value(i)?;
        if let Value::Json(_) = v {
            return Ok(Some(document::json_number(&v, self.run).to_f64()));
        }
        self.warn_truncated(i, &v);
        Ok(if v.is_null() { None } else { Some(v.to_f64()) })
    }

    /// 1292 for a text that is no number, unless a column of a long string has it.
    fn warn_truncated(&self, i: usize, v: &Value<'_>) {
        if let Value::Bytes(b) = v
            && !convert::is_long_column(&self.args[i])
        {
            convert::warn_truncated_double(b, self.run);
        }
    }

    /// The collation of the string arguments together; the first one's where they do not go together.
    pub fn collation(&self) -> CollationId {
        let all: Vec<&Expr> = self.args.iter().collect();
        compare::collation_of(&all).unwrap_or(self.args[0].ty.collation)
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
    /// A string as long as its arguments let it be: [`lengths::string_type`].
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

pub const fn volatile(mut f: Function) -> Function {
    f.volatile = true;
    f
}

/// A string result.
pub fn bytes<'a>(b: impl Into<Cow<'a, [u8]>>) -> Value<'a> {
    Value::Bytes(b.into())
}
