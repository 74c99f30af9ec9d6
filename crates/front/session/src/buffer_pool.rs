//! The variables that the buffer pool obeys: those that bound each other, its size, and the list of its pages.

use crate::session::Session;
use crate::variables::{Globals, VARIABLES, Val, VarId, find, id};
use engine::{Engine, PoolSettings, ResizeRefused, ResizeStage, WarmFailure, WarmStage};
use expr::Env;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::time::SystemTime;
use types::codes::*;
use types::err;

const IO_CAPACITY: VarId = id("innodb_io_capacity");
const IO_CAPACITY_MAX: VarId = id("innodb_io_capacity_max");
const DIRTY_PCT: VarId = id("innodb_max_dirty_pages_pct");
const DIRTY_PCT_LWM: VarId = id("innodb_max_dirty_pages_pct_lwm");
const ADAPTIVE: VarId = id("innodb_adaptive_flushing");
const ADAPTIVE_LWM: VarId = id("innodb_adaptive_flushing_lwm");
const AVG_LOOPS: VarId = id("innodb_flushing_avg_loops");
const NEIGHBORS: VarId = id("innodb_flush_neighbors");
const IDLE_PCT: VarId = id("innodb_idle_flush_pct");
const LRU_DEPTH: VarId = id("innodb_lru_scan_depth");
const OLD_PCT: VarId = id("innodb_old_blocks_pct");
const OLD_TIME: VarId = id("innodb_old_blocks_time");
const READ_AHEAD: VarId = id("innodb_read_ahead_threshold");
const RANDOM_READ_AHEAD: VarId = id("innodb_random_read_ahead");
const FLUSH_SYNC: VarId = id("innodb_flush_sync");
const IN_CORE_FILE: VarId = id("innodb_buffer_pool_in_core_file");
pub(crate) const SIZE: VarId = id("innodb_buffer_pool_size");
const CHUNK: VarId = id("innodb_buffer_pool_chunk_size");
const INSTANCES: VarId = id("innodb_buffer_pool_instances");
pub(crate) const DUMP_NOW: VarId = id("innodb_buffer_pool_dump_now");
pub(crate) const LOAD_NOW: VarId = id("innodb_buffer_pool_load_now");
pub(crate) const LOAD_ABORT: VarId = id("innodb_buffer_pool_load_abort");
const DUMP_PCT: VarId = id("innodb_buffer_pool_dump_pct");
const FILENAME: VarId = id("innodb_buffer_pool_filename");
const DUMP_LAST: VarId = id("innodb_buffer_pool_dump_at_shutdown");
const LOAD_FIRST: VarId = id("innodb_buffer_pool_load_at_startup");

pub(crate) fn settings(globals: &Globals) -> PoolSettings {
    let (io_capacity, low) = (globals.uint(IO_CAPACITY), globals.get(DIRTY_PCT_LWM).double());
    PoolSettings {
        io_capacity,
        // Options may contradict each other; SET GLOBAL sees to it that they do not.
        io_capacity_max: globals.uint(IO_CAPACITY_MAX).max(io_capacity),
        max_dirty_pages_pct: globals.get(DIRTY_PCT).double().max(low),
        max_dirty_pages_pct_lwm: low,
        adaptive_flushing: globals.bool(ADAPTIVE),
        adaptive_flushing_lwm: globals.uint(ADAPTIVE_LWM),
        flushing_avg_loops: globals.uint(AVG_LOOPS),
        flush_neighbors: globals.uint(NEIGHBORS),
        idle_flush_pct: globals.uint(IDLE_PCT),
        lru_scan_depth: globals.uint(LRU_DEPTH),
        old_blocks_pct: globals.uint(OLD_PCT),
        old_blocks_time: globals.uint(OLD_TIME),
        read_ahead_threshold: globals.uint(READ_AHEAD),
        random_read_ahead: globals.bool(RANDOM_READ_AHEAD),
        flush_sync: globals.bool(FLUSH_SYNC),
        in_core_file: globals.bool(IN_CORE_FILE),
    }
}

/// Options that this server takes for others, which do as much or more: (variable, values, what holds here).
const TAKEN_FOR: [(&str, &[&str], &str); 3] = [
    ("innodb_flush_method", &["O_DSYNC", "littlesync", "nosync"], "fsync"),
    ("innodb_flush_method", &["O_DIRECT_NO_FSYNC"], "O_DIRECT"),
    ("innodb_doublewrite", &["DETECT_ONLY"], "ON"),
];

/// Before the engine is opened: chunks and size fit each other, as MySQL makes them, what only asks for something asks for nothing, and
/// ways of writing are those that there are. Returns lines for the error log.
pub fn settle(globals: &mut Globals) -> Vec<String> {
    let (size, instances) = (globals.uint(SIZE), globals.uint(INSTANCES));
    let chunk = globals.uint(CHUNK).min(size.div_ceil(instances));
    globals.set(CHUNK, Val::UInt(chunk));
    globals.set(SIZE, Val::UInt(in_chunks(size, chunk * instances)));
    for wish in [DUMP_NOW, LOAD_NOW, LOAD_ABORT] {
        globals.set(wish, Val::Bool(false));
    }
    let mut noted = Vec::new();
    for (name, values, here) in TAKEN_FOR {
        let id = find(name).expect("the table has it");
        let variable = &VARIABLES[id as usize];
        let value = variable.print(globals.get(id)).into_owned();
        if values.contains(&value.as_str()) {
            noted.push(format!("option '{name}': '{value}' has no effect, it is '{here}' here"));
            globals.set(id, variable.parse_option(here).expect("one of its words"));
        }
    }
    noted
}

/// The next size that consists of whole chunks.
fn in_chunks(size: u64, chunks: u64) -> u64 {
    size.checked_next_multiple_of(chunks).unwrap_or(u64::MAX / chunks * chunks)
}

/// Once the engine is open: brings back what was in memory.
pub fn load_first(globals: &Globals, engine: &Engine) {
    if globals.bool(LOAD_FIRST) {
        engine.load_pool(globals.text(FILENAME));
    }
}

/// Before the engine is closed: writes down what is in memory, unless the list from before has not come back whole.
pub fn dump_last(globals: &Globals, engine: &Engine) {
    let incomplete = matches!(engine.pool_load(), WarmStage::Running { .. } | WarmStage::Aborted { .. });
    if globals.bool(DUMP_LAST) && !incomplete {
        engine.dump_pool_last(globals.text(FILENAME), globals.uint(DUMP_PCT));
    }
}

impl Session {
    /// SET GLOBAL innodb_buffer_pool_size: the next size in whole chunks, unless it is less than one, or the last change goes on.
    pub(crate) fn resize_pool(&mut self, asked: u64) {
        let server = self.server.clone();
        // One at a time, so that the variable says what the engine was told last.
        let _turn = server.resizing.lock();
        let globals = server.globals.load();
        let chunks = globals.uint(CHUNK) * globals.uint(INSTANCES);
        if matches!(server.engine.pool_resize(), ResizeStage::Withdrawing { .. }) {
            return self.refuse_resize(ResizeRefused::InProgress);
        }
        if asked < chunks {
            let text = format!("InnoDB: Cannot resize buffer pool to lesser than chunk size of {chunks} bytes.");
            return self.state.warn("Warning", ER_WRONG_ARGUMENTS, text);
        }
        let size = in_chunks(asked, chunks);
        if size != asked {
            self.state.push_warning("Warning", err!(ER_TRUNCATED_WRONG_VALUE, "innodb_buffer_pool_size", asked));
        }
        match server.engine.resize_pool(size) {
            Ok(()) => self.set_global(SIZE, Val::UInt(size)),
            Err(refused) => self.refuse_resize(refused),
        }
    }

    fn refuse_resize(&mut self, refused: ResizeRefused) {
        match refused {
            ResizeRefused::InProgress => {
                self.state.push_warning("Warning", err!(ER_BUFPOOL_RESIZE_INPROGRESS));
            }
            // As MySQL: the status variables tell of it.
            ResizeRefused::TooLarge => {}
        }
    }

    /// SET GLOBAL of a variable that asks for something, and stays OFF.
    pub(crate) fn ask_pool(&self, wish: VarId) {
        let (globals, engine) = (self.server.globals.load(), &self.server.engine);
        // What is not taken stands behind many that are.
        match wish {
            DUMP_NOW => drop(engine.dump_pool(globals.text(FILENAME), globals.uint(DUMP_PCT))),
            LOAD_NOW => drop(engine.load_pool(globals.text(FILENAME))),
            LOAD_ABORT => engine.abort_pool_load(),
            other => unreachable!("{other} is no wish"),
        }
    }
}

/// The status variables that tell of the pool's size and lists in words, MySQL's.
pub(crate) fn status(engine: &Engine) -> Vec<(String, String)> {
    let (resize, code, progress) = match engine.pool_resize() {
        ResizeStage::Never => (String::new(), 0, 0),
        ResizeStage::Unchanged { bytes } => {
            (format!("Size did not change (old size = new size = {bytes}. Nothing to do."), 0, 0)
        }
        ResizeStage::Withdrawing { withdrawn, of } => {
            ("Withdrawing blocks to be shrunken.".to_string(), 3, withdrawn * 100 / of.max(1))
        }
        ResizeStage::Completed { at } => (format!("Completed resizing buffer pool at {}.", clock(at)), 0, 100),
        ResizeStage::Failed { at } => {
            (format!("Resizing buffer pool failed, finished resizing at {}.", clock(at)), 7, 100)
        }
    };
    let dump = match engine.pool_dump() {
        WarmStage::NotStarted => "Dumping of buffer pool not started".to_string(),
        WarmStage::Running { file, .. } => format!("Dumping buffer pool(s) to {}", file.display()),
        WarmStage::Completed { at } | WarmStage::Aborted { at } => {
            format!("Buffer pool(s) dump completed at {}", clock(at))
        }
        WarmStage::Failed(failure) => in_words(failure),
    };
    let load = match engine.pool_load() {
        WarmStage::NotStarted => "Loading of buffer pool not started".to_string(),
        WarmStage::Running { file, done: 0, .. } => format!("Loading buffer pool(s) from {}", file.display()),
        WarmStage::Running { done, of, .. } => format!("Loaded {done}/{of} pages"),
        WarmStage::Completed { at } => format!("Buffer pool(s) load completed at {}", clock(at)),
        WarmStage::Aborted { at } => format!("Buffer pool(s) load aborted on request at {}", clock(at)),
        WarmStage::Failed(failure) => in_words(failure),
    };
    let rows = [
        ("resize_status", resize),
        ("resize_status_code", code.to_string()),
        ("resize_status_progress", progress.to_string()),
        ("dump_status", dump),
        ("load_status", load),
    ];
    rows.into_iter().map(|(name, value)| (format!("Innodb_buffer_pool_{name}"), value)).collect()
}

fn in_words(failure: WarmFailure) -> String {
    match failure {
        WarmFailure::Write(file, why) => format!("Cannot open '{}' for writing: {why}", file.display()),
        WarmFailure::Missing(file) => format!("Cannot open '{}' for reading: there is none", file.display()),
        WarmFailure::Read(file, why) => format!("Cannot open '{}' for reading: {why}", file.display()),
        WarmFailure::NoList(file) => format!("Error parsing '{}'; it is no list of pages", file.display()),
    }
}

/// `yymmdd hh:mm:ss` in the system's time zone.
fn clock(at: SystemTime) -> String {
    let time = Timestamp::try_from(at).unwrap_or_default().to_zoned(TimeZone::system());
    time.strftime("%y%m%d %H:%M:%S").to_string()
}

/// What SET GLOBAL of one of two variables that bound each other comes to: the values to set, and MySQL's warnings.
pub(crate) struct Agreed {
    pub values: Vec<(VarId, Val)>,
    pub warnings: Vec<String>,
}

/// `None`: the variable can have any value that its type allows.
pub(crate) fn agree(globals: &Globals, variable: VarId, value: &Val) -> Option<Agreed> {
    let (values, warnings) = match variable {
        IO_CAPACITY if value.uint() > globals.uint(IO_CAPACITY_MAX) => {
            let (new, max) = (value.uint(), globals.uint(IO_CAPACITY_MAX));
            let doubled = new.saturating_mul(2).min(u64::from(u32::MAX));
            let warnings = vec![
                format!("Setting innodb_io_capacity {new} higher than innodb_io_capacity_max {max}"),
                format!("Setting innodb_max_io_capacity to {doubled}"),
            ];
            (vec![(IO_CAPACITY_MAX, Val::UInt(doubled)), (variable, value.clone())], warnings)
        }
        IO_CAPACITY_MAX if value.uint() < globals.uint(IO_CAPACITY) => {
            let (new, capacity) = (value.uint(), globals.uint(IO_CAPACITY));
            let warnings = vec![
                format!("Setting innodb_io_capacity_max {new} lower than innodb_io_capacity {capacity}."),
                format!("Setting innodb_io_capacity to {new}"),
            ];
            (vec![(IO_CAPACITY, value.clone()), (variable, value.clone())], warnings)
        }
        DIRTY_PCT if value.double() < globals.get(DIRTY_PCT_LWM).double() => {
            let warnings = vec![
                "innodb_max_dirty_pages_pct cannot be set lower than innodb_max_dirty_pages_pct_lwm.".to_owned(),
                format!("Lowering innodb_max_dirty_page_pct_lwm to {:.6}", value.double()),
            ];
            (vec![(DIRTY_PCT_LWM, value.clone()), (variable, value.clone())], warnings)
        }
        DIRTY_PCT_LWM if value.double() > globals.get(DIRTY_PCT).double() => {
            let most = globals.get(DIRTY_PCT).clone();
            let warnings = vec![
                "innodb_max_dirty_pages_pct_lwm cannot be set higher than innodb_max_dirty_pages_pct.".to_owned(),
                format!("Setting innodb_max_dirty_page_pct_lwm to {:.6}", most.double()),
            ];
            (vec![(variable, most)], warnings)
        }
        _ => return None,
    };
    Some(Agreed { values, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_at_start_are_whole_chunks() {
        // Size and chunk asked for, and what they come to.
        let cases = [(128, 128, 128, 128), (16, 128, 16, 16), (130, 128, 256, 128), (20, 8, 24, 8), (5, 1, 5, 1)];
        for (size, chunk, size_then, chunk_then) in cases {
            let mut globals = Globals::new();
            globals.set(SIZE, Val::UInt(size << 20));
            globals.set(CHUNK, Val::UInt(chunk << 20));
            assert!(settle(&mut globals).is_empty());
            assert_eq!(
                (globals.uint(SIZE) >> 20, globals.uint(CHUNK) >> 20),
                (size_then, chunk_then),
                "{size} {chunk}"
            );
        }
    }

    #[test]
    fn ways_of_writing_that_are_not_there_are_noted() {
        let mut globals = Globals::new();
        let method = id("innodb_flush_method");
        for (asked, then, lines) in
            [("O_DIRECT_NO_FSYNC", "O_DIRECT", 1), ("nosync", "fsync", 1), ("fsync", "fsync", 0)]
        {
            globals.set(method, VARIABLES[method as usize].parse_option(asked).unwrap());
            assert_eq!(settle(&mut globals).len(), lines, "{asked}");
            assert_eq!(VARIABLES[method as usize].print(globals.get(method)), then);
        }
    }
}
