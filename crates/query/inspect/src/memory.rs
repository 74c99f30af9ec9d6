//! Memory in `performance_schema`: bytes of what is counted anyway. The allocator counts bytes and no allocations, so columns about
//! numbers of them, and sums of all that there ever were, are 0.

use crate::{Context, GroupedBy, Row, uint, word};
use types::{Result, Value};

/// What statements and connections have, all in one.
const CONNECTION: &str = "memory/sql/THD::main_mem_root";
const POOL: &str = "memory/innodb/buf_buf_pool";

fn row(group: Row, name: &'static str, bytes: u64, highest: u64) -> Row {
    let mut row = group;
    row.push(word(name));
    row.extend([0; 4].map(uint));
    row.extend([0; 4].map(Value::Int));
    row.extend([bytes, highest.max(bytes)].map(|n| Value::Int(i64::try_from(n).unwrap_or(i64::MAX))));
    row
}

pub(crate) fn global(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let status = cx.engine.status().counters;
    let pages = status.iter().find(|(name, _)| *name == "Innodb_buffer_pool_pages_data").map(|(_, n)| *n);
    if let Some(pages) = pages {
        let bytes = pages * engine::PAGE_BYTES;
        out.push(row(Vec::new(), POOL, bytes, bytes));
    }
    out.extend(cx.source.server_memory().into_iter().map(|(name, bytes, most)| row(Vec::new(), name, bytes, most)));
    Ok(())
}

pub(crate) fn by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let rows = cx.source.thread_memory().into_iter();
    out.extend(rows.map(|(thread, bytes, highest)| row(vec![uint(thread)], CONNECTION, bytes, highest)));
    Ok(())
}

/// The highest figure is that of one connection, unless those that are there have more.
pub(crate) fn by_group(cx: &Context, by: GroupedBy, out: &mut Vec<Row>) -> Result<()> {
    let rows = cx.source.account_sums(by).into_iter();
    out.extend(rows.map(|sums| row(by.columns(&sums), CONNECTION, sums.memory_bytes, sums.memory_bytes_max)));
    Ok(())
}
