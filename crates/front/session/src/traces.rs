//! The session's optimizer traces: which are kept, and which INFORMATION_SCHEMA.OPTIMIZER_TRACE shows.

use crate::variables::{SessionVariables, VarId, id};
use plan::trace::{Traced, Wanted};

const TRACE: VarId = id("optimizer_trace");
const FEATURES: VarId = id("optimizer_trace_features");
const LIMIT: VarId = id("optimizer_trace_limit");
const OFFSET: VarId = id("optimizer_trace_offset");
const BYTES_MAX: VarId = id("optimizer_trace_max_mem_size");
const END_MARKERS: VarId = id("end_markers_in_json");

/// Places in `optimizer_trace` and `optimizer_trace_features`.
const ONE_LINE: u64 = 1 << 1;
const GREEDY_SEARCH: u64 = 1;
const RANGE_OPTIMIZER: u64 = 1 << 1;

/// Setting one of these forgets the traces.
pub(crate) fn are_forgotten_by(id: VarId) -> bool {
    id == LIMIT || id == OFFSET
}

pub(crate) fn wanted(vars: &SessionVariables) -> Wanted {
    let (how, features) = (vars.uint(TRACE), vars.uint(FEATURES));
    Wanted {
        greedy_search: features & GREEDY_SEARCH != 0,
        range_optimizer: features & RANGE_OPTIMIZER != 0,
        one_line: how & ONE_LINE != 0,
        end_markers: vars.bool(END_MARKERS),
        bytes_max: usize::try_from(vars.uint(BYTES_MAX)).unwrap_or(usize::MAX),
    }
}

/// What is kept, the oldest one first.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    kept: Vec<Traced>,
    /// Statements traced since they were forgotten last.
    seen: i64,
}

impl Traces {
    /// With a negative offset the last so many are kept, else those from that one on, as far as the limit goes.
    pub fn keep(&mut self, vars: &SessionVariables, trace: Traced) {
        let (offset, limit) = (vars.uint(OFFSET) as i64, vars.uint(LIMIT) as i64);
        let number = self.seen;
        self.seen += 1;
        match offset {
            ..0 => {
                self.kept.push(trace);
                let beyond = self.kept.len().saturating_sub(offset.unsigned_abs() as usize);
                self.kept.drain(..beyond);
            }
            _ if number >= offset && (self.kept.len() as i64) < limit => self.kept.push(trace),
            _ => {}
        }
    }

    /// Those that are shown.
    pub fn shown(&self, vars: &SessionVariables) -> Vec<(String, String, u64)> {
        let kept = self.kept.iter().take(vars.uint(LIMIT) as usize);
        kept.map(|t| (t.query.clone(), t.document.clone(), t.missing)).collect()
    }
}
