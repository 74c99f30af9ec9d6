//! SHOW, DESCRIBE and EXPLAIN: rows from crate `inspect`, filtered by LIKE or WHERE, to the client.

use crate::buffer_pool;
use crate::com::COM;
use crate::evaluate::literal;
use crate::needs::Action;
use crate::routine::kind_of;
use crate::session::plans::pins_of;
use crate::session::{Done, Session};
use crate::sink::WireSink;
use crate::tls::own_status;
use crate::variables::{VarId, id};
use crate::viewer::viewer_of;
use accounts::{AccountName, HashForm};
use catalog::{RoutineKind, Version};
use expr::Env;
use inspect::{Rows, VirtualRows, show};
use observe::Counter;
use plan::ColumnMeta;
use protocol::Output;
use run::program::{Condition, Form};
use run::{Outcome, Prepared, RowSink};
use sql::ast::{
    Account, EngineInfo, ObjectName, Parsed, QueryId, SHOWN, Show, ShowFilter, ShowLimit, ShowWhat, VarScope,
};
use std::collections::HashMap;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

fn varchar(n: u32) -> DataType {
    DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB4_0900_AI_CI)
}

fn text(s: impl Into<String>) -> Value<'static> {
    Value::Bytes(s.into().into_bytes().into())
}

const DEFAULT_ENGINE: VarId = id("default_storage_engine");
const VERSION: VarId = id("version");
const QUOTES_NAMES: VarId = id("sql_quote_show_create");
const HASH_AS_HEX: VarId = id("print_identified_with_as_hex");

/// What clients are told of a column that has no default.
const NO_DEFAULT_VALUE: u16 = protocol::ColumnFlags::NO_DEFAULT_VALUE.0;

/// Where clients are told that SHOW COLUMNS comes from.
const COLUMNS: (&str, &str) = ("", "COLUMNS");

/// The schema and table that clients are told of as those of the statement's columns. MySQL leaves the schema out where it makes a
/// query of several tables of the statement.
fn told_table(what: &ShowWhat) -> (&'static str, &'static str) {
    match what {
        ShowWhat::Databases => ("", "SCHEMATA"),
        ShowWhat::Tables { .. } | ShowWhat::TableStatus { .. } => ("", "TABLES"),
        ShowWhat::Columns { .. } => COLUMNS,
        ShowWhat::Index { .. } => ("", "SHOW_STATISTICS"),
        ShowWhat::ProcedureStatus | ShowWhat::FunctionStatus => ("", "ROUTINES"),
        ShowWhat::Triggers { .. } => ("", "TRIGGERS"),
        ShowWhat::Events { .. } => ("", "EVENTS"),
        ShowWhat::Engines => ("information_schema", "ENGINES"),
        ShowWhat::Plugins => ("information_schema", "PLUGINS"),
        ShowWhat::CharacterSet => ("information_schema", "CHARACTER_SETS"),
        ShowWhat::Collation => ("information_schema", "COLLATIONS"),
        ShowWhat::OpenTables { .. } => ("information_schema", "OPEN_TABLES"),
        ShowWhat::Profile { .. } => ("information_schema", "PROFILING"),
        ShowWhat::Variables(VarScope::Global) => ("performance_schema", "global_variables"),
        ShowWhat::Variables(_) => ("performance_schema", "session_variables"),
        ShowWhat::Status(VarScope::Global) => ("performance_schema", "global_status"),
        ShowWhat::Status(_) => ("performance_schema", "session_status"),
        _ => ("", ""),
    }
}

impl Session {
    /// What virtual tables may see of this session.
    pub(crate) fn inspect_context(&self) -> inspect::Context {
        let access = self.access();
        self.show_variables();
        inspect::Context {
            version: self.temporary.over(self.catalog.peek()),
            engine: Arc::clone(&self.server.engine),
            source: Arc::clone(&self.server) as Arc<dyn inspect::Source>,
            session_variables: self.state.printed_later(),
            default_storage_engine: self.state.printed(DEFAULT_ENGINE),
            server_version: self.state.printed(VERSION),
            server_status: {
                let (server, tls) = (Arc::clone(&self.server), self.tls.clone());
                Box::new(move || {
                    let mut all = server.tls_status(tls.as_deref());
                    all.extend(buffer_pool::status(&server.engine));
                    all.extend(server.extension_status());
                    all.extend(server.plain_status());
                    all
                })
            },
            own_status: own_status(self.compression, self.tls.as_deref()),
            own_counts: self.own_counts(),
            profiles: self.kept_profiles(),
            traces: self.state.traces.as_ref().map_or_else(Vec::new, |t| t.shown(&self.state.vars)),
            database: self.state.database.clone(),
            slot: self.tx.slot(),
            viewer: viewer_of(&self.server, access, self.acting_user(), self.temporary.names()),
            callers: Vec::new(),
        }
    }

    /// The schema named, or the current one. Error 1046.
    pub(crate) fn schema_of(&self, parsed: &Parsed, schema: Option<sql::ast::Name>) -> Result<String> {
        match schema {
            Some(name) => Ok(parsed.name(name).to_string()),
            None => Ok(self.state.database().ok_or_else(|| err!(ER_NO_DB_ERROR))?.to_string()),
        }
    }

    pub(crate) fn object(&self, parsed: &Parsed, name: ObjectName) -> Result<(String, String)> {
        Ok((self.schema_of(parsed, name.schema)?, parsed.name(name.name).to_string()))
    }

    /// DESCRIBE table [column or pattern].
    pub(crate) fn describe(
        &mut self,
        parsed: &Parsed,
        table: ObjectName,
        column: Option<sql::ast::Str>,
        out: &mut Output,
    ) -> Result<Done> {
        let (schema, name) = self.seen_table(parsed, table)?;
        let mut rows = show::columns(&self.inspect_context(), &schema, &name, false)?;
        rows.of = COLUMNS;
        if let Some(pattern) = column {
            keep_like(&mut rows, parsed.bytes(pattern));
        }
        self.send(rows, out)
    }

    pub(crate) fn show(&mut self, parsed: &Parsed, statement: &Show, out: &mut Output) -> Result<Done> {
        match &statement.what {
            ShowWhat::Warnings { limit } => return self.show_conditions(parsed, *limit, false, out),
            ShowWhat::Errors { limit } => return self.show_conditions(parsed, *limit, true, out),
            ShowWhat::CountWarnings => {
                return self.show_count("@@session.warning_count", self.state.warning_count, out);
            }
            ShowWhat::CountErrors => return self.show_count("@@session.error_count", self.state.error_count, out),
            _ => {}
        }
        let mut rows = self.show_rows(parsed, statement)?;
        rows.of = told_table(&statement.what);
        if !self.state.vars.bool(QUOTES_NAMES) {
            crate::quotes::unquote(&statement.what, &mut rows);
        }
        if self.state.sql_mode.has(SqlMode::ANSI_QUOTES) {
            crate::quotes::requote(&statement.what, &mut rows);
        }
        match statement.filter {
            ShowFilter::None => {}
            ShowFilter::Like(pattern) => keep_like(&mut rows, parsed.bytes(pattern)),
            ShowFilter::Where(query) => return self.send_where(rows, parsed, query, out),
        }
        self.send(rows, out)
    }

    fn show_rows(&mut self, parsed: &Parsed, statement: &Show) -> Result<Rows> {
        self.may_show(&statement.what)?;
        self.catalog.get(self.server.catalog.cell());
        let cx = self.inspect_context();
        let like = match statement.filter {
            ShowFilter::Like(pattern) => Some(String::from_utf8_lossy(parsed.bytes(pattern)).into_owned()),
            _ => None,
        };
        let like = like.as_deref();
        // Of what is dear to make no more than LIKE lets through.
        let is_wanted = |name: &str| like.is_none_or(|pattern| is_like(name.as_bytes(), pattern.as_bytes()));
        Ok(match &statement.what {
            ShowWhat::Databases => show::databases(&cx, like),
            ShowWhat::Tables { full, schema, .. } => {
                show::tables(&cx, &self.seen_schema(parsed, *schema)?, *full, like)?
            }
            ShowWhat::TableStatus { schema } => {
                // Accents are the filter's to say.
                let may_match = |name: &str| !(name.is_ascii() && like.is_some_and(str::is_ascii)) || is_wanted(name);
                show::table_status_of(&cx, &self.seen_schema(parsed, *schema)?, &may_match)?
            }
            // No error where there is no such schema.
            ShowWhat::OpenTables { schema } => show::open_tables(&cx, schema.map(|name| parsed.name(name))),
            ShowWhat::Columns { full, table, .. } => {
                let (schema, name) = self.seen_table(parsed, *table)?;
                show::columns(&cx, &schema, &name, *full)?
            }
            ShowWhat::Index { table, .. } => {
                let (schema, name) = self.seen_table(parsed, *table)?;
                show::index(&cx, &schema, &name)?
            }
            what @ (ShowWhat::CreateTable(_)
            | ShowWhat::CreateDatabase { .. }
            | ShowWhat::CreateView(_)
            | ShowWhat::CreateProcedure(_)
            | ShowWhat::CreateFunction(_)
            | ShowWhat::CreateTrigger(_)
            | ShowWhat::CreateEvent(_)) => self.show_create(parsed, &cx, what)?,
            ShowWhat::Grants { user, using } => self.show_grants(parsed, *user, using)?,
            ShowWhat::CreateUser(user) => self.show_create_user(parsed, *user)?,
            ShowWhat::Variables(scope) => {
                let shown = match scope {
                    VarScope::Global => cx.source.global_variables(&is_wanted),
                    _ => (cx.session_variables)(&is_wanted),
                };
                show::pairs(shown.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
            }
            ShowWhat::Status(VarScope::Global) => show::pairs(cx.status()),
            ShowWhat::Status(_) => show::pairs(cx.session_status()),
            ShowWhat::ProcessList { full } => {
                self.state.warn("Warning", ER_WARN_DEPRECATED_SYNTAX, plan::tables::PROCESSLIST_DEPRECATED.to_string());
                show::processlist(&cx, *full)
            }
            ShowWhat::Engines => show::engines(&self.inspect_context()),
            ShowWhat::Engine { name, what } => {
                show_engine(&self.server, &cx, name.map_or("InnoDB", |n| parsed.name(n)), *what)?
            }
            ShowWhat::Plugins => {
                let native_password = self.server.accounts.has_plugin(accounts::Plugin::NativePassword);
                inspect::plugins::show(native_password, &self.server.catalog.installed()?)
            }
            ShowWhat::CharacterSet => show::charsets(),
            ShowWhat::Collation => show::collations(),
            ShowWhat::Privileges => show::privileges(accounts::DYNAMIC_PRIVILEGES),
            ShowWhat::Triggers { schema, .. } => {
                let name = self.seen_schema(parsed, *schema)?;
                cx.version.schema(&name).ok_or_else(|| err!(ER_BAD_DB_ERROR, name))?;
                inspect::triggers::show(&cx, &name)
            }
            ShowWhat::Events { schema } => {
                let schema = self.schema_of(parsed, *schema)?;
                if !schema.eq_ignore_ascii_case("information_schema") {
                    self.need_in(Action::ShowEvents, &schema)?;
                }
                inspect::events::show(&cx, &schema)
            }
            ShowWhat::ProcedureStatus => inspect::routines::status(&cx, RoutineKind::Procedure),
            ShowWhat::FunctionStatus => inspect::routines::status(&cx, RoutineKind::Function),
            what @ (ShowWhat::BinaryLogs
            | ShowWhat::BinaryLogStatus
            | ShowWhat::Replicas
            | ShowWhat::BinlogEvents { relay: false, .. }) => self.show_binlog(parsed, what)?,
            ShowWhat::ReplicaStatus { channel, old } => self.show_replica_status(parsed, *channel, *old)?,
            what @ ShowWhat::BinlogEvents { .. } => self.show_relay_events(parsed, what)?,
            ShowWhat::Profiles => {
                self.warn_profile("SHOW PROFILES");
                self.show_profiles()
            }
            ShowWhat::Profile { types, query, limit } => {
                self.warn_profile("SHOW PROFILE");
                self.show_profile(parsed, types, *query, *limit)?
            }
            ShowWhat::ProcedureCode(_) | ShowWhat::FunctionCode(_) => {
                return Err(err!(ER_FEATURE_DISABLED, "SHOW PROCEDURE|FUNCTION CODE", "--with-debug"));
            }
            _ => return Err(err!(ER_NOT_SUPPORTED_YET, "this form of SHOW")),
        })
    }

    fn show_create(&mut self, parsed: &Parsed, cx: &inspect::Context, what: &ShowWhat) -> Result<Rows> {
        Ok(match what {
            ShowWhat::CreateTable(table) => {
                let (schema, name) = self.object(parsed, *table)?;
                self.may_show_table(cx, &schema, &name)?;
                self.warn_of_view(cx, &schema, &name);
                show::create_table_of(cx, &schema, &name)?
            }
            ShowWhat::CreateDatabase { if_not_exists, name } => {
                self.may_show_schema(parsed.name(*name))?;
                show::create_database_of(cx, parsed.name(*name), *if_not_exists)?
            }
            ShowWhat::CreateView(view) => {
                let (schema, name) = self.object(parsed, *view)?;
                self.may_show_view(cx, &schema, &name)?;
                self.warn_of_view(cx, &schema, &name);
                show::create_view_of(cx, &schema, &name)?
            }
            what @ (ShowWhat::CreateProcedure(name) | ShowWhat::CreateFunction(name)) => {
                let kind = kind_of(matches!(what, ShowWhat::CreateFunction(_)));
                let (schema, name) = self.object(parsed, *name)?;
                inspect::routines::show_create(cx, &schema, kind, &name)?
            }
            ShowWhat::CreateTrigger(name) => {
                let (schema, name) = self.object(parsed, *name)?;
                inspect::triggers::show_create(cx, &schema, &name)?
            }
            ShowWhat::CreateEvent(name) => {
                let (schema, name) = self.object(parsed, *name)?;
                self.need_in(Action::Event, &schema)?;
                inspect::events::show_create(cx, &schema, &name, self.state.sql_mode.has(SqlMode::ANSI_QUOTES))?
            }
            _ => return Err(err!(ER_NOT_SUPPORTED_YET, "this form of SHOW")),
        })
    }

    /// Warning 1356 for a view whose tables or columns are gone: its text is shown all the same.
    fn warn_of_view(&mut self, cx: &inspect::Context, schema: &str, name: &str) {
        let gone = cx.version.table(schema, name).and_then(|t| inspect::invalid_view(&cx.version, t));
        if let Some(e) = gone {
            self.state.warn("Warning", e.code, e.message);
        }
    }

    fn warn_profile(&mut self, statement: &str) {
        self.state.push_warning("Warning", err!(ER_WARN_DEPRECATED_SYNTAX, statement, "Performance Schema"));
    }

    /// What the session counts for itself, under the names of the status.
    fn own_counts(&self) -> HashMap<String, u64> {
        let own =
            ["Questions", "Queries", "Bytes_", "Handler_", "Max_execution_time", "Select_", "Sort_", "Created_tmp"];
        let counters = Counter::ALL.iter().filter(|c| own.iter().any(|prefix| c.name().starts_with(prefix)));
        let commands = COM.iter().map(|name| (format!("Com_{name}"), self.counters.value(self.com(name))));
        counters.map(|c| (c.name().to_string(), self.counters.value(*c))).chain(commands).collect()
    }

    fn show_conditions(
        &mut self,
        parsed: &Parsed,
        limit: Option<ShowLimit>,
        errors: bool,
        out: &mut Output,
    ) -> Result<Done> {
        let (skip, take) = limits(parsed, limit)?;
        let list = self.state.warnings.iter().filter(|w| !errors || w.level == "Error").skip(skip).take(take);
        let message = |w: &Condition| match w.code {
            ER_ROW_IS_REFERENCED_2 | ER_NO_REFERENCED_ROW_2 => {
                self.without_hidden_keys(SqlError::new(w.code, w.message.clone())).message
            }
            _ => w.message.clone(),
        };
        let rows = list.map(|w| vec![text(w.level), Value::UInt(w.code.into()), text(message(w))]).collect();
        let code = DataType { length: 4, ..DataType::new(TypeKind::Int).unsigned() };
        let columns = [("Level", varchar(7)), ("Code", code), ("Message", varchar(512))];
        // Diagnostics leave FOUND_ROWS() as it is.
        let found = self.state.found_rows;
        let done = self.send_rows(Rows::new(&columns, rows), true, out);
        self.state.found_rows = found;
        done
    }

    fn show_count(&mut self, title: &str, count: u64, out: &mut Output) -> Result<Done> {
        let t = DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned() };
        self.send_rows(Rows::new(&[(title, t)], vec![vec![Value::UInt(count)]]), true, out)
    }

    /// With the roles that are active, when nobody is named; else with those of USING.
    fn show_grants(&mut self, parsed: &Parsed, user: Option<Account>, using: &[Account]) -> Result<Rows> {
        let name = self.name_of(parsed, user.unwrap_or(Account::Current));
        let roles: Vec<AccountName> = match (user, using) {
            (None, []) => self.access().active_roles().to_vec(),
            _ => using.iter().map(|r| self.name_of(parsed, *r)).collect(),
        };
        if name != self.access().account().name {
            self.need(Action::ShowGrants)?;
        }
        let directory = self.server.accounts.directory();
        directory.get(&name).ok_or_else(|| err!(ER_NONEXISTING_GRANT, name.user, name.host))?;
        let account = self.with_roles(&directory, &name, &roles)?;
        let rows = account.show_grants().into_iter().map(|g| vec![text(g)]).collect();
        Ok(Rows::new(&[(&format!("Grants for {}@{}", name.user, name.host), varchar(1024))], rows))
    }

    /// Errors 1044, 1396.
    fn show_create_user(&mut self, parsed: &Parsed, user: Account) -> Result<Rows> {
        let name = self.name_of(parsed, user);
        let may_read = self.need_in(Action::ShowCreateUser, "mysql");
        let form = match (&may_read, self.state.vars.bool(HASH_AS_HEX)) {
            (Err(_), _) => HashForm::Hidden,
            (Ok(()), true) => HashForm::Hexadecimal,
            (Ok(()), false) => HashForm::Quoted,
        };
        // One's own account one may see, but for its hash.
        if name != self.access().account().name {
            may_read?;
        }
        let directory = self.server.accounts.directory();
        let account = directory.get(&name).ok_or_else(|| err!(ER_CANNOT_USER, "SHOW CREATE USER", name))?;
        let statement = account.create_statement(form);
        let title = format!("CREATE USER for {}@{}", name.user, name.host);
        Ok(Rows::new(&[(&title, varchar(1024))], vec![vec![Value::Bytes(statement.into())]]))
    }

    /// Sends rows that are at hand.
    pub(crate) fn send(&mut self, rows: Rows, out: &mut Output) -> Result<Done> {
        self.send_rows(rows, false, out)
    }

    /// `of_before`: the session's conditions are of the statement before.
    fn send_rows(&mut self, rows: Rows, of_before: bool, out: &mut Output) -> Result<Done> {
        self.log.sent = rows.rows.len() as u64;
        let (schema, table) = rows.of;
        let meta = |(name, data_type): (String, DataType)| ColumnMeta {
            schema: schema.to_string(),
            table: table.to_string(),
            org_table: if schema.is_empty() { String::new() } else { table.to_string() },
            org_name: if table.is_empty() { String::new() } else { name.clone() },
            name,
            data_type,
            // They come from temporary tables in MySQL.
            flags: match data_type.kind {
                _ if schema == "performance_schema" && !data_type.nullable => plan::KEPT | NO_DEFAULT_VALUE,
                TypeKind::Enum | TypeKind::Set => plan::KEPT,
                _ if table.is_empty() => 0,
                _ => plan::KEPT,
            },
            provenance: plan::Provenance::Table,
            told: None,
            extreme_of: None,
        };
        let columns: Vec<ColumnMeta> = rows.columns.into_iter().map(meta).collect();
        let mut sink = self.wire_sink(out);
        sink.columns(&columns)?;
        for row in &rows.rows {
            sink.row(row)?;
        }
        self.state.found_rows = rows.rows.len() as u64;
        self.state.row_count = -1;
        let (status, warnings) = (self.status(self.more), self.state.wire_warnings());
        // What SHOW WARNINGS tells of is of the statement before.
        let warnings = if of_before { 0 } else { warnings };
        out.end_rows(status, warnings).map_err(|_| crate::sink::gone())?;
        Ok(Done::Answered)
    }

    fn wire_sink<'o>(&self, out: &'o mut Output) -> WireSink<'o> {
        WireSink {
            out,
            format: self.format,
            status: self.status(self.more),
            results: self.state.vars.hot().results,
            limit: u64::MAX,
            head: None,
            rows: 0,
            started: false,
            durable: None,
        }
    }

    /// `SHOW ... WHERE expr`: the rows become a table, and the expression a query over it.
    fn send_where(&mut self, rows: Rows, parsed: &Parsed, query: QueryId, out: &mut Output) -> Result<Done> {
        let table = Arc::new(VirtualRows(rows.rows).table(SHOWN.0, SHOWN.1, &rows.columns));
        let (values, params) = self.bound_values();
        let (locals, values) = self.programs.shown.take().unwrap_or_else(|| (Arc::default(), values));
        let form = Form { locals, values: None, params: params.into() };
        // Subqueries may read any table, and need what any query needs for it.
        let (mut prepared, readable_since) = loop {
            let mut version = Version::clone(&self.dictionary());
            version.number = 0;
            let schema = version.schemas.get_mut(SHOWN.0).expect("the server makes it");
            Arc::make_mut(schema).tables.insert(SHOWN.1.to_string(), Arc::clone(&table));
            let version = Arc::new(version);
            let prepared = Prepared::of_query_in_program(parsed, query, &version, &mut self.state, &form);
            let prepared = prepared.map_err(|e| self.denied_or(parsed, e))?;
            self.check_rights(&prepared)?;
            let (pins, readable_since) = pins_of(&prepared, &version);
            if pins.is_empty() || self.pin_tables(&pins, false)? {
                break (prepared, readable_since);
            }
        };
        let mut sink = self.wire_sink(out);
        self.begin_readable(readable_since, true).map_err(|e| self.not_begun(e))?;
        self.state.inspect = Some(Box::new(self.inspect_context()));
        if prepared.calls() {
            self.lend();
        }
        let result = prepared.execute(&mut self.tx, &values, &mut self.state, &mut sink).map(|_| Outcome::default());
        self.take_back();
        self.state.inspect = None;
        self.finish_statement(result)?;
        let (status, warnings) = (self.status(self.more), self.state.wire_warnings());
        out.end_rows(status, warnings).map_err(|_| crate::sink::gone())?;
        Ok(Done::Answered)
    }
}

fn keep_like(rows: &mut Rows, pattern: &[u8]) {
    let at = rows.like;
    rows.rows.retain(|row| match &row[at] {
        Value::Bytes(b) => is_like(b, pattern),
        _ => false,
    });
}

/// How many rows LIMIT leaves out, and how many it lets through.
pub(crate) fn limits(parsed: &Parsed, limit: Option<ShowLimit>) -> Result<(usize, usize)> {
    let number = |id| match literal(parsed, id) {
        Some((Value::Int(n), _)) => Ok(n as usize),
        _ => Err(err!(ER_NOT_SUPPORTED_YET, "LIMIT of SHOW that is no number")),
    };
    match limit {
        Some(limit) => Ok((limit.offset.map_or(Ok(0), number)?, number(limit.count)?)),
        None => Ok((0, usize::MAX)),
    }
}

fn is_like(name: &[u8], pattern: &[u8]) -> bool {
    CollationId::UTF8MB4_0900_AI_CI.like(name, pattern, Some('\\'))
}

/// SHOW ENGINE.
fn show_engine(server: &crate::Server, cx: &inspect::Context, name: &str, what: EngineInfo) -> Result<Rows> {
    let of_memory = |(name, n): (String, u64)| {
        let word = |text: String| Value::Bytes(text.into_bytes().into());
        vec![word("performance_schema".to_string()), word(name), word(n.to_string())]
    };
    if name.eq_ignore_ascii_case("performance_schema") {
        // Its tables are computed; memory is what sessions record in.
        return Ok(show::engine_rows(match what {
            EngineInfo::Status => crate::performance::memory(server).into_iter().map(of_memory).collect(),
            EngineInfo::Mutex | EngineInfo::Logs => Vec::new(),
        }));
    }
    match catalog::StorageEngine::by_name(name) {
        Some(catalog::StorageEngine::InnoDb) => {}
        // The others keep nothing to tell of.
        Some(_) => return Ok(show::engine_rows(Vec::new())),
        None => return Err(show::unknown_engine(name)),
    }
    Ok(match what {
        EngineInfo::Status => inspect::monitor::innodb_status(cx),
        // Waits for latches are not kept by latch.
        EngineInfo::Mutex | EngineInfo::Logs => show::engine_rows(Vec::new()),
    })
}
