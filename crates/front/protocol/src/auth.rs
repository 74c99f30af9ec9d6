//! The authentication exchange: which packets go to and fro. Who may log in is the [`Authenticator`]'s knowledge.
//!
//! ```text
//!  server                             client
//!  greeting (scramble)       -->
//!                            <--      user, plugin, reply
//!  fe plugin scramble        -->                             when the account has another plugin
//!                            <--      reply
//!  mysql_native_password: reply is SHA1(password) XOR SHA1(scramble + SHA1(SHA1(password)))
//!  caching_sha2_password: reply is SHA256(password) XOR SHA256(SHA256(SHA256(password)) + scramble)
//!  01 03                     -->                             known in the cache: done
//!  01 04                     -->                             not in the cache
//!                            <--      password NUL           over TLS or a Unix socket
//!                            <--      02                     over plain TCP: the public key, please
//!  01 key in PEM             -->
//!                            <--      RSA-OAEP(password NUL XOR scramble)
//!  sha256_password: as caching_sha2_password without a cache, the key is asked for by 01
//!  auth_socket: the kernel says who the client is; mysql_no_login: nobody is
//!  OK or ERR                 -->                             sent by the caller
//! ```

use crate::compress::{self, Allowed};
use crate::handshake::Scramble;
use crate::tls::Acceptor;
use crate::{Algorithm, Capabilities, Connection, Greeting, Login, ReadOutcome, RsaKeys};
use std::time::{Duration, Instant};
use types::codes::*;
use types::{SqlError, err};

/// A password longer than this is refused, as in MySQL.
const MAX_PASSWORD_BYTES: usize = 256;
/// `AuthMoreData`.
const MORE: u8 = 0x01;
const FAST_SUCCESS: u8 = 0x03;
const FULL_AUTHENTICATION: u8 = 0x04;
const REQUEST_PUBLIC_KEY: u8 = 0x02;
/// The same, of sha256_password.
const REQUEST_PUBLIC_KEY_SHA256: u8 = 0x01;

/// An authentication plugin of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plugin {
    CachingSha2,
    NativePassword,
    Sha256,
    /// auth_socket: needs nothing of the client.
    Socket,
    /// mysql_no_login
    NoLogin,
}

impl Plugin {
    pub const fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => "caching_sha2_password",
            Plugin::NativePassword => "mysql_native_password",
            Plugin::Sha256 => "sha256_password",
            Plugin::Socket => "auth_socket",
            Plugin::NoLogin => "mysql_no_login",
        }
    }

    /// Has the client a part in it, by the same name?
    const fn asks_client(self) -> bool {
        !matches!(self, Plugin::Socket | Plugin::NoLogin)
    }
}

/// What the cache of caching_sha2_password says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastAuth {
    Accept,
    /// Not in the cache, or another password: the client must show the password itself.
    NeedFull,
}

/// Knows the accounts. Called in order: `begin`, then the one check that fits.
pub trait Authenticator {
    /// The plugin of the account that `user` at this peer would get. An unknown user gets a plugin too, and is refused
    /// by the checks: so nobody learns who exists.
    fn begin(&mut self, user: &str) -> Plugin;

    /// The client sent no password: the account exists and has none.
    fn empty_password(&mut self) -> bool;

    fn native(&mut self, scramble: &Scramble, reply: &[u8; 20]) -> bool;

    fn sha2_fast(&mut self, scramble: &Scramble, reply: &[u8; 32]) -> FastAuth;

    /// The password in clear text, of caching_sha2_password and sha256_password. With the former it goes to the cache on success.
    fn sha2_full(&mut self, password: &[u8]) -> bool;

    /// auth_socket: is the user of the machine with this number the account's? `None`: the client is not on a Unix socket.
    fn socket(&mut self, uid: Option<u32>) -> bool;
}

/// What the greeting offers, besides what every connection has.
#[derive(Clone, Copy)]
pub struct Offer<'a> {
    pub tls: Option<&'a Acceptor>,
    pub compression: Allowed,
}

/// Why there is no login.
#[derive(Debug)]
pub enum LoginError {
    /// The client went away or the socket broke: nothing to say.
    Gone(ReadOutcome, Fault),
    /// The TLS handshake failed, and has said so in TLS's own words.
    NoTls,
    /// To be told to the client: 1043, 1045, 1251, ...
    Refused(SqlError, Fault),
}

/// What went wrong, as the host cache counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The client does not follow the protocol, or has gone.
    Handshake,
    /// It follows it so far, but no plugin knows what to do with what it says.
    Plugin,
    /// The error says it.
    Told,
}

impl Connection {
    /// Greets the client and authenticates it, within `timeout` (`connect_timeout`) in all. The caller sends OK or ERR. `keys`: for
    /// caching_sha2_password over plain TCP. `offer`: what else the greeting says.
    pub fn authenticate(
        &mut self,
        greeting: &Greeting<'_>,
        authenticator: &mut dyn Authenticator,
        keys: Option<&RsaKeys>,
        offer: Offer<'_>,
        timeout: Duration,
    ) -> Result<Login, LoginError> {
        let ends_at = Instant::now() + timeout;
        self.set_read_deadline(Some(ends_at));
        let login = self.log_in(greeting, authenticator, keys, offer, ends_at);
        self.set_read_deadline(None);
        login
    }

    fn log_in(
        &mut self,
        greeting: &Greeting<'_>,
        authenticator: &mut dyn Authenticator,
        keys: Option<&RsaKeys>,
        offer: Offer<'_>,
        ends_at: Instant,
    ) -> Result<Login, LoginError> {
        let Offer { tls, compression } = offer;
        let offered = compression.add_to(Capabilities::SERVER.with(Capabilities::SSL, tls.is_some()));
        let output = self.output();
        output.seq = 0;
        greeting.put(output.begin(), offered);
        output.end().map_err(|_| LoginError::Gone(ReadOutcome::Broken, Fault::Handshake))?;
        self.set_capabilities(Capabilities::PROTOCOL_41);
        let bad = |_| refused(ER_HANDSHAKE_ERROR, "Bad handshake".into());
        self.read_answer(ends_at)?;
        if let Some(acceptor) = tls
            && Login::is_tls_request(self.packet()).map_err(bad)?
        {
            self.start_tls(acceptor, left(ends_at)).map_err(|_| LoginError::NoTls)?;
            self.read_answer(ends_at)?;
        }
        let mut login = Login::parse(self.packet(), offered).map_err(bad)?;
        self.set_capabilities(login.capabilities);
        self.agree_on_compression(&login, compression)?;
        let reply = std::mem::take(&mut login.auth_reply);
        let exchange =
            Exchange { conn: self, authenticator, keys, ends_at, scramble: &greeting.scramble, switches: false };
        login.used_password = exchange.run(&login.user, &login.plugin, reply)?;
        Ok(login)
    }

    /// Errors 3922, 3923.
    fn agree_on_compression(&mut self, login: &Login, allowed: Allowed) -> Result<(), LoginError> {
        let agreed = Algorithm::agreed(login.capabilities, login.zstd_level);
        let name = agreed.map_or(compress::UNCOMPRESSED, Algorithm::name);
        if !allowed.has(agreed) {
            return Err(refused(
                ER_WRONG_COMPRESSION_ALGORITHM_CLIENT,
                format!("Invalid compression algorithm '{name}'."),
            ));
        }
        if matches!(agreed, Some(Algorithm::Zstd(level)) if !Algorithm::is_zstd_level(level)) {
            let message = format!("Invalid zstd compression level for algorithm '{name}'.");
            return Err(refused(ER_WRONG_COMPRESSION_LEVEL_CLIENT, message));
        }
        (self.agreed, self.wanted_compression) = (agreed, login.wanted_compression);
        Ok(())
    }

    /// Reads the client's answer to the greeting.
    fn read_answer(&mut self, ends_at: Instant) -> Result<(), LoginError> {
        match self.read_reply(Some(left(ends_at))) {
            ReadOutcome::Packet => Ok(()),
            outcome => Err(unread(outcome, Fault::Handshake)),
        }
    }

    /// Authenticates COM_CHANGE_USER. `scramble` is a new one that clients are asked with, whatever they have sent, as MySQL does: some
    /// send no proof at all, and wait for that. Copy the command's fields first: the packet
    /// is overwritten. True: a password was used.
    pub fn authenticate_again(
        &mut self,
        scramble: &Scramble,
        (user, plugin, reply): (&str, &str, Vec<u8>),
        authenticator: &mut dyn Authenticator,
        keys: Option<&RsaKeys>,
        timeout: Duration,
    ) -> Result<bool, LoginError> {
        let ends_at = Instant::now() + timeout;
        self.set_read_deadline(Some(ends_at));
        let switches = self.capabilities().has(Capabilities::PLUGIN_AUTH);
        let exchange = Exchange { conn: self, authenticator, keys, ends_at, scramble, switches };
        let done = exchange.run(user, plugin, reply);
        self.set_read_deadline(None);
        done
    }
}

struct Exchange<'a> {
    conn: &'a mut Connection,
    authenticator: &'a mut dyn Authenticator,
    keys: Option<&'a RsaKeys>,
    ends_at: Instant,
    scramble: &'a Scramble,
    /// The client has not seen the scramble yet.
    switches: bool,
}

impl Exchange<'_> {
    /// True: logged in with a password; false: without.
    fn run(mut self, user: &str, client_plugin: &str, reply: Vec<u8>) -> Result<bool, LoginError> {
        let plugin = self.authenticator.begin(user);
        let mut reply = reply;
        if !plugin.asks_client() {
            let uid = self.conn.peer_uid();
            let accepted = plugin == Plugin::Socket && self.authenticator.socket(uid);
            return if accepted { Ok(false) } else { Err(self.denied_without_password(user)) };
        }
        if !self.conn.capabilities().has(Capabilities::PLUGIN_AUTH) {
            if plugin != Plugin::NativePassword {
                let message = "Client does not support authentication protocol requested by server; consider upgrading \
                               MySQL client";
                return Err(refused(ER_NOT_SUPPORTED_AUTH_MODE, message.into()));
            }
        } else if self.switches
            || client_plugin != plugin.name()
            || (plugin == Plugin::NativePassword && reply.is_empty())
        {
            // The greeting names caching_sha2_password. A client that was told to use the other plugin has nothing to say to that
            // one's scramble and waits to be asked (libmariadb with a default of its own, as in a MariaDB replica).
            let scramble = self.scramble;
            let out = self.conn.output().begin();
            out.push(0xfe);
            out.extend_from_slice(plugin.name().as_bytes());
            out.push(0);
            out.extend_from_slice(scramble);
            out.push(0);
            reply = self.exchange(Fault::Handshake)?;
        }
        // Some clients say "no password" by one zero byte.
        if reply.is_empty() || reply == [0] {
            return if self.authenticator.empty_password() { Ok(false) } else { Err(self.denied(user, false)) };
        }
        let accepted = match plugin {
            Plugin::NativePassword => match reply.as_slice().try_into() {
                Ok(reply) => self.authenticator.native(self.scramble, reply),
                Err(_) => false,
            },
            Plugin::CachingSha2 => self.caching_sha2(user, &reply)?,
            Plugin::Sha256 => self.sha256(user, reply)?,
            Plugin::Socket | Plugin::NoLogin => unreachable!("decided above"),
        };
        if accepted { Ok(true) } else { Err(self.denied(user, true)) }
    }

    fn caching_sha2(&mut self, user: &str, reply: &[u8]) -> Result<bool, LoginError> {
        let Ok(reply) = reply.try_into() else { return Err(self.misplaced(user, Fault::Plugin)) };
        if self.authenticator.sha2_fast(self.scramble, reply) == FastAuth::Accept {
            self.conn.output().begin().extend_from_slice(&[MORE, FAST_SUCCESS]);
            self.conn.output().end().map_err(|_| LoginError::Gone(ReadOutcome::Broken, Fault::Handshake))?;
            return Ok(true);
        }
        self.conn.output().begin().extend_from_slice(&[MORE, FULL_AUTHENTICATION]);
        let reply = self.exchange(Fault::Handshake)?;
        if reply.is_empty() {
            return Err(self.misplaced(user, Fault::Handshake));
        }
        self.clear_password(user, reply, REQUEST_PUBLIC_KEY)
    }

    fn sha256(&mut self, user: &str, reply: Vec<u8>) -> Result<bool, LoginError> {
        self.clear_password(user, reply, REQUEST_PUBLIC_KEY_SHA256)
    }

    /// The password itself: as it is where the connection is secure, else under the server's key, for which the client may ask by
    /// `request`.
    fn clear_password(&mut self, user: &str, mut reply: Vec<u8>, request: u8) -> Result<bool, LoginError> {
        let asks = reply == [request];
        let password = if self.conn.is_secure() && !asks {
            reply
        } else {
            let Some(keys) = self.keys else { return Ok(false) };
            let pair = match keys.get() {
                Ok(pair) => pair,
                Err(e) => return Err(refused(ER_UNKNOWN_ERROR, format!("RSA key pair for authentication: {e}"))),
            };
            if asks {
                let out = self.conn.output().begin();
                out.push(MORE);
                out.extend_from_slice(pair.public_pem().as_bytes());
                reply = self.exchange(Fault::Plugin)?;
            }
            let decrypted = pair.decrypt(&reply);
            let Some(mut password) = decrypted else { return Err(self.misplaced(user, Fault::Plugin)) };
            for (byte, pad) in password.iter_mut().zip(self.scramble.iter().cycle()) {
                *byte ^= pad;
            }
            password
        };
        // The password ends with a zero byte.
        match password.split_last() {
            Some((0, password)) if !password.is_empty() && password.len() <= MAX_PASSWORD_BYTES => {
                Ok(self.authenticator.sha2_full(password))
            }
            _ => Ok(false),
        }
    }

    /// Ends the packet that was begun, sends it and gives the client's answer. `fault`: what it is that there is none.
    fn exchange(&mut self, fault: Fault) -> Result<Vec<u8>, LoginError> {
        self.conn.output().end().map_err(|_| LoginError::Gone(ReadOutcome::Broken, Fault::Handshake))?;
        match self.conn.read_reply(Some(left(self.ends_at))) {
            ReadOutcome::Packet => Ok(self.conn.packet().to_vec()),
            outcome => Err(unread(outcome, fault)),
        }
    }

    /// Error 1698: a password has no part in it.
    fn denied_without_password(&self, user: &str) -> LoginError {
        LoginError::Refused(err!(ER_ACCESS_DENIED_NO_PASSWORD_ERROR, user, self.conn.peer().host()), Fault::Told)
    }

    fn denied(&self, user: &str, used_password: bool) -> LoginError {
        LoginError::Refused(access_denied(user, &self.conn.peer().host(), used_password), Fault::Told)
    }

    /// The answer is none that the plugin could check.
    fn misplaced(&self, user: &str, fault: Fault) -> LoginError {
        LoginError::Refused(access_denied(user, &self.conn.peer().host(), true), fault)
    }
}

fn left(ends_at: Instant) -> Duration {
    ends_at.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// Error 1045.
#[cold]
pub fn access_denied(user: &str, host: &str, used_password: bool) -> SqlError {
    let using = if used_password { "YES" } else { "NO" };
    err!(ER_ACCESS_DENIED_ERROR, user, host, using)
}

#[cold]
fn refused(code: u16, message: String) -> LoginError {
    LoginError::Refused(SqlError::new(code, message), Fault::Told)
}

/// A client that says nothing for `connect_timeout` is told so, as MySQL does.
#[cold]
fn unread(outcome: ReadOutcome, fault: Fault) -> LoginError {
    let error = match outcome {
        ReadOutcome::Idle | ReadOutcome::TimedOut => Connection::read_error(ReadOutcome::TimedOut),
        other => Connection::read_error(other),
    };
    match error {
        Some(error) => LoginError::Refused(error, Fault::Told),
        None => LoginError::Gone(outcome, fault),
    }
}
