//! How files are opened, and what the kernel is told to expect of them.

use sync::waits::Wait;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// For writing as well as reading.
    pub write: bool,
    /// Make it when it is missing. Its name is durable after [`crate::Directory::sync`].
    pub create: bool,
    /// Make it, and fail with `AlreadyExists` when it is there.
    pub create_new: bool,
    /// Cut to length 0.
    pub truncate: bool,
    /// Past the kernel's page cache, buffers and positions aligned to [`crate::ALIGNMENT`]. Where the file system cannot,
    /// the file opens without, and [`crate::File::is_direct`] says so.
    pub direct: bool,
    /// When it is made, it is the owner's alone: for keys.
    pub private: bool,
    /// What reads, writes and flushes of it are counted for.
    pub what: Wait,
}

impl OpenOptions {
    /// An existing file, for reading.
    pub const fn read(what: Wait) -> OpenOptions {
        let (write, create, create_new, truncate, direct, private) = (false, false, false, false, false, false);
        OpenOptions { write, create, create_new, truncate, direct, private, what }
    }

    /// An existing file, for reading and writing.
    pub const fn write(what: Wait) -> OpenOptions {
        OpenOptions { write: true, ..OpenOptions::read(what) }
    }

    /// Reading and writing; made when missing.
    pub const fn create(what: Wait) -> OpenOptions {
        OpenOptions { create: true, ..OpenOptions::write(what) }
    }

    /// Reading and writing; must not be there yet.
    pub const fn create_new(what: Wait) -> OpenOptions {
        OpenOptions { create_new: true, ..OpenOptions::write(what) }
    }

    /// The same, past the page cache if `direct`.
    pub const fn direct(self, direct: bool) -> OpenOptions {
        OpenOptions { direct, ..self }
    }
}

/// What the kernel should expect of a range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    Random,
    Sequential,
    WillNeed,
    DontNeed,
}
