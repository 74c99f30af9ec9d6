//! SELECT: from its clauses to a plan, in three steps with a type between them.
//!
//! ```text
//!   bind      names become columns, clauses become expressions: a Bound
//!   rewrite   rules that change the Bound and keep its rows, in the order of a list
//!   choose    access paths and join order, then groups, windows, DISTINCT, ORDER BY and LIMIT over them: a QueryPlan
//! ```

mod bind;
mod choose;
mod ends;
mod rewrite;

use crate::join_tree::Tree;
use crate::names::{Block, Exports};
use crate::node::{Plan, QueryPlan};
use crate::pushdown::Pushed;
use crate::sorted::{OrderKey, OrderlessLimit};
use crate::{ColumnMeta, Planner};
use expr::Expr;
use rewrite::HandedOn;
use sql::ast::{self, Select};
use types::Result;

/// A SELECT whose names are resolved: what its plan is made of.
struct Bound {
    /// How the tables of FROM are joined; `None`: of no table.
    tree: Option<Tree>,
    outputs: Vec<Expr>,
    columns: Vec<ColumnMeta>,
    /// Conjuncts of WHERE, and of what views and conditions from outside have added.
    conditions: Vec<Expr>,
    /// GROUP BY.
    keys: Vec<Expr>,
    having: Option<Expr>,
    order: Vec<OrderKey>,
    limit: OrderlessLimit,
    distinct: bool,
    is: Traits,
}

/// What a SELECT is, whatever it is rewritten to.
#[derive(Clone, Copy)]
struct Traits {
    grouped: bool,
    /// Some of its aggregates are asked for by queries inside of it.
    asked: bool,
    windowed: bool,
    /// GROUP BY ... WITH ROLLUP
    rolls_up: bool,
    /// SQL_CALC_FOUND_ROWS
    counts_all: bool,
    /// STRAIGHT_JOIN
    straight: bool,
    has_order: bool,
    /// SELECT DISTINCT, also where its rows have turned out to be distinct as they are.
    asks_distinct: bool,
}

/// What the query around wants of a SELECT, besides its rows.
struct Surroundings<'s> {
    /// INSERT ... SELECT ... ON DUPLICATE KEY UPDATE asks for the columns of its tables.
    exports: bool,
    /// Its tables may become tables of a join around: it is the subquery of IN or EXISTS.
    is_candidate: bool,
    /// It may be merged into the query around.
    merging: bool,
    /// Conditions of the query around.
    pushed: Option<&'s mut Pushed>,
    /// Subqueries before this one that may become part of a join.
    first_candidate: usize,
}

impl Planner<'_> {
    pub(super) fn select(
        &mut self,
        query: &ast::Query,
        select: &Select,
        exports: Option<Exports>,
    ) -> Result<QueryPlan> {
        let is_candidate = std::mem::take(&mut self.request.is_candidate);
        let takes_candidates = std::mem::take(&mut self.request.takes_candidates);
        let merging = std::mem::take(&mut self.request.merging);
        let inner_side = std::mem::take(&mut self.scope.inner_side);
        let hints = self.settings.hints.as_ref().and_then(|h| h.block_at(Some(select.start)));
        let sums_alone = select.group.is_empty() || select.rollup;
        self.scope.blocks.push(Block {
            start: Some(select.start),
            hints,
            sums_alone,
            rolls_up: select.rollup,
            ..Block::default()
        });
        let clause = std::mem::replace(&mut self.scope.clause, "field list");
        let first_candidate = self.queries.candidates.len();
        let mut pushed = self.request.pushed.take();
        let around = Surroundings {
            exports: exports.is_some(),
            is_candidate,
            merging,
            pushed: pushed.as_mut(),
            first_candidate,
        };
        self.trace_select();
        let result = self.select_in_block(query, select, around);
        self.trace_planned(result.as_ref().ok());
        self.request.pushed = pushed;
        self.scope.inner_side = inner_side;
        self.queries.candidates.truncate(first_candidate);
        self.request.takes_candidates = takes_candidates;
        self.scope.clause = clause;
        self.scope.blocks.pop();
        result
    }

    fn select_in_block(
        &mut self,
        query: &ast::Query,
        select: &Select,
        mut around: Surroundings<'_>,
    ) -> Result<QueryPlan> {
        let mut bound = self.bind(query, select)?;
        self.trace_prepared(|print| bound.text(print));
        self.rewrite(&mut bound, &mut around)?;
        match self.hand_on(bound, &around) {
            HandedOn::Kept(bound) => self.choose(*bound),
            // Its tables are planned with those of the query around.
            HandedOn::Gone { outputs, columns } => Ok(QueryPlan {
                plan: Plan::One,
                shapes: Vec::new(),
                outputs,
                columns,
                correlated: false,
                varies: false,
                absorbed: false,
                reads: Vec::new(),
            }),
        }
    }
}
