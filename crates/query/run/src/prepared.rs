//! A planned statement with the buffers of its execution: what a session keeps for a prepared statement or cached text.

pub use crate::beside::Uses;
use crate::build::build_subquery;
use crate::context::{Env, Kept, Outcome, RowSink};
use crate::program::form::Form;
use crate::program::lent::Lent;
use crate::program::values::stored;
use crate::statement::Statement;
use crate::subquery::Subquery;
use crate::{PlainReads, Run};
use catalog::mdl::Pin;
use catalog::{Table, Version, error};
use engine::Transaction;
use expr::adapt::{TemporalParam, check_temporal, held_by_column};
use expr::{Execution, Expr, Frame, Scope};
use plan::parameter::Parameter;
use plan::stack::{HEIGHT_MAX, stack_bytes, with_stack};
use plan::{ColumnMeta, Planner, RoutineUse, TableUse, ViewRight, constant::Constant, figures::Figures, node::Body};
use sql::ast::{self, OnDuplicate, Parsed, QueryId};
use std::cell::RefCell;
use std::sync::Arc;
use types::codes::*;
use types::{CollationId, DataType, Result, SqlError, Value, err};

/// The version of a plan whose operators are gone: no dictionary has it.
const SPENT: u64 = u64::MAX;

/// A statement resolved and planned for one version of the dictionary. Not shared: its operators hold their buffers, so
/// that executing it again allocates nothing. `Send`, for sessions that move between workers. Its fields are answers to what is asked of a
/// plan before each execution: they are found once, when it is made.
pub struct Prepared {
    catalog_version: u64,
    param_count: usize,
    columns: Vec<ColumnMeta>,
    value_types: Box<[DataType]>,
    tables: Vec<TableUse>,
    rights: Vec<ViewRight>,
    routines: Vec<RoutineUse>,
    called: Box<[Pin]>,
    calls_for_own: bool,
    /// Of a statement that calls some: the tables that it uses itself, by id, and all.
    own_tables: Option<Arc<[u64]>>,
    all_tables: Arc<[u64]>,
    /// Its routines may change rows.
    writes_within: bool,
    /// See [`Prepared::become_inner`].
    keeps_rows: bool,
    writes: bool,
    plain_reads: PlainReads,
    explains: bool,
    locks: bool,
    uses: Uses,
    figures: Figures,
    /// Warnings of every execution.
    notes: Vec<(u16, &'static str)>,
    /// Warnings of the hints, and of what the text says, for whoever reads it.
    hint_warnings: Vec<(u16, String)>,
    /// Parameters that are compared with a date: they have to be one.
    temporal_params: Vec<TemporalParam>,
    /// What is not as a column of a date or time would hold it is an error, since rows are changed under a strict mode.
    stores: bool,
    /// Parameters that are compared with a column of a date or time, with its type and name.
    column_params: Vec<(usize, DataType, String)>,
    /// Constants of all its queries that are asked before any row is read.
    constants: Vec<Constant>,
    /// Parameters beside columns in conditions, for whose values' warnings MySQL waits for no row.
    asked: Vec<Expr>,
    /// Those that PREPARE asked, by number.
    known: Vec<(i64, Value<'static>)>,
    /// See [`Planner::tells_parts`].
    tells_parts: bool,
    /// There is nothing to do before it runs.
    begins_plainly: bool,
    /// See [`Prepared::has_untold`].
    has_untold: bool,
    parameters: Box<[Parameter]>,
    literal_collation: CollationId,
    outline: String,
    values_matter: bool,
    subqueries: Vec<RefCell<Subquery>>,
    statement: Statement,
    /// Stack that whoever walks over it needs, in bytes; 0: no more than any statement.
    room: usize,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.room != 0 {
            with_stack(self.room, || self.clear());
        }
    }
}

/// Why a statement is planned once more.
enum Again {
    /// It needs a stack for so many levels.
    Taller(u32),
    /// A join of the one table that it changes wins nothing.
    RowByRow,
}

impl Prepared {
    /// Resolves names and types and plans. `params` are the types of the values that will stand for `?` and lifted literals,
    /// by number; a missing one, or one of kind `Null`, follows from where it stands ([`Prepared::parameters`]). A plan serves
    /// every value that [`plan::parameter::bind`] takes.
    ///
    /// Errors: MySQL's (1046, 1049, 1054, 1052, 1146, 1064, 1235, ...).
    pub fn new(stmt: &Parsed, version: &Arc<Version>, env: &mut dyn Env, params: &[DataType]) -> Result<Prepared> {
        Prepared::plan(stmt, version, env, params, &|planner| planner.statement())
    }

    /// A query inside of a statement that is not the executor's: that of CREATE TABLE ... SELECT.
    pub fn of_query(
        stmt: &Parsed,
        query: QueryId,
        version: &Arc<Version>,
        env: &mut dyn Env,
        params: &[DataType],
    ) -> Result<Prepared> {
        Prepared::plan(stmt, version, env, params, &|planner| planner.query_body_of(query))
    }

    /// The same with the variables of a stored program.
    pub fn of_query_in_program(
        stmt: &Parsed,
        query: QueryId,
        version: &Arc<Version>,
        env: &mut dyn Env,
        form: &Form,
    ) -> Result<Prepared> {
        Prepared::plan(stmt, version, env, &form.params, &|planner| {
            planner.settings.locals = Arc::clone(&form.locals);
            planner.query_body_of(query)
        })
    }

    /// The same query filling a table just made: output `i` goes to column `columns[i]`. The table need not be in `version`, and is not
    /// among [`Prepared::tables`] unless it has rules. Errors as [`Prepared::new`].
    pub fn filling(
        stmt: &Parsed,
        query: QueryId,
        (table, columns): (&Arc<Table>, Vec<usize>),
        duplicates: OnDuplicate,
        version: &Arc<Version>,
        env: &mut dyn Env,
        params: &[DataType],
    ) -> Result<Prepared> {
        Prepared::plan(stmt, version, env, params, &|planner| planner.fill(table, query, columns.clone(), duplicates))
    }

    /// Plans with room for the statement, and anew where views or the rules of tables turn out to need more, or a join to win nothing.
    fn plan(
        stmt: &Parsed,
        version: &Arc<Version>,
        env: &mut dyn Env,
        params: &[DataType],
        body: &dyn Fn(&mut Planner<'_>) -> Result<Body>,
    ) -> Result<Prepared> {
        let (mut height, mut row_by_row) = (stmt.height(), false);
        loop {
            let room = stack_bytes(height);
            let plan = || {
                let mut planner = Planner::new(stmt, version, &mut *env, params);
                planner.make_room_for(height);
                planner.uses.calls_routines = true;
                planner.settings.row_by_row = row_by_row;
                planner.begin_trace();
                match body(&mut planner) {
                    Err(_) if planner.lacks_room() => Err(Again::Taller(planner.height().max(2 * height))),
                    Err(_) if planner.found.wants_row_by_row => Err(Again::RowByRow),
                    body => {
                        planner.end_trace();
                        Ok(body.and_then(|body| Prepared::finish(stmt, version, planner, body, room)))
                    }
                }
            };
            match with_stack(room, plan) {
                Ok(prepared) => return prepared,
                Err(Again::Taller(height)) if height > HEIGHT_MAX => {
                    return Err(SqlError::new(
                        ER_STACK_OVERRUN_NEED_MORE,
                        "Thread stack overrun: the statement is nested too deeply",
                    ));
                }
                Err(Again::Taller(taller)) => height = taller,
                Err(Again::RowByRow) => row_by_row = true,
            }
        }
    }

    /// A part of a stored program, or a statement whose expressions' values are wanted. Errors as [`Prepared::new`].
    pub fn in_program(stmt: &Parsed, version: &Arc<Version>, env: &mut dyn Env, form: &Form) -> Result<Prepared> {
        Prepared::plan(stmt, version, env, &form.params, &|planner| {
            planner.settings.locals = Arc::clone(&form.locals);
            match &form.values {
                Some(values) => planner.wanted_values(values),
                None => planner.statement(),
            }
        })
    }

    fn finish(
        stmt: &Parsed,
        version: &Arc<Version>,
        mut planner: Planner<'_>,
        body: Body,
        room: usize,
    ) -> Result<Prepared> {
        let notes = std::mem::take(&mut planner.warnings.notes);
        let temporal_params = std::mem::take(&mut planner.parameters.temporal);
        let (stores, tells_parts) = (planner.parameters.stores, planner.parameters.tells_parts);
        let mut constants = std::mem::take(&mut planner.constants.evaluated);
        let asked = std::mem::take(&mut planner.parameters.asked);
        constants.sort_by_key(|constant| !constant.early);
        let column_params = std::mem::take(&mut planner.parameters.beside_columns);
        let parameters = std::mem::take(&mut planner.parameters.known).into();
        let literal_collation = planner.settings.literal_collation;
        let hint_warnings = planner.hint_warnings();
        let rights = std::mem::take(&mut planner.uses.rights);
        let routines = std::mem::take(&mut planner.uses.routines);
        let called = std::mem::take(&mut planner.uses.called).into();
        let calls_for_own = planner.uses.calls_for_own;
        let values_matter = planner.parameters.values_matter.get();
        let named = planner.uses.named_tables;
        let (tables, plans) = planner.finish();
        let mut outline = body.print();
        for (i, q) in plans.iter().enumerate().filter(|(_, q)| !q.absorbed) {
            outline.push_str(&format!(
                "subquery {i}{}\n",
                match (q.correlated, q.varies) {
                    (true, _) => " (correlated)",
                    (false, true) => " (each time)",
                    (false, false) => "",
                }
            ));
            q.plan.print(1, &mut outline);
        }
        let columns = body.columns().to_vec();
        let value_types = body.value_types();
        let writes =
            !matches!(body, Body::Query(..) | Body::OneRow(_) | Body::Values(_) | Body::Do(_) | Body::Explain(_));
        let explains = matches!(body, Body::Explain(_));
        let locks = tables.iter().any(|t| t.lock);
        let uses = match Uses::of(&tables, &body, version) {
            Uses::Nothing if calls_for_own => Uses::Transaction,
            Uses::Beside if calls_for_own => Uses::Both,
            uses => uses,
        };
        let own = || tables.iter().filter(|t| t.is_own()).map(|t| t.id).collect();
        let own_tables = (!routines.is_empty()).then(own);
        let all_tables = if routines.is_empty() { Arc::from([]) } else { tables.iter().map(|t| t.id).collect() };
        let writes_within = tables.iter().any(|t| t.by_routine && t.carried);
        let figures = Figures::of(&body, plans.iter(), named);
        let subqueries: Vec<_> = plans.into_iter().map(|p| RefCell::new(build_subquery(p))).collect();
        let begins_plainly = subqueries.is_empty()
            && notes.is_empty()
            && temporal_params.is_empty()
            && column_params.is_empty()
            && constants.is_empty();
        Ok(Prepared {
            catalog_version: version.number,
            param_count: stmt.param_count as usize,
            columns,
            value_types,
            writes,
            plain_reads: plain_reads(stmt),
            explains,
            locks,
            uses,
            figures,
            tables,
            rights,
            routines,
            called,
            calls_for_own,
            own_tables,
            all_tables,
            writes_within,
            keeps_rows: false,
            notes,
            hint_warnings,
            temporal_params,
            stores,
            column_params,
            constants,
            asked,
            known: Vec::new(),
            tells_parts,
            begins_plainly,
            has_untold: false,
            parameters,
            literal_collation,
            outline,
            values_matter,
            subqueries,
            statement: Statement::new(body),
            room,
        })
    }

    /// The [`Version::number`] that the plan was made for.
    pub fn catalog_version(&self) -> u64 {
        self.catalog_version
    }

    /// What there is to say of the statement's optimizer hints (1064, 3125 to 3128, 3651) and literals (1292, 4095, 4096).
    pub fn hint_warnings(&self) -> &[(u16, String)] {
        &self.hint_warnings
    }

    /// Would a plan for the values at hand, in place of parameters, join its tables better? By their histograms it may.
    pub fn values_matter(&self) -> bool {
        self.values_matter
    }

    /// How many `?` the statement has.
    pub fn param_count(&self) -> usize {
        self.param_count
    }

    /// `collation_connection` when it was prepared: that of its texts.
    pub fn literal_collation(&self) -> CollationId {
        self.literal_collation
    }

    /// By number; of a literal that was lifted, its own type.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Takes over what the places of its parameters say from the plan of which no type had been given.
    pub fn keep_places(&mut self, first: &Prepared) {
        for (parameter, first) in self.parameters.iter_mut().zip(first.parameters.iter()) {
            parameter.place = first.place;
        }
    }

    /// The result set's columns; empty for a statement without one.
    pub fn columns(&self) -> &[ColumnMeta] {
        &self.columns
    }

    /// Types of what a program takes: of the values of expressions, or of the row of SELECT INTO.
    pub fn value_types(&self) -> &[DataType] {
        &self.value_types
    }

    /// The value of the only expression, as a variable like the column holds it. There are no tables. Errors as of a column.
    pub fn assign(
        &mut self,
        tx: &mut Transaction,
        params: &[Value<'_>],
        env: &mut dyn Env,
        column: &catalog::Column,
    ) -> Result<Value<'static>> {
        self.store_values(Some(&column.data_type));
        with_stack(self.room, || {
            let mut run = Run::new(tx, env, params, &self.subqueries);
            self.begin_values(&mut run, params)?;
            run.evaluation.strict.set(run.evaluation.sql_mode.is_strict());
            let e = &self.statement.values()[0];
            let value = e.eval(&run, Scope::new(Frame::empty(), None))?;
            run.check_strict()?;
            Ok(stored(value, &e.ty, column, &run)?.into_owned())
        })
    }

    /// Its values are for variables: what warns of them is an error under a strict mode, as where columns are set.
    pub(crate) fn store_values(&mut self, column: Option<&DataType>) {
        self.statement.store_values(column);
    }

    /// Is the only expression true? There are no tables. `stores`: its warnings are those of a statement that changes rows.
    pub fn holds(
        &mut self,
        tx: &mut Transaction,
        params: &[Value<'_>],
        env: &mut dyn Env,
        stores: bool,
    ) -> Result<bool> {
        with_stack(self.room, || {
            let mut run = Run::new(tx, env, params, &self.subqueries);
            self.begin_values(&mut run, params)?;
            run.evaluation.strict.set(stores && run.evaluation.sql_mode.is_strict());
            let holds = self.statement.values()[0].eval_bool(&run, Scope::new(Frame::empty(), None))? == Some(true);
            run.check_strict()?;
            Ok(holds)
        })
    }

    /// Begins an execution of values.
    #[inline]
    fn begin_values<'x>(&'x self, run: &mut Run<'x>, params: &[Value<'_>]) -> Result<()> {
        run.constants = &self.constants;
        run.evaluation.reads_nothing = true;
        if self.begins_plainly { Ok(()) } else { self.begin(run, params) }
    }

    /// The tables that it touches.
    pub fn tables(&self) -> &[TableUse] {
        &self.tables
    }

    /// EXPLAIN, also of a statement that is run for it.
    pub fn explains(&self) -> bool {
        self.explains
    }

    /// What the views among them need.
    pub fn rights(&self) -> &[ViewRight] {
        &self.rights
    }

    /// Does it change rows?
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The routines that it calls itself.
    pub fn routines(&self) -> &[RoutineUse] {
        &self.routines
    }

    /// Procedures and functions that it calls, and those that these call.
    pub fn called(&self) -> &[Pin] {
        &self.called
    }

    /// Do these use temporary tables?
    pub(crate) fn calls_for_own(&self) -> bool {
        self.calls_for_own
    }

    /// Does it call routines?
    #[inline]
    pub fn calls(&self) -> bool {
        self.own_tables.is_some()
    }

    /// Do these change rows?
    pub fn writes_within(&self) -> bool {
        self.writes_within
    }

    /// It has no table, and calls nothing that could have one.
    pub fn stands_alone(&self) -> bool {
        self.uses == Uses::Nothing && !self.calls()
    }

    /// It is a routine's: it reads as the statement does that it is part of, and where it fails, the rows before the one that failed
    /// stay, as long as that statement does.
    pub(crate) fn become_inner(&mut self, reads: Option<PlainReads>) {
        self.plain_reads = reads.unwrap_or(self.plain_reads);
        self.keeps_rows = true;
    }

    /// It is the query of a statement that is none: see [`PlainReads`].
    pub fn lock_plain_reads(&mut self) {
        self.plain_reads = PlainReads::Locked;
    }

    /// A SELECT with FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE.
    pub fn locks(&self) -> bool {
        self.locks
    }

    /// The transactions that it needs.
    pub fn uses(&self) -> Uses {
        self.uses
    }

    /// How often an execution locks and unlocks tables, for `Handler_external_lock`.
    pub fn external_locks(&self) -> u64 {
        self.figures.external_locks()
    }

    /// Does it read a whole table or index, for `log_queries_not_using_indexes`?
    pub fn uses_no_index(&self) -> bool {
        self.figures.uses_no_index()
    }

    /// The plan as text, one operator a line: for tests and EXPLAIN.
    pub fn outline(&self) -> &str {
        &self.outline
    }

    /// Runs it. Rows go to `sink` (`columns` first, also when there is no row). Atomic: on an error the statement's changes are
    /// undone here (savepoint and `rollback_to`), or, after a deadlock, the engine has rolled the whole transaction back
    /// ([`error::ends_transaction`]). The caller begins the transaction before and calls `end_statement`, `await_durable`
    /// or `commit` after. For a query, `affected_rows` is the number of rows sent.
    pub fn execute(
        &mut self,
        tx: &mut Transaction,
        params: &[Value<'_>],
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        self.undoing_on_error(tx, None, params, env, sink)
    }

    /// The same for a statement with tables that are not transactional: what it changes there it changes in the transaction
    /// `beside`, and an error undoes nothing of it but the row at hand.
    pub fn execute_beside(
        &mut self,
        tx: &mut Transaction,
        beside: &mut Transaction,
        params: &[Value<'_>],
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        // What it calls looks for the two where they are in a statement of both kinds.
        if self.uses == Uses::Beside && !self.calls() {
            return self.with_enough_stack(beside, None, params, env, sink);
        }
        self.undoing_on_error(tx, Some(beside), params, env, sink)
    }

    /// Its changes are undone where it fails, unless they stay as long as those of the statement around.
    #[inline(always)]
    fn undoing_on_error(
        &mut self,
        tx: &mut Transaction,
        beside: Option<&mut Transaction>,
        params: &[Value<'_>],
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let savepoint = ((self.writes || self.writes_within) && !self.keeps_rows).then(|| tx.savepoint());
        let result = match self.room {
            _ if self.calls() => self.lending_to_routines(tx, beside, params, env, sink),
            0 => self.in_one_run(tx, beside, params, env, sink),
            _ => self.with_enough_stack(tx, beside, params, env, sink),
        };
        if let (Err(e), Some(savepoint)) = (&result, savepoint)
            && !error::ends_transaction(e)
        {
            tx.rollback_to(savepoint).map_err(error::during_rollback)?;
        }
        result
    }

    /// Its routines know what it uses.
    #[cold]
    fn lending_to_routines(
        &mut self,
        tx: &mut Transaction,
        beside: Option<&mut Transaction>,
        params: &[Value<'_>],
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let own = self.own_tables.clone().expect("it calls some");
        let lent = Lent::of(env.lent())?;
        lent.used.push(own);
        let is_outermost = lent.reads.is_none();
        if is_outermost {
            lent.reads = Some(self.plain_reads);
            lent.pinned = Arc::clone(&self.all_tables);
        }
        let result = self.with_enough_stack(tx, beside, params, env, sink);
        let lent = Lent::of(env.lent())?;
        lent.used.pop();
        if is_outermost {
            lent.reads = None;
        }
        result
    }

    /// A plan that is high needs more stack than a thread may have left.
    #[cold]
    fn with_enough_stack(
        &mut self,
        tx: &mut Transaction,
        beside: Option<&mut Transaction>,
        params: &[Value<'_>],
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        with_stack(self.room, || self.in_one_run(tx, beside, params, env, sink))
    }

    /// One execution from its first constant to its last row.
    #[inline(always)]
    fn in_one_run(
        &mut self,
        tx: &mut Transaction,
        beside: Option<&mut Transaction>,
        params: &[Value<'_>],
        env: &mut dyn Env,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        debug_assert!(!self.is_spent(), "planned anew since");
        if params.len() < self.param_count {
            return Err(err!(ER_WRONG_ARGUMENTS, "EXECUTE"));
        }
        let mut run = Run::new(tx, env, params, &self.subqueries);
        if let Some(beside) = beside {
            run.set_beside(beside);
        }
        (run.writes, run.plain_reads, run.keeps_rows) = (self.writes, self.plain_reads, self.keeps_rows);
        run.writes_within = self.writes_within;
        run.constants = &self.constants;
        run.evaluation.reads_nothing = self.uses == Uses::Nothing;
        self.figures.count_joins();
        let begun = if self.begins_plainly && !self.has_untold { Ok(()) } else { self.begin(&run, params) };
        let mut result = begun.and_then(|()| self.statement.execute(&run, &self.columns, sink));
        if self.keeps_rows
            && let Err(e) = &result
            && !error::ends_transaction(e)
        {
            result = run.undo_unfinished().and(result);
        }
        let at_hand = std::mem::take(run.at_hand.get_mut());
        if run.holds_much() {
            self.spend();
        }
        if !at_hand.is_empty() {
            give_back(at_hand, env);
        }
        match result {
            Err(e) if e.code == ER_QUERY_INTERRUPTED && tx.interrupt().reason() == 3 => {
                Err(types::work::interrupted(3))
            }
            result => result,
        }
    }

    /// Temporary files and great buffers go with their statement, and the operators, which hold them, go with both.
    #[cold]
    fn spend(&mut self) {
        self.catalog_version = SPENT;
        self.clear();
    }

    /// All that is as high as the statement goes.
    fn clear(&mut self) {
        self.statement = Statement::new(Body::Do(Vec::new()));
        self.subqueries.clear();
        self.constants.clear();
        self.asked.clear();
    }

    /// Has it to be planned anew before it is executed again? Whatever version the dictionary has, it is not that of the plan.
    pub fn is_spent(&self) -> bool {
        self.catalog_version == SPENT
    }

    /// Asks those constants that MySQL asks at PREPARE: what there is to say of them is said now, and not again by any execution.
    /// Nothing is read. Errors: theirs.
    pub fn evaluate_constants(&mut self, tx: &mut Transaction, env: &mut dyn Env) -> Result<()> {
        // How strict a statement is that changes rows it knows when it runs.
        if self.writes || !self.constants.iter().any(Constant::at_prepare) {
            return Ok(());
        }
        let run = Run::new(tx, env, &[], &self.subqueries);
        with_stack(self.room, || run.ask(self.constants.iter().filter(|f| f.at_prepare())))?;
        self.known = run.evaluation.scratch().once.take();
        Ok(())
    }

    /// Forgets what subqueries found before, says what is to be said of the statement, and asks its constant conditions. Error
    /// 1525 of parameters that are compared with dates and times and are none, and errors of the conditions.
    #[cold]
    fn begin(&self, run: &Run<'_>, params: &[Value<'_>]) -> Result<()> {
        for q in &self.subqueries {
            q.borrow_mut().forget();
        }
        let mode = run.evaluation.sql_mode;
        let mut said = Vec::new();
        for TemporalParam { param, kind, column, reading } in &self.temporal_params {
            said.append(&mut check_temporal(&params[*param], *kind, column, mode, *reading)?);
        }
        for (n, column, name) in &self.column_params {
            match held_by_column(&params[*n], column, name, mode) {
                (None, Some((code, message))) if self.stores => return Err(types::SqlError::new(code, message)),
                (held, told) => said.extend(told.filter(|_| held.is_none() || self.tells_parts)),
            }
        }
        for (code, message) in &self.notes {
            match *code {
                ER_WARN_VIEW_WITHOUT_KEY => run.note(*code, message.to_string()),
                code => run.warn(code, message.to_string()),
            }
        }
        for (code, message) in said {
            run.tell(code, message);
        }
        if !self.known.is_empty() {
            run.evaluation.scratch().once.borrow_mut().extend(self.known.iter().cloned());
        }
        // Those that change rows ask once they know how strict they are.
        if !self.writes {
            run.evaluate_constants()?;
        }
        if self.has_untold { run.ask_for_parameters(&self.asked) } else { Ok(()) }
    }

    /// Have the values of the parameters come with warnings, which wait for whoever asks for them first?
    #[inline]
    pub fn has_untold(&self) -> bool {
        self.has_untold
    }

    /// Says whether there are warnings of parameters that nobody has asked for yet.
    #[inline]
    pub fn set_untold(&mut self, has_untold: bool) {
        self.has_untold = has_untold;
    }
}

/// What routines have kept goes back where it came from.
#[cold]
fn give_back(at_hand: Vec<Box<dyn Kept>>, env: &mut dyn Env) {
    at_hand.into_iter().for_each(|kept| kept.give_back(env));
}

fn plain_reads(stmt: &Parsed) -> PlainReads {
    use ast::Statement as S;
    match &stmt.statement {
        S::Query(_) | S::Explain(_) => PlainReads::Query,
        S::Insert(insert) if matches!(insert.source, ast::InsertSource::Query(_)) => PlainReads::Source,
        S::Update(update) if matches!(stmt[update.tables], ast::TableRef::Table(_)) => PlainReads::Source,
        S::CreateTable(_) => PlainReads::Source,
        _ => PlainReads::Locked,
    }
}
