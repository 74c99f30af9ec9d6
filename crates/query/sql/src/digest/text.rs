//! MySQL's digest text of a statement.
//!
//! Tokens are folded as they come, so that statements which differ in their values only read alike:
//!
//! ```text
//!   1, -1, 'a', NULL, ?            ?                  a = -1        `a` = ?       but WHERE -1  WHERE - ?
//!   1, 2, 3                        ?, ...
//!   (1)  and  (1), (2)             (?)  and  (?) /* , ... */
//!   (1, 2)  and  (1, 2), (3, 4)    (...)  and  (...) /* , ... */
//!   IN (1)  and  IN (1, 2)         IN (...)
//!   ORDER BY 1, GROUP BY 2         stay, since the number is a column
//! ```
//!
//! A keyword is shown by one of its spellings, which need not be the one that was written: of those that mean the same, it is
//! the last in MySQL's list (`USER` is `SYSTEM_USER`). The text is bounded by what MySQL's storage of tokens holds
//! (`max_digest_length`): two bytes a token, and a name's length and bytes.

use crate::SqlMode;
use crate::keywords::Kw;
use crate::lexer::{ESCAPED, Lexer, Tok, Token, is_ident_byte, unescape};
use std::borrow::Cow;
use std::fmt::Write;

/// What the client's character set does to names: MySQL keeps them in it and converts them to utf8mb3.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NameSet {
    /// Names of more than 64 bytes become `...`, those with a character beyond utf8mb3 vanish.
    #[default]
    Utf8mb4,
    /// Nothing is converted.
    Utf8mb3,
    /// A character set of one byte a character.
    OneByte,
}

/// What a digest text depends on beside the statement.
#[derive(Clone, Copy, Debug)]
pub struct Digesting {
    pub mode: SqlMode,
    /// `max_digest_length`.
    pub limit: usize,
    pub names: NameSet,
}

impl Digesting {
    /// With MySQL's defaults.
    pub fn new(mode: SqlMode) -> Digesting {
        Digesting { mode, limit: 1024, names: NameSet::Utf8mb4 }
    }
}

/// The longest name that still fits after conversion, in its own character set.
const CONVERTED_BYTES_MAX: usize = 64;
const TOKEN_BYTES: usize = 2;
const NAME_BYTES: usize = 4;
const COLUMN_BYTES: usize = 6;

#[derive(Clone, PartialEq, Debug)]
enum Piece<'s> {
    /// A keyword or symbol.
    Word(&'static str),
    /// A character of a hint that is part of nothing.
    Stray(u8),
    /// `?` and `?, ...`
    Value,
    Values,
    /// `(?)` and `(?) /* , ... */`
    Row,
    Rows,
    /// `(...)` and `(...) /* , ... */`
    Tuple,
    Tuples,
    /// `IN (...)`
    InList,
    Name(Cow<'s, str>),
    /// The name of a table in a hint, in front of `@`.
    NameAt(Cow<'s, str>),
    /// The number of a column in GROUP BY or ORDER BY.
    Column(u32),
}

/// Words and symbols that an expression follows, as far as a sign is concerned: `-1` behind them is one value.
const SIGNED: &[&str] = &[
    "(", ",", "=", "<", "<=", ">", ">=", "!=", "<=>", "|", "&", "<<", ">>", "+", "-", "*", "/", "%", "^", "&&", "||",
    "EVERY", "AT", "STARTS", "ENDS", "DEFAULT", "RETURN", "IF", "ELSEIF", "CASE", "WHEN", "THEN", "ELSE", "WHILE",
    "UNTIL", "SELECT", "OR", "XOR", "AND", "NOT", "BETWEEN", "LIKE", "RLIKE", "INTERVAL", "DIV", "MOD",
];

/// Further words and symbols that an operand may follow: NULL behind them is a value, behind others a word.
const OPERAND_FOLLOWS: &[&str] = &[
    "!",
    "~",
    ":=",
    "*/",
    "WHERE",
    "HAVING",
    "ON",
    "ALL",
    "DISTINCTROW",
    "BINARY",
    "DO",
    "ESCAPE",
    "BY",
    "FROM",
    "FOR",
    "IN",
    "BOTH",
    "LEADING",
    "TRAILING",
    "OF",
    "HIGH_PRIORITY",
    "STRAIGHT_JOIN",
    "SQL_SMALL_RESULT",
    "SQL_BIG_RESULT",
    "SQL_BUFFER_RESULT",
    "SQL_CALC_FOUND_ROWS",
    "SQL_NO_CACHE",
];

/// Keywords of MySQL that no rule of this parser needs.
const WORDS_OF_NO_RULE: &[&str] =
    &["REDO_BUFFER_SIZE", "REQUIRE_TABLE_PRIMARY_KEY_CHECK", "SOURCE_CONNECTION_AUTO_FAILOVER"];

/// MySQL's digest text of `source`, in UTF-8, which is one statement. What no token can be made of ends the text.
pub fn digest_text(source: &[u8], how: Digesting) -> String {
    let mut folder = Folder { pieces: Vec::new(), bytes: 0, how, full: false, by: false, outer: Vec::new() };
    let mut lexer = Lexer::new(source, how.mode);
    while !folder.full {
        let token = lexer.next_token();
        if matches!(token.tok, Tok::End | Tok::Bad) {
            break;
        }
        folder.token(source, token, &mut lexer);
    }
    folder.text()
}

struct Folder<'s> {
    pieces: Vec<Piece<'s>>,
    /// What MySQL's storage has of them.
    bytes: usize,
    how: Digesting,
    /// The storage had no room for a piece: those behind it are not stored either.
    full: bool,
    /// At this depth of parentheses, and at the outer ones: inside GROUP BY, ORDER BY or PARTITION BY.
    by: bool,
    outer: Vec<bool>,
}

impl<'s> Folder<'s> {
    fn token(&mut self, source: &'s [u8], token: Token, lexer: &mut Lexer<'s>) {
        let text = &source[token.start as usize..token.end as usize];
        match token.tok {
            Tok::Int | Tok::Decimal | Tok::Float | Tok::Hex | Tok::Bit => self.number(text, token.tok, lexer),
            Tok::Str | Tok::NationalStr | Tok::Param => self.value(),
            Tok::Introducer => self.push(Piece::Word("(_charset)")),
            Tok::Word => self.word(source, text, token, lexer),
            Tok::Quoted => self.push(Piece::Name(quoted(text, token.flags))),
            Tok::UserVar => {
                self.push(Piece::Word("@"));
                match text.get(1) {
                    Some(b'`') => self.push(Piece::Name(quoted(&text[1..], token.flags))),
                    Some(b'"') if self.how.mode.ansi_quotes => {
                        self.push(Piece::Name(quoted(&text[1..], token.flags)));
                    }
                    _ => self.value(),
                }
            }
            Tok::AtAt => {
                self.push(Piece::Word("@"));
                self.push(Piece::Word("@"));
                let name = lexer.next_token();
                let text = &source[name.start as usize..name.end as usize];
                match (name.tok, Kw::find(text)) {
                    (Tok::Word, kw) if kw == Kw::Plain || kw.is_function_word() => self.push(Piece::Name(utf8(text))),
                    (Tok::Word, kw) => self.push(Piece::Word(shown(kw))),
                    (Tok::End | Tok::Bad, _) => {}
                    _ => self.token(source, name, lexer),
                }
            }
            Tok::RParen => {
                self.by = self.outer.pop().unwrap_or(false);
                self.close();
            }
            tok => {
                let symbol = symbol(tok);
                match tok {
                    Tok::LParen => self.outer.push(std::mem::take(&mut self.by)),
                    Tok::Semicolon => self.by = false,
                    _ => {}
                }
                self.push(Piece::Word(symbol));
            }
        }
    }

    fn word(&mut self, source: &'s [u8], text: &'s [u8], token: Token, lexer: &mut Lexer<'s>) {
        let end = token.end as usize;
        let byte = |at: usize| source.get(at).copied().unwrap_or(0);
        // In front of a dot any word is a name; some are keywords only in front of a parenthesis.
        let qualifies = byte(end) == b'.' && is_ident_byte(byte(end + 1));
        let calls = || {
            let space = source[end..].iter().take_while(|b| self.how.mode.ignore_space && b.is_ascii_whitespace());
            byte(end + space.count()) == b'('
        };
        let is_name = match token.kw {
            Kw::Plain | Kw::TREE | Kw::TRADITIONAL => true,
            kw => kw.is_function_word() && !calls(),
        };
        if qualifies || is_name {
            let word = WORDS_OF_NO_RULE.iter().find(|w| !qualifies && w.as_bytes().eq_ignore_ascii_case(text));
            return self.push(word.map_or_else(|| Piece::Name(utf8(text)), |word| Piece::Word(word)));
        }
        match token.kw {
            Kw::NULL if self.null_is_value(lexer) => return self.value(),
            Kw::NOT if self.how.mode.high_not_precedence => return self.push(Piece::Word("!")),
            Kw::WITH if lexer.clone().next_token().kw == Kw::ROLLUP => {
                lexer.next_token();
                return self.push(Piece::Word("WITH ROLLUP"));
            }
            Kw::BY => self.by = matches!(self.last(), Some(Piece::Word("GROUP" | "ORDER" | "PARTITION"))),
            kw if self.by && ends_columns(kw) => self.by = false,
            _ => {}
        }
        self.push(Piece::Word(shown(token.kw)));
        if matches!(token.kw, Kw::SELECT | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE) {
            self.hints(source, end);
        }
    }

    fn last(&self) -> Option<&Piece<'s>> {
        self.pieces.last()
    }

    fn push(&mut self, piece: Piece<'s>) {
        let bytes = match &piece {
            Piece::Name(name) | Piece::NameAt(name) => NAME_BYTES + self.kept_bytes(name),
            Piece::Column(_) => COLUMN_BYTES,
            _ => TOKEN_BYTES,
        };
        if self.full || self.bytes + bytes > self.how.limit {
            self.full = true;
            return;
        }
        self.bytes += bytes;
        self.pieces.push(piece);
    }

    /// Takes off the last `n` pieces, none of which is a name.
    fn pop(&mut self, n: usize) {
        self.pieces.truncate(self.pieces.len() - n);
        self.bytes -= n * TOKEN_BYTES;
    }

    /// The length of a name in the client's character set.
    fn kept_bytes(&self, name: &str) -> usize {
        match self.how.names {
            NameSet::OneByte => name.chars().count(),
            NameSet::Utf8mb4 | NameSet::Utf8mb3 => name.len(),
        }
    }

    fn number(&mut self, text: &[u8], tok: Tok, lexer: &Lexer<'s>) {
        let mut negated = false;
        while let [.., Piece::Word(before), Piece::Word(sign @ ("-" | "+"))] = &self.pieces[..]
            && self.takes_sign(before)
        {
            negated |= *sign == "-";
            self.pop(1);
        }
        if self.by && !negated && tok == Tok::Int && !self.goes_on(lexer) {
            let column = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).filter(|n| *n > 0);
            let alone = match &self.pieces[..] {
                [.., Piece::Value | Piece::Values, Piece::Word(",")] => false,
                [.., Piece::Word("BY" | ",")] => true,
                _ => false,
            };
            if let Some(column) = column.filter(|_| alone) {
                return self.push(Piece::Column(column));
            }
        }
        self.value();
    }

    /// With PIPES_AS_CONCAT `||` is another token.
    fn takes_sign(&self, before: &str) -> bool {
        SIGNED.contains(&before) && !(before == "||" && self.how.mode.pipes_as_concat)
    }

    /// Whether the expression goes on behind a number in GROUP BY or ORDER BY, which then is no column.
    fn goes_on(&self, lexer: &Lexer<'s>) -> bool {
        let next = lexer.clone().next_token();
        match next.tok {
            Tok::Word => matches!(
                next.kw,
                Kw::AND
                    | Kw::OR
                    | Kw::XOR
                    | Kw::IS
                    | Kw::NOT
                    | Kw::IN
                    | Kw::BETWEEN
                    | Kw::LIKE
                    | Kw::REGEXP
                    | Kw::RLIKE
                    | Kw::SOUNDS
                    | Kw::MEMBER
                    | Kw::DIV
                    | Kw::MOD
                    | Kw::COLLATE
            ),
            Tok::Comma | Tok::RParen | Tok::Semicolon | Tok::End => false,
            _ => true,
        }
    }

    fn value(&mut self) {
        let piece = match &self.pieces[..] {
            [.., Piece::Value | Piece::Values, Piece::Word(",")] => {
                self.pop(2);
                Piece::Values
            }
            _ => Piece::Value,
        };
        self.push(piece);
    }

    /// A closing parenthesis makes a row of the value or values before it.
    fn close(&mut self) {
        let tuple = match &self.pieces[..] {
            [.., Piece::Word("("), Piece::Value] => false,
            [.., Piece::Word("("), Piece::Values] => true,
            _ => return self.push(Piece::Word(")")),
        };
        self.pop(2);
        let piece = match (&self.pieces[..], tuple) {
            ([.., Piece::Row | Piece::Rows, Piece::Word(",")], false) => {
                self.pop(2);
                Piece::Rows
            }
            ([.., Piece::Tuple | Piece::Tuples, Piece::Word(",")], true) => {
                self.pop(2);
                Piece::Tuples
            }
            ([.., Piece::Word("IN")], _) => {
                self.pop(1);
                Piece::InList
            }
            (_, false) => Piece::Row,
            (_, true) => Piece::Tuple,
        };
        self.push(piece);
    }

    /// NULL is a value where an operand can stand, and a word in `IS NULL`, `a INT NOT NULL`, `SET NULL`, `NULL ON EMPTY`.
    fn null_is_value(&self, lexer: &Lexer<'s>) -> bool {
        let mut ahead = lexer.clone();
        if ahead.next_token().kw == Kw::ON && matches!(ahead.next_token().kw, Kw::EMPTY | Kw::ERROR) {
            return false;
        }
        let operand = |piece: Option<&Piece>| match piece {
            Some(Piece::Word(word)) => SIGNED.contains(word) || OPERAND_FOLLOWS.contains(word),
            _ => false,
        };
        match &self.pieces[..] {
            [.., Piece::Word("PRIVILEGE_CHECKS_USER" | "SOURCE_TLS_CIPHERSUITES"), Piece::Word("=")] => false,
            [before @ .., Piece::Word("NOT" | "!")] => operand(before.last()),
            pieces => operand(pieces.last()),
        }
    }

    /// The hint comment right behind a word that takes hints: all its tokens, whether they make sense or not.
    fn hints(&mut self, source: &'s [u8], end: usize) {
        let space = source[end..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let from = end + space + 3;
        if !source[end + space..].starts_with(b"/*+") {
            return;
        }
        let Some(length) = source[from..].windows(2).position(|w| w == b"*/") else { return };
        let mut hints = HintLexer { text: &source[from..from + length], at: 0, ansi_quotes: self.how.mode.ansi_quotes };
        let mut opened = false;
        while let Some(token) = hints.next() {
            if !std::mem::replace(&mut opened, true) {
                self.push(Piece::Word("/*+"));
            }
            match token {
                HintToken::Value => self.value(),
                HintToken::Symbol(b')') => self.close(),
                HintToken::Symbol(b'(') => self.push(Piece::Word("(")),
                HintToken::Symbol(b',') => self.push(Piece::Word(",")),
                HintToken::Symbol(b) => self.push(Piece::Stray(b)),
                HintToken::Keyword(word) => self.push(Piece::Word(word)),
                HintToken::Name(name) => self.push(Piece::Name(name)),
                HintToken::NameAt(name) => self.push(Piece::NameAt(name)),
                HintToken::Block(name) => {
                    self.push(Piece::Word("@"));
                    self.push(Piece::Name(name));
                }
            }
        }
        if opened {
            self.push(Piece::Word("*/"));
        }
    }

    fn text(mut self) -> String {
        if self.last() == Some(&Piece::Word(";")) {
            self.pieces.pop();
        }
        let mut out = String::new();
        let mut space = false;
        for piece in &self.pieces {
            let shown: Cow<str> = match piece {
                Piece::Word(word) => Cow::Borrowed(word),
                Piece::Stray(b) => Cow::Owned(char::from(*b).to_string()),
                Piece::Value => Cow::Borrowed("?"),
                Piece::Values => Cow::Borrowed("?, ..."),
                Piece::Row => Cow::Borrowed("(?)"),
                Piece::Rows => Cow::Borrowed("(?) /* , ... */"),
                Piece::Tuple => Cow::Borrowed("(...)"),
                Piece::Tuples => Cow::Borrowed("(...) /* , ... */"),
                Piece::InList => Cow::Borrowed("IN (...)"),
                Piece::Column(column) => Cow::Owned(column.to_string()),
                Piece::Name(name) | Piece::NameAt(name) => {
                    let converted = self.how.names != NameSet::Utf8mb3;
                    if converted && self.kept_bytes(name) > CONVERTED_BYTES_MAX {
                        out.push_str(if space { " ..." } else { "..." });
                        space = false;
                        continue;
                    }
                    if name.is_empty() || (converted && name.chars().any(|c| c.len_utf8() > 3)) {
                        continue;
                    }
                    write!(out, "{}`{name}`", if space { " " } else { "" }).expect("writing to memory does not fail");
                    space = matches!(piece, Piece::Name(_));
                    continue;
                }
            };
            if space {
                out.push(' ');
            }
            out.push_str(&shown);
            space = shown != "@";
        }
        out
    }
}

/// What ends a list of columns behind BY, at its depth of parentheses.
fn ends_columns(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::LIMIT
            | Kw::HAVING
            | Kw::ORDER
            | Kw::WINDOW
            | Kw::FOR
            | Kw::LOCK
            | Kw::INTO
            | Kw::UNION
            | Kw::EXCEPT
            | Kw::INTERSECT
            | Kw::ROWS
            | Kw::RANGE
            | Kw::GROUPS
            | Kw::SEPARATOR
            | Kw::ON
    )
}

/// The spelling that stands for all of a keyword's meaning.
fn shown(kw: Kw) -> &'static str {
    match kw {
        Kw::CHAR => "CHARACTER",
        Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => "NOW",
        Kw::CURRENT_DATE => "CURDATE",
        Kw::CURRENT_TIME => "CURTIME",
        Kw::DATABASE => "SCHEMA",
        Kw::DATABASES => "SCHEMAS",
        Kw::DEC => "DECIMAL",
        Kw::DESCRIBE => "EXPLAIN",
        Kw::DISTINCT => "DISTINCTROW",
        Kw::COLUMNS => "FIELDS",
        Kw::FLOAT => "FLOAT4",
        Kw::DOUBLE => "FLOAT8",
        Kw::GEOMCOLLECTION => "GEOMETRYCOLLECTION",
        Kw::INT1 => "TINYINT",
        Kw::INT2 => "SMALLINT",
        Kw::INT3 | Kw::MEDIUMINT => "MIDDLEINT",
        Kw::INT | Kw::INT4 => "INTEGER",
        Kw::BIGINT => "INT8",
        Kw::IO_THREAD => "RELAY_THREAD",
        Kw::NDB => "NDBCLUSTER",
        Kw::REGEXP => "RLIKE",
        Kw::ANY => "SOME",
        Kw::SECOND => "SQL_TSI_SECOND",
        Kw::MINUTE => "SQL_TSI_MINUTE",
        Kw::HOUR => "SQL_TSI_HOUR",
        Kw::DAY => "SQL_TSI_DAY",
        Kw::SQL_TSI_WEEK => "WEEK",
        Kw::MONTH => "SQL_TSI_MONTH",
        Kw::QUARTER => "SQL_TSI_QUARTER",
        Kw::SQL_TSI_YEAR => "YEAR",
        Kw::VARCHAR => "VARCHARACTER",
        Kw::USER | Kw::SESSION_USER => "SYSTEM_USER",
        Kw::MID | Kw::SUBSTR => "SUBSTRING",
        Kw::STD | Kw::STDDEV => "STDDEV_POP",
        Kw::VARIANCE => "VAR_POP",
        kw => kw.spelling(),
    }
}

fn symbol(tok: Tok) -> &'static str {
    match tok {
        Tok::LParen => "(",
        Tok::RParen => ")",
        Tok::Comma => ",",
        Tok::Semicolon => ";",
        Tok::Dot => ".",
        Tok::Eq => "=",
        Tok::NullSafeEq => "<=>",
        Tok::Ne => "!=",
        Tok::Lt => "<",
        Tok::Le => "<=",
        Tok::Gt => ">",
        Tok::Ge => ">=",
        Tok::ShiftLeft => "<<",
        Tok::ShiftRight => ">>",
        Tok::Plus => "+",
        Tok::Minus => "-",
        Tok::Star => "*",
        Tok::Slash => "/",
        Tok::Percent => "%",
        Tok::Amp => "&",
        Tok::AndAnd => "&&",
        Tok::Pipe => "|",
        Tok::PipePipe => "||",
        Tok::Caret => "^",
        Tok::Tilde => "~",
        Tok::Bang => "!",
        Tok::Assign => ":=",
        Tok::LBrace => "{",
        Tok::RBrace => "}",
        Tok::Colon => ":",
        Tok::Arrow => "->",
        Tok::ArrowArrow => "->>",
        _ => "",
    }
}

/// Text that is not UTF-8 becomes an empty name, which is not shown.
fn utf8(text: &[u8]) -> Cow<'_, str> {
    Cow::Borrowed(std::str::from_utf8(text).unwrap_or(""))
}

/// A name without its quotes.
fn quoted(text: &[u8], flags: u8) -> Cow<'_, str> {
    let (quote, contents) = (text[0], &text[1..text.len() - 1]);
    if flags & ESCAPED == 0 {
        return utf8(contents);
    }
    let mut name = Vec::with_capacity(contents.len());
    unescape(contents, quote, false, &mut name);
    Cow::Owned(String::from_utf8(name).unwrap_or_default())
}

/// The words of hints.
const HINT_WORDS: &[&str] = &[
    "BKA",
    "BNL",
    "DUPSWEEDOUT",
    "FIRSTMATCH",
    "INTOEXISTS",
    "LOOSESCAN",
    "MATERIALIZATION",
    "MAX_EXECUTION_TIME",
    "NO_BKA",
    "NO_BNL",
    "NO_ICP",
    "NO_MRR",
    "NO_RANGE_OPTIMIZATION",
    "NO_SEMIJOIN",
    "MRR",
    "QB_NAME",
    "SEMIJOIN",
    "SET_VAR",
    "SUBQUERY",
    "MERGE",
    "NO_MERGE",
    "JOIN_PREFIX",
    "JOIN_SUFFIX",
    "JOIN_ORDER",
    "JOIN_FIXED_ORDER",
    "INDEX_MERGE",
    "NO_INDEX_MERGE",
    "RESOURCE_GROUP",
    "SKIP_SCAN",
    "NO_SKIP_SCAN",
    "HASH_JOIN",
    "NO_HASH_JOIN",
    "INDEX",
    "NO_INDEX",
    "JOIN_INDEX",
    "NO_JOIN_INDEX",
    "GROUP_INDEX",
    "NO_GROUP_INDEX",
    "ORDER_INDEX",
    "NO_ORDER_INDEX",
    "DERIVED_CONDITION_PUSHDOWN",
    "NO_DERIVED_CONDITION_PUSHDOWN",
];

enum HintToken<'s> {
    Value,
    Symbol(u8),
    Keyword(&'static str),
    Name(Cow<'s, str>),
    NameAt(Cow<'s, str>),
    /// `@name`
    Block(Cow<'s, str>),
}

struct HintLexer<'s> {
    text: &'s [u8],
    at: usize,
    ansi_quotes: bool,
}

impl<'s> HintLexer<'s> {
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Option<HintToken<'s>> {
        loop {
            let b = *self.text.get(self.at)?;
            match b {
                b if b.is_ascii_whitespace() || b == b'.' => self.at += 1,
                b'\'' => return self.quoted().map(|_| HintToken::Value),
                b'"' if !self.ansi_quotes => return self.quoted().map(|_| HintToken::Value),
                b'"' | b'`' => return self.quoted().map(|name| self.named(name)),
                b'@' => {
                    self.at += 1;
                    match self.byte(self.at) {
                        b'`' => return self.quoted().map(HintToken::Block),
                        b'"' if self.ansi_quotes => return self.quoted().map(HintToken::Block),
                        b if is_ident_byte(b) => return Some(HintToken::Block(utf8(self.word()))),
                        _ => {}
                    }
                }
                b'0'..=b'9' => {
                    if let Some(token) = self.number() {
                        return Some(token);
                    }
                }
                b if is_ident_byte(b) => {
                    let word = self.word();
                    if self.byte(self.at) != b'@'
                        && let Some(known) = HINT_WORDS.iter().find(|w| w.as_bytes().eq_ignore_ascii_case(word))
                    {
                        return Some(HintToken::Keyword(known));
                    }
                    return Some(self.named(utf8(word)));
                }
                b => {
                    self.at += 1;
                    return Some(HintToken::Symbol(b));
                }
            }
        }
    }

    fn word(&mut self) -> &'s [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|b| is_ident_byte(**b)).count();
        self.at += length;
        &rest[..length]
    }

    fn named(&self, name: Cow<'s, str>) -> HintToken<'s> {
        if self.byte(self.at) == b'@' { HintToken::NameAt(name) } else { HintToken::Name(name) }
    }

    /// What stands in quotes; nothing more comes when they do not close.
    fn quoted(&mut self) -> Option<Cow<'s, str>> {
        let (from, quote) = (self.at, self.text[self.at]);
        let mut pos = from + 1;
        let mut flags = 0;
        loop {
            pos += self.text[pos..].iter().position(|b| *b == quote)?;
            if self.byte(pos + 1) != quote {
                break;
            }
            flags = ESCAPED;
            pos += 2;
        }
        self.at = pos + 1;
        Some(quoted(&self.text[from..self.at], flags))
    }

    /// A number, which may have a fraction or one of the suffixes K, M, G; digits that begin a word are part of it.
    fn number(&mut self) -> Option<HintToken<'s>> {
        let digits = |at: usize| self.text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = self.at + digits(self.at);
        if self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            end += 1 + digits(end + 1);
        } else if matches!(self.byte(end), b'k' | b'K' | b'm' | b'M' | b'g' | b'G') {
            end += 1;
        }
        if !is_ident_byte(self.byte(end)) {
            self.at = end;
            return Some(HintToken::Value);
        }
        if self.text[self.at..end].contains(&b'.') {
            self.at = end;
            return None;
        }
        let word = utf8(self.word());
        Some(self.named(word))
    }
}
