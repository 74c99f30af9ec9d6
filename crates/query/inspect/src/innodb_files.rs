//! information_schema.INNODB_TABLESPACES and FILES and their like, and the pages of the buffer pool: one tablespace, the system's,
//! in one file, holds all tables and all undo; temporary tables lie in it too, and no session has a file of its own.

use crate::{Context, Row, locks, text, uint, word};
use engine::{BufferPage, PageType};
use std::collections::{BTreeMap, HashMap};
use types::{Result, Value};

const SPACE: u64 = 0;
const NAME: &str = "innodb_system";
/// In InnoDB's flags of a tablespace: shared by many tables.
const SHARED: u64 = 1 << 11;
/// Bytes that the file is written in at least.
const BLOCK_BYTES: u64 = 4096;
const EXTENT_BYTES: u64 = 1 << 20;

pub(crate) fn tablespaces(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let file = cx.engine.data_file().map_err(catalog::error::from_engine)?;
    out.push(vec![
        uint(SPACE),
        word(NAME),
        uint(SHARED),
        word("Any"),
        uint(file.page_bytes),
        uint(0),
        word("System"),
        uint(BLOCK_BYTES),
        uint(file.bytes),
        uint(file.allocated_bytes),
        uint(0),
        text(cx.server_version.clone()),
        uint(1),
        word("N"),
        word("normal"),
    ]);
    Ok(())
}

pub(crate) fn tablespaces_brief(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    let space = text(SPACE.to_string());
    out.push(vec![space, word(NAME), word(engine::DATA_FILE), text(SHARED.to_string()), word("System")]);
    Ok(())
}

pub(crate) fn datafiles(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.push(vec![text(SPACE.to_string()), word(engine::DATA_FILE)]);
    Ok(())
}

pub(crate) fn tablespaces_extensions(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.push(vec![word(NAME), Value::Null]);
    Ok(())
}

pub(crate) fn files(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let file = cx.engine.data_file().map_err(catalog::error::from_engine)?;
    let mut row = vec![uint(SPACE), text(format!("./{}", file.name)), word("TABLESPACE"), word(NAME), word("")];
    row.extend([Value::Null, Value::Null, Value::Null, Value::Null, word("InnoDB")]);
    row.extend([Value::Null, Value::Null, Value::Null]);
    row.extend([uint(file.free_bytes / EXTENT_BYTES), uint(file.bytes / EXTENT_BYTES), uint(EXTENT_BYTES)]);
    // It grows by steps that depend on its size.
    row.extend([uint(file.initial_bytes), Value::Null, Value::Null]);
    row.extend((0..12).map(|_| Value::Null));
    row.push(uint(file.free_bytes));
    row.extend((0..4).map(|_| Value::Null));
    row.extend([word("NORMAL"), Value::Null]);
    out.push(row);
    Ok(())
}

/// Clearway's log is one stream in files of one size; nobody but recovery and the binary log's writer reads it.
pub(crate) fn redo_log_files(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.engine.log_files().into_iter().map(|file| {
        vec![
            uint(file.number),
            text(file.path.to_string_lossy()),
            uint(file.lsns.start),
            uint(file.lsns.end),
            uint(file.bytes),
            uint(file.is_full.into()),
            uint(0),
        ]
    }));
    Ok(())
}

/// The session's own temporary tables: only sessions know of theirs.
pub(crate) fn temporary_tables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for table in cx.version.temporary_tables() {
        let columns = table.columns.iter().filter(|c| !c.is_row_id()).count() + crate::innodb::SYSTEM_COLUMNS;
        out.push(vec![uint(table.id), text(&table.name), uint(columns as u64), uint(SPACE)]);
    }
    Ok(())
}

fn is_of_tree(page: &BufferPage) -> Option<u32> {
    page.content.and_then(|c| c.node).map(|(tree, _, _)| tree)
}

pub(crate) fn cached_indexes(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let mut pages: BTreeMap<u32, u64> = BTreeMap::new();
    for tree in cx.engine.buffer_pages().filter_map(|page| is_of_tree(&page)) {
        *pages.entry(tree).or_default() += 1;
    }
    out.extend(pages.into_iter().map(|(tree, pages)| vec![uint(SPACE), uint(tree.into()), uint(pages)]));
    Ok(())
}

/// A page's type in the words of InnoDB.
fn page_type(page: &BufferPage) -> &'static str {
    match page.content.and_then(|c| c.kind) {
        None => "UNKNOWN",
        Some(PageType::Super) => "FILE_SPACE_HEADER",
        Some(PageType::Map) => "EXTENT_DESCRIPTOR",
        Some(PageType::Leaf | PageType::Inner) => "INDEX",
        Some(PageType::UndoSegment) => "RSEG_ARRAY",
        Some(PageType::Undo) => "UNDO_LOG",
        Some(PageType::Overflow) => "BLOB",
        Some(PageType::Free) => "ALLOCATED",
    }
}

/// The columns from SPACE to COMPRESSED_SIZE, the same in both tables of pages. Readers pin no page, nothing is hashed or compressed,
/// and the time of the first access is not kept.
fn page_columns(page: &BufferPage, trees: &HashMap<u32, (String, String)>) -> Row {
    let newest = page.content.map_or(0, |c| c.lsn);
    let (_, records, bytes) = page.content.and_then(|c| c.node).unwrap_or_default();
    let name = is_of_tree(page).and_then(|tree| trees.get(&tree));
    vec![
        uint(SPACE),
        uint(page.page),
        word(page_type(page)),
        uint(0),
        uint(0),
        word("NO"),
        uint(newest),
        uint(page.dirty_since),
        uint(0),
        name.map_or(Value::Null, |(table, _)| text(table)),
        name.map_or(Value::Null, |(_, index)| text(index)),
        uint(records),
        uint(bytes),
        uint(0),
    ]
}

fn io_fix(page: &BufferPage) -> Value<'static> {
    word(if page.in_flight { "IO_WRITE" } else { "IO_NONE" })
}

/// By tree: `schema`.`table`, and the index.
fn names_of_trees(cx: &Context) -> HashMap<u32, (String, String)> {
    let trees = locks::trees(&cx.version).into_iter();
    let name = |s: &str| sql::print::quote_name(s);
    trees
        .map(|(tree, (schema, table, index))| {
            (tree, (format!("{}.{}", name(&schema), name(&table.name)), table.indexes[index].name.clone()))
        })
        .collect()
}

pub(crate) fn buffer_page(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let trees = names_of_trees(cx);
    out.extend(cx.engine.buffer_pages().map(|page| {
        let mut row = vec![uint(0), uint(page.frame)];
        row.extend(page_columns(&page, &trees));
        row.extend([word("FILE_PAGE"), io_fix(&page), word("NO"), uint(0), word("NO")]);
        row
    }));
    Ok(())
}

/// There is no list by age: a clock passes all pages, and the positions are those in which it will come to them.
pub(crate) fn buffer_page_lru(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let trees = names_of_trees(cx);
    out.extend(cx.engine.buffer_pages().enumerate().map(|(position, page)| {
        let mut row = vec![uint(0), uint(position as u64)];
        row.extend(page_columns(&page, &trees));
        row.extend([word("NO"), io_fix(&page), word("NO"), uint(0)]);
        row
    }));
    Ok(())
}
