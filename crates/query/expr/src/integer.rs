//! Integers that are asked of reals: what MySQL says of those that no BIGINT holds hangs from where they come from.

use crate::error::out_of_range;
use crate::{Execution, Expr, Node, Scope};
use types::codes::*;
use types::{Result, Value, err};

/// The largest real that MySQL makes a BIGINT.
const LARGEST: f64 = 9_223_372_036_854_774_784.0;

/// Where a real comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Of an operation or function: error 1690.
    Computed,
    /// Of a column: warning 1292.
    Column,
    /// Of a literal, variable or subquery: nothing is said.
    Kept,
}

fn origin(e: &Expr) -> Origin {
    match &e.node {
        Node::Arith(..) | Node::Neg(_) | Node::Cast(_) => Origin::Computed,
        Node::Column { .. } => Origin::Column,
        Node::Outer { expr, .. } => origin(expr),
        Node::Call(f, args) if f.name == "nullif" => origin(&args[0]),
        Node::Call(f, _) if f.listed => Origin::Computed,
        Node::Case { whens, otherwise } => {
            let branches = whens.iter().map(|(_, then)| then).chain(otherwise.as_deref());
            let mut origins = branches.filter(|e| !matches!(e.node, Node::Const(_))).map(origin);
            let first = origins.next().unwrap_or(Origin::Kept);
            if origins.all(|o| o == first) { first } else { Origin::Kept }
        }
        _ => Origin::Kept,
    }
}

/// Says what there is to say of `v`, which `e` has given, as an integer. Error 1690, warning 1292.
#[inline]
pub fn check(v: &Value<'_>, e: &Expr, run: &dyn Execution, at: Scope<'_>) -> Result<()> {
    match v {
        Value::Double(d) if !(i64::MIN as f64..=LARGEST).contains(d) => beyond(*d, e, run, at),
        _ => Ok(()),
    }
}

#[cold]
fn beyond(d: f64, e: &Expr, run: &dyn Execution, at: Scope<'_>) -> Result<()> {
    match origin(e) {
        Origin::Computed => Err(e.failed(out_of_range("BIGINT", ""), at)),
        Origin::Column => {
            let shown = super::convert::text(&Value::Double(d), &e.ty).into_owned();
            run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "INTEGER", String::from_utf8_lossy(&shown)));
            Ok(())
        }
        Origin::Kept => Ok(()),
    }
}
