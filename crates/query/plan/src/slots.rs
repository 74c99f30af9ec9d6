//! Slots: the names of those that a plan's tables fill, and those that an expression reads.

use super::node::{Plan, QueryPlan, Scan};
use expr::row::SlotNames;
use expr::{Expr, Node};

/// The names of the slots that a block's tables fill.
pub fn slot_names(plan: &Plan) -> Vec<SlotNames> {
    let mut out = Vec::new();
    collect_names(plan, &mut out);
    out
}

fn collect_names(plan: &Plan, out: &mut Vec<SlotNames>) {
    let scan = |s: &Scan| SlotNames::of_table(s.slot, &s.table, &s.alias);
    match plan {
        Plan::Scan(s) => out.push(scan(s)),
        Plan::IndexMerge(m) => out.push(scan(m.first())),
        Plan::Intersection(m) => out.push(scan(&m.scans[0])),
        Plan::Ends(scans) => out.push(scan(&scans[0])),
        Plan::Virtual { slot, table, .. } => out.push(SlotNames::of_table(*slot, table, &table.name)),
        Plan::Derived { slot, query, alias, .. } => {
            out.push(SlotNames::of_query(*slot, alias, query.columns.iter().map(|c| c.name.clone()).collect()))
        }
        Plan::Join(j) => {
            collect_names(&j.left, out);
            collect_names(&j.right, out);
        }
        Plan::Filter { input, .. } | Plan::Distinct { input, .. } => collect_names(input, out),
        Plan::Limit { input, .. } | Plan::Counted { input, .. } | Plan::Computed { input, .. } => {
            collect_names(input, out)
        }
        Plan::Group(g) => collect_names(&g.input, out),
        Plan::Window(w) => collect_names(&w.input, out),
        Plan::Sort(s) => collect_names(&s.input, out),
        _ => {}
    }
}

/// The subquery that an expression is the value of, by number.
pub fn subquery_of(e: &Expr) -> Option<usize> {
    match &e.node {
        Node::Subquery { query, .. }
        | Node::Exists { query, .. }
        | Node::InSubquery { query, .. }
        | Node::Quantified { query, .. } => Some(*query),
        _ => None,
    }
}

/// Bits of the slots of the block at hand that an expression reads, itself or in its subqueries, however deep: the one answer to
/// when it can be computed. What is read of blocks further out is known at any time, and not among them.
pub fn slots_of(subqueries: &[QueryPlan], e: &Expr) -> u64 {
    let mut bits = 0;
    let mut read = |e: &Expr| {
        if let Node::Column { depth: 0, slot, .. } = e.node {
            bits |= 1u64 << slot;
        }
    };
    e.any(&mut |e| {
        read(e);
        subquery_of(e).into_iter().flat_map(|query| &subqueries[query].reads).for_each(&mut read);
        false
    });
    bits
}
