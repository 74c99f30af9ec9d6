//! Listening sockets: TCP addresses, and the Unix socket with its lock file.

use protocol::{Peer, Stream};
use rustix::net::sockopt;
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// One socket to accept from.
#[derive(Debug)]
pub enum Door {
    Tcp(TcpListener),
    Unix { listener: UnixListener, _file: SocketFile },
}

impl Door {
    pub fn tcp(address: SocketAddr, back_log: u32) -> io::Result<Door> {
        let describe = |e: io::Error| io::Error::new(e.kind(), format!("bind to {address}: {e}"));
        let listener = TcpListener::bind(address).map_err(describe)?;
        set_back_log(&listener, back_log).map_err(describe)?;
        listener.set_nonblocking(true)?;
        Ok(Door::Tcp(listener))
    }

    pub fn unix(path: &Path, back_log: u32) -> io::Result<Door> {
        let describe = |e: io::Error| io::Error::new(e.kind(), format!("socket {}: {e}", path.display()));
        let file = SocketFile::claim(path).map_err(describe)?;
        let listener = UnixListener::bind(path).map_err(describe)?;
        // Whoever may reach the directory may connect: accounts decide, as for TCP.
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).map_err(describe)?;
        set_back_log(&listener, back_log).map_err(describe)?;
        listener.set_nonblocking(true)?;
        Ok(Door::Unix { listener, _file: file })
    }

    /// The bound address of a TCP socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Door::Tcp(listener) => listener.local_addr().ok(),
            Door::Unix { .. } => None,
        }
    }

    /// The next connection; `WouldBlock` when none waits.
    pub fn accept(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Door::Tcp(listener) => {
                let (stream, address) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                sockopt::set_socket_keepalive(&stream, true)?;
                Ok((Stream::Tcp(stream), Peer::Tcp(address)))
            }
            Door::Unix { listener, .. } => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok((Stream::Unix(stream), Peer::Unix))
            }
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Door::Tcp(listener) => listener.as_fd(),
            Door::Unix { listener, .. } => listener.as_fd(),
        }
    }
}

/// A socket that listens already takes a new length for its queue.
fn set_back_log(socket: impl AsFd, back_log: u32) -> io::Result<()> {
    Ok(rustix::net::listen(socket, back_log.clamp(1, i32::MAX as u32) as i32)?)
}

/// The right to a socket path: a lock file with our process id. Both files go when it is dropped.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    lock: PathBuf,
}

impl SocketFile {
    /// Takes the path over from a server that is gone; an error when one with that id lives, or the path is no socket.
    fn claim(path: &Path) -> io::Result<SocketFile> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        // Twice: the first attempt may find the lock of a dead server and remove it.
        for _ in 0..2 {
            match fs::OpenOptions::new().write(true).create_new(true).open(&lock) {
                Ok(mut file) => {
                    // From here on the lock is ours, and dropping `claimed` removes it.
                    let claimed = SocketFile { path: path.to_path_buf(), lock };
                    writeln!(file, "{}", std::process::id())?;
                    claimed.remove_stale_socket()?;
                    return Ok(claimed);
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    if let Some(pid) = living_owner(&lock)? {
                        let text = format!("another process with pid {pid} is using the unix socket file");
                        return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
                    }
                    fs::remove_file(&lock)?;
                }
                Err(e) => return Err(io::Error::new(e.kind(), format!("lock file {}: {e}", lock.display()))),
            }
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

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Best effort at the end; a stale pair is removed by the next start.
        if fs::symlink_metadata(&self.path).is_ok_and(|m| m.file_type().is_socket()) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = fs::remove_file(&self.lock);
    }
}

/// The process that a lock file names, if it lives. This very process counts as living: it has the path in use.
fn living_owner(lock: &Path) -> io::Result<Option<i32>> {
    let text = match fs::read_to_string(lock) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let Some(pid) = text.trim().parse().ok().filter(|pid| *pid > 0) else {
        return Ok(None); // A crash came between making the file and writing it.
    };
    let Some(process) = rustix::process::Pid::from_raw(pid) else { return Ok(None) };
    match rustix::process::test_kill_process(process) {
        Err(rustix::io::Errno::SRCH) => Ok(None),
        _ => Ok(Some(pid)), // It lives, perhaps under another user.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_has_one_owner_and_a_dead_one_yields() {
        let directory = std::env::temp_dir().join(format!("clearway-socket-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("s.sock");
        let door = Door::unix(&path, 5).unwrap();
        assert_eq!(Door::unix(&path, 5).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(path.exists(), "the attempt took nothing away");
        drop(door);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "both files are gone");

        // What kill -9 leaves: a socket, and a lock that names nobody alive.
        drop(UnixListener::bind(&path).unwrap());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        fs::write(directory.join("s.sock.lock"), format!("{}\n", child.id())).unwrap();
        drop(Door::unix(&path, 5).unwrap());

        fs::write(&path, "precious").unwrap();
        assert_eq!(Door::unix(&path, 5).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        fs::remove_dir_all(&directory).unwrap();
    }
}
