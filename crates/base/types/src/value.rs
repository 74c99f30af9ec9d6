//! A value at run time. Strings borrow from the row or the statement where they can.

use crate::json::{self, Json};
use crate::{Date, DateTime, Decimal, Time};
use std::borrow::Cow;

/// One SQL value. Its static type ([`crate::DataType`]) says which character set the bytes are in and how they compare;
/// FLOAT values are `Double` already rounded to f32; BIT is `UInt`; YEAR is `UInt`; ENUM/SET are `UInt` indexes in rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Decimal(Decimal),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Bytes(Cow<'a, [u8]>),
    /// A document in its binary form ([`crate::json::binary`]).
    Json(Cow<'a, [u8]>),
}

impl Value<'_> {
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// A document.
    pub fn from_json(doc: &Json) -> Value<'static> {
        Value::Json(Cow::Owned(json::binary::encode(doc)))
    }

    /// The document of a JSON value, whose bytes are well-formed: they are written by this server only.
    pub fn json(&self) -> Option<Json> {
        match self {
            Value::Json(b) => Some(json::binary::decode(b).expect("JSON values hold well-formed documents")),
            _ => None,
        }
    }

    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(v) => Value::Int(v),
            Value::UInt(v) => Value::UInt(v),
            Value::Double(v) => Value::Double(v),
            Value::Decimal(v) => Value::Decimal(v),
            Value::Date(v) => Value::Date(v),
            Value::Time(v) => Value::Time(v),
            Value::DateTime(v) => Value::DateTime(v),
            Value::Bytes(b) => Value::Bytes(Cow::Owned(b.into_owned())),
            Value::Json(b) => Value::Json(Cow::Owned(b.into_owned())),
        }
    }
}
