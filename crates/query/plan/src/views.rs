//! Views: merged into the query around them where their own is a plain selection from one table, else planned as a derived
//! table. A merged view can be written through.

use super::Planner;
use super::join_tree::{StarColumn, Tree};
use super::join_view::not_inserted;
use super::names::{Block, Source, SourceColumn};
use super::node::QueryPlan;
use super::semijoin::Candidate;
use super::slots::subquery_of;
use super::source::Definition;
use super::source::Through;
use super::written_views::is_mergeable;
use crate::table_use::{ColumnUse, RoutineUse, TableUse, ViewRight};
use catalog::mdl::Pin;
use catalog::{CheckOption, Routine, RoutineKind, Table, Version, View, ViewAlgorithm};
use expr::Shape;
use expr::{Expr, compare, functions};
use sql::ast::{self, Expr as Ast, FOUND_ROWS_DEPRECATED, Note, Parsed, QueryBody, SelectItem, Statement, TableRef};
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, err};

/// What the planner of a view's text goes on with.
struct Inherited {
    view_depth: usize,
    calls_routines: bool,
    /// Of the view: functions without a schema are of it.
    schema: String,
    /// Who calls its functions.
    caller: Option<String>,
    /// The view that the statement names.
    view: (String, String),
    planned: Vec<QueryPlan>,
    numbered: i64,
}

/// Views within views.
const DEPTH_MAX: usize = 32;

/// A view as a selection from one base table.
pub struct Merged {
    pub base: Arc<Table>,
    /// Name and column of the base table, in the view's order.
    pub columns: Vec<(String, usize)>,
    /// Over a row of the base table in the slot that it was merged for.
    filter: Option<Expr>,
    /// What WITH CHECK OPTION asks of a row that is written.
    check: Option<Expr>,
}

/// What is left of a planner of a view's query when it has done its part.
struct Taken {
    rights: Vec<ViewRight>,
    evaluated: Vec<super::constant::Constant>,
    unsteady: bool,
    constants: i64,
    tables: Vec<TableUse>,
    /// Columns that were read: the table's id, and for which column of the view's, if for one.
    reads: Vec<(u64, String, Option<usize>)>,
    named_tables: u64,
    subqueries: Vec<QueryPlan>,
    routines: Vec<RoutineUse>,
    called: Vec<Pin>,
    calls_for_own: bool,
}

pub(super) fn parsed_query(view: &View) -> Result<Parsed> {
    sql::parse(view.query.as_bytes(), sql::SqlMode::default()).map_err(|e| expr::error::parse_error(&e))
}

/// Is it rows of FROM for which WHERE holds, as they are?
fn is_plain(query: &ast::Query, select: &ast::Select) -> bool {
    query.with.is_none()
        && query.order.is_empty()
        && query.limit.is_none()
        && !select.options.distinct
        && select.group.is_empty()
        && select.having.is_none()
        && select.windows.is_empty()
}

fn is_subquery(e: &Ast) -> bool {
    matches!(e, Ast::Subquery(_) | Ast::Exists(_) | Ast::InQuery { .. } | Ast::Quantified { .. })
}

fn is_column(parsed: &Parsed, item: &SelectItem) -> bool {
    matches!(item, SelectItem::Expr { expr, .. } if matches!(parsed[*expr], Ast::Column { .. }))
}

/// The SELECT of a view that can be merged, and the table that it reads.
fn plain_select(parsed: &Parsed, through: Through) -> Option<(&ast::Select, &ast::TableFactor)> {
    let Statement::Query(id) = parsed.statement else { return None };
    let query = &parsed[id];
    let QueryBody::Select(select) = &query.body else { return None };
    let is_column = |item: &SelectItem| is_column(parsed, item);
    let reads_more = through == Through::Read && parsed.exprs().iter().any(is_subquery);
    if !is_plain(query, select) || reads_more || !select.items.iter().all(is_column) {
        return None;
    }
    let TableRef::Table(factor) = &parsed[select.from?] else { return None };
    let name = |f: &ast::TableFactor| (f.name.schema.map(|s| parsed.name(s)), parsed.name(f.name.name));
    let again = |t: &&TableRef| matches!(t, TableRef::Table(f) if name(f) == name(factor));
    let writable = through == Through::Insert || parsed.table_refs().iter().filter(again).count() == 1;
    writable.then_some((select, factor))
}

/// Each column of a view that is a plain selection, and the column of its table that it is.
fn shown_by(view: &Table, parsed: &Parsed, select: &ast::Select) -> Vec<(String, String)> {
    let column = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => match parsed[*expr] {
            Ast::Column { column, .. } => Some(parsed.name(column).to_string()),
            _ => None,
        },
        _ => None,
    };
    let both = select.items.iter().zip(&view.columns);
    both.filter_map(|(item, named)| Some((named.name.clone(), column(item)?))).collect()
}

impl Planner<'_> {
    /// Is it a selection from one table, in one view after another?
    pub(super) fn is_of_one_table(&self, table: &Table) -> bool {
        let Some(view) = &table.view else { return table.virtual_rows.is_none() };
        let Ok(parsed) = parsed_query(view) else { return false };
        if view.algorithm == ViewAlgorithm::TempTable {
            return false;
        }
        let Some((select, factor)) = plain_select(&parsed, Through::Change) else { return false };
        let mut seen: Vec<&str> = Vec::new();
        for item in &select.items {
            let SelectItem::Expr { expr, .. } = item else { return false };
            let Ast::Column { column, .. } = parsed[*expr] else { return false };
            let name = parsed.name(column);
            if seen.iter().any(|s| s.eq_ignore_ascii_case(name)) {
                return false;
            }
            seen.push(name);
        }
        let schema = factor.name.schema.map_or(table.schema.as_str(), |s| parsed.name(s));
        self.version.base_table(schema, parsed.name(factor.name.name)).is_none_or(|under| self.is_of_one_table(under))
    }

    /// A view in FROM.
    pub(super) fn view(&mut self, table: &Arc<Table>, alias: Option<&str>) -> Result<(Tree, Vec<StarColumn>)> {
        let alias = alias.unwrap_or(&table.name).to_string();
        self.note_view(table, &alias);
        let (slot, through) = (self.block().shapes.len(), self.block().through);
        if let Some(merged) = self.merged(table, through, slot)? {
            let source = self.merged_source(&merged, table, slot, &alias);
            self.block().shapes.push(Shape::Row(merged.base.clone()));
            let (tree, _) = self.add_source(source)?;
            let Tree::Leaf(at) = tree else { unreachable!("a source is a leaf") };
            let star = |(name, column): &(String, usize)| StarColumn {
                name: name.clone(),
                source: at,
                column: *column,
                merged: None,
            };
            return Ok((tree, merged.columns.iter().map(star).collect()));
        }
        let first = self.first_plan();
        let through = if self.writes_view(table, &alias) { Through::Change } else { Through::Read };
        let (plan, candidate) = self.view_plan(table, Some(&alias), through)?;
        let column = |(c, (meta, e)): (&catalog::Column, (&crate::ColumnMeta, &Expr))| SourceColumn {
            name: c.name.clone(),
            data_type: compare::column_of(e),
            hidden: false,
            invisible: false,
            origin: Some(Box::new(meta.clone())),
            members: None,
        };
        let columns: Vec<SourceColumn> =
            table.columns.iter().zip(plan.columns.iter().zip(&plan.outputs)).map(column).collect();
        let mut source = Source::of_tuple(0, &alias, columns);
        source.schema.clone_from(&table.schema);
        source.named = Some(table.id);
        source.view = Some(table.name.clone());
        let mut candidate = candidate;
        source.check = candidate.as_mut().and_then(|candidate| super::view_check::check_of(table, candidate));
        let (tree, star) = self.take_in(plan, candidate, source)?;
        let origin = self.origin(first, Definition::View(table.clone()));
        self.note_origin(&tree, origin, false);
        Ok((tree, star))
    }

    /// The base table of a merged view under the view's names, its condition with it.
    pub(super) fn merged_source(&self, merged: &Merged, view: &Table, slot: usize, alias: &str) -> Source {
        let mut source = Source::of_table(slot, &merged.base, Some(alias));
        source.schema.clone_from(&view.schema);
        source.named = Some(view.id);
        source.view = Some(view.name.clone());
        for (at, column) in source.columns.iter_mut().enumerate() {
            match merged.columns.iter().find(|(_, c)| *c == at) {
                Some((name, _)) => (column.name, column.invisible) = (name.clone(), false),
                None => column.hidden = true,
            }
        }
        source.filter = merged.filter.clone().map(|e| super::expression::at_slot(e, slot));
        if let Some(filter) = &source.filter {
            // An index that lacks what the condition reads does not do.
            super::derived::note_used(std::slice::from_ref(&source), filter);
        }
        let check = merged.check.clone().map(|e| super::expression::at_slot(e, 0));
        source.check = check.map(|e| (format!("{}.{}", view.schema, view.name), e));
        source
    }

    /// The view as a selection from one base table; `None` when it is more than that. `slot`: where subqueries of its condition find
    /// its columns.
    pub(super) fn merged(&mut self, table: &Arc<Table>, through: Through, slot: usize) -> Result<Option<Merged>> {
        let view = table.view.as_ref().expect("a view");
        if view.algorithm == ViewAlgorithm::TempTable {
            return Ok(None);
        }
        let parsed = parsed_query(view)?;
        let Some((select, factor)) = plain_select(&parsed, through) else { return Ok(None) };
        self.note_deprecated(&parsed);
        self.deeper(table)?;
        let outer = self.scope.merged_view;
        self.scope.merged_view = outer.or(Some(table.id));
        let rights = self.uses.rights.len();
        let result = self.merge(table, view, &parsed, (select, factor), (through, slot));
        self.scope.merged_view = outer;
        self.scope.view_depth -= 1;
        if matches!(result, Ok(None)) {
            // It is planned otherwise, which finds them anew.
            self.uses.rights.truncate(rights);
        }
        result.map_err(|e| invalid(table, e))
    }

    fn merge(
        &mut self,
        table: &Table,
        view: &View,
        parsed: &Parsed,
        (select, factor): (&ast::Select, &ast::TableFactor),
        (through, slot): (Through, usize),
    ) -> Result<Option<Merged>> {
        let schema = factor.name.schema.map_or(table.schema.as_str(), |s| parsed.name(s));
        let name = parsed.name(factor.name.name);
        let under =
            self.version.base_table(schema, name).cloned().ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?;
        self.note_in_view(&under);
        let shown = shown_by(table, parsed, select);
        let mut reads: Vec<_> = shown.iter().enumerate().map(|(at, (_, column))| (column.clone(), Some(at))).collect();
        let own_right = self.uses.rights.len();
        self.uses.rights.push(ViewRight {
            shown,
            as_view: self.scope.merged_view,
            ..right(table, view, &under.schema, &under.name)
        });
        let first = self.uses.rights.len();
        let inner = match &under.view {
            Some(_) => {
                let inner = self.merged(&under, through, slot);
                self.uses.rights[first..].iter_mut().for_each(|r| enclose(r, table, view));
                match inner? {
                    Some(inner) => inner,
                    None => return Ok(None),
                }
            }
            None if under.is_virtual() => return Ok(None),
            None => Merged {
                columns: under
                    .columns
                    .iter()
                    .enumerate()
                    .filter(|(_, c)| !c.hidden)
                    .map(|(i, c)| (c.name.clone(), i))
                    .collect(),
                base: under.clone(),
                filter: None,
                check: None,
            },
        };
        let of_inner = first..self.uses.rights.len();
        let mut columns: Vec<(String, usize)> = Vec::new();
        for (item, named) in select.items.iter().zip(&table.columns) {
            let SelectItem::Expr { expr, .. } = item else { return Ok(None) };
            let Ast::Column { column, .. } = parsed[*expr] else { return Ok(None) };
            let wanted = parsed.name(column);
            let found = inner.columns.iter().find(|(n, _)| n.eq_ignore_ascii_case(wanted)).map(|(_, at)| *at);
            let at = found.ok_or_else(|| expr::error::unknown_column(wanted, "field list"))?;
            if columns.iter().any(|(_, c)| *c == at) {
                return Ok(None);
            }
            columns.push((named.name.clone(), at));
        }
        let own = match select.filter {
            Some(id) => {
                self.grow(self.budget.height + parsed.height())?;
                let alias = factor.alias.map_or(name, |a| parsed.name(a));
                let mut source = self.merged_source(&inner, &under, slot, alias);
                source.filter = None;
                let inherited = self.inherited(table, view);
                let mut planner = Planner::new(parsed, Version::base(self.version), &mut *self.env, &[]);
                planner.inherit(inherited);
                let mut block = Block::default();
                block.sources.push(source);
                // The slots before it are those of the tables around the view.
                block.shapes.resize_with(slot, || Shape::Tuple(0));
                block.shapes.push(Shape::Row(inner.base.clone()));
                planner.scope.blocks.push(block);
                let condition = planner.condition(id, "where clause");
                let taken = planner.taken();
                let of_condition = taken.reads.iter().filter(|(id, ..)| *id == under.id);
                let of_condition: Vec<String> = of_condition.map(|(_, name, _)| name.clone()).collect();
                reads.extend(of_condition.iter().map(|name| (name.clone(), None)));
                self.uses.rights[own_right].columns = of_condition;
                self.take_read(taken, table, view);
                Some(condition?)
            }
            None => None,
        };
        self.uses.rights[of_inner].iter_mut().for_each(|right| right.shown_through(table, &reads));
        let both = |a: Option<Expr>, b: Option<Expr>| super::all_of(a.into_iter().chain(b).collect());
        let filter = both(inner.filter, own.clone());
        let check = match view.check_option {
            CheckOption::None => inner.check,
            CheckOption::Local => both(inner.check, own),
            CheckOption::Cascaded => filter.clone(),
        };
        // A row that is checked stands in slot 0, where a subquery of the condition would not find it.
        if slot > 0 && check.as_ref().is_some_and(|e| e.any(&mut |e| subquery_of(e).is_some())) {
            return Ok(None);
        }
        Ok(Some(Merged { base: inner.base, columns, filter, check }))
    }

    /// The table of a join that rows are inserted into through a view of it: the one whose columns have these names there. `None`: the view
    /// shows more than columns, or one twice, or these are not of one table.
    pub(super) fn inserted_through(&mut self, table: &Arc<Table>, names: &[&str]) -> Result<Option<Merged>> {
        let view = table.view.as_ref().expect("a view");
        if !self.takes_rows(table) {
            return Ok(None);
        }
        let parsed = parsed_query(view)?;
        self.deeper(table)?;
        let outer = self.scope.merged_view;
        self.scope.merged_view = outer.or(Some(table.id));
        let result = self.insert_into_join(table, view, &parsed, names);
        self.scope.merged_view = outer;
        self.scope.view_depth -= 1;
        let mut merged = result.map_err(|e| invalid(table, e))?;
        // The outermost view's includes what those in it ask.
        if outer.is_none()
            && let Some(merged) = &mut merged
            && self.is_checked(table)
        {
            merged.check = self.check_of_inserted(table, names)?;
        }
        Ok(merged)
    }

    /// Has the view, or one in it, a CHECK OPTION?
    fn is_checked(&self, table: &Table) -> bool {
        let Some(view) = &table.view else { return false };
        let is_under = |(schema, name, _): &(String, String, bool)| {
            self.version.base_table(schema, name).is_some_and(|under| self.is_checked(under))
        };
        view.check_option != CheckOption::None || tables_of(table).is_ok_and(|of| of.iter().any(is_under))
    }

    fn insert_into_join(
        &mut self,
        table: &Table,
        view: &View,
        parsed: &Parsed,
        names: &[&str],
    ) -> Result<Option<Merged>> {
        let Statement::Query(id) = parsed.statement else { return Ok(None) };
        let QueryBody::Select(select) = &parsed[id].body else { return Ok(None) };
        // Of each column the view's name, its table's, and that table's name for it.
        let mut columns: Vec<(&str, &str, &str)> = Vec::new();
        for (item, named) in select.items.iter().zip(&table.columns) {
            let SelectItem::Expr { expr, .. } = item else { return Ok(None) };
            let Ast::Column { table: Some(of), column, .. } = parsed[*expr] else { return Ok(None) };
            let (of, column) = (parsed.name(of), parsed.name(column));
            if columns.iter().any(|(_, o, c)| *o == of && c.eq_ignore_ascii_case(column)) {
                return Ok(None);
            }
            columns.push((&named.name, of, column));
        }
        let is_named = |name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        let Some((_, of, _)) = columns.iter().find(|(name, ..)| is_named(name)).copied() else { return Ok(None) };
        let mut found = None;
        for factor in parsed.table_refs().iter() {
            let TableRef::Table(factor) = factor else { continue };
            let (schema, name) =
                (factor.name.schema.map_or(table.schema.as_str(), |s| parsed.name(s)), factor.name.name);
            let name = parsed.name(name);
            let under =
                self.version.base_table(schema, name).cloned().ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?;
            self.note_in_view(&under);
            let alias = factor.alias.map_or(name, |a| parsed.name(a));
            if alias == of {
                found = Some(under);
                continue;
            }
            // As far as rights go, rows are inserted into all.
            let theirs = columns.iter().filter(|(_, o, _)| *o == alias).map(|(_, _, column)| column.to_string());
            self.uses.rights.push(ViewRight {
                inserted: theirs.collect(),
                as_view: self.scope.merged_view,
                ..right(table, view, &under.schema, &under.name)
            });
        }
        let Some(under) = found.filter(|under| !under.is_virtual()) else { return Ok(None) };
        columns.retain(|(_, o, _)| *o == of);
        let first = self.uses.rights.len();
        self.uses.rights.push(ViewRight {
            inserted: columns.iter().map(|(_, _, column)| column.to_string()).collect(),
            shown: columns.iter().map(|(name, _, column)| (name.to_string(), column.to_string())).collect(),
            as_view: self.scope.merged_view,
            ..right(table, view, &under.schema, &under.name)
        });
        let inner = match &under.view {
            Some(_) => {
                let first = first + 1;
                let inner = match self.merged(&under, Through::Insert, 0)? {
                    Some(inner) => Some(inner),
                    None => {
                        let named = columns.iter().filter(|(name, ..)| is_named(name)).map(|(_, _, c)| *c);
                        let named: Vec<&str> = named.collect();
                        match not_inserted(&under, Some(&named), false) {
                            Some(e) if e.code == ER_VIEW_MULTIUPDATE => {
                                return Err(err!(ER_VIEW_MULTIUPDATE, table.schema, table.name));
                            }
                            _ => self.inserted_through(&under, &named)?,
                        }
                    }
                };
                let at = |name: &str| table.columns.iter().position(|c| c.name == name);
                let reads: Vec<_> = columns.iter().map(|(name, _, column)| (column.to_string(), at(name))).collect();
                for right in &mut self.uses.rights[first..] {
                    enclose(right, table, view);
                    right.shown_through(table, &reads);
                }
                match inner {
                    Some(inner) => inner,
                    None => return Ok(None),
                }
            }
            None => {
                let own = under.columns.iter().enumerate().filter(|(_, c)| !c.hidden);
                let columns = own.map(|(i, c)| (c.name.clone(), i)).collect();
                Merged { base: under.clone(), columns, filter: None, check: None }
            }
        };
        let mut shown = Vec::with_capacity(columns.len());
        for (name, _, column) in columns {
            let at = inner.columns.iter().find(|(n, _)| n.eq_ignore_ascii_case(column)).map(|(_, at)| *at);
            // A column of another table of a join below.
            let Some(at) = at else { continue };
            shown.push((name.to_string(), at));
        }
        Ok(Some(Merged { base: inner.base, columns: shown, filter: None, check: inner.check }))
    }

    /// What the text of a view says that is deprecated: who reads the view is told of FOUND_ROWS().
    fn note_deprecated(&mut self, view: &Parsed) {
        for _ in view.notes().iter().filter(|note| **note == Note::FoundRows) {
            self.warnings.notes.push((ER_WARN_DEPRECATED_SYNTAX, FOUND_ROWS_DEPRECATED));
        }
    }

    /// The plan of a view that is no selection from one table, or what is to be merged of it; `alias`: its name, if it may be.
    /// `through`: it has to be where something is written through it.
    pub(super) fn view_plan(
        &mut self,
        table: &Arc<Table>,
        alias: Option<&str>,
        through: Through,
    ) -> Result<(QueryPlan, Option<Box<Candidate>>)> {
        let written = through != Through::Read;
        let merges = written || alias.is_some_and(|alias| self.merges(alias, super::source::Merges::Views));
        let view = table.view.clone().expect("a view");
        let parsed = parsed_query(&view)?;
        let Statement::Query(id) = parsed.statement else { return Err(invalid(table, types::error::syntax_error())) };
        self.note_deprecated(&parsed);
        self.deeper(table)?;
        // It may be merged into what reads it.
        self.grow(self.budget.height + parsed.height())?;
        let inherited = self.inherited(table, &view);
        let mut inner = Planner::new(&parsed, Version::base(self.version), &mut *self.env, &[]);
        inner.inherit(inherited);
        inner.scope.is_merged_view = view.algorithm != ViewAlgorithm::TempTable
            && is_mergeable(&parsed, id)
            && !parsed.exprs().iter().any(is_subquery);
        inner.request.merges = self.request.merges.max(if written {
            super::source::Merges::Views
        } else {
            super::source::Merges::Nothing
        });
        (inner.budget.blocks_planned, inner.budget.blocks_anew) = (self.budget.blocks_planned, self.budget.blocks_anew);
        (inner.budget.height, inner.budget.height_max) = (self.budget.height, self.budget.height_max);
        let is_select = matches!(parsed[id].body, QueryBody::Select(_));
        // Index hints name their indexes by numbers that the view's text gave them.
        let hinted = |t: &TableRef| matches!(t, TableRef::Table(factor) if !factor.index_hints.is_empty());
        let plain = is_select && !parsed.table_refs().iter().any(hinted);
        inner.request.merging = merges && plain && view.algorithm != ViewAlgorithm::TempTable;
        inner.request.through = through;
        let pushed = if is_select { self.request.pushed.take() } else { None };
        let pushes = pushed.is_some();
        inner.request.pushed = pushed;
        let plan = inner.query(id, true);
        if pushes {
            self.request.pushed = inner.request.pushed.take();
        }
        let mut candidate = inner.request.candidate.take();
        if let Some(candidate) = &mut candidate {
            candidate.block.hints = None;
            candidate.block.sources.iter_mut().for_each(|s| s.block = None);
        }
        (self.budget.blocks_planned, self.budget.blocks_anew) = (inner.budget.blocks_planned, inner.budget.blocks_anew);
        self.budget.height = inner.budget.height;
        let taken = inner.taken();
        self.take_read(taken, table, &view);
        self.scope.view_depth -= 1;
        let plan = plan.map_err(|e| invalid(table, e))?;
        match plan.outputs.len() == table.columns.len() {
            true => Ok((plan, candidate)),
            false => Err(invalid(table, err!(ER_VIEW_WRONG_LIST))),
        }
    }

    /// What was planned for the query of a view, or for its condition, and is the statement's.
    fn taken(mut self) -> Taken {
        let (rights, evaluated) =
            (std::mem::take(&mut self.uses.rights), std::mem::take(&mut self.constants.evaluated));
        let (unsteady, constants) = (self.found.unsteady, self.constants.numbered);
        let named_tables = self.uses.named_tables;
        let routines = std::mem::take(&mut self.uses.routines);
        let called = std::mem::take(&mut self.uses.called);
        let calls_for_own = self.uses.calls_for_own;
        let reads = self.uses.column_reads.borrow().iter().map(|r| (r.id, r.name.clone(), r.item)).collect();
        let (tables, subqueries) = self.collected();
        Taken {
            rights,
            evaluated,
            unsteady,
            constants,
            tables,
            reads,
            named_tables,
            subqueries,
            routines,
            called,
            calls_for_own,
        }
    }

    /// Takes over what was planned for a view: all that it does with its tables is to read them.
    fn take_read(&mut self, taken: Taken, table: &Table, view: &View) {
        self.constants.numbered = taken.constants;
        self.uses.named_tables += taken.named_tables;
        self.constants.evaluated.extend(taken.evaluated);
        self.found.unsteady |= taken.unsteady;
        self.queries.planned = taken.subqueries;
        self.uses.note_called(&taken.called);
        self.uses.calls_for_own |= taken.calls_for_own;
        for mut routine in taken.routines {
            routine.view = Some((table.schema.clone(), table.name.clone()));
            if !self.uses.routines.contains(&routine) {
                self.uses.routines.push(routine);
            }
        }
        if taken.tables.is_empty() {
            // EXPLAIN tells of a view that reads no table, too.
            self.uses.rights.push(right(table, view, &table.schema, &table.name));
        }
        let reads_of = |wanted: u64| -> Vec<(String, Option<usize>)> {
            let of = taken.reads.iter().filter(|(id, ..)| *id == wanted);
            of.map(|(_, name, item)| (name.clone(), *item)).collect()
        };
        for mut inner in taken.rights {
            enclose(&mut inner, table, view);
            if let Some(id) = inner.shown_by {
                inner.shown_through(table, &reads_of(id));
            }
            self.uses.rights.push(ViewRight { read: true, as_view: None, ..inner });
        }
        for t in taken.tables {
            if t.read {
                let mut right = right(table, view, &t.schema, &t.table);
                for (name, item) in reads_of(t.id) {
                    match item {
                        Some(i) => right.shown.push((table.columns[i].name.clone(), name)),
                        None => right.columns.push(name),
                    }
                }
                self.uses.rights.push(ViewRight { read: true, ..right });
            }
            // Who reads the view needs a right on the view alone.
            if let Some(own) = self.uses.tables.iter_mut().find(|n| n.id == t.id) {
                own.by_routine |= t.by_routine;
                own.carried |= t.by_routine && t.carried;
                own.in_view |= t.read || t.in_view;
            } else {
                let in_view = t.read || t.in_view;
                self.uses.tables.push(TableUse {
                    read: false,
                    lock: false,
                    columns: ColumnUse::default(),
                    in_view,
                    ..t
                });
            }
        }
    }

    /// What the text of a view is planned with.
    fn inherited(&mut self, table: &Table, view: &View) -> Inherited {
        Inherited {
            view_depth: self.scope.view_depth,
            calls_routines: self.uses.calls_routines,
            schema: table.schema.clone(),
            caller: if view.invoker { self.scope.routine_caller.clone() } else { Some(view.definer.clone()) },
            view: self.scope.routine_view.clone().unwrap_or_else(|| (table.schema.clone(), table.name.clone())),
            planned: std::mem::take(&mut self.queries.planned),
            numbered: self.constants.numbered,
        }
    }

    fn inherit(&mut self, from: Inherited) {
        self.scope.view_depth = from.view_depth;
        self.uses.calls_routines = from.calls_routines;
        self.scope.routine_schema = Some(from.schema);
        self.scope.routine_caller = from.caller;
        self.scope.routine_view = Some(from.view);
        self.queries.planned = from.planned;
        self.constants.numbered = from.numbered;
    }

    fn deeper(&mut self, table: &Table) -> Result<()> {
        self.scope.view_depth += 1;
        match self.scope.view_depth > DEPTH_MAX {
            true => Err(err!(ER_VIEW_RECURSIVE, table.schema, table.name)),
            false => Ok(()),
        }
    }
}

/// What `view` needs on one of its tables: nothing yet.
fn right(table: &Table, view: &View, schema: &str, name: &str) -> ViewRight {
    ViewRight {
        view: (table.schema.clone(), table.name.clone()),
        of: (table.schema.clone(), table.name.clone()),
        definer: (!view.invoker).then(|| view.definer.clone()),
        schema: schema.to_string(),
        table: name.to_string(),
        read: false,
        columns: Vec::new(),
        inserted: Vec::new(),
        shown: Vec::new(),
        shown_by: Some(table.id),
        as_view: None,
    }
}

/// A right of a view that stands in the query of another one: SQL SECURITY INVOKER means by whose right that query runs, and
/// errors name the outer view.
fn enclose(right: &mut ViewRight, table: &Table, view: &View) {
    right.view = (table.schema.clone(), table.name.clone());
    if right.definer.is_none() && !view.invoker {
        right.definer = Some(view.definer.clone());
    }
}

/// 1356 for a view whose tables or columns are not there any more.
#[cold]
fn invalid(table: &Table, e: SqlError) -> SqlError {
    match e.code {
        ER_BAD_DB_ERROR | ER_BAD_TABLE_ERROR | ER_BAD_FIELD_ERROR | ER_NO_SUCH_TABLE | ER_SP_DOES_NOT_EXIST
        | ER_VIEW_WRONG_LIST => err!(ER_VIEW_INVALID, table.schema, table.name),
        _ => e,
    }
}

/// The tables and views that a view is made of, by schema and name, and whether each stands in its FROM itself: only such a
/// one can be written through the view. Names of common table expressions are among them.
pub fn tables_of(view: &Table) -> Result<Vec<(String, String, bool)>> {
    let definition = view.view.as_ref().expect("a view");
    let parsed = parsed_query(definition)?;
    let mut direct: Vec<&ast::TableFactor> = Vec::new();
    if let Statement::Query(id) = parsed.statement
        && let QueryBody::Select(select) = &parsed[id].body
    {
        let mut left: Vec<ast::TableId> = select.from.into_iter().collect();
        while let Some(id) = left.pop() {
            match &parsed[id] {
                TableRef::Table(factor) => direct.push(factor),
                TableRef::Join { left: a, right: b, .. } => left.extend([*a, *b]),
                TableRef::Derived { .. } | TableRef::JsonTable(_) => {}
            }
        }
    }
    let name_of = |factor: &ast::TableFactor| {
        let schema = factor.name.schema.map_or(view.schema.as_str(), |s| parsed.name(s));
        let is_direct = direct.iter().any(|d| std::ptr::eq(*d, factor));
        (schema.to_string(), parsed.name(factor.name.name).to_string(), is_direct)
    };
    let factors = parsed.table_refs().iter().filter_map(|t| match t {
        TableRef::Table(factor) => Some(name_of(factor)),
        _ => None,
    });
    Ok(factors.collect())
}

/// The stored functions that a view calls.
pub fn functions_of<'v>(version: &'v Version, view: &Table) -> Vec<&'v Arc<Routine>> {
    let parsed = view.view.as_ref().and_then(|definition| parsed_query(definition).ok());
    let Some(parsed) = parsed else { return Vec::new() };
    let called = parsed.exprs().iter().filter_map(|e| match e {
        Ast::Call { schema, name, .. } => {
            let name = parsed.name(*name);
            // A native function comes before a stored one of its name.
            let is_native = schema.is_none() && functions::find(name).is_some();
            let schema = schema.map_or(view.schema.as_str(), |s| parsed.name(s));
            version.routine(schema, RoutineKind::Function, name).filter(|_| !is_native)
        }
        _ => None,
    });
    called.collect()
}

/// Of each column of a view: the table in FROM whose column it is; `None`: it is computed.
pub(super) fn origins(view: &View) -> Option<Vec<Option<String>>> {
    let parsed = parsed_query(view).ok()?;
    let Statement::Query(id) = parsed.statement else { return None };
    let QueryBody::Select(select) = &parsed[id].body else { return None };
    let origin = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => match parsed[*expr] {
            Ast::Column { table, .. } => Some(table.map_or(String::new(), |t| parsed.name(t).to_string())),
            _ => None,
        },
        _ => None,
    };
    Some(select.items.iter().map(origin).collect())
}

/// Is the view a join of several tables?
pub(super) fn is_join(view: &View) -> bool {
    let Ok(parsed) = parsed_query(view) else { return false };
    let Statement::Query(id) = parsed.statement else { return false };
    let QueryBody::Select(select) = &parsed[id].body else { return false };
    select.from.is_some_and(|from| matches!(parsed[from], TableRef::Join { .. }))
}
