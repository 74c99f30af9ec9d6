//! LIKE: `%` any characters, `_` one character, an escape character before either takes it as it stands.

use super::{CollationId, ascii};
use crate::charset::Charset;

/// One character of a pattern.
#[derive(Clone, Copy)]
enum Token {
    Any,
    One,
    Char(u32),
}

fn token(charset: Charset, pattern: &[u8], escape: Option<u32>) -> (Token, usize) {
    let (code, length) = charset.decode(pattern);
    if Some(code) == escape && pattern.len() > length {
        let (escaped, more) = charset.decode(&pattern[length..]);
        return (Token::Char(escaped), length + more);
    }
    match code {
        c if c == '%' as u32 => (Token::Any, length),
        c if c == '_' as u32 => (Token::One, length),
        c => (Token::Char(c), length),
    }
}

/// The characters of a pattern before its first wildcard, at most `characters`, without the escapes.
pub(super) fn literal_prefix(charset: Charset, pattern: &[u8], escape: Option<char>, characters: usize) -> Vec<u8> {
    let escape = escape.map(|c| c as u32);
    let (mut out, mut rest) = (Vec::with_capacity(pattern.len()), pattern);
    for _ in 0..characters {
        if rest.is_empty() {
            break;
        }
        let (Token::Char(_), length) = token(charset, rest, escape) else { break };
        let own = charset.decode(rest).1;
        out.extend_from_slice(if own < length { &rest[own..length] } else { &rest[..length] });
        rest = &rest[length..];
    }
    out
}

/// Steps from one question whether to go on to the next: some milliseconds.
const ASKED_EACH: u32 = 1 << 20;

/// Matches with one backtracking point: on a mismatch, the last `%` takes one character more. At most
/// `text * pattern` steps, no recursion; `go_on` is asked every [`ASKED_EACH`].
pub(super) fn like<E>(
    collation: CollationId,
    text: &[u8],
    pattern: &[u8],
    escape: Option<char>,
    go_on: &mut dyn FnMut() -> Result<(), E>,
) -> Result<bool, E> {
    let charset = collation.charset();
    let escape = escape.map(|c| c as u32);
    let (mut t, mut p) = (text, pattern);
    // Where ASCII is single bytes, what a character behind `%` cannot equal is passed over without decoding it.
    let classes = charset.is_ascii_compatible().then(|| ascii::classes(collation));
    let to_candidate = |text: &mut &[u8], rest: &[u8]| {
        if let (Some(classes), (Token::Char(wanted @ 0..0x80), _)) = (classes, token(charset, rest, escape)) {
            let before = ascii::before_candidate(classes, text, wanted as u8);
            *text = &text[before..];
        }
    };
    let mut retry: Option<(&[u8], &[u8])> = None;
    let mut steps = 0u32;
    loop {
        steps += 1;
        if steps == ASKED_EACH {
            steps = 0;
            go_on()?;
        }
        if !p.is_empty() {
            let (want, length) = token(charset, p, escape);
            match want {
                Token::Any => {
                    p = &p[length..];
                    if p.is_empty() {
                        return Ok(true);
                    }
                    to_candidate(&mut t, p);
                    retry = Some((t, p));
                    continue;
                }
                Token::One if !t.is_empty() => {
                    (t, p) = (&t[charset.decode(t).1..], &p[length..]);
                    continue;
                }
                Token::Char(c) if !t.is_empty() => {
                    let (code, taken) = charset.decode(t);
                    if collation.char_equal(code, c) {
                        (t, p) = (&t[taken..], &p[length..]);
                        continue;
                    }
                }
                Token::One | Token::Char(_) => {}
            }
        } else if t.is_empty() {
            return Ok(true);
        }
        match retry {
            Some((from, rest)) if !from.is_empty() => {
                t = &from[charset.decode(from).1..];
                to_candidate(&mut t, rest);
                p = rest;
                retry = Some((t, p));
            }
            _ => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::COLLATIONS;
    use super::*;

    #[test]
    fn wildcards_escapes_and_collations() {
        let ci = CollationId::UTF8MB4_0900_AI_CI;
        let m = |text: &str, pattern: &str| ci.like(text.as_bytes(), pattern.as_bytes(), Some('\\'));
        assert!(m("abc", "a%c") && m("abc", "%") && m("", "%") && m("abc", "A_C") && m("aXbXc", "a%b%c"));
        assert!(!m("abc", "a_") && !m("abc", "b%") && !m("", "_"));
        assert!(m("50%", "50\\%") && !m("505", "50\\%") && m("a\\b", "a\\\\b") && m("a\\", "a\\"));
        assert!(m("é", "E") && m("日本", "_本"));
        assert!(!m("a ", "a"), "trailing spaces count");
        assert!(CollationId::UTF8MB4_BIN.like(b"a", b"a", None) && !CollationId::UTF8MB4_BIN.like(b"a", b"A", None));
        assert!(CollationId::LATIN1_SWEDISH_CI.like(b"\xE9t\xE9", b"ETE", None));
        assert!(ci.like(b"a|%b", b"a||%b", Some('|')) && !ci.like(b"a\\%", b"a\\%x", None));
    }

    /// LIKE as its definition says, for short texts.
    fn by_definition(collation: CollationId, text: &[u8], pattern: &[u8]) -> bool {
        let charset = collation.charset();
        if pattern.is_empty() {
            return text.is_empty();
        }
        let (want, length) = token(charset, pattern, None);
        let rest = &pattern[length..];
        let next = |text: &[u8]| charset.decode(text).1;
        match want {
            Token::Any if by_definition(collation, text, rest) => true,
            Token::Any => !text.is_empty() && by_definition(collation, &text[next(text)..], pattern),
            _ if text.is_empty() => false,
            Token::One => by_definition(collation, &text[next(text)..], rest),
            Token::Char(c) => {
                let (code, taken) = charset.decode(text);
                let equal = code == c || collation.char_equal_by_weight(code, c);
                equal && by_definition(collation, &text[taken..], rest)
            }
        }
    }

    #[test]
    fn what_is_passed_over_matches_nothing() {
        let alphabet = ["a", "A", "b", "B", "%", "%", "_", "é", "E", "\u{1}", " ", "[", "\u{C4}", "0", "ı", "i", "I"];
        let mut seed = 0x2545_F491_4F6C_DD1Du64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for info in COLLATIONS {
            for _ in 0..300 {
                let mut string = |most: usize| {
                    let text: String = (0..random(most)).map(|_| alphabet[random(alphabet.len())]).collect();
                    info.charset.from_utf8(text.as_bytes()).into_owned()
                };
                let (text, pattern) = (string(9), string(6));
                let expected = by_definition(info.id, &text, &pattern);
                assert_eq!(info.id.like(&text, &pattern, None), expected, "{}: {text:?} {pattern:?}", info.name);
            }
        }
    }

    #[test]
    fn weights_of_what_matches_begin_with_the_prefix() {
        let alphabet = [
            "a", "A", "á", "e\u{301}", "l", "l·", "\u{1}", " ", "\u{A0}", "ß", "s", "ﬁ", "日", "가", "\0", "%", "_",
            "ก", "เ", "z",
        ];
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for name in [
            "utf8mb4_0900_ai_ci",
            "utf8mb4_0900_as_cs",
            "utf8mb4_0900_bin",
            "utf8mb4_bin",
            "utf8mb4_general_ci",
            "utf8mb4_unicode_ci",
        ] {
            let collation = CollationId::by_name(name).expect("a collation");
            let mut matches = 0;
            for _ in 0..40_000 {
                let mut text = |n: usize| (0..n).map(|_| alphabet[random(alphabet.len())]).collect::<String>();
                let (prefix, string) = (text(1) + &text(1), text(1) + &text(2));
                let pattern = prefix.replace('%', "\\%").replace('_', "\\_") + "%";
                if !collation.like(string.as_bytes(), pattern.as_bytes(), Some('\\')) {
                    continue;
                }
                matches += 1;
                let (mut weights, mut begin) = (Vec::new(), Vec::new());
                collation.weights(string.as_bytes(), &mut weights);
                collation.like_prefix(pattern.as_bytes(), Some('\\'), usize::MAX, &mut begin);
                assert!(weights.starts_with(&begin), "{name}: {string:?} LIKE {pattern:?}: {weights:?} {begin:?}");
            }
            assert!(matches > 50, "{name}: {matches} matches");
        }
    }

    #[test]
    fn many_steps_end_when_they_are_to() {
        let (text, pattern) = (vec![b'a'; 4000], [&b"%"[..], &[b'a'; 2000], b"b"].concat());
        let mut asked = 0;
        let found = CollationId::UTF8MB4_BIN.try_like(&text, &pattern, None, &mut || {
            asked += 1;
            if asked == 2 { Err("enough") } else { Ok(()) }
        });
        assert_eq!((found, asked), (Err("enough"), 2));
    }

    #[test]
    fn many_wildcards_stay_polynomial() {
        let text = vec![b'a'; 2000];
        let pattern: Vec<u8> = b"%a".repeat(50).into_iter().chain(*b"%b").collect();
        assert!(!CollationId::UTF8MB4_BIN.like(&text, &pattern, None));
    }
}
