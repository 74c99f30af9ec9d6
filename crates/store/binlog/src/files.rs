//! The files of the binary log: their names, the index that lists them, and what the writer has to remember over a restart.
//!
//! ```text
//!   binlog.000001, ...   the files
//!   binlog.index         their names, one a line, in order; replaced as a whole
//!   binlog.state         up to where they are complete and on disk, and where in the engine's log that is; replaced as a whole
//!   executed-gtids       the state once more, beside the data: which numbers are executed is known without the files, too
//! ```
//! What the files have beyond the state is not trusted: a start cuts it off, and writes it again from the log, byte for byte.

use crate::error::{Error, Result};
use crate::event::{self, CHECKSUM_BYTES, Checksum, HEADER_BYTES, Header, Kind, MAGIC};
use crate::sealed::{LogFile, LogKeys};
use engine::Lsn;
use io::{Directory, OpenOptions};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use sync::waits::Wait;
use types::gtid::GtidSet;

/// Digits of a file's number at least.
const DIGITS: usize = 6;
/// The greatest number of a file.
pub const NUMBER_MAX: u64 = 2_147_483_647;
/// The longest event that is read: `max_allowed_packet`'s greatest value and its header.
const EVENT_BYTES_MAX: u32 = 1 << 30 | 1 << 16;

/// What the writer remembers over a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The log is read from here, and commits from there on are not in the files.
    pub needed: Lsn,
    pub position: Lsn,
    /// The file being written, and its end.
    pub file: u64,
    pub offset: u64,
    /// Transactions in the file so far.
    pub sequence: u64,
    /// Ends of the last commits in the log with their sequence numbers.
    pub recent: VecDeque<(Lsn, u64)>,
    /// How many keys the writer remembers from here on: see [`crate::dependency`].
    pub history_max: u64,
    pub executed: GtidSet,
    pub purged: GtidSet,
    /// Numbers of this server's own that sessions have named and not used: no automatic one is among them.
    pub reserved: GtidSet,
    /// The server ended in order: all that the log had is in the files.
    pub closed: bool,
}

const FIRST_LINE: &str = "clearway binlog 1";

/// The state beside the data. The files may be moved away or get another name, and no number of a transaction may be given twice for that.
pub const EXECUTED_FILE: &str = "executed-gtids";

impl State {
    pub(crate) fn print(&self) -> String {
        let one_line = |set: &GtidSet| set.to_string().replace('\n', "");
        let recent: Vec<String> = self.recent.iter().map(|(lsn, n)| format!("{lsn}:{n}")).collect();
        let text = format!(
            "{FIRST_LINE}\nneeded={}\nposition={}\nfile={}\noffset={}\nsequence={}\nrecent={}\nhistory={}\n\
             executed={}\npurged={}\nreserved={}\nclosed={}\n",
            self.needed,
            self.position,
            self.file,
            self.offset,
            self.sequence,
            recent.join(","),
            self.history_max,
            one_line(&self.executed),
            one_line(&self.purged),
            one_line(&self.reserved),
            u8::from(self.closed)
        );
        let sum = crc32fast::hash(text.as_bytes());
        format!("{text}crc32={sum:08x}\n")
    }

    fn parse(text: &str) -> Option<State> {
        let (body, sum) = text.rsplit_once("crc32=")?;
        if u32::from_str_radix(sum.trim(), 16).ok()? != crc32fast::hash(body.as_bytes()) {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut state = State::default();
        for line in lines {
            let (name, value) = line.split_once('=')?;
            match name {
                "needed" => state.needed = value.parse().ok()?,
                "position" => state.position = value.parse().ok()?,
                "file" => state.file = value.parse().ok()?,
                "offset" => state.offset = value.parse().ok()?,
                "sequence" => state.sequence = value.parse().ok()?,
                "recent" => {
                    for pair in value.split(',').filter(|p| !p.is_empty()) {
                        let (lsn, n) = pair.split_once(':')?;
                        state.recent.push_back((lsn.parse().ok()?, n.parse().ok()?));
                    }
                }
                "history" => state.history_max = value.parse().ok()?,
                "executed" => state.executed = GtidSet::parse(value)?,
                "purged" => state.purged = GtidSet::parse(value)?,
                "reserved" => state.reserved = GtidSet::parse(value)?,
                "closed" => state.closed = value == "1",
                _ => return None,
            }
        }
        Some(state)
    }
}

/// Where the files are and what they are called.
pub struct Files {
    directory: Directory,
    base: String,
    /// Numbers of those that the index lists.
    numbers: Vec<u64>,
    keys: Option<Arc<LogKeys>>,
    /// What reads and writes of the index are counted for.
    index: Wait,
}

impl Files {
    /// `base`: the name before the number. Reads the index. `keys`: for files that are encrypted; without them none can be.
    pub fn open(directory: &Path, base: &str, keys: Option<Arc<LogKeys>>) -> Result<Files> {
        Files::with_index(directory, base, keys, Wait::BinlogIndexFile)
    }

    /// As [`Files::open`] for a relay log.
    pub fn of_relay_log(directory: &Path, base: &str, keys: Option<Arc<LogKeys>>) -> Result<Files> {
        Files::with_index(directory, base, keys, Wait::RelaylogIndexFile)
    }

    fn with_index(directory: &Path, base: &str, keys: Option<Arc<LogKeys>>, index: Wait) -> Result<Files> {
        let directory = Directory::open_or_create(directory)?;
        let mut files = Files { directory, base: base.to_string(), numbers: Vec::new(), keys, index };
        if let Some(text) = files.read_text(&files.index_name())? {
            for line in text.lines().filter(|line| !line.is_empty()) {
                let number = files.number_of(line);
                let number =
                    number.ok_or_else(|| Error::Corrupt(format!("'{}' lists '{line}'", files.index_name())))?;
                files.numbers.push(number);
            }
        }
        Ok(files)
    }

    /// What reads and writes of the files are counted for.
    fn what(&self) -> Wait {
        if self.index == Wait::RelaylogIndexFile { Wait::RelaylogFile } else { Wait::BinlogFile }
    }

    pub fn name(&self, number: u64) -> String {
        format!("{}.{number:0DIGITS$}", self.base)
    }

    pub fn index_name(&self) -> String {
        format!("{}.index", self.base)
    }

    /// An index that lists these.
    pub(crate) fn index_text(&self, numbers: &[u64]) -> String {
        numbers.iter().map(|n| format!("./{}\n", self.name(*n))).collect()
    }

    pub(crate) fn state_name(&self) -> String {
        format!("{}.state", self.base)
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The number in a file's name, with or without folders before it.
    pub fn number_of(&self, name: &str) -> Option<u64> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let digits = name.strip_prefix(&self.base)?.strip_prefix('.')?;
        let all = digits.len() >= DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|n| all && (1..=NUMBER_MAX).contains(n))
    }
    /// The first file that was written to since `time`, which is when the one behind it was begun; the last one when there is none.
    pub fn first_since(&self, time: SystemTime) -> Result<u64> {
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        for pair in self.numbers.windows(2) {
            let next = self.open_file(pair[1], OpenOptions::read(self.what()))?;
            if u64::from(front(&next)?.created) >= seconds {
                return Ok(pair[0]);
            }
        }
        Ok(*self.numbers.last().expect("there is a file in use"))
    }

    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// One that is there. Errors: those of [`LogFile::open`].
    pub fn open_file(&self, number: u64, options: OpenOptions) -> Result<LogFile> {
        let options = OpenOptions { what: self.what(), ..options };
        LogFile::open(self.directory.open_file(&self.name(number), options)?, self.keys.as_deref())
    }

    /// A new one, in place of one of this number. Errors: those of [`LogFile::create`].
    pub fn create_file(&self, number: u64) -> Result<LogFile> {
        let options = OpenOptions { truncate: true, ..OpenOptions::create(self.what()) };
        LogFile::create(self.directory.open_file(&self.name(number), options)?, self.keys.as_deref())
    }

    /// Has the index list exactly these.
    pub fn list(&mut self, numbers: Vec<u64>) -> Result<()> {
        self.replace(&self.index_name(), &self.index_text(&numbers))?;
        self.numbers = numbers;
        Ok(())
    }

    /// Removes files that the index does not list any more.
    pub fn remove(&self, numbers: impl Iterator<Item = u64>) -> Result<()> {
        for number in numbers {
            if self.directory.contains(&self.name(number))? {
                self.directory.remove(&self.name(number))?;
            }
        }
        Ok(())
    }

    /// Removes the index, which lists nothing any more.
    pub fn remove_index(&self) -> Result<()> {
        match self.directory.contains(&self.index_name())? {
            true => Ok(self.directory.remove(&self.index_name())?),
            false => Ok(()),
        }
    }

    /// Numbers of files in the directory that have such names, listed or not.
    pub fn found(&self) -> Result<Vec<u64>> {
        Ok(self.directory.list()?.iter().filter_map(|name| self.number_of(name)).collect())
    }

    /// There are files, and nothing that says what of the engine's log is in them: new ones would take their names.
    pub(crate) fn without_state(&self, found: &[u64]) -> Error {
        let last = self.name(found.iter().copied().max().unwrap_or(1));
        Error::Corrupt(format!(
            "'{}' is missing, which says up to where '{last}' is complete; to begin anew, move the files and '{}' \
             elsewhere",
            self.state_name(),
            self.index_name()
        ))
    }

    /// Of the files that the index lists before `last`, these are there. Only the first ones may be missing, which a purge was about to
    /// remove: whoever reads on over another one would not see that it was there.
    pub(crate) fn check_gaps(&self, kept: &[u64], last: u64) -> Result<()> {
        let Some(first) = kept.first() else { return Ok(()) };
        let is_missing = |n: &&u64| (*first..last).contains(*n) && !kept.contains(*n);
        match self.numbers.iter().find(is_missing) {
            None => Ok(()),
            Some(missing) => Err(Error::Corrupt(format!(
                "'{}' lists '{missing}', which is not there; put it back, or take its line and those before it away",
                self.index_name(),
                missing = self.name(*missing)
            ))),
        }
    }

    /// `None`: there was never a binary log of this name.
    pub fn load_state(&self) -> Result<Option<State>> {
        let Some(text) = self.read_text(&self.state_name())? else { return Ok(None) };
        let state = State::parse(&text);
        state.map(Some).ok_or_else(|| Error::Corrupt(format!("'{}' is damaged", self.state_name())))
    }

    /// The state to go on from. Without files it is that beside the data: new ones begin behind it, and what it says is executed is in
    /// none. `None`: there was never a binary log.
    ///
    /// Errors: [`Error::Corrupt`], when the data have gone on without these files.
    pub(crate) fn state_or_executed(&self, data: &Path) -> Result<Option<State>> {
        let executed = read_executed(data)?;
        match (self.load_state()?, executed) {
            (Some(state), Some(executed)) if state.position < executed.position => Err(Error::Corrupt(format!(
                "'{}' is older than the data: transactions have been written to other files since; to begin anew, move \
                 the files, '{}' and '{}' elsewhere",
                self.state_name(),
                self.index_name(),
                self.state_name()
            ))),
            (None, Some(executed)) => {
                let purged = executed.executed.clone();
                Ok(Some(State { file: 0, offset: 0, sequence: 0, recent: VecDeque::new(), purged, ..executed }))
            }
            (state, _) => Ok(state),
        }
    }

    /// The state of the files, and then that beside the data, which is never ahead of it.
    pub fn save_state(&self, state: &State, data: &Path) -> Result<()> {
        self.replace(&self.state_name(), &state.print())?;
        replace(&Directory::open_or_create(data)?, EXECUTED_FILE, &state.print(), Wait::BinlogIndexFile)
    }

    fn read_text(&self, name: &str) -> Result<Option<String>> {
        read_text(&self.directory, name, self.index)
    }

    fn replace(&self, name: &str, text: &str) -> Result<()> {
        replace(&self.directory, name, text, self.index)
    }
}

/// The state beside the data.
fn read_executed(data: &Path) -> Result<Option<State>> {
    let Some(text) = read_text(&Directory::open_or_create(data)?, EXECUTED_FILE, Wait::BinlogIndexFile)? else {
        return Ok(None);
    };
    State::parse(&text).map(Some).ok_or_else(|| Error::Corrupt(format!("'{EXECUTED_FILE}' is damaged")))
}

fn read_text(directory: &Directory, name: &str, what: Wait) -> Result<Option<String>> {
    if !directory.contains(name)? {
        return Ok(None);
    }
    let file = directory.open_file(name, OpenOptions::read(what))?;
    let mut bytes = vec![0; file.len()? as usize];
    file.read_at(&mut bytes, 0)?;
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Error::Corrupt(format!("'{name}' is no text")))
}

/// Gives a file another text: whole and durable, or as it was.
fn replace(directory: &Directory, name: &str, text: &str, what: Wait) -> Result<()> {
    let fresh = format!("{name}.new");
    let options = OpenOptions { truncate: true, ..OpenOptions::create(what) };
    let file = directory.open_file(&fresh, options)?;
    file.write_at(text.as_bytes(), 0)?;
    file.sync_data()?;
    Ok(directory.rename(&fresh, name)?)
}

/// What stands at the front of a file.
#[derive(Clone, Debug)]
pub struct Front {
    pub checksum: Checksum,
    /// When it was begun, in seconds since 1970.
    pub created: u32,
    /// The event that describes the format, as it is in the file.
    pub description: Vec<u8>,
    pub previous: GtidSet,
    /// Where the first event behind these begins.
    pub end: u64,
}

/// Reads what stands at the front of a file. Errors: [`Error::Corrupt`], [`Error::Io`].
pub fn front(file: &LogFile) -> Result<Front> {
    let mut magic = [0; MAGIC.len()];
    let corrupt = |what: &str| Error::Corrupt(format!("'{}' {what}", file.path().display()));
    if file.read_up_to(&mut magic, 0)? < MAGIC.len() || magic != MAGIC {
        return Err(corrupt("is no file of a binary log"));
    }
    let mut at = MAGIC.len() as u64;
    let mut description = Vec::new();
    let header = read_event(file, at, u64::MAX, Checksum::Crc32, &mut description)?;
    let header = header.filter(|h| h.kind() == Some(Kind::FormatDescription));
    let header = header.ok_or_else(|| corrupt("does not begin with its format"))?;
    let checksum = event::checksum_of(&description[HEADER_BYTES..description.len() - CHECKSUM_BYTES]);
    let checksum = checksum.ok_or_else(|| corrupt("has checksums of unknown kind"))?;
    at += description.len() as u64;
    let mut bytes = Vec::new();
    let mut previous = GtidSet::default();
    if read_event(file, at, u64::MAX, checksum, &mut bytes)?.is_some_and(|h| h.kind() == Some(Kind::PreviousGtids)) {
        let body = &bytes[HEADER_BYTES..bytes.len() - checksum.bytes()];
        previous = GtidSet::decode(body).ok_or_else(|| corrupt("has damaged GTIDs at its front"))?;
        at += bytes.len() as u64;
    }
    Ok(Front { checksum, created: header.timestamp, description, previous, end: at })
}

/// Puts the event at `at` into `event` and checks it; `None`: the file, or `end`, is there. Errors: [`Error::Corrupt`], [`Error::Io`].
pub fn read_event(
    file: &LogFile,
    at: u64,
    end: u64,
    checksum: Checksum,
    event: &mut Vec<u8>,
) -> Result<Option<Header>> {
    if at >= end {
        return Ok(None);
    }
    let corrupt = |what: &str| Error::Corrupt(format!("'{}' at position {at}: {what}", file.path().display()));
    let mut head = [0; HEADER_BYTES];
    match file.read_up_to(&mut head, at)? {
        0 => return Ok(None),
        HEADER_BYTES => {}
        _ => return Err(corrupt("an event is cut short")),
    }
    let header = Header::decode(&head).filter(|h| h.len <= EVENT_BYTES_MAX && at + u64::from(h.len) <= end);
    let header = header.ok_or_else(|| corrupt("no event begins here"))?;
    event.clear();
    event.extend_from_slice(&head);
    event.resize(header.len as usize, 0);
    let rest = &mut event[HEADER_BYTES..];
    if file.read_up_to(rest, at + HEADER_BYTES as u64)? < rest.len() {
        return Err(corrupt("an event is cut short"));
    }
    if checksum == Checksum::Crc32 && !event::verify(event) {
        return Err(corrupt("an event's checksum is wrong"));
    }
    Ok(Some(header))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_back_and_no_cut_one_does() {
        let set = |text| GtidSet::parse(text).unwrap();
        let state = State {
            needed: 5,
            position: 9,
            file: 3,
            offset: 1234,
            sequence: 17,
            recent: [(7, 16), (8, 17)].into(),
            history_max: 25_000,
            executed: set("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-4,4e11fa47-71ca-11e1-9e33-c80aa9429562:1"),
            purged: GtidSet::default(),
            reserved: set("3e11fa47-71ca-11e1-9e33-c80aa9429562:9"),
            closed: true,
        };
        let text = state.print();
        assert_eq!(State::parse(&text), Some(state));
        assert!((0..text.len() - 1).all(|len| State::parse(&text[..len]).is_none()));
    }
}
