"""The suites that `run.py` runs. Each is a function of a server and a file for its output, and gives {test: passed | failed | skipped}."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import venv
import xml.etree.ElementTree

import harness

HERE = pathlib.Path(__file__).resolve().parent
WORK = HERE.parents[1] / "target/drivers"
SQLALCHEMY = "2.0.58"
DJANGO = "5.1"
GO_MYSQL = "v1.8.1"
CONNECTOR_J = "9.4.0"
# Checkouts of those whose packages have no tests, by name of the suite.
NEED_CHECKOUT = ("mysql2", "mysqlclient", "connectorpython", "connectorc", "mariadbj")
CHECKOUTS = {}
# What comes later, and is refused with 1235 until then: left out on every server, so that the counts compare the rest. The tables
# that MatchTest could make none of its own in would stay behind, and fail the reflection of all others.
SQLALCHEMY_LEFT_OUT = {"MatchTest": "FULLTEXT", "test_reflect_fulltext": "FULLTEXT"}
MYSQL2_LEFT_OUT = {f"integration/connection/{name}.test.mts": "GEOMETRY" for name in (
    "test-execute-type-casting", "test-type-casting", "test-type-casting-execute", "test-typecast", "test-typecast-execute",
    "test-typecast-geometry", "test-typecast-geometry-execute")}
MYSQL2_TEST_SECONDS = 40
SUITE_SECONDS = 3600
PACKAGES = ["pymysql", "pytest", "cryptography", "cython", "setuptools", "wheel", "greenlet", "typing_extensions", "asgiref", "sqlparse", "tblib"]


def python():
    """An environment of the suites' own."""
    place = WORK / "venv"
    if not (place / "bin/python").exists():
        venv.create(place, with_pip=True)
        subprocess.run([place / "bin/python", "-m", "pip", "-q", "install", *PACKAGES], check=True)
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


def checkout(name):
    if name not in CHECKOUTS:
        raise SystemExit(f"{name} needs --{name}=PATH, a checkout")
    return CHECKOUTS[name]


def reported(report):
    """The outcomes in a file of JUnit's form."""
    cases = xml.etree.ElementTree.parse(report).iter("testcase")
    return {f"{case.get('classname')}.{case.get('name')}": outcome_of(case) for case in cases}


def prepare(server, *statements):
    connection = server.connect()
    harness.run(*statements, on=connection)
    connection.close()


def empty(server, *databases):
    prepare(server, *[s for d in databases for s in (f"DROP DATABASE IF EXISTS {d}", f"CREATE DATABASE {d} CHARACTER SET utf8mb4")])


def run(command, output, cwd, **environment):
    """Whatever its exit code is: a suite with a failing test ends with 1."""
    with open(output, "wb") as file:
        subprocess.run([str(word) for word in command], cwd=cwd, stdout=file, stderr=subprocess.STDOUT, timeout=SUITE_SECONDS,
                       stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    return output.read_text(errors="replace")


def outcome_of(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def sqlalchemy(server, output):
    """The dialect suite and the MySQL dialect's own tests."""
    place = source("sqlalchemy", SQLALCHEMY)
    empty(server, "test", "test_schema", "test_schema_2")
    uri = f"mysql+pymysql://root@{server.host}:{server.port}/test?charset=utf8mb4"
    report = output.with_suffix(".xml")
    run([python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--dburi", uri, "test/dialect/test_suite.py", "test/dialect/mysql",
         "-k", " and ".join(f"not {name}" for name in SQLALCHEMY_LEFT_OUT), f"--junitxml={report}", "-rfE", "--tb=short", "--maxfail=100000"], output, place, PYTHONPATH=str(place / "lib"))
    results = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        # Classes have the server's name and version at their end.
        name = re.sub(r"_(mysql|mariadb)\+\w+", "", case.get("classname")) + "." + case.get("name")
        if results.get(name) != "failed":
            results[name] = outcome_of(case)
    return results


SETTINGS = """
import pymysql
pymysql.install_as_MySQLdb()
DATABASES = {{n: {{"ENGINE": "django.db.backends.mysql", "NAME": "dj_" + n, "USER": "root", "HOST": "{host}", "PORT": "{port}",
  "OPTIONS": {{"ssl_disabled": True}}, "TEST": {{"CHARSET": "utf8mb4"}}}} for n in ("default", "other")}}
SECRET_KEY = "x"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_results.Runner"
"""
DJANGO_LABELS = [
    "backends", "introspection", "transactions", "transaction_hooks", "select_for_update", "schema", "inspectdb", "bulk_create", "aggregation",
    "aggregation_regress", "annotations", "expressions", "expressions_case", "expressions_window", "lookup", "queries", "constraints",
    "datatypes", "datetimes", "dates", "timezones", "db_functions", "model_fields", "migrations", "indexes", "ordering", "distinct_on_fields",
    "update", "delete", "get_or_create", "custom_columns", "many_to_many", "select_related", "prefetch_related", "db_utils", "test_utils",
    "introspection", "fixtures", "serializers", "raw_query", "reserved_names", "unmanaged_models", "null_queries", "string_lookup",
]


def django(server, output):
    """Tests of the backend, of the schema editor and of everything that makes SQL."""
    place = source("Django", DJANGO)
    # Modules of some tests connect when they are read, before there are databases for tests.
    empty(server, "dj_default", "dj_other")
    settings = f"settings_{server.kind}"
    (WORK / f"{settings}.py").write_text(SETTINGS.format(host=server.host, port=server.port))
    report = output.with_suffix(".raw.json")
    run([python(), "runtests.py", f"--settings={settings}", "--parallel=1", "--noinput", *DJANGO_LABELS], output, place / "tests",
        PYTHONPATH=f"{WORK}:{place}:{HERE}", DJANGO_RESULTS=str(report))
    return json.loads(report.read_text())


def go(server, output):
    """go-sql-driver/mysql's tests."""
    place = WORK / f"go-mysql-{GO_MYSQL}"
    if not place.exists():
        module = f"github.com/go-sql-driver/mysql@{GO_MYSQL}"
        cache = WORK / "gomod"
        subprocess.run(["go", "mod", "download", module], check=True, cwd=HERE.parent / "e2e/go", env={**os.environ, "GOMODCACHE": str(cache)})
        shutil.copytree(cache / module, place)
        subprocess.run(["chmod", "-R", "u+w", str(place)], check=True)
    empty(server, "gotest")
    text = run(["go", "test", "-p", "1", "-v", "-count=1", "-timeout", "600s", "."], output, place, MYSQL_TEST_PROT="tcp",
               MYSQL_TEST_ADDR=f"{server.host}:{server.port}", MYSQL_TEST_USER="root", MYSQL_TEST_PASS="", MYSQL_TEST_DBNAME="gotest")
    names = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
    return {test: names[word] for word, test in re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+)", text, re.M)}


def connectorj(server, output):
    """`ConnectorJ.java` beside this file: metadata, batches, cursors, generated keys."""
    jar = WORK / f"mysql-connector-j-{CONNECTOR_J}.jar"
    if not jar.exists():
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact=com.mysql:mysql-connector-j:{CONNECTOR_J}:jar",
                        f"-DoutputDirectory={WORK}"], check=True, cwd=WORK)
    empty(server, "jtest")
    subprocess.run(["javac", "-nowarn", "-cp", jar, "-d", WORK / "java", HERE / "ConnectorJ.java"], check=True)
    text = run(["java", "-cp", f"{WORK / 'java'}:{jar}", "ConnectorJ", server.host, str(server.port)], output, WORK)
    return {test: word for word, test in re.findall(r"^(passed|failed|skipped): (\S+)", text, re.M)}


def mysql2(server, output):
    """mysql2's tests, from a checkout; what they need comes from npm."""
    place = checkout("mysql2")
    if not (place / "node_modules").exists():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], check=True, cwd=place)
    empty(server, "test")
    environment = {**os.environ, "MYSQL_HOST": server.host, "MYSQL_PORT": str(server.port), "MYSQL_USER": "root", "MYSQL_DATABASE": "test"}

    def one(path):
        # A test that fails may leave its connection open, and then does not end.
        try:
            done = subprocess.run(["node", "--import", "tsx", path], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=MYSQL2_TEST_SECONDS)
            code, said = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as error:
            code, said = "time-out", (error.stdout or b"") + (error.stderr or b"")
        return path, code, said

    def named(folder):
        paths = sorted((place / "test" / folder).rglob("*.test.mts"))
        return [path for path in paths if str(path.relative_to(place / "test")) not in MYSQL2_LEFT_OUT]

    tests = {folder: named(folder) for folder in ("unit", "integration", "global")}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = list(pool.map(one, tests["unit"] + tests["integration"]))
    done += map(one, tests["global"])
    output.write_text("\n".join(f"=== {path}: {code}\n{said.decode(errors='replace')}" for path, code, said in done))
    return {str(path.relative_to(place / "test")): "passed" if code == 0 else "failed" for path, code, _ in done}


def connector_c():
    """The library and its tests, built in the checkout: (folder of the tests, where it is installed)."""
    place = checkout("connectorc")
    build, installed = place / "build-tests", WORK / "connector-c"
    if not (installed / "include").exists():
        build.mkdir(exist_ok=True)
        subprocess.run(["cmake", "..", "-DWITH_UNIT_TESTS=ON", f"-DCMAKE_INSTALL_PREFIX={installed}"], check=True, cwd=build)
        subprocess.run(["make", "install"], check=True, cwd=build)
    return build / "unittest/libmariadb", installed


CONNECTOR_C_TESTS = ["async", "basic-t", "bulk1", "charset", "conc336", "connection", "cursor", "dyncol", "errors", "features-10_2", "fetch",
                     "logs", "misc", "performance", "ps", "ps_bugs", "ps_new", "result", "rpl_api", "sp", "t_conc173", "thread", "view"]


def connectorc(server, output):
    """MariaDB Connector/C's tests, which say their outcomes in TAP."""
    place, _ = connector_c()
    empty(server, "test")
    environment = {**os.environ, "MARIADB_CC_TEST": "1", "MYSQL_TEST_TLS": "0", "MYSQL_TEST_HOST": server.host,
                   "MYSQL_TEST_PORT": str(server.port), "MYSQL_TEST_USER": "root", "MYSQL_TEST_DB": "test"}
    results, said = {}, []
    for program in CONNECTOR_C_TESTS:
        try:
            done = subprocess.run([place / program], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
            text = (done.stdout + done.stderr).decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            text = (error.stdout or b"").decode(errors="replace") + f"\nnot ok 0 - {program} did not end\n"
        said.append(f"=== {program}\n{text}")
        for no, test in re.findall(r"^(not )?ok \d+ ?-? ?(.*)$", text, re.M):
            outcome = "failed" if no else "skipped" if "skip" in test.lower() else "passed"
            results[f"{program}.{test.split('#')[0].strip()}"] = outcome
    output.write_text("\n".join(said))
    return results


def mysqlclient(server, output):
    """mysqlclient's tests, over Connector/C (`--connectorc` too)."""
    place, (_, library) = checkout("mysqlclient"), connector_c()
    flags = {"MYSQLCLIENT_CFLAGS": f"-I{library}/include/mariadb",
             "MYSQLCLIENT_LDFLAGS": f"-L{library}/lib/mariadb -lmariadb -Wl,-rpath,{library}/lib/mariadb"}
    subprocess.run([python(), "-m", "pip", "-q", "install", place], check=True, env={**os.environ, **flags})
    empty(server, "test")
    tests = WORK / "mysqlclient-tests"
    shutil.copytree(place / "tests", tests, dirs_exist_ok=True)
    (tests / f"{server.kind}.cnf").write_text(f"[MySQLdb-tests]\nhost = {server.host}\nport = {server.port}\nuser = root\ndatabase = test\n"
                                              "default-character-set = utf8mb4\nlocal-infile = 1\n")
    report = output.with_suffix(".xml")
    run([python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", ".", f"--junitxml={report}"], output, tests, TESTDB=f"{server.kind}.cnf")
    return reported(report)


def connectorpython(server, output):
    """mysql-connector-python's tests with its package of the checkout's version, so that libmysqlclient is in it."""
    place = checkout("connectorpython") / "mysql-connector-python"
    version = re.search(r"VERSION = \((\d+), (\d+), (\d+)", (place / "lib/mysql/connector/version.py").read_text()).groups()
    subprocess.run([python(), "-m", "pip", "-q", "install", f"mysql-connector-python=={'.'.join(version)}"], check=True)
    empty(server, "myconnpy")
    socket = server.connect()
    path = harness.value(socket, "SELECT @@socket")
    text = run([python(), "unittests.py", "--use-external-server", "--skip-install", "--host", server.host, "--port", server.port, "--user", "root",
                "--unix-socket", path, "--verbosity", "2"], output, place)
    names = {"ok": "passed", "FAIL": "failed", "ERROR": "failed", "skipped": "skipped"}
    results, test = {}, None
    for line in text.splitlines():
        # What a test writes stands between its name and its outcome.
        named = re.match(r"([\w.() ]+) \.\.\. ", line)
        test = named[1] if named else test
        word = re.search(r"(?:^| )(ok|FAIL|ERROR|skipped)(?: .*)?$", line)
        if test and word:
            results[test], test = names[word[1]], None
    return results


def mariadbj(server, output):
    """MariaDB Connector/J's tests."""
    place = checkout("mariadbj")
    if not (place / "target/test-classes").exists():
        subprocess.run(["mvn", "-q", "-B", "-DskipTests", "test-compile"], check=True, cwd=place)
    settings = place / "target/test-classes/conf.properties"
    changed = re.sub(r"^DB_HOST=.*", f"DB_HOST={server.host}", settings.read_text(), flags=re.M)
    settings.write_text(re.sub(r"^DB_PORT=.*", f"DB_PORT={server.port}", changed, flags=re.M))
    shutil.rmtree(place / "target/surefire-reports", ignore_errors=True)
    empty(server, "testj")
    run(["mvn", "-q", "-B", "surefire:test", "-Dmaven.test.failure.ignore=true"], output, place)
    results = {}
    for report in (place / "target/surefire-reports").glob("*.xml"):
        results.update(reported(report))
    return results


SUITES = {"sqlalchemy": sqlalchemy, "django": django, "go": go, "connectorj": connectorj, "mysql2": mysql2,
          "mysqlclient": mysqlclient, "connectorpython": connectorpython, "connectorc": connectorc, "mariadbj": mariadbj}
