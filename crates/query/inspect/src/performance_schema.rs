//! performance_schema: variables and status as tables; row locks are in `locks`, sessions in `threads`. Names and types of the
//! columns stand in `performance_schema.txt`.

use crate::columns::Compute::{All, Each};
use crate::columns::{Compute, PERFORMANCE_SCHEMA};
use crate::grouped::By;
use crate::{
    CloneStage, Context, Replication, Row, digests, errors, locks, maybe, prepared, setup, stages, statements, text,
    threads, transactions, uint, waits, word,
};
use crate::{GroupedBy, memory, sessions};
use catalog::Schema;
use types::codes::*;
use types::collation::CollationId;
use types::{DateTime, Result, Value, err};

/// Rows by table; the others are of what the server does not have.
const COMPUTED: &[(&str, Compute)] = &[
    ("accounts", All(|cx, out| sessions::connections(cx, GroupedBy::Account, out))),
    ("hosts", All(|cx, out| sessions::connections(cx, GroupedBy::Host, out))),
    ("users", All(|cx, out| sessions::connections(cx, GroupedBy::User, out))),
    ("memory_summary_by_account_by_event_name", All(|cx, out| memory::by_group(cx, GroupedBy::Account, out))),
    ("memory_summary_by_host_by_event_name", All(|cx, out| memory::by_group(cx, GroupedBy::Host, out))),
    ("memory_summary_by_thread_by_event_name", All(memory::by_thread)),
    ("memory_summary_by_user_by_event_name", All(|cx, out| memory::by_group(cx, GroupedBy::User, out))),
    ("memory_summary_global_by_event_name", All(memory::global)),
    ("session_account_connect_attrs", All(sessions::session_account_connect_attrs)),
    ("session_connect_attrs", All(sessions::session_connect_attrs)),
    ("status_by_account", All(|cx, out| sessions::status(cx, GroupedBy::Account, out))),
    ("status_by_host", All(|cx, out| sessions::status(cx, GroupedBy::Host, out))),
    ("status_by_thread", All(sessions::status_by_thread)),
    ("status_by_user", All(|cx, out| sessions::status(cx, GroupedBy::User, out))),
    ("tls_channel_status", All(sessions::tls_channel_status)),
    ("user_defined_functions", All(sessions::user_defined_functions)),
    ("user_variables_by_thread", All(sessions::user_variables_by_thread)),
    ("variables_by_thread", All(sessions::variables_by_thread)),
    ("binary_log_transaction_compression_stats", All(compression_stats)),
    ("clone_progress", All(clone_progress)),
    ("clone_status", All(clone_status)),
    ("data_locks", All(locks::data_locks)),
    ("data_lock_waits", All(locks::data_lock_waits)),
    ("events_errors_summary_by_account_by_error", Each(|cx| errors::sums(cx, By::Account))),
    ("events_errors_summary_by_host_by_error", Each(|cx| errors::sums(cx, By::Host))),
    ("events_errors_summary_by_thread_by_error", Each(|cx| errors::sums(cx, By::Thread))),
    ("events_errors_summary_by_user_by_error", Each(|cx| errors::sums(cx, By::User))),
    ("events_errors_summary_global_by_error", Each(|cx| errors::sums(cx, By::Nothing))),
    ("error_log", All(error_log)),
    ("events_stages_current", All(stages::current)),
    ("events_stages_history", All(stages::history)),
    ("events_stages_history_long", All(stages::history)),
    ("events_stages_summary_by_account_by_event_name", Each(|cx| stages::sums(cx, By::Account))),
    ("events_stages_summary_by_host_by_event_name", Each(|cx| stages::sums(cx, By::Host))),
    ("events_stages_summary_by_thread_by_event_name", Each(|cx| stages::sums(cx, By::Thread))),
    ("events_stages_summary_by_user_by_event_name", Each(|cx| stages::sums(cx, By::User))),
    ("events_stages_summary_global_by_event_name", Each(|cx| stages::sums(cx, By::Nothing))),
    ("events_statements_current", All(statements::current)),
    ("events_statements_histogram_by_digest", All(digests::histogram)),
    ("events_statements_histogram_global", All(digests::global_histogram)),
    ("events_statements_history", All(statements::history)),
    ("events_statements_history_long", All(statements::history)),
    ("events_statements_summary_by_account_by_event_name", Each(|cx| statements::sums(cx, By::Account))),
    ("events_statements_summary_by_digest", All(digests::summary)),
    ("events_statements_summary_by_host_by_event_name", Each(|cx| statements::sums(cx, By::Host))),
    ("events_statements_summary_by_thread_by_event_name", Each(|cx| statements::sums(cx, By::Thread))),
    ("events_statements_summary_by_user_by_event_name", Each(|cx| statements::sums(cx, By::User))),
    ("events_statements_summary_global_by_event_name", Each(|cx| statements::sums(cx, By::Nothing))),
    ("events_transactions_current", All(transactions::current)),
    ("events_transactions_history", All(transactions::history)),
    ("events_transactions_history_long", All(transactions::history)),
    ("events_transactions_summary_by_account_by_event_name", All(|cx, out| transactions::sums(cx, By::Account, out))),
    ("events_transactions_summary_by_host_by_event_name", All(|cx, out| transactions::sums(cx, By::Host, out))),
    ("events_transactions_summary_by_thread_by_event_name", All(|cx, out| transactions::sums(cx, By::Thread, out))),
    ("events_transactions_summary_by_user_by_event_name", All(|cx, out| transactions::sums(cx, By::User, out))),
    ("events_transactions_summary_global_by_event_name", All(|cx, out| transactions::sums(cx, By::Nothing, out))),
    ("events_waits_current", All(waits::current)),
    ("events_waits_history", All(waits::history)),
    ("events_waits_history_long", All(waits::history)),
    ("events_waits_summary_by_account_by_event_name", All(waits::by_account)),
    ("events_waits_summary_by_host_by_event_name", All(waits::by_host)),
    ("events_waits_summary_by_instance", All(waits::by_instance)),
    ("events_waits_summary_by_thread_by_event_name", Each(waits::by_thread)),
    ("events_waits_summary_by_user_by_event_name", All(waits::by_user)),
    ("events_waits_summary_global_by_event_name", All(waits::global)),
    ("file_instances", All(waits::file_instances)),
    ("file_summary_by_event_name", All(waits::files_by_event_name)),
    ("file_summary_by_instance", All(waits::files_by_instance)),
    ("global_status", All(global_status)),
    ("global_variables", All(global_variables)),
    ("host_cache", All(crate::hosts::host_cache)),
    ("innodb_redo_log_files", All(crate::innodb_files::redo_log_files)),
    ("keyring_component_status", All(keyring_component_status)),
    ("keyring_keys", All(keyring_keys)),
    ("log_status", All(log_status)),
    ("metadata_locks", All(metadata_locks)),
    ("objects_summary_global_by_type", All(waits::objects)),
    ("performance_timers", All(setup::timers)),
    ("persisted_variables", All(persisted_variables)),
    ("prepared_statements_instances", All(prepared::instances)),
    ("events_statements_summary_by_program", All(statements::by_program)),
    ("processlist", All(threads::processlist)),
    ("replication_applier_configuration", All(|cx, out| replication(cx, Replication::ApplierConfiguration, out))),
    ("replication_applier_filters", All(|cx, out| replication(cx, Replication::Filters, out))),
    ("replication_applier_global_filters", All(|cx, out| replication(cx, Replication::GlobalFilters, out))),
    ("replication_applier_status", All(|cx, out| replication(cx, Replication::ApplierStatus, out))),
    ("replication_applier_status_by_coordinator", All(|cx, out| replication(cx, Replication::ByCoordinator, out))),
    ("replication_applier_status_by_worker", All(|cx, out| replication(cx, Replication::ByWorker, out))),
    ("replication_connection_configuration", All(|cx, out| replication(cx, Replication::ConnectionConfiguration, out))),
    ("replication_connection_status", All(|cx, out| replication(cx, Replication::ConnectionStatus, out))),
    ("session_status", All(session_status)),
    ("session_variables", All(session_variables)),
    ("table_io_waits_summary_by_index_usage", All(waits::io_by_index)),
    ("table_io_waits_summary_by_table", All(waits::io_by_table)),
    ("table_lock_waits_summary_by_table", All(waits::locks_by_table)),
    ("setup_actors", All(setup::actors)),
    ("setup_consumers", All(setup::consumers)),
    ("setup_instruments", All(setup::instruments)),
    ("setup_objects", All(setup::objects)),
    ("setup_threads", All(setup::setup_threads)),
    ("threads", All(threads::threads)),
    ("variables_info", All(variables_info)),
];

/// What `performance_schema=OFF` does not empty, beside `replication_*`: it is told, not collected.
const TOLD: &[&str] = &[
    "clone_progress",
    "clone_status",
    "data_lock_waits",
    "data_locks",
    "global_status",
    "global_variables",
    "host_cache",
    "innodb_redo_log_files",
    "keyring_component_status",
    "keyring_keys",
    "log_status",
    "persisted_variables",
    "session_status",
    "session_variables",
    "user_defined_functions",
    "variables_info",
];

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("performance_schema", CollationId::UTF8MB4_0900_AI_CI);
    let is_told = |name: &str| TOLD.contains(&name) || name.starts_with("replication_");
    let has_rows = |name: &str| !observe::setup::is_off() || is_told(name);
    let rows: Vec<_> = COMPUTED.iter().filter(|(name, _)| has_rows(name)).copied().collect();
    PERFORMANCE_SCHEMA.add_written(&mut schema, &rows, crate::written::written);
    schema
}

fn replication(cx: &Context, table: Replication, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.replication(table));
    Ok(())
}

/// Error 1227 for whoever makes no copies of the server.
fn log_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    if !cx.viewer.makes_copies {
        return Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "BACKUP_ADMIN"));
    }
    replication(cx, Replication::LogStatus, out)
}

fn error_log(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.error_log().into_iter().map(|line| {
        vec![
            clone_time(line.at_us),
            uint(line.thread),
            uint(line.prio),
            text(line.code),
            text(line.subsystem),
            text(line.data),
        ]
    }));
    Ok(())
}

/// Threads are known by their connection's id.
fn metadata_locks(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for lock in cx.source.metadata_locks() {
        let (schema, object) = lock.name.parts();
        out.push(vec![
            word(lock.name.kind()),
            maybe(schema.map(str::to_string)),
            maybe(object.map(str::to_string)),
            Value::Null,
            uint(lock.instance),
            word(lock.mode.name()),
            word(lock.duration.name()),
            word(if lock.granted { "GRANTED" } else { "PENDING" }),
            word(""),
            uint(lock.connection),
            Value::Null,
        ]);
    }
    Ok(())
}

/// What MySQL's component of the same file says of itself. Empty without a keyring.
fn keyring_component_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let Some(keyring) = cx.engine.keyring() else { return Ok(()) };
    let rows = [
        ("Component_name", "component_keyring_file".to_string()),
        ("Implementation_name", "component_keyring_file".to_string()),
        ("Component_status", "Active".to_string()),
        ("Data_file", keyring.path.display().to_string()),
        ("Read_only", if keyring.read_only { "Yes" } else { "No" }.to_string()),
    ];
    out.extend(rows.into_iter().map(|(key, value)| vec![word(key), text(value)]));
    Ok(())
}

/// Names of keys, the last one made first.
fn keyring_keys(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let keys = cx.engine.keyring().map_or_else(Vec::new, |keyring| keyring.keys);
    out.extend(keys.into_iter().rev().map(|(id, owner)| vec![text(id), text(owner), word("")]));
    Ok(())
}

fn global_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.global_variables(&|_| true).into_iter().map(|(name, value)| vec![word(name), text(value)]));
    Ok(())
}

fn persisted_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.persisted_variables().into_iter().map(|(name, value)| vec![word(name), text(value)]));
    Ok(())
}

fn variables_info(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for info in cx.source.variable_infos() {
        let (user, host, time) = match info.set_by {
            Some((user, host, us)) => {
                let time = DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32);
                (text(user), text(host), time.map_or(Value::Null, Value::DateTime))
            }
            None => (Value::Null, Value::Null, Value::Null),
        };
        let (min, max) = (text(info.min), text(info.max));
        out.push(vec![word(info.name), uint(info.source as u64), word(""), min, max, time, user, host]);
    }
    Ok(())
}

fn session_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend((cx.session_variables)(&|_| true).into_iter().map(|(name, value)| vec![word(name), text(value)]));
    Ok(())
}

fn global_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.status().into_iter().map(|(name, value)| vec![text(name), text(value)]));
    Ok(())
}

fn session_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.session_status().into_iter().map(|(name, value)| vec![text(name), text(value)]));
    Ok(())
}

/// A time of a copy; NULL before there is one.
fn clone_time(us: u64) -> Value<'static> {
    match us {
        0 => Value::Null,
        us => {
            DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32).map_or(Value::Null, Value::DateTime)
        }
    }
}

/// What compression does to transactions on their way into the binary log. The relay log has them as the source sends them.
fn compression_stats(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for row in cx.source.binlog_compression() {
        let saved = row.events_bytes.saturating_sub(row.compressed_bytes) * 100;
        let mut line = vec![
            word("BINARY"),
            word(row.compression),
            uint(row.transactions),
            uint(row.compressed_bytes),
            uint(row.events_bytes),
            Value::Int(saved.checked_div(row.events_bytes).unwrap_or(0) as i64),
        ];
        for one in [row.first, row.last] {
            line.extend([
                text(one.gtid),
                uint(one.compressed_bytes),
                uint(one.events_bytes),
                clone_time(one.commit_us),
            ]);
        }
        out.push(line);
    }
    Ok(())
}

fn clone_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let Some(clone) = cx.source.clone_record() else { return Ok(()) };
    let state = match (clone.ended_us, &clone.error) {
        (0, _) => "In Progress",
        (_, Some(_)) => "Failed",
        (_, None) => "Completed",
    };
    let (number, message) = clone.error.unwrap_or_default();
    out.push(vec![
        Value::Int(1),
        Value::Int(clone.pid as i64),
        word(state),
        clone_time(clone.began_us),
        clone_time(clone.ended_us),
        text(clone.source),
        text(clone.destination),
        Value::Int(number.into()),
        text(message),
        text(clone.binlog_file),
        Value::Int(clone.binlog_position as i64),
        text(clone.gtid_executed),
    ]);
    Ok(())
}

/// Stages by name; some never begin here.
const CLONE_STAGES: [&str; 7] =
    ["DROP DATA", "FILE COPY", "PAGE COPY", "REDO COPY", "FILE SYNC", "RESTART", "RECOVERY"];

fn clone_progress(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let Some(clone) = cx.source.clone_record() else { return Ok(()) };
    for name in CLONE_STAGES {
        let stage = clone.stages.iter().find(|stage| stage.name == name);
        let state = match stage {
            None => "Not Started",
            Some(stage) if stage.ended_us != 0 => "Completed",
            Some(_) if clone.ended_us != 0 => "Failed",
            Some(_) => "In Progress",
        };
        let number = |figure: fn(&CloneStage) -> u64| Value::Int(stage.map_or(0, figure) as i64);
        // While it runs: bytes a second since it began.
        let speed = match stage {
            Some(s) if state == "In Progress" => s.done * 1_000_000 / clone.now_us.saturating_sub(s.began_us).max(1),
            _ => 0,
        };
        out.push(vec![
            Value::Int(1),
            word(name),
            word(state),
            clone_time(stage.map_or(0, |s| s.began_us)),
            clone_time(stage.map_or(0, |s| s.ended_us)),
            number(|_| 1),
            number(|s| s.estimate),
            number(|s| s.done),
            Value::Int(0),
            Value::Int(speed as i64),
            Value::Int(0),
        ]);
    }
    Ok(())
}
