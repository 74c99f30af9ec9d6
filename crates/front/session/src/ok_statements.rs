//! Statements that are answered with OK: transactions, the session, data definition, accounts, the server.

use crate::define::{behind_last_word, statement_words};
use crate::digest_place::Verb;
use crate::needs::Action;
use crate::performance::PERFORMANCE_SCHEMA;
use crate::session::{Done, Session};
use crate::statement::unsupported;
use catalog::ddl::SchemaChange;
use expr::Env;
use run::Outcome;
use sql::ast::*;
use types::codes::*;
use types::{Result, Value, err};

/// Definitions end the transaction before anything of them is looked at, and so also where they are refused.
fn commits_first(statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => !create.temporary,
        Statement::DropTable { temporary, .. } => !temporary,
        Statement::CreateDatabase(_)
        | Statement::AlterDatabase(_)
        | Statement::DropDatabase { .. }
        | Statement::AlterTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex(_)
        | Statement::Server(_)
        | Statement::RenameTable(_)
        | Statement::TruncateTable(_)
        | Statement::CreateView(_)
        | Statement::DropView { .. }
        | Statement::CreateRoutine(_)
        | Statement::AlterRoutine(_)
        | Statement::CreateTrigger(_)
        | Statement::CreateEvent(_)
        | Statement::AlterEvent(_)
        | Statement::DropProgram { .. } => true,
        _ => false,
    }
}

impl Session {
    /// Statements that answer OK: what it says.
    pub(crate) fn obey_quietly(&mut self, parsed: &Parsed) -> Result<(Outcome, Done)> {
        let after = |release: bool| (Outcome::default(), if release { Done::Close } else { Done::Answered });
        match &parsed.statement {
            Statement::Commit(completion) => self.complete(true, *completion).map(after),
            Statement::Rollback(completion) => self.complete(false, *completion).map(after),
            Statement::Shutdown => {
                self.need(Action::Shutdown)?;
                Ok(after(true))
            }
            _ => Ok((self.obey_in_session(parsed)?, Done::Answered)),
        }
    }

    /// Statements about the transaction and the session; others go on to [`Session::change_definitions`].
    fn obey_in_session(&mut self, parsed: &Parsed) -> Result<Outcome> {
        match &parsed.statement {
            Statement::Begin { consistent_snapshot, access } => self.begin(*consistent_snapshot, *access)?,
            Statement::Savepoint(name) => self.savepoint(parsed.name(*name))?,
            Statement::RollbackTo(name) => self.rollback_to(parsed.name(*name))?,
            Statement::ReleaseSavepoint(name) => self.release_savepoint(parsed.name(*name))?,
            Statement::Xa(xa) => self.xa(parsed, *xa)?,
            Statement::LockTables(tables) => self.lock_tables(parsed, tables)?,
            Statement::UnlockTables => self.unlock_tables()?,
            Statement::Use(name) => self.use_database(parsed.name(*name))?,
            Statement::Set(items) => self.set(parsed, items)?,
            Statement::SetRole(selection) => self.set_role(parsed, selection)?,
            Statement::Kill { query, id } => self.kill_by_id(parsed, *query, *id)?,
            Statement::Prepare { name, from } => {
                let text = self.text_to_prepare(parsed, from);
                self.prepare_named(parsed.name(*name), &text)?;
                self.tracking.state();
                return Ok(Outcome { info: "Statement prepared".to_string(), ..Outcome::default() });
            }
            Statement::Deallocate(name) => {
                self.deallocate(parsed.name(*name))?;
                self.tracking.state();
            }
            _ => return self.change_definitions(parsed),
        }
        Ok(Outcome::default())
    }

    /// Data definition and accounts; other statements go on to [`Session::administer`].
    fn change_definitions(&mut self, parsed: &Parsed) -> Result<Outcome> {
        let affected = |rows| Outcome { affected_rows: rows, ..Outcome::default() };
        if commits_first(&parsed.statement) {
            self.commit_all()?;
        }
        match &parsed.statement {
            Statement::CreateDatabase(create) => return self.create_database(parsed, create).map(affected),
            Statement::AlterDatabase(alter) => return self.alter_database(parsed, alter).map(|()| affected(1)),
            Statement::DropDatabase { if_exists, name } => {
                return self.drop_database(parsed.name(*name), *if_exists).map(affected);
            }
            Statement::CreateTable(create) => return self.create_table(parsed, create),
            Statement::AlterTable(alter) => return self.alter_table(parsed, alter),
            Statement::CreateIndex(create) => return self.create_index(parsed, create),
            Statement::DropIndex(drop) => return self.drop_index(parsed, drop),
            Statement::Server(statement) => {
                self.foreign_server(parsed, statement)?;
                return Ok(affected(1));
            }
            Statement::DropTable { temporary, if_exists, names } => {
                self.drop_tables(parsed, *temporary, *if_exists, names)?;
            }
            Statement::RenameTable(pairs) => self.rename_tables(parsed, pairs)?,
            Statement::TruncateTable(name) => self.truncate_table(parsed, *name)?,
            Statement::CreateView(create) => self.create_view(parsed, create)?,
            Statement::DropView { if_exists, names } => self.drop_views(parsed, *if_exists, names)?,
            Statement::CreateRoutine(create) => self.create_routine(parsed, create)?,
            Statement::AlterRoutine(alter) => self.alter_routine(parsed, alter)?,
            Statement::CreateTrigger(create) => self.create_trigger(parsed, create)?,
            Statement::DropProgram { kind: ProgramKind::Trigger, if_exists, name } => {
                self.drop_trigger(parsed, *if_exists, *name)?;
            }
            Statement::DropProgram { kind: ProgramKind::Procedure, if_exists, name } => {
                self.drop_routine(parsed, false, *if_exists, *name)?;
            }
            Statement::DropProgram { kind: ProgramKind::Function, if_exists, name } => {
                self.drop_routine(parsed, true, *if_exists, *name)?;
            }
            Statement::CreateEvent(create) => self.create_event(parsed, create)?,
            Statement::AlterEvent(alter) => self.alter_event(parsed, alter)?,
            Statement::DropProgram { kind: ProgramKind::Event, if_exists, name } => {
                self.drop_event(parsed, *if_exists, *name)?;
            }
            Statement::CreateUser(_)
            | Statement::AlterUser(_)
            | Statement::DropUser { .. }
            | Statement::RenameUser(_)
            | Statement::Grant(_)
            | Statement::Revoke(_)
            | Statement::SetPassword(_)
            | Statement::CreateRole { .. }
            | Statement::DropRole { .. }
            | Statement::SetDefaultRole { .. } => {
                self.commit_all()?;
                self.change_accounts(parsed)?;
            }
            _ => return self.administer(parsed).map(|()| Outcome::default()),
        }
        Ok(Outcome::default())
    }

    /// Statements about the server. What is none of them is not supported.
    fn administer(&mut self, parsed: &Parsed) -> Result<()> {
        match &parsed.statement {
            Statement::Restart => {
                self.need(Action::Shutdown)?;
                Err(err!(ER_RESTART_SERVER_FAILED, "mysqld is not managed by supervisor process"))
            }
            Statement::Flush(flush) => self.flush(parsed, flush),
            Statement::ReloadTls { channel, rolls_back } => {
                self.reload_tls(channel.map(|name| parsed.name(name)), *rolls_back)
            }
            Statement::RotateBinlogKey => self.rotate_binlog_key(),
            Statement::RotateMasterKey => self.rotate_master_key(),
            Statement::ReloadKeyring => self.reload_keyring(),
            Statement::LockInstance => self.lock_instance(),
            Statement::UnlockInstance => self.unlock_instance(),
            Statement::Reset(what) => self.reset(parsed, what),
            Statement::Binlog(events) => self.binlog_statement(parsed.bytes(*events)),
            Statement::PurgeLogs(purge) => self.purge_binary_logs(parsed, *purge),
            Statement::CloneLocal(directory) => self.clone_local(parsed, *directory),
            Statement::CloneInstance(clone) => self.clone_instance(parsed, clone),
            Statement::Extension(statement) => self.extension(parsed, statement),
            Statement::Absent(what) => self.absent(parsed, what),
            Statement::Replica(statement) => self.replica_statement(parsed, statement),
            Statement::Unsupported(what) => Err(unsupported(what.what)),
            other => Err(unsupported(statement_words(other))),
        }
    }

    /// KILL. Error 1094 for what is no id, 1317 where it kills the own statement.
    fn kill_by_id(&mut self, parsed: &Parsed, query: bool, id: ExprId) -> Result<()> {
        let text = behind_last_word(parsed.source());
        let (value, _) = self.evaluate_in(parsed, id, text, false)?;
        // An id has 32 bits; the last one is nobody's.
        let id = u32::try_from(value.to_integer()).unwrap_or(u32::MAX).into();
        self.kill(id, query)?;
        if query && id == u64::from(self.state.id) { Err(err!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
    }

    fn text_to_prepare(&self, parsed: &Parsed, from: &PrepareSource) -> Vec<u8> {
        match from {
            PrepareSource::Text(s) => parsed.bytes(*s).to_vec(),
            PrepareSource::UserVar(variable) => {
                let (value, t) = self.state.user_variable(parsed.name(*variable));
                let mut text = Vec::new();
                match value {
                    Value::Null => text.extend_from_slice(b"NULL"),
                    value => value.write_text(&t, &mut text),
                }
                text
            }
        }
    }

    fn alter_database(&mut self, parsed: &Parsed, alter: &AlterDatabase) -> Result<()> {
        let name = self.schema_of(parsed, alter.name)?;
        self.need_in(Action::AlterSchema, &name)?;
        self.refuse_system_schema(&name)?;
        if self.server.catalog.current().schema(&name).is_none() {
            return Err(err!(ER_NO_SUCH_DB, name));
        }
        let collation = self.schema_collation(parsed, &alter.options)?;
        let encrypts = self.schema_encryption(parsed, &alter.options)?;
        let change = SchemaChange { collation, encrypts, read_only: alter.options.read_only };
        self.define(|ddl| ddl.alter_schema(&name, change)).map(drop)
    }

    /// DROP DATABASE: how many tables it had.
    fn drop_database(&mut self, name: &str, if_exists: bool) -> Result<u64> {
        self.need_in(Action::DropSchema, name)?;
        self.refuse_system_schema(name)?;
        let dropped = match self.define(|ddl| ddl.drop_schema(name)) {
            Err(e) if e.code == ER_DB_DROP_EXISTS && if_exists => {
                self.state.push_warning("Note", e);
                0
            }
            other => other?,
        };
        if self.state.database.as_deref() == Some(name) {
            self.state.database = None;
            self.entry.use_database(None);
            self.tracking.schema();
        }
        Ok(dropped)
    }

    fn rename_tables(&mut self, parsed: &Parsed, pairs: &[(ObjectName, ObjectName)]) -> Result<()> {
        let mut names = Vec::new();
        for (from, to) in pairs {
            let (from, to) = (self.object(parsed, *from)?, self.object(parsed, *to)?);
            self.need_on(Action::RenameFrom, &from.0, &from.1)?;
            self.need_on(Action::RenameTo, &to.0, &to.1)?;
            names.push((from, to));
        }
        names.iter().try_for_each(|(from, to)| self.may_move((&from.0, &from.1), &to.0))?;
        self.define(|ddl| names.iter().try_for_each(|(f, t)| ddl.rename_table((&f.0, &f.1), (&t.0, &t.1)).map(drop)))
    }

    fn truncate_table(&mut self, parsed: &Parsed, name: ObjectName) -> Result<()> {
        let (schema, table) = self.object(parsed, name)?;
        self.need_on_shared(Action::TruncateTable, &schema, &table)?;
        if schema.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) {
            self.truncate_computed(&schema, &table)?;
            // What it has emptied it is the first one in.
            self.digest(parsed.source(), Verb::Run);
            return Ok(());
        }
        if schema == "mysql" && self.empty_log(&table)? {
            return Ok(());
        }
        self.refuse_read_only(&schema, &table)?;
        // A view has no rows of its own: as if it were not there.
        if self.dictionary().table(&schema, &table).is_some_and(|t| t.view.is_some()) {
            return Err(self.missing_or_unlocked(err!(ER_NO_SUCH_TABLE, schema, table)));
        }
        if !self.is_temporary(&schema, &table) {
            return self.define(|ddl| ddl.truncate_table(&schema, &table).map(drop));
        }
        self.commit_all()?;
        self.check_access_mode()?;
        self.define_temporary(|ddl, _| ddl.truncate_table(&schema, &table).map(drop))
    }

    fn create_index(&mut self, parsed: &Parsed, create: &CreateIndex) -> Result<Outcome> {
        let (schema, table) = self.object(parsed, create.table)?;
        self.need_on_shared(Action::ChangeIndex, &schema, &table)?;
        self.alter(&schema, &table, |session, old, plan| {
            let names = plan.names();
            let key = session.key_spec(parsed, &create.index, &names, &mut plan.spec)?;
            plan.spec.keys.push(key);
            plan.added_key();
            plan.obey(old, create.algorithm, create.lock)
        })
    }

    fn drop_index(&mut self, parsed: &Parsed, drop: &DropIndex) -> Result<Outcome> {
        let (schema, table) = self.object(parsed, drop.table)?;
        self.need_on_shared(Action::ChangeIndex, &schema, &table)?;
        self.alter(&schema, &table, |_, old, plan| {
            plan.drop_index(parsed.name(drop.name))?;
            plan.obey(old, drop.algorithm, drop.lock)
        })
    }

    fn reset(&mut self, parsed: &Parsed, what: &[Reset]) -> Result<()> {
        if what.iter().any(|reset| !matches!(reset, Reset::Persist { .. })) {
            self.commit_all()?;
        }
        for reset in what {
            match reset {
                Reset::Persist { if_exists, name } => self.reset_persist(parsed, *name, *if_exists)?,
                Reset::BinaryLogs { to } => self.reset_binary_logs(*to)?,
                Reset::Replica { all, channel } => self.reset_replica(parsed, *all, *channel)?,
            }
        }
        Ok(())
    }
}
