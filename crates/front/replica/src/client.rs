//! A connection to a source: packets, login, queries, and the stream of events.

use crate::auth;
use crate::config::SourceConfig;
use protocol::Capabilities;
use protocol::rsa::encrypt_for;
use protocol::tls::connector::{TlsStream, Trust, connect};
use protocol::wire::{Malformed, Reader, put_lenenc_bytes};
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;
use types::codes::*;
use types::{SqlError, err};

const PACKET_MAX: usize = 0xFF_FFFF;
/// What one event may come to.
const EVENT_MAX: usize = 1 << 30;
const READ_BYTES: usize = 64 << 10;
/// How long nobody may answer at an address: an order to stop waits for that.
const DIAL_TIME: Duration = Duration::from_secs(10);
/// The collation that the client asks for: utf8mb4_general_ci, which old servers know too.
const COLLATION: u8 = 45;

enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
    /// While TLS is put in.
    Gone,
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(stream) => stream.read(buffer),
            Transport::Tls(stream) => stream.read(buffer),
            Transport::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(stream) => stream.write(bytes),
            Transport::Tls(stream) => stream.write(bytes),
            Transport::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(stream) => stream.flush(),
            Transport::Tls(stream) => stream.flush(),
            Transport::Gone => Ok(()),
        }
    }
}

/// One connection, logged in.
pub struct Connection {
    transport: BufReader<Transport>,
    sequence: u8,
    pub server_version: String,
}

fn lost(e: &io::Error) -> SqlError {
    SqlError::new(CR_SERVER_LOST, format!("Lost connection to MySQL server during query ({e})"))
}

fn malformed(_: Malformed) -> SqlError {
    err!(CR_MALFORMED_PACKET)
}

/// The error in an ERR packet.
fn server_error(packet: &[u8]) -> SqlError {
    let read = || -> Result<SqlError, Malformed> {
        let mut reader = Reader::new(packet);
        reader.u8()?;
        let code = reader.u16()?;
        let mut text = reader.rest();
        if text.first() == Some(&b'#') {
            text = text.get(6..).unwrap_or_default();
        }
        Ok(SqlError::new(code, String::from_utf8_lossy(text).into_owned()))
    };
    read().unwrap_or_else(malformed)
}

/// A row of a text result.
pub type Row = Vec<Option<String>>;

/// Ends a connection from another thread: its next read fails.
pub struct Cutter(TcpStream);

impl Cutter {
    pub fn cut(&self) {
        // Whoever is cut off already is.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

impl Connection {
    /// Connects and logs in. `told`: is given what ends the connection as soon as there is one. Errors: of the server, and 2003, 2013,
    /// 2026, 2027, 2061.
    pub fn open(config: &SourceConfig, timeout: Duration, told: &dyn Fn(Cutter)) -> Result<Connection, SqlError> {
        let stream = dial(config, timeout)?;
        if let Ok(other) = stream.try_clone() {
            told(Cutter(other));
        }
        let set = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(timeout)));
        set.and_then(|()| stream.set_write_timeout(Some(timeout))).map_err(|e| lost(&e))?;
        let mut connection = Connection {
            transport: BufReader::with_capacity(READ_BYTES, Transport::Plain(stream)),
            sequence: 0,
            server_version: String::new(),
        };
        connection.login(config)?;
        Ok(connection)
    }

    /// Puts the next packet into `packet`, put together where it came in parts.
    pub fn read(&mut self, packet: &mut Vec<u8>) -> Result<(), SqlError> {
        packet.clear();
        loop {
            let mut head = [0; 4];
            self.transport.read_exact(&mut head).map_err(|e| lost(&e))?;
            let len = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            self.sequence = head[3].wrapping_add(1);
            let at = packet.len();
            if at + len > EVENT_MAX {
                return Err(malformed(Malformed));
            }
            packet.resize(at + len, 0);
            self.transport.read_exact(&mut packet[at..]).map_err(|e| lost(&e))?;
            if len < PACKET_MAX {
                return Ok(());
            }
        }
    }

    fn send(&mut self, payload: &[u8]) -> Result<(), SqlError> {
        let mut bytes = Vec::with_capacity(payload.len() + 4);
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
        bytes.push(self.sequence);
        bytes.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        debug_assert!(payload.len() < PACKET_MAX, "a client's packets are short");
        let transport = self.transport.get_mut();
        transport.write_all(&bytes).and_then(|()| transport.flush()).map_err(|e| lost(&e))
    }

    /// Sends a command.
    pub fn command(&mut self, code: u8, body: &[u8]) -> Result<(), SqlError> {
        self.sequence = 0;
        let mut payload = vec![code];
        payload.extend_from_slice(body);
        self.send(&payload)
    }

    /// Reads an OK. Errors: the server's.
    pub fn ok(&mut self) -> Result<(), SqlError> {
        let mut packet = Vec::new();
        self.read(&mut packet)?;
        match packet.first() {
            Some(0) => Ok(()),
            Some(0xFF) => Err(server_error(&packet)),
            _ => Err(malformed(Malformed)),
        }
    }

    /// Runs a statement; its rows, if it has some. Errors: the server's.
    pub fn query(&mut self, text: &str) -> Result<Vec<Row>, SqlError> {
        self.command(0x03, text.as_bytes())?;
        let mut packet = Vec::new();
        self.read(&mut packet)?;
        let columns = match packet.first() {
            Some(0) => return Ok(Vec::new()),
            Some(0xFF) => return Err(server_error(&packet)),
            _ => Reader::new(&packet).lenenc().map_err(malformed)? as usize,
        };
        // The columns, and the EOF behind them.
        for _ in 0..=columns {
            self.read(&mut packet)?;
        }
        let mut rows = Vec::new();
        loop {
            self.read(&mut packet)?;
            match packet.first() {
                Some(0xFE) if packet.len() < 9 => return Ok(rows),
                Some(0xFF) => return Err(server_error(&packet)),
                _ => rows.push(row(&packet, columns).map_err(malformed)?),
            }
        }
    }

    /// The one value of a statement; `None`: NULL, or no row.
    pub fn value(&mut self, text: &str) -> Result<Option<String>, SqlError> {
        let rows = self.query(text)?;
        Ok(rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// The next event of a dump goes into `packet`, behind one byte. False: the dump is over. Errors: the server's.
    pub fn event(&mut self, packet: &mut Vec<u8>) -> Result<bool, SqlError> {
        self.read(packet)?;
        match packet.first() {
            Some(0) => Ok(true),
            Some(0xFF) => Err(server_error(packet)),
            Some(0xFE) if packet.len() < 9 => Ok(false),
            _ => Err(malformed(Malformed)),
        }
    }

    /// Tells the source of a dump that what it has asked about has come.
    pub fn answer(&mut self, packet: &[u8]) -> Result<(), SqlError> {
        self.sequence = 0;
        self.send(packet)
    }

    /// Has more been read than was asked for?
    pub fn has_more(&self) -> bool {
        !self.transport.buffer().is_empty()
    }

    fn login(&mut self, config: &SourceConfig) -> Result<(), SqlError> {
        let mut packet = Vec::new();
        self.read(&mut packet)?;
        if packet.first() == Some(&0xFF) {
            return Err(server_error(&packet));
        }
        let greeting = Greeting::parse(&packet).map_err(malformed)?;
        self.server_version.clone_from(&greeting.version);
        let mut flags = Capabilities::LONG_PASSWORD
            | Capabilities::LONG_FLAG
            | Capabilities::PROTOCOL_41
            | Capabilities::TRANSACTIONS
            | Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH;
        if config.ssl {
            if !greeting.capabilities.has(Capabilities::SSL) {
                return Err(err!(CR_SSL_CONNECTION_ERROR, "SSL is required but the server doesn't support it"));
            }
            flags |= Capabilities::SSL;
        }
        let mut head = flags.0.to_le_bytes().to_vec();
        head.extend_from_slice(&(1u32 << 30).to_le_bytes());
        head.push(COLLATION);
        head.extend_from_slice(&[0; 23]);
        if config.ssl {
            self.send(&head)?;
            self.secure(config)?;
        }
        let Greeting { plugin, scramble, .. } = greeting;
        let plugin = if plugin.is_empty() { NATIVE.to_string() } else { plugin };
        let proof = proof(&plugin, config.password.as_bytes(), &scramble)?;
        head.extend_from_slice(config.user.as_bytes());
        head.push(0);
        head.push(proof.len() as u8);
        head.extend_from_slice(&proof);
        head.extend_from_slice(plugin.as_bytes());
        head.push(0);
        self.send(&head)?;
        self.prove(config, plugin, scramble)
    }

    /// Answers what the server asks until it is content.
    fn prove(&mut self, config: &SourceConfig, plugin: String, scramble: Vec<u8>) -> Result<(), SqlError> {
        let (mut plugin, mut scramble) = (plugin, scramble);
        let mut packet = Vec::new();
        // A server asks for another plugin, for the whole password, or for the end of waiting: a few rounds.
        for _ in 0..8 {
            self.read(&mut packet)?;
            match packet.first() {
                Some(0) => return Ok(()),
                Some(0xFF) => return Err(server_error(&packet)),
                Some(0xFE) => {
                    let mut reader = Reader::new(&packet[1..]);
                    plugin = String::from_utf8_lossy(reader.null_terminated().map_err(malformed)?).into_owned();
                    scramble = reader.rest().to_vec();
                    scramble.truncate(SCRAMBLE_BYTES);
                    let proof = proof(&plugin, config.password.as_bytes(), &scramble)?;
                    self.send(&proof)?;
                }
                // The server knows the password.
                Some(1) if packet.get(1) == Some(&3) => {}
                Some(1) if packet.get(1) == Some(&4) && plugin == CACHING_SHA2 => {
                    self.send_password(config, &scramble)?;
                }
                _ => return Err(malformed(Malformed)),
            }
        }
        Err(malformed(Malformed))
    }

    /// The whole password, which nobody may overhear. Error 2061.
    fn send_password(&mut self, config: &SourceConfig, scramble: &[u8]) -> Result<(), SqlError> {
        let password = config.password.as_bytes();
        if matches!(self.transport.get_ref(), Transport::Tls(_)) {
            return self.send(&[password, &[0]].concat());
        }
        let failed = |what: &str| err!(CR_AUTH_PLUGIN_ERR, CACHING_SHA2, what);
        let key = if !config.public_key_path.is_empty() {
            std::fs::read(&config.public_key_path).map_err(|e| failed(&e.to_string()))?
        } else if config.get_public_key {
            self.send(&[2])?;
            let mut packet = Vec::new();
            self.read(&mut packet)?;
            match packet.split_first() {
                Some((1, key)) => key.to_vec(),
                Some((0xFF, _)) => return Err(server_error(&packet)),
                _ => return Err(malformed(Malformed)),
            }
        } else {
            return Err(failed("Authentication requires secure connection."));
        };
        let sealed = encrypt_for(&key, &auth::hidden(password, scramble)).map_err(|e| failed(&e))?;
        self.send(&sealed)
    }

    fn secure(&mut self, config: &SourceConfig) -> Result<(), SqlError> {
        let Transport::Plain(stream) = std::mem::replace(self.transport.get_mut(), Transport::Gone) else {
            return Err(malformed(Malformed));
        };
        let trust = match config.ssl_ca.as_str() {
            "" => Trust::Anybody,
            file => Trust::Authority { file: Path::new(file), name: config.ssl_verify_server_cert },
        };
        let said = |e| err!(CR_SSL_CONNECTION_ERROR, e);
        let secured = connect(stream, &config.host, trust).map_err(said)?;
        *self.transport.get_mut() = Transport::Tls(Box::new(secured));
        Ok(())
    }
}

fn dial(config: &SourceConfig, timeout: Duration) -> Result<TcpStream, SqlError> {
    let place = format!("{}:{}", config.host, config.port);
    let failed = |e: &io::Error| {
        let number = e.raw_os_error().unwrap_or_default();
        SqlError::new(CR_CONN_HOST_ERROR, format!("Can't connect to MySQL server on '{place}' ({number})"))
    };
    let addresses = (config.host.as_str(), config.port).to_socket_addrs();
    let addresses = addresses.map_err(|_| err!(CR_UNKNOWN_HOST, config.host, -2))?;
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(&address, timeout.min(DIAL_TIME)) {
            Ok(stream) => return Ok(stream),
            Err(e) => last = e,
        }
    }
    Err(failed(&last))
}

fn row(packet: &[u8], columns: usize) -> Result<Row, Malformed> {
    let mut reader = Reader::new(packet);
    let mut row = Vec::with_capacity(columns);
    let mut rest = packet;
    for _ in 0..columns {
        if rest.first() == Some(&0xFB) {
            reader.u8()?;
            row.push(None);
        } else {
            row.push(Some(String::from_utf8_lossy(reader.lenenc_bytes()?).into_owned()));
        }
        rest = &packet[packet.len() - reader.len()..];
    }
    Ok(row)
}

const NATIVE: &str = "mysql_native_password";
const CACHING_SHA2: &str = "caching_sha2_password";
const SCRAMBLE_BYTES: usize = 20;

/// Error 2059 for a plugin that is not known.
fn proof(plugin: &str, password: &[u8], scramble: &[u8]) -> Result<Vec<u8>, SqlError> {
    match plugin {
        NATIVE => Ok(auth::native(password, scramble)),
        CACHING_SHA2 => Ok(auth::sha2(password, scramble)),
        other => Err(SqlError::new(2059, format!("Authentication plugin '{other}' cannot be loaded"))),
    }
}

/// What a server says first.
struct Greeting {
    version: String,
    capabilities: Capabilities,
    plugin: String,
    scramble: Vec<u8>,
}

impl Greeting {
    fn parse(packet: &[u8]) -> Result<Greeting, Malformed> {
        let mut reader = Reader::new(packet);
        if reader.u8()? != 10 {
            return Err(Malformed);
        }
        let version = String::from_utf8_lossy(reader.null_terminated()?).into_owned();
        reader.u32()?;
        let mut scramble = reader.bytes(8)?.to_vec();
        reader.u8()?;
        let low = reader.u16()?;
        reader.u8()?;
        reader.u16()?;
        let high = reader.u16()?;
        let capabilities = Capabilities(u32::from(high) << 16 | u32::from(low));
        let len = usize::from(reader.u8()?);
        reader.bytes(10)?;
        scramble.extend_from_slice(reader.bytes(len.saturating_sub(8).max(13).min(reader.len()))?);
        scramble.truncate(SCRAMBLE_BYTES);
        let plugin = String::from_utf8_lossy(reader.null_terminated_or_rest()).into_owned();
        Ok(Greeting { version, capabilities, plugin, scramble })
    }
}

/// The body of COM_REGISTER_REPLICA.
pub fn registration(server_id: u32, host: &str, port: u16) -> Vec<u8> {
    let mut body = server_id.to_le_bytes().to_vec();
    let host = &host.as_bytes()[..host.len().min(60)];
    put_lenenc_bytes(&mut body, host);
    // User and password are told to nobody.
    body.extend_from_slice(&[0, 0]);
    body.extend_from_slice(&port.to_le_bytes());
    body.extend_from_slice(&[0; 8]);
    body
}
