//! Faults on purpose: what a test wants to go wrong, and a disk that forgets what was not flushed.
//!
//! Two ways to use it:
//!
//! * **In process**: [`SimDisk::mount`] puts a simulated disk under a path; files opened below that path live on it, so the code
//!   under test is the real one and tests run side by side, a disk each. The disk counts operations, so "crash at every write" is
//!   a loop over `n` with [`SimDisk::crash_at`]. After the crash every operation fails until [`SimDisk::reboot`], which
//!   decides by a seed which unflushed writes survived, whole or torn.
//! * **Out of process**: a binary built with the feature reads `CLEARWAY_FAULTS` at its first operation and applies the
//!   [`Script`] to real files; "crash" is then an abort of the process.
//!
//! A script is a list of rules, separated by `;`:
//!
//! ```text
//! crash write 17            at the 17th write: nothing of it is done, then the power fails
//! tear write 17             at the 17th write: a part of it is done, then the power fails
//! fail sync 3               the 3rd flush answers with a device error, and each one after it
//! failonce read 5           the 5th read answers with a device error, the 6th is done
//! full write 3 in redo      the 3rd write to `redo` answers that the disk is full, and each one after it
//! full 1048576              no more room once files have grown by that many bytes
//! crash rename 1 in redo    counts only operations on paths that contain `redo`
//! ```
//! Operations: open read write sync allocate punch truncate createdir rename remove syncdir, or `any` for those that change something.

mod content;
mod disk;
mod script;

pub use disk::{Image, Moment, SimDisk, SimFile, disk_of};
pub use script::{Action, Rule, Script, Verdict};

use crate::error::{Error, ErrorKind, Op, Result};
use std::path::Path;
use std::sync::LazyLock;
use sync::{Mutex, Rank};

/// The environment variable that holds the script for real files.
pub const VARIABLE: &str = "CLEARWAY_FAULTS";

/// The process's script, if it was started with one.
static PROCESS: LazyLock<Option<Mutex<Script>>> = LazyLock::new(|| {
    let text = std::env::var(VARIABLE).ok()?;
    let script = text.parse().unwrap_or_else(|e| panic!("{VARIABLE}: {e}"));
    Some(Mutex::new(Rank::Kernel, script))
});

/// Whether the process was started with a script: only then is it worth finding out what an operation adds to a file.
pub(crate) fn process_has_script() -> bool {
    PROCESS.is_some()
}

/// Asks the process's script about an operation on a real file that lengthens it by `growth` bytes.
pub(crate) fn process(op: Op, path: &Path, growth: u64) -> Result<()> {
    let Some(script) = &*PROCESS else { return Ok(()) };
    let verdict = script.lock().judge(op, path, 0, growth);
    match verdict {
        Verdict::Go => Ok(()),
        Verdict::Fail(kind) => Err(injected(op, path, kind)),
        Verdict::Crash | Verdict::Tear(_) => abort(),
    }
}

/// As [`process`], for a write of `bytes`: when it answers `Some(n)`, write the first `n` bytes and [`abort`].
pub(crate) fn process_write(path: &Path, bytes: usize, growth: u64) -> Result<Option<usize>> {
    let Some(script) = &*PROCESS else { return Ok(None) };
    let verdict = script.lock().judge(Op::Write, path, bytes, growth);
    match verdict {
        Verdict::Go => Ok(None),
        Verdict::Fail(kind) => Err(injected(Op::Write, path, kind)),
        Verdict::Crash => abort(),
        Verdict::Tear(keep) => Ok(Some(keep)),
    }
}

/// Ends the process as a kill would: no destructors, no flushes.
pub(crate) fn abort() -> ! {
    std::process::abort()
}

pub(crate) fn injected(op: Op, path: &Path, kind: ErrorKind) -> Error {
    Error::with_kind(op, path, kind, format!("injected fault ({kind:?})"))
}

/// SplitMix64: enough randomness for tests, from a seed that a failing test prints.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0);
        self.next() % bound
    }
}
