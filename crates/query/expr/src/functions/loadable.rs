//! Functions that components bring: they are there while their component is installed.

use super::{Expr, Node};
use crate::function::{Args, Func, Function, Rule, bytes, unlisted, volatile};
use types::codes::*;
use types::{CollationId, DataType, Result, TypeKind, Value, err};

/// Of the component `query_attributes`. It is volatile: what it gives changes from one statement to the next.
static QUERY_ATTRIBUTE: Function =
    volatile(unlisted("mysql_query_attribute_string", 1, 1, Rule::Server(0), query_attribute));

/// Longer values are cut, as by MySQL, whose buffer has so many bytes and one for its end.
const ATTRIBUTE_BYTES_MAX: usize = 1023;
/// What its metadata says, in characters.
const ATTRIBUTE_LENGTH: u32 = 1024;

/// The function under this name, whether its component is installed or not.
pub fn find(name: &str) -> Option<Func> {
    Some(&QUERY_ATTRIBUTE).filter(|f| f.name.eq_ignore_ascii_case(name))
}

/// A call. Error 1123.
pub fn call(function: Func, args: Vec<Expr>) -> Result<Expr> {
    let refused = |why: &str| err!(ER_CANT_INITIALIZE_UDF, function.name, format!("{}() expects {why}", function.name));
    let [name] = &args[..] else { return Err(refused("1 argument")) };
    if !(name.ty.kind.is_text() || name.ty.kind.is_bytes() || name.ty.kind == TypeKind::Null) {
        return Err(refused("a string argument"));
    }
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let ty = DataType { length: ATTRIBUTE_LENGTH, collation, ..DataType::new(TypeKind::VarChar) };
    Ok(Expr::new(Node::Call(function, args), ty))
}

fn query_attribute<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(name) = a.text(0)? else { return Ok(Value::Null) };
    let found = a.run.session().query_attribute(&String::from_utf8_lossy(&name))?.map(|value| {
        let most = ATTRIBUTE_BYTES_MAX.min(value.len());
        let end = (0..=most).rfind(|at| value.is_char_boundary(*at)).unwrap_or(0);
        value.as_bytes()[..end].to_vec()
    });
    Ok(found.map_or(Value::Null, bytes))
}
