//! Statements that change a table and read it in a subquery: MySQL refuses them, unless what is read is kept first as a derived table
//! is. A view that MySQL merges is no such table, whatever this planner does with it: the tables of its query, and of the queries
//! in that, are read by the statement.

use super::Planner;
use super::dml::read_of;
use super::views::parsed_query;
use super::written_views::{is_mergeable, leaves_of_query};
use catalog::{Table, ViewAlgorithm};
use sql::ast::{Statement, TableRef};
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

/// A view that the statement itself names.
pub struct NamedView {
    table: Arc<Table>,
    alias: String,
    /// How many derived tables of the statement it stands in.
    derived: usize,
    /// It stands in FROM of the statement, and not of a subquery.
    outermost: bool,
}

impl Planner<'_> {
    pub(super) fn note_view(&mut self, table: &Arc<Table>, alias: &str) {
        let (table, alias) = (table.clone(), alias.to_string());
        let outermost = self.scope.blocks.len() == 1;
        self.uses.named_views.push(NamedView { table, alias, derived: self.scope.derived_depth, outermost });
    }

    /// A subquery must not read the table of the source that is written. Errors 1093, and 1443 where either is named by a view.
    pub(super) fn refuse_reading(&self, slot: usize, verb: &str) -> Result<()> {
        let sources = &self.current_block().sources;
        let target = sources.iter().find(|s| s.slot == slot).expect("it is one of the block");
        let Some(id) = target.table.as_ref().map(|t| t.id) else { return Ok(()) };
        self.refuse_reads(id, &target.name, target.view_named(), (verb, 0))
    }

    /// The same of the table of that id, which the statement calls `name`, through the view `through` if any. `first`: the first
    /// subquery that counts.
    pub(super) fn refuse_reads(
        &self,
        id: u64,
        name: &str,
        through: Option<u64>,
        (verb, first): (&str, usize),
    ) -> Result<()> {
        // DELETE may join a view of what it deletes from.
        let is_beside =
            |v: &NamedView| v.outermost && (verb == "DELETE" || through == Some(v.table.id) && v.alias == name);
        let own = || err!(ER_UPDATE_TABLE_USED, name);
        let mut views = self.uses.named_views.iter().filter(|v| v.derived == 0 && !is_beside(v));
        if let Some(view) = views.find(|v| self.view_reads(&v.table, id, v.outermost)) {
            let is_own = through == Some(view.table.id);
            return Err(if is_own { own() } else { err!(ER_VIEW_PREVENT_UPDATE, view.alias, verb, name) });
        }
        let kept = |at: usize| at < first || self.queries.kept.iter().any(|range| range.contains(&at));
        let mut planned = self.queries.planned.iter().enumerate().filter(|(at, _)| !kept(*at));
        let read = planned.find_map(|(_, q)| read_of(&q.plan, id)).map(|scan| (scan.view, &scan.alias));
        let mut candidate = self
            .queries
            .candidates
            .iter()
            .filter(|(at, _)| !kept(*at))
            .flat_map(|(_, candidate)| &candidate.block.sources);
        let mut of_candidate = || candidate.find(|s| s.table.as_ref().is_some_and(|t| t.id == id));
        let Some((read_through, alias)) = read.or_else(|| of_candidate().map(|s| (s.view_named(), &s.name))) else {
            return Ok(());
        };
        if through == read_through {
            return Err(own());
        }
        let shown = if read_through.is_some() { alias } else { name };
        Err(err!(ER_VIEW_PREVENT_UPDATE, shown, verb, name))
    }

    /// Does MySQL merge the view, and does its query read the table, at any depth? `joined`: the tables in FROM of the view are joined
    /// with those of the statement, and only what its subqueries read counts.
    fn view_reads(&self, view: &Table, id: u64, joined: bool) -> bool {
        let Some(definition) = &view.view else { return view.id == id && !joined };
        let Ok(parsed) = parsed_query(definition) else { return false };
        let Statement::Query(query) = parsed.statement else { return false };
        if definition.algorithm == ViewAlgorithm::TempTable || !is_mergeable(&parsed, query) {
            return false;
        }
        let (mut own, mut kept) = (Vec::new(), Vec::new());
        if joined {
            leaves_of_query(&parsed, query, &mut own);
        }
        for table in parsed.table_refs() {
            if let TableRef::Derived { query, .. } = table
                && !is_mergeable(&parsed, *query)
            {
                leaves_of_query(&parsed, *query, &mut kept);
            }
        }
        let ctes = || parsed.queries().iter().filter_map(|q| q.with.as_ref()).flat_map(|with| &with.tables);
        for cte in ctes().filter(|cte| !is_mergeable(&parsed, cte.query)) {
            leaves_of_query(&parsed, cte.query, &mut kept);
        }
        parsed.table_refs().iter().enumerate().any(|(at, table)| {
            let TableRef::Table(factor) = table else { return false };
            let name = parsed.name(factor.name.name);
            let is_cte = factor.name.schema.is_none() && ctes().any(|cte| parsed.name(cte.name) == name);
            let schema = factor.name.schema.map_or(view.schema.as_str(), |s| parsed.name(s));
            let under = self.version.base_table(schema, name).filter(|_| !is_cte && !kept.contains(&at));
            under.is_some_and(|under| self.view_reads(under, id, own.contains(&at)))
        })
    }
}
