//! Scopes: which names an expression may use, and what they mean.

use super::Planner;
use super::node::QueryPlan;
use super::outer_aggregate::Asked;
use super::slots::subquery_of;
use crate::{ColumnMeta, KEPT, Told};
use catalog::Table;
use expr::Shape;
use expr::error::unknown_column;
use expr::{Expr, Node};
use sql::ast;
use std::cell::Cell;
use std::sync::Arc;
use types::codes::*;
use types::datatype::IMPLICIT;
use types::{DataType, Result, TypeKind, Value, err};

/// One query block: its tables and select aliases.
/// Its fields are what the clauses of a block leave for each other while they are bound.
#[derive(Default)]
pub struct Block {
    /// Where its SELECT stands in the text.
    pub start: Option<u32>,
    pub sources: Vec<Source>,
    /// Shapes of the frame's slots; sources use the first of them.
    pub shapes: Vec<Shape>,
    /// Columns that USING and NATURAL joins made one: unqualified names mean these.
    pub merged: Vec<(String, Expr)>,
    /// Names mean columns of the sources from this one on: in ON, those of its own join, and not the ones beside it.
    pub first_named: usize,
    /// No name that is being resolved means a column of it: it came behind the WITH clause whose query is being planned.
    pub unseen: bool,
    /// The select list's named expressions, and when an unqualified name may mean one.
    pub aliases: Vec<(String, Expr)>,
    pub alias_rule: AliasRule,
    /// Aggregates are computed without a temporary table: there is no GROUP BY, or one WITH ROLLUP.
    pub sums_alone: bool,
    /// It groups WITH ROLLUP, where columns that are always equal are NULL at different levels.
    pub rolls_up: bool,
    /// While HAVING is read: what it may mean by a column outside of aggregates, the selected and those grouped by.
    pub shown: Option<Vec<Expr>>,
    /// ON DUPLICATE KEY UPDATE: VALUES(c) reads this slot.
    pub values_slot: Option<usize>,
    /// The WINDOW clause, and whether the clause at hand may have OVER.
    pub windows: Vec<(ast::Name, ast::WindowSpec)>,
    pub windows_in: Windows,
    /// How many windows there are so far, with and without a name.
    pub window_count: usize,
    /// May aggregates stand in the clause at hand? Then those of its subqueries that read its columns alone are its own.
    pub takes_aggregates: bool,
    /// While the arguments of one of its aggregates are read: none of a subquery in them can be its own, too.
    pub in_aggregate: bool,
    pub asked: Option<Asked>,
    /// Keys of GROUP BY.
    pub group_keys: usize,
    /// Its optimizer hints, in a statement that has some.
    pub hints: Option<usize>,
    /// WHERE and ORDER BY of the derived tables that were merged into it.
    pub moved: Vec<Expr>,
    pub moved_order: Vec<super::sorted::OrderKey>,
    /// What an UPDATE or DELETE of the block names to be written.
    pub written: Vec<super::source::Written>,
    /// The error of the last ON that has one: MySQL resolves the select list and WHERE before them, and the last of them first.
    pub late_error: Option<types::SqlError>,
    /// What views of its FROM are merged for.
    pub through: super::source::Through,
}

/// What ON DUPLICATE KEY UPDATE may read of the query of INSERT ... SELECT: its tables, and the columns that joins made one.
#[derive(Default)]
pub struct Exports {
    pub sources: Vec<Source>,
    pub merged: Vec<(String, Expr)>,
}

impl Block {
    /// What the clause at hand may have.
    pub fn allow(&mut self, windows: Windows, aggregates: bool) {
        (self.windows_in, self.takes_aggregates) = (windows, aggregates);
    }

    /// Bits of the slots that hold rows of its tables.
    pub fn slots(&self) -> u64 {
        self.sources.iter().filter(|s| s.stands_for.is_none()).fold(0, |bits, s| bits | 1 << s.slot)
    }
}

/// Where calls with OVER may stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Windows {
    #[default]
    Refused,
    /// The select list and ORDER BY.
    Allowed,
    /// PARTITION BY and ORDER BY of a window.
    InSpecification,
}

/// Whether names are looked for among the select list's aliases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AliasRule {
    #[default]
    Never,
    /// ORDER BY, HAVING
    First,
    /// GROUP BY
    Last,
}

/// A table of FROM.
/// Its fields are what binding, rewriting and choosing each learn of it.
pub struct Source {
    pub slot: usize,
    pub schema: String,
    pub name: String,
    pub table: Option<Arc<Table>>,
    /// The id of the table or view that the statement names here: whose privileges count.
    pub named: Option<u64>,
    pub columns: Vec<SourceColumn>,
    /// Right side of an outer join: every column may be NULL.
    pub nullable: bool,
    /// Which columns any expression reads: decides whether an index alone is enough.
    pub used: Vec<Cell<bool>>,
    pub hints: Vec<ast::IndexHint>,
    /// Optimizer hints that name it, and the block whose hints these are.
    pub tuning: Option<Box<super::source::Tuning>>,
    pub block: Option<usize>,
    /// How rows are read: consistent, or locking for FOR UPDATE and DML.
    pub read: engine::Read,
    /// A merged view's condition, over the table's slot; taken when the join is planned.
    pub filter: Option<Expr>,
    /// A merged view's WITH CHECK OPTION: the view's name, and the condition over a row in slot 0; of one that stands for tables of the
    /// block, over the joined row.
    pub check: Option<(String, Expr)>,
    /// Of a merged view that stands for tables of the block: its own conditions, which are among the block's.
    pub came_with: Vec<Expr>,
    /// The name of the view that it is, merged or not.
    pub view: Option<String>,
    /// A derived table's plan, taken when the join is planned.
    pub derived: Option<Box<super::node::QueryPlan>>,
    /// LATERAL: the slots of the tables before it, which its query may read.
    pub lateral: Option<u64>,
    /// A JSON_TABLE, taken when the join is planned; it is lateral always.
    pub json_table: Option<Box<super::node::json_table::JsonTable>>,
    /// The rows that a recursive common table expression has made last.
    pub working: Option<usize>,
    /// A derived table that is merged into the block: what its columns mean. The tables that it is made of follow, hidden.
    pub stands_for: Option<Vec<Expr>>,
    /// Of a derived table: columns in which no two rows agree.
    pub unique: Option<Vec<u16>>,
    /// Of a merged one: where the tables of its FROM are, counted from its own place among the sources.
    pub parts: Vec<usize>,
    /// It is a query in FROM, or a JSON_TABLE: no locking clause may name it.
    pub is_query: bool,
    /// No name means it.
    pub hidden: bool,
    /// Of a derived table: how it is planned anew, with conditions; taken when the join is planned.
    pub origin: Option<Box<super::source::Origin>>,
}

/// A column of a table of FROM.
pub struct SourceColumn {
    pub name: String,
    pub data_type: DataType,
    pub hidden: bool,
    /// Not part of `*`.
    pub invisible: bool,
    /// Where a derived table's column comes from, for result metadata.
    pub origin: Option<Box<ColumnMeta>>,
    /// Of an ENUM or SET whose numbers are in a derived table's rows.
    pub members: Option<Arc<[String]>>,
}

impl Source {
    /// A table under its name or alias, with all its columns.
    pub fn of_table(slot: usize, table: &Arc<Table>, alias: Option<&str>) -> Source {
        let columns: Vec<SourceColumn> = table
            .columns
            .iter()
            .map(|c| SourceColumn {
                name: c.name.clone(),
                data_type: DataType { coercibility: IMPLICIT, ..c.data_type },
                hidden: c.hidden,
                invisible: c.invisible,
                origin: None,
                members: None,
            })
            .collect();
        Source {
            schema: table.schema.clone(),
            table: Some(table.clone()),
            named: Some(table.id),
            ..Source::of_tuple(slot, alias.unwrap_or(&table.name), columns)
        }
    }

    /// A row of the table that rows are inserted into by this source's names: those of a view, where it is one that is written through.
    pub fn row_of(&self, slot: usize, table: &Arc<Table>) -> Source {
        let mut row = Source::of_table(slot, table, Some(&self.name));
        row.schema.clone_from(&self.schema);
        row.view.clone_from(&self.view);
        row.named = self.named;
        for (column, named) in row.columns.iter_mut().zip(&self.columns) {
            column.name.clone_from(&named.name);
            (column.hidden, column.invisible) = (named.hidden, named.invisible);
        }
        row
    }

    /// The expression that reads column `i`.
    pub fn column(&self, i: usize, depth: usize) -> Expr {
        self.used[i].set(true);
        if let Some(exprs) = &self.stands_for {
            let mut e = deepen(&exprs[i], depth);
            e.ty.nullable |= self.nullable;
            return e;
        }
        let mut ty = self.columns[i].data_type;
        ty.nullable |= self.nullable;
        // Also where a derived table's column holds what was computed.
        ty.zerofill |= ty.kind == TypeKind::Year;
        let node = Node::Column { depth: depth as u8, slot: self.slot as u16, column: i as u16 };
        let members = match &self.table {
            Some(t) if matches!(ty.kind, TypeKind::Enum | TypeKind::Set) => Some(t.columns[i].members.clone().into()),
            Some(_) => None,
            None => self.columns[i].members.clone(),
        };
        if let Some(members) = members {
            let number = DataType { nullable: ty.nullable, ..DataType::new(TypeKind::BigInt).unsigned() };
            let raw = Box::new(Expr::new(node, number));
            let is_enum = ty.kind == TypeKind::Enum;
            let node = if is_enum { Node::EnumText(raw, members) } else { Node::SetText(raw, members) };
            return Expr::new(node, ty);
        }
        match &self.table {
            Some(_) if ty.kind == TypeKind::Timestamp => Expr::new(Node::LocalTime(Box::new(Expr::new(node, ty))), ty),
            _ => Expr::new(node, ty),
        }
    }

    /// The same table with its `visible` columns as part of a tuple in another query's slot, from column `first` on.
    pub fn exported(&self, slot: usize, first: usize, visible: &[usize]) -> Source {
        let hidden = |_| SourceColumn {
            name: String::new(),
            data_type: DataType::new(TypeKind::Null),
            hidden: true,
            invisible: false,
            origin: None,
            members: None,
        };
        let mut columns: Vec<SourceColumn> = (0..first).map(hidden).collect();
        columns.extend(visible.iter().map(|i| SourceColumn {
            name: self.columns[*i].name.clone(),
            data_type: DataType {
                nullable: self.columns[*i].data_type.nullable || self.nullable,
                ..self.columns[*i].data_type
            },
            hidden: false,
            invisible: false,
            origin: None,
            members: None,
        }));
        Source { schema: self.schema.clone(), named: self.named, ..Source::of_tuple(slot, &self.name, columns) }
    }

    /// Rows that are no table's.
    pub fn of_tuple(slot: usize, name: &str, columns: Vec<SourceColumn>) -> Source {
        Source {
            slot,
            schema: String::new(),
            name: name.to_string(),
            table: None,
            named: None,
            used: vec![Cell::new(false); columns.len()],
            columns,
            nullable: false,
            hints: Vec::new(),
            tuning: None,
            block: None,
            read: engine::Read::Consistent,
            filter: None,
            check: None,
            came_with: Vec::new(),
            view: None,
            derived: None,
            lateral: None,
            json_table: None,
            working: None,
            stands_for: None,
            unique: None,
            parts: Vec::new(),
            is_query: false,
            hidden: false,
            origin: None,
        }
    }

    /// What clients are told of column `i`, which comes from `origin`; `kept`: as a column of rows of its own.
    pub fn told(&self, i: usize, origin: &ColumnMeta, kept: bool) -> Option<Box<Told>> {
        let of_origin = match &origin.told {
            Some(told) => (&told.schema, &told.org_table, told.stored),
            None => (&origin.schema, &origin.org_table, !origin.org_table.is_empty() || origin.flags & KEPT != 0),
        };
        let (schema, org_table, stored) = of_origin;
        let is_computed = org_table.is_empty();
        let (schema, org_table) = match &self.view {
            Some(view) if kept && is_computed => (&self.schema, view),
            Some(view) if !kept => (schema, view),
            _ => (schema, org_table),
        };
        let (schema, org_table, org_name) = (schema.clone(), org_table.clone(), self.columns[i].name.clone());
        let computed = is_computed && (kept || origin.told.as_ref().is_some_and(|told| told.computed));
        Some(Box::new(Told { schema, org_table, org_name, stored: stored || kept, computed }))
    }

    /// The view that the statement names in the table's place.
    pub(super) fn view_named(&self) -> Option<u64> {
        let table = self.table.as_ref()?;
        self.named.filter(|named| *named != table.id)
    }

    /// Does a name mean this table?
    pub(super) fn is_named(&self, name: &str, schema: Option<&str>) -> bool {
        !self.hidden && self.name == name && schema.is_none_or(|d| d == self.schema)
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| !c.hidden && c.name.eq_ignore_ascii_case(name))
    }
}

impl Planner<'_> {
    /// `[[schema.]table.]column` in the clause at hand.
    pub fn column(&mut self, schema: Option<ast::Name>, table: Option<ast::Name>, column: ast::Name) -> Result<Expr> {
        let parsed = self.parsed;
        let name = parsed.name(column);
        let schema = schema.map(|s| parsed.name(s));
        let table = table.map(|t| parsed.name(t));
        for depth in 0..self.scope.blocks.len() {
            let at = self.scope.blocks.len() - 1 - depth;
            if self.scope.blocks[at].unseen {
                continue;
            }
            if let Some(e) = self.column_in(at, depth, schema, table, name)? {
                if depth > 0 {
                    self.note_resolved(at, table, name);
                    self.note_outer(at, depth as u8, &e);
                }
                return Ok(e);
            }
        }
        if let Some(t) = table
            && self.scope.blocks.iter().filter(|b| !b.unseen).count() == 1
            && self.current_block().sources.is_empty()
        {
            return Err(err!(ER_UNKNOWN_TABLE, t, self.scope.clause));
        }
        let full = match (schema, table) {
            (Some(s), Some(t)) => format!("{s}.{t}.{name}"),
            (None, Some(t)) => format!("{t}.{name}"),
            _ => name.to_string(),
        };
        Err(unknown_column(&full, self.scope.clause))
    }

    /// Is it the name of a column of the block at hand?
    pub(super) fn is_own_name(&self, id: ast::ExprId) -> Result<bool> {
        let ast::Expr::Column { schema, table, column } = self.parsed[id] else { return Ok(false) };
        let name = |n: ast::Name| self.parsed.name(n);
        let found = self.column_in(self.scope.blocks.len() - 1, 0, schema.map(name), table.map(name), name(column))?;
        Ok(found.is_some())
    }

    /// Notes what an expression of block `at` reads of it and of blocks around it, itself or in queries in it, now that it stands
    /// `depth` queries further inside.
    fn note_outer(&mut self, at: usize, depth: u8, e: &Expr) {
        note_reads(&self.queries.planned, at, depth, e, &mut self.queries.outer_reads);
    }

    /// What was read since `first` of the blocks outside of the query just planned, from the innermost of them.
    pub(super) fn reads_outside(&mut self, first: usize) -> Vec<Expr> {
        let around = self.scope.blocks.len();
        let mut own = self.queries.outer_reads.split_off(first);
        own.retain(|(at, _)| *at < around);
        let mut reads: Vec<Expr> = Vec::new();
        for (at, e) in &own {
            let e = deepen(e, around - 1 - at);
            if !reads.iter().any(|known| known.same(&e)) {
                reads.push(e);
            }
        }
        self.queries.outer_reads.extend(own);
        reads
    }

    /// Warning 1052: GROUP BY takes a column of the tables, where something else of SELECT has the same name.
    pub fn warn_of_hidden_alias(&mut self, id: ast::ExprId, key: &Expr) {
        let ast::Expr::Column { table: None, column, .. } = self.parsed[id] else { return };
        let name = self.parsed.name(column);
        let mut hits = self.block().aliases.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        if hits.next().is_some_and(|(_, e)| !e.same(key)) {
            self.env.push_warning("Warning", err!(ER_NON_UNIQ_ERROR, name, self.scope.clause));
        }
    }

    fn column_in(
        &self,
        at: usize,
        depth: usize,
        schema: Option<&str>,
        table: Option<&str>,
        name: &str,
    ) -> Result<Option<Expr>> {
        let block = &self.scope.blocks[at];
        let from_sources = || -> Result<Option<Expr>> {
            if table.is_none()
                && let Some((_, e)) = block.merged.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))
            {
                return Ok(Some(deepen(e, depth)));
            }
            let mut found: Option<Expr> = None;
            for s in &block.sources[block.first_named..] {
                if s.hidden || table.is_some_and(|t| t != s.name) || schema.is_some_and(|d| d != s.schema) {
                    continue;
                }
                if let Some(i) = s.find(name) {
                    if found.is_some() {
                        let full = table.map_or(name.to_string(), |t| format!("{t}.{name}"));
                        return Err(err!(ER_NON_UNIQ_ERROR, full, self.scope.clause));
                    }
                    self.note_column(s, i, false);
                    found = Some(s.column(i, depth));
                }
            }
            Ok(found)
        };
        let from_aliases = || -> Result<Option<Expr>> {
            if table.is_some() || block.alias_rule == AliasRule::Never {
                return Ok(None);
            }
            let mut hits = block.aliases.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, e)| e);
            let Some(first) = hits.next() else { return Ok(None) };
            if hits.any(|e| !e.same(first)) {
                return Err(err!(ER_NON_UNIQ_ERROR, name, self.scope.clause));
            }
            if depth > 0 && first.has_aggregate() {
                return Err(err!(ER_ILLEGAL_REFERENCE, name, "reference to group function"));
            }
            Ok(Some(deepen(first, depth)))
        };
        if block.alias_rule == AliasRule::First
            && let Some(e) = from_aliases()?
        {
            return Ok(Some(e));
        }
        let hidden = |e: &Expr| match &block.shown {
            // Arguments of aggregates read any column: they see no aliases.
            Some(shown) if depth == 0 && block.alias_rule == AliasRule::First => {
                !shown.iter().any(|s| s.same(e) || e.own_column().is_some_and(|c| s.own_column() == Some(c)))
            }
            _ => false,
        };
        if let Some(e) = from_sources()?.filter(|e| !hidden(e)) {
            return Ok(Some(e));
        }
        if block.alias_rule == AliasRule::Last { from_aliases() } else { Ok(None) }
    }
}

/// [`Planner::note_outer`]: columns with the place of their block.
fn note_reads(subqueries: &[QueryPlan], at: usize, depth: u8, e: &Expr, reads: &mut Vec<(usize, Expr)>) {
    e.any(&mut |e| {
        match &e.node {
            Node::Column { depth: d, slot, column } => {
                let node = Node::Column { depth: 0, slot: *slot, column: *column };
                reads.push((at - (d - depth) as usize, Expr::new(node, e.ty)));
            }
            Node::Outer { depth: d, expr } => note_reads(subqueries, at - (d - depth) as usize, 0, expr, reads),
            _ => {
                let read = subquery_of(e).into_iter().flat_map(|query| &subqueries[query].reads);
                read.for_each(|read| note_reads(subqueries, at, 0, read, reads));
            }
        }
        false
    });
}

/// The same expression, read from `by` queries further inside.
fn deepen(e: &Expr, by: usize) -> Expr {
    let mut e = e.clone();
    if by > 0 && e.any(&mut |e| subquery_of(e).is_some()) {
        return Expr { ty: e.ty, node: Node::Outer { depth: by as u8, expr: Box::new(e) } };
    }
    if by > 0 {
        deepen_in(&mut e, by as u8);
    }
    e
}

fn deepen_in(e: &mut Expr, by: u8) {
    if let Node::Column { depth, .. } | Node::Outer { depth, .. } = &mut e.node {
        *depth += by;
    }
    e.children_mut(&mut |c| deepen_in(c, by));
}

/// The heading that NAME_CONST gives its value, and a date in braces that is none the string that it is.
pub(super) fn given_name(e: &Expr, written: &ast::Expr, parsed: &ast::Parsed) -> Option<String> {
    if let (ast::Expr::Temporal { text, .. }, Node::Const(Value::Bytes(_))) = (written, &e.node) {
        return Some(ast::name_of_text(parsed.bytes(*text)));
    }
    let Node::Call(function, args) = &e.node else { return None };
    let name = args.first().filter(|_| function.name == "name_const").map(|name| &name.node);
    match name {
        Some(Node::Const(Value::Bytes(name))) => Some(String::from_utf8_lossy(name).into_owned()),
        _ => None,
    }
}
