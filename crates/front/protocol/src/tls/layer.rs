//! One connection's TLS: records between the packet buffers and the socket.
//!
//! All that has been decrypted is handed over at once, so nothing readable ever stays in here: a connection whose buffers are empty
//! waits for its socket, with TLS as without. A record that has come in part is no command yet.

use super::acceptor::Acceptor;
use super::{ClientNames, TlsInfo, certificate::Certificate, cipher};
use crate::Stream;
use crate::plain::Plain;
use rustls::{HandshakeKind, ServerConnection};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Room for what one receive brings: a record and its header.
const RECEIVE_BYTES: usize = 17 << 10;

#[derive(Debug)]
pub(crate) struct Layer {
    tls: ServerConnection,
    info: TlsInfo,
    /// Records as they come. Its length is its capacity; empty while the connection is parked.
    incoming: Vec<u8>,
    /// Records on their way out.
    outgoing: Vec<u8>,
    /// The client has said that nothing more comes.
    closed: bool,
}

impl Layer {
    /// The handshake, within `timeout`. `early` is what came behind the client's request. What the client says in the same breath
    /// as the handshake's end is appended to `plain`.
    pub(crate) fn accept(
        acceptor: &Acceptor,
        stream: &Stream,
        early: &[u8],
        plain: &mut Plain<'_>,
        timeout: Duration,
    ) -> io::Result<Layer> {
        acceptor.begins();
        let deadline = Instant::now() + timeout;
        let tls = ServerConnection::new(Arc::clone(&acceptor.config)).map_err(io::Error::other)?;
        let info = TlsInfo { version: "", cipher: "", is_resumed: false, server_name: String::new(), client: None };
        let mut layer = Layer { tls, info, incoming: Vec::new(), outgoing: Vec::new(), closed: false };
        layer.decrypt(stream, early, plain)?;
        while layer.tls.is_handshaking() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || layer.closed {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let _waiting = sync::blocking::socket(sync::waits::Operation::Receive);
            let received = layer.receive_some(stream, true)?;
            if received == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            layer.take(stream, received, plain)?;
        }
        layer.info = info_of(&layer.tls);
        acceptor.finishes();
        Ok(layer)
    }

    pub(crate) fn info(&self) -> &TlsInfo {
        &self.info
    }

    /// Appends what the client has said to `plain`; nothing at the end. `WouldBlock`: nothing came in the socket's time or, without
    /// `wait`, nothing is there; or `ends_at` is over. True: the socket was empty afterwards.
    pub(crate) fn receive(
        &mut self,
        stream: &Stream,
        plain: &mut Plain<'_>,
        wait: bool,
        ends_at: Option<Instant>,
    ) -> io::Result<bool> {
        let before = *plain.filled;
        while !self.closed {
            if ends_at.is_some_and(|at| Instant::now() >= at) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let received = self.receive_some(stream, wait)?;
            if received == 0 {
                self.closed = true;
                break;
            }
            let drained = received < self.incoming.len();
            self.take(stream, received, plain)?;
            if *plain.filled > before {
                return Ok(drained);
            }
        }
        Ok(true)
    }

    fn receive_some(&mut self, stream: &Stream, wait: bool) -> io::Result<usize> {
        if self.incoming.is_empty() {
            self.incoming = vec![0; RECEIVE_BYTES];
        }
        if wait { stream.recv(&mut self.incoming) } else { stream.recv_ready(&mut self.incoming) }
    }

    /// Decrypts the first `received` bytes of `incoming`.
    fn take(&mut self, stream: &Stream, received: usize, plain: &mut Plain<'_>) -> io::Result<()> {
        let incoming = std::mem::take(&mut self.incoming);
        let result = self.decrypt(stream, &incoming[..received], plain);
        self.incoming = incoming;
        result
    }

    fn decrypt(&mut self, stream: &Stream, mut records: &[u8], plain: &mut Plain<'_>) -> io::Result<()> {
        while !records.is_empty() && !self.closed {
            if self.tls.read_tls(&mut records)? == 0 {
                break;
            }
            let state = match self.tls.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    // The client is told why, if it still listens; the connection is over either way.
                    let _ = self.send_records(stream);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, error));
                }
            };
            io::Read::read_exact(&mut self.tls.reader(), plain.add(state.plaintext_bytes_to_read()))?;
            self.closed = state.peer_has_closed();
        }
        // Answers of the handshake, and to requests for new keys.
        self.send_records(stream)
    }

    /// Sends everything, or fails as [`Stream::send`] does.
    pub(crate) fn send(&mut self, stream: &Stream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            // As much as the library keeps at a time.
            let taken = io::Write::write(&mut self.tls.writer(), bytes)?;
            bytes = &bytes[taken..];
            self.send_records(stream)?;
        }
        Ok(())
    }

    /// Says that nothing more comes, if the socket takes it at once.
    pub(crate) fn close(&mut self, stream: &Stream) {
        self.tls.send_close_notify();
        self.outgoing.clear();
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.outgoing).expect("a vector takes everything");
        }
        stream.send_now(&self.outgoing);
    }

    /// Gives the memory back while the connection is parked.
    pub(crate) fn release(&mut self) {
        (self.incoming, self.outgoing) = (Vec::new(), Vec::new());
    }

    fn send_records(&mut self, stream: &Stream) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.outgoing)?;
        }
        if self.outgoing.is_empty() {
            return Ok(());
        }
        let result = stream.send(&self.outgoing);
        self.outgoing.clear();
        result
    }
}

fn info_of(tls: &ServerConnection) -> TlsInfo {
    let names = |der: &[u8]| {
        let Certificate { subject, issuer, .. } = Certificate::read(der)?;
        Some(ClientNames { subject, issuer })
    };
    TlsInfo {
        version: tls.protocol_version().map_or("", cipher::version_name),
        cipher: tls.negotiated_cipher_suite().map_or("", |suite| cipher::name_of(suite.suite())),
        is_resumed: tls.handshake_kind() == Some(HandshakeKind::Resumed),
        server_name: tls.server_name().unwrap_or_default().to_string(),
        client: tls.peer_certificates().and_then(|chain| names(chain.first()?)),
    }
}
