//! Two readings of a statement's tokens without a tree.
//!
//! [`normalize`] is the plan cache's key: one pass, a 128-bit hash of the tokens with some literals lifted out, and those
//! literals. Two texts with equal hash have one plan, with the literals as its parameters ([`crate::parse_lifted`]).
//! A literal is lifted only where it cannot shape the result's description or the plan's form:
//!
//! - behind a comparison operator, BETWEEN, LIKE, or the AND of a BETWEEN, in WHERE, ON and HAVING;
//! - in a list behind IN;
//! - in the rows of VALUES of an INSERT or REPLACE;
//! - behind `=` in SET of INSERT, UPDATE and ON DUPLICATE KEY UPDATE;
//! - in LIMIT.
//!
//! All others (select list, GROUP BY 1, ORDER BY 2, function arguments, strings with introducers, adjacent strings) are part
//! of the text. The kind of a lifted literal is hashed: `a = 1` and `a = '1'` are two plans. Only SELECT, INSERT, REPLACE,
//! UPDATE and DELETE are normalised, and only texts of one statement.
//!
//! [`digest_text`] is MySQL's statement digest: every literal becomes `?`, lists of them `...`.

mod text;

pub use text::{Digesting, NameSet, digest_text};

use crate::SqlMode;
use crate::keywords::Kw;
use crate::lexer::{ESCAPED, Lexer, Tok, Token, unescape};

/// A literal that was lifted out of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifted {
    /// Offsets in the text, quotes included.
    pub start: u32,
    pub end: u32,
    pub kind: LiteralKind,
}

/// What kind of literal was lifted out of a statement's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum LiteralKind {
    /// Up to 18 digits: fits i64.
    Int,
    Decimal,
    Float,
    String,
}

/// A text's plan-cache key and its literals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Normalized {
    pub hash: u128,
    pub literals: Vec<Lifted>,
}

impl Lifted {
    /// The literal's bytes: the digits, or the string unquoted and unescaped into `scratch` when it must be.
    pub fn value<'a>(&self, source: &'a [u8], mode: SqlMode, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let text = &source[self.start as usize..self.end as usize];
        if self.kind != LiteralKind::String {
            return text;
        }
        let (quote, contents) = (text[0], &text[1..text.len() - 1]);
        let escapes = !mode.no_backslash_escapes && contents.contains(&b'\\');
        if !escapes && !contents.contains(&quote) {
            return contents;
        }
        scratch.clear();
        unescape(contents, quote, !mode.no_backslash_escapes, scratch);
        scratch
    }
}

/// Two multiply-xor lanes over 8-byte words; good enough for 2^64 texts, not against an adversary: the cache compares texts
/// or accepts that a session can only harm itself by colliding.
struct Mixer {
    a: u64,
    b: u64,
}

impl Mixer {
    fn new(mode: SqlMode) -> Mixer {
        let bits = [
            mode.pipes_as_concat,
            mode.ansi_quotes,
            mode.no_backslash_escapes,
            mode.high_not_precedence,
            mode.ignore_space,
            mode.real_as_float,
        ];
        let mode = bits.iter().fold(0u64, |v, &bit| v << 1 | u64::from(bit));
        Mixer { a: 0x243f_6a88_85a3_08d3 ^ mode, b: 0x1319_8a2e_0370_7344 }
    }

    #[inline]
    fn word(&mut self, word: u64) {
        let x = u128::from(self.a ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        self.a = (x as u64).rotate_left(29) ^ (x >> 64) as u64;
        self.b = (self.b ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32).wrapping_add(self.a);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("8 bytes")));
        }
        let rest = chunks.remainder();
        let mut last = [0u8; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn finish(mut self) -> u128 {
        self.word(0x5851_f42d_4c95_7f2d);
        self.word(self.b);
        u128::from(self.a) << 64 | u128::from(self.b)
    }
}

/// Where in the statement a token stands, as far as lifting cares.
#[derive(Clone, Copy, PartialEq)]
enum Clause {
    /// Nothing is lifted.
    Fixed,
    /// WHERE, ON, HAVING: behind comparisons and in IN lists.
    Condition,
    /// SET: behind `=`, directly.
    Assign,
    /// Rows of VALUES: each literal that is a whole value.
    Values,
    Limit,
}

/// The plan-cache key of `source`, with its literals in `out` (reused: no allocation when it has room). False, and `out`
/// meaningless, when the text is not one that is cached.
pub fn normalize(source: &[u8], mode: SqlMode, out: &mut Normalized) -> bool {
    out.literals.clear();
    if source.len() > (1 << 30) {
        return false;
    }
    let mut lexer = Lexer::new(source, mode);
    let mut token = lexer.next_token();
    if !matches!(token.kw, Kw::SELECT | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE) {
        return false;
    }
    let insert = matches!(token.kw, Kw::INSERT | Kw::REPLACE);
    let mut mixer = Mixer::new(mode);
    let mut place = Place::default();
    let mut previous = token;
    loop {
        if let Some((start, end)) = lexer.hint {
            mixer.bytes(&source[start as usize..end as usize]);
        }
        let next = lexer.next_token();
        let clause = place.clause();
        let mut lifted = false;
        match token.tok {
            Tok::End => break,
            Tok::Bad => return false,
            Tok::Param => return false,
            Tok::Semicolon => {
                if next.tok != Tok::End {
                    return false;
                }
                break;
            }
            Tok::LParen => place.open(previous),
            Tok::RParen => {
                if let Some(start) = place.close() {
                    mixer.bytes(source[start..token.start as usize].trim_ascii());
                }
            }
            Tok::Comma => {
                place.armed = place.depth == place.in_list_depth
                    || (clause == Clause::Values && place.depth == 1)
                    || (clause == Clause::Limit && place.depth == 0);
            }
            Tok::Eq | Tok::NullSafeEq | Tok::Ne | Tok::Lt | Tok::Le | Tok::Gt | Tok::Ge => {
                place.armed = clause == Clause::Condition || (clause == Clause::Assign && token.tok == Tok::Eq);
            }
            Tok::Int | Tok::Decimal | Tok::Float | Tok::Str => {
                if place.armed && place.depth < CLAUSES && is_whole_value(clause, next) {
                    lifted = lift(source, token, previous, next, &mut mixer, &mut out.literals);
                }
                place.armed = false;
            }
            Tok::Minus => {}
            Tok::Word => {
                place.word(token, previous, insert);
                if token.kw == Kw::FROM
                    && let Some((_, start)) = place.select_list.take_if(|(at, _)| place.depth == *at)
                {
                    mixer.bytes(source[start..token.start as usize].trim_ascii());
                }
            }
            _ => place.armed = false,
        }
        if !lifted {
            hash_token(source, token, &mut mixer);
        }
        previous = token;
        token = next;
    }
    if let Some((_, start)) = place.select_list {
        mixer.bytes(source[start..token.start as usize].trim_ascii());
    }
    out.hash = mixer.finish();
    true
}

/// Parentheses whose clauses are known; in deeper ones nothing is lifted.
const CLAUSES: usize = 16;

/// Where in the statement [`normalize`] is.
struct Place {
    /// The clause at each depth of parentheses.
    clauses: [Clause; CLAUSES],
    depth: usize,
    /// Lifting starts behind a comparison or the like and holds for one literal, or for a list.
    armed: bool,
    in_list_depth: usize,
    /// The outermost select list that is open, (depth, start): its text makes headings.
    select_list: Option<(usize, usize)>,
}

impl Default for Place {
    #[inline]
    fn default() -> Place {
        Place {
            clauses: [Clause::Fixed; CLAUSES],
            depth: 0,
            armed: false,
            in_list_depth: usize::MAX,
            select_list: None,
        }
    }
}

// Inlined: every statement that comes as text goes through here.
impl Place {
    #[inline(always)]
    fn clause(&self) -> Clause {
        self.clauses[self.depth.min(CLAUSES - 1)]
    }

    #[inline(always)]
    fn open(&mut self, previous: Token) {
        let clause = self.clause();
        let list = previous.kw == Kw::IN && clause == Clause::Condition;
        self.depth += 1;
        if self.depth < CLAUSES {
            self.clauses[self.depth] = match clause {
                Clause::Values if self.depth == 1 => Clause::Values,
                // Parentheses that only group; arguments of a function are fixed.
                Clause::Condition if !is_call(previous) => Clause::Condition,
                _ => Clause::Fixed,
            };
        }
        if list {
            self.in_list_depth = self.depth;
        }
        self.armed = list || (clause == Clause::Values && self.depth == 1);
    }

    /// Where the select list starts that ends here.
    #[inline(always)]
    fn close(&mut self) -> Option<usize> {
        if self.depth == self.in_list_depth {
            self.in_list_depth = usize::MAX;
        }
        self.depth = self.depth.saturating_sub(1);
        self.armed = false;
        self.select_list.take_if(|(at, _)| self.depth < *at).map(|(_, start)| start)
    }

    #[inline(always)]
    fn word(&mut self, token: Token, previous: Token, insert: bool) {
        let (clause, depth) = (self.clause(), self.depth);
        self.armed = false;
        match token.kw {
            Kw::Plain => {}
            Kw::SELECT if self.select_list.is_none() => {
                self.select_list = Some((depth, token.end as usize));
                set(&mut self.clauses, depth, Clause::Fixed);
            }
            Kw::WHERE | Kw::ON | Kw::HAVING => set(&mut self.clauses, depth, Clause::Condition),
            Kw::SET if depth == 0 && previous.kw != Kw::CHARACTER => set(&mut self.clauses, 0, Clause::Assign),
            Kw::VALUES | Kw::VALUE if insert && depth == 0 => set(&mut self.clauses, 0, Clause::Values),
            Kw::UPDATE if previous.kw == Kw::KEY => set(&mut self.clauses, depth, Clause::Assign),
            Kw::LIMIT => {
                set(&mut self.clauses, depth, if depth == 0 { Clause::Limit } else { Clause::Fixed });
                self.armed = depth == 0;
            }
            Kw::OFFSET => self.armed = clause == Clause::Limit,
            Kw::LIKE | Kw::BETWEEN | Kw::AND => self.armed = clause == Clause::Condition,
            Kw::SELECT
            | Kw::FROM
            | Kw::GROUP
            | Kw::ORDER
            | Kw::WINDOW
            | Kw::UNION
            | Kw::EXCEPT
            | Kw::INTERSECT
            | Kw::INTERVAL
            | Kw::CASE
            | Kw::JOIN
            | Kw::FOR
            | Kw::INTO
            | Kw::AS => set(&mut self.clauses, depth, Clause::Fixed),
            _ => {}
        }
    }
}

fn set(clauses: &mut [Clause; CLAUSES], depth: usize, clause: Clause) {
    if depth < CLAUSES {
        clauses[depth] = clause;
    }
}

/// Whether the parenthesis behind `token` holds arguments.
fn is_call(token: Token) -> bool {
    match token.tok {
        Tok::Quoted => true,
        Tok::Word => !matches!(
            token.kw,
            Kw::IN | Kw::AND | Kw::OR | Kw::NOT | Kw::WHERE | Kw::ON | Kw::HAVING | Kw::XOR | Kw::BETWEEN | Kw::LIKE
        ),
        _ => false,
    }
}

/// Whether the literal in front of `next` is an operand or value by itself, not the left end of a longer expression.
fn is_whole_value(clause: Clause, next: Token) -> bool {
    match next.tok {
        Tok::End | Tok::Semicolon | Tok::RParen | Tok::Comma => true,
        Tok::Word => match clause {
            Clause::Values => false,
            _ => matches!(
                next.kw,
                Kw::AND
                    | Kw::OR
                    | Kw::WHERE
                    | Kw::ORDER
                    | Kw::LIMIT
                    | Kw::GROUP
                    | Kw::HAVING
                    | Kw::FOR
                    | Kw::LOCK
                    | Kw::OFFSET
                    | Kw::ON
                    | Kw::JOIN
                    | Kw::LEFT
                    | Kw::INNER
                    | Kw::UNION
            ),
        },
        _ => false,
    }
}

fn lift(
    source: &[u8],
    token: Token,
    previous: Token,
    next: Token,
    mixer: &mut Mixer,
    literals: &mut Vec<Lifted>,
) -> bool {
    let text = &source[token.start as usize..token.end as usize];
    let kind = match token.tok {
        Tok::Int if text.len() <= 18 => LiteralKind::Int,
        Tok::Decimal => LiteralKind::Decimal,
        Tok::Float => LiteralKind::Float,
        Tok::Str if next.tok != Tok::Str && previous.tok != Tok::Introducer => LiteralKind::String,
        _ => return false,
    };
    mixer.word(0xff00 | kind as u64);
    if kind == LiteralKind::Decimal {
        // Digits on both sides of the point are the type.
        let point = text.iter().position(|&b| b == b'.').unwrap_or(text.len());
        mixer.word((point as u64) << 32 | (text.len() - point) as u64);
    }
    literals.push(Lifted { start: token.start, end: token.end, kind });
    true
}

/// Words and literals by their bytes, everything else by its number.
#[inline]
fn hash_token(source: &[u8], token: Token, mixer: &mut Mixer) {
    let class = token.tok as u64;
    match token.tok {
        Tok::Word
        | Tok::Quoted
        | Tok::Str
        | Tok::NationalStr
        | Tok::Introducer
        | Tok::Int
        | Tok::Decimal
        | Tok::Float
        | Tok::Hex
        | Tok::Bit
        | Tok::UserVar => {
            mixer.word(class << 16 | token.flags as u64 & ESCAPED as u64);
            mixer.bytes(&source[token.start as usize..token.end as usize]);
        }
        _ => mixer.word(class << 16),
    }
}
