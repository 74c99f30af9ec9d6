//! Locks that GET_LOCK has taken.

use catalog::mdl::{Duration, Mode, Name};
use catalog::{MetadataPins, Waiting};
use engine::Transaction;
use std::sync::Arc;
use types::codes::*;
use types::{Result, err};

/// How often LOCK TABLES starts over because data definition came between, before error 1615.
pub(crate) const RETRIES_MAX: usize = 16;

/// GET_LOCK and its family. The locks are of a lane of their own, claimed at the first use.
#[derive(Default)]
pub(crate) struct UserLocks {
    pub pins: Option<MetadataPins>,
    /// How often each was taken, by name.
    pub counts: Vec<(Arc<Name>, u64)>,
}

impl UserLocks {
    /// 1: taken, 0: not within `timeout`. Errors 1040, 1317, 3024, 3058.
    pub fn get(
        &mut self,
        server: &crate::Server,
        connection: u64,
        name: &str,
        timeout: std::time::Duration,
        tx: &mut Transaction,
    ) -> Result<bool> {
        if self.pins.is_none() {
            self.pins = Some(server.catalog.claim_pins(tx, connection).ok_or_else(|| err!(ER_CON_COUNT_ERROR))?);
        }
        let pins = self.pins.as_mut().expect("just claimed");
        let name = Arc::new(Name::User(name.into()));
        if let Some((_, count)) = self.counts.iter_mut().find(|(n, _)| *n == name) {
            *count += 1;
            return Ok(true);
        }
        match pins.lock(&name, Mode::Exclusive, Duration::Explicit, &mut Waiting { timeout, tx }) {
            Ok(_) => {
                self.counts.push((name, 1));
                Ok(true)
            }
            Err(e) if e.code == ER_LOCK_WAIT_TIMEOUT => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Gives one hold back. `None`: not held here.
    pub fn release(&mut self, name: &str) -> Option<()> {
        let name = Name::User(name.into());
        let at = self.counts.iter().position(|(n, _)| **n == name)?;
        self.counts[at].1 -= 1;
        if self.counts[at].1 == 0 {
            self.counts.swap_remove(at);
            self.pins.as_mut()?.release_where(|t| *t.name == name);
        }
        Some(())
    }

    /// Gives all holds back; how many there were.
    pub fn release_all(&mut self) -> u64 {
        if let Some(pins) = &mut self.pins {
            pins.release_where(|_| true);
        }
        self.counts.drain(..).map(|(_, count)| count).sum()
    }
}
