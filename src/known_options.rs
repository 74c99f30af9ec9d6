//! Options that usual files hold and that the table of variables does not have, or has one value of: those with another name here,
//! and those that make no difference to answers or to what is kept.

/// What an option of another name comes to: this one, with this value.
pub fn renamed(name: &str, value: Option<&str>) -> Option<(&'static str, Option<String>)> {
    let same = value.map(str::to_string);
    let scaled = |by: u64| value.and_then(|v| v.trim().parse::<u64>().ok()).map(|n| (n.saturating_mul(by)).to_string());
    Some(match name {
        "default_time_zone" => ("time_zone", same),
        "expire_logs_days" => ("binlog_expire_logs_seconds", scaled(24 * 60 * 60).or(same)),
        "key_buffer" => ("key_buffer_size", same),
        "log_warnings" => ("log_error_verbosity", Some(if value == Some("0") { "1" } else { "2" }.to_string())),
        "myisam_recover" => ("myisam_recover_options", same),
        "skip_host_cache" => ("host_cache_size", Some("0".to_string())),
        "sync_source_info" => ("sync_master_info", same),
        "table_cache" => ("table_open_cache", same),
        "tx_isolation" => ("transaction_isolation", same),
        "tx_read_only" => ("transaction_read_only", same),
        _ => return None,
    })
}

/// Options of MySQL and MariaDB, and of their former versions, that this server has nothing for, and whose lack changes no answer.
const NO_EFFECT: [&str; 67] = [
    "allow_suspicious_udfs",
    "archive",
    "blackhole",
    "check_table_functions",
    "connection_memory_status_limit",
    "container_aware",
    "external_locking",
    "federated",
    "gdb",
    "global_connection_memory_status_limit",
    "innodb",
    "innodb_additional_mem_pool_size",
    "innodb_buffer_pool_populate",
    "innodb_checksums",
    "innodb_file_format",
    "innodb_file_format_check",
    "innodb_file_format_max",
    "innodb_large_prefix",
    "innodb_log_block_size",
    "innodb_log_checksum_algorithm",
    "innodb_mirrored_log_groups",
    "innodb_stats_sample_pages",
    "innodb_status_file",
    "innodb_support_xa",
    "innodb_temp_data_file_path",
    "innodb_temp_tablespaces_dir",
    "innodb_undo_logs",
    "innodb_use_sys_malloc",
    "log_isam",
    "log_short_format",
    "log_slow_filter",
    "log_slow_min_examined_row_limit",
    "log_slow_query",
    "log_slow_query_file",
    "log_slow_query_time",
    "log_slow_rate_limit",
    "log_slow_verbosity",
    "log_tc",
    "log_tc_size",
    "master_info_repository",
    "max_binlog_dump_events",
    "memlock",
    "metadata_locks_cache_size",
    "metadata_locks_hash_instances",
    "multi_range_count",
    "myisam_block_size",
    "myisam_repair_threads",
    "ndbcluster",
    "ndbinfo",
    "ngram",
    "partition",
    "port_open_timeout",
    "relay_log_info_repository",
    "safe_user_create",
    "secure_auth",
    "show_replica_auth_info",
    "show_slave_auth_info",
    "sporadic_binlog_dump_fail",
    "super_large_pages",
    "symbolic_links",
    "sync_frm",
    "table_open_cache_triggers",
    "tc_heuristic_recover",
    "thread_concurrency",
    "upgrade",
    "userstat",
    "validate_user_plugins",
];

/// The same, by how their names begin.
const NO_EFFECT_PREFIXES: [&str; 7] =
    ["aria_", "innodb_adaptive_flushing_", "mysqlx", "ndb_", "query_cache_", "server_audit_", "thread_pool_"];

/// Variables that have one value here, and of which another one would change logs, figures, speed or what cannot be made here: never an
/// answer, nor what is kept.
const NO_DIFFERENCE: [&str; 61] = [
    "character_sets_dir",
    "core_file",
    "eq_range_index_dive_limit",
    "ft_boolean_syntax",
    "ft_max_word_len",
    "ft_min_word_len",
    "ft_query_expansion_limit",
    "ft_stopword_file",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_directories",
    "innodb_doublewrite_batch_size",
    "innodb_doublewrite_dir",
    "innodb_doublewrite_files",
    "innodb_doublewrite_pages",
    "innodb_ft_enable_diag_print",
    "innodb_ft_enable_stopword",
    "innodb_ft_max_token_size",
    "innodb_ft_min_token_size",
    "innodb_ft_server_stopword_table",
    "innodb_ft_user_stopword_table",
    "innodb_log_group_home_dir",
    "innodb_monitor_disable",
    "innodb_monitor_enable",
    "innodb_optimize_fulltext_only",
    "innodb_redo_log_archive_dirs",
    "innodb_tmpdir",
    "internal_tmp_mem_storage_engine",
    "large_pages",
    "log_bin_index",
    "log_slow_replica_statements",
    "log_slow_slave_statements",
    "log_statements_unsafe_for_binlog",
    "max_seeks_for_key",
    "myisam_mmap_size",
    "myisam_recover_options",
    "net_retry_count",
    "ngram_token_size",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "parser_max_mem_size",
    "relay_log",
    "relay_log_index",
    "relay_log_space_limit",
    "replica_compressed_protocol",
    "replica_parallel_type",
    "report_password",
    "report_user",
    "rpl_read_size",
    "slave_compressed_protocol",
    "slave_parallel_type",
    "slow_launch_time",
    "stored_program_cache",
    "sync_master_info",
    "sync_relay_log",
    "sync_relay_log_info",
    "temptable_max_mmap",
    "temptable_use_mmap",
    "thread_handling",
    "transaction_alloc_block_size",
    "transaction_prealloc_size",
];

/// An SQL mode of MySQL before 8.0, whose lack changes no answer: GRANT makes no accounts.
pub const FORMER_MODE: &str = "NO_AUTO_CREATE_USER";

/// The SQL modes without the former one; `None`: it is not among them.
pub fn without_former_modes(modes: &str) -> Option<String> {
    let is_former = |mode: &&str| mode.trim().eq_ignore_ascii_case(FORMER_MODE);
    let left = || modes.split(',').filter(|mode| !is_former(mode)).collect::<Vec<_>>().join(",");
    modes.split(',').any(|mode| is_former(&mode)).then(left)
}

/// Is the option of something that is not there?
pub fn has_no_effect(name: &str) -> bool {
    NO_EFFECT.binary_search(&name).is_ok() || NO_EFFECT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// May the variable's option name another value than the one that holds here?
pub fn makes_no_difference(name: &str) -> bool {
    NO_DIFFERENCE.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::variables;

    #[test]
    fn lists_are_sorted_and_say_what_the_table_says() {
        assert!(NO_EFFECT.is_sorted() && NO_DIFFERENCE.is_sorted());
        for name in NO_EFFECT {
            assert!(variables::find(name).is_none(), "{name} is a variable");
        }
        for name in NO_DIFFERENCE {
            let id = variables::find(name).expect(name);
            assert!(variables::VARIABLES[id as usize].startup.is_fixed(), "{name} has more than one value");
        }
    }
}
