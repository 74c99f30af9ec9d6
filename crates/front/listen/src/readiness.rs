//! Which connections of a group have sent something: told once, when it comes (edge-triggered).
//!
//! Straight on the kernel's epoll: a group waits tens of thousands of times a second, and the portable poller
//! makes five system calls of each wait (its timer, its notifier), this one makes one.

use protocol::Stream;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// The bell's key.
const BELL: u64 = u64::MAX;
const EVENTS_AT_ONCE: usize = 256;

pub struct Readiness {
    epoll: OwnedFd,
    /// Rung by [`Readiness::notify`]. Never read: each write is an edge.
    bell: OwnedFd,
}

impl Readiness {
    pub fn new() -> io::Result<Readiness> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        Ok(Readiness { epoll, bell })
    }

    /// From now on `wait` tells `key` when bytes come, and of those that are there now.
    pub fn add(&self, stream: &Stream, key: usize) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, stream, epoll::EventData::new_u64(key as u64), flags)?)
    }

    pub fn delete(&self, stream: &Stream) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, stream)?)
    }

    /// Ends the wait that is, or the next.
    pub fn notify(&self) -> io::Result<()> {
        match rustix::io::write(&self.bell, &1_u64.to_ne_bytes()) {
            // Full: rung, then.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Waits for bytes, a notice or the end of `timeout`, and tells whose bytes have come.
    pub fn wait<R>(&self, timeout: Duration, tell: impl FnOnce(&mut dyn Iterator<Item = usize>) -> R) -> io::Result<R> {
        let mut events = [const { MaybeUninit::uninit() }; EVENTS_AT_ONCE];
        // A timeout beyond the kernel's range is no timeout.
        let timeout = Timespec::try_from(timeout).ok();
        let come = match epoll::wait(&self.epoll, &mut events[..], timeout.as_ref()) {
            Ok((come, _)) => come,
            Err(Errno::INTR) => &mut [],
            Err(e) => return Err(e.into()),
        };
        Ok(tell(&mut come.iter().map(|event| event.data.u64()).filter(|key| *key != BELL).map(|key| key as usize)))
    }
}
