//! Waits of a thread that works for others: what it does before it sleeps, on whose behalf it waits, and for what.
//!
//! # Before it sleeps it gives its office away
//!
//! A thread that serves many connections in turn ([leader/followers][lf], as in thread pools) may meet a row lock, a flush or a page on
//! disk in the middle of a statement. What makes the calling thread sleep for more than a moment does this first:
//! [`futex`](crate::futex) and [`Condvar`](crate::Condvar) waits, reads and syncs of files, sockets that are not ready.
//!
//! The action may take only locks of rank [`Rank::Workers`](crate::Rank::Workers): the sleeper may hold any other.
//!
//! [lf]: https://www.dre.vanderbilt.edu/~schmidt/PDF/lf.pdf
//!
//! # Long waits have a name and an end
//!
//! A thread says whom it [`serve`]s. Waits deep below a session, for a frame, a page, the log, which know of no session, say what they are
//! for ([`waiting`], which is also where they are timed) and ask from time to time whether they should end ([`is_interrupted`]). What
//! must not be left half done, an undo above all, is done behind a [`shield`]. Long computations that have no transaction at hand,
//! planning above all, ask for the reason as well ([`interruption`]).

use crate::waits::{self, Book, Operation, Ticket, Wait};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

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
pub(crate) fn about_to_block() {
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

/// How often a wait asks whether it should end.
pub const ASK_AGAIN: Duration = Duration::from_millis(100);

/// On whose behalf a thread works.
pub trait Served: Send + Sync {
    /// Why somebody wants the work to end (KILL, shutdown, a deadline), by the numbers of whoever is served; 0: nobody does.
    fn interruption(&self) -> u8;

    /// The thread waits for this, which the process list shows; `None`: it goes on.
    fn waits_for(&self, what: Option<Wait>);
}

thread_local! {
    /// Whom the thread serves, to compare with: no destructor, so no registration check on access.
    static SERVED_AT: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
    static SERVED: RefCell<Option<Arc<dyn Served>>> = const { RefCell::new(None) };
    static SHIELDS: Cell<u32> = const { Cell::new(0) };
}

/// The thread works for `served` from now on. Costs a comparison when it did before.
#[inline]
pub fn serve<S: Served + 'static>(served: &Arc<S>) {
    let at = Arc::as_ptr(served).cast();
    if SERVED_AT.get() != at {
        SERVED_AT.set(at);
        // A thread that is ending serves nobody.
        let _ = SERVED.try_with(|cell| cell.replace(Some(Arc::clone(served) as Arc<dyn Served>)));
    }
}

fn with_served<R>(f: impl FnOnce(&dyn Served) -> R) -> Option<R> {
    SERVED.try_with(|cell| cell.borrow().as_deref().map(f)).ok().flatten()
}

/// Should a wait of this thread end without what it waits for?
pub fn is_interrupted() -> bool {
    interruption() != 0
}

/// Why the work of this thread should end, see [`Served::interruption`]; 0: it should not.
pub fn interruption() -> u8 {
    if SHIELDS.get() != 0 {
        return 0;
    }
    with_served(|served| served.interruption()).unwrap_or(0)
}

thread_local! {
    /// What the thread waits for. No destructor, so no registration check on access.
    static WAITS_FOR: Cell<Option<Wait>> = const { Cell::new(None) };
    /// Where its waits are counted, if not in its own book.
    static BOOK: Cell<Option<&'static Book>> = const { Cell::new(None) };
    /// What of it the process list shows.
    static SHOWN: Cell<Option<Wait>> = const { Cell::new(None) };
}

/// From now on the waits of this thread, and of no other, are counted in this book; `None`: in its own.
#[inline]
pub fn count_in(book: Option<&'static Book>) {
    BOOK.set(book);
}

/// Until it is dropped the thread waits for something. One that is within another for the same thing is a part of it.
#[must_use = "the wait is over when this is dropped"]
pub struct Waiting {
    what: Wait,
    outer: Option<Wait>,
    outer_shown: Option<Wait>,
    is_part: bool,
    ticket: Option<Ticket>,
    _here: PhantomData<*const ()>,
}

/// The calling thread is about to wait.
pub fn waiting(what: Wait) -> Waiting {
    waiting_for(what, what.operation(), "")
}

/// As [`waiting`], for something that has a name: a file, a lock.
pub fn waiting_for(what: Wait, operation: Operation, object: &str) -> Waiting {
    let outer = WAITS_FOR.get();
    let is_part = outer == Some(what);
    let outer_shown = SHOWN.get();
    let mut waiting = Waiting { what, outer, outer_shown, is_part, ticket: None, _here: PhantomData };
    if !is_part {
        WAITS_FOR.set(Some(what));
        if what.state().is_some() {
            SHOWN.set(Some(what));
            with_served(|served| served.waits_for(Some(what)));
        }
        waiting.ticket = book_for(what).and_then(|book| Ticket::begin(book, what, operation, object));
    }
    waiting
}

/// As [`waiting_for`], of a thread that sleeps outside this crate: in a system call.
pub fn sleeping(what: Wait, operation: Operation, object: &str) -> Waiting {
    about_to_block();
    waiting_for(what, operation, object)
}

/// The thread sleeps until a client's socket is ready. `None`: that is not counted, as at first.
#[inline]
pub fn socket(operation: Operation) -> Option<Waiting> {
    about_to_block();
    let (is_counted, _) = waits::flags(Wait::ClientConnection);
    is_counted.then(|| waiting_for(Wait::ClientConnection, operation, ""))
}

/// Where a wait of this thread is counted.
fn book_for(what: Wait) -> Option<&'static Book> {
    let attended = if what.is_for_work() { None } else { BOOK.get() };
    attended.or_else(waits::own_book)
}

impl Waiting {
    /// It is over, and so many bytes went to or from a file or a socket. Answers how long it took, if it is timed; `None`: it is
    /// not counted.
    pub fn end(mut self, bytes: Option<u64>) -> Option<Option<u64>> {
        self.ticket.take().map(|ticket| ticket.end(bytes))
    }

    /// Nobody has slept.
    pub fn did_not(mut self) {
        if let Some(ticket) = self.ticket.take() {
            ticket.cancel();
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.is_part {
            return;
        }
        WAITS_FOR.set(self.outer);
        if self.what.state().is_some() {
            SHOWN.set(self.outer_shown);
            with_served(|served| served.waits_for(self.outer_shown));
        }
        if let Some(ticket) = self.ticket.take() {
            ticket.end(None);
        }
    }
}

/// The calling thread sleeps for so long.
#[expect(clippy::disallowed_methods, reason = "this is the one place where a thread sleeps for a time")]
pub fn sleep(what: Wait, time: Duration) {
    let _waiting = waiting(what);
    about_to_block();
    std::thread::sleep(time);
}

/// Until it is dropped no wait of the thread ends by an interrupt.
#[must_use = "waits can be interrupted again when this is dropped"]
pub struct Shield(PhantomData<*const ()>);

/// What follows must be done to its end.
pub fn shield() -> Shield {
    SHIELDS.set(SHIELDS.get() + 1);
    Shield(PhantomData)
}

impl Drop for Shield {
    fn drop(&mut self) {
        SHIELDS.set(SHIELDS.get() - 1);
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
        parker.park(Wait::Background);
        assert_eq!(done.get(), 0, "a token was there: nobody slept");
        parker.park(Wait::Background);
        assert_eq!(done.get(), 1);
        assert!(!parker.park_timeout(Duration::from_millis(1), Wait::Background), "done a second time");
        assert_eq!((done.get(), Rc::strong_count(&done)), (1, 1));
    }

    #[derive(Default)]
    struct Session {
        killed: std::sync::atomic::AtomicU8,
        waits: std::sync::atomic::AtomicU8,
    }

    impl Served for Session {
        fn interruption(&self) -> u8 {
            self.killed.load(std::sync::atomic::Ordering::SeqCst)
        }

        fn waits_for(&self, what: Option<Wait>) {
            self.waits.store(what.map_or(0, |what| what as u8 + 1), std::sync::atomic::Ordering::SeqCst);
        }
    }

    #[test]
    fn waits_are_told_to_whom_the_thread_serves_and_end_with_it() {
        use std::sync::atomic::Ordering;
        assert!(!is_interrupted(), "it serves nobody");
        let (one, other) = (Arc::new(Session::default()), Arc::new(Session::default()));
        serve(&one);
        let wait = waiting(Wait::Checkpoint);
        assert_eq!(Wait::from_index(one.waits.load(Ordering::SeqCst).wrapping_sub(1).into()), Some(Wait::Checkpoint));
        drop(wait);
        assert_eq!(Wait::from_index(one.waits.load(Ordering::SeqCst).wrapping_sub(1).into()), None);
        one.killed.store(3, Ordering::SeqCst);
        assert_eq!((is_interrupted(), interruption()), (true, 3));
        {
            let _undo = shield();
            assert_eq!((is_interrupted(), interruption()), (false, 0));
        }
        assert!(is_interrupted());
        serve(&other);
        assert!(!is_interrupted());
        assert_eq!(Arc::strong_count(&one), 1, "nobody keeps whom it served before");
    }

    #[test]
    fn a_wait_within_one_of_its_kind_is_a_part_of_it() {
        use std::sync::atomic::Ordering;
        let one = Arc::new(Session::default());
        serve(&one);
        let own = || {
            waits::own_book().map_or(0, |book| {
                book.sums().iter().find(|(wait, _)| *wait == Wait::Checkpoint).map_or(0, |(_, sum)| sum.count)
            })
        };
        let before = own();
        let outer = waiting(Wait::Checkpoint);
        drop(waiting(Wait::Checkpoint));
        assert_eq!(own(), before);
        {
            let _file = waiting(Wait::LogFile);
            drop(waiting(Wait::LogFlush));
        }
        assert_eq!(Wait::from_index(usize::from(one.waits.load(Ordering::SeqCst)) - 1), Some(Wait::Checkpoint));
        drop(outer);
        assert_eq!(own(), before + 1);
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
