//! Server options: the command line and MySQL's option files, into values of system variables and a few options that
//! are no variables.
//!
//! `--name=value`, `--name value`, dashes and underscores alike; K, M, G, T suffixes; `--skip-x`, `--disable-x`,
//! `--enable-x` for booleans; `--loose-x` warns where `--x` would fail. Files: `[mysqld]`, `[server]` and `[clearway]`
//! groups, `#` and `;` comments, quotes, escapes `\b \t \n \r \\ \s`, `!include FILE`, `!includedir DIR` (`*.cnf`).
//! Later values win: files come first, then the command line.

use crate::known_options;
use observe::setup::{Consumer, Instrumented};
use session::variables::{self, Access, Globals, Kind, Origin, Startup, VARIABLES, Val, Wrong};
use std::path::{Path, PathBuf};

/// What the command line and option files ask for.
#[derive(Debug, Default)]
pub struct Options {
    pub globals: Globals,
    /// Root gets an empty password on the first start.
    pub initialize_insecure: bool,
    /// Make the data directory and exit.
    pub initialize: bool,
    /// mysql_native_password can be used.
    pub native_password: bool,
    /// Clients say which character set they speak.
    pub client_charset: bool,
    /// `--log-bin`: the name of the binary log's files, without number; empty: the default one. `None`: `--skip-log-bin`.
    pub log_bin: Option<String>,
    pub help: bool,
    /// With all variables.
    pub verbose: bool,
    /// Read the options, say what is wrong with them, and end.
    pub validate: bool,
    /// `--performance-schema-instrument`: patterns of names and what is said of them, in order.
    pub instruments: Vec<(String, Instrumented)>,
    /// `--performance-schema-consumer-...`
    pub consumers: Vec<(Consumer, bool)>,
    /// `--replicate-do-db` and its like.
    pub filters: session::FilterOptions,
    /// What is wrong with the options, all of it.
    errors: Vec<Error>,
    /// Say these in the error log: values adjusted, `loose` options skipped.
    pub warnings: Vec<String>,
}

/// One line or more for stderr.
pub type Error = String;

/// How deep `!include` may nest.
const INCLUDE_DEPTH_MAX: usize = 10;

/// Groups of an option file that the server reads.
const GROUPS: [&str; 4] = ["mysqld", "server", "clearway", "mysqld-8.4"];

/// Reads the arguments after `clearway serve`, and the option files that they name.
pub fn parse(arguments: &[String]) -> Result<Options, Error> {
    let mut options = Options { log_bin: Some(String::new()), client_charset: true, ..Options::default() };
    let (files, rest) = split_files(arguments)?;
    for file in files {
        read_file(&mut options, &file, 0)?;
    }
    let mut rest = rest.into_iter().peekable();
    while let Some(argument) = rest.next() {
        let Some(text) = argument.strip_prefix("--") else {
            return Err(match argument.as_str() {
                "-h" | "-?" => {
                    options.help = true;
                    continue;
                }
                _ => format!("unexpected argument '{argument}': options start with '--'"),
            });
        };
        let (name, mut value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        // `--port 3306`: the next word is the value, unless the option stands alone.
        if value.is_none() && wants_value(name) {
            value = Some(rest.next().ok_or_else(|| format!("option '--{name}' requires a value"))?);
        } else if value.is_none() && takes_word(name) {
            value = rest.next_if(|word| !word.starts_with('-') && is_boolean(word));
        }
        note(&mut options, name, value.as_deref(), "");
    }
    if !options.errors.is_empty() {
        return Err(options.errors.join("\nclearway: "));
    }
    size_log(&mut options.globals);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    size_purge(&mut options.globals, processors);
    Ok(options)
}

/// Machines with more logical processors than this purge in [`PURGE_THREADS_LARGE`] threads unless told otherwise.
const PROCESSORS_SMALL_MAX: usize = 16;
const PURGE_THREADS_LARGE: u64 = 4;

/// The default of `innodb_purge_threads`, as
/// [the manual](https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html#sysvar_innodb_purge_threads) has it since 8.4.
fn size_purge(globals: &mut Globals, processors: usize) {
    let threads = variables::find("innodb_purge_threads").expect("the table has it");
    if processors > PROCESSORS_SMALL_MAX && globals.origin(threads).0 == Origin::Compiled {
        globals.set(threads, Val::UInt(PURGE_THREADS_LARGE));
    }
}

/// The log's size as it was told before `innodb_redo_log_capacity` came: so many files of this size.
fn size_log(globals: &mut Globals) {
    let [capacity, size, files] = ["innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"]
        .map(|name| variables::find(name).expect("the table has it"));
    let told = |id| globals.origin(id).0 != Origin::Compiled;
    if told(capacity) || !(told(size) || told(files)) {
        return;
    }
    let Kind::UInt { min, max, .. } = VARIABLES[capacity as usize].kind else { unreachable!("it is a number") };
    let bytes = globals.uint(size).saturating_mul(globals.uint(files)).clamp(min, max);
    globals.set(capacity, Val::UInt(bytes >> 20 << 20));
    globals.came_from(capacity, Origin::CommandLine, None);
}

/// `--config FILE` and `--defaults-file=FILE` (in order), and all other arguments.
fn split_files(arguments: &[String]) -> Result<(Vec<PathBuf>, Vec<String>), Error> {
    let mut files = Vec::new();
    let mut rest = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        match name.replace('_', "-").as_str() {
            "--config" | "--defaults-file" | "--defaults-extra-file" => {
                let file = match value {
                    Some(value) => value,
                    None => words.next().ok_or_else(|| format!("option '{name}' requires a value"))?,
                };
                files.push(PathBuf::from(file));
            }
            "--no-defaults" => {}
            _ => rest.push(word.clone()),
        }
    }
    Ok((files, rest))
}

/// Reads one option file.
fn read_file(options: &mut Options, path: &Path, depth: usize) -> Result<(), Error> {
    let text =
        std::fs::read_to_string(path).map_err(|e| format!("cannot read option file '{}': {e}", path.display()))?;
    let mut ours = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let place = || format!("{}:{}: ", path.display(), number + 1);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('!') {
            if depth >= INCLUDE_DEPTH_MAX {
                return Err(format!("{}!include is nested too deeply", place()));
            }
            include(options, path, rest, depth).map_err(|e| format!("{}{e}", place()))?;
        } else if let Some(rest) = line.strip_prefix('[') {
            let Some((group, _)) = rest.split_once(']') else {
                return Err(format!("{}wrong group definition", place()));
            };
            ours = GROUPS.iter().any(|g| g.eq_ignore_ascii_case(group.trim()));
        } else if ours {
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name.trim_end(), Some(file_value(value))),
                None => (file_word(line), None),
            };
            note(options, name, value.as_deref(), &place());
        }
    }
    Ok(())
}

fn include(options: &mut Options, from: &Path, directive: &str, depth: usize) -> Result<(), Error> {
    let (word, target) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let target = target.trim();
    if target.is_empty() {
        return Err(format!("!{word} names no path"));
    }
    // A relative path is meant from the file that includes it.
    let target = from.parent().unwrap_or(Path::new(".")).join(target);
    match word {
        "include" => read_file(options, &target, depth + 1),
        "includedir" => {
            let entries =
                std::fs::read_dir(&target).map_err(|e| format!("cannot read directory '{}': {e}", target.display()))?;
            let mut files = Vec::new();
            for entry in entries {
                let path = entry.map_err(|e| format!("cannot read directory '{}': {e}", target.display()))?.path();
                if path.extension().is_some_and(|e| e == "cnf") {
                    files.push(path);
                }
            }
            files.sort();
            files.iter().try_for_each(|file| read_file(options, file, depth + 1))
        }
        _ => Err(format!("unknown directive '!{word}'")),
    }
}

/// An option without value, up to a comment.
fn file_word(line: &str) -> &str {
    line.split(['#', ' ', '\t']).next().unwrap_or(line)
}

/// The value after `=`: quotes taken off, the comment cut, escapes resolved.
fn file_value(text: &str) -> String {
    let text = text.trim();
    let (quote, body) = match text.chars().next() {
        Some(q @ ('\'' | '"')) => (Some(q), &text[1..]),
        _ => (None, text),
    };
    let mut value = String::new();
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('b') => value.push('\u{8}'),
                Some('t') => value.push('\t'),
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('s') => value.push(' '),
                Some(other @ ('\\' | '"' | '\'')) => value.push(other),
                // Unknown escapes keep their backslash (Windows paths).
                Some(other) => value.extend(['\\', other]),
                None => value.push('\\'),
            },
            c if Some(c) == quote => return value,
            // MySQL starts a comment in the middle of a line at `#`, outside quotes.
            '#' if quote.is_none() => break,
            c => value.push(c),
        }
    }
    if quote.is_none() { value.trim_end().to_string() } else { value }
}

/// What a prefix of an option's name asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Switch {
    None,
    On,
    Off,
}

/// Removes `loose`, `skip`, `enable`, `disable`, and finds the variable.
struct Found {
    loose: bool,
    switch: Switch,
    /// With underscores, without prefixes.
    name: String,
}

fn find(name: &str) -> Found {
    let mut name = name.trim().replace('-', "_").to_ascii_lowercase();
    let mut found = Found { loose: false, switch: Switch::None, name: String::new() };
    if let Some(rest) = name.strip_prefix("loose_") {
        name = rest.to_string();
        found.loose = true;
    }
    // MySQL has short names for these.
    let short = |name: String| match name.as_str() {
        "transaction_isolation_level" => "transaction_isolation".to_string(),
        "skip_networking" | "skip_name_resolve" | "skip_external_locking" | "skip_show_database" => name,
        "default_character_set" => "character_set_server".to_string(),
        _ => name,
    };
    name = short(name);
    let is_known = |name: &str| {
        variables::find(name).is_some() || is_special(name) || known_options::renamed(name, None).is_some()
    };
    if !is_known(&name) {
        for (prefix, switch) in [("skip_", Switch::Off), ("disable_", Switch::Off), ("enable_", Switch::On)] {
            if let Some(rest) = name.strip_prefix(prefix) {
                name = short(rest.to_string());
                found.switch = switch;
                break;
            }
        }
    }
    found.name = name;
    found
}

/// Options that are no variables.
fn is_special(name: &str) -> bool {
    matches!(
        name,
        "initialize"
            | "initialize_insecure"
            | "help"
            | "verbose"
            | "validate_config"
            | "console"
            | "user"
            | "character_set_client_handshake"
            | "mysql_native_password"
            | "log_bin"
            | INSTRUMENT
    ) || consumer(name).is_some()
}

const INSTRUMENT: &str = "performance_schema_instrument";

/// The consumer that an option switches.
fn consumer(name: &str) -> Option<Consumer> {
    let named = name.strip_prefix("performance_schema_consumer_")?;
    Consumer::ALL.iter().copied().find(|consumer| consumer.name() == named)
}

/// Does `--name` without `=` take the next word?
fn wants_value(name: &str) -> bool {
    let found = find(name);
    if found.switch != Switch::None {
        return false;
    }
    match variables::find(&found.name) {
        Some(id) => VARIABLES[id as usize].kind != Kind::Bool,
        None => found.name == "user" || found.name == INSTRUMENT,
    }
}

/// A boolean may be followed by its value.
fn takes_word(name: &str) -> bool {
    variables::find(&find(name).name).is_some_and(|id| VARIABLES[id as usize].kind == Kind::Bool)
}

fn is_boolean(word: &str) -> bool {
    ["on", "off", "true", "false", "1", "0"].iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// Applies one option, or notes what is wrong with it: all of that is told at once.
fn note(options: &mut Options, name: &str, value: Option<&str>, place: &str) {
    if let Err(error) = apply(options, name, value, place) {
        options.errors.push(error);
    }
}

/// Applies one of the options that say what Performance Schema collects. False: it is none of them.
fn apply_setup(
    options: &mut Options,
    found: &Found,
    name: &str,
    value: Option<&str>,
    place: &str,
) -> Result<bool, Error> {
    if let Some(consumer) = consumer(&found.name) {
        let said = match value {
            None => true,
            Some(word) => on_or_off(word).ok_or_else(|| format!("{place}option '{name}': bad value '{word}'"))?,
        };
        let on = said && found.switch != Switch::Off;
        options.consumers.push((consumer, on));
        return Ok(true);
    }
    if found.name != INSTRUMENT {
        return Ok(false);
    }
    match value.and_then(instrumented) {
        Some(said) => options.instruments.push(said),
        None => {
            let said = value.unwrap_or_default();
            let message = format!("{place}Invalid instrument name or value for performance_schema_instrument '{said}'");
            options.warnings.push(message);
        }
    }
    Ok(true)
}

/// Applies one option. `place` is `file:line: ` or empty.
fn apply(options: &mut Options, name: &str, value: Option<&str>, place: &str) -> Result<(), Error> {
    let found = find(name);
    let refuse = |options: &mut Options, message: String| {
        if found.loose {
            options.warnings.push(message);
            Ok(())
        } else {
            Err(message)
        }
    };
    if found.name == "log_bin" {
        let off = found.switch == Switch::Off || value.is_some_and(|v| v == "0" || v.eq_ignore_ascii_case("off"));
        let named = value.filter(|v| !is_boolean(v)).unwrap_or_default();
        options.log_bin = (!off).then(|| named.to_string());
        options.globals.set(variables::id("log_bin"), Val::Bool(!off));
        return Ok(());
    }
    if apply_setup(options, &found, name, value, place)? {
        return Ok(());
    }
    if session::FilterOptions::is_one(&found.name) {
        let Some(value) = value else { return Err(format!("{place}option '{name}' requires a value")) };
        return match options.filters.add(&found.name, value) {
            true => Ok(()),
            false => Err(format!("{place}option '{name}': bad value '{value}'")),
        };
    }
    if is_special(&found.name) {
        return apply_special(options, &found, name, value, place);
    }
    if let Some((name, value)) = known_options::renamed(&found.name, value) {
        return apply(options, name, value.as_deref(), place);
    }
    let Some(id) = variables::find(&found.name) else {
        if known_options::has_no_effect(&found.name) {
            options.warnings.push(format!("{place}option '{name}' has no effect here"));
            return Ok(());
        }
        return refuse(options, format!("{place}unknown variable '{name}'"));
    };
    let variable = &VARIABLES[id as usize];
    if variable.startup == Startup::None {
        return refuse(options, format!("{place}variable '{name}' cannot be set by an option"));
    }
    let text = match (found.switch, value) {
        (Switch::None, Some(text)) => text,
        (Switch::None, None) if variable.kind == Kind::Bool => "ON",
        (Switch::None, None) => return Err(format!("{place}option '{name}' requires a value")),
        (Switch::On, None) => "ON",
        (Switch::Off, None) if variable.kind == Kind::Bool || has_off(variable.kind) => "OFF",
        // `--skip-log-error`: back to the default.
        (Switch::Off, None) => {
            options.globals.set(id, variable.default_value());
            return Ok(());
        }
        (_, Some(_)) => return Err(format!("{place}option '{name}' takes no value")),
    };
    let former = if found.name == "sql_mode" { known_options::without_former_modes(text) } else { None };
    if former.is_some() {
        options.warnings.push(format!("{place}option '{name}': '{}' has no effect here", known_options::FORMER_MODE));
    }
    let text = former.as_deref().unwrap_or(text);
    let parsed = match variable.parse_option(text) {
        Ok(parsed) => parsed,
        Err(Wrong::Value) if known_options::makes_no_difference(&found.name) => {
            let only = variable.print(&variable.default_value()).into_owned();
            options.warnings.push(format!("{place}option '{name}': '{text}' has no effect, it is '{only}' here"));
            return Ok(());
        }
        Err(Wrong::Value) => return Err(format!("{place}option '{name}': bad value '{text}'")),
        Err(Wrong::Fixed(only)) if known_options::makes_no_difference(&found.name) => {
            options.warnings.push(format!("{place}option '{name}': '{text}' has no effect, it is '{only}' here"));
            return Ok(());
        }
        Err(Wrong::Fixed(only)) => return Err(format!("{place}option '{name}': only '{only}' is supported")),
    };
    if !session::tls::is_possible(id, &parsed) {
        return Err(format!("{place}option '{name}': bad value '{text}'"));
    }
    if variable.startup.is_fixed() && parsed != variable.default_value() {
        let only = variable.default_value();
        if variable.startup == Startup::OptionNoted || known_options::makes_no_difference(&found.name) {
            let only = variable.print(&only);
            options.warnings.push(format!("{place}option '{name}': '{text}' has no effect, it is '{only}' here"));
            return Ok(());
        }
        return refuse(
            options,
            format!("{place}option '{name}': '{text}' is not supported, only '{}' is", variable.print(&only)),
        );
    }
    debug_assert!(variable.access != Access::Dynamic || !variable.startup.is_fixed());
    if is_adjusted(&parsed, text) {
        options.warnings.push(format!("{place}option '{name}': value {text} adjusted to {}", variable.print(&parsed)));
    }
    store(&mut options.globals, id, parsed);
    options.globals.came_from(id, Origin::CommandLine, None);
    Ok(())
}

fn on_or_off(word: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|w| word.trim().eq_ignore_ascii_case(w));
    match (is(&["on", "true", "yes", "1"]), is(&["off", "false", "no", "0"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// `pattern=value`
fn instrumented(said: &str) -> Option<(String, Instrumented)> {
    let (pattern, word) = said.split_once('=')?;
    let (pattern, word) = (pattern.trim(), word.trim());
    let asked = match on_or_off(word) {
        Some(true) => Instrumented::Timed,
        Some(false) => Instrumented::Off,
        None if word.eq_ignore_ascii_case("timed") => Instrumented::Timed,
        None if word.eq_ignore_ascii_case("counted") => Instrumented::Counted,
        None => return None,
    };
    (!pattern.is_empty()).then(|| (pattern.to_string(), asked))
}

/// An option that is no variable.
fn apply_special(
    options: &mut Options,
    found: &Found,
    name: &str,
    value: Option<&str>,
    place: &str,
) -> Result<(), Error> {
    let on = match value {
        None => true,
        Some(v) if found.name == "user" => {
            // Changing to another user needs root and is the service manager's work.
            options.warnings.push(format!("{place}option 'user' ({v}) is left to the service manager"));
            return Ok(());
        }
        // A plugin may be said to be needed; this one is always there.
        Some(v) if found.name == "mysql_native_password" && v.to_ascii_lowercase().starts_with("force") => true,
        Some(v) if is_boolean(v) => v.eq_ignore_ascii_case("on") || v == "1" || v.eq_ignore_ascii_case("true"),
        Some(v) => return Err(format!("{place}option '{name}': '{v}' is no boolean")),
    };
    match found.name.as_str() {
        "initialize" => options.initialize = on,
        "initialize_insecure" => options.initialize_insecure = on,
        "character_set_client_handshake" => options.client_charset = on && found.switch != Switch::Off,
        "mysql_native_password" => options.native_password = on && found.switch != Switch::Off,
        "help" => options.help = on,
        "verbose" => options.verbose = on,
        "validate_config" => options.validate = on,
        // The error log goes to stderr unless log_error says otherwise.
        "console" if on => options.globals.set(variables::id("log_error"), Val::Str("stderr".into())),
        _ => {}
    }
    Ok(())
}

/// Each variable that has an option: its name, what the options that were read make of it, what it can be, and its default where that
/// is another.
pub fn described(globals: &Globals) -> impl Iterator<Item = (String, String, String)> {
    VARIABLES.iter().filter(|v| v.startup != Startup::None).map(|variable| {
        let printed = |value: &Val| match value {
            Val::Null => "(none)".to_string(),
            value if variable.print(value).is_empty() => "(none)".to_string(),
            value => variable.print(value).into_owned(),
        };
        let default = printed(&variable.default_value());
        let value = printed(globals.get(variables::find(variable.name).expect("it is in the table")));
        let range = match variable.kind {
            _ if variable.startup.is_fixed() => "this value alone".to_string(),
            Kind::Bool => "ON, OFF".to_string(),
            Kind::UInt { min, max, block: 1 } => format!("{min} to {max}"),
            Kind::UInt { min, max, block } => format!("{min} to {max}, in steps of {block}"),
            Kind::Int { min, max } => format!("{min} to {max}"),
            Kind::Double { min, max } => format!("{min} to {max}"),
            Kind::Enum(names) => names.join(", "),
            Kind::Flags(names) => format!("=on, =off or =default for each of: {}", names.join(", ")),
            Kind::SqlMode => "modes, comma-separated".to_string(),
            Kind::Charset { .. } => "a character set".to_string(),
            Kind::Collation => "a collation".to_string(),
            Kind::TimeZone => "SYSTEM, an offset or a zone's name".to_string(),
            Kind::Str => "text".to_string(),
        };
        let other = if value == default { String::new() } else { format!(" (default {default})") };
        (variable.name.replace('_', "-"), value, format!("{range}{other}"))
    })
}

/// [`described`] as a table.
pub fn variables_help(globals: &Globals) -> String {
    let mut help = String::from("\nVariables (--variable-name=value)                     value              range\n\n");
    for (name, value, range) in described(globals) {
        help.push_str(&format!("{name:<53} {value:<18} {range}\n"));
    }
    help
}

/// Was a number rounded or moved into its range?
fn is_adjusted(value: &Val, text: &str) -> bool {
    match value {
        Val::UInt(n) => variables::parse_bytes(text).is_some_and(|asked| asked != *n),
        Val::Int(n) => text.trim().parse::<i64>().is_ok_and(|asked| asked != *n),
        _ => false,
    }
}

fn has_off(kind: Kind) -> bool {
    matches!(kind, Kind::Enum(names) if names.contains(&"OFF"))
}

/// Character sets and collations come in pairs.
fn store(globals: &mut Globals, id: variables::VarId, value: Val) {
    use types::charset::Charset;
    use types::collation::CollationId;
    let name = VARIABLES[id as usize].name;
    let mut pair = |charset: Charset, collation: CollationId| {
        for (id, text) in [
            (variables::id("character_set_server"), charset.name()),
            (variables::id("character_set_database"), charset.name()),
            (variables::id("collation_server"), collation.info().name),
            (variables::id("collation_database"), collation.info().name),
        ] {
            globals.set(id, Val::Str(text.into()));
        }
    };
    match name {
        "character_set_server" => {
            let charset = Charset::by_name(value.text()).expect("checked by parse_option");
            pair(charset, CollationId::default_of(charset));
        }
        "collation_server" => {
            let collation = CollationId::by_name(value.text()).expect("checked by parse_option");
            pair(collation.charset(), collation);
        }
        _ => {
            if let Some(other) = variables::other_name(id) {
                globals.set(other, value.clone());
            }
            globals.set(id, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Result<Options, Error> {
        parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    fn shown(options: &Options, name: &str) -> String {
        let id = variables::find(name).expect(name);
        VARIABLES[id as usize].print(options.globals.get(id)).into_owned()
    }

    #[test]
    fn spellings_of_one_option() {
        for line in
            ["--max-connections=700", "--max_connections 700", "--loose-max-connections=700", "--MAX_connections=700"]
        {
            assert_eq!(shown(&args(line).expect(line), "max_connections"), "700", "{line}");
        }
        assert_eq!(shown(&args("--innodb-buffer-pool-size=1G").unwrap(), "innodb_buffer_pool_size"), "1073741824");
    }

    #[test]
    fn booleans_and_their_prefixes() {
        assert_eq!(shown(&args("--skip-autocommit").unwrap(), "autocommit"), "OFF");
        assert_eq!(shown(&args("--disable-autocommit --enable-autocommit").unwrap(), "autocommit"), "ON");
        assert_eq!(shown(&args("--autocommit 0 --skip-networking").unwrap(), "autocommit"), "OFF");
        assert_eq!(shown(&args("--skip-networking").unwrap(), "skip_networking"), "ON");
        assert_eq!(shown(&args("--skip-innodb-doublewrite").unwrap(), "innodb_doublewrite"), "OFF");
        assert_eq!(args("").unwrap().log_bin.as_deref(), Some(""));
        assert_eq!(args("--log-bin=x").unwrap().log_bin.as_deref(), Some("x"));
        assert_eq!(args("--skip-log-bin").unwrap().log_bin, None);
        assert_eq!(shown(&args("--disable-log-bin").unwrap(), "log_bin"), "OFF");
    }

    #[test]
    fn refusals_name_the_option() {
        for (line, word) in [
            ("--no-such-option=1", "no-such-option"),
            ("--port=abc", "abc"),
            ("--port", "requires a value"),
            ("stray", "stray"),
            ("--version-comment=x", "cannot be set"),
            ("--sql-mode=NONSENSE", "NONSENSE"),
        ] {
            let message = args(line).expect_err(line);
            assert!(message.contains(word), "{line}: {message}");
        }
        assert_eq!(args("--loose-no-such-option=1").unwrap().warnings.len(), 1);
        assert_eq!(args("--wait-timeout=0").unwrap().warnings.len(), 1);
    }

    #[test]
    fn options_that_tune_what_is_not_there_are_noted() {
        let options = args("--innodb-buffer-pool-instances=8 --innodb_adaptive_hash_index=ON").unwrap();
        assert_eq!(options.warnings.len(), 2, "{:?}", options.warnings);
        assert!(options.warnings[0].contains("'8' has no effect, it is '1' here"), "{:?}", options.warnings);
        assert_eq!(shown(&options, "innodb_buffer_pool_instances"), "1");
        assert_eq!(args("--innodb-buffer-pool-instances=1").unwrap().warnings, [] as [String; 0]);
    }

    #[test]
    fn the_log_has_the_size_of_its_former_files() {
        let capacity = |line| shown(&args(line).expect(line), "innodb_redo_log_capacity");
        assert_eq!(capacity("--innodb-log-file-size=256M --innodb-log-files-in-group=3"), (768 << 20).to_string());
        assert_eq!(capacity("--innodb-log-files-in-group=3"), (144 << 20).to_string());
        assert_eq!(capacity("--innodb-log-file-size=1G --innodb-redo-log-capacity=64M"), (64 << 20).to_string());
        assert_eq!(capacity("--innodb-log-file-size=4M --innodb-log-files-in-group=2"), (8 << 20).to_string());
        assert_eq!(capacity("--port=3306"), (1 << 30).to_string());
    }

    #[test]
    fn large_machines_purge_in_four_threads() {
        let threads = |line, processors| {
            let mut options = args(line).expect(line);
            size_purge(&mut options.globals, processors);
            shown(&options, "innodb_purge_threads")
        };
        let told = "--innodb-purge-threads=7";
        assert_eq!([threads("--port=3306", 17), threads(told, 17), threads(told, 2)], ["4", "7", "7"]);
        if std::thread::available_parallelism().is_ok_and(|n| usize::from(n) <= PROCESSORS_SMALL_MAX) {
            assert_eq!(threads("--port=3306", PROCESSORS_SMALL_MAX), "1");
        }
    }

    /// What option files of MySQL 5.7 to 8.4 usually say of InnoDB.
    #[test]
    fn usual_option_files_start_the_server() {
        let lines = "innodb_buffer_pool_size=4G innodb_buffer_pool_instances=8 innodb_log_file_size=1G \
                     innodb_log_buffer_size=16M \
            innodb_flush_log_at_trx_commit=2 innodb_flush_method=O_DIRECT innodb_file_per_table=1 \
            innodb_io_capacity=2000 \
            innodb_io_capacity_max=4000 innodb_read_io_threads=4 innodb_write_io_threads=4 innodb_thread_concurrency=0 \
            innodb_stats_on_metadata=0 innodb_open_files=4000 innodb_lock_wait_timeout=50 innodb_print_all_deadlocks=1 \
            innodb_adaptive_hash_index=0 innodb_change_buffering=all innodb_sort_buffer_size=4M \
            innodb_lru_scan_depth=1024 \
            innodb_autoextend_increment=128 innodb_flush_neighbors=0 innodb_page_cleaners=4 \
            innodb_old_blocks_time=1000 \
            innodb_max_dirty_pages_pct=75 innodb_checksum_algorithm=crc32 innodb_doublewrite=1 innodb_strict_mode=1 \
            innodb_rollback_on_timeout=1 innodb_parallel_read_threads=4 innodb_spin_wait_delay=6 \
            innodb_numa_interleave=1";
        for option in lines.split_whitespace() {
            assert!(args(&format!("--{option}")).is_ok(), "{option}");
        }
    }

    #[test]
    fn values_in_files() {
        for (text, value) in [
            (" plain  # comment", "plain"),
            ("'a # b' # c", "a # b"),
            (r#""x\ty""#, "x\ty"),
            (r"a\sb", "a b"),
            (r"C:\data", r"C:\data"),
            ("", ""),
        ] {
            assert_eq!(file_value(text), value, "{text}");
        }
    }

    #[test]
    fn files_groups_and_includes() {
        let dir = std::env::temp_dir().join(format!("clearway-options-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("conf.d")).unwrap();
        std::fs::write(
            dir.join("my.cnf"),
            "# top\n[client]\nport=1\nnonsense\n[mysqld]\nport = \
             4407\nskip-name-resolve\nloose_unknown=1\n!includedir conf.d\n",
        )
        .unwrap();
        std::fs::write(dir.join("conf.d/a.cnf"), "[clearway]\nwait-timeout=77\n[other]\nwait-timeout=1\n").unwrap();
        std::fs::write(dir.join("conf.d/ignored.txt"), "[mysqld]\nbroken\n").unwrap();
        let file = dir.join("my.cnf").display().to_string();
        let options = args(&format!("--config {file} --wait_timeout=78")).unwrap();
        assert_eq!(shown(&options, "port"), "4407");
        assert_eq!(shown(&options, "wait_timeout"), "78");
        assert_eq!(options.warnings.len(), 1);
        std::fs::write(dir.join("conf.d/b.cnf"), "[mysqld]\nno-such=1\n").unwrap();
        let message = args(&format!("--defaults-file={file}")).unwrap_err();
        assert!(message.contains("b.cnf:2: unknown variable 'no-such'"), "{message}");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
