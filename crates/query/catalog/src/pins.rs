//! Metadata locks, first form: which tables each running transaction uses, in lanes that only their sessions write.
//!
//! ```text
//!   lane of session 7:  | table 12 | table 40 | 0 | 0 | ... | flags |     two cache lines, written by session 7 alone
//!
//!   session                                     DDL on table 12
//!   -------                                     ---------------
//!   slot := 12                                  gate(12) := closed
//!   fence SeqCst          <- these pair ->      fence SeqCst
//!   gate(12) open?  run : unpin and wait        any lane with 12?  wait : go on
//! ```
//!
//! One of the two sees the other: either the session finds the gate closed, or DDL finds the pin. So a statement writes
//! its own lane, reads a gate that nobody writes, and that is all. Pins last until the transaction ends.
//!
//! A session that waits at a gate while it pins a table that the DDL waits for would wait for ever: the DDL finds it,
//! calls it the victim, and the session gets error 1213.

use engine::Interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};
use sync::{LaneId, Lanes, Parker};
use types::{Result, SqlError, err};

/// Tables that one transaction can pin one by one; with more it pins every table.
const SLOTS: usize = 13;
/// In a slot: all tables.
const ALL: u64 = u64::MAX;
/// How often a waiter looks whether it was killed.
const LOOK: Duration = Duration::from_millis(20);

/// One session's pins.
#[derive(Debug, Default)]
pub(crate) struct PinLane {
    /// Table ids, 0 for none. W: the session. R: DDL.
    tables: [AtomicU64; SLOTS],
    /// W: the session, true while it waits at a gate. R: DDL.
    waiting: AtomicBool,
    /// W: DDL sets it, the session clears it.
    victim: AtomicBool,
}

const _: () = assert!(size_of::<PinLane>() <= 128);

impl PinLane {
    fn pins(&self, table: u64) -> bool {
        // Relaxed: ordered by the fence in `wait_for_pins`.
        self.tables.iter().any(|slot| matches!(slot.load(Ordering::Relaxed), t if t == table || t == ALL))
    }
}

/// Closed while DDL changes the table. Shared by all versions of the table.
#[derive(Debug, Default)]
pub struct Gate {
    /// 0 open, 1 closed. W: DDL. R: statements.
    closed: AtomicU32,
}

impl Gate {
    #[inline]
    fn is_closed(&self) -> bool {
        // Acquire: pairs with Release in `open`; who finds the gate open after waiting sees the new version.
        self.closed.load(Ordering::Acquire) != 0
    }

    pub(crate) fn close(&self) {
        // Relaxed: ordered by the fence in `wait_for_pins`.
        self.closed.store(1, Ordering::Relaxed);
    }

    pub(crate) fn open(&self) {
        // Release: pairs with Acquire in `is_closed`.
        self.closed.store(0, Ordering::Release);
        sync::futex::wake_all(&self.closed);
    }
}

/// How long and until when to wait for metadata locks.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// `lock_wait_timeout`; then error 1205.
    pub timeout: Duration,
    /// KILL ends the wait with error 1317.
    pub interrupt: &'a Interrupt,
}

impl Waiting<'_> {
    pub(crate) fn check(&self, since: Instant) -> Result<()> {
        match self.interrupt.reason() {
            0 if since.elapsed() < self.timeout => Ok(()),
            0 => Err(err!(1205)),
            3 => Err(SqlError::new(3024, "Query execution was interrupted, maximum statement execution time exceeded")),
            _ => Err(err!(1317)),
        }
    }
}

/// A session's handle on its lane.
#[derive(Debug)]
pub struct MetadataPins {
    lanes: Arc<Lanes<PinLane>>,
    lane: LaneId,
    /// Slots in use. Private copy, so that a statement reads no atomics to find out.
    used: usize,
}

impl MetadataPins {
    pub(crate) fn claim(lanes: &Arc<Lanes<PinLane>>) -> Option<MetadataPins> {
        let lane = lanes.claim()?;
        Some(MetadataPins { lanes: Arc::clone(lanes), lane, used: 0 })
    }

    pub(crate) fn lane_id(&self) -> LaneId {
        self.lane
    }

    /// Pins a table for the transaction. `Ok(false)`: DDL was in progress; it has ended, look the table up again.
    /// Errors: 1205, 1213, 1317.
    #[inline]
    pub fn pin(&mut self, table: u64, gate: &Gate, waiting: Waiting<'_>) -> Result<bool> {
        debug_assert!(table != 0 && table != ALL);
        let lane = self.lanes.get(self.lane);
        // Relaxed: our own words.
        if self.used > 0 && lane.pins(table) {
            return Ok(true);
        }
        if self.used < SLOTS {
            // Relaxed: ordered by the fence.
            lane.tables[self.used].store(table, Ordering::Relaxed);
            self.used += 1;
        } else {
            // Relaxed: ordered by the fence.
            lane.tables[SLOTS - 1].store(ALL, Ordering::Relaxed);
        }
        // SeqCst fence: pairs with the one in `wait_for_pins`. Either we see the gate closed or DDL sees the pin.
        fence(Ordering::SeqCst);
        if !gate.is_closed() {
            return Ok(true);
        }
        self.wait_slow(table, gate, waiting)?;
        Ok(false)
    }

    #[cold]
    fn wait_slow(&mut self, table: u64, gate: &Gate, waiting: Waiting<'_>) -> Result<()> {
        let lane = self.lanes.get(self.lane);
        // Not ours yet: DDL need not wait for this pin. (With more tables than slots the last slot stays "all": then the
        // DDL finds us waiting and makes us the victim, which errs on the side of an error.)
        // Relaxed: our own word.
        if lane.tables[self.used - 1].load(Ordering::Relaxed) == table {
            self.used -= 1;
            // Release: pairs with Acquire fence in `wait_for_pins`.
            lane.tables[self.used].store(0, Ordering::Release);
        }
        // Release: pairs with Acquire in `wait_for_pins`: who finds us waiting finds the pin withdrawn.
        lane.waiting.store(true, Ordering::Release);
        let since = Instant::now();
        let result = loop {
            if !gate.is_closed() {
                break Ok(());
            }
            // Acquire: pairs with Release in `wait_for_pins`.
            if lane.victim.load(Ordering::Acquire) {
                break Err(err!(1213));
            }
            if let Err(e) = waiting.check(since) {
                break Err(e);
            }
            sync::futex::wait(&gate.closed, 1, Some(LOOK));
        };
        // Release: pairs with Acquire in `wait_for_pins`.
        lane.waiting.store(false, Ordering::Release);
        lane.victim.store(false, Ordering::Release);
        result
    }

    /// The transaction has ended: it uses no table any more.
    #[inline]
    pub fn release(&mut self) {
        if self.used == 0 {
            return;
        }
        let lane = self.lanes.get(self.lane);
        for slot in &lane.tables[..self.used] {
            // Release: pairs with the Acquire fence in `wait_for_pins`; what the transaction did is done for the DDL.
            slot.store(0, Ordering::Release);
        }
        self.used = 0;
    }

    /// Does the transaction use any table?
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

impl Drop for MetadataPins {
    fn drop(&mut self) {
        self.release();
        self.lanes.release(self.lane);
    }
}

/// DDL: the gate of `table` was closed by the caller; waits until no other lane pins the table.
pub(crate) fn wait_for_pins(lanes: &Lanes<PinLane>, own: LaneId, table: u64, waiting: Waiting<'_>) -> Result<()> {
    // SeqCst fence: pairs with the one in `MetadataPins::pin`.
    fence(Ordering::SeqCst);
    let since = Instant::now();
    let mut parker = Parker::new();
    let mut pause = Duration::from_micros(50);
    loop {
        let mut pinned = false;
        for (id, lane) in lanes.iter_claimed() {
            if id != own && lane.pins(table) {
                pinned = true;
                // Acquire: pairs with Release in `wait_slow`.
                if lane.waiting.load(Ordering::Acquire) {
                    // It waits for us and we for it.
                    lane.victim.store(true, Ordering::Release);
                }
            }
        }
        if !pinned {
            // Acquire fence: pairs with Release in `release`.
            fence(Ordering::Acquire);
            return Ok(());
        }
        waiting.check(since)?;
        // A look costs one pass over the lanes; sessions do not pay for waking us.
        parker.park_timeout(pause);
        pause = (pause * 2).min(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes() -> Arc<Lanes<PinLane>> {
        Arc::new(Lanes::new(64))
    }

    fn waiting(interrupt: &Interrupt, ms: u64) -> Waiting<'_> {
        Waiting { timeout: Duration::from_millis(ms), interrupt }
    }

    #[test]
    fn ddl_waits_for_pins_and_sessions_wait_at_gates() {
        let (lanes, gate, interrupt) = (lanes(), Gate::default(), Interrupt::default());
        let (mut a, b) = (MetadataPins::claim(&lanes).unwrap(), MetadataPins::claim(&lanes).unwrap());
        assert_eq!(a.pin(7, &gate, waiting(&interrupt, 0)), Ok(true));
        gate.close();
        let code = |r: Result<()>| r.map_err(|e| e.code);
        assert_eq!(code(wait_for_pins(&lanes, b.lane_id(), 7, waiting(&interrupt, 1))), Err(1205));
        assert_eq!(code(wait_for_pins(&lanes, b.lane_id(), 8, waiting(&interrupt, 1))), Ok(()));
        // What a transaction has pinned stays usable.
        assert_eq!(a.pin(7, &gate, waiting(&interrupt, 0)), Ok(true));
        a.release();
        assert_eq!(code(wait_for_pins(&lanes, b.lane_id(), 7, waiting(&interrupt, 1))), Ok(()));
        assert_eq!(a.pin(7, &gate, waiting(&interrupt, 1)).unwrap_err().code, 1205);
        assert!(a.is_empty());
        interrupt.raise(1);
        assert_eq!(a.pin(7, &gate, waiting(&interrupt, 1000)).unwrap_err().code, 1317);
    }

    #[test]
    fn a_cycle_through_a_gate_has_a_victim() {
        let (lanes, gates) = (lanes(), [Gate::default(), Gate::default()]);
        let (mut a, b) = (MetadataPins::claim(&lanes).unwrap(), MetadataPins::claim(&lanes).unwrap());
        let interrupt = Interrupt::default();
        a.pin(1, &gates[0], waiting(&interrupt, 0)).unwrap();
        gates[0].close();
        gates[1].close();
        std::thread::scope(|scope| {
            let session = scope.spawn(|| {
                let interrupt = Interrupt::default();
                let code = a.pin(2, &gates[1], waiting(&interrupt, 60_000)).unwrap_err().code;
                a.release();
                code
            });
            wait_for_pins(&lanes, b.lane_id(), 1, waiting(&interrupt, 60_000)).unwrap();
            assert_eq!(session.join().unwrap(), 1213);
        });
    }

    #[test]
    fn many_tables_pin_all() {
        let (lanes, gate, interrupt) = (lanes(), Gate::default(), Interrupt::default());
        let (mut a, b) = (MetadataPins::claim(&lanes).unwrap(), MetadataPins::claim(&lanes).unwrap());
        for table in 1..=SLOTS as u64 + 5 {
            assert_eq!(a.pin(table, &gate, waiting(&interrupt, 0)), Ok(true));
        }
        gate.close();
        assert!(wait_for_pins(&lanes, b.lane_id(), 999, waiting(&interrupt, 1)).is_err());
        a.release();
        assert!(wait_for_pins(&lanes, b.lane_id(), 3, waiting(&interrupt, 1)).is_ok());
    }
}
