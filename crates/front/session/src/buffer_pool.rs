//! The variables that the buffer pool obeys, and those of them that bound each other.

use crate::variables::{Globals, Val, VarId, id};
use engine::PoolSettings;

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
