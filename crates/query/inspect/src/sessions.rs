//! Sessions in `performance_schema`: their variables, attributes and counts, and those of accounts, users and hosts.

use crate::{Context, Row, maybe, text, uint, word};
use std::sync::Arc;
use types::{Result, Value};

/// System variables of a session.
#[derive(Clone, Debug)]
pub struct ThreadVariables {
    pub thread: u64,
    pub variables: Vec<(&'static str, String)>,
}

/// Variables `@x` of a session. `None`: NULL.
#[derive(Clone, Debug)]
pub struct UserVariables {
    pub thread: u64,
    pub variables: Vec<(String, Option<Vec<u8>>)>,
}

/// What a client has said of itself.
#[derive(Clone, Debug)]
pub struct ConnectAttributes {
    pub connection: u64,
    pub user: String,
    pub host: String,
    pub attributes: Arc<[(String, String)]>,
}

/// What a session has counted.
#[derive(Clone, Debug)]
pub struct ThreadCounts {
    pub thread: u64,
    pub counts: Vec<(&'static str, u64)>,
}

/// How sums are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupedBy {
    Account,
    User,
    Host,
}

impl GroupedBy {
    pub const ALL: [GroupedBy; 3] = [GroupedBy::Account, GroupedBy::User, GroupedBy::Host];

    pub fn table(self) -> &'static str {
        match self {
            GroupedBy::Account => "accounts",
            GroupedBy::User => "users",
            GroupedBy::Host => "hosts",
        }
    }

    pub fn status_table(self) -> &'static str {
        match self {
            GroupedBy::Account => "status_by_account",
            GroupedBy::User => "status_by_user",
            GroupedBy::Host => "status_by_host",
        }
    }

    /// What the names of its tables about sums by event end in.
    pub fn memory_table(self) -> &'static str {
        match self {
            GroupedBy::Account => "by_account_by_event_name",
            GroupedBy::User => "by_user_by_event_name",
            GroupedBy::Host => "by_host_by_event_name",
        }
    }

    pub(crate) fn columns(self, sums: &AccountSums) -> Row {
        match self {
            GroupedBy::Account => vec![text(&*sums.user), text(&*sums.host)],
            GroupedBy::User => vec![text(&*sums.user)],
            GroupedBy::Host => vec![text(&*sums.host)],
        }
    }
}

/// Of an account, a user or a host.
#[derive(Clone, Debug)]
pub struct AccountSums {
    pub user: String,
    pub host: String,
    /// Connections: those that are there, and all since the start.
    pub current: u64,
    pub total: u64,
    pub counts: Vec<(&'static str, u64)>,
    /// Memory of the connections that are there, and the most that one has had.
    pub memory_bytes: u64,
    pub memory_bytes_max: u64,
}

pub(crate) fn variables_by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for thread in cx.source.thread_variables(cx.slot) {
        out.extend(
            thread.variables.into_iter().map(|(name, value)| vec![uint(thread.thread), word(name), text(value)]),
        );
    }
    Ok(())
}

pub(crate) fn user_variables_by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for thread in cx.source.user_variables() {
        let row = |(name, value): (String, Option<Vec<u8>>)| {
            vec![uint(thread.thread), text(name), value.map_or(Value::Null, |bytes| Value::Bytes(bytes.into()))]
        };
        out.extend(thread.variables.into_iter().map(row));
    }
    Ok(())
}

fn attributes(cx: &Context, own: bool, out: &mut Vec<Row>) -> Result<()> {
    for session in cx.source.connect_attributes() {
        if own && session.user != cx.viewer.user {
            continue;
        }
        for (at, (name, value)) in session.attributes.iter().enumerate() {
            let value = if value.is_empty() { Value::Null } else { text(&**value) };
            out.push(vec![uint(session.connection), text(&**name), value, Value::Int(at as i64)]);
        }
    }
    Ok(())
}

pub(crate) fn session_connect_attrs(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    attributes(cx, false, out)
}

pub(crate) fn session_account_connect_attrs(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    attributes(cx, true, out)
}

pub(crate) fn status_by_thread(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for thread in cx.source.thread_counts() {
        let row = |(name, n): (&'static str, u64)| vec![uint(thread.thread), word(name), text(n.to_string())];
        out.extend(thread.counts.into_iter().map(row));
    }
    Ok(())
}

/// `accounts`, `users`, `hosts`. Nothing here has memory that is controlled apart from all of a connection's.
pub(crate) fn connections(cx: &Context, by: GroupedBy, out: &mut Vec<Row>) -> Result<()> {
    for sums in cx.source.account_sums(by) {
        let mut row = by.columns(&sums);
        row.extend([Value::Int(sums.current as i64), Value::Int(sums.total as i64)]);
        row.extend([uint(sums.memory_bytes_max), uint(sums.memory_bytes_max)]);
        out.push(row);
    }
    Ok(())
}

/// `status_by_account`, `status_by_user`, `status_by_host`.
pub(crate) fn status(cx: &Context, by: GroupedBy, out: &mut Vec<Row>) -> Result<()> {
    for sums in cx.source.account_sums(by) {
        for (name, n) in &sums.counts {
            let mut row = by.columns(&sums);
            row.extend([word(name), text(n.to_string())]);
            out.push(row);
        }
    }
    Ok(())
}

/// Functions of components that are installed.
pub(crate) fn user_defined_functions(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for (name, kind) in cx.source.loaded_functions() {
        out.push(vec![word(name), word(kind), word("function"), maybe(None), Value::Int(1)]);
    }
    Ok(())
}

/// What the status says of TLS, in the order of MySQL's table.
const TLS: [&str; 28] = [
    "Ssl_accept_renegotiates",
    "Ssl_accepts",
    "Ssl_callback_cache_hits",
    "Ssl_client_connects",
    "Ssl_connect_renegotiates",
    "Ssl_ctx_verify_depth",
    "Ssl_ctx_verify_mode",
    "Current_tls_ca",
    "Current_tls_capath",
    "Current_tls_cert",
    "Current_tls_cipher",
    "Current_tls_ciphersuites",
    "Current_tls_crl",
    "Current_tls_crlpath",
    "Current_tls_key",
    "Current_tls_version",
    "Ssl_finished_accepts",
    "Ssl_finished_connects",
    "Ssl_server_not_after",
    "Ssl_server_not_before",
    "Ssl_session_cache_hits",
    "Ssl_session_cache_misses",
    "Ssl_session_cache_mode",
    "Ssl_session_cache_overflows",
    "Ssl_session_cache_size",
    "Ssl_session_cache_timeouts",
    "Ssl_used_session_cache_entries",
    "Ssl_session_cache_timeout",
];

pub(crate) fn tls_channel_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let status = cx.status();
    let value = |name: &str| status.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone());
    let mut add = |name: &'static str, value: String| out.push(vec![word("mysql_main"), word(name), text(value)]);
    add("Enabled", if cx.source.has_tls() { "Yes" } else { "No" }.to_string());
    for name in TLS {
        let Some(value) = value(name) else { continue };
        // No limit, which the status tells as a number without a sign.
        let is_unlimited = name == "Ssl_ctx_verify_depth" && value == u64::MAX.to_string();
        add(name, if is_unlimited { "-1".to_string() } else { value });
    }
    Ok(())
}
