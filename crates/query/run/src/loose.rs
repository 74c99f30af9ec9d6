//! Loose index scan: of each group of an index's leading values it reads the first entry, the first that is not NULL and the last,
//! as MIN and MAX want them, and hops over the rest. The grouping above sees a group's few rows and is none the wiser.

use super::scan::{OwnKeys, ScanOp};
use super::{Frame, Op, Run, Scope};
use catalog::Index;
use catalog::error;
use expr::Execution;
use plan::node::{Loose, Scan};
use types::{Result, Value, key};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The first entry of the next group.
    Group,
    /// The least value that is not NULL.
    Min,
    Max,
    Done,
}

/// A loose scan: the first or last entry of each group, without those between.
pub struct LooseOp {
    scan: ScanOp,
    loose: Loose,
    /// Every entry is read: locking reads lock them all.
    plain: bool,
    /// Ranges of this execution, and the one that is read, from `low` on.
    ranges: Vec<OwnKeys>,
    at: usize,
    low: Vec<u8>,
    /// The group's leading values.
    prefix: Vec<u8>,
    step: Step,
}

impl LooseOp {
    /// Made of its plan, which has a loose access.
    pub fn new(scan: Scan) -> LooseOp {
        let loose = scan.access.loose.expect("planned as a loose scan");
        LooseOp {
            scan: ScanOp::new(scan),
            loose,
            plain: false,
            ranges: Vec::new(),
            at: 0,
            low: Vec::new(),
            prefix: Vec::new(),
            step: Step::Done,
        }
    }

    /// Goes on to the next range.
    fn start_range(&mut self, at: usize) {
        self.at = at;
        self.step = Step::Done;
        if let Some((lower, _)) = self.ranges.get(at) {
            self.low.clone_from(lower);
            self.step = Step::Group;
        }
    }

    /// Where the group ends.
    fn group_end(&self) -> Option<Vec<u8>> {
        let mut end = self.prefix.clone();
        let end = key::successor(&mut end).then_some(end);
        let range = self.ranges[self.at].1.clone();
        match (end, range) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// What there is to read of the group after `step`.
    fn after(&self, step: Step) -> Step {
        let part = self.scan.index().parts.get(self.loose.parts);
        let nulls = self.loose.min && part.is_some_and(|p| p.key.data_type.nullable);
        match step {
            Step::Group if nulls => Step::Min,
            Step::Group | Step::Min if self.loose.max => Step::Max,
            _ => Step::Group,
        }
    }

    /// The group is done with: the next one begins behind it.
    fn next_group(&mut self) {
        self.low.clone_from(&self.prefix);
        let more = key::successor(&mut self.low);
        let inside = self.ranges[self.at].1.as_ref().is_none_or(|upper| self.low < *upper);
        if !more || !inside {
            self.start_range(self.at + 1);
        }
    }

    /// One entry of the current step; false when there is none.
    fn seek(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        match self.step {
            Step::Group => {
                self.scan.seek(&self.low, self.ranges[self.at].1.as_deref(), false);
                if !self.scan.next_entry(run, frame, outer)? {
                    return Ok(false);
                }
                let key = self.scan.entry_key(frame);
                let n = prefix_length(key, self.scan.index(), self.loose.parts)?;
                self.prefix.clear();
                self.prefix.extend_from_slice(&key[..n]);
                Ok(true)
            }
            Step::Min => {
                let part = self.scan.index().parts[self.loose.parts].key;
                let mut low = self.prefix.clone();
                key::encode_part(&mut low, &part, &Value::Null);
                let above = key::successor(&mut low);
                assert!(above, "values come after NULL");
                self.scan.seek(&low, self.group_end().as_deref(), false);
                self.scan.next_entry(run, frame, outer)
            }
            Step::Max => {
                let end = self.group_end();
                self.scan.seek(&self.prefix, end.as_deref(), true);
                self.scan.next_entry(run, frame, outer)
            }
            Step::Done => Ok(false),
        }
    }
}

/// Bytes of the first `parts` parts of a key.
pub(super) fn prefix_length(key: &[u8], index: &Index, parts: usize) -> Result<usize> {
    let mut at = 0;
    for part in &index.parts[..parts] {
        match key::part_length(&key[at..], &part.key) {
            Some(n) => at += n,
            None => return Err(error::engine(engine::Error::Corrupt(format!("key of index {}", index.name)))),
        }
    }
    Ok(at)
}

impl Op for LooseOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.scan.open(run, frame, outer)?;
        self.plain = !self.scan.may_hop();
        if !self.plain {
            self.ranges = self.scan.take_ranges();
            self.start_range(0);
        }
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.plain {
            return self.scan.next(run, frame, outer);
        }
        while self.step != Step::Done {
            run.check_interrupt()?;
            let step = self.step;
            let found = self.seek(run, frame, outer)?;
            if step == Step::Group && !found {
                self.start_range(self.at + 1);
                continue;
            }
            // The conditions are about what a group has in common.
            let wanted = found && self.scan.wanted(run, Scope::new(frame, outer))?;
            self.step = if step == Step::Group && !wanted { Step::Group } else { self.after(step) };
            if self.step == Step::Group {
                self.next_group();
            }
            if wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
