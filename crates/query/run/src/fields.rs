//! Fields of text files, as LOAD DATA reads them and SELECT ... INTO OUTFILE writes them.
//!
//! ```text
//!   STARTING  field TERMINATED field TERMINATED ... LINE TERMINATED
//!             a field: ENCLOSED contents ENCLOSED, or contents as they are
//!             contents: ESCAPED n is a newline, ESCAPED N alone is NULL, a doubled ENCLOSED is one
//! ```
//! A file of fixed widths has neither TERMINATED nor ENCLOSED: the fields of a line stand side by side.

use plan::node::file::FileFormat;
use std::io::{self, Read};

/// How a field ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldEnd {
    /// Another field follows in this line.
    Field,
    Line,
}

const BLOCK: usize = 64 << 10;

/// Reads lines field by field.
pub struct FieldReader {
    source: Box<dyn Read + Send>,
    format: FileFormat,
    block: Vec<u8>,
    at: usize,
    at_end: bool,
    /// By byte: something other than itself may begin with it inside of a field.
    marks: [bool; 256],
}

impl FieldReader {
    /// A reader of a file of that format.
    pub fn new(source: Box<dyn Read + Send>, format: FileFormat) -> FieldReader {
        let mut marks = [false; 256];
        let ends = [format.fields_terminated.first(), format.lines_terminated.first()];
        for byte in ends.into_iter().flatten().copied().chain(format.enclosed).chain(format.escaped) {
            marks[byte as usize] = true;
        }
        FieldReader { source, format, block: Vec::new(), at: 0, at_end: false, marks }
    }

    /// Moves the bytes that stand for themselves to `out`, up to the first that may not.
    fn plain(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        loop {
            self.ahead(1)?;
            let ahead = &self.block[self.at..];
            let n = ahead.iter().position(|b| self.marks[*b as usize]).unwrap_or(ahead.len());
            out.extend_from_slice(&ahead[..n]);
            let done = n < ahead.len() || n == 0;
            self.at += n;
            if done {
                return Ok(());
            }
        }
    }

    /// The bytes ahead, at least `n` unless the file ends before.
    fn ahead(&mut self, n: usize) -> io::Result<&[u8]> {
        while self.block.len() - self.at < n && !self.at_end {
            if self.at >= BLOCK {
                self.block.drain(..self.at);
                self.at = 0;
            }
            let from = self.block.len();
            self.block.resize(from + BLOCK, 0);
            let got = match self.source.read(&mut self.block[from..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => 0,
                got => {
                    let got = got?;
                    self.at_end = got == 0;
                    got
                }
            };
            self.block.truncate(from + got);
        }
        Ok(&self.block[self.at..])
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.ahead(1)?.first().copied();
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Steps over `word` if it stands ahead.
    fn eat(&mut self, word: &[u8]) -> io::Result<bool> {
        let found = !word.is_empty() && self.ahead(word.len())?.starts_with(word);
        self.at += if found { word.len() } else { 0 };
        Ok(found)
    }

    /// Skips to behind the end of the line. False: the file ended.
    pub fn skip_line(&mut self) -> io::Result<bool> {
        let end = std::mem::take(&mut self.format.lines_terminated);
        let found = loop {
            if self.eat(&end)? {
                break true;
            }
            if self.next()?.is_none() {
                break false;
            }
        };
        self.format.lines_terminated = end;
        Ok(found)
    }

    /// To the first field of the next line that has STARTING BY in it. False: there is none.
    pub fn start_line(&mut self) -> io::Result<bool> {
        if self.ahead(1)?.is_empty() {
            return Ok(false);
        }
        let start = std::mem::take(&mut self.format.lines_starting);
        let found = start.is_empty()
            || loop {
                if self.eat(&start)? {
                    break true;
                }
                if self.next()?.is_none() {
                    break false;
                }
            };
        self.format.lines_starting = start;
        Ok(found)
    }

    /// Reads one field into `out`; true: it is NULL.
    pub fn field(&mut self, out: &mut Vec<u8>) -> io::Result<(bool, FieldEnd)> {
        out.clear();
        let (enclosed, escaped) = (self.format.enclosed, self.format.escaped);
        let quoted = enclosed.is_some() && self.ahead(1)?.first().copied() == enclosed;
        if quoted {
            self.at += 1;
        }
        let mut null = false;
        loop {
            self.plain(out)?;
            if !quoted && let Some(end) = self.end_ahead()? {
                let word = enclosed.is_some() && out == b"NULL";
                return Ok((word || null && out == b"N", end));
            }
            let Some(byte) = self.next()? else {
                // What is not enclosed to its end is what it is.
                return Ok((!quoted && null && out == b"N", FieldEnd::Line));
            };
            if quoted && Some(byte) == enclosed {
                if self.ahead(1)?.first() == Some(&byte) {
                    self.at += 1;
                } else if let Some(end) = self.end_ahead()? {
                    return Ok((false, end));
                }
                out.push(byte);
            } else if Some(byte) == escaped && escaped != enclosed {
                let Some(next) = self.next()? else {
                    out.push(byte);
                    continue;
                };
                null |= next == b'N';
                out.push(unescaped(next));
            } else {
                out.push(byte);
            }
        }
    }

    /// Reads a line of fixed widths into `out`, `width` bytes of it at most. True: it ended in them.
    pub fn fixed_line(&mut self, width: usize, out: &mut Vec<u8>) -> io::Result<bool> {
        out.clear();
        let end = std::mem::take(&mut self.format.lines_terminated);
        let ended = loop {
            if out.len() == width {
                break false;
            }
            if self.eat(&end)? {
                break true;
            }
            let Some(byte) = self.next()? else { break true };
            let escapes = Some(byte) == self.format.escaped;
            out.push(match if escapes { self.next()? } else { None } {
                Some(next) => unescaped(next),
                None => byte,
            });
        };
        self.format.lines_terminated = end;
        Ok(ended)
    }

    /// Steps behind the end of a line. True: there was something before it.
    pub fn rest_of_line(&mut self) -> io::Result<bool> {
        let end = std::mem::take(&mut self.format.lines_terminated);
        let mut more = false;
        // Without a terminator the next line begins here.
        while !end.is_empty() && !self.eat(&end)? {
            let Some(byte) = self.next()? else { break };
            more = true;
            if Some(byte) == self.format.escaped {
                self.next()?;
            }
        }
        self.format.lines_terminated = end;
        Ok(more)
    }

    /// Steps over the end of a field or line, or of the file.
    fn end_ahead(&mut self) -> io::Result<Option<FieldEnd>> {
        let format = std::mem::take(&mut self.format);
        let end = if self.eat(&format.lines_terminated)? || self.ahead(1)?.is_empty() {
            Some(FieldEnd::Line)
        } else if self.eat(&format.fields_terminated)? {
            Some(FieldEnd::Field)
        } else {
            None
        };
        self.format = format;
        Ok(end)
    }
}

/// What an escaped byte stands for.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

/// Writes one field of a line of fixed widths: NULL is empty.
pub fn write_fixed(format: &FileFormat, value: Option<&[u8]>, string: bool, width: usize, out: &mut Vec<u8>) {
    let value = value.unwrap_or_default();
    let value = &value[..value.len().min(width)];
    write_field(format, Some(value), string, out);
    out.resize(out.len() + width - value.len(), b' ');
}

/// Writes one field, `None` for NULL; `string`: of a type that is enclosed where only strings are.
pub fn write_field(format: &FileFormat, value: Option<&[u8]>, string: bool, out: &mut Vec<u8>) {
    let Some(value) = value else {
        match format.escaped {
            Some(escape) => out.extend_from_slice(&[escape, b'N']),
            None => out.extend_from_slice(b"NULL"),
        }
        return;
    };
    let enclosed = format.enclosed.filter(|_| string || !format.optionally_enclosed);
    out.extend(enclosed);
    let (field, line) = (format.fields_terminated.first().copied(), format.lines_terminated.first().copied());
    // Numbers need it where they may hold what separates them.
    let separator = format.enclosed.or(field);
    let escapes = string || separator.is_some_and(|c| b".0123456789e+-".contains(&c));
    for byte in value {
        let special = |b: u8| {
            let ends = if enclosed.is_some() { Some(b) == enclosed } else { Some(b) == field };
            Some(b) == format.escaped || ends || Some(b) == line || b == 0
        };
        match format.escaped {
            Some(escape) if escapes && special(*byte) => {
                out.extend_from_slice(&[escape, if *byte == 0 { b'0' } else { *byte }]);
            }
            _ => out.push(*byte),
        }
    }
    out.extend(enclosed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: &FileFormat) -> Vec<Vec<Option<String>>> {
        // A byte at a time: every border of a block.
        struct Drop(Vec<u8>);
        impl Read for Drop {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let Some(byte) = self.0.pop() else { return Ok(0) };
                buf[0] = byte;
                Ok(1)
            }
        }
        let bytes = text.bytes().rev().collect();
        let mut reader = FieldReader::new(Box::new(Drop(bytes)), format.clone());
        let mut lines = Vec::new();
        while reader.start_line().unwrap() {
            let (mut line, mut field) = (Vec::new(), Vec::new());
            loop {
                let (null, end) = reader.field(&mut field).unwrap();
                line.push((!null).then(|| String::from_utf8(field.clone()).unwrap()));
                if end == FieldEnd::Line {
                    break;
                }
            }
            lines.push(line);
        }
        lines
    }

    fn some(words: &[&str]) -> Vec<Option<String>> {
        words.iter().map(|w| Some(w.to_string())).collect()
    }

    #[test]
    fn tabs_and_escapes() {
        let lines = read("a\tb\\tc\t\\N\nx\\\ny\t\\\\N\n\nlast", &FileFormat::default());
        assert_eq!(lines[0], [some(&["a", "b\tc"]), vec![None]].concat());
        assert_eq!(lines[1], some(&["x\ny", "\\N"]));
        assert_eq!(lines[2], some(&[""]));
        assert_eq!(lines[3], some(&["last"]));
    }

    #[test]
    fn quotes() {
        let csv = FileFormat {
            fields_terminated: b",".to_vec(),
            enclosed: Some(b'"'),
            lines_terminated: b"\r\n".to_vec(),
            ..FileFormat::default()
        };
        let lines = read("\"a,b\",\"say \"\"hi\"\"\",NULL,\"NULL\",\"x\"y\"\r\n\"open", &csv);
        assert_eq!(lines[0][..2], some(&["a,b", "say \"hi\""]));
        assert_eq!(lines[0][2], None);
        assert_eq!(lines[0][3..], some(&["NULL", "x\"y"]));
        assert_eq!(lines[1], some(&["open"]));
    }

    #[test]
    fn starts_of_lines() {
        let format = FileFormat { lines_starting: b"xx".to_vec(), ..FileFormat::default() };
        assert_eq!(read("junk xx1\t2\nno start\nxx3\n", &format), [some(&["1", "2"]), some(&["3"])]);
    }

    #[test]
    fn what_is_written_is_read() {
        for enclosed in [None, Some(b'"')] {
            let format = FileFormat { enclosed, ..FileFormat::default() };
            let values = [Some("a\tb\n\\\"c\0"), None, Some(""), Some("N"), Some("NULL")];
            let mut out = Vec::new();
            for (i, value) in values.iter().enumerate() {
                write_field(&format, value.map(str::as_bytes), true, &mut out);
                out.push(if i + 1 == values.len() { b'\n' } else { b'\t' });
            }
            let expected: Vec<Option<String>> = values.iter().map(|v| v.map(str::to_string)).collect();
            assert_eq!(read(std::str::from_utf8(&out).unwrap(), &format), [expected]);
        }
    }
}
