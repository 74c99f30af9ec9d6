//! What a listener is told at start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    /// `bind_address` and `port`; port 0 takes a free one. Empty: `skip_networking`.
    pub addresses: Vec<SocketAddr>,
    /// `socket`. A lock file stands beside it, `<socket>.lock`.
    pub socket: Option<PathBuf>,
    /// `back_log`: connections that the kernel keeps until they are accepted.
    pub back_log: u32,
    /// `max_connections`; one more is let in for an administrator.
    pub max_connections: usize,
    /// A connection that sends nothing for so long is parked.
    pub park_after: Duration,
    /// Reserved for each worker's stack, in bytes.
    pub stack_bytes: usize,
    /// A worker without work ends after so long.
    pub worker_idle: Duration,
    /// How often idle connections are looked at for their time being up.
    pub tick: Duration,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            addresses: Vec::new(),
            socket: None,
            back_log: 151,
            max_connections: 151,
            park_after: Duration::from_millis(50),
            stack_bytes: 1 << 20,
            worker_idle: Duration::from_secs(10),
            tick: Duration::from_secs(1),
        }
    }
}
