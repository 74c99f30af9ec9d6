//! Native functions: a table of names, argument counts, result types and evaluators.

mod constant_text;
pub mod crypto;
mod digits;
mod gtid;
pub mod info;
pub mod json;
pub mod lengths;
pub mod loadable;
pub mod locale;
pub mod locks;
pub mod math;
pub mod net;
pub mod once;
pub mod parameters;
pub mod parse_date;
pub mod regexp;
pub(crate) mod result;
pub mod stored;
pub mod string;
pub mod temporal;
pub mod xml;

use super::{Expr, Node, compare, convert};
use crate::compare::COLLATE;
use crate::function::{Args, Func, Function, MANY, Rule, bytes, f, unlisted};
use crate::{charset, operand};
pub use constant_text::value_of as text_of_literals;
use digits::moment_digits;
pub use lengths::long_text;
pub use math::{random_part, random_seed};
use result::result_type;
use std::borrow::Cow;
use types::codes::*;
use types::{CollationId, DataType, Result, SqlError, TypeKind, Value, err};

static COLLATE_FUNCTION: Function = unlisted(COLLATE, 1, 1, Rule::First, |a| a.value(0));
static SYSTEM_VARIABLE: Function = unlisted("system variable", 2, 2, Rule::Server(1024), info::system_variable);

static WEIGHT_STRING: Function = unlisted("weight_string", 4, 4, Rule::Binary(0), string::weight_string);

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

/// What COLLATE is planned as.
pub fn collate() -> Func {
    &COLLATE_FUNCTION
}

/// What `@@name` is planned as.
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

/// Which argument of a function says how a regular expression is matched: MySQL takes no parameter there.
pub fn match_type(function: &str) -> Option<usize> {
    let places = [("regexp_like", 2), ("regexp_substr", 4), ("regexp_instr", 5), ("regexp_replace", 5)];
    places.iter().find(|(name, _)| name.eq_ignore_ascii_case(function)).map(|(_, at)| *at)
}

/// Does the function give one of its arguments?
pub fn is_choice(function: Func) -> bool {
    matches!(function.rule, Rule::Common | Rule::CommonTail) || function.name == "nullif"
}

/// A function that statements call by this name, in any letter case.
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

/// Error 1582.
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
        true => args.into_iter().map(operand::function_number).collect(),
        false => {
            let number = |(i, e)| if is_integer(function.name, i) { operand::integer_argument(e) } else { e };
            args.into_iter().enumerate().map(number).collect()
        }
    };
    let args = if COMPARE_TEXTS.contains(&function.name) { comparable(function.name, args)? } else { args };
    if let Some(call) = super::wide::call(function, &args)? {
        return Ok(Some(call));
    }
    let ty = result_type(function, &args)?;
    Ok(Some(Expr::new(Node::Call(function, args), ty)))
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
        return Ok(args.into_iter().map(operand::enum_number).collect());
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
