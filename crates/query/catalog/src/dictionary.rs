//! Dictionary entries in the engine's dictionary tree.
//!
//! ```text
//!   key    kind (1 byte) | schema | 0 | name | 0 | part (u16, big-endian)
//!   value  a piece of at most 4,000 bytes of the entry's JSON text
//!
//!   kind   'S' schema    'T' table    'A' account data    'V' persisted variables    'X' temporary table    'F' foreign server
//!          'I' component or plugin that is installed    'R' replication channel    'P' procedure or function
//!          'E' event    'L' its last run    'M' what the server has made in the directory once
//! ```
//!
//! An entry is cut into parts so that a table of a thousand columns needs no large engine row. All functions run in the
//! caller's transaction.

use crate::error::from_engine;
use engine::{Cursor, Direction, LockMode, Range, Read, Transaction, Tree, Wait};
use std::ops::Bound;
use types::codes::*;
use types::{Result, SqlError, err};

/// What an entry describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Schema = b'S',
    Table = b'T',
    Account = b'A',
    /// The trees of a session's temporary table, by its id: what a restart finds is dropped.
    Temporary = b'X',
    /// CREATE SERVER
    ForeignServer = b'F',
    /// INSTALL COMPONENT, INSTALL PLUGIN
    Installed = b'I',
    /// Channels of replication: where their sources are, and what has been applied. The schema is the channel's name.
    Replication = b'R',
    /// Procedures and functions.
    Routine = b'P',
    Event = b'E',
    /// When an event ran last: [`crate::event`].
    EventRun = b'L',
    /// What the server has made once, and makes no second time.
    Made = b'M',
}

const PART_BYTES: usize = 3000;
const LOCK: Read = Read::Locking { mode: LockMode::Exclusive, wait: Wait::Block };

/// All kinds, in the order of their keys.
pub const KINDS: [Kind; 7] = [
    Kind::Account,
    Kind::ForeignServer,
    Kind::Installed,
    Kind::Replication,
    Kind::Schema,
    Kind::Table,
    Kind::Temporary,
];

/// One entry as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub schema: String,
    pub name: String,
    pub value: Vec<u8>,
}

fn prefix(kind: Kind, schema: &str, name: &str) -> Vec<u8> {
    debug_assert!(!schema.contains('\0') && !name.contains('\0'));
    let mut key = Vec::with_capacity(schema.len() + name.len() + 5);
    key.push(kind as u8);
    key.extend_from_slice(schema.as_bytes());
    key.push(0);
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key
}

fn part_key(prefix: &[u8], part: u16) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend_from_slice(&part.to_be_bytes());
    key
}

/// Writes an entry, replacing one of the same name.
pub fn put(tx: &mut Transaction, tree: Tree, kind: Kind, schema: &str, name: &str, value: &[u8]) -> Result<()> {
    let prefix = prefix(kind, schema, name);
    let mut parts = value.chunks(PART_BYTES);
    let mut old = Vec::new();
    for number in 0..=u16::MAX {
        let key = part_key(&prefix, number);
        let exists = tx.get(tree, &key, LOCK, &mut old).map_err(from_engine)?;
        match (parts.next(), exists) {
            (Some(part), true) => tx.update(tree, &key, part),
            (Some(part), false) => tx.insert(tree, &key, part),
            (None, true) => tx.delete(tree, &key),
            (None, false) => return Ok(()),
        }
        .map_err(from_engine)?;
    }
    Err(err!(ER_TOO_MANY_FIELDS))
}

/// Removes an entry; nothing happens when there is none.
pub fn remove(tx: &mut Transaction, tree: Tree, kind: Kind, schema: &str, name: &str) -> Result<()> {
    put(tx, tree, kind, schema, name, &[])
}

/// All entries of a kind, by schema and name.
pub fn load(tx: &mut Transaction, tree: Tree, kind: Kind) -> Result<Vec<Entry>> {
    let (lower, upper) = ([kind as u8], [kind as u8 + 1]);
    let range = Range { lower: Bound::Included(&lower[..]), upper: Bound::Excluded(&upper[..]) };
    let mut cursor = Cursor::new(tree, range, Direction::Forward, Read::Consistent, 0);
    let mut entries: Vec<Entry> = Vec::new();
    while let Some(entry) = cursor.next(tx).map_err(from_engine)? {
        let (schema, name, part) = split(entry.key).ok_or_else(|| damaged(entry.key))?;
        match entries.last_mut() {
            Some(last) if part > 0 && last.schema == schema && last.name == name => {
                last.value.extend_from_slice(entry.value);
            }
            _ if part == 0 => {
                entries.push(Entry { schema: schema.to_string(), name: name.to_string(), value: entry.value.to_vec() })
            }
            _ => return Err(damaged(entry.key)),
        }
    }
    Ok(entries)
}

fn split(key: &[u8]) -> Option<(&str, &str, u16)> {
    let body = key.get(1..)?;
    let (body, part) = body.split_at_checked(body.len().checked_sub(2)?)?;
    let body = std::str::from_utf8(body).ok()?.strip_suffix('\0')?;
    let (schema, name) = body.split_once('\0')?;
    Some((schema, name, u16::from_be_bytes([part[0], part[1]])))
}

/// A dictionary entry that can not be read.
#[cold]
pub fn damaged(key: &[u8]) -> SqlError {
    let shown = String::from_utf8_lossy(key).replace('\0', "/");
    SqlError::new(ER_INDEX_CORRUPT, format!("Index dictionary is corrupted: entry '{shown}' can not be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_split_again() {
        for (schema, name) in [("db", "table"), ("", ""), ("ü", "x\u{1}")] {
            let key = part_key(&prefix(Kind::Table, schema, name), 0x0100);
            assert_eq!(split(&key), Some((schema, name, 0x0100)));
        }
        assert_eq!(split(b"T"), None);
        assert_eq!(split(b"Tab"), None);
    }
}
