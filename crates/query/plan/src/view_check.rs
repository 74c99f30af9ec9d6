//! WITH CHECK OPTION of views that are merged into the statement that writes through them.
//!
//! ```text
//!   CREATE VIEW v AS SELECT .. FROM a JOIN b ON .. WHERE .. WITH CHECK OPTION
//!   UPDATE v    asks ON and WHERE of the joined row, with the new row in its place
//!   INSERT v    asks them of the new row, with NULL for the columns of the tables that get no row
//! ```

use super::Planner;
use super::semijoin::Candidate;
use super::slots::slots_of;
use super::source::Through;
use catalog::{CheckOption, Table};
use expr::{Expr, Node};
use std::sync::Arc;
use types::codes::*;
use types::{Result, Value, err};

/// What the CHECK OPTION of a view that is merged, and of views in it, asks of a joined row, one of whose rows is written: that it is
/// a row of the view still.
pub(super) fn check_of(table: &Table, candidate: &mut Candidate) -> Option<(String, Expr)> {
    let view = table.view.as_ref().expect("a view");
    let mut asked: Vec<Expr> = Vec::new();
    for source in &mut candidate.block.sources {
        let slot = source.slot;
        match source.stands_for.is_some() {
            true if source.hidden => {}
            true => asked.extend(source.check.as_ref().map(|(_, e)| e.clone())),
            // The row is asked for all at once, by the name of the outer view.
            false => asked.extend(source.check.take().map(|(_, e)| super::expression::at_slot(e, slot))),
        }
    }
    if view.check_option != CheckOption::None {
        let mut own: Vec<&Expr> = candidate.conditions.iter().collect();
        candidate.tree.conditions(&mut own);
        let sources = &candidate.block.sources;
        match view.check_option {
            CheckOption::Cascaded => own.extend(sources.iter().filter_map(|source| source.filter.as_ref())),
            // Those of views in FROM have come among them.
            _ => {
                for e in sources.iter().flat_map(|source| &source.came_with) {
                    let found = own.iter().position(|o| o.same(e));
                    found.map(|at| own.remove(at));
                }
            }
        }
        asked.extend(own.into_iter().cloned());
    }
    super::all_of(asked).map(|e| (format!("{}.{}", table.schema, table.name), e))
}

/// Turns columns of the row in `slot` into those of the row in slot 0, and all others into NULL.
fn alone(e: &mut Expr, slot: u16) {
    match &mut e.node {
        Node::Column { depth: 0, slot: own, .. } if *own == slot => *own = 0,
        Node::Column { depth: 0, .. } => {
            e.node = Node::Const(Value::Null);
            e.ty.nullable = true;
        }
        _ => e.children_mut(&mut |child| alone(child, slot)),
    }
}

impl Planner<'_> {
    /// What CHECK OPTION asks of a row, in slot 0, that is inserted through a view of a join into the table of the columns with these
    /// names.
    pub(super) fn check_of_inserted(&mut self, table: &Arc<Table>, names: &[&str]) -> Result<Option<Expr>> {
        let (plan, candidate) = self.view_plan(table, None, Through::Insert)?;
        let is_named = |name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        let named = table.columns.iter().position(|c| is_named(&c.name));
        let slot = named.and_then(|at| plan.outputs[at].own_column()).map(|(slot, _)| slot);
        let (Some(mut candidate), Some(slot)) = (candidate, slot) else {
            return Err(err!(ER_NON_INSERTABLE_TABLE, table.name, "INSERT"));
        };
        let Some((_, check)) = check_of(table, &mut candidate) else { return Ok(None) };
        let mut asked = Vec::new();
        Self::conjuncts(check, &mut asked);
        for e in &mut asked {
            alone(e, slot);
            // What is left are columns that subqueries read: they find the row only if it was in slot 0, and no other one.
            let mut by_subqueries = e.clone();
            alone(&mut by_subqueries, u16::MAX);
            if slots_of(self.subqueries(), &by_subqueries) & !u64::from(slot == 0) != 0 {
                *e = Expr::null();
            }
        }
        Ok(super::all_of(asked))
    }
}
