//! What statements, connections and all of them together may have of memory: the bounds of [`sync::memory`], read off the variables.
//!
//! | bound | is | who goes beyond gets |
//! | --- | --- | --- |
//! | a statement's | `tmp_table_size`, 1 GiB at least; a quarter of what is there at most | 3170 |
//! | a connection's | `connection_memory_limit` | 4082, and the connection is closed; not administrators |
//! | the server's | `global_connection_memory_limit`, for connections with `global_connection_memory_tracking` | 4081, closed; not administrators |
//! | | a third of what is there, for all | 4081, closed |
//!
//! What is there is `clearway_memory_size` without the buffer pool. At the server's bound the connection that has most ends.

use crate::process_entry::Entry;
use crate::session::Session;
use crate::variables::{Globals, Val, VarId, id};
use std::sync::Arc;
use sync::memory::{Account, Limits};
use types::SqlError;
use types::codes::*;

const MEMORY_SIZE: VarId = id("clearway_memory_size");
const POOL_SIZE: VarId = crate::buffer_pool::SIZE;
const GLOBAL_LIMIT: VarId = id("global_connection_memory_limit");
const TRACKING: VarId = id("global_connection_memory_tracking");
const LIMIT: VarId = id("connection_memory_limit");
const CHUNK: VarId = id("connection_memory_chunk_size");

/// What a statement may have where nothing else bounds it.
const STATEMENT_BYTES: u64 = 1 << 30;
/// What there is for statements at least, however great the buffer pool.
const THERE_MIN: u64 = 256 << 20;
/// Operators count bytes in 32 bits.
const STATEMENT_BYTES_MAX: u64 = u32::MAX as u64;

/// Before the server opens: `clearway_memory_size` is what the machine has unless an option says it.
pub fn settle(globals: &mut Globals) {
    if globals.uint(MEMORY_SIZE) == 0 {
        globals.set(MEMORY_SIZE, Val::UInt(io::machine::memory_bytes().unwrap_or(u64::MAX)));
    }
}

/// Bytes for all that statements do.
fn there(globals: &Globals) -> u64 {
    match globals.uint(MEMORY_SIZE) {
        0 => u64::MAX,
        size => size.saturating_sub(globals.uint(POOL_SIZE)).max(THERE_MIN),
    }
}

/// The server's bounds follow its variables.
pub(crate) fn apply_globals(globals: &Globals) {
    // What allocators keep back and buffers that grow come on top.
    sync::memory::set_server_limits(there(globals) / 3, globals.uint(GLOBAL_LIMIT));
}

/// An account that ends its connection by the interrupt and the hang-up of `entry`.
pub(crate) fn open(entry: &Entry) -> Arc<Account> {
    let limits = Limits { statement: STATEMENT_BYTES, connection: u64::MAX, chunk: None, exempt: false };
    Account::open(limits, entry.ending())
}

impl Session {
    /// After a change of variables or privileges.
    #[cold]
    pub(crate) fn apply_memory_limits(&self) {
        let vars = &self.state.vars;
        let statement = vars.hot().tmp_table_size.max(STATEMENT_BYTES);
        let limits = Limits {
            statement: statement.min(there(&self.server.globals.load()) / 4).min(STATEMENT_BYTES_MAX),
            connection: vars.uint(LIMIT),
            chunk: vars.bool(TRACKING).then(|| vars.uint(CHUNK)),
            exempt: self.access.as_ref().is_some_and(|access| access.has_dynamic("CONNECTION_ADMIN")),
        };
        self.memory.set_limits(limits);
    }

    /// An interrupted statement of a connection that had most memory says so.
    #[cold]
    pub(crate) fn why_ended(&self, error: SqlError) -> SqlError {
        match (error.code, self.memory.ended()) {
            (ER_QUERY_INTERRUPTED, Some(excess)) => expr::error::out_of_memory(excess),
            _ => error,
        }
    }
}

/// Is the connection closed after this error?
pub(crate) fn closes(error: &SqlError) -> bool {
    matches!(error.code, ER_DA_GLOBAL_CONN_LIMIT | ER_DA_CONN_LIMIT)
}
