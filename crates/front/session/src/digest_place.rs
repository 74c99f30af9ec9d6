//! Where the sums of a statement's digest are, as plans and sessions keep it.

use observe::digests::{DigestHash, Place};
use std::collections::HashMap;

/// Texts of which a session remembers the place.
pub(crate) const RECENT: usize = 32;

/// Digests of which it does; then it begins anew.
pub(crate) const KNOWN_MAX: usize = 256;

/// What a command does with the text at hand. A prepared statement has a digest for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Verb {
    Run,
    Prepare,
    Execute,
    Deallocate,
}

impl Verb {
    pub fn word(self) -> &'static str {
        match self {
            Verb::Run => "",
            Verb::Prepare => "PREPARE ",
            Verb::Execute => "EXECUTE ",
            Verb::Deallocate => "DEALLOCATE ",
        }
    }
}

/// A place, and the session's default schema when it was found, by which sums are kept apart: see `performance::Lane::schemas`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownPlace {
    pub place: Place,
    pub schemas: u64,
}

/// What a session knows of digests.
#[derive(Default)]
pub(crate) struct Digests {
    /// Of the statement at hand; in no table: it has none.
    pub place: Place,
    /// By text.
    pub recent: Option<Box<[(u64, KnownPlace); RECENT]>>,
    /// By digest: texts of one digest differ in their literals.
    pub known: HashMap<DigestHash, KnownPlace>,
}

impl KnownPlace {
    #[inline]
    pub fn is_current(self, schemas: u64) -> bool {
        self.place.is_current() && self.schemas == schemas
    }
}
