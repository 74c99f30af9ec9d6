//! What foreign keys make part of changing a table: tables that are read for it, and tables that it is carried to.

use crate::schema::Version;
use crate::table::{ReferenceAction, Table};
use std::sync::Arc;

/// Kinds of changes to the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub insert: bool,
    pub update: bool,
    pub delete: bool,
}

impl Changes {
    pub const ALL: Changes = Changes { insert: true, update: true, delete: true };
    pub const INSERT: Changes = Changes { insert: true, update: false, delete: false };
    pub const UPDATE: Changes = Changes { insert: false, update: true, delete: false };
    pub const DELETE: Changes = Changes { insert: false, update: false, delete: true };

    fn is_within(self, other: Changes) -> bool {
        self.insert <= other.insert && self.update <= other.update && self.delete <= other.delete
    }
}

/// A table that a foreign key leads to.
#[derive(Clone)]
pub struct Related {
    pub table: Arc<Table>,
    /// The action of a key may change its rows; else they are only looked at.
    pub written: bool,
}

impl Version {
    /// The tables that foreign keys lead to from `table` when its rows are changed so: parents of new rows and children whose
    /// keys forbid the change are read, children whose keys act on it are written, and so on from those.
    pub fn related(&self, table: &Arc<Table>, changes: Changes) -> Vec<Related> {
        let mut found: Vec<Related> = Vec::new();
        let mut note = |table: &Arc<Table>, written: bool| match found.iter_mut().find(|r| r.table.id == table.id) {
            Some(related) => related.written |= written,
            None => found.push(Related { table: Arc::clone(table), written }),
        };
        let mut seen: Vec<(u64, Changes)> = Vec::new();
        let mut left = vec![(Arc::clone(table), changes)];
        while let Some((table, changes)) = left.pop() {
            if seen.iter().any(|(id, before)| *id == table.id && changes.is_within(*before)) {
                continue;
            }
            seen.push((table.id, changes));
            if changes.insert || changes.update {
                let parents = table.foreign_keys.iter().filter_map(|key| self.table(&key.parent.0, &key.parent.1));
                parents.filter(|parent| parent.is_base()).for_each(|parent| note(parent, false));
            }
            if !changes.update && !changes.delete {
                continue;
            }
            for child in self.children(&table.schema, &table.name) {
                let carried = carried(&table, child, changes);
                note(child, carried != Changes::default());
                if carried != Changes::default() {
                    left.push((Arc::clone(child), carried));
                }
            }
        }
        found
    }
}

/// What changes of `parent` do to the rows of `child`.
fn carried(parent: &Table, child: &Table, changes: Changes) -> Changes {
    let mut carried = Changes::default();
    let keys = child.foreign_keys.iter().filter(|k| k.parent.0 == parent.schema && k.parent.1 == parent.name);
    for key in keys {
        carried.delete |= changes.delete && key.on_delete == ReferenceAction::Cascade;
        carried.update |= changes.delete && key.on_delete == ReferenceAction::SetNull;
        carried.update |=
            changes.update && matches!(key.on_update, ReferenceAction::Cascade | ReferenceAction::SetNull);
    }
    carried
}
