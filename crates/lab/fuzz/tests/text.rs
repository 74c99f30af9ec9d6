//! Statements and documents.

use bolero::check;
use fuzz::{Draw, corpus, mutated};
use sql::digest::{Digesting, Normalized, digest_text, normalize};
use sql::{SqlMode, parse, parse_next};
use types::json;

#[test]
fn statements() {
    let corpus = corpus("sql");
    check!().with_type::<Draw>().for_each(|draw| {
        let bytes = mutated(&corpus, draw);
        let bit = |n: u8| draw.2[0] & 1 << n != 0;
        let mode = SqlMode {
            pipes_as_concat: bit(0),
            ansi_quotes: bit(1),
            no_backslash_escapes: bit(2),
            high_not_precedence: bit(3),
            ignore_space: bit(4),
            real_as_float: bit(5),
        };
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match parse_next(rest, mode) {
                Ok((_, after)) => {
                    assert!(after.len() < rest.len());
                    rest = after;
                }
                Err(error) => {
                    assert!(error.offset() <= rest.len() && !error.message().is_empty());
                    break;
                }
            }
        }
        let mut normalized = Normalized::default();
        if normalize(&bytes, mode, &mut normalized) {
            let lifted = sql::parse_lifted(&bytes, mode, &normalized.literals);
            assert_eq!(lifted.is_ok(), parse(&bytes, mode).is_ok(), "lifting never changes what is accepted");
        }
        digest_text(&bytes, Digesting::new(mode));
    });
}

#[test]
fn documents() {
    let corpus = corpus("json");
    check!().with_type::<Draw>().for_each(|draw| {
        let bytes = mutated(&corpus, draw);
        if let Ok(document) = json::parse::parse(&bytes) {
            let again = json::parse::parse(&document.to_text()).expect("what is written is read");
            assert_eq!(again.to_text(), document.to_text());
            let binary = json::binary::encode(&document);
            let decoded = json::binary::decode(&binary).expect("what is encoded is decoded");
            assert_eq!(decoded.to_text(), document.to_text());
            // The binary form with changes of its own, as a damaged or foreign one.
            let changed = mutated(&[binary], draw);
            for decoded in
                [json::binary::decode(&changed), json::binary::decode_foreign(&changed)].into_iter().flatten()
            {
                decoded.to_text();
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(path) = json::path::parse(&text) {
            path.has_wildcard();
        }
    });
}
