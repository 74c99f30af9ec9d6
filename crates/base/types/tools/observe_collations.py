#!/usr/bin/env python3
"""Makes what ../src/collation/data holds of other character sets and of languages, from what a MySQL server says of each character:

    observe_collations.py HOST PORT

eight.bin: the 8-bit character sets and the order of those of their collations that give each byte one weight.

    u8 sets, u8 maps | u16 code point of each byte, 256 a set (0xFFFF: none), in the order of SETS
    maps times: u16 collation id, u8 weight[256]

case.bin: upper and lower case (picture in ../src/collation/case.rs).

uca520.bin: primaries of DUCET 5.2.0, in the format of collation_tables.py.

tailorings.bin: what each language changes in the root's order (picture in ../src/collation/tailored.rs).
"""
import struct
import sys
from collections import Counter
from pathlib import Path

import pymysql

from collation_tables import DATA, implicit_base, write_uca

SETS = ("armscii8 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 dec8 geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin2 "
        "latin5 latin7 macce macroman swe7 tis620").split()
# Their strings are not compared byte by byte.
NOT_MAPS = {"latin1_german2_ci", "latin2_czech_cs", "cp1250_czech_cs", "tis620_thai_ci"}

LETTERS = [*range(0x41, 0x5B), *range(0x61, 0x7B)]
MARKS = [*range(0x300, 0x346)]
COMMON_MARKS = [*range(0x300, 0x30D), 0x31B, 0x323, 0x327, 0x328]
LATIN = [*range(0xC0, 0x250)]
FURTHER = [*range(0x1E00, 0x1F00), *range(0x400, 0x500)]
KANA = [*range(0x3041, 0x30FF), *range(0x31F0, 0x3200), *range(0xFF66, 0xFF9E), *range(0x32D0, 0x32FF), *range(0x3300, 0x3358)]
KANA_MARKS = [0x30FC, 0xFF70, 0x309D, 0x309E, 0x30FD, 0x30FE]


class Server:
    def __init__(self, host, port):
        self.connection = pymysql.connect(host=host, port=port, user="root", charset="utf8mb4")
        self("set names utf8mb4 collate utf8mb4_0900_bin")
        self("set cte_max_recursion_depth = 2000000")
        self("create database if not exists observe")
        self("use observe")
        for table, codes in (("codes", [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE0200)]), ("letter", LETTERS),
                             ("mark", MARKS), ("common", COMMON_MARKS), ("latin", LATIN), ("base", LETTERS + LATIN + FURTHER + MARKS),
                             ("kana", KANA), ("kanamark", KANA_MARKS)):
            self(f"drop table if exists {table}")
            self(f"create table {table} (n int primary key, c varchar(4) charset utf8mb4 collate utf8mb4_0900_bin)")
            for at in range(0, len(codes), 5000):
                rows = ",".join(f"({n}, convert(_utf32 x'{n:08X}' using utf8mb4))" for n in codes[at:at + 5000])
                self(f"insert into {table} values {rows}")
            self("commit")

    def __call__(self, sql):
        cursor = self.connection.cursor()
        cursor.execute(sql)
        return cursor.fetchall()


def words(weights):
    return struct.unpack(f">{len(weights) // 2}H", weights)


def levels(weights, count):
    out = [[]]
    for word in words(weights):
        if word == 0 and count > 1:
            out.append([])
        else:
            out[-1].append(word)
    # One zero too many is a primary weight: so Lithuanian has dots before accents.
    while len(out) > count:
        out[:2] = [out[0] + [0] + out[1]]
    return tuple(tuple(level) for level in out + [[]] * (count - len(out)))


def eight(server):
    out = b""
    for name in SETS:
        rows = dict(server(f"select n, hex(convert(convert(char(n using binary) using {name}) using utf32)) from codes where n < 256"))
        codes = [int(rows[n], 16) for n in range(256)]
        out += struct.pack("<256H", *[0xFFFF if code == 0x3F and n != 0x3F else code for n, code in enumerate(codes)])
    maps = b""
    names = "','".join(SETS + ["latin1"])
    found = server("select id, collation_name, character_set_name from information_schema.collations where collation_name not like '%bin' "
                   f"and character_set_name in ('{names}') and id not in (8, 48, 49) order by id")
    found = [row for row in found if row[1] not in NOT_MAPS]
    for number, name, charset in found:
        rows = dict(server(f"select n, weight_string(convert(char(n using binary) using {charset}) collate {name}) from codes where n < 256"))
        maps += struct.pack("<H256B", number, *[rows[n][0] for n in range(256)])
    (DATA / "eight.bin").write_bytes(struct.pack("BB", len(SETS), len(found)) + out + maps)
    print("eight.bin:", len(SETS), "sets,", len(found), "maps")
    for number, name, charset in found:
        print(f'    row({number}, "{name}", {charset})')


def case_runs(pairs):
    runs = []
    for n, other in sorted(pairs.items()):
        for step in (1, 2):
            if runs and runs[-1][3] == other - n and n - runs[-1][1] == step and runs[-1][2] in (0, step):
                runs[-1][1:3] = n, step
                break
        else:
            runs.append([n, n, 0, other - n])
    return struct.pack("<H", len(runs)) + b"".join(struct.pack("<IIBi", a, b, max(s, 1), d) for a, b, s, d in runs)


def case(server):
    out = b""
    for charset in ["latin1"] + SETS:
        for function in ("upper", "lower"):
            changed = f"{function}(convert(char(n using binary) using {charset}) collate {charset}_bin)"
            rows = dict(server(f"select n, cast({changed} as binary) from codes where n between 128 and 255"))
            # Some of koi8u become spaces, which is a mistake.
            out += bytes(n if rows[n] == b" " else rows[n][0] for n in range(128, 256))
    for charset, collation in (("utf8mb4", "utf8mb4_general_ci"), ("utf16", "utf16_unicode_520_ci"), ("utf8mb4", "utf8mb4_0900_ai_ci")):
        for function in ("upper", "lower"):
            changed = f"convert({function}(convert(c using {charset}) collate {collation}) using utf8mb4)"
            rows = server(f"select n, {changed} from codes where cast({changed} as binary) <> cast(c as binary)")
            # What does not fit into as many bytes is cut off, which is a mistake.
            pairs = {n: other or getattr(chr(n), function)() for n, other in rows}
            out += case_runs({n: ord(other) for n, other in pairs.items() if len(other) == 1})
    (DATA / "case.bin").write_bytes(out)


def all_weights(server, collation):
    return dict(server(f"select n, weight_string(c collate {collation}) from codes"))


def uca520(server):
    table = {}
    for code, weights in all_weights(server, "utf8mb4_unicode_520_ci").items():
        got = words(weights or b"")
        if got != (implicit_base_520(code) + (code >> 15), code & 0x7FFF | 0x8000):
            table[code] = [(w, 0, 0) for w in got] or [(0, 0, 0)]
    write_uca("uca520.bin", table)


def implicit_base_520(code):
    return implicit_base(code)


class Tailoring:
    """One language: `root` and `own` map code points to weights by level."""

    def __init__(self, server, collation, root, depth, has_kana):
        self.depth = depth
        own = {n: levels(w or b"", depth) for n, w in all_weights(server, collation).items()}
        self.moved = self.moves(root, own)
        self.tertiaries = self.tertiary_map(root, own) if depth > 1 else {}
        self.entries = {(n,): w for n, w in own.items() if self.derived(root[n]) != w}
        self.contractions(server, collation, root, has_kana)

    @staticmethod
    def moves(root, own):
        votes = {}
        for n, weights in root.items():
            primaries, mine = weights[0], own[n][0]
            if len(primaries) == 1 and len(mine) in (1, 2) or len(primaries) == 2 and primaries[0] >= 0xFB00 and len(mine) == 2:
                prefix = mine[0] if len(mine) == 2 and len(primaries) == 1 else 0
                votes.setdefault(primaries[0], Counter())[(mine[-1] if len(primaries) == 1 else mine[0], prefix)] += 1
        moved = {p: c.most_common(1)[0][0] for p, c in votes.items()}
        ranges = []
        for p in sorted(moved):
            to, prefix = moved[p]
            delta = to - p
            if ranges and ranges[-1][2:] == (delta, prefix):
                ranges[-1] = (ranges[-1][0], p, delta, prefix)
            else:
                ranges.append((p, p, delta, prefix))
        # What a single character does is no rule of a script: such runs are entries.
        ranges = [r for r in ranges if r[1] - r[0] >= 16 or r[0] >= 0xFB00]
        merged = []
        for r in ranges:
            if merged and merged[-1][2:] == r[2:]:
                merged[-1] = (merged[-1][0], r[1], r[2], r[3])
            else:
                merged.append(r)
        return [r for r in merged if r[2:] != (0, 0)]

    @staticmethod
    def tertiary_map(root, own):
        votes = {}
        for n, weights in root.items():
            if len(weights[2]) == len(own[n][2]):
                for t, mine in zip(weights[2], own[n][2]):
                    votes.setdefault(t, Counter())[mine] += 1
        found = {t: c.most_common(1)[0][0] for t, c in votes.items()}
        return {t: mine for t, mine in found.items() if t != mine}

    def primary(self, p):
        for low, high, delta, prefix in self.moved:
            if low <= p <= high:
                return (prefix, p + delta) if prefix else (p + delta,)
        return (p,)

    def derived(self, weights):
        primaries, skip = [], False
        for p in weights[0]:
            primaries += (p,) if skip else self.primary(p)
            skip = not skip and p >= 0xFB00
        out = [tuple(primaries), *weights[1:]]
        if self.depth > 2:
            out[2] = tuple(self.tertiaries.get(t, t) for t in weights[2])
        return tuple(out[:self.depth]) + ((),) * (self.depth - len(out))

    def contractions(self, server, collation, root, has_kana):
        def ask(sql_tables, parts):
            whole, apart = ",".join(parts), ",char(1 using utf8mb4),".join(parts)
            return server(f"select concat({whole}), weight_string(concat({whole}) collate {collation}) from {sql_tables} where "
                          f"weight_string(concat({whole}) collate {collation}) <> weight_string(concat({apart}) collate {collation})")
        found = [*ask("letter a, letter b", ["a.c", "b.c"]), *ask("base a, mark b", ["a.c", "b.c"]), *ask("mark a, mark b", ["a.c", "b.c"]),
                 *ask("letter a, latin b", ["a.c", "b.c"])]
        if has_kana:
            found += ask("kana a, kanamark b", ["a.c", "b.c"])
        found += ask("letter a, letter b, letter c", ["a.c", "b.c", "c.c"])
        found += ask("letter a, common b, common c", ["a.c", "b.c", "c.c"])
        found += ask("latin a, common b, common c", ["a.c", "b.c", "c.c"])
        found += ask("letter a, letter b, common c", ["a.c", "b.c", "c.c"])
        found += ask("letter a, letter b, letter c, letter d", ["a.c", "b.c", "c.c", "d.c"]) if "_hu_" in collation else []
        found = sorted(((tuple(map(ord, s)), levels(w, self.depth)) for s, w in found), key=lambda x: len(x[0]))
        for codes, weights in found:
            if self.weigh(codes, root) != weights:
                self.entries[codes] = weights

    def weigh(self, codes, root):
        out, at = [()] * self.depth, 0
        while at < len(codes):
            for length in range(min(6, len(codes) - at), 0, -1):
                entry = self.entries.get(codes[at:at + length])
                if entry or length == 1:
                    break
            entry = entry or self.derived(root[codes[at]])
            out = [a + b for a, b in zip(out, entry)]
            at += length
        return tuple(out)

    def pack(self):
        common = ((0x20,), (0x02,)) + ((),) * (self.depth - 3) if self.depth > 1 else ()
        plain = sorted((w[0][0], k[0]) for k, w in self.entries.items() if len(k) == 1 and len(w[0]) == 1 and w[1:] == common)
        runs = []
        for weight, code in plain:
            if runs and runs[-1][0] + len(runs[-1][1]) == weight:
                runs[-1][1].append(code)
            else:
                runs.append((weight, [code]))
        runs = [r for r in runs if len(r[1]) >= 4]
        in_runs = {(code,) for _, codes in runs for code in codes}
        others = [(k, w) for k, w in sorted(self.entries.items()) if k not in in_runs]
        out = struct.pack("<BB", self.depth, len(self.moved))
        for low, high, delta, prefix in self.moved:
            out += struct.pack("<HHHH", low, high, low + delta, prefix)
        out += struct.pack("B", len(self.tertiaries))
        for t, mine in sorted(self.tertiaries.items()):
            out += struct.pack("<BH", t, mine)
        out += struct.pack("<H", len(runs))
        for first, codes in runs:
            out += struct.pack("<HH", first, len(codes)) + b"".join(struct.pack("<I", c)[:3] for c in codes)
        out += struct.pack("<H", len(others))
        for codes, weights in others:
            out += struct.pack("B", len(codes)) + b"".join(struct.pack("<I", c)[:3] for c in codes)
            for level in weights:
                out += struct.pack(f"<B{len(level)}H", len(level), *level)
        return out


def tailorings(server):
    roots = {"unicode": 1, "0900": 3, "0900_ks": 4}
    roots = {kind: (depth, {n: levels(w or b"", min(depth, 3)) for n, w in
                            all_weights(server, "utf8mb4_unicode_ci" if depth == 1 else "utf8mb4_0900_as_cs").items()})
             for kind, depth in roots.items()}
    found = server("select id, collation_name from information_schema.collations where character_set_name = 'utf8mb4' and (id between 225 "
                   "and 247 or id between 256 and 323 and collation_name like '%as\\\\_cs%') and collation_name not in ('utf8mb4_unicode_520_ci', "
                   "'utf8mb4_0900_as_cs', 'utf8mb4_ja_0900_as_cs') order by id")
    blobs, head = b"", struct.pack("<H", len(found))
    at = 2 + 10 * len(found)
    for number, name in found:
        depth, root = roots["unicode" if number < 250 else "0900_ks" if name.endswith("ks") else "0900"]
        tailoring = Tailoring(server, name, root, depth, "ja_" in name)
        blob = tailoring.pack()
        print(number, name, len(tailoring.entries), "entries,", sum(len(k) > 1 for k in tailoring.entries), "contractions,",
              tailoring.moved, tailoring.tertiaries, len(blob), "bytes", flush=True)
        head += struct.pack("<HII", number, at, len(blob))
        at += len(blob)
        blobs += blob
    (DATA / "tailorings.bin").write_bytes(head + blobs)


if __name__ == "__main__":
    mysql = Server(sys.argv[1], int(sys.argv[2]))
    for step in sys.argv[3:] or ["eight", "case", "uca520", "tailorings"]:
        globals()[step](mysql)
    mysql("drop database observe")
