//! Events of the binary log, as MySQL's manual of its internals and `mysql_common` describe them: version 4, row events of version 2.
//!
//! ```text
//!   0            4      5            9        13         17      19
//!   +------------+------+------------+--------+----------+-------+------+-----------------+
//!   | timestamp  | type | server id  | length | position | flags | body | CRC-32, if used |
//!   | u32        | u8   | u32        | u32    | behind it| u16   |      | u32             |
//!   +------------+------+------------+--------+----------+-------+------+-----------------+
//! ```
//! All numbers are little-endian. The position is that of the event's end in its file, 0 in events that are in no file.

use crate::tagged;
use types::gtid::{Gtid, GtidSet, Tag, Uuid};

/// What a file begins with.
pub const MAGIC: [u8; 4] = [0xFE, b'b', b'i', b'n'];
pub const HEADER_BYTES: usize = 19;
pub const CHECKSUM_BYTES: usize = 4;

/// The file is being written, or was when the server died.
pub const FLAG_IN_USE: u16 = 1;
/// The statement uses the default database only by name: replicas do not filter by it.
pub const FLAG_SUPPRESS_USE: u16 = 8;
/// Made for one reader, and in no file.
pub const FLAG_ARTIFICIAL: u16 = 0x20;

/// In the flags of a row event: the last of its statement.
pub const ROWS_STATEMENT_END: u16 = 1;

/// Event types by MySQL's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Query = 2,
    Stop = 3,
    Rotate = 4,
    FormatDescription = 15,
    Xid = 16,
    TableMap = 19,
    Heartbeat = 27,
    RowsQuery = 29,
    WriteRows = 30,
    UpdateRows = 31,
    DeleteRows = 32,
    Gtid = 33,
    AnonymousGtid = 34,
    PreviousGtids = 35,
    XaPrepare = 38,
    PartialUpdateRows = 39,
    TransactionPayload = 40,
    GtidTagged = 42,
}

impl Kind {
    pub fn from_code(code: u8) -> Option<Kind> {
        use Kind::*;
        const ALL: [Kind; 18] = [
            Query,
            Stop,
            Rotate,
            FormatDescription,
            Xid,
            TableMap,
            Heartbeat,
            RowsQuery,
            WriteRows,
            UpdateRows,
            DeleteRows,
            Gtid,
            AnonymousGtid,
            PreviousGtids,
            PartialUpdateRows,
            TransactionPayload,
            GtidTagged,
            XaPrepare,
        ];
        ALL.into_iter().find(|kind| *kind as u8 == code)
    }

    /// As SHOW BINLOG EVENTS calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Query => "Query",
            Kind::Stop => "Stop",
            Kind::Rotate => "Rotate",
            Kind::FormatDescription => "Format_desc",
            Kind::Xid => "Xid",
            Kind::TableMap => "Table_map",
            Kind::Heartbeat => "Heartbeat",
            Kind::RowsQuery => "Rows_query",
            Kind::WriteRows => "Write_rows",
            Kind::UpdateRows => "Update_rows",
            Kind::DeleteRows => "Delete_rows",
            Kind::Gtid => "Gtid",
            Kind::AnonymousGtid => "Anonymous_Gtid",
            Kind::PreviousGtids => "Previous_gtids",
            Kind::PartialUpdateRows => "Update_rows_partial",
            Kind::TransactionPayload => "Transaction_payload",
            Kind::GtidTagged => "Gtid_tagged_log_event",
            Kind::XaPrepare => "XA_prepare",
        }
    }
}

/// What stands before an event's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Seconds since 1970.
    pub timestamp: u32,
    /// The type, also one that is not in [`Kind`].
    pub code: u8,
    pub server_id: u32,
    /// Of the whole event, with header and checksum.
    pub len: u32,
    pub end_position: u32,
    pub flags: u16,
}

impl Header {
    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let flags = u16::from_le_bytes([bytes[17], bytes[18]]);
        let header = Header {
            timestamp: word(0),
            code: bytes[4],
            server_id: word(5),
            len: word(9),
            end_position: word(13),
            flags,
        };
        (header.len as usize >= HEADER_BYTES).then_some(header)
    }

    pub fn kind(&self) -> Option<Kind> {
        Kind::from_code(self.code)
    }
}

/// How events are protected: `binlog_checksum`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Checksum {
    None = 0,
    #[default]
    Crc32 = 1,
}

impl Checksum {
    pub const fn bytes(self) -> usize {
        match self {
            Checksum::None => 0,
            Checksum::Crc32 => CHECKSUM_BYTES,
        }
    }
}

/// Who writes an event, when.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub timestamp: u32,
    pub server_id: u32,
}

/// Appends an event whose body is `body`; `start` is where it begins in its file, `None`: it is in no file. The format description has
/// a checksum always, as MySQL's.
pub fn put(
    out: &mut Vec<u8>,
    kind: Kind,
    stamp: Stamp,
    flags: u16,
    start: Option<u64>,
    body: &[&[u8]],
    checksum: Checksum,
) {
    let checksum = if kind == Kind::FormatDescription { Checksum::Crc32 } else { checksum };
    let at = out.len();
    draft(out, kind, stamp.timestamp, flags, body, checksum);
    place(&mut out[at..], stamp.server_id, start, checksum);
}

/// Appends an event that lacks what [`place`] puts there: who writes it, its position and its checksum.
pub fn draft(out: &mut Vec<u8>, kind: Kind, timestamp: u32, flags: u16, body: &[&[u8]], checksum: Checksum) {
    let len = HEADER_BYTES + body.iter().map(|b| b.len()).sum::<usize>() + checksum.bytes();
    let mut head = [0; HEADER_BYTES];
    head[..4].copy_from_slice(&timestamp.to_le_bytes());
    head[4] = kind as u8;
    head[9..13].copy_from_slice(&(len as u32).to_le_bytes());
    head[17..].copy_from_slice(&flags.to_le_bytes());
    out.reserve(len);
    out.extend_from_slice(&head);
    body.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(&[0; CHECKSUM_BYTES][..checksum.bytes()]);
}

/// Completes the drafted event that `event` is.
pub fn place(event: &mut [u8], server_id: u32, start: Option<u64>, checksum: Checksum) {
    event[5..9].copy_from_slice(&server_id.to_le_bytes());
    // Positions have 32 bits; a file whose last transaction ends beyond tells them modulo that, as MySQL's does.
    let end = start.map_or(0, |start| start + event.len() as u64) as u32;
    event[13..17].copy_from_slice(&end.to_le_bytes());
    if checksum == Checksum::Crc32 {
        let (bytes, crc) = event.split_at_mut(event.len() - CHECKSUM_BYTES);
        crc.copy_from_slice(&checksum_of_event(bytes).to_le_bytes());
    }
}

/// The sum of a format description is that of a closed file, also while the file is in use.
fn checksum_of_event(bytes: &[u8]) -> u32 {
    if bytes[4] != Kind::FormatDescription as u8 {
        return crc32fast::hash(bytes);
    }
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..17]);
    hasher.update(&[bytes[17] & !(FLAG_IN_USE as u8)]);
    hasher.update(&bytes[18..]);
    hasher.finalize()
}

/// Puts the right checksum behind an event that ends with one.
pub fn seal(event: &mut [u8]) {
    let at = event.len() - CHECKSUM_BYTES;
    let crc = crc32fast::hash(&event[..at]);
    event[at..].copy_from_slice(&crc.to_le_bytes());
}

/// Is the checksum of a whole event right?
pub fn verify(event: &[u8]) -> bool {
    let Some(at) = event.len().checked_sub(CHECKSUM_BYTES).filter(|at| *at >= HEADER_BYTES) else { return false };
    checksum_of_event(&event[..at]).to_le_bytes() == event[at..]
}

/// Lengths of the fixed parts of event types 1 to 42.
const POST_HEADERS: [u8; 42] = [
    0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 99, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42, 42, 0,
    18, 52, 0, 10, 40, 0, 0,
];
const VERSION_BYTES: usize = 50;

/// FORMAT_DESCRIPTION. `created`: when the server started, in the first file since; else 0.
pub fn format_description(version: &str, created: u32, checksum: Checksum) -> Vec<u8> {
    let mut body = vec![0; 2 + VERSION_BYTES];
    body[0] = 4;
    let version = &version.as_bytes()[..version.len().min(VERSION_BYTES - 1)];
    body[2..2 + version.len()].copy_from_slice(version);
    body.extend_from_slice(&created.to_le_bytes());
    body.push(HEADER_BYTES as u8);
    body.extend_from_slice(&POST_HEADERS);
    body.push(checksum as u8);
    body
}

/// The checksums that a file has, from the body of its format description without its own sum.
pub fn checksum_of(format_description: &[u8]) -> Option<Checksum> {
    match format_description.last()? {
        0 => Some(Checksum::None),
        1 => Some(Checksum::Crc32),
        _ => None,
    }
}

pub fn previous_gtids(set: &GtidSet) -> Vec<u8> {
    set.encode()
}

/// ROTATE: the next file and where to begin in it.
pub fn rotate(file: &str, position: u64) -> Vec<u8> {
    let mut body = position.to_le_bytes().to_vec();
    body.extend_from_slice(file.as_bytes());
    body
}

/// HEARTBEAT: the file that the reader has come to the end of.
pub fn heartbeat(file: &str) -> Vec<u8> {
    file.as_bytes().to_vec()
}

pub fn xid(xid: u64) -> [u8; 8] {
    xid.to_le_bytes()
}

/// An identifier of an XA transaction: the format, and both parts of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XaId {
    pub format: u32,
    pub gtrid: Vec<u8>,
    pub bqual: Vec<u8>,
}

impl std::fmt::Display for XaId {
    /// As statements of the binary log name it: `X'6131',X'',1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for part in [&self.gtrid, &self.bqual] {
            f.write_str("X'")?;
            part.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str("',")?;
        }
        write!(f, "{}", self.format)
    }
}

/// XA_PREPARE: the end of an XA transaction's events. `one_phase`: it is committed with them.
pub fn xa_prepare(id: &XaId, one_phase: bool) -> Vec<u8> {
    let mut body = vec![u8::from(one_phase)];
    for word in [id.format, id.gtrid.len() as u32, id.bqual.len() as u32] {
        body.extend_from_slice(&word.to_le_bytes());
    }
    body.extend_from_slice(&id.gtrid);
    body.extend_from_slice(&id.bqual);
    body
}

/// Reads the body of an XA_PREPARE back.
pub fn xa_prepared(body: &[u8]) -> Option<(XaId, bool)> {
    let word = |at: usize| Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let (gtrid, bqual) = (word(5)? as usize, word(9)? as usize);
    let (gtrid, bqual) = body.get(13..)?.get(..gtrid.checked_add(bqual)?)?.split_at(gtrid);
    Some((XaId { format: word(1)?, gtrid: gtrid.to_vec(), bqual: bqual.to_vec() }, body[0] != 0))
}

/// What GTID_LOG, ANONYMOUS_GTID_LOG and GTID_TAGGED_LOG say of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct GtidEvent {
    /// `None`: it is anonymous.
    pub gtid: Option<Gtid>,
    /// Statements may be among its events.
    pub has_statements: bool,
    pub last_committed: u64,
    pub sequence_number: u64,
    /// Microseconds since 1970: here, and where it came from.
    pub immediate_commit_us: u64,
    pub original_commit_us: u64,
    /// `80400`: of this server, and of the one where it came from.
    pub immediate_version: u32,
    pub original_version: u32,
}

const COMMIT_TIME_BYTES: usize = 7;
/// No body without a tag is longer.
const BODY_BYTES: usize = 80;

impl GtidEvent {
    pub fn kind(&self) -> Kind {
        match self.gtid {
            None => Kind::AnonymousGtid,
            Some(gtid) if gtid.tag.is_empty() => Kind::Gtid,
            Some(_) => Kind::GtidTagged,
        }
    }

    /// The body, with the length of the transaction, which has this event in it: the other events have `others` bytes.
    pub fn body(&self, others: u64, checksum: Checksum) -> Vec<u8> {
        if let Some(gtid) = self.gtid.filter(|gtid| !gtid.tag.is_empty()) {
            return tagged::encode(self, &gtid, others, checksum);
        }
        let mut body = Vec::with_capacity(BODY_BYTES);
        body.push(u8::from(self.has_statements));
        let gtid = self.gtid.unwrap_or(Gtid { uuid: Uuid::default(), tag: Tag::default(), number: 0 });
        body.extend_from_slice(&gtid.uuid.0);
        body.extend_from_slice(&gtid.number.to_le_bytes());
        body.push(2);
        body.extend_from_slice(&self.last_committed.to_le_bytes());
        body.extend_from_slice(&self.sequence_number.to_le_bytes());
        let differs = self.original_commit_us != self.immediate_commit_us;
        let put_time = |body: &mut Vec<u8>, us: u64| body.extend_from_slice(&us.to_le_bytes()[..COMMIT_TIME_BYTES]);
        put_time(&mut body, self.immediate_commit_us | u64::from(differs) << 55);
        if differs {
            put_time(&mut body, self.original_commit_us);
        }
        // The length of the length depends on itself.
        let translated = self.original_version != self.immediate_version;
        let versions = if translated { 8 } else { 4 };
        let rest = (HEADER_BYTES + body.len() + versions + checksum.bytes()) as u64 + others;
        let width = [1, 3, 4, 9].into_iter().find(|w| lenenc_bytes(rest + w) as u64 == *w).expect("one fits");
        put_lenenc(&mut body, rest + width);
        body.extend_from_slice(&(self.immediate_version | u32::from(translated) << 31).to_le_bytes());
        if translated {
            body.extend_from_slice(&self.original_version.to_le_bytes());
        }
        body
    }

    /// Reads the body of an event of this kind back, for who follows GTIDs in a file: the GTID, if it has one.
    pub fn gtid_of(kind: Kind, body: &[u8]) -> Option<Gtid> {
        if kind == Kind::GtidTagged {
            return tagged::decode(body)?.0.gtid;
        }
        let uuid = Uuid(body.get(1..17)?.try_into().ok()?);
        let number = u64::from_le_bytes(body.get(17..25)?.try_into().ok()?);
        (number != 0).then_some(Gtid { uuid, tag: Tag::default(), number })
    }

    /// `last_committed` and `sequence_number` of a body.
    pub fn clock_of(body: &[u8]) -> Option<(u64, u64)> {
        let word = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
        Some((word(26)?, word(34)?))
    }
}

/// Appends a number as the protocol packs it: 1, 3, 4 or 9 bytes.
pub fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    match lenenc_bytes(n) {
        1 => out.push(n as u8),
        3 => {
            out.push(0xFC);
            out.extend_from_slice(&n.to_le_bytes()[..2]);
        }
        4 => {
            out.push(0xFD);
            out.extend_from_slice(&n.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

fn lenenc_bytes(n: u64) -> usize {
    match n {
        0..=250 => 1,
        251..=0xFFFF => 3,
        0x1_0000..=0xFF_FFFF => 4,
        _ => 9,
    }
}

/// What a QUERY event says beside its text.
#[derive(Clone, Debug)]
pub struct Query<'q> {
    pub thread_id: u32,
    pub database: &'q str,
    pub sql_mode: u64,
    /// OPTION_NO_FOREIGN_KEY_CHECKS and the like: `flags2`.
    pub flags: u32,
    /// Collations of client, connection and server, by number.
    pub collations: [u16; 3],
    /// Empty: not told.
    pub time_zone: &'q str,
    /// Of the statement's time, beyond the seconds in the header.
    pub microseconds: u32,
    /// User and host of the account that defines: whom what is defined belongs to where no DEFINER is named.
    pub invoker: Option<(&'q str, &'q str)>,
    /// The collation of utf8mb4 where none is named; 0: not told.
    pub utf8mb4_collation: u16,
    /// `explicit_defaults_for_timestamp`, for definitions of columns of times.
    pub explicit_defaults: Option<bool>,
    /// The number of the transaction that a definition is made in.
    pub xid: Option<u64>,
    /// May a definition be of several databases?
    pub any_database: bool,
    /// `sql_require_primary_key`, for definitions of tables.
    pub require_primary_key: Option<bool>,
    /// `default_table_encryption`, for statements that make a database.
    pub default_encryption: Option<bool>,
}

/// Room for the head of a [`Query`], and for a short text behind it.
const HEAD_BYTES: usize = 160;
/// The transaction of a definition follows.
const DEFINED_IN: u8 = 17;
/// In place of a number of databases: any may be changed.
const ANY_DATABASES: u8 = 254;

/// In [`Query::flags`]: foreign keys, unique keys are not checked; autocommit is off.
pub const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
pub const NO_UNIQUE_CHECKS: u32 = 1 << 27;
pub const NOT_AUTOCOMMIT: u32 = 1 << 19;

impl Query<'_> {
    /// The body of the event, up to its text.
    pub fn head(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(HEAD_BYTES);
        body.extend_from_slice(&self.thread_id.to_le_bytes());
        body.extend_from_slice(&0u32.to_le_bytes());
        // Names of databases have 64 characters at most, so 192 bytes with what they are quoted with.
        body.push(self.database.len() as u8);
        body.extend_from_slice(&0u16.to_le_bytes());
        let vars_at = body.len() + 2;
        body.extend_from_slice(&0u16.to_le_bytes());
        let vars = &mut body;
        vars.push(0);
        vars.extend_from_slice(&self.flags.to_le_bytes());
        vars.push(1);
        vars.extend_from_slice(&self.sql_mode.to_le_bytes());
        vars.extend_from_slice(b"\x06\x03std\x04");
        self.collations.iter().for_each(|c| vars.extend_from_slice(&c.to_le_bytes()));
        if !self.time_zone.is_empty() && self.time_zone.len() < 256 {
            vars.extend_from_slice(&[5, self.time_zone.len() as u8]);
            vars.extend_from_slice(self.time_zone.as_bytes());
        }
        if let Some((user, host)) = self.invoker.filter(|(user, host)| user.len() < 256 && host.len() < 256) {
            vars.push(11);
            for name in [user, host] {
                vars.push(name.len() as u8);
                vars.extend_from_slice(name.as_bytes());
            }
        }
        if self.any_database {
            // A definition may name others than its own; a replica that parts its work by databases does nothing else beside it.
            vars.extend_from_slice(&[12, ANY_DATABASES]);
        } else if !self.database.is_empty() && self.database.len() < 192 {
            vars.extend_from_slice(&[12, 1]);
            vars.extend_from_slice(self.database.as_bytes());
            vars.push(0);
        }
        if self.microseconds != 0 {
            vars.push(13);
            vars.extend_from_slice(&self.microseconds.to_le_bytes()[..3]);
        }
        if let Some(explicit) = self.explicit_defaults {
            vars.extend_from_slice(&[16, u8::from(explicit)]);
        }
        if let Some(xid) = self.xid {
            vars.push(DEFINED_IN);
            vars.extend_from_slice(&xid.to_le_bytes());
        }
        if self.utf8mb4_collation != 0 {
            vars.push(18);
            vars.extend_from_slice(&self.utf8mb4_collation.to_le_bytes());
        }
        for (code, told) in [(19, self.require_primary_key), (20, self.default_encryption)] {
            told.into_iter().for_each(|on| vars.extend_from_slice(&[code, u8::from(on)]));
        }
        let vars_bytes = (body.len() - vars_at) as u16;
        body[vars_at - 2..vars_at].copy_from_slice(&vars_bytes.to_le_bytes());
        body.extend_from_slice(self.database.as_bytes());
        body.push(0);
        body
    }
}

/// Database and text of the body of a QUERY event.
pub fn query_text(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let database = *body.get(8)? as usize;
    let vars = u16::from_le_bytes([*body.get(11)?, *body.get(12)?]) as usize;
    let rest = body.get(13 + vars..)?;
    Some((rest.get(..database)?, rest.get(database + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { timestamp: 1_700_000_000, server_id: 7 };

    #[test]
    fn an_event_reads_back_and_any_flipped_bit_shows() {
        let mut out = Vec::new();
        put(&mut out, Kind::Xid, STAMP, 0, Some(1000), &[&xid(77)], Checksum::Crc32);
        let header = Header::decode(&out).unwrap();
        assert_eq!(header.kind(), Some(Kind::Xid));
        assert_eq!((header.len as usize, header.end_position), (out.len(), 1000 + out.len() as u32));
        assert!(verify(&out));
        for bit in 0..out.len() * 8 {
            let mut bad = out.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!verify(&bad), "bit {bit}");
        }
        for len in 0..HEADER_BYTES {
            assert!(Header::decode(&out[..len]).is_none());
        }
    }

    #[test]
    fn a_format_description_keeps_its_sum_when_the_file_is_closed() {
        let body = format_description("8.4.0", 0, Checksum::None);
        let mut out = Vec::new();
        put(&mut out, Kind::FormatDescription, STAMP, FLAG_IN_USE, Some(4), &[&body], Checksum::None);
        assert!(verify(&out));
        out[17] &= !(FLAG_IN_USE as u8);
        assert!(verify(&out));
        assert_eq!(out.len(), 123, "the first event behind it is at 127, as in MySQL 8.4");
        assert_eq!(checksum_of(&out[HEADER_BYTES..out.len() - CHECKSUM_BYTES]), Some(Checksum::None));
    }

    #[test]
    fn the_length_of_a_transaction_counts_its_own_event() {
        let event = |original_version| GtidEvent {
            gtid: Some(Gtid { uuid: Uuid([3; 16]), tag: Tag::default(), number: 9 }),
            has_statements: true,
            last_committed: 4,
            sequence_number: 5,
            immediate_commit_us: 1,
            original_commit_us: 1,
            immediate_version: 80_400,
            original_version,
        };
        for (others, version) in [0u64, 100, 150, 160, 170, 180, 65_000, 65_440, 65_460, 65_500, 1 << 24, 1 << 33]
            .into_iter()
            .flat_map(|others| [(others, 80_400), (others, 90_704)])
        {
            let event = event(version);
            for checksum in [Checksum::None, Checksum::Crc32] {
                let body = event.body(others, checksum);
                let total = (HEADER_BYTES + body.len() + checksum.bytes()) as u64 + others;
                let at = 42 + COMMIT_TIME_BYTES;
                let told = match body[at] {
                    0xFC => u64::from(u16::from_le_bytes([body[at + 1], body[at + 2]])),
                    0xFD => u64::from(u32::from_le_bytes([body[at + 1], body[at + 2], body[at + 3], 0])),
                    0xFE => u64::from_le_bytes(body[at + 1..at + 9].try_into().unwrap()),
                    n => u64::from(n),
                };
                assert_eq!(told, total, "{others}");
                assert_eq!(GtidEvent::gtid_of(Kind::Gtid, &body), event.gtid);
                assert_eq!(GtidEvent::clock_of(&body), Some((4, 5)));
            }
        }
    }

    #[test]
    fn a_query_gives_its_text_back() {
        let query = Query {
            thread_id: 3,
            database: "db",
            sql_mode: 1,
            flags: 0,
            collations: [255; 3],
            time_zone: "SYSTEM",
            microseconds: 999_999,
            invoker: Some(("root", "localhost")),
            utf8mb4_collation: 255,
            explicit_defaults: Some(true),
            xid: Some(77),
            any_database: true,
            require_primary_key: Some(true),
            default_encryption: Some(false),
        };
        let mut body = query.head();
        body.extend_from_slice(b"DROP TABLE t");
        assert_eq!(query_text(&body), Some((&b"db"[..], &b"DROP TABLE t"[..])));
    }
}
