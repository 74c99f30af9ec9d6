//! Is what a view reads still there? A view outlives its tables; what lists views says so, with error 1356's words.

use catalog::eq_name;
use catalog::{RoutineKind, Table, Version};
use sql::ast::{Expr, Parsed, TableFactor, TableRef};
use std::collections::BTreeSet;
use types::codes::*;
use types::{SqlError, err};

/// Views within views; what goes round in a circle ends here.
const DEPTH_MAX: usize = 32;

/// 1356 if the view's tables or columns are not all there.
pub fn invalid_view(version: &Version, table: &Table) -> Option<SqlError> {
    (!is_valid(version, table, 0)).then(|| err!(ER_VIEW_INVALID, table.schema, table.name))
}

/// The tables and views that a view reads, by schema and name.
pub(crate) fn tables_of(table: &Table) -> BTreeSet<(String, String)> {
    let Some(view) = &table.view else { return BTreeSet::new() };
    let Ok(parsed) = sql::parse(view.query.as_bytes(), sql::SqlMode::default()) else { return BTreeSet::new() };
    let tables = parsed.table_refs().iter().filter_map(|t| if let TableRef::Table(f) = t { Some(f) } else { None });
    tables
        .filter_map(|f| Some((parsed.name(f.name.schema?).to_string(), parsed.name(f.name.name).to_string())))
        .collect()
}

/// The stored functions that a view calls, by schema and name as they were made.
pub(crate) fn routines_of(version: &Version, table: &Table) -> BTreeSet<(String, String)> {
    let Some(view) = &table.view else { return BTreeSet::new() };
    let Ok(parsed) = sql::parse(view.query.as_bytes(), sql::SqlMode::default()) else { return BTreeSet::new() };
    let called = parsed.exprs().iter().filter_map(|e| match e {
        // Names of native functions are not quoted.
        Expr::Call { schema, name, .. } if view.query.contains(&format!("`{}`(", parsed.name(*name))) => {
            let schema = schema.map_or(table.schema.as_str(), |s| parsed.name(s));
            version.routine(schema, RoutineKind::Function, parsed.name(*name))
        }
        _ => None,
    });
    called.map(|routine| (routine.schema.clone(), routine.name.clone())).collect()
}

fn is_valid(version: &Version, table: &Table, depth: usize) -> bool {
    let Some(view) = &table.view else { return true };
    let Ok(parsed) = sql::parse(view.query.as_bytes(), sql::SqlMode::default()) else { return false };
    let factors = || parsed.table_refs().iter().filter_map(|t| if let TableRef::Table(f) = t { Some(f) } else { None });
    // In a view's text only tables of WITH stand without their schema.
    let read = |f: &TableFactor| version.table(parsed.name(f.name.schema?), parsed.name(f.name.name));
    let there = |f: &TableFactor| {
        f.name.schema.is_none() || depth < DEPTH_MAX && read(f).is_some_and(|t| is_valid(version, t, depth + 1))
    };
    let alias = |f: &TableFactor| parsed.name(f.alias.unwrap_or(f.name.name)).to_string();
    let known = |e: &Expr| {
        let Some((of, column)) = qualified(&parsed, e) else { return true };
        // The same alias may stand for different tables in different queries.
        let mut named = factors().filter(|f| alias(f) == of).peekable();
        named.peek().is_none()
            || named.any(|f| read(f).is_none_or(|t| t.columns.iter().any(|c| eq_name(&c.name, column))))
    };
    factors().all(there) && parsed.exprs().iter().all(known)
}

fn qualified<'p>(parsed: &'p Parsed, e: &Expr) -> Option<(&'p str, &'p str)> {
    match e {
        Expr::Column { table: Some(table), column, .. } => Some((parsed.name(*table), parsed.name(*column))),
        _ => None,
    }
}
