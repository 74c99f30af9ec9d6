//! The durability receipt: what a commit rests on, told by the OK packet of who asks (`clearway_track_receipt`), as a change of the
//! session's state named `clearway_receipt`, and of any GTID by CLEARWAY_RECEIPT.
//!
//! ```text
//!   {"gtid": "uuid:7", "file": "binlog.000002", "position": 1234, "replicas": 1}
//! ```
//! What is told is durable here: only then it is in the files. `file` and `position` say where it ends in the binary log, `null` once that
//! file is purged. `replicas` counts those which have told that they have everything up to there: those that answer, for
//! semi-synchronous replication, whether commits wait for them or not; what others have nobody knows.

use crate::binary_log::binlog_error;
use crate::state::State;
use binlog::semisync::Place;
use binlog::{Binlog, Reader};
use sync::blocking::is_interrupted;
use types::Result;
use types::gtid::Gtid;
/// What the OK packet names it.
pub(crate) const RECEIPT: &str = "clearway_receipt";

/// `place`: where it ends in the files, which it does not where they are purged.
pub(crate) fn text(binlog: &Binlog, gtid: Option<Gtid>, place: Option<Place>) -> String {
    let gtid = gtid.map_or_else(|| "null".to_string(), |gtid| quoted(&gtid.to_string()));
    let (file, position) = match place {
        Some((number, offset)) => (quoted(&binlog.file_name(number)), offset.to_string()),
        None => ("null".to_string(), "null".to_string()),
    };
    // Whoever is in a file that is kept has what was purged.
    let first = binlog.published().files.first().copied().unwrap_or_default();
    let replicas = binlog.replicas_at(place.unwrap_or((first, 0)));
    format!("{{\"gtid\": {gtid}, \"file\": {file}, \"position\": {position}, \"replicas\": {replicas}}}")
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    types::json::text::write_quoted(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// CLEARWAY_RECEIPT. `None`: it is not executed. Errors 1026, 1317.
pub(crate) fn of(state: &State, gtid: Gtid) -> Result<Option<String>> {
    let Some(binlog) = &state.server.binlog else { return Ok(None) };
    let now = binlog.catch_up(is_interrupted).map_err(binlog_error)?;
    if !now.executed.contains(gtid) {
        return Ok(None);
    }
    let place = Reader::end_of(binlog, gtid, is_interrupted).map_err(binlog_error)?;
    Ok(Some(text(binlog, Some(gtid), place)))
}
