//! ESCAPE whose character is known when the statement runs: a parameter, or a variable.

use crate::function::{Args, Function, Rule, bytes, unlisted};
use crate::{Expr, Node};
use types::codes::*;
use types::{Result, Value, err};

/// The pattern with the escape that is taken where none is named.
static ESCAPED: Function = unlisted("escaped", 2, 2, Rule::First, escaped);

/// The character that a pattern is written with whose own is not known before.
pub const KNOWN_ESCAPE: char = '\\';

/// The pattern, as it is to be read with [`KNOWN_ESCAPE`].
pub fn of_pattern(pattern: Expr, escape: Expr) -> Expr {
    let ty = pattern.ty;
    Expr::new(Node::Call(&ESCAPED, vec![pattern, escape]), ty)
}

/// May the character be known no sooner than the rows are? Error 1210 then.
pub fn depends_on_row(escape: &Expr) -> bool {
    escape
        .any(&mut |e| matches!(e.node, Node::Column { .. } | Node::Outer { .. } | Node::Aggregate(_) | Node::Window(_)))
}

fn escaped<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let escape = match a.text(1)? {
        None => Some(KNOWN_ESCAPE),
        Some(text) => {
            let text = a.charset(1).to_utf8(&text).into_owned();
            let text = String::from_utf8_lossy(&text).into_owned();
            let mut characters = text.chars();
            let first = characters.next();
            if characters.next().is_some() {
                return Err(err!(ER_WRONG_ARGUMENTS, "ESCAPE"));
            }
            first
        }
    };
    let Some(pattern) = a.text(0)? else { return Ok(Value::Null) };
    if escape == Some(KNOWN_ESCAPE) {
        return Ok(bytes(pattern));
    }
    let set = a.charset(0);
    let (mut out, mut rest) = (Vec::with_capacity(pattern.len()), &pattern[..]);
    let mut is_escaped = false;
    while !rest.is_empty() {
        let (code, length) = set.decode(rest);
        let (character, behind) = rest.split_at(length);
        rest = behind;
        let escapes = escape.is_some_and(|e| e as u32 == code) && !is_escaped && !rest.is_empty();
        if escapes || is_escaped || code == KNOWN_ESCAPE as u32 {
            is_escaped = escapes;
            if escapes {
                continue;
            }
            set.encode(KNOWN_ESCAPE as u32, &mut out);
        }
        out.extend_from_slice(character);
    }
    Ok(bytes(out))
}
