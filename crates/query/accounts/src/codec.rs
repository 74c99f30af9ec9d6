//! The directory as bytes, for whoever keeps them.
//!
//! ```text
//!  "CWAC" | version 1 (5; 4: without routines; 3: and without who granted; 2: and without restrictions) | accounts 4 | account each
//!  account  user | host | plugin 1 | auth string | second auth string | flags 1
//!           | requirement 1 (3: subject, issuer, cipher) | limits 4 x 4 | lifetime 1 (2: days 2)
//!           | history 1 (1: count 4) | reuse 1 (1: days 4) | require current 1 (0 default, 1 optional, 2 required)
//!           | attempts 2 | lock 1 (0: days 2) | password set at 8 | passwords 4 (set at 8, hash) each | attribute
//!           | global 8 | dynamic 4 (name, with grant 1) each | schemas 4 (schema, privileges 8) each
//!           | restrictions 4 (schema, privileges 8) each
//!           | tables 4 (schema, table, privileges 8, columns 4 (name, privileges 8) each, granted) each
//!           | routines 4 (schema, function 1, name, privileges 8, granted) each
//!           | roles 4 (user, host, admin 1) each | default roles 4 (user, host) each | proxies 4 (user, host, grant 1, granted) each
//!  granted  by whom | at 8
//!  string   length 4 | bytes         flags: 1 locked, 2 password expired       integers: little-endian
//! ```

use crate::directory::{
    Account, AccountName, Directory, Granted, OldPassword, Plugin, ProxyGrant, RoutineGrant, SchemaGrant, TableGrant,
};
use crate::options::{Lifetime, Limits, LockTime, LoginRules, PasswordRules, Requirement};
use crate::privilege::Privileges;

const MAGIC: &[u8; 4] = b"CWAC";
const VERSION: u8 = 5;
/// Had no grants on routines.
const WITHOUT_ROUTINES: u8 = 4;
/// Did not say who had granted.
const WITHOUT_GRANTORS: u8 = 3;
/// And had no restrictions.
const WITHOUT_RESTRICTIONS: u8 = 2;
const LOCKED: u8 = 1;
const EXPIRED: u8 = 2;

/// The bytes are no directory, or one of another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl Directory {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Out(MAGIC.to_vec());
        out.u8(VERSION);
        out.list(self.accounts(), Out::account);
        out.0
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Directory, Corrupt> {
        let mut input = Input(bytes);
        let (magic, version) = (input.array()?, input.u8()?);
        if magic != *MAGIC || !matches!(version, VERSION | WITHOUT_ROUTINES | WITHOUT_GRANTORS | WITHOUT_RESTRICTIONS) {
            return Err(Corrupt);
        }
        let mut directory = Directory::default();
        for _ in 0..input.u32()? {
            let mut account = input.account(version)?;
            // What a first start grants root today.
            if version == WITHOUT_RESTRICTIONS && account.name == AccountName::new("root", "localhost") {
                account.proxies.insert(AccountName::of_all(), ProxyGrant { with_grant: true, ..ProxyGrant::default() });
            }
            directory.put(account);
        }
        if input.0.is_empty() { Ok(directory) } else { Err(Corrupt) }
    }
}

struct Out(Vec<u8>);

impl Out {
    fn u8(&mut self, n: u8) {
        self.0.push(n);
    }

    fn u16(&mut self, n: u16) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn u32(&mut self, n: u32) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn u64(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).expect("shorter than 4 GiB"));
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, put: impl Fn(&mut Out, T)) {
        let at = self.0.len();
        self.u32(0);
        let mut count = 0u32;
        for item in items {
            put(self, item);
            count += 1;
        }
        self.0[at..at + 4].copy_from_slice(&count.to_le_bytes());
    }

    fn name(&mut self, name: &AccountName) {
        self.text(&name.user);
        self.text(&name.host);
    }

    fn maybe_u32(&mut self, n: Option<u32>) {
        self.u8(u8::from(n.is_some()));
        if let Some(n) = n {
            self.u32(n);
        }
    }

    fn account(&mut self, account: &Account) {
        self.name(&account.name);
        self.u8(match account.plugin {
            Plugin::CachingSha2 => 0,
            Plugin::NativePassword => 1,
            Plugin::Sha256 => 2,
            Plugin::Socket => 3,
            Plugin::NoLogin => 4,
        });
        self.bytes(&account.auth_string);
        self.bytes(&account.second_auth);
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        self.u8(flag(account.locked, LOCKED) | flag(account.password_expired, EXPIRED));
        self.options(account);
        self.u64(account.password_set_at_s);
        self.list(account.passwords.iter(), |out, old| {
            out.u64(old.set_at_s);
            out.bytes(&old.hash);
        });
        self.text(&account.attribute);
        self.u64(account.global.0);
        self.list(account.dynamic.iter(), |out, (name, with_grant)| {
            out.text(name);
            out.u8(u8::from(*with_grant));
        });
        self.list(account.schemas.iter(), |out, grant| {
            out.text(&grant.schema);
            out.u64(grant.privileges.0);
        });
        self.list(account.restrictions.iter(), |out, (schema, taken)| {
            out.text(schema);
            out.u64(taken.0);
        });
        self.list(account.tables.iter(), |out, grant| {
            out.text(&grant.schema);
            out.text(&grant.table);
            out.u64(grant.privileges.0);
            out.list(grant.columns.iter(), |out, (column, privileges)| {
                out.text(column);
                out.u64(privileges.0);
            });
            out.granted(&grant.granted);
        });
        self.list(account.routines.iter(), |out, grant| {
            out.text(&grant.schema);
            out.u8(u8::from(grant.function));
            out.text(&grant.name);
            out.u64(grant.privileges.0);
            out.granted(&grant.granted);
        });
        let with_flag = |out: &mut Out, (name, flag): (&AccountName, &bool)| {
            out.name(name);
            out.u8(u8::from(*flag));
        };
        self.list(account.roles.iter(), with_flag);
        self.list(account.default_roles.iter(), Out::name);
        self.list(account.proxies.iter(), |out, (name, proxy)| {
            with_flag(out, (name, &proxy.with_grant));
            out.granted(&proxy.granted);
        });
    }

    fn granted(&mut self, granted: &Granted) {
        self.text(&granted.by);
        self.u64(granted.at_s);
    }

    fn options(&mut self, account: &Account) {
        match &account.requirement {
            Requirement::None => self.u8(0),
            Requirement::Ssl => self.u8(1),
            Requirement::X509 => self.u8(2),
            Requirement::Specified { subject, issuer, cipher } => {
                self.u8(3);
                [subject, issuer, cipher].into_iter().for_each(|s| self.text(s));
            }
        }
        let Limits { queries_per_hour, updates_per_hour, connections_per_hour, user_connections } = account.limits;
        let all = [queries_per_hour, updates_per_hour, connections_per_hour, user_connections];
        all.into_iter().for_each(|n| self.u32(n));
        let PasswordRules { lifetime, history, reuse_days, require_current } = account.rules;
        match lifetime {
            Lifetime::Default => self.u8(0),
            Lifetime::Never => self.u8(1),
            Lifetime::Days(days) => {
                self.u8(2);
                self.u16(days);
            }
        }
        self.maybe_u32(history);
        self.maybe_u32(reuse_days);
        self.u8(require_current.map_or(0, |required| 1 + u8::from(required)));
        self.u16(account.logins.attempts);
        match account.logins.lock {
            LockTime::Days(days) => {
                self.u8(0);
                self.u16(days);
            }
            LockTime::Unbounded => self.u8(1),
        }
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        let (head, tail) = self.0.split_first_chunk().ok_or(Corrupt)?;
        self.0 = tail;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, Corrupt> {
        Ok(self.array::<1>()?[0])
    }

    fn flag(&mut self) -> Result<bool, Corrupt> {
        Ok(self.u8()? != 0)
    }

    fn u16(&mut self) -> Result<u16, Corrupt> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, Corrupt> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, Corrupt> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn privileges(&mut self) -> Result<Privileges, Corrupt> {
        Ok(Privileges(self.u64()?))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Corrupt> {
        let len = self.u32()? as usize;
        let (head, tail) = self.0.split_at_checked(len).ok_or(Corrupt)?;
        self.0 = tail;
        Ok(head)
    }

    fn text(&mut self) -> Result<String, Corrupt> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| Corrupt)
    }

    fn name(&mut self) -> Result<AccountName, Corrupt> {
        Ok(AccountName { user: self.text()?, host: self.text()? })
    }

    fn list<T, C: FromIterator<T>>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Corrupt>,
    ) -> Result<C, Corrupt> {
        let count = self.u32()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn maybe_u32(&mut self) -> Result<Option<u32>, Corrupt> {
        match self.u8()? {
            0 => Ok(None),
            1 => self.u32().map(Some),
            _ => Err(Corrupt),
        }
    }

    fn account(&mut self, version: u8) -> Result<Account, Corrupt> {
        let name = self.name()?;
        let plugin = match self.u8()? {
            0 => Plugin::CachingSha2,
            1 => Plugin::NativePassword,
            2 => Plugin::Sha256,
            3 => Plugin::Socket,
            4 => Plugin::NoLogin,
            _ => return Err(Corrupt),
        };
        let mut account = Account::new(name, plugin);
        account.auth_string = self.bytes()?.to_vec();
        account.second_auth = self.bytes()?.to_vec();
        let flags = self.u8()?;
        account.locked = flags & LOCKED != 0;
        account.password_expired = flags & EXPIRED != 0;
        self.options(&mut account)?;
        account.password_set_at_s = self.u64()?;
        account.passwords =
            self.list(|input| Ok(OldPassword { set_at_s: input.u64()?, hash: input.bytes()?.to_vec() }))?;
        account.attribute = self.text()?;
        account.global = self.privileges()?;
        account.dynamic = self.list(|input| Ok((input.text()?, input.flag()?)))?;
        account.schemas =
            self.list(|input| Ok(SchemaGrant { schema: input.text()?, privileges: input.privileges()? }))?;
        if version > WITHOUT_RESTRICTIONS {
            account.restrictions = self.list(|input| Ok((input.text()?, input.privileges()?)))?;
        }
        account.tables = self.list(|input| {
            let (schema, table, privileges) = (input.text()?, input.text()?, input.privileges()?);
            let columns = input.list(|input| Ok((input.text()?, input.privileges()?)))?;
            Ok(TableGrant { schema, table, privileges, columns, granted: input.granted(version)? })
        })?;
        if version > WITHOUT_ROUTINES {
            account.routines = self.list(|input| {
                let (schema, function, name) = (input.text()?, input.flag()?, input.text()?);
                let (privileges, granted) = (input.privileges()?, input.granted(version)?);
                Ok(RoutineGrant { schema, function, name, privileges, granted })
            })?;
        }
        account.roles = self.list(|input| Ok((input.name()?, input.flag()?)))?;
        account.default_roles = self.list(Input::name)?;
        account.proxies = self.list(|input| {
            let (name, with_grant) = (input.name()?, input.flag()?);
            Ok((name, ProxyGrant { with_grant, granted: input.granted(version)? }))
        })?;
        Ok(account)
    }

    fn granted(&mut self, version: u8) -> Result<Granted, Corrupt> {
        match version > WITHOUT_GRANTORS {
            true => Ok(Granted { by: self.text()?, at_s: self.u64()? }),
            false => Ok(Granted::default()),
        }
    }

    fn options(&mut self, account: &mut Account) -> Result<(), Corrupt> {
        account.requirement = match self.u8()? {
            0 => Requirement::None,
            1 => Requirement::Ssl,
            2 => Requirement::X509,
            3 => Requirement::Specified { subject: self.text()?, issuer: self.text()?, cipher: self.text()? },
            _ => return Err(Corrupt),
        };
        account.limits = Limits {
            queries_per_hour: self.u32()?,
            updates_per_hour: self.u32()?,
            connections_per_hour: self.u32()?,
            user_connections: self.u32()?,
        };
        let lifetime = match self.u8()? {
            0 => Lifetime::Default,
            1 => Lifetime::Never,
            2 => Lifetime::Days(self.u16()?),
            _ => return Err(Corrupt),
        };
        let (history, reuse_days) = (self.maybe_u32()?, self.maybe_u32()?);
        let require_current = match self.u8()? {
            0 => None,
            1 => Some(false),
            2 => Some(true),
            _ => return Err(Corrupt),
        };
        account.rules = PasswordRules { lifetime, history, reuse_days, require_current };
        let attempts = self.u16()?;
        let lock = match self.u8()? {
            0 => LockTime::Days(self.u16()?),
            1 => LockTime::Unbounded,
            _ => return Err(Corrupt),
        };
        account.logins = LoginRules { attempts, lock };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_survives_its_bytes_and_no_prefix_is_one() {
        let mut directory = Directory::bootstrap("secret");
        let mut joe = Account::new(AccountName::new("joe", "10.%"), Plugin::NativePassword);
        joe.set_password(b"x", 7);
        joe.rules = PasswordRules {
            lifetime: Lifetime::Days(90),
            history: Some(3),
            reuse_days: None,
            require_current: Some(true),
        };
        joe.remember_password(&crate::Policy::default(), 7);
        (joe.locked, joe.password_expired) = (true, true);
        joe.second_auth = b"second".to_vec();
        joe.requirement =
            Requirement::Specified { subject: "/CN=x".into(), issuer: String::new(), cipher: "AES".into() };
        joe.limits.user_connections = 4;
        joe.logins = LoginRules { attempts: 3, lock: LockTime::Unbounded };
        joe.attribute = "{}".to_string();
        joe.grant_schema("db", Privileges::SELECT);
        joe.restrictions.insert("mysql".to_string(), Privileges::INSERT);
        joe.grant_routine("db", true, "f", Privileges::EXECUTE, &Granted::default());
        joe.grant_table("db", "t", Privileges::UPDATE);
        joe.grant_column("db", "t", "c", Privileges::SELECT);
        joe.roles.insert(AccountName::new("r", "%"), true);
        joe.default_roles.insert(AccountName::new("r", "%"));
        joe.note_granted("db", "t", &Granted { by: "root@localhost".to_string(), at_s: 7 });
        joe.proxies.insert(AccountName::new("ann", "%"), ProxyGrant::default());
        directory.put(joe);
        let bytes = directory.to_bytes();
        assert_eq!(Directory::from_bytes(&bytes), Ok(directory));
        for len in 0..bytes.len() {
            assert_eq!(Directory::from_bytes(&bytes[..len]), Err(Corrupt), "cut at {len}");
        }
    }
}
