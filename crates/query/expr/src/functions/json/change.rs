//! Functions that make documents, or other ones of them.

use super::{made, parse_text};
use crate::functions::{Args, bytes};
use types::error::*;
use types::json::path::{Index, Leg, Path};
use types::json::text::write_quoted;
use types::json::{Json, KEY_BYTES_MAX, Object};
use types::{DataType, Result, TypeKind, Value, err};

/// JSON_ARRAY.
pub fn array<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let list: Result<Vec<Json>> = (0..a.len()).map(|i| a.json_scalar(i)).collect();
    made(&Json::Array(list?))
}

/// JSON_OBJECT. Error 3158 for a key that is NULL.
pub fn object<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let mut members = Vec::with_capacity(a.len() / 2);
    for i in (0..a.len()).step_by(2) {
        let Some(key) = a.text(i)? else { return Err(err!(ER_JSON_DOCUMENT_NULL_KEY)) };
        members.push((member_name(&key, &a.args[i].ty)?, a.json_scalar(i + 1)?));
    }
    made(&Json::Object(Object::from_members(members)))
}

/// A value of a type, as text, as a member's name. Errors 3144, 3151.
pub fn member_name(key: &[u8], ty: &DataType) -> Result<String> {
    let key = if ty.kind.is_text() || ty.kind.is_bytes() { super::utf8(key, ty)? } else { key.to_vec() };
    check_key(key.len())?;
    Ok(String::from_utf8_lossy(&key).into_owned())
}

/// Error 3151 for a member's name of so many bytes.
pub fn check_key(bytes: usize) -> Result<()> {
    if bytes > KEY_BYTES_MAX { Err(err!(ER_JSON_KEY_TOO_BIG)) } else { Ok(()) }
}

/// A string argument of JSON_QUOTE, or else a document, of JSON_UNQUOTE: 3064 for anything else.
fn string_type(a: &Args<'_>, document: bool) -> Result<()> {
    let kind = a.args[0].ty.kind;
    if kind == TypeKind::Json && document {
        return Ok(());
    }
    if kind != TypeKind::Json && (kind.is_text() || kind.is_bytes() || kind == TypeKind::Null) {
        return Ok(());
    }
    Err(err!(ER_INCORRECT_TYPE, 1, a.name()))
}

/// JSON_QUOTE.
pub fn quote<'a>(a: Args<'a>) -> Result<Value<'a>> {
    string_type(&a, false)?;
    let Some(text) = a.text(0)? else { return Ok(Value::Null) };
    let text = super::utf8(&text, &a.args[0].ty)?;
    let mut out = Vec::with_capacity(text.len() + 2);
    write_quoted(&String::from_utf8_lossy(&text), &mut out);
    Ok(bytes(out))
}

/// JSON_UNQUOTE.
pub fn unquote<'a>(a: Args<'a>) -> Result<Value<'a>> {
    string_type(&a, true)?;
    let v = a.value(0)?;
    match &v {
        Value::Null => Ok(Value::Null),
        Value::Json(document) => {
            if let Some(text) = super::places::whole(document).string() {
                return Ok(bytes(text.to_vec()));
            }
            let mut out = Vec::new();
            super::document(&v)?.write_unquoted(&mut out);
            Ok(bytes(out))
        }
        Value::Bytes(text) if text.len() > 1 && text[0] == b'"' && text[text.len() - 1] == b'"' => {
            match parse_text(text, 0, "json_unquote")? {
                Json::String(text) => Ok(bytes(text.into_bytes())),
                other => Ok(bytes(other.to_text())),
            }
        }
        _ => match a.text(0)? {
            Some(text) => Ok(bytes(super::utf8(&text, &a.args[0].ty)?)),
            None => Ok(Value::Null),
        },
    }
}

/// JSON_PRETTY.
pub fn pretty<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(doc) = a.json(0)? else { return Ok(Value::Null) };
    let mut out = Vec::new();
    doc.write_pretty(0, &mut out);
    Ok(bytes(out))
}

/// What is done at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    Set,
    Insert,
    Replace,
    Append,
    ArrayInsert,
}

/// JSON_SET and the others that take pairs of path and value.
pub fn edit<'a>(a: Args<'a>, how: Edit) -> Result<Value<'a>> {
    let mut doc = a.json(0)?;
    for i in (1..a.len()).step_by(2) {
        let Some(path) = a.single_path(i)? else { return Ok(Value::Null) };
        if how == Edit::ArrayInsert && !matches!(path.legs.last(), Some(Leg::Cell(_))) {
            return Err(err!(ER_INVALID_JSON_PATH_ARRAY_CELL));
        }
        let value = a.json_scalar(i + 1)?;
        let Some(doc) = &mut doc else { continue };
        match how {
            Edit::Append => {
                if let Some(place) = Path::seek_mut(&path.legs, doc) {
                    let mut list = std::mem::replace(place, Json::Null).into_array();
                    list.push(value);
                    *place = Json::Array(list);
                }
            }
            Edit::ArrayInsert => insert_cell(doc, &path.legs, value),
            _ => put(doc, &path.legs, value, how)?,
        }
    }
    doc.map_or(Ok(Value::Null), |doc| made(&doc))
}

fn insert_cell(doc: &mut Json, legs: &[Leg], value: Json) {
    let (Leg::Cell(index), parent) = (&legs[legs.len() - 1], &legs[..legs.len() - 1]) else { return };
    if let Some(Json::Array(list)) = Path::seek_mut(parent, doc) {
        let at = index.within(list.len()).clamp(0, list.len() as i64) as usize;
        list.insert(at, value);
    }
}

fn put(doc: &mut Json, legs: &[Leg], value: Json, how: Edit) -> Result<()> {
    if let Some(place) = Path::seek_mut(legs, doc) {
        if how != Edit::Insert {
            *place = value;
        }
        return Ok(());
    }
    if how == Edit::Replace {
        return Ok(());
    }
    let Some((last, parent)) = legs.split_last() else { return Ok(()) };
    match (last, Path::seek_mut(parent, doc)) {
        (Leg::Member(key), Some(Json::Object(members))) => {
            check_key(key.len())?;
            members.insert(key.clone(), value);
        }
        (Leg::Cell(index), Some(Json::Array(list))) => {
            let at = if index.from_end { 0 } else { list.len() };
            list.insert(at, value);
        }
        (Leg::Cell(Index { from_end, .. }), Some(other)) => {
            // A cell behind or before what is no array makes it one.
            let old = std::mem::replace(other, Json::Null);
            *other = Json::Array(if *from_end { vec![value, old] } else { vec![old, value] });
        }
        _ => {}
    }
    Ok(())
}

/// JSON_REMOVE.
pub fn remove<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let mut doc = a.json(0)?;
    if doc.is_none() {
        return Ok(Value::Null);
    }
    for i in 1..a.len() {
        let Some(path) = a.single_path(i)? else { return Ok(Value::Null) };
        let Some((last, parent)) = path.legs.split_last() else {
            return Err(err!(ER_JSON_VACUOUS_PATH));
        };
        let Some(doc) = &mut doc else { continue };
        match (last, Path::seek_mut(parent, doc)) {
            (Leg::Member(key), Some(Json::Object(members))) => {
                members.remove(key);
            }
            (Leg::Cell(index), Some(Json::Array(list))) => {
                if let Ok(at) = usize::try_from(index.within(list.len()))
                    && at < list.len()
                {
                    list.remove(at);
                }
            }
            _ => {}
        }
    }
    Ok(doc.map_or(Value::Null, |doc| Value::from_json(&doc)))
}

/// JSON_MERGE_PRESERVE, or JSON_MERGE_PATCH.
pub fn merge<'a>(a: Args<'a>, preserve: bool) -> Result<Value<'a>> {
    let mut merged = a.json(0)?;
    for i in 1..a.len() {
        if preserve && merged.is_none() {
            return Ok(Value::Null);
        }
        let next = a.json(i)?;
        merged = match (merged, next) {
            (Some(x), Some(y)) if preserve => Some(x.merge_preserve(y)),
            (Some(x), Some(y)) => Some(x.merge_patch(y)),
            // A patch that is no object replaces whatever was there, NULL too.
            (None, Some(y)) if !preserve && !matches!(y, Json::Object(_)) => Some(y),
            _ => None,
        };
    }
    merged.map_or(Ok(Value::Null), |merged| made(&merged))
}
