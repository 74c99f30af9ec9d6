//! performance_schema: variables and status as tables; row locks are in `locks`, sessions in `threads`. Names and types of the
//! columns stand in `performance_schema.txt`.

use crate::columns::Compute::All;
use crate::columns::{Compute, PERFORMANCE_SCHEMA};
use crate::{Context, Row, locks, maybe, text, threads, uint, word};
use catalog::Schema;
use types::collation::CollationId;
use types::{DateTime, Result, Value};

/// Rows by table; the others are of what the server does not have.
const COMPUTED: &[(&str, Compute)] = &[
    ("data_locks", All(locks::data_locks)),
    ("data_lock_waits", All(locks::data_lock_waits)),
    ("global_status", All(global_status)),
    ("global_variables", All(global_variables)),
    ("metadata_locks", All(metadata_locks)),
    ("persisted_variables", All(persisted_variables)),
    ("processlist", All(threads::processlist)),
    ("session_status", All(session_status)),
    ("session_variables", All(session_variables)),
    ("threads", All(threads::threads)),
    ("variables_info", All(variables_info)),
];

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("performance_schema", CollationId::UTF8MB4_0900_AI_CI);
    PERFORMANCE_SCHEMA.add_to(&mut schema, COMPUTED);
    schema
}

/// Threads are known by their connection's id.
fn metadata_locks(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for lock in cx.source.metadata_locks() {
        let (schema, object) = lock.name.parts();
        out.push(vec![
            word(lock.name.kind()),
            maybe(schema.map(str::to_string)),
            maybe(object.map(str::to_string)),
            Value::Null,
            uint(lock.instance),
            word(lock.mode.name()),
            word(lock.duration.name()),
            word(if lock.granted { "GRANTED" } else { "PENDING" }),
            word(""),
            uint(lock.connection),
            Value::Null,
        ]);
    }
    Ok(())
}

fn global_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.global_variables().into_iter().map(|(name, value)| vec![word(name), text(value)]));
    Ok(())
}

fn persisted_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.persisted_variables().into_iter().map(|(name, value)| vec![word(name), text(value)]));
    Ok(())
}

fn variables_info(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for info in cx.source.variable_infos() {
        let (user, host, time) = match info.set_by {
            Some((user, host, us)) => {
                let time = DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32);
                (text(user), text(host), time.map_or(Value::Null, Value::DateTime))
            }
            None => (Value::Null, Value::Null, Value::Null),
        };
        let (min, max) = (text(info.min), text(info.max));
        out.push(vec![word(info.name), uint(info.source as u64), word(""), min, max, time, user, host]);
    }
    Ok(())
}

fn session_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.session_variables.iter().map(|(name, value)| vec![word(name), text(value.clone())]));
    Ok(())
}

fn global_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.status().into_iter().map(|(name, value)| vec![text(name), text(value)]));
    Ok(())
}

fn session_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.session_status().into_iter().map(|(name, value)| vec![text(name), text(value)]));
    Ok(())
}
