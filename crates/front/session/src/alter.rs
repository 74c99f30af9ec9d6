//! ALTER TABLE: its actions collected into one plan, then done in one data definition.

use crate::define::{copy_rows, fill_index};
use catalog::define::check_name;
use catalog::schema::eq_name;
use catalog::{Column, Ddl, KeyKind, KeySpec, Table, TableSpec};
use sql::ast::{ColumnPosition, Parsed};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::sql_mode::SqlMode;
use types::{Result, err};

/// ALTER TABLE collected: the table as it will be, and how to get there.
pub(crate) struct AlterPlan {
    pub spec: TableSpec,
    /// For each new column the old position, `None` for added ones.
    pub from: Vec<Option<usize>>,
    /// Rows have to be written anew.
    pub rebuild: bool,
    pub added: Vec<KeySpec>,
    pub dropped: Vec<String>,
    pub renamed: Vec<(String, String)>,
    pub defaults: bool,
    pub rename: Option<(String, String)>,
}

impl AlterPlan {
    pub fn new(table: &Table) -> AlterPlan {
        let spec = catalog::ddl::spec_of(table);
        let from = table.columns.iter().enumerate().filter(|(_, c)| !c.hidden).map(|(i, _)| Some(i)).collect();
        AlterPlan {
            spec,
            from,
            rebuild: false,
            added: Vec::new(),
            dropped: Vec::new(),
            renamed: Vec::new(),
            defaults: false,
            rename: None,
        }
    }

    pub fn position(&self, name: &str) -> Result<usize> {
        let found = self.spec.columns.iter().position(|c| eq_name(&c.name, name));
        found.ok_or_else(|| err!(1054, name, self.spec.name))
    }

    pub fn insert(
        &mut self,
        parsed: &Parsed,
        column: Column,
        from: Option<usize>,
        position: ColumnPosition,
    ) -> Result<()> {
        let at = match position {
            ColumnPosition::Last => self.spec.columns.len(),
            ColumnPosition::First => 0,
            ColumnPosition::After(name) => self.position(parsed.name(name))? + 1,
        };
        self.spec.columns.insert(at, column);
        self.from.insert(at, from);
        Ok(())
    }

    pub fn change_column(&mut self, parsed: &Parsed, at: usize, new: Column, position: ColumnPosition) -> Result<()> {
        let old = self.spec.columns[at].clone();
        let taken = |(i, c): (usize, &Column)| i != at && eq_name(&c.name, &new.name);
        if self.spec.columns.iter().enumerate().any(taken) {
            return Err(err!(1060, new.name));
        }
        if old.name != new.name {
            for part in self.spec.keys.iter_mut().flat_map(|k| &mut k.parts) {
                if eq_name(&part.column, &old.name) {
                    part.column = new.name.clone();
                }
            }
        }
        // A column of the primary key stays NOT NULL whatever the new definition leaves out.
        self.rebuild |= old.data_type != new.data_type
            || old.members != new.members
            || old.auto_increment != new.auto_increment
            || position != ColumnPosition::Last;
        self.defaults = true;
        if position == ColumnPosition::Last {
            self.spec.columns[at] = new;
            return Ok(());
        }
        self.spec.columns.remove(at);
        let from = self.from.remove(at);
        self.insert(parsed, new, from, position)
    }

    pub fn drop_column(&mut self, name: &str) -> Result<()> {
        let at = self.spec.columns.iter().position(|c| eq_name(&c.name, name)).ok_or_else(|| err!(1091, name))?;
        self.spec.columns.remove(at);
        self.from.remove(at);
        for key in &mut self.spec.keys {
            key.parts.retain(|p| !eq_name(&p.column, name));
        }
        self.spec.keys.retain(|k| !k.parts.is_empty());
        self.rebuild = true;
        Ok(())
    }

    pub fn add_key(&mut self, key: KeySpec) {
        self.rebuild |= key.kind == KeyKind::Primary;
        self.added.push(key.clone());
        self.spec.keys.push(key);
    }

    pub fn drop_primary(&mut self) -> Result<()> {
        let before = self.spec.keys.len();
        self.spec.keys.retain(|k| k.kind != KeyKind::Primary);
        self.rebuild = true;
        if self.spec.keys.len() == before { Err(err!(1091, "PRIMARY")) } else { Ok(()) }
    }

    pub fn drop_index(&mut self, name: &str) -> Result<()> {
        if name.eq_ignore_ascii_case("PRIMARY") {
            return self.drop_primary();
        }
        let before = self.spec.keys.len();
        self.spec.keys.retain(|k| !k.name.as_deref().is_some_and(|n| eq_name(n, name)));
        if self.spec.keys.len() == before {
            return Err(err!(1091, name));
        }
        self.dropped.push(name.to_string());
        Ok(())
    }

    pub fn rename_index(&mut self, old: &str, new: &str) -> Result<()> {
        check_name(new, 1280)?;
        let find = |keys: &[KeySpec], name: &str| {
            keys.iter().position(|k| k.name.as_deref().is_some_and(|n| eq_name(n, name)))
        };
        let at = find(&self.spec.keys, old).ok_or_else(|| err!(1176, old, self.spec.name))?;
        if find(&self.spec.keys, new).is_some_and(|other| other != at) {
            return Err(err!(1061, new));
        }
        self.spec.keys[at].name = Some(new.to_string());
        self.renamed.push((old.to_string(), new.to_string()));
        Ok(())
    }

    /// Does it, in the DDL in progress; the table is locked.
    pub fn run(self, ddl: &mut Ddl<'_>, old: &Arc<Table>, mode: SqlMode) -> Result<()> {
        if self.spec.columns.is_empty() {
            return Err(err!(1090));
        }
        let mut table = Arc::clone(old);
        if self.rebuild {
            table = ddl.rebuild_table(old, self.spec)?;
            copy_rows(ddl, old, &table, &self.from, mode)?;
        } else {
            for name in &self.dropped {
                table = ddl.drop_index(&table, name)?;
            }
            for key in self.added {
                let (new, at) = ddl.create_index(&table, key)?;
                fill_index(ddl, &new, at)?;
                table = new;
            }
            if let (Some(next), Some(counter)) = (self.spec.auto_increment, &table.auto_increment) {
                // Never below what is handed out already.
                // Relaxed: the gate is closed, no insert runs.
                let next = next.max(counter.next.load(Ordering::Relaxed));
                counter.reset(ddl.engine(), next).map_err(catalog::error::from_engine)?;
            }
            let (spec, renamed) = (self.spec, self.renamed);
            table = ddl.alter_table(&table, |t| {
                t.comment = spec.comment;
                t.create_options = spec.create_options;
                t.default_collation = spec.default_collation;
                let hidden: Vec<Column> = t.columns.iter().filter(|c| c.hidden).cloned().collect();
                t.columns = spec.columns;
                t.columns.extend(hidden);
                for (from, to) in &renamed {
                    for index in t.indexes.iter_mut().filter(|i| eq_name(&i.name, from)) {
                        index.name = to.clone();
                    }
                }
            })?;
        }
        if let Some((schema, name)) = self.rename {
            ddl.rename_table((&table.schema, &table.name), (&schema, &name))?;
        }
        Ok(())
    }
}
