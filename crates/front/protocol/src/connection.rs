//! One client connection: the socket with its two buffers, sequence ids and agreed capabilities.

pub use crate::plain::ReadOutcome;

use crate::compress::{Algorithm, Frames};
use crate::input::Input;
use crate::output::Transport;
use crate::tls::{self, TlsInfo};
use crate::{Capabilities, HangUp, Output, Peer, Stream};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use types::codes::*;
use types::{SqlError, err};

/// `net_write_timeout` until it is set: a client that takes nothing for so long is gone.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// The timeouts that a socket has, as far as they are known: they are not set again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeouts {
    pub read: Option<Duration>,
    pub write: Option<Duration>,
}

#[derive(Debug)]
pub struct Connection {
    input: Input,
    output: Output,
    peer: Peer,
    /// What the socket has.
    write_timeout: Option<Duration>,
    reserved: bool,
    administrative: bool,
    /// By the login.
    pub(crate) agreed: Option<Algorithm>,
    pub(crate) wanted_compression: bool,
}

impl Connection {
    /// A connection over a socket just accepted (blocking mode).
    pub fn new(stream: Stream, peer: Peer) -> io::Result<Connection> {
        Connection::over(Arc::new(stream), peer, Timeouts::default())
    }

    /// The same where the socket has timeouts already.
    pub fn over(stream: Arc<Stream>, peer: Peer, timeouts: Timeouts) -> io::Result<Connection> {
        let mut conn = Connection {
            input: Input::new(timeouts.read),
            output: Output::new(stream),
            peer,
            write_timeout: timeouts.write,
            reserved: false,
            administrative: false,
            agreed: None,
            wanted_compression: false,
        };
        if conn.write_timeout.is_none() {
            conn.set_net_write_timeout(WRITE_TIMEOUT)?;
        }
        Ok(conn)
    }

    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The one connection above `max_connections`: only an account with CONNECTION_ADMIN or SUPER may keep it, any other
    /// gets [`too_many_connections`].
    pub fn is_reserved(&self) -> bool {
        self.reserved
    }

    pub fn set_reserved(&mut self) {
        self.reserved = true;
    }

    /// It came by `admin_address`: only an account with SERVICE_CONNECTION_ADMIN may keep it.
    pub fn is_administrative(&self) -> bool {
        self.administrative
    }

    pub fn set_administrative(&mut self) {
        self.administrative = true;
    }

    pub fn stream(&self) -> &Stream {
        self.output.stream()
    }

    /// A handle with which another thread ends this connection.
    pub fn hang_up(&self) -> HangUp {
        HangUp(Arc::clone(self.output.stream()))
    }

    /// What TLS has come to, if the connection has it.
    pub fn tls(&self) -> Option<&TlsInfo> {
        match &self.output.transport {
            Transport::Tls(layer) => Some(layer.info()),
            Transport::Compressed(frames) => Some(frames.below()?.info()),
            Transport::Plain | Transport::Broken | Transport::Nowhere => None,
        }
    }

    /// How packets are compressed, if they are.
    pub fn compression(&self) -> Option<Algorithm> {
        match &self.output.transport {
            Transport::Compressed(frames) => Some(frames.algorithm()),
            Transport::Plain | Transport::Tls(_) | Transport::Broken | Transport::Nowhere => None,
        }
    }

    /// What the login has agreed on begins behind its answer, which is sent first.
    pub fn start_compression(&mut self) -> io::Result<()> {
        self.agreed.map_or(Ok(()), |algorithm| self.compress_with(algorithm))
    }

    /// From here on, what is read and sent is in frames.
    pub fn compress_with(&mut self, algorithm: Algorithm) -> io::Result<()> {
        self.output.flush()?;
        let below = match std::mem::replace(&mut self.output.transport, Transport::Broken) {
            Transport::Tls(layer) => Some(layer),
            Transport::Plain | Transport::Compressed(_) | Transport::Broken | Transport::Nowhere => None,
        };
        let frames = self.input.start_compression(|early| Frames::new(algorithm, below, early));
        self.output.transport = Transport::Compressed(Box::new(frames));
        Ok(())
    }

    /// The client wanted compression, and there is none: what it sends may be frames nevertheless.
    pub fn may_send_frames(&self) -> bool {
        self.wanted_compression && self.agreed.is_none()
    }

    /// A password in clear text may travel here.
    pub fn is_secure(&self) -> bool {
        self.peer == Peer::Unix || self.tls().is_some()
    }

    /// The client has asked for TLS in its last packet: the handshake, within `timeout`.
    pub(crate) fn start_tls(&mut self, acceptor: &tls::Acceptor, timeout: Duration) -> io::Result<()> {
        let stream = Arc::clone(self.output.stream());
        let layer = self.input.start_tls(acceptor, &stream, timeout)?;
        self.output.transport = Transport::Tls(Box::new(layer));
        Ok(())
    }

    /// Ends both directions.
    pub fn close(&mut self) {
        self.output.close();
    }

    pub fn capabilities(&self) -> Capabilities {
        self.output.capabilities
    }

    pub(crate) fn set_capabilities(&mut self, capabilities: Capabilities) {
        self.output.capabilities = capabilities;
        self.output.reshape(false);
    }

    /// `max_allowed_packet` of the session, in bytes. 1 MiB until set.
    pub fn set_max_allowed_packet(&mut self, bytes: usize) {
        self.input.max_allowed_packet = bytes;
    }

    /// `net_read_timeout`: the longest pause inside a packet.
    pub fn set_net_read_timeout(&mut self, timeout: Duration) {
        self.input.read_timeout = timeout;
    }

    /// All that is read from now on has to be there by then; `None`: there is no hurry.
    pub(crate) fn set_read_deadline(&mut self, ends_at: Option<Instant>) {
        self.input.ends_at = ends_at;
    }

    /// The user of the machine at the other end of a Unix socket, by its number.
    pub fn peer_uid(&self) -> Option<u32> {
        self.stream().peer_uid()
    }

    /// `net_write_timeout`. One system call, none where it is as before.
    pub fn set_net_write_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        let wanted = Some(timeout.max(Duration::from_millis(1)));
        if self.write_timeout != wanted {
            self.stream().set_write_timeout(wanted)?;
            self.write_timeout = wanted;
        }
        Ok(())
    }

    /// Waits up to `first_byte` for the next command (`None`: for ever; zero: not at all) and reads it whole. Sequence ids start over.
    #[inline]
    pub fn read_packet(&mut self, first_byte: Option<Duration>) -> ReadOutcome {
        self.output.seq = 0;
        let (stream, transport, seq) = self.output.receiving();
        self.input.read(stream, transport, seq, first_byte)
    }

    /// Flushes, then reads the client's next packet of an exchange in progress (authentication, LOCAL INFILE).
    pub fn read_reply(&mut self, first_byte: Option<Duration>) -> ReadOutcome {
        if self.output.flush().is_err() {
            return ReadOutcome::Broken;
        }
        let (stream, transport, seq) = self.output.receiving();
        let Some(until) = first_byte.and_then(|time| Instant::now().checked_add(time)) else {
            return self.input.read(stream, transport, seq, first_byte);
        };
        let mut left = first_byte.unwrap_or_default();
        loop {
            // A timeout that the socket has is as good, until it is longer than what is left.
            let patience = self.input.socket_timeout().map_or(left, |time| time.min(left));
            match self.input.read(stream, transport, seq, Some(patience)) {
                ReadOutcome::Idle => left = until.saturating_duration_since(Instant::now()),
                outcome => return outcome,
            }
            if left.is_zero() {
                return ReadOutcome::Idle;
            }
        }
    }

    /// Reads a packet that the client sends beside what it is sent, whose own sequence begins with it: the semi-synchronous answer of
    /// a replica. Nothing is flushed, and what is sent next has the number that it had.
    pub fn read_aside(&mut self, first_byte: Option<Duration>) -> ReadOutcome {
        let mut own = 0;
        let (stream, transport, _) = self.output.receiving();
        let next_frame = transport.frames().map(|frames| frames.seq());
        let outcome = self.input.read(stream, transport, &mut own, first_byte);
        if let (Some(frames), Some(seq)) = (transport.frames(), next_frame) {
            frames.restart_sequence(seq);
        }
        outcome
    }

    /// The packet last read.
    #[inline]
    pub fn packet(&self) -> &[u8] {
        self.input.packet()
    }

    /// The packet last read, and where to answer it.
    #[inline]
    pub fn split(&mut self) -> (&[u8], &mut Output) {
        (self.input.packet(), &mut self.output)
    }

    #[inline]
    pub fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// The client has sent more than the current packet already.
    #[inline]
    pub fn has_more_input(&self) -> bool {
        self.input.has_more()
    }

    /// All that the client had sent when the socket was last asked has been read and served: an edge-triggered poller tells of
    /// whatever comes next.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.input.is_drained()
    }

    pub fn bytes_received(&self) -> u64 {
        self.input.bytes_received
    }

    pub fn bytes_sent(&self) -> u64 {
        self.output.bytes_sent()
    }

    /// Gives the buffers back before the connection is parked. They come back with the next packet.
    pub fn release_buffers(&mut self) {
        self.input.release();
        self.output.release();
    }

    /// The error to tell the client after a failed read, if the protocol allows one. The connection ends either way.
    pub fn read_error(outcome: ReadOutcome) -> Option<SqlError> {
        match outcome {
            ReadOutcome::TooLarge => Some(err!(ER_NET_PACKET_TOO_LARGE)),
            ReadOutcome::OutOfOrder => Some(err!(ER_NET_PACKETS_OUT_OF_ORDER)),
            ReadOutcome::NotCompressed => Some(err!(ER_NET_UNCOMPRESS_ERROR)),
            ReadOutcome::TimedOut => Some(err!(ER_NET_READ_INTERRUPTED)),
            ReadOutcome::Packet | ReadOutcome::Idle | ReadOutcome::Closed | ReadOutcome::Broken => None,
        }
    }
}

/// Error 1040.
#[cold]
pub fn too_many_connections() -> SqlError {
    err!(ER_CON_COUNT_ERROR)
}

/// Error 4031: what an idle client is told when its time is up.
#[cold]
pub fn idle_for_too_long() -> SqlError {
    err!(ER_CLIENT_INTERACTION_TIMEOUT)
}
