//! What a reader can take in at once: functions of one screen, structs of few fields, lines that fit beside one another.

use crate::scan::Line;

const FUNCTION_LINES_MAX: usize = 100;
/// A long function is a violation for each started so many lines above the limit, so that the ratchet notices growth.
const FUNCTION_STEP: usize = 50;
const FIELDS_MAX: usize = 15;
const CODE_WIDTH_MAX: usize = 120;
const COMMENT_WIDTH_MAX: usize = 140;

/// Rule, line from 1, and what is wrong.
pub type Found = (&'static str, usize, String);

/// Long lines, and outside of tests long functions and structs of many fields.
pub fn check(text: &str, lines: &[Line], is_test: bool) -> Vec<Found> {
    let mut found = Vec::new();
    let tables = tables(lines);
    for (at, raw) in text.lines().enumerate().take(lines.len()) {
        let is_code = !lines[at].code.trim().is_empty() || lines[at].comment.is_empty();
        let most = if is_code { CODE_WIDTH_MAX } else { COMMENT_WIDTH_MAX };
        let width = raw.chars().count();
        // A row of a table in a comment is one line.
        if width > most && !tables[at] && !raw.trim_start_matches(['/', '!', ' ']).starts_with('|') {
            found.push(("line-length", at + 1, format!("{width} characters, at most {most}")));
        }
    }
    if is_test {
        return found;
    }
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.test) {
        if let Some(name) = name_after(&line.code, "fn ") {
            let length = item(lines, at, "fn ").map_or(0, |item| item.len());
            for _ in 0..length.saturating_sub(FUNCTION_LINES_MAX).div_ceil(FUNCTION_STEP) {
                found.push((
                    "function-length",
                    at + 1,
                    format!("{name}: {length} lines, at most {FUNCTION_LINES_MAX}"),
                ));
            }
        }
        if let Some(name) = name_after(&line.code, "struct ") {
            let fields = item(lines, at, "struct ").map_or(0, fields);
            if fields > FIELDS_MAX && !says_why(&lines[..at]) {
                let what =
                    format!("{name}: {fields} fields, at most {FIELDS_MAX} unless its comment says why (\"fields\")");
                found.push(("struct-fields", at + 1, what));
            }
        }
    }
    found
}

/// The name that `keyword` declares on this line.
fn name_after<'a>(code: &'a str, keyword: &str) -> Option<&'a str> {
    let at = code.find(keyword)?;
    if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let rest = &code[at + keyword.len()..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

/// The lines of the item that `keyword` begins on line `at`, up to the end of its braces; None: it has none.
fn item<'a>(lines: &'a [Line], at: usize, keyword: &str) -> Option<&'a [Line]> {
    let (mut braces, mut others) = (0usize, 0usize);
    for (n, line) in lines[at..].iter().enumerate() {
        let from = if n == 0 { line.code.find(keyword).unwrap_or(0) } else { 0 };
        for c in line.code[from..].chars() {
            match c {
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 && others == 0 {
                        return Some(&lines[at..=at + n]);
                    }
                }
                '(' | '[' => others += 1,
                ')' | ']' => others = others.saturating_sub(1),
                ';' if braces == 0 && others == 0 => return None,
                _ => {}
            }
        }
    }
    None
}

/// Named fields of a struct: rustfmt gives each a line of its own, four blanks in.
fn fields(item: &[Line]) -> usize {
    let indent = item[0].code.len() - item[0].code.trim_start().len() + 4;
    let is_field = |line: &&Line| {
        let field = line.code.trim_start();
        let name = field.trim_start_matches("pub").split_once(": ").map_or("", |(name, _)| name);
        let name = name.rsplit(' ').next().unwrap_or_default();
        line.code.len() - field.len() == indent
            && !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    item[1..].iter().filter(is_field).count()
}

/// The comment that ends above says something of the fields' number.
fn says_why(above: &[Line]) -> bool {
    above
        .iter()
        .rev()
        .take_while(|line| !line.comment.is_empty() || line.code.trim_start().starts_with("#["))
        .any(|line| line.comment.contains("fields"))
}

/// Lines of tables of data, whose rows are lines however long: items under `#[rustfmt::skip]`, and macros named `..._table`.
fn tables(lines: &[Line]) -> Vec<bool> {
    let mut marks = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        let code = line.code.trim();
        let begins = code.starts_with("#[rustfmt::skip]") || code.ends_with("_table! {");
        if !begins || marks[at] {
            continue;
        }
        let mut depth = 0usize;
        for (n, line) in lines[at..].iter().enumerate() {
            marks[at + n] = true;
            let opens = |c: &char| matches!(c, '{' | '[' | '(');
            let closes = |c: &char| matches!(c, '}' | ']' | ')');
            depth += line.code.chars().filter(opens).count();
            depth = depth.saturating_sub(line.code.chars().filter(closes).count());
            if depth == 0 && (line.code.ends_with(';') || line.code.ends_with('}')) {
                break;
            }
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan;

    fn rules(text: &str) -> Vec<(&'static str, usize)> {
        check(text, &scan::lines(text), false).into_iter().map(|(rule, line, _)| (rule, line)).collect()
    }

    #[test]
    fn functions_of_one_screen() {
        let body = |lines: usize| format!("    fn f(a: [u8; 4]) {{\n{}    }}\n", "        g();\n".repeat(lines));
        assert_eq!(rules(&body(98)), []);
        assert_eq!(rules(&body(99)), [("function-length", 1)]);
        assert_eq!(rules(&body(149)), [("function-length", 1); 2]);
        assert_eq!(rules(&format!("trait T {{ fn f();\n{} }}", "// x\n".repeat(120))), []);
        assert_eq!(rules(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", body(120))), []);
    }

    #[test]
    fn structs_of_few_fields() {
        let of = |fields: usize| format!("struct S<T: Clone> {{\n{}}}\n", "    pub(super) a: u8,\n".repeat(fields));
        assert_eq!(rules(&of(15)), []);
        assert_eq!(rules(&of(16)), [("struct-fields", 1)]);
        assert_eq!(rules(&format!("/// Its fields are those of a packet.\n#[derive(Debug)]\n{}", of(16))), []);
    }

    #[test]
    fn lines_that_fit() {
        let wide = "x".repeat(118);
        assert_eq!(rules(&format!("f({wide})")), [("line-length", 1)]);
        assert_eq!(rules(&format!("// {wide}")), []);
        assert_eq!(rules(&format!("// {wide}{wide}")), [("line-length", 1)]);
        assert_eq!(
            rules(&format!("#[rustfmt::skip]\nconst A: [u8; 1] = [\n    f({wide}),\n];\nf({wide})")),
            [("line-length", 5)]
        );
        assert_eq!(rules(&format!("error_table! {{\n    f({wide});\n}}\n")), []);
    }
}
