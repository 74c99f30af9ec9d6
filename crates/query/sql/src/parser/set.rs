//! SET in all its forms.

use super::*;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> R<Statement> {
        self.bump();
        match self.tok.kw {
            Kw::TRANSACTION => {
                self.bump();
                return Ok(Statement::Set(vec![self.transaction_item(VarScope::Unspecified)?]));
            }
            Kw::PASSWORD => return self.set_password(),
            Kw::ROLE if !matches!(self.peek().tok, Tok::Eq | Tok::Assign | Tok::Dot) => {
                self.bump();
                return Ok(Statement::SetRole(self.role_selection(true)?));
            }
            Kw::DEFAULT => {
                self.bump();
                self.expect(Kw::ROLE)?;
                let roles = self.role_selection(false)?;
                self.expect(Kw::TO)?;
                return Ok(Statement::SetDefaultRole { roles, users: self.comma_list(Self::role)? });
            }
            Kw::RESOURCE if self.peek().kw == Kw::GROUP => {
                self.bump();
                self.bump();
                let name = self.name()?;
                if self.eat(Kw::FOR) {
                    loop {
                        self.integer()?;
                        self.eat_tok(Tok::Comma);
                        if !self.is(Tok::Int) {
                            break;
                        }
                    }
                }
                return Ok(Statement::Absent(Absent::ResourceGroup { name, sets: true }));
            }
            _ => {}
        }
        let first = self.tok.kw;
        if let Some(scope) = scope_of(first)
            && self.peek().kw == Kw::TRANSACTION
            && !matches!(self.peek_second().tok, Tok::Eq | Tok::Assign)
        {
            if matches!(first, Kw::PERSIST | Kw::PERSIST_ONLY) {
                return Err(self.syntax());
            }
            self.bump();
            self.bump();
            return Ok(Statement::Set(vec![self.transaction_item(scope)?]));
        }
        let mut said = VarScope::Unspecified;
        Ok(Statement::Set(self.comma_list(|p| p.set_item(&mut said))?))
    }

    /// `said`: the scope that an item before was given, which holds for those behind it, unless they are written with `@@`.
    pub(super) fn set_item(&mut self, said: &mut VarScope) -> R<SetItem> {
        match self.tok.tok {
            Tok::UserVar => {
                let name = self.target_var_name()?;
                self.expect_assign()?;
                return Ok(SetItem::UserVar { name, value: self.expr()? });
            }
            Tok::AtAt => {
                let (scope, base, name) = self.system_var_name()?;
                self.expect_assign()?;
                return Ok(SetItem::SystemVar { scope, base, name, value: self.set_value()? });
            }
            _ => {}
        }
        let assigned = matches!(self.peek().tok, Tok::Eq | Tok::Assign | Tok::Dot);
        if self.at(Kw::NAMES) && assigned && self.peek().tok != Tok::Dot {
            // No variable has this name without quotes.
            self.bump();
            return Err(self.syntax());
        }
        if self.at(Kw::NAMES) && !assigned {
            self.bump();
            if self.eat(Kw::DEFAULT) {
                return Ok(SetItem::Names { charset: None, collation: None });
            }
            let charset = Some(self.charset_name()?);
            let collation = if self.eat(Kw::COLLATE) { Some(self.collation_name()?) } else { None };
            return Ok(SetItem::Names { charset, collation });
        }
        if !assigned && self.eat_charset_words() {
            if self.eat(Kw::DEFAULT) {
                return Ok(SetItem::CharacterSet(None));
            }
            let charset = self.charset_name()?;
            // MySQL warns of none here.
            self.notes.pop_if(|n| matches!(n, Note::Utf8 | Note::Utf8mb3 | Note::Charset(_)));
            return Ok(SetItem::CharacterSet(Some(charset)));
        }
        if let Some(written) = scope_of(self.tok.kw)
            && !assigned
        {
            self.bump();
            *said = written;
        }
        let scope = *said;
        let mut name = self.name()?;
        let mut base = None;
        if self.eat_tok(Tok::Dot) {
            base = Some(name);
            name = self.any_word()?;
        }
        self.expect_assign()?;
        Ok(SetItem::SystemVar { scope, base, name, value: self.set_value()? })
    }

    /// The value of a system variable; None: DEFAULT. Bare words become strings.
    fn set_value(&mut self) -> R<Option<ExprId>> {
        let word = self.tok;
        match word.kw {
            Kw::DEFAULT if self.peek().tok != Tok::LParen => {
                self.bump();
                return Ok(None);
            }
            Kw::ON | Kw::ALL | Kw::SYSTEM => {
                self.bump();
                return Ok(Some(self.word_as_string(word)));
            }
            Kw::BINARY | Kw::ROW if !matches!(self.peek().tok, Tok::LParen | Tok::Str | Tok::Word | Tok::Int) => {
                self.bump();
                return Ok(Some(self.word_as_string(word)));
            }
            _ => {}
        }
        let id = self.expr()?;
        if let Expr::Column { schema: None, table: None, column } = self.exprs[id.index()] {
            self.exprs[id.index()] = Expr::String { text: column, introducer: None };
        }
        Ok(Some(id))
    }

    fn word_as_string(&mut self, word: Token) -> ExprId {
        self.add(Expr::String { text: Str::source(word.start, word.end), introducer: None })
    }

    /// ISOLATION LEVEL and READ ONLY | WRITE, in either order.
    fn transaction_item(&mut self, scope: VarScope) -> R<SetItem> {
        let (mut isolation, mut access) = (None, None);
        loop {
            if isolation.is_none() && self.eat(Kw::ISOLATION) {
                self.expect(Kw::LEVEL)?;
                isolation = Some(match self.expect_any(&[Kw::READ, Kw::REPEATABLE, Kw::SERIALIZABLE])? {
                    Kw::READ => match self.expect_any(&[Kw::COMMITTED, Kw::UNCOMMITTED])? {
                        Kw::COMMITTED => IsolationLevel::ReadCommitted,
                        _ => IsolationLevel::ReadUncommitted,
                    },
                    Kw::REPEATABLE => {
                        self.expect(Kw::READ)?;
                        IsolationLevel::RepeatableRead
                    }
                    _ => IsolationLevel::Serializable,
                });
            } else if access.is_none() && self.eat(Kw::READ) {
                access = Some(match self.expect_any(&[Kw::ONLY, Kw::WRITE])? {
                    Kw::ONLY => AccessMode::ReadOnly,
                    _ => AccessMode::ReadWrite,
                });
            } else {
                return Err(self.syntax());
            }
            if !self.eat_tok(Tok::Comma) {
                return Ok(SetItem::Transaction { scope, isolation, access });
            }
        }
    }
}

pub(super) fn scope_of(kw: Kw) -> Option<VarScope> {
    Some(match kw {
        Kw::GLOBAL => VarScope::Global,
        Kw::SESSION | Kw::LOCAL => VarScope::Session,
        Kw::PERSIST => VarScope::Persist,
        Kw::PERSIST_ONLY => VarScope::PersistOnly,
        _ => return None,
    })
}
