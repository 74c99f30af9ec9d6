//! What `profiling` keeps.

use inspect::profile::Profile;
use std::sync::Arc;

/// What a session keeps.
#[derive(Default)]
pub(crate) struct Profiles {
    pub last_id: u64,
    /// The oldest one first.
    pub kept: Vec<Arc<Profile>>,
    /// The statement at hand shows profiles, and is no profile itself.
    pub shows: bool,
}
