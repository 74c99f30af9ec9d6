"""Prepared statements by COM_STMT_PREPARE and COM_STMT_EXECUTE, over a connection of PyMySQL, which does not speak them itself."""

import struct

from pymysql.constants import COMMAND, FIELD_TYPE, SERVER_STATUS
from pymysql.protocol import FieldDescriptorPacket, OKPacketWrapper

UNSIGNED_FLAG = 32
COM_STMT_PREPARE, COM_STMT_EXECUTE, COM_STMT_CLOSE = COMMAND.COM_STMT_PREPARE, COMMAND.COM_STMT_EXECUTE, COMMAND.COM_STMT_CLOSE
FIXED = {FIELD_TYPE.TINY: "b", FIELD_TYPE.SHORT: "h", FIELD_TYPE.YEAR: "h", FIELD_TYPE.INT24: "i", FIELD_TYPE.LONG: "i", FIELD_TYPE.LONGLONG: "q",
         FIELD_TYPE.FLOAT: "f", FIELD_TYPE.DOUBLE: "d"}
DATES = (FIELD_TYPE.DATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP, FIELD_TYPE.NEWDATE)


class Bound:
    """A statement with `?` and the values for them: int, float, str, bytes or None, in their order. It is sent to be executed twice."""

    def __init__(self, statement, values):
        self.statement, self.values = statement, values

    def text(self):
        return self.statement if isinstance(self.statement, str) else self.statement.text()

    def smaller(self):
        if not isinstance(self.statement, str):
            for less in self.statement.smaller():
                yield Bound(less, self.values)


def execute(link, sql, values):
    """What the last of two executions answers: (fields, rows with values as text, None, number of warnings), or without fields
    (None, (), the OK packet, number of warnings). Raises the server's errors."""
    link._execute_command(COM_STMT_PREPARE, sql)
    statement, columns, parameters = struct.unpack("<xIHH", link._read_packet().get_all_data()[:9])
    for count in (parameters, columns):
        _read_fields(link, count)
    given = [values[i % len(values)] if values else None for i in range(parameters)]
    try:
        for _ in range(2):
            link._execute_command(COM_STMT_EXECUTE, struct.pack("<IBI", statement, 0, 1) + _parameters(given))
            answer = _answer(link)
    finally:
        link._execute_command(COM_STMT_CLOSE, struct.pack("<I", statement))
    return answer


def _read_fields(link, count):
    fields = [link._read_packet(FieldDescriptorPacket) for _ in range(count)]
    if count:
        link._read_packet()
    return fields


def _parameters(values):
    if not values:
        return b""
    nulls = sum(1 << i for i, v in enumerate(values) if v is None)
    out = nulls.to_bytes((len(values) + 7) // 8, "little") + b"\1"
    kinds, data = b"", b""
    for v in values:
        if isinstance(v, int):
            kind, bytes_ = FIELD_TYPE.LONGLONG, struct.pack("<q", v)
        elif isinstance(v, float):
            kind, bytes_ = FIELD_TYPE.DOUBLE, struct.pack("<d", v)
        else:
            text = v.encode() if isinstance(v, str) else v or b""
            kind = FIELD_TYPE.VAR_STRING if isinstance(v, str) else FIELD_TYPE.BLOB if v is not None else FIELD_TYPE.NULL
            bytes_ = b"" if v is None else bytes([len(text)]) + text
        kinds, data = kinds + struct.pack("<H", kind), data + bytes_
    return out + kinds + data


def _answer(link):
    packet = link._read_packet()
    if packet.is_ok_packet():
        ok = OKPacketWrapper(packet)
        return None, (), ok, ok.warning_count
    fields, rows = _read_fields(link, packet.read_length_encoded_integer()), []
    while True:
        packet = link._read_packet()
        if packet.is_eof_packet():
            assert not struct.unpack("<xHH", packet.get_all_data()[:5])[1] & SERVER_STATUS.SERVER_MORE_RESULTS_EXISTS
            return fields, rows, None, struct.unpack("<xHH", packet.get_all_data()[:5])[0]
        rows.append(_row(packet.get_all_data(), fields))


def _row(data, fields):
    at = 1 + (len(fields) + 9) // 8
    nulls = int.from_bytes(data[1:at], "little") >> 2
    row = []
    for i, field in enumerate(fields):
        if nulls >> i & 1:
            row.append(None)
            continue
        value, at = _value(data, at, field)
        row.append(value)
    assert at == len(data), "a row has the bytes of its columns and no more"
    return tuple(row)


def _value(data, at, field):
    """As text, and where the next value begins."""
    kind = field.type_code
    if kind in FIXED:
        code = FIXED[kind]
        code = code.upper() if field.flags & UNSIGNED_FLAG and code in "bhiq" else code
        size = struct.calcsize(code)
        return repr(struct.unpack_from("<" + code, data, at)[0]).encode(), at + size
    length, at = _length(data, at)
    value = data[at:at + length]
    if kind in DATES:
        y, mo, d, h, mi, s, us = struct.unpack("<HBBBBBI", value + bytes(11 - length))
        value = f"{length}:{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}.{us:06}".encode()
    elif kind == FIELD_TYPE.TIME:
        negative, days, h, mi, s, us = struct.unpack("<BIBBBI", value + bytes(12 - length))
        value = f"{length}:{'-' * negative}{days * 24 + h:02}:{mi:02}:{s:02}.{us:06}".encode()
    return value, at + length


def _length(data, at):
    first = data[at]
    if first < 251:
        return first, at + 1
    size = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "little"), at + 1 + size
