//! Texts as the logs show them: without passwords, and with the values of parameters.

use sql::SqlMode;
use sql::ast::{Parsed, ReplicaStatement, ServerVerb, Statement};
use sql::lexer::{Lexer, Tok, Token};
use types::Value;

const SECRET: &[u8] = b"<secret>";

/// The statement without the passwords in it; `None`: it has none.
pub(crate) fn without_secrets(parsed: &Parsed, mode: SqlMode) -> Option<Vec<u8>> {
    let statement = &parsed.statement;
    if let Statement::Prepare { name, .. } = statement {
        // What it prepares has an entry of its own.
        return Some(format!("PREPARE {} FROM ...", parsed.name(*name)).into_bytes());
    }
    let sort = match statement {
        Statement::SetPassword(_) => Sort::SetPassword,
        Statement::CreateUser(_) | Statement::AlterUser(_) | Statement::CloneInstance(_) => Sort::Secret,
        Statement::Replica(ReplicaStatement::ChangeSource { .. } | ReplicaStatement::Start { .. }) => Sort::Secret,
        Statement::Server(server) if !matches!(server.verb, ServerVerb::Drop { .. }) => Sort::Secret,
        Statement::CreateRoutine(_) | Statement::CreateEvent(_) | Statement::AlterEvent(_) => Sort::Any,
        Statement::Set(_) | Statement::Unsupported(_) => Sort::Any,
        _ => return None,
    };
    Some(hide(parsed.source(), mode, sort))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// It has passwords behind words that say so.
    Secret,
    /// It assigns one.
    SetPassword,
    /// It may have statements of all sorts in it, or none.
    Any,
}

/// Puts a word in the place of each string that may be a password: what follows BY, AS, REPLACE, or a word that ends in PASSWORD;
/// where one is assigned, what follows `=` and TO.
fn hide(source: &[u8], mode: SqlMode, sort: Sort) -> Vec<u8> {
    let (mut tells, mut assigns) = (sort != Sort::Any, sort == Sort::SetPassword);
    let (mut out, mut from) = (Vec::new(), 0);
    let mut lexer = Lexer::new(source, mode);
    // Before the token at hand, `=` aside.
    let mut word: &[u8] = b"";
    let mut equals = false;
    loop {
        let token = lexer.next_token();
        let text = text_of(source, token);
        match token.tok {
            Tok::End | Tok::Bad => break,
            Tok::Str | Tok::NationalStr | Tok::Hex => {
                let upper = word.to_ascii_uppercase();
                let names_it = [&b"BY"[..], b"AS", b"REPLACE"].contains(&&upper[..]) || upper.ends_with(b"PASSWORD");
                if tells && names_it || assigns && (equals || upper == b"TO") {
                    out.extend_from_slice(&source[from..token.start as usize]);
                    out.extend_from_slice(SECRET);
                    from = token.end as usize;
                }
                (word, equals) = (b"", false);
            }
            Tok::Eq | Tok::Assign => equals = true,
            Tok::Word => {
                (word, equals) = (text, false);
                if sort == Sort::Any && is_telling(text) {
                    (tells, assigns) = (true, assigns || text.eq_ignore_ascii_case(b"PASSWORD"));
                }
            }
            // The next statement of a program.
            Tok::Semicolon if sort == Sort::Any => (word, tells, assigns) = (b"", false, false),
            _ => (word, equals) = (b"", false),
        }
    }
    out.extend_from_slice(&source[from..]);
    out
}

fn is_telling(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"IDENTIFIED") || word.to_ascii_uppercase().ends_with(b"PASSWORD")
}

fn text_of(source: &[u8], token: Token) -> &[u8] {
    &source[token.start as usize..token.end as usize]
}

/// The text of a prepared statement with the values of an execution in it.
pub(super) fn with_values(source: &[u8], values: &[Value<'_>], mode: SqlMode) -> Vec<u8> {
    let (mut out, mut from) = (Vec::new(), 0);
    let mut lexer = Lexer::new(source, mode);
    let mut values = values.iter();
    loop {
        let token = lexer.next_token();
        match token.tok {
            Tok::End | Tok::Bad => break,
            Tok::Param => {
                let Some(value) = values.next() else { break };
                out.extend_from_slice(&source[from..token.start as usize]);
                write_literal(&mut out, value);
                from = token.end as usize;
            }
            _ => {}
        }
    }
    out.extend_from_slice(&source[from..]);
    out
}

fn write_literal(out: &mut Vec<u8>, value: &Value<'_>) {
    let data_type = plan::parameter::sent_type(value, None, types::CollationId::UTF8MB4_0900_AI_CI);
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => value.write_text(&data_type, out),
        value => {
            let mut text = Vec::new();
            value.write_text(&data_type, &mut text);
            out.push(b'\'');
            for b in text {
                match b {
                    b'\'' => out.extend_from_slice(b"\\'"),
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    b'\n' => out.extend_from_slice(b"\\n"),
                    b'\r' => out.extend_from_slice(b"\\r"),
                    0 => out.extend_from_slice(b"\\0"),
                    0x1A => out.extend_from_slice(b"\\Z"),
                    b => out.push(b),
                }
            }
            out.push(b'\'');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mode = SqlMode::default();
        let parsed = sql::parse(text.as_bytes(), mode).expect("it parses");
        let shown = without_secrets(&parsed, mode).unwrap_or_else(|| parsed.source().to_vec());
        String::from_utf8(shown).expect("it is text")
    }

    #[test]
    fn passwords_are_never_shown() {
        for text in [
            "CREATE USER a@b IDENTIFIED BY 'hidden', 'c' IDENTIFIED WITH caching_sha2_password BY 'hidden' COMMENT \
             'seen'",
            "CREATE USER a IDENTIFIED WITH caching_sha2_password AS 'hidden'",
            "ALTER USER a IDENTIFIED BY 'hidden' REPLACE 'hidden' RETAIN CURRENT PASSWORD",
            "ALTER USER USER() IDENTIFIED BY /* who */ 'hidden'",
            "SET PASSWORD FOR a = 'hidden' REPLACE 'hidden'",
            "SET PASSWORD = 'hidden'",
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h', SOURCE_PASSWORD = 'hidden', SOURCE_USER = 'u'",
            "START REPLICA USER = 'u' PASSWORD = 'hidden'",
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'hidden')",
            "ALTER SERVER s OPTIONS (PASSWORD 'hidden')",
            "CLONE INSTANCE FROM 'u'@'h':3306 IDENTIFIED BY 'hidden'",
            "PREPARE p FROM 'CREATE USER a IDENTIFIED BY \"hidden\"'",
            "CREATE PROCEDURE p() CREATE USER a IDENTIFIED BY 'hidden'",
            "CREATE PROCEDURE p() BEGIN SET PASSWORD FOR a = 'hidden'; SELECT 'x' AS 'seen'; ALTER USER a \
             IDENTIFIED BY 'hidden'; END",
            "SET @x = 'seen', password = 'hidden'",
        ] {
            let shown = shown(text);
            assert!(!shown.contains("hidden"), "{shown}");
            assert_eq!(text.contains("seen"), shown.contains("seen"), "{shown}");
        }
    }

    #[test]
    fn values_stand_for_their_marks() {
        let text = with_values(
            b"SELECT ?, '?' /* ? */ FROM t WHERE a = ?",
            &[Value::Null, Value::Bytes(b"it's\n\\"[..].into())],
            SqlMode::default(),
        );
        assert_eq!(String::from_utf8_lossy(&text), "SELECT NULL, '?' /* ? */ FROM t WHERE a = 'it\\'s\\n\\\\'");
    }
}
