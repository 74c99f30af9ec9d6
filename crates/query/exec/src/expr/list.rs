//! Long lists of IN: from the second row on they are looked up in a sorted copy and not gone through, as in MySQL. The copy is
//! made once an execution, and only where sorting keeps the meaning of each comparison: values and operand all texts, all exact
//! numbers, all doubles, all dates or all times. Any other list is gone through, since each of its comparisons may be of another kind.

use super::{Expr, Node, compare, functions};
use crate::run::{Run, Scope};
use std::cell::RefCell;
use std::cmp::Ordering;
use types::collation::CollationId;
use types::temporal::parse::parse_datetime;
use types::{DateTime, Result, SqlMode, Value};

/// Lists of fewer values are gone through.
const VALUES_MIN: usize = 5;

/// Can the values of a list be kept for an execution: are there many, none of which reads a row or has anything to say each time?
pub fn is_kept(list: &[Expr]) -> bool {
    let is_plain = |e: &Expr| match &functions::once::inner(e).node {
        Node::Const(_) | Node::Param(_) => true,
        Node::InCharset(inner) => matches!(inner.node, Node::Const(_) | Node::Param(_)),
        _ => false,
    };
    list.len() >= VALUES_MIN && list.iter().all(is_plain)
}

/// What may be sorted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Exact,
    Double,
    Text,
    Moment,
    Time,
}

fn class(v: &Value<'_>) -> Option<Class> {
    match v {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Some(Class::Exact),
        Value::Double(_) => Some(Class::Double),
        Value::Bytes(_) => Some(Class::Text),
        Value::Date(_) | Value::DateTime(_) => Some(Class::Moment),
        Value::Time(_) => Some(Class::Time),
        Value::Null | Value::Json(_) => None,
    }
}

/// The values of a list, but NULL, in their order.
struct Sorted {
    class: Class,
    values: Vec<Value<'static>>,
    has_null: bool,
}

/// What is known of one list.
enum Known {
    AskedOnce,
    /// Of several classes, or for another one than the operand's: gone through.
    Mixed,
    Sorted(Sorted),
}

/// Lists of one execution, each under the planner's number. There are few of them.
#[derive(Default)]
pub struct Lists(RefCell<Vec<(i64, Known)>>);

impl Sorted {
    /// `None`: no order of these values says what each comparison with an operand of the class says.
    fn new(
        list: &[Expr],
        operand: Class,
        collation: CollationId,
        run: &Run<'_>,
        at: Scope<'_>,
    ) -> Result<Option<Sorted>> {
        let mut sorted = Sorted { class: operand, values: Vec::with_capacity(list.len()), has_null: false };
        for e in list {
            let v = e.eval(run, at)?;
            if v.is_null() {
                sorted.has_null = true;
                continue;
            }
            let (Some(of_value), numbers) = (class(&v), matches!(operand, Class::Exact | Class::Double)) else {
                return Ok(None);
            };
            // A number and a double, and a number and a text that is one, compare as doubles.
            let as_double = match (&v, of_value) {
                (_, Class::Double) => true,
                (_, Class::Exact) => operand == Class::Double,
                (Value::Bytes(text), _) => numbers && functions::once::is_number(text),
                _ => false,
            };
            if as_double && numbers {
                sorted.values.push(Value::Double(v.to_f64()));
            } else if let (Value::Bytes(text), Class::Moment) = (&v, operand)
                && !run.sql_mode.has(SqlMode::ALLOW_INVALID_DATES)
            {
                // A text that is no date counts as the zero date, as `types::compare` has it.
                let read = parse_datetime(text, SqlMode::NONE).map_or(DateTime::ZERO, |parsed| parsed.value);
                sorted.values.push(Value::DateTime(read));
            } else if of_value == operand {
                sorted.values.push(v.into_owned());
            } else {
                return Ok(None);
            }
        }
        let is_double = |v: &Value<'_>| matches!(v, Value::Double(_));
        if operand == Class::Exact && sorted.values.iter().any(is_double) {
            if !sorted.values.iter().all(is_double) {
                return Ok(None);
            }
            sorted.class = Class::Double;
        }
        run.check_growth(sorted.values.len() * size_of::<Value<'_>>())?;
        let mut failure = None;
        sorted.values.sort_unstable_by(|a, b| {
            compare::values(a, b, collation, run).unwrap_or_else(|error| {
                failure = Some(error);
                Ordering::Equal
            })
        });
        failure.map_or(Ok(Some(sorted)), Err)
    }

    fn has(&self, v: &Value<'_>, collation: CollationId, run: &Run<'_>) -> Result<bool> {
        let mut failure = None;
        let found = self.values.binary_search_by(|value| {
            compare::values(value, v, collation, run).unwrap_or_else(|error| {
                failure = Some(error);
                Ordering::Equal
            })
        });
        failure.map_or(Ok(found.is_ok()), Err)
    }
}

/// `v IN (list)`, where `v` is not NULL, by the list's sorted form. `None`: it has to be gone through.
#[inline(never)]
pub fn look_up(
    number: i64,
    v: &Value<'_>,
    list: &[Expr],
    collation: CollationId,
    run: &Run<'_>,
    at: Scope<'_>,
) -> Result<Option<Option<bool>>> {
    let mut lists = run.scratch.lists.0.borrow_mut();
    let Some((_, known)) = lists.iter_mut().find(|(n, _)| *n == number) else {
        lists.push((number, Known::AskedOnce));
        return Ok(None);
    };
    let Some(class) = class(v) else { return Ok(None) };
    if matches!(known, Known::AskedOnce) {
        *known = Sorted::new(list, class, collation, run, at)?.map_or(Known::Mixed, Known::Sorted);
    }
    let Known::Sorted(sorted) = known else { return Ok(None) };
    let found = match (class, sorted.class) {
        (of_value, of_list) if of_value == of_list => sorted.has(v, collation, run)?,
        (Class::Exact, Class::Double) => sorted.has(&Value::Double(v.to_f64()), collation, run)?,
        _ => return Ok(None),
    };
    Ok(Some(if found {
        Some(true)
    } else if sorted.has_null {
        None
    } else {
        Some(false)
    }))
}
