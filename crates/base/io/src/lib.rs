//! The only door to the kernel for files and memory. Sockets are `std`'s.
//!
//! | item | what it is |
//! | --- | --- |
//! | [`File`] | positioned reads and writes of whole buffers, flush, allocation, advice, lock |
//! | [`Directory`] | create, list, rename and remove, each followed by a flush of the directory where durability needs it |
//! | [`AlignedBuf`] | bytes aligned to 4 KiB, as direct reads and writes need them |
//! | [`Region`] | reserved address space whose pages the kernel supplies zeroed on first touch and takes back on request |
//! | [`Error`] | what failed, on which file, sorted by what the caller does about it |
//! | [`stand_back`], [`StandingBack`] | a thread that others go before |
//! | [`Destination`] | where the files of a copy go: a [`Folder`], or the other end of a connection |
//! | [`machine`] | how much memory there is |
//! | [`Usage`] | what a thread, or the process, has used of the machine |
//! | [`Overlay`] | a directory that a program may write to and that stays as it is |
//! | `faults` (feature) | plans that fail, tear or kill at the nth operation; simulated disks that lose what was not flushed |
//!
//! But for destinations nothing here is a trait object: without the feature `faults` an operation is the system call and a test of its
//! result.

#![deny(unsafe_op_in_unsafe_fn)]

mod buf;
mod destination;
mod directory;
mod error;
#[cfg(any(test, feature = "faults"))]
pub mod faults;
mod file;
mod kernel;
pub mod machine;
mod options;
mod overlay;
mod region;
mod usage;

pub use buf::{ALIGNMENT, AlignedBuf};
pub use destination::{Destination, Folder};
pub use directory::Directory;
pub use error::{Error, ErrorKind, Op, Result};
pub use file::File;
pub use kernel::{StandingBack, forbid_core_dumps, restrict_new_files, stand_back};
pub use options::{Advice, OpenOptions};
pub use overlay::Overlay;
pub use region::{Region, leave_out_of_core_dumps, reserve};
pub use usage::Usage;
