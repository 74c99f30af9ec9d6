//! What a session puts into the events of its transaction ([`engine::Events`]), and how that becomes events of the binary log.
//!
//! ```text
//!   item    tag u8 | length u32 | bytes
//!   EVENT   type u8 | flags u16 | timestamp u32 | body
//!   TABLE   timestamp u32 | row_event_max u32 | id u64 | flags u16 | columns u16 | columns there: inserted, before, after, deleted
//!           | body of the table map
//!   WRITE, UPDATE, DELETE, PARTIAL_UPDATE   one row's images, of the table before it
//!   KEYS    what the transaction has written, u64 each: see [`crate::dependency`]; not there: not known
//!   COMMIT  the last item: see [`Commit`]
//! ```
//! A row is an item of its own, so that a savepoint cuts between rows and nothing has to be kept back in the session; who writes the
//! files gathers rows into events. What an event's bytes depend on stands in the items and not in a variable, so that the files come out
//! the same when they are written again after a crash.

use crate::dependency::Writes;
use crate::event::{self, Kind, ROWS_STATEMENT_END};
use crate::row::{Form, TableDef, bits_up, table_map};
use engine::Events;
use types::gtid::{Gtid, Tag, Uuid};
use types::{TypeKind, Value};

const EVENT: u8 = 1;
const TABLE: u8 = 2;
const WRITE: u8 = 3;
const UPDATE: u8 = 4;
const DELETE: u8 = 5;
/// As UPDATE; in the image after documents may be told by what differs.
const PARTIAL_UPDATE: u8 = 6;
const KEYS: u8 = 8;
const COMMIT: u8 = 9;
const ITEM_HEAD: usize = 5;

/// In the flags of row events, beside [`ROWS_STATEMENT_END`].
pub const ROWS_NO_FOREIGN_KEYS: u16 = 2;
pub const ROWS_RELAXED_UNIQUE: u16 = 4;
/// In those of items alone: [`TableDef::is_beside`].
const ROWS_BESIDE: u16 = 1 << 15;

fn put_item(out: &mut Vec<u8>, tag: u8, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends an event with its whole body. Errors as [`Events::append`].
pub fn put_event(events: &mut Events, kind: Kind, flags: u16, timestamp: u32, body: &[&[u8]]) -> engine::Result<()> {
    events.append(|out| {
        put_item(out, EVENT, |out| {
            out.push(kind as u8);
            out.extend_from_slice(&flags.to_le_bytes());
            out.extend_from_slice(&timestamp.to_le_bytes());
            body.iter().for_each(|part| out.extend_from_slice(part));
        });
    })
}

/// The body of ROWS_QUERY: a length that readers pass over, and the text.
pub fn rows_query(text: &[u8]) -> Vec<u8> {
    let mut body = vec![text.len().min(255) as u8];
    body.extend_from_slice(text);
    body
}

/// Which number a transaction gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    Anonymous,
    /// The next one of this server under this tag, or without one.
    Automatic(Tag),
    /// `gtid_next`
    Given(Gtid),
}

fn put_tag(out: &mut Vec<u8>, tag: Tag) {
    out.push(tag.as_str().len() as u8);
    out.extend_from_slice(tag.as_str().as_bytes());
}

/// The tag at this place, and where it ends.
fn take_tag(bytes: &[u8], at: usize) -> Option<(Tag, usize)> {
    let end = at + 1 + usize::from(*bytes.get(at)?);
    let text = std::str::from_utf8(bytes.get(at + 1..end)?).ok()?;
    Some((Tag::parse(text)?, end))
}

/// What a transaction's end says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// BEGIN goes before its events and XID behind them: it is not one statement alone.
    pub is_block: bool,
    /// Of such: the last of its events is among them, and no XID follows (XA_PREPARE).
    pub ends_itself: bool,
    /// Of such: no table of it is transactional, and the statement COMMIT is behind its events in place of XID.
    pub is_beside: bool,
    /// Statements are among its events.
    pub has_statements: bool,
    pub numbering: Numbering,
    pub server_id: u32,
    /// Microseconds since 1970; where it came from: 0, when that is here.
    pub commit_us: u64,
    pub original_us: u64,
    /// The version of the server where it came from; 0: of this one.
    pub original_version: u32,
    /// Who committed further down in the log has given back no lock when this transaction had all of its own.
    pub prepared: u64,
    /// When its first statement began, in seconds; the body of BEGIN up to the word.
    pub timestamp: u32,
    pub begin: Vec<u8>,
}

impl Commit {
    /// The last event, where it is not among the others: kind and body.
    pub fn last_event(&self, xid: u64) -> Option<(Kind, Vec<u8>)> {
        const WORD: &[u8] = b"BEGIN";
        if !self.is_block || self.ends_itself {
            return None;
        }
        if !self.is_beside {
            return Some((Kind::Xid, event::xid(xid).to_vec()));
        }
        let head = self.begin.strip_suffix(WORD).expect("a block of statements begins with BEGIN");
        Some((Kind::Query, [head, b"COMMIT"].concat()))
    }

    /// When it is committed, in seconds since 1970.
    pub fn seconds(&self) -> u32 {
        (self.commit_us / 1_000_000) as u32
    }

    /// Appends the last item. Errors as [`Events::append`].
    pub fn put(&self, events: &mut Events) -> engine::Result<()> {
        let mut words = std::mem::take(events.words());
        let known = !self.has_statements && Writes::settle(&mut words);
        let result = events.append(|out| {
            if known {
                put_item(out, KEYS, |out| words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes())));
            }
            put_item(out, COMMIT, |out| {
                let foreign = self.original_version != 0;
                let flags = [self.is_block, self.has_statements, foreign, self.ends_itself, self.is_beside];
                out.push(flags.iter().rev().fold(0, |all, flag| all << 1 | u8::from(*flag)));
                out.extend_from_slice(&self.server_id.to_le_bytes());
                out.extend_from_slice(&self.commit_us.to_le_bytes());
                out.extend_from_slice(&self.original_us.to_le_bytes());
                out.extend_from_slice(&self.prepared.to_le_bytes());
                out.extend_from_slice(&self.timestamp.to_le_bytes());
                match self.numbering {
                    Numbering::Anonymous => out.push(0),
                    Numbering::Automatic(tag) if tag.is_empty() => out.push(1),
                    Numbering::Given(gtid) if gtid.tag.is_empty() => {
                        out.push(2);
                        out.extend_from_slice(&gtid.uuid.0);
                        out.extend_from_slice(&gtid.number.to_le_bytes());
                    }
                    Numbering::Automatic(tag) => {
                        out.push(3);
                        put_tag(out, tag);
                    }
                    Numbering::Given(gtid) => {
                        out.push(4);
                        out.extend_from_slice(&gtid.uuid.0);
                        out.extend_from_slice(&gtid.number.to_le_bytes());
                        put_tag(out, gtid.tag);
                    }
                }
                if foreign {
                    out.extend_from_slice(&self.original_version.to_le_bytes());
                }
                out.extend_from_slice(&self.begin);
            });
        });
        *events.words() = words;
        result
    }

    fn decode(bytes: &[u8]) -> Option<Commit> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let half = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let flags = *bytes.first()?;
        let (numbering, mut at) = match *bytes.get(33)? {
            0 => (Numbering::Anonymous, 34),
            1 => (Numbering::Automatic(Tag::default()), 34),
            3 => {
                let (tag, end) = take_tag(bytes, 34)?;
                (Numbering::Automatic(tag), end)
            }
            kind @ (2 | 4) => {
                let uuid = Uuid(bytes.get(34..50)?.try_into().ok()?);
                let (tag, end) = if kind == 4 { take_tag(bytes, 58)? } else { (Tag::default(), 58) };
                (Numbering::Given(Gtid { uuid, tag, number: word(50)? }), end)
            }
            _ => return None,
        };
        let mut original_version = 0;
        if flags & 4 != 0 {
            original_version = half(at)?;
            at += 4;
        }
        Some(Commit {
            is_block: flags & 1 != 0,
            ends_itself: flags & 8 != 0,
            is_beside: flags & 16 != 0,
            has_statements: flags & 2 != 0,
            numbering,
            server_id: half(1)?,
            commit_us: word(5)?,
            original_us: word(13)?,
            original_version,
            prepared: word(21)?,
            timestamp: half(29)?,
            begin: bytes.get(at..)?.to_vec(),
        })
    }
}

/// `binlog_row_image`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowImage {
    Minimal,
    NoBlob,
    #[default]
    Full,
}

/// How a statement's rows are logged.
#[derive(Clone, Debug)]
pub struct RowSettings {
    /// When the statement began, in seconds since 1970.
    pub timestamp: u32,
    /// `binlog_row_event_max_size`
    pub event_max: u32,
    pub image: RowImage,
    pub full_metadata: bool,
    /// `binlog_row_value_options=PARTIAL_JSON`
    pub partial_json: bool,
    /// [`ROWS_NO_FOREIGN_KEYS`] and the like.
    pub flags: u16,
    /// `binlog_rows_query_log_events`: the statement's text.
    pub text: Option<Vec<u8>>,
}

/// Columns of an image.
struct Image {
    /// Places in [`TableRows::fields`].
    fields: Vec<usize>,
    bits: Vec<u8>,
}

impl Image {
    fn new(columns: usize, has: impl Fn(usize) -> bool) -> Image {
        Image { fields: (0..columns).filter(|i| has(*i)).collect(), bits: bits_up((0..columns).map(has)) }
    }
}

/// Puts the rows that one statement changes in one table into the events of its transaction.
pub struct TableRows {
    /// Form and place in the caller's rows.
    fields: Vec<(Form, usize)>,
    inserted: Image,
    before: Image,
    after: Image,
    deleted: Image,
    /// The item that says which table rows are of, made for `made_for`.
    table: Vec<u8>,
    id: u64,
    is_beside: bool,
    full_metadata: bool,
    image: RowImage,
    /// Updates tell documents by what differs: some column after an update has one.
    partial: bool,
    text: Option<Vec<u8>>,
}

impl TableRows {
    /// `places`: where the columns of `table` are in the rows of the caller. `changing`: columns of `table` that an UPDATE may change.
    pub fn new(
        table: &TableDef<'_>,
        places: &[usize],
        settings: &RowSettings,
        changing: impl Fn(usize) -> bool,
    ) -> TableRows {
        let forms = table.columns.iter().map(|c| Form::of(&c.data_type, c.members.len()));
        let fields: Vec<(Form, usize)> = forms.zip(places.iter().copied()).collect();
        let n = fields.len();
        let in_key = |i: usize| table.primary_key.is_empty() || table.primary_key.iter().any(|(c, _)| *c == i);
        let is_blob =
            |i: usize| table.columns[i].data_type.kind.is_blob() && table.columns[i].data_type.kind != TypeKind::Null;
        let identifies = |i: usize| match settings.image {
            RowImage::Full => true,
            RowImage::NoBlob => !is_blob(i) || in_key(i),
            RowImage::Minimal => in_key(i),
        };
        let is_new = |i: usize| match settings.image {
            RowImage::Full => true,
            RowImage::NoBlob => !is_blob(i) || changing(i),
            RowImage::Minimal => changing(i),
        };
        let mut rows = TableRows {
            fields,
            inserted: Image::new(n, |_| true),
            before: Image::new(n, identifies),
            after: Image::new(n, is_new),
            deleted: Image::new(n, identifies),
            table: Vec::new(),
            id: table.id,
            is_beside: table.is_beside,
            full_metadata: settings.full_metadata,
            image: settings.image,
            partial: false,
            text: None,
        };
        let mut item = vec![0; 8];
        item.extend_from_slice(&table.id.to_le_bytes());
        item.extend_from_slice(&[0; 2]);
        item.extend_from_slice(&(n as u16).to_le_bytes());
        for image in [&rows.inserted, &rows.before, &rows.after, &rows.deleted] {
            item.extend_from_slice(&image.bits);
        }
        item.extend_from_slice(&table_map(table, settings.full_metadata));
        put_item(&mut rows.table, TABLE, |out| out.extend_from_slice(&item));
        rows.begin(settings);
        rows
    }

    /// Can it go on in a statement with these settings?
    pub fn fits(&self, settings: &RowSettings) -> bool {
        self.full_metadata == settings.full_metadata && self.image == settings.image
    }

    /// The next statement begins.
    pub fn begin(&mut self, settings: &RowSettings) {
        self.table[ITEM_HEAD..ITEM_HEAD + 4].copy_from_slice(&settings.timestamp.to_le_bytes());
        self.table[ITEM_HEAD + 4..ITEM_HEAD + 8].copy_from_slice(&settings.event_max.to_le_bytes());
        let flags = settings.flags | if self.is_beside { ROWS_BESIDE } else { 0 };
        self.table[ITEM_HEAD + 16..ITEM_HEAD + 18].copy_from_slice(&flags.to_le_bytes());
        let has_documents = || self.after.fields.iter().any(|field| self.fields[*field].0 == Form::Json);
        self.partial = settings.partial_json && has_documents();
        self.text.clone_from(&settings.text);
    }

    /// A row was inserted; `value_of` gives the values of the caller's columns.
    pub fn insert<'v>(&self, events: &mut Events, value_of: impl Fn(usize) -> Value<'v>) -> engine::Result<()> {
        self.open(events)?;
        events.append(|out| put_item(out, WRITE, |out| self.put_row(out, &self.inserted, value_of)))
    }

    pub fn update<'v>(
        &self,
        events: &mut Events,
        before: impl Fn(usize) -> Value<'v>,
        after: impl Fn(usize) -> Value<'v>,
    ) -> engine::Result<()> {
        self.open(events)?;
        if self.partial {
            return events.append(|out| {
                put_item(out, PARTIAL_UPDATE, |out| {
                    self.put_row(out, &self.before, &before);
                    self.put_partial_row(out, before, after);
                });
            });
        }
        events.append(|out| {
            put_item(out, UPDATE, |out| {
                self.put_row(out, &self.before, before);
                self.put_row(out, &self.after, after);
            });
        })
    }

    /// The image after an update, in which documents are told by what differs where that is shorter.
    fn put_partial_row<'v>(
        &self,
        out: &mut Vec<u8>,
        old_of: impl Fn(usize) -> Value<'v>,
        new_of: impl Fn(usize) -> Value<'v>,
    ) {
        let documents: Vec<usize> = (0..self.fields.len()).filter(|i| self.fields[*i].0 == Form::Json).collect();
        let mut bits = vec![0u8; documents.len().div_ceil(8)];
        let mut values = Vec::new();
        let mut nulls = vec![0u8; self.after.fields.len().div_ceil(8)];
        for (i, field) in self.after.fields.iter().enumerate() {
            let (form, place) = self.fields[*field];
            match (new_of(place), form) {
                (Value::Null, _) => nulls[i / 8] |= 1 << (i % 8),
                (Value::Json(new), Form::Json) => {
                    let old = old_of(place);
                    let is_partial =
                        matches!(&old, Value::Json(old) if crate::partial::put_changes(&mut values, old, &new));
                    if is_partial {
                        let nth = documents.iter().position(|d| d == field).expect("it is one of them");
                        bits[nth / 8] |= 1 << (nth % 8);
                    } else {
                        form.put(&mut values, &Value::Json(new));
                    }
                }
                (value, form) => form.put(&mut values, &value),
            }
        }
        if bits.iter().all(|b| *b == 0) {
            out.push(0);
        } else {
            out.push(crate::partial::PARTIAL_JSON);
            out.extend_from_slice(&bits);
        }
        out.extend_from_slice(&nulls);
        out.extend_from_slice(&values);
    }

    pub fn delete<'v>(&self, events: &mut Events, value_of: impl Fn(usize) -> Value<'v>) -> engine::Result<()> {
        self.open(events)?;
        events.append(|out| put_item(out, DELETE, |out| self.put_row(out, &self.deleted, value_of)))
    }

    /// Rows that follow are of this table.
    #[inline]
    fn open(&self, events: &mut Events) -> engine::Result<()> {
        if events.mark() == self.id { Ok(()) } else { self.open_anew(events) }
    }

    #[cold]
    fn open_anew(&self, events: &mut Events) -> engine::Result<()> {
        if events.mark() == 0
            && let Some(text) = &self.text
        {
            let timestamp = self.table[ITEM_HEAD..ITEM_HEAD + 4].try_into().expect("four bytes");
            put_event(events, Kind::RowsQuery, 0x80, u32::from_le_bytes(timestamp), &[&rows_query(text)])?;
        }
        events.append(|out| out.extend_from_slice(&self.table))?;
        events.set_mark(self.id);
        Ok(())
    }

    fn put_row<'v>(&self, out: &mut Vec<u8>, image: &Image, value_of: impl Fn(usize) -> Value<'v>) {
        let nulls = out.len();
        out.resize(nulls + image.fields.len().div_ceil(8), 0);
        for (i, field) in image.fields.iter().enumerate() {
            let (form, place) = self.fields[*field];
            match value_of(place) {
                Value::Null => out[nulls + i / 8] |= 1 << (i % 8),
                value => form.put(out, &value),
            }
        }
    }
}

/// An event without header and checksum.
pub struct Unplaced<'e> {
    pub kind: Kind,
    pub flags: u16,
    pub timestamp: u32,
    pub body: &'e [&'e [u8]],
}

/// The table whose rows come by: its item, and what stands where in there.
#[derive(Default)]
struct Open {
    item: Vec<u8>,
    timestamp: u32,
    event_max: usize,
    columns: u16,
}

/// Makes events of a transaction's items.
#[derive(Default)]
pub struct Assembler {
    /// An item whose end has not come.
    partial: Vec<u8>,
    /// Keeps its memory; there is none while its item is empty.
    table: Open,
    /// The row event in the making: its body; empty: none.
    rows: Vec<u8>,
    rows_tag: u8,
    /// Of the transaction whose bytes come, and of the last one that has ended.
    writes: Writes,
    written: Writes,
    commit: Option<Commit>,
    /// The items of tables that are not transactional, one a table, in their order. See [`Assembler::goes_again`].
    beside: Vec<Vec<u8>>,
    /// The maps of all of them are given before the first row.
    maps_first: bool,
}

/// Why items are not what a session writes.
pub type Damage = &'static str;

impl Assembler {
    /// Takes the next bytes of the transaction and gives `sink` the events that are complete.
    pub fn feed<E: From<Damage>>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.partial.is_empty() {
            let used = self.take(bytes, sink)?;
            self.partial.extend_from_slice(&bytes[used..]);
        } else {
            self.partial.extend_from_slice(bytes);
            let partial = std::mem::take(&mut self.partial);
            let used = self.take(&partial, sink)?;
            self.partial = partial;
            self.partial.drain(..used);
        }
        Ok(())
    }

    /// All bytes have come: the last event, and what the transaction's end says.
    pub fn finish<E: From<Damage>>(
        &mut self,
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<Commit, E> {
        self.close_open(sink)?;
        std::mem::swap(&mut self.written, &mut self.writes);
        self.writes.clear();
        self.commit.take().ok_or_else(|| "a transaction's events have no end".into())
    }

    /// All bytes have come of a transaction whose end is not written yet.
    pub(crate) fn close_open<E: From<Damage>>(
        &mut self,
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close(sink)?;
        if !self.partial.is_empty() {
            return Err("a transaction's events are cut short".into());
        }
        self.table.item.clear();
        Ok(())
    }

    /// What the transaction that has ended last has written.
    pub(crate) fn written(&self) -> &Writes {
        &self.written
    }

    /// Returns how many bytes were whole items.
    fn take<E: From<Damage>>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut at = 0;
        while let Some(head) = bytes.get(at..at + ITEM_HEAD) {
            let len = u32::from_le_bytes(head[1..].try_into().expect("four bytes")) as usize;
            let Some(item) = bytes.get(at + ITEM_HEAD..at + ITEM_HEAD + len) else { break };
            self.item(head[0], item, sink)?;
            at += ITEM_HEAD + len;
        }
        Ok(at)
    }

    fn item<E: From<Damage>>(
        &mut self,
        tag: u8,
        item: &[u8],
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.commit.is_some() {
            return Err("a transaction's events go on behind its end".into());
        }
        match tag {
            WRITE | UPDATE | DELETE | PARTIAL_UPDATE => self.row(tag, item, sink),
            // A replica opens the table with each event of a source's statement.
            TABLE if self.is_more(item) => Ok(()),
            TABLE => self.table(item, sink),
            EVENT => {
                self.close(sink)?;
                let (head, body) = item.split_at_checked(7).ok_or("an item with an event is cut short")?;
                let kind = Kind::from_code(head[0]).ok_or("an item with an event of unknown type")?;
                let timestamp = u32::from_le_bytes(head[3..7].try_into().expect("four bytes"));
                let flags = u16::from_le_bytes([head[1], head[2]]);
                sink(Unplaced { kind, flags, timestamp, body: &[body] })
            }
            KEYS => self.writes.read(item).ok_or_else(|| "an item with keys is damaged".into()),
            COMMIT => {
                self.close(sink)?;
                self.commit = Some(Commit::decode(item).ok_or("a transaction's end is damaged")?);
                Ok(())
            }
            _ => Err("an item of unknown kind".into()),
        }
    }

    fn table<E: From<Damage>>(
        &mut self,
        item: &[u8],
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let damage = "an item that names a table is damaged";
        // Of the table before.
        let goes_on = !self.rows.is_empty() && self.table.flags() & ROWS_BESIDE != 0;
        let is_beside = item.get(17).is_some_and(|high| u16::from(*high) << 8 & ROWS_BESIDE != 0);
        if goes_on && is_beside {
            self.put_rows(sink)?;
        } else {
            self.close(sink)?;
        }
        self.table.read(item).ok_or(damage)?;
        if !is_beside {
            return sink(self.table.map(&[self.table.map_body()]));
        }
        if !self.beside.iter().any(|seen| seen[8..] == item[8..]) {
            self.beside.push(item.to_vec());
            return sink(self.table.map(&[self.table.map_body()]));
        }
        if std::mem::take(&mut self.maps_first) {
            for item in &self.beside {
                let mut table = Open::default();
                table.read(item).ok_or(damage)?;
                sink(table.map(&[table.map_body()]))?;
            }
        }
        Ok(())
    }

    /// A transaction comes whose items have not come before.
    pub(crate) fn begin(&mut self) {
        self.beside.clear();
        self.maps_first = false;
    }

    /// The items of the transaction that has ended are to come again, before its events are what they should be. A replica commits where
    /// a statement ends, in tables that are not transactional, and opens them all at the first row: their maps stand before that. Which
    /// they are is known when the transaction has come once; how many bytes its events have is known then, too.
    pub(crate) fn goes_again(&mut self) -> bool {
        self.maps_first = !self.beside.is_empty();
        self.beside.len() > 1
    }

    fn row<E: From<Damage>>(
        &mut self,
        tag: u8,
        row: &[u8],
        sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.table.item.is_empty() {
            return Err("a row of no table".into());
        }
        if !self.rows.is_empty() && (self.rows_tag != tag || self.rows.len() + row.len() > self.table.event_max) {
            self.cut(sink)?;
        }
        if self.rows.is_empty() {
            let table = &self.table;
            self.rows_tag = tag;
            // Its number and flags.
            self.rows.extend_from_slice(&table.item[8..14]);
            self.rows.extend_from_slice(&(table.flags() & !ROWS_BESIDE).to_le_bytes());
            // The length of what could follow: its own two bytes.
            self.rows.extend_from_slice(&2u16.to_le_bytes());
            crate::event::put_lenenc(&mut self.rows, table.columns.into());
            let images: &[usize] = match tag {
                WRITE => &[0],
                UPDATE | PARTIAL_UPDATE => &[1, 2],
                _ => &[3],
            };
            images.iter().for_each(|i| self.rows.extend_from_slice(table.bits(*i)));
        }
        self.rows.extend_from_slice(row);
        Ok(())
    }

    /// The row event in the making is complete, and rows of the same table follow. Each event says that its statement ends, and has a
    /// table map of its own: a MariaDB replica that loses its source between two row events of one statement does not go on where it was.
    /// In a table that is not transactional a replica commits where a statement ends: there only the last one says so.
    fn cut<E: From<Damage>>(&mut self, sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.table.flags() & ROWS_BESIDE != 0 {
            return self.put_rows(sink);
        }
        self.close(sink)?;
        sink(self.table.map(&[self.table.map_body()]))
    }

    /// Does an item that names a table name the one whose rows a transaction is alone?
    fn is_more(&self, item: &[u8]) -> bool {
        !self.rows.is_empty() && self.table.flags() & ROWS_BESIDE != 0 && item.get(8..) == self.table.item.get(8..)
    }

    /// The row event in the making is the last one of its table for now.
    fn close<E: From<Damage>>(&mut self, sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.rows[6] |= ROWS_STATEMENT_END as u8;
        self.put_rows(sink)
    }

    fn put_rows<E: From<Damage>>(&mut self, sink: &mut impl FnMut(Unplaced<'_>) -> Result<(), E>) -> Result<(), E> {
        let kind = match self.rows_tag {
            WRITE => Kind::WriteRows,
            UPDATE => Kind::UpdateRows,
            PARTIAL_UPDATE => Kind::PartialUpdateRows,
            _ => Kind::DeleteRows,
        };
        sink(Unplaced { kind, flags: 0, timestamp: self.table.timestamp, body: &[&self.rows] })?;
        self.rows.clear();
        Ok(())
    }
}

impl Open {
    fn read(&mut self, item: &[u8]) -> Option<()> {
        self.item.clear();
        let half = |at: usize| Some(u32::from_le_bytes(item.get(at..at + 4)?.try_into().ok()?));
        (self.timestamp, self.event_max) = (half(0)?, half(4)? as usize);
        self.columns = u16::from_le_bytes(item.get(18..20)?.try_into().ok()?);
        item.get(self.map_at()..)?;
        self.item.extend_from_slice(item);
        Some(())
    }

    /// Bytes of the columns that an image has.
    fn bits_bytes(&self) -> usize {
        usize::from(self.columns).div_ceil(8)
    }

    fn flags(&self) -> u16 {
        u16::from_le_bytes([self.item[16], self.item[17]])
    }

    fn map_at(&self) -> usize {
        20 + 4 * self.bits_bytes()
    }

    /// Columns that are there when a row is: 0 inserted; 1 before, 2 after an update; 3 deleted.
    fn bits(&self, image: usize) -> &[u8] {
        &self.item[20 + image * self.bits_bytes()..][..self.bits_bytes()]
    }

    fn map_body(&self) -> &[u8] {
        &self.item[self.map_at()..]
    }

    fn map<'e>(&self, body: &'e [&'e [u8]]) -> Unplaced<'e> {
        Unplaced { kind: Kind::TableMap, flags: 0, timestamp: self.timestamp, body }
    }
}
