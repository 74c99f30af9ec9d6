//! Accounts, privileges and roles: information_schema's tables of them. Everybody sees what is granted to the own account; who
//! may read the schema `mysql` sees all.

use crate::{Context, Row, maybe, text, uint, word};
use accounts::{Account, AccountName, Directory, Privileges, TableGrant};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::{Result, Value};

/// Whose rights a session has, and whose it may see.
pub struct Rights {
    pub directory: Arc<Directory>,
    pub account: AccountName,
    pub active_roles: Vec<AccountName>,
    pub mandatory_roles: Vec<AccountName>,
    /// May read the schema `mysql`.
    pub sees_all: bool,
    /// May write to the schema `mysql`: sees the attributes of all accounts.
    pub sees_users: bool,
    /// CREATE USER: sees those of accounts without SYSTEM_USER, unless it has that itself.
    pub makes_users: bool,
    pub is_system: bool,
}

impl Rights {
    fn seen(&self) -> impl Iterator<Item = &Account> {
        self.directory.accounts().filter(|a| self.sees_all || a.name == self.account)
    }

    /// The active roles, and all that is granted to them.
    fn enabled(&self) -> BTreeSet<AccountName> {
        self.directory.closure(&self.active_roles)
    }

    fn is_default(&self, role: &AccountName) -> bool {
        self.directory.get(&self.account).is_some_and(|a| a.default_roles.contains(role))
    }
}

fn yes_no(b: bool) -> Value<'static> {
    word(if b { "YES" } else { "NO" })
}

/// As GRANTEE has it: `'user'@'host'`.
fn grantee(account: &Account) -> Value<'static> {
    text(account.name.to_string())
}

/// The names of privileges, USAGE when there is none. GRANT OPTION is the column IS_GRANTABLE.
fn privilege_types(privileges: Privileges) -> Vec<&'static str> {
    let names: Vec<_> = privileges.without(Privileges::GRANT_OPTION).names().collect();
    if names.is_empty() { vec!["USAGE"] } else { names }
}

fn grantable(privileges: Privileges) -> Value<'static> {
    yes_no(privileges.has(Privileges::GRANT_OPTION))
}

pub(crate) fn user_privileges(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for account in cx.viewer.rights.seen() {
        let mut row = |name: Value<'static>, grantable| out.push(vec![grantee(account), word("def"), name, grantable]);
        for name in privilege_types(account.global) {
            row(word(name), grantable(account.global));
        }
        for (name, with_grant) in &account.dynamic {
            row(text(name), yes_no(*with_grant));
        }
    }
    Ok(())
}

pub(crate) fn schema_privileges(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for account in cx.viewer.rights.seen() {
        for grant in &account.schemas {
            out.extend(privilege_types(grant.privileges).into_iter().map(|name| {
                vec![grantee(account), word("def"), text(&grant.schema), word(name), grantable(grant.privileges)]
            }));
        }
    }
    Ok(())
}

pub(crate) fn table_privileges(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for account in cx.viewer.rights.seen() {
        // A grant on columns alone is none on the table.
        for grant in account.tables.iter().filter(|g| !g.privileges.is_empty()) {
            let only_grants = grant.privileges == Privileges::GRANT_OPTION && !grant.columns.is_empty();
            for name in privilege_types(grant.privileges).into_iter().filter(|_| !only_grants) {
                let mut row = vec![grantee(account), word("def"), text(&grant.schema), text(&grant.table)];
                row.extend([word(name), grantable(grant.privileges)]);
                out.push(row);
            }
        }
    }
    Ok(())
}

pub(crate) fn column_privileges(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for account in cx.viewer.rights.seen() {
        for grant in &account.tables {
            let every = grant.columns.values().fold(Privileges::NONE, |all, p| all | *p);
            for (name, one) in every.each() {
                for (column, _) in grant.columns.iter().filter(|(_, on)| on.has(one)) {
                    let mut row = vec![grantee(account), word("def"), text(&grant.schema), text(&grant.table)];
                    row.extend([text(column), word(name), grantable(grant.privileges)]);
                    out.push(row);
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn user_attributes(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let rights = &cx.viewer.rights;
    let all = rights.sees_all || rights.sees_users;
    let others = |a: &Account| rights.makes_users && (rights.is_system || !a.dynamic.contains_key("SYSTEM_USER"));
    for account in rights.directory.accounts().filter(|a| all || a.name == rights.account || others(a)) {
        let attribute = Some(account.attribute.clone()).filter(|a| !a.is_empty());
        out.push(vec![text(&account.name.user), text(&account.name.host), maybe(attribute)]);
    }
    Ok(())
}

/// The roles of the account, and the roles of those: who has which, and may it be handed on?
fn applicable(rights: &Rights) -> Vec<(AccountName, AccountName, bool)> {
    let own = rights.directory.roles_of(&rights.account, &rights.mandatory_roles);
    let mut all = Vec::new();
    let mut holders = rights.directory.closure(&own);
    holders.insert(rights.account.clone());
    for holder in holders {
        let Some(account) = rights.directory.get(&holder) else { continue };
        let edges = account.roles.iter().map(|(role, admin)| (holder.clone(), role.clone(), *admin));
        all.extend(edges);
        if holder == rights.account {
            let more = own.iter().filter(|r| !account.roles.contains_key(*r));
            all.extend(more.map(|role| (holder.clone(), role.clone(), false)));
        }
    }
    all
}

fn role_rows(cx: &Context, keep: impl Fn(bool) -> bool, out: &mut Vec<Row>) {
    let rights = &cx.viewer.rights;
    for (holder, role, admin) in applicable(rights).into_iter().filter(|(_, _, admin)| keep(*admin)) {
        let mut row = vec![text(&rights.account.user), text(&rights.account.host)];
        row.extend([text(holder.user), text(holder.host), text(&role.user), text(&role.host), yes_no(admin)]);
        row.extend([yes_no(rights.is_default(&role)), yes_no(rights.mandatory_roles.contains(&role))]);
        out.push(row);
    }
}

pub(crate) fn applicable_roles(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    role_rows(cx, |_| true, out);
    Ok(())
}

pub(crate) fn administrable_roles(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    role_rows(cx, |admin| admin, out);
    Ok(())
}

pub(crate) fn enabled_roles(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let rights = &cx.viewer.rights;
    out.extend(rights.enabled().iter().map(|role| {
        let mandatory = rights.mandatory_roles.contains(role);
        vec![text(&role.user), text(&role.host), yes_no(rights.is_default(role)), yes_no(mandatory)]
    }));
    Ok(())
}

/// Grants on tables of the roles that are enabled.
fn role_grants(rights: &Rights) -> impl Iterator<Item = (&Account, &TableGrant)> {
    let roles: Vec<&Account> = rights.enabled().iter().filter_map(|role| rights.directory.get(role)).collect();
    roles.into_iter().flat_map(|a| a.tables.iter().map(move |g| (a, g)))
}

/// GRANTOR to TABLE_NAME. Who granted is not kept.
fn role_grant_start(account: &Account, grant: &TableGrant) -> Row {
    let mut row = vec![Value::Null, Value::Null, text(&account.name.user), text(&account.name.host)];
    row.extend([word("def"), text(&grant.schema), text(&grant.table)]);
    row
}

pub(crate) fn role_table_grants(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (account, grant) in role_grants(&cx.viewer.rights) {
        let mut row = role_grant_start(account, grant);
        row.extend([table_set(grant.privileges), grantable(grant.privileges)]);
        out.push(row);
    }
    Ok(())
}

pub(crate) fn role_column_grants(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (account, grant) in role_grants(&cx.viewer.rights) {
        for (column, on) in &grant.columns {
            let mut row = role_grant_start(account, grant);
            row.extend([text(column), column_set(*on), grantable(grant.privileges)]);
            out.push(row);
        }
    }
    Ok(())
}

/// The SET of `mysql.tables_priv.Table_priv`.
pub(crate) fn table_set(privileges: Privileges) -> Value<'static> {
    use Privileges as P;
    let members = [
        P::SELECT,
        P::INSERT,
        P::UPDATE,
        P::DELETE,
        P::CREATE,
        P::DROP,
        P::GRANT_OPTION,
        P::REFERENCES,
        P::INDEX,
        P::ALTER,
        P::CREATE_VIEW,
        P::SHOW_VIEW,
        P::TRIGGER,
    ];
    set_of(&members, privileges)
}

/// The SET of `Column_priv`.
pub(crate) fn column_set(privileges: Privileges) -> Value<'static> {
    use Privileges as P;
    set_of(&[P::SELECT, P::INSERT, P::UPDATE, P::REFERENCES], privileges)
}

fn set_of(members: &[Privileges], privileges: Privileges) -> Value<'static> {
    uint(members.iter().enumerate().map(|(i, one)| u64::from(privileges.has(*one)) << i).sum())
}
