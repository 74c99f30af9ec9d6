//! Point-in-time recovery: files of a binary log are applied by the applier of a channel, from the place of a backup to a given point.
//!
//! ```text
//!   binlog.000007   .....|======      from the backup's place
//!   binlog.000008   ============
//!   binlog.000009   =====|.....       to the point
//! ```
//! [`Plan::make`] reads all events first: what is damaged, cut short or missing, and a point that is not there, shows before anything is
//! changed. [`replay`] then feeds them to the channel's relay log in place of a receiver.

use crate::channel::{Channel, ThreadChoice};
use crate::config::{Position, SourceConfig};
use crate::errors::{Stopped, unwritten};
use crate::group::{Groups, Step};
use crate::status::SqlState;
use binlog::decode::code::MARIA_GTID;
use binlog::decode::{Head, body_of};
use binlog::event::{self, FLAG_ARTIFICIAL, Header, Kind, MAGIC, Stamp};
use binlog::files::{Front, front, read_event};
use binlog::{LogFile, LogKeys};
use io::{File, OpenOptions};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use types::SqlError;
use types::codes::*;
use types::gtid::GtidSet;

/// A file of the relay log ends behind the transaction that reaches this; so much may wait for the applier.
const RELAY_FILE_BYTES: u64 = 32 << 20;
const AHEAD_BYTES: u64 = 4 * RELAY_FILE_BYTES;
/// Events that are gathered before they are written.
const BATCH_BYTES: usize = 256 << 10;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What a backup stands for.
#[derive(Clone, Debug)]
pub struct Start {
    pub file: String,
    pub position: u64,
    pub executed: GtidSet,
    /// Nothing in it was committed later, microseconds since 1970.
    pub at_us: u64,
    /// The file as it was copied, up to the position.
    pub copied: PathBuf,
}

/// Where recovery ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// To the end of the last file.
    End,
    /// Until all of these are applied.
    After(GtidSet),
    /// To the first of these, which is left out.
    Before(GtidSet),
    /// To the first transaction that was committed at this time or later, which is left out; microseconds since 1970.
    Time(u64),
    /// Up to this place, where a transaction ends.
    Place { file: String, offset: u64 },
}

/// A file, and what of it is wanted.
struct Piece {
    path: PathBuf,
    name: String,
    front: Front,
    from: u64,
    to: u64,
}

/// What is to be applied.
pub struct Plan {
    pieces: Vec<Piece>,
    pub transactions: u64,
    /// The place that the data stand for then; `None`: they have transactions that no such place is behind, and only GTIDs tell where
    /// they are.
    pub end: Option<(String, u64)>,
    /// The time of the last transaction.
    pub last_us: Option<u64>,
}

type Result<T> = std::result::Result<T, String>;

/// Base and number of a file's name.
fn numbered(path: &Path) -> Result<(String, u64)> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parts = name.rsplit_once('.').and_then(|(base, digits)| Some((base.to_string(), digits.parse().ok()?)));
    parts.ok_or_else(|| format!("'{}' has no name of a binary log's file, such as binlog.000001", path.display()))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Sorted by number, none missing in between.
fn in_order(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = files.iter().map(|path| Ok((numbered(path)?, path.clone()))).collect::<Result<Vec<_>>>()?;
    all.sort();
    for pair in all.windows(2) {
        let [((base, number), first), ((other, next), second)] = pair else { unreachable!("two") };
        let (first, second) = (first.display(), second.display());
        if base != other {
            return Err(format!("'{first}' and '{second}' are of different binary logs"));
        }
        if number == next {
            return Err(format!("'{first}' and '{second}' have the same number"));
        }
        if number + 1 != *next {
            return Err(format!("a file is missing between '{first}' and '{second}'"));
        }
    }
    Ok(all.into_iter().map(|(_, path)| path).collect())
}

impl Plan {
    /// Errors are lines for whoever asked.
    pub fn make(files: &[PathBuf], from: &Start, until: &Point, keys: &LogKeys) -> Result<Plan> {
        let files = in_order(files)?;
        check_point(from, until)?;
        let begin = files.iter().position(|path| name_of(path) == from.file);
        let mut scan = Scan {
            until,
            has: from.executed.clone(),
            by_numbers: begin.is_none(),
            groups: Groups::default(),
            found: from.executed.clone(),
            behind: GtidSet::default(),
            plan: Plan {
                pieces: Vec::new(),
                transactions: 0,
                end: Some((from.file.clone(), from.position)),
                last_us: None,
            },
        };
        if begin.is_none() && from.executed.is_empty() {
            return Err(format!(
                "the backup ends in '{}' at position {}: that file is missing",
                from.file, from.position
            ));
        }
        for (i, path) in files.iter().enumerate().skip(begin.unwrap_or(0)) {
            let file = open(path, keys)?;
            let at_front = front(&file).map_err(|e| e.to_string())?;
            let mut missing = at_front.previous.clone();
            missing.subtract(&scan.has);
            if !missing.is_empty() {
                let (path, what) = (path.display(), missing.to_string().replace('\n', ""));
                return Err(format!(
                    "'{path}' begins behind transactions that are neither in the backup nor in the files before it: \
                     {what} \
                     (purged, or a file is missing)"
                ));
            }
            let mut at = at_front.end;
            if Some(i) == begin {
                compare(&file, path, &at_front, from, keys)?;
                at = at.max(from.position);
            }
            if scan.file(&file, path, at_front, at)? {
                return Ok(scan.plan);
            }
        }
        scan.unmet()
    }
}

fn check_point(from: &Start, until: &Point) -> Result<()> {
    match until {
        Point::Time(us) if *us < from.at_us => {
            Err(format!("the backup may have what was committed up to {}: take an older one", shown(from.at_us)))
        }
        Point::After(set) if set.is_subset_of(&from.executed) => {
            Err(format!("the backup has {set} already: take an older one"))
        }
        Point::Before(set) if set.intersects(&from.executed) => {
            Err(format!("the backup has transactions of {set} already: take an older one"))
        }
        Point::Place { file, offset } => {
            let (base, number) = numbered(Path::new(file))?;
            let own = numbered(Path::new(&from.file))?;
            if base != own.0 || (number, *offset) < (own.1, from.position) {
                return Err(format!("the backup ends at {}:{}, not before {file}:{offset}", from.file, from.position));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A time for people, UTC.
fn shown(us: u64) -> String {
    Timestamp::from_microsecond(us as i64).map_or_else(|_| format!("{us} us"), |time| time.to_string())
}

/// `2026-11-24 09:30:00`, with a fraction if need be, of this machine's time zone unless an offset or Z follows. Microseconds since 1970.
pub fn time_us(text: &str) -> Option<u64> {
    let local = || text.trim().parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok();
    let time = text.trim().parse::<Timestamp>().ok().or_else(|| local().map(|time| time.timestamp()))?;
    u64::try_from(time.as_microsecond()).ok()
}

/// A file with the key that it may have.
fn open(path: &Path, keys: &LogKeys) -> Result<LogFile> {
    let file = File::open(path, OpenOptions::read(sync::waits::Wait::RelaylogFile)).map_err(|e| e.to_string())?;
    LogFile::open(file, Some(keys)).map_err(|e| e.to_string())
}

/// The file that the backup ends in: is it the one that was copied?
fn compare(file: &LogFile, path: &Path, front: &Front, from: &Start, keys: &LogKeys) -> Result<()> {
    let shown = path.display();
    let copied = open(&from.copied, keys)?;
    let text = |e: binlog::Error| e.to_string();
    if file.len().map_err(text)? < from.position {
        return Err(format!("'{shown}' is cut short: the backup ends in it at position {}", from.position));
    }
    // The description in front says whether the file was in use.
    let mut at = MAGIC.len() as u64 + front.description.len() as u64;
    let (mut ours, mut theirs) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    while at < from.position {
        let len = (from.position - at).min(1 << 20) as usize;
        file.read_up_to(&mut ours[..len], at).map_err(text)?;
        copied.read_up_to(&mut theirs[..len], at).map_err(text)?;
        if ours[..len] != theirs[..len] {
            return Err(format!("'{shown}' is not the file that the backup ends in, but one of the same name"));
        }
        at += len as u64;
    }
    Ok(())
}

/// Looks at all events before any is applied.
struct Scan<'p> {
    until: &'p Point,
    /// In the backup, or in the files so far.
    has: GtidSet,
    /// The file that the backup ends in is not there: its transactions are told by their numbers.
    by_numbers: bool,
    groups: Groups,
    /// In the backup, or to be applied.
    found: GtidSet,
    /// Executed where the file at hand has been read up to.
    behind: GtidSet,
    plan: Plan,
}

impl Scan<'_> {
    /// True: the point was found.
    fn file(&mut self, file: &LogFile, path: &Path, front: Front, from: u64) -> Result<bool> {
        let name = name_of(path);
        let checksum = front.checksum;
        let (mut at, mut begin, mut head) = (from, from, Head::default());
        let mut bytes = Vec::new();
        self.behind.clone_from(&front.previous);
        let mut is_met = self.is_reached(&name, at, None)?;
        while !is_met {
            let read = read_event(file, at, u64::MAX, checksum, &mut bytes).map_err(|e| e.to_string())?;
            let Some(header) = read else { break };
            let damaged = || format!("'{}' at position {at}: an event is damaged", path.display());
            let body = body_of(&bytes, checksum).ok_or_else(damaged)?;
            let was_open = self.groups.is_open();
            let step = self.groups.step(&header, body).ok_or_else(damaged)?;
            if !was_open || step == Step::Head {
                begin = at;
            }
            if step == Step::Head || !was_open && matches!(step, Step::Opens | Step::Alone) {
                head = headed(&header, body, step).ok_or_else(damaged)?;
                is_met = self.is_reached(&name, begin, Some(time_of(&head, &header)))?
                    || matches!(self.until, Point::Before(set) if head.gtid.is_some_and(|g| set.contains(g)));
                if is_met {
                    break;
                }
                self.plan.last_us = Some(time_of(&head, &header)).filter(|us| *us > 0).or(self.plan.last_us);
            }
            at += u64::from(header.len);
            if step.ends() {
                is_met = self.ended(&head, &name, begin, at)?;
            }
        }
        if !is_met && self.groups.is_open() {
            return Err(format!(
                "'{}' is cut short: it ends in the middle of a transaction, which begins at {begin}",
                path.display()
            ));
        }
        let to = if is_met && self.groups.is_open() { begin } else { at };
        self.groups = Groups::default();
        self.plan.end = match (!self.by_numbers || self.behind == self.found, self.plan.transactions) {
            (true, _) => Some((name.clone(), to)),
            // Files from before the backup, or of another server.
            (false, 0) => self.plan.end.take(),
            (false, _) => None,
        };
        self.plan.pieces.push(Piece { path: path.to_path_buf(), name, front, from, to });
        Ok(is_met)
    }

    /// Is what begins here behind the point? `time`: when it was committed.
    fn is_reached(&self, name: &str, begin: u64, time: Option<u64>) -> Result<bool> {
        Ok(match self.until {
            Point::Time(us) => time.is_some_and(|time| time >= *us),
            Point::Place { file, offset } => {
                (numbered(Path::new(name))?.1, begin) >= (numbered(Path::new(file))?.1, *offset)
            }
            Point::End | Point::After(_) | Point::Before(_) => false,
        })
    }

    /// A transaction is whole. True: the point is behind it.
    fn ended(&mut self, head: &Head, name: &str, begin: u64, end: u64) -> Result<bool> {
        if let Point::Place { file, offset } = self.until
            && file == name
            && (begin + 1..end).contains(offset)
        {
            return Err(format!(
                "position {offset} of {file} is in the middle of a transaction, from {begin} to {end}"
            ));
        }
        match head.gtid {
            Some(gtid) => {
                let is_new = !self.has.contains(gtid);
                self.plan.transactions += u64::from(is_new);
                self.has.add(gtid);
                self.behind.add(gtid);
                self.found.add(gtid);
            }
            None if self.by_numbers => {
                return Err(format!(
                    "'{name}' has a transaction without a GTID at position {begin}: without the file that the backup \
                     ends in nobody can \
                     tell whether the backup has it"
                ));
            }
            None => self.plan.transactions += 1,
        }
        Ok(match self.until {
            Point::After(set) => set.is_subset_of(&self.found),
            Point::Place { file, offset } => file == name && end == *offset,
            Point::End | Point::Before(_) | Point::Time(_) => false,
        })
    }

    /// All files are read, and the point was not met.
    fn unmet(self) -> Result<Plan> {
        match self.until {
            Point::End | Point::Time(_) => Ok(self.plan),
            Point::After(set) | Point::Before(set) => {
                let mut missing = set.clone();
                missing.subtract(&self.found);
                Err(format!("the files do not have {}", missing.to_string().replace('\n', "")))
            }
            Point::Place { file, offset } => Err(format!("the files end before {file}:{offset}")),
        }
    }
}

/// Who a transaction is, by its first event.
fn headed(header: &Header, body: &[u8], step: Step) -> Option<Head> {
    match (step, header.code) {
        (_, MARIA_GTID) => Head::decode_maria(body),
        (Step::Head, _) => Head::decode(header.kind()?, body),
        _ => Some(Head::default()),
    }
}

/// When a transaction was committed: where its event tells it, else the second of its first event.
fn time_of(head: &Head, header: &Header) -> u64 {
    match head.immediate_commit_us {
        0 => u64::from(header.timestamp) * 1_000_000,
        us => us,
    }
}

/// Applies what is planned through a channel that is this for nothing else. `tell` hears how many transactions are done.
///
/// Errors: the applier's.
pub fn replay(channel: &Arc<Channel>, plan: &Plan, tell: &mut dyn FnMut(u64)) -> std::result::Result<(), SqlError> {
    let Some(first) = plan.pieces.first() else { return Ok(()) };
    // Not a source that anybody could connect to, but one that the applier may be started for.
    let config = SourceConfig { host: "files".into(), ..SourceConfig::default() };
    channel.change(config, Some(Position::new(&first.name, first.from)), Stopped::Both)?;
    channel.start(ThreadChoice { io: false, sql: true }, &crate::until::Until::Never)?;
    let fed =
        plan.pieces.iter().try_for_each(|piece| feed(channel, piece, tell)).and_then(|()| await_all(channel, tell));
    channel.stop(ThreadChoice { io: true, sql: true });
    fed?;
    channel.forget()
}

/// Puts a piece of a file into the relay log.
fn feed(channel: &Arc<Channel>, piece: &Piece, tell: &mut dyn FnMut(u64)) -> std::result::Result<(), SqlError> {
    let relay = channel.shared.relay();
    let keys = channel.shared.host.log_keys().ok_or_else(|| unwritten("the server ends"))?;
    let file = open(&piece.path, &keys).map_err(unwritten)?;
    let begin_file = |offset: u64| {
        let mut bytes = Vec::new();
        let body = event::rotate(&piece.name, offset);
        let stamp = Stamp { timestamp: 0, server_id: 0 };
        event::put(&mut bytes, Kind::Rotate, stamp, FLAG_ARTIFICIAL, None, &[&body], piece.front.checksum);
        bytes.extend_from_slice(&piece.front.description);
        relay.next_file(piece.front.checksum, &bytes).map_err(unwritten)
    };
    begin_file(piece.from)?;
    let (mut at, mut groups) = (piece.from, Groups::default());
    let (mut bytes, mut batch) = (Vec::new(), Vec::new());
    while let Some(header) = read_event(&file, at, piece.to, piece.front.checksum, &mut bytes).map_err(unwritten)? {
        let body = body_of(&bytes, piece.front.checksum).unwrap_or_default();
        at += u64::from(header.len);
        // Where the next file begins is known already.
        if !matches!(header.kind(), Some(Kind::Rotate | Kind::Stop)) {
            batch.extend_from_slice(&bytes);
        }
        let ends = groups.step(&header, body).is_some_and(Step::ends);
        if batch.len() >= BATCH_BYTES {
            relay.append(&batch).map_err(unwritten)?;
            batch.clear();
        }
        if ends && relay.end().offset >= RELAY_FILE_BYTES {
            relay.append(&batch).map_err(unwritten)?;
            batch.clear();
            begin_file(at)?;
            while relay.space() > AHEAD_BYTES {
                check(channel, tell)?;
            }
        }
    }
    relay.append(&batch).map_err(unwritten)
}

/// The applier's error, if it has ended; else waits a moment.
fn check(channel: &Arc<Channel>, tell: &mut dyn FnMut(u64)) -> std::result::Result<(), SqlError> {
    let status = channel.status();
    tell(status.transactions);
    if status.sql_error.code != 0 {
        let position = status.applied;
        let text = format!("{} (behind {}:{})", status.sql_error.text, position.file, position.offset);
        return Err(SqlError::new(status.sql_error.code, text));
    }
    if status.sql == SqlState::Stopped {
        return Err(SqlError::new(ER_QUERY_INTERRUPTED, "the applier has ended"));
    }
    sync::blocking::sleep(sync::waits::Wait::ReplicaWorkers, LOOK_AGAIN);
    Ok(())
}

fn await_all(channel: &Arc<Channel>, tell: &mut dyn FnMut(u64)) -> std::result::Result<(), SqlError> {
    let end = channel.shared.relay().end();
    while channel.shared.applied_place() != Some(end) {
        check(channel, tell)?;
    }
    check(channel, tell)
}
