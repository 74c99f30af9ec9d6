//! The accounts that tables of `mysql` tell of: what [`crate::mysql`] shows, the other way round. A dump makes such tables anew and
//! fills them, and FLUSH PRIVILEGES takes over what they say.

use accounts::{
    Account, AccountName, Directory, Granted, Lifetime, Limits, LockTime, LoginRules, OldPassword, PasswordRules,
    Plugin, Privileges, ProxyGrant, Requirement,
};
use catalog::Table;
use catalog::servers::ForeignServer;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::codes::*;
use types::json::Json;
use types::{Result, Value, err};

/// The tables that tell of accounts.
pub const TABLES: [&str; 10] = [
    "user",
    "db",
    "tables_priv",
    "columns_priv",
    "procs_priv",
    "global_grants",
    "role_edges",
    "default_roles",
    "proxies_priv",
    "password_history",
];

/// The table that tells of servers of others.
pub const SERVERS: &str = "servers";

/// A table of `mysql` that was made anew, and its rows.
pub struct Made {
    pub table: Arc<Table>,
    pub rows: Vec<Vec<Value<'static>>>,
}

impl Made {
    pub(crate) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.rows.iter().map(|values| Record { table: &self.table, values })
    }
}

/// A row, read by names of columns: the table need not be of this server's version.
#[derive(Clone, Copy)]
pub(crate) struct Record<'m> {
    table: &'m Table,
    values: &'m [Value<'static>],
}

impl<'m> Record<'m> {
    /// Error 1728.
    fn broken(&self) -> types::SqlError {
        err!(ER_CANNOT_LOAD_FROM_TABLE_V2, self.table.schema, self.table.name)
    }

    fn at(&self, column: &str) -> Result<(&'m Value<'static>, &'m [String])> {
        let at = self.table.column_position(column).ok_or_else(|| self.broken())?;
        Ok((&self.values[at], &self.table.columns[at].members))
    }

    fn bytes(&self, column: &str) -> Result<Vec<u8>> {
        match self.at(column)? {
            (Value::Null, _) => Ok(Vec::new()),
            (Value::Bytes(bytes), _) => Ok(bytes.to_vec()),
            (Value::UInt(n), members) if !members.is_empty() => {
                let member = (*n as usize).checked_sub(1).and_then(|at| members.get(at));
                Ok(member.map_or(Vec::new(), |member| member.clone().into_bytes()))
            }
            _ => Err(self.broken()),
        }
    }

    pub(crate) fn text(&self, column: &str) -> Result<String> {
        String::from_utf8(self.bytes(column)?).map_err(|_| self.broken())
    }

    fn is_yes(&self, column: &str) -> Result<bool> {
        Ok(self.text(column)?.eq_ignore_ascii_case("Y"))
    }

    /// `None`: NULL.
    pub(crate) fn number(&self, column: &str) -> Result<Option<u64>> {
        match self.at(column)?.0 {
            Value::Null => Ok(None),
            Value::UInt(n) => Ok(Some(*n)),
            Value::Int(n) => Ok(Some(u64::try_from(*n).unwrap_or(0))),
            _ => Err(self.broken()),
        }
    }

    fn short<T: TryFrom<u64> + Default>(&self, column: &str) -> Result<Option<T>> {
        Ok(self.number(column)?.map(|n| T::try_from(n).unwrap_or_default()))
    }

    /// Seconds since 1970; 0: NULL, or no moment.
    fn moment_s(&self, column: &str) -> Result<u64> {
        match self.at(column)?.0 {
            Value::DateTime(at) if at.0 != 0 => Ok(at.to_unix_seconds().max(0) as u64),
            Value::Null | Value::DateTime(_) => Ok(0),
            _ => Err(self.broken()),
        }
    }

    /// The privileges that a SET names.
    fn set(&self, column: &str) -> Result<Privileges> {
        let (Value::UInt(bits), members) = self.at(column)? else { return Err(self.broken()) };
        let named = members.iter().enumerate().filter(|(at, _)| bits >> at & 1 != 0);
        let privilege = |word: &String| match word.eq_ignore_ascii_case("Grant") {
            true => Some(Privileges::GRANT_OPTION),
            false => Privileges::by_name(word),
        };
        Ok(named.filter_map(|(_, word)| privilege(word)).fold(Privileges::NONE, |all, one| all | one))
    }

    /// Those of `all` whose columns say Y.
    fn privileges(&self, all: Privileges) -> Result<Privileges> {
        all.each().try_fold(Privileges::NONE, |sum, (name, one)| {
            let column = match one {
                Privileges::GRANT_OPTION => "Grant_priv".to_string(),
                Privileges::SHOW_DATABASES => "Show_db_priv".to_string(),
                Privileges::CREATE_TEMPORARY_TABLES => "Create_tmp_table_priv".to_string(),
                Privileges::REPLICATION_SLAVE => "Repl_slave_priv".to_string(),
                Privileges::REPLICATION_CLIENT => "Repl_client_priv".to_string(),
                _ => format!("{}_priv", name.replace(' ', "_")),
            };
            Ok(if self.is_yes(&column)? { sum | one } else { sum })
        })
    }

    fn name(&self, user: &str, host: &str) -> Result<AccountName> {
        Ok(AccountName::new(self.text(user)?, &self.text(host)?))
    }

    fn granted(&self) -> Result<Granted> {
        Ok(Granted { by: self.text("Grantor")?, at_s: self.moment_s("Timestamp")? })
    }
}

/// The directory that results where these tables take the place of what it says now. Errors 1524, 1728.
pub fn directory(current: &Directory, made: &[Made]) -> Result<Directory> {
    let find = |name: &str| made.iter().find(|m| m.table.name == name);
    let mut accounts: BTreeMap<AccountName, Account> =
        current.accounts().map(|account| (account.name.clone(), account.clone())).collect();
    if let Some(users) = find("user") {
        // Without accounts nobody would ever log in again.
        let first = users.records().next();
        first.ok_or_else(|| err!(ER_CANNOT_LOAD_FROM_TABLE_V2, users.table.schema, users.table.name))?;
        let before = std::mem::take(&mut accounts);
        for row in users.records() {
            let account = user(row, &before)?;
            accounts.insert(account.name.clone(), account);
        }
    }
    for (table, forget, take) in GRANTS {
        let Some(rows) = find(table) else { continue };
        accounts.values_mut().for_each(forget);
        for row in rows.records() {
            let by_columns = ["global_grants", "default_roles"].contains(table);
            let name = match *table {
                "role_edges" => row.name("TO_USER", "TO_HOST")?,
                _ if by_columns => row.name("USER", "HOST")?,
                _ => row.name("User", "Host")?,
            };
            if let Some(account) = accounts.get_mut(&name) {
                take(account, row)?;
            }
        }
    }
    let mut next = Directory::default();
    next.set_policy(*current.policy());
    for mut account in accounts.into_values() {
        account.forget_empty();
        next.put(account);
    }
    Ok(next)
}

/// A table, how its part of an account is forgotten, and how a row of it is taken over.
type Part = (&'static str, fn(&mut Account), fn(&mut Account, Record<'_>) -> Result<()>);

const GRANTS: &[Part] = &[
    ("db", |account| account.schemas.clear(), db),
    ("tables_priv", |account| account.tables.iter_mut().for_each(|g| g.privileges = Privileges::NONE), tables_priv),
    ("columns_priv", |account| account.tables.iter_mut().for_each(|g| g.columns.clear()), columns_priv),
    ("procs_priv", |account| account.routines.clear(), procs_priv),
    ("global_grants", |account| account.dynamic.clear(), global_grants),
    ("role_edges", |account| account.roles.clear(), role_edges),
    ("default_roles", |account| account.default_roles.clear(), default_roles),
    ("proxies_priv", |account| account.proxies.clear(), proxies_priv),
    ("password_history", |account| account.passwords.clear(), password_history),
];

/// What a row of `user` says, and the rest as it was `before`.
fn user(row: Record<'_>, before: &BTreeMap<AccountName, Account>) -> Result<Account> {
    let name = row.name("User", "Host")?;
    let plugin = row.text("plugin")?;
    let plugin = Plugin::by_name(&plugin).ok_or_else(|| err!(ER_PLUGIN_IS_NOT_LOADED, plugin))?;
    let mut account = Account::new(name.clone(), plugin);
    if let Some(before) = before.get(&name) {
        (account.passwords, account.dynamic) = (before.passwords.clone(), before.dynamic.clone());
        (account.schemas, account.tables) = (before.schemas.clone(), before.tables.clone());
        (account.routines, account.roles) = (before.routines.clone(), before.roles.clone());
        (account.default_roles, account.proxies) = (before.default_roles.clone(), before.proxies.clone());
    }
    account.auth_string = row.bytes("authentication_string")?;
    account.global = row.privileges(Privileges::GLOBAL)?;
    account.requirement = requirement(row)?;
    account.limits = Limits {
        queries_per_hour: row.short("max_questions")?.unwrap_or(0),
        updates_per_hour: row.short("max_updates")?.unwrap_or(0),
        connections_per_hour: row.short("max_connections")?.unwrap_or(0),
        user_connections: row.short("max_user_connections")?.unwrap_or(0),
    };
    account.rules = PasswordRules {
        lifetime: match row.short("password_lifetime")? {
            None => Lifetime::Default,
            Some(0) => Lifetime::Never,
            Some(days) => Lifetime::Days(days),
        },
        history: row.short("Password_reuse_history")?,
        reuse_days: row.short("Password_reuse_time")?,
        require_current: match row.at("Password_require_current")?.0.is_null() {
            true => None,
            false => Some(row.is_yes("Password_require_current")?),
        },
    };
    account.locked = row.is_yes("account_locked")?;
    account.password_expired = row.is_yes("password_expired")?;
    account.password_set_at_s = row.moment_s("password_last_changed")?;
    attributes(&mut account, row)?;
    Ok(account)
}

fn requirement(row: Record<'_>) -> Result<Requirement> {
    Ok(match row.text("ssl_type")?.to_ascii_uppercase().as_str() {
        "" => Requirement::None,
        "ANY" => Requirement::Ssl,
        "X509" => Requirement::X509,
        _ => Requirement::Specified {
            subject: row.text("x509_subject")?,
            issuer: row.text("x509_issuer")?,
            cipher: row.text("ssl_cipher")?,
        },
    })
}

/// What stands in `User_attributes`.
fn attributes(account: &mut Account, row: Record<'_>) -> Result<()> {
    let document = match row.at("User_attributes")?.0 {
        Value::Null => return Ok(()),
        value => value.json().ok_or_else(|| row.broken())?,
    };
    let Json::Object(all) = document else { return Err(row.broken()) };
    if let Some(metadata) = all.get("metadata") {
        account.attribute = String::from_utf8(metadata.to_text()).map_err(|_| row.broken())?;
    }
    if let Some(Json::String(hash)) = all.get("additional_password") {
        account.second_auth = hash.clone().into_bytes();
    }
    if let Some(Json::Object(rules)) = all.get("Password_locking") {
        let whole = |name: &str| match rules.get(name) {
            Some(Json::Int(n)) => *n,
            Some(Json::UInt(n)) => i64::try_from(*n).unwrap_or(0),
            _ => 0,
        };
        let lock = match whole("password_lock_time_days") {
            -1 => LockTime::Unbounded,
            days => LockTime::Days(u16::try_from(days).unwrap_or(0)),
        };
        account.logins = LoginRules { attempts: u16::try_from(whole("failed_login_attempts")).unwrap_or(0), lock };
    }
    let Some(Json::Array(restrictions)) = all.get("Restrictions") else { return Ok(()) };
    for one in restrictions {
        let Json::Object(one) = one else { return Err(row.broken()) };
        let (Some(Json::String(schema)), Some(Json::Array(words))) = (one.get("Database"), one.get("Privileges"))
        else {
            return Err(row.broken());
        };
        let privilege = |word: &Json| match word {
            Json::String(word) if word == "GRANT" => Some(Privileges::GRANT_OPTION),
            Json::String(word) => Privileges::by_name(word),
            _ => None,
        };
        let taken = words.iter().filter_map(privilege).fold(Privileges::NONE, |all, one| all | one);
        account.restrictions.insert(schema.clone(), taken);
    }
    Ok(())
}

fn db(account: &mut Account, row: Record<'_>) -> Result<()> {
    account.grant_schema(&row.text("Db")?, row.privileges(Privileges::SCHEMA)?);
    Ok(())
}

fn tables_priv(account: &mut Account, row: Record<'_>) -> Result<()> {
    let (schema, table, privileges) = (row.text("Db")?, row.text("Table_name")?, row.set("Table_priv")?);
    // A grant on columns alone has a row here, too: it says who has granted it.
    account.put_table(&schema, &table, privileges, row.granted()?);
    Ok(())
}

fn columns_priv(account: &mut Account, row: Record<'_>) -> Result<()> {
    let (schema, table, column) = (row.text("Db")?, row.text("Table_name")?, row.text("Column_name")?);
    account.grant_column(&schema, &table, &column, row.set("Column_priv")?);
    Ok(())
}

fn procs_priv(account: &mut Account, row: Record<'_>) -> Result<()> {
    let function = row.text("Routine_type")?.eq_ignore_ascii_case("FUNCTION");
    let (schema, name) = (row.text("Db")?, row.text("Routine_name")?);
    account.grant_routine(&schema, function, &name, row.set("Proc_priv")?, &row.granted()?);
    Ok(())
}

fn global_grants(account: &mut Account, row: Record<'_>) -> Result<()> {
    account.dynamic.insert(row.text("PRIV")?, row.is_yes("WITH_GRANT_OPTION")?);
    Ok(())
}

fn role_edges(account: &mut Account, row: Record<'_>) -> Result<()> {
    account.roles.insert(row.name("FROM_USER", "FROM_HOST")?, row.is_yes("WITH_ADMIN_OPTION")?);
    Ok(())
}

fn default_roles(account: &mut Account, row: Record<'_>) -> Result<()> {
    account.default_roles.insert(row.name("DEFAULT_ROLE_USER", "DEFAULT_ROLE_HOST")?);
    Ok(())
}

fn proxies_priv(account: &mut Account, row: Record<'_>) -> Result<()> {
    let (user, host) = (row.text("Proxied_user")?, row.text("Proxied_host")?);
    let of = if user.is_empty() && host.is_empty() { AccountName::of_all() } else { AccountName::new(user, &host) };
    let with_grant = row.number("With_grant")?.unwrap_or(0) != 0;
    account.proxies.insert(of, ProxyGrant { with_grant, granted: row.granted()? });
    Ok(())
}

fn password_history(account: &mut Account, row: Record<'_>) -> Result<()> {
    let password = OldPassword { set_at_s: row.moment_s("Password_timestamp")?, hash: row.bytes("Password")? };
    account.passwords.push(password);
    account.passwords.sort_by_key(|password| std::cmp::Reverse(password.set_at_s));
    Ok(())
}

/// The servers that a table of them tells of. Error 1728.
pub fn servers(made: &Made) -> Result<Vec<ForeignServer>> {
    let server = |row: Record<'_>| {
        Ok(ForeignServer {
            name: row.text("Server_name")?,
            host: row.text("Host")?,
            database: row.text("Db")?,
            user: row.text("Username")?,
            password: row.text("Password")?,
            port: row.number("Port")?.unwrap_or(0),
            socket: row.text("Socket")?,
            wrapper: row.text("Wrapper")?,
            owner: row.text("Owner")?,
        })
    };
    made.records().map(server).collect()
}
