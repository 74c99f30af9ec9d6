//! Arithmetic and bit operations.

use super::{Expr, convert};
use crate::Execution;
use crate::error::out_of_range;
use crate::operator::{ArithOp, BitOp};
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{DECIMALS_NOT_FIXED, DataType, Decimal, Result, SqlError, TypeKind, Value, err};

/// The default of `div_precision_increment`: digits that a quotient has beyond its dividend.
pub const DIV_SCALE: u32 = 4;

/// A number of one of the three kinds that arithmetic is done in.
enum Number {
    /// The value, and whether its type is unsigned.
    Int(i128, bool),
    Decimal(Decimal),
    Double(f64),
}

fn number(v: &Value<'_>, run: &dyn Execution) -> Number {
    match v {
        Value::Null => Number::Int(0, false),
        Value::Int(v) => Number::Int(*v as i128, false),
        Value::UInt(v) => Number::Int(*v as i128, true),
        Value::Double(v) => Number::Double(*v),
        Value::Decimal(v) => Number::Decimal(*v),
        Value::Bytes(b) => {
            convert::warn_truncated_double(b, run);
            Number::Double(v.to_f64())
        }
        Value::Json(_) => number(&super::document::json_number(v, run), run),
        Value::Date(_) => Number::Int(v.to_i64() as i128, false),
        Value::Time(_) | Value::DateTime(_) => {
            let d = v.to_decimal();
            match (d.scale(), d.to_i64()) {
                (0, Ok(i)) => Number::Int(i as i128, false),
                _ => {
                    let whole = d.truncate(0);
                    match d.checked_sub(whole) {
                        Some(rest) if rest.is_zero() => {
                            Number::Int(whole.to_i64().unwrap_or_else(|e| e) as i128, false)
                        }
                        _ => Number::Decimal(d),
                    }
                }
            }
        }
    }
}

fn as_decimal(n: &Number) -> Decimal {
    match n {
        Number::Int(v, _) => Decimal::from_parts(*v < 0, v.unsigned_abs(), 0),
        Number::Decimal(d) => *d,
        Number::Double(v) => Decimal::from_f64(*v).unwrap_or(Decimal::ZERO),
    }
}

fn as_double(n: &Number) -> f64 {
    match n {
        Number::Int(v, _) => *v as f64,
        Number::Decimal(d) => d.to_f64(),
        Number::Double(v) => *v,
    }
}

/// An integer result: BIGINT, or BIGINT UNSIGNED when either operand is.
fn integer(v: i128, unsigned: bool) -> Result<Value<'static>> {
    if unsigned {
        match u64::try_from(v) {
            Ok(v) => Ok(Value::UInt(v)),
            Err(_) => Err(overflow("BIGINT UNSIGNED")),
        }
    } else {
        match i64::try_from(v) {
            Ok(v) => Ok(Value::Int(v)),
            Err(_) => Err(overflow("BIGINT")),
        }
    }
}

/// Which expression it is, its evaluation says.
#[cold]
fn overflow(kind: &str) -> SqlError {
    out_of_range(kind, "")
}

/// `a op b`, where `ty` is the type that [`arith_type`] has said. NULL for a NULL; error 1690.
pub fn arith<'a>(op: ArithOp, a: &Value<'_>, b: &Value<'_>, ty: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    // The usual case first.
    if let (Value::Int(x), Value::Int(y)) = (a, b) {
        let fast = match op {
            ArithOp::Add => x.checked_add(*y),
            ArithOp::Sub => x.checked_sub(*y),
            ArithOp::Mul => x.checked_mul(*y),
            _ => None,
        };
        return match fast {
            Some(v) => Ok(Value::Int(v)),
            None => compute(op, a, b, ty, run),
        };
    }
    if let Some(v) = unsigned_sum(op, a, b) {
        return Ok(Value::UInt(v));
    }
    let v = compute(op, a, b, ty, run)?;
    // Fractions of a second count as far as their type says.
    let temporal = |v: &Value<'_>| matches!(v, Value::Time(_) | Value::DateTime(_));
    if ty.kind == TypeKind::Decimal && (temporal(a) || temporal(b)) && !v.is_null() {
        return Ok(Value::Decimal(v.to_decimal().round(ty.decimals)));
    }
    Ok(v)
}

/// The sum of integers one of which is unsigned, so that it is, too; `None`: it is out of range, or something else.
#[inline]
fn unsigned_sum(op: ArithOp, a: &Value<'_>, b: &Value<'_>) -> Option<u64> {
    match (a, b) {
        _ if op != ArithOp::Add => None,
        (Value::UInt(x), Value::Int(y)) | (Value::Int(y), Value::UInt(x)) => x.checked_add_signed(*y),
        (Value::UInt(x), Value::UInt(y)) => x.checked_add(*y),
        _ => None,
    }
}

/// Of two decimals, or a decimal and an integer, unless it overflows.
#[inline]
fn decimals(op: ArithOp, a: &Value<'_>, b: &Value<'_>) -> Option<Decimal> {
    let (x, y) = match (a, b) {
        (Value::Decimal(x), Value::Decimal(y)) => (*x, *y),
        (Value::Int(x), Value::Decimal(y)) => (Decimal::from(*x), *y),
        (Value::Decimal(x), Value::Int(y)) => (*x, Decimal::from(*y)),
        _ => return None,
    };
    match op {
        ArithOp::Add => x.checked_add(y),
        ArithOp::Sub => x.checked_sub(y),
        _ => x.checked_mul(y),
    }
}

fn compute<'a>(op: ArithOp, a: &Value<'_>, b: &Value<'_>, ty: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    if a.is_null() || b.is_null() {
        // Reals are both read before either is looked at.
        for v in [a, b] {
            if let Value::Bytes(text) = v {
                convert::warn_truncated_double(text, run);
            }
        }
        return Ok(Value::Null);
    }
    if matches!(op, ArithOp::Add | ArithOp::Sub | ArithOp::Mul)
        && let Some(v) = decimals(op, a, b)
    {
        return Ok(Value::Decimal(v));
    }
    // DIV reads texts as decimals.
    let number = |v: &Value<'_>| match (op, v) {
        (ArithOp::IntDiv, Value::Bytes(text)) => {
            convert::warn_truncated_decimal(text, run);
            Number::Decimal(v.to_decimal())
        }
        _ => number(v, run),
    };
    let (x, y) = (number(a), number(b));
    match op {
        ArithOp::Add | ArithOp::Sub | ArithOp::Mul => combine(op, &x, &y, run),
        ArithOp::Div => divide(&x, &y, ty, run),
        ArithOp::IntDiv => divide_whole(&x, &y, ty, run),
        ArithOp::Mod => remainder(&x, &y, run),
    }
}

/// Sum, difference or product.
fn combine<'a>(op: ArithOp, x: &Number, y: &Number, run: &dyn Execution) -> Result<Value<'a>> {
    match (x, y) {
        (Number::Int(i, u), Number::Int(j, w)) => {
            let v = match op {
                ArithOp::Add => i + j,
                ArithOp::Sub => i - j,
                _ => i.checked_mul(*j).unwrap_or(i128::MAX),
            };
            let unsigned =
                (*u || *w) && !(op == ArithOp::Sub && run.evaluation().sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION));
            integer(v, unsigned)
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => {
            let (i, j) = (as_double(x), as_double(y));
            let v = match op {
                ArithOp::Add => i + j,
                ArithOp::Sub => i - j,
                _ => i * j,
            };
            if v.is_finite() { Ok(Value::Double(v)) } else { Err(overflow("DOUBLE")) }
        }
        _ => {
            let (i, j) = (as_decimal(x), as_decimal(y));
            let v = match op {
                ArithOp::Add => i.checked_add(j),
                ArithOp::Sub => i.checked_sub(j),
                _ => i.checked_mul(j),
            };
            v.map(Value::Decimal).ok_or_else(|| overflow("DECIMAL"))
        }
    }
}

fn divide<'a>(x: &Number, y: &Number, ty: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    match (x, y) {
        (Number::Double(_), _) | (_, Number::Double(_)) => {
            let (i, j) = (as_double(x), as_double(y));
            if j == 0.0 {
                return division_by_zero(run);
            }
            let v = i / j;
            if v.is_finite() { Ok(Value::Double(v)) } else { Err(overflow("DOUBLE")) }
        }
        _ => {
            let (i, j) = (as_decimal(x), as_decimal(y));
            if j.is_zero() {
                return division_by_zero(run);
            }
            let v = i.checked_div(j, run.div_increment()).ok_or_else(|| overflow("DECIMAL"))?;
            // The result shows the static scale, the digits after it are for what is computed next.
            let scale = if ty.kind == TypeKind::Decimal { ty.decimals } else { v.scale() };
            Ok(Value::Decimal(if v.scale() > scale.max(30) { v.round(scale) } else { v }))
        }
    }
}

/// An operand of DIV: of a double beyond all DECIMALs the largest one, with warning 1292.
fn whole_operand(n: &Number, run: &dyn Execution) -> Decimal {
    let Number::Double(v) = n else { return as_decimal(n) };
    Decimal::from_f64(*v).unwrap_or_else(|| {
        let most = Decimal::max_value(Decimal::MAX_PRECISION, 0, *v < 0.0);
        let shown = convert::text(&Value::Decimal(most), &DataType::decimal(Decimal::MAX_PRECISION, 0)).into_owned();
        convert::warn_truncated("DECIMAL", &shown, run);
        most
    })
}

/// DIV
fn divide_whole<'a>(x: &Number, y: &Number, ty: &DataType, run: &dyn Execution) -> Result<Value<'a>> {
    match (x, y) {
        (Number::Int(i, u), Number::Int(j, w)) => {
            if *j == 0 {
                return division_by_zero(run);
            }
            integer(i / j, *u || *w)
        }
        _ => {
            let (i, j) = (whole_operand(x, run), whole_operand(y, run));
            if j.is_zero() {
                return division_by_zero(run);
            }
            let v = i.checked_div_integer(j).ok_or_else(|| overflow("BIGINT"))?;
            match ty.unsigned {
                true => v.to_u64().map(Value::UInt).map_err(|_| overflow("BIGINT UNSIGNED")),
                false => v.to_i64().map(Value::Int).map_err(|_| overflow("BIGINT")),
            }
        }
    }
}

fn remainder<'a>(x: &Number, y: &Number, run: &dyn Execution) -> Result<Value<'a>> {
    match (x, y) {
        (Number::Int(i, u), Number::Int(j, _)) => {
            if *j == 0 {
                return division_by_zero(run);
            }
            integer(i % j, *u)
        }
        (Number::Double(_), _) | (_, Number::Double(_)) => {
            let (i, j) = (as_double(x), as_double(y));
            if j == 0.0 {
                return division_by_zero(run);
            }
            Ok(Value::Double(i % j))
        }
        _ => {
            let (i, j) = (as_decimal(x), as_decimal(y));
            if j.is_zero() {
                return division_by_zero(run);
            }
            i.checked_rem(j).map(Value::Decimal).ok_or_else(|| overflow("DECIMAL"))
        }
    }
}

/// NULL, with a warning, or an error in a strict write, as ERROR_FOR_DIVISION_BY_ZERO asks.
pub fn division_by_zero<'a>(run: &dyn Execution) -> Result<Value<'a>> {
    if run.evaluation().sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        if run.evaluation().strict.get() {
            // What has come before is told.
            run.check_strict()?;
            return Err(err!(ER_DIVISION_BY_ZERO));
        }
        run.push_warning(err!(ER_DIVISION_BY_ZERO));
    }
    Ok(Value::Null)
}

/// `-v`. Error 1690.
pub fn negate<'a>(v: &Value<'_>, run: &dyn Execution) -> Result<Value<'a>> {
    if v.is_null() {
        return Ok(Value::Null);
    }
    if matches!(v, Value::Date(_) | Value::Time(_) | Value::DateTime(_)) {
        return Ok(Value::Double(-v.to_f64()));
    }
    Ok(match number(v, run) {
        Number::Int(i, _) => match i64::try_from(-i) {
            Ok(i) => Value::Int(i),
            Err(_) => return Err(overflow("BIGINT")),
        },
        Number::Decimal(d) => Value::Decimal(d.neg()),
        Number::Double(d) => Value::Double(-d),
    })
}

/// `binary`: the result is a binary string, as the operands are.
pub fn bits<'a>(op: BitOp, a: &Value<'_>, b: &Value<'_>, binary: bool, run: &dyn Execution) -> Result<Value<'a>> {
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    if let (Value::Bytes(x), true) = (a, binary) {
        return binary_bits(op, x, b, run);
    }
    let (x, y) = (convert::bits64(a, run), convert::bits64(b, run));
    Ok(Value::UInt(match op {
        BitOp::And => x & y,
        BitOp::Or => x | y,
        BitOp::Xor => x ^ y,
        BitOp::ShiftLeft => {
            if y < 64 {
                x << y
            } else {
                0
            }
        }
        BitOp::ShiftRight => {
            if y < 64 {
                x >> y
            } else {
                0
            }
        }
    }))
}

/// Binary strings byte by byte, of one length; shifted as one large number.
fn binary_bits<'a>(op: BitOp, a: &[u8], b: &Value<'_>, run: &dyn Execution) -> Result<Value<'a>> {
    let pairs = |f: fn(u8, u8) -> u8| match b {
        Value::Bytes(b) if b.len() == a.len() => Ok(a.iter().zip(b.iter()).map(|(x, y)| f(*x, *y)).collect()),
        _ => Err(err!(ER_INVALID_BITWISE_OPERANDS_SIZE)),
    };
    let bytes: Vec<u8> = match op {
        BitOp::And => pairs(|x, y| x & y)?,
        BitOp::Or => pairs(|x, y| x | y)?,
        BitOp::Xor => pairs(|x, y| x ^ y)?,
        BitOp::ShiftLeft | BitOp::ShiftRight => {
            let n = usize::try_from(convert::bits64(b, run)).unwrap_or(usize::MAX);
            let bit = |i: usize| a.get(i / 8).map_or(0, |byte| byte >> (7 - i % 8) & 1);
            let source = |i: usize| match op {
                BitOp::ShiftLeft => i.checked_add(n).map_or(0, bit),
                _ => i.checked_sub(n).map_or(0, bit),
            };
            (0..a.len()).map(|byte| (0..8).fold(0, |v, k| v << 1 | source(byte * 8 + k))).collect()
        }
    };
    Ok(Value::Bytes(bytes.into()))
}

/// Is a bit operation on the two done on binary strings? Literals such as x'41' alone are numbers.
pub fn are_binary(a: &Expr, b: &Expr, shift: bool) -> bool {
    let binary = |e: &Expr| e.ty.kind.is_bytes() && e.ty.collation.is_binary();
    match shift {
        true => binary(a) && !convert::is_hex_literal(a),
        // A bare NULL is as the other one is.
        false if a.ty.kind == TypeKind::Null => binary(b) && !convert::is_hex_literal(b),
        false if b.ty.kind == TypeKind::Null => binary(a) && !convert::is_hex_literal(a),
        false => binary(a) && binary(b) && !(convert::is_hex_literal(a) && convert::is_hex_literal(b)),
    }
}

/// `~v`. `binary`: of a binary string, byte by byte.
pub fn bit_not<'a>(v: &Value<'_>, binary: bool, run: &dyn Execution) -> Result<Value<'a>> {
    if let (Value::Bytes(b), true) = (v, binary) {
        return Ok(Value::Bytes(b.iter().map(|b| !b).collect::<Vec<u8>>().into()));
    }
    if v.is_null() { Ok(Value::Null) } else { Ok(Value::UInt(!convert::bits64(v, run))) }
}

/// The type of a bit operation on binary strings.
pub fn binary_type(a: &DataType, b: &DataType) -> DataType {
    let ty = DataType::string(TypeKind::VarBinary, a.length, types::CollationId::BINARY);
    DataType { nullable: a.nullable || b.nullable, ..ty }
}

/// The type of a bit operation on numbers.
pub fn bits_type(a: &DataType, b: &DataType) -> DataType {
    DataType { length: 21, nullable: a.nullable || b.nullable, ..DataType::new(TypeKind::BigInt).unsigned() }
}

/// Precision and scale that a type has as a DECIMAL.
fn as_decimal_type(t: &DataType) -> (u32, u32) {
    match t.kind {
        TypeKind::Decimal => (t.length, t.decimals as u32),
        TypeKind::TinyInt => (3, 0),
        TypeKind::SmallInt => (5, 0),
        TypeKind::MediumInt => (8, 0),
        TypeKind::Int => (10, 0),
        TypeKind::Year => (4, 0),
        TypeKind::Bit => (t.length.clamp(1, 20), 0),
        TypeKind::Date => (8, 0),
        TypeKind::Time => (7 + t.decimals as u32, t.decimals as u32),
        TypeKind::DateTime | TypeKind::Timestamp => (14 + t.decimals as u32, t.decimals as u32),
        TypeKind::BigInt if t.length > 0 => (t.length.saturating_sub(!t.unsigned as u32).max(1), 0),
        _ => (20, 0),
    }
}

/// 0: integer, 1: decimal, 2: double.
fn class(t: &DataType) -> u8 {
    match t.kind {
        TypeKind::Decimal => 1,
        TypeKind::Float | TypeKind::Double => 2,
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp if t.decimals > 0 => 1,
        k if k.is_numeric() || k.is_temporal() => 0,
        // Strings, documents, and NULL.
        _ => 2,
    }
}

/// The type of an arithmetic operation, with the default of `div_precision_increment`.
pub fn arith_type(op: ArithOp, a: &DataType, b: &DataType) -> DataType {
    let by_zero = matches!(op, ArithOp::Div | ArithOp::IntDiv | ArithOp::Mod);
    let nullable = a.nullable || b.nullable || by_zero;
    let of = class(a).max(class(b));
    let double = DataType { length: 23, decimals: DECIMALS_NOT_FIXED, nullable, ..DataType::new(TypeKind::Double) };
    let unsigned = [a, b].map(convert::is_unsigned);
    let int = |unsigned| DataType { length: 21, unsigned, nullable, ..DataType::new(TypeKind::BigInt) };
    let ((p, s), (q, r)) = (as_decimal_type(a), as_decimal_type(b));
    let decimal = |precision: u32, scale: u32| DataType {
        nullable,
        ..DataType::decimal(precision.clamp(1, 65), scale.min(30) as u8)
    };
    let exact =
        |precision: u32, scale: u32| DataType { unsigned: unsigned[0] && unsigned[1], ..decimal(precision, scale) };
    if op != ArithOp::IntDiv
        && let Some(decimals) = decimals_beside_null(op, a, b)
    {
        let digits = |t: &DataType| if t.kind == TypeKind::Null { 0 } else { as_decimal_type(t).0 + t.unsigned as u32 };
        let length = digits(a).max(digits(b)) + decimals as u32;
        return DataType { length, decimals, unsigned: op == ArithOp::Mod && unsigned[0], ..double };
    }
    match (op, of) {
        (ArithOp::IntDiv, 0) => DataType { length: a.length.min(21), ..int(unsigned[0] || unsigned[1]) },
        (ArithOp::IntDiv, 1) => DataType { length: (p - s.min(p) + 1).min(21), ..int(unsigned[0] || unsigned[1]) },
        (ArithOp::IntDiv, _) => int(unsigned[0] || unsigned[1]),
        (ArithOp::Div, 0 | 1) => exact(p + DIV_SCALE + r, s + DIV_SCALE),
        (_, 2) => {
            let more = if op == ArithOp::Div { DIV_SCALE as u8 } else { 0 };
            let ty =
                common_float(a, b, more).map_or(double, |(length, decimals)| DataType { length, decimals, ..double });
            DataType { unsigned: op == ArithOp::Mod && unsigned[0], ..ty }
        }
        (ArithOp::Mod, 0) => DataType { length: a.length.max(b.length).min(21), ..int(unsigned[0]) },
        (_, 0) => {
            let digits = if op == ArithOp::Mul { p + q } else { p.max(q) + 1 };
            let ty = int(unsigned[0] || unsigned[1]);
            DataType { length: (digits + !ty.unsigned as u32).min(21), ..ty }
        }
        (ArithOp::Mul, _) => exact(p + q, s + r),
        // Without a sign there is room for another digit.
        (ArithOp::Mod, _) => DataType { unsigned: unsigned[0], ..decimal(p.max(q) + unsigned[0] as u32, s.max(r)) },
        _ => exact((p - s.min(p)).max(q - r.min(q)) + 1 + s.max(r), s.max(r)),
    }
}

/// Digits before the point with a sign, and behind it; `None`: as many as a value needs, or no number.
fn fixed_digits(t: &DataType) -> Option<(u32, u8)> {
    match t.kind {
        TypeKind::Float | TypeKind::Double if t.decimals < DECIMALS_NOT_FIXED => {
            Some((t.length.saturating_sub(t.decimals.into()), t.decimals))
        }
        TypeKind::Decimal => {
            let marks = u32::from(t.decimals > 0) + u32::from(!t.unsigned);
            Some((t.length.saturating_sub(t.decimals.into()) + marks, t.decimals))
        }
        k if k.is_integer() => Some((t.length, 0)),
        _ => None,
    }
}

/// Length and digits behind the point that FLOAT(M,D) or DOUBLE(M,D) has with another number; `more`: and so many of these.
pub fn common_float(a: &DataType, b: &DataType, more: u8) -> Option<(u32, u8)> {
    let ((i, s), (j, r)) = (fixed_digits(a)?, fixed_digits(b)?);
    let decimals = s.max(r) + more;
    (decimals < DECIMALS_NOT_FIXED).then(|| (i.max(j) + u32::from(decimals), decimals))
}

/// A DOUBLE of as many digits behind the point as `t`, and `more`, where these are fixed.
pub fn double_like(t: &DataType, more: u8) -> DataType {
    let double = DataType { length: 23, ..DataType::new(TypeKind::Double) };
    match t.decimals + more {
        _ if !matches!(t.kind, TypeKind::Float | TypeKind::Double) => double,
        decimals if decimals < DECIMALS_NOT_FIXED => DataType { length: 17 + u32::from(decimals), decimals, ..double },
        _ => double,
    }
}

/// Digits behind the point of a DOUBLE that is one because an operand is a bare NULL; `None`: it is one anyway, or none.
fn decimals_beside_null(op: ArithOp, a: &DataType, b: &DataType) -> Option<u8> {
    let is_null = |t: &DataType| t.kind == TypeKind::Null;
    let is_exact = |t: &DataType| is_null(t) || class(t) < 2;
    if !(is_null(a) || is_null(b)) || !is_exact(a) || !is_exact(b) {
        return None;
    }
    let digits = |t: &DataType| if is_null(t) { 0 } else { as_decimal_type(t).1 };
    let (x, y) = (digits(a), digits(b));
    let decimals = match op {
        ArithOp::Mul => x + y,
        ArithOp::Div => x.max(y) + DIV_SCALE,
        _ => x.max(y),
    };
    Some(decimals.min(30) as u8)
}

/// The type of [`negate`]'s value.
pub fn negate_type(t: &DataType) -> DataType {
    let nullable = t.nullable;
    if t.kind.is_temporal() || t.kind == TypeKind::Null {
        return DataType { length: 17, decimals: t.decimals, nullable, ..DataType::new(TypeKind::Double) };
    }
    match class(t) {
        0 => {
            let length = if t.kind.is_integer() && !t.unsigned { t.length.min(21) } else { 21 };
            DataType { length, nullable, ..DataType::new(TypeKind::BigInt) }
        }
        1 => {
            let (p, s) = as_decimal_type(t);
            DataType { nullable, ..DataType::decimal(p, s as u8) }
        }
        _ => DataType { nullable, ..double_like(t, 0) },
    }
}

/// The type of a quotient under another `div_precision_increment` than the default, from the one under that.
pub fn with_div_increment(t: DataType, increment: u32) -> DataType {
    if t.kind != TypeKind::Decimal || increment == DIV_SCALE {
        return t;
    }
    let change = |n: u32| (n + increment).saturating_sub(DIV_SCALE);
    let (p, s) = (change(t.length).clamp(1, 65), change(u32::from(t.decimals)).min(30));
    DataType { nullable: t.nullable, unsigned: t.unsigned, ..DataType::decimal(p, s as u8) }
}

/// The DECIMAL type that holds what SUM (and AVG, with four more digits) of a type gives.
pub fn sum_type(t: &DataType, average: bool) -> DataType {
    match class(t) {
        _ if t.kind == TypeKind::Null => {
            let (length, decimals) = if average { (21, DIV_SCALE as u8) } else { (17, 0) };
            DataType { length, decimals, ..DataType::new(TypeKind::Double) }
        }
        2 => double_like(t, if average { DIV_SCALE as u8 } else { 0 }),
        _ => {
            let (p, s) = as_decimal_type(t);
            if average {
                DataType::decimal((p + DIV_SCALE).min(65), (s + DIV_SCALE).min(30) as u8)
            } else {
                DataType::decimal((p + 22).min(65), s as u8)
            }
        }
    }
}

/// Is it computed with as a double?
pub fn is_real(t: &DataType) -> bool {
    class(t) == 2
}
