//! Texts and numbers that are read as dates and times where one stands beside them, or in a list with them.
//!
//! What is no date or time is NULL for CAST alone. Beside others it is a value: the zero date, midnight, or one that nobody has, so
//! that it equals nothing and NOT IN is true of it.

use crate::convert::is_string;
use crate::function::{Args, Func, Function, Rule, unlisted};
use crate::{Execution, Expr, Node, convert};
use types::codes::*;
use types::temporal::parse::{self, Problem};
use types::{DataType, Date, DateTime, Result, SqlMode, Time, TypeKind, Value, err};

/// Characters of the longest moment.
const MOMENT_TEXT_MAX: u32 = 26;

/// How the text of a moment is read, and what warning 1292 calls it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Beside a constant DATETIME.
    DateTime,
    /// Beside a constant DATE: with its time of day.
    Date,
    /// Beside a DATE that rows have: without its time of day.
    Day,
}

/// The moment of a text. `None`, with warning 1292: it is none, or a zero date that `sql_mode` does not let in.
fn read(text: &[u8], form: Form, run: &dyn Execution) -> Option<DateTime> {
    let mode = SqlMode(run.evaluation().sql_mode.0 | run.evaluation().sql_mode.0 & SqlMode::TIME_TRUNCATE_FRACTIONAL.0);
    let parsed = parse::parse_datetime(text, mode);
    // Texts that name a zone, or separate their parts in a deprecated way, are rare.
    if parsed.is_some_and(|p| p.zoned || p.delimiter.is_some()) {
        let v = Value::Bytes(text.into());
        return convert::datetime_in(&v, run.evaluation().sql_mode, run).map(|t| of_day(t, form));
    }
    let is_refused = |t: DateTime| t == DateTime::ZERO && run.evaluation().sql_mode.has(SqlMode::NO_ZERO_DATE);
    let is_sound = parsed.is_some_and(|p| p.problem == Problem::None && !is_refused(p.value));
    if !is_sound {
        let name = if form == Form::DateTime { "datetime" } else { "date" };
        run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, name, String::from_utf8_lossy(text)));
    }
    parsed.map(|p| p.value).filter(|t| !is_refused(*t)).map(|t| of_day(t, form))
}

fn of_day(t: DateTime, form: Form) -> DateTime {
    if form == Form::Day { t.date().at_midnight() } else { t }
}

/// A moment after all that there are, so that no row has it. `apart`: two such are not equal.
fn nobodys(apart: u32) -> DateTime {
    Date(Date::new(9999, 12, 31).0 + 1 + apart).at_midnight()
}

/// A text or number beside a date or time: one that is no date counts as the zero date.
static MOMENT: Function = unlisted("moment", 1, 1, Rule::First, |a| {
    let v = a.value(0)?;
    match v {
        Value::Bytes(_) | Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) => {
            Ok(Value::DateTime(convert::datetime_in(&v, a.run.evaluation().sql_mode, a.run).unwrap_or(DateTime::ZERO)))
        }
        v => Ok(v),
    }
});

/// The same of a text, by its [`Form`] and what one that is no moment counts as.
macro_rules! moment_of_text {
    ($form:expr, $otherwise:expr) => {
        unlisted("moment", 1, 1, Rule::First, |a| {
            let v = a.value(0)?;
            let Value::Bytes(text) = &v else { return Ok(v) };
            Ok(Value::DateTime(read(text, $form, a.run).unwrap_or($otherwise)))
        })
    };
}

static BESIDE_DATETIME: Function = moment_of_text!(Form::DateTime, DateTime::ZERO);
static BESIDE_DATE: Function = moment_of_text!(Form::Date, DateTime::ZERO);
static BESIDE_DAY: Function = moment_of_text!(Form::Day, DateTime::ZERO);
/// A text that is looked for among constant dates.
static SOUGHT_DAY: Function = moment_of_text!(Form::Day, nobodys(0));
/// A text that stands among constant dates.
static LISTED_DAY: Function = moment_of_text!(Form::Day, nobodys(1));

fn moment(function: Func, e: Expr) -> Expr {
    let ty = DataType { decimals: 6, nullable: e.ty.nullable, ..DataType::new(TypeKind::DateTime) };
    Expr::new(Node::Call(function, vec![e]), ty)
}

/// A text or number beside a date, as one.
pub fn of(e: Expr) -> Expr {
    moment(&MOMENT, e)
}

/// The year of a row beside a date of one: a date without month and day.
static YEAR: Function = unlisted("moment", 1, 1, Rule::First, |a| {
    let v = a.value(0)?;
    let year = |y: u64| Value::DateTime(Date::new(y as u32, 0, 0).at_midnight());
    Ok(if v.is_null() { v } else { year(v.to_u64()) })
});

/// The same of an expression that is a YEAR.
pub fn of_year(e: Expr) -> Expr {
    moment(&YEAR, e)
}

/// A text that is compared with `other`, a date.
pub fn beside(e: Expr, other: &Expr) -> Expr {
    let function = match (other.ty.kind, other.is_constant()) {
        (TypeKind::Date, true) => &BESIDE_DATE,
        (TypeKind::Date, false) => &BESIDE_DAY,
        (_, true) => &BESIDE_DATETIME,
        (_, false) => &MOMENT,
    };
    moment(function, e)
}

/// The last function's argument where its first one is NULL, though what it was made of is not.
fn time_or(a: &Args<'_>, otherwise: Time) -> Result<Value<'static>> {
    let time = a.value(0)?;
    let otherwise = if time.is_null() && !a.value(1)?.is_null() { Value::Time(otherwise) } else { Value::Null };
    Ok(if time.is_null() { otherwise } else { time.into_owned() })
}

/// Text among the values of IN beside a TIME: what is no time is midnight.
static LISTED_TIME: Function = unlisted("listed_time", 2, 2, Rule::First, |a| time_or(&a, Time(0)));

/// Text that is looked for among times.
static SOUGHT_TIME: Function = unlisted("listed_time", 2, 2, Rule::First, |a| time_or(&a, Time(Time::MAX.0 + 1)));

fn time(function: Func, e: Expr) -> Expr {
    let ty = DataType { length: 17, decimals: 6, nullable: e.ty.nullable, ..DataType::new(TypeKind::Time) };
    let time = Expr::new(Node::Cast(Box::new(e.clone())), DataType { nullable: true, ..ty });
    Expr::new(Node::Call(function, vec![time, e]), ty)
}

/// A text in a list that a TIME is looked for in.
pub fn listed_time(e: Expr) -> Expr {
    time(&LISTED_TIME, e)
}

/// The same where it is nobody's time if it is none.
pub fn sought_time(e: Expr) -> Expr {
    time(&SOUGHT_TIME, e)
}

/// A text of a list of constants that a DATE is looked for in, of which everything is said that is to be said.
static LISTED_DATE: Function = unlisted("moment", 1, 1, Rule::First, |a| {
    let v = a.value(0)?;
    let Value::Bytes(text) = &v else { return Ok(v) };
    Ok(Value::DateTime(parse::parse_datetime(text, SqlMode::NONE).map_or(nobodys(1), |p| p.value)))
});

/// The same of an expression: a text that is no date equals none.
pub fn listed_date(e: Expr) -> Expr {
    if is_string(e.ty.kind) && e.ty.kind != TypeKind::Json { moment(&LISTED_DATE, e) } else { e }
}

/// A text that is looked for among dates or times is one: of dates and times a date, and so is any other text among them. Where the
/// list has numbers too, its dates and times are texts.
pub fn text_in_moments(e: Expr, list: Vec<Expr>) -> (Expr, Vec<Expr>) {
    let is_text = |e: &Expr| is_string(e.ty.kind);
    if !is_text(&e) || list.len() < 2 || !list.iter().any(|e| e.ty.kind.is_temporal()) {
        return (e, list);
    }
    if !list.iter().all(|e| is_text(e) || e.ty.kind.is_temporal() || e.ty.kind == TypeKind::Null) {
        let collation = e.ty.collation;
        let as_text = |i: Expr| match i.ty.kind.is_temporal() {
            true => {
                let ty = DataType::string(TypeKind::VarChar, MOMENT_TEXT_MAX, collation);
                Expr::new(Node::Cast(Box::new(i.clone())), DataType { nullable: i.ty.nullable, ..ty })
            }
            false => i,
        };
        return (e, list.into_iter().map(as_text).collect());
    }
    let moments = || list.iter().filter(|e| e.ty.kind.is_temporal());
    let are_days = list.iter().all(Expr::is_constant) && moments().all(|e| e.ty.kind == TypeKind::Date);
    let are_times = moments().all(|e| e.ty.kind == TypeKind::Time);
    let listed = |i: Expr| match is_text(&i) {
        true if are_days => moment(&LISTED_DAY, i),
        true if are_times => listed_time(i),
        true => of(i),
        false => i,
    };
    let sought = match (are_days, are_times) {
        (true, _) => moment(&SOUGHT_DAY, e),
        (_, true) => sought_time(e),
        _ => of(e),
    };
    (sought, list.into_iter().map(listed).collect())
}
