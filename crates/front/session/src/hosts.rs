//! The host cache: what came of connections, by the address they came from. A host from which nothing but broken handshakes come is
//! blocked (`max_connect_errors`), until somebody truncates `performance_schema.host_cache`. The machine itself is not in it.

use inspect::{HOST_ERRORS, HostEntry};
use protocol::Peer;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use sync::{Mutex, Rank};
use types::codes::*;
use types::{SqlError, err};

/// What went wrong, by its place among the counters of `performance_schema.host_cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostError {
    Blocked,
    HostAcl,
    NoAuthPlugin,
    AuthPlugin,
    Handshake,
    Authentication,
    MaxUserConnections,
    MaxUserConnectionsPerHour,
    DefaultDatabase,
    InitConnect,
    Local,
    Unknown,
}

impl HostError {
    fn column(self) -> usize {
        let name = match self {
            HostError::Blocked => "COUNT_HOST_BLOCKED_ERRORS",
            HostError::HostAcl => "COUNT_HOST_ACL_ERRORS",
            HostError::NoAuthPlugin => "COUNT_NO_AUTH_PLUGIN_ERRORS",
            HostError::AuthPlugin => "COUNT_AUTH_PLUGIN_ERRORS",
            HostError::Handshake => "COUNT_HANDSHAKE_ERRORS",
            HostError::Authentication => "COUNT_AUTHENTICATION_ERRORS",
            HostError::MaxUserConnections => "COUNT_MAX_USER_CONNECTIONS_ERRORS",
            HostError::MaxUserConnectionsPerHour => "COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS",
            HostError::DefaultDatabase => "COUNT_DEFAULT_DATABASE_ERRORS",
            HostError::InitConnect => "COUNT_INIT_CONNECT_ERRORS",
            HostError::Local => "COUNT_LOCAL_ERRORS",
            HostError::Unknown => "COUNT_UNKNOWN_ERRORS",
        };
        HOST_ERRORS.iter().position(|column| *column == name).expect("the table has it")
    }

    /// What a login that was refused with `error` counts as.
    pub fn of(error: &SqlError) -> HostError {
        match error.code {
            ER_HANDSHAKE_ERROR | ER_NET_PACKET_TOO_LARGE | ER_NET_PACKETS_OUT_OF_ORDER | ER_NET_READ_INTERRUPTED => {
                HostError::Handshake
            }
            ER_DBACCESS_DENIED_ERROR | ER_BAD_DB_ERROR => HostError::DefaultDatabase,
            ER_TOO_MANY_USER_CONNECTIONS => HostError::MaxUserConnections,
            ER_USER_LIMIT_REACHED if error.message.contains("max_connections_per_hour") => {
                HostError::MaxUserConnectionsPerHour
            }
            ER_USER_LIMIT_REACHED => HostError::MaxUserConnections,
            ER_NOT_SUPPORTED_AUTH_MODE | ER_PLUGIN_IS_NOT_LOADED => HostError::NoAuthPlugin,
            ER_ACCESS_DENIED_ERROR
            | ER_ACCESS_DENIED_NO_PASSWORD_ERROR
            | ER_MUST_CHANGE_PASSWORD_LOGIN
            | ER_ACCOUNT_HAS_BEEN_LOCKED
            | ER_SECURE_TRANSPORT_REQUIRED => HostError::Authentication,
            ER_UNKNOWN_ERROR | ER_CANT_CREATE_THREAD => HostError::Local,
            _ => HostError::Unknown,
        }
    }
}

/// The hosts that connected last, `host_cache_size` of them. 0: none are known, and none is ever blocked.
pub(crate) struct Hosts(Mutex<Cache>);

struct Cache {
    entries: HashMap<IpAddr, HostEntry>,
    size: usize,
}

/// The address of a client that is not on this machine.
fn remote(peer: &Peer) -> Option<IpAddr> {
    match peer {
        Peer::Unix => None,
        Peer::Tcp(address) => Some(address.ip().to_canonical())
            .filter(|ip| *ip != IpAddr::V4(Ipv4Addr::LOCALHOST) && *ip != IpAddr::V6(Ipv6Addr::LOCALHOST)),
    }
}

impl Hosts {
    pub fn new() -> Hosts {
        Hosts(Mutex::new(Rank::Observe, Cache { entries: HashMap::new(), size: 0 }))
    }

    /// `host_cache_size`: another one empties it, as in MySQL.
    pub fn resize(&self, size: usize) {
        let mut cache = self.0.lock();
        if cache.size != size {
            cache.size = size;
            cache.entries.clear();
        }
    }

    /// TRUNCATE TABLE `performance_schema.host_cache`
    pub fn clear(&self) {
        self.0.lock().entries.clear();
    }

    /// A client has connected. `errors_max`: `max_connect_errors`. Error 1129.
    pub fn admit(&self, peer: &Peer, errors_max: u64) -> Result<(), SqlError> {
        let Some(ip) = remote(peer) else { return Ok(()) };
        let mut cache = self.0.lock();
        let Some(entry) = cache.entry(ip) else { return Ok(()) };
        if entry.connect_errors < errors_max {
            return Ok(());
        }
        count(entry, HostError::Blocked);
        Err(err!(ER_HOST_IS_BLOCKED, ip))
    }

    /// The login succeeded, or did not.
    pub fn outcome(&self, peer: &Peer, outcome: Result<(), HostError>) {
        let Some(ip) = remote(peer) else { return };
        let mut cache = self.0.lock();
        let Some(entry) = cache.entry(ip) else { return };
        match outcome {
            Ok(()) => entry.connect_errors = 0,
            Err(error) => {
                // Who says nothing that makes sense, again and again, is blocked; a wrong password is something else.
                entry.connect_errors += u64::from(error == HostError::Handshake);
                count(entry, error);
            }
        }
    }

    /// The one seen last first.
    pub fn rows(&self) -> Vec<HostEntry> {
        let mut all: Vec<HostEntry> = self.0.lock().entries.values().cloned().collect();
        all.sort_by_key(|entry| std::cmp::Reverse(entry.last_seen_s));
        all
    }
}

fn count(entry: &mut HostEntry, error: HostError) {
    let now_s = accounts::password::now_s();
    entry.errors[error.column()] += 1;
    entry.first_error_s.get_or_insert(now_s);
    entry.last_error_s = Some(now_s);
}

impl Cache {
    /// The host's entry, made when there is none, in place of the one that was seen longest ago if need be.
    fn entry(&mut self, ip: IpAddr) -> Option<&mut HostEntry> {
        let now_s = accounts::password::now_s();
        if !self.entries.contains_key(&ip) {
            if self.size == 0 {
                return None;
            }
            if self.entries.len() >= self.size
                && let Some(oldest) = self.entries.iter().min_by_key(|(_, e)| e.last_seen_s).map(|(ip, _)| *ip)
            {
                self.entries.remove(&oldest);
            }
            self.entries.insert(ip, HostEntry { ip: ip.to_string(), first_seen_s: now_s, ..HostEntry::default() });
        }
        let entry = self.entries.get_mut(&ip)?;
        entry.last_seen_s = now_s;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::Tcp(([10, 0, 0, last], 1).into())
    }

    #[test]
    fn broken_handshakes_block_a_host_and_a_login_forgives_them() {
        let hosts = Hosts::new();
        hosts.outcome(&peer(1), Err(HostError::Handshake));
        assert!(hosts.rows().is_empty(), "nothing is kept without room for it");
        hosts.resize(2);
        for _ in 0..2 {
            assert!(hosts.admit(&peer(1), 2).is_ok());
            hosts.outcome(&peer(1), Err(HostError::Handshake));
            hosts.outcome(&peer(1), Err(HostError::Authentication));
        }
        let refused = hosts.admit(&peer(1), 2).unwrap_err();
        assert_eq!(refused.code, ER_HOST_IS_BLOCKED);
        assert!(refused.message.starts_with("Host '10.0.0.1' is blocked because of many connection errors"));
        assert!(hosts.admit(&peer(2), 2).is_ok());
        let rows = hosts.rows();
        let one = rows.iter().find(|row| row.ip == "10.0.0.1").unwrap();
        assert_eq!((one.connect_errors, one.errors.iter().sum::<u64>()), (2, 5));
        hosts.clear();
        assert!(hosts.admit(&peer(1), 2).is_ok());
        hosts.outcome(&peer(1), Err(HostError::Handshake));
        hosts.outcome(&peer(1), Ok(()));
        hosts.outcome(&peer(1), Err(HostError::Handshake));
        assert!(hosts.admit(&peer(1), 2).is_ok());
        (2..9).for_each(|last| hosts.outcome(&peer(last), Ok(())));
        assert_eq!(hosts.rows().len(), 2);
    }

    #[test]
    fn the_machine_itself_is_not_in_it() {
        let hosts = Hosts::new();
        hosts.resize(9);
        for peer in [Peer::Unix, Peer::Tcp(([127, 0, 0, 1], 1).into()), Peer::Tcp((Ipv6Addr::LOCALHOST, 1).into())] {
            hosts.outcome(&peer, Err(HostError::Handshake));
            assert!(hosts.admit(&peer, 1).is_ok());
        }
        assert!(hosts.rows().is_empty());
    }
}
