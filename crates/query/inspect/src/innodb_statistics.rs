//! How many different keys there are: CARDINALITY, and mysql.innodb_table_stats and innodb_index_stats. They are the planner's
//! samples, which are in memory alone; whoever asks for them has them taken when there is none or the table has changed.

use crate::innodb::is_own;
use crate::{Context, Row, datetime, text, uint};
use catalog::statistics::Sample;
use catalog::{Index, Table, VirtualTable};
use std::collections::HashSet;
use std::sync::Arc;
use types::key::encode_part;
use types::{Result, Value};

/// Different values of the first 1, 2, ... parts of each index that has a name.
pub(crate) fn cardinalities(cx: &Context, table: &Table) -> Result<Vec<Vec<u64>>> {
    if let Some(source) = &table.virtual_rows {
        return counted(cx, table, &**source);
    }
    let sample = cx.source.sample(table)?;
    let unknown = |index: &Index| vec![0; index.parts.len()];
    let of = |at: usize, index: &Index| sample.as_ref().as_ref().map_or_else(|| unknown(index), |s| different(s, at));
    // The clustered index comes first, also where it has no name.
    Ok(table.indexes.iter().enumerate().map(|(at, index)| of(at, index)).collect())
}

fn different(sample: &Sample, index: usize) -> Vec<u64> {
    sample.rows_per_key[index].iter().map(|per_key| (sample.rows as f64 / per_key).round() as u64).collect()
}

/// The same of a computed table, whose rows are counted; of most there are few.
fn counted(cx: &Context, table: &Table, source: &dyn VirtualTable) -> Result<Vec<Vec<u64>>> {
    let rows: Vec<_> = if table.schema == "mysql" { source.rows(cx, &[])?.collect() } else { Vec::new() };
    let of = |index: &Index| {
        let mut keys = vec![HashSet::new(); index.parts.len()];
        for row in &rows {
            let mut key = Vec::new();
            for (part, seen) in index.parts.iter().zip(&mut keys) {
                encode_part(&mut key, &part.key, &row[part.column]);
                seen.insert(key.clone());
            }
        }
        keys.iter().map(|seen| seen.len() as u64).collect()
    };
    Ok(table.indexes.iter().map(of).collect())
}

/// The sample of a table of the storage engine, if it has one.
fn sample_of(cx: &Context, table: &Table) -> Result<Arc<Option<Sample>>> {
    if is_own(table) { cx.source.sample(table) } else { Ok(Arc::default()) }
}

/// All pages of an index.
pub(crate) fn pages(cx: &Context, index: &Index) -> u64 {
    cx.engine.tree_space(index.tree).used_bytes / engine::PAGE_BYTES
}

fn leaf_pages(cx: &Context, index: &Index) -> Result<u64> {
    Ok(cx.engine.estimate(index.tree).map_err(catalog::error::from_engine)?.1)
}

pub(crate) fn tables(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    let sample = sample_of(cx, table)?;
    let Some(sample) = &*sample else { return Ok(()) };
    let others = table.indexes[1..].iter().map(|index| pages(cx, index)).sum();
    let mut row = vec![text(&table.schema), text(&table.name), datetime(sample.taken_s), uint(sample.rows)];
    row.extend([uint(pages(cx, &table.indexes[0])), uint(others)]);
    out.push(row);
    Ok(())
}

pub(crate) fn indexes(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    let sample = sample_of(cx, table)?;
    let Some(sample) = &*sample else { return Ok(()) };
    for (at, index) in table.indexes.iter().enumerate() {
        let mut line = |stat: String, value: u64, sampled: Option<u64>, of: String| {
            let mut row = vec![text(&table.schema), text(&table.name), text(&index.name), datetime(sample.taken_s)];
            row.extend([text(stat), uint(value), sampled.map_or(Value::Null, uint), text(of)]);
            out.push(row);
        };
        let leaves = leaf_pages(cx, index)?;
        let mut columns = Vec::new();
        for (n, value) in different(sample, at).into_iter().enumerate() {
            let column = &table.columns[index.parts[n].column];
            columns.push(if index.is_hidden() { "DB_ROW_ID" } else { column.name.as_str() });
            line(format!("n_diff_pfx{:02}", n + 1), value, Some(leaves.min(SAMPLED_LEAVES)), columns.join(","));
        }
        line("n_leaf_pages".to_string(), leaves, None, "Number of leaf pages in the index".to_string());
        line("size".to_string(), pages(cx, index), None, "Number of pages in the index".to_string());
    }
    Ok(())
}

/// Leaves that a sample looks at, at most: those of keys from both ends of the index.
const SAMPLED_LEAVES: u64 = 32;
