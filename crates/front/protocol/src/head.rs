//! The head of a result set, encoded once: what a plan that is executed again and again sends before its rows.
//!
//! ```text
//!  packet: lenenc columns | packet: definition | ... | without DEPRECATE_EOF, packet: fe | warnings 2 | status 2
//!  ^ header with sequence id 1, 2, ...                                                     ^ the last four bytes
//! ```

use crate::output::{ResultsCharset, Shape};
use crate::{Column, Output, ServerStatus};
use std::io;

/// Sequence id of an answer's first packet, unless a result set came before it.
const FIRST_SEQ: u8 = 1;
const HEADER_BYTES: usize = 4;
/// Larger heads are not worth their memory: they are encoded each time.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// An encoded head, good for connections of the same character set and capabilities.
#[derive(Clone, Debug)]
pub struct RowsHead {
    bytes: Vec<u8>,
    /// Packets in `bytes`.
    packets: usize,
    results: Option<ResultsCharset>,
    shape: Shape,
}

impl Output {
    /// Encodes the head of a result set for this connection. `None`: it is too large to keep.
    pub fn encode_head(&self, columns: &[Column<'_>]) -> Option<RowsHead> {
        let shape = self.shape;
        let mut head = RowsHead { bytes: Vec::new(), packets: 0, results: self.results, shape };
        head.packet(|out| {
            crate::wire::put_lenenc(out, columns.len() as u64);
            shape.put_flag(out);
        });
        for column in if shape.is_bare() { &[] } else { columns } {
            head.packet(|out| column.put(out, self.results));
            if head.bytes.len() > HEAD_BYTES_MAX {
                return None;
            }
        }
        if shape.has_eof() {
            head.packet(|out| out.extend_from_slice(&[0xfe, 0, 0, 0, 0]));
        }
        head.bytes.shrink_to_fit();
        Some(head)
    }

    /// Was the head encoded for a connection like this one?
    #[inline]
    pub fn accepts(&self, head: &RowsHead) -> bool {
        head.results == self.results && head.shape == self.shape
    }

    /// [`Output::start_rows`] with a head that this connection accepts, for all but cursors.
    #[inline]
    pub fn start_rows_with(&mut self, head: &RowsHead, status: ServerStatus, warnings: u16) -> io::Result<()> {
        debug_assert!(self.accepts(head) && !status.has(ServerStatus::CURSOR_EXISTS));
        let first = self.seq;
        let bytes = self.append(&head.bytes);
        if head.shape.has_eof() {
            let [a, b] = warnings.to_le_bytes();
            let [c, d] = status.0.to_le_bytes();
            let at = bytes.len() - 4;
            bytes[at..].copy_from_slice(&[a, b, c, d]);
        }
        if first != FIRST_SEQ {
            renumber(bytes, first);
        }
        self.seq = first.wrapping_add(head.packets as u8);
        self.flush_if_full()
    }
}

impl RowsHead {
    fn packet(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        put(&mut self.bytes);
        let len = self.bytes.len() - start - HEADER_BYTES;
        // A packet beyond 16 MiB would be split; so large a head is thrown away.
        let [a, b, c, _] = (len as u32).to_le_bytes();
        let seq = FIRST_SEQ.wrapping_add(self.packets as u8);
        self.bytes[start..start + HEADER_BYTES].copy_from_slice(&[a, b, c, seq]);
        self.packets += 1;
    }
}

/// The head of a second result set in one answer counts on from the first.
#[cold]
fn renumber(mut packets: &mut [u8], mut seq: u8) {
    while let [a, b, c, number, rest @ ..] = packets {
        *number = seq;
        seq = seq.wrapping_add(1);
        let len = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        packets = &mut rest[len..];
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{Capabilities, Connection, Peer, Stream};
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use types::{CollationId, DataType, TypeKind};

    /// A kept head sends the bytes of a fresh one: as the first and as a later answer, with and without EOF packets.
    #[test]
    fn a_kept_head_is_the_head() {
        let text = DataType::string(TypeKind::VarChar, 20, CollationId::UTF8MB4_0900_AI_CI);
        let columns = [Column::expression("a", text), Column::expression("b", DataType::new(TypeKind::BigInt))];
        let status = ServerStatus::AUTOCOMMIT;
        for capabilities in
            [Capabilities::PROTOCOL_41, Capabilities::PROTOCOL_41.with(Capabilities::DEPRECATE_EOF, true)]
        {
            for first in [1, 9, 254] {
                let sent = |kept: bool| {
                    let (mut client, server) = UnixStream::pair().unwrap();
                    let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
                    conn.set_capabilities(capabilities);
                    let out = conn.output();
                    out.seq = first;
                    if kept {
                        let head = out.encode_head(&columns).unwrap();
                        assert!(out.accepts(&head));
                        out.start_rows_with(&head, status, 3).unwrap();
                    } else {
                        out.start_rows(&columns, status, 3).unwrap();
                    }
                    out.end_rows(status, 0).unwrap();
                    out.flush().unwrap();
                    drop(conn);
                    let mut bytes = Vec::new();
                    client.read_to_end(&mut bytes).unwrap();
                    bytes
                };
                assert_eq!(sent(true), sent(false));
            }
        }
    }

    #[test]
    fn a_held_output_sends_nothing_by_itself() {
        let (client, server) = UnixStream::pair().unwrap();
        client.set_nonblocking(true).unwrap();
        let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
        let out = conn.output();
        out.hold(true);
        while !out.is_full() {
            out.begin().extend_from_slice(&[7; 1000]);
            out.end().unwrap();
        }
        assert!((&client).read(&mut [0; 16]).is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock));
        out.flush().unwrap();
        assert_eq!((&client).read(&mut [0; 16]).unwrap(), 16);
    }
}
