//! The poller thread: wakes parked connections, looks for idle ones whose time is up, and stops. The listener with all its threads.

use crate::config::Config;
use crate::crew::{Crew, STALL};
use crate::doors::{self, Entrance};
use crate::pool::{Job, Pool};
use crate::shared::Shared;
use crate::slots::Slots;
use crate::socket::Door;
use crate::task::Stage;
use crate::worker;
use polling::{Events, Poller};
use protocol::{ClosedBy, Service};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sync::{Lanes, Mutex, Parker, Rank, Unparker};

/// Workers that wait in `accept` at most, for each CPU: a few are enough to let in who comes while others serve.
const AT_DOORS_PER_CPU: usize = 4;

/// A running listener. Dropping it without [`Listener::stop`] leaves its threads running.
pub struct Listener<S: Service> {
    shared: Arc<Shared<S>>,
    poller: Arc<Poller>,
    addresses: Vec<SocketAddr>,
    /// Emptied when it stops.
    acceptors: Mutex<Vec<Acceptor>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Acceptor {
    entrance: Arc<Entrance>,
    unparker: Unparker,
    thread: JoinHandle<()>,
}

impl<S: Service> Listener<S> {
    /// Binds every address and the socket, then serves. An error names the address or path.
    pub fn start(config: &Config, service: Arc<S>) -> io::Result<Listener<S>> {
        let mut entrances = Vec::new();
        let tcp = |address: SocketAddr| Door::tcp(address, config.back_log, config.park_after);
        for address in &config.addresses {
            entrances.push(Entrance { door: tcp(*address)?, is_administrative: false });
        }
        if let Some(path) = &config.socket {
            let door = Door::unix(path, config.back_log, config.park_after)?;
            entrances.push(Entrance { door, is_administrative: false });
        }
        let addresses = entrances.iter().filter_map(|e| e.door.address()).collect();
        if let Some(address) = config.administrative {
            entrances.push(Entrance { door: tcp(address)?, is_administrative: true });
        }
        let poller = Arc::new(Poller::new()?);
        let shared = Arc::new(Shared {
            service,
            slots: Slots::new(Arc::clone(&poller)),
            pool: Pool::new(config, worker::run),
            crew: Crew::new(config.crew, config.crowd)?,
            park_after: config.park_after,
            proxies: config.proxies.clone(),
            running: Lanes::new(config.max_connections + 1),
            at_doors: AtomicUsize::new(0),
            at_doors_max: AT_DOORS_PER_CPU * config.crew,
            next_id: AtomicU32::new(1),
            connected: AtomicUsize::new(0),
            most_connected: AtomicUsize::new(0),
            most_connected_s: AtomicUsize::new(0),
            max_connections: AtomicUsize::new(config.max_connections),
            stopping: AtomicBool::new(false),
        });
        shared.set_max_workers(config.max_connections);
        let watch = Watch { shared: Arc::clone(&shared), poller: Arc::clone(&poller), tick: config.tick };
        let thread = std::thread::Builder::new().name("poller".into()).spawn(move || watch.run())?;
        let thread = Mutex::new(Rank::Session, Some(thread));
        let acceptors =
            entrances.into_iter().map(|e| Acceptor::start(&shared, Arc::new(e))).collect::<io::Result<_>>()?;
        Ok(Listener { shared, poller, addresses, acceptors: Mutex::new(Rank::Session, acceptors), thread })
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

    /// SET GLOBAL thread_cache_size.
    pub fn set_worker_cache(&self, count: usize) {
        self.shared.pool.set_kept(count);
    }

    /// Registers Threads_connected, Threads_running, Threads_cached and Max_used_connections.
    pub fn register_gauges(&self) {
        let gauge = |name: &str, read: fn(&Shared<S>) -> usize| {
            let shared = Arc::downgrade(&self.shared);
            observe::register_gauge(name, move || shared.upgrade().map_or(0, |s| read(&s) as u64));
        };
        gauge("Threads_connected", |s| figure(&s.connected));
        gauge("Max_used_connections", |s| figure(&s.most_connected));
        gauge("Max_used_connections_time", |s| figure(&s.most_connected_s));
        gauge("Threads_running", |s| {
            // Relaxed: a figure for SHOW STATUS, it orders nothing.
            s.running.iter_claimed().filter(|(_, running)| running.load(Ordering::Relaxed)).count()
        });
        gauge("Threads_cached", |s| s.pool.idle_workers() + figure(&s.at_doors));
    }

    /// Stops: accepts nothing more, interrupts what runs, closes every connection, ends the threads. True when all was over
    /// within `patience`; else some statement did not end, and its thread is left behind.
    pub fn stop(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        // Release: pairs with Acquire in `Watch::run`.
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.service.interrupt();
        let acceptors = std::mem::take(&mut *self.acceptors.lock());
        for acceptor in &acceptors {
            acceptor.entrance.door.shut();
            acceptor.unparker.unpark();
        }
        for acceptor in acceptors {
            // It hands work over and waits for nobody, as the poller thread.
            let _ = acceptor.thread.join();
        }
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

impl Acceptor {
    fn start<S: Service>(shared: &Arc<Shared<S>>, entrance: Arc<Entrance>) -> io::Result<Acceptor> {
        let mut parker = Parker::new();
        let unparker = parker.unparker();
        let (shared, its) = (Arc::clone(shared), Arc::clone(&entrance));
        let work = move || doors::run(&shared, &its, &mut parker);
        let thread = std::thread::Builder::new().name("acceptor".into()).spawn(work)?;
        Ok(Acceptor { entrance, unparker, thread })
    }
}

/// The poller thread's state.
struct Watch<S: Service> {
    shared: Arc<Shared<S>>,
    poller: Arc<Poller>,
    tick: Duration,
}

impl<S: Service> Watch<S> {
    fn run(self) {
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
                if let Some(task) = self.shared.slots.wake(event.key) {
                    self.shared.activate(task);
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

    fn on_tick(&self, now: Instant) {
        for mut task in self.shared.slots.expired(now) {
            task.stage = Stage::Close(ClosedBy::IdleTimeout);
            self.shared.activate(task);
        }
        self.shared.pool.serve_pending(&self.shared);
    }

    fn stop(self) {
        for mut task in self.shared.slots.stop() {
            task.stage = Stage::Close(ClosedBy::Shutdown);
            self.shared.activate(task);
        }
    }
}
