//! GRANT, REVOKE and the text of SHOW GRANTS.

use crate::directory::{Account, SchemaGrant, TableGrant};
use crate::privilege::Privileges;
use std::fmt::Write;

impl Account {
    /// GRANT ... ON `schema`.*
    pub fn grant_schema(&mut self, schema: &str, privileges: Privileges) {
        match self.schemas.iter_mut().find(|g| g.schema == schema) {
            Some(grant) => grant.privileges |= privileges,
            None => self.schemas.push(SchemaGrant { schema: schema.to_string(), privileges }),
        }
    }

    /// REVOKE ... ON `schema`.*; false: there is no such grant (error 1141).
    pub fn revoke_schema(&mut self, schema: &str, privileges: Privileges) -> bool {
        let Some(grant) = self.schemas.iter_mut().find(|g| g.schema == schema) else { return false };
        grant.privileges = grant.privileges.without(privileges);
        self.schemas.retain(|g| !g.privileges.is_empty());
        true
    }

    /// GRANT ... ON `schema`.`table`
    pub fn grant_table(&mut self, schema: &str, table: &str, privileges: Privileges) {
        match self.tables.iter_mut().find(|g| g.schema == schema && g.table == table) {
            Some(grant) => grant.privileges |= privileges,
            None => self.tables.push(TableGrant { schema: schema.into(), table: table.into(), privileges }),
        }
    }

    /// REVOKE ... ON `schema`.`table`; false: there is no such grant (error 1147).
    pub fn revoke_table(&mut self, schema: &str, table: &str, privileges: Privileges) -> bool {
        let grant = self.tables.iter_mut().find(|g| g.schema == schema && g.table == table);
        let Some(grant) = grant else { return false };
        grant.privileges = grant.privileges.without(privileges);
        self.tables.retain(|g| !g.privileges.is_empty());
        true
    }

    /// The rows of SHOW GRANTS.
    pub fn show_grants(&self) -> Vec<String> {
        let to = format!("TO {}@{}", quoted(&self.name.user), quoted(&self.name.host));
        // ON *.* the privileges are spelt out even when they are all there.
        let mut rows = vec![grant(self.global, Privileges(0), "*.*", &to)];
        for with_grant in [false, true] {
            let names: Vec<&str> =
                self.dynamic.iter().filter(|(_, g)| **g == with_grant).map(|(n, _)| n.as_str()).collect();
            if !names.is_empty() {
                let option = if with_grant { " WITH GRANT OPTION" } else { "" };
                rows.push(format!("GRANT {} ON *.* {to}{option}", names.join(",")));
            }
        }
        for g in &self.schemas {
            rows.push(grant(g.privileges, Privileges::SCHEMA, &format!("{}.*", quoted(&g.schema)), &to));
        }
        for g in &self.tables {
            let on = format!("{}.{}", quoted(&g.schema), quoted(&g.table));
            rows.push(grant(g.privileges, Privileges::TABLE, &on, &to));
        }
        rows
    }
}

/// One row. `all` is what ALL PRIVILEGES stands for at this level (empty: it is not written).
fn grant(privileges: Privileges, all: Privileges, on: &str, to: &str) -> String {
    let named = privileges.without(Privileges::GRANT_OPTION);
    let mut row = String::from("GRANT ");
    if named.is_empty() {
        row.push_str("USAGE");
    } else if named == all.without(Privileges::GRANT_OPTION) {
        row.push_str("ALL PRIVILEGES");
    } else {
        let names: Vec<&str> = named.names().collect();
        row.push_str(&names.join(", "));
    }
    write!(row, " ON {on} {to}").expect("a String takes everything");
    if privileges.has(Privileges::GRANT_OPTION) {
        row.push_str(" WITH GRANT OPTION");
    }
    row
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccountName, Directory, Plugin};

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
        assert!(joe.revoke_schema("db", Privileges::SCHEMA) && !joe.revoke_schema("db", Privileges::SELECT));
        assert!(joe.revoke_table("x", "t", Privileges::INSERT));
        assert_eq!(joe.show_grants()[1..], ["GRANT SELECT ON `x`.`t` TO `jo``e`@`%`"]);

        let directory = Directory::bootstrap("");
        let root = directory.get(&AccountName::new("root", "localhost")).unwrap().show_grants();
        assert!(root[0].starts_with(
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, SHUTDOWN, PROCESS, FILE, REFERENCES, "
        ));
        assert!(root[0].ends_with("CREATE ROLE, DROP ROLE ON *.* TO `root`@`localhost` WITH GRANT OPTION"));
        assert!(root[1].starts_with("GRANT ALLOW_NONEXISTENT_DEFINER,APPLICATION_PASSWORD_ADMIN,"));
    }
}
