//! ICU's syntax of regular expressions, turned into the matcher's.
//!
//! Modes (`(?imsxd)`) but `i` do not reach the matcher: what they change is written out where it stands. Some of it costs the matcher
//! its fast road, as that `.` takes `\r\n` for one character, or that `ss` matches `ß`. So a pattern has variants, and a subject is
//! matched by the plainest that it leaves right.

use crate::scratch::{Asks, Flags, Pattern};
use std::cell::OnceCell;
use types::codes::*;
use types::{Result, SqlError, err};

/// Steps of backtracking before a match is given up with error 3699, as `regexp_time_limit` does it.
const BACKTRACK_MAX: usize = 1_000_000;

/// Bytes of a pattern: nobody can end its compilation, which takes a second for a hundred thousand.
const PATTERN_MAX: usize = 1 << 16;

/// What ends a line, as members of a class.
const BREAKS: &str = r"\n\x0b\x0c\r\u{85}\u{2028}\u{2029}";

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\x0b' | '\x0c' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What a subject has that the plain variant does not expect.
#[derive(Clone, Copy, Default)]
struct Variant {
    breaks: bool,
    expansions: bool,
}

impl Pattern {
    /// Compiles the plain variant, which finds the mistakes.
    pub(super) fn new(text: &str, flags: Flags) -> Result<Pattern> {
        if text.len() > PATTERN_MAX {
            return Err(err!(ER_REGEXP_PATTERN_TOO_BIG));
        }
        let variant = Variant::default();
        let (plain, asks) = translate(text, flags, variant)?;
        let pattern = Pattern { text: text.to_owned(), flags, asks, variants: Default::default() };
        let _ = pattern.variants[0].set(build(&plain, flags)?);
        Ok(pattern)
    }

    #[inline]
    pub(super) fn for_subject(&self, subject: &str) -> Result<&fancy_regex::Regex> {
        let asks = self.asks;
        if !(asks.last_break || asks.breaks || asks.expansions) {
            return self.variant(Variant::default());
        }
        let breaks = asks.last_break && subject.ends_with(is_break)
            || asks.breaks && subject.contains(|c| c != '\n' && is_break(c));
        let expansions = asks.expansions && !subject.is_ascii() && subject.contains(|c| expansion(c).is_some());
        self.variant(Variant { breaks, expansions })
    }

    fn variant(&self, variant: Variant) -> Result<&fancy_regex::Regex> {
        let place: &OnceCell<_> = &self.variants[variant.breaks as usize + 2 * variant.expansions as usize];
        if let Some(regex) = place.get() {
            return Ok(regex);
        }
        let regex = build(&translate(&self.text, self.flags, variant)?.0, self.flags)?;
        Ok(place.get_or_init(|| regex))
    }
}

fn build(text: &str, flags: Flags) -> Result<fancy_regex::Regex> {
    fancy_regex::RegexBuilder::new(text)
        .case_insensitive(flags.ignore_case)
        .backtrack_limit(BACKTRACK_MAX)
        .build()
        .map_err(|e| compile_error(&e))
}

/// The mistakes that [`translate`] has not found.
fn compile_error(e: &fancy_regex::Error) -> SqlError {
    use fancy_regex::{CompileError as C, Error, ParseError as P};
    match e {
        Error::CompileError(e) if matches!(**e, C::InnerError(_) | C::PatternTooComplex) => {
            err!(ER_REGEXP_PATTERN_TOO_BIG)
        }
        Error::ParseError(_, P::UnclosedOpenParen) => mismatched_paren(),
        Error::ParseError(_, P::InvalidBackref) => err!(ER_REGEXP_INVALID_BACK_REF),
        Error::ParseError(_, P::TrailingBackslash | P::InvalidEscape(_) | P::InvalidHex) => bad_escape(),
        Error::ParseError(at, _) => rule_syntax(*at),
        _ => rule_syntax(0),
    }
}

fn mismatched_paren() -> SqlError {
    SqlError::new(ER_REGEXP_MISMATCHED_PAREN, "Mismatched parenthesis in regular expression.")
}

fn rule_syntax(at: usize) -> SqlError {
    err!(ER_REGEXP_RULE_SYNTAX, 1, at + 1)
}

/// 3688 at a place of a pattern, by its lines.
fn syntax_at(chars: &[char], at: usize) -> SqlError {
    let before = &chars[..at.min(chars.len())];
    let lines = before.iter().filter(|c| **c == '\n').count();
    let in_line = before.iter().rev().take_while(|c| **c != '\n').count();
    err!(ER_REGEXP_RULE_SYNTAX, lines + 1, in_line + 1)
}

fn bad_escape() -> SqlError {
    err!(ER_REGEXP_BAD_ESCAPE_SEQUENCE)
}

/// Does a letter behind a backslash stand for a set of characters?
fn is_set_escape(c: char) -> bool {
    matches!(c, 'd' | 'D' | 'h' | 'H' | 'p' | 'P' | 's' | 'S' | 'v' | 'V' | 'w' | 'W')
}

fn unclosed() -> SqlError {
    err!(ER_REGEXP_MISSING_CLOSE_BRACKET)
}

/// The characters that fold to several, and what they fold to.
const EXPANDING: [std::ops::RangeInclusive<char>; 10] = [
    'ß'..='ß',
    'İ'..='İ',
    'ŉ'..='ŉ',
    'ǰ'..='ǰ',
    'ΐ'..='ΐ',
    'ΰ'..='ΰ',
    'և'..='և',
    '\u{1E96}'..='\u{1E9E}',
    '\u{1F50}'..='\u{1FFC}',
    '\u{FB00}'..='\u{FB17}',
];

fn expansion(c: char) -> Option<Vec<char>> {
    if c < 'ß' || !EXPANDING.iter().any(|r| r.contains(&c)) {
        return None;
    }
    let folded: Vec<char> = match c {
        'ẞ' => vec!['s', 's'],
        'İ' => vec!['i', '\u{307}'],
        _ => c.to_uppercase().flat_map(char::to_lowercase).collect(),
    };
    (folded.len() > 1).then_some(folded)
}

/// A character's own folding: one for one.
fn folded(c: char) -> char {
    let (mut upper, mut lower) = (c.to_uppercase(), c.to_lowercase());
    match (upper.next(), upper.next(), lower.next(), lower.next()) {
        (Some(_), _, Some(l), None) if l != c => l,
        (Some(u), None, ..) if c != 'ı' => u.to_lowercase().next().unwrap_or(c),
        _ => c,
    }
}

#[derive(Clone, Copy)]
struct Modes {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    unix_lines: bool,
    comments: bool,
    /// Boundaries of words as UAX 29 has them, which are not there.
    words: bool,
}

/// A group that is open: does it look behind, and which modes were there before it?
struct Group {
    looks_behind: bool,
    before: Modes,
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    flags: Flags,
    modes: Modes,
    variant: Variant,
    asks: Asks,
    out: String,
    groups: Vec<Group>,
    captures: usize,
    /// Of groups.
    names: Vec<String>,
    references: usize,
    /// Characters that stand for themselves, not yet in `out`.
    literals: Vec<char>,
    /// Is there something that a quantifier could repeat?
    repeatable: bool,
}

/// The pattern in the matcher's syntax.
fn translate(text: &str, flags: Flags, variant: Variant) -> Result<(String, Asks)> {
    let mut t = Translator {
        chars: text.chars().collect(),
        at: 0,
        flags,
        modes: Modes {
            ignore_case: flags.ignore_case,
            multi_line: flags.multi_line,
            dot_all: flags.dot_all,
            unix_lines: flags.unix_lines,
            comments: false,
            words: false,
        },
        variant,
        asks: Asks::default(),
        out: String::with_capacity(text.len() + 16),
        groups: Vec::new(),
        captures: 0,
        names: Vec::new(),
        references: 0,
        literals: Vec::new(),
        repeatable: false,
    };
    t.run()?;
    Ok((t.out, t.asks))
}

impl Translator {
    fn syntax(&self, at: usize) -> SqlError {
        syntax_at(&self.chars, at)
    }

    fn peek(&self, n: usize) -> Option<char> {
        self.chars.get(self.at + n).copied()
    }

    fn run(&mut self) -> Result<()> {
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => self.escape()?,
                '[' => {
                    self.flush(false);
                    self.with_case(Self::class)?;
                    self.repeatable = true;
                }
                '(' => self.open()?,
                ')' => {
                    let group = self.groups.pop().ok_or_else(mismatched_paren)?;
                    self.put(")", 1, true);
                    self.modes = group.before;
                }
                '.' => self.dot(),
                '^' => self.line_start(),
                '$' => self.line_end(self.modes.multi_line, 1),
                '*' | '+' | '?' => {
                    self.quantified()?;
                    self.flush(true);
                    self.put(c.encode_utf8(&mut [0; 4]), 1, false);
                    self.lazy_or_possessive();
                }
                '{' => self.interval()?,
                '}' => return Err(self.syntax(self.at)),
                '|' => self.put("|", 1, false),
                c if self.modes.comments && c.is_whitespace() => self.at += 1,
                '#' if self.modes.comments => {
                    while self.peek(0).is_some_and(|c| !is_break(c)) {
                        self.at += 1;
                    }
                }
                c => self.literal(c, 1),
            }
        }
        self.flush(false);
        if !self.groups.is_empty() {
            return Err(mismatched_paren());
        }
        if self.references > self.captures {
            return Err(err!(ER_REGEXP_INVALID_BACK_REF));
        }
        Ok(())
    }

    /// Appends what depends on the case of letters. The matcher lets a flag out of the group that it stands in, so that each such piece has
    /// its own where it is not the pattern's.
    fn with_case(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let ignores = self.modes.ignore_case;
        if ignores == self.flags.ignore_case {
            return write(self);
        }
        self.out.push_str(if ignores { "(?i:" } else { "(?-i:" });
        write(self)?;
        self.out.push(')');
        Ok(())
    }

    /// Appends a piece in the matcher's syntax for the next `length` characters of the pattern.
    fn put(&mut self, piece: &str, length: usize, repeatable: bool) {
        self.flush(false);
        self.out.push_str(piece);
        self.at += length;
        self.repeatable = repeatable;
    }

    fn literal(&mut self, c: char, length: usize) {
        self.literals.push(c);
        self.at += length;
        self.repeatable = true;
    }

    fn dot(&mut self) {
        let modes = self.modes;
        let piece = match (modes.dot_all, modes.unix_lines) {
            (true, _) if self.variant.breaks => r"(?>\r\n|(?s:.))".to_owned(),
            (true, _) => "(?s:.)".to_owned(),
            (false, true) => r"[^\n]".to_owned(),
            (false, false) => format!("[^{BREAKS}]"),
        };
        self.asks.breaks |= modes.dot_all;
        self.put(&piece, 1, true);
    }

    fn line_start(&mut self) {
        let modes = self.modes;
        let own_breaks = modes.multi_line && !modes.unix_lines;
        let piece = match (modes.multi_line, own_breaks && self.variant.breaks) {
            (false, _) => "^".to_owned(),
            (true, false) => "(?m:^)".to_owned(),
            (true, true) => format!(r"(?:\A|(?<=[{BREAKS}])(?!\z|(?<=\r)\n))"),
        };
        self.asks.breaks |= own_breaks;
        self.asks.last_break |= own_breaks;
        self.put(&piece, 1, true);
    }

    /// `$`, and `\Z`, which is no other where there is one line.
    fn line_end(&mut self, multi_line: bool, length: usize) {
        let unix_lines = self.modes.unix_lines;
        let piece = match (multi_line, unix_lines, self.variant.breaks) {
            (true, false, true) => format!(r"(?:\z|(?=[{BREAKS}])(?!(?<=\r)\n))"),
            (true, ..) => "(?m:$)".to_owned(),
            (false, _, false) => "$".to_owned(),
            (false, true, true) => r"(?=\n?\z)".to_owned(),
            (false, false, true) => format!(r"(?:(?=(?:\r\n|[{BREAKS}])?\z)(?!(?<=\r)\n))"),
        };
        self.asks.breaks |= multi_line && !unix_lines;
        self.asks.last_break |= !multi_line;
        self.put(&piece, length, true);
    }

    /// A quantifier comes: 3688 if there is nothing before it, 3695 for an unbounded one in a look-behind.
    fn quantified(&self) -> Result<()> {
        if !self.repeatable {
            return Err(self.syntax(self.at));
        }
        if self.peek(0) != Some('?') && self.groups.iter().any(|g| g.looks_behind) {
            return Err(err!(ER_REGEXP_LOOK_BEHIND_LIMIT));
        }
        Ok(())
    }

    fn lazy_or_possessive(&mut self) {
        if let Some(c @ ('?' | '+')) = self.peek(0) {
            self.put(c.encode_utf8(&mut [0; 4]), 1, false);
        }
    }

    fn open(&mut self) -> Result<()> {
        let before = self.modes;
        let mut group = Group { looks_behind: false, before };
        match (self.peek(1), self.peek(2), self.peek(3)) {
            (Some('?'), Some('#'), _) => {
                while self.peek(0).is_some_and(|c| c != ')') {
                    self.at += 1;
                }
                if self.peek(0).is_none() {
                    return Err(mismatched_paren());
                }
                self.at += 1;
                return Ok(());
            }
            (Some('?'), Some(c @ (':' | '=' | '!' | '>')), _) => self.put(&format!("(?{c}"), 3, false),
            (Some('?'), Some('<'), Some(c @ ('=' | '!'))) => {
                group.looks_behind = true;
                self.put(&format!("(?<{c}"), 4, false);
            }
            (Some('?'), Some('<'), _) => {
                let name: String = self.chars[self.at + 3..].iter().take_while(|c| c.is_ascii_alphanumeric()).collect();
                let end = 3 + name.len();
                if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    return Err(self.syntax(self.at + 3));
                }
                if self.peek(end) != Some('>') {
                    return Err(self.syntax(self.at + end));
                }
                if self.names.contains(&name) {
                    return Err(err!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
                }
                self.names.push(name.clone());
                self.captures += 1;
                self.put(&format!("(?<{name}>"), name.chars().count() + 4, false);
            }
            (Some('?'), ..) => {
                if !self.modes_change()? {
                    return Ok(());
                }
            }
            _ => {
                self.captures += 1;
                self.put("(", 1, false);
            }
        }
        self.groups.push(group);
        Ok(())
    }

    /// `(?ims-x:`, which opens a group, and `(?ims-x)`, which does not.
    fn modes_change(&mut self) -> Result<bool> {
        self.flush(false);
        let (mut on, mut length) = (true, 2);
        loop {
            let Some(c) = self.peek(length) else {
                return Err(if length == 2 { self.syntax(self.at + 1) } else { err!(ER_REGEXP_INVALID_FLAG) });
            };
            length += 1;
            match c {
                '-' => on = false,
                'i' => self.modes.ignore_case = on,
                'm' => self.modes.multi_line = on,
                's' => self.modes.dot_all = on,
                'd' => self.modes.unix_lines = on,
                'x' => self.modes.comments = on,
                'w' => self.modes.words = on,
                ')' => {
                    self.at += length;
                    self.repeatable = false;
                    return Ok(false);
                }
                ':' => {
                    self.put("(?:", length, false);
                    return Ok(true);
                }
                '(' | '{' if length == 3 => return Err(err!(ER_REGEXP_UNIMPLEMENTED)),
                _ if length == 3 => return Err(self.syntax(self.at + 2)),
                _ => return Err(err!(ER_REGEXP_INVALID_FLAG)),
            }
        }
    }

    fn interval(&mut self) -> Result<()> {
        let rest: String = self.chars[self.at + 1..].iter().take_while(|c| **c != '}').collect();
        let closed = self.at + 1 + rest.chars().count() < self.chars.len();
        let bad = || err!(ER_REGEXP_BAD_INTERVAL);
        let (low, high) = match rest.split_once(',') {
            Some((low, high)) => (low, Some(high)),
            None => (&rest[..], None),
        };
        let number = |s: &str| s.parse::<u32>().map_err(|_| bad());
        if !self.repeatable {
            return Err(self.syntax(self.at));
        }
        if !closed {
            return Err(bad());
        }
        let low = number(low)?;
        if let Some(high) = high.filter(|h| !h.is_empty())
            && number(high)? < low
        {
            return Err(err!(ER_REGEXP_MAX_LT_MIN));
        }
        if high == Some("") && self.groups.iter().any(|g| g.looks_behind) {
            return Err(err!(ER_REGEXP_LOOK_BEHIND_LIMIT));
        }
        self.flush(true);
        self.put(&format!("{{{rest}}}"), rest.chars().count() + 2, false);
        self.lazy_or_possessive();
        Ok(())
    }

    fn escape(&mut self) -> Result<()> {
        let Some(c) = self.peek(1) else { return Err(bad_escape()) };
        if let Some((literal, length)) = self.escaped_literal()? {
            self.literal(literal, length);
            return Ok(());
        }
        match c {
            'Q' => {
                let quoted: String = self.chars[self.at + 2..].iter().collect();
                let end = quoted.find("\\E").unwrap_or(quoted.len());
                let ended = end < quoted.len();
                quoted[..end].chars().for_each(|c| self.literal(c, 1));
                self.at += 2 + if ended { 2 } else { 0 };
            }
            'E' => self.at += 2,
            'R' => self.put(&format!(r"(?>\r\n|[{BREAKS}])"), 2, true),
            'Z' => self.line_end(false, 2),
            '1'..='9' => {
                // As many digits as there are groups for.
                let (mut group, mut length) = (c as usize - '0' as usize, 2);
                while let Some(digit) = self.peek(length).and_then(|c| c.to_digit(10))
                    && group * 10 + digit as usize <= self.captures
                {
                    (group, length) = (group * 10 + digit as usize, length + 1);
                }
                self.references = self.references.max(group);
                self.refer(&format!(r"(?:\{group})"), length)?;
            }
            'k' => {
                let name: String = self.chars[self.at + 2..].iter().skip(1).take_while(|c| **c != '>').collect();
                if self.peek(2) != Some('<') || !self.names.contains(&name) {
                    return Err(err!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
                }
                self.refer(&format!(r"(?:\k<{name}>)"), name.chars().count() + 4)?;
            }
            // Characters by name, groups of them that are read as one.
            'N' | 'X' => return Err(err!(ER_REGEXP_UNIMPLEMENTED)),
            'b' | 'B' if self.modes.words => return Err(err!(ER_REGEXP_UNIMPLEMENTED)),
            'A' | 'b' | 'B' | 'G' | 'z' => self.put(&format!(r"\{c}"), 2, false),
            c if is_set_escape(c) => {
                self.flush(false);
                self.with_case(|t| t.set_escape(c))?;
                self.repeatable = true;
            }
            c => self.literal(c, 2),
        }
        Ok(())
    }

    fn refer(&mut self, piece: &str, length: usize) -> Result<()> {
        self.put("", length, true);
        self.with_case(|t| {
            t.out.push_str(piece);
            Ok(())
        })
    }

    /// A backslash that names one character, and how much of the pattern does.
    fn escaped_literal(&self) -> Result<Option<(char, usize)>> {
        let Some(c) = self.peek(1) else { return Err(bad_escape()) };
        let code = |from: usize, max: usize, radix: u32, least: usize| -> Result<Option<(char, usize)>> {
            let digits: String =
                self.chars[self.at + from..].iter().take(max).take_while(|c| c.is_digit(radix)).collect();
            let code = u32::from_str_radix(&digits, radix).ok().filter(|_| digits.len() >= least);
            let c = code.and_then(char::from_u32).ok_or_else(bad_escape)?;
            Ok(Some((c, from + digits.len())))
        };
        match c {
            'a' => Ok(Some(('\x07', 2))),
            'e' => Ok(Some(('\x1b', 2))),
            'f' => Ok(Some(('\x0c', 2))),
            'n' => Ok(Some(('\n', 2))),
            'r' => Ok(Some(('\r', 2))),
            't' => Ok(Some(('\t', 2))),
            'c' => match self.peek(2) {
                Some(c) => Ok(Some((char::from(c as u32 as u8 & 0x1F), 3))),
                None => Ok(Some(('\0', 2))),
            },
            'x' if self.peek(2) == Some('{') => {
                let found = code(3, 8, 16, 1)?;
                let Some((c, length)) = found.filter(|(_, length)| self.peek(*length) == Some('}')) else {
                    return Err(bad_escape());
                };
                Ok(Some((c, length + 1)))
            }
            'x' => code(2, 2, 16, 1),
            'u' => code(2, 4, 16, 4),
            'U' => code(2, 8, 16, 8),
            '0' => code(2, 3, 8, 1),
            c if !c.is_ascii_alphanumeric() => Ok(Some((c, 2))),
            _ => Ok(None),
        }
    }

    /// An escape that stands for a set of characters, alone or within brackets.
    fn set_escape(&mut self, c: char) -> Result<()> {
        self.at += 2;
        match c {
            'h' => self.out.push_str(r"[\t\p{Zs}]"),
            'H' => self.out.push_str(r"[^\t\p{Zs}]"),
            'v' => self.out.push_str(&format!("[{BREAKS}]")),
            'V' => self.out.push_str(&format!("[^{BREAKS}]")),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => self.out.extend(['\\', c]),
            'p' | 'P' => {
                let name: String = self.chars[self.at..].iter().skip(1).take_while(|c| **c != '}').collect();
                let length = name.chars().count() + 2;
                if self.peek(0) != Some('{') || self.at + length > self.chars.len() {
                    return Err(err!(ER_REGEXP_ILLEGAL_ARGUMENT));
                }
                self.at += length;
                self.property(&name, c == 'P')?;
            }
            _ => return Err(bad_escape()),
        }
        Ok(())
    }

    /// `\p{name}` and `[:name:]`, with or without `^` before the name.
    fn property(&mut self, name: &str, negated: bool) -> Result<()> {
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, !negated),
            None => (name, negated),
        };
        let key: String = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect();
        let members = match &key[..] {
            "alpha" => r"\p{Alphabetic}",
            "alnum" => r"\p{Alphabetic}\p{Nd}",
            "digit" => r"\p{Nd}",
            "xdigit" => r"\p{Nd}0-9A-Fa-f\u{FF10}-\u{FF19}\u{FF21}-\u{FF26}\u{FF41}-\u{FF46}",
            "upper" => r"\p{Uppercase}",
            "lower" => r"\p{Lowercase}",
            "space" => r"\s",
            "punct" => r"\p{P}",
            "blank" => r"\t\p{Zs}",
            "cntrl" => r"\p{Cc}",
            "graph" => r"[^\s\p{Cc}\p{Cs}\p{Cn}]",
            "print" => r"[^\s\p{Cc}\p{Cs}\p{Cn}]\p{Zs}",
            "word" => r"\w",
            _ => "",
        };
        let members = match members {
            "" => {
                let is_block =
                    name.strip_prefix("In").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
                if is_block || key.starts_with("block=") || key.starts_with("blk=") {
                    // Blocks of characters.
                    return Err(err!(ER_REGEXP_UNIMPLEMENTED));
                }
                let members = format!(r"\p{{{}}}", name.strip_prefix("Is").unwrap_or(name));
                fancy_regex::Regex::new(&members).map_err(|_| err!(ER_REGEXP_ILLEGAL_ARGUMENT))?;
                members
            }
            members => members.to_owned(),
        };
        self.out.push_str(if negated { "[^" } else { "[" });
        self.out.push_str(&members);
        self.out.push(']');
        Ok(())
    }

    /// `[:name:]`, at which the pattern stands: the name.
    fn posix_name(&self) -> Option<String> {
        let is_of_name = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '^' | '_' | ' ' | '-' | '=');
        let name: String = self.chars[self.at..].iter().skip(2).take_while(is_of_name).collect();
        let end = 2 + name.len();
        (self.peek(1) == Some(':') && self.peek(end) == Some(':') && self.peek(end + 1) == Some(']')).then_some(name)
    }

    /// A bracket expression: as it stands, its ranges checked.
    fn class(&mut self) -> Result<()> {
        let mut depth = 0;
        // The member before, and where a range has begun, if it has.
        let (mut before, mut low): (Option<char>, Option<char>) = (None, None);
        loop {
            let Some(c) = self.peek(0) else { return Err(unclosed()) };
            let behind_set = depth > 0 && self.out.ends_with(']') && !self.out.ends_with("\\]");
            let member = match c {
                '[' => {
                    if let Some(name) = self.posix_name() {
                        self.at += name.len() + 4;
                        self.property(&name, false)?;
                        if depth == 0 {
                            return Ok(());
                        }
                    } else {
                        depth += 1;
                        self.put_member('[');
                        if self.peek(0) == Some('^') {
                            self.put_member('^');
                        }
                        while self.modes.comments && self.peek(0).is_some_and(char::is_whitespace) {
                            self.at += 1;
                        }
                    }
                    // At the beginning it is a member.
                    if self.peek(0) == Some(']') && self.out.ends_with(['[', '^']) { Some((']', 1)) } else { None }
                }
                ']' => {
                    depth -= 1;
                    self.put_member(c);
                    if depth == 0 {
                        return Ok(());
                    }
                    None
                }
                '\\' => match (self.escaped_literal()?, self.chars[self.at + 1]) {
                    (None, c) if is_set_escape(c) => {
                        self.set_escape(c)?;
                        None
                    }
                    (None, 'N') => return Err(err!(ER_REGEXP_UNIMPLEMENTED)),
                    (None, c) => Some((c, 2)),
                    (found, _) => found,
                },
                // Less the set that follows.
                '-' if self.peek(1) == Some('-') || behind_set && self.peek(1) == Some('[') => {
                    let length = if self.peek(1) == Some('-') { 2 } else { 1 };
                    self.out.push_str("--");
                    self.at += length;
                    None
                }
                '-' if before.is_none()
                    || self.peek(1) == Some(']')
                    || (self.peek(1), self.peek(2)) == (Some('['), Some(':')) =>
                {
                    Some((c, 1))
                }
                '-' => {
                    self.put_member(c);
                    low = before.take();
                    continue;
                }
                '&' if self.peek(1) == Some('&') => {
                    self.put_member(c);
                    self.put_member(c);
                    None
                }
                c if self.modes.comments && c.is_whitespace() => {
                    self.at += 1;
                    continue;
                }
                c => Some((c, 1)),
            };
            if let Some((c, length)) = member {
                self.at += length;
                literal(c, &mut self.out);
                if low.is_some_and(|low| low > c) {
                    return Err(err!(ER_REGEXP_INVALID_RANGE));
                }
            }
            // A range's end begins no other.
            before = member.map(|m| m.0).filter(|_| low.is_none());
            low = None;
        }
    }

    fn put_member(&mut self, c: char) {
        self.out.push(c);
        self.at += 1;
    }

    /// Writes the characters that stand for themselves. `split`: a quantifier repeats the last of them alone.
    fn flush(&mut self, split: bool) {
        let run = std::mem::take(&mut self.literals);
        let before = if split { run.len().saturating_sub(1) } else { run.len() };
        for (part, repeated) in [(&run[..before], false), (&run[before..], split)] {
            if !part.is_empty() {
                self.with_case(|t| t.write_run(part, repeated)).expect("characters have no mistakes");
            }
        }
    }

    fn write_run(&mut self, run: &[char], repeated: bool) -> Result<()> {
        if !self.modes.ignore_case {
            run.iter().for_each(|c| literal(*c, &mut self.out));
            return Ok(());
        }
        let run: Vec<char> = run.iter().flat_map(|c| expansion(*c).unwrap_or_else(|| vec![*c])).collect();
        let spans = Spans::of(&run);
        self.asks.expansions |= !spans.0.is_empty();
        let grouped = repeated && run.len() > 1;
        self.out.push_str(if grouped { "(?:" } else { "" });
        let mut at = 0;
        while at < run.len() {
            let to = if self.variant.expansions { spans.cluster(at) } else { at };
            if to == at {
                literal(run[at], &mut self.out);
                at += 1;
            } else {
                spans.write(&run, at, to, &mut self.out);
                at = to;
            }
        }
        self.out.push_str(if grouped { ")" } else { "" });
        Ok(())
    }
}

/// Where in a run of characters one character could stand for several: `(from, to, character)`.
struct Spans(Vec<(usize, usize, char)>);

/// A cluster is written as all ways through it, whose number grows with its length.
const CLUSTER_MAX: usize = 12;

impl Spans {
    fn of(run: &[char]) -> Spans {
        let run: Vec<char> = run.iter().map(|c| folded(*c)).collect();
        if run.len() < 2 {
            return Spans(Vec::new());
        }
        let mut spans = Vec::new();
        for c in EXPANDING.iter().cloned().flatten() {
            let Some(expanded) = expansion(c) else { continue };
            for (from, window) in run.windows(expanded.len()).enumerate() {
                if window == expanded {
                    spans.push((from, from + expanded.len(), c));
                }
            }
        }
        Spans(spans)
    }

    /// The end of the spans that begin at `from` or overlap with those.
    fn cluster(&self, from: usize) -> usize {
        let mut to = self.0.iter().filter(|s| s.0 == from).map(|s| s.1).max().unwrap_or(from);
        loop {
            let wider = self.0.iter().filter(|s| s.0 < to && s.0 >= from).map(|s| s.1).max().unwrap_or(to);
            let wider = wider.min(from + CLUSTER_MAX);
            if wider <= to {
                return to;
            }
            to = wider;
        }
    }

    /// All ways from one place to another.
    fn write(&self, run: &[char], at: usize, to: usize, out: &mut String) {
        if at == to {
            return;
        }
        let shorter = self.0.iter().filter(|s| s.0 == at && s.1 <= to);
        let mut ends: Vec<usize> = shorter.clone().map(|s| s.1).collect();
        ends.sort_unstable();
        ends.dedup();
        out.push_str("(?:");
        literal(run[at], out);
        self.write(run, at + 1, to, out);
        for end in ends {
            out.push_str("|[");
            out.extend(shorter.clone().filter(|s| s.1 == end).map(|s| s.2));
            out.push(']');
            self.write(run, end, to, out);
        }
        out.push(')');
    }
}

/// Appends a character that stands for itself.
fn literal(c: char, out: &mut String) {
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flags = Flags { ignore_case: false, multi_line: false, dot_all: false, unix_lines: false };

    fn matches(pattern: &str, flags: Flags, subject: &str) -> bool {
        let pattern = Pattern::new(pattern, flags).unwrap_or_else(|e| panic!("{pattern}: {e}"));
        pattern.for_subject(subject).unwrap().is_match(subject).unwrap()
    }

    #[test]
    fn what_takes_too_long_to_compile_is_refused() {
        let refused = |text: &str| Pattern::new(text, PLAIN).map(drop).map_err(|e| e.code);
        assert_eq!(refused(&"a".repeat(PATTERN_MAX)), Ok(()));
        assert_eq!(refused(&"a".repeat(PATTERN_MAX + 1)), Err(ER_REGEXP_PATTERN_TOO_BIG));
        assert_eq!(refused("((a{1,1000}){1,1000}){1,1000}"), Err(ER_REGEXP_PATTERN_TOO_BIG));
    }

    #[test]
    fn patterns_match_as_icus_do() {
        for (pattern, subject, expected) in [
            ("a.b", "a\rb", false),
            ("a$", "a\n", true),
            ("a$", "a\nb", false),
            (r"^a\r$", "a\r\n", false),
            (r"\Qa.b\E+", "a.bb", true),
            (r"^\h+x", "\t x", true),
            ("[[:alpha:]]+1", "é1", true),
            (r"(a)(b)\2\1", "abba", true),
            ("(?<=a)b", "ab", true),
            ("a++b", "aab", true),
            (r"[\d&&[^5]]", "5", false),
            ("x{2,3}y", "xxy", true),
            ("(?s)^..$", "\r\n", false),
            ("(?m)^b$", "a\r\nb\r", true),
            ("(?x) a b # c", "ab", true),
            (r"\p{L}+1", "é1", true),
            (r"^[\d-z]+$", "1-z", true),
            (r"^[[a-z]-[b]]$", "b", false),
            (r"^[[a-z]-[b]]$", "a", true),
            (r"((((((((((a))))))))))\10", "aa", true),
        ] {
            assert_eq!(matches(pattern, PLAIN, subject), expected, "{pattern} {subject:?}");
        }
    }

    #[test]
    fn one_character_stands_for_several_that_it_folds_to() {
        let any_case = Flags { ignore_case: true, ..PLAIN };
        for (pattern, subject, expected) in [
            ("STRASSE", "Straße", true),
            ("^ß$", "ss", true),
            ("^sss$", "sß", true),
            ("^sss$", "ẞs", true),
            ("^s$", "ß", false),
            ("^aß+$", "assSSß", true),
            ("^ſs$", "ß", true),
            ("^ffi$", "ﬃ", true),
            ("^ffi$", "ﬀi", true),
            ("^ffi$", "fﬁ", true),
            ("ı", "i", false),
            ("^(?-i)ss$", "ß", false),
        ] {
            assert_eq!(matches(pattern, any_case, subject), expected, "{pattern} {subject:?}");
        }
    }

    #[test]
    fn mistakes_have_icus_errors() {
        for (pattern, code) in [
            ("(", 3691),
            ("a)", 3691),
            ("[a", 3696),
            ("a{2", 3692),
            ("a{x}", 3692),
            ("a{2,1}", 3693),
            ("*", 3688),
            ("\\", 3689),
            ("[b-a]", 3697),
            ("(?<=a*)b", 3695),
            (r"\1", 3694),
        ] {
            assert_eq!(Pattern::new(pattern, PLAIN).err().map(|e| e.code), Some(code), "{pattern}");
        }
    }
}
