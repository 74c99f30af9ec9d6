//! Functional dependence: which columns are the same in a whole group (MySQL 8.4 Reference Manual, 14.19.4 "Detection of
//! Functional Dependence").

use super::Planner;
use super::group::GROUPING;
use super::join_tree::Tree;
use super::node::{Plan, QueryPlan};
use super::slots::subquery_of;
use super::sorted::OrderKey;
use expr::functions::ANY_VALUE;
use expr::operator::CmpOp;
use expr::{Expr, Node};
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{Result, SqlError};

/// What a block's conditions say of its rows.
#[derive(Default)]
pub struct Dependencies {
    /// Of all rows: WHERE, and ON of inner joins.
    conditions: Vec<Expr>,
    /// ON of joins on the inner side of outer ones: of all rows too, but that both sides of an equality may be NULL.
    inner: Vec<Expr>,
    /// ON of outer joins, each with the slots of its inner side.
    outer: Vec<(Vec<Expr>, u64)>,
}

impl Planner<'_> {
    pub(super) fn dependencies(&self, tree: &Tree, conditions: &[Expr]) -> Dependencies {
        let mut known = Dependencies { conditions: conditions.to_vec(), ..Dependencies::default() };
        self.gather(tree, false, &mut known);
        known
    }

    fn gather(&self, tree: &Tree, inner_side: bool, known: &mut Dependencies) {
        let Tree::Join { left_outer, left, right, on, .. } = tree else { return };
        self.gather(left, inner_side, known);
        self.gather(right, inner_side || *left_outer, known);
        match (left_outer, inner_side) {
            (true, _) => known.outer.push((on.clone(), right.slots(self))),
            (false, true) => known.inner.extend_from_slice(on),
            (false, false) => known.conditions.extend_from_slice(on),
        }
    }

    /// ONLY_FULL_GROUP_BY: 1055, or 1140 without GROUP BY.
    pub(super) fn check_grouping(
        &self,
        known: &Dependencies,
        keys: &[Expr],
        outputs: &[Expr],
        having: Option<&Expr>,
        order: &[OrderKey],
    ) -> Result<()> {
        if !SqlMode(self.env.sql_mode()).has(SqlMode::ONLY_FULL_GROUP_BY) {
            return Ok(());
        }
        let fixed = self.determined(known, keys);
        let lists = [
            ("SELECT list", outputs.iter().collect::<Vec<_>>()),
            ("HAVING clause", having.into_iter().collect()),
            ("ORDER BY clause", order.iter().map(|o| &o.expr).collect()),
        ];
        for (list, exprs) in lists {
            for (i, e) in exprs.iter().enumerate() {
                if let Some((slot, column)) = self.loose_column(e, keys, &fixed) {
                    let name = self.full_name(slot, column);
                    let n = i + 1;
                    return Err(if keys.is_empty() {
                        SqlError::new(
                            ER_MIX_OF_GROUP_FUNC_AND_FIELDS,
                            format!(
                                "In aggregated query without GROUP BY, expression #{n} of {list} contains \
                                 nonaggregated column '{name}'; this is incompatible with sql_mode=only_full_group_by"
                            ),
                        )
                    } else {
                        SqlError::new(
                            ER_WRONG_FIELD_WITH_GROUP,
                            format!(
                                "Expression #{n} of {list} is not in GROUP BY clause and contains nonaggregated \
                                 column '{name}' which is not functionally dependent on columns in GROUP BY \
                                 clause; this is incompatible with sql_mode=only_full_group_by"
                            ),
                        )
                    });
                }
            }
        }
        Ok(())
    }

    /// Columns (slot, column) that are the same in a whole group: keys, constants of WHERE, what these are equal to, and
    /// all columns of tables whose unique key is among them, or of derived tables whose groups are.
    fn determined(&self, known: &Dependencies, keys: &[Expr]) -> Vec<(u16, u16)> {
        let mut fixed: Vec<(u16, u16)> = keys.iter().filter_map(Expr::own_column).collect();
        loop {
            let before = fixed.len();
            for e in &known.conditions {
                fix_equals(e, &mut fixed, true);
            }
            for e in &known.inner {
                fix_equals(e, &mut fixed, false);
            }
            for (on, inner) in &known.outer {
                let is_outer = |e: &Expr| e.own_column().is_some_and(|(slot, _)| inner & 1 << slot == 0);
                let is_loose = |e: &Expr| {
                    subquery_of(e).is_some() || is_outer(e) && !e.own_column().is_some_and(|c| fixed.contains(&c))
                };
                if !on.iter().any(|e| e.any(&mut |e| is_loose(e))) {
                    // Either a row is found for all of a group, or for none of it.
                    let within = |e: &&Expr| super::slots::slots_of(self.subqueries(), e) & !inner == 0;
                    on.iter().chain(known.inner.iter().filter(within)).for_each(|e| fix_equals(e, &mut fixed, true));
                }
            }
            for s in &self.current_block().sources {
                let slot = s.slot as u16;
                let key = match (&s.table, &s.unique) {
                    (Some(t), _) => t.indexes.iter().any(|i| {
                        i.unique
                            && i.parts.iter().all(|p| {
                                !t.columns[p.column].data_type.nullable && fixed.contains(&(slot, p.column as u16))
                            })
                    }),
                    // Where a row may be missing, NULL would be both that and a group.
                    (None, Some(unique)) if !unique.is_empty() || !keys.is_empty() => unique.iter().all(|c| {
                        let is_told = !s.nullable || !s.columns[*c as usize].data_type.nullable;
                        is_told && fixed.contains(&(slot, *c))
                    }),
                    (None, _) => false,
                };
                if key {
                    for c in 0..s.columns.len() as u16 {
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
            Node::Call(f, _) if f.name == GROUPING || f.name == ANY_VALUE => None,
            Node::Column { depth: 0, slot, column } if !fixed.contains(&(*slot, *column)) => Some((*slot, *column)),
            _ => {
                let mut found = subquery_of(e).and_then(|q| self.loose_read(q, keys, fixed));
                e.children(&mut |c| {
                    if found.is_none() {
                        found = self.loose_column(c, keys, fixed);
                    }
                });
                found
            }
        }
    }

    /// The first column of this block that a subquery reads and that is neither fixed in a group nor part of a key.
    fn loose_read(&self, query: usize, keys: &[Expr], fixed: &[(u16, u16)]) -> Option<(u16, u16)> {
        self.queries.planned[query].reads.iter().find_map(|read| match read.node {
            Node::Column { depth: 0, slot, column } if !fixed.contains(&(slot, column)) && !self.is_asked(slot) => {
                let is_read = |e: &Expr| match e.node {
                    Node::Column { depth, slot: s, column: c } => (depth, s, c) == (0, slot, column),
                    _ => false,
                };
                let in_key = keys.iter().any(|k| k.any(&mut |e| is_read(e)));
                (!in_key).then_some((slot, column))
            }
            _ => None,
        })
    }
}

/// The sides of an equality that what is fixed already, or a constant, fixes.
fn fix_equals(e: &Expr, fixed: &mut Vec<(u16, u16)>, constants: bool) {
    let Node::Compare(CmpOp::Eq, a, b, _) = &e.node else { return };
    for (x, y) in [(a, b), (b, a)] {
        let is_fixed = |y: &Expr| y.own_column().is_some_and(|c| fixed.contains(&c)) || constants && y.is_constant();
        if let Some(column) = x.own_column()
            && !fixed.contains(&column)
            && is_fixed(y)
        {
            fixed.push(column);
        }
    }
}

/// The outputs that are the keys of a query's groups, if all keys are: they are different in all of its rows.
pub fn unique_outputs(query: &QueryPlan) -> Option<Vec<u16>> {
    let (mut plan, mut kept) = (&query.plan, None);
    let group = loop {
        plan = match plan {
            Plan::Sort(sort) => {
                kept = Some(sort);
                &sort.input
            }
            Plan::Filter { input, .. } | Plan::Distinct { input, .. } | Plan::Limit { input, .. } => input,
            Plan::Group(group) => break group,
            _ => return None,
        };
    };
    let is_key = |e: &Expr, key: (u16, u16)| match (&e.node, kept) {
        (Node::Column { depth: 0, slot, column }, Some(sort)) if *slot as usize == sort.slot => {
            sort.values[*column as usize].own_column() == Some(key)
        }
        _ => e.own_column() == Some(key),
    };
    let output = |key| {
        let column = (group.slot as u16, key as u16);
        query.outputs.iter().position(|e| is_key(e, column)).map(|at| at as u16)
    };
    (0..group.keys.len()).map(output).collect::<Option<_>>().filter(|_| !group.rollup)
}
