//! The privileges that a planned statement needs: its session's on what it names, and for what views are made of the
//! definer's or the session's.

use crate::Server;
use crate::needs::{Action, on_table};
use crate::session::Session;
use accounts::{Access, AccountName, Privileges};
use catalog::RoutineKind;
use plan::{TableUse, ViewRight};
use run::Prepared;
use sql::ast::{ExplainTarget, Expr, Parsed, QueryBody, Statement, TableRef};
use types::codes::*;
use types::{Result, SqlError, err};

const READ: Privileges = on_table(Action::Read);
const INSERT: Privileges = on_table(Action::Insert);
const UPDATE: Privileges = on_table(Action::Update);
const DELETE: Privileges = on_table(Action::Delete);

/// All that planned statements can ask for.
const CHANGES: Privileges = Privileges(READ.0 | INSERT.0 | UPDATE.0 | DELETE.0);

/// The privileges on a table that its use needs.
fn wanted(t: &TableUse) -> Privileges {
    let mut wanted = Privileges::NONE;
    for (used, privilege) in
        [(t.read || !t.columns.read.is_empty(), READ), (t.insert, INSERT), (t.update, UPDATE), (t.delete, DELETE)]
    {
        if used {
            wanted |= privilege;
        }
    }
    wanted
}

/// A table of a join that an UPDATE changes or may change: of those that it does not, what is read is looked at. Error 1142.
#[cold]
fn check_joined(access: &Access, t: &TableUse) -> Result<()> {
    let any = access.table_or_columns(&t.schema, &t.table).has_any(Privileges(READ.0 | UPDATE.0));
    if any { Ok(()) } else { Err(access.denied_table(READ, &t.table)) }
}

/// The use of one table by an account that does not have all privileges globally. Errors 1142, 1143.
#[cold]
fn check_use(access: &Access, t: &TableUse, joined: bool) -> Result<()> {
    let (schema, table) = (t.schema.as_str(), t.table.as_str());
    if t.delete {
        access.check_table(DELETE, schema, table)?;
    }
    let columns = &t.columns;
    if t.insert {
        access.check_columns(INSERT, schema, table, &columns.insert, columns.inserts_all)?;
    }
    if t.update && t.read {
        // Of a join: it is the column that is denied.
        let denied = |c: &&String| !access.column(schema, table, c).has(UPDATE);
        if let Some(column) = columns.update.iter().find(denied) {
            return Err(access.denied_column(UPDATE, table, column));
        }
    } else if t.update {
        access.check_columns(UPDATE, schema, table, &columns.update, false)?;
    }
    // Of a join that is updated a table of which no column is read is only counted: that takes a right to read, unless it is changed.
    let by_column = joined && (t.update || !columns.read.is_empty());
    if t.read && !by_column {
        access.check_columns(READ, schema, table, &columns.read, columns.reads_all)?;
        return if t.for_update { check_for_update(access, schema, table) } else { Ok(()) };
    }
    // A table that is written, or one of a join that is: it is the column that is denied.
    let denied = |c: &&String| !access.column(schema, table, c).has(READ);
    match columns.read.iter().find(denied) {
        None => Ok(()),
        Some(column) => Err(access.denied_column(READ, table, column)),
    }
}

/// SELECT ... FOR UPDATE needs one of the privileges to change or lock the table, too. Error 1142.
fn check_for_update(access: &Access, schema: &str, table: &str) -> Result<()> {
    let held = access.table_or_columns(schema, table);
    if held.has(Privileges::UPDATE) || held.has(Privileges::DELETE) || held.has(Privileges::LOCK_TABLES) {
        return Ok(());
    }
    Err(access.denied_locking(table))
}

/// The columns that a view needs a privilege on, for what a statement uses of it.
#[cold]
fn columns_of_view(right: &ViewRight, privilege: Privileges, used: Option<&TableUse>) -> Vec<String> {
    let (mut columns, named, all) = match (privilege, used.map(|t| &t.columns)) {
        (READ, Some(used)) => (right.columns.clone(), used.read.as_slice(), false),
        (INSERT, Some(used)) => (right.inserted.clone(), used.insert.as_slice(), used.inserts_all),
        (_, Some(used)) => (Vec::new(), used.update.as_slice(), false),
        // Nobody knows what is used of it.
        (_, None) => (right.columns.clone(), [].as_slice(), true),
    };
    let is_used = |(name, _): &&(String, String)| all || named.iter().any(|n| n.eq_ignore_ascii_case(name));
    columns.extend(right.shown.iter().filter(is_used).map(|(_, column)| column.clone()));
    columns
}

/// EXPLAIN tells of what a view is made of: whoever is told has SHOW VIEW on it, and may read that. Error 1345.
fn check_explained(access: &Access, right: &ViewRight) -> Result<()> {
    let shown = access.table(&right.of.0, &right.of.1).has(Privileges::SHOW_VIEW);
    let read = access.table_or_columns(&right.schema, &right.table).has(READ);
    if shown && read { Ok(()) } else { Err(err!(ER_VIEW_NO_EXPLAIN)) }
}

/// Child and parent of `` `s`.`child`, CONSTRAINT `c` FOREIGN KEY (...) REFERENCES [`s`.]`parent` (...)) ``.
fn ends_of_key(text: &str) -> Option<((String, String), (String, String))> {
    let (schema, rest) = quoted_name(text)?;
    let (child, rest) = quoted_name(rest.strip_prefix('.')?)?;
    let (_, parent) = rest.rsplit_once(" REFERENCES ")?;
    let (first, rest) = quoted_name(parent)?;
    let parent = match rest.strip_prefix('.') {
        Some(rest) => (first, quoted_name(rest)?.0),
        None => (schema.clone(), first),
    };
    Some(((schema, child), parent))
}

/// The name in backticks that the text begins with, and what follows.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text.strip_prefix('`')?;
    loop {
        let (part, after) = rest.split_once('`')?;
        name.push_str(part);
        match after.strip_prefix('`') {
            Some(after) => {
                name.push('`');
                rest = after;
            }
            None => return Some((name, after)),
        }
    }
}

/// That a view's definer is not there is told to whom has SUPER, in whose place there is error 1045 for others.
#[cold]
fn without_definer(access: &Access, error: SqlError) -> SqlError {
    if error.code != ER_NO_SUCH_USER || access.global().has(Privileges::SUPER) {
        return error;
    }
    let AccountName { user, host } = &access.account().name;
    let used_password = if access.account().auth_string.is_empty() { "NO" } else { "YES" };
    err!(ER_ACCESS_DENIED_ERROR, user, host, used_password)
}

/// Is `user@host` the account's name?
pub(crate) fn is_named(access: &Access, definer: &str) -> bool {
    let name = &access.account().name;
    // No host has an @.
    definer
        .strip_prefix(name.user.as_str())
        .and_then(|rest| rest.strip_prefix('@'))
        .is_some_and(|host| host == name.host)
}

/// May a routine be called, may a trigger of the table `name` fire? Errors 1142, 1370.
pub(crate) fn may_execute(access: &Access, schema: &str, kind: RoutineKind, name: &str) -> Result<()> {
    let function = match kind {
        RoutineKind::Trigger => return access.check_table(Privileges::TRIGGER, schema, name),
        kind => kind == RoutineKind::Function,
    };
    if access.routine(schema, function, name).has(Privileges::EXECUTE) {
        return Ok(());
    }
    let account = &access.account().name;
    Err(err!(ER_PROCACCESS_DENIED_ERROR, "execute", account.user, account.host, format!("{schema}.{name}")))
}

/// The rights of a session, or of a definer that it runs something for, and those of the definers of views.
pub(crate) struct Rights<'r> {
    pub access: &'r Access,
    pub definers: &'r mut Vec<Access>,
    pub server: &'r Server,
}

impl Rights<'_> {
    /// One bit test while the account has its privileges globally and no view or routine is used. Errors 1142, 1143, 1356, 1370, 1449.
    #[inline]
    pub(crate) fn check(&mut self, prepared: &Prepared) -> Result<()> {
        if self.access.global().has(CHANGES) && prepared.rights().is_empty() && prepared.routines().is_empty() {
            return Ok(());
        }
        self.check_slow(prepared)
    }

    fn check_slow(&mut self, prepared: &Prepared) -> Result<()> {
        let access = self.access;
        let shared = || prepared.tables().iter().filter(|t| !t.temporary);
        let joined = shared().any(|t| t.update && t.read);
        if joined {
            shared().filter(|t| t.read).try_for_each(|t| check_joined(access, t))?;
        }
        for t in shared() {
            if t.for_update || !access.global().has(wanted(t)) {
                check_use(access, t, joined)?;
            }
        }
        if prepared.explains() {
            prepared.rights().iter().try_for_each(|right| check_explained(access, right))?;
        }
        prepared.rights().iter().try_for_each(|right| self.check_view(right, prepared.tables()))?;
        // Triggers ask for their definers' rights alone.
        let called = prepared.routines().iter().filter(|r| r.kind != RoutineKind::Trigger);
        called.into_iter().try_for_each(|r| {
            let access = match &r.caller {
                Some(definer) => self.definer_access(definer).map_err(|e| without_definer(access, e))?,
                None => access,
            };
            let may = may_execute(access, &r.schema, r.kind, &r.name);
            may.map_err(|denied| r.view.as_ref().map_or(denied, |view| err!(ER_VIEW_INVALID, view.0, view.1)))
        })
    }

    /// The same of all columns of the views that are used: a view that is defined by them has no statement yet that uses some.
    pub(crate) fn check_whole_views(&mut self, prepared: &Prepared) -> Result<()> {
        prepared.rights().iter().try_for_each(|right| {
            let whole = ViewRight { shown_by: None, ..right.clone() };
            self.check_view(&whole, prepared.tables())
        })
    }

    /// A view's right on one of the tables that it is made of.
    fn check_view(&mut self, right: &ViewRight, tables: &[TableUse]) -> Result<()> {
        let of = |id: Option<u64>| id.and_then(|id| tables.iter().find(|t| t.id == id));
        let mut needed = of(right.as_view).map_or(Privileges::NONE, wanted);
        if right.read || !right.columns.is_empty() {
            needed |= READ;
        }
        let has = |access: &Access| {
            access.global().has(needed)
                || needed.each().all(|(_, one)| match one {
                    DELETE => access.table(&right.schema, &right.table).has(one),
                    _ => {
                        let columns = columns_of_view(right, one, of(right.shown_by));
                        access.check_columns(one, &right.schema, &right.table, &columns, false).is_ok()
                    }
                })
        };
        let access = self.access;
        let has = match &right.definer {
            None => has(access),
            Some(definer) => has(self.definer_access(definer).map_err(|e| without_definer(access, e))?),
        };
        if has { Ok(()) } else { Err(err!(ER_VIEW_INVALID, right.view.0, right.view.1)) }
    }

    /// What the account `user@host` may do, for as long as a routine runs as its definer.
    pub(crate) fn take_definer(&mut self, definer: &str) -> Result<Access> {
        let found: *const Access = self.definer_access(definer)?;
        let at = self.definers.iter().position(|a| std::ptr::eq(a, found)).expect("looked up above");
        Ok(self.definers.swap_remove(at))
    }

    /// The same of a definer who must be allowed to call a routine, by its schema, kind and name. Errors 1370, 1449.
    pub(crate) fn take_calling(&mut self, definer: &str, routine: (&str, RoutineKind, &str)) -> Result<Access> {
        let access = self.take_definer(definer)?;
        let (schema, kind, name) = routine;
        match may_execute(&access, schema, kind, name) {
            Ok(()) => Ok(access),
            Err(denied) => {
                self.keep_definer(access);
                Err(denied)
            }
        }
    }

    /// Is `user@host` the account whose rights these are?
    pub(crate) fn is_of(&self, definer: &str) -> bool {
        is_named(self.access, definer)
    }

    pub(crate) fn keep_definer(&mut self, definer: Access) {
        if !self.definers.iter().any(|a| a.account().name == definer.account().name) {
            self.definers.push(definer);
        }
    }

    /// What the account `user@host` may do now: looked up once, then one load. Error 1449.
    fn definer_access(&mut self, definer: &str) -> Result<&Access> {
        let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
        let server = self.server;
        let accounts = &server.accounts;
        let known = |a: &Access| a.account().name.user == user && a.account().name.host == host;
        let (at, new) = match self.definers.iter().position(known) {
            Some(at) => (at, false),
            None => {
                self.definers.push(accounts.access(AccountName::new(user, host), host));
                (self.definers.len() - 1, true)
            }
        };
        if self.definers[at].refresh(accounts) || new {
            // A definer has its default roles.
            let (name, mandatory) = (self.definers[at].account().name.clone(), server.mandatory_roles());
            let roles = crate::roles::default_roles(&accounts.directory(), &name, &mandatory);
            self.definers[at].set_roles(roles, mandatory);
        }
        if !self.definers[at].is_there() {
            return Err(err!(ER_NO_SUCH_USER, user, host));
        }
        Ok(&self.definers[at])
    }
}

impl Session {
    /// The rights that its statements have.
    pub(crate) fn rights(&mut self) -> Rights<'_> {
        Rights {
            access: self.access.as_ref().expect("statements come after the login"),
            definers: &mut self.definers,
            server: &self.server,
        }
    }

    #[inline]
    pub(crate) fn check_rights(&mut self, prepared: &Prepared) -> Result<()> {
        self.rights().check(prepared)
    }

    /// Tables of MySQL's dictionary are nobody's, whether the server has them or not. Error 3554.
    pub(crate) fn refuse_dictionary(&self, parsed: &Parsed) -> Result<()> {
        parsed.reserved().iter().try_for_each(|name| {
            let table = parsed.name(name.name);
            let is_meant = match name.schema {
                Some(schema) => parsed.name(schema) == "mysql",
                None => self.state.database.as_deref() == Some("mysql") && !parsed.has_common_table(table),
            };
            match sql::kind_of_reserved(table).filter(|_| is_meant) {
                Some(kind) => Err(err!(ER_NO_SYSTEM_TABLE_ACCESS, kind, "mysql", table)),
                None => Ok(()),
            }
        })
    }

    /// Rights come before names: the statement could not be planned, for `error`, and where the session has no right on a table
    /// that it names, it is that what is told, whether the table is there or not. Errors 1142, 1143.
    #[cold]
    pub(crate) fn denied_or(&self, parsed: &Parsed, error: SqlError) -> SqlError {
        // Tables that nobody writes to are denied to those, too, who may write to all.
        if self.access().global().has(CHANGES) && error.code != ER_TABLEACCESS_DENIED_ERROR {
            return error;
        }
        self.denied(parsed, &parsed.statement, &error).err().unwrap_or(error)
    }

    /// A function that is not there is as one that may not be called, for whom it would be so. Error 1370.
    #[cold]
    fn deny_function(&self, parsed: &Parsed, error: &SqlError) -> Result<()> {
        let database = self.state.database.as_deref().unwrap_or_default();
        for e in parsed.exprs() {
            let Expr::Call { schema, name, .. } = e else { continue };
            let (schema, name) = (schema.map_or(database, |s| parsed.name(s)), parsed.name(*name));
            if err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", format!("{schema}.{name}")).message == error.message {
                may_execute(self.access(), schema, RoutineKind::Function, name)?;
            }
        }
        Ok(())
    }

    fn denied(&self, parsed: &Parsed, statement: &Statement, error: &SqlError) -> Result<()> {
        let access = self.access();
        if error.code == ER_SP_DOES_NOT_EXIST {
            self.deny_function(parsed, error)?;
        }
        let check = |wanted: Privileges, name| -> Result<()> {
            let Ok((schema, table)) = self.object(parsed, name) else { return Ok(()) };
            access.check_possible(wanted, &schema)?;
            let may = self.is_temporary(&schema, &table) || access.table_or_columns(&schema, &table).has_any(wanted);
            if may { Ok(()) } else { Err(access.denied_table(wanted, &table)) }
        };
        // What the tables that are not written to are asked for, and the one that is named first.
        let (mut of_first, mut of_all) = (READ, READ);
        match statement {
            Statement::Explain(explain) => {
                if let ExplainTarget::Statement(inner) = &explain.target {
                    return self.denied(parsed, inner, error);
                }
            }
            Statement::Insert(insert) => {
                check(INSERT, insert.table)?;
                if let (None, Ok((schema, table))) = (&insert.columns, self.object(parsed, insert.table))
                    && !self.is_temporary(&schema, &table)
                {
                    access.check_table(INSERT, &schema, &table)?;
                }
                if insert.replace {
                    check(DELETE, insert.table)?;
                }
                if !insert.on_duplicate.is_empty() {
                    check(UPDATE, insert.table)?;
                }
            }
            Statement::Update(update) => match &parsed[update.tables] {
                TableRef::Table(_) => of_first = UPDATE,
                // Which of them are written to the columns tell, which are not known.
                // Any of the two will do.
                _ => of_all = Privileges(READ.0 | UPDATE.0),
            },
            Statement::Delete(delete) if delete.targets.is_empty() => of_first = DELETE,
            Statement::LoadData(load) => check(INSERT, load.table)?,
            _ => {}
        }
        let first = match statement {
            Statement::Update(update) => Some(update.tables),
            Statement::Delete(delete) => Some(delete.from),
            _ => None,
        };
        let first = first.and_then(|id| match &parsed[id] {
            TableRef::Table(factor) => Some(factor.name),
            _ => None,
        });
        let referred = parsed.table_refs().iter().filter_map(|reference| match reference {
            TableRef::Table(factor) => Some(factor.name),
            _ => None,
        });
        let whole = parsed.queries().iter().filter_map(|query| match query.body {
            QueryBody::Table(name) => Some(name),
            _ => None,
        });
        for name in referred.chain(whole) {
            let is_first = first.is_some_and(|first| first == name);
            if name.schema.is_some() || !parsed.has_common_table(parsed.name(name.name)) {
                check(if is_first { of_first } else { of_all }, name)?;
                self.deny_column(parsed, name, is_first && of_first == UPDATE, error)?;
            }
        }
        Ok(())
    }

    /// Error 1143 for a column that there is not, of a table of whose columns the session may only read some.
    fn deny_column(&self, parsed: &Parsed, name: sql::ast::ObjectName, sets: bool, error: &SqlError) -> Result<()> {
        let Some(rest) = error.message.strip_prefix("Unknown column '").filter(|_| error.code == ER_BAD_FIELD_ERROR)
        else {
            return Ok(());
        };
        let Some((column, place)) = rest.split_once("' in ") else { return Ok(()) };
        let Ok((schema, table)) = self.object(parsed, name) else { return Ok(()) };
        let access = self.access();
        let may = self.is_temporary(&schema, &table) || access.table(&schema, &table).has(READ);
        if may || (sets && place == "'field list'") {
            return Ok(());
        }
        Err(access.denied_column(READ, &table, column.rsplit('.').next().unwrap_or(column)))
    }

    /// The statement ended with an error. One that tells of the other end of a foreign key tells of it only to who may know of that table.
    #[cold]
    pub(crate) fn without_hidden_keys(&self, error: SqlError) -> SqlError {
        if !matches!(error.code, ER_ROW_IS_REFERENCED_2 | ER_NO_REFERENCED_ROW_2) {
            return error;
        }
        let Some((text, key)) = error.message.split_once(" (") else { return error };
        let known = |(schema, table): &(String, String)| {
            self.is_temporary(schema, table) || self.access().table(schema, table).has_any(Privileges::TABLE)
        };
        match ends_of_key(key) {
            Some(ends) if known(&ends.0) && known(&ends.1) => error,
            _ => SqlError::new(error.code, text),
        }
    }
}
