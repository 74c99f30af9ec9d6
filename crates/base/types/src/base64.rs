//! Base 64 (RFC 4648, section 4): TO_BASE64, documents' opaque values, PEM.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` without line breaks, padded with `=`.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0u32, |v, b| v << 8 | *b as u32) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            out.push(if k <= chunk.len() { DIGITS[(n >> (18 - 6 * k)) as usize & 63] } else { b'=' });
        }
    }
}

/// Appends `bytes` in lines of `width` digits, a multiple of 4, with a line feed between them and none behind the last.
pub fn encode_lines(bytes: &[u8], width: usize, out: &mut Vec<u8>) {
    assert!(width > 0 && width.is_multiple_of(4), "a line ends with a whole group");
    for (i, line) in bytes.chunks(width / 4 * 3).enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        encode(line, out);
    }
}

/// The bytes of `text`, which has no line breaks; `None` where it is not base 64. Bits behind the last byte do not matter.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let body = text.iter().rposition(|b| *b != b'=').map_or(0, |i| i + 1);
    if !text.len().is_multiple_of(4) || text.len() - body > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(body / 4 * 3 + 2);
    for chunk in text[..body].chunks(4) {
        let mut n = 0u32;
        for b in chunk {
            n = n << 6 | digit(*b)?;
        }
        n <<= 6 * (4 - chunk.len());
        out.extend_from_slice(&n.to_be_bytes()[1..chunk.len()]);
    }
    Some(out)
}

fn digit(b: u8) -> Option<u32> {
    Some(u32::from(match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let bytes: Vec<u8> = (0..=255).collect();
        for len in [0, 1, 2, 3, 57, 58, 255, 256] {
            let mut text = Vec::new();
            encode(&bytes[..len], &mut text);
            assert_eq!(decode(&text).as_deref(), Some(&bytes[..len]));
        }
        let mut lines = Vec::new();
        encode_lines(b"foobarfoo", 8, &mut lines);
        assert_eq!(lines, b"Zm9vYmFy\nZm9v");
        for wrong in ["Zm9", "Z===", "Zm=v", "Zm9*", "Zm9v\n"] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
