//! Who has the files open.

use super::entry::{Entry, Log, failed};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use types::Result;

/// Bytes that a SELECT reads of a table's file.
const TABLE_BYTES_MAX: u64 = 256 << 20;

struct LogFile {
    path: PathBuf,
    file: Option<File>,
    /// The schema that the file's last USE names.
    schema: String,
}

impl LogFile {
    fn new(path: PathBuf) -> LogFile {
        LogFile { path, file: None, schema: String::new() }
    }

    /// The file, open at its end; `begun`: what it begins with each time.
    fn open(&mut self, begun: &str) -> std::io::Result<&mut File> {
        if self.file.is_none() {
            // A pipe without a reader, or with a slow one, keeps nobody: what it does not take is lost.
            let mut options = OpenOptions::new();
            options.create(true).append(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
            let mut file = options.open(&self.path)?;
            file.write_all(begun.as_bytes())?;
            self.schema.clear();
            self.file = Some(file);
        }
        Ok(self.file.as_mut().expect("just opened"))
    }
}

pub(super) struct Writer {
    datadir: PathBuf,
    started: String,
    files: [LogFile; 3],
    /// The size from which the audit log goes on in another file; 0: none.
    rotate_at: u64,
    /// The tables' rows.
    tables: [LogFile; 2],
}

impl Writer {
    pub fn new(datadir: &Path, started: String) -> Writer {
        let table = |log: Log| LogFile::new(datadir.join(format!("{}.CSV", log.table())));
        Writer {
            datadir: datadir.to_path_buf(),
            started,
            files: [0; 3].map(|_| LogFile::new(PathBuf::new())),
            rotate_at: 0,
            tables: Log::ALL.map(table),
        }
    }

    /// The names that the variables give.
    pub fn set_files(&mut self, general: &str, slow: &str, audit: &str, rotate_at: u64) {
        self.rotate_at = rotate_at;
        for (file, name) in self.files.iter_mut().zip([general, slow, audit]) {
            let path = self.datadir.join(name);
            if path != file.path {
                *file = LogFile::new(path);
            }
        }
    }

    /// Makes the file, if that can be: entries that it does not take are counted then.
    pub fn open_file(&mut self, log: Log) {
        let begun = if log == Log::Audit { "" } else { &self.started };
        let _ = self.files[log as usize].open(begun);
    }

    pub fn close_file(&mut self, log: Log) {
        self.files[log as usize].file = None;
    }

    /// Writes the entries; how many of them were lost, and how many of the audit log.
    pub fn write(&mut self, entries: &[Entry]) -> (u64, u64) {
        let (mut lost, mut lost_of_audit) = (0, 0);
        for log in [Log::General, Log::Slow, Log::Audit] {
            let own = || entries.iter().filter(|entry| entry.log == log);
            let file = &mut self.files[log as usize];
            let begun = if log == Log::Audit { "" } else { &self.started };
            let mut text = Vec::new();
            let count = own().filter(|entry| !entry.head.is_empty()).count() as u64;
            if count > 0 {
                let result = file.open(begun).map(drop).and_then(|()| {
                    for entry in own() {
                        text.extend_from_slice(&entry.head);
                        if !entry.schema.is_empty() && entry.schema != file.schema {
                            file.schema.clone_from(&entry.schema);
                            text.extend_from_slice(format!("use {};\n", entry.schema).as_bytes());
                        }
                        text.extend_from_slice(&entry.tail);
                    }
                    file.open("")?.write_all(&text)
                });
                let lost = if log == Log::Audit { &mut lost_of_audit } else { &mut lost };
                *lost += if result.is_err() { count } else { 0 };
            }
            if log == Log::Audit {
                self.rotate();
                continue;
            }
            text.clear();
            own().for_each(|entry| text.extend_from_slice(&entry.line));
            if !text.is_empty() && self.tables[log as usize].open("").and_then(|file| file.write_all(&text)).is_err() {
                lost += own().filter(|entry| !entry.line.is_empty()).count() as u64;
            }
        }
        (lost, lost_of_audit)
    }

    /// The audit log's file gets another name once it is as long as it may be.
    fn rotate(&mut self) {
        let audit = &mut self.files[Log::Audit as usize];
        let Some(file) = &audit.file else { return };
        if self.rotate_at == 0 || file.metadata().is_ok_and(|m| m.len() < self.rotate_at) {
            return;
        }
        let at = super::entry::stamp(crate::clock::clock_us(), false).replace(['-', ':', '.'], "");
        let stem = audit.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let kind = audit.path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
        // One that cannot be renamed goes on.
        if std::fs::rename(&audit.path, audit.path.with_file_name(format!("{stem}.{at}{kind}"))).is_ok() {
            audit.file = None;
        }
    }

    /// The text of a table's rows. Error 13.
    pub fn read_table(&mut self, log: Log) -> Result<Vec<u8>> {
        let path = &self.tables[log as usize].path;
        let mut text = Vec::new();
        match File::open(path).and_then(|file| file.take(TABLE_BYTES_MAX).read_to_end(&mut text)) {
            Ok(_) => Ok(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(text),
            Err(e) => Err(failed(path, &e)),
        }
    }

    /// Error 13.
    pub fn empty_table(&mut self, log: Log) -> Result<()> {
        let table = &mut self.tables[log as usize];
        let path = table.path.clone();
        table.open("").and_then(|file| file.set_len(0)).map_err(|e| failed(&path, &e))
    }
}
