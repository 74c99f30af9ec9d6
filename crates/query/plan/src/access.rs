//! Which index a table is read by, and which of its ranges: range analysis of the conditions on composite keys.

use super::Planner;
use super::index_merge::{Branch, Intersection, Mergeable};
use super::loose::Groups;
use super::names::Source;
use super::node::{Access, IndexRange, Plan, QueryPlan};
use super::slots::{slots_of, subquery_of};
use catalog::statistics::Sample;
use catalog::{Index, Table};
use engine::Read;
use expr::Shape;
use expr::array::{self, Search};
use expr::operator::CmpOp;
use expr::{Expr, Node};
use sql::ast::{IndexHintAction, IndexHintScope};
use sql::hints::KeyHint;
use types::codes::*;
use types::{Result, TypeKind, Value, err, key};

/// Most combinations of the alternatives of several parts, each of which becomes a range of its own: further parts filter.
const COMBINATIONS_MAX: usize = 1 << 15;

/// The order that the query wants: (column of the table's slot, descending), and whether few rows are wanted.
pub struct Wanted<'e> {
    pub keys: Vec<(&'e Expr, bool)>,
    pub limited: bool,
    /// The first row in that order is all that is wanted.
    pub first: bool,
    /// What is asked of groups, if that is all.
    pub groups: Option<Groups>,
    /// A skip scan may find the rows: of one table, without GROUP BY and DISTINCT.
    pub skips: bool,
}

impl Wanted<'_> {
    /// Any order, all rows.
    pub fn none() -> Wanted<'static> {
        Wanted { keys: Vec::new(), limited: false, first: false, groups: None, skips: false }
    }
}

/// How the rows of a table are found.
pub struct Choice {
    pub access: Access,
    /// By condition: implied by the ranges, see [`super::node::Scan::implied`].
    pub consumed: Vec<bool>,
    pub covering: bool,
    /// For a covering scan, the slot's shape.
    pub shape: Option<Shape>,
    /// Rows come in the wanted order.
    pub ordered: bool,
    /// Rows that are read, and what that costs, in rows of a scan.
    pub rows: f64,
    pub cost: f64,
    /// By condition: the ranges were made of it.
    pub used: Vec<bool>,
    /// Indexes that the conditions have ranges of.
    pub possible: Vec<usize>,
    /// Instead of `access`: an index merge, or the rows that several indexes have.
    pub branches: Vec<Branch>,
    pub intersection: Option<Intersection>,
}

impl Choice {
    /// The clustered index, without ranges or order. `used` and `cost` as in [`Choice`].
    fn of_rows(used: Vec<bool>, cost: f64) -> Choice {
        Choice {
            access: Access { index: 0, ranges: Vec::new(), backward: false, ordered: false, loose: None, skip: None },
            consumed: vec![false; used.len()],
            covering: false,
            shape: None,
            ordered: false,
            rows: 1.0,
            cost,
            used,
            possible: Vec::new(),
            branches: Vec::new(),
            intersection: None,
        }
    }
}

/// A table is taken to have so many rows at least when its access paths are compared: a plan outlives the moment.
const ROWS_MIN: f64 = 1000.0;
/// The share of rows that one part's equality keeps where nothing is known.
const EQUAL_KEEPS: f64 = 0.005;
const RANGE_KEEPS: f64 = 0.05;
const HALF_RANGE_KEEPS: f64 = 0.33;
const NOT_NULL_KEEPS: f64 = 0.9;
/// Reading a row through a secondary index costs this many rows of a scan.
pub(super) const LOOKUP: f64 = 3.0;

/// The position of the index that a hint or HANDLER names. Error 1176.
pub fn index_by_name(table: &Table, name: &str, alias: &str) -> Result<usize> {
    let hit = table.indexes.iter().position(|i| i.name.eq_ignore_ascii_case(name) && (i.primary || !i.name.is_empty()));
    hit.ok_or_else(|| err!(ER_KEY_DOES_NOT_EXITS, name, alias))
}

/// Equal leading parts of the best index, with `bound` slots known.
pub fn best_equal_prefix(
    p: &Planner<'_>,
    table: &Table,
    source: &Source,
    conditions: &[Expr],
    bound: u64,
) -> Result<usize> {
    let usable = Usable::of(p, source, table)?;
    let mut cx = Analysis::new(p, table, source.slot, bound);
    let refs: Vec<&Expr> = conditions.iter().collect();
    let mut best = 0;
    for (i, index) in table.indexes.iter().enumerate().filter(|(i, _)| usable.join[*i]) {
        cx.lookups_only = usable.lookups_only[i];
        let mut consumed = vec![false; refs.len()];
        if let Some(r) = cx.range(index, &refs, &mut consumed, &mut vec![false; refs.len()]) {
            best = best.max(r.equal.len() * 2 + (index.unique && r.equal.len() == index.parts.len()) as usize);
        }
    }
    Ok(best)
}

/// What hints leave of a table's indexes.
struct Usable {
    /// To find rows by, or to read in place of the table.
    join: Vec<bool>,
    /// For the order of their rows.
    order: Vec<bool>,
    /// For groups.
    group: Vec<bool>,
    /// A table scan counts as very dear.
    forced: bool,
    /// Rows are to come in the wanted order: ORDER_INDEX.
    ordered: bool,
    /// Only single keys are looked up: NO_RANGE_OPTIMIZATION.
    lookups_only: Vec<bool>,
}

impl Usable {
    fn of(p: &Planner<'_>, source: &Source, table: &Table) -> Result<Usable> {
        let invisible = table.indexes.iter().any(|i| i.invisible) && p.switched_off("use_invisible_indexes");
        let all: Vec<bool> = table.indexes.iter().map(|i| !(i.invisible && invisible)).collect();
        let lookups_only = vec![false; all.len()];
        let mut usable =
            Usable { order: all.clone(), group: all.clone(), join: all, forced: false, ordered: false, lookups_only };
        let keys = source.tuning.as_ref().map_or(&[][..], |t| &t.keys[..]);
        use KeyHint::{GroupIndex, Index, JoinIndex, OrderIndex, RangeOptimization};
        for (_, _, indexes) in keys.iter().filter(|(kind, ..)| *kind == RangeOptimization) {
            let named = |i: usize| indexes.is_empty() || indexes.contains(&i);
            usable.lookups_only.iter_mut().enumerate().for_each(|(i, only)| *only |= named(i));
        }
        // Those of the statement's tables count only where there are no optimizer hints for indexes.
        if !keys.iter().any(|(kind, ..)| matches!(kind, Index | JoinIndex | GroupIndex | OrderIndex)) {
            if !source.hints.is_empty() {
                usable.table_hints(p, source, table)?;
            }
            return Ok(usable);
        }
        for (kind, on, indexes) in keys {
            let named = |i: usize| indexes.is_empty() || indexes.contains(&i);
            let mut scopes: Vec<&mut Vec<bool>> = Vec::new();
            if matches!(kind, Index | JoinIndex) {
                scopes.push(&mut usable.join);
                usable.forced |= *on;
            }
            if matches!(kind, Index | OrderIndex) {
                scopes.push(&mut usable.order);
                usable.ordered |= *on;
            }
            if matches!(kind, Index | GroupIndex) {
                scopes.push(&mut usable.group);
            }
            scopes.into_iter().for_each(|s| s.iter_mut().enumerate().for_each(|(i, a)| *a &= named(i) == *on));
        }
        Ok(usable)
    }

    /// USE, FORCE and IGNORE INDEX. Error 1221 for the first two of them together.
    fn table_hints(&mut self, p: &Planner<'_>, source: &Source, table: &Table) -> Result<()> {
        let has = |action| source.hints.iter().any(|h| h.action == action);
        if has(IndexHintAction::Use) && has(IndexHintAction::Force) {
            return Err(err!(ER_WRONG_USAGE, "USE INDEX", "FORCE INDEX"));
        }
        use IndexHintScope::{All, GroupBy, Join, OrderBy};
        for scope in [Join, OrderBy, GroupBy] {
            let (mut used, mut ignored) = (None, vec![false; table.indexes.len()]);
            for hint in source.hints.iter().filter(|h| h.scope == All || h.scope == scope) {
                let named = match hint.action {
                    IndexHintAction::Ignore => &mut ignored,
                    action => {
                        self.forced |= action == IndexHintAction::Force;
                        used.get_or_insert_with(|| vec![false; table.indexes.len()])
                    }
                };
                for n in &hint.indexes {
                    named[index_by_name(table, p.parsed.name(*n), &source.name)?] = true;
                }
            }
            let allowed = match scope {
                Join => &mut self.join,
                OrderBy => &mut self.order,
                _ => &mut self.group,
            };
            for (i, a) in allowed.iter_mut().enumerate() {
                *a &= used.as_ref().is_none_or(|u| u[i]) && !ignored[i];
            }
        }
        Ok(())
    }
}

/// The cheapest way to the rows of a source under these conditions. `bound`: a bit for each slot whose row is at hand.
pub fn choose(p: &Planner<'_>, source: usize, conditions: &[Expr], bound: u64, wanted: &Wanted<'_>) -> Result<Choice> {
    let refs: Vec<&Expr> = conditions.iter().collect();
    choose_by(p, source, &refs, bound, wanted)
}

/// Can an index of the table use the condition once all slots are known? Where it is not plain to see it may.
pub fn may_find(p: &Planner<'_>, source: usize, condition: &Expr) -> bool {
    let source = &p.current_block().sources[source];
    let Some(table) = &source.table else { return false };
    if !is_plain(condition) {
        return true;
    }
    let cx = Analysis::new(p, table, source.slot, u64::MAX);
    let mut columns = table.indexes.iter().flat_map(|i| &i.parts).map(|part| part.column);
    columns.any(|column| cx.limit(condition, column).is_some())
}

/// Does the condition say something about one column or nothing, and only when all that it reads beside that is known?
pub fn is_plain(condition: &Expr) -> bool {
    matches!(condition.node, Node::Compare(..) | Node::Between { .. } | Node::In { .. } | Node::Like { .. })
}

/// [`choose`] by these conditions.
pub fn choose_by(p: &Planner<'_>, source: usize, refs: &[&Expr], bound: u64, wanted: &Wanted<'_>) -> Result<Choice> {
    let (block, place) = (p.current_block(), source);
    let source = &block.sources[source];
    let table = source.table.as_ref().expect("a stored table");
    let sample = p.sample(table)?;
    let rows = sample.as_ref().as_ref().map_or(ROWS_MIN, |s| (s.rows as f64).max(ROWS_MIN));
    let sample = sample.as_ref().as_ref();
    let mut cx = Analysis { rows, sample, ..Analysis::new(p, table, source.slot, bound) };
    let known_rows = sample.map_or(rows, |s| (s.rows as f64).max(1.0));
    let scale = known_rows / cx.rows;
    let mut possible = Vec::new();
    let usable = Usable::of(p, source, table)?;
    let locking = source.read != Read::Consistent;
    let mut best: Option<(f64, Choice)> = None;
    let mut ways = Vec::new();
    for i in (0..table.indexes.len()).filter(|i| *i == 0 || usable.join[*i] || usable.order[*i]) {
        let least = best.as_ref().map_or(f64::INFINITY, |(cost, _)| *cost);
        let (found, has_ranges) = cx.by_index(i, source, &usable, refs, wanted, least);
        if has_ranges {
            possible.push(i);
        }
        if p.is_traced() && (has_ranges || found.is_some()) {
            let cost = found.as_ref().map(|(cost, choice)| (choice.rows, *cost));
            ways.push((table.indexes[i].name.clone(), cost));
        }
        best = found.or(best);
    }
    let (mut cost, mut choice) = best.expect("the clustered index can always be scanned");
    if bound == 0 {
        p.trace_access(place, known_rows, &ways, &choice);
    }
    if wanted.skips
        && !locking
        && let Some(found) = cx.best_skip(p, source, (refs, wanted), &usable.join)
        && (found.forced || found.cost < cost)
    {
        if !possible.contains(&found.index) {
            possible.push(found.index);
            possible.sort_unstable();
        }
        (cost, choice) = (found.cost, cx.skip_choice(found, scale));
    }
    // The switches are asked for where they matter only: orders of a join are tried by the thousand.
    let divided = refs.iter().any(|e| matches!(e.node, Node::Or(_)));
    let several = possible.len() > 1;
    let mergeable = if (divided || several) && !locking { Mergeable::of(p, source, table, &usable.join) } else { None };
    let Some(mergeable) = mergeable else { return Ok(Choice { possible, ..choice }) };
    cx.bound = 0;
    cx.lookups_only = false;
    let is_sorted = !wanted.keys.is_empty();
    if mergeable.intersects
        && several
        && let Some(found) = cx.intersection(refs, &mergeable)
    {
        let sort = if is_sorted { found.rows * 0.5 } else { 0.0 };
        if found.cost + sort < cost || mergeable.forced {
            cost = found.cost + sort;
            choice = by_intersection(found, scale);
        }
    }
    if mergeable.unions
        && let Some((at, branches, merged)) = cx.union(refs, &mergeable)
    {
        for b in &branches {
            if !possible.contains(&b.access.index) {
                possible.push(b.access.index);
            }
        }
        possible.sort_unstable();
        let rows = branches.iter().map(|b| b.rows).sum::<f64>();
        let sort = if is_sorted { rows * 0.5 } else { 0.0 };
        if merged + sort < cost || mergeable.forced {
            let used = (0..refs.len()).map(|i| i == at).collect();
            let rows = (rows * scale).clamp(1.0, known_rows);
            choice = Choice { rows, branches, ..Choice::of_rows(used, (merged * scale).max(1.0)) };
        }
    }
    Ok(Choice { possible, ..choice })
}

impl Planner<'_> {
    /// Do the rows come in the ascending order of these keys? Of an index that has all that is read of the table: another one
    /// may be given up for the table once the values of its ranges are known.
    pub fn come_in_groups(&self, plan: &mut Plan, keys: &[Expr]) -> bool {
        let scan = match plan {
            Plan::Filter { input, .. } => return self.come_in_groups(input, keys),
            Plan::Scan(scan) => scan,
            _ => return false,
        };
        let Access { index: i, ranges, backward, loose, skip, .. } = &scan.access;
        let index = &scan.table.indexes[*i];
        let reads_one_by_one = loose.is_none() && skip.is_none() && !*backward && index.array_part.is_none();
        // Not those of a time zone: an hour that comes twice a year does not come as one.
        let are_columns = keys.iter().all(|key| matches!(key.node, Node::Column { depth: 0, .. }));
        let wanted = Wanted { keys: keys.iter().map(|key| (key, false)).collect(), ..Wanted::none() };
        let has_all = *i == 0 || scan.covering;
        let analysis = Analysis::new(self, &scan.table, scan.slot, 0);
        let ordered =
            has_all && reads_one_by_one && are_columns && analysis.order(index, ranges, &wanted) == Some(false);
        scan.access.ordered |= ordered;
        ordered
    }
}

/// Rows that several indexes have. `scale`: from rows as they are weighed to rows that there are.
fn by_intersection(found: Intersection, scale: f64) -> Choice {
    let used = found.used.clone();
    let (rows, cost) = ((found.rows * scale).max(1.0), (found.cost * scale).max(1.0));
    Choice { rows, intersection: Some(found), ..Choice::of_rows(used, cost) }
}

impl Analysis<'_> {
    /// The table read by one of its indexes: what that costs and how, if it is less than `least`; and are there ranges of it?
    fn by_index(
        &mut self,
        i: usize,
        source: &Source,
        usable: &Usable,
        refs: &[&Expr],
        wanted: &Wanted<'_>,
        least: f64,
    ) -> (Option<(f64, Choice)>, bool) {
        let index = &self.table.indexes[i];
        let locking = source.read != Read::Consistent;
        let is_array = index.array_part.is_some();
        let covering = i != 0 && !locking && usable.join[i] && !is_array && self.covers(index, &source.used);
        let (mut consumed, mut used) = (vec![false; refs.len()], vec![false; refs.len()]);
        self.lookups_only = usable.lookups_only[i];
        let ranges = match usable.join[i] {
            true => self.ranges(index, refs, &mut consumed, &mut used),
            false => Vec::new(),
        };
        let has_ranges = !ranges.is_empty();
        let order = if usable.order[i] && !is_array { self.order(index, &ranges, wanted) } else { None };
        let by_order = order.is_some() && !wanted.keys.is_empty();
        if !has_ranges && i != 0 && !covering && !by_order {
            return (None, false);
        }
        let mut rows: f64 = match has_ranges {
            false => self.rows,
            true => ranges.iter().map(|r| self.range_rows(i, r)).sum::<f64>().min(self.rows),
        };
        let known_rows = self.sample.map_or(self.rows, |s| (s.rows as f64).max(1.0));
        let read = (rows * known_rows / self.rows).max(1.0);
        let ordered = order.is_some();
        let mut penalty = 0.0;
        if !wanted.keys.is_empty() && !ordered {
            penalty = rows * if usable.ordered { 100.0 } else { 0.5 };
        } else if ordered && wanted.limited && consumed.iter().all(|c| *c) {
            rows = rows.min(if wanted.first { 1.0 } else { 1000.0 });
        } else if ordered && wanted.limited {
            rows *= 0.4;
        }
        let per_row = match (i, covering) {
            (0, _) => 1.0,
            (_, true) => 0.9,
            _ => LOOKUP,
        };
        if usable.forced && !has_ranges && i == 0 && !(by_order && usable.order[0]) {
            // Only as the last resort.
            penalty += self.rows * 100.0;
        }
        let mut cost = rows * per_row + penalty;
        let groups = wanted.groups.as_ref().filter(|_| usable.group[i] && !locking && (i == 0 || covering));
        let loose = groups.and_then(|g| self.loose(i, index, &ranges, refs, g)).filter(|(_, _, c)| *c < cost);
        if let Some((_, _, hopped)) = &loose {
            cost = *hopped;
        }
        if cost >= least {
            return (None, has_ranges);
        }
        let shape = covering.then(|| self.covered_shape(index));
        let (rows, cost_read) = match loose {
            Some((_, groups, _)) => (groups, cost),
            None => (read, read * per_row),
        };
        let loose = loose.map(|(loose, ..)| loose);
        let access = Access { index: i, ranges, backward: order == Some(true), ordered: by_order, loose, skip: None };
        let choice = Choice { access, consumed, covering, shape, ordered, rows, ..Choice::of_rows(used, cost_read) };
        (Some((cost, choice)), has_ranges)
    }
}

/// The parts of a secondary key that a scan can read: the index's own, then the clustered index's.
pub fn key_columns(table: &Table, index: &Index) -> Vec<(usize, key::KeyPart)> {
    let mut parts: Vec<_> = index.parts.iter().map(|p| (p.column, p.key)).collect();
    if !std::ptr::eq(index, &table.indexes[0]) {
        parts.extend(table.indexes[0].parts.iter().map(|p| (p.column, p.key)));
    }
    parts
}

/// The indexes that hints leave to find rows by.
pub(super) fn usable(p: &Planner<'_>, source: &Source, table: &Table) -> Result<Vec<usize>> {
    let usable = Usable::of(p, source, table)?;
    Ok((0..table.indexes.len()).filter(|i| usable.join[*i]).collect())
}

/// A TIMESTAMP column as the index holds it: values are searched for in UTC too.
fn stored(e: &Expr) -> &Expr {
    match &e.node {
        Node::LocalTime(inner) => inner,
        _ => e,
    }
}

pub(super) struct Analysis<'p> {
    /// Ranges of single keys only.
    lookups_only: bool,
    subqueries: &'p [QueryPlan],
    pub(super) table: &'p Table,
    slot: usize,
    bound: u64,
    /// Rows of the table, for comparing its access paths.
    pub(super) rows: f64,
    pub(super) sample: Option<&'p Sample>,
}

/// What one condition says about one column.
pub(super) enum Limit {
    Equal(Vec<Expr>, bool),
    Lower(Expr, bool),
    Upper(Expr, bool),
    Both(Expr, Expr),
    Like(Expr, Option<char>),
    NotNull,
}

impl<'p> Analysis<'p> {
    fn new(p: &'p Planner<'_>, table: &'p Table, slot: usize, bound: u64) -> Analysis<'p> {
        let subqueries = p.subqueries();
        Analysis { lookups_only: false, subqueries, table, slot, bound, rows: ROWS_MIN, sample: None }
    }
}

impl Analysis<'_> {
    pub(super) fn covers(&self, index: &Index, used: &[std::cell::Cell<bool>]) -> bool {
        let parts = key_columns(self.table, index);
        used.iter().enumerate().filter(|(_, u)| u.get()).all(|(c, _)| {
            parts.iter().any(|(column, part)| *column == c && part.prefix == 0 && key::is_reversible(part))
        })
    }

    pub(super) fn covered_shape(&self, index: &Index) -> Shape {
        let parts = key_columns(self.table, index);
        let mut map = vec![None; self.table.columns.len()];
        for (i, (column, part)) in parts.iter().enumerate() {
            if part.prefix == 0 && key::is_reversible(part) && map[*column].is_none() {
                map[*column] = Some(i);
            }
        }
        Shape::Covered(map, parts.len())
    }

    /// Known when the scan starts: constants, parameters, columns of bound slots and outer queries.
    fn known(&self, e: &Expr) -> bool {
        slots_of(self.subqueries, e) & !self.bound == 0
            && !e.any(&mut |e| match &e.node {
                Node::Call(f, _) => f.volatile,
                Node::SetUserVariable(..) | Node::Aggregate(_) | Node::Window(_) => true,
                _ => subquery_of(e).is_some_and(|query| self.subqueries[query].varies),
            })
    }

    fn is_column(&self, e: &Expr, column: usize) -> bool {
        match stored(e).node {
            Node::Column { depth, slot, column: c } => (depth, slot as usize, c as usize) == (0, self.slot, column),
            _ => false,
        }
    }

    /// May the index's order stand for the comparison's?
    fn comparable(&self, column: usize, e: &Expr, collation: types::CollationId) -> bool {
        let ty = &self.table.columns[column].data_type;
        if ty.kind.is_text() || ty.kind.is_bytes() {
            let other_is_string = e.ty.kind.is_bytes() || e.ty.kind.is_text() || e.ty.kind == TypeKind::Null;
            return other_is_string && (collation == ty.collation);
        }
        if matches!(ty.kind, TypeKind::Enum | TypeKind::Set | TypeKind::Bit | TypeKind::Float) {
            return false;
        }
        // A temporal column against a number compares as numbers.
        !(ty.kind.is_temporal() && e.ty.kind.is_numeric())
    }

    /// What a condition says about `column`, if it says anything that an index can use.
    pub(super) fn limit(&self, e: &Expr, column: usize) -> Option<Limit> {
        let known = |e: &Expr, collation| self.known(e) && self.comparable(column, e, collation);
        match &e.node {
            Node::Compare(op, a, b, collation) => {
                let (op, value) = if self.is_column(a, column) {
                    (*op, b)
                } else if self.is_column(b, column) {
                    (op.mirrored(), a)
                } else {
                    return None;
                };
                if !known(value, *collation) {
                    return None;
                }
                let v = (**value).clone();
                match op {
                    CmpOp::Eq => Some(Limit::Equal(vec![v], false)),
                    CmpOp::NullSafeEq => Some(Limit::Equal(vec![v], true)),
                    CmpOp::Lt => Some(Limit::Upper(v, false)),
                    CmpOp::Le => Some(Limit::Upper(v, true)),
                    CmpOp::Gt => Some(Limit::Lower(v, false)),
                    CmpOp::Ge => Some(Limit::Lower(v, true)),
                    CmpOp::Ne => None,
                }
            }
            Node::Between { negated: false, operands, collation } => {
                let [v, low, high] = &**operands;
                if !self.is_column(v, column) || !known(low, *collation) || !known(high, *collation) {
                    return None;
                }
                Some(Limit::Both(low.clone(), high.clone()))
            }
            Node::In { negated: false, operand, list, collation, .. } => {
                if !self.is_column(operand, column) || !list.iter().all(|e| known(e, *collation)) {
                    return None;
                }
                Some(Limit::Equal(list.clone(), false))
            }
            Node::Like { negated: false, operands, escape, collation } => {
                let [text, pattern] = &**operands;
                let kind = self.table.columns[column].data_type.kind;
                let string =
                    (kind.is_text() || kind.is_bytes()) && !matches!(kind, TypeKind::Json | TypeKind::Geometry);
                // A pattern that is not known now may begin with a wildcard: see `run::scan`.
                let open =
                    matches!(&pattern.node, Node::Const(Value::Bytes(b)) if matches!(b.first(), Some(b'%' | b'_')));
                if !string || open || !self.is_column(text, column) || !known(pattern, *collation) {
                    return None;
                }
                Some(Limit::Like(pattern.clone(), *escape))
            }
            Node::IsNull { negated: false, operand } if self.is_column(operand, column) => {
                Some(Limit::Equal(vec![Expr::null()], true))
            }
            Node::IsNull { negated: true, operand }
                if self.is_column(operand, column) && self.table.columns[column].data_type.nullable =>
            {
                Some(Limit::NotNull)
            }
            Node::Or(list) => {
                let mut all = Vec::new();
                for e in list {
                    match self.limit(e, column)? {
                        Limit::Equal(values, false) => all.extend(values),
                        _ => return None,
                    }
                }
                Some(Limit::Equal(all, false))
            }
            _ => None,
        }
    }

    /// Can a condition on the column be exactly what the range says? Whether it is depends on the values too, see `run::scan`.
    fn exact(&self, column: usize, part: &key::KeyPart) -> bool {
        use TypeKind::*;
        let kind = self.table.columns[column].data_type.kind;
        let ordered = kind.is_integer() || kind.is_bytes() || matches!(kind, Decimal | Date | DateTime);
        part.prefix == 0 && ordered && !matches!(kind, Json | Geometry)
    }

    /// The range of `index` that the conditions imply together; `None` when they say nothing about its first part.
    pub(super) fn range(
        &self,
        index: &Index,
        conditions: &[&Expr],
        consumed: &mut [bool],
        used: &mut [bool],
    ) -> Option<IndexRange> {
        let mut range = IndexRange::default();
        let mut combinations = 1usize;
        for (n, part) in index.parts.iter().enumerate() {
            if index.array_part == Some(n) {
                let found = conditions.iter().enumerate().find_map(|(i, e)| Some((i, self.search(e, part.column)?)));
                let Some((i, (values, search, elements))) = found else { break };
                used[i] = true;
                range.array = Some((search, elements));
                range.equal.push(vec![values]);
                range.nulls.push(false);
                continue;
            }
            let mut equal: Option<(Vec<Expr>, bool, usize)> = None;
            for (i, e) in conditions.iter().enumerate() {
                if let Some(Limit::Equal(values, nulls)) = self.limit(e, part.column)
                    && equal.as_ref().is_none_or(|(v, ..)| values.len() < v.len())
                    && !(self.lookups_only && values.len() > 1)
                {
                    equal = Some((values, nulls, i));
                }
            }
            if let Some((values, nulls, i)) = equal {
                combinations = combinations.saturating_mul(values.len());
                if combinations > COMBINATIONS_MAX && !range.equal.is_empty() {
                    break;
                }
                consumed[i] |= self.exact(part.column, &part.key);
                used[i] = true;
                range.equal.push(values);
                range.nulls.push(nulls);
                continue;
            }
            // A lookup for each row of other tables stays one.
            let looks_up = range.equal.iter().flatten().any(|e| slots_of(self.subqueries, e) != 0);
            let mut not_null = false;
            for (i, e) in conditions.iter().enumerate() {
                if self.lookups_only {
                    break;
                }
                match self.limit(e, part.column) {
                    // All ranges leave NULL out, also one without bounds.
                    Some(Limit::NotNull) if !looks_up => {
                        (consumed[i], used[i], not_null) = (true, true, true);
                    }
                    _ if range.pattern.is_some() => {}
                    Some(Limit::Lower(v, inclusive)) if range.lower.is_none() => {
                        consumed[i] |= self.exact(part.column, &part.key);
                        used[i] = true;
                        range.lower = Some((v, inclusive));
                    }
                    Some(Limit::Upper(v, inclusive)) if range.upper.is_none() => {
                        consumed[i] |= self.exact(part.column, &part.key);
                        used[i] = true;
                        range.upper = Some((v, inclusive));
                    }
                    Some(Limit::Both(low, high)) if range.lower.is_none() && range.upper.is_none() => {
                        consumed[i] |= self.exact(part.column, &part.key);
                        used[i] = true;
                        range.lower = Some((low, true));
                        range.upper = Some((high, true));
                    }
                    Some(Limit::Like(pattern, escape)) if range.lower.is_none() && range.upper.is_none() => {
                        used[i] = true;
                        range.pattern = Some((pattern, escape));
                    }
                    _ => {}
                }
            }
            range.bounded = not_null || range.lower.is_some() || range.upper.is_some() || range.pattern.is_some();
            break;
        }
        // A row whose array is empty has no entry.
        let complete = index.array_part.is_none() || range.array.is_some();
        (complete && (!range.equal.is_empty() || range.bounded)).then_some(range)
    }

    /// A search in the array that a hidden column holds: what is looked for, how, and about how many elements.
    fn search(&self, e: &Expr, column: usize) -> Option<(Expr, Search, usize)> {
        let call = array::as_search(e).filter(|call| self.is_column(call.column, column) && self.known(call.values))?;
        let elements = match &call.values.node {
            Node::Const(v) => {
                array::wanted(v, call.values, call.kind, call.element).map_or(0, |j| array::keys_of(j).count())
            }
            _ => 1,
        };
        // What says nothing about elements finds no rows by them.
        (elements > 0).then(|| (call.values.clone(), call.kind, elements))
    }

    /// All ranges: one for the conjunction, or one for each branch of an OR that the conjunction says nothing about.
    fn ranges(&self, index: &Index, conditions: &[&Expr], consumed: &mut [bool], used: &mut [bool]) -> Vec<IndexRange> {
        if let Some(r) = self.range(index, conditions, consumed, used) {
            return vec![r];
        }
        for e in conditions.iter().filter(|_| !self.lookups_only) {
            let Node::Or(branches) = &e.node else { continue };
            let ranges: Option<Vec<IndexRange>> = branches
                .iter()
                .map(|b| {
                    let mut all: Vec<&Expr> = match &b.node {
                        Node::And(list) => list.iter().collect(),
                        _ => vec![b],
                    };
                    all.extend(conditions.iter().filter(|c| !std::ptr::eq(**c, *e)));
                    let mut ignored = vec![false; all.len()];
                    self.range(index, &all, &mut ignored.clone(), &mut ignored)
                })
                .collect();
            if let Some(ranges) = ranges {
                return ranges;
            }
        }
        Vec::new()
    }

    pub(super) fn range_rows(&self, i: usize, r: &IndexRange) -> f64 {
        let index = &self.table.indexes[i];
        let alternatives: f64 = r.equal.iter().map(|e| e.len() as f64).product();
        let elements = r.array.filter(|(search, _)| *search == Search::Overlaps).map_or(1, |(_, elements)| elements);
        let alternatives = alternatives * elements as f64;
        if index.unique && r.equal.len() == index.parts.len() {
            return alternatives;
        }
        let kept = match (r.equal.len(), self.sample) {
            (0, _) => 1.0,
            // Nothing is known of a table that was nearly empty.
            (n, Some(s)) if s.rows as f64 >= ROWS_MIN / 10.0 => s.rows_per_key[i][n - 1] / s.rows as f64,
            (n, _) => EQUAL_KEEPS.powi(n as i32),
        };
        let mut rows = self.rows * kept * alternatives;
        rows *= match (&r.lower, &r.upper) {
            (Some(_), Some(_)) => RANGE_KEEPS,
            (None, None) if r.pattern.is_some() => RANGE_KEEPS,
            (None, None) if r.bounded => NOT_NULL_KEEPS,
            (None, None) => 1.0,
            _ => HALF_RANGE_KEEPS,
        };
        rows.max(1.0)
    }

    /// Do rows come in the wanted order? `Some(true)`: when read backward.
    pub(super) fn order(&self, index: &Index, ranges: &[IndexRange], wanted: &Wanted<'_>) -> Option<bool> {
        if wanted.keys.is_empty() || ranges.len() > 1 {
            return None;
        }
        let fixed = |part: usize| ranges.first().is_some_and(|r| r.equal.get(part).is_some_and(|e| e.len() == 1));
        let parts = key_columns(self.table, index);
        let clustered_unique = std::ptr::eq(index, &self.table.indexes[0]);
        let mut direction: Option<bool> = None;
        let mut at = 0;
        for (e, descending) in &wanted.keys {
            let Node::Column { depth: 0, slot, column } = stored(e).node else { return None };
            if slot as usize != self.slot {
                return None;
            }
            if (0..index.parts.len()).any(|i| fixed(i) && parts[i].0 == column as usize) {
                continue;
            }
            while at < parts.len() && parts[at].0 != column as usize && at < index.parts.len() && fixed(at) {
                at += 1;
            }
            if at == parts.len() {
                // Every key column is in place already: rows are unique by now.
                return if clustered_unique { direction.or(Some(false)) } else { None };
            }
            let (c, part) = &parts[at];
            if *c != column as usize || part.prefix != 0 {
                return None;
            }
            let backward = *descending != part.descending;
            if direction.is_some_and(|d| d != backward) {
                return None;
            }
            direction = Some(backward);
            at += 1;
        }
        direction.or(Some(false))
    }
}
