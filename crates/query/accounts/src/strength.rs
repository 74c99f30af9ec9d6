//! Is a password good enough? What MySQL's component `validate_password` asks of one (manual, 8.4.3).

use std::collections::HashSet;
use std::sync::Arc;
use types::codes::*;
use types::{SqlError, err};

/// Shorter parts of a password, and shorter passwords, are looked at by nobody.
const WORD_CHARS_MIN: usize = 4;
/// Longer parts of a password are not looked up.
const WORD_CHARS_MAX: usize = 100;
/// A longer dictionary file is refused.
pub const DICTIONARY_BYTES_MAX: usize = 1 << 20;

/// `validate_password.policy`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strictness {
    /// Length alone.
    Low,
    /// And letters of both cases, digits, other characters.
    #[default]
    Medium,
    /// And no word of the dictionary.
    Strong,
}

/// Words that no password may have in it.
#[derive(Debug, Default)]
pub struct Dictionary {
    words: HashSet<String>,
    /// When the file was read, microseconds since 1970.
    pub read_at_us: u64,
}

impl Dictionary {
    /// A word a line. They are compared with passwords in lower case, so those with capitals match nothing, as in MySQL.
    pub fn parse(text: &str, read_at_us: u64) -> Dictionary {
        let words = text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect();
        Dictionary { words, read_at_us }
    }

    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Is any part of the password one of the words?
    fn has_part_of(&self, password: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let lower = password.to_lowercase();
        // Where characters begin, and the end.
        let places: Vec<usize> = lower.char_indices().map(|(at, _)| at).chain([lower.len()]).collect();
        let chars = places.len() - 1;
        (WORD_CHARS_MIN..=chars.min(WORD_CHARS_MAX))
            .any(|len| (0..=chars - len).any(|from| self.words.contains(&lower[places[from]..places[from + len]])))
    }
}

/// What the component's variables say, and its dictionary.
#[derive(Clone, Debug, Default)]
pub struct StrengthPolicy {
    pub strictness: Strictness,
    pub length: usize,
    /// Of small letters, and of capitals.
    pub mixed_case: usize,
    pub numbers: usize,
    pub specials: usize,
    /// A session's own user name is no password, forwards or backwards.
    pub check_user_name: bool,
    /// How much of a password that its owner replaces has to be new.
    pub changed_percentage: usize,
    pub dictionary: Arc<Dictionary>,
}

impl StrengthPolicy {
    /// The length that the other numbers leave room for.
    pub fn length_min(&self) -> usize {
        self.numbers + self.specials + 2 * self.mixed_case
    }

    /// May it be a password? `users`: names of whoever sets it. Error 1819.
    pub fn check(&self, password: &[u8], users: &[&str]) -> Result<(), SqlError> {
        let good = match std::str::from_utf8(password) {
            Ok(password) => self.is_no_name(password, users) && self.is_met(password, self.strictness),
            Err(_) => false,
        };
        if good { Ok(()) } else { Err(err!(ER_NOT_VALID_PASSWORD)) }
    }

    /// VALIDATE_PASSWORD_STRENGTH(): 0 to 100.
    pub fn rate(&self, password: &str, users: &[&str]) -> i64 {
        let chars = password.chars().count();
        match () {
            _ if !self.is_no_name(password, users) || chars < WORD_CHARS_MIN => 0,
            _ if !self.is_met(password, Strictness::Low) => 25,
            _ if !self.is_met(password, Strictness::Medium) => 50,
            _ if !self.is_met(password, Strictness::Strong) => 75,
            _ => 100,
        }
    }

    fn is_no_name(&self, password: &str, users: &[&str]) -> bool {
        let is_name = |user: &&str| !user.is_empty() && (*user == password || user.bytes().rev().eq(password.bytes()));
        !self.check_user_name || !users.iter().any(is_name)
    }

    fn is_met(&self, password: &str, strictness: Strictness) -> bool {
        let (mut small, mut capitals, mut digits, mut others) = (0, 0, 0, 0);
        for c in password.chars() {
            let kind = match c {
                _ if c.is_lowercase() => &mut small,
                _ if c.is_uppercase() => &mut capitals,
                _ if c.is_ascii_digit() => &mut digits,
                _ => &mut others,
            };
            *kind += 1;
        }
        let long = small + capitals + digits + others >= self.length;
        let mixed = small >= self.mixed_case
            && capitals >= self.mixed_case
            && digits >= self.numbers
            && others >= self.specials;
        long && (strictness == Strictness::Low || mixed)
            && (strictness < Strictness::Strong || !self.dictionary.has_part_of(password))
    }

    /// Is enough of `new` not in `old`? Both count without regard to case. Error 4165.
    pub fn check_change(&self, old: &[u8], new: &[u8]) -> Result<(), SqlError> {
        let letters = |text: &[u8]| -> Vec<char> { String::from_utf8_lossy(text).to_lowercase().chars().collect() };
        let (old, new) = (letters(old), letters(new));
        let needed = old.len() * self.changed_percentage / 100;
        let changed = new.iter().filter(|c| !old.contains(c)).collect::<HashSet<_>>().len();
        if changed < needed {
            Err(err!(ER_VALIDATE_PASSWORD_INSUFFICIENT_CHANGED_CHARACTERS, needed, changed))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_default() -> StrengthPolicy {
        StrengthPolicy {
            length: 8,
            mixed_case: 1,
            numbers: 1,
            specials: 1,
            check_user_name: true,
            ..StrengthPolicy::default()
        }
    }

    #[test]
    fn strength_is_as_mysql_rates_it() {
        let policy = StrengthPolicy {
            dictionary: Arc::new(Dictionary::parse("password\nabc\nSecret\n\u{e4}\u{f6}\u{fc}\u{df}\n", 0)),
            ..by_default()
        };
        let rate = |password| policy.rate(password, &["root", ""]);
        for (password, rated) in [
            ("", 0),
            ("abc", 0),
            ("abcd", 25),
            ("weakpass", 50),
            ("weakpass1!A", 100),
            ("xxPASSWORDxx1!", 75),
            ("xxSecreTxx1!", 100),
            ("xxXXabcxx1!", 100),
            ("xx\u{c4}\u{d6}\u{dc}\u{df}xX1!", 75),
            ("root", 0),
            ("toor", 0),
            ("Root", 25),
        ] {
            assert_eq!(rate(password), rated, "{password}");
        }
        assert_eq!(policy.check(b"", &[]).unwrap_err().code, ER_NOT_VALID_PASSWORD);
        assert_eq!(policy.check(b"\xff\xffaA1!aaaa", &[]).unwrap_err().code, ER_NOT_VALID_PASSWORD);
        assert!(policy.check(b"weakpass1!A", &["weakpass1!A"]).is_err());
        assert!(policy.check(b"xxPASSWORDxx1!", &[]).is_ok(), "the dictionary is for STRONG");
    }

    #[test]
    fn a_password_of_many_characters_is_looked_up_in_parts_only() {
        let dictionary = Arc::new(Dictionary::parse(&"a".repeat(101), 0));
        let policy = StrengthPolicy { strictness: Strictness::Strong, dictionary, ..StrengthPolicy::default() };
        assert!(policy.check("a".repeat(200).as_bytes(), &[]).is_ok());
    }

    #[test]
    fn who_replaces_a_password_changes_enough_of_it() {
        let policy = StrengthPolicy { changed_percentage: 50, ..by_default() };
        assert_eq!(
            policy.check_change(b"abcdefghj", b"abcdefghjk").unwrap_err().code,
            ER_VALIDATE_PASSWORD_INSUFFICIENT_CHANGED_CHARACTERS
        );
        let error = StrengthPolicy { changed_percentage: 100, ..by_default() }.check_change(b"aaaaaaaa", b"bbbbbbbb");
        assert!(
            error
                .unwrap_err()
                .message
                .contains("at least '8' characters that are different from the old password. It has only '1'")
        );
        assert!(policy.check_change(b"abcd", b"ABXY").is_ok());
        assert!(policy.check_change(b"abcd", b"ABCDX").is_err());
    }
}
