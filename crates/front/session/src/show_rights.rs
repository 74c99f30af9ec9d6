//! What SHOW tells to whom: what one may not see is denied, not described.

use crate::needs::Action;
use crate::session::Session;
use accounts::Privileges;
use sql::ast::{Name, ObjectName, Parsed, ShowWhat};
use types::codes::*;
use types::{Result, err};

/// Privileges on a table that let its definition be seen.
const OF_TABLES: Privileges = Privileges(Privileges::TABLE.0 & !Privileges::GRANT_OPTION.0);
/// Privileges on a schema that let it be seen.
const OF_SCHEMAS: Privileges = Privileges(Privileges::SCHEMA.0 & !Privileges::GRANT_OPTION.0);

/// Whose tables are computed, too, and are not everybody's to see.
const MYSQL: &str = "mysql";

impl Session {
    /// What SHOW needs of the whole server. Error 1227.
    pub(crate) fn may_show(&self, what: &ShowWhat) -> Result<()> {
        let action = match what {
            ShowWhat::BinaryLogs | ShowWhat::BinaryLogStatus => Action::ShowBinaryLogs,
            ShowWhat::BinlogEvents { .. } => Action::ShowBinlogEvents,
            ShowWhat::Replicas => Action::ShowReplicas,
            ShowWhat::ReplicaStatus { .. } => Action::ShowReplicaStatus,
            ShowWhat::Engine { .. } => Action::ShowEngine,
            _ => return Ok(()),
        };
        self.need(action)
    }

    /// The schema whose tables are listed. Error 1044 for one that is there and not the session's to see.
    pub(crate) fn seen_schema(&self, parsed: &Parsed, name: Option<Name>) -> Result<String> {
        let name = self.schema_of(parsed, name)?;
        let access = self.access();
        let granted = || access.account().tables.iter().any(|g| g.schema == name);
        if self.catalog.peek().schema(&name).is_some() && !granted() {
            access.check_use(&name)?;
        }
        Ok(name)
    }

    /// The table whose columns or indexes are listed. Error 1142 for one that is there and on which the session has nothing.
    pub(crate) fn seen_table(&self, parsed: &Parsed, name: ObjectName) -> Result<(String, String)> {
        let (schema, table) = self.object(parsed, name)?;
        let there = self.catalog.peek().table(&schema, &table);
        let own = self.is_temporary(&schema, &table) || there.is_none_or(|t| t.is_virtual() && schema != MYSQL);
        if !own {
            self.need_on(Action::ListColumns, &schema, &table)?;
        }
        Ok((schema, table))
    }

    /// SHOW CREATE TABLE. Error 1142.
    pub(crate) fn may_show_table(&self, cx: &inspect::Context, schema: &str, table: &str) -> Result<()> {
        let access = self.access();
        let found = cx.version.table(schema, table);
        let granted = access.table(schema, table);
        let own = self.is_temporary(schema, table) || found.is_some_and(|t| t.is_virtual() && schema != MYSQL);
        let may = match found.is_some_and(|t| t.view.is_some()) {
            true => granted.has(Privileges::SHOW_VIEW),
            false => granted.has_any(OF_TABLES),
        };
        if own || may { Ok(()) } else { Err(access.denied_show(table)) }
    }

    /// SHOW CREATE VIEW. Error 1142.
    pub(crate) fn may_show_view(&self, cx: &inspect::Context, schema: &str, view: &str) -> Result<()> {
        let access = self.access();
        let computed = cx.version.table(schema, view).is_some_and(|t| t.is_virtual() && schema != MYSQL);
        if self.is_temporary(schema, view) || computed {
            return Ok(());
        }
        if !access.table_or_columns(schema, view).has(Privileges::SELECT) {
            return Err(access.denied_table(Privileges::SELECT, view));
        }
        let is_view = cx.version.table(schema, view).is_some_and(|t| t.view.is_some());
        let may = !is_view || access.table(schema, view).has(Privileges::SHOW_VIEW);
        if may { Ok(()) } else { Err(access.denied_table(Privileges::SHOW_VIEW, view)) }
    }

    /// SHOW CREATE DATABASE. Error 1044.
    pub(crate) fn may_show_schema(&self, schema: &str) -> Result<()> {
        let access = self.access();
        if access.schema(schema).has_any(OF_SCHEMAS) || access.sees_into(schema) {
            return Ok(());
        }
        Err(err!(ER_DBACCESS_DENIED_ERROR, access.account().name.user, access.client_host(), schema))
    }
}
