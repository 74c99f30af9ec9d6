//! Queries whose rows are sorted: what is kept of each row while it is.

use super::node::{Plan, QueryPlan, Sort, SortKey};
use super::query::OrderKey;
use crate::expr::{Expr, Node};
use crate::run::Shape;

/// The query's rows sorted; afterwards its outputs are columns of the sorted tuples in `slot`, the last of its shapes, or made of
/// them: where a LIMIT leaves rows of one table out, those are not computed, as in MySQL.
pub fn sorted(
    mut q: QueryPlan,
    order: Vec<OrderKey>,
    slot: usize,
    limit: Option<(Expr, Option<Expr>)>,
    unique: bool,
) -> QueryPlan {
    let values = match limit.is_some() && !unique && is_of_one_table(&q.plan) && may_wait(&q.outputs) {
        true => {
            let mut kept = Vec::new();
            q.outputs.iter_mut().for_each(|e| keep(e, slot, &mut kept));
            kept
        }
        false => {
            let outputs = q.outputs.iter().enumerate().map(|(i, e)| Expr::column(slot, i, e.ty)).collect();
            std::mem::replace(&mut q.outputs, outputs)
        }
    };
    q.shapes.push(Shape::Tuple(values.len()));
    let keys = order.into_iter().map(|o| SortKey { expr: o.expr, descending: o.descending }).collect();
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

/// Is something computed of columns, and nothing by a subquery, which reads the table's row?
fn may_wait(outputs: &[Expr]) -> bool {
    let reads_row = |e: &Expr| {
        matches!(
            e.node,
            Node::Subquery(_)
                | Node::Exists { .. }
                | Node::InSubquery { .. }
                | Node::Quantified { .. }
                | Node::Window(_)
        )
    };
    let is_column = |e: &Expr| matches!(e.node, Node::Column { depth: 0, .. });
    outputs.iter().any(|e| !is_column(e) && e.any(&mut |e| is_column(e)))
        && !outputs.iter().any(|e| e.any(&mut |e| reads_row(e)))
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
