//! Work for a group of threads: a bounded queue that they sleep on.

use std::collections::VecDeque;
use std::ops::Deref;
use sync::waits::Wait;
use sync::{Condvar, Mutex, Rank};

pub struct Queue<T> {
    /// W, R: those who have work and those who do it, for some hundred nanoseconds.
    state: Mutex<State<T>>,
    more: Condvar,
    capacity: usize,
}

struct State<T> {
    work: VecDeque<T>,
    /// Tasks that were taken and are not done.
    taken: usize,
    closed: bool,
}

/// Work that was taken; it is done when this is dropped.
pub struct Task<'q, T> {
    queue: &'q Queue<T>,
    work: T,
}

impl<T> Deref for Task<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.work
    }
}

impl<T> Drop for Task<'_, T> {
    fn drop(&mut self) {
        self.queue.state.lock().taken -= 1;
    }
}

impl<T> Queue<T> {
    pub fn new(capacity: usize) -> Queue<T> {
        let state = State { work: VecDeque::with_capacity(capacity), taken: 0, closed: false };
        Queue { state: Mutex::new(Rank::PagePool, state), more: Condvar::new(), capacity }
    }

    /// Adds work for one thread. False: there is too much already, or nobody works any more.
    pub fn push(&self, work: T) -> bool {
        let mut state = self.state.lock();
        if state.closed || state.work.len() >= self.capacity {
            return false;
        }
        state.work.push_back(work);
        drop(state);
        self.more.notify_one();
        true
    }

    /// The oldest work; waits for some. `None`: the queue was closed, and what was in it is forgotten.
    pub fn pop(&self) -> Option<Task<'_, T>> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(work) = state.work.pop_front() {
                state.taken += 1;
                return Some(Task { queue: self, work });
            }
            self.more.wait(&mut state, Wait::PageReaders);
        }
    }

    /// What is not done yet: in line and in work.
    pub fn pending(&self) -> usize {
        let state = self.state.lock();
        state.work.len() + state.taken
    }

    /// Ends the threads that wait in [`Queue::pop`], and those that come later.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.work.clear();
        drop(state);
        self.more.notify_all();
    }
}
