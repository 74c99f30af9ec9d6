//! The process list: each session publishes what it does in its own lane; SHOW PROCESSLIST and KILL read the lanes.

use crate::variables::CONNECTIONS_MAX;
use engine::Interrupt;
use expr::Stage;
use inspect::Process;
use protocol::HangUp;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use sync::{LaneId, Lanes, Mutex, Rank};

/// Longest statement text that the list shows, in bytes.
const INFO_BYTES_MAX: usize = 64 << 10;
/// How long a statement runs before somebody looks whether its client is still there.
const REAP_AFTER_US: u64 = 500_000;
/// Most sessions at once: those of `max_connections` and an administrator, and some whose connections are gone while they end.
const SESSIONS_MAX: usize = CONNECTIONS_MAX as usize + 1 + 10_000;
/// A thread for each of them, and the server's own.
const THREADS_MAX: usize = SESSIONS_MAX + 4096;

// `max_connections` is the one bound that a client can meet: whatever a session takes of the crates below is there for all of
// them. Of transactions a session has its own and one beside it (see `beside`), and statements that build or sample
// tables begin up to two more.
const _: () = assert!(engine::SLOTS_MAX >= 4 * SESSIONS_MAX);
const _: () = assert!(catalog::mdl::LANES >= 2 * SESSIONS_MAX);
const _: () = assert!(observe::BLOCKS_MAX >= SESSIONS_MAX + THREADS_MAX);
const _: () = assert!(sync::LANES_MAX >= THREADS_MAX);

/// What a session is doing, as the Command column says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Doing {
    Connect,
    Sleep,
    Query,
    Execute,
    Prepare,
    Fetch,
    InitDb,
    Statistics,
    ResetConnection,
    ChangeUser,
    RegisterReplica,
    BinlogDump,
    BinlogDumpGtid,
    Clone,
}

/// Ids of sessions without a client: those of connections count up from 1.
const FIRST_ID: u32 = 1 << 31;

/// The id of another one.
pub(crate) fn new_id() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(FIRST_ID);
    // Relaxed: a number of its own for each, nothing else.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

const NAMES: [&str; 14] = [
    "Connect",
    "Sleep",
    "Query",
    "Execute",
    "Prepare",
    "Fetch",
    "Init DB",
    "Statistics",
    "Reset Connection",
    "Change user",
    "Register Replica",
    "Binlog Dump",
    "Binlog Dump GTID",
    "Clone",
];

pub(crate) struct Lane {
    /// Connection id; 0: free. W: the session. R: the list, KILL.
    pub(crate) id: AtomicU64,
    /// A [`Doing`]. W: the session. R: the list.
    pub(crate) doing: AtomicU8,
    /// A [`Stage`] of what it does. W: the session. R: the list.
    pub(crate) stage: AtomicU8,
    /// When the command began, microseconds since 1970. W: the session. R: the list.
    pub(crate) since_us: AtomicU64,
    /// The prepared statement that runs, 0: none. W: the session. R: the list.
    pub(crate) statement: AtomicU32,
    /// When the statement has to end, 0: never. W: the session. R: the deadline thread.
    pub(crate) deadline_ns: AtomicU64,
    /// Its variables, attributes and counts.
    pub(crate) seen: crate::seen::Lane,
    /// What it tells Performance Schema.
    pub(crate) performance: Arc<crate::performance::Lane>,
    /// Taken by the session when a text changes, by others for the list and KILL.
    pub(crate) details: Mutex<Details>,
}

#[derive(Default)]
pub(crate) struct Details {
    pub(crate) user: String,
    pub(crate) host: String,
    pub(crate) connection_type: Option<&'static str>,
    /// What `performance_schema.threads` calls it, if it is no client's.
    pub(crate) thread: Option<&'static str>,
    pub(crate) database: Option<String>,
    pub(crate) info: Vec<u8>,
    /// The session has SYSTEM_USER.
    pub(crate) system_user: bool,
    /// The session has CONNECTION_ADMIN: it stays in offline mode.
    pub(crate) connection_admin: bool,
    /// Texts of the prepared statements, so that an execution has only an id to publish.
    pub(crate) statements: Vec<(u32, Arc<[u8]>)>,
    /// The same for `prepared_statements_instances`.
    pub(crate) instances: Vec<Arc<crate::performance::Instance>>,
    pub(crate) kill: Option<(Arc<Interrupt>, HangUp)>,
}

/// All sessions' lanes.
pub(crate) struct Processes(pub(crate) Lanes<Lane>);

impl Processes {
    pub fn new() -> Processes {
        Processes(Lanes::with(SESSIONS_MAX, || Lane {
            id: AtomicU64::new(0),
            doing: AtomicU8::new(Doing::Connect as u8),
            stage: AtomicU8::new(Stage::Starting as u8),
            since_us: AtomicU64::new(0),
            statement: AtomicU32::new(0),
            deadline_ns: AtomicU64::new(0),
            seen: crate::seen::Lane::default(),
            performance: Arc::default(),
            details: Mutex::new(Rank::Session, Details::default()),
        }))
    }

    pub fn list(&self) -> Vec<Process> {
        let now = crate::clock::clock_us();
        self.0.iter_claimed().filter_map(|(_, lane)| process(lane, None, now)).collect()
    }

    /// The session with this lane goes on to another stage; answers the one before.
    #[inline]
    pub fn stage(&self, lane: LaneId, stage: Stage) -> Stage {
        let word = &self.0.get(lane).stage;
        // Relaxed: single writer; readers want a recent figure.
        let before = word.load(Ordering::Relaxed);
        word.store(stage as u8, Ordering::Relaxed);
        self.0.get(lane).performance.go_on_far(stage);
        Stage::ALL[usize::from(before)]
    }

    /// Who the session with this lane is, and what it runs.
    pub fn told(&self, lane: LaneId) -> String {
        process(self.0.get(lane), None, crate::clock::clock_us()).map_or_else(String::new, told)
    }

    /// Who has this slot of the engine, and what it runs, for reports of deadlocks.
    pub fn tell(&self, slot: u32) -> String {
        let now = crate::clock::clock_us();
        let found = self.0.iter_claimed().find_map(|(_, lane)| process(lane, Some(slot), now));
        let Some(process) = found else { return String::new() };
        told(process)
    }

    /// Sessions that are doing something: `Threads_running`.
    pub fn running(&self) -> u64 {
        let busy = |lane: &Lane| {
            // Relaxed: a figure for the reader.
            lane.id.load(Ordering::Relaxed) != 0 && lane.doing.load(Ordering::Relaxed) != Doing::Sleep as u8
        };
        self.0.iter_claimed().filter(|(_, lane)| busy(lane)).count() as u64
    }

    /// `Threads_connected`.
    pub fn connected(&self) -> u64 {
        // Relaxed: a figure for the reader.
        self.0.iter_claimed().filter(|(_, lane)| lane.id.load(Ordering::Relaxed) != 0).count() as u64
    }

    /// The user of a connection, if there is such a connection.
    pub fn user_of(&self, id: u64) -> Option<(String, bool)> {
        // Acquire: pairs with Release in `Entry::open`.
        let (_, lane) = self.0.iter_claimed().find(|(_, lane)| lane.id.load(Ordering::Acquire) == id)?;
        let details = lane.details.lock();
        Some((details.user.clone(), details.system_user))
    }

    /// Offline mode: ends the connections that are logged in without CONNECTION_ADMIN.
    pub fn end_unprivileged(&self) {
        let list = self.list();
        for id in list.into_iter().filter(|p| p.connection_type.is_some()).map(|p| p.id) {
            // Acquire: pairs with Release in `Entry::open`.
            let found = self.0.iter_claimed().find(|(_, lane)| lane.id.load(Ordering::Acquire) == id);
            if found.is_some_and(|(_, lane)| !lane.details.lock().connection_admin) {
                self.kill(id, false);
            }
        }
    }

    /// Ends a connection, or (`query`) the statement that it runs. False: there is none.
    pub fn kill(&self, id: u64, query: bool) -> bool {
        // Acquire: pairs with Release in `Entry::open`.
        let found = self.0.iter_claimed().find(|(_, lane)| lane.id.load(Ordering::Acquire) == id);
        let Some((_, lane)) = found else { return false };
        let details = lane.details.lock();
        let Some((interrupt, hang_up)) = &details.kill else { return false };
        if query {
            interrupt.raise(1);
        } else {
            interrupt.raise(2);
            hang_up.hang_up();
        }
        true
    }

    /// The server stops: every statement that runs is interrupted.
    pub fn interrupt_all(&self) {
        for (_, lane) in self.0.iter_claimed() {
            if let Some((interrupt, _)) = &lane.details.lock().kill {
                interrupt.raise(2);
            }
        }
    }

    /// Interrupts statements that have run for a while and whose clients are gone: their locks are for nobody.
    pub fn reap(&self, now_us: u64) {
        for (_, lane) in self.0.iter_claimed() {
            // Relaxed: a hint; under the lock the connection is the one that is asked.
            let busy = lane.id.load(Ordering::Relaxed) != 0 && lane.doing.load(Ordering::Relaxed) != Doing::Sleep as u8;
            if busy && now_us.saturating_sub(lane.since_us.load(Ordering::Relaxed)) >= REAP_AFTER_US {
                let details = lane.details.lock();
                if let Some((interrupt, hang_up)) = &details.kill
                    && hang_up.is_gone()
                {
                    interrupt.raise(2);
                }
            }
        }
    }

    /// Interrupts statements whose deadline has passed.
    pub fn expire(&self, now_ns: u64) {
        for (_, lane) in self.0.iter_claimed() {
            // Relaxed: the deadline is looked at again under the lock.
            let deadline = lane.deadline_ns.load(Ordering::Relaxed);
            if deadline != 0 && deadline <= now_ns {
                let details = lane.details.lock();
                // Relaxed: `Entry::deadline` writes it under the lock.
                if lane.deadline_ns.load(Ordering::Relaxed) == deadline {
                    lane.deadline_ns.store(0, Ordering::Relaxed);
                    if let Some((interrupt, _)) = &details.kill {
                        interrupt.raise(3);
                    }
                }
            }
        }
    }
}

/// As much of a text as the list shows.
pub(crate) fn shown(text: &[u8]) -> &[u8] {
    &text[..text.len().min(INFO_BYTES_MAX)]
}

/// Is a lane's session at something?
pub(crate) fn is_busy(lane: &Lane) -> bool {
    // Relaxed: a look at moving things.
    lane.doing.load(Ordering::Relaxed) != Doing::Sleep as u8
}

/// Text and schema of the statement that a lane's session is at.
pub(crate) fn statement_of(lane: &Lane) -> (Option<String>, Option<String>) {
    // Relaxed: a look at moving things.
    let statement = lane.statement.load(Ordering::Relaxed);
    let details = lane.details.lock();
    let text = text_of(&details, statement);
    let text = (!text.is_empty()).then(|| String::from_utf8_lossy(&text[..text.len().min(1024)]).into_owned());
    (text, details.database.clone())
}

/// The text at hand, of a prepared statement or of what came as text.
fn text_of(details: &Details, statement: u32) -> &[u8] {
    match statement {
        0 => &details.info[..],
        id => details.statements.iter().find(|(i, _)| *i == id).map_or(&b""[..], |(_, text)| shown(text)),
    }
}

/// `copy to tmp table (37 %)`
fn with_progress(stage: &'static str, progress: Option<(u64, u64)>) -> Cow<'static, str> {
    match progress {
        None => stage.into(),
        Some((completed, estimated)) => {
            format!("{stage} ({} %)", u128::from(completed) * 100 / u128::from(estimated)).into()
        }
    }
}

/// What a lane's session is doing; `None` if nobody has the lane, or not the session with this `slot` of the engine.
/// Who it is and what it runs, in MySQL's words.
fn told(process: Process) -> String {
    format!("{}\n{}", inspect::monitor::thread_line(&process), process.info.unwrap_or_default())
}

fn process(lane: &Lane, slot: Option<u32>, now: u64) -> Option<Process> {
    // Acquire: pairs with Release in `Entry::open`.
    let id = lane.id.load(Ordering::Acquire);
    if id == 0 {
        return None;
    }
    // Relaxed: each figure for itself; the list is a look at moving things.
    let doing = lane.doing.load(Ordering::Relaxed);
    let stage = lane.stage.load(Ordering::Relaxed); // Relaxed: as above
    let since = lane.since_us.load(Ordering::Relaxed);
    let statement = lane.statement.load(Ordering::Relaxed);
    let details = lane.details.lock();
    let own_slot = details.kill.as_ref().map_or(u32::MAX, |(interrupt, _)| interrupt.slot());
    if slot.is_some_and(|slot| slot != own_slot) {
        return None;
    }
    let text = text_of(&details, statement);
    let busy = doing != Doing::Sleep as u8;
    Some(Process {
        id,
        user: details.user.clone(),
        host: details.host.clone(),
        connection_type: details.connection_type,
        thread: details.thread,
        database: details.database.clone(),
        command: NAMES[usize::from(doing)],
        time_s: now.saturating_sub(since) / 1_000_000,
        since_us: since,
        state: match details.kill.as_ref().and_then(|(interrupt, _)| interrupt.waits()) {
            _ if !busy => "".into(),
            Some(wait) => wait.state().unwrap_or_default().into(),
            None => with_progress(Stage::ALL[usize::from(stage)].name(), lane.performance.stages.progress()),
        },
        info: (busy && !text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned()),
        slot: own_slot,
        watched: lane.performance.answers(),
    })
}
