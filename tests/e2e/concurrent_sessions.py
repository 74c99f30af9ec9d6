"""Sessions that run statements side by side, for tests of what they see of each other. That a statement is blocked is observed
through the server's own count of row lock waits, never by waiting a while."""

import concurrent.futures
import contextlib

import pymysql
from harness import rows, run, status, wait_until

LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]
DEADLOCK = 1213
ANSWER_SECONDS = 30


class Pending:
    """A statement under way."""

    def __init__(self, future):
        self.future = future

    def result(self):
        return self.future.result(ANSWER_SECONDS)

    def error(self):
        """MySQL's error number, or None."""
        error = self.future.exception(ANSWER_SECONDS)
        assert error is None or isinstance(error, pymysql.MySQLError), error
        return error and error.args[0]


class Session:
    """One connection with a transaction open. Calling it runs a statement: the rows of a SELECT in order, or the number of
    rows that were touched."""

    def __init__(self, server, database, level):
        self.connection = server.connect(database=database)
        self.observer = server.connect()
        self.worker = concurrent.futures.ThreadPoolExecutor(1)
        # For a server that misses a deadlock: fail soon.
        run("SET SESSION innodb_lock_wait_timeout = 20", f"SET SESSION TRANSACTION ISOLATION LEVEL {level}", "BEGIN", on=self.connection)

    def __call__(self, sql):
        return self.start(sql).result()

    def start(self, sql):
        return Pending(self.worker.submit(self.execute, sql))

    def execute(self, sql):
        if sql.upper().startswith("SELECT"):
            return sorted(rows(self.connection, sql))
        return run(sql, on=self.connection)

    def blocked(self, sql):
        """Starts a statement and returns when it waits for a row lock."""
        before = status(self.observer, "Innodb_row_lock_waits")
        pending = self.start(sql)

        def waits():
            assert not pending.future.done(), f"was not blocked: {sql}: {pending.future}"
            return status(self.observer, "Innodb_row_lock_waits") > before

        wait_until(waits, ANSWER_SECONDS, f"no row lock wait: {sql}")
        return pending

    def commit(self):
        self("COMMIT")

    def rollback(self):
        self("ROLLBACK")


@contextlib.contextmanager
def sessions(server, database, level, count):
    opened = [Session(server, database, level) for _ in range(count)]
    try:
        yield opened
    finally:
        # A session that is still blocked ends when the one that blocks it closes.
        for session in opened:
            session.worker.shutdown(wait=False, cancel_futures=True)
            with contextlib.suppress(OSError):
                session.connection._sock.shutdown(2)
        for session in opened:
            session.worker.shutdown(wait=True)
            session.observer.close()
            with contextlib.suppress(pymysql.MySQLError):
                session.connection.close()


def one_victim(*pending):
    """Exactly one of the statements ends in a deadlock error, the others succeed; which one, is the server's choice."""
    errors = [statement.error() for statement in pending]
    assert sorted(errors, key=bool) == [None] * (len(pending) - 1) + [DEADLOCK], errors
    return errors.index(DEADLOCK)
