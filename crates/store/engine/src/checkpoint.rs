//! The page cleaner's work: page after page goes to the data file, and checkpoints follow, so that recovery never has much to read.

use crate::Result;
use crate::pool::cleaner::{Cleaner, Round, TICK};
use crate::pool::doublewrite::Doublewrite;
use crate::recovery;
use crate::shared::{Core, LAST_ROUND};
use log::Lsn;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use sync::futex;
use sync::waits::Wait;

/// Who writes pages, and how far the checkpoint has come.
pub struct Checkpoints<'c> {
    core: &'c Core,
    cleaner: Cleaner<'c>,
    last_tail: u64,
    checkpointed: u64,
}

impl<'c> Checkpoints<'c> {
    pub fn new(core: &'c Core, doublewrite: Option<Doublewrite>) -> Checkpoints<'c> {
        let cleaner = Cleaner::new(&core.pool, &core.log, doublewrite);
        Checkpoints { core, cleaner, last_tail: 0, checkpointed: 0 }
    }

    /// Writes what is due, and a checkpoint if it is. `elapsed`: since the last round.
    pub fn round(&mut self, elapsed: Duration) -> Result<Round> {
        let log = &self.core.log;
        let tail = log.tail_lsn();
        let idle = tail == std::mem::replace(&mut self.last_tail, tail);
        let wanted = self.core.space.overwrites.awaited_checkpoint(self.checkpointed);
        let round = self.cleaner.round(elapsed, wanted.is_some())?;
        self.overwrite()?;
        let oldest = self.cleaner.oldest_change();
        if wanted.is_some_and(|wanted| wanted <= oldest) {
            self.store(oldest)?;
            self.checkpointed = oldest;
            self.core.space.want_work();
        } else if oldest.saturating_sub(self.checkpointed) >= log.capacity() / 64
            || (idle && oldest > self.checkpointed)
        {
            self.store(oldest)?;
            self.checkpointed = oldest;
        }
        Ok(round)
    }

    /// Overwrites the doublewrite file, if that is wanted.
    fn overwrite(&self) -> Result<()> {
        let overwrites = &self.core.space.overwrites;
        if let Some(order) = overwrites.doublewrite_order() {
            self.cleaner.overwrite_doublewrite()?;
            // Release: pairs with the Acquire of who gave the order.
            overwrites.doublewrites_done.store(order, Ordering::Release);
            self.core.space.want_work();
        }
        Ok(())
    }

    /// A checkpoint at `oldest`.
    fn store(&self, oldest: Lsn) -> Result<()> {
        let Core { log, space, .. } = self.core;
        let payload = recovery::checkpoint_payload(self.core);
        // The length that it tells may be younger than `oldest`: the maps of all that it covers are durable first.
        log.wait_flushed(space.mapped_lsn())?;
        Ok(log.set_checkpoint(oldest, &payload)?)
    }

    /// Writes all that is left, and the last checkpoint.
    pub fn finish(&mut self) -> Result<()> {
        self.cleaner.write_all()?;
        self.store(self.cleaner.oldest_change())
    }
}

/// The thread's work until the engine stops: the outcome of the last checkpoint.
pub fn run(core: &Core, doublewrite: Option<Doublewrite>) -> Result<()> {
    let mut checkpoints = Checkpoints::new(core, doublewrite);
    core.pool.set_attended();
    let mut began = Instant::now();
    loop {
        // Relaxed: as in `stopping`.
        let stage = core.stop.load(Ordering::Relaxed);
        if stage == LAST_ROUND {
            return checkpoints.finish();
        }
        let seen = core.pool.wanted.load(Ordering::Acquire); // pairs with the Release in `want_cleaning`
        let elapsed = began.elapsed();
        began += elapsed;
        match checkpoints.round(elapsed) {
            // Whoever evicts is at work: more will be due at once.
            Ok(round) if round.ahead > 0 || round.shrinks => {}
            Ok(_) => {
                let tick = TICK.saturating_sub(began.elapsed());
                futex::wait(&core.pool.wanted, seen, Some(tick), Wait::Background);
            }
            Err(error) => {
                eprintln!("[ERROR] [Engine] writing pages: {error}");
                futex::wait(&core.stop, stage, Some(Duration::from_millis(500)), Wait::Background);
            }
        }
    }
}
