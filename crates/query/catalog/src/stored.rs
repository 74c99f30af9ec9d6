//! Dictionary objects as JSON. Types are stored by stable names, never by the position of an enum's variant; `format`
//! says which writer made an entry, and an entry of a later format is refused.

use crate::column::{Column, ColumnDefault, Generated};
use crate::evolution::{Dropped, Evolution, Placed};
use crate::index::{Index, IndexPart, counting};
use crate::schema::Schema;
use crate::table::{Check, CheckOption, ForeignKey, ReferenceAction, Table, View, ViewAlgorithm};
use crate::trigger::Trigger;
use crate::{AutoIncrement, CreateOptions, HIDDEN_INDEX, Histogram, IndexAlgorithm, StorageEngine};
use engine::{Tree, TreeKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use types::collation::CollationId;
use types::datatype::IMPLICIT;
use types::key::KeyPart;
use types::row::RowLayout;
use types::{DataType, Date, DateTime, Decimal, Time, TypeKind, Value, base64, json};

/// The format that this version writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 4;
/// What entries without anything new are: earlier versions read them, too. Tables with triggers are not among them.
pub(crate) const PLAIN_FORMAT: u32 = 3;

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredSchema {
    format: u32,
    collation: u16,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    read_only: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    encrypts: bool,
}

/// A table as the dictionary keeps it: its fields are those of the stored form.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredTable {
    format: u32,
    id: u64,
    version: u64,
    columns: Vec<StoredColumn>,
    indexes: Vec<StoredIndex>,
    collation: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    comment: String,
    /// What earlier writers had in place of `given`: `NAME=value NAME=value`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    options: String,
    /// Options by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "StoredEngine::is_innodb")]
    engine: StoredEngine,
    created: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    checks: Vec<StoredCheck>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    foreign_keys: Vec<StoredForeignKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    view: Option<StoredView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evolution: Option<StoredEvolution>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    triggers: Vec<Trigger>,
}

#[derive(Serialize, Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum StoredEngine {
    #[default]
    InnoDb,
    Memory,
    #[serde(rename = "myisam")]
    MyIsam,
}

impl StoredEngine {
    fn is_innodb(&self) -> bool {
        *self == StoredEngine::InnoDb
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredIndexAlgorithm {
    BTree,
    Hash,
}

#[derive(Serialize, Deserialize)]
struct StoredEvolution {
    versions: u32,
    columns: Vec<StoredPlaced>,
    dropped: Vec<StoredDropped>,
}

#[derive(Serialize, Deserialize)]
struct StoredPlaced {
    place: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    added: u32,
    /// [`StoredDefault::None`]: NULL.
    #[serde(default, skip_serializing_if = "is_none")]
    initial: StoredDefault,
}

/// Of its type what the bytes of a row follow from.
#[derive(Serialize, Deserialize)]
struct StoredDropped {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    length: u32,
    decimals: u8,
    #[serde(default, skip_serializing_if = "is_false")]
    unsigned: bool,
    place: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    added: u32,
    dropped: u32,
}

#[derive(Serialize, Deserialize)]
struct StoredCheck {
    name: String,
    expression: String,
    #[serde(default, skip_serializing_if = "is_false")]
    not_enforced: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredForeignKey {
    name: String,
    columns: Vec<usize>,
    parent: (String, String),
    parent_columns: Vec<String>,
    on_delete: StoredAction,
    on_update: StoredAction,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAction {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
}

#[derive(Serialize, Deserialize)]
struct StoredView {
    query: String,
    #[serde(default, skip_serializing_if = "is_false")]
    named: bool,
    algorithm: StoredAlgorithm,
    definer: String,
    #[serde(default, skip_serializing_if = "is_false")]
    invoker: bool,
    check_option: StoredCheckOption,
    client_charset: String,
    connection_collation: String,
    #[serde(default, skip_serializing_if = "is_false")]
    updatable: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredCheckOption {
    None,
    Local,
    Cascaded,
}

/// The two forms of an enumeration, each into the other.
macro_rules! same_variants {
    ($stored:ident, $live:ident, $($variant:ident),*) => {
        impl From<$live> for $stored {
            fn from(live: $live) -> $stored {
                match live { $($live::$variant => $stored::$variant),* }
            }
        }
        impl From<$stored> for $live {
            fn from(stored: $stored) -> $live {
                match stored { $($stored::$variant => $live::$variant),* }
            }
        }
    };
}

same_variants!(StoredEngine, StorageEngine, InnoDb, Memory, MyIsam);
same_variants!(StoredIndexAlgorithm, IndexAlgorithm, BTree, Hash);
same_variants!(StoredAction, ReferenceAction, NoAction, Restrict, Cascade, SetNull);
same_variants!(StoredAlgorithm, ViewAlgorithm, Undefined, Merge, TempTable);
same_variants!(StoredCheckOption, CheckOption, None, Local, Cascaded);

/// A column as it is stored, with the fields of its definition.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredColumn {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    length: u32,
    decimals: u8,
    collation: u16,
    #[serde(default, skip_serializing_if = "is_false")]
    unsigned: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    zerofill: bool,
    nullable: bool,
    #[serde(default, skip_serializing_if = "is_none")]
    default: StoredDefault,
    #[serde(default, skip_serializing_if = "is_false")]
    auto_increment: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    on_update_now: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    comment: String,
    /// Earlier writers did not note it.
    #[serde(default, skip_serializing_if = "is_false")]
    explicit_collation: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kept: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    hidden: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    invisible: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<StoredGenerated>,
    /// The document's binary form in base 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    histogram: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredGenerated {
    expression: String,
    stored: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    array: Option<StoredElement>,
}

/// The type of the elements of a multi-valued index part.
#[derive(Serialize, Deserialize)]
struct StoredElement {
    kind: String,
    length: u32,
    decimals: u8,
    collation: u16,
    unsigned: bool,
}

fn store_generated(g: &Generated) -> StoredGenerated {
    let element = |t: &DataType| StoredElement {
        kind: kind_name(t.kind).to_string(),
        length: t.length,
        decimals: t.decimals,
        collation: t.collation.0,
        unsigned: t.unsigned,
    };
    StoredGenerated { expression: g.expression.clone(), stored: g.stored, array: g.array.as_ref().map(element) }
}

fn load_generated(g: StoredGenerated) -> Option<Generated> {
    let array = match g.array {
        None => None,
        Some(t) => {
            let kind = KINDS.iter().find(|(_, n)| *n == t.kind)?.0;
            let collation = CollationId(t.collation);
            if !collation.is_known() {
                return None;
            }
            Some(DataType {
                kind,
                unsigned: t.unsigned,
                zerofill: false,
                nullable: true,
                length: t.length,
                decimals: t.decimals,
                collation,
                coercibility: IMPLICIT,
            })
        }
    };
    Some(Generated { expression: g.expression, stored: g.stored, array })
}

#[derive(Serialize, Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum StoredDefault {
    #[default]
    None,
    Null,
    Now,
    Int(i64),
    Uint(u64),
    /// The bits of the number: exact.
    Double(u64),
    Decimal(String),
    Date(u32),
    Time(i64),
    DateTime(u64),
    Text(String),
    /// Not valid UTF-8.
    Bytes(Vec<u8>),
    Expression(String),
}

#[derive(Serialize, Deserialize)]
struct StoredIndex {
    name: String,
    #[serde(default, skip_serializing_if = "is_false")]
    unique: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    primary: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    invisible: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    for_foreign_key: bool,
    parts: Vec<StoredPart>,
    tree: u32,
    root: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    algorithm: Option<StoredIndexAlgorithm>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    comment: String,
}

#[derive(Serialize, Deserialize)]
struct StoredPart {
    column: usize,
    #[serde(default, skip_serializing_if = "is_false")]
    descending: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    prefix: u32,
}

fn is_false(b: &bool) -> bool {
    !*b
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn is_none(d: &StoredDefault) -> bool {
    *d == StoredDefault::None
}

/// Names of types in stored entries. Never renamed.
const KINDS: &[(TypeKind, &str)] = &[
    (TypeKind::TinyInt, "tinyint"),
    (TypeKind::SmallInt, "smallint"),
    (TypeKind::MediumInt, "mediumint"),
    (TypeKind::Int, "int"),
    (TypeKind::BigInt, "bigint"),
    (TypeKind::Decimal, "decimal"),
    (TypeKind::Float, "float"),
    (TypeKind::Double, "double"),
    (TypeKind::Bit, "bit"),
    (TypeKind::Year, "year"),
    (TypeKind::Date, "date"),
    (TypeKind::Time, "time"),
    (TypeKind::DateTime, "datetime"),
    (TypeKind::Timestamp, "timestamp"),
    (TypeKind::Char, "char"),
    (TypeKind::VarChar, "varchar"),
    (TypeKind::Binary, "binary"),
    (TypeKind::VarBinary, "varbinary"),
    (TypeKind::TinyText, "tinytext"),
    (TypeKind::Text, "text"),
    (TypeKind::MediumText, "mediumtext"),
    (TypeKind::LongText, "longtext"),
    (TypeKind::TinyBlob, "tinyblob"),
    (TypeKind::Blob, "blob"),
    (TypeKind::MediumBlob, "mediumblob"),
    (TypeKind::LongBlob, "longblob"),
    (TypeKind::Enum, "enum"),
    (TypeKind::Set, "set"),
    (TypeKind::Json, "json"),
    (TypeKind::Geometry, "geometry"),
];

fn kind_name(kind: TypeKind) -> &'static str {
    let found = KINDS.iter().find(|(k, _)| *k == kind);
    found.expect("columns are of no other kinds").1
}

fn store_default(default: &ColumnDefault) -> StoredDefault {
    match default {
        ColumnDefault::None => StoredDefault::None,
        ColumnDefault::Now => StoredDefault::Now,
        ColumnDefault::Expression(text) => StoredDefault::Expression(text.clone()),
        ColumnDefault::Value(value) => store_value(value),
    }
}

fn store_value(value: &Value<'_>) -> StoredDefault {
    match value {
        Value::Null => StoredDefault::Null,
        Value::Int(n) => StoredDefault::Int(*n),
        Value::UInt(n) => StoredDefault::Uint(*n),
        Value::Double(n) => StoredDefault::Double(n.to_bits()),
        Value::Decimal(d) => StoredDefault::Decimal(d.to_string()),
        Value::Date(d) => StoredDefault::Date(d.0),
        Value::Time(t) => StoredDefault::Time(t.0),
        Value::DateTime(t) => StoredDefault::DateTime(t.0),
        Value::Json(_) => unreachable!("a JSON column has no literal default"),
        Value::Bytes(b) => match std::str::from_utf8(b) {
            Ok(text) => StoredDefault::Text(text.to_string()),
            Err(_) => StoredDefault::Bytes(b.to_vec()),
        },
    }
}

fn load_default(default: StoredDefault) -> Option<ColumnDefault> {
    let value = match default {
        StoredDefault::None => return Some(ColumnDefault::None),
        StoredDefault::Now => return Some(ColumnDefault::Now),
        StoredDefault::Expression(text) => return Some(ColumnDefault::Expression(text)),
        StoredDefault::Null => Value::Null,
        StoredDefault::Int(n) => Value::Int(n),
        StoredDefault::Uint(n) => Value::UInt(n),
        StoredDefault::Double(bits) => Value::Double(f64::from_bits(bits)),
        StoredDefault::Decimal(text) => Value::Decimal(Decimal::parse(text.as_bytes()).0),
        StoredDefault::Date(d) => Value::Date(Date(d)),
        StoredDefault::Time(t) => Value::Time(Time(t)),
        StoredDefault::DateTime(t) => Value::DateTime(DateTime(t)),
        StoredDefault::Text(text) => Value::Bytes(Cow::Owned(text.into_bytes())),
        StoredDefault::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes)),
    };
    Some(ColumnDefault::Value(value))
}

pub(crate) fn write_schema(schema: &Schema) -> Vec<u8> {
    let stored = StoredSchema {
        format: PLAIN_FORMAT,
        collation: schema.default_collation.0,
        read_only: schema.read_only,
        encrypts: schema.encrypts,
    };
    serde_json::to_vec(&stored).expect("numbers become JSON")
}

pub(crate) fn read_schema(name: &str, json: &[u8]) -> Option<Schema> {
    let stored: StoredSchema = serde_json::from_slice(json).ok()?;
    let collation = CollationId(stored.collation);
    (stored.format <= FORMAT && collation.is_known()).then(|| Schema {
        read_only: stored.read_only,
        encrypts: stored.encrypts,
        ..Schema::new(name, collation)
    })
}

pub(crate) fn store_column(c: &Column) -> StoredColumn {
    StoredColumn {
        name: c.name.clone(),
        kind: kind_name(c.data_type.kind).to_string(),
        length: c.data_type.length,
        decimals: c.data_type.decimals,
        collation: c.data_type.collation.0,
        unsigned: c.data_type.unsigned,
        zerofill: c.data_type.zerofill,
        nullable: c.data_type.nullable,
        default: store_default(&c.default),
        auto_increment: c.auto_increment,
        on_update_now: c.on_update_now,
        members: c.members.clone(),
        comment: c.comment.clone(),
        explicit_collation: c.explicit_collation,
        kept: c.kept.clone(),
        hidden: c.hidden,
        invisible: c.invisible,
        generated: c.generated.as_ref().map(store_generated),
        histogram: c.histogram.as_deref().map(store_histogram),
    }
}

pub(crate) fn write_table(table: &Table) -> Vec<u8> {
    let part = |p: &IndexPart| StoredPart { column: p.column, descending: p.key.descending, prefix: p.key.prefix };
    let index = |i: &Index| StoredIndex {
        name: i.name.clone(),
        unique: i.unique,
        primary: i.primary,
        invisible: i.invisible,
        for_foreign_key: i.for_foreign_key,
        parts: i.parts.iter().map(part).collect(),
        tree: i.tree.id,
        root: i.tree.root,
        algorithm: i.algorithm.map(Into::into),
        comment: i.comment.clone(),
    };
    let stored = StoredTable {
        format: if table.triggers.is_empty() { PLAIN_FORMAT } else { FORMAT },
        id: table.id,
        version: table.version,
        columns: table.columns.iter().map(store_column).collect(),
        indexes: table.indexes.iter().map(index).collect(),
        collation: table.default_collation.0,
        comment: table.comment.clone(),
        options: String::new(),
        given: table.create_options.pairs().to_vec(),
        engine: table.engine.into(),
        created: table.created,
        checks: table.checks.iter().map(store_check).collect(),
        foreign_keys: table.foreign_keys.iter().map(store_foreign_key).collect(),
        view: table.view.as_deref().map(store_view),
        evolution: table.evolution.as_ref().map(store_evolution),
        triggers: table.triggers.iter().map(|t| Trigger::clone(t)).collect(),
    };
    serde_json::to_vec(&stored).expect("a table becomes JSON")
}

fn store_histogram(histogram: &Histogram) -> String {
    let mut text = Vec::new();
    base64::encode(&json::binary::encode(&histogram.document()), &mut text);
    String::from_utf8(text).expect("base 64 is ASCII")
}

fn load_histogram(text: &str) -> Option<Histogram> {
    Histogram::of_document(&json::binary::decode(&base64::decode(text.as_bytes())?)?)
}

fn store_evolution(e: &Evolution) -> StoredEvolution {
    let placed = |p: &Placed| StoredPlaced {
        place: p.place,
        added: p.added,
        initial: match &p.initial {
            Value::Null => StoredDefault::None,
            v => store_value(v),
        },
    };
    let dropped = |d: &Dropped| StoredDropped {
        name: d.name.clone(),
        kind: kind_name(d.data_type.kind).to_string(),
        length: d.data_type.length,
        decimals: d.data_type.decimals,
        unsigned: d.data_type.unsigned,
        place: d.place,
        added: d.added,
        dropped: d.dropped,
    };
    let (columns, dropped) = (e.columns.iter().map(placed).collect(), e.dropped.iter().map(dropped).collect());
    StoredEvolution { versions: e.versions, columns, dropped }
}

fn load_evolution(stored: StoredEvolution) -> Option<Evolution> {
    let placed = |p: StoredPlaced| {
        let initial = match load_default(p.initial)? {
            ColumnDefault::Value(v) => v,
            _ => Value::Null,
        };
        Some(Placed { place: p.place, added: p.added, initial })
    };
    let dropped = |d: StoredDropped| {
        let kind = KINDS.iter().find(|(_, n)| *n == d.kind)?.0;
        let data_type =
            DataType { length: d.length, decimals: d.decimals, unsigned: d.unsigned, ..DataType::new(kind) };
        Some(Dropped { name: d.name, data_type, place: d.place, added: d.added, dropped: d.dropped })
    };
    Some(Evolution {
        versions: stored.versions,
        columns: stored.columns.into_iter().map(placed).collect::<Option<_>>()?,
        dropped: stored.dropped.into_iter().map(dropped).collect::<Option<_>>()?,
    })
}

fn load_options(written: &str, mut given: Vec<(String, String)>) -> CreateOptions {
    let pair = |option: &str| option.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
    given.extend(written.split_whitespace().filter_map(pair));
    CreateOptions::from_pairs(given)
}

fn store_check(c: &Check) -> StoredCheck {
    StoredCheck { name: c.name.clone(), expression: c.expression.clone(), not_enforced: !c.enforced }
}

fn store_foreign_key(k: &ForeignKey) -> StoredForeignKey {
    StoredForeignKey {
        name: k.name.clone(),
        columns: k.columns.clone(),
        parent: k.parent.clone(),
        parent_columns: k.parent_columns.clone(),
        on_delete: k.on_delete.into(),
        on_update: k.on_update.into(),
    }
}

fn load_foreign_key(k: StoredForeignKey) -> ForeignKey {
    ForeignKey {
        name: k.name,
        columns: k.columns,
        parent: k.parent,
        parent_columns: k.parent_columns,
        on_delete: k.on_delete.into(),
        on_update: k.on_update.into(),
    }
}

fn store_view(v: &View) -> StoredView {
    StoredView {
        query: v.query.clone(),
        named: v.named,
        algorithm: v.algorithm.into(),
        definer: v.definer.clone(),
        invoker: v.invoker,
        check_option: v.check_option.into(),
        client_charset: v.client_charset.clone(),
        connection_collation: v.connection_collation.clone(),
        updatable: v.updatable,
    }
}

fn load_view(v: StoredView) -> View {
    View {
        query: v.query,
        named: v.named,
        algorithm: v.algorithm.into(),
        definer: v.definer,
        invoker: v.invoker,
        check_option: v.check_option.into(),
        client_charset: v.client_charset,
        connection_collation: v.connection_collation,
        updatable: v.updatable,
    }
}

/// `None`: not a table that this version can read.
pub(crate) fn read_table(schema: &str, name: &str, json: &[u8]) -> Option<Table> {
    let mut table = parse_table(schema, name, json)?;
    attach_counters(&mut table);
    Some(table)
}

pub(crate) fn load_column(c: StoredColumn) -> Option<Column> {
    let kind = KINDS.iter().find(|(_, n)| *n == c.kind)?.0;
    let collation = CollationId(c.collation);
    if !collation.is_known() {
        return None;
    }
    Some(Column {
        data_type: DataType {
            kind,
            unsigned: c.unsigned,
            // Earlier writers did not note it of YEAR.
            zerofill: c.zerofill || kind == TypeKind::Year,
            nullable: c.nullable,
            length: c.length,
            decimals: c.decimals,
            collation,
            coercibility: IMPLICIT,
        },
        name: c.name,
        default: load_default(c.default)?,
        auto_increment: c.auto_increment,
        on_update_now: c.on_update_now,
        members: c.members,
        comment: c.comment,
        explicit_collation: c.explicit_collation,
        kept: c.kept,
        hidden: c.hidden,
        invisible: c.invisible,
        generated: match c.generated {
            Some(generated) => Some(load_generated(generated)?),
            None => None,
        },
        histogram: match c.histogram {
            Some(text) => Some(Arc::new(load_histogram(&text)?)),
            None => None,
        },
    })
}

fn parse_table(schema: &str, name: &str, json: &[u8]) -> Option<Table> {
    let stored: StoredTable = serde_json::from_slice(json).ok()?;
    if stored.format > FORMAT || !CollationId(stored.collation).is_known() {
        return None;
    }
    let mut columns = Vec::with_capacity(stored.columns.len());
    for c in stored.columns {
        columns.push(load_column(c)?);
    }
    let mut indexes = Vec::with_capacity(stored.indexes.len());
    for (position, i) in stored.indexes.into_iter().enumerate() {
        let mut parts = Vec::with_capacity(i.parts.len());
        for p in i.parts {
            let data_type = columns.get(p.column)?.key_type();
            let key = KeyPart { data_type, descending: p.descending, prefix: p.prefix };
            parts.push(IndexPart { column: p.column, key });
        }
        let kind = if position == 0 { TreeKind::Clustered } else { TreeKind::Secondary };
        indexes.push(Index {
            name: i.name,
            unique: i.unique,
            primary: i.primary,
            invisible: i.invisible,
            for_foreign_key: i.for_foreign_key,
            array_part: Index::array_part_of(&parts, &columns),
            parts,
            tree: Tree { id: i.tree, root: i.root, kind },
            algorithm: i.algorithm.map(Into::into),
            comment: i.comment,
        });
    }
    let position_is_known = |k: &StoredForeignKey| k.columns.iter().all(|c| *c < columns.len());
    if columns.is_empty()
        || indexes.is_empty() != stored.view.is_some()
        || !stored.foreign_keys.iter().all(position_is_known)
    {
        return None;
    }
    let check = |c: StoredCheck| Check { name: c.name, expression: c.expression, enforced: !c.not_enforced };
    let types: Vec<DataType> = columns.iter().map(|c| c.data_type).collect();
    let evolution = match stored.evolution {
        Some(evolution) => Some(load_evolution(evolution)?),
        None => None,
    };
    let layout = match &evolution {
        Some(evolution) => evolution.layout(&columns)?,
        None => RowLayout::new(&types),
    };
    Some(Table {
        id: stored.id,
        version: stored.version,
        schema: schema.to_string(),
        name: name.to_string(),
        layout,
        evolution,
        columns,
        indexes,
        checks: stored.checks.into_iter().map(check).collect(),
        foreign_keys: stored.foreign_keys.into_iter().map(load_foreign_key).collect(),
        auto_increment: None,
        row_ids: None,
        default_collation: CollationId(stored.collation),
        comment: stored.comment,
        engine: stored.engine.into(),
        create_options: load_options(&stored.options, stored.given),
        created: stored.created,
        readable_since: 0,
        row_log: Default::default(),
        statistics: Default::default(),
        temporary: false,
        virtual_rows: None,
        view: stored.view.map(|v| Arc::new(load_view(v))),
        triggers: stored.triggers.into_iter().map(Arc::new).collect(),
    })
}

/// Makes the counters of a table whose trees exist.
pub(crate) fn attach_counters(table: &mut Table) {
    table.auto_increment = table.columns.iter().position(|c| c.auto_increment).map(|column| {
        let index = counting(table.indexes.iter().map(|i| &i.parts[..]), column, table.engine);
        let tree = table.indexes[index.expect("an index counts the AUTO_INCREMENT column (1075)")].tree;
        Arc::new(AutoIncrement::new(tree))
    });
    let has_row_ids = table.indexes.first().is_some_and(|i| i.name == HIDDEN_INDEX);
    table.row_ids = has_row_ids.then(|| Arc::new(AutoIncrement::new(table.indexes[0].tree)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Asked;

    #[test]
    fn defaults_survive() {
        for default in [
            ColumnDefault::None,
            ColumnDefault::Now,
            ColumnDefault::Expression("uuid()".to_string()),
            ColumnDefault::Value(Value::Null),
            ColumnDefault::Value(Value::Double(0.1)),
            ColumnDefault::Value(Value::UInt(u64::MAX)),
            ColumnDefault::Value(Value::Bytes(Cow::Borrowed(b"a'\"\\\n"))),
            ColumnDefault::Value(Value::Bytes(Cow::Borrowed(&[0xff, 0]))),
            ColumnDefault::Value(Value::Decimal(Decimal::parse(b"-12345678901234567890.0123456789").0)),
        ] {
            let json = serde_json::to_vec(&store_default(&default)).unwrap();
            assert_eq!(load_default(serde_json::from_slice(&json).unwrap()), Some(default));
        }
    }

    #[test]
    fn rules_and_views_survive() {
        let generated = Generated { expression: "(`a` + 1)".to_string(), stored: true, array: None };
        let int = DataType::new(TypeKind::BigInt);
        let asked = Asked { buckets: 2, auto_update: true, sampling_rate: 0.5, now: DateTime::ZERO };
        let values = (1..5).map(|v| (Value::Int(v), 3)).collect();
        let histogram = Some(Arc::new(Histogram::build(&int, values, 1, asked)));
        let column = Column {
            generated: Some(generated),
            invisible: true,
            explicit_collation: true,
            histogram,
            ..Column::new("b", int)
        };
        let key = ForeignKey {
            name: "fk".to_string(),
            columns: vec![0],
            parent: ("s".to_string(), "p".to_string()),
            parent_columns: vec!["id".to_string()],
            on_delete: ReferenceAction::SetNull,
            on_update: ReferenceAction::NoAction,
        };
        let view = View {
            query: "select 1 AS `1`".to_string(),
            named: true,
            algorithm: ViewAlgorithm::Merge,
            definer: "root@localhost".to_string(),
            invoker: true,
            check_option: CheckOption::Local,
            client_charset: "utf8mb4".to_string(),
            connection_collation: "utf8mb4_0900_ai_ci".to_string(),
            updatable: true,
        };
        let spec = crate::TableSpec {
            schema: "s".to_string(),
            name: "t".to_string(),
            columns: vec![column],
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            default_collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: String::new(),
            engine: StorageEngine::InnoDb,
            create_options: CreateOptions::default(),
            auto_increment: None,
        };
        let check = Check { name: "c".to_string(), expression: "(`b` > 0)".to_string(), enforced: false };
        let table = Table { checks: vec![check], foreign_keys: vec![key], view: Some(Arc::new(view)), ..spec.draft() };
        let read = parse_table("s", "t", &write_table(&table)).unwrap();
        assert_eq!((read.checks, read.foreign_keys), (table.checks, table.foreign_keys));
        assert_eq!(
            (read.columns[0].generated.clone(), read.columns[0].invisible),
            (table.columns[0].generated.clone(), true)
        );
        assert!(read.columns[0].explicit_collation);
        assert_eq!((read.view, &read.columns[0].histogram), (table.view, &table.columns[0].histogram));
    }

    #[test]
    fn later_formats_and_unknown_types_are_refused() {
        assert!(read_schema("s", br#"{"format":1,"collation":255}"#).is_some());
        assert!(read_schema("s", br#"{"format":5,"collation":255}"#).is_none());
        assert!(!read_schema("s", br#"{"format":1,"collation":255}"#).expect("it is whole").read_only);
        for read_only in [false, true] {
            let schema = Schema { read_only, encrypts: !read_only, ..Schema::new("s", CollationId::BINARY) };
            let read = read_schema("s", &write_schema(&schema)).expect("just written");
            assert_eq!((read.read_only, read.encrypts), (read_only, !read_only));
        }
        assert!(read_schema("s", br#"{"format":1,"collation":9999}"#).is_none());
        assert!(parse_table("s", "t", b"{}").is_none());
    }
}
