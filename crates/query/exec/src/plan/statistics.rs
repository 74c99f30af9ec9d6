//! Sampling of tables: how many rows, and how many of them share a key. A few descents for each leading part of an index.

use crate::error;
use catalog::statistics::Sample;
use catalog::{Index, Table};
use engine::{Cursor, Direction, Engine, Isolation, Range, Read, Transaction, Tree};
use std::ops::Bound;
use std::sync::Arc;
use types::{Result, key};

/// Different keys that are looked at from each end of an index.
const KEYS: usize = 16;
/// A sample is taken anew when the table has so many times the rows, or this part of them.
const OUTGROWN: u64 = 2;

/// The table's sample: the kept one, unless there is none or the table has grown or shrunk too much since.
pub fn sample(engine: &Engine, table: &Table) -> Result<Arc<Option<Sample>>> {
    let kept = table.statistics.load();
    let (rows, _) = engine.estimate(table.indexes[0].tree).map_err(error::engine)?;
    if let Some(s) = &*kept
        && rows <= s.rows.saturating_mul(OUTGROWN)
        && s.rows <= rows.saturating_mul(OUTGROWN)
        && s.is_of(table)
    {
        return Ok(kept);
    }
    take(engine, table)
}

/// Samples a table anew: ANALYZE TABLE.
pub fn take(engine: &Engine, table: &Table) -> Result<Arc<Option<Sample>>> {
    let (rows, _) = engine.estimate(table.indexes[0].tree).map_err(error::engine)?;
    let mut tx = Transaction::new(engine).map_err(error::engine)?;
    tx.begin(Isolation::ReadUncommitted, true);
    let sampled: Result<Vec<Vec<f64>>> =
        table.indexes.iter().map(|index| rows_per_key(engine, &mut tx, index, rows)).collect();
    tx.rollback().map_err(error::engine)?;
    let sample = Arc::new(Some(Sample { rows, rows_per_key: sampled? }));
    table.statistics.store(Arc::clone(&sample));
    Ok(sample)
}

fn rows_per_key(engine: &Engine, tx: &mut Transaction, index: &Index, rows: u64) -> Result<Vec<f64>> {
    let mut out = Vec::with_capacity(index.parts.len());
    for parts in 1..=index.parts.len() {
        let whole = index.unique && parts == index.parts.len();
        let least = out.last().copied().unwrap_or(f64::MAX);
        let per_key = if whole { 1.0 } else { one_prefix(engine, tx, index, parts, rows)? };
        // More parts tell more keys apart.
        out.push(per_key.clamp(1.0, least));
    }
    Ok(out)
}

/// Rows for each combination of the first `parts` values: the first and the last few keys of the index are hopped over.
fn one_prefix(engine: &Engine, tx: &mut Transaction, index: &Index, parts: usize, rows: u64) -> Result<f64> {
    let (mut keys, mut covered) = (0usize, 0.0);
    let mut low: Vec<u8> = Vec::new();
    while keys < KEYS {
        let lower = if low.is_empty() { Bound::Unbounded } else { Bound::Included(&low[..]) };
        let range = Range { lower, upper: Bound::Unbounded };
        let Some(prefix) = prefix_at(tx, index.tree, range, Direction::Forward, index, parts)? else {
            return Ok(rows as f64 / keys.max(1) as f64);
        };
        keys += 1;
        low = prefix;
        if !key::successor(&mut low) {
            return Ok(rows as f64 / keys as f64);
        }
    }
    let below = Range { lower: Bound::Unbounded, upper: Bound::Excluded(&low[..]) };
    covered += engine.estimate_range(index.tree, below).map_err(error::engine)? as f64;
    let mut high: Option<Vec<u8>> = None;
    for _ in 0..KEYS {
        let upper = high.as_ref().map_or(Bound::Unbounded, |h| Bound::Excluded(&h[..]));
        let range = Range { lower: Bound::Included(&low[..]), upper };
        let Some(prefix) = prefix_at(tx, index.tree, range, Direction::Backward, index, parts)? else {
            return Ok(rows as f64 / keys as f64);
        };
        keys += 1;
        high = Some(prefix);
    }
    if let Some(high) = &high {
        let above = Range { lower: Bound::Included(&high[..]), upper: Bound::Unbounded };
        covered += engine.estimate_range(index.tree, above).map_err(error::engine)? as f64;
    }
    Ok(covered / keys as f64)
}

/// The first `parts` parts of the first key of a range, in a direction.
fn prefix_at(
    tx: &mut Transaction,
    tree: Tree,
    range: Range<'_>,
    direction: Direction,
    index: &Index,
    parts: usize,
) -> Result<Option<Vec<u8>>> {
    let mut cursor = Cursor::new(tree, range, direction, Read::Consistent, 1);
    let Some(entry) = cursor.next(tx).map_err(error::engine)? else { return Ok(None) };
    let mut at = 0;
    for part in &index.parts[..parts] {
        match key::part_length(&entry.key[at..], &part.key) {
            Some(n) => at += n,
            None => return Err(error::engine(engine::Error::Corrupt(format!("key of index {}", index.name)))),
        }
    }
    Ok(Some(entry.key[..at].to_vec()))
}
