//! First step of a SELECT: names become columns, clauses become expressions.

use super::{Bound, Traits};
use crate::dml::is_log_table;
use crate::group::{has_grouping_call, key_of};
use crate::join_tree::StarColumn;
use crate::names::{AliasRule, Source, Windows, given_name};
use crate::sorted::OrderKey;
use crate::source::Through;
use crate::{ColumnMeta, Planner};
use engine::{LockMode, Read, Wait};
use expr::Expr;
use expr::functions::stored::named;
use expr::written;
use sql::ast::{self, Expr as Ast, ExprId, Select, SelectItem};
use types::codes::*;
use types::{Result, SqlError, err};

/// The select list.
#[derive(Default)]
struct Listed {
    outputs: Vec<Expr>,
    columns: Vec<ColumnMeta>,
    aliases: Vec<(String, Expr)>,
}

impl Listed {
    fn add(&mut self, column: ColumnMeta, e: Expr) {
        self.columns.push(column);
        self.outputs.push(e);
    }
}

impl Planner<'_> {
    pub(super) fn bind(&mut self, query: &ast::Query, select: &Select) -> Result<Bound> {
        let from = select.from.map(|t| self.from(t)).transpose()?;
        self.locking(&query.locking)?;
        self.block().windows.clone_from(&select.windows);
        self.check_windows()?;
        self.block().group_keys = select.group.len();
        self.block().allow(Windows::Allowed, true);
        let Listed { outputs, columns, aliases } =
            self.select_list(query, select, from.as_ref().map(|(_, star)| &star[..]))?;
        self.block().aliases = aliases;
        self.block().allow(Windows::Refused, false);

        let conditions = self.where_clause(select)?;
        let keys = self.group_by(select, &outputs, &columns)?;
        let having = self.having(select, &outputs, &keys)?;
        self.block().allow(Windows::Allowed, true);
        let order = self.order_of_select(query, &outputs, &keys, having.as_ref())?;
        self.block().allow(Windows::Refused, false);
        self.block().alias_rule = AliasRule::Never;
        self.scope.clause = "field list";
        let limit = self.limit(query.limit)?;

        let is = self.traits(query, select, &outputs, &keys, having.as_ref(), &order);
        let mut s = Bound {
            tree: from.map(|(tree, _)| tree),
            outputs,
            columns,
            conditions,
            keys,
            having,
            order,
            limit,
            distinct: select.options.distinct,
            is,
        };
        if is.grouped && s.keys.is_empty() {
            // One row needs no order.
            s.order.clear();
        }
        let mut all = s.outputs.iter().chain(&s.having).chain(s.order.iter().map(|o| &o.expr));
        if !is.grouped && all.any(has_grouping_call) {
            return Err(err!(ER_INVALID_GROUP_FUNC_USE));
        }
        Ok(s)
    }

    /// `star`: the columns of `*`; `None`: there is no FROM. Errors 1051, 1096.
    fn select_list(&mut self, query: &ast::Query, select: &Select, star: Option<&[StarColumn]>) -> Result<Listed> {
        let parsed = self.parsed;
        // May another clause read what is selected?
        let is_ordered = !query.order.is_empty() || !select.group.is_empty();
        let shares = is_ordered || select.having.is_some() || select.options.distinct;
        let mut listed = Listed::default();
        for item in &select.items {
            match item {
                SelectItem::Star => {
                    for s in star.ok_or_else(|| err!(ER_NO_TABLES_USED))? {
                        let e = self.star_expr(s);
                        listed.add(self.meta(&s.name, &e), e);
                    }
                }
                SelectItem::TableStar { schema, table } => {
                    let (schema, name) = (schema.map(|s| parsed.name(s)), parsed.name(*table));
                    let found = self.current_block().sources.iter().find(|s| s.is_named(name, schema));
                    let Some(found) = found else {
                        return Err(err!(ER_BAD_TABLE_ERROR, name));
                    };
                    for (i, column) in found.columns.iter().enumerate().filter(|(_, c)| !c.hidden && !c.invisible) {
                        self.note_column(found, i, true);
                        let e = found.column(i, 0);
                        listed.add(self.meta(&column.name, &e), e);
                    }
                }
                SelectItem::Expr { expr, alias, text } => {
                    let is_of_view = self.scope.is_merged_view && self.is_outermost(select);
                    self.scope.item = is_of_view.then_some(listed.outputs.len());
                    let mut e = self.shown_expr(*expr)?;
                    self.scope.item = None;
                    self.fold_shown(&mut e);
                    let name = match alias {
                        Some(alias) => parsed.name(*alias).to_string(),
                        None => self.heading(*expr, &e, *text),
                    };
                    let is_one = shares && written::is_volatile(&e);
                    let number = if is_one { self.next_once() } else { 0 };
                    let one = |e: Expr| if is_one { written::written(e, number) } else { e };
                    if alias.is_some() {
                        listed.aliases.push((name.clone(), one(e.clone())));
                    }
                    let e = if self.uses.routines.is_empty() { e } else { named(e, &name) };
                    let mut meta = self.meta(&name, &e);
                    if matches!(parsed[self.behind_plus(*expr)], Ast::Int(_)) {
                        meta.provenance = crate::Provenance::Subquery;
                    }
                    listed.add(meta, one(e));
                }
            }
        }
        Ok(listed)
    }

    /// A plus leaves no mark in MySQL: neither in a heading nor in a type.
    fn behind_plus(&self, mut id: ExprId) -> ExprId {
        while let Ast::Unary { op: ast::UnaryOp::Plus, operand } = &self.parsed[id] {
            id = *operand;
        }
        id
    }

    /// Is it the SELECT of the statement, and none inside of it?
    fn is_outermost(&self, select: &Select) -> bool {
        let parsed = self.parsed;
        matches!(&parsed.statement, ast::Statement::Query(id)
            if matches!(&parsed[*id].body, ast::QueryBody::Select(outermost) if std::ptr::eq(&**outermost, select)))
    }

    /// The heading of a column without alias. `text`: as it is written.
    fn heading(&self, id: ExprId, e: &Expr, text: ast::Str) -> String {
        let parsed = self.parsed;
        match &parsed[self.behind_plus(id)] {
            Ast::Int(_) | Ast::Decimal(_) | Ast::Float(_) => ast::name_of_text(bare_number(parsed.bytes(text))),
            Ast::Column { column, .. } => self.result_name(e, parsed.name(*column)),
            Ast::String { text, .. } => ast::name_of_text(parsed.bytes(*text)).trim_start().to_string(),
            Ast::Null => "NULL".to_string(),
            _ => given_name(e, &parsed[id], parsed).unwrap_or_else(|| ast::name_of_text(parsed.bytes(text))),
        }
    }

    /// The heading of a column without alias: as it is written here, but as it was defined in those tables of `information_schema`
    /// that are views over MySQL's dictionary.
    fn result_name(&self, e: &Expr, written: &str) -> String {
        let defined = e.own_column().and_then(|(slot, column)| {
            let source = self.current_block().sources.iter().find(|s| s.slot == slot as usize)?;
            let table = source.table.as_ref().filter(|t| t.is_virtual() && is_dictionary_view(t));
            table.and(source.columns.get(column as usize)).map(|c| c.name.as_str())
        });
        defined.filter(|d| d.eq_ignore_ascii_case(written)).unwrap_or(written).to_string()
    }

    /// The conjuncts of WHERE.
    fn where_clause(&mut self, select: &Select) -> Result<Vec<Expr>> {
        let mut conditions = Vec::new();
        if let Some(f) = select.filter {
            // A row that is inserted is asked by itself.
            self.request.takes_candidates = self.request.through != Through::Insert;
            let e = self.condition(f, "where clause");
            self.request.takes_candidates = false;
            let e = e?;
            if e.has_aggregate() {
                return Err(err!(ER_INVALID_GROUP_FUNC_USE));
            }
            Self::conjuncts(e, &mut conditions);
        }
        self.raise_late_error()?;
        conditions.append(&mut self.block().moved);
        Ok(conditions)
    }

    /// GROUP BY: names are columns first, then aliases and positions. Errors 1056, 1111.
    fn group_by(&mut self, select: &Select, outputs: &[Expr], columns: &[ColumnMeta]) -> Result<Vec<Expr>> {
        let mut keys: Vec<Expr> = Vec::new();
        self.scope.clause = "group statement";
        self.block().alias_rule = AliasRule::Last;
        for id in &select.group {
            let e = match self.position(*id, outputs)? {
                Some(e) => e,
                None => key_of(self.expr(*id)?, matches!(self.parsed[*id], Ast::Column { .. })),
            };
            self.warn_of_hidden_alias(*id, &e);
            if e.has_aggregate() || e.has_window() {
                let place = match &self.parsed[*id] {
                    Ast::Int(n) => usize::try_from(*n).ok().and_then(|n| n.checked_sub(1)),
                    Ast::Column { .. } => outputs.iter().position(|output| output.same(&e)),
                    _ => None,
                };
                return Err(match place.and_then(|i| columns.get(i)) {
                    Some(column) => err!(ER_WRONG_GROUP_FIELD, column.name),
                    None => err!(ER_INVALID_GROUP_FUNC_USE),
                });
            }
            keys.push(e);
        }
        Ok(keys)
    }

    fn having(&mut self, select: &Select, outputs: &[Expr], keys: &[Expr]) -> Result<Option<Expr>> {
        self.block().alias_rule = AliasRule::First;
        self.block().takes_aggregates = true;
        let Some(condition) = select.having else { return Ok(None) };
        self.block().shown = Some(outputs.iter().chain(keys).cloned().collect());
        let condition = self.condition(condition, "having clause")?;
        self.block().shown = None;
        Ok(Some(condition))
    }

    /// Error 3029 for an aggregate where nothing else makes the query one of groups.
    fn order_of_select(
        &mut self,
        query: &ast::Query,
        outputs: &[Expr],
        keys: &[Expr],
        having: Option<&Expr>,
    ) -> Result<Vec<OrderKey>> {
        let mut others = outputs.iter().chain(having);
        let is_grouped = !keys.is_empty() || self.current_block().asked.is_some() || others.any(|e| e.has_aggregate());
        let order = self.order(&query.order, outputs)?;
        match order.iter().position(|o| o.expr.has_aggregate()) {
            Some(at) if !is_grouped => Err(err!(ER_AGGREGATE_ORDER_NON_AGG_QUERY, at + 1)),
            _ => Ok(order),
        }
    }

    fn traits(
        &self,
        query: &ast::Query,
        select: &Select,
        outputs: &[Expr],
        keys: &[Expr],
        having: Option<&Expr>,
        order: &[OrderKey],
    ) -> Traits {
        let asked = self.current_block().asked.is_some();
        let all = || outputs.iter().chain(having).chain(order.iter().map(|o| &o.expr));
        Traits {
            grouped: asked || !keys.is_empty() || all().any(Expr::has_aggregate),
            asked,
            windowed: outputs.iter().any(Expr::has_window) || order.iter().any(|o| o.expr.has_window()),
            rolls_up: select.rollup,
            counts_all: select.options.calc_found_rows,
            straight: select.options.straight_join,
            has_order: !query.order.is_empty(),
            asks_distinct: select.options.distinct,
        }
    }

    /// FOR UPDATE and FOR SHARE: how the block's tables are read, those of merged views as well. Derived tables and common table
    /// expressions are read as their own queries say. Errors 1556, 3568, 3569.
    pub(crate) fn locking(&mut self, clauses: &[ast::Locking]) -> Result<()> {
        let parsed = self.parsed;
        self.found.unsteady |= !clauses.is_empty();
        for clause in clauses {
            let mode = if clause.exclusive { LockMode::Exclusive } else { LockMode::Shared };
            let wait = match clause.wait {
                ast::LockWait::Wait => Wait::Block,
                ast::LockWait::NoWait => Wait::NoWait,
                ast::LockWait::SkipLocked => Wait::SkipLocked,
            };
            let read = Read::Locking { mode, wait };
            let sources = &mut self.block().sources;
            // Privileges are asked for on what is named, a view or a table.
            let (mut locked, mut named) = (Vec::new(), Vec::new());
            if clause.of.is_empty() {
                for at in (0..sources.len()).filter(|at| !sources[*at].hidden).collect::<Vec<_>>() {
                    if sources[at].table.is_some() && sources[at].read != Read::Consistent {
                        return Err(locked_twice(&sources[at].name));
                    }
                    named.extend(sources[at].named);
                    lock(sources, at, read, &mut locked);
                }
            }
            for name in &clause.of {
                let alias = parsed.name(name.name);
                let Some(at) = sources.iter().position(|s| s.is_named(alias, None)) else {
                    return Err(err!(ER_UNRESOLVED_TABLE_LOCK, format!("`{alias}`")));
                };
                if sources[at].is_query || sources[at].read != Read::Consistent {
                    return Err(locked_twice(&format!("`{alias}`")));
                }
                named.extend(sources[at].named);
                lock(sources, at, read, &mut locked);
            }
            if clause.exclusive
                && sources.iter().any(|s| s.read == read && s.table.as_deref().is_some_and(is_log_table))
            {
                return Err(err!(ER_CANT_LOCK_LOG_TABLE));
            }
            for t in &mut self.uses.tables {
                t.lock |= locked.contains(&t.id);
                t.for_update |= clause.exclusive && (locked.contains(&t.id) || named.contains(&t.id));
            }
        }
        Ok(())
    }
}

#[cold]
fn locked_twice(name: &str) -> SqlError {
    err!(ER_DUPLICATE_TABLE_LOCK, name)
}

/// Has a table, or the tables of a merged view, read so; adds their ids.
fn lock(sources: &mut [Source], at: usize, read: Read, locked: &mut Vec<u64>) {
    let Some(named) = sources[at].named else { return };
    sources[at].read = read;
    locked.push(sources[at].table.as_ref().map_or(named, |t| t.id));
    for part in sources[at].parts.clone() {
        lock(sources, at + part, read, locked);
    }
}

/// The text of a number without the plus signs and parentheses around it.
fn bare_number(text: &[u8]) -> &[u8] {
    let around = |b: u8| b.is_ascii_whitespace() || matches!(b, b'+' | b'(' | b')');
    let start = text.iter().position(|b| !around(*b)).unwrap_or(0);
    let end = text.iter().rposition(|b| !around(*b)).map_or(text.len(), |last| last + 1);
    &text[start..end]
}

/// Is this table of `information_schema` a view that MySQL merges into the query? Its columns keep their names in headings; the
/// others are filled when they are read, or views that stay whole.
fn is_dictionary_view(table: &catalog::Table) -> bool {
    const FILLED: [&str; 15] = [
        "APPLICABLE_ROLES",
        "COLLATIONS",
        "COLUMN_PRIVILEGES",
        "ENABLED_ROLES",
        "ENGINES",
        "OPTIMIZER_TRACE",
        "PLUGINS",
        "PROCESSLIST",
        "PROFILING",
        "ROLE_COLUMN_GRANTS",
        "ROLE_ROUTINE_GRANTS",
        "ROLE_TABLE_GRANTS",
        "SCHEMA_PRIVILEGES",
        "TABLE_PRIVILEGES",
        "USER_PRIVILEGES",
    ];
    table.schema == "information_schema"
        && match &table.name[..] {
            "INNODB_DATAFILES" | "INNODB_FIELDS" | "INNODB_FOREIGN_COLS" | "INNODB_TABLESPACES_BRIEF" => true,
            name => !name.starts_with("INNODB_") && !FILLED.contains(&name),
        }
}
