//! information_schema: the dictionary as tables. Names and types of the columns of every table stand in
//! `information_schema.txt`; here is how rows are computed. A table without a function here is of something that the server
//! does not have: well-formed and empty.

use crate::columns::Compute::{All, ByPart, ByTable};
use crate::columns::{Compute, INFORMATION_SCHEMA};
use crate::ddl_text::{column_type, default_text, escaped, type_name};
use crate::figures::{process_row, row_format, type_figures};
use crate::grants;
use crate::{
    Context, Row, datetime, innodb, innodb_figures, innodb_files, innodb_statistics, maybe, text, uint, view_check,
    word,
};
use catalog::{
    CheckOption, Column, ColumnDefault, ForeignKey, Index, IndexAlgorithm, MYSQL, PartKind, Schema, StorageEngine,
    Table, parent_index,
};
use engine::{Cursor, Direction, Isolation, Range, Read, Transaction};
use std::ops::Bound;
use std::sync::Arc;
use types::charset::Charset;
use types::collation::{COLLATIONS, CollationId, PadAttribute};
use types::{Result, TypeKind, Value};

/// Rows by table.
const COMPUTED: &[(&str, Compute)] = &[
    ("ADMINISTRABLE_ROLE_AUTHORIZATIONS", All(grants::administrable_roles)),
    ("APPLICABLE_ROLES", All(grants::applicable_roles)),
    ("CHARACTER_SETS", All(character_sets)),
    ("CHECK_CONSTRAINTS", ByPart(PartKind::Check, check_constraints)),
    ("COLLATIONS", All(collations)),
    ("COLLATION_CHARACTER_SET_APPLICABILITY", All(collation_charsets)),
    ("COLUMNS", ByTable(columns)),
    ("COLUMNS_EXTENSIONS", ByTable(columns_extensions)),
    ("COLUMN_PRIVILEGES", All(grants::column_privileges)),
    ("CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS", All(crate::hosts::failed_login_attempts)),
    ("ENABLED_ROLES", All(grants::enabled_roles)),
    ("ENGINES", All(engines)),
    ("FILES", All(innodb_files::files)),
    ("INNODB_BUFFER_PAGE", All(innodb_files::buffer_page)),
    ("INNODB_BUFFER_PAGE_LRU", All(innodb_files::buffer_page_lru)),
    ("INNODB_BUFFER_POOL_STATS", All(innodb_figures::buffer_pool)),
    ("INNODB_CACHED_INDEXES", All(innodb_files::cached_indexes)),
    ("INNODB_CMP", All(innodb_figures::compression)),
    ("INNODB_CMPMEM", All(innodb_figures::compression)),
    ("INNODB_CMPMEM_RESET", All(innodb_figures::compression)),
    ("INNODB_CMP_RESET", All(innodb_figures::compression)),
    ("INNODB_COLUMNS", All(innodb::columns)),
    ("INNODB_DATAFILES", All(innodb_files::datafiles)),
    ("INNODB_FIELDS", All(innodb::fields)),
    ("INNODB_FOREIGN", All(innodb::foreign)),
    ("INNODB_FOREIGN_COLS", All(innodb::foreign_columns)),
    ("INNODB_INDEXES", All(innodb::indexes)),
    ("OPTIMIZER_TRACE", All(optimizer_trace)),
    ("PROFILING", All(crate::profile::profiling)),
    ("INNODB_METRICS", All(crate::monitor::metrics::rows)),
    ("INNODB_TABLES", ByTable(innodb::tables)),
    ("INNODB_TABLESPACES", All(innodb_files::tablespaces)),
    ("INNODB_TABLESPACES_BRIEF", All(innodb_files::tablespaces_brief)),
    ("INNODB_TABLESTATS", ByTable(innodb::table_statistics)),
    ("INNODB_TEMP_TABLE_INFO", All(innodb_files::temporary_tables)),
    ("INNODB_TRX", All(crate::locks::innodb_trx)),
    ("INNODB_VIRTUAL", All(innodb::virtual_columns)),
    ("KEYWORDS", All(keywords)),
    ("KEY_COLUMN_USAGE", ByTable(key_column_usage)),
    ("EVENTS", All(crate::events::events)),
    ("PARAMETERS", All(crate::routines::parameters)),
    ("PARTITIONS", ByTable(partitions)),
    ("PLUGINS", All(crate::plugins::plugins)),
    ("PROCESSLIST", All(processlist)),
    ("REFERENTIAL_CONSTRAINTS", ByPart(PartKind::ForeignKey, referential_constraints)),
    ("RESOURCE_GROUPS", All(crate::threads::resource_groups)),
    ("ROLE_COLUMN_GRANTS", All(grants::role_column_grants)),
    ("ROLE_TABLE_GRANTS", All(grants::role_table_grants)),
    ("ROUTINES", All(crate::routines::routines)),
    ("TRIGGERS", ByPart(PartKind::Trigger, crate::triggers::triggers)),
    ("SCHEMATA", All(schemata)),
    ("SCHEMATA_EXTENSIONS", All(schemata_extensions)),
    ("SCHEMA_PRIVILEGES", All(grants::schema_privileges)),
    ("STATISTICS", ByTable(statistics)),
    ("COLUMN_STATISTICS", ByTable(column_statistics)),
    ("TABLES", ByTable(tables)),
    ("TABLESPACES_EXTENSIONS", All(innodb_files::tablespaces_extensions)),
    ("TABLES_EXTENSIONS", ByTable(tables_extensions)),
    ("TABLE_CONSTRAINTS", ByTable(table_constraints)),
    ("TABLE_CONSTRAINTS_EXTENSIONS", ByTable(table_constraints_extensions)),
    ("TABLE_PRIVILEGES", All(grants::table_privileges)),
    ("USER_ATTRIBUTES", All(grants::user_attributes)),
    ("USER_PRIVILEGES", All(grants::user_privileges)),
    ("VIEWS", ByTable(views)),
    ("VIEW_ROUTINE_USAGE", All(view_routine_usage)),
    ("VIEW_TABLE_USAGE", All(view_table_usage)),
];

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("information_schema", CollationId::UTF8MB3_GENERAL_CI);
    INFORMATION_SCHEMA.add_to(&mut schema, COMPUTED);
    schema
}

fn yes_no(b: bool) -> Value<'static> {
    word(if b { "YES" } else { "NO" })
}

fn schemata(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.schemas().map(|s| {
        let collation = s.default_collation;
        let charset = word(collation.charset().name());
        vec![word("def"), text(&s.name), charset, word(collation.info().name), Value::Null, yes_no(s.encrypts)]
    }));
    Ok(())
}

fn schemata_extensions(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let options = |read_only| word(if read_only { "READ ONLY=1" } else { "" });
    out.extend(cx.schemas().map(|s| vec![word("def"), text(&s.name), options(s.read_only)]));
    Ok(())
}

/// The columns from ENGINE to TABLE_COMMENT, which SHOW TABLE STATUS prints too.
pub(crate) fn table_status(cx: &Context, table: &Table) -> Result<Row> {
    if table.view.is_some() {
        let mut row: Row = (0..9).map(|_| Value::Null).collect();
        row.extend([Value::Null, datetime(table.created), Value::Null, Value::Null, Value::Null, Value::Null]);
        let comment = crate::invalid_view(&cx.version, table).map_or(word("VIEW"), |e| text(e.message));
        row.extend([Value::Null, comment]);
        return Ok(row);
    }
    let collation = word(table.default_collation.info().name);
    if table.is_virtual() {
        let (engine, format) = match is_of_instruments(table) {
            true => (word(PERFORMANCE_SCHEMA_ENGINE), word(instruments_format(table))),
            false if is_of_mysql(table) => (word("InnoDB"), word("Dynamic")),
            false => (Value::Null, Value::Null),
        };
        let mut row = vec![engine, Value::Int(10), format];
        row.extend((0..6).map(|_| uint(0)));
        row.extend([Value::Null, Value::Null, Value::Null, Value::Null, collation, Value::Null, word(""), word("")]);
        return Ok(row);
    }
    let rows = row_count(cx, table)?;
    let bytes = |index: &Index| cx.engine.tree_space(index.tree).used_bytes;
    let data_bytes = bytes(&table.indexes[0]);
    let index_bytes = table.indexes[1..].iter().map(bytes).sum();
    // As in MySQL, of a table in a tablespace that it shares with others: what is free for all of them.
    let free_bytes = match table.engine {
        StorageEngine::InnoDb => cx.engine.data_file().map_err(catalog::error::from_engine)?.free_bytes,
        _ => 0,
    };
    let next =
        table.auto_increment.as_ref().map(|c| c.next(&cx.engine)).transpose().map_err(catalog::error::from_engine)?;
    Ok(vec![
        word(table.engine.name()),
        Value::Int(10),
        word(row_format(table)),
        uint(rows),
        uint(data_bytes.checked_div(rows).unwrap_or(0)),
        uint(data_bytes),
        uint(0),
        uint(index_bytes),
        uint(free_bytes),
        next.map_or(Value::Null, uint),
        datetime(table.created),
        Value::Null,
        Value::Null,
        collation,
        Value::Null,
        text(table.create_options.listed()),
        text(&table.comment),
    ])
}

/// The rows of a table: of one that is not transactional their exact number, unless it has too many to count, else an estimate.
fn row_count(cx: &Context, table: &Table) -> Result<u64> {
    const COUNTED_MAX: u64 = 100_000;
    let tree = table.indexes[0].tree;
    let count = || -> engine::Result<u64> {
        let (estimate, _) = cx.engine.estimate(tree)?;
        if table.engine.is_transactional() || estimate > COUNTED_MAX {
            return Ok(estimate);
        }
        let mut tx = Transaction::new(&cx.engine)?;
        tx.begin(Isolation::ReadCommitted, true);
        let all = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
        let mut rows = Cursor::new(tree, all, Direction::Forward, Read::Consistent, 0);
        let mut count = 0;
        while rows.next(&mut tx)?.is_some() {
            count += 1;
        }
        tx.rollback()?;
        Ok(count)
    };
    count().map_err(catalog::error::from_engine)
}

/// The name of the engine of performance_schema.
pub(crate) const PERFORMANCE_SCHEMA_ENGINE: &str = "PERFORMANCE_SCHEMA";

/// Is it one of performance_schema's tables?
pub(crate) fn is_of_instruments(table: &Table) -> bool {
    table.is_virtual() && table.schema == "performance_schema"
}

/// Is it one of the computed tables of `mysql`? They are told of as tables, so that tools dump them.
fn is_of_mysql(table: &Table) -> bool {
    table.is_virtual() && table.schema == MYSQL
}

/// ROW_FORMAT of a table of performance_schema: the rows of one without texts of any length are all as long.
fn instruments_format(table: &Table) -> &'static str {
    let varies = |c: &Column| {
        let kind = c.data_type.kind;
        matches!(kind, TypeKind::VarChar | TypeKind::VarBinary | TypeKind::Json) || kind.is_blob()
    };
    if table.columns.iter().any(varies) { "Dynamic" } else { "Fixed" }
}

pub(crate) fn table_type(table: &Table) -> &'static str {
    if table.is_virtual() && !is_of_instruments(table) && !is_of_mysql(table) {
        "SYSTEM VIEW"
    } else if table.view.is_some() {
        "VIEW"
    } else {
        "BASE TABLE"
    }
}

fn tables(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    let mut row = vec![word("def"), text(&table.schema), text(&table.name), word(table_type(table))];
    row.extend(table_status(cx, table)?);
    out.push(row);
    Ok(())
}

fn tables_extensions(_: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    out.push(vec![word("def"), text(&table.schema), text(&table.name), Value::Null, Value::Null]);
    Ok(())
}

fn columns_extensions(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    if crate::invalid_view(&cx.version, table).is_some() {
        return Ok(());
    }
    let t = table;
    let row = |c: &Column| vec![word("def"), text(&t.schema), text(&t.name), text(&c.name), Value::Null, Value::Null];
    let known = |c: &&Column| !(cx.viewer.column_privileges)(&t.schema, &t.name, &c.name).is_empty();
    out.extend(t.named_columns().filter(known).map(row));
    Ok(())
}

/// One row for a table that is not divided.
fn partitions(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    let mut row = vec![word("def"), text(&table.schema), text(&table.name)];
    row.extend((0..9).map(|_| Value::Null));
    // TABLE_ROWS to DATA_FREE, 0 of views; then the times and the checksum.
    let status = table_status(cx, table)?;
    row.extend(status[3..9].iter().map(|v| if v.is_null() { uint(0) } else { v.clone() }));
    row.extend([status[10].clone(), status[11].clone(), status[12].clone(), Value::Null]);
    row.extend([word(""), Value::Null, Value::Null]);
    out.push(row);
    Ok(())
}

/// PRI, UNI, MUL or nothing.
pub(crate) fn column_key(table: &Table, column: usize) -> &'static str {
    let leads =
        |unique: bool| table.named_indexes().any(|i| i.parts[0].column == column && i.unique == unique && !i.primary);
    let alone = table.named_indexes().any(|i| i.unique && i.parts.len() == 1 && i.parts[0].column == column);
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
    if matches!(column.default, ColumnDefault::Now | ColumnDefault::Expression(_)) {
        words.push("DEFAULT_GENERATED".to_string());
    }
    if column.on_update_now {
        words.push(format!("on update {}", crate::ddl_text::now_text(&column.data_type)));
    }
    if let Some(g) = &column.generated {
        words.push(if g.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_string());
    }
    if column.invisible {
        words.push("INVISIBLE".to_string());
    }
    words.join(" ")
}

fn columns(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    if crate::invalid_view(&cx.version, table).is_some() {
        return Ok(());
    }
    for (position, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.hidden) {
        let privileges = (cx.viewer.column_privileges)(&table.schema, &table.name, &column.name);
        if privileges.is_empty() {
            continue;
        }
        let t = &column.data_type;
        let [chars, bytes, precision, scale, digits, charset, collation] = type_figures(t);
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
            text(privileges),
            text(&column.comment),
            text(column.generated.as_ref().map_or(String::new(), |g| escaped(&g.expression))),
            Value::Null,
        ]);
    }
    Ok(())
}

/// (NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, CARDINALITY, SUB_PART, PACKED, NULLABLE, INDEX_TYPE,
/// COMMENT, INDEX_COMMENT, IS_VISIBLE, EXPRESSION) of each part of each index.
pub(crate) fn index_rows(cx: &Context, table: &Table) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if table.view.is_some() {
        return Ok(rows);
    }
    // MySQL tells of its tables' keys, and counts nothing.
    let of_instruments = is_of_instruments(table);
    let cardinalities = innodb_statistics::cardinalities(cx, table)?;
    for (index, different) in table.indexes.iter().zip(cardinalities).filter(|(i, _)| !i.is_hidden()) {
        let algorithm = index.algorithm.unwrap_or(match table.engine {
            _ if of_instruments => IndexAlgorithm::Hash,
            StorageEngine::Memory => IndexAlgorithm::Hash,
            StorageEngine::InnoDb | StorageEngine::MyIsam => IndexAlgorithm::BTree,
        });
        for (seq, part) in index.parts.iter().enumerate() {
            let column = &table.columns[part.column];
            rows.push(vec![
                Value::Int(i64::from(!index.unique)),
                text(&index.name),
                uint(seq as u64 + 1),
                if column.hidden { Value::Null } else { text(&column.name) },
                match algorithm {
                    IndexAlgorithm::Hash => Value::Null,
                    IndexAlgorithm::BTree => word(if part.key.descending { "D" } else { "A" }),
                },
                if of_instruments { Value::Null } else { uint(different[seq]) },
                if part.key.prefix > 0 { uint(part.key.prefix.into()) } else { Value::Null },
                Value::Null,
                word(if column.data_type.nullable { "YES" } else { "" }),
                word(algorithm.name()),
                word(""),
                text(&index.comment),
                word(if index.invisible { "NO" } else { "YES" }),
                maybe(column.index_expression().map(escaped)),
            ]);
        }
    }
    Ok(rows)
}

fn statistics(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    for row in index_rows(cx, table)? {
        let mut row = row.into_iter();
        let unique = row.next().expect("the row begins with NON_UNIQUE");
        let mut full = vec![word("def"), text(&table.schema), text(&table.name), unique, text(&table.schema)];
        full.extend(row);
        out.push(full);
    }
    Ok(())
}

/// Histograms.
fn column_statistics(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    for column in &table.columns {
        let Some(histogram) = &column.histogram else { continue };
        if (cx.viewer.column_privileges)(&table.schema, &table.name, &column.name).is_empty() {
            continue;
        }
        let document = Value::from_json(&histogram.document());
        out.push(vec![text(&table.schema), text(&table.name), text(&column.name), document]);
    }
    Ok(())
}

/// Primary and unique keys.
fn unique_keys(table: &Table) -> impl Iterator<Item = &Index> {
    table.named_indexes().filter(|i| i.unique)
}

fn key_column_usage(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    let start = |name: &str, column: &Column, seq: usize| {
        let mut row = vec![word("def"), text(&table.schema), text(name), word("def")];
        row.extend([text(&table.schema), text(&table.name), text(&column.name), uint(seq as u64 + 1)]);
        row
    };
    let seen = |column: usize| {
        let column = &table.columns[column];
        !column.hidden && !(cx.viewer.column_privileges)(&table.schema, &table.name, &column.name).is_empty()
    };
    for index in unique_keys(table) {
        for (seq, part) in index.parts.iter().enumerate().filter(|(_, p)| seen(p.column)) {
            let mut row = start(&index.name, &table.columns[part.column], seq);
            row.extend([Value::Null, Value::Null, Value::Null, Value::Null]);
            out.push(row);
        }
    }
    for key in &table.foreign_keys {
        for (seq, (column, parent)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
            if !seen(*column) {
                continue;
            }
            let mut row = start(&key.name, &table.columns[*column], seq);
            row.extend([uint(seq as u64 + 1), text(&key.parent.0), text(&key.parent.1), text(parent)]);
            out.push(row);
        }
    }
    Ok(())
}

/// Name, type and enforcement of each constraint.
fn constraints(table: &Table) -> Vec<(&str, &'static str, bool)> {
    let key = |i: &Index| if i.primary { "PRIMARY KEY" } else { "UNIQUE" };
    let mut list: Vec<_> = unique_keys(table).map(|i| (i.name.as_str(), key(i), true)).collect();
    list.extend(table.foreign_keys.iter().map(|k| (k.name.as_str(), "FOREIGN KEY", true)));
    list.extend(table.checks.iter().map(|c| (c.name.as_str(), "CHECK", c.enforced)));
    list
}

fn table_constraints(_: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    for (name, kind, enforced) in constraints(table) {
        let mut row = vec![word("def"), text(&table.schema), text(name)];
        row.extend([text(&table.schema), text(&table.name), word(kind), yes_no(enforced)]);
        out.push(row);
    }
    Ok(())
}

fn table_constraints_extensions(_: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    for index in unique_keys(table) {
        let mut row = vec![word("def"), text(&table.schema), text(&index.name), text(&table.name)];
        row.extend([Value::Null, Value::Null]);
        out.push(row);
    }
    Ok(())
}

fn check_constraints(_: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    out.extend(
        table
            .checks
            .iter()
            .map(|c| vec![word("def"), text(&table.schema), text(&c.name), text(escaped(&c.expression))]),
    );
    Ok(())
}

/// The parent's unique index that a foreign key leads to.
fn referenced_index<'t>(cx: &'t Context, key: &ForeignKey) -> Option<&'t str> {
    let parent = cx.version.table(&key.parent.0, &key.parent.1)?;
    let found = parent_index(&parent.columns, &parent.indexes, &key.parent_columns)?;
    Some(parent.indexes[found].name.as_str())
}

fn referential_constraints(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    for key in &table.foreign_keys {
        let mut row = vec![word("def"), text(&table.schema), text(&key.name), word("def"), text(&key.parent.0)];
        row.extend([maybe(referenced_index(cx, key).map(str::to_string)), word("NONE")]);
        row.extend([word(key.on_update.words()), word(key.on_delete.words())]);
        row.extend([text(&table.name), text(&key.parent.1)]);
        out.push(row);
    }
    Ok(())
}

fn views(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    let Some(view) = &table.view else { return Ok(()) };
    let check = match view.check_option {
        CheckOption::None => "NONE",
        CheckOption::Local => "LOCAL",
        CheckOption::Cascaded => "CASCADED",
    };
    out.push(vec![
        word("def"),
        text(&table.schema),
        text(&table.name),
        // Its text is for the definer, and for who has SHOW VIEW.
        text(if cx.shows_text(&table.schema, &table.name, view) { &view.query } else { "" }),
        word(check),
        yes_no(view.updatable),
        text(&view.definer),
        word(if view.invoker { "INVOKER" } else { "DEFINER" }),
        text(&view.client_charset),
        text(&view.connection_collation),
    ]);
    Ok(())
}

fn view_table_usage(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for view in cx.version.schemas.values().flat_map(|s| s.tables.values()) {
        // What a view is made of is told to whom its text is.
        if view.view.as_ref().is_none_or(|v| !cx.shows_text(&view.schema, &view.name, v)) {
            continue;
        }
        for (schema, name) in view_check::tables_of(view) {
            let Some(read) = cx.version.table(&schema, &name) else { continue };
            if (cx.viewer.visible)(&read.schema, &read.name) {
                let row = |t: &Table| [word("def"), text(&t.schema), text(&t.name)];
                out.push([row(view), row(read)].concat());
            }
        }
    }
    Ok(())
}

fn view_routine_usage(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for view in cx.version.schemas.values().flat_map(|s| s.tables.values()) {
        if view.view.as_ref().is_none_or(|v| !cx.shows_text(&view.schema, &view.name, v)) {
            continue;
        }
        for (schema, name) in view_check::routines_of(&cx.version, view) {
            let row = [word("def"), text(&view.schema), text(&view.name), word("def"), text(&schema), text(&name)];
            out.push(row.into());
        }
    }
    Ok(())
}

fn optimizer_trace(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.traces.iter().map(|(query, document, missing)| {
        let missing = Value::Int(i64::try_from(*missing).unwrap_or(i64::MAX));
        vec![text(query), text(document), missing, Value::Int(0)]
    }));
    Ok(())
}

fn keywords(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    let mut list: Vec<_> = sql::keywords::all().collect();
    list.sort_unstable();
    out.extend(list.into_iter().map(|(name, reserved)| vec![word(name), Value::Int(reserved.into())]));
    Ok(())
}

fn engines(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(engine_rows(cx));
    Ok(())
}

fn character_sets(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(Charset::ALL.into_iter().map(|c| {
        let collation = CollationId::default_of(c).info().name;
        vec![word(c.name()), word(collation), word(c.description()), uint(c.mbmaxlen().into())]
    }));
    Ok(())
}

fn collations(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(collation_rows());
    Ok(())
}

fn collation_charsets(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(COLLATIONS.iter().map(|c| vec![word(c.name), word(c.charset.name())]));
    Ok(())
}

fn processlist(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    cx.source.monitor().note_processlist();
    out.extend(cx.processes().into_iter().map(|p| process_row(p, true)));
    Ok(())
}

/// What there is for tables, and which of it a definition gets that names none.
pub(crate) fn engine_rows(cx: &Context) -> Vec<Row> {
    let engines = [
        (StorageEngine::Memory, "No transactions, rows are gone when the server stops"),
        (StorageEngine::InnoDb, "Supports transactions, row-level locking, and foreign keys"),
        (StorageEngine::MyIsam, "No transactions, rows are logged and recovered as those of InnoDB"),
    ];
    let row = |(engine, comment): (StorageEngine, _)| {
        let support = word(if cx.default_storage_engine == engine.name() { "DEFAULT" } else { "YES" });
        let transactions = word(if engine.is_transactional() { "YES" } else { "NO" });
        // Changes of tables that are not transactional are no part of an XA transaction.
        vec![word(engine.name()), support, word(comment), transactions.clone(), transactions.clone(), transactions]
    };
    engines.map(row).to_vec()
}

pub(crate) fn collation_rows() -> Vec<Row> {
    let mut list: Vec<_> = COLLATIONS.iter().collect();
    list.sort_by(|a, b| CollationId::UTF8MB3_GENERAL_CI.compare(a.name.as_bytes(), b.name.as_bytes()));
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
            uint(c.sortlen.into()),
            word(pad),
        ]
    };
    list.iter().map(row).collect()
}
