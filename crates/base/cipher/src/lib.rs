//! Encryption at rest: keys, where they are kept, and the ciphers that pages, log groups and temporary files go through.
//!
//! ```text
//!  keyring file                  clearway.keys, in the data directory        everything else there
//!  (component_keyring_file)      +--------------------------------+          +------------------------------+
//!  master key INNODBKey-…-1 ───► | data keys, AES-256-GCM under   | ───────► | pages       AES-256-XTS      |
//!  master key INNODBKey-…-2      | the newest master key          |          | log groups  AES-256-CTR      |
//!                                +--------------------------------+          +------------------------------+
//! ```
//!
//! Data keys never change and stand nowhere but wrapped in that file; a rotation makes a new master key and wraps them anew. Temporary
//! files have keys of their own, which are never written.
//!
//! | file | what it is |
//! | --- | --- |
//! | `aes` | the modes of AES, of the library that TLS uses |
//! | `keys` | data keys in memory that neither core dumps nor swap space get to see |
//! | `keyring` | the keyring file and its configuration, in MySQL's formats |
//! | `vault` | the wrapped data keys; rotation of the master key |
//! | `vault::log_files` | keys of the files of the binary log, in MySQL's format |
//! | `scratch` | temporary files |

mod aes;
mod keyring;
mod keys;
mod scratch;
mod vault;

pub use keyring::{CONFIG_FILE, KeyringConfig};
pub use keys::{Keys, NONCE_BYTES};
pub use scratch::Scratch;
pub use vault::{FILE_NAME, KeyringStatus, LOG_HEADER_BYTES, LOG_MAGIC, LogKey, Vault, uuid};

/// What can go wrong with keys.
#[derive(Debug)]
pub enum Error {
    /// There is no keyring: no `component_keyring_file.cnf`.
    NoKeyring,
    /// The keyring does not have the key that the data keys are wrapped with, or has another one under its name.
    NoMasterKey(String),
    /// The keyring may not be written to.
    ReadOnly,
    /// A file is not what it should be.
    Damaged {
        file: std::path::PathBuf,
        why: String,
    },
    Io(io::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::NoKeyring => {
                write!(f, "there is no keyring: {CONFIG_FILE} in the data directory says where it is, and is not there")
            }
            Error::NoMasterKey(id) => {
                write!(f, "the keyring does not have the master key '{id}' that the data was encrypted under")
            }
            Error::ReadOnly => write!(f, "the keyring is read-only"),
            Error::Damaged { file, why } => write!(f, "{}: {why}", file.display()),
            Error::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

/// Random bytes from the library's generator.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).expect("the generator is seeded by the kernel");
    bytes
}
