//! Building virtual tables from lists of columns.

use crate::{Context, Row, innodb};
use catalog::{
    Changed, Column, ColumnDefault, ComputedRows, Index, IndexPart, PartKind, Schema, Sought, Table, VirtualContext,
    VirtualTable, Writes,
};
use engine::{Tree, TreeKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use types::codes::*;
use types::collation::CollationId;
use types::key::KeyPart;
use types::row::RowLayout;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

/// Names and types of the columns of a SHOW.
pub type ShowColumns = Vec<(String, DataType)>;

/// VARCHAR(n), in the collation of names.
pub(crate) const fn varchar(n: u32) -> DataType {
    DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB3_GENERAL_CI)
}

pub(crate) const fn longtext() -> DataType {
    DataType::string(TypeKind::LongText, 0, CollationId::UTF8MB3_GENERAL_CI)
}

pub(crate) const fn bigint() -> DataType {
    DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned() }
}

pub(crate) const fn int() -> DataType {
    DataType { length: 11, ..DataType::new(TypeKind::Int) }
}

pub(crate) const fn time() -> DataType {
    DataType::new(TypeKind::DateTime)
}

/// Names and types of a schema's tables, as text: `TABLE [utf8mb4_bin]` lines, the second word for another default collation than
/// utf8mb4's, each followed by the lines of its columns:
/// `  NAME type [ascii | bin | utf8mb4] [not null] [default '...' | default now [on update]]`, the words in the middle
/// for another collation than that of names, and of its keys: `  primary key (COLUMN [desc], ...)`, `  unique key NAME (...)`,
/// `  key NAME (...)`, which are shown and never read by.
pub(crate) struct Spec {
    text: &'static str,
    /// The collation of names.
    names: CollationId,
    /// What `bin` is.
    binary: CollationId,
}

pub(crate) const INFORMATION_SCHEMA: Spec = Spec::utf8mb3(include_str!("information_schema.txt"));
pub(crate) const MYSQL: Spec = Spec::utf8mb3(include_str!("mysql.txt"));
pub(crate) const PERFORMANCE_SCHEMA: Spec = Spec {
    text: include_str!("performance_schema.txt"),
    names: CollationId::UTF8MB4_0900_AI_CI,
    binary: CollationId::UTF8MB4_BIN,
};

impl Spec {
    const fn utf8mb3(text: &'static str) -> Spec {
        Spec { text, names: CollationId::UTF8MB3_GENERAL_CI, binary: CollationId::UTF8MB3_BIN }
    }

    fn is_performance_schema(&self) -> bool {
        self.binary == CollationId::UTF8MB4_BIN
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().filter(|l| !l.starts_with(' ')).map(|l| l.split_once(' ').map_or(l, |(name, _)| name))
    }

    /// Those of columns and of keys.
    fn all_lines(&self, table: &str) -> impl Iterator<Item = &'static str> {
        let own = move |l: &&str| l.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        self.text.lines().skip_while(move |l| !own(l)).skip(1).take_while(|l| l.starts_with(' ')).map(str::trim)
    }

    fn collation(&self, table: &str) -> CollationId {
        let is_binary = self.text.lines().any(|l| l.strip_prefix(table) == Some(" utf8mb4_bin"));
        if is_binary { CollationId::UTF8MB4_BIN } else { CollationId::UTF8MB4_0900_AI_CI }
    }

    fn lines(&self, table: &str) -> impl Iterator<Item = &'static str> {
        self.all_lines(table).filter(|line| !is_key(line))
    }

    pub(crate) fn columns(&self, table: &str) -> Vec<(&'static str, DataType)> {
        self.lines(table).map(|line| self.column(line)).collect()
    }

    fn column(&self, line: &'static str) -> (&'static str, DataType) {
        let line = line.split_once(" default ").map_or(line, |(line, _)| line);
        let (name, rest) = line.split_once(' ').expect("a name and a type");
        let (kind, nullable) = rest.strip_suffix(" not null").map_or((rest, true), |k| (k, false));
        let (kind, collation) = match kind.rsplit_once(' ') {
            Some((kind, "ascii")) => (kind, CollationId::ASCII_GENERAL_CI),
            Some((kind, "bin")) => (kind, self.binary),
            Some((kind, "utf8mb4")) => (kind, CollationId::UTF8MB4_0900_AI_CI),
            Some((kind, "utf8mb3_bin")) => (kind, CollationId::UTF8MB3_BIN),
            Some((kind, "utf8mb3_general_ci")) => (kind, CollationId::UTF8MB3_GENERAL_CI),
            _ => (kind, self.names),
        };
        let (word, arguments) = kind.split_once('(').map_or((kind, ""), |(w, a)| (w, a));
        let number = || arguments.split([',', ')']).next().and_then(|n| n.trim().parse().ok()).unwrap_or(0);
        let string = |kind, length| DataType::string(kind, length, collation);
        let mut t = match word {
            "varchar" => string(TypeKind::VarChar, number()),
            "char" => string(TypeKind::Char, number()),
            "varbinary" => DataType::string(TypeKind::VarBinary, number(), CollationId::BINARY),
            "text" => string(TypeKind::Text, 0),
            "mediumtext" => string(TypeKind::MediumText, 0),
            "longtext" => string(TypeKind::LongText, 0),
            "blob" => DataType::new(TypeKind::Blob),
            "mediumblob" => DataType::new(TypeKind::MediumBlob),
            "longblob" => DataType::new(TypeKind::LongBlob),
            "time" => DataType { decimals: number() as u8, ..DataType::new(TypeKind::Time) },
            "json" => DataType::new(TypeKind::Json),
            "null" => DataType::new(TypeKind::Null),
            "enum" => string(TypeKind::Enum, longest(&members(line))),
            "set" => string(TypeKind::Set, joined(&members(line))),
            // Those of information_schema have room for a sign more.
            "bigint" if self.is_performance_schema() => DataType { length: 20, ..DataType::new(TypeKind::BigInt) },
            "bigint" => DataType { length: 21, ..DataType::new(TypeKind::BigInt) },
            "bigint unsigned" if self.is_performance_schema() => DataType { length: 20, ..bigint() },
            "bigint unsigned" => bigint(),
            "smallint" => DataType { length: 6, ..DataType::new(TypeKind::SmallInt) },
            "mediumint unsigned" => DataType { length: 8, ..DataType::new(TypeKind::MediumInt) }.unsigned(),
            "int" => int(),
            "int unsigned" => int().unsigned(),
            "smallint unsigned" => DataType { length: 5, ..DataType::new(TypeKind::SmallInt) }.unsigned(),
            "tinyint" => DataType { length: if number() == 1 { 1 } else { 4 }, ..DataType::new(TypeKind::TinyInt) },
            "double" if number() > 0 => {
                let decimals = arguments.trim_end_matches(')').rsplit(',').next().and_then(|n| n.parse().ok());
                DataType { length: number(), decimals: decimals.unwrap_or(0), ..DataType::new(TypeKind::Double) }
            }
            "double" => DataType::new(TypeKind::Double),
            "float" => DataType::new(TypeKind::Float),
            "decimal" => DataType::decimal(number(), 0),
            "datetime" => time(),
            "timestamp" => DataType { decimals: number() as u8, ..DataType::new(TypeKind::Timestamp) },
            other => panic!("type {other} of {name}"),
        };
        t.nullable = nullable;
        (name, t)
    }

    /// All tables, none of which can be written to; one that `rows` does not name is empty.
    pub(crate) fn add_to(&self, schema: &mut Schema, rows: &[(&str, Compute)]) {
        self.add_written(schema, rows, |_| Written::NOTHING);
    }

    /// All tables, and what of them statements may change.
    pub(crate) fn add_written(&self, schema: &mut Schema, rows: &[(&str, Compute)], written: fn(&str) -> Written) {
        for name in self.tables() {
            let compute = rows.iter().find(|(n, _)| *n == name).map_or(Compute::All(nothing), |(_, c)| *c);
            let mut table = computed(&schema.name, name, &self.columns(name), compute, written(name));
            for (column, line) in table.columns.iter_mut().zip(self.lines(name)) {
                column.members = members(line);
                // A dump of `mysql` names them all, and is the same once it was loaded.
                column.explicit_collation = schema.name == catalog::MYSQL && column.data_type.kind.is_text()
                    || ["ascii", "utf8mb4"].iter().any(|word| line.split(' ').nth(2) == Some(word));
                if let Some((_, default)) = line.split_once(" default ") {
                    column.on_update_now = default.ends_with(" on update");
                    column.default = match default.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
                        Some(text) => match column.members.iter().position(|m| m == text) {
                            Some(n) => ColumnDefault::Value(Value::UInt(n as u64 + 1)),
                            None => ColumnDefault::Value(Value::Bytes(text.as_bytes().into())),
                        },
                        None => ColumnDefault::Now,
                    };
                }
            }
            table.default_collation = self.collation(name);
            table.indexes =
                self.all_lines(name).filter(|line| is_key(line)).map(|line| index(line, &table.columns)).collect();
            schema.tables.insert(name.to_string(), Arc::new(table));
        }
    }
}

fn nothing(_: &Context, _: &mut Vec<Row>) -> Result<()> {
    Ok(())
}

/// Is a line of a table's that of a key?
fn is_key(line: &str) -> bool {
    ["primary key (", "unique key ", "key "].iter().any(|word| line.starts_with(word))
}

/// The index that a key's line says.
fn index(line: &str, columns: &[Column]) -> Index {
    let (head, list) = line.strip_suffix(')').and_then(|line| line.split_once(" (")).expect("a key has columns");
    let (primary, unique) = (head == "primary key", !head.starts_with("key "));
    let name = if primary { "PRIMARY" } else { head.rsplit_once(' ').expect("a key has a name").1 };
    let part = |word: &str| {
        let (name, descending) = word.strip_suffix(" desc").map_or((word, false), |name| (name, true));
        let column = columns.iter().position(|c| c.name == name).expect("a key's column is one of the table's");
        IndexPart { column, key: KeyPart { descending, ..KeyPart::new(columns[column].data_type) } }
    };
    Index {
        name: name.to_string(),
        unique,
        primary,
        invisible: false,
        for_foreign_key: false,
        parts: list.split(',').map(part).collect(),
        array_part: None,
        tree: NO_TREE,
        algorithm: None,
        comment: String::new(),
    }
}

/// Of an index of a computed table: no page is numbered so.
const NO_TREE: Tree = Tree { id: 0, root: u64::MAX, kind: TreeKind::Clustered };

/// Of `... enum('A','B') ...` and `set`.
fn members(line: &str) -> Vec<String> {
    let list = line.split_once("('").and_then(|(_, rest)| rest.split_once("')"));
    list.map_or(Vec::new(), |(list, _)| list.split("','").map(str::to_string).collect())
}

fn longest(members: &[String]) -> u32 {
    members.iter().map(String::len).max().unwrap_or(0) as u32
}

/// The length of all with their commas.
fn joined(members: &[String]) -> u32 {
    members.iter().map(|m| m.len() as u32 + 1).sum::<u32>().saturating_sub(1)
}

/// The columns of a SHOW: titles, with the types of these columns of a table of information_schema.
pub(crate) fn titled<'t>(table: &str, titles: &[(&'t str, &str)]) -> Vec<(&'t str, DataType)> {
    let columns = INFORMATION_SCHEMA.columns(table);
    let of = |name: &str| columns.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("{table}.{name}")).1;
    titles.iter().map(|(title, name)| (*title, of(name))).collect()
}

/// How the rows of a table of a system schema are computed.
#[derive(Clone, Copy)]
pub(crate) enum Compute {
    All(fn(&Context, &mut Vec<Row>) -> Result<()>),
    /// Too many to be there at once.
    Each(fn(&Context) -> ComputedRows),
    /// Those of one table after the other, of all that the session may see.
    ByTable(ComputeTable),
    /// As `ByTable`, of tables that have such a part; others have no rows.
    ByPart(PartKind, ComputeTable),
}

/// Is told of a row that comes or goes.
pub(crate) type OfRow = fn(&Context, &[Value<'_>]) -> Result<()>;

/// What statements may change of a table.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub update: Option<Settable>,
    pub insert: Option<OfRow>,
    pub delete: Option<OfRow>,
    pub truncate: Option<fn(&Context) -> Result<()>>,
}

/// What UPDATE may change.
#[derive(Clone, Copy)]
pub(crate) struct Settable {
    pub columns: &'static [&'static str],
    pub update: fn(&Context, &Changed<'_>) -> Result<()>,
}

impl Written {
    pub(crate) const NOTHING: Written = Written { update: None, insert: None, delete: None, truncate: None };

    /// TRUNCATE alone.
    pub(crate) const fn truncated(by: fn(&Context) -> Result<()>) -> Written {
        Written { truncate: Some(by), ..Written::NOTHING }
    }
}

type ComputeTable = fn(&Context, &Arc<Table>, &mut Vec<Row>) -> Result<()>;

struct Computed {
    compute: Compute,
    written: Written,
    /// The table's columns that UPDATE may set.
    settable: Vec<usize>,
    places: Places,
    /// Only for who has the privilege PROCESS.
    guarded: bool,
}

/// The columns that say which table a row is about.
struct Places {
    schemas: Vec<usize>,
    names: Vec<usize>,
    /// `schema/name`, as InnoDB has it.
    path: Option<usize>,
    /// Of rows about foreign keys and others: the name of the parent, NULL in the others.
    parent: Option<usize>,
}

impl Places {
    fn of(table: &str, columns: &[(&str, DataType)]) -> Places {
        // Of VIEW_TABLE_USAGE the view; the table there is another.
        let is_of_views = columns.iter().any(|c| c.0 == "VIEW_SCHEMA");
        let (schemas, names): (&[&str], &[&str]) = match is_of_views {
            true => (&["VIEW_SCHEMA"], &["VIEW_NAME"]),
            false => (
                &[
                    "TABLE_SCHEMA",
                    "CONSTRAINT_SCHEMA",
                    "INDEX_SCHEMA",
                    "SCHEMA_NAME",
                    "EVENT_OBJECT_SCHEMA",
                    "database_name",
                ],
                &["TABLE_NAME", "EVENT_OBJECT_TABLE", "table_name"],
            ),
        };
        let has_path = ["INNODB_TABLES", "INNODB_TABLESTATS"].contains(&table);
        let place = |name: &str| columns.iter().position(|c| c.0 == name);
        let places = |of: &[&str]| of.iter().filter_map(|name| place(name)).collect();
        Places {
            schemas: places(schemas),
            names: places(names),
            path: place("NAME").filter(|_| has_path),
            parent: place("REFERENCED_TABLE_NAME"),
        }
    }
}

impl VirtualTable for Computed {
    fn rows(&self, cx: &dyn VirtualContext, sought: &[Sought]) -> Result<ComputedRows> {
        let cx = context(cx)?;
        if self.guarded {
            cx.check_process()?;
        }
        let mut out = Vec::new();
        let (part, compute) = match self.compute {
            Compute::Each(compute) => return Ok(compute(cx)),
            Compute::All(compute) => {
                compute(cx, &mut out)?;
                return Ok(Box::new(out.into_iter()));
            }
            Compute::ByTable(compute) => {
                let is_child = sought.iter().any(|s| Some(s.column) == self.places.parent);
                (is_child.then_some(PartKind::ForeignKey), compute)
            }
            Compute::ByPart(part, compute) => (Some(part), compute),
        };
        self.tables(cx, sought, part).try_for_each(|table| compute(cx, table, &mut out))?;
        Ok(Box::new(out.into_iter()))
    }

    fn writes(&self) -> Writes {
        let Written { update, insert, delete, truncate } = &self.written;
        Writes {
            update: update.is_some(),
            insert: insert.is_some(),
            delete: delete.is_some(),
            truncate: truncate.is_some(),
        }
    }

    fn update(&self, cx: &dyn VirtualContext, row: &Changed<'_>) -> Result<()> {
        match &self.written.update {
            Some(settable) if row.set.iter().all(|c| self.settable.contains(c)) => (settable.update)(context(cx)?, row),
            _ => Err(err!(ER_WRONG_PERFSCHEMA_USAGE)),
        }
    }

    fn insert(&self, cx: &dyn VirtualContext, row: &[Value<'_>]) -> Result<()> {
        let insert = self.written.insert.ok_or_else(|| err!(ER_WRONG_PERFSCHEMA_USAGE))?;
        insert(context(cx)?, row)
    }

    fn delete(&self, cx: &dyn VirtualContext, row: &[Value<'_>]) -> Result<()> {
        let delete = self.written.delete.ok_or_else(|| err!(ER_WRONG_PERFSCHEMA_USAGE))?;
        delete(context(cx)?, row)
    }

    fn truncate(&self, cx: &dyn VirtualContext) -> Result<()> {
        let truncate = self.written.truncate.ok_or_else(|| err!(ER_WRONG_PERFSCHEMA_USAGE))?;
        truncate(context(cx)?)
    }
}

fn context(cx: &dyn VirtualContext) -> Result<&Context> {
    let cx = cx.as_any().downcast_ref::<Context>();
    cx.ok_or_else(|| SqlError::new(ER_UNKNOWN_ERROR, "this statement has no view of the system schemas"))
}

impl Computed {
    /// The tables that rows may be wanted of, found by their names where the statement says them, else by the part that they have.
    fn tables<'c>(
        &'c self,
        cx: &'c Context,
        sought: &'c [Sought],
        part: Option<PartKind>,
    ) -> impl Iterator<Item = &'c Arc<Table>> {
        let of = |columns: &'c [usize]| sought.iter().filter(|s| columns.contains(&s.column));
        let paths = || sought.iter().filter(|s| Some(s.column) == self.places.path);
        let schemas = cx.schemas().filter(move |schema| {
            of(&self.places.schemas).all(|s| s.admits(&schema.name)) && paths().all(|s| s.admits_within(&schema.name))
        });
        schemas.flat_map(move |schema| {
            let named = of(&self.places.names).find_map(|s| s.names());
            let found: Box<dyn Iterator<Item = &'c Arc<Table>>> = match (named, part) {
                (Some(names), _) => {
                    let mut names: Vec<&str> = names.collect();
                    names.sort_unstable();
                    names.dedup();
                    Box::new(names.into_iter().filter_map(|name| schema.tables.get(name)))
                }
                (None, Some(part)) => Box::new(schema.tables_with(part)),
                (None, None) => Box::new(schema.tables.values()),
            };
            let admitted = move |t: &&Arc<Table>| {
                of(&self.places.names).all(|s| s.admits(&t.name)) && paths().all(|s| s.admits(&innodb::name(t)))
            };
            found.filter(admitted).filter(|t| (cx.viewer.visible)(&schema.name, &t.name))
        })
    }
}

/// Rows that are known already: what `SHOW ... WHERE` filters.
pub struct VirtualRows(pub Vec<Row>);

impl VirtualTable for VirtualRows {
    fn rows(&self, _cx: &dyn VirtualContext, _sought: &[Sought]) -> Result<ComputedRows> {
        Ok(Box::new(self.0.clone().into_iter()))
    }
}

impl VirtualRows {
    /// A table of these rows.
    pub fn table(self, schema: &str, name: &str, columns: &[(String, DataType)]) -> Table {
        build(schema, name, columns.iter().map(|(n, t)| (n.as_str(), *t)), Arc::new(self))
    }
}

/// A table of a system schema.
pub(crate) fn computed(
    schema: &str,
    name: &str,
    columns: &[(&str, DataType)],
    compute: Compute,
    written: Written,
) -> Table {
    let guarded = schema == "information_schema" && is_guarded(name);
    let set = written.update.map_or(&[][..], |settable| settable.columns);
    let settable = (0..columns.len()).filter(|&c| set.contains(&columns[c].0)).collect();
    let computed = Computed { compute, written, settable, places: Places::of(name, columns), guarded };
    build(schema, name, columns.iter().copied(), Arc::new(computed))
}

/// What the storage engine tells of itself and of all tables is for those with the privilege PROCESS.
fn is_guarded(table: &str) -> bool {
    table == "FILES" || table.starts_with("INNODB_") && table != "INNODB_FT_DEFAULT_STOPWORD"
}

fn build<'c>(
    schema: &str,
    name: &str,
    columns: impl Iterator<Item = (&'c str, DataType)>,
    rows: Arc<dyn VirtualTable>,
) -> Table {
    /// Ids of virtual tables, far above those of real ones.
    static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 62);
    let columns: Vec<Column> = columns
        .map(|(name, data_type)| Column { default: ColumnDefault::Value(Value::Null), ..Column::new(name, data_type) })
        .collect();
    let types: Vec<DataType> = columns.iter().map(|c| c.data_type).collect();
    Table {
        // Relaxed: only has to be unique.
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        version: 1,
        schema: schema.to_string(),
        name: name.to_string(),
        columns,
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        layout: RowLayout::new(&types),
        evolution: None,
        auto_increment: None,
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
        virtual_rows: Some(rows),
        view: None,
        triggers: Vec::new(),
    }
}
