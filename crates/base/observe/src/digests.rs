//! Sums of statements by digest.
//!
//! A digest has a place in a table of bounded size, which is looked for when a statement is read, and kept with what was made of
//! it: an execution knows the place. It adds to the cells of that place in the lane of its thread, which has one writer.
//!
//! ```text
//!   place      0        1        2      ...        found under a mutex, when a text is new to a session
//!           +--------+--------+--------+
//!   entries | (rest) | digest | digest |            a place is written once, and read without a lock
//!           +--------+--------+--------+
//!   lane of a thread:   cells of place 1            made when the thread first has one; sums, latencies, a sample
//! ```
//!
//! Place 0 is that of all digests which had no room. TRUNCATE makes an empty table with the next number: places and cells of
//! another table do not count, so whoever holds one finds its digest again, and cells begin anew when their writer next comes.

use crate::Figures;
use crate::latency::{Latencies, LatencyCells};
use crate::statements::{StatementCells, StatementTotals};
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use sync::{LaneId, Lanes, Mutex, Rank, Records};

/// Of a statement's text.
pub type DigestHash = [u8; 32];

/// What a place is of.
#[derive(Debug)]
pub struct Digest {
    pub schema: Option<Box<str>>,
    pub hash: DigestHash,
    pub text: Box<str>,
    /// Microseconds since 1970.
    pub first_seen_us: u64,
}

/// Where the sums of a digest are, in the table of this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// 0: in no table.
    table: u32,
    at: u32,
}

impl Place {
    /// Is it one of the table as of now?
    #[inline]
    pub fn is_current(self) -> bool {
        // Relaxed: a statement counts for the table that it finds.
        self.table == NUMBER.load(Ordering::Relaxed)
    }

    /// As a word, which is not 0.
    pub fn to_word(self) -> u64 {
        u64::from(self.table) << 32 | u64::from(self.at)
    }

    pub fn from_word(word: u64) -> Place {
        Place { table: (word >> 32) as u32, at: word as u32 }
    }
}

/// The table's number. W: TRUNCATE. R: statements.
static NUMBER: AtomicU32 = AtomicU32::new(1);
/// Of latencies by digest and of all. W: TRUNCATE. R: statements.
static LATENCIES: AtomicU32 = AtomicU32::new(1);
static ALL_LATENCIES: AtomicU32 = AtomicU32::new(1);
/// `performance_schema_digests_size`; place 0 is one of them. W: the start.
static SIZE: AtomicUsize = AtomicUsize::new(10_000);
/// `performance_schema_max_digest_sample_age`; 0: samples do not age. W: SET. R: statements.
static SAMPLE_AGE_US: AtomicU64 = AtomicU64::new(60_000_000);
/// Digests that had no room.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Places by digest and schema.
type Known = HashMap<(DigestHash, Option<Box<str>>), u32>;

struct Table {
    number: u32,
    /// Place 0 is never set.
    entries: Box<[OnceLock<Box<Digest>>]>,
    /// Places in use. W: who holds `known`. R: readers.
    used: AtomicU32,
    /// When a digest first had no room, in microseconds since 1970; 0: never.
    rest_since_us: AtomicU64,
    known: Mutex<Known>,
}

impl Table {
    fn new(number: u32) -> Table {
        // Relaxed: written before statements come.
        let size = SIZE.load(Ordering::Relaxed);
        Table {
            number,
            entries: (0..size).map(|_| OnceLock::new()).collect(),
            used: AtomicU32::new(1),
            rest_since_us: AtomicU64::new(0),
            known: Mutex::new(Rank::Observe, HashMap::new()),
        }
    }
}

static TABLE: LazyLock<Mutex<Arc<Table>>> =
    LazyLock::new(|| Mutex::new(Rank::Observe, Arc::new(Table::new(NUMBER.load(Ordering::Relaxed)))));

fn table() -> Arc<Table> {
    Arc::clone(&TABLE.lock())
}

/// Room for so many digests. Called at the start of the server.
pub fn set_size(size: usize) {
    // Relaxed: no statement was read yet.
    SIZE.store(size, Ordering::Relaxed);
}

/// Samples are made anew after so long.
pub fn set_sample_age(seconds: u64) {
    // Relaxed: statements go by what they find.
    SAMPLE_AGE_US.store(seconds.saturating_mul(1_000_000), Ordering::Relaxed);
}

/// Are there any places?
pub fn are_kept() -> bool {
    // Relaxed: written before statements come.
    SIZE.load(Ordering::Relaxed) > 0
}

/// `Performance_schema_digest_lost`
pub fn lost() -> u64 {
    // Relaxed: a figure.
    LOST.load(Ordering::Relaxed)
}

/// The place of a digest, a new one if it was never there. For whoever has read a statement's text.
pub fn place_of(schema: Option<&str>, hash: DigestHash, text: &str, now_us: u64) -> Place {
    let table = table();
    let mut known = table.known.lock();
    let key = (hash, schema.map(Box::from));
    if let Some(&at) = known.get(&key) {
        return Place { table: table.number, at };
    }
    // Relaxed: the mutex is held.
    let at = table.used.load(Ordering::Relaxed);
    let Some(entry) = table.entries.get(at as usize) else {
        // Relaxed: figures.
        LOST.fetch_add(1, Ordering::Relaxed);
        _ = table.rest_since_us.compare_exchange(0, now_us, Ordering::Relaxed, Ordering::Relaxed);
        return Place { table: table.number, at: 0 };
    };
    let digest = Digest { schema: key.1.clone(), hash, text: text.into(), first_seen_us: now_us };
    entry.set(Box::new(digest)).expect("the place is new");
    // Release: pairs with Acquire in `rows`; who sees the place sees what it is of.
    table.used.store(at + 1, Ordering::Release);
    known.insert(key, at);
    Place { table: table.number, at }
}

/// Calls `show` with what the place is of; `None` for one without a digest of its own, or of a table that is gone.
pub fn digest_at<T>(place: Place, show: impl FnOnce(&Digest) -> T) -> Option<T> {
    let table = table();
    if table.number != place.table {
        return None;
    }
    table.entries.get(place.at as usize)?.get().map(|digest| show(digest))
}

/// TRUNCATE of events_statements_summary_by_digest: no digest is known.
pub fn forget() {
    let mut current = TABLE.lock();
    let number = current.number.wrapping_add(1).max(1);
    *current = Arc::new(Table::new(number));
    // Relaxed: see `Place::is_current`.
    NUMBER.store(number, Ordering::Relaxed);
    drop(current);
    forget_latencies();
}

/// TRUNCATE of events_statements_histogram_by_digest.
pub fn forget_latencies() {
    // Relaxed: see `Place::is_current`.
    LATENCIES.fetch_add(1, Ordering::Relaxed);
}

/// TRUNCATE of events_statements_histogram_global.
pub fn forget_all_latencies() {
    // Relaxed: see `Place::is_current`.
    ALL_LATENCIES.fetch_add(1, Ordering::Relaxed);
}

/// Words of a sample: how long it took, when it was seen.
const SAMPLE_TOOK: usize = 0;
const SAMPLE_SEEN: usize = 1;

/// Sums of one digest in one lane. W: the lane's thread. R: readers.
#[derive(Default)]
struct Cells {
    /// The table that they are of.
    table: AtomicU32,
    sums: StatementCells,
    latencies: LatencyCells,
    last_seen_us: AtomicU64,
    /// Of the sample, or 0: there is none.
    sample_took_ns: AtomicU64,
    sample_seen_us: AtomicU64,
    sample: OnceLock<Box<Records<2>>>,
}

const CHUNK: usize = 64;
type Chunk = [OnceLock<Box<Cells>>; CHUNK];

/// What one thread sums up. It keeps its sums when its thread ends; the next one goes on from them.
#[derive(Default)]
struct DigestLane {
    chunks: OnceLock<Box<[OnceLock<Box<Chunk>>]>>,
    all: LatencyCells,
}

static LANES: LazyLock<Lanes<DigestLane>> = LazyLock::new(|| Lanes::new(crate::BLOCKS_MAX));

struct Claim(LaneId);

impl Drop for Claim {
    fn drop(&mut self) {
        LANE.set(None);
        LANES.release(self.0);
    }
}

thread_local! {
    static LANE: Cell<Option<&'static DigestLane>> = const { Cell::new(None) };
    static OWN: OnceCell<Claim> = const { OnceCell::new() };
}

#[inline]
fn lane() -> Option<&'static DigestLane> {
    match LANE.get() {
        Some(lane) => Some(lane),
        None => lane_slow(),
    }
}

/// `None`: the thread is about to end.
#[cold]
fn lane_slow() -> Option<&'static DigestLane> {
    let lanes: &'static Lanes<DigestLane> = &LANES;
    let id = OWN.try_with(|own| own.get_or_init(|| Claim(lanes.claim().expect("fewer threads than lanes"))).0).ok()?;
    let lane = lanes.get(id);
    LANE.set(Some(lane));
    Some(lane)
}

impl DigestLane {
    #[inline]
    fn cells(&self, at: u32) -> &Cells {
        let at = at as usize;
        let chunks = self.chunks.get_or_init(|| {
            // Relaxed: written before statements come.
            let chunks = SIZE.load(Ordering::Relaxed).div_ceil(CHUNK).max(1);
            (0..chunks).map(|_| OnceLock::new()).collect()
        });
        let chunk = chunks[at / CHUNK].get_or_init(|| Box::new([const { OnceLock::new() }; CHUNK]));
        chunk[at % CHUNK].get_or_init(Box::default)
    }

    fn cells_if_any(&self, at: u32) -> Option<&Cells> {
        self.chunks.get()?.get(at as usize / CHUNK)?.get()?[at as usize % CHUNK].get().map(|cells| &**cells)
    }
}

impl Cells {
    #[cold]
    fn begin_anew(&self, table: u32) {
        self.sums.clear();
        // Relaxed: single writer.
        self.last_seen_us.store(0, Ordering::Relaxed);
        self.sample_took_ns.store(0, Ordering::Relaxed);
        self.sample_seen_us.store(0, Ordering::Relaxed); // Relaxed: as above
        // Release: pairs with Acquire in `totals`: who sees the number sees that the sums began anew.
        self.table.store(table, Ordering::Release);
    }
}

/// A statement that has ended.
pub struct Ended<'f> {
    /// `None`: it was not timed.
    pub took_ns: Option<u64>,
    /// That of [`bucket_of`](crate::latency::bucket_of), if it was.
    pub bucket: usize,
    /// Microseconds since 1970.
    pub now_us: u64,
    pub figures: &'f Figures,
    /// Some of the rare ones are not 0, see [`StatementCells::add`].
    pub has_rare: bool,
}

/// The statement that was added would be a better sample than the one that there is.
pub struct Sampling(&'static Cells);

/// Adds a statement of the digest that has this place; its latency to that of all, whatever the place.
#[inline]
pub fn add(place: Place, ended: &Ended<'_>) -> Option<Sampling> {
    let lane = lane()?;
    if ended.took_ns.is_some() {
        // Relaxed: see `Place::is_current`.
        lane.all.add(ALL_LATENCIES.load(Ordering::Relaxed), ended.bucket);
    }
    if !place.is_current() {
        return None;
    }
    let cells = lane.cells(place.at);
    // Relaxed: single writer, here and below.
    if cells.table.load(Ordering::Relaxed) != place.table {
        cells.begin_anew(place.table);
    }
    let took_ns = ended.took_ns.unwrap_or(0);
    cells.sums.add(ended.took_ns, ended.figures, ended.has_rare);
    cells.last_seen_us.store(ended.now_us, Ordering::Relaxed); // Relaxed: single writer
    if ended.took_ns.is_some() {
        cells.latencies.add(LATENCIES.load(Ordering::Relaxed), ended.bucket); // Relaxed: see `Place::is_current`
    }
    // Relaxed: single writer.
    let seen_us = cells.sample_seen_us.load(Ordering::Relaxed);
    let age_us = SAMPLE_AGE_US.load(Ordering::Relaxed);
    let is_old = age_us != 0 && ended.now_us.saturating_sub(seen_us) > age_us;
    // Relaxed: single writer.
    let wanted = seen_us == 0 || is_old || took_ns > cells.sample_took_ns.load(Ordering::Relaxed);
    wanted.then_some(Sampling(cells))
}

impl Sampling {
    /// It is the sample, with this text.
    #[cold]
    pub fn take(self, text: &[u8], ended: &Ended<'_>) {
        let cells = self.0;
        let took_ns = ended.took_ns.unwrap_or(0);
        let record = cells.sample.get_or_init(|| Box::new(Records::new(0))).write();
        record.clear_text();
        record.push(text);
        record.set(SAMPLE_TOOK, took_ns);
        record.set(SAMPLE_SEEN, ended.now_us);
        drop(record);
        // Relaxed: single writer.
        cells.sample_took_ns.store(took_ns, Ordering::Relaxed);
        cells.sample_seen_us.store(ended.now_us, Ordering::Relaxed); // Relaxed: as above
    }
}

/// A statement as an example of its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub text: Vec<u8>,
    pub took_ns: u64,
    pub seen_us: u64,
}

/// What is known of a digest. `schema` and `hash` and `text` are missing of the rest.
#[derive(Clone, Debug)]
pub struct DigestRow {
    pub schema: Option<String>,
    pub digest: Option<(DigestHash, String)>,
    pub totals: StatementTotals,
    pub latencies: Latencies,
    pub first_seen_us: u64,
    pub last_seen_us: u64,
    pub sample: Option<Sample>,
}

/// Digests of which a statement has ended, the rest first, then in the order in which they came. Nobody waits for the reader.
pub fn rows() -> Vec<DigestRow> {
    let table = table();
    // Relaxed: a setting.
    let sample_age_us = SAMPLE_AGE_US.load(Ordering::Relaxed);
    // Acquire: pairs with Release in `place_of`.
    let used = table.used.load(Ordering::Acquire);
    (0..used).filter_map(|at| row(&table, at, sample_age_us)).collect()
}

fn row(table: &Table, at: u32, sample_age_us: u64) -> Option<DigestRow> {
    let digest = table.entries.get(at as usize).and_then(|entry| entry.get());
    let mut row = DigestRow {
        schema: digest.and_then(|d| d.schema.as_deref()).map(str::to_string),
        digest: digest.map(|d| (d.hash, d.text.to_string())),
        totals: StatementTotals::default(),
        latencies: Latencies::default(),
        // Relaxed: a figure.
        first_seen_us: digest.map_or_else(|| table.rest_since_us.load(Ordering::Relaxed), |d| d.first_seen_us),
        last_seen_us: 0,
        sample: None,
    };
    // Relaxed: see `Place::is_current`.
    let epoch = LATENCIES.load(Ordering::Relaxed);
    let mut samples = Vec::new();
    for lane in LANES.iter_below(LANES.high_water()) {
        // Acquire: pairs with Release in `begin_anew`.
        let of_table = |cells: &&Cells| cells.table.load(Ordering::Acquire) == table.number;
        let Some(cells) = lane.cells_if_any(at).filter(of_table) else { continue };
        row.totals.merge(&cells.sums.totals());
        cells.latencies.read(epoch, &mut row.latencies);
        // Relaxed: figures.
        row.last_seen_us = row.last_seen_us.max(cells.last_seen_us.load(Ordering::Relaxed));
        let has_sample = cells.sample_seen_us.load(Ordering::Relaxed) != 0; // Relaxed: as above
        let record = cells.sample.get().filter(|_| has_sample).and_then(|sample| sample.current());
        samples.extend(record.map(|r| Sample {
            text: r.text,
            took_ns: r.words[SAMPLE_TOOK],
            seen_us: r.words[SAMPLE_SEEN],
        }));
    }
    if row.totals.time.count == 0 {
        return None;
    }
    // Each lane has its slowest of late; of old ones the others know better.
    let newest = samples.iter().map(|s| s.seen_us).max().unwrap_or(0);
    let is_late = |s: &&Sample| sample_age_us == 0 || newest.saturating_sub(s.seen_us) <= sample_age_us;
    row.sample = samples.iter().filter(is_late).max_by_key(|s| s.took_ns).cloned();
    Some(row)
}

/// Latencies of all statements.
pub fn all_latencies() -> Latencies {
    // Relaxed: see `Place::is_current`.
    let epoch = ALL_LATENCIES.load(Ordering::Relaxed);
    let mut latencies = Latencies::default();
    LANES.iter_below(LANES.high_water()).for_each(|lane| lane.all.read(epoch, &mut latencies));
    latencies
}
