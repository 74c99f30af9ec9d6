//! Who lets connections in: at each door an acceptor thread, which hands them over, and for a while workers whose connection
//! has ended, which serve whom they let in themselves.
//!
//! All wait in `accept` on the same socket, and the kernel wakes one of them for each connection. So clients that come
//! and go cost no change of threads, and there is always somebody at the door.

use crate::pool::Job;
use crate::shared::{ADMINISTRATORS_MAX, Shared};
use crate::socket::Door;
use observe::Counter;
use protocol::{Connection, HangUp, Peer, Service, Stream, Timeouts};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
use sync::Parker;
use sync::waits::Wait;

/// For how long an acceptor lets nobody in when the system has no descriptor or no memory.
const PAUSE: Duration = Duration::from_secs(1);

/// A door with what coming by it means.
pub struct Entrance {
    pub door: Door,
    /// For administrators, of whom some find room above `max_connections`.
    pub is_administrative: bool,
}

/// A connection that was let in.
pub struct Arrival {
    pub stream: Arc<Stream>,
    pub peer: Peer,
    /// What its socket has.
    pub timeouts: Timeouts,
    pub slot: usize,
    /// The connection id.
    pub id: u32,
    pub entrance: Arc<Entrance>,
    /// It is the one above `max_connections`.
    pub is_reserved: bool,
}

/// An acceptor thread's whole life.
pub fn run<S: Service>(shared: &Arc<Shared<S>>, entrance: &Arc<Entrance>, parker: &mut Parker) {
    // Acquire: pairs with Release in `Listener::stop`.
    while !shared.stopping.load(Ordering::Acquire) {
        match entrance.door.accept() {
            Ok(accepted) => {
                if let Some(arrival) = admit(shared, entrance, accepted) {
                    shared.pool.hand_over(shared, Job::Greet(arrival));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => entrance.door.wait(),
            Err(e) if is_passing(&e) => {}
            Err(_) => {
                // Acquire: as above.
                if !shared.stopping.load(Ordering::Acquire) {
                    observe::increment(Counter::ConnectionErrorsAccept);
                    parker.park_timeout(PAUSE, Wait::Background);
                }
            }
        }
    }
}

/// A worker whose connection has ended waits at the door by which it came. `None`: nobody came soon, or others wait there.
pub fn next<S: Service>(shared: &Shared<S>, entrance: &Arc<Entrance>) -> Option<Arrival> {
    if shared.pool.has_pending() {
        return None;
    }
    // Relaxed: a bound, which publishes nothing.
    let accepted = match shared.at_doors.fetch_add(1, Ordering::Relaxed) < shared.at_doors_max {
        true => entrance.door.accept().ok(),
        false => None,
    };
    shared.at_doors.fetch_sub(1, Ordering::Relaxed); // Relaxed: as above
    admit(shared, entrance, accepted?)
}

/// Passes by itself: the next call may do better.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

/// Finds a place for a connection; it counts as active from now on. `None`: there is none, and the client has been told.
fn admit<S: Service>(
    shared: &Shared<S>,
    entrance: &Arc<Entrance>,
    (stream, peer, timeouts): (Stream, Peer, Timeouts),
) -> Option<Arrival> {
    observe::increment(Counter::Connections);
    let stream = Arc::new(stream);
    // Relaxed: a setting that stands alone.
    let max_connections = shared.max_connections.load(Ordering::Relaxed);
    let bound = max_connections + if entrance.is_administrative { ADMINISTRATORS_MAX } else { 0 };
    let one_more = |connected: usize| (connected <= bound).then_some(connected + 1);
    // Acquire: pairs with Release in `Shared::gone`. Relaxed where it fails: nothing is done then.
    let Ok(before) = shared.connected.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more) else {
        observe::increment(Counter::ConnectionErrorsMaxConnections);
        if let Ok(mut conn) = Connection::over(stream, peer, timeouts) {
            // A fresh socket's buffer takes so short a packet without blocking; the client may be gone.
            let _ = conn.output().error(&protocol::too_many_connections());
            let _ = conn.output().flush();
            conn.stream().shutdown();
        }
        return None;
    };
    let Some(slot) = shared.slots.open(HangUp::of(&stream)) else {
        shared.gone();
        return None;
    };
    // Relaxed: a figure for SHOW STATUS.
    if shared.most_connected.fetch_max(before + 1, Ordering::Relaxed) < before + 1 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Relaxed: a figure, as above.
        shared.most_connected_s.store(now.as_secs() as usize, Ordering::Relaxed);
    }
    // Relaxed: ids only have to differ.
    let id =
        shared.next_id.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| Some(id.checked_add(1).unwrap_or(1)));
    let id = id.unwrap_or_else(|id| id);
    let is_reserved = before == max_connections && !entrance.is_administrative;
    shared.crew.one_more();
    Some(Arrival { stream, peer, timeouts, slot, id, entrance: Arc::clone(entrance), is_reserved })
}
