//! ALTER TABLE: its actions collected into one plan, then done in one data definition.

use crate::expression::columns_of;
use catalog::define::check_name;
use catalog::eq_name;
use catalog::{Column, ColumnDefault, Ddl, KeyKind, KeySpec, Lets, Table, TableSpec};
use ddl::online::{Goal, OnlineBuild};
use ddl::rewrite::Rewrite;
use run::Env;
use sql::ast::{AlterAlgorithm, AlterLock, ColumnPosition, Parsed};
use std::sync::Arc;
use types::codes::*;
use types::{Result, TypeKind, err};

/// The least that an ALTER TABLE needs, as MySQL sees it: what ALGORITHM and LOCK may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// The dictionary alone changes.
    Instant,
    /// Beside writers.
    Inplace,
    /// In place while nobody writes, for this reason.
    Locked(&'static str),
    Copy(Why),
}

/// Why a table is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// The storage engine names no reason.
    Unsaid,
    Reason(&'static str),
    /// All rows have to satisfy a rule, or go to another storage engine: that is looked at above the engines.
    Rule,
    /// The statement asks for it, or the table is temporary.
    Asked,
}

/// ALTER TABLE collected: the table as it will be, and how to get there. Its fields are what the actions of a statement ask for, each of
/// which may set any of them.
pub(crate) struct AlterPlan {
    pub spec: TableSpec,
    /// For each new column the old position, `None` for added ones.
    pub from: Vec<Option<usize>>,
    /// Rows have to be written anew.
    pub rebuild: bool,
    pub work: Work,
    pub added: Vec<KeySpec>,
    pub dropped: Vec<String>,
    pub dropped_columns: Vec<String>,
    pub renamed: Vec<(String, String)>,
    /// Their places among the keys: keys are dropped before any is renamed.
    renamed_keys: Vec<usize>,
    /// Those that become visible or invisible, and keep their names.
    shown_keys: Vec<usize>,
    /// Those that were added.
    added_keys: Vec<usize>,
    /// The same of foreign keys.
    added_foreign_keys: Vec<usize>,
    /// Columns by their old and new names.
    pub renamed_columns: Vec<(String, String)>,
    pub rename: Option<(String, String)>,
    /// Virtual columns come or go, and others do.
    pub virtuals: bool,
    pub columns: bool,
    /// Columns come or go. Where nothing else asks for it, the rows stay as they are.
    pub evolves: bool,
    pub lock: Option<AlterLock>,
    /// How the table is locked.
    pub lets: Lets,
    /// NULL where there may be none is an error, not a warning.
    pub strict: bool,
    /// `innodb_online_alter_log_max_size`
    pub log_bytes: usize,
    /// DISABLE KEYS or ENABLE KEYS.
    pub switches_keys: bool,
    /// A new column of this name and type has no default and no implicit one that the mode allows: error 1292 if there are rows.
    pub not_for_rows: Option<(String, types::TypeKind)>,
}

/// How often a build of indexes catches up with writers before it keeps them out, and with how few rows left it does so at once.
const CATCH_UPS_MAX: usize = 20;
const ROWS_LEFT: usize = 500;

/// Why MySQL copies the table for a new type.
const RETYPED_REASON: &str = "Cannot change column type INPLACE";
pub(crate) const RETYPED: Work = Work::Copy(Why::Reason(RETYPED_REASON));
/// MySQL encrypts a table by copying it.
pub(crate) const ENCRYPTED: Work = Work::Copy(Why::Reason("Cannot alter encryption attribute by inplace algorithm."));
const PRIMARY_DROPPED: &str = "Dropping a primary key is not allowed without also adding a new primary key";
const INSTANT: &str = "ALGORITHM=INSTANT";
const INPLACE: &str = "ALGORITHM=INPLACE";
const PRIMARY_NULLABLE: &str =
    "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
const VIRTUAL_INDEXED: &str = "ADD COLUMN col...VIRTUAL, ADD INDEX(col)";

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
            dropped_columns: Vec::new(),
            renamed: Vec::new(),
            renamed_keys: Vec::new(),
            shown_keys: Vec::new(),
            added_keys: Vec::new(),
            added_foreign_keys: Vec::new(),
            renamed_columns: Vec::new(),
            rename: None,
            virtuals: false,
            columns: false,
            evolves: false,
            lock: None,
            lets: Lets::Read,
            switches_keys: false,
            strict: true,
            log_bytes: 0,
            not_for_rows: None,
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

    /// Obeys ALGORITHM and LOCK, or refuses. Errors 1221, 1845, 1846, 4092.
    pub fn obey(&mut self, old: &Table, algorithm: Option<AlterAlgorithm>, lock: Option<AlterLock>) -> Result<()> {
        let algorithm = algorithm.filter(|a| *a != AlterAlgorithm::Default);
        let lock = lock.filter(|l| *l != AlterLock::Default);
        if algorithm == Some(AlterAlgorithm::Instant) && lock.is_some() {
            return Err(err!(ER_WRONG_USAGE, "ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE"));
        }
        if old.temporary {
            // A copy, whatever it is, and nobody to keep out.
            return match algorithm {
                Some(AlterAlgorithm::Instant) => Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, INSTANT, "ALGORITHM=COPY")),
                Some(AlterAlgorithm::Inplace) => Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, INPLACE, "ALGORITHM=COPY")),
                _ => Ok(()),
            };
        }
        if self.virtuals && self.columns && (self.work > Work::Instant || algorithm == Some(AlterAlgorithm::Inplace)) {
            let reason = "INPLACE ADD or DROP of virtual columns cannot be combined with other ALTER TABLE actions";
            self.rebuild(Work::Copy(Why::Reason(reason)));
        }
        if let Some(reason) = self.loses_row_key(old) {
            self.rebuild(Work::Copy(Why::Reason(reason)));
        }
        let has_primary = |keys: &[KeySpec]| keys.iter().any(|k| k.kind == KeyKind::Primary);
        if self.rebuild && old.indexes.first().is_some_and(|i| i.primary) && !has_primary(&self.spec.keys) {
            // Only here: MySQL's rows would be known by the new unique key.
            self.needs(Work::Locked("Rows that get hidden row ids require a lock"));
        }
        if !self.strict && self.forbids_null(old) {
            let reason = "cannot silently convert NULL values, as required in this SQL_MODE";
            self.rebuild(Work::Copy(Why::Reason(reason)));
        }
        let both = old.engine.is_transactional() && self.spec.engine.is_transactional();
        if !both && (self.work > Work::Instant || self.evolves || self.rebuild) {
            self.rebuild(Work::Copy(Why::Unsaid));
            // InnoDB alone has reasons.
            if let Work::Copy(Why::Reason(_)) = self.work {
                self.work = Work::Copy(Why::Unsaid);
            }
        }
        if old.engine != self.spec.engine {
            self.rebuild(Work::Copy(Why::Rule));
        }
        if algorithm == Some(AlterAlgorithm::Copy) {
            self.rebuild(Work::Copy(Why::Asked));
        }
        self.lock = lock;
        self.check_algorithm(old, algorithm)?;
        // INPLACE asks for a rewrite of the rows.
        self.rebuild |= self.evolves && (algorithm == Some(AlterAlgorithm::Inplace) || is_full(old));
        self.check_lock(algorithm, lock)
    }

    /// Why the key by which rows are known, the primary one or what stands in for it, is none any more, while no added one
    /// takes its place.
    fn loses_row_key(&self, old: &Table) -> Option<&'static str> {
        let was = catalog::ddl::spec_of(old);
        let was = was.row_key()?;
        let renamed = self.renamed.iter().find(|(from, _)| Some(from) == was.name.as_ref()).map(|(_, to)| to);
        let name = renamed.or(was.name.as_ref());
        let now = self.spec.keys.iter().find(|k| k.kind == was.kind && k.name.as_ref() == name);
        let is_added = |k: &KeySpec| self.added_keys.iter().any(|at| std::ptr::eq(k, &self.spec.keys[*at]));
        match now {
            Some(key) if self.spec.may_be_row_key(key) => None,
            _ if self.spec.row_key().is_some_and(is_added) => None,
            Some(_) => Some(PRIMARY_NULLABLE),
            None => Some(PRIMARY_DROPPED),
        }
    }

    /// Can a column be NULL no more that could?
    fn forbids_null(&self, old: &Table) -> bool {
        let primary = self.spec.keys.iter().find(|k| k.kind == KeyKind::Primary);
        let in_primary = |c: &Column| primary.is_some_and(|k| k.parts.iter().any(|p| eq_name(&p.column, &c.name)));
        let forbids = |c: &Column| !c.data_type.nullable || in_primary(c);
        let mut columns = self.spec.columns.iter().zip(&self.from);
        columns.any(|(c, from)| from.is_some_and(|at| old.columns[at].data_type.nullable) && forbids(c))
    }

    fn check_algorithm(&self, old: &Table, algorithm: Option<AlterAlgorithm>) -> Result<()> {
        match (algorithm, self.work) {
            (Some(AlterAlgorithm::Instant), Work::Instant) if self.evolves && is_full(old) => {
                Err(err!(ER_INNODB_MAX_ROW_VERSION, old.name))
            }
            (Some(AlterAlgorithm::Instant), Work::Instant) if self.rebuild => {
                // Only here: MySQL computes them when they are read.
                let reason = "values of virtual columns are kept in rows";
                Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, INSTANT, reason, "ALGORITHM=COPY/INPLACE"))
            }
            (Some(AlterAlgorithm::Instant), work) => match work {
                Work::Instant => Ok(()),
                Work::Copy(Why::Rule) => Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, INSTANT, "ALGORITHM=COPY")),
                Work::Inplace | Work::Copy(Why::Unsaid | Why::Asked) => {
                    Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, INSTANT, "ALGORITHM=COPY/INPLACE"))
                }
                Work::Copy(Why::Reason(RETYPED_REASON)) => {
                    let reason = "Need to rebuild the table to change column type";
                    Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, INSTANT, reason, "ALGORITHM=COPY/INPLACE"))
                }
                Work::Locked(reason) | Work::Copy(Why::Reason(reason)) => {
                    Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, INSTANT, reason, "ALGORITHM=COPY/INPLACE"))
                }
            },
            (Some(AlterAlgorithm::Inplace), Work::Copy(why)) => match why {
                Why::Reason(reason) => {
                    Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, INPLACE, reason, "ALGORITHM=COPY"))
                }
                Why::Unsaid | Why::Rule | Why::Asked => {
                    Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, INPLACE, "ALGORITHM=COPY"))
                }
            },
            _ => Ok(()),
        }
    }

    /// Copies let others read; beside writers goes what is done in place.
    fn check_lock(&self, algorithm: Option<AlterAlgorithm>, lock: Option<AlterLock>) -> Result<()> {
        const NONE: &str = "LOCK=NONE";
        if self.only_renames()
            && algorithm != Some(AlterAlgorithm::Copy)
            && matches!(lock, Some(AlterLock::None | AlterLock::Shared))
        {
            return Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, "LOCK=NONE/SHARED", "LOCK=EXCLUSIVE"));
        }
        if lock != Some(AlterLock::None) {
            return Ok(());
        }
        match self.work {
            Work::Copy(Why::Asked | Why::Rule) => Err(err!(
                ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
                NONE,
                "COPY algorithm requires a lock",
                "LOCK=SHARED"
            )),
            Work::Copy(Why::Unsaid) => Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED, NONE, "LOCK=SHARED")),
            Work::Copy(Why::Reason(reason)) | Work::Locked(reason) => {
                Err(err!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, NONE, reason, "LOCK=SHARED"))
            }
            Work::Inplace | Work::Instant => Ok(()),
        }
    }

    pub fn position(&self, name: &str) -> Result<usize> {
        let found = self.spec.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name));
        found.ok_or_else(|| err!(ER_BAD_FIELD_ERROR, name, self.spec.name))
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
        let new = Column { histogram: None, ..new };
        let taken = |(i, c): (usize, &Column)| i != at && eq_name(&c.name, &new.name);
        if self.spec.columns.iter().enumerate().any(taken) {
            return Err(err!(ER_DUP_FIELDNAME, new.name));
        }
        if !eq_name(&old.name, &new.name) {
            self.refuse_dependents(&old.name)?;
        }
        if old.name != new.name {
            // Keys that this statement adds name columns as they will be called.
            let added = &self.added_keys;
            let keys = self.spec.keys.iter_mut().enumerate().filter(|(at, _)| !added.contains(at)).map(|(_, k)| k);
            let parts = keys.flat_map(|k| &mut k.parts).map(|p| &mut p.column);
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
        self.fit_prefixes(&new);
        let stored = |c: &Column| c.generated.as_ref().is_none_or(|g| g.stored);
        if stored(&old) != stored(&new) {
            return Err(err!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, "Changing the STORED status"));
        }
        let (x, y) = (&old.data_type, &new.data_type);
        // How wide an integer is shown is no matter of its rows.
        let length = |t: &types::DataType| if t.kind.is_integer() { 0 } else { t.length };
        let retyped = (x.kind, length(x), x.decimals, x.unsigned, x.zerofill, x.collation)
            != (y.kind, length(y), y.decimals, y.unsigned, y.zerofill, y.collation);
        let appended = x.kind == y.kind
            && new.members.len() > old.members.len()
            && new.members[..old.members.len()] == old.members[..]
            && member_bytes(&old) == member_bytes(&new);
        if retyped && self.spec.checks.iter().any(|c| c.enforced && reads(&c.expression, &old.name)) {
            self.rebuild(Work::Copy(Why::Rule));
        } else if !appended && (retyped || old.members != new.members) {
            match is_longer(x, y) {
                true if x.collation == y.collation || !self.is_in_key(&old.name) => self.needs(Work::Inplace),
                _ => self.rebuild(RETYPED),
            }
        } else if old.generated != new.generated {
            self.rebuild(Work::Copy(Why::Unsaid));
        }
        if old.auto_increment != new.auto_increment {
            self.rebuild(RETYPED);
        } else if x.nullable != y.nullable {
            self.rebuild(Work::Inplace);
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

    /// A key over more of a column than it will have is one over the whole column.
    fn fit_prefixes(&mut self, new: &Column) {
        let ty = &new.data_type;
        let most = match ty.kind {
            TypeKind::Json => 0,
            kind if kind.is_blob() => ty.max_bytes(),
            kind if kind.is_bytes() => ty.length.into(),
            _ => 0,
        };
        let added = &self.added_keys;
        let keys = self.spec.keys.iter_mut().enumerate().filter(|(at, _)| !added.contains(at));
        for part in keys.flat_map(|(_, k)| &mut k.parts).filter(|p| eq_name(&p.column, &new.name)) {
            if u64::from(part.prefix) > most {
                part.prefix = 0;
            }
        }
    }

    pub fn is_in_key(&self, column: &str) -> bool {
        self.spec.keys.iter().flat_map(|k| &k.parts).any(|p| eq_name(&p.column, column))
    }

    /// Expressions that read a column keep it from being dropped or renamed.
    fn refuse_dependents(&self, column: &str) -> Result<()> {
        let reads = |text: &str| reads(text, column);
        for other in &self.spec.columns {
            if other.generated.as_ref().is_some_and(|g| reads(&g.expression)) {
                return Err(if other.hidden {
                    err!(ER_DEPENDENT_BY_FUNCTIONAL_INDEX, column)
                } else {
                    err!(ER_DEPENDENT_BY_GENERATED_COLUMN, column)
                });
            }
            if let ColumnDefault::Expression(text) = &other.default
                && reads(text)
            {
                return Err(err!(ER_DEPENDENT_BY_GENERATED_COLUMN, column));
            }
        }
        match self.spec.checks.iter().find(|c| reads(&c.expression)) {
            Some(check) => Err(err!(ER_DEPENDENT_BY_CHECK_CONSTRAINT, check.name.as_deref().unwrap_or(""), column)),
            None => Ok(()),
        }
    }

    /// A check of this column alone goes with it. Errors 1091, 1828.
    pub fn drop_column(&mut self, name: &str) -> Result<()> {
        let at = self.spec.columns.iter().position(|c| !c.hidden && eq_name(&c.name, name));
        let at = at.ok_or_else(|| err!(ER_CANT_DROP_FIELD_OR_KEY, name))?;
        let dropped = self.spec.columns.remove(at);
        self.from.remove(at);
        let alone = |text: &str| columns_of(text).iter().all(|c| eq_name(c, name));
        self.spec.checks.retain(|c| !(reads(&c.expression, name) && alone(&c.expression)));
        if let Some(key) = self.spec.foreign_keys.iter().find(|k| k.columns.iter().any(|c| eq_name(c, name))) {
            return Err(err!(ER_FK_COLUMN_CANNOT_DROP, name, key.name.as_deref().unwrap_or("")));
        }
        if self.is_in_key(name) {
            self.rebuild(Work::Inplace);
        }
        match dropped.generated {
            Some(g) if !g.stored => self.virtuals = true,
            _ => self.columns = true,
        }
        self.evolves = true;
        self.dropped_columns.push(name.to_string());
        Ok(())
    }

    /// All drops are collected: the columns leave the keys, unless new columns are `added` under their names.
    pub fn leave_keys(&mut self, added: &dyn Fn(&str) -> bool) {
        for name in self.dropped_columns.iter().filter(|name| !added(name)) {
            self.spec.keys.iter_mut().for_each(|k| k.parts.retain(|p| !eq_name(&p.column, name)));
        }
        self.spec.keys.retain(|k| !k.parts.is_empty());
    }

    /// All actions are collected: nothing that stays reads what was dropped, no name is another key's. Errors 1061, 3108,
    /// 3522, 3837, 3959.
    pub fn settle_drops(&mut self) -> Result<()> {
        self.spec.check_visibility()?;
        for at in &self.renamed_keys {
            let name = &self.spec.keys[*at].name;
            if self.spec.keys.iter().enumerate().any(|(other, k)| other != *at && k.name == *name) {
                return Err(err!(ER_DUP_KEYNAME, name.as_deref().unwrap_or_default()));
            }
        }
        std::mem::take(&mut self.dropped_columns).iter().try_for_each(|name| self.refuse_dependents(name))
    }

    /// Keys that were made for foreign keys go when what was added can serve them.
    pub fn drop_needless_keys(&mut self) -> Result<()> {
        while let Some(at) = self.spec.needless_key() {
            match self.spec.keys[at].name.clone() {
                Some(name) if !self.added_keys.contains(&at) => self.drop_index(&name)?,
                _ => {
                    let key = self.take_key(at);
                    let columns = |k: &KeySpec| k.parts.iter().map(|p| p.column.clone()).collect::<Vec<_>>();
                    self.added.retain(|k| !k.for_foreign_key || k.name != key.name || columns(k) != columns(&key));
                }
            }
        }
        Ok(())
    }

    fn take_key(&mut self, at: usize) -> KeySpec {
        for places in [&mut self.renamed_keys, &mut self.shown_keys, &mut self.added_keys] {
            places.retain(|place| *place != at);
            places.iter_mut().filter(|place| **place > at).for_each(|place| *place -= 1);
        }
        self.spec.keys.remove(at)
    }

    /// Names of the keys that the table has already, as they will be.
    pub fn kept_keys(&self) -> Vec<String> {
        let keys = self.spec.keys.iter().enumerate().filter(|(at, _)| !self.added_keys.contains(at));
        keys.filter_map(|(_, key)| key.name.clone()).collect()
    }

    /// The last key of the specification is new.
    pub fn added_key(&mut self) {
        self.added_keys.push(self.spec.keys.len() - 1);
        let key = self.spec.keys.last().expect("it was just added").clone();
        // Hidden columns of expressions come from nowhere.
        self.from.resize(self.spec.columns.len(), None);
        let mut new = self.spec.columns.iter().zip(&self.from).filter(|(_, from)| from.is_none()).map(|(c, _)| c);
        let is_virtual = |c: &Column| c.generated.as_ref().is_some_and(|g| !g.stored);
        if new.any(|c| is_virtual(c) && key.parts.iter().any(|p| eq_name(&p.column, &c.name))) {
            self.virtuals = true;
            self.rebuild(Work::Locked(VIRTUAL_INDEXED));
        }
        if key.kind == KeyKind::Primary {
            self.rebuild(Work::Inplace);
        }
        self.needs(Work::Inplace);
        self.added.push(key);
    }

    /// The last foreign key of the specification is new. Rows are asked for their parents where foreign keys are `checked`.
    pub fn added_foreign_key(&mut self, checked: bool) {
        self.added_foreign_keys.push(self.spec.foreign_keys.len() - 1);
        match checked {
            true => self.rebuild(Work::Copy(Why::Reason("Adding foreign keys needs foreign_key_checks=OFF"))),
            false => self.needs(Work::Inplace),
        }
    }

    /// All keys are collected: foreign keys that were added get the indexes that they lack.
    pub fn index_foreign_keys(&mut self) {
        for at in std::mem::take(&mut self.added_foreign_keys) {
            if self.spec.add_foreign_key_index(at) {
                self.added_key();
            }
        }
    }

    /// Error 1091.
    pub fn drop_foreign_key(&mut self, name: &str) -> Result<()> {
        let before = self.spec.foreign_keys.len();
        self.spec.foreign_keys.retain(|k| !k.name.as_deref().is_some_and(|n| eq_name(n, name)));
        self.needs(Work::Inplace);
        // There the keys were forgotten when they were made.
        let forgotten = !self.spec.engine.is_transactional();
        if self.spec.foreign_keys.len() == before && !forgotten {
            Err(err!(ER_CANT_DROP_FIELD_OR_KEY, name))
        } else {
            Ok(())
        }
    }

    fn check(&self, name: &str) -> Option<usize> {
        self.spec.checks.iter().position(|c| c.name.as_deref().is_some_and(|n| eq_name(n, name)))
    }

    /// Error 3821.
    pub fn drop_check(&mut self, name: &str) -> Result<()> {
        let at = self.check(name).ok_or_else(|| err!(ER_CHECK_CONSTRAINT_NOT_FOUND, name))?;
        self.spec.checks.remove(at);
        Ok(())
    }

    /// How many constraints have that name, none or one: checks, foreign keys, unique and primary keys. Error 3939, where more do;
    /// `clause`: what the statement should say instead.
    fn one_constraint(&self, name: &str, clause: &str) -> Result<usize> {
        let called = |n: &Option<String>| n.as_deref().is_some_and(|n| eq_name(n, name));
        let keys = self.spec.keys.iter().filter(|k| k.kind != KeyKind::Plain && called(&k.name)).count();
        let foreign = self.spec.foreign_keys.iter().filter(|k| called(&k.name)).count();
        match keys + foreign + usize::from(self.check(name).is_some()) {
            2.. => Err(err!(ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME, name, clause)),
            found => Ok(found),
        }
    }

    /// ALTER CONSTRAINT ... [NOT] ENFORCED. Errors 3939, 3940, 3941.
    pub fn enforce_constraint(&mut self, name: &str, enforced: bool) -> Result<()> {
        match (self.one_constraint(name, "ALTER")?, self.check(name)) {
            (_, Some(_)) => self.enforce(name, enforced),
            (0, None) => Err(err!(ER_CONSTRAINT_NOT_FOUND, name)),
            _ => Err(err!(ER_ALTER_CONSTRAINT_ENFORCEMENT_NOT_SUPPORTED, name)),
        }
    }

    /// DROP CONSTRAINT: a check, foreign key, unique or primary key of that name. Errors 3939, 3940.
    pub fn drop_constraint(&mut self, name: &str) -> Result<()> {
        self.one_constraint(name, "DROP")?;
        if self.check(name).is_some() {
            return self.drop_check(name);
        }
        if self.drop_foreign_key(name).is_ok() {
            return Ok(());
        }
        let unique = |k: &KeySpec| k.kind != KeyKind::Plain && k.name.as_deref().is_some_and(|n| eq_name(n, name));
        match self.spec.keys.iter().any(unique) {
            true => self.drop_index(name),
            false => Err(err!(ER_CONSTRAINT_NOT_FOUND, name)),
        }
    }

    /// ALTER CHECK ... [NOT] ENFORCED. Errors 3821, 3941.
    pub fn enforce(&mut self, name: &str, enforced: bool) -> Result<()> {
        let at = self.check(name).ok_or_else(|| err!(ER_CHECK_CONSTRAINT_NOT_FOUND, name))?;
        if enforced && !self.spec.checks[at].enforced {
            self.rebuild(Work::Copy(Why::Rule));
        }
        self.spec.checks[at].enforced = enforced;
        Ok(())
    }

    /// Error 1176, 3522.
    pub fn set_index_visible(&mut self, name: &str, visible: bool) -> Result<()> {
        let at = self.key_as_it_was(name)?;
        self.shown_keys.push(at);
        let key = &mut self.spec.keys[at];
        if key.kind == KeyKind::Primary && !visible {
            return Err(err!(ER_PK_INDEX_CANT_BE_INVISIBLE));
        }
        key.invisible = !visible;
        self.needs(Work::Inplace);
        Ok(())
    }

    pub fn drop_primary(&mut self) -> Result<()> {
        let before = self.spec.keys.len();
        self.spec.keys.retain(|k| k.kind != KeyKind::Primary);
        // In place with a new one.
        self.rebuild(Work::Inplace);
        if self.spec.keys.len() == before { Err(err!(ER_CANT_DROP_FIELD_OR_KEY, "PRIMARY")) } else { Ok(()) }
    }

    pub fn drop_index(&mut self, name: &str) -> Result<()> {
        if name.eq_ignore_ascii_case("PRIMARY") {
            return self.drop_primary();
        }
        let found = self.spec.keys.iter().position(|k| k.name.as_deref().is_some_and(|n| eq_name(n, name)));
        let key = self.take_key(found.ok_or_else(|| err!(ER_CANT_DROP_FIELD_OR_KEY, name))?);
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
        check_name(new, ER_WRONG_NAME_FOR_INDEX)?;
        let at = self.key_as_it_was(old).ok().filter(|at| !self.shown_keys.contains(at));
        let at = at.ok_or_else(|| err!(ER_KEY_DOES_NOT_EXITS, old, self.spec.name))?;
        let key = &mut self.spec.keys[at];
        key.name = Some(new.to_string());
        key.for_foreign_key = false;
        self.needs(Work::Inplace);
        self.renamed.push((old.to_string(), new.to_string()));
        self.renamed_keys.push(at);
        Ok(())
    }

    /// The place of the key that had this name before any action renamed it, so that names can be swapped. Error 1176.
    fn key_as_it_was(&self, name: &str) -> Result<usize> {
        let has_name = |k: &KeySpec| k.name.as_deref().is_some_and(|n| eq_name(n, name));
        let is_old = |at: &usize| !self.renamed_keys.contains(at) && !self.added_keys.contains(at);
        let mut keys = self.spec.keys.iter().enumerate().filter(|(at, _)| is_old(at));
        let found = keys.find(|(_, k)| has_name(k)).map(|(at, _)| at);
        found.ok_or_else(|| err!(ER_KEY_DOES_NOT_EXITS, name, self.spec.name))
    }

    /// Does it, in the DDL in progress; the table is locked.
    /// How many rows were copied, as MySQL counts them: none when it would have changed the table in place.
    pub fn run(mut self, ddl: &mut Ddl<'_>, old: &Arc<Table>, env: &mut dyn Env) -> Result<u64> {
        if !self.spec.columns.iter().any(|c| !c.hidden) {
            return Err(err!(ER_CANT_REMOVE_ALL_FIELDS));
        }
        let renamed_columns = std::mem::take(&mut self.renamed_columns);
        let rename = self.rename.take();
        self.refuse_children(ddl, old)?;
        self.refuse_rows(ddl, old)?;
        let mut copied = 0;
        let table = if self.rebuild {
            let (table, rows) = self.rewrite(ddl, old, env)?;
            copied = rows;
            table
        } else {
            let evolved = if self.evolves { Some(self.evolve(ddl, old, env)?) } else { None };
            self.change(ddl, evolved.as_ref().unwrap_or(old), env)?
        };
        if !renamed_columns.is_empty() {
            ddl.rename_parent_columns(&table, &renamed_columns)?;
        }
        if let Some((schema, name)) = rename {
            ddl.rename_table((&table.schema, &table.name), (&schema, &name))?;
        }
        Ok(copied)
    }

    /// Error 1292 where a new column has no value that rows could get, and there are rows.
    fn refuse_rows(&self, ddl: &mut Ddl<'_>, old: &Table) -> Result<()> {
        let Some((column, kind)) = &self.not_for_rows else { return Ok(()) };
        if ddl::definition::is_empty(ddl.tx(), old)? {
            return Ok(());
        }
        let (what, zero) = match kind {
            types::TypeKind::Date => ("date", "0000-00-00"),
            _ => ("datetime", "0000-00-00 00:00:00"),
        };
        let message = format!("Incorrect {what} value: '{zero}' for column '{column}' at row 1");
        Err(types::SqlError::new(ER_TRUNCATED_WRONG_VALUE, message))
    }

    /// The table in its new form, with all rows; how many were copied.
    fn rewrite(&mut self, ddl: &mut Ddl<'_>, old: &Arc<Table>, env: &mut dyn Env) -> Result<(Arc<Table>, u64)> {
        let in_place = !matches!(self.work, Work::Copy(_));
        // In place another counting column begins anew, in a copy one whose predecessor is dropped.
        let counts = |at: &Option<usize>| at.is_some_and(|at| old.columns[at].auto_increment);
        let counting = self.spec.columns.iter().position(|c| c.auto_increment);
        let dropped = old.auto_increment.is_some() && !self.from.iter().any(counts);
        let recounts = (in_place || dropped) && !counting.is_some_and(|at| counts(&self.from[at]));
        let goes_on = self.spec.auto_increment.is_none() && !recounts;
        let table = ddl.rebuild_table(old, self.spec.clone(), recounts, in_place)?;
        let version = Arc::new(ddl.version().clone());
        let mut rewrite = Rewrite::new(env, &version, (old, &table), &self.from, in_place)?;
        let mut copied = 0;
        if self.lets == Lets::Write {
            self.build(ddl, old, Goal::Form(Box::new(rewrite)), env)?;
            self.refuse_rows(ddl, old)?;
        } else {
            copied = rewrite.copy(ddl.tx(), env, None)?;
        }
        ddl.count_on(old, &table, goes_on)?;
        Ok((table, if in_place { 0 } else { copied }))
    }

    /// Columns come and go, rows stay as they are.
    fn evolve(&self, ddl: &mut Ddl<'_>, old: &Arc<Table>, env: &mut dyn Env) -> Result<Arc<Table>> {
        let columns = self.spec.columns.clone();
        let new = columns.iter().zip(&self.from).filter(|(_, from)| from.is_none()).map(|(c, _)| c);
        let initial = ddl::definition::initial_values(ddl.tx(), env, new)?;
        ddl.evolve_table(old, columns, &self.from, initial)
    }

    /// Nothing but a new name for the table: MySQL counts no records then.
    pub fn only_renames(&self) -> bool {
        let nothing = self.work == Work::Instant && !self.rebuild && !self.evolves;
        nothing && (self.rename.is_some() || self.switches_keys) && self.renamed_columns.is_empty()
    }

    /// What others may do meanwhile.
    pub fn lets(&self, ddl: &Ddl<'_>) -> Lets {
        match self.lock {
            Some(AlterLock::Exclusive) => Lets::Nothing,
            Some(AlterLock::Shared) => Lets::Read,
            _ if self.builds_beside_writers() && ddl.lets_write() => Lets::Write,
            _ => Lets::Read,
        }
    }

    /// There is something that takes long, and writers need not wait for it, which in MySQL is InnoDB's alone.
    fn builds_beside_writers(&self) -> bool {
        let in_place = self.spec.engine.is_transactional() && self.work <= Work::Inplace;
        in_place && (self.rebuild || !self.added.is_empty())
    }

    /// The table with its new indexes, filled.
    fn build_indexes(&mut self, ddl: &mut Ddl<'_>, old: &Arc<Table>, env: &mut dyn Env) -> Result<Arc<Table>> {
        let added = std::mem::take(&mut self.added);
        let mut table = Arc::clone(old);
        let mut names = Vec::with_capacity(added.len());
        for key in added {
            let (new, at) = ddl.create_index(&table, key)?;
            names.push(new.indexes[at].name.clone());
            table = new;
        }
        let position = |name: &String| table.indexes.iter().position(|i| i.name == *name).expect("it was just made");
        let indexes = names.iter().map(position);
        match self.lets {
            Lets::Write => self.build(ddl, &table, Goal::Indexes(Arc::clone(&table), indexes.collect()), env)?,
            _ => ddl::fill::fill_indexes(ddl.tx(), env, &table, indexes)?,
        }
        Ok(table)
    }

    /// Builds new trees beside those who write the table; in the end nobody uses it.
    fn build(&self, ddl: &mut Ddl<'_>, table: &Table, goal: Goal, env: &mut dyn Env) -> Result<()> {
        ddl.shut_out(table)?;
        let mut build = OnlineBuild::begin(&Arc::clone(ddl.engine()), goal, self.log_bytes)?;
        ddl.let_in(table);
        build.fill(ddl.tx(), env)?;
        // Each round has less to do than the one before, unless writers are as fast as it: then they wait for the rest.
        let mut rows = build.catch_up(ddl.tx(), env)?;
        for _ in 0..CATCH_UPS_MAX {
            if rows < ROWS_LEFT {
                break;
            }
            rows = build.catch_up(ddl.tx(), env)?;
        }
        ddl.shut_out(table)?;
        build.finish(ddl.tx(), env)
    }

    /// What needs no new rows.
    fn change(mut self, ddl: &mut Ddl<'_>, old: &Arc<Table>, env: &mut dyn Env) -> Result<Arc<Table>> {
        let mut table = Arc::clone(old);
        if old.columns.iter().zip(&self.spec.columns).any(|(old, new)| old.name != new.name) {
            // What is added names columns as they will be called.
            table = ddl.alter_table(&table, |t| {
                for (column, new) in t.columns.iter_mut().zip(&self.spec.columns) {
                    column.name.clone_from(&new.name);
                }
            })?;
        }
        let adds = !self.added.is_empty();
        for name in self.dropped.iter_mut().filter(|_| adds) {
            // Gone only once the new ones are there, which foreign keys may need and which may have its name.
            let replaced = catalog::ddl::replaced_name(name);
            table = ddl.alter_table(&table, |t| {
                for index in t.indexes.iter_mut().filter(|i| eq_name(&i.name, name)) {
                    index.name.clone_from(&replaced);
                }
            })?;
            *name = replaced;
        }
        if !self.added.is_empty() {
            table = self.build_indexes(ddl, &table, env)?;
        }
        // The foreign keys that were dropped need their indexes no more.
        let mut spec = self.spec;
        ddl.lock_parents(&spec.foreign_keys, table.id, &table.foreign_keys)?;
        let checks = ddl.take_checks(&mut spec)?;
        let foreign_keys = ddl.take_foreign_keys(&mut spec, &table.indexes, &table.foreign_keys)?;
        table = ddl.alter_table(&table, |t| (t.checks, t.foreign_keys) = (checks, foreign_keys))?;
        for name in &self.dropped {
            table = ddl.drop_index(&table, name)?;
        }
        if let (Some(next), Some(counter)) = (spec.auto_increment, &table.auto_increment) {
            // Not below what rows have; behind the type's last value the counter stays at it.
            let number = table.columns.iter().find(|c| c.auto_increment).expect("the counter's column");
            let last = number.data_type.integer_bounds().1;
            let next = next.max(ddl::definition::largest_number(ddl.tx(), &table)?.saturating_add(1).min(last));
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
            for part in t.indexes.iter_mut().flat_map(|i| &mut i.parts) {
                part.key.data_type = t.columns[part.column].key_type();
            }
            for index in &mut t.indexes {
                if let Some((_, to)) = renamed.iter().find(|(from, _)| eq_name(&index.name, from)) {
                    index.name = to.clone();
                }
            }
            for index in &mut t.indexes {
                if let Some(key) = spec.keys.iter().find(|k| k.name.as_deref() == Some(&index.name)) {
                    index.invisible = key.invisible;
                    index.for_foreign_key = key.for_foreign_key;
                }
            }
        })
    }

    /// A column that foreign keys of this or another table use keeps its type and stays. Errors 1829, 1832, 1833, 3780.
    fn refuse_children(&self, ddl: &Ddl<'_>, old: &Table) -> Result<()> {
        let checks = ddl.checks_foreign_keys();
        let new_of = |at: usize| self.from.iter().position(|f| *f == Some(at)).map(|i| &self.spec.columns[i]);
        for key in &old.foreign_keys {
            let kept = self.spec.foreign_keys.iter().any(|k| k.name.as_deref() == Some(&key.name));
            for (at, parent) in key.columns.iter().zip(&key.parent_columns).filter(|_| kept) {
                let Some(new) = new_of(*at) else { continue };
                match change_of_key(&old.columns[*at], new, checks) {
                    KeyChange::None => {}
                    KeyChange::Values => return Err(err!(ER_FK_COLUMN_CANNOT_CHANGE, old.columns[*at].name, key.name)),
                    KeyChange::Type => return Err(err!(ER_FK_INCOMPATIBLE_COLUMNS, new.name, parent, key.name)),
                }
            }
        }
        for child in ddl.version().children(&old.schema, &old.name) {
            for key in child.foreign_keys.iter().filter(|k| k.parent.0 == old.schema && k.parent.1 == old.name) {
                for (own, name) in key.columns.iter().zip(&key.parent_columns) {
                    let Some(at) = old.column_position(name) else { continue };
                    let Some(new) = new_of(at) else {
                        if checks {
                            return Err(err!(ER_FK_COLUMN_CANNOT_DROP_CHILD, name, key.name, child.name));
                        }
                        continue;
                    };
                    match change_of_key(&old.columns[at], new, checks) {
                        _ if child.id == old.id => {}
                        KeyChange::None => {}
                        KeyChange::Values => {
                            return Err(err!(
                                ER_FK_COLUMN_CANNOT_CHANGE_CHILD,
                                name,
                                key.name,
                                format!("{}.{}", child.schema, child.name)
                            ));
                        }
                        KeyChange::Type => {
                            return Err(err!(ER_FK_INCOMPATIBLE_COLUMNS, child.columns[*own].name, new.name, key.name));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// What a new definition means for the foreign keys that a column is of.
enum KeyChange {
    None,
    /// Values may come out differently.
    Values,
    /// They are no values that the other table's column could have.
    Type,
}

/// `checks`: foreign_key_checks, without which only another type is refused.
fn change_of_key(old: &Column, new: &Column, checks: bool) -> KeyChange {
    use types::TypeKind as K;
    let both = |of: &dyn Fn(K) -> bool| of(old.data_type.kind) && of(new.data_type.kind);
    let are_texts = both(&|k| matches!(k, K::Char | K::VarChar));
    // InnoDB has strings of bytes for all of these.
    let are_bytes =
        both(&|k| matches!(k, K::Decimal | K::DateTime | K::Timestamp | K::Time | K::Bit | K::Binary | K::VarBinary));
    if !catalog::are_compatible(old, new) && !are_bytes && (checks || !are_texts) {
        return KeyChange::Type;
    }
    let (from, to) = (&old.data_type, &new.data_type);
    let is_width = from.kind.is_integer() && to.kind.is_integer();
    let is_same = from.kind == to.kind
        && (is_width || from.length == to.length || matches!(from.kind, K::Enum | K::Set))
        && (from.decimals, from.unsigned, from.collation) == (to.decimals, to.unsigned, to.collation)
        && new.members.starts_with(&old.members);
    if checks && !is_same && !is_longer(from, to) { KeyChange::Values } else { KeyChange::None }
}

/// Has the table as many row versions as there may be?
fn is_full(table: &Table) -> bool {
    table.evolution.as_ref().is_some_and(|e| e.versions >= catalog::evolution::ROW_VERSIONS_MAX)
}

/// Does the expression name this column?
fn reads(text: &str, column: &str) -> bool {
    columns_of(text).iter().any(|c| eq_name(c, column))
}

/// Bytes that InnoDB's rows have for a column of an ENUM or SET.
fn member_bytes(column: &Column) -> usize {
    match (column.data_type.kind, column.members.len()) {
        (types::TypeKind::Set, n) => n.div_ceil(8).next_power_of_two(),
        (_, n) => 1 + usize::from(n > 255),
    }
}

/// Is the second a string type for which all values of the first are as they should be? One byte of length, or two, is part of the
/// type, as in MySQL.
fn is_longer(from: &types::DataType, to: &types::DataType) -> bool {
    from.kind == to.kind
        && matches!(from.kind, types::TypeKind::VarChar | types::TypeKind::VarBinary)
        && from.collation.charset() == to.collation.charset()
        && to.length >= from.length
        && (from.max_bytes() > 255) == (to.max_bytes() > 255)
}
