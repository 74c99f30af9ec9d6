//! What writers without room and the follower whom they wait for tell each other.
//!
//! The follower keeps segments, and lets go of them in steps of its own. Whoever needs one on a full disk *asks*, and waits until the
//! follower has *answered* after a look at what it can do without. A follower that cannot go on (the device of what it writes is full)
//! says so with its answer: then nobody waits for it.
//!
//! Invariant: an answer to a question comes after all that the follower lets go because of it. So who is answered and still finds the
//! segment kept knows that waiting for this follower is of no use now.

use sync::shim::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Default)]
pub struct Retention {
    /// Questions so far. W: who has no room. R: the follower.
    asked: AtomicU32,
    /// The last question that was answered. W: the follower. R: who asked.
    answered: AtomicU32,
    /// A follower is there that answers. W: the follower.
    answers: AtomicBool,
    /// It has said that it cannot go on. W: the follower.
    stalled: AtomicBool,
}

impl Retention {
    /// Asks the follower to let go of what it can. `None`: there is none that answers. The caller wakes it.
    pub fn ask(&self) -> Option<u32> {
        // Acquire: pairs with the Release in `end`. Release: pairs with the Acquire in `asked`: what was asked for stands before.
        self.answers.load(Ordering::Acquire).then(|| self.asked.fetch_add(1, Ordering::Release).wrapping_add(1))
    }

    /// For the follower, before its look: what to answer afterwards.
    pub fn asked(&self) -> u32 {
        // Acquire: pairs with the Release in `ask`.
        self.asked.load(Ordering::Acquire)
    }

    /// The follower has looked after it read `asked`. The caller wakes who waits.
    pub fn answer(&self, asked: u32, stalled: bool) {
        // Relaxed: published by the next store.
        self.stalled.store(stalled, Ordering::Relaxed);
        // Release: pairs with the Acquire in `is_answered`: what was let go comes before.
        self.answered.store(asked, Ordering::Release);
        // Release: pairs with the Acquire in `ask`.
        self.answers.store(true, Ordering::Release);
    }

    /// A follower begins, which answers once it has said so.
    pub fn begin(&self) {
        // Relaxed: a hint until the first answer.
        self.stalled.store(false, Ordering::Relaxed);
    }

    /// The follower is gone: it answers nobody, and is as good as stalled.
    pub fn end(&self) {
        // Release: pairs with the Acquire in `is_answered` and `is_stalled`.
        self.stalled.store(true, Ordering::Release);
        self.answers.store(false, Ordering::Release);
    }

    pub fn is_answered(&self, question: u32) -> bool {
        // Acquire: pairs with the Release in `answer` and `end`.
        let answered = self.answered.load(Ordering::Acquire);
        answered.wrapping_sub(question).cast_signed() >= 0 || !self.answers.load(Ordering::Acquire)
    }

    pub fn is_stalled(&self) -> bool {
        // Acquire: pairs with the Release in `end`; of `answer` it is a hint.
        self.stalled.load(Ordering::Acquire)
    }
}
