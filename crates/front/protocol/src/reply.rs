//! Answers: OK, ERR, EOF and result sets.
//!
//! ```text
//!  OK      00 | lenenc affected | lenenc insert id | status 2 | warnings 2 | info | state changes
//!  ERR     ff | code 2 | '#' sqlstate 5 | message
//!  EOF     fe | warnings 2 | status 2                       (DEPRECATE_EOF: an OK packet that begins with fe)
//!  rows    lenenc columns, [definitions follow 1] | definition each | EOF unless DEPRECATE_EOF | rows | EOF or OK
//! ```

use crate::wire::{put_lenenc, put_lenenc_bytes};
use crate::{Capabilities, Column, Output, ServerStatus, binary, text};
use std::io;
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, SqlError, Value, err};

/// Longest message of an ERR packet, in bytes.
const MAX_MESSAGE_BYTES: usize = 512;

/// How rows are encoded: text for COM_QUERY, binary for prepared statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    Text,
    Binary,
}

/// One change of session state, told to clients that asked by SESSION_TRACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange<'a> {
    SystemVariable {
        name: &'a str,
        value: &'a str,
    },
    Schema(&'a str),
    /// `session_track_state_change`: something changed.
    StateChanged,
    Gtids(&'a str),
    /// Statements that set the characteristics of the transaction in progress.
    TransactionCharacteristics(&'a str),
    /// The eight-character state word.
    TransactionState(&'a str),
}

impl StateChange<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        let mut data = Vec::with_capacity(32);
        let kind = match self {
            StateChange::SystemVariable { name, value } => {
                put_lenenc_bytes(&mut data, name.as_bytes());
                put_lenenc_bytes(&mut data, value.as_bytes());
                0
            }
            StateChange::Schema(name) => {
                put_lenenc_bytes(&mut data, name.as_bytes());
                1
            }
            StateChange::StateChanged => {
                // The bare text, without a length of its own.
                data.push(b'1');
                2
            }
            StateChange::Gtids(set) => {
                data.push(0); // encoding: text
                put_lenenc_bytes(&mut data, set.as_bytes());
                3
            }
            StateChange::TransactionCharacteristics(statements) => {
                put_lenenc_bytes(&mut data, statements.as_bytes());
                4
            }
            StateChange::TransactionState(state) => {
                put_lenenc_bytes(&mut data, state.as_bytes());
                5
            }
        };
        out.push(kind);
        put_lenenc_bytes(out, &data);
    }
}

/// What an OK packet says.
#[derive(Clone, Copy, Debug, Default)]
pub struct OkReply<'a> {
    pub affected_rows: u64,
    pub insert_id: u64,
    pub status: ServerStatus,
    pub warnings: u16,
    /// Text such as `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: &'a str,
    /// Sent only to clients that asked (see [`Output::tracks_session`]).
    pub changes: &'a [StateChange<'a>],
}

impl Output {
    /// The client wants [`StateChange`]s.
    #[inline]
    pub fn tracks_session(&self) -> bool {
        self.capabilities().has(Capabilities::SESSION_TRACK)
    }

    #[inline]
    fn deprecates_eof(&self) -> bool {
        self.capabilities().has(Capabilities::DEPRECATE_EOF)
    }

    /// An OK packet.
    pub fn ok(&mut self, reply: &OkReply<'_>) -> io::Result<()> {
        self.ok_packet(0x00, reply)
    }

    fn ok_packet(&mut self, first: u8, reply: &OkReply<'_>) -> io::Result<()> {
        let capabilities = self.capabilities();
        let tracks = capabilities.has(Capabilities::SESSION_TRACK);
        let changed = tracks && !reply.changes.is_empty();
        let status = reply.status.with(ServerStatus::SESSION_STATE_CHANGED, changed);
        let out = self.begin();
        out.push(first);
        put_lenenc(out, reply.affected_rows);
        put_lenenc(out, reply.insert_id);
        out.extend_from_slice(&status.0.to_le_bytes());
        out.extend_from_slice(&reply.warnings.to_le_bytes());
        if changed {
            put_lenenc_bytes(out, reply.info.as_bytes());
            let mut changes = Vec::with_capacity(64);
            for change in reply.changes {
                change.put(&mut changes);
            }
            put_lenenc_bytes(out, &changes);
        } else if !reply.info.is_empty() {
            // With its length whatever the client can: MySQL does not keep to its own description of the packet, and its
            // clients read it so.
            put_lenenc_bytes(out, reply.info.as_bytes());
        }
        self.end()
    }

    /// An ERR packet. Drops a packet that was begun and not ended: call it only between packets or after `cancel`.
    pub fn error(&mut self, error: &SqlError) -> io::Result<()> {
        let with_state = self.capabilities().has(Capabilities::PROTOCOL_41);
        let set = self.results.map_or(Charset::Utf8mb4, |r| CollationId(r.collation).charset());
        let message = set.from_utf8(error.message.as_bytes());
        let length = set.whole_characters(&message, MAX_MESSAGE_BYTES);
        let out = self.begin();
        out.push(0xff);
        out.extend_from_slice(&error.code.to_le_bytes());
        if with_state {
            out.push(b'#');
            out.extend_from_slice(&error.sqlstate);
        }
        out.extend_from_slice(&message[..length]);
        self.end()
    }

    /// An EOF packet, or with DEPRECATE_EOF the OK packet that stands in for it.
    #[inline]
    pub fn eof(&mut self, status: ServerStatus, warnings: u16) -> io::Result<()> {
        if self.deprecates_eof() {
            self.ok_packet(0xfe, &OkReply { status, warnings, ..OkReply::default() })
        } else {
            self.classic_eof(status, warnings)
        }
    }

    /// The five-byte EOF packet whatever the capabilities: COM_SET_OPTION and COM_DEBUG answer so without DEPRECATE_EOF,
    /// column lists end so.
    fn classic_eof(&mut self, status: ServerStatus, warnings: u16) -> io::Result<()> {
        let out = self.begin();
        out.push(0xfe);
        out.extend_from_slice(&warnings.to_le_bytes());
        out.extend_from_slice(&status.0.to_le_bytes());
        self.end()
    }

    /// The head of a result set: count, definitions and their end. Rows follow, then [`Output::end_rows`].
    ///
    /// With a cursor (`status` has CURSOR_EXISTS) nothing follows: the closing EOF carries the status in both modes.
    pub fn start_rows(&mut self, columns: &[Column<'_>], status: ServerStatus, warnings: u16) -> io::Result<()> {
        let shape = self.shape;
        let out = self.begin();
        put_lenenc(out, columns.len() as u64);
        shape.put_flag(out);
        self.end()?;
        if !shape.is_bare() {
            self.definitions(columns)?;
        }
        if status.has(ServerStatus::CURSOR_EXISTS) {
            self.eof(status, warnings)
        } else if self.deprecates_eof() {
            Ok(())
        } else {
            self.classic_eof(status, warnings)
        }
    }

    /// Column definitions without a count and an end.
    pub fn definitions(&mut self, columns: &[Column<'_>]) -> io::Result<()> {
        let results = self.results;
        for column in columns {
            column.put(self.begin(), results);
            self.end()?;
        }
        Ok(())
    }

    /// One row. `types` are the column types in the order of `values`.
    #[inline]
    pub fn row(&mut self, format: RowFormat, types: &[DataType], values: &[Value<'_>]) -> io::Result<()> {
        let out = self.begin();
        match format {
            RowFormat::Text => text::put_row(out, types, values),
            RowFormat::Binary => binary::put_row(out, types, values),
        }
        self.end()
    }

    /// The end of a result set's rows, of COM_FIELD_LIST and of COM_STMT_FETCH (status LAST_ROW_SENT at the last).
    #[inline]
    pub fn end_rows(&mut self, status: ServerStatus, warnings: u16) -> io::Result<()> {
        self.eof(status, warnings)
    }

    /// The end of a result set's rows with the session state that the statement changed.
    pub fn end_rows_with(&mut self, reply: &OkReply<'_>) -> io::Result<()> {
        if self.deprecates_eof() { self.ok_packet(0xfe, reply) } else { self.classic_eof(reply.status, reply.warnings) }
    }

    /// One definition of COM_FIELD_LIST, with the column's default as text (`None`: NULL).
    pub fn field_list_column(&mut self, column: &Column<'_>, default: Option<&[u8]>) -> io::Result<()> {
        let results = self.results;
        let out = self.begin();
        column.put(out, results);
        match default {
            Some(text) => put_lenenc_bytes(out, text),
            None => out.push(0xfb),
        }
        self.end()
    }

    /// The whole answer to COM_STMT_PREPARE.
    pub fn prepared(
        &mut self,
        statement_id: u32,
        parameters: &[Column<'_>],
        columns: &[Column<'_>],
        status: ServerStatus,
        warnings: u16,
    ) -> io::Result<()> {
        let (Ok(parameter_count), Ok(column_count)) = (u16::try_from(parameters.len()), u16::try_from(columns.len()))
        else {
            return self.error(&err!(ER_PS_MANY_PARAM));
        };
        let shape = self.shape;
        let out = self.begin();
        out.push(0);
        out.extend_from_slice(&statement_id.to_le_bytes());
        out.extend_from_slice(&column_count.to_le_bytes());
        out.extend_from_slice(&parameter_count.to_le_bytes());
        out.push(0);
        out.extend_from_slice(&warnings.to_le_bytes());
        shape.put_flag(out);
        self.end()?;
        for part in [parameters, columns] {
            if !part.is_empty() && !shape.is_bare() {
                self.definitions(part)?;
                if !self.deprecates_eof() {
                    self.classic_eof(status, warnings)?;
                }
            }
        }
        Ok(())
    }

    /// The answer to COM_STATISTICS: bare text.
    pub fn statistics(&mut self, text: &str) -> io::Result<()> {
        self.begin().extend_from_slice(text.as_bytes());
        self.end()
    }

    /// Asks the client for the contents of a file (LOAD DATA LOCAL INFILE). It answers in packets, the last one empty.
    pub fn local_infile_request(&mut self, file: &[u8]) -> io::Result<()> {
        let out = self.begin();
        out.push(0xfb);
        out.extend_from_slice(file);
        self.end()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{Connection, Peer, Stream};
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use types::{CollationId, TypeKind};

    /// What `write` sends under `capabilities`.
    fn sent(capabilities: Capabilities, write: impl FnOnce(&mut Output) -> io::Result<()>) -> Vec<u8> {
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
        conn.set_capabilities(capabilities);
        write(conn.output()).unwrap();
        conn.output().flush().unwrap();
        drop(conn);
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).unwrap();
        bytes
    }

    const OLD: Capabilities = Capabilities::PROTOCOL_41;
    const AUTOCOMMIT: ServerStatus = ServerStatus::AUTOCOMMIT;

    #[test]
    fn ok_err_and_eof_have_the_documented_bytes() {
        let ok = OkReply { affected_rows: 1, insert_id: 300, status: AUTOCOMMIT, info: "hi", ..OkReply::default() };
        assert_eq!(sent(OLD, |o| o.ok(&ok)), b"\x0c\0\0\0\0\x01\xfc\x2c\x01\x02\0\0\0\x02hi");
        let tracks = OLD | Capabilities::SESSION_TRACK;
        assert_eq!(sent(tracks, |o| o.ok(&ok)), b"\x0c\0\0\0\0\x01\xfc\x2c\x01\x02\0\0\0\x02hi");
        // The documentation's example: USE test with session tracking.
        let changes = [StateChange::Schema("test")];
        let use_test = OkReply { status: AUTOCOMMIT, changes: &changes, ..OkReply::default() };
        let expected = b"\x10\0\0\0\0\0\0\x02\x40\0\0\0\x07\x01\x05\x04test";
        assert_eq!(sent(tracks, |o| o.ok(&use_test)), expected);
        assert_eq!(sent(OLD, |o| o.ok(&use_test)), b"\x07\0\0\0\0\0\0\x02\0\0\0", "not asked for");
        let variable = [StateChange::SystemVariable { name: "autocommit", value: "OFF" }];
        let off = OkReply { changes: &variable, ..OkReply::default() };
        let bytes = sent(tracks, |o| o.ok(&off));
        assert!(bytes.ends_with(b"\0\x11\0\x0f\x0aautocommit\x03OFF"), "{bytes:?}");

        let error = SqlError { code: ER_NO_TABLES_USED, sqlstate: *b"HY000", message: "No tables used".into() };
        assert_eq!(sent(OLD, |o| o.error(&error)), b"\x17\0\0\0\xff\x48\x04#HY000No tables used");
        assert_eq!(sent(Capabilities::NONE, |o| o.error(&error)), b"\x11\0\0\0\xff\x48\x04No tables used");
        assert_eq!(sent(OLD, |o| o.eof(AUTOCOMMIT, 1)), b"\x05\0\0\0\xfe\x01\0\x02\0");
        let new = OLD | Capabilities::DEPRECATE_EOF;
        assert_eq!(sent(new, |o| o.eof(AUTOCOMMIT, 1)), b"\x07\0\0\0\xfe\0\0\x02\0\x01\0");
    }

    #[test]
    fn a_result_set_has_the_documented_bytes_in_both_eof_modes() {
        let types = [DataType::string(TypeKind::VarChar, 8, CollationId::UTF8MB4_0900_AI_CI).not_null()];
        let columns = [Column::expression("@@version", types[0])];
        let write = |o: &mut Output| {
            o.start_rows(&columns, AUTOCOMMIT, 0)?;
            o.row(RowFormat::Text, &types, &[Value::Bytes(b"8.4"[..].into())])?;
            o.end_rows(AUTOCOMMIT, 0)
        };
        let head =
            b"\x01\0\0\0\x01\x1f\0\0\x01\x03def\0\0\0\x09@@version\0\x0c\xff\0\x20\0\0\0\xfd\x01\0\x1f\0\0".to_vec();
        let old = [&head[..], b"\x05\0\0\x02\xfe\0\0\x02\0\x04\0\0\x03\x038.4\x05\0\0\x04\xfe\0\0\x02\0"].concat();
        assert_eq!(sent(OLD, write), old);
        let new = [&head[..], b"\x04\0\0\x02\x038.4\x07\0\0\x03\xfe\0\0\x02\0\0\0"].concat();
        assert_eq!(sent(OLD | Capabilities::DEPRECATE_EOF, write), new);
    }

    #[test]
    fn a_prepared_statement_is_described_as_documented() {
        // The documentation's first bytes for "SELECT CONCAT(?, ?) AS col1".
        let parameter = Column::expression("?", DataType::string(TypeKind::VarChar, 0, CollationId::BINARY));
        let column = Column::expression("col1", DataType::string(TypeKind::VarChar, 0, CollationId::BINARY));
        let bytes = sent(OLD, |o| o.prepared(1, &[parameter, parameter], &[column], AUTOCOMMIT, 0));
        assert!(
            bytes.starts_with(b"\x0c\0\0\0\0\x01\0\0\0\x01\0\x02\0\0\0\0\x17\0\0\x01\x03def\0\0\0\x01?\0\x0c\x3f\0")
        );
        assert_eq!(bytes.windows(5).filter(|w| *w == b"\xfe\0\0\x02\0").count(), 2, "an EOF behind each list");
    }
}
