//! The entries that a row has in a secondary index, as a set: in a multi-valued one there is one for each element of its array, none
//! for an empty one, one for NULL; in others there is one.

use super::write::{self, Refused, column};
use super::{Run, Scope};
use catalog::Table;
use engine::Transaction;
use expr::Expr;
use expr::array::{self, Search};
use types::key::{self, KeyPart};
use types::{Result as SqlResult, Value};

/// The entries of one row, in the order of the index.
#[derive(Default)]
pub struct Entries {
    bytes: Vec<u8>,
    /// Where each begins and ends.
    at: Vec<(usize, usize)>,
    /// Length of the index's own parts at the front of each.
    own: Vec<usize>,
    /// Another part is NULL, or the array is: then no entry is unique.
    null: bool,
}

impl Entries {
    /// The entries of a row, with the clustered key behind each.
    pub fn of(table: &Table, index: usize, row: &[u8], clustered: &[u8]) -> Entries {
        let mut entries = Entries::default();
        let parts = &table.indexes[index].parts;
        let Some(array_part) = table.indexes[index].array_part else {
            entries.null = write::index_parts(&mut entries.bytes, table, index, row);
            entries.own.push(entries.bytes.len());
            entries.bytes.extend_from_slice(clustered);
            entries.at.push((0, entries.bytes.len()));
            return entries;
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (n, part) in parts.iter().enumerate().filter(|(n, _)| *n != array_part) {
            let v = column(table, row, part.column);
            entries.null |= v.is_null();
            key::encode_part(if n < array_part { &mut before } else { &mut after }, &part.key, &v);
        }
        let part = &parts[array_part].key;
        let list = array::elements(&column(table, row, parts[array_part].column));
        entries.null |= list.is_none();
        let count = list.as_ref().map_or(1, Vec::len);
        for n in 0..count {
            let from = entries.bytes.len();
            entries.bytes.extend_from_slice(&before);
            match &list {
                Some(list) => array::encode(&mut entries.bytes, part, &list[n]),
                None => key::encode_part(&mut entries.bytes, part, &Value::Null),
            }
            entries.bytes.extend_from_slice(&after);
            entries.own.push(entries.bytes.len() - from);
            entries.bytes.extend_from_slice(clustered);
            entries.at.push((from, entries.bytes.len()));
        }
        debug_assert!(entries.iter().is_sorted(), "elements are kept in the order of the index");
        entries
    }

    /// How many entries there are.
    pub fn count(&self) -> usize {
        self.at.len()
    }

    /// The entries in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.at.iter().map(|(from, to)| &self.bytes[*from..*to])
    }

    /// Each entry with the length of its unique prefix, where `unique` says that the index is and no part is NULL.
    pub fn with_prefix(&self, unique: bool) -> impl Iterator<Item = (&[u8], Option<usize>)> {
        let prefix = unique && !self.null;
        self.iter().zip(&self.own).map(move |(entry, own)| (entry, prefix.then_some(*own)))
    }

    /// Those of these entries that `other` has not, with the length of their unique prefix.
    pub fn without<'e>(&'e self, other: &'e Entries, unique: bool) -> impl Iterator<Item = (&'e [u8], Option<usize>)> {
        self.with_prefix(unique).filter(|(entry, _)| !other.contains(entry))
    }

    /// Is this entry the first of the row's among those that `ranges` have? A scan passes the row on there, and only there.
    pub fn is_first(&self, entry: &[u8], in_ranges: impl Fn(&[u8]) -> bool) -> bool {
        self.iter().find(|e| in_ranges(e)) == Some(entry)
    }

    /// Is it one of them? They are sorted.
    pub fn contains(&self, entry: &[u8]) -> bool {
        self.at.binary_search_by(|(from, to)| self.bytes[*from..*to].cmp(entry)).is_ok()
    }
}

/// Puts entries into an index. An entry whose unique value is there already is left in `refused`, up to the clustered
/// key.
#[cold]
pub fn insert<'e>(
    tx: &mut Transaction,
    table: &Table,
    index: usize,
    entries: impl Iterator<Item = (&'e [u8], Option<usize>)>,
    refused: &mut Vec<u8>,
) -> Result<(), Refused> {
    for (entry, prefix) in entries {
        match tx.index_insert(table.indexes[index].tree, entry, prefix, &[]) {
            Err(engine::Error::DuplicateKey) => {
                refused.clear();
                refused.extend_from_slice(&entry[..prefix.expect("a unique entry")]);
                return Err(Refused::Duplicate(index));
            }
            other => other?,
        }
    }
    Ok(())
}

/// Takes entries out of an index.
#[cold]
pub fn delete<'e>(
    tx: &mut Transaction,
    table: &Table,
    index: usize,
    entries: impl Iterator<Item = &'e [u8]>,
) -> Result<(), Refused> {
    for entry in entries {
        tx.index_delete(table.indexes[index].tree, entry)?;
    }
    Ok(())
}

/// What the array part of an entry is for rows that a search may find, each value once; `None`: rows without an entry may be
/// found too, or the search is none in the array.
#[cold]
pub fn searched(
    values: &Expr,
    search: Search,
    part: &KeyPart,
    run: &Run<'_>,
    at: Scope<'_>,
) -> SqlResult<Option<Vec<Vec<u8>>>> {
    let v = values.eval(run, at)?;
    let Some(wanted) = array::wanted(&v, values, search, &part.data_type) else { return Ok(None) };
    let mut keys: Vec<Vec<u8>> = Vec::new();
    for j in array::keys_of(wanted) {
        let mut key = Vec::new();
        array::encode(&mut key, part, &j);
        keys.push(key);
    }
    if search == Search::Contains {
        // Rows that have all of them are under each.
        keys.truncate(1);
        return Ok(if keys.is_empty() { None } else { Some(keys) });
    }
    keys.sort_unstable();
    keys.dedup();
    Ok(Some(keys))
}

/// Length of the index's own parts at the front of an entry; `None`: it is damaged.
pub fn own_length(table: &Table, index: usize, entry: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in &table.indexes[index].parts {
        at += key::part_length(entry.get(at..)?, &part.key)?;
    }
    Some(at)
}

/// The same of an entry that was just encoded.
pub fn own_parts(table: &Table, index: usize, entry: &[u8]) -> usize {
    own_length(table, index, entry).expect("an entry that was just encoded")
}

/// Length of the unique prefix of an encoded entry, unless a part is NULL.
pub fn unique_prefix(table: &Table, index: usize, entry: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut null_part = Vec::new();
    for part in &table.indexes[index].parts {
        let n = key::part_length(&entry[at..], &part.key).expect("an entry that was just encoded");
        if part.key.data_type.nullable {
            null_part.clear();
            key::encode_part(&mut null_part, &part.key, &Value::Null);
            if entry[at..at + n] == null_part[..] {
                return None;
            }
        }
        at += n;
    }
    Some(at)
}
