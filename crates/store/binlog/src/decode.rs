//! Events of another server read back: what a replica applies. MySQL's events of versions 5.6 to 9, MariaDB's where they differ.
//!
//! ```text
//!   TABLE_MAP                     --> SourceTable: names, and of each column its form and type
//!   WRITE, UPDATE, DELETE, PARTIAL_UPDATE ROWS    --> RowsEvent: which columns are there; `Rows` gives one image after the other
//!   QUERY                         --> QueryEvent: text, database, and the session that it ran in
//! ```
//! Nothing here trusts a length: what ends too early, or is of a form that is not known, is `None`.

use crate::event::{self, GtidEvent, Kind};
use crate::row::Form;
use types::gtid::Gtid;
use types::{DataType, TypeKind, Value};

/// Event types that this server does not write, by number.
pub mod code {
    pub const INTVAR: u8 = 5;
    pub const RAND: u8 = 13;
    pub const USER_VAR: u8 = 14;
    pub const WRITE_ROWS_V1: u8 = 23;
    pub const UPDATE_ROWS_V1: u8 = 24;
    pub const DELETE_ROWS_V1: u8 = 25;
    pub const INCIDENT: u8 = 26;
    pub const XA_PREPARE: u8 = 38;
    pub const PARTIAL_UPDATE_ROWS: u8 = 39;
    pub const HEARTBEAT_V2: u8 = 41;
    pub const MARIA_GTID: u8 = 162;
}

/// In the flags of any event: who does not know it may leave it out.
pub const FLAG_IGNORABLE: u16 = 0x80;

/// Reads numbers off the front of a body.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (first, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(first)
    }

    /// Least significant byte first.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(taken.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    fn lenenc(&mut self) -> Option<u64> {
        match self.number(1)? {
            n @ 0..=250 => Some(n),
            0xFC => self.number(2),
            0xFD => self.number(3),
            0xFE => self.number(8),
            _ => None,
        }
    }

    /// A text behind its length in one byte.
    fn short_text(&mut self) -> Option<&'b [u8]> {
        let len = self.number(1)? as usize;
        self.take(len)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A column as a source describes it.
#[derive(Clone, Debug)]
pub struct SourceColumn {
    pub(crate) form: Form,
    /// Its type as far as the event tells: collations and members are not in it.
    pub data_type: DataType,
    /// `None`: the event does not say; then it is what the replica's column is.
    pub unsigned: Option<bool>,
    /// A time of before MySQL 5.6.4, in its own bytes.
    old: Option<OldTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OldTime {
    Timestamp,
    DateTime,
    Time,
}

/// What a TABLE_MAP says.
#[derive(Clone, Debug)]
pub struct SourceTable {
    pub id: u64,
    pub schema: String,
    pub name: String,
    pub columns: Vec<SourceColumn>,
}

const TABLE_ID_BYTES: usize = 6;
/// The kind of optional metadata that says which numbers are unsigned.
const SIGNEDNESS: u8 = 1;

impl SourceTable {
    pub fn decode(body: &[u8]) -> Option<SourceTable> {
        let mut bytes = Bytes(body);
        let id = bytes.number(TABLE_ID_BYTES)?;
        bytes.take(2)?;
        let schema = text(bytes.short_text()?);
        bytes.take(1)?;
        let name = text(bytes.short_text()?);
        bytes.take(1)?;
        let count = bytes.lenenc()? as usize;
        let codes = bytes.take(count)?;
        let len = bytes.lenenc()? as usize;
        let mut metadata = Bytes(bytes.take(len)?);
        let mut columns = Vec::with_capacity(count);
        for code in codes {
            columns.push(column(*code, &mut metadata)?);
        }
        bytes.take(count.div_ceil(8))?;
        while let Some(kind) = bytes.number(1) {
            let len = bytes.lenenc()? as usize;
            let value = bytes.take(len)?;
            if kind as u8 == SIGNEDNESS {
                let numbers = columns.iter_mut().filter(|c| is_number(c.form));
                for (i, column) in numbers.enumerate() {
                    let bit = value.get(i / 8)? & 0x80 >> (i % 8) != 0;
                    column.unsigned = Some(bit);
                    column.data_type.unsigned = bit;
                }
            }
        }
        Some(SourceTable { id, schema, name, columns })
    }
}

fn is_number(form: Form) -> bool {
    matches!(form, Form::Integer { .. } | Form::Year | Form::Float | Form::Double | Form::Decimal { .. })
}

/// A column by MySQL's number of its type and what the map says beside it.
fn column(code: u8, metadata: &mut Bytes<'_>) -> Option<SourceColumn> {
    use TypeKind as K;
    let plain = |form, kind| (form, DataType::new(kind));
    let integer = |bytes, code, kind| (Form::Integer { bytes, code }, DataType::new(kind));
    let sized = |form, kind, length| (form, DataType { length, ..DataType::new(kind) });
    let digits = |form, kind, decimals| (form, DataType { decimals, ..DataType::new(kind) });
    let mut old = None;
    let (form, data_type) = match code {
        1 => integer(1, 1, K::TinyInt),
        2 => integer(2, 2, K::SmallInt),
        9 => integer(3, 9, K::MediumInt),
        3 => integer(4, 3, K::Int),
        8 => integer(8, 8, K::BigInt),
        4 => {
            metadata.take(1)?;
            plain(Form::Float, K::Float)
        }
        5 => {
            metadata.take(1)?;
            plain(Form::Double, K::Double)
        }
        10 | 14 => plain(Form::Date, K::Date),
        7 => {
            old = Some(OldTime::Timestamp);
            plain(Form::Timestamp { digits: 0 }, K::Timestamp)
        }
        11 => {
            old = Some(OldTime::Time);
            plain(Form::Time { digits: 0 }, K::Time)
        }
        12 => {
            old = Some(OldTime::DateTime);
            plain(Form::DateTime { digits: 0 }, K::DateTime)
        }
        13 => plain(Form::Year, K::Year),
        15 => {
            let max = metadata.number(2)? as u16;
            sized(Form::Variable { max }, K::VarChar, max.into())
        }
        16 => {
            let (bits, bytes) = (metadata.number(1)? as u16, metadata.number(1)? as u16);
            let bits = bytes * 8 + bits;
            (1..=64).contains(&bits).then(|| sized(Form::Bit { bits }, K::Bit, bits.into()))?
        }
        17..=19 => {
            let fraction = metadata.number(1)? as u8;
            if fraction > 6 {
                return None;
            }
            match code {
                17 => digits(Form::Timestamp { digits: fraction }, K::Timestamp, fraction),
                18 => digits(Form::DateTime { digits: fraction }, K::DateTime, fraction),
                _ => digits(Form::Time { digits: fraction }, K::Time, fraction),
            }
        }
        245 => {
            metadata.take(1)?;
            plain(Form::Json, K::Json)
        }
        246 => {
            let (precision, scale) = (metadata.number(1)? as u8, metadata.number(1)? as u8);
            if precision == 0 || precision > 65 || scale > precision {
                return None;
            }
            (Form::Decimal { precision, scale }, DataType::decimal(precision.into(), scale))
        }
        249..=252 => {
            let length_bytes = metadata.number(1)? as u8;
            let kind = match length_bytes {
                1 => K::TinyBlob,
                2 => K::Blob,
                3 => K::MediumBlob,
                4 => K::LongBlob,
                _ => return None,
            };
            plain(Form::Blob { length_bytes }, kind)
        }
        254 => {
            let (first, second) = (metadata.number(1)? as u8, metadata.number(1)? as u16);
            match first {
                247 if matches!(second, 1 | 2) => plain(Form::Enum { bytes: second as u8 }, K::Enum),
                248 if (1..=8).contains(&second) => plain(Form::Set { bytes: second as u8 }, K::Set),
                247 | 248 => return None,
                // Two bits of the length stand, inverted, in two bits that are always set in a type.
                _ => {
                    let max = second | u16::from((first & 0x30) ^ 0x30) << 4;
                    sized(Form::Fixed { max, blank: b" " }, K::Char, max.into())
                }
            }
        }
        255 => {
            metadata.take(1)?;
            plain(Form::Geometry, K::Geometry)
        }
        _ => return None,
    };
    Some(SourceColumn { form, data_type, unsigned: None, old })
}

/// What a row event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Write,
    Update,
    Delete,
}

impl Change {
    /// Of an event by the number of its type; `None`: it is none of rows that this server reads.
    pub fn of(code: u8) -> Option<Change> {
        match code {
            30 | code::WRITE_ROWS_V1 => Some(Change::Write),
            31 | code::PARTIAL_UPDATE_ROWS | code::UPDATE_ROWS_V1 => Some(Change::Update),
            32 | code::DELETE_ROWS_V1 => Some(Change::Delete),
            _ => None,
        }
    }

    /// As messages call the event.
    pub fn event_name(self) -> &'static str {
        match self {
            Change::Write => "Write_rows",
            Change::Update => "Update_rows",
            Change::Delete => "Delete_rows",
        }
    }
}

/// The front of a row event.
#[derive(Clone, Debug)]
pub struct RowsEvent<'b> {
    pub change: Change,
    pub table_id: u64,
    pub flags: u16,
    columns: usize,
    /// Bits of the columns in the first image, and in the second one of an update.
    present: [&'b [u8]; 2],
    rows: &'b [u8],
    /// Images after an update say how they tell their documents.
    has_options: bool,
}

impl<'b> RowsEvent<'b> {
    pub fn decode(event_code: u8, body: &'b [u8]) -> Option<RowsEvent<'b>> {
        let change = Change::of(event_code)?;
        let mut bytes = Bytes(body);
        let table_id = bytes.number(TABLE_ID_BYTES)?;
        let flags = bytes.number(2)? as u16;
        if event_code >= 30 {
            let extra = bytes.number(2)? as usize;
            bytes.take(extra.checked_sub(2)?)?;
        }
        let columns = bytes.lenenc()? as usize;
        let first = bytes.take(columns.div_ceil(8))?;
        let second = if change == Change::Update { bytes.take(columns.div_ceil(8))? } else { &[] };
        let has_options = event_code == code::PARTIAL_UPDATE_ROWS;
        Some(RowsEvent { change, table_id, flags, columns, present: [first, second], rows: bytes.0, has_options })
    }

    /// The images of its rows. `None`: the table has other columns.
    pub fn rows<'t>(&self, table: &'t SourceTable) -> Option<Rows<'t, 'b>> {
        let fits = table.columns.len() == self.columns;
        fits.then_some(Rows {
            table,
            present: self.present,
            rest: self.rows,
            second: false,
            change: self.change,
            has_options: self.has_options,
            partial: Vec::new(),
        })
    }
}

/// The images of a row event, in order; of an update the one before and the one after in turn.
pub struct Rows<'t, 'b> {
    table: &'t SourceTable,
    present: [&'b [u8]; 2],
    rest: &'b [u8],
    second: bool,
    change: Change,
    has_options: bool,
    partial: Vec<bool>,
}

impl<'b> Rows<'_, 'b> {
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Columns of the last image whose value is a list of changes of a document, [`crate::partial::apply_changes`]; shorter where no more
    /// are.
    pub fn partial(&self) -> &[bool] {
        &self.partial
    }

    /// Which columns the image at hand tells by changes: its options are taken off its front.
    fn take_options(&mut self, bytes: &mut Bytes<'b>) -> Option<()> {
        self.partial.clear();
        if !self.has_options || !self.second {
            return Some(());
        }
        let options = bytes.lenenc()?;
        if options & !u64::from(crate::partial::PARTIAL_JSON) != 0 {
            return None;
        }
        if options == 0 {
            return Some(());
        }
        let is_document = |c: &SourceColumn| c.form == Form::Json;
        let documents = self.table.columns.iter().filter(|c| is_document(c)).count();
        let bits = bytes.take(documents.div_ceil(8))?;
        let mut nth = 0;
        for column in &self.table.columns {
            let at = nth;
            nth += usize::from(is_document(column));
            self.partial.push(is_document(column) && bits[at / 8] >> (at % 8) & 1 != 0);
        }
        Some(())
    }

    /// Puts the next image into `row`, by column of the source; `None` in it: the column is not in the image. `None`: it is damaged.
    pub fn next(&mut self, row: &mut Vec<Option<Value<'b>>>) -> Option<()> {
        row.clear();
        let present = self.present[usize::from(self.second)];
        let mut bytes = Bytes(self.rest);
        self.take_options(&mut bytes)?;
        self.second = self.change == Change::Update && !self.second;
        let bit = |bits: &[u8], i: usize| bits[i / 8] >> (i % 8) & 1 != 0;
        let count = (0..self.table.columns.len()).filter(|i| bit(present, *i)).count();
        let nulls = bytes.take(count.div_ceil(8))?;
        let mut at = 0;
        for (i, column) in self.table.columns.iter().enumerate() {
            if !bit(present, i) {
                row.push(None);
                continue;
            }
            let is_null = bit(nulls, at);
            at += 1;
            row.push(Some(match (is_null, self.partial.get(i)) {
                (true, _) => Value::Null,
                (false, Some(true)) => {
                    let len = bytes.number(4)? as usize;
                    Value::Bytes(bytes.take(len)?.into())
                }
                (false, _) => column.take(&mut bytes)?,
            }));
        }
        // Each image has at least the byte of its NULLs, else it never ends.
        if bytes.0.len() == self.rest.len() {
            return None;
        }
        self.rest = bytes.0;
        Some(())
    }
}

/// How values of a source's column fit a column here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// They are its values.
    Same,
    /// They are converted, and nothing is lost: ALL_NON_LOSSY of `replica_type_conversions`.
    Widens,
    /// Something may be lost: ALL_LOSSY.
    Narrows,
    Never,
}

impl Fit {
    fn of(same: bool, fits: bool) -> Fit {
        match (same, fits) {
            (true, _) => Fit::Same,
            (_, true) => Fit::Widens,
            _ => Fit::Narrows,
        }
    }
}

impl SourceColumn {
    /// By MySQL's rules (manual, 19.5.1.9.2). A document may also come as a text, as MariaDB has it.
    pub fn fit(&self, column: &DataType, members: usize) -> Fit {
        use Form::*;
        let own = Form::of(column, members);
        let length = |form: Form| match form {
            Fixed { max, .. } | Variable { max } => Some(u64::from(max)),
            Blob { length_bytes } => Some((1 << (8 * u32::from(length_bytes))) - 1),
            _ => None,
        };
        match (self.form, own) {
            (Integer { bytes: theirs, .. }, Integer { bytes: ours, .. }) => Fit::of(theirs == ours, theirs < ours),
            (Enum { bytes: theirs }, Enum { bytes: ours }) | (Set { bytes: theirs }, Set { bytes: ours }) => {
                Fit::of(theirs == ours, theirs < ours)
            }
            (Bit { bits: theirs }, Bit { bits: ours }) => Fit::of(theirs == ours, theirs < ours),
            (Decimal { precision, scale }, Decimal { precision: p, scale: s }) => {
                Fit::of((precision, scale) == (p, s), scale <= s && precision - scale <= p - s)
            }
            (Time { digits: theirs }, Time { digits: ours })
            | (DateTime { digits: theirs }, DateTime { digits: ours })
            | (Timestamp { digits: theirs }, Timestamp { digits: ours }) => Fit::of(theirs == ours, theirs < ours),
            (Float, Double) => Fit::Widens,
            (Double, Float) | (Decimal { .. }, Float | Double) | (Float | Double, Decimal { .. }) => Fit::Narrows,
            (Blob { length_bytes: 4 }, Json) => Fit::Same,
            (theirs, ours) => match (length(theirs), length(ours)) {
                (Some(a), Some(b)) => {
                    let same = std::mem::discriminant(&theirs) == std::mem::discriminant(&ours);
                    Fit::of(same && a == b, a <= b)
                }
                _ if std::mem::discriminant(&theirs) == std::mem::discriminant(&ours) => Fit::Same,
                _ => Fit::Never,
            },
        }
    }

    /// As messages name the type.
    pub fn type_words(&self) -> String {
        use Form::*;
        let unsigned = if self.data_type.unsigned { " unsigned" } else { "" };
        match self.form {
            Integer { code, .. } => {
                let name = match code {
                    1 => "tinyint",
                    2 => "smallint",
                    9 => "mediumint",
                    3 => "int",
                    _ => "bigint",
                };
                format!("{name}{unsigned}")
            }
            Enum { .. } => "enum".into(),
            Set { .. } => "set".into(),
            Bit { bits } => format!("bit({bits})"),
            Year => "year".into(),
            Float => "float".into(),
            Double => "double".into(),
            Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            Date => "date".into(),
            Time { .. } => "time".into(),
            DateTime { .. } => "datetime".into(),
            Timestamp { .. } => "timestamp".into(),
            Fixed { max, .. } => format!("char({max}(bytes))"),
            Variable { max } => format!("varchar({max}(bytes))"),
            Blob { length_bytes: 1 } => "tinyblob".into(),
            Blob { length_bytes: 2 } => "blob".into(),
            Blob { length_bytes: 3 } => "mediumblob".into(),
            Blob { .. } => "longblob".into(),
            Json => "json".into(),
            Geometry => "geometry".into(),
        }
    }

    fn take<'b>(&self, bytes: &mut Bytes<'b>) -> Option<Value<'b>> {
        match self.old {
            None => self.form.take(bytes.0, self.data_type.unsigned).map(|(value, rest)| {
                bytes.0 = rest;
                value
            }),
            Some(OldTime::Timestamp) => crate::row::old_timestamp(bytes.number(4)?),
            Some(OldTime::DateTime) => crate::row::old_datetime(bytes.number(8)?),
            Some(OldTime::Time) => crate::row::old_time(bytes.number(3)?),
        }
    }
}

/// A QUERY event: a statement, and the session that it ran in as far as the event tells. The fields are those of its header and
/// status block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryEvent<'b> {
    pub thread_id: u32,
    /// The number of the error that the statement ended with at the source; 0: none.
    pub error: u16,
    pub database: &'b [u8],
    pub text: &'b [u8],
    /// `OPTION_*`, see [`event::NO_FOREIGN_KEY_CHECKS`] and its neighbours.
    pub flags: Option<u32>,
    pub sql_mode: Option<u64>,
    /// `auto_increment_increment` and `auto_increment_offset`
    pub auto_increment: Option<(u16, u16)>,
    /// Collations of client, connection and server, by number.
    pub collations: Option<[u16; 3]>,
    pub time_zone: Option<&'b [u8]>,
    /// `collation_database`, where it is not the database's own.
    pub database_collation: Option<u16>,
    /// User and host.
    pub invoker: Option<(&'b [u8], &'b [u8])>,
    /// Of the time of the event, where the statement asks for them.
    pub microseconds: u32,
    pub explicit_defaults: Option<bool>,
    /// The collation of utf8mb4 where none is named.
    pub utf8mb4_collation: Option<u16>,
    pub require_primary_key: Option<bool>,
    pub default_encryption: Option<bool>,
    /// The transaction that a definition is made in.
    pub xid: Option<u64>,
}

/// More databases than a QUERY event lists.
const OVER_MAX_DATABASES: u64 = 254;

impl<'b> QueryEvent<'b> {
    pub fn decode(body: &'b [u8]) -> Option<QueryEvent<'b>> {
        let mut bytes = Bytes(body);
        let thread_id = bytes.number(4)? as u32;
        bytes.take(4)?;
        let database = bytes.number(1)? as usize;
        let error = bytes.number(2)? as u16;
        let len = bytes.number(2)? as usize;
        let mut vars = Bytes(bytes.take(len)?);
        let mut query = QueryEvent { thread_id, error, ..QueryEvent::default() };
        while let Some(code) = vars.number(1) {
            match query.variable(code, &mut vars) {
                Some(true) => {}
                // What follows a variable that is not known cannot be read.
                Some(false) => break,
                None => return None,
            }
        }
        query.database = bytes.take(database)?;
        bytes.take(1)?;
        query.text = bytes.0;
        Some(query)
    }

    /// Reads one variable. `Some(false)`: it is not known.
    fn variable(&mut self, code: u64, vars: &mut Bytes<'b>) -> Option<bool> {
        match code {
            0 => self.flags = Some(vars.number(4)? as u32),
            1 => self.sql_mode = Some(vars.number(8)?),
            // A catalog, with a zero behind it in old servers.
            2 => drop((vars.short_text()?, vars.take(1)?)),
            3 => self.auto_increment = Some((vars.number(2)? as u16, vars.number(2)? as u16)),
            4 => {
                let mut id = || vars.number(2).map(|id| id as u16);
                self.collations = Some([id()?, id()?, id()?]);
            }
            5 => self.time_zone = Some(vars.short_text()?),
            6 => drop(vars.short_text()?),
            7 => drop(vars.take(2)?),
            8 => self.database_collation = Some(vars.number(2)? as u16),
            9 => drop(vars.take(8)?),
            17 => self.xid = Some(vars.number(8)?),
            10 => drop(vars.take(4)?),
            11 => self.invoker = Some((vars.short_text()?, vars.short_text()?)),
            12 => {
                let count = vars.number(1)?;
                for _ in 0..if count >= OVER_MAX_DATABASES { 0 } else { count } {
                    let end = vars.0.iter().position(|b| *b == 0)?;
                    vars.take(end + 1)?;
                }
            }
            13 => self.microseconds = vars.number(3)? as u32,
            16 => self.explicit_defaults = Some(vars.number(1)? != 0),
            18 => self.utf8mb4_collation = Some(vars.number(2)? as u16),
            19 => self.require_primary_key = Some(vars.number(1)? == 1),
            20 => self.default_encryption = Some(vars.number(1)? == 1),
            // MariaDB's: how many fraction digits the time has are in the number itself; and the number of an XA transaction.
            128 => self.microseconds = vars.number(3)? as u32,
            129 => drop(vars.take(8)?),
            _ => return Some(false),
        }
        Some(true)
    }
}

/// What the GTID event in front of a transaction tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `None`: it is anonymous, or MariaDB's.
    pub gtid: Option<Gtid>,
    pub last_committed: u64,
    pub sequence_number: u64,
    /// Microseconds since 1970 where it was committed first, and at the source; 0: not told.
    pub original_commit_us: u64,
    pub immediate_commit_us: u64,
    /// `80400` of the server where it was committed first; 0: not told.
    pub original_version: u32,
    /// One statement that commits by itself follows: MariaDB's STANDALONE.
    pub is_standalone: bool,
    /// MariaDB's number of the group that was committed together; 0: there was none.
    pub group: u64,
}

const COMMIT_TIME_BYTES: usize = 7;
/// The bit of a commit time that says that the original one follows.
const ORIGINAL_FOLLOWS: u64 = 1 << 55;
/// The bit of a server's version that says the same of versions.
const ORIGINAL_VERSION_FOLLOWS: u64 = 1 << 31;
/// In the flags of MariaDB's GTID events.
const MARIA_STANDALONE: u64 = 1;
const MARIA_GROUP: u64 = 2;

impl Head {
    /// Of the body of an event of this kind: GTID_LOG, ANONYMOUS_GTID_LOG, GTID_TAGGED_LOG.
    pub fn decode(kind: Kind, body: &[u8]) -> Option<Head> {
        if kind == Kind::GtidTagged {
            let (event, _) = crate::tagged::decode(body)?;
            return Some(Head {
                gtid: event.gtid,
                last_committed: event.last_committed,
                sequence_number: event.sequence_number,
                original_commit_us: event.original_commit_us,
                immediate_commit_us: event.immediate_commit_us,
                original_version: event.original_version,
                is_standalone: false,
                group: 0,
            });
        }
        let mut head = Head { gtid: GtidEvent::gtid_of(kind, body), ..Head::default() };
        let mut bytes = Bytes(body.get(25..)?);
        if bytes.number(1) != Some(2) {
            return Some(head);
        }
        (head.last_committed, head.sequence_number) = (bytes.number(8)?, bytes.number(8)?);
        if let Some(us) = bytes.number(COMMIT_TIME_BYTES) {
            head.immediate_commit_us = us & !ORIGINAL_FOLLOWS;
            head.original_commit_us = head.immediate_commit_us;
            if us & ORIGINAL_FOLLOWS != 0 {
                head.original_commit_us = bytes.number(COMMIT_TIME_BYTES)?;
            }
            // The length of the transaction, which old servers do not tell.
            if bytes.lenenc().is_some()
                && let Some(version) = bytes.number(4)
            {
                head.original_version = (version & !ORIGINAL_VERSION_FOLLOWS) as u32;
                if version & ORIGINAL_VERSION_FOLLOWS != 0 {
                    head.original_version = bytes.number(4)? as u32;
                }
            }
        }
        Some(head)
    }

    /// Of MariaDB's GTID event.
    pub fn decode_maria(body: &[u8]) -> Option<Head> {
        let mut bytes = Bytes(body);
        bytes.take(12)?;
        let flags = bytes.number(1)?;
        let group = if flags & MARIA_GROUP != 0 { bytes.number(8)? } else { 0 };
        Some(Head { is_standalone: flags & MARIA_STANDALONE != 0, group, ..Head::default() })
    }
}

/// File and position that a ROTATE leads to.
pub fn rotate(body: &[u8]) -> Option<(String, u64)> {
    let mut bytes = Bytes(body);
    let position = bytes.number(8)?;
    (!bytes.0.is_empty()).then(|| (text(bytes.0), position))
}

/// INTVAR: a value that the statement behind it gives out first. `true`: LAST_INSERT_ID() says it; else INSERT_ID.
pub fn intvar(body: &[u8]) -> Option<(bool, u64)> {
    let mut bytes = Bytes(body);
    let kind = bytes.number(1)?;
    Some((kind == 1, bytes.number(8)?))
}

/// RAND: both halves of the state of RAND().
pub fn rand(body: &[u8]) -> Option<(u64, u64)> {
    let mut bytes = Bytes(body);
    Some((bytes.number(8)?, bytes.number(8)?))
}

/// The version of the server that wrote a format description, `8.4.0`.
pub fn version_of(format_description: &[u8]) -> Option<String> {
    let version = format_description.get(2..52)?;
    let end = version.iter().position(|b| *b == 0).unwrap_or(version.len());
    Some(text(&version[..end]))
}

/// The bytes of an event between its header and its checksum.
pub fn body_of(event: &[u8], checksum: event::Checksum) -> Option<&[u8]> {
    event.get(event::HEADER_BYTES..event.len().checked_sub(checksum.bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Query;

    #[test]
    fn a_query_tells_its_session() {
        let query = Query {
            thread_id: 3,
            database: "db",
            sql_mode: 77,
            flags: event::NO_FOREIGN_KEY_CHECKS,
            collations: [45, 255, 8],
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
        let read = QueryEvent::decode(&body).unwrap();
        assert_eq!((read.database, read.text), (&b"db"[..], &b"DROP TABLE t"[..]));
        assert_eq!(read.xid, Some(77));
        assert_eq!((read.sql_mode, read.flags), (Some(77), Some(event::NO_FOREIGN_KEY_CHECKS)));
        assert_eq!((read.collations, read.time_zone), (Some([45, 255, 8]), Some(&b"SYSTEM"[..])));
        assert_eq!(read.invoker, Some((&b"root"[..], &b"localhost"[..])));
        assert_eq!((read.explicit_defaults, read.utf8mb4_collation), (Some(true), Some(255)));
        assert_eq!(read.microseconds, 999_999);
        assert_eq!((read.require_primary_key, read.default_encryption), (Some(true), Some(false)));
        for end in 0..13 {
            assert_eq!(QueryEvent::decode(&body[..end]), None);
        }
    }

    #[test]
    fn times_of_commit_are_read_back() {
        let gtid = Gtid { uuid: types::gtid::Uuid([3; 16]), tag: Default::default(), number: 9 };
        let mut event = GtidEvent {
            gtid: Some(gtid),
            has_statements: false,
            last_committed: 4,
            sequence_number: 5,
            immediate_commit_us: 1_700_000_000_000_000,
            original_commit_us: 1_600_000_000_000_000,
            immediate_version: 80_400,
            original_version: 90_704,
        };
        let wanted = Head {
            gtid: Some(gtid),
            last_committed: 4,
            sequence_number: 5,
            original_commit_us: event.original_commit_us,
            immediate_commit_us: event.immediate_commit_us,
            original_version: 90_704,
            is_standalone: false,
            group: 0,
        };
        assert_eq!(Head::decode(Kind::Gtid, &event.body(100, event::Checksum::Crc32)), Some(wanted));
        event.original_commit_us = event.immediate_commit_us;
        let read = Head::decode(Kind::Gtid, &event.body(100, event::Checksum::Crc32)).unwrap();
        assert_eq!(read.original_commit_us, event.immediate_commit_us);
    }
}
