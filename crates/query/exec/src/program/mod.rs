//! Stored programs.

mod local;

pub use local::LocalType;
