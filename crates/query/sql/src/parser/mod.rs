//! Tokens to tree: recursive descent for statements, Pratt for expressions.
//!
//! The parser holds one token and can look at the next; it never goes back except over a handful of tokens. Lists that are
//! being collected wait on `scratch`, a stack shared by all levels, and are copied to the tree when complete, so that a
//! statement costs a few vectors however many nodes it has.

mod account;
mod admin;
mod alter;
mod column;
mod ddl;
mod diagnostics;
mod dml;
mod event;
mod expr;
mod function;
mod program;
mod program_scope;
mod program_statement;
mod query;
mod replication;
mod set;
mod show;
mod statement;
mod table;

use crate::SqlMode;
use crate::ast::*;
use crate::dictionary::kind_of_reserved;
use crate::digest::Lifted;
use crate::error::{Ended, ParseError};
use crate::keywords::Kw;
use crate::lexer::{self, ESCAPED, Lexer, NON_ASCII, Tok, Token, unescape};
use program_scope::Builder;
use types::codes::*;
use types::err;

pub(crate) type R<T> = Result<T, ParseError>;

/// Levels of parentheses, operands, subqueries, statement blocks: what the parser recurses over.
const MAX_NESTING: u32 = 25_000;
/// It makes sure of room for so many levels at a time, each of at most so many bytes.
const LEVELS_AT_ONCE: u32 = 64;
const LEVEL_BYTES: usize = 2 << 10;
/// Height of an expression tree and length of a chain of joins or set operations: see [`Parsed::height`].
const MAX_HEIGHT: u32 = 4000;
/// Bytes of text between two looks at whether to go on.
const LOOK_AFTER: u32 = 64 << 10;
/// SELECTs inside of one another, as in MySQL.
const MAX_SELECT_LEVELS: u32 = 64;
/// How many levels of an expression a query counts as.
const QUERY_LEVELS: u32 = 2;
/// The longest name of a user variable, in characters.
const USER_VAR_CHARS_MAX: usize = 64;

/// Parses one statement; a `;` may end it, and nothing may follow.
pub fn parse(source: &[u8], mode: SqlMode) -> R<Parsed> {
    parse_whole(source, mode, &[])
}

/// As [`parse`], with the literals of `lifted` (of the same text) as parameters: `Expr::Param(n)` is `lifted[n]`.
pub fn parse_lifted(source: &[u8], mode: SqlMode, lifted: &[Lifted]) -> R<Parsed> {
    parse_whole(source, mode, lifted)
}

/// Parses the first statement of `source`, a text to be run in which `?` is an error, and returns it with the rest after its `;`, empty
/// when it was the last.
pub fn parse_next(source: &[u8], mode: SqlMode) -> R<(Parsed, &[u8])> {
    let mut parser = Parser::new(source, mode, &[])?;
    parser.takes_params = false;
    let statement = parser.whole()?;
    let rest = match parser.tok.tok {
        // Only white space and comments behind the last `;`: no further statement.
        Tok::Semicolon if parser.peek().tok == Tok::End => source.len(),
        Tok::Semicolon => parser.tok.end as usize,
        Tok::End => source.len(),
        _ => return Err(parser.syntax()),
    };
    Ok((parser.finish(statement), &source[rest..]))
}

fn parse_whole(source: &[u8], mode: SqlMode, lifted: &[Lifted]) -> R<Parsed> {
    let mut parser = Parser::new(source, mode, lifted)?;
    let statement = parser.whole()?;
    let end = parser.tok;
    if end.tok == Tok::Semicolon {
        parser.bump();
    }
    if parser.tok.tok != Tok::End {
        return Err(parser.syntax());
    }
    parser.tok = end;
    Ok(parser.finish(statement))
}

/// The parser of one text. Its fields are where it is in the text, what stands around the current token, and the arenas of the tree that it
/// makes: every rule of the grammar uses all three.
pub(crate) struct Parser<'s> {
    pub(crate) src: &'s [u8],
    lexer: Lexer<'s>,
    mode: SqlMode,
    /// The current token.
    tok: Token,
    /// Where the token before it ended.
    prev_end: u32,
    /// A 32-bit integer was written larger: see [`CreateColumnType::oversize`].
    oversize: bool,
    lifted: &'s [Lifted],
    next_lifted: usize,
    params: u32,
    depth: u32,
    /// Height of the tallest expression finished since this was last set to 0.
    tallest: u32,
    /// Of the query at hand: heights that come on top where its derived tables and common table expressions are merged into it.
    merged: u32,
    /// SELECTs around the current token.
    select_levels: u32,
    scratch: Vec<ExprId>,
    /// `?` stands for a value that comes later.
    takes_params: bool,
    /// Inside the body of a stored program: local variables may stand where columns and literals do.
    program: Option<Box<Builder>>,
    hints: Option<Str>,
    /// Where in the text it looks next whether to go on, and what has ended it.
    look_at: u32,
    ended: Option<Ended>,
    extra: Vec<u8>,
    exprs: Vec<Expr>,
    lists: Vec<ExprId>,
    queries: Vec<Query>,
    tables: Vec<TableRef>,
    notes: Vec<Note>,
    reserved: Vec<ObjectName>,
}

impl<'s> Parser<'s> {
    fn new(src: &'s [u8], mode: SqlMode, lifted: &'s [Lifted]) -> R<Parser<'s>> {
        if src.len() > (1 << 30) {
            return Err(ParseError::at(err!(ER_NET_PACKET_TOO_LARGE), 0));
        }
        let mut lexer = Lexer::new(src, mode);
        let tok = lexer.next_token();
        Ok(Parser {
            src,
            lexer,
            mode,
            tok,
            prev_end: 0,
            oversize: false,
            lifted,
            next_lifted: 0,
            params: 0,
            depth: 0,
            tallest: 0,
            merged: 0,
            select_levels: 0,
            scratch: Vec::new(),
            takes_params: true,
            program: None,
            hints: None,
            look_at: LOOK_AFTER,
            ended: None,
            extra: Vec::new(),
            exprs: Vec::with_capacity(8),
            lists: Vec::new(),
            queries: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            reserved: Vec::new(),
        })
    }

    fn whole(&mut self) -> R<Statement> {
        let statement = self.root();
        match self.ended {
            Some(ended) => Err(ParseError::ended(ended)),
            None => statement,
        }
    }

    fn root(&mut self) -> R<Statement> {
        match self.tok.tok {
            Tok::End => Err(ParseError::at(err!(ER_EMPTY_QUERY), 0)),
            Tok::Semicolon if self.peek().tok == Tok::End => Err(ParseError::at(err!(ER_EMPTY_QUERY), 0)),
            _ => self.statement(),
        }
    }

    fn finish(mut self, statement: Statement) -> Parsed {
        if self.lexer.glued {
            self.notes.push(Note::GluedVersion);
        }
        if self.lexer.nested {
            self.notes.push(Note::NestedComment);
        }
        debug_assert!(self.scratch.is_empty() && self.depth == 0);
        let end = (self.tok.start as usize).max(self.prev_end as usize);
        Parsed {
            height: self.tallest + self.merged,
            source: self.src[..end].into(),
            own: 0..end as u32,
            extra: self.extra,
            exprs: self.exprs,
            lists: self.lists,
            queries: self.queries,
            tables: self.tables,
            notes: self.notes,
            reserved: self.reserved,
            hints: self.hints,
            param_count: if self.lifted.is_empty() { self.params } else { self.lifted.len() as u32 },
            statement,
            utf8mb4_collation: None,
        }
    }

    // --- tokens ---

    #[inline]
    fn bump(&mut self) -> Token {
        let token = self.tok;
        self.prev_end = token.end;
        self.tok = self.lexer.next_token();
        if token.end >= self.look_at {
            self.look();
        }
        token
    }

    /// Of long texts, whose trees are much longer: is the statement to end? Its text ends here then.
    #[cold]
    fn look(&mut self) {
        self.look_at = self.prev_end.saturating_add(LOOK_AFTER);
        let reason = sync::blocking::interruption();
        self.ended = match sync::memory::check() {
            Err(excess) => Some(Ended::Memory(excess)),
            Ok(()) if reason != 0 => Some(Ended::Interrupted(reason)),
            Ok(()) => return,
        };
        self.lexer = Lexer::new(b"", self.mode);
        self.tok = self.lexer.next_token();
    }

    /// The token after the current one.
    fn peek(&self) -> Token {
        self.lexer.clone().next_token()
    }

    /// The token two after the current one.
    fn peek_second(&self) -> Token {
        let mut lexer = self.lexer.clone();
        lexer.next_token();
        lexer.next_token()
    }

    #[inline]
    fn at(&self, kw: Kw) -> bool {
        self.tok.kw == kw
    }

    #[inline]
    fn is(&self, tok: Tok) -> bool {
        self.tok.tok == tok
    }

    #[inline]
    fn eat(&mut self, kw: Kw) -> bool {
        let found = self.tok.kw == kw;
        if found {
            self.bump();
        }
        found
    }

    #[inline]
    fn eat_tok(&mut self, tok: Tok) -> bool {
        let found = self.tok.tok == tok;
        if found {
            self.bump();
        }
        found
    }

    /// Both words, or neither.
    fn eat2(&mut self, first: Kw, second: Kw) -> bool {
        let found = self.at(first) && self.peek().kw == second;
        if found {
            self.bump();
            self.bump();
        }
        found
    }

    #[inline]
    fn expect(&mut self, kw: Kw) -> R<()> {
        if self.eat(kw) { Ok(()) } else { Err(self.syntax()) }
    }

    fn expect_all(&mut self, kws: &[Kw]) -> R<()> {
        kws.iter().try_for_each(|&kw| self.expect(kw))
    }

    #[inline]
    fn expect_tok(&mut self, tok: Tok) -> R<()> {
        if self.eat_tok(tok) { Ok(()) } else { Err(self.syntax()) }
    }

    /// Eats one of `kws` and says which.
    fn eat_any(&mut self, kws: &[Kw]) -> Option<Kw> {
        let found = kws.iter().copied().find(|&kw| self.at(kw))?;
        self.bump();
        Some(found)
    }

    fn expect_any(&mut self, kws: &[Kw]) -> R<Kw> {
        self.eat_any(kws).ok_or_else(|| self.syntax())
    }

    /// 1064 at the current token.
    #[cold]
    fn syntax(&self) -> ParseError {
        ParseError::syntax(self.src, self.tok.start as usize)
    }

    #[cold]
    fn syntax_at(&self, offset: u32) -> ParseError {
        ParseError::syntax(self.src, offset as usize)
    }

    /// Parses what lies a level deeper.
    #[inline]
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        self.depth += 1;
        let result = match self.depth.is_multiple_of(LEVELS_AT_ONCE) {
            false => inside(self),
            true => self.much_deeper(inside),
        };
        self.depth -= 1;
        result
    }

    #[cold]
    fn much_deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        if self.depth > MAX_NESTING {
            return Err(ParseError::too_deep(self.tok.start as usize));
        }
        sync::stack::with_room(LEVELS_AT_ONCE as usize * LEVEL_BYTES, || inside(self))
    }

    /// Refuses chains that would make the tree too tall to walk.
    fn check_chain(&self, length: u32) -> R<()> {
        if length > MAX_HEIGHT { Err(ParseError::too_deep(self.tok.start as usize)) } else { Ok(()) }
    }

    // --- tree ---

    #[inline]
    fn add(&mut self, expr: Expr) -> ExprId {
        let id = ExprId::new(self.exprs.len());
        self.exprs.push(expr);
        id
    }

    fn add_query(&mut self, query: Query) -> QueryId {
        let id = QueryId::new(self.queries.len());
        self.queries.push(query);
        id
    }

    fn add_table(&mut self, table: TableRef) -> TableId {
        let id = TableId::new(self.tables.len());
        self.tables.push(table);
        id
    }

    /// Moves everything above `mark` on the scratch stack into a list.
    fn list_from(&mut self, mark: usize) -> ExprList {
        let start = self.lists.len() as u32;
        let len = (self.scratch.len() - mark) as u32;
        self.lists.extend_from_slice(&self.scratch[mark..]);
        self.scratch.truncate(mark);
        ExprList { start, len }
    }

    fn list_of(&mut self, items: &[ExprId]) -> ExprList {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(items);
        ExprList { start, len: items.len() as u32 }
    }

    /// `item, item, ...`
    fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> R<T>) -> R<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_tok(Tok::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(item, item, ...)`
    fn paren_list<T>(&mut self, item: impl FnMut(&mut Self) -> R<T>) -> R<Vec<T>> {
        self.expect_tok(Tok::LParen)?;
        let items = self.comma_list(item)?;
        self.expect_tok(Tok::RParen)?;
        Ok(items)
    }

    /// Source text from `start` to the end of the last token.
    fn text_since(&self, start: u32) -> Str {
        Str::source(start, self.prev_end.max(start))
    }

    /// The same without the marks of versioned comments. As long as the text: there may be many.
    fn plain_text_since(&mut self, start: u32) -> Str {
        let text = self.text_since(start);
        let (from, to) = text.range();
        match self.lexer.has_versions && self.src[from..to].windows(2).any(|w| matches!(w, b"*/" | b"/*")) {
            true => self.made_text(&lexer::without_versions(&self.src[from..to])),
            false => text,
        }
    }

    fn made_text(&mut self, text: &[u8]) -> Str {
        let at = self.extra.len();
        self.extra.extend_from_slice(text);
        Str::extra(at, self.extra.len())
    }

    /// A body as the dictionary keeps it: with the comments behind it, without the blanks. One that begins with such a word ends in
    /// END, which nothing is looked for behind.
    fn kept_body(&mut self, first: Token) -> Str {
        let ends = matches!(first.kw, Kw::BEGIN | Kw::IF | Kw::CASE | Kw::LOOP | Kw::WHILE | Kw::REPEAT);
        let end = if ends { self.prev_end } else { self.tok.start.max(self.prev_end) };
        let text = self.kept_text(Str::source(first.start, end));
        text.first(text.resolve(self.src, &self.extra).trim_ascii_end().len())
    }

    /// A text as the dictionary keeps it: read from the statement's beginning, for a versioned comment around it makes mere
    /// comments of those inside. Of these texts a statement has one or two.
    fn kept_text(&mut self, text: Str) -> Str {
        if !self.lexer.has_versions {
            return text;
        }
        let (from, to) = text.range();
        let before = lexer::without_versions(&self.src[..from]).len();
        let whole = lexer::without_versions(&self.src[..to]);
        self.made_text(&whole[before.min(whole.len())..])
    }

    // --- words, names, literals ---

    /// Whether `(` stands right behind the current word (with IGNORE_SPACE: anywhere behind it).
    fn paren_follows(&self) -> bool {
        if self.mode.ignore_space {
            self.peek().tok == Tok::LParen
        } else {
            self.src.get(self.tok.end as usize) == Some(&b'(')
        }
    }

    /// Whether the current token can be an identifier.
    #[inline]
    fn at_name(&self) -> bool {
        match self.tok.tok {
            Tok::Word => !(self.tok.kw.is_reserved() || self.tok.kw.is_function_word() && self.paren_follows()),
            Tok::Quoted => true,
            _ => false,
        }
    }

    #[inline]
    fn name(&mut self) -> R<Name> {
        if !self.at_name() {
            return Err(self.syntax());
        }
        self.any_word()
    }

    /// The current word or quoted identifier, reserved or not.
    #[inline]
    fn any_word(&mut self) -> R<Name> {
        let token = self.tok;
        match token.tok {
            Tok::Word => {
                self.check_utf8(token)?;
                self.bump();
                if self.src[token.start as usize] == b'$' {
                    self.notes.push(Note::Dollar);
                }
                Ok(self.in_utf8mb3(token, Str::source(token.start, token.end)))
            }
            Tok::Quoted => self.quoted_name(token),
            _ => Err(self.syntax()),
        }
    }

    fn quoted_name(&mut self, token: Token) -> R<Name> {
        self.check_utf8(token)?;
        self.bump();
        let name = self.contents(token, 0);
        Ok(self.in_utf8mb3(token, name))
    }

    /// A name of this token as MySQL keeps names, in utf8mb3: what lies beyond its characters is `?`.
    #[inline]
    fn in_utf8mb3(&mut self, token: Token, name: Name) -> Name {
        if token.flags & NON_ASCII == 0 { name } else { self.in_utf8mb3_slow(name) }
    }

    #[cold]
    fn in_utf8mb3_slow(&mut self, name: Name) -> Name {
        let text = std::str::from_utf8(name.resolve(self.src, &self.extra)).expect("names are checked");
        if text.chars().all(|c| c.len_utf8() < 4) {
            return name;
        }
        self.notes.push(Note::LossyName(name));
        let kept: String = text.chars().map(|c| if c.len_utf8() < 4 { c } else { '?' }).collect();
        let from = self.extra.len();
        self.extra.extend_from_slice(kept.as_bytes());
        Str::extra(from, self.extra.len())
    }

    #[inline]
    fn check_utf8(&self, token: Token) -> R<()> {
        if token.flags & NON_ASCII == 0 { Ok(()) } else { self.check_utf8_slow(token) }
    }

    #[cold]
    fn check_utf8_slow(&self, token: Token) -> R<()> {
        let bytes = &self.src[token.start as usize..token.end as usize];
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(()),
            Err(e) => {
                let mut shown = String::new();
                for &b in bytes[e.valid_up_to()..].iter().take(6) {
                    if b.is_ascii_graphic() {
                        shown.push(b as char);
                    } else {
                        shown.push_str(&format!("\\x{b:02X}"));
                    }
                }
                Err(ParseError::at(err!(ER_INVALID_CHARACTER_STRING, "utf8mb4", shown), token.start as usize))
            }
        }
    }

    /// The contents of a quoted token whose opening quote stands `prefix` bytes in.
    #[inline]
    fn contents(&mut self, token: Token, prefix: u32) -> Str {
        let (start, end) = (token.start + prefix + 1, token.end - 1);
        if token.flags & ESCAPED == 0 { Str::source(start, end) } else { self.contents_slow(token, prefix) }
    }

    #[cold]
    fn contents_slow(&mut self, token: Token, prefix: u32) -> Str {
        let open = (token.start + prefix) as usize;
        let quote = self.src[open];
        let text = quote == b'\'' || (quote == b'"' && !self.mode.ansi_quotes);
        let from = self.extra.len();
        let contents = &self.src[open + 1..token.end as usize - 1];
        unescape(contents, quote, text && !self.mode.no_backslash_escapes, &mut self.extra);
        Str::extra(from, self.extra.len())
    }

    /// A text literal without introducer: adjacent strings are not joined.
    fn text(&mut self) -> R<Str> {
        if !self.is(Tok::Str) {
            return Err(self.syntax());
        }
        let token = self.bump();
        Ok(self.contents(token, 0))
    }

    /// An identifier or a text literal.
    fn name_or_text(&mut self) -> R<Str> {
        if self.is(Tok::Str) {
            let token = self.tok;
            self.check_utf8(token)?;
            self.bump();
            Ok(self.contents(token, 0))
        } else {
            self.name()
        }
    }

    /// A character set name: identifier, string, BINARY or ASCII.
    fn charset_name(&mut self) -> R<Name> {
        let name = if self.at(Kw::BINARY) { self.any_word()? } else { self.name_or_text()? };
        self.note_charset(name);
        Ok(name)
    }

    fn note_charset(&mut self, name: Name) {
        let bytes = name.resolve(self.src, &self.extra);
        if bytes.eq_ignore_ascii_case(b"utf8") {
            self.notes.push(Note::Utf8);
        } else if bytes.eq_ignore_ascii_case(b"utf8mb3") {
            self.notes.push(Note::Utf8mb3);
        } else if DEPRECATED_SETS.iter().any(|set| bytes.eq_ignore_ascii_case(set.as_bytes())) {
            self.notes.push(Note::Charset(name));
        }
    }

    fn collation_name(&mut self) -> R<Name> {
        let name = if self.at(Kw::BINARY) { self.any_word()? } else { self.name_or_text()? };
        let bytes = name.resolve(self.src, &self.extra);
        if bytes.get(..8).is_some_and(|b| b.eq_ignore_ascii_case(b"utf8mb3_")) {
            self.notes.push(Note::Utf8mb3Collation(name));
        } else if let Some(end) = bytes.iter().position(|b| *b == b'_')
            && let Some(set) = DEPRECATED_SETS.iter().find(|set| bytes[..end].eq_ignore_ascii_case(set.as_bytes()))
        {
            self.notes.push(Note::CollationOf(name, set));
        }
        Ok(name)
    }

    /// `[schema.]name`
    fn object_name(&mut self) -> R<ObjectName> {
        let first = self.name()?;
        if self.is(Tok::Dot) && self.src.get(self.tok.end as usize) != Some(&b'*') {
            self.bump();
            // After a dot any word is an identifier.
            let name = self.any_word()?;
            return Ok(self.note_reserved(ObjectName { schema: Some(first), name }));
        }
        Ok(self.note_reserved(ObjectName { schema: None, name: first }))
    }

    /// Keeps a name that no table of the schema `mysql` may have in a statement.
    fn note_reserved(&mut self, name: ObjectName) -> ObjectName {
        let bytes = name.name.resolve(self.src, &self.extra);
        if std::str::from_utf8(bytes).is_ok_and(|name| kind_of_reserved(name).is_some()) {
            self.reserved.push(name);
        }
        name
    }

    fn names(&mut self) -> R<Vec<Name>> {
        self.comma_list(Self::name)
    }

    fn paren_names(&mut self) -> R<Vec<Name>> {
        self.paren_list(Self::name)
    }

    fn object_names(&mut self) -> R<Vec<ObjectName>> {
        self.comma_list(Self::object_name)
    }

    /// An unsigned integer, decimal or hexadecimal.
    fn integer(&mut self) -> R<u64> {
        let token = self.tok;
        let digits = &self.src[token.start as usize..token.end as usize];
        let value = match token.tok {
            Tok::Int => parse_u64(digits),
            Tok::Hex if digits.starts_with(b"0x") => {
                std::str::from_utf8(&digits[2..]).ok().and_then(|s| u64::from_str_radix(s, 16).ok())
            }
            _ => None,
        };
        let value = value.ok_or_else(|| self.syntax())?;
        self.bump();
        Ok(value)
    }

    /// Larger numbers are taken for the largest, and noted.
    fn integer32(&mut self) -> R<u32> {
        let digits = &self.src[self.tok.start as usize..self.tok.end as usize];
        if self.is(Tok::Int) && parse_u64(digits).is_none() {
            self.oversize = true;
            self.bump();
            return Ok(u32::MAX);
        }
        let value = self.integer()?;
        Ok(u32::try_from(value).unwrap_or_else(|_| {
            self.oversize = true;
            u32::MAX
        }))
    }

    /// An unsigned number that may be written 10, 10.0 or 0xA: what `real_ulonglong_num` takes.
    fn big_number(&mut self) -> R<u64> {
        if matches!(self.tok.tok, Tok::Decimal | Tok::Float) {
            let token = self.bump();
            let text = &self.src[token.start as usize..token.end as usize];
            let value = std::str::from_utf8(text).ok().and_then(|s| s.parse::<f64>().ok());
            return value.map(|v| v as u64).ok_or_else(|| self.syntax_at(token.start));
        }
        self.integer()
    }

    fn eat_if_exists(&mut self) -> R<bool> {
        if self.eat(Kw::IF) {
            self.expect(Kw::EXISTS)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn eat_if_not_exists(&mut self) -> R<bool> {
        if self.eat(Kw::IF) {
            self.expect_all(&[Kw::NOT, Kw::EXISTS])?;
            return Ok(true);
        }
        Ok(false)
    }

    /// An optional `=`.
    fn eat_eq(&mut self) {
        self.eat_tok(Tok::Eq);
    }

    /// `=` or `:=`
    fn expect_assign(&mut self) -> R<()> {
        if self.eat_tok(Tok::Eq) || self.eat_tok(Tok::Assign) { Ok(()) } else { Err(self.syntax()) }
    }

    /// The name in a [`Tok::UserVar`] token, which is the current one.
    fn user_var_name(&mut self) -> R<Name> {
        let token = self.tok;
        let name = self.behind_at()?;
        // Few names are quoted, or have more bytes than a name may have characters.
        let quoted = matches!(self.src.get(token.start as usize + 1), Some(b'\'' | b'"' | b'`'));
        if quoted || token.end - token.start > USER_VAR_CHARS_MAX as u32 {
            self.check_user_var(token)?;
        }
        Ok(self.in_utf8mb3(token, name))
    }

    /// What stands behind `@` in a [`Tok::UserVar`] token: of an account a host, which may be empty.
    fn behind_at(&mut self) -> R<Str> {
        let token = self.tok;
        if token.tok != Tok::UserVar {
            return Err(self.syntax());
        }
        self.check_utf8(token)?;
        self.bump();
        Ok(match self.src.get(token.start as usize + 1) {
            Some(b'\'' | b'"' | b'`') => self.contents(token, 1),
            _ => Str::source(token.start + 1, token.end),
        })
    }

    /// The same where it gets a value: a variable without a name can be read, and is NULL. Error 3061.
    fn target_var_name(&mut self) -> R<Name> {
        let token = self.tok;
        if token.tok == Tok::UserVar && token.end - token.start == 1 {
            return Err(illegal_user_var("", token));
        }
        self.user_var_name()
    }

    /// Error 3061 for a user variable's name that is too long, ends in a space, or is empty.
    #[cold]
    fn check_user_var(&self, token: Token) -> R<()> {
        let text = &self.src[token.start as usize + 1..token.end as usize];
        let quoted = matches!(text.first(), Some(b'\'' | b'"' | b'`'));
        let name = String::from_utf8_lossy(if quoted { &text[1..text.len() - 1] } else { text });
        if name.chars().count() <= USER_VAR_CHARS_MAX && !(quoted && (name.is_empty() || name.ends_with(' '))) {
            return Ok(());
        }
        Err(illegal_user_var(&name, token))
    }

    /// Whether the current unquoted word is `word`, for the few words that are no keywords at all.
    fn at_word(&self, word: &[u8]) -> bool {
        self.is(Tok::Word) && self.src[self.tok.start as usize..self.tok.end as usize].eq_ignore_ascii_case(word)
    }

    fn unsupported(&self, what: &'static str, command: &'static str) -> Statement {
        Statement::Unsupported(Unsupported { what, command })
    }
}

/// Decimal digits to a number; None beyond 64 bits.
#[inline]
pub(crate) fn parse_u64(digits: &[u8]) -> Option<u64> {
    let mut value = 0u64;
    if digits.len() <= 19 {
        for &b in digits {
            value = value * 10 + u64::from(b - b'0');
        }
        return Some(value);
    }
    for &b in digits {
        value = value.checked_mul(10)?.checked_add(u64::from(b - b'0'))?;
    }
    Some(value)
}

#[cold]
fn illegal_user_var(name: &str, token: Token) -> ParseError {
    ParseError::at(err!(ER_ILLEGAL_USER_VAR, name), token.start as usize)
}
