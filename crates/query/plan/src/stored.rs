//! Expressions of a table's definition, planned outside a statement on it.

use crate::stack::{stack_bytes, with_stack};
use crate::{Env, Planner};
use catalog::Version;
use std::sync::Arc;
use types::Result;

/// Levels of an expression of a table's definition: rows are computed by it on whatever stack is at hand.
const RULE_HEIGHT_MAX: u32 = 200;

/// Plans expressions of a table's definition outside a statement on it. Error 1436 for one of more than [`RULE_HEIGHT_MAX`] levels.
pub fn planned<T>(
    env: &mut dyn Env,
    version: &Arc<Version>,
    plan: impl FnOnce(&mut Planner<'_>) -> Result<T>,
) -> Result<T> {
    let parsed = sql::parse(b"DO 0", sql::SqlMode::default()).expect("a statement");
    with_stack(stack_bytes(RULE_HEIGHT_MAX), || {
        let mut planner = Planner::new(&parsed, version, env, &[]);
        planner.make_room_for(RULE_HEIGHT_MAX);
        plan(&mut planner)
    })
}
