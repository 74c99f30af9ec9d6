//! Checks everything that the engine knows of its own data: pages, trees, off-page rows, undo, free space.
//!
//! | file | what it checks |
//! | --- | --- |
//! | `mod` | the walk: every page is read once, is what its reference says it is, and is referred to once |
//! | `tree` | nodes from the roots down: levels, fences, key order, layout ([`crate::page::verify`]); rows and their versions |
//! | `undo` | the undo directory, segments, records, open transactions |
//! | `space` | the maps against the pages that were reached: in use, in units of their owners |
//!
//! The check trusts nothing that it has not read itself, changes nothing, and goes on after each problem, so that one damaged
//! page costs what lies below it and nothing else. The engine is quiescent meanwhile: sessions may have open transactions, but
//! none of them is in a statement.
//!
//! One thing looks like a leak and is legal: the pages of an undo segment that a crash kept from being registered ([`crate::segment`]).
//! They are counted in [`Report::leaked`] and are no problem.

mod space;
#[cfg(test)]
mod tests;
mod tree;
mod undo;

use crate::engine::Engine;
use crate::page::{self, OFF_ID, PAGE_BYTES, PageId, PageType, get_u64, page_lsn};
use crate::recovery::DATA_FILE;
use crate::shared::Core;
use crate::space::SUPER_PAGE;
use crate::{Result, Tree};
use io::AlignedBuf;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// So many problems are told one by one; a wrecked file has more.
const PROBLEMS_MAX: usize = 1000;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The page in the data file.
    pub page: Option<u64>,
    pub tree: Option<u32>,
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DATA_FILE)?;
        if let Some(page) = self.page {
            write!(f, ": page {page} (byte {})", page * PAGE_BYTES as u64)?;
        }
        if let Some(tree) = self.tree {
            write!(f, ": tree {tree}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What a tree takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeFigures {
    /// Nodes; off-page rows lie elsewhere.
    pub nodes: u64,
    /// Entries, those with a delete mark too.
    pub entries: u64,
    /// Leaves that do not lie behind the leaf before, or behind one page more.
    pub jumps: u64,
}

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The first [`PROBLEMS_MAX`] of them.
    pub problems: Vec<Problem>,
    /// How many there are in all.
    pub problem_count: u64,
    /// Allocated pages that nothing leads to because of a crash: see the module.
    pub leaked: Vec<(u64, PageType)>,
    pub trees: BTreeMap<u32, TreeFigures>,
    /// Pages that the maps call used, but for those of trees that are being freed.
    pub pages_allocated: u64,
    /// Undo records on pages that purge has not freed.
    pub undo_records: u64,
    /// Transactions that have changed something and are not over.
    pub open_transactions: u64,
    /// Those of them that are prepared.
    pub prepared_transactions: u64,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.problem_count == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        let untold = self.problem_count - self.problems.len() as u64;
        if untold > 0 {
            writeln!(f, "and {untold} more")?;
        }
        write!(
            f,
            "{} problems, {} trees, {} pages allocated, {} of them leaked by crashes, {} undo records, {} open \
             transactions, \
             {} of them prepared",
            self.problem_count,
            self.trees.len(),
            self.pages_allocated,
            self.leaked.len(),
            self.undo_records,
            self.open_transactions,
            self.prepared_transactions
        )
    }
}

/// What a page was reached as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    Super,
    Map,
    /// A node of this tree.
    Node(u32),
    /// A piece of an off-page row of this tree.
    Chain(u32),
    UndoDirectory,
    Segment,
    Undo,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reached::Super => write!(f, "the super page"),
            Reached::Map => write!(f, "a map"),
            Reached::Node(tree) => write!(f, "a node of tree {tree}"),
            Reached::Chain(tree) => write!(f, "a piece of an off-page row of tree {tree}"),
            Reached::UndoDirectory => write!(f, "the undo directory"),
            Reached::Segment => write!(f, "the head of an undo segment"),
            Reached::Undo => write!(f, "an undo page"),
        }
    }
}

/// A page's bytes as they were in one moment.
type Page = Box<[u8]>;

struct Checker<'c> {
    core: &'c Core,
    /// What each page of the file was reached as.
    reached: Vec<Option<Reached>>,
    /// Chains that were followed; true: from a row.
    chains: BTreeMap<u64, bool>,
    /// The leaf before, of the tree that is walked.
    last_leaf: Option<PageId>,
    /// Trees that are being dropped: their rows may refer to chains that are gone.
    dropped: BTreeSet<u32>,
    /// Trees that open transactions have made: they go with all that is theirs.
    made: BTreeSet<u32>,
    report: Report,
}

impl Engine {
    /// Checks all of the data; `trees` are the trees that there are, besides the dictionary's own and those of open or unpurged
    /// transactions. No session is in a statement. Background work other than the page cleaner's is ended for good, since it
    /// would change what is being read: call this before [`Engine::close`].
    pub fn check(&self, trees: &[Tree]) -> Report {
        self.stop_workers();
        check(self.core(), self.dictionary(), trees)
    }
}

fn check(core: &Core, dictionary: Tree, trees: &[Tree]) -> Report {
    let mut checker = Checker {
        core,
        reached: vec![None; core.space.file_pages() as usize],
        chains: BTreeMap::new(),
        last_leaf: None,
        dropped: BTreeSet::new(),
        made: BTreeSet::new(),
        report: Report::default(),
    };
    checker.super_page();
    let history = checker.undo();
    let listed = [dictionary].into_iter().chain(trees.iter().copied());
    for tree in listed {
        if checker.report.trees.contains_key(&tree.id) {
            checker.say(None, Some(tree.id), "it is listed twice");
            continue;
        }
        checker.tree(tree);
    }
    checker.history(history);
    checker.space();
    checker.report
}

impl Checker<'_> {
    fn say(&mut self, page: Option<PageId>, tree: Option<u32>, what: impl Into<String>) {
        self.report.problem_count += 1;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(Problem { page, tree, what: what.into() });
        }
    }

    fn super_page(&mut self) {
        self.reach(SUPER_PAGE, PageType::Super, Reached::Super);
    }

    /// A copy of a page, from memory or disk. `None`: it cannot be read, which has been told.
    fn page(&mut self, id: PageId) -> Option<Page> {
        if id >= self.reached.len() as u64 {
            self.say(Some(id), None, format!("a reference past the end of the file, page {}", self.reached.len()));
            return None;
        }
        match self.read(id) {
            Ok(page) => Some(page),
            Err(error) => {
                self.say(Some(id), None, error.to_string());
                None
            }
        }
    }

    fn read(&mut self, id: PageId) -> Result<Page> {
        let was_resident = self.core.pool.read_resident(id).is_some();
        // Latched, so that the cleaner neither writes the page meanwhile nor is about to.
        let page = self.core.pool.exclusive(id)?;
        let bytes: Page = page.bytes().into();
        // What was just loaded has been verified. Of others the file has a copy too, if the pool calls them clean.
        if was_resident && page.is_clean() {
            let mut copy = AlignedBuf::zeroed(PAGE_BYTES);
            self.core.pool.file().read_at(&mut copy, id * PAGE_BYTES as u64)?;
            drop(page);
            match page::verify(&copy, id) {
                Err(why) => self.say(Some(id), None, format!("its copy in the file is damaged: {why}")),
                Ok(()) if self.core.pool.open(id, &mut copy).is_err() => {
                    self.say(Some(id), None, "its copy in the file is encrypted, and there are no keys");
                }
                Ok(()) if copy[4..] != bytes[4..] => {
                    self.say(Some(id), None, "it counts as written, and the file has other bytes");
                }
                Ok(()) => {}
            }
        }
        Ok(bytes)
    }

    /// Follows a reference to a page: a copy of it, if it is what it should be and nobody else refers to it.
    fn reach(&mut self, id: PageId, kind: PageType, how: Reached) -> Option<Page> {
        let tree = match how {
            Reached::Node(tree) | Reached::Chain(tree) => Some(tree),
            _ => None,
        };
        let page = self.page(id)?;
        if let Some(before) = self.reached[id as usize] {
            self.say(Some(id), tree, format!("it is reached as {before} and as {how}"));
            return None;
        }
        self.reached[id as usize] = Some(how);
        let found = page::page_type(&page);
        if get_u64(&page, OFF_ID) != id {
            self.say(Some(id), tree, format!("reached as {how}, it says that it is page {}", get_u64(&page, OFF_ID)));
        }
        let (lsn, tail) = (page_lsn(&page), self.core.log.tail_lsn());
        if lsn > tail {
            self.say(Some(id), tree, format!("its LSN {lsn} is past the end of the log, {tail}"));
        }
        if found != Some(kind) {
            let found = found.map_or_else(|| format!("of type {}", page[page::OFF_TYPE]), |kind| format!("{kind:?}"));
            self.say(Some(id), tree, format!("reached as {how}, it is {found}"));
            return None;
        }
        Some(page)
    }

    /// Does anybody still need the versions that `trx` made or replaced?
    fn is_needed(&self, trx: u64) -> bool {
        !self.core.system.is_history(trx, self.core.system.horizon())
    }

    /// Is this a transaction that could have written something?
    fn check_transaction(&mut self, trx: u64, page: PageId, tree: Option<u32>, what: &str) {
        let next = self.core.system.next_id();
        if trx == 0 || trx >= next {
            self.say(Some(page), tree, format!("{what} is by transaction {trx}, and the next one is {next}"));
        }
    }
}
