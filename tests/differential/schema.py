"""Random tables and what goes into them: columns of every type, keys, checks, generated columns, values with their edges."""

# Type, kind of expression, values. Strings of a list differ under every collation, so that groups have one representative.
INTS = ["0", "1", "2", "3", "5", "7", "10", "-1", "100", "127", "128", "255", "256", "-128", "'12'", "2.5", "NULL", "32767", "65536"]
STRINGS = ["''", "'a'", "'b'", "'abc'", "'Zebra'", "'12'", "'1.5e1'", "'é'", "'日本'", "'y z'", "'-3'", "'%_'", "'2024-02-29'", "NULL", "7", "'long text of 24 letters!'"]
TYPES = [
    ("TINYINT", "int", INTS), ("SMALLINT UNSIGNED", "int", INTS), ("MEDIUMINT", "int", INTS), ("INT", "int", INTS),
    ("INT UNSIGNED", "int", INTS), ("BIGINT", "int", [*INTS, "9223372036854775807", "-9223372036854775808"]),
    ("BIGINT UNSIGNED", "int", [*INTS, "18446744073709551615"]), ("BOOL", "int", INTS[:8]),
    ("DECIMAL(10,2)", "num", [*INTS, "1.005", "-99999999.99", "123456789.12", "0.004"]), ("DECIMAL(20,6)", "num", [*INTS, "3.141593", "-0.000001"]),
    ("DECIMAL(5,0) UNSIGNED", "num", INTS), ("DOUBLE", "num", [*INTS, "1e10", "-0.5", "3.141592653589793"]), ("FLOAT", "num", [*INTS, "0.5", "-2.25"]),
    ("VARCHAR(20)", "str", STRINGS), ("CHAR(8)", "str", STRINGS), ("VARCHAR(30) COLLATE utf8mb4_bin", "str", STRINGS),
    ("VARCHAR(24) CHARACTER SET latin1", "str", STRINGS), ("VARCHAR(24) COLLATE utf8mb4_general_ci", "str", STRINGS), ("TEXT", "str", STRINGS),
    ("TINYTEXT", "str", STRINGS), ("VARBINARY(16)", "str", [*STRINGS, "x'00ff'"]), ("BLOB", "str", STRINGS), ("BINARY(4)", "str", STRINGS[:8]),
    ("DATE", "date", ["'2024-02-29'", "'1999-12-31'", "'2021-03-14'", "20200101", "'2024-02-30'", "'0000-00-00'", "NULL", "'2023-1-5'", "'x'"]),
    ("DATETIME", "date", ["'2024-02-29 12:34:56'", "'1999-12-31 23:59:59.7'", "'2021-03-14'", "20210314150926", "NULL", "'0000-00-00'", "'2024-13-01'"]),
    ("DATETIME(3)", "date", ["'2024-02-29 12:34:56.789'", "'1999-12-31 23:59:59.9999'", "NULL", "'2001-01-01'"]),
    ("TIMESTAMP NULL", "date", ["'2024-02-29 12:34:56'", "'1999-12-31 23:59:59'", "NULL", "'1969-01-01'", "'2021-03-28 02:30:00'"]),
    ("TIME", "time", ["'10:11:12'", "'-01:02:03'", "'838:59:59'", "101112", "'1 02:03:04'", "NULL", "'99:99'", "'900:00:00'", "'00:00:01.6'"]),
    ("TIME(2)", "time", ["'10:11:12.345'", "'-01:02:03.999'", "NULL", "'00:00:00'"]),
    ("YEAR", "int", ["2024", "1999", "0", "69", "70", "'70'", "2155", "2156", "NULL"]),
    ("ENUM('one','two','three')", "str", ["'one'", "'two'", "'THREE'", "1", "NULL", "'four'", "''", "9"]),
    ("SET('a','b','c')", "str", ["'a'", "'a,c'", "'c,b'", "''", "NULL", "5", "'d'", "8"]),
    ("BIT(6)", "int", ["0", "1", "b'101010'", "63", "64", "NULL"]),
    ("JSON", "json", ["'[1, 2, \"x\"]'", "'{\"a\": 1, \"b\": [true, null]}'", "'\"s\"'", "'3.5'", "NULL", "'{bad'", "'null'"]),
]
# Types that few tables have.
RARE = [
    ("VARCHAR(20) CHARACTER SET utf8mb3", "str", STRINGS), ("VARCHAR(12) CHARACTER SET utf16", "str", STRINGS),
    ("CHAR(8) COLLATE utf8mb4_0900_as_cs", "str", STRINGS), ("VARCHAR(16) COLLATE utf8mb4_unicode_ci", "str", STRINGS),
    ("CHAR(6) CHARACTER SET ascii", "str", STRINGS),
    ("TEXT CHARACTER SET latin1", "str", STRINGS), ("VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin", "str", STRINGS),
    ("DATETIME DEFAULT CURRENT_TIMESTAMP", "date", ["'2024-02-29 12:34:56'", "'2021-03-14'", "'0000-00-00'"]),
    ("INT DEFAULT (1 + 2)", "int", INTS), ("VARCHAR(20) DEFAULT (CONCAT('a', 'b'))", "str", STRINGS), ("INT INVISIBLE", "int", INTS),
]
EASY = ["1", "2", "3", "5"]


class Column:
    def __init__(self, name, type, kind, values):
        self.name, self.type, self.kind, self.values = name, type, kind, values
        self.generated = False

    def value(self, rng):
        return rng.choice(self.values)


class Table:
    """A table: how it is made, and which columns there are."""

    def __init__(self, rng, name):
        self.name = name
        self.columns = [Column(f"{name}{chr(97 + i)}", *rng.choice(RARE if rng.random() < 0.06 else TYPES)) for i in range(rng.randrange(3, 8))]
        self.key = [Column("id", "INT", "int", [str(i) for i in range(1, 40)])]
        self.increments = rng.random() < 0.4
        if not self.increments and rng.random() < 0.3:
            self.key.append(Column("k2", "VARCHAR(10)", "str", ["'p'", "'q'", "'r'"]))
        self.lines = self._lines(rng)

    def _lines(self, rng):
        lines = [f"{c.name} {c.type} NOT NULL" + (" AUTO_INCREMENT" if self.increments else "") for c in self.key]
        for c in self.columns:
            line = f"{c.name} {c.type}"
            # Types that say NULL already stay as they are.
            if rng.random() < 0.25 and "NULL" not in c.type:
                line += " NOT NULL"
            if "DEFAULT" in c.type:
                pass
            elif rng.random() < 0.2 and c.kind in ("int", "num"):
                line += " DEFAULT 5"
            elif rng.random() < 0.1 and "CHAR" in c.type:
                line += " DEFAULT 'dd'"
            lines.append(line)
        lines.append(f"PRIMARY KEY ({', '.join(c.name for c in self.key)})")
        lines += self._more(rng)
        return lines

    def _more(self, rng):
        lines = []
        plain = [c for c in self.columns if c.kind in ("int", "num", "date", "time") or "CHAR" in c.type or c.type.startswith(("ENUM", "SET", "VARBINARY"))]
        for i in range(rng.randrange(3)):
            parts = rng.sample(plain, min(len(plain), rng.randrange(1, 3)))
            if parts:
                unique = "UNIQUE " if rng.random() < 0.3 else ""
                lines.append(f"{unique}KEY x{i} (" + ", ".join(c.name + rng.choice(["", "", " DESC"]) for c in parts) + ")")
        texts = [c for c in self.columns if c.type in ("TEXT", "BLOB", "VARCHAR(20)")]
        if texts and rng.random() < 0.3:
            lines.append(f"KEY p ({rng.choice(texts).name}({rng.randrange(2, 6)}))")
        ints = [c for c in self.columns if c.type in ("INT", "TINYINT", "DECIMAL(10,2)", "BIGINT")]
        if ints and rng.random() < 0.25:
            lines.append(f"CHECK ({rng.choice(ints).name} < {rng.choice(['90', '120', '4'])})")
        if ints and rng.random() < 0.25:
            g = Column(f"{self.name}v", "DOUBLE", "num", ["DEFAULT"])
            g.generated = True
            stored = rng.choice(["STORED", "VIRTUAL"])
            lines.insert(len(self.key) + len(self.columns), f"{g.name} DOUBLE AS ({rng.choice(ints).name} * 2 + 1) {stored}")
            self.columns.append(g)
        return lines

    def create(self):
        return f"CREATE TABLE {self.name} ({', '.join(self.lines)})"

    def all(self):
        return [*self.key, *self.columns]

    def writable(self):
        return [c for c in self.columns if not c.generated]

    def order(self, alias=""):
        return ", ".join(f"{alias}{c.name}" for c in self.key)
