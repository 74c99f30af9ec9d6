"""Judges recorded histories of concurrent transactions: which anomalies happened, and were they allowed at their level?

After Adya's thesis (1999) and Elle (Kingsbury and Alvaro, VLDB 2020). Two workloads make every version recognisable:

    list-append   a row holds a list; a write appends a value that nobody else appends; a read shows the whole past
    register      a row holds a value and the one before it; a writer reads back what it replaced; a read shows one value

so the order of all versions of a key is known, not guessed: the list as it is at the end, or the chain of predecessors.

    T1 -ww-> T2   T2 wrote the version after one of T1's
    T1 -wr-> T2   T2 read a version of T1
    T1 -rw-> T2   T1 read the version before one of T2's

Cycles in this graph, found by Tarjan's algorithm, are anomalies: of ww alone G0; of ww and wr G1c; with one rw G-single; with more
G2-item. Reading what was rolled back is G1a, reading what its writer overwrote G1b.

What MySQL forbids, by level (FORBIDDEN below), is less than what Adya's levels of these names forbid: at REPEATABLE READ plain reads see
the transaction's snapshot, but writes and locking reads see the newest committed rows. "Lost update" therefore is allowed: T1 reads
x in its snapshot, T2 changes x, T1 changes x again, which is a G-single. Found so on MySQL 9.7 as well. What remains forbidden
there is said by a second graph, whose nodes are points in time, each transaction's commit C and the snapshots S of its
plain reads (one at REPEATABLE READ, one a statement at READ COMMITTED):

    T2 wrote after T1, or read or locked a row of T1's by a locking read      C1 < C2
    T2's plain read saw a version of T1                                       C1 < S2
    T1's plain read saw the version before one of T2's                        S1 < C2
    T1's locking read saw the version before one of T2's                      C1 < C2   (T1 kept the lock)
    S1 < C1, and whatever the clients' clock says: the answer to a COMMIT came before a statement was sent, ...

A cycle among these is the anomaly "order": no order of commits and snapshots explains what the clients saw. It is forbidden at every
level, and includes stale reads. Data that is lost, torn or invented is forbidden anywhere.
"""

import collections
import dataclasses
import itertools

RU, RC, RR, SER = LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]
COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"

ALWAYS = {"lost write", "torn transaction", "aborted write", "garbage", "duplicate", "incompatible order", "internal", "order", "G0"}
FORBIDDEN = {
    RU: ALWAYS,
    RC: ALWAYS | {"G1a", "G1b", "G1c"},
    RR: ALWAYS | {"G1a", "G1b", "G1c"},
    SER: ALWAYS | {"G1a", "G1b", "G1c", "G-single", "G2-item"},
}


@dataclasses.dataclass
class Op:
    """One statement's look at one key, or one write. Times are nanoseconds of one clock."""

    # read, write, or attempt: a read whose result says nothing, but which may have taken the snapshot
    kind: str
    key: int
    # What was read, a tuple of values (list), a value or None (register); what was written.
    value: object = None
    # Register: the value that this write replaced.
    previous: object = None
    locking: bool = False
    # A read that found no row.
    missing: bool = False
    # Ops of one statement share it.
    statement: int = 0
    start: int = None
    end: int = None

    def __str__(self):
        lock = " locking" if self.locking else ""
        return f"{self.kind}{lock} {self.key} {'= ' if self.kind == 'read' else ''}{self.value}"


@dataclasses.dataclass
class Transaction:
    id: int
    ops: list
    outcome: str
    # When COMMIT was sent, and when its answer came; None: there was none.
    commit_start: int = None
    commit_end: int = None
    # One statement without BEGIN: a plain read takes no locks at any level.
    autocommit: bool = False

    def __str__(self):
        return f"T{self.id} ({self.outcome}): " + "; ".join(map(str, self.ops))

    def __hash__(self):
        return self.id

    def __eq__(self, other):
        return self is other


@dataclasses.dataclass
class Anomaly:
    name: str
    text: str

    def __str__(self):
        return f"{self.name}: {self.text}"


def forbidden(anomalies, level):
    return [anomaly for anomaly in anomalies if anomaly.name in FORBIDDEN[level]]


class Checker:
    """`final`: key -> tuple of values (list) or value (register), read when all was quiet."""

    def __init__(self, transactions, final, level, registers=False):
        self.transactions, self.level, self.registers = transactions, level, registers
        self.anomalies = []
        self.writer = {}
        self.previous = {}
        for transaction in transactions:
            for op in transaction.ops:
                if op.kind == "write":
                    if (op.key, op.value) in self.writer:
                        raise ValueError(f"value {op.value} of key {op.key} is written twice by the workload")
                    self.writer[op.key, op.value] = transaction
                    self.previous[op.key, op.value] = op.previous
        # key -> values, oldest first. The version before the first one is number 0.
        self.order = {key: self.chain(key, value) if registers else list(value) for key, value in final.items()}
        self.number = {(key, value): at + 1 for key, values in self.order.items() for at, value in enumerate(values)}

    def say(self, name, text):
        self.anomalies.append(Anomaly(name, text))

    def chain(self, key, value):
        """A register's versions, from the last one back."""
        values = []
        while value is not None:
            if (key, value) not in self.previous or value in values:
                break
            values.append(value)
            value = self.previous[key, value]
        if value is not None:
            self.say("garbage", f"key {key}: {value} was never written, or replaced itself")
        return values[::-1]

    def check(self):
        self.fates()
        self.committed = [t for t in self.transactions if t.outcome == COMMITTED]
        self.edges = collections.defaultdict(dict)
        self.points = collections.defaultdict(dict)
        for key, values in self.order.items():
            for one, other in itertools.pairwise(values):
                self.edge("ww", self.writer.get((key, one)), self.writer.get((key, other)), key)
        for transaction in self.committed:
            self.reads(transaction)
        self.clock()
        self.cycles()
        self.point_cycles()
        return self.anomalies

    # ---- what became of each transaction

    def fates(self):
        for key, values in self.order.items():
            for value, count in collections.Counter(values).items():
                if count > 1:
                    self.say("duplicate", f"key {key} holds {value} {count} times")
                if (key, value) not in self.writer:
                    self.say("garbage", f"key {key} holds {value}, which nobody wrote")
        for transaction in self.transactions:
            writes = [op for op in transaction.ops if op.kind == "write"]
            kept = [op for op in writes if (op.key, op.value) in self.number]
            if transaction.outcome == UNKNOWN:
                # A transaction that only read and never got its answer tells nothing.
                transaction.outcome = COMMITTED if kept else ABORTED
                if kept and len(kept) < len(writes):
                    self.say("torn transaction", f"{transaction}; kept only {'; '.join(map(str, kept))}")
            elif transaction.outcome == COMMITTED and len(kept) < len(writes):
                lost = [op for op in writes if op not in kept]
                self.say("lost write", f"{transaction}; lost {'; '.join(map(str, lost))}")
            elif transaction.outcome == ABORTED and kept:
                self.say("aborted write", f"{transaction}; kept {'; '.join(map(str, kept))}")

    # ---- what each transaction saw

    def reads(self, transaction):
        own = {}
        for op in transaction.ops:
            if op.kind == "write":
                own[op.key] = op.value
            if op.kind != "read":
                continue
            version = self.version(transaction, op)
            if version is None:
                continue
            values = self.order[op.key]
            last = values[version - 1] if version else None
            if op.key in own:
                if last != own[op.key]:
                    self.say("internal", f"{transaction}: after writing {own[op.key]} to {op.key} it read {op.value}")
                continue
            source = self.writer.get((op.key, last)) if version else None
            target = self.writer.get((op.key, values[version])) if version < len(values) else None
            if source is transaction:
                self.say("internal", f"{transaction}: it read {op.value} before writing it")
                continue
            if source is not None and source is target:
                self.say("G1b", f"{transaction} read {op.value} of key {op.key} in the midst of {source}")
            self.edge("wr", source, transaction, op.key)
            self.edge("rw", transaction, target, op.key)
            self.order_read(transaction, op, source, target)

    def version(self, transaction, op):
        """The number of the version that a read saw; None when that says nothing further."""
        values = [] if op.value is None or op.value == () else [op.value] if self.registers else list(op.value)
        dirty = [v for v in values if (writer := self.writer.get((op.key, v))) and writer.outcome == ABORTED]
        for value in dirty:
            self.say("G1a", f"{transaction} read {value} of key {op.key} by {self.writer[op.key, value]}")
        for value in values:
            if (op.key, value) not in self.writer:
                self.say("garbage", f"{transaction} read {value} of key {op.key}, which nobody wrote")
                return None
        if self.registers:
            # What was dirty or lost has been told, and has no place in the order.
            return self.number.get((op.key, values[0])) if values else 0
        clean = [value for value in values if value not in dirty]
        if clean != self.order[op.key][: len(clean)]:
            self.say("incompatible order", f"{transaction} read {op.value} of key {op.key}, which ends as {self.order[op.key]}")
            return None
        return len(clean) if not dirty else None

    def edge(self, kind, one, other, key):
        if one is None or other is None or one is other or COMMITTED not in {one.outcome} & {other.outcome}:
            return
        self.edges[one].setdefault(other, {}).setdefault(kind, key)
        if kind == "ww":
            self.before(("C", one), ("C", other), f"ww on {key}")

    # ---- points in time

    def before(self, one, other, why):
        self.points[one].setdefault(other, why)

    def snapshot(self, transaction, op):
        """The point at which a plain read looked."""
        return "S", transaction, 0 if self.level == RR else op.statement

    def is_plain(self, transaction, op):
        return not op.locking and (self.level != SER or transaction.autocommit)

    def order_read(self, transaction, op, source, target):
        if self.level == RU and not op.locking:
            return
        plain = self.is_plain(transaction, op)
        if source is not None and source.outcome == COMMITTED:
            self.before(("C", source), self.snapshot(transaction, op) if plain else ("C", transaction), f"wr on {op.key}")
        if target is None or target.outcome != COMMITTED or target is transaction:
            return
        # Below REPEATABLE READ a row that is not there cannot be locked.
        if plain:
            self.before(self.snapshot(transaction, op), ("C", target), f"rw on {op.key}")
        elif not op.missing or self.level in (RR, SER):
            self.before(("C", transaction), ("C", target), f"rw on {op.key}, locked")

    def clock(self):
        """What the clients' clock adds, as a chain of instants."""
        instants = set()

        def at(time):
            instants.add(time)
            return "T", time

        for transaction in self.committed:
            commit = ("C", transaction)
            if transaction.commit_start is not None:
                self.before(at(transaction.commit_start), commit, "COMMIT was sent")
            if transaction.commit_end is not None:
                self.before(commit, at(transaction.commit_end), "COMMIT was answered")
            asked = set()
            for op in transaction.ops:
                if op.kind not in ("read", "attempt") or not self.is_plain(transaction, op) or self.level == RU:
                    continue
                snapshot = self.snapshot(transaction, op)
                self.before(snapshot, commit, "a transaction reads before it commits")
                # The first read takes the snapshot, also when it is a mere attempt; when it has answered, the snapshot is there.
                if op.start is not None and snapshot not in asked:
                    asked.add(snapshot)
                    self.before(at(op.start), snapshot, "the read was sent")
                if op.end is not None and op.kind == "read":
                    self.before(snapshot, at(op.end), "the read was answered")
        for one, other in itertools.pairwise(sorted(instants)):
            self.before(("T", one), ("T", other), "clock")

    # ---- cycles

    def cycles(self):
        """One cycle of each class in each component: what is wrong, not how often."""
        dirty = {t: {o: kinds for o, kinds in others.items() if kinds.keys() & {"ww", "wr"}} for t, others in self.edges.items()}
        ww = {t: {o: kinds for o, kinds in others.items() if "ww" in kinds} for t, others in dirty.items()}
        for component in components(ww):
            self.say("G0", self.tell(cycle_through(ww, component[0], set(component)), {"ww"}))
        for component in components(dirty):
            within = set(component)
            for one, other in edges_within(dirty, within):
                path = "wr" in dirty[one][other] and shortest(dirty, other, one, within)
                if path:
                    self.say("G1c", self.tell([one, *path], {"ww", "wr"}, first="wr"))
                    break
        for component in components(self.edges):
            within, named = set(component), set()
            for one, other in edges_within(self.edges, within):
                if "rw" not in self.edges[one][other]:
                    continue
                path = shortest(dirty, other, one, within)
                name = "G-single" if path else "G2-item"
                if name in named:
                    continue
                path = path or shortest(self.edges, other, one, within)
                if path:
                    named.add(name)
                    self.say(name, self.tell([one, *path], {"ww", "wr"} if name == "G-single" else {"ww", "wr", "rw"}, first="rw"))

    def tell(self, path, kinds, first=None):
        lines = []
        for at, (one, other) in enumerate(itertools.pairwise(path)):
            found = self.edges[one][other]
            kind = first if first and at == 0 else next(kind for kind in ("ww", "wr", "rw") if kind in found and kind in kinds)
            lines.append(f"\n    {one}\n      -{kind} on {found[kind]}->")
        return "".join(lines) + f"\n    T{path[-1].id}"

    def point_cycles(self):
        for component in components(self.points):
            path = cycle_through(self.points, component[0], set(component))
            lines = []
            for one, other in itertools.pairwise(path):
                # A run of instants is one step of the clock.
                if one[0] != "T" or other[0] != "T":
                    lines.append(f"\n    {point(one)} < {point(other)}: {self.points[one][other]}")
            told = {p[1] for p in path if p[0] != "T"}
            self.say("order", "".join(lines) + "".join(f"\n    {t}" for t in told))


def point(of):
    return f"t={of[1]}" if of[0] == "T" else f"{of[0]}(T{of[1].id}{f', statement {of[2]}' if of[0] == 'S' else ''})"


def edges_within(graph, nodes):
    return ((one, other) for one in nodes for other in graph.get(one, ()) if other in nodes)


def components(graph):
    """Strongly connected components of more than one node, by Tarjan's algorithm with an explicit stack."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in list(graph):
        if root in index:
            continue
        work = [(root, iter(graph.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph.get(other, ()))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    if len(component) > 1:
                        found.append(component)
    return found


def shortest(graph, start, goal, within):
    """The nodes of a shortest path, both ends included; None when there is none."""
    came, queue = {start: None}, collections.deque([start])
    while queue:
        node = queue.popleft()
        if node == goal:
            path = []
            while node is not None:
                path.append(node)
                node = came[node]
            return path[::-1]
        for other in graph.get(node, ()):
            if other in within and other not in came:
                came[other] = node
                queue.append(other)
    return None


def cycle_through(graph, node, within):
    """A shortest cycle through `node`, which is in the component `within`."""
    paths = (shortest(graph, other, node, within) for other in graph[node] if other in within)
    return [node, *min((path for path in paths if path), key=len)]
