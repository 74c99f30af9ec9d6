//! Users, roles, privileges.

use super::*;
use types::codes::*;

/// Static privileges by their words; longer ones first.
const PRIVILEGES: &[(&[Kw], &str)] = &[
    (&[Kw::SELECT], "SELECT"),
    (&[Kw::INSERT], "INSERT"),
    (&[Kw::UPDATE], "UPDATE"),
    (&[Kw::REFERENCES], "REFERENCES"),
    (&[Kw::DELETE], "DELETE"),
    (&[Kw::USAGE], "USAGE"),
    (&[Kw::INDEX], "INDEX"),
    (&[Kw::ALTER, Kw::ROUTINE], "ALTER ROUTINE"),
    (&[Kw::ALTER], "ALTER"),
    (&[Kw::CREATE, Kw::TEMPORARY, Kw::TABLES], "CREATE TEMPORARY TABLES"),
    (&[Kw::CREATE, Kw::VIEW], "CREATE VIEW"),
    (&[Kw::CREATE, Kw::ROUTINE], "CREATE ROUTINE"),
    (&[Kw::CREATE, Kw::USER], "CREATE USER"),
    (&[Kw::CREATE, Kw::TABLESPACE], "CREATE TABLESPACE"),
    (&[Kw::CREATE, Kw::ROLE], "CREATE ROLE"),
    (&[Kw::CREATE], "CREATE"),
    (&[Kw::DROP, Kw::ROLE], "DROP ROLE"),
    (&[Kw::DROP], "DROP"),
    (&[Kw::EXECUTE], "EXECUTE"),
    (&[Kw::RELOAD], "RELOAD"),
    (&[Kw::SHUTDOWN], "SHUTDOWN"),
    (&[Kw::PROCESS], "PROCESS"),
    (&[Kw::FILE], "FILE"),
    (&[Kw::SHOW, Kw::DATABASES], "SHOW DATABASES"),
    (&[Kw::SHOW, Kw::VIEW], "SHOW VIEW"),
    (&[Kw::SUPER], "SUPER"),
    (&[Kw::LOCK, Kw::TABLES], "LOCK TABLES"),
    (&[Kw::REPLICATION, Kw::SLAVE], "REPLICATION SLAVE"),
    (&[Kw::REPLICATION, Kw::CLIENT], "REPLICATION CLIENT"),
    (&[Kw::EVENT], "EVENT"),
    (&[Kw::TRIGGER], "TRIGGER"),
];

impl Parser<'_> {
    /// `user[@host]` or CURRENT_USER[()].
    pub(super) fn account(&mut self) -> R<Account> {
        if self.eat(Kw::CURRENT_USER) {
            if self.eat_tok(Tok::LParen) {
                self.expect_tok(Tok::RParen)?;
            }
            return Ok(Account::Current);
        }
        self.role()
    }

    /// `name[@host]`
    pub(super) fn role(&mut self) -> R<Account> {
        let user = self.name_or_text()?;
        let host = match self.tok.tok {
            Tok::UserVar if self.tok.end > self.tok.start + 1 => Some(self.behind_at()?),
            _ => None,
        };
        Ok(Account::Named { user, host })
    }

    pub(super) fn create_user(&mut self) -> R<Statement> {
        let if_not_exists = self.eat_if_not_exists()?;
        let users = self.comma_list(|p| p.user_spec(false))?;
        let default_roles = if self.eat(Kw::DEFAULT) {
            self.expect(Kw::ROLE)?;
            self.comma_list(Self::role)?
        } else {
            Vec::new()
        };
        let options = self.account_options()?;
        Ok(Statement::CreateUser(Box::new(CreateUser { if_not_exists, users, default_roles, options })))
    }

    pub(super) fn alter_user(&mut self) -> R<Statement> {
        let if_exists = self.eat_if_exists()?;
        let mut alter = AlterUser {
            if_exists,
            users: Vec::new(),
            default_role: None,
            options: AccountOptions::default(),
            factors: Vec::new(),
        };
        if self.at(Kw::USER) && self.peek().tok == Tok::LParen {
            self.bump();
            self.bump();
            self.expect_tok(Tok::RParen)?;
            let spec = self.user_spec_rest(Account::Current, true)?;
            let is_password = spec.auth.is_some() || spec.discard_old;
            alter.users.push(spec);
            if is_password {
                return Ok(Statement::AlterUser(Box::new(alter)));
            }
            // Of oneself by this name nothing else is changed but the registration of a factor.
            if !self.is(Tok::Int) {
                return Err(self.syntax());
            }
        } else {
            alter.users = self.comma_list(|p| p.user_spec(true))?;
        }
        if alter.users.len() == 1 && self.eat(Kw::DEFAULT) {
            self.expect(Kw::ROLE)?;
            alter.default_role = Some(self.role_selection(false)?);
            return Ok(Statement::AlterUser(Box::new(alter)));
        }
        if self.is(Tok::Int) || matches!(self.tok.kw, Kw::ADD | Kw::MODIFY | Kw::DROP) {
            alter.factors = self.factor_changes()?;
        }
        alter.options = self.account_options()?;
        Ok(Statement::AlterUser(Box::new(alter)))
    }

    /// ADD | MODIFY n FACTOR auth, DROP n FACTOR, n FACTOR INITIATE REGISTRATION ...
    fn factor_changes(&mut self) -> R<Vec<FactorChange>> {
        let mut changes = Vec::new();
        loop {
            changes.push(match self.eat_any(&[Kw::ADD, Kw::MODIFY, Kw::DROP]) {
                Some(kw) => {
                    let number = self.integer()?;
                    self.expect(Kw::FACTOR)?;
                    match kw {
                        Kw::ADD => FactorChange::Add(number, self.auth()?),
                        Kw::MODIFY => FactorChange::Modify(number, self.auth()?),
                        _ => FactorChange::Drop(number),
                    }
                }
                None if self.is(Tok::Int) => {
                    let number = self.integer()?;
                    self.expect(Kw::FACTOR)?;
                    match self.expect_any(&[Kw::INITIATE, Kw::FINISH, Kw::UNREGISTER])? {
                        Kw::INITIATE => self.expect(Kw::REGISTRATION)?,
                        Kw::FINISH => {
                            self.expect_all(&[Kw::REGISTRATION, Kw::SET, Kw::CHALLENGE_RESPONSE, Kw::AS])?;
                            self.text()?;
                        }
                        _ => {}
                    }
                    FactorChange::Register(number)
                }
                None => return Ok(changes),
            });
        }
    }

    fn user_spec(&mut self, alter: bool) -> R<UserSpec> {
        let account = self.account()?;
        self.user_spec_rest(account, alter)
    }

    fn user_spec_rest(&mut self, account: Account, alter: bool) -> R<UserSpec> {
        let mut spec = UserSpec {
            account,
            auth: None,
            more_factors: Vec::new(),
            replace: None,
            retain_current: false,
            discard_old: false,
        };
        if alter && self.eat(Kw::DISCARD) {
            self.expect_all(&[Kw::OLD, Kw::PASSWORD])?;
            spec.discard_old = true;
            return Ok(spec);
        }
        if !self.at(Kw::IDENTIFIED) {
            return Ok(spec);
        }
        spec.auth = Some(self.auth()?);
        if alter && self.eat(Kw::REPLACE) {
            spec.replace = Some(self.text()?);
        }
        if alter && self.eat(Kw::RETAIN) {
            self.expect_all(&[Kw::CURRENT, Kw::PASSWORD])?;
            spec.retain_current = true;
        }
        while !alter && spec.more_factors.len() < 2 && self.eat(Kw::AND) {
            let auth = self.auth()?;
            spec.more_factors.push(auth);
        }
        Ok(spec)
    }

    /// IDENTIFIED [WITH plugin] [BY 'x' | BY RANDOM PASSWORD | AS 'hash']
    fn auth(&mut self) -> R<Auth> {
        self.expect(Kw::IDENTIFIED)?;
        let plugin = if self.eat(Kw::WITH) { Some(self.name_or_text()?) } else { None };
        let secret = if self.eat(Kw::BY) {
            if self.eat(Kw::RANDOM) {
                self.expect(Kw::PASSWORD)?;
                AuthSecret::Random
            } else {
                AuthSecret::Password(self.text()?)
            }
        } else if plugin.is_some() && self.eat(Kw::AS) {
            AuthSecret::Hash(self.text_or_bytes()?)
        } else if plugin.is_some() {
            AuthSecret::None
        } else {
            return Err(self.syntax());
        };
        Ok(Auth { plugin, secret })
    }

    fn account_options(&mut self) -> R<AccountOptions> {
        let mut o = AccountOptions::default();
        if self.eat(Kw::REQUIRE) {
            o.require = Some(self.require()?);
        }
        if self.eat(Kw::WITH) {
            let kws = [
                Kw::MAX_QUERIES_PER_HOUR,
                Kw::MAX_UPDATES_PER_HOUR,
                Kw::MAX_CONNECTIONS_PER_HOUR,
                Kw::MAX_USER_CONNECTIONS,
            ];
            let mut kw = self.expect_any(&kws)?;
            loop {
                let n = Some(self.integer()?);
                match kw {
                    Kw::MAX_QUERIES_PER_HOUR => o.max_queries_per_hour = n,
                    Kw::MAX_UPDATES_PER_HOUR => o.max_updates_per_hour = n,
                    Kw::MAX_CONNECTIONS_PER_HOUR => o.max_connections_per_hour = n,
                    _ => o.max_user_connections = n,
                }
                match self.eat_any(&kws) {
                    Some(next) => kw = next,
                    None => break,
                }
            }
        }
        loop {
            match self.tok.kw {
                Kw::PASSWORD => {
                    self.bump();
                    self.password_option(&mut o)?;
                }
                Kw::FAILED_LOGIN_ATTEMPTS => {
                    self.bump();
                    o.failed_login_attempts = Some(self.integer()?);
                }
                Kw::PASSWORD_LOCK_TIME => {
                    self.bump();
                    o.password_lock_time = Some(if self.eat(Kw::UNBOUNDED) {
                        Limited::Unbounded
                    } else {
                        Limited::Count(self.integer()?)
                    });
                }
                Kw::ACCOUNT => {
                    self.bump();
                    o.account_locked = Some(self.expect_any(&[Kw::LOCK, Kw::UNLOCK])? == Kw::LOCK);
                }
                _ => break,
            }
        }
        if self.eat(Kw::COMMENT) {
            o.comment = Some(self.text()?);
        } else if self.eat(Kw::ATTRIBUTE) {
            o.attribute = Some(self.text()?);
        }
        Ok(o)
    }

    fn password_option(&mut self, o: &mut AccountOptions) -> R<()> {
        match self.expect_any(&[Kw::EXPIRE, Kw::HISTORY, Kw::REUSE, Kw::REQUIRE])? {
            Kw::EXPIRE => {
                o.password_expire = Some(if self.eat(Kw::DEFAULT) {
                    PasswordExpire::Default
                } else if self.eat(Kw::NEVER) {
                    PasswordExpire::Never
                } else if self.eat(Kw::INTERVAL) {
                    let days = self.integer()?;
                    self.expect(Kw::DAY)?;
                    PasswordExpire::Days(days)
                } else {
                    PasswordExpire::Now
                });
            }
            Kw::HISTORY => o.password_history = Some(self.default_or_count()?),
            Kw::REUSE => {
                self.expect(Kw::INTERVAL)?;
                let value = self.default_or_count()?;
                if value != Limited::Default {
                    self.expect(Kw::DAY)?;
                }
                o.password_reuse_interval = Some(value);
            }
            _ => {
                self.expect(Kw::CURRENT)?;
                o.password_require_current = Some(match self.eat_any(&[Kw::DEFAULT, Kw::OPTIONAL]) {
                    Some(Kw::DEFAULT) => None,
                    Some(_) => Some(false),
                    None => Some(true),
                });
            }
        }
        Ok(())
    }

    fn default_or_count(&mut self) -> R<Limited> {
        if self.eat(Kw::DEFAULT) { Ok(Limited::Default) } else { Ok(Limited::Count(self.integer()?)) }
    }

    fn require(&mut self) -> R<Require> {
        if let Some(kw) = self.eat_any(&[Kw::NONE, Kw::SSL, Kw::X509]) {
            return Ok(match kw {
                Kw::SSL => Require::Ssl,
                Kw::X509 => Require::X509,
                _ => Require::None,
            });
        }
        let (mut subject, mut issuer, mut cipher) = (None, None, None);
        let kws = [Kw::SUBJECT, Kw::ISSUER, Kw::CIPHER];
        let mut kw = self.expect_any(&kws)?;
        loop {
            let slot = match kw {
                Kw::SUBJECT => &mut subject,
                Kw::ISSUER => &mut issuer,
                _ => &mut cipher,
            };
            if slot.is_some() {
                let word = match kw {
                    Kw::SUBJECT => "SUBJECT",
                    Kw::ISSUER => "ISSUER",
                    _ => "CIPHER",
                };
                return Err(ParseError::at(err!(ER_DUP_ARGUMENT, word), self.tok.start as usize));
            }
            *slot = Some(self.text()?);
            let and = self.eat(Kw::AND);
            match self.eat_any(&kws) {
                Some(next) => kw = next,
                None if and => return Err(self.syntax()),
                None => return Ok(Require::Specified { subject, issuer, cipher }),
            }
        }
    }

    /// NONE | DEFAULT | ALL [EXCEPT roles] | roles
    pub(super) fn role_selection(&mut self, default: bool) -> R<RoleSelection> {
        match self.tok.kw {
            Kw::NONE => {
                self.bump();
                Ok(RoleSelection::None)
            }
            Kw::DEFAULT if default => {
                self.bump();
                Ok(RoleSelection::Default)
            }
            Kw::ALL => {
                self.bump();
                let except = if default && self.eat(Kw::EXCEPT) { self.comma_list(Self::role)? } else { Vec::new() };
                Ok(RoleSelection::All { except })
            }
            _ => Ok(RoleSelection::Roles(self.comma_list(Self::role)?)),
        }
    }

    fn privilege(&mut self) -> R<Privilege> {
        let mut found = None;
        for (words, name) in PRIVILEGES {
            let matches = match *words {
                [one] => self.at(*one),
                [one, two] => self.at(*one) && self.peek().kw == *two,
                [one, two, _] => self.at(*one) && self.peek().kw == *two,
                _ => false,
            };
            if matches {
                found = Some((*words, *name));
                break;
            }
        }
        let kind = match found {
            Some((words, name)) => {
                self.expect_all(words)?;
                PrivilegeKind::Static(name)
            }
            None if self.at(Kw::GRANT) => {
                self.bump();
                self.expect(Kw::OPTION)?;
                PrivilegeKind::GrantOption
            }
            None => PrivilegeKind::Named(self.role()?),
        };
        let of_columns = matches!(kind, PrivilegeKind::Static("SELECT" | "INSERT" | "UPDATE" | "REFERENCES"));
        let columns = if of_columns && self.is(Tok::LParen) { self.paren_names()? } else { Vec::new() };
        Ok(Privilege { kind, columns })
    }

    /// ALL [PRIVILEGES], or a list.
    fn privileges(&mut self) -> R<Vec<Privilege>> {
        if self.eat(Kw::ALL) {
            self.eat(Kw::PRIVILEGES);
            return Ok(vec![Privilege { kind: PrivilegeKind::All, columns: Vec::new() }]);
        }
        self.comma_list(Self::privilege)
    }

    /// `[TABLE | FUNCTION | PROCEDURE] level`, behind ON.
    fn privilege_level(&mut self) -> R<(GrantObject, PrivilegeLevel)> {
        let object = match self.eat_any(&[Kw::TABLE, Kw::FUNCTION, Kw::PROCEDURE]) {
            Some(Kw::FUNCTION) => GrantObject::Function,
            Some(Kw::PROCEDURE) => GrantObject::Procedure,
            _ => GrantObject::Table,
        };
        if self.eat_tok(Tok::Star) {
            if self.eat_tok(Tok::Dot) {
                self.expect_tok(Tok::Star)?;
                return Ok((object, PrivilegeLevel::Global));
            }
            return Ok((object, PrivilegeLevel::CurrentDatabase));
        }
        let first = self.name()?;
        if self.eat_tok(Tok::Dot) {
            if self.eat_tok(Tok::Star) {
                return Ok((object, PrivilegeLevel::Database(first)));
            }
            let name = self.any_word()?;
            return Ok((object, PrivilegeLevel::Object(self.note_reserved(ObjectName { schema: Some(first), name }))));
        }
        Ok((object, PrivilegeLevel::Object(self.note_reserved(ObjectName { schema: None, name: first }))))
    }

    /// Roles out of what was read as privileges, when no ON followed.
    fn as_roles(&self, privileges: Vec<Privilege>) -> R<Vec<Account>> {
        privileges
            .into_iter()
            .map(|p| match p.kind {
                PrivilegeKind::Named(role) if p.columns.is_empty() => Ok(role),
                _ => Err(self.syntax()),
            })
            .collect()
    }

    /// Dynamic privileges have no host.
    fn check_privileges(&self, privileges: &[Privilege]) -> R<()> {
        let role = |p: &Privilege| matches!(p.kind, PrivilegeKind::Named(Account::Named { host: Some(_), .. }));
        if privileges.iter().any(role) { Err(self.syntax()) } else { Ok(()) }
    }

    pub(super) fn grant(&mut self) -> R<Statement> {
        if self.at(Kw::PROXY) && self.peek().kw == Kw::ON {
            self.bump();
            self.bump();
            let proxied = self.account()?;
            self.expect(Kw::TO)?;
            let to = self.comma_list(Self::account)?;
            let with_grant_option = self.with_option(Kw::GRANT)?;
            return Ok(Statement::Grant(Box::new(Grant::Proxy { proxied, to, with_grant_option })));
        }
        let privileges = self.privileges()?;
        if self.eat(Kw::TO) {
            let roles = self.as_roles(privileges)?;
            let to = self.comma_list(Self::account)?;
            let with_admin_option = self.with_option(Kw::ADMIN)?;
            return Ok(Statement::Grant(Box::new(Grant::Roles { roles, to, with_admin_option })));
        }
        self.check_privileges(&privileges)?;
        self.expect(Kw::ON)?;
        let (object, level) = self.privilege_level()?;
        self.expect(Kw::TO)?;
        let to = self.comma_list(Self::account)?;
        let with_grant_option = self.with_option(Kw::GRANT)?;
        let as_user = if self.eat(Kw::AS) {
            let user = self.account()?;
            let roles = if self.eat(Kw::WITH) {
                self.expect(Kw::ROLE)?;
                self.role_selection(true)?
            } else {
                RoleSelection::Default
            };
            Some((user, roles))
        } else {
            None
        };
        Ok(Statement::Grant(Box::new(Grant::Privileges { privileges, object, level, to, with_grant_option, as_user })))
    }

    /// WITH GRANT | ADMIN OPTION, or nothing.
    fn with_option(&mut self, kw: Kw) -> R<bool> {
        if !self.eat(Kw::WITH) {
            return Ok(false);
        }
        self.expect_all(&[kw, Kw::OPTION])?;
        Ok(true)
    }

    pub(super) fn revoke(&mut self) -> R<Statement> {
        let if_exists = self.eat_if_exists()?;
        let what = if self.at(Kw::PROXY) && self.peek().kw == Kw::ON {
            self.bump();
            self.bump();
            RevokeWhat::Proxy(self.account()?)
        } else {
            let privileges = self.privileges()?;
            if self.eat(Kw::ON) {
                self.check_privileges(&privileges)?;
                let (object, level) = self.privilege_level()?;
                RevokeWhat::Privileges { privileges, object, level }
            } else if matches!(privileges[..], [Privilege { kind: PrivilegeKind::All, .. }]) {
                self.expect_tok(Tok::Comma)?;
                self.expect_all(&[Kw::GRANT, Kw::OPTION])?;
                RevokeWhat::Everything
            } else {
                RevokeWhat::Roles(self.as_roles(privileges)?)
            }
        };
        self.expect(Kw::FROM)?;
        let from = self.comma_list(Self::account)?;
        let ignore_unknown_user = self.eat(Kw::IGNORE);
        if ignore_unknown_user {
            self.expect_all(&[Kw::UNKNOWN, Kw::USER])?;
        }
        Ok(Statement::Revoke(Box::new(Revoke { if_exists, what, from, ignore_unknown_user })))
    }

    /// SET PASSWORD, at PASSWORD.
    pub(super) fn set_password(&mut self) -> R<Statement> {
        self.bump();
        let account = if self.eat(Kw::FOR) { self.account()? } else { Account::Current };
        let password = if self.eat(Kw::TO) {
            self.expect(Kw::RANDOM)?;
            None
        } else {
            self.expect_assign()?;
            Some(self.text()?)
        };
        let replace = if self.eat(Kw::REPLACE) { Some(self.text()?) } else { None };
        let retain_current = self.eat(Kw::RETAIN);
        if retain_current {
            self.expect_all(&[Kw::CURRENT, Kw::PASSWORD])?;
        }
        Ok(Statement::SetPassword(Box::new(SetPassword { account, password, replace, retain_current })))
    }
}
