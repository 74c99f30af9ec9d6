//! Warm restart: the list of pages in memory goes to a file, and pages of such a list come back into memory.
//!
//! ```text
//!   0,4711        tablespace, page; a line each, those first that were used last. The format is MySQL's.
//!   0,4712
//! ```
//!
//! A list is written to another name and gets its own when it is durable, so a file of that name is whole or older. It is no more than a
//! wish: pages that are gone, free or damaged by now are passed over, what is no list is left alone, and a page comes only into a frame
//! that nothing had to leave. One thread does all of it, in the order of the orders; for a load it has others beside it, so that several
//! reads are under way.

use super::Core;
use crate::page::PageId;
use crate::pool::Pool;
use crate::pool::queue::Queue;
use crate::pool::read_ahead::Wish;
use io::{Directory, ErrorKind, File, OpenOptions};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;
use sync::{Mutex, Rank};

/// The one tablespace of this engine, under MySQL's number for the system tablespace.
const TABLESPACE: u64 = 0;
/// Orders that may wait.
const ORDERS_MAX: usize = 8;
/// Neighbours that are read at once.
const RUN_PAGES: usize = 16;
/// The longest line: two numbers of 20 digits.
const LINE_BYTES_MAX: u64 = 42;

/// How far the work on a list has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarmStage {
    NotStarted,
    /// Pages done, of those in the list.
    Running {
        file: PathBuf,
        done: u64,
        of: u64,
    },
    Completed {
        at: SystemTime,
    },
    /// On request, or because the server stops.
    Aborted {
        at: SystemTime,
    },
    Failed(WarmFailure),
}

/// Why a list was not written or not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarmFailure {
    /// The file, and why it can not be written.
    Write(PathBuf, String),
    /// There is no such file, as of a server that has never stopped: nothing to warn of.
    Missing(PathBuf),
    /// The file, and why it can not be read.
    Read(PathBuf, String),
    /// It is there and no list.
    NoList(PathBuf),
}

/// Work for the thread. Names are of files in the data directory.
pub(crate) enum Order {
    Dump { name: String, percent: u64 },
    Load { name: String },
}

/// What is known of lists that are written and read.
pub(crate) struct Warm {
    directory: PathBuf,
    pub orders: Queue<Order>,
    /// The load that is under way is to end. W: sessions. R: the load.
    abort: AtomicBool,
    /// Pages that the present load has come past. W: who loads. R: who asks.
    loaded: AtomicU64,
    dump: Mutex<WarmStage>,
    load: Mutex<WarmStage>,
}

impl Warm {
    pub fn new(directory: PathBuf) -> Warm {
        let stage = || Mutex::new(Rank::PagePool, WarmStage::NotStarted);
        Warm {
            directory,
            orders: Queue::new(ORDERS_MAX),
            abort: AtomicBool::new(false),
            loaded: AtomicU64::new(0),
            dump: stage(),
            load: stage(),
        }
    }

    /// False: there are too many orders.
    pub fn order_load(&self, name: &str) -> bool {
        // Before the thread has it, so that whoever asks does not find the load before.
        let before = std::mem::replace(
            &mut *self.load.lock(),
            WarmStage::Running { file: self.directory.join(name), done: 0, of: 0 },
        );
        let taken = self.orders.push(Order::Load { name: name.to_string() });
        if !taken {
            *self.load.lock() = before;
        }
        taken
    }

    pub fn abort(&self) {
        // Relaxed: a wish, no data comes with it.
        self.abort.store(true, Ordering::Relaxed);
    }

    pub fn dump_stage(&self) -> WarmStage {
        self.dump.lock().clone()
    }

    pub fn load_stage(&self) -> WarmStage {
        let mut stage = self.load.lock().clone();
        if let WarmStage::Running { done, .. } = &mut stage {
            // Relaxed: a figure.
            *done = self.loaded.load(Ordering::Relaxed);
        }
        stage
    }
}

/// The thread's work until the queue is closed; `threads` read at once.
pub(crate) fn run(core: &Core, threads: usize) {
    while let Some(order) = core.warm.orders.pop() {
        match &*order {
            Order::Dump { name, percent } => core.dump_pool(name, *percent),
            Order::Load { name } => core.load_pool(name, threads),
        }
    }
}

impl Core {
    /// Writes the list of the `percent` of pages in memory that were used last.
    pub fn dump_pool(&self, name: &str, percent: u64) {
        let file = self.warm.directory.join(name);
        let pages = self.pool.used_last(percent);
        *self.warm.dump.lock() = WarmStage::Running { file: file.clone(), done: 0, of: pages.len() as u64 };
        let stage = match write_list(&self.warm.directory, name, &pages) {
            Ok(()) => WarmStage::Completed { at: SystemTime::now() },
            Err(failure) => WarmStage::Failed(failure),
        };
        tell("dump", &stage);
        *self.warm.dump.lock() = stage;
    }

    /// Reads pages of a list into frames that are not in use.
    fn load_pool(&self, name: &str, threads: usize) {
        let file = self.warm.directory.join(name);
        // Relaxed: as in `abort`. One that came before this load was for another.
        self.warm.abort.store(false, Ordering::Relaxed);
        self.warm.loaded.store(0, Ordering::Relaxed);
        *self.warm.load.lock() = WarmStage::Running { file: file.clone(), done: 0, of: 0 };
        let stage = match read_list(&file, self.space.file_pages()) {
            Ok(mut pages) => {
                // Those that were used last are the first in the list.
                pages.truncate(self.pool.frame_count());
                pages.retain(|page| *page < self.space.file_pages());
                *self.warm.load.lock() = WarmStage::Running { file, done: 0, of: pages.len() as u64 };
                let runs = runs_of(pages);
                match self.load_runs(&runs, threads) {
                    true => WarmStage::Completed { at: SystemTime::now() },
                    false => WarmStage::Aborted { at: SystemTime::now() },
                }
            }
            Err(failure) => WarmStage::Failed(failure),
        };
        tell("load", &stage);
        *self.warm.load.lock() = stage;
    }

    /// False: it was to end before.
    fn load_runs(&self, runs: &[Range<PageId>], threads: usize) -> bool {
        let next = AtomicUsize::new(0);
        // Relaxed: a wish.
        let ends = || self.stopping() || self.warm.abort.load(Ordering::Relaxed);
        let work = || {
            while !ends() {
                // Relaxed: shares out numbers.
                let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                self.pool.load_pages(run.clone(), Wish::List);
                // Relaxed: a figure.
                self.warm.loaded.fetch_add(run.end - run.start, Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            // Without others it takes longer.
            let others = || std::thread::Builder::new().name("pool-loader".into()).spawn_scoped(scope, work);
            let others: Vec<_> = (1..threads).map_while(|_| others().ok()).collect();
            work();
            drop(others);
        });
        next.into_inner() >= runs.len() && !ends()
    }
}

impl Pool {
    /// The `percent` of pages in memory that were used last, one at least, the last one first.
    fn used_last(&self, percent: u64) -> Vec<PageId> {
        let mut pages: Vec<PageId> = self.occupied().map(|(_, page, _)| page).collect();
        pages.reverse();
        pages.truncate((pages.len() * percent as usize / 100).max(1));
        pages
    }
}

/// A line for the error log where something is not as it should be.
fn tell(what: &str, stage: &WarmStage) {
    match stage {
        WarmStage::Failed(WarmFailure::Write(file, why)) => {
            eprintln!("[ERROR] [Engine] buffer pool {what}: '{}' cannot be written: {why}", file.display());
        }
        WarmStage::Failed(WarmFailure::Read(file, why)) => {
            eprintln!("[Warning] [Engine] buffer pool {what}: '{}' cannot be read: {why}", file.display());
        }
        WarmStage::Failed(WarmFailure::NoList(file)) => {
            eprintln!(
                "[Warning] [Engine] buffer pool {what}: '{}' is no list of pages and is left alone",
                file.display()
            );
        }
        _ => {}
    }
}

fn write_list(directory: &Path, name: &str, pages: &[PageId]) -> Result<(), WarmFailure> {
    let path = directory.join(name);
    // What somebody else keeps under this name is not for us to replace.
    if let Ok(file) = File::open(&path, OpenOptions::read(sync::waits::Wait::MiscFile)) {
        let mut head = [0; 64];
        let read = file.read_up_to(&mut head, 0).unwrap_or(0);
        if !begins_list(&head[..read]) {
            return Err(WarmFailure::NoList(path));
        }
    }
    let mut text = String::with_capacity(pages.len() * 12);
    for page in pages {
        writeln!(text, "{TABLESPACE},{page}").expect("memory takes all");
    }
    let written = || {
        let (directory, new) = (Directory::open(directory)?, format!("{name}.incomplete"));
        let file = directory
            .open_file(&new, OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::MiscFile) })?;
        file.write_at(text.as_bytes(), 0)?;
        file.sync_all()?;
        directory.rename(&new, name)
    };
    written().map_err(|error: io::Error| WarmFailure::Write(path.clone(), error.to_string()))
}

/// What is longer than a list of all `file_pages` can be is none, and is not read.
fn read_list(path: &Path, file_pages: u64) -> Result<Vec<PageId>, WarmFailure> {
    let read = || {
        let file = File::open(path, OpenOptions::read(sync::waits::Wait::MiscFile))?;
        let bytes = file.len()?;
        if bytes > file_pages * LINE_BYTES_MAX {
            return Ok(None);
        }
        let mut text = vec![0; bytes as usize];
        let read = file.read_up_to(&mut text, 0)?;
        text.truncate(read);
        Ok(Some(text))
    };
    let text = read().map_err(|error: io::Error| match error.kind() {
        ErrorKind::NotFound => WarmFailure::Missing(path.to_path_buf()),
        _ => WarmFailure::Read(path.to_path_buf(), error.to_string()),
    })?;
    text.and_then(|text| parse_list(&text)).ok_or_else(|| WarmFailure::NoList(path.to_path_buf()))
}

/// Could these be the first bytes of a list?
fn begins_list(head: &[u8]) -> bool {
    let line = head.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\n").is_some_and(|line| entry(line).is_some())
}

/// Pages of this engine's tablespace, in the list's order; `None`: it is no list, or cut short.
fn parse_list(text: &[u8]) -> Option<Vec<PageId>> {
    if !text.is_empty() && !text.ends_with(b"\n") {
        return None;
    }
    let mut pages = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let (space, page) = entry(line)?;
        if space == TABLESPACE {
            pages.push(page);
        }
    }
    Some(pages)
}

fn entry(line: &[u8]) -> Option<(u64, PageId)> {
    let (space, page) = std::str::from_utf8(line).ok()?.split_once(',')?;
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
    Some((number(space)?, number(page)?))
}

/// Neighbours in the order of the file.
fn runs_of(mut pages: Vec<PageId>) -> Vec<Range<PageId>> {
    pages.sort_unstable();
    pages.dedup();
    let neighbours = pages.chunk_by(|a, b| a + 1 == *b);
    neighbours.flat_map(|run| run.chunks(RUN_PAGES)).map(|run| run[0]..run[0] + run.len() as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_what_is_none_is_not() {
        assert_eq!(parse_list(b"0,5\n0,7\n4294967294,9\n0,6\n"), Some(vec![5, 7, 6]));
        assert_eq!(parse_list(b""), Some(vec![]));
        for damaged in ["0,5", "0,5\n0,", "0,5\nx\n", "0;5\n", "0,-5\n", "0,99999999999999999999\n", "\0\0\0\0\n"] {
            assert_eq!(parse_list(damaged.as_bytes()), None, "{damaged:?}");
        }
        assert!(begins_list(b"0,5\n17,") && !begins_list(b"") && !begins_list(b"0,5") && !begins_list(b"CLEARWAY\n"));
    }

    #[test]
    fn neighbours_are_read_at_once() {
        assert_eq!(runs_of(vec![9, 3, 1, 2, 3]), [1..4, 9..10]);
        assert_eq!(runs_of((0..40).rev().collect()), [0..16, 16..32, 32..40]);
    }
}
