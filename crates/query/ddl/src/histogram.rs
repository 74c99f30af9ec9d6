//! Histograms from the rows of a table. One pass in key order; where the values would need more memory than allowed, rows are
//! drawn by lot.

use crate::fill::{ALL, check_interrupt};
use catalog::error;
use catalog::histogram::{Asked, CHARACTERS_MAX, Domain, Histogram};
use catalog::{Column, Table};
use engine::{Cursor, Direction, Read, Transaction};
use expr::key::encode_key;
use run::Env;
use run::long;
use std::collections::BTreeMap;
use types::{DateTime, Result, TypeKind, Value};

/// What a value takes beside its own bytes.
const OVERHEAD: u64 = 64;

/// One column of a table, and what is asked of its histogram.
pub struct Wanted {
    pub column: usize,
    pub buckets: u64,
    pub auto_update: bool,
}

/// Different values of a column so far, by their keys, with how often each came.
struct Counted {
    domain: Domain,
    values: BTreeMap<Vec<u8>, (Value<'static>, u64)>,
    nulls: u64,
}

/// Histograms of columns, in their order, from the rows that `tx` sees. `memory`: bytes of values that may be kept
/// (`histogram_generation_max_mem_size`), `rows`: of the table, as far as known.
pub fn collect(
    tx: &mut Transaction,
    env: &dyn Env,
    table: &Table,
    wanted: &[Wanted],
    (rows, memory): (u64, u64),
) -> Result<Vec<Histogram>> {
    let sampling_rate = rate(table, wanted, rows, memory);
    let of = |w: &Wanted| Domain::of(&table.columns[w.column].data_type).expect("the caller has looked at the types");
    let mut counted: Vec<Counted> =
        wanted.iter().map(|w| Counted { domain: of(w), values: BTreeMap::new(), nulls: 0 }).collect();
    let mut scan = Cursor::new(table.indexes[0].tree, ALL, Direction::Forward, Read::Consistent, 0);
    let (mut lots, mut key) = (Lots(table.id | 1), Vec::new());
    for at in 0.. {
        check_interrupt(tx, at)?;
        let Some(entry) = scan.next(tx).map_err(error::engine)? else { break };
        if sampling_rate < 1.0 && lots.draw() >= sampling_rate {
            continue;
        }
        for (w, counted) in wanted.iter().zip(&mut counted) {
            let column = &table.columns[w.column];
            let value = long::column(tx, table, entry.value, w.column)?;
            counted.count(column, local(value, column, env), &mut key);
        }
    }
    let us = env.now_us();
    let now = DateTime::from_unix(us.div_euclid(1_000_000), us.rem_euclid(1_000_000) as u32);
    let now = now.unwrap_or(DateTime::ZERO);
    let build = |(w, c): (&Wanted, Counted)| {
        let asked = Asked { buckets: w.buckets, auto_update: w.auto_update, sampling_rate, now };
        Histogram::build(&table.columns[w.column].data_type, c.values.into_values().collect(), c.nulls, asked)
    };
    Ok(wanted.iter().zip(counted).map(build).collect())
}

/// A TIMESTAMP counts as the session reads it.
fn local<'v>(v: Value<'v>, column: &Column, env: &dyn Env) -> Value<'v> {
    match v {
        Value::DateTime(t) if column.data_type.kind == TypeKind::Timestamp && !t.is_zero() => {
            let seconds = t.to_unix_seconds();
            let there = DateTime::from_unix(seconds + env.time_zone_offset(seconds) as i64, t.micros());
            Value::DateTime(there.unwrap_or(t))
        }
        v => v,
    }
}

impl Counted {
    fn count(&mut self, column: &Column, v: Value<'_>, key: &mut Vec<u8>) {
        let Some(v) = self.domain.value(v, &column.data_type) else {
            self.nulls += 1;
            return;
        };
        key.clear();
        encode_key(key, &v, &column.data_type, false);
        match self.values.get_mut(&key[..]) {
            Some((_, n)) => *n += 1,
            None => {
                self.values.insert(key.clone(), (v, 1));
            }
        }
    }
}

/// The share of rows whose values, were they all different, find room.
fn rate(table: &Table, wanted: &[Wanted], rows: u64, memory: u64) -> f64 {
    let bytes = |w: &Wanted| {
        let t = &table.columns[w.column].data_type;
        match Domain::of(t) {
            Some(Domain::String) => u64::from(t.length).min(CHARACTERS_MAX as u64) * 2 + OVERHEAD,
            _ => 16 + OVERHEAD,
        }
    };
    let row: u64 = wanted.iter().map(bytes).sum();
    (memory as f64 / (rows.max(1) as f64 * row.max(1) as f64)).min(1.0)
}

/// Marsaglia's xorshift: the same rows are drawn each time.
struct Lots(u64);

impl Lots {
    fn draw(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
