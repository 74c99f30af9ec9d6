//! Error numbers have names: digits of the error table are refused where code makes, compares or lists an error.

use std::collections::BTreeSet;
use std::path::Path;

use crate::scan::Line;

/// The table of names.
const TABLE: &str = "crates/base/types/src/error/codes.rs";
/// Numbers of the table that are sizes wherever no call says that they are an error.
const SIZES: [u16; 2] = [1024, 4096];
/// The first client error of MySQL; numbers below are too common to be looked for without a call around them.
const FIRST: u16 = 1000;
/// Calls whose argument is an error number, behind other arguments or not.
const CALLS: [&str; 9] = [
    "err!",
    "SqlError::new",
    "SqlError::format",
    "ParseError::new",
    "Warning::format",
    "warn",
    "condition",
    "sqlstate",
    "log.write",
];

/// The numbers that have a name: `ER_X = 1062, "23000", "...";`, a line each.
pub fn numbers(top: &Path) -> BTreeSet<u16> {
    let text = std::fs::read_to_string(top.join(TABLE)).unwrap_or_default();
    let number = |line: &str| line.split_once(" = ")?.1.split_once(',')?.0.parse().ok();
    text.lines().filter_map(number).collect()
}

/// Lines, from 1, on which a number of `named` stands for an error. Tests are free to use digits: they read what a client reads.
pub fn bare(lines: &[Line], named: &BTreeSet<u16>) -> Vec<usize> {
    let mut text = String::new();
    for line in lines {
        text.push_str(if line.test { "" } else { &line.code });
        text.push('\n');
    }
    let mut found = Vec::new();
    let mut line = 1;
    let mut from = 0;
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    for (at, c) in text.char_indices() {
        if c == '\n' {
            line += 1;
        }
        if at < from || !c.is_ascii_digit() || text[..at].ends_with(word) {
            continue;
        }
        let end =
            at + text[at..].find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(text.len() - at);
        from = end;
        let digits = text[at..end].trim_end_matches("u16").replace('_', "");
        let Ok(number) = digits.parse::<u16>() else { continue };
        if (number < FIRST || named.contains(&number)) && stands_for_error(&text[..at], &text[end..], number) {
            found.push(line);
        }
    }
    found
}

fn stands_for_error(before: &str, after: &str, number: u16) -> bool {
    let (before, after) = (before.trim_end(), after.trim_start());
    if let Some((call, arguments)) = open_call(before) {
        let alone = arguments.is_empty() || arguments.ends_with(',');
        let is_number = alone && (after.starts_with(',') || after.starts_with(')'));
        // The arguments of a message stand behind its number.
        let first = arguments.is_empty()
            || arguments.matches(',').count() == 1 && !call.ends_with("err!") && !call.ends_with("new");
        if is_number && first && CALLS.iter().any(|name| call.ends_with(name)) {
            return number != 0;
        }
        let pair = call.is_empty() && arguments.is_empty() && after.starts_with(',');
        if pair && number >= FIRST && !SIZES.contains(&number) {
            return true;
        }
    }
    if number < FIRST || SIZES.contains(&number) {
        return false;
    }
    let compares = ["==", "!=", "code:", "u16 ="].iter().any(|mark| before.ends_with(mark));
    let is_pattern =
        before.ends_with('|') || after.starts_with("=>") || after.starts_with("| ") || after.starts_with("|\n");
    compares || is_pattern
}

/// The name before the parenthesis that is open at the end of `before`, and what stands behind the parenthesis.
fn open_call(before: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' if depth == 0 => {
                let head = &before[..at];
                let name = head.rfind(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':' | '!' | '.'));
                return Some((&head[name.map_or(0, |n| n + 1)..], before[at + 1..].trim()));
            }
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '[' | '{' | ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan;

    fn found(code: &str) -> Vec<usize> {
        bare(&scan::lines(code), &[1024, 1062, 1205, 1213, 1292].into())
    }

    #[test]
    fn digits_are_found_where_an_error_stands() {
        for code in [
            "err!(1062, a, b)",
            "types::err!(1062)",
            "SqlError::new(\n    1062,\n    text)",
            "SqlError::new(1, text)",
            "run.warn(1292, text)",
            "self.warn(\"Note\", 1292, format!(\"{x}\"))",
            "if e.code == 1062 {}",
            "matches!(e.code, 1205 | ER_LOCK_DEADLOCK)",
            "match e.code {\n 1205 => {} _ => {} }",
            "const DUPLICATE: u16 = 1062;",
            "return Err((1292, text))",
            "SqlError { code: 1062, message }",
        ] {
            assert_eq!(found(code).len(), 1, "{code}");
        }
        assert_eq!(found("matches!(e.code, 1205 | 1213)\nerr!(1062)"), [1, 1, 2]);
    }

    #[test]
    fn names_and_other_numbers_pass() {
        for code in [
            "err!(ER_DUP_ENTRY, 1062)",
            "SqlError::new(ER_DUP_ENTRY, text)",
            "varchar(1024)",
            "if bytes == 1024 {}",
            "f(1062, 7)",
            "let n = 1062;",
            "run.warn(0, text)",
            "#[cfg(test)]\nmod tests { fn f() { assert!(e.code == 1062) } }",
            "// err!(1062)",
        ] {
            assert_eq!(found(code), [0; 0], "{code}");
        }
    }
}
