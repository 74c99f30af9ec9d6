//! How many pages to write now: adaptive flushing after InnoDB's.
//!
//! Three things ask for pages: the share of dirty pages (from `innodb_max_dirty_pages_pct_lwm` on, up to all of
//! `innodb_io_capacity` at `innodb_max_dirty_pages_pct`), the age of the log (from `innodb_adaptive_flushing_lwm` percent of its
//! capacity on, with a power of 3, up to `innodb_io_capacity_max`), and how fast the log grows: pages that it will have made
//! too old in some seconds. The mean of the stronger of the first two, the last, and the pace so far is the pace. The first two
//! begin at nothing, not with a jump as InnoDB's, so that a steady load is written at a steady pace. InnoDB's power is 1.5, with which
//! a load of 1,000 pages a second settles at a fifth of the log; here it settles at two fifths, and a page gathers twice the
//! changes before it is written. From the full capacity on nothing bounds it, for at twice the capacity writers have to wait; with
//! `innodb_flush_sync` off they rather wait.

use super::settings::PoolSettings;
use log::Lsn;
use std::time::Duration;

/// The log grows so many seconds before what it makes too old has to be written.
const SECONDS_AHEAD: f64 = 3.0;
/// Age from which the log is in danger: pages are written whatever `innodb_adaptive_flushing` says.
const DANGER: f64 = 7.0 / 8.0;
/// Parts into which dirty pages are sorted by age.
const BUCKETS: usize = 256;

/// Dirty pages by the LSN since which they are, between two LSNs.
pub struct Ages {
    from: Lsn,
    /// Bytes of log in a bucket.
    width: u64,
    pages: [usize; BUCKETS],
    pub total: usize,
}

impl Ages {
    pub fn new(from: Lsn, to: Lsn) -> Ages {
        let width = (to.saturating_sub(from) / BUCKETS as u64 + 1).max(1);
        Ages { from, width, pages: [0; BUCKETS], total: 0 }
    }

    pub fn add(&mut self, since: Lsn) {
        let bucket = since.saturating_sub(self.from) / self.width;
        self.pages[(bucket as usize).min(BUCKETS - 1)] += 1;
        self.total += 1;
    }

    /// Pages that are dirty since before `lsn`, about.
    pub fn before(&self, lsn: Lsn) -> usize {
        let buckets = (lsn.saturating_sub(self.from) / self.width) as usize;
        self.pages[..buckets.min(BUCKETS)].iter().sum()
    }

    /// The LSN before which at least `count` pages are dirty, if there are so many.
    pub fn lsn_of(&self, count: usize) -> Lsn {
        let mut sum = 0;
        for (i, pages) in self.pages.iter().enumerate() {
            sum += pages;
            if sum >= count {
                return self.from + (i as u64 + 1) * self.width;
            }
        }
        Lsn::MAX
    }
}

/// What there is at the beginning of a round.
pub struct Load<'a> {
    /// Since the last round.
    pub elapsed: Duration,
    /// Where the log ends, and how much of it recovery would read.
    pub tail: Lsn,
    pub age: u64,
    pub log_capacity: u64,
    pub dirty: &'a Ages,
    pub frames: usize,
    /// Pages written since the last round, for whatever reason.
    pub written: usize,
}

#[derive(Default)]
pub struct Pace {
    last_tail: Lsn,
    /// Bytes of log and written pages a second, averaged.
    log_rate: f64,
    page_rate: f64,
    /// Part of a page that the last rounds left over.
    rest: f64,
}

impl Pace {
    /// How many pages to write in this round, the oldest ones.
    pub fn pages(&mut self, load: &Load<'_>, settings: &PoolSettings) -> usize {
        let seconds = load.elapsed.as_secs_f64().clamp(1e-3, 1.0);
        let grown = load.tail.saturating_sub(std::mem::replace(&mut self.last_tail, load.tail));
        let weight = seconds / (seconds + settings.flushing_avg_loops as f64);
        self.log_rate += (grown as f64 / seconds - self.log_rate) * weight;
        self.page_rate += (load.written as f64 / seconds - self.page_rate) * weight;
        let rate = if grown == 0 {
            settings.io_capacity as f64 * settings.idle_flush_pct as f64 / 100.0
        } else {
            self.rate(load, settings)
        };
        let pages = rate * seconds + self.rest;
        self.rest = pages.fract();
        // Not instead of the rest: what makes the log old may be no page that is dirty but one that was thrown away, which counts
        // until all that is older than that moment is on disk.
        let overdue = match load.age >= load.log_capacity {
            true => load.dirty.before(load.tail.saturating_sub(load.log_capacity / 4 * 3)),
            false => 0,
        };
        let overdue = match settings.flush_sync {
            true => overdue,
            false => overdue.min((settings.io_capacity_max as f64 * seconds) as usize),
        };
        (pages as usize).max(overdue).min(load.dirty.total)
    }

    /// Pages a second while the log grows.
    fn rate(&self, load: &Load<'_>, settings: &PoolSettings) -> f64 {
        let (capacity, max) = (settings.io_capacity as f64, settings.io_capacity_max as f64);
        let by_dirty = dirty_pct(load.dirty.total as f64 * 100.0 / load.frames as f64, settings);
        let by_age = age_pct(load.age as f64 * 100.0 / load.log_capacity as f64, settings);
        let pct = by_dirty.max(by_age);
        if pct == 0.0 {
            return 0.0;
        }
        let oldest = load.tail.saturating_sub(load.age);
        let ahead = load.dirty.before(oldest.saturating_add((self.log_rate * SECONDS_AHEAD) as u64));
        let by_growth = (ahead as f64 / SECONDS_AHEAD).min(max * 2.0);
        ((capacity * pct / 100.0 + by_growth + self.page_rate) / 3.0).min(max)
    }
}

/// Percent of `innodb_io_capacity` that the share of dirty pages asks for.
fn dirty_pct(dirty_pct: f64, settings: &PoolSettings) -> f64 {
    let (low, high) = (settings.max_dirty_pages_pct_lwm, settings.max_dirty_pages_pct);
    if dirty_pct >= high {
        return 100.0;
    }
    if low > 0.0 && dirty_pct > low { (dirty_pct - low) * 100.0 / (high - low) } else { 0.0 }
}

/// Percent of `innodb_io_capacity` that the log's age asks for, itself in percent of its capacity.
fn age_pct(age_pct: f64, settings: &PoolSettings) -> f64 {
    let from = if settings.adaptive_flushing { settings.adaptive_flushing_lwm as f64 } else { DANGER * 100.0 };
    if age_pct <= from {
        return 0.0;
    }
    let over = (age_pct - from) / (100.0 - from);
    let steep = settings.io_capacity_max as f64 / settings.io_capacity as f64;
    steep * over.powi(3) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 1 << 30;
    const FRAMES: usize = 8192;

    /// Rounds of a tenth of a second, in each of which the log grows by `growth` and dirties `pages`; pages are written from the
    /// oldest on. The pages written in each.
    fn run(settings: &PoolSettings, rounds: usize, growth: u64, pages: usize) -> Vec<usize> {
        let (mut pace, mut tail, mut written) = (Pace::default(), CAPACITY, Vec::new());
        let mut dirty: std::collections::VecDeque<Lsn> = Default::default();
        for _ in 0..rounds {
            for i in 0..pages {
                dirty.push_back(tail + growth * i as u64 / pages as u64);
            }
            tail += growth;
            let oldest = dirty.front().copied().unwrap_or(tail);
            let mut ages = Ages::new(oldest, tail);
            dirty.iter().for_each(|since| ages.add(*since));
            let load = Load {
                elapsed: Duration::from_millis(100),
                tail,
                age: tail - oldest,
                log_capacity: CAPACITY,
                dirty: &ages,
                frames: FRAMES,
                written: written.last().copied().unwrap_or(0),
            };
            let now = pace.pages(&load, settings).min(dirty.len());
            dirty.drain(..now);
            written.push(now);
        }
        written
    }

    #[test]
    fn a_steady_load_is_written_at_a_steady_pace_before_the_log_is_full() {
        // 200 pages and 10 MiB of log a second.
        let settings = PoolSettings { max_dirty_pages_pct_lwm: 0.0, max_dirty_pages_pct: 99.0, ..Default::default() };
        let written = run(&settings, 6000, 1 << 20, 20);
        assert!(written[..100].iter().all(|n| *n == 0), "young pages are left to gather changes");
        let steady = &written[5000..];
        let (least, most) = (steady.iter().min().unwrap(), steady.iter().max().unwrap());
        assert!(*least > 0 && most - least <= 4, "between {least} and {most} pages a round");
        let mean = steady.iter().sum::<usize>() as f64 / steady.len() as f64;
        assert!((19.0..21.0).contains(&mean), "20 pages a round become dirty, {mean} are written");
    }

    #[test]
    fn the_share_of_dirty_pages_sets_the_pace() {
        let settings = PoolSettings { adaptive_flushing: false, ..Default::default() };
        assert_eq!(dirty_pct(9.0, &settings), 0.0);
        assert_eq!(dirty_pct(50.0, &settings), 50.0);
        let off = PoolSettings { max_dirty_pages_pct_lwm: 0.0, ..settings.clone() };
        assert_eq!((dirty_pct(89.0, &off), dirty_pct(90.0, &off)), (0.0, 100.0));
        // Much changes with little log: only the share matters, and it stays below its bound.
        let written = run(&settings, 3000, 1 << 10, 100);
        assert!(written[2000..].iter().all(|n| (50..200).contains(n)));
    }

    #[test]
    fn the_age_of_the_log_sets_the_pace() {
        let settings = PoolSettings::default();
        assert_eq!(age_pct(9.9, &settings), 0.0);
        assert!(age_pct(11.0, &settings) < 1.0 && age_pct(20.0, &settings) < age_pct(60.0, &settings) / 4.0);
        assert!(age_pct(99.0, &settings) > 190.0, "near the end all that io_capacity_max allows");
        let off = PoolSettings { adaptive_flushing: false, ..settings };
        assert_eq!(age_pct(80.0, &off), 0.0);
        assert!(age_pct(99.0, &off) > 150.0, "unless the log is in danger");
    }

    #[test]
    fn an_idle_server_writes_its_share_and_a_full_log_everything_old() {
        let settings = PoolSettings { idle_flush_pct: 30, io_capacity: 1000, ..Default::default() };
        let mut ages = Ages::new(0, 1000);
        (0..1000).for_each(|since| ages.add(since));
        let load = |tail, age, log_capacity| Load {
            elapsed: Duration::from_millis(100),
            tail,
            age,
            log_capacity,
            dirty: &ages,
            frames: FRAMES,
            written: 0,
        };
        let mut pace = Pace { last_tail: 1000, ..Pace::default() };
        assert_eq!(pace.pages(&load(1000, 1000, CAPACITY), &settings), 30);
        let due = pace.pages(&load(1001, 1000, 900), &settings);
        assert!(due >= 300, "{due}: back to three quarters of the capacity at least");
        let bounded = PoolSettings { flush_sync: false, io_capacity_max: 2000, ..settings.clone() };
        assert_eq!(pace.pages(&load(1002, 1000, 900), &bounded), 200, "writers wait");
        // Pages that were thrown away make the log older than any page that is dirty.
        let mut young = Ages::new(0, 1000);
        (990..1000).for_each(|since| young.add(since));
        let thrown_away = Load { dirty: &young, ..load(1003, 1000, 900) };
        assert_eq!(pace.pages(&thrown_away, &settings), 10, "they are written though none is old");
    }
}
