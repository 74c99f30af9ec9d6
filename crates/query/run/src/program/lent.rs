//! What stored functions and triggers run with, inside of a statement that has borrowed the session.
//!
//! ```text
//!   plan      Closure: tables of all that the statement calls, which it pins like its own
//!   execute   the session lends its dictionary and its rights; Within, a Host, runs sub-statements in the statement's transaction
//!   end       the session takes them back; plans of sub-statements stay here for the next statement
//! ```

use super::{Compiled, Own, Plans};
use crate::{PlainReads, Prepared};
use catalog::{Routine, RoutineKind, Version};
use plan::routine::Closure;
use sql::ast::LocalId;
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
    fn enter(&mut self, routine: &Own, table: Option<&str>, caller: Option<&str>) -> Result<Option<String>>;
    /// May the trigger read the columns that it names? Error 1143.
    fn may_read(&mut self, schema: &str, table: &str, trigger: &Compiled) -> Result<()>;
    /// Might it set those of NEW that it has set? Error 1143.
    fn may_set(&mut self, schema: &str, table: &str, trigger: &Compiled, set: &[LocalId]) -> Result<()>;
    fn leave(&mut self);
}

/// What a routine changes of the session's, as it was; `None`: it has not.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub database: Option<Option<String>>,
    pub sql_mode: u64,
    /// `collation_connection`
    pub collation: types::CollationId,
    /// CURRENT_USER(): the definer.
    pub user: Option<String>,
    /// CURRENT_ROLE(), and whether files may be read: where it is the definer's.
    pub rights: Option<(String, bool)>,
}

/// A dictionary whose users the session counts, as it does those of a routine: see [`Own`].
pub(crate) struct Dictionary {
    pub version: Arc<Version>,
}

/// Routines that a session keeps at hand.
const OWNED_MAX: usize = 256;

/// A routine that runs.
pub(crate) struct Running {
    pub own: Own,
    /// `None`: nobody wants to know how long it takes.
    pub began_ns: Option<u64>,
}

/// Kept by a session from statement to statement.
#[derive(Default)]
pub struct Lent {
    /// The dictionary that the statement's tables are pinned in, or that of the statement before.
    version: Option<Arc<Dictionary>>,
    /// Routines that were called.
    owned: Vec<Own>,
    rights: Option<Box<dyn Rights>>,
    /// `stored_program_cache`
    plans_max: usize,
    /// Of the session's temporary tables, for which plans and closures were made.
    generation: u64,
    /// Those of sub-statements that no routine uses at the moment; that which was used longest ago comes first.
    plans: Vec<Plans<SubPlan>>,
    /// The routines that run, the innermost last.
    pub(crate) running: Vec<Running>,
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

    pub(crate) fn dictionary(&self) -> Result<Arc<Dictionary>> {
        let lent = self.version.clone().filter(|_| self.rights.is_some());
        lent.ok_or_else(|| expr::error::unsupported("stored functions and triggers here"))
    }

    /// The session's hold on a routine. Errors: those of its text.
    pub fn own(&mut self, routine: &Routine) -> Result<Own> {
        if let Some(made) = Compiled::made(routine)
            && let Some(own) = self.owned.iter().rfind(|own| own.is(made))
        {
            return Ok(own.clone());
        }
        if self.owned.len() >= OWNED_MAX {
            self.owned.remove(0);
        }
        let own = Own::new(Compiled::of(routine)?);
        self.owned.push(own.clone());
        Ok(own)
    }

    /// The rights, for whoever has lent them.
    pub fn lent_rights(&mut self) -> Option<&mut dyn std::any::Any> {
        let rights: &mut dyn std::any::Any = self.rights.as_deref_mut()?;
        Some(rights)
    }

    /// How many routines run up to the innermost function or trigger, itself among them.
    pub fn innermost(&self) -> usize {
        self.running.iter().rposition(|r| r.own.routine.kind != RoutineKind::Procedure).map_or(0, |at| at + 1)
    }

    /// The innermost routine that runs, and how many are around it, itself among them.
    pub fn running(&self) -> Option<(&Own, usize)> {
        self.running.last().map(|running| (&running.own, self.running.len()))
    }

    pub(crate) fn rights(&mut self) -> Result<&mut Box<dyn Rights>> {
        self.rights.as_mut().ok_or_else(|| SqlError::new(ER_UNKNOWN_ERROR, "no rights were lent"))
    }

    pub(crate) fn take_plans(&mut self, compiled: &Own) -> Plans<SubPlan> {
        match self.plans.iter().rposition(|p| p.compiled.is(compiled)) {
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
        self.owned.clear();
        self.closures = Closures::default();
    }

    /// A statement begins that calls routines. `generation`: of the session's temporary tables.
    pub fn begin(&mut self, version: &Arc<Version>, rights: Box<dyn Rights>, plans_max: usize, generation: u64) {
        if self.generation != generation {
            self.forget_plans();
            self.generation = generation;
        }
        if !self.version.as_ref().is_some_and(|lent| Arc::ptr_eq(&lent.version, version)) {
            self.version = Some(Arc::new(Dictionary { version: Arc::clone(version) }));
        }
        (self.rights, self.plans_max) = (Some(rights), plans_max);
    }

    /// The statement is over, also where a panic has ended it.
    pub fn end(&mut self) -> Option<Box<dyn Rights>> {
        self.running.clear();
        self.used.clear();
        self.closures.abandon();
        self.reads = None;
        self.rights.take()
    }
}

/// What routines and all that they call use.
#[derive(Default)]
pub(crate) struct Closures {
    /// What the known ones hold for.
    version: Option<Arc<Version>>,
    known: Vec<(Own, Closure)>,
    /// Those that are being looked at.
    pub open: Vec<Own>,
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

    /// What is known of a routine under this version of the dictionary; of another version all is forgotten.
    pub fn find(&mut self, version: &Arc<Version>, routine: &Own) -> Option<Closure> {
        if !self.version.as_ref().is_some_and(|v| Arc::ptr_eq(v, version)) {
            self.known.clear();
            self.version = Some(Arc::clone(version));
        }
        let found = self.known.iter().find(|(r, _)| r.is(routine));
        found.map(|(_, closure)| closure.clone())
    }

    /// Remembers it, unless the answer was cut short.
    pub fn keep(&mut self, routine: &Own, closure: &Closure) {
        if self.is_cut && !self.open.is_empty() {
            return;
        }
        self.is_cut = false;
        if self.known.len() < CLOSURES_MAX {
            self.known.push((routine.clone(), closure.clone()));
        }
    }
}
