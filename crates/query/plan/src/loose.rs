//! Loose index scan: GROUP BY, DISTINCT, MIN and MAX by an index whose leading parts are what a group has in common, so that few
//! entries of each group are read.

use super::Planner;
use super::access::Analysis;
use super::join_tree::Tree;
use super::node::{IndexRange, Loose};
use super::sorted::OrderKey;
use catalog::Index;
use expr::call::AggregateKind;
use expr::{Expr, Node};
use types::key;

/// What one look at a group costs, in rows of a scan.
const SEEK: f64 = 4.0;

/// What is asked of groups of one table's rows: nothing but their common columns, and the extremes of one more.
pub struct Groups {
    slot: u16,
    columns: Vec<u16>,
    extreme: Option<u16>,
    min: bool,
    max: bool,
}

impl Planner<'_> {
    /// What a grouped or distinct query asks of its rows, when a loose scan could answer it.
    pub(super) fn groups(
        &self,
        tree: &Tree,
        (keys, grouped): (&[Expr], bool),
        outputs: &[Expr],
        having: Option<&Expr>,
        order: &[OrderKey],
    ) -> Option<Groups> {
        let Tree::Leaf(leaf) = tree else { return None };
        let slot = self.current_block().sources[*leaf].slot as u16;
        let mut groups = Groups { slot, columns: Vec::new(), extreme: None, min: false, max: false };
        for e in if grouped { keys } else { outputs } {
            groups.add(e)?;
        }
        if !grouped {
            return Some(groups);
        }
        let own = groups.columns.clone();
        let all = || outputs.iter().chain(having).chain(order.iter().map(|o| &o.expr));
        let mut distinct: Option<&[Expr]> = None;
        for e in all() {
            self.asks_little(e, &own, &mut groups, &mut distinct)?;
        }
        // Distinct values of one list of columns make groups within the groups.
        if let Some(args) = distinct {
            if groups.extreme.is_some() {
                return None;
            }
            for e in args {
                groups.add(e)?;
            }
        }
        Some(groups)
    }

    fn asks_little<'e>(
        &self,
        e: &'e Expr,
        own: &[u16],
        groups: &mut Groups,
        distinct: &mut Option<&'e [Expr]>,
    ) -> Option<()> {
        match &e.node {
            Node::Aggregate(call) => match (call.kind, &call.args[..]) {
                (AggregateKind::Min | AggregateKind::Max, [one]) => {
                    let (slot, c) = one.own_column()?;
                    // Texts of members are not in the order of their numbers.
                    let ordered = matches!(one.node, Node::Column { .. } | Node::LocalTime(_));
                    let same = groups.extreme.is_none_or(|known| known == c) && distinct.is_none();
                    if slot != groups.slot || !ordered || !same {
                        return None;
                    }
                    groups.extreme = Some(c);
                    groups.min |= call.kind == AggregateKind::Min;
                    groups.max |= call.kind == AggregateKind::Max;
                    Some(())
                }
                (AggregateKind::Count | AggregateKind::Sum | AggregateKind::Avg, args) if call.distinct => {
                    let same =
                        |known: &[Expr]| known.len() == args.len() && known.iter().zip(args).all(|(a, b)| a.same(b));
                    if groups.extreme.is_some() || distinct.is_some_and(|known| !same(known)) {
                        return None;
                    }
                    *distinct = Some(args);
                    Some(())
                }
                _ => None,
            },
            Node::Window(_) => None,
            Node::Subquery { query, .. }
            | Node::Exists { query, .. }
            | Node::InSubquery { query, .. }
            | Node::Quantified { query, .. }
                if self.subqueries()[*query].correlated || self.subqueries()[*query].varies =>
            {
                None
            }
            Node::Column { depth: 0, slot, column } => (*slot == groups.slot && own.contains(column)).then_some(()),
            _ => {
                let mut answer = Some(());
                e.children(&mut |c| answer = answer.and_then(|()| self.asks_little(c, own, groups, distinct)));
                answer
            }
        }
    }
}

impl Groups {
    fn add(&mut self, e: &Expr) -> Option<()> {
        let (slot, column) = e.own_column()?;
        if !self.columns.contains(&column) {
            self.columns.push(column);
        }
        (slot == self.slot).then_some(())
    }
}

impl Analysis<'_> {
    /// A loose scan of an index, and how many groups it finds at what cost; `None` where the index does not have the groups in its
    /// leading parts.
    pub(super) fn loose(
        &self,
        at: usize,
        index: &Index,
        ranges: &[IndexRange],
        conditions: &[&Expr],
        groups: &Groups,
    ) -> Option<(Loose, f64, f64)> {
        let sample = self.sample.filter(|s| s.rows >= 100)?;
        let fixed = |i: usize| ranges.len() == 1 && ranges[0].equal.get(i).is_some_and(|e| e.len() == 1);
        let whole = |i: usize| index.parts[i].key.prefix == 0 && key::is_reversible(&index.parts[i].key);
        let of = |i: usize| index.parts[i].column as u16;
        let mut parts = 0;
        while parts < index.parts.len() && whole(parts) && (fixed(parts) || groups.columns.contains(&of(parts))) {
            parts += 1;
        }
        let leading = |column: u16| (0..parts).any(|i| of(i) == column);
        if !groups.columns.iter().all(|c| leading(*c)) {
            return None;
        }
        let inner = groups.extreme.filter(|c| !leading(*c));
        if let Some(c) = inner {
            let next = parts < index.parts.len() && of(parts) == c && whole(parts);
            if !next || index.parts[parts].key.descending {
                return None;
            }
        }
        let about_groups = |e: &Expr| {
            !e.any(&mut |e| match &e.node {
                Node::Column { depth: 0, slot, column } => *slot != groups.slot || !leading(*column),
                Node::Subquery { .. } | Node::Exists { .. } | Node::InSubquery { .. } | Node::Quantified { .. } => true,
                Node::Call(f, _) => f.volatile,
                Node::SetUserVariable(..) => true,
                _ => false,
            })
        };
        if !conditions.iter().all(|e| about_groups(e)) {
            return None;
        }
        let loose = Loose { parts, min: inner.is_some() && groups.min, max: inner.is_some() && groups.max };
        let rows = match ranges.is_empty() {
            true => self.rows,
            false => ranges.iter().map(|r| self.range_rows(at, r)).sum::<f64>().min(self.rows),
        };
        let count = match parts {
            0 => 1.0,
            n => (rows / sample.rows_per_key[at][n - 1]).max(1.0),
        };
        let nulls = loose.min && index.parts[parts].key.data_type.nullable;
        // Of indexes that are as good the shortest.
        let length = index.parts.len() as f64 / 1000.0;
        Some((loose, count, length + count * SEEK * (1 + nulls as usize + loose.max as usize) as f64))
    }
}
