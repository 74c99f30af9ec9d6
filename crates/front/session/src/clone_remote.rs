//! CLONE INSTANCE FROM user@host:port: a copy of another Clearway, into a directory or in place of this server's own data.
//!
//! In place it is put beside the data ([`backup::CLONE_FOLDER`]), and the server ends with error 3707: nobody here starts it again. Its
//! next start takes the copy, and `performance_schema.clone_status` then says what it stands for. The server keeps its identity, its
//! options and its
//! files of keys.

use crate::binary_log::LOG_BIN;
use crate::clone::{BANDWIDTH_MAX, DATADIR, SERVER_UUID, clone_error, make_directories};
use crate::needs::Action;
use crate::session::Session;
use crate::statement::text_of;
use crate::variables::{Globals, Val, VarId, id};
use backup::{CLONE_FOLDER, Frame, MANIFEST_FILE, Manifest, Request};
use engine::{DATA_FILE, Error, PAGE_BYTES, verify_pages};
use inspect::CloneRecord;
use io::{Destination, Directory, Folder};
use replica::SourceConfig;
use replica::client::{Connection, Cutter};
use replica::fetch::fetch;
use sql::ast::{CloneInstance, Parsed};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sync::{Mutex, Rank};
use types::codes::*;
use types::{Result, SqlError, err};

const VALID_DONORS: VarId = id("clone_valid_donor_list");
const LOG_BIN_BASENAME: VarId = id("log_bin_basename");
/// As `performance_schema.clone_status` calls this server's own data.
const OWN_DATA: &str = "LOCAL INSTANCE";
/// A donor that says nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often somebody looks whether a copy should end while its donor is waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// However the fetching ends, nobody watches it any more.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed); // pairs with nothing: see the watcher
    }
}

/// Error 3869.
fn configuration(text: &str) -> SqlError {
    err!(ER_CLONE_SYS_CONFIG, text)
}

/// Error 3862, the donor's own inside of it.
fn donor_said(e: SqlError) -> SqlError {
    match e.code {
        ER_CLONE_DONOR | ER_CLONE_PROTOCOL => e,
        code => err!(ER_CLONE_DONOR, format!("{code} : {}", e.message)),
    }
}

/// Error 3869 for a text that is no list of donors.
pub(crate) fn may_set(id: VarId, new: &Val) -> Result<()> {
    if id != VALID_DONORS || *new == Val::Null {
        return Ok(());
    }
    let is_donor = |word: &str| {
        word.rsplit_once(':').is_some_and(|(host, port)| {
            let is_host = !host.is_empty() && !host.contains(|c: char| c == ':' || c.is_whitespace());
            is_host && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
        })
    };
    if new.text().split(',').all(is_donor) {
        return Ok(());
    }
    Err(configuration("Invalid Format. Please enter \"<hostname1>:<port1>,...\"' with no extra space"))
}

impl Session {
    /// Errors 1007, 1026, 1227, 1317, 1525, 3632, 3634, 3707, 3862, 3863, 3869.
    pub(crate) fn clone_instance(&mut self, parsed: &Parsed, clone: &CloneInstance) -> Result<()> {
        let directory = clone.directory.map(|directory| text_of(parsed, directory));
        self.need(if directory.is_some() { Action::CloneData } else { Action::CloneInstance })?;
        self.commit_all()?;
        let host = clone.host.map_or("%".to_string(), |host| text_of(parsed, host));
        let donor = format!("{host}:{}", clone.port);
        self.check_donor(&donor)?;
        let config = SourceConfig {
            host,
            port: u16::try_from(clone.port).unwrap_or(0),
            user: text_of(parsed, clone.user),
            password: text_of(parsed, clone.password),
            get_public_key: true,
            ..SourceConfig::default()
        };
        let Some(name) = directory else {
            self.recorded(&donor, OWN_DATA, |this| this.replace_data(&config, clone.ssl))?;
            (self.server.stop)();
            return Err(err!(ER_RESTART_SERVER_FAILED, "mysqld is not managed by supervisor process"));
        };
        let path = self.clone_path(&name)?;
        self.recorded(&donor, &name, |this| {
            let first_made = make_directories(&path)?;
            let fetched = this.fetch_into(&path, &config, clone.ssl, &|_, _| Ok(()));
            if fetched.is_err() {
                // The copy's error is the one to tell.
                let _ = Directory::remove_tree(first_made);
            }
            fetched
        })
    }

    /// Error 3869.
    fn check_donor(&self, donor: &str) -> Result<()> {
        let globals = self.server.globals.load();
        let valid = match globals.get(VALID_DONORS) {
            Val::Null => String::new(),
            list => list.text().to_string(),
        };
        if valid.split(',').any(|known| known == donor) {
            return Ok(());
        }
        Err(configuration(&format!("{donor} is not found in clone_valid_donor_list: {valid}")))
    }

    /// Puts the copy beside this server's data, for the next start to take.
    fn replace_data(&mut self, config: &SourceConfig, ssl: Option<bool>) -> Result<()> {
        let globals = self.server.globals.load();
        let path = PathBuf::from(globals.text(DATADIR)).join(CLONE_FOLDER);
        let own_uuid = globals.text(SERVER_UUID).to_string();
        drop(globals);
        let failed = |e: io::Error| clone_error(&path, e.into());
        if path.exists() {
            Directory::remove_tree(&path).map_err(failed)?;
        }
        Directory::create(&path).map_err(failed)?;
        let server = std::sync::Arc::clone(&self.server);
        let fetched = self.fetch_into(&path, config, ssl, &|connection, manifest| match manifest {
            None if connection.value("SELECT @@server_uuid")?.as_deref() == Some(&*own_uuid) => {
                Err(err!(ER_CLONE_LOOPBACK))
            }
            None => Ok(()),
            Some(manifest) => agree_on_binlog(&server.globals.load(), manifest),
        });
        if fetched.is_err() {
            // The copy's error is the one to tell.
            let _ = Directory::remove_tree(&path);
        }
        fetched
    }

    /// Fetches all files. `may` is asked when the donor is there, and again with what the copy says of itself. A donor that says nothing
    /// is cut off as soon as the copy is to end.
    fn fetch_into(
        &mut self,
        path: &Path,
        config: &SourceConfig,
        ssl: Option<bool>,
        may: &dyn Fn(&mut Connection, Option<&Manifest>) -> Result<()>,
    ) -> Result<()> {
        let (ending, donor) = (self.ending(), Mutex::new(Rank::Session, None::<Cutter>));
        let over = AtomicBool::new(false);
        let watch = || {
            // Relaxed: says when to stop and nothing else.
            while !over.load(Ordering::Relaxed) {
                if ending.has_come() {
                    donor.lock().iter().for_each(Cutter::cut);
                }
                sync::blocking::sleep(sync::waits::Wait::Clone, LOOK_AGAIN);
            }
        };
        std::thread::scope(|scope| {
            let watcher = std::thread::Builder::new().name("clone-watch".into()).spawn_scoped(scope, watch);
            watcher
                .map_err(|e| SqlError::new(ER_CANT_CREATE_THREAD, format!("Can't create a new thread (errno {e})")))?;
            let _over = Over(&over);
            let fetched = connect(config, ssl, &|cutter| *donor.lock() = Some(cutter))
                .and_then(|connection| self.fetch_from(connection, path, config, may));
            if fetched.is_err() && ending.has_come() { Err(err!(ER_QUERY_INTERRUPTED)) } else { fetched }
        })
    }

    fn fetch_from(
        &mut self,
        mut connection: Connection,
        path: &Path,
        config: &SourceConfig,
        may: &dyn Fn(&mut Connection, Option<&Manifest>) -> Result<()>,
    ) -> Result<()> {
        may(&mut connection, None).map_err(donor_said)?;
        let failed = |e: io::Error| clone_error(path, e.into());
        let folder = backup::folder(path).map_err(failed)?;
        let request = Request { base: None, bytes_a_second: self.server.globals.load().uint(BANDWIDTH_MAX) << 20 };
        let ending = self.ending();
        // What goes wrong here is no error of the donor's.
        let mut own = None;
        let fetched = fetch(&mut connection, &request, &mut |frame| {
            let took =
                if ending.has_come() { Err(err!(ER_QUERY_INTERRUPTED)) } else { self.take_frame(frame, path, &folder) };
            took.map_err(|e| {
                own = Some(e);
                err!(ER_QUERY_INTERRUPTED)
            })
        });
        let manifest = fetched.map_err(|e| own.take().unwrap_or_else(|| donor_said(e)))?;
        may(&mut connection, Some(&manifest))?;
        self.end_stage();
        self.note(|record| {
            let place = manifest.place.clone().unwrap_or_default();
            record.binlog_file = place.file;
            record.binlog_position = place.position;
            record.gtid_executed = place.gtid_executed;
        });
        self.stage("FILE SYNC", 0);
        let manifest = Manifest { source: Some(format!("{}:{}", config.host, config.port)), ..manifest };
        let whole = folder.drop_unfinished().and_then(|()| folder.put(MANIFEST_FILE, manifest.print().as_bytes()));
        whole.map_err(failed)?;
        (self.server.adopt_copy)(path).map_err(|error| clone_error(path, Error::Io(error.to_string())))?;
        self.end_stage();
        Ok(())
    }

    fn take_frame(&self, frame: &Frame<'_>, path: &Path, folder: &Folder) -> Result<()> {
        match frame {
            Frame::Begin(manifest) => self.stage("FILE COPY", manifest.pages * PAGE_BYTES),
            Frame::Progress(done) => self.note_copied(*done),
            Frame::Write { file, offset, bytes } if *file == DATA_FILE => {
                verify_pages(bytes, offset / PAGE_BYTES).map_err(|why| clone_error(path, Error::Corrupt(why)))?;
            }
            _ => {}
        }
        frame.apply(folder).map_err(|e| clone_error(path, e.into()))
    }
}

/// What is told of a clone after the start that has taken it.
pub(crate) fn record_of(manifest: Manifest) -> CloneRecord {
    let Manifest { source, place, at_us, .. } = manifest;
    let place = place.unwrap_or_default();
    CloneRecord {
        began_us: at_us,
        ended_us: at_us,
        source: source.unwrap_or_default(),
        destination: OWN_DATA.to_string(),
        binlog_file: place.file,
        binlog_position: place.position,
        gtid_executed: place.gtid_executed,
        ..CloneRecord::default()
    }
}

/// REQUIRE SSL, REQUIRE NO SSL, or neither: TLS where the donor has it, as in MySQL. Error 3862.
fn connect(config: &SourceConfig, ssl: Option<bool>, told: &dyn Fn(Cutter)) -> Result<Connection> {
    const NO_TLS: u16 = CR_SSL_CONNECTION_ERROR;
    let open = |ssl| Connection::open(&SourceConfig { ssl, ..config.clone() }, PATIENCE, told);
    let opened = match (open(ssl != Some(false)), ssl) {
        (Err(e), None) if e.code == NO_TLS => open(false),
        (opened, _) => opened,
    };
    opened.map_err(|e| err!(ER_CLONE_DONOR, format!("Connect failed: {} : {}", e.code, e.message)))
}

/// The binary log of the copy must be the one that this server goes on with. Error 3869.
fn agree_on_binlog(globals: &Globals, manifest: &Manifest) -> Result<()> {
    if !globals.bool(LOG_BIN) {
        return Ok(());
    }
    let own = Path::new(globals.text(LOG_BIN_BASENAME));
    let base = manifest.place.as_ref().and_then(|place| place.file.rsplit_once('.')).map(|(base, _)| base);
    let is_same = base.is_some() && own.file_name().and_then(|name| name.to_str()) == base;
    if is_same && own.parent() == Some(Path::new(globals.text(DATADIR).trim_end_matches('/'))) {
        return Ok(());
    }
    let donors = base.unwrap_or("none");
    Err(configuration(&format!(
        "log_bin of the donor is {donors}, of the recipient {}: they must have one name, in the data directory",
        own.display()
    )))
}
