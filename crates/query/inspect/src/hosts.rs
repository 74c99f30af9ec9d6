//! `performance_schema.host_cache`, and the table of the plugin `CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS`.

use crate::{Context, Row, datetime, text, uint};
use types::codes::*;
use types::{Result, Value, err};

/// Counters of `host_cache`, in its order.
pub const HOST_ERRORS: [&str; 21] = [
    "COUNT_HOST_BLOCKED_ERRORS",
    "COUNT_NAMEINFO_TRANSIENT_ERRORS",
    "COUNT_NAMEINFO_PERMANENT_ERRORS",
    "COUNT_FORMAT_ERRORS",
    "COUNT_ADDRINFO_TRANSIENT_ERRORS",
    "COUNT_ADDRINFO_PERMANENT_ERRORS",
    "COUNT_FCRDNS_ERRORS",
    "COUNT_HOST_ACL_ERRORS",
    "COUNT_NO_AUTH_PLUGIN_ERRORS",
    "COUNT_AUTH_PLUGIN_ERRORS",
    "COUNT_HANDSHAKE_ERRORS",
    "COUNT_PROXY_USER_ERRORS",
    "COUNT_PROXY_USER_ACL_ERRORS",
    "COUNT_AUTHENTICATION_ERRORS",
    "COUNT_SSL_ERRORS",
    "COUNT_MAX_USER_CONNECTIONS_ERRORS",
    "COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS",
    "COUNT_DEFAULT_DATABASE_ERRORS",
    "COUNT_INIT_CONNECT_ERRORS",
    "COUNT_LOCAL_ERRORS",
    "COUNT_UNKNOWN_ERRORS",
];

/// One host from which clients connected. Times are seconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct HostEntry {
    pub ip: String,
    /// Those in a row that block it, when there are `max_connect_errors`.
    pub connect_errors: u64,
    /// By [`HOST_ERRORS`].
    pub errors: [u64; HOST_ERRORS.len()],
    pub first_seen_s: u64,
    pub last_seen_s: u64,
    pub first_error_s: Option<u64>,
    pub last_error_s: Option<u64>,
}

/// Names are never asked for: no HOST, which is as valid as it will ever be.
pub(crate) fn host_cache(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.hosts().into_iter().map(|host| {
        let time = |s: Option<u64>| s.map_or(Value::Null, datetime);
        let mut row = vec![text(host.ip), Value::Null, uint(1), uint(host.connect_errors)];
        row.extend(host.errors.map(uint));
        row.extend([datetime(host.first_seen_s), datetime(host.last_seen_s)]);
        row.extend([time(host.first_error_s), time(host.last_error_s)]);
        row
    }));
    Ok(())
}

/// Error 1109 without the plugin, whose table it is.
pub(crate) fn failed_login_attempts(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let Some(failed) = cx.source.failed_logins() else {
        return Err(err!(ER_UNKNOWN_TABLE, "CONNECTION_CONTROL_FAILED_LOGIN_ATTEMPTS", "information_schema"));
    };
    if cx.viewer.sees_failed_logins {
        out.extend(failed.into_iter().map(|(name, count)| vec![text(name), uint(count)]));
    }
    Ok(())
}
