//! Sampling of tables: how many rows, how many of them share a key, and how many values a column has. A few descents for each
//! leading part of an index, and rows from some places of the table.

use catalog::error;
use catalog::statistics::Sample;
use catalog::{Index, Table};
use engine::{Cursor, Direction, Engine, Isolation, Range, Read, Transaction, Tree};
use expr::key::encode_key;
use hashbrown::HashMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::row::long::Outside;
use types::{Result, key};

/// Different keys that are looked at from each end of an index.
const KEYS: usize = 16;
/// Places of a table that rows are read from, and how many at each.
const SPOTS: u64 = 16;
const ROWS_AT_SPOT: usize = 24;
/// Bytes of rows that are looked at, roughly.
const BYTES_MAX: usize = 4 << 20;
/// A sample is taken anew when the table has so many times the rows, or this part of them.
const OUTGROWN: u64 = 2;
/// A sample that is shown is taken anew when this part of the rows has come or gone.
const SHOWN_CHANGE: u64 = 10;

/// `innodb_stats_auto_recalc`. W: SET GLOBAL. R: who plans.
static RECALCULATES: AtomicBool = AtomicBool::new(true);

/// Are samples taken anew when a table has changed much, without ANALYZE TABLE? A table's own STATS_AUTO_RECALC comes before.
pub fn recalculate(on: bool) {
    // Relaxed: it stands for itself.
    RECALCULATES.store(on, Ordering::Relaxed);
}

fn is_recalculated(table: &Table) -> bool {
    match table.create_options.get("STATS_AUTO_RECALC") {
        Some(own) => own != "0",
        // Relaxed: as above.
        None => RECALCULATES.load(Ordering::Relaxed),
    }
}

/// The table's sample: the kept one, unless there is none or the table has grown or shrunk too much since. Of a table that is
/// read in one place the number of rows is the present one, since `max_join_size` is held against it.
pub fn sample(engine: &Engine, table: &Table) -> Result<Arc<Option<Sample>>> {
    kept_or_taken(engine, table, |now, then| {
        (now > ROWS_AT_SPOT as u64 || now == then)
            && now <= then.saturating_mul(OUTGROWN)
            && then <= now.saturating_mul(OUTGROWN)
    })
}

/// The table's sample to be shown: taken anew when the rows are others by a tenth, as MySQL recalculates statistics.
pub fn shown(engine: &Engine, table: &Table) -> Result<Arc<Option<Sample>>> {
    kept_or_taken(engine, table, |now, then| now.abs_diff(then) <= then / SHOWN_CHANGE)
}

/// `fits`: is a sample still good, by the table's rows now and then?
fn kept_or_taken(engine: &Engine, table: &Table, fits: fn(u64, u64) -> bool) -> Result<Arc<Option<Sample>>> {
    let kept = table.statistics.load();
    let (rows, _) = engine.estimate(table.indexes[0].tree).map_err(error::engine)?;
    match &*kept {
        Some(s) if (fits(rows, s.rows) || !is_recalculated(table)) && s.is_of(&table.columns, &table.indexes) => {
            Ok(kept)
        }
        _ => take(engine, table),
    }
}

/// Samples a table anew: ANALYZE TABLE.
pub fn take(engine: &Engine, table: &Table) -> Result<Arc<Option<Sample>>> {
    let (rows, _) = engine.estimate(table.indexes[0].tree).map_err(error::engine)?;
    let mut tx = Transaction::new(engine).map_err(error::engine)?;
    tx.begin(Isolation::ReadUncommitted, true);
    let sampled: Result<Vec<Vec<f64>>> =
        table.indexes.iter().map(|index| rows_per_key(engine, &mut tx, index, rows)).collect();
    let different = values_of_columns(&mut tx, table, rows);
    tx.rollback().map_err(error::engine)?;
    let taken_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let sample = Arc::new(Some(Sample { taken_s, rows, rows_per_key: sampled?, different: different? }));
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

/// Different values of each column, of rows at equal distances in the clustered index: `n d / (n - f + f n / N)` of `N` rows,
/// when `n` of them have `d` values, `f` of which come once (Haas and Stokes' Duj1).
fn values_of_columns(tx: &mut Transaction, table: &Table, rows: u64) -> Result<Vec<f64>> {
    let tree = table.indexes[0].tree;
    let mut seen: Vec<HashMap<Vec<u8>, u32>> = table.columns.iter().map(|_| HashMap::new()).collect();
    let (mut taken, mut bytes) = (0usize, 0);
    let (mut key, mut read, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for from in spots(tx, tree)? {
        let lower = if from > last { Bound::Included(&from[..]) } else { Bound::Excluded(&last[..]) };
        let range = Range { lower, upper: Bound::Unbounded };
        let mut cursor = Cursor::new(tree, range, Direction::Forward, Read::Consistent, ROWS_AT_SPOT);
        for _ in 0..ROWS_AT_SPOT {
            let Some(entry) = cursor.next(tx).map_err(error::engine)?.filter(|_| bytes < BYTES_MAX) else { break };
            taken += 1;
            bytes += entry.value.len();
            read.clear();
            read.extend_from_slice(entry.key);
            for (c, (column, values)) in table.columns.iter().zip(&mut seen).enumerate() {
                key.clear();
                match (table.layout.get(entry.value, c), table.layout.outside(entry.value, c)) {
                    (Some(v), _) => encode_key(&mut key, &v, &column.data_type, false),
                    // Long values count as differing: to know better costs more than it tells.
                    (None, Some(Outside::Value(reference) | Outside::Row(reference))) => {
                        key.extend_from_slice(reference)
                    }
                    (None, None) => continue,
                }
                *values.entry_ref(&key[..]).or_insert(0) += 1;
            }
        }
        last.clone_from(&read);
    }
    let (n, all) = (taken.max(1) as f64, (rows as f64).max(taken.max(1) as f64));
    let of = |values: &HashMap<Vec<u8>, u32>| {
        let once = values.values().filter(|count| **count == 1).count() as f64;
        (n * values.len() as f64 / (n - once + once * n / all)).clamp(1.0, all)
    };
    Ok(seen.iter().map(of).collect())
}

/// Keys at equal distances between the first and the last one, by the eight bytes in which these begin to differ.
fn spots(tx: &mut Transaction, tree: Tree) -> Result<Vec<Vec<u8>>> {
    let everything = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
    let mut end = |direction| -> Result<Option<Vec<u8>>> {
        let mut cursor = Cursor::new(tree, everything, direction, Read::Consistent, 1);
        Ok(cursor.next(tx).map_err(error::engine)?.map(|entry| entry.key.to_vec()))
    };
    let (Some(first), Some(last)) = (end(Direction::Forward)?, end(Direction::Backward)?) else {
        return Ok(Vec::new());
    };
    let shared = first.iter().zip(&last).take_while(|(a, b)| a == b).count();
    let number = |key: &[u8]| {
        let mut bytes = [0; 8];
        let rest = &key[shared..key.len().min(shared + 8)];
        bytes[..rest.len()].copy_from_slice(rest);
        u64::from_be_bytes(bytes)
    };
    let (low, high) = (number(&first), number(&last));
    let step = high.saturating_sub(low) / SPOTS;
    let at = |i: u64| [&first[..shared], &(low + i * step).to_be_bytes()[..]].concat();
    Ok(std::iter::once(first.clone()).chain((1..SPOTS).map(at)).collect())
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
