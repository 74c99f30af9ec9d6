//! What others read of a session: its variables, what its client has said of itself, what it has counted; and what accounts
//! keep of sessions that have ended.
//!
//! A session hands its variables over when a command that has changed some is over, as one value that never changes. Whoever reads
//! takes that value and walks over it by itself, so nobody waits for a reader and nobody sees half a change. A session that does
//! something for long shows what it had before.

mod rows;

pub(crate) use rows::{
    account_sums, connect_attributes, thread_counts, thread_memory, thread_variables, truncate, user_variables,
};

use crate::variables::{SessionVariables, VarId};
use observe::{Counter, SharedCounts};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sync::memory::Account;
use sync::{Mutex, Rank};
use types::{DataType, Value};

pub(crate) const ATTRIBUTES_SIZE: VarId = crate::variables::id("performance_schema_session_connect_attrs_size");

/// What a client may say of itself unless the option has another number.
pub(crate) const ATTRIBUTES_BYTES: usize = 512;

/// Status variables of sessions, in the order of names.
pub(crate) const SHOWN: [Counter; 30] = [
    Counter::BytesReceived,
    Counter::BytesSent,
    Counter::CreatedTmpDiskTables,
    Counter::CreatedTmpTables,
    Counter::HandlerCommit,
    Counter::HandlerDelete,
    Counter::HandlerExternalLock,
    Counter::HandlerMrrInit,
    Counter::HandlerPrepare,
    Counter::HandlerReadFirst,
    Counter::HandlerReadKey,
    Counter::HandlerReadLast,
    Counter::HandlerReadNext,
    Counter::HandlerReadPrev,
    Counter::HandlerReadRnd,
    Counter::HandlerReadRndNext,
    Counter::HandlerRollback,
    Counter::HandlerUpdate,
    Counter::HandlerWrite,
    Counter::MaxExecutionTimeExceeded,
    Counter::MaxExecutionTimeSet,
    Counter::Questions,
    Counter::SelectFullJoin,
    Counter::SelectFullRangeJoin,
    Counter::SelectRange,
    Counter::SelectScan,
    Counter::SlowQueries,
    Counter::SortMergePasses,
    Counter::SortRows,
    Counter::SortScan,
];

type Counts = [u64; SHOWN.len()];

fn shown_counts(counts: &SharedCounts) -> Counts {
    let all = counts.values();
    SHOWN.map(|counter| all[counter as usize])
}

/// A variable `@x`.
pub(crate) type UserVariable = (Value<'static>, DataType);

/// A session's variables at the end of a command.
pub(crate) struct Variables {
    pub system: SessionVariables,
    /// Those that are computed, as the session itself sees them.
    pub computed: Vec<(VarId, String)>,
    pub user: Vec<(String, Arc<UserVariable>)>,
}

#[derive(Clone, Default)]
struct Seen {
    variables: Option<Arc<Variables>>,
    attributes: Arc<[(String, String)]>,
    counts: Option<Arc<SharedCounts>>,
    memory: Option<Arc<Account>>,
    /// What TRUNCATE has taken off the counts.
    base: Option<Arc<Counts>>,
}

impl Seen {
    /// Bytes that it has, and the most that it has had.
    fn memory(&self) -> (u64, u64) {
        self.memory.as_ref().map_or((0, 0), |account| account.used())
    }

    fn counts(&self) -> Counts {
        let mut now = self.counts.as_deref().map_or([0; SHOWN.len()], shown_counts);
        if let Some(base) = &self.base {
            now.iter_mut().zip(base.iter()).for_each(|(now, base)| *now = now.wrapping_sub(*base));
        }
        now
    }
}

/// The session's part of its lane. The lock is held while pointers are copied, never while somebody reads what they point to.
pub(crate) struct Lane(Mutex<Seen>);

impl Default for Lane {
    fn default() -> Lane {
        Lane(Mutex::new(Rank::Observe, Seen::default()))
    }
}

impl Lane {
    /// Others see these variables from now on; answers those that they saw.
    pub fn show(&self, variables: Variables) -> Option<Arc<Variables>> {
        self.0.lock().variables.replace(Arc::new(variables))
    }

    /// A session begins.
    pub fn open(&self) {
        let before = std::mem::take(&mut *self.0.lock());
        drop(before);
    }

    /// Where the session counts, and what it has of memory.
    pub fn count_in(&self, counts: Arc<SharedCounts>, memory: Arc<Account>) {
        let mut seen = self.0.lock();
        (seen.counts, seen.memory) = (Some(counts), Some(memory));
    }

    pub fn attributes(&self, attributes: Vec<(String, String)>) {
        self.0.lock().attributes = attributes.into();
    }

    /// The session ends: what it has counted is its account's.
    pub fn close(&self, accounts: &Accounts, user: &str, host: &str) {
        let mut groups = accounts.groups.lock();
        let seen = std::mem::take(&mut *self.0.lock());
        groups.add(user, inspect::without_port(host), &seen.counts(), seen.memory().1);
        drop(groups);
    }
}

/// What is kept of an account, a user or a host.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// Logins.
    total: u64,
    /// The most that a session has had of memory.
    memory_max: u64,
    /// Of sessions that have ended.
    counts: Counts,
}

/// How rows are grouped.
pub(crate) use inspect::GroupedBy;

#[derive(Default)]
pub(crate) struct Groups {
    /// By user and host; of the one that does not count it is empty.
    kept: [BTreeMap<(String, String), Kept>; 3],
}

/// Accounts, users and hosts that are kept; those that come later are counted nowhere but in the sums of the server.
const GROUPS_MAX: usize = 10_000;

/// The key of an account among those that are grouped so.
fn key(by: GroupedBy, user: &str, host: &str) -> (String, String) {
    match by {
        GroupedBy::Account => (user.to_string(), host.to_string()),
        GroupedBy::User => (user.to_string(), String::new()),
        GroupedBy::Host => (String::new(), host.to_string()),
    }
}

impl Groups {
    fn change(&mut self, user: &str, host: &str, change: impl Fn(&mut Kept)) {
        for by in GroupedBy::ALL {
            let kept = &mut self.kept[by as usize];
            let key = key(by, user, host);
            if kept.len() < GROUPS_MAX || kept.contains_key(&key) {
                change(kept.entry(key).or_default());
            }
        }
    }

    fn add(&mut self, user: &str, host: &str, counts: &Counts, memory: u64) {
        if counts.iter().any(|n| *n != 0) {
            self.change(user, host, |kept| {
                add(&mut kept.counts, counts);
                kept.memory_max = kept.memory_max.max(memory);
            });
        }
    }
}

fn add(sums: &mut Counts, counts: &Counts) {
    sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum = sum.wrapping_add(*n));
}

/// What accounts keep of sessions. W: logins, and sessions that end. R: whoever asks.
pub(crate) struct Accounts {
    groups: Mutex<Groups>,
    /// Bytes of the most that a client has said of itself, and connections of which not all was kept. W: logins. R: SHOW STATUS.
    longest: AtomicU64,
    truncated: AtomicU64,
}

impl Accounts {
    /// A client has sent attributes of so many bytes, of which some were lost.
    pub fn note_attributes(&self, bytes: usize, lost: usize) {
        // Relaxed: figures for the reader.
        self.longest.fetch_max(bytes as u64, Ordering::Relaxed);
        if lost > 0 {
            self.truncated.fetch_add(1, Ordering::Relaxed); // Relaxed: as above
        }
    }

    pub fn new() -> Accounts {
        Accounts {
            groups: Mutex::new(Rank::EndedSessions, Groups::default()),
            longest: AtomicU64::new(0),
            truncated: AtomicU64::new(0),
        }
    }

    /// `Performance_schema_session_connect_attrs_longest_seen` and `_lost`.
    pub fn attributes_status(&self) -> [(&'static str, u64); 2] {
        // Relaxed: figures for the reader.
        let (longest, lost) = (self.longest.load(Ordering::Relaxed), self.truncated.load(Ordering::Relaxed));
        [
            ("Performance_schema_session_connect_attrs_longest_seen", longest),
            ("Performance_schema_session_connect_attrs_lost", lost),
        ]
    }

    /// Somebody has logged in.
    pub fn login(&self, user: &str, host: &str) {
        self.groups.lock().change(user, inspect::without_port(host), |kept| kept.total += 1);
    }
}

/// What a client has said of itself, as much of it as `performance_schema_session_connect_attrs_size` has room for; and how many
/// bytes there were, and are missing.
pub(crate) fn kept_attributes(attributes: &[(Vec<u8>, Vec<u8>)], size: usize) -> (Vec<(String, String)>, usize, usize) {
    let text = |bytes: &[u8], most: usize| String::from_utf8_lossy(bytes).chars().take(most).collect::<String>();
    // Each with its length before it, as they are sent.
    let bytes = |(name, value): &(Vec<u8>, Vec<u8>)| {
        let of = |part: &Vec<u8>| part.len() + if part.len() < 251 { 1 } else { 3 };
        of(name) + of(value)
    };
    let whole: usize = attributes.iter().map(bytes).sum();
    let (mut kept, mut used) = (Vec::new(), 0);
    for pair in attributes {
        if used + bytes(pair) > size {
            break;
        }
        used += bytes(pair);
        kept.push((text(&pair.0, 32), text(&pair.1, 1024)));
    }
    let lost = whole - used;
    if lost > 0 && size > 0 {
        kept.push(("_truncated".to_string(), lost.to_string()));
    }
    (kept, whole, lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_find_no_room_are_counted() {
        let pair = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let sent = [pair("_os", "Linux"), pair("a", &"x".repeat(300)), pair("b", "c")];
        let (kept, whole, lost) = kept_attributes(&sent, 512);
        assert_eq!((kept.len(), whole, lost), (3, 10 + 305 + 4, 0));
        let (kept, whole, lost) = kept_attributes(&sent, 64);
        assert_eq!((whole, lost), (319, 309));
        assert_eq!(kept, [("_os".to_string(), "Linux".to_string()), ("_truncated".to_string(), "309".to_string())]);
        assert_eq!(kept_attributes(&sent, 0).0, []);
        assert_eq!(kept_attributes(&[(vec![0xff, b'x'], vec![])], 64).0, [("\u{fffd}x".to_string(), String::new())]);
    }
}
