//! Open files, and what was read from and written to each.
//!
//! A file's figures are one for all who use it: they stand in a few stripes, so that threads that read at once seldom meet, and
//! each addition stands beside a system call.

use super::book::epoch;
use super::names::Wait;
use crate::TimeTotals;
use crate::lanes::LaneId;
use crate::shim::RawMutex;
use crossbeam_utils::CachePadded;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const STRIPES: usize = 4;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    Read,
    Write,
    /// A flush, and what changes its length.
    Misc,
}

/// Sums of one use, and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSum {
    pub sum: TimeTotals,
    pub bytes: u64,
}

impl FileSum {
    pub const NONE: FileSum = FileSum { sum: TimeTotals::NONE, bytes: 0 };

    pub fn merge(&mut self, other: &FileSum) {
        self.sum.merge(&other.sum);
        self.bytes += other.bytes;
    }
}

/// Read, write, misc.
pub type FileSums = [FileSum; 3];

struct Cell {
    count: AtomicU64,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    bytes: AtomicU64,
}

impl Cell {
    const fn new() -> Cell {
        Cell {
            count: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    fn add(&self, ns: Option<u64>, bytes: u64) {
        // Relaxed throughout: figures to show, each for itself.
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let Some(ns) = ns else { return };
        // Relaxed: as above.
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
        self.min_ns.fetch_min(ns, Ordering::Relaxed);
        self.max_ns.fetch_max(ns, Ordering::Relaxed);
    }

    fn sum(&self) -> FileSum {
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed); // Relaxed: as in `add`
        let (count, sum_ns, min_ns, max_ns) =
            (load(&self.count), load(&self.sum_ns), load(&self.min_ns), load(&self.max_ns));
        FileSum { sum: TimeTotals { count, sum_ns, min_ns, max_ns }, bytes: load(&self.bytes) }
    }

    fn clear(&self) {
        for word in [&self.count, &self.sum_ns, &self.max_ns, &self.bytes] {
            word.store(0, Ordering::Relaxed); // Relaxed: as in `add`
        }
        self.min_ns.store(u64::MAX, Ordering::Relaxed); // Relaxed: as in `add`
    }
}

struct Record {
    what: Wait,
    epoch: AtomicU32,
    stripes: [CachePadded<[Cell; 3]>; STRIPES],
}

impl Record {
    fn sums(&self) -> FileSums {
        let mut sums = [FileSum::NONE; 3];
        // Relaxed: a figure to show.
        if self.epoch.load(Ordering::Relaxed) == epoch() {
            for stripe in &self.stripes {
                sums.iter_mut().zip(stripe.iter()).for_each(|(sum, cell)| sum.merge(&cell.sum()));
            }
        }
        sums
    }
}

/// A name and all that are open by it.
struct Named {
    /// `None`: it has no name, and nobody can open it again.
    path: Option<PathBuf>,
    record: Arc<Record>,
    open: u32,
}

struct Files {
    epoch: u32,
    named: Vec<Named>,
    /// Sums of files that are closed, by wait.
    closed: Vec<(Wait, FileSums)>,
}

static FILES: RawMutex<Files> = RawMutex::new(Files { epoch: 0, named: Vec::new(), closed: Vec::new() });

/// An open file's place in the list, until it is dropped.
pub struct Watched(Arc<Record>);

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Watched").field(&self.0.what).finish()
    }
}

impl Watched {
    /// A file is open. `path`: `None` if it has no name.
    pub fn open(path: Option<&Path>, what: Wait) -> Watched {
        let mut files = FILES.lock();
        let is_it = |named: &&mut Named| path.is_some() && named.path.as_deref() == path && named.record.what == what;
        if let Some(named) = files.named.iter_mut().find(is_it) {
            named.open += 1;
            return Watched(Arc::clone(&named.record));
        }
        let record = Arc::new(Record {
            what,
            epoch: AtomicU32::new(epoch()),
            stripes: [const { CachePadded::new([const { Cell::new() }; 3]) }; STRIPES],
        });
        files.named.push(Named { path: path.map(Path::to_path_buf), record: Arc::clone(&record), open: 1 });
        Watched(record)
    }

    #[inline]
    pub fn what(&self) -> Wait {
        self.0.what
    }

    /// It was used.
    pub fn add(&self, how: FileUse, ns: Option<u64>, bytes: u64) {
        let now = epoch();
        // Relaxed: figures to show. Of several that find a new epoch one begins anew.
        if self.0.epoch.load(Ordering::Relaxed) != now && self.0.epoch.swap(now, Ordering::Relaxed) != now {
            self.0.stripes.iter().flat_map(|stripe| stripe.iter()).for_each(Cell::clear);
        }
        let stripe = crate::try_thread_lane().map_or(0, LaneId::index) % STRIPES;
        self.0.stripes[stripe][how as usize].add(ns, bytes);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut files = FILES.lock();
        let Some(at) = files.named.iter().position(|named| Arc::ptr_eq(&named.record, &self.0)) else { return };
        files.named[at].open -= 1;
        if files.named[at].open > 0 {
            return;
        }
        files.named.swap_remove(at);
        if files.epoch != epoch() {
            (files.epoch, files.closed) = (epoch(), Vec::new());
        }
        let sums = self.0.sums();
        match files.closed.iter_mut().find(|(what, _)| *what == self.0.what) {
            Some((_, known)) => known.iter_mut().zip(&sums).for_each(|(known, sum)| known.merge(sum)),
            None => files.closed.push((self.0.what, sums)),
        }
    }
}

/// A file has another name.
pub fn renamed(from: &Path, to: &Path) {
    let mut files = FILES.lock();
    for named in files.named.iter_mut().filter(|named| named.path.as_deref() == Some(from)) {
        named.path = Some(to.to_path_buf());
    }
}

/// A file that is open.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// `None`: it has none, as temporary files.
    pub path: Option<PathBuf>,
    pub what: Wait,
    /// How often it is open.
    pub open: u32,
    /// A number that no other open file has.
    pub instance: u64,
    pub sums: FileSums,
}

/// Files that are open, and the sums of those that were, by wait.
pub fn files() -> (Vec<OpenFile>, Vec<(Wait, FileSums)>) {
    let files = FILES.lock();
    let open = files.named.iter().map(|named| OpenFile {
        path: named.path.clone(),
        what: named.record.what,
        open: named.open,
        instance: Arc::as_ptr(&named.record).addr() as u64,
        sums: named.record.sums(),
    });
    (open.collect(), if files.epoch == epoch() { files.closed.clone() } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_counted_while_it_is_open_and_leaves_its_sums() {
        let (from, to) = (Path::new("/x/waits-test.new"), Path::new("/x/waits-test"));
        let found = |path: &Path| files().0.into_iter().find(|file| file.path.as_deref() == Some(path));
        let of_all = || files().1.iter().find(|(what, _)| *what == Wait::CloneFile).map_or(0, |(_, s)| s[0].bytes);
        let one = Watched::open(Some(from), Wait::CloneFile);
        let two = Watched::open(Some(from), Wait::CloneFile);
        one.add(FileUse::Read, Some(5), 100);
        two.add(FileUse::Read, Some(3), 28);
        two.add(FileUse::Misc, None, 0);
        renamed(from, to);
        assert!(found(from).is_none());
        let file = found(to).unwrap();
        assert_eq!((file.open, file.sums[0].bytes, file.sums[2].sum.count), (2, 128, 1));
        assert_eq!(file.sums[0].sum, TimeTotals { count: 2, sum_ns: 8, min_ns: 3, max_ns: 5 });
        drop(one);
        assert_eq!(found(to).unwrap().open, 1);
        drop(two);
        assert!(found(to).is_none());
        assert_eq!(of_all(), 128);
    }
}
