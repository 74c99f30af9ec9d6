//! Documents as text, as MySQL prints them: `{"a": 1, "b": [1.0, "x"]}`, and JSON_PRETTY's form.

use super::Json;
use crate::{base64, number};

impl Json {
    /// Appends the document in one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(v) => out.extend_from_slice(if *v { b"true" } else { b"false" }),
            Json::Int(v) => number::write_i64(*v, out),
            Json::UInt(v) => number::write_u64(*v, out),
            Json::Double(v) => write_double(*v, out),
            Json::Decimal(v) => v.write(out),
            Json::String(text) => write_quoted(text, out),
            Json::Date(_) | Json::Time(_) | Json::DateTime(_) | Json::Timestamp(_) | Json::Opaque(..) => {
                out.push(b'"');
                self.write_unquoted(out);
                out.push(b'"');
            }
            Json::Array(list) => {
                out.push(b'[');
                for (i, v) in list.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    v.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (i, (key, v)) in members.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    write_quoted(key, out);
                    out.extend_from_slice(b": ");
                    v.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// Appends the document as JSON_UNQUOTE gives it: strings and what prints as a string without quotes and escapes.
    pub fn write_unquoted(&self, out: &mut Vec<u8>) {
        match self {
            Json::String(text) => out.extend_from_slice(text.as_bytes()),
            Json::Date(v) => v.write(out),
            Json::Time(v) => v.write(6, out),
            Json::DateTime(v) | Json::Timestamp(v) => v.write(6, out),
            Json::Opaque(kind, bytes) => {
                out.extend_from_slice(format!("base64:type{kind}:").as_bytes());
                base64::encode(bytes, out);
            }
            other => other.write(out),
        }
    }

    pub fn to_text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Appends JSON_PRETTY's form: a line for each element and member.
    pub fn write_pretty(&self, level: usize, out: &mut Vec<u8>) {
        let line = |out: &mut Vec<u8>, level: usize| {
            out.push(b'\n');
            out.resize(out.len() + 2 * level, b' ');
        };
        match self {
            Json::Array(list) if !list.is_empty() => {
                out.push(b'[');
                for (i, v) in list.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    line(out, level + 1);
                    v.write_pretty(level + 1, out);
                }
                line(out, level);
                out.push(b']');
            }
            Json::Object(members) if !members.is_empty() => {
                out.push(b'{');
                for (i, (key, v)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    line(out, level + 1);
                    write_quoted(key, out);
                    out.extend_from_slice(b": ");
                    v.write_pretty(level + 1, out);
                }
                line(out, level);
                out.push(b'}');
            }
            other => other.write(out),
        }
    }
}

/// A double that reads back as a double: a whole number keeps its `.0`.
fn write_double(v: f64, out: &mut Vec<u8>) {
    let start = out.len();
    number::write_f64(v, out);
    if !out[start..].iter().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        out.extend_from_slice(b".0");
    }
}

/// Appends a string in quotes, with the escapes that JSON needs.
pub fn write_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|b| *b < 0x20 || matches!(b, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            b @ 0..0x20 => out.extend_from_slice(format!("\\u{b:04x}").as_bytes()),
            b => out.extend_from_slice(&[b'\\', b]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
