//! Replication, plugins, tablespaces, servers, resource groups: what there is none of, or what is answered with 1235.

use super::*;

impl Parser<'_> {
    /// Behind the first word, which is `kw`.
    pub(super) fn replication(&mut self, kw: Kw) -> R<Statement> {
        match kw {
            Kw::PURGE => {
                // MASTER LOGS is what older tools say.
                self.expect_any(&[Kw::BINARY, Kw::MASTER])?;
                self.expect(Kw::LOGS)?;
                Ok(Statement::PurgeLogs(if self.expect_any(&[Kw::TO, Kw::BEFORE])? == Kw::TO {
                    PurgeLogs::To(self.text()?)
                } else if self.is(Tok::LParen) && self.peek().kw == Kw::SELECT {
                    // MySQL's grammar has no subquery here.
                    return Err(self.syntax());
                } else {
                    let start = self.tok.start;
                    PurgeLogs::Before(self.expr()?, start)
                }))
            }
            Kw::CHANGE => self.change_source(),
            Kw::START | Kw::STOP => self.start_replica(kw),
            Kw::BINLOG => Ok(Statement::Binlog(self.text()?)),
            Kw::CACHE => {
                self.expect(Kw::INDEX)?;
                let tables = self.comma_list(Self::cache_table)?;
                self.expect(Kw::IN)?;
                if !self.eat(Kw::DEFAULT) {
                    return Ok(Statement::Absent(Absent::KeyCache(self.name()?, tables)));
                }
                Ok(cached(MaintenanceVerb::AssignKeyCache, tables))
            }
            Kw::INSTALL | Kw::UNINSTALL => self.install(kw == Kw::INSTALL),
            Kw::CLONE => self.clone_instance(),
            _ => {
                debug_assert_eq!(kw, Kw::IMPORT);
                self.expect_all(&[Kw::TABLE, Kw::FROM])?;
                self.comma_list(Self::text)?;
                Ok(Statement::Absent(Absent::ImportTable))
            }
        }
    }

    /// `table [PARTITION (...)] [INDEX (...)]` of CACHE INDEX and LOAD INDEX.
    pub(super) fn cache_table(&mut self) -> R<ObjectName> {
        let table = self.object_name()?;
        if self.eat(Kw::PARTITION) {
            self.expect_tok(Tok::LParen)?;
            if !self.eat(Kw::ALL) {
                self.names()?;
            }
            self.expect_tok(Tok::RParen)?;
        }
        if self.eat_any(&[Kw::INDEX, Kw::KEY]).is_some() {
            self.paren_list(|p| if p.at(Kw::PRIMARY) { p.any_word() } else { p.name() })?;
        }
        Ok(table)
    }

    fn change_source(&mut self) -> R<Statement> {
        // CHANGE MASTER, START, STOP, RESET and SHOW SLAVE are what older tools say; 8.4 itself has forgotten them.
        let old = self.expect_any(&[Kw::REPLICATION, Kw::MASTER])? == Kw::MASTER;
        if !old && self.eat(Kw::FILTER) {
            let rules = self.comma_list(Self::filter_rule)?;
            let channel = self.for_channel()?;
            return Ok(Statement::Replica(ReplicaStatement::ChangeFilter { rules, channel }));
        }
        if !old {
            self.expect(Kw::SOURCE)?;
        }
        self.expect(Kw::TO)?;
        let options = self.comma_list(|p| {
            let known = [
                "SOURCE_",
                "MASTER_",
                "RELAY_LOG_",
                "GET_",
                "IGNORE_SERVER_IDS",
                "PRIVILEGE_CHECKS_USER",
                "REQUIRE_",
                "ASSIGN_GTIDS",
                "GTID_ONLY",
                "NETWORK_NAMESPACE",
            ];
            if !p.spelled_like(&known) {
                return Err(p.syntax());
            }
            let token = p.bump();
            p.expect_tok(Tok::Eq)?;
            Ok((Str::source(token.start, token.end), p.option_scalar()?))
        })?;
        let channel = self.for_channel()?;
        Ok(Statement::Replica(ReplicaStatement::ChangeSource { options, channel }))
    }

    /// `REPLICATE_... = ( ... )`
    fn filter_rule(&mut self) -> R<(Str, Vec<FilterItem>)> {
        if !self.spelled_like(&["REPLICATE_"]) {
            return Err(self.syntax());
        }
        let token = self.bump();
        self.expect_tok(Tok::Eq)?;
        self.expect_tok(Tok::LParen)?;
        let items = match self.is(Tok::RParen) {
            true => Vec::new(),
            false => self.comma_list(|p| {
                if p.is(Tok::LParen) {
                    let names = p.paren_names()?;
                    return match names[..] {
                        [from, to] => Ok(FilterItem::Pair(from, to)),
                        _ => Err(p.syntax()),
                    };
                }
                if p.is(Tok::Str) { p.text().map(FilterItem::Pattern) } else { p.object_name().map(FilterItem::Name) }
            })?,
        };
        self.expect_tok(Tok::RParen)?;
        Ok((Str::source(token.start, token.end), items))
    }

    /// Whether the current word begins like one of `prefixes`.
    fn spelled_like(&self, prefixes: &[&str]) -> bool {
        let word = &self.src[self.tok.start as usize..self.tok.end as usize];
        self.is(Tok::Word)
            && prefixes.iter().any(|p| word.len() >= p.len() && word[..p.len()].eq_ignore_ascii_case(p.as_bytes()))
    }

    /// A string, number, account, word, or list of numbers.
    fn option_scalar(&mut self) -> R<SourceValue> {
        match self.tok.tok {
            Tok::LParen => {
                self.bump();
                let ids = if self.is(Tok::RParen) { Vec::new() } else { self.comma_list(Self::integer)? };
                self.expect_tok(Tok::RParen)?;
                Ok(SourceValue::Numbers(ids))
            }
            Tok::Int | Tok::Decimal | Tok::Float => {
                let token = self.tok;
                self.big_number()?;
                Ok(SourceValue::Number(Str::source(token.start, token.end)))
            }
            Tok::Str => match self.role()? {
                Account::Named { user, .. } => Ok(SourceValue::Text(user)),
                Account::Current => Err(self.syntax()),
            },
            Tok::Word if self.at(Kw::NULL) || self.at(Kw::ON) => {
                let token = self.bump();
                Ok(SourceValue::Word(Str::source(token.start, token.end)))
            }
            Tok::Word | Tok::Quoted => match self.role()? {
                Account::Named { user, .. } => Ok(SourceValue::Word(user)),
                Account::Current => Err(self.syntax()),
            },
            _ => Err(self.syntax()),
        }
    }

    fn start_replica(&mut self, kw: Kw) -> R<Statement> {
        if self.eat(Kw::GROUP_REPLICATION) {
            if kw == Kw::START && matches!(self.tok.kw, Kw::USER | Kw::PASSWORD | Kw::DEFAULT_AUTH) {
                self.comma_list(Self::replica_credential)?;
            }
            return Ok(self.unsupported("group replication", "group_replication_start"));
        }
        self.expect_any(&[Kw::REPLICA, Kw::SLAVE])?;
        let (mut io, mut sql) = (true, true);
        if matches!(self.tok.kw, Kw::IO_THREAD | Kw::SQL_THREAD | Kw::RELAY_THREAD) {
            let kinds = self.comma_list(|p| p.expect_any(&[Kw::IO_THREAD, Kw::SQL_THREAD, Kw::RELAY_THREAD]))?;
            sql = kinds.contains(&Kw::SQL_THREAD);
            io = kinds.iter().any(|kind| *kind != Kw::SQL_THREAD);
        }
        let (mut until, mut credentials) = (Vec::new(), false);
        if kw == Kw::START {
            if self.eat(Kw::UNTIL) {
                until = self.comma_list(|p| {
                    let word = Str::source(p.tok.start, p.tok.end);
                    if p.eat(Kw::SQL_AFTER_MTS_GAPS) {
                        return Ok((word, None));
                    }
                    if !p.spelled_like(&["SQL_", "SOURCE_", "MASTER_", "RELAY_LOG_"]) {
                        return Err(p.syntax());
                    }
                    p.bump();
                    p.expect_tok(Tok::Eq)?;
                    p.option_scalar().map(|value| (word, Some(value)))
                })?;
            }
            while matches!(self.tok.kw, Kw::USER | Kw::PASSWORD | Kw::DEFAULT_AUTH | Kw::PLUGIN_DIR) {
                credentials = true;
                self.replica_credential()?;
            }
        }
        let channel = self.for_channel()?;
        Ok(Statement::Replica(match kw {
            Kw::START => ReplicaStatement::Start { io, sql, until, credentials, channel },
            _ => ReplicaStatement::Stop { io, sql, channel },
        }))
    }

    fn replica_credential(&mut self) -> R<()> {
        self.bump();
        self.eat_eq();
        self.text().map(|_| ())
    }

    fn install(&mut self, install: bool) -> R<Statement> {
        if self.eat(Kw::PLUGIN) {
            let name = self.name()?;
            return Ok(Statement::Extension(match install {
                true => {
                    self.expect(Kw::SONAME)?;
                    ExtensionStatement::InstallPlugin { name, library: self.text()? }
                }
                false => ExtensionStatement::UninstallPlugin(name),
            }));
        }
        self.expect(Kw::COMPONENT)?;
        let urns = self.comma_list(Self::text)?;
        if !install {
            return Ok(Statement::Extension(ExtensionStatement::UninstallComponents(urns)));
        }
        let mut said = VarScope::Unspecified;
        let set = match self.eat(Kw::SET) {
            true => self.comma_list(|p| p.component_variable(&mut said))?,
            false => Vec::new(),
        };
        Ok(Statement::Extension(ExtensionStatement::InstallComponents { urns, set }))
    }

    /// `[GLOBAL | PERSIST] name = value`
    fn component_variable(&mut self, said: &mut VarScope) -> R<SetItem> {
        let start = self.tok.start;
        let item = self.set_item(said)?;
        match item {
            SetItem::SystemVar { scope: VarScope::Unspecified | VarScope::Global | VarScope::Persist, .. } => Ok(item),
            _ => Err(self.syntax_at(start)),
        }
    }

    fn clone_instance(&mut self) -> R<Statement> {
        if self.eat(Kw::LOCAL) {
            self.expect_all(&[Kw::DATA, Kw::DIRECTORY])?;
            self.eat_eq();
            return Ok(Statement::CloneLocal(self.text()?));
        }
        self.expect_all(&[Kw::INSTANCE, Kw::FROM])?;
        let start = self.tok.start;
        let Account::Named { user, host } = self.account()? else { return Err(self.syntax_at(start)) };
        self.expect_tok(Tok::Colon)?;
        let port = self.integer()?;
        self.expect_all(&[Kw::IDENTIFIED, Kw::BY])?;
        let password = self.text()?;
        let mut directory = None;
        if self.eat(Kw::DATA) {
            self.expect(Kw::DIRECTORY)?;
            self.eat_eq();
            directory = Some(self.text()?);
        }
        let mut ssl = None;
        if self.eat(Kw::REQUIRE) {
            ssl = Some(!self.eat(Kw::NO));
            self.expect(Kw::SSL)?;
        }
        Ok(Statement::CloneInstance(CloneInstance { user, host, port, password, directory, ssl }))
    }

    /// CREATE TABLESPACE, UNDO TABLESPACE, LOGFILE GROUP, SERVER, RESOURCE GROUP: at the word behind CREATE.
    pub(super) fn create_storage(&mut self) -> R<Statement> {
        match self.bump().kw {
            kw @ (Kw::TABLESPACE | Kw::UNDO | Kw::LOGFILE) => {
                match kw {
                    Kw::UNDO => self.expect(Kw::TABLESPACE)?,
                    Kw::LOGFILE => self.expect(Kw::GROUP)?,
                    _ => {}
                }
                self.name()?;
                if self.eat(Kw::ADD) {
                    self.expect_any(&[Kw::DATAFILE, Kw::UNDOFILE])?;
                    self.text()?;
                    if self.eat(Kw::USE) {
                        self.expect_all(&[Kw::LOGFILE, Kw::GROUP])?;
                        self.name()?;
                    }
                } else if kw != Kw::TABLESPACE {
                    return Err(self.syntax());
                }
                self.tablespace_options()?;
                Ok(self.unsupported("tablespaces", "alter_tablespace"))
            }
            Kw::SERVER => {
                let name = self.name_or_text()?;
                self.expect_all(&[Kw::FOREIGN, Kw::DATA, Kw::WRAPPER])?;
                let wrapper = self.name_or_text()?;
                let options = self.server_options()?;
                Ok(Statement::Server(ServerStatement { verb: ServerVerb::Create { wrapper }, name, options }))
            }
            _ => {
                self.expect(Kw::GROUP)?;
                self.name()?;
                self.expect(Kw::TYPE)?;
                self.eat_eq();
                self.expect_any(&[Kw::USER, Kw::SYSTEM])?;
                self.resource_group_options()?;
                Ok(Statement::Absent(Absent::NewResourceGroup))
            }
        }
    }

    pub(super) fn alter_storage(&mut self) -> R<Statement> {
        match self.bump().kw {
            kw @ (Kw::TABLESPACE | Kw::UNDO | Kw::LOGFILE) => {
                match kw {
                    Kw::UNDO => self.expect(Kw::TABLESPACE)?,
                    Kw::LOGFILE => self.expect(Kw::GROUP)?,
                    _ => {}
                }
                let name = self.name()?;
                if self.eat_any(&[Kw::ADD, Kw::DROP]).is_some() {
                    self.expect_any(&[Kw::DATAFILE, Kw::UNDOFILE])?;
                    self.text()?;
                } else if self.eat(Kw::RENAME) {
                    self.expect(Kw::TO)?;
                    self.name()?;
                } else if self.eat(Kw::SET) {
                    self.expect_any(&[Kw::ACTIVE, Kw::INACTIVE])?;
                }
                self.tablespace_options()?;
                Ok(Statement::Absent(Absent::Tablespace(name)))
            }
            Kw::SERVER => {
                let name = self.name_or_text()?;
                let options = self.server_options()?;
                Ok(Statement::Server(ServerStatement { verb: ServerVerb::Alter, name, options }))
            }
            Kw::INSTANCE => {
                match self.expect_any(&[Kw::ROTATE, Kw::RELOAD, Kw::ENABLE, Kw::DISABLE])? {
                    Kw::ROTATE => {
                        let of_binlog = !self.eat_word(b"innodb");
                        if of_binlog {
                            self.expect(Kw::BINLOG)?;
                        }
                        self.expect_all(&[Kw::MASTER, Kw::KEY])?;
                        return Ok(match of_binlog {
                            true => Statement::RotateBinlogKey,
                            false => Statement::RotateMasterKey,
                        });
                    }
                    Kw::RELOAD => {
                        if self.eat(Kw::TLS) {
                            let channel = if self.eat2(Kw::FOR, Kw::CHANNEL) { Some(self.name()?) } else { None };
                            let rolls_back = !self.eat(Kw::NO);
                            if !rolls_back {
                                self.expect_all(&[Kw::ROLLBACK, Kw::ON, Kw::ERROR])?;
                            }
                            return Ok(Statement::ReloadTls { channel, rolls_back });
                        }
                        self.expect(Kw::KEYRING)?;
                        return Ok(Statement::ReloadKeyring);
                    }
                    _ => {
                        if !self.eat_word(b"innodb") || !self.eat_word(b"redo_log") {
                            return Err(self.syntax());
                        }
                    }
                }
                Ok(self.unsupported("ALTER INSTANCE", "alter_instance"))
            }
            _ => {
                self.expect(Kw::GROUP)?;
                let name = self.name()?;
                self.resource_group_options()?;
                Ok(Statement::Absent(Absent::ResourceGroup { name, sets: false }))
            }
        }
    }

    pub(super) fn tablespace_options(&mut self) -> R<()> {
        loop {
            match self.tok.kw {
                Kw::INITIAL_SIZE
                | Kw::MAX_SIZE
                | Kw::EXTENT_SIZE
                | Kw::AUTOEXTEND_SIZE
                | Kw::UNDO_BUFFER_SIZE
                | Kw::FILE_BLOCK_SIZE
                | Kw::NODEGROUP
                | Kw::ENCRYPTION
                | Kw::COMMENT
                | Kw::ENGINE_ATTRIBUTE => {
                    self.bump();
                    self.eat_eq();
                    if self.is(Tok::Word) && self.src[self.tok.start as usize].is_ascii_digit() {
                        self.bump();
                    } else {
                        self.option_scalar().map(drop)?;
                    }
                }
                Kw::STORAGE | Kw::ENGINE => {
                    self.eat(Kw::STORAGE);
                    self.expect(Kw::ENGINE)?;
                    self.eat_eq();
                    self.name_or_text()?;
                }
                Kw::WAIT | Kw::NO_WAIT => {
                    self.bump();
                }
                _ => return Ok(()),
            }
            self.eat_tok(Tok::Comma);
        }
    }

    fn server_options(&mut self) -> R<ServerOptions> {
        let mut options = ServerOptions::default();
        self.expect(Kw::OPTIONS)?;
        self.paren_list(|p| {
            let kws = [Kw::HOST, Kw::DATABASE, Kw::USER, Kw::PASSWORD, Kw::SOCKET, Kw::OWNER, Kw::PORT];
            let option = match p.expect_any(&kws)? {
                Kw::PORT => {
                    options.port = Some(p.integer()?);
                    return Ok(());
                }
                Kw::HOST => &mut options.host,
                Kw::DATABASE => &mut options.database,
                Kw::USER => &mut options.user,
                Kw::PASSWORD => &mut options.password,
                Kw::SOCKET => &mut options.socket,
                _ => &mut options.owner,
            };
            *option = Some(p.text()?);
            Ok(())
        })?;
        Ok(options)
    }

    fn resource_group_options(&mut self) -> R<()> {
        if self.eat(Kw::VCPU) {
            self.eat_eq();
            loop {
                self.integer()?;
                if self.eat_tok(Tok::Minus) {
                    self.integer()?;
                }
                if !self.eat_tok(Tok::Comma) && !self.is(Tok::Int) {
                    break;
                }
            }
        }
        if self.eat(Kw::THREAD_PRIORITY) {
            self.eat_eq();
            self.eat_tok(Tok::Minus);
            self.integer()?;
        }
        self.eat_any(&[Kw::ENABLE, Kw::DISABLE]);
        self.eat(Kw::FORCE);
        Ok(())
    }

    /// CREATE [OR REPLACE] SPATIAL REFERENCE SYSTEM, at REFERENCE.
    pub(super) fn create_srs(&mut self) -> R<Statement> {
        self.expect_all(&[Kw::REFERENCE, Kw::SYSTEM])?;
        self.eat_if_not_exists()?;
        self.integer()?;
        loop {
            match self.tok.kw {
                Kw::NAME | Kw::DEFINITION | Kw::DESCRIPTION => {
                    self.bump();
                    self.text()?;
                }
                Kw::ORGANIZATION => {
                    self.bump();
                    self.text()?;
                    self.expect_all(&[Kw::IDENTIFIED, Kw::BY])?;
                    self.integer()?;
                }
                _ => return Ok(self.unsupported("spatial reference systems", "create_spatial_reference_system")),
            }
        }
    }

    /// Behind RENAME USER.
    pub(super) fn rename_user(&mut self) -> R<Statement> {
        Ok(Statement::RenameUser(self.comma_list(|p| {
            let from = p.account()?;
            p.expect(Kw::TO)?;
            Ok((from, p.account()?))
        })?))
    }
}

/// CACHE INDEX and LOAD INDEX, of which no table here has anything to do.
pub(super) fn cached(verb: MaintenanceVerb, tables: Vec<ObjectName>) -> Statement {
    Statement::TableMaintenance(Box::new(TableMaintenance {
        verb,
        local: false,
        tables,
        options: Vec::new(),
        histogram: None,
    }))
}
