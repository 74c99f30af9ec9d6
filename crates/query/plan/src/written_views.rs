//! Which views can be written through: as MySQL tells when a view is made (`IS_UPDATABLE`), and as statements find it.

use super::Planner;
use super::views::parsed_query;
use catalog::{Table, Version, View, ViewAlgorithm};
use sql::ast::{Expr as Ast, JoinKind, Parsed, QueryBody, QueryId, SelectItem, Statement, TableId, TableRef};
use std::sync::Arc;

/// The table of a schema, that of the view if none is said, and a name.
type Find<'f, 'v> = dyn Fn(Option<&str>, &str) -> Option<&'v Arc<Table>> + 'f;

/// The SELECT of a view whose rows are those of the tables in FROM, none of which is NULL where there is no match.
fn rows_of_tables(parsed: &Parsed, view: &View) -> Option<(QueryId, TableId)> {
    let Statement::Query(id) = parsed.statement else { return None };
    if view.algorithm == ViewAlgorithm::TempTable || !is_mergeable(parsed, id) {
        return None;
    }
    let QueryBody::Select(select) = &parsed[id].body else { return None };
    let from = select.from?;
    (!has_outer_join(parsed, from)).then_some((id, from))
}

fn has_outer_join(parsed: &Parsed, from: TableId) -> bool {
    match &parsed[from] {
        TableRef::Join { left, right, kind, .. } => {
            matches!(kind, JoinKind::Left | JoinKind::Right)
                || has_outer_join(parsed, *left)
                || has_outer_join(parsed, *right)
        }
        _ => false,
    }
}

/// The tables in FROM, with those that are derived or common table expressions as `None`.
fn tables_in_from<'v>(parsed: &Parsed, id: QueryId, from: TableId, find: &Find<'_, 'v>) -> Vec<Option<&'v Arc<Table>>> {
    let ctes = || parsed[id].with.iter().flat_map(|with| &with.tables);
    let mut left = vec![from];
    let mut out = Vec::new();
    while let Some(at) = left.pop() {
        match &parsed[at] {
            TableRef::Table(factor) => {
                let (schema, name) = (factor.name.schema.map(|s| parsed.name(s)), parsed.name(factor.name.name));
                let is_cte = schema.is_none() && ctes().any(|cte| parsed.name(cte.name) == name);
                out.push(find(schema, name).filter(|_| !is_cte));
            }
            TableRef::Join { left: a, right: b, .. } => left.extend([*a, *b]),
            TableRef::Derived { .. } | TableRef::JsonTable(_) => out.push(None),
        }
    }
    out
}

/// The stored tables that a table or view is made of, at any depth.
fn stored_under(version: &Version, table: &Arc<Table>, depth: usize, out: &mut Vec<u64>) {
    let Some(view) = &table.view else { return out.push(table.id) };
    let Ok(parsed) = parsed_query(view) else { return };
    for table_ref in parsed.table_refs() {
        if let TableRef::Table(factor) = table_ref
            && depth > 0
            && let schema = factor.name.schema.map_or(table.schema.as_str(), |s| parsed.name(s))
            && let Some(under) = version.base_table(schema, parsed.name(factor.name.name))
        {
            stored_under(version, under, depth - 1, out);
        }
    }
}

/// Views within views that are looked into.
const DEPTH_MAX: usize = 32;

/// May something be written through the view, as far as its definition says: it shows a column, one of its tables can be written, and
/// no subquery reads such a table? Derived tables count as such as can.
pub fn is_updatable(version: &Version, schema: &str, view: &View) -> bool {
    let Ok(parsed) = parsed_query(view) else { return false };
    let Some((id, from)) = rows_of_tables(&parsed, view) else { return false };
    let QueryBody::Select(select) = &parsed[id].body else { return false };
    let is_column = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => matches!(parsed[*expr], Ast::Column { .. }),
        _ => false,
    };
    let find = |of: Option<&str>, name: &str| version.base_table(of.unwrap_or(schema), name);
    let tables = tables_in_from(&parsed, id, from, &find);
    let is_written = |table: &Option<&Arc<Table>>| match table {
        None => true,
        Some(table) => !table.is_virtual() && table.view.as_ref().is_none_or(|view| view.updatable),
    };
    if !select.items.iter().any(is_column) || !tables.iter().any(is_written) {
        return false;
    }
    let mut own = Vec::new();
    tables.iter().flatten().for_each(|table| stored_under(version, table, DEPTH_MAX, &mut own));
    let mut in_from = Vec::new();
    leaves(&parsed, from, &mut in_from);
    let elsewhere = parsed.table_refs().iter().enumerate().filter(|(at, _)| !in_from.contains(at));
    let mut read = Vec::new();
    for (_, table_ref) in elsewhere {
        if let TableRef::Table(factor) = table_ref
            && let Some(table) = find(factor.name.schema.map(|s| parsed.name(s)), parsed.name(factor.name.name))
        {
            stored_under(version, table, DEPTH_MAX, &mut read);
        }
    }
    !read.iter().any(|id| own.contains(id))
}

/// Are the view's rows those of the tables in FROM?
pub fn is_mergeable_view(view: &View) -> bool {
    parsed_query(view).is_ok_and(|parsed| rows_of_tables(&parsed, view).is_some())
}

/// May MySQL merge the query into the one around it: is each of its rows one of FROM?
pub(super) fn is_mergeable(parsed: &Parsed, query: QueryId) -> bool {
    let query = &parsed[query];
    let QueryBody::Select(select) = &query.body else { return false };
    let groups = select.options.distinct || !select.group.is_empty() || select.having.is_some();
    let has_queries = parsed.queries().len() > 1;
    // Of several queries it is not known whose a call inside of an expression is.
    let computes = |e: &Ast| matches!(e, Ast::Aggregate { .. } | Ast::CountStar | Ast::GroupConcat(_) | Ast::Window(_));
    let shows = |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if computes(&parsed[*expr]));
    let gathers = select.items.iter().any(shows) || !has_queries && parsed.exprs().iter().any(computes);
    !groups && !gathers && query.limit.is_none() && select.windows.is_empty() && select.from.is_some()
}

/// The places of the tables in FROM of a query, and of the queries that stand there.
pub(super) fn leaves_of_query(parsed: &Parsed, query: QueryId, out: &mut Vec<usize>) {
    match &parsed[query].body {
        QueryBody::Select(select) => select.from.iter().for_each(|from| leaves(parsed, *from, out)),
        QueryBody::SetOp { left, right, .. } => {
            leaves_of_query(parsed, *left, out);
            leaves_of_query(parsed, *right, out);
        }
        QueryBody::Nested(inner) => leaves_of_query(parsed, *inner, out),
        QueryBody::Values(_) | QueryBody::Table(_) => {}
    }
}

fn leaves(parsed: &Parsed, from: TableId, out: &mut Vec<usize>) {
    match &parsed[from] {
        table @ TableRef::Table(_) => out.extend(parsed.table_refs().iter().position(|t| std::ptr::eq(t, table))),
        TableRef::Join { left, right, .. } => {
            leaves(parsed, *left, out);
            leaves(parsed, *right, out);
        }
        TableRef::Derived { query, .. } => leaves_of_query(parsed, *query, out),
        TableRef::JsonTable(_) => {}
    }
}

impl Planner<'_> {
    /// May UPDATE and DELETE find a row of a table behind each row of the view?
    pub(super) fn can_write(&self, table: &Table) -> bool {
        self.can_write_within(table, DEPTH_MAX)
    }

    fn can_write_within(&self, table: &Table, depth: usize) -> bool {
        let Some(view) = &table.view else { return !table.is_virtual() };
        let Ok(parsed) = parsed_query(view) else { return false };
        let Some((id, from)) = rows_of_tables(&parsed, view) else { return false };
        let find = |of: Option<&str>, name: &str| self.version.base_table(of.unwrap_or(&table.schema), name);
        let tables = tables_in_from(&parsed, id, from, &find);
        // A subquery that names the table to be written keeps it from that.
        let mut in_from = Vec::new();
        leaves(&parsed, from, &mut in_from);
        let is_again = |(at, table_ref): (usize, &TableRef)| {
            let TableRef::Table(factor) = table_ref else { return false };
            let found = find(factor.name.schema.map(|s| parsed.name(s)), parsed.name(factor.name.name));
            !in_from.contains(&at) && found.is_some_and(|f| tables.iter().flatten().any(|own| own.id == f.id))
        };
        let reads_own = parsed.table_refs().iter().enumerate().any(is_again);
        depth > 0 && !reads_own && tables.iter().flatten().any(|under| self.can_write_within(under, depth - 1))
    }

    /// May rows be inserted into each of the tables in FROM of a view?
    pub(super) fn takes_rows(&self, table: &Table) -> bool {
        let Some(view) = &table.view else { return !table.is_virtual() };
        let Ok(parsed) = parsed_query(view) else { return false };
        let Some((id, from)) = rows_of_tables(&parsed, view) else { return false };
        let find = |of: Option<&str>, name: &str| self.version.base_table(of.unwrap_or(&table.schema), name);
        let tables = tables_in_from(&parsed, id, from, &find);
        view.updatable && tables.iter().all(|under| under.is_some_and(|under| self.takes_rows(under)))
    }
}
