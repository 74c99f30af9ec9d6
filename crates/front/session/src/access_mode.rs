//! READ ONLY transactions: what they refuse, and when.

use crate::session::Session;
use sql::ast::{ExplainTarget, ObjectName, Parsed, Statement, TableRef};
use types::codes::*;
use types::{Result, SqlError, err};

/// Errors of privileges, which come before all.
const DENIALS: [u16; 5] = [
    ER_DBACCESS_DENIED_ERROR,
    ER_ACCESS_DENIED_ERROR,
    ER_TABLEACCESS_DENIED_ERROR,
    ER_COLUMNACCESS_DENIED_ERROR,
    ER_SPECIFIC_ACCESS_DENIED_ERROR,
];
const NO_DATABASE: u16 = ER_NO_DB_ERROR;

impl Session {
    /// Error 1792 in a transaction that is READ ONLY.
    pub(crate) fn check_access_mode(&self) -> Result<()> {
        let read_only = match self.tx.is_active() || self.transaction.explicit {
            true => self.transaction.read_only,
            false => {
                let next = self.transaction.next_read_only;
                next.unwrap_or(self.state.vars.hot().read_only)
            }
        };
        if read_only { Err(err!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)) } else { Ok(()) }
    }

    /// The error of a statement that could not be planned. MySQL refuses to open a table for writing before it knows whether there is
    /// one, and what its columns are.
    #[cold]
    pub(crate) fn refused_or(&self, parsed: &Parsed, error: SqlError) -> SqlError {
        let is_first = DENIALS.contains(&error.code) || error.code == NO_DATABASE;
        match self.check_access_mode() {
            Err(refused) if !is_first && self.writes_shared(parsed, &parsed.statement) => refused,
            _ => error,
        }
    }

    /// Does it write a table that is not the session's own?
    fn writes_shared(&self, parsed: &Parsed, statement: &Statement) -> bool {
        let mut written = Vec::new();
        match statement {
            Statement::Explain(explain) => {
                return matches!(&explain.target, ExplainTarget::Statement(inner) if self.writes_shared(parsed, inner));
            }
            Statement::Insert(insert) => written.push(insert.table),
            Statement::Update(update) => written.extend(parsed.factors(update.tables).iter().map(|factor| factor.name)),
            Statement::Delete(delete) => written.extend(parsed.factors(delete.from).iter().map(|factor| factor.name)),
            Statement::LoadData(load) => written.push(load.table),
            Statement::Query(id) if parsed[*id].locking.iter().any(|l| l.exclusive) => {
                let factors = parsed.table_refs().iter().filter_map(|reference| match reference {
                    TableRef::Table(factor) => Some(factor.name),
                    _ => None,
                });
                written.extend(factors);
            }
            _ => {}
        }
        let is_shared = |name: &ObjectName| {
            self.object(parsed, *name).is_ok_and(|(schema, table)| !self.is_temporary(&schema, &table))
        };
        written.iter().any(is_shared)
    }
}
