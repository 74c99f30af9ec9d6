//! Which statement it is: the first words, and statements too small for a file of their own.

use super::ddl::ViewHeader;
use super::*;
use types::codes::*;

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> R<Statement> {
        let kw = self.tok.kw;
        match kw {
            Kw::SELECT | Kw::TABLE | Kw::VALUES => return self.query().map(Statement::Query),
            Kw::INSERT | Kw::REPLACE => return self.insert(),
            Kw::UPDATE => return self.update(None),
            Kw::DELETE => return self.delete(None),
            Kw::WITH => return self.with_statement(),
            Kw::Plain if self.is(Tok::LParen) => return self.query().map(Statement::Query),
            Kw::Plain => return Err(self.syntax()),
            _ => {}
        }
        let start = self.tok.start;
        match kw {
            Kw::BEGIN | Kw::COMMIT | Kw::ROLLBACK | Kw::SAVEPOINT | Kw::RELEASE => return self.transaction(),
            Kw::SET => return self.set(),
            Kw::SHOW => return self.show(),
            Kw::EXPLAIN | Kw::DESCRIBE | Kw::DESC => return self.explain(),
            _ => {}
        }
        self.bump();
        match kw {
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop(),
            Kw::RENAME => {
                if self.eat(Kw::USER) {
                    return self.rename_user();
                }
                self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
                self.rename_table()
            }
            Kw::TRUNCATE => {
                self.eat(Kw::TABLE);
                Ok(Statement::TruncateTable(self.object_name()?))
            }
            Kw::USE => Ok(Statement::Use(self.name()?)),
            Kw::DO => self.do_expressions(),
            Kw::CALL => {
                let name = self.object_name()?;
                let args = if self.eat_tok(Tok::LParen) { self.args_to_paren()? } else { ExprList::default() };
                Ok(Statement::Call { name, args })
            }
            Kw::START => self.start(),
            Kw::LOCK => self.lock(),
            Kw::UNLOCK => {
                if self.eat(Kw::INSTANCE) {
                    return Ok(Statement::UnlockInstance);
                }
                self.expect_any(&[Kw::TABLES, Kw::TABLE])?;
                Ok(Statement::UnlockTables)
            }
            Kw::XA => self.xa(),
            Kw::PREPARE => self.prepare(),
            Kw::EXECUTE => self.execute(),
            Kw::DEALLOCATE => {
                self.expect(Kw::PREPARE)?;
                Ok(Statement::Deallocate(self.name()?))
            }
            Kw::KILL => {
                let query = self.eat(Kw::QUERY);
                if !query {
                    self.eat(Kw::CONNECTION);
                }
                Ok(Statement::Kill { query, id: self.expr()? })
            }
            Kw::FLUSH => self.flush(),
            Kw::RESET => self.reset(),
            Kw::ANALYZE | Kw::CHECK | Kw::OPTIMIZE | Kw::REPAIR | Kw::CHECKSUM => self.maintenance(kw),
            Kw::SHUTDOWN => Ok(Statement::Shutdown),
            Kw::RESTART => Ok(Statement::Restart),
            Kw::HELP => Ok(Statement::Help(self.name_or_text()?)),
            Kw::GRANT => self.grant(),
            Kw::REVOKE => self.revoke(),
            Kw::LOAD => self.load(),
            Kw::HANDLER => self.handler(),
            Kw::SIGNAL | Kw::RESIGNAL => self.signal(kw == Kw::RESIGNAL),
            Kw::GET => self.get_diagnostics(),
            Kw::PURGE
            | Kw::CHANGE
            | Kw::STOP
            | Kw::BINLOG
            | Kw::CACHE
            | Kw::INSTALL
            | Kw::UNINSTALL
            | Kw::CLONE
            | Kw::IMPORT => self.replication(kw),
            _ => Err(self.syntax_at(start)),
        }
    }

    fn do_expressions(&mut self) -> R<Statement> {
        let mark = self.scratch.len();
        loop {
            let (before, start) = (self.exprs.len(), self.tok.start);
            let mut item = self.expr()?;
            let is_of_rows = |e: &Expr| {
                matches!(e, Expr::Aggregate { .. } | Expr::CountStar | Expr::GroupConcat(_) | Expr::Window(_))
            };
            if self.exprs[before..].iter().any(is_of_rows) {
                // An aggregate is that of the one row that there is.
                let select =
                    self.bare_select(vec![SelectItem::Expr { expr: item, alias: None, text: self.text_since(start) }]);
                let query = self.new_query(QueryBody::Select(Box::new(select)));
                item = self.add(Expr::Subquery(query));
                self.tallest += 1;
                self.merged += 1;
            }
            self.scratch.push(item);
            self.select_alias()?;
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        Ok(Statement::Do(self.list_from(mark)))
    }

    fn prepare(&mut self) -> R<Statement> {
        let name = self.name()?;
        self.expect(Kw::FROM)?;
        let from = if self.is(Tok::UserVar) {
            PrepareSource::UserVar(self.user_var_name()?)
        } else {
            PrepareSource::Text(self.text()?)
        };
        // Conditions are those of the statement inside.
        self.notes.clear();
        Ok(Statement::Prepare { name, from })
    }

    fn execute(&mut self) -> R<Statement> {
        let name = self.name()?;
        let using = if self.eat(Kw::USING) { self.comma_list(Self::user_var_name)? } else { Vec::new() };
        self.notes.clear();
        Ok(Statement::Execute { name, using })
    }

    fn with_statement(&mut self) -> R<Statement> {
        let with = self.with()?;
        match self.tok.kw {
            Kw::UPDATE => self.update(Some(with)),
            Kw::DELETE => self.delete(Some(with)),
            _ => self.query_with(with).map(Statement::Query),
        }
    }

    fn create(&mut self) -> R<Statement> {
        match self.tok.kw {
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                return self.create_database();
            }
            Kw::TABLE => {
                self.bump();
                return self.create_table(false);
            }
            Kw::TEMPORARY => {
                self.bump();
                self.expect(Kw::TABLE)?;
                return self.create_table(true);
            }
            Kw::INDEX => {
                self.bump();
                return self.create_index(IndexKind::Plain);
            }
            Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL => {
                let kw = self.bump().kw;
                if kw == Kw::SPATIAL && self.at(Kw::REFERENCE) {
                    return self.create_srs();
                }
                self.expect(Kw::INDEX)?;
                return self.create_index(match kw {
                    Kw::UNIQUE => IndexKind::Unique,
                    Kw::FULLTEXT => IndexKind::Fulltext,
                    _ => IndexKind::Spatial,
                });
            }
            Kw::USER => {
                self.bump();
                return self.create_user();
            }
            Kw::ROLE => {
                self.bump();
                let if_not_exists = self.eat_if_not_exists()?;
                let roles = self.comma_list(Self::role)?;
                return Ok(Statement::CreateRole { if_not_exists, roles });
            }
            Kw::TABLESPACE | Kw::UNDO | Kw::LOGFILE | Kw::SERVER | Kw::RESOURCE => return self.create_storage(),
            _ => {}
        }
        let mut header = ViewHeader {
            alter: false,
            or_replace: false,
            algorithm: ViewAlgorithm::Undefined,
            definer: None,
            invoker: None,
        };
        if self.eat(Kw::OR) {
            self.expect(Kw::REPLACE)?;
            header.or_replace = true;
            if self.eat(Kw::SPATIAL) {
                return self.create_srs();
            }
        }
        let plain = !header.or_replace;
        let words = self.view_words(&mut header)?;
        if self.eat(Kw::VIEW) {
            return self.create_view(header);
        }
        if !plain || words {
            return Err(self.syntax());
        }
        match self.tok.kw {
            Kw::PROCEDURE | Kw::FUNCTION | Kw::AGGREGATE => self.create_routine(header.definer),
            Kw::TRIGGER => self.create_trigger(header.definer),
            Kw::EVENT => self.create_event(header.definer),
            _ => Err(self.syntax()),
        }
    }

    /// ALGORITHM, DEFINER, SQL SECURITY in front of VIEW; DEFINER alone also stands in front of programs. True when words
    /// stood there that only a view may have.
    fn view_words(&mut self, header: &mut ViewHeader) -> R<bool> {
        let mut view_only = false;
        if self.eat(Kw::ALGORITHM) {
            self.expect_tok(Tok::Eq)?;
            header.algorithm = match self.expect_any(&[Kw::UNDEFINED, Kw::MERGE, Kw::TEMPTABLE])? {
                Kw::MERGE => ViewAlgorithm::Merge,
                Kw::TEMPTABLE => ViewAlgorithm::TempTable,
                _ => ViewAlgorithm::Undefined,
            };
            view_only = true;
        }
        if self.eat(Kw::DEFINER) {
            self.expect_tok(Tok::Eq)?;
            header.definer = Some(self.account()?);
        }
        if self.eat(Kw::SQL) {
            self.expect(Kw::SECURITY)?;
            header.invoker = Some(self.expect_any(&[Kw::DEFINER, Kw::INVOKER])? == Kw::INVOKER);
            view_only = true;
        }
        Ok(view_only)
    }

    fn alter(&mut self) -> R<Statement> {
        match self.tok.kw {
            Kw::TABLE => {
                self.bump();
                return self.alter_table();
            }
            Kw::DATABASE | Kw::SCHEMA => {
                self.bump();
                return self.alter_database();
            }
            Kw::USER => {
                self.bump();
                return self.alter_user();
            }
            Kw::PROCEDURE | Kw::FUNCTION => {
                let function = self.bump().kw == Kw::FUNCTION;
                let name = self.object_name()?;
                let characteristics = self.routine_characteristics(true)?;
                return Ok(Statement::AlterRoutine(Box::new(AlterRoutine { function, name, characteristics })));
            }
            Kw::TABLESPACE | Kw::UNDO | Kw::LOGFILE | Kw::SERVER | Kw::RESOURCE | Kw::INSTANCE => {
                return self.alter_storage();
            }
            _ => {}
        }
        let mut header = ViewHeader {
            alter: true,
            or_replace: false,
            algorithm: ViewAlgorithm::Undefined,
            definer: None,
            invoker: None,
        };
        let words = self.view_words(&mut header)?;
        if self.eat(Kw::VIEW) {
            self.refuse_in_program("ALTER VIEW")?;
            return self.create_view(header);
        }
        if !words && self.at(Kw::EVENT) {
            return self.alter_event(header.definer);
        }
        Err(self.syntax())
    }

    fn drop(&mut self) -> R<Statement> {
        let kw = self.tok.kw;
        self.bump();
        match kw {
            Kw::DATABASE | Kw::SCHEMA => {
                let if_exists = self.eat_if_exists()?;
                Ok(Statement::DropDatabase { if_exists, name: self.name()? })
            }
            Kw::TABLE | Kw::TABLES | Kw::TEMPORARY => {
                let temporary = kw == Kw::TEMPORARY;
                if temporary {
                    self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
                }
                let if_exists = self.eat_if_exists()?;
                let names = self.object_names()?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Ok(Statement::DropTable { temporary, if_exists, names })
            }
            Kw::VIEW => {
                let if_exists = self.eat_if_exists()?;
                let names = self.object_names()?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                Ok(Statement::DropView { if_exists, names })
            }
            Kw::INDEX => self.drop_index(),
            Kw::USER => {
                let if_exists = self.eat_if_exists()?;
                Ok(Statement::DropUser { if_exists, users: self.comma_list(Self::account)? })
            }
            Kw::ROLE => {
                let if_exists = self.eat_if_exists()?;
                Ok(Statement::DropRole { if_exists, roles: self.comma_list(Self::role)? })
            }
            Kw::PREPARE => Ok(Statement::Deallocate(self.name()?)),
            Kw::PROCEDURE | Kw::FUNCTION | Kw::TRIGGER | Kw::EVENT => {
                let kind = match kw {
                    Kw::PROCEDURE => ProgramKind::Procedure,
                    Kw::FUNCTION => ProgramKind::Function,
                    Kw::TRIGGER => ProgramKind::Trigger,
                    _ => ProgramKind::Event,
                };
                let if_exists = self.eat_if_exists()?;
                Ok(Statement::DropProgram { kind, if_exists, name: self.object_name()? })
            }
            Kw::SERVER => {
                let verb = ServerVerb::Drop { if_exists: self.eat_if_exists()? };
                let name = self.name_or_text()?;
                Ok(Statement::Server(ServerStatement { verb, name, options: ServerOptions::default() }))
            }
            Kw::TABLESPACE | Kw::UNDO | Kw::LOGFILE => {
                match kw {
                    Kw::UNDO => self.expect(Kw::TABLESPACE)?,
                    Kw::LOGFILE => self.expect(Kw::GROUP)?,
                    _ => {}
                }
                let name = self.name()?;
                self.tablespace_options()?;
                Ok(Statement::Absent(Absent::Tablespace(name)))
            }
            Kw::RESOURCE => {
                self.expect(Kw::GROUP)?;
                let name = self.name()?;
                self.eat(Kw::FORCE);
                Ok(Statement::Absent(Absent::ResourceGroup { name, sets: false }))
            }
            Kw::SPATIAL => {
                self.expect_all(&[Kw::REFERENCE, Kw::SYSTEM])?;
                self.eat_if_exists()?;
                self.integer()?;
                Ok(self.unsupported("spatial reference systems", "drop_spatial_reference_system"))
            }
            _ => Err(self.syntax_at(self.prev_end.saturating_sub(kw.spelling().len() as u32))),
        }
    }

    fn transaction(&mut self) -> R<Statement> {
        match self.bump().kw {
            Kw::BEGIN => {
                self.eat(Kw::WORK);
                Ok(Statement::Begin { consistent_snapshot: false, access: None })
            }
            Kw::COMMIT => {
                self.eat(Kw::WORK);
                Ok(Statement::Commit(self.completion()?))
            }
            Kw::SAVEPOINT => Ok(Statement::Savepoint(self.name()?)),
            Kw::RELEASE => {
                self.expect(Kw::SAVEPOINT)?;
                Ok(Statement::ReleaseSavepoint(self.name()?))
            }
            _ => {
                self.eat(Kw::WORK);
                if self.eat(Kw::TO) {
                    self.eat(Kw::SAVEPOINT);
                    return Ok(Statement::RollbackTo(self.name()?));
                }
                Ok(Statement::Rollback(self.completion()?))
            }
        }
    }

    fn completion(&mut self) -> R<Completion> {
        let mut completion = Completion::default();
        if self.eat(Kw::AND) {
            completion.chain = Some(!self.eat(Kw::NO));
            self.expect(Kw::CHAIN)?;
        }
        if self.eat2(Kw::NO, Kw::RELEASE) {
            completion.release = Some(false);
        } else if self.at(Kw::RELEASE) {
            if completion.chain == Some(true) {
                return Err(self.syntax());
            }
            self.bump();
            completion.release = Some(true);
        }
        Ok(completion)
    }

    fn start(&mut self) -> R<Statement> {
        if !self.eat(Kw::TRANSACTION) {
            return self.replication(Kw::START);
        }
        let (mut consistent_snapshot, mut access) = (false, None);
        if matches!(self.tok.kw, Kw::WITH | Kw::READ) {
            loop {
                if self.eat(Kw::WITH) {
                    self.expect_all(&[Kw::CONSISTENT, Kw::SNAPSHOT])?;
                    consistent_snapshot = true;
                } else {
                    self.expect(Kw::READ)?;
                    let mode = match self.expect_any(&[Kw::ONLY, Kw::WRITE])? {
                        Kw::ONLY => AccessMode::ReadOnly,
                        _ => AccessMode::ReadWrite,
                    };
                    if access.replace(mode).is_some_and(|other| other != mode) {
                        return Err(self.syntax());
                    }
                }
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::Begin { consistent_snapshot, access })
    }

    /// Error 1314, in a stored program, whatever follows.
    fn refuse_in_program(&self, what: &str) -> R<()> {
        match self.program {
            Some(_) => Err(ParseError::at(err!(ER_SP_BADSTATEMENT, what), self.prev_end as usize)),
            None => Ok(()),
        }
    }

    fn lock(&mut self) -> R<Statement> {
        if self.eat(Kw::INSTANCE) {
            self.expect_all(&[Kw::FOR, Kw::BACKUP])?;
            return Ok(Statement::LockInstance);
        }
        self.expect_any(&[Kw::TABLES, Kw::TABLE])?;
        self.refuse_in_program("LOCK")?;
        Ok(Statement::LockTables(self.comma_list(|p| {
            let name = p.object_name()?;
            let alias = p.table_alias_before_lock()?;
            let mode = match p.expect_any(&[Kw::READ, Kw::WRITE, Kw::LOW_PRIORITY])? {
                Kw::READ if p.eat(Kw::LOCAL) => TableLockMode::ReadLocal,
                Kw::READ => TableLockMode::Read,
                Kw::WRITE => TableLockMode::Write,
                _ => {
                    p.expect(Kw::WRITE)?;
                    TableLockMode::LowPriorityWrite
                }
            };
            Ok(LockTable { name, alias, mode })
        })?))
    }

    fn table_alias_before_lock(&mut self) -> R<Option<Name>> {
        self.table_alias()
    }

    fn xa(&mut self) -> R<Statement> {
        let xa = match self.expect_any(&[
            Kw::START,
            Kw::BEGIN,
            Kw::END,
            Kw::PREPARE,
            Kw::COMMIT,
            Kw::ROLLBACK,
            Kw::RECOVER,
        ])? {
            Kw::START | Kw::BEGIN => {
                let xid = self.xid()?;
                let word = self.eat_any(&[Kw::JOIN, Kw::RESUME]);
                Xa::Start { xid, join: word == Some(Kw::JOIN), resume: word == Some(Kw::RESUME) }
            }
            Kw::END => {
                let xid = self.xid()?;
                let suspend = self.eat(Kw::SUSPEND);
                let for_migrate = suspend && self.eat2(Kw::FOR, Kw::MIGRATE);
                Xa::End { xid, suspend, for_migrate }
            }
            Kw::PREPARE => Xa::Prepare(self.xid()?),
            Kw::COMMIT => {
                let xid = self.xid()?;
                Xa::Commit { xid, one_phase: self.eat2(Kw::ONE, Kw::PHASE) }
            }
            Kw::ROLLBACK => Xa::Rollback(self.xid()?),
            _ => Xa::Recover { convert_xid: self.eat2(Kw::CONVERT, Kw::XID) },
        };
        Ok(Statement::Xa(xa))
    }

    fn xid(&mut self) -> R<Xid> {
        let gtrid = self.part_of_xid()?;
        let mut xid = Xid { gtrid, bqual: None, format_id: 1 };
        if self.eat_tok(Tok::Comma) {
            xid.bqual = Some(self.part_of_xid()?);
            if self.eat_tok(Tok::Comma) {
                xid.format_id = self.integer()?;
            }
        }
        Ok(xid)
    }

    fn part_of_xid(&mut self) -> R<Str> {
        /// XA's own bound.
        const BYTES_MAX: usize = 64;
        let part = self.text_or_bytes()?;
        if part.len() > BYTES_MAX { Err(self.syntax()) } else { Ok(part) }
    }

    fn load(&mut self) -> R<Statement> {
        if !self.at(Kw::INDEX) {
            return self.load_data();
        }
        self.bump();
        self.expect_all(&[Kw::INTO, Kw::CACHE])?;
        let tables = self.comma_list(|p| {
            let table = p.cache_table()?;
            if p.eat(Kw::IGNORE) {
                p.expect(Kw::LEAVES)?;
            }
            Ok(table)
        })?;
        Ok(super::replication::cached(MaintenanceVerb::PreloadKeys, tables))
    }
}
