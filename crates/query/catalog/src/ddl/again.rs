//! From a table back to its definition.

use crate::define::{CheckSpec, ForeignKeySpec, KeyKind, KeyPartSpec, KeySpec, TableSpec};
use crate::index::Index;
use crate::table::{Check, ForeignKey, Table};

/// The definition that would make this table again: for LIKE and ALTER.
pub fn spec_of(table: &Table) -> TableSpec {
    TableSpec {
        schema: table.schema.clone(),
        name: table.name.clone(),
        columns: table.columns.iter().filter(|c| !c.is_row_id()).cloned().collect(),
        keys: table.named_indexes().map(key_of(table)).collect(),
        checks: table.checks.iter().map(check_of).collect(),
        foreign_keys: table.foreign_keys.iter().map(foreign_key_of(table)).collect(),
        default_collation: table.default_collation,
        comment: table.comment.clone(),
        engine: table.engine,
        create_options: table.create_options.clone(),
        auto_increment: None,
    }
}

pub(super) fn key_of(table: &Table) -> impl Fn(&Index) -> KeySpec {
    |index| KeySpec {
        kind: match (index.primary, index.unique) {
            (true, _) => KeyKind::Primary,
            (false, true) => KeyKind::Unique,
            (false, false) => KeyKind::Plain,
        },
        name: Some(index.name.clone()),
        parts: index
            .parts
            .iter()
            .map(|p| KeyPartSpec {
                column: table.columns[p.column].name.clone(),
                prefix: p.key.prefix,
                descending: p.key.descending,
            })
            .collect(),
        invisible: index.invisible,
        for_foreign_key: index.for_foreign_key,
        algorithm: index.algorithm,
        comment: index.comment.clone(),
    }
}

fn check_of(check: &Check) -> CheckSpec {
    CheckSpec { name: Some(check.name.clone()), expression: check.expression.clone(), enforced: check.enforced }
}

fn foreign_key_of(table: &Table) -> impl Fn(&ForeignKey) -> ForeignKeySpec {
    |key| ForeignKeySpec {
        name: Some(key.name.clone()),
        index: None,
        columns: key.columns.iter().map(|c| table.columns[*c].name.clone()).collect(),
        parent: key.parent.clone(),
        parent_columns: key.parent_columns.clone(),
        on_delete: key.on_delete,
        on_update: key.on_update,
    }
}
