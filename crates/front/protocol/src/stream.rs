//! The socket under a connection: TCP or Unix. TLS is a layer above ([`crate::tls`]); compression another ([`crate::compress`]).

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connected blocking socket. Shared behind an `Arc` by the connection that uses it and by whoever may end it.
#[derive(Debug)]
pub enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Stream {
    /// The user at the other end of a Unix socket.
    pub(crate) fn peer_uid(&self) -> Option<u32> {
        match self {
            Stream::Tcp(_) => None,
            #[cfg(target_os = "linux")]
            Stream::Unix(s) => rustix::net::sockopt::socket_peercred(s).ok().map(|peer| peer.uid.as_raw()),
            #[cfg(all(unix, not(target_os = "linux")))]
            Stream::Unix(_) => None,
        }
    }

    /// Bytes read, 0 at the end of the stream. `WouldBlock` after the read timeout.
    #[inline]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                Stream::Tcp(s) => (&*s).read(buffer),
                #[cfg(unix)]
                Stream::Unix(s) => (&*s).read(buffer),
            };
            match result {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// As [`Stream::recv`], but never waits: `WouldBlock` when nothing is there.
    #[inline]
    pub fn recv_ready(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::net::recv(self, &mut *buffer, RecvFlags::DONTWAIT) {
                Err(Errno::INTR) => {}
                Ok((n, _)) => return Ok(n),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends everything, or fails: `WouldBlock` when the client took nothing for the length of the write timeout.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match rustix::net::send(self, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(n) if n == bytes.len() => Ok(()),
            Ok(n) => self.send_slowly(&bytes[n..]),
            Err(Errno::INTR | Errno::AGAIN) => self.send_slowly(bytes),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends as much as the socket has room for, and does not care.
    pub(crate) fn send_now(&self, bytes: &[u8]) {
        let _ = rustix::net::send(self, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    /// Sends what the socket has no room for now.
    #[cold]
    fn send_slowly(&self, bytes: &[u8]) -> io::Result<()> {
        let _waiting = sync::blocking::socket(sync::waits::Operation::Send);
        match self {
            Stream::Tcp(s) => (&*s).write_all(bytes),
            #[cfg(unix)]
            Stream::Unix(s) => (&*s).write_all(bytes),
        }
    }

    /// `None`: wait for ever. One system call.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.set_read_timeout(timeout),
            #[cfg(unix)]
            Stream::Unix(s) => s.set_read_timeout(timeout),
        }
    }

    /// `None`: wait for ever. One system call.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.set_write_timeout(timeout),
            #[cfg(unix)]
            Stream::Unix(s) => s.set_write_timeout(timeout),
        }
    }

    /// Ends both directions: a thread that reads sees the end of the stream, a poller sees the socket readable.
    pub fn shutdown(&self) {
        self.end(Shutdown::Both);
    }

    /// The same of what the peer sends alone.
    pub fn shutdown_reading(&self) {
        self.end(Shutdown::Read);
    }

    fn end(&self, how: Shutdown) {
        // The peer may have closed already; then there is nothing left to end.
        let _ = match self {
            Stream::Tcp(s) => s.shutdown(how),
            #[cfg(unix)]
            Stream::Unix(s) => s.shutdown(how),
        };
    }

    /// Has the peer closed its side? Looks without taking anything; what it has sent before counts as alive.
    pub fn is_gone(&self) -> bool {
        let mut byte = [0];
        match rustix::net::recv(self, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((0, _)) => true,
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => false,
            // Reset, or shut down by us.
            Err(_) => true,
        }
    }
}

impl Stream {
    /// Has the peer closed its side, whatever it has sent before? A client that says goodbye and closes is gone, too.
    pub fn is_closed(&self) -> bool {
        let mut asked = [PollFd::new(self, PollFlags::RDHUP)];
        // A time of zero: looks and does not wait. What cannot be asked is taken to be there.
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut asked, Some(&now)).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(unix)]
impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(s) => s.as_fd(),
            Stream::Unix(s) => s.as_fd(),
        }
    }
}

#[cfg(unix)]
impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}
