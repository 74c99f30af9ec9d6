//! JSON functions: what they share, and their table.

mod aggregate;
mod change;
mod look;
mod places;
mod schema;
mod value;

use crate::document::{document, parse_text, scalar, utf8};
pub use aggregate::{array as aggregate_array, object as aggregate_object};
pub use change::member_name;
pub use value::{json_value, member_of};

use places::Places;

use crate::array::Search;
use crate::function::{Args, Function, MANY, Rule, f, unlisted};
use crate::{Expr, Node};
use std::cell::OnceCell;
use std::rc::Rc;
use types::collation::CollationId;
use types::error::*;
use types::json::Json;
use types::json::path::{self, Path};
use types::{DataType, Result, TypeKind, Value, err};

/// Of documents.
pub static FUNCTIONS: &[Function] = &[
    f("json_array", 0, MANY, Rule::Json, change::array),
    f("json_object", 0, MANY, Rule::Json, change::object),
    f("json_quote", 1, 1, Rule::ByLength, change::quote),
    f("json_unquote", 1, 1, Rule::Unquoted, change::unquote),
    f("json_pretty", 1, 1, Rule::JsonText, change::pretty),
    f("json_set", 3, MANY, Rule::Json, |a| change::edit(a, change::Edit::Set)),
    f("json_insert", 3, MANY, Rule::Json, |a| change::edit(a, change::Edit::Insert)),
    f("json_replace", 3, MANY, Rule::Json, |a| change::edit(a, change::Edit::Replace)),
    f("json_array_append", 3, MANY, Rule::Json, |a| change::edit(a, change::Edit::Append)),
    f("json_array_insert", 3, MANY, Rule::Json, |a| change::edit(a, change::Edit::ArrayInsert)),
    f("json_remove", 2, MANY, Rule::Json, change::remove),
    f("json_merge", 2, MANY, Rule::Json, |a| change::merge(a, true)),
    f("json_merge_preserve", 2, MANY, Rule::Json, |a| change::merge(a, true)),
    f("json_merge_patch", 2, MANY, Rule::Json, |a| change::merge(a, false)),
    f("json_extract", 2, MANY, Rule::Json, look::extract),
    f("json_contains", 2, 3, Rule::Int(21), look::contains),
    f("json_contains_path", 3, MANY, Rule::Int(1), look::contains_path),
    f("json_overlaps", 2, 2, Rule::Int(1), look::overlaps),
    f("json_search", 3, MANY, Rule::Json, look::search),
    f("json_keys", 1, 2, Rule::Json, look::keys),
    f("json_length", 1, 2, Rule::Int(21), look::length),
    f("json_depth", 1, 1, Rule::Int(21), look::depth),
    f("json_type", 1, 1, Rule::System(17), look::type_of),
    f("json_valid", 1, 1, Rule::Int(21), look::valid),
    f("json_storage_size", 1, 1, Rule::Int(21), look::storage_size),
    f("json_storage_free", 1, 1, Rule::Int(10), look::storage_free),
    f("json_schema_valid", 2, 2, Rule::Int(1), schema::valid),
    f("json_schema_validation_report", 2, 2, Rule::Json, schema::report),
];

/// `value MEMBER OF (array)`, `JSON_VALUE(doc, path)` and `->>` have a syntax of their own.
static MEMBER_OF: Function = unlisted("member of", 2, 2, Rule::Int(1), look::member_of);
static JSON_VALUE: Function = unlisted("json_value", 5, 5, Rule::First, value::eval);

/// Which search in an array a predicate of two arguments is.
pub fn search_of(f: &'static Function) -> Option<Search> {
    match f.name {
        "member of" => Some(Search::Member),
        "json_contains" => Some(Search::Contains),
        "json_overlaps" => Some(Search::Overlaps),
        _ => None,
    }
}

/// A predicate that is planned in place of another, see [`crate::array`].
pub const fn array_function(name: &'static str, eval: for<'a> fn(Args<'a>) -> Result<Value<'a>>) -> Function {
    f(name, 4, 4, Rule::Int(1), eval)
}

static SCALAR: Function = unlisted("json_scalar", 1, 1, Rule::Json, |a| {
    let v = a.value(0)?;
    if v.is_null() {
        return Ok(Value::Null);
    }
    Ok(Value::from_json(&scalar(&v, &a.args[0])?))
});

/// The other side of a comparison with a document: its value as a scalar, text not read.
pub fn as_scalar(e: Expr) -> Expr {
    let ty = DataType { nullable: e.ty.nullable, ..crate::convert::json_type() };
    Expr::new(Node::Call(&SCALAR, vec![e]), ty)
}

/// Paths that one execution keeps read.
const PATHS_MAX: usize = 32;

/// Warning 3986.
pub const AS_CONDITION: &str = "Evaluating a JSON value in SQL boolean context does an implicit comparison against \
    JSON integer 0; if this is not what you want, consider converting JSON to a SQL numeric type with JSON_VALUE \
    RETURNING";

static NUMBER: Function = unlisted("number", 1, 1, Rule::Double, |a| {
    let v = a.value(0)?;
    Ok(if v.is_null() { Value::Null } else { crate::document::json_number(&v, a.run) })
});

/// The condition of IF and CASE: the number of a document, if it is one, of a hexadecimal literal, an ENUM or a SET.
pub fn as_number(e: Expr) -> Expr {
    let e = crate::operand::truth_operand(e);
    if e.ty.kind != TypeKind::Json {
        return e;
    }
    let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
    Expr::new(Node::Call(&NUMBER, vec![e]), ty)
}

/// The operand and the list of IN: one document makes documents of all.
pub fn in_one_domain(operand: Expr, list: Vec<Expr>) -> (Expr, Vec<Expr>) {
    let is_json = |e: &Expr| e.ty.kind == TypeKind::Json;
    if !is_json(&operand) && !list.iter().any(is_json) {
        return (operand, list);
    }
    let domain = |e: Expr| if is_json(&e) { e } else { as_scalar(e) };
    (domain(operand), list.into_iter().map(domain).collect())
}

/// A column's number.
static DOUBLE: Function = unlisted("number", 1, 1, Rule::Double, |a| {
    let v = a.value(0)?;
    Ok(if v.is_null() { Value::Null } else { Value::Double(crate::document::json_number(&v, a.run).to_f64()) })
});

/// The operands of BETWEEN, documents among them: these count as numbers where one is a number, else as their texts.
pub fn between(operands: [Expr; 3]) -> [Expr; 3] {
    let has_number = operands.iter().any(|e| e.ty.kind.is_numeric());
    let is_document = |e: &Expr| e.ty.kind == TypeKind::Json;
    let beside_column = matches!(operands[0].node, Node::Column { .. }) && operands[1..].iter().all(is_document);
    let beside_text = operands[0].ty.kind.is_numeric()
        && operands[1..].iter().any(|e| !is_document(e) && !e.ty.kind.is_numeric() && e.ty.kind != TypeKind::Null);
    operands.map(|e| match (e.ty.kind, has_number) {
        // A column between two documents, a number between one and a text: what a function makes is the number that its text begins with.
        (TypeKind::Json, true) if (beside_column || beside_text) && !matches!(e.node, Node::Column { .. }) => {
            let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
            Expr::new(Node::Cast(Box::new(as_text(e))), ty)
        }
        (TypeKind::Json, true) => {
            let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
            Expr::new(Node::Call(&DOUBLE, vec![e]), ty)
        }
        (TypeKind::Json, false) => as_text(e),
        _ => e,
    })
}

fn as_text(e: Expr) -> Expr {
    let ty = DataType::string(TypeKind::LongText, u32::MAX, CollationId::UTF8MB4_BIN);
    let nullable = e.ty.nullable;
    Expr::new(Node::Cast(Box::new(e)), DataType { nullable, ..ty })
}

/// What CASE compares: a document counts as its text beside a string or another document.
pub fn as_texts(a: Expr, b: Expr) -> (Expr, Expr) {
    let is_text = |e: &Expr| e.ty.kind == TypeKind::Json || e.ty.kind.is_text();
    if !is_text(&a) || !is_text(&b) {
        return (a, b);
    }
    let cast = |e: Expr| if e.ty.kind == TypeKind::Json { as_text(e) } else { e };
    (cast(a), cast(b))
}

impl<'a> Args<'a> {
    fn name(&self) -> &'static str {
        // Its older name is told of by the newer one.
        if self.function == "json_merge" { "json_merge_preserve" } else { self.function }
    }

    /// Argument `i` as a document in which places are looked for. `None` for NULL.
    fn places(&self, i: usize) -> Result<Option<Places<'a>>> {
        let v = self.value(i)?;
        let tree = OnceCell::new();
        match &v {
            Value::Json(b) => self.run.check_work(b.len())?,
            v => match self.json_of(i, v)? {
                None => return Ok(None),
                Some(read) => _ = tree.set(read),
            },
        }
        Ok(Some(Places { v, tree }))
    }

    /// Argument `i` as a document: JSON, or JSON text. `None` for NULL.
    pub fn json(&self, i: usize) -> Result<Option<Json>> {
        self.json_of(i, &self.value(i)?)
    }

    /// The same where the value is there already.
    fn json_of(&self, i: usize, v: &Value<'_>) -> Result<Option<Json>> {
        if let Value::Json(b) | Value::Bytes(b) = v {
            self.run.check_work(b.len())?;
        }
        match v {
            Value::Null => Ok(None),
            Value::Json(_) => document(v).map(Some),
            Value::Bytes(b) => parse_text(&utf8(b, &self.args[i].ty)?, i, self.name()).map(Some),
            _ => Err(err!(ER_INVALID_TYPE_FOR_JSON, i + 1, self.name())),
        }
    }

    /// Argument `i` as a part of a document; NULL is `null`.
    pub fn json_scalar(&self, i: usize) -> Result<Json> {
        scalar(&self.value(i)?, &self.args[i])
    }

    /// Argument `i` as a path; `None` for NULL.
    pub fn path(&self, i: usize) -> Result<Option<Rc<Path>>> {
        let Some(text) = self.text(i)? else { return Ok(None) };
        let mut known = self.run.evaluation().scratch().paths.borrow_mut();
        if let Some((_, path)) = known.iter().find(|(known, _)| known[..] == text[..]) {
            return Ok(Some(Rc::clone(path)));
        }
        let path = Rc::new(read_path(&String::from_utf8_lossy(&text))?);
        if known.len() == PATHS_MAX {
            known.remove(0);
        }
        known.push((text.into_owned(), Rc::clone(&path)));
        Ok(Some(path))
    }

    /// A path that leads to one place; 3149 if it may lead to several.
    pub fn single_path(&self, i: usize) -> Result<Option<Rc<Path>>> {
        let path = self.path(i)?;
        if path.as_ref().is_some_and(|path| path.has_wildcard()) {
            return Err(err!(ER_INVALID_JSON_PATH_WILDCARD));
        }
        Ok(path)
    }
}

/// A path into a document. Error 3143.
pub fn read_path(text: &str) -> Result<Path> {
    path::parse(text).map_err(|at| err!(ER_INVALID_JSON_PATH, at))
}

fn answer<'a>(doc: Option<&Json>) -> Value<'a> {
    doc.map_or(Value::Null, Value::from_json)
}

/// A document that a function has put together: error 3157 where it has become too deep.
fn made<'a>(doc: &Json) -> Result<Value<'a>> {
    if doc.nesting() > types::json::DEPTH_MAX {
        return Err(err!(ER_JSON_DOCUMENT_TOO_DEEP));
    }
    Ok(Value::from_json(doc))
}
