//! FROM as a tree of joins.

use super::Planner;
use super::node::QueryPlan;
use super::slots::slots_of;
use expr::Expr;

/// FROM as written, outer joins turned to the left.
pub enum Tree {
    /// Index into the block's sources.
    Leaf(usize),
    Join {
        left_outer: bool,
        /// STRAIGHT_JOIN: the left side comes first.
        straight: bool,
        left: Box<Tree>,
        right: Box<Tree>,
        on: Vec<Expr>,
    },
    /// A subquery's tables, as an operand of the join around it: rows before it are asked for a match.
    Probe {
        anti: bool,
        /// Its rows, made distinct by these values, come before what they are compared with; those conditions are not in
        /// `on` then.
        first: Option<Vec<Expr>>,
        strategies: Strategies,
        right: Box<Tree>,
        on: Vec<Expr>,
    },
}

/// How a subquery may be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategies {
    /// For each row around it, by what is known then.
    pub loops: bool,
    /// By a hash table, or first of all with its rows made distinct.
    pub materialized: bool,
}

/// A column of `*`: (name, source, column), the expression when USING made one of two.
#[derive(Clone)]
pub struct StarColumn {
    pub name: String,
    pub source: usize,
    pub column: usize,
    pub merged: Option<Expr>,
}

impl Tree {
    pub(super) fn slots(&self, p: &Planner<'_>) -> u64 {
        match self {
            Tree::Leaf(i) => 1 << p.scope.blocks.last().expect("block").sources[*i].slot,
            Tree::Join { left, right, .. } => left.slots(p) | right.slots(p),
            Tree::Probe { right, .. } => right.slots(p),
        }
    }

    /// Adds the conditions that stand in it.
    pub(super) fn conditions<'t>(&'t self, out: &mut Vec<&'t Expr>) {
        match self {
            Tree::Leaf(_) => {}
            Tree::Join { left, right, on, .. } => {
                left.conditions(out);
                right.conditions(out);
                out.extend(on);
            }
            Tree::Probe { right, on, .. } => {
                right.conditions(out);
                out.extend(on);
            }
        }
    }

    pub(super) fn each_condition(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Tree::Leaf(_) => {}
            Tree::Join { left, right, on, .. } => {
                left.each_condition(f);
                right.each_condition(f);
                on.iter_mut().for_each(f);
            }
            Tree::Probe { right, on, .. } => {
                right.each_condition(f);
                on.iter_mut().for_each(f);
            }
        }
    }

    /// Moves conditions out of the inner joins that every row of the tree has passed.
    pub(super) fn take_inner(&mut self, which: &mut dyn FnMut(&Expr) -> bool, out: &mut Vec<Expr>) {
        if let Tree::Join { left_outer, left, right, on, .. } = self {
            left.take_inner(which, out);
            if !*left_outer {
                out.extend(on.extract_if(.., |e| which(e)));
                right.take_inner(which, out);
            }
        }
    }

    pub(super) fn each_leaf(&mut self, f: &mut dyn FnMut(&mut usize)) {
        match self {
            Tree::Leaf(i) => f(i),
            Tree::Join { left, right, .. } => {
                left.each_leaf(f);
                right.each_leaf(f);
            }
            Tree::Probe { right, .. } => right.each_leaf(f),
        }
    }

    /// Slots of tables beside it that anything in it reads, at any depth: these have to be known when its rows are asked for. A tree
    /// that needs none may be read once, for a hash table or to be made distinct.
    pub(super) fn needs(&self, p: &Planner<'_>) -> u64 {
        self.reads(p) & !self.slots(p)
    }

    pub(super) fn reads(&self, p: &Planner<'_>) -> u64 {
        match self {
            Tree::Leaf(i) => p.current_block().sources[*i].lateral.unwrap_or(0),
            Tree::Join { left, right, on, .. } => left.reads(p) | right.reads(p) | slots_of_all(p.subqueries(), on),
            Tree::Probe { right, on, .. } => right.reads(p) | slots_of_all(p.subqueries(), on),
        }
    }

    pub(super) fn leaves(&self, out: &mut Vec<usize>) {
        match self {
            Tree::Leaf(i) => out.push(*i),
            Tree::Join { left, right, .. } => {
                left.leaves(out);
                right.leaves(out);
            }
            Tree::Probe { right, .. } => right.leaves(out),
        }
    }
}

pub(super) fn slots_of_all(subqueries: &[QueryPlan], conditions: &[Expr]) -> u64 {
    conditions.iter().fold(0, |bits, e| bits | slots_of(subqueries, e))
}
