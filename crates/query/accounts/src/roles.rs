//! Roles: accounts that are granted to accounts. What a session may do is what its account and its active roles may, and
//! the roles that are granted to those.

use crate::directory::{Account, AccountName, Directory};
use crate::privilege::Privileges;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Directory {
    /// The roles that `name` may make active: those granted to it, and the mandatory ones that exist.
    pub fn roles_of(&self, name: &AccountName, mandatory: &[AccountName]) -> BTreeSet<AccountName> {
        let own = self.get(name).into_iter().flat_map(|a| a.roles.keys());
        let mandatory = mandatory.iter().filter(|m| *m != name);
        own.chain(mandatory).filter(|r| self.get(r).is_some()).cloned().collect()
    }

    /// `roles`, and all that is granted to them.
    pub fn closure<'r>(&self, roles: impl IntoIterator<Item = &'r AccountName>) -> BTreeSet<AccountName> {
        let mut all = BTreeSet::new();
        let mut left: Vec<AccountName> = roles.into_iter().cloned().collect();
        while let Some(role) = left.pop() {
            let Some(account) = self.get(&role) else { continue };
            if all.insert(role) {
                left.extend(account.roles.keys().cloned());
            }
        }
        all
    }

    /// The account with the privileges of `active` roles added to its own; `None`: there is none of this name.
    pub fn effective(&self, name: &AccountName, active: &[AccountName]) -> Option<Arc<Account>> {
        let mut account = Arc::clone(self.shared(name)?);
        for role in self.closure(active) {
            Arc::make_mut(&mut account).add_privileges(self.get(&role).expect("the closure has what there is"));
        }
        Some(account)
    }

    /// Nobody has the account as a role any more: it is about to go.
    pub fn forget_role(&mut self, role: &AccountName) {
        self.change_all(|account| {
            account.roles.remove(role);
            account.default_roles.remove(role);
        });
    }
}

impl Account {
    fn add_privileges(&mut self, role: &Account) {
        // Restricted is only what neither of them has in a schema.
        let schemas: BTreeSet<String> = self.restrictions.keys().chain(role.restrictions.keys()).cloned().collect();
        let both = self.global | role.global;
        let left = |schema: &String| both.without(self.global_on(schema) | role.global_on(schema));
        let restrictions = schemas.iter().map(|schema| (schema.clone(), left(schema)));
        self.restrictions = restrictions.filter(|(_, left)| !left.is_empty()).collect();
        self.global = both;
        for (name, option) in &role.dynamic {
            *self.dynamic.entry(name.clone()).or_insert(false) |= option;
        }
        for grant in &role.schemas {
            self.grant_schema(&grant.schema, grant.privileges);
        }
        for grant in &role.tables {
            self.grant_table(&grant.schema, &grant.table, grant.privileges);
            for (column, privileges) in &grant.columns {
                self.grant_column(&grant.schema, &grant.table, column, *privileges);
            }
        }
        for g in &role.routines {
            self.grant_routine(&g.schema, g.function, &g.name, g.privileges, &g.granted);
        }
        // A right to hand a role on comes with the role that has it.
        for (granted, admin) in &role.roles {
            if *admin {
                self.administers.insert(granted.clone());
            }
        }
    }

    /// What the global privileges come to in one schema: partial revokes take away from them.
    pub fn global_on(&self, schema: &str) -> Privileges {
        self.restrictions.get(schema).map_or(self.global, |taken| self.global.without(*taken))
    }

    /// May it hand `role` on: WITH ADMIN OPTION?
    pub fn administers(&self, role: &AccountName) -> bool {
        self.roles.get(role) == Some(&true) || self.administers.contains(role)
    }

    /// A role as CREATE ROLE makes it: nobody can log in with it.
    pub fn new_role(name: AccountName) -> Account {
        let mut role = Account::new(name, crate::Plugin::CachingSha2);
        (role.locked, role.password_expired) = (true, true);
        role
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plugin;

    fn named(name: &str) -> AccountName {
        AccountName::new(name, "%")
    }

    #[test]
    fn an_active_role_brings_its_own_roles_and_no_others() {
        let mut directory = Directory::default();
        for role in ["reader", "writer", "chief"] {
            directory.put(Account::new_role(named(role)));
        }
        directory.put(Account::new(named("joe"), Plugin::CachingSha2));
        let grant = |d: &mut Directory, role: &str, to: &str, admin| {
            d.change(&named(to), |a| a.roles.insert(named(role), admin)).unwrap();
        };
        grant(&mut directory, "reader", "writer", true);
        grant(&mut directory, "writer", "joe", false);
        grant(&mut directory, "chief", "joe", false);
        directory.change(&named("reader"), |a| a.grant_schema("d", Privileges::SELECT)).unwrap();
        directory.change(&named("writer"), |a| a.grant_column("d", "t", "c", Privileges::UPDATE)).unwrap();
        directory.change(&named("chief"), |a| a.global = Privileges::GLOBAL).unwrap();

        let joe = directory.effective(&named("joe"), &[named("writer")]).unwrap();
        assert_eq!((joe.global, joe.schemas.len(), joe.tables.len()), (Privileges::NONE, 1, 1));
        assert!(joe.administers(&named("reader")) && !joe.administers(&named("writer")));
        let mandatory = directory.roles_of(&named("joe"), &[named("reader"), named("nobody")]);
        assert_eq!(mandatory.len(), 3, "granted and mandatory ones, as far as they exist");

        directory.forget_role(&named("writer"));
        directory.remove(&named("writer"));
        let joe = directory.effective(&named("joe"), &[named("writer")]).unwrap();
        assert!(joe.schemas.is_empty() && joe.tables.is_empty(), "a dropped role gives nothing");
    }
}
