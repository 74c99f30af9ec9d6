//! Headroom: units that are free and have blocks, ahead of need.
//!
//! The task in [`super::reclaim`] keeps [`Space::enough`] of them; a statement makes room itself only when it finds less than
//! [`HEADROOM_UNITS`]. Free units without blocks get blocks first, then the file grows. Near the end of a disk steps are halved
//! down to [`STEP_PAGES_MIN`], so that the last pieces are used too. What is left then is for what makes room: see [`Need`].

use super::map::{GROUP_UNITS, UNIT_PAGES, format_map, map_page};
use super::units::Run;
use super::{GROUP_PAGES, Space};
use crate::mtr::Mtr;
use crate::page::PAGE_BYTES;
use crate::pool::Pool;
use crate::{Error, Result};
use log::Log;
use std::sync::atomic::Ordering;
use sync::blocking;
use sync::waits::Wait;

/// Kept ahead of need: more than the statements in progress can take between two looks.
pub(super) const HEADROOM_UNITS: u64 = 128;

/// What a write wants of the free units, and so what it leaves on a full disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// New rows, long values, splits.
    Room,
    /// Rows that are deleted or changed where they are: pages for undo, until purge frees them.
    Undo,
    /// Trees and entries of the dictionary come and go: DROP must find what DELETE has left.
    Definition,
}

impl Need {
    fn units(self) -> u64 {
        match self {
            Need::Room => HEADROOM_UNITS,
            Need::Undo => HEADROOM_UNITS / 4,
            Need::Definition => HEADROOM_UNITS / 16,
        }
    }
}
/// The task makes room when there is less, in small files.
pub(super) const LOW_UNITS: u64 = HEADROOM_UNITS * 3 / 2;
/// And in large ones a sixteenth of the file, up to this.
const LOW_UNITS_MAX: u64 = 1024;

pub(super) const STEP_PAGES_MIN: u64 = 16;
const STEP_PAGES_MAX: u64 = 4096;
/// The step that a growing file soon comes to, as a share of its length.
const STEP_SHARE: u64 = 8;

/// Attempts to back a unit that a full disk may refuse in one go.
const REFUSALS_MAX: usize = 256;

impl Space {
    /// Makes sure that what is about to write finds free pages; makes room if not. Holds no latch meanwhile. Who needs less than others
    /// does not wait for a full disk to refuse once more.
    #[inline]
    pub fn ensure_headroom(&self, pool: &Pool, log: &Log, need: Need) -> Result<()> {
        // Relaxed: a number kept about right; the claim of a unit decides.
        if self.ready.load(Ordering::Relaxed) >= need.units() {
            return Ok(());
        }
        self.make_room(pool, log, need.units())
    }

    /// What the task keeps ready.
    pub(super) fn enough(&self) -> u64 {
        (self.file_pages() / UNIT_PAGES / 16).clamp(LOW_UNITS, LOW_UNITS_MAX)
    }

    /// Until `wanted` units are ready: gives blocks to free units, then makes the file longer.
    #[cold]
    pub(super) fn make_room(&self, pool: &Pool, log: &Log, wanted: u64) -> Result<()> {
        let mut step = self.growth.lock_or_end(Wait::FileGrowth).ok_or(Error::Interrupted)?;
        let _waiting = blocking::waiting(Wait::FileGrowth);
        loop {
            // Relaxed: as above, and this is done by one thread at a time.
            let ready = self.ready.load(Ordering::Relaxed);
            if ready >= wanted {
                return Ok(());
            }
            // What is still to be overwritten is taken only where there is nothing else.
            let but_aged = self.distrusts_free();
            if self.back(pool, wanted - ready, but_aged)? {
                continue;
            }
            match self.extend(pool, log, &mut step) {
                Err(Error::DiskFull) if but_aged && self.back(pool, wanted - ready, false)? => {}
                outcome => outcome?,
            }
        }
    }

    /// Gives blocks to free units that may have none. False: the disk has no room for any, or there are none.
    fn back(&self, pool: &Pool, wanted: u64, but_aged: bool) -> Result<bool> {
        let (mut backed, mut refused) = (Vec::new(), Vec::new());
        let (mut units, mut from) = (0, 0);
        let mut outcome = Ok(());
        while units < wanted && outcome.is_ok() && refused.len() < REFUSALS_MAX {
            let units_max = (wanted - units).min(GROUP_UNITS as u64) as usize;
            let Some(run) = self.change_units(|all| all.take_bare(from, units_max, but_aged)) else { break };
            from = run.pages().end;
            // What is refused as a whole may be had in parts: those that have blocks already need no room.
            let mut parts = vec![run];
            while let Some(part) = parts.pop() {
                match allocate(pool, part) {
                    Ok(()) => {
                        units += part.units as u64;
                        backed.push(part);
                    }
                    Err(Error::DiskFull) if part.units > 1 && refused.len() < REFUSALS_MAX => {
                        parts.extend(part.halves())
                    }
                    Err(Error::DiskFull) => refused.push(part),
                    Err(error) => {
                        refused.push(part);
                        outcome = Err(error);
                    }
                }
            }
        }
        if outcome.is_ok() && !backed.is_empty() {
            // Durable before anything there is: recovery writes these pages on a disk that may be full.
            outcome = pool.file().sync_all().map_err(Error::from);
        }
        let done = outcome.is_ok();
        let found = done && !backed.is_empty();
        self.change_units(|all| {
            refused.into_iter().for_each(|run| all.add_bare(run));
            backed.into_iter().for_each(|run| if done { all.add_ready(run) } else { all.add_bare(run) });
        });
        outcome.map(|()| found)
    }

    /// Makes the file longer by a step that does not go beyond its last group, or begins the next one.
    fn extend(&self, pool: &Pool, log: &Log, step: &mut u64) -> Result<()> {
        let old = self.file_pages();
        let bound = ((old / GROUP_PAGES + 1) * GROUP_PAGES).min(pool.page_count() / UNIT_PAGES * UNIT_PAGES);
        let new = loop {
            let new = (old + *step).min(bound);
            if new <= old {
                return Err(Error::DiskFull);
            }
            match pool.file().allocate(old * PAGE_BYTES as u64, (new - old) * PAGE_BYTES as u64).map_err(Error::from) {
                Err(Error::DiskFull) if *step > STEP_PAGES_MIN => {
                    *step = (*step / 2 / UNIT_PAGES * UNIT_PAGES).max(STEP_PAGES_MIN);
                }
                outcome => break outcome.map(|()| new)?,
            }
        };
        let usual = (old / STEP_SHARE).clamp(STEP_PAGES_MIN, STEP_PAGES_MAX) / UNIT_PAGES * UNIT_PAGES;
        *step = (*step * 2).min(usual);
        // Durable before anything there is, as in `back`.
        pool.file().sync_all()?;
        let group = old / GROUP_PAGES;
        let begins = old.is_multiple_of(GROUP_PAGES);
        if begins {
            let mut map = pool.create(map_page(group), pool.reserve_frame()?);
            format_map(map.bytes_mut(), group);
            let mut mtr = Mtr::new();
            mtr.image(&map);
            let end = mtr.commit(log, &mut [&mut map]);
            // Relaxed: published with the length.
            self.mapped_lsn.store(end, Ordering::Relaxed);
        }
        self.set_file_pages(new);
        let first = (old % GROUP_PAGES / UNIT_PAGES) as usize + begins as usize;
        let run = Run { group, first, units: ((new - old) / UNIT_PAGES) as usize - begins as usize };
        self.change_units(|all| {
            all.add_groups(group + 1);
            if begins {
                all.found(super::OWNER_SYSTEM, map_page(group), 1);
            }
            all.add_ready(run);
        });
        Ok(())
    }
}

fn allocate(pool: &Pool, run: Run) -> Result<()> {
    let pages = run.pages();
    let bytes = (pages.end - pages.start) * PAGE_BYTES as u64;
    Ok(pool.file().allocate(pages.start * PAGE_BYTES as u64, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, EngineOptions, Transaction};
    use std::time::{Duration, Instant};

    #[test]
    fn the_wait_for_another_ones_growth_ends_on_kill_but_not_behind_a_shield() {
        let datadir = std::env::temp_dir().join(format!("clearway-growth-{}", std::process::id()));
        std::fs::create_dir_all(&datadir).unwrap();
        let options = EngineOptions {
            datadir: datadir.clone(),
            buffer_pool_bytes: 8 << 20,
            log_capacity_bytes: 16 << 20,
            log_buffer_bytes: 16 << 20,
            address_space_bytes: 1 << 30,
            doublewrite: true,
            direct_io: false,
            flush_log_at_commit: 0,
            read_io_threads: 0,
            write_io_threads: 1,
            purge_threads: 1,
            events_from: None,
        };
        let engine = Engine::open(options, &mut |_| ()).unwrap();
        let core = engine.core();
        let wanted = core.space.ready.load(Ordering::Relaxed) + 1;
        let grow = || core.space.make_room(&core.pool, &core.log, wanted);
        let tx = Transaction::new(&engine).unwrap();
        for shielded in [false, true] {
            let growing = core.space.growth.lock();
            std::thread::scope(|threads| {
                let waiter = threads.spawn(|| {
                    blocking::serve(tx.interrupt());
                    let _shield = shielded.then(blocking::shield);
                    grow()
                });
                let began = Instant::now();
                while tx.interrupt().waits() != Some(Wait::FileGrowth) {
                    assert!(began.elapsed() < Duration::from_secs(60), "nobody waits");
                    std::thread::yield_now();
                }
                tx.interrupt().raise(1);
                if shielded {
                    sync::Parker::new().park_timeout(blocking::ASK_AGAIN * 3, Wait::Background);
                    assert!(!waiter.is_finished(), "it goes on waiting");
                    drop(growing);
                    waiter.join().unwrap().unwrap();
                } else {
                    let killed = Instant::now();
                    assert!(matches!(waiter.join().unwrap(), Err(Error::Interrupted)));
                    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
                    drop(growing);
                }
                assert_eq!(tx.interrupt().waits(), None);
                tx.interrupt().clear_statement();
            });
        }
        drop((tx, engine));
        std::fs::remove_dir_all(datadir).unwrap();
    }
}
