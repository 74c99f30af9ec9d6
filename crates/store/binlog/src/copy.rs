//! The binary log of a copy of the server: the file in use, cut where the copy ends. Older files stay behind, as if they had been purged.

use crate::Binlog;
use crate::error::{Error, Result};
use crate::files::{Files, State, front};
use crate::gtid::GtidSet;
use engine::Lsn;
use io::OpenOptions;
use std::path::Path;

/// Bytes copied at a time.
const PIECE_BYTES: u64 = 1 << 20;
/// A file may be purged before it is copied, again and again only by mischief.
const TRIES: usize = 10;

/// Where a copy ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// All commits below are in the file, and none from there on.
    pub position: Lsn,
    /// The file's name, and its end.
    pub file: String,
    pub offset: u64,
    pub executed: GtidSet,
}

impl Binlog {
    /// Makes a binary log in `directory` with all commits so far. The engine's log from its `needed` on has to be copied, too, up to the position
    /// that this answers. `ended`: why the wait for the writer should end.
    ///
    /// Errors: [`Error::Interrupted`], [`Error::Stopped`], [`Error::Io`], [`Error::Corrupt`].
    pub fn copy_to(&self, directory: &Path, ended: impl Fn() -> bool) -> Result<Copied> {
        let mut tries = 0;
        let state = loop {
            self.settle(&ended)?;
            let own = Files::open(&self.config().directory, &self.config().base)?;
            let state = own.load_state()?.ok_or_else(|| Error::Corrupt("the binary log's state is gone".into()))?;
            tries += 1;
            match copy_file(&own, &state, directory, &ended) {
                Err(Error::UnknownFile) if tries < TRIES => {}
                copied => break copied.map(|()| state)?,
            }
        };
        Ok(Copied {
            position: state.position,
            file: self.file_name(state.file),
            offset: state.offset,
            executed: state.executed,
        })
    }
}

/// The file in use as far as the state says, and a state and an index that know of no other. Error [`Error::UnknownFile`] when it was removed.
fn copy_file(own: &Files, state: &State, directory: &Path, ended: &impl Fn() -> bool) -> Result<()> {
    let from = match own.open_file(state.file, OpenOptions::READ) {
        Err(Error::Io(_)) if !own.found()?.contains(&state.file) => return Err(Error::UnknownFile),
        opened => opened?,
    };
    let mut copies = own.in_directory(directory)?;
    let to = copies.open_file(state.file, OpenOptions { truncate: true, ..OpenOptions::CREATE })?;
    let mut buffer = Vec::new();
    for at in (0..state.offset).step_by(PIECE_BYTES as usize) {
        if ended() {
            return Err(Error::Interrupted);
        }
        buffer.resize(PIECE_BYTES.min(state.offset - at) as usize, 0);
        from.read_at(&mut buffer, at)?;
        to.write_at(&buffer, at)?;
    }
    to.sync_data()?;
    let purged = front(&to)?.previous;
    copies.list(vec![state.file])?;
    copies.save_state(&State { purged, closed: false, ..state.clone() })
}
