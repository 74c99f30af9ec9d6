//! Where the files of a copy go: a directory here, or whoever is at the other end of a connection.

use crate::error::{ErrorKind, Op, Result};
use crate::{Directory, Error, File, OpenOptions};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use sync::{Mutex, Rank};

/// Takes files in pieces. A file's name has `/` between folders, and is in no order with other files' pieces.
pub trait Destination: Send + Sync {
    /// Writes a piece; a file is made by the first one.
    fn write_at(&self, file: &str, bytes: &[u8], offset: u64) -> Result<()>;

    /// The file is whole: it gets this length, zeros where nothing was written, and is durable. `solid`: the zeros take room, so that
    /// whoever writes there later does not run out of it.
    fn finish(&self, file: &str, len: u64, solid: bool) -> Result<()>;

    /// A file of few bytes.
    fn put(&self, file: &str, bytes: &[u8]) -> Result<()> {
        self.write_at(file, bytes, 0)?;
        self.finish(file, bytes.len() as u64, false)
    }
}

/// Says that the files beside it are not all there yet.
const UNFINISHED: &str = "unfinished";

/// A directory, whose folders are made as files need them.
pub struct Folder {
    root: Directory,
    /// Files that are not whole yet.
    open: Mutex<HashMap<String, Arc<File>>>,
    /// Names of files that are their owner's alone.
    private: &'static [&'static str],
}

impl Folder {
    /// A directory that is there.
    pub fn open(path: &Path) -> Result<Folder> {
        Ok(Folder { root: Directory::open(path)?, open: Mutex::new(Rank::Kernel, HashMap::new()), private: &[] })
    }

    /// Makes files of these names their owner's alone.
    pub fn with_private(self, private: &'static [&'static str]) -> Folder {
        Folder { private, ..self }
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Puts an empty file there until [`Folder::drop_unfinished`], so that from the first moment nobody takes the directory for one
    /// with nothing in it.
    pub fn mark_unfinished(&self) -> Result<()> {
        self.file(UNFINISHED).map(drop)
    }

    /// The file, opened or made. Error: the name leads out of the directory.
    fn file(&self, name: &str) -> Result<Arc<File>> {
        if let Some(file) = self.open.lock().get(name) {
            return Ok(file.clone());
        }
        if name.split('/').any(|part| part.is_empty() || part == "." || part == "..") || name.contains('\0') {
            let path = self.root.path();
            return Err(Error::with_kind(Op::Open, path, ErrorKind::Denied, format!("'{name}' is no name of a file")));
        }
        if let Some((folders, _)) = name.rsplit_once('/') {
            let mut path = self.root.path().to_path_buf();
            for folder in folders.split('/') {
                path.push(folder);
                Directory::open_or_create(&path)?;
            }
        }
        let options =
            OpenOptions { private: self.private.contains(&name), ..OpenOptions::create(sync::waits::Wait::MiscFile) };
        let file = Arc::new(self.root.open_file(name, options)?);
        self.open.lock().insert(name.to_string(), file.clone());
        Ok(file)
    }

    /// Removes files that were begun and are not whole, and the mark.
    pub fn drop_unfinished(&self) -> Result<()> {
        let names: Vec<String> = self.open.lock().drain().map(|(name, _)| name).collect();
        names.iter().try_for_each(|name| self.root.remove(name))
    }

    /// Makes the names durable.
    pub fn sync(&self) -> Result<()> {
        self.root.sync()
    }
}

impl Destination for Folder {
    fn write_at(&self, file: &str, bytes: &[u8], offset: u64) -> Result<()> {
        self.file(file)?.write_at(bytes, offset)
    }

    fn finish(&self, name: &str, len: u64, solid: bool) -> Result<()> {
        let file = self.file(name)?;
        file.truncate(len)?;
        if solid {
            file.allocate(0, len)?;
        }
        file.sync_all()?;
        self.open.lock().remove(name);
        match name.rsplit_once('/') {
            Some((folders, _)) => Directory::open(self.root.path().join(folders))?.sync(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_marked_until_it_is_whole() {
        let root = std::env::temp_dir().join(format!("clearway-folder-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let names = || {
            let entries = std::fs::read_dir(&root).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let folder = Folder::open(&root).unwrap();
        folder.mark_unfinished().unwrap();
        assert_eq!(names(), [UNFINISHED]);
        folder.put("whole", b"1").unwrap();
        folder.write_at("begun", b"2", 0).unwrap();
        assert_eq!(names(), ["begun", UNFINISHED, "whole"]);
        folder.drop_unfinished().unwrap();
        assert_eq!(names(), ["whole"]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
