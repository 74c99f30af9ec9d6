//! Typed arrays: what the hidden column of a multi-valued index part holds, and what is looked for in it.
//!
//! The column is a JSON array whose elements have been converted to the type of the CAST, each there once, in the order of the
//! index. The index has an entry for each. MEMBER OF, JSON_CONTAINS and JSON_OVERLAPS of the expression of such a part look into
//! the column instead (`plan::array`): with their values converted in the same way, as MySQL does, so that what the index
//! finds is what they say. A value that has no counterpart in the type is compared with the document as it stands.

use crate::function::{Args, Function, Rule, unlisted};
use crate::{Execution, Expr, Node, Strictness, boolean, boolean_type, convert, document};
use catalog::Table;
use types::codes::*;
use types::json::{Json, opaque};
use types::key::{self, KeyPart};
use types::{DataType, Decimal, Result, SqlError, SqlMode, StoreContext, TypeKind, Value, err};

/// What InnoDB has room for in the undo record of a row, in bytes of values and of their lengths.
const UNDO_BYTES: usize = 16_058;
/// The bytes of all strings of a row.
const STRING_BYTES_MAX: usize = 5_354;
/// JSON columns have this many bytes in a row of MySQL's, whose messages cut shorter parts of a key.
const JSON_FIELD_BYTES: usize = 12;

/// How values are looked for in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// `value MEMBER OF (array)`
    Member,
    /// `JSON_CONTAINS(array, values)`
    Contains,
    /// `JSON_OVERLAPS(array, values)`
    Overlaps,
}

/// `value MEMBER OF (array)`, by the hidden column of an index part.
pub static MEMBER: Function = unlisted("member of", 4, 4, Rule::Int(1), |a| holds(a, Search::Member));
/// JSON_CONTAINS of such an array.
pub static CONTAINS: Function = unlisted("json_contains", 4, 4, Rule::Int(1), |a| holds(a, Search::Contains));
/// JSON_OVERLAPS with such an array.
pub static OVERLAPS: Function = unlisted("json_overlaps", 4, 4, Rule::Int(1), |a| holds(a, Search::Overlaps));

impl Search {
    fn function(self) -> &'static Function {
        match self {
            Search::Member => &MEMBER,
            Search::Contains => &CONTAINS,
            Search::Overlaps => &OVERLAPS,
        }
    }
}

/// The call that looks for `values` in `column`, the array that the call `plain` computes; `element`: the type of its elements.
pub fn search(kind: Search, plain: Expr, values: Expr, column: Expr, element: DataType) -> Expr {
    let element = Expr::new(Node::Const(Value::Null), element);
    Expr::new(Node::Call(kind.function(), vec![plain, values, column, element]), boolean_type(true))
}

/// A call that [`search`] made.
pub struct Call<'e> {
    pub kind: Search,
    pub plain: &'e Expr,
    pub values: &'e Expr,
    pub column: &'e Expr,
    pub element: &'e DataType,
}

/// Is this a call that [`search`] made?
pub fn as_search(e: &Expr) -> Option<Call<'_>> {
    let Node::Call(f, args) = &e.node else { return None };
    let kinds = [Search::Member, Search::Contains, Search::Overlaps];
    let kind = kinds.into_iter().find(|k| std::ptr::eq(*f, k.function()))?;
    let [plain, values, column, element] = &args[..] else { unreachable!("as it was made") };
    Some(Call { kind, plain, values, column, element: &element.ty })
}

/// Why a value is no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    /// Of another kind altogether.
    Invalid,
    /// A number that no integer is near.
    OutOfRange,
    /// A number outside of the type's range.
    Beyond,
    Truncated,
    TooLong,
    Container,
}

impl Refused {
    #[cold]
    fn error(self, index: &str, row: u64, how: Strictness) -> SqlError {
        match self {
            Refused::Invalid => err!(ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX, index),
            Refused::OutOfRange => err!(ER_JSON_VALUE_OUT_OF_RANGE_FOR_FUNC_INDEX, index),
            Refused::Container => err!(ER_WRONG_MVI_VALUE, index),
            Refused::TooLong if !how.lenient => err!(ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG, index),
            Refused::Truncated if !how.lenient => err!(ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX, index, row),
            Refused::Beyond | Refused::TooLong | Refused::Truncated => {
                err!(ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX, index, row)
            }
        }
    }
}

/// The value of the hidden column `at` of a table, from that of the operand of its CAST. Errors 1235, 3141, 3146, 3751, 3752,
/// 3903 to 3908, also where the session is not strict: there is no other value to take.
#[cold]
pub fn stored(
    v: Value<'_>,
    operand: &Expr,
    table: &Table,
    at: usize,
    row: u64,
    how: Strictness,
    run: &dyn Execution,
) -> Result<Value<'static>> {
    let element = table.columns[at].array_of().expect("the column of a multi-valued index part");
    let doc = match &v {
        Value::Null => return Ok(Value::Null),
        Value::Json(_) => document::document(&v)?,
        Value::Bytes(text) => document::parse_text(&document::utf8(text, &operand.ty)?, 0, "cast_as_array")?,
        _ => return Err(err!(ER_INVALID_TYPE_FOR_JSON, 1, "cast_as_array")),
    };
    let index = table.indexes.iter().find(|i| i.array_part.is_some_and(|n| i.parts[n].column == at));
    let name = index.map_or("", |i| i.name.as_str());
    let list = match doc {
        Json::Array(list) => list,
        Json::Object(_) => return Err(crate::error::unsupported("CAST-ing JSON OBJECT type to array")),
        Json::Bool(_) => return Err(crate::error::unsupported("CAST-ing JSON BOOLEAN type to array")),
        scalar => vec![scalar],
    };
    let part = KeyPart::new(element);
    let mut elements = Vec::with_capacity(list.len());
    for j in list {
        let j = match j {
            // A day has no time: the one value that is cut where the session is not strict.
            Json::Date(_) if how.lenient && element.kind == TypeKind::Time => {
                let told = err!(ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX, name, row);
                run.warn(told.code, told.message);
                Json::Time(types::Time(0))
            }
            j => j,
        };
        let j = converted(j, &element).map_err(|refused| refused.error(name, row, how))?;
        let mut key = Vec::new();
        encode(&mut key, &part, &j);
        elements.push((key, j));
    }
    run.check_interrupt()?;
    elements.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    elements.dedup_by(|(a, _), (b, _)| a == b);
    check_room(&elements, &element, name)?;
    Ok(Value::from_json(&Json::Array(elements.into_iter().map(|(_, j)| j).collect())))
}

/// InnoDB's bounds. Errors 3905, 3906.
fn check_room(elements: &[(Vec<u8>, Json)], element: &DataType, index: &str) -> Result<()> {
    let strings = element.kind.is_text() || element.kind.is_bytes();
    let least = if strings { 1 } else { element_bytes(element) };
    let most = UNDO_BYTES / (least + 2);
    if elements.len() > most {
        return Err(err!(ER_EXCEEDED_MV_KEYS_NUM, index, elements.len() - most));
    }
    if strings {
        let bytes = |j: &Json| match j {
            Json::String(text) => text.len(),
            Json::Opaque(_, bytes) => bytes.len(),
            _ => unreachable!("an element of an array of strings"),
        };
        let total: usize = elements.iter().map(|(_, j)| bytes(j)).sum();
        if total > STRING_BYTES_MAX {
            return Err(err!(ER_EXCEEDED_MV_KEYS_SPACE, index, total - STRING_BYTES_MAX));
        }
    }
    Ok(())
}

/// Bytes of an element's value in MySQL's rows, of strings the most.
fn element_bytes(ty: &DataType) -> usize {
    let fraction = (ty.decimals as usize).div_ceil(2);
    match ty.kind {
        TypeKind::Decimal => {
            let mut bytes = Vec::new();
            Decimal::from_parts(false, 0, 0).write_binary(ty.length, ty.decimals, &mut bytes);
            bytes.len()
        }
        TypeKind::Date => 3,
        TypeKind::Time => 3 + fraction,
        TypeKind::DateTime => 5 + fraction,
        TypeKind::VarChar | TypeKind::VarBinary => ty.max_bytes() as usize,
        _ => 8,
    }
}

/// An array as error 1062 shows it.
pub fn shown(array: &Value<'_>, element: &DataType) -> String {
    let text = convert::text(array, &convert::json_type()).into_owned();
    let mut text = String::from_utf8_lossy(&text).into_owned();
    let bytes = element_bytes(element);
    if bytes < JSON_FIELD_BYTES && text.len() > bytes {
        let end = (0..=bytes).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// The element that a scalar becomes.
fn converted(j: Json, ty: &DataType) -> std::result::Result<Json, Refused> {
    match j {
        Json::Null => return Err(Refused::Invalid),
        Json::Array(_) | Json::Object(_) => return Err(Refused::Container),
        _ => {}
    }
    match ty.kind {
        TypeKind::BigInt => integer(&j, ty.unsigned),
        TypeKind::Decimal => decimal(j, ty),
        TypeKind::VarChar | TypeKind::VarBinary => string(j, ty),
        _ => temporal(j, ty),
    }
}

fn integer(j: &Json, unsigned: bool) -> std::result::Result<Json, Refused> {
    let n: i128 = match j {
        Json::Bool(b) => i128::from(*b),
        Json::Int(n) => i128::from(*n),
        Json::UInt(n) => i128::from(*n),
        Json::Double(d) => {
            let d = d.round_ties_even();
            // Within what either kind of integer holds.
            if !(-9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0).contains(&d) {
                return Err(Refused::OutOfRange);
            }
            d as i128
        }
        Json::Decimal(d) => {
            let d = d.round(0);
            match (d.to_i64(), d.to_u64()) {
                (Ok(n), _) => i128::from(n),
                (_, Ok(n)) => i128::from(n),
                _ => return Err(Refused::OutOfRange),
            }
        }
        Json::String(text) => {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(Refused::Invalid);
            }
            text.parse().map_err(|_| Refused::OutOfRange)?
        }
        _ => return Err(Refused::Invalid),
    };
    if unsigned {
        u64::try_from(n).map(Json::UInt).map_err(|_| Refused::Beyond)
    } else {
        i64::try_from(n).map(Json::Int).map_err(|_| Refused::Beyond)
    }
}

fn decimal(j: Json, ty: &DataType) -> std::result::Result<Json, Refused> {
    let d = match &j {
        Json::Bool(_) | Json::Int(_) | Json::UInt(_) | Json::Decimal(_) => j.into_scalar().to_decimal(),
        Json::Double(d) => Decimal::from_f64(*d).ok_or(Refused::Beyond)?,
        Json::String(text) => {
            let v = Value::Bytes(text.trim().as_bytes().into());
            if text.trim().is_empty() || !v.is_clean_number() {
                return Err(Refused::Invalid);
            }
            v.to_decimal()
        }
        _ => return Err(Refused::Invalid),
    };
    let d = d.round(ty.decimals);
    if d.fits(ty.length, ty.decimals) { Ok(Json::Decimal(d)) } else { Err(Refused::Beyond) }
}

fn string(j: Json, ty: &DataType) -> std::result::Result<Json, Refused> {
    let bytes = match j {
        Json::String(text) => text.into_bytes(),
        Json::Opaque(_, bytes) => bytes,
        other => {
            let mut text = Vec::new();
            other.write_unquoted(&mut text);
            text
        }
    };
    if ty.kind == TypeKind::VarBinary {
        let fits = bytes.len() <= ty.length as usize;
        return if fits { Ok(Json::Opaque(opaque::VARCHAR, bytes)) } else { Err(Refused::TooLong) };
    }
    let text = String::from_utf8(bytes).map_err(|_| Refused::Invalid)?;
    if text.chars().count() > ty.length as usize { Err(Refused::TooLong) } else { Ok(Json::String(text)) }
}

fn temporal(j: Json, ty: &DataType) -> std::result::Result<Json, Refused> {
    if matches!(j, Json::Bool(_) | Json::Opaque(..)) || matches!((&j, ty.kind), (Json::Date(_), TypeKind::Time)) {
        return Err(Refused::Truncated);
    }
    let v = j.into_scalar();
    let source = convert::type_of(&v);
    let mode = SqlMode(SqlMode::DEFAULT.0 | SqlMode::STRICT_ALL_TABLES.0);
    let context = StoreContext { mode, column: "", row: 1, members: &[] };
    match types::coerce_for_store(v, &source, ty, &context) {
        Ok((Value::Date(v), _)) if ty.kind == TypeKind::Date => Ok(Json::Date(v)),
        Ok((Value::Time(v), _)) if ty.kind == TypeKind::Time => Ok(Json::Time(v)),
        Ok((Value::DateTime(v), _)) if ty.kind == TypeKind::DateTime => Ok(Json::DateTime(v)),
        Err(e) if e.code == ER_WARN_DATA_OUT_OF_RANGE => Err(Refused::Beyond),
        _ => Err(Refused::Truncated),
    }
}

/// Appends the encoding of an element that [`stored`] or [`wanted`] has converted.
pub fn encode(out: &mut Vec<u8>, part: &KeyPart, j: &Json) {
    let v = match j {
        Json::String(text) => Value::Bytes(text.as_bytes().into()),
        Json::Opaque(_, bytes) => Value::Bytes(bytes[..].into()),
        // The binary form of a document keeps no difference between small numbers of either kind.
        Json::Int(n) if part.data_type.unsigned => Value::UInt(*n as u64),
        Json::UInt(n) if !part.data_type.unsigned => Value::Int(*n as i64),
        other => other.clone().into_scalar(),
    };
    key::encode_part(out, part, &v);
}

/// The elements of what the hidden column holds; `None` for NULL.
pub fn elements(array: &Value<'_>) -> Option<Vec<Json>> {
    match array.json() {
        Some(Json::Array(list)) => Some(list),
        Some(other) => unreachable!("the hidden column of an index holds {}", other.type_name()),
        None => None,
    }
}

/// How results of a type are compared, as MySQL tells them apart.
#[derive(PartialEq, Eq)]
enum Class {
    Integer,
    Decimal,
    Real,
    Text,
}

fn class_of(ty: &DataType) -> Class {
    match ty.kind {
        kind if kind.is_integer() => Class::Integer,
        TypeKind::Year => Class::Integer,
        TypeKind::Decimal => Class::Decimal,
        TypeKind::Float | TypeKind::Double => Class::Real,
        _ => Class::Text,
    }
}

/// May a value of this type be looked for by MEMBER OF in arrays of such elements? Of kind NULL: it may be.
pub fn is_of_class(ty: &DataType, element: &DataType) -> bool {
    ty.kind == TypeKind::Null || class_of(ty) == class_of(element)
}

/// What a search looks for, as elements of the type; `None` where that has none that stand for the values, NULL included. `null`
/// stays: it equals no element.
pub fn wanted(v: &Value<'_>, e: &Expr, kind: Search, element: &DataType) -> Option<Json> {
    if v.is_null() {
        return None;
    }
    if kind == Search::Member {
        // The type of a parameter may not have been known.
        if e.ty.kind == TypeKind::Null && class_of(&convert::type_of(v)) != class_of(element) {
            return None;
        }
        return converted(document::scalar(v, e).ok()?, element).ok();
    }
    let doc = match v {
        Value::Json(_) => v.json()?,
        Value::Bytes(text) => document::parse_text(&document::utf8(text, &e.ty).ok()?, 1, "").ok()?,
        _ => return None,
    };
    let keep = |j: Json| if j == Json::Null { Some(j) } else { converted(j, element).ok() };
    match doc {
        Json::Array(list) => list.into_iter().map(keep).collect::<Option<_>>().map(Json::Array),
        Json::Object(_) => None,
        scalar => Some(Json::Array(vec![keep(scalar)?])),
    }
}

/// The elements that an index can find, of what [`wanted`] has made.
pub fn keys_of(wanted: Json) -> impl Iterator<Item = Json> {
    wanted.into_array().into_iter().filter(|j| *j != Json::Null)
}

fn holds<'a>(a: Args<'a>, kind: Search) -> Result<Value<'a>> {
    let v = a.value(1)?;
    let Some(wanted) = wanted(&v, &a.args[1], kind, &a.args[3].ty) else { return a.value(0) };
    let Some(list) = elements(&a.value(2)?) else { return Ok(Value::Null) };
    Ok(boolean(match kind {
        Search::Member => list.iter().any(|j| j.compare(&wanted).is_eq()),
        Search::Contains => Json::Array(list).contains(&wanted, &mut || a.run.check_interrupt())?,
        Search::Overlaps => Json::Array(list).overlaps(&wanted, &mut || a.run.check_interrupt())?,
    }))
}
