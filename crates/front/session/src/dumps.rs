//! Replicas of this server: who has registered, who is sent the binary log, what one asks for.

use protocol::command::BinlogDump;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A replica that has registered.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub server_id: u32,
    pub host: String,
    pub port: u16,
    pub source_id: u32,
    pub uuid: String,
}

/// Who reads a dump, and whether another connection has taken his place: one that was cut off may not know it yet.
pub(crate) struct Dumping {
    pub identity: Identity,
    pub replaced: Arc<AtomicBool>,
}

/// A replica's UUID, or its server's number where it tells none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Uuid(String),
    Number(u32),
}

/// What a replica asks for.
pub(crate) struct DumpRequest {
    pub server_id: u32,
    pub flags: u16,
    pub file: String,
    pub position: u64,
    pub gtids: Option<Vec<u8>>,
}

impl From<BinlogDump<'_>> for DumpRequest {
    fn from(dump: BinlogDump<'_>) -> DumpRequest {
        DumpRequest {
            server_id: dump.server_id,
            flags: dump.flags,
            file: String::from_utf8_lossy(dump.file).into_owned(),
            position: dump.position,
            gtids: dump.gtids.map(<[u8]>::to_vec),
        }
    }
}
