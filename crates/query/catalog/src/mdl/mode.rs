//! Modes of metadata locks and the two matrices that rule them: which may be held at once, and who waits behind whom.
//!
//! The names and the tables are MySQL's, so that `performance_schema.metadata_locks` shows what its users expect.

/// What a metadata lock allows its holder. [`Mode::ALL`] is in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// IX. On the scopes (global, commit, backup, schema): something below will be changed.
    IntentionExclusive,
    /// S. On the scopes: nothing below is changed meanwhile. On tables: the definition is read.
    Shared,
    /// SH. Reads the definition without waiting behind pending DDL.
    SharedHighPrio,
    /// SR. Reads rows: SELECT.
    SharedRead,
    /// SW. Changes rows: INSERT, UPDATE, DELETE, SELECT ... FOR UPDATE.
    SharedWrite,
    /// SU. Reads and changes rows, and may be upgraded to SNW, SNRW, X: the beginning of ALTER TABLE.
    SharedUpgradable,
    /// SRO. Reads rows while nobody changes any: LOCK TABLES ... READ.
    SharedReadOnly,
    /// SNW. Others may read rows: ALTER TABLE while it copies or builds an index.
    SharedNoWrite,
    /// SNRW. Others may only look at the definition: LOCK TABLES ... WRITE.
    SharedNoReadWrite,
    /// X. Nobody else: the definition changes.
    Exclusive,
}

use Mode::*;

impl Mode {
    pub const ALL: [Mode; 10] = [
        IntentionExclusive,
        Shared,
        SharedHighPrio,
        SharedRead,
        SharedWrite,
        SharedUpgradable,
        SharedReadOnly,
        SharedNoWrite,
        SharedNoReadWrite,
        Exclusive,
    ];

    /// As the column LOCK_TYPE says it.
    pub fn name(self) -> &'static str {
        match self {
            IntentionExclusive => "INTENTION_EXCLUSIVE",
            Shared => "SHARED",
            SharedHighPrio => "SHARED_HIGH_PRIO",
            SharedRead => "SHARED_READ",
            SharedWrite => "SHARED_WRITE",
            SharedUpgradable => "SHARED_UPGRADABLE",
            SharedReadOnly => "SHARED_READ_ONLY",
            SharedNoWrite => "SHARED_NO_WRITE",
            SharedNoReadWrite => "SHARED_NO_READ_WRITE",
            Exclusive => "EXCLUSIVE",
        }
    }

    /// May one session be granted `self` while another holds `held`?
    ///
    /// ```text
    ///              held  IX  S  SH SR SW SU SRO SNW SNRW X
    ///   asked  IX        +   -  .  .  .  .  .   .   .    -      the scopes know IX, S and X alone
    ///          S         -   +  +  +  +  +  +   +   +    -
    ///          SH        .   +  +  +  +  +  +   +   +    -
    ///          SR        .   +  +  +  +  +  +   +   -    -
    ///          SW        .   +  +  +  +  +  -   -   -    -
    ///          SU        .   +  +  +  +  -  +   -   -    -
    ///          SRO       .   +  +  +  -  +  +   +   -    -
    ///          SNW       .   +  +  +  -  -  +   -   -    -
    ///          SNRW      .   +  +  -  -  -  -   -   -    -
    ///          X         -   -  -  -  -  -  -   -   -    -
    /// ```
    pub fn compatible(self, held: Mode) -> bool {
        let refused: &[Mode] = match self {
            IntentionExclusive => &[Shared, Exclusive],
            Shared => &[IntentionExclusive, Exclusive],
            SharedHighPrio => &[Exclusive],
            SharedRead => &[SharedNoReadWrite, Exclusive],
            SharedWrite => &[SharedReadOnly, SharedNoWrite, SharedNoReadWrite, Exclusive],
            SharedUpgradable => &[SharedUpgradable, SharedNoWrite, SharedNoReadWrite, Exclusive],
            SharedReadOnly => &[SharedWrite, SharedNoReadWrite, Exclusive],
            SharedNoWrite => &[SharedWrite, SharedUpgradable, SharedNoWrite, SharedNoReadWrite, Exclusive],
            SharedNoReadWrite => &[
                SharedRead,
                SharedWrite,
                SharedUpgradable,
                SharedReadOnly,
                SharedNoWrite,
                SharedNoReadWrite,
                Exclusive,
            ],
            Exclusive => &Mode::ALL,
        };
        !refused.contains(&held)
    }

    /// Must a request for `self` wait while another session waits for `pending`, whoever came first? So later statements stand
    /// behind a waiting DDL. `starved`: `max_write_lock_count` strong locks in a row were granted while weak ones waited;
    /// now weak ones go first.
    ///
    /// ```text
    ///           pending  IX  S  SH SR SW SU SRO SNW SNRW X
    ///   asked  IX        +   -  .  .  .  .  .   .   .    -
    ///          S         +   +  +  +  +  +  +   +   +    -
    ///          SH        .   +  +  +  +  +  +   +   +    +
    ///          SR        .   +  +  +  +  +  +   +   -    -
    ///          SW        .   +  +  +  +  +  +   -   -    -
    ///          SU        .   +  +  +  +  +  +   +   +    -
    ///          SRO       .   +  +  +  -  +  +   +   -    -
    ///          SNW       .   +  +  +  +  +  +   +   +    -
    ///          SNRW      .   +  +  +  +  +  +   +   +    -
    ///          X         +   +  +  +  +  +  +   +   +    +
    /// ```
    pub fn waits_behind(self, pending: Mode, starved: bool) -> bool {
        if starved && (self.is_strong() || pending.is_strong()) {
            return self.is_strong() && !pending.is_strong() && !self.compatible(pending);
        }
        match self {
            IntentionExclusive => matches!(pending, Shared | Exclusive),
            SharedHighPrio | Exclusive => false,
            Shared | SharedUpgradable | SharedNoWrite | SharedNoReadWrite => pending == Exclusive,
            SharedRead => matches!(pending, SharedNoReadWrite | Exclusive),
            SharedWrite => matches!(pending, SharedNoWrite | SharedNoReadWrite | Exclusive),
            SharedReadOnly => matches!(pending, SharedWrite | SharedNoReadWrite | Exclusive),
        }
    }

    /// Those that `max_write_lock_count` counts.
    pub fn is_strong(self) -> bool {
        matches!(self, SharedNoWrite | SharedNoReadWrite | Exclusive)
    }

    /// Does the holder of `self` need nothing more to do what `other` allows?
    pub fn covers(self, other: Mode) -> bool {
        let weaker: &[Mode] = match self {
            Exclusive => return true,
            IntentionExclusive | SharedHighPrio => &[],
            Shared => &[SharedHighPrio],
            SharedRead => &[Shared, SharedHighPrio],
            SharedWrite | SharedUpgradable | SharedReadOnly => &[Shared, SharedHighPrio, SharedRead],
            SharedNoWrite => &[Shared, SharedHighPrio, SharedRead, SharedUpgradable, SharedReadOnly],
            SharedNoReadWrite => return other != Exclusive,
        };
        self == other || weaker.contains(&other)
    }
}

/// How long a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duration {
    Statement,
    Transaction,
    /// Until it is given back by name: LOCK TABLES, FLUSH TABLES WITH READ LOCK, GET_LOCK.
    Explicit,
}

impl Duration {
    /// As the column LOCK_DURATION says it.
    pub fn name(self) -> &'static str {
        match self {
            Duration::Statement => "STATEMENT",
            Duration::Transaction => "TRANSACTION",
            Duration::Explicit => "EXPLICIT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of MySQL's documentation, rows as in [`Mode::ALL`]; `.` are pairs that no object has both of.
    const HELD: [&str; 10] = [
        "+-.......-",
        "-++++++++-",
        ".++++++++-",
        ".+++++++--",
        ".+++++----",
        ".++++-+---",
        ".+++-+++--",
        ".+++--+---",
        ".++-------",
        "----------",
    ];
    const PENDING: [&str; 10] = [
        "+-.......-",
        "+++++++++-",
        ".+++++++++",
        ".+++++++--",
        ".++++++---",
        ".++++++++-",
        ".+++-+++--",
        ".++++++++-",
        ".++++++++-",
        "++++++++++",
    ];

    fn pairs(table: [&'static str; 10]) -> impl Iterator<Item = (Mode, Mode, char)> {
        let row =
            move |asked: Mode| table[asked as usize].chars().zip(Mode::ALL).map(move |(c, other)| (asked, other, c));
        Mode::ALL.into_iter().flat_map(row).filter(|(.., c)| *c != '.')
    }

    #[test]
    fn every_pair_of_modes_is_as_documented() {
        for (asked, held, c) in pairs(HELD) {
            assert_eq!(asked.compatible(held), c == '+', "{asked:?} asked while {held:?} is held");
            assert_eq!(asked.compatible(held), held.compatible(asked), "{asked:?} and {held:?}");
        }
        for (asked, pending, c) in pairs(PENDING) {
            assert_eq!(asked.waits_behind(pending, false), c == '-', "{asked:?} asked while {pending:?} waits");
        }
    }

    #[test]
    fn nobody_waits_behind_each_other() {
        for starved in [false, true] {
            for a in Mode::ALL {
                for b in Mode::ALL {
                    assert!(
                        !(a.waits_behind(b, starved) && b.waits_behind(a, starved)),
                        "{a:?} and {b:?} would wait for each other for ever"
                    );
                    assert!(!a.waits_behind(b, starved) || !a.compatible(b), "{a:?} waits behind {b:?} for nothing");
                }
            }
        }
    }

    #[test]
    fn starved_readers_pass_pending_ddl() {
        for weak in [Shared, SharedRead, SharedWrite, SharedReadOnly] {
            assert!(weak.waits_behind(Exclusive, false) && !weak.waits_behind(Exclusive, true));
            assert!(Exclusive.waits_behind(weak, true) && !Exclusive.waits_behind(weak, false));
        }
    }

    #[test]
    fn stronger_locks_cover_weaker_ones() {
        for mode in Mode::ALL {
            assert!(mode.covers(mode) && Exclusive.covers(mode), "{mode:?}");
        }
        for (strong, weak) in [
            (SharedNoReadWrite, SharedWrite),
            (SharedNoReadWrite, SharedRead),
            (SharedWrite, SharedRead),
            (SharedReadOnly, SharedRead),
            (SharedNoWrite, SharedRead),
            (SharedNoWrite, SharedUpgradable),
        ] {
            assert!(strong.covers(weak), "{strong:?} {weak:?}");
            assert!(!weak.covers(strong), "{weak:?} {strong:?}");
        }
        // Reading with writers shut out is no leave to write.
        assert!(!SharedReadOnly.covers(SharedWrite) && !SharedNoWrite.covers(SharedWrite));
    }
}
