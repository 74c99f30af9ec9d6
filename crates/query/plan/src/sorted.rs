//! Queries whose rows are sorted: what is kept of each row while it is.

use super::node::{Plan, QueryPlan, Sort, SortKey};
use expr::Shape;
use expr::{Expr, Node, compare};

/// LIMIT with its OFFSET.
pub type OrderlessLimit = Option<(Expr, Option<Expr>)>;

/// ORDER BY entry, resolved.
pub struct OrderKey {
    pub expr: Expr,
    pub descending: bool,
}

/// The query's rows sorted; afterwards its outputs are columns of the sorted tuples in `slot`, the last of its shapes, or made of
/// them: where a LIMIT leaves rows of one table out, those are not computed, as in MySQL, and user variables are set in the order
/// in which rows are sent where it is the first table's order.
pub fn sorted(
    mut q: QueryPlan,
    order: Vec<OrderKey>,
    slot: usize,
    limit: Option<(Expr, Option<Expr>)>,
    unique: bool,
) -> QueryPlan {
    let is_late = match q.outputs.iter().any(assigns) {
        true => is_order_of_first(&q.plan, &order),
        false => limit.is_some() && is_of_one_table(&q.plan) && computes(&q.outputs),
    };
    // What has an effect, or is long to compute, is computed once for both.
    let shared = |o: &OrderKey| match o.expr.any(&mut is_called) {
        true => q.outputs.iter().position(|e| e.says(&o.expr)),
        false => None,
    };
    let shared: Vec<Option<usize>> = order.iter().map(shared).collect();
    let is_late = is_late && shared.iter().all(Option::is_none);
    let values: Vec<Expr> = match is_late && !unique && !q.outputs.iter().any(reads_rows) {
        true => {
            let mut kept = Vec::new();
            q.outputs.iter_mut().for_each(|e| keep(e, slot, &mut kept));
            kept
        }
        false => {
            // Nor are constants computed for rows that a LIMIT leaves out.
            let waits = |i: usize, e: &Expr| {
                let is_operation = !matches!(e.node, Node::Const(_) | Node::Param(_));
                limit.is_some() && e.is_constant() && is_operation && !shared.contains(&Some(i))
            };
            let outputs = std::mem::take(&mut q.outputs).into_iter().enumerate();
            let kept = |(i, e): (usize, Expr)| if waits(i, &e) { (Expr::int(1), e) } else { e.kept_at(slot, i) };
            let (values, outputs) = outputs.map(kept).unzip();
            q.outputs = outputs;
            values
        }
    };
    q.shapes.push(Shape::Tuple(values.len()));
    let key = |(o, shared): (OrderKey, Option<usize>)| {
        let expr = shared.map_or(o.expr, |at| Expr::column(slot, at, compare::column_of(&values[at])));
        SortKey { expr, descending: o.descending }
    };
    let keys = order.into_iter().zip(shared).map(key).collect();
    q.plan = Plan::Sort(Box::new(Sort { input: q.plan, keys, unique, values, slot, limit }));
    q
}

fn is_of_one_table(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(_) | Plan::IndexMerge(_) | Plan::Intersection(_) => true,
        Plan::Filter { input, .. } => is_of_one_table(input),
        _ => false,
    }
}

/// Is it by columns of the table that is read first? MySQL sorts that table then, before it joins others.
fn is_order_of_first(plan: &Plan, order: &[OrderKey]) -> bool {
    let first = match plan {
        Plan::Scan(scan) => scan.slot,
        Plan::IndexMerge(merge) => merge.first().slot,
        Plan::Intersection(merge) => merge.scans[0].slot,
        Plan::Derived { slot, .. } | Plan::Virtual { slot, .. } => *slot,
        Plan::Filter { input, .. } => return is_order_of_first(input, order),
        Plan::Join(join) => return is_order_of_first(&join.left, order),
        _ => return false,
    };
    let is_others = |e: &Expr| matches!(e.node, Node::Column { depth: 0, slot, .. } if slot as usize != first);
    !order.iter().any(|key| key.expr.any(&mut |e| is_others(e)) || assigns(&key.expr))
}

fn assigns(e: &Expr) -> bool {
    e.any(&mut |e| matches!(e.node, Node::SetUserVariable(..)))
}

/// A stored function, another one with an effect, or a subquery.
fn is_called(e: &Expr) -> bool {
    match &e.node {
        Node::Call(f, _) => f.volatile,
        Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
        _ => false,
    }
}

/// Does a subquery or a window function in it read the table's row?
fn reads_rows(e: &Expr) -> bool {
    e.any(&mut |e| {
        matches!(
            e.node,
            Node::Subquery { .. }
                | Node::Exists { .. }
                | Node::InSubquery { .. }
                | Node::Quantified { .. }
                | Node::Window(_)
        )
    })
}

/// Is something computed of columns?
fn computes(outputs: &[Expr]) -> bool {
    let is_column = |e: &Expr| matches!(e.node, Node::Column { depth: 0, .. });
    outputs.iter().any(|e| !is_column(e) && e.any(&mut |e| is_column(e)))
}

/// Columns of the table become columns of the tuple.
fn keep(e: &mut Expr, slot: usize, kept: &mut Vec<Expr>) {
    if !matches!(e.node, Node::Column { depth: 0, .. }) {
        return e.children_mut(&mut |e| keep(e, slot, kept));
    }
    let at = kept.iter().position(|k| k.same(e)).unwrap_or_else(|| {
        kept.push(e.clone());
        kept.len() - 1
    });
    *e = Expr::column(slot, at, e.ty);
}
