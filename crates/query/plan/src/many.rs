//! UPDATE and DELETE of several tables: a join says which rows, each of which is written once.

use super::Planner;
use super::access::Wanted;
use super::dml::{LOCKING, not_updatable, reads_whole, refuse_generated_in, refuse_virtual};
use super::join_tree::Tree;
use super::join_view;
use super::names::{AliasRule, Block, Source};
use super::node::rules::Rules;
use super::node::{Assigned, Body, DeleteMany, Plan, UpdateMany, UpdateTarget};
use super::slots::{slots_of, subquery_of};
use super::source::Through;
use catalog::{Changes, Table};
use expr::{Expr, Node, Shape};
use sql::ast;
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

impl Planner<'_> {
    pub(super) fn update_many(&mut self, update: &ast::Update) -> Result<Body> {
        if !update.order.is_empty() {
            return Err(err!(ER_WRONG_USAGE, "UPDATE", "ORDER BY"));
        }
        if update.limit.is_some() {
            return Err(err!(ER_WRONG_USAGE, "UPDATE", "LIMIT"));
        }
        let written = join_view::set_by(self.parsed, &update.set);
        self.scope.blocks.push(Block { through: Through::Change, written, ..self.changed_block() });
        let result = self.update_many_in_block(update);
        self.scope.blocks.pop();
        result
    }

    fn update_many_in_block(&mut self, update: &ast::Update) -> Result<Body> {
        let (tree, _) = self.from(update.tables)?;
        let alone = self.block().sources.len() == 1;
        self.raise_late_error()?;
        let set = self.assignments(&update.set)?;
        self.one_key_a_table(&set)?;
        self.one_table_a_view(&set)?;
        let mut targets: Vec<UpdateTarget> = Vec::new();
        for i in 0..self.block().sources.len() {
            let slot = self.block().sources[i].slot;
            if set.iter().any(|(s, ..)| *s == slot) {
                let table = self.write_source(i, "UPDATE")?;
                let check = self.block().sources[i].check.take();
                let rules = self.rules(&table, Changes::UPDATE, check)?;
                match self.view_around(i) {
                    Some(view) => {
                        let of_slot = set.iter().zip(&update.set).filter(|((s, ..), _)| *s == slot);
                        let names = of_slot.map(|(_, a)| join_view::column_name(self.parsed, a)).collect::<Vec<_>>();
                        let source = &self.current_block().sources[view];
                        let columns = names.iter().filter_map(|name| source.find(name)).collect::<Vec<_>>();
                        self.note_updated(view, columns.into_iter());
                        self.note_written_through(view, &table);
                    }
                    None => {
                        self.note_updated(i, set.iter().filter(|(s, ..)| *s == slot).map(|(_, column, _)| *column));
                    }
                }
                let same = |s: &Source| s.table.as_ref().is_some_and(|t| t.id == table.id);
                let read = (self.block().sources.iter().filter(|s| same(s)).count() == 1).then(Vec::new);
                let checks = self.view_checks(slot);
                targets.push(UpdateTarget { slot, table, set: Vec::new(), read, rules, checks });
            } else if let Some(named) = self.block().sources[i].named {
                self.table_use(named).joined = true;
            }
        }
        for (slot, column, value) in set {
            let target = targets.iter_mut().find(|t| t.slot == slot).expect("each slot has a source");
            target.set.push((column, value));
        }
        for t in &targets {
            refuse_generated_in(&t.table, &t.set)?;
        }
        let list = targets.iter().map(|t| (t.slot, &t.table));
        let (plan, read) = self.joined(tree, update.filter, "UPDATE", list)?;
        for t in &mut targets {
            let own = read.iter().filter(|(slot, _)| *slot == t.slot).map(|(_, column)| *column);
            t.read.iter_mut().for_each(|columns| columns.extend(own.clone()));
        }
        let shapes = std::mem::take(&mut self.block().shapes);
        Ok(Body::UpdateMany(Box::new(UpdateMany { plan, shapes, targets, alone, ignore: update.ignore })))
    }

    pub(super) fn delete_many(&mut self, delete: &ast::Delete) -> Result<Body> {
        let mut block = self.changed_block();
        block.written = join_view::deleted_from(self.parsed, delete);
        self.scope.blocks.push(block);
        let result = self.delete_many_in_block(delete);
        self.scope.blocks.pop();
        result
    }

    fn delete_many_in_block(&mut self, delete: &ast::Delete) -> Result<Body> {
        let (tree, _) = self.from(delete.from)?;
        let alone = delete.targets.is_empty() && self.block().sources.len() == 1;
        let mut targets: Vec<(usize, Arc<Table>, Option<Arc<Rules>>)> = Vec::new();
        for (schema, alias) in join_view::targets(self.parsed, delete) {
            let sources = &self.block().sources;
            // With a schema, a table or view is meant by its own name, and one that has an alias by none.
            let name = |s: &Source| s.view.clone().or_else(|| s.table.as_ref().map(|t| t.name.clone()));
            let own = |s: &Source| name(s).is_none_or(|name| name == s.name);
            let is_meant = |s: &Source| s.name == alias && schema.is_none_or(|d| d == s.schema && own(s));
            let Some(i) = sources.iter().position(is_meant) else {
                return Err(err!(ER_UNKNOWN_TABLE, alias, "MULTI DELETE"));
            };
            let named = sources[i].named;
            let view = i;
            let i = self.deleted_through(i)?;
            let slot = self.block().sources[i].slot;
            if targets.iter().any(|(s, ..)| *s == slot) {
                return Err(err!(ER_NONUNIQ_TABLE, alias));
            }
            let table = self.write_source(i, "DELETE")?;
            self.table_use(named.expect("it is a table's")).delete = true;
            if view != i {
                self.note_written_through(view, &table);
            }
            let rules = self.rules(&table, Changes::DELETE, None)?;
            targets.push((slot, table, rules));
        }
        let list = targets.iter().map(|(slot, t, _)| (*slot, t));
        let (plan, _) = self.joined(tree, delete.filter, "DELETE", list)?;
        let shapes = std::mem::take(&mut self.block().shapes);
        Ok(Body::DeleteMany(Box::new(DeleteMany { plan, shapes, targets, alone, ignore: delete.ignore })))
    }

    /// What the CHECK OPTIONs of views that were merged ask of a row of this slot, beside those of the tables that it is joined with.
    fn view_checks(&self, slot: usize) -> Vec<(String, Expr)> {
        let views = self.current_block().sources.iter().filter(|s| s.stands_for.is_some() && !s.hidden);
        let checks = views.filter_map(|s| s.check.clone());
        let reads = |e: &Expr| slots_of(self.subqueries(), e) & 1 << slot != 0;
        checks.filter(|(_, e)| reads(e)).collect()
    }

    /// Error 1706 where a table is updated by two names, and its primary key by one of them.
    fn one_key_a_table(&self, set: &[(usize, usize, Assigned)]) -> Result<()> {
        let sources = &self.current_block().sources;
        let at = |slot: usize| sources.iter().position(|s| s.slot == slot && s.stands_for.is_none());
        let mut updated: Vec<usize> = set.iter().filter_map(|(slot, ..)| at(*slot)).collect();
        updated.sort_unstable();
        updated.dedup();
        let sets_key = |i: usize| {
            let Some(table) = &sources[i].table else { return false };
            let is_key = |column: usize| {
                table.indexes.first().is_some_and(|key| key.parts.iter().any(|part| part.column == column))
            };
            set.iter().any(|(slot, column, _)| *slot == sources[i].slot && is_key(*column))
        };
        let shown = |i: usize| &sources[self.view_around(i).unwrap_or(i)].name;
        for (n, first) in updated.iter().enumerate() {
            for second in &updated[n + 1..] {
                let ids = [first, second].map(|i| sources[*i].table.as_ref().map(|t| t.id));
                if ids[0].is_some() && ids[0] == ids[1] && (sets_key(*first) || sets_key(*second)) {
                    return Err(err!(ER_MULTI_UPDATE_KEY_CONFLICT, shown(*first), shown(*second)));
                }
            }
        }
        Ok(())
    }

    /// The table of a source that is to be written, read by locking reads from now on.
    fn write_source(&mut self, i: usize, verb: &str) -> Result<Arc<Table>> {
        let named = self.view_around(i).unwrap_or(i);
        let source = &mut self.block().sources[i];
        let Some(table) = source.table.clone() else {
            return Err(not_updatable(&self.block().sources[named].name, verb));
        };
        let slot = source.slot;
        source.read = LOCKING;
        refuse_virtual(&table, verb, self.env)?;
        if table.is_virtual() {
            // Rows that are written are whole.
            self.block().shapes[slot] = Shape::Row(table.clone());
        }
        // Through a view or not, it is locked as one that is written.
        let used = self.table_use(table.id);
        (used.carried, used.is_target) = (true, true);
        Ok(table)
    }

    pub(super) fn table_use(&mut self, id: u64) -> &mut crate::table_use::TableUse {
        self.uses.tables.iter_mut().find(|t| t.id == id).expect("its use was noted")
    }

    /// The plan of the join, and the columns that its conditions read, by slot.
    fn joined<'t>(
        &mut self,
        mut tree: Tree,
        filter: Option<ast::ExprId>,
        verb: &str,
        targets: impl Iterator<Item = (usize, &'t Arc<Table>)>,
    ) -> Result<(Plan, Vec<(usize, usize)>)> {
        let mut conditions = Vec::new();
        let first_candidate = self.queries.candidates.len();
        if let Some(f) = filter {
            self.request.takes_candidates = true;
            let e = self.condition(f, "where clause");
            self.request.takes_candidates = false;
            let e = e?;
            if e.has_aggregate() {
                return Err(err!(ER_INVALID_GROUP_FUNC_USE));
            }
            Self::conjuncts(e, &mut conditions);
        }
        conditions.append(&mut self.block().moved);
        self.raise_late_error()?;
        self.block().alias_rule = AliasRule::Never;
        let mut read = Vec::new();
        tree.each_condition(&mut |e| self.note_asked(e, &mut read));
        let of_views = self.current_block().sources.iter().filter_map(|s| s.filter.as_ref());
        conditions.iter().chain(of_views).for_each(|e| self.note_asked(e, &mut read));
        let targets: Vec<u64> =
            targets.map(|(slot, table)| self.refuse_reading(slot, verb).map(|()| table.id)).collect::<Result<_>>()?;
        let tree = self.join_subqueries(Some(tree), &mut conditions, first_candidate, false)?.expect("it stays");
        let plan = self.join_plan(tree, conditions, &Wanted::none())?.0;
        if self.flag("sql_safe_updates") && !self.settings.explains && targets.iter().any(|id| reads_whole(&plan, *id))
        {
            return Err(err!(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, ""));
        }
        Ok((plan, read))
    }

    /// Columns of the block that an expression reads, also by subqueries: slot and column.
    fn note_asked(&self, e: &Expr, read: &mut Vec<(usize, usize)>) {
        e.any(&mut |e| {
            if let Node::Column { depth: 0, slot, column } = e.node {
                read.push((slot.into(), column.into()));
            }
            if let Some(query) = subquery_of(e) {
                self.queries.planned[query].reads.iter().for_each(|e| self.note_asked(e, read));
            }
            false
        });
    }
}
