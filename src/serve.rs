//! `clearway serve`: options, data directory, engine, sessions, sockets; and back, in the opposite order.

use crate::datadir::{self, DataDir};
use crate::notify;
use crate::options::{self, Options};
use engine::{Engine, EngineOptions};
use listen::{Config, Listener, Network};
use protocol::tls::{Acceptor, generate};
use session::error_log::{ErrorLog, Level};
use session::persisted::Persisted;
use session::tls::Tls;
use session::variables::{Globals, VARIABLES, Val, find};
use session::{Server, Sessions, Settings};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::cell::Cell;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use types::codes::*;

/// In the data directory: what SET PERSIST has set.
const PERSISTED_FILE: &str = "mysqld-auto.cnf";

/// How long sessions get to end at shutdown.
const PATIENCE: Duration = Duration::from_secs(30);

pub const HELP: &str = "\
Usage: clearway serve [--config FILE] [--name=value ...]

  --datadir=DIR             where the data is; made at the first start      [./data]
  --port=N                  TCP port                                        [3306]
  --bind-address=ADDRESS    addresses to listen on, comma-separated; * all  [127.0.0.1]
  --socket=FILE             Unix socket; empty: none
  --initialize-insecure     first start: root@localhost gets an empty password
  --tls-version=VERSIONS    TLSv1.2,TLSv1.3; empty: no TLS. Certificates: --ssl-ca, --ssl-cert, --ssl-key;
                            made in the data directory where none are named
  --mysql-native-password=ON  accounts may have mysql_native_password
  --config=FILE             option file: groups [mysqld], [server], [clearway]
  --log-error=FILE          error log instead of stderr

  --validate-config         read the options, say what is wrong with them, and end
  --help --verbose          this, and every variable with its default and range

Every server variable is an option: --max-connections=500, --innodb-buffer-pool-size=4G,
--skip-networking. Underscores and dashes are alike; --loose-x warns where --x would fail.
";

fn text<'g>(globals: &'g Globals, name: &str) -> &'g str {
    globals.text(find(name).expect("the table has it"))
}

fn uint(globals: &Globals, name: &str) -> u64 {
    globals.uint(find(name).expect("the table has it"))
}

fn flag(globals: &Globals, name: &str) -> bool {
    globals.bool(find(name).expect("the table has it"))
}

/// A word of an enumeration.
fn choice(globals: &Globals, name: &str) -> String {
    let id = find(name).expect("the table has it");
    VARIABLES[id as usize].print(globals.get(id)).into_owned()
}

/// Reads what SET PERSIST has written, and puts it over the options.
fn persisted(datadir: &Path, globals: &mut Globals, log: &ErrorLog) -> Result<Persisted, String> {
    let path = datadir.join(PERSISTED_FILE);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Persisted::default()),
        Err(e) => return Err(format!("'{}' cannot be read: {e}", path.display())),
    };
    let (persisted, unknown) = Persisted::parse(&text)?;
    for name in unknown {
        log.write(Level::Warning, 0, &format!("persisted variable '{name}' is not known"));
    }
    for refused in persisted.apply(globals) {
        log.write(Level::Warning, 0, &refused);
    }
    Ok(persisted)
}

/// Runs the server until it is told to stop. An error is one line for stderr.
pub fn serve(arguments: &[String]) -> Result<(), String> {
    observe::clock::start();
    let options = options::parse(arguments)?;
    if options.help {
        print!("{HELP}");
        if options.verbose {
            print!("{}", options::variables_help(&options.globals));
        }
        return Ok(());
    }
    if options.validate {
        options.warnings.iter().for_each(|warning| eprintln!("clearway: {warning}"));
        return Ok(());
    }
    io::restrict_new_files();
    io::forbid_core_dumps();
    observe::setup::switch_instruments(&options.instruments);
    options.consumers.iter().for_each(|&(consumer, on)| observe::setup::set_consumer(consumer, on));
    let Options { mut globals, initialize_insecure, initialize, native_password, log_bin, warnings, .. } = options;
    let log = Arc::new(ErrorLog::open(&globals)?);
    session::panics::log_to(&log);
    for warning in warnings {
        log.write(Level::Warning, 0, &warning);
    }
    let datadir = match text(&globals, "datadir") {
        "" => PathBuf::from("data"),
        dir => PathBuf::from(dir),
    };
    // A port that is taken is said before anything is made.
    let is_new = DataDir::require(&datadir).is_err();
    if is_new && !initialize {
        listen::check(&listen_config(&globals)?).map_err(|e| e.to_string())?;
    }
    let datadir = DataDir::open(&datadir)?;
    backup::restore::retire(&datadir.path).map_err(|e| e.to_string())?;
    let cloned = datadir::take_clone(&datadir.path)?;
    let persisted = match flag(&globals, "persisted_globals_load") {
        true => persisted(&datadir.path, &mut globals, &log)?,
        false => Persisted::default(),
    };
    if !is_new && !initialize {
        listen::check(&listen_config(&globals)?).map_err(|e| e.to_string())?;
    }
    for noted in session::buffer_pool::settle(&mut globals) {
        log.write(Level::Warning, 0, &noted);
    }
    session::memory::settle(&mut globals);
    sync::memory::count_by(crate::allocator::held);
    crate::allocator::give_back();
    session::computed_variables(&mut globals, &datadir.path, datadir.uuid.clone(), hostname());
    let tls = tls(&mut globals, &datadir.path, &log);
    log.write(
        Level::System,
        ER_STARTING_AS,
        &format!("clearway {} starting as process {}", env!("CARGO_PKG_VERSION"), std::process::id()),
    );
    let (engine, binlog) = open_engine(&mut globals, &datadir, log_bin.as_deref().unwrap_or(""), &log)?;
    session::buffer_pool::load_first(&globals, &engine);
    // Signals are taken over before clients can connect.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|e| format!("cannot handle signals: {e}"))?;
    let handle = signals.handle();
    name_pid_file(&mut globals, &datadir.path);
    name_logs(&mut globals, &datadir.path);
    let settings = Settings {
        error_log: Arc::clone(&log),
        globals: globals.clone(),
        datadir: datadir.path.clone(),
        stop: Box::new(|| {
            // SHUTDOWN is a SIGTERM to ourselves; raising a signal that is handled does not fail.
            let _ = signal_hook::low_level::raise(SIGTERM);
        }),
        persisted,
        native_password,
        client_charset: options.client_charset,
        filter_options: options.filters,
        tls,
        binlog: binlog.clone(),
        write_persisted: write_persisted(&datadir.path),
        adopt_copy: Box::new(datadir::adopt),
        cloned,
        goes_on: false,
    };
    let has_password = Cell::new(false);
    let server = Server::open(Arc::clone(&engine), settings, || {
        let password = root_password(initialize_insecure, &log);
        has_password.set(!password.is_empty());
        password
    })
    .and_then(|server| server.make_sys().map(|()| server))
    .map_err(|e| format!("data directory '{}': {e}", datadir.path.display()))?;
    let result = if initialize { Ok(()) } else { run(&globals, &server, &mut signals, &log, has_password.get()) };
    server.stop_replicas();
    handle.close();
    session::buffer_pool::dump_last(&server.globals.load(), &engine);
    let closed = close(&server, &engine, binlog, &log);
    result.and(closed)?;
    log.write(Level::System, ER_SERVER_SHUTDOWN_COMPLETE, "Shutdown complete");
    Ok(())
}

/// Of root@localhost at the first start.
fn root_password(initialize_insecure: bool, log: &ErrorLog) -> String {
    if initialize_insecure {
        let text = "root@localhost is created with an empty password ! Please consider switching off the \
                    --initialize-insecure option.";
        log.write(Level::Warning, ER_INIT_ROOT_WITHOUT_PASSWORD, text);
        return String::new();
    }
    let password = accounts::password::random_password(16);
    // As MySQL: once, whatever the verbosity.
    log.write(
        Level::System,
        ER_INIT_GENERATING_TEMP_PASSWORD_FOR_ROOT,
        &format!("A temporary password is generated for root@localhost: {password}"),
    );
    password
}

/// The engine, recovered, and its binary log, whose files have this name.
pub fn open_engine(
    globals: &mut Globals,
    datadir: &DataDir,
    log_bin: &str,
    log: &Arc<ErrorLog>,
) -> Result<(Arc<Engine>, Option<Arc<binlog::Binlog>>), String> {
    session::check_binary_log(globals)?;
    let binlog_config = binlog_config(globals, log_bin, datadir)?;
    let events_from = binlog::Binlog::needed(&binlog_config).map_err(|e| format!("binary log: {e}"))?;
    let engine_options = EngineOptions { events_from, ..engine_options(globals, &datadir.path) };
    let engine = Engine::open(engine_options, &mut |text| {
        notify::status(text);
        log.write(Level::System, ER_IB_MSG_707, text);
    })
    .map_err(|e| format!("data directory '{}': {e}", datadir.path.display()))?;
    session::encrypt_logs(&engine, globals)
        .map_err(|e| format!("innodb_redo_log_encrypt, innodb_undo_log_encrypt: {e}"))?;
    let binlog = start_binlog(&engine, binlog_config, globals, log).map_err(|e| format!("binary log: {e}"))?;
    Ok((engine, binlog))
}

/// The last steps: the binary log and the engine are whole on disk. An error says what the next start will have to do. A full disk is
/// none: what had no room there is in the log, or is a counter, of which the log has a higher value.
pub fn close(
    server: &Server,
    engine: &Engine,
    binlog: Option<Arc<binlog::Binlog>>,
    log: &ErrorLog,
) -> Result<(), String> {
    if let Some(binlog) = binlog {
        binlog.close();
    }
    let tell = |text: String, is_full: bool| {
        let level = if is_full { Level::Warning } else { Level::Error };
        log.write(level, 0, &format!("Shutdown is not complete: {text}"));
        if is_full { Ok(()) } else { Err(text) }
    };
    let stored = server.close().or_else(|e| {
        tell(format!("the dictionary's counters are not stored: {e}"), e.code == types::codes::ER_RECORD_FILE_FULL)
    });
    let closed = engine.close().or_else(|e| {
        let text = format!("the last checkpoint: {e}; the next start recovers from the one before");
        tell(text, matches!(e, engine::Error::DiskFull))
    });
    stored.and(closed)
}

/// Starts the binary log; without one, completes what a server with one has left.
fn start_binlog(
    engine: &Arc<Engine>,
    config: binlog::Config,
    globals: &Globals,
    log: &Arc<ErrorLog>,
) -> binlog::Result<Option<Arc<binlog::Binlog>>> {
    let settings = session::binary_log_settings(globals);
    if !flag(globals, "log_bin") {
        binlog::Binlog::complete(engine, &config, settings)?;
        return Ok(None);
    }
    let told = Arc::clone(log);
    let tell = Arc::new(move |news: binlog::News, text: &str| match news {
        binlog::News::Files => told.write(Level::Error, 0, text),
        binlog::News::SemiSyncTimeout => told.write(Level::Warning, ER_SEMISYNC_WAIT_FOR_BINLOG_TIMEDOUT, text),
        binlog::News::SemiSyncOff => told.write(Level::System, ER_SEMISYNC_RPL_SWITCHED_OFF, text),
        binlog::News::SemiSyncOn => told.write(Level::System, ER_SEMISYNC_RPL_SWITCHED_ON, text),
    });
    binlog::Binlog::start(engine, config, settings, tell).map(Some)
}

/// TLS as the options say. Where it cannot be, the server serves without, and says so, as MySQL does.
fn tls(globals: &mut Globals, datadir: &Path, log: &ErrorLog) -> Tls {
    if session::tls::is_off(globals) {
        return Tls(None);
    }
    if flag(globals, "auto_generate_certs") && session::tls::names_nothing(globals) {
        match generate::generate(datadir, text(globals, "version")) {
            Ok(true) => log.write(
                Level::System,
                ER_AUTH_CERTS_SAVED_TO_DATADIR,
                "Auto generated SSL certificates are placed in data directory.",
            ),
            Ok(false) => {}
            Err(e) => log.write(Level::Warning, 0, &format!("SSL certificates are not generated: {e}")),
        }
    }
    session::tls::find_files(globals, datadir);
    match Acceptor::new(&session::tls::options(globals, datadir)) {
        Ok(acceptor) => Tls(Some(acceptor)),
        Err(e) => {
            let text = format!("Failed to set up SSL because of the following SSL library error: {e}");
            log.write(Level::Warning, ER_SSL_LIBRARY_ERROR, &text);
            Tls(None)
        }
    }
}

/// As MySQL: a file that is not named has the machine's name, and a relative one is in the data directory.
fn name_pid_file(globals: &mut Globals, datadir: &Path) {
    let name = match text(globals, "pid_file") {
        "" => format!("{}.pid", hostname().split('.').next().unwrap_or_default()),
        name => name.to_string(),
    };
    let path = std::path::absolute(datadir.join(name)).unwrap_or_default();
    globals.set(find("pid_file").expect("the table has it"), Val::Str(path.to_string_lossy().into_owned().into()));
}

fn name_logs(globals: &mut Globals, datadir: &Path) {
    name_query_logs(globals, datadir);
    name_relay_log(globals, datadir);
}

/// As MySQL: logs that are not named have the machine's name.
fn name_query_logs(globals: &mut Globals, datadir: &Path) {
    let host = hostname();
    let host = host.split('.').next().unwrap_or_default();
    for (name, file) in
        [("general_log_file", format!("{host}.log")), ("slow_query_log_file", format!("{host}-slow.log"))]
    {
        if text(globals, name).is_empty() {
            let path = std::path::absolute(datadir.join(file)).unwrap_or_default();
            globals.set(find(name).expect("the table has it"), Val::Str(path.to_string_lossy().into_owned().into()));
        }
    }
}

/// Where a replica keeps its relay log, and what port it tells its source.
fn name_relay_log(globals: &mut Globals, datadir: &Path) {
    let host = hostname();
    let base = format!("{}-relay-bin", host.split('.').next().unwrap_or_default());
    let path = std::path::absolute(datadir.join(&base)).unwrap_or_default().to_string_lossy().into_owned();
    for (name, value) in
        [("relay_log_index", format!("{path}.index")), ("relay_log_basename", path), ("relay_log", base)]
    {
        globals.set(find(name).expect("the table has it"), Val::Str(value.into()));
    }
    if uint(globals, "report_port") == 0 {
        let port = uint(globals, "port");
        globals.set(find("report_port").expect("the table has it"), Val::UInt(port));
    }
}

/// The file with the process's number, for as long as it runs.
struct PidFile(PathBuf);

impl PidFile {
    /// `None`: the disk has no room for it. The server starts all the same: whoever is to make room must get in.
    fn write(path: &Path, log: &ErrorLog) -> Result<Option<PidFile>, String> {
        match std::fs::write(path, format!("{}\n", std::process::id())) {
            Ok(()) => Ok(Some(PidFile(path.to_path_buf()))),
            Err(e) if e.kind() == ErrorKind::StorageFull => {
                // An empty one, or half a number, would say what is not so.
                let _ = std::fs::remove_file(path);
                log.write(Level::Warning, 0, &format!("There is no pid file '{}': {e}", path.display()));
                Ok(None)
            }
            Err(e) => Err(format!("option 'pid-file': cannot write '{}': {e}", path.display())),
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // Best effort at the end: another server may have written its own meanwhile.
        if std::fs::read_to_string(&self.0).is_ok_and(|text| text.trim() == std::process::id().to_string()) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// Listens until a signal comes.
fn run(
    globals: &Globals,
    server: &Arc<Server>,
    signals: &mut Signals,
    log: &Arc<ErrorLog>,
    has_password: bool,
) -> Result<(), String> {
    let config = listen_config(globals)?;
    if config.addresses.is_empty() && config.socket.is_none() {
        return Err("nothing to listen on: --skip-networking and no --socket".to_string());
    }
    if let Err(e) = server.make_rsa_keys() {
        log.write(Level::Warning, 0, &format!("No password can be sent without TLS: {e}"));
    }
    // Before anybody can ask whether they run.
    server.start_replicas();
    server.start_events();
    let listener = Listener::start(&config, Arc::new(Sessions(Arc::clone(server)))).map_err(|e| e.to_string())?;
    listener.register_gauges();
    let listener = Arc::new(listener);
    let weak = Arc::downgrade(&listener);
    server.on_set_global(Box::new(move |globals| {
        if let Some(listener) = weak.upgrade() {
            listener.set_max_connections(uint(globals, "max_connections") as usize);
            listener.set_worker_cache(uint(globals, "thread_cache_size") as usize);
        }
    }));
    let _pid_file = PidFile::write(Path::new(text(globals, "pid_file")), log)?;
    let mut how = Vec::new();
    if let Some(address) = config.administrative {
        log.write(
            Level::System,
            ER_SERVER_STARTUP_ADMIN_INTERFACE,
            &format!("Admin interface ready for connections, address: '{}'  port: {}", address.ip(), address.port()),
        );
    }
    // Root has had a password from the first: somebody has to type it.
    let password = if has_password { " -p" } else { "" };
    for address in listener.addresses() {
        // Nobody connects to the address that stands for all.
        let host = match address.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_string(),
            ip => ip.to_string(),
        };
        how.push(format!("mariadb -h {host} -P {} -u root{password}", address.port()));
    }
    if let Some(socket) = &config.socket {
        how.push(format!("mariadb -S {} -u root{password}", socket.display()));
    }
    log.write(
        Level::System,
        ER_SERVER_STARTUP_MSG,
        &format!(
            "ready for connections. Version: '8.4.0'  data directory: '{}'. Connect with: {}",
            text(globals, "datadir"),
            how.join(", or: ")
        ),
    );
    notify::tell(notify::READY);
    let signal = loop {
        match signals.forever().next() {
            Some(SIGHUP) => {
                if let Err(error) = server.reopen_logs() {
                    log.write(Level::Error, 0, &format!("Logs are not opened anew: {}", error.message));
                }
            }
            other => break other,
        }
    };
    notify::tell(notify::STOPPING);
    let name = if signal == Some(SIGINT) { "SIGINT" } else { "SIGTERM or SHUTDOWN" };
    log.write(Level::System, ER_SERVER_SHUTDOWN_INFO, &format!("Received {name}. Shutting down."));
    server.stop_events();
    if !listener.stop(PATIENCE) {
        log.write(
            Level::Warning,
            ER_FORCE_CLOSE_THREAD,
            "Some statements did not end in time; recovery will undo them",
        );
    }
    Ok(())
}

pub fn engine_options(globals: &Globals, datadir: &Path) -> EngineOptions {
    EngineOptions {
        datadir: datadir.to_path_buf(),
        buffer_pool_bytes: uint(globals, "innodb_buffer_pool_size"),
        log_capacity_bytes: uint(globals, "innodb_redo_log_capacity"),
        log_buffer_bytes: uint(globals, "innodb_log_buffer_size"),
        address_space_bytes: uint(globals, "clearway_address_space_size"),
        doublewrite: choice(globals, "innodb_doublewrite") != "OFF",
        direct_io: choice(globals, "innodb_flush_method").starts_with("O_DIRECT"),
        flush_log_at_commit: uint(globals, "innodb_flush_log_at_trx_commit") as u8,
        read_io_threads: uint(globals, "innodb_read_io_threads") as usize,
        write_io_threads: uint(globals, "innodb_write_io_threads") as usize,
        purge_threads: uint(globals, "innodb_purge_threads") as u32,
        events_from: None,
    }
}

/// The binary log's part of the start: where its files are.
fn binlog_config(globals: &mut Globals, name: &str, datadir: &DataDir) -> Result<binlog::Config, String> {
    let name = if name.is_empty() { "binlog" } else { name };
    let path = datadir.path.join(name);
    // As MySQL: an extension makes way for the number.
    let path = if path.extension().is_some() { path.with_extension("") } else { path };
    let base = path.file_name().and_then(|n| n.to_str()).ok_or_else(|| format!("--log-bin={name} names no file"))?;
    let directory = path.parent().expect("it has a name").to_path_buf();
    if flag(globals, "log_bin") {
        let text = |path: PathBuf| Val::Str(path.to_string_lossy().into_owned().into());
        globals.set(find("log_bin_basename").expect("the table has it"), text(path.clone()));
        globals.set(find("log_bin_index").expect("the table has it"), text(path.with_extension("index")));
    }
    let server_uuid = types::gtid::Uuid::parse(&datadir.uuid).ok_or("the server's UUID is none")?;
    Ok(binlog::Config {
        directory,
        data: datadir.path.clone(),
        base: base.to_string(),
        server_uuid,
        server_id: uint(globals, "server_id") as u32,
        version: text_of_version(globals),
        version_number: VERSION_NUMBER,
    })
}

/// 8.4.0, as GTID events tell it.
const VERSION_NUMBER: u32 = 80_400;

fn text_of_version(globals: &Globals) -> String {
    text(globals, "version").to_string()
}

fn listen_config(globals: &Globals) -> Result<Config, String> {
    let port = uint(globals, "port") as u16;
    let mut addresses = Vec::new();
    if !flag(globals, "skip_networking") {
        for word in text(globals, "bind_address").split(',').map(str::trim) {
            addresses.extend(resolve(word, port)?);
        }
    }
    let socket = match text(globals, "socket") {
        "" => None,
        path => Some(PathBuf::from(path)),
    };
    let defaults = Config::default();
    // 0: what suits the machine.
    let set_or = |name, default| match uint(globals, name) as usize {
        0 => default,
        n => n,
    };
    Ok(Config {
        addresses,
        administrative: administrative(globals)?,
        socket,
        back_log: uint(globals, "back_log") as u32,
        max_connections: uint(globals, "max_connections") as usize,
        proxies: Network::list(text(globals, "proxy_protocol_networks"))
            .map_err(|word| format!("option 'proxy-protocol-networks': '{word}' is no address and no subnet"))?,
        worker_cache: uint(globals, "thread_cache_size") as usize,
        crowd: set_or("clearway_crowd_size", defaults.crowd),
        crew: set_or("clearway_crew_size", defaults.crew),
        stack_bytes: uint(globals, "thread_stack") as usize,
        ..defaults
    })
}

/// `admin_address`: one address, and none that stands for all.
fn administrative(globals: &Globals) -> Result<Option<SocketAddr>, String> {
    let word = text(globals, "admin_address");
    if word.is_empty() {
        return Ok(None);
    }
    let wrong = |why: String| format!("option 'admin-address': '{word}': {why}");
    let all = word == "*" || word.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified());
    if all || word.contains(',') {
        return Err(wrong("one address, no wildcard".to_string()));
    }
    let found = (word, uint(globals, "admin_port") as u16).to_socket_addrs().map_err(|e| wrong(e.to_string()))?;
    let mut found = found.filter(|address| !address.ip().is_unspecified());
    found.next().map(Some).ok_or_else(|| wrong("no such address".to_string()))
}

fn resolve(word: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    if word == "*" {
        return Ok(vec![SocketAddr::from(([0u16; 8], port))]);
    }
    if let Ok(ip) = word.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let found = (word, port).to_socket_addrs().map_err(|e| format!("option 'bind-address': '{word}': {e}"))?;
    Ok(found.collect())
}

/// Writes what SET PERSIST has set.
pub fn write_persisted(datadir: &Path) -> session::WritePersisted {
    let directory = datadir.to_path_buf();
    Box::new(move |text| datadir::replace(&directory, PERSISTED_FILE, text))
}

pub fn hostname() -> String {
    let name =
        std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::fs::read_to_string("/etc/hostname"));
    name.map_or_else(|_| "localhost".to_string(), |n| n.trim().to_string())
}
