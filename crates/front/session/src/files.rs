//! Files in statements: LOAD DATA [LOCAL] INFILE, SELECT ... INTO OUTFILE and DUMPFILE.
//!
//! ```text
//!   LOAD DATA LOCAL   plan -> ask the client -> its packets to a temporary file -> run
//!   LOAD DATA         plan -> open the server's file                            -> run
//! ```
//!
//! A client's file is taken down whole before the statement takes locks: nobody waits for a slow client.

use crate::needs::Action;
use crate::session::plans::{Planned, check_schemas};
use crate::session::upload::Upload;
use crate::session::{Done, Session};
use crate::sink::{gone, wire_column};
use crate::statement::text_of;
use crate::variables::{Globals, Val, VarId, id};
use expr::{Env, LoadedFile, Teller};
use plan::ColumnMeta;
use plan::node::file::FileFormat;
use protocol::{Capabilities, Connection, Output, ReadOutcome, RowFormat};
use run::fields::{write_field, write_fixed};
use run::{Outcome, RowSink};
use sql::ast::{Into, Parsed, Statement};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use types::charset::Charset;
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind, Value, err};

const LOCAL_INFILE: VarId = id("local_infile");
const SECURE_FILE_PRIV: VarId = id("secure_file_priv");
const DATADIR: VarId = id("datadir");
const TMPDIR: VarId = id("tmpdir");
const NET_READ_TIMEOUT: VarId = id("net_read_timeout");

/// What the client has sent, in a file without a name.
struct Spool {
    file: cipher::Scratch,
    at: u64,
    end: u64,
}

impl Read for Spool {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = buf.len().min((self.end - self.at) as usize);
        self.file.read_at(&mut buf[..n], self.at).map_err(io::Error::other)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// A file that tells how far it was read.
struct Told {
    file: Box<dyn Read + Send>,
    read: u64,
    bytes: u64,
    teller: Option<Teller>,
}

impl Read for Told {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        self.read += n as u64;
        if let Some(tell) = &self.teller {
            tell(self.read, self.bytes);
        }
        Ok(n)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Some(tell) = &self.teller {
            tell(0, 0);
        }
    }
}

fn not_created(path: &Path, e: &dyn std::fmt::Display) -> SqlError {
    SqlError::new(EE_CANTCREATEFILE, format!("Can't create/write to file '{}' (OS errno - {e})", path.display()))
}

/// `2 - No such file or directory`
fn os_error(e: &io::Error) -> String {
    let text = e.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    format!("OS errno {} - {words}", e.raw_os_error().unwrap_or(0))
}

/// `secure_file_priv` is NULL, which an option file can only say in letters.
pub(crate) fn files_are_off(globals: &Globals) -> bool {
    matches!(globals.get(SECURE_FILE_PRIV), Val::Null) || globals.text(SECURE_FILE_PRIV).eq_ignore_ascii_case("null")
}

/// Where a file of that name is, if statements may use it. Error 1290.
fn server_file(globals: &Globals, name: &str) -> Result<PathBuf> {
    // Relative names lie in the data directory.
    let path = Path::new(globals.text(DATADIR)).join(name);
    let refused = || err!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv");
    if files_are_off(globals) {
        return Err(refused());
    }
    let allowed = globals.text(SECURE_FILE_PRIV);
    if allowed.is_empty() {
        return Ok(path);
    }
    // Through links, for a file that need not be there.
    let folder = path.parent().and_then(|p| p.canonicalize().ok()).ok_or_else(refused)?;
    let real = path.canonicalize().unwrap_or_else(|_| folder.join(path.file_name().unwrap_or_default()));
    let allowed = Path::new(allowed).canonicalize().map_err(|_| refused())?;
    if real.starts_with(allowed) { Ok(path) } else { Err(refused()) }
}

/// LOAD_FILE() by a user who may read files. Error 1085 for what is no file.
pub(crate) fn load(globals: &Globals, name: &str, size_max: u64) -> Result<LoadedFile> {
    let Ok(path) = server_file(globals, name) else { return Ok(LoadedFile::Refused) };
    let Ok(about) = std::fs::metadata(&path) else { return Ok(LoadedFile::Refused) };
    // A pipe or a device may have nothing to read for ever.
    if !about.is_file() {
        return Err(err!(ER_TEXTFILE_NOT_READABLE, name));
    }
    if about.len() > size_max {
        return Ok(LoadedFile::TooLarge(about.len()));
    }
    let mut content = Vec::new();
    // It may have grown meanwhile.
    let read = std::fs::File::open(&path).and_then(|file| file.take(size_max).read_to_end(&mut content));
    Ok(if read.is_ok() { LoadedFile::Content(content) } else { LoadedFile::Refused })
}

impl Session {
    /// LOAD DATA. Errors 13, 1045, 1085, 1290, 3948 and those of the insertion.
    pub(crate) fn load_data(&mut self, parsed: Parsed, out: &mut Output) -> Result<Done> {
        observe::increment(self.com("load"));
        self.state.clear_conditions();
        self.refresh_access()?;
        let Statement::LoadData(load) = &parsed.statement else { unreachable!("called for LOAD DATA") };
        let (local, name) = (load.local, text_of(&parsed, load.file));
        if local {
            let server = self.server.globals.load().bool(LOCAL_INFILE);
            if !server || !out.capabilities().has(Capabilities::LOCAL_FILES) {
                return Err(err!(ER_CLIENT_LOCAL_FILES_DISABLED));
            }
            let planned = Box::new(self.plan(parsed, &[])?);
            check_schemas(&planned.prepared, &self.dictionary())?;
            out.local_infile_request(name.as_bytes()).map_err(|_| gone())?;
            self.upload = Some(Upload { planned, rest: Vec::new() });
            return Ok(Done::Upload);
        }
        self.may_read_file()?;
        if load.xml {
            // Refused, if the file is not refused before.
            self.server_file(&name)?;
        }
        let mut planned = self.plan(parsed, &[])?;
        check_schemas(&planned.prepared, &self.dictionary())?;
        let path = self.server_file(&name)?;
        let no_stat =
            |e: io::Error| SqlError::new(EE_STAT, format!("Can't get stat of '{}' ({})", path.display(), os_error(&e)));
        // A pipe or a device may have nothing to read for ever, and KILL could not end that.
        if !std::fs::metadata(&path).map_err(no_stat)?.is_file() {
            return Err(err!(ER_TEXTFILE_NOT_READABLE, path.display()));
        }
        let file = std::fs::File::open(&path).map_err(no_stat)?;
        let bytes = file.metadata().map_err(no_stat)?.len();
        self.run_load(&mut planned, Box::new(file), bytes, out)
    }

    fn run_load(
        &mut self,
        planned: &mut Planned,
        file: Box<dyn Read + Send>,
        bytes: u64,
        out: &mut Output,
    ) -> Result<Done> {
        self.state.file = Some(Box::new(Told { file, read: 0, bytes, teller: self.state.teller() }));
        self.state.note_source(&planned.parsed);
        let result = self.run(planned, &[], RowFormat::Text, out);
        self.state.file = None;
        result
    }

    /// Takes the client's file, runs the statement that asked for it, and those behind it.
    pub(crate) fn receive_upload(&mut self, conn: &mut Connection) -> Result<Done> {
        let Upload { mut planned, rest } = self.upload.take().expect("the client was asked for a file");
        let spool = self.spool(conn);
        let (_, out) = conn.split();
        let result = match spool? {
            Ok(spool) => {
                let bytes = spool.end;
                self.run_load(&mut planned, Box::new(spool), bytes, out)
            }
            Err(e) => Err(e),
        };
        let done = result.map_err(|e| self.failed(e))?;
        if rest.is_empty() || done == Done::Close {
            return Ok(done);
        }
        self.state.begin_statement();
        self.more = false;
        self.query(&rest, out)
    }

    /// Reads to the empty packet, whatever happens to the file; the outer error: the client is gone.
    fn spool(&mut self, conn: &mut Connection) -> Result<Result<Spool>> {
        let directory = PathBuf::from(self.state.vars.text(TMPDIR));
        let timeout = Duration::from_secs(self.state.vars.uint(NET_READ_TIMEOUT));
        let file = cipher::Scratch::new(&directory).map_err(|e| not_created(&directory, &e));
        let mut spool = file.map(|file| Spool { file, at: 0, end: 0 });
        loop {
            match conn.read_reply(Some(timeout)) {
                ReadOutcome::Packet => {}
                _ => return Err(gone()),
            }
            let packet = conn.packet();
            if packet.is_empty() {
                return Ok(spool);
            }
            if let Ok(to) = &mut spool {
                match to.file.write_at(packet, to.end) {
                    Ok(()) => to.end += packet.len() as u64,
                    Err(e) => spool = Err(not_created(&directory, &e)),
                }
            }
        }
    }

    /// Error 1045 without the privilege to read the server's files.
    fn may_read_file(&self) -> Result<()> {
        self.may_touch_files(Action::ReadFile)
    }

    /// Error 1045 without the privilege to say where the server's files are to be.
    pub(crate) fn may_name_files(&self) -> Result<()> {
        self.may_touch_files(Action::WriteFile)
    }

    fn may_touch_files(&self, action: Action) -> Result<()> {
        self.need(action).map_err(|_| {
            let account = &self.access().account().name;
            err!(ER_ACCESS_DENIED_ERROR, account.user, account.host, self.used_password())
        })
    }

    /// Where a file of that name is, if statements may use it: the caller has seen to the privilege. Error 1290.
    fn server_file(&self, name: &str) -> Result<PathBuf> {
        server_file(&self.server.globals.load(), name)
    }

    /// SELECT ... INTO OUTFILE or DUMPFILE: a new file, gone again if the statement fails. Errors 1, 1045, 1086, 1172, 1290.
    pub(crate) fn run_into_file(
        &mut self,
        planned: &mut Planned,
        params: &[Value<'_>],
        out: &mut Output,
    ) -> Result<Done> {
        let parsed = &planned.parsed;
        let Statement::Query(query) = parsed.statement else { unreachable!("a query") };
        let (name, charset, format) = match parsed[query].into.as_deref() {
            Some(Into::Outfile { file, charset, format }) => {
                let charset = match charset.map(|c| parsed.name(c)) {
                    Some(name) => Some(Charset::by_name(name).ok_or_else(|| err!(ER_UNKNOWN_CHARACTER_SET, name))?),
                    None => None,
                };
                (text_of(parsed, *file), charset, Some(plan::load::file_format(parsed, format)?))
            }
            Some(Into::Dumpfile(file)) => (text_of(parsed, *file), None, None),
            _ => unreachable!("called for a query into a file"),
        };
        self.refresh_access()?;
        self.need(Action::WriteFile)?;
        let path = self.server_file(&name)?;
        let file =
            std::fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => err!(ER_FILE_EXISTS_ERROR, name),
                _ => SqlError::new(
                    EE_CANTCREATEFILE,
                    format!("Can't create/write to file '{}' ({})", path.display(), os_error(&e)),
                ),
            })?;
        let mut sink = FileSink {
            file: BufWriter::new(file),
            path: &path,
            format,
            charset: charset.filter(|c| *c != Charset::Binary),
            types: Vec::new(),
            widths: Vec::new(),
            rows: 0,
            line: Vec::new(),
        };
        let mut result = self.run_into(planned, params, &mut sink);
        let rows = sink.rows;
        if let Err(e) = sink.file.flush() {
            result = result.and(Err(not_created(&path, &e)));
        }
        drop(sink);
        if let Err(e) = result {
            // Half a result is of no use to anybody; the statement's error is the one to tell.
            let _ = std::fs::remove_file(&path);
            return Err(e);
        }
        self.state.row_count = rows as i64;
        self.ok(out, &Outcome { affected_rows: rows, ..Outcome::default() })?;
        Ok(Done::Answered)
    }
}

/// Rows as lines of a file.
struct FileSink<'p> {
    file: BufWriter<std::fs::File>,
    path: &'p Path,
    /// `None`: the values of one row as they are.
    format: Option<FileFormat>,
    /// Strings are converted to it.
    charset: Option<Charset>,
    types: Vec<DataType>,
    /// Of fields without anything between them; empty for others.
    widths: Vec<usize>,
    rows: u64,
    line: Vec<u8>,
}

/// Bytes that a column takes in a line of fixed widths: those that a client is told, of a table's integer no fewer than it may need.
fn width(meta: &ColumnMeta) -> usize {
    let column = wire_column(meta);
    let t = &meta.data_type;
    let max_bytes = if t.kind.is_text() { t.collation.charset().mbmaxlen() as u8 } else { 1 };
    let needed = match t.kind.is_integer() && !meta.org_table.is_empty() {
        true => DataType { length: 0, ..*t }.display_bytes(1, false),
        false => 0,
    };
    column.display_bytes(max_bytes).max(needed) as usize
}

impl RowSink for FileSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        // With longer columns values stand side by side as they are.
        const WIDTH_MAX: usize = 1 << 24;
        self.types = columns.iter().map(|c| c.data_type).collect();
        if self.format.as_ref().is_some_and(FileFormat::is_fixed) {
            self.widths = columns.iter().map(width).collect();
            if self.widths.iter().any(|width| *width >= WIDTH_MAX) {
                self.widths.clear();
            }
        }
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.line.clear();
        self.rows += 1;
        if self.format.is_none() && self.rows > 1 {
            return Err(err!(ER_TOO_MANY_ROWS));
        }
        let (mut text, mut converted) = (Vec::new(), Vec::new());
        for (i, (value, t)) in values.iter().zip(&self.types).enumerate() {
            text.clear();
            value.write_text(t, &mut text);
            let mut shown = &text;
            if let Some(to) = self.charset.filter(|to| t.kind.is_text() && t.collation.charset() != *to) {
                converted.clear();
                t.collation.charset().convert(to, &text, &mut converted);
                shown = &converted;
            }
            match &self.format {
                None if value.is_null() => {}
                None => self.line.extend_from_slice(shown),
                Some(format) => {
                    let before = if i == 0 { &format.lines_starting } else { &format.fields_terminated };
                    self.line.extend_from_slice(before);
                    let string = !t.kind.is_numeric() || t.kind == TypeKind::Bit;
                    let shown = (!value.is_null()).then_some(&shown[..]);
                    match self.widths.get(i) {
                        Some(width) => write_fixed(format, shown, string, *width, &mut self.line),
                        None => write_field(format, shown, string, &mut self.line),
                    }
                }
            }
        }
        if let Some(format) = &self.format {
            self.line.extend_from_slice(&format.lines_terminated);
        }
        self.file.write_all(&self.line).map_err(|e| not_created(self.path, &e))
    }
}
