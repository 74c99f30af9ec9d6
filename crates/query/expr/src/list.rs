//! Long lists of IN: from the second row on they are looked up in a sorted copy and not gone through, as in MySQL. The copy is
//! made once an execution, and only where sorting keeps the meaning of each comparison: values and operand all texts, all exact
//! numbers, all doubles, all dates or all times. Any other list is gone through, since each of its comparisons may be of another kind.
//! Long chains of OR and CASE are looked up in the same way: see [`super::alternatives`].

use crate::functions::once;
use crate::scratch::{Class, KnownList, Sorted};
use crate::{Execution, Expr, Node, Scope, compare};
use std::cell::Cell;
use std::cmp::Ordering;
use types::collation::CollationId;
use types::temporal::parse::parse_datetime;
use types::{DateTime, Result, SqlMode, Value};

/// Lists of fewer values are gone through.
const VALUES_MIN: usize = 5;

/// Can the values of a list be kept for an execution: are there many, all of them plain?
pub fn is_kept(list: &[Expr]) -> bool {
    list.len() >= VALUES_MIN && list.iter().all(is_plain)
}

/// Does it read no row, and has nothing to say each time it is asked?
pub fn is_plain(e: &Expr) -> bool {
    match &once::inner(e).node {
        Node::Const(_) | Node::Param(_) => true,
        Node::InCharset(inner) => matches!(inner.node, Node::Const(_) | Node::Param(_)),
        _ => once::is_value(e),
    }
}

/// `None`: NULL, and documents, which have no order that a list could be sorted by.
pub fn class(v: &Value<'_>) -> Option<Class> {
    match v {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Some(Class::Exact),
        Value::Double(_) => Some(Class::Double),
        Value::Bytes(_) => Some(Class::Text),
        Value::Date(_) | Value::DateTime(_) => Some(Class::Moment),
        Value::Time(_) => Some(Class::Time),
        Value::Null | Value::Json(_) => None,
    }
}

impl Sorted {
    /// `None`: no order of these values says what each comparison with an operand of the class says.
    pub fn new<'e>(
        list: impl Iterator<Item = &'e Expr>,
        operand: Class,
        collation: CollationId,
        run: &dyn Execution,
        at: Scope<'_>,
    ) -> Result<Option<Sorted>> {
        let mut sorted = Sorted { class: operand, values: Vec::with_capacity(list.size_hint().0), has_null: false };
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
                (Value::Bytes(text), _) => numbers && types::number::is_number(text),
                _ => false,
            };
            if as_double && numbers {
                sorted.values.push(Value::Double(v.to_f64()));
            } else if let (Value::Bytes(text), Class::Moment) = (&v, operand)
                && !run.evaluation().sql_mode.has(SqlMode::ALLOW_INVALID_DATES)
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
        let failure = Cell::new(None);
        let order = |a: &Value<'_>, b: &Value<'_>| {
            compare::values(a, b, collation, run).unwrap_or_else(|error| {
                failure.set(Some(error));
                Ordering::Equal
            })
        };
        sorted.values.sort_unstable_by(|a, b| order(a, b));
        sorted.values.dedup_by(|a, b| order(a, b) == Ordering::Equal);
        failure.take().map_or(Ok(Some(sorted)), Err)
    }

    /// The place of the value that is equal to one which is not NULL. `None`: that is of another class, and nothing is known.
    pub fn place(&self, v: &Value<'_>, collation: CollationId, run: &dyn Execution) -> Result<Option<Option<usize>>> {
        let double;
        let v = match class(v) {
            Some(class) if class == self.class => v,
            Some(Class::Exact) if self.class == Class::Double => {
                double = Value::Double(v.to_f64());
                &double
            }
            _ => return Ok(None),
        };
        let mut failure = None;
        let found = self.values.binary_search_by(|value| {
            compare::values(value, v, collation, run).unwrap_or_else(|error| {
                failure = Some(error);
                Ordering::Equal
            })
        });
        failure.map_or(Ok(Some(found.ok())), Err)
    }
}

/// `v IN (list)`, where `v` is not NULL, by the list's sorted form. `None`: it has to be gone through.
#[inline(never)]
pub fn look_up(
    number: i64,
    v: &Value<'_>,
    list: &[Expr],
    collation: CollationId,
    run: &dyn Execution,
    at: Scope<'_>,
) -> Result<Option<Option<bool>>> {
    let mut lists = run.evaluation().scratch().lists.borrow_mut();
    let Some((_, known)) = lists.iter_mut().find(|(n, _)| *n == number) else {
        lists.push((number, KnownList::AskedOnce));
        return Ok(None);
    };
    let Some(class) = class(v) else { return Ok(None) };
    if matches!(known, KnownList::AskedOnce) {
        *known = Sorted::new(list.iter(), class, collation, run, at)?.map_or(KnownList::Mixed, KnownList::Sorted);
    }
    let KnownList::Sorted(sorted) = known else { return Ok(None) };
    let Some(found) = sorted.place(v, collation, run)? else { return Ok(None) };
    Ok(Some(if found.is_some() {
        Some(true)
    } else if sorted.has_null {
        None
    } else {
        Some(false)
    }))
}
