"""Hostile bytes on a server's sockets: handshakes, TLS, logins and commands, mutated.

    python tests/e2e/fuzz_wire.py HOST:PORT [--socket FILE] [--seconds N] [--seed N]

Each conversation has a seed of its own, which is printed when something is wrong with it. A conversation is wrong when the server neither
answers nor hangs up in time, or says something that is no packet. Whether it lives and what memory it has is for the caller to see."""

import argparse
import hashlib
import random
import socket
import ssl
import struct
import time

USER, PASSWORD = "fuzz", "fuzz"
SILENCE_SECONDS = 30
PROTOCOL_41, SSL, PLUGIN_AUTH, CONNECT_WITH_DB, SECURE, ATTRS, LENENC = 1 << 9, 1 << 11, 1 << 19, 1 << 3, 1 << 15, 1 << 20, 1 << 21
CAPABILITIES = 0x81BEA205 & ~SSL & ~(1 << 5) | PROTOCOL_41 | PLUGIN_AUTH | SECURE | LENENC | ATTRS | (1 << 16) | (1 << 17)
PLUGINS = [b"caching_sha2_password", b"mysql_native_password", b"sha256_password", b"mysql_clear_password", b"nonsense", b""]

# Commands as clients send them, for a session of an account with few rights.
COMMANDS = [
    b"\x01", b"\x02mysql", b"\x03SELECT 1", b"\x03SELECT REPEAT('a', 100000)", b"\x03DO SLEEP(0)", b"\x04t\0c%", b"\x05x", b"\x08", b"\x09",
    b"\x0a", b"\x0c\x01\0\0\0", b"\x0d", b"\x0e", b"\x11fuzz\0\x00mysql\0\xff\0caching_sha2_password\0\x08\x03_os\x03lin",
    b"\x12\x04\0\0\0\0\0\x07\0\0\0binlog.000001", b"\x15\x07\0\0\0\x04host\x04user\x02pw\xea\x0c\0\0\0\0\0\0\0\0",
    b"\x16SELECT ?, ?", b"\x17\x01\0\0\0\x00\x01\0\0\0\x00\x01\x08\x00\x0f\x00\x01\0\0\0\0\0\0\0\x03foo", b"\x18\x01\0\0\0\0\0abc",
    b"\x19\x01\0\0\0", b"\x1a\x01\0\0\0", b"\x1b\x01\0", b"\x1b\0\0", b"\x1c\x01\0\0\0\x05\0\0\0", b"\x1d", b"\x1e\0\0\x07\0\0\0\x02\0\0\0ab",
    b"\x1f", b"\x20", b"\xff", b"",
]


class Wrong(Exception):
    pass


class Over(Exception):
    """The server hung up, which it may."""


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = rng.choice([b"\xfb", b"\xfc\xff\xff", b"\xfd\xff\xff\xff", b"\xfe" + b"\xff" * 8, b"\0", b"\xff"])
        elif kind == 4:
            data += rng.randbytes(rng.randrange(300))
        elif kind == 5 and data:
            start = rng.randrange(len(data))
            data[at:at] = data[start:start + rng.randrange(40)]
        else:
            del data[at:at + rng.randrange(1, 9)]
    return bytes(data)


class Talk:
    def __init__(self, rng, connect):
        self.rng = rng
        self.raw = connect()
        self.raw.settimeout(SILENCE_SECONDS)
        self.stream = self.raw
        self.seq = 0
        self.scramble = b""

    def take(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.stream.recv(count - len(data))
            except (TimeoutError, socket.timeout) as error:
                raise Wrong(f"silence for {SILENCE_SECONDS} s") from error
            except (OSError, ssl.SSLError) as error:
                raise Over from error
            if not piece:
                raise Over
            data += piece
        return data

    def read(self):
        head = self.take(4)
        self.seq = head[3] + 1 & 0xFF
        return self.take(int.from_bytes(head[:3], "little"))

    def send_raw(self, data):
        try:
            self.stream.sendall(data)
        except (TimeoutError, socket.timeout) as error:
            raise Wrong("it takes nothing") from error
        except (OSError, ssl.SSLError) as error:
            raise Over from error

    def send(self, payload, seq=None):
        seq = self.seq if seq is None else seq
        frame = bytearray(struct.pack("<I", len(payload) & 0xFFFFFF))
        frame[3] = seq
        if self.rng.random() < 0.03:
            frame = bytearray(mutate(self.rng, frame))
        data = bytes(frame) + payload
        if self.rng.random() < 0.1:
            for at in range(0, len(data), 7):
                self.send_raw(data[at:at + 7])
        else:
            self.send_raw(data)

    def finish(self):
        """Whatever was said: the server hangs up once it hears no more."""
        try:
            self.raw.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while True:
                self.take(1)
        except Over:
            pass


def proof(password, scramble, plugin):
    if plugin == b"mysql_native_password":
        first = hashlib.sha1(password).digest()
        pad = hashlib.sha1(scramble + hashlib.sha1(first).digest()).digest()
    else:
        first = hashlib.sha256(password).digest()
        pad = hashlib.sha256(hashlib.sha256(first).digest() + scramble).digest()
    return bytes(a ^ b for a, b in zip(first, pad))


def response(rng, talk, capabilities):
    plugin = rng.choice(PLUGINS) if rng.random() < 0.3 else PLUGINS[0]
    reply = proof(PASSWORD.encode(), talk.scramble, plugin)
    head = struct.pack("<IIB", capabilities, 1 << 24, 255) + bytes(23)
    user = USER.encode() if rng.random() < 0.8 else rng.choice([b"", b"root", b"nobody", b"x" * 300])
    packet = head + user + b"\0" + bytes([len(reply)]) + reply
    if capabilities & CONNECT_WITH_DB:
        packet += rng.choice([b"mysql", b"", b"information_schema"]) + b"\0"
    return packet + plugin + b"\0" + b"\x08\x03_os\x03lin"


def log_in(rng, talk, level):
    """`level`: how much of it is mutated. True: it is logged in."""
    greeting = talk.read()
    if greeting[0] == 0xFF:
        raise Over
    if greeting[0] != 10:
        raise Wrong(f"no greeting: {greeting[:40]}")
    version = greeting.index(b"\0", 1)
    talk.scramble = greeting[version + 5:version + 13] + greeting[version + 32:version + 44]
    capabilities = CAPABILITIES if rng.random() < 0.7 else CAPABILITIES ^ (1 << rng.randrange(32))
    if rng.random() < 0.3:
        request = struct.pack("<IIB", capabilities | SSL, 1 << 24, 255) + bytes(23)
        if level == "tls" and rng.random() < 0.5:
            talk.send(request)
            hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(32) + b"\x20" + rng.randbytes(32) + b"\x00\x04\x13\x01\x13\x02\x01\x00"
            talk.send_raw(mutate(rng, hello + rng.randbytes(rng.randrange(500))))
            return False
        talk.send(request)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            # Wrapping takes the socket away; another handle stays to write behind TLS's back, and to hang up.
            bare, talk.raw = talk.raw, talk.raw.dup()
            talk.stream = context.wrap_socket(bare)
        except (OSError, ssl.SSLError) as error:
            if isinstance(error, (TimeoutError, socket.timeout)):
                raise Wrong("silence in the TLS handshake") from error
            raise Over from error
        talk.seq = 2
        capabilities |= SSL
        if level == "tls":
            talk.raw.sendall(mutate(rng, b"\x17\x03\x03\x00\x40" + rng.randbytes(64)))
            return False
    packet = response(rng, talk, capabilities)
    talk.send(mutate(rng, packet) if level == "login" else packet)
    while True:
        answer = talk.read()
        if answer[:1] == b"\x00":
            return True
        if answer[:1] == b"\xff":
            raise Over
        if answer == b"\x01\x03":
            continue
        if answer == b"\x01\x04" or answer[:1] == b"\xfe":
            step = PASSWORD.encode() + b"\0" if capabilities & SSL or talk.raw.family == socket.AF_UNIX else b"\x02"
            talk.send(mutate(rng, step) if level in ("login", "exchange") else step)
        elif answer[:1] == b"\x01":
            talk.send(rng.randbytes(rng.choice([0, 1, 255, 256, 257, 5000])))
        else:
            raise Wrong(f"neither OK nor an error nor a question: {answer[:40]}")


def talk_over(seed, connect):
    """One conversation; raises Wrong."""
    rng = random.Random(seed)
    talk = Talk(rng, connect)
    try:
        level = rng.choice(["bytes", "login", "login", "exchange", "tls", "command", "command", "command"])
        if level == "bytes":
            if rng.random() < 0.5:
                talk.read()
            talk.send_raw(rng.randbytes(rng.randrange(3000)))
        elif log_in(rng, talk, level) and level == "command":
            for _ in range(rng.randrange(1, 20)):
                command = rng.choice(COMMANDS)
                talk.send(mutate(rng, command) if rng.random() < 0.7 else command, seq=0)
        talk.finish()
    except Over:
        pass
    finally:
        talk.stream.close()
        talk.raw.close()


def fuzz(connect, seconds, seed):
    """So many conversations there were; raises Wrong with the seed of one."""
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            talk_over(seed + count, connect)
        except Wrong as wrong:
            raise Wrong(f"seed {seed + count}: {wrong}") from wrong
        count += 1
    return count


def connector(host, port, path=None):
    def connect():
        if path:
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(path))
            return client
        return socket.create_connection((host, port), timeout=SILENCE_SECONDS)

    return connect


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--socket")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="store_true", help="this one seed")
    options = parser.parse_args()
    host, port = options.address.rsplit(":", 1)
    connect = connector(host, int(port), options.socket)
    if options.only:
        talk_over(options.seed, connect)
        return
    print(f"{fuzz(connect, options.seconds, options.seed)} conversations")


if __name__ == "__main__":
    main()
