//! Whose events are collected: accounts, objects and kinds of threads, as `performance_schema.setup_actors`, `setup_objects` and
//! `setup_threads` have them.
//!
//! A login asks for its account, a plan for its tables; what they are told they keep. No statement comes here.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use sync::{Mutex, Rank};

/// A pattern that matches all names.
pub const ANY: &str = "%";

/// Two answers of a row, as ENABLED and HISTORY, or ENABLED and TIMED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    pub enabled: bool,
    /// HISTORY, or TIMED.
    pub other: bool,
}

impl Answers {
    pub const YES: Answers = Answers { enabled: true, other: true };

    /// ENABLED, then the other one.
    pub const fn bits(self) -> u8 {
        self.enabled as u8 | (self.other as u8) << 1
    }

    pub const fn from_bits(bits: u8) -> Answers {
        Answers { enabled: bits & 1 != 0, other: bits & 2 != 0 }
    }
}

/// Why a row is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Duplicate,
    /// There are as many as there may be.
    Full,
}

/// Rows that are found by a key of three texts.
struct Rows {
    rows: Vec<([String; 3], Answers)>,
    /// How many there may be.
    most: usize,
}

impl Rows {
    const fn new() -> Rows {
        Rows { rows: Vec::new(), most: usize::MAX }
    }

    fn find(&self, key: [&str; 3]) -> Option<Answers> {
        self.rows.iter().find(|(known, _)| known.iter().map(String::as_str).eq(key)).map(|(_, answers)| *answers)
    }

    fn insert(&mut self, key: [&str; 3], answers: Answers) -> Result<(), Refused> {
        if self.find(key).is_some() {
            return Err(Refused::Duplicate);
        }
        if self.rows.len() >= self.most {
            return Err(Refused::Full);
        }
        self.rows.push((key.map(str::to_string), answers));
        Ok(())
    }
}

/// A table of such rows: `setup_actors` (host, user, role) and `setup_objects` (type, schema, name).
pub struct Watched {
    rows: Mutex<Rows>,
    /// Counts changes.
    version: AtomicU64,
}

/// Which accounts are instrumented, and have a history. The columns HOST, USER, ROLE. W: UPDATE, INSERT, DELETE. R: logins.
pub static ACTORS: Watched = Watched::new();
/// Which objects are instrumented, and timed. The columns OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME. R: plans.
pub static OBJECTS: Watched = Watched::new();

impl Watched {
    const fn new() -> Watched {
        Watched { rows: Mutex::new(Rank::Observe, Rows::new()), version: AtomicU64::new(0) }
    }

    /// Takes the rows of the start, as many as there may be. Called when the server starts.
    pub fn start(&self, rows: &[([&str; 3], Answers)], most: usize) {
        let mut kept = self.rows.lock();
        kept.most = most;
        kept.rows = rows.iter().take(most).map(|(key, answers)| (key.map(str::to_string), *answers)).collect();
    }

    /// Raised by every change: what was found before may be another answer now.
    pub fn version(&self) -> u64 {
        // Relaxed: who finds an old one is as if it had asked before the change.
        self.version.load(Ordering::Relaxed)
    }

    pub fn rows(&self) -> Vec<([String; 3], Answers)> {
        self.rows.lock().rows.clone()
    }

    /// The answers of the first of the keys that there is a row of; none are NO.
    pub fn first(&self, keys: &[[&str; 3]]) -> Answers {
        let rows = self.rows.lock();
        keys.iter().find_map(|key| rows.find(*key)).unwrap_or_default()
    }

    fn changed<R>(&self, change: impl FnOnce(&mut Rows) -> R) -> R {
        let result = change(&mut self.rows.lock());
        // Relaxed: see `version`.
        self.version.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// A new row.
    ///
    /// # Errors
    /// There is one with this key, or there is no room.
    pub fn insert(&self, key: [&str; 3], answers: Answers) -> Result<(), Refused> {
        self.changed(|rows| rows.insert(key, answers))
    }

    /// Other answers for a row; none if it is gone.
    pub fn update(&self, key: [&str; 3], answers: Answers) {
        self.changed(|rows| {
            let row = rows.rows.iter_mut().find(|(known, _)| known.iter().map(String::as_str).eq(key));
            row.into_iter().for_each(|row| row.1 = answers);
        });
    }

    pub fn delete(&self, key: [&str; 3]) {
        self.changed(|rows| rows.rows.retain(|(known, _)| !known.iter().map(String::as_str).eq(key)));
    }

    /// TRUNCATE TABLE
    pub fn clear(&self) {
        self.changed(|rows| rows.rows.clear());
    }
}

/// Is a session of this account instrumented, and does it have a history?
pub fn actor(user: &str, host: &str) -> Answers {
    let host = host.to_ascii_lowercase();
    ACTORS.first(&[[&host, user, ANY], [ANY, user, ANY], [&host, ANY, ANY], [ANY, ANY, ANY]])
}

/// Is an object of this type (`TABLE`, `PROCEDURE`, ...) instrumented, and timed?
pub fn object(kind: &str, schema: &str, name: &str) -> Answers {
    OBJECTS.first(&[[kind, schema, name], [kind, schema, ANY], [kind, ANY, ANY]])
}

/// A kind of threads: a row of `setup_threads`.
pub struct ThreadClass {
    pub name: &'static str,
    /// The SET of the column PROPERTIES.
    pub properties: &'static str,
    /// Are new threads of it instrumented, and do they have a history? W: UPDATE. R: threads that begin.
    answers: AtomicU8,
}

/// The kinds of threads that `performance_schema.threads` has.
pub static THREADS: [ThreadClass; 3] = [
    ThreadClass::new("thread/sql/one_connection", "user"),
    ThreadClass::new("thread/sql/event_scheduler", "singleton"),
    ThreadClass::new("thread/sql/event_worker", ""),
];

impl ThreadClass {
    const fn new(name: &'static str, properties: &'static str) -> ThreadClass {
        ThreadClass { name, properties, answers: AtomicU8::new(Answers::YES.bits()) }
    }

    pub fn answers(&self) -> Answers {
        // Relaxed: read-mostly, and nothing hangs from it.
        Answers::from_bits(self.answers.load(Ordering::Relaxed))
    }

    pub fn set(&self, answers: Answers) {
        // Relaxed: see `answers`.
        self.answers.store(answers.bits(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_row_says() {
        let no = Answers::default();
        let timeless = Answers { enabled: true, other: false };
        OBJECTS.start(&[(["TABLE", "mysql", "%"], no), (["TABLE", "%", "%"], Answers::YES)], 3);
        let before = OBJECTS.version();
        assert_eq!(OBJECTS.insert(["TABLE", "mysql", "user"], timeless), Ok(()));
        assert_eq!(OBJECTS.insert(["TABLE", "%", "%"], no), Err(Refused::Duplicate));
        assert_eq!(OBJECTS.insert(["TABLE", "a", "b"], no), Err(Refused::Full));
        assert_ne!(OBJECTS.version(), before);
        assert_eq!(object("TABLE", "mysql", "user"), timeless);
        assert_eq!(object("TABLE", "mysql", "db"), no);
        assert_eq!(object("TABLE", "test", "t"), Answers::YES);
        assert_eq!(object("EVENT", "test", "t"), no);
        OBJECTS.update(["TABLE", "mysql", "user"], no);
        assert_eq!(object("TABLE", "mysql", "user"), no);
        OBJECTS.delete(["TABLE", "mysql", "%"]);
        OBJECTS.clear();
        assert_eq!(object("TABLE", "test", "t"), no);
    }

    #[test]
    fn accounts_are_found_by_user_before_host() {
        let no = Answers::default();
        ACTORS.start(&[(["%", "%", "%"], Answers::YES), (["h", "%", "%"], no), (["%", "joe", "%"], Answers::YES)], 9);
        assert_eq!(actor("joe", "H"), Answers::YES);
        assert_eq!(actor("ann", "H"), no);
        assert_eq!(actor("ann", "other"), Answers::YES);
    }
}
