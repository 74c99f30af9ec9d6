//! Events: their definitions, when they are due, the scheduler and its runs.

pub(crate) mod define;
pub(crate) mod expressions;
mod run;
mod schedule;
pub(crate) mod scheduler;
