//! Batched key access: a join whose inner side is looked up by an index for many left rows at once.
//!
//! ```text
//!   Collect   left rows are kept, up to join_buffer_size, each with the key that it looks for
//!   Scan      the keys in the order of the index, each different one once; entries found, up to read_rnd_buffer_size
//!   Fetch     the entries in the order of the clustered index: the row of each is read once ...
//!   Match     ... and joined to all left rows that looked for its key
//!   Alone     of an outer join or antijoin: left rows that found nothing
//! ```

use super::multi_range::{Entries, batch_bytes};
use super::saved_slots::{restore_slots, save_slots};
use super::scan::ScanOp;
use super::{Frame, Op, Run, Scope};
use expr::Execution;
use expr::Expr;
use plan::node::{Join, JoinKind, Plan};
use types::Result;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Collect,
    Scan,
    Fetch,
    /// The row of an entry of that group is in the frame; the lookup that is next.
    Match {
        group: usize,
        at: usize,
    },
    /// The left row that is next.
    Alone(usize),
    Done,
}

struct LeftRow {
    /// Where it begins in `saved`.
    from: u32,
    matched: bool,
}

/// What one left row looks for: places in `keys`.
struct Lookup {
    lower: (u32, u32),
    upper: Option<(u32, u32)>,
    unique: bool,
    row: u32,
}

/// Lookups of one key.
struct Group {
    lookups: std::ops::Range<usize>,
    /// Left rows without a match.
    open: usize,
}

/// The join of a batch of left rows at a time. Its fields are the parts of the plan, the buffers of a batch, and how far it has come in
/// them: each step borrows buffers of all three at once.
pub struct BatchedOp {
    left: Box<dyn Op>,
    scan: ScanOp,
    kind: JoinKind,
    /// Conditions of the inner side and of the join.
    conditions: Vec<Expr>,
    left_slots: Vec<usize>,
    right_slots: Vec<usize>,
    rows: Vec<LeftRow>,
    saved: Vec<u8>,
    keys: Vec<u8>,
    lookups: Vec<Lookup>,
    groups: Vec<Group>,
    /// The group that is scanned next, and whether the scan is in the middle of the one before.
    next_group: usize,
    scanning: bool,
    entries: Entries,
    /// The left row that is in the frame.
    restored: usize,
    left_ended: bool,
    /// Locks are given back: one left row and one entry at a time.
    one_by_one: bool,
    rows_bytes_max: usize,
    entries_bytes_max: usize,
    state: State,
}

impl BatchedOp {
    /// `left` is the operator of the join's left side.
    pub fn new(left: Box<dyn Op>, join: Join) -> BatchedOp {
        let Join { kind, right, condition, right_slots, batch, .. } = join;
        let (scan, filter) = match right {
            Plan::Scan(scan) => (scan, None),
            Plan::Filter { input, condition } => match *input {
                Plan::Scan(scan) => (scan, Some(condition)),
                _ => unreachable!("the planner batches lookups of one table"),
            },
            _ => unreachable!("the planner batches lookups of one table"),
        };
        BatchedOp {
            left,
            scan: ScanOp::new(scan),
            kind,
            conditions: filter.into_iter().chain(condition).collect(),
            left_slots: batch.expect("planned as batched key access"),
            right_slots,
            rows: Vec::new(),
            saved: Vec::new(),
            keys: Vec::new(),
            lookups: Vec::new(),
            groups: Vec::new(),
            next_group: 0,
            scanning: false,
            entries: Entries::default(),
            restored: usize::MAX,
            left_ended: false,
            one_by_one: false,
            rows_bytes_max: 0,
            entries_bytes_max: 0,
            state: State::Done,
        }
    }

    fn memory(&self) -> usize {
        let rows = self.rows.len() * (size_of::<LeftRow>() + size_of::<Lookup>() + size_of::<Group>());
        self.saved.len() + self.keys.len() + rows
    }

    /// Puts a left row into the frame.
    fn restore(&mut self, row: usize, frame: &mut Frame) {
        if self.restored != row {
            restore_slots(&self.saved[self.rows[row].from as usize..], frame, &self.left_slots);
            self.restored = row;
        }
    }

    /// Keeps the next left rows with what they look for; false: there are none.
    fn collect(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        if self.left_ended {
            return Ok(false);
        }
        // The left side goes on from the row that it gave last.
        if let Some(last) = self.rows.len().checked_sub(1) {
            self.restore(last, frame);
        }
        self.rows.clear();
        self.saved.clear();
        self.keys.clear();
        self.lookups.clear();
        self.entries.clear();
        let mut precise = true;
        while self.rows.is_empty() || (!self.one_by_one && self.memory() < self.rows_bytes_max) {
            run.check_interrupt()?;
            if !self.left.next(run, frame, outer)? {
                self.left_ended = true;
                break;
            }
            let row = self.rows.len();
            self.rows.push(LeftRow { from: self.saved.len() as u32, matched: false });
            save_slots(&mut self.saved, Scope::new(frame, outer), &self.left_slots);
            self.scan.open(run, frame, outer)?;
            self.one_by_one = !self.scan.may_batch(run);
            precise &= self.scan.is_exact();
            if let Some(((lower, upper), unique)) = self.scan.only_range() {
                let keys = &mut self.keys;
                let mut place = |key: &[u8]| {
                    let from = keys.len() as u32;
                    keys.extend_from_slice(key);
                    (from, keys.len() as u32)
                };
                let (lower, upper) = (place(lower), upper.map(&mut place));
                self.lookups.push(Lookup { lower, upper, unique, row: row as u32 });
            }
        }
        self.scan.set_exact(precise);
        // A left side that has ended may have gone on in its slots.
        self.restored = if self.left_ended { usize::MAX } else { self.rows.len() - 1 };
        self.group();
        Ok(!self.rows.is_empty())
    }

    /// Sorts the lookups, those of one key next to each other.
    fn group(&mut self) {
        self.groups.clear();
        (self.next_group, self.scanning) = (0, false);
        let keys = &self.keys;
        let of = |(from, to): (u32, u32)| &keys[from as usize..to as usize];
        // A range without an end comes behind those with one.
        let range = |l: &Lookup| (of(l.lower), l.upper.is_none(), l.upper.map(of));
        self.lookups.sort_unstable_by(|a, b| range(a).cmp(&range(b)).then(a.row.cmp(&b.row)));
        for (i, lookup) in self.lookups.iter().enumerate() {
            match self.groups.last_mut() {
                Some(g) if range(&self.lookups[g.lookups.start]) == range(lookup) => {
                    g.lookups.end = i + 1;
                    g.open += 1;
                }
                _ => self.groups.push(Group { lookups: i..i + 1, open: 1 }),
            }
        }
    }

    /// Reads the next entries of the keys at hand; none: all keys are through.
    fn fill(&mut self, run: &Run<'_>) -> Result<()> {
        self.entries.clear();
        loop {
            run.check_interrupt()?;
            if !self.scanning {
                let Some(group) = self.groups.get(self.next_group) else { break };
                let Lookup { lower, upper, unique, .. } = &self.lookups[group.lookups.start];
                let of = |(from, to): (u32, u32)| &self.keys[from as usize..to as usize];
                self.scan.look_up(of(*lower), upper.map(of), *unique);
                (self.next_group, self.scanning) = (self.next_group + 1, true);
            }
            let owner = self.next_group - 1;
            if self.is_settled(owner) {
                self.scanning = false;
                continue;
            }
            let Some((key, clustered, certain)) = self.scan.next_key(run)? else {
                self.scanning = false;
                continue;
            };
            self.entries.push(key, clustered, certain, owner as u32);
            if self.one_by_one || self.entries.memory() >= self.entries_bytes_max {
                break;
            }
        }
        run.check_growth(self.memory().max(self.entries.memory()))?;
        self.entries.sort();
        Ok(())
    }

    /// Has every left row that looked for this key what it wants?
    fn is_settled(&self, group: usize) -> bool {
        matches!(self.kind, JoinKind::Semi | JoinKind::Anti) && self.groups[group].open == 0
    }

    /// Reads the next entry's row into the frame.
    fn fetch(&mut self, run: &Run<'_>, frame: &mut Frame) -> Result<State> {
        let once = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        while let Some(entry) = self.entries.take() {
            run.check_interrupt()?;
            let group = entry.owner as usize;
            if once && self.groups[group].open == 0 {
                continue;
            }
            if self.scan.read_row(run, frame, entry.key, entry.clustered)? {
                return Ok(State::Match { group, at: self.groups[group].lookups.start });
            }
            self.reject_right(run);
        }
        Ok(State::Scan)
    }

    /// The row in the frame with the left row of a lookup: do they go together?
    fn goes_with(&mut self, at: usize, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        let row = self.lookups[at].row as usize;
        let once = matches!(self.kind, JoinKind::Semi | JoinKind::Anti);
        if once && self.rows[row].matched {
            return Ok(false);
        }
        self.restore(row, frame);
        let at = Scope::new(frame, outer);
        if !self.scan.wanted(run, at)? {
            return Ok(false);
        }
        for condition in &self.conditions {
            if condition.eval_bool(run, at)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn reject_right(&mut self, run: &Run<'_>) {
        if self.one_by_one {
            self.scan.reject(run);
        }
    }
}

impl Op for BatchedOp {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()> {
        self.rows.clear();
        self.left_ended = false;
        self.one_by_one = false;
        self.rows_bytes_max = run.variable("join_buffer_size").min(1 << 30) as usize;
        self.entries_bytes_max = batch_bytes(run);
        self.state = State::Collect;
        observe::increment(observe::Counter::HandlerMrrInit);
        self.left.open(run, frame, outer)
    }

    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool> {
        loop {
            run.check_interrupt()?;
            match self.state {
                State::Done => return Ok(false),
                State::Collect => {
                    let more = self.collect(run, frame, outer)?;
                    self.state = if more { State::Scan } else { State::Done };
                }
                State::Scan => {
                    self.fill(run)?;
                    self.state = if self.entries.is_empty() { State::Alone(0) } else { State::Fetch };
                }
                State::Fetch => self.state = self.fetch(run, frame)?,
                State::Match { group, at } => {
                    if at == self.groups[group].lookups.end {
                        self.state = State::Fetch;
                        continue;
                    }
                    self.state = State::Match { group, at: at + 1 };
                    if !self.goes_with(at, run, frame, outer)? {
                        self.reject_right(run);
                        continue;
                    }
                    let row = &mut self.rows[self.lookups[at].row as usize];
                    self.groups[group].open -= !row.matched as usize;
                    row.matched = true;
                    if self.kind != JoinKind::Anti {
                        return Ok(true);
                    }
                    if self.one_by_one {
                        self.left.reject(run);
                    }
                }
                State::Alone(row) => {
                    if row == self.rows.len() || !matches!(self.kind, JoinKind::LeftOuter | JoinKind::Anti) {
                        self.state = State::Collect;
                        continue;
                    }
                    self.state = State::Alone(row + 1);
                    if !self.rows[row].matched {
                        self.restore(row, frame);
                        self.right_slots.iter().for_each(|s| frame.slots[*s].present = false);
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn forget(&mut self) {
        self.left.forget();
    }
}
