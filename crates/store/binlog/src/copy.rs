//! The binary log of a copy of the server: the file in use, cut where the copy ends. Older files stay behind, as if they had been purged.

use crate::Binlog;
use crate::error::{Error, Result};
use crate::files::{Files, State, front};
use engine::Lsn;
use io::{Destination, OpenOptions};
use types::gtid::GtidSet;

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
    /// Makes a binary log of the same name with all commits so far. The engine's log from its `needed` on has to be copied, too, up to
    /// the position that this answers. `ended`: why the wait for the writer should end.
    ///
    /// Errors: [`Error::Interrupted`], [`Error::Stopped`], [`Error::Io`], [`Error::Corrupt`].
    pub fn copy_to(&self, to: &dyn Destination, ended: impl Fn() -> bool) -> Result<Copied> {
        let mut tries = 0;
        let state = loop {
            self.settle(&ended)?;
            let own = self.open_files()?;
            let state = own.load_state()?.ok_or_else(|| Error::Corrupt("the binary log's state is gone".into()))?;
            tries += 1;
            match copy_file(&own, &state, to, &ended) {
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

/// The file in use as far as the state says, and a state and an index that know of no other. Error [`Error::UnknownFile`] when it was
/// removed.
fn copy_file(own: &Files, state: &State, to: &dyn Destination, ended: &impl Fn() -> bool) -> Result<()> {
    let from = match own.open_file(state.file, OpenOptions::read(sync::waits::Wait::BinlogFile)) {
        Err(Error::Io(_)) if !own.found()?.contains(&state.file) => return Err(Error::UnknownFile),
        opened => opened?,
    };
    let name = own.name(state.file);
    // As it is on disk: who has the keyring reads the copy, too.
    let end = state.offset + from.header_bytes();
    let mut buffer = Vec::new();
    for at in (0..end).step_by(PIECE_BYTES as usize) {
        if ended() {
            return Err(Error::Interrupted);
        }
        buffer.resize(PIECE_BYTES.min(end - at) as usize, 0);
        from.stored().read_at(&mut buffer, at)?;
        to.write_at(&name, &buffer, at)?;
    }
    to.finish(&name, end, false)?;
    let purged = front(&from)?.previous;
    let state = State { purged, closed: false, ..state.clone() };
    to.put(&own.index_name(), own.index_text(&[state.file]).as_bytes())?;
    Ok(to.put(&own.state_name(), state.print().as_bytes())?)
}
