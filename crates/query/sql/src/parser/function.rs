//! Primaries that begin with a word: columns, calls, and the many functions with a grammar of their own.

use super::expr::interval_unit_of;
use super::*;
use types::codes::*;

impl Parser<'_> {
    /// A column, or a call of a function that the grammar does not know.
    #[inline]
    pub(super) fn column_or_call(&mut self) -> R<ExprId> {
        let first = self.any_word()?;
        match self.tok.tok {
            Tok::LParen => {
                self.bump();
                self.call_rest(None, first)
            }
            Tok::Dot => {
                self.bump();
                // `t.*` is a select item, not an expression.
                let second = self.any_word()?;
                match self.tok.tok {
                    Tok::LParen => {
                        self.bump();
                        self.call_rest(Some(first), second)
                    }
                    Tok::Dot => {
                        self.bump();
                        let column = self.any_word()?;
                        Ok(self.add(Expr::Column { schema: Some(first), table: Some(second), column }))
                    }
                    _ => {
                        if let Some(image) = self.row_image(first) {
                            let local = self.row_column(image, second, false)?;
                            return Ok(self.add(Expr::Local(local)));
                        }
                        Ok(self.add(Expr::Column { schema: None, table: Some(first), column: second }))
                    }
                }
            }
            _ => {
                let expr = self.local_or_column(first);
                Ok(self.add(expr))
            }
        }
    }

    /// Arguments of a function by name; loadable functions may name them: `f(a AS x)`.
    fn call_rest(&mut self, schema: Option<Name>, name: Name) -> R<ExprId> {
        let mark = self.scratch.len();
        if !self.is(Tok::RParen) {
            loop {
                let arg = self.expr()?;
                self.scratch.push(arg);
                self.select_alias()?;
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect_tok(Tok::RParen)?;
        let args = self.list_from(mark);
        if schema.is_none() {
            self.notes.extend(Note::of_function(name.resolve(self.src, &self.extra)));
        }
        Ok(self.add(Expr::Call { schema, name, args }))
    }

    /// A primary that begins with a keyword.
    pub(super) fn keyword_primary(&mut self) -> R<ExprId> {
        let kw = self.tok.kw;
        match kw {
            Kw::NULL => {
                self.bump();
                return Ok(self.add(Expr::Null));
            }
            Kw::TRUE | Kw::FALSE => {
                self.bump();
                return Ok(self.add(Expr::Bool(kw == Kw::TRUE)));
            }
            Kw::CASE => return self.case(),
            Kw::EXISTS => {
                self.bump();
                let query = self.paren_query()?;
                return Ok(self.add(Expr::Exists(query)));
            }
            Kw::MATCH => return self.match_against(),
            Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => return self.clock(Builtin::Now, true),
            Kw::CURRENT_TIME => return self.clock(Builtin::CurTime, true),
            Kw::UTC_TIME => return self.clock(Builtin::UtcTime, true),
            Kw::UTC_TIMESTAMP => return self.clock(Builtin::UtcTimestamp, true),
            Kw::CURRENT_DATE => return self.clock(Builtin::CurDate, false),
            Kw::UTC_DATE => return self.clock(Builtin::UtcDate, false),
            Kw::CURRENT_USER => return self.clock(Builtin::CurrentUser, false),
            Kw::DATE | Kw::TIME | Kw::TIMESTAMP if self.peek().tok == Tok::Str => {
                self.bump();
                let text = self.text()?;
                let kind = match kw {
                    Kw::DATE => TemporalKind::Date,
                    Kw::TIME => TemporalKind::Time,
                    _ => TemporalKind::DateTime,
                };
                return Ok(self.add(Expr::Temporal { kind, text, escaped: None }));
            }
            _ => {}
        }
        let call = if kw.is_function_word() { self.paren_follows() } else { self.peek().tok == Tok::LParen };
        if call && let Some(id) = self.special_call(kw)? {
            return Ok(id);
        }
        if kw.is_reserved() {
            return Err(self.syntax());
        }
        self.column_or_call()
    }

    /// CURRENT_TIMESTAMP and others whose parentheses may be left out.
    fn clock(&mut self, func: Builtin, digits: bool) -> R<ExprId> {
        self.bump();
        let mut args = ExprList::default();
        if self.eat_tok(Tok::LParen) {
            if digits && self.is(Tok::Int) {
                let id = self.literal()?;
                args = self.list_of(&[id]);
            }
            self.expect_tok(Tok::RParen)?;
        }
        Ok(self.add(Expr::Builtin { func, args }))
    }

    /// A call of a function with its own grammar, at its name; None (and nothing taken): call it by name.
    fn special_call(&mut self, kw: Kw) -> R<Option<ExprId>> {
        use Aggregate::*;
        if let Some((func, least, most)) = builtin_of(kw) {
            self.bump();
            self.bump();
            let args = self.counted_args(least, most)?;
            return Ok(Some(self.add(Expr::Builtin { func, args })));
        }
        let id = match kw {
            Kw::COUNT => self.count()?,
            Kw::SUM => self.aggregate(Sum, true)?,
            Kw::AVG => self.aggregate(Avg, true)?,
            Kw::MIN => self.aggregate(Min, true)?,
            Kw::MAX => self.aggregate(Max, true)?,
            Kw::BIT_AND => self.aggregate(BitAnd, false)?,
            Kw::BIT_OR => self.aggregate(BitOr, false)?,
            Kw::BIT_XOR => self.aggregate(BitXor, false)?,
            Kw::STD | Kw::STDDEV | Kw::STDDEV_POP => self.aggregate(StdPop, false)?,
            Kw::STDDEV_SAMP => self.aggregate(StdSamp, false)?,
            Kw::VARIANCE | Kw::VAR_POP => self.aggregate(VarPop, false)?,
            Kw::VAR_SAMP => self.aggregate(VarSamp, false)?,
            Kw::JSON_ARRAYAGG => self.aggregate(JsonArrayAgg, false)?,
            Kw::JSON_OBJECTAGG => self.json_object_agg()?,
            Kw::GROUP_CONCAT => self.group_concat()?,
            Kw::ROW_NUMBER
            | Kw::RANK
            | Kw::DENSE_RANK
            | Kw::CUME_DIST
            | Kw::PERCENT_RANK
            | Kw::NTILE
            | Kw::LEAD
            | Kw::LAG
            | Kw::FIRST_VALUE
            | Kw::LAST_VALUE
            | Kw::NTH_VALUE => self.window_function(kw)?,
            Kw::CAST => self.cast()?,
            Kw::CONVERT => self.convert()?,
            Kw::ROW => {
                self.bump();
                self.bump();
                let list = self.expr_list()?;
                self.expect_tok(Tok::RParen)?;
                if list.len() < 2 {
                    return Err(self.syntax_at(self.prev_end - 1));
                }
                self.add(Expr::Row(list))
            }
            Kw::VALUES => {
                self.bump();
                self.bump();
                let column = self.column_ref()?;
                self.expect_tok(Tok::RParen)?;
                self.add(Expr::ValuesOf(column))
            }
            Kw::DEFAULT => {
                self.bump();
                self.bump();
                let at = self.tok.start as usize;
                let column = self.column_ref()?;
                if let Some(Expr::Column { schema: None, table: None, column }) = self.exprs.last() {
                    let name = self.shown(*column);
                    if self.program.as_ref().is_some_and(|builder| builder.variable(&name).is_some()) {
                        return Err(ParseError::at(err!(ER_WRONG_COLUMN_NAME, name), at));
                    }
                }
                self.expect_tok(Tok::RParen)?;
                self.add(Expr::DefaultOf(column))
            }
            Kw::CHAR => self.char_call()?,
            Kw::TRIM => self.trim()?,
            Kw::SUBSTRING | Kw::SUBSTR | Kw::MID => self.substring()?,
            Kw::POSITION => self.position()?,
            Kw::EXTRACT => {
                self.bump();
                self.bump();
                let unit = self.interval_unit()?;
                self.expect(Kw::FROM)?;
                let operand = self.expr()?;
                self.expect_tok(Tok::RParen)?;
                self.add(Expr::Extract { unit, operand })
            }
            Kw::ADDDATE | Kw::SUBDATE | Kw::DATE_ADD | Kw::DATE_SUB => self.date_add(kw)?,
            Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF => self.timestamp_add(kw)?,
            Kw::GET_FORMAT => self.get_format()?,
            Kw::WEIGHT_STRING => self.weight_string()?,
            Kw::JSON_VALUE => self.json_value()?,
            _ => return Ok(None),
        };
        Ok(Some(id))
    }

    fn case(&mut self) -> R<ExprId> {
        self.bump();
        let operand = if self.at(Kw::WHEN) { None } else { Some(self.expr()?) };
        let mark = self.scratch.len();
        while self.eat(Kw::WHEN) {
            let condition = self.expr()?;
            self.expect(Kw::THEN)?;
            let result = self.expr()?;
            self.scratch.extend([condition, result]);
        }
        if self.scratch.len() == mark {
            return Err(self.syntax());
        }
        let otherwise = if self.eat(Kw::ELSE) { Some(self.expr()?) } else { None };
        self.expect(Kw::END)?;
        let whens = self.list_from(mark);
        Ok(self.add(Expr::Case { operand, whens, otherwise }))
    }

    fn match_against(&mut self) -> R<ExprId> {
        self.bump();
        let parenthesized = self.eat_tok(Tok::LParen);
        let mark = self.scratch.len();
        loop {
            let column = self.column_ref()?;
            self.scratch.push(column);
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        let columns = self.list_from(mark);
        if parenthesized {
            self.expect_tok(Tok::RParen)?;
        }
        self.expect(Kw::AGAINST)?;
        self.expect_tok(Tok::LParen)?;
        let against = self.bit_expr()?;
        let mut mode = MatchMode::NaturalLanguage;
        if self.eat(Kw::IN) {
            if self.eat_word(b"boolean") {
                self.expect(Kw::MODE)?;
                mode = MatchMode::Boolean;
            } else {
                self.expect(Kw::NATURAL)?;
                self.expect_all(&[Kw::LANGUAGE, Kw::MODE])?;
            }
        }
        if mode == MatchMode::NaturalLanguage && self.eat(Kw::WITH) {
            self.expect_all(&[Kw::QUERY, Kw::EXPANSION])?;
            mode = MatchMode::NaturalLanguageWithExpansion;
        }
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::Match { columns, against, mode }))
    }

    pub(super) fn eat_word(&mut self, word: &[u8]) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn count(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        if self.eat_tok(Tok::Star) {
            self.expect_tok(Tok::RParen)?;
            let id = self.add(Expr::CountStar);
            return self.maybe_over(id);
        }
        let distinct = self.eat(Kw::DISTINCT);
        if !distinct {
            self.eat(Kw::ALL);
        }
        let args = self.expr_list()?;
        if args.len() > 1 && !distinct {
            return Err(self.syntax());
        }
        self.expect_tok(Tok::RParen)?;
        let id = self.add(Expr::Aggregate { func: Aggregate::Count, distinct, args });
        self.maybe_over(id)
    }

    fn aggregate(&mut self, func: Aggregate, distinct_allowed: bool) -> R<ExprId> {
        self.bump();
        self.bump();
        let distinct = distinct_allowed && self.eat(Kw::DISTINCT);
        if !distinct {
            self.eat(Kw::ALL);
        }
        let arg = self.expr()?;
        self.expect_tok(Tok::RParen)?;
        let args = self.list_of(&[arg]);
        let id = self.add(Expr::Aggregate { func, distinct, args });
        self.maybe_over(id)
    }

    fn json_object_agg(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let key = self.expr()?;
        self.expect_tok(Tok::Comma)?;
        let value = self.expr()?;
        self.expect_tok(Tok::RParen)?;
        let args = self.list_of(&[key, value]);
        let id = self.add(Expr::Aggregate { func: Aggregate::JsonObjectAgg, distinct: false, args });
        self.maybe_over(id)
    }

    fn group_concat(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let distinct = self.eat(Kw::DISTINCT);
        let args = self.expr_list()?;
        let order = self.order_by()?;
        let separator = if self.eat(Kw::SEPARATOR) { Some(self.text()?) } else { None };
        self.expect_tok(Tok::RParen)?;
        let id = self.add(Expr::GroupConcat(Box::new(GroupConcat { distinct, args, order, separator })));
        self.maybe_over(id)
    }

    /// An aggregate, with OVER behind it or not.
    fn maybe_over(&mut self, aggregate: ExprId) -> R<ExprId> {
        if !self.at(Kw::OVER) {
            return Ok(aggregate);
        }
        let over = self.over()?;
        let call = WindowCall {
            func: WindowFunc::Aggregate(aggregate),
            args: ExprList::default(),
            from_last: false,
            ignore_nulls: false,
            over,
        };
        Ok(self.add(Expr::Window(Box::new(call))))
    }

    fn window_function(&mut self, kw: Kw) -> R<ExprId> {
        let (func, least, most) = match kw {
            Kw::ROW_NUMBER => (WindowFunc::RowNumber, 0, 0),
            Kw::RANK => (WindowFunc::Rank, 0, 0),
            Kw::DENSE_RANK => (WindowFunc::DenseRank, 0, 0),
            Kw::CUME_DIST => (WindowFunc::CumeDist, 0, 0),
            Kw::PERCENT_RANK => (WindowFunc::PercentRank, 0, 0),
            Kw::NTILE => (WindowFunc::Ntile, 1, 1),
            Kw::LEAD => (WindowFunc::Lead, 1, 3),
            Kw::LAG => (WindowFunc::Lag, 1, 3),
            Kw::FIRST_VALUE => (WindowFunc::FirstValue, 1, 1),
            Kw::LAST_VALUE => (WindowFunc::LastValue, 1, 1),
            _ => (WindowFunc::NthValue, 2, 2),
        };
        self.bump();
        self.bump();
        let args = self.args_to_paren()?;
        if !(least..=most).contains(&args.len()) {
            return Err(self.syntax_at(self.prev_end - 1));
        }
        let mut from_last = false;
        if func == WindowFunc::NthValue && self.eat(Kw::FROM) {
            from_last = self.expect_any(&[Kw::FIRST, Kw::LAST])? == Kw::LAST;
        }
        let mut ignore_nulls = false;
        if least > 0 && func != WindowFunc::Ntile {
            if self.eat(Kw::RESPECT) {
                self.expect(Kw::NULLS)?;
            } else if self.eat(Kw::IGNORE) {
                self.expect(Kw::NULLS)?;
                ignore_nulls = true;
            }
        }
        let over = self.over()?;
        Ok(self.add(Expr::Window(Box::new(WindowCall { func, args, from_last, ignore_nulls, over }))))
    }

    fn over(&mut self) -> R<WindowSpec> {
        self.expect(Kw::OVER)?;
        if self.is(Tok::LParen) {
            return self.window_spec();
        }
        Ok(WindowSpec { base: Some(self.name()?), by_name: true, ..WindowSpec::default() })
    }

    /// `([base] [PARTITION BY ...] [ORDER BY ...] [frame])`
    pub(super) fn window_spec(&mut self) -> R<WindowSpec> {
        self.expect_tok(Tok::LParen)?;
        let mut spec = WindowSpec::default();
        if self.at_name() && !matches!(self.tok.kw, Kw::ROWS | Kw::RANGE | Kw::GROUPS) {
            spec.base = Some(self.name()?);
        }
        if self.eat(Kw::PARTITION) {
            self.expect(Kw::BY)?;
            spec.partition = self.expr_list()?;
        }
        spec.order = self.order_by()?;
        if let Some(kw) = self.eat_any(&[Kw::ROWS, Kw::RANGE, Kw::GROUPS]) {
            let unit = match kw {
                Kw::ROWS => FrameUnit::Rows,
                Kw::RANGE => FrameUnit::Range,
                _ => FrameUnit::Groups,
            };
            let (start, end) = if self.eat(Kw::BETWEEN) {
                let start = self.frame_bound()?;
                self.expect(Kw::AND)?;
                (start, self.frame_bound()?)
            } else {
                let start = self.frame_bound()?;
                if matches!(start, FrameBound::Following(..) | FrameBound::UnboundedFollowing) {
                    return Err(self.syntax());
                }
                (start, FrameBound::CurrentRow)
            };
            if self.eat(Kw::EXCLUDE) {
                if self.eat(Kw::CURRENT) {
                    self.expect(Kw::ROW)?;
                } else if self.eat(Kw::NO) {
                    self.expect(Kw::OTHERS)?;
                } else {
                    self.expect_any(&[Kw::GROUP, Kw::TIES])?;
                }
                return Err(ParseError::at(err!(ER_NOT_SUPPORTED_YET, "EXCLUDE"), 0));
            }
            spec.frame = Some(Frame { unit, start, end });
        }
        self.expect_tok(Tok::RParen)?;
        Ok(spec)
    }

    fn frame_bound(&mut self) -> R<FrameBound> {
        if self.eat(Kw::UNBOUNDED) {
            return Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
                Kw::PRECEDING => FrameBound::UnboundedPreceding,
                _ => FrameBound::UnboundedFollowing,
            });
        }
        if self.eat(Kw::CURRENT) {
            self.expect(Kw::ROW)?;
            return Ok(FrameBound::CurrentRow);
        }
        let (amount, unit) = if self.eat(Kw::INTERVAL) {
            let amount = self.expr()?;
            (amount, Some(self.interval_unit()?))
        } else {
            match self.tok.tok {
                Tok::Int | Tok::Decimal | Tok::Float => (self.literal()?, None),
                Tok::Param => (self.expr()?, None),
                _ => return Err(self.syntax()),
            }
        };
        Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
            Kw::PRECEDING => FrameBound::Preceding(amount, unit),
            _ => FrameBound::Following(amount, unit),
        })
    }

    fn cast(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let operand = self.expr()?;
        let mut time_zone = None;
        if self.eat(Kw::AT) {
            self.expect_all(&[Kw::TIME, Kw::ZONE])?;
            self.eat(Kw::INTERVAL);
            time_zone = Some(self.text()?);
        }
        self.expect(Kw::AS)?;
        let to = self.cast_type()?;
        let array = time_zone.is_none() && self.eat(Kw::ARRAY);
        self.expect_tok(Tok::RParen)?;
        if time_zone.is_some() && !matches!(to, CastType::DateTime(_)) {
            return Err(self.syntax_at(self.prev_end - 1));
        }
        Ok(self.add(Expr::Cast(Box::new(Cast { operand, to, array, time_zone }))))
    }

    fn convert(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let operand = self.expr()?;
        if self.eat(Kw::USING) {
            let charset = if self.at(Kw::DEFAULT) { self.any_word()? } else { self.charset_name()? };
            self.expect_tok(Tok::RParen)?;
            return Ok(self.add(Expr::ConvertUsing { operand, charset }));
        }
        self.expect_tok(Tok::Comma)?;
        let to = self.cast_type()?;
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::Cast(Box::new(Cast { operand, to, array: false, time_zone: None }))))
    }

    pub(super) fn cast_type(&mut self) -> R<CastType> {
        let kw = self.tok.kw;
        if kw == Kw::Plain {
            return Err(self.syntax());
        }
        self.bump();
        Ok(match kw {
            Kw::SIGNED | Kw::UNSIGNED => {
                if !self.eat(Kw::INTEGER) {
                    self.eat(Kw::INT);
                }
                if kw == Kw::SIGNED { CastType::Signed } else { CastType::Unsigned }
            }
            Kw::BINARY => CastType::Binary(self.optional_length()?),
            Kw::CHAR | Kw::CHARACTER => {
                let length = self.optional_length()?;
                let attributes = self.charset_attributes()?;
                CastType::Char { length, charset: attributes.charset }
            }
            Kw::NCHAR => CastType::NChar(self.optional_length()?),
            Kw::NATIONAL => {
                self.expect_any(&[Kw::CHAR, Kw::CHARACTER])?;
                CastType::NChar(self.optional_length()?)
            }
            Kw::DATE => CastType::Date,
            Kw::TIME => CastType::Time(self.optional_length()?.unwrap_or(0).min(255) as u8),
            Kw::DATETIME => CastType::DateTime(self.optional_length()?.unwrap_or(0).min(255) as u8),
            Kw::YEAR => CastType::Year,
            Kw::DECIMAL | Kw::DEC => {
                let (precision, scale) = self.optional_precision()?;
                CastType::Decimal(precision.map(|n| n.min(255) as u8), scale.map(|n| n.min(255) as u8))
            }
            Kw::FLOAT => CastType::Float(self.optional_length()?.map(|n| n.min(255) as u8)),
            Kw::DOUBLE => {
                self.eat(Kw::PRECISION);
                CastType::Double
            }
            Kw::REAL => CastType::Double,
            Kw::JSON => CastType::Json,
            Kw::POINT
            | Kw::LINESTRING
            | Kw::POLYGON
            | Kw::MULTIPOINT
            | Kw::MULTILINESTRING
            | Kw::MULTIPOLYGON
            | Kw::GEOMETRYCOLLECTION
            | Kw::GEOMCOLLECTION => CastType::Spatial,
            _ => return Err(self.syntax_at(self.prev_end)),
        })
    }

    fn char_call(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let args = self.expr_list()?;
        let charset = if self.eat(Kw::USING) { Some(self.charset_name()?) } else { None };
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::Char { args, charset }))
    }

    fn trim(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let side = match self.eat_any(&[Kw::LEADING, Kw::TRAILING, Kw::BOTH]) {
            Some(Kw::LEADING) => Some(TrimSide::Leading),
            Some(Kw::TRAILING) => Some(TrimSide::Trailing),
            Some(_) => Some(TrimSide::Both),
            None => None,
        };
        let (remove, operand) = if side.is_some() && self.eat(Kw::FROM) {
            (None, self.expr()?)
        } else {
            let first = self.expr()?;
            if self.eat(Kw::FROM) {
                (Some(first), self.expr()?)
            } else if side.is_some() {
                return Err(self.syntax());
            } else {
                (None, first)
            }
        };
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::Trim { side: side.unwrap_or(TrimSide::Both), remove, operand }))
    }

    fn substring(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let mark = self.scratch.len();
        let text = self.expr()?;
        self.scratch.push(text);
        let next = if self.eat(Kw::FROM) {
            Some(Kw::FOR)
        } else {
            self.expect_tok(Tok::Comma)?;
            None
        };
        let from = self.expr()?;
        self.scratch.push(from);
        let more = match next {
            Some(kw) => self.eat(kw),
            None => self.eat_tok(Tok::Comma),
        };
        if more {
            let length = self.expr()?;
            self.scratch.push(length);
        }
        self.expect_tok(Tok::RParen)?;
        let args = self.list_from(mark);
        Ok(self.add(Expr::Builtin { func: Builtin::Substring, args }))
    }

    fn position(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let needle = self.bit_expr()?;
        self.expect(Kw::IN)?;
        let haystack = self.expr()?;
        self.expect_tok(Tok::RParen)?;
        let args = self.list_of(&[needle, haystack]);
        Ok(self.add(Expr::Builtin { func: Builtin::Locate, args }))
    }

    fn date_add(&mut self, kw: Kw) -> R<ExprId> {
        self.bump();
        self.bump();
        let date = self.expr()?;
        self.expect_tok(Tok::Comma)?;
        let subtract = matches!(kw, Kw::SUBDATE | Kw::DATE_SUB);
        let interval = if self.at(Kw::INTERVAL) { self.try_interval()? } else { None };
        let (amount, unit) = match interval {
            Some(interval) => interval,
            // ADDDATE(date, days)
            None if matches!(kw, Kw::ADDDATE | Kw::SUBDATE) => (self.expr()?, IntervalUnit::Day),
            None => return Err(self.syntax()),
        };
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::DateArith { subtract, date, amount, unit }))
    }

    fn timestamp_add(&mut self, kw: Kw) -> R<ExprId> {
        use IntervalUnit::*;
        self.bump();
        self.bump();
        let unit = interval_unit_of(self.tok.kw)
            .filter(|u| matches!(u, Microsecond | Second | Minute | Hour | Day | Week | Month | Quarter | Year))
            .ok_or_else(|| self.syntax())?;
        self.bump();
        self.expect_tok(Tok::Comma)?;
        let first = self.expr()?;
        self.expect_tok(Tok::Comma)?;
        let second = self.expr()?;
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(match kw {
            Kw::TIMESTAMPADD => Expr::TimestampAdd { unit, amount: first, date: second },
            _ => Expr::TimestampDiff { unit, from: first, to: second },
        }))
    }

    fn get_format(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let kind = match self.expect_any(&[Kw::DATE, Kw::TIME, Kw::DATETIME, Kw::TIMESTAMP])? {
            Kw::DATE => TemporalKind::Date,
            Kw::TIME => TemporalKind::Time,
            _ => TemporalKind::DateTime,
        };
        self.expect_tok(Tok::Comma)?;
        let format = self.expr()?;
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::GetFormat { kind, format }))
    }

    fn weight_string(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let operand = self.expr()?;
        let mut form = WeightForm::Whole;
        if self.eat(Kw::AS) {
            let binary = self.expect_any(&[Kw::CHAR, Kw::BINARY])? == Kw::BINARY;
            self.expect_tok(Tok::LParen)?;
            let n = self.integer32()?;
            form = if binary { WeightForm::Binary(n) } else { WeightForm::Char(n) };
            self.expect_tok(Tok::RParen)?;
        } else if self.eat_tok(Tok::Comma) {
            let bytes = self.integer32()?;
            self.expect_tok(Tok::Comma)?;
            let characters = self.integer32()?;
            self.expect_tok(Tok::Comma)?;
            // The flags of filling up, which both are on.
            if self.integer32()? != 0xC0 {
                return Err(ParseError::at(err!(ER_NOT_SUPPORTED_YET, "flags of WEIGHT_STRING but 0xC0"), 0));
            }
            form = WeightForm::Sized { bytes, characters };
        }
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::WeightString { operand, form }))
    }

    fn json_value(&mut self) -> R<ExprId> {
        self.bump();
        self.bump();
        let doc = self.simple_expr()?;
        self.expect_tok(Tok::Comma)?;
        let text = self.text()?;
        let path = self.add(Expr::String { text, introducer: None });
        let returning = if self.eat(Kw::RETURNING) { Some(self.cast_type()?) } else { None };
        let (on_empty, on_error) = self.json_responses()?;
        self.expect_tok(Tok::RParen)?;
        Ok(self.add(Expr::JsonValue(Box::new(JsonValue { doc, path, returning, on_empty, on_error }))))
    }

    /// `[NULL | ERROR | DEFAULT literal] ON EMPTY`, and the same ON ERROR, in this order.
    pub(super) fn json_responses(&mut self) -> R<(JsonOnResponse, JsonOnResponse)> {
        let mut on_empty = JsonOnResponse::Implicit;
        for _ in 0..2 {
            let response = if self.eat(Kw::NULL) {
                JsonOnResponse::Null
            } else if self.eat(Kw::ERROR) {
                JsonOnResponse::Error
            } else if self.eat(Kw::DEFAULT) {
                JsonOnResponse::Default(self.signed_literal()?)
            } else {
                break;
            };
            self.expect(Kw::ON)?;
            if self.eat(Kw::ERROR) {
                return Ok((on_empty, response));
            }
            self.expect(Kw::EMPTY)?;
            if on_empty != JsonOnResponse::Implicit {
                return Err(self.syntax_at(self.prev_end));
            }
            on_empty = response;
        }
        Ok((on_empty, JsonOnResponse::Implicit))
    }
}

/// Functions that the grammar calls by keyword with plain arguments, and how many they take.
fn builtin_of(kw: Kw) -> Option<(Builtin, usize, usize)> {
    use Builtin::*;
    Some(match kw {
        Kw::NOW => (Now, 0, 1),
        Kw::SYSDATE => (SysDate, 0, 1),
        Kw::CURDATE => (CurDate, 0, 0),
        Kw::CURTIME => (CurTime, 0, 1),
        Kw::USER | Kw::SESSION_USER | Kw::SYSTEM_USER => (User, 0, 0),
        Kw::DATABASE | Kw::SCHEMA => (Database, 0, 0),
        Kw::IF => (If, 3, 3),
        Kw::COALESCE => (Coalesce, 1, usize::MAX),
        Kw::MOD => (Mod, 2, 2),
        Kw::LEFT => (Left, 2, 2),
        Kw::RIGHT => (Right, 2, 2),
        Kw::REPEAT => (Repeat, 2, 2),
        Kw::REPLACE => (Replace, 3, 3),
        Kw::INSERT => (Insert, 4, 4),
        Kw::TRUNCATE => (Truncate, 2, 2),
        Kw::INTERVAL => (Interval, 2, usize::MAX),
        Kw::CHARSET => (Charset, 1, 1),
        Kw::FORMAT => (Format, 2, 3),
        Kw::ASCII => (Ascii, 1, 1),
        Kw::GROUPING => (Grouping, 1, usize::MAX),
        Kw::YEAR => (Year, 1, 1),
        Kw::MONTH => (Month, 1, 1),
        Kw::DAY => (Day, 1, 1),
        Kw::HOUR => (Hour, 1, 1),
        Kw::MINUTE => (Minute, 1, 1),
        Kw::SECOND => (Second, 1, 1),
        Kw::MICROSECOND => (Microsecond, 1, 1),
        Kw::QUARTER => (Quarter, 1, 1),
        Kw::WEEK => (Week, 1, 2),
        Kw::DATE => (Date, 1, 1),
        Kw::TIME => (Time, 1, 1),
        Kw::TIMESTAMP => (Timestamp, 1, 2),
        Kw::ROW_COUNT => (RowCount, 0, 0),
        Kw::REVERSE => (Reverse, 1, 1),
        Kw::COLLATION => (Collation, 1, 1),
        Kw::LOG => (Log, 1, 2),
        _ => return None,
    })
}
