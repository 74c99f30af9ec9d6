//! Which `Com_*` counter a statement counts in, whether it succeeds or not.

use sql::ast::*;
use types::const_eq;

/// The kinds of statements that MySQL 8.4 counts.
pub(crate) const COM: &[&str] = &[
    "admin_commands",
    "assign_to_keycache",
    "alter_db",
    "alter_event",
    "alter_function",
    "alter_instance",
    "alter_procedure",
    "alter_resource_group",
    "alter_server",
    "alter_table",
    "alter_tablespace",
    "alter_user",
    "alter_user_default_role",
    "analyze",
    "begin",
    "binlog",
    "call_procedure",
    "change_db",
    "change_repl_filter",
    "change_replication_source",
    "check",
    "checksum",
    "clone",
    "commit",
    "create_db",
    "create_event",
    "create_function",
    "create_index",
    "create_procedure",
    "create_role",
    "create_server",
    "create_table",
    "create_resource_group",
    "create_trigger",
    "create_udf",
    "create_user",
    "create_view",
    "create_spatial_reference_system",
    "dealloc_sql",
    "delete",
    "delete_multi",
    "do",
    "drop_db",
    "drop_event",
    "drop_function",
    "drop_index",
    "drop_procedure",
    "drop_resource_group",
    "drop_role",
    "drop_server",
    "drop_spatial_reference_system",
    "drop_table",
    "drop_trigger",
    "drop_user",
    "drop_view",
    "empty_query",
    "execute_sql",
    "explain_other",
    "flush",
    "get_diagnostics",
    "grant",
    "grant_roles",
    "ha_close",
    "ha_open",
    "ha_read",
    "help",
    "import",
    "insert",
    "insert_select",
    "install_component",
    "install_plugin",
    "kill",
    "load",
    "lock_instance",
    "lock_tables",
    "optimize",
    "preload_keys",
    "prepare_sql",
    "purge",
    "purge_before_date",
    "release_savepoint",
    "rename_table",
    "rename_user",
    "repair",
    "replace",
    "replace_select",
    "reset",
    "resignal",
    "restart",
    "revoke",
    "revoke_all",
    "revoke_roles",
    "rollback",
    "rollback_to_savepoint",
    "savepoint",
    "select",
    "set_option",
    "set_password",
    "set_resource_group",
    "set_role",
    "signal",
    "show_binlog_events",
    "show_binlogs",
    "show_charsets",
    "show_collations",
    "show_create_db",
    "show_create_event",
    "show_create_func",
    "show_create_proc",
    "show_create_table",
    "show_create_trigger",
    "show_databases",
    "show_engine_logs",
    "show_engine_mutex",
    "show_engine_status",
    "show_events",
    "show_errors",
    "show_fields",
    "show_function_code",
    "show_function_status",
    "show_grants",
    "show_keys",
    "show_binary_log_status",
    "show_open_tables",
    "show_parse_tree",
    "show_plugins",
    "show_privileges",
    "show_procedure_code",
    "show_procedure_status",
    "show_processlist",
    "show_profile",
    "show_profiles",
    "show_relaylog_events",
    "show_replicas",
    "show_replica_status",
    "show_status",
    "show_storage_engines",
    "show_table_status",
    "show_tables",
    "show_triggers",
    "show_variables",
    "show_warnings",
    "show_create_user",
    "shutdown",
    "replica_start",
    "replica_stop",
    "group_replication_start",
    "group_replication_stop",
    "stmt_execute",
    "stmt_close",
    "stmt_fetch",
    "stmt_prepare",
    "stmt_reset",
    "stmt_send_long_data",
    "truncate",
    "uninstall_component",
    "uninstall_plugin",
    "unlock_instance",
    "unlock_tables",
    "update",
    "update_multi",
    "xa_commit",
    "xa_end",
    "xa_prepare",
    "xa_recover",
    "xa_rollback",
    "xa_start",
    "stmt_reprepare",
];

/// The place of a name in [`COM`], at compile time.
pub(crate) const fn com_index(name: &str) -> usize {
    let mut i = 0;
    while i < COM.len() {
        if const_eq(COM[i].as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no such kind of statement");
}

/// The kind of a statement.
pub(crate) fn kind_of(parsed: &Parsed) -> &'static str {
    kind_within(parsed, &parsed.statement)
}

fn kind_within(parsed: &Parsed, statement: &Statement) -> &'static str {
    match statement {
        Statement::Query(_) => "select",
        Statement::Insert(insert) => match (&insert.source, insert.replace) {
            (InsertSource::Query(_), false) => "insert_select",
            (InsertSource::Query(_), true) => "replace_select",
            (_, false) => "insert",
            (_, true) => "replace",
        },
        Statement::Update(update) if matches!(parsed[update.tables], TableRef::Table(_)) => "update",
        Statement::Update(_) => "update_multi",
        Statement::Delete(delete) if delete.targets.is_empty() => "delete",
        Statement::Delete(_) => "delete_multi",
        Statement::Do(_) => "do",
        Statement::LoadData(_) => "load",
        Statement::Call { .. } => "call_procedure",
        Statement::Signal(signal) => {
            if signal.resignal {
                "resignal"
            } else {
                "signal"
            }
        }
        Statement::GetDiagnostics(_) => "get_diagnostics",
        Statement::Explain(explain) => match &explain.target {
            ExplainTarget::Query(_) => "select",
            ExplainTarget::Statement(inner) => kind_within(parsed, inner),
            ExplainTarget::Connection(_) => "explain_other",
        },
        Statement::DescribeTable { .. } => "show_fields",
        Statement::Show(show) => kind_of_show(&show.what),
        Statement::Help(_) => "help",
        Statement::Use(_) => "change_db",
        Statement::Set(_) => "set_option",
        Statement::Kill { .. } => "kill",
        Statement::Prepare { .. } => "prepare_sql",
        Statement::Execute { .. } => "execute_sql",
        Statement::Deallocate(_) => "dealloc_sql",
        Statement::Flush(_) => "flush",
        Statement::Reset(_) => "reset",
        Statement::Shutdown => "shutdown",
        Statement::Restart => "restart",
        Statement::Handler(HandlerStatement::Open { .. }) => "ha_open",
        Statement::Handler(HandlerStatement::Close(_)) => "ha_close",
        Statement::Handler(HandlerStatement::Read(_)) => "ha_read",
        Statement::PurgeLogs(PurgeLogs::To(_)) => "purge",
        Statement::PurgeLogs(PurgeLogs::Before(..)) => "purge_before_date",
        Statement::Binlog(_) => "binlog",
        Statement::CloneLocal(_) | Statement::CloneInstance(_) => "clone",
        Statement::Unsupported(what) => what.command,
        Statement::TableMaintenance(maintenance) => match maintenance.verb {
            MaintenanceVerb::Analyze => "analyze",
            MaintenanceVerb::Check => "check",
            MaintenanceVerb::Optimize => "optimize",
            MaintenanceVerb::Repair => "repair",
            MaintenanceVerb::Checksum => "checksum",
            MaintenanceVerb::AssignKeyCache => "assign_to_keycache",
            MaintenanceVerb::PreloadKeys => "preload_keys",
        },
        statement => kind_of_transaction(statement)
            .or_else(|| kind_of_definition(statement))
            .or_else(|| kind_of_account(statement))
            .or_else(|| kind_of_server(parsed, statement))
            .expect("every statement is of some kind"),
    }
}

fn kind_of_transaction(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::Begin { .. } => "begin",
        Statement::Commit(_) => "commit",
        Statement::Rollback(_) => "rollback",
        Statement::Savepoint(_) => "savepoint",
        Statement::RollbackTo(_) => "rollback_to_savepoint",
        Statement::ReleaseSavepoint(_) => "release_savepoint",
        Statement::LockTables(_) => "lock_tables",
        Statement::UnlockTables => "unlock_tables",
        Statement::LockInstance => "lock_instance",
        Statement::UnlockInstance => "unlock_instance",
        Statement::Xa(xa) => match xa {
            Xa::Start { .. } => "xa_start",
            Xa::End { .. } => "xa_end",
            Xa::Prepare(_) => "xa_prepare",
            Xa::Commit { .. } => "xa_commit",
            Xa::Rollback(_) => "xa_rollback",
            Xa::Recover { .. } => "xa_recover",
        },
        _ => return None,
    })
}

fn kind_of_definition(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::CreateDatabase(_) => "create_db",
        Statement::AlterDatabase(_) => "alter_db",
        Statement::DropDatabase { .. } => "drop_db",
        Statement::CreateTable(_) => "create_table",
        Statement::AlterTable(_) => "alter_table",
        Statement::DropTable { .. } => "drop_table",
        Statement::RenameTable(_) => "rename_table",
        Statement::TruncateTable(_) => "truncate",
        Statement::CreateIndex(_) => "create_index",
        Statement::DropIndex(_) => "drop_index",
        // ALTER VIEW too.
        Statement::CreateView(_) => "create_view",
        Statement::DropView { .. } => "drop_view",
        Statement::CreateRoutine(create) => {
            if create.function {
                "create_function"
            } else {
                "create_procedure"
            }
        }
        Statement::CreateTrigger(_) => "create_trigger",
        Statement::CreateEvent(_) => "create_event",
        Statement::AlterEvent(_) => "alter_event",
        Statement::AlterRoutine(alter) => {
            if alter.function {
                "alter_function"
            } else {
                "alter_procedure"
            }
        }
        Statement::DropProgram { kind, .. } => match kind {
            ProgramKind::Procedure => "drop_procedure",
            ProgramKind::Function => "drop_function",
            ProgramKind::Trigger => "drop_trigger",
            ProgramKind::Event => "drop_event",
        },
        _ => return None,
    })
}

fn kind_of_account(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::CreateUser(_) => "create_user",
        Statement::AlterUser(alter) if alter.default_role.is_some() => "alter_user_default_role",
        Statement::AlterUser(_) => "alter_user",
        Statement::DropUser { .. } => "drop_user",
        Statement::RenameUser(_) => "rename_user",
        Statement::CreateRole { .. } => "create_role",
        Statement::DropRole { .. } => "drop_role",
        Statement::Grant(grant) => match **grant {
            Grant::Roles { .. } => "grant_roles",
            Grant::Privileges { .. } | Grant::Proxy { .. } => "grant",
        },
        Statement::Revoke(revoke) => match revoke.what {
            RevokeWhat::Everything => "revoke_all",
            RevokeWhat::Roles(_) => "revoke_roles",
            RevokeWhat::Privileges { .. } | RevokeWhat::Proxy(_) => "revoke",
        },
        Statement::SetPassword(_) => "set_password",
        Statement::SetRole(_) => "set_role",
        Statement::SetDefaultRole { .. } => "alter_user_default_role",
        _ => return None,
    })
}

fn kind_of_server(parsed: &Parsed, statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::ReloadTls { .. }
        | Statement::RotateMasterKey
        | Statement::RotateBinlogKey
        | Statement::ReloadKeyring => "alter_instance",
        Statement::Server(server) => match server.verb {
            ServerVerb::Create { .. } => "create_server",
            ServerVerb::Alter => "alter_server",
            ServerVerb::Drop { .. } => "drop_server",
        },
        Statement::Extension(extension) => match extension {
            ExtensionStatement::InstallComponents { .. } => "install_component",
            ExtensionStatement::UninstallComponents(_) => "uninstall_component",
            ExtensionStatement::InstallPlugin { .. } => "install_plugin",
            ExtensionStatement::UninstallPlugin(_) => "uninstall_plugin",
        },
        Statement::Replica(replica) => match replica {
            ReplicaStatement::ChangeSource { .. } => "change_replication_source",
            ReplicaStatement::ChangeFilter { .. } => "change_repl_filter",
            ReplicaStatement::Start { .. } => "replica_start",
            ReplicaStatement::Stop { .. } => "replica_stop",
        },
        Statement::Absent(absent) => match absent {
            Absent::KeyCache(..) => "assign_to_keycache",
            Absent::NewResourceGroup => "create_resource_group",
            Absent::ResourceGroup { sets: true, .. } => "set_resource_group",
            // The tree does not tell ALTER from DROP, which are refused alike.
            Absent::ResourceGroup { .. }
                if parsed.source().trim_ascii_start().to_ascii_lowercase().starts_with(b"alter") =>
            {
                "alter_resource_group"
            }
            Absent::ResourceGroup { .. } => "drop_resource_group",
            Absent::ImportTable => "import",
            Absent::Tablespace(_) => "alter_tablespace",
        },
        _ => return None,
    })
}

fn kind_of_show(what: &ShowWhat) -> &'static str {
    match what {
        ShowWhat::Databases => "show_databases",
        ShowWhat::Tables { .. } => "show_tables",
        ShowWhat::TableStatus { .. } => "show_table_status",
        ShowWhat::OpenTables { .. } => "show_open_tables",
        ShowWhat::Columns { .. } => "show_fields",
        ShowWhat::Index { .. } => "show_keys",
        ShowWhat::CreateTable(_) | ShowWhat::CreateView(_) => "show_create_table",
        ShowWhat::CreateDatabase { .. } => "show_create_db",
        ShowWhat::CreateProcedure(_) => "show_create_proc",
        ShowWhat::CreateFunction(_) => "show_create_func",
        ShowWhat::CreateTrigger(_) => "show_create_trigger",
        ShowWhat::CreateEvent(_) => "show_create_event",
        ShowWhat::CreateUser(_) => "show_create_user",
        ShowWhat::Grants { .. } => "show_grants",
        ShowWhat::Variables(_) => "show_variables",
        ShowWhat::Status(_) => "show_status",
        ShowWhat::Warnings { .. } => "show_warnings",
        ShowWhat::Errors { .. } => "show_errors",
        // They are queries of a variable.
        ShowWhat::CountWarnings | ShowWhat::CountErrors => "select",
        ShowWhat::ProcessList { .. } => "show_processlist",
        ShowWhat::Engines => "show_storage_engines",
        ShowWhat::Engine { what, .. } => match what {
            EngineInfo::Status => "show_engine_status",
            EngineInfo::Mutex => "show_engine_mutex",
            EngineInfo::Logs => "show_engine_logs",
        },
        ShowWhat::Plugins => "show_plugins",
        ShowWhat::CharacterSet => "show_charsets",
        ShowWhat::Collation => "show_collations",
        ShowWhat::Privileges => "show_privileges",
        ShowWhat::Triggers { .. } => "show_triggers",
        ShowWhat::Events { .. } => "show_events",
        ShowWhat::ProcedureStatus => "show_procedure_status",
        ShowWhat::FunctionStatus => "show_function_status",
        ShowWhat::ProcedureCode(_) => "show_procedure_code",
        ShowWhat::FunctionCode(_) => "show_function_code",
        ShowWhat::BinaryLogs => "show_binlogs",
        ShowWhat::BinaryLogStatus => "show_binary_log_status",
        ShowWhat::BinlogEvents { relay: true, .. } => "show_relaylog_events",
        ShowWhat::BinlogEvents { .. } => "show_binlog_events",
        ShowWhat::ReplicaStatus { .. } => "show_replica_status",
        ShowWhat::Replicas => "show_replicas",
        ShowWhat::Profile { .. } => "show_profile",
        ShowWhat::Profiles => "show_profiles",
        ShowWhat::ParseTree => "show_parse_tree",
    }
}
