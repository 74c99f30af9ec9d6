//! CREATE and ALTER EVENT.

use super::*;
use types::codes::*;

impl Parser<'_> {
    pub(super) fn create_event(&mut self, definer: Option<Account>) -> R<Statement> {
        let from = self.bump().start;
        let if_not_exists = self.eat_if_not_exists()?;
        let name = self.object_name()?;
        self.expect_all(&[Kw::ON, Kw::SCHEDULE])?;
        let schedule = Some(self.event_schedule()?);
        let mut clauses = EventClauses { schedule, ..EventClauses::default() };
        if self.at(Kw::ON) {
            clauses.preserve = Some(self.event_completion()?);
        }
        self.event_options(&mut clauses)?;
        self.expect(Kw::DO)?;
        let (body, program) = self.event_body()?;
        let text = Str::source(from, self.prev_end);
        let create = CreateEvent { if_not_exists, definer, name, clauses, body, program, text };
        Ok(Statement::CreateEvent(Box::new(create)))
    }

    pub(super) fn alter_event(&mut self, definer: Option<Account>) -> R<Statement> {
        self.bump();
        let name = self.object_name()?;
        let from = self.tok.start;
        let mut clauses = EventClauses::default();
        if self.at(Kw::ON) && self.peek().kw == Kw::SCHEDULE {
            self.bump();
            self.bump();
            clauses.schedule = Some(self.event_schedule()?);
        }
        if self.at(Kw::ON) {
            clauses.preserve = Some(self.event_completion()?);
        }
        let rename = match self.eat(Kw::RENAME) {
            true => {
                self.expect(Kw::TO)?;
                Some(self.object_name()?)
            }
            false => None,
        };
        self.event_options(&mut clauses)?;
        let body = if self.eat(Kw::DO) { Some(self.event_body()?) } else { None };
        if self.tok.start == from {
            return Err(self.syntax());
        }
        Ok(Statement::AlterEvent(Box::new(AlterEvent { definer, name, rename, clauses, body })))
    }

    fn event_body(&mut self) -> R<(Str, Program)> {
        if self.program.is_some() {
            return Err(ParseError::at(err!(ER_EVENT_RECURSION_FORBIDDEN), self.prev_end as usize));
        }
        let first = self.tok;
        let builder = self.body(Box::new(Builder::new(ProgramKind::Event)))?;
        Ok((self.kept_body(first), builder.program))
    }

    fn event_schedule(&mut self) -> R<EventSchedule> {
        if self.eat(Kw::AT) {
            return Ok(EventSchedule::At(self.expr()?));
        }
        self.expect(Kw::EVERY)?;
        let amount = self.expr()?;
        let unit = self.interval_unit()?;
        let starts = if self.eat(Kw::STARTS) { Some(self.expr()?) } else { None };
        let ends = if self.eat(Kw::ENDS) { Some(self.expr()?) } else { None };
        Ok(EventSchedule::Every { amount, unit, starts, ends })
    }

    fn event_completion(&mut self) -> R<bool> {
        self.expect_all(&[Kw::ON, Kw::COMPLETION])?;
        let preserves = !self.eat(Kw::NOT);
        self.expect(Kw::PRESERVE)?;
        Ok(preserves)
    }

    fn event_options(&mut self, clauses: &mut EventClauses) -> R<()> {
        clauses.status = match self.eat_any(&[Kw::ENABLE, Kw::DISABLE]) {
            None => None,
            Some(Kw::ENABLE) => Some(EventStatus::Enabled),
            Some(_) if self.eat(Kw::ON) => {
                if self.expect_any(&[Kw::SLAVE, Kw::REPLICA])? == Kw::SLAVE {
                    self.notes.push(Note::DisableOnSlave);
                }
                Some(EventStatus::DisabledOnReplica)
            }
            Some(_) => Some(EventStatus::Disabled),
        };
        if self.eat(Kw::COMMENT) {
            clauses.comment = Some(self.text()?);
        }
        Ok(())
    }
}
