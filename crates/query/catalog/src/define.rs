//! What CREATE and ALTER TABLE ask for, checked: names, keys, sizes. The trees come from [`crate::Ddl`].

use crate::column::{Column, ColumnDefault, eq_name};
use crate::index::{IndexPart, counting};
use crate::table::{Check, ReferenceAction, Table, TableName};
use crate::{CreateOptions, HIDDEN_COLUMN, HIDDEN_INDEX, IndexAlgorithm, StorageEngine};
use types::codes::*;
use types::collation::CollationId;
use types::key::KeyPart;
use types::row::RowLayout;
use types::{DataType, Result, SqlError, TypeKind, err};

/// Longest key of an index in bytes (InnoDB's, for 16 KiB pages).
const KEY_BYTES_MAX: u64 = 3072;
/// Of engine MyISAM.
const MYISAM_KEY_BYTES_MAX: u64 = 1000;
/// Most columns of a table and of an index.
const COLUMNS_MAX: usize = 1017;
const KEY_PARTS_MAX: usize = 16;
const KEYS_MAX: usize = 64;
/// Longest name in characters.
pub const NAME_CHARS_MAX: usize = 64;
/// MySQL's limit of a row without its BLOBs.
const ROW_BYTES_MAX: u64 = 65_535;
/// InnoDB's limit, half of what an empty page of 16 KiB has room for, and what it adds to a row: its header with the transaction and
/// the roll pointer, and the row id where there is no key. It would be another one with pages of another size.
pub(crate) const PAGE_ROW_BYTES: u64 = 8126;
const PAGE_ROW_HEAD: u64 = 5 + 6 + 7;
const PAGE_ROW_ID: u64 = 6;
/// Of a longer value so much may lie in the row.
const PAGE_VALUE_BYTES: u64 = 40;

/// A table to be made.
#[derive(Clone, Debug)]
pub struct TableSpec {
    pub schema: String,
    pub name: String,
    pub columns: Vec<Column>,
    pub keys: Vec<KeySpec>,
    pub default_collation: CollationId,
    pub checks: Vec<CheckSpec>,
    pub foreign_keys: Vec<ForeignKeySpec>,
    pub comment: String,
    pub engine: StorageEngine,
    pub create_options: CreateOptions,
    /// AUTO_INCREMENT=n
    pub auto_increment: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Plain,
    Unique,
    Primary,
}

#[derive(Clone, Debug)]
pub struct KeySpec {
    pub kind: KeyKind,
    /// Made up from the first column when there is none.
    pub name: Option<String>,
    pub parts: Vec<KeyPartSpec>,
    pub invisible: bool,
    /// See [`crate::Index::for_foreign_key`].
    pub for_foreign_key: bool,
    /// USING
    pub algorithm: Option<IndexAlgorithm>,
    pub comment: String,
}

/// CHECK (expression)
#[derive(Clone, Debug)]
pub struct CheckSpec {
    /// Made up from the table's name when there is none.
    pub name: Option<String>,
    /// Canonical text.
    pub expression: String,
    pub enforced: bool,
}

/// FOREIGN KEY (columns) REFERENCES parent (columns)
#[derive(Clone, Debug)]
pub struct ForeignKeySpec {
    /// Made up from the table's name when there is none.
    pub name: Option<String>,
    /// The name of the index on the columns, should one have to be made.
    pub index: Option<String>,
    pub columns: Vec<String>,
    pub parent: TableName,
    pub parent_columns: Vec<String>,
    pub on_delete: ReferenceAction,
    pub on_update: ReferenceAction,
}

impl ForeignKeySpec {
    /// Is it this foreign key of the table as it was?
    pub(crate) fn is_kept(&self, old: &crate::ForeignKey) -> bool {
        self.name.as_ref() == Some(&old.name) && self.parent == old.parent
    }
}

#[derive(Clone, Debug)]
pub struct KeyPartSpec {
    /// Of a named column, or of the hidden column of an expression.
    pub column: String,
    /// Characters of a prefix; 0: the whole column.
    pub prefix: u32,
    pub descending: bool,
}

/// A checked index: columns by position.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan {
    pub name: String,
    pub unique: bool,
    pub primary: bool,
    pub invisible: bool,
    pub for_foreign_key: bool,
    pub parts: Vec<IndexPart>,
    pub algorithm: Option<IndexAlgorithm>,
    pub comment: String,
}

/// Checks a name of a schema, table, column or index. Errors 1059, 1102, 1103, 1166.
pub fn check_name(name: &str, code: u16) -> Result<()> {
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(err!(ER_TOO_LONG_IDENT, name));
    }
    if name.is_empty() || name.ends_with(' ') || name.contains(['\0', '\u{FFFF}']) {
        return Err(err!(code, name));
    }
    Ok(())
}

impl TableSpec {
    /// The table without trees and keys: what its expressions are planned over.
    pub fn draft(&self) -> Table {
        let types: Vec<DataType> = self.columns.iter().map(|c| c.data_type).collect();
        let check = |c: &CheckSpec| Check {
            name: c.name.clone().unwrap_or_default(),
            expression: c.expression.clone(),
            enforced: true,
        };
        Table {
            id: 0,
            version: 0,
            schema: self.schema.clone(),
            name: self.name.clone(),
            columns: self.columns.clone(),
            indexes: Vec::new(),
            checks: self.checks.iter().map(check).collect(),
            foreign_keys: Vec::new(),
            layout: RowLayout::new(&types),
            evolution: None,
            auto_increment: None,
            row_ids: None,
            default_collation: self.default_collation,
            comment: String::new(),
            engine: self.engine,
            create_options: CreateOptions::default(),
            created: 0,
            readable_since: 0,
            row_log: Default::default(),
            statistics: Default::default(),
            temporary: false,
            virtual_rows: None,
            view: None,
            triggers: Vec::new(),
        }
    }

    /// Checks everything, adds the hidden row id when there is no primary key, makes up names of keys, makes the columns of
    /// the primary key NOT NULL, and orders the indexes as MySQL shows them: primary, unique (those of whole columns
    /// first), others.
    pub(crate) fn plan(&mut self) -> Result<Vec<IndexPlan>> {
        check_name(&self.name, ER_WRONG_TABLE_NAME)?;
        self.check_columns()?;
        self.add_foreign_key_indexes();
        if self.keys.len() > KEYS_MAX {
            return Err(err!(ER_TOO_MANY_KEYS, KEYS_MAX));
        }
        if self.keys.iter().filter(|k| k.kind == KeyKind::Primary).count() > 1 {
            return Err(err!(ER_MULTIPLE_PRI_KEY));
        }
        self.name_keys()?;
        if let Some(primary) = self.keys.iter().find(|k| k.kind == KeyKind::Primary) {
            for part in &primary.parts {
                if let Some(column) = self.columns.iter_mut().find(|c| eq_name(&c.name, &part.column)) {
                    if column.data_type.nullable && column.default == ColumnDefault::Value(types::Value::Null) {
                        column.default = ColumnDefault::None;
                    }
                    column.data_type.nullable = false;
                }
            }
        }
        self.check_visibility()?;
        // Stable: keys of one kind stay in order.
        let mut keys: Vec<&KeySpec> = self.keys.iter().collect();
        keys.sort_by_key(|k| self.rank(k));
        let mut plans = Vec::with_capacity(keys.len() + 1);
        for key in keys {
            plans.push(plan_index(&self.columns, key, self.engine)?);
        }
        if !plans.first().is_some_and(|p: &IndexPlan| p.primary) {
            plans.insert(0, self.hidden_index());
        }
        let auto = self.columns.iter().position(|c| c.auto_increment);
        if let Some(column) = auto
            && counting(plans.iter().map(|p| &p.parts[..]), column, self.engine).is_none()
        {
            return Err(err!(ER_WRONG_AUTO_KEY));
        }
        if self.engine == StorageEngine::InnoDb && outgrows_page(&self.columns) {
            let what = format!(
                "Row size too large (> {PAGE_ROW_BYTES}). Changing some columns to TEXT or BLOB may help. In current \
                 row \
                 format, BLOB prefix of 0 bytes is stored inline."
            );
            return Err(SqlError::new(ER_TOO_BIG_ROWSIZE, what));
        }
        Ok(plans)
    }

    /// Where a key stands among the others: its kind, and whether it has only the beginning of some column.
    fn rank(&self, key: &KeySpec) -> (u8, bool) {
        match key.kind {
            KeyKind::Primary => (0, false),
            KeyKind::Unique if self.is_nullable(key) => (2, self.has_prefix(key)),
            KeyKind::Unique => (1, self.has_prefix(key)),
            KeyKind::Plain => (3, false),
        }
    }

    /// Error 3522 when the first unique key without NULLs, which stands in for a primary key, is invisible.
    pub fn check_visibility(&self) -> Result<()> {
        match self.row_key().is_some_and(|k| k.invisible && k.kind != KeyKind::Primary) {
            true => Err(err!(ER_PK_INDEX_CANT_BE_INVISIBLE)),
            false => Ok(()),
        }
    }

    /// The primary key, or the unique one without NULLs that stands in for it.
    pub fn row_key(&self) -> Option<&KeySpec> {
        self.keys.iter().min_by_key(|k| self.rank(k)).filter(|k| self.may_be_row_key(k))
    }

    /// Could rows be known by this key?
    pub fn may_be_row_key(&self, key: &KeySpec) -> bool {
        self.rank(key) <= (1, false)
    }

    fn is_nullable(&self, key: &KeySpec) -> bool {
        key.parts.iter().any(|p| self.columns.iter().any(|c| eq_name(&c.name, &p.column) && c.data_type.nullable))
    }

    /// Does a part hold the beginning of its column alone?
    fn has_prefix(&self, key: &KeySpec) -> bool {
        let whole = |p: &KeyPartSpec| {
            let column = self.columns.iter().find(|c| eq_name(&c.name, &p.column));
            column.is_some_and(|c| !c.data_type.kind.is_blob() && c.data_type.length == p.prefix)
        };
        key.parts.iter().any(|p| p.prefix > 0 && !whole(p))
    }

    fn hidden_index(&mut self) -> IndexPlan {
        let data_type = DataType { length: 20, ..DataType::new(TypeKind::BigInt).unsigned().not_null() };
        self.columns.push(Column { hidden: true, ..Column::new(HIDDEN_COLUMN, data_type) });
        let key = KeyPart { data_type, descending: false, prefix: 0 };
        IndexPlan {
            name: HIDDEN_INDEX.to_string(),
            unique: true,
            primary: false,
            invisible: false,
            for_foreign_key: false,
            parts: vec![IndexPart { column: self.columns.len() - 1, key }],
            algorithm: None,
            comment: String::new(),
        }
    }

    fn check_columns(&self) -> Result<()> {
        if !self.columns.iter().any(|c| !c.hidden) {
            return Err(err!(ER_TABLE_MUST_HAVE_COLUMNS));
        }
        if self.columns.iter().all(|c| c.hidden || c.invisible) {
            return Err(err!(ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN));
        }
        if self.columns.len() > COLUMNS_MAX {
            return Err(err!(ER_TOO_MANY_FIELDS));
        }
        // A bit for each column that may be NULL.
        let nullable = self.columns.iter().filter(|c| c.data_type.nullable).count();
        let mut row_bytes = nullable.div_ceil(8) as u64;
        for (i, column) in self.columns.iter().enumerate() {
            check_name(&column.name, ER_WRONG_COLUMN_NAME)?;
            if !column.hidden && RESERVED_COLUMNS.iter().any(|n| eq_name(n, &column.name)) {
                return Err(err!(ER_WRONG_COLUMN_NAME, column.name));
            }
            if self.columns[..i].iter().any(|c| eq_name(&c.name, &column.name)) {
                return Err(err!(ER_DUP_FIELDNAME, column.name));
            }
            row_bytes += row_share(&column.data_type);
        }
        if row_bytes > ROW_BYTES_MAX {
            return Err(err!(ER_TOO_BIG_ROWSIZE, ROW_BYTES_MAX));
        }
        if self.columns.iter().filter(|c| c.auto_increment).count() > 1 {
            return Err(err!(ER_WRONG_AUTO_KEY));
        }
        Ok(())
    }

    /// Gives names to keys without one and checks that no two are the same.
    fn name_keys(&mut self) -> Result<()> {
        for i in 0..self.keys.len() {
            let name = match (&self.keys[i].name, self.keys[i].kind) {
                (_, KeyKind::Primary) => "PRIMARY".to_string(),
                (Some(name), _) => {
                    if name.eq_ignore_ascii_case("PRIMARY") {
                        return Err(err!(ER_WRONG_NAME_FOR_INDEX, name));
                    }
                    if eq_name(name, HIDDEN_INDEX) {
                        return Err(err!(ER_WRONG_NAME_FOR_INDEX, HIDDEN_INDEX));
                    }
                    check_name(name, ER_WRONG_NAME_FOR_INDEX)?;
                    name.clone()
                }
                (None, _) => {
                    let column = |p: &KeyPartSpec| self.columns.iter().find(|c| eq_name(&c.name, &p.column));
                    let parts = &self.keys[i].parts;
                    let first = match parts.first().and_then(column) {
                        _ if parts.iter().filter_map(column).any(|c| c.hidden) => "functional_index",
                        Some(c) => c.name.as_str(),
                        None => parts.first().map_or("", |p| p.column.as_str()),
                    };
                    let taken = |name: &str| {
                        name.eq_ignore_ascii_case("PRIMARY")
                            || self.keys.iter().any(|k| k.name.as_deref().is_some_and(|n| eq_name(n, name)))
                    };
                    let mut name = first.to_string();
                    let mut number = 2;
                    while taken(&name) {
                        name = format!("{first}_{number}");
                        number += 1;
                    }
                    name
                }
            };
            if self.keys[..i].iter().any(|k| k.name.as_deref().is_some_and(|n| eq_name(n, &name))) {
                return Err(err!(ER_DUP_KEYNAME, name));
            }
            self.keys[i].name = Some(name);
        }
        Ok(())
    }
}

/// InnoDB has columns of these names in each table.
const RESERVED_COLUMNS: [&str; 3] = ["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"];

/// Bytes that a column counts towards the limit of a row.
fn row_share(data_type: &DataType) -> u64 {
    use TypeKind::*;
    let fraction = u64::from(data_type.decimals).div_ceil(2);
    match data_type.kind {
        TinyInt | Year => 1,
        SmallInt => 2,
        MediumInt | Date => 3,
        Int | Float => 4,
        BigInt | Double | Set => 8,
        DateTime => 5 + fraction,
        Timestamp => 4 + fraction,
        Time => 3 + fraction,
        Decimal => u64::from(data_type.length) / 2 + 1,
        Bit => u64::from(data_type.length).div_ceil(8),
        Enum => 2,
        VarChar | VarBinary => data_type.max_bytes() + if data_type.max_bytes() > 255 { 2 } else { 1 },
        Char | Binary => data_type.max_bytes(),
        Null => 0,
        // A length and a pointer.
        TinyText | TinyBlob => 9,
        Text | Blob => 10,
        MediumText | MediumBlob => 11,
        LongText | LongBlob | Json | Geometry => 12,
    }
}

/// May a row of these columns find no room in half a page of InnoDB's, though long values lie elsewhere?
pub(crate) fn outgrows_page(columns: &[Column]) -> bool {
    let is_stored = |c: &&Column| c.generated.as_ref().is_none_or(|g| g.stored) && !c.is_row_id();
    let stored = columns.iter().filter(is_stored);
    let nullable = stored.clone().filter(|c| c.data_type.nullable).count() as u64;
    let row_id = if columns.iter().any(Column::is_row_id) { PAGE_ROW_ID } else { 0 };
    PAGE_ROW_HEAD + row_id + nullable.div_ceil(8) + stored.map(page_share).sum::<u64>() >= PAGE_ROW_BYTES
}

/// Bytes that a column's value takes in a page of InnoDB's at most, with those that tell its length.
fn page_share(column: &Column) -> u64 {
    let ty = &column.data_type;
    let members = column.members.len() as u64;
    match ty.kind {
        TypeKind::Enum => 1 + u64::from(members > 255),
        TypeKind::Set if members > 32 => 8,
        TypeKind::Set => members.div_ceil(8).max(1),
        TypeKind::Binary => ty.max_bytes(),
        TypeKind::Char if ty.collation.charset().mbminlen() == ty.collation.charset().mbmaxlen() as usize => {
            ty.max_bytes()
        }
        kind if kind.is_bytes() || kind.is_blob() => match ty.max_bytes() {
            short if short < PAGE_VALUE_BYTES => short + 1,
            _ => PAGE_VALUE_BYTES + 1,
        },
        _ => row_share(ty),
    }
}

/// Checks one key against the columns.
pub(crate) fn plan_index(columns: &[Column], key: &KeySpec, engine: StorageEngine) -> Result<IndexPlan> {
    let bytes_max = match engine {
        StorageEngine::MyIsam => MYISAM_KEY_BYTES_MAX,
        StorageEngine::InnoDb | StorageEngine::Memory => KEY_BYTES_MAX,
    };
    if key.parts.len() > KEY_PARTS_MAX {
        return Err(err!(ER_TOO_MANY_KEY_PARTS, KEY_PARTS_MAX));
    }
    let mut parts: Vec<IndexPart> = Vec::with_capacity(key.parts.len());
    let mut bytes = 0;
    for part in &key.parts {
        let named = |c: &Column| (!c.hidden || c.generated.is_some()) && eq_name(&c.name, &part.column);
        let position = columns.iter().position(named);
        let position = position.ok_or_else(|| err!(ER_KEY_COLUMN_DOES_NOT_EXITS, part.column))?;
        if parts.iter().any(|p| p.column == position) {
            return Err(err!(ER_DUP_FIELDNAME, part.column));
        }
        let column = &columns[position];
        let data_type = column.key_type();
        if data_type.kind == TypeKind::Json {
            return Err(if column.hidden {
                err!(ER_FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION)
            } else {
                err!(ER_JSON_USED_AS_KEY, column.name)
            });
        }
        if data_type.kind.is_blob() && column.hidden {
            return Err(err!(ER_FUNCTIONAL_INDEX_ON_LOB));
        }
        let mut prefix = part.prefix;
        if prefix > 0 {
            let whole = data_type.length;
            let is_string = data_type.kind.is_bytes();
            if !is_string || (!data_type.kind.is_blob() && prefix > whole) {
                return Err(err!(ER_WRONG_SUB_KEY));
            }
            if !data_type.kind.is_blob() && prefix == whole {
                prefix = 0;
            }
        } else if data_type.kind.is_blob() {
            return Err(err!(ER_BLOB_KEY_WITHOUT_LENGTH, column.name));
        }
        if column.array_of().is_some() && parts.iter().any(|p| columns[p.column].array_of().is_some()) {
            return Err(err!(ER_NOT_SUPPORTED_YET, "more than one multi-valued key part per index"));
        }
        let part_bytes = key_share(&data_type, prefix);
        if part_bytes > bytes_max {
            return Err(err!(ER_TOO_LONG_KEY, bytes_max));
        }
        bytes += part_bytes;
        let key = KeyPart { data_type, descending: part.descending, prefix };
        parts.push(IndexPart { column: position, key });
    }
    if parts.is_empty() {
        return Err(SqlError::new(ER_PARSE_ERROR, "You have an error in your SQL syntax; a key has no columns"));
    }
    if bytes > bytes_max {
        return Err(err!(ER_TOO_LONG_KEY, bytes_max));
    }
    Ok(IndexPlan {
        name: key.name.clone().expect("keys have been named"),
        unique: key.kind != KeyKind::Plain,
        primary: key.kind == KeyKind::Primary,
        invisible: key.invisible,
        for_foreign_key: key.for_foreign_key,
        parts,
        algorithm: key.algorithm,
        comment: key.comment.clone(),
    })
}

/// Most bytes of column data that a key part holds.
fn key_share(data_type: &DataType, prefix: u32) -> u64 {
    match prefix {
        0 if data_type.kind.is_bytes() => data_type.max_bytes(),
        0 => row_share(data_type),
        n if data_type.kind.is_text() => u64::from(n) * u64::from(data_type.collation.charset().mbmaxlen()),
        n => u64::from(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Value;

    fn column(name: &str, kind: TypeKind, length: u32) -> Column {
        let data_type = DataType::string(kind, length, CollationId::UTF8MB4_0900_AI_CI);
        Column { default: ColumnDefault::Value(Value::Null), ..Column::new(name, data_type) }
    }

    fn key(kind: KeyKind, name: Option<&str>, columns: &[&str]) -> KeySpec {
        let part = |c: &&str| {
            let (name, prefix) = c.split_once(':').map_or((*c, 0), |(n, p)| (n, p.parse().unwrap()));
            KeyPartSpec { column: name.to_string(), prefix, descending: false }
        };
        KeySpec {
            kind,
            name: name.map(str::to_string),
            parts: columns.iter().map(part).collect(),
            invisible: false,
            for_foreign_key: false,
            algorithm: None,
            comment: String::new(),
        }
    }

    fn spec(keys: Vec<KeySpec>) -> TableSpec {
        TableSpec {
            schema: "s".to_string(),
            name: "t".to_string(),
            columns: vec![
                column("a", TypeKind::Int, 11),
                column("b", TypeKind::VarChar, 1000),
                column("c", TypeKind::Text, 0),
            ],
            keys,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            default_collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: String::new(),
            engine: StorageEngine::InnoDb,
            create_options: CreateOptions::default(),
            auto_increment: None,
        }
    }

    fn code(keys: Vec<KeySpec>) -> u16 {
        spec(keys).plan().unwrap_err().code
    }

    #[test]
    fn keys_are_named_and_ordered_as_mysql_does() {
        let mut s = spec(vec![
            key(KeyKind::Plain, None, &["a"]),
            key(KeyKind::Unique, None, &["A", "b:10"]),
            key(KeyKind::Primary, None, &["a"]),
        ]);
        let names: Vec<_> = s.plan().unwrap().into_iter().map(|p| p.name).collect();
        assert_eq!(names, ["PRIMARY", "a_2", "a"]);
        assert!(!s.columns[0].data_type.nullable);
        assert_eq!(s.columns[0].default, ColumnDefault::None);
    }

    #[test]
    fn a_table_without_primary_key_gets_a_row_id() {
        let mut s = spec(vec![]);
        let plans = s.plan().unwrap();
        assert_eq!(plans[0].name, HIDDEN_INDEX);
        assert!(s.columns[plans[0].parts[0].column].hidden);
    }

    #[test]
    fn errors() {
        use KeyKind::*;
        assert_eq!(code(vec![key(Primary, None, &["a"]), key(Primary, None, &["b:3"])]), ER_MULTIPLE_PRI_KEY);
        assert_eq!(code(vec![key(Plain, Some("k"), &["a"]), key(Plain, Some("K"), &["a"])]), ER_DUP_KEYNAME);
        assert_eq!(code(vec![key(Plain, None, &["nope"])]), ER_KEY_COLUMN_DOES_NOT_EXITS);
        assert_eq!(code(vec![key(Plain, None, &["b"])]), ER_TOO_LONG_KEY);
        assert_eq!(code(vec![key(Plain, None, &["c"])]), ER_BLOB_KEY_WITHOUT_LENGTH);
        assert_eq!(code(vec![key(Plain, None, &["a:3"])]), ER_WRONG_SUB_KEY);
        assert_eq!(code(vec![key(Plain, None, &["a", "A"])]), ER_DUP_FIELDNAME);
        assert_eq!(code(vec![key(Plain, Some("primary"), &["a"])]), ER_WRONG_NAME_FOR_INDEX);
        let mut two = spec(vec![]);
        two.columns.push(column("A", TypeKind::Int, 11));
        assert_eq!(two.plan().unwrap_err().code, ER_DUP_FIELDNAME);
        let mut wide = spec(vec![]);
        wide.columns.push(column("d", TypeKind::VarChar, 16000));
        assert_eq!(wide.plan().unwrap_err().code, ER_TOO_BIG_ROWSIZE);
        let mut auto = spec(vec![]);
        auto.columns[0].auto_increment = true;
        assert_eq!(auto.plan().unwrap_err().code, ER_WRONG_AUTO_KEY);
    }
}
