//! Grouping: select list, HAVING and ORDER BY rewritten to read the group's row.

use super::Planner;
use super::node::{Group, Plan};
use super::query::OrderKey;
use crate::error::unsupported;
use crate::expr::aggregate::AggregateCall;
use crate::expr::compare::CmpOp;
use crate::expr::{Expr, Node};
use crate::run::Shape;
use types::sql_mode::SqlMode;
use types::{Result, SqlError};

impl Planner<'_> {
    /// Puts a grouping operator on top of `input`.
    pub(super) fn group(
        &mut self,
        input: Plan,
        keys: Vec<Expr>,
        outputs: &mut [Expr],
        having: &mut Option<Expr>,
        order: &mut [OrderKey],
    ) -> Result<Plan> {
        let slot = self.block().shapes.len();
        let mut aggregates: Vec<AggregateCall> = Vec::new();
        for e in outputs.iter_mut() {
            self.regroup(e, slot, &keys, &mut aggregates)?;
        }
        if let Some(h) = having {
            self.regroup(h, slot, &keys, &mut aggregates)?;
        }
        for o in order.iter_mut() {
            self.regroup(&mut o.expr, slot, &keys, &mut aggregates)?;
        }
        self.block().shapes.push(Shape::Tuple(keys.len() + aggregates.len()));
        let implicit = keys.is_empty();
        Ok(Plan::Group(Box::new(Group { input, keys, aggregates, slot, rollup: false, implicit })))
    }

    fn regroup(&self, e: &mut Expr, slot: usize, keys: &[Expr], aggregates: &mut Vec<AggregateCall>) -> Result<()> {
        if let Some(i) = keys.iter().position(|k| k.same(e)) {
            *e = Expr::column(slot, i, e.ty);
            return Ok(());
        }
        let ty = e.ty;
        let mut column = |call: AggregateCall| {
            let i = match aggregates.iter().position(|a| a.same_call(&call)) {
                Some(i) => i,
                None => {
                    aggregates.push(call);
                    aggregates.len() - 1
                }
            };
            Expr::column(slot, keys.len() + i, ty)
        };
        match &e.node {
            Node::Aggregate(call) => *e = column((**call).clone()),
            Node::Column { depth: 0, .. } => *e = column(AggregateCall::any(e.clone())),
            Node::Subquery(query)
            | Node::Exists { query, .. }
            | Node::InSubquery { query, .. }
            | Node::Quantified { query, .. }
                if self.subqueries[*query].correlated =>
            {
                return Err(unsupported("correlated subquery in the select list of a grouped query"));
            }
            _ => {
                let mut result = Ok(());
                e.children_mut(&mut |c| {
                    if result.is_ok() {
                        result = self.regroup(c, slot, keys, aggregates);
                    }
                });
                result?;
            }
        }
        Ok(())
    }

    /// ONLY_FULL_GROUP_BY: 1055, or 1140 without GROUP BY.
    pub(super) fn check_grouping(
        &self,
        conditions: &[Expr],
        keys: &[Expr],
        outputs: &[Expr],
        order: &[OrderKey],
    ) -> Result<()> {
        if !SqlMode(self.env.sql_mode()).has(SqlMode::ONLY_FULL_GROUP_BY) {
            return Ok(());
        }
        let fixed = self.determined(conditions, keys);
        let lists = [
            ("SELECT list", outputs.iter().collect::<Vec<_>>()),
            ("ORDER BY clause", order.iter().map(|o| &o.expr).collect()),
        ];
        for (list, exprs) in lists {
            for (i, e) in exprs.iter().enumerate() {
                if let Some((slot, column)) = self.loose_column(e, keys, &fixed) {
                    let name = self.full_name(slot, column);
                    let n = i + 1;
                    return Err(if keys.is_empty() {
                        SqlError::new(
                            1140,
                            format!(
                                "In aggregated query without GROUP BY, expression #{n} of {list} contains nonaggregated column '{name}'; this is incompatible with sql_mode=only_full_group_by"
                            ),
                        )
                    } else {
                        SqlError::new(
                            1055,
                            format!(
                                "Expression #{n} of {list} is not in GROUP BY clause and contains nonaggregated column '{name}' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
                            ),
                        )
                    });
                }
            }
        }
        Ok(())
    }

    /// Columns (slot, column) that are the same in a whole group: keys, constants of WHERE, what these are equal to, and
    /// all columns of tables whose unique key is among them.
    fn determined(&self, conditions: &[Expr], keys: &[Expr]) -> Vec<(u16, u16)> {
        let column = |e: &Expr| match e.node {
            Node::Column { depth: 0, slot, column } => Some((slot, column)),
            _ => None,
        };
        let mut fixed: Vec<(u16, u16)> = keys.iter().filter_map(column).collect();
        loop {
            let before = fixed.len();
            for e in conditions {
                let Node::Compare(CmpOp::Eq, a, b, _) = &e.node else { continue };
                for (x, y) in [(a, b), (b, a)] {
                    if let Some(c) = column(x)
                        && !fixed.contains(&c)
                        && (y.is_constant() || column(y).is_some_and(|d| fixed.contains(&d)))
                    {
                        fixed.push(c);
                    }
                }
            }
            for s in &self.current_block().sources {
                let Some(t) = &s.table else { continue };
                let slot = s.slot as u16;
                let key = t.indexes.iter().any(|i| {
                    i.unique
                        && i.parts.iter().all(|p| {
                            !t.columns[p.column].data_type.nullable && fixed.contains(&(slot, p.column as u16))
                        })
                });
                if key {
                    for c in 0..t.columns.len() as u16 {
                        if !fixed.contains(&(slot, c)) {
                            fixed.push((slot, c));
                        }
                    }
                }
            }
            if fixed.len() == before {
                return fixed;
            }
        }
    }

    fn loose_column(&self, e: &Expr, keys: &[Expr], fixed: &[(u16, u16)]) -> Option<(u16, u16)> {
        if keys.iter().any(|k| k.same(e)) {
            return None;
        }
        match &e.node {
            Node::Aggregate(_) => None,
            Node::Column { depth: 0, slot, column } if !fixed.contains(&(*slot, *column)) => Some((*slot, *column)),
            _ => {
                let mut found = None;
                e.children(&mut |c| {
                    if found.is_none() {
                        found = self.loose_column(c, keys, fixed);
                    }
                });
                found
            }
        }
    }

    fn full_name(&self, slot: u16, column: u16) -> String {
        match self.current_block().sources.iter().find(|s| s.slot == slot as usize) {
            Some(s) if !s.schema.is_empty() => {
                format!("{}.{}.{}", s.schema, s.name, s.columns[column as usize].name)
            }
            Some(s) => format!("{}.{}", s.name, s.columns[column as usize].name),
            None => String::new(),
        }
    }
}
