//! Entries as MySQL writes them, in files and in tables.

use expr::time_zone::TimeZone;
use inspect::Row;
use std::io::Write as _;
use types::codes::*;
use types::{DataType, DateTime, Result, Time, TypeKind, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Log {
    #[default]
    General,
    Slow,
    Audit,
}

impl Log {
    /// Those that have a table.
    pub const ALL: [Log; 2] = [Log::General, Log::Slow];

    /// Its table in schema `mysql`.
    pub fn table(self) -> &'static str {
        match self {
            Log::General => "general_log",
            Log::Slow => "slow_log",
            Log::Audit => "",
        }
    }

    pub(super) fn bit(self) -> u8 {
        match self {
            Log::General => 1,
            Log::Slow => 2,
            Log::Audit => 4,
        }
    }
}

/// One entry, as far as it can be written without what was written before.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub log: Log,
    /// Microseconds since 1970.
    pub at_us: u64,
    pub number: u64,
    /// For the file, up to where the slow log says USE; empty: it goes to no file.
    pub head: Vec<u8>,
    /// The schema of the slow statement.
    pub schema: String,
    /// What follows.
    pub tail: Vec<u8>,
    /// The line of the table; empty: it goes to no table.
    pub line: Vec<u8>,
}

impl Entry {
    pub fn bytes(&self) -> usize {
        size_of::<Entry>() + self.head.len() + self.schema.len() + self.tail.len() + self.line.len()
    }
}

/// `2026-11-27T07:29:17.489316Z`, or with the offset of the machine's time zone under `log_timestamps=SYSTEM`.
pub fn stamp(us: u64, is_system: bool) -> String {
    let seconds = (us / 1_000_000) as i64;
    let offset = if is_system { TimeZone::system().offset_at(seconds) } else { 0 };
    let local = DateTime::from_unix(seconds + i64::from(offset), (us % 1_000_000) as u32);
    let mut text = Vec::new();
    if let Some(local) = local {
        let of_micros = DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) };
        Value::DateTime(local).write_text(&of_micros, &mut text);
    }
    let text = String::from_utf8_lossy(&text).replace(' ', "T");
    match is_system {
        false => format!("{text}Z"),
        true => {
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
            format!("{text}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    }
}

/// One command in the general log.
pub(super) struct Command<'c> {
    pub at_us: u64,
    pub is_system: bool,
    pub connection: u32,
    pub server_id: u64,
    /// `root[root] @ localhost [127.0.0.1]`
    pub user_host: &'c str,
    pub name: &'c str,
    pub argument: &'c [u8],
}

impl Command<'_> {
    pub fn entry(&self, file: bool, table: bool) -> Entry {
        let mut entry = Entry { at_us: self.at_us, ..Entry::default() };
        if file {
            entry.head =
                format!("{}\t{:>5} {}\t", stamp(self.at_us, self.is_system), self.connection, self.name).into();
            entry.head.extend_from_slice(self.argument);
            entry.head.push(b'\n');
        }
        if table {
            let (connection, server) = (self.connection.to_string(), self.server_id.to_string());
            entry.line = line(&[
                self.at_us.to_string().as_bytes(),
                self.user_host.as_bytes(),
                connection.as_bytes(),
                server.as_bytes(),
                self.name.as_bytes(),
                self.argument,
            ]);
        }
        entry
    }
}

/// What the slow log says besides with `log_slow_extra`, in its order.
pub(super) type Extra = [(&'static str, u64); 18];

/// One statement in the slow log.
pub(super) struct Slow<'s> {
    pub ended_us: u64,
    pub is_system: bool,
    pub connection: u32,
    pub server_id: u64,
    pub user_host: &'s str,
    pub took_us: u64,
    pub lock_us: u64,
    pub sent: u64,
    pub examined: u64,
    pub schema: &'s str,
    pub last_insert_id: u64,
    pub insert_id: u64,
    /// `NOW()` of the statement, in microseconds.
    pub now_us: i64,
    pub extra: Option<Extra>,
    pub text: &'s [u8],
}

impl Slow<'_> {
    pub fn entry(&self, file: bool, table: bool) -> Entry {
        let mut entry =
            Entry { log: Log::Slow, at_us: self.ended_us, schema: self.schema.to_string(), ..Entry::default() };
        if file {
            self.write_file(&mut entry);
        }
        if table {
            let number = |n: u64| n.to_string().into_bytes();
            // The table's columns are INT.
            let bounded = |n: u64| number(n.min(i32::MAX as u64));
            let fields = [
                number(self.ended_us),
                self.user_host.as_bytes().to_vec(),
                number(self.took_us),
                number(self.lock_us),
                bounded(self.sent),
                bounded(self.examined),
                self.schema.as_bytes().to_vec(),
                bounded(self.last_insert_id),
                bounded(self.insert_id),
                number(self.server_id),
                self.text.to_vec(),
                number(self.connection.into()),
            ];
            entry.line = line(&fields.each_ref().map(Vec::as_slice));
        }
        entry
    }

    fn write_file(&self, entry: &mut Entry) {
        let seconds = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
        let head = &mut entry.head;
        let (took, waited) = (seconds(self.took_us), seconds(self.lock_us));
        // Writing to memory does not fail.
        let _ = write!(
            head,
            "# Time: {}\n# User@Host: {}  Id: {:>5}\n\
             # Query_time: {took}  Lock_time: {waited} Rows_sent: {}  Rows_examined: {}",
            stamp(self.ended_us, self.is_system),
            self.user_host,
            self.connection,
            self.sent,
            self.examined,
        );
        if let Some(extra) = &self.extra {
            for (name, value) in extra {
                let _ = write!(head, " {name}: {value}");
            }
            // By the clock of the statement, which SET timestamp sets.
            let began = self.now_us.max(0) as u64;
            let (from, to) = (stamp(began, self.is_system), stamp(began + self.took_us, self.is_system));
            let _ = write!(head, " Start: {from} End: {to}");
        }
        head.push(b'\n');
        let tail = &mut entry.tail;
        tail.extend_from_slice(b"SET ");
        if self.insert_id != 0 {
            let _ = write!(tail, "insert_id={},", self.insert_id);
        }
        let _ = writeln!(tail, "timestamp={};", self.now_us.div_euclid(1_000_000));
        tail.extend_from_slice(self.text);
        tail.extend_from_slice(b";\n");
    }
}

/// Fields in quotes, a line of the table's file.
fn line(fields: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, field) in fields.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.push(b'"');
        for b in *field {
            match b {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                b => out.push(*b),
            }
        }
        out.push(b'"');
    }
    out.push(b'\n');
    out
}

/// The fields of a line; `None`: it was not written to its end.
fn fields(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut all, mut rest) = (Vec::new(), line);
    loop {
        rest = rest.strip_prefix(b"\"")?;
        let mut field = Vec::new();
        loop {
            let (b, behind) = rest.split_first()?;
            rest = behind;
            match b {
                b'"' => break,
                b'\\' => {
                    let (b, behind) = rest.split_first()?;
                    rest = behind;
                    field.push(match b {
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b => *b,
                    });
                }
                b => field.push(*b),
            }
        }
        all.push(field);
        match rest {
            [] => return Some(all),
            [b',', behind @ ..] => rest = behind,
            _ => return None,
        }
    }
}

/// The rows of a log's table. A line that was cut off, by a full disk or a crash, is none.
pub(crate) fn rows_of(log: Log, text: &[u8]) -> Result<Vec<Row>> {
    let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    Ok(lines.filter_map(fields).filter_map(|fields| row(log, fields)).collect())
}

fn row(log: Log, fields: Vec<Vec<u8>>) -> Option<Row> {
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    let at = |us: u64| DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32).map(Value::DateTime);
    let text = |field: Vec<u8>| Value::Bytes(field.into());
    let int = |field: &[u8]| Some(Value::Int(number(field)?.cast_signed()));
    match log {
        Log::Audit => None,
        Log::General => {
            let [time, user, thread, server, command, argument] = fields.try_into().ok()?;
            Some(vec![
                at(number(&time)?)?,
                text(user),
                Value::UInt(number(&thread)?),
                Value::UInt(number(&server)?),
                text(command),
                text(argument),
            ])
        }
        Log::Slow => {
            let [time, user, took, waited, sent, examined, schema, last_id, id, server, sql, thread] =
                fields.try_into().ok()?;
            let span = |field: &[u8]| Some(Value::Time(Time(number(field)?.cast_signed().min(MOST_US))));
            Some(vec![
                at(number(&time)?)?,
                text(user),
                span(&took)?,
                span(&waited)?,
                int(&sent)?,
                int(&examined)?,
                text(schema),
                int(&last_id)?,
                int(&id)?,
                Value::UInt(number(&server)?),
                text(sql),
                Value::UInt(number(&thread)?),
            ])
        }
    }
}

/// The longest TIME, 838:59:59.
const MOST_US: i64 = (838 * 3600 + 59 * 60 + 59) * 1_000_000;

/// Error 13 of a log's file.
pub(super) fn failed(path: &std::path::Path, e: &std::io::Error) -> types::SqlError {
    types::SqlError::new(EE_STAT, format!("Can't get stat of '{}' (OS errno {e})", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were() {
        let hostile: [&[u8]; 4] = [b"", b"a\"b\\", b"x\r\ny,\"", b"\xff\0\n"];
        let written = line(&hostile);
        assert_eq!(written.iter().filter(|b| **b == b'\n').count(), 1);
        let read = fields(written.strip_suffix(b"\n").expect("a line ends")).expect("it is whole");
        assert_eq!(read, hostile.map(<[u8]>::to_vec));
        for cut in 0..written.len() - 1 {
            let _ = fields(&written[..cut]);
        }
        assert_eq!(fields(b"\"a"), None);
    }

    #[test]
    fn a_slow_statement_reads_as_mysql_writes_it() {
        let slow = Slow {
            ended_us: 1_795_764_557_489_316,
            is_system: false,
            connection: 32,
            server_id: 1,
            user_host: "root[root] @ localhost [127.0.0.1]",
            took_us: 1257,
            lock_us: 2,
            sent: 0,
            examined: 0,
            schema: "",
            last_insert_id: 0,
            insert_id: 0,
            now_us: 1_795_764_557_488_059,
            extra: None,
            text: b"set global slow_query_log=1",
        };
        let entry = slow.entry(true, false);
        let text = String::from_utf8([entry.head, entry.tail].concat()).expect("it is text");
        assert_eq!(
            text,
            "# Time: 2026-11-27T07:29:17.489316Z\n# User@Host: root[root] @ localhost [127.0.0.1]  Id:    32\n\
             # Query_time: 0.001257  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 0\n\
             SET timestamp=1795764557;\nset global slow_query_log=1;\n"
        );
    }
}
