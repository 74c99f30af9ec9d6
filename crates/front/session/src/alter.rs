//! ALTER TABLE: its actions collected into one plan, then done in one data definition.

use crate::define::{copy_rows, fill_index};
use crate::expression::columns_of;
use catalog::define::check_name;
use catalog::schema::eq_name;
use catalog::{Column, ColumnDefault, Ddl, KeyKind, KeySpec, Table, TableSpec};
use exec::Env;
use sql::ast::{AlterAlgorithm, AlterLock, ColumnPosition, Parsed};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::{Result, err};

/// The least that an ALTER TABLE needs, as MySQL sees it: what ALGORITHM may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Instant,
    Inplace,
    /// With MySQL's reason why not in place.
    Copy(&'static str),
}

/// ALTER TABLE collected: the table as it will be, and how to get there.
pub(crate) struct AlterPlan {
    pub spec: TableSpec,
    /// For each new column the old position, `None` for added ones.
    pub from: Vec<Option<usize>>,
    /// Rows have to be written anew.
    pub rebuild: bool,
    pub work: Work,
    pub added: Vec<KeySpec>,
    pub dropped: Vec<String>,
    pub renamed: Vec<(String, String)>,
    /// Columns by their old and new names.
    pub renamed_columns: Vec<(String, String)>,
    pub rename: Option<(String, String)>,
    /// Virtual columns come or go, and others do.
    pub virtuals: bool,
    pub columns: bool,
}

/// Why MySQL copies the table for a new type.
pub(crate) const RETYPED: &str = "Cannot change column type INPLACE";

impl AlterPlan {
    pub fn new(table: &Table) -> AlterPlan {
        let spec = catalog::ddl::spec_of(table);
        let from = table.columns.iter().enumerate().filter(|(_, c)| !c.is_row_id()).map(|(i, _)| Some(i)).collect();
        AlterPlan {
            spec,
            from,
            rebuild: false,
            work: Work::Instant,
            added: Vec::new(),
            dropped: Vec::new(),
            renamed: Vec::new(),
            renamed_columns: Vec::new(),
            rename: None,
            virtuals: false,
            columns: false,
        }
    }

    /// The statement needs at least this.
    pub fn needs(&mut self, work: Work) {
        self.work = self.work.max(work);
    }

    pub fn rebuild(&mut self, work: Work) {
        self.rebuild = true;
        self.needs(work);
    }

    /// Names of the columns that expressions may use.
    pub fn names(&self) -> Vec<String> {
        self.spec.columns.iter().filter(|c| !c.hidden).map(|c| c.name.clone()).collect()
    }

    /// Obeys ALGORITHM and LOCK, or refuses. A change of more than the dictionary keeps everybody out while it runs.
    /// Errors 1221, 1845, 1846.
    pub fn obey(&mut self, algorithm: Option<AlterAlgorithm>, lock: Option<AlterLock>) -> Result<()> {
        let lock_word = match lock {
            None | Some(AlterLock::Default) => "",
            Some(AlterLock::None) => "NONE",
            Some(AlterLock::Shared) => "SHARED",
            Some(AlterLock::Exclusive) => "EXCLUSIVE",
        };
        if algorithm == Some(AlterAlgorithm::Instant) && !lock_word.is_empty() {
            return Err(err!(1221, "ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE"));
        }
        if self.virtuals && self.columns {
            self.rebuild(Work::Copy(
                "INPLACE ADD or DROP of virtual columns cannot be combined with other ALTER TABLE actions",
            ));
        }
        if algorithm == Some(AlterAlgorithm::Copy) {
            self.rebuild(Work::Copy(""));
        }
        let name = match algorithm {
            Some(AlterAlgorithm::Instant) => "ALGORITHM=INSTANT",
            Some(AlterAlgorithm::Inplace) => "ALGORITHM=INPLACE",
            _ => "",
        };
        match self.work {
            Work::Copy(RETYPED) if algorithm == Some(AlterAlgorithm::Instant) => {
                let reason = "Need to rebuild the table to change column type";
                return Err(err!(1846, name, reason, "ALGORITHM=COPY/INPLACE"));
            }
            Work::Copy(reason) if !name.is_empty() => return Err(err!(1846, name, reason, "ALGORITHM=COPY")),
            Work::Inplace if algorithm == Some(AlterAlgorithm::Instant) => {
                return Err(err!(1845, name, "ALGORITHM=COPY/INPLACE"));
            }
            _ => {}
        }
        let moves_rows = self.rebuild || !self.added.is_empty();
        if algorithm == Some(AlterAlgorithm::Instant) && moves_rows {
            return Err(err!(1845, name, "ALGORITHM=COPY/INPLACE"));
        }
        if moves_rows && matches!(lock, Some(AlterLock::None | AlterLock::Shared)) {
            let reason = "indexes and copies are made while nobody uses the table";
            return Err(err!(1846, format!("LOCK={lock_word}"), reason, "LOCK=EXCLUSIVE"));
        }
        Ok(())
    }

    pub fn position(&self, name: &str) -> Result<usize> {
        let found = self.spec.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name));
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
            // In front of the hidden columns of index expressions.
            ColumnPosition::Last => self.spec.columns.iter().take_while(|c| !c.hidden).count(),
            ColumnPosition::First => 0,
            ColumnPosition::After(name) => self.position(parsed.name(name))? + 1,
        };
        self.spec.columns.insert(at, column);
        self.from.insert(at, from);
        Ok(())
    }

    /// Errors 1060, 1832, 1833, 3108, 3837, 3959.
    pub fn change_column(&mut self, parsed: &Parsed, at: usize, new: Column, position: ColumnPosition) -> Result<()> {
        let old = self.spec.columns[at].clone();
        let taken = |(i, c): (usize, &Column)| i != at && eq_name(&c.name, &new.name);
        if self.spec.columns.iter().enumerate().any(taken) {
            return Err(err!(1060, new.name));
        }
        if !eq_name(&old.name, &new.name) {
            self.refuse_dependents(&old.name, false)?;
        }
        if old.name != new.name {
            let parts = self.spec.keys.iter_mut().flat_map(|k| &mut k.parts).map(|p| &mut p.column);
            for name in parts.chain(self.spec.foreign_keys.iter_mut().flat_map(|k| &mut k.columns)) {
                if eq_name(name, &old.name) {
                    name.clone_from(&new.name);
                }
            }
            let spec = &mut self.spec;
            let itself = spec.foreign_keys.iter_mut().filter(|k| k.parent.0 == spec.schema && k.parent.1 == spec.name);
            for name in itself.flat_map(|k| &mut k.parent_columns).filter(|c| eq_name(c, &old.name)) {
                name.clone_from(&new.name);
            }
            self.renamed_columns.push((old.name.clone(), new.name.clone()));
        }
        let stored = |c: &Column| c.generated.as_ref().is_none_or(|g| g.stored);
        if stored(&old) != stored(&new) {
            return Err(err!(3106, "Changing the STORED status"));
        }
        let (x, y) = (&old.data_type, &new.data_type);
        let retyped = (x.kind, x.length, x.decimals, x.unsigned, x.zerofill, x.collation)
            != (y.kind, y.length, y.decimals, y.unsigned, y.zerofill, y.collation);
        let appended = new.members.len() > old.members.len() && new.members[..old.members.len()] == old.members[..];
        // More bytes for the same form of row: no row has to change.
        let longer = x.kind == y.kind
            && matches!(x.kind, types::TypeKind::VarChar | types::TypeKind::VarBinary)
            && x.collation == y.collation
            && y.length >= x.length;
        if !appended && (retyped || old.members != new.members) {
            match longer {
                // Keys hold the length of their columns: only the dictionary of a table whose keys do not speak of it is new.
                true if !self.is_in_key(&old.name) => self.needs(Work::Inplace),
                _ => self.rebuild(Work::Copy(RETYPED)),
            }
        } else if x.nullable != y.nullable || old.auto_increment != new.auto_increment {
            self.rebuild(Work::Inplace);
        } else if old.generated != new.generated {
            self.rebuild(Work::Copy(RETYPED));
        } else if appended {
            self.needs(Work::Instant);
        }
        if position != ColumnPosition::Last {
            self.rebuild(Work::Inplace);
        }
        if position == ColumnPosition::Last {
            self.spec.columns[at] = new;
            return Ok(());
        }
        self.spec.columns.remove(at);
        let from = self.from.remove(at);
        self.insert(parsed, new, from, position)
    }

    fn is_in_key(&self, column: &str) -> bool {
        self.spec.keys.iter().flat_map(|k| &k.parts).any(|p| eq_name(&p.column, column))
    }

    /// Expressions that read a column keep it from being dropped or renamed. A check of this column alone goes with it.
    fn refuse_dependents(&mut self, column: &str, dropped: bool) -> Result<()> {
        let reads = |text: &str| columns_of(text).iter().any(|c| eq_name(c, column));
        for other in &self.spec.columns {
            if other.generated.as_ref().is_some_and(|g| reads(&g.expression)) {
                return Err(if other.hidden { err!(3837, column) } else { err!(3108, column) });
            }
            if let ColumnDefault::Expression(text) = &other.default
                && reads(text)
            {
                return Err(err!(3108, column));
            }
        }
        let alone = |text: &str| columns_of(text).iter().all(|c| eq_name(c, column));
        if dropped {
            self.spec.checks.retain(|c| !(reads(&c.expression) && alone(&c.expression)));
        }
        match self.spec.checks.iter().find(|c| reads(&c.expression)) {
            Some(check) => Err(err!(3959, check.name.as_deref().unwrap_or(""), column)),
            None => Ok(()),
        }
    }

    /// Errors 1091, 1828, 3108, 3755, 3959.
    pub fn drop_column(&mut self, name: &str) -> Result<()> {
        let at = self.spec.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name));
        let at = at.ok_or_else(|| err!(1091, name))?;
        self.spec.columns.remove(at);
        self.from.remove(at);
        self.refuse_dependents(name, true)?;
        if let Some(key) = self.spec.foreign_keys.iter().find(|k| k.columns.iter().any(|c| eq_name(c, name))) {
            return Err(err!(1828, name, key.name.as_deref().unwrap_or("")));
        }
        for key in &mut self.spec.keys {
            key.parts.retain(|p| !eq_name(&p.column, name));
        }
        self.spec.keys.retain(|k| !k.parts.is_empty());
        self.columns = true;
        self.rebuild(Work::Instant);
        Ok(())
    }

    /// The last key of the specification is new.
    pub fn added_key(&mut self) {
        let key = self.spec.keys.last().expect("it was just added").clone();
        let hidden = |p: &catalog::KeyPartSpec| self.spec.columns.iter().any(|c| c.hidden && c.name == p.column);
        if key.kind == KeyKind::Primary || key.parts.iter().any(hidden) {
            self.rebuild(Work::Inplace);
        }
        // Hidden columns of expressions come from nowhere.
        self.from.resize(self.spec.columns.len(), None);
        self.needs(Work::Inplace);
        self.added.push(key);
    }

    /// Error 1091.
    pub fn drop_foreign_key(&mut self, name: &str) -> Result<()> {
        let before = self.spec.foreign_keys.len();
        self.spec.foreign_keys.retain(|k| !k.name.as_deref().is_some_and(|n| eq_name(n, name)));
        self.needs(Work::Inplace);
        if self.spec.foreign_keys.len() == before { Err(err!(1091, name)) } else { Ok(()) }
    }

    fn check(&self, name: &str) -> Option<usize> {
        self.spec.checks.iter().position(|c| c.name.as_deref().is_some_and(|n| eq_name(n, name)))
    }

    /// Error 3821.
    pub fn drop_check(&mut self, name: &str) -> Result<()> {
        let at = self.check(name).ok_or_else(|| err!(3821, name))?;
        self.spec.checks.remove(at);
        self.needs(Work::Inplace);
        Ok(())
    }

    /// DROP CONSTRAINT: a check, foreign key, unique or primary key of that name. Errors 3939, 3940.
    pub fn drop_constraint(&mut self, name: &str) -> Result<()> {
        let called = |n: &Option<String>| n.as_deref().is_some_and(|n| eq_name(n, name));
        let keys = self.spec.keys.iter().filter(|k| k.kind != KeyKind::Plain && called(&k.name)).count();
        let foreign = self.spec.foreign_keys.iter().filter(|k| called(&k.name)).count();
        if keys + foreign + usize::from(self.check(name).is_some()) > 1 {
            return Err(err!(3939, name));
        }
        if self.check(name).is_some() {
            return self.drop_check(name);
        }
        if self.drop_foreign_key(name).is_ok() {
            return Ok(());
        }
        let unique = |k: &KeySpec| k.kind != KeyKind::Plain && k.name.as_deref().is_some_and(|n| eq_name(n, name));
        match self.spec.keys.iter().any(unique) {
            true => self.drop_index(name),
            false => Err(err!(3940, name)),
        }
    }

    /// ALTER CHECK ... [NOT] ENFORCED. Errors 3821, 3941.
    pub fn enforce(&mut self, name: &str, enforced: bool) -> Result<()> {
        let at = self.check(name).ok_or_else(|| err!(3821, name))?;
        if enforced && !self.spec.checks[at].enforced {
            self.rebuild(Work::Copy("cannot enforce a check constraint in place"));
        }
        self.spec.checks[at].enforced = enforced;
        Ok(())
    }

    /// Error 1176, 3522.
    pub fn set_index_visible(&mut self, name: &str, visible: bool) -> Result<()> {
        let found = self.spec.keys.iter_mut().find(|k| k.name.as_deref().is_some_and(|n| eq_name(n, name)));
        let key = found.ok_or_else(|| err!(1176, name, self.spec.name))?;
        if key.kind == KeyKind::Primary && !visible {
            return Err(err!(3522));
        }
        key.invisible = !visible;
        self.needs(Work::Inplace);
        Ok(())
    }

    pub fn drop_primary(&mut self) -> Result<()> {
        let before = self.spec.keys.len();
        self.spec.keys.retain(|k| k.kind != KeyKind::Primary);
        self.rebuild(Work::Inplace);
        if self.spec.keys.len() == before { Err(err!(1091, "PRIMARY")) } else { Ok(()) }
    }

    pub fn drop_index(&mut self, name: &str) -> Result<()> {
        if name.eq_ignore_ascii_case("PRIMARY") {
            return self.drop_primary();
        }
        let found = self.spec.keys.iter().position(|k| k.name.as_deref().is_some_and(|n| eq_name(n, name)));
        let key = self.spec.keys.remove(found.ok_or_else(|| err!(1091, name))?);
        for part in &key.parts {
            // The hidden column of an expression goes with its index.
            if let Some(at) = self.spec.columns.iter().position(|c| c.hidden && c.name == part.column) {
                self.spec.columns.remove(at);
                self.from.remove(at);
                self.rebuild = true;
                self.virtuals = true;
            }
        }
        self.needs(Work::Inplace);
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
        self.needs(Work::Inplace);
        self.renamed.push((old.to_string(), new.to_string()));
        Ok(())
    }

    /// Does it, in the DDL in progress; the table is locked.
    /// How many rows were copied, as MySQL counts them: none when it would have changed the table in place.
    pub fn run(mut self, ddl: &mut Ddl<'_>, old: &Arc<Table>, env: &mut dyn Env) -> Result<u64> {
        if !self.spec.columns.iter().any(|c| !c.hidden) {
            return Err(err!(1090));
        }
        let renamed_columns = std::mem::take(&mut self.renamed_columns);
        let rename = self.rename.take();
        self.refuse_children(ddl, old)?;
        let mut copied = 0;
        let table = if self.rebuild {
            let table = ddl.rebuild_table(old, self.spec)?;
            let rows = copy_rows(ddl, old, &table, &self.from, env)?;
            if matches!(self.work, Work::Copy(_)) {
                copied = rows;
            }
            table
        } else {
            self.change(ddl, old)?
        };
        if !renamed_columns.is_empty() {
            ddl.rename_parent_columns(&table, &renamed_columns)?;
        }
        if let Some((schema, name)) = rename {
            ddl.rename_table((&table.schema, &table.name), (&schema, &name))?;
        }
        Ok(copied)
    }

    /// Nothing but a new name for the table: MySQL counts no records then.
    pub fn only_renames(&self) -> bool {
        self.rename.is_some() && self.work == Work::Instant && !self.rebuild
    }

    /// What needs no new rows.
    fn change(self, ddl: &mut Ddl<'_>, old: &Arc<Table>) -> Result<Arc<Table>> {
        let mut table = Arc::clone(old);
        for key in self.added {
            let (new, at) = ddl.create_index(&table, key)?;
            fill_index(ddl, &new, at)?;
            table = new;
        }
        // The foreign keys that were dropped need their indexes no more.
        let mut spec = self.spec;
        let checks = spec.take_checks(ddl.version())?;
        let foreign_keys = spec.take_foreign_keys(ddl.version(), &table.indexes, false)?;
        table = ddl.alter_table(&table, |t| (t.checks, t.foreign_keys) = (checks, foreign_keys))?;
        for name in &self.dropped {
            table = ddl.drop_index(&table, name)?;
        }
        if let (Some(next), Some(counter)) = (spec.auto_increment, &table.auto_increment) {
            // Never below what is handed out already.
            // Relaxed: the gate is closed, no insert runs.
            let next = next.max(counter.next.load(Ordering::Relaxed));
            counter.reset(ddl.engine(), next).map_err(catalog::error::from_engine)?;
        }
        let renamed = self.renamed;
        ddl.alter_table(&table, |t| {
            t.comment = spec.comment;
            t.create_options = spec.create_options;
            t.default_collation = spec.default_collation;
            let row_id = t.columns.iter().find(|c| c.is_row_id()).cloned();
            t.columns = spec.columns;
            t.columns.extend(row_id);
            for (from, to) in &renamed {
                for index in t.indexes.iter_mut().filter(|i| eq_name(&i.name, from)) {
                    index.name = to.clone();
                }
            }
            for index in &mut t.indexes {
                if let Some(key) = spec.keys.iter().find(|k| k.name.as_deref() == Some(&index.name)) {
                    index.invisible = key.invisible;
                }
            }
        })
    }

    /// A column that foreign keys of this or another table use keeps its type and stays. Errors 1829, 3780.
    fn refuse_children(&self, ddl: &Ddl<'_>, old: &Table) -> Result<()> {
        if !ddl.checks_foreign_keys() {
            return Ok(());
        }
        let gone = |at: usize| !self.from.contains(&Some(at));
        let retyped = |at: usize| {
            let new = self.from.iter().position(|f| *f == Some(at)).map(|i| &self.spec.columns[i]);
            new.is_some_and(|n| !catalog::are_compatible(&old.columns[at], n))
        };
        for key in &old.foreign_keys {
            let kept = self.spec.foreign_keys.iter().any(|k| k.name.as_deref() == Some(&key.name));
            for (at, parent) in key.columns.iter().zip(&key.parent_columns) {
                if kept && retyped(*at) {
                    return Err(err!(3780, old.columns[*at].name, parent, key.name));
                }
            }
        }
        for child in ddl.version().children(&old.schema, &old.name) {
            for key in child.foreign_keys.iter().filter(|k| k.parent.0 == old.schema && k.parent.1 == old.name) {
                for (own, name) in key.columns.iter().zip(&key.parent_columns) {
                    let Some(at) = old.column_position(name) else { continue };
                    if gone(at) {
                        return Err(err!(1829, name, key.name, child.name));
                    }
                    if retyped(at) && child.id != old.id {
                        return Err(err!(3780, child.columns[*own].name, name, key.name));
                    }
                }
            }
        }
        Ok(())
    }
}
