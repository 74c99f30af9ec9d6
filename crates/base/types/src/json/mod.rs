//! JSON documents: a tree to work on, and MySQL's text, binary form, paths and order.
//!
//! Rows and intermediate results hold the binary form ([`binary`]); functions that look into a document or change it work
//! on the tree.

pub mod binary;
pub mod compare;
pub mod parse;
pub mod part;
pub mod path;
pub mod text;

use crate::{Date, DateTime, Decimal, Time, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Arrays and objects inside one another, at most; error 3157 beyond.
pub const DEPTH_MAX: usize = 100;
/// Bytes of a member's name.
pub const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// A document or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    Decimal(Decimal),
    String(String),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    /// As [`Json::DateTime`], from a TIMESTAMP: in the time zone of the session that made it.
    Timestamp(DateTime),
    /// Bytes that are no text: MySQL's protocol type number, and the bytes.
    Opaque(u8, Vec<u8>),
    Array(Vec<Json>),
    Object(Object),
}

/// Members in MySQL's order: shorter keys first, then by bytes. A key is there once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Json)>);

/// Order of two keys.
pub fn compare_keys(a: impl AsRef<[u8]>, b: impl AsRef<[u8]>) -> Ordering {
    let (a, b) = (a.as_ref(), b.as_ref());
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl Object {
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(k, _)| compare_keys(k, key))
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        self.find(key).ok().map(|i| &self.0[i].1)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.find(key).ok().map(|i| &mut self.0[i].1)
    }

    /// Adds a member, or gives it another value.
    pub fn insert(&mut self, key: String, value: Json) {
        match self.find(&key) {
            Ok(i) => self.0[i].1 = value,
            Err(i) => self.0.insert(i, (key, value)),
        }
    }

    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.find(key).ok().map(|i| self.0.remove(i).1)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    pub fn into_members(self) -> impl Iterator<Item = (String, Json)> {
        self.0.into_iter()
    }

    /// One object of two: `of` makes each member's value of the two that its key has. In one pass over both.
    fn merge(self, other: Object, mut of: impl FnMut(Option<Json>, Option<Json>) -> Option<Json>) -> Object {
        let mut merged = Vec::with_capacity(self.0.len().max(other.0.len()));
        let (mut a, mut b) = (self.0.into_iter().peekable(), other.0.into_iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some((x, _)), Some((y, _))) => compare_keys(x, y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Object(merged),
            };
            let mine = if order.is_le() { a.next() } else { None };
            let theirs = if order.is_ge() { b.next() } else { None };
            let (key, mine, theirs) = match (mine, theirs) {
                (Some((key, mine)), theirs) => (key, Some(mine), theirs.map(|(_, v)| v)),
                (None, Some((key, theirs))) => (key, None, Some(theirs)),
                (None, None) => unreachable!("one of them has a member"),
            };
            merged.extend(of(mine, theirs).map(|value| (key, value)));
        }
    }

    /// From members in any order; of a key given twice the last counts.
    pub fn from_members(mut members: Vec<(String, Json)>) -> Object {
        members.sort_by(|(a, _), (b, _)| compare_keys(a, b));
        // The later of two equal keys comes second, since the sort is stable.
        let mut out: Vec<(String, Json)> = Vec::with_capacity(members.len());
        for (key, value) in members {
            match out.last_mut() {
                Some((last, slot)) if *last == key => *slot = value,
                _ => out.push((key, value)),
            }
        }
        Object(out)
    }
}

/// MySQL's protocol numbers of the types that an opaque value can come from.
pub mod opaque {
    pub const BIT: u8 = 16;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const VARCHAR: u8 = 15;
    pub const GEOMETRY: u8 = 255;
}

impl Json {
    /// As JSON_TYPE says.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Int(_) => "INTEGER",
            Json::UInt(_) => "UNSIGNED INTEGER",
            Json::Double(_) => "DOUBLE",
            Json::Decimal(_) => "DECIMAL",
            Json::String(_) => "STRING",
            Json::Date(_) => "DATE",
            Json::Time(_) => "TIME",
            Json::DateTime(_) | Json::Timestamp(_) => "DATETIME",
            Json::Opaque(opaque::BIT, _) => "BIT",
            Json::Opaque(opaque::VAR_STRING | opaque::STRING | opaque::VARCHAR | 249..=252, _) => "BLOB",
            Json::Opaque(opaque::GEOMETRY, _) => "GEOMETRY",
            Json::Opaque(..) => "OPAQUE",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// The SQL value of a scalar: strings and opaque bytes as bytes, truth values as 0 and 1; NULL for `null` and containers.
    pub fn into_scalar(self) -> Value<'static> {
        match self {
            Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
            Json::Bool(v) => Value::Int(v as i64),
            Json::Int(v) => Value::Int(v),
            Json::UInt(v) => Value::UInt(v),
            Json::Double(v) => Value::Double(v),
            Json::Decimal(v) => Value::Decimal(v),
            Json::String(text) => Value::Bytes(Cow::Owned(text.into_bytes())),
            Json::Date(v) => Value::Date(v),
            Json::Time(v) => Value::Time(v),
            Json::DateTime(v) | Json::Timestamp(v) => Value::DateTime(v),
            Json::Opaque(_, bytes) => Value::Bytes(Cow::Owned(bytes)),
        }
    }

    /// The document of an SQL value that is no JSON text: a scalar. Bytes are taken for text in UTF-8.
    pub fn from_scalar(v: &Value<'_>) -> Json {
        match v {
            Value::Null => Json::Null,
            Value::Int(v) => Json::Int(*v),
            Value::UInt(v) => Json::UInt(*v),
            Value::Double(v) => Json::Double(*v),
            Value::Decimal(v) => Json::Decimal(*v),
            Value::Date(v) => Json::Date(*v),
            Value::Time(v) => Json::Time(*v),
            Value::DateTime(v) => Json::DateTime(*v),
            Value::Bytes(b) => Json::String(String::from_utf8_lossy(b).into_owned()),
            Value::Json(_) => v.json().expect("a JSON value"),
        }
    }

    pub fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// JSON_DEPTH: 1 for scalars and empty containers.
    pub fn depth(&self) -> usize {
        1 + match self {
            Json::Array(list) => list.iter().map(Json::depth).max().unwrap_or(0),
            Json::Object(members) => members.iter().map(|(_, v)| v.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Containers inside one another, itself included: what [`DEPTH_MAX`] bounds.
    pub fn nesting(&self) -> usize {
        match self {
            Json::Array(list) => 1 + list.iter().map(Json::nesting).max().unwrap_or(0),
            Json::Object(members) => 1 + members.iter().map(|(_, v)| v.nesting()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Bytes of memory that a copy takes, roughly.
    pub fn memory(&self) -> usize {
        size_of::<Json>()
            + match self {
                Json::String(text) => text.len(),
                Json::Opaque(_, bytes) => bytes.len(),
                Json::Array(list) => list.iter().map(Json::memory).sum(),
                Json::Object(members) => {
                    members.iter().map(|(key, v)| size_of::<String>() + key.len() + v.memory()).sum()
                }
                _ => 0,
            }
    }

    /// JSON_LENGTH: elements or members; 1 for scalars.
    pub fn length(&self) -> usize {
        match self {
            Json::Array(list) => list.len(),
            Json::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// An array as it is, anything else as an array of itself.
    pub fn into_array(self) -> Vec<Json> {
        match self {
            Json::Array(list) => list,
            other => vec![other],
        }
    }

    /// JSON_MERGE_PRESERVE of two documents: objects are joined member by member, all else becomes one array.
    pub fn merge_preserve(self, other: Json) -> Json {
        match (self, other) {
            (Json::Object(a), Json::Object(b)) => Json::Object(a.merge(b, |a, b| match (a, b) {
                (Some(a), Some(b)) => Some(a.merge_preserve(b)),
                (one, other) => one.or(other),
            })),
            (a, b) => {
                let mut list = a.into_array();
                list.extend(b.into_array());
                Json::Array(list)
            }
        }
    }

    /// JSON_MERGE_PATCH (RFC 7396).
    pub fn merge_patch(self, patch: Json) -> Json {
        let Json::Object(patch) = patch else { return patch };
        let target = match self {
            Json::Object(members) => members,
            _ => Object::default(),
        };
        Json::Object(target.merge(patch, |old, value| match value {
            None => old,
            Some(Json::Null) => None,
            Some(value) => Some(old.unwrap_or(Json::Null).merge_patch(value)),
        }))
    }

    /// JSON_CONTAINS: is `candidate` in `self`? Each element of one array is looked for among all of the other: `go_on` is asked
    /// at each, and its error ends it.
    pub fn contains<E>(&self, candidate: &Json, go_on: &mut dyn FnMut() -> Result<(), E>) -> Result<bool, E> {
        Ok(match (self, candidate) {
            (Json::Object(a), Json::Object(b)) => {
                for (key, value) in b.iter() {
                    let Some(mine) = a.get(key) else { return Ok(false) };
                    if !mine.contains(value, go_on)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Json::Array(_), Json::Array(list)) => {
                for v in list {
                    go_on()?;
                    if !self.contains(v, go_on)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Json::Array(list), candidate) => {
                // An array inside holds the candidate only as a whole array does.
                let (arrays, others): (Vec<&Json>, Vec<&Json>) = list.iter().partition(|v| matches!(v, Json::Array(_)));
                for v in others.into_iter().chain(arrays) {
                    if v.contains(candidate, go_on)? {
                        return Ok(true);
                    }
                }
                false
            }
            (a, b) if a.is_container() || b.is_container() => false,
            (a, b) => a.compare(b).is_eq(),
        })
    }

    /// JSON_OVERLAPS: do the two have an element or member in common? `go_on` as for [`Json::contains`].
    pub fn overlaps<E>(&self, other: &Json, go_on: &mut dyn FnMut() -> Result<(), E>) -> Result<bool, E> {
        Ok(match (self, other) {
            (Json::Object(a), Json::Object(b)) => {
                a.iter().any(|(key, value)| b.get(key).is_some_and(|theirs| theirs.compare(value).is_eq()))
            }
            (Json::Array(a), Json::Array(b)) => {
                for x in a {
                    go_on()?;
                    if b.iter().any(|y| x.compare(y).is_eq()) {
                        return Ok(true);
                    }
                }
                false
            }
            (Json::Array(a), b) => a.iter().any(|x| x.compare(b).is_eq()),
            (a, Json::Array(b)) => b.iter().any(|x| x.compare(a).is_eq()),
            (a, b) => a.compare(b).is_eq(),
        })
    }
}

#[cfg(test)]
mod tests;
