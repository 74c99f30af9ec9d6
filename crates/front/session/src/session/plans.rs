//! Planned statements: what they pin and lock, and the cache of those that come as text.

use crate::digest_place::KnownPlace;
use crate::sink::Head;
use catalog::mdl::{Mode, Name};
use catalog::{Pin, Version};
use expr::Stage;
use observe::CounterId;
use plan::TableUse;
use plan::hints::StatementHints;
use run::program::Form;
use run::{Prepared, Uses};
use sql::ast::{Expr, Parsed};
use sql::digest::Normalized;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use types::{DataType, Result};

/// Plans of unprepared statements that a session keeps.
pub(crate) const PLANS_MAX: usize = 64;

/// Statements in one COM_QUERY whose plan may be longer than this are planned each time.
pub(crate) const CACHED_TEXT_MAX: usize = 16 << 10;

/// The generation of plans that are made anew each time.
pub(crate) const NEVER: u64 = u64::MAX;

/// A statement for the executor: its tree, its plan for one version of the dictionary, and the metadata locks that it takes. Its other
/// fields are what each execution would ask of the two: they are answered once, when it is planned.
pub(crate) struct Planned {
    pub parsed: Arc<Parsed>,
    pub prepared: Prepared,
    /// How a part of a stored program is planned.
    pub form: Option<Box<Form>>,
    /// Its stored tables.
    pub pins: Vec<Pin>,
    /// It changes rows of stored tables, or locks them exclusively.
    pub changes: bool,
    /// The version since which the trees of all of them are readable, but for those that are read as they are now.
    pub readable_since: u64,
    /// Of tables that are not transactional.
    pub rows: Option<Box<RowLocks>>,
    pub reads_virtual: bool,
    /// Of the session's temporary tables, when it was planned.
    pub generation: u64,
    /// Types of its parameters where they stand for literals: what is known of these holds for each plan.
    pub literals: Option<Box<[DataType]>>,
    pub com: CounterId,
    /// A number of its own among all plans.
    pub number: u64,
    pub stage: Stage,
    /// Hints that change variables while it runs.
    pub hinted: Option<Box<StatementHints>>,
    /// A query or something that answers rows.
    pub is_query: bool,
    /// Its rows go to a file of the server's.
    pub into_file: bool,
    /// What goes before its rows, once that was sent.
    pub head: Option<Head>,
    /// Where its executions are summed up.
    pub place: KnownPlace,
}

impl Planned {
    /// Does it read rows as a snapshot shows them?
    #[inline]
    pub fn takes_snapshot(&self) -> bool {
        self.is_query && !self.prepared.locks()
    }
}

/// Plans by normalised text; the one that was used longest ago goes first.
#[derive(Default)]
pub(crate) struct PlanCache {
    pub plans: HashMap<u128, Cached, BuildHasherDefault<DigestHasher>>,
    /// Counts uses.
    pub clock: u64,
    pub normalized: Normalized,
    pub scratch: Vec<u8>,
}

pub(crate) struct Cached {
    pub planned: Box<Planned>,
    /// It is planned for the types that the user variables have which it reads.
    pub reads_variables: bool,
    /// [`PlanCache::clock`] at the last use.
    pub used: u64,
}

/// The key is a digest already: its low half serves as hash.
#[derive(Default)]
pub(crate) struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are u128");
    }

    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }
}

impl PlanCache {
    pub fn clear(&mut self) {
        *self = PlanCache::default();
    }

    /// User variables have got values of other types.
    #[cold]
    pub fn forget_variables(&mut self) {
        self.plans.retain(|_, cached| !cached.reads_variables);
    }

    pub fn insert(&mut self, digest: u128, planned: Box<Planned>) {
        while self.plans.len() >= PLANS_MAX {
            let oldest = self.plans.iter().min_by_key(|(_, cached)| cached.used).map(|(digest, _)| *digest);
            self.plans.remove(&oldest.expect("it is not empty"));
        }
        let reads_variables = planned.parsed.exprs().iter().any(|e| matches!(e, Expr::UserVar(_)));
        self.plans.insert(digest, Cached { planned, reads_variables, used: self.clock });
    }
}

/// The stored tables of a statement and the routines that it calls, each once, and the version since which all that it reads are readable.
pub(crate) fn pins_of(prepared: &Prepared, version: &Version) -> (Vec<Pin>, u64) {
    let (mut pins, mut readable_since) = (prepared.called().to_vec(), 0);
    for t in prepared.tables() {
        if let Some(table) = version.table(&t.schema, &t.table)
            && table.is_base()
            && !table.temporary
        {
            // The planner names each table once.
            pins.push(Pin::new(&t.schema, &t.table, t.is_opened_for_write()));
            // An INSERT writes whatever the snapshot shows.
            let is_read = t.read || t.lock || t.by_routine || (t.update || t.delete) && !t.insert;
            if table.engine.is_transactional() && is_read {
                readable_since = readable_since.max(table.readable_since);
            }
        }
    }
    (pins, readable_since)
}

/// Error 3989 where the statement writes a table of a schema that is READ ONLY.
pub(crate) fn check_schemas(prepared: &Prepared, version: &Version) -> Result<()> {
    let is_shared = |t: &TableUse| version.table(&t.schema, &t.table).is_some_and(|t| t.is_base() && !t.temporary);
    let mut written = prepared.tables().iter().filter(|t| t.is_written() && is_shared(t));
    written.try_for_each(|t| version.check_writable(&t.schema))
}

/// What a statement locks beside its tables.
pub(crate) struct RowLocks {
    /// In one order for all sessions.
    pub locks: Vec<(Arc<Name>, Mode)>,
    /// It writes such tables, and reads some: what others have committed there has to be visible, not only be on its way.
    pub rests_on_others: bool,
    /// It writes such tables.
    pub writes: bool,
    /// And others.
    pub mixes: bool,
}

impl RowLocks {
    /// `None`: all of its tables are transactional, or it has none.
    pub fn of(prepared: &Prepared, version: &Version) -> Option<Box<RowLocks>> {
        if matches!(prepared.uses(), Uses::Nothing | Uses::Transaction) {
            return None;
        }
        let mode = |t: &TableUse| match t.is_written() {
            true => Some(Mode::Exclusive),
            false => t.lock.then_some(Mode::SharedReadOnly),
        };
        let used = tables(prepared, version);
        let reads = used.iter().any(|(t, _)| t.read);
        let locks: Vec<_> = used.into_iter().filter_map(|(t, name)| Some((name, mode(t)?))).collect();
        let rests_on_others = reads && !locks.is_empty();
        let writes = locks.iter().any(|(_, mode)| *mode == Mode::Exclusive);
        let is_transactional = |t: &TableUse| {
            let table = version.table(&t.schema, &t.table);
            t.is_written() && table.is_some_and(|t| t.is_base() && !t.temporary && t.engine.is_transactional())
        };
        let mixes = writes && prepared.tables().iter().any(is_transactional);
        Some(Box::new(RowLocks { locks, rests_on_others, writes, mixes }))
    }
}

/// The tables of a statement that are not transactional and that others know, with the names of their rows, in the order of those.
pub(crate) fn tables<'p>(prepared: &'p Prepared, version: &Version) -> Vec<(&'p TableUse, Arc<Name>)> {
    let is_one = |t: &&TableUse| {
        let table = version.table(&t.schema, &t.table);
        table.is_some_and(|t| t.is_base() && !t.temporary && !t.engine.is_transactional())
    };
    let name = |t: &TableUse| Arc::new(Name::Rows(t.schema.as_str().into(), t.table.as_str().into()));
    let mut used: Vec<_> = prepared.tables().iter().filter(is_one).map(|t| (t, name(t))).collect();
    used.sort_by(|a, b| a.1.cmp(&b.1));
    used
}
