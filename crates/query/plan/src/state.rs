//! What the planner knows while it plans, by what changes together.

use crate::constant::Constant;
use crate::hints::Hints;
use crate::names::{Block, Exports};
use crate::node::QueryPlan;
use crate::parameter::Parameter;
use crate::pushdown::Pushed;
use crate::query::Cte;
use crate::semijoin::Candidate;
use crate::target_reads::NamedView;
use crate::{LocalType, RoutineUse, TableUse, ViewRight};
use catalog::mdl::Pin;
use expr::Expr;
use expr::adapt::TemporalParam;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use types::{CollationId, DataType, SqlError};

/// Where in the statement the planner is.
pub struct Scope {
    /// The query blocks around the expression at hand, innermost last.
    pub blocks: Vec<Block>,
    /// Common table expressions in scope, innermost last.
    pub ctes: Vec<Cte>,
    /// The query is that of a view which MySQL merges: what its list reads is needed only as far as a statement uses its columns.
    pub is_merged_view: bool,
    /// Then, in that list: the place of the expression at hand.
    pub item: Option<usize>,
    /// The clause at hand, as error messages name it.
    pub clause: &'static str,
    /// Nesting of query expressions.
    pub level: usize,
    /// Joins around the table at hand whose inner side it is on.
    pub inner_side: usize,
    /// How many derived tables the query at hand is inside of.
    pub derived_depth: usize,
    /// How many views the one at hand is inside of.
    pub view_depth: usize,
    /// The outermost of the views that are being merged.
    pub merged_view: Option<u64>,
    /// EXPLAIN FOR SCHEMA: what tables without a schema are of.
    pub schema: Option<String>,
    /// Of a view: the schema that functions without one are of.
    pub routine_schema: Option<String>,
    /// And the definer whose call it is, and who is its CURRENT_USER().
    pub routine_caller: Option<String>,
    /// And the outermost of the views that the call is part of.
    pub routine_view: Option<(String, String)>,
}

/// The queries inside of the statement.
pub struct Queries {
    /// Subqueries that may become part of a join, by number.
    pub candidates: Vec<(usize, Box<Candidate>)>,
    /// Subqueries of expressions, by number.
    pub planned: Vec<QueryPlan>,
    /// Those of derived tables that are not merged.
    pub kept: Vec<Range<usize>>,
    /// Columns of queries further outside that were read, with the place of their block.
    pub outer_reads: Vec<(usize, Expr)>,
    /// Recursive common table expressions planned so far: each has a working table of that number.
    pub working_tables: usize,
}

/// What the statement uses: for privileges, metadata locks, and whoever runs it.
pub struct Uses {
    pub tables: Vec<TableUse>,
    /// How often the statement and its views name tables that have rows.
    pub named_tables: u64,
    /// Columns read; they join `tables` in the end.
    pub column_reads: RefCell<Vec<ColumnRead>>,
    /// What the views in use need.
    pub rights: Vec<ViewRight>,
    /// Views that the statement names, but not those that they are made of.
    pub named_views: Vec<NamedView>,
    /// Those that are.
    pub routines: Vec<RoutineUse>,
    /// Procedures and functions that are called, by whomever.
    pub called: Vec<Pin>,
    /// What is called uses temporary tables.
    pub calls_for_own: bool,
    /// Stored functions may be called, and triggers fire.
    pub calls_routines: bool,
}

/// A column that the statement reads.
pub struct ColumnRead {
    /// The table's or the view's.
    pub id: u64,
    pub name: String,
    /// `*` names it.
    pub star: bool,
    /// In the list of a view's query: the column of the view that it is part of.
    pub item: Option<usize>,
}

impl Uses {
    /// Adds routines that the statement calls, each once.
    pub fn note_called(&mut self, called: &[Pin]) {
        for pin in called {
            if !self.called.iter().any(|known| known.name == pin.name) {
                self.called.push(pin.clone());
            }
        }
    }
}

/// What the next SELECT, or the one at hand, is planned as.
pub struct Request {
    /// While INSERT ... SELECT ... ON DUPLICATE KEY UPDATE plans its query: asks the query for the columns of its tables, behind
    /// its own outputs.
    pub exports: Option<Exports>,
    /// The aggregate at hand has OVER: it may be of aggregates.
    pub over: bool,
    /// SELECT STRAIGHT_JOIN: tables of the block are joined as written.
    pub straight: bool,
    /// Subqueries of the condition at hand may become part of a join.
    pub takes_candidates: bool,
    /// The SELECT is a subquery that may become part of a join.
    pub is_candidate: bool,
    /// It has become one: what it is made of.
    pub candidate: Option<Box<Candidate>>,
    /// What of the statement may be merged.
    pub merges: super::source::Merges,
    /// The query planned now may be merged.
    pub merging: bool,
    /// It is that of a view which is written through: it has to be, with the table functions in it and the queries among its columns.
    pub through: super::source::Through,
    /// Conditions for the next SELECT that is planned.
    pub pushed: Option<Pushed>,
}

/// What there is to warn of.
pub struct Warnings {
    /// Warnings of every execution: what it reads is deprecated.
    pub notes: Vec<(u16, &'static str)>,
    /// Warnings of literals and deprecated words that were read while planning, for whoever reads the text.
    pub literal_warnings: Vec<(u16, String)>,
    /// What EXPLAIN tells of names, see [`super::resolved`].
    pub resolved: Vec<SqlError>,
}

/// What is known of parameters, and of literals that were lifted out of the text.
pub struct Parameters {
    /// Its parameters by number, as far as they have been met.
    pub known: Vec<Parameter>,
    /// Parameters that are compared with a date or time column: its type and name.
    pub beside_columns: Vec<(usize, DataType, String)>,
    /// Literals that were lifted out of the text and are compared with a date.
    pub temporal: Vec<TemporalParam>,
    /// Parameters beside columns in conditions, each behind what else has to hold for it to be asked for.
    pub asked: Vec<Expr>,
    /// Rows are changed under a strict mode: a literal that is no date is refused as one that is stored.
    pub stores: bool,
    /// Of a constant that a column would hold in part, the rest is told: a strict mode, and no IGNORE.
    pub tells_parts: bool,
    /// User variables of a type that the statement gives them, in small letters: those that LOAD DATA sets from the file, and those
    /// that are assigned to for the first time.
    pub variables: Vec<(String, DataType)>,
    /// The order of a join hangs from values of parameters, by a histogram.
    pub values_matter: Cell<bool>,
}

/// Constants that are computed once an execution.
pub struct Constants {
    /// Constants that are asked before any row is read, too.
    pub evaluated: Vec<Constant>,
    /// How many constants were given a number: it stays theirs where a query is planned again.
    pub numbered: i64,
}

/// How much planning there may be, and how much there was.
pub struct Budget {
    /// Height of the statement with the views and rules that it was found to read.
    pub height: u32,
    /// What there is stack for.
    pub height_max: u32,
    /// See [`crate::Planner::step`].
    pub steps: Cell<u32>,
    /// Query blocks planned so far, those that were planned again included.
    pub blocks_planned: usize,
    /// Those of them that [`crate::pushdown`] has planned again.
    pub blocks_anew: usize,
}

/// What was known before.
pub struct Settings {
    /// Optimizer hints, in a statement that has some.
    pub hints: Option<Box<Hints>>,
    /// An UPDATE or DELETE of one table is not planned as a join: one has turned out to win nothing.
    pub row_by_row: bool,
    /// The statement is not run, but described.
    pub explains: bool,
    /// Collation of literals: `collation_connection`.
    pub literal_collation: CollationId,
    /// The variables of the stored program that the statement is part of.
    pub locals: Arc<[LocalType]>,
    /// `optimizer_switch`, once it was asked for: its text is put together each time, and a join order asks by the thousand.
    pub switches: OnceCell<Vec<u8>>,
}

/// What has turned out.
pub struct Found {
    /// Something in the statement may come out differently each time.
    pub unsteady: bool,
    /// Something in the subquery at hand does: see `node::QueryPlan::varies`.
    pub varies: bool,
    /// A join of the one table that is changed wins nothing: whatever is planned is not wanted.
    pub wants_row_by_row: bool,
}
