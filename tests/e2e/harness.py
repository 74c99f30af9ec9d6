"""Servers for the end-to-end tests: Clearway from $CLEARWAY or else the development build, Debian's MariaDB to check the tests themselves,
or one that runs already. Every instance has its own data directory and port and is ended by its process id."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pymysql

TOP = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("CLEARWAY", TOP / "target/debug/clearway")).absolute()
START_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, seconds, what):
    """Polls an event of another process; fails with `what` when it does not come."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


class Server:
    """One instance. `kind` is clearway or mariadb."""

    def __init__(self, kind, *options, root=None, datadir=None, insecure=True):
        self.kind = kind
        self.options = list(options)
        self.insecure = insecure
        self.owned = root is None
        # A short path: Unix sockets allow 107 bytes.
        self.root = pathlib.Path(root or tempfile.mkdtemp(prefix="cw-", dir="/tmp"))
        self.datadir = pathlib.Path(datadir or self.root / "data")
        self.socket = self.root / "s.sock"
        self.log = self.root / "log"
        self.port = free_port()
        self.host = "127.0.0.1"
        self.password = ""
        self.process = None

    def command(self):
        places = [f"--datadir={self.datadir}", f"--port={self.port}", f"--socket={self.socket}", "--bind-address=127.0.0.1"]
        if self.kind == "mariadb":
            program = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
            return [program, "--no-defaults", "--user=root", "--skip-log-bin", *places, *self.options]
        insecure = ["--initialize-insecure"] if self.insecure else []
        return [str(BINARY), "serve", *places, *insecure, *self.options]

    def start(self, seconds=START_SECONDS):
        if self.kind == "mariadb" and not self.datadir.exists():
            subprocess.run(
                ["mariadb-install-db", "--no-defaults", "--user=root", "--auth-root-authentication-method=normal",
                 "--skip-test-db", f"--datadir={self.datadir}"],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._answers, seconds, "the server does not answer")
        return self

    def _answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.log_tail()}")
        try:
            socket.create_connection((self.host, self.port), timeout=5).close()
            return True
        except OSError:
            return False

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def log_tail(self, lines=20):
        return "\n".join(self.log_text().splitlines()[-lines:])

    def stop(self, seconds=60):
        """SIGTERM; the exit code."""
        if self.process is None:
            return None
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"SIGTERM did not end the server within {seconds} s:\n{self.log_tail()}")
        finally:
            self.process = None

    def freeze(self):
        """SIGSTOP, until all of its threads have stopped: some still run for a while where there are more threads than cores."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """kill -9."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def check(self):
        """`clearway check` on the data of a server that does not run: the exit code and what it says."""
        done = subprocess.run([str(BINARY), "check", str(self.datadir)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def assert_sound(self):
        if self.kind == "clearway":
            code, said = self.check()
            assert code == 0, said

    def remove(self):
        self.kill()
        if self.owned:
            shutil.rmtree(self.root, ignore_errors=True)

    def connect(self, **words):
        # Without ssl_disabled each connection reads the machine's certificates first, some 60 ms.
        options = dict(host=self.host, port=self.port, user="root", password=self.password, autocommit=True,
                       connect_timeout=30, read_timeout=120, ssl_disabled=True)
        return pymysql.connect(**{**options, **words})

    def memory_kib(self, name="VmRSS"):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name + ":"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


class Running:
    """A server that somebody else started: --address=host:port. It can be spoken to, not started or killed."""

    kind = "external"
    process = None
    socket = None

    def __init__(self, address):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)
        self.password = os.environ.get("MYSQL_PWD", "")

    connect = Server.connect


def rows(connection, sql, arguments=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return cursor.fetchall()


def value(connection, sql, arguments=None):
    return rows(connection, sql, arguments)[0][0]


def run(*statements, on):
    """Executes each statement; the number of rows that the last one touched."""
    touched = 0
    with on.cursor() as cursor:
        for statement in statements:
            touched = cursor.execute(statement)
    return touched


def status(connection, name):
    return int(rows(connection, f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])


def code_of(connection, statement):
    """The number of the error that it ends with, 0 for none."""
    try:
        run(statement, on=connection)
        return 0
    except pymysql.err.MySQLError as refused:
        return refused.args[0]
