//! Notes of EXPLAIN about names: which column of a query around a subquery reads (1276), and which subquery is no more than what it
//! shows (1249). They number queries in the order of their SELECTs.

use crate::Planner;
use crate::node::Plan;
use sql::ast::{Expr as Ast, ExprId, Parsed, QueryBody, QueryId, SelectItem, Statement};
use types::codes::*;
use types::err;

impl Planner<'_> {
    /// A name of the block at hand turns out to be one of block `at`.
    pub(super) fn note_resolved(&mut self, at: usize, table: Option<&str>, name: &str) {
        if !self.settings.explains {
            return;
        }
        let block = &self.scope.blocks[at];
        let is_meant = |s: &&crate::names::Source| !s.hidden && table.is_none_or(|t| t == s.name);
        let found = block.sources.iter().filter(is_meant).find_map(|s| {
            let column = &s.columns[s.find(name)?];
            Some((s.schema.as_str(), s.name.as_str(), column.name.as_str()))
        });
        let (schema, source, column) = found.unwrap_or(("", "", name));
        let point = |before: &str| if before.is_empty() { "" } else { "." };
        let [outer, inner] = [block, self.current_block()].map(|b| self.number_of(b.start));
        let points = [point(schema), point(source)];
        let note = err!(ER_WARN_FIELD_RESOLVED, schema, points[0], source, points[1], column, inner, outer);
        self.warnings.resolved.push(note);
    }

    /// A subquery that has been planned, `as_planned`, is nothing but the expression that it shows.
    pub(super) fn note_reduced(&mut self, query: QueryId, as_planned: Option<usize>) {
        let QueryBody::Select(select) = &self.parsed[query].body else { return };
        let shows_rows = |at: usize| {
            let query = &self.queries.planned[at];
            !is_one_row(&query.plan) || query.outputs.iter().any(|e| e.has_aggregate())
        };
        if !self.settings.explains || as_planned.is_some_and(shows_rows) || !self.is_expression(query) {
            return;
        }
        let number = self.number_of(Some(select.start));
        self.warnings.resolved.push(err!(ER_SELECT_REDUCED, number));
    }

    /// Is a query no more than the expression that it shows?
    pub(super) fn is_expression(&self, query: QueryId) -> bool {
        let parsed = self.parsed;
        let query = &parsed[query];
        let QueryBody::Select(select) = &query.body else { return false };
        let [SelectItem::Expr { expr, .. }] = select.items[..] else { return false };
        // An aggregate may be one of a query around.
        let gathers = matches!(parsed[expr], Ast::Aggregate { .. } | Ast::CountStar | Ast::GroupConcat(_));
        let is_true = |e: ExprId| matches!(parsed[e], Ast::Bool(true) | Ast::Int(1..));
        let has_row = query.limit.is_none_or(|l| l.offset.is_none() && is_true(l.count));
        !gathers && select.from.is_none() && has_row && select.filter.is_none_or(is_true) && select.having.is_none()
    }

    /// `start`: where its SELECT stands; that of UPDATE and DELETE has none, and is the first.
    fn number_of(&self, start: Option<u32>) -> usize {
        let Some(start) = start else { return 1 };
        let selects = self.parsed.queries().iter().filter_map(|q| match &q.body {
            QueryBody::Select(select) => Some(select.start),
            _ => None,
        });
        let explained = match &self.parsed.statement {
            Statement::Explain(e) => match &e.target {
                sql::ast::ExplainTarget::Statement(statement) => Some(&**statement),
                _ => None,
            },
            _ => None,
        };
        let has_own = matches!(explained, Some(Statement::Update(_) | Statement::Delete(_)))
            || matches!(explained, Some(Statement::Insert(i)) if matches!(i.source, sql::ast::InsertSource::Rows(_)));
        // A query has its number before those of its WITH clause, which stand in front of it.
        let withs = self.parsed.queries().iter().filter_map(|q| {
            let inner =
                q.with.as_ref()?.tables.iter().filter_map(|table| first_select(self.parsed, table.query)).min()?;
            Some((first_of(self.parsed, &q.body)?, inner))
        });
        let withs: Vec<(u32, u32)> = withs.collect();
        let place = |start: u32| match withs.iter().find(|(own, _)| *own == start) {
            Some((_, inner)) => (*inner, false),
            None => (start, true),
        };
        usize::from(has_own) + selects.filter(|other| place(*other) <= place(start)).count()
    }
}

/// Where the first SELECT of a query's body stands.
fn first_select(parsed: &Parsed, query: QueryId) -> Option<u32> {
    first_of(parsed, &parsed[query].body)
}

fn first_of(parsed: &Parsed, body: &QueryBody) -> Option<u32> {
    match body {
        QueryBody::Select(select) => Some(select.start),
        QueryBody::SetOp { left, .. } => first_select(parsed, *left),
        QueryBody::Nested(inner) => first_select(parsed, *inner),
        QueryBody::Table(_) | QueryBody::Values(_) => None,
    }
}

/// Is it the row of a query without tables, with no aggregate or window?
fn is_one_row(plan: &Plan) -> bool {
    match plan {
        Plan::One => true,
        // Of a condition that is true, as the text has it.
        Plan::Limit { input, .. } | Plan::Filter { input, .. } => is_one_row(input),
        _ => false,
    }
}
