//! Handshake and authentication: a connection becomes a session of an account.

use crate::hosts::HostError;
use crate::needs::{Action, check, may};
use crate::server::USER_CONNECTIONS;
use crate::session::Session;
use crate::variables::{Val, VarId, id};
use crate::{charset, tls};
use accounts::{Channel, Client, Identity, LoginCheck};
use expr::{Env, Stage};
use observe::Counter;
use protocol::auth::{self, Authenticator, FastAuth, Fault, LoginError, Plugin};
use protocol::handshake::{Scramble, new_scramble};
use protocol::{Capabilities, Connection, Greeting, Next, Offer, Peer};
use run::Outcome;
use std::time::Duration;
use types::codes::*;
use types::collation::CollationId;
use types::{Result, SqlError, err};

const COLLATION_SERVER: VarId = id("collation_server");
pub(crate) const OFFLINE: VarId = id("offline_mode");
const VERSION: VarId = id("version");
const CONNECT_TIMEOUT: VarId = id("connect_timeout");
const WAIT_TIMEOUT: VarId = id("wait_timeout");
const INTERACTIVE_TIMEOUT: VarId = id("interactive_timeout");
const MAX_CONNECTIONS: VarId = id("max_connections");
const DISCONNECT_EXPIRED: VarId = id("disconnect_on_expired_password");
const MAX_CONNECT_ERRORS: VarId = id("max_connect_errors");
const PROXY_USER: VarId = id("proxy_user");
const EXTERNAL_USER: VarId = id("external_user");
const REQUIRE_SECURE: VarId = id("require_secure_transport");
const USER_CHARS_MAX: usize = 32;

struct Check<'a>(LoginCheck<'a>);

impl Authenticator for Check<'_> {
    fn begin(&mut self, user: &str) -> Plugin {
        match self.0.begin(user) {
            accounts::Plugin::CachingSha2 => Plugin::CachingSha2,
            accounts::Plugin::NativePassword => Plugin::NativePassword,
            accounts::Plugin::Sha256 => Plugin::Sha256,
            accounts::Plugin::Socket => Plugin::Socket,
            accounts::Plugin::NoLogin => Plugin::NoLogin,
        }
    }

    fn empty_password(&mut self) -> bool {
        self.0.empty_password()
    }

    fn native(&mut self, scramble: &Scramble, reply: &[u8; 20]) -> bool {
        self.0.native(scramble, reply)
    }

    fn sha2_fast(&mut self, scramble: &Scramble, reply: &[u8; 32]) -> FastAuth {
        if self.0.sha2_fast(scramble, reply) { FastAuth::Accept } else { FastAuth::NeedFull }
    }

    fn sha2_full(&mut self, password: &[u8]) -> bool {
        self.0.sha2_full(password)
    }

    fn socket(&mut self, uid: Option<u32>) -> bool {
        let name = uid.and_then(machine_user);
        self.0.socket(name.as_deref())
    }
}

/// The name of a user of this machine.
fn machine_user(uid: u32) -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let of_line = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_string())
    };
    users.lines().find_map(of_line)
}

impl crate::Server {
    /// The keys with which passwords come over connections without TLS are there from here on, in the files that clients look for and
    /// in SHOW STATUS. The error says what keeps them from it.
    pub fn make_rsa_keys(&self) -> std::result::Result<(), String> {
        self.rsa.get().map(|_| ()).map_err(str::to_string)
    }
}

impl Session {
    fn client(&self) -> Client {
        Client::new(match self.peer {
            Peer::Tcp(address) => Some(address.ip()),
            Peer::Unix => None,
        })
    }

    /// The whole handshake. Answers OK or ERR itself.
    pub(crate) fn greet(&mut self, conn: &mut Connection) -> Next {
        let server = std::sync::Arc::clone(&self.server);
        sync::blocking::serve(self.tx.interrupt());
        if let Err(error) = server.hosts.admit(&self.peer, server.globals.load().uint(MAX_CONNECT_ERRORS)) {
            return self.refuse(conn, &error);
        }
        if let Err(error) = server.accounts.admits(&self.client()) {
            server.hosts.outcome(&self.peer, Err(HostError::HostAcl));
            return self.refuse(conn, &error);
        }
        let version = self.state.vars.text(VERSION).to_string();
        let greeting = Greeting::new(&version, self.state.id);
        self.scramble = greeting.scramble;
        let timeout = Duration::from_secs(server.globals.load().uint(CONNECT_TIMEOUT));
        let mut check = Check(LoginCheck::new(&server.accounts, self.client()));
        let tls = server.tls.load();
        let offer = Offer { tls: tls.0.as_ref(), compression: tls::compression(&server.globals.load()) };
        let login = conn.authenticate(&greeting, &mut check, Some(&server.rsa), offer, timeout);
        self.tls = conn.tls().cloned().map(std::sync::Arc::new);
        let outcome = match login {
            Ok(login) => {
                let outcome = self.finish(check, conn).and_then(|identity| {
                    self.interactive = login.capabilities.has(Capabilities::INTERACTIVE);
                    self.can_leave_out_metadata = login.capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA);
                    self.found_rows = login.capabilities.has(Capabilities::FOUND_ROWS);
                    self.admit_identity(conn, &identity, login.capabilities)?;
                    self.keep_attributes(&login.attributes);
                    self.become_account(identity, login.database.as_deref(), login.collation)
                });
                self.note_host(outcome.as_ref().map(|_| ()), Fault::Told);
                outcome
            }
            Err(error) => match self.failed_login(&check, error) {
                Some(error) => Err(error),
                None => {
                    observe::increment(observe::Counter::AbortedConnects);
                    return Next::Close;
                }
            },
        };
        if let Err(error) = outcome {
            self.log_command("Connect", error.message.as_bytes());
            self.note_denied(&error);
            self.audit_connection("connect", error.code);
            return self.refuse(conn, &error);
        }
        self.log_login();
        self.audit_connection("connect", 0);
        self.apply_to(conn);
        self.idle_from(observe::clock::now_ns());
        if self.ok(conn.output(), &Outcome::default()).is_err() || conn.start_compression().is_err() {
            return Next::Close;
        }
        self.compression = conn.compression();
        let next = self.init_connect(conn);
        self.hand_over_variables();
        self.entry.sleep();
        next
    }

    /// The error that a failed exchange is answered with; `None`: nobody is there to be told. It is a failed login whatever the client
    /// did, or left undone.
    fn failed_login(&mut self, check: &Check<'_>, error: LoginError) -> Option<SqlError> {
        let (told, fault) = match error {
            LoginError::Refused(error, fault) => (Some(error), fault),
            LoginError::Gone(_, fault) => (None, fault),
            LoginError::NoTls => (None, Fault::Handshake),
        };
        let is_told = told.is_some();
        self.state.user = format!("{}@{}", check.0.user(), self.peer.host());
        let denied = || auth::access_denied(check.0.user(), &self.peer.host(), true);
        let error = check.0.refused(told.unwrap_or_else(denied));
        self.note_host(Err(&error), fault);
        self.delay(&self.name_of_login(check), false);
        is_told.then_some(error)
    }

    /// Counts a login in the host cache.
    fn note_host(&self, outcome: std::result::Result<(), &SqlError>, fault: Fault) {
        if outcome.is_err_and(|error| error.code == ER_ACCOUNT_HAS_BEEN_LOCKED) {
            observe::increment(Counter::LockedConnects);
        }
        let outcome = match outcome {
            Ok(()) => Ok(()),
            // That an account is blocked is no affair of the host's.
            Err(error) if error.code == ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK => return,
            Err(error) => Err(match fault {
                Fault::Handshake => HostError::Handshake,
                Fault::Plugin => HostError::AuthPlugin,
                Fault::Told => HostError::of(error),
            }),
        };
        self.server.hosts.outcome(&self.peer, outcome);
    }

    /// By whom failures are counted: the account, or what the client calls itself.
    fn name_of_login(&self, check: &Check<'_>) -> String {
        match check.0.account() {
            Some(account) => account.to_string(),
            // No account has a longer name.
            None => {
                let user: String = check.0.user().chars().take(USER_CHARS_MAX).collect();
                format!("'{user}'@'{}'", self.peer.host())
            }
        }
    }

    /// Keeps the answer to a login back for a while after too many failures, if the server is to do so.
    fn delay(&mut self, name: &str, succeeded: bool) {
        let Some(delays) = self.server.login_delays() else { return };
        if let Some(time) = self.server.failed_logins.delay(name, delays) {
            let before = self.state.stage(Stage::ConnectionControl);
            let interrupt = std::sync::Arc::clone(self.tx.interrupt());
            interrupt.arm();
            interrupt.sleep(time, sync::waits::Wait::ConnectionDelay);
            self.state.stage(before);
        }
        self.server.failed_logins.note(name, succeeded);
    }

    /// The general log's entry of a login.
    fn log_login(&self) {
        if !self.server.logs.any() {
            return;
        }
        let way = match (self.peer, &self.tls) {
            (_, Some(_)) => "SSL/TLS",
            (Peer::Unix, None) => "Socket",
            (Peer::Tcp(_), None) => "TCP/IP",
        };
        let (user, schema) = (&self.state.user, self.state.database.as_deref().unwrap_or(""));
        self.log_command("Connect", format!("{user} on {schema} using {way}").as_bytes());
    }

    /// The password is right. Error 3159, or one of [`LoginCheck::finish`].
    fn finish(&mut self, check: Check<'_>, conn: &Connection) -> Result<Identity> {
        let name = self.name_of_login(&check);
        self.state.user = format!("{}@{}", check.0.user(), self.peer.host());
        let identity = match !conn.is_secure() && self.server.globals.load().bool(REQUIRE_SECURE) {
            true => Err(err!(ER_SECURE_TRANSPORT_REQUIRED)),
            false => check.0.finish(self.tls.as_ref().map(|tls| Channel {
                cipher: tls.cipher,
                client: tls.client.as_ref().map(|names| (names.subject.as_str(), names.issuer.as_str())),
            })),
        };
        self.delay(&name, identity.is_ok());
        identity
    }

    fn refuse(&mut self, conn: &mut Connection, error: &SqlError) -> Next {
        observe::increment(observe::Counter::AbortedConnects);
        // The client may be gone already: closing is all that is left either way.
        let _ = conn.output().error(error);
        Next::Close
    }

    /// COM_CHANGE_USER: all of the session's state goes, a new login decides. Answers itself.
    pub(crate) fn change_user(&mut self, conn: &mut Connection, request: ChangeUser) -> Next {
        let server = std::sync::Arc::clone(&self.server);
        self.forget();
        self.connected = None;
        let timeout = Duration::from_secs(server.globals.load().uint(CONNECT_TIMEOUT));
        let mut check = Check(LoginCheck::new(&server.accounts, self.client()));
        self.scramble = new_scramble();
        let scramble = self.scramble;
        let parts = (request.user.as_str(), request.plugin.as_str(), request.auth_reply);
        let result = conn.authenticate_again(&scramble, parts, &mut check, Some(&server.rsa), timeout);
        let outcome = match result {
            Ok(_) => self.finish(check, conn),
            Err(error) => match self.failed_login(&check, error) {
                Some(error) => Err(error),
                None => return Next::Close,
            },
        };
        let database = Some(request.database.as_str()).filter(|d| !d.is_empty());
        let collation = request.collation.unwrap_or(255);
        let outcome = outcome.and_then(|identity| {
            self.admit_identity(conn, &identity, conn.capabilities())?;
            self.keep_attributes(&request.attributes);
            self.become_account(identity, database, collation)
        });
        if let Err(error) = outcome {
            self.audit_connection("change_user", error.code);
            return self.refuse(conn, &error);
        }
        self.audit_connection("change_user", 0);
        self.apply_to(conn);
        if self.ok(conn.output(), &Outcome::default()).is_err() { Next::Close } else { Next::Continue }
    }

    /// Errors 1040, 1227, 1862.
    fn admit_identity(&self, conn: &Connection, identity: &Identity, client: Capabilities) -> Result<()> {
        self.check_door(conn, identity)?;
        self.admit_expired(identity, client)
    }

    /// The connection above `max_connections` is kept for those who can put things right, until others have gone: error 1040. Those by
    /// `admin_address` are theirs alone: error 1227. In offline mode nobody else is let in: error 3032.
    fn check_door(&self, conn: &Connection, identity: &Identity) -> Result<()> {
        let access = || self.server.accounts.access(identity.account.clone(), &identity.client_host);
        if conn.is_administrative() {
            return check(&access(), Action::AdministrativeConnection, None);
        }
        if self.server.globals.load().bool(OFFLINE) && !may(&access(), Action::ReservedConnection) {
            return Err(err!(ER_SERVER_OFFLINE_MODE));
        }
        let is_full = || self.server.processes.connected() > self.server.globals.load().uint(MAX_CONNECTIONS);
        if conn.is_reserved() && is_full() && !may(&access(), Action::ReservedConnection) {
            return Err(err!(ER_CON_COUNT_ERROR));
        }
        Ok(())
    }

    /// Who has to set a new password first can do that only with a client that knows of it. Error 1862.
    fn admit_expired(&self, identity: &Identity, client: Capabilities) -> Result<()> {
        let knows = client.has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
        let refuses = identity.password_expired && !knows && self.server.globals.load().bool(DISCONNECT_EXPIRED);
        if refuses { Err(err!(ER_MUST_CHANGE_PASSWORD_LOGIN)) } else { Ok(()) }
    }

    /// The session is `identity`'s from now on. Errors 1231, 1044, 1049.
    fn become_account(&mut self, identity: Identity, database: Option<&str>, collation: u16) -> Result<()> {
        let collation = match self.server.client_charset {
            true => CollationId(collation),
            false => CollationId::by_name(self.state.vars.text(COLLATION_SERVER)).expect("checked when set"),
        };
        // Statements are not read in a set whose characters take two bytes or more.
        if collation.is_known() && collation.charset().mbminlen() > 1 {
            return Err(err!(ER_WRONG_VALUE_FOR_VAR, "character_set_client", collation.charset().name()));
        }
        let access = self.server.accounts.access(identity.account.clone(), &identity.client_host);
        self.state.user = format!("{}@{}", identity.user, identity.client_host);
        self.state.current_user = format!("{}@{}", identity.account.user, identity.account.host);
        self.password_expired = identity.password_expired;
        if let Some(proxy) = &identity.proxy_user {
            self.state.vars.set(PROXY_USER, Val::Str(proxy.to_string().into()));
        }
        if let Some(user) = &identity.external_user {
            self.state.vars.set(EXTERNAL_USER, Val::Str(user.clone().into()));
        }
        self.connected = identity.connected;
        self.access = Some(access);
        self.restrict();
        let own = self.access().account().limits.user_connections;
        if own > 0 {
            self.state.vars.set(USER_CONNECTIONS, Val::UInt(own.into()));
        }
        self.activate_login_roles();
        if collation.is_known() {
            charset::set_names(&mut self.state, collation);
        }
        if self.interactive {
            let value = self.state.vars.get(INTERACTIVE_TIMEOUT).clone();
            self.state.vars.set(WAIT_TIMEOUT, value);
        }
        // COM_CHANGE_USER leaves the former user's database.
        self.state.database = None;
        self.entry_identify(&identity.user);
        if let Some(database) = database {
            self.use_database(database)?;
        }
        Ok(())
    }
}

/// COM_CHANGE_USER's fields, copied off the packet.
pub(crate) struct ChangeUser {
    pub user: String,
    pub auth_reply: Vec<u8>,
    pub database: String,
    pub collation: Option<u16>,
    pub plugin: String,
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}
