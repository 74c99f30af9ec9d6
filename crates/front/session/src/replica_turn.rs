//! A source's transaction that waits for its turn to commit ([`replica::Turn`]), as the engine's search for deadlocks knows it.

use crate::session::Session;
use engine::ForeignWait;
use replica::Turn;
use std::sync::Arc;

struct TurnWait(Turn);

impl ForeignWait for TurnWait {
    fn blockers(&self, out: &mut Vec<u32>) {
        self.0.earlier(out);
    }

    fn abort(&self) -> bool {
        self.0.evict()
    }

    fn describe(&self) -> String {
        format!("transaction {} of a replication channel waits for its turn to commit", self.0.number)
    }

    fn place(&self) -> Option<u64> {
        Some(self.0.number)
    }
}

impl Session {
    /// Its transaction waits for its turn, without a thread.
    pub(crate) fn park(&mut self, turn: &Turn) {
        self.tx.enter_wait(Arc::new(TurnWait(turn.clone())), 0);
    }
}
