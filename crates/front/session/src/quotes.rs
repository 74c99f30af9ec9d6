//! Quotes of names in what SHOW CREATE and SHOW GRANTS say: with `sql_quote_show_create = OFF` only where they have to be, and with the
//! SQL mode ANSI_QUOTES double ones.

use inspect::Rows;
use sql::ast::ShowWhat;
use sql::keywords::Kw;
use types::Value;

/// Which column of the answer is a statement, and how much of it is the server's own text: what comes behind stays as it was written.
fn statement_of(what: &ShowWhat) -> Option<(usize, Option<&'static str>)> {
    match what {
        ShowWhat::CreateTable(_) | ShowWhat::CreateView(_) | ShowWhat::CreateDatabase { .. } => Some((1, None)),
        ShowWhat::CreateProcedure(_) | ShowWhat::CreateFunction(_) => Some((2, Some("("))),
        ShowWhat::CreateTrigger(_) => Some((2, Some(" FOR EACH ROW"))),
        ShowWhat::Grants { .. } | ShowWhat::CreateUser(_) => Some((0, None)),
        _ => None,
    }
}

/// Takes the backticks away where a name can do without.
pub fn unquote(what: &ShowWhat, rows: &mut Rows) {
    let Some((column, end)) = statement_of(what) else { return };
    for row in &mut rows.rows {
        if let Some(Value::Bytes(text)) = row.get_mut(column)
            && let Ok(statement) = std::str::from_utf8(text)
        {
            *text = unquoted(statement, end).into_bytes().into();
        }
    }
}

fn unquoted(statement: &str, end: Option<&str>) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(at) = rest.find(['`', '\'']) {
        let (before, quoted) = rest.split_at(at);
        if end.is_some_and(|end| before.contains(end)) {
            break;
        }
        out.push_str(before);
        let length = quoted_length(quoted);
        let (quoted, behind) = quoted.split_at(length);
        let name = quoted.trim_matches('`');
        let is_name = quoted.starts_with('`') && !needs_quotes(name);
        out.push_str(if is_name { name } else { quoted });
        rest = behind;
    }
    out + rest
}

/// Puts names in double quotes. A program's text has the quotes of the mode that it was made under.
pub fn requote(what: &ShowWhat, rows: &mut Rows) {
    let Some((column, None)) = statement_of(what) else { return };
    for row in &mut rows.rows {
        if let Some(Value::Bytes(text)) = row.get_mut(column)
            && let Ok(statement) = std::str::from_utf8(text)
        {
            *text = requoted(statement, matches!(what, ShowWhat::CreateTable(_))).into_bytes().into();
        }
    }
}

/// What stands in front of an expression in a line of a table's definition: that is kept as a text, with the names in backticks.
const EXPRESSIONS: [&str; 4] = [" AS (", " CHECK (", " DEFAULT (", "(("];

fn requoted(statement: &str, is_table: bool) -> String {
    let mut out = String::with_capacity(statement.len());
    let (mut rest, mut is_expression) = (statement, false);
    while let Some(at) = rest.find(['`', '\'']) {
        let (before, quoted) = rest.split_at(at);
        out.push_str(before);
        let line = before.rsplit_once('\n').map(|(_, line)| line);
        is_expression &= line.is_none();
        is_expression |= is_table && EXPRESSIONS.iter().any(|words| line.unwrap_or(before).contains(words));
        let (quoted, behind) = quoted.split_at(quoted_length(quoted));
        match quoted.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
            Some(name) if !is_expression => {
                out.push('"');
                out.push_str(&name.replace("``", "`").replace('"', "\"\""));
                out.push('"');
            }
            _ => out.push_str(quoted),
        }
        rest = behind;
    }
    out + rest
}

/// Bytes up to the quote that ends what begins with one; within a string backslashes escape.
fn quoted_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut at = 1;
    while let Some(b) = text.as_bytes().get(at) {
        at += 1;
        match b {
            b'\\' if quote == b'\'' => at += 1,
            b if *b == quote => match text.as_bytes().get(at) {
                Some(next) if *next == quote => at += 1,
                _ => return at,
            },
            _ => {}
        }
    }
    text.len()
}

fn needs_quotes(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    let kw = Kw::find(name.as_bytes());
    name.is_empty()
        || !name.bytes().all(is_plain)
        || name.bytes().all(|b| b.is_ascii_digit())
        || kw != Kw::Plain && !kw.is_function_word()
}
