//! Which handler a condition goes to.
//!
//! The innermost block that has one for it decides; in a block a handler for the error number comes before one for the SQLSTATE, and
//! that before one for its class.

use sql::ast::{Condition as For, Handler, Program};

/// The class of a SQLSTATE.
pub(super) fn is_warning(state: &[u8; 5]) -> bool {
    state.starts_with(b"01")
}

pub(super) fn is_not_found(state: &[u8; 5]) -> bool {
    state.starts_with(b"02")
}

/// How well a handler fits: less is better.
fn rank(wanted: &For, code: u16, state: &[u8; 5], level: &str) -> Option<u8> {
    match wanted {
        For::Code(n) => (*n == code).then_some(0),
        For::State(s) => (s == state).then_some(1),
        // Of classes the handler that was declared first.
        For::Warning => (is_warning(state) || level == "Warning").then_some(2),
        For::NotFound => is_not_found(state).then_some(2),
        For::Exception => (level == "Error" && !is_warning(state) && !is_not_found(state)).then_some(2),
    }
}

/// The handler for a condition among those in force, the innermost last.
pub(super) fn choose(program: &Program, in_force: &[u32], code: u16, state: &[u8; 5], level: &str) -> Option<u32> {
    let handler = |number: &u32| &program.handlers[*number as usize];
    let mut rest = in_force;
    while let Some(last) = rest.last() {
        // Those of one block: it had so many around it.
        let (outer, block) = rest.split_at(handler(last).handlers as usize);
        let best = |h: &Handler| h.conditions.iter().filter_map(|c| rank(c, code, state, level)).min();
        let fitting = block.iter().filter_map(|number| best(handler(number)).map(|rank| (rank, *number)));
        if let Some((_, number)) = fitting.min() {
            return Some(number);
        }
        rest = outer;
    }
    None
}
