//! What is collected: consumers and instruments as `performance_schema.setup_consumers` and `setup_instruments` have them.
//!
//! A statement reads one word and one byte; both are written by UPDATE on those tables only. `performance_schema=OFF` is a word
//! of zeros that stays.
//!
//! ```text
//!  63          32 31        16 15         0
//! +--------------+------------+------------+
//! |    epoch     |   stages   |  consumers |
//! +--------------+------------+------------+
//! ```
//! TRUNCATE of a summary raises the epoch. Sums belong to an epoch: their one writer begins anew when it sees a later one, and
//! readers take sums of an earlier one for zero. So nobody but the writer ever stores to them.

use crate::forgotten::Events;
use crate::instrument::{ALL, COUNT, InstrumentId, Kind};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// Makes the enum and its names from one list.
macro_rules! consumers {
    ($($variant:ident = $name:literal $on:literal,)*) => {
        /// Where events go. The name is the one in `setup_consumers`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Consumer {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Consumer {
            /// In the order of the table.
            pub const ALL: &'static [Consumer] = &[$(Consumer::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Consumer::$variant => $name,)*
                }
            }
        }

        /// Those that are on at first.
        const DEFAULT: u64 = 0 $(| (($on as u64) << Consumer::$variant as u8))*;
    };
}

consumers! {
    StagesCurrent = "events_stages_current" false,
    StagesHistory = "events_stages_history" false,
    StagesHistoryLong = "events_stages_history_long" false,
    StatementsCpu = "events_statements_cpu" false,
    StatementsCurrent = "events_statements_current" true,
    StatementsHistory = "events_statements_history" true,
    StatementsHistoryLong = "events_statements_history_long" false,
    TransactionsCurrent = "events_transactions_current" true,
    TransactionsHistory = "events_transactions_history" true,
    TransactionsHistoryLong = "events_transactions_history_long" false,
    WaitsCurrent = "events_waits_current" false,
    WaitsHistory = "events_waits_history" false,
    WaitsHistoryLong = "events_waits_history_long" false,
    Global = "global_instrumentation" true,
    Thread = "thread_instrumentation" true,
    Digest = "statements_digest" true,
}

const CONSUMERS: u64 = 0xffff;
/// A stage without progress is enabled.
const STAGES: u64 = 1 << 16;
const EPOCH_ONE: u64 = 1 << 32;

/// W: UPDATE of `setup_consumers`, TRUNCATE. R: statements.
static WORD: AtomicU64 = AtomicU64::new(DEFAULT);
/// Whether anything is collected at all, for readers; [`WORD`] says it to statements. W: the start.
static IS_OFF: AtomicU8 = AtomicU8::new(0);
/// By instrument. W: UPDATE of `setup_instruments`. R: whoever has an event.
static FLAGS: [AtomicU8; COUNT] = {
    let mut flags = [const { AtomicU8::new(0) }; COUNT];
    let mut at = 0;
    while at < COUNT {
        let instrument = &ALL[at];
        flags[at] = AtomicU8::new(Flags::of(instrument.enabled, matches!(instrument.timed, Some(true))).0);
        at += 1;
    }
    flags
};

/// The consumers that are on, and the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumers(u64);

impl Consumers {
    /// Is it on, whatever it hangs from?
    #[inline]
    pub fn has(self, consumer: Consumer) -> bool {
        self.0 & 1 << consumer as u8 != 0
    }

    /// Are all of them on?
    #[inline]
    pub fn have(self, consumers: &[Consumer]) -> bool {
        let wanted = consumers.iter().fold(0, |bits, &c| bits | 1 << c as u8);
        self.0 & wanted == wanted
    }

    /// Are stages recorded that only tell what a statement is at?
    #[inline]
    pub fn watches_stages(self) -> bool {
        self.0 & STAGES != 0
    }

    /// Sums of another epoch are zero.
    #[inline]
    pub fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// What is on now.
#[inline]
pub fn consumers() -> Consumers {
    // Relaxed: read-mostly; a statement goes by the word as it finds it, and no other memory hangs from it.
    Consumers(WORD.load(Ordering::Relaxed))
}

/// Switches a consumer. Without effect if Performance Schema is off.
pub fn set_consumer(consumer: Consumer, on: bool) {
    let bit = 1 << consumer as u8;
    if is_off() {
        return;
    }
    // Relaxed: see `consumers`.
    match on {
        true => WORD.fetch_or(bit, Ordering::Relaxed),
        false => WORD.fetch_and(!bit, Ordering::Relaxed),
    };
    tell_waits();
}

/// Waits are counted below this crate, and have a copy of what is on.
fn tell_waits() {
    let on = consumers();
    sync::waits::set_switches(sync::waits::Switches::of(
        on.has(Consumer::Global),
        on.has(Consumer::Thread),
        on.has(Consumer::WaitsCurrent),
        on.has(Consumer::WaitsHistory) || on.has(Consumer::WaitsHistoryLong),
    ));
}

/// All sums of events start over.
pub fn start_over() {
    // Relaxed: see `consumers`.
    WORD.fetch_add(EPOCH_ONE, Ordering::Relaxed);
    sync::waits::start_over();
}

/// `performance_schema=OFF`: nothing is collected from now on. Called at the start of the server.
pub fn switch_off() {
    // Relaxed: no other thread serves anybody yet.
    IS_OFF.store(1, Ordering::Relaxed);
    WORD.fetch_and(!(CONSUMERS | STAGES), Ordering::Relaxed);
    sync::waits::set_flags(sync::waits::Wait::TableIo, false, false);
    tell_waits();
}

/// Is Performance Schema off?
pub fn is_off() -> bool {
    // Relaxed: written before sessions begin.
    IS_OFF.load(Ordering::Relaxed) != 0
}

/// Events that a session keeps. W: the start. R: sessions, when they first have an event.
static HISTORY: [AtomicUsize; 4] = [const { AtomicUsize::new(10) }; 4];

/// `performance_schema_events_statements_history_size` and its like. Called at the start of the server.
pub fn set_history(events: Events, size: usize) {
    // Relaxed: no other thread serves anybody yet.
    HISTORY[events as usize].store(size, Ordering::Relaxed);
    if events == Events::Waits {
        sync::waits::set_history(size);
    }
}

/// How many events a session keeps.
pub fn history(events: Events) -> usize {
    // Relaxed: written before sessions begin.
    HISTORY[events as usize].load(Ordering::Relaxed)
}

/// Whether an instrument's events are collected, and timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    const fn of(enabled: bool, timed: bool) -> Flags {
        Flags(enabled as u8 | (timed as u8) << 1)
    }

    #[inline]
    pub fn is_enabled(self) -> bool {
        self.0 & 1 != 0
    }

    #[inline]
    pub fn is_timed(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The instrument's flags.
#[inline]
pub fn flags(id: InstrumentId) -> Flags {
    // Relaxed: as `consumers`.
    Flags(FLAGS[id.index()].load(Ordering::Relaxed))
}

/// Switches an instrument.
pub fn set_instrument(id: InstrumentId, enabled: bool, timed: bool) {
    // Relaxed: as `consumers`.
    FLAGS[id.index()].store(Flags::of(enabled, timed).0, Ordering::Relaxed);
    if let Some(wait) = id.wait() {
        sync::waits::set_flags(wait, enabled, timed);
    }
    if ALL[id.index()].kind != Kind::Stage {
        return;
    }
    let is_watched = |at: &usize| {
        let is_plain = ALL[*at].kind == Kind::Stage && ALL[*at].properties.is_empty();
        is_plain && flags(InstrumentId::from_index(*at)).is_enabled()
    };
    // Relaxed: as `consumers`.
    match (0..COUNT).any(|at| is_watched(&at)) && !is_off() {
        true => WORD.fetch_or(STAGES, Ordering::Relaxed),
        false => WORD.fetch_and(!STAGES, Ordering::Relaxed),
    };
}

/// What `performance_schema_instrument` says of instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrumented {
    Off,
    /// Enabled, and not timed.
    Counted,
    Timed,
}

/// Switches each instrument as the longest pattern says that its name is like, the last one of those that are as long. `%` stands for
/// any characters. Called at the start of the server.
pub fn switch_instruments(patterns: &[(String, Instrumented)]) {
    for (at, instrument) in ALL.iter().enumerate() {
        let found = patterns.iter().filter(|(pattern, _)| is_like(instrument.name, pattern));
        let Some((_, asked)) = found.max_by_key(|(pattern, _)| pattern.len()) else { continue };
        let timed = instrument.timed.is_some() && *asked == Instrumented::Timed;
        set_instrument(InstrumentId::from_index(at), *asked != Instrumented::Off, timed);
    }
}

fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('%') {
        None => name.eq_ignore_ascii_case(pattern),
        Some((begin, rest)) => {
            let begins = name.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin));
            begins && (begin.len()..=name.len()).any(|at| is_like(&name[at..], rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::id;

    #[test]
    fn patterns_are_of_any_characters() {
        assert!(is_like("stage/sql/User sleep", "stage/%"));
        assert!(is_like("stage/sql/User sleep", "%SLEEP"));
        assert!(is_like("stage/sql/User sleep", "stage/%/user%"));
        assert!(!is_like("stage/sql/User sleep", "stage/sql"));
        assert!(!is_like("stage/sql/User sleep", "wait%"));
        assert!(is_like("idle", "%"));
    }

    #[test]
    fn consumers_and_instruments_are_switched() {
        assert!(consumers().have(&[Consumer::Global, Consumer::Thread, Consumer::StatementsHistory]));
        let epoch = consumers().epoch();
        set_consumer(Consumer::WaitsCurrent, true);
        start_over();
        assert!(consumers().has(Consumer::WaitsCurrent));
        assert_eq!(consumers().epoch(), epoch + 1);
        set_consumer(Consumer::WaitsCurrent, false);
        assert!(!consumers().has(Consumer::WaitsCurrent));

        const SLEEP: InstrumentId = id("stage/sql/User sleep");
        assert!(!flags(SLEEP).is_enabled() && !flags(SLEEP).is_timed());
        assert!(!consumers().watches_stages(), "only stages with progress are on");
        set_instrument(SLEEP, true, false);
        assert!(consumers().watches_stages());
        assert!(flags(SLEEP).is_enabled() && !flags(SLEEP).is_timed());
        set_instrument(SLEEP, false, false);
        assert!(!consumers().watches_stages());
    }
}
