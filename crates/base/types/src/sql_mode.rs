//! `sql_mode` as a set of flags, with MySQL's bit positions and names.

use std::ops::{BitAnd, BitOr};

/// The SQL mode of a session: MySQL's bit positions, so that the number in the binlog means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SqlMode(pub u64);

macro_rules! modes {
    ($($name:ident = $bit:expr;)*) => {
        impl SqlMode {
            $(pub const $name: SqlMode = SqlMode(1 << $bit);)*
        }
        /// Every mode that MySQL 8.4 has, by bit.
        pub const SQL_MODES: &[(&str, SqlMode)] = &[$((stringify!($name), SqlMode::$name)),*];
    };
}

modes! {
    REAL_AS_FLOAT = 0;
    PIPES_AS_CONCAT = 1;
    ANSI_QUOTES = 2;
    IGNORE_SPACE = 3;
    ONLY_FULL_GROUP_BY = 5;
    NO_UNSIGNED_SUBTRACTION = 6;
    NO_DIR_IN_CREATE = 7;
    ANSI = 18;
    NO_AUTO_VALUE_ON_ZERO = 19;
    NO_BACKSLASH_ESCAPES = 20;
    STRICT_TRANS_TABLES = 21;
    STRICT_ALL_TABLES = 22;
    NO_ZERO_IN_DATE = 23;
    NO_ZERO_DATE = 24;
    ALLOW_INVALID_DATES = 25;
    ERROR_FOR_DIVISION_BY_ZERO = 26;
    TRADITIONAL = 27;
    HIGH_NOT_PRECEDENCE = 29;
    NO_ENGINE_SUBSTITUTION = 30;
    TIME_TRUNCATE_FRACTIONAL = 32;
}

impl SqlMode {
    pub const NONE: SqlMode = SqlMode(0);
    /// MySQL 8.4's default.
    pub const DEFAULT: SqlMode = SqlMode(
        Self::ONLY_FULL_GROUP_BY.0
            | Self::STRICT_TRANS_TABLES.0
            | Self::NO_ZERO_IN_DATE.0
            | Self::NO_ZERO_DATE.0
            | Self::ERROR_FOR_DIVISION_BY_ZERO.0
            | Self::NO_ENGINE_SUBSTITUTION.0,
    );

    #[inline]
    pub const fn has(self, mode: SqlMode) -> bool {
        self.0 & mode.0 != 0
    }

    /// Strict without all modes that belong to strict mode, or one of those without strict mode.
    pub const fn is_half_strict(self) -> bool {
        let parts = Self::NO_ZERO_IN_DATE.0 | Self::NO_ZERO_DATE.0 | Self::ERROR_FOR_DIVISION_BY_ZERO.0;
        let whole = if self.is_strict() { parts } else { 0 };
        self.0 & parts != whole
    }

    /// STRICT_TRANS_TABLES or STRICT_ALL_TABLES: bad values are errors, not warnings.
    #[inline]
    pub const fn is_strict(self) -> bool {
        self.has(SqlMode(Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0))
    }

    /// The value as `@@sql_mode` shows it.
    pub fn names(self) -> String {
        let names: Vec<&str> = SQL_MODES.iter().filter(|(_, m)| self.has(*m)).map(|(n, _)| *n).collect();
        names.join(",")
    }

    /// Parses a comma-separated list; ANSI and TRADITIONAL bring the modes they stand for. `Err` is the unknown word.
    pub fn parse(text: &str) -> Result<SqlMode, String> {
        let mut mode = SqlMode::NONE;
        for word in text.split(',') {
            if word.is_empty() {
                continue;
            }
            let word = word.trim_end();
            let (_, one) =
                SQL_MODES.iter().find(|(n, _)| n.eq_ignore_ascii_case(word)).ok_or_else(|| word.to_string())?;
            mode = mode | *one;
        }
        Ok(mode.expand())
    }

    fn expand(self) -> SqlMode {
        let mut mode = self;
        if mode.has(Self::ANSI) {
            mode = mode
                | Self::REAL_AS_FLOAT
                | Self::PIPES_AS_CONCAT
                | Self::ANSI_QUOTES
                | Self::IGNORE_SPACE
                | Self::ONLY_FULL_GROUP_BY;
        }
        if mode.has(Self::TRADITIONAL) {
            mode = mode
                | Self::STRICT_TRANS_TABLES
                | Self::STRICT_ALL_TABLES
                | Self::NO_ZERO_IN_DATE
                | Self::NO_ZERO_DATE
                | Self::ERROR_FOR_DIVISION_BY_ZERO
                | Self::NO_ENGINE_SUBSTITUTION;
        }
        mode
    }
}

impl BitOr for SqlMode {
    type Output = SqlMode;
    fn bitor(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }
}

impl BitAnd for SqlMode {
    type Output = SqlMode;
    fn bitand(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_combined_modes_expand() {
        assert_eq!(SqlMode::parse(&SqlMode::DEFAULT.names()), Ok(SqlMode::DEFAULT));
        assert!(SqlMode::parse("ansi").unwrap().has(SqlMode::ANSI_QUOTES));
        assert!(SqlMode::parse("TRADITIONAL").unwrap().is_strict());
        assert_eq!(SqlMode::parse("NO_SUCH"), Err("NO_SUCH".to_string()));
    }
}
