//! Arbitrary bytes never panic, and the messages are MySQL's.

use proptest::prelude::*;
use sql::digest::{Digesting, Normalized, digest_text, normalize};
use sql::{SqlMode, parse, parse_next};

fn exercise(bytes: &[u8], mode: SqlMode) {
    let mut rest = bytes;
    while !rest.is_empty() {
        match parse_next(rest, mode) {
            Ok((parsed, after)) => {
                assert!(after.len() < rest.len());
                drop(parsed);
                rest = after;
            }
            Err(error) => {
                assert!(error.offset() <= rest.len() && !error.message().is_empty());
                break;
            }
        }
    }
    let mut normalized = Normalized::default();
    if normalize(bytes, mode, &mut normalized) {
        let lifted = sql::parse_lifted(bytes, mode, &normalized.literals);
        // Lifting never changes what is accepted.
        assert_eq!(lifted.is_ok(), parse(bytes, mode).is_ok(), "{:?}", String::from_utf8_lossy(bytes));
    }
    digest_text(bytes, Digesting::new(mode));
}

fn any_mode() -> impl Strategy<Value = SqlMode> {
    any::<[bool; 6]>().prop_map(|b| SqlMode {
        pipes_as_concat: b[0],
        ansi_quotes: b[1],
        no_backslash_escapes: b[2],
        high_not_precedence: b[3],
        ignore_space: b[4],
        real_as_float: b[5],
    })
}

const CORPUS: &str = include_str!("corpus.sql");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), mode in any_mode()) {
        exercise(&bytes, mode);
    }

    /// Real statements cut, spliced and with bytes changed.
    #[test]
    fn mangled_statements_never_panic(
        a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(),
        cut_a in any::<prop::sample::Index>(), cut_b in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), byte in any::<u8>(), mode in any_mode(),
    ) {
        let lines: Vec<&[u8]> = CORPUS.lines().filter(|l| !l.starts_with("-- ")).map(str::as_bytes).collect();
        let (a, b) = (lines[a.index(lines.len())], lines[b.index(lines.len())]);
        let mut mixed = a[..cut_a.index(a.len() + 1)].to_vec();
        mixed.extend_from_slice(&b[cut_b.index(b.len() + 1)..]);
        exercise(&mixed, mode);
        if !mixed.is_empty() {
            let at = at.index(mixed.len());
            mixed[at] = byte;
            exercise(&mixed, mode);
        }
    }
}

#[test]
fn messages_are_mysqls() {
    let message = |text: &[u8]| {
        let error = parse(text, SqlMode::default()).expect_err("refused");
        (error.code(), error.message().to_string())
    };
    let near = |near: &str, line: u32| {
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for \
             the \
             right syntax to use near '{near}' at line {line}"
        )
    };
    assert_eq!(message(b"SELEC 1"), (1064, near("SELEC 1", 1)));
    assert_eq!(message(b"SELECT 1 FROM"), (1064, near("", 1)));
    assert_eq!(message(b"SELECT a\nFROM t\nWHERE FROM x"), (1064, near("FROM x", 3)));
    assert_eq!(message(b"SELECT 1; SELECT 2"), (1064, near("SELECT 2", 1)));
    assert_eq!(message(b"SELECT 'abc"), (1064, near("'abc", 1)));
    let long = format!("SELECT 1 {}", "x ".repeat(100));
    assert_eq!(message(long.as_bytes()), (1064, near(&"x ".repeat(41)[2..82], 1)));
    // One zero byte ends a statement at its end and is an error before; messages stop at it.
    for whole in [&b"SELECT 1\0"[..], b"SELECT 1 -- x\0", b"SELECT '\0'\0", b"SELECT 1 /* \0 */"] {
        assert!(parse(whole, SqlMode::default()).is_ok(), "{whole:?}");
    }
    for broken in [&b"SELECT 1 \0x"[..], b"SELECT 1 \0\0", b"SELECT 1 -- x\0y"] {
        assert_eq!(message(broken), (1064, near("", 1)), "{broken:?}");
    }
    assert_eq!(message(b"SELECT `a\0b`"), (1064, near("`a", 1)));
    for empty in [&b""[..], b"  ", b";", b"\0", b"-- nothing\n", b"/* nothing */", b"/*!99999 nothing */"] {
        assert_eq!(message(empty), (1065, "Query was empty".to_string()), "{empty:?}");
    }
    assert_eq!(message(b"SELECT * FROM (SELECT 1)").0, 1248);
    assert_eq!(message(b"SELECT `\xff`").0, 1300);
}

#[test]
fn statements_are_owned_and_cross_threads() {
    fn assert_send<T: Send + Sync + 'static>(_: &T) {}
    let parsed = parse(b"SELECT `a``b`, 'c\\'d' FROM t", SqlMode::default()).expect("valid");
    assert_send(&parsed);
    let sql::ast::Statement::Query(query) = parsed.statement else { panic!("a query") };
    let sql::ast::QueryBody::Select(select) = &parsed[query].body else { panic!("a SELECT") };
    let sql::ast::SelectItem::Expr { expr, text, .. } = select.items[0] else { panic!("an expression") };
    assert_eq!(parsed.bytes(text), b"`a``b`");
    let sql::ast::Expr::Column { column, .. } = parsed[expr] else { panic!("a column") };
    assert_eq!(parsed.name(column), "a`b");
}
