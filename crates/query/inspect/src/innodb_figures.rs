//! information_schema.INNODB_BUFFER_POOL_STATS and INNODB_CMP*.

use crate::{Context, Row, uint};
use std::collections::HashMap;
use types::{Result, Value};

/// One pool; what it does not count (ages of pages, rates) is 0.
pub(crate) fn buffer_pool(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let status: HashMap<String, String> = cx.status().into_iter().collect();
    let figure = |name: &str| status.get(name).and_then(|v| v.parse::<u64>().ok()).unwrap_or(0);
    let (zero, rate) = (|| uint(0), || Value::Double(0.0));
    let (gets, reads) = (figure("Innodb_buffer_pool_read_requests"), figure("Innodb_buffer_pool_reads"));
    // Of a thousand.
    let hits = (gets.saturating_sub(reads) * 1000).checked_div(gets).unwrap_or(0);
    let mut row = vec![
        zero(),
        uint(figure("Innodb_buffer_pool_pages_total")),
        uint(figure("Innodb_buffer_pool_pages_free")),
        uint(figure("Innodb_buffer_pool_pages_data")),
        zero(),
        uint(figure("Innodb_buffer_pool_pages_dirty")),
    ];
    row.extend([zero(), zero(), zero(), zero(), zero(), zero(), rate(), rate()]);
    row.extend(["Innodb_pages_read", "Innodb_pages_created", "Innodb_pages_written"].map(|name| uint(figure(name))));
    row.extend([rate(), rate(), rate(), uint(gets), uint(hits), zero(), zero()]);
    row.push(uint(figure("Innodb_buffer_pool_read_ahead")));
    row.push(uint(figure("Innodb_buffer_pool_read_ahead_evicted")));
    row.extend([rate(), rate(), zero(), zero(), zero(), zero()]);
    out.push(row);
    Ok(())
}

/// No page is compressed: a row for each size that there might be.
pub(crate) fn compression(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend((0..5).map(|n| {
        let mut row = vec![Value::Int(1024 << n)];
        row.extend((0..5).map(|_| Value::Int(0)));
        row
    }));
    Ok(())
}
