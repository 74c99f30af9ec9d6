//! Skip scan: of each different value of an index's leading parts the range of a later part is read, and what lies between the
//! ranges is hopped over.

use super::loose::prefix_length;
use super::scan::{OwnKeys, ScanOp};
use super::{Frame, Op, Run, Scope};
use expr::Execution;
use plan::node::{Scan, Skip};
use types::{Result, key};

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first entry at or behind `low` begins the next group.
    Hop,
    /// Entries of a group's range.
    Read,
    Done,
}

/// A skip scan: ranges of a later index part within each value of those before.
pub struct SkipOp {
    scan: ScanOp,
    skip: Box<Skip>,
    /// Every entry is read: locking reads lock them all.
    plain: bool,
    /// Ranges of the leading parts, and the one that is read, from `low` on.
    ranges: Vec<OwnKeys>,
    at: usize,
    low: Vec<u8>,
    /// The range of the later part in this execution: behind any prefix.
    bound: OwnKeys,
    /// The group's leading values.
    prefix: Vec<u8>,
    state: State,
}

impl SkipOp {
    /// Made of its plan, which has a skip access.
    pub fn new(mut scan: Scan) -> SkipOp {
        let skip = scan.access.skip.take().expect("planned as a skip scan");
        SkipOp {
            scan: ScanOp::new(scan),
            skip,
            plain: false,
            ranges: Vec::new(),
            at: 0,
            low: Vec::new(),
            bound: Default::default(),
            prefix: Vec::new(),
            state: State::Done,
        }
    }

    fn start_range(&mut self, at: usize) {
        self.at = at;
        self.state = State::Done;
        if let Some((lower, _)) = self.ranges.get(at) {
            self.low.clone_from(lower);
            self.state = State::Hop;
        }
    }

    /// Finds the next group and starts reading its range.
    fn hop(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.scan.seek(&self.low, self.ranges[self.at].1.as_deref(), false);
        if !self.scan.next_entry(run, frame, outer)? {
            self.start_range(self.at + 1);
            return Ok(());
        }
        let key = self.scan.entry_key(frame);
        let n = prefix_length(key, self.scan.index(), self.skip.parts)?;
        self.prefix.clear();
        self.prefix.extend_from_slice(&key[..n]);
        let lower = [&self.prefix[..], &self.bound.0].concat();
        let upper = match &self.bound.1 {
            Some(end) => Some([&self.prefix[..], end].concat()),
            None => {
                let mut end = self.prefix.clone();
                key::successor(&mut end).then_some(end)
            }
        };
        self.scan.seek(&lower, upper.as_deref(), false);
        self.state = State::Read;
        Ok(())
    }

    /// The group's range is through: the next group begins behind all of it.
    fn next_group(&mut self) {
        self.state = State::Hop;
        self.low.clone_from(&self.prefix);
        let more = key::successor(&mut self.low);
        if !more || self.ranges[self.at].1.as_ref().is_some_and(|upper| self.low >= *upper) {
            self.start_range(self.at + 1);
        }
    }
}

impl Op for SkipOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.scan.open(run, frame, outer)?;
        self.plain = !self.scan.may_hop();
        if self.plain {
            return Ok(());
        }
        self.ranges = self.scan.take_ranges();
        self.start_range(0);
        match self.scan.part_range(self.skip.parts, &self.skip.bound, run, Scope::new(frame, outer))? {
            Some(bound) => self.bound = bound,
            None => self.state = State::Done,
        }
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.plain {
            return self.scan.next(run, frame, outer);
        }
        loop {
            run.check_interrupt()?;
            match self.state {
                State::Done => return Ok(false),
                State::Hop => self.hop(run, frame, outer)?,
                State::Read if !self.scan.next_entry(run, frame, outer)? => self.next_group(),
                State::Read => {
                    if self.scan.wanted(run, Scope::new(frame, outer))? {
                        return Ok(true);
                    }
                }
            }
        }
    }
}
