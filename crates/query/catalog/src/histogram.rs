//! Histograms: how the values of a column are spread, as ANALYZE TABLE ... UPDATE HISTOGRAM found them. They are part of the
//! column in the dictionary, and nothing keeps them up to date but the next ANALYZE.
//!
//! ```text
//!   singleton     a bucket for each value                    [value, cumulative frequency]
//!   equi-height   buckets of about as many rows, neighbours  [least, greatest, cumulative frequency, different values]
//! ```
//!
//! Frequencies are shares of all rows, those with NULL included, so that the last one and the share of NULL make 1. A histogram
//! as a document ([`Histogram::document`]) is what `information_schema.COLUMN_STATISTICS` shows and, in JSON's binary form, what
//! the dictionary keeps: decimals, dates and bytes survive in it.

use std::cmp::Ordering;
use types::json::{Json, Object, opaque};
use types::{CollationId, DataType, DateTime, Decimal, TypeKind, Value, compare};

/// Most buckets of a histogram, and how many there are unless the statement says.
pub const BUCKETS_MAX: u64 = 1024;
pub const BUCKETS_DEFAULT: u64 = 100;
/// Characters of a text that count.
pub const CHARACTERS_MAX: usize = 42;
/// Rounds of the search for the height of buckets.
const SEARCHES_MAX: u32 = 10;

/// What a histogram takes the values of a column for: its `data-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    Int,
    UInt,
    Double,
    Decimal,
    String,
    Date,
    Time,
    DateTime,
    Enum,
    Set,
}

const DOMAINS: [(Domain, &str); 10] = [
    (Domain::Int, "int"),
    (Domain::UInt, "uint"),
    (Domain::Double, "double"),
    (Domain::Decimal, "decimal"),
    (Domain::String, "string"),
    (Domain::Date, "date"),
    (Domain::Time, "time"),
    (Domain::DateTime, "datetime"),
    (Domain::Enum, "enum"),
    (Domain::Set, "set"),
];

impl Domain {
    /// `None`: columns of the type have no histogram.
    pub fn of(t: &DataType) -> Option<Domain> {
        use TypeKind::*;
        Some(match t.kind {
            BigInt if t.unsigned => Domain::UInt,
            TinyInt | SmallInt | MediumInt | Int | BigInt | Year | Bit => Domain::Int,
            Float | Double => Domain::Double,
            Decimal => Domain::Decimal,
            Date => Domain::Date,
            Time => Domain::Time,
            DateTime | Timestamp => Domain::DateTime,
            Enum => Domain::Enum,
            Set => Domain::Set,
            Json | Geometry | Null => return None,
            _ => Domain::String,
        })
    }

    pub fn name(self) -> &'static str {
        DOMAINS.iter().find(|(d, _)| *d == self).expect("each has a name").1
    }

    pub fn by_name(name: &str) -> Option<Domain> {
        DOMAINS.iter().find(|(_, n)| *n == name).map(|(d, _)| *d)
    }

    /// A column's value as its histogram has it: integers of one kind, texts cut. NULL is no value.
    pub fn value(self, v: Value<'_>, t: &DataType) -> Option<Value<'static>> {
        Some(match (self, v) {
            (_, Value::Null) => return None,
            (Domain::Int | Domain::Enum | Domain::Set, v) => Value::Int(v.to_i64()),
            (Domain::UInt, v) => Value::UInt(v.to_u64()),
            (Domain::Double, v) => Value::Double(v.to_f64()),
            (Domain::String, Value::Bytes(b)) => {
                let kept = t.collation.charset().char_offset(&b, CHARACTERS_MAX);
                Value::Bytes(b[..kept].to_vec().into())
            }
            (_, v) => v.into_owned(),
        })
    }
}

/// The collation that a column's histogram names: numbers and times have that of MySQL's literals of old.
pub fn collation_of(t: &DataType) -> CollationId {
    match Domain::of(t) {
        Some(Domain::String | Domain::Enum | Domain::Set) => t.collation,
        _ if t.kind == TypeKind::Bit => CollationId::BINARY,
        _ => CollationId::LATIN1_SWEDISH_CI,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Singleton,
    EquiHeight,
}

/// Neighbouring values. Of a singleton histogram's the ends are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Both inclusive.
    pub lower: Value<'static>,
    pub upper: Value<'static>,
    /// Of it and those before it.
    pub cumulative: f64,
    /// Different values, at least 1.
    pub different: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub domain: Domain,
    pub form: Form,
    /// In the order of their values, at most [`BUCKETS_MAX`].
    pub buckets: Vec<Bucket>,
    /// The share of rows with NULL.
    pub nulls: f64,
    /// The share of the table's rows that were looked at.
    pub sampling_rate: f64,
    /// As the statement said.
    pub buckets_specified: u64,
    pub collation: CollationId,
    /// ANALYZE TABLE makes it anew.
    pub auto_update: bool,
    /// In UTC.
    pub updated: DateTime,
}

/// How a histogram is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// From 1 to [`BUCKETS_MAX`].
    pub buckets: u64,
    pub auto_update: bool,
    pub sampling_rate: f64,
    /// In UTC.
    pub now: DateTime,
}

impl Histogram {
    /// Of the different values of a column in their order, with how often each came, and of so many NULLs.
    pub fn build(t: &DataType, values: Vec<(Value<'static>, u64)>, nulls: u64, asked: Asked) -> Histogram {
        assert!((1..=BUCKETS_MAX).contains(&asked.buckets));
        let domain = Domain::of(t).expect("the caller has looked at the type");
        let all = nulls + values.iter().map(|(_, n)| n).sum::<u64>();
        let (form, buckets) = match values.len() as u64 <= asked.buckets {
            true => (Form::Singleton, singletons(values, all)),
            false => (Form::EquiHeight, equal_heights(values, all, asked)),
        };
        debug_assert!(buckets.len() as u64 <= asked.buckets);
        Histogram {
            domain,
            form,
            buckets,
            nulls: if all == 0 { 0.0 } else { nulls as f64 / all as f64 },
            sampling_rate: asked.sampling_rate,
            buckets_specified: asked.buckets,
            collation: collation_of(t),
            auto_update: asked.auto_update,
            updated: asked.now,
        }
    }

    /// Different values that were found.
    pub fn different(&self) -> u64 {
        self.buckets.iter().map(|b| b.different).sum()
    }

    /// The share of rows that have a value.
    pub fn not_null(&self) -> f64 {
        1.0 - self.nulls
    }

    fn compare(&self, a: &Value<'_>, b: &Value<'_>) -> Ordering {
        compare(a, b, self.collation).unwrap_or(Ordering::Equal)
    }

    fn before(&self, i: usize) -> f64 {
        if i == 0 { 0.0 } else { self.buckets[i - 1].cumulative }
    }

    /// The share of rows with exactly this value, which is of the domain, as are those below.
    pub fn equal_to(&self, v: &Value<'_>) -> f64 {
        let at = self.buckets.partition_point(|b| self.compare(&b.upper, v).is_lt());
        match self.buckets.get(at) {
            Some(b) if self.compare(v, &b.lower).is_ge() => (b.cumulative - self.before(at)) / b.different as f64,
            _ => 0.0,
        }
    }

    /// The share of rows with a lesser value: whole buckets, and of the one that `v` lies in the part in front of it.
    pub fn less_than(&self, v: &Value<'_>) -> f64 {
        let at = self.buckets.partition_point(|b| self.compare(&b.upper, v).is_lt());
        let Some(b) = self.buckets.get(at) else { return self.not_null() };
        let inside = self.compare(&b.lower, v).is_lt();
        let share = if inside { self.distances(b, v).0 } else { 0.0 };
        self.before(at) + (b.cumulative - self.before(at)) * share
    }

    /// The share of rows with a greater value.
    pub fn greater_than(&self, v: &Value<'_>) -> f64 {
        let at = self.buckets.partition_point(|b| self.compare(&b.upper, v).is_le());
        let Some(b) = self.buckets.get(at) else { return 0.0 };
        let outside = self.compare(v, &b.lower).is_lt();
        let share = if outside { 1.0 } else { self.distances(b, v).1 };
        (b.cumulative - self.before(at)) * share + (self.not_null() - b.cumulative).max(0.0)
    }

    /// Of the values of a bucket, the parts that are less and greater than one in it.
    fn distances(&self, b: &Bucket, v: &Value<'_>) -> (f64, f64) {
        use Value as V;
        let (low, at, high) = match (&b.lower, v, &b.upper) {
            // Integers are counted, the value itself among them.
            (V::Int(_) | V::UInt(_), v, _) => {
                let (low, at, high) = (b.lower.to_f64(), v.to_f64(), b.upper.to_f64());
                let width = high - low + 1.0;
                return (((at - low) / width).clamp(0.0, 1.0), ((high - at) / width).clamp(0.0, 1.0));
            }
            (V::Date(low), V::Date(at), V::Date(high)) => {
                (low.to_number() as f64, at.to_number() as f64, high.to_number() as f64)
            }
            (V::Time(low), V::Time(at), V::Time(high)) => (low.0 as f64, at.0 as f64, high.0 as f64),
            (V::DateTime(low), V::DateTime(at), V::DateTime(high)) => {
                (low.to_micros() as f64, at.to_micros() as f64, high.to_micros() as f64)
            }
            (V::Bytes(low), V::Bytes(at), V::Bytes(high)) => self.weights(low, at, high),
            (low, at, high) => (low.to_f64(), at.to_f64(), high.to_f64()),
        };
        let less = if high > low { ((at - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
        (less, 1.0 - less)
    }

    /// Texts as numbers: eight bytes of their weights, from the first on in which the three differ.
    fn weights(&self, low: &[u8], at: &[u8], high: &[u8]) -> (f64, f64, f64) {
        let weights = [low, at, high].map(|text| {
            let mut out = Vec::new();
            self.collation.sort_weights(text, 0, &mut out);
            out
        });
        let byte = |w: &[u8], i: usize| w.get(i).copied().unwrap_or(0);
        let longest = weights.iter().map(Vec::len).max().unwrap_or(0);
        let differ = |i: &usize| weights.iter().any(|w| byte(w, *i) != byte(&weights[0], *i));
        let first = (0..longest).find(differ).unwrap_or(longest);
        let number = |w: &[u8]| (first..first + 8).fold(0u64, |n, i| n << 8 | byte(w, i) as u64) as f64;
        (number(&weights[0]), number(&weights[1]), number(&weights[2]))
    }

    /// As COLUMN_STATISTICS shows it.
    pub fn document(&self) -> Json {
        let bucket = |b: &Bucket| {
            Json::Array(match self.form {
                Form::Singleton => vec![self.element(&b.lower), Json::Double(b.cumulative)],
                Form::EquiHeight => {
                    let ends = [self.element(&b.lower), self.element(&b.upper)];
                    ends.into_iter().chain([Json::Double(b.cumulative), Json::UInt(b.different)]).collect()
                }
            })
        };
        let word = |s: &str| Json::String(s.to_string());
        let members = [
            ("buckets", Json::Array(self.buckets.iter().map(bucket).collect())),
            ("data-type", word(self.domain.name())),
            ("auto-update", Json::Bool(self.auto_update)),
            ("null-values", Json::Double(self.nulls)),
            ("collation-id", Json::UInt(self.collation.0.into())),
            ("last-updated", Json::DateTime(self.updated)),
            ("sampling-rate", Json::Double(self.sampling_rate)),
            ("histogram-type", word(self.form.name())),
            ("number-of-buckets-specified", Json::Int(self.buckets_specified as i64)),
        ];
        Json::Object(Object::from_members(members.map(|(name, value)| (name.to_string(), value)).into()))
    }

    fn element(&self, v: &Value<'_>) -> Json {
        match v {
            Value::Bytes(b) => Json::Opaque(opaque::STRING, b.to_vec()),
            v => Json::from_scalar(v),
        }
    }

    /// What [`Histogram::document`] made; `None`: something else did.
    pub fn of_document(document: &Json) -> Option<Histogram> {
        let Json::Object(members) = document else { return None };
        let word = |name| match members.get(name) {
            Some(Json::String(s)) => Some(s.as_str()),
            _ => None,
        };
        let number = |name| match members.get(name) {
            Some(Json::Double(v)) => Some(*v),
            _ => None,
        };
        let form = Form::by_name(word("histogram-type")?)?;
        let Some(Json::Array(list)) = members.get("buckets") else { return None };
        let (Some(Json::UInt(collation)), Some(Json::DateTime(updated)), Some(Json::Bool(auto_update))) =
            (members.get("collation-id"), members.get("last-updated"), members.get("auto-update"))
        else {
            return None;
        };
        let collation = CollationId(u16::try_from(*collation).ok()?);
        Some(Histogram {
            domain: Domain::by_name(word("data-type")?)?,
            form,
            buckets: list.iter().map(|b| bucket_of(form, b)).collect::<Option<_>>()?,
            nulls: number("null-values")?,
            sampling_rate: number("sampling-rate")?,
            buckets_specified: members.get("number-of-buckets-specified")?.to_f64() as u64,
            collation: Some(collation).filter(|c| c.is_known())?,
            auto_update: *auto_update,
            updated: *updated,
        })
    }
}

impl Form {
    pub const fn name(self) -> &'static str {
        match self {
            Form::Singleton => "singleton",
            Form::EquiHeight => "equi-height",
        }
    }

    pub fn by_name(name: &str) -> Option<Form> {
        [Form::Singleton, Form::EquiHeight].into_iter().find(|f| f.name() == name)
    }
}

fn bucket_of(form: Form, bucket: &Json) -> Option<Bucket> {
    let Json::Array(list) = bucket else { return None };
    let value = |v: &Json| v.clone().into_scalar();
    match (form, &list[..]) {
        (Form::Singleton, [v, Json::Double(cumulative)]) => {
            Some(Bucket { lower: value(v), upper: value(v), cumulative: *cumulative, different: 1 })
        }
        (Form::EquiHeight, [lower, upper, Json::Double(cumulative), Json::UInt(different)]) => {
            let (lower, upper) = (value(lower), value(upper));
            Some(Bucket { lower, upper, cumulative: *cumulative, different: *different })
        }
        _ => None,
    }
}

fn singletons(values: Vec<(Value<'static>, u64)>, all: u64) -> Vec<Bucket> {
    let mut so_far = 0;
    let bucket = |(value, n): (Value<'static>, u64)| {
        so_far += n;
        Bucket { lower: value.clone(), upper: value, cumulative: so_far as f64 / all as f64, different: 1 }
    };
    values.into_iter().map(bucket).collect()
}

/// Values go into a bucket one after the other while it does not become higher than the least height with which there are enough
/// buckets for all. A value with more rows than that has a bucket of its own.
fn equal_heights(values: Vec<(Value<'static>, u64)>, all: u64, asked: Asked) -> Vec<Bucket> {
    let most = asked.buckets as usize;
    let height = height(&values, most);
    let mut buckets: Vec<Bucket> = Vec::with_capacity(most);
    let (mut so_far, mut rows, mut different, mut once) = (0, 0, 0u64, 0u64);
    let mut lower = 0;
    for (i, (value, n)) in values.iter().enumerate() {
        (so_far, rows, different, once) = (so_far + n, rows + n, different + 1, once + u64::from(*n == 1));
        let left = values.len() - i - 1;
        let room = most - buckets.len() - 1;
        if left > room && rows + values[i + 1].1 <= height {
            continue;
        }
        buckets.push(Bucket {
            lower: values[lower].0.clone(),
            upper: value.clone(),
            cumulative: so_far as f64 / all as f64,
            different: estimated(asked.sampling_rate, different, once),
        });
        (rows, different, once, lower) = (0, 0, 0, i + 1);
    }
    buckets
}

/// Different values in all rows, when a part of them has so many, some of them once (Charikar's guaranteed-error estimator).
fn estimated(rate: f64, different: u64, once: u64) -> u64 {
    match different {
        1 => 1,
        _ => ((1.0 / rate).sqrt() * once as f64).round() as u64 + different - once,
    }
}

/// The least height of buckets with which `most` of them hold all, nearly: the search ends after some rounds.
fn height(values: &[(Value<'static>, u64)], most: usize) -> u64 {
    let all: u64 = values.iter().map(|(_, n)| n).sum();
    if most == 1 {
        return all;
    }
    // Two neighbouring buckets hold more than this height together, so that it is always enough.
    let (mut low, mut high) = (0, 2 * all / (most as u64 - 1) + 1);
    for _ in 0..SEARCHES_MAX {
        if high <= low + 1 {
            break;
        }
        let middle = (low + high) / 2;
        if fits(values, middle, most) { high = middle } else { low = middle }
    }
    high
}

fn fits(values: &[(Value<'static>, u64)], height: u64, most: usize) -> bool {
    let (mut used, mut rows) = (1, 0);
    for (_, n) in values {
        if rows > 0 && rows + n > height {
            (used, rows) = (used + 1, 0);
        }
        rows += n;
    }
    used <= most
}

/// An exact number for a fraction of a document.
pub(crate) fn decimal_of(v: &Json) -> Option<Decimal> {
    match v {
        Json::Decimal(d) => Some(*d),
        Json::Int(n) => Some(Decimal::from(*n)),
        Json::UInt(n) => Some(Decimal::from(*n)),
        Json::Double(n) => Decimal::from_f64(*n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(buckets: u64) -> Asked {
        Asked { buckets, auto_update: false, sampling_rate: 1.0, now: DateTime::ZERO }
    }

    fn of_ints(values: impl IntoIterator<Item = (i64, u64)>, nulls: u64, buckets: u64) -> Histogram {
        let values = values.into_iter().map(|(v, n)| (Value::Int(v), n)).collect();
        Histogram::build(&DataType::new(TypeKind::Int), values, nulls, asked(buckets))
    }

    #[test]
    fn shares_add_up() {
        for (buckets, form) in [(100, Form::Singleton), (7, Form::EquiHeight), (1, Form::EquiHeight)] {
            let h = of_ints((0..60).map(|v| (v * 3, 1 + v as u64 % 11)), 17, buckets);
            assert_eq!(h.form, form);
            assert!((h.buckets.last().unwrap().cumulative + h.nulls - 1.0).abs() < 1e-9);
            assert_eq!(h.different(), 60);
            for v in -2..185 {
                let v = Value::Int(v);
                let (less, greater) = (h.less_than(&v), h.greater_than(&v));
                assert!((0.0..=h.not_null()).contains(&less) && (0.0..=h.not_null()).contains(&greater), "{v:?}");
                assert!(less + greater <= h.not_null() + 1e-9, "{v:?}");
                if form == Form::Singleton {
                    assert!((less + greater + h.equal_to(&v) - h.not_null()).abs() < 1e-9, "{v:?}");
                }
            }
        }
    }

    #[test]
    fn a_frequent_value_has_a_bucket_of_its_own() {
        let h = of_ints((0..100).map(|v| (v, if v == 50 { 900 } else { 1 })), 0, 10);
        let one = h.buckets.iter().find(|b| b.lower == Value::Int(50)).unwrap();
        assert_eq!((one.different, one.upper.clone()), (1, Value::Int(50)));
        assert!(h.buckets.len() <= 10);
        assert!((h.equal_to(&Value::Int(50)) - 900.0 / 999.0).abs() < 1e-9);
    }

    #[test]
    fn documents_are_read_again() {
        let decimal = |s: &str| Value::Decimal(Decimal::parse(s.as_bytes()).0);
        let bytes = |s: &'static [u8]| Value::Bytes(s.into());
        let cases: [(DataType, Vec<Value<'static>>); 4] = [
            (
                DataType { decimals: 2, ..DataType::new(TypeKind::Decimal) },
                vec![decimal("-1.50"), decimal("99999999.99")],
            ),
            (DataType::string(TypeKind::VarChar, 9, CollationId::LATIN1_SWEDISH_CI), vec![bytes(b"\xe9"), bytes(b"z")]),
            (DataType::new(TypeKind::Date), vec![Value::Date(types::Date::new(1, 1, 1))]),
            (DataType::new(TypeKind::Double), vec![Value::Double(-1e-5), Value::Double(1e100)]),
        ];
        for (t, values) in cases {
            for buckets in [1, 5] {
                let h = Histogram::build(&t, values.iter().map(|v| (v.clone(), 3)).collect(), 1, asked(buckets));
                let stored = types::json::binary::encode(&h.document());
                let read = Histogram::of_document(&types::json::binary::decode(&stored).unwrap());
                assert_eq!(read, Some(h));
            }
        }
    }

    #[test]
    fn no_rows_have_no_share() {
        let h = of_ints([], 0, 5);
        assert_eq!((h.equal_to(&Value::Int(1)), h.greater_than(&Value::Int(1)), h.nulls), (0.0, 0.0, 0.0));
    }
}
