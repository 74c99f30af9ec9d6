//! What one session may do: its account's privileges, kept up to date by one load a statement.

use crate::directory::{Account, AccountName, Directory};
use crate::host::like;
use crate::{Accounts, Privileges};
use sync::Cached;
use types::SqlError;

/// A session's view of its own account. Checks are bit tests while the account has the privilege globally.
#[derive(Debug)]
pub struct Access {
    directory: Cached<Directory>,
    name: AccountName,
    /// A copy of the account; without grants when it was dropped meanwhile.
    account: Account,
}

impl Access {
    pub(crate) fn new(directory: Cached<Directory>, name: AccountName) -> Access {
        let account = copy_of(directory.peek(), &name);
        Access { directory, name, account }
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
        self.account = copy_of(self.directory.get(accounts.snapshot()), &self.name);
    }

    /// The account, the value of CURRENT_USER().
    pub fn account(&self) -> &Account {
        &self.account
    }

    #[inline]
    pub fn global(&self) -> Privileges {
        self.account.global
    }

    pub fn has_dynamic(&self, privilege: &str) -> bool {
        self.account.dynamic.contains_key(privilege)
    }

    /// Privileges on everything in `schema`.
    pub fn schema(&self, schema: &str) -> Privileges {
        let mut privileges = self.account.global;
        if is_open_to_all(schema) {
            privileges |= Privileges::SELECT;
        }
        for grant in &self.account.schemas {
            if like(grant.schema.as_bytes(), schema.as_bytes()) {
                privileges |= grant.privileges;
            }
        }
        privileges
    }

    /// Privileges on one table.
    pub fn table(&self, schema: &str, table: &str) -> Privileges {
        let mut privileges = self.schema(schema);
        for grant in &self.account.tables {
            if grant.schema == schema && grant.table == table {
                privileges |= grant.privileges;
            }
        }
        privileges
    }

    /// `wanted` on a table, or error 1142.
    #[inline]
    pub fn check_table(&self, wanted: Privileges, schema: &str, table: &str) -> Result<(), SqlError> {
        if self.account.global.has(wanted) { Ok(()) } else { self.check_table_slow(wanted, schema, table) }
    }

    #[cold]
    fn check_table_slow(&self, wanted: Privileges, schema: &str, table: &str) -> Result<(), SqlError> {
        let missing = wanted.without(self.table(schema, table));
        if missing.is_empty() {
            return Ok(());
        }
        let (command, name) = (missing.first_name(), &self.name);
        Err(SqlError::new(1142, format!("{command} command denied to user {name} for table '{table}'")))
    }

    /// `wanted` on a schema, or error 1044.
    #[inline]
    pub fn check_schema(&self, wanted: Privileges, schema: &str) -> Result<(), SqlError> {
        if self.account.global.has(wanted) || self.schema(schema).has(wanted) {
            return Ok(());
        }
        Err(self.denied_schema(schema))
    }

    /// Whether the session may see that `schema` exists and USE it: any privilege on it or in it. Else error 1044.
    pub fn check_use(&self, schema: &str) -> Result<(), SqlError> {
        let somewhere = self.account.tables.iter().any(|g| g.schema == schema);
        if somewhere || self.sees(schema) { Ok(()) } else { Err(self.denied_schema(schema)) }
    }

    fn sees(&self, schema: &str) -> bool {
        let any = Privileges(Privileges::SCHEMA.0 | Privileges::SHOW_DATABASES.0);
        self.schema(schema).has_any(any)
    }

    #[cold]
    fn denied_schema(&self, schema: &str) -> SqlError {
        SqlError::new(1044, format!("Access denied for user {} to database '{schema}'", self.name))
    }

    /// One of `wanted` globally, or error 1227.
    pub fn check_global(&self, wanted: Privileges) -> Result<(), SqlError> {
        if self.account.global.has_any(wanted) {
            return Ok(());
        }
        let names: Vec<&str> = wanted.names().collect();
        Err(needs(&names.join(", ")))
    }

    /// The dynamic privilege, or SUPER in its place, or error 1227.
    pub fn check_dynamic(&self, privilege: &str) -> Result<(), SqlError> {
        if self.has_dynamic(privilege) || self.account.global.has(Privileges::SUPER) {
            return Ok(());
        }
        Err(needs(&format!("SUPER or {privilege}")))
    }
}

#[cold]
fn needs(privileges: &str) -> SqlError {
    SqlError::new(
        1227,
        format!("Access denied; you need (at least one of) the {privileges} privilege(s) for this operation"),
    )
}

/// Everybody may read information_schema and performance_schema's public tables; the tables filter by themselves.
fn is_open_to_all(schema: &str) -> bool {
    schema.eq_ignore_ascii_case("information_schema")
}

fn copy_of(directory: &Directory, name: &AccountName) -> Account {
    match directory.get(name) {
        Some(account) => account.clone(),
        None => Account::new(name.clone(), crate::Plugin::CachingSha2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plugin, SchemaGrant, TableGrant};

    fn joe() -> AccountName {
        AccountName::new("joe", "%")
    }

    #[test]
    fn a_session_sees_grants_from_its_next_statement_on() {
        let accounts = Accounts::new(Directory::bootstrap(""));
        let mut directory = Directory::clone(&accounts.directory());
        directory.put(Account::new(joe(), Plugin::CachingSha2));
        accounts.replace(directory.clone());
        let mut access = accounts.access(joe());
        let denied = access.check_table(Privileges::SELECT, "db", "t").unwrap_err();
        assert_eq!((denied.code, &denied.message[..]), (1142, "SELECT command denied to user 'joe'@'%' for table 't'"));
        assert_eq!(access.check_use("db").unwrap_err().code, 1044);

        let tables = TableGrant { schema: "db".into(), table: "t".into(), privileges: Privileges::SELECT };
        directory.change(&joe(), |a| a.tables.push(tables)).unwrap();
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
        assert_eq!(access.check_global(Privileges::RELOAD).unwrap_err().code, 1227);

        directory.remove(&joe());
        accounts.replace(directory);
        access.refresh(&accounts);
        assert!(access.check_table(Privileges::SELECT, "db", "t").is_err(), "a dropped account may do nothing");
    }
}
