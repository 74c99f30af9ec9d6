//! Errors of files and memory, sorted by what the caller does about them.

use std::fmt;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

/// What was asked of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    Open,
    Read,
    Write,
    Sync,
    Allocate,
    Punch,
    Truncate,
    Stat,
    Lock,
    Advise,
    CreateDirectory,
    List,
    Rename,
    Remove,
    SyncDirectory,
    Reserve,
    Discard,
}

impl Op {
    /// As in "cannot ... FILE".
    fn verb(self) -> &'static str {
        match self {
            Op::Open => "open",
            Op::Read => "read",
            Op::Write => "write",
            Op::Sync => "flush",
            Op::Allocate => "allocate space in",
            Op::Punch => "give back space of",
            Op::Truncate => "set the length of",
            Op::Stat => "examine",
            Op::Lock => "lock",
            Op::Advise => "give advice on",
            Op::CreateDirectory => "create directory",
            Op::List => "list",
            Op::Rename => "rename",
            Op::Remove => "remove",
            Op::SyncDirectory => "flush directory",
            Op::Reserve => "reserve memory for",
            Op::Discard => "give back memory of",
        }
    }
}

/// Classes of errors by what the caller does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No such file: create it, or say so.
    NotFound,
    /// It is there already: take another name, or say so.
    AlreadyExists,
    /// No space or quota left: the statement fails, the server lives, a later attempt may succeed.
    Full,
    /// Another process holds the lock: refuse to start.
    Locked,
    /// Not allowed, or a read-only file system: say so.
    Denied,
    /// The file ends before the buffer is full: a torn tail or a damaged file.
    ShortRead,
    /// The device failed. After a failed flush nobody knows what is on it: stop using the file.
    Device,
    /// Too many open files, no memory.
    Exhausted,
    /// Anything else.
    Other,
}

/// What failed on which file, and why. One pointer wide.
pub struct Error {
    inner: Box<Inner>,
}

struct Inner {
    op: Op,
    kind: ErrorKind,
    path: PathBuf,
    source: std::io::Error,
}

impl Error {
    /// For destinations that are no files as well.
    #[cold]
    pub fn new(op: Op, path: &Path, source: impl Into<std::io::Error>) -> Error {
        let source = source.into();
        let kind = kind_of(&source);
        Error { inner: Box::new(Inner { op, kind, path: path.to_owned(), source }) }
    }

    #[cold]
    pub(crate) fn with_kind(op: Op, path: &Path, kind: ErrorKind, message: impl Into<String>) -> Error {
        let source = std::io::Error::other(message.into());
        Error { inner: Box::new(Inner { op, kind, path: path.to_owned(), source }) }
    }

    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    pub fn op(&self) -> Op {
        self.inner.op
    }

    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The kernel's number, where the kernel gave one.
    pub fn errno(&self) -> Option<i32> {
        self.inner.source.raw_os_error()
    }
}

fn kind_of(error: &std::io::Error) -> ErrorKind {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) => ErrorKind::NotFound,
        Some(Errno::EXIST | Errno::NOTEMPTY) => ErrorKind::AlreadyExists,
        Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => ErrorKind::Full,
        Some(Errno::WOULDBLOCK) => ErrorKind::Locked,
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => ErrorKind::Denied,
        Some(Errno::IO | Errno::NXIO | Errno::NODEV) => ErrorKind::Device,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => ErrorKind::Exhausted,
        _ => ErrorKind::Other,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { op, path, source, .. } = &*self.inner;
        write!(f, "cannot {} {}: {source}", op.verb(), path.display())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:?})", self.inner.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.inner.source)
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> std::io::Error {
        let kind = match error.kind() {
            ErrorKind::Full => std::io::ErrorKind::StorageFull,
            ErrorKind::ShortRead => std::io::ErrorKind::UnexpectedEof,
            _ => error.inner.source.kind(),
        };
        std::io::Error::new(kind, error)
    }
}
