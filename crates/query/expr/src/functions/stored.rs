//! Calls of stored functions.

use crate::call::{STORED_CALL, StoredCall};
use crate::function::{Args, Function, MANY, Rule, unlisted, volatile};
use crate::{Expr, Node};
use std::sync::Arc;
use types::{Result, Value};

/// A call: the routine, then its arguments. Each may have another value, unless the routine is DETERMINISTIC.
pub static CALL: Function = volatile(unlisted(STORED_CALL, 1, MANY, Rule::Last, evaluate));
/// The same of a routine that is DETERMINISTIC.
pub static CALL_DETERMINISTIC: Function = unlisted(STORED_CALL, 1, MANY, Rule::Last, evaluate);

/// Routine and arguments of a call.
pub fn called(e: &Expr) -> Option<(&Arc<StoredCall>, &[Expr])> {
    match &e.node {
        Node::Call(_, args) => match args.split_first() {
            Some((Expr { node: Node::Routine(call), .. }, args)) => Some((call, args)),
            _ => None,
        },
        _ => None,
    }
}

/// The call as the result of that name: conditions of its value's type name it.
pub fn named(mut e: Expr, name: &str) -> Expr {
    let call = match &mut e.node {
        Node::EnumText(call, _) | Node::SetText(call, _) | Node::LocalTime(call) => &mut **call,
        _ => &mut e,
    };
    if let Node::Call(_, args) = &mut call.node
        && let Some(Expr { node: Node::Routine(call), .. }) = args.first_mut()
    {
        Arc::make_mut(call).returns.name = name.to_string();
    }
    e
}

/// The value of a call. Errors of the routine; 1321, 1424, 1449.
fn evaluate<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Node::Routine(stored) = &a.args[0].node else { unreachable!("made by the planner") };
    a.run.call(stored, &a.args[1..], a.at)
}
