//! Bringing copies back: a whole one, and over it what has changed since, into a directory that then is what a kill would have left.
//!
//! ```text
//!   base        all of its files
//!   increment   pages over those that are there; pages that are zeros now are punched; log, binary log and keys in place of the older ones
//! ```
//! Each page's checksum is looked at, and that no page is missing. The log's groups are not: recovery reads them.

use crate::archive;
use crate::{Error, Frame, MANIFEST_FILE, Manifest, Result};
use engine::{DATA_FILE, PAGE_BYTES, PAGES_FILE, PageRuns, verify_pages};
use io::{Directory, ErrorKind, File, Folder, OpenOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Bytes of a file that are read at a time.
const PIECE_BYTES: u64 = 1 << 20;
/// Of the directory itself, not of what is copied: whoever it is restored for gets their own.
const OWN_FILES: [&str; 3] = ["clearway.id", "clearway.lock", MANIFEST_FILE];

/// Where a copy is.
pub enum Source {
    Directory(PathBuf),
    Stream { name: String, reader: Box<archive::Reader> },
}

impl Source {
    /// A directory, a file with a stream, or `-`: the stream on stdin.
    pub fn open(name: &str) -> Result<Source> {
        let failed = |e: &dyn std::fmt::Display| Error(format!("'{name}': {e}"));
        if name == "-" {
            let reader = archive::Reader::open(std::io::stdin()).map_err(|e| failed(&e))?;
            return Ok(Source::Stream { name: "stdin".into(), reader: Box::new(reader) });
        }
        let path = Path::new(name);
        if path.is_dir() {
            return Ok(Source::Directory(path.to_path_buf()));
        }
        let file = std::fs::File::open(path).map_err(|e| failed(&e))?;
        let reader = archive::Reader::open(file).map_err(|e| failed(&e))?;
        Ok(Source::Stream { name: name.to_string(), reader: Box::new(reader) })
    }

    fn name(&self) -> String {
        match self {
            Source::Directory(path) => path.display().to_string(),
            Source::Stream { name, .. } => name.clone(),
        }
    }

    /// Gives all frames to `take`, BEGIN first, END last.
    fn read(&mut self, take: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        match self {
            Source::Directory(path) => read_directory(path, take),
            Source::Stream { reader, .. } => {
                let mut is_first = true;
                loop {
                    let frame = reader.frame()?;
                    if is_first != matches!(frame, Frame::Begin(_)) {
                        return Err(Error("the stream is damaged".to_string()));
                    }
                    is_first = false;
                    let is_last = matches!(frame, Frame::End(_));
                    take(frame)?;
                    if is_last {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// The manifest of a copy in a directory. Errors: it is none, or not whole, or a server was started in it.
pub fn manifest_of(path: &Path) -> Result<Manifest> {
    let file = path.join(MANIFEST_FILE);
    match std::fs::read_to_string(&file) {
        Ok(text) => Manifest::parse(&text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(Error(format!(
            "there is no '{MANIFEST_FILE}': it is no backup, or one that was not finished, or a server was started in \
             it"
        ))),
        Err(e) => Err(Error(format!("'{}': {e}", file.display()))),
    }
}

/// A server is about to be started in the directory: what is in it is no longer the copy that was made.
pub fn retire(datadir: &Path) -> Result<()> {
    let directory = Directory::open(datadir)?;
    match directory.contains(MANIFEST_FILE)? {
        true => Ok(directory.remove(MANIFEST_FILE)?),
        false => Ok(()),
    }
}

/// Names of all files, with their folders.
fn files_of(directory: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for name in Directory::open(directory.join(&folder))?.list()? {
            let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match directory.join(&name).is_dir() {
                true => folders.push(name),
                false => files.push(name),
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read_directory(path: &Path, take: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
    let manifest = manifest_of(path)?;
    take(Frame::Begin(manifest.clone()))?;
    let mut buffer = vec![0; PIECE_BYTES as usize];
    for name in files_of(path)?.iter().filter(|name| !OWN_FILES.contains(&name.as_str())) {
        let file = File::open(path.join(name), OpenOptions::read(sync::waits::Wait::CloneFile))?;
        let len = file.len()?;
        for at in (0..len).step_by(PIECE_BYTES as usize) {
            let bytes = &mut buffer[..PIECE_BYTES.min(len - at) as usize];
            file.read_at(bytes, at)?;
            for (offset, bytes) in used(bytes, at) {
                take(Frame::Write { file: name, offset, bytes })?;
            }
            if name == DATA_FILE {
                take(Frame::Progress(at + bytes.len() as u64))?;
            }
        }
        let solid = name.starts_with(&format!("{}/", engine::LOG_DIRECTORY));
        take(Frame::Finish { file: name, len, solid })?;
    }
    take(Frame::End(manifest))
}

/// The parts of a piece that are not zeros, page by page.
fn used(bytes: &[u8], at: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let step = PAGE_BYTES as usize;
    let parts = bytes.chunks(step).enumerate().map(move |(i, part)| (at + (i * step) as u64, part));
    parts.filter(|(_, part)| part.iter().any(|byte| *byte != 0))
}

/// One bit a page.
#[derive(Default)]
struct PageSet {
    words: Vec<u64>,
    count: u64,
}

impl PageSet {
    fn add(&mut self, page: u64) {
        let (word, bit) = ((page / 64) as usize, 1 << (page % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.count += u64::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    fn has(&self, page: u64) -> bool {
        self.words.get((page / 64) as usize).is_some_and(|word| word & (1 << (page % 64)) != 0)
    }
}

/// One copy on its way into the directory.
struct Layer<'t> {
    target: &'t Folder,
    /// The copy below it.
    before: Option<&'t Manifest>,
    manifest: Manifest,
    /// Pages that came and are not of zeros.
    came: PageSet,
    runs: Vec<u8>,
    files: BTreeSet<String>,
}

impl Layer<'_> {
    fn take(&mut self, frame: &Frame<'_>) -> Result<()> {
        match frame {
            Frame::Begin(manifest) => {
                match (self.before, &manifest.parent) {
                    (Some(before), _) => manifest.follows(before)?,
                    (None, Some(parent)) => {
                        let id = &manifest.id;
                        return Err(Error(format!(
                            "backup {id} is an increment of backup {parent}, which has to be named first"
                        )));
                    }
                    (None, None) => {}
                }
                if self.before.is_some() {
                    self.drop_files()?;
                }
                self.manifest = manifest.clone();
            }
            Frame::End(manifest) => {
                if manifest.id != self.manifest.id {
                    return Err(Error("the stream is damaged: two backups in one".to_string()));
                }
                self.manifest = manifest.clone();
                self.end()?;
            }
            // An increment's list of pages is not for the server.
            Frame::Write { file, offset, bytes } if *file == PAGES_FILE => {
                if *offset != self.runs.len() as u64 {
                    return Err(Error(format!("'{PAGES_FILE}' is damaged")));
                }
                self.runs.extend_from_slice(bytes);
            }
            Frame::Finish { file, .. } if *file == PAGES_FILE => {}
            Frame::Write { file, offset, bytes } => {
                if *file == DATA_FILE {
                    self.look_at(*offset, bytes)?;
                }
                self.files.insert(file.to_string());
                frame.apply(self.target)?;
            }
            Frame::Finish { .. } => frame.apply(self.target)?,
            Frame::Progress(_) => {}
        }
        Ok(())
    }

    /// Pages: are they whole?
    fn look_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let first = offset / PAGE_BYTES;
        if !offset.is_multiple_of(PAGE_BYTES) {
            return Err(Error(format!("'{DATA_FILE}': a piece begins in the middle of page {first}")));
        }
        verify_pages(bytes, first).map_err(|why| Error(format!("'{DATA_FILE}' is damaged: {why}")))?;
        (first..first + bytes.len() as u64 / PAGE_BYTES).for_each(|page| self.came.add(page));
        Ok(())
    }

    /// All has come: what is missing, and what is zeros now?
    fn end(&mut self) -> Result<()> {
        let (expected, came) = (self.manifest.used_pages, self.came.count);
        if expected != came {
            return Err(Error(format!("'{DATA_FILE}': {came} pages are there, {expected} were copied")));
        }
        if self.before.is_some() {
            let runs = PageRuns::decode(&self.runs).ok_or_else(|| Error(format!("'{PAGES_FILE}' is damaged")))?;
            let data =
                File::open(self.target.path().join(DATA_FILE), OpenOptions::write(sync::waits::Wait::CloneFile))?;
            for (first, count) in runs.iter() {
                self.punch(&data, first, count)?;
            }
            data.sync_all()?;
        }
        self.target.drop_unfinished()?;
        Ok(self.target.sync()?)
    }

    /// Pages of a run that did not come are of zeros.
    fn punch(&self, data: &File, first: u64, count: u64) -> Result<()> {
        let mut page = first;
        while page < first + count {
            let end = (page..first + count).find(|page| self.came.has(*page)).unwrap_or(first + count);
            if end > page {
                data.punch(page * PAGE_BYTES, (end - page) * PAGE_BYTES)?;
            }
            page = end.max(page) + 1;
        }
        Ok(())
    }

    /// The files of the copy below, but for the pages, make way.
    fn drop_files(&mut self) -> Result<()> {
        for name in std::mem::take(&mut self.files).iter().filter(|name| *name != DATA_FILE) {
            let path = self.target.path().join(name);
            match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
                (Some(folder), Some(file)) => match Directory::open(folder)?.remove(file) {
                    Err(e) if e.kind() != ErrorKind::NotFound => return Err(e.into()),
                    _ => {}
                },
                _ => unreachable!("it was written"),
            }
        }
        self.files.insert(DATA_FILE.to_string());
        Ok(())
    }
}

/// Puts a copy and the increments that follow it into a directory that has nothing of them. `progress` is told the name of the copy and
/// bytes of its data file that are done, of how many. What is there after an error is no copy. Answers the manifest of the last one.
///
/// Errors: something is damaged or missing, the copies do not follow each other, or there is no room.
pub fn restore(sources: &mut [Source], target: &Folder, progress: &mut dyn FnMut(&str, u64, u64)) -> Result<Manifest> {
    let mut before: Option<Manifest> = None;
    let mut files = BTreeSet::new();
    for source in sources {
        let name = source.name();
        let mut layer = Layer {
            target,
            before: before.as_ref(),
            manifest: Manifest::default(),
            came: PageSet::default(),
            runs: Vec::new(),
            files: std::mem::take(&mut files),
        };
        let read = source.read(&mut |frame| {
            layer.take(&frame)?;
            if let Frame::Progress(done) = frame {
                progress(&name, done, layer.manifest.pages * PAGE_BYTES);
            }
            Ok(())
        });
        read.map_err(|e| Error(format!("'{name}': {e}")))?;
        let done = layer.manifest;
        files = layer.files;
        before = Some(done);
    }
    before.ok_or_else(|| Error("no backup is named".to_string()))
}
