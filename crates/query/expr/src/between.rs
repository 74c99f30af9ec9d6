//! What the three operands of BETWEEN are compared as. It is one thing for both comparisons, and hangs from all three.

use crate::adapt::{held_or_integer, integer_of_bound, time_as_text};
use crate::compare::is_number;
use crate::convert::is_string;
use crate::{Expr, Node, convert, moment, operand};
use types::{DataType, TypeKind};

fn is_text(e: &Expr) -> bool {
    is_string(e.ty.kind) && e.ty.kind != TypeKind::Json
}

fn is_moment(e: &Expr) -> bool {
    e.ty.kind.is_temporal()
}

fn is_date(e: &Expr) -> bool {
    is_moment(e) && e.ty.kind != TypeKind::Time
}

fn cast(e: Expr, ty: DataType) -> Expr {
    let ty = DataType { nullable: true, ..ty };
    Expr::new(Node::Cast(Box::new(e)), ty)
}

/// A text or moment as a double.
fn as_double(e: Expr) -> Expr {
    if is_number(&e) || e.ty.kind == TypeKind::Null {
        return e;
    }
    let e = operand::arith_number(e);
    if e.ty.kind == TypeKind::Double { e } else { cast(e, DataType { length: 23, ..DataType::new(TypeKind::Double) }) }
}

/// The operand as an integer beside the column of dates or times `beside`, which brings constants to its type first.
fn as_integer(e: Expr, beside: &DataType) -> Expr {
    if e.ty.kind == TypeKind::Null {
        return e;
    }
    let integer = DataType { length: 21, ..DataType::new(TypeKind::BigInt) };
    if !(is_text(&e) && is_brought(&e)) {
        return cast(operand::enum_number(e), integer);
    }
    integer_of_bound(e, beside)
}

/// The operands as they are compared. `held`: whether a bound is a number or text that a column of dates or times in front of BETWEEN
/// has brought to its type.
pub fn in_one_domain(mut operands: [Expr; 3], held: [bool; 2]) -> [Expr; 3] {
    let is_document = |e: &Expr| e.ty.kind == TypeKind::Json;
    let mixed = operands.iter().any(|e| is_text(e) || is_moment(e));
    // A number is compared with each bound as a number anyway.
    if !mixed || operands.iter().any(is_document) || is_number(&operands[0]) || operands[1..].iter().all(is_number) {
        return numbers_of_text(operands);
    }
    let of_column = is_moment(&operands[0]) && operands[0].own_column().is_some();
    if of_column {
        let beside = operands[0].ty;
        let [e, low, high] = operands;
        operands = [e, held_or_integer(low, &beside), held_or_integer(high, &beside)];
        let has = |of: &dyn Fn(&Expr) -> bool| operands.iter().any(of);
        // A constant text is brought to the type of a column of dates when it is compared.
        let brought =
            |i: usize| held[i] || is_date(&operands[0]) && is_text(&operands[i + 1]) && is_brought(&operands[i + 1]);
        let is_same = |i: usize| brought(i) || is_moment(&operands[i + 1]) || operands[i + 1].ty.kind == TypeKind::Null;
        if is_same(0) && is_same(1) {
            return operands;
        }
        let only_texts = !has(&is_number);
        if (brought(0) || brought(1)) && !(only_texts && has(&is_date)) {
            return operands.map(|e| as_integer(e, &beside));
        }
    }
    if operands.iter().any(is_number) {
        return operands.map(as_double);
    }
    match operands.iter().find(|e| is_date(e)) {
        // What is compared with a date is one already.
        Some(_) if !is_date(&operands[0]) => operands.map(|e| if is_text(&e) { moment::of(e) } else { e }),
        Some(_) => operands,
        None => times_as_texts(operands),
    }
}

fn is_brought(e: &Expr) -> bool {
    e.is_constant() && !convert::is_hex_literal(e)
}

/// A text between two numbers.
fn numbers_of_text(operands: [Expr; 3]) -> [Expr; 3] {
    match is_text(&operands[0])
        && operands[1..].iter().any(is_number)
        && operands.iter().all(|e| is_text(e) || is_number(e))
    {
        true => operands.map(as_double),
        false => operands,
    }
}

/// Of one string among them all times are strings.
fn times_as_texts([e, low, high]: [Expr; 3]) -> [Expr; 3] {
    let Some(text) = [&e, &low, &high].into_iter().find(|e| is_string(e.ty.kind)).cloned() else {
        return [e, low, high];
    };
    [time_as_text(e, &text), time_as_text(low, &text), time_as_text(high, &text)]
}
