//! The audit log: who did what, from where, and what came of it; a JSON object a line, with the names that MySQL's plugin gives them.
//!
//! It is there while the plugin `audit_log` is installed. Texts are those of the other logs: without passwords. One that does not
//! parse may hold one, and is not shown.

use super::entry::{Entry, Log};
use crate::error_log::quote;
use crate::session::Session;
use crate::variables::{Extension, Globals, VARIABLES, Val, VarId, id};
use protocol::{ClosedBy, Peer};
use types::{DateTime, Result, SqlError};

pub(crate) const FILE: VarId = id("audit_log_file");
pub(crate) const FLUSH: VarId = id("audit_log_flush");
pub(crate) const ROTATE: VarId = id("audit_log_rotate_on_size");
const POLICY: VarId = id("audit_log_policy");
const CONNECTIONS: VarId = id("audit_log_connection_policy");
const STATEMENTS: VarId = id("audit_log_statement_policy");
const STRATEGY: VarId = id("audit_log_strategy");
const INCLUDE: VarId = id("audit_log_include_accounts");
const EXCLUDE: VarId = id("audit_log_exclude_accounts");
const INCLUDE_COMMANDS: VarId = id("audit_log_include_commands");
const EXCLUDE_COMMANDS: VarId = id("audit_log_exclude_commands");

/// Bytes of a statement that an entry has.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// What has become of events so far. Those of one buffer are under its lock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AuditCounts {
    pub events: u64,
    pub filtered: u64,
    pub lost: u64,
    pub waits: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Errors,
    None,
}

impl Which {
    fn of(number: u64) -> Which {
        match number {
            0 => Which::All,
            1 => Which::Errors,
            _ => Which::None,
        }
    }

    fn takes(self, status: u16) -> bool {
        self == Which::All || self == Which::Errors && status != 0
    }
}

/// What the variables say.
pub(super) struct AuditSettings {
    connections: Which,
    statements: Which,
    /// Whoever finds no room waits for it.
    pub waits: bool,
    /// Accounts, and whether they are the only ones or the ones that are not there. Empty: all.
    accounts: Vec<(String, String)>,
    only_accounts: bool,
    commands: Vec<String>,
    only_commands: bool,
}

/// `user@host`, with quotes or without.
fn accounts(text: &str) -> Option<Vec<(String, String)>> {
    let bare = |word: &str| word.trim().trim_matches(['\'', '"', '`']).to_string();
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.rsplit_once('@').map(|(user, host)| (bare(user), bare(host).to_ascii_lowercase()))).collect()
}

fn commands(text: &str) -> Vec<String> {
    text.split(',').map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty()).collect()
}

impl AuditSettings {
    /// `None`: the plugin is not installed, or wants nothing.
    pub fn of(globals: &Globals) -> Option<AuditSettings> {
        if !globals.has(Extension::AuditLog) {
            return None;
        }
        // ALL, LOGINS, QUERIES, NONE
        let (logins, queries) = match globals.uint(POLICY) {
            0 => (true, true),
            1 => (true, false),
            2 => (false, true),
            _ => return None,
        };
        let which = |on: bool, id| if on { Which::of(globals.uint(id)) } else { Which::None };
        let choose = |only: VarId, not: VarId| match globals.text(only) {
            "" => (globals.text(not).to_string(), false),
            text => (text.to_string(), true),
        };
        let (of_accounts, only_accounts) = choose(INCLUDE, EXCLUDE);
        let (of_commands, only_commands) = choose(INCLUDE_COMMANDS, EXCLUDE_COMMANDS);
        Some(AuditSettings {
            connections: which(logins, CONNECTIONS),
            statements: which(queries, STATEMENTS),
            // ASYNCHRONOUS, PERFORMANCE
            waits: globals.uint(STRATEGY) == 0,
            accounts: accounts(&of_accounts).unwrap_or_default(),
            only_accounts,
            commands: commands(&of_commands),
            only_commands,
        })
    }

    fn takes_account(&self, user: &str, host: &str) -> bool {
        let is_named = self.accounts.iter().any(|(u, h)| u == user && h.eq_ignore_ascii_case(host));
        self.accounts.is_empty() || is_named == self.only_accounts
    }

    fn takes_command(&self, command: &str) -> bool {
        let is_named = self.commands.iter().any(|known| known == command);
        self.commands.is_empty() || is_named == self.only_commands
    }
}

/// May a variable have this value, beside the others? Error 1231.
pub(crate) fn may_set(globals: &Globals, id: VarId, new: &Val) -> Result<()> {
    let other = match id {
        INCLUDE => EXCLUDE,
        EXCLUDE => INCLUDE,
        INCLUDE_COMMANDS => EXCLUDE_COMMANDS,
        EXCLUDE_COMMANDS => INCLUDE_COMMANDS,
        _ => return Ok(()),
    };
    let refused = || -> SqlError { VARIABLES[id as usize].cannot(&VARIABLES[id as usize].print(new)) };
    let both = !new.text().is_empty() && !globals.text(other).is_empty();
    let is_list = !matches!(id, INCLUDE | EXCLUDE) || accounts(new.text()).is_some();
    if both || !is_list { Err(refused()) } else { Ok(()) }
}

/// An object of names and values, as far as it is written.
struct Object(String);

impl Object {
    fn new() -> Object {
        Object("{ ".to_string())
    }

    fn name(&mut self, name: &str) {
        if !self.0.ends_with("{ ") {
            self.0.push_str(", ");
        }
        quote(name, &mut self.0);
        self.0.push_str(": ");
    }

    fn text(mut self, name: &str, value: &str) -> Object {
        self.name(name);
        quote(value, &mut self.0);
        self
    }

    fn number(mut self, name: &str, value: u64) -> Object {
        self.name(name);
        self.0.push_str(&value.to_string());
        self
    }

    fn object(mut self, name: &str, value: Object) -> Object {
        self.name(name);
        self.0.push_str(&value.end());
        self
    }

    fn end(mut self) -> String {
        self.0.push_str(" }");
        self.0
    }
}

/// `2026-11-28 08:46:11`, in UTC.
fn timestamp(us: u64) -> String {
    let at = DateTime::from_unix((us / 1_000_000) as i64, 0).unwrap_or(DateTime(0));
    let mut text = Vec::new();
    types::Value::DateTime(at).write_text(&types::DataType::new(types::TypeKind::DateTime), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

impl Session {
    /// A statement or another command is over.
    #[cold]
    pub(super) fn audit_statement(&self, status: u16) {
        let (command, text) = (self.log.command, &self.log.text);
        if command.is_empty() || command == "Quit" {
            return;
        }
        let class = self.recorder.class_name();
        let shown = &text[..text.len().min(TEXT_BYTES_MAX)];
        self.audit("general", "status", status, Some(class), || {
            let mut data = Object::new().text("command", command).text("sql_command", class);
            data = data.text("query", &String::from_utf8_lossy(shown));
            if shown.len() < text.len() {
                data = data.number("query_length", text.len() as u64);
            }
            ("general_data", data.number("status", status.into()))
        });
    }

    /// A login, or the end of a connection. `status`: an error number, 0 for none.
    #[cold]
    pub(crate) fn audit_connection(&self, event: &str, status: u16) {
        if !self.server.logs.wants(Log::Audit) {
            return;
        }
        let kind = match (self.peer, &self.tls) {
            (_, Some(_)) => "ssl",
            (Peer::Unix, None) => "socket",
            (Peer::Tcp(_), None) => "tcp/ip",
        };
        self.audit("connection", event, status, None, || {
            let data = Object::new().text("connection_type", kind).number("status", status.into());
            ("connection_data", data.text("db", self.state.database.as_deref().unwrap_or("")))
        });
    }

    /// The connection is over.
    pub(crate) fn audit_end(&self, _: ClosedBy) {
        if self.access.is_some() {
            self.audit_connection("disconnect", 0);
        }
    }

    fn audit(
        &self,
        class: &str,
        event: &str,
        status: u16,
        command: Option<&str>,
        data: impl FnOnce() -> (&'static str, Object),
    ) {
        let logs = &self.server.logs;
        let settings = logs.audit_settings();
        let Some(settings) = settings.as_ref() else { return };
        let which = if command.is_some() { settings.statements } else { settings.connections };
        let account = self.access.as_ref().map(|access| access.account().name.clone());
        let (user, host) = account.as_ref().map_or(("", ""), |name| (name.user.as_str(), name.host.as_str()));
        let is_taken = which.takes(status)
            && command.is_none_or(|command| settings.takes_command(command))
            && settings.takes_account(user, host);
        if !is_taken {
            logs.audit_filtered(self.state.id);
            return;
        }
        let ip = match self.peer {
            Peer::Unix => String::new(),
            Peer::Tcp(at) => at.ip().to_canonical().to_string(),
        };
        let at_us = crate::clock::clock_us();
        let (name, data) = data();
        let object = Object::new()
            .text("timestamp", &timestamp(at_us))
            .number("id", at_us % 1_000_000)
            .text("class", class)
            .text("event", event)
            .number("connection_id", self.state.id.into())
            .object("account", Object::new().text("user", user).text("host", host))
            .object(
                "login",
                Object::new().text("user", self.state.login_name()).text("os", "").text("ip", &ip).text("proxy", ""),
            )
            .object(name, data);
        let head = (object.end() + "\n").into_bytes();
        logs.push_audit(self.state.id, Entry { log: Log::Audit, at_us, head, ..Entry::default() }, settings.waits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_accounts() {
        let pair = |user: &str, host: &str| (user.to_string(), host.to_string());
        assert_eq!(accounts("a@b, 'c d'@'%' ,"), Some(vec![pair("a", "b"), pair("c d", "%")]));
        assert_eq!(accounts(""), Some(vec![]));
        assert_eq!(accounts("nobody"), None);
    }

    #[test]
    fn objects_are_json() {
        let inner = Object::new().text("a\"", "\\\n").number("n", 7);
        let text = Object::new().text("x", "").object("y", inner).end();
        assert_eq!(text, r#"{ "x": "", "y": { "a\"": "\\\u000a", "n": 7 } }"#);
    }
}
