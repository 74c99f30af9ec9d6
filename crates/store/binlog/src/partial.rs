//! Updates of documents by what differs: `binlog_row_value_options=PARTIAL_JSON`.
//!
//! ```text
//!   image after, in PARTIAL_UPDATE_ROWS:  options | bits, one for each JSON column of the table: its value is a list of changes |
//!                                         NULLs | values
//!   list of changes   bytes u32 | { operation u8 | path, behind its length | value in binary form, behind its length; none for REMOVE }
//! ```
//! Options are 1 where there are bits, else 0. MySQL lists what JSON_SET, JSON_REPLACE and JSON_REMOVE have done; here both documents are
//! compared, which finds the same and does not ask which statement it was. Changes are made one after the other, so a path is that of
//! the document as the changes before have left it. What would be longer than the document is not written.

use crate::event::put_lenenc;
use crate::row::mysql_document;
use types::json::binary;
use types::json::path::{self, Index, Leg, Path};
use types::json::{Json, Object};

/// In the options of an image.
pub const PARTIAL_JSON: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// What is there gets another value.
    Replace = 0,
    /// A member that is not there, or an element in front of the one that is.
    Insert = 1,
    Remove = 2,
}

/// Appends the changes that make `new` of `old`, both in this server's binary form, behind their length; false, and nothing: the document
/// itself is shorter, or they are no documents.
pub(crate) fn put_changes(out: &mut Vec<u8>, old: &[u8], new: &[u8]) -> bool {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    if old != new {
        let (Some(before), Some(after)) = (binary::decode(old), binary::decode(new)) else {
            out.truncate(at);
            return false;
        };
        let mut differ = Differ { out: &mut *out, legs: Vec::new(), end: at + 4 + new.len() };
        if differ.compare(&before, &after).is_none() {
            out.truncate(at);
            return false;
        }
    }
    let len = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
    true
}

struct Differ<'o> {
    out: &'o mut Vec<u8>,
    legs: Vec<Leg>,
    /// They are given up when they reach this.
    end: usize,
}

impl Differ<'_> {
    /// `None`: they are too long.
    fn compare(&mut self, old: &Json, new: &Json) -> Option<()> {
        if old == new {
            return Some(());
        }
        let at = self.out.len();
        let whole = if self.legs.is_empty() { usize::MAX } else { self.change_bytes(new) };
        let inside = match (old, new) {
            (Json::Object(old), Json::Object(new)) => self.members(old, new),
            (Json::Array(old), Json::Array(new)) => self.elements(old, new),
            _ => None,
        };
        if inside.is_some() && self.out.len() - at <= whole {
            return inside;
        }
        self.out.truncate(at);
        // The document as a whole is no change.
        if self.legs.is_empty() {
            return None;
        }
        self.put(Operation::Replace, Some(new))
    }

    fn members(&mut self, old: &Object, new: &Object) -> Option<()> {
        for (key, _) in old.iter().filter(|(key, _)| new.get(key).is_none()) {
            self.under(Leg::Member(key.to_string()), |differ| differ.put(Operation::Remove, None))?;
        }
        for (key, value) in new.iter() {
            self.under(Leg::Member(key.to_string()), |differ| match old.get(key) {
                Some(old) => differ.compare(old, value),
                None => differ.put(Operation::Insert, Some(value)),
            })?;
        }
        Some(())
    }

    /// What both have at their fronts and at their ends stays.
    fn elements(&mut self, old: &[Json], new: &[Json]) -> Option<()> {
        let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[front..], &new[front..]);
        let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
        let cell = |i: usize| Some(Leg::Cell(Index { from_end: false, n: u32::try_from(front + i).ok()? }));
        for (i, (old, new)) in old.iter().zip(new).enumerate() {
            self.under(cell(i)?, |differ| differ.compare(old, new))?;
        }
        let both = old.len().min(new.len());
        for _ in both..old.len() {
            self.under(cell(both)?, |differ| differ.put(Operation::Remove, None))?;
        }
        for (i, new) in new.iter().enumerate().skip(both) {
            self.under(cell(i)?, |differ| differ.put(Operation::Insert, Some(new)))?;
        }
        Some(())
    }

    fn under(&mut self, leg: Leg, make: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.legs.push(leg);
        let made = make(self);
        self.legs.pop();
        made
    }

    /// Bytes of a change that has this value, about.
    fn change_bytes(&self, value: &Json) -> usize {
        let mut path = Vec::new();
        Path::write(&self.legs, &mut path);
        3 + path.len() + binary::encode(value).len()
    }

    fn put(&mut self, operation: Operation, value: Option<&Json>) -> Option<()> {
        self.out.push(operation as u8);
        let mut path = Vec::new();
        Path::write(&self.legs, &mut path);
        put_lenenc(self.out, path.len() as u64);
        self.out.extend_from_slice(&path);
        if let Some(value) = value {
            let value = binary::encode(&mysql_document(value.clone()));
            put_lenenc(self.out, value.len() as u64);
            self.out.extend_from_slice(&value);
        }
        (self.out.len() < self.end).then_some(())
    }
}

/// Why changes cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They are no list of changes: MySQL 3649.
    Corrupt,
    /// The document has not what they change: MySQL 3648.
    Inapplicable,
}

/// Makes changes, as they come behind their length, in a document.
pub fn apply_changes(doc: &mut Json, changes: &[u8]) -> Result<(), Refusal> {
    let mut rest = changes;
    while let Some((operation, behind)) = rest.split_first() {
        rest = behind;
        let mut text = || {
            let len = take_length(&mut rest)?;
            let (text, behind) = rest.split_at_checked(len)?;
            rest = behind;
            Some(text)
        };
        let path = text().and_then(|text| std::str::from_utf8(text).ok()).ok_or(Refusal::Corrupt)?;
        let path = path::parse(path).ok().filter(|path| !path.has_wildcard()).ok_or(Refusal::Corrupt)?;
        let mut value = || text().and_then(binary::decode_foreign).ok_or(Refusal::Corrupt);
        match operation {
            0 => *Path::seek_mut(&path.legs, doc).ok_or(Refusal::Inapplicable)? = value()?,
            1 => insert(doc, &path.legs, value()?).ok_or(Refusal::Inapplicable)?,
            2 => remove(doc, &path.legs).ok_or(Refusal::Inapplicable)?,
            _ => return Err(Refusal::Corrupt),
        }
    }
    Ok(())
}

fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    let width = match first {
        0..=250 => 0,
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        _ => return None,
    };
    let (number, rest) = rest.split_at_checked(width)?;
    *bytes = rest;
    if width == 0 {
        return Some(usize::from(*first));
    }
    usize::try_from(number.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b))).ok()
}

fn insert(doc: &mut Json, legs: &[Leg], value: Json) -> Option<()> {
    let (last, parents) = legs.split_last()?;
    match (last, Path::seek_mut(parents, doc)?) {
        (Leg::Member(key), Json::Object(members)) if members.get(key).is_none() => {
            members.insert(key.clone(), value);
            Some(())
        }
        (Leg::Cell(index), Json::Array(list)) => {
            let at = usize::try_from(index.within(list.len())).ok()?.min(list.len());
            list.insert(at, value);
            Some(())
        }
        _ => None,
    }
}

fn remove(doc: &mut Json, legs: &[Leg]) -> Option<()> {
    let (last, parents) = legs.split_last()?;
    match (last, Path::seek_mut(parents, doc)?) {
        (Leg::Member(key), Json::Object(members)) => members.remove(key).map(drop),
        (Leg::Cell(index), Json::Array(list)) => {
            let at = usize::try_from(index.within(list.len())).ok().filter(|at| *at < list.len())?;
            list.remove(at);
            Some(())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::json::parse::parse;

    fn doc(text: &str) -> Json {
        parse(text.as_bytes()).unwrap_or_else(|_| panic!("{text}"))
    }

    /// The list without its length; `None`: there is none.
    fn changes(old: &str, new: &str) -> Option<Vec<u8>> {
        let mut out = vec![9];
        let there = put_changes(&mut out, &binary::encode(&doc(old)), &binary::encode(&doc(new)));
        assert_eq!(out[0], 9);
        assert!(there || out.len() == 1);
        there.then(|| out.split_off(5))
    }

    #[test]
    fn a_change_has_mysqls_bytes() {
        let long = r#"{"a": 1, "b": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}"#;
        assert_eq!(changes(long, &long.replace("1, \"b", "2, \"b")).unwrap(), b"\x00\x03$.a\x03\x05\x02\x00");
        assert_eq!(changes(long, &long.replace("[1", "[17")).unwrap(), b"\x00\x06$.b[0]\x03\x05\x11\x00");
        assert_eq!(changes(long, &long.replace("}", ", \"c\": 2}")).unwrap(), b"\x01\x03$.c\x03\x05\x02\x00");
        assert_eq!(changes(long, &long.replace("5, ", "")).unwrap(), b"\x02\x06$.b[4]");
        assert_eq!(changes(long, long).unwrap(), b"");
        assert_eq!(changes(long, "[]"), None, "the document is shorter");
        assert_eq!(changes("1", "2"), None);
    }

    #[test]
    fn changes_made_give_the_new_document() {
        let filler = r#""filler": "0123456789012345678901234567890123456789012345678901234567890123456789""#;
        let docs: Vec<String> = [
            r#""a": {"x": [1, {"y z": null}], "k": 1.5}"#,
            r#""a": {"x": [1, {"y z": "new", "q": []}], "k": 1.5}, "b": true"#,
            r#""a": {"x": [], "k": "t"}"#,
            r#""a": {"x": [0, 1, {"y z": null}, 5, 6], "k": 1.5}, "\"": 1"#,
            r#""a": {"x": [5, {"y z": null}]}"#,
            r#""a": 3, "": [[1, 2], [3]]"#,
            r#""a": 3, "": [[1, 2, 3], [4], 5]"#,
        ]
        .map(|members| format!("{{{members}, {filler}}}"))
        .into();
        for old in &docs {
            for new in &docs {
                let Some(list) = changes(old, new) else { panic!("{old} to {new}") };
                let mut made = doc(old);
                assert_eq!(apply_changes(&mut made, &list), Ok(()), "{old} to {new}");
                assert_eq!(made, doc(new));
            }
        }
    }

    #[test]
    fn what_is_damaged_or_does_not_fit_is_refused() {
        let list = b"\x00\x03$.a\x03\x05\x02\x00\x02\x03$.b";
        let apply = |text: &str, list: &[u8]| apply_changes(&mut doc(text), list);
        assert_eq!(apply(r#"{"a": 1, "b": 2}"#, list), Ok(()));
        for wrong in [r#"{"a": 1}"#, r#"{"b": 1}"#, "[]", "1"] {
            assert_eq!(apply(wrong, list), Err(Refusal::Inapplicable), "{wrong}");
        }
        for cut in 1..list.len() {
            let whole_first = cut == 9;
            assert_eq!(apply(r#"{"a": 1, "b": 2}"#, &list[..cut]).is_ok(), whole_first, "cut at {cut}");
        }
        assert_eq!(apply(r#"{"a": 1}"#, b"\x03\x03$.a"), Err(Refusal::Corrupt));
        assert_eq!(apply(r#"{"a": 1}"#, b"\x02\x03$.*"), Err(Refusal::Corrupt));
    }
}
