//! Derived condition pushdown: what WHERE asks of a derived table that is computed on its own (groups, DISTINCT) is asked inside of
//! it, of its rows where the columns are its groups' keys, else of its groups. Of a set operation each side is asked. The query is
//! planned anew with these conditions, so that they find ranges of indexes.

use crate::Planner;
use crate::names::Source;
use crate::node::QueryPlan;
use crate::slots::slots_of;
use crate::source::{Definition, Origin, Through};
use expr::{Expr, Node, operand};
use sql::ast::{Query, QueryBody, QueryId, SetOp};
use sql::hints::TableHint;
use types::{DataType, Result, TypeKind};

/// A derived table whose first plan has planned so many blocks anew is not planned anew itself: each level would double them.
const BLOCKS_ANEW_MAX: usize = 255;

/// Where the first plan of a derived table begins.
pub struct FirstPlan {
    subqueries: usize,
    blocks_anew: usize,
    height: u32,
}

/// Nodes of a condition that is asked inside, at most.
const PUSHED_NODES_MAX: usize = 1000;

/// Conditions on their way into a query, over its outputs: they are columns of this slot.
const OUTPUT: u16 = u16::MAX;

/// Conditions that the next SELECT is to take, and which of them it has taken.
#[derive(Default)]
pub struct Pushed {
    pub conditions: Vec<Expr>,
    pub taken: Vec<bool>,
    /// On their way into sides of a set operation: how much a side's values may differ from those of the whole.
    united: Option<United>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum United {
    /// Rows are passed on as they are.
    All,
    /// Of rows that are equal one is passed on: texts that are equal may be told apart by a condition.
    Distinct,
}

impl Planner<'_> {
    /// A derived table is about to be planned.
    pub(super) fn first_plan(&self) -> FirstPlan {
        FirstPlan {
            subqueries: self.queries.planned.len(),
            blocks_anew: self.budget.blocks_anew,
            height: self.budget.height,
        }
    }

    /// What it takes to plan the derived table anew that has just been planned from there on.
    pub(super) fn origin(&self, first: FirstPlan, from: Definition) -> Origin {
        let subqueries = first.subqueries..self.queries.planned.len();
        let blocks_anew = self.budget.blocks_anew - first.blocks_anew;
        Origin { from, subqueries, blocks_anew, height: first.height }
    }

    /// Plans a derived table anew with those conditions that can be asked inside; they leave the list.
    pub(super) fn push_down(
        &mut self,
        leaf: usize,
        query: Box<QueryPlan>,
        conditions: &mut Vec<Expr>,
    ) -> Box<QueryPlan> {
        let source = &mut self.block().sources[leaf];
        let (slot, alias) = (source.slot, source.name.clone());
        let Some(origin) = source.origin.take().filter(|_| !query.correlated) else { return query };
        if origin.blocks_anew > BLOCKS_ANEW_MAX {
            return query;
        }
        let inside = |e: &Expr| {
            slots_of(self.subqueries(), e) == 1 << slot && self.is_movable(e) && !e.any(&mut |e| reaches_out(&e.node))
        };
        let wanted: Vec<bool> = conditions.iter().map(inside).collect();
        if !wanted.contains(&true) || !self.takes_conditions(&origin.from, &alias) {
            return query;
        }
        let output = |e: &Expr| {
            let mut e = e.clone();
            to_output(&mut e, slot as u16);
            e
        };
        let pushed = conditions.iter().zip(&wanted).filter(|(_, w)| **w).map(|(e, _)| output(e)).collect();
        let Some((plan, taken)) = self.plan_anew(&origin, pushed) else { return query };
        let plan = super::derived::kept(plan);
        let mut taken = taken.into_iter();
        let mut at = wanted.into_iter();
        conditions.retain(|_| !(at.next() == Some(true) && taken.next() == Some(true)));
        Box::new(plan)
    }

    fn takes_conditions(&mut self, from: &Definition, alias: &str) -> bool {
        let plain = match from {
            Definition::View(_) => true,
            Definition::Query(id, _) => {
                let query = &self.parsed[*id];
                query.limit.is_none() && self.has_plain_select(query)
            }
        };
        let hinted = self.hinted(alias, TableHint::DerivedConditionPushdown);
        plain && hinted.unwrap_or_else(|| !self.switched_off("derived_condition_pushdown"))
    }

    /// Is there a SELECT in it that may take conditions?
    fn has_plain_select(&self, query: &Query) -> bool {
        match &query.body {
            QueryBody::Select(s) => !s.rollup && s.windows.is_empty(),
            QueryBody::SetOp { left, right, .. } => {
                self.has_plain_select(&self.parsed[*left]) && self.has_plain_select(&self.parsed[*right])
            }
            QueryBody::Nested(inner) => self.has_plain_select(&self.parsed[*inner]),
            QueryBody::Table(_) | QueryBody::Values(_) => false,
        }
    }

    /// Both sides of a set operation, each asked to take the conditions on their way: taken is what both have taken. A condition
    /// that one side alone has taken stays outside as well, and leaves the same rows.
    pub(super) fn plan_sides(
        &mut self,
        query: &Query,
        (op, all): (SetOp, bool),
        left: QueryId,
        right: QueryId,
    ) -> Result<(QueryPlan, QueryPlan)> {
        let Some(mut pushed) = self.request.pushed.take() else {
            return Ok((self.query(left, false)?, self.query(right, false)?));
        };
        let all = op == SetOp::Union && all && pushed.united != Some(United::Distinct);
        let united = Some(if all { United::All } else { United::Distinct });
        let none = vec![false; pushed.conditions.len()];
        let mut side = |id| -> Result<(QueryPlan, Vec<bool>)> {
            if query.limit.is_none() {
                let (conditions, taken) = (pushed.conditions.clone(), none.clone());
                self.request.pushed = Some(Pushed { conditions, taken, united });
            }
            let plan = self.query(id, false);
            let taken = self.request.pushed.take().map_or(none.clone(), |p| p.taken);
            Ok((plan?, taken))
        };
        let ((left, by_left), (right, by_right)) = (side(left)?, side(right)?);
        pushed.taken = by_left.iter().zip(&by_right).map(|(l, r)| *l && *r).collect();
        self.request.pushed = Some(pushed);
        Ok((left, right))
    }

    /// A query in parentheses, which takes no conditions where only some of its rows are passed on.
    pub(super) fn plan_nested(&mut self, query: &Query, inner: QueryId) -> Result<QueryPlan> {
        let pushed = if query.limit.is_some() { self.request.pushed.take() } else { None };
        let plan = self.query(inner, false);
        self.request.pushed = pushed.or_else(|| self.request.pushed.take());
        plan
    }

    /// The plan with conditions, and which of them it has taken; `None` when it takes none.
    fn plan_anew(&mut self, origin: &Origin, conditions: Vec<Expr>) -> Option<(QueryPlan, Vec<bool>)> {
        let (notes, dates) = (self.warnings.notes.len(), self.parameters.temporal.len());
        let (rights, first) = (self.uses.rights.len(), self.queries.planned.len());
        let candidates = self.queries.candidates.len();
        // What it reads was counted when it was planned first.
        let height = std::mem::replace(&mut self.budget.height, origin.height);
        let (blocks, blocks_anew) = (self.budget.blocks_planned, self.budget.blocks_anew);
        let resolved = self.warnings.resolved.len();
        let (literals, columns) = (self.warnings.literal_warnings.len(), self.parameters.beside_columns.len());
        let before = (self.constants.evaluated.len(), self.parameters.asked.len());
        let warnings = self.settings.hints.as_ref().map_or(0, |h| h.warnings.len());
        let (exports, straight) = (self.request.exports.take(), self.request.straight);
        let clause = std::mem::replace(&mut self.scope.clause, "field list");
        self.request.pushed = Some(Pushed { taken: vec![false; conditions.len()], conditions, united: None });
        let block = self.scope.blocks.pop().expect("inside a query block");
        let planned = match &origin.from {
            Definition::Query(id, cte) => {
                let later = cte.map_or(Vec::new(), |at| self.scope.ctes.split_off(at));
                let outside = later.first().map_or(self.scope.blocks.len(), |cte| cte.outside);
                let plan = self.within_with(outside, |p| p.query(*id, false));
                self.scope.ctes.extend(later);
                plan
            }
            // It stays a table of its own.
            Definition::View(table) => self.view_plan(table, None, Through::Read).map(|(plan, _)| plan),
        };
        self.scope.blocks.push(block);
        self.budget.height = height.max(self.budget.height);
        self.budget.blocks_anew = blocks_anew + self.budget.blocks_planned - blocks;
        (self.scope.clause, self.request.exports, self.request.straight) = (clause, exports, straight);
        self.warnings.notes.truncate(notes);
        self.warnings.literal_warnings.truncate(literals);
        self.warnings.resolved.truncate(resolved);
        self.parameters.beside_columns.truncate(columns);
        self.constants.evaluated.truncate(before.0);
        self.parameters.asked.truncate(before.1);
        self.parameters.temporal.truncate(dates);
        self.uses.rights.truncate(rights);
        self.queries.candidates.truncate(candidates);
        if let Some(hints) = &mut self.settings.hints {
            hints.warnings.truncate(warnings);
        }
        let taken = self.request.pushed.take().map_or(Vec::new(), |p| p.taken);
        let plan = planned.ok().filter(|_| taken.contains(&true));
        self.queries.kept.push(first..self.queries.planned.len());
        // One of the two plans is not run.
        let superseded = if plan.is_some() { origin.subqueries.clone() } else { first..self.queries.planned.len() };
        self.queries.planned[superseded].iter_mut().for_each(QueryPlan::drop_plan);
        plan.map(|plan| (plan, taken))
    }

    /// Takes conditions on the outputs of the block at hand: into WHERE those on keys of its groups, into HAVING the others.
    pub(super) fn take_pushed(
        &mut self,
        pushed: &mut Pushed,
        outputs: &[Expr],
        groups: Option<&[Expr]>,
        conditions: &mut Vec<Expr>,
        having: &mut Option<Expr>,
    ) {
        let united = pushed.united;
        for (e, taken) in pushed.conditions.iter().zip(&mut pushed.taken) {
            let mut read: Vec<usize> = Vec::new();
            let mut differs = false;
            e.any(&mut |e| {
                if let Node::Column { slot: OUTPUT, column, .. } = e.node {
                    read.push(column as usize);
                    differs |= united.is_some_and(|u| !same_values(&outputs[column as usize].ty, &e.ty, u));
                }
                false
            });
            if differs {
                continue;
            }
            let steady = |i: &usize| {
                let e = &outputs[*i];
                let plain = |e: &Expr| match &e.node {
                    Node::Call(f, _) => !f.volatile,
                    n => {
                        !reaches_out(n)
                            && !matches!(n, Node::SetUserVariable(..) | Node::UserVariable(_) | Node::Window(_))
                    }
                };
                !e.any(&mut |e| !plain(e))
            };
            if !read.iter().all(steady) {
                continue;
            }
            // A copy of an output for each column that is read: they multiply from level to level.
            if read.iter().any(|i| outputs[*i].has_more_nodes(PUSHED_NODES_MAX / read.len())) {
                continue;
            }
            *taken = true;
            let mut e = e.clone();
            from_outputs(&mut e, outputs);
            let is_key = |i: &usize| groups.is_none_or(|keys| keys.iter().any(|k| k.same(&outputs[*i])));
            match read.iter().all(is_key) {
                true => conditions.push(e),
                false => *having = super::all_of(having.take().into_iter().chain([e]).collect()),
            }
        }
    }
}

/// Are the values of a side of a set operation the same, and compared alike, in its result?
fn same_values(side: &DataType, whole: &DataType, united: United) -> bool {
    use TypeKind::*;
    if side.kind.is_integer() && whole.kind.is_integer() {
        return side.unsigned == whole.unsigned;
    }
    side.kind == whole.kind
        && match side.kind {
            Date | Double => true,
            Decimal | Time | DateTime | Timestamp => side.decimals == whole.decimals,
            VarChar | Text => united == United::All && side.collation == whole.collation,
            _ => false,
        }
}

/// Is it a query, or a column of a query further outside?
fn reaches_out(node: &Node) -> bool {
    match node {
        Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
        Node::Outer { .. } => true,
        Node::Column { depth, .. } => *depth > 0,
        _ => false,
    }
}

fn to_output(e: &mut Expr, from: u16) {
    if let Node::Column { depth: 0, slot, .. } = &mut e.node
        && *slot == from
    {
        *slot = OUTPUT;
    }
    e.children_mut(&mut |c| to_output(c, from));
}

fn from_outputs(e: &mut Expr, outputs: &[Expr]) {
    if let Node::Column { slot: OUTPUT, column, .. } = e.node {
        let output = outputs[column as usize].clone();
        let is_number = !matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
        *e = if is_number && output.members().is_some() { operand::enum_number(output) } else { output };
        return;
    }
    e.children_mut(&mut |c| from_outputs(c, outputs));
}

impl Source {
    /// It is planned where names mean other things: it stays as it is.
    pub(super) fn settle(&mut self) {
        self.origin = None;
    }
}
