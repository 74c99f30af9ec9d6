//! `performance_schema.replication_*`: what is told of the channels, in rows whose columns `inspect` knows.

use crate::Server;
use crate::clone::SERVER_UUID;
use inspect::{Replication, Row};
use replica::{Filters, IoState, LastError, Progress, SqlState, Status, WorkerStatus};
use types::json::{Json, Object};
use types::{Date, DateTime, Value};

fn text(s: impl AsRef<str>) -> Value<'static> {
    Value::Bytes(s.as_ref().as_bytes().to_vec().into())
}

fn number(n: u64) -> Value<'static> {
    Value::UInt(n)
}

fn int(n: u64) -> Value<'static> {
    Value::Int(n as i64)
}

/// The first member of an ENUM, or its second.
fn first_if(is: bool) -> Value<'static> {
    Value::UInt(if is { 1 } else { 2 })
}

/// Microseconds since 1970; 0: never.
fn moment(us: u64) -> Value<'static> {
    let time = DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32).filter(|_| us != 0);
    Value::DateTime(time.unwrap_or_else(|| DateTime::new(Date::new(0, 0, 0), 0, 0, 0, 0)))
}

fn thread(id: u32) -> Value<'static> {
    if id == 0 { Value::Null } else { number(id.into()) }
}

fn error(e: &LastError) -> [Value<'static>; 3] {
    // A VARCHAR(1024).
    let message: String = e.text.chars().take(1024).collect();
    [int(e.code.into()), text(message), moment(e.at_us)]
}

/// Name and both times of commits.
fn transaction(p: &Progress) -> [Value<'static>; 3] {
    [text(p.name()), moment(p.original_us), moment(p.immediate_us)]
}

/// All rows of a table.
pub(crate) fn rows(server: &Server, table: Replication) -> Vec<Row> {
    let all: Vec<Status> = server.channels.all().iter().map(|channel| channel.status()).collect();
    match table {
        Replication::ConnectionConfiguration => all.iter().map(connection_configuration).collect(),
        Replication::ConnectionStatus => all.iter().map(connection_status).collect(),
        Replication::ApplierConfiguration => all.iter().map(applier_configuration).collect(),
        Replication::ApplierStatus => all.iter().map(applier_status).collect(),
        Replication::ByCoordinator => all.iter().filter(|s| !s.workers.is_empty()).map(by_coordinator).collect(),
        Replication::ByWorker => all.iter().flat_map(by_worker).collect(),
        Replication::Filters => all.iter().flat_map(filters).collect(),
        Replication::GlobalFilters => global_filters(&server.channels.filters()),
        Replication::LogStatus => vec![log_status(server, &all)],
    }
}

fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(Object::from_members(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect()))
}

/// Where the logs end. The binary log has the commits below the LSN, and no others.
fn log_status(server: &Server, channels: &[Status]) -> Row {
    let now = server.binlog.as_ref().map(|binlog| {
        // Whoever is interrupted in the wait sees what there was before.
        let now = binlog.catch_up(sync::blocking::is_interrupted).unwrap_or_else(|_| binlog.published());
        (binlog.file_name(now.file), now)
    });
    let counters = server.engine.status().counters;
    let counter = |name: &str| counters.iter().find(|(n, _)| *n == name).map_or(0, |(_, value)| *value);
    let lsn = match &now {
        Some((_, now)) => now.position,
        None => counter("Innodb_redo_log_flushed_to_disk_lsn"),
    };
    let checkpoint = counter("Innodb_redo_log_checkpoint_lsn").min(lsn);
    let (file, offset, executed) = match now {
        Some((file, now)) => (file, now.offset, now.executed.to_string()),
        None => (String::new(), 0, String::new()),
    };
    let local = vec![
        ("gtid_executed", Json::String(executed)),
        ("binary_log_file", Json::String(file)),
        ("binary_log_position", Json::UInt(offset)),
    ];
    let channel = |status: &Status| {
        object(vec![
            ("channel_name", Json::String(status.channel.clone())),
            ("relay_log_file", Json::String(status.relay_file.clone())),
            ("relay_log_position", Json::UInt(status.relay_offset)),
        ])
    };
    let channels = Json::Array(channels.iter().map(channel).collect());
    let innodb = object(vec![("LSN", Json::UInt(lsn)), ("LSN_checkpoint", Json::UInt(checkpoint))]);
    vec![
        text(server.globals.load().text(SERVER_UUID)),
        Value::from_json(&object(local)),
        Value::from_json(&object(vec![("channels", channels)])),
        Value::from_json(&object(vec![("InnoDB", innodb)])),
    ]
}

fn connection_configuration(status: &Status) -> Row {
    let config = &status.config;
    vec![
        text(&status.channel),
        text(&config.host),
        int(config.port.into()),
        text(&config.user),
        text(""),
        first_if(config.auto_position),
        first_if(config.ssl),
        text(&config.ssl_ca),
        text(""),
        text(""),
        text(""),
        text(""),
        first_if(config.ssl_verify_server_cert),
        text(""),
        text(""),
        int(config.connect_retry_s.into()),
        number(config.retry_count),
        Value::Double(status.heartbeat.as_secs_f64()),
        text(""),
        text(&config.public_key_path),
        first_if(config.get_public_key),
        text(""),
        text("uncompressed"),
        int(3),
        Value::Null,
        first_if(false),
        first_if(false),
    ]
}

fn connection_status(status: &Status) -> Row {
    let state = match status.io {
        IoState::Waiting => 1,
        IoState::Stopped => 2,
        IoState::Connecting | IoState::Reconnecting => 3,
    };
    let mut row = vec![
        text(&status.channel),
        text(""),
        text(&status.source_uuid),
        Value::Null,
        number(state),
        number(status.heartbeats),
        moment(status.heartbeat_us),
        text(status.retrieved.to_string()),
    ];
    row.extend(error(&status.io_error));
    row.extend(transaction(&status.queued));
    row.extend([moment(status.queued.began_us), moment(status.queued.ended_us)]);
    row.extend(transaction(&status.queueing));
    row.push(moment(status.queueing.began_us));
    row
}

fn applier_configuration(status: &Status) -> Row {
    vec![
        text(&status.channel),
        int(status.config.delay_s.into()),
        Value::Null,
        first_if(false),
        // STREAM; OFF
        number(1),
        number(1),
        Value::Null,
    ]
}

fn applier_status(status: &Status) -> Row {
    vec![
        text(&status.channel),
        first_if(status.sql != SqlState::Stopped),
        status.delay_left_s.map_or(Value::Null, number),
        number(status.retries),
    ]
}

fn by_coordinator(status: &Status) -> Row {
    let mut row = vec![text(&status.channel), Value::Null, first_if(status.sql != SqlState::Stopped)];
    row.extend(error(&status.sql_error));
    row.extend(transaction(&status.read_whole));
    row.extend([moment(status.read_whole.began_us), moment(status.read_whole.ended_us)]);
    row.extend(transaction(&status.reading));
    row.push(moment(status.reading.began_us));
    row
}

/// Before the first start there is one row that says so.
fn by_worker(status: &Status) -> Vec<Row> {
    let none = [WorkerStatus::default()];
    let workers = if status.workers.is_empty() { &none[..] } else { &status.workers };
    workers.iter().map(|worker| worker_row(status, worker)).collect()
}

fn worker_row(status: &Status, worker: &WorkerStatus) -> Row {
    let mut row = vec![text(&status.channel), number(worker.id), thread(worker.session), first_if(worker.running)];
    row.extend(error(&worker.error));
    row.extend(transaction(&worker.applied));
    row.extend([moment(worker.applied.began_us), moment(worker.applied.ended_us)]);
    row.extend(transaction(&worker.applying));
    row.push(moment(worker.applying.began_us));
    for progress in [&worker.applied, &worker.applying] {
        row.push(number(progress.retries));
        row.extend(error(&progress.transient));
    }
    row
}

/// Filters that there are, by name: as CHANGE REPLICATION FILTER names them.
fn filters(status: &Status) -> Vec<Row> {
    let filters = &status.config.filters;
    let given = filters.rules().into_iter().zip(filters.counts.all()).enumerate();
    given
        .filter(|(_, ((_, rule), _))| !rule.is_empty())
        .map(|(kind, ((name, rule), count))| {
            let by = configured_by(filters, kind);
            vec![text(&status.channel), text(name), text(rule), by, moment(filters.set_us), number(count)]
        })
        .collect()
}

/// The place among STARTUP_OPTIONS, CHANGE_REPLICATION_FILTER, and both FOR_CHANNEL.
fn configured_by(filters: &Filters, kind: usize) -> Value<'static> {
    let statement = if filters.is_by_options(kind) { 1 } else { 2 };
    number(statement + if filters.for_channel { 2 } else { 0 })
}

fn global_filters(filters: &Filters) -> Vec<Row> {
    let row = |(kind, (name, rule)): (usize, (&str, String))| {
        vec![text(name), text(rule), configured_by(filters, kind), moment(filters.set_us)]
    };
    filters.rules().into_iter().enumerate().filter(|(_, (_, rule))| !rule.is_empty()).map(row).collect()
}
