//! Semi-joins and antijoins: IN and EXISTS of WHERE joined to the tables around them.
//!
//! ```text
//!   expression     a subquery that could be joined is resolved, and kept as a Candidate before its tables are planned
//!   WHERE's end    a conjunct that is one is absorbed: its tables become tables of the block around it, as the right side
//!                  of a probe (Tree::Probe); all others are planned on their own, as ever
//!   join order     a probe comes when what it compares is known; or first, its rows made distinct, when that is cheaper
//! ```
//!
//! `NOT IN` is an antijoin only where neither side can be NULL: else a NULL makes it unknown.

use super::Planner;
use super::access::Wanted;
use super::hints::SubqueryHint;
use super::join_tree::Strategies;
use super::join_tree::Tree;
use super::names::{Block, Source};
use super::node::QueryPlan;
use super::rewrite::Classes;
use super::slots::slots_of;
use super::sorted::OrderKey;
use super::source::Through;
use super::tables::{hash_pairs, take_within};
use crate::comparison::compare_exprs;
use catalog::Table;
use expr::operator::CmpOp;
use expr::{Expr, Node};
use sql::ast::{self, Expr as Ast, UnaryOp};
use sql::hints::SemijoinStrategy;
use types::Result;

/// Slots of a block whose sets are kept in words.
pub(super) const SLOTS_MAX: usize = 56;

/// A subquery that is resolved and not planned.
pub struct Candidate {
    pub(super) block: Block,
    pub(super) tree: Tree,
    pub(super) conditions: Vec<Expr>,
    /// Of a derived table.
    pub(super) order: Vec<OrderKey>,
}

impl Planner<'_> {
    /// Is a conjunct of the condition a subquery that might be joined?
    pub(super) fn asks_subquery(&self, filter: Option<ast::ExprId>) -> bool {
        let Some(filter) = filter else { return false };
        match &self.parsed[filter] {
            Ast::And(list) => self.parsed.list(*list).iter().any(|e| self.asks_subquery(Some(*e))),
            Ast::InQuery { .. } | Ast::Exists(_) => true,
            Ast::Unary { op: UnaryOp::Not, operand } => matches!(self.parsed[*operand], Ast::Exists(_)),
            _ => false,
        }
    }

    /// Makes the block at hand a candidate, if its rows alone are what the subquery is about and its tables can be joined to others.
    pub(super) fn make_candidate(
        &mut self,
        tree: Tree,
        conditions: Vec<Expr>,
        outputs: &[Expr],
    ) -> Result<(), (Tree, Vec<Expr>)> {
        let block = self.current_block();
        let plain = |s: &Source| {
            let query = s.derived.as_ref();
            let moves = match &s.json_table {
                None => s.lateral.is_none(),
                Some(table) => self.request.through != Through::Read && self.is_movable(&table.doc),
            };
            moves
                && s.working.is_none()
                && s.read == engine::Read::Consistent
                && query.is_none_or(|q| !q.correlated)
                && s.filter.as_ref().is_none_or(|e| self.is_movable(e))
        };
        let mut exprs = conditions.iter().chain(outputs).collect();
        tree.conditions(&mut exprs);
        // What a row that is inserted is asked stays what it is.
        let moves = self.request.through != Through::Insert;
        if moves && !(block.sources.iter().all(plain) && exprs.into_iter().all(|e| self.is_movable(e))) {
            return Err((tree, conditions));
        }
        self.note_merged();
        let block = std::mem::take(self.block());
        self.request.candidate = Some(Box::new(Candidate { block, tree, conditions, order: Vec::new() }));
        Ok(())
    }

    /// The same wherever it is computed, and however often?
    pub(super) fn is_movable(&self, e: &Expr) -> bool {
        !e.any(&mut |e| match &e.node {
            Node::Subquery { query, .. }
            | Node::Exists { query, .. }
            | Node::InSubquery { query, .. }
            | Node::Quantified { query, .. } => {
                let planned = &self.queries.planned[*query];
                planned.correlated || planned.varies || self.queries.candidates.iter().any(|(at, _)| at == query)
            }
            Node::SetUserVariable(..) | Node::UserVariable(_) | Node::Aggregate(_) | Node::Window(_) => true,
            Node::Call(f, _) => f.volatile,
            _ => false,
        })
    }

    /// Absorbs those conditions that are candidates since `first`, and plans the other ones.
    pub(super) fn join_subqueries(
        &mut self,
        mut tree: Option<Tree>,
        conditions: &mut Vec<Expr>,
        first: usize,
        ordered: bool,
    ) -> Result<Option<Tree>> {
        let mut kept = Vec::with_capacity(conditions.len());
        for e in conditions.drain(..) {
            let at = match &e.node {
                Node::Exists { query, .. } | Node::InSubquery { query, .. } => {
                    self.queries.candidates[first..].iter().position(|(i, _)| i == query)
                }
                _ => None,
            };
            let around = match (&tree, at) {
                // Rows that are wanted in order, and few of them, are asked one by one.
                (Some(Tree::Leaf(_)), Some(at))
                    if ordered && !self.queries.planned[self.queries.candidates[first + at].0].correlated =>
                {
                    None
                }
                (Some(_), at) => at,
                _ => None,
            };
            let Some(strategies) = around.and_then(|at| self.joinable(&e, &self.queries.candidates[first + at].1))
            else {
                kept.push(e);
                continue;
            };
            let (query, candidate) = self.queries.candidates.remove(first + around.expect("it was put candidate"));
            self.queries.planned[query].absorbed = true;
            let outputs = std::mem::take(&mut self.queries.planned[query].outputs);
            tree = tree.map(|tree| self.absorb(tree, e, *candidate, outputs, strategies)).transpose()?;
        }
        *conditions = kept;
        for (query, candidate) in self.queries.candidates.split_off(first) {
            self.plan_aside(query, *candidate)?;
        }
        Ok(tree)
    }

    /// Plans a subquery on its own after all.
    fn plan_aside(&mut self, query: usize, candidate: Candidate) -> Result<()> {
        self.scope.blocks.push(candidate.block);
        let planned = self.join_plan(candidate.tree, candidate.conditions, &Wanted::none());
        let block = self.scope.blocks.pop().expect("just pushed");
        let (plan, _) = planned?;
        let q = &mut self.queries.planned[query];
        (q.plan, q.shapes) = (plan, block.shapes);
        Ok(())
    }

    /// How the subquery of a condition may be joined to the block at hand, if it may.
    fn joinable(&self, e: &Expr, candidate: &Candidate) -> Option<Strategies> {
        let anti = match &e.node {
            Node::Exists { negated, .. } => *negated,
            Node::InSubquery { query, negated, operands, .. } => {
                let outputs = &self.queries.planned[*query].outputs;
                let known = operands.iter().all(|o| self.is_movable(o) && slots_of(&self.queries.planned, o) != 0);
                let nullable = operands.iter().chain(outputs).any(|e| e.ty.nullable);
                if !known || (*negated && nullable) {
                    return None;
                }
                *negated
            }
            _ => return None,
        };
        let outside = matches!(e.node, Node::InSubquery { .. }) || reads_around(candidate);
        let slots = self.current_block().shapes.len() + candidate.block.shapes.len();
        if !outside || slots > SLOTS_MAX || self.switched_off("semijoin") {
            return None;
        }
        let hint = candidate.block.hints.and_then(|b| self.settings.hints.as_ref().and_then(|h| h.subquery(b)));
        let off = |flag: &str| !anti && self.switched_off(flag);
        let mut strategies = Strategies { loops: !off("firstmatch"), materialized: !off("materialization") };
        use SemijoinStrategy::{FirstMatch, Materialization};
        match hint {
            Some(SubqueryHint::Strategy { .. }) => return None,
            Some(SubqueryHint::Semijoin(false, not)) if not.is_empty() => return None,
            Some(SubqueryHint::Semijoin(on, list)) => {
                let named =
                    Strategies { loops: list.contains(&FirstMatch), materialized: list.contains(&Materialization) };
                match on {
                    true if named.loops || named.materialized => strategies = named,
                    true => {}
                    false => {
                        strategies.loops &= !named.loops;
                        strategies.materialized &= !named.materialized;
                    }
                }
            }
            None => {}
        }
        (strategies.loops || strategies.materialized).then_some(strategies)
    }

    /// Joins a subquery's tables to those of the block around it.
    fn absorb(
        &mut self,
        tree: Tree,
        e: Expr,
        candidate: Candidate,
        outputs: Vec<Expr>,
        strategies: Strategies,
    ) -> Result<Tree> {
        if matches!(e.node, Node::Exists { .. }) {
            only_conditions_count(&candidate);
        }
        let Candidate { block, tree: mut right, mut conditions, .. } = candidate;
        let (slots, sources) = (self.block().shapes.len(), self.block().sources.len());
        conditions.iter_mut().for_each(|e| lift(e, slots, true));
        right.each_leaf(&mut |leaf| *leaf += sources);
        right.each_condition(&mut |e| lift(e, slots, true));
        for mut source in block.sources {
            source.slot += slots;
            source.hidden = true;
            source.settle();
            if let Some(filter) = &mut source.filter {
                lift(filter, slots, true);
            }
            let exprs = source.stands_for.iter_mut().flatten();
            exprs.for_each(|e| lift(e, slots, true));
            self.block().sources.push(source);
        }
        self.block().shapes.extend(block.shapes);
        let anti = match e.node {
            Node::Exists { negated, .. } => negated,
            Node::InSubquery { negated, operands, .. } => {
                for (a, mut b) in operands.into_iter().zip(outputs) {
                    lift(&mut b, slots, true);
                    conditions.push(compare_exprs(CmpOp::Eq, a, b)?);
                }
                negated
            }
            _ => unreachable!("joinable says so"),
        };
        // What its inner joins compare with tables around it is a condition of the whole: their rows can be kept without it.
        let own = right.slots(self);
        let subqueries = &self.queries.planned;
        right.take_inner(&mut |e| slots_of(subqueries, e) & !own != 0, &mut conditions);
        let right = Box::new(right);
        // At most one row of it is equal: a join like any other.
        if !anti && self.is_unique(&tree, &right, &conditions) {
            let left = Box::new(tree);
            return Ok(Tree::Join { left_outer: false, straight: false, left, right, on: conditions });
        }
        let probe = Tree::Probe { anti, first: None, strategies, right, on: conditions };
        let (left, right) = (Box::new(tree), Box::new(probe));
        Ok(Tree::Join { left_outer: false, straight: false, left, right, on: Vec::new() })
    }

    /// Decides which probes come first, as distinct rows that others are looked up by: one after the other, where that is
    /// cheaper. The conditions that these are compared by become conditions of the join.
    pub(super) fn place_probes(
        &self,
        operands: &mut [Tree],
        conditions: &mut Vec<Expr>,
        bound: u64,
        straight: &[(u64, u64)],
    ) -> Result<()> {
        for i in 0..operands.len() {
            let Tree::Probe { anti: false, strategies: Strategies { materialized: true, .. }, right, on, .. } =
                &operands[i]
            else {
                continue;
            };
            let own = right.slots(self);
            if right.needs(self) != 0 {
                continue;
            }
            let Some(values) = distinct_values(&self.queries.planned, on, own) else { continue };
            let before = self.whole_cost(operands, conditions.clone(), bound, straight)?;
            let mut moved = conditions.clone();
            let Tree::Probe { first, on, .. } = &mut operands[i] else { unreachable!("looked at above") };
            let inside = take_within(&self.queries.planned, on, own);
            let around = std::mem::replace(on, inside);
            moved.extend(around.iter().cloned());
            *first = Some(values);
            if self.whole_cost(operands, moved.clone(), bound, straight)? < before {
                *conditions = moved;
            } else if let Tree::Probe { first, on, .. } = &mut operands[i] {
                *first = None;
                on.extend(around);
            }
        }
        Ok(())
    }

    fn whole_cost(
        &self,
        operands: &[Tree],
        mut conditions: Vec<Expr>,
        bound: u64,
        straight: &[(u64, u64)],
    ) -> Result<f64> {
        let all = operands.iter().fold(0, |bits, t| bits | t.slots(self));
        let classes = Classes::close(&mut conditions, all);
        let refs: Vec<&Tree> = operands.iter().collect();
        Ok(self.join_order(&refs, &conditions, &classes, bound, straight)?.cost)
    }

    /// Is a unique key of a single table equal to columns around it?
    fn is_unique(&self, tree: &Tree, right: &Tree, on: &[Expr]) -> bool {
        let Tree::Leaf(leaf) = right else { return false };
        let source = &self.current_block().sources[*leaf];
        let Some(table) = source.table.as_ref().filter(|t| t.virtual_rows.is_none()) else { return false };
        let pairs = hash_pairs(&self.queries.planned, on, 1 << source.slot, tree.slots(self));
        let equal = |column: usize| {
            pairs.iter().any(
                |(_, inner)| matches!(inner.node, Node::Column { depth: 0, column: c, .. } if c as usize == column),
            )
        };
        let whole = |t: &Table| {
            t.indexes.iter().any(|i| i.unique && i.parts.iter().all(|p| p.key.prefix == 0 && equal(p.column)))
        };
        whole(table)
    }
}

/// The select list of EXISTS is not computed: columns that only it reads are not used.
pub(super) fn only_conditions_count(candidate: &Candidate) {
    let mut exprs: Vec<&Expr> = candidate.conditions.iter().collect();
    candidate.tree.conditions(&mut exprs);
    for source in &candidate.block.sources {
        let own = source.filter.as_ref();
        for (i, used) in source.used.iter().enumerate() {
            let read = (0, source.slot as u16, i as u16);
            let reads = |e: &Expr| match e.node {
                Node::Column { depth, slot, column } => (depth, slot, column) == read,
                _ => false,
            };
            used.set(exprs.iter().copied().chain(own).any(|e| e.any(&mut |e| reads(e))));
        }
    }
}

/// Does the subquery read columns of the block just around it?
fn reads_around(candidate: &Candidate) -> bool {
    let reads = |e: &Expr| e.any(&mut |e| matches!(e.node, Node::Column { depth: 1, .. }));
    let mut exprs: Vec<&Expr> = candidate.conditions.iter().collect();
    candidate.tree.conditions(&mut exprs);
    exprs.into_iter().any(reads)
}

/// An expression of a query as one of the block around it, where its slots begin at `first`. `deeper`: it was one deeper than
/// that block, as a subquery is and a derived table is not.
pub(super) fn lift(e: &mut Expr, first: usize, deeper: bool) {
    match &mut e.node {
        Node::Column { depth: 0, slot, .. } => *slot += first as u16,
        Node::Column { depth, .. } => *depth -= deeper as u8,
        Node::Outer { depth: 1, expr } if deeper => {
            *e = std::mem::replace(expr, Expr::null());
            return;
        }
        Node::Outer { depth, .. } => *depth -= deeper as u8,
        _ => {}
    }
    e.children_mut(&mut |c| lift(c, first, deeper));
}

/// Those conditions of a probe that are equalities between its own columns and others, when all that read others are:
/// then its rows can be made distinct by their own side.
pub(super) fn distinct_values(subqueries: &[QueryPlan], on: &[Expr], own: u64) -> Option<Vec<Expr>> {
    let around: Vec<Expr> = on.iter().filter(|e| slots_of(subqueries, e) & !own != 0).cloned().collect();
    let pairs = hash_pairs(subqueries, &around, own, !own);
    let all = pairs.len() == around.len() && !pairs.is_empty();
    all.then(|| pairs.into_iter().map(|(_, inner)| inner).collect())
}
