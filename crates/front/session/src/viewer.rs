//! What an account sees of virtual tables: the session's own, or a definer's while a routine or trigger runs as that.

use crate::Server;
use crate::authority::SYSTEM_USER;
use accounts::{Access, Privileges};
use catalog::{RoutineKind, TableName};
use inspect::Viewer;
use std::sync::Arc;

/// What information_schema.COLUMNS tells of a column.
const COLUMN_PRIVILEGES: Privileges =
    Privileges(Privileges::SELECT.0 | Privileges::INSERT.0 | Privileges::UPDATE.0 | Privileges::REFERENCES.0);

/// A schema of the server's own, whose tables filter by themselves.
fn is_computed(schema: &str) -> bool {
    ["information_schema", "performance_schema"].iter().any(|name| schema.eq_ignore_ascii_case(name))
}

/// Who looks with these rights. `user`: whose sessions are its own; `temporary`: tables that only its session has.
pub(crate) fn viewer_of(server: &Server, access: &Access, user: &str, temporary: Vec<TableName>) -> Viewer {
    let mut accounts = server.accounts.access(access.account().name.clone(), "");
    accounts.set_roles(access.active_roles().to_vec(), Vec::new());
    let accounts = Arc::new(accounts);
    let (of_columns, of_views, of_routines) = (Arc::clone(&accounts), Arc::clone(&accounts), Arc::clone(&accounts));
    let (of_triggers, of_events) = (Arc::clone(&accounts), Arc::clone(&accounts));
    Viewer {
        user: user.to_string(),
        sees_all_processes: access.global().has(Privileges::PROCESS),
        column_privileges: Box::new(move |schema, table, column| {
            let has = match is_computed(schema) {
                true if schema == "information_schema" => Privileges::SELECT,
                true => COLUMN_PRIVILEGES,
                false => of_columns.column(schema, table, column) & COLUMN_PRIVILEGES,
            };
            has.names().collect::<Vec<_>>().join(",").to_ascii_lowercase()
        }),
        sees_failed_logins: access.global().has(Privileges::PROCESS) || access.has_dynamic("CONNECTION_ADMIN"),
        makes_copies: access.has_dynamic("BACKUP_ADMIN"),
        visible: Box::new(move |schema, table| match table {
            "" => accounts.lists_schema(schema),
            // A plugin's, as in MySQL on no list.
            "CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS" if schema == "information_schema" => false,
            table => temporary.iter().any(|(s, t)| s == schema && t == table) || accounts.lists_table(schema, table),
        }),
        shows_views: Box::new(move |schema, view| {
            of_views.table(schema, view).has(Privileges::SHOW_VIEW)
                && of_views.table_or_columns(schema, view).has(Privileges::SELECT)
        }),
        shows_triggers: Box::new(move |schema, table| of_triggers.table(schema, table).has(Privileges::TRIGGER)),
        shows_events: Box::new(move |schema| of_events.schema(schema).has(Privileges::EVENT)),
        shows_routines: access.has_dynamic("SHOW_ROUTINE") || access.global().has(Privileges::SELECT),
        sees_routines: Box::new(move |schema, kind, name| {
            let held = of_routines.routine(schema, kind == RoutineKind::Function, name);
            let any = [Privileges::EXECUTE, Privileges::CREATE_ROUTINE, Privileges::ALTER_ROUTINE];
            any.into_iter().any(|p| held.has(p))
        }),
        rights: inspect::Rights {
            directory: server.accounts.directory(),
            account: access.account().name.clone(),
            active_roles: access.active_roles().to_vec(),
            mandatory_roles: server.mandatory_roles(),
            sees_all: access.schema("mysql").has(Privileges::SELECT),
            sees_users: access.schema("mysql").has(Privileges::UPDATE),
            makes_users: access.global().has(Privileges::CREATE_USER),
            is_system: access.has_dynamic(SYSTEM_USER),
        },
    }
}
