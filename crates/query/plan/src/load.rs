//! LOAD DATA: an insertion whose rows are the lines of a file.

use super::Planner;
use super::dml::refuse_virtual;
use super::names::{Block, Source};
use super::node::file::FileFormat;
use super::node::{Assigned, Body, FieldTarget, FileSource, Insert, InsertSource};
use super::source::Through;
use catalog::Changes;
use expr::Shape;
use expr::error::{unknown_column, unsupported};
use sql::ast::{self, Expr as Ast, OnDuplicate};
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, Value, err};

/// The clauses as they are read. Error 1083.
pub fn file_format(parsed: &ast::Parsed, clauses: &ast::FileFormat) -> Result<FileFormat> {
    let plain = FileFormat::default();
    let bytes = |text: Option<ast::Str>, other: Vec<u8>| text.map_or(other, |t| parsed.bytes(t).to_vec());
    let one = |text: Option<ast::Str>, other: Option<u8>| match text.map(|t| parsed.bytes(t)) {
        None => Ok(other),
        Some([]) => Ok(None),
        Some([byte]) => Ok(Some(*byte)),
        Some(_) => Err(err!(ER_WRONG_FIELD_TERMINATORS)),
    };
    Ok(FileFormat {
        fields_terminated: bytes(clauses.fields_terminated, plain.fields_terminated),
        enclosed: one(clauses.enclosed, plain.enclosed)?,
        optionally_enclosed: clauses.optionally_enclosed,
        escaped: one(clauses.escaped, plain.escaped)?,
        lines_starting: bytes(clauses.lines_starting, plain.lines_starting),
        lines_terminated: bytes(clauses.lines_terminated, plain.lines_terminated),
    })
}

/// Bytes that a column takes in a line of fixed widths: as its values are shown at most, of a long text those that it may have.
fn width(t: &DataType) -> usize {
    let max_bytes = if t.kind.is_blob() { 1 } else { t.collation.charset().mbmaxlen() as u8 };
    t.display_bytes(max_bytes, false) as usize
}

fn target(table: &catalog::Table, column: usize) -> FieldTarget {
    match table.columns[column].generated {
        Some(_) => FieldTarget::Nowhere,
        None => FieldTarget::Column(column),
    }
}

impl Planner<'_> {
    /// The character set of a file: the one named, else the current schema's. Error 1115.
    fn file_charset(&self, name: Option<ast::Name>) -> Result<Charset> {
        let name = match name {
            Some(name) => self.parsed.name(name).to_string(),
            None => match self.env.system_variable(None, "character_set_database")?.0 {
                Value::Bytes(name) => String::from_utf8_lossy(&name).into_owned(),
                _ => "binary".to_string(),
            },
        };
        // All that there are can be cut at bytes.
        Charset::by_name(&name).ok_or_else(|| err!(ER_UNKNOWN_CHARACTER_SET, name))
    }

    /// Errors of INSERT, and 1083, 1115.
    pub(super) fn load(&mut self, load: &ast::LoadData) -> Result<Body> {
        let parsed = self.parsed;
        if load.xml {
            return Err(unsupported("LOAD XML"));
        }
        if !load.partitions.is_empty() {
            return Err(err!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
        }
        let replace = load.duplicates == OnDuplicate::Replace;
        let table = self.table(load.table, |t| {
            t.insert = true;
            t.delete |= replace;
        })?;
        refuse_virtual(&table, "INSERT, FILE", self.env)?;
        let name = parsed.name(load.table.name);
        let (table, source, star) = self
            .write_through(table, None, Through::Insert)?
            .ok_or_else(|| err!(ER_NON_UPDATABLE_TABLE, name, "LOAD"))?;
        let check = source.check.clone();
        let format = file_format(parsed, &load.format)?;
        let mut targets = Vec::with_capacity(load.targets.len());
        let mut widths = Vec::new();
        for id in &load.targets {
            targets.push(match &parsed[*id] {
                Ast::UserVar(_) if format.is_fixed() => return Err(err!(ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR)),
                Ast::UserVar(name) => FieldTarget::Variable(parsed.name(*name).to_string()),
                Ast::Column { column, .. } => {
                    let name = parsed.name(*column);
                    let column = source.find(name).ok_or_else(|| unknown_column(name, "field list"))?;
                    widths.push(width(&table.columns[column].data_type));
                    target(&table, column)
                }
                _ => unreachable!("the parser takes columns and variables only"),
            });
        }
        if targets.is_empty() {
            targets.extend(star.iter().map(|c| target(&table, *c)));
            widths.extend(star.iter().map(|c| width(&table.columns[*c].data_type)));
        }
        if !format.is_fixed() {
            widths.clear();
        }
        let named = source.named.expect("it is a table's");
        let listed: Vec<usize> = targets
            .iter()
            .filter_map(|t| match t {
                FieldTarget::Column(c) => Some(*c),
                FieldTarget::Variable(_) | FieldTarget::Nowhere => None,
            })
            .collect();
        let uses = &mut self.table_use(named).columns;
        uses.insert.extend(Self::written_names(&source, &listed));
        let visible = source.filter.clone().filter(|_| replace);
        let charset = self.file_charset(load.charset)?;
        let data_type = match charset {
            Charset::Binary => DataType::string(TypeKind::LongBlob, u32::MAX, CollationId::BINARY),
            other => DataType::string(TypeKind::LongText, u32::MAX, CollationId::default_of(other)),
        };
        self.parameters.variables.extend(targets.iter().filter_map(|t| match t {
            FieldTarget::Variable(name) => Some((expr::variable::key(name).into_owned(), data_type)),
            FieldTarget::Column(_) | FieldTarget::Nowhere => None,
        }));
        let mut block = Block::default();
        block.sources.push(source.row_of(0, &table));
        self.scope.blocks.push(block);
        let set = self.loaded_assignments(&load.set, &source);
        self.scope.blocks.pop();
        let mut set = set?;
        let assigned: Vec<usize> = set.iter().map(|(c, _)| *c).collect();
        self.table_use(named).columns.insert.extend(Self::written_names(&source, &assigned));
        set.retain(|(c, _)| table.columns[*c].generated.is_none());
        let mut columns: Vec<usize> = set.iter().map(|(c, _)| *c).collect();
        columns.extend(targets.iter().filter_map(|t| match t {
            FieldTarget::Column(c) => Some(*c),
            FieldTarget::Variable(_) | FieldTarget::Nowhere => None,
        }));
        columns.sort_unstable();
        columns.dedup();
        let shapes = vec![Shape::Row(table.clone()), Shape::Row(table.clone())];
        let rules = self.rules(&table, Changes { delete: replace, ..Changes::INSERT }, check)?;
        // A file of the client's is not refused in the middle of its transfer.
        let ignore = load.duplicates == OnDuplicate::Ignore || (load.local && !replace);
        let ignore_lines = load.ignore_lines;
        let source = FileSource { format, charset, data_type, ignore_lines, targets, widths, set };
        Ok(Body::Insert(Box::new(Insert {
            table,
            view: None,
            visible,
            replace,
            ignore,
            columns,
            source: InsertSource::File(Box::new(source)),
            on_duplicate: Vec::new(),
            reads_row: false,
            buffered: false,
            kept: false,
            shapes,
            rules,
        })))
    }

    fn loaded_assignments(&mut self, list: &[ast::Assignment], into: &Source) -> Result<Vec<(usize, Assigned)>> {
        let mut out = Vec::with_capacity(list.len());
        for a in list {
            let Ast::Column { column, .. } = self.parsed[a.column] else {
                unreachable!("the parser takes columns only")
            };
            let name = self.parsed.name(column);
            let at = into.find(name).ok_or_else(|| unknown_column(name, "field list"))?;
            let value = match self.parsed[a.value] {
                Ast::DefaultValue => Assigned::Default,
                _ => Assigned::Value(self.plain(a.value)?),
            };
            out.push((at, value));
        }
        Ok(out)
    }
}
