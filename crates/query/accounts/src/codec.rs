//! The directory as bytes, for whoever keeps them.
//!
//! ```text
//!  "CWAC" | version 1 | accounts 4 | account each
//!  account  user | host | plugin 1 | auth string | flags 1 | global 8 | dynamic 4 (name, with grant 1) each
//!           | schemas 4 (schema, privileges 8) each | tables 4 (schema, table, privileges 8) each
//!  string   length 4 | bytes         flags: 1 locked, 2 password expired, 4 requires SSL       integers: little-endian
//! ```

use crate::directory::{Account, AccountName, Directory, Plugin, Requirement, SchemaGrant, TableGrant};
use crate::privilege::Privileges;

const MAGIC: &[u8; 4] = b"CWAC";
const VERSION: u8 = 1;
const LOCKED: u8 = 1;
const EXPIRED: u8 = 2;
const SSL: u8 = 4;

/// The bytes are no directory, or one of a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl Directory {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        put_count(&mut out, self.accounts().count());
        for account in self.accounts() {
            put_bytes(&mut out, account.name.user.as_bytes());
            put_bytes(&mut out, account.name.host.as_bytes());
            out.push(match account.plugin {
                Plugin::CachingSha2 => 0,
                Plugin::NativePassword => 1,
            });
            put_bytes(&mut out, &account.auth_string);
            let flag = |on: bool, bit: u8| if on { bit } else { 0 };
            out.push(
                flag(account.locked, LOCKED)
                    | flag(account.password_expired, EXPIRED)
                    | flag(account.requirement == Requirement::Ssl, SSL),
            );
            out.extend_from_slice(&account.global.0.to_le_bytes());
            put_count(&mut out, account.dynamic.len());
            for (name, with_grant) in &account.dynamic {
                put_bytes(&mut out, name.as_bytes());
                out.push(u8::from(*with_grant));
            }
            put_count(&mut out, account.schemas.len());
            for grant in &account.schemas {
                put_bytes(&mut out, grant.schema.as_bytes());
                out.extend_from_slice(&grant.privileges.0.to_le_bytes());
            }
            put_count(&mut out, account.tables.len());
            for grant in &account.tables {
                put_bytes(&mut out, grant.schema.as_bytes());
                put_bytes(&mut out, grant.table.as_bytes());
                out.extend_from_slice(&grant.privileges.0.to_le_bytes());
            }
        }
        out
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Directory, Corrupt> {
        let mut input = Input(bytes);
        if input.array()? != *MAGIC || input.u8()? != VERSION {
            return Err(Corrupt);
        }
        let mut directory = Directory::default();
        for _ in 0..input.u32()? {
            directory.put(read_account(&mut input)?);
        }
        if input.0.is_empty() { Ok(directory) } else { Err(Corrupt) }
    }
}

fn read_account(input: &mut Input<'_>) -> Result<Account, Corrupt> {
    let name = AccountName { user: input.text()?, host: input.text()? };
    let plugin = match input.u8()? {
        0 => Plugin::CachingSha2,
        1 => Plugin::NativePassword,
        _ => return Err(Corrupt),
    };
    let mut account = Account::new(name, plugin);
    account.auth_string = input.bytes()?.to_vec();
    let flags = input.u8()?;
    account.locked = flags & LOCKED != 0;
    account.password_expired = flags & EXPIRED != 0;
    account.requirement = if flags & SSL != 0 { Requirement::Ssl } else { Requirement::None };
    account.global = input.privileges()?;
    for _ in 0..input.u32()? {
        let name = input.text()?;
        account.dynamic.insert(name, input.u8()? != 0);
    }
    for _ in 0..input.u32()? {
        account.schemas.push(SchemaGrant { schema: input.text()?, privileges: input.privileges()? });
    }
    for _ in 0..input.u32()? {
        let (schema, table) = (input.text()?, input.text()?);
        account.tables.push(TableGrant { schema, table, privileges: input.privileges()? });
    }
    Ok(account)
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    let count = u32::try_from(count).expect("fewer than 2^32 accounts and grants");
    out.extend_from_slice(&count.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
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

    fn u32(&mut self) -> Result<u32, Corrupt> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn privileges(&mut self) -> Result<Privileges, Corrupt> {
        Ok(Privileges(u64::from_le_bytes(self.array()?)))
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_survives_its_bytes_and_no_prefix_is_one() {
        let mut directory = Directory::bootstrap("secret");
        let mut joe = Account::new(AccountName::new("joe", "10.%"), Plugin::NativePassword);
        joe.set_password(b"x");
        (joe.locked, joe.password_expired, joe.requirement) = (true, true, Requirement::Ssl);
        joe.grant_schema("db", Privileges::SELECT);
        joe.grant_table("db", "t", Privileges::UPDATE);
        directory.put(joe);
        let bytes = directory.to_bytes();
        assert_eq!(Directory::from_bytes(&bytes), Ok(directory));
        for len in 0..bytes.len() {
            assert_eq!(Directory::from_bytes(&bytes[..len]), Err(Corrupt), "cut at {len}");
        }
    }
}
