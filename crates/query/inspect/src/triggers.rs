//! Triggers: SHOW TRIGGERS, SHOW CREATE TRIGGER, TRIGGERS.

use crate::columns::{titled, varchar};
use crate::{Context, Row, Rows, text, uint, word};
use catalog::{Table, Trigger, TriggerOrder};
use sql::print::quote_name;
use std::sync::Arc;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{DataType, Result, TypeKind, Value, err};

/// The statement that makes the trigger, as SHOW CREATE and, with the schema of both names, the binary log have it.
pub fn create_text(schema: Option<&str>, trigger: &Trigger, table: &str, order: Option<&TriggerOrder>) -> String {
    let (user, host) = trigger.definer.rsplit_once('@').unwrap_or((&trigger.definer, ""));
    let definer = format!("{}@{}", quote_name(user), quote_name(host));
    let (name, on) = (quote_name(&trigger.name), quote_name(table));
    let (timing, event) = (trigger.timing(), trigger.event.word());
    let of = schema.map_or_else(String::new, |schema| quote_name(schema) + ".");
    let mut out = format!("CREATE DEFINER={definer} TRIGGER {of}{name} {timing} {event} ON {of}{on} FOR EACH ROW ");
    if let Some(order) = order {
        let word = if order.follows { "FOLLOWS" } else { "PRECEDES" };
        out += &format!("{word} {} ", quote_name(&order.other));
    }
    out + &trigger.body
}

/// Hundredths of seconds since 1970 as a TIMESTAMP.
fn moment(hundredths: u64) -> Value<'static> {
    match crate::datetime(hundredths / 100) {
        Value::DateTime(t) => Value::DateTime(types::DateTime(t.0 + hundredths % 100 * 10_000)),
        other => other,
    }
}

/// Those of a table that the session may know of, in the order in which they fire, each with its place among its like.
fn triggers_of<'t>(cx: &Context, table: &'t Table) -> Vec<(u64, &'t Arc<Trigger>)> {
    if table.triggers.is_empty() || !(cx.viewer.shows_triggers)(&table.schema, &table.name) {
        return Vec::new();
    }
    let mut all: Vec<_> = table.triggers.iter().map(|t| (0, t)).collect();
    // Those of one time keep their order.
    all.sort_by_key(|(_, t)| (t.event, !t.before));
    for at in 0..all.len() {
        let like = all[..at].iter().filter(|(_, t)| (t.event, t.before) == (all[at].1.event, all[at].1.before));
        all[at].0 = like.count() as u64 + 1;
    }
    all
}

/// SHOW CREATE TRIGGER. Errors 1227, 1360.
pub fn show_create(cx: &Context, schema: &str, name: &str) -> Result<Rows> {
    let (table, trigger) = cx.version.trigger(schema, name).ok_or_else(|| err!(ER_TRG_DOES_NOT_EXIST))?;
    if !(cx.viewer.shows_triggers)(&table.schema, &table.name) {
        return Err(err!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "TRIGGER"));
    }
    let created = DataType { decimals: 2, length: 22, ..DataType::new(TypeKind::Timestamp) };
    let columns = [
        ("Trigger", varchar(64)),
        ("sql_mode", varchar(256)),
        ("SQL Original Statement", varchar(1024)),
        ("character_set_client", varchar(32)),
        ("collation_connection", varchar(32)),
        ("Database Collation", varchar(32)),
        ("Created", created),
    ];
    let row = vec![
        text(&trigger.name),
        text(SqlMode(trigger.sql_mode).names()),
        text(create_text(None, trigger, &table.name, None)),
        text(&trigger.client_charset),
        text(&trigger.connection_collation),
        text(&trigger.database_collation),
        moment(trigger.created),
    ];
    Ok(Rows::new(&columns, vec![row]))
}

/// SHOW TRIGGERS of a schema that there is; LIKE is for the names of tables.
pub fn show(cx: &Context, schema: &str) -> Rows {
    let columns = titled(
        "TRIGGERS",
        &[
            ("Trigger", "TRIGGER_NAME"),
            ("Event", "EVENT_MANIPULATION"),
            ("Table", "EVENT_OBJECT_TABLE"),
            ("Statement", "ACTION_STATEMENT"),
            ("Timing", "ACTION_TIMING"),
            ("Created", "CREATED"),
            ("sql_mode", "SQL_MODE"),
            ("Definer", "DEFINER"),
            ("character_set_client", "CHARACTER_SET_CLIENT"),
            ("collation_connection", "COLLATION_CONNECTION"),
            ("Database Collation", "DATABASE_COLLATION"),
        ],
    );
    let tables = cx.version.schema(schema).into_iter().flat_map(|s| s.tables.values());
    let mut rows = Vec::new();
    for table in tables {
        rows.extend(triggers_of(cx, table).into_iter().map(|(_, t)| {
            vec![
                text(&t.name),
                word(t.event.word()),
                text(&table.name),
                text(&t.body),
                word(t.timing()),
                moment(t.created),
                text(SqlMode(t.sql_mode).names()),
                text(&t.definer),
                text(&t.client_charset),
                text(&t.connection_collation),
                text(&t.database_collation),
            ]
        }));
    }
    Rows { like: 2, ..Rows::new(&columns, rows) }
}

pub(crate) fn triggers(cx: &Context, table: &Arc<Table>, out: &mut Vec<Row>) -> Result<()> {
    for (place, t) in triggers_of(cx, table) {
        out.push(vec![
            word("def"),
            text(&table.schema),
            text(&t.name),
            word(t.event.word()),
            word("def"),
            text(&table.schema),
            text(&table.name),
            uint(place),
            Value::Null,
            text(&t.body),
            word("ROW"),
            word(t.timing()),
            Value::Null,
            Value::Null,
            word("OLD"),
            word("NEW"),
            moment(t.created),
            text(SqlMode(t.sql_mode).names()),
            text(&t.definer),
            text(&t.client_charset),
            text(&t.connection_collation),
            text(&t.database_collation),
        ]);
    }
    Ok(())
}
