"""What packages are made of: the entrypoint of the image, man page and completions, and what a service manager sees."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import pymysql
import pytest
from harness import BINARY, code_of, free_port, rows, value, wait_until

TOP = pathlib.Path(__file__).parents[2]
ENTRYPOINT = TOP / "packaging" / "docker-entrypoint.sh"

pytestmark = pytest.mark.usefixtures("clearway_only")


class Container:
    """The entrypoint with the image's environment, on this machine: its folders and option file are elsewhere."""

    def __init__(self, root):
        self.root, self.port = root, free_port()
        self.data, self.scripts, self.process = root / "data", root / "scripts", None
        self.scripts.mkdir()
        (root / "bin").mkdir()
        (root / "bin" / "clearway").symlink_to(BINARY)
        # Nobody is another user here, so that nothing has to be handed over to him.
        (root / "bin" / "id").write_text("#!/bin/sh\necho 999\n")
        (root / "bin" / "id").chmod(0o755)
        (root / "my.cnf").write_text(f"[mysqld]\ndatadir = {self.data}\nsocket = {root}/s.sock\nport = {self.port}\n"
                                     f"pid-file = {root}/pid\nbind-address = 127.0.0.1\n")

    def start(self, *words, **environment):
        names = {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "option_file": str(self.root / "my.cnf"),
                 "scripts": str(self.scripts), "TMPDIR": str(self.root), "LANG": "C.UTF-8"}
        with open(self.root / "log", "ab") as log:
            self.process = subprocess.Popen([ENTRYPOINT, *words], env=names | environment, stdout=log, stderr=log)
        return self

    def said(self):
        return (self.root / "log").read_text()

    def ready(self):
        """Answers once the data are made and the server that serves is there, or not at all."""
        wait_until(lambda: self.process.poll() is not None or self.answers(), 120, "the server of the entrypoint")
        assert self.process.poll() is None, self.said()
        return self

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def connect(self, user="root", password="", **words):
        return pymysql.connect(host="127.0.0.1", port=self.port, user=user, password=password, **words)

    def ends(self):
        """With an error: what it has said."""
        assert self.process.wait(60) == 1
        return self.said()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(60) == 0


@pytest.fixture
def container(tmp_path):
    container = Container(tmp_path)
    yield container
    if container.process and container.process.poll() is None:
        container.process.kill()
        container.process.wait()


def test_the_first_start_makes_what_the_environment_says(container):
    secret = "it's \\ secret"
    (container.root / "password").write_text("user's\n")
    (container.scripts / "1-tables.sql").write_text("CREATE TABLE seen (a INT); INSERT INTO seen VALUES (1);\n"
                                                     "DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 7; END//\n")
    subprocess.run(["gzip"], input=b"INSERT INTO seen VALUES (2);", stdout=open(container.scripts / "2.sql.gz", "wb"), check=True)
    (container.scripts / "3.sh").write_text('echo "INSERT INTO shop_1.seen VALUES (3)" | docker_process_sql\n')
    (container.scripts / "4-runs.sh").write_text(f"#!/bin/sh\nmariadb --skip-ssl -S {container.root}/s.sock -uroot "
                                                 '-p"$MYSQL_ROOT_PASSWORD" -e "INSERT INTO shop_1.seen VALUES (4)"\n')
    (container.scripts / "4-runs.sh").chmod(0o755)
    (container.scripts / "notes.txt").write_text("of no use")
    words = {"MYSQL_ROOT_PASSWORD": secret, "MYSQL_DATABASE": "shop_1", "MYSQL_USER": "ada",
             "MYSQL_PASSWORD_FILE": str(container.root / "password")}
    container.start("--max-connections=77", **words).ready()
    root = container.connect(password=secret)
    assert rows(root, "SELECT a FROM shop_1.seen ORDER BY a") == ((1,), (2,), (3,), (4,))
    assert value(root, "SELECT @@max_connections") == 77
    assert rows(root, "SELECT user, host FROM mysql.user WHERE user IN ('root', 'ada') ORDER BY 1, 2") == (
        ("ada", "%"), ("root", "%"), ("root", "localhost"))
    assert f"ignoring {container.scripts}/notes.txt" in container.said()
    ada = container.connect("ada", "user's", database="shop_1")
    assert value(ada, "SELECT COUNT(*) FROM seen") == 4
    root.cursor().execute("CREATE DATABASE shop11")
    assert code_of(ada, "USE shop11") == 1044
    container.end()
    # The second start makes nothing.
    container.start("mysqld", **words).ready()
    assert value(container.connect(password=secret), "SELECT COUNT(*) FROM shop_1.seen") == 4
    container.end()


def test_a_password_is_needed_and_not_said_twice(container):
    assert "set MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD or MYSQL_RANDOM_ROOT_PASSWORD" in container.start().ends()
    assert not container.data.exists()
    assert "MYSQL_USER is root" in container.start(MYSQL_ROOT_PASSWORD="x", MYSQL_USER="root").ends()
    twice = container.start(MYSQL_ROOT_PASSWORD="x", MYSQL_ROOT_PASSWORD_FILE="/dev/null")
    assert "both MYSQL_ROOT_PASSWORD and MYSQL_ROOT_PASSWORD_FILE are set" in twice.ends()
    assert not container.data.exists()


def test_a_made_password_that_has_to_be_changed(container):
    container.start(MYSQL_RANDOM_ROOT_PASSWORD="yes", MYSQL_ONETIME_PASSWORD="yes", MYSQL_ROOT_HOST="127.0.0.1").ready()
    password = re.search(r"GENERATED ROOT PASSWORD: (\S+)", container.said())[1]
    client = ["mariadb", "--skip-ssl", "-h127.0.0.1", f"-P{container.port}", "-uroot", f"-p{password}", "--connect-expired-password"]
    refused = subprocess.run([*client, "-e", "SELECT 1"], capture_output=True, text=True)
    assert "ERROR 1820" in refused.stderr
    subprocess.run([*client, "-e", "ALTER USER USER() IDENTIFIED BY 'new'"], check=True)
    assert value(container.connect(password="new"), "SELECT CURRENT_USER()") == "root@127.0.0.1"
    container.end()


def command_lines():
    """Of all processes but those that end meanwhile."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield path.read_bytes()


def test_a_first_start_that_breaks_off_is_not_gone_on_with(container, tmp_path):
    (container.scripts / "1.sql").write_text("SELECT * FROM nowhere.nothing;\n")
    container.start(MYSQL_ALLOW_EMPTY_PASSWORD="yes")
    assert container.process.wait(60) == 1
    assert not [words for words in command_lines() if b"serve" in words and bytes(tmp_path) in words]
    assert "an earlier first start has not come to its end" in container.start(MYSQL_ALLOW_EMPTY_PASSWORD="yes").ends()


def test_other_commands_are_run_as_they_are(container):
    assert container.start("echo", "words").process.wait(20) == 0
    assert container.said() == "words\n"
    assert container.start("--version").process.wait(20) == 1
    assert container.start("clearway", "--version").process.wait(20) == 0
    assert not container.data.exists()


def test_the_service_manager_is_told(start, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        server = start()
        monkeypatch.delenv("NOTIFY_SOCKET")
        said = [manager.recv(4096).decode()]
        while not said[-1].startswith("READY=1"):
            assert said[-1].startswith("STATUS=")
            said.append(manager.recv(4096).decode())
        server.stop()
        assert manager.recv(4096).decode().startswith("STOPPING=1")


def test_a_hangup_opens_the_logs_anew(start, tmp_path):
    slow = tmp_path / "slow.log"
    server = start("--slow-query-log", f"--slow-query-log-file={slow}", "--long-query-time=0")
    slow.rename(tmp_path / "slow.log.1")
    server.process.send_signal(signal.SIGHUP)
    # It is made with its first entry.
    client = server.connect()
    wait_until(lambda: value(client, "SELECT 1") and slow.exists(), 20, "the new log")
    assert value(client, "SELECT 'in the new one'") == "in the new one"
    wait_until(lambda: "in the new one" in slow.read_text(), 20, "the entry")


def manual(page):
    return subprocess.run([BINARY, "manual", page], capture_output=True, text=True, check=True).stdout


def test_pages_are_made_of_what_the_commands_say():
    helps = {name: subprocess.run([BINARY, name, "--help"], capture_output=True, text=True, check=True).stdout
             for name in ("serve", "check", "dump", "backup", "restore", "sweep", "manual")}
    options = {option for text in helps.values() for option in re.findall(r"^  --([a-z][a-z-]+)", text, re.M)}
    assert {"datadir", "until-gtid", "compress", "warmup"} <= options
    for page in ("man", "bash", "zsh", "fish"):
        text = manual(page).replace("\\-", "-")
        assert not {option for option in options if option not in text}, page
        assert not {name for name in helps if name not in text}, page
    assert subprocess.run([BINARY, "manual", "csh"], capture_output=True).returncode == 1


@pytest.mark.parametrize("page, check", [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])])
def test_shells_can_read_their_pages(page, check, tmp_path):
    if not shutil.which(check[0]):
        pytest.skip(f"there is no {check[0]}")
    (tmp_path / "page").write_text(manual(page))
    subprocess.run([*check, tmp_path / "page"], check=True)


def completions(*words):
    script = ("source <($1 manual bash); compopt() { :; }; shift; COMP_WORDS=($@); COMP_CWORD=$(($# - 1)); _clearway; "
              'printf "%s\\n" "${COMPREPLY[@]}"')
    return subprocess.run(["bash", "-c", script, "bash", BINARY, *words], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_and_options():
    assert completions("clearway", "re") == ["restore"]
    assert completions("clearway", "serve", "--innodb-buffer-pool-si") == ["--innodb-buffer-pool-size="]
    assert completions("clearway", "restore", "--until-t") == ["--until-time="]


def test_the_man_page_has_no_errors_of_its_language(tmp_path):
    if not shutil.which("man"):
        pytest.skip("there is no man")
    (tmp_path / "clearway.1").write_text(manual("man"))
    shown = subprocess.run(["man", "--warnings", "-l", tmp_path / "clearway.1"], capture_output=True, text=True, check=True)
    assert shown.stderr == "" and "innodb-buffer-pool-size" in shown.stdout


@pytest.mark.parametrize("name", ["clearway.cnf", "docker.cnf"])
def test_the_option_files_of_packages_have_no_mistakes(name, tmp_path):
    text = (TOP / "packaging" / name).read_text()
    (tmp_path / name).write_text(re.sub(r"^!includedir .*", f"!includedir {tmp_path}/conf.d", text, flags=re.M))
    (tmp_path / "conf.d").mkdir()
    done = subprocess.run([BINARY, "serve", f"--defaults-file={tmp_path / name}", "--validate-config"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
