//! JSON_TABLE: from the tree to levels of paths and columns, which `run::json_table` makes rows of.

use crate::Planner;
use crate::column_type::column_type;
use crate::join_tree::{StarColumn, Tree};
use crate::names::{Source, SourceColumn};
use crate::node::json_table::{Column, JsonTable, Level, Response, What};
use crate::slots::slots_of;
use expr::document::parse_text;
use expr::error::unsupported;
use expr::functions::json::read_path;
use expr::{Expr, Node, Shape};
use sql::ast::{self, JsonColumn, JsonOnResponse};
use types::codes::*;
use types::json::path::Path;
use types::{DataType, Result, TypeKind, Value, err};

impl Planner<'_> {
    /// A source of rows that are made anew for each row of the tables before it. Errors 1060, 3141, 3143, ...
    pub(super) fn json_table(&mut self, table: &ast::JsonTable) -> Result<(Tree, Vec<StarColumn>)> {
        let doc = self.in_clause(table.doc, "a table function argument")?;
        if doc.has_aggregate() {
            return Err(err!(ER_INVALID_GROUP_FUNC_USE));
        }
        // What hangs from a row is looked at when the row comes.
        let is_document = doc.ty.kind == TypeKind::Json || doc.ty.kind.is_text() || is_null(&doc);
        if !is_document && doc.is_constant() {
            return Err(err!(ER_INVALID_TYPE_FOR_JSON, 1, "json_table"));
        }
        let mut columns = Vec::new();
        let top = self.level(table.path, &table.columns, &mut columns)?;
        let reads = slots_of(&self.queries.planned, &doc);
        let before = self.block().slots();
        let slot = self.block().shapes.len();
        self.block().shapes.push(Shape::Tuple(columns.len()));
        let alias = self.parsed.name(table.alias).to_string();
        let width = columns.len();
        let source =
            Source { lateral: Some(reads & before), is_query: true, ..Source::of_tuple(slot, &alias, columns) };
        let made = Box::new(JsonTable { slot, alias, doc, top, width });
        self.add_source(Source { json_table: Some(made), ..source })
    }

    /// The type of a column, which may be longer than one of a stored table.
    fn column_of_rows(&self, name: ast::Name, ty: &ast::CreateColumnType) -> Result<DataType> {
        use ast::BaseType::{NVarChar, VarBinary, VarChar};
        let length = ty.length.filter(|_| matches!(ty.base, VarChar | NVarChar | VarBinary));
        let shorter = ast::CreateColumnType { length: length.map_or(ty.length, |n| Some(n.min(1))), ..ty.clone() };
        let (data_type, _) =
            column_type(self.parsed, self.parsed.name(name), &shorter, self.settings.literal_collation, false)?;
        Ok(DataType { length: length.unwrap_or(data_type.length), ..data_type })
    }

    fn level(&mut self, path: ast::Str, list: &[JsonColumn], all: &mut Vec<SourceColumn>) -> Result<Level> {
        let mut level = Level { path: self.json_path(path)?, columns: Vec::new(), nested: Vec::new() };
        for column in list {
            match column {
                JsonColumn::Nested { path, columns } => level.nested.push(self.level(*path, columns, all)?),
                JsonColumn::Ordinality(name) => {
                    let data_type = DataType { length: 10, ..DataType::new(TypeKind::BigInt) };
                    level.columns.push(self.json_column(*name, data_type, What::Ordinality, all)?);
                }
                JsonColumn::Path { name, column_type: ty, exists, path, on_empty, on_error } => {
                    let data_type = self.column_of_rows(*name, ty)?;
                    if matches!(data_type.kind, TypeKind::Enum | TypeKind::Set) {
                        return Err(unsupported("ENUM and SET columns of JSON_TABLE"));
                    }
                    let path = self.json_path(*path)?;
                    let what = match exists {
                        true => What::Exists(path),
                        false => What::Value {
                            path,
                            on_empty: self.response(*on_empty)?,
                            on_error: self.response(*on_error)?,
                        },
                    };
                    level.columns.push(self.json_column(*name, data_type, what, all)?);
                }
            }
        }
        Ok(level)
    }

    fn json_column(
        &mut self,
        name: ast::Name,
        data_type: DataType,
        what: What,
        all: &mut Vec<SourceColumn>,
    ) -> Result<Column> {
        let name = self.parsed.name(name).to_string();
        if all.iter().any(|c| c.name.eq_ignore_ascii_case(&name)) {
            return Err(err!(ER_DUP_FIELDNAME, name));
        }
        let data_type = DataType { nullable: true, ..data_type };
        let at = all.len();
        all.push(SourceColumn {
            name: name.clone(),
            data_type,
            hidden: false,
            invisible: false,
            origin: None,
            members: None,
        });
        Ok(Column { at, name, data_type, what })
    }

    fn json_path(&self, path: ast::Str) -> Result<Path> {
        read_path(&String::from_utf8_lossy(self.parsed.bytes(path)))
    }

    /// DEFAULT is followed by JSON text.
    fn response(&mut self, response: JsonOnResponse) -> Result<Response> {
        Ok(match response {
            JsonOnResponse::Implicit | JsonOnResponse::Null => Response::Null,
            JsonOnResponse::Error => Response::Error,
            JsonOnResponse::Default(e) => match self.expr(e)?.node {
                Node::Const(Value::Bytes(text)) => Response::Default(parse_text(&text, 0, "JSON_TABLE")?),
                _ => return Err(err!(ER_WRONG_ARGUMENTS, "DEFAULT")),
            },
        })
    }
}

fn is_null(e: &Expr) -> bool {
    matches!(e.node, Node::Const(Value::Null) | Node::Param(_))
}
