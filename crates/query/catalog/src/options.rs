//! What a definition says of a table beside its columns and keys: the engine, and options that are kept for whoever asks.

use std::fmt::Write;

/// What lasts of a table's rows. All engines store them in the same trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageEngine {
    #[default]
    InnoDb,
    /// Not transactional, and gone when the server stops.
    Memory,
    /// Not transactional.
    MyIsam,
}

impl StorageEngine {
    /// In any case.
    pub fn by_name(name: &str) -> Option<StorageEngine> {
        match name.to_ascii_uppercase().as_str() {
            "INNODB" => Some(StorageEngine::InnoDb),
            "MEMORY" | "HEAP" => Some(StorageEngine::Memory),
            "MYISAM" => Some(StorageEngine::MyIsam),
            _ => None,
        }
    }

    /// Is what a statement changes undone where the statement fails, or its transaction is rolled back?
    pub const fn is_transactional(self) -> bool {
        matches!(self, StorageEngine::InnoDb)
    }

    pub const fn name(self) -> &'static str {
        match self {
            StorageEngine::InnoDb => "InnoDB",
            StorageEngine::Memory => "MEMORY",
            StorageEngine::MyIsam => "MyISAM",
        }
    }
}

/// USING of a key. Trees are what all indexes are; a hash is what engine MEMORY is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexAlgorithm {
    BTree,
    Hash,
}

impl IndexAlgorithm {
    pub const fn name(self) -> &'static str {
        match self {
            IndexAlgorithm::BTree => "BTREE",
            IndexAlgorithm::Hash => "HASH",
        }
    }
}

/// Options in the order in which SHOW CREATE TABLE has them.
const SHOWN: [&str; 14] = [
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "COMPRESSION",
    "ENCRYPTION",
    "CONNECTION",
];

/// And as `information_schema.TABLES.CREATE_OPTIONS` has them: the name there, and the option.
const LISTED: [(&str, &str); 13] = [
    ("max_rows", "MAX_ROWS"),
    ("min_rows", "MIN_ROWS"),
    ("avg_row_length", "AVG_ROW_LENGTH"),
    ("row_format", "ROW_FORMAT"),
    ("stats_sample_pages", "STATS_SAMPLE_PAGES"),
    ("stats_auto_recalc", "STATS_AUTO_RECALC"),
    ("KEY_BLOCK_SIZE", "KEY_BLOCK_SIZE"),
    ("COMPRESSION", "COMPRESSION"),
    ("ENCRYPTION", "ENCRYPTION"),
    ("stats_persistent", "STATS_PERSISTENT"),
    ("pack_keys", "PACK_KEYS"),
    ("checksum", "CHECKSUM"),
    ("delay_key_write", "DELAY_KEY_WRITE"),
];

/// Options whose values are texts.
const TEXTS: [&str; 3] = ["COMPRESSION", "ENCRYPTION", "CONNECTION"];

/// Options of a table by their names in upper case, each once. But for ENCRYPTION they change nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    given: Vec<(String, String)>,
}

impl CreateOptions {
    /// From what [`CreateOptions::pairs`] told.
    pub fn from_pairs(given: Vec<(String, String)>) -> CreateOptions {
        CreateOptions { given }
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.given
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// `None`: as if it had not been given.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        self.given.retain(|(n, _)| n != name);
        self.given.extend(value.map(|v| (name.to_string(), v)));
    }

    /// ENCRYPTION='Y'
    pub fn is_encrypted(&self) -> bool {
        self.get("ENCRYPTION").is_some_and(|value| value.eq_ignore_ascii_case("y"))
    }

    /// The same for a table of a schema with this default, as it is shown: ENCRYPTION stands there where it is on or the schema's
    /// default is.
    pub fn in_schema(&self, encrypts: bool) -> CreateOptions {
        let mut options = self.clone();
        match (self.get("ENCRYPTION").is_some(), encrypts) {
            _ if self.is_encrypted() => {}
            (true, true) | (false, false) => {}
            (false, true) => options.set("ENCRYPTION", Some("N".into())),
            (true, false) => options.set("ENCRYPTION", None),
        }
        options
    }

    /// In front of ENGINE in SHOW CREATE TABLE; `quote_name` puts a name between backticks.
    pub fn before_engine(&self, quote_name: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        if let Some(name) = self.get("TABLESPACE") {
            let name = quote_name(name);
            let storage = self.get("STORAGE").map_or_else(String::new, |s| format!(" STORAGE {s}"));
            _ = write!(out, " /*!50100 TABLESPACE {name}{storage} */");
        } else if let Some(storage) = self.get("STORAGE") {
            _ = write!(out, " /*!50100 STORAGE {storage} */");
        }
        out
    }

    /// Behind the collation in SHOW CREATE TABLE, and what comes after the comment.
    pub fn shown(&self, quote: impl Fn(&str) -> String) -> (String, String) {
        let (mut out, mut behind) = (String::new(), String::new());
        for name in SHOWN {
            let Some(value) = self.get(name) else { continue };
            let value = if TEXTS.contains(&name) { quote(value) } else { value.to_string() };
            _ = write!(if name == "CONNECTION" { &mut behind } else { &mut out }, " {name}={value}");
        }
        if let Some(attribute) = self.get("SECONDARY_ENGINE_ATTRIBUTE") {
            _ = write!(behind, " /*!80021 SECONDARY_ENGINE_ATTRIBUTE={} */", quote(attribute));
        }
        (out, behind)
    }

    /// `information_schema.TABLES.CREATE_OPTIONS`
    pub fn listed(&self) -> String {
        let option = |(shown, name): &(&str, &str)| {
            let value = self.get(name)?;
            Some(match *name {
                "ENCRYPTION" => format!("{shown}='{value}'"),
                name if TEXTS.contains(&name) => format!("{shown}=\"{value}\""),
                _ => format!("{shown}={value}"),
            })
        };
        LISTED.iter().filter_map(option).collect::<Vec<_>>().join(" ")
    }
}
