//! INSTALL and UNINSTALL of components and plugins. Those that there are stand in this program; installing one switches it on,
//! now and at each start.

use crate::Server;
use crate::connection_control::Delays;
use crate::error_log;
use crate::evaluate::assignment_texts;
use crate::needs::Action;
use crate::run::lexer_mode;
use crate::session::Session;
use crate::state::State;
use crate::statement::text_of;
use crate::variables::{Extension, Globals, VARIABLES, Val, VarId, find, id, variable_name};
use accounts::strength::{DICTIONARY_BYTES_MAX, Dictionary, StrengthPolicy, Strictness};
use catalog::installed::Installed;
use expr::Env;
use sql::ast::{ExtensionStatement, Parsed, SetItem, Str, VarScope};
use std::sync::Arc;
use sync::waits::Wait;
use types::codes::*;
use types::{Result, SqlError, err};

const LENGTH: VarId = id("validate_password.length");
const MIXED_CASE: VarId = id("validate_password.mixed_case_count");
const NUMBERS: VarId = id("validate_password.number_count");
const SPECIALS: VarId = id("validate_password.special_char_count");
const STRICTNESS: VarId = id("validate_password.policy");
const CHECK_USER_NAME: VarId = id("validate_password.check_user_name");
const CHANGED: VarId = id("validate_password.changed_characters_percentage");
const DICTIONARY: VarId = id("validate_password.dictionary_file");
const THRESHOLD: VarId = id("connection_control_failed_connections_threshold");
const DELAY_MIN: VarId = id("connection_control_min_connection_delay");
const DELAY_MAX: VarId = id("connection_control_max_connection_delay");

/// `errno` of a library that is not there.
const ENOENT: u32 = 2;

/// Components, by their URNs.
const COMPONENTS: &[(&str, Extension)] = &[
    ("file://component_log_filter_dragnet", Extension::LogFilterDragnet),
    ("file://component_log_sink_json", Extension::LogSinkJson),
    ("file://component_query_attributes", Extension::QueryAttributes),
    ("file://component_validate_password", Extension::ValidatePassword),
];

/// The extension that a library has under this name. Errors 1126, 1127.
fn plugin_of(name: &str, library: &str) -> Result<Extension> {
    let of_library = || inspect::PLUGINS.iter().filter(|p| p.soname == library);
    if of_library().next().is_none() {
        return Err(no_library(library));
    }
    let found =
        of_library().find(|p| p.name.eq_ignore_ascii_case(name)).ok_or_else(|| err!(ER_CANT_FIND_DL_ENTRY, name))?;
    Ok(Extension::of_plugin(found.name).expect("each plugin is an extension"))
}

/// Errors 1126, 3527, 3528, 3529.
fn component_of(urn: &str) -> Result<Extension> {
    let (scheme, path) = urn.split_once("://").ok_or_else(|| err!(ER_COMPONENTS_NO_SCHEME, urn))?;
    if scheme != "file" {
        return Err(err!(ER_COMPONENTS_NO_SCHEME_SERVICE, scheme, urn));
    }
    if path.contains('/') {
        return Err(err!(ER_COMPONENTS_CANT_LOAD, urn));
    }
    let found = COMPONENTS.iter().find(|(known, _)| *known == urn);
    found.map(|(_, extension)| *extension).ok_or_else(|| no_library(&format!("{path}.so")))
}

pub(crate) fn no_library(name: &str) -> SqlError {
    err!(
        ER_CANT_OPEN_LIBRARY,
        name,
        ENOENT,
        format!("{name}: cannot open shared object file: No such file or directory")
    )
}

/// What was installed and is loaded again at a start. Unknown ones come from a later version and are left alone.
fn extension_of(installed: &Installed) -> Option<Extension> {
    match installed {
        Installed::Component { urn, .. } => COMPONENTS.iter().find(|(known, _)| known == urn).map(|(_, e)| *e),
        Installed::Plugin { name, .. } => Extension::of_plugin(name),
    }
}

/// In the time zone of the server's machine.
fn local_time(us: u64) -> String {
    let time = jiff::Timestamp::from_microsecond(us as i64).unwrap_or_default();
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// As the other numbers allow.
fn settle_length(globals: &mut Globals) {
    let length = strength_policy(globals).length_min() as u64;
    if globals.uint(LENGTH) < length {
        globals.set(LENGTH, Val::Int(length as i64));
    }
}

fn strength_policy(globals: &Globals) -> StrengthPolicy {
    let number = |id| globals.uint(id) as usize;
    StrengthPolicy {
        strictness: match globals.uint(STRICTNESS) {
            0 => Strictness::Low,
            1 => Strictness::Medium,
            _ => Strictness::Strong,
        },
        length: number(LENGTH),
        mixed_case: number(MIXED_CASE),
        numbers: number(NUMBERS),
        specials: number(SPECIALS),
        check_user_name: globals.bool(CHECK_USER_NAME),
        changed_percentage: number(CHANGED),
        dictionary: Arc::default(),
    }
}

impl Server {
    /// At a start, before anybody connects.
    pub(crate) fn load_extensions(&self) -> Result<()> {
        let installed = self.catalog.installed()?;
        self.globals.update(|old| {
            let mut globals = Globals::clone(old);
            installed.iter().filter_map(extension_of).for_each(|e| globals.install(e, true));
            error_log::named(old).into_iter().for_each(|e| globals.install(e, true));
            settle_length(&mut globals);
            globals
        });
        if self.globals.load().has(Extension::ValidatePassword) {
            self.apply_strength();
            self.read_dictionary();
        }
        Ok(())
    }

    /// What the variables say of passwords, from the next one on.
    fn apply_strength(&self) {
        let policy = strength_policy(&self.globals.load());
        self.strength.update(|old| StrengthPolicy { dictionary: Arc::clone(&old.dictionary), ..policy.clone() });
    }

    /// Reads `validate_password.dictionary_file`. Without one, or where it cannot be read, the words that are there stay, as in
    /// MySQL; false: it cannot.
    fn read_dictionary(&self) -> bool {
        let globals = self.globals.load();
        let path = match globals.text(DICTIONARY) {
            "" => return true,
            name => self.datadir.join(name),
        };
        let is_fit = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= DICTIONARY_BYTES_MAX as u64);
        let text = std::fs::read(&path).ok().filter(|_| is_fit);
        let Some(text) = text.and_then(|bytes| String::from_utf8(bytes).ok()) else { return false };
        let dictionary = Arc::new(Dictionary::parse(&text, crate::clock::clock_us()));
        self.strength.update(|old| StrengthPolicy { dictionary: Arc::clone(&dictionary), ..old.clone() });
        true
    }

    /// VALIDATE_PASSWORD_STRENGTH()
    pub(crate) fn password_strength(&self, state: &State, password: &str) -> i64 {
        if !self.globals.load().has(Extension::ValidatePassword) {
            return 0;
        }
        let account = state.current_user.rsplit_once('@').map_or("", |(user, _)| user);
        self.strength.load().rate(password, &[state.login_name(), account])
    }

    /// Rows of the status that extensions have.
    pub(crate) fn extension_status(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        if self.globals.load().has(Extension::ValidatePassword) {
            let dictionary = Arc::clone(&self.strength.load().dictionary);
            let name = |rest| format!("{}{rest}", Extension::ValidatePassword.prefix().unwrap_or_default());
            let read_at = match dictionary.read_at_us {
                0 => String::new(),
                us => local_time(us),
            };
            all.push((name("dictionary_file_last_parsed"), read_at));
            all.push((name("dictionary_file_words_count"), dictionary.words().to_string()));
        }
        if self.globals.load().has(Extension::ConnectionControl) {
            all.push(("Connection_control_delay_generated".to_string(), self.failed_logins.delayed().to_string()));
        }
        if self.globals.load().has(Extension::LogFilterDragnet) {
            all.push(("dragnet.Status".to_string(), self.error_log.rules()));
        }
        all.extend(self.seen.attributes_status().map(|(name, n)| (name.to_string(), n.to_string())));
        if self.globals.load().has(Extension::AuditLog) {
            let file = self.datadir.join(self.globals.load().text(crate::logs::audit::FILE));
            all.extend(self.logs.audit_status(&file));
        }
        self.semisync_status(&mut all);
        all
    }

    /// How late answers to logins come; `None`: the plugin that delays them is not installed.
    pub(crate) fn login_delays(&self) -> Option<Delays> {
        let globals = self.globals.load();
        globals.has(Extension::ConnectionControl).then(|| Delays {
            threshold: globals.uint(THRESHOLD),
            min_ms: globals.uint(DELAY_MIN),
            max_ms: globals.uint(DELAY_MAX),
        })
    }

    fn switch(&self, extensions: &[Extension], on: bool) {
        self.globals.update(|old| {
            let mut globals = Globals::clone(old);
            extensions.iter().for_each(|e| globals.install(*e, on));
            settle_length(&mut globals);
            globals
        });
        if extensions.contains(&Extension::LogFilterDragnet) {
            self.error_log.set(&self.globals.load());
        }
        if extensions.contains(&Extension::ConnectionControl) {
            self.failed_logins.forget();
        }
        if extensions.contains(&Extension::SemiSyncSource) || extensions.contains(&Extension::AuditLog) {
            self.apply_globals();
        }
        if extensions.contains(&Extension::ValidatePassword) {
            let policy = StrengthPolicy { ..strength_policy(&self.globals.load()) };
            self.strength.store(Arc::new(policy));
        }
    }
}

impl Session {
    pub(crate) fn extension(&mut self, parsed: &Parsed, statement: &ExtensionStatement) -> Result<()> {
        self.commit_all()?;
        let server = Arc::clone(&self.server);
        let _one_at_a_time =
            server.installing.lock_or_end(Wait::CatalogDdlMutex).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        match statement {
            ExtensionStatement::InstallComponents { urns, set } => {
                self.need(Action::InstallComponent)?;
                self.install_components(parsed, urns, set)?;
            }
            ExtensionStatement::UninstallComponents(urns) => {
                self.need(Action::UninstallComponent)?;
                self.uninstall_components(parsed, urns)?;
            }
            ExtensionStatement::InstallPlugin { name, library } => {
                self.need(Action::InstallPlugin)?;
                self.install_plugin(parsed.name(*name), &text_of(parsed, *library))?;
            }
            ExtensionStatement::UninstallPlugin(name) => {
                self.need(Action::UninstallPlugin)?;
                self.uninstall_plugin(parsed.name(*name))?;
            }
        }
        Ok(())
    }

    fn install_components(&mut self, parsed: &Parsed, urns: &[Str], set: &[SetItem]) -> Result<()> {
        let installed = self.server.catalog.installed()?;
        let (mut last_id, mut last_group) = (0, 0);
        for one in &installed {
            if let Installed::Component { id, group, .. } = one {
                (last_id, last_group) = (last_id.max(*id), last_group.max(*group));
            }
        }
        let (mut extensions, mut new) = (Vec::new(), Vec::new());
        for urn in urns {
            let urn = text_of(parsed, *urn);
            let extension = component_of(&urn)?;
            if self.server.globals.load().has(extension) || extensions.contains(&extension) {
                return Err(err!(ER_COMPONENTS_CANT_LOAD, urn));
            }
            extensions.push(extension);
            last_id += 1;
            new.push(Installed::Component { urn, id: last_id, group: last_group + 1 });
        }
        self.persisted_values(&extensions);
        // Their variables have to be there to be set.
        self.server.switch(&extensions, true);
        let done = self.set_of_components(parsed, urns.len(), &extensions, set).and_then(|()| self.store(&new, true));
        if done.is_err() {
            self.server.switch(&extensions, false);
        }
        done
    }

    /// What SET PERSIST had said of an extension's variables before it went counts again.
    fn persisted_values(&self, extensions: &[Extension]) {
        let persisted = self.server.persisted.lock().clone();
        self.server.globals.update(|old| {
            let mut globals = Globals::clone(old);
            for entry in &persisted.entries {
                let id = find(entry.name).expect("entries name variables that there are");
                let variable = &VARIABLES[id as usize];
                if variable.extension().is_some_and(|e| extensions.contains(&e))
                    && let Ok(value) = variable.parse_option(&entry.value)
                {
                    globals.set(id, value);
                }
            }
            globals
        });
    }

    /// INSTALL COMPONENT ... SET. Errors 3536, 4161.
    fn set_of_components(
        &mut self,
        parsed: &Parsed,
        urns: usize,
        extensions: &[Extension],
        set: &[SetItem],
    ) -> Result<()> {
        if !set.is_empty() {
            self.need(Action::SetGlobal)?;
        }
        let source = parsed.source().to_vec();
        let texts = assignment_texts(&source, lexer_mode(self.state.sql_mode));
        let mut values = Vec::new();
        for (at, item) in set.iter().enumerate() {
            let SetItem::SystemVar { scope, base, name, value } = *item else {
                unreachable!("the parser takes no others")
            };
            let variable = &VARIABLES[variable_of(&variable_name(parsed, base, name), extensions)? as usize];
            let id = find(variable.name).expect("it was found by its name");
            // The first assignment stands behind the last URN.
            let text = texts.get(urns - 1 + at).map_or(&b""[..], |a| &source[a.value.clone()]);
            let value = match value {
                None => variable.default_value(),
                Some(value) => {
                    let (value, _) = self.evaluate(parsed, value, text)?;
                    let of = variable.name.split('.').next().unwrap_or_default();
                    variable
                        .check(&value, true, &mut |_| {})
                        .map_err(|_| err!(ER_COMPONENTS_LOAD_CANT_INITIALIZE, format!("mysql:{of}")))?
                }
            };
            values.push((id, value, scope == VarScope::Persist));
        }
        let persisted: Vec<(VarId, Val)> = values.iter().filter(|v| v.2).map(|v| (v.0, v.1.clone())).collect();
        if !persisted.is_empty() {
            self.persist(&persisted)?;
        }
        for (id, value, _) in values {
            self.set_global(id, value);
            self.after_extension_set(id);
        }
        Ok(())
    }

    fn uninstall_components(&mut self, parsed: &Parsed, urns: &[Str]) -> Result<()> {
        let installed = self.server.catalog.installed()?;
        let mut gone: Vec<Installed> = Vec::new();
        for urn in urns {
            let urn = text_of(parsed, *urn);
            let is_it = |one: &&Installed| matches!(one, Installed::Component { urn: known, .. } if *known == urn);
            let found = installed.iter().find(is_it);
            self.may_unload(&urn, found.is_some())?;
            let found = found.ok_or_else(|| err!(ER_COMPONENTS_UNLOAD_NOT_LOADED, urn))?;
            if gone.contains(found) {
                return Err(err!(ER_COMPONENTS_UNLOAD_DUPLICATE_IN_GROUP, urn));
            }
            gone.push(found.clone());
        }
        self.uninstall(&gone)
    }

    /// A service of the error log stays while `log_error_services` names it. Error 3540.
    fn may_unload(&mut self, urn: &str, is_installed: bool) -> Result<()> {
        let Some((_, extension)) = COMPONENTS.iter().find(|(known, _)| *known == urn) else { return Ok(()) };
        if !error_log::named(&self.server.globals.load()).contains(extension) {
            return Ok(());
        }
        if !is_installed {
            self.state.push_warning("Warning", err!(ER_WARN_UNLOAD_THE_NOT_PERSISTED, urn));
        }
        let name = urn.rsplit("component_").next().unwrap_or_default();
        let (service, component) = (format!("log_service.{name}"), format!("mysql:{name}"));
        Err(err!(ER_COMPONENTS_UNLOAD_CANT_UNREGISTER_SERVICE, service, component))
    }

    /// SET GLOBAL log_error_services: components that it names are there for as long as it does, installed or not.
    pub(crate) fn set_error_log_services(&mut self, value: Val) -> Result<()> {
        let server = Arc::clone(&self.server);
        let _one_at_a_time = server.installing.lock_or_end(Wait::LogFlush).ok_or_else(|| err!(ER_QUERY_INTERRUPTED))?;
        let installed: Vec<Extension> = server.catalog.installed()?.iter().filter_map(extension_of).collect();
        self.set_global(error_log::SERVICES, value);
        let named = error_log::named(&server.globals.load());
        for extension in [Extension::LogSinkJson, Extension::LogFilterDragnet] {
            let is_there = named.contains(&extension) || installed.contains(&extension);
            if is_there != server.globals.load().has(extension) {
                if is_there {
                    self.persisted_values(&[extension]);
                }
                server.switch(&[extension], is_there);
            }
        }
        Ok(())
    }

    fn uninstall(&mut self, gone: &[Installed]) -> Result<()> {
        self.store(gone, false)?;
        let extensions: Vec<Extension> = gone.iter().filter_map(extension_of).collect();
        self.server.switch(&extensions, false);
        self.server.apply_policy(&self.server.globals.load())
    }

    /// Errors 1124 to 1127.
    fn install_plugin(&mut self, name: &str, library: &str) -> Result<()> {
        if library.contains('/') {
            return Err(err!(ER_UDF_NO_PATHS));
        }
        if Extension::of_plugin(name).is_some_and(|e| self.server.globals.load().has(e)) {
            return Err(err!(ER_UDF_EXISTS, name));
        }
        let extension = plugin_of(name, library)?;
        self.store(&[Installed::Plugin { name: name.to_string(), library: library.to_string() }], true)?;
        self.persisted_values(&[extension]);
        self.server.switch(&[extension], true);
        self.server.apply_policy(&self.server.globals.load())
    }

    /// Error 1305.
    fn uninstall_plugin(&mut self, name: &str) -> Result<()> {
        let is_it =
            |one: &&Installed| matches!(one, Installed::Plugin { name: known, .. } if known.eq_ignore_ascii_case(name));
        match self.server.catalog.installed()?.iter().find(is_it) {
            Some(found) => self.uninstall(std::slice::from_ref(found)),
            None => Err(err!(ER_SP_DOES_NOT_EXIST, "PLUGIN", name)),
        }
    }

    /// Puts entries into the dictionary, or takes them out. The binary log has nothing of it: what a server has loaded is its own.
    fn store(&mut self, entries: &[Installed], there: bool) -> Result<()> {
        self.state.log_text = None;
        self.define(|ddl| {
            entries.iter().try_for_each(|entry| match there {
                true => ddl.put_installed(entry),
                false => ddl.remove_installed(entry),
            })
        })
    }

    /// SET GLOBAL of one of an extension's variables. Error 1317.
    pub(crate) fn set_of_extension(&mut self, id: VarId, value: Val) -> Result<()> {
        // It is an order, and stays OFF.
        if id == crate::logs::audit::FLUSH {
            return if value.bool() { self.server.logs.reopen(crate::logs::Log::Audit) } else { Ok(()) };
        }
        self.set_global(id, value);
        self.after_extension_set(id);
        Ok(())
    }

    /// What SET GLOBAL of one of an extension's variables leads to.
    pub(crate) fn after_extension_set(&mut self, id: VarId) {
        match id {
            LENGTH | MIXED_CASE | NUMBERS | SPECIALS => self.server.globals.update(|old| {
                let mut globals = Globals::clone(old);
                settle_length(&mut globals);
                globals
            }),
            DICTIONARY if !self.server.read_dictionary() => {
                let file = self.server.globals.load().text(DICTIONARY).to_string();
                let error = err!(ER_FILE_NOT_FOUND, file, ENOENT, "the words that were there before stay");
                self.state.warn("Warning", error.code, error.message);
            }
            // As in MySQL: failures are counted anew.
            THRESHOLD => self.server.failed_logins.forget(),
            _ => {}
        }
        self.server.apply_strength();
    }

    /// Is it good enough a password? Error 1819.
    pub(crate) fn check_strength(&self, password: &[u8]) -> Result<()> {
        match self.server.globals.load().has(Extension::ValidatePassword) {
            true => {
                let account = &self.access().account().name.user;
                self.server.strength.load().check(password, &[self.state.login_name(), account])
            }
            false => Ok(()),
        }
    }

    /// Is enough of a password that its owner replaces new? Error 4165.
    pub(crate) fn check_changed(&self, old: &[u8], new: &[u8]) -> Result<()> {
        match self.server.globals.load().has(Extension::ValidatePassword) {
            true => self.server.strength.load().check_change(old, new),
            false => Ok(()),
        }
    }
}

/// The variable that INSTALL COMPONENT ... SET names. Where one component is installed its own name may be left out. Error 4161.
fn variable_of(written: &str, extensions: &[Extension]) -> Result<VarId> {
    let full = match extensions {
        [only] if !written.contains('.') => format!("{}{written}", only.prefix().unwrap_or_default()),
        _ => written.to_string(),
    };
    let is_theirs = |id: &VarId| VARIABLES[*id as usize].extension().is_some_and(|e| extensions.contains(&e));
    find(&full).filter(is_theirs).ok_or_else(|| err!(ER_INSTALL_COMPONENT_SET_UNUSED_VALUE, full.replace('_', "-")))
}

/// A value as the other variables of its extension allow it. What is only set now is settled once it is. Error 1231.
pub(crate) fn agree(globals: &Globals, id: VarId, value: Val, persists: bool) -> Result<Val> {
    let fits = match id {
        LENGTH if persists => {
            return Ok(Val::Int(value.uint().max(strength_policy(globals).length_min() as u64) as i64));
        }
        DELAY_MIN => value.uint() <= globals.uint(DELAY_MAX),
        DELAY_MAX => value.uint() >= globals.uint(DELAY_MIN),
        _ => true,
    };
    let variable = &VARIABLES[id as usize];
    if fits { Ok(value) } else { Err(variable.cannot(&variable.print(&value))) }
}
