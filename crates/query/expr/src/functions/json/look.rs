//! Functions that look into documents.

use super::{answer, made};
use crate::Execution;
use crate::convert;
use crate::functions::{Args, bytes};
use hashbrown::HashSet;
use std::borrow::Cow;
use types::error::*;
use types::json::parse::Failure;
use types::json::path::{Index, Leg, Path};
use types::json::{Json, binary};
use types::{CollationId, Result, Value, err};

/// JSON_EXTRACT.
pub fn extract<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(doc) = a.places(0)? else { return Ok(Value::Null) };
    let mut several = a.len() > 2;
    let mut paths = Vec::with_capacity(a.len() - 1);
    for i in 1..a.len() {
        let Some(path) = a.path(i)? else { return Ok(Value::Null) };
        several |= path.has_wildcard();
        paths.push(path);
    }
    if !several {
        return Ok(doc.seek_one(&paths[0])?.map_or(Value::Null, |place| place.value()));
    }
    let mut found = Vec::new();
    for path in &paths {
        for place in doc.seek(path)? {
            found.push(place.tree()?);
        }
    }
    if found.is_empty() {
        return Ok(Value::Null);
    }
    crate::error::check_memory_for(found.iter().map(|part| part.memory()).sum())?;
    made(&Json::Array(found.into_iter().map(Cow::into_owned).collect()))
}

fn truth<'a>(b: bool) -> Value<'a> {
    Value::Int(b as i64)
}

/// JSON_CONTAINS.
pub fn contains<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if a.len() == 2 {
        let Some(doc) = a.json(0)? else { return Ok(Value::Null) };
        let Some(candidate) = a.json(1)? else { return Ok(Value::Null) };
        return Ok(truth(doc.contains(&candidate, &mut || a.run.check_interrupt_now())?));
    }
    let Some(doc) = a.places(0)? else { return Ok(Value::Null) };
    let Some(candidate) = a.json(1)? else { return Ok(Value::Null) };
    let Some(path) = a.single_path(2)? else { return Ok(Value::Null) };
    Ok(match doc.seek_one(&path)? {
        Some(place) => truth(place.tree()?.contains(&candidate, &mut || a.run.check_interrupt_now())?),
        None => Value::Null,
    })
}

/// `'one'` or `'all'`: true for all.
fn all<'a>(a: &Args<'a>) -> Result<Option<bool>> {
    let Some(word) = a.text(1)? else { return Ok(None) };
    if word.eq_ignore_ascii_case(b"one") {
        return Ok(Some(false));
    }
    if word.eq_ignore_ascii_case(b"all") {
        return Ok(Some(true));
    }
    Err(err!(ER_JSON_BAD_ONE_OR_ALL_ARG, a.name()))
}

/// JSON_CONTAINS_PATH.
pub fn contains_path<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(doc) = a.places(0)? else { return Ok(Value::Null) };
    let Some(all) = all(&a)? else { return Ok(Value::Null) };
    for i in 2..a.len() {
        let Some(path) = a.path(i)? else { return Ok(Value::Null) };
        if doc.seek(&path)?.is_empty() == all {
            return Ok(truth(!all));
        }
    }
    Ok(truth(all))
}

/// JSON_OVERLAPS.
pub fn overlaps<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(x) = a.json(0)? else { return Ok(Value::Null) };
    let Some(y) = a.json(1)? else { return Ok(Value::Null) };
    Ok(truth(x.overlaps(&y, &mut || a.run.check_interrupt_now())?))
}

/// MEMBER OF.
pub fn member_of<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    if v.is_null() {
        return Ok(Value::Null);
    }
    let Some(doc) = a.json(1)? else { return Ok(Value::Null) };
    let value = super::scalar(&v, &a.args[0])?;
    Ok(truth(match &doc {
        Json::Array(list) => list.iter().any(|v| v.compare(&value).is_eq()),
        other => other.compare(&value).is_eq(),
    }))
}

/// JSON_SEARCH(doc, one_or_all, text [, escape [, path] ...]): paths of the strings that are LIKE the text.
pub fn search<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(doc) = a.json(0)? else { return Ok(Value::Null) };
    let Some(all) = all(&a)? else { return Ok(Value::Null) };
    let Some(pattern) = a.text(2)? else { return Ok(Value::Null) };
    let escape = match a.len() {
        3 => Some('\\'),
        _ => match a.text(3)? {
            None => Some('\\'),
            Some(text) => {
                let text = String::from_utf8_lossy(&text).into_owned();
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (first, None) => first.or(Some('\\')),
                    _ => return Err(err!(ER_WRONG_ARGUMENTS, "ESCAPE")),
                }
            }
        },
    };
    let (found, known, again) = (Vec::new(), HashSet::new(), a.len() > 4);
    let mut search =
        Search { run: a.run, pattern: &pattern, escape, all, found, again, known, been: HashSet::new(), state: Ok(()) };
    if a.len() < 5 {
        search.below(&doc, &mut Vec::new());
    }
    for i in 4..a.len() {
        let Some(path) = a.path(i)? else { return Ok(Value::Null) };
        search.been.clear();
        search.along(&doc, &path.legs, &mut Vec::new());
    }
    search.state?;
    let mut paths = search.found.into_iter().map(Json::String);
    Ok(match paths.len() {
        0 => Value::Null,
        1 => answer(paths.next().as_ref()),
        _ => Value::from_json(&Json::Array(paths.collect())),
    })
}

struct Search<'s> {
    run: &'s dyn Execution,
    pattern: &'s [u8],
    escape: Option<char>,
    all: bool,
    found: Vec<String>,
    /// Places may be come by again: those that are found are known.
    again: bool,
    known: HashSet<String>,
    /// Where `**` has been already, with so many legs to go.
    been: HashSet<(usize, *const Json)>,
    /// What ends it before its time.
    state: Result<()>,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        self.state.is_err() || !self.all && !self.found.is_empty()
    }

    fn is_like(&mut self, text: &str) -> bool {
        let mut go_on = || self.run.check_interrupt();
        let found = go_on()
            .and_then(|()| CollationId::UTF8MB4_BIN.try_like(text.as_bytes(), self.pattern, self.escape, &mut go_on));
        found.unwrap_or_else(|e| {
            self.state = Err(e);
            false
        })
    }

    /// Looks at all strings of `doc`, which is at `at`.
    fn below(&mut self, doc: &Json, at: &mut Vec<Leg>) {
        if self.is_done() {
            return;
        }
        match doc {
            Json::String(text) if self.is_like(text) => {
                let mut path = Vec::new();
                Path::write(at, &mut path);
                let path = String::from_utf8_lossy(&path).into_owned();
                // Only several paths, or an ellipsis, come by a place twice.
                if !self.again || self.known.insert(path.clone()) {
                    self.found.push(path);
                }
            }
            Json::Array(list) => list.iter().enumerate().for_each(|(i, v)| self.step(v, cell(i), at, &[], true)),
            Json::Object(members) => {
                members.iter().for_each(|(key, v)| self.step(v, Leg::Member(key.to_string()), at, &[], true));
            }
            _ => {}
        }
    }

    fn step(&mut self, v: &Json, leg: Leg, at: &mut Vec<Leg>, rest: &[Leg], whole: bool) {
        at.push(leg);
        if whole {
            self.below(v, at)
        } else {
            self.along(v, rest, at)
        }
        at.pop();
    }

    /// Looks at all strings below where the path leads.
    fn along(&mut self, doc: &Json, legs: &[Leg], at: &mut Vec<Leg>) {
        if let Err(e) = self.run.check_interrupt() {
            self.state = Err(e);
        }
        if self.is_done() {
            return;
        }
        let Some((leg, rest)) = legs.split_first() else { return self.below(doc, at) };
        if *leg == Leg::Ellipsis && !self.been.insert((legs.len(), std::ptr::from_ref(doc))) {
            return;
        }
        match (leg, doc) {
            (Leg::Member(key), Json::Object(members)) => {
                if let Some(v) = members.get(key) {
                    self.step(v, leg.clone(), at, rest, false);
                }
            }
            (Leg::AnyMember, Json::Object(members)) => {
                members.iter().for_each(|(key, v)| self.step(v, Leg::Member(key.to_string()), at, rest, false));
            }
            (Leg::Cell(_) | Leg::Range(..) | Leg::AnyCell, Json::Array(list)) => {
                let (from, to) = match leg {
                    Leg::Cell(i) => (i.within(list.len()), i.within(list.len())),
                    Leg::Range(x, y) => (x.within(list.len()), y.within(list.len())),
                    _ => (0, list.len() as i64),
                };
                for (i, v) in list.iter().enumerate() {
                    if (from..=to).contains(&(i as i64)) {
                        self.step(v, cell(i), at, rest, false);
                    }
                }
            }
            (Leg::Ellipsis, doc) => {
                self.along(doc, rest, at);
                match doc {
                    Json::Array(list) => {
                        list.iter().enumerate().for_each(|(i, v)| self.step(v, cell(i), at, legs, false));
                    }
                    Json::Object(members) => {
                        members.iter().for_each(|(k, v)| self.step(v, Leg::Member(k.to_string()), at, legs, false));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn cell(i: usize) -> Leg {
    Leg::Cell(Index { from_end: false, n: i as u32 })
}

/// The document of argument 0, or the part of it that the path in argument 1 leads to, for JSON_KEYS: what is no array is not taken for
/// the only element of one.
fn part(a: &Args<'_>) -> Result<Option<Json>> {
    let Some(doc) = a.json(0)? else { return Ok(None) };
    if a.len() == 1 {
        return Ok(Some(doc));
    }
    let Some(path) = a.single_path(1)? else { return Ok(None) };
    let mut at = &doc;
    for leg in &path.legs {
        let next = match (leg, at) {
            (Leg::Member(key), Json::Object(members)) => members.get(key),
            (Leg::Cell(i), Json::Array(list)) => usize::try_from(i.within(list.len())).ok().and_then(|i| list.get(i)),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        at = next;
    }
    Ok(Some(at.clone()))
}

/// JSON_KEYS.
pub fn keys<'a>(a: Args<'a>) -> Result<Value<'a>> {
    Ok(match part(&a)? {
        Some(Json::Object(members)) => {
            Value::from_json(&Json::Array(members.iter().map(|(k, _)| Json::String(k.to_string())).collect()))
        }
        _ => Value::Null,
    })
}

/// JSON_LENGTH.
pub fn length<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(doc) = a.places(0)? else { return Ok(Value::Null) };
    if a.len() == 1 {
        return Ok(Value::Int(doc.length() as i64));
    }
    let Some(path) = a.path(1)? else { return Ok(Value::Null) };
    let found = doc.seek(&path)?;
    Ok(match &found[..] {
        [] => Value::Null,
        [one] if !path.has_wildcard() => Value::Int(one.length() as i64),
        // As the array that JSON_EXTRACT makes of it.
        several => Value::Int(several.len() as i64),
    })
}

/// JSON_DEPTH.
pub fn depth<'a>(a: Args<'a>) -> Result<Value<'a>> {
    Ok(a.json(0)?.map_or(Value::Null, |v| Value::Int(v.depth() as i64)))
}

/// JSON_TYPE.
pub fn type_of<'a>(a: Args<'a>) -> Result<Value<'a>> {
    Ok(a.json(0)?.map_or(Value::Null, |v| bytes(v.type_name().as_bytes())))
}

/// JSON_VALID.
pub fn valid<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    Ok(match &v {
        Value::Null => Value::Null,
        Value::Json(_) => truth(true),
        Value::Bytes(b) if !a.args[0].ty.collation.is_binary() => {
            let text = super::utf8(b, &convert::source_type(&a.args[0].ty, &v))?;
            match types::json::parse::parse(&text) {
                Err(Failure { ended: Some(ended), .. }) => return Err(*ended),
                read => truth(read.is_ok()),
            }
        }
        _ => truth(false),
    })
}

/// JSON_STORAGE_SIZE.
pub fn storage_size<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if let Value::Json(b) = a.value(0)? {
        return Ok(Value::Int(b.len() as i64));
    }
    Ok(a.json(0)?.map_or(Value::Null, |v| Value::Int(binary::encode(&v).len() as i64)))
}

/// Documents are never updated in place, so that nothing is free in them.
pub fn storage_free<'a>(a: Args<'a>) -> Result<Value<'a>> {
    Ok(a.json(0)?.map_or(Value::Null, |_| Value::Int(0)))
}
