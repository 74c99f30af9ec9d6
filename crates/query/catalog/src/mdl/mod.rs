//! Metadata locks: what keeps statements and data definition apart, and LOCK TABLES, FLUSH TABLES WITH READ LOCK, LOCK INSTANCE
//! FOR BACKUP and GET_LOCK besides.
//!
//! ```text
//!   lane of session 7:  | t12 SR | t40 SW | 0 | ... | global IX | commit IX | notify |   two cache lines of its own
//!
//!   statement (SR, SW)                           strong request (SU, SRO, SNW, SNRW, X; S on a scope)
//!   ------------------                           ----------------------------------------------------
//!   word := t12 SR                               queue of t12, under the mutex: enter; gate(t12) := shut
//!   fence SeqCst            <- these pair ->     fence SeqCst
//!   gate(t12) open?  run                         a lane with t12 in conflict?  none: granted
//!               shut?  take the word back,                                     else: its notify := 1, wait
//!                      enter the queue
//! ```
//!
//! One of the two sees the other: either the statement finds the gate shut, or the strong request finds the word. So a
//! statement writes its own lane, reads a gate that only DDL writes, and that is all. Words are freed when the transaction
//! ends; then the session looks at its own `notify`, with the same pairing, and tells the queues if somebody waits.
//!
//! What is not on the fast path goes through one mutex ([`queue`]): strong requests, and weak ones that met a shut gate. Who
//! waits behind whom is [`Mode::waits_behind`]. Waits end by grant, `lock_wait_timeout` (1205), KILL (1317), `max_execution_time`
//! (3024), or as victim of the engine's deadlock search (1213), which knows them as [`engine::ForeignWait`]: cycles through
//! metadata and row locks are found as one graph.

mod lane;
mod mode;
mod name;
mod queue;
mod session;
#[cfg(test)]
mod tests;
mod wait;

pub use mode::{Duration, Mode};
pub use name::{Name, Pin};
pub use session::{MetadataPins, Ticket, Waiting};

use lane::{Gates, Lane};
use name::Weak;
use queue::{Queues, View};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use sync::{LaneId, Lanes, Mutex, Rank};

/// Most holders of metadata locks at once: a session is one, and another one when it has locks of GET_LOCK.
pub const LANES: usize = 1 << 18;

/// All metadata locks of a server.
#[derive(Debug)]
pub struct MetadataLocks {
    lanes: Lanes<Lane>,
    gates: Gates,
    queues: Mutex<Queues>,
    /// What a lane's words for the two scopes say.
    global_word: u64,
    commit_word: u64,
}

/// A lock as `performance_schema.metadata_locks` shows it.
#[derive(Clone, Debug)]
pub struct LockRow {
    pub name: Arc<Name>,
    pub mode: Mode,
    pub duration: Duration,
    pub granted: bool,
    /// The connection that holds it or waits for it.
    pub connection: u64,
    /// Tells one lock from another.
    pub instance: u64,
}

/// The duration as MySQL shows it: what LOCK TABLES took is a transaction's there.
fn shown(name: &Name, ticket: &queue::Ticket) -> Duration {
    match (name, ticket.mode, ticket.duration) {
        (Name::Table(..) | Name::Schema(_), _, Duration::Explicit) => Duration::Transaction,
        (Name::Global, Mode::IntentionExclusive, Duration::Explicit) => Duration::Statement,
        (Name::BackupLock, Mode::IntentionExclusive, Duration::Explicit) => Duration::Transaction,
        (.., duration) => duration,
    }
}

impl Default for MetadataLocks {
    fn default() -> MetadataLocks {
        MetadataLocks {
            lanes: Lanes::new(LANES),
            gates: Gates::new(),
            queues: Mutex::new(Rank::MetadataLocks, Queues::new()),
            global_word: Name::Global.key() | Weak::Intention as u64,
            commit_word: Name::Commit.key() | Weak::Intention as u64,
        }
    }
}

impl MetadataLocks {
    fn view(&self) -> View<'_> {
        View { lanes: &self.lanes, gates: &self.gates }
    }

    /// `max_write_lock_count`: after so many strong locks in a row on one object, granted while weak requests waited, weak ones
    /// go first.
    pub fn set_write_lock_max(&self, count: u64) {
        self.queues.lock().strong_in_row_max = count;
    }

    /// A session's lane was asked to tell that it has freed words.
    #[cold]
    fn freed(&self, lane: LaneId) {
        let mut queues = self.queues.lock();
        self.lanes.get(lane).pins.noticed();
        queues.grant_all(self.view());
    }

    fn connection(&self, lane: LaneId) -> u64 {
        // Relaxed: a figure for the reader.
        self.lanes.get(lane).connection.load(Ordering::Relaxed)
    }

    /// Who waits now, and for what: connection ids with the text that PROCESSLIST shows.
    pub fn waits(&self) -> Vec<(u64, &'static str)> {
        let queues = self.queues.lock();
        let waiting = queues.iter().flat_map(|q| q.waiting.iter().map(|t| (t.owner, q.name.wait_state())));
        waiting.map(|(owner, state)| (self.connection(owner), state)).collect()
    }

    /// The connection that holds a user-level lock.
    pub fn user_lock_owner(&self, name: &str) -> Option<u64> {
        let queues = self.queues.lock();
        let ticket = queues.get(&Name::User(name.into()))?.granted.first()?;
        Some(self.connection(ticket.owner))
    }

    /// All locks, held and asked for. `names` are those of tables and routines that the words in lanes may stand for.
    pub fn list(&self, names: impl Iterator<Item = Name>) -> Vec<LockRow> {
        let names = names.chain([Name::Global, Name::Commit]);
        let names: HashMap<u64, Arc<Name>> = names.map(|name| (name.key(), Arc::new(name))).collect();
        let mut rows = Vec::new();
        for (id, lane) in self.lanes.iter_claimed() {
            for (at, word) in lane.pins.words() {
                let weak = Weak::of_word(word).expect("a word in use has a mode");
                // What came after the caller looked at the dictionary is left out.
                let Some(name) = names.get(&(word & !3)) else { continue };
                let duration = match at {
                    lane::GLOBAL => Duration::Statement,
                    lane::COMMIT => Duration::Explicit,
                    _ => Duration::Transaction,
                };
                let instance = (id.index() as u64) << 8 | at as u64;
                let (mode, name, connection) = (weak.mode_on(name), Arc::clone(name), self.connection(id));
                rows.push(LockRow { name, mode, duration, granted: true, connection, instance });
            }
        }
        let queues = self.queues.lock();
        // MySQL's locks of rows that are not transactional are no metadata locks.
        for queue in queues.iter().filter(|q| !matches!(*q.name, Name::Rows(..))) {
            for (ticket, granted) in
                queue.granted.iter().map(|t| (t, true)).chain(queue.waiting.iter().map(|t| (t, false)))
            {
                rows.push(LockRow {
                    name: Arc::clone(&queue.name),
                    mode: ticket.mode,
                    duration: shown(&queue.name, ticket),
                    granted,
                    connection: self.connection(ticket.owner),
                    instance: 1 << 40 | ticket.number,
                });
            }
        }
        rows
    }
}
