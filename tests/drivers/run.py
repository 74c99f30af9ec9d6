"""The drivers' and frameworks' own tests, against Clearway and Debian's MariaDB side by side.

    python tests/drivers/run.py [sqlalchemy] [django] [go]               all of them when none is named
        --binary=PATH        the server, target/debug/clearway unless told
        --only=clearway      or mariadb: one of the two

Sources come from PyPI and the Go module proxy, into target/drivers. Each suite's output stays there as NAME-SERVER.txt;
counts go to stdout, as a table for RESULTS.md."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import venv

TOP = pathlib.Path(__file__).resolve().parents[2]
WORK = TOP / "target/drivers"
sys.path.insert(0, str(TOP / "tests/e2e"))

import harness  # noqa: E402

SQLALCHEMY = "2.0.58"
DJANGO = "5.1"
GO_MYSQL = "v1.8.1"
SUITE_SECONDS = 3600


def python():
    """An environment of the suites' own."""
    place = WORK / "venv"
    if not (place / "bin/python").exists():
        venv.create(place, with_pip=True)
        packages = ["pymysql", "pytest", "cryptography", "cython", "setuptools", "wheel", "asgiref", "sqlparse", "tblib"]
        subprocess.run([place / "bin/python", "-m", "pip", "-q", "install", *packages], check=True)
    return place / "bin/python"


def source(package, version):
    """The source package from PyPI, unpacked: wheels leave the tests out."""
    place = WORK / f"{package}-{version}"
    if not place.exists():
        environment = {**os.environ, "DISABLE_SQLALCHEMY_CEXT": "1"}
        subprocess.run([python(), "-m", "pip", "-q", "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation",
                        f"{package}=={version}", "-d", WORK], check=True, env=environment)
        archive = next(p for p in WORK.glob("*.tar.gz") if p.name.lower() == f"{package}-{version}.tar.gz".lower())
        with tarfile.open(archive) as tar:
            tar.extractall(WORK, filter="data")
        unpacked = next(p for p in WORK.iterdir() if p.is_dir() and p.name.lower() == place.name.lower())
        if unpacked != place:
            unpacked.rename(place)
    return place


def prepare(server, *statements):
    connection = server.connect()
    harness.run(*statements, on=connection)
    connection.close()


def run(command, output, cwd, **environment):
    with open(output, "wb") as file:
        subprocess.run([str(word) for word in command], cwd=cwd, stdout=file, stderr=subprocess.STDOUT, timeout=SUITE_SECONDS,
                       env={**os.environ, **environment})
    return output.read_text(errors="replace")


def pytest_counts(text):
    words = dict((name, int(n)) for n, name in re.findall(r"(\d+) (passed|failed|skipped|error)", text.splitlines()[-1]))
    return words.get("passed", 0), words.get("failed", 0) + words.get("error", 0), words.get("skipped", 0)


def sqlalchemy(server, output):
    """The dialect suite and the MySQL dialect's own tests."""
    place = source("sqlalchemy", SQLALCHEMY)
    databases = [s for d in ("test", "test_schema") for s in (f"DROP DATABASE IF EXISTS {d}", f"CREATE DATABASE {d} CHARACTER SET utf8mb4")]
    prepare(server, *databases)
    uri = f"mysql+pymysql://root@{server.host}:{server.port}/test?charset=utf8mb4"
    return pytest_counts(run([python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--dburi", uri, "test/dialect/test_suite.py",
                              "test/dialect/mysql", "-rfE", "--tb=short", "--maxfail=100000"], output, place, PYTHONPATH=str(place / "lib")))


SETTINGS = """
import pymysql
pymysql.install_as_MySQLdb()
DATABASES = {{n: {{"ENGINE": "django.db.backends.mysql", "NAME": "dj_" + n, "USER": "root", "HOST": "{host}", "PORT": "{port}",
  "OPTIONS": {{"ssl_disabled": True}}, "TEST": {{"CHARSET": "utf8mb4"}}}} for n in ("default", "other")}}
SECRET_KEY = "x"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
"""
DJANGO_LABELS = ["backends", "introspection", "transactions", "transaction_hooks", "select_for_update", "schema", "inspectdb", "bulk_create",
                 "aggregation", "expressions", "lookup", "queries", "constraints", "datatypes", "db_functions"]


def django(server, output):
    """Tests of the backend and of what stands next to it."""
    place = source("Django", DJANGO)
    settings = f"settings_{server.kind}"
    (WORK / f"{settings}.py").write_text(SETTINGS.format(host=server.host, port=server.port))
    text = run([python(), "runtests.py", f"--settings={settings}", "--parallel=1", "--noinput", *DJANGO_LABELS], output,
               place / "tests", PYTHONPATH=f"{WORK}:{place}")
    ran = int(re.search(r"Ran (\d+) tests", text)[1])
    last = re.search(r"^(?:OK|FAILED).*$", text, re.M)[0]
    words = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", last)}
    bad = sum(words.get(name, 0) for name in ("failures", "errors", "successes"))
    return ran - bad - words.get("skipped", 0), bad, words.get("skipped", 0)


def go(server, output):
    """go-sql-driver/mysql's tests."""
    place = WORK / f"go-mysql-{GO_MYSQL}"
    if not place.exists():
        module = f"github.com/go-sql-driver/mysql@{GO_MYSQL}"
        cache = WORK / "gomod"
        subprocess.run(["go", "mod", "download", module], check=True, cwd=TOP / "tests/e2e/go", env={**os.environ, "GOMODCACHE": str(cache)})
        shutil.copytree(cache / module, place)
        subprocess.run(["chmod", "-R", "u+w", str(place)], check=True)
    prepare(server, "DROP DATABASE IF EXISTS gotest", "CREATE DATABASE gotest")
    text = run(["go", "test", "-p", "1", "-v", "-count=1", "-timeout", "600s", "."], output, place, MYSQL_TEST_PROT="tcp",
               MYSQL_TEST_ADDR=f"{server.host}:{server.port}", MYSQL_TEST_USER="root", MYSQL_TEST_PASS="", MYSQL_TEST_DBNAME="gotest")
    return tuple(len(re.findall(rf"^ *--- {word}", text, re.M)) for word in ("PASS", "FAIL", "SKIP"))


SUITES = {"sqlalchemy": sqlalchemy, "django": django, "go": go}


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    options = dict(w[2:].split("=", 1) for w in sys.argv[1:] if w.startswith("--"))
    unknown = [w for w in words if w not in SUITES] + [w for w in options if w not in ("binary", "only")]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}\n\n{__doc__}")
    if "binary" in options:
        harness.BINARY = pathlib.Path(options["binary"]).resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    print("| suite | server | passed | failed | skipped |\n| --- | --- | --- | --- | --- |")
    for name in words or SUITES:
        for kind in ("clearway", "mariadb"):
            if options.get("only", kind) != kind:
                continue
            server = harness.Server(kind)
            try:
                server.start()
                passed, failed, skipped = SUITES[name](server, WORK / f"{name}-{kind}.txt")
            finally:
                server.remove()
            print(f"| {name} | {kind} | {passed} | {failed} | {skipped} |", flush=True)


if __name__ == "__main__":
    main()
