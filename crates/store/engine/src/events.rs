//! Events: bytes that a transaction carries into the log with its commit, for who reads them there afterwards. They are what the
//! binary log is made of; what they say is the callers' business.
//!
//! They stand at the front of a group, so that a reader knows by one byte whether a group has any:
//!
//! ```text
//!   0        1      2              10                18          22
//!   +--------+------+--------------+-----------------+-----------+-------+------------------------
//!   | OP = 10| kind | transaction  | LSN of the      | length    | bytes | ops of the commit
//!   |        |      | u64          | first part, u64 | u32       |       | (COMMIT only)
//!   +--------+------+--------------+-----------------+-----------+-------+------------------------
//!   COMMIT   the last bytes of the transaction, in the group that commits it: both are durable, or neither is
//!   PART     bytes that come before them, of a transaction with more than [`GROUP_BYTES`]
//!   DROPPED  the transaction's parts are worth nothing: it was rolled back after all
//! ```
//!
//! The place of the COMMIT in the log is the transaction's place in the order of commits, of visibility, and of the binary log. Parts of
//! several transactions may lie in between each other; the reader comes back for them once it meets their commit.

use crate::{Error, Result};
use cipher::Scratch;
use log::{Follower, Log, Lsn};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// The first byte of a group with events: no op of [`crate::mtr`].
pub(crate) const OP_EVENTS: u8 = 10;
const HEAD_BYTES: usize = 22;
/// The most bytes of events in one group. The log's other writers wait for a group to be filled, so it is kept short.
const GROUP_BYTES: usize = 128 << 10;
/// So many words of a transaction keep their memory for the next one.
const WORDS_KEPT: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Commit = 1,
    Part = 2,
    Dropped = 3,
}

/// What stands before the bytes.
#[derive(Clone, Copy, Debug)]
struct Head {
    kind: Kind,
    trx: u64,
    first_part: Lsn,
    len: usize,
}

impl Head {
    fn encode(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0] = OP_EVENTS;
        bytes[1] = self.kind as u8;
        bytes[2..10].copy_from_slice(&self.trx.to_le_bytes());
        bytes[10..18].copy_from_slice(&self.first_part.to_le_bytes());
        bytes[18..22].copy_from_slice(&(self.len as u32).to_le_bytes());
        bytes
    }
}

/// Takes the events off a group: their head, their bytes, and the ops that follow. `Err` says what is wrong with them.
#[expect(clippy::type_complexity, reason = "a pair of what may be there and what is left")]
fn split(group: &[u8]) -> std::result::Result<(Option<(Head, &[u8])>, &[u8]), String> {
    if group.first() != Some(&OP_EVENTS) {
        return Ok((None, group));
    }
    let Some((head, rest)) = group.split_at_checked(HEAD_BYTES) else {
        return Err("the head of its events is cut short".into());
    };
    let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let kind = match head[1] {
        1 => Kind::Commit,
        2 => Kind::Part,
        3 => Kind::Dropped,
        other => return Err(format!("events of unknown kind {other}")),
    };
    let len = u32::from_le_bytes(head[18..22].try_into().expect("four bytes")) as usize;
    let Some((bytes, ops)) = rest.split_at_checked(len) else { return Err("its events are cut short".into()) };
    Ok((Some((Head { kind, trx: word(2), first_part: word(10), len }, bytes)), ops))
}

/// The ops of a group, behind its events.
pub(crate) fn ops(group: &[u8]) -> std::result::Result<&[u8], String> {
    split(group).map(|(_, ops)| ops)
}

/// What the events of a group are, as text, and the ops behind them.
pub(crate) fn describe(group: &[u8]) -> std::result::Result<(Option<String>, &[u8]), String> {
    let (events, ops) = split(group)?;
    let text = events.map(|(head, bytes)| {
        let first =
            if head.first_part == 0 { String::new() } else { format!(", first part at LSN {}", head.first_part) };
        format!("events {:?}, transaction {}{first}, {} bytes", head.kind, head.trx, bytes.len())
    });
    Ok((text, ops))
}

/// What is to stand in front of the ops of a commit.
pub(crate) struct Last<'e> {
    head: [u8; HEAD_BYTES],
    bytes: &'e [u8],
    /// Their group is to be encrypted.
    pub sealed: bool,
}

impl Last<'_> {
    pub fn put(&self, group: &mut Vec<u8>) {
        group.extend_from_slice(&self.head);
        group.extend_from_slice(self.bytes);
    }
}

/// A transaction's events until it commits: in memory up to a bound, the rest in a file without a name.
pub struct Events {
    memory: Vec<u8>,
    /// What came before `memory`.
    file: Option<Scratch>,
    in_file: u64,
    memory_max: usize,
    /// Where the file goes; `None`: where the system has such files.
    directory: Option<PathBuf>,
    /// The first part that is in the log; 0: none.
    first_part: Lsn,
    spilled: bool,
    /// Rows of encrypted trees may be among them.
    sealed: bool,
    /// A word of the caller's, and how many bytes there were when it was left.
    mark: (u64, u64),
    /// See [`Events::words`].
    words: Vec<u64>,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            memory: Vec::new(),
            file: None,
            in_file: 0,
            memory_max: 32 << 10,
            directory: None,
            first_part: 0,
            spilled: false,
            sealed: false,
            mark: (0, 0),
            words: Vec::new(),
        }
    }
}

impl Events {
    /// How many bytes stay in memory (`binlog_cache_size`), and where the others go.
    pub fn set_bounds(&mut self, memory_max: usize, directory: PathBuf) {
        (self.memory_max, self.directory) = (memory_max, Some(directory));
    }

    /// Bytes so far.
    pub fn len(&self) -> u64 {
        self.in_file + self.memory.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is there anything to clear?
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        !self.is_empty() || self.first_part != 0 || !self.words.is_empty()
    }

    /// Did they ever outgrow the memory since the transaction began?
    pub fn spilled(&self) -> bool {
        self.spilled
    }

    /// The word that [`Events::set_mark`] left; 0: none, or bytes before it are gone.
    #[inline]
    pub fn mark(&self) -> u64 {
        self.mark.0
    }

    /// Leaves a word that holds good for what follows the bytes so far, as long as none of those is undone.
    pub fn set_mark(&mut self, mark: u64) {
        self.mark = (mark, self.len());
    }

    /// Words of the caller's beside the bytes, until the transaction is over. Those of what is undone stay.
    #[inline]
    pub fn words(&mut self) -> &mut Vec<u64> {
        &mut self.words
    }

    /// Appends what `write` appends to the buffer that it is given, and only appends.
    ///
    /// Errors: [`Error::Io`], [`Error::DiskFull`] when the file cannot take more; the bytes are then lost, and the statement must fail.
    pub fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        write(&mut self.memory);
        if self.memory.len() > self.memory_max { self.spill() } else { Ok(()) }
    }

    #[cold]
    fn spill(&mut self) -> Result<()> {
        self.spilled = true;
        let mut file = match self.file.take() {
            Some(file) => file,
            None => Scratch::new(self.directory.clone().unwrap_or_else(std::env::temp_dir))?,
        };
        let written = file.write_at(&self.memory, self.in_file);
        self.file = Some(file);
        let len = self.memory.len() as u64;
        self.memory.clear();
        written?;
        self.in_file += len;
        Ok(())
    }

    /// Forgets what was appended beyond `len` bytes.
    pub fn truncate(&mut self, len: u64) {
        if len < self.mark.1 {
            self.mark = (0, 0);
        }
        if len >= self.in_file {
            self.memory.truncate((len - self.in_file) as usize);
        } else {
            self.memory.clear();
            self.in_file = len;
        }
    }

    /// From here on they go into the log encrypted, until the transaction is over.
    #[inline(always)]
    pub(crate) fn seal(&mut self) {
        self.sealed = true;
    }

    /// The next transaction's go as they are.
    #[inline(always)]
    pub(crate) fn unseal(&mut self) {
        self.sealed = false;
    }

    /// The transaction is over.
    pub(crate) fn clear(&mut self) {
        self.memory.clear();
        self.memory.shrink_to(self.memory_max);
        (self.file, self.in_file, self.first_part, self.spilled) = (None, 0, 0, false);
        self.mark = (0, 0);
        self.words.clear();
        self.words.shrink_to(WORDS_KEPT);
    }

    /// Brings all but the last bytes into the log, as parts, and makes room for those. Nothing is committed yet; after an error the
    /// caller rolls back and says so with [`Events::drop_parts`].
    pub(crate) fn log_parts(&mut self, log: &Log, trx: u64) -> Result<()> {
        let mut bytes = Vec::new();
        let mut at = 0;
        while self.len() - at > GROUP_BYTES as u64 {
            self.read(at, &mut bytes)?;
            log.ensure_room(HEAD_BYTES + bytes.len())?;
            let head = Head { kind: Kind::Part, trx, first_part: self.first_part, len: bytes.len() };
            let appended = log.append_as(&[&head.encode(), &bytes], self.sealed)?;
            if self.first_part == 0 {
                self.first_part = appended.start;
            }
            at += bytes.len() as u64;
        }
        if self.in_file > 0 {
            // What is left is short.
            let left = (self.len() - at) as usize;
            bytes.resize(left, 0);
            self.read_exact(at, &mut bytes)?;
            self.memory = bytes;
            self.in_file = 0;
        } else {
            self.memory.drain(..at as usize);
        }
        Ok(())
    }

    /// The next bytes for a group, from `at` on.
    fn read(&self, at: u64, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.resize(GROUP_BYTES.min((self.len() - at) as usize), 0);
        self.read_exact(at, bytes)
    }

    fn read_exact(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let from_file = self.in_file.saturating_sub(at).min(bytes.len() as u64) as usize;
        let (first, second) = bytes.split_at_mut(from_file);
        if let (Some(file), false) = (&self.file, first.is_empty()) {
            file.read_at(first, at)?;
        }
        let at = (at + from_file as u64).saturating_sub(self.in_file) as usize;
        second.copy_from_slice(&self.memory[at..at + second.len()]);
        Ok(())
    }

    /// Hands all bytes to `sink`, in order, in pieces of some hundred KiB at most. Errors: those of `sink`; [`Error::Io`].
    pub fn replay(&self, mut sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut bytes, mut at) = (Vec::new(), 0);
        while at < self.len() {
            self.read(at, &mut bytes)?;
            at += bytes.len() as u64;
            sink(&bytes)?;
        }
        Ok(())
    }

    /// Bytes that [`Events::last`] will put into the commit's group.
    pub(crate) fn last_bytes(&self) -> usize {
        if self.memory.is_empty() { 0 } else { HEAD_BYTES + self.memory.len() }
    }

    /// What goes in front of the commit, after [`Events::log_parts`].
    pub(crate) fn last(&self, trx: u64) -> Option<Last<'_>> {
        debug_assert_eq!(self.in_file, 0, "parts go first");
        let head = Head { kind: Kind::Commit, trx, first_part: self.first_part, len: self.memory.len() };
        (!self.memory.is_empty()).then(|| Last { head: head.encode(), bytes: &self.memory, sealed: self.sealed })
    }

    /// Tells readers not to wait for the commit of the parts any more. When the log cannot take even that, it takes nothing else until
    /// the next start, which forgets parts without a commit.
    pub(crate) fn drop_parts(&mut self, log: &Log, trx: u64) {
        if self.first_part != 0 && log.ensure_room_critical(HEAD_BYTES).is_ok() {
            let head = Head { kind: Kind::Dropped, trx, first_part: self.first_part, len: 0 };
            let _ = log.append(&[&head.encode()]);
        }
        self.first_part = 0;
    }
}

/// A commit with events, as [`EventStream::next`] meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommittedEvents {
    /// The transaction's id; 0: it changed nothing in the engine.
    pub trx: u64,
    /// The group that commits it: its place in the order of commits.
    pub start: Lsn,
    pub end: Lsn,
    first_part: Lsn,
}

/// The events of all transactions in the order of their commits, as they become durable.
pub struct EventStream {
    follower: Follower,
    /// First parts of transactions whose commit has not come by, and the epoch of the log in which they stand.
    open: HashMap<u64, Lsn>,
    epoch: u32,
    /// The bytes of the last commit's own group.
    last: Vec<u8>,
}

impl EventStream {
    pub(crate) fn new(follower: Follower) -> EventStream {
        EventStream { follower, open: HashMap::new(), epoch: 0, last: Vec::new() }
    }

    /// The next commit with events that is durable; `None`: there is none yet.
    ///
    /// Errors: [`Error::Corrupt`], [`Error::Io`].
    #[expect(clippy::should_implement_trait, reason = "an Iterator would end at the first None")]
    pub fn next(&mut self) -> Result<Option<CommittedEvents>> {
        while let Some(group) = self.follower.next()? {
            if group.epoch != self.epoch {
                // Whoever had parts there without a commit was rolled back at the start in between.
                self.open.clear();
                self.epoch = group.epoch;
            }
            let Some((head, bytes)) = split(group.payload).map_err(|why| corrupt(group.start, &why))?.0 else {
                continue;
            };
            match head.kind {
                Kind::Part => {
                    self.open.entry(head.trx).or_insert(group.start);
                }
                Kind::Dropped => {
                    self.open.remove(&head.trx);
                }
                Kind::Commit => {
                    self.open.remove(&head.trx);
                    self.last.clear();
                    self.last.extend_from_slice(bytes);
                    let (start, end) = (group.start, group.end);
                    return Ok(Some(CommittedEvents { trx: head.trx, start, end, first_part: head.first_part }));
                }
            }
        }
        Ok(None)
    }

    /// Hands the bytes of the commit that [`EventStream::next`] returned last to `sink`, in order, in pieces of some hundred KiB at most.
    ///
    /// Errors: those of `sink`; [`Error::Corrupt`], [`Error::Io`].
    pub fn read(&self, commit: &CommittedEvents, mut sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if commit.first_part != 0 {
            let mut parts = self.follower.again(commit.first_part);
            while parts.position() < commit.start {
                let Some(group) = parts.next()? else { return Err(corrupt(commit.start, "its parts are not durable")) };
                if let (Some((head, bytes)), _) = split(group.payload).map_err(|why| corrupt(group.start, &why))?
                    && (head.kind, head.trx) == (Kind::Part, commit.trx)
                {
                    sink(bytes)?;
                }
            }
        }
        sink(&self.last)
    }

    /// What has come by so far lies below.
    pub fn position(&self) -> Lsn {
        self.follower.position()
    }

    /// Where a stream that is to go on from here must begin: below the first part of any transaction that has not committed yet.
    pub fn needed(&self) -> Lsn {
        self.open.values().copied().fold(self.follower.position(), Lsn::min)
    }

    /// Waits until there may be a commit, somebody is in a hurry ([`crate::Engine::hurry_events`]), or for `time`.
    pub fn wait(&mut self, time: Duration) {
        self.follower.wait(time);
    }
}

fn corrupt(lsn: Lsn, why: &str) -> Error {
    Error::Corrupt(format!("log group at LSN {lsn}: {why}"))
}
