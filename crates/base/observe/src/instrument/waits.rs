//! Waits, as crate `sync` has them: what can make a thread sleep takes one of these names.

use super::{Instrument, Kind};
use sync::waits::{Class, Wait};

pub(super) const WAITS: &[Instrument] = &TABLE;

const TABLE: [Instrument; Wait::COUNT] = {
    let mut table = [Instrument::new("", Kind::Wait); Wait::COUNT];
    let mut at = 0;
    while at < Wait::COUNT {
        let wait = Wait::ALL[at];
        let kind = if matches!(wait.class(), Class::Idle) { Kind::Idle } else { Kind::Wait };
        let (enabled, properties) = (wait.is_on(), wait.properties());
        let is_new = Instrument::new(wait.name(), kind);
        let timed = if matches!(wait.class(), Class::Table) { None } else { Some(enabled) };
        table[at] = Instrument { enabled, timed, properties, ..is_new };
        at += 1;
    }
    table
};
