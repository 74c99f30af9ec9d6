"""A client of bytes: it says what a test has it say, and shows what the server answered, packet by packet."""

import socket
import struct
import zlib

CONNECT_WITH_DB, COMPRESS, LOCAL_FILES, PROTOCOL_41, SECURE = 1 << 3, 1 << 5, 1 << 7, 1 << 9, 1 << 15
MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS, PLUGIN_AUTH, LENENC = 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 21
SESSION_TRACK, DEPRECATE_EOF, OPTIONAL_METADATA, ZSTD, QUERY_ATTRIBUTES = 1 << 23, 1 << 24, 1 << 25, 1 << 26, 1 << 27
BASE = PROTOCOL_41 | SECURE | PLUGIN_AUTH | MULTI_STATEMENTS | MULTI_RESULTS | (1 << 2) | (1 << 13)


class Refused(Exception):
    """The server's error: number and message."""


def lenenc(data, at):
    """The number at `at`, and where it ends."""
    first = data[at]
    if first < 251:
        return first, at + 1
    size = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "little"), at + 1 + size


def string(data, at):
    length, at = lenenc(data, at)
    return data[at:at + length], at + length


class Client:
    """Logged in as `user`, who has no password. `zstd_level` is said with ZSTD."""

    def __init__(self, host, port, more=0, user="root", database=None, zstd_level=3, plugin=b"caching_sha2_password", before=b"",
                 collation=255):
        self.socket = socket.create_connection((host, port), timeout=30)
        self.socket.settimeout(30)
        self.frames = None
        self.unread = b""
        self.seq = self.frame_seq = 0
        self.sent = self.received = 0
        if before:
            self.socket.sendall(before)
        self.greeting = self.read()
        if self.greeting[0] == 0xFF:
            raise Refused(*error(self.greeting))
        self.offered = offered(self.greeting)
        self.capabilities = BASE | more | (CONNECT_WITH_DB if database else 0)
        login = struct.pack("<IIB", self.capabilities, 1 << 24, collation) + bytes(23) + user.encode() + b"\0\0"
        login += (database.encode() + b"\0" if database else b"") + plugin + b"\0"
        if self.capabilities & ZSTD:
            login += bytes([zstd_level])
        self.write(login)
        answer = self.read()
        while answer[0] == 0xFE:
            self.write(b"")
            answer = self.read()
        if answer[0] == 0xFF:
            raise Refused(*error(answer))
        self.welcome = answer

    def compress(self, algorithm="zlib"):
        """From now on packets go in compressed frames; what this client sends is stored in them where it is zstd."""
        self.frames = algorithm

    def take(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError("the server has hung up")
            data += piece
        self.received += count
        return data

    def take_plain(self, count):
        while self.frames and len(self.unread) < count:
            head = self.take(7)
            assert head[3] == self.frame_seq, "frames in order"
            self.frame_seq = head[3] + 1 & 0xFF
            body = self.take(int.from_bytes(head[:3], "little"))
            length = int.from_bytes(head[4:7], "little")
            if length:
                body = self.expand(body)
                assert len(body) == length
            self.unread += body
        if not self.frames:
            return self.take(count)
        data, self.unread = self.unread[:count], self.unread[count:]
        return data

    def expand(self, body):
        assert self.frames == "zlib", "this client reads no compressed zstd"
        return zlib.decompress(body)

    def read(self):
        """One packet's payload; those of 16 MiB - 1 go on in the next."""
        payload = b""
        while True:
            head = self.take_plain(4)
            self.seq = head[3] + 1 & 0xFF
            length = int.from_bytes(head[:3], "little")
            payload += self.take_plain(length)
            if length < 0xFFFFFF:
                return payload

    def send(self, data):
        self.sent += len(data)
        self.socket.sendall(data)

    def write(self, payload):
        """One packet, in a frame of its own if frames are in use."""
        data = struct.pack("<I", len(payload))[:3] + bytes([self.seq]) + payload
        if not self.frames:
            return self.send(data)
        self.send_frame(data)

    def send_frame(self, data, length=None, body=None):
        """`data` in a frame, compressed if that is zlib's; or a frame that says `length` and has `body`."""
        if body is None:
            small = self.frames != "zlib" or len(data) < 50
            body, length = (data, 0) if small else (zlib.compress(data), len(data))
        head = struct.pack("<I", len(body))[:3] + bytes([self.frame_seq]) + struct.pack("<I", length)[:3]
        self.frame_seq = self.frame_seq + 1 & 0xFF
        self.send(head + body)

    def command(self, payload):
        self.seq = self.frame_seq = 0
        self.write(payload)

    def query(self, text):
        """All packets of the answer, until one that ends it."""
        attributes = b"\0\1" if self.capabilities & QUERY_ATTRIBUTES else b""
        self.command(b"\x03" + attributes + text.encode())
        return self.answer()

    def answer(self):
        """Packets up to the end of all results of a command."""
        packets = []
        while True:
            packets.append(self.read())
            status = self.rest_of_result(packets)
            if status is None or not status & 8:
                return packets

    def rest_of_result(self, packets):
        """Reads on to the end of the result that begins with the last packet: the status at its end, `None` behind an error."""
        first = packets[-1]
        if first[0] == 0xFF:
            return None
        if first[0] == 0:
            return ok(first)[2]
        columns, described = first[0], len(first) == 1 or first[1] == 1
        ends = 1 if self.capabilities & DEPRECATE_EOF else 2
        for _ in range(columns if described else 0):
            packets.append(self.read())
        if ends == 2:
            packets.append(self.read())
        while True:
            packets.append(self.read())
            last = packets[-1]
            if last[0] == 0xFF:
                return None
            if last[0] == 0xFE and len(last) < 0xFFFFFF:
                return ok(last)[2] if ends == 1 else int.from_bytes(last[3:5], "little")

    def rows(self, text):
        """The rows of one SELECT, as text."""
        packets = self.query(text)
        if packets[-1][0] == 0xFF:
            raise Refused(*error(packets[-1]))
        described = packets[0][1:] != b"\0"
        skipped = 1 + (packets[0][0] if described else 0) + (0 if self.capabilities & DEPRECATE_EOF else 1)
        return [row(packet) for packet in packets[skipped:-1]]

    def close(self):
        self.socket.close()

    def hangs_up(self):
        """The server has closed, and said nothing before."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


def offered(greeting):
    """The capabilities of a greeting."""
    at = greeting.index(0, 1) + 1 + 4 + 8 + 1
    return int.from_bytes(greeting[at:at + 2] + greeting[at + 5:at + 7], "little")


def error(packet):
    return int.from_bytes(packet[1:3], "little"), packet[9:].decode()


def row(packet):
    values, at = [], 0
    while at < len(packet):
        if packet[at] == 0xFB:
            values.append(None)
            at += 1
        else:
            text, at = string(packet, at)
            values.append(text.decode())
    return values


def ok(packet):
    """Rows, insert id, status, warnings, info and the changes of an OK packet: pairs of a kind and what it says."""
    rows, at = lenenc(packet, 1)
    insert_id, at = lenenc(packet, at)
    status, warnings = struct.unpack_from("<HH", packet, at)
    at += 4
    info, changes = b"", []
    if at < len(packet):
        info, at = string(packet, at)
    if status & 1 << 14:
        block, at = string(packet, at)
        where = 0
        while where < len(block):
            kind = block[where]
            data, where = string(block, where + 1)
            changes.append((kind, data))
    assert at == len(packet), "nothing behind it"
    return rows, insert_id, status, warnings, info, changes
