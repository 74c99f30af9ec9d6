//! Who has the files open.

use super::entry::{Entry, Log, failed};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
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
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
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
    files: [LogFile; 2],
    /// The tables' rows.
    tables: [LogFile; 2],
}

impl Writer {
    pub fn new(datadir: &Path, started: String) -> Writer {
        let table = |log: Log| LogFile::new(datadir.join(format!("{}.CSV", log.table())));
        Writer {
            datadir: datadir.to_path_buf(),
            started,
            files: Log::ALL.map(|_| LogFile::new(PathBuf::new())),
            tables: Log::ALL.map(table),
        }
    }

    /// The names that the variables give.
    pub fn set_files(&mut self, general: &str, slow: &str) {
        for (file, name) in self.files.iter_mut().zip([general, slow]) {
            let path = self.datadir.join(name);
            if path != file.path {
                *file = LogFile::new(path);
            }
        }
    }

    /// Makes the file, if that can be: entries that it does not take are counted then.
    pub fn open_file(&mut self, log: Log) {
        let _ = self.files[log as usize].open(&self.started);
    }

    pub fn close_file(&mut self, log: Log) {
        self.files[log as usize].file = None;
    }

    /// Writes the entries; how many of them were lost.
    pub fn write(&mut self, entries: &[Entry]) -> u64 {
        let mut lost = 0;
        for (at, is_slow) in [(Log::General as usize, false), (Log::Slow as usize, true)] {
            let own = || entries.iter().filter(|entry| entry.is_slow == is_slow);
            let file = &mut self.files[at];
            let mut text = Vec::new();
            let count = own().filter(|entry| !entry.head.is_empty()).count() as u64;
            if count > 0 {
                let result = file.open(&self.started).map(drop).and_then(|()| {
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
                lost += if result.is_err() { count } else { 0 };
            }
            text.clear();
            own().for_each(|entry| text.extend_from_slice(&entry.line));
            if !text.is_empty() && self.tables[at].open("").and_then(|file| file.write_all(&text)).is_err() {
                lost += own().filter(|entry| !entry.line.is_empty()).count() as u64;
            }
        }
        lost
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
