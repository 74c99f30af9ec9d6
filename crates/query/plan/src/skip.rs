//! Skip scan: a range of one part of an index is read behind each different value of the parts before it, of which nothing is
//! known.

use super::Planner;
use super::access::{Analysis, Choice, Limit, Wanted};
use super::names::Source;
use super::node::{Access, IndexRange, Skip};
use catalog::Index;
use expr::Expr;
use sql::hints::KeyHint;

/// What one look at a group costs, in rows of a scan: its first entry, and the start of its range.
const SEEK: f64 = 8.0;
/// The shares of rows that ranges keep where nothing is known.
const RANGE_KEEPS: f64 = 0.11;
const HALF_RANGE_KEEPS: f64 = 0.33;

/// How an index is skipped through, and what that costs.
pub(super) struct SkipChoice {
    pub skip: Skip,
    /// Of the leading parts that are known; none for all of the index.
    pub ranges: Vec<IndexRange>,
    pub rows: f64,
    pub cost: f64,
    pub used: Vec<bool>,
    pub index: usize,
    /// Its rows come in the wanted order.
    pub ordered: bool,
    /// SKIP_SCAN: whatever else there is.
    pub forced: bool,
}

impl Analysis<'_> {
    /// The cheapest skip scan of an index that has all columns that are read, as hints and `optimizer_switch` have it.
    pub(super) fn best_skip(
        &self,
        p: &Planner<'_>,
        source: &Source,
        (conditions, wanted): (&[&Expr], &Wanted<'_>),
        allowed: &[bool],
    ) -> Option<SkipChoice> {
        let mut best: Option<SkipChoice> = None;
        let indexes = self.table.indexes.iter().enumerate();
        let usable =
            |i: usize, index: &Index| allowed[i] && index.array_part.is_none() && self.covers(index, &source.used);
        for (i, index) in indexes.filter(|(i, index)| usable(*i, index)) {
            let Some(mut found) = self.skip(i, index, conditions) else { continue };
            let hint = source.tuning.as_ref().and_then(|t| {
                let named = |list: &[usize]| list.is_empty() || list.contains(&i);
                let keys = t.keys.iter().filter(|(kind, ..)| *kind == KeyHint::SkipScan);
                // SKIP_SCAN of some indexes is none of the others.
                keys.map(|(_, on, list)| named(list) == *on).next_back()
            });
            if !hint.unwrap_or_else(|| !p.switched_off("skip_scan")) {
                continue;
            }
            found.forced = hint == Some(true)
                && source
                    .tuning
                    .as_ref()
                    .is_some_and(|t| t.keys.iter().any(|(kind, on, _)| *kind == KeyHint::SkipScan && *on));
            if !wanted.keys.is_empty() {
                found.ordered = self.order(index, &found.ranges, wanted) == Some(false);
                found.cost += if found.ordered { 0.0 } else { found.rows * 0.5 };
            }
            if best.as_ref().is_none_or(|b| found.cost < b.cost) {
                best = Some(found);
            }
        }
        best
    }

    pub(super) fn skip_choice(&self, found: SkipChoice, scale: f64) -> Choice {
        let index = &self.table.indexes[found.index];
        let covering = found.index != 0;
        Choice {
            access: Access {
                index: found.index,
                ranges: found.ranges,
                backward: false,
                ordered: found.ordered,
                loose: None,
                skip: Some(Box::new(found.skip)),
            },
            consumed: vec![false; found.used.len()],
            covering,
            shape: covering.then(|| self.covered_shape(index)),
            ordered: found.ordered,
            rows: (found.rows * scale).max(1.0),
            cost: (found.cost * scale).max(1.0),
            used: found.used,
            possible: Vec::new(),
            branches: Vec::new(),
            intersection: None,
        }
    }

    /// A skip scan of an index; `None` where its leading parts alone are a range, or nothing is known of a later one.
    pub(super) fn skip(&self, at: usize, index: &Index, conditions: &[&Expr]) -> Option<SkipChoice> {
        let sample = self.sample.filter(|s| s.rows > 0)?;
        let mut used = vec![false; conditions.len()];
        let mut leading = IndexRange::default();
        for part in &index.parts {
            let Some((i, values, nulls)) = conditions.iter().enumerate().find_map(|(i, e)| {
                if let Some(Limit::Equal(values, nulls)) = self.limit(e, part.column) {
                    return Some((i, values, nulls));
                }
                None
            }) else {
                break;
            };
            used[i] = true;
            leading.equal.push(values);
            leading.nulls.push(nulls);
        }
        let known = leading.equal.len();
        // The part that is skipped over says nothing, one behind it does.
        let bounds = |limit: &Limit| !matches!(limit, Limit::NotNull);
        let says = |part: usize| {
            conditions.iter().any(|e| self.limit(e, index.parts[part].column).as_ref().is_some_and(bounds))
        };
        if known >= index.parts.len() || says(known) {
            return None;
        }
        let parts = (known + 1..index.parts.len()).find(|part| says(*part))?;
        let (bound, keeps) = self.bound_of(&index.parts[parts], conditions, &mut used)?;
        let ranges = if known > 0 { vec![leading] } else { Vec::new() };
        let all = match ranges.first() {
            Some(range) => self.range_rows(at, range).min(self.rows),
            None => self.rows,
        };
        let groups = (all / sample.rows_per_key[at][parts - 1]).max(1.0);
        let rows = (all * keeps.unwrap_or(1.0 / sample.different[index.parts[parts].column])).max(1.0);
        let cost = groups * SEEK + rows * 0.9;
        let (ordered, forced) = (false, false);
        Some(SkipChoice { skip: Skip { parts, bound }, ranges, rows, cost, used, index: at, ordered, forced })
    }

    /// What the conditions say of one part, and the share of rows that this keeps, if that does not hang from its values.
    fn bound_of(
        &self,
        part: &catalog::IndexPart,
        conditions: &[&Expr],
        used: &mut [bool],
    ) -> Option<(IndexRange, Option<f64>)> {
        let mut bound = IndexRange { bounded: true, ..IndexRange::default() };
        for (i, e) in conditions.iter().enumerate() {
            match self.limit(e, part.column) {
                Some(Limit::Equal(values, nulls)) => {
                    // One value: a range from it to it.
                    if let ([one], false) = (&values[..], nulls) {
                        used[i] = true;
                        let end = Some((one.clone(), true));
                        return Some((IndexRange { lower: end.clone(), upper: end, ..bound }, None));
                    }
                }
                Some(Limit::Lower(v, inclusive)) if bound.lower.is_none() => {
                    used[i] = true;
                    bound.lower = Some((v, inclusive));
                }
                Some(Limit::Upper(v, inclusive)) if bound.upper.is_none() => {
                    used[i] = true;
                    bound.upper = Some((v, inclusive));
                }
                Some(Limit::Both(low, high)) if bound.lower.is_none() && bound.upper.is_none() => {
                    used[i] = true;
                    (bound.lower, bound.upper) = (Some((low, true)), Some((high, true)));
                }
                _ => {}
            }
        }
        match (&bound.lower, &bound.upper) {
            (None, None) => None,
            (Some(_), Some(_)) => Some((bound, Some(RANGE_KEEPS))),
            _ => Some((bound, Some(HALF_RANGE_KEEPS))),
        }
    }
}
