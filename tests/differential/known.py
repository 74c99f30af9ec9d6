"""Differences that are explained: each with the reason why Clearway answers as it does. As narrow as they can be: what is not exactly of the form
described counts as a difference."""

import re

from servers import INTEGERS, STRINGS

JSON, YEAR = 245, 13
# Errors and warnings that 8.4 does not have.
NEWER = {6527, 3854, 4098}


SETS_MIX = "Illegal mix of collations for operation 'UNION'"
SET_OPERATORS = r"\b(?:UNION|EXCEPT|INTERSECT)\b"


def codes(result):
    return {code for code, _ in result[-1]}


def all_are(messages, pattern):
    return messages and all(re.match(pattern, m) for m in messages)


def explained(sql, results, found):
    """The reason, or None."""
    left, right = results
    if left[0] == "error" and left[1] in NEWER or left[0] in ("rows", "ok") and NEWER & codes(left):
        return "9.7 refuses what 8.4 does not"
    if left[:2] == ("error", 1030):
        return "9.7 fails within a temporary table (error 124, wrong index)"
    if found == "outcome" and copies_zero_dates(sql, left, right):
        return "MySQL refuses a zero date where it copies one into a temporary table of CREATE TABLE .. SELECT"
    if looks_for_parents_first(sql, left, right, found):
        return "9.7 looks for the parents of a row before it writes it, 8.4 for each of its indexes"
    if found == "outcome" and left[0] != "error" and right[1:] == (1271, SETS_MIX) and len(re.findall(SET_OPERATORS, sql)) > 1:
        return "9.7 lets the last of three collations decide, 8.0 finds that the first two do not go together"
    if left[0] == right[0] in ("rows", "ok") and reads_small_numbers(left, right):
        return "9.7 reads numbers below 101 as days of the year 2000, 8.0 refuses them"
    if found == "outcome" and right[:1] == ("error",) and right[1] in (1267, 1270, 1271) and ",NONE)" in right[2]:
        return "9.7 lets a text of two collations give way to any other, in 8.0 it goes with none"
    if found in ("rows", "value") and re.search(r"18446744073709551615 (NOT )?IN \([^()]*\(-1\)", sql):
        return "MySQL's IN takes -1 for 18446744073709551615 where its list has numbers of several kinds"
    if found == "ok" and "ON DUPLICATE KEY UPDATE" in sql and left[2:4] == right[2:4] and 0 < left[1] - right[1] <= sql.count("), (") + 1:
        return "MySQL counts a row that it leaves as it is where bytes under a NULL differ"
    if left[0] != "rows" or right[0] != "rows":
        return None
    values = [(x, y) for pair in zip(left[2], right[2]) for x, y in zip(*pair) if x != y]
    if found == "value" and all(x and x.startswith(b"2000-00-00") and y == b"0000" + x[4:] for x, y in values):
        return "9.7 reads numbers below 101 as days of the year 2000, 8.0 takes 0 as the zero date"
    if found == "value" and re.search(r"\b(IF\(|CASE )", sql) and all(x and y and x == y + b" 00:00:00" for x, y in values):
        return "9.7 gives a date that IF or CASE chooses a time of day where an interval is added, and COALESCE and IFNULL do not"
    if found == "value" and sql.startswith("SHOW CREATE TABLE") and len(values) == 1:
        return explained_definition(*values[0])
    if found == "unsigned" and "CONV(" in sql and all(x.type in STRINGS for x, y in zip(left[1], right[1]) if x.unsigned != y.unsigned):
        return "MySQL tells of a sign of texts that CONV has made once"
    if found in ("type", "scale", "charset", "unsigned") and " OVER (" in sql and not left[2]:
        return "where MySQL knows that no row comes, no temporary table gives a window function's result its type"
    if found == "charset" and all(x.type == y.type == JSON for x, y in zip(left[1], right[1]) if x.charset != y.charset):
        return "what is told of a document's character set hangs from whether MySQL merges a derived table or keeps it"
    pairs = [(x, y) for x, y in zip(left[1], right[1]) if x.type != y.type and not {x.type, y.type} <= INTEGERS]
    if found == "type" and all(is_kept_short(x, y) for x, y in pairs):
        return "a CHAR or TINYTEXT is a VARCHAR where it passes through a temporary table, which hangs from MySQL's plan"
    if found == "type" and all(is_kept_short(x, y) or is_kept_text(x, y) or is_kept_text(y, x) for x, y in pairs):
        return "a long text or bytes are a BLOB where they pass through a temporary table, which hangs from MySQL's plan"
    if found == "type" and all(is_kept_year(x, y) for x, y in pairs):
        return "a YEAR is an INT where it passes through a temporary table, which hangs from MySQL's plan"
    if found == "type" and all(is_kept_year(x, y) or is_kept_short(x, y) or is_kept_text(x, y) or is_kept_list(x, y) for x, y in pairs):
        return "columns of several kinds pass through a temporary table, which hangs from MySQL's plan"
    return explained_warning(left, right) if found == "warning" else None


def explained_definition(left, right):
    """Of two tables that CREATE TABLE .. SELECT has made."""
    if left.replace(b" varbinary(0) ", b" binary(0) ") == right:
        return "a column that is NULL is VARBINARY(0) in 9.7, BINARY(0) in 8.4"
    # Of a column that has no default.
    if re.sub(rb"(`(?:MAX|MIN)\([^`\n]*` [^\n]*) DEFAULT NULL", rb"\1", left) == re.sub(rb"(`(?:MAX|MIN)\([^`\n]*` [^\n]*) DEFAULT NULL", rb"\1", right):
        return "MAX and MIN of a column have its default, none, unless they pass through a temporary table, which hangs from MySQL's plan"
    return None


def copies_zero_dates(sql, left, right):
    """The error, in a strict mode, of what is a warning of a SELECT."""
    zero = left[:2] == ("error", 1292) and re.match(r"Incorrect (date|datetime) value: '0000-00-00.*' for column", left[2])
    return bool(zero) and right[0] == "ok" and re.match(r"CREATE TABLE \w+ (SELECT|WITH)\b", sql) is not None


def looks_for_parents_first(sql, left, right, found):
    """Error 1452 in place of a duplicate key; with IGNORE, rows refused for their parents that are duplicates here."""
    if found == "error":
        return (left[1], right[1]) == (1452, 1062)
    if found == "outcome":
        return left[:2] == ("error", 1452) and right[0] == "ok" and " ON DUPLICATE KEY UPDATE " in sql and not re.search(r"Duplicates: 0", right[3])
    if found not in ("ok", "warning") or not re.match(r"INSERT IGNORE\b", sql) or left[0] != "ok" or right[0] != "ok":
        return False
    refused = [sum(code == 1452 for code, _ in result[-1]) for result in (left, right)]
    return refused[0] > refused[1] and codes(left) | {1062} == codes(right) | {1062, 1452} and left[1] <= right[1]


def is_kept_text(kept, own):
    """Is the first a BLOB without digits behind the point, as columns of temporary tables are, and the second the same as an expression?"""
    return (kept.type, kept.scale, kept.charset) == (252, 0, own.charset) and own.scale == 31 and own.type in (249, 250, 251, 253) and own.length > 512


def is_kept_year(kept, own):
    return own.type == YEAR and kept.type in INTEGERS and kept.unsigned


def is_kept_list(kept, own):
    """GROUP_CONCAT's result."""
    return (kept.type, kept.scale, kept.charset) == (252, 0, own.charset) and (own.type, own.scale) == (251, 31)


def is_kept_short(kept, own):
    return (kept.type, kept.length, kept.charset) == (253, own.length, own.charset) and is_short(own)


def is_short(column):
    """CHAR or TINYTEXT."""
    return column.type == 254 or column.type == 252 and column.length in (255, 4 * 255)


def reads_small_numbers(left, right):
    """Is all that Clearway says more that such a number is no date?"""
    more = {message for _, message in right[-1]} - {message for _, message in left[-1]}
    dates = {message for message in more if not re.match(r"Column '\w+' cannot be null$", message)}
    # A day of month 0 is out of range of a TIMESTAMP.
    return all_are(dates, r"Incorrect datetime value: '(\d\d?(\.\d+)?|100)'$") and codes(left) <= codes(right) | {1264}


def explained_warning(left, right):
    """Of results whose rows are the same."""
    missing, more = codes(left) - codes(right), codes(right) - codes(left)
    messages = [message for code, message in left[-1] if code in missing]
    if not more and all_are(messages, r"Incorrect (date|datetime) value: '0000-00-00.*' for column"):
        return "MySQL warns of a zero date when it copies one into a temporary table"
    if more <= {1292} and missing == {1366} and all_are(messages, r"Incorrect (DOUBLE|DECIMAL) value: '.*' for column '' at row"):
        return "MySQL warns of a field without a name, into which it puts what is cast or made distinct"
    return None
