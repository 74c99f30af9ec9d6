//! How operators bind, with and without the sql_modes that change it, and that printing and parsing agree.

mod support;

use proptest::prelude::*;
use sql::SqlMode;
use support::show;

fn check(mode: SqlMode, cases: &[(&str, &str)]) {
    for (text, want) in cases {
        assert_eq!(show(text, mode).as_deref(), Ok(*want), "{text}");
    }
}

#[test]
fn operators_bind_as_in_mysql() {
    check(
        SqlMode::default(),
        &[
            ("a <> b && c", "((a <> b) AND c)"),
            ("a || b && c XOR d", "(a OR ((b AND c) XOR d))"),
            ("a OR b OR c AND d AND e", "(a OR b OR (c AND d AND e))"),
            ("a XOR b XOR c", "((a XOR b) XOR c)"),
            ("NOT a = b AND c", "((NOT (a = b)) AND c)"),
            ("NOT NOT a", "(NOT (NOT a))"),
            ("! a = b", "((NOT a) = b)"),
            ("a = b = c", "((a = b) = c)"),
            ("a < b IS NULL", "((a < b) IS NULL)"),
            ("a IS NULL IS NOT NULL", "((a IS NULL) IS NOT NULL)"),
            ("a = b IN (1, 2)", "(a = (b IN (1, 2)))"),
            ("a = b BETWEEN 1 AND 2 AND c", "((a = (b BETWEEN 1 AND 2)) AND c)"),
            ("a BETWEEN b AND c LIKE d", "(a BETWEEN b AND (c LIKE d))"),
            ("x LIKE BINARY 'y' AND z", "((x LIKE (BINARY 'y')) AND z)"),
            ("x NOT LIKE 'y' ESCAPE '|' OR z", "((x NOT LIKE 'y' ESCAPE '|') OR z)"),
            ("a REGEXP b + c", "(a REGEXP (b + c))"),
            ("a SOUNDS LIKE b = c", "((a SOUNDS LIKE b) = c)"),
            ("a | b & c << d + e * f ^ g", "(a | (b & (c << (d + (e * (f ^ g))))))"),
            ("a ^ b ^ c * d", "(((a ^ b) ^ c) * d)"),
            ("a DIV b % c MOD d", "(((a DIV b) % c) % d)"),
            ("- a ^ b", "((- a) ^ b)"),
            ("~ a + - b", "((~a) + (- b))"),
            ("- - 1", "(- (- 1))"),
            ("a -1", "(a - 1)"),
            ("a- -1", "(a - (- 1))"),
            ("1--1", "(1 - (- 1))"),
            ("- a COLLATE x", "(- (a COLLATE x))"),
            ("BINARY a = 'x'", "((BINARY a) = 'x')"),
            ("! a COLLATE x", "(NOT (a COLLATE x))"),
            ("a + INTERVAL 1 DAY + INTERVAL 2 HOUR", "((a + INTERVAL 1 DAY) + INTERVAL 2 HOUR)"),
            ("INTERVAL 1 DAY + a", "(a + INTERVAL 1 DAY)"),
            ("a - INTERVAL b * 2 MONTH = c", "((a - INTERVAL (b * 2) MONTH) = c)"),
            ("INTERVAL(5, 1, 3)", "INTERVAL(5, 1, 3)"),
            ("@a := @b := 1 + 2", "(@a := (@b := (1 + 2)))"),
            ("(a, b) = (1, 2)", "(ROW(a, b) = ROW(1, 2))"),
            ("a IN ((SELECT 1))", "(a IN (query))"),
            ("a = ANY (SELECT 1) OR b", "((a = ANY (query)) OR b)"),
            ("((SELECT 1) UNION (SELECT 2)) + 1", "((query) + 1)"),
            ("((SELECT 1) + 1)", "((query) + 1)"),
            ("d->'$.a' = 5", "((d -> '$.a') = 5)"),
            ("17 MEMBER OF ('[17]')", "(17 MEMBER OF ('[17]'))"),
            ("CASE a WHEN 1 THEN 2 ELSE 3 END + 1", "(CASE a WHEN 1 THEN 2 ELSE 3 END + 1)"),
            ("'a' 'b' \"c\"", "'abc'"),
            ("N'x'", "_utf8mb3'x'"),
            ("_latin1'x' COLLATE y", "(_latin1'x' COLLATE y)"),
            ("0xABC + b'101'", "(x'0abc' + x'05')"),
            (".5 + 5. + 1e3", "((.5 + 5.) + 1e3)"),
            ("18446744073709551615 + 18446744073709551616", "(18446744073709551615 + 18446744073709551616)"),
            ("t.select + t.1a + 1a", "((t.select + t.1a) + 1a)"),
            ("'it''s \\'q\\' \\% \\n'", "'it''s ''q'' \\\\% \n'"),
        ],
    );
}

#[test]
fn modes_change_binding_and_quotes() {
    let mode = SqlMode { pipes_as_concat: true, ..SqlMode::default() };
    check(
        mode,
        &[("a || b ^ c", "((a || b) ^ c)"), ("- a || b", "((- a) || b)"), ("a LIKE b || c", "(a LIKE (b || c))")],
    );
    let mode = SqlMode { high_not_precedence: true, ..SqlMode::default() };
    check(mode, &[("NOT a BETWEEN b AND c", "((NOT a) BETWEEN b AND c)"), ("1 + NOT a", "(1 + (NOT a))")]);
    let mode = SqlMode { ansi_quotes: true, ..SqlMode::default() };
    check(mode, &[("\"a\" = 'b'", "(a = 'b')"), ("\"a\"\"b\"", "a\"b")]);
    let mode = SqlMode { no_backslash_escapes: true, ..SqlMode::default() };
    check(mode, &[("'a\\'", "'a\\\\'")]);
    let mode = SqlMode { ignore_space: true, ..SqlMode::default() };
    check(mode, &[("COUNT (*)", "COUNT(*)")]);
}

#[test]
fn refused_expressions() {
    for text in [
        "1 + NOT a",
        "a IN (1) IN (2)",
        "a LIKE b LIKE c",
        "a IS TRUE IS NULL",
        "a BETWEEN 1",
        "a + ",
        "(1",
        "1)",
        "a NOT b",
        "COUNT (*)",
        "COUNT()",
        "IF(1, 2)",
        "CASE END",
        "CAST(a AS INT)",
        "INTERVAL 1 DAY",
        "a -> b",
        "1 -> '$'",
        "x'123'",
        "'open",
        "a COLLATE",
        "@@",
        "@@global",
        "EXISTS 1",
        "{d}",
        "a ILIKE 'x'",
        "a::int",
        "[a]",
        ":a",
        "ROW(1)",
        "a IN ()",
        "RANK()",
        "a, *",
        "NTILE() OVER ()",
        "TRIM(LEADING 'x')",
        "a = ALL 1",
        "b'12'",
    ] {
        let error = show(text, SqlMode::default()).expect_err(text);
        assert_eq!(error.code(), types::codes::ER_PARSE_ERROR, "{text}");
    }
}

#[test]
fn nesting_is_bounded_and_errors_are_clean() {
    let run = || {
        // As deep as MySQL goes, at least.
        for (open, close, taken) in [
            ("(", ")", 5000),
            ("- ", "", 3000),
            ("NOT ", "", 3000),
            ("f(", ")", 1000),
            ("CASE WHEN 1 THEN ", " END", 1000),
            ("~", "", 3000),
        ] {
            let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
            assert_eq!(parsed(&text).expect_err(open).code(), types::codes::ER_STACK_OVERRUN_NEED_MORE, "{open}");
            let text = format!("{}1{}", open.repeat(taken), close.repeat(taken));
            let height = parsed(&text).expect(open).height();
            assert_eq!(height > 40, open != "(", "{open}: {height}");
        }
        for (levels, taken) in [(63, true), (64, false)] {
            let text = format!("{}1{}", "(SELECT ".repeat(levels), ")".repeat(levels));
            let code = parsed(&text).err().map(|e| e.code());
            assert_eq!(code, (!taken).then_some(1473), "{levels} levels");
        }
        for link in ["1 + ", "1 UNION SELECT "] {
            assert_eq!(
                parsed(&(link.repeat(100_000) + "1")).expect_err(link).code(),
                types::codes::ER_STACK_OVERRUN_NEED_MORE
            );
            assert!(parsed(&(link.repeat(3000) + "1")).is_ok(), "{link}");
        }
        // AND and OR are flat: as long as one likes.
        let flat = "a = 1 OR ".repeat(100_000) + "b";
        assert!(show(&flat, SqlMode::default()).is_ok());
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).expect("a thread").join().expect("no overflow");
}

fn parsed(expression: &str) -> Result<sql::ast::Parsed, sql::ParseError> {
    sql::parse(format!("SELECT {expression}").as_bytes(), SqlMode::default())
}

/// Random expressions without parentheses of their own.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_string()),
        Just("t.b".to_string()),
        Just("NULL".to_string()),
        Just("'s\\n'".to_string()),
        Just("@v".to_string()),
        (0u32..1000).prop_map(|n| n.to_string()),
        Just("1.50".to_string()),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let ops = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "DIV", "MOD", "^", "&", "|", "<<", ">>", "=", "<=>", "<>", "!=", "<", ">=", "AND",
            "&&", "OR", "||", "XOR", "REGEXP",
        ]);
        prop_oneof![
            4 => (inner.clone(), ops, inner.clone()).prop_map(|(l, op, r)| format!("{l} {op} {r}")),
            1 => inner.clone().prop_map(|e| format!("({e})")),
            1 => inner.clone().prop_map(|e| format!("- {e}")),
            1 => inner.clone().prop_map(|e| format!("~{e}")),
            1 => inner.clone().prop_map(|e| format!("!{e}")),
            1 => inner.clone().prop_map(|e| format!("(NOT {e})")),
            1 => inner.clone().prop_map(|e| format!("({e}) IS NOT NULL")),
            1 => (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l}) LIKE ({r})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l}) IN ({r}, 1)")),
            1 => (inner.clone(), inner.clone()).prop_map(|(l, r)| format!("({l}) NOT BETWEEN 1 AND ({r})")),
            1 => (inner.clone(), inner).prop_map(|(l, r)| format!("IF({l}, {r}, f({l}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    /// What is printed parses to the same tree.
    #[test]
    fn printing_and_parsing_agree(text in expression()) {
        // Some random sequences are no expressions (`a IN (1) + 2`); those that are must survive the trip.
        if let Ok(printed) = show(&text, SqlMode::default()) {
            let again = show(&printed, SqlMode::default());
            prop_assert_eq!(again.as_deref(), Ok(printed.as_str()), "{}", text);
        }
    }
}
