//! Rows that several secondary indexes have under one key each.
//!
//! Entries of one key come in the order of the clustered key, so that the indexes are gone through side by side: whoever is behind
//! the furthest of them moves on, entry by entry for a while, then by a descent. Rows are read where all of them meet.

use super::scan::ScanOp;
use super::{Frame, Op, Run, Scope};
use expr::Execution;
use plan::node::Intersection;
use types::Result;

/// Entries that are passed over one by one before the index is descended anew.
const STEPS_MAX: usize = 24;

/// The rows that all of several index scans find.
pub struct IntersectionOp {
    slot: usize,
    scans: Vec<Side>,
    /// In this execution all of them have entries in order; else the first one alone is read, and conditions judge its rows.
    ordered: bool,
    row: Vec<u8>,
}

struct Side {
    scan: ScanOp,
    /// The clustered key of its entry.
    key: Vec<u8>,
    /// Its range of this execution.
    lower: Vec<u8>,
    upper: Option<Vec<u8>>,
    /// Scratch: a place in the index.
    place: Vec<u8>,
}

impl IntersectionOp {
    /// Made of its plan, which has at least two scans.
    pub fn new(m: Intersection) -> IntersectionOp {
        assert!(m.scans.len() > 1, "one index is a scan");
        let slot = m.scans[0].slot;
        let side =
            |scan| Side { scan: ScanOp::new(scan), key: Vec::new(), lower: Vec::new(), upper: None, place: Vec::new() };
        IntersectionOp { slot, scans: m.scans.into_iter().map(side).collect(), ordered: false, row: Vec::new() }
    }

    /// Moves all sides on to the first clustered key, from that of the first side on, that all of them have.
    fn meet(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let n = self.scans.len();
        let (mut furthest, mut at, mut agreed) = (0, 1, 1);
        while agreed < n {
            let [side, far] = self.scans.get_disjoint_mut([at, furthest]).expect("two sides");
            if !side.reach(&far.key, self.slot, run, frame, outer)? {
                return Ok(false);
            }
            if side.key == far.key {
                agreed += 1;
            } else {
                (furthest, agreed) = (at, 1);
            }
            at = (at + 1) % n;
            if at == furthest {
                at = (at + 1) % n;
            }
        }
        Ok(true)
    }
}

impl Side {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.key.clear();
        self.scan.open(run, frame, outer)?;
        if let Some((lower, upper)) = self.scan.take_ranges().pop() {
            (self.lower, self.upper) = (lower, upper);
        }
        Ok(())
    }

    /// The next entry.
    fn step(&mut self, slot: usize, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let found = self.scan.next_entry(run, frame, outer)?;
        if found {
            self.key.clone_from(&frame.slots[slot].key);
        }
        Ok(found)
    }

    /// Moves on to the first entry that is not before `key`.
    fn reach(
        &mut self,
        key: &[u8],
        slot: usize,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
    ) -> Result<bool> {
        let mut steps = 0;
        // An empty key: no entry has been read yet.
        while self.key.is_empty() || self.key[..] < *key {
            if steps == STEPS_MAX {
                self.place.clone_from(&self.lower);
                self.place.extend_from_slice(key);
                self.scan.seek(&self.place, self.upper.as_deref(), false);
            }
            if !self.step(slot, run, frame, outer)? {
                return Ok(false);
            }
            steps += 1;
            run.check_interrupt()?;
        }
        Ok(true)
    }
}

impl Op for IntersectionOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        for side in &mut self.scans {
            side.open(run, frame, outer)?;
        }
        self.ordered = self.scans.iter().all(|s| s.scan.has_one_key());
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            run.check_interrupt()?;
            if !self.scans[0].step(self.slot, run, frame, outer)? {
                return Ok(false);
            }
            if self.ordered && !self.meet(run, frame, outer)? {
                return Ok(false);
            }
            let first = &mut self.scans[0];
            if first.scan.row_of(run, &first.key, &mut self.row)? {
                let slot = &mut frame.slots[self.slot];
                std::mem::swap(&mut slot.bytes, &mut self.row);
                slot.key.clone_from(&first.key);
                slot.present = true;
                return Ok(true);
            }
        }
    }

    fn reject(&mut self, run: &Run<'_>) {
        self.scans[0].scan.reject(run);
    }
}
