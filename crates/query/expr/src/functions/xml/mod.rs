//! EXTRACTVALUE and UPDATEXML: manual 14.11, "XML Functions".

mod eval;
mod parse;
mod path;

use crate::function::{Args, Func, Function, Rule, bytes, f};
use crate::{Expr, Node, charset};
use eval::Evaluation;
use parse::{Document, Kind};
use path::Item;
use std::borrow::Cow;
use types::codes::*;
use types::{Charset, CollationId, DataType, Result, SqlError, TypeKind, Value, err};

/// Of XML.
pub static FUNCTIONS: &[Function] =
    &[f("extractvalue", 2, 2, Rule::LongText, extract_value), f("updatexml", 3, 3, Rule::LongText, update_xml)];

/// Is it one of these?
pub fn is_xml(function: Func) -> bool {
    FUNCTIONS.iter().any(|f| std::ptr::eq(f, function))
}

/// A path must be the same for the whole statement, and one that is written as it is must be one. Error 1105.
pub fn check_path(path: &Expr) -> Result<()> {
    match &path.node {
        Node::Const(Value::Bytes(text)) => {
            let unicode = DataType::string(TypeKind::VarChar, 0, CollationId::UTF8MB4_0900_AI_CI);
            path::parse(&charset::transcode(Cow::Borrowed(text), &path.ty, &unicode), Charset::Utf8mb4).map(|_| ())
        }
        _ if is_fixed(path) => Ok(()),
        _ => Err(SqlError::new(ER_UNKNOWN_ERROR, "Only constant XPATH queries are supported")),
    }
}

/// Unlike a constant it may read user variables and have subqueries.
fn is_fixed(path: &Expr) -> bool {
    !path.any(&mut |e| match &e.node {
        Node::Column { .. } | Node::Aggregate(_) | Node::SetUserVariable(..) => true,
        Node::Call(f, _) => f.volatile,
        _ => false,
    })
}

/// The path of a call. `None` for NULL. Errors 1105.
fn path_of(a: &Args<'_>) -> Result<Option<Item>> {
    let Some(text) = a.text(1)? else { return Ok(None) };
    let charset = a.ty.collation.charset();
    if charset.mbminlen() > 1 {
        return Err(SqlError::new(
            ER_UNKNOWN_ERROR,
            format!("Character set '{}' is not supported by XPATH", charset.name()),
        ));
    }
    path::parse(&text, charset).map(Some)
}

/// `None`, and warning 1525, where the fragment is not well-formed.
fn document(a: &Args<'_>, source: &[u8]) -> Option<Document> {
    match parse::parse(source) {
        Ok(document) => Some(document),
        Err(e) => {
            a.run.push_warning(err!(ER_WRONG_VALUE, "XML", e));
            None
        }
    }
}

fn extract_value<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(path) = path_of(&a)? else { return Ok(Value::Null) };
    let Some(source) = a.text(0)? else { return Ok(Value::Null) };
    let Some(document) = document(&a, &source) else { return Ok(Value::Null) };
    let evaluation = Evaluation { source: &source, document: &document, run: a.run, ty: a.ty };
    Ok(evaluation.shown(&path)?.map_or(Value::Null, bytes))
}

/// The fragment with the one node that the path finds replaced; as it is where the path finds none, or more of them.
fn update_xml<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(path) = path_of(&a)? else { return Ok(Value::Null) };
    let (Some(source), Some(new)) = (a.text(0)?, a.text(2)?) else { return Ok(Value::Null) };
    let Some(document) = document(&a, &source) else { return Ok(Value::Null) };
    let Item::Set(set) = &path else { return Ok(Value::Null) };
    let found = Evaluation { source: &source, document: &document, run: a.run, ty: a.ty }.find(set, None)?;
    let [one] = found[..] else { return Ok(bytes(source)) };
    if one.node == 0 {
        return Ok(bytes(new));
    }
    let node = &document.nodes[one.node];
    // Around the name of a tag are its `<` and the `>` that the reader stood at.
    let sign = (node.kind == Kind::Tag) as usize;
    let end = (node.closed + sign).min(source.len());
    Ok(bytes([&source[..node.span.start - sign], &new, &source[end..]].concat()))
}
