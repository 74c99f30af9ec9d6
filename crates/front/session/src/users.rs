//! Account statements: CREATE, ALTER, DROP, RENAME USER, GRANT, REVOKE, SET PASSWORD. Each builds a new directory, stores
//! it, and swaps it in.

use crate::command::Session;
use crate::server::store_accounts;
use crate::sink::gone;
use accounts::{AccountName, Directory, Plugin, Privileges, Requirement};
use exec::Env;
use sql::ast::{
    Account, AccountOptions, Auth, AuthSecret, Grant, GrantObject, Parsed, PasswordExpire, Privilege, PrivilegeKind,
    PrivilegeLevel, Require, RevokeWhat, Statement, UserSpec,
};
use std::sync::Arc;
use types::{Result, SqlError, err};

fn unsupported(what: &str) -> SqlError {
    err!(1235, what)
}

/// What a GRANT or REVOKE is about.
enum Level {
    Global,
    Schema(String),
    Table(String, String),
}

impl Session {
    /// Runs an account statement; returns the name of its counter.
    pub(crate) fn change_accounts(&mut self, parsed: &Parsed) -> Result<&'static str> {
        self.check_writable()?;
        let server = Arc::clone(&self.server);
        let lock = server.account_ddl.lock();
        let mut directory = Directory::clone(&server.accounts.directory());
        let name = self.edit(parsed, &mut directory)?;
        let stored = store_accounts(&server.catalog, &mut self.tx, &directory);
        // Without acknowledgement it is committed nevertheless.
        if stored.is_ok() || stored.as_ref().is_err_and(|e| e.code == gone().code) {
            server.accounts.replace(directory);
        }
        drop(lock);
        stored.map(|()| name)
    }

    fn name_of(&self, parsed: &Parsed, account: Account) -> AccountName {
        let text = |s| String::from_utf8_lossy(parsed.bytes(s)).into_owned();
        match account {
            Account::Named { user, host } => AccountName::new(text(user), &host.map(text).unwrap_or_default()),
            Account::Current => self.access().account().name.clone(),
        }
    }

    fn edit(&mut self, parsed: &Parsed, directory: &mut Directory) -> Result<&'static str> {
        Ok(match &parsed.statement {
            Statement::CreateUser(create) => {
                self.access().check_global(Privileges::CREATE_USER)?;
                if !create.default_roles.is_empty() {
                    return Err(unsupported("roles"));
                }
                let mut failed = Vec::new();
                for spec in &create.users {
                    let name = self.name_of(parsed, spec.account);
                    if name.user.chars().count() > 32 {
                        return Err(err!(1470, name.user, "user name", 32));
                    }
                    if directory.get(&name).is_some() {
                        failed.push(name);
                        continue;
                    }
                    let mut account = accounts::Account::new(name, Plugin::CachingSha2);
                    authenticate(parsed, &mut account, spec)?;
                    apply_options(&mut account, &create.options)?;
                    directory.put(account);
                }
                if !failed.is_empty() && !create.if_not_exists {
                    return Err(err!(1396, "CREATE USER", list(&failed)));
                }
                for name in failed {
                    self.state.warn("Note", 3163, format!("Authorization ID {name} already exists."));
                }
                "create_user"
            }
            Statement::AlterUser(alter) => {
                if alter.registration || alter.default_role.is_some() {
                    return Err(unsupported("this form of ALTER USER"));
                }
                let own = self.access().account().name.clone();
                for spec in &alter.users {
                    let name = self.name_of(parsed, spec.account);
                    if name != own {
                        self.access().check_global(Privileges::CREATE_USER)?;
                    }
                    let edited = directory.change(&name, |account| {
                        authenticate(parsed, account, spec)?;
                        apply_options(account, &alter.options)
                    });
                    match edited {
                        Some(result) => result?,
                        None if alter.if_exists => {
                            self.state.warn("Note", 3162, format!("Authorization ID {name} does not exist."));
                        }
                        None => return Err(err!(1396, "ALTER USER", name)),
                    }
                }
                "alter_user"
            }
            Statement::DropUser { if_exists, users } => {
                self.access().check_global(Privileges::CREATE_USER)?;
                let mut failed = Vec::new();
                for user in users {
                    let name = self.name_of(parsed, *user);
                    if directory.remove(&name).is_none() {
                        failed.push(name);
                    }
                }
                if !failed.is_empty() && !if_exists {
                    return Err(err!(1396, "DROP USER", list(&failed)));
                }
                for name in failed {
                    self.state.warn("Note", 3162, format!("Authorization ID {name} does not exist."));
                }
                "drop_user"
            }
            Statement::RenameUser(pairs) => {
                self.access().check_global(Privileges::CREATE_USER)?;
                for (from, to) in pairs {
                    let (from, to) = (self.name_of(parsed, *from), self.name_of(parsed, *to));
                    if directory.get(&to).is_some() {
                        return Err(err!(1396, "RENAME USER", from));
                    }
                    let mut account = directory.remove(&from).ok_or_else(|| err!(1396, "RENAME USER", from))?;
                    account.name = to;
                    directory.put(account);
                }
                "rename_user"
            }
            Statement::SetPassword(set) => {
                let name = self.name_of(parsed, set.account);
                if name != self.access().account().name {
                    self.access().check_global(Privileges::CREATE_USER)?;
                }
                let Some(password) = set.password else { return Err(unsupported("SET PASSWORD TO RANDOM")) };
                if set.retain_current || set.replace.is_some() {
                    return Err(unsupported("this form of SET PASSWORD"));
                }
                let changed = directory.change(&name, |account| account.set_password(parsed.bytes(password)));
                changed.ok_or_else(|| err!(1133))?;
                "set_password"
            }
            Statement::Grant(grant) => {
                self.grant(parsed, grant, directory)?;
                "grant"
            }
            Statement::Revoke(revoke) => {
                if revoke.if_exists || revoke.ignore_unknown_user {
                    return Err(unsupported("REVOKE IF EXISTS"));
                }
                for account in &revoke.from {
                    let name = self.name_of(parsed, *account);
                    self.revoke(parsed, &revoke.what, &name, directory)?;
                }
                "revoke"
            }
            _ => unreachable!("the caller passes account statements"),
        })
    }

    fn level(&self, parsed: &Parsed, level: PrivilegeLevel, object: GrantObject) -> Result<Level> {
        if object != GrantObject::Table {
            return Err(unsupported("privileges on routines"));
        }
        Ok(match level {
            PrivilegeLevel::Global => Level::Global,
            PrivilegeLevel::CurrentDatabase => {
                Level::Schema(self.state.database().ok_or_else(|| err!(1046))?.to_string())
            }
            PrivilegeLevel::Database(name) => Level::Schema(parsed.name(name).to_string()),
            PrivilegeLevel::Object(name) => {
                let (schema, table) = self.object(parsed, name)?;
                Level::Table(schema, table)
            }
        })
    }

    /// The static privileges of a list, and the dynamic ones by name. Errors 1144, 1221, 3619.
    fn privileges(&self, parsed: &Parsed, list: &[Privilege], level: &Level) -> Result<(Privileges, Vec<String>)> {
        let all = match level {
            Level::Global => Privileges::GLOBAL,
            Level::Schema(_) => Privileges::SCHEMA,
            Level::Table(..) => Privileges::TABLE,
        };
        let (mut set, mut dynamic) = (Privileges::NONE, Vec::new());
        for privilege in list {
            if !privilege.columns.is_empty() {
                return Err(unsupported("column privileges"));
            }
            match privilege.kind {
                PrivilegeKind::All => {
                    set |= all.without(Privileges::GRANT_OPTION);
                    if matches!(level, Level::Global) {
                        dynamic.extend(accounts::DYNAMIC_PRIVILEGES.iter().map(|n| n.to_string()));
                    }
                }
                PrivilegeKind::GrantOption => set |= Privileges::GRANT_OPTION,
                PrivilegeKind::Proxy => return Err(unsupported("PROXY")),
                PrivilegeKind::Static("USAGE") => {}
                PrivilegeKind::Static(word) => {
                    let one = Privileges::by_name(word).ok_or_else(|| unsupported(word))?;
                    if !all.has(one) {
                        return Err(if matches!(level, Level::Schema(_)) {
                            err!(1221, "DB GRANT", "GLOBAL PRIVILEGES")
                        } else {
                            err!(1144)
                        });
                    }
                    set |= one;
                }
                PrivilegeKind::Named(account) => {
                    let name = self.name_of(parsed, account).user.to_ascii_uppercase();
                    if !accounts::DYNAMIC_PRIVILEGES.contains(&name.as_str()) {
                        return Err(err!(1064));
                    }
                    if !matches!(level, Level::Global) {
                        return Err(err!(3619, name));
                    }
                    dynamic.push(name);
                }
            }
        }
        Ok((set, dynamic))
    }

    /// May the session hand out these? It needs them itself, with GRANT OPTION.
    fn may_grant(&self, set: Privileges, level: &Level) -> Result<()> {
        let wanted = Privileges(set.0 | Privileges::GRANT_OPTION.0);
        match level {
            Level::Global => {
                let missing = wanted.without(self.access().global());
                if missing.is_empty() {
                    Ok(())
                } else {
                    Err(err!(1045, self.access().account().name.user, self.access().account().name.host, "YES"))
                }
            }
            Level::Schema(schema) => self.access().check_schema(wanted, schema),
            Level::Table(schema, table) => self.access().check_table(wanted, schema, table),
        }
    }

    fn grant(&mut self, parsed: &Parsed, grant: &Grant, directory: &mut Directory) -> Result<()> {
        let Grant::Privileges { privileges, object, level, to, with_grant_option, as_user } = grant else {
            return Err(unsupported("roles and proxies"));
        };
        if as_user.is_some() {
            return Err(unsupported("GRANT ... AS"));
        }
        let level = self.level(parsed, *level, *object)?;
        let (mut set, dynamic) = self.privileges(parsed, privileges, &level)?;
        self.may_grant(set, &level)?;
        if *with_grant_option {
            set |= Privileges::GRANT_OPTION;
        }
        if let Level::Table(schema, table) = &level
            && !set.has(Privileges::CREATE)
        {
            let version = self.server.catalog.current();
            version.table(schema, table).ok_or_else(|| err!(1146, schema, table))?;
        }
        for account in to {
            let name = self.name_of(parsed, *account);
            let changed = directory.change(&name, |account| match &level {
                Level::Global => {
                    account.global |= set;
                    for privilege in &dynamic {
                        let option = account.dynamic.entry(privilege.clone()).or_insert(false);
                        *option |= *with_grant_option;
                    }
                }
                Level::Schema(schema) => account.grant_schema(schema, set),
                Level::Table(schema, table) => account.grant_table(schema, table, set),
            });
            // GRANT makes no accounts.
            changed.ok_or_else(|| err!(1410))?;
        }
        Ok(())
    }

    fn revoke(
        &mut self,
        parsed: &Parsed,
        what: &RevokeWhat,
        name: &AccountName,
        directory: &mut Directory,
    ) -> Result<()> {
        match what {
            RevokeWhat::Everything => {
                self.access().check_global(Privileges::CREATE_USER)?;
                let cleared = directory.change(name, |account| {
                    account.global = Privileges::NONE;
                    account.dynamic.clear();
                    account.schemas.clear();
                    account.tables.clear();
                });
                cleared.ok_or_else(|| err!(1269))
            }
            RevokeWhat::Privileges { privileges, object, level } => {
                let level = self.level(parsed, *level, *object)?;
                let (set, dynamic) = self.privileges(parsed, privileges, &level)?;
                self.may_grant(set, &level)?;
                let found = directory.change(name, |account| match &level {
                    Level::Global => {
                        account.global = account.global.without(set);
                        account.dynamic.retain(|n, _| !dynamic.contains(n));
                        true
                    }
                    Level::Schema(schema) => account.revoke_schema(schema, set),
                    Level::Table(schema, table) => account.revoke_table(schema, table, set),
                });
                match (found, &level) {
                    (Some(true), _) => Ok(()),
                    (Some(false), Level::Table(_, table)) => Err(err!(1147, name.user, name.host, table)),
                    _ => Err(err!(1141, name.user, name.host)),
                }
            }
            _ => Err(unsupported("roles and proxies")),
        }
    }
}

/// IDENTIFIED ... of one account.
fn authenticate(parsed: &Parsed, account: &mut accounts::Account, spec: &UserSpec) -> Result<()> {
    if !spec.more_factors.is_empty() || spec.replace.is_some() || spec.retain_current || spec.discard_old {
        return Err(unsupported("this form of IDENTIFIED"));
    }
    let Some(Auth { plugin, secret }) = &spec.auth else { return Ok(()) };
    if let Some(plugin) = plugin {
        let name = String::from_utf8_lossy(parsed.bytes(*plugin)).into_owned();
        account.plugin = Plugin::by_name(&name).ok_or_else(|| err!(1524, name))?;
        account.auth_string.clear();
    }
    match secret {
        AuthSecret::None => {}
        AuthSecret::Password(password) => account.set_password(parsed.bytes(*password)),
        AuthSecret::Hash(hash) => account.set_hash(parsed.bytes(*hash))?,
        AuthSecret::Random => return Err(unsupported("RANDOM PASSWORD")),
    }
    Ok(())
}

fn apply_options(account: &mut accounts::Account, options: &AccountOptions) -> Result<()> {
    let AccountOptions { require, password_expire, account_locked, .. } = options;
    match require {
        None => {}
        Some(Require::None) => account.requirement = Requirement::None,
        Some(Require::Ssl) => account.requirement = Requirement::Ssl,
        Some(_) => return Err(unsupported("REQUIRE X509")),
    }
    match password_expire {
        None | Some(PasswordExpire::Default | PasswordExpire::Never) => {}
        Some(PasswordExpire::Now) => account.password_expired = true,
        Some(PasswordExpire::Days(_)) => return Err(unsupported("PASSWORD EXPIRE INTERVAL")),
    }
    if let Some(locked) = account_locked {
        account.locked = *locked;
    }
    let limits = [
        options.max_queries_per_hour,
        options.max_updates_per_hour,
        options.max_connections_per_hour,
        options.max_user_connections,
        options.failed_login_attempts,
    ];
    if limits.iter().any(|n| n.is_some_and(|n| n > 0)) {
        return Err(unsupported("limits of accounts"));
    }
    if options.comment.is_some() || options.attribute.is_some() {
        return Err(unsupported("COMMENT and ATTRIBUTE of accounts"));
    }
    let kept = [options.password_history, options.password_reuse_interval, options.password_lock_time];
    if kept.iter().flatten().any(|l| *l != sql::ast::Limited::Default) {
        return Err(unsupported("password history"));
    }
    match options.password_require_current {
        None | Some(None | Some(false)) => Ok(()),
        Some(Some(true)) => Err(unsupported("PASSWORD REQUIRE CURRENT")),
    }
}

fn list(names: &[AccountName]) -> String {
    names.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}
