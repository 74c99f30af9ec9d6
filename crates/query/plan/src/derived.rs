//! Derived tables, common table expressions and views merged into the block that reads them, as MySQL's `derived_merge` does: a
//! plain selection needs no temporary table, its conditions find ranges of indexes, and its tables take part in the order of the join.
//!
//! ```text
//!   FROM           the query is resolved and kept as a Candidate, like that of a semi-join
//!   merged         its tables follow a source that stands for it (Source::stands_for): names mean that one, which says what
//!                  each column is; the tables themselves are hidden from names
//!   WHERE          joins that of the block, or ON where the table is the inner side of an outer join
//!   ORDER BY       is the block's where the block has one table and no order, groups or DISTINCT of its own; else it says nothing
//! ```

use crate::Planner;
use crate::access::Wanted;
use crate::join_tree::{StarColumn, Tree};
use crate::names::{Source, SourceColumn};
use crate::node::{Group, Plan, QueryPlan};
use crate::semijoin::{Candidate, SLOTS_MAX, lift, only_conditions_count};
use crate::sorted::{OrderKey, sorted};
use crate::source::Through;
use crate::tables::TABLES_MAX;
use expr::call::AggregateKind;
use expr::{Expr, Node, Shape, common, compare, operand};
use sql::ast::{QueryBody, QueryId};
use sql::hints::TableHint;
use types::Result;
use types::datatype::IMPLICIT;

/// The query of a derived table that keeps its rows: what it keeps of an ENUM or SET is the number.
fn as_kept(plan: QueryPlan, columns: &mut [SourceColumn]) -> QueryPlan {
    let group = group_of(&plan.plan);
    for (column, e) in columns.iter_mut().zip(&plan.outputs) {
        column.members = e.members().cloned();
        if group.is_some_and(|group| is_kept_text(group, e)) {
            column.data_type.coercibility = IMPLICIT;
        }
    }
    kept(plan)
}

fn group_of(plan: &Plan) -> Option<&Group> {
    match plan {
        Plan::Group(group) => Some(group),
        Plan::Filter { input, .. } | Plan::Limit { input, .. } => group_of(input),
        Plan::Sort(sort) => group_of(&sort.input),
        _ => None,
    }
}

/// Is it what GROUP_CONCAT, MIN or MAX has made, whose collation is its column's once it is kept?
fn is_kept_text(group: &Group, e: &Expr) -> bool {
    use AggregateKind::{GroupConcat, Max, Min};
    let Node::Column { depth: 0, slot, column } = e.node else { return false };
    let at = usize::from(column).checked_sub(group.keys.len());
    let call = at.and_then(|at| group.aggregates.get(at)).filter(|_| usize::from(slot) == group.slot);
    call.is_some_and(|call| matches!(call.kind, GroupConcat | Max | Min))
}

/// The same of one that is planned anew.
pub(super) fn kept(plan: QueryPlan) -> QueryPlan {
    let kept = |e: Expr| if e.members().is_some() { operand::enum_number(e) } else { common::kept_decimal(e) };
    let outputs = plan.outputs.into_iter().map(kept).collect();
    QueryPlan { outputs, ..plan }
}

/// Nodes of an output of a merged table, at most: each that reads such a column takes a copy, so they double from table to table.
const MERGED_NODES_MAX: usize = 1000;

impl Planner<'_> {
    /// Plans the query of a derived table; with what is to be merged of it, if it may be.
    pub(super) fn mergeable_query(&mut self, id: QueryId, alias: &str) -> Result<(QueryPlan, Option<Box<Candidate>>)> {
        let plain = matches!(self.parsed[id].body, QueryBody::Select(_));
        let merges = plain && self.merges(alias, super::source::Merges::All);
        self.request.merging = merges;
        // The query inside sees the queries around this one, not the tables beside it.
        let block = self.scope.blocks.pop().expect("inside a query block");
        let clause = std::mem::replace(&mut self.scope.clause, "field list");
        self.scope.derived_depth += 1;
        let plan = self.query(id, false);
        self.scope.derived_depth -= 1;
        self.scope.clause = clause;
        self.scope.blocks.push(block);
        self.request.merging = false;
        let candidate = self.request.candidate.take();
        Ok((plan?, candidate))
    }

    /// May the table of that name and kind be merged, as hints and the statement have it?
    pub(super) fn merges(&mut self, alias: &str, kind: super::source::Merges) -> bool {
        let hinted = self.hinted(alias, TableHint::Merge);
        self.request.merges >= kind && hinted.unwrap_or_else(|| !self.switched_off("derived_merge"))
    }

    /// Makes the block at hand a candidate, to be merged into the one around it, if it is a plain selection.
    pub(super) fn put_up(
        &mut self,
        tree: Tree,
        conditions: Vec<Expr>,
        outputs: &[Expr],
        order: Vec<OrderKey>,
    ) -> Result<(), (Tree, Vec<Expr>, Vec<OrderKey>)> {
        // Of what is written through only columns that are read are computed.
        let computed =
            self.request.through == Through::Read && outputs.iter().any(|e| e.any(&mut |e| is_query(&e.node)));
        let large = outputs.iter().any(|e| e.has_more_nodes(MERGED_NODES_MAX));
        if computed || large || !order.iter().all(|o| self.is_movable(&o.expr)) {
            return Err((tree, conditions, order));
        }
        match self.make_candidate(tree, conditions, outputs) {
            Ok(()) => {
                self.request.candidate.as_mut().expect("just put candidate").order = order;
                Ok(())
            }
            Err((tree, conditions)) => Err((tree, conditions, order)),
        }
    }

    /// A derived table in FROM: merged, or rows of its own. `source`: what is known of it otherwise.
    pub(super) fn take_in(
        &mut self,
        plan: QueryPlan,
        candidate: Option<Box<Candidate>>,
        mut source: Source,
    ) -> Result<(Tree, Vec<StarColumn>)> {
        let plan = match candidate {
            None => plan,
            Some(candidate) => match self.fits(&candidate, &plan.outputs) {
                true => return self.merge_derived(plan, *candidate, source),
                false => {
                    // Its columns are expressions still, and no columns of a temporary table.
                    let types = source.columns.iter_mut().zip(&plan.outputs);
                    types.for_each(|(column, e)| column.data_type = compare::column_of(e));
                    let mut candidate = candidate;
                    if source.view.is_some() {
                        // What is in a view's text is not to be found in this statement's.
                        candidate.block.sources.iter_mut().for_each(Source::settle);
                    }
                    self.plan_put_up(plan, *candidate)?
                }
            },
        };
        let plan = as_kept(plan, &mut source.columns);
        let slot = self.block().shapes.len();
        self.block().shapes.push(Shape::Tuple(source.columns.len()));
        let unique = super::dependence::unique_outputs(&plan).filter(|_| source.lateral.is_none());
        self.add_source(Source { slot, unique, derived: Some(Box::new(plan)), ..source })
    }

    /// May it be merged where it stands?
    fn fits(&self, candidate: &Candidate, outputs: &[Expr]) -> bool {
        let block = self.current_block();
        let room = block.shapes.len() + candidate.block.shapes.len() < SLOTS_MAX
            && block.sources.len() + candidate.block.sources.len() < TABLES_MAX;
        // On the inner side of an outer join all of it is NULL at times, and its conditions belong to ON.
        let nulls = outputs.iter().all(|e| e.own_column().is_some());
        let inner = matches!(&candidate.tree, Tree::Leaf(_) | Tree::Join { left_outer: false, .. });
        let twice = |(i, e): (usize, &Expr)| outputs[..i].iter().any(|o| o.same(e));
        let told_apart = !block.rolls_up || !outputs.iter().enumerate().any(twice);
        room && told_apart && (self.scope.inner_side == 0 || (nulls && (inner || candidate.conditions.is_empty())))
    }

    /// Plans a candidate on its own after all.
    fn plan_put_up(&mut self, q: QueryPlan, candidate: Candidate) -> Result<QueryPlan> {
        let before = self.scope.blocks.pop().expect("inside a query block");
        self.scope.blocks.push(candidate.block);
        let keys = candidate.order.iter().map(|o| (&o.expr, o.descending)).collect();
        let wanted = Wanted { keys, ..Wanted::none() };
        let planned = self.join_plan(candidate.tree, candidate.conditions, &wanted);
        let block = self.scope.blocks.pop().expect("just pushed");
        self.scope.blocks.push(before);
        let (plan, in_order) = planned?;
        let mut q = QueryPlan { plan, shapes: block.shapes, ..q };
        if !candidate.order.is_empty() && !in_order {
            let slot = q.shapes.len();
            q = sorted(q, candidate.order, slot, None, false);
        }
        Ok(q)
    }

    fn merge_derived(
        &mut self,
        plan: QueryPlan,
        candidate: Candidate,
        source: Source,
    ) -> Result<(Tree, Vec<StarColumn>)> {
        only_conditions_count(&candidate);
        let slot = self.block().shapes.len();
        self.block().shapes.push(Shape::Tuple(0));
        let lifted = |mut e: Expr| {
            lift(&mut e, slot + 1, false);
            e
        };
        let stands_for = Some(plan.outputs.into_iter().map(lifted).collect());
        let own = candidate.block.sources.iter().enumerate().filter(|(_, s)| !s.hidden);
        let parts = own.map(|(i, _)| i + 1).collect();
        let check = source.check.map(|(view, e)| (view, lifted(e)));
        let (Tree::Leaf(at), star) = self.add_source(Source { slot, stands_for, parts, check, ..source })? else {
            unreachable!("a source is a leaf")
        };
        let Candidate { block, mut tree, conditions, order } = candidate;
        tree.each_leaf(&mut |leaf| *leaf += at + 1);
        tree.each_condition(&mut |e| lift(e, slot + 1, false));
        for mut source in block.sources {
            source.slot += slot + 1;
            source.hidden = true;
            source.settle();
            source.filter = source.filter.map(lifted);
            source.stands_for = source.stands_for.map(|exprs| exprs.into_iter().map(lifted).collect());
            source.lateral = source.lateral.map(|slots| slots << (slot + 1));
            if let Some(table) = &mut source.json_table {
                table.slot += slot + 1;
                lift(&mut table.doc, slot + 1, false);
            }
            self.block().sources.push(source);
        }
        self.block().shapes.extend(block.shapes);
        let conditions: Vec<Expr> = conditions.into_iter().map(lifted).collect();
        let mut came: Vec<&Expr> = conditions.iter().collect();
        tree.conditions(&mut came);
        self.scope.blocks.last_mut().expect("inside a query block").sources[at].came_with =
            came.into_iter().cloned().collect();
        match &mut tree {
            _ if self.scope.inner_side == 0 => self.block().moved.extend(conditions),
            Tree::Leaf(leaf) => {
                let filter = &mut self.block().sources[*leaf].filter;
                *filter = super::all_of(filter.take().into_iter().chain(conditions).collect());
            }
            Tree::Join { on, .. } => on.extend(conditions),
            Tree::Probe { .. } => unreachable!("a probe is an operand of a join"),
        }
        let moved = order.into_iter().map(|o| OrderKey { expr: lifted(o.expr), ..o });
        self.block().moved_order.extend(moved);
        Ok((tree, star))
    }

    /// ORDER BY of the one derived table that the block reads.
    pub(super) fn moved_order(&mut self) -> Vec<OrderKey> {
        let order = std::mem::take(&mut self.block().moved_order);
        let block = self.current_block();
        let alone = block.sources[0].stands_for.is_some() && block.sources[1..].iter().all(|s| s.hidden);
        if !alone {
            return Vec::new();
        }
        order.iter().for_each(|o| note_used(&block.sources, &o.expr));
        order
    }

    /// Notes which columns of merged tables the block reads: those of the columns that it has read of what stands for them.
    pub(super) fn note_merged(&self) {
        let sources = &self.current_block().sources;
        for source in sources {
            let Some(exprs) = &source.stands_for else { continue };
            let read = exprs.iter().zip(&source.used).filter(|(_, used)| used.get());
            read.for_each(|(e, _)| note_used(sources, e));
        }
    }

    /// Marks those that stand for tables that may be NULL now as such.
    pub(super) fn null_merged(&mut self) {
        let sources = &mut self.block().sources;
        for at in (0..sources.len()).rev().filter(|at| at + 1 < sources.len()).collect::<Vec<_>>() {
            if sources[at].stands_for.is_some() {
                sources[at].nullable |= sources[at + 1].nullable;
            }
        }
    }

    /// What stands for a merged table whose column is that expression, and which column.
    pub(super) fn merged_column(&self, e: &Expr) -> Option<(&Source, usize)> {
        if matches!(e.node, Node::Const(_) | Node::Param(_)) {
            return None;
        }
        let sources = self.current_block().sources.iter().filter(|s| !s.hidden);
        let same = |own: &Expr| own.same(e) || own.own_column().is_some_and(|n| e.own_column() == Some(n));
        let column = |s: &Source| s.stands_for.as_ref().and_then(|exprs| exprs.iter().position(same));
        sources.filter_map(|s| Some((s, column(s)?))).next()
    }
}

fn is_query(node: &Node) -> bool {
    matches!(node, Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. })
}

pub(super) fn note_used(sources: &[Source], e: &Expr) {
    e.any(&mut |e| {
        if let Node::Column { depth: 0, slot, column } = e.node
            && let Some(source) = sources.iter().find(|s| s.slot == slot as usize)
        {
            source.used[column as usize].set(true);
        }
        false
    });
}
