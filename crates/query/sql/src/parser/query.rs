//! Query expressions: WITH, SELECT, VALUES, TABLE, set operations, and the clauses behind them.

use super::*;
use types::codes::*;

impl Parser<'_> {
    /// SELECT, WITH, TABLE, VALUES ROW: not a parenthesis.
    #[inline]
    pub(super) fn at_query_start(&self) -> bool {
        match self.tok.kw {
            Kw::SELECT | Kw::WITH | Kw::TABLE => true,
            Kw::VALUES => self.peek().kw == Kw::ROW,
            _ => false,
        }
    }

    /// What may follow a query in parentheses that is the first operand of more.
    pub(super) fn at_query_rest(&self) -> bool {
        matches!(self.tok.kw, Kw::UNION | Kw::EXCEPT | Kw::INTERSECT | Kw::ORDER | Kw::LIMIT)
    }

    /// `query )`, behind the opening parenthesis.
    pub(super) fn query_in_parens(&mut self) -> R<QueryId> {
        let start = self.tok.start;
        let query = self.query()?;
        self.expect_tok(Tok::RParen)?;
        self.refuse_into(query, start)?;
        Ok(query)
    }

    /// Error 3954.
    fn refuse_into(&self, query: QueryId, start: u32) -> R<()> {
        match self.queries[query.index()].into {
            Some(_) => Err(ParseError::at(err!(ER_MISPLACED_INTO), start as usize)),
            None => Ok(()),
        }
    }

    /// `( query )`
    pub(super) fn paren_query(&mut self) -> R<QueryId> {
        self.expect_tok(Tok::LParen)?;
        self.query_in_parens()
    }

    /// At an opening parenthesis: whether it begins a query (and not a join or an expression in parentheses).
    pub(super) fn paren_begins_query(&self) -> bool {
        let mut lexer = self.lexer.clone();
        let mut token = lexer.next_token();
        let mut opens = 1u32;
        while token.tok == Tok::LParen {
            opens += 1;
            token = lexer.next_token();
        }
        let query = match token.kw {
            Kw::SELECT | Kw::WITH | Kw::TABLE => true,
            Kw::VALUES => lexer.clone().next_token().kw == Kw::ROW,
            _ => false,
        };
        if !query || opens == 1 {
            return query;
        }
        // (( SELECT ... ) ?: a query when set operation, clause or `)` follows the second parenthesis.
        loop {
            let token = lexer.next_token();
            match token.tok {
                Tok::LParen => opens += 1,
                Tok::RParen => opens -= 1,
                Tok::End | Tok::Bad => return false,
                _ => {}
            }
            if opens == 1 {
                let next = lexer.next_token();
                let clause = matches!(
                    next.kw,
                    Kw::UNION | Kw::EXCEPT | Kw::INTERSECT | Kw::ORDER | Kw::LIMIT | Kw::FOR | Kw::LOCK | Kw::INTO
                );
                return clause || next.tok == Tok::RParen;
            }
        }
    }

    /// A whole query expression with all clauses.
    pub(super) fn query(&mut self) -> R<QueryId> {
        self.deeper(|p| {
            p.measured(|p| {
                let with = if p.at(Kw::WITH) { Some(p.with()?) } else { None };
                let first = p.set_operand()?;
                p.query_rest(first, with)
            })
        })
    }

    /// A query: its height becomes that of an expression, as a subquery is one.
    fn measured(&mut self, query: impl FnOnce(&mut Self) -> R<QueryId>) -> R<QueryId> {
        let (tallest, merged) = (std::mem::take(&mut self.tallest), std::mem::take(&mut self.merged));
        let id = query(self)?;
        let height = self.tallest + self.merged + QUERY_LEVELS;
        self.check_chain(height)?;
        (self.tallest, self.merged) = (tallest.max(height), merged);
        Ok(id)
    }

    /// A query in parentheses that may be merged into the one at hand: what reads its columns stands on top of them.
    /// `beside`: others of its kind are merged into it, too.
    pub(super) fn merged_query(&mut self, beside: bool) -> R<QueryId> {
        let tallest = std::mem::take(&mut self.tallest);
        let id = self.paren_query()?;
        let height = std::mem::replace(&mut self.tallest, tallest);
        self.merged = if beside { self.merged + height } else { self.merged.max(height) };
        self.check_chain(self.merged)?;
        Ok(id)
    }

    /// The query whose first operand was already parsed, in parentheses.
    pub(super) fn query_from_operand(&mut self, first: QueryId) -> R<QueryId> {
        self.queries[first.index()].parenthesized = true;
        self.query_rest(first, None)
    }

    /// A query that begins with WITH already parsed.
    pub(super) fn query_with(&mut self, with: Box<With>) -> R<QueryId> {
        self.deeper(|p| {
            p.measured(|p| {
                let first = p.set_operand()?;
                p.query_rest(first, Some(with))
            })
        })
    }

    fn query_rest(&mut self, first: QueryId, with: Option<Box<With>>) -> R<QueryId> {
        let mut id = first;
        if matches!(self.tok.kw, Kw::UNION | Kw::EXCEPT | Kw::INTERSECT) {
            id = self.set_operations(first)?;
        }
        let start = self.tok.start;
        let order = self.order_by()?;
        let limit = self.limit()?;
        let mut into = None;
        let mut locking = Vec::new();
        if self.at(Kw::INTO) {
            into = Some(self.into()?);
        }
        if matches!(self.tok.kw, Kw::FOR | Kw::LOCK) {
            locking = self.locking()?;
            if into.is_none() && self.at(Kw::INTO) {
                into = Some(self.into()?);
            }
        }
        let clauses = !order.is_empty() || limit.is_some() || into.is_some() || !locking.is_empty();
        if self.queries[id.index()].parenthesized && (clauses || with.is_some()) {
            let inner = self.queries[id.index()].into.take();
            id = self.new_query(QueryBody::Nested(id));
            self.queries[id.index()].into = inner;
        }
        if clauses || with.is_some() {
            let query = &mut self.queries[id.index()];
            if into.is_some() && query.into.is_some() {
                return Err(ParseError::at(err!(ER_MULTIPLE_INTO_CLAUSES), start as usize));
            }
            query.with = with;
            query.order = order;
            query.limit = limit;
            query.into = query.into.take().or(into);
        }
        let last = self.last_block(id);
        self.queries[last.index()].locking.extend(locking);
        Ok(id)
    }

    /// Where a locking clause behind a query takes effect: the last of its blocks, also behind parentheses.
    fn last_block(&self, mut id: QueryId) -> QueryId {
        loop {
            id = match self.queries[id.index()].body {
                QueryBody::SetOp { right, .. } => right,
                QueryBody::Nested(inner) => inner,
                QueryBody::Select(_) | QueryBody::Table(_) | QueryBody::Values(_) => return id,
            }
        }
    }

    pub(super) fn new_query(&mut self, body: QueryBody) -> QueryId {
        self.add_query(Query {
            with: None,
            body,
            order: Vec::new(),
            limit: None,
            locking: Vec::new(),
            into: None,
            parenthesized: false,
        })
    }

    fn set_operations(&mut self, first: QueryId) -> R<QueryId> {
        let mut left = self.intersections(first)?;
        let mut length = 0;
        while let Some(kw) = self.eat_any(&[Kw::UNION, Kw::EXCEPT]) {
            let op = if kw == Kw::UNION { SetOp::Union } else { SetOp::Except };
            let all = self.set_quantifier();
            let operand = self.set_operand()?;
            let right = self.intersections(operand)?;
            left = self.set_operation(op, all, left, right)?;
            length += 1;
            self.check_chain(length)?;
        }
        self.tallest = self.tallest.max(length);
        Ok(left)
    }

    fn intersections(&mut self, first: QueryId) -> R<QueryId> {
        let mut left = first;
        let mut length = 0;
        while self.eat(Kw::INTERSECT) {
            let all = self.set_quantifier();
            let right = self.set_operand()?;
            left = self.set_operation(SetOp::Intersect, all, left, right)?;
            length += 1;
            self.check_chain(length)?;
        }
        self.tallest = self.tallest.max(length);
        Ok(left)
    }

    fn set_quantifier(&mut self) -> bool {
        let all = self.eat(Kw::ALL);
        if !all {
            self.eat(Kw::DISTINCT);
        }
        all
    }

    fn set_operation(&mut self, op: SetOp, all: bool, left: QueryId, right: QueryId) -> R<QueryId> {
        self.refuse_into(left, self.tok.start)?;
        // That of the last operand is the whole's.
        let into = self.queries[right.index()].into.take();
        let id = self.new_query(QueryBody::SetOp { op, all, left, right });
        self.queries[id.index()].into = into;
        Ok(id)
    }

    /// SELECT, VALUES or TABLE without trailing clauses, or a query in parentheses.
    fn set_operand(&mut self) -> R<QueryId> {
        match self.tok.kw {
            Kw::SELECT => {
                let (select, into) = self.select()?;
                let id = self.new_query(QueryBody::Select(Box::new(select)));
                self.queries[id.index()].into = into;
                Ok(id)
            }
            Kw::VALUES => {
                self.bump();
                let rows = self.comma_list(|p| {
                    p.expect(Kw::ROW)?;
                    p.expect_tok(Tok::LParen)?;
                    p.row_values()
                })?;
                Ok(self.new_query(QueryBody::Values(rows)))
            }
            Kw::TABLE => {
                self.bump();
                let name = self.object_name()?;
                Ok(self.new_query(QueryBody::Table(name)))
            }
            _ => {
                self.expect_tok(Tok::LParen)?;
                if !self.is(Tok::LParen) && !self.at_query_start() {
                    return Err(self.syntax());
                }
                let id = self.query()?;
                self.expect_tok(Tok::RParen)?;
                self.queries[id.index()].parenthesized = true;
                Ok(id)
            }
        }
    }

    /// WITH [RECURSIVE] name [(columns)] AS (query), ...
    pub(super) fn with(&mut self) -> R<Box<With>> {
        self.expect(Kw::WITH)?;
        let recursive = self.eat(Kw::RECURSIVE);
        let tables = self.comma_list(|p| {
            let name = p.name()?;
            let columns = if p.is(Tok::LParen) { p.paren_names()? } else { Vec::new() };
            p.expect(Kw::AS)?;
            let first = p.tables.len();
            let query = p.merged_query(true)?;
            Ok(CommonTable { name, columns, query, tables: first..p.tables.len() })
        })?;
        Ok(Box::new(With { recursive, tables }))
    }

    fn select(&mut self) -> R<(Select, Option<Box<Into>>)> {
        self.select_levels += 1;
        if self.select_levels > MAX_SELECT_LEVELS {
            return Err(ParseError::too_many_levels(self.tok.start as usize));
        }
        let select = self.clauses()?;
        self.select_levels -= 1;
        Ok(select)
    }

    fn clauses(&mut self) -> R<(Select, Option<Box<Into>>)> {
        let start = self.bump().start;
        let mut select = Select { start, hints: self.take_hint(), ..Select::default() };
        self.select_options(&mut select.options)?;
        loop {
            let item = self.select_item(select.items.is_empty())?;
            select.items.push(item);
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        let into = if self.at(Kw::INTO) { Some(self.into()?) } else { None };
        if self.eat(Kw::FROM) {
            if self.eat(Kw::DUAL) {
                select.options.from_dual = true;
            } else {
                select.from = Some(self.table_refs()?);
            }
        }
        if self.eat(Kw::WHERE) {
            select.filter = Some(self.expr()?);
        }
        if self.eat(Kw::GROUP) {
            self.expect(Kw::BY)?;
            if self.at(Kw::ROLLUP) && self.peek().tok == Tok::LParen {
                self.bump();
                select.group = self.paren_list(Self::expr)?;
                select.rollup = true;
            } else {
                select.group = self.comma_list(Self::expr)?;
                if self.eat2(Kw::WITH, Kw::ROLLUP) {
                    select.rollup = true;
                }
            }
        }
        if self.eat(Kw::HAVING) {
            select.having = Some(self.expr()?);
        }
        if self.eat(Kw::WINDOW) {
            select.windows = self.comma_list(|p| {
                let name = p.name()?;
                p.expect(Kw::AS)?;
                Ok((name, p.window_spec()?))
            })?;
        }
        Ok((select, into))
    }

    /// The hint comment that stood behind the verb just taken.
    pub(super) fn take_hint(&mut self) -> Option<Str> {
        let (start, end) = self.lexer.hint?;
        let hint = Str::source(start, end);
        self.hints.get_or_insert(hint);
        Some(hint)
    }

    fn select_options(&mut self, options: &mut SelectOptions) -> R<()> {
        loop {
            let option = match self.tok.kw {
                Kw::Plain => return Ok(()),
                Kw::DISTINCT | Kw::DISTINCTROW => &mut options.distinct,
                Kw::ALL => &mut options.all,
                Kw::STRAIGHT_JOIN => &mut options.straight_join,
                Kw::HIGH_PRIORITY => &mut options.high_priority,
                Kw::SQL_CALC_FOUND_ROWS => &mut options.calc_found_rows,
                Kw::SQL_SMALL_RESULT => &mut options.small_result,
                Kw::SQL_BIG_RESULT => &mut options.big_result,
                Kw::SQL_BUFFER_RESULT => &mut options.buffer_result,
                Kw::SQL_NO_CACHE => &mut options.no_cache,
                _ => return Ok(()),
            };
            *option = true;
            match self.tok.kw {
                Kw::SQL_CALC_FOUND_ROWS => self.notes.push(Note::CalcFoundRows),
                Kw::SQL_NO_CACHE => self.notes.push(Note::NoCache),
                _ => {}
            }
            self.bump();
            if options.distinct && options.all {
                return Err(ParseError::at(err!(ER_WRONG_USAGE, "ALL", "DISTINCT"), self.tok.start as usize));
            }
        }
    }

    #[inline]
    fn select_item(&mut self, first: bool) -> R<SelectItem> {
        if first && self.eat_tok(Tok::Star) {
            return Ok(SelectItem::Star);
        }
        if self.src.get(self.tok.end as usize) == Some(&b'.')
            && let Some(item) = self.table_star()?
        {
            return Ok(item);
        }
        let start = self.tok.start;
        let expr = self.expr()?;
        let text = self.plain_text_since(start);
        let alias = self.select_alias()?;
        Ok(SelectItem::Expr { expr, alias, text })
    }

    /// `t.*`, `s.t.*`; None (and nothing taken) when it is not.
    fn table_star(&mut self) -> R<Option<SelectItem>> {
        if !self.at_name() {
            return Ok(None);
        }
        let mut lexer = self.lexer.clone();
        let tokens = [lexer.next_token().tok, lexer.next_token().tok, lexer.next_token().tok, lexer.next_token().tok];
        match tokens {
            [Tok::Dot, Tok::Star, ..] => {
                let table = self.name()?;
                self.bump();
                self.bump();
                Ok(Some(SelectItem::TableStar { schema: None, table }))
            }
            [Tok::Dot, Tok::Word | Tok::Quoted, Tok::Dot, Tok::Star] => {
                let schema = self.name()?;
                self.bump();
                let table = self.any_word()?;
                self.bump();
                self.bump();
                Ok(Some(SelectItem::TableStar { schema: Some(schema), table }))
            }
            _ => Ok(None),
        }
    }

    /// `[AS] name | 'name'`
    #[inline]
    pub(super) fn select_alias(&mut self) -> R<Option<Name>> {
        match self.tok.tok {
            Tok::Comma | Tok::End => Ok(None),
            _ if self.at(Kw::AS) => {
                self.bump();
                self.name_or_text().map(Some)
            }
            _ if self.is(Tok::Str) || self.at_name() => self.name_or_text().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn limit(&mut self) -> R<Option<Limit>> {
        if !self.eat(Kw::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_number()?;
        if self.eat_tok(Tok::Comma) {
            let count = self.limit_number()?;
            return Ok(Some(Limit { count, offset: Some(first) }));
        }
        let offset = if self.eat(Kw::OFFSET) { Some(self.limit_number()?) } else { None };
        Ok(Some(Limit { count: first, offset }))
    }

    fn limit_number(&mut self) -> R<ExprId> {
        match self.tok.tok {
            Tok::Int | Tok::Param => self.primary(),
            Tok::Hex if self.src[self.tok.start as usize] == b'0' => {
                let value = self.integer()?;
                Ok(self.add(Expr::Int(value)))
            }
            _ if self.program.is_some() && self.at_name() => self.local_number(),
            _ => Err(self.syntax()),
        }
    }

    fn locking(&mut self) -> R<Vec<Locking>> {
        let mut clauses = Vec::new();
        while self.eat(Kw::FOR) {
            let exclusive = self.expect_any(&[Kw::UPDATE, Kw::SHARE])? == Kw::UPDATE;
            let of = if self.eat(Kw::OF) { self.object_names()? } else { Vec::new() };
            let wait = if self.eat(Kw::NOWAIT) {
                LockWait::NoWait
            } else if self.eat(Kw::SKIP) {
                self.expect(Kw::LOCKED)?;
                LockWait::SkipLocked
            } else {
                LockWait::Wait
            };
            clauses.push(Locking { exclusive, of, wait });
        }
        if clauses.is_empty() {
            self.expect_all(&[Kw::LOCK, Kw::IN, Kw::SHARE, Kw::MODE])?;
            clauses.push(Locking { exclusive: false, of: Vec::new(), wait: LockWait::Wait });
        }
        Ok(clauses)
    }

    fn into(&mut self) -> R<Box<Into>> {
        self.expect(Kw::INTO)?;
        let into = if self.eat(Kw::OUTFILE) {
            let file = self.text()?;
            let charset = if self.eat_charset_words() { Some(self.charset_name()?) } else { None };
            Into::Outfile { file, charset, format: self.file_format()? }
        } else if self.eat(Kw::DUMPFILE) {
            Into::Dumpfile(self.text()?)
        } else {
            Into::Vars(self.comma_list(|p| {
                if p.is(Tok::UserVar) {
                    return Ok(IntoVar::User(p.target_var_name()?));
                }
                if p.program.is_none() {
                    let start = p.tok.start as usize;
                    let name = p.name()?;
                    return Err(ParseError::at(err!(ER_SP_UNDECLARED_VAR, p.shown(name)), start));
                }
                Ok(IntoVar::Local(p.local()?))
            })?)
        };
        Ok(Box::new(into))
    }

    /// CHARACTER SET, CHARSET, CHAR SET: the words, if they are there.
    pub(super) fn eat_charset_words(&mut self) -> bool {
        self.eat(Kw::CHARSET) || self.eat2(Kw::CHARACTER, Kw::SET) || self.eat2(Kw::CHAR, Kw::SET)
    }

    /// FIELDS and LINES clauses.
    pub(super) fn file_format(&mut self) -> R<FileFormat> {
        let mut format = FileFormat::default();
        if self.eat(Kw::FIELDS) || self.eat(Kw::COLUMNS) {
            let mut any = false;
            loop {
                let kw = self.tok.kw;
                match kw {
                    Kw::TERMINATED | Kw::ENCLOSED | Kw::ESCAPED => {
                        self.bump();
                    }
                    Kw::OPTIONALLY => {
                        self.bump();
                        self.expect(Kw::ENCLOSED)?;
                        format.optionally_enclosed = true;
                    }
                    _ if any => break,
                    _ => return Err(self.syntax()),
                }
                self.expect(Kw::BY)?;
                let text = Some(self.text_or_bytes()?);
                match kw {
                    Kw::TERMINATED => format.fields_terminated = text,
                    Kw::ESCAPED => format.escaped = text,
                    _ => format.enclosed = text,
                }
                any = true;
            }
        }
        if self.eat(Kw::LINES) {
            let mut any = false;
            loop {
                if self.eat(Kw::STARTING) {
                    self.expect(Kw::BY)?;
                    format.lines_starting = Some(self.text_or_bytes()?);
                } else if self.eat(Kw::TERMINATED) {
                    self.expect(Kw::BY)?;
                    format.lines_terminated = Some(self.text_or_bytes()?);
                } else if any {
                    break;
                } else {
                    return Err(self.syntax());
                }
                any = true;
            }
        }
        Ok(format)
    }

    /// A string, x'..' or b'..': its bytes.
    pub(super) fn text_or_bytes(&mut self) -> R<Str> {
        match self.tok.tok {
            Tok::Hex | Tok::Bit => match self.literal_expr()? {
                Expr::Bytes { bytes, .. } => Ok(bytes),
                _ => Err(self.syntax()),
            },
            _ => self.text(),
        }
    }
}
