//! Constants that are computed once an execution, when they are first asked: by a row, or by the execution before
//! any row is read. The planner wraps them (`plan::constant`) and gives each a number of its own.

use crate::function::{Args, Function, Rule, unlisted};
use crate::{Expr, Node, adapt, boolean, boolean_type, convert};
use types::number::{is_decimal, is_number};
use types::{DataType, Result, Time, TypeKind, Value};

/// A condition.
static CONDITION: Function = unlisted("evaluated once", 2, 2, Rule::Int(1), |a| {
    once(&a, || Ok(a.args[0].eval_bool(a.run, a.at)?.map_or(Value::Null, boolean)))
});

/// What stands beside a number. A text that is none from end to end becomes the number that it begins with (warning 1292); any
/// other stays as it is, so that it is compared with all its digits.
static NUMBER: Function = unlisted("evaluated once", 2, 2, Rule::First, |a| read_once(a, is_number, "DOUBLE"));

/// The same beside a DECIMAL, where a text without digits is none.
static DECIMAL: Function = unlisted("evaluated once", 2, 2, Rule::First, |a| read_once(a, is_decimal, "DECIMAL"));

fn read_once<'a>(a: Args<'a>, is_whole: fn(&[u8]) -> bool, kind: &str) -> Result<Value<'a>> {
    let v = once(&a, || {
        Ok(match a.value(0)? {
            Value::Bytes(text) if is_whole(&text) => Value::Null,
            v @ Value::Bytes(_) => {
                let Value::Bytes(text) = &v else { unreachable!("as matched") };
                convert::warn_truncated(kind, text, a.run);
                Value::Double(v.to_f64())
            }
            v => v.into_owned(),
        })
    })?;
    // NULL stands for a value that needs no keeping.
    if v.is_null() { a.value(0) } else { Ok(v) }
}

/// Any other.
static VALUE: Function = unlisted("evaluated once", 2, 2, Rule::First, |a| once(&a, || Ok(a.value(0)?.into_owned())));

/// What stands beside a column of a date or time, as the column would hold it: its name is the third argument.
static HELD: Function = unlisted("evaluated once", 3, 3, Rule::First, |a| {
    once(&a, || {
        let v = a.value(0)?;
        let name = a.text(2)?.unwrap_or_default();
        let (held, told) =
            adapt::held_by_column(&v, a.ty, &String::from_utf8_lossy(&name), a.run.evaluation().sql_mode);
        if let Some((code, message)) = told.filter(|_| held.is_none() || a.run.evaluation().sql_mode.is_strict()) {
            a.run.warn(code, message);
        }
        Ok(held.unwrap_or_else(|| v.into_owned()))
    })
});

/// The time of a document. One that has none is midnight, with warning 3156.
static TIME_OF_DOCUMENT: Function = unlisted("evaluated once", 2, 2, Rule::First, |a| {
    once(&a, || {
        let v = a.value(0)?;
        Ok(match v.is_null() {
            true => Value::Null,
            false => match convert::cast(v, a.ty, &a.args[0].ty, a.run)? {
                Value::Null => Value::Time(Time(0)),
                time => time.into_owned(),
            },
        })
    })
});

fn once<'a>(a: &Args<'a>, compute: impl FnOnce() -> Result<Value<'static>>) -> Result<Value<'a>> {
    let Node::Const(Value::Int(number)) = a.args[1].node else { unreachable!("the planner numbers them") };
    let known = &a.run.evaluation().scratch().once;
    let place = |known: &[(i64, Value<'static>)]| known.binary_search_by_key(&number, |(n, _)| *n);
    if let Ok(at) = place(&known.borrow()) {
        return Ok(known.borrow()[at].1.clone());
    }
    let v = compute()?;
    // Others may have come in meanwhile; mostly it is the last one.
    let mut known = known.borrow_mut();
    if let Err(at) = place(&known) {
        known.insert(at, (number, v.clone()));
    }
    Ok(v)
}

/// The truth of `e`. `number`: the planner's, of this constant alone, as for all of these.
pub fn condition(e: Expr, number: i64) -> Expr {
    let ty = boolean_type(e.ty.nullable);
    Expr::new(Node::Call(&CONDITION, vec![e, Expr::int(number)]), ty)
}

/// What stands beside a number, read as one.
pub fn number(e: Expr, number: i64) -> Expr {
    let ty = e.ty;
    Expr::new(Node::Call(&NUMBER, vec![e, Expr::int(number)]), ty)
}

/// The same beside a DECIMAL.
pub fn decimal(e: Expr, number: i64) -> Expr {
    let ty = e.ty;
    Expr::new(Node::Call(&DECIMAL, vec![e, Expr::int(number)]), ty)
}

/// The value of `e`, whatever it is.
pub fn value(e: Expr, number: i64) -> Expr {
    let ty = e.ty;
    Expr::new(Node::Call(&VALUE, vec![e, Expr::int(number)]), ty)
}

/// Is it a [`value`]?
pub fn is_value(e: &Expr) -> bool {
    matches!(&e.node, Node::Call(f, _) if std::ptr::eq(*f, &VALUE))
}

/// `e` as a column of type `column` and that name would hold it.
pub fn held(e: Expr, column: &DataType, name: Expr, number: i64) -> Expr {
    let kind = if column.kind == TypeKind::Timestamp { TypeKind::DateTime } else { column.kind };
    let ty = DataType { kind, nullable: true, ..*column };
    Expr::new(Node::Call(&HELD, vec![e, Expr::int(number), name]), ty)
}

/// The time of a document.
pub fn time_of_document(e: Expr, number: i64) -> Expr {
    let ty = DataType { length: 17, decimals: 6, nullable: e.ty.nullable, ..DataType::new(TypeKind::Time) };
    Expr::new(Node::Call(&TIME_OF_DOCUMENT, vec![e, Expr::int(number)]), ty)
}

/// What such a call computes.
pub fn inner(e: &Expr) -> &Expr {
    match &e.node {
        Node::Call(f, args) if std::ptr::eq(*f, &NUMBER) => &args[0],
        _ => e,
    }
}
