//! Triggers before a row is inserted, and the NULLs that wait for them.

use super::{Progress, absent, replace_null};
use crate::Run;
use crate::rules::RuleSet;
use crate::write::RowWriter;
use catalog::TriggerEvent;
use expr::{Strictness, store};
use std::sync::Arc;
use types::Result;

/// Fires triggers before the encoded row is inserted, whose defaults are computed then.
/// Errors: theirs and of the defaults; 1048 and 1364 of what is NULL still.
#[cold]
pub(super) fn before_insert(
    rules: &mut RuleSet,
    writer: &mut RowWriter,
    absent_columns: &dyn Fn(usize) -> bool,
    p: &mut Progress,
    run: &Run<'_>,
) -> Result<()> {
    rules.fill_for_triggers(TriggerEvent::Insert, writer, absent_columns, p.row, p.how, run)?;
    let mut nulls = std::mem::take(&mut p.nulls);
    let table = Arc::clone(rules.table());
    let set = rules.before_row(None, writer, &mut nulls, run)?;
    let is_counted = |c: &usize| table.columns[*c].auto_increment;
    let is_set = |c: usize| set.iter().any(|(s, _)| *s == c);
    p.defers_nulls = false;
    let refused = nulls.iter().filter(|c| !is_counted(c)).try_for_each(|c| match is_set(*c) {
        // What a trigger sets is refused whatever the mode.
        true => {
            let how = Strictness { null_is_error: true, ..p.how };
            store::null_value(&table.columns[*c], false, how, run).map(drop)
        }
        false if absent_columns(*c) => absent(&table, *c, p, run).map(drop),
        false => replace_null(&table, *c, p, run).map(drop),
    });
    p.set_number = set.iter().rfind(|(c, _)| is_counted(c)).map(|(_, value)| value.clone());
    p.defers_nulls = true;
    nulls.clear();
    p.nulls = nulls;
    refused
}
