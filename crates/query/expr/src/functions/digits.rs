//! How many digits of the second an operand has where a date or time is asked for.

use super::constant_text;
use crate::{Expr, Node, convert};
use types::{TypeKind, Value};

/// Digits of the second that an expression has beside a moment.
pub(super) fn moment_digits(e: &Expr) -> u8 {
    match &e.node {
        Node::Const(Value::Bytes(text)) => {
            types::temporal::parse::parse_datetime(text, convert::LENIENT).map_or(6, |p| p.fsp)
        }
        _ if e.ty.kind.is_text() => match constant_text::value_of(e) {
            Some(text) => types::temporal::parse::parse_datetime(&text, convert::LENIENT).map_or(6, |p| p.fsp),
            None => 6,
        },
        _ => second_digits(e),
    }
}

/// Digits of the second that an expression has as a TIME or DATETIME.
pub(super) fn second_digits(e: &Expr) -> u8 {
    match (e.ty.kind, &e.node) {
        (TypeKind::Decimal | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp, _) => e.ty.decimals.min(6),
        // Of a parameter nothing is known yet: it may be a time with microseconds.
        (TypeKind::Double | TypeKind::Float, _) | (TypeKind::Null, Node::Param(_)) => 6,
        // As a time, also where a moment is wanted.
        (_, Node::Const(Value::Bytes(text))) => {
            types::temporal::parse::parse_time(text, types::SqlMode::NONE).map_or(6, |p| p.fsp)
        }
        (k, _) if k.is_text() || k.is_bytes() => match constant_text::value_of(e) {
            Some(text) => types::temporal::parse::parse_time(&text, types::SqlMode::NONE).map_or(6, |p| p.fsp),
            None => 6,
        },
        _ => 0,
    }
}
