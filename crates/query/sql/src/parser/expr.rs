//! Expressions by operator precedence (Pratt), with MySQL's grammar rather than the manual's table where the two differ.
//!
//! ```text
//!   loosest   OR ||            n-ary nodes
//!             XOR
//!             AND &&           n-ary nodes
//!             NOT              prefix; as tight as `!` under HIGH_NOT_PRECEDENCE
//!             = <=> <> < > IS  left to right
//!             IN LIKE REGEXP BETWEEN MEMBER SOUNDS     do not chain: `a IN (1) IN (2)` is an error
//!             |
//!             &
//!             << >>
//!             + -              the right side may be INTERVAL n unit
//!             * / % DIV MOD
//!             ^
//!             ||               under PIPES_AS_CONCAT
//!             - + ~ ! BINARY   prefix
//!   tightest  COLLATE -> ->>
//! ```

use super::*;

mod bp {
    /// Binding powers, weakest first: OR and, without PIPES_AS_CONCAT, `||`.
    pub const OR: u8 = 1;
    /// XOR.
    pub const XOR: u8 = 2;
    /// AND and `&&`.
    pub const AND: u8 = 3;
    /// NOT, unless HIGH_NOT_PRECEDENCE is on.
    pub const NOT: u8 = 4;
    /// `=`, `<=>`, `<` and their like, and IS.
    pub const COMPARE: u8 = 5;
    /// IN, LIKE, REGEXP, BETWEEN, MEMBER OF, SOUNDS LIKE.
    pub const PREDICATE: u8 = 6;
    /// `|`.
    pub const BIT_OR: u8 = 7;
    /// `&`.
    pub const BIT_AND: u8 = 8;
    /// `<<` and `>>`.
    pub const SHIFT: u8 = 9;
    /// `+` and `-`, also with an INTERVAL.
    pub const ADD: u8 = 10;
    /// `*`, `/`, `%`, DIV and MOD.
    pub const MUL: u8 = 11;
    /// `^`.
    pub const BIT_XOR: u8 = 12;
    /// `||` under PIPES_AS_CONCAT.
    pub const CONCAT: u8 = 13;
    /// Unary `-`, `+`, `~`, `!`, BINARY, and COLLATE behind an operand.
    pub const PREFIX: u8 = 14;
}

/// What stands between two operands.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Binary(BinaryOp),
    Compare(BinaryOp),
    And,
    Or,
    Is,
    /// LIKE, IN, BETWEEN, REGEXP, or NOT before one of them.
    Predicate,
}

impl Parser<'_> {
    #[inline]
    pub(super) fn expr(&mut self) -> R<ExprId> {
        self.expr_bp(bp::OR)
    }

    /// `bit_expr` of the grammar: no comparison, no logic.
    pub(super) fn bit_expr(&mut self) -> R<ExprId> {
        self.expr_bp(bp::BIT_OR)
    }

    /// `simple_expr` of the grammar.
    pub(super) fn simple_expr(&mut self) -> R<ExprId> {
        self.expr_bp(bp::CONCAT)
    }

    fn expr_bp(&mut self, min: u8) -> R<ExprId> {
        self.deeper(|p| p.operators(min))
    }

    fn operators(&mut self, min: u8) -> R<ExprId> {
        let outer_tallest = std::mem::take(&mut self.tallest);
        let mut ceiling = u8::MAX;
        let mut left = self.prefix(min, &mut ceiling)?;
        let mut height = self.tallest + 1;
        while let Some((infix, power)) = self.infix() {
            if power < min || power > ceiling {
                break;
            }
            self.tallest = 0;
            (left, ceiling) = match infix {
                Infix::Binary(op) => (self.binary_rest(left, op, power)?, power),
                Infix::Compare(op) => (self.compare_rest(left, op)?, bp::COMPARE),
                Infix::And => (self.logic_rest(left, power, Expr::And)?, power),
                Infix::Or => (self.logic_rest(left, power, Expr::Or)?, power),
                Infix::Is => self.is_rest(left)?,
                // A predicate cannot be the left side of another, only of comparisons and logic.
                Infix::Predicate => (self.predicate_rest(left)?, bp::COMPARE),
            };
            height = height.max(self.tallest) + 1;
            self.check_chain(height)?;
        }
        self.tallest = outer_tallest.max(height);
        Ok(left)
    }

    /// The operator at the current token with its binding power.
    #[inline]
    fn infix(&self) -> Option<(Infix, u8)> {
        use BinaryOp::*;
        let binary = |op, power| Some((Infix::Binary(op), power));
        let compare = |op| Some((Infix::Compare(op), bp::COMPARE));
        match self.tok.tok {
            Tok::Word => self.word_infix(),
            Tok::Eq => compare(Eq),
            Tok::NullSafeEq => compare(NullSafeEq),
            Tok::Ne => compare(Ne),
            Tok::Lt => compare(Lt),
            Tok::Le => compare(Le),
            Tok::Gt => compare(Gt),
            Tok::Ge => compare(Ge),
            Tok::Plus => binary(Add, bp::ADD),
            Tok::Minus => binary(Sub, bp::ADD),
            Tok::Star => binary(Mul, bp::MUL),
            Tok::Slash => binary(Div, bp::MUL),
            Tok::Percent => binary(Mod, bp::MUL),
            Tok::Pipe => binary(BitOr, bp::BIT_OR),
            Tok::Amp => binary(BitAnd, bp::BIT_AND),
            Tok::ShiftLeft => binary(ShiftLeft, bp::SHIFT),
            Tok::ShiftRight => binary(ShiftRight, bp::SHIFT),
            Tok::Caret => binary(BitXor, bp::BIT_XOR),
            Tok::AndAnd => Some((Infix::And, bp::AND)),
            Tok::PipePipe if self.mode.pipes_as_concat => binary(Concat, bp::CONCAT),
            Tok::PipePipe => Some((Infix::Or, bp::OR)),
            _ => None,
        }
    }

    fn word_infix(&self) -> Option<(Infix, u8)> {
        Some(match self.tok.kw {
            Kw::AND => (Infix::And, bp::AND),
            Kw::OR => (Infix::Or, bp::OR),
            Kw::XOR => (Infix::Binary(BinaryOp::Xor), bp::XOR),
            Kw::IS => (Infix::Is, bp::COMPARE),
            Kw::DIV => (Infix::Binary(BinaryOp::IntDiv), bp::MUL),
            Kw::MOD => (Infix::Binary(BinaryOp::Mod), bp::MUL),
            Kw::IN | Kw::LIKE | Kw::REGEXP | Kw::RLIKE | Kw::BETWEEN => (Infix::Predicate, bp::PREDICATE),
            Kw::NOT if matches!(self.peek().kw, Kw::IN | Kw::LIKE | Kw::REGEXP | Kw::RLIKE | Kw::BETWEEN) => {
                (Infix::Predicate, bp::PREDICATE)
            }
            Kw::MEMBER if self.member_of_follows() => (Infix::Predicate, bp::PREDICATE),
            Kw::SOUNDS if self.peek().kw == Kw::LIKE => (Infix::Predicate, bp::PREDICATE),
            _ => return None,
        })
    }

    /// `MEMBER (`, `MEMBER OF`: else MEMBER is an alias.
    fn member_of_follows(&self) -> bool {
        let next = self.peek();
        next.kw == Kw::OF || next.tok == Tok::LParen
    }

    fn binary_rest(&mut self, left: ExprId, op: BinaryOp, power: u8) -> R<ExprId> {
        self.bump();
        if power == bp::ADD
            && self.at(Kw::INTERVAL)
            && let Some((amount, unit)) = self.try_interval()?
        {
            return Ok(self.add(Expr::DateArith { subtract: op == BinaryOp::Sub, date: left, amount, unit }));
        }
        let right = self.expr_bp(power + 1)?;
        Ok(self.add(Expr::Binary { op, left, right }))
    }

    fn compare_rest(&mut self, left: ExprId, op: BinaryOp) -> R<ExprId> {
        self.bump();
        let quantifier = match self.tok.kw {
            Kw::ALL => Some(true),
            Kw::ANY | Kw::SOME => Some(false),
            _ => None,
        };
        if let Some(all) = quantifier
            && self.peek().tok == Tok::LParen
            && op != BinaryOp::NullSafeEq
        {
            self.bump();
            let query = self.paren_query()?;
            return Ok(self.add(Expr::Quantified { op, all, left, query }));
        }
        let right = self.expr_bp(bp::PREDICATE)?;
        Ok(self.add(Expr::Binary { op, left, right }))
    }

    /// The second and further operands of an AND or OR chain become one flat list.
    fn logic_rest(&mut self, left: ExprId, power: u8, node: fn(ExprList) -> Expr) -> R<ExprId> {
        let want = self.infix();
        let mark = self.scratch.len();
        self.scratch.push(left);
        while self.infix() == want {
            match self.bump().tok {
                Tok::AndAnd => self.notes.push(Note::AndAnd),
                Tok::PipePipe => self.notes.push(Note::PipesOr),
                _ => {}
            }
            let operand = self.expr_bp(power + 1)?;
            self.scratch.push(operand);
        }
        let list = self.list_from(mark);
        Ok(self.add(node(list)))
    }

    /// IS [NOT] NULL chains to the left; IS TRUE and the like are the end of a comparison.
    fn is_rest(&mut self, operand: ExprId) -> R<(ExprId, u8)> {
        self.bump();
        let negated = self.eat(Kw::NOT);
        let test = match self.tok.kw {
            Kw::NULL => Truth::Null,
            Kw::TRUE => Truth::True,
            Kw::FALSE => Truth::False,
            Kw::UNKNOWN => Truth::Unknown,
            _ => return Err(self.syntax()),
        };
        self.bump();
        let ceiling = if test == Truth::Null { bp::COMPARE } else { bp::NOT };
        Ok((self.add(Expr::Is { operand, negated, test }), ceiling))
    }

    fn predicate_rest(&mut self, operand: ExprId) -> R<ExprId> {
        let negated = self.eat(Kw::NOT);
        let kw = self.bump().kw;
        let expr = match kw {
            Kw::IN => {
                self.expect_tok(Tok::LParen)?;
                if self.at_query_start() {
                    let query = self.query_in_parens()?;
                    Expr::InQuery { operand, negated, query }
                } else {
                    let nested_paren = self.is(Tok::LParen);
                    let list = self.expr_list()?;
                    let first = self.lists.get(list.start as usize).map(|id| &self.exprs[id.index()]);
                    let query = match first {
                        // IN ((SELECT ...)) is a subquery in parentheses, IN ((SELECT ...) UNION ...) begins with one.
                        Some(&Expr::Subquery(query)) if list.len() == 1 => Some(query),
                        _ => None,
                    };
                    let query = match query {
                        Some(q) if nested_paren && self.at_query_rest() => Some(self.query_from_operand(q)?),
                        query => query,
                    };
                    self.expect_tok(Tok::RParen)?;
                    match query {
                        Some(query) => Expr::InQuery { operand, negated, query },
                        None => Expr::InList { operand, negated, list },
                    }
                }
            }
            Kw::LIKE => {
                let pattern = self.simple_expr()?;
                let escape = if self.eat(Kw::ESCAPE) { Some(self.simple_expr()?) } else { None };
                Expr::Like { operand, negated, pattern, escape }
            }
            Kw::REGEXP | Kw::RLIKE => Expr::Regexp { operand, negated, pattern: self.bit_expr()? },
            Kw::BETWEEN => {
                let low = self.bit_expr()?;
                self.expect(Kw::AND)?;
                let high = self.expr_bp(bp::PREDICATE)?;
                Expr::Between { operand, negated, low, high }
            }
            Kw::SOUNDS => {
                self.expect(Kw::LIKE)?;
                Expr::Binary { op: BinaryOp::SoundsLike, left: operand, right: self.bit_expr()? }
            }
            _ => {
                debug_assert_eq!(kw, Kw::MEMBER);
                self.eat(Kw::OF);
                self.expect_tok(Tok::LParen)?;
                let right = self.simple_expr()?;
                self.expect_tok(Tok::RParen)?;
                Expr::Binary { op: BinaryOp::MemberOf, left: operand, right }
            }
        };
        Ok(self.add(expr))
    }

    /// Operand with what stands in front of it. `min` says what may: `1 + NOT a` is an error.
    #[inline]
    fn prefix(&mut self, min: u8, ceiling: &mut u8) -> R<ExprId> {
        let op = match self.tok.tok {
            Tok::Minus => UnaryOp::Neg,
            Tok::Plus => UnaryOp::Plus,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Bang => UnaryOp::Not,
            Tok::Word => match self.tok.kw {
                Kw::Plain => return self.postfix(),
                Kw::NOT if self.mode.high_not_precedence => UnaryOp::Not,
                Kw::NOT if min <= bp::NOT => {
                    self.bump();
                    let operand = self.expr_bp(bp::NOT)?;
                    *ceiling = bp::NOT;
                    return Ok(self.add(Expr::Unary { op: UnaryOp::Not, operand }));
                }
                Kw::BINARY => UnaryOp::Binary,
                Kw::INTERVAL => return self.interval_prefix(ceiling),
                _ => return self.postfix(),
            },
            _ => return self.postfix(),
        };
        let bang = self.bump().tok == Tok::Bang;
        let operand = self.expr_bp(bp::PREFIX)?;
        if bang {
            self.notes.push(Note::Bang);
        } else if op == UnaryOp::Binary {
            self.notes.push(Note::BinaryExpr);
        }
        Ok(self.add(Expr::Unary { op, operand }))
    }

    /// INTERVAL n unit + date, or the function INTERVAL(n, a, ...).
    fn interval_prefix(&mut self, ceiling: &mut u8) -> R<ExprId> {
        match self.try_interval()? {
            Some((amount, unit)) => {
                self.expect_tok(Tok::Plus)?;
                let date = self.expr_bp(bp::NOT)?;
                *ceiling = bp::NOT;
                Ok(self.add(Expr::DateArith { subtract: false, date, amount, unit }))
            }
            None => self.postfix(),
        }
    }

    /// INTERVAL expr unit; None (nothing taken) when it is the function INTERVAL(n, a, ...).
    pub(super) fn try_interval(&mut self) -> R<Option<(ExprId, IntervalUnit)>> {
        if self.peek().tok == Tok::LParen && self.interval_is_function() {
            return Ok(None);
        }
        self.expect(Kw::INTERVAL)?;
        let amount = self.expr()?;
        let unit = self.interval_unit()?;
        Ok(Some((amount, unit)))
    }

    /// Whether the parenthesis after INTERVAL holds a comma at its own level and no unit follows it.
    fn interval_is_function(&self) -> bool {
        let mut lexer = self.lexer.clone();
        let mut depth = 0u32;
        let mut comma = false;
        loop {
            match lexer.next_token().tok {
                Tok::LParen => depth += 1,
                Tok::RParen => {
                    depth -= 1;
                    if depth == 0 {
                        return comma && interval_unit_of(lexer.next_token().kw).is_none();
                    }
                }
                Tok::Comma if depth == 1 => comma = true,
                Tok::End | Tok::Bad | Tok::Semicolon => return false,
                _ => {}
            }
        }
    }

    pub(super) fn interval_unit(&mut self) -> R<IntervalUnit> {
        let unit = interval_unit_of(self.tok.kw).ok_or_else(|| self.syntax())?;
        self.bump();
        Ok(unit)
    }

    /// A primary with COLLATE and JSON arrows behind it.
    #[inline]
    fn postfix(&mut self) -> R<ExprId> {
        let mut left = self.primary()?;
        loop {
            match self.tok.tok {
                Tok::Word if self.at(Kw::COLLATE) => {
                    self.bump();
                    // MySQL does not warn of deprecated ones here.
                    let notes = self.notes.len();
                    let collation = self.collation_name()?;
                    self.notes.truncate(notes);
                    left = self.add(Expr::Collate { operand: left, collation });
                }
                Tok::Arrow | Tok::ArrowArrow if matches!(self.exprs[left.index()], Expr::Column { .. }) => {
                    let op = if self.is(Tok::Arrow) { BinaryOp::JsonExtract } else { BinaryOp::JsonUnquoteExtract };
                    self.bump();
                    let text = self.text()?;
                    let right = self.add(Expr::String { text, introducer: None });
                    left = self.add(Expr::Binary { op, left, right });
                }
                _ => return Ok(left),
            }
            self.tallest += 1;
            self.check_chain(self.tallest)?;
        }
    }

    #[inline]
    pub(super) fn primary(&mut self) -> R<ExprId> {
        let token = self.tok;
        match token.tok {
            Tok::Word if token.kw == Kw::Plain => self.column_or_call(),
            Tok::Word => self.keyword_primary(),
            Tok::Quoted => self.column_or_call(),
            Tok::Int
            | Tok::Decimal
            | Tok::Float
            | Tok::Str
            | Tok::NationalStr
            | Tok::Hex
            | Tok::Bit
            | Tok::Introducer => self.literal(),
            Tok::Param if !self.takes_params => Err(self.syntax()),
            Tok::Param => {
                self.bump();
                self.params += 1;
                Ok(self.add(Expr::Param(self.params - 1)))
            }
            Tok::LParen => self.paren_primary(),
            Tok::UserVar => self.user_var(),
            Tok::AtAt => self.system_var(),
            Tok::LBrace => self.odbc_escape(),
            _ => Err(self.syntax()),
        }
    }

    #[inline]
    pub(super) fn literal(&mut self) -> R<ExprId> {
        let token = self.tok;
        if let Some(lifted) = self.lifted.get(self.next_lifted)
            && lifted.start == token.start
        {
            self.next_lifted += 1;
            self.bump();
            return Ok(self.add(Expr::Param(self.next_lifted as u32 - 1)));
        }
        let expr = self.literal_expr()?;
        Ok(self.add(expr))
    }

    #[inline]
    pub(super) fn literal_expr(&mut self) -> R<Expr> {
        let token = self.tok;
        let expr = match token.tok {
            Tok::Int => {
                self.bump();
                match parse_u64(&self.src[token.start as usize..token.end as usize]) {
                    Some(value) => Expr::Int(value),
                    None => Expr::Decimal(Str::source(token.start, token.end)),
                }
            }
            Tok::Decimal => {
                self.bump();
                Expr::Decimal(Str::source(token.start, token.end))
            }
            Tok::Float => {
                self.bump();
                Expr::Float(Str::source(token.start, token.end))
            }
            Tok::Str => {
                self.bump();
                let text = self.contents(token, 0);
                let text = if self.is(Tok::Str) { self.join_strings(text) } else { text };
                Expr::String { text, introducer: None }
            }
            Tok::NationalStr => {
                self.bump();
                self.notes.push(Note::National);
                let text = self.contents(token, 1);
                let text = self.join_strings(text);
                let from = self.extra.len();
                self.extra.extend_from_slice(b"utf8mb3");
                Expr::String { text, introducer: Some(Str::extra(from, self.extra.len())) }
            }
            Tok::Hex | Tok::Bit => self.byte_literal(None)?,
            Tok::Introducer => {
                self.bump();
                let name = Str::source(token.start + 1, token.end);
                self.note_charset(name);
                let charset = Some(name);
                match self.tok.tok {
                    Tok::Str => {
                        let first = self.bump();
                        let text = self.contents(first, 0);
                        Expr::String { text: self.join_strings(text), introducer: charset }
                    }
                    Tok::Hex | Tok::Bit => self.byte_literal(charset)?,
                    _ => return Err(self.syntax()),
                }
            }
            _ => return Err(self.syntax()),
        };
        Ok(expr)
    }

    /// Adjacent strings are one.
    #[cold]
    fn join_strings(&mut self, first: Str) -> Str {
        if !self.is(Tok::Str) {
            return first;
        }
        let mut parts = vec![first];
        while self.is(Tok::Str) {
            let token = self.bump();
            let part = self.contents(token, 0);
            parts.push(part);
        }
        let joined: Vec<u8> = parts.iter().flat_map(|&part| self.raw(part).to_vec()).collect();
        let from = self.extra.len();
        self.extra.extend_from_slice(&joined);
        Str::extra(from, self.extra.len())
    }

    /// The bytes of a string while the tree is being built.
    pub(super) fn raw(&self, s: Str) -> &[u8] {
        s.resolve(self.src, &self.extra)
    }

    fn byte_literal(&mut self, introducer: Option<Name>) -> R<Expr> {
        let token = self.bump();
        let text = &self.src[token.start as usize..token.end as usize];
        let digits = if text[0] == b'0' { &text[2..] } else { &text[2..text.len() - 1] };
        let bit = token.tok == Tok::Bit;
        let (radix, per_byte) = if bit { (2, 8) } else { (16, 2) };
        let from = self.extra.len();
        let first = digits.len() % per_byte;
        let (head, tail) = digits.split_at(first);
        for group in std::iter::once(head).filter(|g| !g.is_empty()).chain(tail.chunks(per_byte)) {
            let byte = group.iter().fold(0u32, |v, &d| v * radix + (d as char).to_digit(radix).unwrap_or(0));
            self.extra.push(byte as u8);
        }
        Ok(Expr::Bytes { bytes: Str::extra(from, self.extra.len()), introducer, bit })
    }

    /// `(expr)`, `(a, b)`, `(SELECT ...)`, `((SELECT ...) UNION ...)`.
    fn paren_primary(&mut self) -> R<ExprId> {
        self.bump();
        if self.at_query_start() {
            let query = self.query_in_parens()?;
            return Ok(self.add(Expr::Subquery(query)));
        }
        let nested_paren = self.is(Tok::LParen);
        let first = self.expr()?;
        if let Expr::Subquery(query) = self.exprs[first.index()]
            && nested_paren
            && self.at_query_rest()
        {
            // What looked like an expression in parentheses was the first operand of a set operation.
            let query = self.query_from_operand(query)?;
            self.expect_tok(Tok::RParen)?;
            return Ok(self.add(Expr::Subquery(query)));
        }
        if self.is(Tok::Comma) {
            let mark = self.scratch.len();
            self.scratch.push(first);
            while self.eat_tok(Tok::Comma) {
                let item = self.expr()?;
                self.scratch.push(item);
            }
            self.expect_tok(Tok::RParen)?;
            let list = self.list_from(mark);
            return Ok(self.add(Expr::Row(list)));
        }
        self.expect_tok(Tok::RParen)?;
        // The parentheses are no node.
        self.tallest -= 1;
        Ok(first)
    }

    fn user_var(&mut self) -> R<ExprId> {
        let name = self.user_var_name()?;
        if self.eat_tok(Tok::Assign) {
            let value = self.expr()?;
            self.notes.push(Note::AssignUserVar);
            return Ok(self.add(Expr::AssignUserVar { name, value }));
        }
        Ok(self.add(Expr::UserVar(name)))
    }

    fn system_var(&mut self) -> R<ExprId> {
        let (scope, base, name) = self.system_var_name()?;
        Ok(self.add(Expr::SystemVar { scope, base, name }))
    }

    /// `@@[scope.][base.]name`, at the `@@`.
    pub(super) fn system_var_name(&mut self) -> R<(VarScope, Option<Name>, Name)> {
        self.expect_tok(Tok::AtAt)?;
        let scope = match () {
            _ if self.at_word(b"global") => VarScope::Global,
            _ if self.at_word(b"session") || self.at_word(b"local") => VarScope::Session,
            _ if self.at_word(b"persist") => VarScope::Persist,
            _ if self.at_word(b"persist_only") => VarScope::PersistOnly,
            _ => VarScope::Unspecified,
        };
        let mut name = self.any_word()?;
        if scope != VarScope::Unspecified {
            self.expect_tok(Tok::Dot)?;
            name = self.any_word()?;
        }
        if self.eat_tok(Tok::Dot) {
            let last = self.any_word()?;
            return Ok((scope, Some(name), last));
        }
        Ok((scope, None, name))
    }

    /// {d '...'}, {t '...'}, {ts '...'}, {identifier expr}
    fn odbc_escape(&mut self) -> R<ExprId> {
        self.bump();
        let kind = match () {
            _ if self.at_word(b"d") => Some(TemporalKind::Date),
            _ if self.at_word(b"t") => Some(TemporalKind::Time),
            _ if self.at_word(b"ts") => Some(TemporalKind::DateTime),
            _ => None,
        };
        self.name()?;
        let id = self.expr()?;
        self.expect_tok(Tok::RBrace)?;
        match (kind, &self.exprs[id.index()]) {
            (Some(kind), &Expr::String { text, introducer: None }) => {
                Ok(self.add(Expr::Temporal { kind, text, escaped: Some(id) }))
            }
            _ => Ok(id),
        }
    }

    /// `expr, expr, ...`
    pub(super) fn expr_list(&mut self) -> R<ExprList> {
        let mark = self.scratch.len();
        loop {
            let item = self.expr()?;
            self.scratch.push(item);
            if !self.eat_tok(Tok::Comma) {
                return Ok(self.list_from(mark));
            }
        }
    }

    /// `[expr, ...] )`: arguments up to and with the closing parenthesis.
    pub(super) fn args_to_paren(&mut self) -> R<ExprList> {
        if self.eat_tok(Tok::RParen) {
            return Ok(ExprList::default());
        }
        let list = self.expr_list()?;
        self.expect_tok(Tok::RParen)?;
        Ok(list)
    }

    /// As [`Parser::args_to_paren`] where the grammar says how many arguments there are: one too many is a mistake at its comma,
    /// one too few at the parenthesis.
    pub(super) fn counted_args(&mut self, least: usize, most: usize) -> R<ExprList> {
        let mark = self.scratch.len();
        let mut count = 0;
        while count < most && !(count == 0 && least == 0 && self.tok.tok == Tok::RParen) {
            let item = self.expr()?;
            self.scratch.push(item);
            count += 1;
            if count >= least && self.tok.tok == Tok::RParen {
                break;
            }
            if count < most {
                self.expect_tok(Tok::Comma)?;
            }
        }
        self.expect_tok(Tok::RParen)?;
        Ok(self.list_from(mark))
    }

    /// `expr` or DEFAULT, as a value of INSERT or UPDATE.
    #[inline]
    pub(super) fn expr_or_default(&mut self) -> R<ExprId> {
        if self.at(Kw::DEFAULT) && self.peek().tok != Tok::LParen {
            self.bump();
            return Ok(self.add(Expr::DefaultValue));
        }
        self.expr()
    }

    /// `[[schema.]table.]column`
    pub(super) fn column_ref(&mut self) -> R<ExprId> {
        let first = self.name()?;
        self.column_rest(first)
    }

    pub(super) fn column_rest(&mut self, first: Name) -> R<ExprId> {
        let expr = if self.eat_tok(Tok::Dot) {
            let second = self.any_word()?;
            if self.eat_tok(Tok::Dot) {
                let third = self.any_word()?;
                Expr::Column { schema: Some(first), table: Some(second), column: third }
            } else {
                Expr::Column { schema: None, table: Some(first), column: second }
            }
        } else {
            Expr::Column { schema: None, table: None, column: first }
        };
        Ok(self.add(expr))
    }

    pub(super) fn order_items(&mut self) -> R<Vec<OrderItem>> {
        self.comma_list(|p| {
            let expr = p.expr()?;
            let descending = p.descending();
            Ok(OrderItem { expr, descending })
        })
    }

    pub(super) fn descending(&mut self) -> bool {
        !self.eat(Kw::ASC) && self.eat(Kw::DESC)
    }

    /// ORDER BY items, or nothing.
    pub(super) fn order_by(&mut self) -> R<Vec<OrderItem>> {
        if self.eat(Kw::ORDER) {
            self.expect(Kw::BY)?;
            return self.order_items();
        }
        Ok(Vec::new())
    }

    /// An optionally signed literal: what DEFAULT and the like take.
    pub(super) fn signed_literal(&mut self) -> R<ExprId> {
        match self.tok.tok {
            Tok::Minus | Tok::Plus => {
                let op = if self.is(Tok::Minus) { UnaryOp::Neg } else { UnaryOp::Plus };
                self.bump();
                if !matches!(self.tok.tok, Tok::Int | Tok::Decimal | Tok::Float) {
                    return Err(self.syntax());
                }
                let operand = self.literal()?;
                Ok(self.add(Expr::Unary { op, operand }))
            }
            Tok::Word => match self.tok.kw {
                Kw::NULL => {
                    self.bump();
                    Ok(self.add(Expr::Null))
                }
                Kw::TRUE | Kw::FALSE => {
                    let value = self.bump().kw == Kw::TRUE;
                    Ok(self.add(Expr::Bool(value)))
                }
                Kw::DATE | Kw::TIME | Kw::TIMESTAMP if self.peek().tok == Tok::Str => self.keyword_primary(),
                _ => Err(self.syntax()),
            },
            _ => self.literal(),
        }
    }
}

pub(super) fn interval_unit_of(kw: Kw) -> Option<IntervalUnit> {
    use IntervalUnit::*;
    Some(match kw {
        Kw::MICROSECOND => Microsecond,
        Kw::SECOND | Kw::SQL_TSI_SECOND => Second,
        Kw::MINUTE | Kw::SQL_TSI_MINUTE => Minute,
        Kw::HOUR | Kw::SQL_TSI_HOUR => Hour,
        Kw::DAY | Kw::SQL_TSI_DAY => Day,
        Kw::WEEK | Kw::SQL_TSI_WEEK => Week,
        Kw::MONTH | Kw::SQL_TSI_MONTH => Month,
        Kw::QUARTER | Kw::SQL_TSI_QUARTER => Quarter,
        Kw::YEAR | Kw::SQL_TSI_YEAR => Year,
        Kw::SECOND_MICROSECOND => SecondMicrosecond,
        Kw::MINUTE_MICROSECOND => MinuteMicrosecond,
        Kw::MINUTE_SECOND => MinuteSecond,
        Kw::HOUR_MICROSECOND => HourMicrosecond,
        Kw::HOUR_SECOND => HourSecond,
        Kw::HOUR_MINUTE => HourMinute,
        Kw::DAY_MICROSECOND => DayMicrosecond,
        Kw::DAY_SECOND => DaySecond,
        Kw::DAY_MINUTE => DayMinute,
        Kw::DAY_HOUR => DayHour,
        Kw::YEAR_MONTH => YearMonth,
        _ => return None,
    })
}
