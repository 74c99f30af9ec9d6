//! Paths into documents: `$.key`, `$[3]`, `$[last-1]`, `$[2 to 5]`, `$.*`, `$[*]`, `$**.key`.

use super::Json;
use crate::error::Result;
use crate::work;
use std::collections::HashSet;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leg {
    Member(String),
    AnyMember,
    Cell(Index),
    /// First and last, both included.
    Range(Index, Index),
    AnyCell,
    /// `**`: the value and everything below it.
    Ellipsis,
}

/// A position in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// `last - n`
    pub from_end: bool,
    pub n: u32,
}

impl Index {
    /// The position in an array of so many elements; -1: before the first.
    pub fn within(self, length: usize) -> i64 {
        if self.from_end { length as i64 - 1 - self.n as i64 } else { self.n as i64 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub legs: Vec<Leg>,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

/// Reads a path. `Err`: the position that error 3143 tells, in bytes.
pub fn parse(text: &str) -> Result<Path, usize> {
    let mut p = Parser { text, at: 0 };
    p.blanks();
    if !p.eat('$') {
        return Err(p.at + 1);
    }
    let mut legs = Vec::new();
    loop {
        p.blanks();
        match p.peek() {
            None => break,
            Some('.') => legs.push(p.member()?),
            Some('[') => legs.push(p.cell()?),
            Some('*') => {
                p.at += 1;
                if !p.eat('*') {
                    return Err(p.at);
                }
                // `***` and a path that ends here mean nothing.
                if matches!(p.peek(), None | Some('*')) {
                    return Err(p.at);
                }
                legs.push(Leg::Ellipsis);
            }
            Some(_) => return Err(p.at),
        }
    }
    Ok(Path { legs })
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn member(&mut self) -> Result<Leg, usize> {
        self.at += 1;
        self.blanks();
        if self.eat('*') {
            return Ok(Leg::AnyMember);
        }
        let start = self.at;
        if self.peek() == Some('"') {
            let bytes = self.text.as_bytes();
            let mut end = start + 1;
            loop {
                match bytes.get(end) {
                    None => return Err(self.text.len()),
                    Some(b'"') => break,
                    Some(b'\\') => end += 2,
                    Some(_) => end += 1,
                }
            }
            self.at = end + 1;
            return match super::parse::parse(self.text.get(start..=end).ok_or(start)?.as_bytes()) {
                Ok(Json::String(key)) => Ok(Leg::Member(key)),
                _ => Err(start),
            };
        }
        while let Some(c) = self.peek() {
            if matches!(c, ' ' | '\t' | '\n' | '\r' | '.' | '[' | '*') {
                break;
            }
            self.at += c.len_utf8();
        }
        let key = &self.text[start..self.at];
        let mut chars = key.chars();
        let first = chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '$' | '_'));
        let rest = chars.all(|c| c.is_alphanumeric() || matches!(c, '$' | '_' | '\u{200C}' | '\u{200D}'));
        if first && rest { Ok(Leg::Member(key.to_string())) } else { Err(start) }
    }

    fn cell(&mut self) -> Result<Leg, usize> {
        self.at += 1;
        self.blanks();
        if self.eat('*') {
            self.blanks();
            return if self.eat(']') { Ok(Leg::AnyCell) } else { Err(self.at) };
        }
        let first = self.index()?;
        let before = self.at;
        self.blanks();
        if self.eat(']') {
            return Ok(Leg::Cell(first));
        }
        if self.at == before || !self.text[self.at..].starts_with("to") {
            return Err(self.at);
        }
        self.at += 2;
        let before = self.at;
        self.blanks();
        if self.at == before {
            return Err(self.at);
        }
        let second = self.index()?;
        self.blanks();
        if !self.eat(']') {
            return Err(self.at);
        }
        // A range that can hold nothing is a mistake.
        let empty = match (first.from_end, second.from_end) {
            (false, false) => first.n > second.n,
            (true, true) => first.n < second.n,
            _ => false,
        };
        if empty { Err(self.at - 1) } else { Ok(Leg::Range(first, second)) }
    }

    fn index(&mut self) -> Result<Index, usize> {
        if self.text[self.at..].starts_with("last") {
            self.at += 4;
            let before = self.at;
            self.blanks();
            if self.eat('-') {
                self.blanks();
                return Ok(Index { from_end: true, n: self.integer()? });
            }
            self.at = before;
            return Ok(Index { from_end: true, n: 0 });
        }
        Ok(Index { from_end: false, n: self.integer()? })
    }

    fn integer(&mut self) -> Result<u32, usize> {
        let start = self.at;
        while matches!(self.peek(), Some('0'..='9')) {
            self.at += 1;
        }
        self.text[start..self.at].parse().map_err(|_| self.at)
    }
}

impl Path {
    /// May it lead to several values?
    pub fn has_wildcard(&self) -> bool {
        self.legs.iter().any(|l| matches!(l, Leg::AnyMember | Leg::AnyCell | Leg::Ellipsis | Leg::Range(..)))
    }

    /// What the path leads to, in document order. Errors of [`work::check`].
    pub fn seek<'j>(&self, doc: &'j Json) -> Result<Vec<&'j Json>> {
        let been = self.legs.contains(&Leg::Ellipsis).then(HashSet::new);
        let mut walk = Walk { found: Vec::new(), been, steps: 0 };
        walk.seek(doc, &self.legs)?;
        Ok(walk.found)
    }

    /// The single value that a path without wildcards leads to.
    pub fn seek_one<'j>(&self, doc: &'j Json) -> Result<Option<&'j Json>> {
        Ok(self.seek(doc)?.into_iter().next())
    }

    /// As [`Path::seek_one`], to change it.
    pub fn seek_mut<'j>(legs: &[Leg], doc: &'j mut Json) -> Option<&'j mut Json> {
        let Some((leg, rest)) = legs.split_first() else { return Some(doc) };
        match (leg, doc) {
            (Leg::Member(key), Json::Object(members)) => Path::seek_mut(rest, members.get_mut(key)?),
            (Leg::Cell(index), Json::Array(list)) => {
                let at = usize::try_from(index.within(list.len())).ok()?;
                Path::seek_mut(rest, list.get_mut(at)?)
            }
            // Anything but an array is an array of itself.
            (Leg::Cell(index), other) if !matches!(other, Json::Array(_)) && index.within(1) == 0 => {
                Path::seek_mut(rest, other)
            }
            _ => None,
        }
    }

    /// The path as JSON_SEARCH and JSON_TABLE print it.
    pub fn write(legs: &[Leg], out: &mut Vec<u8>) {
        out.push(b'$');
        let index = |i: &Index| match (i.from_end, i.n) {
            (false, n) => n.to_string(),
            (true, 0) => "last".to_string(),
            (true, n) => format!("last-{n}"),
        };
        for leg in legs {
            match leg {
                Leg::Member(key) => {
                    out.push(b'.');
                    let mut chars = key.chars();
                    let plain = chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '$' | '_'))
                        && chars.all(|c| c.is_alphanumeric() || matches!(c, '$' | '_'));
                    match plain {
                        true => out.extend_from_slice(key.as_bytes()),
                        false => super::text::write_quoted(key, out),
                    }
                }
                Leg::AnyMember => out.extend_from_slice(b".*"),
                Leg::Cell(i) => out.extend_from_slice(format!("[{}]", index(i)).as_bytes()),
                Leg::Range(a, b) => out.extend_from_slice(format!("[{} to {}]", index(a), index(b)).as_bytes()),
                Leg::AnyCell => out.extend_from_slice(b"[*]"),
                Leg::Ellipsis => out.extend_from_slice(b"**"),
            }
        }
    }
}

/// A walk along a path.
struct Walk<'j> {
    found: Vec<&'j Json>,
    /// Where it has been already, with so many legs to go: only `**` can come to a value by two ways, and then by very many.
    been: Option<HashSet<(usize, *const Json)>>,
    steps: u32,
}

/// Values between two looks at whether to go on.
const LOOK_AFTER: u32 = 1024;

impl<'j> Walk<'j> {
    fn seek(&mut self, doc: &'j Json, legs: &[Leg]) -> Result<()> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(LOOK_AFTER) {
            work::check()?;
        }
        if let Some(been) = &mut self.been
            && matches!(legs.first(), None | Some(Leg::Ellipsis))
            && !been.insert((legs.len(), std::ptr::from_ref(doc)))
        {
            return Ok(());
        }
        let Some((leg, rest)) = legs.split_first() else {
            self.found.push(doc);
            return Ok(());
        };
        match (leg, doc) {
            (Leg::Member(key), Json::Object(members)) => match members.get(key) {
                Some(v) => self.seek(v, rest),
                None => Ok(()),
            },
            (Leg::AnyMember, Json::Object(members)) => members.iter().try_for_each(|(_, v)| self.seek(v, rest)),
            (Leg::Cell(index), Json::Array(list)) => {
                match usize::try_from(index.within(list.len())).ok().and_then(|i| list.get(i)) {
                    Some(v) => self.seek(v, rest),
                    None => Ok(()),
                }
            }
            (Leg::Range(a, b), Json::Array(list)) => {
                let (from, to) = (a.within(list.len()).max(0), b.within(list.len()));
                let mut cells = list.iter().take((to + 1).max(0) as usize).skip(from as usize);
                cells.try_for_each(|v| self.seek(v, rest))
            }
            (Leg::AnyCell, Json::Array(list)) => list.iter().try_for_each(|v| self.seek(v, rest)),
            (Leg::Cell(index), other) if index.within(1) == 0 => self.seek(other, rest),
            (Leg::Range(a, b), other) if a.within(1) <= 0 && b.within(1) >= 0 => self.seek(other, rest),
            (Leg::Ellipsis, doc) => {
                self.seek(doc, rest)?;
                match doc {
                    Json::Array(list) => list.iter().try_for_each(|v| self.seek(v, legs)),
                    Json::Object(members) => members.iter().try_for_each(|(_, v)| self.seek(v, legs)),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
