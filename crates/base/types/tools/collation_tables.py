#!/usr/bin/env python3
"""Makes the weight tables in ../src/collation/data.

    collation_tables.py uca900 allkeys-9.0.0.txt
        From the Default Unicode Collation Element Table, version 9.0.0 (unicode.org/Public/UCA/9.0.0/allkeys.txt, also
        in the PyPI package `pyuca`).
    collation_tables.py observed weights.tsv
        `utf8mb4_unicode_ci` (UCA 4.0.0) and `utf8mb4_general_ci`, from what a server says that each character of the
        Basic Multilingual Plane weighs. weights.tsv has three columns without a header: hex(code point),
        hex(weight_string(c collate utf8mb4_general_ci)), hex(weight_string(c collate utf8mb4_unicode_ci)).

uca900.bin and uca400.bin, all numbers little-endian (picture in ../src/collation/uca.rs):

    u32 pages, u32 elements
    u16 page_of[0x1100]              page number of each block of 256 code points; page 0 is all "implicit"
    u32 entry[pages * 256]           0: implicit weight; ..01: one collation element inline; ..10: offset << 7 | count << 2
    u32 element[elements]            primary << 16 | secondary << 7 | tertiary << 2 | 01

general.bin: u32 pages, u8 page_of[256], u16 weight[pages * 256].
"""
import re
import struct
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "src" / "collation" / "data"


def element(primary, secondary, tertiary):
    assert primary < 1 << 16 and secondary < 1 << 9 and tertiary < 1 << 5
    return primary << 16 | secondary << 7 | tertiary << 2 | 1


def write_uca(name, table):
    """table: code point -> list of (primary, secondary, tertiary)"""
    elements, known = [], {}
    pages, page_of = {(0,) * 256: 0}, []
    for block in range(0x1100):
        page = []
        for code in range(block << 8, (block + 1) << 8):
            ces = table.get(code)
            if ces is None:
                page.append(0)
            elif len(ces) == 1:
                page.append(element(*ces[0]))
            else:
                key = tuple(ces)
                if key not in known:
                    known[key] = len(elements)
                    elements += [element(*ce) for ce in ces]
                assert len(ces) < 32 and known[key] < 1 << 25
                page.append(known[key] << 7 | len(ces) << 2 | 2)
        page_of.append(pages.setdefault(tuple(page), len(pages)))
    out = struct.pack("<II", len(pages), len(elements)) + struct.pack("<%dH" % len(page_of), *page_of)
    for page in pages:
        out += struct.pack("<256I", *page)
    out += struct.pack("<%dI" % len(elements), *elements)
    (DATA / name).write_bytes(out)
    print(f"{name}: {len(table)} characters, {len(pages)} pages, {len(elements)} elements, {len(out)} bytes")


def uca900(path):
    table = {}
    for line in open(path, encoding="utf-8"):
        match = re.match(r"^([0-9A-F]+(?: [0-9A-F]+)*)\s*;\s*((?:\[[^\]]*\])+)", line)
        if not match:
            continue
        codes = match.group(1).split()
        if len(codes) > 1:
            continue  # contractions do not take part in MySQL's root collation
        ces = re.findall(r"\[[.*]([0-9A-F]+)\.([0-9A-F]+)\.([0-9A-F]+)", match.group(2))
        # MySQL keeps 8 elements a character; only U+FDFA has more.
        table[int(codes[0], 16)] = [tuple(int(w, 16) for w in ce) for ce in ces[:8]]
    write_uca("uca900.bin", table)


def observed(path):
    general, unicode400 = {}, {}
    for line in open(path):
        columns = line.rstrip("\n").split("\t")
        code = int(columns[0], 16)
        if code >= 0x10000:
            break
        general[code] = int(columns[1] or "20", 16)
        words = [int(columns[2][i:i + 4], 16) for i in range(0, len(columns[2]), 4)]
        implicit = [implicit_base(code) + (code >> 15), code & 0x7FFF | 0x8000]
        if words != implicit:
            unicode400[code] = [(w, 0, 0) for w in words] or [(0, 0, 0)]
    pages, page_of = {}, []
    for block in range(256):
        page = tuple(general.get(code, code) for code in range(block << 8, (block + 1) << 8))
        page_of.append(pages.setdefault(page, len(pages)))
    out = struct.pack("<I256B", len(pages), *page_of) + b"".join(struct.pack("<256H", *p) for p in pages)
    (DATA / "general.bin").write_bytes(out)
    print(f"general.bin: {len(pages)} pages, {len(out)} bytes")
    write_uca("uca400.bin", unicode400)


def implicit_base(code):
    if 0x3400 <= code <= 0x4DB5:
        return 0xFB80
    if 0x4E00 <= code <= 0x9FA5:
        return 0xFB40
    return 0xFBC0


if __name__ == "__main__":
    {"uca900": uca900, "observed": observed}[sys.argv[1]](sys.argv[2])
