"""Differences that are explained: each with the reason why Clearway answers as it does."""

import re

# (what differs, pattern of the statement, reason)
KNOWN = [
    ("scale", "", "strings that MySQL keeps in a temporary table have 0 digits behind the point, others 31"),
    ("type", "GROUP_CONCAT", "9.7 sizes the result by another group_concat_max_len"),
    ("warning", "VALUES|UPDATE", "the update of ON DUPLICATE KEY warns once more"),
]
INTEGERS = {1, 2, 3, 8, 9}
# Errors and warnings that 8.4 does not have.
NEWER = {6527, 3854, 4098}


def explained(sql, results, found):
    """The reason, or None."""
    left, right = results
    if found == "type" and left[0] == "rows":
        pairs = [(x.type, y.type) for x, y in zip(left[1], right[1]) if x.type != y.type]
        if all({a, b} <= INTEGERS for a, b in pairs):
            return "the width of integers that MySQL keeps in a temporary table"
    if left[0] == "error" and left[1] in NEWER or left[0] == "rows" and NEWER & {code for code, _ in left[3]}:
        return "9.7 refuses what 8.4 does not"
    if found == "warning" and left[0] == right[0] == "rows":
        missing = {code for code, _ in left[3]} - {code for code, _ in right[3]}
        if not {code for code, _ in right[3]} - {code for code, _ in left[3]} and missing <= {1292, 4095, 4096} and not left[2]:
            return "MySQL evaluates constants while it plans, also where no row comes"
    for what, pattern, why in KNOWN:
        if found == what and re.search(pattern, sql):
            return why
    return None
