//! ANALYZE TABLE ... UPDATE HISTOGRAM ... USING DATA: a histogram from a document that somebody else made. Everything in it is
//! looked at, and what is wrong is said in MySQL's words.

use crate::column::Column;
use crate::histogram::{BUCKETS_MAX, Bucket, Domain, Form, Histogram, decimal_of};
use std::cmp::Ordering;
use types::json::{Json, Object};
use types::temporal::parse::{parse_datetime, parse_time};
use types::{CollationId, DataType, DateTime, SqlMode, StoreContext, TypeKind, Value, coerce_for_store, compare};

/// What is wrong, as the statement's table says it.
pub type Wrong = String;

type R<T> = std::result::Result<T, Wrong>;

/// The last bucket and NULL may miss a whole by this much.
const ROUNDING: f64 = 0.0001;
const BASE64_PREFIX: &str = "base64:type254:";

impl Histogram {
    /// The histogram of a column that a document says.
    pub fn of_data(document: &Json, column: &Column, now: DateTime) -> R<Histogram> {
        let Json::Object(members) = document else { return Err("JSON data is not an object".to_string()) };
        let form = word(members, "histogram-type")?;
        let domain = word(members, "data-type")?;
        let own = Domain::of(&column.data_type).expect("the caller has looked at the type");
        if own.name() != domain {
            return Err("Histogram data type does not match column data type at '$.\"data-type\"'.".to_string());
        }
        let form =
            Form::by_name(form).ok_or_else(|| "Unsupported histogram type at '$.\"histogram-type\"'.".to_string())?;
        let mut histogram = attributes(members, own, form, now)?;
        let Json::Array(buckets) = members.get("buckets").ok_or_else(|| missing("buckets"))? else {
            return Err(wrong_type("$.buckets"));
        };
        for (i, bucket) in buckets.iter().enumerate() {
            let bucket = Reader { histogram: &histogram, column, at: format!("$.buckets[{i}]") }.bucket(bucket)?;
            histogram.buckets.push(bucket);
        }
        whole(&histogram)?;
        Ok(histogram)
    }
}

fn missing(name: &str) -> Wrong {
    format!("Missing attribute at '{}'.", path(name))
}

fn wrong_type(at: &str) -> Wrong {
    format!("Wrong attribute type at '{at}'.")
}

fn path(name: &str) -> String {
    if name.contains('-') { format!("$.\"{name}\"") } else { format!("$.{name}") }
}

fn word<'m>(members: &'m Object, name: &str) -> R<&'m str> {
    match members.get(name) {
        Some(Json::String(s)) => Ok(s),
        Some(_) => Err(wrong_type(&path(name))),
        None => Err(missing(name)),
    }
}

fn attribute<T>(members: &Object, name: &str, of: impl Fn(&Json) -> Option<T>) -> R<T> {
    let found = members.get(name).ok_or_else(|| missing(name))?;
    of(found).ok_or_else(|| wrong_type(&path(name)))
}

fn double(v: &Json) -> Option<f64> {
    match v {
        Json::Double(n) => Some(*n),
        _ => None,
    }
}

fn int(v: &Json) -> Option<i64> {
    match v {
        Json::Int(n) => Some(*n),
        _ => None,
    }
}

/// All but the buckets.
fn attributes(members: &Object, domain: Domain, form: Form, now: DateTime) -> R<Histogram> {
    let sampling_rate = attribute(members, "sampling-rate", double)?;
    let specified = attribute(members, "number-of-buckets-specified", int)?;
    let nulls = attribute(members, "null-values", double)?;
    let collation = attribute(members, "collation-id", |v| match v {
        Json::UInt(n) => Some(*n),
        v => int(v).map(|n| n as u64),
    })?;
    let auto_update = attribute(members, "auto-update", |v| match v {
        Json::Bool(b) => Some(*b),
        _ => None,
    })?;
    let fraction = |n: f64| (0.0..=1.0).contains(&n);
    if !fraction(sampling_rate) {
        let says = "The sampling rate must be greater than or equal to 0 and less than or equal to 1";
        return Err(format!("{says} at '$.\"sampling-rate\"'."));
    }
    if !(1..=BUCKETS_MAX as i64).contains(&specified) {
        let name = "number-of-buckets-specified";
        let says = format!("The value of attribute {name} must be an integer in the range from 1 to {BUCKETS_MAX}");
        return Err(format!("{says} at '$.\"{name}\"'."));
    }
    if !fraction(nulls) {
        return Err(no_frequency("$.\"null-values\""));
    }
    let collation = u16::try_from(collation).ok().map(CollationId).filter(|c| c.is_known());
    let collation = collation.ok_or_else(|| "The charset ID does not exist at '$.\"collation-id\"'.".to_string())?;
    Ok(Histogram {
        domain,
        form,
        buckets: Vec::new(),
        nulls,
        sampling_rate,
        buckets_specified: specified as u64,
        collation,
        auto_update,
        updated: now,
    })
}

fn no_frequency(at: &str) -> Wrong {
    format!("The frequency must be greater than or equal to 0 and less than or equal to 1 at '{at}'.")
}

/// Of all buckets together.
fn whole(h: &Histogram) -> R<()> {
    match h.buckets.last() {
        None if h.form == Form::EquiHeight => {
            return Err("Equi-height histogram must have at least one bucket".to_string());
        }
        None if h.nulls != 0.0 && h.nulls != 1.0 => {
            return Err("The null values fraction should be 0 or 1.".to_string());
        }
        Some(last) if (last.cumulative + h.nulls - 1.0).abs() > ROUNDING => {
            let sum = "The sum of the null values fraction and the cumulative frequency of the last bucket";
            return Err(format!("{sum} should be 1.'"));
        }
        _ => {}
    }
    if h.buckets.len() as u64 > h.buckets_specified {
        let less = "The number of real buckets must be less than or equal to the number specified by attribute";
        return Err(format!("{less} number-of-buckets-specified."));
    }
    Ok(())
}

/// Reads a bucket behind those that the histogram has.
struct Reader<'h> {
    histogram: &'h Histogram,
    column: &'h Column,
    at: String,
}

impl Reader<'_> {
    fn bucket(&self, bucket: &Json) -> R<Bucket> {
        let at = |i: usize| format!("{}[{i}]", self.at);
        let Json::Array(list) = bucket else { return Err(wrong_type(&self.at)) };
        let ends = match (self.histogram.form, list.len()) {
            (Form::Singleton, 2) => 1,
            (Form::EquiHeight, 4) => 2,
            (Form::Singleton, _) => return Err(format!("Two elements required for bucket at '{}'.", self.at)),
            (Form::EquiHeight, _) => return Err(format!("Four elements required for bucket at '{}'.", self.at)),
        };
        let cumulative = double(&list[ends]).ok_or_else(|| wrong_type(&at(ends)))?;
        let different = match list.get(3) {
            None => 1,
            Some(Json::UInt(n)) => *n,
            Some(Json::Int(n)) => u64::try_from(*n).unwrap_or(0),
            Some(_) => return Err(wrong_type(&at(3))),
        };
        let upper = self.value(&list[ends - 1], &at(ends - 1))?;
        let lower = if ends == 2 { self.value(&list[0], &at(0))? } else { upper.clone() };
        if !(0.0..=1.0).contains(&cumulative) {
            return Err(no_frequency(&at(ends)));
        }
        if different == 0 {
            return Err(format!("The number of distinct values must be a positive integer at '{}'.", at(3)));
        }
        let collation = self.histogram.collation;
        let order = |a: &Value<'_>, b: &Value<'_>| compare(a, b, collation).unwrap_or(Ordering::Equal);
        if order(&lower, &upper).is_gt() {
            let both = "must be less than or equal to upper inclusive value.";
            return Err(format!("The lower inclusive value of bucket at '{}' {both}", at(0)));
        }
        if let Some(last) = self.histogram.buckets.last() {
            if order(&last.upper, &lower).is_ge() {
                return Err(match ends {
                    1 => format!("The value at '{}' must be greater than that of previous bucket.", at(0)),
                    _ => format!(
                        "The lower inclusive value of bucket at '{}' must be greater than the upper inclusive value \
                         of previous bucket.",
                        at(0)
                    ),
                });
            }
            if cumulative < last.cumulative {
                let more = "must be greater than that of previous bucket.";
                return Err(format!("The cumulative frequency of bucket at '{}' {more}", at(ends)));
            }
        }
        Ok(Bucket { lower, upper, cumulative, different })
    }

    /// A value that the column can hold.
    fn value(&self, v: &Json, at: &str) -> R<Value<'static>> {
        let (wrong, malformed) = (|| wrong_type(at), || format!("Value format error at '{at}'."));
        let beyond = || format!("Out of range value for column at '{at}'.");
        let value = match (self.histogram.domain, v) {
            (Domain::Int | Domain::Enum | Domain::Set, Json::Int(n)) => Value::Int(*n),
            (Domain::Int | Domain::Enum | Domain::Set, Json::UInt(_)) => return Err(beyond()),
            (Domain::UInt, Json::UInt(n)) => Value::UInt(*n),
            (Domain::UInt, Json::Int(n)) => Value::UInt(u64::try_from(*n).map_err(|_| beyond())?),
            (Domain::Double, Json::Double(n)) => Value::Double(*n),
            (Domain::Decimal, v @ (Json::Decimal(_) | Json::Int(_) | Json::UInt(_) | Json::Double(_))) => {
                Value::Decimal(decimal_of(v).ok_or_else(malformed)?)
            }
            (Domain::String, Json::String(s)) => {
                let bytes = s.strip_prefix(BASE64_PREFIX).and_then(|s| types::base64::decode(s.as_bytes()));
                Value::Bytes(bytes.ok_or_else(malformed)?.into())
            }
            (Domain::Time, Json::String(s)) => {
                let parsed = parse_time(s.as_bytes(), SqlMode::NONE)
                    .filter(|p| p.problem == types::temporal::parse::Problem::None);
                Value::Time(parsed.ok_or_else(malformed)?.value)
            }
            (domain @ (Domain::Date | Domain::DateTime), Json::String(s)) => {
                let parsed = parse_datetime(s.as_bytes(), SqlMode::NONE);
                let parsed = parsed.filter(|p| p.problem == types::temporal::parse::Problem::None);
                let t = parsed.ok_or_else(malformed)?.value;
                if domain == Domain::Date { Value::Date(t.date()) } else { Value::DateTime(t) }
            }
            _ => return Err(wrong()),
        };
        if self.holds(&value) { Ok(value) } else { Err(beyond()) }
    }

    fn holds(&self, v: &Value<'static>) -> bool {
        let members = &self.column.members;
        match (self.histogram.domain, v) {
            (Domain::Enum, Value::Int(n)) => return (0..=members.len() as i64).contains(n),
            (Domain::Set, Value::Int(n)) => return members.len() >= 64 || (0..1i64 << members.len()).contains(n),
            _ => {}
        }
        let source = match v {
            Value::Bytes(_) => DataType::string(TypeKind::VarChar, 255, self.histogram.collation),
            Value::Double(_) => DataType::new(TypeKind::Double),
            Value::Decimal(_) => DataType::new(TypeKind::Decimal),
            Value::Date(_) => DataType::new(TypeKind::Date),
            Value::Time(_) => DataType::new(TypeKind::Time),
            Value::DateTime(_) => DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) },
            v => DataType { unsigned: matches!(v, Value::UInt(_)), ..DataType::new(TypeKind::BigInt) },
        };
        let context =
            StoreContext { mode: SqlMode(SqlMode::STRICT_ALL_TABLES.0), column: &self.column.name, row: 1, members };
        matches!(coerce_for_store(v.clone(), &source, &self.column.data_type, &context), Ok((_, None)))
    }
}
