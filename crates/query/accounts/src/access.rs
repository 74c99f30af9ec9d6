//! What one session may do: its account's privileges, kept up to date by one load a statement.

use crate::directory::{Account, AccountName, Directory, SchemaGrant};
use crate::host::{covers, like};
use crate::{Accounts, Privileges};
use std::sync::Arc;
use sync::Cached;
use types::codes::*;
use types::{SqlError, err};

/// A session's view of its own account. Checks are bit tests while the account has the privilege globally.
#[derive(Clone, Debug)]
pub struct Access {
    directory: Cached<Directory>,
    name: AccountName,
    /// Where the client is, for messages.
    client_host: String,
    /// The roles that SET ROLE made active, and those that everybody has.
    active: Vec<AccountName>,
    mandatory: Vec<AccountName>,
    /// The account with what its active roles add; without grants when it was dropped meanwhile. Of its global privileges
    /// only those that no schema is excepted from, so that checks stay bit tests.
    account: Arc<Account>,
    /// The other global privileges: partial revokes take them away in some schemas.
    restricted: Privileges,
    /// Nobody's account: a thread of the server itself, which may do everything.
    unlimited: bool,
}

impl Access {
    pub(crate) fn new(directory: Cached<Directory>, name: AccountName, client_host: &str) -> Access {
        let (account, restricted) = effective(directory.peek(), &name, &[]);
        let (client_host, active, mandatory) = (client_host.to_string(), Vec::new(), Vec::new());
        Access { directory, name, client_host, active, mandatory, account, restricted, unlimited: false }
    }

    /// Of a thread of the server itself.
    pub(crate) fn unlimited(directory: Cached<Directory>) -> Access {
        let name = AccountName::new("", "localhost");
        let mut account = Account::new(name.clone(), crate::Plugin::CachingSha2);
        account.global = Privileges::GLOBAL;
        account.dynamic = crate::DYNAMIC_PRIVILEGES.iter().map(|name| (name.to_string(), false)).collect();
        Access { account: Arc::new(account), unlimited: true, ..Access::new(directory, name, "localhost") }
    }

    /// Of a thread of the server itself: whose name its statements are made in. What it may do stays.
    pub fn act_for(&mut self, name: AccountName) {
        assert!(self.unlimited, "accounts have their own names");
        Arc::make_mut(&mut self.account).name = name;
    }

    /// Call at the start of each statement: one load when no account has changed. True: the privileges may differ.
    #[inline]
    pub fn refresh(&mut self, accounts: &Accounts) -> bool {
        if self.directory.is_current(accounts.snapshot()) {
            return false;
        }
        self.refresh_slow(accounts);
        true
    }

    #[cold]
    fn refresh_slow(&mut self, accounts: &Accounts) {
        let directory = self.directory.get(accounts.snapshot());
        if self.unlimited {
            return;
        }
        let roles = directory.roles_of(&self.name, &self.mandatory);
        self.active.retain(|r| roles.contains(r));
        (self.account, self.restricted) = effective(directory, &self.name, &self.active);
    }

    /// Makes `active` the session's roles; `mandatory` are those that everybody may make active. The caller has checked that
    /// the account has them.
    pub fn set_roles(&mut self, active: Vec<AccountName>, mandatory: Vec<AccountName>) {
        (self.active, self.mandatory) = (active, mandatory);
        (self.account, self.restricted) = effective(self.directory.peek(), &self.name, &self.active);
    }

    /// The roles that are active.
    pub fn active_roles(&self) -> &[AccountName] {
        &self.active
    }

    /// Is there such an account (still)?
    pub fn is_there(&self) -> bool {
        self.directory.peek().get(&self.name).is_some()
    }

    /// The account, the value of CURRENT_USER().
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Where the client is, as messages name it.
    pub fn client_host(&self) -> &str {
        &self.client_host
    }

    #[inline]
    pub fn global(&self) -> Privileges {
        self.account.global
    }

    /// Partial revokes: what of the global privileges does not count in which schema.
    pub fn restrictions(&self) -> &std::collections::BTreeMap<String, Privileges> {
        &self.account.restrictions
    }

    /// The global privileges, those too that some schema is excepted from.
    pub fn global_somewhere(&self) -> Privileges {
        self.account.global | self.restricted
    }

    pub fn has_dynamic(&self, privilege: &str) -> bool {
        self.account.dynamic.contains_key(privilege)
    }

    /// Privileges on everything in `schema`.
    pub fn schema(&self, schema: &str) -> Privileges {
        let mut privileges = self.global_on(schema) | self.granted_on(schema);
        if is_open_to_all(schema) {
            privileges |= Privileges::SELECT;
        }
        privileges
    }

    fn global_on(&self, schema: &str) -> Privileges {
        let taken = self.account.restrictions.get(schema).copied().unwrap_or_default();
        self.account.global | self.restricted.without(taken)
    }

    /// What grants ON `schema`.* give. Of the patterns that match the most specific one decides; they do not add up. Where
    /// roles are active, theirs are among them: a grant of this very name decides, else all that match add up. That is
    /// MySQL's rule (manual, 8.2.7, and for roles as its server does it).
    fn granted_on(&self, schema: &str) -> Privileges {
        self.granted_where(schema, like)
    }

    /// The same for what a pattern stands for; `matches` is asked of each grant's pattern and `schema`.
    fn granted_where(&self, schema: &str, matches: fn(&[u8], &[u8]) -> bool) -> Privileges {
        let literal = self.directory.peek().policy().partial_revokes;
        let covers = |g: &&SchemaGrant| match literal {
            true => g.schema == schema,
            false => matches(g.schema.as_bytes(), schema.as_bytes()),
        };
        let grants = || self.account.schemas.iter().filter(covers);
        if self.active.is_empty() {
            // Among equals the one that was granted first.
            let first = grants().reduce(|best, g| match g.rank() > best.rank() {
                true => g,
                false => best,
            });
            return first.map_or(Privileges::NONE, |g| g.privileges);
        }
        match self.account.schemas.iter().find(|g| g.schema == schema) {
            Some(exact) => exact.privileges,
            None => grants().fold(Privileges::NONE, |all, g| all | g.privileges),
        }
    }

    /// Privileges on one table.
    pub fn table(&self, schema: &str, table: &str) -> Privileges {
        let mut privileges = self.schema(schema);
        if is_public(schema, table) {
            privileges |= Privileges::SELECT;
        }
        for grant in &self.account.tables {
            if grant.schema == schema && grant.table == table {
                privileges |= grant.privileges;
            }
        }
        privileges
    }

    /// Privileges on one procedure or function.
    pub fn routine(&self, schema: &str, function: bool, name: &str) -> Privileges {
        let own = self.account.routines.iter().find(|g| g.is_on(schema, function, name));
        self.schema(schema) | own.map_or(Privileges::NONE, |g| g.privileges)
    }

    /// `wanted` on a table, or error 1142.
    #[inline]
    pub fn check_table(&self, wanted: Privileges, schema: &str, table: &str) -> Result<(), SqlError> {
        if self.account.global.has(wanted) { Ok(()) } else { self.check_table_slow(wanted, schema, table) }
    }

    #[cold]
    fn check_table_slow(&self, wanted: Privileges, schema: &str, table: &str) -> Result<(), SqlError> {
        let missing = wanted.without(self.table(schema, table));
        if missing.is_empty() { Ok(()) } else { Err(self.denied_table(missing, table)) }
    }

    /// Error 1142 for what is `missing` on a table.
    #[cold]
    pub fn denied_table(&self, missing: Privileges, table: &str) -> SqlError {
        self.denied_command(&missing.denied_words(), table)
    }

    /// Error 1142 for FOR UPDATE.
    #[cold]
    pub fn denied_locking(&self, table: &str) -> SqlError {
        self.denied_command("SELECT with locking clause", table)
    }

    /// Error 1142 for SHOW CREATE TABLE.
    #[cold]
    pub fn denied_show(&self, table: &str) -> SqlError {
        self.denied_command("SHOW", table)
    }

    fn denied_command(&self, command: &str, table: &str) -> SqlError {
        let (user, host) = (&self.name.user, &self.client_host);
        err!(ER_TABLEACCESS_DENIED_ERROR, command, user, host, table)
    }

    /// Error 1143.
    #[cold]
    pub fn denied_column(&self, wanted: Privileges, table: &str, column: &str) -> SqlError {
        let (command, user, host) = (wanted.denied_words(), &self.name.user, &self.client_host);
        err!(ER_COLUMNACCESS_DENIED_ERROR, command, user, host, column, table)
    }

    /// What was granted on columns of a table alone.
    fn of_columns(&self, schema: &str, table: &str) -> Option<&std::collections::BTreeMap<String, Privileges>> {
        self.account.tables.iter().find(|g| g.schema == schema && g.table == table).map(|g| &g.columns)
    }

    /// Was anything granted on this table or its columns, be it what it may?
    pub fn has_grant_on(&self, schema: &str, table: &str) -> bool {
        self.account.tables.iter().any(|g| g.schema == schema && g.table == table)
    }

    /// Was anything granted on a table of the schema, or a column, besides the right to grant?
    pub fn sees_into(&self, schema: &str) -> bool {
        let any = |p: Privileges| !p.without(Privileges::GRANT_OPTION).is_empty();
        let mut tables = self.account.tables.iter().filter(|g| g.schema == schema);
        let mut routines = self.account.routines.iter().filter(|g| g.schema == schema);
        routines.any(|g| any(g.privileges))
            || tables.any(|g| any(g.privileges) || g.columns.values().any(|on| any(*on)))
    }

    /// Privileges on the table, or on one of its columns at least.
    pub fn table_or_columns(&self, schema: &str, table: &str) -> Privileges {
        let columns = self.of_columns(schema, table).into_iter().flat_map(|c| c.values());
        columns.fold(self.table(schema, table), |all, one| all | *one)
    }

    /// Privileges on one column: the table's, and its own.
    pub fn column(&self, schema: &str, table: &str, column: &str) -> Privileges {
        let own = self.of_columns(schema, table).and_then(|columns| columns.get(column));
        self.table(schema, table) | own.copied().unwrap_or_default()
    }

    /// One privilege on all these columns of a table, or on the table; for no column at all one of its columns is enough.
    /// `all`: they are all that there are, so it is the table that is denied. Errors 1142, 1143.
    #[cold]
    pub fn check_columns(
        &self,
        wanted: Privileges,
        schema: &str,
        table: &str,
        columns: &[String],
        all: bool,
    ) -> Result<(), SqlError> {
        if self.table(schema, table).has(wanted) {
            return Ok(());
        }
        let of_columns = self.of_columns(schema, table).filter(|columns| columns.values().any(|on| on.has(wanted)));
        let Some(of_columns) = of_columns else { return Err(self.denied_table(wanted, table)) };
        let denied = columns.iter().find(|c| !of_columns.get(*c).is_some_and(|on| on.has(wanted)));
        match denied {
            None => Ok(()),
            Some(_) if all => Err(self.denied_table(wanted, table)),
            Some(column) => Err(self.denied_column(wanted, table, column)),
        }
    }

    /// Error 1044 for what nobody may do with the tables of information_schema and performance_schema.
    pub fn check_possible(&self, wanted: Privileges, schema: &str) -> Result<(), SqlError> {
        let impossible = match () {
            _ if schema.eq_ignore_ascii_case("information_schema") => !wanted.has_any(Privileges::SELECT),
            _ if schema.eq_ignore_ascii_case("performance_schema") => wanted.has_any(DEFINING),
            _ => false,
        };
        if impossible { Err(self.denied_schema(&schema.to_lowercase())) } else { Ok(()) }
    }

    /// `wanted` on a schema, or error 1044.
    #[inline]
    pub fn check_schema(&self, wanted: Privileges, schema: &str) -> Result<(), SqlError> {
        if self.account.global.has(wanted) || self.schema(schema).has(wanted) {
            return Ok(());
        }
        Err(self.denied_schema(schema))
    }

    /// `wanted` on all schemas that the pattern of a GRANT or REVOKE stands for, or error 1044.
    pub fn check_pattern(&self, wanted: Privileges, pattern: &str) -> Result<(), SqlError> {
        let held = self.global_on(pattern) | self.granted_where(pattern, covers);
        if held.has(wanted) { Ok(()) } else { Err(self.denied_schema(pattern)) }
    }

    /// Do lists have this schema: SHOW DATABASES, or anything on it or in it? The schemas of virtual tables are everybody's.
    pub fn lists_schema(&self, schema: &str) -> bool {
        let global = self.account.global.without(Privileges::GRANT_OPTION) & Privileges::SCHEMA;
        is_open_to_all(schema)
            || schema.eq_ignore_ascii_case("performance_schema")
            || !global.is_empty()
            || self.account.global.has(Privileges::SHOW_DATABASES)
            || !(self.global_on(schema).without(self.account.global) | self.granted_on(schema)).is_empty()
            || self.account.tables.iter().any(|g| g.schema == schema)
            || self.account.routines.iter().any(|g| g.schema == schema)
    }

    /// Do lists have this table: a privilege that is about tables, or a grant on it?
    pub fn lists_table(&self, schema: &str, table: &str) -> bool {
        let of_tables = Privileges::TABLE.without(Privileges::GRANT_OPTION);
        self.table_or_columns(schema, table).has_any(of_tables) || self.has_grant_on(schema, table)
    }

    /// Whether the session may see that `schema` exists and USE it: any privilege on it or in it. Else error 1044.
    pub fn check_use(&self, schema: &str) -> Result<(), SqlError> {
        if self.sees_into(schema) || self.sees(schema) { Ok(()) } else { Err(self.denied_schema(schema)) }
    }

    fn sees(&self, schema: &str) -> bool {
        self.schema(schema).has_any(Privileges::SCHEMA.without(Privileges::GRANT_OPTION))
    }

    #[cold]
    fn denied_schema(&self, schema: &str) -> SqlError {
        SqlError::new(ER_DBACCESS_DENIED_ERROR, format!("Access denied for user {} to database '{schema}'", self.name))
    }
}

/// What the tables of performance_schema cannot be used for.
const DEFINING: Privileges = Privileges(
    Privileges::CREATE.0
        | Privileges::REFERENCES.0
        | Privileges::INDEX.0
        | Privileges::ALTER.0
        | Privileges::CREATE_TEMPORARY_TABLES.0
        | Privileges::CREATE_VIEW.0
        | Privileges::TRIGGER.0,
);

/// Tables of performance_schema that everybody may read: they show what SHOW does, or what is of the own account.
const PUBLIC: [&str; 8] = [
    "global_status",
    "global_variables",
    "persisted_variables",
    "processlist",
    "session_account_connect_attrs",
    "session_status",
    "session_variables",
    "variables_info",
];

fn is_public(schema: &str, table: &str) -> bool {
    schema.eq_ignore_ascii_case("performance_schema") && PUBLIC.iter().any(|name| table.eq_ignore_ascii_case(name))
}

/// Everybody may read information_schema: its tables filter by themselves.
fn is_open_to_all(schema: &str) -> bool {
    schema.eq_ignore_ascii_case("information_schema")
}

/// The account with its active roles, and what of its global privileges does not count everywhere, which is taken out of them.
fn effective(directory: &Directory, name: &AccountName, active: &[AccountName]) -> (Arc<Account>, Privileges) {
    let none = || Arc::new(Account::new(name.clone(), crate::Plugin::CachingSha2));
    let mut account = directory.effective(name, active).unwrap_or_else(none);
    let taken = account.restrictions.values().fold(Privileges::NONE, |all, one| all | *one);
    let restricted = account.global & taken;
    if !restricted.is_empty() {
        let account = Arc::make_mut(&mut account);
        account.global = account.global.without(restricted);
    }
    (account, restricted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plugin;

    fn joe() -> AccountName {
        AccountName::new("joe", "%")
    }

    #[test]
    fn a_session_sees_grants_from_its_next_statement_on() {
        let accounts = Accounts::new(Directory::bootstrap(""));
        let mut directory = Directory::clone(&accounts.directory());
        directory.put(Account::new(joe(), Plugin::CachingSha2));
        accounts.replace(directory.clone());
        let mut access = accounts.access(joe(), "localhost");
        let denied = access.check_table(Privileges::SELECT, "db", "t").unwrap_err();
        assert_eq!(
            (denied.code, &denied.message[..]),
            (ER_TABLEACCESS_DENIED_ERROR, "SELECT command denied to user 'joe'@'localhost' for table 't'")
        );
        assert_eq!(access.check_use("db").unwrap_err().code, ER_DBACCESS_DENIED_ERROR);

        directory.change(&joe(), |a| a.grant_table("db", "t", Privileges::SELECT)).unwrap();
        accounts.replace(directory.clone());
        assert!(access.check_table(Privileges::SELECT, "db", "t").is_err(), "the statement in progress keeps its view");
        assert!(access.refresh(&accounts) && !access.refresh(&accounts));
        assert!(access.check_table(Privileges::SELECT, "db", "t").is_ok() && access.check_use("db").is_ok());
        assert!(access.check_table(Privileges::SELECT, "db", "u").is_err());

        let schemas = SchemaGrant { schema: "d_".into(), privileges: Privileges::SCHEMA };
        directory.change(&joe(), |a| a.schemas.push(schemas)).unwrap();
        accounts.replace(directory.clone());
        access.refresh(&accounts);
        assert!(
            access.check_schema(Privileges::DROP, "db").is_ok() && access.check_schema(Privileges::DROP, "d").is_err()
        );

        directory.change(&joe(), |a| a.grant_column("e", "t", "a", Privileges::SELECT)).unwrap();
        accounts.replace(directory.clone());
        access.refresh(&accounts);
        let columns = |list: &[&str], all| {
            let list: Vec<String> = list.iter().map(|c| c.to_string()).collect();
            access.check_columns(Privileges::SELECT, "e", "t", &list, all).map_err(|e| e.code)
        };
        assert_eq!((columns(&["a"], false), columns(&[], false)), (Ok(()), Ok(())));
        assert_eq!((columns(&["a", "b"], false), columns(&["a", "b"], true)), (Err(1143), Err(1142)));
        assert!(access.check_table(Privileges::SELECT, "e", "t").is_err(), "it is not the table's");

        // The most specific pattern decides, those that match do not add up.
        for (schema, privileges) in [("x%", Privileges::SELECT), ("x_", Privileges::INSERT), ("x1", Privileges::UPDATE)]
        {
            directory.change(&joe(), |a| a.grant_schema(schema, privileges)).unwrap();
        }
        accounts.replace(directory.clone());
        access.refresh(&accounts);
        let on = ["x1", "x2", "x10"].map(|schema| access.schema(schema));
        assert_eq!(on, [Privileges::UPDATE, Privileges::SELECT, Privileges::SELECT], "among equals the first");

        // Partial revokes leave checks bit tests: what does not count everywhere is no global privilege.
        directory.change(&joe(), |a| a.global = Privileges::SELECT | Privileges::DELETE).unwrap();
        directory.change(&joe(), |a| a.restrictions.insert("x1".into(), Privileges::DELETE)).unwrap();
        accounts.replace(directory.clone());
        access.refresh(&accounts);
        assert_eq!((access.global(), access.global_somewhere().has(Privileges::DELETE)), (Privileges::SELECT, true));
        assert!(access.check_table(Privileges::DELETE, "x1", "t").is_err());
        assert!(
            access.check_table(Privileges::DELETE, "y", "t").is_ok()
                && access.check_table(Privileges::SELECT, "x1", "t").is_ok()
        );

        directory.remove(&joe());
        accounts.replace(directory);
        access.refresh(&accounts);
        assert!(access.check_table(Privileges::SELECT, "db", "t").is_err(), "a dropped account may do nothing");
    }
}
