//! All that is counted and timed, by MySQL's names: the rows of `performance_schema.setup_instruments`.
//!
//! An instrument is found by its name when the code is compiled ([`id`]); what has none does not compile. Whether one is
//! enabled and timed is a byte in [`setup`](crate::setup).

mod stages;
mod statements;
mod waits;

/// What kind of thing an instrument is of; the first part of its name, but for `idle`, `transaction` and `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Wait,
    Idle,
    Stage,
    Statement,
    Transaction,
    Memory,
    Error,
}

/// One row of `setup_instruments`, as it is when nobody has changed it.
#[derive(Clone, Copy, Debug)]
pub struct Instrument {
    pub name: &'static str,
    pub kind: Kind,
    pub enabled: bool,
    /// `None`: it has no duration.
    pub timed: Option<bool>,
    /// The SET of the column PROPERTIES.
    pub properties: &'static str,
    /// The SET of the column FLAGS; `None`: it has none.
    pub flags: Option<&'static str>,
    pub volatility: u8,
}

impl Instrument {
    /// Enabled, and timed.
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Instrument {
        Instrument { name, kind, enabled: true, timed: Some(true), properties: "", flags: None, volatility: 0 }
    }

    /// Enabled, without a duration.
    pub(crate) const fn untimed(name: &'static str, kind: Kind) -> Instrument {
        Instrument { timed: None, ..Instrument::new(name, kind) }
    }
}

const OTHERS: &[Instrument] =
    &[Instrument::new("transaction", Kind::Transaction), Instrument::untimed("error", Kind::Error)];

/// In this order they have their numbers. Those of a kind stand side by side.
const GROUPS: &[&[Instrument]] = &[statements::STATEMENTS, stages::STAGES, OTHERS, waits::WAITS];

/// How many there are.
pub const COUNT: usize = {
    let (mut sum, mut at) = (0, 0);
    while at < GROUPS.len() {
        sum += GROUPS[at].len();
        at += 1;
    }
    sum
};

/// How many of them are statements. They have the first numbers.
pub const STATEMENTS: usize = statements::STATEMENTS.len();

const FIRST_WAIT: usize = COUNT - waits::WAITS.len();

/// All of them, by number.
pub static ALL: [Instrument; COUNT] = {
    let mut all = [Instrument::new("", Kind::Wait); COUNT];
    let (mut group, mut to) = (0, 0);
    while group < GROUPS.len() {
        let mut at = 0;
        while at < GROUPS[group].len() {
            all[to] = GROUPS[group][at];
            to += 1;
            at += 1;
        }
        group += 1;
    }
    all
};

/// An instrument's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstrumentId(u16);

impl InstrumentId {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The instrument with this number.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub const fn from_index(index: usize) -> InstrumentId {
        assert!(index < COUNT);
        InstrumentId(index as u16)
    }

    /// The wait that it counts, if it is of waits. They have the last numbers.
    pub fn wait(self) -> Option<sync::waits::Wait> {
        sync::waits::Wait::from_index(self.index().checked_sub(FIRST_WAIT)?)
    }

    pub fn instrument(self) -> &'static Instrument {
        &ALL[self.index()]
    }
}

/// The instrument of this name. Made for constants: the search is done when the code is compiled.
///
/// # Panics
/// When there is none.
pub const fn id(name: &str) -> InstrumentId {
    match find(name) {
        Some(id) => id,
        None => panic!("no instrument has this name"),
    }
}

/// The instrument of this name, if there is one.
pub const fn find(name: &str) -> Option<InstrumentId> {
    let mut at = 0;
    while at < COUNT {
        if same(ALL[at].name.as_bytes(), name.as_bytes()) {
            return Some(InstrumentId(at as u16));
        }
        at += 1;
    }
    None
}

/// The same of a name in two parts.
pub const fn find_joined(first: &str, second: &str) -> Option<InstrumentId> {
    let mut at = 0;
    while at < COUNT {
        let name = ALL[at].name.as_bytes();
        if name.len() == first.len() + second.len() {
            let (a, b) = name.split_at(first.len());
            if same(a, first.as_bytes()) && same(b, second.as_bytes()) {
                return Some(InstrumentId(at as u16));
            }
        }
        at += 1;
    }
    None
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // From the end: names of one kind begin alike.
    let mut at = a.len();
    while at > 0 {
        at -= 1;
        if a[at] != b[at] {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<&str> = ALL.iter().map(|i| i.name).collect();
        assert_eq!(names.len(), COUNT);
        assert!(ALL.iter().enumerate().all(|(at, i)| find(i.name).map(InstrumentId::index) == Some(at)));
        assert!(ALL[..STATEMENTS].iter().all(|i| i.kind == Kind::Statement));
        let idle = find("idle").unwrap();
        assert_eq!((idle.wait(), idle.instrument().kind), (Some(sync::waits::Wait::Idle), Kind::Idle));
        assert_eq!(find("error").unwrap().wait(), None);
        const SELECT: InstrumentId = id("statement/sql/select");
        assert_eq!(SELECT.instrument().name, "statement/sql/select");
    }
}
