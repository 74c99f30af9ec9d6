//! Splits Rust source into code and comments, line by line, so that rules do not trip over words in strings.

/// One line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Without comments; the insides of strings and character literals are blank.
    pub code: String,
    /// What stands in comments on this line.
    pub comment: String,
    /// Inside an item under `#[cfg(test)]`.
    pub test: bool,
}

enum State {
    Code,
    LineComment,
    /// Nested so deep.
    BlockComment(usize),
    /// Ends at a quote followed by so many `#`; None: an ordinary string with escapes.
    Text(Option<usize>),
}

pub fn lines(source: &str) -> Vec<Line> {
    let chars: Vec<char> = source.chars().collect();
    let mut lines = vec![Line::default()];
    let mut state = State::Code;
    let mut i = 0;
    while i < chars.len() {
        let (c, next) = (chars[i], chars.get(i + 1).copied().unwrap_or('\n'));
        if c == '\n' {
            if matches!(state, State::LineComment) {
                state = State::Code;
            }
            lines.push(Line::default());
            i += 1;
            continue;
        }
        let Some(line) = lines.last_mut() else { break };
        match state {
            State::Code => {
                let word_before = i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_');
                if c == '/' && next == '/' {
                    state = State::LineComment;
                    i += 1;
                } else if c == '/' && next == '*' {
                    state = State::BlockComment(1);
                    i += 1;
                } else if c == '"' {
                    line.code.push('"');
                    state = State::Text(None);
                } else if let Some(hashes) = raw_string(&chars[i..]).filter(|_| !word_before) {
                    line.code.push('"');
                    state = State::Text(Some(hashes));
                    i += chars[i..].iter().position(|c| *c == '"').unwrap_or(0);
                } else if c == '\'' {
                    i += character(&chars[i..]);
                    line.code.push_str("''");
                } else {
                    line.code.push(c);
                }
            }
            State::LineComment => line.comment.push(c),
            State::BlockComment(depth) => match (c, next) {
                ('*', '/') => {
                    state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                    i += 1;
                }
                ('/', '*') => {
                    state = State::BlockComment(depth + 1);
                    i += 1;
                }
                _ => line.comment.push(c),
            },
            // A backslash at the end of a line leaves the line break to be counted.
            State::Text(None) if c == '\\' && next != '\n' => i += 1,
            State::Text(hashes) => {
                let hashes = hashes.unwrap_or(0);
                if c == '"' && (0..hashes).all(|n| chars.get(i + 1 + n) == Some(&'#')) {
                    line.code.push('"');
                    state = State::Code;
                    i += hashes;
                }
            }
        }
        i += 1;
    }
    mark_tests(&mut lines);
    lines
}

/// `r"`, `r#"`, `br#"`: how many `#`.
fn raw_string(rest: &[char]) -> Option<usize> {
    let mut rest = rest.iter().copied().peekable();
    if rest.peek() == Some(&'b') || rest.peek() == Some(&'c') {
        rest.next();
    }
    if rest.next() != Some('r') {
        return None;
    }
    let mut hashes = 0;
    for c in rest {
        match c {
            '#' => hashes += 1,
            '"' => return Some(hashes),
            _ => return None,
        }
    }
    None
}

/// How many characters after the opening quote belong to a character literal; 0 for a lifetime.
fn character(rest: &[char]) -> usize {
    match (rest.get(1), rest.get(2)) {
        (Some('\\'), _) => rest.iter().skip(3).take(12).position(|c| *c == '\'').map_or(0, |at| at + 3),
        (Some(_), Some('\'')) => 2,
        _ => 0,
    }
}

/// Items under `#[cfg(test)]` or `#[cfg(all(test, ...))]`, by counting braces.
fn mark_tests(lines: &mut [Line]) {
    let mut waiting = false;
    let mut depth = 0usize;
    for line in lines {
        let trimmed = line.code.trim();
        if depth == 0 && (trimmed.starts_with("#[cfg(test)") || trimmed.starts_with("#[cfg(all(test")) {
            waiting = true;
        }
        line.test = waiting || depth > 0;
        if !line.test {
            continue;
        }
        for c in line.code.chars() {
            match c {
                '{' => {
                    depth += 1;
                    waiting = false;
                }
                '}' => depth = depth.saturating_sub(1),
                ';' if depth == 0 => waiting = false,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_told_from_code() {
        let source = "let a = \"loop {} // no\"; // really\nlet b = r#\"\"unsafe\"\"#; let c = '\"'; let d: &'a str;\n\
                      /* one /* two */ still */ after\nlet e = '\\''; f(\"\\\"x\"); g";
        let lines = lines(source);
        assert_eq!(lines[0], Line { code: "let a = \"\"; ".into(), comment: " really".into(), test: false });
        assert_eq!(lines[1].code, "let b = \"\"; let c = ''; let d: &''a str;");
        assert_eq!((lines[2].code.as_str(), lines[2].comment.as_str()), (" after", " one  two  still "));
        assert_eq!(lines[3].code, "let e = ''; f(\"\"); g");
    }

    #[test]
    fn test_items_end_where_their_braces_end() {
        let source =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { \"}\" }\n}\nfn c() {}\n#[cfg(test)]\nuse x;\nfn d() {}";
        let marks: Vec<bool> = lines(source).iter().map(|line| line.test).collect();
        assert_eq!(marks, [false, true, true, true, true, false, true, true, false]);
    }
}
