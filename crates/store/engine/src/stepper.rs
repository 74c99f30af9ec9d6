//! An engine without threads of its own: whoever opened it does the background work, a step at a time. With sessions in one
//! thread that never wait, the whole engine is a function of what is asked of it and of what the disk answers, so a seed
//! replays a run to the byte (`tests/simulation`).

use crate::Result;
use crate::checkpoint::Checkpoints;
use crate::shared::Core;
use crate::space::reclaim::Reclaim;
use crate::txn::Advancer;
use std::cell::Cell;
use std::time::Duration;

/// The hands that do what an engine's threads do.
pub struct Stepper<'e> {
    core: &'e Core,
    checkpoints: Checkpoints<'e>,
    advancer: Advancer,
    space: Reclaim,
}

impl<'e> Stepper<'e> {
    pub(crate) fn new(core: &'e Core, checkpoints: Checkpoints<'e>) -> Stepper<'e> {
        Stepper { core, checkpoints, advancer: Advancer::default(), space: Reclaim::new(core) }
    }

    /// One round of the page cleaner, and the checkpoint if one is due. `elapsed` is the time since the last round by the caller's clock,
    /// which may stand still or jump. Returns the number of pages written.
    pub fn write_pages(&mut self, elapsed: Duration) -> Result<usize> {
        let round = self.checkpoints.round(elapsed)?;
        Ok(round.ahead + round.due)
    }

    /// Writes the pages of batches that are on their way to the data file, which the next rounds of the cleaner would have to.
    pub fn place_pages(&mut self) {
        self.core.pool.place_batches();
    }

    /// One round of purge. Returns the number of undo records acted on.
    pub fn purge(&mut self) -> Result<u64> {
        self.core.purge(&mut self.advancer)
    }

    /// One round of the task that looks after space. False: there is nothing more to do now.
    pub fn tend_space(&mut self) -> Result<bool> {
        self.space.round(self.core)
    }

    /// Undoes up to `records` changes in all of transactions that are rolled back in the background.
    pub fn roll_back(&mut self, records: u32) {
        let left = Cell::new(records);
        self.core.undo_waiting(|_| left.replace(left.get().saturating_sub(1)) == 0);
    }

    /// Has a write or flush of the log failed? Then the server would end itself with its next change.
    pub fn is_log_dead(&self) -> bool {
        self.core.log.check().is_err()
    }

    /// Flushes what nobody waits for, as the log's thread does.
    pub fn flush_log(&mut self) -> Result<()> {
        Ok(self.core.log.wait_flushed(self.core.log.completed_lsn())?)
    }

    /// Writes everything and a final checkpoint: a clean end.
    pub fn finish(&mut self) -> Result<()> {
        self.checkpoints.finish()
    }
}
