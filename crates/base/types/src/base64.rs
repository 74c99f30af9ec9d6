//! Base 64 (RFC 4648, section 4): TO_BASE64, documents' opaque values, PEM. The crate `base64` codes; what is MySQL's is here:
//! lines, and bits behind the last byte that do not matter.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

const CODEC: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Appends `bytes` without line breaks, padded with `=`.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + bytes.len().div_ceil(3) * 4, 0);
    CODEC.encode_slice(bytes, &mut out[begin..]).expect("there is room for four digits for three bytes");
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

/// The bytes of `text`, which has no line breaks; `None` where it is not base 64.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    CODEC.decode(text).ok()
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
        // Bits behind the last byte.
        assert_eq!(decode(b"Zm9=").as_deref(), Some(&b"fo"[..]));
        for wrong in ["Zm9", "Z===", "Zm=v", "Zm9*", "Zm9v\n"] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
