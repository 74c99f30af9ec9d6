//! CHECK and FOREIGN KEY of a definition: names made up, indexes that foreign keys need, agreement with the parent.

use crate::column::{Column, eq_name};
use crate::define::{ForeignKeySpec, KeyKind, KeyPartSpec, KeySpec, TableSpec, check_name};
use crate::index::Index;
use crate::schema::{PartKind, Version};
use crate::table::{Check, ForeignKey, ReferenceAction, Table};
use types::codes::*;
use types::{Result, TypeKind, err};

/// `t_chk_3`, `t_ibfk_1`: the number of a made-up name, and of explicit ones of that form.
fn number_of(name: &str, table: &str, infix: &str) -> Option<u32> {
    name.strip_prefix(table)?.strip_prefix(infix)?.parse().ok()
}

/// `old_chk_1` becomes `new_chk_1` with its table; a name that somebody chose stays.
pub(crate) fn follow_rename(name: &mut String, old: &str, new: &str, infix: &str) {
    if let Some(n) = number_of(name, old, infix) {
        *name = format!("{new}{infix}{n}");
    }
}

pub(crate) const CHECK_INFIX: &str = "_chk_";
pub(crate) const FOREIGN_KEY_INFIX: &str = "_ibfk_";

/// What new foreign keys are asked for.
pub struct Demands {
    /// The parents have to be there (`foreign_key_checks`).
    pub fitting: bool,
    /// They have a unique index of just these columns (`restrict_fk_on_non_standard_key`).
    pub unique: bool,
    /// Names of those that had none, for warning 6124.
    pub not_unique: Vec<String>,
}

impl TableSpec {
    /// An index for each foreign key whose columns start none, and none that another one makes needless.
    pub(crate) fn add_foreign_key_indexes(&mut self) {
        for i in 0..self.foreign_keys.len() {
            self.add_foreign_key_index(i);
        }
        while let Some(at) = self.needless_key() {
            self.keys.remove(at);
        }
    }

    /// An index, the last one, for a foreign key whose columns start none. False: one is there.
    pub fn add_foreign_key_index(&mut self, at: usize) -> bool {
        let key = &self.foreign_keys[at];
        if self.keys.iter().any(|k| starts_with(k, &key.columns)) {
            return false;
        }
        let part = |c: &String| KeyPartSpec { column: c.clone(), prefix: 0, descending: false };
        self.keys.push(KeySpec {
            algorithm: None,
            kind: KeyKind::Plain,
            name: key.name.clone().or_else(|| key.index.clone()),
            parts: key.columns.iter().map(part).collect(),
            invisible: false,
            for_foreign_key: true,
            comment: String::new(),
        });
        true
    }

    /// A key that was made for a foreign key and whose columns start another one: in that case MySQL drops it without a word.
    pub fn needless_key(&self) -> Option<usize> {
        let outdoes = |other: &KeySpec, key: &KeySpec| {
            let columns = |k: &KeySpec| k.parts.iter().map(|p| p.column.to_lowercase()).collect::<Vec<_>>();
            let whole = other.parts.iter().take(key.parts.len()).all(|p| p.prefix == 0 && !p.descending);
            whole && columns(other).starts_with(&columns(key))
        };
        self.keys.iter().enumerate().position(|(at, key)| {
            let mut others = self.keys.iter().enumerate().filter(|(other, _)| *other != at);
            key.for_foreign_key && others.any(|(_, other)| outdoes(other, key))
        })
    }

    /// Of foreign keys in a table that is not transactional their indexes are all that is made.
    pub fn forget_foreign_keys(&mut self) {
        self.add_foreign_key_indexes();
        self.foreign_keys.clear();
    }

    /// The name that MySQL makes up for the next check without one.
    pub fn next_check_name(&self) -> String {
        let numbers = self.checks.iter().filter_map(|c| number_of(c.name.as_deref()?, &self.name, CHECK_INFIX));
        format!("{}{CHECK_INFIX}{}", self.name, numbers.max().unwrap_or(0) + 1)
    }

    /// The checks with their names, in the order of those. Error 3822 for one that is in use in the schema, or in the table
    /// alone where there is no `version`: names of a temporary table's are its own.
    pub fn take_checks(&mut self, version: Option<&Version>) -> Result<Vec<Check>> {
        let specs = std::mem::take(&mut self.checks);
        let used = specs.iter().filter_map(|c| number_of(c.name.as_deref()?, &self.name, CHECK_INFIX)).max();
        let mut number = used.unwrap_or(0);
        let mut checks: Vec<Check> = Vec::with_capacity(specs.len());
        for spec in specs {
            let name = spec.name.filter(|n| !n.is_empty()).unwrap_or_else(|| {
                number += 1;
                format!("{}{CHECK_INFIX}{number}", self.name)
            });
            // Any name will do: it may end with a space.
            if name.chars().count() > crate::define::NAME_CHARS_MAX {
                return Err(err!(ER_TOO_LONG_IDENT, name));
            }
            let taken = |c: &Check| eq_name(&c.name, &name);
            if checks.iter().any(taken) || version.is_some_and(|v| self.is_taken(v, PartKind::Check, &name)) {
                return Err(err!(ER_CHECK_CONSTRAINT_DUP_NAME, name));
            }
            checks.push(Check { name, expression: spec.expression, enforced: spec.enforced });
        }
        checks.sort_by_cached_key(|c| c.name.to_lowercase());
        Ok(checks)
    }

    /// Has another table of the schema a constraint of that name?
    fn is_taken(&self, version: &Version, kind: PartKind, name: &str) -> bool {
        let found = version.schema(&self.schema).and_then(|schema| schema.table_of(kind, name));
        found.is_some_and(|table| table.name != self.name)
    }

    /// The foreign keys with their names and columns. Those that are not among the table's old ones, which are `kept`, must be as
    /// `demands` says. Errors 1072, 1239, 1822, 1824, 1826, 1830, 3734, 3780, 6125.
    pub fn take_foreign_keys(
        &mut self,
        version: &Version,
        own_indexes: &[Index],
        demands: &mut Demands,
        kept: &[ForeignKey],
    ) -> Result<Vec<ForeignKey>> {
        let specs = std::mem::take(&mut self.foreign_keys);
        let used = specs.iter().filter_map(|k| number_of(k.name.as_deref()?, &self.name, FOREIGN_KEY_INFIX)).max();
        let mut number = used.unwrap_or(0);
        let mut keys: Vec<ForeignKey> = Vec::with_capacity(specs.len());
        for spec in specs {
            let name = spec.name.clone().unwrap_or_else(|| {
                number += 1;
                format!("{}{FOREIGN_KEY_INFIX}{number}", self.name)
            });
            check_name(&name, ER_WRONG_TABLE_NAME)?;
            let taken = |k: &ForeignKey| eq_name(&k.name, &name);
            if keys.iter().any(taken) || self.is_taken(version, PartKind::ForeignKey, &name) {
                return Err(err!(ER_FK_DUP_NAME, name));
            }
            let is_new = !kept.iter().any(|k| spec.is_kept(k));
            keys.push(self.foreign_key(spec, name, version, own_indexes, is_new, demands)?);
        }
        keys.sort_by_cached_key(|k| k.name.to_lowercase());
        Ok(keys)
    }

    fn foreign_key(
        &self,
        spec: ForeignKeySpec,
        name: String,
        version: &Version,
        own_indexes: &[Index],
        is_new: bool,
        demands: &mut Demands,
    ) -> Result<ForeignKey> {
        let checked = demands.fitting && is_new;
        if spec.columns.len() != spec.parent_columns.len() {
            return Err(err!(ER_WRONG_FK_DEF, name, "Key reference and table reference don't match"));
        }
        let mut columns = Vec::with_capacity(spec.columns.len());
        for column in &spec.columns {
            let at = self.columns.iter().position(|c| !c.hidden && eq_name(&c.name, column));
            let at = at.ok_or_else(|| err!(ER_KEY_COLUMN_DOES_NOT_EXITS, column))?;
            let nulls = spec.on_delete == ReferenceAction::SetNull || spec.on_update == ReferenceAction::SetNull;
            if nulls && !self.columns[at].data_type.nullable {
                return Err(err!(ER_FK_COLUMN_NOT_NULL, self.columns[at].name, name));
            }
            let writes = nulls || spec.on_update == ReferenceAction::Cascade;
            match &self.columns[at].generated {
                Some(g) if !g.stored => return Err(err!(ER_FK_CANNOT_USE_VIRTUAL_COLUMN, name, self.columns[at].name)),
                Some(_) if writes => {
                    return Err(err!(
                        ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN,
                        if nulls { "ON DELETE SET NULL" } else { "ON UPDATE CASCADE" }
                    ));
                }
                _ => {}
            }
            columns.push(at);
        }
        let itself = spec.parent.0 == self.schema && spec.parent.1 == self.name;
        let found = version.table(&spec.parent.0, &spec.parent.1);
        let parent = match itself {
            true => Some((&self.columns, own_indexes)),
            false => match found {
                Some(t) if !t.is_base() || !t.engine.is_transactional() => {
                    return Err(err!(ER_FK_CANNOT_OPEN_PARENT, spec.parent.1));
                }
                Some(t) => Some((&t.columns, &t.indexes[..])),
                None if checked => return Err(err!(ER_FK_CANNOT_OPEN_PARENT, spec.parent.1)),
                None => None,
            },
        };
        let mut parent_columns = spec.parent_columns;
        if let Some((theirs, indexes)) = parent {
            for (own, parent_name) in columns.iter().zip(&mut parent_columns) {
                let at = theirs.iter().position(|c| !c.hidden && eq_name(&c.name, parent_name));
                let at = at.ok_or_else(|| err!(ER_FK_NO_COLUMN_PARENT, parent_name, name, spec.parent.1))?;
                if is_new && !are_compatible(&self.columns[*own], &theirs[at]) {
                    return Err(err!(ER_FK_INCOMPATIBLE_COLUMNS, self.columns[*own].name, theirs[at].name, name));
                }
                *parent_name = theirs[at].name.clone();
            }
            // Without foreign_key_checks too.
            if is_new && !demands.unique && parent_index(theirs, indexes, &parent_columns).is_none() {
                return Err(err!(ER_FK_NO_INDEX_PARENT, name, spec.parent.1));
            }
            let unique =
                |i: &Index| i.unique && i.parts.len() == parent_columns.len() && index_has(theirs, i, &parent_columns);
            if is_new && !indexes.iter().any(unique) {
                if demands.unique {
                    return Err(err!(ER_FK_NO_UNIQUE_INDEX_PARENT, name, spec.parent.1));
                }
                demands.not_unique.push(name.clone());
            }
        }
        let (on_delete, on_update) = (spec.on_delete, spec.on_update);
        Ok(ForeignKey { name, columns, parent: spec.parent, parent_columns, on_delete, on_update })
    }
}

/// Does the key serve a foreign key? A descending part does not, in MySQL's eyes.
fn starts_with(key: &KeySpec, columns: &[String]) -> bool {
    let serves = |p: &KeyPartSpec| p.prefix == 0 && !p.descending && columns.iter().any(|c| eq_name(c, &p.column));
    key.parts.len() >= columns.len() && key.parts[..columns.len()].iter().all(serves)
}

/// Are these columns the first parts of the index, in any order?
fn index_has(columns: &[Column], index: &Index, names: &[String]) -> bool {
    index.parts.len() >= names.len()
        && index.parts[..names.len()]
            .iter()
            .all(|p| p.key.prefix == 0 && names.iter().any(|n| eq_name(n, &columns[p.column].name)))
}

/// The index that starts with these columns, in any order: the unique ones first.
pub fn parent_index(columns: &[Column], indexes: &[Index], names: &[String]) -> Option<usize> {
    indexes.iter().position(|i| index_has(columns, i, names))
}

impl Table {
    /// The index by which rows of a foreign key are found.
    pub fn foreign_key_index(&self, key: &ForeignKey) -> Option<usize> {
        let names: Vec<String> = key.columns.iter().map(|c| self.columns[*c].name.clone()).collect();
        parent_index(&self.columns, &self.indexes, &names)
    }
}

/// May values of one be looked up in the other?
pub fn are_compatible(a: &Column, b: &Column) -> bool {
    let (x, y) = (&a.data_type, &b.data_type);
    if x.kind.is_text() && y.kind.is_text() && matches!(x.kind, TypeKind::Char | TypeKind::VarChar) {
        return matches!(y.kind, TypeKind::Char | TypeKind::VarChar) && x.collation == y.collation;
    }
    match x.kind {
        TypeKind::Binary | TypeKind::VarBinary => matches!(y.kind, TypeKind::Binary | TypeKind::VarBinary),
        TypeKind::Decimal => y.kind == x.kind && x.length == y.length && x.decimals == y.decimals,
        TypeKind::Enum | TypeKind::Set => y.kind == x.kind,
        _ => x.kind == y.kind && x.unsigned == y.unsigned,
    }
}
