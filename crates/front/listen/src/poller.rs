//! The poller thread: accepts connections, wakes parked ones, looks for idle ones whose time is up, and stops.

use crate::config::Config;
use crate::crew::{Crew, STALL};
use crate::pool::{Job, Pool};
use crate::slots::{KEY_BASE, Slots};
use crate::socket::Door;
use crate::worker::{ADMINISTRATORS_MAX, Shared, Stage, Task};
use observe::Counter;
use polling::{Event, Events, Poller};
use protocol::{ClosedBy, Connection, Peer, Service, Stream};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sync::{Lanes, Mutex, Rank};

/// Connections accepted from one door before others get their turn.
const ACCEPTS_A_TURN: usize = 256;

/// A running listener. Dropping it without [`Listener::stop`] leaves its threads running.
pub struct Listener<S: Service> {
    shared: Arc<Shared<S>>,
    poller: Arc<Poller>,
    addresses: Vec<SocketAddr>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<S: Service> Listener<S> {
    /// Binds every address and the socket, then serves. An error names the address or path.
    pub fn start(config: &Config, service: Arc<S>) -> io::Result<Listener<S>> {
        let mut doors = Vec::new();
        for address in &config.addresses {
            doors.push(Door::tcp(*address, config.back_log)?);
        }
        if let Some(path) = &config.socket {
            doors.push(Door::unix(path, config.back_log)?);
        }
        let administrative = doors.len();
        if let Some(address) = config.administrative {
            doors.push(Door::tcp(address, config.back_log)?);
        }
        assert!(doors.len() < KEY_BASE, "more addresses than a machine has");
        let addresses = doors[..administrative].iter().filter_map(Door::address).collect();
        let poller = Arc::new(Poller::new()?);
        let shared = Arc::new(Shared {
            service,
            slots: Slots::new(Arc::clone(&poller)),
            pool: Pool::new(config),
            crew: Crew::new(config.crew, config.crowd)?,
            park_after: config.park_after,
            running: Lanes::new(config.max_connections + 1),
            connected: AtomicUsize::new(0),
            most_connected: AtomicUsize::new(0),
            max_connections: AtomicUsize::new(config.max_connections),
            stopping: AtomicBool::new(false),
        });
        shared.set_max_workers(config.max_connections);
        let watch = Watch {
            shared: Arc::clone(&shared),
            poller: Arc::clone(&poller),
            doors,
            administrative,
            tick: config.tick,
            next_id: 1,
        };
        for (key, door) in watch.doors.iter().enumerate() {
            watch_door(&poller, door, key)?;
        }
        let thread = std::thread::Builder::new().name("poller".into()).spawn(move || watch.run())?;
        Ok(Listener { shared, poller, addresses, thread: Mutex::new(Rank::Session, Some(thread)) })
    }

    /// The TCP addresses that are bound, with their ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub fn connections(&self) -> usize {
        self.shared.slots.connections()
    }

    /// Worker threads, idle ones included.
    pub fn workers(&self) -> usize {
        self.shared.pool.workers()
    }

    /// Worker threads that wait for a connection.
    pub fn idle_workers(&self) -> usize {
        self.shared.pool.idle_workers()
    }

    /// SET GLOBAL max_connections. Connections above a lower bound stay.
    pub fn set_max_connections(&self, count: usize) {
        // Relaxed: a setting that stands alone.
        self.shared.max_connections.store(count, Ordering::Relaxed);
        self.shared.set_max_workers(count);
    }

    /// Registers Threads_connected, Threads_running, Threads_cached and Max_used_connections.
    pub fn register_gauges(&self) {
        let gauge = |name: &str, read: fn(&Shared<S>) -> usize| {
            let shared = Arc::downgrade(&self.shared);
            observe::register_gauge(name, move || shared.upgrade().map_or(0, |s| read(&s) as u64));
        };
        gauge("Threads_connected", |s| figure(&s.connected));
        gauge("Max_used_connections", |s| figure(&s.most_connected));
        gauge("Threads_running", |s| {
            // Relaxed: a figure for SHOW STATUS, it orders nothing.
            s.running.iter_claimed().filter(|(_, running)| running.load(Ordering::Relaxed)).count()
        });
        gauge("Threads_cached", |s| s.pool.idle_workers());
    }

    /// Stops: accepts nothing more, interrupts what runs, closes every connection, ends the threads. True when all was over
    /// within `patience`; else some statement did not end, and its thread is left behind.
    pub fn stop(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        // Release: pairs with Acquire in `Watch::run`.
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.service.interrupt();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // It fails only when the poller is broken, and then the thread has ended.
            let _ = self.poller.notify();
            // The thread only hands work over, it waits for nobody; if it panicked, there is nothing left to stop.
            let _ = thread.join();
        }
        self.shared.slots.wait_empty(deadline) & self.shared.pool.stop(deadline)
    }
}

fn figure(count: &AtomicUsize) -> usize {
    // Relaxed: a figure for SHOW STATUS, it orders nothing.
    count.load(Ordering::Relaxed)
}

#[expect(unsafe_code, reason = "the poller keeps a socket's number, whose life the compiler cannot follow")]
fn watch_door(poller: &Poller, door: &Door, key: usize) -> io::Result<()> {
    use std::os::fd::{AsFd, AsRawFd};
    // SAFETY: the doors are deleted from the poller by `Watch::stop` before they are closed.
    unsafe { poller.add(door.as_fd().as_raw_fd(), Event::readable(key)) }
}

/// The poller thread's state.
struct Watch<S: Service> {
    shared: Arc<Shared<S>>,
    poller: Arc<Poller>,
    doors: Vec<Door>,
    /// From here on they are for administrators.
    administrative: usize,
    tick: Duration,
    next_id: u32,
}

impl<S: Service> Watch<S> {
    fn run(mut self) {
        let mut events = Events::new();
        let mut next_tick = Instant::now() + self.tick;
        let mut next_look = Instant::now();
        // Acquire: pairs with Release in `Listener::stop`.
        while !self.shared.stopping.load(Ordering::Acquire) {
            events.clear();
            let mut patience = next_tick.saturating_duration_since(Instant::now());
            if self.shared.crew.needs_watching() {
                patience = patience.min(STALL);
            }
            match self.poller.wait(&mut events, Some(patience)) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => panic!("epoll_wait: {e}"), // only for a broken descriptor
            }
            for event in events.iter() {
                match event.key.checked_sub(KEY_BASE) {
                    None => self.accept(event.key),
                    Some(slot) => {
                        if let Some(task) = self.shared.slots.wake(slot) {
                            self.shared.activate(task);
                        }
                    }
                }
            }
            let now = Instant::now();
            if now >= next_look {
                next_look = now + STALL;
                for (group, term) in self.shared.crew.depose_stalled() {
                    self.shared.pool.hand_over(&self.shared, Job::Lead { group, term });
                }
            }
            if now >= next_tick {
                next_tick = now + self.tick;
                self.on_tick(now);
            }
        }
        self.stop();
    }

    fn on_tick(&mut self, now: Instant) {
        for mut task in self.shared.slots.expired(now) {
            task.stage = Stage::Close(ClosedBy::IdleTimeout);
            self.shared.activate(task);
        }
        self.shared.pool.serve_pending(&self.shared);
        // A door that was left closed for want of descriptors opens again.
        for key in 0..self.doors.len() {
            self.rearm(key);
        }
    }

    fn rearm(&self, key: usize) {
        if self.poller.modify(&self.doors[key], Event::readable(key)).is_err() {
            observe::increment(Counter::ConnectionErrorsSelect);
        }
    }

    fn accept(&mut self, key: usize) {
        for _ in 0..ACCEPTS_A_TURN {
            match self.doors[key].accept() {
                Ok((stream, peer)) => self.admit(stream, peer, key >= self.administrative),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) if matches!(e.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {}
                Err(_) => {
                    // No descriptor or no memory: the door stays shut until the next tick.
                    observe::increment(Counter::ConnectionErrorsAccept);
                    return;
                }
            }
        }
        self.rearm(key);
    }

    /// `administrative`: by the door for administrators, of whom some find room above `max_connections`.
    fn admit(&mut self, stream: Stream, peer: Peer, administrative: bool) {
        observe::increment(Counter::Connections);
        let Ok(mut conn) = Connection::new(stream, peer) else {
            observe::increment(Counter::ConnectionErrorsPeerAddress);
            return;
        };
        // Acquire: pairs with Release in `worker::end`. This thread alone adds, so the bound holds.
        let connected = self.shared.connected.load(Ordering::Acquire);
        // Relaxed: a setting that stands alone.
        let max_connections = self.shared.max_connections.load(Ordering::Relaxed);
        let bound = if administrative { max_connections + ADMINISTRATORS_MAX } else { max_connections };
        if administrative {
            conn.set_administrative();
        }
        if connected > bound {
            observe::increment(Counter::ConnectionErrorsMaxConnections);
            // A fresh socket's buffer takes so short a packet without blocking; the client may be gone.
            let _ = conn.output().error(&protocol::too_many_connections());
            let _ = conn.output().flush();
            conn.stream().shutdown();
            return;
        }
        if connected == max_connections && !administrative {
            conn.set_reserved();
        }
        let Some(slot) = self.shared.slots.open(conn.hang_up()) else { return };
        // Relaxed: the count bounds, it publishes nothing.
        let now = self.shared.connected.fetch_add(1, Ordering::Relaxed) + 1;
        self.shared.most_connected.fetch_max(now, Ordering::Relaxed);
        let id = self.next_id;
        self.next_id = id.checked_add(1).unwrap_or(1);
        let session = self.shared.service.open(id, peer, conn.hang_up());
        let task = Task {
            conn,
            session,
            slot,
            registered: false,
            stage: Stage::Greet,
            resumed: false,
            midway: false,
            counted: (0, 0),
        };
        self.shared.activate(Box::new(task));
    }

    fn stop(self) {
        for door in &self.doors {
            // It fails only when the socket is not in the poller.
            let _ = self.poller.delete(door);
        }
        drop(self.doors);
        for mut task in self.shared.slots.stop() {
            task.stage = Stage::Close(ClosedBy::Shutdown);
            self.shared.activate(task);
        }
    }
}
