//! What a run does, as far as its seed decides it: events, each with random numbers of its own, so that an event that is left out
//! changes none of the others' choices.

use std::collections::BTreeSet;

/// Something that a run does, and that it could leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A step of a session, of the background, or of the disk.
    Step(u64),
    /// What befalls the start after the life that ended in this step.
    Start(u64),
}

/// The events of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    /// Steps after which the run ends.
    pub steps: u64,
    pub left_out: BTreeSet<Event>,
}

impl Plan {
    pub fn new(seed: u64) -> Plan {
        Plan { seed, steps: u64::MAX, left_out: BTreeSet::new() }
    }

    /// The random numbers of an event; none: it is left out.
    pub fn random(&self, event: Event) -> Option<Random> {
        let salt = match event {
            Event::Step(step) => 2 * step,
            Event::Start(step) => 2 * step + 1,
        };
        (!self.left_out.contains(&event)).then(|| Random::new(self.seed, salt))
    }

    /// The seed's own.
    pub fn of_all(&self) -> Random {
        Random::new(self.seed, u64::MAX)
    }
}

/// SplitMix64.
pub struct Random(u64);

impl Random {
    fn new(seed: u64, salt: u64) -> Random {
        let mut of_seed = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        Random(of_seed.next() ^ salt.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}
