//! Statements of stored programs: blocks, declarations, loops and choices become instructions.

use super::program_scope::ScopeKind;
use super::*;
use types::codes::*;

const BLOCK_STARTS: [Kw; 4] = [Kw::BEGIN, Kw::LOOP, Kw::WHILE, Kw::REPEAT];

impl Parser<'_> {
    pub(super) fn program_statement(&mut self) -> R<()> {
        self.deeper(Self::labelled_statement)
    }

    /// A statement of a program, with a label in front or not. Errors 1309, 1310.
    fn labelled_statement(&mut self) -> R<()> {
        let has_label = self.at_name() && self.peek().tok == Tok::Colon;
        if !has_label {
            return match BLOCK_STARTS.contains(&self.tok.kw) {
                true => self.block(None),
                false => self.simple_program_statement(),
            };
        }
        let start = self.tok.start as usize;
        let label = self.name()?;
        let label = self.shown(label);
        self.bump();
        if !BLOCK_STARTS.contains(&self.tok.kw) {
            return Err(self.syntax());
        }
        if self.builder().has_label(&label) {
            return Err(ParseError::at(err!(ER_SP_LABEL_REDEFINE, label), start));
        }
        self.block(Some(label))
    }

    /// BEGIN, LOOP, WHILE, REPEAT.
    fn block(&mut self, label: Option<String>) -> R<()> {
        let kw = self.bump().kw;
        let kind = if kw == Kw::BEGIN { ScopeKind::Block } else { ScopeKind::Loop };
        let labelled = label.is_some();
        self.builder().open(kind, label);
        let begin = self.builder().here();
        match kw {
            Kw::BEGIN => {
                while self.at(Kw::DECLARE) {
                    self.declare()?;
                    self.expect_tok(Tok::Semicolon)?;
                }
                self.statements_until(&[Kw::END], false)?;
                self.expect(Kw::END)?;
            }
            Kw::LOOP => {
                self.statements_until(&[Kw::END], true)?;
                self.expect_all(&[Kw::END, Kw::LOOP])?;
                self.builder().emit(Op::Jump(begin));
            }
            Kw::WHILE => {
                let condition = self.value_part()?;
                self.expect(Kw::DO)?;
                let jump = self.builder().emit(Op::JumpUnless { condition, to: 0, otherwise: 0 });
                self.statements_until(&[Kw::END], true)?;
                self.expect_all(&[Kw::END, Kw::WHILE])?;
                let builder = self.builder();
                builder.emit(Op::Jump(begin));
                builder.land(jump);
                builder.end_choice(&[jump]);
            }
            _ => {
                self.statements_until(&[Kw::UNTIL], true)?;
                self.expect(Kw::UNTIL)?;
                let condition = self.value_part()?;
                self.expect_all(&[Kw::END, Kw::REPEAT])?;
                let jump = self.builder().emit(Op::JumpUnless { condition, to: begin, otherwise: 0 });
                self.builder().end_choice(&[jump]);
            }
        }
        self.end_label(labelled)?;
        self.builder().close();
        Ok(())
    }

    /// The label again behind END. Error 1310.
    fn end_label(&mut self, labelled: bool) -> R<()> {
        if !labelled || !self.at_name() {
            return Ok(());
        }
        let start = self.tok.start as usize;
        let name = self.name()?;
        let name = self.shown(name);
        let is_own = self.builder().label().is_some_and(|label| label.eq_ignore_ascii_case(&name));
        if is_own { Ok(()) } else { Err(ParseError::at(err!(ER_SP_LABEL_MISMATCH, name), start)) }
    }

    /// `statement; statement; ...` up to one of `ends`.
    fn statements_until(&mut self, ends: &[Kw], at_least_one: bool) -> R<()> {
        let mut any = false;
        while !ends.contains(&self.tok.kw) {
            self.program_statement()?;
            self.expect_tok(Tok::Semicolon)?;
            any = true;
        }
        if at_least_one && !any { Err(self.syntax()) } else { Ok(()) }
    }

    /// Errors 1331, 1332, 1333, 1337, 1338, 1413.
    fn declare(&mut self) -> R<()> {
        let start = self.tok.start as usize;
        self.bump();
        if let Some(kind) = self.eat_any(&[Kw::CONTINUE, Kw::EXIT, Kw::UNDO]) {
            return self.declare_handler(kind);
        }
        let names = self.names()?;
        let names: Vec<String> = names.into_iter().map(|n| self.shown(n)).collect();
        if names.len() == 1 && self.eat(Kw::CONDITION) {
            self.expect(Kw::FOR)?;
            let condition = self.sqlstate_or_number()?;
            if let Some((code, message)) = self.builder().refuses(false) {
                return Err(ParseError::new(code, message, start));
            }
            if !self.builder().declare_condition(&names[0], condition) {
                return Err(ParseError::at(err!(ER_SP_DUP_COND, names[0]), start));
            }
            return Ok(());
        }
        if names.len() == 1 && self.eat(Kw::CURSOR) {
            self.expect(Kw::FOR)?;
            let query = self.part(|p| {
                let query = p.query()?;
                match p.queries[query.index()].into {
                    Some(_) => Err(ParseError::at(err!(ER_SP_BAD_CURSOR_SELECT), start)),
                    None => Ok(Statement::Query(query)),
                }
            })?;
            if let Some((code, message)) = self.builder().refuses(true) {
                return Err(ParseError::new(code, message, start));
            }
            if !self.builder().declare_cursor(&names[0], query) {
                return Err(ParseError::at(err!(ER_SP_DUP_CURS, names[0]), start));
            }
            return Ok(());
        }
        let data_type = self.program_type()?;
        // It does not know the variables that it is for.
        let default = if self.eat(Kw::DEFAULT) { Some(self.value_part()?) } else { None };
        if let Some((code, message)) = self.builder().refuses(false) {
            return Err(ParseError::new(code, message, start));
        }
        for name in &names {
            let builder = self.builder();
            let Some(local) = builder.declare_variable(name, data_type.clone(), ParameterMode::In) else {
                return Err(ParseError::at(err!(ER_SP_DUP_VAR, name), start));
            };
            match default {
                None => builder.emit(Op::Clear(local)),
                Some(value) => builder.emit(Op::Set { local, value }),
            };
        }
        Ok(())
    }

    fn declare_handler(&mut self, kind: Kw) -> R<()> {
        if kind == Kw::UNDO {
            return Err(self.syntax_at(self.prev_end - 4));
        }
        self.expect_all(&[Kw::HANDLER, Kw::FOR])?;
        let conditions = self.comma_list(|p| {
            let start = p.tok.start as usize;
            let condition = p.handler_condition()?;
            match p.builder().handle(&condition) {
                true => Ok(condition),
                false => Err(ParseError::at(err!(ER_SP_DUP_HANDLER), start)),
            }
        })?;
        let begun = self.builder().begin_handler(conditions);
        self.program_statement()?;
        self.builder().end_handler(begun, kind == Kw::EXIT);
        Ok(())
    }

    /// Error 1319.
    fn handler_condition(&mut self) -> R<Condition> {
        Ok(match self.tok.kw {
            Kw::SQLEXCEPTION => {
                self.bump();
                Condition::Exception
            }
            Kw::SQLWARNING => {
                self.bump();
                Condition::Warning
            }
            Kw::NOT => {
                self.bump();
                self.expect(Kw::FOUND)?;
                Condition::NotFound
            }
            Kw::SQLSTATE => self.sqlstate_or_number()?,
            _ if self.is(Tok::Int) => self.sqlstate_or_number()?,
            _ => self.named_condition()?,
        })
    }

    /// Error 1319.
    pub(super) fn named_condition(&mut self) -> R<Condition> {
        let start = self.tok.start as usize;
        let name = self.name()?;
        let name = self.shown(name);
        let found = self.program.as_ref().and_then(|b| b.condition(&name));
        found.ok_or_else(|| ParseError::at(err!(ER_SP_COND_MISMATCH, name), start))
    }

    /// Errors 1407, 1335.
    pub(super) fn sqlstate_or_number(&mut self) -> R<Condition> {
        let start = self.tok.start as usize;
        if !self.eat(Kw::SQLSTATE) {
            let number = self.integer()?;
            return match u16::try_from(number) {
                Ok(code) if code != 0 => Ok(Condition::Code(code)),
                _ => Err(ParseError::at(err!(ER_WRONG_VALUE, "CONDITION", number), start)),
            };
        }
        self.eat(Kw::VALUE);
        let text = self.text()?;
        let bytes = self.raw(text);
        let is_state = bytes.iter().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()) && !bytes.starts_with(b"00");
        match <[u8; 5]>::try_from(bytes) {
            Ok(state) if is_state => Ok(Condition::State(state)),
            _ => Err(ParseError::at(err!(ER_SP_BAD_SQLSTATE, self.shown(text)), start)),
        }
    }

    fn simple_program_statement(&mut self) -> R<()> {
        match self.tok.kw {
            Kw::IF => self.if_statement(),
            Kw::CASE => self.case_statement(),
            Kw::LEAVE | Kw::ITERATE => {
                let iterates = self.bump().kw == Kw::ITERATE;
                let start = self.tok.start as usize;
                let label = self.name()?;
                let label = self.shown(label);
                match self.builder().leave(&label, iterates) {
                    true => Ok(()),
                    false => {
                        let verb = if iterates { "ITERATE" } else { "LEAVE" };
                        Err(ParseError::at(err!(ER_SP_LILABEL_MISMATCH, verb, label), start))
                    }
                }
            }
            Kw::OPEN | Kw::CLOSE => {
                let opens = self.bump().kw == Kw::OPEN;
                let cursor = self.cursor_number()?;
                self.builder().emit(if opens { Op::Open(cursor) } else { Op::Close(cursor) });
                Ok(())
            }
            Kw::FETCH => {
                self.bump();
                if self.eat(Kw::NEXT) {
                    self.expect(Kw::FROM)?;
                } else {
                    self.eat(Kw::FROM);
                }
                let cursor = self.cursor_number()?;
                self.expect(Kw::INTO)?;
                let into = self.comma_list(Self::local)?;
                self.builder().emit(Op::Fetch { cursor, into });
                Ok(())
            }
            Kw::RETURN => {
                let start = self.tok.start as usize;
                self.bump();
                let value = self.value_part()?;
                if !self.builder().is_function() {
                    return Err(ParseError::at(err!(ER_SP_BADRETURN), start));
                }
                self.builder().emit(Op::Return(value));
                Ok(())
            }
            Kw::SET => self.set_in_program(),
            _ => {
                let start = self.tok.start;
                let part = self.part(Self::statement)?;
                self.check_in_program(part, start)?;
                self.builder().emit(Op::Run(part));
                Ok(())
            }
        }
    }

    /// Error 1324.
    fn cursor_number(&mut self) -> R<u32> {
        let start = self.tok.start as usize;
        let name = self.name()?;
        let name = self.shown(name);
        let found = self.builder().cursor(&name);
        found.ok_or_else(|| ParseError::at(err!(ER_SP_CURSOR_MISMATCH, name), start))
    }

    fn if_statement(&mut self) -> R<()> {
        const ENDS: [Kw; 3] = [Kw::ELSEIF, Kw::ELSE, Kw::END];
        self.bump();
        let (mut conditions, mut leaves) = (Vec::new(), Vec::new());
        loop {
            let condition = self.value_part()?;
            self.expect(Kw::THEN)?;
            let jump = self.builder().emit(Op::JumpUnless { condition, to: 0, otherwise: 0 });
            conditions.push(jump);
            self.statements_until(&ENDS, true)?;
            if !matches!(self.tok.kw, Kw::END) {
                leaves.push(self.builder().emit(Op::Jump(0)));
            }
            self.builder().land(jump);
            if !self.eat(Kw::ELSEIF) {
                break;
            }
        }
        if self.eat(Kw::ELSE) {
            self.statements_until(&[Kw::END], true)?;
        }
        self.expect_all(&[Kw::END, Kw::IF])?;
        let builder = self.builder();
        leaves.into_iter().for_each(|jump| builder.land(jump));
        builder.end_choice(&conditions);
        Ok(())
    }

    fn case_statement(&mut self) -> R<()> {
        const ENDS: [Kw; 3] = [Kw::WHEN, Kw::ELSE, Kw::END];
        self.bump();
        let (mut conditions, mut leaves) = (Vec::new(), Vec::new());
        let compared = match self.at(Kw::WHEN) {
            true => None,
            false => {
                let value = self.value_part()?;
                let local = self.builder().add_local("", None, ParameterMode::In);
                conditions.push(self.builder().emit(Op::SetCase { local, value, otherwise: 0 }));
                Some(local)
            }
        };
        self.expect(Kw::WHEN)?;
        loop {
            let condition = self.part(|p| {
                let mut when = p.expr()?;
                if let Some(local) = compared {
                    let left = p.add(Expr::Local(local));
                    when = p.add(Expr::Binary { op: BinaryOp::Eq, left, right: when });
                    p.tallest += 1;
                }
                Ok(Statement::Do(p.list_of(&[when])))
            })?;
            self.expect(Kw::THEN)?;
            let jump = self.builder().emit(Op::JumpUnless { condition, to: 0, otherwise: 0 });
            conditions.push(jump);
            self.statements_until(&ENDS, true)?;
            leaves.push(self.builder().emit(Op::Jump(0)));
            self.builder().land(jump);
            if !self.eat(Kw::WHEN) {
                break;
            }
        }
        match self.eat(Kw::ELSE) {
            true => self.statements_until(&[Kw::END], true)?,
            false => {
                self.builder().emit(Op::CaseNotFound);
            }
        }
        self.expect_all(&[Kw::END, Kw::CASE])?;
        let builder = self.builder();
        leaves.into_iter().for_each(|jump| builder.land(jump));
        builder.end_choice(&conditions);
        Ok(())
    }

    /// SET: each item is an instruction of its own.
    fn set_in_program(&mut self) -> R<()> {
        let next = self.peek();
        // Variables of these names would be taken for SET PASSWORD and SET NAMES.
        if next.tok == Tok::Word
            && matches!(next.kw, Kw::PASSWORD | Kw::NAMES)
            && matches!(self.peek_second().tok, Tok::Eq | Tok::Assign)
            && self.builder().variable(&next.kw.spelling().to_lowercase()).is_some()
        {
            let name = next.kw.spelling().to_lowercase();
            return Err(ParseError::at(err!(ER_SP_BAD_VAR_SHADOW, name), next.start as usize));
        }
        if self.sets_as_a_whole(next) {
            let start = self.tok.start;
            let part = self.part(Self::set)?;
            self.check_in_program(part, start)?;
            self.builder().emit(Op::Run(part));
            return Ok(());
        }
        self.bump();
        let mut said = VarScope::Unspecified;
        loop {
            let row = match self.peek().tok {
                Tok::Dot => self.row_image(Str::source(self.tok.start, self.tok.end)),
                _ => None,
            };
            if let Some(image) = row {
                self.bump();
                self.bump();
                let column = self.any_word()?;
                let local = self.row_column(image, column, true)?;
                if !self.eat_tok(Tok::Eq) {
                    self.expect_tok(Tok::Assign)?;
                }
                let value = self.value_part()?;
                self.builder().emit(Op::Set { local, value });
                if !self.eat_tok(Tok::Comma) {
                    return Ok(());
                }
                continue;
            }
            let next = self.peek();
            let assigned = matches!(next.tok, Tok::Eq | Tok::Assign);
            if !assigned && set::scope_of(self.tok.kw).is_some() && self.local_named(next).is_some() {
                return Err(self.syntax_at(next.start));
            }
            let local = if assigned && self.at_name() { self.local_named(self.tok) } else { None };
            match local {
                Some(local) => {
                    self.bump();
                    self.bump();
                    let value = self.value_part()?;
                    self.builder().emit(Op::Set { local, value });
                }
                None => {
                    let start = self.tok.start;
                    let part = self.part(|p| Ok(Statement::Set(vec![p.set_item(&mut said)?])))?;
                    self.check_in_program(part, start)?;
                    self.builder().emit(Op::Run(part));
                }
            }
            if !self.eat_tok(Tok::Comma) {
                return Ok(());
            }
        }
    }

    /// SET with a grammar of its own, not of items: SET PASSWORD, SET ROLE, SET TRANSACTION and the like. `next`: what is behind
    /// SET.
    fn sets_as_a_whole(&self, next: Token) -> bool {
        let second = self.peek_second();
        let assigned = matches!(second.tok, Tok::Eq | Tok::Assign | Tok::Dot);
        match next.kw {
            Kw::PASSWORD => true,
            Kw::TRANSACTION | Kw::ROLE | Kw::DEFAULT | Kw::RESOURCE => !assigned,
            kw => set::scope_of(kw).is_some() && second.kw == Kw::TRANSACTION,
        }
    }

    /// The variable that a token names.
    fn local_named(&mut self, token: Token) -> Option<LocalId> {
        let name = match token.tok {
            Tok::Quoted => self.contents(token, 0),
            _ => Str::source(token.start, token.end),
        };
        let name = self.shown(name);
        self.builder().variable(&name)
    }

    /// What no program may do (1314, 1357), and what functions and triggers may not, which is told of in the end.
    fn check_in_program(&mut self, part: PartId, start: u32) -> R<()> {
        use Statement as S;
        let part = &self.program.as_ref().expect("inside of a body").program.parts[part as usize];
        let not_allowed = |what: &str| Err(ParseError::at(err!(ER_SP_BADSTATEMENT, what), start as usize));
        let nested = |what: &str| {
            let message = format!("Can't drop or alter a {what} from within another stored routine");
            Err(ParseError::new(ER_SP_NO_DROP_SP, message, start as usize))
        };
        let forbidden = match &part.statement {
            S::AlterRoutine(a) => return nested(if a.function { "FUNCTION" } else { "PROCEDURE" }),
            S::DropProgram { kind: ProgramKind::Function, .. } => return nested("FUNCTION"),
            S::DropProgram { kind: ProgramKind::Procedure, .. } => return nested("PROCEDURE"),
            S::Use(_) => return not_allowed("USE"),
            S::UnlockTables => return not_allowed("UNLOCK"),
            S::LoadData(_) => return not_allowed("LOAD DATA"),
            S::Handler(_) => return not_allowed("HANDLER"),
            S::Help(_) => return not_allowed("HELP"),
            S::TableMaintenance(m) if m.verb == MaintenanceVerb::Check => return not_allowed("CHECK"),
            S::Query(query) if part[*query].into.is_none() => Some(Forbidden::ResultSet),
            S::Query(_) | S::Insert(_) | S::Update(_) | S::Delete(_) | S::Do(_) | S::Call { .. } => None,
            S::Signal(_) | S::GetDiagnostics(_) | S::Kill { .. } => None,
            S::Prepare { .. } | S::Execute { .. } | S::Deallocate(_) => Some(Forbidden::DynamicSql),
            S::Show(_) | S::Explain(_) | S::DescribeTable { .. } | S::TableMaintenance(_) => Some(Forbidden::ResultSet),
            S::Set(items) => {
                let sets = |item: &SetItem| match item {
                    // Its text is not the part's yet.
                    SetItem::SystemVar { name, .. } => {
                        name.resolve(self.src, &part.extra).eq_ignore_ascii_case(b"autocommit")
                    }
                    _ => false,
                };
                items.iter().any(sets).then_some(Forbidden::Autocommit)
            }
            S::CreateView(_) if part.exprs().iter().any(|e| matches!(e, Expr::Local(_) | Expr::UserVar(_))) => {
                return Err(ParseError::at(err!(ER_VIEW_SELECT_VARIABLE), start as usize));
            }
            S::Absent(Absent::KeyCache(..)) => Some(Forbidden::ResultSet),
            S::CreateTable(create) if create.temporary => None,
            S::DropTable { temporary: true, .. } => None,
            // They fail where they are run.
            S::Xa(xa) if !matches!(xa, Xa::Recover { .. }) => None,
            S::Savepoint(_) | S::RollbackTo(_) | S::ReleaseSavepoint(_) => None,
            S::Reset(_) => Some(Forbidden::Reset),
            S::Flush(_) => Some(Forbidden::Flush),
            _ => Some(Forbidden::Commit),
        };
        if let Some(what) = forbidden {
            self.builder().forbid(what);
        }
        Ok(())
    }
}
