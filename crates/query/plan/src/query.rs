//! Query blocks and set operations.

use super::Planner;
use super::access::Wanted;
use super::meta::plain_meta;
use super::names::{AliasRule, Block, Exports, Source, Windows, given_name};
use super::node::{Plan, QueryPlan, SetKind};
use super::pushdown::Pushed;
use super::recursive::Working;
use super::set::same_width;
use super::sorted::sorted;
use super::tables::{StarColumn, filtered};
use crate::ColumnMeta;
use crate::parameter::{self, Takes};
use engine::{LockMode, Read, Wait};
use expr::Shape;
use expr::aggregate::AggregateKind;
use expr::error;
use expr::{Expr, Node, convert};
use sql::ast::{self, Expr as Ast, ExprId, QueryBody, QueryId, Select, SelectItem};
use types::{Result, SqlError, err};

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

const FOUND_ROWS_DEPRECATED: &str = "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider \
    using two separate queries instead.";

/// Query blocks that one statement is planned as, at most: common table expressions and views that read each other twice double
/// with each level. Some 200 MiB of plans.
const BLOCKS_PLANNED_MAX: usize = 1 << 15;

/// LIMIT with its OFFSET.
pub type OrderlessLimit = Option<(Expr, Option<Expr>)>;

/// ORDER BY entry, resolved.
pub struct OrderKey {
    pub expr: Expr,
    pub descending: bool,
}

impl Planner<'_> {
    pub(super) fn subqueries(&self) -> &[QueryPlan] {
        &self.subqueries
    }

    pub(super) fn current_block(&self) -> &Block {
        self.blocks.last().expect("inside a query block")
    }

    /// The common table expression of that name, and its place among those in scope.
    pub(super) fn find_cte(&self, name: &str) -> Option<usize> {
        self.ctes.iter().rposition(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// A subquery of an expression: planned on its own, run through its number. `width`: columns that it must have, 0 for any.
    pub fn subquery(&mut self, id: QueryId, width: usize) -> Result<usize> {
        let clause = std::mem::replace(&mut self.clause, "field list");
        let plan = self.query(id, false);
        self.clause = clause;
        let captured = self.captured.take();
        let plan = plan?;
        if width != 0 && plan.outputs.len() != width {
            return Err(SqlError::new(1241, format!("Operand should contain {width} column(s)")));
        }
        self.subqueries.push(plan);
        let at = self.subqueries.len() - 1;
        self.aside.extend(captured.map(|aside| (at, aside)));
        Ok(at)
    }

    /// Error 1235 for a LIMIT in a subquery of IN, ALL, ANY or SOME.
    pub fn refuse_limit(&self, id: QueryId) -> Result<()> {
        match self.parsed[id].limit {
            Some(_) => Err(error::unsupported("LIMIT & IN/ALL/ANY/SOME subquery")),
            None => Ok(()),
        }
    }

    /// The subquery of IN or EXISTS: where it may become part of a join it is put aside.
    pub fn joined_subquery(&mut self, id: QueryId, width: usize) -> Result<usize> {
        let query = &self.parsed[id];
        let plain = query.with.is_none() && query.limit.is_none() && query.locking.is_empty();
        self.captures = self.puts_aside && plain && matches!(query.body, QueryBody::Select(_));
        let at = self.subquery(id, width);
        self.captures = false;
        at
    }

    /// Plans a query expression. `top`: its INTO was looked at by the caller. Errors 1234, 1436, 1473, 1317, 3024.
    pub fn query(&mut self, id: QueryId, top: bool) -> Result<QueryPlan> {
        if let Some((used, size)) = sync::stack::overrun() {
            return Err(err!(1436, used, size, size / 2));
        }
        self.blocks_planned += 1;
        if self.blocks_planned > BLOCKS_PLANNED_MAX {
            return Err(err!(1473));
        }
        error::check_interrupt()?;
        let parsed = self.parsed;
        let query = &parsed[id];
        if query.into.is_some() && !top {
            return Err(SqlError::new(1234, "Misplaced INTO clause, INTO is not allowed inside subqueries"));
        }
        self.level += 1;
        let plan = if self.is_too_deep(query) { Err(err!(1473)) } else { self.query_at_level(query) };
        self.level -= 1;
        plan
    }

    fn query_at_level(&mut self, query: &ast::Query) -> Result<QueryPlan> {
        let exports = self.exports.take().filter(|_| matches!(query.body, QueryBody::Select(_)));
        let first_read = self.outer_reads.len();
        let plan = self.with_tables(query.with.as_deref(), |p| p.query_body(query, exports));
        let reads = self.reads_outside(first_read);
        Ok(QueryPlan { correlated: !reads.is_empty(), reads, ..plan? })
    }

    /// Plans the query of a common table expression, which sees no tables of the queries between its WITH clause and this block.
    pub(super) fn within_with<T>(&mut self, outside: usize, plan: impl FnOnce(&mut Self) -> T) -> T {
        let mut hidden = Vec::new();
        for at in outside..self.blocks.len() {
            if !std::mem::replace(&mut self.blocks[at].unseen, true) {
                hidden.push(at);
            }
        }
        let result = plan(self);
        for at in hidden {
            self.blocks[at].unseen = false;
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
        let before = self.ctes.len();
        for t in &with.tables {
            let name = self.parsed.name(t.name).to_string();
            if self.ctes[before..].iter().any(|c| c.name.eq_ignore_ascii_case(&name)) {
                self.ctes.truncate(before);
                return Err(SqlError::new(1066, format!("Not unique table/alias: '{name}'")));
            }
            let reads_itself = |t: &ast::TableRef| match t {
                ast::TableRef::Table(factor) => {
                    factor.name.schema.is_none() && self.parsed.name(factor.name.name).eq_ignore_ascii_case(&name)
                }
                _ => false,
            };
            let recursive = with.recursive && self.parsed.table_refs()[t.tables.clone()].iter().any(reads_itself);
            let columns = t.columns.clone();
            let outside = self.blocks.len();
            self.ctes.push(Cte { name, columns, query: t.query, recursive, working: None, outside });
        }
        let result = plan(self);
        self.ctes.truncate(before);
        result
    }

    fn query_body(&mut self, query: &ast::Query, exports: Option<Exports>) -> Result<QueryPlan> {
        let parsed = self.parsed;
        match &query.body {
            QueryBody::Select(select) => self.select(query, select, exports),
            QueryBody::Table(name) => {
                self.blocks.push(Block::default());
                let result = self.table_rows(query, *name);
                self.blocks.pop();
                result
            }
            QueryBody::Values(rows) => {
                self.blocks.push(Block::default());
                let result = self.values(query, rows);
                self.blocks.pop();
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
        let outputs: Vec<Expr> = inner.outputs.iter().enumerate().map(|(i, e)| Expr::column(0, i, e.ty)).collect();
        let shapes = vec![Shape::Tuple(outputs.len())];
        let plan = Plan::Derived { slot: 0, query: Box::new(inner), lateral: false, alias: String::new() };
        self.ordered_rows(
            query,
            QueryPlan { plan, shapes, outputs, columns, correlated: false, absorbed: false, reads: Vec::new() },
        )
    }

    /// ORDER BY over names and positions of the result only, and LIMIT.
    pub(super) fn ordered_rows(&mut self, query: &ast::Query, mut q: QueryPlan) -> Result<QueryPlan> {
        let mut block = Block { alias_rule: AliasRule::First, ..Block::default() };
        for (c, e) in q.columns.iter().zip(&q.outputs) {
            block.aliases.push((c.name.clone(), e.clone()));
        }
        self.blocks.push(block);
        let order = self.order(&query.order, &q.outputs.clone());
        let limit = self.limit(query.limit);
        self.blocks.pop();
        let (order, limit) = (order?, limit?);
        if let Some(at) = order.iter().position(|o| o.expr.has_aggregate()) {
            return Err(if matches!(q.plan, Plan::SetOp(_)) { err!(3028, at + 1) } else { err!(3029, at + 1) });
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
            if all.first().is_some_and(|f: &Vec<Expr>| f.len() != row.len()) {
                return Err(SqlError::new(
                    1136,
                    format!("Column count doesn't match value count at row {}", all.len() + 1),
                ));
            }
            all.push(row);
        }
        let width = all[0].len();
        let mut outputs = Vec::new();
        let mut columns = Vec::new();
        for i in 0..width {
            let column: Vec<&Expr> = all.iter().map(|r| &r[i]).collect();
            let ty = convert::common_type(&column, "VALUES")?;
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
        self.whole_table(query, super::tables::Tree::Leaf(0), star)
    }

    /// All columns of the one table of the block.
    fn whole_table(
        &mut self,
        query: &ast::Query,
        tree: super::tables::Tree,
        star: Vec<StarColumn>,
    ) -> Result<QueryPlan> {
        let outputs: Vec<Expr> = star.iter().map(|s| self.star_expr(s)).collect();
        let columns = star.iter().zip(&outputs).map(|(s, e)| self.meta(&s.name, e)).collect();
        let (plan, _) = self.join_plan(tree, Vec::new(), &Wanted::none())?;
        let shapes = std::mem::take(&mut self.block().shapes);
        self.ordered_rows(
            query,
            QueryPlan { plan, shapes, outputs, columns, correlated: false, absorbed: false, reads: Vec::new() },
        )
    }

    fn select(&mut self, query: &ast::Query, select: &Select, exports: Option<Exports>) -> Result<QueryPlan> {
        let captures = std::mem::take(&mut self.captures);
        let puts_aside = std::mem::take(&mut self.puts_aside);
        let merging = std::mem::take(&mut self.merging);
        let inner_side = std::mem::take(&mut self.inner_side);
        let hints = self.hints.as_ref().and_then(|h| h.block_at(Some(select.start)));
        let sums_alone = select.group.is_empty() || select.rollup;
        self.blocks.push(Block { hints, sums_alone, rolls_up: select.rollup, ..Block::default() });
        let clause = std::mem::replace(&mut self.clause, "field list");
        let first = self.aside.len();
        let mut pushed = self.pushed.take();
        let result = self.select_in_block(query, select, exports, (captures, merging), pushed.as_mut());
        self.pushed = pushed;
        self.inner_side = inner_side;
        self.aside.truncate(first);
        self.puts_aside = puts_aside;
        self.clause = clause;
        self.blocks.pop();
        result
    }

    fn select_in_block(
        &mut self,
        query: &ast::Query,
        select: &Select,
        exports: Option<Exports>,
        (captures, merging): (bool, bool),
        pushed: Option<&mut Pushed>,
    ) -> Result<QueryPlan> {
        let parsed = self.parsed;
        let first_aside = self.aside.len();
        let from = match select.from {
            Some(t) => Some(self.from(t)?),
            None => None,
        };
        self.locking(&query.locking)?;
        let star: &[StarColumn] = from.as_ref().map_or(&[], |(_, s)| s);

        self.block().windows.clone_from(&select.windows);
        self.check_windows()?;
        self.block().group_keys = select.group.len();
        self.block().allow(Windows::Allowed, true);

        // Select list.
        let mut outputs: Vec<Expr> = Vec::new();
        let mut columns: Vec<ColumnMeta> = Vec::new();
        let mut aliases: Vec<(String, Expr)> = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Star => {
                    if from.is_none() {
                        return Err(SqlError::new(1096, "No tables used"));
                    }
                    for s in star {
                        let e = self.star_expr(s);
                        columns.push(self.meta(&s.name, &e));
                        outputs.push(e);
                    }
                }
                SelectItem::TableStar { schema, table } => {
                    let (schema, name) = (schema.map(|s| parsed.name(s)), parsed.name(*table));
                    let found = self.block().sources.iter().find(|s| s.is_named(name, schema));
                    let Some(found) = found else {
                        return Err(SqlError::new(1051, format!("Unknown table '{name}'")));
                    };
                    let list: Vec<(String, Expr)> = (0..found.columns.len())
                        .filter(|i| !found.columns[*i].hidden && !found.columns[*i].invisible)
                        .map(|i| (found.columns[i].name.clone(), found.column(i, 0)))
                        .collect();
                    for (name, e) in list {
                        columns.push(self.meta(&name, &e));
                        outputs.push(e);
                    }
                }
                SelectItem::Expr { expr, alias, text } => {
                    let e = self.shown_expr(*expr)?;
                    let name = match (alias, &parsed[*expr]) {
                        (Some(a), _) => {
                            let name = parsed.name(*a).to_string();
                            aliases.push((name.clone(), e.clone()));
                            name
                        }
                        (None, Ast::Column { column, .. }) => self.result_name(&e, parsed.name(*column)),
                        (None, Ast::String { text, .. }) => {
                            ast::name_of_text(parsed.bytes(*text)).trim_start().to_string()
                        }
                        (None, Ast::Null) => "NULL".to_string(),
                        _ => given_name(&e, &parsed[*expr], parsed)
                            .unwrap_or_else(|| ast::name_of_text(parsed.bytes(*text))),
                    };
                    columns.push(self.meta(&name, &e));
                    outputs.push(e);
                }
            }
        }
        self.block().aliases = aliases;
        self.block().allow(Windows::Refused, false);

        // WHERE.
        let mut conditions = Vec::new();
        if let Some(f) = select.filter {
            self.puts_aside = true;
            let e = self.condition(f, "where clause");
            self.puts_aside = false;
            let e = e?;
            if e.has_aggregate() {
                return Err(SqlError::new(1111, "Invalid use of group function"));
            }
            Self::conjuncts(e, &mut conditions);
        }
        self.raise_late_error()?;
        conditions.append(&mut self.block().moved);

        // GROUP BY: columns first, then aliases and positions.
        let mut keys: Vec<Expr> = Vec::new();
        self.clause = "group statement";
        self.block().alias_rule = AliasRule::Last;
        for id in &select.group {
            let e = match self.position(*id, &outputs)? {
                Some(e) => e,
                None => super::group::key_of(self.expr(*id)?, matches!(self.parsed[*id], ast::Expr::Column { .. })),
            };
            self.warn_of_hidden_alias(*id, &e);
            if e.has_aggregate() || e.has_window() {
                return Err(SqlError::new(1056, "Can't group on aggregate"));
            }
            keys.push(e);
        }
        self.block().alias_rule = AliasRule::First;
        self.block().takes_aggregates = true;
        let mut having = match select.having {
            Some(h) => {
                self.block().shown = Some(outputs.iter().chain(&keys).cloned().collect());
                Some(self.condition(h, "having clause")?)
            }
            None => None,
        };
        self.block().shown = None;
        self.block().allow(Windows::Allowed, true);
        let aggregates = |e: &Expr| e.has_aggregate();
        let is_grouped =
            !keys.is_empty() || self.block().asked.is_some() || outputs.iter().chain(&having).any(aggregates);
        let mut order = self.order(&query.order, &outputs)?;
        if !is_grouped && let Some(at) = order.iter().position(|o| o.expr.has_aggregate()) {
            return Err(err!(3029, at + 1));
        }
        self.block().allow(Windows::Refused, false);
        self.block().alias_rule = AliasRule::Never;
        self.clause = "field list";
        let limit = self.limit(query.limit)?;
        // With SQL_CALC_FOUND_ROWS all rows are asked for.
        let top = if select.options.calc_found_rows { None } else { limit.clone() };

        let windowed = outputs.iter().any(Expr::has_window) || order.iter().any(|o| o.expr.has_window());
        let asked = self.block().asked.is_some();
        let grouped = asked
            || !keys.is_empty()
            || outputs.iter().any(Expr::has_aggregate)
            || having.as_ref().is_some_and(Expr::has_aggregate)
            || order.iter().any(|o| o.expr.has_aggregate());
        if grouped && keys.is_empty() {
            // One row needs no order.
            order.clear();
        }
        if select.options.calc_found_rows {
            self.notes.push((1287, FOUND_ROWS_DEPRECATED));
        }
        if select.options.no_cache {
            self.notes.push((1681, "'SQL_NO_CACHE' is deprecated and will be removed in a future release."));
        }

        let mut others = outputs.iter().chain(&having).chain(order.iter().map(|o| &o.expr));
        if !grouped && others.any(super::group::has_grouping_call) {
            return Err(SqlError::new(1111, "Invalid use of group function"));
        }

        // Rows.
        let distinct = select.options.distinct;
        if exports.is_some() && !grouped && !distinct {
            self.export_columns(&mut outputs);
        }
        order.retain(|o| !matches!(o.expr.node, Node::Const(_) | Node::Param(_)));
        if query.order.is_empty() && !grouped && !windowed && !distinct && having.is_none() && from.is_some() {
            order = self.moved_order();
        }
        // Groups whose keys are all selected are distinct as they are.
        let distinct =
            distinct && (select.rollup || keys.is_empty() || !keys.iter().all(|k| outputs.iter().any(|o| o.same(k))));
        if distinct {
            self.check_distinct_order(&outputs, &order)?;
        }
        if let Some(pushed) = pushed.filter(|_| limit.is_none() && !windowed && !select.rollup) {
            let groups = grouped.then_some(&keys[..]);
            self.take_pushed(pushed, &outputs, groups, &mut conditions, &mut having);
        }
        let ordered = top.is_some() && !order.is_empty() && !grouped && !distinct && !windowed;
        let mut tree = self.join_subqueries(from.map(|(tree, _)| tree), &mut conditions, first_aside, ordered)?;
        let rows_alone = !grouped && !windowed && having.is_none() && limit.is_none() && !select.options.straight_join;
        let resolved = |outputs, columns| {
            let (plan, shapes) = (Plan::One, Vec::new());
            QueryPlan { plan, shapes, outputs, columns, correlated: false, absorbed: false, reads: Vec::new() }
        };
        if merging && rows_alone && !select.options.distinct && !select.options.calc_found_rows && exports.is_none() {
            let conditions = &mut conditions;
            match tree.take().map(|t| self.put_up(t, std::mem::take(conditions), &outputs, std::mem::take(&mut order)))
            {
                Some(Ok(())) => return Ok(resolved(outputs, columns)),
                Some(Err((t, c, o))) => (tree, *conditions, order) = (Some(t), c, o),
                None => {}
            }
        }
        if captures && rows_alone && exports.is_none() {
            match tree.take().map(|t| self.put_aside(t, std::mem::take(&mut conditions), &outputs)) {
                Some(Ok(())) => return Ok(resolved(outputs, columns)),
                Some(Err((t, c))) => (tree, conditions) = (Some(t), c),
                None => {}
            }
        }
        let mut in_order = false;
        let fixed = if select.rollup { super::group::constants(&conditions) } else { Vec::new() };
        let plan = match tree {
            None => filtered(Plan::One, conditions),
            Some(tree) => {
                let mut conditions = conditions;
                let told = grouped.then(|| self.told(&tree, &conditions));
                let extreme =
                    if keys.is_empty() && !asked { only_extreme(&outputs, having.as_ref(), &order) } else { None };
                if let Some((column, _)) = &extreme
                    && column.ty.nullable
                {
                    // NULL is no extreme, and comes first.
                    let not_null = Node::IsNull { negated: true, operand: Box::new(column.clone()) };
                    conditions.push(Expr::new(not_null, expr::boolean_type(false)));
                }
                let mut wanted = if let Some((column, descending)) = &extreme {
                    Wanted { keys: vec![(column, *descending)], limited: true, ..Wanted::none() }
                } else if windowed || asked {
                    Wanted::none()
                } else if grouped || distinct {
                    let groups = self.groups(&tree, (&keys, grouped), &outputs, having.as_ref(), &order);
                    Wanted { groups, ..Wanted::none() }
                } else {
                    let keys = order.iter().map(|o| (&o.expr, o.descending)).collect();
                    Wanted { keys, limited: top.is_some(), ..Wanted::none() }
                };
                wanted.skips = !distinct && keys.is_empty() && !windowed;
                self.straight = select.options.straight_join;
                let joined = self.join_plan(tree, conditions, &wanted);
                self.straight = false;
                let (mut plan, ordered) = joined?;
                in_order = ordered;
                if let Some(told) = &told {
                    self.check_grouping(told, &keys, &outputs, having.as_ref(), &order)?;
                }
                if ordered && extreme.is_some() {
                    // The first row has it.
                    if let Plan::Scan(s) = &mut plan {
                        s.limit_hint = Some(Expr::int(1));
                    }
                    plan = limited(plan, Some((Expr::int(1), None)));
                }
                plan
            }
        };
        let mut plan = plan;
        if grouped {
            plan = self.group(plan, keys, select.rollup, &mut outputs, &mut having, &mut order)?;
            if let (true, Plan::Group(g)) = (select.rollup, &mut plan) {
                g.conditions = fixed;
                super::group::describe_rolled_up(&mut columns, &outputs);
            }
        }
        if let Some(h) = having {
            plan = Plan::Filter { input: Box::new(plan), condition: h };
        }
        if windowed || select.rollup && (distinct || !order.is_empty()) {
            super::meta::describe_kept(&mut columns, &outputs);
        }
        if windowed {
            let slots = self.block().shapes.len();
            let keep = if grouped { vec![slots - 1] } else { (0..slots).collect() };
            plan = self.windows(plan, &mut outputs, &mut order, keep);
        }
        let block = self.block();
        let slot = block.shapes.len();
        let shapes = std::mem::take(&mut block.shapes);
        let mut q = QueryPlan { plan, shapes, outputs, columns, correlated: false, absorbed: false, reads: Vec::new() };
        if distinct {
            let kept = |e: &mut Expr| *e = convert::kept_decimal(std::mem::replace(e, Expr::null()));
            q.outputs.iter_mut().chain(order.iter_mut().map(|o| &mut o.expr)).for_each(kept);
            if order.is_empty() {
                q.plan = Plan::Distinct { input: Box::new(q.plan), values: q.outputs.clone() };
            } else if !order.iter().all(|o| q.outputs.iter().any(|e| e.same(&o.expr))) {
                // An order that is none of the outputs: of the first of equal rows.
                q.plan = Plan::Distinct { input: Box::new(q.plan), values: q.outputs.clone() };
                q = sorted(q, order, slot, top, false);
            } else {
                let mut keys = order;
                for e in &q.outputs {
                    if !keys.iter().any(|k| k.expr.same(e)) {
                        keys.push(OrderKey { expr: e.clone(), descending: false });
                    }
                }
                q = sorted(q, keys, slot, top, true);
            }
        } else if !order.is_empty() && !in_order {
            q = sorted(q, order, slot, top, false);
        } else if let (Plan::Scan(s), Some((count, None))) = (&mut q.plan, &top) {
            s.limit_hint = Some(count.clone());
        }
        q.plan = limited(q.plan, limit);
        if select.options.calc_found_rows
            && let Plan::Limit { count_all, .. } = &mut q.plan
        {
            *count_all = true;
        }
        Ok(q)
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
        self.exports = Some(exports);
    }

    /// FOR UPDATE and FOR SHARE: how the block's tables are read, those of merged views as well. Derived tables and common table
    /// expressions are read as their own queries say. Errors 3568, 3569.
    fn locking(&mut self, clauses: &[ast::Locking]) -> Result<()> {
        let parsed = self.parsed;
        self.unsteady |= !clauses.is_empty();
        for clause in clauses {
            let mode = if clause.exclusive { LockMode::Exclusive } else { LockMode::Shared };
            let wait = match clause.wait {
                ast::LockWait::Wait => Wait::Block,
                ast::LockWait::NoWait => Wait::NoWait,
                ast::LockWait::SkipLocked => Wait::SkipLocked,
            };
            let read = Read::Locking { mode, wait };
            let sources = &mut self.block().sources;
            // Privileges are asked for on what is named, a view or a table.
            let (mut locked, mut named) = (Vec::new(), Vec::new());
            if clause.of.is_empty() {
                for at in (0..sources.len()).filter(|at| !sources[*at].hidden).collect::<Vec<_>>() {
                    if sources[at].table.is_some() && sources[at].read != Read::Consistent {
                        return Err(locked_twice(&sources[at].name));
                    }
                    named.extend(sources[at].named);
                    lock(sources, at, read, &mut locked);
                }
            }
            for name in &clause.of {
                let alias = parsed.name(name.name);
                let Some(at) = sources.iter().position(|s| s.is_named(alias, None)) else {
                    return Err(SqlError::new(3568, format!("Unresolved table name `{alias}` in locking clause.")));
                };
                if sources[at].is_query || sources[at].read != Read::Consistent {
                    return Err(locked_twice(&format!("`{alias}`")));
                }
                named.extend(sources[at].named);
                lock(sources, at, read, &mut locked);
            }
            for t in &mut self.tables {
                t.lock |= locked.contains(&t.id);
                t.for_update |= clause.exclusive && (locked.contains(&t.id) || named.contains(&t.id));
            }
        }
        Ok(())
    }

    /// `ORDER BY 2`: the select expression at that position.
    fn position(&self, id: ExprId, outputs: &[Expr]) -> Result<Option<Expr>> {
        let Ast::Int(n) = self.parsed[id] else { return Ok(None) };
        match usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).and_then(|i| outputs.get(i)) {
            Some(e) => Ok(Some(e.clone())),
            None => Err(expr::error::unknown_column(&n.to_string(), self.clause)),
        }
    }

    pub(super) fn order(&mut self, items: &[ast::OrderItem], outputs: &[Expr]) -> Result<Vec<OrderKey>> {
        let clause = std::mem::replace(&mut self.clause, "order clause");
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
                    self.clause = clause;
                    return Err(e);
                }
            };
            // A constant orders nothing, and is not computed.
            if !e.is_constant() && !out.iter().any(|o| o.expr.same(&e)) {
                out.push(OrderKey { expr: convert::enum_number(e), descending: item.descending });
            }
        }
        self.clause = clause;
        Ok(out)
    }

    pub(super) fn limit(&mut self, limit: Option<ast::Limit>) -> Result<OrderlessLimit> {
        let Some(limit) = limit else { return Ok(None) };
        let like = parameter::integer_type().unsigned();
        let count = self.expr_for(limit.count, &like, Takes::Stored)?;
        let offset = limit.offset.map(|o| self.expr_for(o, &like, Takes::Stored)).transpose()?;
        Ok(Some((count, offset)))
    }

    /// The heading of a column without alias: as it is written here, but as it was defined in `information_schema`, whose tables
    /// are views in MySQL.
    fn result_name(&self, e: &Expr, written: &str) -> String {
        let defined = match e.node {
            Node::Column { depth: 0, slot, column } => {
                let source = self.current_block().sources.iter().find(|s| s.slot == slot as usize);
                let source = source
                    .filter(|s| s.table.as_ref().is_some_and(|t| t.is_virtual() && t.schema == "information_schema"));
                source.and_then(|s| s.columns.get(column as usize)).map(|c| c.name.as_str())
            }
            _ => None,
        };
        defined.filter(|d| d.eq_ignore_ascii_case(written)).unwrap_or(written).to_string()
    }
}

#[cold]
fn locked_twice(name: &str) -> SqlError {
    SqlError::new(3569, format!("Table {name} appears in multiple locking clauses."))
}

/// Has a table, or the tables of a merged view, read so; adds their ids.
fn lock(sources: &mut [Source], at: usize, read: Read, locked: &mut Vec<u64>) {
    let Some(named) = sources[at].named else { return };
    sources[at].read = read;
    locked.push(sources[at].table.as_ref().map_or(named, |t| t.id));
    for part in sources[at].parts.clone() {
        lock(sources, at + part, read, locked);
    }
}

/// When all that is asked of the rows is the MIN or the MAX of one column: the column, and whether the greatest is wanted.
fn only_extreme(outputs: &[Expr], having: Option<&Expr>, order: &[OrderKey]) -> Option<(Expr, bool)> {
    let mut found: Option<(Expr, bool)> = None;
    let mut other = false;
    let mut look = |e: &Expr| {
        match &e.node {
            Node::Aggregate(call) => {
                let descending = call.kind == AggregateKind::Max;
                match (&call.args[..], &found) {
                    _ if !descending && call.kind != AggregateKind::Min => other = true,
                    ([column], None) if matches!(column.node, Node::Column { depth: 0, .. }) => {
                        found = Some((column.clone(), descending));
                    }
                    ([column], Some((known, d))) if column.same(known) && *d == descending => {}
                    _ => other = true,
                }
            }
            Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => {
                other = true
            }
            _ => {}
        }
        false
    };
    for e in outputs.iter().chain(having).chain(order.iter().map(|o| &o.expr)) {
        e.any(&mut look);
    }
    let bare = |e: &Expr| has_bare_column(e);
    let bare = outputs.iter().chain(having).chain(order.iter().map(|o| &o.expr)).any(bare);
    found.filter(|_| !other && !bare)
}

/// Does the expression read a column outside of aggregates?
fn has_bare_column(e: &Expr) -> bool {
    match &e.node {
        Node::Aggregate(_) => false,
        Node::Column { .. } => true,
        _ => {
            let mut found = false;
            e.children(&mut |c| found |= has_bare_column(c));
            found
        }
    }
}

pub fn limited(plan: Plan, limit: Option<(Expr, Option<Expr>)>) -> Plan {
    match limit {
        Some((count, offset)) => Plan::Limit { input: Box::new(plan), count, offset, count_all: false },
        None => plan,
    }
}
