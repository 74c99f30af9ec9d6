//! ALTER TABLE from the tree to a plan: see [`crate::alter`].

use crate::alter::{AlterPlan, ENCRYPTED, RETYPED, Why, Work};
use crate::needs::Action;
use crate::session::Session;
use crate::state::State;
use crate::statement::unsupported;
use crate::table_options::{Optioned, check_engine};
use crate::variables::{FOREIGN_KEY_CHECKS, VarId, id};
use catalog::eq_name;
use catalog::histogram::Domain;
use catalog::{Column, ColumnDefault, Ddl, MYSQL, StorageEngine, Table};
use expr::Env;
use plan::column_type::{collation_from, declared_collation};
use run::Outcome;
use sql::ast::*;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::{Charset, Result, SqlError, SqlMode, TypeKind, err};

const ONLINE_LOG_BYTES: VarId = id("innodb_online_alter_log_max_size");

fn is_drop(action: &AlterAction) -> bool {
    matches!(
        action,
        AlterAction::DropColumn(_)
            | AlterAction::DropPrimaryKey
            | AlterAction::DropIndex(_)
            | AlterAction::DropConstraint(_)
            | AlterAction::DropForeignKey(_)
            | AlterAction::DropCheck(_)
    )
}

fn hides_primary_key(action: &AlterAction) -> bool {
    let AlterAction::AddKey(KeyDef::Index(index)) = action else { return false };
    index.kind == IndexKind::Primary && index.options.invisible
}

/// Does one of the actions add a column of that name?
fn adds(parsed: &Parsed, actions: &[AlterAction], name: &str) -> bool {
    let mut added = actions.iter().filter_map(|a| match a {
        AlterAction::AddColumns(columns, _) => Some(columns),
        _ => None,
    });
    added.any(|columns| columns.iter().any(|c| eq_name(parsed.name(c.name), name)))
}

impl Session {
    pub(crate) fn alter_table(&mut self, parsed: &Parsed, alter: &AlterTable) -> Result<Outcome> {
        let (schema, name) = self.object(parsed, alter.name)?;
        let renamed = alter.actions.iter().rev().find_map(|a| match a {
            AlterAction::RenameTable(to) => Some(*to),
            _ => None,
        });
        match renamed {
            None => self.need_on_shared(Action::AlterTable, &schema, &name)?,
            Some(to) => {
                self.need_on_shared(Action::RenameFrom, &schema, &name)?;
                let to = self.object(parsed, to)?;
                self.need_on(Action::RenameTo, &to.0, &to.1)?;
            }
        }
        let added = alter.actions.iter().filter_map(|a| match a {
            AlterAction::AddKey(key) => Some(key),
            _ => None,
        });
        self.may_refer(parsed, added, &schema)?;
        let only_keys = alter.actions.iter().all(|a| matches!(a, AlterAction::EnableKeys(_)));
        let found = self.dictionary().base_table(&schema, &name).cloned();
        if only_keys && !alter.actions.is_empty() && found.is_some_and(|t| t.is_virtual() && t.schema == MYSQL) {
            // A dump does so around the rows of each table.
            self.state.push_warning("Note", err!(ER_ILLEGAL_HA, name));
            return Ok(Outcome::default());
        }
        // Seen before the table is.
        if alter.actions.iter().any(hides_primary_key) {
            return Err(err!(ER_PK_INDEX_CANT_BE_INVISIBLE));
        }
        let of_column = |a: &AlterAction| {
            use AlterAction::{AddColumns, ChangeColumn, RenameColumn};
            matches!(a, AddColumns(..) | ChangeColumn { .. } | RenameColumn(..))
        };
        if alter.validation.is_some() && !alter.actions.iter().any(of_column) {
            return Err(err!(ER_WRONG_USAGE, "ALTER", "WITH VALIDATION"));
        }
        self.alter(&schema, &name, |session, old, plan| {
            let was = (old.engine, &old.create_options);
            let encrypts = session.dictionary().schema(&schema).is_some_and(|schema| schema.encrypts);
            let optioned =
                Optioned { schema: &schema, name: &name, temporary: old.temporary, encrypts, was: Some(was) };
            let (engine, options) = session.table_options(parsed, &alter.options, optioned)?;
            if options.is_encrypted() != old.create_options.is_encrypted() {
                plan.rebuild(ENCRYPTED);
                // They would tell of the rows, in the dictionary.
                plan.spec.columns.iter_mut().for_each(|c| c.histogram = None);
            }
            if engine != old.engine {
                session.refuse_engine(old)?;
                session.change_engine(&mut plan.spec, engine);
            }
            // What is dropped is the table's as it was: its names are free for what is added.
            for action in alter.actions.iter().filter(|a| is_drop(a)) {
                session.alter_action(parsed, action, plan)?;
            }
            plan.leave_keys(&|name| adds(parsed, &alter.actions, name));
            for action in alter.actions.iter().filter(|a| !is_drop(a)) {
                session.alter_action(parsed, action, plan)?;
            }
            plan.index_foreign_keys();
            plan.settle_drops()?;
            if alter.validation == Some(true) {
                // What is computed is computed anew for each row.
                plan.rebuild(Work::Copy(Why::Unsaid));
            }
            if let Some(collation) = declared_collation(parsed, &alter.options.charsets)? {
                plan.spec.default_collation = collation;
                plan.needs(Work::Inplace);
            }
            if let Some(comment) = alter.options.comment {
                plan.spec.comment = session.comment_of(parsed, Some(comment), (ER_TOO_LONG_TABLE_COMMENT, &name))?;
                plan.needs(Work::Inplace);
            }
            if options != old.create_options {
                plan.spec.create_options = options;
                plan.needs(Work::Inplace);
            }
            if alter.options.engine.is_some() {
                plan.columns = true;
                plan.rebuild(Work::Inplace);
            }
            plan.spec.auto_increment = alter.options.auto_increment;
            if alter.options.auto_increment.is_some() {
                plan.needs(Work::Inplace);
            }
            plan.obey(old, alter.algorithm, alter.lock)
        })
    }

    /// Collects the changes of one table into a plan, then makes them. Errors 1146, 1347, 1412 and the plan's.
    pub(crate) fn alter(
        &mut self,
        schema: &str,
        name: &str,
        collect: impl FnOnce(&mut Session, &Table, &mut AlterPlan) -> Result<()>,
    ) -> Result<Outcome> {
        self.refuse_read_only(schema, name)?;
        let version = self.dictionary();
        version.schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?;
        let table = Arc::clone(version.table(schema, name).ok_or_else(|| err!(ER_NO_SUCH_TABLE, schema, name))?);
        if table.view.is_some() {
            return Err(err!(ER_WRONG_OBJECT, schema, name, "BASE TABLE"));
        }
        let mut plan = AlterPlan::new(&table);
        plan.strict = SqlMode(self.state.sql_mode()).is_strict();
        collect(self, &table, &mut plan)?;
        plan.drop_needless_keys()?;
        let kept_keys = plan.kept_keys();
        if table.temporary {
            // As in MySQL, which has no other way for them.
            plan.rebuild(Work::Copy(Why::Asked));
        }
        check_engine(&mut plan.spec)?;
        plan.log_bytes = self.server.globals.load().uint(ONLINE_LOG_BYTES) as usize;
        let only_renames = plan.only_renames();
        match only_renames {
            true => self.check_expressions(&plan.spec)?,
            false => self.check_new_table(&plan.spec)?,
        }
        let change = |ddl: &mut Ddl<'_>, state: &mut State| {
            plan.lets = plan.lets(ddl);
            let old = ddl.lock_to_alter(schema, name, plan.lets)?;
            if old.id != table.id || old.version != table.version {
                // Another DDL came between: the plan was made for another table.
                return Err(err!(ER_TABLE_DEF_CHANGED));
            }
            plan.run(ddl, &old, state)
        };
        let copied = match table.temporary {
            true => {
                self.commit_all()?;
                self.define_temporary(change)?
            }
            false => self.define_with(change)?,
        };
        self.warn_duplicate_keys(schema, name, &kept_keys);
        let warnings = self.state.warning_count;
        let info = format!("Records: {copied}  Duplicates: 0  Warnings: {warnings}");
        let info = if only_renames { String::new() } else { info };
        Ok(Outcome { affected_rows: copied, info, ..Outcome::default() })
    }

    /// What a new column asks of the table's rows.
    fn add_column(&self, column: &Column, plan: &mut AlterPlan) {
        let dates = matches!(column.data_type.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp);
        let mode = SqlMode(self.state.sql_mode());
        let zero = dates && !column.data_type.nullable && column.default == ColumnDefault::None;
        if zero && column.generated.is_none() && mode.is_strict() && mode.0 & SqlMode::NO_ZERO_DATE.0 != 0 {
            plan.not_for_rows = Some((column.name.clone(), column.data_type.kind));
            plan.needs(Work::Inplace);
        }
        match &column.generated {
            Some(g) if g.stored => plan.rebuild(Work::Copy(Why::Unsaid)),
            Some(_) => {
                plan.virtuals = true;
                plan.rebuild(Work::Instant);
            }
            None => {
                plan.columns = true;
                plan.evolves = true;
            }
        }
        if matches!(column.default, ColumnDefault::Expression(_)) {
            plan.rebuild(Work::Copy(Why::Unsaid));
        }
        if column.auto_increment {
            plan.rebuild(Work::Locked("Adding an auto-increment column requires a lock"));
        }
        let implicit_document = column.data_type.kind == TypeKind::Json && !column.data_type.nullable;
        if implicit_document {
            plan.rebuild(Work::Inplace);
        }
    }

    fn alter_action(&mut self, parsed: &Parsed, action: &AlterAction, plan: &mut AlterPlan) -> Result<()> {
        let name = |n: Name| parsed.name(n).to_string();
        match action {
            AlterAction::AddColumns(columns, position) => self.add_columns(parsed, columns, *position, plan)?,
            AlterAction::AddKey(key) => {
                let names = plan.names();
                self.add_key(parsed, key, &names, &mut plan.spec)?;
                match key {
                    KeyDef::Index(_) => plan.added_key(),
                    KeyDef::ForeignKey(_) => plan.added_foreign_key(self.state.vars.bool(FOREIGN_KEY_CHECKS)),
                    KeyDef::Check(check) if check.enforced => plan.rebuild(Work::Copy(Why::Rule)),
                    KeyDef::Check(_) => {}
                }
            }
            AlterAction::DropColumn(column) => plan.drop_column(&name(*column))?,
            AlterAction::DropPrimaryKey => plan.drop_primary()?,
            AlterAction::DropIndex(index) => plan.drop_index(&name(*index))?,
            AlterAction::DropConstraint(constraint) => plan.drop_constraint(&name(*constraint))?,
            AlterAction::DropForeignKey(key) => plan.drop_foreign_key(&name(*key))?,
            AlterAction::DropCheck(check) => plan.drop_check(&name(*check))?,
            AlterAction::SetEnforced(check, enforced) => plan.enforce(&name(*check), *enforced)?,
            AlterAction::SetConstraintEnforced(constraint, enforced) => {
                plan.enforce_constraint(&name(*constraint), *enforced)?
            }
            AlterAction::SetIndexVisible(index, visible) => plan.set_index_visible(&name(*index), *visible)?,
            AlterAction::SetColumnVisible(column, visible) => {
                let at = plan.position(&name(*column))?;
                plan.spec.columns[at].invisible = !visible;
                if plan.spec.columns.iter().all(|c| c.hidden || c.invisible) {
                    return Err(err!(ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN));
                }
            }
            AlterAction::ChangeColumn { old, column, position } => {
                self.change_column(parsed, parsed.name(*old), column, *position, plan)?;
            }
            AlterAction::RenameColumn(old, new) => {
                let at = plan.position(&name(*old))?;
                let renamed = Column { name: name(*new), ..plan.spec.columns[at].clone() };
                plan.change_column(parsed, at, renamed, ColumnPosition::Last)?;
            }
            AlterAction::RenameIndex(old, new) => plan.rename_index(&name(*old), &name(*new))?,
            AlterAction::RenameTable(to) => {
                let to = self.object(parsed, *to)?;
                self.may_move((&plan.spec.schema, &plan.spec.name), &to.0)?;
                // To its own name it is not renamed.
                let is_own = to.0 == plan.spec.schema && to.1 == plan.spec.name;
                plan.rename = if is_own { None } else { Some(to) };
            }
            AlterAction::SetDefault(column, value) => {
                let at = plan.position(&name(*column))?;
                let names = plan.names();
                let (t, members) = (plan.spec.columns[at].data_type, plan.spec.columns[at].members.clone());
                // Not even NULL, which CREATE TABLE takes.
                if t.kind.is_blob() && matches!(value, DefaultValue::Literal(_)) {
                    return Err(err!(ER_BLOB_CANT_HAVE_DEFAULT, name(*column)));
                }
                let default = self.default_value(parsed, &name(*column), *value, &t, &members, &names)?;
                plan.spec.columns[at].default = default;
            }
            AlterAction::DropDefault(column) => {
                let at = plan.position(&name(*column))?;
                plan.spec.columns[at].default = ColumnDefault::None;
            }
            AlterAction::ConvertCharset { charset, collation } => {
                let to = collation_from(parsed, *charset, *collation)?.unwrap_or(plan.spec.default_collation);
                convert_columns(plan, to);
            }
            AlterAction::Force => {
                plan.columns = true;
                plan.rebuild(Work::Inplace);
            }
            AlterAction::Options => {}
            // Keys are kept up to date at all times: MyISAM may leave them behind, and need not.
            AlterAction::EnableKeys(_) => {
                plan.switches_keys = true;
                if plan.spec.engine != StorageEngine::MyIsam {
                    self.state.push_warning("Note", err!(ER_ILLEGAL_HA, plan.spec.name));
                }
            }
            AlterAction::Partition("partition by") => return Err(unsupported("PARTITION BY")),
            // There are none.
            AlterAction::Partition(_) => return Err(err!(ER_PARTITION_MGMT_ON_NONPARTITIONED)),
            AlterAction::OrderBy(_) => {
                // A table with a primary key is in its order; others are not kept in any. MySQL copies the rows all the same.
                plan.rebuild(Work::Copy(Why::Unsaid));
                self.state.warn(
                    "Warning",
                    ER_UNKNOWN_ERROR,
                    "ORDER BY ignored as there is a user-defined clustered index in the table '".to_string()
                        + &plan.spec.name
                        + "'",
                );
            }
            AlterAction::DiscardTablespace | AlterAction::ImportTablespace => return Err(self.no_tablespace(plan)),
            AlterAction::Secondary(_) => {
                return Err(err!(ER_SECONDARY_ENGINE, "No secondary engine defined"));
            }
        }
        Ok(())
    }

    /// ADD COLUMN of one or several, from `position` on.
    fn add_columns(
        &mut self,
        parsed: &Parsed,
        columns: &[ColumnDef],
        mut position: ColumnPosition,
        plan: &mut AlterPlan,
    ) -> Result<()> {
        let mut names = plan.names();
        names.extend(columns.iter().map(|c| parsed.name(c.name).to_string()));
        for def in columns {
            let (column, keys) = self.column(parsed, def, plan.spec.default_collation, &names, false)?;
            if plan.spec.columns.iter().any(|c| eq_name(&c.name, &column.name)) {
                return Err(err!(ER_DUP_FIELDNAME, column.name));
            }
            self.add_column(&column, plan);
            plan.insert(parsed, column, None, position)?;
            for key in keys {
                plan.spec.keys.push(key);
                plan.added_key();
            }
            for check in &def.attributes.checks {
                let name = plan.spec.next_check_name();
                let check = self.check_spec(parsed, check, &names, Some(parsed.name(def.name)), name)?;
                if check.enforced {
                    plan.rebuild(Work::Copy(Why::Rule));
                }
                plan.spec.checks.push(check);
            }
            if position != ColumnPosition::Last {
                position = ColumnPosition::After(def.name);
            }
        }
        Ok(())
    }

    /// CHANGE, MODIFY: column `old` as `column` defines it.
    fn change_column(
        &mut self,
        parsed: &Parsed,
        old: &str,
        column: &ColumnDef,
        position: ColumnPosition,
        plan: &mut AlterPlan,
    ) -> Result<()> {
        let at = plan.position(old)?;
        let mut names = plan.names();
        names[at] = parsed.name(column.name).to_string();
        let (new, keys) = self.column(parsed, column, plan.spec.default_collation, &names, false)?;
        plan.change_column(parsed, at, new, position)?;
        for key in keys {
            plan.spec.keys.push(key);
            plan.added_key();
        }
        for check in &column.attributes.checks {
            let name = plan.spec.next_check_name();
            let check = self.check_spec(parsed, check, &names, Some(parsed.name(column.name)), name)?;
            plan.spec.checks.push(check);
            plan.rebuild(Work::Copy(Why::Rule));
        }
        Ok(())
    }

    /// DISCARD and IMPORT TABLESPACE: no table has a file of its own. Errors 1031, 1809, 3007.
    fn no_tablespace(&self, plan: &AlterPlan) -> SqlError {
        let (schema, name) = (&plan.spec.schema, &plan.spec.name);
        if plan.spec.engine != StorageEngine::InnoDb {
            return err!(ER_ILLEGAL_HA, name);
        }
        if self.is_temporary(schema, name) {
            return err!(ER_CANNOT_DISCARD_TEMPORARY_TABLE);
        }
        err!(ER_TABLE_IN_SYSTEM_TABLESPACE, format!("{schema}/{name}"))
    }
}

/// The kind of TEXT that has room for as many characters in another character set.
fn in_charset(kind: TypeKind, from: Charset, to: Charset) -> TypeKind {
    match kind {
        _ if to.mbmaxlen() <= from.mbmaxlen() => kind,
        TypeKind::TinyText => TypeKind::Text,
        TypeKind::Text => TypeKind::MediumText,
        TypeKind::MediumText => TypeKind::LongText,
        _ => kind,
    }
}

/// The verb of ALTER TABLE ... ANALYZE PARTITION and its like, which answer rows.
pub(crate) fn maintains_partitions(alter: &AlterTable) -> Option<&'static str> {
    match alter.actions[..] {
        [AlterAction::Partition(what)] => {
            let verb = what.strip_suffix(" partition")?;
            ["analyze", "check", "optimize", "repair"].contains(&verb).then_some(verb)
        }
        _ => None,
    }
}

/// CONVERT TO CHARACTER SET: of all columns of text, and of those to come.
fn convert_columns(plan: &mut AlterPlan, to: CollationId) {
    plan.spec.default_collation = to;
    let mut converts = false;
    for column in &mut plan.spec.columns {
        let t = &mut column.data_type;
        if t.kind.is_text() && t.collation != to {
            t.kind = in_charset(t.kind, t.collation.charset(), to.charset());
            t.collation = to;
            column.histogram.take_if(|h| h.domain == Domain::String);
            converts = true;
        }
    }
    match converts {
        true => plan.rebuild(RETYPED),
        false => plan.needs(Work::Inplace),
    }
}
