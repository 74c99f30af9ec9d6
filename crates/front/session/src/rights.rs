//! The privileges that a planned statement needs: its session's on what it names, and for what views are made of the
//! definer's or the session's.

use crate::command::Session;
use accounts::{Access, AccountName, Privileges};
use exec::{Prepared, TableUse, ViewRight};
use types::{Result, err};

/// All that planned statements can ask for.
const CHANGES: Privileges =
    Privileges(Privileges::SELECT.0 | Privileges::INSERT.0 | Privileges::UPDATE.0 | Privileges::DELETE.0);

/// The privileges on a table that its use needs.
fn wanted(t: &TableUse) -> Privileges {
    let mut wanted = Privileges::NONE;
    for (used, privilege) in [
        (t.read || !t.columns.read.is_empty(), Privileges::SELECT),
        (t.insert, Privileges::INSERT),
        (t.update, Privileges::UPDATE),
        (t.delete, Privileges::DELETE),
    ] {
        if used {
            wanted |= privilege;
        }
    }
    wanted
}

/// The use of one table by an account that does not have all privileges globally. Errors 1142, 1143.
#[cold]
fn check_use(access: &Access, t: &TableUse) -> Result<()> {
    let (schema, table) = (t.schema.as_str(), t.table.as_str());
    if t.delete {
        access.check_table(Privileges::DELETE, schema, table)?;
    }
    let columns = &t.columns;
    if t.insert {
        access.check_columns(Privileges::INSERT, schema, table, &columns.insert, columns.inserts_all)?;
    }
    if t.update {
        access.check_columns(Privileges::UPDATE, schema, table, &columns.update, false)?;
    }
    if t.read {
        access.check_columns(Privileges::SELECT, schema, table, &columns.read, columns.reads_all)?;
        return if t.for_update { check_for_update(access, schema, table) } else { Ok(()) };
    }
    // A table that is written, not one of FROM: it is the column that is denied.
    let denied = |c: &&String| !access.column(schema, table, c).has(Privileges::SELECT);
    match columns.read.iter().find(denied) {
        None => Ok(()),
        Some(column) => Err(access.denied_column(Privileges::SELECT, table, column)),
    }
}

/// SELECT ... FOR UPDATE needs one of the privileges to change or lock the table, too. Error 1142.
fn check_for_update(access: &Access, schema: &str, table: &str) -> Result<()> {
    let held = access.table_or_columns(schema, table);
    if held.has(Privileges::UPDATE) || held.has(Privileges::DELETE) || held.has(Privileges::LOCK_TABLES) {
        return Ok(());
    }
    Err(access.denied_locking(table))
}

impl Session {
    /// One bit test while the account has its privileges globally and no view is used. Errors 1142, 1143, 1356, 1449.
    #[inline]
    pub(crate) fn check_rights(&mut self, prepared: &Prepared) -> Result<()> {
        if self.access().global().has(CHANGES) && prepared.rights().is_empty() {
            return Ok(());
        }
        self.check_rights_slow(prepared)
    }

    fn check_rights_slow(&mut self, prepared: &Prepared) -> Result<()> {
        let access = self.access();
        for t in prepared.tables().iter().filter(|t| !t.temporary) {
            if t.for_update || !access.global().has(wanted(t)) {
                check_use(access, t)?;
            }
        }
        prepared.rights().iter().try_for_each(|right| self.check_view(right, prepared.tables()))
    }

    /// A view's right on one of the tables that it is made of.
    fn check_view(&mut self, right: &ViewRight, tables: &[TableUse]) -> Result<()> {
        let used = right.as_view.and_then(|id| tables.iter().find(|t| t.id == id));
        let mut needed = used.map_or(Privileges::NONE, wanted);
        if right.read {
            needed |= Privileges::SELECT;
        }
        let has = |access: &Access| {
            access.global().has(needed)
                || needed.each().all(|(_, one)| match one {
                    Privileges::DELETE => access.table(&right.schema, &right.table).has(one),
                    _ => access.check_columns(one, &right.schema, &right.table, &right.columns, false).is_ok(),
                })
        };
        let has = match &right.definer {
            None => has(self.access()),
            Some(definer) => has(self.definer_access(definer)?),
        };
        if has { Ok(()) } else { Err(err!(1356, right.view.0, right.view.1)) }
    }

    /// What the account `user@host` may do now: looked up once, then one load. Error 1449.
    fn definer_access(&mut self, definer: &str) -> Result<&Access> {
        let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
        let accounts = &self.server.accounts;
        let known = |a: &Access| a.account().name.user == user && a.account().name.host == host;
        let at = match self.definers.iter().position(known) {
            Some(at) => at,
            None => {
                self.definers.push(accounts.access(AccountName::new(user, host), host));
                self.definers.len() - 1
            }
        };
        self.definers[at].refresh(accounts);
        if !self.definers[at].is_there() {
            return Err(err!(1449, user, host));
        }
        Ok(&self.definers[at])
    }
}
