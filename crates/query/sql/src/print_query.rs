//! Queries back to text, as MySQL keeps them in views: every name resolved and qualified, every column with its name,
//! `*` written out, RIGHT joins turned to the left, USING as a condition.

use crate::ast::*;
use crate::print::{self, Names, quote_name};
use std::fmt::Write;

/// What the printer asks of the dictionary.
pub trait Tables {
    /// Schema and columns of a table or view; `None`: there is none.
    fn columns(&self, schema: Option<&str>, table: &str) -> Option<(String, Vec<String>)>;
    /// Its columns that `*` leaves out.
    fn invisible(&self, _schema: Option<&str>, _table: &str) -> Vec<String> {
        Vec::new()
    }
    /// The type of a column of JSON_TABLE, as it is written.
    fn column_type(&self, _parsed: &Parsed, _column: &CreateColumnType) -> Option<String> {
        None
    }
    /// The stored function that a call means, as it is written; `None`: a native one.
    fn routine(&self, _schema: Option<&str>, _name: &str) -> Option<String> {
        None
    }
}

/// A printed query, and the names of its columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Printed {
    pub text: String,
    pub names: Vec<String>,
}

/// The query as MySQL keeps it. `distinct_names`: columns whose names are made from their texts get others where those are
/// taken, or none that a column can have. `None`: it has something that no view can have, or a name that nobody knows.
pub fn query(parsed: &Parsed, id: QueryId, distinct_names: bool, tables: &dyn Tables) -> Option<Printed> {
    let mut printer = Printer {
        parsed,
        tables,
        scopes: Vec::new(),
        before: Vec::new(),
        ctes: Vec::new(),
        outputs: Vec::new(),
        distinct_names,
    };
    let text = printer.query(id)?;
    Some(Printed { text, names: printer.outputs })
}

/// One table of FROM.
#[derive(Clone)]
struct Source {
    schema: Option<String>,
    name: String,
    /// What its columns are qualified with.
    prefix: String,
    columns: Vec<String>,
    /// Columns that `*` leaves out.
    invisible: Vec<String>,
}

#[derive(Default)]
struct Scope {
    sources: Vec<Source>,
    /// Named expressions of the select list.
    aliases: Vec<Item>,
    /// In GROUP BY, HAVING and ORDER BY a bare name may be an alias.
    use_aliases: bool,
}

/// A FROM clause, or a part of one.
struct From {
    text: String,
    sources: Vec<Source>,
    /// The columns of `*`: name and text.
    star: Vec<(String, String)>,
}

struct Printer<'p> {
    parsed: &'p Parsed,
    tables: &'p dyn Tables,
    scopes: Vec<Scope>,
    /// Tables of FROM to the left of what is printed.
    before: Vec<Vec<Source>>,
    ctes: Vec<(String, Vec<String>)>,
    /// Names of the columns of the query printed last.
    outputs: Vec<String>,
    /// The SELECT that comes next names the columns of the whole, which must differ.
    distinct_names: bool,
}

/// A column of the select list.
#[derive(Clone)]
struct Item {
    name: String,
    text: String,
    is_column: bool,
    /// The text that the name was made from.
    made_from: Option<String>,
}

/// Characters of a name.
const NAME_CHARS: usize = 64;

/// Made-up names that no column can have are numbered; those that are taken get a prefix, and a number if need be.
fn make_distinct(items: &mut [Item]) {
    for (i, item) in items.iter_mut().enumerate() {
        let bad = item.name.is_empty() || item.name.ends_with(' ') || item.name.chars().count() > NAME_CHARS;
        if item.made_from.is_some() && bad {
            item.name = format!("Name_exp_{}", i + 1);
        }
    }
    for i in 1..items.len() {
        for k in 0..i {
            if !items[i].name.eq_ignore_ascii_case(&items[k].name) {
                continue;
            }
            let Some(renamed) = [i, k].into_iter().find(|j| items[*j].made_from.is_some()) else { break };
            let base = items[renamed].made_from.clone().expect("has one: that is how it was found");
            let numbered = (1..).map(|n| format!("Name_exp_{n}_{base}"));
            let free = std::iter::once(format!("Name_exp_{base}")).chain(numbered).map(|name| {
                let cut: String = name.chars().take(NAME_CHARS).collect();
                cut
            });
            let taken = |name: &str| {
                let mut others = items[..=i].iter().enumerate().filter(|(j, _)| *j != renamed);
                others.any(|(_, other)| other.name.eq_ignore_ascii_case(name))
            };
            let name = free.take(items.len() + 1).find(|name| !taken(name));
            items[renamed].name = name.expect("more candidates than columns, which differ in their numbers");
        }
    }
}

impl Names for Printer<'_> {
    fn column(&mut self, schema: Option<&str>, table: Option<&str>, column: &str) -> String {
        let quoted = quote_name(column);
        for scope in self.scopes.iter().rev() {
            if table.is_none() && scope.use_aliases {
                match scope.aliases.iter().find(|i| i.name.eq_ignore_ascii_case(column)) {
                    Some(item) if item.is_column => return item.text.clone(),
                    Some(item) => return quote_name(&item.name),
                    None => {}
                }
            }
            for source in &scope.sources {
                let named = table.is_none_or(|t| t == source.name)
                    && schema.is_none_or(|s| source.schema.as_deref() == Some(s));
                if let (true, Some(c)) =
                    (named, source.columns.iter().chain(&source.invisible).find(|c| c.eq_ignore_ascii_case(column)))
                {
                    return format!("{}.{}", source.prefix, quote_name(c));
                }
            }
        }
        // Nobody knows it: who plans the text says so.
        table.map_or(quoted.clone(), |t| format!("{}.{quoted}", quote_name(t)))
    }

    fn routine(&mut self, schema: Option<&str>, name: &str) -> Option<String> {
        self.tables.routine(schema, name)
    }

    fn query(&mut self, id: QueryId) -> Option<String> {
        Some(format!("({})", self.query(id)?))
    }

    fn has_windows(&self) -> bool {
        true
    }
}

impl Printer<'_> {
    fn expr(&mut self, id: ExprId) -> Option<String> {
        print::expression(self.parsed, id, "", self)
    }

    fn list(&mut self, ids: &[ExprId]) -> Option<String> {
        let all: Option<Vec<String>> = ids.iter().map(|id| self.expr(*id)).collect();
        Some(all?.join(","))
    }

    fn query(&mut self, id: QueryId) -> Option<String> {
        let parsed = self.parsed;
        let query = &parsed[id];
        if query.into.is_some() || !query.locking.is_empty() {
            return None;
        }
        let ctes = self.ctes.len();
        let distinct_names = std::mem::take(&mut self.distinct_names);
        let mut out = String::new();
        if let Some(with) = &query.with {
            out.push_str(if with.recursive { "with recursive " } else { "with " });
            for (i, table) in with.tables.iter().enumerate() {
                self.common_table(with.recursive, table, i > 0, &mut out)?;
            }
            out.push(' ');
        }
        let mut select = None;
        let mut outputs = Vec::new();
        match &query.body {
            QueryBody::Select(body) => {
                self.scopes.push(Scope::default());
                out.push_str(&self.select(body, distinct_names)?);
                outputs.clone_from(&self.outputs);
                select = self.scopes.last_mut().map(|s| s.use_aliases = true);
            }
            QueryBody::Values(rows) => {
                let mut all = Vec::new();
                for row in rows {
                    outputs = (0..row.len()).map(|i| format!("column_{i}")).collect();
                    all.push(format!("row({})", self.list(parsed.list(*row))?));
                }
                _ = write!(out, "values {}", all.join(","));
            }
            QueryBody::Table(name) => {
                let (schema, columns) =
                    self.tables.columns(name.schema.map(|s| parsed.name(s)), parsed.name(name.name))?;
                _ = write!(out, "table {}.{}", quote_name(&schema), quote_name(parsed.name(name.name)));
                outputs = columns;
            }
            QueryBody::SetOp { op, all, left, right } => {
                let word = match op {
                    SetOp::Union => "union",
                    SetOp::Intersect => "intersect",
                    SetOp::Except => "except",
                };
                self.distinct_names = distinct_names;
                let first = self.operand(*left)?;
                outputs.clone_from(&self.outputs);
                let second = self.operand(*right)?;
                _ = write!(out, "{first} {word} {}{second}", if *all { "all " } else { "" });
            }
            QueryBody::Nested(inner) => {
                self.distinct_names = distinct_names;
                _ = write!(out, "({})", self.query(*inner)?);
                outputs.clone_from(&self.outputs);
            }
        }
        if select.is_none() {
            // ORDER BY of other bodies speaks of their columns.
            let item = |n: &String| Item { name: n.clone(), text: String::new(), is_column: false, made_from: None };
            let aliases = outputs.iter().map(item).collect();
            self.scopes.push(Scope { aliases, use_aliases: true, ..Scope::default() });
        }
        for (i, item) in query.order.iter().enumerate() {
            out.push_str(if i == 0 { " order by " } else { "," });
            out.push_str(&self.position(item.expr, &outputs)?);
            out.push_str(if item.descending { " desc" } else { "" });
        }
        if let Some(limit) = query.limit {
            out.push_str(" limit ");
            if let Some(offset) = limit.offset {
                out.push_str(&self.expr(offset)?);
                out.push(',');
            }
            out.push_str(&self.expr(limit.count)?);
        }
        self.scopes.pop();
        self.ctes.truncate(ctes);
        self.outputs = outputs;
        Some(out)
    }

    /// An ORDER BY item; a number means the column at that place.
    fn position(&mut self, id: ExprId, outputs: &[String]) -> Option<String> {
        if let Expr::Int(n) = self.parsed[id] {
            let name = outputs.get((n as usize).checked_sub(1)?)?.clone();
            return Some(self.column(None, None, &name));
        }
        self.expr(id)
    }

    fn operand(&mut self, id: QueryId) -> Option<String> {
        let text = self.query(id)?;
        let query = &self.parsed[id];
        let alone = query.parenthesized && (!query.order.is_empty() || query.limit.is_some());
        let grouped = alone || (query.parenthesized && matches!(query.body, QueryBody::SetOp { .. }));
        Some(if grouped { format!("({text})") } else { text })
    }

    fn common_table(&mut self, recursive: bool, table: &CommonTable, more: bool, out: &mut String) -> Option<()> {
        let name = self.parsed.name(table.name).to_string();
        let named: Vec<String> = table.columns.iter().map(|c| self.parsed.name(*c).to_string()).collect();
        if recursive {
            self.ctes.push((name.clone(), named.clone()));
        }
        let text = self.query(table.query)?;
        let columns = if named.is_empty() { self.outputs.clone() } else { named.clone() };
        if recursive {
            self.ctes.pop();
        }
        self.ctes.push((name.clone(), columns));
        let quoted: Vec<String> = named.iter().map(|c| quote_name(c)).collect();
        let list = if quoted.is_empty() { String::new() } else { format!(" ({})", quoted.join(",")) };
        _ = write!(out, "{}{}{list} as ({text})", if more { "," } else { "" }, quote_name(&name));
        Some(())
    }

    /// A SELECT without ORDER BY; its scope is the last and stays.
    fn select(&mut self, select: &Select, distinct_names: bool) -> Option<String> {
        let parsed = self.parsed;
        let from = match select.from {
            Some(table) => Some(self.from(table)?),
            None => None,
        };
        let star = from.as_ref().map_or(Vec::new(), |f| f.star.clone());
        self.scope().sources = from.as_ref().map_or(Vec::new(), |f| f.sources.clone());
        let mut items: Vec<Item> = Vec::new();
        let column = |name: &String, text: String| Item { name: name.clone(), text, is_column: true, made_from: None };
        for item in &select.items {
            match item {
                SelectItem::Star => items.extend(star.iter().map(|(name, text)| column(name, text.clone()))),
                SelectItem::TableStar { schema, table } => {
                    let (schema, table) = (schema.map(|s| parsed.name(s)), parsed.name(*table));
                    let matches =
                        |s: &&Source| s.name == table && schema.is_none_or(|d| s.schema.as_deref() == Some(d));
                    let source = self.scope().sources.iter().find(matches)?.clone();
                    let text = |c: &String| column(c, format!("{}.{}", source.prefix, quote_name(c)));
                    items.extend(source.columns.iter().map(text));
                }
                SelectItem::Expr { expr, alias, text } => {
                    let own = match (alias, &parsed[*expr]) {
                        (Some(alias), _) => Some(parsed.name(*alias).to_string()),
                        (None, Expr::Column { column, .. }) => Some(parsed.name(*column).to_string()),
                        (None, Expr::Null) => Some("NULL".to_string()),
                        (None, _) => None,
                    };
                    let made_from = own.is_none().then(|| match &parsed[*expr] {
                        Expr::String { text, .. } => name_of_text(parsed.bytes(*text)).trim_ascii_start().to_string(),
                        _ => name_of_text(parsed.bytes(*text)).trim_ascii().to_string(),
                    });
                    let name = own.or_else(|| made_from.clone()).unwrap_or_default();
                    let is_column = matches!(parsed[*expr], Expr::Column { .. });
                    items.push(Item { name, text: self.expr(*expr)?, is_column, made_from });
                }
            }
        }
        if distinct_names {
            make_distinct(&mut items);
        }
        let mut out = "select ".to_string();
        out.push_str(if select.options.distinct { "distinct " } else { "" });
        out.push_str(if select.options.straight_join { "straight_join " } else { "" });
        let texts: Vec<String> = items.iter().map(|i| format!("{} AS {}", i.text, quote_name(&i.name))).collect();
        out.push_str(&texts.join(","));
        let outputs: Vec<String> = items.iter().map(|i| i.name.clone()).collect();
        if let Some(from) = from {
            _ = write!(out, " from {}", from.text);
        }
        if let Some(filter) = select.filter {
            _ = write!(out, " where {}", self.expr(filter)?);
        }
        self.scope().aliases = items;
        self.scope().use_aliases = true;
        for (i, id) in select.group.iter().enumerate() {
            out.push_str(if i == 0 { " group by " } else { "," });
            out.push_str(&self.position(*id, &outputs)?);
        }
        out.push_str(if select.rollup { " with rollup" } else { "" });
        if let Some(having) = select.having {
            _ = write!(out, " having {}", self.expr(having)?);
        }
        self.scope().use_aliases = false;
        for (i, (name, spec)) in select.windows.iter().enumerate() {
            out.push_str(if i == 0 { " window " } else { ", " });
            _ = write!(out, "{} AS {}", quote_name(parsed.name(*name)), print::window(parsed, spec, self)?);
        }
        self.outputs = outputs;
        Some(out)
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("inside a select")
    }

    fn from(&mut self, id: TableId) -> Option<From> {
        let parsed = self.parsed;
        match &parsed[id] {
            TableRef::Table(factor) => {
                if !factor.partitions.is_empty() || !factor.index_hints.is_empty() {
                    return None;
                }
                let name = parsed.name(factor.name.name);
                let alias = factor.alias.map(|a| parsed.name(a).to_string());
                let schema = factor.name.schema.map(|s| parsed.name(s));
                let shown = alias.as_ref().map_or(String::new(), |a| format!(" {}", quote_name(a)));
                let cte = self.ctes.iter().rev().find(|c| schema.is_none() && c.0.eq_ignore_ascii_case(name));
                if let Some((name, columns)) = cte.cloned() {
                    let prefix = quote_name(alias.as_ref().unwrap_or(&name));
                    let text = quote_name(&name) + &shown;
                    return Some(single(
                        text,
                        Source { schema: None, name: alias.unwrap_or(name), prefix, columns, invisible: Vec::new() },
                    ));
                }
                let invisible = self.tables.invisible(schema, name);
                let (schema, columns) = self.tables.columns(schema, name)?;
                let full = format!("{}.{}", quote_name(&schema), quote_name(name));
                let prefix = alias.as_ref().map_or(full.clone(), |a| quote_name(a));
                let name = alias.unwrap_or_else(|| name.to_string());
                Some(single(full + &shown, Source { schema: Some(schema), name, prefix, columns, invisible }))
            }
            TableRef::Derived { lateral, query, alias, columns } => {
                let text = self.query(*query)?;
                let name = parsed.name(*alias).to_string();
                let named: Vec<String> = columns.iter().map(|c| parsed.name(*c).to_string()).collect();
                let quoted: Vec<String> = named.iter().map(|c| quote_name(c)).collect();
                let list = if quoted.is_empty() { String::new() } else { format!(" ({})", quoted.join(",")) };
                let columns = if named.is_empty() { self.outputs.clone() } else { named };
                let word = if *lateral { "lateral " } else { "" };
                let text = format!("{word}({text}) {}{list}", quote_name(&name));
                Some(single(
                    text,
                    Source { schema: None, prefix: quote_name(&name), name, columns, invisible: Vec::new() },
                ))
            }
            TableRef::Join { left, right, kind, natural, constraint } => {
                let left = self.from(*left)?;
                // JSON_TABLE reads columns of the tables before it.
                self.before.push(left.sources.clone());
                let right = self.from(*right);
                self.before.pop();
                self.join(left, right?, *kind, *natural, constraint)
            }
            TableRef::JsonTable(table) => self.json_table(table),
        }
    }

    fn json_table(&mut self, table: &JsonTable) -> Option<From> {
        let parsed = self.parsed;
        let sources = self.before.iter().flatten().cloned().collect();
        self.scopes.push(Scope { sources, ..Scope::default() });
        let doc = self.expr(table.doc);
        let mut names = Vec::new();
        let columns = self.json_columns(&table.columns, &mut names);
        self.scopes.pop();
        let name = parsed.name(table.alias).to_string();
        let (path, prefix) = (self.path(table.path), quote_name(&name));
        let text = format!("json_table({}, {path} columns ({})) {prefix}", doc?, columns?);
        Some(single(text, Source { schema: None, prefix, name, columns: names, invisible: Vec::new() }))
    }

    fn path(&self, path: Str) -> String {
        print::quote_string(&String::from_utf8_lossy(self.parsed.bytes(path)))
    }

    /// The columns of JSON_TABLE; their names go to `names`.
    fn json_columns(&mut self, columns: &[JsonColumn], names: &mut Vec<String>) -> Option<String> {
        let parsed = self.parsed;
        let mut texts = Vec::with_capacity(columns.len());
        for column in columns {
            texts.push(match column {
                JsonColumn::Ordinality(name) => {
                    names.push(parsed.name(*name).to_string());
                    format!("{} for ordinality", quote_name(parsed.name(*name)))
                }
                JsonColumn::Nested { path, columns } => {
                    let columns = self.json_columns(columns, names)?;
                    format!("nested path {} columns ({columns})", self.path(*path))
                }
                JsonColumn::Path { name, column_type, exists, path, on_empty, on_error } => {
                    names.push(parsed.name(*name).to_string());
                    let (name, ty) = (quote_name(parsed.name(*name)), self.tables.column_type(parsed, column_type)?);
                    let word = if *exists { "exists path" } else { "path" };
                    let mut text = format!("{name} {ty} {word} {}", self.path(*path));
                    for (response, of) in [(on_empty, "empty"), (on_error, "error")] {
                        match response {
                            JsonOnResponse::Implicit => {}
                            JsonOnResponse::Null => _ = write!(text, " null on {of}"),
                            JsonOnResponse::Error => _ = write!(text, " error on {of}"),
                            JsonOnResponse::Default(e) => {
                                let Expr::String { text: value, .. } = &parsed[*e] else { return None };
                                _ = write!(text, " default {} on {of}", self.path(*value));
                            }
                        }
                    }
                    text
                }
            });
        }
        Some(texts.join(", "))
    }

    fn join(
        &mut self,
        left: From,
        right: From,
        kind: JoinKind,
        natural: bool,
        constraint: &JoinConstraint,
    ) -> Option<From> {
        let parsed = self.parsed;
        let find = |star: &[(String, String)], name: &str| {
            star.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, text)| text.clone())
        };
        let shared: Vec<String> = match constraint {
            JoinConstraint::Using(names) => names.iter().map(|n| parsed.name(*n).to_string()).collect(),
            _ if natural => {
                let both = left.star.iter().filter(|(n, _)| find(&right.star, n).is_some());
                both.map(|(n, _)| n.clone()).collect()
            }
            _ => Vec::new(),
        };
        let mut sources = left.sources;
        sources.extend(right.sources);
        let mut pairs = Vec::new();
        let mut star = Vec::new();
        for name in &shared {
            let (a, b) = (find(&left.star, name)?, find(&right.star, name)?);
            pairs.push(format!("({a} = {b})"));
            star.push((name.clone(), if kind == JoinKind::Right { b } else { a }));
        }
        let is_shared = |name: &str| shared.iter().any(|s| s.eq_ignore_ascii_case(name));
        let (first, second) = match kind {
            JoinKind::Right if !shared.is_empty() => (right.star, left.star),
            _ => (left.star, right.star),
        };
        star.extend(first.into_iter().chain(second).filter(|(n, _)| !is_shared(n)));
        let condition = match constraint {
            JoinConstraint::On(id) => {
                self.scopes.push(Scope { sources: sources.clone(), ..Scope::default() });
                let text = self.expr(*id)?;
                self.scopes.pop();
                format!(" on({text})")
            }
            _ if pairs.len() == 1 => format!(" on({})", pairs[0]),
            _ if !pairs.is_empty() => format!(" on(({}))", pairs.join(" and ")),
            _ => String::new(),
        };
        let (a, word, b) = match kind {
            JoinKind::Inner => (left.text, "join", right.text),
            JoinKind::Straight => (left.text, "straight_join", right.text),
            JoinKind::Left => (left.text, "left join", right.text),
            JoinKind::Right => (right.text, "left join", left.text),
        };
        Some(From { text: format!("({a} {word} {b}{condition})"), sources, star })
    }
}

fn single(text: String, source: Source) -> From {
    let star = source.columns.iter().map(|c| (c.clone(), format!("{}.{}", source.prefix, quote_name(c)))).collect();
    From { text, sources: vec![source], star }
}
