//! Second step of a SELECT: rules that change what is planned and keep the rows.

use super::{Bound, Surroundings};
use crate::names::Exports;
use crate::{ColumnMeta, Planner};
use expr::{Expr, Node};
use types::Result;

/// What has become of a SELECT that the query around may take over.
pub(super) enum HandedOn {
    Kept(Box<Bound>),
    /// The query around has its tables and conditions, and may use these.
    Gone {
        outputs: Vec<Expr>,
        columns: Vec<ColumnMeta>,
    },
}

impl Planner<'_> {
    /// The rules, in their order.
    pub(super) fn rewrite(&mut self, s: &mut Bound, around: &mut Surroundings<'_>) -> Result<()> {
        if around.exports && !s.is.grouped && !s.distinct {
            self.export_columns(&mut s.outputs);
        }
        self.simplify_order(s);
        self.drop_distinct(s)?;
        self.take_conditions(s, around);
        self.join_in_subqueries(s, around)
    }

    /// A constant orders nothing; a SELECT without an order may have that of a derived table which was merged into it.
    fn simplify_order(&mut self, s: &mut Bound) {
        s.order.retain(|o| !matches!(o.expr.node, Node::Const(_) | Node::Param(_)));
        let rows_as_they_are = !s.is.grouped && !s.is.windowed && !s.distinct && s.having.is_none();
        if !s.is.has_order && rows_as_they_are && s.tree.is_some() {
            s.order = self.moved_order();
        }
    }

    /// Groups whose keys are all selected are distinct as they are.
    fn drop_distinct(&mut self, s: &mut Bound) -> Result<()> {
        let selected = |key: &Expr| s.outputs.iter().any(|o| o.same(key));
        s.distinct &= s.is.rolls_up || s.keys.is_empty() || !s.keys.iter().all(selected);
        if s.distinct { self.check_distinct_order(&s.outputs, &s.order) } else { Ok(()) }
    }

    /// Condition pushdown: conditions of the query around on this derived table's columns.
    fn take_conditions(&mut self, s: &mut Bound, around: &mut Surroundings<'_>) {
        let pushed = around.pushed.take();
        if let Some(pushed) = pushed.filter(|_| s.limit.is_none() && !s.is.windowed && !s.is.rolls_up) {
            let groups = s.is.grouped.then_some(&s.keys[..]);
            self.take_pushed(pushed, &s.outputs, groups, &mut s.conditions, &mut s.having);
        }
    }

    /// Semi-joins: subqueries of the conditions become tables of the join.
    fn join_in_subqueries(&mut self, s: &mut Bound, around: &Surroundings<'_>) -> Result<()> {
        let rows_in_order = !s.is.grouped && !s.distinct && !s.is.windowed && !s.order.is_empty();
        let ordered = s.top().is_some() && rows_in_order;
        let tree = s.tree.take();
        s.tree = self.join_subqueries(tree, &mut s.conditions, around.first_candidate, ordered)?;
        Ok(())
    }

    /// Merging: a derived table, or the subquery of a semi-join, that is no more than tables and conditions.
    pub(super) fn hand_on(&mut self, mut s: Bound, around: &Surroundings<'_>) -> HandedOn {
        let rows_alone = !s.is.grouped && !s.is.windowed && s.having.is_none() && s.limit.is_none() && !s.is.straight;
        if !rows_alone || around.exports {
            return HandedOn::Kept(Box::new(s));
        }
        if around.merging
            && !s.is.asks_distinct
            && !s.is.counts_all
            && let Some(tree) = s.tree.take()
        {
            match self.put_up(tree, std::mem::take(&mut s.conditions), &s.outputs, std::mem::take(&mut s.order)) {
                Ok(()) => return HandedOn::Gone { outputs: s.outputs, columns: s.columns },
                Err((tree, conditions, order)) => {
                    (s.tree, s.conditions, s.order) = (Some(tree), conditions, order);
                }
            }
        }
        if around.is_candidate
            && let Some(tree) = s.tree.take()
        {
            match self.make_candidate(tree, std::mem::take(&mut s.conditions), &s.outputs) {
                Ok(()) => return HandedOn::Gone { outputs: s.outputs, columns: s.columns },
                Err((tree, conditions)) => (s.tree, s.conditions) = (Some(tree), conditions),
            }
        }
        HandedOn::Kept(Box::new(s))
    }

    /// Appends the columns of the block's tables to the outputs, for ON DUPLICATE KEY UPDATE, where they are read from slot 2.
    fn export_columns(&mut self, outputs: &mut Vec<Expr>) {
        let mut exports = Exports::default();
        for s in self.current_block().sources.iter().filter(|s| !s.hidden) {
            let visible: Vec<usize> = (0..s.columns.len()).filter(|i| !s.columns[*i].hidden).collect();
            exports.sources.push(s.exported(2, outputs.len(), &visible));
            outputs.extend(visible.into_iter().map(|i| s.column(i, 0)));
        }
        for (name, e) in &self.current_block().merged {
            exports.merged.push((name.clone(), Expr::column(2, outputs.len(), e.ty)));
            outputs.push(e.clone());
        }
        self.request.exports = Some(exports);
    }
}
