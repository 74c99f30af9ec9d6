//! Account statements: CREATE, ALTER, DROP, RENAME USER, GRANT, REVOKE, SET PASSWORD, and those of roles. Each builds a new
//! directory, stores it, and swaps it in.

use crate::account_options::{NewPassword, expire};
use crate::authority::SYSTEM_USER;
use crate::binary_log::LoggedAs;
use crate::needs::Action;
use crate::roles::{list, refuse_anonymous};
use crate::server::store_accounts;
use crate::session::Session;
use crate::sink::gone;
use crate::variables::{VarId, id};
use accounts::{AccountName, Directory, Granted, Plugin, Privileges};
use catalog::Waiting;
use catalog::mdl::{Duration, Mode, Name};
use expr::Env;
use sql::ast::{
    Account, AlterUser, Auth, AuthSecret, CreateUser, FactorChange, Grant, GrantObject, ObjectName, Parsed, Privilege,
    PrivilegeKind, PrivilegeLevel, Revoke, RevokeWhat, SetPassword, Statement, UserSpec,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use sync::waits::Wait;
use types::codes::*;
use types::{Result, SqlError, err};

fn unsupported(what: &str) -> SqlError {
    err!(ER_NOT_SUPPORTED_YET, what)
}

/// What a GRANT or REVOKE is about.
enum Level {
    Global,
    Schema(String),
    Table(String, String),
    /// Schema, FUNCTION, name.
    Routine(String, bool, String),
}

const AUTOMATIC_PRIVILEGES: VarId = id("automatic_sp_privileges");
/// What can be granted on a routine.
const ON_ROUTINES: Privileges =
    Privileges(Privileges::EXECUTE.0 | Privileges::ALTER_ROUTINE.0 | Privileges::GRANT_OPTION.0);

/// The privileges of one GRANT or REVOKE.
#[derive(Default)]
struct Listed {
    set: Privileges,
    dynamic: Vec<String>,
    /// ALL is among them.
    all: bool,
    /// Of columns alone.
    columns: Vec<(String, Privileges)>,
    /// Names that are no privilege's: REVOKE takes them, as MySQL does.
    unknown: Vec<String>,
}

impl Session {
    /// Runs an account statement.
    pub(crate) fn change_accounts(&mut self, parsed: &Parsed) -> Result<()> {
        self.check_writable()?;
        let result = self.begin_system_change("user").and_then(|()| self.change_accounts_within(parsed));
        self.pins.release_statement();
        result
    }

    /// A change of what a table of `mysql` shows waits for FLUSH TABLES WITH READ LOCK and LOCK INSTANCE FOR BACKUP of others, until the
    /// statement ends. Errors 1100, 1205, 1223.
    pub(crate) fn begin_system_change(&mut self, table: &str) -> Result<()> {
        if self.locked.is_some() {
            return Err(err!(ER_TABLE_NOT_LOCKED, table));
        }
        let timeout = self.state.vars.hot().lock_wait_timeout;
        // No table is pinned that would have to be looked up again after a wait.
        self.pins.pin(&[], true, Waiting { timeout, tx: &mut self.tx })?;
        let mut waiting = Waiting { timeout, tx: &mut self.tx };
        self.pins.lock(&Arc::new(Name::BackupLock), Mode::IntentionExclusive, Duration::Statement, &mut waiting)?;
        Ok(())
    }

    fn change_accounts_within(&mut self, parsed: &Parsed) -> Result<()> {
        let server = Arc::clone(&self.server);
        // Another one's commit, and so its flush.
        let lock = server.account_ddl.lock_or_end(Wait::AccountsMutex).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        let mut directory = Directory::clone(&server.accounts.directory());
        self.edit(parsed, &mut directory)?;
        let texts = self.state.log_text.take().map(|text| self.logged_texts(parsed, &directory, text));
        let state = &mut self.state;
        let stored = store_accounts(&server.catalog, &mut self.tx, &directory, |tx| {
            texts.iter().flatten().try_for_each(|text| state.log_definition(tx, text))?;
            state.store_position(tx)?;
            state.log_commit(tx, LoggedAs::Statement)
        });
        // Without acknowledgement it is committed nevertheless.
        if stored.is_ok() || stored.as_ref().is_err_and(|e| e.code == gone().code) {
            let before = server.accounts.directory();
            server.accounts.replace(directory);
            self.own_password_changed(&before);
        }
        drop(lock);
        self.state.end_gtid(stored.is_ok());
        self.state.track_commit(self.tx.commit_end());
        stored
    }

    /// A routine was made or has gone: its creator may call, alter and drop it, or nobody has anything on it any more.
    pub(crate) fn change_routine_grants(&mut self, schema: &str, function: bool, name: &str, made: bool) -> Result<()> {
        let wanted = ON_ROUTINES.without(Privileges::GRANT_OPTION);
        let server = Arc::clone(&self.server);
        if !server.globals.load().bool(AUTOMATIC_PRIVILEGES) {
            return Ok(());
        }
        let own = self.access().account().name.clone();
        let directory = server.accounts.directory();
        let needed = match made {
            true => !self.access().routine(schema, function, name).has(wanted) && directory.get(&own).is_some(),
            false => directory.accounts().any(|a| a.routines.iter().any(|g| g.is_on(schema, function, name))),
        };
        if !needed {
            return Ok(());
        }
        let lock = server.account_ddl.lock_or_end(Wait::AccountsMutex).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        let mut directory = Directory::clone(&server.accounts.directory());
        let granted = self.granted();
        match made {
            true => _ = directory.change(&own, |a| a.grant_routine(schema, function, name, wanted, &granted)),
            false => directory.change_all(|account| _ = account.forget_routine(schema, function, name)),
        }
        let stored = store_accounts(&server.catalog, &mut self.tx, &directory, |_| Ok(()));
        if stored.is_ok() || stored.as_ref().is_err_and(|e| e.code == gone().code) {
            server.accounts.replace(directory);
        }
        drop(lock);
        stored
    }

    /// What the session's own statement did to its account's password holds at once. What others do, or time does, holds from the next
    /// login on.
    fn own_password_changed(&mut self, before: &Directory) {
        let now = self.server.accounts.directory();
        let own = &self.access().account().name;
        let (Some(before), Some(account)) = (before.get(own), now.get(own)) else { return };
        let is_same = before.password_expired == account.password_expired
            && before.password_set_at_s == account.password_set_at_s
            && before.auth_string == account.auth_string
            && before.rules.lifetime == account.rules.lifetime;
        if !is_same {
            self.password_expired = account.must_change_password(now.policy(), accounts::password::now_s());
            self.restrict();
        }
    }

    /// The statement for the binary log. Where it has a password it is told anew, with what became of that.
    fn logged_texts(&self, parsed: &Parsed, directory: &Directory, text: Vec<u8>) -> Vec<Vec<u8>> {
        let secrets = |users: &[UserSpec]| -> Option<Vec<AccountName>> {
            let any = users.iter().any(|u| u.auth.is_some() || u.discard_old);
            any.then(|| users.iter().map(|u| self.name_of(parsed, u.account)).collect())
        };
        let (verb, accounts) = match &parsed.statement {
            Statement::CreateUser(create) if create.if_not_exists => {
                ("CREATE USER IF NOT EXISTS", secrets(&create.users))
            }
            Statement::CreateUser(create) => ("CREATE USER", secrets(&create.users)),
            Statement::AlterUser(alter) => ("ALTER USER", secrets(&alter.users)),
            Statement::SetPassword(set) => ("ALTER USER", Some(vec![self.account_of_password(parsed, set)])),
            _ => ("", None),
        };
        let Some(accounts) = accounts else { return vec![text] };
        let told = |account: AccountName| {
            let whole = directory.get(&account)?.create_statement(accounts::HashForm::Hexadecimal);
            let mut rest = whole.strip_prefix(b"CREATE USER")?.to_vec();
            if verb == "ALTER USER" {
                let find = |rest: &[u8], words: &[u8]| rest.windows(words.len()).position(|w| w == words);
                if let Some(from) = find(&rest, b" DEFAULT ROLE ") {
                    let to = find(&rest, b" REQUIRE ").unwrap_or(rest.len());
                    rest.drain(from..to.max(from));
                }
            }
            Some([verb.as_bytes(), &rest].concat())
        };
        accounts.into_iter().filter_map(told).collect()
    }

    pub(crate) fn name_of(&self, parsed: &Parsed, account: Account) -> AccountName {
        let text = |s| String::from_utf8_lossy(parsed.bytes(s)).into_owned();
        match account {
            Account::Named { user, host } => AccountName::new(text(user), &host.map(text).unwrap_or_default()),
            Account::Current => self.access().account().name.clone(),
        }
    }

    fn edit(&mut self, parsed: &Parsed, directory: &mut Directory) -> Result<()> {
        self.generated.clear();
        match &parsed.statement {
            Statement::CreateUser(create) => {
                self.create_users(parsed, create, directory)?;
            }
            Statement::AlterUser(alter) => {
                self.alter_users(parsed, alter, directory)?;
            }
            Statement::DropUser { if_exists, users } => {
                self.need(Action::DropUser)?;
                let names: Vec<AccountName> = users.iter().map(|u| self.name_of(parsed, *u)).collect();
                self.drop_accounts("DROP USER", *if_exists, &names, directory)?;
            }
            Statement::RenameUser(pairs) => {
                self.need(Action::RenameUser)?;
                for (from, to) in pairs {
                    let (from, to) = (self.name_of(parsed, *from), self.name_of(parsed, *to));
                    self.may_change(&from, directory)?;
                    self.may_change(&to, directory)?;
                    if directory.get(&to).is_some() {
                        return Err(err!(ER_CANNOT_USER, "RENAME USER", from));
                    }
                    let is_role = directory.accounts().any(|a| a.roles.contains_key(&from));
                    if is_role {
                        return Err(err!(ER_RENAME_ROLE));
                    }
                    self.check_definer("RENAME USER", &from)?;
                    self.check_definer("RENAME USER", &to)?;
                    let mut account =
                        directory.remove(&from).ok_or_else(|| err!(ER_CANNOT_USER, "RENAME USER", from))?;
                    self.server.accounts.forget_sha2_of(&[from]);
                    account.name = to;
                    directory.put(account);
                }
            }
            Statement::SetPassword(set) => {
                self.set_password(parsed, set, directory)?;
            }
            Statement::Grant(grant) => match &**grant {
                Grant::Privileges { .. } => {
                    self.grant(parsed, grant, directory)?;
                }
                Grant::Roles { roles, to, with_admin_option } => {
                    self.grant_roles(parsed, roles, to, *with_admin_option, directory)?;
                }
                Grant::Proxy { proxied, to, with_grant_option } => {
                    let names: Vec<AccountName> = to.iter().map(|t| self.name_of(parsed, *t)).collect();
                    self.change_proxy(parsed, *proxied, &names, Some(*with_grant_option), directory)?;
                }
            },
            Statement::Revoke(revoke) => {
                self.revoke_all(parsed, revoke, directory)?;
            }
            Statement::CreateRole { if_not_exists, roles } => {
                self.create_roles(parsed, *if_not_exists, roles, directory)?;
            }
            Statement::DropRole { if_exists, roles } => {
                self.drop_roles(parsed, *if_exists, roles, directory)?;
            }
            Statement::SetDefaultRole { roles, users } => {
                let names: Vec<AccountName> = users.iter().map(|u| self.name_of(parsed, *u)).collect();
                self.set_default_roles(parsed, roles, &names, directory)?;
            }
            _ => unreachable!("the caller passes account statements"),
        }
        Ok(())
    }

    fn create_users(&mut self, parsed: &Parsed, create: &CreateUser, directory: &mut Directory) -> Result<()> {
        self.need(Action::CreateUser)?;
        // What a new account is granted its maker must be able to grant.
        let roles: std::collections::BTreeSet<AccountName> =
            create.default_roles.iter().map(|role| self.name_of(parsed, *role)).collect();
        if !roles.is_empty() {
            self.may_hand_on(&roles.iter().cloned().collect::<Vec<_>>())?;
        }
        for role in &roles {
            if directory.get(role).is_none() {
                return Err(err!(ER_USER_DOES_NOT_EXIST, accounts::quoted_account(role)));
            }
            self.may_change(role, directory)?;
        }
        for spec in &create.users {
            let name = self.name_of(parsed, spec.account);
            refuse_anonymous(&roles, &name)?;
            self.check_definer("CREATE USER", &name)?;
        }
        let mut failed = Vec::new();
        for spec in &create.users {
            let name = self.name_of(parsed, spec.account);
            match spec.auth.map(|auth| auth.secret) {
                Some(AuthSecret::Password(password)) => self.check_strength(parsed.bytes(password))?,
                Some(AuthSecret::Hash(hash)) if parsed.bytes(hash).is_empty() => self.check_strength(b"")?,
                Some(AuthSecret::Hash(_) | AuthSecret::Random) => {}
                None | Some(AuthSecret::None) if self.keeps_password(parsed, spec) => self.check_strength(b"")?,
                None | Some(AuthSecret::None) => {}
            }
            if name.user.chars().count() > 32 {
                return Err(err!(ER_WRONG_STRING_LENGTH, name.user, "user name", 32));
            }
            if name.host.chars().count() > 255 {
                return Err(err!(ER_WRONG_STRING_LENGTH, name.host, "host name", 255));
            }
            if directory.get(&name).is_some() {
                self.may_change(&name, directory)?;
                failed.push(name);
                continue;
            }
            let mut account = accounts::Account::new(name, Plugin::CachingSha2);
            self.apply_options(parsed, &mut account, &create.options)?;
            self.authenticate(parsed, &mut account, spec, true)?;
            expire(&mut account, &create.options)?;
            account.roles = roles.iter().map(|r| (r.clone(), false)).collect();
            account.default_roles = roles.clone();
            directory.put(account);
        }
        if !failed.is_empty() && !create.if_not_exists {
            return Err(err!(ER_CANNOT_USER, "CREATE USER", list(&failed)));
        }
        for name in failed {
            self.state.push_warning("Note", err!(ER_USER_ALREADY_EXISTS, name));
        }
        Ok(())
    }

    fn alter_users(&mut self, parsed: &Parsed, alter: &AlterUser, directory: &mut Directory) -> Result<()> {
        if let Some(selection) = &alter.default_role {
            self.refuse_expired()?;
            let names: Vec<AccountName> = alter.users.iter().map(|u| self.name_of(parsed, u.account)).collect();
            return self.set_default_roles(parsed, selection, &names, directory);
        }
        let own = self.access().account().name.clone();
        let renews = alter.users.iter().any(|u| u.auth.is_some() && self.name_of(parsed, u.account) == own);
        for spec in &alter.users {
            let name = self.name_of(parsed, spec.account);
            self.may_alter(&name, spec, &alter.options)?;
            if !renews {
                self.refuse_expired()?;
            }
            self.may_change(&name, directory)?;
            if let Some(change) = alter.factors.first() {
                return Err(match change {
                    FactorChange::Add(number, auth) => self.no_factor(parsed, auth, *number as usize, "ALTER USER"),
                    FactorChange::Modify(number, _) | FactorChange::Drop(number) | FactorChange::Register(number) => {
                        err!(ER_MFA_METHOD_NOT_EXISTS, number, number)
                    }
                });
            }
            if let Some(Auth { secret: AuthSecret::Password(password), .. }) = spec.auth {
                self.check_strength(parsed.bytes(password))?;
            }
            let edited: Option<Result<()>> = directory.change(&name, |account| {
                self.apply_options(parsed, account, &alter.options)?;
                self.authenticate(parsed, account, spec, false)?;
                expire(account, &alter.options)
            });
            match edited {
                Some(result) => result?,
                None if alter.if_exists => {
                    self.state.push_warning("Note", err!(ER_USER_DOES_NOT_EXIST, name));
                }
                None => return Err(err!(ER_CANNOT_USER, "ALTER USER", name)),
            }
        }
        Ok(())
    }

    /// Is the account to have a password?
    fn keeps_password(&self, parsed: &Parsed, spec: &UserSpec) -> bool {
        let plugin = spec.auth.and_then(|auth| auth.plugin);
        let named = plugin.and_then(|p| Plugin::by_name(&String::from_utf8_lossy(parsed.bytes(p))));
        named.is_none_or(Plugin::keeps_password)
    }

    /// DROP USER and DROP ROLE: who had one as a role has it no longer.
    pub(crate) fn drop_accounts(
        &mut self,
        statement: &str,
        if_exists: bool,
        names: &[AccountName],
        directory: &mut Directory,
    ) -> Result<()> {
        let mut failed = Vec::new();
        for name in names.iter().filter(|name| directory.get(name).is_some()) {
            self.check_definer(statement, name)?;
        }
        for name in names {
            self.refuse_mandatory(name)?;
            self.may_change(name, directory)?;
            match directory.remove(name) {
                Some(_) => {
                    directory.forget_role(name);
                    self.server.accounts.forget_sha2_of(std::slice::from_ref(name));
                    self.server.accounts.reset_usage_of(name);
                }
                None => failed.push(name.clone()),
            }
        }
        if !failed.is_empty() && !if_exists {
            return Err(err!(ER_CANNOT_USER, statement, list(&failed)));
        }
        for name in failed {
            self.state.push_warning("Note", err!(ER_USER_DOES_NOT_EXIST, name));
        }
        Ok(())
    }

    /// Events, views and programs whose definer goes: warning 4005, or error 4006 without the right to leave them without one.
    pub(crate) fn check_definer(&mut self, statement: &str, name: &AccountName) -> Result<()> {
        let definer = format!("{}@{}", name.user, name.host);
        let version = self.server.catalog.current();
        let mut tables = version.schemas.values().flat_map(|s| s.tables.values());
        let mut triggers = version.schemas.values().flat_map(|s| s.tables.values()).flat_map(|t| &t.triggers);
        let mut routines = version.schemas.values().flat_map(|s| s.routines.values());
        let mut events = version.events();
        let has = [
            ("an event", events.any(|e| e.definer == definer)),
            ("a view", tables.any(|t| t.view.as_ref().is_some_and(|v| v.definer == definer))),
            ("a stored routine", routines.any(|r| r.definer == definer)),
            ("a trigger", triggers.any(|t| t.definer == definer)),
        ];
        for (what, _) in has.into_iter().filter(|(_, has)| *has) {
            if !self.access().has_dynamic("ALLOW_NONEXISTENT_DEFINER") {
                return Err(err!(ER_CANNOT_USER_REFERENCED_AS_DEFINER, statement, name, what));
            }
            let warning = err!(ER_USER_REFERENCED_AS_DEFINER, name, what);
            self.state.warn("Warning", warning.code, warning.message);
        }
        Ok(())
    }

    /// Without FOR it is the password of who has logged in, also where a routine's definer sets it.
    fn account_of_password(&self, parsed: &Parsed, set: &SetPassword) -> AccountName {
        match set.account {
            Account::Current => self.login_account().clone(),
            named => self.name_of(parsed, named),
        }
    }

    fn set_password(&mut self, parsed: &Parsed, set: &SetPassword, directory: &mut Directory) -> Result<()> {
        let name = self.account_of_password(parsed, set);
        if name != self.access().account().name {
            self.refuse_expired()?;
            self.need_in(Action::SetPassword, "mysql")?;
            self.may_change(&name, directory)?;
        } else if set.retain_current {
            self.need(Action::OwnSecondPassword)?;
        }
        let new = NewPassword {
            password: set.password.map(|s| parsed.bytes(s)),
            replace: set.replace.map(|s| parsed.bytes(s)),
            retain_current: set.retain_current,
            fresh: false,
        };
        let changed = directory.change(&name, |account| {
            if !account.plugin.keeps_password() {
                return Err(err!(ER_SET_PASSWORD_AUTH_PLUGIN_ERROR, account.name.user, account.name.host));
            }
            new.password.map_or(Ok(()), |password| self.check_strength(password))?;
            self.new_password(account, new)
        });
        changed.ok_or_else(|| err!(ER_PASSWORD_NO_MATCH))?
    }

    fn level(&self, parsed: &Parsed, level: PrivilegeLevel, object: GrantObject) -> Result<Level> {
        if object != GrantObject::Table {
            let function = object == GrantObject::Function;
            let PrivilegeLevel::Object(routine) = level else { return Err(err!(ER_ILLEGAL_GRANT_FOR_TABLE)) };
            let (schema, name) = self.object(parsed, routine)?;
            let kind = crate::routine::kind_of(function);
            return match self.server.catalog.current().routine(&schema, kind, &name) {
                Some(_) => Ok(Level::Routine(schema, function, name)),
                None => Err(err!(ER_SP_DOES_NOT_EXIST, kind.word(), name)),
            };
        }
        Ok(match level {
            PrivilegeLevel::Global => Level::Global,
            PrivilegeLevel::CurrentDatabase => {
                Level::Schema(self.state.database().ok_or_else(|| err!(ER_NO_DB_ERROR))?.to_string())
            }
            PrivilegeLevel::Database(name) => Level::Schema(parsed.name(name).to_string()),
            PrivilegeLevel::Object(name) => {
                let (schema, table) = self.object(parsed, name)?;
                Level::Table(schema, table)
            }
        })
    }

    /// Whether a routine is there is told to whom may grant it. Error 1370; of one that is there it is said later what is missing.
    fn may_grant_routine(&self, parsed: &Parsed, routine: ObjectName, object: GrantObject) -> Result<()> {
        let (schema, name) = self.object(parsed, routine)?;
        let wanted = Privileges(Privileges::EXECUTE.0 | Privileges::GRANT_OPTION.0);
        let account = &self.access().account().name;
        let function = object == GrantObject::Function;
        let is_there =
            self.server.catalog.current().routine(&schema, crate::routine::kind_of(function), &name).is_some();
        match is_there || self.access().routine(&schema, function, &name).has(wanted) {
            true => Ok(()),
            false => {
                Err(err!(ER_PROCACCESS_DENIED_ERROR, "execute", account.user, account.host, format!("{schema}.{name}")))
            }
        }
    }

    /// What a list says. Errors 1144, 1149, 1221, 3619.
    fn privileges(&self, parsed: &Parsed, list: &[Privilege], level: &Level, revokes: bool) -> Result<Listed> {
        let all = match level {
            Level::Global => Privileges::GLOBAL,
            Level::Schema(_) => Privileges::SCHEMA,
            Level::Table(..) => Privileges::TABLE,
            Level::Routine(..) => ON_ROUTINES,
        };
        let mut listed = Listed::default();
        let Listed { set, dynamic, all: everything, columns, unknown } = &mut listed;
        for privilege in list {
            if !privilege.columns.is_empty() {
                let PrivilegeKind::Static(word) = privilege.kind else { return Err(types::error::syntax_error()) };
                let one = Privileges::by_name(word).expect("the parser knows them");
                if !matches!(level, Level::Table(..)) {
                    return Err(err!(ER_ILLEGAL_GRANT_FOR_TABLE));
                }
                columns.extend(privilege.columns.iter().map(|c| (parsed.name(*c).to_string(), one)));
                continue;
            }
            match privilege.kind {
                PrivilegeKind::All => {
                    *everything = true;
                    *set |= all.without(Privileges::GRANT_OPTION);
                    if matches!(level, Level::Global) {
                        dynamic.extend(accounts::DYNAMIC_PRIVILEGES.iter().map(|n| n.to_string()));
                    }
                }
                PrivilegeKind::GrantOption => *set |= Privileges::GRANT_OPTION,
                PrivilegeKind::Proxy => return Err(unsupported("PROXY")),
                PrivilegeKind::Static("USAGE") => {}
                PrivilegeKind::Static(word) => {
                    let one = Privileges::by_name(word).ok_or_else(|| unsupported(word))?;
                    if !all.has(one) {
                        return Err(if matches!(level, Level::Schema(_)) {
                            err!(ER_WRONG_USAGE, "DB GRANT", "GLOBAL PRIVILEGES")
                        } else {
                            err!(ER_ILLEGAL_GRANT_FOR_TABLE)
                        });
                    }
                    *set |= one;
                }
                PrivilegeKind::Named(account) => {
                    let name = self.name_of(parsed, account).user.to_ascii_uppercase();
                    if !matches!(level, Level::Global) {
                        return Err(err!(ER_ILLEGAL_PRIVILEGE_LEVEL, name));
                    }
                    match accounts::DYNAMIC_PRIVILEGES.contains(&name.as_str()) {
                        true => dynamic.push(name),
                        false if revokes => unknown.push(name),
                        false => return Err(err!(ER_SYNTAX_ERROR)),
                    }
                }
            }
        }
        Ok(listed)
    }

    /// As messages say it.
    pub(crate) fn used_password(&self) -> &'static str {
        match self.access().account().auth_string.is_empty() {
            true => "NO",
            false => "YES",
        }
    }

    /// May the session hand out these? It needs them itself, with GRANT OPTION.
    fn may_grant(&self, listed: &Listed, level: &Level, revokes: bool) -> Result<()> {
        let wanted = Privileges(listed.set.0 | Privileges::GRANT_OPTION.0);
        let access = self.access();
        match level {
            Level::Global => {
                // As in MySQL, who may write to the tables in which accounts stand may grant what stands there by name.
                let writes = access.schema("mysql").has(Privileges::UPDATE);
                let dynamic = |name: &String| writes || access.account().dynamic.get(name) == Some(&true);
                let named = || listed.dynamic.iter().chain(&listed.unknown);
                let only_dynamic = named().next().is_some() && listed.set.is_empty();
                if !only_dynamic && !access.global_somewhere().has(wanted) {
                    let name = &access.account().name;
                    return Err(err!(ER_ACCESS_DENIED_ERROR, name.user, name.host, self.used_password()));
                }
                if named().all(dynamic) { Ok(()) } else { Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "GRANT OPTION")) }
            }
            Level::Schema(pattern) => access.check_pattern(wanted, pattern),
            Level::Table(schema, table) => {
                let of_columns = listed.columns.iter().fold(Privileges::NONE, |all, (_, one)| all | *one);
                let missing = (wanted | of_columns).without(access.table(schema, table));
                // REVOKE of a whole table's privilege takes it from columns too.
                let narrow = if revokes { (wanted | of_columns).without(Privileges::GRANT_OPTION) } else { of_columns };
                let missing = missing.without(narrow & access.table_or_columns(schema, table));
                if missing.is_empty() { Ok(()) } else { Err(access.denied_table(missing, table)) }
            }
            Level::Routine(schema, function, name) => {
                let missing = wanted.without(access.routine(schema, *function, name));
                let command = match missing {
                    Privileges::NONE => return Ok(()),
                    missing if missing.has(Privileges::EXECUTE) => "execute",
                    missing if missing.has(Privileges::ALTER_ROUTINE) => "alter routine",
                    _ => "grant",
                };
                let account = &access.account().name;
                let routine = format!("{schema}.{name}");
                Err(err!(ER_PROCACCESS_DENIED_ERROR, command, account.user, account.host, routine))
            }
        }
    }

    /// That the session grants something now: by its account's name, from where it is.
    pub(crate) fn granted(&self) -> Granted {
        let access = self.access();
        let by = format!("{}@{}", access.account().name.user, access.client_host());
        Granted { by, at_s: accounts::password::now_s() }
    }

    /// The columns of a GRANT, each of which the session has to have the privilege on. Error 1142.
    fn may_grant_columns(&self, listed: &Listed, level: &Level) -> Result<()> {
        let Level::Table(schema, table) = level else { return Ok(()) };
        let access = self.access();
        let lacks = |(column, one): &&(String, Privileges)| !access.column(schema, table, column).has(*one);
        match listed.columns.iter().find(lacks) {
            Some((_, one)) => Err(access.denied_table(*one, table)),
            None => Ok(()),
        }
    }

    /// The table of a GRANT has to be there, unless it may be made: errors 1049, 1054, 1146.
    fn check_granted_table(&self, listed: &Listed, level: &Level) -> Result<()> {
        let Level::Table(schema, table) = level else { return Ok(()) };
        let version = self.server.catalog.current();
        if !listed.columns.is_empty() && version.schema(schema).is_none() {
            return Err(err!(ER_BAD_DB_ERROR, schema));
        }
        match version.table(schema, table) {
            Some(found) => {
                let known = |name: &str| found.named_columns().any(|c| c.name.eq_ignore_ascii_case(name));
                let missing = listed.columns.iter().find(|(name, _)| !known(name));
                missing.map_or(Ok(()), |(name, _)| Err(err!(ER_BAD_FIELD_ERROR, name, table)))
            }
            None if listed.set.has(Privileges::CREATE) && listed.columns.is_empty() => Ok(()),
            None => Err(err!(ER_NO_SUCH_TABLE, schema, table)),
        }
    }

    fn grant(&mut self, parsed: &Parsed, grant: &Grant, directory: &mut Directory) -> Result<()> {
        let Grant::Privileges { privileges, object, level, to, with_grant_option, as_user } = grant else {
            unreachable!("the caller passes privileges");
        };
        if as_user.is_some() && !matches!(level, PrivilegeLevel::Global) {
            return Err(err!(ER_UNSUPPORTED_USE_OF_GRANT_AS));
        }
        if let (PrivilegeLevel::Object(routine), true) = (level, *object != GrantObject::Table) {
            self.may_grant_routine(parsed, *routine, *object)?;
        }
        let level = self.level(parsed, *level, *object)?;
        // GRANT makes no accounts; that there is none is told before that a privilege is out of place.
        let names: Vec<AccountName> = to.iter().map(|t| self.name_of(parsed, *t)).collect();
        let is_known = names.iter().all(|name| directory.get(name).is_some());
        let mut listed = match self.privileges(parsed, privileges, &level, false) {
            Err(_) if !is_known => return Err(err!(ER_CANT_CREATE_USER_WITH_GRANT)),
            listed => listed?,
        };
        self.may_grant(&listed, &level, false)?;
        let of_grantor = match as_user {
            Some((user, roles)) => self.restrictions_of_grant_as(parsed, *user, roles, &listed, &level)?,
            None => self.access().restrictions().clone(),
        };
        self.check_granted_table(&listed, &level)?;
        self.may_grant_columns(&listed, &level)?;
        // Dynamic privileges have an option of their own, each.
        let alone = !listed.dynamic.is_empty() && listed.set.is_empty() && listed.columns.is_empty();
        if *with_grant_option && !alone {
            listed.set |= Privileges::GRANT_OPTION;
        }
        let partly = directory.policy().partial_revokes;
        let granted = self.granted();
        for name in names {
            self.may_change(&name, directory)?;
            if listed.dynamic.iter().any(|p| p == SYSTEM_USER) && self.mandatory_roles().contains(&name) {
                return Err(err!(ER_CANNOT_GRANT_SYSTEM_PRIV_TO_MANDATORY_ROLE, name.user, name.host, SYSTEM_USER));
            }
            let Listed { set, dynamic, columns, .. } = &listed;
            let changed = directory.change(&name, |account| match &level {
                Level::Global => {
                    account.grant_global(*set, &of_grantor);
                    for privilege in dynamic {
                        let option = account.dynamic.entry(privilege.clone()).or_insert(false);
                        *option |= *with_grant_option;
                    }
                }
                Level::Schema(schema) if partly => account.grant_schema_back(schema, *set),
                Level::Schema(schema) => account.grant_schema(schema, *set),
                Level::Table(schema, table) => {
                    account.grant_table(schema, table, *set);
                    columns.iter().for_each(|(column, one)| account.grant_column(schema, table, column, *one));
                    account.note_granted(schema, table, &granted);
                }
                Level::Routine(schema, function, name) => {
                    account.grant_routine(schema, *function, name, *set, &granted);
                }
            });
            changed.ok_or_else(|| err!(ER_CANT_CREATE_USER_WITH_GRANT))?;
        }
        Ok(())
    }

    /// GRANT ... AS user: that account, with these roles, must be able to grant as well, and may not reach further than the session's
    /// own. In which schemas it is restricted, which are the restrictions of what it grants. Error 3836.
    fn restrictions_of_grant_as(
        &self,
        parsed: &Parsed,
        user: Account,
        roles: &sql::ast::RoleSelection,
        listed: &Listed,
        level: &Level,
    ) -> Result<BTreeMap<String, Privileges>> {
        use sql::ast::RoleSelection as R;
        let name = self.name_of(parsed, user);
        let current = self.server.accounts.directory();
        let account = current.get(&name).ok_or_else(|| err!(ER_UKNOWN_AUTH_ID_OR_ACCESS_DENIED_FOR_GRANT_AS))?;
        let named = |list: &[Account]| list.iter().map(|r| self.name_of(parsed, *r)).collect::<Vec<_>>();
        let active: Vec<AccountName> = match roles {
            R::None => Vec::new(),
            R::Default => account.default_roles.iter().cloned().collect(),
            R::All { except } => {
                let except = named(except);
                account.roles.keys().filter(|r| !except.contains(r)).cloned().collect()
            }
            R::Roles(list) => named(list),
        };
        let account = self
            .with_roles(&current, &name, &active)
            .map_err(|_| err!(ER_UKNOWN_AUTH_ID_OR_ACCESS_DENIED_FOR_GRANT_AS))?;
        let wanted = Privileges(listed.set.0 | Privileges::GRANT_OPTION.0);
        let may = matches!(level, Level::Global)
            && account.global.has(wanted)
            && listed.dynamic.iter().all(|name| account.dynamic.get(name) == Some(&true));
        let is_inside = self.access().restrictions().iter().all(|(schema, own)| {
            let theirs = account.restrictions.get(schema).copied().unwrap_or_default();
            theirs.has(*own & listed.set)
        });
        match may && is_inside {
            true => Ok(account.restrictions.clone()),
            false => Err(err!(ER_UKNOWN_AUTH_ID_OR_ACCESS_DENIED_FOR_GRANT_AS)),
        }
    }

    /// REVOKE from each account; with IF EXISTS what was not granted is a warning, with IGNORE UNKNOWN USER an account that there is not.
    fn revoke_all(&mut self, parsed: &Parsed, revoke: &Revoke, directory: &mut Directory) -> Result<()> {
        for account in &revoke.from {
            let name = self.name_of(parsed, *account);
            if revoke.ignore_unknown_user && directory.get(&name).is_none() {
                // Who may not revoke it is not told who is there.
                self.may_revoke(parsed, &revoke.what)?;
                self.state.push_warning("Warning", err!(ER_USER_DOES_NOT_EXIST, name.user));
                continue;
            }
            match self.revoke(parsed, &revoke.what, revoke.if_exists, &name, directory) {
                Err(e)
                    if revoke.if_exists
                        && directory.get(&name).is_some()
                        && matches!(
                            e.code,
                            ER_NONEXISTING_GRANT
                                | ER_NONEXISTING_TABLE_GRANT
                                | ER_NONEXISTING_PROC_GRANT
                                | ER_UNKNOWN_AUTHID
                        ) =>
                {
                    self.state.warn("Warning", e.code, e.message);
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn may_revoke(&self, parsed: &Parsed, what: &RevokeWhat) -> Result<()> {
        match what {
            RevokeWhat::Everything => self.need(Action::RevokeEverything),
            RevokeWhat::Privileges { privileges, object, level } => {
                if let (PrivilegeLevel::Object(routine), true) = (level, *object != GrantObject::Table) {
                    self.may_grant_routine(parsed, *routine, *object)?;
                }
                let level = self.level(parsed, *level, *object)?;
                let listed = self.privileges(parsed, privileges, &level, true)?;
                match listed.all && matches!(level, Level::Global) {
                    true => self.need(Action::RevokeEverything),
                    false => self.may_grant(&listed, &level, true),
                }
            }
            RevokeWhat::Roles(roles) => {
                self.may_hand_on(&roles.iter().map(|role| self.name_of(parsed, *role)).collect::<Vec<_>>())
            }
            RevokeWhat::Proxy(proxied) => self.may_change_proxy(&self.proxied(parsed, *proxied)),
        }
    }

    /// Whether the statement is said to come from a server before 8.3, where REVOKE of what was not granted was no error.
    fn replays_old_statements(&self) -> bool {
        const ORIGINAL_VERSION: VarId = id("original_server_version");
        self.state.vars.uint(ORIGINAL_VERSION) < 80_300
    }

    /// All that is granted to the account, but for roles and proxies.
    fn revoke_everything(&mut self, name: &AccountName, directory: &mut Directory) -> Result<()> {
        self.need(Action::RevokeEverything)?;
        self.may_change(name, directory)?;
        if let Some(account) = directory.get(name) {
            self.may_revoke_everywhere(Privileges::GLOBAL, account)?;
        }
        directory.change(name, accounts::Account::revoke_everything).ok_or_else(|| err!(ER_REVOKE_GRANTS))
    }

    fn revoke(
        &mut self,
        parsed: &Parsed,
        what: &RevokeWhat,
        if_exists: bool,
        name: &AccountName,
        directory: &mut Directory,
    ) -> Result<()> {
        match what {
            RevokeWhat::Everything => self.revoke_everything(name, directory),
            RevokeWhat::Privileges { object, level: PrivilegeLevel::Object(routine), .. }
                if *object != GrantObject::Table
                    && self.level(parsed, PrivilegeLevel::Object(*routine), *object).is_err() =>
            {
                Err(err!(ER_NONEXISTING_PROC_GRANT, name.user, name.host, parsed.name(routine.name)))
            }
            RevokeWhat::Privileges { privileges, object, level } => {
                let level = self.level(parsed, *level, *object)?;
                let listed = self.privileges(parsed, privileges, &level, true)?;
                // As in MySQL that is more than it says: what is granted on less goes too.
                if listed.all && matches!(level, Level::Global) {
                    return self.revoke_everything(name, directory);
                }
                self.may_grant(&listed, &level, true)?;
                self.may_change(name, directory)?;
                let Listed { set, dynamic, all, columns: listed_columns, unknown } = &listed;
                if let (Level::Global, Some(account)) = (&level, directory.get(name))
                    && (!set.is_empty() || !dynamic.is_empty())
                {
                    self.may_revoke_everywhere(*set, account)?;
                }
                let mut columns: BTreeMap<&str, Privileges> = BTreeMap::new();
                listed_columns.iter().for_each(|(column, one)| *columns.entry(column).or_default() |= *one);
                let whole = !*all && !self.replays_old_statements();
                let refusal = no_such_grant(name, &level);
                let partly = directory.policy().partial_revokes;
                let granted = self.granted();
                // IF EXISTS takes what is there, and says of which part something was not.
                let mut lacking = 0;
                let mut revoke_part = |revoke: &mut dyn FnMut(bool) -> bool| match whole && if_exists {
                    true => {
                        revoke(true)
                            || (revoke(false) && {
                                lacking += 1;
                                true
                            })
                    }
                    false => revoke(whole),
                };
                let found = directory.change(name, |account| match &level {
                    Level::Global => {
                        account.revoke_global(*set);
                        if set.has(Privileges::GRANT_OPTION) {
                            account.dynamic.values_mut().for_each(|option| *option = false);
                        }
                        account.dynamic.retain(|n, _| !dynamic.contains(n));
                        true
                    }
                    Level::Schema(_) if set.is_empty() => true,
                    Level::Schema(schema) if partly => {
                        revoke_part(&mut |whole| account.revoke_schema_partly(schema, *set, whole))
                    }
                    Level::Schema(schema) => revoke_part(&mut |whole| account.revoke_schema(schema, *set, whole)),
                    Level::Routine(schema, function, routine) => {
                        revoke_part(&mut |whole| account.revoke_routine(schema, *function, routine, *set, whole))
                    }
                    Level::Table(schema, table) => {
                        let of_columns = columns.iter().all(|(column, one)| {
                            revoke_part(&mut |whole| account.revoke_column(schema, table, column, *one, whole))
                        });
                        let rest = !set.is_empty() || columns.is_empty();
                        let done = of_columns
                            && (!rest || revoke_part(&mut |whole| account.revoke_table(schema, table, *set, whole)));
                        account.note_granted(schema, table, &granted);
                        done
                    }
                });
                match found {
                    Some(true) => {
                        for _ in 0..lacking {
                            self.state.warn("Warning", refusal.code, refusal.message.clone());
                        }
                        for name in unknown {
                            self.state.push_warning("Warning", err!(ER_DYNAMIC_PRIVILEGE_NOT_REGISTERED, name));
                        }
                        Ok(())
                    }
                    Some(false) => Err(refusal),
                    None => Err(refusal),
                }
            }
            RevokeWhat::Roles(roles) => self.revoke_roles(parsed, roles, name, directory),
            RevokeWhat::Proxy(proxied) => {
                self.change_proxy(parsed, *proxied, std::slice::from_ref(name), None, directory)
            }
        }
    }
}

/// That `name` has nothing granted on the level that is revoked.
fn no_such_grant(name: &AccountName, level: &Level) -> SqlError {
    match level {
        Level::Table(_, table) => err!(ER_NONEXISTING_TABLE_GRANT, name.user, name.host, table),
        Level::Routine(_, _, routine) => err!(ER_NONEXISTING_PROC_GRANT, name.user, name.host, routine),
        _ => err!(ER_NONEXISTING_GRANT, name.user, name.host),
    }
}
