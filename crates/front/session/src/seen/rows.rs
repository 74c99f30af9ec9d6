//! Sessions and accounts, for who reads `performance_schema`.

use super::{Counts, Kept, SHOWN, Seen, UserVariable, add, key, shown_counts};
use crate::Server;
use crate::variables::{Scope, VARIABLES, VarId};
use inspect::{AccountSums, ConnectAttributes, GroupedBy, ThreadCounts, ThreadVariables, UserVariables};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::Value;

/// A session that is there.
struct Live {
    thread: u64,
    user: String,
    host: String,
    is_logged_in: bool,
    slot: u32,
    seen: Seen,
}

fn live(server: &Server) -> Vec<Live> {
    let mut all = Vec::new();
    for (_, lane) in server.processes.0.iter_claimed() {
        // Acquire: pairs with Release in `Entry::open`.
        let thread = lane.id.load(Ordering::Acquire);
        if thread == 0 {
            continue;
        }
        let details = lane.details.lock();
        let (user, host) = (details.user.clone(), inspect::without_port(&details.host).to_string());
        let is_logged_in = details.connection_type.is_some();
        let slot = details.kill.as_ref().map_or(u32::MAX, |(interrupt, _)| interrupt.slot());
        drop(details);
        let seen = lane.seen.0.lock().clone();
        // Relaxed: is it still the same session's?
        if lane.id.load(Ordering::Relaxed) == thread {
            all.push(Live { thread, user, host, is_logged_in, slot, seen });
        }
    }
    all.sort_by_key(|live| live.thread);
    all
}

fn named(counts: &Counts) -> Vec<(&'static str, u64)> {
    SHOWN.iter().zip(counts).map(|(counter, n)| (counter.name(), *n)).collect()
}

/// What each session has of memory, and the most that it has had.
pub(crate) fn thread_memory(server: &Server) -> Vec<(u64, u64, u64)> {
    let row = |live: Live| {
        let (bytes, highest) = live.seen.memory();
        (live.thread, bytes, highest)
    };
    live(server).into_iter().map(row).collect()
}

/// TRUNCATE of a table about memory: what was the most is counted anew.
fn forget_memory(server: &Server, by: Option<GroupedBy>) {
    match by {
        None => {
            live(server)
                .iter()
                .filter_map(|live| live.seen.memory.as_ref())
                .for_each(|account| account.forget_highest());
            sync::memory::forget_highest();
        }
        Some(by) => server.seen.groups.lock().kept[by as usize].values_mut().for_each(|kept| kept.memory_max = 0),
    }
}

pub(crate) fn thread_counts(server: &Server) -> Vec<ThreadCounts> {
    let counts = |live: Live| ThreadCounts { thread: live.thread, counts: named(&live.seen.counts()) };
    live(server).into_iter().map(counts).collect()
}

/// `own`: the slot of the session that asks, which sees what is computed for it, too.
pub(crate) fn thread_variables(server: &Server, own: u32) -> Vec<ThreadVariables> {
    let globals = server.globals.load();
    let mut all = Vec::new();
    for live in live(server) {
        let Some(variables) = live.seen.variables else { continue };
        let mut rows = Vec::new();
        for (at, variable) in VARIABLES.iter().enumerate() {
            let id = at as VarId;
            if variable.scope == Scope::Global || !globals.shows(id) {
                continue;
            }
            match variables.computed.iter().find(|(computed, _)| *computed == id) {
                Some((_, value)) if live.slot == own => rows.push((variable.name, value.clone())),
                // They change with each statement, and are not told to others.
                Some(_) => {}
                None => rows.push((variable.name, variable.print(variables.system.get(id)).into_owned())),
            }
        }
        all.push(ThreadVariables { thread: live.thread, variables: rows });
    }
    all
}

pub(crate) fn user_variables(server: &Server) -> Vec<UserVariables> {
    let mut all = Vec::new();
    for live in live(server) {
        let Some(variables) = live.seen.variables else { continue };
        let printed = |value: &UserVariable| match &value.0 {
            Value::Null => None,
            shown => {
                let mut text = Vec::new();
                shown.write_text(&value.1, &mut text);
                Some(text)
            }
        };
        let rows = variables.user.iter().map(|(name, value)| (name.clone(), printed(value))).collect();
        all.push(UserVariables { thread: live.thread, variables: rows });
    }
    all
}

pub(crate) fn connect_attributes(server: &Server) -> Vec<ConnectAttributes> {
    let row = |live: Live| ConnectAttributes {
        connection: live.thread,
        user: live.user,
        host: live.host,
        attributes: live.seen.attributes,
    };
    live(server).into_iter().filter(|live| live.is_logged_in).map(row).collect()
}

/// Sums of accounts, users or hosts.
pub(crate) fn account_sums(server: &Server, by: GroupedBy) -> Vec<AccountSums> {
    let groups = server.seen.groups.lock();
    let mut sums: BTreeMap<(String, String), (u64, u64, Kept)> =
        groups.kept[by as usize].iter().map(|(key, kept)| (key.clone(), (0, 0, *kept))).collect();
    // No session ends meanwhile: each is in one place.
    for live in live(server).iter().filter(|live| live.is_logged_in) {
        let (current, memory, kept) = sums.entry(key(by, &live.user, &live.host)).or_default();
        *current += 1;
        add(&mut kept.counts, &live.seen.counts());
        let (bytes, highest) = live.seen.memory();
        kept.memory_max = kept.memory_max.max(highest);
        *memory += bytes;
    }
    drop(groups);
    let row = |((user, host), (current, memory, kept)): (_, (u64, u64, Kept))| AccountSums {
        user,
        host,
        current,
        total: kept.total.max(current),
        counts: named(&kept.counts),
        memory_bytes: memory,
        memory_bytes_max: kept.memory_max,
    };
    sums.into_iter().map(row).collect()
}

/// TRUNCATE of one of these tables; false: it is none of them.
pub(crate) fn truncate(server: &Server, table: &str) -> bool {
    let of_memory = table.to_ascii_lowercase();
    if let Some(rest) = of_memory.strip_prefix("memory_summary_") {
        let by = GroupedBy::ALL.into_iter().find(|by| rest == by.memory_table());
        if by.is_some() || matches!(rest, "by_thread_by_event_name" | "global_by_event_name") {
            forget_memory(server, by);
            return true;
        }
    }
    let of = |by: GroupedBy| [by.table(), by.status_table()];
    if table.eq_ignore_ascii_case("status_by_thread") {
        let mut groups = server.seen.groups.lock();
        for (_, lane) in server.processes.0.iter_claimed() {
            let (user, host) = {
                let details = lane.details.lock();
                (details.user.clone(), inspect::without_port(&details.host).to_string())
            };
            let mut seen = lane.seen.0.lock();
            let Some(counts) = seen.counts.clone() else { continue };
            let since = seen.counts();
            seen.base = Some(Arc::new(shown_counts(&counts)));
            drop(seen);
            groups.add(&user, &host, &since, 0);
        }
        return true;
    }
    let Some(by) = GroupedBy::ALL.into_iter().find(|by| of(*by).iter().any(|name| table.eq_ignore_ascii_case(name)))
    else {
        return false;
    };
    let mut groups = server.seen.groups.lock();
    let kept = &mut groups.kept[by as usize];
    kept.values_mut().for_each(|kept| kept.counts = [0; SHOWN.len()]);
    if table.eq_ignore_ascii_case(by.table()) {
        kept.clear();
        for live in live(server).iter().filter(|live| live.is_logged_in) {
            kept.entry(key(by, &live.user, &live.host)).or_default().total += 1;
        }
    }
    true
}
