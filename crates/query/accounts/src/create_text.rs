//! The text of SHOW CREATE USER.

use crate::directory::Account;
use crate::grants::quoted_account;
use crate::options::{Lifetime, LockTime, Requirement};
use std::fmt::Write;

/// How the statement that makes an account tells what its password is checked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashForm {
    Quoted,
    /// As hexadecimal digits where it is not printable (`print_identified_with_as_hex`).
    Hexadecimal,
    /// Not at all: `<secret>`.
    Hidden,
}

impl Account {
    /// The statement that makes the account, as bytes: a hash is not text.
    pub fn create_statement(&self, form: HashForm) -> Vec<u8> {
        let mut out =
            format!("CREATE USER {} IDENTIFIED WITH '{}'", quoted_account(&self.name), self.plugin.name()).into_bytes();
        if !self.auth_string.is_empty() {
            out.extend_from_slice(b" AS ");
            self.put_hash(&mut out, form);
        }
        out.extend_from_slice(self.options_text().as_bytes());
        out
    }

    fn put_hash(&self, out: &mut Vec<u8>, form: HashForm) {
        if form == HashForm::Hidden {
            return out.extend_from_slice(b"<secret>");
        }
        if form == HashForm::Hexadecimal && self.auth_string.iter().any(|b| !(b' '..=b'~').contains(b)) {
            out.extend_from_slice(b"0x");
            for byte in &self.auth_string {
                out.extend_from_slice(format!("{byte:02X}").as_bytes());
            }
            return;
        }
        out.push(b'\'');
        for byte in &self.auth_string {
            match byte {
                b'\'' => out.extend_from_slice(b"\\'"),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                0 => out.extend_from_slice(b"\\0"),
                26 => out.extend_from_slice(b"\\Z"),
                byte => out.push(*byte),
            }
        }
        out.push(b'\'');
    }

    fn options_text(&self) -> String {
        let mut text = String::new();
        let mut put = |what: &str| {
            text.push(' ');
            text.push_str(what);
        };
        if !self.default_roles.is_empty() {
            let roles: Vec<String> = self.default_roles.iter().map(quoted_account).collect();
            put(&format!("DEFAULT ROLE {}", roles.join(",")));
        }
        match &self.requirement {
            Requirement::None => put("REQUIRE NONE"),
            Requirement::Ssl => put("REQUIRE SSL"),
            Requirement::X509 => put("REQUIRE X509"),
            Requirement::Specified { subject, issuer, cipher } => {
                put("REQUIRE");
                for (word, value) in [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)] {
                    if !value.is_empty() {
                        put(&format!("{word} {}", literal(value)));
                    }
                }
            }
        }
        let limits = [
            ("MAX_QUERIES_PER_HOUR", self.limits.queries_per_hour),
            ("MAX_UPDATES_PER_HOUR", self.limits.updates_per_hour),
            ("MAX_CONNECTIONS_PER_HOUR", self.limits.connections_per_hour),
            ("MAX_USER_CONNECTIONS", self.limits.user_connections),
        ];
        if !self.limits.is_none() {
            put("WITH");
        }
        for (word, n) in limits.iter().filter(|(_, n)| *n > 0) {
            put(&format!("{word} {n}"));
        }
        match self.rules.lifetime {
            _ if self.password_expired => put("PASSWORD EXPIRE"),
            Lifetime::Default => put("PASSWORD EXPIRE DEFAULT"),
            Lifetime::Never => put("PASSWORD EXPIRE NEVER"),
            Lifetime::Days(days) => put(&format!("PASSWORD EXPIRE INTERVAL {days} DAY")),
        }
        put(if self.locked { "ACCOUNT LOCK" } else { "ACCOUNT UNLOCK" });
        match self.rules.history {
            None => put("PASSWORD HISTORY DEFAULT"),
            Some(n) => put(&format!("PASSWORD HISTORY {n}")),
        }
        match self.rules.reuse_days {
            None => put("PASSWORD REUSE INTERVAL DEFAULT"),
            Some(n) => put(&format!("PASSWORD REUSE INTERVAL {n} DAY")),
        }
        put(match self.rules.require_current {
            None => "PASSWORD REQUIRE CURRENT DEFAULT",
            Some(true) => "PASSWORD REQUIRE CURRENT",
            Some(false) => "PASSWORD REQUIRE CURRENT OPTIONAL",
        });
        if self.logins.attempts > 0 {
            put(&format!("FAILED_LOGIN_ATTEMPTS {}", self.logins.attempts));
        }
        match self.logins.lock {
            LockTime::Unbounded => put("PASSWORD_LOCK_TIME UNBOUNDED"),
            LockTime::Days(0) => {}
            LockTime::Days(days) => put(&format!("PASSWORD_LOCK_TIME {days}")),
        }
        if !self.attribute.is_empty() {
            write!(text, " ATTRIBUTE {}", literal(&self.attribute)).expect("a String takes everything");
        }
        text
    }
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn it_is_mysqls_text() {
        let mut joe = Account::new(AccountName::new("u", "%"), Plugin::CachingSha2);
        let rest = "PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT";
        let plain = format!(
            "CREATE USER `u`@`%` IDENTIFIED WITH 'caching_sha2_password' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT \
             UNLOCK {rest}"
        );
        assert_eq!(String::from_utf8(joe.create_statement(HashForm::Quoted)).unwrap(), plain);
        joe.auth_string = b"a'b\x01".to_vec();
        let quoted = joe.create_statement(HashForm::Quoted);
        assert!(quoted.windows(11).any(|w| w == b" AS 'a\\'b\x01'"[..].get(..11).unwrap()));
        let hexadecimal = String::from_utf8(joe.create_statement(HashForm::Hexadecimal)).unwrap();
        assert!(hexadecimal.contains(" AS 0x61276201 REQUIRE NONE "));
        let hidden = String::from_utf8(joe.create_statement(HashForm::Hidden)).unwrap();
        assert!(hidden.contains(" AS <secret> REQUIRE NONE "));
        joe.limits.user_connections = 5;
        joe.logins = LoginRules { attempts: 3, lock: LockTime::Unbounded };
        joe.attribute = r#"{"comment": "c"}"#.to_string();
        let text = String::from_utf8(joe.create_statement(HashForm::Hexadecimal)).unwrap();
        assert!(text.contains(" REQUIRE NONE WITH MAX_USER_CONNECTIONS 5 PASSWORD EXPIRE DEFAULT "));
        assert!(
            text.ends_with(r#" FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED ATTRIBUTE '{"comment": "c"}'"#)
        );
    }
}
