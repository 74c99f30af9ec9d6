//! The contention lab: drives stock sysbench over servers and thread counts, compares and reports.

/// `clearway sweep ARGS`: the exit code (0 all cells ran, 1 a cell failed, 2 wrong usage).
pub fn command(_args: impl Iterator<Item = String>) -> i32 {
    2
}
