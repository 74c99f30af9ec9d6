//! Runs the statements of `shared/statements.sql` beside the checkout, when it is there: everything valid in MySQL 8 must
//! parse, everything else must be refused.

use sql::{SqlMode, parse, parse_next};

/// How statements begin that MySQL 8.4 has dropped and nobody sends: there they are syntax errors, though older 8.0 has them.
const DROPPED: &[&str] = &["FLUSH HOSTS"];
/// Undeclared variable: one of the routines selects into one, which MySQL 9.7 refuses so, too.
const ER_SP_UNDECLARED_VAR: u16 = 1327;

fn parse_all(source: &[u8]) -> Result<usize, sql::ParseError> {
    let mut rest = source;
    let mut count = 0;
    while !rest.is_empty() {
        let (_, after) = parse_next(rest, SqlMode::default())?;
        rest = after;
        count += 1;
    }
    Ok(count)
}

#[test]
fn every_statement_has_its_outcome() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/statements.sql");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("{path} is not there: skipped");
        return;
    };
    let mut class = "";
    let mut expect = "ok";
    let mut failures = Vec::new();
    let mut seen = 0;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("-- class: ") {
            class = name;
        } else if let Some(what) = line.strip_prefix("-- expect: ") {
            expect = what;
        } else if !line.starts_with("--") && !line.is_empty() {
            seen += 1;
            // Texts to be prepared have parameters.
            let prepared = |_| parse(line.as_bytes(), SqlMode::default()).map(|_| 1);
            let outcome = parse_all(line.as_bytes()).or_else(prepared);
            let right = match expect {
                "ok" | "mysql" if DROPPED.iter().any(|d| line.starts_with(d)) => outcome.is_err(),
                "ok" | "mysql" => outcome.as_ref().err().is_none_or(|e| e.code() == ER_SP_UNDECLARED_VAR),
                "old" | "mariadb" | "error" => {
                    outcome.as_ref().is_err_and(|e| e.code() == types::codes::ER_PARSE_ERROR)
                }
                other => panic!("unknown expectation {other}"),
            };
            if !right {
                failures.push(format!("{class} ({expect}): {line}\n    {outcome:?}"));
            }
            expect = "ok";
        }
    }
    assert!(failures.is_empty(), "{} of {seen} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(seen > 600, "only {seen} statements");
}
