//! Compressed frames between packets and the socket, or TLS.
//!
//! ```text
//!  0        3      4        7
//!  +--------+------+--------+----------------------+
//!  | length | seq  | before | body                 |   before: length of the body before it was compressed; 0: it is not
//!  +--------+------+--------+----------------------+
//!  body     bytes of packets, which begin and end anywhere in it
//! ```
//!
//! Frames have a sequence of their own, and the packets' numbers are not looked at. A frame is taken whole or not at all, and its length
//! counts against `max_allowed_packet` before anything is made of it; room for what it unpacks to grows with that. Whole frames stay
//! in here while enough is unpacked ([`Frames::has_whole_frame`]), so that many small frames cannot become much memory at once.

use crate::plain::{Plain, ReadOutcome};
use crate::tls::Layer;
use crate::wire::Malformed;
use crate::{Capabilities, Stream};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::io;
use std::time::Instant;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

const HEADER_BYTES: usize = 7;
/// Longest body of a frame. Connector/Python takes a packet for broken that is in more than two.
const ZLIB_BYTES: usize = 0xff_ffff;
/// So much goes to zstd at a time: the tables of its highest levels grow with it.
const ZSTD_BYTES: usize = 1 << 20;
/// The longest window of zstd that is taken, as a power of two: a whole frame's.
const ZSTD_WINDOW_LOG: u32 = 24;
/// What is shorter goes as it is.
const MIN_BYTES: usize = 50;
/// zlib's level of connections, as in MySQL.
const ZLIB_LEVEL: u8 = 6;
/// Room that is added at a time for what a frame unpacks to.
const STEP_BYTES: usize = 64 << 10;
/// Frames are unpacked until so much waits to be read.
const AHEAD_BYTES: usize = 64 << 10;
/// Room for what one receive brings.
const RECEIVE_BYTES: usize = 16 << 10;

/// The names in `protocol_compression_algorithms`.
const ZLIB: &str = "zlib";
const ZSTD: &str = "zstd";
pub(crate) const UNCOMPRESSED: &str = "uncompressed";

/// How a connection is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Zlib,
    /// With a level that the client has chosen.
    Zstd(u8),
}

impl Algorithm {
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Zlib => ZLIB,
            Algorithm::Zstd(_) => ZSTD,
        }
    }

    pub const fn level(self) -> u8 {
        match self {
            Algorithm::Zlib => ZLIB_LEVEL,
            Algorithm::Zstd(level) => level,
        }
    }

    /// Can zstd have this level of a client?
    pub(crate) const fn is_zstd_level(level: u8) -> bool {
        matches!(level, 1..=22)
    }

    /// What is agreed on, zlib before zstd; `None`: nothing.
    pub(crate) fn agreed(capabilities: Capabilities, zstd_level: u8) -> Option<Algorithm> {
        match capabilities {
            both if both.has(Capabilities::COMPRESS) => Some(Algorithm::Zlib),
            one if one.has(Capabilities::ZSTD_COMPRESSION_ALGORITHM) => Some(Algorithm::Zstd(zstd_level)),
            _ => None,
        }
    }
}

/// What connections may use, as `protocol_compression_algorithms` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    zlib: bool,
    zstd: bool,
    uncompressed: bool,
}

impl Allowed {
    pub const NOTHING: Allowed = Allowed { zlib: false, zstd: false, uncompressed: true };

    /// `None`: the list is empty or too long, or names something else.
    pub fn parse(list: &str) -> Option<Allowed> {
        let mut allowed = Allowed { zlib: false, zstd: false, uncompressed: false };
        let mut count = 0;
        for name in list.split(',') {
            match name.to_ascii_lowercase().as_str() {
                ZLIB => allowed.zlib = true,
                ZSTD => allowed.zstd = true,
                UNCOMPRESSED => allowed.uncompressed = true,
                _ => return None,
            }
            count += 1;
        }
        (count <= 3).then_some(allowed)
    }

    /// `offered` with what is allowed.
    pub(crate) fn add_to(self, offered: Capabilities) -> Capabilities {
        offered.with(Capabilities::COMPRESS, self.zlib).with(Capabilities::ZSTD_COMPRESSION_ALGORITHM, self.zstd)
    }

    /// May a connection be so?
    pub(crate) fn has(self, agreed: Option<Algorithm>) -> bool {
        match agreed {
            None => self.uncompressed,
            Some(Algorithm::Zlib) => self.zlib,
            Some(Algorithm::Zstd(_)) => self.zstd,
        }
    }
}

/// The tables of one algorithm, some hundred kilobytes, given back while the connection is parked.
enum Codec {
    Zlib { out: Box<Compress>, inward: Box<Decompress> },
    Zstd { out: zstd::bulk::Compressor<'static>, inward: Box<Decoder<'static>> },
}

impl Codec {
    fn new(algorithm: Algorithm) -> io::Result<Codec> {
        Ok(match algorithm {
            Algorithm::Zlib => Codec::Zlib {
                out: Box::new(Compress::new(Compression::new(ZLIB_LEVEL.into()), true)),
                inward: Box::new(Decompress::new(true)),
            },
            Algorithm::Zstd(level) => {
                let mut inward = Box::new(Decoder::new()?);
                inward.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
                Codec::Zstd { out: zstd::bulk::Compressor::new(level.into())?, inward }
            }
        })
    }

    /// Appends what `body` compresses to, if that is shorter. False: it is not, and nothing was appended.
    fn compress(&mut self, body: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        let start = out.len();
        out.resize(start + body.len() - 1, 0);
        let room = &mut out[start..];
        let length = match self {
            Codec::Zlib { out, .. } => {
                out.reset();
                match out.compress(body, room, FlushCompress::Finish).map_err(io::Error::other)? {
                    Status::StreamEnd => Some(out.total_out() as usize),
                    Status::Ok | Status::BufError => None,
                }
            }
            // The one error that there is: no room.
            Codec::Zstd { out, .. } => out.compress_to_buffer(body, room).ok(),
        };
        out.truncate(start + length.unwrap_or(0));
        Ok(length.is_some())
    }

    /// Appends what `body` unpacks to, which has to be `length` bytes and nothing else behind them.
    fn decompress(&mut self, body: &[u8], length: usize, plain: &mut Plain<'_>) -> Result<(), Malformed> {
        let (mut taken, mut made) = (0, 0);
        match self {
            Codec::Zlib { inward, .. } => inward.reset(true),
            Codec::Zstd { inward, .. } => inward.reinit().map_err(|_| Malformed)?,
        }
        loop {
            // One more than is left would show that there is more.
            let step = STEP_BYTES.min(length - made).max(1);
            let before = *plain.filled;
            let room = plain.add(step);
            let (read, written, over) = match self {
                Codec::Zlib { inward, .. } => {
                    let (read, written) = (inward.total_in(), inward.total_out());
                    let status =
                        inward.decompress(&body[taken..], room, FlushDecompress::None).map_err(|_| Malformed)?;
                    let read = (inward.total_in() - read) as usize;
                    (read, (inward.total_out() - written) as usize, status == Status::StreamEnd)
                }
                Codec::Zstd { inward, .. } => {
                    let (mut input, mut output) = (InBuffer::around(&body[taken..]), OutBuffer::around(room));
                    let hint = inward.run(&mut input, &mut output).map_err(|_| Malformed)?;
                    (input.pos(), output.pos(), hint == 0)
                }
            };
            *plain.filled = before + written;
            taken += read;
            made += written;
            if made > length {
                return Err(Malformed);
            }
            if over {
                return if made == length && taken == body.len() { Ok(()) } else { Err(Malformed) };
            }
            if read == 0 && written == 0 {
                return Err(Malformed);
            }
        }
    }
}

/// One connection's frames.
pub(crate) struct Frames {
    algorithm: Algorithm,
    below: Option<Box<Layer>>,
    codec: Option<Codec>,
    /// The next frame's number, in both directions.
    seq: u8,
    /// Frames as they come: `incoming[..received]`.
    incoming: Vec<u8>,
    received: usize,
    outgoing: Vec<u8>,
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frames")
            .field("algorithm", &self.algorithm)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

/// Where frames come from.
pub(crate) struct Source<'a> {
    pub stream: &'a Stream,
    /// Waits as long as the socket does.
    pub wait: bool,
    pub ends_at: Option<Instant>,
}

impl Frames {
    /// `early`: what came behind the login.
    pub fn new(algorithm: Algorithm, below: Option<Box<Layer>>, early: &[u8]) -> Frames {
        let received = early.len();
        Frames { algorithm, below, codec: None, seq: 0, incoming: early.to_vec(), received, outgoing: Vec::new() }
    }

    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub fn below(&self) -> Option<&Layer> {
        self.below.as_deref()
    }

    pub fn seq(&self) -> u8 {
        self.seq
    }

    /// The next frame has this number.
    pub fn restart_sequence(&mut self, seq: u8) {
        self.seq = seq;
    }

    /// A frame has come in part.
    pub fn is_partial(&self) -> bool {
        self.received > 0 && !self.has_whole_frame()
    }

    /// There is more to unpack without asking the socket.
    pub fn has_whole_frame(&self) -> bool {
        self.header().is_some_and(|header| self.received >= HEADER_BYTES + header.length)
    }

    fn header(&self) -> Option<Header> {
        self.incoming[..self.received].first_chunk::<HEADER_BYTES>().map(Header::read)
    }

    /// Appends what at least one frame has to `plain`, in which `unread` bytes wait already; nothing at the end of the stream. What was
    /// received for it, and whether the socket was empty afterwards. `Idle`: nothing came in time, or not all of a frame.
    pub fn receive(
        &mut self,
        source: &Source<'_>,
        plain: &mut Plain<'_>,
        unread: usize,
        max_bytes: usize,
    ) -> Result<(usize, bool), ReadOutcome> {
        let before = *plain.filled;
        let (mut received, mut drained) = (0, true);
        loop {
            self.unpack(plain, unread, max_bytes)?;
            if *plain.filled > before {
                return Ok((received, drained));
            }
            let n = self.receive_some(source, &mut drained)?;
            if n == 0 {
                return if self.received == 0 { Ok((received, true)) } else { Err(ReadOutcome::Broken) };
            }
            received += n;
        }
    }

    fn receive_some(&mut self, source: &Source<'_>, drained: &mut bool) -> Result<usize, ReadOutcome> {
        let before = self.received;
        if self.incoming.len() - before < RECEIVE_BYTES {
            // It grows with what has come, never by what a frame claims.
            let room = RECEIVE_BYTES.max(self.incoming.len());
            self.incoming.resize(before + room, 0);
        }
        match &mut self.below {
            Some(layer) => {
                let mut records = Plain { buffer: &mut self.incoming, filled: &mut self.received };
                *drained =
                    layer.receive(source.stream, &mut records, source.wait, source.ends_at).map_err(ReadOutcome::of)?;
            }
            None => {
                let room = &mut self.incoming[before..];
                let taken = if source.wait {
                    let _waiting = sync::blocking::socket(sync::waits::Operation::Receive);
                    source.stream.recv(room)
                } else {
                    source.stream.recv_ready(room)
                };
                let taken = taken.map_err(ReadOutcome::of)?;
                *drained = taken < room.len();
                self.received += taken;
            }
        }
        Ok(self.received - before)
    }

    /// Unpacks frames until enough is there. A frame that begins a new sequence waits until all before it is read.
    fn unpack(&mut self, plain: &mut Plain<'_>, unread: usize, max_bytes: usize) -> Result<(), ReadOutcome> {
        let start = *plain.filled;
        let mut at = 0;
        while let Some(header) = self.incoming[at..self.received].first_chunk::<HEADER_BYTES>().map(Header::read) {
            let waits = unread + (*plain.filled - start);
            let continues = header.seq == self.seq;
            if *plain.filled > start && (!continues || waits >= AHEAD_BYTES) {
                break;
            }
            if !continues && (header.seq != 0 || waits > 0) {
                return Err(ReadOutcome::OutOfOrder);
            }
            self.seq = header.seq.wrapping_add(1);
            // A whole packet of the greatest length may be in one frame, with its header.
            if header.length.max(header.before) > max_bytes.saturating_add(4) {
                return Err(ReadOutcome::TooLarge);
            }
            let body = at + HEADER_BYTES;
            if self.received < body + header.length {
                self.seq = header.seq;
                break;
            }
            at = body + header.length;
            let body = &self.incoming[body..at];
            if header.before == 0 {
                plain.add(body.len()).copy_from_slice(body);
                continue;
            }
            let codec = match &mut self.codec {
                Some(codec) => codec,
                none => none.insert(Codec::new(self.algorithm).map_err(|_| ReadOutcome::Broken)?),
            };
            codec.decompress(body, header.before, plain).map_err(|Malformed| ReadOutcome::NotCompressed)?;
        }
        self.incoming.copy_within(at..self.received, 0);
        self.received -= at;
        Ok(())
    }

    /// Sends everything, or fails as [`Stream::send`] does. The bytes that it became.
    pub fn send(&mut self, stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.clear();
        let most = match self.algorithm {
            Algorithm::Zlib => ZLIB_BYTES,
            Algorithm::Zstd(_) => ZSTD_BYTES,
        };
        for body in bytes.chunks(most) {
            let start = self.outgoing.len();
            self.outgoing.extend_from_slice(&[0; HEADER_BYTES]);
            let mut is_compressed = false;
            if body.len() >= MIN_BYTES {
                let codec = match &mut self.codec {
                    Some(codec) => codec,
                    none => none.insert(Codec::new(self.algorithm)?),
                };
                is_compressed = codec.compress(body, &mut self.outgoing)?;
            }
            if !is_compressed {
                self.outgoing.extend_from_slice(body);
            }
            let length = self.outgoing.len() - start - HEADER_BYTES;
            let before = if is_compressed { body.len() } else { 0 };
            let header = Header { length, seq: self.seq, before };
            self.outgoing[start..start + HEADER_BYTES].copy_from_slice(&header.bytes());
            self.seq = self.seq.wrapping_add(1);
        }
        match &mut self.below {
            Some(layer) => layer.send(stream, &self.outgoing)?,
            None => stream.send(&self.outgoing)?,
        }
        Ok(self.outgoing.len())
    }

    /// Gives the memory back while the connection is parked.
    pub fn release(&mut self) {
        self.codec = None;
        self.outgoing = Vec::new();
        if self.received == 0 {
            self.incoming = Vec::new();
        }
        if let Some(layer) = &mut self.below {
            layer.release();
        }
    }

    pub fn close(&mut self, stream: &Stream) {
        if let Some(layer) = &mut self.below {
            layer.close(stream);
        }
    }
}

/// A frame's first bytes.
#[derive(Clone, Copy)]
struct Header {
    length: usize,
    seq: u8,
    before: usize,
}

impl Header {
    fn read(bytes: &[u8; HEADER_BYTES]) -> Header {
        let [a, b, c, seq, d, e, f] = *bytes;
        let number = |a, b, c| u32::from_le_bytes([a, b, c, 0]) as usize;
        Header { length: number(a, b, c), seq, before: number(d, e, f) }
    }

    fn bytes(self) -> [u8; HEADER_BYTES] {
        let [a, b, c, _] = (self.length as u32).to_le_bytes();
        let [d, e, f, _] = (self.before as u32).to_le_bytes();
        [a, b, c, self.seq, d, e, f]
    }
}
