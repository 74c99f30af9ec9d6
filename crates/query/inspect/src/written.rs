//! What statements may change of the tables of `performance_schema`.

use crate::columns::Written;
use crate::{Context, setup, threads};
use observe::forgotten::Events;
use types::Result;

type Truncate = fn(&Context) -> Result<()>;

/// What TRUNCATE does, by table. A table that may be truncated and is not named here has no rows.
const TRUNCATED: &[(&str, Truncate)] = &[
    ("binary_log_transaction_compression_stats", |cx| cx.source.forget_compression()),
    ("events_errors_summary_by_account_by_error", forget_errors),
    ("events_errors_summary_by_host_by_error", forget_errors),
    ("events_errors_summary_by_thread_by_error", forget_errors),
    ("events_errors_summary_by_user_by_error", forget_errors),
    ("events_errors_summary_global_by_error", forget_errors),
    ("events_stages_current", |_| forget(Events::Stages, false)),
    ("events_stages_history", |_| forget(Events::Stages, true)),
    ("events_stages_history_long", |_| forget(Events::Stages, true)),
    ("events_stages_summary_by_account_by_event_name", start_over),
    ("events_stages_summary_by_host_by_event_name", start_over),
    ("events_stages_summary_by_thread_by_event_name", start_over),
    ("events_stages_summary_by_user_by_event_name", start_over),
    ("events_stages_summary_global_by_event_name", start_over),
    ("events_statements_current", |_| forget(Events::Statements, false)),
    ("events_statements_histogram_by_digest", |_| forgotten(observe::digests::forget_latencies)),
    ("events_statements_histogram_global", |_| forgotten(observe::digests::forget_all_latencies)),
    ("events_statements_history", |_| forget(Events::Statements, true)),
    ("events_statements_history_long", |_| forget(Events::Statements, true)),
    ("events_statements_summary_by_digest", |_| forgotten(observe::digests::forget)),
    ("events_statements_summary_by_account_by_event_name", start_over),
    ("events_statements_summary_by_host_by_event_name", start_over),
    ("events_statements_summary_by_program", start_over),
    ("events_statements_summary_by_thread_by_event_name", start_over),
    ("events_statements_summary_by_user_by_event_name", start_over),
    ("events_statements_summary_global_by_event_name", start_over),
    ("events_transactions_current", |_| forget(Events::Transactions, false)),
    ("events_transactions_history", |_| forget(Events::Transactions, true)),
    ("events_transactions_history_long", |_| forget(Events::Transactions, true)),
    ("events_transactions_summary_by_account_by_event_name", start_over),
    ("events_transactions_summary_by_host_by_event_name", start_over),
    ("events_transactions_summary_by_thread_by_event_name", start_over),
    ("events_transactions_summary_by_user_by_event_name", start_over),
    ("events_transactions_summary_global_by_event_name", start_over),
    ("events_waits_current", |_| forget(Events::Waits, false)),
    ("events_waits_history", |_| forget(Events::Waits, true)),
    ("events_waits_history_long", |_| forget(Events::Waits, true)),
    ("events_waits_summary_by_account_by_event_name", start_over),
    ("events_waits_summary_by_host_by_event_name", start_over),
    ("events_waits_summary_by_instance", start_over),
    ("events_waits_summary_by_thread_by_event_name", start_over),
    ("events_waits_summary_by_user_by_event_name", start_over),
    ("events_waits_summary_global_by_event_name", start_over),
    ("file_summary_by_event_name", start_over),
    ("file_summary_by_instance", start_over),
    ("host_cache", forget_hosts),
    ("objects_summary_global_by_type", start_over),
    ("table_io_waits_summary_by_index_usage", start_over),
    ("table_io_waits_summary_by_table", start_over),
];

fn forgotten(forget: fn()) -> Result<()> {
    forget();
    Ok(())
}

/// History and history_long are of the same records.
fn forget(events: Events, history: bool) -> Result<()> {
    observe::forgotten::forget(events, history);
    Ok(())
}

fn forget_errors(_: &Context) -> Result<()> {
    forgotten(observe::errors::forget)
}

fn start_over(_: &Context) -> Result<()> {
    observe::setup::start_over();
    Ok(())
}

fn forget_hosts(cx: &Context) -> Result<()> {
    cx.source.forget_hosts();
    Ok(())
}

fn nothing(_: &Context) -> Result<()> {
    Ok(())
}

/// Does MySQL let it be truncated? What counts and what remembers does, besides what it can be asked to forget.
fn may_be_truncated(table: &str) -> bool {
    let others = [
        "accounts",
        "binary_log_transaction_compression_stats",
        "global_status",
        "host_cache",
        "hosts",
        "prepared_statements_instances",
        "users",
    ];
    ["events_", "status_by_"].iter().any(|begin| table.starts_with(begin))
        || table.contains("_summary_")
        || others.contains(&table)
}

pub(crate) fn written(table: &str) -> Written {
    match table {
        "setup_actors" => setup::ACTORS_WRITTEN,
        "setup_consumers" => setup::CONSUMERS,
        "setup_instruments" => setup::INSTRUMENTS,
        "setup_loggers" => setup::LOGGERS,
        "setup_meters" => setup::METERS,
        "setup_objects" => setup::OBJECTS_WRITTEN,
        "setup_threads" => setup::SETUP_THREADS,
        "threads" => threads::THREADS_WRITTEN,
        table if may_be_truncated(table) => {
            let found = TRUNCATED.iter().find(|(name, _)| *name == table);
            Written::truncated(found.map_or(nothing, |(_, truncate)| *truncate))
        }
        _ => Written::NOTHING,
    }
}
