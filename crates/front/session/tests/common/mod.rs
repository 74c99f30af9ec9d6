//! A server in a scratch directory, and a client that speaks just enough of the protocol to look at what comes back.
//! Each connection is a socket pair whose other end a thread serves, as a worker of `listen` does.

#![allow(dead_code, reason = "each test binary uses its part")]

use engine::{Engine, EngineOptions};
use protocol::{ClosedBy, Connection, Next, Peer, ReadOutcome, Service, Stream};
use session::variables::Globals;
use session::{Server, Sessions, Settings};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

pub struct TestServer {
    pub server: Arc<Server>,
    pub engine: Arc<Engine>,
    pub directory: PathBuf,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if self.directory.parent().is_some() {
            // Left behind in the temporary directory if need be.
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: a number of its own for each test, nothing else.
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("session-test-{}-{n}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

impl TestServer {
    pub fn new() -> TestServer {
        TestServer::open(scratch())
    }

    pub fn open(directory: PathBuf) -> TestServer {
        let options = EngineOptions {
            datadir: directory.clone(),
            buffer_pool_bytes: 16 << 20,
            log_capacity_bytes: 16 << 20,
            log_buffer_bytes: 1 << 20,
            address_space_bytes: 1 << 30,
            doublewrite: false,
            direct_io: false,
            flush_log_at_commit: 1,
            read_io_threads: 2,
            write_io_threads: 2,
            purge_threads: 2,
            events_from: None,
        };
        let engine = Engine::open(options, &mut |_| ()).unwrap();
        let settings = Settings {
            error_log: Arc::new(session::error_log::ErrorLog::to_stderr()),
            globals: Globals::new(),
            datadir: directory.clone(),
            stop: Box::new(|| ()),
            persisted: Default::default(),
            write_persisted: Box::new(|_| Ok(())),
            adopt_copy: Box::new(|_| Ok(())),
            cloned: None,
            goes_on: false,
            native_password: false,
            client_charset: true,
            filter_options: session::FilterOptions::default(),
            tls: Default::default(),
            binlog: None,
        };
        let server = Server::open(Arc::clone(&engine), settings, String::new).unwrap();
        TestServer { server, engine, directory }
    }

    /// Stops in order. All clients are gone. Gives the directory.
    pub fn close(mut self) -> PathBuf {
        self.server.close().unwrap();
        self.engine.close().unwrap();
        std::mem::take(&mut self.directory)
    }

    /// A second directory with the files as they are now: what a crash would leave. No statement runs meanwhile, and no
    /// page is written and no checkpoint taken while the files are copied: else it is done again.
    pub fn crash_image(&self) -> PathBuf {
        let to = scratch();
        for _ in 0..1000 {
            let before = self.engine.status().counters;
            copy(&self.directory, &to);
            if self.engine.status().counters == before {
                return to;
            }
            std::fs::remove_dir_all(&to).unwrap();
            std::fs::create_dir_all(&to).unwrap();
        }
        panic!("the server does not come to rest");
    }

    pub fn root(&self) -> Client {
        self.login("root", "", "").unwrap()
    }

    pub fn login(&self, user: &str, password: &str, database: &str) -> Result<Client, (u16, String)> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // Relaxed: a number of its own for each connection, nothing else.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let sessions = Sessions(Arc::clone(&self.server));
        let worker = std::thread::spawn(move || work(&sessions, id, theirs));
        let mut client = Client { stream: Some(ours), seq: 0, id, warnings: 0, status: 0, worker: Some(worker) };
        client.handshake(user, password, database)?;
        Ok(client)
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            // A segment of the log that is being made may get its name while it is looked for.
            match std::fs::copy(entry.path(), target) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
                copied => _ = copied.unwrap(),
            }
        }
    }
}

/// A connection's life on a thread of its own.
fn work(sessions: &Sessions, id: u32, stream: UnixStream) {
    let mut conn = Connection::new(Stream::Unix(stream), Peer::Unix).unwrap();
    let mut session = sessions.open(id, Peer::Unix, conn.hang_up());
    sessions.resume(&mut session);
    sessions.enter(&mut session);
    let mut next = sessions.greet(&mut session, &mut conn);
    let by = loop {
        let flushed = conn.output().flush();
        if next == Next::Close {
            break ClosedBy::Service;
        }
        if flushed.is_err() || conn.read_packet(None) != ReadOutcome::Packet {
            break ClosedBy::Client;
        }
        next = sessions.serve(&mut session, &mut conn);
        if next == Next::Settle {
            next = sessions.settle(&mut session, &mut conn);
        }
    };
    sessions.leave(&mut session);
    sessions.pause(&mut session);
    conn.stream().shutdown();
    drop(conn);
    sessions.close(session, by);
}

pub type Row = Vec<Option<String>>;

/// What a statement came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Ok { affected: u64, insert_id: u64 },
    Rows(Vec<Row>),
    Error(u16, String),
}

pub struct Client {
    stream: Option<UnixStream>,
    seq: u8,
    pub id: u32,
    pub warnings: u16,
    pub status: u16,
    worker: Option<JoinHandle<()>>,
}

impl Drop for Client {
    fn drop(&mut self) {
        // The session has ended when this returns: what it held is free.
        self.stream = None;
        if let Some(worker) = self.worker.take() {
            worker.join().expect("the session did not panic");
        }
    }
}

/// PROTOCOL_41, CONNECT_WITH_DB, TRANSACTIONS, SECURE_CONNECTION, MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS,
/// PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x200 | 0x8 | 0x2000 | 0x8000 | 0x1_0000 | 0x2_0000 | 0x4_0000 | 0x8_0000;

const WRONG_REPLY: [u8; 32] = [7; 32];

pub const MORE_RESULTS: u16 = 8;
pub const CURSOR_EXISTS: u16 = 0x40;
pub const LAST_ROW_SENT: u16 = 0x80;

impl Client {
    fn handshake(&mut self, user: &str, password: &str, database: &str) -> Result<(), (u16, String)> {
        let greeting = self.read();
        assert_eq!(greeting[0], 10, "protocol version");
        let mut login = CAPABILITIES.to_le_bytes().to_vec();
        login.extend_from_slice(&(1u32 << 24).to_le_bytes());
        login.push(255);
        login.extend_from_slice(&[0; 23]);
        login.extend_from_slice(user.as_bytes());
        login.push(0);
        self.put_credentials(&mut login, password, database);
        login.extend_from_slice(b"caching_sha2_password\0");
        self.write(&login);
        self.finish_login(password)
    }

    /// A wrong fast reply makes the server ask for the password itself, which may travel over a Unix socket.
    fn put_credentials(&self, login: &mut Vec<u8>, password: &str, database: &str) {
        match password {
            "" => login.push(0),
            _ => {
                login.push(WRONG_REPLY.len() as u8);
                login.extend_from_slice(&WRONG_REPLY);
            }
        }
        login.extend_from_slice(database.as_bytes());
        login.push(0);
    }

    fn finish_login(&mut self, password: &str) -> Result<(), (u16, String)> {
        loop {
            let packet = self.read();
            match packet[..] {
                [0, ..] => return Ok(()),
                [0xff, ..] => return Err(error(&packet)),
                [1, 4] => self.write(format!("{password}\0").as_bytes()),
                [1, 3] => {}
                // Asked with a new scramble.
                [0xfe, ..] if password.is_empty() => self.write(&[0]),
                [0xfe, ..] => self.write(&WRONG_REPLY),
                _ => panic!("unexpected in a login: {packet:?}"),
            }
        }
    }

    pub fn change_user(&mut self, user: &str, password: &str, database: &str) -> Result<(), (u16, String)> {
        let mut request = vec![0x11];
        request.extend_from_slice(user.as_bytes());
        request.push(0);
        self.put_credentials(&mut request, password, database);
        request.extend_from_slice(&255u16.to_le_bytes());
        request.extend_from_slice(b"caching_sha2_password\0");
        self.seq = 0;
        self.write(&request);
        self.finish_login(password)
    }

    fn stream(&self) -> &UnixStream {
        self.stream.as_ref().unwrap()
    }

    pub fn write(&mut self, payload: &[u8]) {
        let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
        packet[3] = self.seq;
        self.seq = self.seq.wrapping_add(1);
        packet.extend_from_slice(payload);
        self.stream().write_all(&packet).unwrap();
    }

    /// The next packet's payload; empty when the server has hung up.
    pub fn read(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        if self.stream().read_exact(&mut header).is_err() {
            return Vec::new();
        }
        assert_eq!(header[3], self.seq, "packets are numbered");
        self.seq = header[3].wrapping_add(1);
        let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
        self.stream().read_exact(&mut payload).unwrap();
        payload
    }

    /// Sends a command.
    pub fn send(&mut self, code: u8, body: &[u8]) {
        self.seq = 0;
        self.write(&[&[code], body].concat());
    }

    /// Sends a command and reads one answer.
    pub fn command(&mut self, code: u8, body: &[u8]) -> Answer {
        self.send(code, body);
        self.answer(false)
    }

    pub fn query(&mut self, text: &str) -> Answer {
        self.command(3, text.as_bytes())
    }

    /// Rows of a query that must succeed.
    pub fn rows(&mut self, text: &str) -> Vec<Row> {
        match self.query(text) {
            Answer::Rows(rows) => rows,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The one value of a query.
    pub fn value(&mut self, text: &str) -> String {
        let rows = self.rows(text);
        assert_eq!((rows.len(), rows.first().map_or(0, Vec::len)), (1, 1), "{text}: {rows:?}");
        rows[0][0].clone().unwrap_or_else(|| "NULL".to_string())
    }

    /// Affected rows of a statement that must succeed.
    pub fn run(&mut self, text: &str) -> u64 {
        match self.query(text) {
            Answer::Ok { affected, .. } => affected,
            other => panic!("{text}: {other:?}"),
        }
    }

    pub fn error(&mut self, text: &str) -> u16 {
        match self.query(text) {
            Answer::Error(code, _) => code,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// One answer: OK, ERR or a result set.
    pub fn answer(&mut self, binary: bool) -> Answer {
        let first = self.read();
        match first[..] {
            [] => Answer::Error(2013, "the server has hung up".to_string()),
            [0xff, ..] => {
                let (code, message) = error(&first);
                Answer::Error(code, message)
            }
            [0, ..] => {
                let mut at = 1;
                let affected = lenenc(&first, &mut at);
                let insert_id = lenenc(&first, &mut at);
                self.status = u16::from_le_bytes([first[at], first[at + 1]]);
                self.warnings = u16::from_le_bytes([first[at + 2], first[at + 3]]);
                Answer::Ok { affected, insert_id }
            }
            _ => {
                let columns = lenenc(&first, &mut 0) as usize;
                for _ in 0..columns {
                    assert_eq!(self.read()[..4], *b"\x03def");
                }
                assert!(self.is_eof_packet(), "definitions end with EOF");
                if self.status & CURSOR_EXISTS != 0 {
                    return Answer::Rows(Vec::new());
                }
                match self.read_rows(columns, binary) {
                    Ok(rows) => Answer::Rows(rows),
                    Err((code, message)) => Answer::Error(code, message),
                }
            }
        }
    }

    fn is_eof_packet(&mut self) -> bool {
        let packet = self.read();
        self.note_eof(&packet)
    }

    fn note_eof(&mut self, packet: &[u8]) -> bool {
        let [0xfe, a, b, c, d] = *packet else { return false };
        self.warnings = u16::from_le_bytes([a, b]);
        self.status = u16::from_le_bytes([c, d]);
        true
    }

    /// Rows up to their EOF. Of binary rows only strings (lenenc) are understood: the tests ask for nothing else.
    pub fn read_rows(&mut self, columns: usize, binary: bool) -> Result<Vec<Row>, (u16, String)> {
        let mut rows = Vec::new();
        loop {
            let packet = self.read();
            if packet.first() == Some(&0xff) {
                return Err(error(&packet));
            }
            if self.note_eof(&packet) {
                return Ok(rows);
            }
            let bitmap = (columns + 9) / 8;
            let mut at = if binary { 1 + bitmap } else { 0 };
            let mut row = Vec::new();
            for i in 0..columns {
                let null = match binary {
                    true => packet[1 + (i + 2) / 8] >> ((i + 2) % 8) & 1 == 1,
                    false => packet[at] == 0xfb,
                };
                if null {
                    at += usize::from(!binary);
                    row.push(None);
                    continue;
                }
                let len = lenenc(&packet, &mut at) as usize;
                row.push(Some(String::from_utf8_lossy(&packet[at..at + len]).into_owned()));
                at += len;
            }
            rows.push(row);
        }
    }

    /// COM_STMT_PREPARE: the id. Error codes as in [`Client::query`].
    pub fn prepare(&mut self, text: &str) -> Result<u32, u16> {
        self.send(0x16, text.as_bytes());
        let head = self.read();
        if head[0] == 0xff {
            return Err(error(&head).0);
        }
        let count = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        for part in [count(7), count(5)] {
            for _ in 0..part {
                self.read();
            }
            if part > 0 {
                assert!(self.is_eof_packet());
            }
        }
        Ok(u32::from_le_bytes([head[1], head[2], head[3], head[4]]))
    }

    /// COM_STMT_EXECUTE with parameters as strings; `None` is left out, as after COM_STMT_SEND_LONG_DATA.
    pub fn execute(&mut self, id: u32, cursor: u8, parameters: &[Option<&str>]) -> Answer {
        let mut body = id.to_le_bytes().to_vec();
        body.push(cursor);
        body.extend_from_slice(&1u32.to_le_bytes());
        if !parameters.is_empty() {
            body.resize(body.len() + parameters.len().div_ceil(8), 0);
            body.push(1);
            for _ in parameters {
                body.extend_from_slice(&[0xfd, 0]);
            }
            for text in parameters.iter().flatten() {
                body.push(u8::try_from(text.len()).unwrap());
                body.extend_from_slice(text.as_bytes());
            }
        }
        self.send(0x17, &body);
        self.answer(true)
    }

    /// COM_STMT_FETCH.
    pub fn fetch(&mut self, id: u32, count: u32, columns: usize) -> Result<Vec<Row>, u16> {
        self.send(0x1c, &[id.to_le_bytes(), count.to_le_bytes()].concat());
        self.read_rows(columns, true).map_err(|e| e.0)
    }
}

fn error(packet: &[u8]) -> (u16, String) {
    (u16::from_le_bytes([packet[1], packet[2]]), String::from_utf8_lossy(&packet[9..]).into_owned())
}

fn lenenc(bytes: &[u8], at: &mut usize) -> u64 {
    let first = bytes[*at];
    let width = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        n => {
            *at += 1;
            return n.into();
        }
    };
    let mut word = [0; 8];
    word[..width].copy_from_slice(&bytes[*at + 1..*at + 1 + width]);
    *at += 1 + width;
    u64::from_le_bytes(word)
}
