//! Conditions in the form that access paths are found in: what every branch of an OR demands stands beside it, what an OR demands
//! of one table alone stands there too, and columns that are equal to a third are equal to each other.

use super::node::QueryPlan;
use super::slots::slots_of;
use expr::operator::CmpOp;
use expr::{Expr, Node, boolean_type};
use types::CollationId;

/// Slot and column.
type Column = (u16, u16);

/// Sets of columns that the conditions make equal.
#[derive(Default)]
pub struct Classes {
    sets: Vec<Vec<Column>>,
}

/// The columns that an equality joins, of one type, so that what is equal to one is equal to the other.
fn link(e: &Expr) -> Option<(Column, Column, CollationId)> {
    let Node::Compare(CmpOp::Eq, a, b, collation) = &e.node else { return None };
    let (Node::Column { depth: 0, slot: s, column: c }, Node::Column { depth: 0, slot: t, column: d }) =
        (&a.node, &b.node)
    else {
        return None;
    };
    let same = a.ty.kind == b.ty.kind
        && a.ty.unsigned == b.ty.unsigned
        && a.ty.decimals == b.ty.decimals
        && (!a.ty.kind.is_text() || (a.ty.collation == b.ty.collation && a.ty.collation == *collation));
    (same && (s, c) != (t, d)).then_some(((*s, *c), (*t, *d), *collation))
}

/// An equality between two columns of a set.
#[derive(Clone, Copy)]
pub struct Edge {
    columns: (Column, Column),
    set: usize,
}

impl Edge {
    /// Its column of the tables `own` where the other one is of others, and the set.
    pub fn seen_from(&self, own: u64) -> Option<(Column, usize)> {
        let (x, y) = self.columns;
        match (own >> x.0 & 1 == 1, own >> y.0 & 1 == 1) {
            (true, false) => Some((x, self.set)),
            (false, true) => Some((y, self.set)),
            _ => None,
        }
    }
}

impl Classes {
    /// Of the conditions on columns of `slots`; adds an equality for each two columns that have none: each stands for all others
    /// of its set then, also two columns of one table that are equal to a third.
    pub fn close(conditions: &mut Vec<Expr>, slots: u64) -> Classes {
        let mut classes = Classes::default();
        let mut typed: Vec<(Column, Expr)> = Vec::new();
        let mut collations: Vec<(Column, CollationId)> = Vec::new();
        let mut direct = Vec::new();
        for e in conditions.iter() {
            let Some((x, y, collation)) = link(e).filter(|(x, y, _)| slots >> x.0 & slots >> y.0 & 1 == 1) else {
                continue;
            };
            let Node::Compare(_, a, b, _) = &e.node else { unreachable!("a link is a comparison") };
            typed.push((x, (**a).clone()));
            typed.push((y, (**b).clone()));
            collations.push((x, collation));
            direct.push((x, y));
            classes.join(x, y);
        }
        for set in classes.sets.iter().filter(|s| s.len() > 2) {
            for (i, x) in set.iter().enumerate() {
                for y in &set[i + 1..] {
                    if direct.iter().any(|d| *d == (*x, *y) || *d == (*y, *x)) {
                        continue;
                    }
                    let of =
                        |c| typed.iter().find(|(k, _)| k == c).map(|(_, e)| e.clone()).expect("a member has a type");
                    let collation = collations.iter().find(|(k, _)| set.contains(k)).expect("a set has a link").1;
                    let (a, b) = (of(x), of(y));
                    let nullable = a.ty.nullable || b.ty.nullable;
                    let node = Node::Compare(CmpOp::Eq, Box::new(a), Box::new(b), collation);
                    conditions.push(Expr::new(node, boolean_type(nullable)));
                }
            }
        }
        classes
    }

    fn join(&mut self, x: Column, y: Column) {
        let at = |sets: &[Vec<Column>], c| sets.iter().position(|s| s.contains(&c));
        match (at(&self.sets, x), at(&self.sets, y)) {
            (None, None) => self.sets.push(vec![x, y]),
            (Some(i), None) => self.sets[i].push(y),
            (None, Some(j)) => self.sets[j].push(x),
            (Some(i), Some(j)) if i != j => {
                let (low, high) = (i.min(j), i.max(j));
                let moved = self.sets.swap_remove(high);
                self.sets[low].extend(moved);
            }
            _ => {}
        }
    }

    /// For an equality between a column of the tables `own` and one of tables before them: its own column and its set. Of
    /// those with the same answer one is enough.
    fn link(&self, e: &Expr, own: u64) -> Option<(Column, usize)> {
        self.edge(e)?.seen_from(own)
    }

    /// An equality of columns of one set.
    pub fn edge(&self, e: &Expr) -> Option<Edge> {
        let (x, y, _) = link(e)?;
        let set = self.sets.iter().position(|s| s.contains(&x) && s.contains(&y))?;
        Some(Edge { columns: (x, y), set })
    }

    /// Drops equalities with earlier tables that others of the list imply.
    pub fn drop_implied(&self, conditions: &mut Vec<Expr>, own: u64) {
        let mut seen = Vec::new();
        conditions.retain(|e| match self.link(e, own) {
            Some(link) if seen.contains(&link) => false,
            Some(link) => {
                seen.push(link);
                true
            }
            None => true,
        });
    }
}

/// Takes out of each OR what all its branches demand: `(a AND b) OR (a AND c)` is `a AND (b OR c)`.
pub fn factor(conditions: Vec<Expr>) -> Vec<Expr> {
    let mut out = Vec::with_capacity(conditions.len());
    for e in conditions {
        let Node::Or(branches) = &e.node else {
            out.push(e);
            continue;
        };
        let branches: Vec<Vec<&Expr>> = branches.iter().map(conjuncts).collect();
        let in_all = |e: &Expr| branches.iter().all(|b| b.iter().any(|other| other.same(e)));
        let common: Vec<&Expr> = branches[0].iter().copied().filter(|e| in_all(e)).collect();
        if common.is_empty() {
            out.push(e);
            continue;
        }
        let rest: Vec<Vec<Expr>> = branches
            .iter()
            .map(|b| b.iter().filter(|e| !common.iter().any(|c| c.same(e))).map(|e| (*e).clone()).collect())
            .collect();
        out.extend(common.into_iter().cloned());
        // A branch that demands nothing more makes the rest of the OR true wherever the common part is.
        if rest.iter().all(|r: &Vec<Expr>| !r.is_empty()) {
            out.push(any_of(rest));
        }
    }
    out
}

/// What each OR demands of a single table, for ORs over several tables: true wherever the OR is.
pub fn restrictions(subqueries: &[QueryPlan], conditions: &[Expr]) -> Vec<Expr> {
    let mut out = Vec::new();
    for e in conditions {
        let Node::Or(branches) = &e.node else { continue };
        let slots = slots_of(subqueries, e);
        if slots.count_ones() < 2 || slots == u64::MAX || e.any(&mut |e| !is_plain(e)) {
            continue;
        }
        let branches: Vec<Vec<&Expr>> = branches.iter().map(conjuncts).collect();
        for slot in (0..64).filter(|s| slots >> s & 1 == 1) {
            let own = |b: &Vec<&Expr>| -> Vec<Expr> {
                b.iter().filter(|e| slots_of(subqueries, e) == 1 << slot).map(|e| (*e).clone()).collect()
            };
            let rest: Vec<Vec<Expr>> = branches.iter().map(own).collect();
            if rest.iter().all(|r| !r.is_empty()) {
                out.push(any_of(rest));
            }
        }
    }
    out
}

/// May it be computed once more, or less?
fn is_plain(e: &Expr) -> bool {
    match &e.node {
        Node::Call(f, _) => !f.volatile,
        Node::SetUserVariable(..) | Node::UserVariable(_) | Node::Subquery { .. } => false,
        Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => false,
        _ => true,
    }
}

fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match &e.node {
        Node::And(list) => list.iter().flat_map(conjuncts).collect(),
        _ => vec![e],
    }
}

fn any_of(branches: Vec<Vec<Expr>>) -> Expr {
    let list: Vec<Expr> = branches.into_iter().filter_map(super::all_of).collect();
    let nullable = list.iter().any(|e| e.ty.nullable);
    Expr::new(Node::Or(list), boolean_type(nullable))
}
