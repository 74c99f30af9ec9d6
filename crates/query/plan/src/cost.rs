//! The order of a join, and how each table is joined: what it costs by the statistics. Orders are searched completely for a few
//! tables, and greedily for many. Unit of cost: reading one row of a scan.
//!
//! The inner side of an outer join and a probe are asked twice each, for loops and for a hash table, and lie in each other: what
//! they cost is kept, so that the search takes time by the number of levels and not by its power. So is what a table costs, by
//! those of the tables before it that its conditions read; and sets that cost more than the greedy order are not gone on from.

use super::Planner;
use super::access::{self, Wanted};
use super::join_tree::Tree;
use super::node::{JoinKind, Plan};
use super::rewrite::{Classes, Edge};
use super::slots::slots_of;
use super::tables::{hash_pairs, hash_sides};
use expr::{Expr, Node};
use hashbrown::HashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use types::codes::*;
use types::{Result, err};

/// Operands whose orders are searched.
const SEARCHED_MAX: usize = 9;
/// Operands whose orders are all tried: of more, what may come next behind a set is not gone on with where something else may that
/// costs less and gives fewer rows.
const EXHAUSTED_MAX: usize = 6;
/// Starting a scan or lookup.
const OPEN: f64 = 1.5;
/// Putting a row into a hash table, and asking for one.
const BUILD: f64 = 1.2;
const PROBE: f64 = 0.4;
/// A row of a derived table, or of one whose contents nobody knows.
const UNKNOWN_ROWS: f64 = 100.0;

/// How the next operand is joined to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Opened for each row: by an index of what is known then, or as a whole.
    Loop,
    Hash,
}

#[derive(Clone, Copy)]
struct Joined {
    cost: f64,
    rows: f64,
    method: Method,
}

/// An order of operands with what it costs.
#[derive(Clone)]
pub struct State {
    pub cost: f64,
    pub rows: f64,
    pub order: Vec<(usize, Method)>,
}

/// The cheapest way that was found to join a set of operands, by the one that comes last.
#[derive(Clone, Copy)]
struct Reached {
    cost: f64,
    rows: f64,
    last: usize,
    method: Method,
}

/// A table, or a join, that was looked at as the next one of a join, for the optimizer's trace.
pub(crate) struct Considered {
    pub own: u64,
    /// Slots of what is read before.
    pub known: u64,
    pub access: &'static str,
    pub rows: f64,
    pub cost: f64,
    /// With the cost of what is read before.
    pub total: f64,
    pub chosen: bool,
}

/// What the inner side of a join is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Asked {
    /// To be opened for each row, by the join's conditions.
    Opened,
    /// To be read once, by those of them that it can answer alone.
    Alone,
    /// To be read once and whole.
    Whole,
}

/// The slots of an inner side, what it is asked, and which of the known slots its conditions read.
type Inner = (u64, Asked, u64);

/// The search for the order of one join, with what the inner sides below it were found to cost: the trees do not change meanwhile.
pub(super) struct Search<'s, 'p> {
    planner: &'s Planner<'p>,
    /// Cost and rows.
    kept: RefCell<HashMap<Inner, (f64, f64)>>,
    /// Whether `optimizer_switch` forbids hash tables, once it was looked at.
    switched_off: OnceCell<bool>,
}

/// One opening of a table.
struct Opening {
    cost: f64,
    /// Rows that are read.
    rows: f64,
    /// Which conditions these fulfil already.
    used: Vec<bool>,
    /// An index is used for what is known.
    looks_up: bool,
}

/// Which sets of equal columns have one that is known, and the known slots beside.
type Known = (u64, u64);

/// What indexes of a table may look up by.
struct Finders {
    /// For each of its columns and sets of equal columns: the slots of the others in the set. Any of them is as good.
    sets: Vec<((u16, u16), usize, u64)>,
    /// The slots that other conditions read which an index may use.
    others: u64,
}

impl Finders {
    /// What is known of this, with `known` slots: tables that are opened by the same are opened alike.
    fn known(&self, known: u64) -> Known {
        let sets = self.sets.iter().take(64).enumerate().filter(|(_, (.., slots))| slots & known != 0);
        let more = self.sets.iter().skip(64).fold(0, |all, (.., slots)| all | slots);
        (sets.fold(0, |bits, (i, _)| bits | 1 << i), known & (self.others | more))
    }
}

/// The conditions of one join, with what is asked of them for every set of its operands.
struct Conditions<'c> {
    list: &'c [Expr],
    /// Those that are equalities of columns which imply each other.
    edges: Vec<Option<Edge>>,
    /// The slots that each reads.
    slots: Vec<u64>,
    /// For a hash table: the slots of both sides of an equality that has one.
    pairs: Vec<(u64, u64)>,
    /// Once it was asked.
    selectivity: Vec<Cell<Option<f64>>>,
    /// By the table, and what an index of it can look up by: see [`Finders::known`].
    openings: RefCell<HashMap<(usize, Known), Rc<Opening>>>,
    finders: RefCell<HashMap<usize, Rc<Finders>>>,
}

impl<'c> Conditions<'c> {
    fn new(planner: &Planner<'_>, list: &'c [Expr], classes: &'c Classes) -> Conditions<'c> {
        let subqueries = planner.subqueries();
        Conditions {
            list,
            edges: list.iter().map(|e| classes.edge(e)).collect(),
            slots: list.iter().map(|e| slots_of(subqueries, e)).collect(),
            pairs: list.iter().filter_map(|e| hash_sides(subqueries, e)).collect(),
            selectivity: vec![Cell::new(None); list.len()],
            openings: RefCell::default(),
            finders: RefCell::default(),
        }
    }

    fn selectivity(&self, planner: &Planner<'_>, at: usize) -> Result<f64> {
        if let Some(known) = self.selectivity[at].get() {
            return Ok(known);
        }
        let share = planner.selectivity(&self.list[at])?;
        self.selectivity[at].set(Some(share));
        Ok(share)
    }

    /// Can rows of `own` be found by a hash table, once `known` is?
    fn may_hash(&self, own: u64, known: u64) -> bool {
        let leads = |from: u64, to: u64| from & !known == 0 && to & !own == 0;
        self.pairs.iter().any(|(x, y)| leads(*x, *y) || leads(*y, *x))
    }
}

impl Planner<'_> {
    /// The operands of an inner join in the order in which they are read; `bound`: slots known from outside.
    pub(super) fn join_order(
        &self,
        operands: &[&Tree],
        conditions: &[Expr],
        classes: &Classes,
        bound: u64,
        straight: &[(u64, u64)],
    ) -> Result<State> {
        let search = Search { planner: self, kept: RefCell::default(), switched_off: OnceCell::new() };
        search.join_order(operands, &Conditions::new(self, conditions, classes), bound, straight)
    }
}

impl Search<'_, '_> {
    fn join_order(
        &self,
        operands: &[&Tree],
        conditions: &Conditions<'_>,
        bound: u64,
        straight: &[(u64, u64)],
    ) -> Result<State> {
        let n = operands.len();
        let after = self.planner.join_after(operands, straight);
        let greedy = self.greedy_order(operands, conditions, bound, &after)?;
        if n > SEARCHED_MAX {
            return Ok(greedy);
        }
        let mut best: Vec<Option<Reached>> = vec![None; 1 << n];
        for set in 0..(1usize << n) - 1 {
            let (cost, rows) = match best[set] {
                _ if set == 0 => (0.0, 1.0),
                Some(reached) => (reached.cost, reached.rows),
                None => continue,
            };
            let known = slots_in(self.planner, operands, set) | bound;
            let mut following = Vec::with_capacity(n);
            for i in (0..n).filter(|i| set & 1 << i == 0 && after[*i] & !(set as u64) == 0) {
                following.push((i, self.join_cost(operands[i], conditions, known, rows, set != 0 || bound != 0)?));
            }
            if n > EXHAUSTED_MAX && set != 0 {
                drop_dearer(&mut following);
            }
            for (i, joined) in following {
                let total = cost + joined.cost;
                let next = &mut best[set | 1 << i];
                let chosen = total <= greedy.cost && next.as_ref().is_none_or(|s| total < s.cost);
                if chosen {
                    *next = Some(Reached { cost: total, rows: joined.rows, last: i, method: joined.method });
                }
                if self.planner.is_traced() {
                    let access = self.access_type(operands[i], &joined, conditions, known)?;
                    let (own, Joined { cost, rows, .. }) = (operands[i].slots(self.planner), joined);
                    self.planner.trace_considered(&Considered { own, known, access, rows, cost, total, chosen });
                }
            }
        }
        let mut set = (1 << n) - 1;
        let Some(Reached { cost, rows, .. }) = best[set] else { return Ok(greedy) };
        let mut order = Vec::with_capacity(n);
        while let Some(reached) = best[set] {
            order.push((reached.last, reached.method));
            set &= !(1 << reached.last);
        }
        order.reverse();
        Ok(State { cost, rows, order })
    }

    /// How the operand is read, in EXPLAIN's words.
    #[cold]
    fn access_type(
        &self,
        operand: &Tree,
        joined: &Joined,
        conditions: &Conditions<'_>,
        known: u64,
    ) -> Result<&'static str> {
        Ok(match (operand, joined.method) {
            (_, Method::Hash) => "hash",
            (Tree::Leaf(i), _) if self.opening(*i, conditions, known)?.looks_up => "ref",
            _ => "scan",
        })
    }

    /// The order in which each operand is the cheapest of those that may come next.
    fn greedy_order(
        &self,
        operands: &[&Tree],
        conditions: &Conditions<'_>,
        bound: u64,
        after: &[u64],
    ) -> Result<State> {
        let mut state = State { cost: 0.0, rows: 1.0, order: Vec::with_capacity(operands.len()) };
        let mut set = 0usize;
        while state.order.len() < operands.len() {
            let known = slots_in(self.planner, operands, set) | bound;
            let mut best: Option<(usize, Joined)> = None;
            for i in (0..operands.len()).filter(|i| set & 1 << i == 0 && after[*i] & !(set as u64) == 0) {
                let joined = self.join_cost(operands[i], conditions, known, state.rows, set != 0 || bound != 0)?;
                let weight = |j: &Joined| j.cost + j.rows;
                if best.as_ref().is_none_or(|(_, b)| weight(&joined) < weight(b)) {
                    best = Some((i, joined));
                }
            }
            let (i, joined) = best.expect("each operand may come when those before it in FROM have");
            set |= 1 << i;
            state.rows = joined.rows;
            state.cost += joined.cost;
            state.order.push((i, joined.method));
        }
        Ok(state)
    }

    fn join_cost(
        &self,
        operand: &Tree,
        conditions: &Conditions<'_>,
        known: u64,
        rows: f64,
        joins: bool,
    ) -> Result<Joined> {
        self.planner.step()?;
        let own = operand.slots(self.planner);
        if let Tree::Probe { first: None, .. } = operand {
            return self.probe_cost(operand, known, rows);
        }
        let opening = match operand {
            Tree::Leaf(i) => self.opening(*i, conditions, known)?,
            Tree::Join { .. } => {
                let all = self.tree_rows(operand)?;
                Rc::new(Opening {
                    cost: all * 2.0,
                    rows: all,
                    used: vec![false; conditions.list.len()],
                    looks_up: false,
                })
            }
            Tree::Probe { right, on, first, .. } => {
                let (cost, rows) = self.inner_cost(right, Asked::Alone, on, 0)?;
                let mut different = 1.0;
                for value in first.as_ref().expect("others are above") {
                    different *= self.planner.different(value)?.unwrap_or(rows);
                }
                let (cost, rows) = (cost + rows * BUILD, rows.min(different).max(1.0));
                Rc::new(Opening { cost, rows, used: vec![false; conditions.list.len()], looks_up: false })
            }
        };
        let kept = self.kept_of(conditions, &opening.used, own, known)?;
        let out = (rows * opening.rows * kept).max(0.01);
        let loops = Joined { cost: rows * (opening.cost + OPEN) + out * 0.1, rows: out, method: Method::Loop };
        let never = !self.may_keep(operand);
        if let (Tree::Probe { .. }, true) = (operand, joins) {
            // Rows that were made distinct are kept, or come first of all.
            let possible = conditions.may_hash(own, known);
            let by_hash = opening.cost + opening.rows * BUILD + rows * PROBE + out * 0.1;
            let cost = if possible { by_hash } else { f64::MAX / 1e6 };
            return Ok(Joined { cost, rows: out, method: Method::Hash });
        }
        if !joins || never || !conditions.may_hash(own, known) {
            return Ok(loops);
        }
        let (scan_cost, scanned) = match operand {
            Tree::Leaf(i) => {
                let scan = self.opening(*i, conditions, 0)?;
                let mut kept = 1.0;
                for (at, used) in scan.used.iter().enumerate() {
                    if conditions.slots[at] & !own == 0 && !used {
                        kept *= conditions.selectivity(self.planner, at)?;
                    }
                }
                (scan.cost, scan.rows * kept)
            }
            Tree::Join { .. } | Tree::Probe { .. } => (opening.cost, opening.rows),
        };
        let cost = scan_cost + scanned * BUILD + rows * PROBE + out * 0.1;
        if (cost < loops.cost && !self.wants_batches(operand)) || !opening.looks_up {
            return Ok(Joined { cost, rows: out, method: Method::Hash });
        }
        Ok(loops)
    }

    /// The part of the rows of `own` that its conditions leave, but for those that are `used` to find them. Of equalities that imply each
    /// other one counts, first of all one that the rows are looked up by.
    fn kept_of(&self, conditions: &Conditions<'_>, used: &[bool], own: u64, known: u64) -> Result<f64> {
        let applies = |slots: u64| slots & !(known | own) == 0 && slots & own != 0;
        let applying = || (0..used.len()).filter(|at| applies(conditions.slots[*at]));
        let link = |at: usize| conditions.edges[at].as_ref()?.seen_from(own);
        // An opening that is kept may have used another one of its set than what can be asked now.
        let mut linked: Vec<_> = (0..used.len()).filter(|at| used[*at]).filter_map(link).collect();
        let mut kept = 1.0;
        for at in applying().filter(|at| !used[*at]) {
            if let Some(link) = link(at) {
                if linked.contains(&link) {
                    continue;
                }
                linked.push(link);
            }
            kept *= conditions.selectivity(self.planner, at)?;
        }
        Ok(kept)
    }

    /// [`Search::leaf_cost`] of a table of the join, computed once for those of the known slots that an index may look up by.
    fn opening(&self, leaf: usize, conditions: &Conditions<'_>, known: u64) -> Result<Rc<Opening>> {
        let own = 1 << self.planner.current_block().sources[leaf].slot;
        let key = (leaf, self.finders(leaf, own, conditions).known(known));
        if let Some(opening) = conditions.openings.borrow().get(&key) {
            return Ok(Rc::clone(opening));
        }
        // What says nothing of the table, and what can not be asked yet, is not looked at for each of its indexes.
        let (mut places, mut asked) = (Vec::new(), Vec::new());
        for (at, e) in conditions.list.iter().enumerate() {
            let slots = conditions.slots[at];
            if slots & own != 0 && (slots & !(known | own) == 0 || !access::is_plain(e)) {
                places.push(at);
                asked.push(e);
            }
        }
        let mut opening = self.leaf_cost(leaf, &asked, known)?;
        let mut used = vec![false; conditions.list.len()];
        places.into_iter().zip(&opening.used).for_each(|(at, is_used)| used[at] = *is_used);
        opening.used = used;
        let opening = Rc::new(opening);
        conditions.openings.borrow_mut().insert(key, Rc::clone(&opening));
        Ok(opening)
    }

    fn finders(&self, leaf: usize, own: u64, conditions: &Conditions<'_>) -> Rc<Finders> {
        if let Some(finders) = conditions.finders.borrow().get(&leaf) {
            return Rc::clone(finders);
        }
        let mut finders = Finders { sets: Vec::new(), others: 0 };
        for (at, e) in conditions.list.iter().enumerate() {
            let others = conditions.slots[at] & !own;
            if conditions.slots[at] & own == 0 || !access::may_find(self.planner, leaf, e) {
                continue;
            }
            let Some((column, set)) = conditions.edges[at].and_then(|edge| edge.seen_from(own)) else {
                finders.others |= others;
                continue;
            };
            match finders.sets.iter_mut().find(|(c, s, _)| (*c, *s) == (column, set)) {
                Some((.., slots)) => *slots |= others,
                None => finders.sets.push((column, set, others)),
            }
        }
        let finders = Rc::new(finders);
        conditions.finders.borrow_mut().insert(leaf, Rc::clone(&finders));
        finders
    }

    /// May its rows be read once, and kept in a hash table?
    fn may_keep(&self, operand: &Tree) -> bool {
        match operand {
            Tree::Leaf(i) => self.planner.may_hash_unless(*i, || {
                *self.switched_off.get_or_init(|| self.planner.switched_off("block_nested_loop"))
            }),
            Tree::Join { .. } | Tree::Probe { .. } => operand.needs(self.planner) == 0,
        }
    }

    /// Does a hint say that the table is looked up in batches?
    fn wants_batches(&self, operand: &Tree) -> bool {
        let Tree::Leaf(i) = operand else { return false };
        self.planner.current_block().sources[*i].tuning.as_ref().is_some_and(|t| t.batched == Some(true))
    }

    /// Of asking for a match in a subquery's tables, for each of `rows`.
    fn probe_cost(&self, operand: &Tree, known: u64, rows: f64) -> Result<Joined> {
        let Tree::Probe { anti, strategies, right, on, .. } = operand else { unreachable!("the caller looks") };
        let own = right.slots(self.planner);
        let subqueries = self.planner.subqueries();
        let (open, read) = self.inner_cost(right, Asked::Opened, on, known)?;
        let share = match anti {
            true => (1.0 - read).max(0.1),
            false => read.min(1.0),
        };
        let out = (rows * share).max(0.01);
        // The first match ends it.
        let open = open * (0.5 + 0.5 / read.max(1.0));
        let loops = Joined { cost: rows * (open + OPEN) + out * 0.1, rows: out, method: Method::Loop };
        if !self.may_keep(right) || hash_pairs(subqueries, on, own, known).is_empty() {
            return Ok(loops);
        }
        let inside: Vec<Expr> = on.iter().filter(|e| slots_of(subqueries, e) & !own == 0).cloned().collect();
        let (scan, scanned) = self.inner_cost(right, Asked::Alone, &inside, 0)?;
        let cost = scan + scanned * BUILD + rows * PROBE + out * 0.1;
        let looks_up = match **right {
            Tree::Leaf(i) => self.leaf_cost(i, &on.iter().collect::<Vec<_>>(), known)?.looks_up,
            _ => true,
        };
        let hash = (cost < loops.cost && !self.wants_batches(right)) || !looks_up || !strategies.loops;
        Ok(if hash { Joined { cost, rows: out, method: Method::Hash } } else { loops })
    }

    /// [`Search::tree_cost`] of the inner side of an outer join or a probe, computed once. `conditions` are those of the join that
    /// `asked` says.
    fn inner_cost(&self, tree: &Tree, asked: Asked, conditions: &[Expr], known: u64) -> Result<(f64, f64)> {
        let mut inside = Vec::new();
        tree.conditions(&mut inside);
        let read = inside.into_iter().chain(conditions);
        let read = read.fold(0, |bits, e| bits | slots_of(self.planner.subqueries(), e));
        let key = (tree.slots(self.planner), asked, known & read);
        if let Some(cost) = self.kept.borrow().get(&key) {
            return Ok(*cost);
        }
        let cost = self.tree_cost(tree, conditions, known)?;
        self.kept.borrow_mut().insert(key, cost);
        Ok(cost)
    }

    /// Cost of reading a tree once, and the rows that it gives then.
    fn tree_cost(&self, tree: &Tree, conditions: &[Expr], known: u64) -> Result<(f64, f64)> {
        match tree {
            Tree::Leaf(i) => {
                let own = tree.slots(self.planner);
                let Opening { cost, mut rows, used, .. } =
                    self.leaf_cost(*i, &conditions.iter().collect::<Vec<_>>(), known)?;
                for (e, used) in conditions.iter().zip(&used) {
                    if !used && slots_of(self.planner.subqueries(), e) & !(known | own) == 0 {
                        rows *= self.planner.selectivity(e)?;
                    }
                }
                Ok((cost, rows))
            }
            Tree::Join { left_outer: true, left, right, on, .. } => {
                let (cost, rows) = self.tree_cost(left, conditions, known)?;
                let (open, read) = self.inner_cost(right, Asked::Opened, on, known | left.slots(self.planner))?;
                let (scan, scanned) = self.inner_cost(right, Asked::Whole, &[], 0)?;
                let joined = (rows * (open + OPEN)).min(scan + scanned * BUILD + rows * PROBE);
                Ok((cost + joined, rows * read.max(1.0)))
            }
            Tree::Probe { right, .. } => self.tree_cost(right, conditions, known),
            Tree::Join { .. } => {
                let (mut operands, mut straight, mut all) = (Vec::new(), Vec::new(), conditions.to_vec());
                self.operands_of(tree, &mut operands, &mut all, &mut straight);
                let slots = tree.slots(self.planner);
                let classes = Classes::close(&mut all, slots);
                let conditions = Conditions::new(self.planner, &all, &classes);
                let state = self.join_order(&operands, &conditions, known, &straight)?;
                Ok((state.cost, state.rows))
            }
        }
    }

    /// [`Planner::flatten`] for who only looks.
    fn operands_of<'t>(
        &self,
        tree: &'t Tree,
        out: &mut Vec<&'t Tree>,
        conditions: &mut Vec<Expr>,
        straight: &mut Vec<(u64, u64)>,
    ) {
        match tree {
            Tree::Join { left_outer: false, straight: here, left, right, on } => {
                if *here {
                    straight.push((left.slots(self.planner), right.slots(self.planner)));
                }
                conditions.extend(on.iter().cloned());
                self.operands_of(left, out, conditions, straight);
                self.operands_of(right, out, conditions, straight);
            }
            other => out.push(other),
        }
    }

    fn leaf_cost(&self, leaf: usize, conditions: &[&Expr], known: u64) -> Result<Opening> {
        let source = &self.planner.current_block().sources[leaf];
        let unused = vec![false; conditions.len()];
        match &source.table {
            Some(t) if t.virtual_rows.is_none() => {
                let choice = access::choose_by(self.planner, leaf, conditions, known, &Wanted::none())?;
                let looks_up = !choice.access.ranges.is_empty();
                Ok(Opening { cost: choice.cost, rows: choice.rows, used: choice.used, looks_up })
            }
            Some(_) => Ok(Opening { cost: UNKNOWN_ROWS, rows: UNKNOWN_ROWS, used: unused, looks_up: false }),
            None => {
                let rows = source.derived.as_ref().map_or(UNKNOWN_ROWS, |q| plan_rows(&q.plan));
                Ok(Opening { cost: rows * 2.0, rows, used: unused, looks_up: false })
            }
        }
    }

    fn tree_rows(&self, tree: &Tree) -> Result<f64> {
        match tree {
            Tree::Leaf(i) => Ok(self.leaf_cost(*i, &[], 0)?.rows),
            Tree::Probe { right, .. } => self.tree_rows(right),
            // Mostly a key leads from one side to the other.
            Tree::Join { left, right, .. } => Ok(self.tree_rows(left)?.max(self.tree_rows(right)?)),
        }
    }
}

/// Leaves those for which no other costs as little and gives as few rows.
fn drop_dearer(following: &mut Vec<(usize, Joined)>) {
    following.sort_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost).then(a.rows.total_cmp(&b.rows)));
    let mut fewest = f64::INFINITY;
    following.retain(|(_, joined)| {
        let fewer = joined.rows < fewest;
        fewest = fewest.min(joined.rows);
        fewer
    });
}

fn slots_in(p: &Planner<'_>, operands: &[&Tree], set: usize) -> u64 {
    let chosen = operands.iter().enumerate().filter(|(i, _)| set & 1 << i != 0);
    chosen.fold(0, |bits, (_, t)| bits | t.slots(p))
}

/// Rows of base tables that a plan reads, roughly, until it has given `cap` of its own.
fn rows_read(plan: &Plan, cap: f64) -> f64 {
    const ALL: f64 = f64::INFINITY;
    match plan {
        Plan::One | Plan::Values { .. } | Plan::Virtual { .. } | Plan::Working { .. } | Plan::JsonTable(_) => 0.0,
        Plan::Scan(s) if s.filtered < 1.0 => s.rows,
        Plan::Scan(s) => s.rows.min(cap),
        Plan::IndexMerge(m) => m.rows,
        Plan::Intersection(m) => m.rows,
        Plan::Ends(scans) => scans.len() as f64,
        Plan::Recursive(r) => {
            rows_read(&r.seed.plan, ALL) + r.steps.iter().map(|q| rows_read(&q.plan, ALL)).sum::<f64>()
        }
        Plan::Derived { query, .. } => rows_read(&query.plan, ALL),
        Plan::Join(j) => {
            let right = rows_read(&j.right, ALL);
            // MySQL keeps a table that is read whole in the join's buffer.
            let read_once = !j.hash.is_empty()
                || matches!(&j.right, Plan::Scan(s) if s.access.ranges.is_empty() && s.access.loose.is_none());
            let openings = if read_once { 1.0 } else { plan_rows(&j.left).min(cap) };
            let per_left = plan_rows(plan) / plan_rows(&j.left).max(1.0);
            rows_read(&j.left, (cap / per_left.max(1.0)).ceil()) + openings * right
        }
        Plan::Filter { input, .. } | Plan::Distinct { input, .. } => rows_read(input, ALL),
        Plan::Counted { input, .. } | Plan::Computed { input, .. } => rows_read(input, cap),
        Plan::Group(g) => rows_read(&g.input, ALL),
        Plan::Window(w) => rows_read(&w.input, ALL),
        Plan::Sort(s) => rows_read(&s.input, ALL),
        Plan::Limit { input, count, .. } => match &count.node {
            Node::Const(v) => rows_read(input, cap.min(v.to_f64())),
            _ => rows_read(input, cap),
        },
        Plan::SetOp(s) => rows_read(&s.left.plan, ALL) + rows_read(&s.right.plan, ALL),
    }
}

impl Planner<'_> {
    /// Error 1104 for a query that would read more rows than `max_join_size`, unless `sql_big_selects` lets it.
    pub(super) fn refuse_big(&self, plan: &Plan) -> Result<()> {
        if rows_read(plan, f64::INFINITY) <= 1.0 || self.settings.explains || self.flag("sql_big_selects") {
            return Ok(());
        }
        let number = |name| self.env.system_variable(None, name).map(|(v, _)| v.to_f64());
        match rows_read(plan, number("sql_select_limit")?) > number("max_join_size")? {
            true => Err(err!(ER_TOO_BIG_SELECT)),
            false => Ok(()),
        }
    }
}

/// Rows that a plan gives, roughly.
pub fn plan_rows(plan: &Plan) -> f64 {
    match plan {
        Plan::One => 1.0,
        Plan::Values { rows, .. } => rows.len() as f64,
        Plan::Scan(s) => s.rows * s.filtered,
        Plan::IndexMerge(m) => m.rows * m.filtered,
        Plan::Intersection(m) => m.rows * m.filtered,
        Plan::Ends(scans) => scans.len() as f64,
        Plan::Virtual { .. } | Plan::Working { .. } => UNKNOWN_ROWS,
        Plan::JsonTable(_) => 2.0,
        Plan::Recursive(r) => plan_rows(&r.seed.plan) * 10.0,
        Plan::Derived { query, .. } => plan_rows(&query.plan),
        Plan::Join(j) if matches!(j.kind, JoinKind::Semi | JoinKind::Anti) => plan_rows(&j.left),
        Plan::Join(j) => plan_rows(&j.left) * if j.hash.is_empty() { plan_rows(&j.right) } else { 1.0 },
        Plan::Filter { input, .. } | Plan::Counted { input, .. } | Plan::Computed { input, .. } => plan_rows(input),
        Plan::Group(g) if g.implicit => 1.0,
        Plan::Group(g) => (plan_rows(&g.input) / 3.0).max(1.0),
        Plan::Window(w) => plan_rows(&w.input),
        Plan::Sort(s) => plan_rows(&s.input),
        Plan::Distinct { input, .. } => plan_rows(input) / 2.0,
        Plan::Limit { input, count, .. } => match &count.node {
            Node::Const(v) => plan_rows(input).min(v.to_f64()),
            _ => plan_rows(input),
        },
        Plan::SetOp(s) => plan_rows(&s.left.plan) + plan_rows(&s.right.plan),
    }
}
