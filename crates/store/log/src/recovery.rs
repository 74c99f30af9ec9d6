//! Reading the log after a start.
use crate::{Checkpoint, Lsn, Result};

/// What was found at the start. Keep it for the scan, then drop it.
pub struct Recovery {}

/// One group, borrowed until the next call.
#[derive(Debug, PartialEq, Eq)]
pub struct Group<'g> {
    pub start: Lsn,
    pub end: Lsn,
    pub payload: &'g [u8],
}

/// A streaming scan.
pub struct Groups {}

impl Recovery {
    /// True when the log was created just now.
    pub fn created(&self) -> bool { todo!() }
    pub fn checkpoint(&self) -> &Checkpoint { todo!() }
    /// Where the log ends and goes on.
    pub fn end(&self) -> Lsn { todo!() }
    /// Groups from `lsn` (a group's start, not below the checkpoint) to the end.
    pub fn groups(&self, _lsn: Lsn) -> Result<Groups> { todo!() }
    /// The same, telling `progress` (bytes done, bytes in all) about once per MiB.
    pub fn groups_with_progress(&self, _lsn: Lsn, _progress: Box<dyn FnMut(u64, u64) + Send>) -> Result<Groups> { todo!() }
}

impl Groups {
    /// The next group, `None` at the end of the log.
    #[expect(clippy::should_implement_trait, reason = "lends its buffer, which Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Group<'_>>> { todo!() }
}
