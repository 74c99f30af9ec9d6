//! A listener with an echo service, and its client.

use listen::{Config, Listener};
use protocol::{ClosedBy, Connection, HangUp, Next, OkReply, Peer, Service};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use sync::waits::Wait;
use sync::{Mutex, Rank};

/// Greets with one OK packet, answers each packet with an OK whose info is the packet; `q` quits, `w` waits to be interrupted,
/// `s` spins until `spin` is false, `l` waits until another answer is settled, `c...` is answered once it is settled, which takes a
/// moment each third time.
pub struct Echo {
    idle_limit: Duration,
    pub hang_ups: Mutex<HashMap<u32, HangUp>>,
    closed: Mutex<mpsc::Sender<(u32, ClosedBy)>>,
    interrupt: (Mutex<bool>, sync::Condvar),
    pub waiting: AtomicUsize,
    pub settles: AtomicUsize,
    pub spin: AtomicBool,
    pub reserved_refused: AtomicUsize,
}

pub struct EchoSession {
    id: u32,
    /// Its answer waits for `settle`.
    unsettled: bool,
    active: bool,
    on_thread: bool,
    midway: bool,
}

impl Service for Echo {
    type Session = EchoSession;

    fn open(&self, id: u32, _: Peer, hang_up: HangUp) -> EchoSession {
        self.hang_ups.lock().insert(id, hang_up);
        EchoSession { id, unsettled: false, active: false, on_thread: false, midway: false }
    }

    fn greet(&self, session: &mut EchoSession, conn: &mut Connection) -> Next {
        assert!(session.on_thread);
        if conn.is_reserved() {
            self.reserved_refused.fetch_add(1, Ordering::SeqCst);
            let _ = conn.output().error(&protocol::too_many_connections());
            return Next::Close;
        }
        let info = format!("hello {}", session.id);
        conn.output().ok(&OkReply { info: &info, ..OkReply::default() }).map_or(Next::Close, |()| Next::Continue)
    }

    fn serve(&self, session: &mut EchoSession, conn: &mut Connection) -> Next {
        assert!(session.on_thread);
        let (packet, out) = conn.split();
        if packet == b"q" {
            return Next::Close;
        }
        if packet == b"w" {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let mut interrupted = self.interrupt.0.lock();
            while !*interrupted {
                self.interrupt.1.wait(&mut interrupted, Wait::Background);
            }
            return Next::Close;
        }
        session.midway = packet == b"t" || (session.midway && packet != b"e");
        if packet == b"s" {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            while self.spin.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        }
        if packet == b"l" {
            // Waits for somebody else's answer, as for a row lock.
            let seen = self.settles.load(Ordering::SeqCst);
            let start = Instant::now();
            while self.settles.load(Ordering::SeqCst) == seen && start.elapsed() < PATIENCE / 4 {
                sync::Parker::new().park_timeout(Duration::from_micros(100), Wait::Background);
            }
            assert!(start.elapsed() < PATIENCE / 4, "nobody settles");
        }
        assert!(!session.unsettled);
        let info = String::from_utf8_lossy(packet).into_owned();
        if packet.starts_with(b"c") {
            session.unsettled = true;
            out.ok(&OkReply { info: &info, ..OkReply::default() }).unwrap();
            return Next::Settle;
        }
        out.ok(&OkReply { info: &info, ..OkReply::default() }).map_or(Next::Close, |()| Next::Continue)
    }

    fn settle(&self, session: &mut EchoSession, _: &mut Connection) -> Next {
        assert!(std::mem::take(&mut session.unsettled) && session.on_thread);
        let round = self.settles.fetch_add(1, Ordering::SeqCst);
        if round.is_multiple_of(3) {
            sync::Parker::new().park_timeout(Duration::from_micros(200), Wait::Background);
        }
        Next::Continue
    }

    fn resume(&self, session: &mut EchoSession) {
        assert!(!std::mem::replace(&mut session.active, true) && !session.on_thread);
    }

    fn pause(&self, session: &mut EchoSession) {
        assert!(std::mem::replace(&mut session.active, false) && !session.on_thread);
    }

    fn is_midway(&self, session: &EchoSession) -> bool {
        session.midway
    }

    fn enter(&self, session: &mut EchoSession) {
        assert!(!std::mem::replace(&mut session.on_thread, true) && session.active);
    }

    fn leave(&self, session: &mut EchoSession) {
        assert!(std::mem::replace(&mut session.on_thread, false) && session.active);
    }

    fn idle_limit(&self, _: &EchoSession) -> Duration {
        self.idle_limit
    }

    fn interrupt(&self) {
        *self.interrupt.0.lock() = true;
        self.interrupt.1.notify_all();
    }

    fn close(&self, session: EchoSession, by: ClosedBy) {
        assert!(!session.on_thread);
        self.hang_ups.lock().remove(&session.id);
        // The test may have ended with connections open.
        let _ = self.closed.lock().send((session.id, by));
    }
}

pub struct Server {
    pub listener: Listener<Echo>,
    pub service: Arc<Echo>,
    pub closed: mpsc::Receiver<(u32, ClosedBy)>,
    pub address: SocketAddr,
}

pub fn server(change: impl FnOnce(&mut Config, &mut Duration)) -> Server {
    let mut config = Config {
        addresses: vec!["127.0.0.1:0".parse().unwrap()],
        back_log: 4096,
        max_connections: 10_000,
        park_after: Duration::from_millis(5),
        tick: Duration::from_millis(20),
        ..Config::default()
    };
    let mut idle_limit = Duration::from_secs(600);
    change(&mut config, &mut idle_limit);
    let (sender, closed) = mpsc::channel();
    let service = Arc::new(Echo {
        idle_limit,
        hang_ups: Mutex::new(Rank::Session, HashMap::new()),
        closed: Mutex::new(Rank::Observe, sender),
        interrupt: (Mutex::new(Rank::Session, false), sync::Condvar::new()),
        waiting: AtomicUsize::new(0),
        settles: AtomicUsize::new(0),
        spin: AtomicBool::new(true),
        reserved_refused: AtomicUsize::new(0),
    });
    let listener = Listener::start(&config, Arc::clone(&service)).unwrap();
    let address = listener.addresses()[0];
    Server { listener, service, closed, address }
}

pub const PATIENCE: Duration = Duration::from_secs(60);

/// Turns the scheduler over until `condition` holds.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen within {PATIENCE:?}");
        std::thread::yield_now();
    }
}

pub fn read_packet(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(read_packet(&mut stream).unwrap()[0], 0);
    stream
}

pub fn send(stream: &mut TcpStream, payload: &[u8]) {
    let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
    packet[3] = 0;
    packet.extend_from_slice(payload);
    stream.write_all(&packet).unwrap();
}

pub fn echo(stream: &mut TcpStream, text: &[u8]) {
    send(stream, text);
    let answer = read_packet(stream).unwrap();
    assert!(answer.ends_with(text), "{answer:?}");
}
