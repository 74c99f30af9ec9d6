//! Calls whose value is another one each time, where one that is written once stands in several places of a plan: what the planner makes
//! of an alias, of a position, or of CASE's operand. It is one call, and evaluated once a row.

use crate::function::{Func, Function, Rule, unlisted};
use crate::{Expr, Node};
use types::Value;

/// An entry of the select list: the second argument is its number in the statement.
static WRITTEN: Function = unlisted("written", 2, 2, Rule::First, |a| a.value(0));

/// The operand of CASE as the first WHEN reads it, kept for the others.
static OPERAND: Function = unlisted("operand", 2, 2, Rule::First, |a| {
    let v = a.value(0)?.into_owned();
    let Node::Const(Value::Int(number)) = a.args[1].node else { unreachable!("the planner numbers them") };
    let mut kept = a.run.evaluation().scratch().operands.borrow_mut();
    kept.retain(|(n, _)| *n != number);
    kept.push((number, v.clone()));
    Ok(v)
});

/// The same as the others read it.
static OPERAND_AGAIN: Function = unlisted("operand", 2, 2, Rule::First, |a| {
    let Node::Const(Value::Int(number)) = a.args[1].node else { unreachable!("the planner numbers them") };
    let kept = a.run.evaluation().scratch().operands.borrow();
    Ok(kept.iter().find(|(n, _)| *n == number).map_or(Value::Null, |(_, v)| v.clone()))
});

/// Is its value another one each time?
pub fn is_volatile(e: &Expr) -> bool {
    e.any(&mut |e| matches!(&e.node, Node::Call(f, _) if f.volatile))
}

fn numbered(function: Func, e: Expr, number: i64) -> Expr {
    let ty = e.ty;
    Expr::new(Node::Call(function, vec![e, Expr::int(number)]), ty)
}

/// An entry of the select list under a number of its own.
pub fn written(e: Expr, number: i64) -> Expr {
    numbered(&WRITTEN, e, number)
}

/// The operand of CASE for its first WHEN, or for the others.
pub fn operand(e: Expr, number: i64, first: bool) -> Expr {
    numbered(if first { &OPERAND } else { &OPERAND_AGAIN }, e, number)
}

/// The number of an entry of the select list, and what it is.
pub fn of(e: &Expr) -> Option<(i64, &Expr)> {
    match &e.node {
        Node::Call(f, args) if std::ptr::eq(*f, &WRITTEN) => match args[1].node {
            Node::Const(Value::Int(number)) => Some((number, &args[0])),
            _ => None,
        },
        _ => None,
    }
}

/// What is written, whatever stands for it.
pub fn inner(e: &Expr) -> &Expr {
    match &e.node {
        Node::Call(f, args) if [&WRITTEN, &OPERAND, &OPERAND_AGAIN].iter().any(|w| std::ptr::eq(*f, *w)) => &args[0],
        _ => e,
    }
}
