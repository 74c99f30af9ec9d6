//! What a thread on which others depend does before it sleeps: it gives its office away.
//!
//! A thread that serves many connections in turn ([leader/followers][lf], as in thread pools) may meet a row lock, a flush or a page on
//! disk in the middle of a statement. Whoever is about to make the calling thread sleep for more than a moment says so here first:
//! [`futex`](crate::futex) and [`Condvar`](crate::Condvar) waits, reads and syncs of files, sockets that are not ready.
//!
//! The action may take only locks of rank [`Rank::Workers`](crate::Rank::Workers): the sleeper may hold any other.
//!
//! [lf]: https://www.dre.vanderbilt.edu/~schmidt/PDF/lf.pdf

use std::cell::Cell;

/// What is to be done before the thread sleeps.
pub type Action = Box<dyn FnOnce()>;

thread_local! {
    /// Whether there is an action: no destructor, so no registration check on access.
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static ACTION: Cell<Option<Action>> = const { Cell::new(None) };
}

/// From now on the thread does `action` before it sleeps, once. `None`: nothing any more.
pub fn before_blocking(action: Option<Action>) {
    ARMED.set(action.is_some());
    ACTION.set(action);
}

/// The calling thread is about to sleep.
#[inline]
pub fn about_to_block() {
    if ARMED.get() {
        act();
    }
}

#[cold]
fn act() {
    ARMED.set(false);
    if let Some(action) = ACTION.take() {
        action();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parker;
    use std::rc::Rc;
    use std::time::Duration;

    #[test]
    fn the_action_is_done_once_before_the_first_sleep() {
        let done = Rc::new(Cell::new(0));
        let mut parker = Parker::new();
        let (count, unparker) = (Rc::clone(&done), parker.unparker());
        // It wakes the thread that does it, so that no clock decides whether there was a sleep.
        before_blocking(Some(Box::new(move || {
            count.set(count.get() + 1);
            unparker.unpark();
        })));
        parker.unparker().unpark();
        parker.park();
        assert_eq!(done.get(), 0, "a token was there: nobody slept");
        parker.park();
        assert_eq!(done.get(), 1);
        assert!(!parker.park_timeout(Duration::from_millis(1)), "done a second time");
        assert_eq!((done.get(), Rc::strong_count(&done)), (1, 1));
    }

    #[test]
    fn an_action_taken_back_is_not_done() {
        let done = Rc::new(Cell::new(false));
        let flag = Rc::clone(&done);
        before_blocking(Some(Box::new(move || flag.set(true))));
        before_blocking(None);
        about_to_block();
        assert_eq!((done.get(), Rc::strong_count(&done)), (false, 1));
    }
}
