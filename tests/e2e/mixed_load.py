"""What clients do to a server that is going to be killed, and what it must hold when it is back.

Each part of the load has tables of its own and a model of them outside the server. A change is in doubt from the moment in which the
statement that makes it durable is sent until it is answered; after a restart what was acknowledged is there, what is in doubt is there
whole or not at all, and there is nothing else.

    Bank         transfers between accounts, each with a row of the journal, some of them long
    Open         one long transaction after another: all rows shrunk, grown, put outside the page, with savepoints
    Wedges       rows put between those that `Open` has changed
    Definitions  tables made, filled, indexed, altered, renamed, emptied, dropped
"""

import collections
import itertools
import os
import random
import threading

import pymysql
from harness import rows, run, value

DUPLICATE, LOCK_WAIT_TIMEOUT, DEADLOCK = 1062, 1205, 1213
# The server is dead, or was when the session began.
GONE = (2003, 2006, 2013)
# A full disk: said of a write, of the binary log, of a table, of a transaction that has to be undone in the background first.
FULL = (1021, 1026, 1030, 1114, 1181)


class Disk:
    """A small file system that is filled with ballast now and then."""

    def __init__(self, place):
        self.ballast = place / "ballast"
        self.place = place
        # Since the last `forget`.
        self.was_full = False

    def fill(self, left):
        """Leaves `left` bytes."""
        self.was_full = True
        free = os.statvfs(self.place)
        there = self.ballast.stat().st_size if self.ballast.exists() else 0
        with open(self.ballast, "ab") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, max(there + free.f_bavail * free.f_frsize - left, 1))
            except OSError:
                pass  # The server was quicker: it is full.

    def is_full(self):
        """Is it full, by ballast or by what the server has put there? A segment of the log is what a server asks for at once."""
        free = os.statvfs(self.place)
        self.was_full |= free.f_bavail * free.f_frsize < 8 << 20
        return self.was_full

    def release(self):
        self.ballast.unlink(missing_ok=True)

    def forget(self):
        self.was_full = False


class Part:
    """Tables that nobody else writes, and what should be in them."""

    schema = []
    clients = 1
    # Calls of `act` that the server answered well.
    total = 0

    def act(self, connection, chance):
        """One transaction or statement. Raises what the server answers."""
        raise NotImplementedError

    def verify(self, connection):
        """Compares tables and model after a restart; what was in doubt is decided then."""
        raise NotImplementedError

    def resume(self, connection, chance):
        """Before clients come again."""


class Bank(Part):
    ACCOUNTS, JOURNAL = 200, 4000
    schema = [
        "CREATE TABLE account (id INT PRIMARY KEY, amount INT NOT NULL, touched BIGINT NOT NULL, pad CHAR(120) NOT NULL,"
        " KEY amount (amount), KEY touched (touched))",
        "CREATE TABLE journal (id BIGINT PRIMARY KEY, giver INT NOT NULL, taker INT NOT NULL, amount INT NOT NULL,"
        " pad LONGTEXT NOT NULL, KEY giver (giver), KEY taker (taker))",
        "INSERT INTO account VALUES " + ", ".join(map("({}, 1000, 0, 'x')".format, range(ACCOUNTS))),
    ]
    clients = 5

    def __init__(self):
        self.numbers = itertools.count(1)
        self.opening = dict.fromkeys(range(self.ACCOUNTS), 1000)
        # By number: giver, taker, amount, length of the pad.
        self.acknowledged = {}
        self.in_doubt = {}

    def act(self, connection, chance):
        giver, taker = chance.sample(range(self.ACCOUNTS), 2)
        amount, number = chance.randrange(1, 50), next(self.numbers)
        length = chance.choice([0, 10, 200, 3000] + [20_000] * (number % 10 == 0))
        row = (giver, taker, amount, length)
        run("BEGIN", on=connection)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE account SET amount = amount - %s, touched = %s WHERE id = %s", (amount, number, giver))
            cursor.execute("INSERT INTO journal VALUES (%s, %s, %s, %s, REPEAT('j', %s))", (number, *row))
            cursor.execute("UPDATE account SET amount = amount + %s, touched = %s WHERE id = %s", (amount, number, taker))
        if chance.random() < 0.1:
            connection.rollback()
            return
        self.in_doubt[number] = row
        connection.commit()
        self.acknowledged[number] = self.in_doubt.pop(number)

    def verify(self, connection):
        columns = "id, giver, taker, amount, LENGTH(pad)"
        journal = {row[0]: row[1:] for row in rows(connection, f"SELECT {columns} FROM journal ORDER BY id")}
        lost = [number for number in self.acknowledged if number not in journal]
        assert not lost, f"{len(lost)} acknowledged commits are gone, the first: {lost[:5]}"
        for number, row in journal.items():
            assert self.acknowledged.get(number, self.in_doubt.get(number)) == row, f"transfer {number} was never sent so: {row}"
        assert value(connection, "SELECT COUNT(*) FROM journal WHERE pad <> REPEAT('j', LENGTH(pad))") == 0
        expected = collections.Counter(self.opening)
        for giver, taker, amount, _ in journal.values():
            expected[giver] -= amount
            expected[taker] += amount
        accounts = rows(connection, "SELECT id, amount, touched FROM account ORDER BY id")
        assert {row[0]: row[1] for row in accounts} == dict(expected), "a transfer is there by half"
        for table, column, by_primary in (
            ("account", "amount", [(row[1], row[0]) for row in accounts]),
            ("account", "touched", [(row[2], row[0]) for row in accounts]),
            ("journal", "giver", [(row[0], number) for number, row in journal.items()]),
            ("journal", "taker", [(row[1], number) for number, row in journal.items()]),
        ):
            by_index = rows(connection, f"SELECT {column}, id FROM {table} FORCE INDEX ({column}) ORDER BY {column}, id")
            assert list(by_index) == sorted(by_primary), f"index {table}.{column} and the rows disagree"
        self.acknowledged = journal
        self.in_doubt = {}

    def resume(self, connection, chance):
        """A long journal becomes the accounts' opening amounts."""
        if len(self.acknowledged) < self.JOURNAL:
            return
        self.opening = dict(rows(connection, "SELECT id, amount FROM account"))
        run("DELETE FROM journal", on=connection)
        self.acknowledged = {}


class Open(Part):
    ROWS = 300
    schema = [
        "CREATE TABLE rooms (id INT PRIMARY KEY, stamp INT NOT NULL, pad LONGTEXT NOT NULL, KEY stamp (stamp))",
        "INSERT INTO rooms VALUES " + ", ".join(map("({}, 0, '')".format, range(0, 2 * ROWS, 2))),
    ]

    def __init__(self):
        self.stamps = itertools.count(1)
        # Stamp and length of every row.
        self.there = (0, 0)
        self.in_doubt = None

    def act(self, connection, chance):
        run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", on=connection)
        stamp, length = next(self.stamps), chance.choice([10, 700, 2900, 2900, 9000])
        update = "UPDATE rooms SET stamp = {}, pad = REPEAT('r', {}) WHERE id % 2 = 0"
        run(update.format(stamp, length), "SAVEPOINT whole", on=connection)
        for _ in range(chance.randrange(3)):
            run(update.format(-1, chance.choice([10, 2900, 9000])) + f" AND id > {chance.randrange(2 * self.ROWS)}", on=connection)
            if chance.random() < 0.3:
                run("DELETE FROM rooms WHERE id % 2 = 0 AND id > 100", on=connection)
            run("ROLLBACK TO whole", on=connection)
        if chance.random() < 0.4:
            connection.rollback()
            return
        self.in_doubt = (stamp, length)
        connection.commit()
        self.there, self.in_doubt = self.in_doubt, None

    def verify(self, connection):
        said = "SELECT COUNT(*), MIN(stamp), MAX(stamp), MIN(LENGTH(pad)), MAX(LENGTH(pad)) FROM rooms WHERE id % 2 = 0"
        count, *found = rows(connection, said)[0]
        allowed = [wanted for wanted in (self.there, self.in_doubt) if wanted]
        assert count == self.ROWS, f"{count} rows of {self.ROWS}"
        assert found in [[stamp, stamp, length, length] for stamp, length in allowed], f"{found} in place of {allowed}"
        assert value(connection, "SELECT COUNT(*) FROM rooms WHERE pad <> REPEAT('r', LENGTH(pad)) AND id % 2 = 0") == 0
        assert value(connection, f"SELECT COUNT(*) FROM rooms FORCE INDEX (stamp) WHERE stamp = {found[0]}") == self.ROWS
        self.there, self.in_doubt = (found[0], found[2]), None


class Wedges(Part):
    """The odd rows of the table of `Open`. Their stamp is -2."""

    def __init__(self):
        # Lengths by id.
        self.there = {}
        self.in_doubt = {}

    def act(self, connection, chance):
        number = 2 * chance.randrange(Open.ROWS) + 1
        if number in self.in_doubt:
            return
        run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", on=connection)
        length = None if number in self.there else chance.choice([50, 2900])
        statement = f"DELETE FROM rooms WHERE id = {number}" if length is None else (
            f"INSERT INTO rooms VALUES ({number}, -2, REPEAT('w', {length}))")
        self.in_doubt[number] = length
        try:
            run(statement, on=connection)
        except pymysql.MySQLError as error:
            if error.args[0] not in GONE:
                # The server has said that nothing was done.
                del self.in_doubt[number]
            raise
        self.in_doubt.pop(number)
        if length is None:
            del self.there[number]
        else:
            self.there[number] = length

    def verify(self, connection):
        found = dict(rows(connection, "SELECT id, LENGTH(pad) FROM rooms WHERE id % 2 = 1"))
        for number in {*found, *self.there, *self.in_doubt}:
            allowed = [self.there.get(number), *([self.in_doubt[number]] if number in self.in_doubt else [])]
            assert found.get(number) in allowed, f"row {number}: {found.get(number)} in place of {allowed}"
        by_index = "SELECT COUNT(*) FROM rooms FORCE INDEX (stamp) WHERE stamp = -2"
        assert value(connection, by_index) == len(found), "index rooms.stamp and the rows disagree"
        self.there, self.in_doubt = found, {}


Table = collections.namedtuple("Table", "rows columns indexed")


class Definitions(Part):
    TABLES = 4

    def __init__(self):
        self.numbers = itertools.count(1)
        self.there = {}
        self.in_doubt = None

    def act(self, connection, chance):
        statement, after = self.choose(chance)
        self.in_doubt = after
        try:
            run(statement, on=connection)
        except pymysql.MySQLError as error:
            if error.args[0] not in GONE:
                self.in_doubt = None
            raise
        self.there, self.in_doubt = after, None

    def choose(self, chance):
        """A statement, and all tables after it."""
        there, number = self.there, next(self.numbers)
        if not there or len(there) < self.TABLES and chance.random() < 0.4:
            create = f"CREATE TABLE made{number} (id INT PRIMARY KEY, n INT, pad VARCHAR(2000))"
            if chance.random() < 0.5:
                return create, {**there, f"made{number}": Table(0, 3, False)}
            return f"{create} SELECT id, id % 7 n, pad FROM rooms WHERE FALSE", {**there, f"made{number}": Table(0, 3, False)}
        name = chance.choice(sorted(there))
        table = there[name]
        others = {other: there[other] for other in there if other != name}
        match chance.randrange(8):
            case 0 | 1 | 2:
                count = chance.choice([1, 50, 600])
                new = ", ".join(f"({id}, {id % 7}, REPEAT('d', {chance.choice([10, 300, 1500])}))"
                                for id in range(table.rows, table.rows + count))
                return f"INSERT INTO {name} (id, n, pad) VALUES {new}", {**there, name: table._replace(rows=table.rows + count)}
            case 3:
                change = "DROP KEY n" if table.indexed else "ADD KEY n (n, pad(20))"
                return f"ALTER TABLE {name} {change}", {**there, name: table._replace(indexed=not table.indexed)}
            case 4:
                return (f"ALTER TABLE {name} ADD COLUMN c{number} INT DEFAULT 7, ALGORITHM={chance.choice(['INSTANT', 'INPLACE', 'COPY'])}",
                        {**there, name: table._replace(columns=table.columns + 1)})
            case 5:
                return f"RENAME TABLE {name} TO made{number}", {**others, f"made{number}": table}
            case 6:
                return f"TRUNCATE TABLE {name}", {**there, name: table._replace(rows=0)}
            case _:
                return f"DROP TABLE {name}", others

    def verify(self, connection):
        found = {}
        for (name,) in rows(connection, "SHOW TABLES LIKE 'made%'"):
            columns = [column for column, *_ in rows(connection, f"SHOW COLUMNS FROM {name}")]
            indexed = any(index[2] == "n" for index in rows(connection, f"SHOW INDEX FROM {name}"))
            count = value(connection, f"SELECT COUNT(*) FROM {name}")
            whole = f"n = id % 7 AND pad = REPEAT('d', LENGTH(pad)) AND id < {count}"
            whole += "".join(f" AND {column} = 7" for column in columns[3:])
            assert value(connection, f"SELECT COUNT(*) FROM {name} WHERE {whole}") == count, f"rows of {name}"
            if indexed:
                by_index = value(connection, f"SELECT COUNT(*) FROM {name} FORCE INDEX (n) WHERE n >= 0")
                assert by_index == count, f"index {name}.n and the rows disagree"
            found[name] = Table(count, len(columns), indexed)
        allowed = [self.there] + ([] if self.in_doubt is None else [self.in_doubt])
        assert found in allowed, f"{found} in place of {allowed}"
        self.there, self.in_doubt = found, None


class Client(threading.Thread):
    """Acts until the server is gone."""

    def __init__(self, server, part, disk, seed):
        super().__init__(daemon=True)
        self.server, self.part, self.disk = server, part, disk
        self.random = random.Random(seed)
        self.total = 0
        self.problem = None

    def run(self):
        try:
            connection = self.server.connect(database="mixed")
            run("SET SESSION innodb_lock_wait_timeout = 1", on=connection)
            while True:
                self.act(connection)
        except pymysql.MySQLError as error:
            # A connection that is found closed says nothing but 0.
            if error.args[0] not in (0, *GONE):
                self.problem = error
        except OSError:
            pass
        except Exception as error:  # Whatever else it is, the test must hear of it.
            self.problem = error

    def act(self, connection):
        try:
            self.part.act(connection, self.random)
            self.total += 1
        except pymysql.MySQLError as error:
            excused = (LOCK_WAIT_TIMEOUT, DEADLOCK, *(FULL if self.disk and self.disk.is_full() else ()))
            if error.args[0] not in excused:
                raise
            connection.rollback()


class Load:
    def __init__(self, seed, disk=None):
        self.bank = Bank()
        self.parts = [self.bank, Open(), Wedges(), Definitions()]
        self.random = random.Random(seed)
        self.disk = disk

    def prepare(self, server):
        run("CREATE DATABASE mixed", "USE mixed", *(statement for part in self.parts for statement in part.schema), on=server.connect())

    def run_until_killed(self, server, seconds):
        """Everybody acts, for so long; then kill -9."""
        clients = [Client(server, part, self.disk, self.random.random()) for part in self.parts for _ in range(part.clients)]
        for client in clients:
            client.start()
        # The one thing here that must happen at a random moment.
        pause = threading.Event()
        if self.disk and self.random.random() < 0.4:
            pause.wait(seconds * self.random.random())
            self.disk.fill(self.random.randrange(12 << 20))
        pause.wait(seconds)
        server.kill()
        for client in clients:
            client.join(60)
            assert not client.is_alive(), "a client hangs on a dead server"
        for client in clients:
            assert client.problem is None, f"{type(client.part).__name__}: {client.problem!r}"
            client.part.total += client.total

    def summary(self):
        done = ", ".join(f"{type(part).__name__} {part.total}" for part in self.parts)
        return f"{done}{', disk full' if self.disk and self.disk.was_full else ''}"

    def verify(self, server):
        connection = server.connect(database="mixed")
        for part in self.parts:
            part.verify(connection)
        if self.disk:
            self.disk.release()
            self.disk.forget()
        for part in self.parts:
            part.resume(connection, self.random)
        connection.close()
