//! Directories: changes of names that survive a crash.

use crate::error::{ErrorKind, Result};
use crate::file::File;
use crate::kernel;
use crate::options::OpenOptions;
use crate::overlay::{Overlay, overlay_of};
#[cfg(any(test, feature = "faults"))]
use crate::{error::Op, faults};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    backend: Backend,
    path: Box<Path>,
}

#[derive(Debug)]
enum Backend {
    Kernel(OwnedFd),
    Overlay(Overlay),
    #[cfg(any(test, feature = "faults"))]
    Simulated(faults::SimDisk),
}

impl Directory {
    /// Opens an existing directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Directory> {
        let path = path.as_ref();
        if let Some(overlay) = overlay_of(path) {
            overlay.open_directory(path)?;
            return Ok(Directory { backend: Backend::Overlay(overlay), path: path.into() });
        }
        #[cfg(any(test, feature = "faults"))]
        if let Some(disk) = faults::disk_of(path) {
            disk.open_directory(path)?;
            return Ok(Directory { backend: Backend::Simulated(disk), path: path.into() });
        }
        Ok(Directory { backend: Backend::Kernel(kernel::open_directory(path)?), path: path.into() })
    }

    /// Makes the directory, flushes its parent, and opens it. `AlreadyExists` when the name is taken.
    pub fn create(path: impl AsRef<Path>) -> Result<Directory> {
        let path = path.as_ref();
        if let Some(overlay) = overlay_of(path) {
            overlay.create_directory(path)?;
            return Ok(Directory { backend: Backend::Overlay(overlay), path: path.into() });
        }
        #[cfg(any(test, feature = "faults"))]
        {
            if let Some(disk) = faults::disk_of(path) {
                disk.create_directory(path)?;
                return Ok(Directory { backend: Backend::Simulated(disk), path: path.into() });
            }
            faults::process(Op::CreateDirectory, path, 0)?;
        }
        kernel::create_directory(path)?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        kernel::sync_directory(&kernel::open_directory(parent)?, parent)?;
        Directory::open(path)
    }

    /// Opens the directory, made if need be.
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Directory> {
        match Directory::create(path.as_ref()) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Directory::open(path),
            made => made,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a name in this directory.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file here. A file made by it keeps its name in a crash only after [`Directory::sync`].
    pub fn open_file(&self, name: &str, options: OpenOptions) -> Result<File> {
        File::open(self.path.join(name), options)
    }

    /// Names of files and directories here, sorted.
    pub fn list(&self) -> Result<Vec<String>> {
        match &self.backend {
            Backend::Kernel(fd) => kernel::list(fd, &self.path),
            Backend::Overlay(overlay) => overlay.list(&self.path),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(disk) => disk.list(&self.path),
        }
    }

    /// Whether there is something of this name.
    pub fn contains(&self, name: &str) -> Result<bool> {
        Ok(self.list()?.iter().any(|known| known == name))
    }

    /// Renames, replacing what had the name `to`, and flushes the directory: after a crash either the old or the new state,
    /// after return the new.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::Rename, &self.path.join(from), 0)?;
                kernel::rename(fd, &self.path, from, to)?;
            }
            Backend::Overlay(overlay) => overlay.rename(&self.path.join(from), &self.path.join(to))?,
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(disk) => disk.rename(&self.path.join(from), &self.path.join(to))?,
        }
        sync::waits::files::renamed(&self.path.join(from), &self.path.join(to));
        self.sync()
    }

    /// Removes a file and flushes the directory.
    pub fn remove(&self, name: &str) -> Result<()> {
        match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::Remove, &self.path.join(name), 0)?;
                kernel::remove(fd, &self.path, name)?;
            }
            Backend::Overlay(overlay) => overlay.remove(&self.path.join(name))?,
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(disk) => disk.remove(&self.path.join(name))?,
        }
        self.sync()
    }

    /// Removes a directory with all that is in it. Of the kernel's files alone: neither an overlay nor a simulated disk is asked.
    pub fn remove_tree(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        kernel::remove_tree(path)
    }

    /// Makes the directory's names durable.
    pub fn sync(&self) -> Result<()> {
        match &self.backend {
            Backend::Kernel(fd) => {
                #[cfg(any(test, feature = "faults"))]
                faults::process(Op::SyncDirectory, &self.path, 0)?;
                kernel::sync_directory(fd, &self.path)
            }
            Backend::Overlay(_) => Ok(()),
            #[cfg(any(test, feature = "faults"))]
            Backend::Simulated(disk) => disk.sync_directory(&self.path),
        }
    }
}
