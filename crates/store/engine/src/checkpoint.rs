//! The page cleaner's thread: page after page goes to the data file, and checkpoints follow, so that recovery never has much to read.

use crate::Result;
use crate::engine::{Core, LAST_ROUND};
use crate::pool::cleaner::Cleaner;
use crate::pool::doublewrite::Doublewrite;
use crate::recovery;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sync::futex;

/// The thread's work until the engine stops: the outcome of the last checkpoint.
pub fn run(core: &Core, doublewrite: Option<Doublewrite>) -> Result<()> {
    let mut cleaner = Cleaner::new(&core.pool, &core.log, doublewrite);
    let mut last_tail = 0;
    let mut checkpointed = 0;
    loop {
        // Relaxed: as in `stopping`.
        let stage = core.stop.load(Ordering::Relaxed);
        if stage == LAST_ROUND {
            break;
        }
        let seen = core.pool.wanted.load(Ordering::Acquire); // pairs with the Release in `want_cleaning`
        let tail = core.log.tail_lsn();
        let outcome = cleaner.round(tail == last_tail).and_then(|written| {
            let oldest = cleaner.oldest_change();
            if oldest.saturating_sub(checkpointed) >= core.log.capacity() / 64
                || (tail == last_tail && oldest > checkpointed)
            {
                core.log.set_checkpoint(oldest, &recovery::checkpoint_payload(core))?;
                checkpointed = oldest;
            }
            Ok(written)
        });
        last_tail = tail;
        match outcome {
            Ok(0) => {
                futex::wait(&core.pool.wanted, seen, Some(Duration::from_millis(50)));
            }
            Ok(_) => {}
            Err(error) => {
                eprintln!("[ERROR] [Engine] writing pages: {error}");
                futex::wait(&core.stop, stage, Some(Duration::from_millis(500)));
            }
        }
    }
    cleaner.write_all()?;
    Ok(core.log.set_checkpoint(cleaner.oldest_change(), &recovery::checkpoint_payload(core))?)
}
