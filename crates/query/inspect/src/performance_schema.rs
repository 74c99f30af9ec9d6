//! performance_schema: variables and status as tables; row locks are in `locks`.

use crate::columns::{Compute, bigint, computed, varchar};
use crate::{Context, Row, maybe, text, uint, word};
use catalog::Schema;
use std::sync::Arc;
use types::collation::CollationId;
use types::{DataType, DateTime, Result, TypeKind, Value};

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("performance_schema", CollationId::UTF8MB4_0900_AI_CI);
    let columns = [("VARIABLE_NAME", varchar(64)), ("VARIABLE_VALUE", varchar(1024))];
    let tables: [(&str, Compute); 4] = [
        ("global_variables", global_variables),
        ("persisted_variables", persisted_variables),
        ("session_variables", session_variables),
        ("global_status", global_status),
    ];
    for (name, compute) in tables {
        let table = computed(&schema.name, name, &columns, compute);
        schema.tables.insert(name.to_string(), Arc::new(table));
    }
    crate::locks::add_to_performance_schema(&mut schema);
    crate::threads::add_to_performance_schema(&mut schema);
    let locks = computed(&schema.name, "metadata_locks", &METADATA_LOCKS, metadata_locks);
    schema.tables.insert(locks.name.clone(), Arc::new(locks));
    let infos = computed(&schema.name, "variables_info", &VARIABLES_INFO, variables_info);
    schema.tables.insert(infos.name.clone(), Arc::new(infos));
    schema
}

const VARIABLES_INFO: [(&str, DataType); 8] = [
    ("VARIABLE_NAME", varchar(64)),
    ("VARIABLE_SOURCE", varchar(12)),
    ("VARIABLE_PATH", varchar(1024)),
    ("MIN_VALUE", varchar(64)),
    ("MAX_VALUE", varchar(64)),
    ("SET_TIME", DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) }),
    ("SET_USER", varchar(32)),
    ("SET_HOST", varchar(255)),
];

const METADATA_LOCKS: [(&str, DataType); 11] = [
    ("OBJECT_TYPE", varchar(64)),
    ("OBJECT_SCHEMA", varchar(64)),
    ("OBJECT_NAME", varchar(64)),
    ("COLUMN_NAME", varchar(64)),
    ("OBJECT_INSTANCE_BEGIN", bigint()),
    ("LOCK_TYPE", varchar(32)),
    ("LOCK_DURATION", varchar(32)),
    ("LOCK_STATUS", varchar(32)),
    ("SOURCE", varchar(64)),
    ("OWNER_THREAD_ID", bigint()),
    ("OWNER_EVENT_ID", bigint()),
];

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
        out.push(vec![word(info.name), word(info.source), word(""), min, max, time, user, host]);
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
