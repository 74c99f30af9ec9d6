//! SHOW ENGINE INNODB STATUS: MySQL's sections in MySQL's order and words, since monitors parse them. A line whose figure does not exist
//! here is left out: there is no master thread, no change buffer, no adaptive hash index, no list of young and old pages.

use super::Past;
use super::locks::{deadlock_section, key_section, local_time, transactions};
use crate::columns::varchar;
use crate::locks::Picture;
use crate::rows::Rows;
use crate::{Context, text, word};
use engine::Figures;
use std::collections::HashMap;
use std::fmt::Write;
use std::time::SystemTime;

/// A section's head.
pub(super) fn section(title: &str) -> String {
    let rule = "-".repeat(title.len());
    format!("{rule}\n{title}\n{rule}\n")
}

/// Counters now, and how fast they have grown since the last report.
struct Counts {
    now: HashMap<String, u64>,
    past: Past,
    seconds: f64,
}

impl Counts {
    /// Since the report before, or the start.
    fn take(cx: &Context) -> Counts {
        let now: HashMap<String, u64> =
            cx.status().into_iter().filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect();
        let at_ns = observe::clock::now_ns();
        let past = std::mem::replace(&mut *cx.source.monitor().past.lock(), Past { at_ns, counts: now.clone() });
        let seconds = at_ns.saturating_sub(past.at_ns) as f64 / 1e9;
        Counts { now, past, seconds }
    }

    fn get(&self, name: &str) -> u64 {
        self.now.get(name).copied().unwrap_or(0)
    }

    /// How much it has grown.
    fn grown(&self, name: &str) -> u64 {
        self.get(name).saturating_sub(self.past.counts.get(name).copied().unwrap_or(0))
    }

    /// The same a second.
    fn rate(&self, name: &str) -> f64 {
        self.grown(name) as f64 / self.seconds.max(0.001)
    }
}

/// The report as a row.
pub fn innodb_status(cx: &Context) -> Rows {
    let row = vec![word("InnoDB"), word(""), text(report(cx))];
    Rows::new(&[("Type", varchar(10)), ("Name", varchar(512)), ("Status", varchar(10))], vec![row])
}

fn report(cx: &Context) -> String {
    let (counts, picture, figures) = (Counts::take(cx), Picture::take(cx), cx.engine.figures());
    let own = picture.process(cx.slot).map_or(0, |p| p.id);
    let rule = "=".repeat(37);
    let mut out = format!("\n{rule}\n{} {own} INNODB MONITOR OUTPUT\n{rule}\n", local_time(SystemTime::now()));
    let _ = writeln!(out, "Per second averages calculated from the last {} seconds", counts.seconds as u64);
    out += &section("BACKGROUND THREAD");
    let _ = writeln!(out, "purge coordinator: {} calls of its workers", figures.purge_rounds);
    out += &section("SEMAPHORES");
    let waits = |state| picture.processes.iter().filter(|p| p.state == state).count();
    let _ = writeln!(out, "{} sessions wait for a page now", waits("waiting for a page"));
    out += &key_section(cx, cx.source.monitor().key_error.lock().clone().as_ref());
    out += &deadlock_section(&cx.engine, &picture);
    out += &section("TRANSACTIONS");
    let _ = writeln!(out, "Trx id counter {}", figures.trx_next);
    let _ = writeln!(out, "Purge done for trx's n:o < {} undo n:o < 0", figures.trx_settled);
    let _ = writeln!(out, "History list length {}", cx.engine.history_length());
    out += "LIST OF TRANSACTIONS FOR EACH SESSION:\n";
    transactions(&cx.engine, &picture, cx.source.lists_locks(), &mut out);
    file_io(&counts, &figures, &mut out);
    log(&counts, &figures, &mut out);
    buffer_pool(&counts, &figures, &mut out);
    row_operations(&counts, &picture, &figures, &mut out);
    out + "----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n"
}

fn file_io(counts: &Counts, figures: &Figures, out: &mut String) {
    *out += &section("FILE I/O");
    let (reads, writes) = (figures.reads_pending, figures.writes_pending);
    let _ = writeln!(out, "Pending normal aio reads: [{reads}] , aio writes: [{writes}] ,");
    let _ = writeln!(
        out,
        "{} OS file reads, {} OS file writes, {} OS fsyncs",
        counts.get("Innodb_data_reads"),
        counts.get("Innodb_data_writes"),
        counts.get("Innodb_data_fsyncs")
    );
    let bytes = counts.grown("Innodb_data_read").checked_div(counts.grown("Innodb_data_reads")).unwrap_or(0);
    let _ = writeln!(
        out,
        "{:.2} reads/s, {bytes} avg bytes/read, {:.2} writes/s, {:.2} fsyncs/s",
        counts.rate("Innodb_data_reads"),
        counts.rate("Innodb_data_writes"),
        counts.rate("Innodb_data_fsyncs")
    );
}

fn log(counts: &Counts, figures: &Figures, out: &mut String) {
    *out += &section("LOG");
    let log = figures.log;
    let lines = [
        ("Log capacity", log.capacity),
        ("Log capacity used", log.used),
        ("Log sequence number", log.assigned),
        ("Log buffer assigned up to", log.assigned),
        ("Log buffer completed up to", log.completed),
        ("Log written up to", log.written),
        ("Log flushed up to", log.flushed),
        ("Added dirty pages up to", log.completed),
        ("Pages flushed up to", log.oldest_dirty),
        ("Last checkpoint at", log.checkpoint),
        ("Log minimum file id is", log.files.0),
        ("Log maximum file id is", log.files.1),
    ];
    for (name, value) in lines {
        let _ = writeln!(out, "{name:<28} {value}");
    }
    let (done, rate) = (counts.get("Innodb_log_writes"), counts.rate("Innodb_log_writes"));
    let _ = writeln!(out, "{done} log i/o's done, {rate:.2} log i/o's/second");
}

fn buffer_pool(counts: &Counts, figures: &Figures, out: &mut String) {
    *out += &section("BUFFER POOL AND MEMORY");
    let lines = [
        ("Total large memory allocated", figures.pool_bytes),
        ("Buffer pool size  ", counts.get("Innodb_buffer_pool_pages_total")),
        ("Free buffers      ", counts.get("Innodb_buffer_pool_pages_free")),
        ("Database pages    ", counts.get("Innodb_buffer_pool_pages_data")),
        ("Modified db pages ", counts.get("Innodb_buffer_pool_pages_dirty")),
        ("Pending reads     ", figures.reads_pending),
    ];
    for (name, value) in lines {
        let _ = writeln!(out, "{name} {value}");
    }
    let _ = writeln!(out, "Pending writes: LRU 0, flush list {}, single page 0", figures.writes_pending);
    let pages = ["read", "created", "written"].map(|what| format!("Innodb_pages_{what}"));
    let [read, created, written] = &pages;
    let _ = writeln!(
        out,
        "Pages read {}, created {}, written {}",
        counts.get(read),
        counts.get(created),
        counts.get(written)
    );
    let _ = writeln!(
        out,
        "{:.2} reads/s, {:.2} creates/s, {:.2} writes/s",
        counts.rate(read),
        counts.rate(created),
        counts.rate(written)
    );
    let gets = counts.grown("Innodb_buffer_pool_read_requests");
    let misses = counts.grown("Innodb_buffer_pool_reads").min(gets);
    let _ = match ((gets - misses) * 1000).checked_div(gets) {
        Some(hits) => writeln!(out, "Buffer pool hit rate {hits} / 1000"),
        None => writeln!(out, "No buffer pool page gets since the last printout"),
    };
    let _ = writeln!(
        out,
        "Pages read ahead {:.2}/s, evicted without access {:.2}/s, Random read ahead {:.2}/s",
        counts.rate("Innodb_buffer_pool_read_ahead"),
        counts.rate("Innodb_buffer_pool_read_ahead_evicted"),
        counts.rate("Innodb_buffer_pool_read_ahead_rnd")
    );
}

fn row_operations(counts: &Counts, picture: &Picture, figures: &Figures, out: &mut String) {
    *out += &section("ROW OPERATIONS");
    let runs = |slot: u32| picture.process(slot).is_some_and(|p| p.info.is_some());
    let inside = picture.transactions.iter().filter(|t| runs(t.slot)).count();
    // Nobody is made to wait before it comes in.
    let _ = writeln!(out, "{inside} queries inside InnoDB, 0 queries in queue");
    let _ = writeln!(out, "{} read views open inside InnoDB", figures.snapshots);
    let _ = writeln!(out, "Process ID={}", std::process::id());
    let names = ["inserted", "updated", "deleted", "read"].map(|what| format!("Innodb_rows_{what}"));
    let [inserted, updated, deleted, read] = names.each_ref().map(|name| counts.get(name));
    let _ = writeln!(out, "Number of rows inserted {inserted}, updated {updated}, deleted {deleted}, read {read}");
    let [inserts, updates, deletes, reads] = names.each_ref().map(|name| counts.rate(name));
    let _ = writeln!(out, "{inserts:.2} inserts/s, {updates:.2} updates/s, {deletes:.2} deletes/s, {reads:.2} reads/s");
}
