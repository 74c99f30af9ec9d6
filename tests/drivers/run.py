"""The drivers' and frameworks' own tests, against Clearway and Debian's MariaDB side by side.

    python tests/drivers/run.py [sqlalchemy] [django] [go] [connectorj]     all of these when none is named
                                [mysql2] [mysqlclient] [connectorpython] [connectorc] [mariadbj]     with a checkout each
        --binary=PATH        the server, target/debug/clearway unless told
        --only=clearway      or mariadb: one of the two; the other's last results are read again
        --address=HOST:PORT  a third server that runs already, such as MySQL
        --NAME=PATH          a checkout of that suite's repository: its packages have no tests

Sources come from PyPI, the Go module proxy, npm and Maven Central, into target/drivers. Each suite's output stays there as
NAME-SERVER.txt and what became of each test as NAME-SERVER.json. The table for RESULTS.md goes to stdout, and below it the
tests that pass on MariaDB and fail on Clearway."""

import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/e2e"))

import harness  # noqa: E402
import suites  # noqa: E402

# What both servers run with; everything else is each one's own default.
EQUAL = ["--character-set-server=utf8mb4", "--local-infile=1", "--secure-file-priv=", "--max-allowed-packet=64M"]
OUTCOMES = ("passed", "failed", "skipped")


def servers(options):
    """Those that are to be run, as (kind, how to make one)."""
    for kind in ("clearway", "mariadb"):
        if options.get("only", kind) == kind:
            yield kind, lambda kind=kind: harness.Server(kind, *EQUAL)
    if "address" in options:
        yield "external", lambda: harness.Running(options["address"])


def run(name, kind, make):
    """One suite on one server; its results also stay in a file."""
    server = make()
    owned = isinstance(server, harness.Server)
    try:
        if owned:
            server.start()
        results = suites.SUITES[name](server, suites.WORK / f"{name}-{kind}.txt")
    finally:
        if owned:
            server.remove()
    assert set(results.values()) <= set(OUTCOMES), set(results.values())
    (suites.WORK / f"{name}-{kind}.json").write_text(json.dumps(results, indent=1, sort_keys=True))
    return results


def earlier(name, kind):
    path = suites.WORK / f"{name}-{kind}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def compare(name, clearway, mariadb):
    """What passes on MariaDB and not on Clearway. Suites skip tests by the server's name and version: those are only counted."""
    passed = [t for t, outcome in mariadb.items() if outcome == "passed"]
    skipped = sum(clearway.get(t, "skipped") == "skipped" for t in passed)
    print(f"\n{name}: {skipped} tests that pass on MariaDB are not for MySQL or were not run")
    for test in sorted(t for t in passed if clearway.get(t) == "failed"):
        print(f"{name}: passes on MariaDB, fails on Clearway: {test}")


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    options = dict(w[2:].split("=", 1) for w in sys.argv[1:] if w.startswith("--"))
    unknown = [w for w in words if w not in suites.SUITES] + [w for w in options if w not in ("binary", "only", "address", *suites.NEED_CHECKOUT)]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}\n\n{__doc__}")
    if "binary" in options:
        harness.BINARY = pathlib.Path(options["binary"]).resolve()
    suites.CHECKOUTS.update((name, pathlib.Path(path).resolve()) for name, path in options.items() if name in suites.NEED_CHECKOUT)
    suites.WORK.mkdir(parents=True, exist_ok=True)
    print("| suite | server | passed | failed | skipped |\n| --- | --- | --- | --- | --- |")
    names = words or [n for n in suites.SUITES if n not in suites.NEED_CHECKOUT or n in options]
    for name in names:
        for kind, make in servers(options):
            results = run(name, kind, make)
            counts = " | ".join(str(list(results.values()).count(outcome)) for outcome in OUTCOMES)
            print(f"| {name} | {kind} | {counts} |", flush=True)
    for name in names:
        compare(name, earlier(name, "clearway"), earlier(name, "mariadb"))


if __name__ == "__main__":
    main()
