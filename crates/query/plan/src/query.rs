//! Query blocks and set operations.

use crate::Planner;
use crate::access::Wanted;
use crate::join_tree::StarColumn;
use crate::meta::plain_meta;
use crate::names::{AliasRule, Block, Exports, Source};
use crate::node::{Plan, QueryPlan, SetKind};
use crate::parameter::{self, Takes};
use crate::recursive::Working;
use crate::set::same_width;
use crate::slots::subquery_of;
use crate::sorted::{OrderKey, OrderlessLimit, sorted};
use expr::function::{Function, Rule, unlisted};
use expr::{Expr, Node, Shape, common, compare, convert, error, operand};
use sql::ast::{self, Expr as Ast, ExprId, QueryBody, QueryId};
use types::codes::*;
use types::{DataType, Result, SqlError, err};

/// A common table expression in scope.
#[derive(Clone)]
pub struct Cte {
    pub name: String,
    pub columns: Vec<ast::Name>,
    pub query: QueryId,
    /// Of WITH RECURSIVE, and it reads from a table of its own name.
    pub recursive: bool,
    /// While its own query is planned.
    pub working: Option<Box<Working>>,
    /// How many blocks lie around its WITH clause: names in its query mean columns of these only.
    pub outside: usize,
}

/// Query blocks that one statement is planned as, at most: common table expressions and views that read each other twice double
/// with each level. Some 200 MiB of plans.
const BLOCKS_PLANNED_MAX: usize = 1 << 15;

impl Planner<'_> {
    pub(super) fn subqueries(&self) -> &[QueryPlan] {
        &self.queries.planned
    }

    pub(super) fn current_block(&self) -> &Block {
        self.scope.blocks.last().expect("inside a query block")
    }

    /// The common table expression of that name, and its place among those in scope.
    pub(super) fn find_cte(&self, name: &str) -> Option<usize> {
        self.scope.ctes.iter().rposition(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// A subquery of an expression: planned on its own, run through its number. `width`: columns that it must have, 0 for any.
    pub fn subquery(&mut self, id: QueryId, width: usize) -> Result<usize> {
        let clause = std::mem::replace(&mut self.scope.clause, "field list");
        let around = std::mem::replace(&mut self.found.varies, false);
        let plan = self.query(id, false);
        self.scope.clause = clause;
        let candidate = self.request.candidate.take();
        let mut plan = plan?;
        // One that is nothing but what it shows is called as often as that.
        let varies = |e: &Expr| match subquery_of(e) {
            Some(query) => self.queries.planned[query].varies,
            None => matches!(&e.node, Node::Call(f, _) if f.volatile),
        };
        let is_called = self.is_expression(id) && plan.outputs.iter().any(|e| e.any(&mut |e| varies(e)));
        plan.varies = self.found.varies || is_called;
        self.found.varies |= around;
        if width != 0 && plan.outputs.len() != width {
            return Err(err!(ER_OPERAND_COLUMNS, width));
        }
        self.queries.planned.push(plan);
        let at = self.queries.planned.len() - 1;
        self.queries.candidates.extend(candidate.map(|candidate| (at, candidate)));
        Ok(at)
    }

    /// Error 1235 for a LIMIT in a subquery of IN, ALL, ANY or SOME.
    pub fn refuse_limit(&self, id: QueryId) -> Result<()> {
        match self.parsed[id].limit {
            Some(_) => Err(error::unsupported("LIMIT & IN/ALL/ANY/SOME subquery")),
            None => Ok(()),
        }
    }

    /// The subquery of IN or EXISTS: where it may become part of a join it is a candidate.
    pub fn joined_subquery(&mut self, id: QueryId, width: usize) -> Result<usize> {
        let query = &self.parsed[id];
        let plain = query.with.is_none() && query.limit.is_none() && query.locking.is_empty();
        self.request.is_candidate =
            self.request.takes_candidates && plain && matches!(query.body, QueryBody::Select(_));
        let at = self.subquery(id, width);
        self.request.is_candidate = false;
        at
    }

    /// Plans a query expression. `top`: its INTO was looked at by the caller. Errors 1234, 1436, 1473, 1317, 3024.
    pub fn query(&mut self, id: QueryId, top: bool) -> Result<QueryPlan> {
        if let Some((used, size)) = sync::stack::overrun() {
            return Err(err!(ER_STACK_OVERRUN_NEED_MORE, used, size, size / 2));
        }
        self.budget.blocks_planned += 1;
        if self.budget.blocks_planned > BLOCKS_PLANNED_MAX {
            return Err(err!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT));
        }
        error::check_interrupt()?;
        let parsed = self.parsed;
        let query = &parsed[id];
        if query.into.is_some() && !top {
            return Err(SqlError::new(
                ER_CANT_USE_OPTION_HERE,
                "Misplaced INTO clause, INTO is not allowed inside subqueries",
            ));
        }
        self.scope.level += 1;
        let plan = if self.is_too_deep(query) {
            Err(err!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT))
        } else {
            self.query_at_level(query)
        };
        self.scope.level -= 1;
        plan
    }

    fn query_at_level(&mut self, query: &ast::Query) -> Result<QueryPlan> {
        let exports = self.request.exports.take().filter(|_| matches!(query.body, QueryBody::Select(_)));
        let first_read = self.queries.outer_reads.len();
        let plan = self.with_tables(query.with.as_deref(), |p| p.query_body(query, exports));
        let reads = self.reads_outside(first_read);
        Ok(QueryPlan { correlated: !reads.is_empty(), reads, ..plan? })
    }

    /// Plans the query of a common table expression, which sees no tables of the queries between its WITH clause and this block.
    pub(super) fn within_with<T>(&mut self, outside: usize, plan: impl FnOnce(&mut Self) -> T) -> T {
        let mut hidden = Vec::new();
        for at in outside..self.scope.blocks.len() {
            if !std::mem::replace(&mut self.scope.blocks[at].unseen, true) {
                hidden.push(at);
            }
        }
        let result = plan(self);
        for at in hidden {
            self.scope.blocks[at].unseen = false;
        }
        result
    }

    /// With the tables of a WITH clause in scope.
    pub(super) fn with_tables<T>(
        &mut self,
        with: Option<&ast::With>,
        plan: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let Some(with) = with else { return plan(self) };
        let before = self.scope.ctes.len();
        for t in &with.tables {
            let name = self.parsed.name(t.name).to_string();
            if self.scope.ctes[before..].iter().any(|c| c.name.eq_ignore_ascii_case(&name)) {
                self.scope.ctes.truncate(before);
                return Err(err!(ER_NONUNIQ_TABLE, name));
            }
            let reads_itself = |t: &ast::TableRef| match t {
                ast::TableRef::Table(factor) => {
                    factor.name.schema.is_none() && self.parsed.name(factor.name.name).eq_ignore_ascii_case(&name)
                }
                _ => false,
            };
            let recursive = with.recursive && self.parsed.table_refs()[t.tables.clone()].iter().any(reads_itself);
            let columns = t.columns.clone();
            let outside = self.scope.blocks.len();
            self.scope.ctes.push(Cte { name, columns, query: t.query, recursive, working: None, outside });
        }
        let result = plan(self);
        self.scope.ctes.truncate(before);
        result
    }

    fn query_body(&mut self, query: &ast::Query, exports: Option<Exports>) -> Result<QueryPlan> {
        let parsed = self.parsed;
        match &query.body {
            QueryBody::Select(select) => self.select(query, select, exports),
            QueryBody::Table(name) => {
                self.scope.blocks.push(Block::default());
                let result = self.table_rows(query, *name);
                self.scope.blocks.pop();
                result
            }
            QueryBody::Values(rows) => {
                self.scope.blocks.push(Block::default());
                let result = self.values(query, rows);
                self.scope.blocks.pop();
                result
            }
            QueryBody::SetOp { op, all, left, right } => {
                let (left, right) = self.plan_sides(query, (*op, *all), *left, *right)?;
                same_width(&left, &right)?;
                let kind = match op {
                    ast::SetOp::Union => SetKind::Union,
                    ast::SetOp::Intersect => SetKind::Intersect,
                    ast::SetOp::Except => SetKind::Except,
                };
                self.set_operation(query, kind, *all, left, right)
            }
            QueryBody::Nested(inner) => {
                let inner = self.plan_nested(query, *inner)?;
                let _ = parsed;
                self.over(query, inner)
            }
        }
    }

    /// ORDER BY and LIMIT around a query in parentheses.
    fn over(&mut self, query: &ast::Query, inner: QueryPlan) -> Result<QueryPlan> {
        if query.order.is_empty() && query.limit.is_none() {
            return Ok(inner);
        }
        let columns = inner.columns.clone();
        let column = |(i, e): (usize, &Expr)| Expr::column(0, i, compare::column_of(e));
        let outputs: Vec<Expr> = inner.outputs.iter().enumerate().map(column).collect();
        let shapes = vec![Shape::Tuple(outputs.len())];
        let plan = Plan::Derived { slot: 0, query: Box::new(inner), lateral: false, alias: String::new() };
        self.ordered_rows(
            query,
            QueryPlan {
                plan,
                shapes,
                outputs,
                columns,
                correlated: false,
                varies: false,
                absorbed: false,
                reads: Vec::new(),
            },
        )
    }

    /// ORDER BY over names and positions of the result only, and LIMIT.
    pub(super) fn ordered_rows(&mut self, query: &ast::Query, mut q: QueryPlan) -> Result<QueryPlan> {
        let mut block = Block { alias_rule: AliasRule::First, ..Block::default() };
        for (c, e) in q.columns.iter().zip(&q.outputs) {
            block.aliases.push((c.name.clone(), e.clone()));
        }
        self.scope.blocks.push(block);
        let order = self.order(&query.order, &q.outputs.clone());
        let limit = self.limit(query.limit);
        self.scope.blocks.pop();
        let (order, limit) = (order?, limit?);
        if let Some(at) = order.iter().position(|o| o.expr.has_aggregate()) {
            return Err(if matches!(q.plan, Plan::SetOp(_)) {
                err!(ER_AGGREGATE_ORDER_FOR_UNION, at + 1)
            } else {
                err!(ER_AGGREGATE_ORDER_NON_AGG_QUERY, at + 1)
            });
        }
        if !order.is_empty() {
            let slot = q.shapes.len();
            q = sorted(q, order, slot, limit.clone(), false);
        }
        q.plan = limited(q.plan, limit);
        Ok(q)
    }

    pub(super) fn values(&mut self, query: &ast::Query, rows: &[ast::ExprList]) -> Result<QueryPlan> {
        let mut all = Vec::new();
        for r in rows {
            let row = self.exprs(*r)?;
            if row.is_empty() && all.is_empty() {
                return Err(err!(ER_TABLE_VALUE_CONSTRUCTOR_MUST_HAVE_COLUMNS));
            }
            if all.first().is_some_and(|f: &Vec<Expr>| f.len() != row.len()) {
                return Err(err!(ER_WRONG_VALUE_COUNT_ON_ROW, all.len() + 1));
            }
            all.push(row);
        }
        let width = all[0].len();
        let mut outputs = Vec::new();
        let mut columns = Vec::new();
        for i in 0..width {
            let column: Vec<&Expr> = all.iter().map(|r| &r[i]).collect();
            let ty = compare::column_of_all(&column, common::common_type(&column, "VALUES")?);
            all.iter_mut().for_each(|row| as_in_column(&mut row[i], ty));
            let e = Expr::column(0, i, ty);
            columns.push(plain_meta(&format!("column_{i}"), &e));
            outputs.push(e);
        }
        let plan = Plan::Values { slot: 0, rows: all };
        let q = QueryPlan {
            plan,
            shapes: vec![Shape::Tuple(width)],
            outputs,
            columns,
            correlated: false,
            varies: false,
            absorbed: false,
            reads: Vec::new(),
        };
        self.ordered_rows(query, q)
    }

    fn table_rows(&mut self, query: &ast::Query, name: ast::ObjectName) -> Result<QueryPlan> {
        let table = self.table(name, |t| t.read = true)?;
        if table.view.is_some() {
            let (tree, star) = self.view(&table, None)?;
            self.locking(&query.locking)?;
            return self.whole_table(query, tree, star);
        }
        let source = Source::of_table(0, &table, None);
        self.block().shapes.push(match table.virtual_rows {
            Some(_) => Shape::Tuple(table.columns.len()),
            None => Shape::Row(table),
        });
        self.block().sources.push(source);
        self.locking(&query.locking)?;
        let star: Vec<StarColumn> = self.block().sources[0]
            .columns
            .iter()
            .enumerate()
            .filter(|(_, c)| !c.hidden && !c.invisible)
            .map(|(i, c)| StarColumn { name: c.name.clone(), source: 0, column: i, merged: None })
            .collect();
        self.whole_table(query, super::join_tree::Tree::Leaf(0), star)
    }

    /// All columns of the one table of the block.
    fn whole_table(
        &mut self,
        query: &ast::Query,
        tree: super::join_tree::Tree,
        star: Vec<StarColumn>,
    ) -> Result<QueryPlan> {
        let outputs: Vec<Expr> = star.iter().map(|s| self.star_expr(s)).collect();
        let columns = star.iter().zip(&outputs).map(|(s, e)| self.meta(&s.name, e)).collect();
        let (plan, _) = self.join_plan(tree, Vec::new(), &Wanted::none())?;
        let shapes = std::mem::take(&mut self.block().shapes);
        self.ordered_rows(
            query,
            QueryPlan {
                plan,
                shapes,
                outputs,
                columns,
                correlated: false,
                varies: false,
                absorbed: false,
                reads: Vec::new(),
            },
        )
    }

    /// `ORDER BY 2`: the select expression at that position.
    pub(super) fn position(&self, id: ExprId, outputs: &[Expr]) -> Result<Option<Expr>> {
        let Ast::Int(n) = self.parsed[id] else { return Ok(None) };
        match usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).and_then(|i| outputs.get(i)) {
            Some(e) => Ok(Some(e.clone())),
            None => Err(expr::error::unknown_column(&n.to_string(), self.scope.clause)),
        }
    }

    pub(super) fn order(&mut self, items: &[ast::OrderItem], outputs: &[Expr]) -> Result<Vec<OrderKey>> {
        let clause = std::mem::replace(&mut self.scope.clause, "order clause");
        let mut out: Vec<OrderKey> = Vec::new();
        for item in items {
            let e = match self.position(item.expr, outputs) {
                Ok(Some(e)) => Ok(e),
                Ok(None) => self.expr(item.expr),
                Err(e) => Err(e),
            };
            let e = match e {
                Ok(e) => e,
                Err(e) => {
                    self.scope.clause = clause;
                    return Err(e);
                }
            };
            // A constant orders nothing, and is not computed.
            if !e.is_constant() && !out.iter().any(|o| o.expr.same(&e)) {
                out.push(OrderKey { expr: operand::enum_number(e), descending: item.descending });
            }
        }
        self.scope.clause = clause;
        Ok(out)
    }

    pub(super) fn limit(&mut self, limit: Option<ast::Limit>) -> Result<OrderlessLimit> {
        let Some(limit) = limit else { return Ok(None) };
        let like = parameter::integer_type().unsigned();
        let count = self.expr_for(limit.count, &like, Takes::Stored)?;
        let offset = limit.offset.map(|o| self.expr_for(o, &like, Takes::Stored)).transpose()?;
        Ok(Some((count, offset)))
    }
}

/// What VALUES puts into a column of another type or with more digits.
static IN_COLUMN: Function =
    unlisted("in column", 1, 1, Rule::First, |a| convert::widen(a.value(0)?, &a.args[0].ty, a.ty, a.run));

fn as_in_column(e: &mut Expr, ty: DataType) {
    let is_number = ty.kind.is_numeric() || ty.kind.is_temporal();
    if is_number && (e.ty.kind, e.ty.decimals) != (ty.kind, ty.decimals) {
        let own = std::mem::replace(e, Expr::null());
        *e = Expr::new(Node::Call(&IN_COLUMN, vec![own]), ty);
    }
}

/// A VALUES statement sends numbers as they are; as a table, or beside other queries, they are those of its columns.
pub fn numbers_as_written(plan: &mut Plan) {
    match plan {
        Plan::Values { rows, .. } => {
            for e in rows.iter_mut().flatten() {
                if let Node::Call(f, args) = &mut e.node
                    && std::ptr::eq(*f, &IN_COLUMN)
                    && e.ty.kind.is_numeric()
                {
                    *e = args.pop().expect("one argument");
                }
            }
        }
        Plan::Limit { input, .. } => numbers_as_written(input),
        Plan::Sort(sort) => numbers_as_written(&mut sort.input),
        _ => {}
    }
}

/// The rows that LIMIT lets through; without a limit all of them.
pub fn limited(plan: Plan, limit: Option<(Expr, Option<Expr>)>) -> Plan {
    match limit {
        Some((count, offset)) => Plan::Limit { input: Box::new(plan), count, offset, count_all: false },
        None => plan,
    }
}
