//! What CHANGE REPLICATION SOURCE and CHANGE REPLICATION FILTER have said of a channel, and how it is kept.
//!
//! Kept in the engine's dictionary, the password as it was given, as MySQL keeps it in `mysql.slave_master_info`: a line for each
//! setting that differs from its default, `name=value`, with `\n` and `\\` for line ends and backslashes in a value.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where a channel's source is and how it is talked to. The fields are the options of CHANGE REPLICATION SOURCE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: String,
    pub connect_retry_s: u32,
    pub retry_count: u64,
    /// `None`: half of `replica_net_timeout`. Zero: no heartbeats.
    pub heartbeat: Option<Duration>,
    pub auto_position: bool,
    pub delay_s: u32,
    pub get_public_key: bool,
    pub public_key_path: String,
    pub ssl: bool,
    pub ssl_ca: String,
    pub ssl_verify_server_cert: bool,
    pub ignore_server_ids: Vec<u32>,
    pub filters: Filters,
}

impl Default for SourceConfig {
    fn default() -> SourceConfig {
        SourceConfig {
            host: String::new(),
            port: 3306,
            user: String::new(),
            password: String::new(),
            connect_retry_s: 60,
            retry_count: 10,
            heartbeat: None,
            auto_position: false,
            delay_s: 0,
            get_public_key: false,
            public_key_path: String::new(),
            ssl: false,
            ssl_ca: String::new(),
            ssl_verify_server_cert: false,
            ignore_server_ids: Vec::new(),
            filters: Filters::default(),
        }
    }
}

/// CHANGE REPLICATION FILTER.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub do_db: Vec<String>,
    pub ignore_db: Vec<String>,
    /// `db.table`
    pub do_table: Vec<String>,
    pub ignore_table: Vec<String>,
    /// Patterns with `%` and `_` of `db.table`.
    pub wild_do_table: Vec<String>,
    pub wild_ignore_table: Vec<String>,
    pub rewrite_db: Vec<(String, String)>,
    /// When they were given last, in microseconds since 1970, and whether to this channel alone.
    pub set_us: u64,
    pub for_channel: bool,
    /// Kinds whose rules options of this start have given, a bit for each in the order of [`Filters::rules`]: those are not kept.
    pub by_options: u8,
    pub counts: Counts,
}

/// How often rules of each kind have decided, in the order of [`Filters::rules`], since they were given.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<[AtomicU64; KINDS]>);

const KINDS: usize = 7;

impl Counts {
    fn count(&self, kind: usize) {
        // Relaxed: a figure to show.
        self.0[kind].fetch_add(1, Ordering::Relaxed);
    }

    pub fn all(&self) -> [u64; KINDS] {
        // Relaxed: as above.
        self.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// What is counted makes no difference between filters.
impl PartialEq for Counts {
    fn eq(&self, _: &Counts) -> bool {
        true
    }
}

impl Eq for Counts {}

impl Filters {
    /// Each kind of rules by name, as CHANGE REPLICATION FILTER is given them.
    pub fn rules(&self) -> [(&'static str, String); KINDS] {
        let pairs: Vec<String> = self.rewrite_db.iter().map(|(from, to)| format!("({from},{to})")).collect();
        [
            ("REPLICATE_DO_DB", self.do_db.join(",")),
            ("REPLICATE_IGNORE_DB", self.ignore_db.join(",")),
            ("REPLICATE_DO_TABLE", self.do_table.join(",")),
            ("REPLICATE_IGNORE_TABLE", self.ignore_table.join(",")),
            ("REPLICATE_WILD_DO_TABLE", self.wild_do_table.join(",")),
            ("REPLICATE_WILD_IGNORE_TABLE", self.wild_ignore_table.join(",")),
            ("REPLICATE_REWRITE_DB", pairs.join(",")),
        ]
    }

    /// Have options given the rules of that kind?
    pub fn is_by_options(&self, kind: usize) -> bool {
        self.by_options >> kind & 1 == 1
    }

    /// `decides`: a rule of this kind says so.
    fn by(&self, kind: usize, decides: bool) -> bool {
        if decides {
            self.counts.count(kind);
        }
        decides
    }

    /// Is a change of this table applied, in a row event? (manual, 19.2.5.1: databases first, then tables)
    pub fn takes_rows(&self, schema: &str, table: &str) -> bool {
        self.takes_database(schema) && self.takes_table(schema, table)
    }

    /// The same of a statement that ran in this database. One that ran in none is left out where there are rules about databases.
    pub fn takes_database(&self, database: &str) -> bool {
        if database.is_empty() {
            return self.do_db.is_empty() && self.ignore_db.is_empty();
        }
        if !self.do_db.is_empty() {
            return self.by(0, self.do_db.iter().any(|d| d == database));
        }
        !self.by(1, self.ignore_db.iter().any(|d| d == database))
    }

    /// The same of a statement that makes, alters or drops this database: patterns of tables are asked for its name with nothing behind
    /// the point.
    pub fn takes_definition(&self, database: &str) -> bool {
        if !self.takes_database(database) {
            return false;
        }
        self.by_pattern(&format!("{database}.")).unwrap_or(self.wild_do_table.is_empty())
    }

    pub fn takes_table(&self, schema: &str, table: &str) -> bool {
        self.takes_tables(std::iter::once((schema, table)))
    }

    /// The same of a statement that changes these tables: the first one that a rule names decides. One that changes none is left out.
    pub fn takes_tables<'n>(&self, tables: impl Iterator<Item = (&'n str, &'n str)>) -> bool {
        if !self.has_tables() {
            return true;
        }
        let mut changes = false;
        for (schema, table) in tables {
            changes = true;
            let name = format!("{schema}.{table}");
            if self.by(2, self.do_table.contains(&name)) {
                return true;
            }
            if self.by(3, self.ignore_table.contains(&name)) {
                return false;
            }
            if let Some(taken) = self.by_pattern(&name) {
                return taken;
            }
        }
        changes && self.do_table.is_empty() && self.wild_do_table.is_empty()
    }

    /// What the first pattern says that fits this name.
    fn by_pattern(&self, name: &str) -> Option<bool> {
        let fits = |patterns: &[String]| patterns.iter().any(|p| is_like(p.as_bytes(), name.as_bytes()));
        if self.by(4, fits(&self.wild_do_table)) {
            return Some(true);
        }
        self.by(5, fits(&self.wild_ignore_table)).then_some(false)
    }

    /// Are there rules that ask for tables?
    fn has_tables(&self) -> bool {
        [&self.do_table, &self.ignore_table, &self.wild_do_table, &self.wild_ignore_table].iter().any(|l| !l.is_empty())
    }

    /// REPLICATE_REWRITE_DB
    pub fn rewritten<'n>(&'n self, schema: &'n str) -> &'n str {
        let pair = self.rewrite_db.iter().find(|(from, _)| from == schema);
        self.by(6, pair.is_some());
        pair.map_or(schema, |(_, to)| to)
    }
}

/// LIKE with `%`, `_` and `\`.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'%', rest)) => (0..=text.len()).any(|at| is_like(rest, &text[at..])),
        Some((b'_', rest)) => !text.is_empty() && is_like(rest, &text[1..]),
        Some((b'\\', rest)) if !rest.is_empty() => text.first() == Some(&rest[0]) && is_like(&rest[1..], &text[1..]),
        Some((byte, rest)) => text.first() == Some(byte) && is_like(rest, &text[1..]),
    }
}

/// What a transaction stores with its changes of how far its channel is.
///
/// ```text
///   positions at the source   100   200   300   400   500
///   committed here             x     x           x           low: 200, ahead: 400
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// All transactions up to here are committed, once this one is.
    pub low: Position,
    /// Where this one ends, if one before it is not committed.
    pub ahead: Option<Position>,
    /// The same of others before, which `low` has passed: they need not be kept any more.
    pub passed: Vec<Position>,
    /// Each seat keeps a mark of its own.
    pub is_own: bool,
}

impl Mark {
    /// Nothing before it is open.
    pub fn at(low: Position) -> Mark {
        Mark { low, ..Mark::default() }
    }
}

/// What of a source's transactions is committed here: all up to `low`, and those behind it that end at one of `ahead`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub low: Position,
    pub ahead: Vec<Position>,
}

impl Done {
    /// Of what the seats of a channel have stored.
    pub fn of(lows: impl Iterator<Item = Position>, ahead: impl Iterator<Item = Position>) -> Done {
        let low = lows.reduce(|a, b| if b.is_behind(&a) || b.made && b.place() == a.place() { b } else { a });
        let low = low.unwrap_or_else(|| Position::new("", 4));
        let ahead = ahead.filter(|end| end.is_behind(&low)).collect();
        Done { low, ahead }
    }

    /// Is the transaction that ends there committed?
    pub fn has(&self, end: &Position) -> bool {
        !end.is_behind(&self.low) || self.ahead.contains(end)
    }
}

/// Where the next transaction is to be read, and which have been applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The source's file; empty: its first one.
    pub file: String,
    pub offset: u64,
    /// The transaction that begins there makes a table and fills it, and the table has been made.
    pub made: bool,
}

impl Position {
    pub fn new(file: &str, offset: u64) -> Position {
        Position { file: file.to_string(), offset, made: false }
    }

    /// The number of the file, and where in it.
    fn place(&self) -> (u64, u64) {
        let number = self.file.rsplit_once('.').and_then(|(_, digits)| digits.parse().ok());
        (number.unwrap_or(0), self.offset)
    }

    /// Is that the name of a file of the source that `other` is of?
    pub fn may_be_of(&self, other: &Position) -> bool {
        let split =
            |file: &'_ str| file.rsplit_once('.').map(|(base, digits)| (base.to_string(), digits.parse::<u64>()));
        match (split(&self.file), split(&other.file)) {
            (Some((_, Err(_))) | None, _) => false,
            (Some((base, _)), Some((others, _))) => base == others,
            // Where it is, is not known yet.
            (Some(_), None) => true,
        }
    }

    /// Of two places of one source.
    pub fn is_behind(&self, other: &Position) -> bool {
        self.place() > other.place()
    }

    pub fn encode(&self) -> Vec<u8> {
        format!("{}\n{}\n{}", self.file, self.offset, u8::from(self.made)).into_bytes()
    }

    pub fn decode(bytes: &[u8]) -> Option<Position> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split('\n');
        let (file, offset) = (lines.next()?.to_string(), lines.next()?.parse().ok()?);
        Some(Position { file, offset, made: lines.next()? == "1" })
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
        }
    }
    out
}

impl SourceConfig {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = String::new();
        let mut put = |name: &str, value: &str| out.push_str(&format!("{name}={}\n", escaped(value)));
        put("host", &self.host);
        put("port", &self.port.to_string());
        put("user", &self.user);
        put("password", &self.password);
        put("connect_retry", &self.connect_retry_s.to_string());
        put("retry_count", &self.retry_count.to_string());
        if let Some(heartbeat) = self.heartbeat {
            put("heartbeat_ms", &heartbeat.as_millis().to_string());
        }
        put("delay", &self.delay_s.to_string());
        for (name, on) in [
            ("auto_position", self.auto_position),
            ("get_public_key", self.get_public_key),
            ("ssl", self.ssl),
            ("ssl_verify_server_cert", self.ssl_verify_server_cert),
        ] {
            if on {
                put(name, "1");
            }
        }
        put("public_key_path", &self.public_key_path);
        put("ssl_ca", &self.ssl_ca);
        self.ignore_server_ids.iter().for_each(|id| put("ignore_server_id", &id.to_string()));
        let filters = &self.filters;
        let lists = [
            ("do_db", &filters.do_db),
            ("ignore_db", &filters.ignore_db),
            ("do_table", &filters.do_table),
            ("ignore_table", &filters.ignore_table),
            ("wild_do_table", &filters.wild_do_table),
            ("wild_ignore_table", &filters.wild_ignore_table),
        ];
        for (_, (name, list)) in lists.iter().enumerate().filter(|(kind, _)| !filters.is_by_options(*kind)) {
            list.iter().for_each(|value| put(name, value));
        }
        for (from, to) in filters.rewrite_db.iter().filter(|_| !filters.is_by_options(lists.len())) {
            put("rewrite_from", from);
            put("rewrite_to", to);
        }
        if filters.set_us > 0 {
            put("filters_set_us", &filters.set_us.to_string());
        }
        if filters.for_channel {
            put("filters_for_channel", "1");
        }
        out.into_bytes()
    }

    pub fn decode(bytes: &[u8]) -> Option<SourceConfig> {
        let mut config = SourceConfig::default();
        let mut rewrite_from = String::new();
        for line in std::str::from_utf8(bytes).ok()?.lines() {
            let (name, value) = line.split_once('=')?;
            let value = unescaped(value);
            let filters = &mut config.filters;
            match name {
                "host" => config.host = value,
                "port" => config.port = value.parse().ok()?,
                "user" => config.user = value,
                "password" => config.password = value,
                "connect_retry" => config.connect_retry_s = value.parse().ok()?,
                "retry_count" => config.retry_count = value.parse().ok()?,
                "heartbeat_ms" => config.heartbeat = Some(Duration::from_millis(value.parse().ok()?)),
                "delay" => config.delay_s = value.parse().ok()?,
                "auto_position" => config.auto_position = true,
                "get_public_key" => config.get_public_key = true,
                "ssl" => config.ssl = true,
                "ssl_verify_server_cert" => config.ssl_verify_server_cert = true,
                "public_key_path" => config.public_key_path = value,
                "ssl_ca" => config.ssl_ca = value,
                "ignore_server_id" => config.ignore_server_ids.push(value.parse().ok()?),
                "do_db" => filters.do_db.push(value),
                "ignore_db" => filters.ignore_db.push(value),
                "do_table" => filters.do_table.push(value),
                "ignore_table" => filters.ignore_table.push(value),
                "wild_do_table" => filters.wild_do_table.push(value),
                "wild_ignore_table" => filters.wild_ignore_table.push(value),
                "rewrite_from" => rewrite_from = value,
                "rewrite_to" => filters.rewrite_db.push((std::mem::take(&mut rewrite_from), value)),
                "filters_set_us" => filters.set_us = value.parse().ok()?,
                "filters_for_channel" => filters.for_channel = true,
                _ => return None,
            }
        }
        Some(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_reads_back() {
        let config = SourceConfig {
            host: "source.example".into(),
            port: 3307,
            user: "repl".into(),
            password: "a=b\\c\nd".into(),
            heartbeat: Some(Duration::from_millis(1500)),
            auto_position: true,
            delay_s: 7,
            ssl: true,
            ignore_server_ids: vec![3, 4],
            filters: Filters {
                do_db: vec!["a".into()],
                rewrite_db: vec![("a".into(), "b".into())],
                ..Filters::default()
            },
            ..SourceConfig::default()
        };
        assert_eq!(SourceConfig::decode(&config.encode()), Some(config));
        for made in [false, true] {
            let position = Position { made, ..Position::new("binlog.000007", 157) };
            assert_eq!(Position::decode(&position.encode()), Some(position));
        }
    }

    #[test]
    fn filters_follow_the_manuals_order() {
        let list = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let none = Filters::default();
        assert!(none.takes_rows("a", "t"));
        let databases = Filters { do_db: list(&["a"]), ignore_db: list(&["a"]), ..Filters::default() };
        assert!(databases.takes_rows("a", "t") && !databases.takes_rows("b", "t") && !databases.takes_database(""));
        assert!(none.takes_database(""));
        let tables = Filters {
            do_table: list(&["a.x"]),
            ignore_table: list(&["a.y"]),
            wild_ignore_table: list(&["b.%"]),
            ..Filters::default()
        };
        let taken = |schema, table| tables.takes_rows(schema, table);
        assert!(taken("a", "x") && !taken("a", "y") && !taken("b", "x") && !taken("a", "z"));
        let wild = Filters { wild_do_table: list(&["a%.t_"]), ..Filters::default() };
        assert!(wild.takes_rows("ab", "t1") && !wild.takes_rows("ab", "t") && !wild.takes_rows("b", "t1"));
        // The first table that a rule names decides; a database by its name alone.
        assert!(tables.takes_tables([("a", "x"), ("a", "y")].into_iter()));
        assert!(!tables.takes_tables([("a", "z"), ("a", "y"), ("a", "x")].into_iter()));
        assert!(!tables.takes_tables([].into_iter()) && none.takes_tables([].into_iter()));
        assert!(tables.takes_definition("a") && !tables.takes_definition("b") && !wild.takes_definition("a"));
    }
}
