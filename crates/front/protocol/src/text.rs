//! Rows of the text protocol: each value a length-encoded string, 0xfb for NULL.

use crate::wire::put_lenenc_bytes;
use types::{DataType, TypeKind, Value};

/// NULL in a text row.
const NULL: u8 = 0xfb;

/// Appends a text row.
#[inline]
pub fn put_row(out: &mut Vec<u8>, types: &[DataType], values: &[Value<'_>]) {
    debug_assert_eq!(types.len(), values.len());
    for (data_type, value) in types.iter().zip(values) {
        match value {
            Value::Null => out.push(NULL),
            Value::Bytes(bytes) => put_lenenc_bytes(out, bytes),
            Value::UInt(bits) if data_type.kind == TypeKind::Bit => put_bits(out, *bits, data_type.length),
            _ => put_as_text(out, data_type, value),
        }
    }
}

/// A value of BIT(n): its bytes, high byte first, both in text and in binary rows.
pub(crate) fn put_bits(out: &mut Vec<u8>, bits: u64, width: u32) {
    let len = width.clamp(1, 64).div_ceil(8) as usize;
    put_lenenc_bytes(out, &bits.to_be_bytes()[8 - len..]);
}

/// Everything but strings is shorter than 251 bytes, so that its length is one byte and can be patched in.
#[inline]
pub(crate) fn put_as_text(out: &mut Vec<u8>, data_type: &DataType, value: &Value<'_>) {
    let length_at = out.len();
    out.push(0);
    match value {
        Value::Int(n) if !data_type.zerofill && data_type.kind.is_integer() => put_int(out, *n),
        _ => value.write_text(data_type, out),
    }
    let len = out.len() - length_at - 1;
    if len <= 250 {
        out[length_at] = len as u8;
    } else {
        // A zerofilled number of display width 255, or a double in full: rare.
        let text = out.split_off(length_at + 1);
        out.truncate(length_at);
        put_lenenc_bytes(out, &text);
    }
}

/// Decimal digits of an integer.
#[inline]
fn put_int(out: &mut Vec<u8>, n: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::CollationId;

    #[test]
    fn a_text_row_has_the_documented_bytes() {
        let int = DataType::new(TypeKind::Int);
        let text = DataType::string(TypeKind::VarChar, 400, CollationId::UTF8MB4_0900_AI_CI);
        let bit = DataType { length: 9, ..DataType::new(TypeKind::Bit) };
        let long = [b'x'; 300];
        let mut out = Vec::new();
        put_row(
            &mut out,
            &[int, int, int, text, text, bit],
            &[
                Value::Int(i64::MIN),
                Value::Null,
                Value::Int(0),
                Value::Bytes(b"ab"[..].into()),
                Value::Bytes(long[..].into()),
                Value::UInt(0x101),
            ],
        );
        let mut expected = b"\x14-9223372036854775808\xfb\x010\x02ab\xfc\x2c\x01".to_vec();
        expected.extend_from_slice(&long);
        expected.extend_from_slice(b"\x02\x01\x01");
        assert_eq!(out, expected);
    }
}
