//! Sessions as threads: `performance_schema.threads`, and `sys.schema_table_lock_waits`, which joins them with metadata locks.
//!
//! A session has no thread of its own between its commands: THREAD_ID is its connection's id, here and in `data_locks` and
//! `metadata_locks`. What belongs to a thread of the operating system is NULL, and memory is not counted by session.

use crate::columns::{bigint, computed, longtext, varchar};
use crate::figures::process_row;
use crate::{Context, Process, Row, maybe, text, uint, word};
use catalog::Schema;
use catalog::mdl::LockRow;
use std::sync::Arc;
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, Value};

/// `sys.format_statement()` shortens texts beyond so many characters, keeping so many of their start and end.
const STATEMENT_CHARS_MAX: usize = 64;
const HEAD_CHARS: usize = 30;
const TAIL_CHARS: usize = 29;

fn signed() -> DataType {
    DataType { length: 21, ..DataType::new(TypeKind::BigInt) }
}

fn nullable(t: DataType) -> DataType {
    DataType { nullable: true, ..t }
}

pub(crate) fn add_to_sys(schema: &mut Schema) {
    let account = || nullable(DataType::string(TypeKind::Text, 0, CollationId::UTF8MB4_0900_AI_CI));
    let columns = [
        ("object_schema", nullable(varchar(64))),
        ("object_name", nullable(varchar(64))),
        ("waiting_thread_id", bigint().not_null()),
        ("waiting_pid", nullable(bigint())),
        ("waiting_account", account()),
        ("waiting_lock_type", varchar(32).not_null()),
        ("waiting_lock_duration", varchar(32).not_null()),
        ("waiting_query", nullable(longtext())),
        ("waiting_query_secs", nullable(signed())),
        ("waiting_query_rows_affected", nullable(bigint())),
        ("waiting_query_rows_examined", nullable(bigint())),
        ("blocking_thread_id", bigint().not_null()),
        ("blocking_pid", nullable(bigint())),
        ("blocking_account", account()),
        ("blocking_lock_type", varchar(32).not_null()),
        ("blocking_lock_duration", varchar(32).not_null()),
        ("sql_kill_blocking_query", nullable(varchar(31))),
        ("sql_kill_blocking_connection", nullable(varchar(25))),
    ];
    let table = computed(
        &schema.name,
        "schema_table_lock_waits",
        &columns,
        crate::columns::Compute::All(schema_table_lock_waits),
    );
    schema.tables.insert(table.name.clone(), Arc::new(table));
}

/// ENUM('YES','NO')
const YES: u64 = 1;
const NO: u64 = 2;
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
            uint(YES),
            uint(NO),
            process.connection_type.map_or(Value::Null, word),
            Value::Null,
            text(USER_GROUP),
            uint(PRIMARY),
            uint(0),
            uint(0),
            uint(0),
            uint(0),
            uint(NO),
        ]);
    }
    Ok(())
}

/// As `sys.format_statement()`.
fn shortened(statement: &str) -> String {
    let characters: Vec<char> = statement.chars().map(|c| if c == '\n' { ' ' } else { c }).collect();
    if characters.len() <= STATEMENT_CHARS_MAX {
        return characters.into_iter().collect();
    }
    let head: String = characters[..HEAD_CHARS].iter().collect();
    let tail: String = characters[characters.len() - TAIL_CHARS..].iter().collect();
    format!("{head} ... {tail}")
}

/// Each wait for a table's metadata lock with each lock that is held on that table.
fn schema_table_lock_waits(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let locks = cx.source.metadata_locks();
    let processes = cx.processes();
    let process = |lock: &LockRow| processes.iter().find(|p| p.id == lock.connection);
    let of_tables = |granted| locks.iter().filter(move |l| l.name.kind() == "TABLE" && l.granted == granted);
    for waiting in of_tables(false) {
        for held in of_tables(true).filter(|held| held.name == waiting.name) {
            let (Some(waiter), Some(holder)) = (process(waiting), process(held)) else { continue };
            let account = |p: &Process| text(format!("{}@{}", p.user, host_of(p)));
            let (schema, object) = waiting.name.parts();
            out.push(vec![
                maybe(schema.map(str::to_string)),
                maybe(object.map(str::to_string)),
                uint(waiter.id),
                uint(waiter.id),
                account(waiter),
                word(waiting.mode.name()),
                word(waiting.duration.name()),
                maybe(waiter.info.as_deref().map(shortened)),
                Value::Int(waiter.time_s as i64),
                Value::Null,
                Value::Null,
                uint(holder.id),
                uint(holder.id),
                account(holder),
                word(held.mode.name()),
                word(held.duration.name()),
                text(format!("KILL QUERY {}", holder.id)),
                text(format!("KILL {}", holder.id)),
            ]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_statements_keep_their_ends() {
        assert_eq!(shortened("SELECT\n1"), "SELECT 1");
        let text = "a".repeat(40) + &"b".repeat(40);
        assert_eq!(shortened(&text), format!("{} ... {}", "a".repeat(30), "b".repeat(29)));
    }
}
