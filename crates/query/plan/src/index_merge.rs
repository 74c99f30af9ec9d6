//! Index merge: when each branch of an OR has a range of some index, the union of these is read instead of the table; when several
//! indexes have one key each that all rows wanted have, the rows that are in all of them.

use super::Planner;
use super::access::{Analysis, LOOKUP};
use super::names::Source;
use super::node::{Access, IndexRange};
use catalog::Table;
use expr::{Expr, Node};
use sql::hints::KeyHint;

/// One branch: how its rows are found, how many, and its condition.
pub struct Branch {
    pub access: Access,
    pub rows: f64,
    pub condition: Expr,
}

/// Reading an index entry to look for its row in another index, in rows of a scan.
const ENTRY: f64 = 0.6;
/// Where one index alone leaves no more rows than this, others are not asked.
const WORTH: f64 = 16.0;

/// Indexes of which the rows that are in all of them are read, the one with least first.
pub struct Intersection {
    /// With the rows that each has.
    pub scans: Vec<(Access, f64)>,
    /// Rows in all of them, and what finding these costs.
    pub rows: f64,
    pub cost: f64,
    /// By condition: it is one of these keys.
    pub used: Vec<bool>,
}

/// What may be merged of a table's indexes.
pub struct Mergeable {
    pub indexes: Vec<bool>,
    /// INDEX_MERGE: whatever else there is.
    pub forced: bool,
    /// Branches that are not one key each.
    pub sorted: bool,
    pub unions: bool,
    pub intersects: bool,
}

impl Mergeable {
    /// As hints and `optimizer_switch` have it; `None` for no merge at all.
    pub fn of(p: &Planner<'_>, source: &Source, table: &Table, allowed: &[bool]) -> Option<Mergeable> {
        let keys = source.tuning.as_ref().map_or(&[][..], |t| &t.keys[..]);
        let hint = keys.iter().find(|(kind, ..)| *kind == KeyHint::IndexMerge);
        let named = |indexes: &[usize], i: usize| indexes.is_empty() || indexes.contains(&i);
        // A row may have several entries in a multi-valued index.
        let merges = |(i, index): (&bool, &catalog::Index)| *i && index.array_part.is_none();
        let mut indexes: Vec<bool> = allowed.iter().zip(&table.indexes).map(merges).collect();
        match hint {
            Some((_, on, list)) => indexes.iter_mut().enumerate().for_each(|(i, a)| *a &= named(list, i) == *on),
            None if p.switched_off("index_merge") => return None,
            None => {}
        }
        let forced = hint.is_some_and(|(_, on, _)| *on);
        let sorted = forced || !p.switched_off("index_merge_sort_union");
        let single = forced || !p.switched_off("index_merge_union");
        let several = indexes.iter().filter(|a| **a).count() > 1 && table.virtual_rows.is_none();
        let intersects = forced || !p.switched_off("index_merge_intersection");
        (several && (sorted || single || intersects)).then_some(Mergeable {
            indexes,
            forced,
            sorted,
            unions: sorted || single,
            intersects,
        })
    }
}

impl Analysis<'_> {
    /// The branches of an OR among the conditions, with its place: each by the index that gives least rows. What tables before
    /// this one hold is not looked up by.
    pub(super) fn union(&self, conditions: &[&Expr], mergeable: &Mergeable) -> Option<(usize, Vec<Branch>, f64)> {
        let unions = conditions.iter().enumerate().filter_map(|(at, e)| {
            let Node::Or(list) = &e.node else { return None };
            let steady = |e: &Expr| match &e.node {
                Node::Call(f, _) => !f.volatile,
                Node::SetUserVariable(..) | Node::UserVariable(_) => false,
                _ => true,
            };
            if e.any(&mut |e| !steady(e)) {
                return None;
            }
            let branches: Option<Vec<Branch>> = list.iter().map(|b| self.branch(b, mergeable)).collect();
            let branches = branches?;
            let first = branches[0].access.index;
            if branches.iter().all(|b| b.access.index == first) {
                return None;
            }
            let cost = |b: &Branch| b.rows * if b.access.index == 0 { 1.0 } else { LOOKUP } + 2.0;
            let cost: f64 = branches.iter().map(cost).sum();
            Some((at, branches, cost))
        });
        unions.min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Rows that several indexes have under one key each: those that make it cheaper to look, in the order of their rows.
    pub(super) fn intersection(&self, conditions: &[&Expr], mergeable: &Mergeable) -> Option<Intersection> {
        let mut found: Vec<(f64, Vec<bool>, Access)> = Vec::new();
        for (i, index) in self.table.indexes.iter().enumerate().filter(|(i, _)| *i != 0 && mergeable.indexes[*i]) {
            let mut used = vec![false; conditions.len()];
            let Some(range) = self.range(index, conditions, &mut used.clone(), &mut used) else { continue };
            // Then entries come in the order of the clustered key.
            if range.equal.len() == index.parts.len() && range.equal.iter().all(|e| e.len() == 1) {
                let rows = self.range_rows(i, &range);
                let access =
                    Access { index: i, ranges: vec![range], backward: false, ordered: false, loose: None, skip: None };
                found.push((rows, used, access));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        if found.len() < 2 || !mergeable.forced && found[0].0 <= WORTH {
            return None;
        }
        let mut best =
            Intersection { scans: Vec::new(), rows: self.rows, cost: f64::MAX, used: vec![false; conditions.len()] };
        let mut entries = 0.0;
        for (rows, used, access) in found {
            // An index of columns that are told apart already tells nothing new.
            if used.iter().zip(&best.used).all(|(new, old)| !new || *old) {
                continue;
            }
            let left = (best.rows * rows / self.rows).max(1.0);
            let cost = (entries + rows) * ENTRY + left * LOOKUP;
            if cost >= best.cost && !(mergeable.forced && best.scans.len() < 2) {
                continue;
            }
            entries += rows;
            best.used.iter_mut().zip(&used).for_each(|(old, new)| *old |= new);
            best.scans.push((access, rows));
            (best.rows, best.cost) = (left, cost);
        }
        (best.scans.len() > 1).then_some(best)
    }

    fn branch(&self, e: &Expr, mergeable: &Mergeable) -> Option<Branch> {
        let conditions: Vec<&Expr> = match &e.node {
            Node::And(list) => list.iter().collect(),
            _ => vec![e],
        };
        let mut best: Option<(f64, usize, IndexRange)> = None;
        for (i, index) in self.table.indexes.iter().enumerate().filter(|(i, _)| mergeable.indexes[*i]) {
            let mut ignored = vec![false; conditions.len()];
            let Some(range) = self.range(index, &conditions, &mut ignored.clone(), &mut ignored) else { continue };
            let single = range.equal.len() == index.parts.len() && range.equal.iter().all(|e| e.len() == 1);
            let rows = self.range_rows(i, &range);
            if (single || mergeable.sorted) && best.as_ref().is_none_or(|(least, ..)| rows < *least) {
                best = Some((rows, i, range));
            }
        }
        let (rows, index, range) = best?;
        let access = Access { index, ranges: vec![range], backward: false, ordered: false, loose: None, skip: None };
        Some(Branch { access, rows, condition: e.clone() })
    }
}
