//! Native functions: a table of names, argument counts, result types and evaluators.

pub mod crypto;
mod gtid;
pub mod info;
pub mod json;
pub mod lengths;
pub mod locale;
pub mod locks;
pub mod math;
pub mod net;
pub mod once;
pub mod parameters;
pub mod parse_date;
pub mod regexp;
mod result;
pub mod stored;
pub mod string;
pub mod temporal;
pub mod written;
pub mod xml;

use super::{Expr, Node, compare, convert};
use crate::charset;
use crate::{Execution, Scope};
pub use math::{random_part, random_seed};
pub use result::long_text;
pub(crate) use result::result_type;
use result::{moment_digits, second_digits};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use types::codes::*;
use types::{Charset, CollationId, DataType, Result, SqlError, TypeKind, Value, err};

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
    pub fn text(&self, i: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let (v, own) = self.args[i].eval_shown(self.run, self.at)?;
        if v.is_null() {
            return Ok(None);
        }
        let text = convert::into_text(v, own);
        self.run.check_work(text.len())?;
        Ok(Some(match self.converts {
            false => text,
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
        super::integer::check(&v, &self.args[i], self.run, self.at)?;
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
            return Ok(Some(super::document::json_number(&v, self.run).to_f64()));
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

/// What functions remember during one execution.
#[derive(Default)]
pub struct Scratch {
    patterns: RefCell<Vec<regexp::Cached>>,
    /// RAND(n): call site and both halves of its state.
    random: RefCell<Vec<(usize, u32, u32)>>,
    /// Constants in the order of their numbers, once they have been computed: see [`once`].
    pub once: RefCell<Vec<(i64, Value<'static>)>>,
    /// Operands of CASE at the row at hand: see [`written`].
    operands: RefCell<Vec<(i64, Value<'static>)>>,
    pub lists: super::list::Lists,
    pub alternatives: super::alternatives::Remembered,
    calls: Cell<u64>,
}

impl Scratch {
    /// 0, 1, 2, ...
    fn count(&self) -> u64 {
        self.calls.replace(self.calls.get() + 1)
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

pub const COLLATE: &str = "collate";

pub const MANY: usize = usize::MAX;

/// One entry of the table.
pub const fn f(
    name: &'static str,
    min: usize,
    max: usize,
    rule: Rule,
    eval: for<'a> fn(Args<'a>) -> Result<Value<'a>>,
) -> Function {
    Function { name, min, max, rule, volatile: false, eval }
}

pub const fn volatile(mut f: Function) -> Function {
    f.volatile = true;
    f
}

/// The value that a YEAR is compared with: as the column would store it, but for what it could not.
static YEAR_FUNCTION: Function = f("year", 1, 1, Rule::Int(5), |a| {
    let v = a.value(0)?;
    Ok(match (&v, v.to_i64()) {
        (Value::Null, _) => Value::Null,
        (Value::Date(date), _) => Value::Int(date.year().into()),
        (Value::DateTime(moment), _) => Value::Int(moment.date().year().into()),
        // A text that begins with no number is that number 0, and no year.
        (Value::Bytes(b), _) if types::number::parse_integer(b).1 == 0 => {
            convert::warn_truncated_double(b, a.run);
            Value::Int(0)
        }
        (Value::Bytes(b), 0) if b.len() < 4 => Value::Int(2000),
        (_, n @ 1..=99) => Value::Int(types::temporal::parse::full_year(n as u32) as i64),
        (_, n) => Value::Int(n),
    })
});

/// A constant beside a YEAR.
pub fn as_year(e: Expr) -> Expr {
    let ty = DataType { length: 5, nullable: true, ..DataType::new(TypeKind::BigInt) };
    Expr::new(Node::Call(&YEAR_FUNCTION, vec![e]), ty)
}

static COLLATE_FUNCTION: Function = f(COLLATE, 1, 1, Rule::First, |a| a.value(0));
static SYSTEM_VARIABLE: Function = f("system variable", 2, 2, Rule::Server(1024), info::system_variable);

static WEIGHT_STRING: Function = f("weight_string", 4, 4, Rule::Binary(0), string::weight_string);

/// WEIGHT_STRING(text AS CHAR(length)), or BINARY, or of so many characters filled up to a length in bytes.
pub fn weight_string(text: Expr, form: sql::ast::WeightForm) -> Expr {
    use sql::ast::WeightForm;
    let (length, binary, bytes) = match form {
        WeightForm::Whole => (None, false, None),
        WeightForm::Char(n) => (Some(n), false, None),
        WeightForm::Binary(n) => (Some(n), true, None),
        WeightForm::Sized { bytes, characters } => (Some(characters), false, Some(bytes)),
    };
    let most = length.unwrap_or(text.ty.length).saturating_mul(if binary { 1 } else { 8 });
    let ty = long_text(bytes.unwrap_or(most), CollationId::BINARY);
    let number = |n: Option<u32>| n.map_or(Expr::null(), |n| Expr::int(n as i64));
    Expr::new(Node::Call(&WEIGHT_STRING, vec![text, number(length), Expr::int(binary as i64), number(bytes)]), ty)
}

pub fn collate() -> Func {
    &COLLATE_FUNCTION
}

pub fn system_variable() -> Func {
    &SYSTEM_VARIABLE
}

/// The function within which columns need not be the same in all of a group.
pub const ANY_VALUE: &str = "any_value";

static CONTROL: &[Function] = &[
    f("coalesce", 1, MANY, Rule::Common, coalesce),
    f("ifnull", 2, 2, Rule::Common, coalesce),
    f("nullif", 2, 2, Rule::First, nullif),
    f("greatest", 2, MANY, Rule::Common, |a| extreme(a, true)),
    f("least", 2, MANY, Rule::Common, |a| extreme(a, false)),
    f(ANY_VALUE, 1, 1, Rule::Common, coalesce),
    f("isnull", 1, 1, Rule::Int(1), |a| Ok(super::boolean(a.value(0)?.is_null()))),
    f("interval", 2, MANY, Rule::Int(2), interval),
    f("strcmp", 2, 2, Rule::Int(2), strcmp),
];

/// Does the function give one of its arguments?
pub fn is_choice(function: Func) -> bool {
    matches!(function.rule, Rule::Common | Rule::CommonTail) || function.name == "nullif"
}

pub fn find(name: &str) -> Option<Func> {
    let lists = [
        CONTROL,
        string::FUNCTIONS,
        math::FUNCTIONS,
        temporal::FUNCTIONS,
        info::FUNCTIONS,
        json::FUNCTIONS,
        crypto::FUNCTIONS,
        net::FUNCTIONS,
        regexp::FUNCTIONS,
        gtid::FUNCTIONS,
        locks::FUNCTIONS,
        xml::FUNCTIONS,
    ];
    lists.iter().flat_map(|l| l.iter()).find(|f| f.name.eq_ignore_ascii_case(name))
}

#[cold]
pub fn wrong_count(name: &str) -> SqlError {
    err!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name)
}

/// A call by name; `None`: no such function.
pub fn call(name: &str, args: Vec<Expr>) -> Result<Option<Expr>> {
    let Some(function) = find(name) else { return Ok(None) };
    let odd = match function.name {
        "json_object" => args.len() % 2 == 1,
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => {
            args.len().is_multiple_of(2)
        }
        _ => false,
    };
    if args.len() < function.min || args.len() > function.max || odd {
        return Err(wrong_count(name));
    }
    let (function, args) = math::as_conv(function, args);
    let args: Vec<Expr> = match math::takes_numbers(function) {
        true => args.into_iter().map(convert::function_number).collect(),
        false => {
            let number = |(i, e)| if is_integer(function.name, i) { convert::integer_argument(e) } else { e };
            args.into_iter().enumerate().map(number).collect()
        }
    };
    let args = if COMPARE_TEXTS.contains(&function.name) { comparable(function.name, args)? } else { args };
    if let Some(call) = super::wide::call(function, &args)? {
        return Ok(Some(call));
    }
    Ok(Some(Expr::new(Node::Call(function, args.clone()), result_type(function, &args)?)))
}

/// Is this argument of a function that is none of numbers an integer?
fn is_integer(function: &str, argument: usize) -> bool {
    match function {
        "char" | "interval" | "makedate" | "maketime" | "period_add" | "period_diff" => true,
        "space" | "elt" | "make_set" | "inet_ntoa" | "sec_to_time" | "from_days" | "from_unixtime" | "format_bytes"
        | "format_pico_time" | "last_insert_id" | "sleep" | "random_bytes" => argument == 0,
        "left" | "right" | "substring" | "substr" | "mid" | "conv" => argument > 0,
        "insert" => argument == 1 || argument == 2,
        "repeat" | "lpad" | "rpad" | "sha2" | "week" | "yearweek" => argument == 1,
        "format" => argument < 2,
        "substring_index" | "locate" => argument == 2,
        "export_set" => argument == 0 || argument == 4,
        _ => false,
    }
}

/// Functions that compare their strings with each other.
const COMPARE_TEXTS: [&str; 5] = ["field", "find_in_set", "instr", "locate", "strcmp"];

/// The strings in the character set that they are compared in. Errors 1267, 3854.
fn comparable(function: &'static str, args: Vec<Expr>) -> Result<Vec<Expr>> {
    let is_text = |e: &Expr| e.ty.kind.is_text() || e.ty.kind.is_bytes() || e.ty.kind == TypeKind::Null;
    // With a number among them, FIELD compares numbers.
    if function == "field" && !args.iter().all(is_text) {
        return Ok(args.into_iter().map(convert::enum_number).collect());
    }
    let all: Vec<&Expr> = args.iter().collect();
    let collation = match compare::collation_for(&all, function) {
        // These take collations that do not go together.
        Err(e) if e.code != ER_CANNOT_CONVERT_STRING && matches!(function, "field" | "instr" | "locate") => {
            args[0].ty.collation
        }
        other => other?,
    };
    Ok(args.into_iter().map(|e| compare::in_charset(e, collation)).collect())
}

fn coalesce<'a>(a: Args<'a>) -> Result<Value<'a>> {
    for i in 0..a.len() {
        let v = a.value(i)?;
        if !v.is_null() {
            return convert::widen(v, &a.args[i].ty, a.ty, a.run);
        }
    }
    Ok(Value::Null)
}

/// Of a value and whether it is equal to the other.
fn nullif<'a>(a: Args<'a>) -> Result<Value<'a>> {
    match a.args[1].eval_bool(a.run, a.at)? {
        Some(true) => Ok(Value::Null),
        _ => a.value(0),
    }
}

fn extreme<'a>(a: Args<'a>, greatest: bool) -> Result<Value<'a>> {
    let collation = a.ty.collation;
    if a.ty.kind.is_text() || a.ty.kind.is_bytes() {
        return match extreme_moment(&a, greatest)? {
            Some(moment) => Ok(moment),
            None => extreme_text(a, greatest),
        };
    }
    let mut best: Option<Value<'a>> = None;
    let mut from = &a.args[0].ty;
    for i in 0..a.len() {
        let v = a.value(i)?;
        if v.is_null() {
            return Ok(Value::Null);
        }
        let better = match &best {
            None => true,
            Some(b) => {
                compare::values(&v, b, collation, a.run)?.is_gt() == greatest
                    && compare::values(&v, b, collation, a.run)?.is_ne()
            }
        };
        if better {
            best = Some(v);
            from = &a.args[i].ty;
        }
    }
    convert::widen(best.expect("two arguments"), from, a.ty, a.run)
}

/// Numbers and texts beside a date are moments, and the greatest is written as dates or moments are there. `None`: there is no date,
/// or one of them is none.
fn extreme_moment<'a>(a: &Args<'a>, greatest: bool) -> Result<Option<Value<'a>>> {
    let is_moment = |ty: &DataType| matches!(ty.kind, TypeKind::DateTime | TypeKind::Timestamp);
    let dates = a.args.iter().map(|e| &e.ty).filter(|ty| is_moment(ty) || ty.kind == TypeKind::Date);
    let Some(form) = dates.max_by_key(|ty| is_moment(ty)) else { return Ok(None) };
    let mut best = None;
    let mut is_known = true;
    for i in 0..a.len() {
        let v = temporal::in_year(a.value(i)?, &a.args[i].ty);
        if v.is_null() {
            return Ok(Some(Value::Null));
        }
        let read = match is_moment(form) {
            true => convert::datetime(&v, a.run),
            false => convert::day(&v, convert::LENIENT, a.run),
        };
        let Some(moment) = read else {
            is_known = false;
            continue;
        };
        best = Some(best.map_or(moment, |b| if greatest { moment.max(b) } else { moment.min(b) }));
    }
    // The least of what is no moment and others is the least text; else the others alone count.
    let is_decided = is_known || greatest || !is_moment(form);
    let Some(moment) = best.filter(|_| is_decided) else { return Ok(None) };
    if !is_moment(form) {
        let text = convert::text(&Value::Date(moment.date()), form).into_owned();
        return Ok(Some(bytes(charset::transcode(text.into(), form, a.ty))));
    }
    let decimals = a.args.iter().map(moment_digits).max().unwrap_or(0);
    let text = convert::text(&Value::DateTime(moment), &DataType { decimals, ..*form }).into_owned();
    Ok(Some(bytes(charset::transcode(text.into(), form, a.ty))))
}

/// Numbers among texts compare as texts, and so do times, and moments with the digits of all.
fn extreme_text<'a>(a: Args<'a>, greatest: bool) -> Result<Value<'a>> {
    let mut best: Option<Cow<'a, [u8]>> = None;
    let is_moment = |kind: TypeKind| matches!(kind, TypeKind::DateTime | TypeKind::Timestamp);
    let moments = a.args.iter().filter(|e| is_moment(e.ty.kind));
    let decimals = moments.clone().next().and(a.args.iter().map(moment_digits).max());
    for i in 0..a.len() {
        let v = a.value(i)?;
        if v.is_null() {
            return Ok(Value::Null);
        }
        let own = a.args[i].ty;
        let ty = match decimals {
            Some(decimals) if is_moment(own.kind) => DataType { decimals, ..own },
            _ => own,
        };
        let text = charset::transcode(convert::into_text(v, &ty), &ty, a.ty);
        let better = match &best {
            None => true,
            Some(b) => {
                let order = a.ty.collation.compare(&text, b);
                if greatest { order.is_gt() } else { order.is_lt() }
            }
        };
        if better {
            best = Some(text);
        }
    }
    Ok(bytes(best.expect("two arguments")))
}

fn interval<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(n) = a.double(0)? else { return Ok(Value::Int(-1)) };
    let mut at = 0;
    for i in 1..a.len() {
        match a.double(i)? {
            Some(v) if v > n => break,
            _ => at = i as i64,
        }
    }
    Ok(Value::Int(at))
}

fn strcmp<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(x) = a.text(0)? else { return Ok(Value::Null) };
    let Some(y) = a.text(1)? else { return Ok(Value::Null) };
    // Beside a number its digits are compared byte by byte.
    let has_number = a.args.iter().any(|e| e.ty.kind.is_numeric());
    let collation = if has_number { CollationId::BINARY } else { a.collation() };
    Ok(Value::Int(collation.compare(&x, &y) as i64))
}

/// A string result.
pub fn bytes<'a>(b: impl Into<Cow<'a, [u8]>>) -> Value<'a> {
    Value::Bytes(b.into())
}
