//! Numeric functions.

use crate::error::out_of_range;
use crate::function::{Args, Func, Function, Rule, bytes, f, volatile};
use crate::{Expr, Node, convert, number, operand};
use types::codes::*;
use types::{DataType, Decimal, Result, TypeKind, Value, err};

/// Of numbers.
pub static FUNCTIONS: &[Function] = &[
    f("abs", 1, 1, Rule::Magnitude, abs),
    f("sign", 1, 1, Rule::Int(21), |a| {
        Ok(a.double(0)?.map_or(Value::Null, |d| {
            Value::Int(if d > 0.0 {
                1
            } else if d < 0.0 {
                -1
            } else {
                0
            })
        }))
    }),
    f("floor", 1, 1, Rule::Whole, |a| step(a, f64::floor, |d| d.floor())),
    f("ceiling", 1, 1, Rule::Whole, |a| step(a, f64::ceil, |d| d.ceiling())),
    f("ceil", 1, 1, Rule::Whole, |a| step(a, f64::ceil, |d| d.ceiling())),
    f("round", 1, 2, Rule::Number, |a| round(a, false)),
    f("truncate", 2, 2, Rule::Number, |a| round(a, true)),
    f("sqrt", 1, 1, Rule::Double, |a| real(a, |x| if x < 0.0 { None } else { Some(x.sqrt()) })),
    f("exp", 1, 1, Rule::Double, |a| real(a, |x| Some(x.exp()))),
    f("ln", 1, 1, Rule::Double, |a| logarithm(a, f64::ln)),
    f("log", 1, 2, Rule::Double, log),
    f("log2", 1, 1, Rule::Double, |a| logarithm(a, f64::log2)),
    f("log10", 1, 1, Rule::Double, |a| logarithm(a, f64::log10)),
    f("pow", 2, 2, Rule::Double, pow),
    f("power", 2, 2, Rule::Double, pow),
    f("pi", 0, 0, Rule::Double, |_| Ok(Value::Double(std::f64::consts::PI))),
    f("sin", 1, 1, Rule::Double, |a| real(a, |x| Some(x.sin()))),
    f("cos", 1, 1, Rule::Double, |a| real(a, |x| Some(x.cos()))),
    f("tan", 1, 1, Rule::Double, |a| real(a, |x| Some(x.tan()))),
    f("cot", 1, 1, Rule::Double, |a| real(a, |x| Some(1.0 / x.tan()))),
    f("asin", 1, 1, Rule::Double, |a| real(a, |x| (x.abs() <= 1.0).then(|| x.asin()))),
    f("acos", 1, 1, Rule::Double, |a| real(a, |x| (x.abs() <= 1.0).then(|| x.acos()))),
    f("atan", 1, 2, Rule::Double, atan),
    f("atan2", 1, 2, Rule::Double, atan),
    f("degrees", 1, 1, Rule::Double, |a| real(a, |x| Some(x.to_degrees()))),
    f("radians", 1, 1, Rule::Double, |a| real(a, |x| Some(x.to_radians()))),
    volatile(f("rand", 0, 1, Rule::Double, rand)),
    f("crc32", 1, 1, Rule::UInt(10), |a| {
        Ok(a.text(0)?.map_or(Value::Null, |s| Value::UInt(crc32fast::hash(&s) as u64)))
    }),
    f("conv", 3, 3, Rule::System(65), conv),
    // Calls of these two are planned as CONV.
    f("bin", 1, 1, Rule::System(65), conv),
    f("oct", 1, 1, Rule::System(65), conv),
    f("bit_count", 1, 1, Rule::Int(21), |a| {
        let v = a.whole(0)?;
        let e = &a.args[0];
        Ok(match &v {
            Value::Null => Value::Null,
            Value::Bytes(b) if e.ty.collation.is_binary() => Value::Int(b.iter().map(|b| b.count_ones() as i64).sum()),
            v => Value::Int(convert::bits64(v, a.run).count_ones() as i64),
        })
    }),
];

/// BIN and OCT are CONV from base 10, for which a hexadecimal literal is a number whatever base is named.
pub fn as_conv(function: Func, mut args: Vec<Expr>) -> (Func, Vec<Expr>) {
    let to = match function.name {
        "bin" => Expr::int(2),
        "oct" => Expr::int(8),
        "conv" if convert::is_hex_literal(&args[0]) => args.swap_remove(2),
        _ => return (function, args),
    };
    let number = operand::integer_argument(args.swap_remove(0));
    let conv = FUNCTIONS.iter().find(|f| f.name == "conv").expect("it is in the list");
    (conv, vec![number, Expr::int(10), to])
}

/// Is a hexadecimal literal, an ENUM or a SET a number as its argument?
pub fn takes_numbers(function: Func) -> bool {
    FUNCTIONS.iter().any(|f| std::ptr::eq(f, function)) && !matches!(function.name, "crc32" | "conv" | "bit_count")
}

/// Type of ROUND, FLOOR, ABS ...: integers stay integers, decimals take the digits asked for, the rest is DOUBLE.
/// The most digits of a DECIMAL whose FLOOR is a BIGINT.
const WHOLE_DIGITS_MAX: u32 = 17;

/// FLOOR and CEILING.
pub fn whole_type(args: &[Expr]) -> DataType {
    let t = args[0].ty;
    match t.kind {
        TypeKind::Decimal if t.length - t.decimals as u32 <= WHOLE_DIGITS_MAX => {
            DataType { length: 21, ..DataType::new(TypeKind::BigInt) }
        }
        _ => rounded_type(args),
    }
}

/// The type of ROUND and its like: an integer, a decimal or a double, as the argument is.
pub fn rounded_type(args: &[Expr]) -> DataType {
    let t = args[0].ty;
    if number::is_real(&t) || t.kind.is_temporal() {
        return DataType { length: 23, ..DataType::new(TypeKind::Double) };
    }
    if t.kind != TypeKind::Decimal {
        return DataType { length: 21, unsigned: convert::is_unsigned(&t), ..DataType::new(TypeKind::BigInt) };
    }
    let wanted = match args.get(1).map(|e| &e.node) {
        Some(Node::Const(Value::Int(n))) => (*n).clamp(0, 30) as u8,
        Some(Node::Const(Value::Null)) => 0,
        Some(_) => t.decimals,
        None => 0,
    };
    let decimals = wanted.min(t.decimals);
    // Rounding may carry into one more digit before the point.
    let carry = u32::from(decimals < t.decimals || t.unsigned && args.len() == 1);
    DataType::decimal((t.length - t.decimals as u32 + decimals as u32 + carry).clamp(1, 65), decimals)
}

fn real<'a>(a: Args<'a>, f: impl Fn(f64) -> Option<f64>) -> Result<Value<'a>> {
    let Some(x) = a.double(0)? else { return Ok(Value::Null) };
    match f(x) {
        Some(v) if v.is_finite() => Ok(Value::Double(v)),
        Some(_) => Err(out_of_range("DOUBLE", "")),
        None => Ok(Value::Null),
    }
}

fn logarithm<'a>(a: Args<'a>, f: fn(f64) -> f64) -> Result<Value<'a>> {
    let Some(x) = a.double(0)? else { return Ok(Value::Null) };
    if x <= 0.0 {
        a.run.push_warning(err!(ER_INVALID_ARGUMENT_FOR_LOGARITHM));
        return Ok(Value::Null);
    }
    Ok(Value::Double(f(x)))
}

fn log<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if a.len() == 1 {
        return logarithm(a, f64::ln);
    }
    let (Some(base), Some(x)) = (a.double(0)?, a.double(1)?) else { return Ok(Value::Null) };
    if x <= 0.0 || base <= 0.0 || base == 1.0 {
        a.run.push_warning(err!(ER_INVALID_ARGUMENT_FOR_LOGARITHM));
        return Ok(Value::Null);
    }
    Ok(Value::Double(x.ln() / base.ln()))
}

fn pow<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(x) = a.double(0)? else { return Ok(Value::Null) };
    let Some(y) = a.double(1)? else { return Ok(Value::Null) };
    let v = x.powf(y);
    if v.is_finite() { Ok(Value::Double(v)) } else { Err(out_of_range("DOUBLE", "")) }
}

fn atan<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(y) = a.double(0)? else { return Ok(Value::Null) };
    if a.len() == 1 {
        return Ok(Value::Double(y.atan()));
    }
    Ok(a.double(1)?.map_or(Value::Null, |x| Value::Double(y.atan2(x))))
}

/// The argument as a number: strings become doubles.
fn numeric<'a>(a: &Args<'a>) -> Result<Value<'a>> {
    let v = a.value(0)?;
    Ok(match v {
        Value::Bytes(_) => a.double(0)?.map_or(Value::Null, Value::Double),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => Value::Double(v.to_f64()),
        Value::Json(_) => Value::Double(crate::document::json_number(&v, a.run).to_f64()),
        v => v,
    })
}

fn abs<'a>(a: Args<'a>) -> Result<Value<'a>> {
    Ok(match numeric(&a)? {
        Value::Int(i) => Value::Int(i.checked_abs().ok_or_else(|| out_of_range("BIGINT", ""))?),
        Value::Decimal(d) => Value::Decimal(d.abs()),
        Value::Double(d) => Value::Double(d.abs()),
        v => v,
    })
}

fn step<'a>(a: Args<'a>, f: fn(f64) -> f64, g: fn(types::Decimal) -> types::Decimal) -> Result<Value<'a>> {
    Ok(match numeric(&a)? {
        Value::Double(d) => Value::Double(f(d)),
        Value::Decimal(d) => {
            let d = g(d);
            match (a.ty.kind, d.to_i64()) {
                (TypeKind::BigInt, Ok(i)) => Value::Int(i),
                _ => Value::Decimal(d),
            }
        }
        v => v,
    })
}

/// With the digits behind the point that the type promises, where the number of digits is not a constant.
fn shown(a: &Args<'_>, d: Decimal) -> Decimal {
    let promised = a.ty.kind == TypeKind::Decimal && d.scale() < a.ty.decimals;
    if promised { d.round(a.ty.decimals) } else { d }
}

fn round<'a>(a: Args<'a>, cut: bool) -> Result<Value<'a>> {
    let v = numeric(&a)?;
    let digits = match a.len() {
        2 if v.is_null() => return Ok(Value::Null),
        2 => match a.int(1)? {
            Some(n) => n,
            None => return Ok(Value::Null),
        },
        _ => 0,
    };
    Ok(match v {
        Value::Double(d) => Value::Double(round_double(d, digits, cut)),
        Value::Decimal(d) if digits >= 0 => {
            let scale = digits.min(d.scale() as i64) as u8;
            Value::Decimal(shown(&a, if cut { d.truncate(scale) } else { d.round(scale) }))
        }
        Value::Decimal(d) => Value::Decimal(shown(&a, d.round_integer(digits.unsigned_abs().min(100) as u32, cut))),
        Value::Int(_) | Value::UInt(_) if digits < 0 => {
            let d = v.to_decimal().round_integer(digits.unsigned_abs().min(100) as u32, cut);
            match (&v, d.to_i64(), d.to_u64()) {
                (Value::Int(_), Ok(i), _) => Value::Int(i),
                (Value::UInt(_), _, Ok(u)) => Value::UInt(u),
                _ => return Err(out_of_range("BIGINT", "")),
            }
        }
        v => v,
    })
}

/// A double rounded to so many digits behind the point (before it when negative): to the even neighbour at a tie, as the C
/// library's rint does, or cut.
pub fn round_double(d: f64, digits: i64, cut: bool) -> f64 {
    let scale = 10f64.powi(digits.unsigned_abs().min(400) as i32);
    let scaled = if digits >= 0 { d * scale } else { d / scale };
    if !scaled.is_finite() || scale.is_infinite() && digits < 0 {
        return if digits < 0 { 0.0 } else { d };
    }
    let whole = if cut { scaled.trunc() } else { scaled.round_ties_even() };
    if digits >= 0 { whole / scale } else { whole * scale }
}

/// RAND(): a 64-bit generator (splitmix) seeded once a statement. RAND(n): MySQL's own generator, so that its sequences are
/// the same; a constant seed is set once, any other one for each row.
fn rand<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if a.len() == 1 {
        return seeded(&a);
    }
    let mut env = a.run.session();
    let state = env.random();
    *state = advance(*state);
    Ok(Value::Double(f64::from(state.0) / f64::from(RAND_PARTS)))
}

/// Values of RAND(n) are so many parts of one.
const RAND_PARTS: u32 = 0x3FFF_FFFF;

/// The next state: its first half is the value's numerator.
fn advance((x, y): (u32, u32)) -> (u32, u32) {
    let x = ((u64::from(x) * 3 + u64::from(y)) % u64::from(RAND_PARTS)) as u32;
    (x, ((u64::from(x) + u64::from(y) + 33) % u64::from(RAND_PARTS)) as u32)
}

/// What `rand_seed1` or `rand_seed2` makes of a number.
pub fn random_part(n: u64) -> u32 {
    (n % u64::from(RAND_PARTS)) as u32
}

/// A state of RAND() that nobody knows.
pub fn random_seed() -> (u32, u32) {
    let seed = info_seed();
    (random_part(seed >> 32), random_part(seed & 0xFFFF_FFFF))
}

fn seeded<'a>(a: &Args<'a>) -> Result<Value<'a>> {
    let site = a.args.as_ptr() as usize;
    let mut states = a.run.evaluation().scratch().random.borrow_mut();
    let known = states.iter().position(|(s, ..)| *s == site);
    let (mut x, mut y) = match known {
        Some(i) if a.args[0].is_constant() => (states[i].1, states[i].2),
        _ => {
            let seed = a.int(0)?.unwrap_or(0) as u32;
            let x = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
            (x % RAND_PARTS, seed.wrapping_mul(0x1000_0001) % RAND_PARTS)
        }
    };
    (x, y) = advance((x, y));
    match known {
        Some(i) => states[i] = (site, x, y),
        None => states.push((site, x, y)),
    }
    Ok(Value::Double(x as f64 / RAND_PARTS as f64))
}

/// A number that nobody can guess twice: std's per-process random keys over a fresh hasher.
pub fn info_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

fn conv<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let text = match a.args[0].ty.kind {
        TypeKind::Bit => {
            a.value(0).map(|v| if v.is_null() { None } else { Some(v.to_u64().to_string().into_bytes().into()) })
        }
        _ => a.text(0),
    };
    let (Some(s), Some(from), Some(to)) = (text?, a.int(1)?, a.int(2)?) else { return Ok(Value::Null) };
    let (fb, tb) = (from.unsigned_abs() as u32, to.unsigned_abs() as u32);
    if !(2..=36).contains(&fb) || !(2..=36).contains(&tb) {
        return Ok(Value::Null);
    }
    if s.is_empty() {
        return Ok(Value::Null);
    }
    let text = String::from_utf8_lossy(&s);
    let digits = text.trim();
    let (negative, digits) = digits.strip_prefix('-').map_or((false, digits), |r| (true, r));
    let (mut n, mut clean) = (0u64, digits.starts_with(|c: char| c.is_digit(fb)));
    for d in digits.chars().map_while(|c| c.to_digit(fb)) {
        n = match n.checked_mul(fb as u64).and_then(|n| n.checked_add(d as u64)) {
            Some(n) => n,
            None => {
                clean = false;
                u64::MAX
            }
        };
    }
    if !clean {
        a.run.push_warning(err!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", text));
    }
    let value = if negative { (n as i64).wrapping_neg() as u64 } else { n };
    let (sign, mut rest) = match to < 0 && (value as i64) < 0 {
        true => ("-", (value as i64).unsigned_abs()),
        false => ("", value),
    };
    let mut out = Vec::new();
    loop {
        let d = char::from_digit((rest % tb as u64) as u32, tb).expect("below the base");
        out.push(d.to_ascii_uppercase() as u8);
        rest /= tb as u64;
        if rest == 0 {
            break;
        }
    }
    out.extend(sign.bytes());
    out.reverse();
    Ok(bytes(out))
}
