//! Ranges of an index as bytes of its keys.

use super::entries;
use super::held::{Held, hold, is_precise, searched};
use super::{Run, Scope};
use catalog::{Index, Table};
use plan::node::IndexRange;
use types::key::{self, KeyPart};
use types::{Result, Value};

/// A half-open range of keys in `bytes`: `[lower, upper)`, unbounded above without `upper`.
#[derive(Clone, Copy)]
pub(super) struct KeyRange {
    pub lower: (usize, usize),
    pub upper: Option<(usize, usize)>,
    /// One value of a unique key.
    pub unique: bool,
}

/// What the equal parts of a range have become.
pub(super) struct Equal {
    /// A value has no place in the order of its part: the rows are judged by the condition alone.
    pub open: bool,
    /// Each value stands for itself alone.
    pub precise: bool,
    /// One row at most has such a prefix.
    pub unique: bool,
}

/// Encodes the equal parts of a range: each combination of their values is a prefix. `None`: all of the index is to be read.
pub(super) fn encode_equal(
    table: &Table,
    index: &Index,
    range: &IndexRange,
    prefixes: &mut Vec<Vec<u8>>,
    run: &Run<'_>,
    at: Scope<'_>,
) -> Result<Option<Equal>> {
    let mut open = false;
    let mut precise = true;
    let mut unique = index.unique && range.equal.len() == index.parts.len();
    for (n, alternatives) in range.equal.iter().enumerate() {
        let part = &index.parts[n];
        unique &= part.key.prefix == 0;
        if let Some((search, _)) = range.array.filter(|_| index.array_part == Some(n)) {
            let Some(keys) = entries::searched(&alternatives[0], search, &part.key, run, at)? else {
                return Ok(None);
            };
            *prefixes = prefixes.iter().flat_map(|p| keys.iter().map(move |k| [&p[..], &k[..]].concat())).collect();
            if prefixes.is_empty() {
                break;
            }
            continue;
        }
        if let [one] = &alternatives[..] {
            let v = searched(one.eval(run, at)?, table, part.column, run);
            precise &= is_precise(&v, table, part.column);
            match hold(v, &one.ty, table, part.column) {
                Held::Exact(v) => prefixes.iter_mut().for_each(|p| key::encode_part(p, &part.key, &v)),
                Held::Null if range.nulls[n] && part.key.data_type.nullable => {
                    unique = false; // NULLs are not equal
                    prefixes.iter_mut().for_each(|p| key::encode_part(p, &part.key, &Value::Null))
                }
                Held::Unordered => open = true,
                _ => prefixes.clear(),
            }
        } else {
            let mut encoded: Vec<Vec<u8>> = Vec::with_capacity(alternatives.len());
            for e in alternatives {
                let v = searched(e.eval(run, at)?, table, part.column, run);
                precise &= is_precise(&v, table, part.column);
                match hold(v, &e.ty, table, part.column) {
                    Held::Exact(v) => {
                        let mut out = Vec::new();
                        key::encode_part(&mut out, &part.key, &v);
                        encoded.push(out);
                    }
                    Held::Unordered => open = true,
                    _ => {}
                }
            }
            if !open {
                encoded.sort_unstable();
                encoded.dedup();
                *prefixes =
                    prefixes.iter().flat_map(|p| encoded.iter().map(move |e| [&p[..], &e[..]].concat())).collect();
            }
        }
        if open || prefixes.is_empty() {
            break;
        }
    }
    Ok(Some(Equal { open, precise, unique }))
}

pub(super) fn append(bytes: &mut Vec<u8>, key: &[u8]) -> (usize, usize) {
    let from = bytes.len();
    bytes.extend_from_slice(key);
    (from, bytes.len())
}

/// The smallest key after all that begin with `key`; `None` when there is none.
pub(super) fn append_successor(bytes: &mut Vec<u8>, key: &[u8]) -> Option<(usize, usize)> {
    let end = key.iter().rposition(|b| *b != 0xFF)?;
    let from = bytes.len();
    bytes.extend_from_slice(&key[..=end]);
    *bytes.last_mut().expect("not empty") += 1;
    Some((from, bytes.len()))
}

/// The range of keys with `prefix` whose next part is within the bounds.
pub(super) fn push_bounds(
    bytes: &mut Vec<u8>,
    out: &mut Vec<KeyRange>,
    prefix: &[u8],
    part: &KeyPart,
    low: &Option<(Held<'_>, bool)>,
    high: &Option<(Held<'_>, bool)>,
) {
    let mut key = prefix.to_vec();
    let encode = |key: &mut Vec<u8>, v: &Value<'_>| {
        key.truncate(prefix.len());
        key::encode_part(key, part, v);
    };
    // In value order: where the range starts and ends. Prefix parts compare by their prefix only, so take ends in.
    let loose = part.prefix != 0;
    let lower_value: Option<(&Value<'_>, bool)> = match low {
        None => None,
        Some((Held::Exact(v), inclusive)) => Some((v, *inclusive || loose)),
        Some((Held::Above(v), _)) => Some((v, loose)),
        Some((Held::Low | Held::Unordered, _)) => None,
        Some((Held::High | Held::Null, _)) => return,
    };
    let upper_value: Option<(&Value<'_>, bool)> = match high {
        None => None,
        Some((Held::Exact(v), inclusive)) => Some((v, *inclusive || loose)),
        Some((Held::Above(v), _)) => Some((v, true)),
        Some((Held::High | Held::Unordered, _)) => None,
        Some((Held::Low | Held::Null, _)) => return,
    };
    let lower_value = match lower_value {
        // NULL is below all values and in no range.
        None if part.data_type.nullable => Some((&Value::Null, false)),
        other => other,
    };
    let (first, last) = if part.descending { (upper_value, lower_value) } else { (lower_value, upper_value) };
    let lower = match first {
        None => append(bytes, prefix),
        Some((v, inclusive)) => {
            encode(&mut key, v);
            if inclusive {
                append(bytes, &key)
            } else {
                match append_successor(bytes, &key) {
                    Some(r) => r,
                    None => return,
                }
            }
        }
    };
    let upper = match last {
        None => append_successor(bytes, prefix),
        Some((v, inclusive)) => {
            encode(&mut key, v);
            if inclusive { append_successor(bytes, &key) } else { Some(append(bytes, &key)) }
        }
    };
    if upper.is_some_and(|u| bytes[lower.0..lower.1] >= bytes[u.0..u.1]) {
        return;
    }
    out.push(KeyRange { lower, upper, unique: false });
}
