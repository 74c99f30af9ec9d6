//! Parameters of prepared statements: the type of each, and the values that arrive for them.
//!
//! A parameter takes its type from where it stands (`plan::parameter`), so that the columns of a result are known before any value
//! is. A value of another type either becomes one of this type, or the statement is prepared anew with the types of its values,
//! which it keeps from then on. The rules are those of the manual's page "PREPARE Statement".

mod inference;

use crate::Env;
use expr::convert::{LENIENT, text, type_of};
use std::borrow::Cow;
use types::charset::Charset;
use types::codes::*;
use types::json::{Json, opaque};
use types::temporal::parse::{self, Problem};
use types::{
    CollationId, DataType, Date, DateTime, Decimal, Result, SqlMode, Time, TypeKind, Value, decimal, err, number,
};

/// What is known of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// What clients are told.
    pub data_type: DataType,
    /// What its place says, whatever the statement was prepared with since.
    pub place: TypeKind,
    pub takes: Takes,
    /// How a value that is no date or time by itself is read, and what it counts as.
    pub otherwise: Otherwise,
}

/// How a value that is no date or time by itself is read as one, and what stands for one that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    Null,
    /// One that equals nothing: beside `<=>`, or of a list that a DATE is looked for in.
    Nobody,
    /// Of a list that a TIME is looked for in, or a bound beside one.
    Midnight,
    /// Of UNIX_TIMESTAMP, which tells what is no date from NULL.
    ZeroDate,
    /// Of YEAR and its like, which take any part of a date: a number that is the day of a month at most, or a month, is one of 2000.
    PartOfDate,
    /// Of WEEKDAY, DATE_ADD and their like, for which a date without a month or a day is none.
    WholeDate,
    /// Of HOUR and its like: a time of day.
    TimeOfDay,
}

/// Which values a place takes without the statement being prepared anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Those that become values of its type.
    Own,
    /// All, since it converts by itself: CAST, bit operators. Texts are read as numbers where it wants integers.
    Any,
    /// All, as they are: a column that is written, LIMIT.
    Stored,
}

/// Characters of the longest text that the type of a parameter tells of.
const TEXT_CHARACTERS: u32 = 16_383;
const BINARY_BYTES: u32 = 65_535;

/// A parameter that is a text, under the collation of the connection.
pub fn text_type(collation: CollationId) -> DataType {
    match collation.is_binary() {
        true => DataType::string(TypeKind::VarBinary, BINARY_BYTES, collation),
        false => DataType::string(TypeKind::VarChar, TEXT_CHARACTERS, collation),
    }
}

/// The type of a parameter that stands for bytes.
pub fn binary_type() -> DataType {
    DataType::string(TypeKind::VarBinary, BINARY_BYTES, CollationId::BINARY)
}

/// Of one that stands for an integer.
pub fn integer_type() -> DataType {
    DataType { length: 21, ..DataType::new(TypeKind::BigInt) }
}

/// Of one that stands for a double.
pub fn double_type() -> DataType {
    DataType { length: 23, ..DataType::new(TypeKind::Double) }
}

/// Of one that stands for a decimal.
pub fn decimal_type() -> DataType {
    DataType::decimal(Decimal::MAX_PRECISION, 30)
}

/// A DATE, TIME or DATETIME with all the digits of the second.
pub fn moment_type(kind: TypeKind) -> DataType {
    let (length, decimals) = match kind {
        TypeKind::Date => (10, 0),
        TypeKind::Time => (17, 6),
        _ => (26, 6),
    };
    DataType { length, decimals, ..DataType::new(kind) }
}

/// The type of a parameter that stands beside something of type `like`: as wide as its kind may be.
pub fn widest(like: &DataType, text: CollationId) -> DataType {
    use TypeKind as K;
    match like.kind {
        K::TinyInt | K::SmallInt | K::MediumInt | K::Int | K::BigInt => {
            DataType { unsigned: like.unsigned, ..integer_type() }
        }
        K::Float | K::Double => double_type(),
        K::Decimal => decimal_type(),
        K::Date | K::Time => moment_type(like.kind),
        K::DateTime | K::Timestamp => moment_type(K::DateTime),
        K::Year => DataType { nullable: true, zerofill: false, ..*like },
        K::Bit => DataType { length: 64, ..DataType::new(K::Bit).unsigned() },
        K::Json => DataType { nullable: true, ..*like },
        K::Null => binary_type(),
        kind if kind.is_blob() && kind.is_text() => DataType::string(K::LongText, u32::MAX, text),
        kind if kind.is_blob() => DataType::string(K::LongBlob, u32::MAX, CollationId::BINARY),
        K::Binary | K::VarBinary => binary_type(),
        _ => text_type(text),
    }
}

/// The type that a statement is prepared with for a value; of kind `Null` for NULL, whose place decides. `text` is what texts are
/// in, `wanted` the type that the parameter's place says.
pub fn sent_type(value: &Value<'_>, wanted: Option<TypeKind>, text: CollationId) -> DataType {
    match value {
        Value::Null => DataType::new(TypeKind::Null),
        Value::Int(_) => integer_type(),
        Value::UInt(_) => integer_type().unsigned(),
        Value::Double(_) => double_type(),
        Value::Decimal(_) => decimal_type(),
        Value::Date(_) if wanted == Some(TypeKind::Time) => moment_type(TypeKind::DateTime),
        Value::Time(_) if wanted == Some(TypeKind::Date) => moment_type(TypeKind::DateTime),
        Value::Date(_) => moment_type(TypeKind::Date),
        Value::Time(_) => moment_type(TypeKind::Time),
        Value::DateTime(_) => moment_type(TypeKind::DateTime),
        Value::Bytes(text) if wanted == Some(TypeKind::Date) && is_moment(text) => moment_type(TypeKind::DateTime),
        Value::Bytes(_) | Value::Json(_) => text_type(text),
    }
}

/// The types that a statement is prepared with anew for values, one of which its parameter does not take. A text that is a value of
/// its parameter's type from end to end is of that type, any other a text, unless integers of another sign are all that is not taken:
/// MySQL prepares nothing anew for these. `is_binary`: of the values that are strings, which are of bytes?
pub fn types_for(
    parameters: &[Parameter],
    values: &mut [Value<'_>],
    text: CollationId,
    is_binary: &dyn Fn(usize) -> bool,
) -> Vec<DataType> {
    let mut types = Vec::with_capacity(values.len());
    let by_sign = parameters.iter().zip(&mut *values).all(|(parameter, value)| {
        let is_integer = matches!(value, Value::Int(_) | Value::UInt(_));
        takes(parameter, value) || parameter.data_type.kind == TypeKind::BigInt && is_integer
    });
    for (n, (parameter, value)) in parameters.iter().zip(values).enumerate() {
        let fits = takes(parameter, value);
        let kind = parameter.data_type.kind;
        types.push(match &*value {
            Value::Json(_) if fits => parameter.data_type,
            Value::Bytes(_) if fits && parameter.takes == Takes::Stored => parameter.data_type,
            Value::Bytes(_) if is_binary(n) && (kind.is_text() || kind.is_bytes()) => binary_type(),
            Value::Bytes(_) if fits && parameter.takes == Takes::Any => parameter.data_type,
            Value::Bytes(bytes) if fits && (by_sign || is_whole(bytes, &parameter.data_type)) => parameter.data_type,
            Value::Bytes(_) if is_binary(n) => binary_type(),
            value => sent_type(value, Some(parameter.place), text),
        });
    }
    types
}

/// Is the text a value of the type, with nothing behind it?
fn is_whole(text: &[u8], ty: &DataType) -> bool {
    use TypeKind as K;
    let ends = |used: usize| used > 0 && is_blank(&text[used..]);
    match ty.kind {
        K::BigInt | K::Bit => ends(number::parse_integer(text).1),
        // What is no number at all is none of its own kind either.
        K::Year => ends(number::parse_integer(text).1) || Decimal::parse_prefix(text).1 == 0,
        K::Decimal => ends(Decimal::parse_prefix(text).1),
        K::Double => ends(number::parse_f64(text).1),
        K::Time => parse::parse_time(text, LENIENT).is_some_and(|p| p.problem == Problem::None),
        K::Date | K::DateTime => parse::parse_datetime(text, LENIENT).is_some_and(|p| p.problem == Problem::None),
        _ => true,
    }
}

/// Is the text a date with a time of day?
fn is_moment(text: &[u8]) -> bool {
    parse::parse_datetime(text, LENIENT).is_some_and(|p| p.has_time)
}

/// Are the values what their parameters are without a look at each: integers, as most keys are?
#[inline]
pub fn are_keys(parameters: &[Parameter], values: &[Value<'_>]) -> bool {
    let is_key = |(parameter, value): (&Parameter, &Value<'_>)| {
        let ty = &parameter.data_type;
        matches!(value, Value::Int(_)) && ty.kind == TypeKind::BigInt && !ty.unsigned
    };
    parameters.iter().zip(values).all(is_key)
}

/// Brings the values to the types of their parameters. False: one is of another type, and the statement has to be prepared anew
/// for [`sent_type`]s of the values, which are left as they came. Warning 1292 of texts that are no numbers or dates waits for whoever asks
/// for the parameter first.
pub fn bind(parameters: &[Parameter], values: &mut [Value<'_>], env: &mut dyn Env) -> bool {
    let mut fits = true;
    for (parameter, value) in parameters.iter().zip(values.iter_mut()) {
        fits &= takes(parameter, value);
    }
    if fits {
        for (n, (parameter, value)) in parameters.iter().zip(values).enumerate() {
            convert(parameter, value, &mut Telling { env, parameter: n });
        }
    }
    fits
}

/// Where what there is to say of one parameter goes.
struct Telling<'e> {
    env: &'e mut dyn Env,
    parameter: usize,
}

impl Telling<'_> {
    fn tell(&mut self, message: String) {
        self.env.tell_of_parameter(self.parameter, ER_TRUNCATED_WRONG_VALUE, message);
    }
}

/// What is given for a document and is of bytes becomes one that holds them, and is not read as one. Error 3144 where a column is to
/// have it.
pub fn keep_bytes(parameters: &[Parameter], values: &mut [Value<'_>], is_binary: &dyn Fn(usize) -> bool) -> Result<()> {
    for (n, (parameter, value)) in parameters.iter().zip(values).enumerate() {
        if parameter.place == TypeKind::Json
            && let Value::Bytes(bytes) = &*value
            && is_binary(n)
        {
            if parameter.takes == Takes::Stored {
                return Err(err!(ER_INVALID_JSON_CHARSET, Charset::Binary.name()));
            }
            *value = Value::from_json(&Json::Opaque(opaque::VARCHAR, bytes.to_vec()));
        }
    }
    Ok(())
}

/// Does the parameter take the value without the statement being prepared anew? A text that is a number which an integer has no
/// room for becomes that number.
fn takes(parameter: &Parameter, value: &mut Value<'_>) -> bool {
    use TypeKind as K;
    let ty = &parameter.data_type;
    if parameter.takes != Takes::Stored
        && matches!(ty.kind, K::BigInt | K::Bit)
        && let Value::Bytes(text) = &*value
        && let Some(number) = beyond_integers(text, ty.unsigned)
        // What converts by itself takes the nearest integer that there is.
        && (parameter.takes == Takes::Own || number.round(0).to_i64().is_ok())
    {
        *value = Value::Decimal(number);
    }
    if value.is_null() || matches!(parameter.takes, Takes::Stored | Takes::Any) {
        return true;
    }
    // Prepared for a number before, it is a text again where its place says so.
    if parameter.place.is_text() && !ty.kind.is_bytes() && matches!(value, Value::Bytes(_)) {
        return false;
    }
    match (ty.kind, &*value) {
        (K::Date, Value::Bytes(text)) => !is_moment(text),
        (K::BigInt | K::Bit | K::Year | K::Decimal | K::Double | K::Time | K::DateTime, Value::Bytes(_)) => true,
        (K::BigInt | K::Bit, value) => matches!((ty.unsigned, value), (false, Value::Int(_)) | (true, Value::UInt(_))),
        (K::Year, value) => matches!(value, Value::Int(_) | Value::UInt(_)),
        (K::Decimal, value) => matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)),
        (K::Double, value) => {
            matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))
        }
        (K::Date, value) => !matches!(value, Value::DateTime(_) | Value::Time(_)),
        (K::Time, value) => !matches!(value, Value::Date(_)),
        (K::DateTime, _) => true,
        (K::Json, Value::Json(_)) => true,
        // Texts, documents and binary strings.
        (_, value) => matches!(value, Value::Bytes(_)),
    }
}

/// A value that its parameter takes, as one of its type.
fn convert(parameter: &Parameter, value: &mut Value<'_>, env: &mut Telling<'_>) {
    use TypeKind as K;
    let ty = &parameter.data_type;
    if value.is_null() || parameter.takes == Takes::Stored {
        return;
    }
    match (ty.kind, &*value) {
        (K::BigInt | K::Bit, Value::Bytes(text)) => *value = integer_of_text(text, ty.unsigned, env),
        _ if parameter.takes == Takes::Any => {}
        (K::Year, Value::Bytes(text)) => {
            let (n, used, _) = number::parse_integer(text);
            if used != text.len() || text.is_empty() {
                warn(env, "INTEGER", text);
            }
            *value = Value::UInt(u64::try_from(n).unwrap_or(u64::MAX));
        }
        (K::Decimal, Value::Bytes(text)) => {
            let (read, used, _) = Decimal::parse_prefix(text);
            if used == 0 || !is_blank(&text[used..]) {
                warn(env, "DECIMAL", text);
            }
            *value = Value::Decimal(read.round(ty.decimals));
        }
        // In the place of a text it is shown with the digits that it came with.
        (K::Decimal, number) if parameter.place.is_text() => *value = Value::Decimal(number.to_decimal()),
        (K::Decimal, number) => *value = Value::Decimal(number.to_decimal().round(ty.decimals)),
        (K::Double, Value::Bytes(text)) => {
            let (read, used) = number::parse_f64(text);
            if used == 0 || !is_blank(&text[used..]) {
                warn(env, "DOUBLE", text);
            }
            *value = Value::Double(read);
        }
        (K::Double, number) => *value = Value::Double(number.to_f64()),
        (K::Date | K::Time | K::DateTime, _) => {
            let read = moment(value, parameter, env);
            *value = match parameter.otherwise {
                Otherwise::Nobody if read.is_null() => nobodys(ty.kind),
                Otherwise::Midnight if read.is_null() => Value::Time(Time(0)),
                Otherwise::ZeroDate if read.is_null() => Value::DateTime(Date::ZERO.at_midnight()),
                _ => read,
            };
        }
        _ => {}
    }
}

fn is_blank(rest: &[u8]) -> bool {
    rest.iter().all(|c| number::is_blank(*c))
}

fn warn(env: &mut Telling<'_>, kind: &str, text: &[u8]) {
    env.tell(format!("Truncated incorrect {kind} value: '{}'", expr::convert::shown(text)));
}

/// A text that is a number from end to end, but none that an integer type has: with a sign, digits behind the point, or too large.
fn beyond_integers(text: &[u8], unsigned: bool) -> Option<Decimal> {
    let (read, used, status) = Decimal::parse_prefix(text);
    if used == 0 || matches!(status, decimal::Parsed::Bad | decimal::Parsed::Truncated) || !is_blank(&text[used..]) {
        return None;
    }
    let is_held = if unsigned { read.to_u64().is_ok() } else { read.to_i64().is_ok() };
    (read.is_negative() || read.round(0) != read || !is_held).then_some(read)
}

/// Any other text for an integer: what it begins with counts.
fn integer_of_text(text: &[u8], unsigned: bool, env: &mut Telling<'_>) -> Value<'static> {
    let (n, used, _) = number::parse_integer(text);
    let is_held = if unsigned { u64::try_from(n).is_ok() } else { i64::try_from(n).is_ok() };
    if used == 0 || !is_blank(&text[used..]) || !is_held {
        warn(env, "INTEGER", text);
    }
    match unsigned {
        true => Value::UInt(n.clamp(0, u64::MAX.into()) as u64),
        false => Value::Int(n.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
    }
}

/// A number's whole part and the millionths behind it.
fn seconds_and_micros(number: &Value<'_>) -> (i64, u32) {
    let text = number.to_decimal().truncate(6).to_string();
    let (whole, behind) = text.split_once('.').unwrap_or((&text, ""));
    let micros = format!("{behind:0<6}").parse().unwrap_or(0);
    (whole.parse().unwrap_or(i64::MAX), micros)
}

/// A date or time that comes after all that there are, so that no row has it.
fn nobodys(kind: TypeKind) -> Value<'static> {
    let date = Date(Date::new(9999, 12, 31).0 + 1);
    match kind {
        TypeKind::Date => Value::Date(date),
        TypeKind::Time => Value::Time(Time(Time::MAX.0 + 1)),
        _ => Value::DateTime(date.at_midnight()),
    }
}

/// What arrives for a DATE, TIME or DATETIME: numbers and texts are read as one, those that are none are NULL. Warning 1292.
fn moment(value: &Value<'_>, parameter: &Parameter, env: &mut Telling<'_>) -> Value<'static> {
    let kind = parameter.data_type.kind;
    let shown = String::from_utf8_lossy(&text(value, &type_of(value))).into_owned();
    let is_part = parameter.otherwise == Otherwise::PartOfDate;
    let (words, name) = match (kind, value) {
        (kind, Value::Bytes(_)) if kind == TypeKind::Date || is_part => ("Truncated incorrect", "date"),
        (TypeKind::Time, _) => ("Truncated incorrect", "time"),
        _ => ("Incorrect", "datetime"),
    };
    let (read, is_whole) = match (kind, parameter.otherwise) {
        (TypeKind::Time, _) => read_time(value),
        (_, Otherwise::WholeDate) => match read_date(value, env.env) {
            (Value::DateTime(t), _) if t.date().month() == 0 || t.date().day() == 0 => (Value::Null, false),
            read => read,
        },
        (_, Otherwise::TimeOfDay) => match read_date(value, env.env) {
            (Value::Null, _) => read_time(value),
            read => read,
        },
        (TypeKind::Date, _) | (_, Otherwise::PartOfDate) => {
            day_of(value).map_or_else(|| read_date(value, env.env), |day| (day, true))
        }
        _ => read_date(value, env.env),
    };
    if !is_whole {
        let words = if read.is_null() { words } else { "Truncated incorrect" };
        env.tell(format!("{words} {name} value: '{shown}'"));
    }
    match (kind, read) {
        (TypeKind::Date, Value::DateTime(t)) => Value::Date(t.date()),
        (_, read) => read,
    }
}

/// As a TIME, and whether all of it is one.
fn read_time(value: &Value<'_>) -> (Value<'static>, bool) {
    let read = match value {
        Value::Time(t) => return (Value::Time(*t), true),
        Value::DateTime(t) => return (Value::Time(t.time()), true),
        Value::Bytes(text) => parse::parse_time(text, SqlMode::NONE),
        number => {
            let (whole, micros) = seconds_and_micros(number);
            parse::time_from_number(whole, micros)
        }
    };
    match read {
        Some(p) => (Value::Time(p.value), p.problem == Problem::None),
        None => (Value::Null, false),
    }
}

/// A number that is the day of a month at most, or a month, as MySQL reads it for a DATE: of the year 2000.
fn day_of(value: &Value<'_>) -> Option<Value<'static>> {
    if !matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_)) {
        return None;
    }
    let n = u32::try_from(seconds_and_micros(value).0).ok().filter(|n| (1..=31).contains(n) || *n == 100)?;
    Some(Value::DateTime(Date::new(2000, n / 100, n % 100).at_midnight()))
}

/// As a DATETIME, and whether all of it is one.
fn read_date(value: &Value<'_>, env: &dyn Env) -> (Value<'static>, bool) {
    let local = |seconds: i64, micros| DateTime::from_unix(seconds + i64::from(env.time_zone_offset(seconds)), micros);
    let read = match value {
        Value::Date(date) => return (Value::DateTime(date.at_midnight()), true),
        Value::DateTime(t) => return (Value::DateTime(*t), true),
        Value::Time(t) => {
            let today = local(env.now_us().div_euclid(1_000_000), 0).map(|now| now.date().at_midnight());
            let moment = today.and_then(|day| day.add_micros(t.0));
            return (moment.map_or(Value::Null, Value::DateTime), true);
        }
        // Days that their month lacks are let in.
        Value::Bytes(text) => parse::parse_datetime(text, SqlMode(LENIENT.0 | SqlMode::ALLOW_INVALID_DATES.0)),
        number => {
            let (whole, micros) = seconds_and_micros(number);
            parse::datetime_from_number(whole, micros, LENIENT)
        }
    };
    let Some(p) = read else { return (Value::Null, false) };
    let read = match p.zoned {
        true => local(p.value.to_unix_seconds(), p.value.micros()).unwrap_or(p.value),
        false => p.value,
    };
    (Value::DateTime(read), p.problem == Problem::None)
}

/// A user variable's value as it is given to a statement: MySQL keeps dates and documents in variables as texts.
pub fn of_variable(value: Value<'static>, data_type: &DataType) -> Value<'static> {
    match value {
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Json(_) => {
            let text = text(&value, data_type).into_owned();
            Value::Bytes(Cow::Owned(text))
        }
        other => other,
    }
}
