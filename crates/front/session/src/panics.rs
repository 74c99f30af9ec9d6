//! Panics: a defect that one statement meets ends that statement, not the server.
//!
//! ```text
//!   panic       the hook, before anything is unwound: does the thread hold a lock or a page latch? What it protects may be half
//!               changed, so the process aborts, and recovery starts from the log. Else message and backtrace are kept
//!   unwinding   operators, cursors, files and metadata locks are dropped as they are after an error
//!   catch       around each command: the transaction is rolled back, the client gets error 1815 with a reference, the error log
//!               has the statement's digest, the message and the backtrace under it; the session goes on
//! ```
//!
//! What holds the log's turn aborts by itself (`log::Reservation`, the flush leader), and so does a thread of the background.

use crate::error_log::{ErrorLog, Level};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

thread_local! {
    /// A command is being served by [`catch`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

static LOG: OnceLock<Arc<ErrorLog>> = OnceLock::new();
static INSTALLED: OnceLock<()> = OnceLock::new();

/// What a panic has said, and where it happened.
pub(crate) struct Panicked {
    pub message: String,
    pub backtrace: String,
}

/// Where panics, and what else belongs into the error log, are told; stderr by default. Only the first call counts.
pub fn log_to(log: &Arc<ErrorLog>) {
    // A second server of the process tells its panics where the first does.
    let _ = LOG.set(Arc::clone(log));
}

pub(crate) fn tell(text: &str) {
    note(Level::Error, 0, text);
}

pub(crate) fn note(level: Level, code: u16, text: &str) {
    note_of(0, level, code, text);
}

/// `thread`: the connection that it is about.
pub(crate) fn note_of(thread: u32, level: Level, code: u16, text: &str) {
    match LOG.get() {
        Some(log) => log.write_of(thread.into(), level, code, text),
        // Notes are for whoever asks for them.
        None if level != Level::Note => eprintln!("[{level:?}] [MY-{code:06}] [Server] {text}"),
        None => {}
    }
}

/// The hook that [`catch`] relies on. Threads that serve no command keep the hook that was there.
pub(crate) fn install() {
    INSTALLED.get_or_init(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                others(info);
                // A reader of a statement's parts is joined by a thread that goes on.
                if sync::holds_lock() {
                    std::process::abort();
                }
                return;
            }
            let (message, backtrace) = (info.to_string(), Backtrace::force_capture().to_string());
            if sync::holds_lock() {
                // Past the log, which has locks of its own: the one that is held may be among them, or behind them.
                eprintln!("a statement panicked with a lock or latch held; aborting: {message}\n{backtrace}");
                std::process::abort();
            }
            LAST.set(Some(Panicked { message, backtrace }));
        }));
    });
}

/// Runs one command. An error is a panic outside of all locks; whatever the command has used may be half done.
#[inline]
pub(crate) fn catch<T>(command: impl FnOnce() -> T) -> Result<T, Panicked> {
    CATCHING.set(true);
    let result = catch_unwind(AssertUnwindSafe(command));
    CATCHING.set(false);
    result.map_err(|_| LAST.take().expect("the hook has kept it"))
}

/// A name for a panic, by which the client's error is found in the log.
pub(crate) fn reference() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    // Relaxed: any number that is not given twice.
    format!("{seconds:x}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Was the debug build started with CLEARWAY_PANICS?
#[cfg(debug_assertions)]
fn are_provoked() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| std::env::var_os("CLEARWAY_PANICS").is_some())
}

/// Such a build panics inside of routines of the schema `panics`.
#[cfg(debug_assertions)]
pub(crate) fn provoke_in(schema: &str) {
    assert!(schema != "panics" || !are_provoked(), "the routine's schema asked for it");
}

/// And where the statement asks it to, for tests of what follows.
#[cfg(debug_assertions)]
pub(crate) fn provoke(text: &[u8]) {
    if !are_provoked() {
        return;
    }
    let asks = |what: &[u8]| text.windows(what.len()).any(|w| w == what);
    assert!(!asks(b"/* panic */"), "the statement asked for it");
    let latch = sync::Mutex::new(sync::Rank::Kernel, ());
    let held = asks(b"/* panic locked */").then(|| latch.lock());
    assert!(held.is_none(), "the statement asked for it");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_place() {
        install();
        let panicked = catch(|| {
            if std::hint::black_box(true) {
                panic!("seven")
            }
        })
        .expect_err("it panics");
        assert!(panicked.message.contains("seven") && panicked.message.contains("panics.rs"), "{}", panicked.message);
        assert!(panicked.backtrace.contains("panics.rs"), "{}", panicked.backtrace);
        assert_eq!(catch(|| 7).ok(), Some(7));
    }

    #[test]
    fn references_differ() {
        assert_ne!(reference(), reference());
    }
}
