//! Who is at the other end of a connection, and how it is hung up.

use crate::Stream;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// Where a client comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Tcp(SocketAddr),
    Unix,
}

impl Peer {
    /// A client of the Unix socket, of 127.0.0.1 and of ::1 counts as `localhost`.
    pub fn is_localhost(&self) -> bool {
        match self {
            Peer::Unix => true,
            // As in MySQL: other addresses of 127/8 go by their numbers.
            Peer::Tcp(addr) => match addr.ip().to_canonical() {
                IpAddr::V4(ip) => ip == Ipv4Addr::LOCALHOST,
                IpAddr::V6(ip) => ip == Ipv6Addr::LOCALHOST,
            },
        }
    }

    /// `localhost`, or the address in numbers: the host part of USER().
    pub fn host(&self) -> String {
        match self {
            Peer::Tcp(addr) if !self.is_localhost() => addr.ip().to_canonical().to_string(),
            _ => "localhost".to_string(),
        }
    }

    /// `localhost` or `address:port`: the Host column of SHOW PROCESSLIST.
    pub fn host_and_port(&self) -> String {
        match self {
            Peer::Tcp(addr) => format!("{}:{}", self.host(), addr.port()),
            Peer::Unix => "localhost".to_string(),
        }
    }
}

/// Ends a connection from another thread: KILL and shutdown. Cheap to clone at connect time, not on statement paths.
#[derive(Clone, Debug)]
pub struct HangUp(pub(crate) Arc<Stream>);

impl HangUp {
    pub fn of(stream: &Arc<Stream>) -> HangUp {
        HangUp(Arc::clone(stream))
    }

    /// For a session without a client, and the other end of the socket that it stands for, which is to be kept as long.
    #[cfg(unix)]
    pub fn of_nobody() -> std::io::Result<(HangUp, std::os::unix::net::UnixStream)> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        Ok((HangUp(Arc::new(Stream::Unix(ours))), theirs))
    }

    /// Has the client closed the connection? To be asked from time to time while its statement runs.
    pub fn is_gone(&self) -> bool {
        self.0.is_gone()
    }

    /// The same, of a client that has said goodbye before as well: nobody will read the answer.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// The connection's next read or write fails, a parked connection wakes and ends. Idempotent.
    pub fn hang_up(&self) {
        self.0.shutdown();
    }

    /// The connection's next read finds the end of the stream, a parked connection wakes and ends; what it has to say still goes out.
    pub fn end_reading(&self) {
        self.0.shutdown_reading();
    }
}
