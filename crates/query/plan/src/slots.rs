//! The names of the slots that a plan's tables fill.

use super::node::{Plan, Scan};
use expr::print::SlotNames;

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
        Plan::Virtual { slot, table, .. } => out.push(SlotNames::of_table(*slot, table, &table.name)),
        Plan::Derived { slot, query, alias, .. } => {
            out.push(SlotNames::of_query(*slot, alias, query.columns.iter().map(|c| c.name.clone()).collect()))
        }
        Plan::Join(j) => {
            collect_names(&j.left, out);
            collect_names(&j.right, out);
        }
        Plan::Filter { input, .. } | Plan::Distinct { input, .. } => collect_names(input, out),
        Plan::Limit { input, .. } | Plan::Counted { input, .. } => collect_names(input, out),
        Plan::Group(g) => collect_names(&g.input, out),
        Plan::Window(w) => collect_names(&w.input, out),
        Plan::Sort(s) => collect_names(&s.input, out),
        _ => {}
    }
}
