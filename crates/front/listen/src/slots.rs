//! The table of connections: a slot each, which holds the connection itself while it is parked.
//!
//! Touched when a connection comes, goes, falls idle or wakes; never by one that is busy.

use crate::task::Task;
use polling::{Event, PollMode, Poller};
use protocol::{HangUp, Service, Stream};
use std::io;
use std::sync::Arc;
use std::time::Instant;
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};

struct Slot<S: Service> {
    hang_up: HangUp,
    parked: Option<(Box<Task<S>>, Option<Instant>)>,
}

struct Table<S: Service> {
    slots: Vec<Option<Slot<S>>>,
    free: Vec<usize>,
    stopping: bool,
}

/// What becomes of a connection that wants to be parked.
pub enum Parked<S: Service> {
    Yes,
    /// The server stops.
    Stopping(Box<Task<S>>),
    /// The poller does not take it.
    Failed(Box<Task<S>>),
}

pub struct Slots<S: Service> {
    table: Mutex<Table<S>>,
    /// Signalled when the last connection goes.
    empty: Condvar,
    poller: Arc<Poller>,
}

impl<S: Service> Slots<S> {
    pub fn new(poller: Arc<Poller>) -> Slots<S> {
        let table = Table { slots: Vec::new(), free: Vec::new(), stopping: false };
        Slots { table: Mutex::new(Rank::Session, table), empty: Condvar::new(), poller }
    }

    /// A slot for a new connection, which is being served. `None`: the server stops.
    pub fn open(&self, hang_up: HangUp) -> Option<usize> {
        let mut table = self.table.lock();
        if table.stopping {
            return None;
        }
        let slot = Some(Slot { hang_up, parked: None });
        match table.free.pop() {
            Some(at) => {
                table.slots[at] = slot;
                Some(at)
            }
            None => {
                table.slots.push(slot);
                Some(table.slots.len() - 1)
            }
        }
    }

    /// Frees the slot of a connection that is over; takes its socket out of the poller if it is there.
    pub fn close(&self, at: usize, registered: Option<&Stream>) {
        let mut table = self.table.lock();
        if let Some(stream) = registered {
            // It fails only when the socket is not in the poller, and then there is nothing to take out.
            let _ = self.poller.delete(stream);
        }
        let slot = table.slots[at].take();
        assert!(slot.is_some_and(|s| s.parked.is_none()), "a connection is closed once, by its worker");
        table.free.push(at);
        if table.free.len() == table.slots.len() {
            (table.slots, table.free) = (Vec::new(), Vec::new());
            self.empty.notify_all();
        }
    }

    /// Puts an idle connection down until its socket is ready or `deadline` passes.
    pub fn park(&self, mut task: Box<Task<S>>, deadline: Option<Instant>) -> Parked<S> {
        let mut table = self.table.lock();
        if table.stopping {
            return Parked::Stopping(task);
        }
        let event = Event::readable(task.slot);
        // Under the mutex: whoever sees the event finds the connection in its slot.
        let armed = if task.registered {
            self.poller.modify(task.conn.stream(), event)
        } else {
            add(&self.poller, task.conn.stream(), event)
        };
        if armed.is_err() {
            return Parked::Failed(task);
        }
        task.registered = true;
        let slot = table.slots[task.slot].as_mut().expect("a served connection has a slot");
        debug_assert!(slot.parked.is_none());
        slot.parked = Some((task, deadline));
        Parked::Yes
    }

    /// The parked connection of a slot; `None` when it is being served or gone (a stale event).
    pub fn wake(&self, slot: usize) -> Option<Box<Task<S>>> {
        let mut table = self.table.lock();
        table.slots.get_mut(slot)?.as_mut()?.parked.take().map(|(task, _)| task)
    }

    /// Parked connections whose time is up.
    pub fn expired(&self, now: Instant) -> Vec<Box<Task<S>>> {
        let mut table = self.table.lock();
        let mut expired = Vec::new();
        for slot in table.slots.iter_mut().flatten() {
            if slot.parked.as_ref().is_some_and(|(_, deadline)| deadline.is_some_and(|d| d <= now)) {
                expired.extend(slot.parked.take().map(|(task, _)| task));
            }
        }
        expired
    }

    pub fn connections(&self) -> usize {
        let table = self.table.lock();
        table.slots.len() - table.free.len()
    }

    /// From now on nothing opens or parks. All sockets are shut down; the parked connections are handed back.
    pub fn stop(&self) -> Vec<Box<Task<S>>> {
        let mut table = self.table.lock();
        table.stopping = true;
        let mut parked = Vec::new();
        for slot in table.slots.iter_mut().flatten() {
            slot.hang_up.hang_up();
            parked.extend(slot.parked.take().map(|(task, _)| task));
        }
        parked
    }

    /// Waits for the last connection to go; false when `deadline` came first.
    pub fn wait_empty(&self, deadline: Instant) -> bool {
        let mut table = self.table.lock();
        while table.free.len() < table.slots.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.empty.wait_timeout(&mut table, left, Wait::ConnectionCount);
        }
        true
    }
}

#[expect(unsafe_code, reason = "the poller keeps a socket's number, whose life the compiler cannot follow")]
fn add(poller: &Poller, stream: &Stream, event: Event) -> io::Result<()> {
    // SAFETY: the socket is deleted from the poller by `Slots::close`, which every connection passes before its stream is
    // dropped: a `Task` is dropped nowhere else (see `worker::end`).
    unsafe { poller.add_with_mode(stream, event, PollMode::Oneshot) }
}
