//! `optimizer_trace`: what the planner has looked at, as a document with the names of MySQL's steps and this planner's costs.
//!
//! While it is off a planner has no [`Trace`], and each place that could tell something is a test of that.

use crate::Planner;
use crate::access::Choice;
use crate::cost::Considered;
use crate::node::{Plan, QueryPlan, Scan};
use crate::slots::slot_names;
use expr::Expr;
use expr::print::{Scopes, print};
use expr::row::SlotNames;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write;

/// A value of the document.
pub enum Json {
    Object(Vec<(&'static str, Json)>),
    Array(Vec<Json>),
    Text(String),
    Number(f64),
    Bool(bool),
}

/// What is told, and how: `optimizer_trace_features`, `optimizer_trace`, `end_markers_in_json`.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub greedy_search: bool,
    pub range_optimizer: bool,
    pub one_line: bool,
    pub end_markers: bool,
    /// The longest document.
    pub bytes_max: usize,
}

/// A document that is finished.
#[derive(Clone, Debug)]
pub struct Traced {
    pub query: String,
    pub document: String,
    /// Bytes that it would have beyond the bound.
    pub missing: u64,
}

/// A SELECT while it is planned.
struct Select {
    number: u64,
    is_prepared: bool,
    preparation: Vec<Json>,
    optimization: Vec<Json>,
    estimated: Vec<Json>,
    /// Tables that have an entry there.
    seen: HashSet<usize>,
    considered: Vec<Json>,
}

/// The trace of a statement that is being planned.
pub struct Trace {
    wanted: Wanted,
    steps: Vec<Json>,
    /// Innermost last.
    selects: Vec<Select>,
    count: u64,
    /// Entries of searches take so much about, and of those left out.
    bytes: usize,
    left_out: usize,
    /// The statement reads traces: it has none.
    reads_traces: bool,
}

pub type Tracing = Option<Box<RefCell<Trace>>>;

fn text(s: impl Into<String>) -> Json {
    Json::Text(s.into())
}

fn quoted(name: &str) -> Json {
    text(sql::print::quote_name(name))
}

impl Trace {
    fn new(wanted: Wanted) -> Trace {
        Trace { wanted, steps: Vec::new(), selects: Vec::new(), count: 0, bytes: 0, left_out: 0, reads_traces: false }
    }

    /// Where steps of a select go that is over: into the one around, or the statement.
    fn around(&mut self, is_preparation: bool) -> &mut Vec<Json> {
        match self.selects.last_mut() {
            Some(select) if is_preparation && !select.is_prepared => &mut select.preparation,
            Some(select) => &mut select.optimization,
            None => &mut self.steps,
        }
    }

    /// Is there room for another entry of a search?
    fn takes(&mut self, entry: &Json) -> bool {
        let bytes = entry.rendered(Wanted { one_line: true, ..self.wanted }).len();
        match self.bytes + bytes <= self.wanted.bytes_max {
            true => self.bytes += bytes,
            false => self.left_out += bytes,
        }
        self.left_out == 0
    }

    fn finish(self, query: String) -> Traced {
        let steps = Json::Object(vec![("steps", Json::Array(self.steps))]);
        let mut document = steps.rendered(self.wanted);
        let mut missing = self.left_out;
        // The query takes its part of the room, and comes first.
        let mut room = self.wanted.bytes_max;
        let mut query = query;
        for part in [&mut query, &mut document] {
            let end = (0..=room.min(part.len())).rev().find(|at| part.is_char_boundary(*at)).unwrap_or(0);
            missing += part.len() - end;
            room -= end;
            part.truncate(end);
        }
        Traced { query, document, missing: missing as u64 }
    }
}

impl Json {
    fn rendered(&self, wanted: Wanted) -> String {
        let mut out = String::new();
        self.write(wanted, 0, None, &mut out);
        out
    }

    fn write(&self, wanted: Wanted, depth: usize, key: Option<&str>, out: &mut String) {
        let line = |out: &mut String, depth: usize| match wanted.one_line {
            true => {}
            false => {
                out.push('\n');
                (0..depth).for_each(|_| out.push_str("  "));
            }
        };
        let close = |out: &mut String, bracket: char| {
            line(out, depth);
            out.push(bracket);
            if let Some(key) = key.filter(|_| wanted.end_markers) {
                let _ = write!(out, " /* {key} */");
            }
        };
        let comma = |out: &mut String, at: usize| {
            if at > 0 {
                out.push(',');
            }
        };
        match self {
            Json::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    comma(out, at);
                    line(out, depth + 1);
                    let _ = write!(out, "\"{name}\": ");
                    value.write(wanted, depth + 1, Some(name), out);
                }
                close(out, '}');
            }
            Json::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    comma(out, at);
                    line(out, depth + 1);
                    value.write(wanted, depth + 1, None, out);
                }
                close(out, ']');
            }
            Json::Text(s) => {
                let escaped = json_text(s);
                out.push_str(&escaped);
            }
            Json::Number(n) => out.push_str(&number(*n)),
            Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        }
    }
}

/// A text in the quotes of JSON.
fn json_text(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Six digits that count, as MySQL prints costs.
fn number(n: f64) -> String {
    if !n.is_finite() {
        return "1.79769e308".to_string();
    }
    let digits = if n == 0.0 { 0 } else { n.abs().log10().floor() as i32 };
    if (-5..6).contains(&digits) {
        let decimals = (5 - digits).max(0) as usize;
        let plain = format!("{n:.decimals$}");
        return if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.').to_string() } else { plain };
    }
    let (mantissa, exponent) = (n / 10f64.powi(digits), digits);
    let mantissa = format!("{mantissa:.5}");
    format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

impl Planner<'_> {
    /// The statement is traced if the session wants that.
    pub fn begin_trace(&mut self) {
        self.trace = self.env.wants_trace().map(|wanted| Box::new(RefCell::new(Trace::new(wanted))));
    }

    /// The statement is planned, or cannot be: its trace goes to the session.
    pub fn end_trace(&mut self) {
        let Some(trace) = self.trace.take() else { return };
        let trace = trace.into_inner();
        if !trace.steps.is_empty() && !trace.reads_traces {
            let query = String::from_utf8_lossy(self.parsed.source()).into_owned();
            self.env.keep_trace(trace.finish(query));
        }
    }

    #[inline]
    pub(crate) fn is_traced(&self) -> bool {
        self.trace.is_some()
    }

    /// What is traced only while somebody wants it.
    #[inline]
    fn traced(&self, tell: impl FnOnce(&Self, &mut Trace)) {
        if let Some(trace) = &self.trace {
            tell(self, &mut trace.borrow_mut());
        }
    }

    /// The statement reads INFORMATION_SCHEMA.OPTIMIZER_TRACE.
    pub(crate) fn trace_reads_traces(&self) {
        self.traced(|_, trace| trace.reads_traces = true);
    }

    /// A SELECT begins.
    pub(crate) fn trace_select(&self) {
        self.traced(|_, trace| {
            trace.count += 1;
            trace.selects.push(Select {
                number: trace.count,
                is_prepared: false,
                preparation: Vec::new(),
                optimization: Vec::new(),
                estimated: Vec::new(),
                seen: HashSet::new(),
                considered: Vec::new(),
            });
        });
    }

    /// Its names are resolved: `select` makes its text.
    pub(crate) fn trace_prepared(&self, select: impl FnOnce(&dyn Fn(&Expr) -> String) -> String) {
        self.traced(|planner, trace| {
            let names = planner.names_in_scope();
            let Some(own) = trace.selects.last_mut() else { return };
            own.is_prepared = true;
            let mut steps = std::mem::take(&mut own.preparation);
            let number = own.number;
            let expanded = format!("/* select#{number} */ {}", select(&|e| print(e, &names)));
            steps.push(Json::Object(vec![("expanded_query", text(expanded))]));
            let preparation = vec![("select#", Json::Number(number as f64)), ("steps", Json::Array(steps))];
            let step = Json::Object(vec![("join_preparation", Json::Object(preparation))]);
            // Its own steps stay open: they go beside those of selects inside it.
            let own = trace.selects.pop().expect("looked at above");
            trace.around(true).push(step);
            trace.selects.push(own);
        });
    }

    /// The conditions and tables that its plan is chosen by.
    pub(crate) fn trace_conditions(&self, conditions: &[Expr]) {
        self.traced(|planner, trace| {
            let names = planner.names_in_scope();
            let Some(own) = trace.selects.last_mut() else { return };
            if !conditions.is_empty() {
                let list: Vec<String> = conditions.iter().map(|e| print(e, &names)).collect();
                let all = if list.len() == 1 { list.concat() } else { format!("({})", list.join(" and ")) };
                own.optimization.push(Json::Object(vec![(
                    "condition_processing",
                    Json::Object(vec![
                        ("condition", text("WHERE")),
                        ("original_condition", text(all.clone())),
                        ("steps", Json::Array(Vec::new())),
                    ]),
                )]));
            }
            let tables = planner.current_block().sources.iter().filter(|s| s.stands_for.is_none());
            let dependency = |source: &crate::names::Source| {
                Json::Object(vec![
                    ("table", quoted(&source.name)),
                    ("map_bit", Json::Number(source.slot as f64)),
                    ("depends_on_map_bits", Json::Array(Vec::new())),
                ])
            };
            let list: Vec<Json> = tables.map(dependency).collect();
            own.optimization.push(Json::Object(vec![("table_dependencies", Json::Array(list))]));
        });
    }

    /// The ways to a table's rows that were compared, for each index: its name, rows and cost; `None`: dearer than another.
    pub(crate) fn trace_access(
        &self,
        source: usize,
        scanned: f64,
        ways: &[(String, Option<(f64, f64)>)],
        choice: &Choice,
    ) {
        self.traced(|planner, trace| {
            let ranges = trace.wanted.range_optimizer;
            let Some(own) = trace.selects.last_mut() else { return };
            if !own.seen.insert(source) {
                return;
            }
            let source = &planner.current_block().sources[source];
            let Some(table) = &source.table else { return };
            let chosen = &table.indexes[choice.access.index].name;
            let way = |(name, found): &(String, Option<(f64, f64)>)| {
                let mut members = vec![("index", text(name.clone()))];
                if let Some((rows, cost)) = found {
                    members.extend([("rows", Json::Number(*rows)), ("cost", Json::Number(*cost))]);
                }
                let is_chosen = name == chosen;
                members.push(("chosen", Json::Bool(is_chosen)));
                if !is_chosen {
                    members.push(("cause", text("cost")));
                }
                Json::Object(members)
            };
            let analysis = match ranges {
                false => text("..."),
                true => Json::Object(vec![
                    (
                        "table_scan",
                        Json::Object(vec![("rows", Json::Number(scanned)), ("cost", Json::Number(scanned))]),
                    ),
                    (
                        "analyzing_range_alternatives",
                        Json::Object(vec![("range_scan_alternatives", Json::Array(ways.iter().map(way).collect()))]),
                    ),
                    (
                        "chosen_range_access_summary",
                        Json::Object(vec![
                            ("rows_for_plan", Json::Number(choice.rows)),
                            ("cost_for_plan", Json::Number(choice.cost)),
                            ("chosen", Json::Bool(!choice.access.ranges.is_empty())),
                        ]),
                    ),
                ]),
            };
            own.estimated.push(Json::Object(vec![("table", quoted(&source.name)), ("range_analysis", analysis)]));
        });
    }

    /// A table was looked at as the next one of a join.
    pub(crate) fn trace_considered(&self, considered: &Considered) {
        self.traced(|planner, trace| {
            if !trace.wanted.greedy_search {
                return;
            }
            let sources = &planner.current_block().sources;
            let named = |slots: u64| {
                let of = sources.iter().filter(move |s| s.stands_for.is_none() && slots & 1 << s.slot != 0);
                of.map(|s| sql::print::quote_name(&s.name)).collect::<Vec<_>>()
            };
            let path = Json::Object(vec![
                ("access_type", text(considered.access)),
                ("resulting_rows", Json::Number(considered.rows)),
                ("cost", Json::Number(considered.cost)),
                ("chosen", Json::Bool(true)),
            ]);
            let paths = Json::Object(vec![("considered_access_paths", Json::Array(vec![path]))]);
            let mut members = vec![
                ("plan_prefix", Json::Array(named(considered.known).into_iter().map(text).collect())),
                ("table", text(named(considered.own).join(", "))),
                ("best_access_path", paths),
                ("rows_for_plan", Json::Number(considered.rows)),
                ("cost_for_plan", Json::Number(considered.total)),
                ("chosen", Json::Bool(considered.chosen)),
            ];
            if !considered.chosen {
                members.push(("pruned_by_cost", Json::Bool(true)));
            }
            let entry = Json::Object(members);
            if trace.takes(&entry)
                && let Some(own) = trace.selects.last_mut()
            {
                own.considered.push(entry);
            }
        });
    }

    /// A table that is read alone, or first of all, is read so.
    pub(crate) fn trace_alone(&self, source: usize, choice: &Choice) {
        let is_alone = self
            .trace
            .as_ref()
            .is_some_and(|trace| trace.borrow().selects.last().is_some_and(|select| select.considered.is_empty()));
        if is_alone {
            let own = 1 << self.current_block().sources[source].slot;
            let access = if choice.access.ranges.is_empty() { "scan" } else { "range" };
            let (rows, cost) = (choice.rows, choice.cost);
            self.trace_considered(&Considered { own, known: 0, access, rows, cost, total: cost, chosen: true });
        }
    }

    /// A SELECT is planned, or could not be.
    pub(crate) fn trace_planned(&self, plan: Option<&QueryPlan>) {
        self.traced(|_, trace| {
            let greedy = trace.wanted.greedy_search;
            let Some(mut own) = trace.selects.pop() else { return };
            let mut steps = std::mem::take(&mut own.optimization);
            let mut step = |name: &'static str, list: Vec<Json>| {
                if !list.is_empty() {
                    steps.push(Json::Object(vec![(name, Json::Array(list))]));
                }
            };
            step("rows_estimation", own.estimated);
            step("considered_execution_plans", if greedy { own.considered } else { vec![text("...")] });
            if let Some(q) = plan {
                let mut attached = Vec::new();
                attach(&q.plan, None, &vec![slot_names(&q.plan)], &mut attached);
                steps.push(Json::Object(vec![(
                    "attaching_conditions_to_tables",
                    Json::Object(vec![("attached_conditions_summary", Json::Array(attached))]),
                )]));
                let table = |names: &SlotNames| Json::Object(vec![("table", quoted(&names.alias))]);
                let tables = slot_names(&q.plan).iter().map(table).collect();
                steps.push(Json::Object(vec![("refine_plan", Json::Array(tables))]));
            }
            let optimization = vec![("select#", Json::Number(own.number as f64)), ("steps", Json::Array(steps))];
            let step = Json::Object(vec![("join_optimization", Json::Object(optimization))]);
            trace.around(false).push(step);
        });
    }

    /// What columns of the blocks around are called, the innermost last.
    fn names_in_scope(&self) -> Scopes {
        let names = |source: &crate::names::Source| match &source.table {
            Some(table) => SlotNames::of_table(source.slot, table, &source.name),
            None => {
                SlotNames::of_query(source.slot, &source.name, source.columns.iter().map(|c| c.name.clone()).collect())
            }
        };
        self.scope.blocks.iter().map(|block| block.sources.iter().map(names).collect()).collect()
    }
}

/// The condition that stands over each table of a plan.
fn attach(plan: &Plan, condition: Option<&Expr>, names: &Scopes, out: &mut Vec<Json>) {
    let mut table = |scan: &Scan| {
        let attached = condition.map_or_else(|| Json::Text(String::new()), |e| text(print(e, names)));
        out.push(Json::Object(vec![("table", quoted(&scan.alias)), ("attached", attached)]));
    };
    match plan {
        Plan::Scan(scan) => table(scan),
        Plan::IndexMerge(merge) => table(merge.first()),
        Plan::Intersection(merge) => table(&merge.scans[0]),
        Plan::Ends(scans) => table(&scans[0]),
        Plan::Filter { input, condition } => attach(input, Some(condition), names, out),
        Plan::Join(join) => {
            attach(&join.left, None, names, out);
            attach(&join.right, join.condition.as_ref(), names, out);
        }
        Plan::Distinct { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Counted { input, .. }
        | Plan::Computed { input, .. } => attach(input, None, names, out),
        Plan::Group(group) => attach(&group.input, None, names, out),
        Plan::Window(window) => attach(&window.input, None, names, out),
        Plan::Sort(sort) => attach(&sort.input, None, names, out),
        _ => {}
    }
}
