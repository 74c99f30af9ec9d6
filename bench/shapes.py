"""What bench/shapes.sh runs: each shape of shapes.sql at its sizes on each server, one connection each, servers in turns.

Time is the process's CPU clock before and after, so that a busy machine and the client's own work do not count.
"""

import itertools
import math
import os
import re
import statistics
import subprocess
import sys
import time

ROWS = [int(n) for n in os.environ.get("ROWS", "3000 30000 300000").split()]
SECONDS = float(os.environ.get("SECONDS_EACH", "20"))
END = "--end-of-shape--"


class Server:
    def __init__(self, name, port, pid):
        self.name, self.port, self.done, self.second = name, port, set(), None
        self.counted = int(pid) > 0
        # The kernel's number of another process's CPU clock.
        self.clock = (~int(pid) << 3) | 2
        self.client = subprocess.Popen(
            ["mariadb", "--no-defaults", "--skip-ssl", "-N", "--unbuffered", "--force", "-h127.0.0.1", f"-P{port}", "-uroot"]
            + ["--max-allowed-packet=1G", "--local-infile=1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def beside(self, statements):
        if statements and not self.second:
            self.second = Server(self.name, self.port, 0)
        return self.second.run(statements)[1] if statements else None

    def once(self, statements):
        new = [s for s in statements if s not in self.done]
        self.done.update(new)
        return self.run(new)[1] if new else None

    def run(self, statements):
        """CPU milliseconds of the server, and the error if there was one."""
        text = "".join(f"{s};\n" for s in statements) + f"SELECT '{END}';\n"
        before = time.clock_gettime(self.clock) if self.counted else 0
        self.client.stdin.write(text)
        self.client.stdin.flush()
        error = None
        for line in self.client.stdout:
            if line.startswith(END):
                break
            if line.startswith("ERROR"):
                error = error or line.strip()
        return (time.clock_gettime(self.clock) - before) * 1000 if self.counted else 0, error


class Shape:
    def __init__(self, head):
        self.name, self.sizes, self.on, self.statement = head, ROWS, None, ""
        self.before, self.after, self.beside, self.once = [], [], [], []

    def add(self, line):
        word, _, rest = line.partition(" ")
        if word == "sizes":
            self.sizes = [int(n) for n in rest.split()]
        elif word == "on":
            self.on = rest.split()
        elif word in ("before", "after", "beside", "once"):
            getattr(self, word).append(rest.rstrip(";"))
        else:
            self.statement += (" " if self.statement else "") + line.strip().rstrip(";")


def expand(text, n):
    """{n} is the size, {tenth} a tenth of it; {list SEPARATOR|TEXT} is TEXT n times: $i counts from 1, $p is one less, $r is scattered over the table;
    {pairs SEPARATOR|TEXT} is TEXT for each $p < $i up to n."""

    def repeated(found):
        kind, separator, body = found.group(1), found.group(2), found.group(3)
        if kind == "list":
            each = [(i - 1, i) for i in range(1, n + 1)]
        else:
            each = [(p, i) for i in range(2, n + 1) for p in range(1, i)]
        return f" {separator}".join(
            body.replace("$r", str(i * 7919 % 1000003)).replace("$p", str(p)).replace("$i", str(i)) for p, i in each
        )

    text = re.sub(r"\{(list|pairs) ([^|]*)\|([^}]*)\}", repeated, text)
    return text.replace("{n}", str(n)).replace("{tenth}", str(n // 10))


def shapes(path):
    found = []
    for line in open(path):
        if line.startswith("# "):
            found.append(Shape(line[2:].strip()))
        elif line.strip() and not line.startswith("--"):
            found[-1].add(line.strip())
    return found


def growth(times):
    """The exponent from the middle size to the largest."""
    (a, x), (b, y) = times[-2:]
    return math.log(max(y, 0.01) / max(x, 0.01)) / math.log(b / a)


def measure(server, shape, n, repetitions, files):
    """Milliseconds, or what went wrong."""
    full = lambda text: expand(text, n).replace("{files}", files).replace("{server}", server.name)
    seen = []
    for _ in range(repetitions):
        error = server.once([full(s) for s in shape.once])
        error = error or server.run([full(s) for s in shape.before])[1]
        error = error or server.beside([full(s) for s in shape.beside])
        if error:
            return f"before: {error}"
        ms, error = server.run([full(shape.statement)])
        if error:
            return error
        seen.append(ms)
        server.run([full(s) for s in shape.after])
        for left in os.listdir(files):
            os.remove(os.path.join(files, left))
        if ms > SECONDS * 250:
            break
    return statistics.median(seen)


def measure_together(servers, group, repetitions, files):
    """By shape and server [(size, ms)], as far as the statement ends in time. What shapes share is as large for all of them."""
    times = {(shape.name, s.name): [] for shape in group for s in servers if not shape.on or s.name in shape.on}
    for at in range(3):
        for shape in group:
            for server in servers:
                seen = times.get((shape.name, server.name))
                if seen is None or len(seen) < at or seen and seen[-1][1] > SECONDS * 1000:
                    continue
                ms = measure(server, shape, shape.sizes[at], repetitions, files)
                if isinstance(ms, str):
                    print(f"{shape.name}: {server.name}: {ms}", file=sys.stderr)
                    continue
                seen.append((shape.sizes[at], ms))
    return times


def row(shape, servers, times):
    good = {s.name: times[shape.name, s.name] for s in servers if times.get((shape.name, s.name))}
    size = min((t[-1][0] for t in good.values()), default=0)
    at = {name: dict(t).get(size, 0) for name, t in good.items()}
    peers = [ms for name, ms in at.items() if name != servers[0].name]
    ratio = f"{at[servers[0].name] / min(peers):.2f}" if peers and servers[0].name in at else ""
    cells = [f"{at[s.name]:.1f}" if s.name in at else "" for s in servers]
    steep = [f"{growth(good[s.name]):.2f}" if len(good.get(s.name, [])) > 1 else "" for s in servers]
    return f"{shape.name} | {size} | " + " | ".join(cells) + f" | {ratio} | " + ", ".join(steep)


def prepare(server, tables):
    for n in ROWS:
        _, error = server.run([expand(s, n) for s in tables.before])
        if error:
            sys.exit(f"{server.name}: tables of {n} rows: {error}")


def main():
    path, files, pattern, repetitions, *targets = sys.argv[1:]
    servers = []
    for target in targets:
        name, where = target.split("=")
        servers.append(Server(name, *where.split(",")))
    all_shapes = shapes(path)
    for server in servers:
        prepare(server, all_shapes[0])
    print("shape | size | " + " | ".join(s.name for s in servers) + " | ratio | growth: " + ", ".join(s.name for s in servers))
    wanted = [shape for shape in all_shapes[1:] if re.search(pattern, shape.name)]
    for _, group in itertools.groupby(wanted, lambda shape: shape.once or shape.name):
        group = list(group)
        times = measure_together(servers, group, int(repetitions), files)
        for shape in group:
            print(row(shape, servers, times), flush=True)


if __name__ == "__main__":
    main()
