//! What an operand is where a number is asked for: ENUM, SET, literals of bytes, long texts, what CASE chooses.

use crate::common::to_type;
use crate::compare::{column_of, in_charset};
use crate::convert::{LENIENT, is_hex_literal, is_long_column, is_string, warn_truncated};
use crate::function::{Function, Rule, unlisted};
use crate::{Expr, Node};
use types::temporal::parse;
use types::{CollationId, DataType, TypeKind, Value};

/// Such a literal of the bytes.
pub fn hex_literal(bytes: Vec<u8>, of_bits: bool) -> Expr {
    let e = crate::string(bytes, CollationId::BINARY);
    Expr { ty: DataType { unsigned: true, zerofill: of_bits, ..e.ty }, ..e }
}

/// An ENUM, SET or hexadecimal literal in a numeric place is its number.
pub fn enum_number(e: Expr) -> Expr {
    if is_hex_literal(&e)
        && let Node::Const(Value::Bytes(b)) = &e.node
    {
        let v = b.iter().rev().take(8).rev().fold(0u64, |v, b| v << 8 | *b as u64);
        let ty = DataType { length: 20, ..DataType::new(TypeKind::BigInt).not_null() };
        if b.iter().rev().skip(8).any(|b| *b != 0) {
            let ty = DataType { unsigned: !e.ty.zerofill, ..ty };
            return Expr::new(Node::Call(&NUMBER_OF_LITERAL, vec![e]), ty);
        }
        return match e.ty.zerofill {
            true => Expr::new(Node::Const(Value::Int(v as i64)), ty),
            false => Expr::new(Node::Const(Value::UInt(v)), ty.unsigned()),
        };
    }
    match e.node {
        Node::EnumText(raw, _) | Node::SetText(raw, _) => *raw,
        _ => e,
    }
}

/// What a variable of this type is given: of an ENUM or SET the number, if it is one of numbers.
pub fn number_for<'e>(e: &'e Expr, column: &DataType) -> &'e Expr {
    let is_number = column.kind.is_numeric() || matches!(column.kind, TypeKind::Year | TypeKind::Bit);
    match &e.node {
        Node::EnumText(raw, _) | Node::SetText(raw, _) if is_number => raw,
        _ => e,
    }
}

/// The number of a hexadecimal literal that has more bytes than an integer: none, with a warning.
static NUMBER_OF_LITERAL: Function = unlisted("number", 1, 1, Rule::Int(20), |a| {
    if let Value::Bytes(bytes) = a.value(0)? {
        let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        warn_truncated("BINARY", format!("x'{digits}'").as_bytes(), a.run);
    }
    Ok(if a.args[0].ty.zerofill { Value::Int(0) } else { Value::UInt(0) })
});

/// The number of a column of TEXT or BLOB, of which MySQL does not say what was left out.
static NUMBER_OF_TEXT: Function = unlisted("number", 1, 1, Rule::Double, |a| {
    let v = a.value(0)?;
    Ok(if v.is_null() { Value::Null } else { Value::Double(v.to_f64()) })
});

/// The same as an integer.
static INTEGER_OF_TEXT: Function = unlisted("integer", 1, 1, Rule::Int(21), |a| {
    let v = a.value(0)?;
    let Value::Bytes(text) = &v else { return Ok(v) };
    let most = (i64::MIN.into(), i64::MAX.into());
    Ok(Value::Int(types::number::parse_integer(text).0.clamp(most.0, most.1) as i64))
});

/// An operand of bit operators: a column of a long string as an integer, and other strings with a byte for each digit.
pub fn bit_number(e: Expr) -> Expr {
    if e.ty.kind.is_text() && e.ty.collation.charset().mbminlen() > 1 {
        return in_charset(e, CollationId::UTF8MB4_0900_AI_CI);
    }
    if !is_long_column(&e) {
        return number_of_choice(e);
    }
    let ty = DataType { length: 21, nullable: e.ty.nullable, ..DataType::new(TypeKind::BigInt) };
    Expr::new(Node::Call(&INTEGER_OF_TEXT, vec![e]), ty)
}

/// The number of a date that GREATEST or LEAST has chosen and written as a text.
static NUMBER_OF_MOMENT: Function = unlisted("number", 1, 1, Rule::Double, |a| {
    let v = a.value(0)?;
    let Value::Bytes(text) = &v else { return Ok(v) };
    Ok(Value::Double(match parse::parse_datetime(text, LENIENT) {
        Some(p) if p.has_time => Value::DateTime(p.value).to_f64(),
        Some(p) => Value::Date(p.value.date()).to_f64(),
        None => 0.0,
    }))
});

/// The number of a moment or a time that was shifted and written as a text.
static NUMBER_OF_SHIFTED: Function = unlisted("number", 1, 1, Rule::Double, |a| {
    /// Where a dash stands behind a year.
    const DASH: usize = 4;
    let v = a.value(0)?;
    let Value::Bytes(text) = &v else { return Ok(v) };
    let moment = if text.get(DASH) == Some(&b'-') { parse::parse_datetime(text, LENIENT) } else { None };
    Ok(Value::Double(match moment {
        Some(p) if p.has_time => Value::DateTime(p.value).to_f64(),
        Some(p) => Value::Date(p.value.date()).to_f64(),
        None => parse::parse_time(text, LENIENT).map_or(0.0, |p| Value::Time(p.value).to_f64()),
    }))
});

/// Is it the text of a date or time that an interval was added to? Its number is that of the moment.
pub fn is_shifted_text(e: &Expr) -> bool {
    matches!(&e.node, Node::Call(f, _) if matches!(f.name, "date_add" | "addtime" | "subtime")) && is_string(e.ty.kind)
}

/// Such a column as a number, and what CASE chooses among dates; others as they are.
pub fn number_of_long(e: Expr) -> Expr {
    if is_shifted_text(&e) {
        let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
        return Expr::new(Node::Call(&NUMBER_OF_SHIFTED, vec![e]), ty);
    }
    if !is_long_column(&e) {
        return number_of_choice(e);
    }
    let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
    let is_date = |e: &Expr| e.ty.kind.is_temporal() && e.ty.kind != TypeKind::Time;
    let is_time = |e: &Expr| matches!(e.ty.kind, TypeKind::Time | TypeKind::Year);
    if let Node::Call(f, args) = &e.node
        && matches!(f.name, "greatest" | "least")
        && args.iter().any(is_time)
        && !args.iter().any(|e| is_date(e) || e.ty.kind == TypeKind::Json)
    {
        // The greatest number, and not the number of the greatest text.
        let cast =
            |e: &Expr| Expr::new(Node::Cast(Box::new(arith_number(e.clone()))), DataType { nullable: true, ..ty });
        return Expr::new(Node::Call(f, args.iter().map(cast).collect()), ty);
    }
    let number = match &e.node {
        Node::Call(f, args) if matches!(f.name, "greatest" | "least") && args.iter().any(is_date) => &NUMBER_OF_MOMENT,
        _ => &NUMBER_OF_TEXT,
    };
    Expr::new(Node::Call(number, vec![e]), ty)
}

/// Is it, or may CASE choose in it, what has another number than its text has?
fn is_numbered(e: &Expr) -> bool {
    match &e.node {
        Node::Case { whens, otherwise } if is_string(e.ty.kind) && !whens.is_empty() => {
            whens.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(is_numbered)
        }
        _ => e.ty.kind.is_temporal() || e.ty.kind == TypeKind::Bit || e.members().is_some() || is_hex_literal(e),
    }
}

/// What CASE or IF chooses, as an operand: a decimal has all the digits of its type, and of a text among dates, times, members of
/// an ENUM or SET and others the chosen one is the number that it is.
fn number_of_choice(mut e: Expr) -> Expr {
    if e.ty.kind == TypeKind::Decimal && matches!(&e.node, Node::Case { whens, .. } if !whens.is_empty()) {
        let ty = e.ty;
        return to_type(e, ty);
    }
    let is_string = e.ty.kind.is_text() || e.ty.kind.is_bytes();
    if let Node::Call(f, args) = &mut e.node
        && f.name == "nullif"
        && (args[0].members().is_some() || is_hex_literal(&args[0]))
    {
        let ty = DataType { length: 23, nullable: true, ..DataType::new(TypeKind::Double) };
        args[0] = Expr::new(Node::Cast(Box::new(enum_number(std::mem::replace(&mut args[0], Expr::null())))), ty);
        e.ty = ty;
        return e;
    }
    if let Node::Case { whens, otherwise } = &mut e.node
        && matches!(e.ty.kind, TypeKind::DateTime | TypeKind::Timestamp)
        && e.ty.decimals == 0
        && !whens.is_empty()
        && whens.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(|b| b.ty.kind == TypeKind::Date)
    {
        // A date has no time of day in its number.
        let ty = DataType { length: 21, nullable: e.ty.nullable, ..DataType::new(TypeKind::BigInt) };
        for branch in whens.iter_mut().map(|(_, then)| then).chain(otherwise.as_deref_mut()) {
            let own = std::mem::replace(branch, Expr::null());
            *branch = Expr::new(Node::Cast(Box::new(number_of_choice(own))), DataType { nullable: true, ..ty });
        }
        e.ty = ty;
        return e;
    }
    if let Node::Case { whens, otherwise } = &mut e.node
        && is_string
        && !whens.is_empty()
        && whens.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(is_numbered)
    {
        let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
        for branch in whens.iter_mut().map(|(_, then)| then).chain(otherwise.as_deref_mut()) {
            if !matches!(branch.node, Node::Const(Value::Null)) {
                let own = std::mem::replace(branch, Expr::null());
                let number = number_of_choice(enum_number(own));
                *branch = Expr::new(Node::Cast(Box::new(number)), DataType { nullable: true, ..ty });
            }
        }
        e.ty = ty;
    }
    e
}

/// As [`enum_number`], for what is asked whether it is true.
pub fn truth_operand(e: Expr) -> Expr {
    let e = enum_number(e);
    if is_string(e.ty.kind) && e.ty.kind != TypeKind::Json { number_of_choice(e) } else { e }
}

/// As [`enum_number`], for arithmetic: there an ENUM or SET is a double.
pub fn arith_number(e: Expr) -> Expr {
    if e.ty.kind.is_text() && e.ty.collation.charset().mbminlen() > 1 {
        // Digits are read a byte each.
        return in_charset(e, CollationId::UTF8MB4_0900_AI_CI);
    }
    let e = number_of_long(e);
    if !matches!(e.node, Node::EnumText(..) | Node::SetText(..)) {
        return enum_number(e);
    }
    let ty = DataType { length: 23, nullable: e.ty.nullable, ..DataType::new(TypeKind::Double) };
    Expr::new(Node::Cast(Box::new(enum_number(e))), ty)
}

/// As [`enum_number`], for arguments of functions: there a hexadecimal literal is a double.
pub fn function_number(e: Expr) -> Expr {
    let hex = is_hex_literal(&e);
    let e = arith_number(e);
    match e.node {
        Node::Const(Value::UInt(_) | Value::Int(_)) if hex => {
            let Node::Const(v) = &e.node else { return e };
            let ty = DataType { length: 23, unsigned: e.ty.unsigned, ..DataType::new(TypeKind::Double).not_null() };
            Expr::new(Node::Const(Value::Double(v.to_f64())), ty)
        }
        Node::Call(..) if hex => {
            let ty = DataType { length: 23, unsigned: e.ty.unsigned, ..DataType::new(TypeKind::Double).not_null() };
            Expr::new(Node::Cast(Box::new(e)), ty)
        }
        _ => e,
    }
}

/// As [`enum_number`], for integers that functions take.
pub fn integer_argument(e: Expr) -> Expr {
    let e = enum_number(e);
    match e.node {
        Node::Const(Value::UInt(v)) if i64::try_from(v).is_ok() => Expr::int(v as i64),
        _ => e,
    }
}

/// An ENUM or SET as its number if that is wanted; all else as it is.
pub fn enum_text_or_number(e: Expr, number: bool) -> Expr {
    if number { enum_number(e) } else { e }
}

impl Expr {
    /// What a tuple keeps of the expression, and what reads that from column `column` of `slot`. Of an ENUM or SET it keeps the
    /// number, so that it still is one beside numbers.
    pub fn kept_at(self, slot: usize, column: usize) -> (Expr, Expr) {
        let members = self.members().cloned();
        let is_enum = matches!(self.node, Node::EnumText(..));
        let ty = self.ty;
        let kept = if members.is_some() { enum_number(self) } else { self };
        let read = Expr::column(slot, column, column_of(&kept));
        let read = match members {
            Some(members) if is_enum => Expr::new(Node::EnumText(Box::new(read), members), ty),
            Some(members) => Expr::new(Node::SetText(Box::new(read), members), ty),
            None => read,
        };
        (kept, read)
    }
}
