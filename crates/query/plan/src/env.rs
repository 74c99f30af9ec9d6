//! The session as the planner sees it.

use crate::routine::{Closure, TriggerUse};
use catalog::{Routine, Table, Trigger, Version};
use expr::error::unsupported;
use expr::function::Func;
use std::sync::Arc;
use types::Result;

/// The session that a statement is planned for. Implemented by crate `session`.
pub trait Env: expr::Env {
    /// What a routine uses, and all that it calls. Error 1235 where none may be called.
    fn closure_of(&mut self, _version: &Arc<Version>, _routine: &Arc<Routine>) -> Result<Closure> {
        Err(unsupported("stored functions and triggers here"))
    }
    /// Error 1054, and as of [`Env::closure_of`].
    fn use_of_trigger(&mut self, _: &Arc<Version>, _: &Arc<Table>, _: &Arc<Trigger>) -> Result<TriggerUse> {
        Err(unsupported("stored functions and triggers here"))
    }
    /// The engine that the transaction runs in: AUTO_INCREMENT counters live there.
    fn engine(&self) -> &engine::Engine;
    /// Is there a component that brings the function?
    fn has_loadable(&self, _function: Func) -> bool {
        false
    }
    /// How the planning of statements is traced; `None`: it is not.
    fn wants_trace(&self) -> Option<crate::trace::Wanted> {
        None
    }
    fn keep_trace(&mut self, _trace: crate::trace::Traced) {}
    /// What reading a system variable warns of.
    fn deprecated_variable(&self, _name: &str) -> Option<&'static str> {
        None
    }
}
