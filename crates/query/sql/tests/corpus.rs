//! Statements of every production, and texts that must be refused with 1064, or 3954 for an INTO that stands where it must not.

use sql::{SqlMode, parse};
use types::codes::{ER_MISPLACED_INTO, ER_PARSE_ERROR};

#[test]
fn every_production_parses_and_every_fault_is_refused() {
    let mut valid = true;
    let (mut seen, mut failures) = (0, Vec::new());
    for line in include_str!("corpus.sql").lines() {
        match line {
            "-- ok" => valid = true,
            "-- error" => valid = false,
            _ => {
                seen += 1;
                let outcome = parse(line.as_bytes(), SqlMode::default());
                let refused = |e: &sql::ParseError| matches!(e.code(), ER_PARSE_ERROR | ER_MISPLACED_INTO);
                let right = if valid { outcome.is_ok() } else { outcome.as_ref().is_err_and(refused) };
                if !right {
                    failures.push(format!("{line}\n    {:?}", outcome.map(|p| p.statement)));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {seen}:\n{}", failures.len(), failures.join("\n"));
    assert!(seen >= 400, "only {seen}");
}
