//! Tables whose rows are computed when asked: information_schema, performance_schema, SHOW.

use types::{Result, Value};

/// Implemented by crate `inspect`, scanned by crate `exec`.
pub trait VirtualTable: Send + Sync {
    /// Appends all rows; `cx` is what the session lets it see.
    fn rows(&self, cx: &dyn VirtualContext, out: &mut Vec<Vec<Value<'static>>>) -> Result<()>;
}

/// What a virtual table may ask of the session that reads it. Crate `session` implements it; downcast to what is needed.
pub trait VirtualContext {
    fn as_any(&self) -> &dyn std::any::Any;
}
