//! `setup_*` of `performance_schema`: what is collected, and how it is changed. What they show lives in `observe`.

use crate::columns::{Settable, Written};
use crate::{Context, Row, text, uint, word};
use catalog::Changed;
use observe::instrument::{ALL, InstrumentId};
use observe::setup::{self, Consumer};
use observe::watched::{ACTORS, Answers, OBJECTS, Refused, THREADS, Watched};
use types::codes::*;
use types::{Result, Value, err};

/// ENUM('YES','NO')
pub(crate) fn yes_no(yes: bool) -> Value<'static> {
    uint(if yes { 1 } else { 2 })
}

/// A value of ENUM('YES','NO') in a row that is written.
pub(crate) fn is_yes(value: &Value<'_>) -> bool {
    *value == Value::UInt(1)
}

/// ENUM of OBJECT_TYPE
const OBJECT_TYPES: [&str; 5] = ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"];

pub(crate) const CONSUMERS: Written =
    Written { update: Some(Settable { columns: &["ENABLED"], update: update_consumer }), ..Written::NOTHING };
pub(crate) const INSTRUMENTS: Written = Written {
    update: Some(Settable { columns: &["ENABLED", "TIMED", "FLAGS"], update: update_instrument }),
    ..Written::NOTHING
};
pub(crate) const SETUP_THREADS: Written = Written {
    update: Some(Settable { columns: &["ENABLED", "HISTORY"], update: update_setup_thread }),
    ..Written::NOTHING
};
pub(crate) const ACTORS_WRITTEN: Written = Written {
    update: Some(Settable { columns: &["ENABLED", "HISTORY"], update: update_actor }),
    insert: Some(insert_actor),
    delete: Some(delete_actor),
    truncate: Some(truncate_actors),
};
pub(crate) const OBJECTS_WRITTEN: Written = Written {
    update: Some(Settable { columns: &["ENABLED", "TIMED"], update: update_object }),
    insert: Some(insert_object),
    delete: Some(delete_object),
    truncate: Some(truncate_objects),
};
/// Nothing is exported to telemetry: these have no rows.
pub(crate) const LOGGERS: Written =
    Written { update: Some(Settable { columns: &["LEVEL"], update: no_row }), ..Written::NOTHING };
pub(crate) const METERS: Written =
    Written { update: Some(Settable { columns: &["FREQUENCY", "ENABLED"], update: no_row }), ..Written::NOTHING };

fn no_row(_: &Context, _: &Changed<'_>) -> Result<()> {
    Ok(())
}

pub(crate) fn consumers(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    if setup::is_off() {
        return Ok(());
    }
    let on = setup::consumers();
    out.extend(Consumer::ALL.iter().map(|&consumer| vec![word(consumer.name()), yes_no(on.has(consumer))]));
    Ok(())
}

fn update_consumer(_: &Context, row: &Changed<'_>) -> Result<()> {
    let name = name(&row.old[0]);
    let consumer = Consumer::ALL.iter().find(|consumer| consumer.name() == name);
    if let Some(&consumer) = consumer {
        setup::set_consumer(consumer, is_yes(&row.new[1]));
    }
    Ok(())
}

pub(crate) fn instruments(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    if setup::is_off() {
        return Ok(());
    }
    let mut rows: Vec<usize> = (0..ALL.len()).collect();
    rows.sort_by_key(|&at| ALL[at].name);
    for at in rows {
        let instrument = &ALL[at];
        let flags = setup::flags(InstrumentId::from_index(at));
        out.push(vec![
            word(instrument.name),
            yes_no(flags.is_enabled()),
            instrument.timed.map_or(Value::Null, |_| yes_no(flags.is_timed())),
            word(instrument.properties),
            instrument.flags.map_or(Value::Null, word),
            Value::Int(instrument.volatility.into()),
            Value::Null,
        ]);
    }
    Ok(())
}

fn update_instrument(_: &Context, row: &Changed<'_>) -> Result<()> {
    let name = name(&row.old[0]);
    let Some(id) = observe::instrument::find(&name) else { return Ok(()) };
    // One without a duration has no TIMED.
    let timed = id.instrument().timed.is_some() && is_yes(&row.new[2]);
    setup::set_instrument(id, is_yes(&row.new[1]), timed);
    Ok(())
}

pub(crate) fn setup_threads(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    if setup::is_off() {
        return Ok(());
    }
    out.extend(THREADS.iter().map(|class| {
        let answers = class.answers();
        let properties = word(class.properties);
        vec![word(class.name), yes_no(answers.enabled), yes_no(answers.other), properties, Value::Int(0), Value::Null]
    }));
    Ok(())
}

fn update_setup_thread(_: &Context, row: &Changed<'_>) -> Result<()> {
    let name = name(&row.old[0]);
    let class = THREADS.iter().find(|class| class.name == name);
    class.into_iter().for_each(|class| class.set(answers(&row.new[1..])));
    Ok(())
}

/// ENABLED, and HISTORY or TIMED behind it.
fn answers(values: &[Value<'_>]) -> Answers {
    Answers { enabled: is_yes(&values[0]), other: is_yes(&values[1]) }
}

fn name(value: &Value<'_>) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

/// Errors 1022, 1114.
fn insert(watched: &Watched, table: &str, key: [&str; 3], answers: Answers) -> Result<()> {
    watched.insert(key, answers).map_err(|refused| match refused {
        Refused::Duplicate => err!(ER_DUP_KEY, table),
        Refused::Full => err!(ER_RECORD_FILE_FULL, table),
    })
}

pub(crate) fn actors(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(ACTORS.rows().into_iter().map(|(key, answers)| {
        let mut row: Row = key.into_iter().map(text).collect();
        row.extend([yes_no(answers.enabled), yes_no(answers.other)]);
        row
    }));
    Ok(())
}

/// HOST, USER, ROLE
fn actor_key(row: &[Value<'_>]) -> [String; 3] {
    [name(&row[0]).to_ascii_lowercase(), name(&row[1]), name(&row[2])]
}

fn borrowed(key: &[String; 3]) -> [&str; 3] {
    [&key[0], &key[1], &key[2]]
}

fn update_actor(_: &Context, row: &Changed<'_>) -> Result<()> {
    ACTORS.update(borrowed(&actor_key(row.old)), answers(&row.new[3..]));
    Ok(())
}

fn insert_actor(_: &Context, row: &[Value<'_>]) -> Result<()> {
    insert(&ACTORS, "setup_actors", borrowed(&actor_key(row)), answers(&row[3..]))
}

fn delete_actor(_: &Context, row: &[Value<'_>]) -> Result<()> {
    ACTORS.delete(borrowed(&actor_key(row)));
    Ok(())
}

fn truncate_actors(_: &Context) -> Result<()> {
    ACTORS.clear();
    Ok(())
}

pub(crate) fn objects(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(OBJECTS.rows().into_iter().map(|(key, answers)| {
        let mut row: Row = key.into_iter().map(text).collect();
        row.extend([yes_no(answers.enabled), yes_no(answers.other)]);
        row
    }));
    Ok(())
}

/// OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME
fn object_key(row: &[Value<'_>]) -> [String; 3] {
    let kind = match row[0] {
        Value::UInt(n) => OBJECT_TYPES[(n as usize).clamp(1, OBJECT_TYPES.len()) - 1],
        _ => "",
    };
    [kind.to_string(), name(&row[1]), name(&row[2])]
}

fn update_object(_: &Context, row: &Changed<'_>) -> Result<()> {
    OBJECTS.update(borrowed(&object_key(row.old)), answers(&row.new[3..]));
    Ok(())
}

fn insert_object(_: &Context, row: &[Value<'_>]) -> Result<()> {
    insert(&OBJECTS, "setup_objects", borrowed(&object_key(row)), answers(&row[3..]))
}

fn delete_object(_: &Context, row: &[Value<'_>]) -> Result<()> {
    OBJECTS.delete(borrowed(&object_key(row)));
    Ok(())
}

fn truncate_objects(_: &Context) -> Result<()> {
    OBJECTS.clear();
    Ok(())
}

/// The rows that `setup_actors` and `setup_objects` have at the start, as many as there may be of each.
pub fn start(actors_max: usize, objects_max: usize) {
    let (yes, no) = (Answers::YES, Answers::default());
    ACTORS.start(&[(["%", "%", "%"], yes)], actors_max);
    let schemas = [("mysql", no), ("performance_schema", no), ("information_schema", no), ("%", yes)];
    let rows = OBJECT_TYPES.iter().flat_map(|kind| schemas.map(|(schema, answers)| ([*kind, schema, "%"], answers)));
    OBJECTS.start(&rows.collect::<Vec<_>>(), objects_max);
}

/// The timers, in MySQL's order. There is no count of cycles for whoever asks, so that what a reading costs is counted in none.
pub(crate) fn timers(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    let row = |name, frequency: Option<i64>| {
        let known = |n: i64| frequency.map_or(Value::Null, |_| Value::Int(n));
        vec![word(name), frequency.map_or(Value::Null, Value::Int), known(1), Value::Null]
    };
    out.extend([
        row("CYCLE", None),
        row("NANOSECOND", Some(1_000_000_000)),
        row("MICROSECOND", Some(1_000_000)),
        row("MILLISECOND", Some(1000)),
        row("THREAD_CPU", None),
    ]);
    Ok(())
}
