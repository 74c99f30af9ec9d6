//! Variables that outlive the server: the text of `mysqld-auto.cnf`.
//!
//! ```text
//!   {"Version": 2,
//!    "mysql_static_variables":  {"back_log": {"Value": "100", "Metadata": {"Host": "localhost", "User": "root", "Timestamp": µs}}},
//!    "mysql_dynamic_variables": {...}}
//! ```
//! The file is MySQL's, members of an object in the order of MySQL's binary JSON. It is written anew at each change, by a
//! function that the binary gives: this crate knows no files.

use crate::variables::{Access, Globals, Origin, SetBy, Startup, VARIABLES, Variable, Wrong, find};
use types::codes::*;
use types::json::{Json, Object, parse};
use types::{Result, err};

/// Groups of `mysqld-auto.cnf`: those that are set at start alone, those that SET changes, and those of the latter that MySQL
/// reads before anything else.
pub(crate) const GROUPS: [&str; 3] =
    ["mysql_static_variables", "mysql_dynamic_variables", "mysql_dynamic_parse_early_variables"];

pub(crate) const EARLY: [&str; 3] = ["max_connections", "table_definition_cache", "table_open_cache"];

/// Variables that no session can persist: where the server is, what it is and what it trusts.
pub(crate) const NOT_PERSISTENT: [&str; 49] = [
    "admin_address",
    "admin_port",
    "auto_generate_certs",
    "basedir",
    "bind_address",
    "caching_sha2_password_auto_generate_rsa_keys",
    "caching_sha2_password_private_key_path",
    "caching_sha2_password_public_key_path",
    "core_file",
    "create_admin_listener_thread",
    "datadir",
    "ft_stopword_file",
    "gtid_purged",
    "init_file",
    "innodb_buffer_pool_load_at_startup",
    "innodb_data_home_dir",
    "innodb_dedicated_server",
    "innodb_directories",
    "innodb_doublewrite",
    "innodb_force_load_corrupted",
    "innodb_log_group_home_dir",
    "innodb_page_size",
    "innodb_read_only",
    "innodb_undo_directory",
    "keyring_operations",
    "large_pages",
    "lc_messages_dir",
    "log_bin",
    "log_bin_index",
    "log_error",
    "lower_case_table_names",
    "persist_only_admin_x509_subject",
    "persist_sensitive_variables_in_plaintext",
    "persisted_globals_load",
    "pid_file",
    "plugin_dir",
    "port",
    "replica_load_tmpdir",
    "restrict_fk_on_non_standard_key",
    "secure_file_priv",
    "sha256_password_auto_generate_rsa_keys",
    "sha256_password_private_key_path",
    "sha256_password_public_key_path",
    "skip_external_locking",
    "skip_networking",
    "slave_load_tmpdir",
    "socket",
    "tls_certificates_enforced_validation",
    "tmpdir",
];

/// One variable's line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: &'static str,
    pub value: String,
    pub user: String,
    pub host: String,
    /// When it was set, microseconds since 1970.
    pub time_us: u64,
}

/// What `mysqld-auto.cnf` says. Each name once, in the order of setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Persisted {
    pub entries: Vec<Entry>,
}

impl Persisted {
    /// Reads the file's text: one line for stderr if it is none. Names that are not known come back with it.
    pub fn parse(text: &[u8]) -> std::result::Result<(Persisted, Vec<String>), String> {
        let wrong = || "mysqld-auto.cnf: not of the form that SET PERSIST writes".to_string();
        let Ok(Json::Object(root)) = parse::parse(text) else { return Err(wrong()) };
        let (mut found, mut unknown) = (Persisted::default(), Vec::new());
        for group in GROUPS {
            let Some(group) = root.get(group) else { continue };
            let Json::Object(members) = group else { return Err(wrong()) };
            for (name, entry) in members.iter() {
                let Json::Object(entry) = entry else { return Err(wrong()) };
                let Some(Json::String(value)) = entry.get("Value") else { return Err(wrong()) };
                let Some(id) = find(name) else {
                    unknown.push(name.to_string());
                    continue;
                };
                let word = |member: &str| match entry.get("Metadata") {
                    Some(Json::Object(m)) => match m.get(member) {
                        Some(Json::String(s)) => s.clone(),
                        Some(Json::Int(n)) => n.to_string(),
                        Some(Json::UInt(n)) => n.to_string(),
                        _ => String::new(),
                    },
                    _ => String::new(),
                };
                found.entries.push(Entry {
                    name: VARIABLES[id as usize].name,
                    value: value.clone(),
                    user: word("User"),
                    host: word("Host"),
                    time_us: word("Timestamp").parse().unwrap_or(0),
                });
            }
        }
        found.entries.sort_by_key(|e| e.time_us);
        Ok((found, unknown))
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let string = |s: &str| Json::String(s.to_string());
        let mut root = vec![("Version".to_string(), Json::Int(2))];
        for group in GROUPS {
            let members: Vec<(String, Json)> = self
                .entries
                .iter()
                .filter(|e| group_of(e.name) == group)
                .map(|e| {
                    let metadata = vec![
                        ("Host".to_string(), string(&e.host)),
                        ("User".to_string(), string(&e.user)),
                        ("Timestamp".to_string(), Json::Int(e.time_us as i64)),
                    ];
                    let entry = vec![
                        ("Value".to_string(), string(&e.value)),
                        ("Metadata".to_string(), Json::Object(Object::from_members(metadata))),
                    ];
                    (e.name.to_string(), Json::Object(Object::from_members(entry)))
                })
                .collect();
            if !members.is_empty() {
                root.push((group.to_string(), Json::Object(Object::from_members(members))));
            }
        }
        let mut out = Vec::new();
        Json::Object(Object::from_members(root)).write(&mut out);
        String::from_utf8(out).expect("JSON text is UTF-8")
    }

    /// Puts the values over those of options: what was persisted counts more. One line for the error log for each that does
    /// not fit this server.
    pub fn apply(&self, globals: &mut Globals) -> Vec<String> {
        let mut refused = Vec::new();
        for entry in &self.entries {
            let id = find(entry.name).expect("entries name variables that there are");
            let variable = &VARIABLES[id as usize];
            match variable.parse_option(&entry.value) {
                Ok(value) if is_fixed(variable) && value != *globals.get(id) => {
                    refused.push(format!("persisted variable '{}': '{}' is not supported", entry.name, entry.value));
                }
                Ok(value) => {
                    crate::variables::pair(id, &value, &mut |id, value| globals.set(id, value));
                    globals.set(id, value);
                    let (user, host) = (entry.user.clone(), entry.host.clone());
                    globals.came_from(id, Origin::Persisted, Some(SetBy { user, host, time_us: entry.time_us }));
                }
                Err(Wrong::Value | Wrong::Fixed(_)) => {
                    refused.push(format!("persisted variable '{}': bad value '{}'", entry.name, entry.value));
                }
            }
        }
        refused
    }

    pub fn put(&mut self, entry: Entry) {
        self.entries.retain(|e| e.name != entry.name);
        self.entries.push(entry);
    }
}

pub(crate) fn is_fixed(variable: &Variable) -> bool {
    variable.access == Access::Fixed || variable.startup.is_fixed()
}

pub(crate) fn group_of(name: &str) -> &'static str {
    let id = find(name).expect("entries name variables that there are");
    match VARIABLES[id as usize].access {
        Access::ReadOnly => GROUPS[0],
        _ if EARLY.contains(&name) => GROUPS[2],
        _ => GROUPS[1],
    }
}

/// May SET PERSIST_ONLY name it? Errors 1228, 1238.
pub(crate) fn may_persist_only(variable: &Variable) -> Result<()> {
    let name = variable.name;
    let is_read_only = variable.access == Access::ReadOnly;
    if NOT_PERSISTENT.contains(&name) || is_read_only && variable.startup == Startup::None {
        return Err(err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, name, "non persistent read only"));
    }
    if is_read_only { Ok(()) } else { variable.may_set(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_reads_back_and_is_mysqls() {
        let entry = |name, value: &str, time_us| Entry {
            name,
            value: value.to_string(),
            user: "root".to_string(),
            host: "localhost".to_string(),
            time_us,
        };
        let mut persisted = Persisted::default();
        assert_eq!(persisted.text(), r#"{"Version": 2}"#);
        persisted.put(entry("back_log", "100", 1));
        persisted.put(entry("wait_timeout", "7", 2));
        persisted.put(entry("wait_timeout", "9", 3));
        let text = persisted.text();
        assert_eq!(
            text,
            "{\"Version\": 2, \"mysql_static_variables\": {\"back_log\": {\"Value\": \"100\", \"Metadata\": {\"Host\": \
             \"localhost\", \"User\": \"root\", \"Timestamp\": 1}}}, \"mysql_dynamic_variables\": {\"wait_timeout\": \
             {\"Value\": \"9\", \"Metadata\": {\"Host\": \"localhost\", \"User\": \"root\", \"Timestamp\": 3}}}}"
        );
        let (read, unknown) = Persisted::parse(text.as_bytes()).unwrap();
        assert_eq!((read, unknown.len()), (persisted.clone(), 0));
        let mut globals = Globals::new();
        assert!(persisted.apply(&mut globals).is_empty());
        assert_eq!(globals.uint(crate::variables::id("wait_timeout")), 9);
        assert!(Persisted::parse(b"{\"mysql_dynamic_variables\": 1}").is_err());
        assert_eq!(Persisted::parse(br#"{"mysql_dynamic_variables": {"x": {"Value": "1"}}}"#).unwrap().1, ["x"]);
    }
}
