//! A copy as one stream: for a pipe, a file, another machine.
//!
//! ```text
//!   "CLRWCOPY" | version u32 | (length u32 | crc32 u32 | frame) ...      the last frame is END
//! ```
//! Compressed it is all of that in one zstd frame, so `zstd -d` gives the plain stream. All integers are little-endian.

use crate::{Error, Frame, Result};
use std::io::{BufReader, Cursor, Read, Write};

const MAGIC: &[u8; 8] = b"CLRWCOPY";
const VERSION: u32 = 1;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// No frame is larger: a piece of a file, and its name.
const FRAME_BYTES_MAX: usize = 8 << 20;
/// The fastest level that still finds what repeats: pages shrink to a third or so, at some 300 MB a second.
const LEVEL: i32 = 1;

enum Sink<W: Write> {
    Plain(W),
    Zstd(zstd::stream::write::Encoder<'static, W>),
}

/// Writes a stream.
pub struct Writer<W: Write> {
    sink: Sink<W>,
    frame: Vec<u8>,
}

fn unwritten(e: &std::io::Error) -> Error {
    Error(format!("the stream cannot be written: {e}"))
}

impl<W: Write> Writer<W> {
    pub fn new(out: W, compressed: bool) -> Result<Writer<W>> {
        let sink = match compressed {
            true => Sink::Zstd(zstd::stream::write::Encoder::new(out, LEVEL).map_err(|e| unwritten(&e))?),
            false => Sink::Plain(out),
        };
        let mut writer = Writer { sink, frame: Vec::new() };
        writer.write(&[&MAGIC[..], &VERSION.to_le_bytes()].concat())?;
        Ok(writer)
    }

    pub fn put(&mut self, frame: &Frame<'_>) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.frame);
        bytes.clear();
        bytes.extend_from_slice(&[0; 8]);
        frame.put(&mut bytes);
        let len = bytes.len() - 8;
        assert!(len <= FRAME_BYTES_MAX, "a frame of {len} bytes");
        bytes[..4].copy_from_slice(&(len as u32).to_le_bytes());
        let crc = crc32fast::hash(&bytes[8..]);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        let written = self.write(&bytes);
        self.frame = bytes;
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.sink {
            Sink::Plain(out) => out.write_all(bytes),
            Sink::Zstd(out) => out.write_all(bytes),
        }
        .map_err(|e| unwritten(&e))
    }

    /// All is written and flushed; what it was written to.
    pub fn finish(self) -> Result<W> {
        let mut out = match self.sink {
            Sink::Plain(out) => Ok(out),
            Sink::Zstd(encoder) => encoder.finish(),
        }
        .map_err(|e| unwritten(&e))?;
        out.flush().map_err(|e| unwritten(&e))?;
        Ok(out)
    }
}

/// Reads a stream, compressed or not.
pub struct Reader {
    from: Box<dyn Read>,
    frame: Vec<u8>,
}

impl Reader {
    /// Errors: it is no stream of a copy, or of another version.
    pub fn open(from: impl Read + 'static) -> Result<Reader> {
        let mut from = BufReader::with_capacity(1 << 20, from);
        let mut first = [0; 4];
        read(&mut from, &mut first)?;
        let whole = Cursor::new(first).chain(from);
        let mut from: Box<dyn Read> = match first {
            ZSTD_MAGIC => Box::new(zstd::stream::read::Decoder::new(whole).map_err(|e| Error(e.to_string()))?),
            _ => Box::new(whole),
        };
        let mut head = [0; 12];
        read(&mut from, &mut head)?;
        if head[..8] != MAGIC[..] {
            return Err(Error("it is no stream of clearway backup".to_string()));
        }
        if head[8..] != VERSION.to_le_bytes() {
            return Err(Error("the stream is of another version of clearway".to_string()));
        }
        Ok(Reader { from, frame: Vec::new() })
    }

    /// The next frame; END is the last one. Errors: the stream is cut short or damaged.
    pub fn frame(&mut self) -> Result<Frame<'_>> {
        let mut head = [0; 8];
        read(&mut self.from, &mut head)?;
        let [len, crc] = [0, 4].map(|at| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")));
        let damaged = || Error("the stream is damaged".to_string());
        if len as usize > FRAME_BYTES_MAX {
            return Err(damaged());
        }
        self.frame.resize(len as usize, 0);
        read(&mut self.from, &mut self.frame)?;
        if crc32fast::hash(&self.frame) != crc {
            return Err(damaged());
        }
        Frame::parse(&self.frame)
    }
}

fn read(from: &mut impl Read, bytes: &mut [u8]) -> Result<()> {
    from.read_exact(bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => Error("the stream ends before the backup does".to_string()),
        _ => Error(format!("the stream cannot be read: {e}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Manifest;

    fn stream(compressed: bool) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), compressed).unwrap();
        writer.put(&Frame::Begin(Manifest::default())).unwrap();
        writer.put(&Frame::Write { file: "f", offset: 3, bytes: &[7; 5000] }).unwrap();
        writer.put(&Frame::End(Manifest::default())).unwrap();
        writer.finish().unwrap()
    }

    fn read_all(bytes: Vec<u8>) -> Result<usize> {
        let mut reader = Reader::open(Cursor::new(bytes))?;
        let mut frames = 1;
        while !matches!(reader.frame()?, Frame::End(_)) {
            frames += 1;
        }
        Ok(frames)
    }

    #[test]
    fn a_stream_reads_back_and_neither_a_cut_nor_a_changed_one_does() {
        for compressed in [false, true] {
            let bytes = stream(compressed);
            assert_eq!(compressed, bytes.len() < 2000);
            assert_eq!(read_all(bytes.clone()), Ok(3));
            for len in (0..bytes.len()).step_by(7) {
                assert!(read_all(bytes[..len].to_vec()).is_err(), "{len} of {}", bytes.len());
            }
            for at in (0..bytes.len()).step_by(11).filter(|_| !compressed) {
                let mut changed = bytes.clone();
                changed[at] ^= 4;
                assert!(read_all(changed).is_err(), "byte {at}");
            }
        }
    }
}
