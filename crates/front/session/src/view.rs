//! CREATE, ALTER and DROP VIEW.

use crate::create_select::{made_default, made_type};
use crate::needs::Action;
use crate::run::lexer_mode;
use crate::session::Session;
use crate::statement::{parse_error, unsupported};
use crate::variables::{VarId, id};
use accounts::AccountName;
use catalog::eq_name;
use catalog::{CheckOption, Column, ColumnDefault, TableName, Version, View, ViewAlgorithm};
use expr::Env as _;
use sql::ast::{self, Account, CreateView, Expr, ObjectName, Parsed, Statement};
use sql::print::quote_name;
use sql::print_query::{self, Tables};
use std::fmt::Write as _;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

const CHARACTER_SET_CLIENT: VarId = id("character_set_client");
const COLLATION_CONNECTION: VarId = id("collation_connection");

/// The dictionary as the printer of queries sees it.
struct Dictionary<'v> {
    version: &'v Version,
    database: Option<&'v str>,
    /// That of the view.
    schema: &'v str,
}

impl Tables for Dictionary<'_> {
    fn columns(&self, schema: Option<&str>, table: &str) -> Option<(String, Vec<String>)> {
        let found = self.version.table(schema.or(self.database)?, table)?;
        let names = found.columns.iter().filter(|c| c.is_in_star()).map(|c| c.name.clone());
        Some((found.schema.clone(), names.collect()))
    }

    fn invisible(&self, schema: Option<&str>, table: &str) -> Vec<String> {
        let found = schema.or(self.database).and_then(|schema| self.version.table(schema, table));
        let columns = found.into_iter().flat_map(|t| &t.columns).filter(|c| c.invisible && !c.hidden);
        columns.map(|c| c.name.clone()).collect()
    }

    fn column_type(&self, parsed: &Parsed, column: &ast::CreateColumnType) -> Option<String> {
        let (ty, members) =
            plan::column_type::column_type(parsed, "", column, CollationId::UTF8MB4_0900_AI_CI, false).ok()?;
        let mut text = inspect::column_type(&ty, &members);
        if ty.kind.is_text() && ty.kind != TypeKind::Json {
            _ = write!(text, " character set {}", ty.collation.charset().name());
        }
        if let Some(collation) = column.collation {
            _ = write!(text, " collate {}", parsed.name(collation));
        }
        Some(text)
    }

    fn routine(&self, schema: Option<&str>, name: &str) -> Option<String> {
        if schema.is_none() && expr::functions::find(name).is_some() {
            return None;
        }
        let found = self.version.routine(schema.or(self.database)?, catalog::RoutineKind::Function, name)?;
        // A view finds those of its own schema.
        let is_near = schema.is_none() && found.schema == self.schema;
        let schema = if is_near { String::new() } else { quote_name(&found.schema) + "." };
        Some(schema + &quote_name(&found.name))
    }
}

impl Session {
    /// Errors 1050, 1060, 1146, 1347, 1350, 1351, 1353 and those of the query.
    pub(crate) fn create_view(&mut self, parsed: &Parsed, create: &CreateView) -> Result<()> {
        let (schema, name) = self.object(parsed, create.name)?;
        let replace = create.or_replace || create.alter;
        self.need_on(if replace { Action::ReplaceView } else { Action::CreateView }, &schema, &name)?;
        // What ALTER VIEW does not say anew stays.
        let version = self.dictionary();
        let altered = version.table(&schema, &name).filter(|_| create.alter).and_then(|t| t.view.as_ref());
        let definer = match (create.definer, altered) {
            (None, Some(view)) => {
                self.may_name_definer(&AccountName::of_definer(&view.definer), &self.server.accounts.directory())?;
                view.definer.clone()
            }
            (said, _) => self.definer(parsed, said)?,
        };
        if let Some(view) = altered {
            self.may_change_what_is_of(&view.definer)?;
        }
        let variable = |e: &Expr| matches!(e, Expr::UserVar(_) | Expr::SystemVar { .. } | Expr::Param(_));
        if parsed.exprs().iter().any(variable) {
            return Err(err!(ER_VIEW_SELECT_VARIABLE));
        }
        if parsed[create.query].into.is_some() {
            return Err(err!(ER_VIEW_SELECT_CLAUSE, "INTO"));
        }
        let text = parsed.bytes(create.text).to_vec();
        let query = sql::parse(&text, lexer_mode(self.state.sql_mode)).map_err(parse_error)?;
        let Statement::Query(root) = query.statement else { return Err(types::error::syntax_error()) };
        // Plans it: names, types, and the privileges of who makes the view.
        self.refuse_read_only(&schema, &name)?;
        if create.alter && version.base_table(&schema, &name).is_none() {
            return Err(err!(ER_NO_SUCH_TABLE, schema, name));
        }
        let dictionary = Dictionary { version: &version, database: self.state.database.as_deref(), schema: &schema };
        let canonical = print_query::query(&query, root, create.columns.is_empty(), &dictionary);
        let planned = self.plan(query, &[])?;
        self.rights().check_whole_views(&planned.prepared)?;
        let canonical = canonical.ok_or_else(|| unsupported("this query in a view"))?;
        let named: Vec<String> = create.columns.iter().map(|c| parsed.name(*c).to_string()).collect();
        if let Some(own) = planned.prepared.tables().iter().find(|t| t.temporary) {
            return Err(err!(ER_VIEW_SELECT_TMPTABLE, own.table));
        }
        let outputs = planned.prepared.columns();
        if !named.is_empty() && named.len() != outputs.len() {
            return Err(err!(ER_VIEW_WRONG_LIST));
        }
        let mut columns: Vec<Column> = Vec::with_capacity(outputs.len());
        for (i, output) in outputs.iter().enumerate() {
            let name = named.get(i).or_else(|| canonical.names.get(i)).unwrap_or(&output.name);
            if columns.iter().any(|c| eq_name(&c.name, name)) {
                return Err(err!(ER_DUP_FIELDNAME, name));
            }
            columns.push(view_column(&version, name, output));
        }
        let mut view = View {
            query: canonical.text,
            named: !named.is_empty(),
            algorithm: match create.algorithm {
                ast::ViewAlgorithm::Undefined => altered.map_or(ViewAlgorithm::Undefined, |view| view.algorithm),
                ast::ViewAlgorithm::Merge => ViewAlgorithm::Merge,
                ast::ViewAlgorithm::TempTable => ViewAlgorithm::TempTable,
            },
            definer,
            invoker: create.invoker.unwrap_or_else(|| altered.is_some_and(|view| view.invoker)),
            check_option: match create.check_option {
                ast::CheckOption::None => CheckOption::None,
                ast::CheckOption::Local => CheckOption::Local,
                ast::CheckOption::Cascaded => CheckOption::Cascaded,
            },
            client_charset: self.state.vars.text(CHARACTER_SET_CLIENT).to_string(),
            connection_collation: self.state.vars.text(COLLATION_CONNECTION).to_string(),
            updatable: false,
        };
        if view.algorithm == ViewAlgorithm::Merge && !plan::written_views::is_mergeable_view(&view) {
            view.algorithm = ViewAlgorithm::Undefined;
            let told = err!(ER_WARN_VIEW_MERGE);
            self.state.warn("Warning", told.code, told.message);
        }
        view.updatable = plan::written_views::is_updatable(&version, &schema, &view);
        if view.check_option != CheckOption::None && !view.updatable {
            return Err(err!(ER_VIEW_NONUPD_CHECK, schema, name));
        }
        self.define(|ddl| ddl.put_view(&schema, &name, columns, view, replace))
    }

    /// `user@host` of the DEFINER clause. Errors 1227.
    pub(crate) fn definer(&mut self, parsed: &Parsed, account: Option<Account>) -> Result<String> {
        let own = self.access().account().name.clone();
        let name = match account {
            None | Some(Account::Current) => own.clone(),
            Some(Account::Named { user, host }) => {
                let text = |s| String::from_utf8_lossy(parsed.bytes(s)).into_owned();
                AccountName::new(text(user), &host.map(text).unwrap_or_default())
            }
        };
        if name != own {
            let directory = self.server.accounts.directory();
            self.may_name_definer(&name, &directory)?;
            if directory.get(&name).is_none() {
                let message = err!(ER_NO_SUCH_USER, name.user, name.host).message;
                expr::Env::warn(&mut self.state, "Note", ER_NO_SUCH_USER, message);
            }
        }
        Ok(format!("{}@{}", name.user, name.host))
    }

    /// Errors 1051, 1347.
    pub(crate) fn drop_views(&mut self, parsed: &Parsed, if_exists: bool, names: &[ObjectName]) -> Result<()> {
        let mut views: Vec<TableName> = Vec::with_capacity(names.len());
        for name in names {
            let (schema, view) = self.object(parsed, *name)?;
            self.need_on(Action::DropView, &schema, &view)?;
            views.push((schema, view));
        }
        let version = self.dictionary();
        for (schema, name) in &views {
            if let Some(view) = version.table(schema, name).and_then(|t| t.view.as_ref()) {
                self.may_change_what_is_of(&view.definer)?;
            }
        }
        let kept = self.define(|ddl| {
            views.iter().try_for_each(|v| ddl.lock_to_define(&v.0))?;
            let exists = |v: &&TableName| ddl.version().table(&v.0, &v.1).is_some();
            let there: Vec<TableName> = views.iter().filter(exists).cloned().collect();
            ddl.lock_names(&there)?;
            let is_view = |v: &TableName| ddl.version().table(&v.0, &v.1).map(|table| table.view.is_some());
            // Why some are not dropped: there is none, or a table has that name.
            let kept: Vec<SqlError> = views
                .iter()
                .filter_map(|v| match is_view(v) {
                    None => Some(err!(ER_BAD_TABLE_ERROR, format!("{}.{}", v.0, v.1))),
                    Some(false) => Some(err!(ER_WRONG_OBJECT, v.0, v.1, "VIEW")),
                    Some(true) => None,
                })
                .collect();
            if !if_exists && !kept.is_empty() {
                let missing = views.iter().filter(|v| is_view(v).is_none()).map(|v| format!("{}.{}", v.0, v.1));
                let missing: Vec<String> = missing.collect();
                let not_view = kept.into_iter().find(|e| e.code == ER_WRONG_OBJECT);
                return Err(not_view.unwrap_or_else(|| err!(ER_BAD_TABLE_ERROR, missing.join(","))));
            }
            let dropped: Vec<&TableName> = views.iter().filter(|v| is_view(v) == Some(true)).collect();
            dropped.into_iter().try_for_each(|(schema, name)| ddl.drop_view(schema, name))?;
            Ok(kept)
        })?;
        for note in kept {
            expr::Env::warn(&mut self.state, "Note", note.code, note.message);
        }
        Ok(())
    }
}

/// A column of a view: default, members and comment are those of the column that it shows.
fn view_column(version: &Version, name: &str, output: &plan::ColumnMeta) -> Column {
    let base = version.table(&output.schema, &output.org_table);
    let stored = base.and_then(|t| t.columns.iter().find(|c| eq_name(&c.name, &output.org_name)));
    // What information_schema shows is computed, in MySQL by views of its own.
    let shown = stored.filter(|_| !base.is_some_and(|t| t.is_virtual() && t.schema == "information_schema"));
    // NULL has a type of its own that no column has.
    let data_type = match output.data_type.kind {
        TypeKind::Null => DataType::string(TypeKind::Binary, 0, CollationId::BINARY),
        _ => output.data_type,
    };
    let plain = Column::new(name, data_type);
    match shown {
        Some(c) => {
            let default = match &c.default {
                // Also where an outer join makes it NULL.
                _ if c.auto_increment => made_default(&data_type.not_null(), SqlMode::NONE),
                ColumnDefault::None if output.data_type.nullable => ColumnDefault::Value(Value::Null),
                other => other.clone(),
            };
            Column { default, members: c.members.clone(), comment: c.comment.clone(), ..plain }
        }
        None => {
            // Texts of a column, however long, stay what they are.
            let stays = stored.is_some() && data_type.kind == TypeKind::VarChar;
            let data_type = if stays { data_type } else { made_type(data_type, output.table.is_empty()) };
            Column { data_type, default: made_default(&data_type, SqlMode::NONE), ..plain }
        }
    }
}
