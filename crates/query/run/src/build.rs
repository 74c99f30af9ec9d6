//! From plans to operators.

use crate::batched::BatchedOp;
use crate::beside::placed;
use crate::counted::CountedOp;
use crate::ends::EndsOp;
use crate::flow::{ComputedOp, DerivedOp, DistinctOp, OneOp, SetOpOp, ValuesOp};
use crate::group::GroupOp;
use crate::index_merge::IndexMergeOp;
use crate::intersection::IntersectionOp;
use crate::join::{HashOp, LoopOp, Rows, Spilled, State};
use crate::json_table::JsonTableOp;
use crate::key_set::KeySet;
use crate::limit::LimitOp;
use crate::loose::LooseOp;
use crate::multi_range::MultiRangeOp;
use crate::one_time_filter::filter;
use crate::recursive::{RecursiveOp, WorkingOp};
use crate::scan::ScanOp;
use crate::skip::SkipOp;
use crate::sort::SortOp;
use crate::spill::Place;
use crate::subquery::{Query, Subquery};
use crate::virtual_table::VirtualOp;
use crate::window::WindowOp;
use crate::{Frame, Op};
use expr::Expr;
use hashbrown::HashMap;
use plan::node::{Join, Plan, QueryPlan, Scan, SetKind, SetOp, sound};
use plan::slots::slot_names;
use std::sync::Arc;

/// The operator of a plan. `inner`: it will be opened again and again, as the inner side of a loop join.
pub fn build(plan: Plan, inner: bool) -> Box<dyn Op> {
    match plan {
        Plan::One => Box::new(OneOp { done: true }),
        Plan::Values { slot, rows } => Box::new(ValuesOp { slot, rows, next: 0 }),
        Plan::Scan(scan) => {
            let table = Arc::clone(&scan.table);
            placed(&table, build_scan(scan))
        }
        Plan::IndexMerge(m) => {
            let table = Arc::clone(&m.first().table);
            placed(&table, Box::new(IndexMergeOp::new(*m)))
        }
        Plan::Intersection(m) => {
            let table = Arc::clone(&m.scans[0].table);
            placed(&table, Box::new(IntersectionOp::new(*m)))
        }
        Plan::Ends(scans) => {
            let table = Arc::clone(&scans[0].table);
            placed(&table, Box::new(EndsOp::new(scans)))
        }
        Plan::Virtual { slot, table, sought } => Box::new(VirtualOp::new(slot, table, sought)),
        Plan::Counted { input, number } => {
            Box::new(CountedOp { inner: build(*input, inner), number, spent_ns: 0, rows: 0 })
        }
        Plan::Derived { slot, query, lateral, .. } => {
            let keep = inner && !query.correlated && !lateral;
            let query = build_query(*query);
            Box::new(DerivedOp { slot, query, keep, lateral, kept: None, bytes: Vec::new(), next: Place::default() })
        }
        Plan::JsonTable(table) => Box::new(JsonTableOp::new(*table)),
        Plan::Recursive(r) => Box::new(RecursiveOp::new(*r, build_query)),
        Plan::Working { slot, number } => Box::new(WorkingOp { slot, number, next: Place::default(), end: 0 }),
        Plan::Join(j) => build_join(*j, inner),
        Plan::Filter { input, condition } => filter(build(*input, inner), condition),
        Plan::Group(g) => {
            let mut g = *g;
            let input = build(std::mem::replace(&mut g.input, Plan::One), inner);
            Box::new(GroupOp::new(input, g))
        }
        Plan::Window(w) => {
            let mut w = *w;
            let input = build(std::mem::replace(&mut w.input, Plan::One), inner);
            Box::new(WindowOp::new(input, w))
        }
        Plan::Sort(s) => {
            let s = *s;
            Box::new(SortOp::new(build(s.input, inner), s.keys, s.unique, s.values, s.slot, s.limit))
        }
        Plan::Computed { input, slot, values } => Box::new(ComputedOp { input: build(*input, inner), slot, values }),
        Plan::Distinct { input, values } => Box::new(DistinctOp::new(build(*input, inner), values)),
        Plan::Limit { input, count, offset, count_all } => {
            let input = build(*input, inner);
            Box::new(LimitOp { input, count, offset, left: 0, skip: 0, count_all, seen: 0, ended: false })
        }
        Plan::SetOp(s) => build_set(*s),
    }
}

fn build_join(mut j: Join, inner: bool) -> Box<dyn Op> {
    let left = build(std::mem::replace(&mut j.left, Plan::One), inner);
    if j.batch.is_some() {
        return Box::new(BatchedOp::new(left, j));
    }
    if j.hash.is_empty() {
        let right = build(j.right, true);
        return Box::new(LoopOp {
            left,
            right,
            kind: j.kind,
            condition: j.condition,
            right_slots: j.right_slots,
            state: State::Done,
        });
    }
    let (left_keys, right_keys) = j.hash.into_iter().unzip();
    Box::new(HashOp {
        left,
        right: build(j.right, inner),
        kind: j.kind,
        condition: j.condition,
        right_slots: j.right_slots,
        left_keys,
        right_keys,
        in_order: j.in_order,
        rows: Rows::default(),
        state: State::Done,
        chain: u32::MAX,
        key: Vec::new(),
        spilled: Spilled::default(),
    })
}

fn build_set(s: SetOp) -> Box<dyn Op> {
    let union = s.kind == SetKind::Union && !s.all;
    let columns = s.left.outputs.iter().enumerate().map(|(i, e)| Expr::column(s.slot, i, e.ty));
    let columns: Vec<Expr> = if union { columns.collect() } else { Vec::new() };
    let rows = Box::new(SetOpOp {
        kind: s.kind,
        all: s.all || union,
        left: build_query(s.left),
        right: build_query(s.right),
        slot: s.slot,
        second: false,
        waiting: None,
        seen: KeySet::default(),
        counts: HashMap::new(),
        counted_bytes: 0,
        key: Vec::new(),
    });
    // The set of a union's rows goes on in files, as that of DISTINCT does.
    if union { Box::new(DistinctOp::new(rows, columns)) } else { rows }
}

fn build_scan(scan: Scan) -> Box<dyn Op> {
    match &scan.access {
        access if access.loose.is_some() => Box::new(LooseOp::new(scan)),
        access if access.skip.is_some() => Box::new(SkipOp::new(scan)),
        _ if scan.multi_range => Box::new(MultiRangeOp::new(scan)),
        _ => Box::new(ScanOp::new(scan)),
    }
}

/// A query block ready to run.
pub fn build_query(plan: QueryPlan) -> Query {
    if cfg!(debug_assertions) {
        sound::assert_sound(&plan);
    }
    let frame = Frame::new(plan.shapes, slot_names(&plan.plan));
    Query::new(build(plan.plan, false), frame, plan.outputs)
}

/// A subquery of an expression, ready to run.
pub fn build_subquery(mut plan: QueryPlan) -> Subquery {
    let correlated = plan.correlated || plan.varies;
    let reads = if correlated { std::mem::take(&mut plan.reads) } else { Vec::new() };
    Subquery::new(build_query(plan), correlated, reads)
}
