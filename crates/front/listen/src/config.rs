//! What a listener is told at start.

use crate::proxy::Network;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Above 32 to 48 active connections a CPU, serving in turn was ahead of a thread each (`bench/RESULTS.md`).
const CROWD_PER_CPU: usize = 40;

#[derive(Clone, Debug)]
pub struct Config {
    /// `bind_address` and `port`; port 0 takes a free one. Empty: `skip_networking`.
    pub addresses: Vec<SocketAddr>,
    /// `admin_address` and `admin_port`: for administrators, also when `max_connections` are there.
    pub administrative: Option<SocketAddr>,
    /// `socket`. A lock file stands beside it, `<socket>.lock`.
    pub socket: Option<PathBuf>,
    /// `back_log`: connections that the kernel keeps until they are accepted.
    pub back_log: u32,
    /// `max_connections`; one more is let in for an administrator.
    pub max_connections: usize,
    /// `proxy_protocol_networks`: connections from there begin with a PROXY header.
    pub proxies: Vec<Network>,
    /// A connection that sends nothing for so long is parked.
    pub park_after: Duration,
    /// Reserved for each worker's stack, in bytes.
    pub stack_bytes: usize,
    /// `thread_cache_size`: so many workers stay without work; the others end after [`Config::worker_idle`].
    pub worker_cache: usize,
    /// A worker without work ends after so long.
    pub worker_idle: Duration,
    /// More active connections than this are served in turn by a thread a CPU, not by one each.
    pub crowd: usize,
    /// How many threads serve in turn.
    pub crew: usize,
    /// How often idle connections are looked at for their time being up.
    pub tick: Duration,
}

impl Default for Config {
    fn default() -> Config {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Config {
            addresses: Vec::new(),
            administrative: None,
            socket: None,
            back_log: 151,
            max_connections: 151,
            proxies: Vec::new(),
            park_after: Duration::from_millis(50),
            stack_bytes: 1 << 20,
            worker_cache: 0,
            worker_idle: Duration::from_secs(10),
            crowd: CROWD_PER_CPU * cpus,
            crew: cpus,
            tick: Duration::from_secs(1),
        }
    }
}
