//! Roles: CREATE ROLE, DROP ROLE, GRANT and REVOKE of roles and proxies, SET ROLE, SET DEFAULT ROLE.

use crate::needs::Action;
use crate::session::Session;
use crate::variables::{VarId, id};
use accounts::{AccountName, Directory, Privileges, quoted_account};
use expr::Env;
use sql::ast::{Account, Parsed, RoleSelection, Str};
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError, err};

pub(crate) const MANDATORY_ROLES: VarId = id("mandatory_roles");
const ACTIVATE_ALL: VarId = id("activate_all_roles_on_login");

/// The accounts of a list as `mandatory_roles` has it: names with or without quotes, which may hold what SQL has to quote. Error 1064.
pub(crate) fn role_list(text: &str) -> Result<Vec<AccountName>> {
    let mut roles = Vec::new();
    let mut rest = Some(text).filter(|text| !text.is_empty());
    while let Some(item) = rest {
        let (user, behind) = name_in_list(item)?;
        let (host, behind) = match behind.strip_prefix('@') {
            Some(behind) => name_in_list(behind)?,
            None => (String::new(), behind),
        };
        rest = behind.strip_prefix(',');
        if user.is_empty() || (rest.is_none() && !behind.is_empty()) {
            return Err(types::error::syntax_error());
        }
        roles.push(AccountName::new(user, &host));
    }
    Ok(roles)
}

/// The name that the text begins with, up to `@` or a comma where it is not quoted, and what follows.
fn name_in_list(text: &str) -> Result<(String, &str)> {
    const QUOTES: [char; 3] = ['`', '\'', '"'];
    let text = text.trim_start();
    let Some(quote) = text.chars().next().filter(|c| QUOTES.contains(c)) else {
        let (name, rest) = text.split_at(text.find(['@', ',']).unwrap_or(text.len()));
        return match name.contains(QUOTES) {
            true => Err(types::error::syntax_error()),
            false => Ok((name.trim_end().to_string(), rest)),
        };
    };
    let (mut name, mut rest) = (String::new(), &text[1..]);
    loop {
        let (part, behind) = rest.split_once(quote).ok_or_else(types::error::syntax_error)?;
        name.push_str(part);
        match behind.strip_prefix(quote) {
            Some(more) => {
                name.push(quote);
                rest = more;
            }
            None => return Ok((name, behind.trim_start())),
        }
    }
}

/// Roles are never CURRENT_USER.
fn named(parsed: &Parsed, account: Account) -> AccountName {
    let text = |s| String::from_utf8_lossy(parsed.bytes(s)).into_owned();
    match account {
        Account::Named { user, host } => AccountName::new(text(user), &host.map(text).unwrap_or_default()),
        Account::Current => unreachable!("the parser reads no CURRENT_USER as a role"),
    }
}

fn not_granted(role: &AccountName, to: &AccountName) -> SqlError {
    err!(ER_ROLE_NOT_GRANTED, role.user, role.host, to.user, to.host)
}

/// Whoever has no name is nobody's role. Error 3524.
pub(crate) fn refuse_anonymous<'r>(roles: impl IntoIterator<Item = &'r AccountName>, to: &AccountName) -> Result<()> {
    match roles.into_iter().find(|role| role.user.is_empty()) {
        Some(role) => Err(err!(ER_FAILED_ROLE_GRANT, accounts::quoted_account(role), accounts::quoted_account(to))),
        None => Ok(()),
    }
}

fn unknown(name: &AccountName) -> SqlError {
    err!(ER_UNKNOWN_AUTHID, name.user, name.host)
}

impl crate::Server {
    /// Of an option: it cannot be read. Error 1231.
    pub(crate) fn check_mandatory_roles(&self) -> Result<()> {
        let globals = self.globals.load();
        let text = globals.text(MANDATORY_ROLES);
        role_list(text).map(drop).map_err(|_| err!(ER_WRONG_VALUE_FOR_VAR, "mandatory_roles", text))
    }

    /// What `mandatory_roles` says now.
    pub(crate) fn mandatory_roles(&self) -> Vec<AccountName> {
        let globals = self.globals.load();
        role_list(globals.text(MANDATORY_ROLES)).expect("checked at the start, and when it was set")
    }
}

impl Session {
    /// What `mandatory_roles` says now.
    pub(crate) fn mandatory_roles(&self) -> Vec<AccountName> {
        self.server.mandatory_roles()
    }

    /// Error 3628 for a role that everybody has.
    pub(crate) fn refuse_mandatory(&self, name: &AccountName) -> Result<()> {
        if self.mandatory_roles().contains(name) { Err(err!(ER_MANDATORY_ROLE, name.user, name.host)) } else { Ok(()) }
    }

    pub(crate) fn create_roles(
        &mut self,
        parsed: &Parsed,
        if_not_exists: bool,
        roles: &[Account],
        directory: &mut Directory,
    ) -> Result<()> {
        self.need(Action::CreateRole)?;
        let mut failed = Vec::new();
        for role in roles {
            let name = named(parsed, *role);
            self.may_change(&name, directory)?;
            if directory.get(&name).is_some() && (if_not_exists || !name.user.is_empty()) {
                failed.push(name);
            } else if name.user.is_empty() {
                return Err(err!(ER_CANNOT_USER, "CREATE ROLE", "anonymous user"));
            } else {
                self.check_definer("CREATE ROLE", &name)?;
                directory.put(accounts::Account::new_role(name));
            }
        }
        if !failed.is_empty() && !if_not_exists {
            return Err(err!(ER_CANNOT_USER, "CREATE ROLE", list(&failed)));
        }
        for name in failed {
            self.state.push_warning("Note", err!(ER_USER_ALREADY_EXISTS, name));
        }
        Ok(())
    }

    pub(crate) fn drop_roles(
        &mut self,
        parsed: &Parsed,
        if_exists: bool,
        roles: &[Account],
        directory: &mut Directory,
    ) -> Result<()> {
        self.need(Action::DropRole)?;
        let names: Vec<AccountName> = roles.iter().map(|r| named(parsed, *r)).collect();
        // DROP ROLE drops what nobody logs in with; others are for who drops users.
        let is_user = |name: &&AccountName| directory.get(name).is_some_and(|a| !a.locked);
        if names.iter().any(|name| is_user(&name)) {
            self.need(Action::DropUser)?;
        }
        self.drop_accounts("DROP ROLE", if_exists, &names, directory)
    }

    /// GRANT role TO account.
    pub(crate) fn grant_roles(
        &mut self,
        parsed: &Parsed,
        roles: &[Account],
        to: &[Account],
        with_admin: bool,
        directory: &mut Directory,
    ) -> Result<()> {
        let roles: Vec<AccountName> = roles.iter().map(|r| named(parsed, *r)).collect();
        self.may_hand_on(&roles)?;
        // Everybody has them, roles too.
        let mandatory = self.mandatory_roles();
        for account in to {
            let name = self.name_of(parsed, *account);
            if name.user.is_empty() {
                return Err(err!(ER_CANNOT_GRANT_ROLES_TO_ANONYMOUS_USER));
            }
            refuse_anonymous(&roles, &name)?;
            if directory.get(&name).is_none() {
                return Err(unknown(&name));
            }
            for role in &roles {
                if directory.get(role).is_none() {
                    return Err(unknown(role));
                }
                self.may_change(role, directory)?;
                self.may_change(&name, directory)?;
                if directory.closure(mandatory.iter().chain([role])).contains(&name) {
                    return Err(err!(ER_ROLE_GRANTED_TO_ITSELF, name.user, name.host, role.user, role.host));
                }
                directory.change(&name, |a| *a.roles.entry(role.clone()).or_insert(false) |= with_admin);
            }
        }
        Ok(())
    }

    /// REVOKE role FROM account; one that was not granted is no error.
    pub(crate) fn revoke_roles(
        &mut self,
        parsed: &Parsed,
        roles: &[Account],
        from: &AccountName,
        directory: &mut Directory,
    ) -> Result<()> {
        let roles: Vec<AccountName> = roles.iter().map(|r| named(parsed, *r)).collect();
        self.may_hand_on(&roles)?;
        if directory.get(from).is_none() {
            return Err(unknown(from));
        }
        for role in &roles {
            self.refuse_mandatory(role)?;
            if directory.get(role).is_none() {
                return Err(unknown(role));
            }
            self.may_change(role, directory)?;
            self.may_change(from, directory)?;
            directory.change(from, |a| {
                a.roles.remove(role);
                a.default_roles.remove(role);
            });
        }
        Ok(())
    }

    /// The account that GRANT PROXY and REVOKE PROXY name.
    pub(crate) fn proxied(&self, parsed: &Parsed, named: Account) -> AccountName {
        let nothing = |s: Str| parsed.bytes(s).is_empty();
        match named {
            Account::Named { user, host: Some(host) } if nothing(user) && nothing(host) => AccountName::of_all(),
            named => self.name_of(parsed, named),
        }
    }

    /// What was granted on the anonymous account of no host is granted on all: root has it from the start. On itself an account
    /// grants it without having it. Error 1698.
    pub(crate) fn may_change_proxy(&self, proxied: &AccountName) -> Result<()> {
        let all = AccountName::of_all();
        let own = self.access().account();
        let may = |on: &AccountName| own.proxies.get(on).is_some_and(|proxy| proxy.with_grant);
        match *proxied == own.name || may(proxied) || may(&all) {
            true => Ok(()),
            false => Err(err!(ER_ACCESS_DENIED_NO_PASSWORD_ERROR, own.name.user, self.access().client_host())),
        }
    }

    /// GRANT PROXY ON proxied TO account; `grant` false: REVOKE.
    pub(crate) fn change_proxy(
        &mut self,
        parsed: &Parsed,
        proxied: Account,
        names: &[AccountName],
        grant: Option<bool>,
        directory: &mut Directory,
    ) -> Result<()> {
        let proxied = self.proxied(parsed, proxied);
        self.may_change_proxy(&proxied)?;
        let granted = self.granted();
        for name in names {
            let changed = directory.change(name, |account| match grant {
                Some(with_grant) => {
                    // As MySQL has it, the right to hand a proxy on is that of the account as a whole.
                    if with_grant {
                        account.global |= Privileges::GRANT_OPTION;
                    }
                    let proxy = account.proxies.entry(proxied.clone()).or_default();
                    proxy.with_grant |= with_grant;
                    proxy.granted = granted.clone();
                    true
                }
                None => account.proxies.remove(&proxied).is_some(),
            });
            match (changed, grant) {
                (Some(true), _) => {}
                (_, Some(_)) => return Err(err!(ER_CANT_CREATE_USER_WITH_GRANT)),
                (_, None) => return Err(err!(ER_NONEXISTING_GRANT, name.user, name.host)),
            }
        }
        Ok(())
    }

    /// SET DEFAULT ROLE, and DEFAULT ROLE of ALTER USER.
    pub(crate) fn set_default_roles(
        &mut self,
        parsed: &Parsed,
        selection: &RoleSelection,
        users: &[AccountName],
        directory: &mut Directory,
    ) -> Result<()> {
        let mandatory = self.mandatory_roles();
        for user in users {
            self.may_change(user, directory)?;
            if *user != self.access().account().name {
                self.need(Action::GiveDefaultRole)?;
            }
            let granted = directory.roles_of(user, &mandatory);
            let chosen = match selection {
                RoleSelection::None | RoleSelection::Default => Vec::new(),
                RoleSelection::All { .. } => granted.into_iter().collect(),
                RoleSelection::Roles(roles) => {
                    let roles: Vec<AccountName> = roles.iter().map(|r| named(parsed, *r)).collect();
                    if let Some(missing) = roles.iter().find(|r| !granted.contains(*r)) {
                        return Err(not_granted(missing, user));
                    }
                    roles
                }
            };
            let changed = directory.change(user, |a| a.default_roles = chosen.into_iter().collect());
            // As in MySQL, one that is not there may have none.
            if changed.is_none() && !matches!(selection, RoleSelection::None) {
                return Err(unknown(user));
            }
        }
        Ok(())
    }

    /// SET ROLE. Error 3530.
    pub(crate) fn set_role(&mut self, parsed: &Parsed, selection: &RoleSelection) -> Result<()> {
        let mandatory = self.mandatory_roles();
        let own = self.access().account().name.clone();
        let directory = self.server.accounts.directory();
        let granted = directory.roles_of(&own, &mandatory);
        let chosen: Vec<AccountName> = match selection {
            RoleSelection::None => Vec::new(),
            RoleSelection::Default => default_roles(&directory, &own, &mandatory),
            RoleSelection::All { except } => {
                let except: Vec<AccountName> = except.iter().map(|r| named(parsed, *r)).collect();
                granted.into_iter().filter(|r| !except.contains(r)).collect()
            }
            RoleSelection::Roles(roles) => {
                let roles: Vec<AccountName> = roles.iter().map(|r| named(parsed, *r)).collect();
                if let Some(missing) = roles.iter().find(|r| !granted.contains(*r)) {
                    return Err(not_granted(missing, &own));
                }
                roles
            }
        };
        self.activate(chosen, mandatory);
        Ok(())
    }

    /// A login: the default roles, or all with `activate_all_roles_on_login`.
    pub(crate) fn activate_login_roles(&mut self) {
        let mandatory = self.mandatory_roles();
        let own = self.access().account().name.clone();
        let directory = self.server.accounts.directory();
        let chosen = match self.server.globals.load().bool(ACTIVATE_ALL) {
            true => directory.roles_of(&own, &mandatory).into_iter().collect(),
            false => default_roles(&directory, &own, &mandatory),
        };
        self.activate(chosen, mandatory);
    }

    fn activate(&mut self, mut roles: Vec<AccountName>, mandatory: Vec<AccountName>) {
        roles.sort();
        roles.dedup();
        self.access.as_mut().expect("statements come after the login").set_roles(roles, mandatory);
        self.programs.sets_roles = !self.programs.calls.is_empty();
        self.show_roles();
        self.note_privileges();
        // Which tables there are to see may differ.
        self.plans.clear();
    }

    /// CURRENT_ROLE(), and whether LOAD_FILE() reads, follow the roles that are active.
    pub(crate) fn show_roles(&mut self) {
        self.state.reads_files = crate::needs::may(self.access(), Action::ReadFile);
        self.state.current_role = roles_shown(self.access());
    }

    /// The access of an account as SHOW GRANTS ... USING sees it. Error 3530.
    pub(crate) fn with_roles(
        &self,
        directory: &Arc<Directory>,
        name: &AccountName,
        using: &[AccountName],
    ) -> Result<Arc<accounts::Account>> {
        let granted = directory.roles_of(name, &self.mandatory_roles());
        if let Some(missing) = using.iter().find(|r| !granted.contains(*r)) {
            return Err(not_granted(missing, name));
        }
        directory.effective(name, using).ok_or_else(|| err!(ER_NONEXISTING_GRANT, name.user, name.host))
    }
}

/// The default roles of an account, as far as it has them.
pub(crate) fn default_roles(directory: &Directory, name: &AccountName, mandatory: &[AccountName]) -> Vec<AccountName> {
    let granted = directory.roles_of(name, mandatory);
    let account = directory.get(name);
    account.into_iter().flat_map(|a| &a.default_roles).filter(|r| granted.contains(*r)).cloned().collect()
}

pub(crate) fn list(names: &[AccountName]) -> String {
    names.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

/// CURRENT_ROLE().
pub(crate) fn roles_shown(access: &accounts::Access) -> String {
    let names: Vec<String> = access.active_roles().iter().map(quoted_account).collect();
    if names.is_empty() { "NONE".to_string() } else { names.join(",") }
}
