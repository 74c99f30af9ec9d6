//! What BINLOG statements have said.

use crate::applied::Targets;
use binlog::decode::SourceTable;
use binlog::event::Checksum;
use std::collections::HashMap;

/// What the BINLOG statements of a session have said so far.
pub(crate) struct BinlogEvents {
    pub checksum: Checksum,
    pub tables: HashMap<u64, SourceTable>,
    pub targets: Targets,
}
