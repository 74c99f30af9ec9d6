//! What stored functions and triggers run with, inside of a statement that has borrowed the session.
//!
//! ```text
//!   plan      Closure: tables of all that the statement calls, which it pins like its own
//!   execute   the session lends its dictionary and its rights; Within, a Host, runs sub-statements in the statement's transaction
//!   end       the session takes them back; plans of sub-statements stay here for the next statement
//! ```

use super::{Compiled, Plans};
use crate::{PlainReads, Prepared};
use catalog::{RoutineKind, Version};
use plan::TableUse;
use std::sync::Arc;
use types::codes::*;
use types::{Result, SqlError};

/// A plan of a sub-statement.
pub type SubPlan = Box<Prepared>;

/// Whose rights sub-statements have.
pub trait Rights: Send + std::any::Any {
    /// May the statement do what it does? Errors 1142, 1143, 1356, 1370, 1449.
    fn check(&mut self, prepared: &Prepared) -> Result<()>;
    /// Error 1370.
    fn may_call(&mut self, schema: &str, kind: RoutineKind, name: &str) -> Result<()>;
    /// A routine begins: its definer's rights are at hand, unless it is SQL SECURITY INVOKER. CURRENT_USER(), where that changes.
    /// `table`: of a trigger; `caller`: of a call in a view, its definer. Errors 1142, 1370, 1449.
    fn enter(&mut self, routine: &Arc<Compiled>, table: Option<&str>, caller: Option<&str>) -> Result<Option<String>>;
    /// May the trigger read and set the columns that it names? Errors 1143.
    fn may_touch(&mut self, schema: &str, table: &str, trigger: &Compiled) -> Result<()>;
    fn leave(&mut self);
}

/// What a routine has changed of the session's, as it was; `None`: it has not.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub database: Option<Option<String>>,
    pub sql_mode: Option<u64>,
    /// `collation_connection`
    pub collation: Option<types::CollationId>,
    /// CURRENT_USER(): the definer.
    pub user: Option<String>,
}

/// Kept by a session from statement to statement.
#[derive(Default)]
pub struct Lent {
    /// The dictionary that the statement's tables are pinned in; `None` between statements.
    version: Option<Arc<Version>>,
    rights: Option<Box<dyn Rights>>,
    /// `stored_program_cache`
    plans_max: usize,
    /// Of the session's temporary tables, for which plans and closures were made.
    generation: u64,
    /// Those of sub-statements that no routine uses at the moment; that which was used longest ago comes first.
    plans: Vec<Plans<SubPlan>>,
    /// The routines that run, the innermost last.
    pub(crate) running: Vec<Arc<Compiled>>,
    /// Tables of the statements that wait for them, by id, the innermost last.
    pub(crate) used: Vec<Arc<[u64]>>,
    /// Tables that the outermost statement has pinned, by id.
    pub(crate) pinned: Arc<[u64]>,
    /// How the outermost statement reads: its sub-statements read so.
    pub(crate) reads: Option<PlainReads>,
    pub(crate) closures: Closures,
    /// What the routines that run, or are planned, have changed of the session's, the innermost last.
    pub surrounded: Vec<Surroundings>,
}

impl Lent {
    /// The session's, of which there is one where statements call routines.
    pub fn of(lent: Option<&mut dyn std::any::Any>) -> Result<&mut Lent> {
        let lent = lent.and_then(|lent| lent.downcast_mut::<Lent>());
        lent.ok_or_else(|| expr::error::unsupported("stored functions and triggers here"))
    }

    pub(crate) fn version(&self) -> Result<Arc<Version>> {
        self.version.clone().ok_or_else(|| expr::error::unsupported("stored functions and triggers here"))
    }

    pub(crate) fn rights(&mut self) -> Result<&mut Box<dyn Rights>> {
        self.rights.as_mut().ok_or_else(|| SqlError::new(ER_UNKNOWN_ERROR, "no rights were lent"))
    }

    pub(crate) fn take_plans(&mut self, compiled: &Arc<Compiled>) -> Plans<SubPlan> {
        match self.plans.iter().rposition(|p| Arc::ptr_eq(&p.compiled, compiled)) {
            Some(at) => self.plans.remove(at),
            None => Plans::new(compiled),
        }
    }

    pub(crate) fn keep_plans(&mut self, plans: Plans<SubPlan>) {
        self.plans.push(plans);
        if self.plans.len() > self.plans_max {
            self.plans.remove(0);
        }
    }

    /// What was planned under other settings is planned anew.
    pub fn forget_plans(&mut self) {
        self.plans.clear();
        self.closures = Closures::default();
    }

    /// A statement begins that calls routines. `generation`: of the session's temporary tables.
    pub fn begin(&mut self, version: Arc<Version>, rights: Box<dyn Rights>, plans_max: usize, generation: u64) {
        if self.generation != generation {
            self.forget_plans();
            self.generation = generation;
        }
        (self.version, self.rights, self.plans_max) = (Some(version), Some(rights), plans_max);
    }

    /// The statement is over, also where a panic has ended it.
    pub fn end(&mut self) -> Option<Box<dyn Rights>> {
        self.running.clear();
        self.used.clear();
        self.closures.abandon();
        (self.version, self.reads) = (None, None);
        self.rights.take()
    }
}

/// The tables of routines and of all that they call.
#[derive(Default)]
pub(crate) struct Closures {
    /// What the known ones hold for.
    version: Option<Arc<Version>>,
    known: Vec<(Arc<Compiled>, Arc<[TableUse]>)>,
    /// Those that are being looked at.
    pub open: Vec<Arc<Compiled>>,
    /// A routine calls itself: what was found below is not all.
    pub is_cut: bool,
}

/// Closures that are kept.
const CLOSURES_MAX: usize = 256;

impl Closures {
    /// Looking was ended by a panic.
    fn abandon(&mut self) {
        self.open.clear();
        self.is_cut = false;
    }

    pub fn find(&mut self, version: &Arc<Version>, routine: &Arc<Compiled>) -> Option<Arc<[TableUse]>> {
        if !self.version.as_ref().is_some_and(|v| Arc::ptr_eq(v, version)) {
            self.known.clear();
            self.version = Some(Arc::clone(version));
        }
        let found = self.known.iter().find(|(r, _)| Arc::ptr_eq(r, routine));
        found.map(|(_, tables)| Arc::clone(tables))
    }

    pub fn keep(&mut self, routine: &Arc<Compiled>, tables: &Arc<[TableUse]>) {
        if self.is_cut && !self.open.is_empty() {
            return;
        }
        self.is_cut = false;
        if self.known.len() < CLOSURES_MAX {
            self.known.push((Arc::clone(routine), Arc::clone(tables)));
        }
    }
}
