//! Memory in `performance_schema`: bytes of what is counted anyway. What is made once and stays is one allocation of so many bytes. Of
//! what comes and goes the allocator counts bytes and no allocations, so columns about numbers of them, and sums of all that there
//! ever were, are 0.

use crate::{Context, GroupedBy, Row, uint, word};
use types::{Result, Value};

/// What statements and connections have, all in one.
const CONNECTION: &str = "memory/sql/THD::main_mem_root";
const POOL: &str = "memory/innodb/buf_buf_pool";

/// What was made once, as the server began.
const LOG_BUFFER: &str = "memory/innodb/log_buffer_memory";

fn lasting_row(name: &'static str, bytes: u64) -> Row {
    let mut row = row(Vec::new(), name, bytes, bytes);
    // COUNT_ALLOC and SUM_NUMBER_OF_BYTES_ALLOC; CURRENT_COUNT_USED and HIGH_COUNT_USED.
    (row[1], row[3]) = (uint(1), uint(bytes));
    (row[6], row[7]) = (Value::Int(1), Value::Int(1));
    row
}

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
        out.push(lasting_row(POOL, bytes));
    }
    out.extend(cx.source.server_memory().into_iter().map(|(name, bytes, most)| match name == LOG_BUFFER {
        true => lasting_row(name, bytes),
        false => row(Vec::new(), name, bytes, most),
    }));
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
