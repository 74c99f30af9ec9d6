//! A database for tests: an engine in a temporary directory, tables made by hand, a session in memory.

#![allow(dead_code)]

use catalog::{AutoIncrement, Column, Index, IndexPart, Schema, Table, Version, VirtualContext};
use engine::{Engine, EngineOptions, Isolation, Transaction, TreeKind};
use plan::ColumnMeta;
use run::{Env, Outcome, Prepared, RowSink};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use types::{CollationId, DataType, KeyPart, Result, RowLayout, SqlError, SqlMode, TypeKind, Value};

/// A directory that goes with the test.
pub struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a number of its own for each test, nothing else.
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("exec-test-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct TestEnv {
    pub engine: Arc<Engine>,
    pub warnings: Vec<(u16, String)>,
    pub last_insert_id: u64,
    pub random: (u32, u32),
    pub mode: SqlMode,
    /// Bytes of a temporary table in memory.
    pub tmp_memory: u64,
    pub variables: BTreeMap<String, (Value<'static>, DataType)>,
}

impl VirtualContext for TestEnv {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl expr::Env for TestEnv {
    fn release_lock(&mut self, _: &str) -> Option<bool> {
        None
    }

    fn release_all_locks(&mut self) -> u64 {
        0
    }

    fn lock_owner(&self, _: &str) -> Option<u64> {
        None
    }

    fn database(&self) -> Option<&str> {
        Some("test")
    }

    fn connection_id(&self) -> u64 {
        7
    }

    fn user(&self) -> &str {
        "root@localhost"
    }

    fn current_user(&self) -> &str {
        "root@%"
    }

    fn now_us(&self) -> i64 {
        1_700_000_000_123_456
    }

    fn time_zone_offset(&self, _unix_seconds: i64) -> i32 {
        3600
    }

    fn sql_mode(&self) -> u64 {
        self.mode.0
    }

    fn last_insert_id(&self) -> u64 {
        self.last_insert_id
    }

    fn set_last_insert_id(&mut self, id: u64) {
        self.last_insert_id = id;
    }

    fn row_count(&self) -> i64 {
        -1
    }

    fn random(&mut self) -> &mut (u32, u32) {
        &mut self.random
    }

    fn found_rows(&self) -> u64 {
        0
    }

    fn may_wait_for_gtids(&self) -> Result<()> {
        Ok(())
    }

    fn receipt(&self, _gtid: types::gtid::Gtid) -> Result<Option<String>> {
        Ok(None)
    }

    fn wait_for_gtids(&self, set: &types::gtid::GtidSet, _time: Option<std::time::Duration>) -> Result<bool> {
        Ok(set.is_empty())
    }

    fn system_variable(&self, _global: Option<bool>, name: &str) -> Result<(Value<'static>, DataType)> {
        let number = |n| Ok((Value::UInt(n), DataType::new(TypeKind::BigInt).unsigned()));
        match name {
            "div_precision_increment" | "innodb_ddl_threads" | "innodb_parallel_read_threads" => number(4),
            "group_concat_max_len" | "cte_max_recursion_depth" => number(1024),
            "default_week_format" | "sql_warnings" | "join_buffer_size" | "read_rnd_buffer_size" => number(0),
            "innodb_page_size" => number(16 << 10),
            "max_allowed_packet" => number(64 << 20),
            // Whoever has little memory has a small pool.
            "innodb_buffer_pool_size" | "innodb_ddl_buffer_size" => number(self.tmp_memory),
            "tmpdir" => Ok((Value::Bytes(b"/tmp".as_slice().into()), varchar(10))),
            "explicit_defaults_for_timestamp" | "sql_big_selects" => number(1),
            "auto_increment_increment" | "auto_increment_offset" => {
                Ok((Value::UInt(1), DataType::new(TypeKind::BigInt).unsigned()))
            }
            _ => Err(SqlError::new(1193, format!("Unknown system variable '{name}'"))),
        }
    }

    fn user_variable(&self, name: &str) -> (Value<'static>, DataType) {
        self.variables.get(name).cloned().unwrap_or((Value::Null, DataType::new(TypeKind::Null)))
    }

    fn set_user_variable(&mut self, name: &str, value: Value<'static>, data_type: DataType) {
        self.variables.insert(name.to_string(), (value, data_type));
    }

    fn warn(&mut self, _level: &'static str, code: u16, message: String) {
        self.warnings.push((code, message));
    }
}

impl plan::Env for TestEnv {
    fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Env for TestEnv {
    fn conditions(&mut self) -> &mut Vec<run::program::Condition> {
        unreachable!("no program runs")
    }

    fn get_lock(&mut self, _: &str, _: std::time::Duration, _: &mut engine::Transaction) -> Result<bool> {
        unreachable!("no other session to keep out")
    }

    fn take_insert_id(&mut self) -> u64 {
        0
    }

    fn tmp_memory(&self) -> u64 {
        self.tmp_memory
    }

    fn virtual_context(&self) -> &dyn VirtualContext {
        self
    }
}

/// Rows as text: columns joined by `|`, NULL spelled out.
#[derive(Default)]
pub struct Rows {
    pub types: Vec<DataType>,
    pub names: Vec<String>,
    pub rows: Vec<String>,
}

impl RowSink for Rows {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.types = columns.iter().map(|c| c.data_type).collect();
        self.names = columns.iter().map(|c| c.name.clone()).collect();
        Ok(())
    }
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        let mut line = Vec::new();
        for (i, (v, ty)) in values.iter().zip(&self.types).enumerate() {
            if i > 0 {
                line.push(b'|');
            }
            match v {
                Value::Null => line.extend_from_slice(b"NULL"),
                v => v.write_text(ty, &mut line),
            }
        }
        self.rows.push(String::from_utf8_lossy(&line).into_owned());
        Ok(())
    }
}

pub struct Database {
    pub env: TestEnv,
    pub version: Arc<Version>,
    pub tx: Transaction,
    engine: Arc<Engine>,
    _scratch: Scratch,
}

pub fn varchar(n: u32) -> DataType {
    DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI)
}

pub fn int() -> DataType {
    DataType { length: 11, ..DataType::new(TypeKind::Int) }
}

impl Database {
    pub fn new() -> Database {
        let scratch = Scratch::new();
        let options = EngineOptions {
            datadir: scratch.0.clone(),
            buffer_pool_bytes: 16 << 20,
            log_capacity_bytes: 16 << 20,
            log_buffer_bytes: 1 << 20,
            address_space_bytes: 1 << 30,
            doublewrite: false,
            direct_io: false,
            flush_log_at_commit: 0,
            read_io_threads: 2,
            write_io_threads: 2,
            purge_threads: 2,
            events_from: None,
        };
        let engine = Engine::open(options, &mut |_| ()).unwrap();
        let env = TestEnv {
            engine: engine.clone(),
            warnings: Vec::new(),
            last_insert_id: 0,
            random: (1, 1),
            mode: SqlMode::DEFAULT,
            tmp_memory: 16 << 20,
            variables: BTreeMap::new(),
        };
        let tx = Transaction::new(&engine).unwrap();
        let mut version = Version::default();
        version.schemas.insert("test".into(), Arc::new(Schema::new("test", CollationId::UTF8MB4_0900_AI_CI)));
        Database { env, version: Arc::new(version), tx, engine, _scratch: scratch }
    }

    /// Makes a table: columns (name, type), indexes (name, unique, columns), the first one the primary key. `auto`: the first
    /// column is AUTO_INCREMENT.
    pub fn table(&mut self, name: &str, columns: &[(&str, DataType)], indexes: &[(&str, bool, &[usize])], auto: bool) {
        self.tx.begin(Isolation::RepeatableRead, false);
        let made: Vec<Index> = indexes
            .iter()
            .enumerate()
            .map(|(i, (index, unique, parts))| Index {
                name: index.to_string(),
                unique: *unique,
                primary: i == 0,
                invisible: false,
                for_foreign_key: false,
                parts: parts
                    .iter()
                    .map(|c| IndexPart {
                        column: *c,
                        key: KeyPart { data_type: columns[*c].1, descending: false, prefix: 0 },
                    })
                    .collect(),
                array_part: None,
                tree: {
                    let kind = if i == 0 { TreeKind::Clustered } else { TreeKind::Secondary };
                    self.engine.create_tree(&mut self.tx, kind).unwrap()
                },
                algorithm: None,
                comment: String::new(),
            })
            .collect();
        self.tx.commit().unwrap();
        let types: Vec<DataType> = columns.iter().map(|c| c.1).collect();
        let tree = made[0].tree;
        let counter = AutoIncrement::new(tree);
        let table = Table {
            id: self.version.number + 100,
            version: 1,
            schema: "test".into(),
            name: name.into(),
            columns: columns
                .iter()
                .enumerate()
                .map(|(i, (n, t))| Column { auto_increment: auto && i == 0, ..Column::new(*n, *t) })
                .collect(),
            indexes: made,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            layout: RowLayout::new(&types),
            evolution: None,
            auto_increment: auto.then(|| Arc::new(counter)),
            row_ids: None,
            default_collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: String::new(),
            engine: Default::default(),
            create_options: Default::default(),
            created: 0,
            readable_since: 0,
            row_log: Default::default(),
            statistics: Default::default(),
            temporary: false,
            virtual_rows: None,
            view: None,
            triggers: Vec::new(),
        };
        self.define(table);
    }

    /// The dictionary has this table from here on, in place of one of its name.
    pub fn define(&mut self, table: Table) {
        let mut version = Version::clone(&self.version);
        version.number += 1;
        let mut schema = Schema::clone(&version.schemas["test"]);
        schema.tables.insert(table.name.clone(), Arc::new(table));
        version.schemas.insert("test".into(), Arc::new(schema));
        self.version = Arc::new(version);
    }

    pub fn prepare(&mut self, text: &str, params: &[DataType]) -> Result<Prepared> {
        let parsed = sql::parse(text.as_bytes(), sql::SqlMode::default()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        Prepared::new(&parsed, &self.version, &mut self.env, params)
    }

    pub fn execute(&mut self, p: &mut Prepared, params: &[Value<'_>]) -> Result<(Outcome, Rows)> {
        let begun = !self.tx.is_active();
        if begun {
            self.tx.begin(Isolation::RepeatableRead, false);
        }
        let mut rows = Rows::default();
        let result = p.execute(&mut self.tx, params, &mut self.env, &mut rows);
        self.tx.end_statement();
        if begun {
            if result.is_ok() {
                self.tx.commit().unwrap();
            } else if self.tx.is_active() {
                self.tx.rollback().unwrap();
            }
        }
        result.map(|o| (o, rows))
    }

    pub fn run(&mut self, text: &str) -> Result<(Outcome, Rows)> {
        self.env.warnings.clear();
        let mut p = self.prepare(text, &[])?;
        self.execute(&mut p, &[])
    }

    /// Rows of a query.
    pub fn rows(&mut self, text: &str) -> Vec<String> {
        self.run(text).unwrap_or_else(|e| panic!("{text}: {e}")).1.rows
    }

    /// Affected rows.
    pub fn change(&mut self, text: &str) -> u64 {
        self.run(text).unwrap_or_else(|e| panic!("{text}: {e}")).0.affected_rows
    }

    pub fn error(&mut self, text: &str) -> (u16, String) {
        match self.run(text) {
            Ok(_) => panic!("{text}: no error"),
            Err(e) => (e.code, e.message),
        }
    }

    pub fn plan(&mut self, text: &str) -> String {
        self.prepare(text, &[]).unwrap_or_else(|e| panic!("{text}: {e}")).outline().to_string()
    }

    /// sysbench's table with rows 1..=n, k = 10 * id.
    pub fn sbtest(&mut self, n: u32) {
        let c = DataType::string(TypeKind::Char, 120, CollationId::UTF8MB4_0900_AI_CI).not_null();
        self.table(
            "sbtest1",
            &[("id", int().not_null()), ("k", int().not_null()), ("c", c), ("pad", DataType { length: 60, ..c })],
            &[("PRIMARY", true, &[0]), ("k_1", false, &[1])],
            true,
        );
        for i in 1..=n {
            self.change(&format!("INSERT INTO sbtest1 (k, c, pad) VALUES ({}, 'c{}', 'p{i}')", i * 10, i % 3));
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.tx.is_active() {
            let _ = self.tx.rollback();
        }
    }
}

/// xorshift64*
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % below
    }

    pub fn of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.next(list.len() as u64) as usize]
    }
}

/// Those of a test, or the one that was asked for.
pub fn seeds(all: std::ops::Range<u64>) -> Vec<u64> {
    match std::env::var("CLEARWAY_SEED") {
        Ok(seed) => vec![seed.parse().expect("a seed is a number")],
        Err(_) => all.collect(),
    }
}
