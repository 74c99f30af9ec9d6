//! Plans as plain data: what the planner decides, what tests print, what operators are built from.

pub mod file;
pub mod json_table;
pub mod rules;
pub mod sound;

pub use file::{FieldTarget, FileSource};

use crate::ColumnMeta;
use catalog::Table;
use engine::Read;
use expr::Expr;
use expr::Shape;
use expr::array::Search;
use expr::call::AggregateCall;
use json_table::JsonTable;
use rules::Rules;
use std::fmt::Write as _;
use std::sync::Arc;
use types::CollationId;

/// A query block: where rows come from, and what each row of the result is made of.
pub struct QueryPlan {
    pub plan: Plan,
    pub shapes: Vec<Shape>,
    pub outputs: Vec<Expr>,
    pub columns: Vec<ColumnMeta>,
    /// Reads columns of a query around it.
    pub correlated: bool,
    /// A subquery that may come out differently each time that it is asked: nothing of it is kept.
    pub varies: bool,
    /// These, as the query just around it reads them. None once the statement is planned, where they alone do not decide its result.
    pub reads: Vec<Expr>,
    /// A subquery whose tables are joined to those of the query around it, or that stands in a plan that another one supersedes: it
    /// is not run.
    pub absorbed: bool,
}

impl QueryPlan {
    /// Leaves nothing of it to run. Of a plan that was given up halfway, the outputs may read slots that it does not have yet.
    pub fn drop_plan(&mut self) {
        (self.plan, self.absorbed) = (Plan::One, true);
        self.shapes.clear();
        self.outputs.clear();
    }
}

/// A text column of a virtual table that must have one of some constants.
#[derive(Debug)]
pub struct SoughtColumn {
    pub column: usize,
    pub values: Vec<Expr>,
    pub collation: CollationId,
}

/// How rows come about. Each node says which slots its rows fill.
pub enum Plan {
    /// One row without columns: SELECT without FROM.
    One,
    Values {
        slot: usize,
        rows: Vec<Vec<Expr>>,
    },
    Scan(Scan),
    IndexMerge(Box<IndexMerge>),
    Intersection(Box<Intersection>),
    /// The first row of each of these scans of one table, in one slot: the ends of its indexes, with the MIN and the MAX of columns.
    Ends(Vec<Scan>),
    /// A table of information_schema or performance_schema.
    Virtual {
        slot: usize,
        table: Arc<Table>,
        /// What its rows have to be like, besides the conditions that are asked of them.
        sought: Vec<SoughtColumn>,
    },
    Derived {
        slot: usize,
        query: Box<QueryPlan>,
        /// It reads the current rows of the block that it is part of.
        lateral: bool,
        alias: String,
    },
    JsonTable(Box<JsonTable>),
    /// EXPLAIN ANALYZE: rows and time of a node go to the counter of that number.
    Counted {
        input: Box<Plan>,
        number: usize,
    },
    Recursive(Box<Recursive>),
    /// The rows that a recursive expression has made last.
    Working {
        slot: usize,
        number: usize,
    },
    Join(Box<Join>),
    Filter {
        input: Box<Plan>,
        condition: Expr,
    },
    Group(Box<Group>),
    Window(Box<Window>),
    Sort(Box<Sort>),
    Distinct {
        input: Box<Plan>,
        values: Vec<Expr>,
    },
    /// Rows with values that are computed once for all who read them, as a tuple of their own.
    Computed {
        input: Box<Plan>,
        slot: usize,
        values: Vec<Expr>,
    },
    Limit {
        input: Box<Plan>,
        count: Expr,
        offset: Option<Expr>,
        /// SQL_CALC_FOUND_ROWS: the rows beyond are counted.
        count_all: bool,
    },
    SetOp(Box<SetOp>),
}

/// A table that is read by one access path.
pub struct Scan {
    pub slot: usize,
    /// As the statement calls the table.
    pub alias: String,
    pub table: Arc<Table>,
    /// The view that the statement names in the table's place.
    pub view: Option<u64>,
    pub access: Access,
    pub read: Read,
    /// The index alone holds every column that is read.
    pub covering: bool,
    /// Expected rows if few, as a hint for the cursor.
    pub limit_hint: Option<Expr>,
    /// Conditions that the ranges say exactly, as long as the values at hand can be searched for as they are. Checked row by
    /// row only in an execution where one cannot.
    pub implied: Option<Expr>,
    /// Estimates: rows that one opening reads, and the share of them that the other conditions keep.
    pub rows: f64,
    pub filtered: f64,
    /// Indexes that the conditions could use.
    pub possible: Vec<usize>,
    /// Entries of the index are collected, and their rows read in the order of the clustered index.
    pub multi_range: bool,
}

impl Scan {
    /// May the index have several entries of a row?
    pub fn is_multi_valued(&self) -> bool {
        self.table.indexes[self.access.index].array_part.is_some()
    }

    /// Are rows found by other columns than these? Then a row that is changed while the scan goes on is not met again.
    pub fn is_blind_to(&self, columns: &[usize]) -> bool {
        let index = &self.table.indexes[self.access.index];
        let one_row = match &self.access.ranges[..] {
            [range] => index.unique && range.equal.len() == index.parts.len() && range.is_one_key(),
            _ => false,
        };
        one_row || !index.parts.iter().any(|p| columns.contains(&p.column))
    }

    /// Does it read the rows of one key, or of the beginning of one?
    pub fn is_of_one_key(&self) -> bool {
        matches!(&self.access.ranges[..], [range] if range.is_one_key())
    }
}

/// The rows of one table that branches of an OR find by different indexes. Each row is passed on by the first branch whose
/// condition it fulfils, so none comes twice and nothing is kept.
pub struct IndexMerge {
    pub branches: Vec<(Scan, Expr)>,
    pub rows: f64,
    pub filtered: f64,
    pub possible: Vec<usize>,
}

impl IndexMerge {
    /// The first of its scans: they are all of one table, in one slot.
    pub fn first(&self) -> &Scan {
        &self.branches[0].0
    }
}

/// The rows of one table that several secondary indexes have under one key each.
pub struct Intersection {
    /// In the order in which they are asked. Of their entries the clustered keys are read.
    pub scans: Vec<Scan>,
    pub rows: f64,
    pub filtered: f64,
    pub possible: Vec<usize>,
}

/// A scan that reads a few entries of each group only: GROUP BY, DISTINCT, MIN and MAX by an index.
#[derive(Clone, Copy, Debug)]
pub struct Loose {
    /// Leading parts that are one value in a group.
    pub parts: usize,
    /// Of the part behind them: the least value that is not NULL, and the greatest.
    pub min: bool,
    pub max: bool,
}

/// Which index is read, and which parts of it.
pub struct Access {
    pub index: usize,
    /// Empty: all of it. Else the union of these.
    pub ranges: Vec<IndexRange>,
    pub backward: bool,
    /// Taken for the order of its rows.
    pub ordered: bool,
    pub loose: Option<Loose>,
    pub skip: Option<Box<Skip>>,
}

/// A scan that hops from one value of the leading parts to the next, and reads a range of a later part behind each.
pub struct Skip {
    /// How many parts come before that one.
    pub parts: usize,
    pub bound: IndexRange,
}

/// A set of key ranges: every combination of the first parts' alternatives, with bounds on the part after.
#[derive(Clone, Debug, Default)]
pub struct IndexRange {
    pub equal: Vec<Vec<Expr>>,
    /// With `<=>`-like meaning: a NULL among `equal` matches NULL (IS NULL) for these parts.
    pub nulls: Vec<bool>,
    /// Of a multi-valued index: how the one alternative for its array part is looked for in the array, and for about how many
    /// elements.
    pub array: Option<(Search, usize)>,
    pub lower: Option<(Expr, bool)>,
    pub upper: Option<(Expr, bool)>,
    /// Instead of bounds: LIKE this pattern, with its escape character.
    pub pattern: Option<(Expr, Option<char>)>,
    /// `c > NULL`-like bounds exclude NULL; a range without lower bound starts after NULL.
    pub bounded: bool,
}

impl IndexRange {
    /// Has each part one value?
    pub fn is_one_key(&self) -> bool {
        let one_element = self.array.is_none_or(|(search, _)| search == Search::Member);
        one_element && self.equal.iter().all(|e| e.len() == 1)
    }
}

/// Which rows of its two sides a join gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    /// Left rows without a match come with a right side that is NULL.
    LeftOuter,
    /// Left rows that have a match, once.
    Semi,
    /// Left rows that have none.
    Anti,
}

/// Rows of two sides together.
pub struct Join {
    pub kind: JoinKind,
    pub left: Plan,
    pub right: Plan,
    pub condition: Option<Expr>,
    /// Slots that become NULL when no right row matches.
    pub right_slots: Vec<usize>,
    /// Equal pairs (left side, right side) for a hash join; empty: the right side is opened again for each left row.
    pub hash: Vec<(Expr, Expr)>,
    /// Batched key access: the slots of the rows that the right side is looked up for, many at a time. The right side is a scan
    /// then, maybe with a filter.
    pub batch: Option<Vec<usize>>,
    /// Right rows of one key of a hash join come in the order in which they were read, and not as in MySQL's, the last one first.
    pub in_order: bool,
}

/// Groups of rows, and what is computed of each.
pub struct Group {
    pub input: Plan,
    pub keys: Vec<Expr>,
    pub aggregates: Vec<AggregateCall>,
    pub slot: usize,
    /// Subtotals: a group for each prefix of the keys as well. Behind the aggregates a column has a bit for each key that is
    /// rolled up.
    pub rollup: bool,
    /// Rows come group by group: one group at a time is computed, and is there when the next one begins.
    pub in_order: bool,
    /// Slots whose rows are kept of each group's first row, for correlated subqueries.
    pub keep: Vec<usize>,
    /// No GROUP BY: one row also for an empty input.
    pub implicit: bool,
    /// With ROLLUP: constant conditions. Where one is not true, MySQL has constant keys in the total of no rows.
    pub conditions: Vec<Expr>,
}

impl Group {
    /// Are the ends of indexes all that it reads? They are read before anything else, as far as MySQL tells.
    pub fn is_of_ends(&self) -> bool {
        match &self.input {
            Plan::Counted { input, .. } => matches!(**input, Plan::Ends(_)),
            input => matches!(input, Plan::Ends(_)),
        }
    }
}

/// A recursive common table expression.
pub struct Recursive {
    /// Of its working table.
    pub number: usize,
    pub slot: usize,
    pub seed: QueryPlan,
    pub steps: Vec<QueryPlan>,
    pub distinct: bool,
    /// Types and names of its columns, which the steps' values are converted for.
    pub types: Vec<types::DataType>,
    /// Of those that are ENUM or SET.
    pub members: Vec<Arc<[String]>>,
    pub names: Vec<String>,
    /// No more rows are made than this.
    pub limit: Option<(Expr, Option<Expr>)>,
}

/// Window functions over the same rows in the same order.
pub struct Window {
    pub input: Plan,
    /// Slots that hold the input's row.
    pub keep: Vec<usize>,
    pub partition: Vec<Expr>,
    pub order: Vec<SortKey>,
    /// What the steps read of each row, as a tuple in `value_slot`.
    pub values: Vec<Expr>,
    pub value_slot: usize,
    pub steps: Vec<(Step, StepFrame)>,
    /// Gets the steps' results.
    pub slot: usize,
}

/// One window function. Numbers are positions in [`Window::values`].
pub enum Step {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile(Expr),
    First(usize),
    Last(usize),
    Nth(usize, Expr),
    Shift { value: usize, default: Option<usize>, offset: Expr, forward: bool },
    Aggregate(Box<AggregateCall>),
}

/// The frame of a step of windows.
pub struct StepFrame {
    /// The current row is itself; else its peers as well.
    pub rows: bool,
    pub start: Edge,
    pub end: Edge,
}

/// One end of a frame.
pub enum Edge {
    Unbounded,
    Current,
    /// So many rows before or after.
    Before(Expr),
    After(Expr),
    /// Rows whose `key` does not lie beyond the current row's `limit`.
    Key {
        key: usize,
        limit: usize,
    },
}

/// What rows are sorted by.
pub struct SortKey {
    pub expr: Expr,
    pub descending: bool,
}

/// Rows in an order.
pub struct Sort {
    pub input: Plan,
    /// A key that is a column of `slot` is the value that is kept there.
    pub keys: Vec<SortKey>,
    /// Rows whose keys are all equal are one row (DISTINCT).
    pub unique: bool,
    /// What is kept of each row, in the tuple of `slot`.
    pub values: Vec<Expr>,
    pub slot: usize,
    /// LIMIT and OFFSET above: only so many rows need to be kept.
    pub limit: Option<(Expr, Option<Expr>)>,
}

/// UNION, INTERSECT, EXCEPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    Union,
    Intersect,
    Except,
}

/// The rows of two queries together.
pub struct SetOp {
    pub kind: SetKind,
    pub all: bool,
    pub left: QueryPlan,
    pub right: QueryPlan,
    pub slot: usize,
    /// What the sides gave before they were brought to one type, until a UNION around this one has asked.
    pub given: Option<[Vec<Expr>; 2]>,
}

/// A whole statement. A query has the user variables of its INTO.
pub enum Body {
    Query(Box<QueryPlan>, Vec<String>),
    /// SELECT INTO variables of a program: one row, or none and a warning.
    OneRow(Box<QueryPlan>),
    /// The value of each, as a row.
    Values(Vec<Expr>),
    Do(Vec<Expr>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    UpdateMany(Box<UpdateMany>),
    DeleteMany(Box<DeleteMany>),
    Explain(Box<Explain>),
}

/// One line of the tree: what stands before its figures, its estimates, and the counter of its node.
#[derive(Clone, Debug)]
pub struct Line {
    pub depth: usize,
    pub text: String,
    pub cost: f64,
    pub rows: Option<f64>,
    pub counter: Option<usize>,
}

/// EXPLAIN: what it answers, or what runs to find out.
pub struct Explain {
    pub columns: Vec<ColumnMeta>,
    pub rows: Vec<Vec<types::Value<'static>>>,
    /// EXPLAIN ANALYZE: the query with its nodes counted, and the lines to fill in.
    pub analyze: Option<(Box<QueryPlan>, Vec<Line>)>,
    /// EXPLAIN INTO: the user variable that gets the text.
    pub into: Option<String>,
}

/// INSERT and REPLACE.
pub struct Insert {
    pub table: Arc<Table>,
    /// Schema and name of the view that the statement names instead.
    pub view: Option<Arc<(String, String)>>,
    /// What the view asks of a row that REPLACE takes away, over slot 0.
    pub visible: Option<Expr>,
    pub replace: bool,
    pub ignore: bool,
    /// Target column of each given value.
    pub columns: Vec<usize>,
    pub source: InsertSource,
    /// (column, value): evaluated over slot 0 the existing row and slot 1 the row that was to be inserted.
    pub on_duplicate: Vec<(usize, Assigned)>,
    /// A value of `source` reads columns of its own row, in slot 0.
    pub reads_row: bool,
    /// The query reads the table itself: MySQL keeps its rows in a temporary table first.
    pub buffered: bool,
    /// The query reads the table itself in some way, so that its rows have to be kept apart until it ends.
    pub kept: bool,
    pub shapes: Vec<Shape>,
    pub rules: Option<Arc<Rules>>,
}

/// Where the rows of an INSERT come from.
pub enum InsertSource {
    Rows(Vec<Vec<Assigned>>),
    Query(Box<QueryPlan>),
    File(Box<FileSource>),
}

/// What a column is set to.
#[derive(Clone, Debug)]
pub enum Assigned {
    Default,
    Value(Expr),
}

/// The rows that an UPDATE or DELETE is about.
pub struct Target {
    pub table: Arc<Table>,
    pub plan: Plan,
    pub slot: usize,
    pub shapes: Vec<Shape>,
    /// Collect the rows' keys first, then write: the scan reads a key that the statement changes, or rows are sorted.
    pub collect: bool,
    /// Sort before writing; empty when the scan's order is right.
    pub order: Vec<SortKey>,
    pub limit: Option<Expr>,
}

/// UPDATE of one table.
pub struct Update {
    pub target: Target,
    pub ignore: bool,
    pub set: Vec<(usize, Assigned)>,
    pub rules: Option<Arc<Rules>>,
}

/// DELETE from one table.
pub struct Delete {
    pub target: Target,
    pub ignore: bool,
    pub rules: Option<Arc<Rules>>,
}

/// UPDATE of a join: the tables that are written, in the order of FROM.
pub struct UpdateMany {
    pub plan: Plan,
    pub shapes: Vec<Shape>,
    pub targets: Vec<UpdateTarget>,
    /// The statement is an UPDATE of one table: an assignment sees what those to its left have made.
    pub alone: bool,
    pub ignore: bool,
}

/// A table that UPDATE of several tables writes.
pub struct UpdateTarget {
    pub slot: usize,
    pub table: Arc<Table>,
    pub set: Vec<(usize, Assigned)>,
    /// Columns that conditions of the join read; `None`: the table stands in it more than once.
    pub read: Option<Vec<usize>>,
    pub rules: Option<Arc<Rules>>,
    /// Views that it is written through, and what their CHECK OPTIONs ask of the joined row.
    pub checks: Vec<(String, Expr)>,
}

/// DELETE from a join: (slot, table, rules) of those that rows are deleted from.
pub struct DeleteMany {
    pub plan: Plan,
    pub shapes: Vec<Shape>,
    pub targets: Vec<(usize, Arc<Table>, Option<Arc<Rules>>)>,
    /// The statement is a DELETE from one table.
    pub alone: bool,
    pub ignore: bool,
}

impl Target {
    fn print(&self, verb: &str, out: &mut String) {
        let _ = write!(out, "{verb} {}", self.table.name);
        if self.collect {
            out.push_str(" collect");
        }
        if !self.order.is_empty() {
            let _ = write!(out, " sort keys={}", self.order.len());
        }
        if self.limit.is_some() {
            out.push_str(" limit");
        }
        out.push('\n');
        self.plan.print(1, out);
    }
}

impl Body {
    /// The columns of the result; none of a statement without one.
    pub fn columns(&self) -> &[ColumnMeta] {
        match self {
            Body::Query(q, into) if into.is_empty() => &q.columns,
            Body::Explain(e) if e.into.is_none() => &e.columns,
            _ => &[],
        }
    }

    /// Types of what the program that it is part of takes.
    pub fn value_types(&self) -> Box<[types::DataType]> {
        match self {
            Body::OneRow(q) => q.outputs.iter().map(|e| e.ty).collect(),
            Body::Values(list) => list.iter().map(|e| e.ty).collect(),
            _ => Box::default(),
        }
    }

    /// The plan as text, a node a line: for tests.
    pub fn print(&self) -> String {
        let mut out = String::new();
        match self {
            Body::Query(q, _) | Body::OneRow(q) => q.plan.print(0, &mut out),
            Body::Values(_) => out.push_str("values\n"),
            Body::Do(_) => out.push_str("do\n"),
            Body::Insert(i) => {
                let verb = if i.replace { "replace" } else { "insert" };
                let _ = writeln!(out, "{verb} {}", i.table.name);
                if let InsertSource::Query(q) = &i.source {
                    q.plan.print(1, &mut out);
                }
            }
            Body::Update(u) => u.target.print("update", &mut out),
            Body::Delete(d) => d.target.print("delete", &mut out),
            Body::Explain(_) => out.push_str("explain\n"),
            Body::UpdateMany(u) => {
                let names: Vec<&str> = u.targets.iter().map(|t| &t.table.name[..]).collect();
                let _ = writeln!(out, "update {}", names.join(", "));
                u.plan.print(1, &mut out);
            }
            Body::DeleteMany(d) => {
                let names: Vec<&str> = d.targets.iter().map(|(_, t, _)| &t.name[..]).collect();
                let _ = writeln!(out, "delete {}", names.join(", "));
                d.plan.print(1, &mut out);
            }
        }
        out
    }
}

impl Plan {
    /// The plan with a counter around each of its nodes, also of queries in FROM; `next` counts them.
    pub fn counted(self, next: &mut usize) -> Plan {
        let number = *next;
        *next += 1;
        let within = |q: QueryPlan, next: &mut usize| QueryPlan { plan: q.plan.counted(next), ..q };
        let plan = match self {
            Plan::Derived { slot, query, lateral, alias } => {
                Plan::Derived { slot, query: Box::new(within(*query, next)), lateral, alias }
            }
            Plan::Recursive(r) => {
                let r = *r;
                let seed = within(r.seed, next);
                let steps = r.steps.into_iter().map(|s| within(s, next)).collect();
                Plan::Recursive(Box::new(Recursive { seed, steps, ..r }))
            }
            Plan::Join(j) => {
                let j = *j;
                let left = j.left.counted(next);
                // A batched lookup has no loops of its own.
                let right = if j.batch.is_some() { j.right } else { j.right.counted(next) };
                Plan::Join(Box::new(Join { left, right, ..j }))
            }
            Plan::Filter { input, condition } => Plan::Filter { input: Box::new(input.counted(next)), condition },
            Plan::Group(g) => {
                let g = *g;
                Plan::Group(Box::new(Group { input: g.input.counted(next), ..g }))
            }
            Plan::Window(w) => {
                let w = *w;
                Plan::Window(Box::new(Window { input: w.input.counted(next), ..w }))
            }
            Plan::Sort(s) => {
                let s = *s;
                Plan::Sort(Box::new(Sort { input: s.input.counted(next), ..s }))
            }
            Plan::Distinct { input, values } => Plan::Distinct { input: Box::new(input.counted(next)), values },
            Plan::Computed { input, slot, values } => {
                Plan::Computed { input: Box::new(input.counted(next)), slot, values }
            }
            Plan::Limit { input, count, offset, count_all } => {
                Plan::Limit { input: Box::new(input.counted(next)), count, offset, count_all }
            }
            Plan::SetOp(s) => {
                let s = *s;
                let left = within(s.left, next);
                Plan::SetOp(Box::new(SetOp { left, right: within(s.right, next), ..s }))
            }
            leaf => leaf,
        };
        Plan::Counted { input: Box::new(plan), number }
    }

    /// The table that is read first, when rows come straight from a join.
    /// An UPDATE takes the first row of several that give a value, as loops would come by them.
    pub fn set_in_order(&mut self) {
        match self {
            Plan::Filter { input, .. } => input.set_in_order(),
            Plan::Join(j) => {
                j.in_order = true;
                j.left.set_in_order();
                j.right.set_in_order();
            }
            _ => {}
        }
    }

    /// Is the table in `slot` the one that is read first?
    pub fn begins_with(&self, slot: usize) -> bool {
        match self {
            Plan::Scan(s) => s.slot == slot,
            Plan::IndexMerge(m) => m.first().slot == slot,
            Plan::Intersection(m) => m.scans[0].slot == slot,
            Plan::Ends(scans) => scans[0].slot == slot,
            Plan::Filter { input, .. } | Plan::Counted { input, .. } => input.begins_with(slot),
            Plan::Join(j) => j.left.begins_with(slot),
            _ => false,
        }
    }

    /// The scan that is read first, if the plan begins with one.
    pub fn first_scan(&self) -> Option<&Scan> {
        match self {
            Plan::Scan(s) => Some(s),
            Plan::Filter { input, .. } => input.first_scan(),
            Plan::Join(j) => j.left.first_scan(),
            _ => None,
        }
    }

    /// One line an operator, inputs indented below.
    pub fn print(&self, depth: usize, out: &mut String) {
        for _ in 0..depth {
            out.push_str("  ");
        }
        match self {
            Plan::One => out.push_str("one row\n"),
            Plan::Values { rows, .. } => {
                let _ = writeln!(out, "values {} rows", rows.len());
            }
            Plan::Scan(s) => s.print(out),
            Plan::IndexMerge(m) => print_parts("index merge", m.branches.iter().map(|(scan, _)| scan), depth, out),
            Plan::Intersection(m) => print_parts("index intersection", m.scans.iter(), depth, out),
            Plan::Ends(scans) => print_parts("ends of indexes", scans.iter(), depth, out),
            Plan::Virtual { table, .. } => {
                let _ = writeln!(out, "virtual {}.{}", table.schema, table.name);
            }
            Plan::Derived { query, lateral, .. } => {
                out.push_str(if *lateral { "lateral\n" } else { "derived\n" });
                query.plan.print(depth + 1, out);
            }
            Plan::Recursive(r) => {
                out.push_str("recursive\n");
                r.seed.plan.print(depth + 1, out);
                r.steps.iter().for_each(|s| s.plan.print(depth + 1, out));
            }
            Plan::Working { .. } => out.push_str("working table\n"),
            Plan::JsonTable(_) => out.push_str("json table\n"),
            Plan::Counted { input, .. } => {
                out.push_str("counted\n");
                input.print(depth + 1, out);
            }
            Plan::Join(j) => {
                j.print(out);
                j.left.print(depth + 1, out);
                j.right.print(depth + 1, out);
            }
            Plan::Filter { input, .. } => {
                out.push_str("filter\n");
                input.print(depth + 1, out);
            }
            Plan::Group(g) => {
                let _ = writeln!(out, "group keys={} aggregates={}", g.keys.len(), g.aggregates.len());
                g.input.print(depth + 1, out);
            }
            Plan::Window(w) => {
                let _ = writeln!(
                    out,
                    "window partition={} order={} functions={}",
                    w.partition.len(),
                    w.order.len(),
                    w.steps.len()
                );
                w.input.print(depth + 1, out);
            }
            Plan::Sort(s) => {
                let _ = write!(out, "sort keys={}", s.keys.len());
                if s.unique {
                    out.push_str(" unique");
                }
                if s.limit.is_some() {
                    out.push_str(" top-n");
                }
                out.push('\n');
                s.input.print(depth + 1, out);
            }
            Plan::Distinct { input, values } => {
                let _ = writeln!(out, "distinct {}", values.len());
                input.print(depth + 1, out);
            }
            Plan::Computed { input, values, .. } => {
                let _ = writeln!(out, "computed {}", values.len());
                input.print(depth + 1, out);
            }
            Plan::Limit { input, .. } => {
                out.push_str("limit\n");
                input.print(depth + 1, out);
            }
            Plan::SetOp(s) => {
                let _ = writeln!(out, "{:?}{}", s.kind, if s.all { " all" } else { "" });
                s.left.plan.print(depth + 1, out);
                s.right.plan.print(depth + 1, out);
            }
        }
    }
}

fn print_parts<'s>(what: &str, scans: impl Iterator<Item = &'s Scan>, depth: usize, out: &mut String) {
    out.push_str(what);
    out.push('\n');
    for scan in scans {
        (0..=depth).for_each(|_| out.push_str("  "));
        scan.print(out);
    }
}

impl Join {
    fn print(&self, out: &mut String) {
        let kind = match self.kind {
            JoinKind::Inner => "join",
            JoinKind::LeftOuter => "left join",
            JoinKind::Semi => "semijoin",
            JoinKind::Anti => "antijoin",
        };
        let how = match (&self.batch, &self.hash[..]) {
            (Some(_), _) => "batched",
            (None, []) => "loop",
            _ => "hash",
        };
        let _ = writeln!(out, "{kind} ({how}){}", if self.condition.is_some() { " on ..." } else { "" });
    }
}

impl Scan {
    fn print(&self, out: &mut String) {
        let index = &self.table.indexes[self.access.index];
        let _ = write!(out, "scan {}.{}", self.table.name, index.name);
        for r in &self.access.ranges {
            out.push_str(" [");
            for (i, e) in r.equal.iter().enumerate() {
                let part = &self.table.columns[index.parts[i].column].name;
                match e.len() {
                    1 => _ = write!(out, "{part}= "),
                    n => _ = write!(out, "{part} in {n} "),
                }
            }
            if r.bounded {
                let part = &self.table.columns[index.parts[r.equal.len()].column].name;
                if let Some((_, inclusive)) = &r.lower {
                    let _ = write!(out, "{part}{} ", if *inclusive { ">=" } else { ">" });
                }
                if let Some((_, inclusive)) = &r.upper {
                    let _ = write!(out, "{part}{} ", if *inclusive { "<=" } else { "<" });
                }
                if r.pattern.is_some() {
                    let _ = write!(out, "{part} like ");
                }
            }
            if out.ends_with(' ') {
                out.pop();
            }
            out.push(']');
        }
        if self.access.backward {
            out.push_str(" backward");
        }
        if self.covering {
            out.push_str(" covering");
        }
        if self.access.loose.is_some() {
            out.push_str(" loose");
        }
        if self.access.skip.is_some() {
            out.push_str(" skip");
        }
        if self.multi_range {
            out.push_str(" multi-range");
        }
        if let Read::Locking { mode, .. } = self.read {
            let _ = write!(out, " {mode:?}");
        }
        out.push('\n');
    }
}
