//! Comparison of two values under MySQL's rules, whatever mix of types they are.

use crate::{CollationId, Value};
use std::cmp::Ordering;

/// `None` when either is NULL. Strings against strings compare under `collation`; numbers against strings as doubles;
/// temporals against strings and numbers as temporals when those parse as such.
pub fn compare(_a: &Value<'_>, _b: &Value<'_>, _collation: CollationId) -> Option<Ordering> {
    todo!()
}

/// For ORDER BY and `<=>`: NULL equals NULL and sorts first.
pub fn compare_nulls_first(a: &Value<'_>, b: &Value<'_>, collation: CollationId) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare(a, b, collation).unwrap_or(Ordering::Equal),
    }
}
