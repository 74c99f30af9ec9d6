//! Row locks and transactions: `performance_schema.data_locks` and `data_lock_waits`, `information_schema.innodb_trx`.
//!
//! A gap or next-key lock of a scan is one row, however many records it covers; LOCK_DATA names the last of them, or the
//! record behind the gap. Intention locks on tables are not objects here: a row stands for those that row locks imply.

use crate::{Context, Process, Row, datetime, maybe, text, uint, word};
use catalog::{Table, Version};
use engine::{LockInfo, LockMode, LockOn, TransactionInfo};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;
use types::key::{self, KeyPart};
use types::{Result, Value};

/// Transactions that have written nothing are numbered from here on, as MySQL does it.
const READERS_FROM: u64 = 1 << 48;

/// Locks, transactions and sessions of one look, and the names of trees.
pub(crate) struct Picture {
    pub locks: Vec<LockInfo>,
    pub transactions: Vec<TransactionInfo>,
    pub processes: Vec<Process>,
    trees: HashMap<u32, (String, Arc<Table>, usize)>,
    pub now_us: u64,
}

/// By tree: the schema, the table and which of its indexes it is.
pub(crate) fn trees(version: &Version) -> HashMap<u32, (String, Arc<Table>, usize)> {
    let tables =
        version.schemas.values().flat_map(|s| s.tables.values().map(move |t| (s, t))).filter(|(_, t)| t.is_base());
    let indexes = tables.flat_map(|(s, t)| t.indexes.iter().enumerate().map(move |(at, index)| (s, t, at, index)));
    indexes.map(|(s, t, at, index)| (index.tree.id, (s.name.clone(), Arc::clone(t), at))).collect()
}

impl Picture {
    pub fn take(cx: &Context) -> Picture {
        let trees = trees(&cx.version);
        let mut locks = cx.engine.locks();
        // The dictionary's own are not a user's business.
        locks.retain(|lock| trees.contains_key(&lock.tree));
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Picture {
            locks,
            transactions: cx.engine.transactions(),
            processes: cx.source.processes(),
            trees,
            now_us: since_1970.as_micros() as u64,
        }
    }

    pub(crate) fn transaction(&self, slot: u32) -> Option<&TransactionInfo> {
        self.transactions.iter().find(|t| t.slot == slot)
    }

    pub(crate) fn process(&self, slot: u32) -> Option<&Process> {
        self.processes.iter().find(|p| p.slot == slot)
    }

    pub(crate) fn trx_id(&self, slot: u32) -> u64 {
        shown_id(self.transaction(slot).map_or(0, |t| t.trx), slot)
    }

    pub(crate) fn began_us(&self, t: &TransactionInfo) -> u64 {
        if t.began_us == 0 { self.now_us } else { t.began_us }
    }

    pub(crate) fn tree(&self, tree: u32) -> Option<(&str, &Table, &catalog::Index)> {
        let (schema, table, index) = self.trees.get(&tree)?;
        Some((schema, table, &table.indexes[*index]))
    }

    /// The key as MySQL prints it: values joined by commas, or the supremum.
    pub(crate) fn lock_data(&self, lock: &LockInfo) -> String {
        let Some((_, table, index)) = self.tree(lock.tree) else { return String::new() };
        let key = match &lock.on {
            LockOn::Record(key) | LockOn::Gap(key) | LockOn::Insertion(key) => &key[..],
            LockOn::Span { high: None, .. } => return "supremum pseudo-record".into(),
            // The place behind a key names the key; any other is the key of the record behind the gap.
            LockOn::Span { high: Some(high), .. } => high.strip_suffix(&[0]).unwrap_or(high),
        };
        key_text(table, index, key)
    }

    fn lock_id(&self, at: usize, lock: &LockInfo) -> String {
        format!("{}:{}:{at}", self.trx_id(lock.slot), lock.tree)
    }

    /// The row locks whose holders `waiter`'s request waits for.
    fn blocking(&self, waiter: &LockInfo) -> Vec<(usize, &LockInfo)> {
        let Some(wait) = self.transaction(waiter.slot).and_then(|t| t.waiting.as_ref()) else { return Vec::new() };
        let same_place = |l: &LockInfo| l.tree == waiter.tree && key_of(l) == key_of(waiter) && key_of(l).is_some();
        let blocks = |l: &LockInfo| l.granted && same_place(l) && wait.blockers.contains(&l.slot);
        self.locks.iter().enumerate().filter(|(_, l)| blocks(l)).collect()
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = (usize, &LockInfo)> {
        self.locks.iter().enumerate().filter(|(_, l)| !l.granted)
    }

    /// (locks, locks on records) of a transaction.
    pub(crate) fn counts(&self, slot: u32) -> (u64, u64) {
        let own = self.locks.iter().filter(|l| l.slot == slot);
        own.fold((0, 0), |(all, records), l| {
            let is_record = l.granted && matches!(l.on, LockOn::Record(_) | LockOn::Span { records: true, .. });
            (all + 1, records + u64::from(is_record))
        })
    }
}

pub(crate) fn shown_id(trx: u64, slot: u32) -> u64 {
    if trx == 0 { READERS_FROM + u64::from(slot) } else { trx }
}

fn key_of(lock: &LockInfo) -> Option<&[u8]> {
    match &lock.on {
        LockOn::Record(key) | LockOn::Gap(key) | LockOn::Insertion(key) => Some(key),
        LockOn::Span { .. } => None,
    }
}

fn key_text(table: &Table, index: &catalog::Index, key: &[u8]) -> String {
    let own = index.parts.iter().map(|p| p.key);
    let is_clustered = std::ptr::eq(index, &table.indexes[0]);
    let clustered = table.indexes[0].parts.iter().map(|p| p.key).filter(|_| !is_clustered);
    let parts: Vec<KeyPart> = own.chain(clustered).collect();
    let mut rest = key;
    let mut out = String::new();
    for part in &parts {
        if rest.is_empty() {
            break; // a bound, not a whole key
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        let Some(length) = key::part_length(rest, part).filter(|n| *n <= rest.len()) else { break };
        let (mut bytes, after) = rest.split_at(length);
        match key::decode_part(&mut bytes, part) {
            Some(Value::Null) => out.push_str("NULL"),
            Some(v @ (Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))) => {
                let mut plain = Vec::new();
                v.write_plain(&mut plain);
                out.push_str(&String::from_utf8_lossy(&plain));
            }
            Some(v) => {
                let mut plain = Vec::new();
                v.write_plain(&mut plain);
                out.push_str(&format!("'{}'", String::from_utf8_lossy(&plain)));
            }
            // Weights of a collation do not lead back to the text.
            None => {
                out.push_str("0x");
                rest[..length].iter().for_each(|b| out.push_str(&format!("{b:02X}")));
            }
        }
        rest = after;
    }
    out
}

/// LOCK_MODE.
fn mode(lock: &LockInfo) -> String {
    let letter = match lock.mode {
        LockMode::Shared => "S",
        LockMode::Exclusive => "X",
    };
    let kind = match &lock.on {
        LockOn::Record(_) | LockOn::Span { gaps: false, .. } => ",REC_NOT_GAP",
        LockOn::Insertion(_) => ",GAP,INSERT_INTENTION",
        // InnoDB's locks on the supremum are next-key locks.
        LockOn::Span { high: None, .. } | LockOn::Span { records: true, .. } => "",
        LockOn::Gap(_) | LockOn::Span { .. } => ",GAP",
    };
    format!("{letter}{kind}")
}

pub(crate) fn data_locks(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let picture = Picture::take(cx);
    let mut tables: Vec<(u32, u64, LockMode, String, String)> = Vec::new();
    for (at, lock) in picture.locks.iter().enumerate() {
        let Some((schema, table, index)) = picture.tree(lock.tree) else { continue };
        let known = tables.iter_mut().find(|t| t.0 == lock.slot && t.1 == table.id);
        match known {
            Some(t) if lock.mode == LockMode::Exclusive => t.2 = LockMode::Exclusive,
            Some(_) => {}
            None => tables.push((lock.slot, table.id, lock.mode, schema.to_string(), table.name.clone())),
        }
        let data = picture.lock_data(lock);
        let names = (schema, &table.name[..], Some(&index.name[..]));
        let status = if lock.granted { "GRANTED" } else { "WAITING" };
        out.push(lock_row(
            &picture,
            lock.slot,
            picture.lock_id(at, lock),
            names,
            at,
            ("RECORD", mode(lock), status),
            Some(data),
        ));
    }
    for (slot, id, strongest, schema, table) in tables {
        let mode = if strongest == LockMode::Exclusive { "IX" } else { "IS" };
        let lock_id = format!("{}:{id}", picture.trx_id(slot));
        let names = (&schema[..], &table[..], None);
        out.push(lock_row(&picture, slot, lock_id, names, 0, ("TABLE", mode.into(), "GRANTED"), None));
    }
    Ok(())
}

fn lock_row(
    picture: &Picture,
    slot: u32,
    id: String,
    (schema, table, index): (&str, &str, Option<&str>),
    at: usize,
    (kind, mode, status): (&'static str, String, &'static str),
    data: Option<String>,
) -> Row {
    vec![
        word("INNODB"),
        text(id),
        uint(picture.trx_id(slot)),
        picture.process(slot).map_or(Value::Null, |p| uint(p.id)),
        Value::Null,
        text(schema),
        text(table),
        Value::Null,
        Value::Null,
        maybe(index.map(str::to_string)),
        uint(at as u64),
        word(kind),
        text(mode),
        word(status),
        maybe(data),
    ]
}

pub(crate) fn data_lock_waits(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let picture = Picture::take(cx);
    for (at, lock) in picture.waiting() {
        for (by, blocking) in picture.blocking(lock) {
            let thread = |slot| picture.process(slot).map_or(Value::Null, |p| uint(p.id));
            out.push(vec![
                word("INNODB"),
                text(picture.lock_id(at, lock)),
                uint(picture.trx_id(lock.slot)),
                thread(lock.slot),
                Value::Null,
                uint(at as u64),
                text(picture.lock_id(by, blocking)),
                uint(picture.trx_id(blocking.slot)),
                thread(blocking.slot),
                Value::Null,
                uint(by as u64),
            ]);
        }
    }
    Ok(())
}

/// `TRX_STATE`.
fn state(t: &TransactionInfo) -> &'static str {
    match (t.rolling_back, &t.waiting) {
        (true, _) => "ROLLING BACK",
        (false, Some(_)) => "LOCK WAIT",
        (false, None) => "RUNNING",
    }
}

pub(crate) fn innodb_trx(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    let picture = Picture::take(cx);
    for t in &picture.transactions {
        let process = picture.process(t.slot);
        if process.is_none() && !t.rolling_back {
            continue;
        }
        let (locks, records) = picture.counts(t.slot);
        let only_reads = t.alone && t.trx == 0 && locks == 0;
        // Where it asks for nothing but this table, InnoDB does not know of it.
        if only_reads && t.slot == cx.slot {
            continue;
        }
        let requested = picture.waiting().find(|(_, l)| l.slot == t.slot).map(|(at, l)| picture.lock_id(at, l));
        let since = t.waiting.as_ref().map(|w| picture.now_us.saturating_sub(w.since.as_micros() as u64));
        let query = process.and_then(|p| p.info.as_ref()).map(|q| q.chars().take(1024).collect::<String>());
        let tables: std::collections::HashSet<u64> = picture
            .locks
            .iter()
            .filter(|l| l.slot == t.slot)
            .filter_map(|l| picture.tree(l.tree).map(|(_, table, _)| table.id))
            .collect();
        out.push(vec![
            uint(shown_id(t.trx, t.slot)),
            word(state(t)),
            datetime(picture.began_us(t) / 1_000_000),
            maybe(requested),
            since.map_or(Value::Null, |us| datetime(us / 1_000_000)),
            uint(locks + t.work),
            uint(process.map_or(0, |p| p.id)),
            maybe(query),
            Value::Null,
            uint(0),
            uint(tables.len() as u64),
            uint(locks),
            uint(0),
            uint(records),
            uint(t.work),
            uint(0),
            word(t.isolation.name()),
            Value::Int(1),
            Value::Int(1),
            Value::Null,
            Value::Int(0),
            uint(0),
            Value::Int(i64::from(t.read_only || only_reads)),
            Value::Int(i64::from(only_reads)),
            Value::Null,
        ]);
    }
    Ok(())
}
