//! information_schema.INNODB_METRICS, INNODB_BUFFER_POOL_STATS and INNODB_CMP*: counters and gauges under the names that monitors
//! know. Metrics of what this engine does not have (change buffer, adaptive hash index, spinning latches) are left out.

use crate::{Context, Row, text, uint, word};
use std::collections::HashMap;
use types::{Result, Value};

/// What kind of figure a metric is: since the start, or of the moment.
const COUNTER: &str = "status_counter";
const VALUE: &str = "value";

/// Metric, subsystem, kind, and the status variable that it is.
const METRICS: [(&str, &str, &str, &str); 34] = [
    ("lock_deadlocks", "lock", COUNTER, "Innodb_deadlocks"),
    ("lock_row_lock_time", "lock", COUNTER, "Innodb_row_lock_time"),
    ("lock_row_lock_waits", "lock", COUNTER, "Innodb_row_lock_waits"),
    ("buffer_pool_bytes_data", "buffer", VALUE, "Innodb_buffer_pool_bytes_data"),
    ("buffer_pool_bytes_dirty", "buffer", VALUE, "Innodb_buffer_pool_bytes_dirty"),
    ("buffer_pool_pages_data", "buffer", VALUE, "Innodb_buffer_pool_pages_data"),
    ("buffer_pool_pages_dirty", "buffer", VALUE, "Innodb_buffer_pool_pages_dirty"),
    ("buffer_pool_pages_free", "buffer", VALUE, "Innodb_buffer_pool_pages_free"),
    ("buffer_pool_pages_total", "buffer", VALUE, "Innodb_buffer_pool_pages_total"),
    ("buffer_pool_read_ahead", "buffer", COUNTER, "Innodb_buffer_pool_read_ahead"),
    ("buffer_pool_read_ahead_evicted", "buffer", COUNTER, "Innodb_buffer_pool_read_ahead_evicted"),
    ("buffer_pool_read_requests", "buffer", COUNTER, "Innodb_buffer_pool_read_requests"),
    ("buffer_pool_reads", "buffer", COUNTER, "Innodb_buffer_pool_reads"),
    ("buffer_pool_wait_free", "buffer", COUNTER, "Innodb_buffer_pool_wait_free"),
    ("buffer_pages_created", "buffer", COUNTER, "Innodb_pages_created"),
    ("buffer_pages_read", "buffer", COUNTER, "Innodb_pages_read"),
    ("buffer_pages_written", "buffer", COUNTER, "Innodb_pages_written"),
    ("buffer_data_reads", "buffer", COUNTER, "Innodb_data_read"),
    ("buffer_data_written", "buffer", COUNTER, "Innodb_data_written"),
    ("os_data_fsyncs", "os", COUNTER, "Innodb_data_fsyncs"),
    ("os_data_reads", "os", COUNTER, "Innodb_data_reads"),
    ("os_data_writes", "os", COUNTER, "Innodb_data_writes"),
    ("os_log_bytes_written", "os", COUNTER, "Innodb_os_log_written"),
    ("os_log_fsyncs", "os", COUNTER, "Innodb_os_log_fsyncs"),
    ("log_waits", "log", COUNTER, "Innodb_log_waits"),
    ("log_write_requests", "log", COUNTER, "Innodb_log_write_requests"),
    ("log_writes", "log", COUNTER, "Innodb_log_writes"),
    ("innodb_dblwr_pages_written", "server", COUNTER, "Innodb_dblwr_pages_written"),
    ("innodb_dblwr_writes", "server", COUNTER, "Innodb_dblwr_writes"),
    ("innodb_page_size", "server", VALUE, "Innodb_page_size"),
    ("trx_rseg_history_len", "transaction", VALUE, "Innodb_history_list_length"),
    ("dml_deletes", "dml", COUNTER, "Innodb_rows_deleted"),
    ("dml_inserts", "dml", COUNTER, "Innodb_rows_inserted"),
    ("dml_updates", "dml", COUNTER, "Innodb_rows_updated"),
];

pub(crate) fn metrics(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let status: HashMap<String, String> = cx.status().into_iter().collect();
    let uptime = observe::clock::uptime_s();
    for (name, subsystem, kind, variable) in METRICS {
        let count = status.get(variable).and_then(|v| v.parse().ok()).expect("a status variable that is a number");
        let mut row = vec![word(name), word(subsystem), Value::Int(count)];
        row.extend([Value::Null, Value::Null, Value::Null, Value::Int(count), Value::Null, Value::Null, Value::Null]);
        // Counted since the start.
        row.extend([Value::Null, Value::Null, Value::Int(uptime as i64), Value::Null, word("enabled"), word(kind)]);
        row.push(text(format!("The status variable {variable}")));
        out.push(row);
    }
    Ok(())
}

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
