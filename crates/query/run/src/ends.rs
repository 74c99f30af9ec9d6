//! The ends of indexes: of each of several scans of one table the first row.

use super::scan::ScanOp;
use super::{Frame, Op, Run, Scope};
use plan::node::Scan;
use types::Result;

/// One row of each scan that has any.
pub struct EndsOp {
    scans: Vec<ScanOp>,
    /// The scan that is asked next.
    at: usize,
}

impl EndsOp {
    pub fn new(scans: Vec<Scan>) -> EndsOp {
        EndsOp { scans: scans.into_iter().map(ScanOp::new).collect(), at: 0 }
    }
}

impl Op for EndsOp {
    fn open(&mut self, _: &Run<'_>, _: &mut Frame, _: Option<&Scope<'_>>) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        while let Some(scan) = self.scans.get_mut(self.at) {
            self.at += 1;
            scan.open(run, frame, outer)?;
            if scan.next(run, frame, outer)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
