//! The session's temporary tables.

use catalog::{Table, TableName, TemporaryTables, Version};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Temporary {
    pub tables: TemporaryTables,
    /// Dropped while a transaction ran that may have changed them: their trees go when it is over.
    pub dropped: Vec<Arc<Table>>,
    /// Grows with each change: plans remember it.
    pub generation: u64,
}

impl Temporary {
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    pub fn get(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        if self.tables.is_empty() {
            return None;
        }
        self.tables.get(&(schema.to_string(), name.to_string()))
    }

    pub fn names(&self) -> Vec<TableName> {
        self.tables.keys().cloned().collect()
    }

    /// The dictionary as the session sees it.
    pub fn over(&self, base: &Arc<Version>) -> Arc<Version> {
        match self.tables.is_empty() {
            true => Arc::clone(base),
            false => Arc::new(Version::with_temporary(base, self.tables.clone())),
        }
    }
}
