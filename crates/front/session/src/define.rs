//! Statements that the executor does not run, and data definition, translated from the tree to crate `catalog`'s
//! specifications.

use crate::alter_actions::maintains_partitions;
use crate::binary_log::{LoggedAs, Reads};
use crate::com::kind_of;
use crate::create_select::CreateSelect;
use crate::gtid::ends_number;
use crate::needs::Action;
use crate::performance::PERFORMANCE_SCHEMA;
use crate::run::REPLANS_MAX;
use crate::session::{Done, Session};
use crate::state::State;
use crate::statement::unsupported;
use crate::variables::{FOREIGN_KEY_CHECKS, VarId, id};
use accounts::Privileges;
use catalog::eq_name;
use catalog::{Ddl, Index, KeyKind, MYSQL, Pin, Table, TableName, TableSpec, Version};
use engine::Isolation;
use expr::{Env, Stage};
use plan::column_type::declared_collation;
use protocol::Output;
use run::Outcome;
use sql::ast::*;
use sql::lexer::Lexer;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::{Result, Value, err};

const COLLATION_SERVER: VarId = id("collation_server");
const REQUIRE_PRIMARY_KEY: VarId = id("sql_require_primary_key");
const RESTRICT_FK: VarId = id("restrict_fk_on_non_standard_key");

/// These tell of the statement before, and leave what there is to tell.
fn shows_conditions(statement: &Statement) -> bool {
    use ShowWhat::{CountErrors, CountWarnings, Errors, Warnings};
    let Statement::Show(show) = statement else { return false };
    matches!(show.what, Warnings { .. } | Errors { .. } | CountWarnings | CountErrors)
}

impl Session {
    /// Runs a statement that is not the executor's, and answers. `fresh`: it was just parsed, not prepared before.
    pub(crate) fn obey(&mut self, parsed: &Parsed, fresh: bool, out: &mut Output) -> Result<Done> {
        // What was evaluated before has its conditions.
        if !shows_conditions(&parsed.statement) && self.programs.given.is_empty() {
            self.state.clear_conditions();
        }
        (self.state.log_text, self.state.log_database) = (None, None);
        if let Statement::TableMaintenance(statement) = &parsed.statement {
            // As in MySQL this is found out while the text is read, and such a statement counts as none.
            self.check_distinct(parsed, &statement.tables)?;
        }
        observe::increment(self.com(kind_of(parsed)));
        self.refresh_access()?;
        if self.restricted {
            // Of these it is said behind the check of privileges whether it is the own one.
            let changes_password = matches!(parsed.statement, Statement::AlterUser(_) | Statement::SetPassword(_));
            self.check_restrictions(changes_password, is_update(&parsed.statement))?;
        }
        self.check_xa(&parsed.statement)?;
        if self.state.gtid.next.is_given() && self.passes_over_statement(&parsed.statement)? {
            self.ok(out, &Outcome::default())?;
            return Ok(Done::Answered);
        }
        if holds_password(&parsed.statement) {
            self.entry.show_as(&sql::digest::digest_text(parsed.source(), self.state.digesting()));
        }
        match &parsed.statement {
            Statement::Show(statement) => return self.show(parsed, statement, out),
            Statement::Explain(explain) => {
                if explain.into.is_some() {
                    return Err(err!(ER_EXPLAIN_INTO_FOR_CONNECTION_NOT_SUPPORTED));
                }
                return self.explain_connection(explain, out);
            }
            Statement::AlterTable(alter) if maintains_partitions(alter).is_some() => {
                return self.maintain_partitions(parsed, alter, out);
            }
            Statement::Handler(statement) => return self.handler(parsed, statement, out),
            Statement::Xa(Xa::Recover { convert_xid }) => return self.xa_recover(*convert_xid, out),
            Statement::Help(mask) => {
                let mask = String::from_utf8_lossy(parsed.bytes(*mask)).into_owned();
                return self.help(&mask, out);
            }
            Statement::DescribeTable { table, column } => {
                self.catalog.get(self.server.catalog.cell());
                return self.describe(parsed, *table, *column, out);
            }
            Statement::TableMaintenance(statement) => {
                return self.maintain(parsed, statement, out);
            }
            _ => {}
        }
        if fresh {
            self.state.note_parsed(parsed);
        }
        self.note_logged(parsed);
        let (outcome, done) = match &parsed.statement {
            Statement::Execute { name, using } => {
                let given = using.iter().map(|n| crate::charset::parameter_of(&self.state, parsed.name(*n)));
                let (mut values, binary): (Vec<Value<'static>>, Vec<bool>) = given.unzip();
                let done = self.execute_named(parsed.name(*name), &mut values, &|i| binary[i], out)?;
                for out in std::mem::take(&mut self.bound.out) {
                    let variable = parsed.name(using[out.param as usize]);
                    expr::Env::set_user_variable(&mut self.state, variable, out.value, out.data_type);
                }
                return Ok(done);
            }
            _ => {
                self.entry.stage(match parsed.statement {
                    Statement::CreateTable(_) => Stage::CreatingTable,
                    Statement::AlterTable(_) => Stage::CopyToTmpTable,
                    Statement::CreateIndex(_) | Statement::DropIndex(_) => Stage::AlteringTable,
                    Statement::Rollback(_) | Statement::RollbackTo(_) => Stage::Starting,
                    _ => Stage::Init,
                });
                self.obey_quietly(parsed)?
            }
        };
        if self.state.log_text.is_some() && found_it_done(&parsed.statement) && self.may_add_events() {
            // It may be otherwise on a replica.
            self.commit_event(Some(parsed.source()))?;
        }
        if self.state.gtid.next.is_given() && ends_number(&parsed.statement) && !self.is_in_transaction() {
            self.commit_number()?;
        }
        if self.transaction.settings_changed {
            // Further statements of the same command answer in the new character set.
            crate::charset::apply_results(&self.state, out);
        }
        if !self.generated.is_empty() {
            return self.send_generated(out);
        }
        self.state.row_count = outcome.affected_rows as i64;
        self.ok(out, &outcome)?;
        if matches!(parsed.statement, Statement::Shutdown) {
            // The client has its answer before its connection is closed with all others.
            out.flush().map_err(|_| crate::sink::gone())?;
            (self.server.stop)();
        }
        Ok(done)
    }

    /// What the binary log is to say of a statement, should it define something.
    pub(crate) fn note_logged(&mut self, parsed: &Parsed) {
        let logs = self.state.logs_to().is_some();
        self.state.log_text = logs.then(|| parsed.source().to_vec());
        self.state.log_reads = Reads::of(parsed);
        self.state.log_database = match &parsed.statement {
            _ if !logs => None,
            Statement::CreateDatabase(create) => Some(parsed.name(create.name).to_string()),
            Statement::DropDatabase { name, .. } => Some(parsed.name(*name).to_string()),
            Statement::AlterDatabase(alter) => match alter.name {
                Some(name) => Some(parsed.name(name).to_string()),
                None => self.state.database.clone(),
            },
            _ => None,
        };
    }

    /// The passwords that RANDOM PASSWORD has thought up.
    fn send_generated(&mut self, out: &mut Output) -> Result<Done> {
        let text = |s: String| Value::Bytes(s.into_bytes().into());
        let rows = std::mem::take(&mut self.generated);
        let rows =
            rows.into_iter().map(|[user, host, password]| vec![text(user), text(host), text(password), Value::UInt(1)]);
        let varchar = |n| types::DataType::string(types::TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI);
        let factor = types::DataType::new(types::TypeKind::BigInt).unsigned();
        let columns = [
            ("user", varchar(32)),
            ("host", varchar(255)),
            ("generated password", varchar(255)),
            ("auth_factor", factor),
        ];
        self.send(inspect::Rows::new(&columns, rows.collect()), out)
    }

    /// Runs `change` as one atomic data definition, after the implicit commit.
    pub(crate) fn define<R>(&mut self, change: impl FnOnce(&mut Ddl<'_>) -> Result<R>) -> Result<R> {
        self.define_with(|ddl, _| change(ddl))
    }

    /// As [`Session::define`], for changes that evaluate expressions.
    pub(crate) fn define_with<R>(&mut self, change: impl FnOnce(&mut Ddl<'_>, &mut State) -> Result<R>) -> Result<R> {
        self.define_at(Isolation::ReadUncommitted, change)
    }

    /// As [`Session::define_with`], for a change that reads tables which it does not lock: see [`catalog::Catalog::begin_ddl`].
    pub(crate) fn define_at<R>(
        &mut self,
        isolation: Isolation,
        change: impl FnOnce(&mut Ddl<'_>, &mut State) -> Result<R>,
    ) -> Result<R> {
        self.commit_all()?;
        // An implicit commit ends what SET TRANSACTION said for one transaction.
        (self.transaction.next_isolation, self.transaction.next_read_only) = (None, None);
        self.check_writable()?;
        let server = Arc::clone(&self.server);
        let timeout = self.state.vars.hot().lock_wait_timeout;
        let mut ddl = server.catalog.begin_ddl(&mut self.tx, &mut self.pins, timeout, isolation)?;
        if !self.state.vars.bool(FOREIGN_KEY_CHECKS) {
            ddl.ignore_foreign_keys();
        }
        if !self.state.vars.bool(RESTRICT_FK) {
            ddl.allow_any_parent_key();
        }
        let result = change(&mut ddl, &mut self.state)?;
        for name in ddl.take_not_unique() {
            self.state.push_warning("Warning", err!(ER_WARN_DEPRECATED_NON_STANDARD_KEY, name));
        }
        if let Some(text) = self.state.log_text.take() {
            let with_rows = !ddl.tx().events().is_empty();
            if !with_rows && ddl.tx().has_writes() {
                self.state.log_definition(ddl.tx(), &text)?;
            } else if !with_rows {
                self.state.log_statement(ddl.tx(), &text)?;
            }
            let kind = if with_rows { LoggedAs::Both } else { LoggedAs::Statement };
            self.state.log_commit(ddl.tx(), kind)?;
        }
        self.state.store_position(ddl.tx())?;
        let committed = ddl.commit();
        self.state.end_gtid(committed.is_ok());
        self.state.track_commit(self.tx.commit_end());
        committed?;
        self.follow_locked_tables();
        self.close_changed_handlers();
        Ok(result)
    }

    pub(crate) fn schema_collation(&self, parsed: &Parsed, options: &DatabaseOptions) -> Result<Option<CollationId>> {
        declared_collation(parsed, &options.charsets)
    }

    /// Error 3552 for the dictionary's schema, 1044 for those of virtual tables: nobody makes or drops them.
    pub(crate) fn refuse_system_schema(&self, name: &str) -> Result<()> {
        if name == MYSQL {
            return Err(err!(ER_NO_SYSTEM_SCHEMA_ACCESS, name));
        }
        if name.eq_ignore_ascii_case("information_schema") || name.eq_ignore_ascii_case("performance_schema") {
            let account = &self.access().account().name;
            return Err(err!(ER_DBACCESS_DENIED_ERROR, account.user, account.host, name.to_lowercase()));
        }
        Ok(())
    }

    pub(crate) fn create_database(&mut self, parsed: &Parsed, create: &CreateDatabase) -> Result<u64> {
        let name = parsed.name(create.name).to_string();
        self.need_in(Action::CreateSchema, &name)?;
        // A dump of `mysql` begins so.
        if name == MYSQL && create.if_not_exists {
            self.state.push_warning("Note", err!(ER_DB_CREATE_EXISTS, name));
            return Ok(1);
        }
        self.refuse_system_schema(&name)?;
        let collation = match self.schema_collation(parsed, &create.options)? {
            Some(collation) => collation,
            None => CollationId::by_name(self.state.vars.text(COLLATION_SERVER)).expect("checked when set"),
        };
        let named = self.schema_encryption(parsed, &create.options)?;
        let encrypts = named.unwrap_or_else(|| self.default_encryption());
        match self.define(|ddl| ddl.create_schema(&name, collation, encrypts)) {
            Err(e) if e.code == ER_DB_CREATE_EXISTS && create.if_not_exists => {
                self.state.warn("Note", ER_DB_CREATE_EXISTS, e.message);
                Ok(1)
            }
            other => other.map(|()| 1),
        }
    }

    /// Error 3989 for a table of a schema that is READ ONLY, before the definition is looked at; [`Ddl`] looks once more, behind its lock
    /// on the schema. As ever what runs is committed. Under LOCK TABLES it is for [`Ddl`] alone: errors 1099 and 1100 come first.
    pub(crate) fn refuse_read_only(&mut self, schema: &str, table: &str) -> Result<()> {
        if self.locked.is_some() || self.is_temporary(schema, table) {
            return Ok(());
        }
        let refused = self.dictionary().check_writable(schema);
        if refused.is_err() {
            self.commit_all()?;
        }
        refused
    }

    /// Error 1370 without the privilege on the procedure or function.
    pub(crate) fn may_use_program(
        &self,
        wanted: Privileges,
        command: &str,
        (schema, function, name): (&str, bool, &str),
    ) -> Result<()> {
        let access = self.access();
        if access.routine(schema, function, name).has(wanted) {
            return Ok(());
        }
        let account = &access.account().name;
        Err(err!(ER_PROCACCESS_DENIED_ERROR, command, account.user, account.host, format!("{schema}.{name}")))
    }

    pub(crate) fn create_table(&mut self, parsed: &Parsed, create: &CreateTable) -> Result<Outcome> {
        if create.partitioning.is_some() {
            return Err(unsupported("PARTITION BY"));
        }
        let (schema, name) = self.object(parsed, create.name)?;
        if !create.temporary {
            let fills = matches!(create.body, CreateTableBody::Columns { select: Some(_), .. });
            self.need_on(if fills { Action::FillTable } else { Action::CreateTable }, &schema, &name)?;
            if let CreateTableBody::Columns { keys, .. } = &create.body {
                self.may_refer(parsed, keys, &schema)?;
            }
            self.refuse_read_only(&schema, &name)?;
        } else {
            self.check_access_mode()?;
        }
        let made = match &create.body {
            _ if create.temporary => self.create_temporary(parsed, create, (&schema, &name)),
            CreateTableBody::Columns { columns, keys, options, select: Some((duplicates, query)) } => {
                let (duplicates, query) = (*duplicates, *query);
                let of = CreateSelect { create, columns, keys, options, duplicates, query };
                self.create_table_select(parsed, of)
            }
            body => self.create_base_table(parsed, body, (&schema, &name)),
        };
        match made {
            Err(e) if e.code == ER_TABLE_EXISTS_ERROR && create.if_not_exists => {
                self.state.warn("Note", ER_TABLE_EXISTS_ERROR, e.message);
                Ok(Outcome::default())
            }
            Ok(outcome) => {
                self.warn_duplicate_keys(&schema, &name, &[]);
                Ok(outcome)
            }
            Err(e) => Err(e),
        }
    }

    /// CREATE TABLE without a query. Of LIKE the source is pinned until the table is made, and looked at anew if others have changed it.
    fn create_base_table(&mut self, parsed: &Parsed, body: &CreateTableBody, to: (&str, &str)) -> Result<Outcome> {
        let source = match body {
            CreateTableBody::Like(source) => Some(self.object(parsed, *source)?),
            _ => None,
        };
        let copies_own = source.as_ref().is_some_and(|(schema, name)| self.is_temporary(schema, name));
        for _ in 0..REPLANS_MAX {
            let version = self.dictionary();
            let spec = self.new_table(parsed, body, to, false)?;
            self.check_new_table(&spec)?;
            let made = self.define_with(|ddl, state| {
                if let Some((schema, name)) = source.as_ref().filter(|_| !copies_own) {
                    ddl.lock_to_create(to.0, to.1)?;
                    ddl.pin_to_read(&[Pin::new(schema, name, false)], &[])?;
                    let found = |v: &Version| v.base_table(schema, name).map(Arc::as_ptr);
                    if found(&version) != found(ddl.version()) {
                        return Err(err!(ER_NEED_REPREPARE));
                    }
                }
                let table = ddl.create_table(spec)?;
                if copies_own && let Some(text) = &mut state.log_text {
                    // A replica has no temporary tables of this session.
                    let encrypts = ddl.version().schema(&table.schema).is_some_and(|schema| schema.encrypts);
                    let told = inspect::create::create_table(&table, encrypts, &state.server.engine)?;
                    let rest = told.strip_prefix("CREATE TABLE ").expect("the words of a base table");
                    *text = format!("CREATE TABLE `{}`.{rest}", table.schema.replace('`', "``")).into_bytes();
                }
                Ok(())
            });
            match made {
                Err(e) if e.code == ER_NEED_REPREPARE => {}
                made => return made.map(|()| Outcome::default()),
            }
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    /// 1831 for each key with the same parts as one before it, but those of `kept`, which nobody is told of again.
    pub(crate) fn warn_duplicate_keys(&mut self, schema: &str, name: &str, kept: &[String]) {
        self.catalog.get(self.server.catalog.cell());
        let version = Arc::clone(self.catalog.peek());
        let Some(table) = version.table(schema, name) else { return };
        let parts = |i: &Index| i.parts.iter().map(|p| (p.column, p.key.prefix, p.key.descending)).collect::<Vec<_>>();
        for (at, index) in table.indexes.iter().enumerate() {
            let was = kept.iter().any(|k| eq_name(k, &index.name));
            let same = |i: &Index| i.unique == index.unique && i.primary == index.primary && parts(i) == parts(index);
            if !was && table.indexes[..at].iter().any(same) {
                let e = err!(ER_DUP_INDEX, index.name, schema, name);
                self.state.warn("Warning", e.code, e.message);
            }
        }
    }

    /// The table that a definition without query describes.
    pub(crate) fn new_table(
        &mut self,
        parsed: &Parsed,
        body: &CreateTableBody,
        to: (&str, &str),
        temporary: bool,
    ) -> Result<TableSpec> {
        let version = self.dictionary();
        match body {
            CreateTableBody::Like(source) => {
                let (from_schema, from) = self.object(parsed, *source)?;
                if !self.is_temporary(&from_schema, &from) {
                    self.need_on(Action::CopyDefinition, &from_schema, &from)?;
                }
                let table =
                    version.table(&from_schema, &from).ok_or_else(|| err!(ER_NO_SUCH_TABLE, from_schema, from))?;
                if table.is_virtual() && from_schema == PERFORMANCE_SCHEMA {
                    return Err(err!(ER_WRONG_PERFSCHEMA_USAGE));
                }
                if !table.is_base() {
                    return Err(err!(ER_WRONG_OBJECT, from_schema, from, "BASE TABLE"));
                }
                let mut spec = like(table, to.0, to.1);
                let by_default = version.schema(to.0).is_some_and(|schema| schema.encrypts);
                let encrypted = !temporary && (table.create_options.is_encrypted() || by_default);
                spec.create_options.set("ENCRYPTION", encrypted.then(|| "Y".to_string()));
                self.may_differ_in_encryption(encrypted || temporary && by_default, by_default)?;
                Ok(spec)
            }
            CreateTableBody::Columns { columns, keys, options, .. } => {
                let found = version.schema(to.0).ok_or_else(|| err!(ER_BAD_DB_ERROR, to.0))?;
                self.table_spec(parsed, to, temporary, found.default_collation, columns, &[], keys, options)
            }
        }
    }

    /// What a definition alone does not tell. Error 3750 and those of its expressions.
    pub(crate) fn check_new_table(&mut self, spec: &TableSpec) -> Result<()> {
        self.check_expressions(spec)?;
        match self.state.vars.bool(REQUIRE_PRIMARY_KEY) && !spec.keys.iter().any(|k| k.kind == KeyKind::Primary) {
            true => Err(err!(ER_TABLE_WITHOUT_PK)),
            false => Ok(()),
        }
    }

    /// Foreign keys tell of their parents' keys: who makes one needs a privilege on the parent. Error 1142.
    pub(crate) fn may_refer<'k>(
        &self,
        parsed: &Parsed,
        keys: impl IntoIterator<Item = &'k KeyDef>,
        schema: &str,
    ) -> Result<()> {
        for key in keys {
            let KeyDef::ForeignKey(key) = key else { continue };
            let parent = key.references.table;
            let parent_schema = parent.schema.map_or(schema, |s| parsed.name(s));
            self.need_on(Action::ReferParent, parent_schema, parsed.name(parent.name))?;
        }
        Ok(())
    }

    pub(crate) fn drop_tables(
        &mut self,
        parsed: &Parsed,
        temporary: bool,
        if_exists: bool,
        names: &[ObjectName],
    ) -> Result<()> {
        if temporary {
            self.check_access_mode()?;
        }
        let (mut own, mut tables) = (Vec::new(), Vec::with_capacity(names.len()));
        for name in names {
            let (schema, table) = self.object(parsed, *name)?;
            if self.is_temporary(&schema, &table) && !own.iter().any(|t: &TableName| t.0 == schema && t.1 == table) {
                own.push((schema, table));
                continue;
            }
            if !temporary {
                self.need_on(Action::DropTable, &schema, &table)?;
                self.refuse_to_drop(&schema, &table)?;
            }
            tables.push((schema, table));
        }
        if temporary || tables.is_empty() {
            return self.drop_temporary_tables(&own, &tables, temporary, if_exists);
        }
        let exists = |ddl: &Ddl<'_>, t: &TableName| {
            let found = ddl.version().table(&t.0, &t.1);
            found.is_some_and(|t| t.view.is_none())
        };
        let missing = self.define_with(|ddl, state| {
            ddl.lock_names(&tables)?;
            let (there, missing): (Vec<TableName>, Vec<TableName>) =
                tables.iter().cloned().partition(|t| exists(ddl, t));
            if state.log_text.is_some() {
                let names = there.iter().chain(&missing);
                state.log_text = Some(drop_text(names, if_exists, state.database.as_deref()).into_bytes());
            }
            let missing: Vec<String> = missing.into_iter().map(|t| format!("{}.{}", t.0, t.1)).collect();
            if !missing.is_empty() && !if_exists {
                return Err(err!(ER_BAD_TABLE_ERROR, missing.join(",")));
            }
            ddl.drop_tables(&there)?;
            Ok(missing)
        })?;
        self.drop_temporary(&own);
        for name in missing {
            self.state.push_warning("Note", err!(ER_BAD_TABLE_ERROR, name));
        }
        Ok(())
    }

    /// DROP TABLE where all that is there is temporary. With TEMPORARY the transaction goes on. Error 1051.
    fn drop_temporary_tables(
        &mut self,
        own: &[TableName],
        missing: &[TableName],
        goes_on: bool,
        if_exists: bool,
    ) -> Result<()> {
        let missing: Vec<String> = missing.iter().map(|t| format!("{}.{}", t.0, t.1)).collect();
        if !missing.is_empty() && !if_exists {
            return Err(err!(ER_BAD_TABLE_ERROR, missing.join(",")));
        }
        if !goes_on {
            self.commit_all()?;
        }
        self.drop_temporary(own);
        if goes_on {
            self.begin_with_temporary();
        }
        for name in missing {
            self.state.push_warning("Note", err!(ER_BAD_TABLE_ERROR, name));
        }
        Ok(())
    }
}

/// DROP TABLE as the binary log has it: the tables that there were before others, no temporary ones, which a replica does not have.
fn drop_text<'t>(names: impl Iterator<Item = &'t TableName>, if_exists: bool, database: Option<&str>) -> String {
    let quote = |name: &str| format!("`{}`", name.replace('`', "``"));
    let name = |t: &TableName| match database == Some(&*t.0) {
        true => quote(&t.1),
        false => format!("{}.{}", quote(&t.0), quote(&t.1)),
    };
    let verb = if if_exists { "DROP TABLE IF EXISTS " } else { "DROP TABLE " };
    verb.to_string() + &names.map(name).collect::<Vec<_>>().join(",") + " /* generated by server */"
}

/// CREATE TABLE ... LIKE: everything but foreign keys and the names of checks.
fn like(table: &Table, schema: &str, name: &str) -> TableSpec {
    let mut spec = catalog::ddl::spec_of(table);
    (spec.schema, spec.name) = (schema.to_string(), name.to_string());
    spec.foreign_keys.clear();
    spec.checks.iter_mut().for_each(|c| c.name = None);
    spec.columns.iter_mut().for_each(|c| c.histogram = None);
    spec
}

/// Did a statement whose definition was not committed find everything as it wants it?
fn found_it_done(statement: &Statement) -> bool {
    match statement {
        Statement::CreateDatabase(create) => create.if_not_exists,
        Statement::DropDatabase { if_exists, .. } | Statement::DropView { if_exists, .. } => *if_exists,
        Statement::CreateRoutine(create) => create.if_not_exists,
        Statement::CreateTrigger(create) => create.if_not_exists,
        Statement::CreateEvent(create) => create.if_not_exists,
        Statement::DropProgram { if_exists, .. } => *if_exists,
        Statement::CreateTable(create) => {
            let alone = matches!(create.body, CreateTableBody::Columns { select: None, .. });
            alone && create.if_not_exists && !create.temporary
        }
        _ => false,
    }
}

/// The expression of KILL: what follows its last keyword.
pub(crate) fn behind_last_word(source: &[u8]) -> &[u8] {
    let mut lexer = Lexer::new(source, sql::SqlMode::default());
    lexer.next_token();
    let second = lexer.next_token();
    let word = &source[second.start as usize..second.end as usize];
    let skip = word.eq_ignore_ascii_case(b"QUERY") || word.eq_ignore_ascii_case(b"CONNECTION");
    &source[if skip { second.end } else { second.start } as usize..]
}

/// What error 1235 calls a statement that is parsed and not executed.
pub(crate) fn statement_words(statement: &Statement) -> &'static str {
    match statement {
        Statement::TableMaintenance(_) => "table maintenance statements",
        Statement::Restart => "RESTART",
        _ => "this statement",
    }
}

/// Its text is shown with `?` in place of literals.
fn holds_password(statement: &Statement) -> bool {
    use Statement as S;
    matches!(statement, S::CreateUser(_) | S::AlterUser(_) | S::SetPassword(_) | S::CloneInstance(_) | S::Server(_))
}

/// Does MAX_UPDATES_PER_HOUR count it? What the executor runs says so itself.
fn is_update(statement: &Statement) -> bool {
    use Statement as S;
    matches!(
        statement,
        S::LoadData(_)
            | S::CreateDatabase(_)
            | S::AlterDatabase(_)
            | S::DropDatabase { .. }
            | S::CreateTable(_)
            | S::AlterTable(_)
            | S::DropTable { .. }
            | S::RenameTable(_)
            | S::TruncateTable(_)
            | S::CreateIndex(_)
            | S::DropIndex(_)
            | S::CreateView(_)
            | S::DropView { .. }
            | S::CreateUser(_)
            | S::AlterUser(_)
            | S::DropUser { .. }
            | S::RenameUser(_)
            | S::CreateRole { .. }
            | S::DropRole { .. }
            | S::Grant(_)
            | S::Revoke(_)
    )
}
