//! information_schema: the dictionary as tables.

use crate::columns::{Compute, bigint, computed, int, longtext, time, varchar};
use crate::ddl_text::{column_type, default_text, has_charset, type_name};
use crate::{Context, Row, datetime, maybe, text, uint, word};
use catalog::{Column, Schema, Table};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::charset::Charset;
use types::collation::{COLLATIONS, CollationId, PadAttribute};
use types::{DataType, Result, TypeKind, Value};

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("information_schema", CollationId::UTF8MB3_GENERAL_CI);
    let name = || varchar(64);
    let mut add = |table: &str, columns: &[(&str, DataType)], compute: Compute| {
        let table = computed("information_schema", table, columns, compute);
        schema.tables.insert(table.name.clone(), Arc::new(table));
    };
    add(
        "SCHEMATA",
        &[
            ("CATALOG_NAME", name()),
            ("SCHEMA_NAME", name()),
            ("DEFAULT_CHARACTER_SET_NAME", name()),
            ("DEFAULT_COLLATION_NAME", name()),
            ("SQL_PATH", name()),
            ("DEFAULT_ENCRYPTION", name()),
        ],
        schemata,
    );
    add("TABLES", &tables_columns(), tables);
    add("COLUMNS", &columns_columns(), columns);
    add("STATISTICS", &statistics_columns(), statistics);
    add(
        "KEY_COLUMN_USAGE",
        &[
            ("CONSTRAINT_CATALOG", name()),
            ("CONSTRAINT_SCHEMA", name()),
            ("CONSTRAINT_NAME", name()),
            ("TABLE_CATALOG", name()),
            ("TABLE_SCHEMA", name()),
            ("TABLE_NAME", name()),
            ("COLUMN_NAME", name()),
            ("ORDINAL_POSITION", bigint()),
            ("POSITION_IN_UNIQUE_CONSTRAINT", bigint()),
            ("REFERENCED_TABLE_SCHEMA", name()),
            ("REFERENCED_TABLE_NAME", name()),
            ("REFERENCED_COLUMN_NAME", name()),
        ],
        key_column_usage,
    );
    add(
        "TABLE_CONSTRAINTS",
        &[
            ("CONSTRAINT_CATALOG", name()),
            ("CONSTRAINT_SCHEMA", name()),
            ("CONSTRAINT_NAME", name()),
            ("TABLE_SCHEMA", name()),
            ("TABLE_NAME", name()),
            ("CONSTRAINT_TYPE", varchar(11)),
            ("ENFORCED", varchar(3)),
        ],
        table_constraints,
    );
    add(
        "ENGINES",
        &[
            ("ENGINE", name()),
            ("SUPPORT", varchar(8)),
            ("COMMENT", varchar(80)),
            ("TRANSACTIONS", varchar(3)),
            ("XA", varchar(3)),
            ("SAVEPOINTS", varchar(3)),
        ],
        |_, out| {
            out.push(engine_row());
            Ok(())
        },
    );
    add(
        "CHARACTER_SETS",
        &[
            ("CHARACTER_SET_NAME", name()),
            ("DEFAULT_COLLATE_NAME", name()),
            ("DESCRIPTION", varchar(2048)),
            ("MAXLEN", bigint()),
        ],
        |_, out| {
            out.extend(Charset::ALL.into_iter().map(|c| {
                let collation = CollationId::default_of(c).info().name;
                vec![word(c.name()), word(collation), word(c.description()), uint(c.mbmaxlen().into())]
            }));
            Ok(())
        },
    );
    add(
        "COLLATIONS",
        &[
            ("COLLATION_NAME", name()),
            ("CHARACTER_SET_NAME", name()),
            ("ID", bigint()),
            ("IS_DEFAULT", varchar(3)),
            ("IS_COMPILED", varchar(3)),
            ("SORTLEN", bigint()),
            ("PAD_ATTRIBUTE", varchar(9)),
        ],
        |_, out| {
            out.extend(collation_rows());
            Ok(())
        },
    );
    add(
        "COLLATION_CHARACTER_SET_APPLICABILITY",
        &[("COLLATION_NAME", name()), ("CHARACTER_SET_NAME", name())],
        |_, out| {
            out.extend(COLLATIONS.iter().map(|c| vec![word(c.name), word(c.charset.name())]));
            Ok(())
        },
    );
    add(
        "PROCESSLIST",
        &[
            ("ID", bigint()),
            ("USER", varchar(32)),
            ("HOST", varchar(261)),
            ("DB", name()),
            ("COMMAND", varchar(16)),
            ("TIME", int()),
            ("STATE", name()),
            ("INFO", longtext()),
        ],
        |cx, out| {
            out.extend(cx.processes().into_iter().map(|p| process_row(p, true)));
            Ok(())
        },
    );
    for (table, columns) in EMPTY {
        let columns: Vec<_> = columns.iter().map(|c| (*c, name())).collect();
        add(table, &columns, |_, _| Ok(()));
    }
    schema
}

/// Tables of things that this server does not have: well-formed and empty.
const EMPTY: &[(&str, &[&str])] = &[
    (
        "ROUTINES",
        &[
            "SPECIFIC_NAME",
            "ROUTINE_CATALOG",
            "ROUTINE_SCHEMA",
            "ROUTINE_NAME",
            "ROUTINE_TYPE",
            "DATA_TYPE",
            "CHARACTER_MAXIMUM_LENGTH",
            "CHARACTER_OCTET_LENGTH",
            "NUMERIC_PRECISION",
            "NUMERIC_SCALE",
            "DATETIME_PRECISION",
            "CHARACTER_SET_NAME",
            "COLLATION_NAME",
            "DTD_IDENTIFIER",
            "ROUTINE_BODY",
            "ROUTINE_DEFINITION",
            "EXTERNAL_NAME",
            "EXTERNAL_LANGUAGE",
            "PARAMETER_STYLE",
            "IS_DETERMINISTIC",
            "SQL_DATA_ACCESS",
            "SQL_PATH",
            "SECURITY_TYPE",
            "CREATED",
            "LAST_ALTERED",
            "SQL_MODE",
            "ROUTINE_COMMENT",
            "DEFINER",
            "CHARACTER_SET_CLIENT",
            "COLLATION_CONNECTION",
            "DATABASE_COLLATION",
        ],
    ),
    (
        "PARAMETERS",
        &[
            "SPECIFIC_CATALOG",
            "SPECIFIC_SCHEMA",
            "SPECIFIC_NAME",
            "ORDINAL_POSITION",
            "PARAMETER_MODE",
            "PARAMETER_NAME",
            "DATA_TYPE",
            "CHARACTER_MAXIMUM_LENGTH",
            "CHARACTER_OCTET_LENGTH",
            "NUMERIC_PRECISION",
            "NUMERIC_SCALE",
            "DATETIME_PRECISION",
            "CHARACTER_SET_NAME",
            "COLLATION_NAME",
            "DTD_IDENTIFIER",
            "ROUTINE_TYPE",
        ],
    ),
    (
        "VIEWS",
        &[
            "TABLE_CATALOG",
            "TABLE_SCHEMA",
            "TABLE_NAME",
            "VIEW_DEFINITION",
            "CHECK_OPTION",
            "IS_UPDATABLE",
            "DEFINER",
            "SECURITY_TYPE",
            "CHARACTER_SET_CLIENT",
            "COLLATION_CONNECTION",
        ],
    ),
    (
        "TRIGGERS",
        &[
            "TRIGGER_CATALOG",
            "TRIGGER_SCHEMA",
            "TRIGGER_NAME",
            "EVENT_MANIPULATION",
            "EVENT_OBJECT_CATALOG",
            "EVENT_OBJECT_SCHEMA",
            "EVENT_OBJECT_TABLE",
            "ACTION_ORDER",
            "ACTION_CONDITION",
            "ACTION_STATEMENT",
            "ACTION_ORIENTATION",
            "ACTION_TIMING",
            "ACTION_REFERENCE_OLD_TABLE",
            "ACTION_REFERENCE_NEW_TABLE",
            "ACTION_REFERENCE_OLD_ROW",
            "ACTION_REFERENCE_NEW_ROW",
            "CREATED",
            "SQL_MODE",
            "DEFINER",
            "CHARACTER_SET_CLIENT",
            "COLLATION_CONNECTION",
            "DATABASE_COLLATION",
        ],
    ),
    (
        "EVENTS",
        &[
            "EVENT_CATALOG",
            "EVENT_SCHEMA",
            "EVENT_NAME",
            "DEFINER",
            "TIME_ZONE",
            "EVENT_BODY",
            "EVENT_DEFINITION",
            "EVENT_TYPE",
            "EXECUTE_AT",
            "INTERVAL_VALUE",
            "INTERVAL_FIELD",
            "SQL_MODE",
            "STARTS",
            "ENDS",
            "STATUS",
            "ON_COMPLETION",
            "CREATED",
            "LAST_ALTERED",
            "LAST_EXECUTED",
            "EVENT_COMMENT",
            "ORIGINATOR",
            "CHARACTER_SET_CLIENT",
            "COLLATION_CONNECTION",
            "DATABASE_COLLATION",
        ],
    ),
    (
        "PARTITIONS",
        &[
            "TABLE_CATALOG",
            "TABLE_SCHEMA",
            "TABLE_NAME",
            "PARTITION_NAME",
            "SUBPARTITION_NAME",
            "PARTITION_ORDINAL_POSITION",
            "SUBPARTITION_ORDINAL_POSITION",
            "PARTITION_METHOD",
            "SUBPARTITION_METHOD",
            "PARTITION_EXPRESSION",
            "SUBPARTITION_EXPRESSION",
            "PARTITION_DESCRIPTION",
            "TABLE_ROWS",
            "AVG_ROW_LENGTH",
            "DATA_LENGTH",
            "MAX_DATA_LENGTH",
            "INDEX_LENGTH",
            "DATA_FREE",
            "CREATE_TIME",
            "UPDATE_TIME",
            "CHECK_TIME",
            "CHECKSUM",
            "PARTITION_COMMENT",
            "NODEGROUP",
            "TABLESPACE_NAME",
        ],
    ),
    (
        "REFERENTIAL_CONSTRAINTS",
        &[
            "CONSTRAINT_CATALOG",
            "CONSTRAINT_SCHEMA",
            "CONSTRAINT_NAME",
            "UNIQUE_CONSTRAINT_CATALOG",
            "UNIQUE_CONSTRAINT_SCHEMA",
            "UNIQUE_CONSTRAINT_NAME",
            "MATCH_OPTION",
            "UPDATE_RULE",
            "DELETE_RULE",
            "TABLE_NAME",
            "REFERENCED_TABLE_NAME",
        ],
    ),
    ("CHECK_CONSTRAINTS", &["CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "CHECK_CLAUSE"]),
    (
        "FILES",
        &[
            "FILE_ID",
            "FILE_NAME",
            "FILE_TYPE",
            "TABLESPACE_NAME",
            "TABLE_CATALOG",
            "TABLE_SCHEMA",
            "TABLE_NAME",
            "LOGFILE_GROUP_NAME",
            "LOGFILE_GROUP_NUMBER",
            "ENGINE",
            "FULLTEXT_KEYS",
            "DELETED_ROWS",
            "UPDATE_COUNT",
            "FREE_EXTENTS",
            "TOTAL_EXTENTS",
            "EXTENT_SIZE",
            "INITIAL_SIZE",
            "MAXIMUM_SIZE",
            "AUTOEXTEND_SIZE",
            "CREATION_TIME",
            "LAST_UPDATE_TIME",
            "LAST_ACCESS_TIME",
            "RECOVER_TIME",
            "TRANSACTION_COUNTER",
            "VERSION",
            "ROW_FORMAT",
            "TABLE_ROWS",
            "AVG_ROW_LENGTH",
            "DATA_LENGTH",
            "MAX_DATA_LENGTH",
            "INDEX_LENGTH",
            "DATA_FREE",
            "CREATE_TIME",
            "UPDATE_TIME",
            "CHECK_TIME",
            "CHECKSUM",
            "STATUS",
            "EXTRA",
        ],
    ),
];

fn schemata(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.schemas().map(|s| {
        let collation = s.default_collation;
        let charset = word(collation.charset().name());
        vec![word("def"), text(&s.name), charset, word(collation.info().name), Value::Null, word("NO")]
    }));
    Ok(())
}

fn tables_columns() -> Vec<(&'static str, DataType)> {
    let name = varchar(64);
    vec![
        ("TABLE_CATALOG", name),
        ("TABLE_SCHEMA", name),
        ("TABLE_NAME", name),
        ("TABLE_TYPE", varchar(11)),
        ("ENGINE", name),
        ("VERSION", int()),
        ("ROW_FORMAT", varchar(10)),
        ("TABLE_ROWS", bigint()),
        ("AVG_ROW_LENGTH", bigint()),
        ("DATA_LENGTH", bigint()),
        ("MAX_DATA_LENGTH", bigint()),
        ("INDEX_LENGTH", bigint()),
        ("DATA_FREE", bigint()),
        ("AUTO_INCREMENT", bigint()),
        ("CREATE_TIME", time()),
        ("UPDATE_TIME", time()),
        ("CHECK_TIME", time()),
        ("TABLE_COLLATION", name),
        ("CHECKSUM", bigint()),
        ("CREATE_OPTIONS", varchar(256)),
        ("TABLE_COMMENT", longtext()),
    ]
}

/// The columns from ENGINE to TABLE_COMMENT, which SHOW TABLE STATUS prints too.
pub(crate) fn table_status(cx: &Context, table: &Table) -> Result<Row> {
    let collation = word(table.default_collation.info().name);
    if table.is_virtual() {
        let mut row = vec![Value::Null, Value::Int(10), Value::Null];
        row.extend((0..6).map(|_| uint(0)));
        row.extend([Value::Null, Value::Null, Value::Null, Value::Null, collation, Value::Null, word(""), word("")]);
        return Ok(row);
    }
    let estimate = |tree| cx.engine.estimate(tree).map_err(catalog::error::from_engine);
    const PAGE_BYTES: u64 = 16 << 10;
    let (rows, pages) = estimate(table.indexes[0].tree)?;
    let mut index_pages = 0;
    for index in &table.indexes[1..] {
        index_pages += estimate(index.tree)?.1;
    }
    // Relaxed: a figure for the reader.
    let next = table.auto_increment.as_ref().map(|c| c.next.load(Ordering::Relaxed));
    Ok(vec![
        word("InnoDB"),
        Value::Int(10),
        word("Dynamic"),
        uint(rows),
        uint((pages * PAGE_BYTES).checked_div(rows).unwrap_or(0)),
        uint(pages * PAGE_BYTES),
        uint(0),
        uint(index_pages * PAGE_BYTES),
        uint(0),
        next.map_or(Value::Null, uint),
        datetime(table.created),
        Value::Null,
        Value::Null,
        collation,
        Value::Null,
        text(&table.create_options),
        text(&table.comment),
    ])
}

fn tables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in cx.all_tables() {
        let kind = if table.is_virtual() { "SYSTEM VIEW" } else { "BASE TABLE" };
        let mut row = vec![word("def"), text(&table.schema), text(&table.name), word(kind)];
        row.extend(table_status(cx, table)?);
        out.push(row);
    }
    Ok(())
}

fn columns_columns() -> Vec<(&'static str, DataType)> {
    let name = varchar(64);
    vec![
        ("TABLE_CATALOG", name),
        ("TABLE_SCHEMA", name),
        ("TABLE_NAME", name),
        ("COLUMN_NAME", name),
        ("ORDINAL_POSITION", bigint()),
        ("COLUMN_DEFAULT", longtext()),
        ("IS_NULLABLE", varchar(3)),
        ("DATA_TYPE", longtext()),
        ("CHARACTER_MAXIMUM_LENGTH", bigint()),
        ("CHARACTER_OCTET_LENGTH", bigint()),
        ("NUMERIC_PRECISION", bigint()),
        ("NUMERIC_SCALE", bigint()),
        ("DATETIME_PRECISION", bigint()),
        ("CHARACTER_SET_NAME", name),
        ("COLLATION_NAME", name),
        ("COLUMN_TYPE", longtext()),
        ("COLUMN_KEY", varchar(3)),
        ("EXTRA", varchar(256)),
        ("PRIVILEGES", varchar(154)),
        ("COLUMN_COMMENT", longtext()),
        ("GENERATION_EXPRESSION", longtext()),
        ("SRS_ID", bigint()),
    ]
}

/// PRI, UNI, MUL or nothing.
pub(crate) fn column_key(table: &Table, column: usize) -> &'static str {
    let leads =
        |unique: bool| table.visible_indexes().any(|i| i.parts[0].column == column && i.unique == unique && !i.primary);
    let alone = table.visible_indexes().any(|i| i.unique && i.parts.len() == 1 && i.parts[0].column == column);
    if table.indexes.iter().any(|i| i.primary && i.parts.iter().any(|p| p.column == column)) {
        "PRI"
    } else if alone {
        "UNI"
    } else if leads(true) || leads(false) {
        "MUL"
    } else {
        ""
    }
}

/// `auto_increment`, `on update ...`.
pub(crate) fn extra(column: &Column) -> String {
    let mut words = Vec::new();
    if column.auto_increment {
        words.push("auto_increment".to_string());
    }
    if column.default == catalog::ColumnDefault::Now {
        words.push("DEFAULT_GENERATED".to_string());
    }
    if column.on_update_now {
        words.push(format!("on update {}", crate::ddl_text::now_text(&column.data_type)));
    }
    words.join(" ")
}

pub(crate) const COLUMN_PRIVILEGES: &str = "select,insert,update,references";

fn columns(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    use TypeKind::*;
    for table in cx.all_tables() {
        for (position, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.hidden) {
            let t = &column.data_type;
            let is_string = t.kind.is_bytes() && t.kind != Json || matches!(t.kind, Enum | Set);
            let (chars, bytes) = match is_string {
                true if t.kind.is_blob() => (uint(t.max_bytes()), uint(t.max_bytes())),
                true => (uint(t.length.into()), uint(t.max_bytes().max(t.length.into()))),
                false => (Value::Null, Value::Null),
            };
            let (precision, scale) = match t.kind {
                TinyInt => (uint(3), uint(0)),
                SmallInt => (uint(5), uint(0)),
                MediumInt => (uint(7), uint(0)),
                Int => (uint(10), uint(0)),
                BigInt => (uint(if t.unsigned { 20 } else { 19 }), uint(0)),
                Decimal => (uint(t.length.into()), uint(t.decimals.into())),
                Float => (uint(12), Value::Null),
                Double => (uint(22), Value::Null),
                Bit => (uint(t.length.into()), Value::Null),
                _ => (Value::Null, Value::Null),
            };
            let digits =
                if matches!(t.kind, Time | DateTime | Timestamp) { uint(t.decimals.into()) } else { Value::Null };
            let (charset, collation) = match has_charset(t) {
                true => (word(t.collation.charset().name()), word(t.collation.info().name)),
                false => (Value::Null, Value::Null),
            };
            out.push(vec![
                word("def"),
                text(&table.schema),
                text(&table.name),
                text(&column.name),
                uint(position as u64 + 1),
                maybe(default_text(column)),
                word(if t.nullable { "YES" } else { "NO" }),
                word(type_name(t.kind)),
                chars,
                bytes,
                precision,
                scale,
                digits,
                charset,
                collation,
                text(column_type(t, &column.members)),
                word(column_key(table, position)),
                text(extra(column)),
                word(COLUMN_PRIVILEGES),
                text(&column.comment),
                word(""),
                Value::Null,
            ]);
        }
    }
    Ok(())
}

fn statistics_columns() -> Vec<(&'static str, DataType)> {
    let name = varchar(64);
    vec![
        ("TABLE_CATALOG", name),
        ("TABLE_SCHEMA", name),
        ("TABLE_NAME", name),
        ("NON_UNIQUE", int()),
        ("INDEX_SCHEMA", name),
        ("INDEX_NAME", name),
        ("SEQ_IN_INDEX", bigint()),
        ("COLUMN_NAME", name),
        ("COLLATION", varchar(1)),
        ("CARDINALITY", bigint()),
        ("SUB_PART", bigint()),
        ("PACKED", varchar(1)),
        ("NULLABLE", varchar(3)),
        ("INDEX_TYPE", varchar(11)),
        ("COMMENT", varchar(8)),
        ("INDEX_COMMENT", varchar(2048)),
        ("IS_VISIBLE", varchar(3)),
        ("EXPRESSION", longtext()),
    ]
}

/// (NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, CARDINALITY, SUB_PART, PACKED, NULLABLE, INDEX_TYPE,
/// COMMENT, INDEX_COMMENT, IS_VISIBLE, EXPRESSION) of each part of each index.
pub(crate) fn index_rows(cx: &Context, table: &Table) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if table.is_virtual() {
        return Ok(rows);
    }
    let (entries, _) = cx.engine.estimate(table.indexes[0].tree).map_err(catalog::error::from_engine)?;
    for index in table.visible_indexes() {
        for (seq, part) in index.parts.iter().enumerate() {
            let column = &table.columns[part.column];
            rows.push(vec![
                Value::Int(i64::from(!index.unique)),
                text(&index.name),
                uint(seq as u64 + 1),
                text(&column.name),
                word(if part.key.descending { "D" } else { "A" }),
                // Distinct prefixes are not counted: the table's rows bound them.
                uint(entries),
                if part.key.prefix > 0 { uint(part.key.prefix.into()) } else { Value::Null },
                Value::Null,
                word(if column.data_type.nullable { "YES" } else { "" }),
                word("BTREE"),
                word(""),
                text(&index.comment),
                word("YES"),
                Value::Null,
            ]);
        }
    }
    Ok(rows)
}

fn statistics(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in cx.all_tables() {
        for row in index_rows(cx, table)? {
            let mut row = row.into_iter();
            let unique = row.next().expect("the row begins with NON_UNIQUE");
            let mut full = vec![word("def"), text(&table.schema), text(&table.name), unique, text(&table.schema)];
            full.extend(row);
            out.push(full);
        }
    }
    Ok(())
}

fn key_column_usage(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in cx.all_tables() {
        for index in table.visible_indexes().filter(|i| i.unique) {
            for (seq, part) in index.parts.iter().enumerate() {
                let mut row = vec![word("def"), text(&table.schema), text(&index.name), word("def")];
                row.extend([text(&table.schema), text(&table.name), text(&table.columns[part.column].name)]);
                row.extend([uint(seq as u64 + 1), Value::Null, Value::Null, Value::Null, Value::Null]);
                out.push(row);
            }
        }
    }
    Ok(())
}

fn table_constraints(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in cx.all_tables() {
        for index in table.visible_indexes().filter(|i| i.unique) {
            let kind = word(if index.primary { "PRIMARY KEY" } else { "UNIQUE" });
            let mut row = vec![word("def"), text(&table.schema), text(&index.name)];
            row.extend([text(&table.schema), text(&table.name), kind, word("YES")]);
            out.push(row);
        }
    }
    Ok(())
}

pub(crate) fn engine_row() -> Row {
    let comment = "Transactions, row locks, multi-version reads";
    vec![word("InnoDB"), word("DEFAULT"), word(comment), word("YES"), word("NO"), word("YES")]
}

pub(crate) fn collation_rows() -> Vec<Row> {
    let mut list: Vec<_> = COLLATIONS.iter().collect();
    list.sort_by_key(|c| c.name);
    let row = |c: &&types::collation::CollationInfo| {
        let default = CollationId::default_of(c.charset) == c.id;
        let pad = match c.pad {
            PadAttribute::PadSpace => "PAD SPACE",
            PadAttribute::NoPad => "NO PAD",
        };
        vec![
            word(c.name),
            word(c.charset.name()),
            uint(c.id.0.into()),
            word(if default { "Yes" } else { "" }),
            word("Yes"),
            uint(1),
            word(pad),
        ]
    };
    list.iter().map(row).collect()
}

/// `full`: the whole text, else its first 100 characters.
pub(crate) fn process_row(p: crate::Process, full: bool) -> Row {
    let info = p.info.map(|text| if full { text } else { text.chars().take(100).collect() });
    vec![
        uint(p.id),
        text(p.user),
        text(p.host),
        maybe(p.database),
        word(p.command),
        Value::Int(p.time_s as i64),
        word(p.state),
        maybe(info),
    ]
}
