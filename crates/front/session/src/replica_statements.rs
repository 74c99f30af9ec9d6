//! CHANGE REPLICATION SOURCE and FILTER, START, STOP and RESET REPLICA, SHOW REPLICA STATUS.

use crate::needs::Action;
use crate::session::Session;
use crate::statement::text_of;
use crate::variables::{VarId, id};
use expr::Env;
use inspect::Rows;
use replica::errors::{self, Stopped};
use replica::{Channel, Filters, Position, SourceConfig, Status, ThreadChoice, Until};
use sql::ast::{FilterItem, Parsed, ReplicaStatement, SourceValue, Str};
use std::sync::Arc;
use std::time::Duration;
use types::codes::*;
use types::gtid::{GtidSet, Uuid};
use types::{DateTime, Result, SqlError, Value, err};

const GTID_MODE: VarId = id("gtid_mode");
/// `gtid_mode=ON` by its place.
const GTID_MODE_ON: u64 = 3;
/// The longest heartbeat period, in seconds.
const HEARTBEAT_S_MAX: f64 = 4_294_967.0;
const PORT_MAX: u64 = 65_535;
const DELAY_S_MAX: u64 = 0x7FFF_FFFF;
const ZSTD_LEVEL_MAX: u64 = 22;

/// What CHANGE REPLICATION SOURCE says about where to begin.
#[derive(Default)]
struct Begin {
    file: Option<String>,
    offset: Option<u64>,
    /// Another source: the position that there was is worth nothing.
    anew: bool,
    /// A place in the relay log is named.
    relay: bool,
    /// What must not run.
    stopped: Stopped,
}

impl Session {
    fn channel_name(parsed: &Parsed, channel: Option<Str>) -> String {
        channel.map_or(String::new(), |name| text_of(parsed, name).to_lowercase())
    }

    /// Error 3074.
    fn channel(&self, parsed: &Parsed, channel: Option<Str>) -> Result<Option<Arc<Channel>>> {
        let name = Self::channel_name(parsed, channel);
        match self.server.channels.find(&name) {
            None if !name.is_empty() => Err(err!(ER_REPLICA_CHANNEL_DOES_NOT_EXIST, name)),
            found => Ok(found),
        }
    }

    /// The name of the statement's counter.
    pub(crate) fn replica_statement(&mut self, parsed: &Parsed, statement: &ReplicaStatement) -> Result<()> {
        if let ReplicaStatement::Start { channel, .. } | ReplicaStatement::Stop { channel, .. } = statement {
            // As MySQL: whether there is such a channel, everybody may know.
            self.channel(parsed, *channel)?;
        }
        self.need(Action::ReplicaControl)?;
        self.commit_all()?;
        match statement {
            ReplicaStatement::ChangeSource { options, channel } => {
                self.change_source(parsed, options, *channel)?;
                Ok(())
            }
            ReplicaStatement::ChangeFilter { rules, channel } => {
                self.change_filter(parsed, rules, *channel)?;
                Ok(())
            }
            ReplicaStatement::Start { io, sql, until, credentials, channel } => {
                let until = until_of(parsed, until)?;
                if *credentials {
                    return Err(err!(ER_NOT_SUPPORTED_YET, "START REPLICA with USER and PASSWORD"));
                }
                self.start_replica(parsed, ThreadChoice { io: *io, sql: *sql }, &until, *channel)?;
                Ok(())
            }
            ReplicaStatement::Stop { io, sql, channel } => {
                self.stop_replica(parsed, ThreadChoice { io: *io, sql: *sql }, *channel)?;
                Ok(())
            }
        }
    }

    /// The channels that a statement without FOR CHANNEL means.
    fn meant(&self, parsed: &Parsed, channel: Option<Str>) -> Result<Vec<Arc<Channel>>> {
        match channel {
            Some(_) => Ok(self.channel(parsed, channel)?.into_iter().collect()),
            None => Ok(self.server.channels.all()),
        }
    }

    fn start_replica(
        &mut self,
        parsed: &Parsed,
        choice: ThreadChoice,
        until: &Until,
        channel: Option<Str>,
    ) -> Result<()> {
        let channels = self.meant(parsed, channel)?;
        if channels.is_empty() {
            return Err(err!(ER_BAD_REPLICA));
        }
        if *until != Until::Never && !choice.sql {
            self.state.push_warning("Note", err!(ER_UNTIL_COND_IGNORED));
        }
        for channel in channels {
            if !channel.start(choice, until)? {
                self.state.warn("Note", ER_REPLICA_CHANNEL_WAS_RUNNING, errors::was_running(channel.name()));
            }
        }
        Ok(())
    }

    fn stop_replica(&mut self, parsed: &Parsed, choice: ThreadChoice, channel: Option<Str>) -> Result<()> {
        let channels = self.meant(parsed, channel)?;
        let mut stopped: Vec<(String, bool)> =
            channels.iter().map(|c| (c.name().to_string(), c.stop(choice))).collect();
        if stopped.is_empty() {
            stopped.push((String::new(), false));
        }
        for (name, _) in stopped.iter().filter(|(_, ran)| !ran) {
            self.state.warn("Note", ER_REPLICA_CHANNEL_WAS_NOT_RUNNING, errors::was_not_running(name));
        }
        Ok(())
    }

    /// RESET REPLICA [ALL]. Errors 3074, 3081.
    pub(crate) fn reset_replica(&mut self, parsed: &Parsed, all: bool, channel: Option<Str>) -> Result<()> {
        self.need(Action::ResetReplica)?;
        for channel in self.meant(parsed, channel)? {
            if all {
                channel.forget()?;
                self.server.channels.remove(channel.name());
            } else {
                channel.reset()?;
            }
        }
        Ok(())
    }

    fn change_source(&mut self, parsed: &Parsed, options: &[(Str, SourceValue)], channel: Option<Str>) -> Result<()> {
        let name = Self::channel_name(parsed, channel);
        if name.len() > 64 || name.chars().any(|c| matches!(c, '/' | '\0' | '\n')) {
            return Err(errors::invalid_name());
        }
        if ["group_replication_applier", "group_replication_recovery"].contains(&&*name.to_ascii_lowercase()) {
            return Err(errors::not_allowed("CHANGE REPLICATION SOURCE", &name));
        }
        let channel = self.server.make_channel(&name);
        let before = channel.config();
        let (mut config, mut begin) = (before.clone(), Begin::default());
        for (word, value) in options {
            let word = text_of(parsed, *word).to_ascii_uppercase();
            change(&mut config, &mut begin, &word, &Given { parsed, value, channel: &name })?;
        }
        begin.anew = (&config.host, config.port) != (&before.host, before.port);
        if config.auto_position && (begin.file.is_some() || begin.offset.is_some() || begin.relay) {
            return Err(errors::positions_with_auto_position());
        }
        if begin.relay {
            return Err(err!(ER_NOT_SUPPORTED_YET, "RELAY_LOG_FILE and RELAY_LOG_POS"));
        }
        let mode = self.server.globals.load().uint(GTID_MODE);
        if config.auto_position && mode != GTID_MODE_ON {
            return Err(errors::auto_position_without_gtids(&name));
        }
        let stopped = if config.auto_position == before.auto_position { begin.stopped } else { Stopped::Both };
        let position = match (begin.file, begin.offset) {
            (None, None) if !begin.anew => None,
            (None, None) => Some(Position::new("", 4)),
            (file, offset) => {
                let now = channel.status().applied;
                Some(Position::new(&file.unwrap_or(now.file), offset.unwrap_or(4).max(4)))
            }
        };
        if !config.password.is_empty() && !config.ssl && config.password != before.password {
            let note = "Sending passwords in plain text without SSL/TLS is extremely insecure.".to_string();
            self.state.warn("Note", ER_INSECURE_PLAIN_TEXT, note);
            let note = "Storing MySQL user name or password information in the connection metadata repository is not \
                        secure and is \
                        therefore not recommended. Please consider using the USER and PASSWORD connection options for \
                        START REPLICA; \
                        see the 'START REPLICA Syntax' in the MySQL Manual for more information."
                .to_string();
            self.state.warn("Note", ER_INSECURE_CHANGE_SOURCE, note);
        }
        channel.change(config, position, stopped)?;
        self.server.channels.put(&channel);
        Ok(())
    }

    fn change_filter(&mut self, parsed: &Parsed, rules: &[(Str, Vec<FilterItem>)], channel: Option<Str>) -> Result<()> {
        let now_us = crate::clock::clock_us();
        let changed = |filters: &Filters| -> Result<Filters> {
            // What is counted begins anew.
            let mut filters = Filters { set_us: now_us, counts: Default::default(), ..filters.clone() };
            filters.for_channel = channel.is_some();
            for (word, items) in rules {
                set_filter(&mut filters, &text_of(parsed, *word).to_ascii_uppercase(), items, parsed)?;
            }
            Ok(filters)
        };
        if channel.is_some() {
            let found = self.channel(parsed, channel).map_err(|_| errors::not_configured())?;
            let channel = found.ok_or_else(errors::not_configured)?;
            return channel.set_filters(changed(&channel.config().filters)?);
        }
        // Those of all channels, and of channels to come.
        let global = changed(&self.server.channels.filters())?;
        for channel in self.server.channels.all() {
            channel.set_filters(changed(&channel.config().filters)?)?;
        }
        self.server.set_global_filters(global)
    }

    /// SHOW REPLICA STATUS. Error 3074.
    pub(crate) fn show_replica_status(&mut self, parsed: &Parsed, channel: Option<Str>, old: bool) -> Result<Rows> {
        let channels = self.meant(parsed, channel)?;
        let executed = self.server.gtid_set(crate::gtids::GTID_EXECUTED).unwrap_or_default();
        let rows = channels.iter().map(|channel| status_row(&channel.status(), &executed)).collect();
        Ok(inspect::show::replica_status(rows, old))
    }
}

/// The value of an option.
struct Given<'p> {
    parsed: &'p Parsed,
    value: &'p SourceValue,
    channel: &'p str,
}

impl Given<'_> {
    fn wrong(&self) -> SqlError {
        types::error::syntax_error()
    }

    fn text(&self) -> Result<String> {
        match self.value {
            SourceValue::Text(s) => Ok(text_of(self.parsed, *s)),
            SourceValue::Word(s) if text_of(self.parsed, *s).eq_ignore_ascii_case("NULL") => Ok(String::new()),
            _ => Err(self.wrong()),
        }
    }

    /// As it stands in the statement.
    fn written(&self) -> String {
        match self.value {
            SourceValue::Number(s) | SourceValue::Text(s) | SourceValue::Word(s) => text_of(self.parsed, *s),
            SourceValue::Numbers(_) => String::new(),
        }
    }

    fn decimal(&self) -> Result<f64> {
        match self.value {
            SourceValue::Number(s) => text_of(self.parsed, *s).parse().map_err(|_| self.wrong()),
            _ => Err(self.wrong()),
        }
    }

    fn number(&self, max: u64) -> Result<u64> {
        let n = self.decimal()?;
        if n < 0.0 || n > max as f64 { Err(err!(ER_WARN_DATA_OUT_OF_RANGE, "number", 1)) } else { Ok(n as u64) }
    }

    fn flag(&self) -> Result<bool> {
        self.number(u64::MAX).map(|n| n != 0)
    }
}

/// Takes one option of CHANGE REPLICATION SOURCE. Error 1235 for what is not there, unless it is asked to be off.
fn change(config: &mut SourceConfig, begin: &mut Begin, word: &str, given: &Given<'_>) -> Result<()> {
    // MASTER_HOST is what older tools say.
    let name = word.strip_prefix("SOURCE_").or_else(|| word.strip_prefix("MASTER_")).unwrap_or(word);
    begin.stopped = begin.stopped.and(match name {
        "DELAY" => Stopped::Applier,
        "PRIVILEGE_CHECKS_USER" | "REQUIRE_ROW_FORMAT" | "REQUIRE_TABLE_PRIMARY_KEY_CHECK" => Stopped::Applier,
        _ => Stopped::Receiver,
    });
    match name {
        "HOST" => {
            config.host = given.text()?;
            if config.host.is_empty() {
                return Err(err!(ER_WRONG_ARGUMENTS, "SOURCE_HOST"));
            }
        }
        "PORT" => config.port = given.number(PORT_MAX)? as u16,
        "USER" => config.user = given.text()?,
        "PASSWORD" => config.password = given.text()?,
        "CONNECT_RETRY" => config.connect_retry_s = given.number(u32::MAX.into())? as u32,
        "RETRY_COUNT" => config.retry_count = given.number(u64::MAX)?,
        "DELAY" => match given.number(u64::MAX)? {
            seconds if seconds > DELAY_S_MAX => return Err(errors::delay_too_long(&given.written())),
            seconds => config.delay_s = seconds as u32,
        },
        "HEARTBEAT_PERIOD" => {
            let seconds = given.decimal()?;
            if !(0.0..=HEARTBEAT_S_MAX).contains(&seconds) {
                return Err(errors::wrong_heartbeat());
            }
            config.heartbeat = Some(Duration::from_millis((seconds * 1000.0).round() as u64));
        }
        "LOG_FILE" => begin.file = Some(given.text()?),
        "LOG_POS" => begin.offset = Some(given.number(u64::MAX)?),
        "AUTO_POSITION" => config.auto_position = given.flag()?,
        "SSL" => config.ssl = given.flag()?,
        "SSL_CA" => config.ssl_ca = given.text()?,
        "SSL_VERIFY_SERVER_CERT" => config.ssl_verify_server_cert = given.flag()?,
        "PUBLIC_KEY_PATH" => config.public_key_path = given.text()?,
        "GET_SOURCE_PUBLIC_KEY" | "GET_MASTER_PUBLIC_KEY" => config.get_public_key = given.flag()?,
        "IGNORE_SERVER_IDS" => {
            let SourceValue::Numbers(ids) = given.value else { return Err(given.wrong()) };
            config.ignore_server_ids = ids.iter().map(|id| *id as u32).collect();
        }
        // What is not there can be asked to be so.
        "BIND" | "SSL_CAPATH" | "SSL_CERT" | "SSL_KEY" | "SSL_CIPHER" | "SSL_CRL" | "SSL_CRLPATH" | "TLS_VERSION"
        | "TLS_CIPHERSUITES" | "NETWORK_NAMESPACE" => {
            let text = given.text()?;
            if !text.is_empty() {
                return Err(err!(ER_NOT_SUPPORTED_YET, word));
            }
        }
        "COMPRESSION_ALGORITHMS" => {
            let text = given.text()?;
            let known =
                |word: &str| ["zlib", "zstd", "uncompressed"].iter().any(|k| k.eq_ignore_ascii_case(word.trim()));
            if !text.split(',').all(known) {
                return Err(errors::wrong_algorithms(&text, given.channel));
            }
            if !text.eq_ignore_ascii_case("uncompressed") {
                return Err(err!(ER_NOT_SUPPORTED_YET, word));
            }
        }
        "ZSTD_COMPRESSION_LEVEL" => {
            let level = given.number(u64::MAX)?;
            if !(1..=ZSTD_LEVEL_MAX).contains(&level) {
                return Err(errors::wrong_level(&given.written(), given.channel));
            }
            return Err(err!(ER_NOT_SUPPORTED_YET, word));
        }
        "GTID_ONLY" if given.flag()? => return Err(errors::gtid_only(given.channel)),
        "CONNECTION_AUTO_FAILOVER" | "REQUIRE_ROW_FORMAT" | "GTID_ONLY" => {
            if given.flag()? {
                return Err(err!(ER_NOT_SUPPORTED_YET, word));
            }
        }
        "PRIVILEGE_CHECKS_USER" => match given.value {
            SourceValue::Word(s) if text_of(given.parsed, *s).eq_ignore_ascii_case("NULL") => {}
            _ => return Err(err!(ER_NOT_SUPPORTED_YET, word)),
        },
        "REQUIRE_TABLE_PRIMARY_KEY_CHECK" => match given.value {
            SourceValue::Word(s) if text_of(given.parsed, *s).eq_ignore_ascii_case("STREAM") => {}
            _ => return Err(err!(ER_NOT_SUPPORTED_YET, word)),
        },
        "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS" => match given.value {
            SourceValue::Word(s) if text_of(given.parsed, *s).eq_ignore_ascii_case("OFF") => {}
            SourceValue::Text(s) if Uuid::parse(&text_of(given.parsed, *s)).is_none() => {
                return Err(err!(ER_WRONG_VALUE, "UUID", text_of(given.parsed, *s)));
            }
            _ => return Err(err!(ER_NOT_SUPPORTED_YET, word)),
        },
        "RELAY_LOG_FILE" => begin.relay |= given.text().map(|_| true)?,
        "RELAY_LOG_POS" => begin.relay |= given.number(u64::MAX).map(|_| true)?,
        _ => return Err(given.wrong()),
    }
    Ok(())
}

/// What UNTIL says. Errors 1277, 1772.
fn until_of(parsed: &Parsed, said: &[(Str, Option<SourceValue>)]) -> Result<Until> {
    let mut source = (None, None);
    let mut relay = (None, None);
    let mut other = None;
    for (word, value) in said {
        let word = text_of(parsed, *word).to_ascii_uppercase();
        let Some(value) = value else {
            other = Some(Until::AfterGaps);
            continue;
        };
        let given = Given { parsed, value, channel: "" };
        let set = || {
            let text = given.text()?;
            GtidSet::parse(&text).ok_or_else(|| err!(ER_MALFORMED_GTID_SET_SPECIFICATION, text))
        };
        match word.strip_prefix("SOURCE_").or_else(|| word.strip_prefix("MASTER_")).unwrap_or(&word) {
            "LOG_FILE" => source.0 = Some(given.text()?),
            "LOG_POS" => source.1 = Some(given.number(u64::MAX)?),
            "RELAY_LOG_FILE" => relay.0 = Some(given.text()?),
            "RELAY_LOG_POS" => relay.1 = Some(given.number(u64::MAX)?),
            "SQL_BEFORE_GTIDS" => other = Some(Until::Before(set()?)),
            "SQL_AFTER_GTIDS" => other = Some(Until::After(set()?)),
            _ => return Err(given.wrong()),
        }
    }
    match (source, relay, other) {
        ((None, None), (None, None), other) => Ok(other.unwrap_or_default()),
        ((Some(file), Some(offset)), (None, None), None) => Ok(Until::Source(file, offset)),
        ((None, None), (Some(file), Some(offset)), None) => Ok(Until::Relay(file, offset)),
        _ => Err(errors::wrong_until()),
    }
}

/// Takes one rule of CHANGE REPLICATION FILTER, in place of the former one of its kind.
fn set_filter(filters: &mut Filters, word: &str, items: &[FilterItem], parsed: &Parsed) -> Result<()> {
    let name = |item: &FilterItem| match item {
        FilterItem::Name(name) if name.schema.is_none() => Ok(parsed.name(name.name).to_string()),
        _ => Err(types::error::syntax_error()),
    };
    let table = |item: &FilterItem| match item {
        FilterItem::Name(name) => {
            let schema = name.schema.ok_or_else(types::error::syntax_error)?;
            Ok(format!("{}.{}", parsed.name(schema), parsed.name(name.name)))
        }
        _ => Err(types::error::syntax_error()),
    };
    let pattern = |item: &FilterItem| match item {
        FilterItem::Pattern(s) if text_of(parsed, *s).contains('.') => Ok(text_of(parsed, *s)),
        FilterItem::Pattern(_) => Err(errors::wrong_table_pattern()),
        _ => Err(types::error::syntax_error()),
    };
    let pair = |item: &FilterItem| match item {
        FilterItem::Pair(from, to) => Ok((parsed.name(*from).to_string(), parsed.name(*to).to_string())),
        _ => Err(types::error::syntax_error()),
    };
    fn all<T>(items: &[FilterItem], read: impl Fn(&FilterItem) -> Result<T>) -> Result<Vec<T>> {
        items.iter().map(read).collect()
    }
    if let Some(kind) = filters.rules().iter().position(|(name, _)| *name == word) {
        filters.by_options &= !(1 << kind);
    }
    match word {
        "REPLICATE_DO_DB" => filters.do_db = all(items, name)?,
        "REPLICATE_IGNORE_DB" => filters.ignore_db = all(items, name)?,
        "REPLICATE_DO_TABLE" => filters.do_table = all(items, table)?,
        "REPLICATE_IGNORE_TABLE" => filters.ignore_table = all(items, table)?,
        "REPLICATE_WILD_DO_TABLE" => filters.wild_do_table = all(items, pattern)?,
        "REPLICATE_WILD_IGNORE_TABLE" => filters.wild_ignore_table = all(items, pattern)?,
        "REPLICATE_REWRITE_DB" => filters.rewrite_db = all(items, pair)?,
        _ => return Err(types::error::syntax_error()),
    }
    Ok(())
}

fn text(s: impl Into<String>) -> Value<'static> {
    Value::Bytes(s.into().into_bytes().into())
}

fn moment(seconds: u64) -> Value<'static> {
    let shown = (seconds > 0).then(|| DateTime::from_unix(seconds as i64, 0)).flatten();
    text(shown.map_or(String::new(), |t| {
        format!(
            "{:02}{:02}{:02} {:02}:{:02}:{:02}",
            t.date().year() % 100,
            t.date().month(),
            t.date().day(),
            t.hour(),
            t.minute(),
            t.second()
        )
    }))
}

/// A row of SHOW REPLICA STATUS, in the order of its columns.
fn status_row(status: &Status, executed: &str) -> Vec<Value<'static>> {
    let config = &status.config;
    let number = |n: u64| Value::UInt(n);
    let yes = |on: bool| text(if on { "Yes" } else { "No" });
    let list = |names: &[String]| text(names.join(","));
    let filters = &config.filters;
    let sql_runs = status.sql != Default::default();
    let ids: Vec<String> = config.ignore_server_ids.iter().map(u32::to_string).collect();
    let rewrites: Vec<String> = filters.rewrite_db.iter().map(|(from, to)| format!("({from},{to})")).collect();
    vec![
        text(status.io.words()),
        text(&*config.host),
        text(&*config.user),
        number(config.port.into()),
        number(config.connect_retry_s.into()),
        text(&*status.read.file),
        number(status.read.offset),
        text(&*status.relay_file),
        number(status.relay_offset),
        text(&*status.applied.file),
        text(status.io.running()),
        yes(sql_runs),
        list(&filters.do_db),
        list(&filters.ignore_db),
        list(&filters.do_table),
        list(&filters.ignore_table),
        list(&filters.wild_do_table),
        list(&filters.wild_ignore_table),
        number(status.sql_error.code.into()),
        text(&*status.sql_error.text),
        number(status.skip_left),
        number(status.applied.offset),
        number(status.relay_space),
        text(status.until.words()),
        text(status.until.place().0),
        number(status.until.place().1),
        yes(config.ssl),
        text(&*config.ssl_ca),
        text(""),
        text(""),
        text(""),
        text(""),
        status.behind_s.map_or(Value::Null, number),
        yes(config.ssl_verify_server_cert),
        number(status.io_error.code.into()),
        text(&*status.io_error.text),
        number(status.sql_error.code.into()),
        text(&*status.sql_error.text),
        text(ids.join(",")),
        number(status.source_server_id.into()),
        text(&*status.source_uuid),
        text("mysql.slave_master_info"),
        number(config.delay_s.into()),
        status.delay_left_s.map_or(Value::Null, number),
        text(status.sql.words()),
        number(config.retry_count),
        text(""),
        moment(status.io_error.at_us / 1_000_000),
        moment(status.sql_error.at_us / 1_000_000),
        text(""),
        text(""),
        text(status.retrieved.to_string()),
        text(executed),
        number(config.auto_position.into()),
        text(rewrites.join(",")),
        text(&*status.channel),
        text(""),
        text(&*config.public_key_path),
        number(config.get_public_key.into()),
        text(""),
    ]
}
