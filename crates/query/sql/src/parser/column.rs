//! Data types and column definitions.

use super::*;
use types::codes::*;

/// CHARACTER SET and friends behind a string type.
#[derive(Default)]
pub(super) struct CharsetAttributes {
    pub charset: Option<Name>,
    pub binary: bool,
}

impl Parser<'_> {
    /// `(n)` or nothing.
    pub(super) fn optional_length(&mut self) -> R<Option<u32>> {
        if !self.eat_tok(Tok::LParen) {
            return Ok(None);
        }
        let length = self.integer32()?;
        self.expect_tok(Tok::RParen)?;
        Ok(Some(length))
    }

    /// `(n)`, `(n, m)` or nothing.
    pub(super) fn optional_precision(&mut self) -> R<(Option<u32>, Option<u32>)> {
        if !self.eat_tok(Tok::LParen) {
            return Ok((None, None));
        }
        let length = self.integer32()?;
        let scale = if self.eat_tok(Tok::Comma) { Some(self.integer32()?) } else { None };
        self.expect_tok(Tok::RParen)?;
        Ok((Some(length), scale))
    }

    /// ASCII, UNICODE, BYTE, CHARACTER SET x, BINARY in their orders.
    pub(super) fn charset_attributes(&mut self) -> R<CharsetAttributes> {
        let mut found = CharsetAttributes::default();
        if self.eat(Kw::BINARY) {
            found.binary = true;
            self.notes.push(Note::BinaryAttribute);
        }
        match self.tok.kw {
            Kw::ASCII => {
                self.bump();
                self.notes.push(Note::Ascii);
                found.charset = Some(self.static_name("latin1"));
            }
            Kw::UNICODE => {
                self.bump();
                self.notes.push(Note::Unicode);
                found.charset = Some(self.static_name("ucs2"));
            }
            Kw::BYTE if !found.binary => {
                self.bump();
                found.charset = Some(self.static_name("binary"));
                return Ok(found);
            }
            _ => {
                if self.eat_charset_words() {
                    found.charset = Some(self.charset_name()?);
                }
            }
        }
        if !found.binary && self.eat(Kw::BINARY) {
            found.binary = true;
            self.notes.push(Note::BinaryAttribute);
        }
        Ok(found)
    }

    /// A name that stands nowhere in the text.
    pub(super) fn static_name(&mut self, name: &str) -> Name {
        let from = self.extra.len();
        self.extra.extend_from_slice(name.as_bytes());
        Str::extra(from, self.extra.len())
    }

    pub(super) fn column_type(&mut self) -> R<CreateColumnType> {
        let kw = self.tok.kw;
        if kw == Kw::Plain {
            return Err(self.syntax());
        }
        let start = self.tok.start;
        self.bump();
        let mut t = CreateColumnType {
            base: BaseType::Int,
            length: None,
            scale: None,
            oversize: false,
            unsigned: false,
            zerofill: false,
            charset: None,
            collation: None,
            binary: false,
            members: Vec::new(),
        };
        t.base = match kw {
            Kw::TINYINT | Kw::INT1 => BaseType::TinyInt,
            Kw::SMALLINT | Kw::INT2 => BaseType::SmallInt,
            Kw::MEDIUMINT | Kw::INT3 | Kw::MIDDLEINT => BaseType::MediumInt,
            Kw::INT | Kw::INTEGER | Kw::INT4 => BaseType::Int,
            Kw::BIGINT | Kw::INT8 => BaseType::BigInt,
            Kw::SERIAL => BaseType::Serial,
            Kw::BOOL | Kw::BOOLEAN => BaseType::Bool,
            Kw::BIT => BaseType::Bit,
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED => BaseType::Decimal,
            Kw::FLOAT | Kw::FLOAT4 => BaseType::Float,
            Kw::REAL if self.mode.real_as_float => BaseType::Float,
            Kw::DOUBLE | Kw::FLOAT8 | Kw::REAL => {
                if kw == Kw::DOUBLE {
                    self.eat(Kw::PRECISION);
                }
                BaseType::Double
            }
            Kw::DATE => BaseType::Date,
            Kw::TIME => BaseType::Time,
            Kw::DATETIME => BaseType::DateTime,
            Kw::TIMESTAMP => BaseType::Timestamp,
            Kw::YEAR => BaseType::Year,
            Kw::CHAR | Kw::CHARACTER => {
                if self.eat(Kw::VARYING) {
                    BaseType::VarChar
                } else {
                    BaseType::Char
                }
            }
            Kw::VARCHAR | Kw::VARCHARACTER => BaseType::VarChar,
            Kw::NCHAR => {
                if self.eat(Kw::VARYING) || self.eat(Kw::VARCHAR) {
                    BaseType::NVarChar
                } else {
                    BaseType::NChar
                }
            }
            Kw::NVARCHAR => BaseType::NVarChar,
            Kw::NATIONAL => match self.expect_any(&[Kw::CHAR, Kw::CHARACTER, Kw::VARCHAR, Kw::VARCHARACTER])? {
                Kw::VARCHAR | Kw::VARCHARACTER => BaseType::NVarChar,
                _ if self.eat(Kw::VARYING) => BaseType::NVarChar,
                _ => BaseType::NChar,
            },
            Kw::BINARY => BaseType::Binary,
            Kw::VARBINARY => BaseType::VarBinary,
            Kw::TINYBLOB => BaseType::TinyBlob,
            Kw::BLOB => BaseType::Blob,
            Kw::MEDIUMBLOB => BaseType::MediumBlob,
            Kw::LONGBLOB => BaseType::LongBlob,
            Kw::TINYTEXT => BaseType::TinyText,
            Kw::TEXT => BaseType::Text,
            Kw::MEDIUMTEXT => BaseType::MediumText,
            Kw::LONGTEXT => BaseType::LongText,
            Kw::LONG => self.long_type()?,
            Kw::ENUM => BaseType::Enum,
            Kw::SET => BaseType::Set,
            Kw::JSON => BaseType::Json,
            Kw::GEOMETRY
            | Kw::POINT
            | Kw::LINESTRING
            | Kw::POLYGON
            | Kw::MULTIPOINT
            | Kw::MULTILINESTRING
            | Kw::MULTIPOLYGON
            | Kw::GEOMETRYCOLLECTION
            | Kw::GEOMCOLLECTION => BaseType::Geometry,
            _ => return Err(self.syntax_at(start)),
        };
        self.oversize = false;
        self.type_arguments(&mut t)?;
        t.oversize = self.oversize;
        Ok(t)
    }

    /// LONG, LONG VARCHAR, LONG VARBINARY, LONG CHAR VARYING.
    fn long_type(&mut self) -> R<BaseType> {
        if self.eat(Kw::VARBINARY) {
            return Ok(BaseType::MediumBlob);
        }
        if self.eat(Kw::CHAR) || self.eat(Kw::CHARACTER) {
            self.expect(Kw::VARYING)?;
        } else if !self.eat(Kw::VARCHAR) {
            self.eat(Kw::VARCHARACTER);
        }
        Ok(BaseType::MediumText)
    }

    fn type_arguments(&mut self, t: &mut CreateColumnType) -> R<()> {
        use BaseType::*;
        match t.base {
            TinyInt | SmallInt | MediumInt | Int | BigInt => {
                t.length = self.optional_length()?;
                self.number_attributes(t);
                if t.length.is_some_and(|n| n != 1 || t.base != TinyInt) {
                    self.notes.push(Note::IntegerWidth);
                }
            }
            Decimal | Float => {
                (t.length, t.scale) = self.optional_precision()?;
                self.fraction_attributes(t);
            }
            Double => {
                (t.length, t.scale) = self.optional_precision()?;
                if t.length.is_some() && t.scale.is_none() {
                    return Err(self.syntax_at(self.prev_end - 1));
                }
                self.fraction_attributes(t);
            }
            Year => {
                t.length = self.optional_length()?;
                if t.length.is_some_and(|n| n != 4) {
                    return Err(ParseError::at(err!(ER_INVALID_YEAR_COLUMN_LENGTH), self.tok.start as usize));
                }
                self.number_attributes(t);
                if t.length == Some(4) {
                    self.notes.push(Note::Year4);
                }
            }
            Bit | Time | DateTime | Timestamp | Binary | Blob => t.length = self.optional_length()?,
            VarBinary => {
                if !self.is(Tok::LParen) {
                    return Err(self.syntax());
                }
                t.length = self.optional_length()?;
            }
            VarChar | NVarChar => {
                if t.base == NVarChar {
                    self.notes.push(Note::National);
                }
                if !self.is(Tok::LParen) {
                    return Err(self.syntax());
                }
                t.length = self.optional_length()?;
                self.text_attributes(t)?;
            }
            Char | NChar | Text => {
                if t.base == NChar {
                    self.notes.push(Note::National);
                }
                t.length = self.optional_length()?;
                self.text_attributes(t)?;
            }
            TinyText | MediumText | LongText => self.text_attributes(t)?,
            Enum | Set => {
                t.members = self.paren_list(Self::text_or_bytes)?;
                self.text_attributes(t)?;
            }
            Serial | Bool | Date | TinyBlob | MediumBlob | LongBlob | Json | Geometry => {}
        }
        Ok(())
    }

    /// Whether UNSIGNED is written; ZEROFILL implies it.
    fn number_attributes(&mut self, t: &mut CreateColumnType) -> bool {
        let mut says_unsigned = false;
        while let Some(kw) = self.eat_any(&[Kw::UNSIGNED, Kw::SIGNED, Kw::ZEROFILL]) {
            says_unsigned |= kw == Kw::UNSIGNED;
            t.unsigned |= kw != Kw::SIGNED;
            t.zerofill |= kw == Kw::ZEROFILL;
        }
        if t.zerofill {
            self.notes.push(Note::Zerofill);
        }
        says_unsigned
    }

    /// Those of DECIMAL, FLOAT and DOUBLE.
    fn fraction_attributes(&mut self, t: &mut CreateColumnType) {
        let says_unsigned = self.number_attributes(t);
        if t.base != BaseType::Decimal && t.scale.is_some() {
            self.notes.push(Note::FloatDigits);
        }
        if says_unsigned {
            self.notes.push(Note::UnsignedFraction);
        }
    }

    fn text_attributes(&mut self, t: &mut CreateColumnType) -> R<()> {
        let found = self.charset_attributes()?;
        (t.charset, t.binary) = (found.charset, found.binary);
        Ok(())
    }

    /// `name type attributes`
    pub(super) fn column_def(&mut self) -> R<ColumnDef> {
        let name = self.name()?;
        self.column_def_rest(name)
    }

    pub(super) fn column_def_rest(&mut self, name: Name) -> R<ColumnDef> {
        let mut column_type = self.column_type()?;
        let mut attributes = ColumnAttributes::default();
        loop {
            if self.eat(Kw::COLLATE) {
                column_type.collation = Some(self.collation_name()?);
                continue;
            }
            if !self.column_attribute(&mut attributes)? {
                break;
            }
        }
        Ok(ColumnDef { name, column_type, attributes })
    }

    /// One attribute; false when what follows is none.
    fn column_attribute(&mut self, a: &mut ColumnAttributes) -> R<bool> {
        match self.tok.kw {
            Kw::Plain => return Ok(false),
            Kw::NULL => {
                self.bump();
                a.nullable = Some(true);
            }
            Kw::NOT => {
                self.bump();
                if self.eat(Kw::SECONDARY) {
                    a.not_secondary = true;
                } else if let (Kw::ENFORCED, Some(check)) = (self.tok.kw, a.checks.last_mut()) {
                    check.enforced = false;
                    self.bump();
                } else {
                    self.expect(Kw::NULL)?;
                    a.nullable = Some(false);
                }
            }
            Kw::DEFAULT => {
                self.bump();
                a.default = Some(self.default_value()?);
            }
            Kw::ON => {
                self.bump();
                self.expect(Kw::UPDATE)?;
                a.on_update_now = Some(self.now_digits()?);
            }
            Kw::AUTO_INCREMENT => {
                self.bump();
                a.auto_increment = true;
            }
            Kw::SERIAL => {
                self.bump();
                self.expect_all(&[Kw::DEFAULT, Kw::VALUE])?;
                (a.auto_increment, a.unique, a.nullable) = (true, true, Some(false));
            }
            Kw::PRIMARY | Kw::KEY => {
                self.eat(Kw::PRIMARY);
                self.expect(Kw::KEY)?;
                a.primary_key = true;
            }
            Kw::UNIQUE => {
                self.bump();
                self.eat(Kw::KEY);
                a.unique = true;
            }
            Kw::COMMENT => {
                self.bump();
                a.comment = Some(self.text()?);
            }
            Kw::GENERATED | Kw::AS => self.generated(a)?,
            Kw::VISIBLE => {
                self.bump();
                a.visible = true;
            }
            Kw::INVISIBLE => {
                self.bump();
                a.invisible = true;
            }
            Kw::COLUMN_FORMAT => {
                self.bump();
                a.column_format = Some(self.one_of_words(&[Kw::FIXED, Kw::DYNAMIC, Kw::DEFAULT])?);
            }
            Kw::STORAGE => {
                self.bump();
                a.storage = Some(self.one_of_words(&[Kw::DISK, Kw::MEMORY, Kw::DEFAULT])?);
            }
            Kw::ENGINE_ATTRIBUTE => {
                self.bump();
                self.eat_eq();
                a.engine_attribute = Some(self.text()?);
            }
            Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                self.bump();
                self.eat_eq();
                a.secondary_engine_attribute = Some(self.text()?);
            }
            Kw::SRID => {
                self.bump();
                a.srid = Some(self.integer32()?);
            }
            Kw::REFERENCES => {
                self.bump();
                a.references = Some(Box::new(self.references()?));
            }
            Kw::CONSTRAINT | Kw::CHECK => {
                let mut name = None;
                if self.eat(Kw::CONSTRAINT) && !self.at(Kw::CHECK) {
                    name = Some(self.name()?);
                }
                let check = self.check(name)?;
                a.checks.push(check);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The current word when it is one of `kws`.
    fn one_of_words(&mut self, kws: &[Kw]) -> R<Name> {
        if kws.contains(&self.tok.kw) { self.any_word() } else { Err(self.syntax()) }
    }

    /// What DEFAULT takes: a literal, NOW(), or an expression in parentheses.
    pub(super) fn default_value(&mut self) -> R<DefaultValue> {
        if self.is(Tok::LParen) {
            let (expr, text) = self.paren_expr_text()?;
            return Ok(DefaultValue::Expr(expr, text));
        }
        if matches!(self.tok.kw, Kw::NOW | Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP) {
            return Ok(DefaultValue::Literal(self.keyword_primary()?));
        }
        Ok(DefaultValue::Literal(self.signed_literal()?))
    }

    /// `(expr)` and the text between the parentheses.
    pub(super) fn paren_expr_text(&mut self) -> R<(ExprId, Str)> {
        self.expect_tok(Tok::LParen)?;
        let start = self.tok.start;
        let expr = self.expr()?;
        let text = self.plain_text_since(start);
        self.expect_tok(Tok::RParen)?;
        Ok((expr, text))
    }

    /// NOW[([digits])] and its synonyms: the digits.
    fn now_digits(&mut self) -> R<u8> {
        let kw = self.expect_any(&[Kw::NOW, Kw::CURRENT_TIMESTAMP, Kw::LOCALTIME, Kw::LOCALTIMESTAMP])?;
        if kw == Kw::NOW && !self.is(Tok::LParen) {
            return Err(self.syntax());
        }
        if !self.eat_tok(Tok::LParen) || self.eat_tok(Tok::RParen) {
            return Ok(0);
        }
        let digits = self.integer()?;
        self.expect_tok(Tok::RParen)?;
        Ok(digits.min(255) as u8)
    }

    fn generated(&mut self, a: &mut ColumnAttributes) -> R<()> {
        if self.eat(Kw::GENERATED) {
            self.expect(Kw::ALWAYS)?;
        }
        self.expect(Kw::AS)?;
        let (expr, text) = self.paren_expr_text()?;
        let stored = match self.eat_any(&[Kw::STORED, Kw::VIRTUAL]) {
            Some(kw) => kw == Kw::STORED,
            None => false,
        };
        a.generated = Some(Generated { expr, text, stored });
        Ok(())
    }

    /// CHECK (expr) [[NOT] ENFORCED]
    pub(super) fn check(&mut self, name: Option<Name>) -> R<Check> {
        self.expect(Kw::CHECK)?;
        let (expr, text) = self.paren_expr_text()?;
        let enforced = !self.eat2(Kw::NOT, Kw::ENFORCED);
        if enforced {
            self.eat(Kw::ENFORCED);
        }
        Ok(Check { name, expr, text, enforced })
    }

    /// `table [(columns)] [MATCH ...] [ON DELETE ...] [ON UPDATE ...]`, behind REFERENCES.
    pub(super) fn references(&mut self) -> R<References> {
        let table = self.object_name()?;
        let columns = if self.is(Tok::LParen) { self.paren_names()? } else { Vec::new() };
        let match_kind = if self.eat(Kw::MATCH) {
            Some(match self.expect_any(&[Kw::FULL, Kw::PARTIAL, Kw::SIMPLE])? {
                Kw::FULL => MatchKind::Full,
                Kw::PARTIAL => MatchKind::Partial,
                _ => MatchKind::Simple,
            })
        } else {
            None
        };
        let (mut on_delete, mut on_update) = (None, None);
        while self.at(Kw::ON) {
            let which = self.peek().kw;
            let slot = match which {
                Kw::DELETE if on_delete.is_none() => &mut on_delete,
                Kw::UPDATE if on_update.is_none() => &mut on_update,
                _ => break,
            };
            self.bump();
            self.bump();
            *slot = Some(self.reference_action()?);
        }
        Ok(References { table, columns, match_kind, on_delete, on_update })
    }

    fn reference_action(&mut self) -> R<ReferenceAction> {
        Ok(match self.expect_any(&[Kw::RESTRICT, Kw::CASCADE, Kw::SET, Kw::NO])? {
            Kw::RESTRICT => ReferenceAction::Restrict,
            Kw::CASCADE => ReferenceAction::Cascade,
            Kw::NO => {
                self.expect(Kw::ACTION)?;
                ReferenceAction::NoAction
            }
            _ => match self.expect_any(&[Kw::NULL, Kw::DEFAULT])? {
                Kw::NULL => ReferenceAction::SetNull,
                _ => ReferenceAction::SetDefault,
            },
        })
    }
}
