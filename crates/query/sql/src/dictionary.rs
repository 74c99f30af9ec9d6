//! Names that MySQL's own dictionary has taken in the schema `mysql`: no statement may name such a table, whoever asks.

/// Tables of the schema `mysql` that hold MySQL's dictionary.
const DICTIONARY: [&str; 30] = [
    "catalogs",
    "character_sets",
    "check_constraints",
    "collations",
    "column_statistics",
    "column_type_elements",
    "columns",
    "dd_properties",
    "events",
    "foreign_key_column_usage",
    "foreign_keys",
    "index_column_usage",
    "index_partitions",
    "index_stats",
    "indexes",
    "parameter_type_elements",
    "parameters",
    "resource_groups",
    "routines",
    "schemata",
    "st_spatial_reference_systems",
    "table_partition_values",
    "table_partitions",
    "table_stats",
    "tables",
    "tablespace_files",
    "tablespaces",
    "triggers",
    "view_routine_usage",
    "view_table_usage",
];

/// Those that its storage engine has there.
const OF_THE_ENGINE: [&str; 2] = ["innodb_ddl_log", "innodb_dynamic_metadata"];

/// What error 3554 calls a table of the schema `mysql`. `None`: statements may name it. Names are case-sensitive.
pub fn kind_of_reserved(table: &str) -> Option<&'static str> {
    if DICTIONARY.binary_search(&table).is_ok() {
        Some("data dictionary table")
    } else if OF_THE_ENGINE.contains(&table) {
        Some("system table")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_found() {
        assert!(DICTIONARY.is_sorted());
        assert_eq!(kind_of_reserved("tables"), Some("data dictionary table"));
        assert_eq!(kind_of_reserved("innodb_ddl_log"), Some("system table"));
        assert_eq!(kind_of_reserved("TABLES"), None);
        assert_eq!(kind_of_reserved("user"), None);
    }
}
