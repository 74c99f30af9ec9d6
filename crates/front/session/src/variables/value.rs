//! A system variable's value, and the checks that SET and options make before one is stored.

use super::{Access, Default, Kind, Scope, Variable};
use std::borrow::Cow;
use types::codes::*;
use types::sql_mode::SqlMode;
use types::{Result, SqlError, Value, err};

/// A value as it is stored: small, cheap to copy for all but strings that were set.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    Null,
    Bool(bool),
    UInt(u64),
    Int(i64),
    Double(f64),
    Str(Cow<'static, str>),
}

impl Val {
    /// The number. Panics on other kinds: the caller names a variable whose kind it knows.
    pub fn uint(&self) -> u64 {
        match self {
            Val::UInt(n) => *n,
            Val::Int(n) => *n as u64,
            Val::Bool(b) => *b as u64,
            other => panic!("{other:?} is no number"),
        }
    }

    pub fn bool(&self) -> bool {
        match self {
            Val::Bool(b) => *b,
            other => panic!("{other:?} is no boolean"),
        }
    }

    /// The string, empty for NULL.
    pub fn text(&self) -> &str {
        match self {
            Val::Str(s) => s,
            Val::Null => "",
            other => panic!("{other:?} is no string"),
        }
    }

    pub fn double(&self) -> f64 {
        match self {
            Val::Double(n) => *n,
            other => panic!("{other:?} is no double"),
        }
    }
}

/// Why an option's value is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// Not of the variable's kind.
    Value,
    /// The server has only this value for it.
    Fixed(String),
}

/// A number with an optional suffix K, M, G, T, P or E (powers of 1024).
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        b'T' => (&text[..text.len() - 1], 40),
        b'P' => (&text[..text.len() - 1], 50),
        b'E' => (&text[..text.len() - 1], 60),
        _ => (text, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// These, too, which have one value for all.
const SESSION_READ_ONLY: [&str; 2] = ["max_user_connections", "net_buffer_length"];

impl Variable {
    /// A value from a command line or option file. Numbers out of range are adjusted to the nearest that is allowed, as
    /// MySQL does; the caller may compare and warn.
    pub fn parse_option(&self, text: &str) -> Result<Val, Wrong> {
        let value = match self.kind {
            Kind::Bool => Val::Bool(parse_bool(text).ok_or(Wrong::Value)?),
            Kind::UInt { min, max, block } => {
                let n = match parse_bytes(text) {
                    Some(n) => n,
                    // MySQL clamps negative numbers to the minimum.
                    None if text.trim().parse::<i64>().is_ok_and(|n| n < 0) => 0,
                    None => return Err(Wrong::Value),
                };
                Val::UInt(round(n.clamp(min, max), block, min))
            }
            Kind::Int { min, max } => {
                let n = text.trim().parse::<i64>().ok().or_else(|| parse_bytes(text).map(|n| n as i64));
                Val::Int(n.ok_or(Wrong::Value)?.clamp(min, max))
            }
            Kind::Double { min, max } => {
                Val::Double(text.trim().parse::<f64>().map_err(|_| Wrong::Value)?.clamp(min, max))
            }
            _ => self.parse_word(text).ok_or(Wrong::Value)?,
        };
        Ok(value)
    }

    /// The value that SET stores: converted, in range; errors 1231 and 1232. `warn` gets the text of warning 1292 when a
    /// number was adjusted (only outside strict mode).
    pub fn check(&self, value: &Value<'_>, strict: bool, warn: &mut dyn FnMut(String)) -> Result<Val> {
        let wrong_type = || self.wrong_type();
        match self.kind {
            Kind::Bool => self.check_bool(value),
            Kind::UInt { .. } | Kind::Int { .. } | Kind::Double { .. } => self.check_number(value, strict, warn),
            Kind::Enum(names) => match value {
                Value::Int(_) | Value::UInt(_) => {
                    let n = match value {
                        Value::Int(n) => u64::try_from(*n).unwrap_or(u64::MAX),
                        Value::UInt(n) => *n,
                        _ => unreachable!("matched above"),
                    };
                    if n < self.settable(names) { Ok(Val::UInt(n)) } else { Err(self.cannot(&shown(value))) }
                }
                Value::Bytes(b) => {
                    let word = String::from_utf8_lossy(b);
                    let unknown = || match self.name {
                        "default_storage_engine" | "default_tmp_storage_engine" => {
                            err!(ER_UNKNOWN_STORAGE_ENGINE, word)
                        }
                        _ => self.cannot(&word),
                    };
                    let known = self.parse_word(&word).filter(|v| v.uint() < self.settable(names));
                    known.ok_or_else(unknown)
                }
                Value::Null => Err(self.cannot("NULL")),
                _ => Err(wrong_type()),
            },
            Kind::SqlMode => match value {
                Value::Int(n) => self.mode_bits(*n as u64),
                Value::UInt(n) => self.mode_bits(*n),
                Value::Bytes(b) => match SqlMode::parse(&String::from_utf8_lossy(b)) {
                    Ok(mode) => Ok(Val::UInt(mode.0)),
                    Err(word) => Err(self.cannot(&word)),
                },
                Value::Null => Err(self.cannot("NULL")),
                _ => Err(wrong_type()),
            },
            Kind::Flags(_) => self.check_flags(value, &self.default_value()),
            Kind::Charset { nullable } => match value {
                Value::Null if nullable => Ok(Val::Null),
                Value::Null => Err(self.cannot("NULL")),
                Value::Bytes(b) => {
                    let word = String::from_utf8_lossy(b);
                    if nullable && word.eq_ignore_ascii_case("NULL") {
                        return Ok(Val::Null);
                    }
                    // Statements are read byte by byte.
                    let set = types::Charset::by_name(&word);
                    if self.name == "character_set_client" && set.is_some_and(|set| set.mbminlen() > 1) {
                        return Err(self.cannot(&word));
                    }
                    self.parse_word(&word).ok_or_else(|| err!(ER_UNKNOWN_CHARACTER_SET, word))
                }
                _ => Err(wrong_type()),
            },
            Kind::Collation => match value {
                Value::Null => Err(self.cannot("NULL")),
                Value::Bytes(b) => {
                    let word = String::from_utf8_lossy(b);
                    self.parse_word(&word).ok_or_else(|| err!(ER_UNKNOWN_COLLATION, word))
                }
                _ => Err(wrong_type()),
            },
            Kind::TimeZone => match value {
                Value::Bytes(b) => {
                    let word = String::from_utf8_lossy(b);
                    self.parse_word(&word).ok_or_else(|| err!(ER_UNKNOWN_TIME_ZONE, word))
                }
                Value::Null => Err(err!(ER_UNKNOWN_TIME_ZONE, "NULL")),
                _ => Err(wrong_type()),
            },
            Kind::Str => match value {
                Value::Null if matches!(self.default, Default::Null) => Ok(Val::Null),
                Value::Null => Err(self.cannot("NULL")),
                Value::Bytes(b) => match std::str::from_utf8(b) {
                    Ok(s) => Ok(Val::Str(Cow::Owned(s.to_string()))),
                    Err(_) => Err(self.cannot(&String::from_utf8_lossy(b))),
                },
                _ => Err(wrong_type()),
            },
        }
    }

    /// How many of these words SET takes: DISABLED is for the start alone.
    fn settable(&self, names: &[&str]) -> u64 {
        let is_for_start = |name: &&&str| self.name == "event_scheduler" && **name == "DISABLED";
        (names.len() - names.iter().filter(is_for_start).count()) as u64
    }

    fn wrong_type(&self) -> SqlError {
        err!(ER_WRONG_TYPE_FOR_VAR, self.name)
    }

    fn check_bool(&self, value: &Value<'_>) -> Result<Val> {
        match value {
            Value::Int(0) | Value::UInt(0) => Ok(Val::Bool(false)),
            Value::Int(1) | Value::UInt(1) => Ok(Val::Bool(true)),
            Value::Bytes(b) => {
                let word = String::from_utf8_lossy(b);
                // Numbers in quotes are no booleans in SET, unlike in option files.
                match parse_bool(&word) {
                    Some(b) if !word.starts_with(|c: char| c.is_ascii_digit()) => Ok(Val::Bool(b)),
                    _ => Err(self.cannot(&word)),
                }
            }
            Value::Null => Err(self.cannot("NULL")),
            Value::Int(n) => Err(self.cannot(&n.to_string())),
            Value::UInt(n) => Err(self.cannot(&n.to_string())),
            _ => Err(self.wrong_type()),
        }
    }

    fn check_number(&self, value: &Value<'_>, strict: bool, warn: &mut dyn FnMut(String)) -> Result<Val> {
        let mut out_of_range = |shown: String| {
            if strict {
                return Err(self.cannot(&shown));
            }
            warn(format!("Truncated incorrect {} value: '{shown}'", self.name));
            Ok(())
        };
        match self.kind {
            Kind::UInt { min, max, block } => {
                let n = match value {
                    Value::Int(n) if *n < 0 => {
                        out_of_range(n.to_string())?;
                        return Ok(Val::UInt(min));
                    }
                    Value::Int(n) => *n as u64,
                    Value::UInt(n) => *n,
                    _ => return Err(self.wrong_type()),
                };
                let good = round(n.clamp(min, max), block, min);
                if good != n {
                    out_of_range(n.to_string())?;
                }
                Ok(Val::UInt(good))
            }
            Kind::Int { min, max } => {
                let n = match value {
                    Value::Int(n) => *n,
                    Value::UInt(n) => i64::try_from(*n).unwrap_or(i64::MAX),
                    _ => return Err(self.wrong_type()),
                };
                let good = n.clamp(min, max);
                if good != n {
                    out_of_range(n.to_string())?;
                }
                Ok(Val::Int(good))
            }
            Kind::Double { min, max } => {
                let n = match value {
                    Value::Int(n) => *n as f64,
                    Value::UInt(n) => *n as f64,
                    Value::Double(n) => *n,
                    Value::Decimal(d) => d.to_string().parse().map_err(|_| self.wrong_type())?,
                    _ => return Err(self.wrong_type()),
                };
                let good = n.clamp(min, max);
                if good != n {
                    out_of_range(n.to_string())?;
                }
                Ok(Val::Double(good))
            }
            _ => Err(self.wrong_type()),
        }
    }

    /// Flags as they are once those that `value` names are on, off, or as by default. Errors 1231 and 1232.
    pub fn check_flags(&self, value: &Value<'_>, present: &Val) -> Result<Val> {
        let Kind::Flags(names) = self.kind else { unreachable!("the caller knows the variable") };
        let bits = match value {
            Value::Int(n) => *n as u64,
            Value::UInt(n) => *n,
            Value::Null => return Err(self.cannot("NULL")),
            Value::Bytes(b) => {
                let text = String::from_utf8_lossy(b);
                let set = set_flags(names, &text, present.uint(), self.default_value().uint());
                return set.map(Val::UInt).map_err(|rest| self.cannot(rest));
            }
            _ => {
                return Err(err!(ER_WRONG_TYPE_FOR_VAR, self.name));
            }
        };
        if bits >> names.len() != 0 { Err(self.cannot(&bits.to_string())) } else { Ok(Val::UInt(bits)) }
    }

    /// What already reading it warns of.
    pub fn deprecated_read(&self) -> Option<&'static str> {
        macro_rules! text {
            ($($name:literal)*) => {
                match self.name {
                    $($name => Some(concat!(
                        "'@@",
                        $name,
                        "' is deprecated and will be removed in a future release."
                    )),)*
                    _ => None,
                }
            };
        }
        text!("binlog_format" "have_profiling" "log_bin_trust_function_creators" "max_delayed_threads"
              "max_length_for_sort_data" "profiling" "profiling_history_size"
              "query_prealloc_size" "transaction_prealloc_size")
    }

    /// What setting it warns of.
    pub fn deprecated(&self) -> Option<(u16, String)> {
        let name = self.name;
        if let Some(text) = self.deprecated_read() {
            return Some((ER_WARN_DEPRECATED_SYNTAX, text.to_string()));
        }
        match name {
            "character_set_database" | "collation_database" | "default_collation_for_utf8mb4" => Some((
                ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT,
                format!("Updating '{name}' is deprecated. It will be made read-only in a future release."),
            )),
            _ => None,
        }
    }

    /// Error 1231.
    #[cold]
    pub fn cannot(&self, value: &str) -> SqlError {
        err!(ER_WRONG_VALUE_FOR_VAR, self.name, value)
    }

    /// May `SET GLOBAL` (true) or `SET SESSION` (false) name this variable? Errors 1228, 1229, 1238, 1621.
    pub fn may_set(&self, global: bool) -> Result<()> {
        let name = self.name;
        if self.access == Access::ReadOnly {
            return Err(err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, name, "read only"));
        }
        match (global, self.scope) {
            (true, Scope::Session) => Err(err!(ER_LOCAL_VARIABLE, name)),
            (false, Scope::Global) => Err(err!(ER_GLOBAL_VARIABLE, name)),
            (false, _) if self.access == Access::SessionReadOnly || SESSION_READ_ONLY.contains(&name) => {
                Err(err!(ER_VARIABLE_IS_READONLY, "SESSION", name, "GLOBAL"))
            }
            _ => Ok(()),
        }
    }

    /// May a statement read `@@global.name` (Some(true)), `@@session.name` (Some(false))? Error 1238.
    pub fn may_read(&self, global: Option<bool>) -> Result<()> {
        match (global, self.scope) {
            (Some(true), Scope::Session) => Err(err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, self.name, "SESSION")),
            (Some(false), Scope::Global) => Err(err!(ER_INCORRECT_GLOBAL_LOCAL_VAR, self.name, "GLOBAL")),
            _ => Ok(()),
        }
    }

    fn mode_bits(&self, bits: u64) -> Result<Val> {
        let known = types::sql_mode::SQL_MODES.iter().fold(0, |all, (_, mode)| all | mode.0);
        if bits & !known != 0 { Err(self.cannot(&bits.to_string())) } else { Ok(Val::UInt(bits)) }
    }

    /// A word for a variable that is neither a boolean nor a number.
    fn parse_word(&self, text: &str) -> Option<Val> {
        match self.kind {
            Kind::Enum(names) => {
                // `transaction_isolation` has dashes in its words; a number is an index.
                if let Ok(n) = text.trim().parse::<usize>()
                    && !names.contains(&text.trim())
                {
                    return (n < names.len()).then_some(Val::UInt(n as u64));
                }
                let at = names.iter().position(|n| n.eq_ignore_ascii_case(text.trim())).or_else(|| {
                    // An engine may go by another name.
                    let engine = catalog::StorageEngine::by_name(text.trim())
                        .filter(|_| self.name.ends_with("storage_engine"))?;
                    names.iter().position(|n| *n == engine.name())
                })?;
                Some(Val::UInt(at as u64))
            }
            Kind::SqlMode => SqlMode::parse(text).ok().map(|m| Val::UInt(m.0)),
            Kind::Flags(names) => {
                let default = self.default_value().uint();
                set_flags(names, text, default, default).ok().map(Val::UInt)
            }
            Kind::Charset { .. } => {
                let charset = types::charset::Charset::by_name(text)?;
                Some(Val::Str(Cow::Borrowed(charset.name())))
            }
            Kind::Collation => {
                let collation = types::collation::CollationId::by_name(text)?;
                Some(Val::Str(Cow::Borrowed(collation.info().name)))
            }
            Kind::TimeZone => crate::time_zone::TimeZone::parse(text).map(|zone| Val::Str(Cow::Owned(zone.name()))),
            Kind::Str => Some(Val::Str(Cow::Owned(text.to_string()))),
            _ => None,
        }
    }
}

/// `name=on,name=off,name=default,default`: the bits, or the rest from where it is wrong.
fn set_flags<'t>(names: &[&str], text: &'t str, present: u64, default: u64) -> Result<u64, &'t str> {
    let (mut bits, mut named, mut rest, mut all) = (present, 0u64, text, false);
    while !rest.is_empty() {
        let (item, after) = rest.split_once(',').unwrap_or((rest, ""));
        if item.trim().eq_ignore_ascii_case("default") && !all {
            bits = (default & !named) | (bits & named);
            all = true;
        } else {
            let (name, state) = item.split_once('=').ok_or(rest)?;
            let at = names.iter().position(|n| n.eq_ignore_ascii_case(name.trim())).ok_or(rest)?;
            let on = match &state.trim().to_ascii_lowercase()[..] {
                "on" => true,
                "off" => false,
                "default" => default >> at & 1 == 1,
                _ => return Err(rest),
            };
            if named >> at & 1 == 1 {
                return Err(rest);
            }
            named |= 1 << at;
            bits = if on { bits | 1 << at } else { bits & !(1 << at) };
        }
        rest = after;
    }
    Ok(bits)
}

pub(super) fn print_flags(names: &[&str], bits: u64) -> String {
    let flag = |(i, name): (usize, &&str)| format!("{name}={}", if bits >> i & 1 == 1 { "on" } else { "off" });
    names.iter().enumerate().map(flag).collect::<Vec<_>>().join(",")
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

fn round(n: u64, block: u64, min: u64) -> u64 {
    if block > 1 { (n / block * block).max(min) } else { n }
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Bytes(b) => String::from_utf8_lossy(b).into_owned(),
        Value::Null => "NULL".to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{VARIABLES, find};
    use super::*;

    fn set(name: &str, value: Value<'_>, strict: bool) -> (Result<Val, u16>, Vec<String>) {
        let mut warnings = Vec::new();
        let variable = &VARIABLES[find(name).expect(name) as usize];
        let result = variable.check(&value, strict, &mut |w| warnings.push(w)).map_err(|e| e.code);
        (result, warnings)
    }

    fn text(s: &'static str) -> Value<'static> {
        Value::Bytes(Cow::Borrowed(s.as_bytes()))
    }

    #[test]
    fn sizes_with_suffixes() {
        assert_eq!(parse_bytes("16M"), Some(16 << 20));
        assert_eq!(parse_bytes("2g"), Some(2 << 30));
        assert_eq!(parse_bytes("7"), Some(7));
        assert_eq!(parse_bytes("M"), None);
        assert_eq!(parse_bytes("1.5G"), None);
        assert_eq!(parse_bytes("99999999999E"), None);
    }

    #[test]
    fn set_checks_kind_and_range() {
        assert_eq!(set("autocommit", Value::Int(0), true).0, Ok(Val::Bool(false)));
        assert_eq!(set("autocommit", text("on"), true).0, Ok(Val::Bool(true)));
        assert_eq!(set("autocommit", Value::Int(2), true).0, Err(1231));
        assert_eq!(set("autocommit", text("1"), true).0, Err(1231));
        assert_eq!(set("wait_timeout", text("x"), true).0, Err(1232));
        assert_eq!(set("wait_timeout", Value::Int(0), true).0, Err(1231));
        let (value, warnings) = set("wait_timeout", Value::Int(-5), false);
        assert_eq!(value, Ok(Val::UInt(1)));
        assert_eq!(warnings, ["Truncated incorrect wait_timeout value: '-5'"]);
        assert_eq!(set("sql_mode", text("NO_SUCH_MODE"), true).0, Err(1231));
        assert_eq!(set("transaction_isolation", text("read-committed"), true).0, Ok(Val::UInt(1)));
        assert_eq!(set("transaction_isolation", text("READ COMMITTED"), true).0, Err(1231));
        assert_eq!(set("character_set_client", text("klingon"), true).0, Err(1115));
    }

    #[test]
    fn flags_change_one_by_one() {
        let switch = &VARIABLES[find("optimizer_switch").expect("it is there") as usize];
        let default = switch.default_value().uint();
        let set = |text: &'static str, present| set_flags(&["a", "b", "c"], text, present, 0b110);
        assert_eq!(set("A=on, c=OFF", 0b110), Ok(0b011));
        assert_eq!(set("a=on,default", 0), Ok(0b111));
        assert_eq!(set("", 0b001), Ok(0b001));
        assert_eq!(set("a=on,a=off", 0), Err("a=off"));
        assert_eq!((set("a", 0), set("d=on", 0), set("a=x", 0)), (Err("a"), Err("d=on"), Err("a=x")));
        assert_eq!(switch.parse_option(&switch.print(&Val::UInt(default))), Ok(Val::UInt(default)));
    }

    #[test]
    fn scopes_and_access() {
        let get = |name: &str| &VARIABLES[find(name).expect(name) as usize];
        assert_eq!(get("version").may_set(true).unwrap_err().code, ER_INCORRECT_GLOBAL_LOCAL_VAR);
        assert_eq!(get("max_connections").may_set(false).unwrap_err().code, ER_GLOBAL_VARIABLE);
        assert_eq!(get("timestamp").may_set(true).unwrap_err().code, ER_LOCAL_VARIABLE);
        assert_eq!(get("max_allowed_packet").may_set(false).unwrap_err().code, ER_VARIABLE_IS_READONLY);
        assert_eq!(get("autocommit").may_read(Some(true)), Ok(()));
        assert_eq!(get("max_connections").may_read(Some(false)).unwrap_err().code, ER_INCORRECT_GLOBAL_LOCAL_VAR);
    }
}
