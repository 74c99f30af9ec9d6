//! Commands in: the first byte of a packet and what follows it, typed. Everything borrows from the packet.

use crate::execute::{ExecuteBody, PARAMETER_COUNT_AVAILABLE, Parameter, read_attributes};
use crate::wire::{Malformed, Reader};
use crate::{Capabilities, handshake};
use types::codes::*;
use types::{SqlError, err};

/// COM_CHANGE_USER's fields.
#[derive(Clone, Debug)]
pub struct ChangeUser<'a> {
    pub user: &'a [u8],
    pub auth_reply: &'a [u8],
    pub database: &'a [u8],
    /// Collation id; `None` in very old clients.
    pub collation: Option<u16>,
    pub plugin: &'a [u8],
    pub attributes: handshake::Attributes<'a>,
}

/// What a replica asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinlogDump<'a> {
    pub server_id: u32,
    /// BINLOG_DUMP_NON_BLOCK is bit 0.
    pub flags: u16,
    pub file: &'a [u8],
    pub position: u64,
    /// Encoded GTID set of COM_BINLOG_DUMP_GTID.
    pub gtids: Option<&'a [u8]>,
}

/// COM_REGISTER_SLAVE's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterReplica<'a> {
    pub server_id: u32,
    pub host: &'a [u8],
    pub user: &'a [u8],
    pub password: &'a [u8],
    pub port: u16,
    pub source_id: u32,
}

/// One command of a client.
#[derive(Clone, Debug)]
pub enum Command<'a> {
    Quit,
    InitDb(&'a [u8]),
    Query {
        text: &'a [u8],
        attributes: Vec<Parameter<'a>>,
    },
    FieldList {
        table: &'a [u8],
        wildcard: &'a [u8],
    },
    Statistics,
    ProcessKill {
        id: u32,
    },
    Debug,
    Ping,
    ChangeUser(ChangeUser<'a>),
    ResetConnection,
    /// 0: multi-statements on, 1: off. Anything else is error 1047.
    SetOption(u16),
    StmtPrepare {
        text: &'a [u8],
    },
    StmtExecute {
        statement_id: u32,
        cursor: CursorFlags,
        body: ExecuteBody<'a>,
    },
    StmtSendLongData {
        statement_id: u32,
        parameter: u16,
        data: &'a [u8],
    },
    StmtClose {
        statement_id: u32,
    },
    StmtReset {
        statement_id: u32,
    },
    StmtFetch {
        statement_id: u32,
        rows: u32,
    },
    BinlogDump(BinlogDump<'a>),
    RegisterReplica(RegisterReplica<'a>),
    /// A copy of the server; what is asked for is text.
    Clone(&'a [u8]),
    /// The number of a command that this server does not know: error 1047, the connection goes on.
    Unknown(u8),
}

/// Cursor wanted by COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorFlags(pub u8);

impl CursorFlags {
    pub const READ_ONLY: u8 = 1;
    pub const FOR_UPDATE: u8 = 2;
    pub const SCROLLABLE: u8 = 4;

    /// No cursor: rows come with the answer. As in MySQL, cursors to write through or to move back in are none.
    pub fn is_none(self) -> bool {
        self.0 & Self::READ_ONLY == 0
    }
}

impl<'a> Command<'a> {
    /// Types a packet. `Malformed` is error 1835 (ER_MALFORMED_PACKET), see [`malformed_packet`]; the connection goes on.
    #[inline]
    pub fn parse(packet: &'a [u8], capabilities: Capabilities) -> Result<Command<'a>, Malformed> {
        let mut reader = Reader::new(packet);
        let command = match reader.u8()? {
            0x01 => Command::Quit,
            0x02 => Command::InitDb(reader.rest()),
            0x03 => {
                let attributes = if capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
                    read_attributes(&mut reader)?
                } else {
                    Vec::new()
                };
                Command::Query { text: reader.rest(), attributes }
            }
            0x16 => Command::StmtPrepare { text: reader.rest() },
            0x17 => {
                let statement_id = reader.u32()?;
                let flags = reader.u8()?;
                let _iterations = reader.u32()?; // always 1
                let has_names = capabilities.has(Capabilities::QUERY_ATTRIBUTES);
                let has_count = has_names && flags & PARAMETER_COUNT_AVAILABLE != 0;
                let body = ExecuteBody { bytes: reader.rest(), has_count, has_names };
                Command::StmtExecute { statement_id, cursor: CursorFlags(flags & 7), body }
            }
            other => return Command::parse_rare(other, reader, capabilities),
        };
        Ok(command)
    }

    fn parse_rare(code: u8, mut reader: Reader<'a>, capabilities: Capabilities) -> Result<Command<'a>, Malformed> {
        Ok(match code {
            0x04 => {
                let table = reader.null_terminated()?;
                Command::FieldList { table, wildcard: reader.rest() }
            }
            0x09 => Command::Statistics,
            0x0c => Command::ProcessKill { id: reader.u32()? },
            0x0d => Command::Debug,
            0x0e => Command::Ping,
            0x11 => Command::ChangeUser(parse_change_user(reader, capabilities)?),
            0x12 => {
                let position = u64::from(reader.u32()?);
                let flags = reader.u16()?;
                let server_id = reader.u32()?;
                let file = reader.rest();
                Command::BinlogDump(BinlogDump { server_id, flags, file, position, gtids: None })
            }
            0x15 => parse_register(reader)?,
            0x18 => {
                let statement_id = reader.u32()?;
                let parameter = reader.u16()?;
                Command::StmtSendLongData { statement_id, parameter, data: reader.rest() }
            }
            0x19 => Command::StmtClose { statement_id: reader.u32()? },
            0x1a => Command::StmtReset { statement_id: reader.u32()? },
            0x1b => Command::SetOption(reader.u16()?),
            0x1c => Command::StmtFetch { statement_id: reader.u32()?, rows: reader.u32()? },
            0x1e => {
                let flags = reader.u16()?;
                let server_id = reader.u32()?;
                let name_len = reader.u32()? as usize;
                let file = reader.bytes(name_len)?;
                let position = reader.u64()?;
                let gtids_len = reader.u32()? as usize;
                let gtids = Some(reader.bytes(gtids_len)?);
                Command::BinlogDump(BinlogDump { server_id, flags, file, position, gtids })
            }
            0x1f => Command::ResetConnection,
            0x20 => Command::Clone(reader.rest()),
            unknown => Command::Unknown(unknown),
        })
    }
}

fn parse_register(mut reader: Reader<'_>) -> Result<Command<'_>, Malformed> {
    fn short<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
        let len = reader.u8()?.into();
        reader.bytes(len)
    }
    let server_id = reader.u32()?;
    let (host, user, password) = (short(&mut reader)?, short(&mut reader)?, short(&mut reader)?);
    let port = reader.u16()?;
    let _rank = reader.u32()?;
    let source_id = reader.u32()?;
    Ok(Command::RegisterReplica(RegisterReplica { server_id, host, user, password, port, source_id }))
}

fn parse_change_user(mut reader: Reader<'_>, capabilities: Capabilities) -> Result<ChangeUser<'_>, Malformed> {
    let user = reader.null_terminated()?;
    let auth_reply = if capabilities.has(Capabilities::SECURE_CONNECTION) {
        let len = reader.u8()?.into();
        reader.bytes(len)?
    } else {
        reader.null_terminated()?
    };
    let database = reader.null_terminated_or_rest();
    let collation = if reader.is_empty() { None } else { Some(reader.u16()?) };
    let plugin = if capabilities.has(Capabilities::PLUGIN_AUTH) { reader.null_terminated_or_rest() } else { b"" };
    let attributes = if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
        handshake::read_attributes(&mut reader)?
    } else {
        Vec::new()
    };
    Ok(ChangeUser { user, auth_reply, database, collation, plugin, attributes })
}

/// Error 1047.
#[cold]
pub fn unknown_command() -> SqlError {
    err!(ER_UNKNOWN_COM_ERROR)
}

/// Error 1835.
#[cold]
pub fn malformed_packet() -> SqlError {
    err!(ER_MALFORMED_PACKET)
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Value;

    fn parse(packet: &[u8]) -> Command<'_> {
        Command::parse(packet, Capabilities::NONE).unwrap()
    }

    #[test]
    fn commands_have_the_documented_layouts() {
        assert!(matches!(parse(b"\x01"), Command::Quit));
        assert!(matches!(parse(b"\x02test"), Command::InitDb(b"test")));
        assert!(matches!(parse(b"\x03SELECT 1"), Command::Query { text: b"SELECT 1", .. }));
        assert!(matches!(parse(b"\x04t\0c%"), Command::FieldList { table: b"t", wildcard: b"c%" }));
        assert!(matches!(parse(b"\x0c\x01\x02\0\0"), Command::ProcessKill { id: 513 }));
        assert!(matches!(parse(b"\x1b\x01\0"), Command::SetOption(1)));
        assert!(matches!(parse(b"\x1c\x01\0\0\0\x05\0\0\0"), Command::StmtFetch { statement_id: 1, rows: 5 }));
        assert!(matches!(
            parse(b"\x18\x01\0\0\0\x02\0abc"),
            Command::StmtSendLongData { statement_id: 1, parameter: 2, data: b"abc" }
        ));
        assert!(matches!(parse(b"\x1d"), Command::Unknown(0x1d)));
        let Command::BinlogDump(dump) = parse(b"\x12\x04\0\0\0\0\0\x07\0\0\0binlog.000001") else { panic!() };
        assert_eq!((dump.server_id, dump.position, dump.file), (7, 4, &b"binlog.000001"[..]));
        assert_eq!(Command::parse(b"", Capabilities::NONE).err(), Some(Malformed));
        assert_eq!(Command::parse(b"\x19\x01", Capabilities::NONE).err(), Some(Malformed));
    }

    #[test]
    fn a_query_may_carry_attributes() {
        let packet = b"\x03\x01\x01\x00\x01\xfe\x00\x05trace\x02id\x53ELECT 1";
        let Ok(Command::Query { text, attributes }) = Command::parse(packet, Capabilities::QUERY_ATTRIBUTES) else {
            panic!()
        };
        assert_eq!(text, b"SELECT 1");
        assert_eq!(attributes, [Parameter { name: b"trace", value: Value::Bytes(b"id"[..].into()) }]);
        let Ok(Command::Query { text, .. }) = Command::parse(b"\x03\x00\x01DO 1", Capabilities::QUERY_ATTRIBUTES)
        else {
            panic!()
        };
        assert_eq!(text, b"DO 1");
    }
}
