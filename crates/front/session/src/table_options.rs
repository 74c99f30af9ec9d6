//! Options of a table: its engine, what is kept for SHOW CREATE TABLE, and what is refused because nobody would do it.

use crate::session::Session;
use crate::statement::{text_of, unsupported};
use crate::variables::{VarId, id};
use catalog::eq_name;
use catalog::{ColumnDefault, CreateOptions, IndexAlgorithm, MYSQL, StorageEngine, Table, TableSpec};
use expr::Env;
use sql::ast::{IndexAlgorithm as Using, IndexDef, OptionValue, Parsed, TableOptions};
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{Result, SqlError, TypeKind, err};

const DEFAULT_ENGINE: VarId = id("default_storage_engine");
const DEFAULT_TEMPORARY_ENGINE: VarId = id("default_tmp_storage_engine");

/// Tablespaces that a server has without being told. Here both are the one data file.
const TABLESPACES: [&str; 2] = ["innodb_file_per_table", "innodb_system"];
/// The tablespace of the tables of `mysql` that MySQL makes; a dump of them names it. Here it is the one data file, too.
const RESERVED: &str = "mysql";
/// Those tables.
const SYSTEM_TABLES: &str = "\
    columns_priv component db default_roles engine_cost func general_log global_grants gtid_executed \
    help_category help_keyword help_relation help_topic innodb_index_stats innodb_table_stats \
    ndb_binlog_index password_history plugin procs_priv proxies_priv \
    replication_asynchronous_connection_failover replication_asynchronous_connection_failover_managed \
    replication_group_configuration_version replication_group_member_actions role_edges server_cost servers \
    slave_master_info slave_relay_log_info slave_worker_info slow_log tables_priv time_zone \
    time_zone_leap_second time_zone_name time_zone_transition time_zone_transition_type user";
/// Most characters of a tablespace's name.
const TABLESPACE_CHARS_MAX: usize = 64;
const BLOCK_SIZES: [u64; 5] = [1, 2, 4, 8, 16];

/// The table whose options these are.
pub(crate) struct Optioned<'t> {
    pub schema: &'t str,
    pub name: &'t str,
    pub temporary: bool,
    /// The schema's DEFAULT ENCRYPTION.
    pub encrypts: bool,
    /// What it has already: of a table that is altered.
    pub was: Option<(StorageEngine, &'t CreateOptions)>,
}

impl Optioned<'_> {
    /// What InnoDB says of an option that it does not have: 1031, or 1478 in ALTER TABLE.
    fn refused(&self, option: &str) -> SqlError {
        match self.was {
            Some(_) => err!(ER_ILLEGAL_HA_CREATE_OPTION, "InnoDB", option),
            None => err!(ER_ILLEGAL_HA, self.name),
        }
    }
}

impl Session {
    /// The engine and the options of a table as they will be. Errors 1031, 1045, 1235, 1286, 1478, 1525, 3121, 3184, 3185, 3500, 3510,
    /// 3833, 3980, 3981.
    pub(crate) fn table_options(
        &mut self,
        parsed: &Parsed,
        options: &TableOptions,
        table: Optioned<'_>,
    ) -> Result<(StorageEngine, CreateOptions)> {
        let engine = self.engine_of(parsed, options, &table)?;
        let mut kept = table.was.map_or_else(CreateOptions::default, |(_, kept)| kept.clone());
        check_attributes(parsed, options, engine)?;
        if let Some(name) = other_text(parsed, options, "tablespace") {
            self.tablespace(name, &table, &mut kept)?;
        }
        self.row_format(parsed, options, engine, &table, &mut kept)?;
        self.directories(parsed, options, engine, &table)?;
        self.compression(parsed, options, engine, &table, &mut kept)?;
        self.encryption(parsed, options, engine, &table, &mut kept)?;
        let flags = [
            ("STATS_PERSISTENT", &options.stats_persistent),
            ("STATS_AUTO_RECALC", &options.stats_auto_recalc),
            ("STATS_SAMPLE_PAGES", &options.stats_sample_pages),
        ];
        for (name, value) in flags.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            keep_number(&mut kept, name, value, true);
        }
        for (word, value) in &options.other {
            match *word {
                "max_rows" | "min_rows" | "avg_row_length" | "checksum" | "delay_key_write" => {
                    keep_number(&mut kept, &word.to_ascii_uppercase(), value, false);
                }
                "pack_keys" => keep_number(&mut kept, "PACK_KEYS", value, true),
                "connection" | "storage" | "secondary_engine_attribute" => {
                    let name = word.to_ascii_uppercase();
                    let OptionValue::Text(text) = value else { continue };
                    kept.set(&name, Some(text_of(parsed, *text)).filter(|t| !t.is_empty()));
                }
                "tablespace" | "data directory" | "index directory" | "engine_attribute" => {}
                // No storage engine of MySQL does anything with it, and nothing shows it.
                "password" => {}
                "start transaction" if table.was.is_some() => {
                    return Err(err!(ER_NOT_ALLOWED_WITH_START_TRANSACTION, "with ALTER TABLE command."));
                }
                _ => return Err(unsupported(word)),
            }
        }
        if let Some(attribute) = kept.get("SECONDARY_ENGINE_ATTRIBUTE") {
            // MySQL writes the document anew.
            let document = types::json::parse::parse(attribute.as_bytes()).map_err(|_| bad_attribute(attribute))?;
            kept.set("SECONDARY_ENGINE_ATTRIBUTE", Some(String::from_utf8_lossy(&document.to_text()).into_owned()));
        }
        Ok((engine, kept))
    }

    /// The engine of a new table, as far as options name one that there is.
    pub(crate) fn engine_named(&self, parsed: &Parsed, options: &TableOptions) -> StorageEngine {
        match options.engine {
            Some(engine) => StorageEngine::by_name(&text_of(parsed, engine)).unwrap_or(StorageEngine::InnoDb),
            None => StorageEngine::by_name(&self.state.printed(DEFAULT_ENGINE)).expect("one of those that there are"),
        }
    }

    /// Error 1286 for an engine that is not there, unless the mode lets InnoDB take its place.
    fn engine_of(&mut self, parsed: &Parsed, options: &TableOptions, table: &Optioned<'_>) -> Result<StorageEngine> {
        let default = if table.temporary { DEFAULT_TEMPORARY_ENGINE } else { DEFAULT_ENGINE };
        let Some(engine) = options.engine else {
            let by_default =
                || StorageEngine::by_name(&self.state.printed(default)).expect("one of those that there are");
            return Ok(table.was.map_or_else(by_default, |(engine, _)| engine));
        };
        let name = text_of(parsed, engine);
        if let Some(engine) = StorageEngine::by_name(&name) {
            return Ok(engine);
        }
        if self.state.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
            return Err(err!(ER_UNKNOWN_STORAGE_ENGINE, name));
        }
        self.state.push_warning("Warning", err!(ER_UNKNOWN_STORAGE_ENGINE, name));
        if let Some((engine, _)) = table.was {
            return Ok(engine);
        }
        self.state.push_warning("Warning", err!(ER_WARN_USING_OTHER_HANDLER, StorageEngine::InnoDb.name(), table.name));
        Ok(StorageEngine::InnoDb)
    }

    /// Errors 3119, 3510, 3723.
    fn tablespace(&mut self, name: String, table: &Optioned<'_>, kept: &mut CreateOptions) -> Result<()> {
        if name.is_empty() || name.contains('/') || name.chars().count() > TABLESPACE_CHARS_MAX {
            return Err(err!(ER_WRONG_TABLESPACE_NAME, name));
        }
        if name == RESERVED {
            if table.schema != MYSQL || !SYSTEM_TABLES.split_whitespace().any(|known| known == table.name) {
                return Err(err!(ER_RESERVED_TABLESPACE_NAME, table.name, name));
            }
        } else if !TABLESPACES.contains(&name.as_str()) {
            return Err(err!(ER_TABLESPACE_MISSING_WITH_NAME, name));
        }
        if name == "innodb_file_per_table" {
            let shown = format!("InnoDB: Table '`{}`' in system tablespace", table.name);
            self.state.warn("Warning", ER_TABLE_IN_SYSTEM_TABLESPACE, shown);
        }
        kept.set("TABLESPACE", Some(name));
        Ok(())
    }

    /// ROW_FORMAT and KEY_BLOCK_SIZE. Errors 1031, 1478, 3500.
    fn row_format(
        &mut self,
        parsed: &Parsed,
        options: &TableOptions,
        engine: StorageEngine,
        table: &Optioned<'_>,
        kept: &mut CreateOptions,
    ) -> Result<()> {
        if let Some(format) = options.row_format {
            let format = parsed.name(format).to_ascii_uppercase();
            kept.set("ROW_FORMAT", Some(format).filter(|f| f != "DEFAULT"));
        }
        if let Some(size) = options.key_block_size {
            kept.set("KEY_BLOCK_SIZE", (size > 0).then(|| size.to_string()));
        }
        if engine != StorageEngine::InnoDb || (options.row_format.is_none() && options.key_block_size.is_none()) {
            return Ok(());
        }
        let format = kept.get("ROW_FORMAT");
        let size: Option<u64> = kept.get("KEY_BLOCK_SIZE").and_then(|s| s.parse().ok());
        if size.is_some_and(|s| !BLOCK_SIZES.contains(&s))
            || (size.is_some() && !matches!(format, None | Some("COMPRESSED")))
        {
            return Err(table.refused("KEY_BLOCK_SIZE"));
        }
        if format == Some("FIXED") {
            return Err(table.refused("ROW_TYPE"));
        }
        if size.is_some() || format == Some("COMPRESSED") {
            if table.temporary {
                return Err(err!(ER_UNSUPPORT_COMPRESSED_TEMPORARY_TABLE));
            }
            self.state.warn("Warning", ER_ILLEGAL_HA_CREATE_OPTION, "InnoDB: assuming ROW_FORMAT=DYNAMIC.".to_string());
        }
        Ok(())
    }

    /// There is one directory, and who may not write files is told nothing of it. Errors 1031, 1045, 1525, 3121.
    fn directories(
        &mut self,
        parsed: &Parsed,
        options: &TableOptions,
        engine: StorageEngine,
        table: &Optioned<'_>,
    ) -> Result<()> {
        for (word, shown) in [("data directory", "DATA DIRECTORY"), ("index directory", "INDEX DIRECTORY")] {
            let Some(path) = other_text(parsed, options, word) else { continue };
            if table.was.is_none() {
                self.may_name_files()?;
            }
            if table.was.is_some() || engine == StorageEngine::MyIsam {
                self.state.push_warning("Warning", err!(WARN_OPTION_IGNORED, shown));
                continue;
            }
            if !path.starts_with('/') {
                return Err(err!(ER_WRONG_VALUE, "path", path));
            }
            return Err(match word {
                "data directory" => {
                    SqlError::new(ER_WRONG_FILE_NAME, "The DATA DIRECTORY location must be in a known directory.")
                }
                _ => err!(ER_ILLEGAL_HA, table.name),
            });
        }
        Ok(())
    }

    /// Pages are not compressed, as where the file system can not punch holes. Errors 1031, 1478.
    fn compression(
        &mut self,
        parsed: &Parsed,
        options: &TableOptions,
        engine: StorageEngine,
        table: &Optioned<'_>,
        kept: &mut CreateOptions,
    ) -> Result<()> {
        let Some(algorithm) = options.compression.map(|c| text_of(parsed, c)) else { return Ok(()) };
        let compresses = match algorithm.to_ascii_lowercase().as_str() {
            "" | "none" => false,
            "zlib" | "lz4" => true,
            _ => return Err(table.refused("COMPRESSION")),
        };
        let packed = kept.get("KEY_BLOCK_SIZE").is_some() || kept.get("ROW_FORMAT") == Some("COMPRESSED");
        if compresses && engine == StorageEngine::InnoDb {
            if packed {
                return Err(table.refused("COMPRESSION"));
            }
            let message = "InnoDB: Punch hole not supported by the file system. Compression disabled".to_string();
            self.state.warn("Warning", ER_UNSUPPORTED_EXTENSION, message);
        }
        kept.set("COMPRESSION", Some(algorithm).filter(|a| !a.is_empty()));
        Ok(())
    }

    /// USING of a key as its table's engine takes it. Error 1687.
    pub(crate) fn index_algorithm(
        &mut self,
        index: &IndexDef,
        engine: StorageEngine,
    ) -> Result<Option<IndexAlgorithm>> {
        match index.options.algorithm {
            None => Ok(None),
            Some(Using::BTree) => Ok(Some(IndexAlgorithm::BTree)),
            Some(Using::Hash) => Ok(self.kept_algorithm(IndexAlgorithm::Hash, engine)),
            Some(Using::RTree) => Err(err!(ER_SPATIAL_MUST_HAVE_GEOM_COL)),
        }
    }

    fn kept_algorithm(&mut self, algorithm: IndexAlgorithm, engine: StorageEngine) -> Option<IndexAlgorithm> {
        if engine == StorageEngine::InnoDb && algorithm == IndexAlgorithm::Hash {
            let note = "This storage engine does not support the HASH index algorithm, storage engine default was \
                        used instead.";
            self.state.warn("Note", ER_UNSUPPORTED_INDEX_ALGORITHM, note.to_string());
            return None;
        }
        Some(algorithm)
    }

    /// Error 3776 for a table that gets another engine and is one end of a foreign key.
    pub(crate) fn refuse_engine(&mut self, table: &Table) -> Result<()> {
        let is_parent = self.dictionary().children(&table.schema, &table.name).next().is_some();
        if table.foreign_keys.is_empty() && !is_parent {
            return Ok(());
        }
        Err(err!(ER_FK_CANNOT_CHANGE_ENGINE))
    }

    /// The keys of a table that gets another engine.
    pub(crate) fn change_engine(&mut self, spec: &mut TableSpec, engine: StorageEngine) {
        spec.engine = engine;
        for key in &mut spec.keys {
            key.algorithm = key.algorithm.and_then(|a| self.kept_algorithm(a, engine));
        }
    }
}

/// What engines that are not transactional do not take, as in MySQL, which forgets foreign keys there.
/// Errors 1163, 1178, 1478, 3106, 3774.
pub(crate) fn check_engine(spec: &mut TableSpec) -> Result<()> {
    if spec.engine.is_transactional() {
        return Ok(());
    }
    const ENGINE: &str = "Specified storage engine";
    let in_memory = spec.engine == StorageEngine::Memory;
    for column in &spec.columns {
        let is_part = || spec.keys.iter().flat_map(|k| &k.parts).any(|p| eq_name(&p.column, &column.name));
        match column.data_type.kind {
            _ if column.generated.as_ref().is_some_and(|g| !g.stored) && (column.hidden || !in_memory && is_part()) => {
                return Err(err!(ER_ILLEGAL_HA_CREATE_OPTION, spec.engine.name(), "Index on virtual generated column"));
            }
            _ if !in_memory => {}
            _ if column.generated.is_some() => return Err(err!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, ENGINE)),
            _ if matches!(column.default, ColumnDefault::Expression(_)) => {
                return Err(err!(ER_UNSUPPORTED_ACTION_ON_DEFAULT_VAL_GENERATED, ENGINE));
            }
            TypeKind::Geometry => return Err(err!(ER_CHECK_NOT_IMPLEMENTED, "GEOMETRY")),
            kind if kind.is_blob() => return Err(err!(ER_TABLE_CANT_HANDLE_BLOB)),
            _ => {}
        }
    }
    if spec.keys.iter().flat_map(|k| &k.parts).any(|p| p.descending) {
        return Err(err!(ER_CHECK_NOT_IMPLEMENTED, "descending indexes"));
    }
    spec.forget_foreign_keys();
    Ok(())
}

fn other_text(parsed: &Parsed, options: &TableOptions, word: &str) -> Option<String> {
    options.other.iter().rev().find(|(w, _)| *w == word).and_then(|(_, value)| match value {
        OptionValue::Text(text) => Some(text_of(parsed, *text)),
        _ => None,
    })
}

/// `zero`: 0 is a value and no default.
fn keep_number(kept: &mut CreateOptions, name: &str, value: &OptionValue, zero: bool) {
    let number = match value {
        OptionValue::Number(n) if zero || *n > 0 => Some(n.to_string()),
        _ => None,
    };
    kept.set(name, number);
}

fn bad_attribute(text: &str) -> SqlError {
    err!(ER_INVALID_JSON_ATTRIBUTE, "Invalid value.", 0, text)
}

/// Errors 3980, 3981.
fn check_attributes(parsed: &Parsed, options: &TableOptions, engine: StorageEngine) -> Result<()> {
    match other_text(parsed, options, "engine_attribute") {
        Some(text) if !text.is_empty() && types::json::parse::parse(text.as_bytes()).is_err() => {
            Err(bad_attribute(&text))
        }
        Some(_) => Err(err!(ER_ENGINE_ATTRIBUTE_NOT_SUPPORTED, engine.name())),
        None => Ok(()),
    }
}
