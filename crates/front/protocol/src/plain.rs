//! Bytes as they come off the socket, decrypted and unpacked, and how a read of them ends.

use std::io;

/// What [`Input::read`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// A whole packet is there.
    Packet,
    /// Not one byte came within the given time: the connection may be parked.
    Idle,
    /// The client closed its end between two packets.
    Closed,
    /// The stream ended inside a packet, or broke.
    Broken,
    /// The client stopped in the middle of a packet for longer than `net_read_timeout` (error 1159).
    TimedOut,
    /// The payload is larger than `max_allowed_packet` (error 1153). The connection cannot go on.
    TooLarge,
    /// The sequence id is not the expected one (error 1156). The connection cannot go on.
    OutOfOrder,
    /// A compressed frame does not unpack to what it says (error 1157). The connection cannot go on.
    NotCompressed,
}

impl ReadOutcome {
    pub(crate) fn of(error: io::Error) -> ReadOutcome {
        if timed_out(&error) { ReadOutcome::Idle } else { ReadOutcome::Broken }
    }
}

/// Where a layer above the socket puts what it has decrypted or unpacked: behind the bytes that are there. The buffer only grows.
pub(crate) struct Plain<'a> {
    pub buffer: &'a mut Vec<u8>,
    pub filled: &'a mut usize,
}

impl Plain<'_> {
    /// Room for exactly this much more, which counts as filled.
    pub fn add(&mut self, bytes: usize) -> &mut [u8] {
        let at = *self.filled;
        *self.filled += bytes;
        if self.buffer.len() < *self.filled {
            self.buffer.resize(*self.filled, 0);
        }
        &mut self.buffer[at..*self.filled]
    }
}

pub(crate) fn timed_out(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
