//! Statements' records and sums, for who reads `performance_schema`.

use super::stage::word as of_stage;
use super::sums::Sums;
use super::transaction::{bit as of_transaction_bits, word as of_transaction};
use super::{Lane, bit, word};
use crate::Server;
use expr::Stage;
use inspect::{PreparedInstance, SessionSums, StageEvent, StatementEvent, TransactionEvent};
use observe::digests::Place;
use observe::forgotten::{self, Events};
use observe::instrument::InstrumentId;
use observe::setup;
use observe::{FIGURES, FIRST_RARE, Figures};
use std::sync::atomic::Ordering;
use sync::{Record, Records, RecordsMemory};

/// Is an event shown, which has ended or not, and was timed or not?
fn is_shown(events: Events, history: bool, end_event_id: Option<u64>, timer: Option<(u64, u64)>) -> bool {
    forgotten::is_shown(events, history, end_event_id.and(timer).map(|(_, ended_ns)| ended_ns))
}

/// Nanoseconds from the server's begin to a moment, which is given in microseconds since 1970.
fn since_start_ns(us: u64) -> u64 {
    let ago_us = crate::clock::clock_us().saturating_sub(us);
    observe::clock::now_ns().saturating_sub(ago_us.saturating_mul(1000))
}

/// The record of a session's statement that is over, in the terms of the tables.
fn event(thread: u64, record: &Record<{ word::COUNT }>) -> StatementEvent {
    let words = &record.words;
    let bits = words[word::BITS];
    let mut rest = &record.text[..];
    let mut part = |shift: u32, has: bool| {
        let bytes = (words[word::TEXTS] >> shift & 0xffff) as usize;
        let (text, after) = rest.split_at(bytes.min(rest.len()));
        rest = after.get(bytes.next_multiple_of(8) - bytes..).unwrap_or_default();
        has.then(|| String::from_utf8_lossy(text).into_owned())
    };
    let text = part(0, words[word::TEXTS] & bit::HAS_TEXT != 0);
    let schema = part(16, bits & bit::HAS_SCHEMA != 0);
    let message = part(32, bits & bit::HAS_MESSAGE != 0);
    let object = words[word::OBJECT];
    let mut named = |shift: u32| {
        let bytes = (object >> shift & 0xffff) as usize;
        let (text, after) = rest.split_at(bytes.min(rest.len()));
        rest = after.get(bytes.next_multiple_of(8) - bytes..).unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    };
    let (of_schema, name) = (named(0), named(16));
    let object = match object >> 32 {
        0 => None,
        1 => Some(("PROCEDURE", of_schema, name)),
        2 => Some(("EVENT", of_schema, name)),
        3 => Some(("FUNCTION", of_schema, name)),
        _ => Some(("TRIGGER", of_schema, name)),
    };
    let known = if bits & bit::HAS_RARE != 0 { FIGURES } else { FIRST_RARE };
    let figures = Figures(std::array::from_fn(|at| if at < known { words[word::FIGURES_FROM + at] } else { 0 }));
    let sqlstate = (0..5).rev().map(|at| (words[word::ERROR] >> (16 + 8 * at)) as u8).collect::<Vec<u8>>();
    let began_ns = since_start_ns(words[word::BEGAN_US]);
    StatementEvent {
        thread,
        event_id: words[word::EVENT_ID],
        end_event_id: Some(words[word::END_EVENT_ID]),
        class: InstrumentId::from_index((bits & 0xffff) as usize),
        timer: (bits & bit::TIMED != 0).then_some((began_ns, began_ns + words[word::TOOK])),
        text,
        digest: observe::digests::digest_at(Place::from_word(words[word::DIGEST]), |d| (d.hash, d.text.to_string())),
        schema,
        error: words[word::ERROR] as u16,
        sqlstate: match (bits & bit::HAS_STATE != 0, words[word::ERROR]) {
            (false, _) => None,
            (true, 0) => Some("00000".to_string()),
            (true, _) => Some(String::from_utf8_lossy(&sqlstate).into_owned()),
        },
        message,
        figures,
        statement_id: words[word::STATEMENT_ID],
        nesting: (words[word::NESTING] != 0).then_some(words[word::NESTING]),
        level: (bits >> bit::LEVEL & bit::LEVEL_MAX) as u32,
        object,
    }
}

/// The statement that a session is at: what the process list knows of it.
fn running(thread: u64, lane: &crate::process::Lane, event_id: u64, class: usize) -> StatementEvent {
    // Relaxed: a figure for itself.
    let began_ns = since_start_ns(lane.since_us.load(Ordering::Relaxed));
    let (text, schema) = crate::process::statement_of(lane);
    StatementEvent {
        thread,
        event_id,
        end_event_id: None,
        class: InstrumentId::from_index(class),
        timer: Some((began_ns, observe::clock::now_ns())),
        text,
        digest: None,
        schema,
        error: 0,
        sqlstate: None,
        message: None,
        figures: Figures::default(),
        statement_id: 0,
        nesting: None,
        level: 0,
        object: None,
    }
}

/// Statements of all sessions that are there: the last one of each, or those that are kept and over.
pub(crate) fn statement_events(server: &Server, history: bool) -> Vec<StatementEvent> {
    let mut events = Vec::new();
    for (_, lane) in server.processes.0.iter_claimed() {
        // Acquire: pairs with Release in `Entry::open`.
        let thread = lane.id.load(Ordering::Acquire);
        let Some(records) = lane.performance.records.get().filter(|_| thread != 0) else { continue };
        // Relaxed: a figure for the reader.
        let at_hand = lane.performance.statement.load(Ordering::Relaxed);
        let (newest, class) = (at_hand >> 16, (at_hand & 0xffff) as usize);
        let mut chosen: Vec<_> =
            chosen(records, history, word::EVENT_ID, word::END_EVENT_ID).iter().map(|r| event(thread, r)).collect();
        // A session that sleeps is at no statement, whatever became of its last one.
        let is_busy = crate::process::is_busy(lane);
        if history {
            chosen.drain(..chosen.len().saturating_sub(setup::history(Events::Statements)));
        }
        if !history && is_busy && chosen.last().is_none_or(|last| last.event_id < newest) && newest > 0 {
            chosen = vec![running(thread, lane, newest, class)];
        }
        // Relaxed: is it still the same session's?
        if lane.id.load(Ordering::Relaxed) == thread {
            events.extend(chosen);
        }
    }
    events.retain(|e| is_shown(Events::Statements, history, e.end_event_id, e.timer));
    events
}

/// Transactions of all sessions that are there: the last one of each, or those that are kept and over. Those of one statement alone
/// stand in its record.
pub(crate) fn transaction_events(server: &Server, history: bool) -> Vec<TransactionEvent> {
    let mut events = Vec::new();
    for (_, lane) in server.processes.0.iter_claimed() {
        // Acquire: pairs with Release in `Entry::open`.
        let thread = lane.id.load(Ordering::Acquire);
        if thread == 0 {
            continue;
        }
        let (now_ns, mut found) = (observe::clock::now_ns(), Vec::new());
        if let Some(records) = lane.performance.transactions.get() {
            let chosen = chosen(records, history, of_transaction::EVENT_ID, of_transaction::END_EVENT_ID);
            found.extend(chosen.iter().map(|record| transaction(thread, now_ns, &record.words)));
        }
        if let Some(records) = lane.performance.records.get() {
            let chosen = chosen(records, true, word::EVENT_ID, word::END_EVENT_ID);
            found.extend(
                chosen.iter().filter_map(|record| alone(&record.words)).map(|w| transaction(thread, now_ns, &w)),
            );
        }
        found.sort_by_key(|event| event.event_id);
        let wanted = if history { setup::history(Events::Transactions) } else { 1 };
        found.drain(..found.len().saturating_sub(wanted));
        // Relaxed: is it still the same session's?
        if lane.id.load(Ordering::Relaxed) == thread {
            events.extend(found);
        }
    }
    events.retain(|e| is_shown(Events::Transactions, history, e.end_event_id, e.timer));
    events
}

/// The transaction of a statement alone, as it would have been recorded.
fn alone(statement: &[u64; word::COUNT]) -> Option<[u64; of_transaction::COUNT]> {
    let told = statement[word::TRANSACTION];
    let mut words = [0; of_transaction::COUNT];
    words[of_transaction::EVENT_ID] = statement[word::EVENT_ID] + (told & 0xffff_ffff);
    words[of_transaction::END_EVENT_ID] = statement[word::END_EVENT_ID];
    words[of_transaction::BITS] = told >> 32;
    words[of_transaction::BEGAN_US] = statement[word::BEGAN_US];
    words[of_transaction::TOOK] = statement[word::TOOK];
    words[of_transaction::NESTING] = statement[word::EVENT_ID];
    (told != 0).then_some(words)
}

fn transaction(thread: u64, now_ns: u64, words: &[u64; of_transaction::COUNT]) -> TransactionEvent {
    let (bits, savepoints) = (words[of_transaction::BITS], words[of_transaction::SAVEPOINTS]);
    let is_over = words[of_transaction::END_EVENT_ID] != 0;
    let has = |bit: u64| bits & bit != 0;
    let began = match words[of_transaction::BEGAN_US] {
        // It began with the statement that runs.
        0 => now_ns,
        us => since_start_ns(us),
    };
    let ended = if is_over { began + words[of_transaction::TOOK] } else { now_ns };
    TransactionEvent {
        thread,
        event_id: words[of_transaction::EVENT_ID],
        end_event_id: is_over.then_some(words[of_transaction::END_EVENT_ID]),
        rolled_back: has(of_transaction_bits::ROLLED_BACK),
        timer: (!is_over || has(of_transaction_bits::TIMED)).then_some((began, ended)),
        read_only: has(of_transaction_bits::READ_ONLY),
        isolation: (bits >> of_transaction_bits::ISOLATION) as u8,
        autocommit: has(of_transaction_bits::AUTOCOMMIT),
        savepoints: [0, 21, 42].map(|shift| savepoints >> shift & ((1 << 21) - 1)),
        nesting: words[of_transaction::NESTING],
    }
}

/// Stages of all sessions that are there: the one that each is in, or those that are kept and over.
pub(crate) fn stage_events(server: &Server, history: bool) -> Vec<StageEvent> {
    let mut events = Vec::new();
    for (_, lane) in server.processes.0.iter_claimed() {
        // Acquire: pairs with Release in `Entry::open`.
        let thread = lane.id.load(Ordering::Acquire);
        let Some(records) = lane.performance.stages.records().filter(|_| thread != 0) else { continue };
        let mut chosen = chosen(records, history, of_stage::EVENT_ID, of_stage::END_EVENT_ID);
        if !history {
            // A stage that is over is not current.
            chosen.retain(|record| record.words[of_stage::END_EVENT_ID] == 0);
        }
        let (now_ns, progress) = (observe::clock::now_ns(), lane.performance.stages.progress());
        // Relaxed: is it still the same session's?
        if lane.id.load(Ordering::Relaxed) == thread {
            events.extend(chosen.iter().map(|record| stage(thread, now_ns, progress, &record.words)));
        }
    }
    events.retain(|e| is_shown(Events::Stages, history, e.end_event_id, e.timer));
    events
}

fn stage(thread: u64, now_ns: u64, progress: Option<(u64, u64)>, words: &[u64; of_stage::COUNT]) -> StageEvent {
    let is_over = words[of_stage::END_EVENT_ID] != 0;
    let ended = if is_over { words[of_stage::ENDED] } else { now_ns };
    let stage = Stage::ALL[words[of_stage::STAGE] as usize % Stage::ALL.len()];
    StageEvent {
        thread,
        event_id: words[of_stage::EVENT_ID],
        end_event_id: is_over.then_some(words[of_stage::END_EVENT_ID]),
        class: super::instrument_of(stage),
        timer: (words[of_stage::TIMED] != 0).then_some((words[of_stage::BEGAN], ended)),
        progress: progress.filter(|_| !is_over),
        nesting: words[of_stage::NESTING],
    }
}

/// The last record of a session, or those that are kept and over, by their numbers.
fn chosen<const WORDS: usize>(
    records: &Records<WORDS>,
    history: bool,
    event_id: usize,
    end_event_id: usize,
) -> Vec<Record<WORDS>> {
    let (current, mut kept) = (records.current(), records.history());
    kept.sort_by_key(|record| record.words[event_id]);
    kept.dedup_by_key(|record| record.words[event_id]);
    match history {
        true => kept.into_iter().filter(|r| r.words[end_event_id] != 0).collect(),
        // The slot that was freed last holds what was there before.
        false => current.into_iter().chain(kept).max_by_key(|r| r.words[event_id]).into_iter().collect(),
    }
}

/// Sums of sessions that are there, and of those that have ended by account.
pub(crate) fn session_sums(server: &Server) -> Vec<SessionSums> {
    if setup::is_off() {
        return Vec::new();
    }
    let consumers = setup::consumers();
    let groups = std::cell::RefCell::new(Vec::<SessionSums>::new());
    let ended = |user: &str, host: &str, sums: &Sums| {
        let classes = sums.classes.iter().map(|(class, t)| (InstrumentId::from_index(usize::from(*class)), *t));
        groups.borrow_mut().push(SessionSums {
            thread: None,
            user: user.to_string(),
            host: host.to_string(),
            statements: classes.collect(),
            transactions: sums.transactions,
            errors: sums.errors.iter().map(|(code, totals)| (*code, *totals)).collect(),
            stages: sums.stages.iter().map(|(class, t)| (InstrumentId::from_index(usize::from(*class)), *t)).collect(),
        });
    };
    let live = || {
        for (_, lane) in server.processes.0.iter_claimed() {
            // Acquire: pairs with Release in `Entry::open`.
            let thread = lane.id.load(Ordering::Acquire);
            if thread == 0 {
                continue;
            }
            let (user, host) = account_of(lane);
            let statements = lane.performance.sums.totals(consumers).collect();
            let transactions = lane.performance.transaction_sums.totals(consumers);
            let stages = lane.performance.stages.totals(consumers).collect();
            let errors = lane.performance.errors.totals().collect();
            let thread = Some(thread);
            groups.borrow_mut().push(SessionSums { thread, user, host, statements, transactions, stages, errors });
        }
    };
    server.ended.read(ended, live);
    groups.into_inner()
}

/// User and host without a port.
fn account_of(lane: &crate::process::Lane) -> (String, String) {
    let details = lane.details.lock();
    (details.user.clone(), inspect::without_port(&details.host).to_string())
}

impl Lane {
    /// The session ends: what it has counted is its account's.
    pub fn close(&self, server: &Server, user: &str, host: &str) {
        server.ended.take(self, user, inspect::without_port(host));
    }
}

/// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: the records of all sessions, also of those that have ended and left them to the next ones.
pub(crate) fn memory(server: &Server) -> Vec<(String, u64)> {
    let processes = &server.processes.0;
    let mut kinds = [
        ("events_statements_history", RecordsMemory::default()),
        ("events_transactions_history", RecordsMemory::default()),
        ("events_stages_history", RecordsMemory::default()),
        ("events_waits_history", observe::waits::events_memory()),
    ];
    for lane in processes.iter_below(processes.high_water()) {
        let lane = &lane.performance;
        let memory = [
            lane.records.get().map(Records::memory),
            lane.transactions.get().map(Records::memory),
            lane.stages.records().map(Records::memory),
        ];
        kinds.iter_mut().zip(memory).for_each(|((_, sum), memory)| sum.merge(memory.unwrap_or_default()));
    }
    let all = kinds.iter().map(|(_, memory)| memory.bytes).sum();
    let rows = kinds.into_iter().flat_map(|(name, memory)| {
        [
            (format!("{name}.size"), memory.slot_bytes),
            (format!("{name}.count"), memory.slots),
            (format!("{name}.memory"), memory.bytes),
        ]
    });
    rows.chain([("performance_schema.memory".to_string(), all)]).collect()
}

/// The prepared statements of all sessions.
pub(crate) fn prepared_instances(server: &Server) -> Vec<PreparedInstance> {
    let mut rows = Vec::new();
    for (_, lane) in server.processes.0.iter_claimed() {
        // Acquire: pairs with Release in `Entry::open`.
        let thread = lane.id.load(Ordering::Acquire);
        if thread != 0 {
            rows.extend(lane.details.lock().instances.iter().map(|instance| instance.row(thread)));
        }
    }
    rows
}
