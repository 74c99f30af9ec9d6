//! Packets out: the write buffer.
//!
//! Packets are built in place: four bytes are kept for the header, the payload is appended, the header is patched. The
//! buffer goes to the socket when it passes [`FLUSH_BYTES`] between two packets, and at the end of a command.

use crate::compress::Frames;
use crate::tls::Layer;
use crate::{Capabilities, HangUp, Stream};
use std::io;
use std::sync::Arc;

/// The buffer is sent when a finished packet makes it this large, so it holds at most this and one row.
pub const FLUSH_BYTES: usize = 32 << 10;
/// A buffer that one huge row has grown beyond this is given back after the flush.
const KEEP_BYTES: usize = 4 * FLUSH_BYTES;
/// Room for the answers of a short session: its first packets do not grow the buffer one by one.
const FIRST_BYTES: usize = 512;
const HEADER_BYTES: usize = 4;
const PART_BYTES: usize = 0xff_ffff;

/// How strings of a result set are encoded: `character_set_results`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultsCharset {
    /// Collation id that column definitions carry.
    pub collation: u16,
    /// Most bytes of a character, which scales the lengths in column definitions.
    pub max_bytes: u8,
}

/// A place in the answer to a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerStart {
    at: usize,
    seq: u8,
}

/// What a result set has around its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(u8);

impl Shape {
    const EOF: u8 = 1;
    const FLAGGED: u8 = 2;
    const BARE: u8 = 4;

    /// Definitions end with an EOF packet.
    #[inline]
    pub fn has_eof(self) -> bool {
        self.0 & Self::EOF != 0
    }

    /// Appends whether definitions follow, if the client knows that they may not.
    pub fn put_flag(self, out: &mut Vec<u8>) {
        if self.0 & Self::FLAGGED != 0 {
            out.push(u8::from(!self.is_bare()));
        }
    }

    /// No definitions follow.
    #[inline]
    pub fn is_bare(self) -> bool {
        self.0 & Self::BARE != 0
    }
}

/// What is between packets and socket.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain,
    Tls(Box<Layer>),
    /// Over TLS, or not.
    Compressed(Box<Frames>),
    /// A send has failed: nothing more is sent.
    Broken,
    /// Nobody reads what a session of the server's own says.
    Nowhere,
}

/// The sending half of a connection. An `Err` of any method means that the client is gone: close.
#[derive(Debug)]
pub struct Output {
    stream: Arc<Stream>,
    buffer: Vec<u8>,
    /// Where the header of the packet under construction is.
    packet: usize,
    pub(crate) seq: u8,
    pub(crate) capabilities: Capabilities,
    pub(crate) shape: Shape,
    pub(crate) results: Option<ResultsCharset>,
    bytes_sent: u64,
    pub(crate) transport: Transport,
    /// Nothing leaves before [`Output::flush`] is called.
    held: bool,
}

impl Output {
    pub(crate) fn new(stream: Arc<Stream>) -> Output {
        Output {
            stream,
            buffer: Vec::with_capacity(FIRST_BYTES),
            packet: 0,
            seq: 0,
            // Before the handshake an ERR packet has no SQLSTATE.
            capabilities: Capabilities::NONE,
            shape: Shape(Shape::EOF),
            results: Some(ResultsCharset { collation: 255, max_bytes: 4 }),
            bytes_sent: 0,
            transport: Transport::Plain,
            held: false,
        }
    }

    /// Of a session that has no client: what is said goes nowhere. It takes several result sets.
    pub fn nowhere(session: &HangUp) -> Output {
        let capabilities = Capabilities::NONE.with(Capabilities::MULTI_RESULTS, true);
        Output { capabilities, transport: Transport::Nowhere, ..Output::new(Arc::clone(&session.0)) }
    }

    /// `resultset_metadata` is NONE, for clients that can do without.
    pub fn leave_out_metadata(&mut self, on: bool) {
        self.reshape(on);
    }

    pub(crate) fn reshape(&mut self, leaves_out: bool) {
        let can = self.capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA);
        let bit = |on: bool, bit| if on { bit } else { 0 };
        self.shape = Shape(
            bit(!self.capabilities.has(Capabilities::DEPRECATE_EOF), Shape::EOF)
                | bit(can, Shape::FLAGGED)
                | bit(can && leaves_out, Shape::BARE),
        );
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// What reading a packet needs: the socket, what is above it, and the sequence id.
    #[inline]
    pub(crate) fn receiving(&mut self) -> (&Stream, &mut Transport, &mut u8) {
        (&self.stream, &mut self.transport, &mut self.seq)
    }

    #[inline]
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// COM_SET_OPTION changes MULTI_STATEMENTS after the handshake.
    pub fn set_multi_statements(&mut self, on: bool) {
        self.capabilities = self.capabilities.with(Capabilities::MULTI_STATEMENTS, on);
    }

    /// `None`: `character_set_results` is NULL, strings go out as they are stored. The caller converts the strings.
    pub fn set_results_charset(&mut self, charset: Option<ResultsCharset>) {
        self.results = charset;
    }

    pub fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    /// The next packet has this number: one that the client is to answer begins the sequence anew.
    pub fn restart_sequence(&mut self, seq: u8) {
        self.seq = seq;
    }

    /// Bytes that wait for a flush.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// Starts a packet and gives the buffer to append its payload to. Ends with [`Output::end`].
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.packet = self.buffer.len();
        self.buffer.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.buffer
    }

    /// Finishes the packet that `begin` started, and flushes when the buffer is full.
    #[inline]
    pub fn end(&mut self) -> io::Result<()> {
        let len = self.buffer.len() - self.packet - HEADER_BYTES;
        if len >= PART_BYTES {
            self.split_parts();
        } else {
            let [a, b, c, _] = (len as u32).to_le_bytes();
            self.buffer[self.packet..self.packet + HEADER_BYTES].copy_from_slice(&[a, b, c, self.seq]);
            self.seq = self.seq.wrapping_add(1);
        }
        self.flush_if_full()
    }

    /// Keeps finished packets until [`Output::flush`], however many they become. For answers that rest on something
    /// which must be durable before a byte leaves: the caller looks at [`Output::is_full`], waits, and flushes.
    pub fn hold(&mut self, on: bool) {
        self.held = on;
    }

    /// The buffer has passed [`FLUSH_BYTES`].
    #[inline]
    pub fn is_full(&self) -> bool {
        self.buffer.len() >= FLUSH_BYTES
    }

    #[inline]
    pub(crate) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.is_full() && !self.held { self.flush() } else { Ok(()) }
    }

    /// Appends packets that are finished but for their sequence ids, and gives them.
    #[inline]
    pub(crate) fn append(&mut self, packets: &[u8]) -> &mut [u8] {
        let at = self.buffer.len();
        self.buffer.extend_from_slice(packets);
        &mut self.buffer[at..]
    }

    /// Where the next packet begins.
    #[inline]
    pub fn answer_start(&self) -> AnswerStart {
        AnswerStart { at: self.buffer.len(), seq: self.seq }
    }

    /// Drops the packets since then, of which nothing has been sent.
    pub fn take_back(&mut self, start: AnswerStart) {
        self.buffer.truncate(start.at);
        self.seq = start.seq;
    }

    /// Drops the packet that `begin` started.
    pub fn cancel(&mut self) {
        self.buffer.truncate(self.packet);
    }

    /// Drops the packet that `begin` started if it was not ended. Its header is zeros until then, as no other packet's is.
    pub fn abandon(&mut self) {
        if self.buffer.get(self.packet..self.packet + HEADER_BYTES) == Some(&[0; HEADER_BYTES]) {
            self.cancel();
        }
    }

    /// A payload of 16 MiB - 1 or more: headers are put between its parts, and an empty part ends an exact multiple.
    #[cold]
    fn split_parts(&mut self) {
        let payload = self.buffer.split_off(self.packet + HEADER_BYTES);
        self.buffer.truncate(self.packet);
        let mut parts = payload.chunks(PART_BYTES);
        loop {
            let part = parts.next().unwrap_or(&[]);
            let [a, b, c, _] = (part.len() as u32).to_le_bytes();
            self.buffer.extend_from_slice(&[a, b, c, self.seq]);
            self.buffer.extend_from_slice(part);
            self.seq = self.seq.wrapping_add(1);
            if part.len() < PART_BYTES {
                return;
            }
        }
    }

    /// Sends what is buffered. One system call, none when there is nothing.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = match &mut self.transport {
            Transport::Plain => self.stream.send(&self.buffer).map(|()| self.buffer.len()),
            other => other.send(&self.stream, &self.buffer),
        };
        match result {
            Ok(sent) => self.bytes_sent += sent as u64,
            Err(_) => self.transport = Transport::Broken,
        }
        self.buffer.clear();
        self.packet = 0;
        if self.buffer.capacity() > KEEP_BYTES {
            self.buffer = Vec::new();
        }
        result.map(|_| ())
    }

    /// Gives the memory back while nothing is buffered.
    pub(crate) fn release(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = Vec::new();
        }
        match &mut self.transport {
            Transport::Tls(layer) => layer.release(),
            Transport::Compressed(frames) => frames.release(),
            Transport::Plain | Transport::Broken | Transport::Nowhere => {}
        }
    }

    /// Ends both directions; a client under TLS is told, so that it knows that nothing was cut off.
    pub(crate) fn close(&mut self) {
        match &mut self.transport {
            Transport::Tls(layer) => layer.close(&self.stream),
            Transport::Compressed(frames) => frames.close(&self.stream),
            Transport::Plain | Transport::Broken | Transport::Nowhere => {}
        }
        self.stream.shutdown();
    }
}

impl Transport {
    /// Compressed frames, if packets go in them.
    pub(crate) fn frames(&mut self) -> Option<&mut Frames> {
        match self {
            Transport::Compressed(frames) => Some(frames),
            Transport::Plain | Transport::Tls(_) | Transport::Broken | Transport::Nowhere => None,
        }
    }

    /// Sends other than plainly. The bytes that count as sent: frames are counted, records of TLS are not.
    #[cold]
    fn send(&mut self, stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain => stream.send(bytes).map(|()| bytes.len()),
            Transport::Tls(layer) => layer.send(stream, bytes).map(|()| bytes.len()),
            Transport::Compressed(frames) => frames.send(stream, bytes),
            Transport::Broken => Err(io::ErrorKind::BrokenPipe.into()),
            Transport::Nowhere => Ok(0),
        }
    }
}
