//! Who may change whom: what statements need that hangs from the account that they are about.
//!
//! SYSTEM_USER (manual, 8.2.11): an account that has it is changed, granted as a role or killed only by a session that has it too.
//! An account has it by a grant of its own; a session also by a role that is active.

use crate::needs::{Action, check, may};
use crate::session::Session;
use accounts::{Access, Account, AccountName, Directory, Privileges};
use sql::ast::{AccountOptions, Auth, AuthSecret, UserSpec};
use types::codes::*;
use types::{Result, err};

pub(crate) const SYSTEM_USER: &str = "SYSTEM_USER";

/// By a grant of its own.
fn has_system_user(account: &Account) -> bool {
    account.dynamic.contains_key(SYSTEM_USER)
}

/// By a grant of its own, or of a role that it has, directly or through others, active or not.
fn could_have_system_user(name: &AccountName, directory: &Directory) -> bool {
    directory.closure([name]).iter().any(|role| directory.get(role).is_some_and(has_system_user))
}

/// Does the statement change a password of an account and nothing else of it? `options`: what stands behind all accounts.
fn only_password(spec: &UserSpec, options: &AccountOptions) -> bool {
    let of_password = match spec.auth {
        // Which plugin proves an account is policy.
        Some(Auth { plugin: None, secret }) => matches!(secret, AuthSecret::Password(_) | AuthSecret::Random),
        Some(_) => false,
        None => spec.discard_old,
    };
    of_password && spec.more_factors.is_empty() && *options == AccountOptions::default()
}

/// Session variables that not everybody may set, sorted by what it takes (manual, 7.1.9.1, and each variable's own text).
const GUARDED: &[(Action, &[&str])] = &[
    (
        Action::SetSessionGuarded,
        &[
            "binlog_direct_non_transactional_updates",
            "binlog_format",
            "binlog_row_image",
            "binlog_row_value_options",
            "binlog_rows_query_log_events",
            "binlog_transaction_compression",
            "binlog_transaction_compression_level_zstd",
            "bulk_insert_buffer_size",
            "character_set_database",
            "character_set_filesystem",
            "connection_memory_chunk_size",
            "connection_memory_limit",
            "global_connection_memory_tracking",
            "histogram_generation_max_mem_size",
            "pseudo_thread_id",
            "sql_generate_invisible_primary_key",
            "sql_log_bin",
            "sql_log_off",
            "sql_require_primary_key",
            "xa_detach_on_prepare",
        ],
    ),
    (
        Action::SetSessionVariable,
        &[
            "innodb_strict_mode",
            "internal_tmp_mem_storage_engine",
            "low_priority_updates",
            "max_delayed_threads",
            "max_error_count",
            "min_examined_row_limit",
            "preload_buffer_size",
            "select_into_buffer_size",
            "select_into_disk_sync_delay",
        ],
    ),
    (
        Action::SetReplicationSession,
        &[
            "gtid_next",
            "immediate_server_version",
            "original_commit_timestamp",
            "original_server_version",
            "pseudo_replica_mode",
            "pseudo_slave_mode",
        ],
    ),
    (Action::SetTmpdir, &["innodb_tmpdir"]),
];

/// May an account set this variable for its session? Error 1227.
pub(crate) fn may_set_session(access: &Access, variable: &str) -> Result<()> {
    match GUARDED.iter().find(|(_, names)| names.contains(&variable)) {
        Some((action, _)) => check(access, *action, None),
        None => Ok(()),
    }
}

impl Session {
    /// May the session set this variable for itself? Error 1227.
    pub(crate) fn may_set_session(&self, variable: &str) -> Result<()> {
        may_set_session(self.access(), variable)
    }

    /// What SET of a variable for the whole server needs beyond [`Action::SetGlobal`]. Error 1227.
    pub(crate) fn may_set_global(&self, variable: &str) -> Result<()> {
        match variable {
            "offline_mode" => self.need(Action::SetOfflineMode).map_err(|_| {
                err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "SYSTEM_VARIABLES_ADMIN plus CONNECTION_ADMIN or SUPER")
            }),
            "binlog_encryption" => self.need(Action::SetBinlogEncryption),
            _ => Ok(()),
        }
    }

    /// REVOKE of what is granted on everything, by an account that is itself restricted in some schemas: where its restrictions are not
    /// the other account's too, what is taken away there would be none of its own. `set` has no privilege where only dynamic ones are
    /// revoked. Error 3879.
    pub(crate) fn may_revoke_everywhere(&self, set: Privileges, from: &Account) -> Result<()> {
        let access = self.access();
        let refused = access.restrictions().iter().find(|(schema, own)| {
            let asked = set & **own;
            match from.restrictions.get(*schema) {
                Some(theirs) => !asked.without(*theirs).is_empty(),
                None => !asked.is_empty() || set.is_empty(),
            }
        });
        match refused {
            Some((schema, _)) => {
                let AccountName { user, host } = &access.account().name;
                Err(err!(ER_DB_ACCESS_DENIED, user, host, schema))
            }
            None => Ok(()),
        }
    }

    fn is_system_user(&self) -> bool {
        self.access().has_dynamic(SYSTEM_USER)
    }

    /// Error 1227 where the account has SYSTEM_USER and the session does not. One that is not there can be changed.
    pub(crate) fn may_change(&self, name: &AccountName, directory: &Directory) -> Result<()> {
        match directory.get(name) {
            Some(account) if has_system_user(account) && !self.is_system_user() => {
                Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, SYSTEM_USER))
            }
            _ => Ok(()),
        }
    }

    /// Error 1227 where the definer of a view or a routine has SYSTEM_USER, which the session has not. What it defines may take any role
    /// that the definer has.
    pub(crate) fn may_change_what_is_of(&self, definer: &str) -> Result<()> {
        self.may_act_as(&AccountName::of_definer(definer), &self.server.accounts.directory())
    }

    fn may_act_as(&self, definer: &AccountName, directory: &Directory) -> Result<()> {
        match self.is_system_user() || !could_have_system_user(definer, directory) {
            true => Ok(()),
            false => Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, SYSTEM_USER)),
        }
    }

    /// ALTER USER: of the own account a session may change the password, and nothing else without what others' accounts
    /// need. Error 1227.
    pub(crate) fn may_alter(&self, name: &AccountName, spec: &UserSpec, options: &AccountOptions) -> Result<()> {
        let own = *name == self.access().account().name;
        if !own || !only_password(spec, options) {
            return self.need(Action::AlterUser);
        }
        match spec.retain_current || spec.discard_old {
            true if may(self.access(), Action::OwnSecondPassword) => Ok(()),
            true => Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "CREATE USER or APPLICATION_PASSWORD_ADMIN")),
            false => Ok(()),
        }
    }

    /// A role or an account to be handed on as one: ROLE_ADMIN, or each WITH ADMIN OPTION. Error 1227.
    pub(crate) fn may_hand_on(&self, roles: &[AccountName]) -> Result<()> {
        let access = self.access();
        if may(access, Action::GrantRole) || roles.iter().all(|r| access.account().administers(r)) {
            return Ok(());
        }
        Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "WITH ADMIN, ROLE_ADMIN, SUPER"))
    }

    /// Roles that everybody would have: nobody gets SYSTEM_USER so. Error 3880.
    pub(crate) fn may_be_mandatory(&self, roles: &[AccountName]) -> Result<()> {
        let directory = self.server.accounts.directory();
        let system = |role: &&AccountName| could_have_system_user(role, &directory);
        match roles.iter().find(system) {
            Some(role) => {
                Err(err!(ER_DA_AUTH_ID_WITH_SYSTEM_USER_PRIV_IN_MANDATORY_ROLES, role.user, role.host, SYSTEM_USER))
            }
            None => Ok(()),
        }
    }

    /// A definer that is not the session's own account: of a new view, or one that it keeps. `known`: there is such an account.
    /// Error 1227.
    pub(crate) fn may_name_definer(&self, name: &AccountName, directory: &Directory) -> Result<()> {
        if *name == self.access().account().name {
            return Ok(());
        }
        self.need(Action::SetAnyDefiner)?;
        self.may_act_as(name, directory)?;
        match directory.get(name) {
            Some(_) => Ok(()),
            None => self.need(Action::LeaveOrphans),
        }
    }
}

impl Session {
    /// What the action needs of the whole server. Errors 1142, 1227.
    pub(crate) fn need(&self, action: Action) -> Result<()> {
        check(self.access(), action, None)
    }

    /// What the action needs on a schema. Errors 1044, 1227.
    pub(crate) fn need_in(&self, action: Action, schema: &str) -> Result<()> {
        check(self.access(), action, Some((schema, "")))
    }

    /// What the action needs on a table. Errors 1044, 1142, 1227.
    pub(crate) fn need_on(&self, action: Action, schema: &str, table: &str) -> Result<()> {
        check(self.access(), action, Some((schema, table)))
    }

    /// As [`Session::need_on`], unless the table is the session's own.
    pub(crate) fn need_on_shared(&self, action: Action, schema: &str, table: &str) -> Result<()> {
        if self.is_temporary(schema, table) { Ok(()) } else { self.need_on(action, schema, table) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_guarded_variable_is_there() {
        for name in GUARDED.iter().flat_map(|(_, names)| *names) {
            assert!(crate::variables::find(name).is_some(), "{name}");
        }
    }
}
