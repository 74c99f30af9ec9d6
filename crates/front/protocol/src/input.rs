//! Packets in: the read buffer.
//!
//! ```text
//!  buffer  [ consumed | payload of the current packet | bytes of the next packets | free ]
//!                     ^start                          ^end                        ^filled
//! ```
//!
//! The headers of a payload's second and further parts are squeezed out, so that a payload is always one slice. The
//! buffer grows with the bytes that have arrived (at most doubling), never by what a header claims.

use crate::compress::{Frames, Source};
use crate::output::Transport;
use crate::plain::{Plain, ReadOutcome, timed_out};
use crate::{Stream, tls};
use std::cell::Cell;
use std::io;
use std::time::{Duration, Instant};

/// Size of the read buffer of an active connection.
pub const READ_BUFFER_BYTES: usize = 16 << 10;
/// Size of the read buffer under TLS or with compression. Another one than [`READ_BUFFER_BYTES`], by which reads tell the two apart: plain
/// connections are not asked.
const LAYER_BUFFER_BYTES: usize = 20 << 10;
/// A larger buffer is given back after this many packets that did not need it.
const SHRINK_AFTER_PACKETS: u32 = 16;
const HEADER_BYTES: usize = 4;
const PART_BYTES: usize = 0xff_ffff;

#[derive(Debug)]
pub struct Input {
    /// Its length is its capacity: zeroed once, then filled by `recv`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    filled: usize,
    /// Read timeout that the socket has; `None`: not set yet.
    socket_timeout: Option<Duration>,
    pub max_allowed_packet: usize,
    pub read_timeout: Duration,
    /// What comes later comes too late: a login, all of it.
    pub ends_at: Option<Instant>,
    pub bytes_received: u64,
    small_packets: u32,
    /// The last receive got less than it had room for: the socket was empty at that moment.
    drained: bool,
    /// Whole compressed frames have come that are not unpacked yet.
    behind: bool,
}

thread_local! {
    /// A read buffer that a connection has given back. The next one that this thread serves takes it: no buffer is zeroed for
    /// clients that come and go.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Input {
    /// Of a socket with this read timeout, if it is known.
    pub fn new(socket_timeout: Option<Duration>) -> Input {
        Input {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            filled: 0,
            socket_timeout,
            max_allowed_packet: 1 << 20,
            read_timeout: Duration::from_secs(30),
            ends_at: None,
            bytes_received: 0,
            small_packets: 0,
            drained: true,
            behind: false,
        }
    }

    /// The packet that the last `read` returned; empty after anything else.
    #[inline]
    pub fn packet(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Bytes of further packets have been received already: the client does not wait for an answer.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.filled > self.end || self.behind
    }

    /// Nothing is left to read of all that had come when the socket was last asked: whatever comes later makes it ready anew.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.drained && !self.has_more()
    }

    #[inline]
    pub fn socket_timeout(&self) -> Option<Duration> {
        self.socket_timeout
    }

    /// Gives the memory back while nothing is buffered.
    pub fn release(&mut self) {
        if !self.has_more() {
            let buffer = std::mem::take(&mut self.buffer);
            if buffer.len() == READ_BUFFER_BYTES {
                // A thread that is ending has no use for it.
                let _ = SPARE.try_with(|spare| spare.set(buffer));
            }
            (self.start, self.end, self.filled) = (0, 0, 0);
        }
    }

    /// TLS begins with the handshake, which is made here: of what was received nothing is a packet any more.
    pub(crate) fn start_tls(
        &mut self,
        acceptor: &tls::Acceptor,
        stream: &Stream,
        timeout: Duration,
    ) -> io::Result<tls::Layer> {
        let early = self.buffer[self.end..self.filled].to_vec();
        self.buffer = vec![0; LAYER_BUFFER_BYTES];
        (self.start, self.end, self.filled, self.socket_timeout) = (0, 0, 0, None);
        tls::Layer::accept(
            acceptor,
            stream,
            &early,
            &mut Plain { buffer: &mut self.buffer, filled: &mut self.filled },
            timeout,
        )
    }

    /// Frames begin with whatever comes next.
    pub(crate) fn start_compression(&mut self, make: impl FnOnce(&[u8]) -> Frames) -> Frames {
        let frames = make(&self.buffer[self.end..self.filled]);
        self.behind = frames.has_whole_frame();
        // Not a plain connection's size, whatever it was.
        self.buffer = vec![0; LAYER_BUFFER_BYTES];
        (self.start, self.end, self.filled) = (0, 0, 0);
        frames
    }

    /// Waits up to `first_byte` for a packet to begin (`None`: for ever; zero: not at all) and takes it whole. `seq` is the
    /// expected sequence id, and afterwards the one to answer with.
    #[inline]
    pub(crate) fn read(
        &mut self,
        stream: &Stream,
        transport: &mut Transport,
        seq: &mut u8,
        first_byte: Option<Duration>,
    ) -> ReadOutcome {
        self.start = self.end;
        if self.start == self.filled {
            // Nothing buffered: start over at the front. The usual case.
            (self.start, self.end, self.filled) = (0, 0, 0);
            if self.buffer.len() != READ_BUFFER_BYTES && !self.resize_idle(transport) {
                if let Err(outcome) = self.receive_layered(stream, transport, first_byte) {
                    return outcome;
                }
            } else {
                let received = if first_byte == Some(Duration::ZERO) {
                    stream.recv_ready(&mut self.buffer)
                } else {
                    if let Err(outcome) = self.set_timeout(stream, first_byte) {
                        return outcome;
                    }
                    let _waiting = sync::blocking::socket(sync::waits::Operation::Receive);
                    stream.recv(&mut self.buffer)
                };
                match received {
                    Ok(0) => return ReadOutcome::Closed,
                    Ok(n) => self.received(n),
                    Err(e) if timed_out(&e) => {
                        self.drained = true;
                        return ReadOutcome::Idle;
                    }
                    Err(_) => return ReadOutcome::Broken,
                }
            }
        }
        // Fast path: header and body are there.
        let bytes = &self.buffer[self.start..self.filled];
        if let [a, b, c, s, body @ ..] = bytes {
            let len = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
            if len <= body.len() && len < PART_BYTES && len <= self.max_allowed_packet && *s == *seq {
                *seq = seq.wrapping_add(1);
                self.start += HEADER_BYTES;
                self.end = self.start + len;
                return ReadOutcome::Packet;
            }
        }
        self.read_slow(stream, transport, seq)
    }

    /// The rest of a packet that did not come in one piece, or is in several parts.
    #[cold]
    fn read_slow(&mut self, stream: &Stream, transport: &mut Transport, seq: &mut u8) -> ReadOutcome {
        // Room for the packet at the front.
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        (self.start, self.end) = (0, 0);
        let mut deadline = None;
        // Invariant: buffer[..end] is the payload so far, buffer[end..filled] is raw bytes behind it.
        loop {
            if let Err(outcome) = self.fill(stream, transport, self.end + HEADER_BYTES, &mut deadline) {
                return outcome;
            }
            let header = &self.buffer[self.end..self.end + HEADER_BYTES];
            let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            if header[3] != *seq && !matches!(transport, Transport::Compressed(_)) {
                self.end = 0;
                return ReadOutcome::OutOfOrder;
            }
            *seq = header[3].wrapping_add(1);
            if self.end + len > self.max_allowed_packet {
                self.end = 0;
                return ReadOutcome::TooLarge;
            }
            // The first header moves the start, the others are squeezed out: in both cases the payload stays one slice.
            self.buffer.copy_within(self.end + HEADER_BYTES..self.filled, self.end);
            self.filled -= HEADER_BYTES;
            if let Err(outcome) = self.fill(stream, transport, self.end + len, &mut deadline) {
                return outcome;
            }
            self.end += len;
            if len < PART_BYTES {
                return ReadOutcome::Packet;
            }
        }
    }

    /// Receives until `filled >= target`, growing the buffer with what arrives.
    fn fill(
        &mut self,
        stream: &Stream,
        transport: &mut Transport,
        target: usize,
        deadline: &mut Option<Instant>,
    ) -> Result<(), ReadOutcome> {
        while self.filled < target {
            if self.filled == self.buffer.len() {
                let len =
                    (self.buffer.len() * 2).clamp(READ_BUFFER_BYTES, (target + HEADER_BYTES).max(READ_BUFFER_BYTES));
                self.buffer.resize(len, 0);
                self.small_packets = 0;
            }
            if let Some(ends_at) = self.ends_at {
                // Each byte counts against the same time, so the socket waits for what is left of it.
                let left = ends_at.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(self.broken(ReadOutcome::TimedOut));
                }
                self.set_timeout(stream, Some(left))?;
            }
            let _waiting = sync::blocking::socket(sync::waits::Operation::Receive);
            let received = match transport {
                Transport::Tls(_) | Transport::Compressed(_) => self.unwrap(stream, transport, true),
                _ => {
                    stream.recv(&mut self.buffer[self.filled..]).inspect(|n| self.received(*n)).map_err(ReadOutcome::of)
                }
            };
            match received {
                Ok(0) => return Err(self.broken(ReadOutcome::Broken)),
                Ok(_) => *deadline = None,
                // The socket's timeout is the short one for parking; the long one is counted here.
                Err(ReadOutcome::Idle) => self.within(deadline).map_err(|outcome| self.broken(outcome))?,
                Err(outcome) => return Err(self.broken(outcome)),
            }
        }
        Ok(())
    }

    /// Error once nothing has come for `net_read_timeout` since `deadline` was empty.
    fn within(&self, deadline: &mut Option<Instant>) -> Result<(), ReadOutcome> {
        let now = Instant::now();
        let limit = *deadline.get_or_insert(now + self.read_timeout);
        if now >= limit { Err(ReadOutcome::TimedOut) } else { Ok(()) }
    }

    /// Receives under TLS or with compression, as `read` does without them.
    #[cold]
    fn receive_layered(
        &mut self,
        stream: &Stream,
        transport: &mut Transport,
        first_byte: Option<Duration>,
    ) -> Result<(), ReadOutcome> {
        let mut wait = first_byte != Some(Duration::ZERO);
        if wait {
            self.set_timeout(stream, first_byte)?;
        }
        let _waiting = wait.then(|| sync::blocking::socket(sync::waits::Operation::Receive));
        let mut deadline = None;
        loop {
            match self.unwrap(stream, transport, wait) {
                Ok(0) => return Err(ReadOutcome::Closed),
                Ok(_) => return Ok(()),
                // A frame that has come in part is a packet's beginning: the rest of it is waited for.
                Err(ReadOutcome::Idle) if matches!(transport, Transport::Compressed(f) if f.is_partial()) => {
                    wait = true;
                    self.within(&mut deadline)?;
                }
                Err(outcome) => {
                    self.drained |= outcome == ReadOutcome::Idle;
                    return Err(outcome);
                }
            }
        }
    }

    /// Puts what a layer above the socket receives behind the bytes that are there; its last record or frame may need more room than
    /// there is. The bytes that it was for packets; `Idle`: nothing came in time.
    fn unwrap(&mut self, stream: &Stream, transport: &mut Transport, wait: bool) -> Result<usize, ReadOutcome> {
        let (before, unread) = (self.filled, self.filled - self.end);
        let mut plain = Plain { buffer: &mut self.buffer, filled: &mut self.filled };
        match transport {
            Transport::Tls(layer) => {
                self.drained = layer.receive(stream, &mut plain, wait, self.ends_at).map_err(ReadOutcome::of)?;
                self.bytes_received += (self.filled - before) as u64;
            }
            Transport::Compressed(frames) => {
                let source = Source { stream, wait, ends_at: self.ends_at };
                let result = frames.receive(&source, &mut plain, unread, self.max_allowed_packet);
                self.behind = frames.has_whole_frame();
                let (received, drained) = result?;
                self.drained = drained;
                self.bytes_received += received as u64;
            }
            Transport::Plain | Transport::Broken | Transport::Nowhere => return Err(ReadOutcome::Broken),
        }
        Ok(self.filled - before)
    }

    fn broken(&mut self, outcome: ReadOutcome) -> ReadOutcome {
        (self.start, self.end) = (0, 0);
        outcome
    }

    fn received(&mut self, n: usize) {
        self.filled += n;
        self.drained = self.filled < self.buffer.len();
        self.bytes_received += n as u64;
    }

    /// Called with an empty buffer that has not the size of a plain connection's. False: it is none.
    #[cold]
    fn resize_idle(&mut self, transport: &Transport) -> bool {
        let is_plain = matches!(transport, Transport::Plain);
        let usual = if is_plain { READ_BUFFER_BYTES } else { LAYER_BUFFER_BYTES };
        if self.buffer.len() > usual {
            self.small_packets += 1;
            if self.small_packets < SHRINK_AFTER_PACKETS {
                return is_plain;
            }
        }
        self.small_packets = 0;
        if self.buffer.len() != usual {
            let spare = SPARE.try_with(Cell::take).unwrap_or_default();
            self.buffer = if spare.len() == usual { spare } else { vec![0; usual] };
        }
        is_plain
    }

    /// Sets the socket's timeout unless it has it: no system call for a busy client.
    #[inline]
    fn set_timeout(&mut self, stream: &Stream, timeout: Option<Duration>) -> Result<(), ReadOutcome> {
        let wanted = timeout.unwrap_or(Duration::MAX).max(Duration::from_millis(1));
        if self.socket_timeout == Some(wanted) {
            return Ok(());
        }
        stream.set_read_timeout(timeout.map(|_| wanted)).map_err(|_| ReadOutcome::Broken)?;
        self.socket_timeout = Some(wanted);
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    const LONG: Option<Duration> = Some(Duration::from_secs(30));

    #[test]
    fn the_buffer_grows_with_what_arrives_and_shrinks_afterwards() {
        let (mut client, server) = UnixStream::pair().unwrap();
        let (server, mut input) = (Stream::Unix(server), Input::new(None));
        input.max_allowed_packet = 64 << 20;
        input.read_timeout = Duration::from_millis(10);
        client.write_all(&[0xf0, 0xff, 0xff, 0]).unwrap();
        client.write_all(&[b'x'; 100]).unwrap();
        assert_eq!(
            input.read(&server, &mut Transport::Plain, &mut 0, Some(Duration::from_millis(1))),
            ReadOutcome::TimedOut
        );
        assert!(input.buffer.len() <= READ_BUFFER_BYTES, "a claim of 16 MiB costs nothing");

        let (mut client, server) = UnixStream::pair().unwrap();
        let (server, mut input) = (Stream::Unix(server), Input::new(None));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                client.write_all(&[0, 0, 8, 0]).unwrap();
                client.write_all(&vec![b'x'; 8 << 16]).unwrap();
                for _ in 0..2 * SHRINK_AFTER_PACKETS {
                    client.write_all(&[1, 0, 0, 0, b'y']).unwrap();
                }
            });
            assert_eq!(input.read(&server, &mut Transport::Plain, &mut 0, LONG), ReadOutcome::Packet);
            assert!((8 << 16..=(8 << 16) + 4).contains(&input.buffer.len()));
            for _ in 0..2 * SHRINK_AFTER_PACKETS {
                assert_eq!(input.read(&server, &mut Transport::Plain, &mut 0, LONG), ReadOutcome::Packet);
                assert_eq!(input.packet(), b"y");
            }
        });
        for _ in 0..=SHRINK_AFTER_PACKETS {
            assert_eq!(
                input.read(&server, &mut Transport::Plain, &mut 0, Some(Duration::from_millis(1))),
                ReadOutcome::Idle
            );
        }
        assert_eq!(input.buffer.len(), READ_BUFFER_BYTES);
        input.release();
        assert_eq!(input.buffer.capacity(), 0);
    }
}
