//! JSON text to a document. Integers beyond 64 bits are doubles, and of a key given twice the last value counts.

use super::{DEPTH_MAX, Json, KEY_BYTES_MAX, Object};
use crate::SqlError;
use crate::error::codes::*;
use crate::work;

/// Why a text is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// MySQL's words for it, with the full stop.
    pub message: &'static str,
    /// Byte offset that MySQL reports.
    pub at: usize,
    /// Not malformed, but beyond a bound: error 3157 (nested more than [`DEPTH_MAX`] deep) or 3151 (a key's length).
    pub code: Option<u16>,
    /// Neither: the statement that the thread works for is to end ([`work::check`]).
    pub ended: Option<Box<SqlError>>,
}

/// Values between two looks at whether to go on.
const LOOK_AFTER: u32 = 1024;

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    values: u32,
}

type R<T> = Result<T, Failure>;

pub fn parse(text: &[u8]) -> R<Json> {
    let mut p = Parser { text, at: 0, values: 0 };
    p.blanks();
    if p.at == text.len() {
        return Err(p.fail("The document is empty."));
    }
    let value = p.value(0)?;
    p.blanks();
    if p.at < text.len() {
        return Err(p.fail("The document root must not be followed by other values."));
    }
    Ok(value)
}

impl Parser<'_> {
    fn fail(&self, message: &'static str) -> Failure {
        self.fail_at(message, self.at)
    }

    fn fail_at(&self, message: &'static str, at: usize) -> Failure {
        Failure { message, at, code: None, ended: None }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, b: u8) -> bool {
        let found = self.peek() == Some(b);
        self.at += found as usize;
        found
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn beyond(&self, code: u16) -> Failure {
        Failure { code: Some(code), ..self.fail("") }
    }

    fn value(&mut self, depth: usize) -> R<Json> {
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(LOOK_AFTER) {
            work::check().map_err(|e| Failure { ended: Some(Box::new(e)), ..self.fail("") })?;
        }
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b't') => self.word(b"true", Json::Bool(true)),
            Some(b'f') => self.word(b"false", Json::Bool(false)),
            Some(b'n') => self.word(b"null", Json::Null),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8], value: Json) -> R<Json> {
        for (i, b) in word.iter().enumerate() {
            if self.text.get(self.at + i) != Some(b) {
                return Err(self.fail_at("Invalid value.", self.at + i));
            }
        }
        self.at += word.len();
        Ok(value)
    }

    fn check_depth(&self, depth: usize) -> R<()> {
        if depth > DEPTH_MAX {
            return Err(self.beyond(ER_JSON_DOCUMENT_TOO_DEEP));
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> R<Json> {
        self.check_depth(depth)?;
        self.at += 1;
        self.blanks();
        let mut list = Vec::new();
        if self.eat(b']') {
            return Ok(Json::Array(list));
        }
        loop {
            list.push(self.value(depth)?);
            self.blanks();
            if self.eat(b',') {
                self.blanks();
            } else if self.eat(b']') {
                return Ok(Json::Array(list));
            } else {
                return Err(self.fail("Missing a comma or ']' after an array element."));
            }
        }
    }

    fn object(&mut self, depth: usize) -> R<Json> {
        self.check_depth(depth)?;
        self.at += 1;
        self.blanks();
        let mut members = Vec::new();
        if self.eat(b'}') {
            return Ok(Json::Object(Object::default()));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fail("Missing a name for object member."));
            }
            let key = self.string()?;
            if key.len() > KEY_BYTES_MAX {
                return Err(self.beyond(ER_JSON_KEY_TOO_BIG));
            }
            self.blanks();
            if !self.eat(b':') {
                return Err(self.fail("Missing a colon after a name of object member."));
            }
            self.blanks();
            members.push((key, self.value(depth)?));
            self.blanks();
            if self.eat(b',') {
                self.blanks();
            } else if self.eat(b'}') {
                return Ok(Json::Object(Object::from_members(members)));
            } else {
                return Err(self.fail("Missing a comma or '}' after an object member."));
            }
        }
    }

    fn string(&mut self) -> R<String> {
        let start = self.at;
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let Some(b) = self.peek() else {
                return Err(self.fail("Missing a closing quotation mark in string."));
            };
            match b {
                b'"' => {
                    self.at += 1;
                    // The text was checked to be UTF-8 on its way in, and escapes add whole characters.
                    return String::from_utf8(out).map_err(|_| self.fail_at("Invalid encoding in string.", start));
                }
                b'\\' => self.escape(&mut out)?,
                0..0x20 => return Err(self.fail_at("Invalid encoding in string.", self.at)),
                b => {
                    out.push(b);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> R<()> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(b @ (b'"' | b'\\' | b'/')) => b,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let mut code = self.hex4(start)?;
                if (0xDC00..0xE000).contains(&code) {
                    return Err(self.fail_at("The surrogate pair in string is invalid.", start));
                }
                if (0xD800..0xDC00).contains(&code) {
                    if !(self.eat(b'\\') && self.eat(b'u')) {
                        return Err(self.fail_at("The surrogate pair in string is invalid.", start));
                    }
                    let low = self.hex4(start)?;
                    if !(0xDC00..0xE000).contains(&low) {
                        return Err(self.fail_at("The surrogate pair in string is invalid.", start));
                    }
                    code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
                }
                let c = char::from_u32(code).expect("surrogates are paired");
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.fail_at("Invalid escape character in string.", start)),
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    fn hex4(&mut self, start: usize) -> R<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| (b as char).to_digit(16));
            let Some(d) = digit else {
                return Err(self.fail_at("Incorrect hex digit after \\u escape in string.", start));
            };
            code = code << 4 | d;
            self.at += 1;
        }
        Ok(code)
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - from
    }

    fn number(&mut self) -> R<Json> {
        let start = self.at;
        let negative = self.eat(b'-');
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => {
                self.digits();
            }
            _ => return Err(self.fail("Invalid value.")),
        }
        let mut whole = true;
        if self.eat(b'.') {
            whole = false;
            if self.digits() == 0 {
                return Err(self.fail("Miss fraction part in number."));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.fail("Miss exponent in number."));
            }
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).expect("digits");
        if whole {
            // Whole numbers that take more than 32 bits are unsigned, as MySQL reads them.
            if let Ok(v) = text.parse::<i64>()
                && (v <= u32::MAX as i64)
            {
                return Ok(if negative && v == 0 { Json::Double(-0.0) } else { Json::Int(v) });
            }
            if let (false, Ok(v)) = (negative, text.parse::<u64>()) {
                return Ok(Json::UInt(v));
            }
        }
        let v: f64 = text.parse().expect("a number");
        if v.is_infinite() {
            return Err(self.fail_at("Number too big to be stored in double.", start));
        }
        Ok(Json::Double(v))
    }
}
