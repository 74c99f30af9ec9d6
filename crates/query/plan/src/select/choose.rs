//! Last step of a SELECT: how its tables are read and joined, and what is done with their rows.

use super::Bound;
use super::ends::{Extreme, extremes};
use crate::access::Wanted;
use crate::join_tree::Tree;
use crate::meta::describe_kept;
use crate::node::{Plan, QueryPlan};
use crate::query::limited;
use crate::sorted::{OrderKey, OrderlessLimit, sorted};
use crate::tables::filtered;
use crate::{Planner, group};
use expr::function::{Function, Rule, unlisted};
use expr::{Expr, Node, common};
use types::{DataType, Result, TypeKind, Value};

impl Bound {
    /// Its clauses as text, but for FROM, which is still a tree.
    pub(super) fn text(&self, print: &dyn Fn(&Expr) -> String) -> String {
        let list = |list: &mut dyn Iterator<Item = String>, by: &str| list.collect::<Vec<_>>().join(by);
        let named = |(e, column): (&Expr, &crate::ColumnMeta)| {
            format!("{} AS {}", print(e), sql::print::quote_name(&column.name))
        };
        let mut out = String::from(if self.distinct { "select distinct " } else { "select " });
        out += &list(&mut self.outputs.iter().zip(&self.columns).map(named), ",");
        if !self.conditions.is_empty() {
            out += &format!(" where {}", list(&mut self.conditions.iter().map(print), " and "));
        }
        if !self.keys.is_empty() {
            out += &format!(" group by {}", list(&mut self.keys.iter().map(print), ","));
        }
        if let Some(having) = &self.having {
            out += &format!(" having {}", print(having));
        }
        let key = |o: &OrderKey| print(&o.expr) + if o.descending { " desc" } else { "" };
        if !self.order.is_empty() {
            out += &format!(" order by {}", list(&mut self.order.iter().map(key), ","));
        }
        if let Some((count, offset)) = &self.limit {
            let offset = offset.as_ref().map_or(String::new(), |e| print(e) + ",");
            out += &format!(" limit {offset}{}", print(count));
        }
        out
    }

    /// How many rows are asked for: with SQL_CALC_FOUND_ROWS all.
    pub(super) fn top(&self) -> &OrderlessLimit {
        if self.is.counts_all { &None } else { &self.limit }
    }
}

impl Planner<'_> {
    pub(super) fn choose(&mut self, mut s: Bound) -> Result<QueryPlan> {
        let conditions = std::mem::take(&mut s.conditions);
        self.trace_conditions(&conditions);
        let fixed = if s.is.rolls_up { group::constants(&conditions) } else { Vec::new() };
        let (plan, in_order) = match s.tree.take() {
            None => (filtered(Plan::One, conditions), false),
            Some(tree) => self.joined_rows(tree, conditions, &s)?,
        };
        let in_groups = in_order && !s.keys.is_empty();
        let in_order = in_order && !s.is.windowed && (s.keys.is_empty() || orders_groups(&s.keys, &s.order));
        let plan = self.grouped_rows(plan, fixed, in_groups, &mut s)?;
        let top = s.top().clone();
        let Bound { outputs, columns, order, limit, distinct, is, .. } = s;
        let block = self.block();
        let slot = block.shapes.len();
        let shapes = std::mem::take(&mut block.shapes);
        let q = QueryPlan {
            plan,
            shapes,
            outputs,
            columns,
            correlated: false,
            varies: false,
            absorbed: false,
            reads: Vec::new(),
        };
        let mut q = match distinct {
            true => distinct_rows(q, order, slot, top),
            false => ordered_rows(q, order, slot, top, in_order),
        };
        q.plan = limited(q.plan, limit);
        if is.counts_all
            && let Plan::Limit { count_all, .. } = &mut q.plan
        {
            *count_all = true;
        }
        Ok(q)
    }

    /// The rows of FROM that WHERE lets through, and whether they come in the order that is asked for: with GROUP BY that of
    /// its keys.
    fn joined_rows(&mut self, tree: Tree, mut conditions: Vec<Expr>, s: &Bound) -> Result<(Plan, bool)> {
        let dependencies = s.is.grouped.then(|| self.dependencies(&tree, &conditions));
        let mut extremes = extremes(s);
        if let Some(plan) = self.ends(&tree, &conditions, &extremes)? {
            return Ok((plan, true));
        }
        let extreme = if extremes.len() == 1 { extremes.pop() } else { None };
        conditions.extend(extreme.as_ref().and_then(Extreme::not_null));
        let mut wanted = if let Some(extreme) = &extreme {
            extreme.wanted()
        } else if s.is.windowed || s.is.asked {
            Wanted::none()
        } else if s.is.grouped || s.distinct {
            let groups = self.groups(&tree, (&s.keys, s.is.grouped), &s.outputs, s.having.as_ref(), &s.order);
            Wanted { groups, ..Wanted::none() }
        } else {
            let keys = s.order.iter().map(|o| (&o.expr, o.descending)).collect();
            Wanted { keys, limited: s.top().is_some(), ..Wanted::none() }
        };
        wanted.skips = !s.distinct && s.keys.is_empty() && !s.is.windowed;
        self.request.straight = s.is.straight;
        let joined = self.join_plan(tree, conditions, &wanted);
        self.request.straight = false;
        let (mut plan, mut ordered) = joined?;
        if s.is.grouped && !s.is.rolls_up && !s.keys.is_empty() {
            ordered = self.come_in_groups(&mut plan, &s.keys);
        }
        if let Some(dependencies) = &dependencies {
            self.check_grouping(dependencies, &s.keys, &s.outputs, s.having.as_ref(), &s.order)?;
        }
        if ordered && extreme.is_some() {
            // The first row has it.
            if let Plan::Scan(scan) = &mut plan {
                scan.limit_hint = Some(Expr::int(1));
            }
            plan = limited(plan, Some((Expr::int(1), None)));
        }
        Ok((plan, ordered))
    }

    /// GROUP BY, HAVING and windows over the rows. `fixed`: conditions that keys are constants by. `in_groups`: the rows of a
    /// group come one behind the other.
    fn grouped_rows(&mut self, mut plan: Plan, fixed: Vec<Expr>, in_groups: bool, s: &mut Bound) -> Result<Plan> {
        if s.is.grouped {
            let mut keys = std::mem::take(&mut s.keys);
            if !s.is.rolls_up {
                leave_unasked(&mut keys, s);
            }
            let readers = s.outputs.iter_mut().chain(&mut s.having).chain(s.order.iter_mut().map(|o| &mut o.expr));
            plan = self.compute_for_groups(plan, &mut keys, readers);
            plan = self.group(plan, keys, s.is.rolls_up, &mut s.outputs, &mut s.having, &mut s.order)?;
            if let Plan::Group(g) = &mut plan {
                g.in_order = in_groups;
                g.conditions = fixed;
            }
            if s.is.rolls_up {
                group::describe_rolled_up(&mut s.columns, &s.outputs);
            }
        }
        plan = self.compute_outputs(plan, &mut s.outputs, &mut s.having, &mut s.order, s.distinct);
        if let Some(condition) = s.having.take() {
            plan = Plan::Filter { input: Box::new(plan), condition };
        }
        if s.is.windowed || s.is.rolls_up && (s.distinct || !s.order.is_empty()) {
            describe_kept(&mut s.columns, &s.outputs);
        }
        if s.is.windowed {
            // What holds no window is computed before, and passes through the rows that the windows keep.
            let is_kept = |e: &&mut Expr| !e.any(&mut |e| matches!(e.node, Node::Window(_)));
            for e in s.outputs.iter_mut().filter(is_kept) {
                *e = common::kept_decimal(std::mem::replace(e, Expr::null()));
            }
            // Behind groups, subqueries read the rows of tables that these keep.
            let keep = (0..self.block().shapes.len()).collect();
            plan = self.windows(plan, &mut s.outputs, &mut s.order, keep);
        }
        Ok(plan)
    }
}

/// DISTINCT, with ORDER BY where there is one. `slot`: the first that is free.
fn distinct_rows(mut q: QueryPlan, mut order: Vec<OrderKey>, slot: usize, top: OrderlessLimit) -> QueryPlan {
    let kept = |e: &mut Expr| *e = common::kept_decimal(std::mem::replace(e, Expr::null()));
    q.outputs.iter_mut().chain(order.iter_mut().map(|o| &mut o.expr)).for_each(kept);
    let is_output = |o: &OrderKey| q.outputs.iter().any(|e| e.same(&o.expr));
    if !order.is_empty() && order.iter().all(is_output) {
        for e in &q.outputs {
            if !order.iter().any(|k| k.expr.same(e)) {
                order.push(OrderKey { expr: e.clone(), descending: false });
            }
        }
        return sorted(q, order, slot, top, true);
    }
    q.plan = Plan::Distinct { input: Box::new(q.plan), values: q.outputs.clone() };
    // An order that is none of the outputs is of the first of equal rows.
    if order.is_empty() { q } else { sorted(q, order, slot, top, false) }
}

/// Is the order that of groups which come in the ascending order of their keys?
fn orders_groups(keys: &[Expr], order: &[OrderKey]) -> bool {
    order.len() <= keys.len() && order.iter().zip(keys).all(|(o, key)| !o.descending && o.expr.same(key))
}

/// ORDER BY, unless the rows come in order. `slot`: the first that is free.
fn ordered_rows(mut q: QueryPlan, order: Vec<OrderKey>, slot: usize, top: OrderlessLimit, in_order: bool) -> QueryPlan {
    if !order.is_empty() && !in_order {
        return sorted(q, order, slot, top, false);
    }
    if let (Plan::Scan(scan), Some((count, None))) = (&mut q.plan, &top) {
        scan.limit_hint = Some(count.clone());
    }
    q
}

/// What stands for a key that is not asked for.
static UNASKED: Function = unlisted("unasked", 0, 0, Rule::Int(1), |_| Ok(Value::Int(1)));

/// A constant that nothing else reads tells no groups apart: it is not asked for.
fn leave_unasked(keys: &mut [Expr], s: &Bound) {
    let read = |key: &Expr| {
        let mut all = s.outputs.iter().chain(&s.having).chain(s.order.iter().map(|o| &o.expr));
        all.any(|e| e.any(&mut |e| e.says(key)))
    };
    for key in keys.iter_mut().filter(|key| key.is_constant()) {
        if !read(key) {
            // Like no other expression: what is read above the groups is looked for among the keys.
            *key = Expr::new(Node::Call(&UNASKED, Vec::new()), DataType::new(TypeKind::BigInt).not_null());
        }
    }
}
