//! Strings of character sets in which ASCII is not ASCII: ucs2, utf16, utf32, swe7. Operations that read text byte by byte get them as
//! utf8mb4, and give what they make of them back in the set that they were in.

use crate::compare::COLLATE;
use crate::function::Func;
use crate::functions::result::result_type;
use crate::{Expr, Node, compare};
use types::{CollationId, DataType, Result, TypeKind};

/// Functions that want the bytes as they stand, or that treat strings by their collations.
const OF_BYTES: [&str; 32] = [
    "hex",
    "length",
    "octet_length",
    "bit_length",
    "ord",
    "md5",
    "sha",
    "sha1",
    "sha2",
    "crc32",
    "to_base64",
    "compress",
    "aes_encrypt",
    "aes_decrypt",
    "weight_string",
    "char_length",
    "character_length",
    "charset",
    "collation",
    "coercibility",
    "coalesce",
    "ifnull",
    "nullif",
    "isnull",
    "greatest",
    "least",
    "strcmp",
    "name_const",
    "reverse",
    "ascii",
    COLLATE,
    "any_value",
];

fn is_wide(e: &Expr) -> bool {
    (e.ty.kind.is_text() || e.ty.kind.is_bytes()) && !e.ty.collation.charset().is_ascii_compatible()
}

/// The operand in utf8mb4, if its set is one of those.
pub fn plain(e: Expr) -> Expr {
    match is_wide(&e) {
        true => compare::in_charset(e.clone(), e.ty.collation.of_utf8mb4()),
        false => e,
    }
}

/// A call with such operands; `None`: there are none, or the function takes them as they are.
pub fn call(function: Func, args: &[Expr]) -> Result<Option<Expr>> {
    if !args.iter().any(is_wide) || OF_BYTES.contains(&function.name) {
        return Ok(None);
    }
    let all: Vec<&Expr> = args.iter().collect();
    let collation = match function.name {
        // What is filled up keeps its character set.
        "lpad" | "rpad" => args[0].ty.collation,
        // The first says which of the others it is.
        "elt" => compare::result_collation(&all[1..], function.name)?,
        _ => compare::result_collation(&all, function.name)?,
    };
    let args: Vec<Expr> = args.iter().cloned().map(|e| under(e, collation.of_utf8mb4())).collect();
    let ty = result_type(function, &args)?;
    let returns_text = ty.kind.is_text() && function.joins_text() && !collation.charset().is_ascii_compatible();
    let call = Expr::new(Node::Call(function, args), ty);
    Ok(Some(match returns_text {
        true => back(call, collation),
        false => call,
    }))
}

/// A string operand in utf8mb4 under one collation for all.
fn under(e: Expr, collation: CollationId) -> Expr {
    if !e.ty.kind.is_text() || e.ty.collation == collation {
        return e;
    }
    let ty = DataType { kind: TypeKind::VarChar, collation, ..e.ty };
    match plain(e) {
        Expr { node: node @ Node::Const(_), .. } => Expr::new(node, ty),
        e => Expr::new(Node::Cast(Box::new(e)), ty),
    }
}

fn back(e: Expr, collation: CollationId) -> Expr {
    let kind = if e.ty.kind == TypeKind::VarChar { TypeKind::VarChar } else { TypeKind::LongText };
    let ty = DataType { kind, collation, ..e.ty };
    Expr::new(Node::Cast(Box::new(e)), ty)
}
