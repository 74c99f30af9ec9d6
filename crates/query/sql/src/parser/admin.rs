//! EXPLAIN, FLUSH, RESET, table maintenance, HANDLER.

use super::*;
use types::codes::*;

impl Parser<'_> {
    /// EXPLAIN, DESCRIBE, DESC: at the word.
    pub(super) fn explain(&mut self) -> R<Statement> {
        self.bump();
        let mut explain = Explain {
            format: ExplainFormat::Default,
            analyze: false,
            into: None,
            schema: None,
            target: ExplainTarget::Connection(0),
        };
        let mut options = false;
        if self.eat(Kw::ANALYZE) {
            (explain.analyze, options) = (true, true);
        }
        if self.at(Kw::FORMAT) && self.peek().tok == Tok::Eq {
            self.bump();
            self.bump();
            explain.format = self.explain_format()?;
            options = true;
        }
        if self.eat(Kw::INTO) {
            explain.into = Some(self.target_var_name()?);
            options = true;
            if self.at(Kw::FORMAT) && self.peek().tok == Tok::Eq {
                self.bump();
                self.bump();
                // MySQL takes it for the format of what follows, and INTO wants its own before.
                self.explain_format()?;
            }
        }
        if self.eat(Kw::FOR) {
            if self.eat_any(&[Kw::SCHEMA, Kw::DATABASE]).is_some() {
                explain.schema = Some(self.name()?);
            } else {
                self.expect(Kw::CONNECTION)?;
                explain.target = ExplainTarget::Connection(self.big_number()?);
                return Ok(Statement::Explain(Box::new(explain)));
            }
            options = true;
        }
        let explainable = matches!(
            self.tok.kw,
            Kw::SELECT | Kw::TABLE | Kw::VALUES | Kw::WITH | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE
        );
        if explainable || self.is(Tok::LParen) {
            explain.target = match self.statement()? {
                Statement::Query(query) => ExplainTarget::Query(query),
                other => ExplainTarget::Statement(Box::new(other)),
            };
            return Ok(Statement::Explain(Box::new(explain)));
        }
        if options {
            return Err(self.syntax());
        }
        let table = self.object_name()?;
        let column = if self.is(Tok::Str) || self.at_name() { Some(self.name_or_text()?) } else { None };
        Ok(Statement::DescribeTable { table, column })
    }

    fn explain_format(&mut self) -> R<ExplainFormat> {
        let at = self.tok.start as usize;
        let name = self.name_or_text()?;
        match self.raw(name).to_ascii_uppercase().as_slice() {
            b"JSON" => Ok(ExplainFormat::Json),
            b"TREE" => Ok(ExplainFormat::Tree),
            b"TRADITIONAL" => Ok(ExplainFormat::Traditional),
            _ => {
                let shown = String::from_utf8_lossy(self.raw(name)).into_owned();
                Err(ParseError::at(err!(ER_UNKNOWN_EXPLAIN_FORMAT, shown), at))
            }
        }
    }

    pub(super) fn flush(&mut self) -> R<Statement> {
        let local = self.no_write_to_binlog();
        if self.eat_any(&[Kw::TABLES, Kw::TABLE]).is_some() {
            let tables = if self.at_name() { self.object_names()? } else { Vec::new() };
            let mode = if self.eat(Kw::WITH) {
                self.expect_all(&[Kw::READ, Kw::LOCK])?;
                FlushTables::WithReadLock
            } else if !tables.is_empty() && self.eat(Kw::FOR) {
                self.expect(Kw::EXPORT)?;
                FlushTables::ForExport
            } else {
                FlushTables::Close
            };
            return Ok(Statement::Flush(Flush { local, what: vec![FlushWhat::Tables { tables, mode }] }));
        }
        let what = self.comma_list(|p| {
            let start = p.tok.start;
            let kw = p.bump().kw;
            if matches!(kw, Kw::BINARY | Kw::ENGINE | Kw::ERROR | Kw::GENERAL | Kw::SLOW | Kw::RELAY) {
                p.expect(Kw::LOGS)?;
            }
            Ok(match kw {
                Kw::PRIVILEGES => FlushWhat::Privileges,
                Kw::LOGS => FlushWhat::Logs,
                Kw::BINARY => FlushWhat::BinaryLogs,
                Kw::ENGINE => FlushWhat::EngineLogs,
                Kw::ERROR => FlushWhat::ErrorLogs,
                Kw::GENERAL => FlushWhat::GeneralLogs,
                Kw::SLOW => FlushWhat::SlowLogs,
                Kw::RELAY => FlushWhat::RelayLogs(p.for_channel()?),
                Kw::STATUS => FlushWhat::Status,
                Kw::USER_RESOURCES => FlushWhat::UserResources,
                Kw::OPTIMIZER_COSTS => FlushWhat::OptimizerCosts,
                _ => return Err(p.syntax_at(start)),
            })
        })?;
        Ok(Statement::Flush(Flush { local, what }))
    }

    /// FOR CHANNEL 'name', or nothing.
    pub(super) fn for_channel(&mut self) -> R<Option<Str>> {
        if self.eat2(Kw::FOR, Kw::CHANNEL) { self.text().map(Some) } else { Ok(None) }
    }

    pub(super) fn reset(&mut self) -> R<Statement> {
        if self.eat(Kw::PERSIST) {
            let if_exists = self.eat_if_exists()?;
            let name = if self.at_name() { Some(self.object_name()?) } else { None };
            if if_exists && name.is_none() {
                return Err(self.syntax());
            }
            return Ok(Statement::Reset(vec![Reset::Persist { if_exists, name }]));
        }
        Ok(Statement::Reset(self.comma_list(|p| {
            Ok(match p.expect_any(&[Kw::BINARY, Kw::MASTER, Kw::REPLICA, Kw::SLAVE])? {
                kw @ (Kw::BINARY | Kw::MASTER) => {
                    if kw == Kw::BINARY {
                        p.expect_all(&[Kw::LOGS, Kw::AND, Kw::GTIDS])?;
                    }
                    Reset::BinaryLogs { to: if p.eat(Kw::TO) { Some(p.integer()?) } else { None } }
                }
                _ => {
                    let all = p.eat(Kw::ALL);
                    Reset::Replica { all, channel: p.for_channel()? }
                }
            })
        })?))
    }

    /// ANALYZE, CHECK, OPTIMIZE, REPAIR, CHECKSUM TABLE, behind the verb.
    pub(super) fn maintenance(&mut self, verb: Kw) -> R<Statement> {
        let local = matches!(verb, Kw::ANALYZE | Kw::OPTIMIZE | Kw::REPAIR) && self.no_write_to_binlog();
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        let tables = self.object_names()?;
        let allowed: &[Kw] = match verb {
            Kw::CHECK => &[Kw::FOR, Kw::QUICK, Kw::FAST, Kw::MEDIUM, Kw::EXTENDED, Kw::CHANGED],
            Kw::REPAIR => &[Kw::QUICK, Kw::EXTENDED, Kw::USE_FRM],
            Kw::CHECKSUM => &[Kw::QUICK, Kw::EXTENDED],
            _ => &[],
        };
        let mut options = Vec::new();
        while let Some(kw) = self.eat_any(allowed) {
            options.push(match kw {
                Kw::FOR => {
                    self.expect(Kw::UPGRADE)?;
                    MaintenanceOption::ForUpgrade
                }
                Kw::QUICK => MaintenanceOption::Quick,
                Kw::FAST => MaintenanceOption::Fast,
                Kw::MEDIUM => MaintenanceOption::Medium,
                Kw::EXTENDED => MaintenanceOption::Extended,
                Kw::CHANGED => MaintenanceOption::Changed,
                _ => MaintenanceOption::UseFrm,
            });
            if verb == Kw::CHECKSUM {
                // One of the two.
                break;
            }
        }
        let histogram = if verb == Kw::ANALYZE { self.histogram()? } else { None };
        let verb = match verb {
            Kw::ANALYZE => MaintenanceVerb::Analyze,
            Kw::CHECK => MaintenanceVerb::Check,
            Kw::OPTIMIZE => MaintenanceVerb::Optimize,
            Kw::REPAIR => MaintenanceVerb::Repair,
            _ => MaintenanceVerb::Checksum,
        };
        Ok(Statement::TableMaintenance(Box::new(TableMaintenance { verb, local, tables, options, histogram })))
    }

    fn histogram(&mut self) -> R<Option<Histogram>> {
        let Some(kw) = self.eat_any(&[Kw::UPDATE, Kw::DROP]) else { return Ok(None) };
        self.expect_all(&[Kw::HISTOGRAM, Kw::ON])?;
        let columns = self.names()?;
        let mut histogram = Histogram { drop: kw == Kw::DROP, columns, buckets: None, data: None, auto_update: None };
        if kw == Kw::UPDATE {
            if self.eat(Kw::USING) {
                self.expect(Kw::DATA)?;
                histogram.data = Some(self.text()?);
                return Ok(Some(histogram));
            }
            if self.eat(Kw::WITH) {
                histogram.buckets = Some(self.integer()?);
                self.expect(Kw::BUCKETS)?;
            }
            if let Some(kw) = self.eat_any(&[Kw::AUTO, Kw::MANUAL]) {
                self.expect(Kw::UPDATE)?;
                histogram.auto_update = Some(kw == Kw::AUTO);
            }
        }
        Ok(Some(histogram))
    }

    /// Behind HANDLER.
    pub(super) fn handler(&mut self) -> R<Statement> {
        let table = self.object_name()?;
        let at = self.tok.start;
        let kw = self.expect_any(&[Kw::OPEN, Kw::CLOSE, Kw::READ])?;
        if kw == Kw::OPEN {
            let alias = self.table_alias()?.unwrap_or(table.name);
            return Ok(Statement::Handler(HandlerStatement::Open { table, alias }));
        }
        if table.schema.is_some() {
            return Err(self.syntax_at(at));
        }
        if kw == Kw::CLOSE {
            return Ok(Statement::Handler(HandlerStatement::Close(table.name)));
        }
        let scan = self.eat_any(&[Kw::FIRST, Kw::NEXT]);
        let (index, step) = match scan {
            Some(Kw::FIRST) => (None, HandlerStep::First),
            Some(_) => (None, HandlerStep::Next),
            None => (Some(self.name()?), self.handler_step()?),
        };
        let queries = self.queries.len();
        let at = self.tok.start;
        let filter = if self.eat(Kw::WHERE) { Some(self.expr()?) } else { None };
        if self.queries.len() > queries {
            return Err(self.syntax_at(at));
        }
        let limit = self.limit()?;
        let read = HandlerRead { handler: table.name, index, step, filter, limit };
        Ok(Statement::Handler(HandlerStatement::Read(read)))
    }

    /// Behind the name of an index.
    fn handler_step(&mut self) -> R<HandlerStep> {
        match self.eat_any(&[Kw::FIRST, Kw::NEXT, Kw::PREV, Kw::LAST]) {
            Some(Kw::FIRST) => return Ok(HandlerStep::First),
            Some(Kw::NEXT) => return Ok(HandlerStep::Next),
            Some(Kw::PREV) => return Ok(HandlerStep::Prev),
            Some(_) => return Ok(HandlerStep::Last),
            None => {}
        }
        let comparison = match self.tok.tok {
            Tok::Eq => KeyComparison::Equal,
            Tok::Ge => KeyComparison::AtLeast,
            Tok::Gt => KeyComparison::Above,
            Tok::Le => KeyComparison::AtMost,
            Tok::Lt => KeyComparison::Below,
            _ => return Err(self.syntax()),
        };
        self.bump();
        self.expect_tok(Tok::LParen)?;
        Ok(HandlerStep::Key(comparison, self.row_values()?))
    }
}
