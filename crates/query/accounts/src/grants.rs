//! GRANT, REVOKE and the text of SHOW GRANTS.

use crate::directory::{Account, AccountName, Granted, RoutineGrant, SchemaGrant, TableGrant};
use crate::privilege::Privileges;
use std::collections::BTreeMap;
use std::fmt::Write;

impl Account {
    /// GRANT ... ON `schema`.*
    pub fn grant_schema(&mut self, schema: &str, privileges: Privileges) {
        match self.schemas.iter_mut().find(|g| g.schema == schema) {
            Some(grant) => grant.privileges |= privileges,
            // USAGE leaves nothing behind.
            None if privileges.is_empty() => {}
            None => self.schemas.push(SchemaGrant { schema: schema.to_string(), privileges }),
        }
    }

    /// REVOKE ... ON `schema`.*; false: there is no such grant (error 1141), or with `whole` not of all the privileges.
    pub fn revoke_schema(&mut self, schema: &str, privileges: Privileges, whole: bool) -> bool {
        let Some(grant) = self.schemas.iter_mut().find(|g| g.schema == schema) else { return false };
        if whole && !grant.privileges.has(privileges) {
            return false;
        }
        grant.privileges = grant.privileges.without(privileges);
        self.schemas.retain(|g| !g.privileges.is_empty());
        true
    }

    /// GRANT ... ON `schema`.* while `partial_revokes` is on: what was taken away of the global privileges is there again, the rest is
    /// granted.
    pub fn grant_schema_back(&mut self, schema: &str, privileges: Privileges) {
        let lifted = self.restrictions.get(schema).copied().unwrap_or_default() & privileges;
        if let Some(taken) = self.restrictions.get_mut(schema) {
            *taken = taken.without(lifted);
        }
        self.restrictions.retain(|_, taken| !taken.is_empty());
        self.grant_schema(schema, privileges.without(lifted));
    }

    /// REVOKE ... ON `schema`.* while `partial_revokes` is on: from what was granted on the schema, and of the rest what is granted
    /// on all is taken away there, GRANT OPTION as well. False: none of the privileges is in either, or with `whole` one of them is in
    /// neither (error 1141).
    pub fn revoke_schema_partly(&mut self, schema: &str, privileges: Privileges, whole: bool) -> bool {
        let granted = self.schemas.iter().find(|g| g.schema == schema).map_or(Privileges::NONE, |g| g.privileges);
        let rest = privileges.without(granted);
        // What is taken away there already may be taken away again.
        let taken = self.restrictions.get(schema).map_or(Privileges::NONE, |taken| *taken & rest);
        let rest = rest.without(taken);
        let of_all = self.global_on(schema) & rest;
        let is_any = !of_all.is_empty() || !taken.is_empty() || !(granted & privileges).is_empty();
        if !is_any || whole && of_all != rest {
            return false;
        }
        if !(granted & privileges).is_empty() {
            self.revoke_schema(schema, granted & privileges, true);
        }
        if !of_all.is_empty() {
            *self.restrictions.entry(schema.to_string()).or_default() |= of_all;
        }
        true
    }

    /// GRANT ... ON *.* by one whose own privileges are restricted by `of_grantor`: so are those that it hands out. What it has
    /// without restriction lifts those of the account.
    pub fn grant_global(&mut self, privileges: Privileges, of_grantor: &BTreeMap<String, Privileges>) {
        let had = self.global;
        self.global |= privileges;
        let schemas: Vec<String> = self.restrictions.keys().chain(of_grantor.keys()).cloned().collect();
        for schema in schemas {
            let own = self.restrictions.get(&schema).copied().unwrap_or_default();
            let grantors = of_grantor.get(&schema).copied().unwrap_or_default() & privileges;
            // Restricted is what neither the account had there before nor the grantor can give.
            let before = own | grantors.without(had);
            let taken = before.without(privileges) | (before & grantors);
            self.restrictions.insert(schema, taken);
        }
        self.restrictions.retain(|_, taken| !taken.is_empty());
    }

    /// REVOKE ... ON *.*
    pub fn revoke_global(&mut self, privileges: Privileges) {
        self.global = self.global.without(privileges);
        self.restrictions.values_mut().for_each(|taken| *taken = taken.without(privileges));
        self.restrictions.retain(|_, taken| !taken.is_empty());
    }

    fn table_grant(&mut self, schema: &str, table: &str) -> &mut TableGrant {
        let at = self.tables.iter().position(|g| g.schema == schema && g.table == table).unwrap_or_else(|| {
            let (schema, table) = (schema.to_string(), table.to_string());
            let (privileges, columns) = (Privileges::NONE, BTreeMap::new());
            self.tables.push(TableGrant { schema, table, privileges, columns, granted: Granted::default() });
            self.tables.len() - 1
        });
        &mut self.tables[at]
    }

    /// GRANT ... ON `schema`.`table`
    pub fn grant_table(&mut self, schema: &str, table: &str, privileges: Privileges) {
        self.table_grant(schema, table).privileges |= privileges;
        self.forget_empty();
    }

    /// What is granted on `schema`.`table` as a whole, and by whom; what its columns have stays.
    pub fn put_table(&mut self, schema: &str, table: &str, privileges: Privileges, granted: Granted) {
        let grant = self.table_grant(schema, table);
        (grant.privileges, grant.granted) = (privileges, granted);
    }

    /// Notes who has changed what is granted on `schema`.`table`, if anything is left of it.
    pub fn note_granted(&mut self, schema: &str, table: &str, granted: &Granted) {
        if let Some(grant) = self.tables.iter_mut().find(|g| g.schema == schema && g.table == table) {
            grant.granted = granted.clone();
        }
    }

    /// GRANT privilege (`column`) ON `schema`.`table`
    pub fn grant_column(&mut self, schema: &str, table: &str, column: &str, privileges: Privileges) {
        *self.table_grant(schema, table).columns.entry(column.to_string()).or_default() |= privileges;
    }

    /// REVOKE ... ON `schema`.`table`, from its columns too; false: there is no such grant (error 1147), or with `whole` not
    /// of all the privileges.
    pub fn revoke_table(&mut self, schema: &str, table: &str, privileges: Privileges, whole: bool) -> bool {
        let grant = self.tables.iter_mut().find(|g| g.schema == schema && g.table == table);
        let Some(grant) = grant else { return false };
        if whole && !grant.columns.values().fold(grant.privileges, |all, one| all | *one).has(privileges) {
            return false;
        }
        grant.privileges = grant.privileges.without(privileges);
        grant.columns.values_mut().for_each(|on| *on = on.without(privileges));
        self.forget_empty();
        true
    }

    /// REVOKE privilege (`column`) ON `schema`.`table`; false: there is no such grant (error 1147), or with `whole` not of
    /// all the privileges.
    pub fn revoke_column(
        &mut self,
        schema: &str,
        table: &str,
        column: &str,
        privileges: Privileges,
        whole: bool,
    ) -> bool {
        let Some(grant) = self.tables.iter_mut().find(|g| g.schema == schema && g.table == table) else { return false };
        let Some(on) = grant.columns.get_mut(column).filter(|on| !whole || on.has(privileges)) else { return !whole };
        *on = on.without(privileges);
        self.forget_empty();
        true
    }

    /// GRANT ... ON PROCEDURE, or FUNCTION, `schema`.`name`
    pub fn grant_routine(
        &mut self,
        schema: &str,
        function: bool,
        name: &str,
        privileges: Privileges,
        granted: &Granted,
    ) {
        match self.routines.iter_mut().find(|g| g.is_on(schema, function, name)) {
            Some(grant) => {
                grant.privileges |= privileges;
                grant.granted = granted.clone();
            }
            None if privileges.is_empty() => {}
            None => self.routines.push(RoutineGrant {
                schema: schema.to_string(),
                function,
                name: name.to_string(),
                privileges,
                granted: granted.clone(),
            }),
        }
    }

    /// REVOKE of the same; false: there is no such grant (error 1403), or with `whole` not of all the privileges.
    pub fn revoke_routine(
        &mut self,
        schema: &str,
        function: bool,
        name: &str,
        privileges: Privileges,
        whole: bool,
    ) -> bool {
        let grant = self.routines.iter_mut().find(|g| g.is_on(schema, function, name));
        let Some(grant) = grant.filter(|g| !whole || g.privileges.has(privileges)) else { return false };
        grant.privileges = grant.privileges.without(privileges);
        self.routines.retain(|g| !g.privileges.is_empty());
        true
    }

    /// The routine is gone. True: something was granted on it.
    pub fn forget_routine(&mut self, schema: &str, function: bool, name: &str) -> bool {
        let before = self.routines.len();
        self.routines.retain(|g| !g.is_on(schema, function, name));
        self.routines.len() < before
    }

    /// Grants on tables that grant nothing leave nothing behind.
    pub fn forget_empty(&mut self) {
        for grant in &mut self.tables {
            grant.columns.retain(|_, on| !on.is_empty());
        }
        self.tables.retain(|g| !g.privileges.is_empty() || !g.columns.is_empty());
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION: roles and proxies stay.
    pub fn revoke_everything(&mut self) {
        self.global = Privileges::NONE;
        self.dynamic.clear();
        self.schemas.clear();
        self.restrictions.clear();
        self.tables.clear();
        self.routines.clear();
    }

    /// The rows of SHOW GRANTS.
    pub fn show_grants(&self) -> Vec<String> {
        let to = format!("TO {}", quoted_account(&self.name));
        // ON *.* the privileges are spelt out even when they are all there.
        let mut rows = vec![grant(self.global, Privileges(0), None, "*.*", &to)];
        for with_grant in [false, true] {
            let names: Vec<&str> =
                self.dynamic.iter().filter(|(_, g)| **g == with_grant).map(|(n, _)| n.as_str()).collect();
            if !names.is_empty() {
                let option = if with_grant { " WITH GRANT OPTION" } else { "" };
                rows.push(format!("GRANT {} ON *.* {to}{option}", names.join(",")));
            }
        }
        for g in &self.schemas {
            rows.push(grant(g.privileges, Privileges::SCHEMA, None, &format!("{}.*", quoted(&g.schema)), &to));
        }
        for (schema, taken) in &self.restrictions {
            // MySQL has no word for GRANT OPTION here.
            let names: Vec<&str> = taken.without(Privileges::GRANT_OPTION).names().collect();
            let from = quoted_account(&self.name);
            rows.push(format!("REVOKE {} ON {}.* FROM {from}", names.join(", "), quoted(schema)));
        }
        let named = |g: &TableGrant| format!("{}.{}", quoted(&g.schema), quoted(&g.table));
        let mut tables: Vec<(String, &TableGrant)> = self.tables.iter().map(|g| (named(g), g)).collect();
        tables.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (on, g) in tables {
            rows.push(grant(g.privileges, Privileges::TABLE, Some(&g.columns), &on, &to));
        }
        let mut routines: Vec<(bool, String, Privileges)> = Vec::with_capacity(self.routines.len());
        for g in &self.routines {
            let on = format!("{}.{}", quoted(&g.schema), quoted(&g.name.to_lowercase()));
            routines.push((g.function, on, g.privileges));
        }
        routines.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (function, on, privileges) in routines {
            let kind = if function { "FUNCTION" } else { "PROCEDURE" };
            let option = if privileges.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
            let mut names: Vec<&str> = Vec::new();
            for (word, one) in [("EXECUTE", Privileges::EXECUTE), ("ALTER ROUTINE", Privileges::ALTER_ROUTINE)] {
                if privileges.has(one) {
                    names.push(word);
                }
            }
            let names = if names.is_empty() { "USAGE".to_string() } else { names.join(", ") };
            rows.push(format!("GRANT {names} ON {kind} {on} {to}{option}"));
        }
        for (name, proxy) in &self.proxies {
            let option = if proxy.with_grant { " WITH GRANT OPTION" } else { "" };
            rows.push(format!("GRANT PROXY ON {} {to}{option}", quoted_account(name)));
        }
        for with_admin in [false, true] {
            let roles: Vec<String> =
                self.roles.iter().filter(|(_, admin)| **admin == with_admin).map(|(r, _)| quoted_account(r)).collect();
            if !roles.is_empty() {
                let option = if with_admin { " WITH ADMIN OPTION" } else { "" };
                rows.push(format!("GRANT {} {to}{option}", roles.join(",")));
            }
        }
        rows
    }
}

/// One row. `all` is what ALL PRIVILEGES stands for at this level (empty: it is not written).
fn grant(
    privileges: Privileges,
    all: Privileges,
    columns: Option<&BTreeMap<String, Privileges>>,
    on: &str,
    to: &str,
) -> String {
    let named = privileges.without(Privileges::GRANT_OPTION);
    let mut row = String::from("GRANT ");
    let of_columns = columns.map_or(Privileges::NONE, |c| c.values().fold(Privileges::NONE, |all, p| all | *p));
    let every = named | of_columns;
    if every.is_empty() {
        row.push_str("USAGE");
    } else if of_columns.is_empty() && named == all.without(Privileges::GRANT_OPTION) {
        row.push_str("ALL PRIVILEGES");
    } else {
        let word = |(name, one): (&str, Privileges)| match columns {
            Some(columns) if of_columns.has(one) => {
                let list: Vec<String> =
                    columns.iter().filter(|(_, on)| on.has(one)).map(|(column, _)| quoted(column)).collect();
                let on_columns = format!("{name} ({})", list.join(", "));
                // Both are kept when both were granted.
                if named.has(one) { format!("{name}, {on_columns}") } else { on_columns }
            }
            _ => name.to_string(),
        };
        let names: Vec<String> = every.each().map(word).collect();
        row.push_str(&names.join(", "));
    }
    write!(row, " ON {on} {to}").expect("a String takes everything");
    if privileges.has(Privileges::GRANT_OPTION) {
        row.push_str(" WITH GRANT OPTION");
    }
    row
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// `` `user`@`host` ``
pub fn quoted_account(name: &AccountName) -> String {
    format!("{}@{}", quoted(&name.user), quoted(&name.host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccountName, Directory, Plugin, ProxyGrant};

    #[test]
    fn show_grants_prints_mysqls_text() {
        let mut joe = Account::new(AccountName::new("jo`e", "%"), Plugin::CachingSha2);
        assert_eq!(joe.show_grants(), ["GRANT USAGE ON *.* TO `jo``e`@`%`"]);
        joe.grant_schema("db", Privileges::SCHEMA);
        joe.grant_table("x", "t", Privileges::INSERT);
        joe.grant_table("x", "t", Privileges::SELECT);
        assert_eq!(
            joe.show_grants()[1..],
            [
                "GRANT ALL PRIVILEGES ON `db`.* TO `jo``e`@`%` WITH GRANT OPTION",
                "GRANT SELECT, INSERT ON `x`.`t` TO `jo``e`@`%`"
            ]
        );
        assert!(
            joe.revoke_schema("db", Privileges::SCHEMA, false) && !joe.revoke_schema("db", Privileges::SELECT, false)
        );
        assert!(joe.revoke_table("x", "t", Privileges::INSERT, true));
        assert_eq!(joe.show_grants()[1..], ["GRANT SELECT ON `x`.`t` TO `jo``e`@`%`"]);

        let directory = Directory::bootstrap("");
        let root = directory.get(&AccountName::new("root", "localhost")).unwrap().show_grants();
        assert!(root[0].starts_with(
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, SHUTDOWN, PROCESS, FILE, REFERENCES, "
        ));
        assert!(root[0].ends_with("CREATE ROLE, DROP ROLE ON *.* TO `root`@`localhost` WITH GRANT OPTION"));
        assert!(root[1].starts_with("GRANT ALLOW_NONEXISTENT_DEFINER,APPLICATION_PASSWORD_ADMIN,"));
    }

    #[test]
    fn partial_revokes_take_away_and_are_handed_on() {
        let mut joe = Account::new(AccountName::new("u", "%"), Plugin::CachingSha2);
        joe.grant_global(Privileges::SELECT | Privileges::INSERT, &BTreeMap::new());
        assert!(
            joe.revoke_schema_partly("d", Privileges::INSERT, true)
                && !joe.revoke_schema_partly("d", Privileges::DELETE, true)
        );
        joe.grant_schema("e", Privileges::SELECT);
        assert!(joe.revoke_schema_partly("e", Privileges::SELECT, true), "from the schema's grant first");
        assert_eq!(joe.show_grants()[1..], ["REVOKE INSERT ON `d`.* FROM `u`@`%`"]);
        assert_eq!((joe.global_on("d"), joe.global_on("e")), (Privileges::SELECT, joe.global));

        let mut ann = Account::new(AccountName::new("ann", "%"), Plugin::CachingSha2);
        ann.grant_global(Privileges::INSERT, &joe.restrictions);
        assert_eq!(ann.global_on("d"), Privileges::NONE, "nobody grants more than it has");
        ann.grant_schema_back("d", Privileges::INSERT | Privileges::DELETE);
        assert_eq!((ann.global_on("d"), ann.schemas[0].privileges), (Privileges::INSERT, Privileges::DELETE));
        joe.grant_global(Privileges::INSERT, &BTreeMap::new());
        assert!(joe.restrictions.is_empty());
    }

    #[test]
    fn columns_roles_and_proxies_are_shown_behind_the_rest() {
        let mut joe = Account::new(AccountName::new("u", "%"), Plugin::CachingSha2);
        for (column, privilege) in [("b", Privileges::SELECT), ("a", Privileges::SELECT), ("b", Privileges::INSERT)] {
            joe.grant_column("db", "t", column, privilege);
        }
        joe.grant_table("db", "t", Privileges::DELETE);
        joe.global = Privileges::GRANT_OPTION;
        joe.proxies.insert(AccountName::new("root", "%"), ProxyGrant { with_grant: true, ..ProxyGrant::default() });
        joe.roles.insert(AccountName::new("r2", "%"), true);
        joe.roles.insert(AccountName::new("r1", "%"), false);
        assert_eq!(
            joe.show_grants(),
            [
                "GRANT USAGE ON *.* TO `u`@`%` WITH GRANT OPTION",
                "GRANT SELECT (`a`, `b`), INSERT (`b`), DELETE ON `db`.`t` TO `u`@`%`",
                "GRANT PROXY ON `root`@`%` TO `u`@`%` WITH GRANT OPTION",
                "GRANT `r1`@`%` TO `u`@`%`",
                "GRANT `r2`@`%` TO `u`@`%` WITH ADMIN OPTION",
            ]
        );
        assert!(
            joe.revoke_column("db", "t", "b", Privileges::INSERT, true)
                && joe.revoke_table("db", "t", Privileges::TABLE, false)
        );
        assert!(joe.tables.is_empty(), "REVOKE of the table's privileges takes those of its columns too");
    }
}
