//! EXPLAIN: the plan as MySQL's table, tree or JSON document. Built before the plan becomes operators; EXPLAIN ANALYZE wraps each
//! node of the tree in a counter ([`Plan::Counted`]) and fills its lines in when the statement has run.

use super::array::{part_name, shown_element, shown_elements};
use super::cost::plan_rows;
use super::node::{
    Access, Body, Group, IndexMerge, IndexRange, InsertSource, Intersection, Join, JoinKind, Line, Plan, QueryPlan,
    Scan, SetKind, SetOp, Sort, Window,
};
use crate::ColumnMeta;
use crate::slots::slot_names;
use expr::print::{Scopes, column_name, print};
use expr::{Expr, Node};
use std::fmt::Write as _;
use types::{CollationId, DataType, TypeKind, Value};

/// One line of the table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub id: Option<u64>,
    pub select_type: String,
    pub table: Option<String>,
    pub access: Option<&'static str>,
    pub possible_keys: Vec<String>,
    pub key: Option<String>,
    pub key_len: Option<String>,
    pub refs: Vec<String>,
    pub rows: Option<f64>,
    pub filtered: Option<f64>,
    pub extra: Vec<&'static str>,
    /// Of a semi-join: the table that is gone on with after a match.
    pub first_match: Option<String>,
    /// Which indexes are merged, and how.
    pub merged: Option<String>,
}

/// Makes EXPLAIN's rows of a plan.
pub struct Explainer<'q> {
    subqueries: &'q [QueryPlan],
    scopes: Scopes,
    rows: Vec<Row>,
    last_id: u64,
}

impl<'q> Explainer<'q> {
    /// Of a plan with these subqueries.
    pub fn new(subqueries: &'q [QueryPlan]) -> Explainer<'q> {
        Explainer { subqueries, scopes: Vec::new(), rows: Vec::new(), last_id: 0 }
    }

    /// The table of a statement.
    pub fn table(mut self, body: &Body) -> Vec<Row> {
        match body {
            Body::Query(q, _) | Body::OneRow(q) => {
                let simple = self.subqueries.iter().all(|q| q.absorbed) && is_simple(&q.plan);
                self.block(q, if simple { "SIMPLE" } else { "PRIMARY" });
            }
            Body::Insert(i) => {
                let verb = if i.replace { "REPLACE" } else { "INSERT" };
                let row = Row {
                    id: Some(1),
                    select_type: verb.to_string(),
                    table: Some(i.table.name.clone()),
                    access: Some("ALL"),
                    ..Row::default()
                };
                self.rows.push(row);
                if let InsertSource::Query(q) = &i.source {
                    self.block(q, "SIMPLE");
                }
            }
            Body::Update(u) => self.change("UPDATE", &u.target.plan, !u.target.order.is_empty()),
            Body::Delete(d) => self.change("DELETE", &d.target.plan, !d.target.order.is_empty()),
            Body::UpdateMany(u) => self.change("UPDATE", &u.plan, false),
            Body::DeleteMany(d) => self.change("DELETE", &d.plan, false),
            Body::Do(_) | Body::Values(_) | Body::Explain(_) => {}
        }
        for q in self.subqueries.iter().filter(|q| !q.absorbed) {
            // Columns of the queries around it show as values.
            self.block(
                q,
                match (q.correlated, q.varies) {
                    (true, _) => "DEPENDENT SUBQUERY",
                    (false, true) => "UNCACHEABLE SUBQUERY",
                    (false, false) => "SUBQUERY",
                },
            );
        }
        self.rows
    }

    fn change(&mut self, verb: &str, plan: &Plan, sorts: bool) {
        let first = self.rows.len();
        self.last_id += 1;
        let id = self.last_id;
        self.scopes.push(slot_names(plan));
        let mut pending = Vec::new();
        self.plan_rows(plan, id, verb, &mut pending);
        if let Some(row) = self.rows.get_mut(first) {
            // What is written is read by ranges, also of one key.
            if matches!(row.access, Some("const" | "ref" | "range")) && row.key.is_some() {
                row.access = Some("range");
                row.refs = vec!["const".to_string()];
                row.extra.retain(|e| *e != "Using index condition");
                note(row, "Using where");
            }
            if sorts {
                row.extra.push("Using filesort");
            }
        }
        self.pending(pending);
        self.scopes.pop();
    }

    /// A query block with the blocks in its FROM behind it.
    fn block(&mut self, q: &QueryPlan, select_type: &str) {
        let (union, outer) = union_of(&q.plan);
        if let Some(set) = union {
            self.set_operation(set, select_type, outer);
            return;
        }
        self.last_id += 1;
        let id = self.last_id;
        let first = self.rows.len();
        self.scopes.push(slot_names(&q.plan));
        let mut pending = Vec::new();
        self.plan_rows(&q.plan, id, select_type, &mut pending);
        if self.rows.len() == first {
            let extra = if matches!(q.plan, Plan::One) { "No tables used" } else { "Select tables optimized away" };
            let row = Row { id: Some(id), select_type: select_type.into(), extra: vec![extra], ..Row::default() };
            self.rows.push(row);
        }
        self.pending(pending);
        self.scopes.pop();
    }

    fn pending(&mut self, pending: Vec<(usize, &QueryPlan, bool)>) {
        for (row, q, lateral) in pending {
            self.rows[row].table = Some(format!("<derived{}>", self.last_id + 1));
            let (recursive, query) = match &q.plan {
                Plan::Recursive(r) => (Some(r), &r.seed),
                _ => (None, q),
            };
            self.block(query, if lateral { "DEPENDENT DERIVED" } else { "DERIVED" });
            for step in recursive.iter().flat_map(|r| &r.steps) {
                let first = self.rows.len();
                self.block(step, "UNION");
                if let Some(row) = self.rows.get_mut(first) {
                    row.extra.insert(0, "Recursive");
                }
            }
        }
    }

    fn set_operation(&mut self, set: &SetOp, select_type: &str, sorts: bool) {
        let from = self.last_id + 1;
        let mut distinct = false;
        self.operands(set, select_type, true, &mut distinct);
        if !distinct && !sorts {
            return;
        }
        let ids: Vec<String> = (from..=self.last_id).map(|i| i.to_string()).collect();
        self.last_id += 1;
        let (word, title) = match set.kind {
            SetKind::Union => ("union", "UNION RESULT"),
            SetKind::Intersect => ("intersect", "INTERSECT RESULT"),
            SetKind::Except => ("except", "EXCEPT RESULT"),
        };
        let mut extra = vec!["Using temporary"];
        if sorts {
            extra.push("Using filesort");
        }
        let table = Some(format!("<{word}{}>", ids.join(",")));
        let id = Some(self.last_id);
        self.rows.push(Row { id, select_type: title.into(), table, access: Some("ALL"), extra, ..Row::default() });
    }

    fn operands(&mut self, set: &SetOp, select_type: &str, first: bool, distinct: &mut bool) {
        *distinct |= !set.all;
        let title = match set.kind {
            SetKind::Union => "UNION",
            SetKind::Intersect => "INTERSECT",
            SetKind::Except => "EXCEPT",
        };
        match &set.left.plan {
            Plan::SetOp(inner) if inner.kind == set.kind => self.operands(inner, select_type, first, distinct),
            _ => self.block(&set.left, if first { select_type } else { title }),
        }
        self.block(&set.right, title);
    }

    /// Lines of the tables of a block. `pending`: (row, query) of derived tables.
    fn plan_rows<'p>(
        &mut self,
        plan: &'p Plan,
        id: u64,
        select_type: &str,
        pending: &mut Vec<(usize, &'p QueryPlan, bool)>,
    ) {
        let first = self.rows.len();
        let add = |row: Row, rows: &mut Vec<Row>| {
            rows.push(Row { id: Some(id), select_type: select_type.to_string(), ..row });
        };
        match plan {
            Plan::One | Plan::Values { .. } | Plan::Ends(_) => {}
            Plan::Counted { input, .. } => self.plan_rows(input, id, select_type, pending),
            Plan::Scan(s) => {
                let row = self.scan_row(s);
                add(row, &mut self.rows);
            }
            Plan::IndexMerge(m) => add(self.merge_row(m), &mut self.rows),
            Plan::Intersection(m) => add(intersection_row(m), &mut self.rows),
            Plan::Virtual { table, .. } => {
                let row = Row { table: Some(table.name.clone()), access: Some("ALL"), ..Row::default() };
                add(row, &mut self.rows);
            }
            Plan::Working { .. } => {
                let row = Row { table: Some("<working>".into()), access: Some("ALL"), ..Row::default() };
                add(Row { rows: Some(2.0), filtered: Some(1.0), ..row }, &mut self.rows);
            }
            Plan::JsonTable(t) => {
                let row = Row { table: Some(t.alias.clone()), access: Some("ALL"), rows: Some(2.0), ..Row::default() };
                let mut row = Row { filtered: Some(1.0), ..row };
                note(&mut row, "Table function: json_table");
                note(&mut row, "Using temporary");
                add(row, &mut self.rows);
            }
            Plan::Derived { query, lateral, .. } => {
                pending.push((first, query, *lateral));
                let rows = Some(plan_rows(&query.plan).max(2.0));
                let row = Row { access: Some("ALL"), rows, filtered: Some(1.0), ..Row::default() };
                add(row, &mut self.rows);
            }
            Plan::Recursive(_) | Plan::SetOp(_) => {}
            Plan::Join(j) => self.join_rows(j, id, select_type, pending),
            Plan::Filter { input, .. } => {
                self.plan_rows(input, id, select_type, pending);
                let table = matches!(
                    **input,
                    Plan::Scan(_)
                        | Plan::IndexMerge(_)
                        | Plan::Intersection(_)
                        | Plan::Join(_)
                        | Plan::Virtual { .. }
                        | Plan::Derived { .. }
                );
                if let (true, Some(row)) = (table, self.rows.last_mut()) {
                    note(row, "Using where");
                }
            }
            Plan::Group(g) => {
                self.plan_rows(&g.input, id, select_type, pending);
                self.extra(first, g.keys.is_empty() || g.in_order || hops(&g.input), "Using temporary");
            }
            Plan::Window(w) => {
                self.plan_rows(&w.input, id, select_type, pending);
                self.extra(first, w.partition.is_empty() && w.order.is_empty(), "Using filesort");
            }
            Plan::Sort(s) => {
                self.plan_rows(&s.input, id, select_type, pending);
                self.extra(first, false, "Using filesort");
            }
            Plan::Distinct { input, .. } => {
                self.plan_rows(input, id, select_type, pending);
                self.extra(first, hops(input), "Using temporary");
            }
            Plan::Limit { input, .. } | Plan::Computed { input, .. } => self.plan_rows(input, id, select_type, pending),
        }
    }

    fn join_rows<'p>(
        &mut self,
        j: &'p Join,
        id: u64,
        select_type: &str,
        pending: &mut Vec<(usize, &'p QueryPlan, bool)>,
    ) {
        let first = self.rows.len();
        self.plan_rows(&j.left, id, select_type, pending);
        let right = self.rows.len();
        self.plan_rows(&j.right, id, select_type, pending);
        if let Some(row) = self.rows.get_mut(right) {
            if j.condition.is_some() || j.kind == JoinKind::Anti {
                note(row, "Using where");
            }
            if j.kind == JoinKind::Anti {
                let at = row.extra.iter().position(|e| *e == "Using where").map_or(0, |at| at + 1);
                row.extra.insert(at, "Not exists");
            }
            match (&j.batch, &j.hash[..]) {
                (Some(_), _) => row.extra.push("Using join buffer (Batched Key Access)"),
                (None, []) => {}
                _ => row.extra.push("Using join buffer (hash join)"),
            }
        }
        if j.kind == JoinKind::Semi && right > first {
            let table = self.rows[right - 1].table.clone();
            if let Some(row) = self.rows.last_mut() {
                row.first_match = table;
            }
        }
    }

    fn extra(&mut self, row: usize, unless: bool, text: &'static str) {
        if let Some(row) = self.rows.get_mut(row)
            && !unless
            && !row.extra.contains(&text)
        {
            row.extra.push(text);
        }
    }

    fn scan_row(&self, s: &Scan) -> Row {
        let index = &s.table.indexes[s.access.index];
        let access = access_type(s);
        let mut row = Row {
            table: Some(s.alias.clone()),
            access: Some(access),
            possible_keys: s.possible.iter().map(|i| s.table.indexes[*i].name.clone()).collect(),
            rows: Some(s.rows.round().max(1.0)),
            filtered: Some(s.filtered),
            ..Row::default()
        };
        if access != "ALL" {
            row.key = Some(index.name.clone());
            let parts = match &s.access.loose {
                Some(l) => (l.parts + (l.min && !l.max) as usize).max(1),
                None if s.access.skip.is_some() => s.access.skip.as_ref().map_or(1, |skip| skip.parts + 1),
                None => s.access.ranges.iter().map(used_parts).max().unwrap_or(index.parts.len()),
            };
            row.key_len = Some(key_length(s, parts).to_string());
        }
        if let ("const" | "eq_ref" | "ref", [range]) = (access, &s.access.ranges[..]) {
            row.refs = range.equal.iter().map(|e| self.reference(&e[0])).collect();
        }
        if s.access.loose.is_some() {
            if !s.access.ranges.is_empty() {
                row.extra.push("Using where");
            }
            row.extra.push("Using index for group-by");
            return row;
        }
        if s.access.skip.is_some() {
            row.extra.push("Using index for skip scan");
            return row;
        }
        if access == "range" {
            let pushed = s.access.index != 0 && !s.covering && !s.is_multi_valued();
            row.extra.push(if pushed { "Using index condition" } else { "Using where" });
        }
        if s.access.backward {
            row.extra.push("Backward index scan");
        }
        if s.covering {
            row.extra.push("Using index");
        }
        if s.multi_range {
            row.extra.push("Using MRR");
        }
        row
    }

    fn merge_row(&self, m: &IndexMerge) -> Row {
        let keys: Vec<&str> = m.branches.iter().map(|(s, _)| &s.table.indexes[s.access.index].name[..]).collect();
        let length = |s: &Scan| key_length(s, s.access.ranges.iter().map(used_parts).max().unwrap_or(1)).to_string();
        let lengths: Vec<String> = m.branches.iter().map(|(s, _)| length(s)).collect();
        let ordered = m.branches.iter().all(|(s, _)| gives_clustered_order(s));
        let how = if ordered { "union" } else { "sort_union" };
        Row {
            table: Some(m.first().alias.clone()),
            access: Some("index_merge"),
            possible_keys: m.possible.iter().map(|i| m.first().table.indexes[*i].name.clone()).collect(),
            key: Some(keys.join(",")),
            key_len: Some(lengths.join(",")),
            rows: Some(m.rows.round().max(1.0)),
            filtered: Some(m.filtered),
            merged: Some(format!("Using {how}({})", keys.join(","))),
            ..Row::default()
        }
    }

    /// One of several indexes that find rows together.
    fn part_text(&self, s: &Scan) -> String {
        let ranges: Vec<String> = s.access.ranges.iter().map(|r| self.range_text(s, r)).collect();
        let key = &s.table.indexes[s.access.index].name;
        format!("Index range scan on {} using {key} over {}", s.alias, ranges.join(" OR "))
    }

    fn reference(&self, e: &Expr) -> String {
        let raw = e.raw();
        match raw {
            Node::Const(_) | Node::Param(_) | Node::Subquery { .. } => "const".to_string(),
            Node::Column { depth, slot, column } => match column_name(&self.scopes, *depth, *slot, *column) {
                Some((names, column)) if names.schema.is_empty() => format!("{}.{column}", names.alias),
                Some((names, column)) => format!("{}.{}.{column}", names.schema, names.alias),
                None => "func".to_string(),
            },
            _ if e.is_constant() => "const".to_string(),
            _ => "func".to_string(),
        }
    }

    // ---- the tree

    /// The lines of a statement's tree.
    pub fn tree(mut self, body: &Body) -> Vec<Line> {
        let mut out = Vec::new();
        let plain = |text: String, depth: usize| Line { depth, text, cost: 0.0, rows: None, counter: None };
        match body {
            Body::Query(q, _) | Body::OneRow(q) => self.query_lines(q, 0, &mut out),
            Body::Insert(i) => {
                let verb = if i.replace { "Replace into" } else { "Insert into" };
                out.push(plain(format!("{verb} {}", i.table.name), 0));
                match &i.source {
                    InsertSource::Query(q) => self.query_lines(q, 1, &mut out),
                    InsertSource::Rows(_) | InsertSource::File(_) => {
                        out.push(plain("Rows fetched before execution".into(), 1))
                    }
                }
            }
            Body::Update(u) => self.change_lines("Update", &[&u.target.table.name], &u.target.plan, &mut out),
            Body::Delete(d) => self.change_lines("Delete from", &[&d.target.table.name], &d.target.plan, &mut out),
            Body::UpdateMany(u) => {
                let names: Vec<&String> = u.targets.iter().map(|t| &t.table.name).collect();
                self.change_lines("Update", &names, &u.plan, &mut out);
            }
            Body::DeleteMany(d) => {
                let names: Vec<&String> = d.targets.iter().map(|(_, t, _)| &t.name).collect();
                self.change_lines("Delete from", &names, &d.plan, &mut out);
            }
            Body::Do(_) | Body::Values(_) | Body::Explain(_) => {}
        }
        for (i, q) in self.subqueries.iter().enumerate().filter(|(_, q)| !q.absorbed) {
            let how = match (q.correlated, q.varies) {
                (true, _) => "subquery; dependent",
                (false, true) => "subquery; uncacheable",
                (false, false) => "subquery; run only once",
            };
            out.push(plain(format!("Select #{} ({how})", i + 2), 0));
            self.query_lines(q, 1, &mut out);
        }
        out
    }

    fn change_lines(&mut self, verb: &str, names: &[&String], plan: &Plan, out: &mut Vec<Line>) {
        let names: Vec<&str> = names.iter().map(|n| &n[..]).collect();
        let text = format!("{verb} {}", names.join(", "));
        out.push(Line { depth: 0, text, cost: 0.0, rows: None, counter: None });
        self.scopes.push(slot_names(plan));
        self.lines(plan, 1, None, out);
        self.scopes.pop();
    }

    fn query_lines(&mut self, q: &QueryPlan, depth: usize, out: &mut Vec<Line>) {
        self.scopes.push(slot_names(&q.plan));
        self.lines(&q.plan, depth, None, out);
        self.scopes.pop();
    }

    fn text(&self, e: &Expr) -> String {
        print(e, &self.scopes)
    }

    fn lines(&mut self, plan: &Plan, depth: usize, counter: Option<usize>, out: &mut Vec<Line>) {
        let (cost, rows) = (plan_cost(plan), Some(plan_rows(plan)));
        let line = |text: String, depth: usize| Line { depth, text, cost, rows, counter };
        let bare = |text: &str, depth: usize| Line { depth, text: text.into(), cost, rows: None, counter: None };
        match plan {
            Plan::Counted { input, number } => self.lines(input, depth, Some(*number), out),
            Plan::One | Plan::Values { .. } | Plan::Ends(_) => {
                out.push(line("Rows fetched before execution".into(), depth));
            }
            Plan::Scan(s) => {
                let rows = Some(s.rows);
                out.push(Line { rows, ..line(self.scan_text(s), depth) });
            }
            Plan::IndexMerge(m) => {
                let ordered = m.branches.iter().all(|(s, _)| gives_clustered_order(s));
                let how = if ordered { "Deduplicate rows sorted by row ID" } else { "Sort-deduplicate by row ID" };
                out.push(Line { rows: Some(m.rows), ..line(how.into(), depth) });
                let scans = m.branches.iter().map(|(s, _)| s);
                out.extend(scans.map(|s| Line {
                    rows: Some(s.rows),
                    counter: None,
                    ..line(self.part_text(s), depth + 1)
                }));
            }
            Plan::Intersection(m) => {
                out.push(Line { rows: Some(m.rows), ..line("Intersect rows sorted by row ID".into(), depth) });
                let part = |s: &Scan| Line { rows: Some(s.rows), counter: None, ..line(self.part_text(s), depth + 1) };
                out.extend(m.scans.iter().map(part));
            }
            Plan::Virtual { table, .. } => out.push(line(format!("Table scan on {}", table.name), depth)),
            Plan::Working { .. } => out.push(line("Scan new records".into(), depth)),
            Plan::JsonTable(_) => out.push(line("Materialize table function".into(), depth)),
            Plan::Derived { query, lateral, alias, .. } => {
                out.push(line(format!("Table scan on {alias}"), depth));
                let how =
                    if *lateral { "Materialize (invalidate on row from an earlier table)" } else { "Materialize" };
                out.push(bare(how, depth + 1));
                self.query_lines(query, depth + 2, out);
            }
            Plan::Recursive(r) => {
                out.push(line("Materialize recursive CTE".into(), depth));
                self.query_lines(&r.seed, depth + 1, out);
                out.push(bare("Repeat until convergence", depth + 1));
                r.steps.iter().for_each(|s| self.query_lines(s, depth + 2, out));
            }
            Plan::Join(j) => self.join_lines(j, depth, line, out),
            Plan::Filter { input, condition } => {
                out.push(line(format!("Filter: {}", self.text(condition)), depth));
                self.lines(input, depth + 1, None, out);
            }
            Plan::Group(g) if g.is_of_ends() => self.lines(&g.input, depth, counter, out),
            Plan::Group(g) => self.group_lines(g, depth, line, out),
            Plan::Window(w) => self.window_lines(w, depth, line, out),
            Plan::Sort(s) => self.sort_lines(s, depth, line, out),
            Plan::Distinct { input, .. } => {
                out.push(line("Table scan on <temporary>".into(), depth));
                out.push(bare("Temporary table with deduplication", depth + 1));
                self.lines(input, depth + 2, None, out);
            }
            // MySQL keeps what it computes in the table that follows.
            Plan::Computed { input, .. } => self.lines(input, depth, None, out),
            Plan::Limit { input, count, offset, .. } => {
                let text = match offset {
                    Some(o) => format!("Limit/Offset: {}/{} row(s)", self.text(count), self.text(o)),
                    None => format!("Limit: {} row(s)", self.text(count)),
                };
                out.push(line(text, depth));
                self.lines(input, depth + 1, None, out);
            }
            Plan::SetOp(s) => {
                let text = set_operation_text(s.kind, s.all);
                out.push(line(text.into(), depth));
                self.query_lines(&s.left, depth + 1, out);
                self.query_lines(&s.right, depth + 1, out);
            }
        }
    }

    fn window_lines(&mut self, w: &Window, depth: usize, line: impl Fn(String, usize) -> Line, out: &mut Vec<Line>) {
        out.push(line("Window aggregate".into(), depth));
        let keys = w.partition.iter().map(|e| (e, false)).chain(w.order.iter().map(|k| (&k.expr, k.descending)));
        let keys: Vec<String> = keys.map(|(e, d)| self.text(e) + if d { " DESC" } else { "" }).collect();
        let inner = match keys.is_empty() {
            true => depth + 1,
            false => {
                let text = format!("Sort: {}", keys.join(", "));
                out.push(Line { rows: None, counter: None, ..line(text, depth + 1) });
                depth + 2
            }
        };
        self.lines(&w.input, inner, None, out);
    }

    fn sort_lines(&mut self, s: &Sort, depth: usize, line: impl Fn(String, usize) -> Line, out: &mut Vec<Line>) {
        let computed = |e: &'_ Expr| match &e.node {
            Node::Column { depth: 0, slot, column } if *slot as usize == s.slot => s.values[*column as usize].clone(),
            _ => e.clone(),
        };
        let key = |k: &super::node::SortKey| self.text(&computed(&k.expr)) + if k.descending { " DESC" } else { "" };
        let keys: Vec<String> = s.keys.iter().map(key).collect();
        let unique = if s.unique { " with duplicate removal" } else { "" };
        let mut text = format!("Sort{unique}: {}", keys.join(", "));
        if let Some((count, None)) = &s.limit {
            let _ = write!(text, ", limit input to {} row(s) per chunk", self.text(count));
        }
        out.push(line(text, depth));
        self.lines(&s.input, depth + 1, None, out);
    }

    fn join_lines(&mut self, j: &Join, depth: usize, line: impl Fn(String, usize) -> Line, out: &mut Vec<Line>) {
        let kind = match j.kind {
            JoinKind::Inner => "inner join",
            JoinKind::LeftOuter => "left join",
            JoinKind::Semi => "semijoin (FirstMatch)",
            JoinKind::Anti => "antijoin",
        };
        if j.hash.is_empty() {
            if j.batch.is_some() {
                let kind = kind.split(" (").next().expect("a word at least");
                let bare = |text: String, depth: usize| Line { rows: None, ..line(text, depth) };
                out.push(bare(format!("Batched key access {kind}"), depth));
                out.push(Line { counter: None, ..bare("Batch input rows".into(), depth + 1) });
                self.lines(&j.left, depth + 2, None, out);
            } else {
                out.push(line(format!("Nested loop {kind}"), depth));
                self.lines(&j.left, depth + 1, None, out);
            }
            let mut inner = depth + 1;
            if let Some(condition) = &j.condition {
                let text = format!("Filter: {}", self.text(condition));
                out.push(Line { counter: None, rows: None, ..line(text, inner) });
                inner += 1;
            }
            let first = out.len();
            self.lines(&j.right, inner, None, out);
            if let (Some(_), Some(lookup)) = (&j.batch, out[first..].last_mut()) {
                let at = lookup.text.find("ndex lookup on ").expect("a lookup is batched");
                lookup.text = format!("Multi-range i{}", &lookup.text[at..]);
            }
            return;
        }
        let pairs: Vec<String> = j.hash.iter().map(|(a, b)| format!("({} = {})", self.text(b), self.text(a))).collect();
        let kind = match j.kind {
            JoinKind::Inner => "Inner hash join",
            JoinKind::LeftOuter => "Left hash join",
            JoinKind::Semi => "Hash semijoin (FirstMatch)",
            JoinKind::Anti => "Hash antijoin",
        };
        out.push(line(format!("{kind} {}", pairs.join(", ")), depth));
        self.lines(&j.left, depth + 1, None, out);
        out.push(Line { counter: None, rows: None, ..line("Hash".into(), depth + 1) });
        self.lines(&j.right, depth + 2, None, out);
    }

    fn group_lines(&mut self, g: &Group, depth: usize, line: impl Fn(String, usize) -> Line, out: &mut Vec<Line>) {
        if g.implicit || g.in_order {
            let call = |a: &expr::call::AggregateCall| {
                let args: Vec<String> = a.args.iter().map(|e| self.text(e)).collect();
                let args = if args.is_empty() { "0".to_string() } else { args.join(",") };
                format!("{}({args})", format!("{:?}", a.kind).to_lowercase())
            };
            let calls: Vec<String> = g.aggregates.iter().map(call).collect();
            let what = match (g.implicit, calls.is_empty()) {
                (true, _) => "Aggregate: ",
                (false, false) => "Group aggregate: ",
                (false, true) => "Group (no aggregates)",
            };
            out.push(line(what.to_string() + &calls.join(", "), depth));
            self.lines(&g.input, depth + 1, None, out);
            return;
        }
        out.push(line("Table scan on <temporary>".into(), depth));
        let how =
            if g.rollup { "Aggregate using temporary table with rollup" } else { "Aggregate using temporary table" };
        out.push(Line { counter: None, rows: None, ..line(how.into(), depth + 1) });
        self.lines(&g.input, depth + 2, None, out);
    }

    fn scan_text(&self, s: &Scan) -> String {
        let index = &s.table.indexes[s.access.index];
        let (alias, key) = (&s.alias, &index.name);
        let reverse = if s.access.backward { " (reverse)" } else { "" };
        let covering = if s.covering { "Covering index" } else { "Index" };
        match access_type(s) {
            _ if s.access.loose.is_some() => {
                let ranges: Vec<String> = s.access.ranges.iter().map(|r| self.range_text(s, r)).collect();
                let over = if ranges.is_empty() { String::new() } else { format!(" over {}", ranges.join(" OR ")) };
                format!("Covering index skip scan for grouping on {alias} using {key}{over}")
            }
            _ if s.access.skip.is_some() => {
                let skip = s.access.skip.as_ref().expect("looked at");
                let ranges = s.access.ranges.iter().map(|r| self.range_text(s, r));
                let part = self.bound_text(s, skip.parts, &skip.bound);
                let over: Vec<String> = ranges.chain([part]).collect();
                format!("Covering index skip scan on {alias} using {key} over {}", over.join(", "))
            }
            "ALL" => format!("Table scan on {alias}"),
            "index" => format!("{covering} scan on {alias} using {key}{reverse}"),
            kind @ ("const" | "eq_ref" | "ref") => {
                let single = match (kind, s.covering) {
                    ("ref", false) => "Index lookup",
                    ("ref", true) => "Covering index lookup",
                    (_, false) => "Single-row index lookup",
                    (_, true) => "Single-row covering index lookup",
                };
                let range = &s.access.ranges[0];
                let part = |(i, e): (usize, &Vec<Expr>)| {
                    let value = shown_element(s, i, &e[0]).unwrap_or_else(|| self.text(&e[0]));
                    format!("{} = {value}", part_name(s, i))
                };
                let parts: Vec<String> = range.equal.iter().enumerate().map(part).collect();
                format!("{single} on {alias} using {key} ({}){reverse}", parts.join(", "))
            }
            _ => {
                let ranges: Vec<String> = s.access.ranges.iter().map(|r| self.range_text(s, r)).collect();
                let how = if s.multi_range { "range scan (Multi-Range Read)" } else { "range scan" };
                format!("{covering} {how} on {alias} using {key} over {}{reverse}", ranges.join(" OR "))
            }
        }
    }

    fn range_text(&self, s: &Scan, r: &IndexRange) -> String {
        let name = |i: usize| part_name(s, i);
        let mut parts: Vec<String> = Vec::new();
        for (i, e) in r.equal.iter().enumerate() {
            let any = shown_elements(s, r, i, &|e| self.text(e));
            let any = any.unwrap_or_else(|| e.iter().map(|e| format!("({} = {})", name(i), self.text(e))).collect());
            parts.push(any.join(" OR "));
        }
        if r.bounded {
            parts.push(format!("({})", self.bound_text(s, r.equal.len(), r)));
        }
        parts.join(" AND ")
    }

    /// The bounds of one part of a scan's index.
    fn bound_text(&self, s: &Scan, part: usize, r: &IndexRange) -> String {
        let mut text = part_name(s, part).to_string();
        if let Some((e, inclusive)) = &r.lower {
            text = format!("{} {} {text}", self.text(e), if *inclusive { "<=" } else { "<" });
        }
        if let Some((e, inclusive)) = &r.upper {
            let _ = write!(text, " {} {}", if *inclusive { "<=" } else { "<" }, self.text(e));
        }
        match (&r.pattern, r.lower.is_some() || r.upper.is_some()) {
            (Some((e, _)), _) => _ = write!(text, " like {}", self.text(e)),
            (None, true) => {}
            (None, false) => text = format!("NULL < {text}"),
        }
        text
    }
}

fn note(row: &mut Row, text: &'static str) {
    if row.extra.contains(&text) {
        return;
    }
    let at = row.extra.iter().position(|e| *e != "Using index condition").unwrap_or(row.extra.len());
    row.extra.insert(at, text);
}

fn intersection_row(m: &Intersection) -> Row {
    let first = &m.scans[0];
    let keys: Vec<&str> = m.scans.iter().map(|s| &first.table.indexes[s.access.index].name[..]).collect();
    let lengths: Vec<String> =
        m.scans.iter().map(|s| key_length(s, used_parts(&s.access.ranges[0])).to_string()).collect();
    Row {
        table: Some(first.alias.clone()),
        access: Some("index_merge"),
        possible_keys: m.possible.iter().map(|i| first.table.indexes[*i].name.clone()).collect(),
        key: Some(keys.join(",")),
        key_len: Some(lengths.join(",")),
        rows: Some(m.rows.round().max(1.0)),
        filtered: Some(m.filtered),
        merged: Some(format!("Using intersect({})", keys.join(","))),
        ..Row::default()
    }
}

fn is_simple(plan: &Plan) -> bool {
    match plan {
        Plan::Derived { .. } | Plan::SetOp(_) | Plan::Recursive(_) => false,
        Plan::Join(j) => is_simple(&j.left) && is_simple(&j.right),
        Plan::Filter { input, .. } | Plan::Distinct { input, .. } | Plan::Computed { input, .. } => is_simple(input),
        Plan::Limit { input, .. } | Plan::Counted { input, .. } => is_simple(input),
        Plan::Group(g) => is_simple(&g.input),
        Plan::Window(w) => is_simple(&w.input),
        Plan::Sort(s) => is_simple(&s.input),
        Plan::One | Plan::Values { .. } | Plan::Scan(_) | Plan::Virtual { .. } | Plan::Working { .. } => true,
        Plan::JsonTable(_) | Plan::IndexMerge(_) | Plan::Intersection(_) | Plan::Ends(_) => true,
    }
}

/// The set operation that a block is, and whether its result is sorted.
fn union_of(plan: &Plan) -> (Option<&SetOp>, bool) {
    match plan {
        Plan::SetOp(s) => (Some(s), false),
        Plan::Sort(s) => (union_of(&s.input).0, true),
        Plan::Limit { input, .. } | Plan::Counted { input, .. } => union_of(input),
        _ => (None, false),
    }
}

fn used_parts(r: &IndexRange) -> usize {
    r.equal.len() + r.bounded as usize
}

/// Does the scan give rows in the order of the clustered index? All of its index's own parts are one value then.
fn gives_clustered_order(s: &Scan) -> bool {
    let parts = s.table.indexes[s.access.index].parts.len();
    matches!(&s.access.ranges[..], [r] if r.equal.len() == parts && r.is_one_key())
}

/// The `type` column.
pub(super) fn access_type(s: &Scan) -> &'static str {
    let index = &s.table.indexes[s.access.index];
    let Access { ranges, index: at, ordered, .. } = &s.access;
    match &ranges[..] {
        _ if s.access.loose.is_some() || s.access.skip.is_some() => "range",
        [] if *at != 0 || (*ordered && index.primary) => "index",
        [] => "ALL",
        [r] if !r.bounded && r.is_one_key() => {
            let whole = index.unique && r.equal.len() == index.parts.len();
            let constant = r.equal.iter().all(|e| e[0].is_constant() || matches!(e[0].node, Node::Subquery { .. }));
            match (whole && !r.nulls.contains(&true), constant) {
                (true, true) => "const",
                (true, false) => "eq_ref",
                _ => "ref",
            }
        }
        _ => "range",
    }
}

/// Are groups hopped over by a loose scan below?
fn hops(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(s) => s.access.loose.is_some(),
        Plan::Filter { input, .. } | Plan::Counted { input, .. } => hops(input),
        _ => false,
    }
}

/// Bytes of the first `parts` parts of the index as MySQL counts them.
fn key_length(s: &Scan, parts: usize) -> usize {
    let index = &s.table.indexes[s.access.index];
    index.parts[..parts].iter().map(|p| part_length(&p.key.data_type, p.key.prefix as usize)).sum()
}

fn part_length(ty: &DataType, prefix: usize) -> usize {
    use TypeKind as K;
    let fraction = (ty.decimals as usize).min(6).div_ceil(2);
    let length = if prefix > 0 { prefix } else { ty.length as usize };
    let bytes = match ty.kind {
        K::TinyInt | K::Year => 1,
        K::SmallInt => 2,
        K::MediumInt | K::Date => 3,
        K::Int | K::Float => 4,
        K::BigInt | K::Double => 8,
        K::Timestamp => 4 + fraction,
        K::DateTime => 5 + fraction,
        K::Time => 3 + fraction,
        K::Enum => 2,
        K::Set => 8,
        K::Bit => (ty.length as usize).div_ceil(8),
        K::Decimal => {
            let digits = |n: usize| n / 9 * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][n % 9];
            digits(ty.length as usize - ty.decimals as usize) + digits(ty.decimals as usize)
        }
        K::Char | K::Binary => length * ty.collation.charset().mbmaxlen() as usize,
        _ => length * ty.collation.charset().mbmaxlen() as usize + 2,
    };
    bytes + ty.nullable as usize
}

/// What running a plan costs, in the unit that MySQL prints.
fn plan_cost(plan: &Plan) -> f64 {
    const ROW: f64 = 0.1;
    match plan {
        Plan::One | Plan::Values { .. } | Plan::Working { .. } | Plan::Ends(_) => 0.0,
        Plan::Scan(s) if s.access.ranges.is_empty() => s.rows * ROW + 0.25,
        Plan::Scan(s) => s.rows * ROW * if s.access.index == 0 || s.covering { 1.0 } else { 3.5 } + 0.25,
        Plan::IndexMerge(m) => m.rows * ROW * 4.5 + 0.25,
        Plan::Intersection(m) => m.scans.iter().map(|s| s.rows * ROW).sum::<f64>() + m.rows * ROW * 3.5,
        Plan::Virtual { .. } | Plan::JsonTable(_) => plan_rows(plan) * ROW,
        Plan::Recursive(r) => plan_cost(&r.seed.plan) + r.steps.iter().map(|s| plan_cost(&s.plan)).sum::<f64>(),
        Plan::Derived { query, .. } => plan_cost(&query.plan) + plan_rows(plan) * ROW,
        Plan::Join(j) if j.hash.is_empty() => {
            plan_cost(&j.left) + plan_rows(&j.left) * plan_cost(&j.right) + plan_rows(plan) * ROW
        }
        Plan::Join(j) => plan_cost(&j.left) + plan_cost(&j.right) + plan_rows(plan) * ROW,
        Plan::Filter { input, .. } | Plan::Limit { input, .. } | Plan::Counted { input, .. } => plan_cost(input),
        Plan::Computed { input, .. } => plan_cost(input),
        Plan::Group(g) if g.is_of_ends() => 0.0,
        Plan::Group(g) => plan_cost(&g.input) + plan_rows(&g.input) * ROW,
        Plan::Window(w) => plan_cost(&w.input) + plan_rows(&w.input) * ROW,
        Plan::Sort(s) => plan_cost(&s.input) + plan_rows(&s.input) * ROW,
        Plan::Distinct { input, .. } => plan_cost(input) + plan_rows(input) * ROW,
        Plan::SetOp(s) => plan_cost(&s.left.plan) + plan_cost(&s.right.plan),
    }
}

/// Three digits, as MySQL prints estimates.
pub fn figure(v: f64) -> String {
    if v == 0.0 {
        return "0".to_string();
    }
    if v.abs() >= 100.0 {
        return format!("{}", v.round());
    }
    let digits = 2 - v.abs().log10().floor() as i32;
    let text = format!("{v:.*}", digits.clamp(0, 9) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// The tree as text. `actual`: of each counter the milliseconds to the first and the last row, rows, and loops.
pub fn tree_text(lines: &[Line], actual: Option<&[(f64, f64, f64, u64)]>) -> String {
    let mut out = String::new();
    for l in lines {
        let _ = write!(out, "{:1$}-> {2}", "", l.depth * 4, l.text);
        if let Some(rows) = l.rows {
            let _ = write!(out, "  (cost={} rows={})", figure(l.cost), figure(rows));
        }
        if let (Some(actual), Some(counter)) = (actual, l.counter) {
            match actual.get(counter) {
                Some((first, last, rows, loops)) if *loops > 0 => {
                    let _ = write!(
                        out,
                        " (actual time={}..{} rows={} loops={loops})",
                        figure(*first),
                        figure(*last),
                        figure(*rows)
                    );
                }
                _ => out.push_str(" (never executed)"),
            }
        }
        out.push('\n');
    }
    out
}

/// Result columns of the table form.
pub fn table_columns() -> Vec<ColumnMeta> {
    let text = |n| DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI);
    let number = |length| DataType { length, ..DataType::new(TypeKind::BigInt).unsigned() };
    [
        ("id", number(4).not_null()),
        ("select_type", text(19).not_null()),
        ("table", text(64)),
        ("partitions", DataType::string(TypeKind::MediumText, 6_316_032, CollationId::UTF8MB4_0900_AI_CI)),
        ("type", text(10)),
        ("possible_keys", text(4096)),
        ("key", text(64)),
        ("key_len", text(4096)),
        ("ref", text(1024)),
        ("rows", number(11)),
        ("filtered", DataType { length: 4, decimals: 2, ..DataType::new(TypeKind::Double) }),
        ("Extra", text(255).not_null()),
    ]
    .into_iter()
    .map(|(name, data_type)| super::meta::plain_meta(name, &Expr { ty: data_type, ..Expr::null() }))
    .collect()
}

/// The one column of the other forms.
pub fn text_columns() -> Vec<ColumnMeta> {
    let ty = DataType::string(TypeKind::VarChar, 16_383, CollationId::UTF8MB4_0900_AI_CI).not_null();
    vec![super::meta::plain_meta("EXPLAIN", &Expr { ty, ..Expr::null() })]
}

impl Row {
    fn extra_text(&self) -> Option<String> {
        let extra = self.extra.iter().map(|e| e.to_string());
        let mut words: Vec<String> = self.merged.iter().cloned().chain(extra).collect();
        if let Some(table) = &self.first_match {
            let at = words.iter().position(|e| e.starts_with("Using join buffer")).unwrap_or(words.len());
            words.insert(at, format!("FirstMatch({table})"));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// The row as EXPLAIN's columns.
    pub fn values(&self) -> Vec<Value<'static>> {
        let text = |s: Option<String>| s.map_or(Value::Null, |s| Value::Bytes(s.into_bytes().into()));
        let list = |l: &[String]| (!l.is_empty()).then(|| l.join(","));
        vec![
            self.id.map_or(Value::Null, Value::UInt),
            text(Some(self.select_type.clone())),
            text(self.table.clone()),
            Value::Null,
            text(self.access.map(str::to_string)),
            text(list(&self.possible_keys)),
            text(self.key.clone()),
            text(self.key_len.clone()),
            text(list(&self.refs)),
            self.rows.map_or(Value::Null, |r| Value::UInt(r as u64)),
            self.filtered.map_or(Value::Null, |f| Value::Double((f as f32 as f64 * 10_000.0).round() / 100.0)),
            text(self.extra_text()),
        ]
    }
}

fn set_operation_text(kind: SetKind, all: bool) -> &'static str {
    match (kind, all) {
        (SetKind::Union, true) => "Append",
        (SetKind::Union, false) => "Union materialize with deduplication",
        (SetKind::Intersect, true) => "Intersect all materialize",
        (SetKind::Intersect, false) => "Intersect materialize with deduplication",
        (SetKind::Except, true) => "Except all materialize",
        (SetKind::Except, false) => "Except materialize with deduplication",
    }
}
