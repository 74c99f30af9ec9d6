//! The session as the planner sees it.

/// The session that a statement is planned for. Implemented by crate `session`.
pub trait Env: expr::Env {
    /// The engine that the transaction runs in: AUTO_INCREMENT counters live there.
    fn engine(&self) -> &engine::Engine;
    /// What reading a system variable warns of.
    fn deprecated_variable(&self, _name: &str) -> Option<&'static str> {
        None
    }
}
