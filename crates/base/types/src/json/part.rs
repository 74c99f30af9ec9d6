//! A part of a document, found in the binary form by its offsets: nothing beside it is read, and of it only what is asked for.

use super::binary::{self, Bounds, Writer};
use super::compare_keys;
use super::path::{Index, Leg};
use super::text::write_quoted;

/// A value inside of a document's binary form.
#[derive(Clone, Copy)]
pub struct Part<'b> {
    kind: u8,
    /// From its first byte on, and with what follows it.
    bytes: &'b [u8],
}

impl<'b> Part<'b> {
    /// The whole document.
    pub fn of(document: &'b [u8]) -> Option<Part<'b>> {
        let (kind, bytes) = document.split_first()?;
        Some(Part { kind: *kind, bytes })
    }

    /// What a path without wildcards leads to. As [`super::path::Path::seek_one`] of the tree.
    pub fn seek(self, legs: &[Leg]) -> Option<Part<'b>> {
        legs.iter().try_fold(self, |part, leg| match leg {
            Leg::Member(key) => part.member(key),
            Leg::Cell(index) => part.cell(*index),
            Leg::AnyMember | Leg::Range(..) | Leg::AnyCell | Leg::Ellipsis => unreachable!("they lead to several"),
        })
    }

    /// As [`super::Json::length`].
    pub fn length(self) -> Option<usize> {
        if binary::is_container(self.kind) { binary::number_at(self.bytes, 0, self.is_large()) } else { Some(1) }
    }

    /// The text, if it is one.
    pub fn string(self) -> Option<&'b [u8]> {
        if self.kind == binary::STRING { Some(binary::length_at(self.bytes)?.1) } else { None }
    }

    /// The part as a document of its own: the bytes that [`binary::encode`] makes of its tree.
    pub fn to_document(self) -> Option<Vec<u8>> {
        let value = self.bytes.get(..binary::value_bytes(self.kind, self.bytes)?)?;
        let mut document = Vec::with_capacity(1 + value.len());
        document.push(self.kind);
        document.extend_from_slice(value);
        Some(document)
    }

    /// Appends the document in one line, as [`super::Json::write`] does it of the tree.
    pub fn write(self, out: &mut Vec<u8>) -> Option<()> {
        self.write_below(&Bounds::of(self.bytes), 1, out)
    }

    fn write_below(self, bounds: &Bounds, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        if self.kind == binary::STRING {
            write_quoted(std::str::from_utf8(self.string()?).ok()?, out);
            return Some(());
        }
        if !binary::is_container(self.kind) {
            binary::decode_value(self.kind, self.bytes, Writer::Here, bounds, depth)?.write(out);
            return Some(());
        }
        let (object, w) = (binary::is_object(self.kind), binary::width(self.is_large()));
        let count = self.length()?;
        bounds.enter(count, depth)?;
        let entries = 2 * w + if object { count * (w + 2) } else { 0 };
        out.push(if object { b'{' } else { b'[' });
        for i in 0..count {
            if i > 0 {
                out.extend_from_slice(b", ");
            }
            if object {
                write_quoted(std::str::from_utf8(self.key(i)?).ok()?, out);
                out.extend_from_slice(b": ");
            }
            self.entry(entries, i)?.write_below(bounds, depth + 1, out)?;
        }
        out.push(if object { b'}' } else { b']' });
        Some(())
    }

    /// The name of member `i` of an object.
    fn key(self, i: usize) -> Option<&'b [u8]> {
        let w = binary::width(self.is_large());
        let at = 2 * w + i * (w + 2);
        let from = binary::number_at(self.bytes, at, self.is_large())?;
        let length = binary::number_at(self.bytes, at + w, false)?;
        self.bytes.get(from..from + length)
    }

    fn is_large(self) -> bool {
        binary::is_large(self.kind)
    }

    fn member(self, key: &str) -> Option<Part<'b>> {
        if !binary::is_object(self.kind) {
            return None;
        }
        let (large, w) = (self.is_large(), binary::width(self.is_large()));
        let count = binary::number_at(self.bytes, 0, large)?;
        let (mut from, mut to) = (0, count);
        while from < to {
            let middle = from.midpoint(to);
            match compare_keys(self.key(middle)?, key.as_bytes()) {
                std::cmp::Ordering::Equal => return self.entry(2 * w + count * (w + 2), middle),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    fn cell(self, index: Index) -> Option<Part<'b>> {
        // Anything but an array is an array of itself.
        if !binary::is_container(self.kind) || binary::is_object(self.kind) {
            return (index.within(1) == 0).then_some(self);
        }
        let count = self.length()?;
        let at = usize::try_from(index.within(count)).ok().filter(|at| *at < count)?;
        self.entry(2 * binary::width(self.is_large()), at)
    }

    /// Value `i` of a container whose value entries begin at `entries`.
    fn entry(self, entries: usize, i: usize) -> Option<Part<'b>> {
        let at = entries + i * (1 + binary::width(self.is_large()));
        let kind = *self.bytes.get(at)?;
        let from = match binary::is_inlined(kind, self.is_large()) {
            true => at + 1,
            false => binary::number_at(self.bytes, at + 1, self.is_large())?,
        };
        Some(Part { kind, bytes: self.bytes.get(from..)? })
    }
}
