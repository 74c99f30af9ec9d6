//! Events: SHOW EVENTS, SHOW CREATE EVENT, EVENTS.

use crate::columns::{titled, varchar};
use crate::{Context, Row, Rows, text, uint, word};
use catalog::event::event_unit;
use catalog::{Event, EventSchedule, EventStatus};
use expr::time_zone::TimeZone;
use sql::print::quote_name;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::temporal::IntervalUnit;
use types::{DateTime, Result, Value, err};

/// A time in the event's time zone. `None`: it has none, or none that is known here.
fn local(event: &Event, unix: i64) -> Option<DateTime> {
    let zone = TimeZone::parse(&event.settings.time_zone)?;
    DateTime::from_unix(unix + i64::from(zone.offset_at(unix)), 0)
}

fn moment(event: &Event, unix: Option<i64>) -> Value<'static> {
    unix.and_then(|unix| local(event, unix)).map_or(Value::Null, Value::DateTime)
}

fn quoted_moment(event: &Event, unix: i64) -> String {
    let mut shown = Vec::new();
    let datetime = types::DataType::new(types::TypeKind::DateTime);
    moment(event, Some(unix)).write_text(&datetime, &mut shown);
    format!("'{}'", String::from_utf8_lossy(&shown))
}

/// The amount of EVERY as it is written.
fn interval(amount: i64, unit: &str) -> String {
    use IntervalUnit::*;
    let (hour, day) = (60, 24 * 60);
    match event_unit(unit) {
        Some(YearMonth) => format!("'{}-{}'", amount / 12, amount % 12),
        Some(DayHour) => format!("'{} {}'", amount / 24, amount % 24),
        Some(DayMinute) => format!("'{} {}:{}'", amount / day, amount / 60 % 24, amount % 60),
        Some(DaySecond) => {
            let minutes = amount / 60;
            format!("'{} {}:{}:{}'", minutes / day, minutes / 60 % 24, minutes % 60, amount % 60)
        }
        Some(HourMinute | MinuteSecond) => format!("'{}:{}'", amount / 60, amount % 60),
        Some(HourSecond) => format!("'{}:{}:{}'", amount / 60 / hour, amount / 60 % 60, amount % 60),
        _ => amount.to_string(),
    }
}

/// A text as a literal.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\'' => out.push_str("''"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// The statement that makes the event as it is. `ansi`: names are quoted as SQL does.
pub fn create_text(event: &Event, ansi: bool) -> String {
    let quote = |name: &str| if ansi { format!("\"{}\"", name.replace('"', "\"\"")) } else { quote_name(name) };
    let (user, host) = event.definer.rsplit_once('@').unwrap_or((&event.definer, ""));
    let schedule = match &event.schedule {
        EventSchedule::At(at) => format!("AT {}", quoted_moment(event, *at)),
        EventSchedule::Every { amount, unit, starts, ends } => {
            let ends = ends.map_or(String::new(), |ends| format!(" ENDS {}", quoted_moment(event, ends)));
            format!("EVERY {} {unit} STARTS {}{ends}", interval(*amount, unit), quoted_moment(event, *starts))
        }
    };
    let preserve = if event.preserve { "" } else { "NOT " };
    let status = match event.status() {
        EventStatus::Enabled => "ENABLE",
        EventStatus::Disabled => "DISABLE",
        EventStatus::ReplicaSideDisabled => "DISABLE ON REPLICA",
    };
    let comment = match event.comment.as_str() {
        "" => String::new(),
        comment => format!(" COMMENT {}", literal(comment)),
    };
    let (definer, name) = (format!("{}@{}", quote(user), quote(host)), quote(&event.name));
    format!(
        "CREATE DEFINER={definer} EVENT {name} ON SCHEDULE {schedule} ON COMPLETION {preserve}PRESERVE \
         {status}{comment} DO {}",
        event.body
    )
}

/// SHOW CREATE EVENT. Error 1539.
pub fn show_create(cx: &Context, schema: &str, name: &str, ansi: bool) -> Result<Rows> {
    let event = cx.version.event(schema, name).ok_or_else(|| err!(ER_EVENT_DOES_NOT_EXIST, name))?;
    let columns = [
        ("Event", varchar(64)),
        ("sql_mode", varchar(256)),
        ("time_zone", varchar(64)),
        ("Create Event", varchar(1024)),
        ("character_set_client", varchar(32)),
        ("collation_connection", varchar(32)),
        ("Database Collation", varchar(32)),
    ];
    let settings = &event.settings;
    let row = vec![
        text(&event.name),
        text(SqlMode(settings.sql_mode).names()),
        text(&settings.time_zone),
        text(create_text(event, ansi)),
        text(&settings.client_charset),
        text(&settings.connection_collation),
        text(&settings.database_collation),
    ];
    Ok(Rows::new(&columns, vec![row]))
}

/// EVENT_TYPE, EXECUTE_AT, INTERVAL_VALUE, INTERVAL_FIELD.
fn kind_of(event: &Event) -> [Value<'static>; 4] {
    match &event.schedule {
        EventSchedule::At(at) => [word("ONE TIME"), moment(event, Some(*at)), Value::Null, Value::Null],
        EventSchedule::Every { amount, unit, .. } => {
            [word("RECURRING"), Value::Null, text(interval(*amount, unit)), text(unit)]
        }
    }
}

/// STARTS, ENDS.
fn bounds_of(event: &Event) -> [Value<'static>; 2] {
    match event.schedule {
        EventSchedule::At(_) => [Value::Null, Value::Null],
        EventSchedule::Every { starts, ends, .. } => [moment(event, Some(starts)), moment(event, ends)],
    }
}

fn charsets_of(event: &Event) -> [Value<'static>; 3] {
    let settings = &event.settings;
    [text(&settings.client_charset), text(&settings.connection_collation), text(&settings.database_collation)]
}

/// SHOW EVENTS of a schema.
pub fn show(cx: &Context, schema: &str) -> Rows {
    let columns = titled(
        "EVENTS",
        &[
            ("Db", "EVENT_SCHEMA"),
            ("Name", "EVENT_NAME"),
            ("Definer", "DEFINER"),
            ("Time zone", "TIME_ZONE"),
            ("Type", "EVENT_TYPE"),
            ("Execute at", "EXECUTE_AT"),
            ("Interval value", "INTERVAL_VALUE"),
            ("Interval field", "INTERVAL_FIELD"),
            ("Starts", "STARTS"),
            ("Ends", "ENDS"),
            ("Status", "STATUS"),
            ("Originator", "ORIGINATOR"),
            ("character_set_client", "CHARACTER_SET_CLIENT"),
            ("collation_connection", "COLLATION_CONNECTION"),
            ("Database Collation", "DATABASE_COLLATION"),
        ],
    );
    let events = cx.version.schema(schema).into_iter().flat_map(|s| s.events.values());
    let rows = events.map(|event| {
        let mut row =
            vec![text(&event.schema), text(&event.name), text(&event.definer), text(&event.settings.time_zone)];
        row.extend(kind_of(event));
        row.extend(bounds_of(event));
        row.extend([word(event.status().word()), uint(event.originator.into())]);
        row.extend(charsets_of(event));
        row
    });
    Rows { like: 1, ..Rows::new(&columns, rows.collect()) }
}

pub(crate) fn events(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    for event in cx.version.events().filter(|event| (cx.viewer.shows_events)(&event.schema)) {
        let mut row = vec![
            word("def"),
            text(&event.schema),
            text(&event.name),
            text(&event.definer),
            text(&event.settings.time_zone),
            word("SQL"),
            text(&event.body),
        ];
        row.extend(kind_of(event));
        row.push(text(SqlMode(event.settings.sql_mode).names()));
        row.extend(bounds_of(event));
        row.extend([
            word(event.status().word()),
            word(if event.preserve { "PRESERVE" } else { "NOT PRESERVE" }),
            crate::datetime(event.created.max(0) as u64),
            crate::datetime(event.altered.max(0) as u64),
            moment(event, event.runs.last()),
            text(&event.comment),
            uint(event.originator.into()),
        ]);
        row.extend(charsets_of(event));
        out.push(row);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_shown_as_they_are_written() {
        assert_eq!(interval(2, "QUARTER"), "2");
        assert_eq!(interval(14, "YEAR_MONTH"), "'1-2'");
        assert_eq!(interval(26, "DAY_HOUR"), "'1 2'");
        assert_eq!(interval(1563, "DAY_MINUTE"), "'1 2:3'");
        assert_eq!(interval(3723, "DAY_SECOND"), "'0 1:2:3'");
        assert_eq!(interval(100, "HOUR_MINUTE"), "'1:40'");
        assert_eq!(interval(3723, "HOUR_SECOND"), "'1:2:3'");
        assert_eq!(interval(90, "MINUTE_SECOND"), "'1:30'");
    }

    #[test]
    fn comments_are_literals() {
        assert_eq!(literal("a\\b'\"\n"), "'a\\\\b''\"\\n'");
    }
}
