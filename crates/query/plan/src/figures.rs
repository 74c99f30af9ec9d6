//! What a plan says for the status counters `Select_*` and `Handler_external_lock`, each time that it is executed.

use super::node::{Body, Group, IndexRange, InsertSource, Plan, QueryPlan, Scan, SetKind};
use observe::Counter;

/// How the tables of a statement's joins are read. MySQL counts each join when it optimizes it, whether it comes to run or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    scan: u64,
    range: u64,
    full_join: u64,
    full_range_join: u64,
    /// Is there something to count of these?
    joins: bool,
    /// Tables that the statement names, each time that it does.
    tables: u64,
}

impl Figures {
    /// Of a statement and its subqueries, that names so many tables.
    pub fn of<'p>(body: &'p Body, subqueries: impl Iterator<Item = &'p QueryPlan>, tables: u64) -> Figures {
        let mut figures = Figures { tables, ..Figures::default() };
        match body {
            Body::Query(query, _) | Body::OneRow(query) => figures.block(&query.plan),
            Body::Insert(insert) => {
                if let InsertSource::Query(query) = &insert.source {
                    figures.block(&query.plan);
                }
            }
            Body::UpdateMany(update) => figures.block(&update.plan),
            Body::DeleteMany(delete) => figures.block(&delete.plan),
            // Those of one table are no joins, and EXPLAIN counts nothing.
            Body::Do(_) | Body::Values(_) | Body::Update(_) | Body::Delete(_) => {}
            Body::Explain(_) => return figures,
        }
        subqueries.filter(|query| !query.absorbed).for_each(|query| figures.block(&query.plan));
        figures
    }

    /// Of tables with a lock of their own, how many locks and unlocks an execution makes.
    pub fn external_locks(&self) -> u64 {
        2 * self.tables
    }

    /// Counts the joins of one execution.
    #[inline]
    pub fn count_joins(&self) {
        if self.joins {
            let lane = observe::lane();
            lane.add(Counter::SelectScan, self.scan);
            lane.add(Counter::SelectRange, self.range);
            lane.add(Counter::SelectFullJoin, self.full_join);
            lane.add(Counter::SelectFullRangeJoin, self.full_range_join);
        }
    }

    /// Does an execution count joins or scans that found no index to go by?
    pub fn uses_no_index(&self) -> bool {
        self.scan + self.full_join != 0
    }

    fn block(&mut self, plan: &Plan) {
        self.walk(plan, true);
    }

    /// `first`: the first table of its join.
    fn walk(&mut self, plan: &Plan, first: bool) {
        match plan {
            Plan::One | Plan::Values { .. } | Plan::JsonTable(_) | Plan::Working { .. } | Plan::Ends(_) => {}
            Plan::Scan(scan) => self.table(scan, first),
            Plan::IndexMerge(_) | Plan::Intersection(_) => self.ranges(first),
            Plan::Virtual { .. } => self.all(first),
            Plan::Derived { query, .. } => {
                self.block(&query.plan);
                self.all(first);
            }
            Plan::Recursive(recursive) => {
                self.block(&recursive.seed.plan);
                recursive.steps.iter().for_each(|step| self.block(&step.plan));
            }
            Plan::Join(join) => {
                self.walk(&join.left, first);
                self.walk(&join.right, false);
            }
            Plan::Group(group) if is_answered_by_index(group) => {}
            Plan::Group(group) => self.walk(&group.input, first),
            Plan::Window(window) => self.walk(&window.input, first),
            Plan::Sort(sort) => {
                if matches!(&sort.input, Plan::SetOp(set) if set.all && set.kind == SetKind::Union) {
                    // Its rows are those of a temporary table.
                    self.all(true);
                }
                self.walk(&sort.input, first);
            }
            Plan::Counted { input, .. }
            | Plan::Filter { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Computed { input, .. }
            | Plan::Limit { input, .. } => self.walk(input, first),
            Plan::SetOp(set) => {
                self.block(&set.left.plan);
                self.block(&set.right.plan);
                if !(set.all && set.kind == SetKind::Union) {
                    self.all(true);
                }
            }
        }
    }

    fn table(&mut self, scan: &Scan, first: bool) {
        let access = &scan.access;
        if access.loose.is_some() || access.skip.is_some() {
            self.ranges(first);
        } else if access.ranges.is_empty() {
            self.all(first);
        } else if !matches!(&access.ranges[..], [range] if is_lookup(range)) {
            self.ranges(first);
        }
    }

    fn all(&mut self, first: bool) {
        *(if first { &mut self.scan } else { &mut self.full_join }) += 1;
        self.joins = true;
    }

    fn ranges(&mut self, first: bool) {
        *(if first { &mut self.range } else { &mut self.full_range_join }) += 1;
        self.joins = true;
    }
}

/// One key, or the beginning of one.
fn is_lookup(range: &IndexRange) -> bool {
    range.is_one_key() && !range.bounded && range.pattern.is_none() && range.lower.is_none() && range.upper.is_none()
}

/// MIN and MAX at the ends of an index, or COUNT(*) of a whole table: MySQL optimizes the tables away.
fn is_answered_by_index(group: &Group) -> bool {
    let counts = group.aggregates.iter().all(|call| call.counts_rows());
    group.implicit
        && match &group.input {
            Plan::Scan(scan) => scan.access.loose.is_some() || scan.access.ranges.is_empty() && counts,
            Plan::Limit { input, .. } => is_end_of_index(input),
            _ => false,
        }
}

/// The first or last entry that is not NULL.
fn is_end_of_index(plan: &Plan) -> bool {
    match plan {
        Plan::Filter { input, .. } => is_end_of_index(input),
        Plan::Scan(scan) => scan.access.ordered,
        _ => false,
    }
}
