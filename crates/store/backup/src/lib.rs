//! Copies of a server as they are kept and brought back: in a directory or in a stream, whole or as what has changed since another one.
//!
//! ```text
//!   engine, log, binlog --io::Destination--> frames --> connection --> Folder (a data directory)
//!                                                                 \--> archive (one stream, compressed)
//!   directory or archive --frames--> restore: base, then increments over it --> a data directory
//! ```
//! Each copy says what it is in a manifest, which is written last: without one there is no copy. Must never know what is in the
//! files, but for pages of the data file, whose checksums it looks at.

pub mod archive;
pub mod frame;
pub mod manifest;
pub mod request;
pub mod restore;

pub use frame::Frame;
pub use manifest::{MANIFEST_FILE, Manifest, Place};
pub use request::Request;

/// In a data directory: a copy that takes the data's place at the next start, once it is whole.
pub const CLONE_FOLDER: &str = "#clone";

/// The directory that a copy is written to: keys in it are their owner's alone, as they are in the data directory. From
/// the first moment it is no empty directory, which a server would take for its data.
pub fn folder(path: &std::path::Path) -> io::Result<io::Folder> {
    let folder = io::Folder::open(path)?.with_private(&[cipher::FILE_NAME]);
    folder.mark_unfinished()?;
    Ok(folder)
}

/// Why a copy cannot be taken or brought back: a line for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

pub type Result<T> = std::result::Result<T, Error>;

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error(error.to_string())
    }
}
