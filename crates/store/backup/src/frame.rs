//! The pieces in which a copy travels.
//!
//! ```text
//!   BEGIN     1 | manifest, as far as it is known
//!   WRITE     2 | name length u16, name | offset u64 | bytes
//!   FINISH    3 | name length u16, name | length u64 | solid u8       see io::Destination
//!   PROGRESS  4 | bytes of the data file that are done u64
//!   END       5 | manifest
//! ```
//! All integers are little-endian.

use crate::{Error, Manifest, Result};
use io::Destination;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'b> {
    Begin(Manifest),
    Write { file: &'b str, offset: u64, bytes: &'b [u8] },
    Finish { file: &'b str, len: u64, solid: bool },
    Progress(u64),
    End(Manifest),
}

impl<'b> Frame<'b> {
    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        let name = |out: &mut Vec<u8>, kind: u8, file: &str| {
            out.push(kind);
            out.extend_from_slice(&(file.len() as u16).to_le_bytes());
            out.extend_from_slice(file.as_bytes());
        };
        match self {
            Frame::Begin(manifest) => {
                out.push(1);
                out.extend_from_slice(manifest.print().as_bytes());
            }
            Frame::Write { file, offset, bytes } => {
                name(out, 2, file);
                out.extend_from_slice(&offset.to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Frame::Finish { file, len, solid } => {
                name(out, 3, file);
                out.extend_from_slice(&len.to_le_bytes());
                out.push(u8::from(*solid));
            }
            Frame::Progress(done) => {
                out.push(4);
                out.extend_from_slice(&done.to_le_bytes());
            }
            Frame::End(manifest) => {
                out.push(5);
                out.extend_from_slice(manifest.print().as_bytes());
            }
        }
    }

    /// Errors: it is damaged.
    pub fn parse(bytes: &'b [u8]) -> Result<Frame<'b>> {
        let damaged = || Error("the backup is damaged: a piece of unknown kind".to_string());
        let (kind, rest) = bytes.split_first().ok_or_else(damaged)?;
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| damaged());
        let named = || -> Result<(&'b str, u64, &'b [u8])> {
            let (len, rest) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
            let (name, rest) = rest.split_at_checked(u16::from_le_bytes(*len).into()).ok_or_else(damaged)?;
            let (number, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
            Ok((text(name)?, u64::from_le_bytes(*number), rest))
        };
        Ok(match kind {
            1 => Frame::Begin(Manifest::parse(text(rest)?)?),
            2 => {
                let (file, offset, bytes) = named()?;
                Frame::Write { file, offset, bytes }
            }
            3 => match named()? {
                (file, len, [solid @ (0 | 1)]) => Frame::Finish { file, len, solid: *solid == 1 },
                _ => return Err(damaged()),
            },
            4 => Frame::Progress(u64::from_le_bytes(rest.try_into().map_err(|_| damaged())?)),
            5 => Frame::End(Manifest::parse(text(rest)?)?),
            _ => return Err(damaged()),
        })
    }

    /// Does to a destination what it says.
    pub fn apply(&self, to: &dyn Destination) -> io::Result<()> {
        match self {
            Frame::Write { file, offset, bytes } => to.write_at(file, bytes, *offset),
            Frame::Finish { file, len, solid } => to.finish(file, *len, *solid),
            Frame::Begin(_) | Frame::Progress(_) | Frame::End(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_read_back_and_no_cut_name_does() {
        let frames = [
            Frame::Begin(Manifest::default()),
            Frame::Write { file: "redo/a", offset: 1 << 40, bytes: b"xyz" },
            Frame::Finish { file: "redo/a", len: 7, solid: true },
            Frame::Progress(9),
            Frame::End(Manifest { end: 3, ..Manifest::default() }),
        ];
        for frame in frames {
            let mut bytes = Vec::new();
            frame.put(&mut bytes);
            assert_eq!(Frame::parse(&bytes), Ok(frame.clone()));
            if !matches!(frame, Frame::Write { .. }) {
                assert!((0..bytes.len() - 1).all(|len| Frame::parse(&bytes[..len]).is_err()));
            }
        }
    }
}
