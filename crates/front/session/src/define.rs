//! Statements that the executor does not run: transactions, USE, SET, KILL, prepared statements by name, and data
//! definition, translated from the tree to crate `catalog`'s specifications.

use crate::alter::AlterPlan;
use crate::column_type::{collation_from, column_type};
use crate::command::{Done, Session};
use crate::evaluate::literal;
use crate::variables::{VarId, id};
use accounts::Privileges;
use catalog::define::check_name;
use catalog::schema::eq_name;
use catalog::{Column, ColumnDefault, Ddl, KeyKind, KeyPartSpec, KeySpec, Table, TableSpec, Waiting};
use exec::{Env, Outcome};
use protocol::Output;
use sql::ast::*;
use sql::lexer::Lexer;
use std::sync::Arc;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

const COLLATION_SERVER: VarId = id("collation_server");
const REQUIRE_PRIMARY_KEY: VarId = id("sql_require_primary_key");

pub(crate) fn unsupported(what: &str) -> SqlError {
    err!(1235, what)
}

pub(crate) fn text_of(parsed: &Parsed, s: Str) -> String {
    String::from_utf8_lossy(parsed.bytes(s)).into_owned()
}

impl Session {
    /// Runs a statement that is not the executor's, and answers.
    pub(crate) fn obey(&mut self, parsed: &Parsed, out: &mut Output) -> Result<Done> {
        self.refresh_access()?;
        if self.password_expired
            && !matches!(parsed.statement, Statement::AlterUser(_) | Statement::SetPassword(_) | Statement::Set(_))
        {
            return Err(err!(1820));
        }
        match &parsed.statement {
            Statement::Show(statement) => return self.show(parsed, statement, out),
            Statement::Explain(statement) => {
                self.state.clear_conditions();
                return self.explain(parsed, statement, out);
            }
            Statement::DescribeTable { table, column } => {
                self.state.clear_conditions();
                self.catalog.get(self.server.catalog.cell());
                return self.describe(parsed, *table, *column, out);
            }
            Statement::TableMaintenance(statement) => {
                self.state.clear_conditions();
                return self.maintain(parsed, statement, out);
            }
            _ => {}
        }
        self.state.clear_conditions();
        let (name, outcome, done) = match &parsed.statement {
            Statement::Execute { name, using } => {
                let values: Vec<Value<'static>> =
                    using.iter().map(|n| self.state.user_variable(parsed.name(*n)).0).collect();
                observe::increment(self.com("execute_sql"));
                return self.execute_named(parsed.name(*name), &values, out);
            }
            _ => self.obey_quietly(parsed)?,
        };
        observe::increment(observe::Counter::Questions);
        observe::increment(observe::Counter::Queries);
        observe::increment(self.com(name));
        if self.transaction.settings_changed {
            // Further statements of the same command answer in the new character set.
            crate::charset::apply_results(&self.state, out);
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

    /// Statements that answer OK: the name of their counter, and what the OK says.
    fn obey_quietly(&mut self, parsed: &Parsed) -> Result<(&'static str, Outcome, Done)> {
        let plain = |name| Ok((name, Outcome::default(), Done::Answered));
        let affected = |name, rows| Ok((name, Outcome { affected_rows: rows, ..Outcome::default() }, Done::Answered));
        match &parsed.statement {
            Statement::Begin { consistent_snapshot, access } => {
                self.begin(*consistent_snapshot, *access)?;
                plain("begin")
            }
            Statement::Commit(completion) => {
                let release = self.complete(true, *completion)?;
                Ok(("commit", Outcome::default(), if release { Done::Close } else { Done::Answered }))
            }
            Statement::Rollback(completion) => {
                let release = self.complete(false, *completion)?;
                Ok(("rollback", Outcome::default(), if release { Done::Close } else { Done::Answered }))
            }
            Statement::Savepoint(name) => {
                self.savepoint(parsed.name(*name))?;
                plain("savepoint")
            }
            Statement::RollbackTo(name) => {
                self.rollback_to(parsed.name(*name))?;
                plain("rollback_to_savepoint")
            }
            Statement::ReleaseSavepoint(name) => {
                self.release_savepoint(parsed.name(*name))?;
                plain("release_savepoint")
            }
            Statement::Use(name) => {
                self.use_database(parsed.name(*name))?;
                plain("change_db")
            }
            Statement::Set(items) => {
                self.set(parsed, items)?;
                plain("set_option")
            }
            Statement::Kill { query, id } => {
                let text = behind_last_word(parsed.source());
                let (value, _) = self.evaluate(parsed, *id, text)?;
                let id = match value {
                    Value::Int(n) if n >= 0 => n as u64,
                    Value::UInt(n) => n,
                    _ => return Err(err!(1094, value.to_i64())),
                };
                self.kill(id, *query)?;
                if *query && id == u64::from(self.state.id) {
                    return Err(err!(1317));
                }
                plain("kill")
            }
            Statement::Prepare { name, from } => {
                let text = match from {
                    PrepareSource::Text(s) => parsed.bytes(*s).to_vec(),
                    PrepareSource::UserVar(variable) => {
                        let (value, t) = self.state.user_variable(parsed.name(*variable));
                        let mut text = Vec::new();
                        value.write_text(&t, &mut text);
                        text
                    }
                };
                self.prepare_named(parsed.name(*name), &text)?;
                Ok((
                    "prepare_sql",
                    Outcome { info: "Statement prepared".to_string(), ..Outcome::default() },
                    Done::Answered,
                ))
            }
            Statement::Deallocate(name) => {
                self.deallocate(parsed.name(*name))?;
                plain("dealloc_sql")
            }
            Statement::Shutdown => {
                self.access().check_global(Privileges::SHUTDOWN)?;
                Ok(("shutdown", Outcome::default(), Done::Close))
            }
            Statement::Flush(flush) => {
                self.flush(flush)?;
                plain("flush")
            }
            // No table locks are held: LOCK TABLES is refused.
            Statement::UnlockTables => plain("unlock_tables"),
            Statement::CreateDatabase(create) => affected("create_db", self.create_database(parsed, create)?),
            Statement::AlterDatabase(alter) => {
                let name = self.schema_of(parsed, alter.name)?;
                self.access().check_schema(Privileges::ALTER, &name)?;
                let collation = self.schema_collation(parsed, &alter.options)?;
                self.define(|ddl| match collation {
                    Some(collation) => ddl.alter_schema(&name, collation),
                    None => Ok(()),
                })?;
                affected("alter_db", 1)
            }
            Statement::DropDatabase { if_exists, name } => {
                let name = parsed.name(*name).to_string();
                self.access().check_schema(Privileges::DROP, &name)?;
                let dropped = match self.define(|ddl| ddl.drop_schema(&name)) {
                    Err(e) if e.code == 1008 && *if_exists => {
                        self.state.warn("Note", 1008, e.message);
                        0
                    }
                    other => other?,
                };
                if self.state.database.as_deref() == Some(&name) {
                    self.state.database = None;
                    self.changed_schema = true;
                }
                affected("drop_db", dropped)
            }
            Statement::CreateTable(create) => {
                self.create_table(parsed, create)?;
                plain("create_table")
            }
            Statement::DropTable { temporary, if_exists, names } => {
                self.drop_tables(parsed, *temporary, *if_exists, names)?;
                plain("drop_table")
            }
            Statement::RenameTable(pairs) => {
                let mut names = Vec::new();
                for (from, to) in pairs {
                    let (from, to) = (self.object(parsed, *from)?, self.object(parsed, *to)?);
                    self.access().check_table(
                        Privileges(Privileges::ALTER.0 | Privileges::DROP.0),
                        &from.0,
                        &from.1,
                    )?;
                    self.access().check_table(Privileges(Privileges::CREATE.0 | Privileges::INSERT.0), &to.0, &to.1)?;
                    names.push((from, to));
                }
                self.define(|ddl| {
                    names.iter().try_for_each(|(f, t)| ddl.rename_table((&f.0, &f.1), (&t.0, &t.1)).map(drop))
                })?;
                plain("rename_table")
            }
            Statement::TruncateTable(name) => {
                let (schema, table) = self.object(parsed, *name)?;
                self.access().check_table(Privileges::DROP, &schema, &table)?;
                self.define(|ddl| ddl.truncate_table(&schema, &table).map(drop))?;
                plain("truncate")
            }
            Statement::CreateIndex(create) => {
                let (schema, table) = self.object(parsed, create.table)?;
                self.access().check_table(Privileges::INDEX, &schema, &table)?;
                let key = key_spec(parsed, &create.index)?;
                self.define(|ddl| {
                    let old = ddl.lock_table(&schema, &table)?;
                    let (new, at) = ddl.create_index(&old, key)?;
                    fill_index(ddl, &new, at)
                })?;
                plain("create_index")
            }
            Statement::DropIndex(drop) => {
                let (schema, table) = self.object(parsed, drop.table)?;
                self.access().check_table(Privileges::INDEX, &schema, &table)?;
                let name = parsed.name(drop.name).to_string();
                let mode = self.state.sql_mode;
                self.define(|ddl| {
                    let old = ddl.lock_table(&schema, &table)?;
                    if name.eq_ignore_ascii_case("PRIMARY") {
                        let mut plan = AlterPlan::new(&old);
                        plan.drop_primary()?;
                        return plan.run(ddl, &old, mode);
                    }
                    ddl.drop_index(&old, &name).map(|_| ())
                })?;
                plain("drop_index")
            }
            Statement::AlterTable(alter) => {
                self.alter_table(parsed, alter)?;
                plain("alter_table")
            }
            Statement::CreateUser(_)
            | Statement::AlterUser(_)
            | Statement::DropUser { .. }
            | Statement::RenameUser(_)
            | Statement::Grant(_)
            | Statement::Revoke(_)
            | Statement::SetPassword(_) => {
                self.commit_all()?;
                let name = self.change_accounts(parsed)?;
                plain(name)
            }
            Statement::Unsupported(what) => Err(unsupported(what.what)),
            other => Err(unsupported(statement_words(other))),
        }
    }

    /// FLUSH: what there is to flush is flushed, the rest is refused.
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        self.access().check_global(Privileges::RELOAD)?;
        for what in &flush.what {
            match what {
                // Accounts are read from one place, there is no second copy to reload; no host cache, no cost tables.
                FlushWhat::Privileges | FlushWhat::Hosts | FlushWhat::OptimizerCosts => {}
                // No table stays open between statements.
                FlushWhat::Tables { mode: FlushTables::Close, .. } => {}
                FlushWhat::Tables { .. } => return Err(unsupported("FLUSH TABLES WITH READ LOCK")),
                // Every commit is flushed when its answer goes out.
                FlushWhat::EngineLogs | FlushWhat::BinaryLogs | FlushWhat::ErrorLogs | FlushWhat::Logs => {}
                FlushWhat::GeneralLogs | FlushWhat::SlowLogs => {}
                _ => return Err(unsupported("this form of FLUSH")),
            }
        }
        Ok(())
    }

    /// Runs `change` as one atomic data definition, after the implicit commit.
    fn define<R>(&mut self, change: impl FnOnce(&mut Ddl<'_>) -> Result<R>) -> Result<R> {
        self.check_writable()?;
        self.commit_all()?;
        let server = Arc::clone(&self.server);
        let interrupt = Arc::clone(self.tx.interrupt());
        let timeout = self.state.vars.hot().lock_wait_timeout;
        let waiting = Waiting { timeout, interrupt: &interrupt };
        let pins = &self.pins;
        let mut ddl = server.catalog.begin_ddl(&mut self.tx, pins, waiting)?;
        let result = change(&mut ddl)?;
        ddl.commit()?;
        Ok(result)
    }

    fn schema_collation(&self, parsed: &Parsed, options: &DatabaseOptions) -> Result<Option<CollationId>> {
        if options.encryption.is_some_and(|e| !parsed.bytes(e).eq_ignore_ascii_case(b"n")) {
            return Err(unsupported("ENCRYPTION"));
        }
        if options.read_only == Some(true) {
            return Err(unsupported("READ ONLY databases"));
        }
        collation_from(parsed, options.charset, options.collation)
    }

    fn create_database(&mut self, parsed: &Parsed, create: &CreateDatabase) -> Result<u64> {
        let name = parsed.name(create.name).to_string();
        self.access().check_schema(Privileges::CREATE, &name)?;
        let collation = match self.schema_collation(parsed, &create.options)? {
            Some(collation) => collation,
            None => CollationId::by_name(self.state.vars.text(COLLATION_SERVER)).expect("checked when set"),
        };
        match self.define(|ddl| ddl.create_schema(&name, collation)) {
            Err(e) if e.code == 1007 && create.if_not_exists => {
                self.state.warn("Note", 1007, e.message);
                Ok(1)
            }
            other => other.map(|()| 1),
        }
    }

    fn create_table(&mut self, parsed: &Parsed, create: &CreateTable) -> Result<()> {
        if create.temporary {
            return Err(unsupported("CREATE TEMPORARY TABLE"));
        }
        if create.partitioning.is_some() {
            return Err(unsupported("PARTITION BY"));
        }
        let (schema, name) = self.object(parsed, create.name)?;
        self.access().check_table(Privileges::CREATE, &schema, &name)?;
        self.catalog.get(self.server.catalog.cell());
        let version = Arc::clone(self.catalog.peek());
        let spec = match &create.body {
            CreateTableBody::Like(source) => {
                let (from_schema, from) = self.object(parsed, *source)?;
                self.access().check_table(Privileges::SELECT, &from_schema, &from)?;
                let table = version.table(&from_schema, &from).ok_or_else(|| err!(1146, from_schema, from))?;
                if table.is_virtual() {
                    return Err(err!(1347, from_schema, from, "BASE TABLE"));
                }
                TableSpec { schema: schema.clone(), name: name.clone(), ..catalog::ddl::spec_of(table) }
            }
            CreateTableBody::Columns { select: Some(_), .. } => return Err(unsupported("CREATE TABLE ... SELECT")),
            CreateTableBody::Columns { columns, keys, options, select: None } => {
                let found = version.schema(&schema).ok_or_else(|| err!(1049, schema))?;
                self.table_spec(parsed, (&schema, &name), found.default_collation, columns, keys, options)?
            }
        };
        if self.state.vars.bool(REQUIRE_PRIMARY_KEY) && !spec.keys.iter().any(|k| k.kind == KeyKind::Primary) {
            return Err(err!(3750));
        }
        match self.define(|ddl| ddl.create_table(spec).map(drop)) {
            Err(e) if e.code == 1050 && create.if_not_exists => {
                self.state.warn("Note", 1050, e.message);
                Ok(())
            }
            other => other,
        }
    }

    fn table_spec(
        &mut self,
        parsed: &Parsed,
        (schema, name): (&str, &str),
        schema_collation: CollationId,
        columns: &[ColumnDef],
        keys: &[KeyDef],
        options: &TableOptions,
    ) -> Result<TableSpec> {
        let collation = collation_from(parsed, options.charset, options.collation)?.unwrap_or(schema_collation);
        let create_options = self.table_options(parsed, options)?;
        let mut spec = TableSpec {
            schema: schema.to_string(),
            name: name.to_string(),
            columns: Vec::with_capacity(columns.len()),
            keys: Vec::new(),
            default_collation: collation,
            comment: comment_of(parsed, options.comment, name)?,
            create_options,
            auto_increment: options.auto_increment,
        };
        for def in columns {
            let (column, own_keys) = self.column(parsed, def, collation)?;
            spec.columns.push(column);
            spec.keys.extend(own_keys);
        }
        for key in keys {
            spec.keys.push(match key {
                KeyDef::Index(index) => key_spec(parsed, index)?,
                KeyDef::ForeignKey(_) => return Err(unsupported("FOREIGN KEY")),
                KeyDef::Check(_) => return Err(unsupported("CHECK")),
            });
        }
        Ok(spec)
    }

    /// Checks table options; those that change nothing here are kept for SHOW CREATE TABLE.
    fn table_options(&mut self, parsed: &Parsed, options: &TableOptions) -> Result<String> {
        if let Some(engine) = options.engine {
            let engine = text_of(parsed, engine);
            if !engine.eq_ignore_ascii_case("InnoDB") {
                if self.state.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
                    return Err(err!(1286, engine));
                }
                self.state.warn("Warning", 1286, format!("Unknown storage engine '{engine}'"));
                self.state.warn("Warning", 1266, "Using storage engine InnoDB for the table".to_string());
            }
        }
        let mut kept = Vec::new();
        if let Some(format) = options.row_format {
            let format = parsed.name(format).to_ascii_uppercase();
            match format.as_str() {
                "DEFAULT" => {}
                "DYNAMIC" | "COMPACT" | "REDUNDANT" | "FIXED" => kept.push(format!("ROW_FORMAT={format}")),
                _ => return Err(unsupported("ROW_FORMAT=COMPRESSED")),
            }
        }
        if options.key_block_size.is_some_and(|n| n > 0) {
            return Err(unsupported("KEY_BLOCK_SIZE"));
        }
        if options.encryption.is_some_and(|e| !parsed.bytes(e).eq_ignore_ascii_case(b"n")) {
            return Err(unsupported("ENCRYPTION"));
        }
        if options.compression.is_some_and(|c| !parsed.bytes(c).eq_ignore_ascii_case(b"none")) {
            return Err(unsupported("COMPRESSION"));
        }
        for (word, value) in
            [("STATS_PERSISTENT", &options.stats_persistent), ("STATS_AUTO_RECALC", &options.stats_auto_recalc)]
        {
            if !matches!(value, None | Some(OptionValue::Default)) {
                return Err(unsupported(word));
            }
        }
        for (word, value) in &options.other {
            match (*word, value) {
                // Hints for engines with fixed files.
                ("max_rows" | "min_rows" | "avg_row_length", OptionValue::Number(n)) => {
                    kept.push(format!("{}={n}", word.to_ascii_uppercase()));
                }
                (_, OptionValue::Default) => {}
                _ => return Err(unsupported(word)),
            }
        }
        Ok(kept.join(" "))
    }

    /// A column, and the keys written beside it.
    fn column(&mut self, parsed: &Parsed, def: &ColumnDef, collation: CollationId) -> Result<(Column, Vec<KeySpec>)> {
        let name = parsed.name(def.name).to_string();
        check_name(&name, 1166)?;
        let attributes = &def.attributes;
        for (refused, what) in [
            (attributes.generated.is_some(), "generated columns"),
            (attributes.references.is_some(), "REFERENCES"),
            (!attributes.checks.is_empty(), "CHECK"),
            (attributes.invisible, "INVISIBLE columns"),
            (attributes.srid.is_some(), "SRID"),
        ] {
            if refused {
                return Err(unsupported(what));
            }
        }
        let serial = def.column_type.base == BaseType::Serial;
        let (mut data_type, members) = column_type(parsed, &name, &def.column_type, collation)?;
        let auto_increment = attributes.auto_increment || serial;
        let nullable = match attributes.nullable {
            Some(nullable) => nullable && !serial,
            None => !serial && !attributes.primary_key && !auto_increment,
        };
        data_type.nullable = nullable;
        if auto_increment
            && !(data_type.kind.is_integer() || matches!(data_type.kind, TypeKind::Float | TypeKind::Double))
        {
            return Err(err!(1063, name));
        }
        let temporal = matches!(data_type.kind, TypeKind::DateTime | TypeKind::Timestamp);
        let on_update_now = match attributes.on_update_now {
            Some(digits) if temporal && digits == data_type.decimals => true,
            Some(_) => return Err(err!(1294, name)),
            None => false,
        };
        let default = match attributes.default {
            _ if auto_increment && attributes.default.is_some() => return Err(err!(1067, name)),
            None if nullable => ColumnDefault::Value(Value::Null),
            None => ColumnDefault::None,
            Some(value) => self.default_value(parsed, &name, value, &data_type, &members)?,
        };
        let mut keys = Vec::new();
        let beside = |kind| KeySpec {
            kind,
            name: None,
            parts: vec![KeyPartSpec { column: name.clone(), prefix: 0, descending: false }],
            comment: String::new(),
        };
        if attributes.primary_key {
            keys.push(beside(KeyKind::Primary));
        }
        if attributes.unique || serial {
            keys.push(beside(KeyKind::Unique));
        }
        let comment = comment_of(parsed, attributes.comment, &name)?;
        Ok((
            Column {
                name: name.clone(),
                data_type,
                default,
                auto_increment,
                on_update_now,
                members,
                comment,
                hidden: false,
            },
            keys,
        ))
    }

    /// A DEFAULT. Errors 1067, 1101.
    fn default_value(
        &mut self,
        parsed: &Parsed,
        column: &str,
        value: DefaultValue,
        data_type: &DataType,
        members: &[String],
    ) -> Result<ColumnDefault> {
        let id = match value {
            DefaultValue::Literal(id) => id,
            DefaultValue::Expr(..) => return Err(unsupported("DEFAULT (expression)")),
        };
        let is_now = matches!(&parsed[id], Expr::Builtin { func: Builtin::Now, .. });
        if is_now {
            let digits = match &parsed[id] {
                Expr::Builtin { args, .. } => match parsed.list(*args).first() {
                    Some(digits) => literal(parsed, *digits).map_or(0, |(v, _)| v.to_i64() as u8),
                    None => 0,
                },
                _ => 0,
            };
            let temporal = matches!(data_type.kind, TypeKind::DateTime | TypeKind::Timestamp);
            return if temporal && digits == data_type.decimals {
                Ok(ColumnDefault::Now)
            } else {
                Err(err!(1067, column))
            };
        }
        let (value, source) = match (&parsed[id], literal(parsed, id)) {
            (_, Some(found)) => found,
            (Expr::Bytes { bytes, .. }, None) => {
                let bytes = parsed.bytes(*bytes).to_vec();
                let t = DataType::string(TypeKind::VarBinary, bytes.len() as u32, CollationId::BINARY);
                match data_type.kind.is_numeric() {
                    true => (
                        Value::UInt(bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b))),
                        DataType::new(TypeKind::BigInt).unsigned(),
                    ),
                    false => (Value::Bytes(bytes.into()), t),
                }
            }
            (Expr::String { text, .. }, None) => {
                let bytes = parsed.bytes(*text).to_vec();
                let t = DataType::string(TypeKind::VarChar, bytes.len() as u32, CollationId::UTF8MB4_0900_AI_CI);
                (Value::Bytes(bytes.into()), t)
            }
            _ => return Err(err!(1067, column)),
        };
        if value.is_null() {
            return if data_type.nullable { Ok(ColumnDefault::Value(Value::Null)) } else { Err(err!(1067, column)) };
        }
        if data_type.kind.is_blob() {
            return Err(err!(1101, column));
        }
        let mode = SqlMode(self.state.sql_mode.0 | SqlMode::STRICT_ALL_TABLES.0);
        let context = types::StoreContext { mode, column, row: 1, members };
        let (value, _) =
            types::coerce_for_store(value, &source, data_type, &context).map_err(|_| err!(1067, column))?;
        Ok(ColumnDefault::Value(value.into_owned()))
    }

    fn drop_tables(&mut self, parsed: &Parsed, temporary: bool, if_exists: bool, names: &[ObjectName]) -> Result<()> {
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            let (schema, table) = self.object(parsed, *name)?;
            self.access().check_table(Privileges::DROP, &schema, &table)?;
            tables.push((schema, table));
        }
        // There are no temporary tables, so none of these is one.
        let exists = |ddl: &Ddl<'_>, t: &(String, String)| !temporary && ddl.version().table(&t.0, &t.1).is_some();
        let missing = self.define(|ddl| {
            let missing: Vec<String> =
                tables.iter().filter(|t| !exists(ddl, t)).map(|t| format!("{}.{}", t.0, t.1)).collect();
            if !missing.is_empty() && !if_exists {
                return Err(err!(1051, missing.join(",")));
            }
            for t in &tables {
                if exists(ddl, t) {
                    ddl.drop_table(&t.0, &t.1)?;
                }
            }
            Ok(missing)
        })?;
        for name in missing {
            self.state.warn("Note", 1051, format!("Unknown table '{name}'"));
        }
        Ok(())
    }

    fn alter_table(&mut self, parsed: &Parsed, alter: &AlterTable) -> Result<()> {
        let (schema, name) = self.object(parsed, alter.name)?;
        self.access().check_table(Privileges::ALTER, &schema, &name)?;
        let options = self.table_options(parsed, &alter.options)?;
        self.catalog.get(self.server.catalog.cell());
        let version = Arc::clone(self.catalog.peek());
        let table = Arc::clone(version.table(&schema, &name).ok_or_else(|| err!(1146, schema, name))?);
        let mut plan = AlterPlan::new(&table);
        for action in &alter.actions {
            self.alter_action(parsed, action, &mut plan)?;
        }
        if let Some(collation) = collation_from(parsed, alter.options.charset, alter.options.collation)? {
            plan.spec.default_collation = collation;
        }
        if let Some(comment) = alter.options.comment {
            plan.spec.comment = comment_of(parsed, Some(comment), &name)?;
        }
        if !options.is_empty() {
            plan.spec.create_options = options;
        }
        plan.spec.auto_increment = alter.options.auto_increment;
        let mode = self.state.sql_mode;
        self.define(|ddl| {
            let old = ddl.lock_table(&schema, &name)?;
            if old.id != table.id || old.version != table.version {
                // Another DDL came between: the plan was made for another table.
                return Err(err!(1412));
            }
            plan.run(ddl, &old, mode)
        })
    }

    fn alter_action(&mut self, parsed: &Parsed, action: &AlterAction, plan: &mut AlterPlan) -> Result<()> {
        let name = |n: Name| parsed.name(n).to_string();
        match action {
            AlterAction::AddColumns(columns, position) => {
                let mut position = *position;
                for def in columns {
                    let (column, keys) = self.column(parsed, def, plan.spec.default_collation)?;
                    if plan.spec.columns.iter().any(|c| eq_name(&c.name, &column.name)) {
                        return Err(err!(1060, column.name));
                    }
                    plan.insert(parsed, column, None, position)?;
                    plan.spec.keys.extend(keys);
                    if position != ColumnPosition::Last {
                        position = ColumnPosition::After(def.name);
                    }
                }
                plan.rebuild = true;
            }
            AlterAction::AddKey(KeyDef::Index(index)) => plan.add_key(key_spec(parsed, index)?),
            AlterAction::AddKey(KeyDef::ForeignKey(_)) => return Err(unsupported("FOREIGN KEY")),
            AlterAction::AddKey(KeyDef::Check(_)) => return Err(unsupported("CHECK")),
            AlterAction::DropColumn(column) => plan.drop_column(&name(*column))?,
            AlterAction::DropPrimaryKey => plan.drop_primary()?,
            AlterAction::DropIndex(index) | AlterAction::DropConstraint(index) => plan.drop_index(&name(*index))?,
            AlterAction::DropForeignKey(n) | AlterAction::DropCheck(n) => return Err(err!(1091, name(*n))),
            AlterAction::ChangeColumn { old, column, position } => {
                let at = plan.position(&name(*old))?;
                let (new, keys) = self.column(parsed, column, plan.spec.default_collation)?;
                plan.change_column(parsed, at, new, *position)?;
                plan.spec.keys.extend(keys);
            }
            AlterAction::RenameColumn(old, new) => {
                let at = plan.position(&name(*old))?;
                let renamed = Column { name: name(*new), ..plan.spec.columns[at].clone() };
                plan.change_column(parsed, at, renamed, ColumnPosition::Last)?;
            }
            AlterAction::RenameIndex(old, new) => plan.rename_index(&name(*old), &name(*new))?,
            AlterAction::RenameTable(to) => plan.rename = Some(self.object(parsed, *to)?),
            AlterAction::SetDefault(column, value) => {
                let at = plan.position(&name(*column))?;
                let (t, members) = (plan.spec.columns[at].data_type, plan.spec.columns[at].members.clone());
                plan.spec.columns[at].default = self.default_value(parsed, &name(*column), *value, &t, &members)?;
                plan.defaults = true;
            }
            AlterAction::DropDefault(column) => {
                let at = plan.position(&name(*column))?;
                plan.spec.columns[at].default = ColumnDefault::None;
                plan.defaults = true;
            }
            AlterAction::ConvertCharset { charset, collation } => {
                let to = collation_from(parsed, *charset, *collation)?.unwrap_or(plan.spec.default_collation);
                plan.spec.default_collation = to;
                for column in &mut plan.spec.columns {
                    if column.data_type.kind.is_text() {
                        column.data_type.collation = to;
                    }
                }
                plan.rebuild = true;
            }
            AlterAction::Force => plan.rebuild = true,
            AlterAction::Options => {}
            // Keys are never disabled.
            AlterAction::EnableKeys(_) => {
                self.state.warn("Note", 1031, "Table storage engine for the table doesn't have this option".to_string())
            }
            AlterAction::Partition(_) => return Err(unsupported("PARTITION")),
            _ => return Err(unsupported("this form of ALTER TABLE")),
        }
        Ok(())
    }
}

/// Fills an index just made from the rows of its table.
pub(crate) fn fill_index(ddl: &mut Ddl<'_>, table: &Arc<Table>, index: usize) -> Result<()> {
    exec::ddl::fill_index(ddl.tx(), table, index)
}

/// Copies all rows of a table into its rebuilt form.
pub(crate) fn copy_rows(
    ddl: &mut Ddl<'_>,
    old: &Arc<Table>,
    new: &Arc<Table>,
    from: &[Option<usize>],
    mode: SqlMode,
) -> Result<()> {
    let engine = Arc::clone(ddl.engine());
    let mut columns = from.to_vec();
    // The hidden row id of the new table, if it has one, is new.
    columns.resize(new.columns.len(), None);
    let mut row_ids = || {
        let ids = new.row_ids.as_ref().expect("asked for by a table with hidden row ids alone");
        let id = ids.reserve(&engine, 1, 1, 1, u64::MAX).map_err(catalog::error::from_engine)?;
        id.ok_or_else(|| err!(1467))
    };
    let mut refused = None;
    exec::ddl::copy_rows(ddl.tx(), old, new, &columns, mode, &mut |w| refused = Some(w), &mut row_ids)?;
    match refused {
        // A rebuild changes no value without saying so.
        Some(warning) if mode.is_strict() => Err(warning.into()),
        _ => Ok(()),
    }
}

fn key_spec(parsed: &Parsed, index: &IndexDef) -> Result<KeySpec> {
    let kind = match index.kind {
        IndexKind::Plain => KeyKind::Plain,
        IndexKind::Unique => KeyKind::Unique,
        IndexKind::Primary => KeyKind::Primary,
        IndexKind::Fulltext => return Err(err!(1214)),
        IndexKind::Spatial => return Err(err!(1464)),
    };
    if index.options.invisible {
        return Err(unsupported("INVISIBLE indexes"));
    }
    if index.options.parser.is_some() || index.options.key_block_size.is_some_and(|n| n > 0) {
        return Err(unsupported("this option of an index"));
    }
    let mut parts = Vec::with_capacity(index.parts.len());
    for part in &index.parts {
        match part.what {
            KeyPartKind::Column { name, prefix } => {
                if prefix == Some(0) {
                    return Err(err!(1391, parsed.name(name)));
                }
                let (column, prefix) = (parsed.name(name).to_string(), prefix.unwrap_or(0));
                parts.push(KeyPartSpec { column, prefix, descending: part.descending });
            }
            KeyPartKind::Expr(..) => return Err(unsupported("functional indexes")),
        }
    }
    let comment = index.options.comment.map_or_else(String::new, |c| text_of(parsed, c));
    Ok(KeySpec { kind, name: index.name.map(|n| parsed.name(n).to_string()), parts, comment })
}

fn comment_of(parsed: &Parsed, comment: Option<Str>, name: &str) -> Result<String> {
    let comment = comment.map_or_else(String::new, |c| text_of(parsed, c));
    if comment.chars().count() > 2048 {
        return Err(err!(1628, name, 2048));
    }
    Ok(comment)
}

/// The expression of KILL: what follows its last keyword.
fn behind_last_word(source: &[u8]) -> &[u8] {
    let mut lexer = Lexer::new(source, sql::SqlMode::default());
    lexer.next_token();
    let second = lexer.next_token();
    let word = &source[second.start as usize..second.end as usize];
    let skip = word.eq_ignore_ascii_case(b"QUERY") || word.eq_ignore_ascii_case(b"CONNECTION");
    &source[if skip { second.end } else { second.start } as usize..]
}

/// What error 1235 calls a statement that is parsed and not executed.
fn statement_words(statement: &Statement) -> &'static str {
    match statement {
        Statement::LoadData(_) => "LOAD DATA",
        Statement::Call { .. } => "CALL",
        Statement::CreateView(_) | Statement::DropView { .. } => "views",
        Statement::LockTables(_) => "LOCK TABLES",
        Statement::LockInstance | Statement::UnlockInstance => "LOCK INSTANCE FOR BACKUP",
        Statement::Xa(_) => "XA",
        Statement::Help(_) => "HELP",
        Statement::Reset(_) => "RESET",
        Statement::TableMaintenance(_) => "table maintenance statements",
        Statement::Restart => "RESTART",
        Statement::CreateRole { .. } | Statement::DropRole { .. } => "roles",
        Statement::SetRole(_) | Statement::SetDefaultRole { .. } => "SET ROLE",
        _ => "this statement",
    }
}
