//! Listening sockets: TCP addresses, and the Unix socket with its lock file.
//!
//! Sockets that are accepted have what they need from the socket they were accepted from, where the system hands it on: a
//! connection costs no call for its options.

use crate::config::Config;
use protocol::{Peer, Stream, Timeouts, WRITE_TIMEOUT};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::FlockOperation;
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One socket to accept from.
#[derive(Debug)]
pub enum Door {
    Tcp { listener: TcpListener, timeouts: Timeouts },
    Unix { listener: UnixListener, file: SocketFile },
}

impl Door {
    /// Whoever waits here looks up each `patience`, and sockets that are accepted time out as soon when they read.
    pub fn tcp(address: SocketAddr, back_log: u32, patience: Duration) -> io::Result<Door> {
        let describe = |e: io::Error| io::Error::new(e.kind(), format!("bind to {address}: {e}"));
        let listener = TcpListener::bind(address).map_err(describe)?;
        set_back_log(&listener, back_log).map_err(describe)?;
        sockopt::set_tcp_nodelay(&listener, true)?;
        sockopt::set_socket_keepalive(&listener, true)?;
        sockopt::set_socket_timeout(&listener, sockopt::Timeout::Send, Some(WRITE_TIMEOUT))?;
        sockopt::set_socket_timeout(&listener, sockopt::Timeout::Recv, Some(patience))?;
        let timeouts = Timeouts { read: Some(patience), write: Some(WRITE_TIMEOUT) };
        Ok(Door::Tcp { listener, timeouts })
    }

    pub fn unix(path: &Path, back_log: u32, patience: Duration) -> io::Result<Door> {
        let describe = |e: io::Error| of_socket(path, &e);
        let file = SocketFile::claim(path).map_err(describe)?;
        let listener = UnixListener::bind(path).map_err(describe)?;
        // Whoever may reach the directory may connect: accounts decide, as for TCP.
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).map_err(describe)?;
        set_back_log(&listener, back_log).map_err(describe)?;
        sockopt::set_socket_timeout(&listener, sockopt::Timeout::Recv, Some(patience))?;
        Ok(Door::Unix { listener, file })
    }

    /// The bound address of a TCP socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Door::Tcp { listener, .. } => listener.local_addr().ok(),
            Door::Unix { .. } => None,
        }
    }

    /// The next connection, and the timeouts that its socket has; `WouldBlock` when none came for a while.
    pub fn accept(&self) -> io::Result<(Stream, Peer, Timeouts)> {
        match self {
            Door::Tcp { listener, timeouts } => {
                let (stream, address) = listener.accept()?;
                Ok((Stream::Tcp(stream), Peer::Tcp(address), *timeouts))
            }
            Door::Unix { listener, .. } => {
                let (stream, _) = listener.accept()?;
                Ok((Stream::Unix(stream), Peer::Unix, Timeouts::default()))
            }
        }
    }

    /// Waits until somebody comes, or the door is shut.
    pub fn wait(&self) {
        // Whatever ends it, `accept` says more.
        let _ = rustix::event::poll(&mut [PollFd::new(self, PollFlags::IN)], None);
    }

    /// Nobody is let in any more, and the socket's files are gone; whoever waits in [`Door::accept`] gets an error.
    pub fn shut(&self) {
        // It fails only where nobody waits any more.
        let _ = rustix::net::shutdown(self, Shutdown::Both);
        if let Door::Unix { file, .. } = self {
            file.remove();
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Door::Tcp { listener, .. } => listener.as_fd(),
            Door::Unix { listener, .. } => listener.as_fd(),
        }
    }
}

/// A socket that listens already takes a new length for its queue.
fn set_back_log(socket: impl AsFd, back_log: u32) -> io::Result<()> {
    Ok(rustix::net::listen(socket, back_log.clamp(1, i32::MAX as u32) as i32)?)
}

/// The right to a socket path: a lock file with our process id, locked for as long as we have the path. The id is for people: after a
/// crash it may be another process's, or our own where each server of a container is process 1. Both files go when it is dropped.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    lock: PathBuf,
    is_gone: AtomicBool,
    _locked: fs::File,
}

/// How often a lock file may go away while it is being taken.
const ATTEMPTS: usize = 10;

impl SocketFile {
    /// Takes the path over from a server that is gone; an error when one has it, or the path is no socket.
    pub fn claim(path: &Path) -> io::Result<SocketFile> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        for _ in 0..ATTEMPTS {
            let file =
                open_lock(&lock).map_err(|e| io::Error::new(e.kind(), format!("lock file {}: {e}", lock.display())))?;
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                let pid = fs::read_to_string(&lock).unwrap_or_default();
                let who = match pid.trim() {
                    "" => "another process".to_string(),
                    pid => format!("another process with pid {pid}"),
                };
                return Err(io::Error::new(io::ErrorKind::AddrInUse, format!("{who} is using the unix socket file")));
            }
            // Whoever had it may have taken it away before it was locked, and somebody else may have made a new one.
            if !is_same(&file, &lock) {
                continue;
            }
            // MySQL has such a file and does not lock it.
            if answers(path) {
                let text = "another server is using the unix socket file";
                return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
            }
            match file.set_len(0).and_then(|()| writeln!(&file, "{}", std::process::id())) {
                Ok(()) => {}
                // A full disk keeps nobody out who is to make room there.
                Err(e) if e.kind() == io::ErrorKind::StorageFull => file.set_len(0)?,
                // Another user's, which can be locked and not written.
                Err(_) => {
                    fs::remove_file(&lock)?;
                    continue;
                }
            }
            // Dropping `claimed` removes the lock.
            let claimed = SocketFile { path: path.to_path_buf(), lock, is_gone: AtomicBool::new(false), _locked: file };
            claimed.remove_stale_socket()?;
            return Ok(claimed);
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, format!("lock file {} is contended", lock.display())))
    }

    fn remove_stale_socket(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) if metadata.file_type().is_socket() => fs::remove_file(&self.path),
            Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path is there and is no socket")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }
}

impl SocketFile {
    /// Another server may have the path from now on.
    fn remove(&self) {
        // Relaxed: it orders nothing.
        if self.is_gone.swap(true, Ordering::Relaxed) {
            return;
        }
        // Best effort at the end; a stale pair is removed by the next start.
        if fs::symlink_metadata(&self.path).is_ok_and(|m| m.file_type().is_socket()) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = fs::remove_file(&self.lock);
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// To write, or to lock at least.
fn open_lock(lock: &Path) -> io::Result<fs::File> {
    match fs::OpenOptions::new().write(true).create(true).truncate(false).open(lock) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => fs::File::open(lock).map_err(|_| e),
        opened => opened,
    }
}

fn is_same(file: &fs::File, path: &Path) -> bool {
    let [Ok(file), Ok(named)] = [file.metadata(), fs::metadata(path)] else { return false };
    (file.dev(), file.ino()) == (named.dev(), named.ino())
}

/// Does somebody listen there? Somebody whose queue is full does, and is not waited for.
fn answers(path: &Path) -> bool {
    let Ok(address) = SocketAddrUnix::new(path) else { return false };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let Ok(socket) = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None) else {
        return false;
    };
    matches!(rustix::net::connect(&socket, &address), Ok(()) | Err(rustix::io::Errno::AGAIN))
}

/// Can all of it be listened at? Nobody is let in, and nothing stays. An error names the address or path.
pub fn check(config: &Config) -> io::Result<()> {
    for address in config.addresses.iter().chain(&config.administrative) {
        let describe =
            |e: rustix::io::Errno| io::Error::new(io::Error::from(e).kind(), format!("bind to {address}: {e}"));
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket =
            rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None).map_err(describe)?;
        sockopt::set_socket_reuseaddr(&socket, true).map_err(describe)?;
        rustix::net::bind(&socket, address).map_err(describe)?;
    }
    match &config.socket {
        Some(path) => SocketFile::claim(path).map(drop).map_err(|e| of_socket(path, &e)),
        None => Ok(()),
    }
}

fn of_socket(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("socket {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(20);

    #[test]
    fn what_is_accepted_has_its_options_from_the_door() {
        let door = Door::tcp("127.0.0.1:0".parse().unwrap(), 5, PATIENCE).unwrap();
        assert_eq!(door.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "nobody came");
        let _client = std::net::TcpStream::connect(door.address().unwrap()).unwrap();
        let (stream, _, timeouts) = door.accept().unwrap();
        let Stream::Tcp(stream) = stream else { panic!("a TCP door") };
        assert!(stream.nodelay().unwrap() && sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!((timeouts.read, timeouts.write), (Some(PATIENCE), Some(WRITE_TIMEOUT)));
        assert_eq!((stream.read_timeout().unwrap(), stream.write_timeout().unwrap()), (timeouts.read, timeouts.write));
        assert!(!rustix::fs::fcntl_getfl(&stream).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
    }

    #[test]
    fn a_door_that_is_shut_lets_its_waiters_go() {
        let directory = std::env::temp_dir().join(format!("clearway-door-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let long = Duration::from_secs(600);
        let tcp = Door::tcp("127.0.0.1:0".parse().unwrap(), 5, long).unwrap();
        for door in [tcp, Door::unix(&directory.join("s.sock"), 5, long).unwrap()] {
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| door.accept().map(|_| ()));
                door.shut();
                assert!(waits.join().unwrap().is_err());
            });
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_socket_path_has_one_owner_and_a_dead_one_yields() {
        let directory = std::env::temp_dir().join(format!("clearway-socket-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("s.sock");
        let door = Door::unix(&path, 5, PATIENCE).unwrap();
        assert_eq!(Door::unix(&path, 5, PATIENCE).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(path.exists(), "the attempt took nothing away");
        drop(door);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "both files are gone");

        // What kill -9 leaves: a socket, and a lock that names whoever has the number by now, or nobody.
        for text in ["", "1\n", &format!("{}\n", std::process::id())] {
            drop(UnixListener::bind(&path).unwrap());
            fs::write(directory.join("s.sock.lock"), text).unwrap();
            drop(Door::unix(&path, 5, PATIENCE).unwrap());
        }

        // A full disk has a lock without a number.
        let door = Door::unix(&path, 5, PATIENCE).unwrap();
        fs::write(directory.join("s.sock.lock"), "").unwrap();
        assert_eq!(Door::unix(&path, 5, PATIENCE).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(door);

        // A server that does not lock the file, and one that has no queue left.
        let other = UnixListener::bind(&path).unwrap();
        set_back_log(&other, 1).unwrap();
        for _ in 0..5 {
            assert_eq!(Door::unix(&path, 5, PATIENCE).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        }
        drop(other);
        fs::remove_file(&path).unwrap();

        fs::write(&path, "precious").unwrap();
        assert_eq!(Door::unix(&path, 5, PATIENCE).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        fs::remove_dir_all(&directory).unwrap();
    }
}
