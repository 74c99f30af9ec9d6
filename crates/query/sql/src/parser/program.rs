//! Heads of stored programs: procedures, functions and triggers.

use super::*;
use std::sync::Arc;
use types::codes::*;

impl Parser<'_> {
    /// PROCEDURE, FUNCTION or AGGREGATE FUNCTION, behind CREATE [DEFINER = x].
    pub(super) fn create_routine(&mut self, definer: Option<Account>) -> R<Statement> {
        let aggregate = self.eat(Kw::AGGREGATE);
        let function = self.bump().kw == Kw::FUNCTION;
        if aggregate && !function {
            return Err(self.syntax_at(self.prev_end));
        }
        let if_not_exists = self.eat_if_not_exists()?;
        let name = self.object_name()?;
        if !function || self.is(Tok::LParen) {
            self.refuse_within(if function { "FUNCTION" } else { "PROCEDURE" })?;
        }
        if function && self.eat(Kw::RETURNS) {
            self.expect_any(&[Kw::STRING, Kw::INTEGER, Kw::INT, Kw::REAL, Kw::DECIMAL])?;
            self.expect(Kw::SONAME)?;
            self.text()?;
            return Ok(self.unsupported("loadable functions", "create_udf"));
        }
        if aggregate {
            return Err(self.syntax());
        }
        let kind = if function { ProgramKind::Function } else { ProgramKind::Procedure };
        let mut builder = Box::new(Builder::new(kind));
        let parameters = self.parameters(function, &mut builder)?;
        let returns = match function {
            true => {
                self.expect(Kw::RETURNS)?;
                let at = self.tok.start as usize;
                let returns = self.program_type()?;
                if returns.binary && returns.charset.is_none() {
                    return Err(ParseError::at(err!(ER_NOT_SUPPORTED_YET, "return value collation"), at));
                }
                Some(returns)
            }
            false => None,
        };
        let characteristics = self.routine_characteristics(false)?;
        if self.eat(Kw::AS) {
            self.text()?;
            return Ok(self.unsupported("stored programs in other languages", "create_procedure"));
        }
        let first = self.tok;
        let builder = self.body(builder)?;
        builder.check_allowed()?;
        let body = self.kept_body(first);
        let program = Program { forbidden: builder.forbidden, ..builder.program };
        Ok(Statement::CreateRoutine(Box::new(CreateRoutine {
            function,
            if_not_exists,
            definer,
            name,
            parameters,
            returns,
            characteristics,
            body,
            program,
        })))
    }

    /// Error 1303, once a definition in a body is known to be one, whatever follows.
    fn refuse_within(&self, what: &str) -> R<()> {
        match self.program {
            Some(_) => {
                let message = format!("Can't create a {what} from within another stored routine");
                Err(ParseError::new(ER_SP_NO_RECURSIVE_CREATE, message, self.prev_end as usize))
            }
            None => Ok(()),
        }
    }

    /// `([IN | OUT | INOUT] name type, ...)`, and the text between the parentheses. Error 1330.
    fn parameters(&mut self, function: bool, builder: &mut Builder) -> R<Str> {
        let start = self.tok.end;
        self.expect_tok(Tok::LParen)?;
        if !self.is(Tok::RParen) {
            self.comma_list(|p| {
                let mode = match function {
                    true => None,
                    false => p.eat_any(&[Kw::IN, Kw::OUT, Kw::INOUT]),
                };
                let mode = match mode {
                    Some(Kw::OUT) => ParameterMode::Out,
                    Some(Kw::INOUT) => ParameterMode::InOut,
                    _ => ParameterMode::In,
                };
                let at = p.tok.start as usize;
                let name = p.name()?;
                let name = p.shown(name);
                let data_type = p.program_type()?;
                builder.program.parameter_count += 1;
                match builder.declare_variable(&name, data_type, mode) {
                    Some(_) => Ok(()),
                    None => Err(ParseError::at(err!(ER_SP_DUP_PARAM, name), at)),
                }
            })?;
        }
        let end = self.tok.start;
        self.expect_tok(Tok::RParen)?;
        Ok(self.kept_text(Str::source(start, end)))
    }

    /// The type of a parameter or variable. Error 1235 for a collation without its character set.
    pub(super) fn program_type(&mut self) -> R<CreateColumnType> {
        let mut data_type = self.column_type()?;
        let at = self.tok.start as usize;
        if self.eat(Kw::COLLATE) {
            data_type.collation = Some(self.collation_name()?);
            if data_type.charset.is_none() {
                let what = "COLLATE with no CHARACTER SET in SP parameters, RETURNS, DECLARE";
                return Err(ParseError::at(err!(ER_NOT_SUPPORTED_YET, what), at));
            }
        }
        Ok(data_type)
    }

    pub(super) fn routine_characteristics(&mut self, alter: bool) -> R<Characteristics> {
        let mut said = Characteristics::default();
        loop {
            match self.tok.kw {
                Kw::COMMENT => {
                    self.bump();
                    said.comment = Some(self.text()?);
                }
                Kw::LANGUAGE => {
                    self.bump();
                    said.language = if self.eat(Kw::SQL) { None } else { Some(self.name()?) };
                }
                Kw::DETERMINISTIC if !alter => {
                    self.bump();
                    said.deterministic = Some(true);
                }
                Kw::NOT if !alter => {
                    self.bump();
                    self.expect(Kw::DETERMINISTIC)?;
                    said.deterministic = Some(false);
                }
                Kw::NO | Kw::CONTAINS => {
                    let none = self.bump().kw == Kw::NO;
                    self.expect(Kw::SQL)?;
                    said.access = Some(if none { DataAccess::NoSql } else { DataAccess::ContainsSql });
                }
                Kw::READS | Kw::MODIFIES => {
                    let reads = self.bump().kw == Kw::READS;
                    self.expect_all(&[Kw::SQL, Kw::DATA])?;
                    said.access = Some(if reads { DataAccess::ReadsSqlData } else { DataAccess::ModifiesSqlData });
                }
                Kw::SQL => {
                    self.bump();
                    self.expect(Kw::SECURITY)?;
                    said.invoker = Some(self.expect_any(&[Kw::DEFINER, Kw::INVOKER])? == Kw::INVOKER);
                }
                _ => return Ok(said),
            }
        }
    }

    /// The body of a program: one statement.
    pub(super) fn body(&mut self, builder: Box<Builder>) -> R<Box<Builder>> {
        let outer = self.program.replace(builder);
        let takes_params = std::mem::replace(&mut self.takes_params, false);
        let result = self.program_statement();
        self.takes_params = takes_params;
        let mut builder = std::mem::replace(&mut self.program, outer).expect("put there above");
        result?;
        let source: Arc<[u8]> = self.src[..self.prev_end as usize].into();
        for part in &mut builder.program.parts {
            Arc::get_mut(part).expect("nobody else has it yet").source = Arc::clone(&source);
        }
        Ok(builder)
    }

    pub(super) fn create_trigger(&mut self, definer: Option<Account>) -> R<Statement> {
        self.bump();
        let if_not_exists = self.eat_if_not_exists()?;
        let name = self.object_name()?;
        let before = self.expect_any(&[Kw::BEFORE, Kw::AFTER])? == Kw::BEFORE;
        let event = match self.expect_any(&[Kw::INSERT, Kw::UPDATE, Kw::DELETE])? {
            Kw::INSERT => TriggerEvent::Insert,
            Kw::UPDATE => TriggerEvent::Update,
            _ => TriggerEvent::Delete,
        };
        self.expect(Kw::ON)?;
        let table = self.object_name()?;
        self.expect_all(&[Kw::FOR, Kw::EACH, Kw::ROW])?;
        let place = match self.eat_any(&[Kw::FOLLOWS, Kw::PRECEDES]) {
            Some(Kw::FOLLOWS) => Some((TriggerPlace::Follows, self.name_or_text()?)),
            Some(_) => Some((TriggerPlace::Precedes, self.name_or_text()?)),
            None => None,
        };
        self.refuse_within("TRIGGER")?;
        let mut builder = Box::new(Builder::new(ProgramKind::Trigger));
        builder.fires = Some((before, event));
        let first = self.tok;
        let builder = self.body(builder)?;
        builder.check_allowed()?;
        let body = self.kept_body(first);
        let program = builder.program;
        Ok(Statement::CreateTrigger(Box::new(CreateTrigger {
            if_not_exists,
            definer,
            name,
            before,
            event,
            table,
            place,
            body,
            program,
        })))
    }
}
