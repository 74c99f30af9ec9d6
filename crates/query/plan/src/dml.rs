//! INSERT, REPLACE, UPDATE, DELETE.

use super::access::Wanted;
use super::join_tree::Tree;
use super::names::{Block, Exports, Source};
use super::node::{Assigned, Body, Delete, Insert, InsertSource, Plan, QueryPlan, Scan, SortKey, Target, Update};
use super::source::Through;
use super::views::Merged;
use super::{Planner, names::AliasRule};
use crate::parameter::{self, Takes};
use catalog::{Changes, Table};
use engine::{LockMode, Read, Wait};
use expr::Shape;
use expr::error::{unknown_column, unsupported};
use expr::{Expr, Node, store};
use sql::ast::{self, Expr as Ast, TableRef};
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, TypeKind, err};

/// How rows are read that the statement will write.
pub const LOCKING: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

/// A table to be written, its source under the names of the statement, and the columns of `*`.
type Written = (Arc<Table>, Source, Vec<usize>);

const INSERT_DELAYED: &str = "INSERT DELAYED is no longer supported. The statement was converted to INSERT.";
const REPLACE_DELAYED: &str = "REPLACE DELAYED is no longer supported. The statement was converted to REPLACE.";

/// Where the rows of INSERT come from.
struct Inserted {
    /// The columns that have values; none where all have their defaults.
    columns: Vec<usize>,
    source: InsertSource,
    /// The columns of a query's tables, for ON DUPLICATE KEY UPDATE.
    selected: Exports,
    /// Values read columns of the row itself.
    reads_row: bool,
}

impl Planner<'_> {
    pub(super) fn insert(&mut self, insert: &ast::Insert) -> Result<Body> {
        self.parameters.stores = self.is_strict(insert.ignore);
        self.parameters.tells_parts = self.parameters.stores;
        let parsed = self.parsed;
        if !insert.partitions.is_empty() {
            return Err(err!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
        }
        let replaces = insert.replace;
        if insert.priority == ast::Priority::Delayed {
            self.warnings
                .notes
                .push((ER_WARN_LEGACY_SYNTAX_CONVERTED, if replaces { REPLACE_DELAYED } else { INSERT_DELAYED }));
        }
        let updates = !insert.on_duplicate.is_empty();
        let table = self.table(insert.table, |t| {
            t.insert = true;
            t.delete |= replaces;
            t.update |= updates;
        })?;
        let verb = match (replaces, updates) {
            (true, _) => "INSERT, DELETE",
            (false, true) => "INSERT, UPDATE",
            (false, false) => "INSERT",
        };
        refuse_virtual(&table, verb, self.env)?;
        let view = table.view.is_some().then(|| Arc::new((table.schema.clone(), table.name.clone())));
        let whole = table.clone();
        let written = match self.write_through(table, None, Through::Insert)? {
            Some(written) => written,
            None => {
                let named = |names: &Vec<ast::Name>| names.iter().map(|n| parsed.name(*n)).collect::<Vec<_>>();
                let names = insert.columns.as_ref().map(named);
                let refused = super::join_view::not_inserted(&whole, names.as_deref(), replaces);
                refused.map_or(Ok(()), Err)?;
                let through = self.inserted_through(&whole, names.as_deref().unwrap_or_default())?;
                let merged =
                    through.ok_or_else(|| err!(ER_NON_INSERTABLE_TABLE, parsed.name(insert.table.name), "INSERT"))?;
                self.written_as(merged, &whole, None)
            }
        };
        let (table, source, star) = written;
        // What the condition of a view reads that is written through does not matter to its rows.
        let of_view = self.queries.planned.len();
        let check = source.check.clone();
        let visible = source.filter.clone().filter(|_| replaces);
        let columns = match &insert.columns {
            None => star.clone(),
            Some(names) => self.listed_columns(names, &source)?,
        };
        let named = source.named.expect("it is a table's");
        let uses = &mut self.table_use(named).columns;
        match insert.columns.as_deref() {
            None | Some([]) => {
                uses.inserts_all = true;
                uses.insert.extend(Self::written_names(&source, &star));
            }
            Some(_) => uses.insert.extend(Self::written_names(&source, &columns)),
        }
        let names = source;
        let Inserted { columns, source, selected, reads_row } = self.inserted(insert, (&table, &names), columns)?;
        let on_duplicate = match updates {
            true => self.on_duplicate(insert, (&table, &names), &columns, selected)?,
            false => Vec::new(),
        };
        let updated: Vec<usize> = on_duplicate.iter().map(|(c, _)| *c).collect();
        self.table_use(named).columns.update.extend(Self::written_names(&names, &updated));
        let mut shapes = vec![Shape::Row(table.clone()), Shape::Row(table.clone())];
        if let InsertSource::Query(q) = &source {
            shapes.push(Shape::Tuple(q.outputs.len()));
        }
        let (buffered, kept) = match &source {
            InsertSource::Query(q) => (self.reads(q, table.id), self.reads_anywhere(q, table.id)),
            _ => (false, false),
        };
        if let InsertSource::Rows(_) = &source {
            self.refuse_reads(table.id, &names.name, names.view_named(), ("INSERT", of_view))?;
        }
        let rules = self.rules(&table, Changes { insert: true, update: updates, delete: replaces }, check)?;
        Ok(Body::Insert(Box::new(Insert {
            table,
            view,
            visible,
            replace: insert.replace,
            ignore: insert.ignore,
            columns,
            source,
            on_duplicate,
            reads_row,
            buffered,
            kept,
            shapes,
            rules,
        })))
    }

    /// The columns that INSERT names. Errors 1054, 1110.
    fn listed_columns(&self, names: &[ast::Name], source: &Source) -> Result<Vec<usize>> {
        let mut columns = Vec::with_capacity(names.len());
        for n in names {
            let name = self.parsed.name(*n);
            let i = source.find(name).ok_or_else(|| unknown_column(name, "field list"))?;
            if columns.contains(&i) {
                return Err(err!(ER_FIELD_SPECIFIED_TWICE, name));
            }
            columns.push(i);
        }
        Ok(columns)
    }

    /// The rows of INSERT. Error 1136.
    fn inserted(
        &mut self,
        insert: &ast::Insert,
        (table, names): (&Arc<Table>, &Source),
        columns: Vec<usize>,
    ) -> Result<Inserted> {
        match &insert.source {
            ast::InsertSource::Rows(rows) => {
                let mut block = Block::default();
                block.sources.push(names.row_of(0, table));
                self.scope.blocks.push(block);
                // Without a list of columns, rows may be empty: all of them have their defaults.
                let unlisted = insert.columns.as_ref().is_none_or(Vec::is_empty);
                let empty = unlisted && rows.first().is_some_and(|r| r.is_empty());
                let rows = self.insert_rows(rows, table, if empty { &[] } else { &columns });
                let block = self.scope.blocks.pop().expect("just pushed");
                let reads_row = block.sources[0].used.iter().any(std::cell::Cell::get);
                let rows = rows?;
                let columns = if rows.first().is_none_or(Vec::is_empty) { Vec::new() } else { columns };
                Ok(Inserted { columns, source: InsertSource::Rows(rows), selected: Exports::default(), reads_row })
            }
            ast::InsertSource::Query(q) => {
                self.request.exports = (!insert.on_duplicate.is_empty()).then(Exports::default);
                let plan = self.query(*q, false);
                let selected = self.request.exports.take().unwrap_or_default();
                let plan = plan?;
                if plan.columns.len() != columns.len() {
                    return Err(err!(ER_WRONG_VALUE_COUNT_ON_ROW, 1));
                }
                columns.iter().try_for_each(|c| refuse_generated(table, *c))?;
                let plan = stored_in(plan, table, &columns);
                Ok(Inserted { columns, source: InsertSource::Query(Box::new(plan)), selected, reads_row: false })
            }
        }
    }

    /// Does the query, or a subquery of the statement, read the table?
    fn reads(&self, q: &super::node::QueryPlan, id: u64) -> bool {
        plan_reads(&q.plan, id) || self.queries.planned.iter().any(|q| plan_reads(&q.plan, id))
    }

    /// The same, and through derived tables, whose rows may come while they are asked for.
    fn reads_anywhere(&self, q: &super::node::QueryPlan, id: u64) -> bool {
        plan_reads_anywhere(&q.plan, id) || self.queries.planned.iter().any(|q| plan_reads_anywhere(&q.plan, id))
    }

    /// The rows of a query into a table just made.
    pub fn fill(
        &mut self,
        table: &Arc<Table>,
        query: ast::QueryId,
        columns: Vec<usize>,
        duplicates: ast::OnDuplicate,
    ) -> Result<Body> {
        let plan = self.query(query, false)?;
        assert_eq!(plan.columns.len(), columns.len(), "the table was made for this query");
        columns.iter().try_for_each(|c| refuse_generated(table, *c))?;
        let plan = stored_in(plan, table, &columns);
        let mut shapes = vec![Shape::Row(table.clone()), Shape::Row(table.clone())];
        shapes.push(Shape::Tuple(plan.outputs.len()));
        let rules = self.rules(table, Changes::INSERT, None)?;
        Ok(Body::Insert(Box::new(Insert {
            table: table.clone(),
            view: None,
            visible: None,
            replace: duplicates == ast::OnDuplicate::Replace,
            ignore: duplicates == ast::OnDuplicate::Ignore,
            columns,
            source: InsertSource::Query(Box::new(plan)),
            on_duplicate: Vec::new(),
            reads_row: false,
            buffered: false,
            kept: false,
            shapes,
            rules,
        })))
    }

    /// ON DUPLICATE KEY UPDATE over the existing row in slot 0, the new one in slot 1, the query's row in slot 2.
    fn on_duplicate(
        &mut self,
        insert: &ast::Insert,
        (table, names): (&Arc<Table>, &Source),
        columns: &[usize],
        selected: Exports,
    ) -> Result<Vec<(usize, Assigned)>> {
        let parsed = self.parsed;
        let mut block = Block { values_slot: Some(1), ..Block::default() };
        block.sources.push(names.row_of(0, table));
        if let Some((alias, aliases)) = &insert.row_alias {
            let alias = parsed.name(*alias);
            if alias == names.name {
                return Err(err!(ER_NONUNIQ_TABLE, alias));
            }
            // The new row's columns have the table's names, also where a view calls them otherwise; what it does not show has none.
            let mut row = Source::of_table(1, table, Some(alias));
            row.columns.iter_mut().zip(&names.columns).for_each(|(own, named)| own.hidden |= named.hidden);
            if insert.columns.as_ref().is_some_and(|list| !list.is_empty()) {
                // Of the new row there is what INSERT names; other names are the table's alone.
                row.columns.iter_mut().enumerate().for_each(|(i, own)| own.hidden |= !columns.contains(&i));
            }
            row.named = names.named;
            row.schema = String::new();
            if !aliases.is_empty() && aliases.len() != columns.len() {
                return Err(err!(ER_VIEW_WRONG_LIST));
            }
            for (i, n) in aliases.iter().enumerate() {
                let name = parsed.name(*n);
                if aliases[..i].iter().any(|m| parsed.name(*m).eq_ignore_ascii_case(name)) {
                    return Err(err!(ER_DUP_FIELDNAME, name));
                }
                row.columns[columns[i]].name = name.to_string();
            }
            block.sources.push(row);
        }
        // A name that the table has too is ambiguous.
        block.merged = selected.merged;
        block.merged.retain(|(name, _)| names.find(name).is_none());
        block.sources.extend(selected.sources);
        // What is set is a column of the table, whatever else has that name.
        let mut own = Block::default();
        own.sources.push(names.row_of(0, table));
        self.scope.blocks.push(own);
        let before = self.uses.column_reads.borrow().len();
        let targets: Result<Vec<_>> = insert.on_duplicate.iter().map(|a| self.expr(a.column)).collect();
        self.scope.blocks.pop();
        targets?;
        self.uses.column_reads.borrow_mut().truncate(before);
        self.scope.blocks.push(block);
        let mut out = Vec::new();
        for a in &insert.on_duplicate {
            let Ast::Column { column, .. } = parsed[a.column] else { unreachable!("the parser takes columns only") };
            let name = parsed.name(column);
            let column = names.find(name).ok_or_else(|| unknown_column(name, "field list"));
            let value = match parsed[a.value] {
                Ast::DefaultValue => Ok(Assigned::Default),
                _ => match &column {
                    Ok(column) => self.plain_for(a.value, &table.columns[*column].data_type).map(Assigned::Value),
                    Err(_) => self.plain(a.value).map(Assigned::Value),
                },
            };
            match column.and_then(|c| value.map(|v| (c, v))) {
                Ok(pair) => out.push(pair),
                Err(e) => {
                    self.scope.blocks.pop();
                    return Err(e);
                }
            }
        }
        self.scope.blocks.pop();
        Ok(out)
    }

    fn insert_rows(
        &mut self,
        rows: &[ast::ExprList],
        table: &Arc<Table>,
        columns: &[usize],
    ) -> Result<Vec<Vec<Assigned>>> {
        let parsed = self.parsed;
        let mut out = Vec::with_capacity(rows.len());
        for (n, row) in rows.iter().enumerate() {
            let ids = parsed.list(*row);
            if ids.len() != columns.len() {
                return Err(err!(ER_WRONG_VALUE_COUNT_ON_ROW, n + 1));
            }
            let mut values = Vec::with_capacity(ids.len());
            for (id, column) in ids.iter().zip(columns) {
                if !matches!(parsed[*id], Ast::DefaultValue) {
                    refuse_generated(table, *column)?;
                }
                values.push(match &parsed[*id] {
                    Ast::DefaultValue => Assigned::Default,
                    Ast::DefaultOf(column) => {
                        let Ast::Column { column, .. } = parsed[*column] else {
                            return Err(unsupported("DEFAULT of an expression"));
                        };
                        let name = parsed.name(column);
                        let row = &self.current_block().sources[0];
                        let i = row.find(name).ok_or_else(|| unknown_column(name, "field list"))?;
                        self.note_column(&self.current_block().sources[0], i, false);
                        Assigned::Value(super::expression::column_default(table, i)?)
                    }
                    _ => Assigned::Value(self.plain_for(*id, &table.columns[*column].data_type)?),
                });
            }
            out.push(values);
        }
        Ok(out)
    }

    /// A value for a column of this type.
    fn plain_for(&mut self, id: ast::ExprId, column: &types::DataType) -> Result<Expr> {
        if matches!(self.parsed[id], Ast::Param(_)) {
            let like = parameter::widest(column, self.settings.literal_collation);
            return self.expr_for(id, &like, Takes::Stored);
        }
        let e = self.plain(id)?;
        // The year of a time that is no column's is today's.
        if column.kind == TypeKind::Year && e.ty.kind == TypeKind::Time && e.own_column().is_none() {
            let ty = types::DataType { nullable: true, ..*column };
            return Ok(Expr::new(Node::Cast(Box::new(e)), ty));
        }
        Ok(store::column_into(e, column.kind))
    }

    /// `column = value, ...`: (slot, column, value) of each.
    pub(super) fn assignments(&mut self, list: &[ast::Assignment]) -> Result<Vec<(usize, usize, Assigned)>> {
        let mut out = Vec::new();
        for a in list {
            let before = self.uses.column_reads.borrow().len();
            let target = self.expr(a.column)?;
            // What is set is not read.
            self.uses.column_reads.borrow_mut().truncate(before);
            let raw = target.raw();
            let Node::Column { depth: 0, slot, column } = *raw else {
                return Err(err!(ER_NONUPDATEABLE_COLUMN, super::join_view::column_name(self.parsed, a)));
            };
            let value = match self.parsed[a.value] {
                Ast::DefaultValue => Assigned::Default,
                _ => Assigned::Value(self.plain_for(a.value, &target.ty)?),
            };
            out.push((slot as usize, column as usize, value));
        }
        Ok(out)
    }

    /// Columns of source `i` of the block are set.
    pub(super) fn note_updated(&mut self, i: usize, columns: impl Iterator<Item = usize>) {
        let source = &self.scope.blocks.last().expect("inside a query block").sources[i];
        let Some(named) = source.named else { return };
        let names = Self::written_names(source, &columns.collect::<Vec<_>>());
        let used = self.table_use(named);
        used.update = true;
        used.columns.update.extend(names);
    }

    /// The same where all columns are those of slot 0.
    fn own_assignments(&mut self, list: &[ast::Assignment]) -> Result<Vec<(usize, Assigned)>> {
        let list = self.assignments(list)?;
        Ok(list.into_iter().map(|(_, column, value)| (column, value)).collect())
    }

    pub(super) fn update(&mut self, update: &ast::Update) -> Result<Body> {
        self.parameters.stores = self.is_strict(update.ignore);
        self.parameters.tells_parts = self.parameters.stores;
        self.with_tables(update.with.as_deref(), |p| p.update_with(update))
    }

    fn update_with(&mut self, update: &ast::Update) -> Result<Body> {
        let TableRef::Table(factor) = &self.parsed[update.tables] else {
            return self.update_many(update);
        };
        self.refuse_cte(factor, "UPDATE")?;
        let in_order = !update.order.is_empty() || update.limit.is_some();
        if self.goes_through_join(factor, update.filter, in_order) {
            let body = self.update_many(update)?;
            return self.unless_row_by_row(body);
        }
        let table = self.open_target(factor, "UPDATE", |t| {
            // What is read shows in the columns.
            t.update = true;
        })?;
        let result = self.update_in_block(update, table);
        self.scope.blocks.pop();
        result
    }

    fn update_in_block(&mut self, update: &ast::Update, table: Arc<Table>) -> Result<Body> {
        let set = self.own_assignments(&update.set)?;
        refuse_generated_in(&table, &set)?;
        self.note_updated(0, set.iter().map(|(column, _)| *column));
        let mut changed: Vec<usize> = set.iter().map(|(c, _)| *c).collect();
        changed.extend((0..table.columns.len()).filter(|c| {
            let column = &table.columns[*c];
            column.on_update_now || column.generated.is_some()
        }));
        let check = self.block().sources[0].check.take();
        let rules = self.rules(&table, Changes::UPDATE, check)?;
        changed.extend(rules.iter().flat_map(|r| &r.triggers.set_by_update));
        let target = self.target(table, update.filter, &update.order, update.limit, Some(&changed))?;
        Ok(Body::Update(Box::new(Update { target, ignore: update.ignore, set, rules })))
    }

    pub(super) fn delete(&mut self, delete: &ast::Delete) -> Result<Body> {
        self.parameters.stores = self.is_strict(delete.ignore);
        self.parameters.tells_parts = self.parameters.stores;
        self.with_tables(delete.with.as_deref(), |p| p.delete_with(delete))
    }

    fn delete_with(&mut self, delete: &ast::Delete) -> Result<Body> {
        let (true, TableRef::Table(factor)) = (delete.targets.is_empty(), &self.parsed[delete.from]) else {
            return self.delete_many(delete);
        };
        self.refuse_cte(factor, "DELETE")?;
        let in_order = !delete.order.is_empty() || delete.limit.is_some();
        if self.goes_through_join(factor, delete.filter, in_order) {
            let body = self.delete_many(delete)?;
            return self.unless_row_by_row(body);
        }
        let table = self.open_target(factor, "DELETE", |t| {
            t.delete = true;
        })?;
        let rules = self.rules(&table, Changes::DELETE, None);
        let target = self.target(table, delete.filter, &delete.order, delete.limit, None);
        self.scope.blocks.pop();
        Ok(Body::Delete(Box::new(Delete { target: target?, ignore: delete.ignore, rules: rules? })))
    }

    /// What was planned for one table, if that is better than to ask its rows one by one; else the statement is planned anew. A join keeps
    /// the locks of rows that it reads and does not name, so it is for tables that are looked up by what the subquery gives.
    fn unless_row_by_row(&mut self, body: Body) -> Result<Body> {
        let (plan, slot, id) = match &body {
            Body::UpdateMany(u) if u.alone => (&u.plan, u.targets[0].slot, u.targets[0].table.id),
            Body::DeleteMany(d) if d.alone => (&d.plan, d.targets[0].0, d.targets[0].1.id),
            _ => return Ok(body),
        };
        if !plan.begins_with(slot) && !reads_whole(plan, id) {
            return Ok(body);
        }
        self.found.wants_row_by_row = true;
        Err(err!(ER_INTERNAL_ERROR, "planned anew"))
    }

    /// 1288: a common table expression is not written to.
    fn refuse_cte(&self, factor: &ast::TableFactor, verb: &str) -> Result<()> {
        let name = self.parsed.name(factor.name.name);
        match factor.name.schema.is_none() && self.find_cte(name).is_some() {
            true => Err(not_updatable(factor.alias.map_or(name, |a| self.parsed.name(a)), verb)),
            false => Ok(()),
        }
    }

    /// The base table that a statement writes when it names `table`, which may be a view; its source under the names of the
    /// statement, and the columns of `*`. `None`: a view that can not be written through.
    pub(super) fn write_through(
        &mut self,
        table: Arc<Table>,
        alias: Option<&str>,
        through: Through,
    ) -> Result<Option<Written>> {
        if table.view.is_none() {
            let star = (0..table.columns.len()).filter(|i| table.columns[*i].is_in_star()).collect();
            let source = Source::of_table(0, &table, alias);
            return Ok(Some((table, source, star)));
        }
        let merged = self.merged(&table, through, 0)?;
        Ok(merged.map(|merged| self.written_as(merged, &table, alias)))
    }

    fn written_as(&mut self, merged: Merged, view: &Table, alias: Option<&str>) -> Written {
        let base = self.table_use(merged.base.id);
        (base.carried, base.is_target) = (true, true);
        let source = self.merged_source(&merged, view, 0, alias.unwrap_or(&view.name));
        let star = merged.columns.iter().map(|(_, c)| *c).collect();
        (merged.base, source, star)
    }

    /// Pushes the block of a single-table UPDATE or DELETE.
    fn open_target(
        &mut self,
        factor: &ast::TableFactor,
        verb: &str,
        note: impl FnOnce(&mut crate::table_use::TableUse),
    ) -> Result<Arc<Table>> {
        if !factor.partitions.is_empty() {
            return Err(err!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
        }
        let table = self.table(factor.name, note)?;
        refuse_virtual(&table, verb, self.env)?;
        let alias = factor.alias.map(|a| self.parsed.name(a));
        let name = alias.unwrap_or_else(|| self.parsed.name(factor.name.name));
        let (table, mut source, _) =
            self.write_through(table, alias, Through::Change)?.ok_or_else(|| not_updatable(name, verb))?;
        source.hints = factor.index_hints.clone();
        source.read = LOCKING;
        self.scope.blocks.push(self.changed_block());
        self.tune(&mut source);
        self.block().sources.push(source);
        self.block().shapes.push(Shape::Row(table.clone()));
        Ok(table)
    }

    fn target(
        &mut self,
        table: Arc<Table>,
        filter: Option<ast::ExprId>,
        order: &[ast::OrderItem],
        limit: Option<ast::Limit>,
        changed: Option<&[usize]>,
    ) -> Result<Target> {
        let mut conditions = Vec::new();
        if let Some(f) = filter {
            let e = self.condition(f, "where clause")?;
            if e.has_aggregate() {
                return Err(err!(ER_INVALID_GROUP_FUNC_USE));
            }
            Self::conjuncts(e, &mut conditions);
        }
        self.block().alias_rule = AliasRule::Never;
        let mut order = self.order(order, &[])?;
        order.retain(|o| !matches!(o.expr.node, Node::Const(_) | Node::Param(_)));
        let limit = self.limit(limit)?.map(|(count, _)| count);
        let verb = if changed.is_some() { "UPDATE" } else { "DELETE" };
        if limit.is_some() {
            self.look_for_key(&table, verb)?;
        }
        self.refuse_reading(0, verb)?;
        let keys = order.iter().map(|o| (&o.expr, o.descending)).collect();
        let wanted = Wanted { keys, limited: limit.is_some(), ..Wanted::none() };
        let (plan, ordered) = self.join_plan(Tree::Leaf(0), conditions, &wanted)?;
        if ordered {
            order.clear();
        }
        let scanned = match &plan {
            Plan::Scan(s) => s.access.index,
            Plan::Filter { input, .. } => match &**input {
                Plan::Scan(s) => s.access.index,
                _ => 0,
            },
            _ => 0,
        };
        if limit.is_none() && self.flag("sql_safe_updates") && !self.settings.explains && !uses_key(&plan) {
            return Err(err!(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, ""));
        }
        // The clustered key is in every tree; a scan of a secondary tree moves with that tree's own parts too.
        let moves =
            |index: usize| changed.is_some_and(|c| table.indexes[index].parts.iter().any(|p| c.contains(&p.column)));
        let collect = !order.is_empty() || moves(0) || moves(scanned);
        let order = order.into_iter().map(|o| SortKey { expr: o.expr, descending: o.descending }).collect();
        let shapes = std::mem::take(&mut self.block().shapes);
        Ok(Target { table, plan, slot: 0, shapes, collect, order, limit })
    }

    /// Some rows of a view are to be changed that has no key of its table, nor all columns: note 1355, or error 1288 where
    /// `updatable_views_with_limit` is off.
    fn look_for_key(&mut self, table: &Table, verb: &str) -> Result<()> {
        let source = &self.current_block().sources[0];
        if source.view.is_none() {
            return Ok(());
        }
        let is_shown = |column: usize| !source.columns[column].hidden;
        let is_key = |index: &catalog::Index| {
            let mut columns = index.parts.iter().map(|part| part.column);
            index.unique && columns.all(|c| is_shown(c) && !table.columns[c].data_type.nullable)
        };
        let has_all = (0..table.columns.len()).all(|c| table.columns[c].hidden || is_shown(c));
        if has_all || table.indexes.iter().any(is_key) {
            return Ok(());
        }
        if !self.flag("updatable_views_with_limit") {
            return Err(not_updatable(&source.name, verb));
        }
        self.warnings.notes.push((
            ER_WARN_VIEW_WITHOUT_KEY,
            "View being updated does not have complete key of underlying table in it",
        ));
        Ok(())
    }

    fn is_strict(&self, ignore: bool) -> bool {
        !ignore && types::SqlMode(self.env.sql_mode()).is_strict()
    }
}

/// Does the plan scan the table, other than through a derived table (which is materialised first)?
fn plan_reads(plan: &Plan, id: u64) -> bool {
    read_of(plan, id).is_some()
}

/// Does the plan scan the table?
fn plan_reads_anywhere(plan: &Plan, id: u64) -> bool {
    let reads = |plan: &Plan| plan_reads_anywhere(plan, id);
    match plan {
        Plan::Derived { query, .. } => reads(&query.plan),
        Plan::Recursive(r) => reads(&r.seed.plan) || r.steps.iter().any(|step| reads(&step.plan)),
        Plan::Join(j) => reads(&j.left) || reads(&j.right),
        Plan::SetOp(s) => reads(&s.left.plan) || reads(&s.right.plan),
        Plan::Counted { input, .. } | Plan::Filter { input, .. } => reads(input),
        Plan::Distinct { input, .. } | Plan::Limit { input, .. } | Plan::Computed { input, .. } => reads(input),
        Plan::Group(g) => reads(&g.input),
        Plan::Window(w) => reads(&w.input),
        Plan::Sort(s) => reads(&s.input),
        Plan::One | Plan::Values { .. } | Plan::Virtual { .. } | Plan::JsonTable(_) | Plan::Working { .. } => false,
        Plan::Scan(_) | Plan::IndexMerge(_) | Plan::Intersection(_) | Plan::Ends(_) => plan_reads(plan, id),
    }
}

/// The scan that [`plan_reads`] asks for.
pub(super) fn read_of(plan: &Plan, id: u64) -> Option<&Scan> {
    let own = |scan: &Scan| scan.table.id == id;
    match plan {
        Plan::One | Plan::Values { .. } | Plan::Derived { .. } | Plan::Virtual { .. } => None,
        Plan::Recursive(_) | Plan::Working { .. } | Plan::JsonTable(_) => None,
        Plan::Counted { input, .. } | Plan::Computed { input, .. } => read_of(input, id),
        Plan::Scan(s) => Some(s).filter(|s| own(s)),
        Plan::IndexMerge(m) => Some(m.first()).filter(|s| own(s)),
        Plan::Intersection(m) => Some(&m.scans[0]).filter(|s| own(s)),
        Plan::Ends(scans) => Some(&scans[0]).filter(|s| own(s)),
        Plan::Join(j) => read_of(&j.left, id).or_else(|| read_of(&j.right, id)),
        Plan::Filter { input, .. } | Plan::Distinct { input, .. } | Plan::Limit { input, .. } => read_of(input, id),
        Plan::Group(g) => read_of(&g.input, id),
        Plan::Window(w) => read_of(&w.input, id),
        Plan::Sort(s) => read_of(&s.input, id),
        Plan::SetOp(s) => read_of(&s.left.plan, id).or_else(|| read_of(&s.right.plan, id)),
    }
}

/// Does it read ranges of an index, or rows of no table at all?
fn uses_key(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(s) => !s.access.ranges.is_empty(),
        Plan::Filter { input, .. } => uses_key(input),
        _ => true,
    }
}

/// Is the whole of a table read, where rows of it are to be changed?
pub(super) fn reads_whole(plan: &Plan, id: u64) -> bool {
    match plan {
        Plan::Scan(s) => s.table.id == id && s.access.ranges.is_empty(),
        Plan::Join(j) => reads_whole(&j.left, id) || reads_whole(&j.right, id),
        Plan::Filter { input, .. } => reads_whole(input, id),
        _ => false,
    }
}

/// Error 1288.
#[cold]
pub fn not_updatable(alias: &str, verb: &str) -> SqlError {
    err!(ER_NON_UPDATABLE_TABLE, alias, verb)
}

/// 3105: a generated column can be given DEFAULT alone.
fn refuse_generated(table: &Table, column: usize) -> Result<()> {
    let c = &table.columns[column];
    match c.generated {
        Some(_) => Err(err!(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, c.name, table.name)),
        None => Ok(()),
    }
}

/// 3105 for an assignment to one.
pub fn refuse_generated_in(table: &Table, set: &[(usize, Assigned)]) -> Result<()> {
    let given = set.iter().filter(|(_, value)| matches!(value, Assigned::Value(_)));
    given.map(|(column, _)| *column).try_for_each(|column| refuse_generated(table, column))
}

/// Does the table show the general log or the slow log? Only the server adds rows, and nobody can lock it.
pub fn is_log_table(table: &Table) -> bool {
    table.is_virtual() && table.schema == "mysql" && matches!(&table.name[..], "general_log" | "slow_log")
}

/// Tables that are computed take what they say they do. `verb`: what the statement does to the table, as MySQL names the privileges, with
/// `, ` between several. Errors 1142, 1044 for information_schema, 1556 for logs, and 3554 for MySQL's tables of accounts.
pub fn refuse_virtual(table: &Table, verb: &str, env: &dyn expr::Env) -> Result<()> {
    let Some(rows) = &table.virtual_rows else { return Ok(()) };
    let writes = rows.writes();
    let takes = |word: &str| match word {
        "INSERT" => writes.insert,
        "UPDATE" => writes.update,
        "DELETE" => writes.delete,
        _ => true,
    };
    if verb.split(", ").all(takes) {
        return Ok(());
    }
    if is_log_table(table) {
        return Err(err!(ER_CANT_LOCK_LOG_TABLE));
    }
    if table.schema == "mysql" {
        return Err(err!(ER_NO_SYSTEM_TABLE_ACCESS, "system table", table.schema, table.name));
    }
    let (user, host) = env.user().rsplit_once('@').unwrap_or((env.user(), ""));
    Err(match super::is_information_schema(&table.schema) {
        true => err!(ER_DBACCESS_DENIED_ERROR, user, host, table.schema),
        false => err!(ER_TABLEACCESS_DENIED_ERROR, verb, user, host, table.name),
    })
}

/// Does an assignment read a column that an earlier one sets? Then the row is rebuilt after each.
pub fn is_sequential(set: &[(usize, Assigned)], slot: usize) -> bool {
    (1..set.len()).any(|i| match &set[i].1 {
        Assigned::Default => false,
        Assigned::Value(e) => e.any(&mut |e: &Expr| match e.node {
            Node::Column { depth: 0, slot: s, column } if s as usize == slot => {
                set[..i].iter().any(|(c, _)| *c == column as usize)
            }
            Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
            _ => false,
        }),
    })
}

/// The query's outputs as these columns take them. What ON DUPLICATE KEY UPDATE reads beside them stays.
fn stored_in(mut query: QueryPlan, table: &Table, columns: &[usize]) -> QueryPlan {
    for (e, c) in query.outputs.iter_mut().zip(columns) {
        *e = store::column_into(std::mem::replace(e, Expr::null()), table.columns[*c].data_type.kind);
    }
    query
}
