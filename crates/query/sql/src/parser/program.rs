//! Stored programs: procedures, functions, triggers, events. Their syntax is checked in full; the bodies leave no tree,
//! since the statement is answered with 1235.

use super::*;

impl Parser<'_> {
    /// PROCEDURE, FUNCTION or AGGREGATE FUNCTION, behind CREATE [DEFINER = x].
    pub(super) fn create_routine(&mut self) -> R<Statement> {
        let aggregate = self.eat(Kw::AGGREGATE);
        let function = self.bump().kw == Kw::FUNCTION;
        if aggregate && !function {
            return Err(self.syntax_at(self.prev_end));
        }
        self.eat_if_not_exists()?;
        self.object_name()?;
        if function && self.eat(Kw::RETURNS) {
            self.expect_any(&[Kw::STRING, Kw::INTEGER, Kw::INT, Kw::REAL, Kw::DECIMAL])?;
            self.expect(Kw::SONAME)?;
            self.text()?;
            return Ok(self.unsupported("loadable functions", "create_udf"));
        }
        if aggregate {
            return Err(self.syntax());
        }
        self.expect_tok(Tok::LParen)?;
        if !self.is(Tok::RParen) {
            self.comma_list(|p| {
                if !function {
                    p.eat_any(&[Kw::IN, Kw::OUT, Kw::INOUT]);
                }
                p.name()?;
                p.program_type()
            })?;
        }
        self.expect_tok(Tok::RParen)?;
        if function {
            self.expect(Kw::RETURNS)?;
            self.program_type()?;
        }
        self.routine_characteristics(false)?;
        if self.eat(Kw::AS) {
            self.text()?;
        } else {
            self.body()?;
        }
        Ok(self.unsupported("stored programs", if function { "create_function" } else { "create_procedure" }))
    }

    fn program_type(&mut self) -> R<()> {
        self.column_type()?;
        if self.eat(Kw::COLLATE) {
            self.collation_name()?;
        }
        Ok(())
    }

    pub(super) fn routine_characteristics(&mut self, alter: bool) -> R<()> {
        loop {
            match self.tok.kw {
                Kw::COMMENT => {
                    self.bump();
                    self.text()?;
                }
                Kw::LANGUAGE => {
                    self.bump();
                    if !self.eat(Kw::SQL) {
                        self.name()?;
                    }
                }
                Kw::DETERMINISTIC if !alter => {
                    self.bump();
                }
                Kw::NOT if !alter => {
                    self.bump();
                    self.expect(Kw::DETERMINISTIC)?;
                }
                Kw::NO | Kw::CONTAINS => {
                    self.bump();
                    self.expect(Kw::SQL)?;
                }
                Kw::READS | Kw::MODIFIES => {
                    self.bump();
                    self.expect_all(&[Kw::SQL, Kw::DATA])?;
                }
                Kw::SQL => {
                    self.bump();
                    self.expect(Kw::SECURITY)?;
                    self.expect_any(&[Kw::DEFINER, Kw::INVOKER])?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// The body of a program: one statement.
    fn body(&mut self) -> R<()> {
        let outer = std::mem::replace(&mut self.in_program, true);
        let result = self.program_statement();
        self.in_program = outer;
        result
    }

    fn program_statement(&mut self) -> R<()> {
        self.deeper(Self::labelled_statement)
    }

    /// A statement of a program, with a label in front or not.
    fn labelled_statement(&mut self) -> R<()> {
        if self.at_name() && self.peek().tok == Tok::Colon {
            self.bump();
            self.bump();
            if !matches!(self.tok.kw, Kw::BEGIN | Kw::LOOP | Kw::WHILE | Kw::REPEAT) {
                return Err(self.syntax());
            }
            self.block()?;
            if self.at_name() {
                self.name()?;
            }
        } else if !self.block()? {
            self.simple_program_statement()?;
        }
        Ok(())
    }

    /// BEGIN, LOOP, WHILE, REPEAT; false (and nothing taken) when none stands there.
    fn block(&mut self) -> R<bool> {
        match self.tok.kw {
            Kw::BEGIN => {
                self.bump();
                while self.at(Kw::DECLARE) {
                    self.declare()?;
                    self.expect_tok(Tok::Semicolon)?;
                }
                self.statements_until(&[Kw::END], false)?;
                self.expect(Kw::END)?;
            }
            Kw::LOOP => {
                self.bump();
                self.statements_until(&[Kw::END], true)?;
                self.expect_all(&[Kw::END, Kw::LOOP])?;
            }
            Kw::WHILE => {
                self.bump();
                self.expr()?;
                self.expect(Kw::DO)?;
                self.statements_until(&[Kw::END], true)?;
                self.expect_all(&[Kw::END, Kw::WHILE])?;
            }
            Kw::REPEAT => {
                self.bump();
                self.statements_until(&[Kw::UNTIL], true)?;
                self.expect(Kw::UNTIL)?;
                self.expr()?;
                self.expect_all(&[Kw::END, Kw::REPEAT])?;
            }
            _ => return Ok(false),
        }
        Ok(true)
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

    fn declare(&mut self) -> R<()> {
        self.bump();
        if self.eat_any(&[Kw::CONTINUE, Kw::EXIT, Kw::UNDO]).is_some() {
            self.expect_all(&[Kw::HANDLER, Kw::FOR])?;
            self.comma_list(Self::handler_condition)?;
            return self.program_statement();
        }
        let names = self.names()?;
        if names.len() == 1 && self.eat(Kw::CONDITION) {
            self.expect(Kw::FOR)?;
            return self.sqlstate_or_number();
        }
        if names.len() == 1 && self.eat(Kw::CURSOR) {
            self.expect(Kw::FOR)?;
            self.query()?;
            return Ok(());
        }
        self.program_type()?;
        if self.eat(Kw::DEFAULT) {
            self.expr()?;
        }
        Ok(())
    }

    fn handler_condition(&mut self) -> R<()> {
        match self.tok.kw {
            Kw::SQLEXCEPTION | Kw::SQLWARNING => {
                self.bump();
            }
            Kw::NOT => {
                self.bump();
                self.expect(Kw::FOUND)?;
            }
            Kw::SQLSTATE => self.sqlstate_or_number()?,
            _ if self.is(Tok::Int) => self.sqlstate_or_number()?,
            _ => {
                self.name()?;
            }
        }
        Ok(())
    }

    fn sqlstate_or_number(&mut self) -> R<()> {
        if self.eat(Kw::SQLSTATE) {
            self.eat(Kw::VALUE);
            self.text()?;
        } else {
            self.integer()?;
        }
        Ok(())
    }

    fn simple_program_statement(&mut self) -> R<()> {
        match self.tok.kw {
            Kw::IF => {
                self.bump();
                self.expr()?;
                self.expect(Kw::THEN)?;
                let ends = [Kw::ELSEIF, Kw::ELSE, Kw::END];
                self.statements_until(&ends, true)?;
                while self.eat(Kw::ELSEIF) {
                    self.expr()?;
                    self.expect(Kw::THEN)?;
                    self.statements_until(&ends, true)?;
                }
                if self.eat(Kw::ELSE) {
                    self.statements_until(&[Kw::END], true)?;
                }
                self.expect_all(&[Kw::END, Kw::IF])
            }
            Kw::CASE => {
                self.bump();
                if !self.at(Kw::WHEN) {
                    self.expr()?;
                }
                let ends = [Kw::WHEN, Kw::ELSE, Kw::END];
                self.expect(Kw::WHEN)?;
                loop {
                    self.expr()?;
                    self.expect(Kw::THEN)?;
                    self.statements_until(&ends, true)?;
                    if !self.eat(Kw::WHEN) {
                        break;
                    }
                }
                if self.eat(Kw::ELSE) {
                    self.statements_until(&[Kw::END], true)?;
                }
                self.expect_all(&[Kw::END, Kw::CASE])
            }
            Kw::LEAVE | Kw::ITERATE | Kw::OPEN | Kw::CLOSE => {
                self.bump();
                self.name().map(|_| ())
            }
            Kw::FETCH => {
                self.bump();
                if self.eat(Kw::NEXT) {
                    self.expect(Kw::FROM)?;
                } else {
                    self.eat(Kw::FROM);
                }
                self.name()?;
                self.expect(Kw::INTO)?;
                self.names().map(|_| ())
            }
            Kw::RETURN => {
                self.bump();
                self.expr().map(|_| ())
            }
            _ => self.statement().map(|_| ()),
        }
    }

    /// Behind SIGNAL or RESIGNAL.
    pub(super) fn signal(&mut self, resignal: bool) -> R<Statement> {
        if self.at(Kw::SQLSTATE) {
            self.sqlstate_or_number()?;
        } else if self.at_name() {
            self.name()?;
        } else if !resignal {
            return Err(self.syntax());
        }
        if self.eat(Kw::SET) {
            self.comma_list(|p| {
                if !is_condition_item(p.tok.kw) || p.at(Kw::RETURNED_SQLSTATE) {
                    return Err(p.syntax());
                }
                p.bump();
                p.expect_tok(Tok::Eq)?;
                p.simple_expr()
            })?;
        }
        Ok(self.unsupported("SIGNAL and RESIGNAL", if resignal { "resignal" } else { "signal" }))
    }

    /// Behind GET.
    pub(super) fn get_diagnostics(&mut self) -> R<Statement> {
        self.eat_any(&[Kw::CURRENT, Kw::STACKED]);
        self.expect(Kw::DIAGNOSTICS)?;
        let condition = self.eat(Kw::CONDITION);
        if condition {
            self.simple_expr()?;
        }
        self.comma_list(|p| {
            if p.is(Tok::UserVar) {
                p.user_var_name()?;
            } else {
                p.name()?;
            }
            p.expect_tok(Tok::Eq)?;
            let known = match condition {
                true => is_condition_item(p.tok.kw),
                false => matches!(p.tok.kw, Kw::NUMBER | Kw::ROW_COUNT),
            };
            if !known {
                return Err(p.syntax());
            }
            p.bump();
            Ok(())
        })?;
        Ok(self.unsupported("GET DIAGNOSTICS", "get_diagnostics"))
    }

    pub(super) fn create_trigger(&mut self) -> R<Statement> {
        self.bump();
        self.eat_if_not_exists()?;
        self.object_name()?;
        self.expect_any(&[Kw::BEFORE, Kw::AFTER])?;
        self.expect_any(&[Kw::INSERT, Kw::UPDATE, Kw::DELETE])?;
        self.expect(Kw::ON)?;
        self.object_name()?;
        self.expect_all(&[Kw::FOR, Kw::EACH, Kw::ROW])?;
        if self.eat_any(&[Kw::FOLLOWS, Kw::PRECEDES]).is_some() {
            self.name_or_text()?;
        }
        self.body()?;
        Ok(self.unsupported("triggers", "create_trigger"))
    }

    pub(super) fn create_event(&mut self) -> R<Statement> {
        self.bump();
        self.eat_if_not_exists()?;
        self.object_name()?;
        self.expect_all(&[Kw::ON, Kw::SCHEDULE])?;
        self.event_schedule()?;
        self.event_options()?;
        self.expect(Kw::DO)?;
        self.body()?;
        Ok(self.unsupported("events", "create_event"))
    }

    pub(super) fn alter_event(&mut self) -> R<Statement> {
        self.bump();
        let name = self.object_name()?;
        let from = self.tok.start;
        if self.at(Kw::ON) && self.peek().kw == Kw::SCHEDULE {
            self.bump();
            self.bump();
            self.event_schedule()?;
        }
        if self.at(Kw::ON) {
            self.event_completion()?;
        }
        if self.eat(Kw::RENAME) {
            self.expect(Kw::TO)?;
            self.object_name()?;
        }
        self.event_options()?;
        if self.eat(Kw::DO) {
            self.body()?;
        }
        if self.tok.start == from {
            return Err(self.syntax());
        }
        Ok(Statement::Absent(Absent::Program(ProgramKind::Event, name)))
    }

    fn event_schedule(&mut self) -> R<()> {
        if self.eat(Kw::AT) {
            self.expr()?;
            return Ok(());
        }
        self.expect(Kw::EVERY)?;
        self.expr()?;
        self.interval_unit()?;
        for kw in [Kw::STARTS, Kw::ENDS] {
            if self.eat(kw) {
                self.expr()?;
            }
        }
        Ok(())
    }

    fn event_completion(&mut self) -> R<()> {
        self.expect_all(&[Kw::ON, Kw::COMPLETION])?;
        self.eat(Kw::NOT);
        self.expect(Kw::PRESERVE)
    }

    fn event_options(&mut self) -> R<()> {
        if self.at(Kw::ON) {
            self.event_completion()?;
        }
        if let Some(Kw::DISABLE) = self.eat_any(&[Kw::ENABLE, Kw::DISABLE])
            && self.eat(Kw::ON)
        {
            self.expect_any(&[Kw::SLAVE, Kw::REPLICA])?;
        }
        if self.eat(Kw::COMMENT) {
            self.text()?;
        }
        Ok(())
    }
}

fn is_condition_item(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::CLASS_ORIGIN
            | Kw::SUBCLASS_ORIGIN
            | Kw::CONSTRAINT_CATALOG
            | Kw::CONSTRAINT_SCHEMA
            | Kw::CONSTRAINT_NAME
            | Kw::CATALOG_NAME
            | Kw::SCHEMA_NAME
            | Kw::TABLE_NAME
            | Kw::COLUMN_NAME
            | Kw::CURSOR_NAME
            | Kw::MESSAGE_TEXT
            | Kw::MYSQL_ERRNO
            | Kw::RETURNED_SQLSTATE
    )
}
