//! From syntax to plan: names become slots and columns, expressions get types, access paths and join methods are chosen.

pub mod access;
mod array;
mod cast;
mod column;
pub mod column_type;
mod comparison;
mod computed;
pub mod constant;
pub mod cost;
mod dependence;
pub mod derived;
pub mod dml;
mod env;
pub mod explain;
pub mod explain_json;
pub mod expression;
pub mod figures;
mod generated;
pub mod group;
pub mod handler;
pub mod hints;
pub mod index_merge;
mod join_tree;
pub mod join_view;
pub mod json_table;
mod listed;
mod listed_row;
mod literal;
pub mod load;
mod local;
pub mod loose;
pub mod many;
pub mod meta;
mod multi_range;
pub mod names;
pub mod node;
pub mod outer_aggregate;
pub mod parameter;
mod predicate;
pub mod pushdown;
pub mod query;
mod range_memory;
pub mod recursive;
mod reduced;
mod resolved;
pub mod rewrite;
pub mod routine;
mod rows;
pub mod rules;
mod select;
mod selectivity;
pub mod semijoin;
pub mod set;
mod skip;
pub mod slots;
mod sorted;
mod source;
pub mod stack;
mod state;
pub mod statistics;
pub mod stored;
mod table_use;
pub mod tables;
mod target_reads;
pub mod trace;
mod variable;
mod view_check;
pub mod views;
pub mod window;
pub mod written_views;

use crate::parameter::{Otherwise, Parameter, Takes, text_type};
use catalog::{Table, Version};
pub use column::{ColumnMeta, Extreme, KEPT, Provenance, Told};
pub use env::Env;
use expr::error::unsupported;
use expr::{Expr, Node};
pub use local::LocalType;
use names::Block;
use node::{Body, QueryPlan};
use sql::ast::{self, Parsed, Statement};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
pub use table_use::{ColumnUse, RoutineUse, TableUse, ViewRight};
use types::codes::*;
use types::{DataType, Result, SqlError, err};

/// A statement while it is planned.
pub struct Planner<'p> {
    pub parsed: &'p Parsed,
    version: &'p Arc<Version>,
    env: &'p mut dyn Env,
    params: &'p [DataType],
    scope: state::Scope,
    queries: state::Queries,
    pub uses: state::Uses,
    request: state::Request,
    pub warnings: state::Warnings,
    pub parameters: state::Parameters,
    pub constants: state::Constants,
    budget: state::Budget,
    pub settings: state::Settings,
    pub found: state::Found,
    trace: trace::Tracing,
}

impl<'p> Planner<'p> {
    /// Of a parsed statement whose parameters have these types.
    pub fn new(
        parsed: &'p Parsed,
        version: &'p Arc<Version>,
        env: &'p mut dyn Env,
        params: &'p [DataType],
    ) -> Planner<'p> {
        let literal_collation = env.literal_collation();
        let strict = types::SqlMode(env.sql_mode()).is_strict();
        let unmet = text_type(literal_collation);
        // One in a common table expression that nobody reads stays unmet: whatever its value is, no other plan meets it.
        let unmet = Parameter { data_type: unmet, place: unmet.kind, takes: Takes::Any, otherwise: Otherwise::Null };
        let parameters = vec![unmet; parsed.param_count as usize];
        Planner {
            parsed,
            version,
            env,
            params,
            scope: state::Scope {
                blocks: Vec::new(),
                ctes: Vec::new(),
                clause: "field list",
                level: 0,
                inner_side: 0,
                derived_depth: 0,
                view_depth: 0,
                merged_view: None,
                is_merged_view: false,
                item: None,
                schema: None,
                routine_schema: None,
                routine_caller: None,
                routine_view: None,
            },
            queries: state::Queries {
                planned: Vec::new(),
                kept: Vec::new(),
                outer_reads: Vec::new(),
                working_tables: 0,
                candidates: Vec::new(),
            },
            uses: state::Uses {
                tables: Vec::new(),
                named_tables: 0,
                column_reads: RefCell::new(Vec::new()),
                rights: Vec::new(),
                named_views: Vec::new(),
                routines: Vec::new(),
                called: Vec::new(),
                calls_for_own: false,
                calls_routines: false,
            },
            request: state::Request {
                exports: None,
                over: false,
                straight: false,
                takes_candidates: false,
                is_candidate: false,
                candidate: None,
                merges: source::Merges::All,
                merging: false,
                through: source::Through::Read,
                pushed: None,
            },
            warnings: state::Warnings { notes: Vec::new(), literal_warnings: Vec::new(), resolved: Vec::new() },
            parameters: state::Parameters {
                known: parameters,
                beside_columns: Vec::new(),
                temporal: Vec::new(),
                asked: Vec::new(),
                stores: false,
                tells_parts: strict,
                variables: Vec::new(),
                values_matter: Cell::new(false),
            },
            constants: state::Constants { evaluated: Vec::new(), numbered: 0 },
            budget: state::Budget {
                height: parsed.height(),
                height_max: parsed.height().max(stack::PLAIN_HEIGHT),
                steps: Cell::new(0),
                blocks_planned: 0,
                blocks_anew: 0,
            },
            settings: state::Settings {
                hints: hints::Hints::new(parsed),
                row_by_row: false,
                explains: false,
                literal_collation,
                locals: Arc::from([]),
                switches: OnceCell::new(),
            },
            found: state::Found { unsteady: false, varies: false, wants_row_by_row: false },
            trace: None,
        }
    }

    /// Plans the statement as a whole.
    pub fn statement(&mut self) -> Result<Body> {
        let parsed = self.parsed;
        self.body(&parsed.statement)
    }

    /// Plans a query that is a statement, with the variables of its INTO.
    pub fn query_body_of(&mut self, id: ast::QueryId) -> Result<Body> {
        let into = self.target_variables(id);
        let mut plan = self.query(id, true)?;
        query::numbers_as_written(&mut plan.plan);
        self.refuse_big(&plan.plan)?;
        let variables = match self.parsed[id].into.as_deref() {
            Some(ast::Into::Vars(variables)) => &variables[..],
            _ => &[],
        };
        if !variables.is_empty() && variables.len() != plan.outputs.len() {
            return Err(err!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        if variables.iter().any(|v| matches!(v, ast::IntoVar::Local(_))) {
            for (variable, e) in variables.iter().zip(&mut plan.outputs) {
                if let ast::IntoVar::Local(local) = variable {
                    let to = self.settings.locals[*local as usize].data_type.kind;
                    *e = expr::store::column_into(std::mem::replace(e, Expr::null()), to);
                }
            }
            return Ok(Body::OneRow(Box::new(plan)));
        }
        Ok(Body::Query(Box::new(plan), into))
    }

    /// EXPLAIN. The statement is planned and described; EXPLAIN ANALYZE runs it as well.
    fn explain(&mut self, e: &'p ast::Explain) -> Result<Body> {
        let into = match (e.into, e.format) {
            (None, _) => None,
            (Some(name), ast::ExplainFormat::Json) => Some(self.parsed.name(name).to_string()),
            (Some(_), ast::ExplainFormat::Default) => return Err(err!(ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED)),
            (Some(_), ast::ExplainFormat::Tree) => return Err(err!(ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED, "TREE")),
            (Some(_), ast::ExplainFormat::Traditional) => {
                return Err(err!(ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED, "TRADITIONAL"));
            }
        };
        if let Some(name) = e.schema {
            let name = self.parsed.name(name);
            let known = self.version.schema(name).ok_or_else(|| err!(ER_BAD_DB_ERROR, name))?;
            self.scope.schema = Some(known.name.clone());
        }
        self.settings.explains = !e.analyze;
        let body = match &e.target {
            ast::ExplainTarget::Query(id) => self.query_body_of(*id)?,
            ast::ExplainTarget::Statement(statement) => self.body(statement)?,
            ast::ExplainTarget::Connection(_) => return Err(unsupported("EXPLAIN FOR CONNECTION")),
        };
        for note in std::mem::take(&mut self.warnings.resolved) {
            self.env.push_warning("Note", note);
        }
        use ast::ExplainFormat as F;
        let default = || match self.env.system_variable(None, "explain_format") {
            Ok((types::Value::Bytes(name), _)) if name.eq_ignore_ascii_case(b"tree") => F::Tree,
            Ok((types::Value::Bytes(name), _)) if name.eq_ignore_ascii_case(b"json") => F::Json,
            _ => F::Traditional,
        };
        let text = |text: String| vec![vec![types::Value::Bytes(text.into_bytes().into())]];
        if e.analyze {
            let Body::Query(plan, _) = body else { return Err(unsupported("EXPLAIN ANALYZE of this statement")) };
            match e.format {
                F::Default | F::Tree => {}
                F::Traditional => return Err(unsupported("EXPLAIN ANALYZE with TRADITIONAL format")),
                // The version can be 1 alone.
                F::Json => return Err(err!(ER_EXPLAIN_ANALYZE_JSON_FORMAT_VERSION_NOT_SUPPORTED)),
            }
            let plan = *plan;
            let plan = QueryPlan { plan: plan.plan.counted(&mut 0), ..plan };
            let body = Body::Query(Box::new(plan), Vec::new());
            let lines = explain::Explainer::new(&self.queries.planned).tree(&body);
            let Body::Query(plan, _) = body else { unreachable!("made above") };
            let analyze = Some((plan, lines));
            return Ok(Body::Explain(Box::new(node::Explain {
                columns: explain::text_columns(),
                rows: Vec::new(),
                analyze,
                into: None,
            })));
        }
        let format = if e.format == F::Default { default() } else { e.format };
        let explainer = explain::Explainer::new(&self.queries.planned);
        let (columns, rows) = match format {
            F::Default | F::Traditional => {
                let rows = explainer.table(&body);
                (explain::table_columns(), rows.iter().map(explain::Row::values).collect())
            }
            F::Tree => (explain::text_columns(), text(explain::tree_text(&explainer.tree(&body), None))),
            F::Json => (explain::text_columns(), text(explain_json::json(&explainer.table(&body)))),
        };
        Ok(Body::Explain(Box::new(node::Explain { columns, rows, analyze: None, into })))
    }

    /// The values of expressions of a statement that is not run itself.
    pub fn wanted_values(&mut self, values: &[ast::ExprId]) -> Result<Body> {
        self.scope.blocks.push(Block::default());
        let list: Result<Vec<Expr>> = values.iter().map(|e| self.plain(*e)).collect();
        self.scope.blocks.pop();
        Ok(Body::Values(list?))
    }

    fn body(&mut self, statement: &'p Statement) -> Result<Body> {
        let parsed = self.parsed;
        // What UPDATE and DELETE read beside the table that they write is computed first.
        let of_rows = |i: &ast::Insert| matches!(i.source, ast::InsertSource::Rows(_));
        self.request.merges = match statement {
            Statement::Update(_) | Statement::Delete(_) => source::Merges::Nothing,
            Statement::Insert(insert) if of_rows(insert) => source::Merges::Nothing,
            _ => source::Merges::All,
        };
        match statement {
            Statement::Query(id) => self.query_body_of(*id),
            Statement::Do(list) => {
                self.scope.blocks.push(Block::default());
                let list: Result<Vec<Expr>> = parsed.list(*list).iter().map(|e| self.plain(*e)).collect();
                self.scope.blocks.pop();
                Ok(Body::Do(list?))
            }
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::LoadData(load) => self.load(load),
            Statement::Explain(explain) => self.explain(explain),
            Statement::Unsupported(u) => Err(unsupported(u.what)),
            _ => Err(err!(ER_UNSUPPORTED_PS)),
        }
    }

    /// The tables and the subqueries of the statement. Where something may come out differently each time, results are not kept.
    pub fn finish(self) -> (Vec<TableUse>, Vec<QueryPlan>) {
        let unsteady = self.found.unsteady;
        let (tables, mut subqueries) = self.collected();
        if unsteady {
            subqueries.iter_mut().for_each(|q| q.reads.clear());
        }
        (tables, subqueries)
    }

    /// What was planned so far, of a statement or of a view in it.
    fn collected(mut self) -> (Vec<TableUse>, Vec<QueryPlan>) {
        for read in self.uses.column_reads.take() {
            let Some(table) = self.uses.tables.iter_mut().find(|t| t.id == read.id) else { continue };
            table.columns.reads_all |= read.star;
            if !table.columns.read.contains(&read.name) {
                table.columns.read.push(read.name);
            }
        }
        (self.uses.tables, self.queries.planned)
    }

    /// What there is to say of hints and literals, once the statement is planned.
    pub fn hint_warnings(&mut self) -> Vec<(u16, String)> {
        let mut all = self.settings.hints.take().map_or(Vec::new(), |h| h.finish());
        all.append(&mut self.warnings.literal_warnings);
        all
    }

    /// Is a flag of `optimizer_switch` off?
    fn switched_off(&self, flag: &str) -> bool {
        let all = self.settings.switches.get_or_init(|| match self.env.system_variable(None, "optimizer_switch") {
            Ok((types::Value::Bytes(all), _)) => all.into_owned(),
            _ => Vec::new(),
        });
        all.split(|b| *b == b',').any(|f| f.strip_suffix(b"=off").is_some_and(|name| name == flag.as_bytes()))
    }

    /// The statement names column `i` of a table, to read it; `star`: as part of `*`.
    fn note_column(&self, source: &names::Source, i: usize, star: bool) {
        if let Some(id) = source.named {
            let (name, item) = (source.columns[i].name.clone(), self.scope.item);
            self.uses.column_reads.borrow_mut().push(state::ColumnRead { id, name, star, item });
        }
    }

    /// The names of columns that are written through `source`.
    fn written_names(source: &names::Source, columns: &[usize]) -> Vec<String> {
        columns.iter().map(|c| source.columns[*c].name.clone()).collect()
    }

    /// The user variables of INTO.
    fn target_variables(&mut self, id: ast::QueryId) -> Vec<String> {
        match self.parsed[id].into.as_deref() {
            None => Vec::new(),
            Some(ast::Into::Vars(variables)) => {
                let user = |v: &ast::IntoVar| match v {
                    ast::IntoVar::User(name) => Some(self.parsed.name(*name).to_string()),
                    ast::IntoVar::Local(_) => None,
                };
                variables.iter().filter_map(user).collect()
            }
            // Whoever runs it writes the file.
            Some(ast::Into::Outfile { .. } | ast::Into::Dumpfile(_)) => Vec::new(),
        }
    }

    /// Queries with an order of their own go so deep and no deeper, as in MySQL.
    fn is_too_deep(&self, query: &ast::Query) -> bool {
        const LEVELS_MAX: usize = 64;
        self.scope.level > LEVELS_MAX && !query.order.is_empty()
    }

    /// `div_precision_increment`.
    fn div_increment(&self) -> u32 {
        let set = self.env.system_variable(None, "div_precision_increment");
        set.map_or(expr::number::DIV_SCALE, |(v, _)| v.to_u64() as u32)
    }

    /// Is a variable of the session ON?
    fn flag(&self, name: &str) -> bool {
        self.env.system_variable(None, name).is_ok_and(|(v, _)| v.to_i64() != 0)
    }

    /// Finds a table and notes that the statement uses it.
    fn table(&mut self, name: ast::ObjectName, note: impl FnOnce(&mut TableUse)) -> Result<Arc<Table>> {
        let schema = match name.schema {
            Some(s) => self.parsed.name(s).to_string(),
            None => match self.scope.schema.as_deref().or(self.env.database()) {
                Some(d) => d.to_string(),
                None => return Err(err!(ER_NO_DB_ERROR)),
            },
        };
        let table = self.parsed.name(name.name);
        let Some(found) = self.find_table(&schema, table) else {
            if !self.version.schemas.contains_key(&schema) && !is_information_schema(&schema) {
                return Err(err!(ER_BAD_DB_ERROR, schema));
            }
            return Err(err!(ER_NO_SUCH_TABLE, schema, table));
        };
        let i = match self.uses.tables.iter().position(|t| t.id == found.id && t.schema == found.schema) {
            Some(_) if found.temporary => return Err(err!(ER_CANT_REOPEN_TABLE, table)),
            Some(i) => i,
            None => {
                self.uses.tables.push(TableUse::new(&found));
                self.uses.tables.len() - 1
            }
        };
        note(&mut self.uses.tables[i]);
        self.uses.named_tables += u64::from(found.is_base());
        Ok(found)
    }

    /// By exact name; names in information_schema and performance_schema match in any case.
    fn find_table(&self, schema: &str, table: &str) -> Option<Arc<Table>> {
        if let Some(t) = self.version.table(schema, table) {
            return Some(t.clone());
        }
        if !is_information_schema(schema) && !schema.eq_ignore_ascii_case("performance_schema") {
            return None;
        }
        let (_, schema) = self.version.schemas.iter().find(|(n, _)| n.eq_ignore_ascii_case(schema))?;
        schema.tables.iter().find(|(n, _)| n.eq_ignore_ascii_case(table)).map(|(_, t)| t.clone())
    }

    fn block(&mut self) -> &mut Block {
        self.scope.blocks.last_mut().expect("inside a query block")
    }

    /// There is stack for a statement of that height: see [`stack::stack_bytes`].
    pub fn make_room_for(&mut self, height: u32) {
        self.budget.height_max = self.budget.height_max.max(height);
    }

    /// The height of all that was read so far.
    pub fn height(&self) -> u32 {
        self.budget.height
    }

    /// Is that more than there is room for?
    pub fn lacks_room(&self) -> bool {
        self.budget.height > self.budget.height_max
    }

    /// The statement turns out to be so high. Error 1436 where there is no room for that: whoever plans makes room and begins anew.
    fn grow(&mut self, height: u32) -> Result<()> {
        self.budget.height = self.budget.height.max(height);
        match self.lacks_room() {
            true => Err(SqlError::new(
                ER_STACK_OVERRUN_NEED_MORE,
                "Thread stack overrun: the statement is nested too deeply",
            )),
            false => Ok(()),
        }
    }

    /// Some microseconds of planning are about to follow. Errors 1317 and 3024 when the statement is to end.
    #[inline]
    fn step(&self) -> Result<()> {
        let n = self.budget.steps.get().wrapping_add(1);
        self.budget.steps.set(n);
        if n.is_multiple_of(256) { expr::error::check_interrupt() } else { Ok(()) }
    }

    /// What is known of a table's contents.
    fn sample(&self, table: &Table) -> Result<Arc<Option<catalog::statistics::Sample>>> {
        statistics::sample(self.env.engine(), table)
    }

    /// Splits a condition into its conjuncts.
    fn conjuncts(e: Expr, out: &mut Vec<Expr>) {
        match e.node {
            Node::And(list) => list.into_iter().for_each(|e| Self::conjuncts(e, out)),
            _ => out.push(e),
        }
    }
}

/// Does the name mean information_schema?
pub fn is_information_schema(name: &str) -> bool {
    name.eq_ignore_ascii_case("information_schema")
}

/// The conjunction of conditions; `None` for none.
pub fn all_of(mut list: Vec<Expr>) -> Option<Expr> {
    match list.len() {
        0 => None,
        1 => list.pop(),
        _ => {
            let nullable = list.iter().any(|e| e.ty.nullable);
            Some(Expr::new(Node::And(list), expr::boolean_type(nullable)))
        }
    }
}
