//! The names of all waits, and what is counted of them.
//!
//! Whatever can make a thread sleep takes a [`Wait`]: what has no name does not compile. Only real waits are counted, of a thread
//! that sleeps or has spun long, so the uncontended way through a lock has no instruction for this.
//!
//! # Where the figures are
//!
//! A [`Book`] holds the sums of one session, or of one thread that serves nobody. Its one writer is the thread that serves the
//! session; whoever asks adds the books up. A session that ends leaves its sums behind, see [`picture`].
//!
//! ```text
//! book   | owner | epoch | idle since |   sums: count, ns, least, most  of each Wait   |  events: the last 10, when asked for
//! ```
//! TRUNCATE raises the epoch, and the one writer begins anew when it sees that; readers take sums of an earlier epoch for zero.

#[cfg(not(loom))]
mod book;
#[cfg(not(loom))]
pub mod files;
mod names;

#[cfg(not(loom))]
pub use book::{
    Book, Claim, Event, Picture, Switches, Ticket, books, current_epoch, events_memory, flags, own_book, pending,
    picture, set_flags, set_history, set_switches, start_over, switches,
};
pub use names::{Class, Operation, Wait};
