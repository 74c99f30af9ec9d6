//! What compression has done to transactions since the start: `performance_schema.binary_log_transaction_compression_stats`.

use crate::compress::{Compression, Payload};
use crate::event::{HEADER_BYTES, Kind};
use crate::payload::Unplaced;
use types::gtid::Gtid;

/// One transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// `None`: it is anonymous.
    pub gtid: Option<Gtid>,
    pub compressed_bytes: u64,
    pub events_bytes: u64,
    /// Microseconds since 1970.
    pub commit_us: u64,
}

/// Transactions that were compressed alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub transactions: u64,
    pub compressed_bytes: u64,
    pub events_bytes: u64,
    /// `None`: there was none.
    pub first: Option<Measured>,
    pub last: Option<Measured>,
}

/// Of the transactions in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub zstd: Tally,
    pub none: Tally,
}

/// The bytes of one transaction's events behind its GTID, without checksums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    payload: Option<(u64, u64)>,
    events_bytes: u64,
}

impl Sizes {
    pub fn add(&mut self, event: &Unplaced<'_>) {
        if event.kind == Kind::TransactionPayload
            && let Some(payload) = event.body.first().and_then(|body| Payload::decode(body))
            && payload.compression == Compression::Zstd
        {
            self.payload = Some((payload.stream.len() as u64, payload.events_bytes));
        }
        self.events_bytes += event.body.iter().map(|part| part.len() as u64).sum::<u64>() + HEADER_BYTES as u64;
    }
}

impl Statistics {
    /// `block_bytes`: of BEGIN and XID, which are not among `sizes`.
    pub(crate) fn count(&mut self, sizes: Sizes, block_bytes: u64, gtid: Option<Gtid>, commit_us: u64) {
        let events_bytes = sizes.events_bytes + block_bytes;
        let (tally, (compressed_bytes, events_bytes)) = match sizes.payload {
            Some(bytes) => (&mut self.zstd, bytes),
            None => (&mut self.none, (events_bytes, events_bytes)),
        };
        let measured = Measured { gtid, compressed_bytes, events_bytes, commit_us };
        tally.transactions += 1;
        tally.compressed_bytes += compressed_bytes;
        tally.events_bytes += events_bytes;
        tally.first.get_or_insert(measured);
        tally.last = Some(measured);
    }
}
