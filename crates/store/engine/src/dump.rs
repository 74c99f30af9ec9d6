//! Pages and log groups as text, for people who look for a fault. The bytes may be anything: what makes no sense is said to, and
//! what follows it is left out. The words are those of the pictures in [`crate::page`], [`crate::page::node`], [`crate::undo`],
//! [`crate::space`] and [`crate::mtr`].

use crate::events;
use crate::mtr::Op;
use crate::overflow;
use crate::page::node::Node;
use crate::page::{self, OFF_LEVEL, OFF_TREE, OFF_WORD_A, OFF_WORD_B, PAGE_BYTES, PageId, PageType, get_u32, get_u64};
use crate::recovery::DATA_FILE;
use crate::space::{self, DOOMED, GROUP_PAGES, Map, OWNER_SYSTEM, UNIT_PAGES};
use crate::undo;
use crate::version::Header;
use crate::{Error, Result};
use io::{Directory, OpenOptions};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The most bytes of a key or value that are shown.
const SHOWN_BYTES: usize = 32;

/// Page `id` of the data file in `datadir` as it stands in the file: what the log has beyond it is not redone.
///
/// Errors: `Io`; `Corrupt` when the file ends before the page.
pub fn page_of_file(datadir: &Path, id: PageId) -> Result<String> {
    let file = Directory::open(datadir)?.open_file(DATA_FILE, OpenOptions::read(sync::waits::Wait::DataFile))?;
    let pages = file.len()? / PAGE_BYTES as u64;
    if id >= pages {
        return Err(Error::Corrupt(format!("'{DATA_FILE}' has pages 0 to {}, not {id}", pages.saturating_sub(1))));
    }
    let mut bytes = vec![0; PAGE_BYTES];
    file.read_at(&mut bytes, id * PAGE_BYTES as u64)?;
    Ok(page(&bytes, id))
}

/// The bytes of a page that should be page `id`. `bytes` are [`PAGE_BYTES`].
pub fn page(bytes: &[u8], id: PageId) -> String {
    assert_eq!(bytes.len(), PAGE_BYTES, "a page is 16 KiB");
    let mut out = format!("page {id}: ");
    if bytes.iter().all(|b| *b == 0) {
        out.push_str("zeros, never written or freed\n");
        return out;
    }
    let kind = page::page_type(bytes);
    match kind {
        Some(kind) => put(&mut out, format_args!("{kind:?}")),
        None => put(&mut out, format_args!("unknown type {}", bytes[page::OFF_TYPE])),
    }
    let (lsn, tree) = (page::page_lsn(bytes), get_u32(bytes, OFF_TREE));
    put(&mut out, format_args!(", LSN {lsn}, tree {}", tree & !page::ENCRYPTED));
    match page::verify(bytes, id) {
        Ok(()) => out.push_str(", checksum good\n"),
        Err(why) => put(&mut out, format_args!(", DAMAGED: {why}\n")),
    }
    if page::is_encrypted(bytes) {
        out.push_str("  encrypted: what follows the header is not shown\n");
        return out;
    }
    match kind {
        Some(PageType::Super) => super_page(&mut out, bytes),
        Some(PageType::Map) => map(&mut out, bytes, id),
        Some(PageType::Leaf | PageType::Inner) => node(&mut out, bytes),
        Some(PageType::UndoSegment) => {
            let (first, newest) = (get_u64(bytes, undo::OFF_FIRST), get_u64(bytes, undo::OFF_NEWEST));
            put(&mut out, format_args!("  undo pages: first {first}, newest {newest}\n"));
        }
        Some(PageType::Undo) => undo_page(&mut out, bytes),
        Some(PageType::Overflow) => {
            let (chain, piece) = overflow::any_piece(bytes);
            put(&mut out, format_args!("  chain {chain}, {} bytes here, next page {}\n", piece.bytes, piece.next));
        }
        Some(PageType::Free) | None => {}
    }
    out
}

fn super_page(out: &mut String, bytes: &[u8]) {
    let magic = &bytes[space::OFF_MAGIC..][..8];
    let (format, size) = (get_u32(bytes, space::OFF_FORMAT), get_u32(bytes, space::OFF_PAGE_BYTES));
    let next = get_u32(bytes, space::OFF_NEXT_TREE);
    put(out, format_args!("  magic {}, format {format}, pages of {size} bytes, next tree id {next}\n", shown(magic)));
}

/// Owners with how many units and pages in use they have.
fn map(out: &mut String, bytes: &[u8], id: PageId) {
    let (map, first) = (Map(bytes), id.saturating_sub(1));
    let mut owners: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for unit in 0..(GROUP_PAGES / UNIT_PAGES) as usize {
        let counts = owners.entry(map.owner(unit)).or_default();
        counts.0 += 1;
        counts.1 += u64::from(map.used(unit).count_ones());
    }
    put(out, format_args!("  pages {first} to {}\n", first.saturating_add(GROUP_PAGES - 1)));
    for (owner, (units, used)) in owners {
        let name = match owner {
            0 => "free".to_owned(),
            OWNER_SYSTEM => "system".to_owned(),
            tree if tree & DOOMED != 0 => format!("tree {}, being freed", tree & !(DOOMED | page::ENCRYPTED)),
            tree => format!("tree {}", tree & !page::ENCRYPTED),
        };
        put(out, format_args!("  {name}: {units} units, {used} pages in use\n"));
    }
}

fn node(out: &mut String, bytes: &[u8]) {
    let node = Node(bytes);
    let fence = |fence| match fence {
        Ok(None) => "none".to_owned(),
        Ok(Some(key)) => shown(key),
        Err(page::node::Torn) => "OUTSIDE OF THE PAGE".to_owned(),
    };
    let (level, word_a, word_b) = (bytes[OFF_LEVEL], get_u64(bytes, OFF_WORD_A), get_u64(bytes, OFF_WORD_B));
    put(out, format_args!("  level {level}, {} slots, word A {word_a}, word B {word_b}\n", node.len()));
    let (lower, upper) = (fence(node.lower_fence()), fence(node.upper_fence()));
    put(out, format_args!("  fences: lower {lower}, upper {upper}; common prefix of {} bytes\n", node.prefix_len()));
    if let Err(why) = node.verify() {
        put(out, format_args!("  DAMAGED: {why}\n"));
    }
    let mut key = Vec::new();
    for slot in 0..node.len() {
        key.clear();
        let (Ok(()), Ok(value)) = (node.copy_key(slot, &mut key), node.value(slot)) else {
            put(out, format_args!("  slot {slot}: OUTSIDE OF THE PAGE\n"));
            continue;
        };
        put(out, format_args!("  slot {slot}: key {}", shown(&key)));
        if node.is_leaf() {
            entry(out, value);
        } else {
            match node.child(slot) {
                Ok(child) => put(out, format_args!(", child {child}\n")),
                Err(page::node::Torn) => out.push_str(", NO CHILD\n"),
            }
        }
    }
}

/// A leaf's value. Whether a roll pointer follows the header depends on the tree, so the bytes behind it are shown as they are.
fn entry(out: &mut String, value: &[u8]) {
    let Some(header) = Header::of(value) else {
        put(out, format_args!(", {} bytes, TOO SHORT FOR A HEADER\n", value.len()));
        return;
    };
    let flags = [(header.is_deleted(), ", deleted"), (header.has_long(), ", long values")];
    let flags: String = flags.into_iter().filter_map(|(on, text)| on.then_some(text)).collect();
    put(out, format_args!(", transaction {}{flags}, {} bytes: {}\n", header.trx(), value.len(), shown(&value[8..])));
}

fn undo_page(out: &mut String, bytes: &[u8]) {
    let (segment, next, ended) = (undo::segment(bytes), undo::next(bytes), undo::ended(bytes));
    put(out, format_args!("  segment {segment}, next page {next}, {ended} transactions ended\n"));
    if let Some((trx, first)) = undo::open_transaction(bytes) {
        put(out, format_args!("  transaction {trx} is open, its first record is {}\n", roll_pointer(first)));
    }
    let mut at = undo::RECORDS_AT;
    while at < undo::free_at(bytes) {
        let record = undo::record_len(bytes, at).map(|len| &bytes[at..at + len]);
        let Some((raw, record)) = record.and_then(|raw| Some((raw, undo::Record::decode(raw)?))) else {
            put(out, format_args!("  record at {at}: DAMAGED\n"));
            return;
        };
        let undone = if undo::is_undone(raw) { ", undone" } else { "" };
        let (kind, tree, trx) = (record.kind, record.tree & !page::ENCRYPTED, record.trx);
        let (key, before) = (shown(record.key), roll_pointer(record.roll_ptr));
        put(
            out,
            format_args!(
                "  record at {at}: {kind:?}{undone}, tree {tree}, transaction {trx}, key {key}, before it {before}\n"
            ),
        );
        at += raw.len();
    }
}

fn roll_pointer(pointer: u64) -> String {
    match undo::split_roll_ptr(pointer) {
        (0, 0) => "nothing".to_owned(),
        (page, offset) => format!("page {page} at {offset}"),
    }
}

/// What a log group says: a line for its events, then one for each op. `payload` is not encrypted.
pub fn group(payload: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = match events::describe(payload) {
        Ok((events, ops)) => {
            lines.extend(events);
            ops
        }
        Err(why) => return vec![format!("DAMAGED: {why}")],
    };
    while !rest.is_empty() {
        match Op::split_from(&mut rest) {
            Ok(op) => lines.push(op.describe()),
            Err(why) => {
                lines.push(format!("DAMAGED: {why}"));
                break;
            }
        }
    }
    lines
}

/// Bytes as hexadecimal digits, the first of many, with what of them can be read.
fn shown(bytes: &[u8]) -> String {
    let part = &bytes[..bytes.len().min(SHOWN_BYTES)];
    let mut text: String = part.iter().fold(String::new(), |mut text, b| {
        let _infallible = write!(text, "{b:02x}");
        text
    });
    if text.is_empty() {
        text.push_str("empty");
    }
    if bytes.len() > part.len() {
        let _infallible = write!(text, "... ({} bytes)", bytes.len());
    }
    let readable: String =
        part.iter().map(|b| if b.is_ascii_graphic() || *b == b' ' { char::from(*b) } else { '.' }).collect();
    if readable.bytes().filter(|b| b.is_ascii_alphanumeric()).count() >= 3 {
        let _infallible = write!(text, " \"{readable}\"");
    }
    text
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _infallible = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::node::NodeMut;

    #[test]
    fn a_leaf_is_told_slot_by_slot_and_damage_is_named() {
        let mut bytes = vec![0; PAGE_BYTES];
        NodeMut(&mut bytes).format(7, 3, 0, None, Some(b"zz"));
        let value = [&Header::new(42).deleted().0.to_le_bytes()[..], b"some row"].concat();
        NodeMut(&mut bytes).insert_rest(0, b"key1", &value);
        page::seal(&mut bytes);
        let text = page(&bytes, 7);
        assert!(text.starts_with("page 7: Leaf, LSN 0, tree 3, checksum good\n"), "{text}");
        assert!(text.contains("fences: lower none, upper 7a7a; common prefix of 0 bytes"), "{text}");
        assert!(text.contains("slot 0: key 6b657931 \"key1\", transaction 42, deleted, 16 bytes:"), "{text}");
        bytes[PAGE_BYTES - 1] ^= 1;
        assert!(page(&bytes, 7).contains("DAMAGED"), "{text}");
        assert!(page(&vec![0; PAGE_BYTES], 9).contains("zeros"));
    }

    #[test]
    fn groups_that_make_no_sense_are_said_to() {
        assert_eq!(group(&[99; 20]), ["DAMAGED: unknown op 99"]);
        assert_eq!(group(&[]), [""; 0]);
    }
}
