//! Rows of SHOW STATUS that are no counters: what MySQL counts and this server has no occasion for, and what follows from other rows.
//!
//! ARCHITECTURE.md lists the variables of MySQL 8.4 that are not there, and why.

use crate::server::Server;
use observe::{Counter, Timer};

/// What they tell of never happens here, so this is what they count.
const NEVER: &[(&str, &str)] = &[
    ("Connection_errors_tcpwrap", "0"),
    ("Delayed_errors", "0"),
    ("Delayed_insert_threads", "0"),
    ("Delayed_writes", "0"),
    ("Handler_discover", "0"),
    ("Key_blocks_not_flushed", "0"),
    ("Key_blocks_unused", "0"),
    ("Key_blocks_used", "0"),
    ("Key_read_requests", "0"),
    ("Key_reads", "0"),
    ("Key_write_requests", "0"),
    ("Key_writes", "0"),
    ("Max_execution_time_set_failed", "0"),
    ("Not_flushed_delayed_rows", "0"),
    ("Open_streams", "0"),
    ("Performance_schema_accounts_lost", "0"),
    ("Performance_schema_cond_classes_lost", "0"),
    ("Performance_schema_cond_instances_lost", "0"),
    ("Performance_schema_file_classes_lost", "0"),
    ("Performance_schema_file_handles_lost", "0"),
    ("Performance_schema_file_instances_lost", "0"),
    ("Performance_schema_hosts_lost", "0"),
    ("Performance_schema_index_stat_lost", "0"),
    ("Performance_schema_locker_lost", "0"),
    ("Performance_schema_logger_lost", "0"),
    ("Performance_schema_memory_classes_lost", "0"),
    ("Performance_schema_metadata_lock_lost", "0"),
    ("Performance_schema_meter_lost", "0"),
    ("Performance_schema_metric_lost", "0"),
    ("Performance_schema_mutex_classes_lost", "0"),
    ("Performance_schema_mutex_instances_lost", "0"),
    ("Performance_schema_nested_statement_lost", "0"),
    ("Performance_schema_prepared_statements_lost", "0"),
    ("Performance_schema_program_lost", "0"),
    ("Performance_schema_rwlock_classes_lost", "0"),
    ("Performance_schema_rwlock_instances_lost", "0"),
    ("Performance_schema_socket_classes_lost", "0"),
    ("Performance_schema_socket_instances_lost", "0"),
    ("Performance_schema_stage_classes_lost", "0"),
    ("Performance_schema_statement_classes_lost", "0"),
    ("Performance_schema_table_handles_lost", "0"),
    ("Performance_schema_table_instances_lost", "0"),
    ("Performance_schema_table_lock_stat_lost", "0"),
    ("Performance_schema_thread_classes_lost", "0"),
    ("Performance_schema_thread_instances_lost", "0"),
    ("Performance_schema_users_lost", "0"),
    ("Resource_group_supported", "OFF"),
    ("Innodb_redo_log_read_only", "OFF"),
    ("Secondary_engine_execution_count", "0"),
    ("Select_range_check", "0"),
    ("Slow_launch_threads", "0"),
    ("Sort_range", "0"),
    ("Table_locks_waited", "0"),
    ("Tc_log_max_pages_used", "0"),
    ("Tc_log_page_size", "0"),
    ("Tc_log_page_waits", "0"),
    ("Telemetry_metrics_supported", "OFF"),
    ("Telemetry_traces_supported", "OFF"),
];

impl Server {
    /// Those rows.
    pub(crate) fn plain_status(&self) -> Vec<(String, String)> {
        let mut rows: Vec<(String, String)> = NEVER.iter().map(|(name, value)| row(name, value)).collect();
        let (time_ms, waits) = (observe::sum(Counter::InnodbRowLockTime), observe::sum(Counter::InnodbRowLockWaits));
        let average_ms = time_ms.checked_div(waits).unwrap_or(0);
        rows.push(row("Innodb_row_lock_time_avg", &average_ms.to_string()));
        let max_ms = observe::histogram(Timer::RowLockWait).max_ns() / 1_000_000;
        rows.push(row("Innodb_row_lock_time_max", &max_ms.to_string()));
        // There is no other way to write, and a new capacity holds at once.
        rows.push(row("Innodb_redo_log_enabled", "ON"));
        rows.push(row("Innodb_redo_log_resize_status", "OK"));
        rows.push(row("Innodb_redo_log_capacity_resized", &self.engine.log_capacity().to_string()));
        rows.push(row(
            "Deprecated_use_i_s_processlist_last_timestamp",
            &self.monitor.processlist_read_us().to_string(),
        ));
        for name in ["Rsa_public_key", "Caching_sha2_password_rsa_public_key"] {
            rows.push(row(name, self.rsa.known().map_or("", |pair| pair.public_pem())));
        }
        rows
    }
}

fn row(name: &str, value: &str) -> (String, String) {
    (name.to_string(), value.to_string())
}
