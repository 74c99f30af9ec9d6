//! CREATE, ALTER and DROP EVENT.

use super::schedule::{LAST, is_past};
use crate::needs::Action;
use crate::routine::utf8;
use crate::session::{Done, Session};
use crate::sink::MemorySink;
use crate::variables::{VarId, id};
use catalog::eq_name;
use catalog::event::EVENT_UNITS;
use catalog::{Event, EventSchedule, EventSettings, EventStatus};
use expr::{Env, Execution};
use protocol::Output;
use run::Run;
use run::program::{Form, columns_of};
use sql::ast::{self, AlterEvent, CreateEvent, ExprId, IntervalUnit, ObjectName, Parsed, Program};
use sql::print::quote_name;
use std::sync::{Arc, OnceLock};
use types::codes::*;
use types::sql_mode::SqlMode;
use types::temporal::{Interval, IntervalUnit as Unit, MICROS_PER_SECOND};
use types::{DataType, Result, Value, err};

const CHARACTER_SET_CLIENT: VarId = id("character_set_client");
const COLLATION_CONNECTION: VarId = id("collation_connection");
const TIME_ZONE: VarId = id("time_zone");
const SERVER_ID: VarId = id("server_id");

/// The largest amount of EVERY.
const AMOUNT_MAX: i64 = 1_000_000_000;
/// Characters of a comment.
const COMMENT_MAX: usize = 2048;
/// Bytes that the values of a schedule may take.
const BYTES_MAX: usize = 1 << 20;

/// A value of a schedule, and its type.
type Given = (Value<'static>, DataType);

/// As error 1525 shows it.
fn shown((value, ty): &Given) -> String {
    match value {
        Value::Null => "NULL".to_string(),
        value => String::from_utf8_lossy(&expr::convert::text(value, ty)).into_owned(),
    }
}

/// Seconds since 1970 of a moment in the session's time zone.
fn moment(run: &Run<'_>, given: &Given) -> Option<i64> {
    let mode = SqlMode(SqlMode::NO_ZERO_DATE.0 | SqlMode::NO_ZERO_IN_DATE.0);
    let at = expr::convert::datetime_in(&given.0, mode, run).filter(|t| !t.date().is_zero())?;
    Some(expr::convert::to_unix(at, run)).filter(|unix| (1..=LAST).contains(unix))
}

fn unit_of(unit: IntervalUnit) -> Option<Unit> {
    use IntervalUnit as A;
    Some(match unit {
        A::Second => Unit::Second,
        A::Minute => Unit::Minute,
        A::Hour => Unit::Hour,
        A::Day => Unit::Day,
        A::Week => Unit::Week,
        A::Month => Unit::Month,
        A::Quarter => Unit::Quarter,
        A::Year => Unit::Year,
        A::MinuteSecond => Unit::MinuteSecond,
        A::HourSecond => Unit::HourSecond,
        A::HourMinute => Unit::HourMinute,
        A::DaySecond => Unit::DaySecond,
        A::DayMinute => Unit::DayMinute,
        A::DayHour => Unit::DayHour,
        A::YearMonth => Unit::YearMonth,
        A::Microsecond | A::SecondMicrosecond | A::MinuteMicrosecond | A::HourMicrosecond | A::DayMicrosecond => {
            return None;
        }
    })
}

/// The amount of EVERY: of a unit of several, in the smallest of them. Errors 1525, 1542.
fn amount_of(run: &Run<'_>, given: &Given, unit: Unit) -> Result<i64> {
    if given.0.is_null() {
        return Err(err!(ER_WRONG_VALUE, "INTERVAL", "NULL"));
    }
    let bounds = (i64::MIN.into(), i64::MAX.into());
    let smallest: i128 = match unit {
        Unit::DayHour => 3600,
        Unit::DayMinute | Unit::HourMinute => 60,
        _ => 1,
    };
    let of_parts = |text: &[u8]| Interval::parse(unit, text);
    let amount = match (unit, &given.0) {
        (Unit::YearMonth, value) => {
            of_parts(&expr::convert::text(value, &given.1)).map_or(-1, |parts| i128::from(parts.months))
        }
        (
            Unit::DayHour
            | Unit::DayMinute
            | Unit::DaySecond
            | Unit::HourMinute
            | Unit::HourSecond
            | Unit::MinuteSecond,
            value,
        ) => of_parts(&expr::convert::text(value, &given.1))
            .map_or(-1, |parts| parts.micros / i128::from(MICROS_PER_SECOND) / smallest),
        (_, Value::Double(d)) if d.abs() >= i64::MAX as f64 => {
            return Err(err!(ER_WRONG_VALUE, "INTERVAL", shown(given)));
        }
        // As INTERVAL takes them, which has fractions of seconds.
        (Unit::Second, Value::Decimal(d)) => d.truncate(0).to_i64().map_or(-1, i128::from),
        (_, Value::Bytes(text)) => expr::convert::integer_of_text(text, bounds, run),
        (_, value) => value.to_i64().into(),
    };
    match i64::try_from(amount) {
        Ok(amount) if (1..=AMOUNT_MAX).contains(&amount) => Ok(amount),
        _ => Err(err!(ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG)),
    }
}

/// What the values of a schedule come to. Errors 1235, 1525, 1542, 1543.
fn schedule_of(run: &Run<'_>, said: &ast::EventSchedule, given: &[Given]) -> Result<EventSchedule> {
    let mut given = given.iter();
    let mut next = || given.next().expect("a value for each expression");
    match *said {
        ast::EventSchedule::At(_) => {
            let at = next();
            let unix = moment(run, at).ok_or_else(|| err!(ER_WRONG_VALUE, "AT", shown(at)))?;
            Ok(EventSchedule::At(unix))
        }
        ast::EventSchedule::Every { unit, starts, ends, .. } => {
            let unit = unit_of(unit).ok_or_else(|| err!(ER_NOT_SUPPORTED_YET, "MICROSECOND"))?;
            let amount = amount_of(run, next(), unit)?;
            let starts = match starts {
                Some(_) => {
                    let starts = next();
                    moment(run, starts).ok_or_else(|| err!(ER_WRONG_VALUE, "STARTS", shown(starts)))?
                }
                None => run.evaluation().now_us.div_euclid(1_000_000),
            };
            let ends = match ends {
                Some(_) => {
                    let ends = moment(run, next()).filter(|ends| *ends > starts);
                    Some(ends.ok_or_else(|| err!(ER_EVENT_ENDS_BEFORE_STARTS))?)
                }
                None => None,
            };
            let (_, word) = EVENT_UNITS.iter().find(|(u, _)| *u == unit).expect("all units have words");
            Ok(EventSchedule::Every { amount, unit: word.to_string(), starts, ends })
        }
    }
}

fn status_of(status: ast::EventStatus) -> EventStatus {
    match status {
        ast::EventStatus::Enabled => EventStatus::Enabled,
        ast::EventStatus::Disabled => EventStatus::Disabled,
        ast::EventStatus::DisabledOnReplica => EventStatus::ReplicaSideDisabled,
    }
}

impl Session {
    /// The values of a schedule's expressions, for [`Session::obey`].
    pub(crate) fn schedule_values(&mut self, parsed: &Arc<Parsed>, expressions: &[ExprId]) -> Result<Vec<Given>> {
        self.state.clear_conditions();
        self.refresh_access()?;
        self.check_xa(&parsed.statement)?;
        self.commit_all()?;
        let (values, types) = self.bound_values();
        let form = Form { locals: Arc::from([]), values: Some(expressions.into()), params: types.into() };
        let mut planned = self.plan_part(Arc::clone(parsed), form)?;
        let mut sink = MemorySink::new(BYTES_MAX);
        self.run_into(&mut planned, &values, &mut sink)?;
        let row = sink.rows.pop().expect("values are one row");
        Ok(row.into_iter().zip(planned.prepared.value_types().to_vec()).collect())
    }

    /// [`Session::obey`] with these values of the statement's expressions.
    pub(crate) fn obey_with_values(
        &mut self,
        parsed: &Arc<Parsed>,
        expressions: &[ExprId],
        fresh: bool,
        out: &mut Output,
    ) -> Result<Done> {
        self.programs.given = self.schedule_values(parsed, expressions)?;
        let done = self.obey(parsed, fresh, out);
        self.programs.given.clear();
        done
    }

    fn event_schedule(&mut self, said: Option<&ast::EventSchedule>) -> Result<Option<EventSchedule>> {
        let given = std::mem::take(&mut self.programs.given);
        let Some(said) = said else { return Ok(None) };
        let run = Run::new(&mut self.tx, &mut self.state, &[], &[]);
        schedule_of(&run, said, &given).map(Some)
    }

    fn event_settings(&self, collation: &str) -> EventSettings {
        EventSettings {
            time_zone: self.state.vars.text(TIME_ZONE).to_string(),
            sql_mode: self.state.sql_mode.0,
            client_charset: self.state.vars.text(CHARACTER_SET_CLIENT).to_string(),
            connection_collation: self.state.vars.text(COLLATION_CONNECTION).to_string(),
            database_collation: collation.to_string(),
        }
    }

    /// May events be made in the schema? Error 1044.
    fn need_event_in(&self, schema: &str) -> Result<()> {
        self.need_in(Action::Event, schema)?;
        if schema == "mysql" { Ok(()) } else { self.refuse_system_schema(schema) }
    }

    /// Error 1193 and those of the types of variables.
    fn check_event_body(&mut self, parsed: &Parsed, program: &Program, schema: &str) -> Result<()> {
        self.check_variables(&program.parts)?;
        let version = self.dictionary();
        let collation = version.schema(schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?.default_collation;
        columns_of(parsed, program, collation, self.state.sql_mode)?;
        for part in &program.parts {
            self.state.note_parsed(part);
        }
        Ok(())
    }

    /// What is said of an event; what runs at a source does not run on its replica, whatever else ALTER EVENT changes.
    fn event_status(&self, said: Option<ast::EventStatus>) -> Option<EventStatus> {
        match said {
            Some(ast::EventStatus::Disabled) => Some(EventStatus::Disabled),
            _ if self.state.applied.is_some() => Some(EventStatus::ReplicaSideDisabled),
            said => said.map(status_of),
        }
    }

    /// The server that the statement was written on first.
    fn originator(&self) -> u32 {
        match &self.state.applied {
            Some(applied) => applied.server_id(),
            None => self.server.globals.load().uint(SERVER_ID) as u32,
        }
    }

    /// Errors 1044, 1049, 1059, 1235, 1458, 1525, 1537, 1542, 1543.
    pub(crate) fn create_event(&mut self, parsed: &Parsed, create: &CreateEvent) -> Result<()> {
        let (schema, name) = self.object(parsed, create.name)?;
        let definer = self.definer(parsed, create.definer)?;
        let schedule = self.event_schedule(create.clauses.schedule.as_ref())?.expect("the parser asks for it");
        self.need_event_in(&schema)?;
        let now = self.state.now_us().div_euclid(1_000_000);
        let preserve = create.clauses.preserve.unwrap_or(false);
        let said = self.event_status(Some(create.clauses.status.unwrap_or(ast::EventStatus::Enabled)));
        let mut said = said.expect("one is said");
        if is_past(&schedule, now) {
            if !preserve {
                self.commit_all()?;
                self.state.push_warning("Note", err!(ER_EVENT_CANNOT_CREATE_IN_THE_PAST));
                return Ok(());
            }
            if said == EventStatus::Enabled {
                said = EventStatus::Disabled;
                self.state.push_warning("Note", err!(ER_EVENT_EXEC_TIME_IN_THE_PAST));
            }
        }
        let comment = create.clauses.comment.map(|c| utf8(parsed, c)).transpose()?.unwrap_or_default();
        check_comment(&comment)?;
        self.check_event_body(parsed, &create.program, &schema)?;
        let version = self.dictionary();
        let collation = version.schema(&schema).ok_or_else(|| err!(ER_BAD_DB_ERROR, schema))?.default_collation;
        let event = Event {
            schema,
            name: name.clone(),
            // The dictionary gives it one.
            id: 0,
            schedule,
            preserve,
            said,
            comment,
            body: utf8(parsed, create.body)?,
            definer,
            settings: self.event_settings(collation.info().name),
            created: now,
            altered: now,
            originator: self.originator(),
            runs: Arc::default(),
            compiled: OnceLock::new(),
        };
        let (user, host) = event.definer.rsplit_once('@').unwrap_or((&event.definer, ""));
        let mut logged = format!("CREATE DEFINER={}@{} ", quote_name(user), quote_name(host)).into_bytes();
        logged.extend_from_slice(parsed.bytes(create.text));
        let made = self.define_with(|ddl, state| {
            if state.log_text.is_some() {
                state.log_text = Some(logged);
            }
            ddl.create_event(event)
        });
        match made {
            Err(e) if e.code == ER_EVENT_ALREADY_EXISTS && create.if_not_exists => {
                self.state.push_warning("Note", e);
                Ok(())
            }
            made => made,
        }
    }

    /// Errors 1044, 1049, 1059, 1227, 1235, 1458, 1525, 1537, 1539, 1542, 1543, 1551, 1589.
    pub(crate) fn alter_event(&mut self, parsed: &Parsed, alter: &AlterEvent) -> Result<()> {
        let (schema, name) = self.object(parsed, alter.name)?;
        let to = alter.rename.map(|to| self.object(parsed, to)).transpose()?;
        let definer = self.definer(parsed, alter.definer)?;
        let schedule = self.event_schedule(alter.clauses.schedule.as_ref())?;
        if to.as_ref().is_some_and(|to| to.0 == schema && eq_name(&to.1, &name)) {
            return Err(err!(ER_EVENT_SAME_NAME));
        }
        self.need_in(Action::Event, &schema)?;
        if let Some((schema, _)) = &to {
            self.need_event_in(schema)?;
        }
        if let Some(event) = self.dictionary().event(&schema, &name) {
            self.may_change_what_is_of(&event.definer)?;
        }
        let comment = alter.clauses.comment.map(|c| utf8(parsed, c)).transpose()?;
        check_comment(comment.as_deref().unwrap_or(""))?;
        let body = match &alter.body {
            Some((text, program)) => {
                let schema = to.as_ref().map_or(&schema, |to| &to.0).clone();
                self.check_event_body(parsed, program, &schema)?;
                Some(utf8(parsed, *text)?)
            }
            None => None,
        };
        let now = self.state.now_us().div_euclid(1_000_000);
        let change = EventChange {
            schedule,
            preserve: alter.clauses.preserve,
            said: self.event_status(alter.clauses.status),
            comment,
            body,
            definer,
            now,
            originator: self.originator(),
            settings: self.event_settings(""),
        };
        let to = to.as_ref().map(|(schema, name)| (schema.as_str(), name.as_str()));
        self.define_with(|ddl, state| {
            ddl.alter_event(&schema, &name, to, |event| {
                if change.apply(event)? {
                    state.push_warning("Note", err!(ER_EVENT_EXEC_TIME_IN_THE_PAST));
                }
                Ok(())
            })
        })
    }

    /// Errors 1044, 1227, 1539.
    pub(crate) fn drop_event(&mut self, parsed: &Parsed, if_exists: bool, name: ObjectName) -> Result<()> {
        let (schema, name) = self.object(parsed, name)?;
        self.need_in(Action::Event, &schema)?;
        if let Some(event) = self.dictionary().event(&schema, &name) {
            self.may_change_what_is_of(&event.definer)?;
        }
        match self.define(|ddl| ddl.drop_event(&schema, &name, None)) {
            Err(e) if if_exists && e.code == ER_EVENT_DOES_NOT_EXIST => {
                self.state.push_warning("Note", err!(ER_SP_DOES_NOT_EXIST, "Event", name));
                Ok(())
            }
            dropped => dropped,
        }
    }
}

/// What ALTER EVENT says.
struct EventChange {
    schedule: Option<EventSchedule>,
    preserve: Option<bool>,
    said: Option<EventStatus>,
    comment: Option<String>,
    body: Option<String>,
    definer: String,
    now: i64,
    originator: u32,
    /// Those of the session.
    settings: EventSettings,
}

impl EventChange {
    /// True: a schedule that is past has disabled the event. Error 1589.
    fn apply(self, event: &mut Event) -> Result<bool> {
        event.preserve = self.preserve.unwrap_or(event.preserve);
        event.said = self.said.unwrap_or(event.said);
        let mut was_late = false;
        if let Some(schedule) = self.schedule {
            if is_past(&schedule, self.now) {
                if !event.preserve {
                    return Err(err!(ER_EVENT_CANNOT_ALTER_IN_THE_PAST));
                }
                was_late = event.said == EventStatus::Enabled;
                if was_late {
                    event.said = EventStatus::Disabled;
                }
            }
            event.schedule = schedule;
            event.settings.time_zone = self.settings.time_zone;
        }
        if let Some(comment) = self.comment {
            event.comment = comment;
        }
        if let Some(body) = self.body {
            event.body = body;
            event.settings.sql_mode = self.settings.sql_mode;
        }
        event.settings.client_charset = self.settings.client_charset;
        event.settings.connection_collation = self.settings.connection_collation;
        event.definer = self.definer;
        (event.altered, event.originator) = (self.now, self.originator);
        Ok(was_late)
    }
}

/// Error 3507.
fn check_comment(comment: &str) -> Result<()> {
    match comment.chars().count() > COMMENT_MAX {
        true => Err(err!(ER_UPDATE_DD_OBJECT_FAILED, "events")),
        false => Ok(()),
    }
}
