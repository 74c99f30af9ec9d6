//! A directory to look at and to leave as it is: whoever opens files below it may write, and the writes go elsewhere.
//!
//! ```text
//!   reads   a block that was written ──► scratch file without a name
//!           any other                ──► the file itself, opened for reading
//!   writes  whole blocks             ──► scratch
//!   names   made, renamed, removed   ──► a map in memory
//! ```
//!
//! So a program that must write to get anywhere, as recovery after a crash must, runs on data that nobody changes. In memory is
//! a word for each block that was written. Locks are the files' own: a process that holds one keeps the overlay out.

use crate::error::{Error, ErrorKind, Op, Result};
use crate::file::File;
use crate::kernel;
use crate::options::OpenOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sync::{Mutex, Rank};

const BLOCK: usize = 4096;

/// The overlays of this process, by the path that they lie over.
static MOUNTS: Mutex<Vec<Overlay>> = Mutex::new(Rank::Kernel, Vec::new());

/// An overlay over a directory; clones are handles on the same one.
#[derive(Clone, Debug)]
pub struct Overlay {
    root: Arc<Path>,
    names: Arc<Mutex<Names>>,
    scratch: Arc<Scratch>,
}

/// What has become of names.
#[derive(Debug, Default)]
struct Names {
    /// Files that were opened, and those that are gone (`None`), by path. All others are the directory's own.
    files: BTreeMap<PathBuf, Option<Arc<Node>>>,
    /// Directories that were made.
    directories: BTreeSet<PathBuf>,
}

/// Where blocks go that were written.
#[derive(Debug)]
struct Scratch {
    file: File,
    /// Blocks in it.
    used: Mutex<u64>,
}

/// A file as the overlay shows it.
#[derive(Debug)]
struct Node {
    /// The directory's own file; `None`: there is none.
    base: Option<OwnedFd>,
    state: Mutex<NodeState>,
    scratch: Arc<Scratch>,
}

#[derive(Debug)]
struct NodeState {
    len: u64,
    /// So many bytes of the own file show; what lies behind was cut off.
    base_len: u64,
    /// Where in the scratch file a written block is, by its number.
    blocks: BTreeMap<u64, u64>,
}

/// An open file of an overlay.
#[derive(Debug)]
pub(crate) struct OverlayFile {
    node: Arc<Node>,
    writable: bool,
}

/// The overlay that `path` is below, or none.
pub(crate) fn overlay_of(path: &Path) -> Option<Overlay> {
    MOUNTS.lock().iter().find(|overlay| path.starts_with(&overlay.root)).cloned()
}

impl Overlay {
    /// From now on this process changes nothing below `root`, an existing directory. What it writes there goes to a file without a
    /// name in `scratch`, and shows for as long as the overlay is mounted.
    pub fn mount(root: impl AsRef<Path>, scratch: impl AsRef<Path>) -> Result<Overlay> {
        let root: Arc<Path> = root.as_ref().into();
        kernel::open_directory(&root)?;
        let scratch =
            Scratch { file: File::unnamed(scratch, sync::waits::Wait::CloneFile)?, used: Mutex::new(Rank::Kernel, 0) };
        let overlay =
            Overlay { root, names: Arc::new(Mutex::new(Rank::Kernel, Names::default())), scratch: Arc::new(scratch) };
        let mut mounts = MOUNTS.lock();
        let taken =
            mounts.iter().any(|other| other.root.starts_with(&overlay.root) || overlay.root.starts_with(&other.root));
        assert!(!taken, "there is an overlay over {} already", overlay.root.display());
        mounts.push(overlay.clone());
        Ok(overlay)
    }

    /// Takes the overlay away: what was written is forgotten.
    pub fn unmount(self) {
        MOUNTS.lock().retain(|other| !Arc::ptr_eq(&other.names, &self.names));
    }

    pub(crate) fn open(&self, path: &Path, options: &OpenOptions) -> Result<OverlayFile> {
        // Held until the file is entered: a path has one node.
        let mut names = self.names.lock();
        let known = match names.files.get(path) {
            Some(node) => node.clone(),
            None => self.find(path)?,
        };
        let node = match known {
            Some(_) if options.create_new => {
                return Err(refused(Op::Open, path, ErrorKind::AlreadyExists, "it exists"));
            }
            Some(node) => node,
            None if options.create || options.create_new => {
                let parent = path.parent().unwrap_or(path);
                if !names.directories.contains(parent) {
                    kernel::open_directory(parent)?;
                }
                self.node(None, 0)
            }
            None => return Err(refused(Op::Open, path, ErrorKind::NotFound, "no such file")),
        };
        names.files.insert(path.to_owned(), Some(Arc::clone(&node)));
        drop(names);
        if options.truncate {
            node.truncate(path, 0)?;
        }
        Ok(OverlayFile { node, writable: options.write })
    }

    /// The directory's own file.
    fn find(&self, path: &Path) -> Result<Option<Arc<Node>>> {
        match kernel::open(path, &OpenOptions::read(sync::waits::Wait::MiscFile)) {
            Ok((fd, _)) => {
                let len = kernel::len(&fd, path)?;
                Ok(Some(self.node(Some(fd), len)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn node(&self, base: Option<OwnedFd>, len: u64) -> Arc<Node> {
        let state = NodeState { len, base_len: len, blocks: BTreeMap::new() };
        Arc::new(Node { base, state: Mutex::new(Rank::Kernel, state), scratch: Arc::clone(&self.scratch) })
    }

    pub(crate) fn open_directory(&self, path: &Path) -> Result<()> {
        if self.names.lock().directories.contains(path) {
            return Ok(());
        }
        kernel::open_directory(path).map(drop)
    }

    pub(crate) fn create_directory(&self, path: &Path) -> Result<()> {
        match self.open_directory(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.names.lock().directories.insert(path.to_owned());
                Ok(())
            }
            Err(error) => Err(error),
            Ok(()) => Err(refused(Op::CreateDirectory, path, ErrorKind::AlreadyExists, "it exists")),
        }
    }

    pub(crate) fn list(&self, path: &Path) -> Result<Vec<String>> {
        let mut found = BTreeSet::new();
        if !self.names.lock().directories.contains(path) {
            found.extend(kernel::list(&kernel::open_directory(path)?, path)?);
        }
        let name_of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let names = self.names.lock();
        for (file, node) in names.files.iter().filter(|(file, _)| file.parent() == Some(path)) {
            let Some(name) = name_of(file) else { continue };
            match node {
                Some(_) => drop(found.insert(name)),
                None => drop(found.remove(&name)),
            }
        }
        found.extend(
            names.directories.iter().filter(|made| made.parent() == Some(path)).filter_map(|made| name_of(made)),
        );
        Ok(found.into_iter().collect())
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let node = self.open(from, &OpenOptions::read(sync::waits::Wait::MiscFile))?.node;
        let mut names = self.names.lock();
        names.files.insert(from.to_owned(), None);
        names.files.insert(to.to_owned(), Some(node));
        Ok(())
    }

    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        self.open(path, &OpenOptions::read(sync::waits::Wait::MiscFile))?;
        self.names.lock().files.insert(path.to_owned(), None);
        Ok(())
    }
}

fn refused(op: Op, path: &Path, kind: ErrorKind, why: &str) -> Error {
    Error::with_kind(op, path, kind, why)
}

impl Node {
    /// Fills `buf` from `offset` as far as the file goes.
    fn read(&self, path: &Path, state: &NodeState, buf: &mut [u8], offset: u64) -> Result<usize> {
        let len = (buf.len() as u64).min(state.len.saturating_sub(offset)) as usize;
        let mut at = 0;
        while at < len {
            let position = offset + at as u64;
            let (number, within) = (position / BLOCK as u64, (position % BLOCK as u64) as usize);
            let piece = &mut buf[at..len.min(at + BLOCK - within)];
            at += piece.len();
            match state.blocks.get(&number) {
                Some(place) => self.scratch.file.read_at(piece, place * BLOCK as u64 + within as u64)?,
                None => self.read_base(path, state, piece, position)?,
            }
        }
        Ok(len)
    }

    /// The own file's bytes, zeros where it has none.
    fn read_base(&self, path: &Path, state: &NodeState, piece: &mut [u8], position: u64) -> Result<()> {
        let here = (piece.len() as u64).min(state.base_len.saturating_sub(position)) as usize;
        let (own, rest) = piece.split_at_mut(here);
        rest.fill(0);
        match &self.base {
            Some(fd) if here > 0 => {
                let got = kernel::read_up_to(fd, path, own, position)?;
                own[got..].fill(0);
            }
            _ => own.fill(0),
        }
        Ok(())
    }

    fn write(&self, path: &Path, bytes: &[u8], offset: u64) -> Result<()> {
        let mut state = self.state.lock_same_rank();
        let end = offset + bytes.len() as u64;
        state.len = state.len.max(end);
        let mut at = 0;
        while at < bytes.len() {
            let position = offset + at as u64;
            let (number, within) = (position / BLOCK as u64, (position % BLOCK as u64) as usize);
            let piece = &bytes[at..bytes.len().min(at + BLOCK - within)];
            at += piece.len();
            let mut block = [0; BLOCK];
            if piece.len() < BLOCK {
                self.read(path, &state, &mut block, number * BLOCK as u64)?;
            }
            block[within..within + piece.len()].copy_from_slice(piece);
            let place = match state.blocks.get(&number) {
                Some(place) => *place,
                None => self.scratch.take(),
            };
            self.scratch.file.write_at(&block, place * BLOCK as u64)?;
            state.blocks.insert(number, place);
        }
        Ok(())
    }

    fn truncate(&self, path: &Path, len: u64) -> Result<()> {
        let within = len as usize % BLOCK;
        let is_cut = len < self.state.lock_same_rank().len;
        if is_cut && within > 0 {
            // The rest of the last block would show again if the file grew.
            self.write(path, &[0; BLOCK][within..], len)?;
        }
        let mut state = self.state.lock_same_rank();
        state.base_len = state.base_len.min(len);
        state.blocks.split_off(&len.div_ceil(BLOCK as u64));
        state.len = len;
        Ok(())
    }
}

impl Scratch {
    /// A block that nobody has.
    fn take(&self) -> u64 {
        let mut used = self.used.lock_same_rank();
        *used += 1;
        *used - 1
    }
}

impl OverlayFile {
    fn require_writable(&self, op: Op, path: &Path) -> Result<()> {
        if self.writable { Ok(()) } else { Err(refused(op, path, ErrorKind::Other, "opened for reading only")) }
    }

    pub(crate) fn read_up_to(&self, path: &Path, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.node.read(path, &self.node.state.lock_same_rank(), buf, offset)
    }

    pub(crate) fn write_all(&self, path: &Path, bufs: &[IoSlice<'_>], mut offset: u64) -> Result<()> {
        self.require_writable(Op::Write, path)?;
        for buf in bufs {
            self.node.write(path, buf, offset)?;
            offset += buf.len() as u64;
        }
        Ok(())
    }

    pub(crate) fn allocate(&self, path: &Path, end: u64) -> Result<()> {
        self.require_writable(Op::Allocate, path)?;
        let mut state = self.node.state.lock_same_rank();
        state.len = state.len.max(end);
        Ok(())
    }

    pub(crate) fn truncate(&self, path: &Path, len: u64) -> Result<()> {
        self.require_writable(Op::Truncate, path)?;
        self.node.truncate(path, len)
    }

    pub(crate) fn len(&self) -> u64 {
        self.node.state.lock_same_rank().len
    }

    /// Locks the directory's own file.
    pub(crate) fn lock(&self, path: &Path) -> Result<()> {
        self.node.base.as_ref().map_or(Ok(()), |fd| kernel::lock_exclusive(fd, path))
    }
}
