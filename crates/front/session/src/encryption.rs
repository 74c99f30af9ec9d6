//! Encryption at rest: which tables and schemas are encrypted, who may say so, and the keyring.

use crate::binary_log;
use crate::needs::{Action, may};
use crate::session::Session;
use crate::statement::text_of;
use crate::table_options::Optioned;
use crate::variables::{Globals, Val, VarId, id};
use catalog::error::from_engine;
use catalog::{CreateOptions, StorageEngine};
use engine::Engine;
use expr::Env;
use sql::ast::{DatabaseOptions, Parsed, TableOptions};
use types::codes::*;
use types::{Result, err};

const DEFAULT_ENCRYPTION: VarId = id("default_table_encryption");
const ENCRYPTION_PRIVILEGE_CHECK: VarId = id("table_encryption_privilege_check");

/// What makes logs encrypted of tables that are not.
pub(crate) const LOGS: [VarId; 2] = [id("innodb_redo_log_encrypt"), id("innodb_undo_log_encrypt")];

fn encrypt_log(engine: &Engine, id: VarId, on: bool) -> engine::Result<()> {
    match id == LOGS[0] {
        true => engine.set_redo_log_encrypt(on),
        false => engine.set_undo_log_encrypt(on),
    }
}

/// At the start: what the options ask for. An error: there is no keyring for it.
pub fn encrypt_logs(engine: &Engine, globals: &Globals) -> std::result::Result<(), String> {
    for id in LOGS.into_iter().filter(|id| globals.bool(*id)) {
        encrypt_log(engine, id, true).map_err(|e| e.to_string())?;
    }
    Ok(())
}

impl Session {
    /// ENCRYPTION, or the schema's default for a new table. Errors 1178, 3184, 3185, 3826, 3833; warning 3824.
    pub(crate) fn encryption(
        &mut self,
        parsed: &Parsed,
        options: &TableOptions,
        engine: StorageEngine,
        table: &Optioned<'_>,
        kept: &mut CreateOptions,
    ) -> Result<()> {
        let named = options.encryption.map(|e| text_of(parsed, e));
        let by_default = || (table.was.is_none() && !table.temporary && table.encrypts).then(|| "Y".to_string());
        match named.clone().or_else(by_default) {
            None => {}
            Some(value) if value.eq_ignore_ascii_case("n") => kept.set("ENCRYPTION", Some(value)),
            Some(value) if value.eq_ignore_ascii_case("y") => {
                if table.temporary {
                    return Err(err!(ER_CANNOT_USE_ENCRYPTION_CLAUSE, "temporary"));
                }
                kept.set("ENCRYPTION", Some(value));
            }
            Some(_) => return Err(err!(ER_INVALID_ENCRYPTION_OPTION)),
        }
        if kept.is_encrypted() && engine != StorageEngine::InnoDb {
            return Err(err!(ER_CHECK_NOT_IMPLEMENTED, "ENCRYPTION"));
        }
        if kept.is_encrypted() && !self.server.engine.has_keyring() {
            return Err(err!(ER_CANNOT_FIND_KEY_IN_KEYRING));
        }
        if named.is_some() && !table.temporary {
            self.may_differ_in_encryption(kept.is_encrypted(), table.encrypts)?;
            if !kept.is_encrypted() && table.encrypts {
                let warning = err!(WARN_UNENCRYPTED_TABLE_IN_ENCRYPTED_DB);
                self.state.warn("Warning", warning.code, warning.message);
            }
        }
        Ok(())
    }

    /// With `table_encryption_privilege_check` a table is as the schema says, but for those who may. Error 3826.
    pub(crate) fn may_differ_in_encryption(&self, encrypted: bool, by_default: bool) -> Result<()> {
        if encrypted == by_default || !self.checks_encryption_privilege() {
            return Ok(());
        }
        self.need(Action::DifferInEncryption).map_err(|_| err!(ER_CANNOT_SET_TABLE_ENCRYPTION))
    }

    /// The DEFAULT ENCRYPTION of a schema that a statement makes or alters: what it says, or `None`. Errors 1525, 3827.
    pub(crate) fn schema_encryption(&self, parsed: &Parsed, options: &DatabaseOptions) -> Result<Option<bool>> {
        let Some(text) = options.encryption.map(|e| text_of(parsed, e)) else { return Ok(None) };
        let encrypts = match text.to_ascii_lowercase().as_str() {
            "y" => true,
            "n" => false,
            _ => return Err(err!(ER_WRONG_VALUE, "argument (should be Y or N)", text)),
        };
        if encrypts != self.state.vars.bool(DEFAULT_ENCRYPTION) && self.checks_encryption_privilege() {
            self.need(Action::DifferInEncryption).map_err(|_| err!(ER_CANNOT_SET_DATABASE_ENCRYPTION))?;
        }
        Ok(Some(encrypts))
    }

    /// `default_table_encryption`: of a new schema that does not say.
    pub(crate) fn default_encryption(&self) -> bool {
        self.state.vars.bool(DEFAULT_ENCRYPTION)
    }

    fn checks_encryption_privilege(&self) -> bool {
        self.server.globals.load().bool(ENCRYPTION_PRIVILEGE_CHECK)
    }

    /// What SET of the variables of encryption needs beyond what all variables need: nothing where the session keeps its value. Error 1227.
    pub(crate) fn may_set_encryption(&self, id: VarId, global: bool, value: &Val) -> Result<()> {
        match id {
            ENCRYPTION_PRIVILEGE_CHECK => self.need(Action::SetEncryptionCheck),
            binary_log::ENCRYPTION => self.need(Action::BinlogMasterKey),
            DEFAULT_ENCRYPTION if !global && *self.state.vars.get(id) == *value => Ok(()),
            DEFAULT_ENCRYPTION => {
                let access = self.access();
                let both = may(access, Action::SetGlobal) && may(access, Action::DifferInEncryption);
                if may(access, Action::SetEncryptionCheck) || both {
                    return Ok(());
                }
                Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "SUPER or SYSTEM_VARIABLES_ADMIN and TABLE_ENCRYPTION_ADMIN"))
            }
            _ => Ok(()),
        }
    }

    /// `innodb_redo_log_encrypt`, `innodb_undo_log_encrypt`. Error 3185.
    pub(crate) fn encrypt_log(&self, id: VarId, on: bool) -> Result<()> {
        encrypt_log(&self.server.engine, id, on).map_err(from_engine)
    }

    /// Is there a table of this name, and is it encrypted?
    pub(crate) fn is_encrypted(&mut self, schema: &str, name: &str) -> bool {
        self.dictionary().table(schema, name).is_some_and(|table| table.create_options.is_encrypted())
    }

    /// A table on its way to another schema. Error 3826.
    pub(crate) fn may_move(&mut self, (schema, name): (&str, &str), to: &str) -> Result<()> {
        let version = self.dictionary();
        match (version.table(schema, name), version.schema(to)) {
            (Some(table), Some(to)) if schema != to.name && table.is_base() => {
                self.may_differ_in_encryption(table.create_options.is_encrypted(), to.encrypts)
            }
            _ => Ok(()),
        }
    }

    /// Errors 1227, 3185.
    pub(crate) fn rotate_master_key(&mut self) -> Result<()> {
        self.need(Action::MasterKey)?;
        self.commit_all()?;
        self.server.engine.rotate_master_key().map_err(from_engine)
    }

    /// Errors 1227, 4035.
    pub(crate) fn reload_keyring(&mut self) -> Result<()> {
        self.need(Action::ReloadKeyring)?;
        self.commit_all()?;
        self.server.engine.reload_keyring().map_err(|error| {
            eprintln!("[ERROR] [Server] keyring: {error}");
            err!(ER_RELOAD_KEYRING_FAILURE)
        })
    }
}
