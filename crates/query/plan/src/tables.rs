//! FROM: tables, derived tables and joins; join order, and which condition is applied where.

use super::access::{self, Choice};
use super::cost::Method;
use super::join_tree::{StarColumn, Tree};
use super::node::{IndexMerge, Intersection, Join, JoinKind as Kind, Plan, QueryPlan, Scan, SoughtColumn};
use super::rewrite::{self, Classes};
use super::semijoin::Candidate;
use super::slots::slots_of;
use super::source::{Definition, Origin};
use super::{Planner, all_of, names::Source, names::SourceColumn};
use crate::comparison::compare_exprs;
use catalog::Table;
use expr::Shape;
use expr::operator::CmpOp;
use expr::{Expr, Node, compare};
use sql::ast::{self, ExprId, JoinConstraint, JoinKind, TableId, TableRef};
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

/// Most tables in a join.
pub const TABLES_MAX: usize = 61;
/// Rows that conditions leave at least, for estimates.
const FEWEST: f64 = 0.05;

/// The warning of whoever reads information_schema.PROCESSLIST, and of SHOW PROCESSLIST.
pub const PROCESSLIST_DEPRECATED: &str = "'INFORMATION_SCHEMA.PROCESSLIST' is deprecated and will be removed in a \
    future release. Please use performance_schema.processlist instead";

const PROFILING_DEPRECATED: &str = "'INFORMATION_SCHEMA.PROFILING' is deprecated and will be removed in a future \
    release. Please use Performance Schema instead";

impl Planner<'_> {
    /// Adds the tables of a FROM clause to the block.
    pub fn from(&mut self, id: TableId) -> Result<(Tree, Vec<StarColumn>)> {
        let parsed = self.parsed;
        match &parsed[id] {
            TableRef::Table(factor) => {
                if !factor.partitions.is_empty() {
                    return Err(err!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
                }
                if factor.name.schema.is_none()
                    && let Some(at) = self.find_cte(parsed.name(factor.name.name))
                {
                    return self.common_table(at, parsed.name(factor.alias.unwrap_or(factor.name.name)));
                }
                let table = self.table(factor.name, |t| t.read = true)?;
                let alias = factor.alias.map(|a| parsed.name(a));
                if table.view.is_some() {
                    return self.view(&table, alias);
                }
                for hint in &factor.index_hints {
                    for name in &hint.indexes {
                        access::index_by_name(&table, parsed.name(*name), alias.unwrap_or(&table.name))?;
                    }
                }
                let slot = self.block().shapes.len();
                let mut source = Source::of_table(slot, &table, alias);
                if alias.is_none() && table.virtual_rows.is_some() {
                    // Found whatever the case of its letters; columns are named by what is written here.
                    source.name = parsed.name(factor.name.name).to_string();
                }
                source.hints = factor.index_hints.clone();
                self.block().shapes.push(match table.virtual_rows {
                    Some(_) => Shape::Tuple(table.columns.len()),
                    None => Shape::Row(table),
                });
                self.add_source(source)
            }
            TableRef::Derived { lateral, query, alias, columns } => {
                self.derived(*query, parsed.name(*alias), columns, *lateral)
            }
            TableRef::Join { left, right, kind, natural, constraint } => {
                self.join(*left, *right, *kind, *natural, constraint)
            }
            TableRef::JsonTable(table) => self.json_table(table),
        }
    }

    pub(super) fn add_source(&mut self, mut source: Source) -> Result<(Tree, Vec<StarColumn>)> {
        self.tune(&mut source);
        let block = self.block();
        if block.sources.len() >= TABLES_MAX {
            return Err(err!(ER_TOO_MANY_TABLES, TABLES_MAX));
        }
        if block.sources.iter().any(|s| s.is_named(&source.name, Some(&source.schema))) {
            return Err(err!(ER_NONUNIQ_TABLE, source.name));
        }
        let at = block.sources.len();
        let star = source
            .columns
            .iter()
            .enumerate()
            .filter(|(_, c)| !c.hidden && !c.invisible)
            .map(|(i, c)| StarColumn { name: c.name.clone(), source: at, column: i, merged: None })
            .collect();
        block.sources.push(source);
        Ok((Tree::Leaf(at), star))
    }

    /// A common table expression: it sees those before it, and itself when it is recursive.
    fn common_table(&mut self, at: usize, alias: &str) -> Result<(Tree, Vec<StarColumn>)> {
        if self.scope.ctes[at].working.is_some() {
            return self.working_table(at, alias);
        }
        let cte = self.scope.ctes[at].clone();
        let first = self.first_plan();
        let later = self.scope.ctes.split_off(at + cte.recursive as usize);
        let planned = match cte.recursive {
            true => {
                let block = self.scope.blocks.pop().expect("inside a query block");
                let clause = std::mem::replace(&mut self.scope.clause, "field list");
                let plan = self.within_with(cte.outside, |p| p.recursive_query(at));
                self.scope.clause = clause;
                self.scope.blocks.push(block);
                plan.map(|plan| (plan, None))
            }
            false => self.within_with(cte.outside, |p| p.mergeable_query(cte.query, alias)),
        };
        self.scope.ctes.extend(later);
        let (plan, candidate) = planned?;
        let origin = self.origin(first, Definition::Query(cte.query, Some(at)));
        let (tree, star) = self.derived_source(plan, candidate, alias, (&cte.columns, false), None)?;
        self.note_origin(&tree, origin, cte.recursive);
        Ok((tree, star))
    }

    fn derived(
        &mut self,
        query: ast::QueryId,
        alias: &str,
        names: &[ast::Name],
        lateral: bool,
    ) -> Result<(Tree, Vec<StarColumn>)> {
        if lateral {
            let clause = std::mem::replace(&mut self.scope.clause, "field list");
            let plan = self.query(query, false);
            self.scope.clause = clause;
            let before = self.block().slots();
            return self.derived_source(plan?, None, alias, (names, true), Some(before));
        }
        let first = self.first_plan();
        let (plan, candidate) = self.mergeable_query(query, alias)?;
        let origin = self.origin(first, Definition::Query(query, None));
        let (tree, star) = self.derived_source(plan, candidate, alias, (names, true), None)?;
        self.note_origin(&tree, origin, false);
        Ok((tree, star))
    }

    /// A derived table that is not merged may be planned anew.
    pub(super) fn note_origin(&mut self, tree: &Tree, origin: Origin, recursive: bool) {
        if let Tree::Leaf(at) = tree
            && let source = &mut self.block().sources[*at]
            && source.derived.is_some()
            && !source.hidden
            && !recursive
        {
            self.queries.kept.push(origin.subqueries.clone());
            self.block().sources[*at].origin = Some(Box::new(origin));
        }
    }

    fn derived_source(
        &mut self,
        plan: QueryPlan,
        candidate: Option<Box<Candidate>>,
        alias: &str,
        (names, is_query): (&[ast::Name], bool),
        lateral: Option<u64>,
    ) -> Result<(Tree, Vec<StarColumn>)> {
        let columns = self.derived_columns(&plan, names)?;
        self.take_in(plan, candidate, Source { lateral, is_query, ..Source::of_tuple(0, alias, columns) })
    }

    pub(super) fn derived_columns(&self, plan: &QueryPlan, names: &[ast::Name]) -> Result<Vec<SourceColumn>> {
        if !names.is_empty() && names.len() != plan.outputs.len() {
            return Err(err!(ER_VIEW_WRONG_LIST));
        }
        let mut columns: Vec<SourceColumn> = Vec::new();
        for (i, (meta, e)) in plan.columns.iter().zip(&plan.outputs).enumerate() {
            let name = names.get(i).map_or(meta.name.clone(), |n| self.parsed.name(*n).to_string());
            if columns.iter().any(|c| c.name.eq_ignore_ascii_case(&name)) {
                return Err(err!(ER_DUP_FIELDNAME, name));
            }
            columns.push(SourceColumn {
                name,
                data_type: super::meta::kept_type(compare::column_of(e), &[e]),
                hidden: false,
                invisible: false,
                origin: Some(Box::new(meta.clone())),
                members: None,
            });
        }
        Ok(columns)
    }

    /// One side of a join. `inner`: it is NULL where there is no match.
    fn joined_from(&mut self, side: TableId, inner: bool) -> Result<(Tree, Vec<StarColumn>)> {
        self.scope.inner_side += inner as usize;
        let from = self.from(side);
        self.scope.inner_side -= inner as usize;
        from
    }

    /// The conjuncts of ON. `first`: the first of the sources that it may name. Error 1111.
    fn on_clause(&mut self, e: ExprId, kind: JoinKind, first: usize) -> Result<Vec<Expr>> {
        let seen = std::mem::replace(&mut self.block().first_named, first);
        let blocks = self.scope.blocks.len();
        let e = match kind {
            JoinKind::Left | JoinKind::Right => self.outer_condition(e),
            _ => self.condition(e, "on clause"),
        };
        let e = match e {
            Err(e) if self.scope.blocks.len() == blocks => {
                self.block().late_error = Some(e);
                Expr::int(1)
            }
            e => e?,
        };
        self.block().first_named = seen;
        if e.has_aggregate() {
            return Err(err!(ER_INVALID_GROUP_FUNC_USE));
        }
        let mut on = Vec::new();
        Self::conjuncts(e, &mut on);
        Ok(rewrite::factor(on))
    }

    /// The columns that both sides of NATURAL or USING have. Errors 1052, 1054.
    fn shared_columns(
        &self,
        natural: bool,
        constraint: &JoinConstraint,
        left: &[StarColumn],
        right: &[StarColumn],
    ) -> Result<Vec<(StarColumn, StarColumn)>> {
        let find = |star: &[StarColumn], name: &str| -> Result<Option<StarColumn>> {
            let mut hits = star.iter().filter(|c| c.name.eq_ignore_ascii_case(name));
            let first = hits.next().cloned();
            match hits.next() {
                Some(_) => Err(err!(ER_NON_UNIQ_ERROR, name, "from clause")),
                None => Ok(first),
            }
        };
        let mut shared = Vec::new();
        if natural {
            for l in left {
                if let Some(r) = find(right, &l.name)? {
                    find(left, &l.name)?;
                    shared.push((l.clone(), r));
                }
            }
        }
        if let JoinConstraint::Using(names) = constraint {
            for n in names {
                let name = self.parsed.name(*n);
                let (Some(l), Some(r)) = (find(left, name)?, find(right, name)?) else {
                    return Err(expr::error::unknown_column(name, "from clause"));
                };
                shared.push((l, r));
            }
        }
        Ok(shared)
    }

    fn join(
        &mut self,
        left: TableId,
        right: TableId,
        kind: JoinKind,
        natural: bool,
        constraint: &JoinConstraint,
    ) -> Result<(Tree, Vec<StarColumn>)> {
        let start = self.block().sources.len();
        let (left_tree, left_star) = self.joined_from(left, kind == JoinKind::Right)?;
        // LATERAL to the right of RIGHT JOIN reads nothing to the left.
        let seen = if kind == JoinKind::Right { self.block().sources.len() } else { self.block().first_named };
        let seen = std::mem::replace(&mut self.block().first_named, seen);
        let right_side = self.joined_from(right, kind == JoinKind::Left);
        self.block().first_named = seen;
        let (right_tree, right_star) = right_side?;
        let mut on = match constraint {
            JoinConstraint::On(e) => self.on_clause(*e, kind, start)?,
            JoinConstraint::None | JoinConstraint::Using(_) => Vec::new(),
        };
        let mut shared = self.shared_columns(natural, constraint, &left_star, &right_star)?;
        let outer = matches!(kind, JoinKind::Left | JoinKind::Right);
        let mut inner_leaves = Vec::new();
        match kind {
            JoinKind::Left => right_tree.leaves(&mut inner_leaves),
            JoinKind::Right => left_tree.leaves(&mut inner_leaves),
            _ => {}
        }
        // Columns in common come first, in the order of the table that gives them; RIGHT JOIN is LEFT JOIN the other way round.
        let first = if kind == JoinKind::Right { &right_star } else { &left_star };
        shared.sort_by_key(|(l, _)| first.iter().position(|c| c.name.eq_ignore_ascii_case(&l.name)));
        let mut star = Vec::new();
        for (l, r) in &shared {
            let (a, b) = (self.star_expr(l), self.star_expr(r));
            on.push(compare_exprs(CmpOp::Eq, a, b)?);
        }
        for leaf in inner_leaves {
            self.refuse_working(leaf)?;
            self.block().sources[leaf].nullable = true;
        }
        self.null_merged();
        for (l, r) in &shared {
            let keep = if kind == JoinKind::Right { r } else { l };
            let e = self.star_expr(keep);
            self.block().merged.retain(|(n, _)| !n.eq_ignore_ascii_case(&l.name));
            self.block().merged.push((l.name.clone(), e.clone()));
            star.push(StarColumn { merged: Some(e), ..keep.clone() });
        }
        let is_shared = |c: &StarColumn| shared.iter().any(|(l, _)| l.name.eq_ignore_ascii_case(&c.name));
        let swapped = kind == JoinKind::Right && (natural || matches!(constraint, JoinConstraint::Using(_)));
        let (first, second) = if swapped { (right_star, left_star) } else { (left_star, right_star) };
        star.extend(first.into_iter().chain(second).filter(|c| !is_shared(c)));
        let (left, right) = match kind {
            JoinKind::Right => (right_tree, left_tree),
            _ => (left_tree, right_tree),
        };
        let straight = kind == JoinKind::Straight;
        Ok((Tree::Join { left_outer: outer, straight, left: Box::new(left), right: Box::new(right), on }, star))
    }

    /// What `*` stands for at this column.
    pub fn star_expr(&self, c: &StarColumn) -> Expr {
        match &c.merged {
            Some(e) => e.clone(),
            None => {
                let source = &self.scope.blocks.last().expect("block").sources[c.source];
                self.note_column(source, c.column, true);
                source.column(c.column, 0)
            }
        }
    }

    /// Plans FROM and WHERE. `order`: what the rows should come in the order of; true comes back when they do.
    pub fn join_plan(&mut self, tree: Tree, conditions: Vec<Expr>, order: &access::Wanted<'_>) -> Result<(Plan, bool)> {
        let (mut tree, mut conditions) = (tree, rewrite::factor(conditions));
        self.search_arrays(&mut tree, &mut conditions)?;
        self.search_generated(&mut tree, &mut conditions)?;
        self.note_merged();
        self.check_join_hints();
        if let Tree::Leaf(i) = tree {
            let (plan, ordered) = self.leaf(i, &mut conditions, 0, order)?;
            return Ok((filtered(plan, conditions), ordered));
        }
        // What is the same for all rows is asked before any table is read.
        let mut constants: Vec<Expr> = conditions.extract_if(.., |e| e.is_constant()).collect();
        tree.take_inner(&mut |e| e.is_constant(), &mut constants);
        let restrictions = rewrite::restrictions(&self.queries.planned, &conditions);
        conditions.extend(restrictions);
        let plan = self.subtree(tree, &mut conditions, 0)?;
        constants.append(&mut conditions);
        Ok((filtered(plan, constants), false))
    }

    /// Plans a join tree, taking from `conditions` those that it applies. `bound`: slots filled from outside.
    fn subtree(&mut self, tree: Tree, conditions: &mut Vec<Expr>, bound: u64) -> Result<Plan> {
        match tree {
            Tree::Leaf(i) => Ok(self.leaf(i, conditions, bound, &access::Wanted::none())?.0),
            Tree::Join { left_outer: true, left, right, mut on, .. } => {
                let (left_slots, right_slots) = (left.slots(self), right.slots(self));
                let mut on_left = take_within(&self.queries.planned, conditions, left_slots | bound);
                let left = self.subtree(*left, &mut on_left, bound)?;
                let left = filtered(left, on_left);
                let bound = bound | left_slots;
                let (right, hash) = self.join_step(*right, &mut on, bound, None)?;
                let batch = if hash.is_empty() { self.batch(Some(&left), &right, bound)? } else { None };
                Ok(Plan::Join(Box::new(Join {
                    kind: Kind::LeftOuter,
                    left,
                    right,
                    condition: all_of(on),
                    right_slots: bits(right_slots),
                    hash,
                    batch,
                    in_order: false,
                })))
            }
            Tree::Probe { .. } => unreachable!("a probe is an operand of a join"),
            tree => {
                let (mut operands, mut straight) = (Vec::new(), Vec::new());
                self.flatten(tree, &mut operands, conditions, &mut straight);
                self.place_probes(&mut operands, conditions, bound, &straight)?;
                let all = operands.iter().fold(0, |bits, t| bits | t.slots(self));
                let classes = Classes::close(conditions, all);
                let refs: Vec<&Tree> = operands.iter().collect();
                let order = self.join_order(&refs, conditions, &classes, bound, &straight)?.order;
                let mut operands: Vec<Option<Tree>> = operands.into_iter().map(Some).collect();
                let mut bound = bound;
                let mut plan: Option<Plan> = None;
                for (next, method) in order {
                    let operand = operands[next].take().expect("each operand once");
                    let slots = operand.slots(self);
                    plan = Some(self.joined_by(plan, operand, (conditions, &classes), bound, method)?);
                    bound |= slots;
                }
                Ok(plan.expect("a join has operands"))
            }
        }
    }

    /// The rows so far, joined to the next operand.
    fn joined_by(
        &mut self,
        left: Option<Plan>,
        operand: Tree,
        (conditions, classes): (&mut Vec<Expr>, &Classes),
        bound: u64,
        method: Method,
    ) -> Result<Plan> {
        let slots = operand.slots(self);
        let join = |left, right, condition, hash, batch, kind| {
            let right_slots = bits(slots);
            Plan::Join(Box::new(Join { kind, left, right, condition, right_slots, hash, batch, in_order: false }))
        };
        let (anti, right, mut on) = match operand {
            Tree::Probe { anti, first: None, right, on, .. } => (anti, *right, on),
            operand => {
                let mut mine = take_within(&self.queries.planned, conditions, bound | slots);
                classes.drop_implied(&mut mine, slots);
                return Ok(match (left, operand) {
                    (left, Tree::Probe { right, first: Some(values), mut on, .. }) => {
                        let input = filtered(self.subtree(*right, &mut on, 0)?, on);
                        let input = Plan::Distinct { input: Box::new(input), values };
                        let hash = hash_pairs(&self.queries.planned, &mine, slots, bound);
                        match left {
                            None => filtered(input, mine),
                            Some(left) => {
                                let inside = take_within(&self.queries.planned, &mut mine, slots);
                                join(left, filtered(input, inside), all_of(mine), hash, None, Kind::Inner)
                            }
                        }
                    }
                    (None, operand) => filtered(self.subtree(operand, &mut mine, bound)?, mine),
                    (Some(left), operand) => {
                        let (right, hash) = self.join_step(operand, &mut mine, bound, Some(method))?;
                        let batch = if hash.is_empty() { self.batch(Some(&left), &right, bound)? } else { None };
                        join(left, right, all_of(mine), hash, batch, Kind::Inner)
                    }
                });
            }
        };
        let left = left.expect("a probe comes after what it compares");
        let (right, hash) = self.join_step(right, &mut on, bound, Some(method))?;
        let batch = if hash.is_empty() { self.batch(Some(&left), &right, bound)? } else { None };
        Ok(join(left, right, all_of(on), hash, batch, if anti { Kind::Anti } else { Kind::Semi }))
    }

    /// Operands of nested inner joins; their conditions join the others. `straight`: slots that come before slots.
    fn flatten(&self, tree: Tree, out: &mut Vec<Tree>, conditions: &mut Vec<Expr>, straight: &mut Vec<(u64, u64)>) {
        match tree {
            Tree::Join { left_outer: false, straight: here, left, right, on } => {
                if here || self.request.straight {
                    straight.push((left.slots(self), right.slots(self)));
                }
                conditions.extend(on);
                self.flatten(*left, out, conditions, straight);
                self.flatten(*right, out, conditions, straight);
            }
            other => out.push(other),
        }
    }

    /// The right side of a join: an index lookup by columns of the left side, or a scan once with a hash table.
    fn join_step(
        &mut self,
        operand: Tree,
        on: &mut Vec<Expr>,
        bound: u64,
        method: Option<Method>,
    ) -> Result<(Plan, Vec<(Expr, Expr)>)> {
        let own = operand.slots(self);
        if let Tree::Leaf(i) = operand {
            let looks_up = match method {
                Some(method) => method == Method::Loop && self.lookup_score(i, on, bound)? > 0,
                None => self.lookup_score(i, on, bound)? > 0,
            };
            if !looks_up {
                let hash = match self.may_hash(i) {
                    true => hash_pairs(&self.queries.planned, on, own, bound),
                    false => Vec::new(),
                };
                let mut inside = take_within(&self.queries.planned, on, own);
                let (plan, _) = self.leaf(i, &mut inside, 0, &access::Wanted::none())?;
                return Ok((filtered(plan, inside), hash));
            }
        }
        let hash = match operand {
            Tree::Leaf(_) => Vec::new(),
            _ if method == Some(Method::Loop) || operand.needs(self) != 0 => Vec::new(),
            _ => hash_pairs(&self.queries.planned, on, own, bound),
        };
        let mut inside = take_within(&self.queries.planned, on, own);
        if hash.is_empty() {
            inside.extend(take_within(&self.queries.planned, on, own | bound));
            let plan = self.subtree(operand, &mut inside, bound)?;
            return Ok((filtered(plan, inside), hash));
        }
        let plan = self.subtree(operand, &mut inside, 0)?;
        Ok((filtered(plan, inside), hash))
    }

    /// May a table be joined by a hash table of its rows?
    pub(super) fn may_hash(&self, leaf: usize) -> bool {
        self.may_hash_unless(leaf, || self.switched_off("block_nested_loop"))
    }

    /// The same where `switched_off` says whether `optimizer_switch` lets it.
    pub(super) fn may_hash_unless(&self, leaf: usize, switched_off: impl FnOnce() -> bool) -> bool {
        let source = &self.current_block().sources[leaf];
        let hinted = source.tuning.as_ref().and_then(|t| t.hash);
        source.lateral.is_none() && hinted.unwrap_or_else(|| !switched_off())
    }

    /// How well a table can be looked up by an index when `bound` slots are known: number of equal leading parts.
    fn lookup_score(&self, leaf: usize, conditions: &[Expr], bound: u64) -> Result<usize> {
        let source = &self.current_block().sources[leaf];
        match source.table.as_ref().filter(|t| t.virtual_rows.is_none()) {
            Some(table) => access::best_equal_prefix(self, table, source, conditions, bound),
            None => Ok(0),
        }
    }

    fn leaf(
        &mut self,
        i: usize,
        conditions: &mut Vec<Expr>,
        bound: u64,
        order: &access::Wanted<'_>,
    ) -> Result<(Plan, bool)> {
        let source = &mut self.block().sources[i];
        let slot = source.slot;
        if let Some(filter) = source.filter.take() {
            // Rows that are none of the view's are not what the statement's own conditions are asked of.
            let mut own = std::mem::take(conditions);
            Self::conjuncts(filter, conditions);
            conditions.append(&mut own);
        }
        if let Some(query) = source.derived.take() {
            let lateral = source.lateral.is_some();
            let alias = source.name.clone();
            let query = self.push_down(i, query, conditions);
            return Ok((Plan::Derived { slot, query, lateral, alias }, false));
        }
        if let Some(table) = source.json_table.take() {
            return Ok((Plan::JsonTable(table), false));
        }
        if let Some(number) = source.working {
            return Ok((Plan::Working { slot, number }, false));
        }
        let table = source.table.clone().expect("a table or a derived table");
        if table.virtual_rows.is_some() {
            if super::is_information_schema(&table.schema) {
                match &table.name[..] {
                    "PROCESSLIST" => self.warnings.notes.push((ER_WARN_DEPRECATED_SYNTAX, PROCESSLIST_DEPRECATED)),
                    "OPTIMIZER_TRACE" => self.trace_reads_traces(),
                    "PROFILING" => self.warnings.notes.push((ER_WARN_DEPRECATED_SYNTAX, PROFILING_DEPRECATED)),
                    _ => {}
                }
            }
            let sought = sought_columns(conditions, slot);
            return Ok((Plan::Virtual { slot, table, sought }, false));
        }
        self.stored_table(i, table, conditions, bound, order)
    }

    /// How a stored table's rows are found, and whether they come in the order that is asked for.
    fn stored_table(
        &mut self,
        i: usize,
        table: Arc<Table>,
        conditions: &mut Vec<Expr>,
        bound: u64,
        order: &access::Wanted<'_>,
    ) -> Result<(Plan, bool)> {
        let (slot, read) = (self.block().sources[i].slot, self.block().sources[i].read);
        let mut choice = access::choose(self, i, conditions, bound, order)?;
        if self.outgrows_range_memory(i, conditions, &choice) {
            let possible = std::mem::take(&mut choice.possible);
            choice = Choice { possible, ..access::choose(self, i, conditions, bound, order)? };
        }
        self.trace_alone(i, &choice);
        if let Some(shape) = choice.shape {
            self.block().shapes[slot] = shape;
        }
        let mut filtered = 1.0;
        for (e, used) in conditions.iter().zip(&choice.used) {
            if !used && slots_of(&self.queries.planned, e) & !(bound | 1 << slot) == 0 {
                filtered *= self.selectivity(e)?;
            }
        }
        // As MySQL: no less than one row of the table, and hardly less than one of those that are read.
        let all = self.sample(&table)?.as_ref().as_ref().map_or(1.0, |s| s.rows.max(1) as f64);
        filtered = filtered.max(1.0 / all).max(FEWEST / choice.rows.max(FEWEST));
        let Source { name: alias, named, .. } = &self.scope.blocks.last().expect("inside a query block").sources[i];
        let (alias, view) = (alias.clone(), named.filter(|n| *n != table.id));
        let mut consumed = choice.consumed.iter();
        let implied = conditions.extract_if(.., |_| *consumed.next().expect("one for each condition")).collect();
        let Choice { access, covering, rows, possible, branches, intersection, .. } = choice;
        let scan = |access, rows| Scan {
            slot,
            alias: alias.clone(),
            table: table.clone(),
            view,
            access,
            read,
            covering: false,
            limit_hint: None,
            implied: None,
            rows,
            filtered: 1.0,
            possible: Vec::new(),
            multi_range: false,
        };
        if let Some(found) = intersection {
            // Of their entries the clustered keys are looked at.
            let scans = found.scans.into_iter().map(|(access, rows)| Scan { covering: true, ..scan(access, rows) });
            let merge = Intersection { scans: scans.collect(), rows, filtered, possible };
            return Ok((Plan::Intersection(Box::new(merge)), false));
        }
        if !branches.is_empty() {
            let branches = branches.into_iter().map(|b| (scan(b.access, b.rows), b.condition));
            let merge = IndexMerge { branches: branches.collect(), rows, filtered, possible };
            return Ok((Plan::IndexMerge(Box::new(merge)), choice.ordered));
        }
        let mut scan = Scan { covering, implied: all_of(implied), filtered, possible, ..scan(access, rows) };
        scan.multi_range = !choice.ordered && self.reads_in_batches(i, &scan, order.limited)?;
        Ok((Plan::Scan(scan), choice.ordered))
    }
}

/// The rows that all conditions let through.
pub fn filtered(plan: Plan, conditions: Vec<Expr>) -> Plan {
    match all_of(conditions) {
        Some(condition) => Plan::Filter { input: Box::new(plan), condition },
        None => plan,
    }
}

/// Moves the conditions that read only `slots` out of the list.
pub(super) fn take_within(subqueries: &[QueryPlan], conditions: &mut Vec<Expr>, slots: u64) -> Vec<Expr> {
    let mut taken = Vec::new();
    let mut kept = Vec::new();
    for e in conditions.drain(..) {
        if slots_of(subqueries, &e) & !slots == 0 { taken.push(e) } else { kept.push(e) }
    }
    *conditions = kept;
    taken
}

pub(super) fn bits(mask: u64) -> Vec<usize> {
    (0..64).filter(|i| mask & (1 << i) != 0).collect()
}

/// Equalities between the sides that a hash table can find rows by: both of one kind, so that equal values have equal keys.
/// The conditions stay, and are checked for each candidate.
pub(super) fn hash_pairs(subqueries: &[QueryPlan], on: &[Expr], own: u64, bound: u64) -> Vec<(Expr, Expr)> {
    let mut pairs = Vec::new();
    for e in on {
        let (Some((x, y)), Node::Compare(_, a, b, _)) = (hash_sides(subqueries, e), &e.node) else { continue };
        if x & !bound == 0 && y & !own == 0 {
            pairs.push(((**a).clone(), (**b).clone()));
        } else if y & !bound == 0 && x & !own == 0 {
            pairs.push(((**b).clone(), (**a).clone()));
        }
    }
    pairs
}

/// The slots that both sides of an equality read, if a hash table can find rows by it.
pub(super) fn hash_sides(subqueries: &[QueryPlan], e: &Expr) -> Option<(u64, u64)> {
    let Node::Compare(CmpOp::Eq, a, b, collation) = &e.node else { return None };
    let is_text = |e: &Expr| e.ty.kind.is_text() && e.ty.collation == *collation;
    let same = (a.ty.kind.is_integer() && b.ty.kind.is_integer())
        || (is_text(a) && is_text(b))
        || (a.ty.kind == b.ty.kind && a.ty.kind.is_temporal());
    let (x, y) = (slots_of(subqueries, a), slots_of(subqueries, b));
    (same && x != 0 && y != 0).then_some((x, y))
}

/// What conditions say of a virtual table's columns by constants of the same kind: texts that they equal.
fn sought_columns(conditions: &[Expr], slot: usize) -> Vec<SoughtColumn> {
    let column = |e: &Expr| match e.node {
        Node::Column { depth: 0, slot: of, column } if of as usize == slot && e.ty.kind.is_text() => {
            Some(column as usize)
        }
        _ => None,
    };
    let is_text = |e: &Expr| e.is_constant() && e.ty.kind.is_text();
    let sought = |e: &Expr| match &e.node {
        Node::Compare(CmpOp::Eq, a, b, collation) => {
            let (column, value) = column(a).map(|c| (c, b)).or_else(|| column(b).map(|c| (c, a)))?;
            is_text(value).then(|| SoughtColumn { column, values: vec![(**value).clone()], collation: *collation })
        }
        Node::In { negated: false, operand, list, collation, .. } if list.iter().all(is_text) => {
            Some(SoughtColumn { column: column(operand)?, values: list.clone(), collation: *collation })
        }
        _ => None,
    };
    conditions.iter().filter_map(sought).collect()
}
