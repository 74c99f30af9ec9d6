//! SHOW in all its forms.

use super::*;

impl Parser<'_> {
    pub(super) fn show(&mut self) -> R<Statement> {
        self.bump();
        let (what, filtered) = self.show_what()?;
        let filter = if !filtered {
            ShowFilter::None
        } else if self.eat(Kw::LIKE) {
            ShowFilter::Like(self.text()?)
        } else if self.eat(Kw::WHERE) {
            let filter = self.expr()?;
            ShowFilter::Where(self.query_of_shown(filter))
        } else {
            ShowFilter::None
        };
        Ok(Statement::Show(Box::new(Show { what, filter })))
    }

    fn query_of_shown(&mut self, filter: ExprId) -> QueryId {
        let (schema, table) = SHOWN;
        let name = ObjectName { schema: Some(self.static_name(schema)), name: self.static_name(table) };
        let factor = TableFactor { name, alias: None, partitions: Vec::new(), index_hints: Vec::new() };
        let from = Some(self.add_table(TableRef::Table(factor)));
        let select = Select { from, filter: Some(filter), ..self.bare_select(vec![SelectItem::Star]) };
        self.new_query(QueryBody::Select(Box::new(select)))
    }

    /// A SELECT that stands nowhere in the text.
    pub(super) fn bare_select(&self, items: Vec<SelectItem>) -> Select {
        Select {
            start: self.tok.start,
            hints: None,
            options: SelectOptions::default(),
            items,
            from: None,
            filter: None,
            group: Vec::new(),
            rollup: false,
            having: None,
            windows: Vec::new(),
        }
    }

    /// FROM | IN name, or nothing.
    fn show_schema(&mut self) -> R<Option<Name>> {
        if self.eat_any(&[Kw::FROM, Kw::IN]).is_some() { self.name().map(Some) } else { Ok(None) }
    }

    /// FROM | IN table [FROM | IN schema]
    fn show_table(&mut self) -> R<ObjectName> {
        self.expect_any(&[Kw::FROM, Kw::IN])?;
        let mut table = self.object_name()?;
        if let Some(schema) = self.show_schema()? {
            self.reserved.pop_if(|name| *name == table);
            table = self.note_reserved(ObjectName { schema: Some(schema), ..table });
        }
        Ok(table)
    }

    fn show_limit(&mut self) -> R<Option<ShowLimit>> {
        Ok(self.limit()?.map(|l| ShowLimit { count: l.count, offset: l.offset }))
    }

    /// What to show, and whether LIKE or WHERE may follow.
    fn show_what(&mut self) -> R<(ShowWhat, bool)> {
        if let Some(what) = self.show_with_modifiers()? {
            return Ok(what);
        }
        let kw = self.tok.kw;
        let start = self.tok.start;
        self.bump();
        Ok(match kw {
            Kw::DATABASES | Kw::SCHEMAS => (ShowWhat::Databases, true),
            Kw::TABLE => {
                self.expect(Kw::STATUS)?;
                (ShowWhat::TableStatus { schema: self.show_schema()? }, true)
            }
            Kw::OPEN => {
                self.expect(Kw::TABLES)?;
                (ShowWhat::OpenTables { schema: self.show_schema()? }, true)
            }
            Kw::CREATE => (self.show_create()?, false),
            Kw::GRANTS => {
                let user = if self.eat(Kw::FOR) { Some(self.account()?) } else { None };
                let using =
                    if user.is_some() && self.eat(Kw::USING) { self.comma_list(Self::account)? } else { Vec::new() };
                (ShowWhat::Grants { user, using }, false)
            }
            Kw::GLOBAL | Kw::SESSION | Kw::LOCAL => {
                let scope = if kw == Kw::GLOBAL { VarScope::Global } else { VarScope::Session };
                match self.expect_any(&[Kw::VARIABLES, Kw::STATUS])? {
                    Kw::VARIABLES => (ShowWhat::Variables(scope), true),
                    _ => (ShowWhat::Status(scope), true),
                }
            }
            Kw::VARIABLES => (ShowWhat::Variables(VarScope::Unspecified), true),
            Kw::STATUS => (ShowWhat::Status(VarScope::Unspecified), true),
            Kw::WARNINGS => (ShowWhat::Warnings { limit: self.show_limit()? }, false),
            Kw::ERRORS => (ShowWhat::Errors { limit: self.show_limit()? }, false),
            Kw::COUNT => {
                for tok in [Tok::LParen, Tok::Star, Tok::RParen] {
                    self.expect_tok(tok)?;
                }
                match self.expect_any(&[Kw::WARNINGS, Kw::ERRORS])? {
                    Kw::WARNINGS => (ShowWhat::CountWarnings, false),
                    _ => (ShowWhat::CountErrors, false),
                }
            }
            Kw::ENGINES => (ShowWhat::Engines, false),
            Kw::STORAGE => {
                self.expect(Kw::ENGINES)?;
                (ShowWhat::Engines, false)
            }
            Kw::ENGINE => {
                let name = if self.eat(Kw::ALL) { None } else { Some(self.name_or_text()?) };
                let what = match self.expect_any(&[Kw::STATUS, Kw::MUTEX, Kw::LOGS])? {
                    Kw::STATUS => EngineInfo::Status,
                    Kw::MUTEX => EngineInfo::Mutex,
                    _ => EngineInfo::Logs,
                };
                (ShowWhat::Engine { name, what }, false)
            }
            Kw::PLUGINS => (ShowWhat::Plugins, false),
            Kw::CHARSET => (ShowWhat::CharacterSet, true),
            Kw::CHARACTER | Kw::CHAR => {
                self.expect(Kw::SET)?;
                (ShowWhat::CharacterSet, true)
            }
            Kw::COLLATION => (ShowWhat::Collation, true),
            Kw::PRIVILEGES => (ShowWhat::Privileges, false),
            Kw::EVENTS => (ShowWhat::Events { schema: self.show_schema()? }, true),
            Kw::PROCEDURE | Kw::FUNCTION => {
                let procedure = kw == Kw::PROCEDURE;
                if self.eat(Kw::CODE) {
                    let name = self.object_name()?;
                    let code = if procedure { ShowWhat::ProcedureCode(name) } else { ShowWhat::FunctionCode(name) };
                    return Ok((code, false));
                }
                self.expect(Kw::STATUS)?;
                (if procedure { ShowWhat::ProcedureStatus } else { ShowWhat::FunctionStatus }, true)
            }
            Kw::PROFILES => (ShowWhat::Profiles, false),
            Kw::PROFILE => (self.show_profile()?, false),
            Kw::PARSE_TREE => {
                self.statement()?;
                (ShowWhat::ParseTree, false)
            }
            _ => return self.show_replication(kw, start),
        })
    }

    /// What may have EXTENDED or FULL before it.
    fn show_with_modifiers(&mut self) -> R<Option<(ShowWhat, bool)>> {
        let extended = self.eat(Kw::EXTENDED);
        let full = self.eat(Kw::FULL);
        match self.tok.kw {
            Kw::TABLES => {
                self.bump();
                Ok(Some((ShowWhat::Tables { extended, full, schema: self.show_schema()? }, true)))
            }
            Kw::COLUMNS | Kw::FIELDS => {
                self.bump();
                Ok(Some((ShowWhat::Columns { extended, full, table: self.show_table()? }, true)))
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS if !full => {
                self.bump();
                let table = self.show_table()?;
                // WHERE, but not LIKE.
                Ok(Some((ShowWhat::Index { extended, table }, self.at(Kw::WHERE))))
            }
            _ if extended => Err(self.syntax()),
            Kw::PROCESSLIST => {
                self.bump();
                Ok(Some((ShowWhat::ProcessList { full }, false)))
            }
            Kw::TRIGGERS => {
                self.bump();
                Ok(Some((ShowWhat::Triggers { full, schema: self.show_schema()? }, true)))
            }
            _ if full => Err(self.syntax()),
            _ => Ok(None),
        }
    }

    /// Of binary logs and replicas; `kw`, read at `start`, says of what.
    fn show_replication(&mut self, kw: Kw, start: u32) -> R<(ShowWhat, bool)> {
        Ok(match kw {
            Kw::BINARY => {
                if self.eat(Kw::LOGS) {
                    return Ok((ShowWhat::BinaryLogs, false));
                }
                self.expect_all(&[Kw::LOG, Kw::STATUS])?;
                (ShowWhat::BinaryLogStatus, false)
            }
            // What older tools send.
            Kw::MASTER => match self.expect_any(&[Kw::LOGS, Kw::STATUS])? {
                Kw::LOGS => (ShowWhat::BinaryLogs, false),
                _ => (ShowWhat::BinaryLogStatus, false),
            },
            Kw::SLAVE => match self.expect_any(&[Kw::HOSTS, Kw::STATUS])? {
                Kw::HOSTS => (ShowWhat::Replicas, false),
                _ => (ShowWhat::ReplicaStatus { channel: self.for_channel()?, old: true }, false),
            },
            Kw::BINLOG | Kw::RELAYLOG => {
                self.expect(Kw::EVENTS)?;
                let file = if self.eat(Kw::IN) { Some(self.text()?) } else { None };
                let position = if self.eat(Kw::FROM) { Some(self.integer()?) } else { None };
                let limit = self.show_limit()?;
                let relay = kw == Kw::RELAYLOG;
                let channel = if relay { self.for_channel()? } else { None };
                (ShowWhat::BinlogEvents { relay, file, position, limit, channel }, false)
            }
            Kw::REPLICA => {
                self.expect(Kw::STATUS)?;
                (ShowWhat::ReplicaStatus { channel: self.for_channel()?, old: false }, false)
            }
            Kw::REPLICAS => (ShowWhat::Replicas, false),
            _ => return Err(self.syntax_at(start)),
        })
    }

    fn show_create(&mut self) -> R<ShowWhat> {
        let kw = self.tok.kw;
        let start = self.tok.start;
        self.bump();
        Ok(match kw {
            Kw::TABLE => ShowWhat::CreateTable(self.object_name()?),
            Kw::DATABASE | Kw::SCHEMA => {
                let if_not_exists = self.eat_if_not_exists()?;
                ShowWhat::CreateDatabase { if_not_exists, name: self.name()? }
            }
            Kw::VIEW => ShowWhat::CreateView(self.object_name()?),
            Kw::PROCEDURE => ShowWhat::CreateProcedure(self.object_name()?),
            Kw::FUNCTION => ShowWhat::CreateFunction(self.object_name()?),
            Kw::TRIGGER => ShowWhat::CreateTrigger(self.object_name()?),
            Kw::EVENT => ShowWhat::CreateEvent(self.object_name()?),
            Kw::USER => ShowWhat::CreateUser(self.account()?),
            _ => return Err(self.syntax_at(start)),
        })
    }

    fn show_profile(&mut self) -> R<ShowWhat> {
        let mut types = Vec::new();
        let words = [
            (Kw::ALL, None, "ALL"),
            (Kw::BLOCK, Some(Kw::IO), "BLOCK IO"),
            (Kw::CONTEXT, Some(Kw::SWITCHES), "CONTEXT SWITCHES"),
            (Kw::CPU, None, "CPU"),
            (Kw::IPC, None, "IPC"),
            (Kw::MEMORY, None, "MEMORY"),
            (Kw::PAGE, Some(Kw::FAULTS), "PAGE FAULTS"),
            (Kw::SOURCE, None, "SOURCE"),
            (Kw::SWAPS, None, "SWAPS"),
        ];
        while let Some(&(_, second, name)) = words.iter().find(|w| self.at(w.0)) {
            self.bump();
            if let Some(kw) = second {
                self.expect(kw)?;
            }
            types.push(name);
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        let query = if self.eat(Kw::FOR) {
            self.expect(Kw::QUERY)?;
            Some(self.integer()?)
        } else {
            None
        };
        Ok(ShowWhat::Profile { types, query, limit: self.show_limit()? })
    }
}
