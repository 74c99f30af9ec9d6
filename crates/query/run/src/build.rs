//! From plans to operators, and the execution of whole statements.

use super::batched::BatchedOp;
use super::beside::placed;
use super::change::{DeleteStatement, UpdateStatement};
use super::counted::{CountedOp, ExplainStatement};
use super::flow::{ComputedOp, DerivedOp, DistinctOp, OneOp, SetOpOp, ValuesOp};
use super::group::GroupOp;
use super::index_merge::IndexMergeOp;
use super::insert::InsertStatement;
use super::intersection::IntersectionOp;
use super::join::{HashOp, LoopOp, Rows, Spilled, State};
use super::json_table::JsonTableOp;
use super::key_set::KeySet;
use super::limit::LimitOp;
use super::loose::LooseOp;
use super::many::{DeleteManyStatement, UpdateManyStatement};
use super::multi_range::MultiRangeOp;
use super::one_time_filter::filter;
use super::recursive::{RecursiveOp, WorkingOp};
use super::scan::ScanOp;
use super::skip::SkipOp;
use super::sort::SortOp;
use super::spill::Place;
use super::subquery::Query;
use super::virtual_table::VirtualOp;
use super::window::WindowOp;
use super::{Frame, Op, Run, Scope, Step, recycle};
use crate::context::{Outcome, RowSink};
use expr::Execution;
use expr::Expr;
use hashbrown::HashMap;
use plan::ColumnMeta;
use plan::node::{Body, Join, Plan, Scan, SetKind, SetOp};
use std::sync::Arc;
use types::codes::*;
use types::{DataType, Result, TypeKind, Value, err};

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
        Plan::Virtual { slot, table, sought } => Box::new(VirtualOp { slot, table, sought, rows: Vec::new(), next: 0 }),
        Plan::Counted { input, number } => {
            Box::new(CountedOp { inner: build(*input, inner), number, spent_ns: 0, rows: 0 })
        }
        Plan::Derived { slot, query, lateral, .. } => {
            let keep = inner && !query.correlated && !lateral;
            let query = Query::new(*query);
            Box::new(DerivedOp { slot, query, keep, lateral, kept: None, bytes: Vec::new(), next: Place::default() })
        }
        Plan::JsonTable(table) => Box::new(JsonTableOp::new(*table)),
        Plan::Recursive(r) => Box::new(RecursiveOp::new(*r)),
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
        left: Query::new(s.left),
        right: Query::new(s.right),
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

/// A statement with its operators and buffers.
pub struct Statement {
    kind: Kind,
    /// The row on its way to the sink.
    values: Vec<Value<'static>>,
}

enum Kind {
    Query(Box<Query>, Vec<String>),
    OneRow(Box<Query>),
    Values(Vec<Expr>),
    Do(Vec<Expr>),
    Insert(Box<InsertStatement>),
    Update(Box<UpdateStatement>),
    Delete(Box<DeleteStatement>),
    UpdateMany(Box<UpdateManyStatement>),
    DeleteMany(Box<DeleteManyStatement>),
    Explain(Box<ExplainStatement>),
}

impl Statement {
    pub fn new(body: Body) -> Statement {
        let kind = match body {
            Body::Query(q, into) => Kind::Query(Box::new(Query::new(*q)), into),
            Body::OneRow(q) => Kind::OneRow(Box::new(Query::new(*q))),
            Body::Values(list) => Kind::Values(list),
            Body::Do(list) => Kind::Do(list),
            Body::Insert(i) => Kind::Insert(Box::new(InsertStatement::new(*i))),
            Body::Update(u) => Kind::Update(Box::new(UpdateStatement::new(*u))),
            Body::Delete(d) => Kind::Delete(Box::new(DeleteStatement::new(*d))),
            Body::UpdateMany(u) => Kind::UpdateMany(Box::new(UpdateManyStatement::new(*u))),
            Body::Explain(e) => Kind::Explain(Box::new(ExplainStatement::new(*e))),
            Body::DeleteMany(d) => Kind::DeleteMany(Box::new(DeleteManyStatement::new(*d))),
        };
        Statement { kind, values: Vec::new() }
    }

    /// Expressions whose values are wanted, and nothing else.
    pub fn values(&self) -> &[Expr] {
        match &self.kind {
            Kind::Values(list) => list,
            _ => unreachable!("planned for its values"),
        }
    }

    pub fn execute(&mut self, run: &Run<'_>, columns: &[ColumnMeta], sink: &mut dyn RowSink) -> Result<Outcome> {
        run.check_killed()?;
        match &mut self.kind {
            Kind::Query(q, into) if into.is_empty() => {
                q.forget();
                q.open(run, None)?;
                sink.columns(columns)?;
                let (mut rows, row) = (0, &mut self.values);
                q.each(run, &mut |outputs, at| {
                    rows += 1;
                    // The usual few columns go by the stack.
                    match outputs {
                        [a] => sink.row(&[a.eval(run, at)?])?,
                        [a, b] => sink.row(&[a.eval(run, at)?, b.eval(run, at)?])?,
                        [a, b, c] => sink.row(&[a.eval(run, at)?, b.eval(run, at)?, c.eval(run, at)?])?,
                        _ => {
                            let mut values = recycle(std::mem::take(row));
                            for e in outputs {
                                values.push(e.eval(run, at)?);
                            }
                            sink.row(&values)?;
                            *row = recycle(values);
                        }
                    }
                    run.evaluation.row.set(rows + 1);
                    Ok(Step::More)
                })?;
                Ok(Outcome { affected_rows: rows, found_rows: run.found_rows.get(), ..Outcome::default() })
            }
            Kind::Query(q, into) => select_into(q, into, run),
            Kind::OneRow(q) => {
                run.evaluation.strict.set(run.evaluation.sql_mode.is_strict());
                let Some(values) = one_row(q, run)? else { return Ok(Outcome::default()) };
                run.check_strict()?;
                sink.row(&values)?;
                Ok(Outcome { affected_rows: 1, ..Outcome::default() })
            }
            Kind::Values(list) => {
                let frame = Frame::new(Vec::new(), Vec::new());
                let values: Result<Vec<Value<'_>>> =
                    list.iter().map(|e| e.eval(run, Scope::new(&frame, None))).collect();
                sink.row(&values?)?;
                Ok(Outcome::default())
            }
            Kind::Do(list) => {
                let frame = Frame::new(Vec::new(), Vec::new());
                for e in list {
                    e.eval(run, Scope::new(&frame, None))?;
                }
                Ok(Outcome::default())
            }
            Kind::Insert(i) => changed(i.execute(run), run),
            Kind::Update(u) => changed(u.execute(run), run),
            Kind::Delete(d) => changed(d.execute(run), run),
            Kind::UpdateMany(u) => changed(u.execute(run), run),
            Kind::DeleteMany(d) => changed(d.execute(run), run),
            Kind::Explain(e) => e.execute(run, columns, sink),
        }
    }
}

/// How a changing statement ended: the first problem is its error, also if it showed in a condition that no row met.
fn changed(result: Result<Outcome>, run: &Run<'_>) -> Result<Outcome> {
    run.check_strict()?;
    result
}

/// The only row of a query: warning 1329 where there is none, and error 1172 where there are more.
fn one_row(q: &mut Query, run: &Run<'_>) -> Result<Option<Vec<Value<'static>>>> {
    q.forget();
    q.open(run, None)?;
    if !q.next(run, None)? {
        run.push_warning(err!(ER_SP_FETCH_NO_DATA));
        return Ok(None);
    }
    let mut values = Vec::with_capacity(q.outputs.len());
    for e in &q.outputs {
        values.push(e.eval(run, Scope::new(&q.frame, None))?.into_owned());
    }
    if q.next(run, None)? {
        return Err(err!(ER_TOO_MANY_ROWS));
    }
    Ok(Some(values))
}

/// The type of a user variable that is given such a value: it has one width of integers, and the widest decimals.
pub fn variable_type(ty: &DataType) -> DataType {
    match ty.kind {
        TypeKind::Decimal => DataType::decimal(types::Decimal::MAX_PRECISION, 30),
        kind => DataType { kind: if kind.is_integer() { TypeKind::BigInt } else { kind }, ..*ty },
    }
}

/// SELECT ... INTO @a, @b.
fn select_into(q: &mut Query, names: &[String], run: &Run<'_>) -> Result<Outcome> {
    let Some(values) = one_row(q, run)? else { return Ok(Outcome::default()) };
    for ((name, value), e) in names.iter().zip(values).zip(&q.outputs) {
        run.env.borrow_mut().set_user_variable(&name.to_ascii_lowercase(), value, variable_type(&e.ty));
    }
    Ok(Outcome { affected_rows: 1, ..Outcome::default() })
}
