//! User variables. They keep integers, decimals, doubles, strings and NULL, and what is of another type as the one of these that
//! MySQL makes of it (manual, "User-Defined Variables").

use crate::convert;
use std::borrow::Cow;
use types::collation::{self, CollationId};
use types::{DataType, Decimal, TypeKind, Value};

/// Characters of a variable's text, and bytes of a binary string.
const LENGTH_MAX: u32 = 0xFF_FFFF;
/// Digits behind the point that a decimal may come to have.
const DECIMALS_MAX: u8 = 30;

/// What names of one variable have in common: they are compared as by `utf8mb3_general_ci`.
pub fn key(name: &str) -> Cow<'_, str> {
    match name.is_ascii() {
        true if name.bytes().any(|b| b.is_ascii_uppercase()) => Cow::Owned(name.to_ascii_lowercase()),
        true => Cow::Borrowed(name),
        false => Cow::Owned(collation::general_fold(name)),
    }
}

/// The type that a variable has once it is given a value of type `ty`: it is wide enough for all values of its kind, so that
/// plans with the variable stay good for the next one. Of no type (NULL) before it is given anything.
pub fn kept_type(ty: &DataType) -> DataType {
    let integer = |unsigned| DataType { length: 21, unsigned, ..DataType::new(TypeKind::BigInt) };
    let text = |collation: CollationId| {
        let is_long = collation.charset().mbmaxlen() > 1;
        DataType::string(if is_long { TypeKind::LongText } else { TypeKind::MediumText }, LENGTH_MAX, collation)
    };
    let kept = match ty.kind {
        TypeKind::Null => *ty,
        TypeKind::Year | TypeKind::Bit => integer(true),
        kind if kind.is_integer() => integer(ty.unsigned),
        TypeKind::Decimal => DataType::decimal(Decimal::MAX_PRECISION, DECIMALS_MAX),
        TypeKind::Float | TypeKind::Double => DataType { length: 23, ..DataType::new(TypeKind::Double) },
        // As numbers' text, which is latin1.
        kind if kind.is_temporal() => text(CollationId::LATIN1_SWEDISH_CI),
        TypeKind::Json => text(CollationId::UTF8MB4_BIN),
        kind if kind.is_text() && !ty.collation.is_binary() => text(ty.collation),
        _ => DataType::string(TypeKind::MediumBlob, LENGTH_MAX, CollationId::BINARY),
    };
    DataType { nullable: true, ..kept }
}

/// A value of type `ty` as a variable keeps it, and [`kept_type`] of its type.
pub fn kept(value: Value<'static>, ty: &DataType) -> (Value<'static>, DataType) {
    let to = kept_type(ty);
    (read((value, *ty), &to), to)
}

/// The value of a variable where a plan reads one of type `planned`.
pub fn read<'a>((value, ty): (Value<'static>, DataType), planned: &DataType) -> Value<'a> {
    match value {
        Value::Null => value,
        value if planned.kind.is_blob() || planned.kind.is_text() => Value::Bytes(convert::into_text(value, &ty)),
        value => convert::as_planned(value, planned),
    }
}
