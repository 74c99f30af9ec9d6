//! UPDATE and DELETE through views that are joins, or show more than columns of one table.
//!
//! ```text
//!   UPDATE v SET x = 1     v is merged into the block of the statement, as one in FROM is (see derived.rs)
//!   x                      stands for a column of one of its tables: that table is written, by a joined UPDATE
//! ```

use super::Planner;
use super::node::Assigned;
use super::source::Written;
use super::views::{is_join, origins};
use catalog::Table;
use expr::error::unknown_column;
use sql::ast::{self, Expr as Ast, Parsed, TableRef};
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, err};

/// What the SET of an UPDATE names.
pub(super) fn set_by(parsed: &Parsed, set: &[ast::Assignment]) -> Vec<Written> {
    let of = |a: &ast::Assignment| match parsed[a.column] {
        Ast::Column { table, column, .. } => Some(Written {
            table: table.map(|t| parsed.name(t).to_string()),
            column: Some(parsed.name(column).to_string()),
        }),
        _ => None,
    };
    set.iter().filter_map(of).collect()
}

/// The name of the column that an assignment sets.
pub(super) fn column_name<'p>(parsed: &'p Parsed, a: &ast::Assignment) -> &'p str {
    match parsed[a.column] {
        Ast::Column { column, .. } => parsed.name(column),
        _ => "",
    }
}

/// Schema and name of what a DELETE takes rows out of.
pub(super) fn targets<'p>(parsed: &'p Parsed, delete: &ast::Delete) -> Vec<(Option<&'p str>, &'p str)> {
    match &parsed[delete.from] {
        TableRef::Table(factor) if delete.targets.is_empty() => {
            vec![(None, parsed.name(factor.alias.unwrap_or(factor.name.name)))]
        }
        _ => {
            let names = delete.targets.iter();
            names.map(|name| (name.schema.map(|s| parsed.name(s)), parsed.name(name.name))).collect()
        }
    }
}

pub(super) fn deleted_from(parsed: &Parsed, delete: &ast::Delete) -> Vec<Written> {
    let of = |(_, name): (Option<&str>, &str)| Written { table: Some(name.to_string()), column: None };
    targets(parsed, delete).into_iter().map(of).collect()
}

/// Why nothing is inserted through a view that is no selection from one table. Errors 1054, 1348, 1393, 1394, 1395.
pub(super) fn not_inserted(table: &Table, names: Option<&[&str]>, replaces: bool) -> Option<SqlError> {
    let view = table.view.as_deref().filter(|view| super::written_views::is_mergeable_view(view))?;
    let is_join = is_join(view);
    if is_join && names.is_none() {
        return Some(err!(ER_VIEW_NO_INSERT_FIELD_LIST, table.schema, table.name));
    }
    let origins = origins(view)?;
    // Where no column is named all get their defaults.
    let names = names.filter(|names| !names.is_empty());
    let has = |name: &&&str| table.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
    if let Some(unknown) = names.into_iter().flatten().find(|name| !has(name)) {
        return Some(unknown_column(unknown, "field list"));
    }
    let is_named = |name: &str| names.is_none_or(|names| names.iter().any(|n| n.eq_ignore_ascii_case(name)));
    let mut of: Option<&str> = None;
    for (column, origin) in table.columns.iter().zip(&origins).filter(|(c, _)| is_named(&c.name)) {
        match (origin, of) {
            (None, _) => return Some(err!(ER_NONUPDATEABLE_COLUMN, column.name)),
            (Some(table_of), Some(first)) if table_of.as_str() != first => {
                return Some(err!(ER_VIEW_MULTIUPDATE, table.schema, table.name));
            }
            (Some(table_of), _) => of = Some(table_of.as_str()),
        }
    }
    (is_join && replaces).then(|| err!(ER_VIEW_DELETE_MERGE_VIEW, table.schema, table.name))
}

impl Planner<'_> {
    /// Does the statement write through the view of that name, which no table of its own stands for?
    pub(super) fn writes_view(&self, table: &Table, alias: &str) -> bool {
        if table.view.is_none() {
            return false;
        }
        let has = |name: &String| table.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
        let is_meant = |w: &Written| w.table.as_deref().is_none_or(|t| t == alias) && w.column.as_ref().is_none_or(has);
        self.current_block().written.iter().any(is_meant) && self.can_write(table)
    }

    /// Is an UPDATE or DELETE of this table alone planned as a joined one? That of a join view has to be; where a subquery of WHERE
    /// may be joined it is better, as in MySQL. `in_order`: it has an ORDER BY or a LIMIT, which those have not.
    pub(super) fn goes_through_join(
        &mut self,
        factor: &ast::TableFactor,
        filter: Option<ast::ExprId>,
        in_order: bool,
    ) -> bool {
        let (schema, name) = (factor.name.schema.map(|s| self.parsed.name(s)), self.parsed.name(factor.name.name));
        let Some(schema) = schema.or(self.scope.schema.as_deref()).or(self.env.database()).map(str::to_string) else {
            return false;
        };
        let Some(table) = self.find_table(&schema, name) else { return false };
        let Some(view) = &table.view else {
            return !in_order && !self.settings.row_by_row && self.asks_subquery(filter);
        };
        !self.is_of_one_table(&table) && (!in_order || is_join(view)) && self.can_write(&table)
    }

    /// The source that stands for the merged view that source `i` is a table of.
    pub(super) fn view_around(&self, i: usize) -> Option<usize> {
        let sources = &self.current_block().sources;
        sources[i].hidden.then(|| (0..i).rev().find(|at| !sources[*at].hidden)).flatten()
    }

    /// Error 1393 where two tables are set through one view.
    pub(super) fn one_table_a_view(&self, set: &[(usize, usize, Assigned)]) -> Result<()> {
        let sources = &self.current_block().sources;
        let mut seen: Vec<(usize, usize)> = Vec::new();
        for (slot, ..) in set {
            let at = sources.iter().position(|s| s.slot == *slot && s.stands_for.is_none());
            let Some(view) = at.and_then(|at| self.view_around(at)) else { continue };
            if seen.iter().any(|(v, s)| *v == view && s != slot) {
                let (schema, name) = self.view_name(view);
                return Err(err!(ER_VIEW_MULTIUPDATE, schema, name));
            }
            seen.push((view, *slot));
        }
        Ok(())
    }

    /// The table that rows are deleted from through source `i`. Error 1395 for a view of several.
    pub(super) fn deleted_through(&self, i: usize) -> Result<usize> {
        let sources = &self.current_block().sources;
        if sources[i].stands_for.is_none() {
            return Ok(i);
        }
        let behind = (i + 1..sources.len()).take_while(|at| sources[*at].hidden);
        let mut tables = behind.filter(|at| sources[*at].stands_for.is_none());
        match (tables.next(), tables.next()) {
            (Some(table), None) => Ok(table),
            _ => {
                let (schema, name) = self.view_name(i);
                Err(err!(ER_VIEW_DELETE_MERGE_VIEW, schema, name))
            }
        }
    }

    fn view_name(&self, i: usize) -> (&str, &str) {
        let source = &self.current_block().sources[i];
        (&source.schema, source.view.as_deref().unwrap_or(&source.name))
    }

    /// Whoever defined the view has to have the right to do what the statement does with it: on the table that is written, and
    /// on the views between them.
    pub(super) fn note_written_through(&mut self, view: usize, table: &Arc<Table>) {
        let source = &self.current_block().sources[view];
        let (id, schema) = (source.named, source.schema.clone());
        let name = source.view.clone().unwrap_or_else(|| source.name.clone());
        let version = self.version;
        for right in self.uses.rights.iter_mut().filter(|r| r.view.0 == schema && r.view.1 == name) {
            let is_table = right.schema == table.schema && right.table == table.name;
            let between = || version.base_table(&right.schema, &right.table).is_some_and(|t| t.view.is_some());
            if is_table || between() {
                right.as_view = id;
            }
        }
    }
}
