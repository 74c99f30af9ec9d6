//! The whole handshake with a client of the test's own, for both plugins, against real accounts.

use accounts::{Account, AccountName, Accounts, Client, Directory, LoginCheck};
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use protocol::{
    Allowed, Authenticator, Capabilities, Connection, FastAuth, Greeting, Login, LoginError, Offer, OkReply, Peer,
    Plugin, RsaKeys, Stream,
};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const PLAIN: Offer<'_> = Offer { tls: None, compression: Allowed::NOTHING };
const TIMEOUT: Duration = Duration::from_secs(30);

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
    fn native(&mut self, scramble: &[u8; 20], reply: &[u8; 20]) -> bool {
        self.0.native(scramble, reply)
    }
    fn sha2_fast(&mut self, scramble: &[u8; 20], reply: &[u8; 32]) -> FastAuth {
        if self.0.sha2_fast(scramble, reply) { FastAuth::Accept } else { FastAuth::NeedFull }
    }
    fn sha2_full(&mut self, password: &[u8]) -> bool {
        self.0.sha2_full(password)
    }
    fn socket(&mut self, _uid: Option<u32>) -> bool {
        self.0.socket(Some("machinist"))
    }
}

/// root (caching_sha2), old (native), open (no password), salted (sha256).
fn accounts() -> Accounts {
    let mut directory = Directory::bootstrap("secret");
    for (user, password) in [("old", "antique"), ("open", "")] {
        let mut account = Account::new(AccountName::new(user, "%"), accounts::Plugin::NativePassword);
        account.set_password(password.as_bytes(), 0);
        directory.put(account);
    }
    let mut salted = Account::new(AccountName::new("salted", "%"), accounts::Plugin::Sha256);
    salted.set_password(b"pepper", 0);
    directory.put(salted);
    Accounts::new(directory).with_native_password(true)
}

fn serve(stream: Stream, peer: Peer, accounts: &Accounts, keys: &RsaKeys) -> Result<Login, LoginError> {
    let mut conn = Connection::new(stream, peer).unwrap();
    let greeting = Greeting::new("8.4.0-clearway", 7);
    let mut check = Check(LoginCheck::new(accounts, Client::new(None)));
    let result = conn.authenticate(&greeting, &mut check, Some(keys), PLAIN, TIMEOUT);
    match &result {
        Ok(_) => conn.output().ok(&OkReply::default()).unwrap(),
        Err(LoginError::Refused(error, _)) => conn.output().error(error).unwrap(),
        Err(LoginError::Gone(..) | LoginError::NoTls) => return result,
    }
    conn.output().flush().unwrap();
    result
}

/// The client's side of a socket, with sequence ids checked.
struct Wire<S> {
    stream: S,
    seq: u8,
}

impl<S: Read + Write> Wire<S> {
    fn read(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).unwrap();
        assert_eq!(header[3], self.seq, "sequence id");
        self.seq += 1;
        let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
        self.stream.read_exact(&mut payload).unwrap();
        payload
    }

    fn write(&mut self, payload: &[u8]) {
        let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
        packet[3] = self.seq;
        self.seq += 1;
        packet.extend_from_slice(payload);
        self.stream.write_all(&packet).unwrap();
    }
}

fn native_reply(password: &str, scramble: &[u8]) -> Vec<u8> {
    let first = Sha1::digest(password);
    let pad = Sha1::new().chain_update(scramble).chain_update(Sha1::digest(first)).finalize();
    first.iter().zip(pad).map(|(a, b)| a ^ b).collect()
}

fn sha2_reply(password: &str, scramble: &[u8]) -> Vec<u8> {
    let first = Sha256::digest(password);
    let pad = Sha256::new().chain_update(Sha256::digest(first)).chain_update(scramble).finalize();
    first.iter().zip(pad).map(|(a, b)| a ^ b).collect()
}

fn reply(plugin: &str, password: &str, scramble: &[u8]) -> Vec<u8> {
    match (plugin, password) {
        (_, "") => Vec::new(),
        ("mysql_native_password", _) => native_reply(password, scramble),
        _ => sha2_reply(password, scramble),
    }
}

/// Logs in as a client does; the last packet (OK or ERR) and whether the password itself was sent.
fn log_in<S: Read + Write>(stream: S, secure: bool, user: &str, password: &str, guess: &str) -> (Vec<u8>, bool) {
    let mut wire = Wire { stream, seq: 0 };
    let greeting = wire.read();
    assert!(greeting.starts_with(b"\x0a8.4.0-clearway\0\x07\0\0\0"));
    let mut scramble = greeting[20..28].to_vec();
    scramble.extend_from_slice(&greeting[47..59]);
    assert!(scramble.iter().all(|b| *b != 0 && *b < 0x80));
    let capabilities = Capabilities::SERVER;
    let mut response = capabilities.0.to_le_bytes().to_vec();
    response.extend_from_slice(&(1u32 << 30).to_le_bytes());
    response.push(255);
    response.extend_from_slice(&[0; 23]);
    response.extend_from_slice(user.as_bytes());
    let proof = reply(guess, password, &scramble);
    response.extend_from_slice(&[0, proof.len() as u8]);
    response.extend_from_slice(&proof);
    response.extend_from_slice(b"test\0");
    response.extend_from_slice(guess.as_bytes());
    response.extend_from_slice(b"\0\0");
    wire.write(&response);
    let mut sent_password = false;
    loop {
        let packet = wire.read();
        match packet.as_slice() {
            [0x01, 0x03] => {}
            [0x01, 0x04] if secure => {
                sent_password = true;
                wire.write(format!("{password}\0").as_bytes());
            }
            [0x01, 0x04] => {
                sent_password = true;
                wire.write(&[2]);
                let pem = wire.read();
                wire.write(&encrypt(std::str::from_utf8(&pem[1..]).unwrap(), password, &scramble));
            }
            [0xfe, rest @ ..] => {
                let end = rest.iter().position(|b| *b == 0).unwrap();
                let plugin = std::str::from_utf8(&rest[..end]).unwrap();
                assert_eq!(rest.len(), end + 22);
                if plugin == SHA256 {
                    sent_password = true;
                    if secure || password.is_empty() {
                        wire.write(format!("{password}\0").as_bytes());
                        continue;
                    }
                    wire.write(&[1]);
                    let pem = wire.read();
                    wire.write(&encrypt(std::str::from_utf8(&pem[1..]).unwrap(), password, &rest[end + 1..end + 21]));
                    continue;
                }
                let proof = reply(plugin, password, &rest[end + 1..end + 21]);
                wire.write(&proof);
            }
            _ => return (packet, sent_password),
        }
    }
}

fn encrypt(pem: &str, password: &str, scramble: &[u8]) -> Vec<u8> {
    let body: String = pem.lines().filter(|l| !l.starts_with('-')).collect();
    let der = openssl_base64(&body);
    let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(&der).unwrap()).unwrap();
    let clear: Vec<u8> = password.bytes().chain([0]).zip(scramble.iter().cycle()).map(|(a, b)| a ^ b).collect();
    let mut out = vec![0; key.ciphertext_size()];
    key.encrypt(&OAEP_SHA1_MGF1SHA1, &clear, &mut out, None).unwrap().to_vec()
}

fn openssl_base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u32> = text.bytes().filter_map(|c| DIGITS.find(c as char)).map(|d| d as u32).collect();
    let mut out = Vec::new();
    for chunk in bits.chunks(4) {
        let word = chunk.iter().fold(0, |w, d| w << 6 | d) << (6 * (4 - chunk.len()));
        out.extend_from_slice(&word.to_be_bytes()[1..chunk.len()]);
    }
    out
}

struct Rig {
    accounts: Accounts,
    keys: RsaKeys,
    directory: std::path::PathBuf,
}

impl Rig {
    fn new(name: &str) -> Rig {
        let directory = std::env::temp_dir().join(format!("clearway-login-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Rig { accounts: accounts(), keys: RsaKeys::new(&directory), directory }
    }

    fn unix(&self, user: &str, password: &str, guess: &str) -> (Vec<u8>, bool) {
        let (client, server) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| serve(Stream::Unix(server), Peer::Unix, &self.accounts, &self.keys));
            log_in(client, true, user, password, guess)
        })
    }

    fn tcp(&self, user: &str, password: &str, guess: &str) -> (Vec<u8>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, address) = listener.accept().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| serve(Stream::Tcp(server), Peer::Tcp(address), &self.accounts, &self.keys));
            log_in(client, false, user, password, guess)
        })
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).unwrap();
    }
}

const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";
const SHA256: &str = "sha256_password";
const OK: u8 = 0;

#[test]
fn caching_sha2_sends_the_password_once_then_only_proofs() {
    let rig = Rig::new("sha2");
    let (packet, sent) = rig.tcp("root", "secret", SHA2);
    assert!(packet[0] == OK && sent, "RSA over plain TCP: {packet:?}");
    let (packet, sent) = rig.tcp("root", "secret", SHA2);
    assert!(packet[0] == OK && !sent, "fast");
    let (packet, sent) = rig.unix("root", "secret", NATIVE);
    assert!(packet[0] == OK && !sent, "fast after a switch of plugins");
    let other = Rig::new("sha2-unix");
    let (packet, sent) = other.unix("root", "secret", SHA2);
    assert!(packet[0] == OK && sent, "clear text over the Unix socket");
}

#[test]
fn sha256_sends_the_password_each_time() {
    let rig = Rig::new("sha256");
    for _ in 0..2 {
        let (packet, sent) = rig.tcp("salted", "pepper", SHA2);
        assert!(packet[0] == OK && sent, "RSA over plain TCP: {packet:?}");
        let (packet, sent) = rig.unix("salted", "pepper", SHA2);
        assert!(packet[0] == OK && sent, "clear text over the Unix socket: {packet:?}");
    }
    for password in ["salt", "", "pepper2"] {
        assert_ne!(rig.tcp("salted", password, SHA2).0[0], OK);
        assert_ne!(rig.unix("salted", password, SHA2).0[0], OK);
    }
}

#[test]
fn a_login_byte_by_byte_ends_in_time() {
    let rig = Rig::new("slow");
    let (mut client, server) = UnixStream::pair().unwrap();
    client.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            let mut conn = Connection::new(Stream::Unix(server), Peer::Unix).unwrap();
            let mut check = Check(LoginCheck::new(&rig.accounts, Client::new(None)));
            let begun = std::time::Instant::now();
            let timeout = Duration::from_millis(300);
            let result = conn.authenticate(&Greeting::new("8.4.0", 7), &mut check, None, PLAIN, timeout);
            (matches!(result, Err(LoginError::Refused(error, _)) if error.code == 1159), begun.elapsed())
        });
        let (mut sent, mut is_open) = (0, true);
        while is_open && sent < 2000 {
            // The server may be gone by now.
            let _ = client.write(if sent < 4 { &[0xff, 0, 0, 1][sent..=sent] } else { b"x" });
            sent += 1;
            // The server says nothing more until the end; what is left of the greeting is passed over.
            is_open = !matches!(client.read(&mut [0; 200]), Ok(0));
        }
        let (timed_out, took) = served.join().unwrap();
        assert!(timed_out && sent < 255, "{sent} bytes");
        assert!(took >= Duration::from_millis(290), "{took:?}");
    });
}

#[test]
fn native_password_and_no_password_log_in_with_and_without_a_switch() {
    let rig = Rig::new("native");
    for guess in [NATIVE, SHA2] {
        assert_eq!(rig.tcp("old", "antique", guess).0[0], OK);
        assert_eq!(rig.unix("open", "", guess).0[0], OK);
    }
}

#[test]
fn a_wrong_password_and_an_unknown_user_get_the_same_1045() {
    let rig = Rig::new("denied");
    for (user, password, using) in [
        ("root", "guess", "YES"),
        ("nobody", "guess", "YES"),
        ("old", "guess", "YES"),
        ("root", "", "NO"),
        ("open", "x", "YES"),
    ] {
        let expected =
            format!("\u{15}\u{4}#28000Access denied for user '{user}'@'localhost' (using password: {using})");
        assert_eq!(String::from_utf8_lossy(&rig.tcp(user, password, SHA2).0[1..]), expected);
    }
}

#[test]
fn a_client_that_is_no_mysql_client_gets_1043() {
    let rig = Rig::new("bad");
    let (client, server) = UnixStream::pair().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| serve(Stream::Unix(server), Peer::Unix, &rig.accounts, &rig.keys));
        let mut wire = Wire { stream: client, seq: 0 };
        wire.read();
        // SSLRequest, though TLS was not offered.
        let mut request = (Capabilities::SERVER | Capabilities::SSL).0.to_le_bytes().to_vec();
        request.resize(32, 0);
        wire.write(&request);
        assert!(wire.read().starts_with(b"\xff\x13\x04#08S01Bad handshake"));
    });
}
