//! What is compared: each kind guards four words that writers keep equal, and a reader that finds them unequal panics.

use crate::measure::{self, Cell};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use sync::{
    CachePadded, Cached, LANES_MAX, LaneRwLock, Optimistic, PageLatch, PreferReaderLock, PreferWriterLock, Rank,
    ReaderWriter, RwLock, Snapshot, SystemRwLock,
};

/// Something that many threads read and write.
pub trait Kind: Sync {
    const NAME: &'static str;
    /// What a thread keeps of its own.
    type Local<'a>
    where
        Self: 'a;
    fn new() -> Self;
    fn local(&self) -> Self::Local<'_>;
    /// `pause` is called in the middle.
    fn read(&self, local: &mut Self::Local<'_>, pause: impl Fn());
    fn write(&self, local: &mut Self::Local<'_>, pause: impl Fn());
}

/// A kind as a value.
#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub cell: fn(usize, u32, Duration) -> io::Result<Cell>,
    pub gated: fn(&Path, usize, u32, u64) -> io::Result<u64>,
}

const fn entry<K: Kind>() -> Entry {
    Entry { name: K::NAME, cell: measure::cell::<K>, gated: measure::gated::<K> }
}

pub const ALL: [Entry; 7] = [
    entry::<Guarded<LaneRwLock>>(),
    entry::<Guarded<PreferReaderLock>>(),
    entry::<Guarded<PreferWriterLock>>(),
    entry::<Guarded<RwLock<()>>>(),
    entry::<Guarded<SystemRwLock>>(),
    entry::<Latched>(),
    entry::<Copied>(),
];

pub fn named(name: &str) -> Result<Entry, String> {
    let all = || ALL.map(|entry| entry.name).join(", ");
    ALL.into_iter()
        .chain([entry::<Nothing>()])
        .find(|entry| entry.name == name)
        .ok_or_else(|| format!("no kind {name}: {}", all()))
}

/// Four words alone on their line. The kinds order the relaxed accesses.
#[derive(Default)]
struct Words(CachePadded<[AtomicU64; 4]>);

impl Words {
    fn read(&self) -> [u64; 4] {
        std::array::from_fn(|at| self.0[at].load(Relaxed))
    }

    fn check(seen: [u64; 4]) {
        assert!(seen == [seen[0]; 4], "a reader saw a writer at work: {seen:?}");
    }

    fn bump(&self, pause: impl Fn()) {
        let next = self.0[0].load(Relaxed) + 1;
        self.0[0].store(next, Relaxed);
        pause();
        for word in &self.0[1..] {
            word.store(next, Relaxed);
        }
    }
}

/// How each lock is made for this benchmark.
trait Make {
    fn make() -> Self;
}

impl Make for LaneRwLock {
    fn make() -> Self {
        LaneRwLock::new(LANES_MAX)
    }
}

impl Make for PreferReaderLock {
    fn make() -> Self {
        PreferReaderLock::new(Rank::Observe)
    }
}

impl Make for PreferWriterLock {
    fn make() -> Self {
        PreferWriterLock::new(Rank::Observe)
    }
}

impl Make for RwLock<()> {
    fn make() -> Self {
        RwLock::new(Rank::Observe, ())
    }
}

impl Make for SystemRwLock {
    fn make() -> Self {
        SystemRwLock::new(Rank::Observe)
    }
}

/// Words under a reader-writer lock.
struct Guarded<L> {
    lock: CachePadded<L>,
    words: Words,
}

impl<L: ReaderWriter + Make> Kind for Guarded<L> {
    const NAME: &'static str = L::KIND;
    type Local<'a>
        = ()
    where
        L: 'a;

    fn new() -> Self {
        Guarded { lock: CachePadded::new(L::make()), words: Words::default() }
    }

    fn local(&self) {}

    #[inline]
    fn read(&self, (): &mut (), pause: impl Fn()) {
        let _held = self.lock.shared();
        let seen = self.words.read();
        pause();
        Words::check(seen);
    }

    #[inline]
    fn write(&self, (): &mut (), pause: impl Fn()) {
        let _held = self.lock.exclusive();
        self.words.bump(pause);
    }
}

/// Words under a page latch: readers look and look again, and write nothing.
struct Latched {
    latch: CachePadded<PageLatch>,
    words: Words,
}

impl Kind for Latched {
    const NAME: &'static str = "optimistic";
    type Local<'a> = ();

    fn new() -> Self {
        let latch = PageLatch::new();
        assert!(latch.try_claim_for_load());
        latch.finish_load();
        Latched { latch: CachePadded::new(latch), words: Words::default() }
    }

    fn local(&self) {}

    #[inline]
    fn read(&self, (): &mut (), pause: impl Fn()) {
        loop {
            let Optimistic::Version(version) = self.latch.optimistic() else {
                self.latch.wait_readable();
                continue;
            };
            let seen = self.words.read();
            pause();
            if self.latch.validate(version) {
                return Words::check(seen);
            }
        }
    }

    #[inline]
    fn write(&self, (): &mut (), pause: impl Fn()) {
        self.latch.exclusive().expect("nobody evicts it");
        self.words.bump(pause);
        self.latch.unlock_exclusive();
    }
}

/// Words in a snapshot cell: readers keep a handle, writers make a new copy.
struct Copied(Snapshot<[u64; 4]>);

impl Kind for Copied {
    const NAME: &'static str = "snapshot";
    type Local<'a> = Cached<[u64; 4]>;

    fn new() -> Self {
        Copied(Snapshot::new([0; 4]))
    }

    fn local(&self) -> Cached<[u64; 4]> {
        self.0.cached()
    }

    #[inline]
    fn read(&self, local: &mut Cached<[u64; 4]>, pause: impl Fn()) {
        let seen = **local.get(&self.0);
        pause();
        Words::check(seen);
    }

    #[inline]
    fn write(&self, _local: &mut Cached<[u64; 4]>, pause: impl Fn()) {
        self.0.update(|words| {
            pause();
            words.map(|word| word + 1)
        });
    }
}

/// The loop itself, to be subtracted.
struct Nothing;

impl Kind for Nothing {
    const NAME: &'static str = "nothing";
    type Local<'a> = ();

    fn new() -> Self {
        Nothing
    }

    fn local(&self) {}

    fn read(&self, (): &mut (), pause: impl Fn()) {
        pause();
    }

    fn write(&self, (): &mut (), pause: impl Fn()) {
        pause();
    }
}
