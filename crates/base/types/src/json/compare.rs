//! Order of documents: by kind first, NULL lowest, as MySQL's manual lists the kinds.

use super::{Json, compare_keys};
use crate::Decimal;
use std::cmp::Ordering;

fn rank(v: &Json) -> u8 {
    match v {
        Json::Null => 0,
        Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => 1,
        Json::String(_) => 2,
        Json::Object(_) => 3,
        Json::Array(_) => 4,
        Json::Bool(_) => 5,
        Json::Date(_) => 6,
        Json::Time(_) => 7,
        Json::DateTime(_) | Json::Timestamp(_) => 8,
        Json::Opaque(..) => 9,
    }
}

impl Json {
    pub fn compare(&self, other: &Json) -> Ordering {
        let by_kind = rank(self).cmp(&rank(other));
        if by_kind.is_ne() {
            return by_kind;
        }
        match (self, other) {
            (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
            (Json::Date(a), Json::Date(b)) => a.cmp(b),
            (Json::Time(a), Json::Time(b)) => a.cmp(b),
            (Json::DateTime(a) | Json::Timestamp(a), Json::DateTime(b) | Json::Timestamp(b)) => a.cmp(b),
            (Json::Opaque(t, a), Json::Opaque(u, b)) => t.cmp(u).then_with(|| a.cmp(b)),
            (Json::Array(a), Json::Array(b)) => {
                let first = a.iter().zip(b).map(|(x, y)| x.compare(y)).find(|o| o.is_ne());
                first.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Json::Object(a), Json::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
                let pairs = a.iter().zip(b.iter());
                let mut orders = pairs.map(|((k, x), (l, y))| compare_keys(k, l).then_with(|| x.compare(y)));
                orders.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            }),
            (a, b) => compare_numbers(a, b),
        }
    }
}

/// Integers and decimals exactly; with a double, as doubles, and exactly where those tie.
fn compare_numbers(a: &Json, b: &Json) -> Ordering {
    let whole = |v: &Json| match v {
        Json::Int(v) => Some(*v as i128),
        Json::UInt(v) => Some(*v as i128),
        _ => None,
    };
    if let (Some(x), Some(y)) = (whole(a), whole(b)) {
        return x.cmp(&y);
    }
    if matches!(a, Json::Double(_)) || matches!(b, Json::Double(_)) {
        let order = a.to_f64().partial_cmp(&b.to_f64()).unwrap_or(Ordering::Equal);
        return match (order, a, b) {
            (Ordering::Equal, Json::Double(_), Json::Double(_)) => order,
            (Ordering::Equal, ..) => exact(a).cmp(&exact(b)),
            _ => order,
        };
    }
    exact(a).cmp(&exact(b))
}

fn exact(v: &Json) -> Decimal {
    match v {
        Json::Int(v) => Decimal::from(*v),
        Json::UInt(v) => Decimal::from(*v),
        Json::Decimal(v) => *v,
        Json::Double(v) => {
            Decimal::from_f64(*v).unwrap_or_else(|| Decimal::max_value(Decimal::MAX_PRECISION, 0, v.is_sign_negative()))
        }
        _ => Decimal::ZERO,
    }
}

impl Json {
    /// Of a number; 0 for all else.
    pub fn to_f64(&self) -> f64 {
        match self {
            Json::Int(v) => *v as f64,
            Json::UInt(v) => *v as f64,
            Json::Double(v) => *v,
            Json::Decimal(v) => v.to_f64(),
            Json::Bool(v) => *v as u8 as f64,
            _ => 0.0,
        }
    }
}

impl Json {
    /// Appends bytes whose order is that of documents: equal documents have equal bytes (decimals as far as doubles tell
    /// them apart), and none is a prefix of another.
    pub fn sort_key(&self, out: &mut Vec<u8>) {
        out.push(rank(self));
        let text = |s: &str, out: &mut Vec<u8>| crate::collation::escape(s.as_bytes(), out);
        match self {
            Json::Null => {}
            Json::Int(v) => number_key(self.to_f64(), *v as i128, out),
            Json::UInt(v) => number_key(self.to_f64(), *v as i128, out),
            Json::Double(v) => number_key(*v, *v as i128, out),
            Json::Decimal(_) => {
                let v = self.to_f64();
                number_key(v, v as i128, out)
            }
            Json::String(s) => text(s, out),
            Json::Bool(v) => out.push(*v as u8),
            Json::Date(v) => out.extend_from_slice(&v.0.to_be_bytes()),
            Json::Time(v) => out.extend_from_slice(&(v.0 as u64 ^ 1 << 63).to_be_bytes()),
            Json::DateTime(v) | Json::Timestamp(v) => out.extend_from_slice(&v.0.to_be_bytes()),
            Json::Opaque(kind, bytes) => {
                out.push(*kind);
                crate::collation::escape(bytes, out);
            }
            Json::Array(list) => {
                for v in list {
                    out.push(1);
                    v.sort_key(out);
                }
                out.push(0);
            }
            Json::Object(members) => {
                out.extend_from_slice(&(members.len() as u32).to_be_bytes());
                for (key, v) in members.iter() {
                    out.extend_from_slice(&(key.len() as u32).to_be_bytes());
                    text(key, out);
                    v.sort_key(out);
                }
            }
        }
    }
}

/// The nearest double, then what an integer is above or below it.
fn number_key(near: f64, whole: i128, out: &mut Vec<u8>) {
    let bits = if near == 0.0 { 0 } else { near.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
    let rest = (whole - near as i128) as i64;
    out.extend_from_slice(&(rest as u64 ^ 1 << 63).to_be_bytes());
}
