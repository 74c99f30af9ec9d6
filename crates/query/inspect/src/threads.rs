//! Sessions as threads: `performance_schema.threads`.
//!
//! A session has no thread of its own between its commands: THREAD_ID is its connection's id, here and in `data_locks` and
//! `metadata_locks`. What belongs to a thread of the operating system is NULL, and memory is not counted by session.

use crate::columns::{Settable, Written};
use crate::figures::process_row;
use crate::setup::{is_yes, yes_no};
use crate::{Context, Process, Row, maybe, text, uint, word};
use catalog::Changed;
use observe::watched::Answers;
use types::{Result, Value};

/// ENUM('PRIMARY','SECONDARY')
const PRIMARY: u64 = 1;

/// The resource groups that there are from the start: the one of sessions, and that of the server's own threads.
pub const RESOURCE_GROUPS: [&str; 2] = ["USR_default", "SYS_default"];
const USER_GROUP: &str = RESOURCE_GROUPS[0];
const SYSTEM_GROUP: &str = RESOURCE_GROUPS[1];

/// No group is made beside these two, which bind no thread to a processor and change no priority.
pub(crate) fn resource_groups(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let cpus = if cpus == 1 { "0".to_string() } else { format!("0-{}", cpus - 1) };
    // ENUM('SYSTEM','USER')
    let groups = [(USER_GROUP, 2), (SYSTEM_GROUP, 1)];
    out.extend(
        groups.map(|(name, kind)| vec![word(name), uint(kind), Value::Int(1), text(cpus.clone()), Value::Int(0)]),
    );
    Ok(())
}

pub(crate) fn processlist(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.processes().into_iter().map(|process| {
        let mut row = process_row(process, true);
        row.push(uint(PRIMARY));
        row
    }));
    Ok(())
}

fn host_of(process: &Process) -> &str {
    crate::without_port(&process.host)
}

pub(crate) fn threads(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    if observe::setup::is_off() {
        return Ok(());
    }
    for process in cx.processes() {
        let host = text(host_of(&process));
        out.push(vec![
            uint(process.id),
            word(process.thread.unwrap_or("thread/sql/one_connection")),
            word("FOREGROUND"),
            uint(process.id),
            text(process.user),
            host,
            maybe(process.database),
            word(process.command),
            Value::Int(process.time_s as i64),
            maybe((!process.state.is_empty()).then(|| process.state.to_string())),
            maybe(process.info),
            Value::Null,
            Value::Null,
            yes_no(process.watched.enabled),
            yes_no(process.watched.other),
            process.connection_type.map_or(Value::Null, word),
            Value::Null,
            text(USER_GROUP),
            uint(PRIMARY),
            uint(0),
            uint(0),
            uint(0),
            uint(0),
            yes_no(false),
        ]);
    }
    Ok(())
}

pub(crate) const THREADS_WRITTEN: Written = Written {
    update: Some(Settable { columns: &["INSTRUMENTED", "HISTORY"], update: update_thread }),
    ..Written::NOTHING
};

fn update_thread(cx: &Context, row: &Changed<'_>) -> Result<()> {
    let (instrumented, history) = (&row.new[13], &row.new[14]);
    cx.source.watch(row.old[0].to_u64(), Answers { enabled: is_yes(instrumented), other: is_yes(history) });
    Ok(())
}
