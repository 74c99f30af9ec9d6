//! What each kind of statement needs: one table, which every check of a statement's privileges reads.
//!
//! A row says what one step of a statement needs; a statement needs all rows of its [`Action`]s. What rows alone do not
//! tell, because it hangs from the account that a statement is about, is in [`crate::authority`]. Sections are those of
//! MySQL's 8.4 manual.

use accounts::{Access, Privileges};
use types::codes::*;
use types::{Result, err};

/// A kind of statement, or a part of one that needs something of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    // Rows.
    Read,
    Insert,
    Update,
    Delete,
    ReadFile,
    WriteFile,
    Handler,
    Checksum,
    LockTables,
    // Definitions.
    AlterSchema,
    CreateSchema,
    DropSchema,
    CreateTable,
    FillTable,
    CopyDefinition,
    CreateTemporaryTable,
    ReferParent,
    AlterTable,
    RenameFrom,
    RenameTo,
    DropTable,
    TruncateTable,
    ChangeIndex,
    CreateView,
    ReplaceView,
    DropView,
    Analyze,
    Check,
    Optimize,
    OptimizeLocal,
    Repair,
    CacheIndex,
    CreateTablespace,
    ForeignServer,
    ImportTable,
    ListColumns,
    // Stored programs.
    CreateRoutine,
    AlterRoutine,
    Execute,
    Event,
    // Accounts. What is asked of the account that they change is in `authority`.
    CreateUser,
    AlterUser,
    DropUser,
    RenameUser,
    SetPassword,
    OwnSecondPassword,
    CreateRole,
    DropRole,
    GrantRole,
    GiveDefaultRole,
    RevokeEverything,
    ShowGrants,
    ShowCreateUser,
    SetAnyDefiner,
    LeaveOrphans,
    // Components and plugins.
    InstallPlugin,
    UninstallPlugin,
    InstallComponent,
    UninstallComponent,
    CloneData,
    CloneInstance,
    // SHOW.
    ShowEngine,
    ShowBinaryLogs,
    ShowReplicaStatus,
    ShowReplicas,
    ShowBinlogEvents,
    ShowEvents,
    // The server.
    Backup,
    BinaryLogs,
    ReadBinaryLog,
    ReplicaControl,
    ResetReplica,
    ResetBinaryLogs,
    ReloadTls,
    MasterKey,
    BinlogMasterKey,
    BinlogEvents,
    ReloadKeyring,
    DifferInEncryption,
    SetEncryptionCheck,
    RedoLog,
    ResourceGroup,
    UseResourceGroup,
    RecoverXa,
    KillOthers,
    ExplainOthers,
    WriteWhileReadOnly,
    ReservedConnection,
    AdministrativeConnection,
    Shutdown,
    Debug,
    FlushTables,
    FlushTablesForReading,
    FlushStatus,
    FlushPrivileges,
    FlushUserResources,
    FlushOptimizerCosts,
    FlushLogs,
    // Variables.
    SetGlobal,
    PersistOnly,
    SetMandatoryRoles,
    SetOfflineMode,
    SetBinlogEncryption,
    SetSessionGuarded,
    SetSessionVariable,
    SetReplicationSession,
    TagGtids,
    SetTmpdir,
}

/// A privilege that a server-wide row names.
#[derive(Clone, Copy, Debug)]
enum Right {
    Static(Privileges),
    Dynamic(&'static str),
    /// A privilege on the schema `mysql`, in whose tables accounts stand. Messages do not name it.
    OnMysql(Privileges),
}

/// What a row asks for.
#[derive(Clone, Copy, Debug)]
enum Ask {
    /// One of these, of the whole server. Error 1227.
    Server(&'static [Right]),
    /// All of these on the schema. Error 1044.
    Schema(Privileges),
    /// All of these on the table. Error 1142.
    Table(Privileges),
    /// All of these, on the table or on any of its columns. Error 1142.
    SomeColumns(Privileges),
    /// All of these on the server or the schema, or anything at all that was granted on the table or its columns. Error 1142.
    Known(Privileges),
    /// The privileges on a table of the schema `mysql`. Error 1142.
    SystemTable(&'static str, Privileges),
}

struct Need {
    action: Action,
    ask: Ask,
    /// Section of the manual.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers, and a test that each row has one"))]
    section: &'static str,
}

const fn row(action: Action, ask: Ask, section: &'static str) -> Need {
    Need { action, ask, section }
}

type P = Privileges;

const fn both(a: P, b: P) -> P {
    Privileges(a.0 | b.0)
}

use Action as A;
use Ask::{Known, Schema, Server, SomeColumns, SystemTable, Table};
use Right::{Dynamic, OnMysql, Static};

#[rustfmt::skip]
const NEEDS: &[Need] = &[
    row(A::Read, Table(P::SELECT), "15.2.13"),
    row(A::Insert, Table(P::INSERT), "15.2.7"),
    row(A::Update, Table(P::UPDATE), "15.2.17"),
    row(A::Delete, Table(P::DELETE), "15.2.2"),
    row(A::ReadFile, Server(&[Static(P::FILE)]), "15.2.9"),
    row(A::WriteFile, Server(&[Static(P::FILE)]), "15.2.13.1"),
    row(A::Handler, SomeColumns(P::SELECT), "15.2.5"),
    row(A::Checksum, SomeColumns(P::SELECT), "15.7.3.3"),
    row(A::LockTables, Schema(P::LOCK_TABLES), "15.3.6"),
    row(A::LockTables, Table(P::SELECT), "15.3.6"),
    row(A::AlterSchema, Schema(P::ALTER), "15.1.2"),
    row(A::CreateSchema, Schema(P::CREATE), "15.1.12"),
    row(A::DropSchema, Schema(P::DROP), "15.1.24"),
    row(A::CreateTable, Table(P::CREATE), "15.1.20"),
    row(A::FillTable, Table(both(P::INSERT, P::CREATE)), "15.1.20.4"),
    row(A::CopyDefinition, SomeColumns(P::SELECT), "15.1.20.3"),
    row(A::CreateTemporaryTable, Schema(P::CREATE_TEMPORARY_TABLES), "15.1.20.2"),
    row(A::ReferParent, Table(P::REFERENCES), "15.1.20.5"),
    row(A::AlterTable, Table(P::ALTER), "15.1.9"),
    row(A::RenameFrom, Table(both(P::DROP, P::ALTER)), "15.1.36"),
    row(A::RenameTo, Table(both(P::INSERT, P::CREATE)), "15.1.36"),
    row(A::DropTable, Table(P::DROP), "15.1.32"),
    row(A::TruncateTable, Table(P::DROP), "15.1.37"),
    row(A::ChangeIndex, Table(P::INDEX), "15.1.15"),
    row(A::CreateView, Table(P::CREATE_VIEW), "15.1.23"),
    row(A::ReplaceView, Table(both(P::CREATE_VIEW, P::DROP)), "15.1.11"),
    row(A::DropView, Table(P::DROP), "15.1.35"),
    row(A::Analyze, SomeColumns(both(P::SELECT, P::INSERT)), "15.7.3.1"),
    row(A::Check, Known(P::SELECT), "15.7.3.2"),
    row(A::Optimize, SomeColumns(both(P::SELECT, P::INSERT)), "15.7.3.4"),
    row(A::OptimizeLocal, Server(&[Dynamic("OPTIMIZE_LOCAL_TABLE")]), "15.7.3.4"),
    row(A::Repair, SomeColumns(both(P::SELECT, P::INSERT)), "15.7.3.5"),
    row(A::CacheIndex, Known(P::INDEX), "15.7.8.2"),
    row(A::CreateTablespace, Server(&[Static(P::CREATE_TABLESPACE)]), "15.1.21"),
    row(A::ForeignServer, Server(&[Static(P::SUPER)]), "15.1.18"),
    row(A::ImportTable, Server(&[Static(P::FILE)]), "15.2.6"),
    row(A::ListColumns, Known(P::SELECT), "15.7.7.6"),
    row(A::CreateRoutine, Schema(P::CREATE_ROUTINE), "15.1.17"),
    row(A::AlterRoutine, Schema(P::ALTER_ROUTINE), "15.1.29"),
    row(A::Execute, Schema(P::EXECUTE), "15.2.1"),
    row(A::Event, Schema(P::EVENT), "15.1.25"),
    row(A::CreateUser, Server(&[Static(P::CREATE_USER), OnMysql(P::INSERT)]), "15.7.1.3"),
    row(A::AlterUser, Server(&[Static(P::CREATE_USER), OnMysql(P::UPDATE)]), "15.7.1.1"),
    row(A::DropUser, Server(&[Static(P::CREATE_USER), OnMysql(P::DELETE)]), "15.7.1.5"),
    row(A::RenameUser, Server(&[Static(P::CREATE_USER), OnMysql(P::UPDATE)]), "15.7.1.7"),
    row(A::SetPassword, Schema(P::UPDATE), "15.7.1.10"),
    row(A::OwnSecondPassword, Server(&[Static(P::CREATE_USER), Dynamic("APPLICATION_PASSWORD_ADMIN"), OnMysql(P::UPDATE)]),
        "8.2.15"),
    row(A::CreateRole, Server(&[Static(P::CREATE_USER), Static(P::CREATE_ROLE)]), "15.7.1.2"),
    row(A::DropRole, Server(&[Static(P::CREATE_USER), Static(P::DROP_ROLE)]), "15.7.1.4"),
    row(A::GrantRole, Server(&[Dynamic("ROLE_ADMIN"), Static(P::SUPER)]), "15.7.1.6"),
    row(A::GiveDefaultRole, Server(&[Static(P::CREATE_USER), OnMysql(P::UPDATE)]), "15.7.1.9"),
    row(A::RevokeEverything, Server(&[Static(P::CREATE_USER), OnMysql(P::UPDATE)]), "15.7.1.8"),
    row(A::ShowGrants, SystemTable("user", P::SELECT), "15.7.7.22"),
    row(A::ShowCreateUser, Schema(P::SELECT), "15.7.7.13"),
    row(A::SetAnyDefiner, Server(&[Static(P::SUPER), Dynamic("SET_ANY_DEFINER")]), "27.6"),
    row(A::LeaveOrphans, Server(&[Static(P::SUPER), Dynamic("ALLOW_NONEXISTENT_DEFINER")]), "27.6"),
    row(A::InstallPlugin, SystemTable("plugin", P::INSERT), "15.7.4.4"),
    row(A::UninstallPlugin, SystemTable("plugin", P::DELETE), "15.7.4.6"),
    row(A::InstallComponent, SystemTable("component", P::INSERT), "15.7.4.3"),
    row(A::UninstallComponent, SystemTable("component", P::DELETE), "15.7.4.5"),
    row(A::CloneData, Server(&[Dynamic("BACKUP_ADMIN")]), "15.7.5"),
    row(A::CloneInstance, Server(&[Dynamic("CLONE_ADMIN")]), "15.7.5"),
    row(A::ShowEngine, Server(&[Static(P::PROCESS)]), "15.7.7.16"),
    row(A::ShowBinaryLogs, Server(&[Static(P::SUPER), Static(P::REPLICATION_CLIENT)]), "15.7.7.1"),
    row(A::ShowReplicaStatus, Server(&[Static(P::SUPER), Static(P::REPLICATION_CLIENT)]), "15.7.7.35"),
    row(A::ShowReplicas, Server(&[Static(P::REPLICATION_SLAVE)]), "15.7.7.34"),
    row(A::ShowBinlogEvents, Server(&[Static(P::REPLICATION_SLAVE)]), "15.7.7.3"),
    row(A::ShowEvents, Schema(P::EVENT), "15.7.7.19"),
    row(A::Backup, Server(&[Dynamic("BACKUP_ADMIN")]), "15.3.5"),
    row(A::BinaryLogs, Server(&[Static(P::SUPER), Dynamic("BINLOG_ADMIN")]), "15.4.1.1"),
    row(A::BinlogEvents, Server(&[Static(P::SUPER), Dynamic("BINLOG_ADMIN"), Dynamic("REPLICATION_APPLIER")]), "15.7.8.1"),
    row(A::ReadBinaryLog, Server(&[Static(P::REPLICATION_SLAVE)]), "8.2.2"),
    row(A::ReplicaControl, Server(&[Static(P::SUPER), Dynamic("REPLICATION_SLAVE_ADMIN")]), "15.4.2"),
    row(A::ResetReplica, Server(&[Static(P::RELOAD)]), "15.4.2.3"),
    row(A::ResetBinaryLogs, Server(&[Static(P::RELOAD)]), "15.4.1.2"),
    row(A::ReloadTls, Server(&[Dynamic("CONNECTION_ADMIN")]), "15.1.5"),
    row(A::MasterKey, Server(&[Static(P::SUPER), Dynamic("ENCRYPTION_KEY_ADMIN")]), "15.1.5"),
    row(A::BinlogMasterKey, Server(&[Static(P::SUPER), Dynamic("BINLOG_ENCRYPTION_ADMIN")]), "15.1.5"),
    row(A::ReloadKeyring, Server(&[Dynamic("ENCRYPTION_KEY_ADMIN")]), "15.1.5"),
    row(A::DifferInEncryption, Server(&[Dynamic("TABLE_ENCRYPTION_ADMIN")]), "17.13"),
    row(A::SetEncryptionCheck, Server(&[Static(P::SUPER)]), "7.1.8"),
    row(A::RedoLog, Server(&[Dynamic("INNODB_REDO_LOG_ENABLE")]), "15.1.5"),
    row(A::ResourceGroup, Server(&[Dynamic("RESOURCE_GROUP_ADMIN")]), "15.7.2"),
    row(A::UseResourceGroup, Server(&[Dynamic("RESOURCE_GROUP_ADMIN"), Dynamic("RESOURCE_GROUP_USER")]), "15.7.2.4"),
    row(A::RecoverXa, Server(&[Dynamic("XA_RECOVER_ADMIN")]), "15.3.8.1"),
    row(A::KillOthers, Server(&[Static(P::SUPER), Dynamic("CONNECTION_ADMIN")]), "15.7.8.4"),
    row(A::ExplainOthers, Server(&[Static(P::SUPER), Static(P::PROCESS)]), "15.8.2"),
    row(A::WriteWhileReadOnly, Server(&[Static(P::SUPER), Dynamic("CONNECTION_ADMIN")]), "7.1.8"),
    row(A::ReservedConnection, Server(&[Static(P::SUPER), Dynamic("CONNECTION_ADMIN")]), "7.1.12.1"),
    row(A::AdministrativeConnection, Server(&[Dynamic("SERVICE_CONNECTION_ADMIN")]), "7.1.12.1"),
    row(A::Shutdown, Server(&[Static(P::SHUTDOWN)]), "15.7.8.9"),
    row(A::Debug, Server(&[Static(P::SUPER)]), "6.5.2"),
    row(A::FlushTables, Server(&[Static(P::RELOAD), Dynamic("FLUSH_TABLES")]), "15.7.8.3"),
    row(A::FlushTablesForReading, Schema(P::LOCK_TABLES), "15.7.8.3"),
    row(A::FlushTablesForReading, Table(P::SELECT), "15.7.8.3"),
    row(A::FlushStatus, Server(&[Static(P::RELOAD), Dynamic("FLUSH_STATUS")]), "15.7.8.3"),
    row(A::FlushPrivileges, Server(&[Static(P::RELOAD), Dynamic("FLUSH_PRIVILEGES")]), "15.7.8.3"),
    row(A::FlushUserResources, Server(&[Static(P::RELOAD), Dynamic("FLUSH_USER_RESOURCES")]), "15.7.8.3"),
    row(A::FlushOptimizerCosts, Server(&[Static(P::RELOAD), Dynamic("FLUSH_OPTIMIZER_COSTS")]), "15.7.8.3"),
    row(A::FlushLogs, Server(&[Static(P::RELOAD)]), "15.7.8.3"),
    row(A::SetGlobal, Server(&[Static(P::SUPER), Dynamic("SYSTEM_VARIABLES_ADMIN")]), "7.1.9.1"),
    row(A::PersistOnly, Server(&[Dynamic("SYSTEM_VARIABLES_ADMIN")]), "7.1.9.1"),
    row(A::PersistOnly, Server(&[Dynamic("PERSIST_RO_VARIABLES_ADMIN")]), "7.1.9.1"),
    row(A::SetMandatoryRoles, Server(&[Dynamic("ROLE_ADMIN")]), "7.1.8"),
    row(A::SetOfflineMode, Server(&[Static(P::SUPER), Dynamic("CONNECTION_ADMIN")]), "7.1.8"),
    row(A::SetBinlogEncryption, Server(&[Static(P::SUPER), Dynamic("BINLOG_ENCRYPTION_ADMIN")]), "19.1.6.4"),
    row(A::SetSessionGuarded, Server(&[Static(P::SUPER), Dynamic("SYSTEM_VARIABLES_ADMIN"), Dynamic("SESSION_VARIABLES_ADMIN")]),
        "7.1.9.1"),
    row(A::SetSessionVariable, Server(&[Dynamic("SYSTEM_VARIABLES_ADMIN"), Dynamic("SESSION_VARIABLES_ADMIN")]), "7.1.9.1"),
    row(A::SetReplicationSession, Server(&[Static(P::SUPER), Dynamic("REPLICATION_APPLIER"), Dynamic("SYSTEM_VARIABLES_ADMIN"),
        Dynamic("SESSION_VARIABLES_ADMIN")]), "7.1.9.1"),
    row(A::TagGtids, Server(&[Dynamic("TRANSACTION_GTID_TAG")]), "7.1.8"),
    row(A::SetTmpdir, Server(&[Static(P::FILE)]), "17.14"),
];

/// The privileges on a table that an action with one row about it needs, for plans: known when this is compiled.
pub(crate) const fn on_table(action: Action) -> Privileges {
    let mut at = 0;
    while at < NEEDS.len() {
        if NEEDS[at].action as usize == action as usize
            && let Table(privileges) = NEEDS[at].ask
        {
            return privileges;
        }
        at += 1;
    }
    panic!("no row about a table");
}

fn has(access: &Access, right: Right) -> bool {
    match right {
        Static(privileges) => access.global().has(privileges),
        Dynamic(name) => access.has_dynamic(name),
        OnMysql(privileges) => access.schema("mysql").has(privileges),
    }
}

/// As messages name the rights of a row.
fn words(rights: &[Right]) -> String {
    let names: Vec<&str> = rights
        .iter()
        .filter_map(|right| match right {
            Static(privileges) => privileges.names().next(),
            Dynamic(name) => Some(*name),
            OnMysql(_) => None,
        })
        .collect();
    let dynamic = rights.iter().any(|r| matches!(r, Dynamic(_)));
    names.join(if dynamic { " or " } else { ", " })
}

/// Does the account meet every row of the action that is about the whole server?
pub(crate) fn may(access: &Access, action: Action) -> bool {
    rows_of(action).all(|need| match need.ask {
        // An error's text costs more than the look.
        Server(rights) => rights.iter().any(|right| has(access, *right)),
        _ => check_row(access, need, None).is_ok(),
    })
}

/// All rows of the action; `on` is the schema and the table where rows ask for one. Errors 1044, 1142, 1227.
pub(crate) fn check(access: &Access, action: Action, on: Option<(&str, &str)>) -> Result<()> {
    rows_of(action).try_for_each(|need| check_row(access, need, on))
}

fn rows_of(action: Action) -> impl Iterator<Item = &'static Need> {
    debug_assert!(NEEDS.iter().any(|need| need.action == action), "{action:?} has no row");
    NEEDS.iter().filter(move |need| need.action == action)
}

fn check_row(access: &Access, need: &Need, on: Option<(&str, &str)>) -> Result<()> {
    let (schema, table) = on.unwrap_or_default();
    if let Schema(privileges) | Table(privileges) | SomeColumns(privileges) = need.ask {
        access.check_possible(privileges, schema)?;
    }
    match need.ask {
        Server(rights) if rights.iter().any(|right| has(access, *right)) => Ok(()),
        Server(rights) => Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, words(rights))),
        Schema(privileges) => access.check_schema(privileges, schema),
        Table(privileges) => access.check_table(privileges, schema, table),
        SomeColumns(privileges) => match privileges.without(access.table_or_columns(schema, table)) {
            Privileges::NONE => Ok(()),
            missing => Err(access.denied_table(missing, table)),
        },
        Known(privileges) if access.schema(schema).has(privileges) || access.has_grant_on(schema, table) => Ok(()),
        Known(privileges) => Err(access.denied_table(privileges, table)),
        SystemTable(table, privileges) => access.check_table(privileges, "mysql", table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_names_a_section_and_messages_name_the_rights() {
        for need in NEEDS {
            let mut parts = need.section.split('.');
            assert!(parts.all(|part| part.parse::<u8>().is_ok()), "{:?}: {}", need.action, need.section);
        }
        assert_eq!(words(&[Static(P::SUPER), Static(P::REPLICATION_CLIENT)]), "SUPER, REPLICATION CLIENT");
        assert_eq!(words(&[Static(P::SUPER), Dynamic("BINLOG_ADMIN")]), "SUPER or BINLOG_ADMIN");
        assert_eq!(words(&[Static(P::CREATE_USER), OnMysql(P::INSERT)]), "CREATE USER");
        const _: () = assert!(on_table(Action::Read).has(Privileges::SELECT));
    }
}
