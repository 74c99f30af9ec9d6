"""The answers that a server gives to one statement by other plans: what MySQL answers by one of them is no mistake of somebody else's."""

import itertools
import re

SWITCHES = ["semijoin", "materialization", "firstmatch", "loosescan", "duplicateweedout", "derived_merge", "derived_condition_pushdown", "block_nested_loop",
            "condition_fanout_filter", "index_merge", "index_condition_pushdown", "subquery_materialization_cost_based", "use_index_extensions",
            "prefer_ordering_index", "skip_scan"]
# Each leaves the rows of a query as they are, and says of itself at most what is in OWN.
SESSIONS = [*[f"optimizer_switch = '{switch}=off'" for switch in SWITCHES], "optimizer_switch = 'subquery_to_derived=on'",
            "optimizer_switch = 'semijoin=off,materialization=off'", "optimizer_switch = 'derived_merge=off,block_nested_loop=off'",
            "range_optimizer_max_mem_size = 1", "big_tables = ON"]
OWN = {3170}
WORDS = ["SQL_BUFFER_RESULT", "SQL_BIG_RESULT", "SQL_SMALL_RESULT", "/*+ NO_INDEX(a) NO_INDEX(b) NO_INDEX(c) */", "/*+ JOIN_FIXED_ORDER() */",
         *[f"/*+ JOIN_ORDER({', '.join(tables)}) */" for n in (3, 2) for tables in itertools.permutations("abc", n)]]
# Words about tables that the query does not have.
UNRESOLVED = {3128, 3126, 1064}


def answers(server, sql, values=None):
    """The answer for each way of asking that the server knows."""
    for session in SESSIONS:
        if server.run(f"SET {session}")[0] != "ok":
            continue
        answer = server.run(sql, values=values)
        server.run(f"SET {session.split(' ')[0]} = DEFAULT")
        yield without(answer, OWN)
    apart = sets_apart(sql)
    if apart != sql:
        yield server.run(apart, values=values)
    if not re.match(r"SELECT\b", sql):
        return
    for word in WORDS:
        answer = server.run(sql.replace("SELECT", f"SELECT {word}", 1), values=values)
        if not {code for code, _ in warnings(answer)} & UNRESOLVED:
            yield answer


def sets_apart(sql):
    """The statement with INTERSECT and EXCEPT under ANY, ALL and IN, and of common table expressions, in derived tables of their own: MySQL
    makes mistakes of them there, and where such an expression is read more than once."""
    for start in re.finditer(r"\b(?:ANY|ALL|IN|AS) \((?=SELECT|\()", sql):
        depth, end, is_set = 0, start.end(), False
        while depth >= 0 and end < len(sql):
            depth += (sql[end] == "(") - (sql[end] == ")")
            is_set |= depth == 0 and re.match(r" (?:INTERSECT|EXCEPT) ", sql[end:end + 11]) is not None
            end += 1
        if is_set and depth < 0:
            return f"{sql[:start.end()]}SELECT * FROM ({sets_apart(sql[start.end():end - 1])}) AS apart){sets_apart(sql[end:])}"
    return sql


def warnings(answer):
    return answer[-1] if answer[0] in ("rows", "ok") else []


def without(answer, numbers):
    """The answer, but for warnings of these numbers."""
    if not warnings(answer):
        return answer
    return (*answer[:-1], [(code, message) for code, message in answer[-1] if code not in numbers])
