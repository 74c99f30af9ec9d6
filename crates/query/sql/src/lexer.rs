//! Bytes to tokens. The lexer allocates nothing: a token is a kind, a keyword and two offsets.
//!
//! It knows the sql_mode switches that change tokens (ANSI_QUOTES, NO_BACKSLASH_ESCAPES), comments of all forms
//! (`-- `, `#`, `/* */`, versioned `/*!80000 */`, hints `/*+ */`), and MySQL's contextual rules: after a dot any word is an
//! identifier, an identifier may begin with digits, `@name` and `@'name'` are one token.

use crate::SqlMode;
use crate::keywords::Kw;

/// Versioned comments up to this number are read as text.
pub const SERVER_VERSION: u32 = 80400;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Tok {
    End,
    /// Unquoted identifier or keyword (see [`Token::kw`]).
    Word,
    /// Quoted identifier, with its quotes.
    Quoted,
    /// String with its quotes.
    Str,
    /// N'..', with the N.
    NationalStr,
    /// `_charset` in front of a literal.
    Introducer,
    Int,
    Decimal,
    Float,
    /// x'..' or 0x..
    Hex,
    /// b'..' or 0b..
    Bit,
    /// `@name`, `@'name'`, or a bare `@` (empty name).
    UserVar,
    /// `@@`
    AtAt,
    Param,
    LParen,
    RParen,
    Comma,
    Semicolon,
    Dot,
    Eq,
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    AndAnd,
    Pipe,
    PipePipe,
    Caret,
    Tilde,
    Bang,
    Assign,
    LBrace,
    RBrace,
    Colon,
    Arrow,
    ArrowArrow,
    /// A byte that begins no token, or a string or comment without its end.
    Bad,
}

/// A quoted token contains an escape or a doubled quote.
pub const ESCAPED: u8 = 1;
/// An identifier contains bytes above 0x7f.
pub const NON_ASCII: u8 = 2;

/// A token and where it stands in the text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub tok: Tok,
    pub flags: u8,
    pub kw: Kw,
    pub start: u32,
    pub end: u32,
}

const _: () = assert!(size_of::<Token>() == 12);

/// Letters, digits, `_`, `$` and everything beyond ASCII.
static IDENT: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        table[b] = c.is_ascii_alphanumeric() || c == b'_' || c == b'$' || c >= 0x80;
        b += 1;
    }
    table
};

/// May the byte stand in a name without quotes? Every byte of a character beyond ASCII may.
#[inline]
pub fn is_ident_byte(b: u8) -> bool {
    IDENT[b as usize]
}

/// Cuts a statement's bytes into tokens, one at a time.
#[derive(Clone)]
pub struct Lexer<'s> {
    src: &'s [u8],
    pos: usize,
    mode: SqlMode,
    /// Inside `/*!`: its `*/` is white space.
    versioned: bool,
    /// The token before ended here and was an identifier: `.` and a digit is no number.
    ident_end: usize,
    /// The token before was `.` or `@@`: a word is an identifier whatever it says.
    after_dot: bool,
    /// The hint comment that followed the last token: contents.
    pub hint: Option<(u32, u32)>,
    /// A versioned comment's text began right after its number; a comment stood in another.
    pub glued: bool,
    pub nested: bool,
    /// The text has versioned comments.
    pub has_versions: bool,
}

impl<'s> Lexer<'s> {
    /// `src` must be shorter than 2 GiB. One zero byte at its end ends it, as in MySQL: mysqlslap sends one with each statement.
    pub fn new(src: &'s [u8], mode: SqlMode) -> Lexer<'s> {
        debug_assert!(src.len() < i32::MAX as usize);
        Lexer {
            src: src.strip_suffix(b"\0").unwrap_or(src),
            pos: 0,
            mode,
            versioned: false,
            ident_end: usize::MAX,
            after_dot: false,
            hint: None,
            glued: false,
            has_versions: false,
            nested: false,
        }
    }

    #[inline]
    fn at(&self, pos: usize) -> u8 {
        self.src.get(pos).copied().unwrap_or(0)
    }

    /// The next token. After the end, `End` for ever.
    #[inline]
    pub fn next_token(&mut self) -> Token {
        self.hint = None;
        let ended = self.skip_space();
        let start = self.pos;
        let after_dot = std::mem::take(&mut self.after_dot);
        let ident_end = std::mem::replace(&mut self.ident_end, usize::MAX);
        if !ended {
            return self.make(Tok::Bad, start, self.src.len());
        }
        let Some(&b) = self.src.get(start) else { return self.make(Tok::End, start, start) };
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..=0xff => self.word(start, after_dot),
            b'0'..=b'9' => {
                if after_dot {
                    self.word(start, true)
                } else {
                    self.number(start)
                }
            }
            b'.' => {
                if self.at(start + 1).is_ascii_digit() && ident_end != start {
                    return self.number(start);
                }
                self.after_dot = is_ident_byte(self.at(start + 1));
                self.make(Tok::Dot, start, start + 1)
            }
            b'\'' => self.quoted(Tok::Str, start, start),
            b'"' if self.mode.ansi_quotes => self.quoted(Tok::Quoted, start, start),
            b'"' => self.quoted(Tok::Str, start, start),
            b'`' => self.quoted(Tok::Quoted, start, start),
            b'@' => self.at_sign(start),
            _ => self.symbol(b, start),
        }
    }

    #[inline]
    fn make(&mut self, tok: Tok, start: usize, end: usize) -> Token {
        self.pos = end;
        Token { tok, flags: 0, kw: Kw::Plain, start: start as u32, end: end as u32 }
    }

    fn symbol(&mut self, b: u8, start: usize) -> Token {
        let next = self.at(start + 1);
        let third = self.at(start + 2);
        let (tok, len) = match (b, next) {
            (b'(', _) => (Tok::LParen, 1),
            (b')', _) => (Tok::RParen, 1),
            (b',', _) => (Tok::Comma, 1),
            (b';', _) => (Tok::Semicolon, 1),
            (b'=', _) => (Tok::Eq, 1),
            (b'<', b'=') if third == b'>' => (Tok::NullSafeEq, 3),
            (b'<', b'=') => (Tok::Le, 2),
            (b'<', b'>') => (Tok::Ne, 2),
            (b'<', b'<') => (Tok::ShiftLeft, 2),
            (b'<', _) => (Tok::Lt, 1),
            (b'>', b'=') => (Tok::Ge, 2),
            (b'>', b'>') => (Tok::ShiftRight, 2),
            (b'>', _) => (Tok::Gt, 1),
            (b'!', b'=') => (Tok::Ne, 2),
            // MySQL reads two as one.
            (b'!', b'!') => (Tok::Bang, 2),
            (b'!', _) => (Tok::Bang, 1),
            (b'+', _) => (Tok::Plus, 1),
            (b'-', b'>') if third == b'>' => (Tok::ArrowArrow, 3),
            (b'-', b'>') => (Tok::Arrow, 2),
            (b'-', _) => (Tok::Minus, 1),
            (b'*', _) => (Tok::Star, 1),
            (b'/', _) => (Tok::Slash, 1),
            (b'%', _) => (Tok::Percent, 1),
            (b'&', b'&') => (Tok::AndAnd, 2),
            (b'&', _) => (Tok::Amp, 1),
            (b'|', b'|') => (Tok::PipePipe, 2),
            (b'|', _) => (Tok::Pipe, 1),
            (b'^', _) => (Tok::Caret, 1),
            (b'~', _) => (Tok::Tilde, 1),
            (b':', b'=') => (Tok::Assign, 2),
            (b':', _) => (Tok::Colon, 1),
            (b'{', _) => (Tok::LBrace, 1),
            (b'}', _) => (Tok::RBrace, 1),
            (b'?', _) => (Tok::Param, 1),
            _ => (Tok::Bad, 1),
        };
        self.make(tok, start, start + len)
    }

    /// Skips white space and comments; false when a comment does not end.
    #[inline]
    fn skip_space(&mut self) -> bool {
        loop {
            match self.at(self.pos) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'#' => self.skip_line(),
                b'-' if self.at(self.pos + 1) == b'-' && self.space_or_end(self.pos + 2) => self.skip_line(),
                b'/' if self.at(self.pos + 1) == b'*' => {
                    if !self.comment() {
                        return false;
                    }
                }
                b'*' if self.versioned && self.at(self.pos + 1) == b'/' => {
                    self.versioned = false;
                    self.pos += 2;
                }
                _ => return !(self.versioned && self.pos >= self.src.len()),
            }
        }
    }

    fn space_or_end(&self, pos: usize) -> bool {
        self.src.get(pos).is_none_or(|b| b.is_ascii_whitespace() || b.is_ascii_control())
    }

    #[cold]
    fn skip_line(&mut self) {
        // A zero byte ends the comment and is no token.
        let rest = &self.src[self.pos..];
        let end = rest.iter().position(|&b| matches!(b, b'\n' | 0)).unwrap_or(rest.len());
        self.pos += end + usize::from(rest.get(end) == Some(&b'\n'));
    }

    #[cold]
    fn comment(&mut self) -> bool {
        let open = self.pos;
        match self.at(open + 2) {
            b'!' if !self.versioned => {
                self.has_versions = true;
                let digits = self.src[open + 3..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
                let version =
                    |n: usize| self.src[open + 3..open + 3 + n].iter().fold(0u32, |v, b| v * 10 + u32::from(b - b'0'));
                let (version, len) = match digits {
                    // Six are one number only before a blank.
                    6 if matches!(self.at(open + 9), b'\t'..=b'\r' | b' ') => (version(6), 6),
                    5 | 6 => (version(5), 5),
                    _ => (0, 0),
                };
                self.glued |=
                    len > 0 && !self.at(open + 3 + len).is_ascii_whitespace() && self.at(open + 3 + len) != 0x0b;
                if version <= SERVER_VERSION {
                    self.versioned = true;
                    self.pos = open + 3 + len;
                    return true;
                }
                self.skip_comment(open + 3, true)
            }
            b'+' => {
                let contents = open + 3;
                let closed = self.skip_comment(contents, false);
                if closed {
                    self.hint = Some((contents as u32, self.pos as u32 - 2));
                }
                closed
            }
            _ => {
                self.nested |= self.versioned;
                self.skip_comment(open + 2, false)
            }
        }
    }

    /// Moves past the `*/` that ends a comment whose contents begin at `from`.
    fn skip_comment(&mut self, from: usize, nested: bool) -> bool {
        let mut pos = from;
        let mut depth = 1;
        while pos + 1 < self.src.len() {
            match (self.src[pos], self.src[pos + 1]) {
                (b'*', b'/') => {
                    depth -= 1;
                    pos += 2;
                    if depth == 0 {
                        self.pos = pos;
                        return true;
                    }
                }
                (b'/', b'*') if nested => {
                    self.nested = true;
                    depth += 1;
                    pos += 2;
                }
                _ => pos += 1,
            }
        }
        false
    }

    #[inline]
    fn word(&mut self, start: usize, after_dot: bool) -> Token {
        let mut pos = start;
        let mut high = 0u8;
        while let Some(&b) = self.src.get(pos) {
            if !is_ident_byte(b) {
                break;
            }
            high |= b;
            pos += 1;
        }
        let word = &self.src[start..pos];
        if word.len() == 1 && !after_dot && self.at(pos) == b'\'' {
            match word[0] {
                b'x' | b'X' => return self.quoted_digits(Tok::Hex, start),
                b'b' | b'B' => return self.quoted_digits(Tok::Bit, start),
                b'n' | b'N' => return self.quoted(Tok::NationalStr, start, pos),
                _ => {}
            }
        }
        if word[0] == b'_' && !after_dot && is_charset(&word[1..]) {
            return self.make(Tok::Introducer, start, pos);
        }
        let kw = if after_dot { Kw::Plain } else { Kw::find(word) };
        self.ident_end = pos;
        let mut token = self.make(Tok::Word, start, pos);
        token.kw = kw;
        token.flags = if high >= 0x80 { NON_ASCII } else { 0 };
        token
    }

    fn number(&mut self, start: usize) -> Token {
        let digits = |from: usize| self.src[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        if self.at(start) == b'0' {
            let (tok, valid): (Tok, fn(&u8) -> bool) = match self.at(start + 1) {
                b'x' => (Tok::Hex, u8::is_ascii_hexdigit),
                b'b' => (Tok::Bit, |b| matches!(b, b'0' | b'1')),
                _ => (Tok::Bad, |_| false),
            };
            let count = self.src[(start + 2).min(self.src.len())..].iter().take_while(|&b| valid(b)).count();
            let end = start + 2 + count;
            if count > 0 && !is_ident_byte(self.at(end)) {
                return self.make(tok, start, end);
            }
        }
        let mut pos = start + digits(start);
        let mut tok = Tok::Int;
        let whole = pos > start;
        if self.at(pos) == b'.' {
            tok = Tok::Decimal;
            pos += 1 + digits(pos + 1);
        }
        if matches!(self.at(pos), b'e' | b'E') {
            let sign = matches!(self.at(pos + 1), b'+' | b'-') as usize;
            let exponent = digits((pos + 1 + sign).min(self.src.len()));
            if exponent > 0 {
                let end = pos + 1 + sign + exponent;
                // `1e5x` is an identifier, `1e5` and `1.5e5` are numbers.
                if !(tok == Tok::Int && sign == 0 && is_ident_byte(self.at(end))) {
                    return self.make(Tok::Float, start, end);
                }
            }
        }
        if whole && tok == Tok::Int && is_ident_byte(self.at(pos)) {
            return self.word(start, true);
        }
        self.make(tok, start, pos)
    }

    /// x'..' and b'..': digits only, an even number of hexadecimal ones.
    fn quoted_digits(&mut self, tok: Tok, start: usize) -> Token {
        let from = start + 2;
        let count = self.src[from..].iter().take_while(|&&b| b != b'\'').count();
        let digits = &self.src[from..from + count];
        let fits = match tok {
            Tok::Hex => digits.iter().all(u8::is_ascii_hexdigit) && count % 2 == 0,
            _ => digits.iter().all(|b| matches!(b, b'0' | b'1')),
        };
        if fits && self.at(from + count) == b'\'' {
            self.make(tok, start, from + count + 1)
        } else {
            self.make(Tok::Bad, start, self.src.len())
        }
    }

    /// A quoted token that begins at `start` and whose opening quote is at `open`.
    #[inline]
    fn quoted(&mut self, tok: Tok, start: usize, open: usize) -> Token {
        let quote = self.src[open];
        let text = quote == b'\'' || (quote == b'"' && !self.mode.ansi_quotes);
        let escapes = text && !self.mode.no_backslash_escapes;
        let escape = if escapes { b'\\' } else { quote };
        let mut flags = 0;
        let mut pos = open + 1;
        // The vectorised search passes over what strings mostly are.
        while let Some(at) = self.src.get(pos..).and_then(|rest| memchr::memchr2(quote, escape, rest)) {
            pos += at;
            if self.src[pos] == quote && self.at(pos + 1) != quote {
                if tok == Tok::Quoted {
                    if self.src[open..pos].contains(&0) {
                        break;
                    }
                    self.ident_end = pos + 1;
                }
                if !self.src[open..pos].is_ascii() {
                    flags |= NON_ASCII;
                }
                let mut token = self.make(tok, start, pos + 1);
                token.flags = flags;
                return token;
            }
            // A doubled quote, or an escape and what it stands before.
            flags |= ESCAPED;
            pos += 2;
        }
        self.make(Tok::Bad, start, self.src.len())
    }

    fn at_sign(&mut self, start: usize) -> Token {
        match self.at(start + 1) {
            b'@' => {
                self.after_dot = is_ident_byte(self.at(start + 2));
                self.make(Tok::AtAt, start, start + 2)
            }
            b'\'' | b'"' | b'`' => {
                let token = self.quoted(Tok::UserVar, start, start + 1);
                self.ident_end = usize::MAX;
                token
            }
            _ => {
                let mut pos = start + 1;
                let mut high = 0;
                while is_ident_byte(self.at(pos)) || self.at(pos) == b'.' {
                    high |= self.at(pos);
                    pos += 1;
                }
                let mut token = self.make(Tok::UserVar, start, pos);
                token.flags = if high >= 0x80 { NON_ASCII } else { 0 };
                token
            }
        }
    }
}

/// Character sets that make `_name` an introducer.
fn is_charset(name: &[u8]) -> bool {
    const NAMES: &[&str] = &[
        "utf8mb4", "utf8mb3", "utf8", "latin1", "binary", "ascii", "ucs2", "utf16", "utf16le", "utf32", "big5", "dec8",
        "cp850", "hp8", "koi8r", "latin2", "swe7", "ujis", "sjis", "hebrew", "tis620", "euckr", "koi8u", "gb2312",
        "greek", "cp1250", "gbk", "latin5", "armscii8", "cp866", "keybcs2", "macce", "macroman", "cp852", "latin7",
        "cp1251", "cp1256", "cp1257", "geostd8", "cp932", "eucjpms", "gb18030",
    ];
    matches!(name.len(), 3..=8) && NAMES.iter().any(|n| n.as_bytes().eq_ignore_ascii_case(name))
}

/// Appends the contents of a quoted token to `out`: quotes doubled become one, and with `backslash` escapes are resolved.
/// `\%` and `\_` keep their backslash, as LIKE wants it.
pub fn unescape(contents: &[u8], quote: u8, backslash: bool, out: &mut Vec<u8>) {
    let mut bytes = contents.iter();
    while let Some(&b) = bytes.next() {
        if b == b'\\' && backslash {
            match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(b'r') => out.push(b'\r'),
                Some(b'b') => out.push(0x08),
                Some(b'0') => out.push(0),
                Some(b'Z') => out.push(0x1a),
                Some(&c @ (b'%' | b'_')) => out.extend([b'\\', c]),
                Some(&c) => out.push(c),
                None => out.push(b'\\'),
            }
        } else {
            if b == quote {
                bytes.next();
            }
            out.push(b);
        }
    }
}

/// A text as headings show it: without the marks of versioned comments, and without those that are for later versions. It may begin
/// inside of one: outside of comments and strings there is nothing else that `*/` could be.
pub fn without_versions(text: &[u8]) -> Vec<u8> {
    let mut lexer = Lexer::new(text, SqlMode::default());
    let mut out = Vec::with_capacity(text.len());
    let (mut pos, mut quote) = (0, 0);
    while let Some(&b) = text.get(pos) {
        let rest = &text[pos..];
        let is_line_comment = b == b'#' || rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace);
        if quote != 0 {
            if b == b'\\' && quote != b'`' && rest.len() > 1 {
                out.push(b);
                pos += 1;
                out.push(text[pos]);
                pos += 1;
                continue;
            }
            quote = if b == quote { 0 } else { quote };
        } else if is_line_comment {
            let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            out.extend_from_slice(&rest[..end]);
            pos += end;
            continue;
        } else if rest.starts_with(b"*/") {
            lexer.versioned = false;
            pos += 2;
            continue;
        } else if rest.starts_with(b"/*!") && !lexer.versioned {
            lexer.pos = pos;
            if lexer.comment() {
                pos = lexer.pos;
                continue;
            }
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|w| w == b"*/").map_or(rest.len(), |at| at + 4);
            out.extend_from_slice(&rest[..end]);
            pos += end;
            continue;
        } else if matches!(b, b'\'' | b'"' | b'`') {
            quote = b;
        }
        out.push(b);
        pos += 1;
    }
    out
}
