//! The physical limit: a server that answers sysbench's statements with constant bytes.
//!
//! A blocking thread for each connection, one `read` and one `write` a statement, no parsing beyond the first letter, no
//! data. What it reaches on a machine is what sysbench, the kernel's sockets and the scheduler allow; a real server's
//! share of it is what that server's own work leaves. It speaks as much of MySQL's protocol as sysbench needs: handshake
//! with any password, text and prepared statements; every SELECT gets the same row of one CHAR(120), everything else OK.
//!
//! ```text
//!   packet   length (3, little-endian) | sequence (1) | payload
//!   reply    column count | column definition | [EOF] | row | EOF or OK
//! ```
//!
//! `canned --port N` listens on 127.0.0.1; `--socket PATH` on a Unix socket.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

const CLIENT_DEPRECATE_EOF: u32 = 1 << 24;
/// Long password, found rows, long flag, connect with db, protocol 4.1, transactions, secure connection, plugin auth.
const CAPABILITIES: u32 = 1 | 2 | 4 | 8 | 0x200 | 0x2000 | 0x8000 | 0x8_0000 | CLIENT_DEPRECATE_EOF;
const AUTOCOMMIT: u16 = 2;
const CHARSET_UTF8MB4: u8 = 255;
/// What sysbench's own `c` column looks like.
const CELL: &[u8; 119] = b"68487932199-96439406143-93774651418-41631865787-96406072701-\
                           20604855487-25459966574-28203206787-41238978918-19503783441";
const VERSION: &str = "8.4.0-canned";

/// A thread needs a read buffer and two frames.
const STACK_BYTES: usize = 128 * 1024;
const READ_BYTES: usize = 16 * 1024;

/// The replies, made once. The sequence numbers start at 1, as all answers to a one-packet command do.
struct Replies {
    ok: Vec<u8>,
    text_row: [Vec<u8>; 2],
    binary_row: [Vec<u8>; 2],
    version: [Vec<u8>; 2],
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _nowhere_to_say = writeln!(io::stderr(), "canned: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let usage = || "usage: canned --port N | --socket PATH".to_owned();
    let (name, value) = args.next().zip(args.next()).ok_or_else(usage)?;
    let replies = Arc::new(Replies::new());
    match name.as_str() {
        "--port" => {
            let port: u16 = value.parse().map_err(|_| usage())?;
            let listener = TcpListener::bind(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))?;
            announce(&format!("127.0.0.1:{port}"));
            for stream in listener.incoming() {
                let stream: TcpStream = stream.map_err(|error| error.to_string())?;
                stream.set_nodelay(true).map_err(|error| error.to_string())?;
                serve_on_thread(stream, &replies)?;
            }
        }
        "--socket" => {
            let listener = UnixListener::bind(&value).map_err(|error| format!("{value}: {error}"))?;
            announce(&value);
            for stream in listener.incoming() {
                let stream: UnixStream = stream.map_err(|error| error.to_string())?;
                serve_on_thread(stream, &replies)?;
            }
        }
        _ => return Err(usage()),
    }
    Ok(())
}

fn announce(place: &str) {
    let _nobody_reads = writeln!(io::stdout(), "canned: ready on {place}");
}

fn serve_on_thread(stream: impl Read + Write + Send + 'static, replies: &Arc<Replies>) -> Result<(), String> {
    let replies = Arc::clone(replies);
    let serve = move || {
        // An error is a client that went away; there is nobody to tell.
        let _gone = serve(stream, &replies);
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(serve).map(drop).map_err(|error| error.to_string())
}

fn serve(mut stream: impl Read + Write, replies: &Replies) -> io::Result<()> {
    let mut input = Input { buffer: vec![0; READ_BYTES], start: 0, end: 0 };
    stream.write_all(&greeting())?;
    let login = input.packet(&mut stream)?;
    let flags = login.get(..4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let modern = usize::from(flags & CLIENT_DEPRECATE_EOF != 0);
    stream.write_all(&packet(2, &ok_payload(0)))?;
    // For each prepared statement: does it return rows? Ids count from 1.
    let mut returns_rows: Vec<bool> = Vec::new();
    loop {
        let command = match input.packet(&mut stream) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        };
        match command.first() {
            Some(0x01) => return Ok(()),
            Some(0x03) if is_select(&command[1..]) => {
                let asks_version = command.windows(7).any(|word| word.eq_ignore_ascii_case(b"version"));
                let reply = if asks_version { &replies.version } else { &replies.text_row };
                stream.write_all(&reply[modern])?;
            }
            Some(0x16) => {
                let (rows, text) = (is_select(&command[1..]), &command[1..]);
                let parameters = text.iter().filter(|&&byte| byte == b'?').count() as u16;
                returns_rows.push(rows);
                stream.write_all(&prepared(returns_rows.len() as u32, rows, parameters, modern == 1))?;
            }
            Some(0x17) => {
                let id = command.get(1..5).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                let rows = returns_rows.get((id as usize).wrapping_sub(1)).copied().unwrap_or(false);
                stream.write_all(if rows { &replies.binary_row[modern] } else { &replies.ok })?;
            }
            // Close and long data have no reply.
            Some(0x18 | 0x19) => {}
            _ => stream.write_all(&replies.ok)?,
        }
    }
}

fn is_select(text: &[u8]) -> bool {
    text.trim_ascii_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"select"))
}

/// Bytes received and not yet used.
struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// The payload of the next packet; `UnexpectedEof` when the client has gone.
    fn packet(&mut self, stream: &mut impl Read) -> io::Result<&[u8]> {
        self.fill(stream, 4)?;
        let head = &self.buffer[self.start..];
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        self.fill(stream, 4 + length)?;
        let payload = self.start + 4..self.start + 4 + length;
        self.start = payload.end;
        Ok(&self.buffer[payload])
    }

    /// At least `wanted` unused bytes.
    fn fill(&mut self, stream: &mut impl Read, wanted: usize) -> io::Result<()> {
        while self.end - self.start < wanted {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted, 0);
            }
            match stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.end += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Replies {
    fn new() -> Replies {
        let mut binary = vec![0, 0];
        binary.extend(text_cell(CELL));
        let both = |row: &[u8]| [result_set(row, false), result_set(row, true)];
        Replies {
            ok: packet(1, &ok_payload(0)),
            text_row: both(&text_cell(CELL)),
            binary_row: both(&binary),
            version: both(&text_cell(VERSION.as_bytes())),
        }
    }
}

/// Protocol 10 | version 0 | id (4) | salt (8) 0 | flags (2) | charset | status (2) | flags (2) | salt length | 10 zeros |
/// salt (12) 0 | plugin 0
fn greeting() -> Vec<u8> {
    let salt = b"abcdefghijklmnopqrst";
    let flags = CAPABILITIES.to_le_bytes();
    let mut payload = vec![10];
    payload.extend(VERSION.as_bytes());
    payload.push(0);
    payload.extend(1u32.to_le_bytes());
    payload.extend(&salt[..8]);
    payload.push(0);
    payload.extend(&flags[..2]);
    payload.push(CHARSET_UTF8MB4);
    payload.extend(AUTOCOMMIT.to_le_bytes());
    payload.extend(&flags[2..]);
    payload.push(salt.len() as u8 + 1);
    payload.extend([0; 10]);
    payload.extend(&salt[8..]);
    payload.push(0);
    payload.extend(b"mysql_native_password\0");
    packet(0, &payload)
}

/// `header` 0 as an answer, 0xFE as the end of rows when EOF is deprecated.
fn ok_payload(header: u8) -> Vec<u8> {
    let [low, high] = AUTOCOMMIT.to_le_bytes();
    vec![header, 0, 0, low, high, 0, 0]
}

fn eof_payload() -> Vec<u8> {
    let [low, high] = AUTOCOMMIT.to_le_bytes();
    vec![0xFE, 0, 0, low, high]
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
    let mut bytes = vec![a, b, c, sequence];
    bytes.extend(payload);
    bytes
}

/// One byte of length: cells here are shorter than 251 bytes.
fn text_cell(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![text.len() as u8];
    bytes.extend(text);
    bytes
}

/// Catalog, schema, table, original table, name, original name | 12 | charset (2) | length (4) | type | flags (2) | decimals | 0 0
fn column() -> Vec<u8> {
    let mut payload = Vec::new();
    for name in ["def", "sbtest", "sbtest1", "sbtest1", "c", "c"] {
        payload.extend(text_cell(name.as_bytes()));
    }
    payload.push(12);
    payload.extend(u16::from(CHARSET_UTF8MB4).to_le_bytes());
    payload.extend(480u32.to_le_bytes());
    payload.push(254);
    payload.extend(1u16.to_le_bytes());
    payload.extend([0, 0, 0]);
    payload
}

fn result_set(row: &[u8], modern: bool) -> Vec<u8> {
    let end = if modern { ok_payload(0xFE) } else { eof_payload() };
    let mut payloads = vec![vec![1], column()];
    if !modern {
        payloads.push(eof_payload());
    }
    payloads.extend([row.to_vec(), end]);
    payloads.iter().zip(1u8..).flat_map(|(payload, sequence)| packet(sequence, payload)).collect()
}

/// 0 | id (4) | columns (2) | parameters (2) | 0 | warnings (2), then the definitions of parameters and columns.
fn prepared(id: u32, rows: bool, parameters: u16, modern: bool) -> Vec<u8> {
    let mut head = vec![0];
    head.extend(id.to_le_bytes());
    head.extend(u16::from(rows).to_le_bytes());
    head.extend(parameters.to_le_bytes());
    head.extend([0, 0, 0]);
    let mut payloads = vec![head];
    for count in [parameters, u16::from(rows)] {
        payloads.extend((0..count).map(|_| column()));
        if count > 0 && !modern {
            payloads.push(eof_payload());
        }
    }
    payloads.iter().zip(1u8..).flat_map(|(payload, sequence)| packet(sequence, payload)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_split_anywhere_is_put_together() {
        let mut bytes = packet(0, b"\x03select c");
        bytes.extend(packet(0, &[7; 40_000]));
        for piece in [1, 3, 4, 5, 1000] {
            let mut stream = Pieces { bytes: &bytes, piece };
            let mut input = Input { buffer: vec![0; 16], start: 0, end: 0 };
            assert_eq!(input.packet(&mut stream).expect("first"), b"\x03select c");
            assert_eq!(input.packet(&mut stream).expect("second").len(), 40_000);
            assert_eq!(input.packet(&mut stream).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    }

    struct Pieces<'a> {
        bytes: &'a [u8],
        piece: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.piece.min(buffer.len()).min(self.bytes.len());
            buffer[..n].copy_from_slice(&self.bytes[..n]);
            self.bytes = &self.bytes[n..];
            Ok(n)
        }
    }

    #[test]
    fn sequence_numbers_count_up_in_a_result() {
        let mut rest = result_set(&text_cell(b"x"), true);
        let mut sequences = Vec::new();
        while !rest.is_empty() {
            sequences.push(rest[3]);
            rest.drain(..4 + rest[0] as usize);
        }
        assert_eq!(sequences, [1, 2, 3, 4]);
    }
}
