//! A simulated disk: files in memory that distinguish what was written from what is durable.
//!
//! ```text
//!             write            sync_data
//!  caller ───────────► view ──────────────► durable      per file: bytes
//!             │                  ▲
//!             └─► pending ───────┘          writes and lengths since the last flush, in order
//!
//!             create, rename, remove      sync of the directory
//!  caller ───────────────────────► names ─────────────► durable names
//! ```
//!
//! A crash forgets the views. A reboot then decides by the seed, for each pending write, whether it reached the platter whole,
//! not at all, or in some of its 512-byte sectors, in any order across writes and files, as a device without flush may do;
//! and for each directory how many of its pending name changes, from the oldest on, were in the file system's journal.

use super::content::{BLOCK, Change, Content, whole_blocks};
use super::{Action, Random, Rule, Script, Verdict, injected};
use crate::error::{Error, ErrorKind, Op, Result};
use crate::options::OpenOptions;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sync::{Mutex, Rank};

/// What a device writes whole or not at all.
const SECTOR: usize = 512;

/// The simulated disks of this process, by the path that they are mounted at.
static MOUNTS: Mutex<Vec<SimDisk>> = Mutex::new(Rank::Kernel, Vec::new());

/// A handle on a simulated disk; clones are handles on the same one.
#[derive(Clone)]
pub struct SimDisk {
    root: Arc<Path>,
    state: Arc<Mutex<State>>,
}

/// An open file on a simulated disk. Dead after a crash, as a descriptor of a killed process.
#[derive(Debug)]
pub struct SimFile {
    disk: SimDisk,
    inode: usize,
    writable: bool,
    boot: u64,
    /// Unique on its disk.
    handle: u64,
}

struct State {
    inodes: Vec<Inode>,
    /// Names as callers see them.
    names: BTreeMap<PathBuf, Entry>,
    /// Names as a reboot finds them.
    durable_names: BTreeMap<PathBuf, Entry>,
    /// Changes of names since the last flush of the directory that they are in, in order.
    pending_names: Vec<NameChange>,
    script: Script,
    random: Random,
    counts: BTreeMap<Op, u64>,
    /// Of all operations so far.
    digest: u64,
    /// Handles given out so far.
    handles: u64,
    /// Reboots so far; handles of an earlier boot are dead.
    boot: u64,
    powered: bool,
    /// What the device writes whole at most, where it was asked to.
    atomic: Option<usize>,
    witness: Option<Witness>,
}

type Witness = Box<dyn FnMut(&Moment<'_>) + Send>;

/// An operation that is about to change a disk, as a witness sees it.
pub struct Moment<'d> {
    pub op: Op,
    pub path: &'d Path,
    root: &'d Path,
    state: &'d State,
}

/// What was on a disk in one moment, durable or not.
#[derive(Clone)]
pub struct Image {
    root: PathBuf,
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, Entry>,
    durable_names: BTreeMap<PathBuf, Entry>,
    pending_names: Vec<NameChange>,
}

impl Moment<'_> {
    /// The disk as the operation finds it.
    pub fn image(&self) -> Image {
        self.state.image(self.root)
    }
}

impl Image {
    /// A disk at another place, with the power off: [`SimDisk::reboot`] decides what survived the cut.
    pub fn mount(self, root: impl AsRef<Path>, seed: u64) -> SimDisk {
        let root = root.as_ref();
        let moved = |path: PathBuf| match path.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => root.to_owned(),
            Ok(rest) => root.join(rest),
            Err(_) => path,
        };
        let names =
            |names: BTreeMap<PathBuf, Entry>| names.into_iter().map(|(path, entry)| (moved(path), entry)).collect();
        let change = |change| match change {
            NameChange::Set(path, entry) => NameChange::Set(moved(path), entry),
            NameChange::Rename(from, to) => NameChange::Rename(moved(from), moved(to)),
            NameChange::Remove(path) => NameChange::Remove(moved(path)),
        };
        let disk = SimDisk::mount(root, seed);
        let mut state = disk.state.lock();
        state.inodes = self.inodes;
        state.names = names(self.names);
        state.durable_names = names(self.durable_names);
        state.pending_names = self.pending_names.into_iter().map(change).collect();
        state.powered = false;
        drop(state);
        disk
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    File(usize),
    Directory,
}

#[derive(Clone, Debug)]
enum NameChange {
    Set(PathBuf, Entry),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl NameChange {
    fn directory(&self) -> Option<&Path> {
        match self {
            NameChange::Set(path, _) | NameChange::Rename(path, _) | NameChange::Remove(path) => path.parent(),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, Entry>) {
        match self {
            NameChange::Set(path, entry) => {
                names.insert(path.clone(), *entry);
            }
            NameChange::Rename(from, to) => {
                if let Some(entry) = names.remove(from) {
                    names.insert(to.clone(), entry);
                }
            }
            NameChange::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

#[derive(Clone, Default)]
struct Inode {
    view: Content,
    durable: Content,
    pending: Vec<Change>,
    /// The handle that holds the lock.
    holder: Option<u64>,
}

/// The simulated disk that `path` is on, or none.
pub fn disk_of(path: &Path) -> Option<SimDisk> {
    MOUNTS.lock().iter().find(|disk| path.starts_with(&disk.root)).cloned()
}

impl std::fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SimDisk({})", self.root.display())
    }
}

impl SimDisk {
    /// Puts an empty disk under `root`, a path that exists nowhere else (`/sim/name-of-the-test`). All its random choices
    /// follow `seed`.
    pub fn mount(root: impl AsRef<Path>, seed: u64) -> SimDisk {
        let root: Arc<Path> = root.as_ref().into();
        let names = BTreeMap::from([(root.to_path_buf(), Entry::Directory)]);
        let state = State {
            inodes: Vec::new(),
            durable_names: names.clone(),
            names,
            pending_names: Vec::new(),
            script: Script::seeded(seed),
            random: Random::new(!seed),
            counts: BTreeMap::new(),
            digest: 0,
            handles: 0,
            boot: 0,
            powered: true,
            atomic: None,
            witness: None,
        };
        let disk = SimDisk { root, state: Arc::new(Mutex::new(Rank::Kernel, state)) };
        let mut mounts = MOUNTS.lock();
        let taken = mounts.iter().any(|other| other.root.starts_with(&disk.root) || disk.root.starts_with(&other.root));
        assert!(!taken, "a simulated disk is mounted at {} already", disk.root.display());
        mounts.push(disk.clone());
        disk
    }

    /// Takes the disk out of the namespace.
    pub fn unmount(self) {
        MOUNTS.lock().retain(|other| !Arc::ptr_eq(&other.state, &self.state));
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// From now on the device makes writes of up to so many bytes whole or not at all, where it is asked to.
    pub fn set_atomic_write_bytes(&self, bytes: usize) {
        self.state.lock().atomic = Some(bytes);
    }

    /// Replaces the script.
    pub fn set_script(&self, script: Script) {
        self.state.lock().script = script;
    }

    /// The power fails at the `nth` operation from now on (1 is the next), before it does anything.
    pub fn crash_at(&self, op: Op, nth: u64) {
        self.state.lock().script.push(Rule::new(Action::Crash, Some(op), nth));
    }

    /// The power fails at the `nth` write from now on, of which a random part is done.
    pub fn tear_at(&self, nth: u64) {
        self.state.lock().script.push(Rule::new(Action::Tear, Some(Op::Write), nth));
    }

    /// The power fails at the `nth` operation from now on that changes anything: the loop over `n` visits every state.
    pub fn crash_at_change(&self, nth: u64) {
        self.state.lock().script.push(Rule::new(Action::Crash, None, nth));
    }

    /// The `nth` operation from now on, and each one after it, answers with a device error.
    pub fn fail_from(&self, op: Op, nth: u64) {
        self.state.lock().script.push(Rule::new(Action::Fail, Some(op), nth));
    }

    /// Calls `witness` before each operation from now on that changes something. It may take an [`Image`] and may wait, but must not
    /// touch this disk. For programs that end themselves when their disk dies: cut the power on an image, not on them.
    pub fn set_witness(&self, witness: impl FnMut(&Moment<'_>) + Send + 'static) {
        self.state.lock().witness = Some(Box::new(witness));
    }

    /// Bytes by which files may still grow before the disk is full; none: no limit. Cutting and removing files makes room.
    pub fn set_room(&self, bytes: Option<u64>) {
        self.state.lock().script.set_budget(bytes, "");
    }

    /// As [`SimDisk::set_room`], for files whose paths contain `part`.
    pub fn set_room_within(&self, bytes: Option<u64>, part: &str) {
        self.state.lock().script.set_budget(bytes, part);
    }

    /// Operations of this kind so far.
    pub fn count(&self, op: Op) -> u64 {
        self.state.lock().counts.get(&op).copied().unwrap_or(0)
    }

    /// Operations so far that change something: the bound for a loop over [`SimDisk::crash_at_change`].
    pub fn changes(&self) -> u64 {
        const CHANGES: [Op; 9] = [
            Op::Write,
            Op::Sync,
            Op::Allocate,
            Op::Punch,
            Op::Truncate,
            Op::CreateDirectory,
            Op::Rename,
            Op::Remove,
            Op::SyncDirectory,
        ];
        CHANGES.iter().map(|op| self.count(*op)).sum()
    }

    /// A digest of all operations so far: what was asked, of which file, how many bytes. Two runs with the same digest took the
    /// same way.
    pub fn digest(&self) -> u64 {
        self.state.lock().digest
    }

    /// Whether the power has failed.
    pub fn is_down(&self) -> bool {
        !self.state.lock().powered
    }

    /// What is on the disk now.
    pub fn image(&self) -> Image {
        self.state.lock().image(&self.root)
    }

    /// Switches the power off, as a crash rule does.
    pub fn crash(&self) {
        self.state.lock().powered = false;
    }

    /// The process dies and its successor starts: handles are dead, locks are free, rules are dropped. What was written and not
    /// flushed is still there, in the kernel's memory.
    pub fn restart(&self) {
        let mut state = self.state.lock();
        let state = &mut *state;
        assert!(state.powered, "without power nothing restarts");
        state.inodes.iter_mut().for_each(|inode| inode.holder = None);
        state.script = Script::seeded(state.random.next());
        state.boot += 1;
    }

    /// Switches the power off if it is on, decides what of the unflushed state survived, drops all rules, and switches the
    /// power on. Handles from before stay dead.
    pub fn reboot(&self) {
        let mut state = self.state.lock();
        let state = &mut *state;
        let random = &mut state.random;
        for inode in &mut state.inodes {
            for change in inode.pending.drain(..) {
                survive(&change, &mut inode.durable, random);
            }
            inode.view = inode.durable.clone();
            inode.holder = None;
        }
        let mut cut: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for change in &state.pending_names {
            *cut.entry(change.directory().map(Path::to_owned).unwrap_or_default()).or_default() += 1;
        }
        for kept in cut.values_mut() {
            *kept = random.below(*kept + 1);
        }
        for change in state.pending_names.drain(..) {
            let left = cut.get_mut(change.directory().unwrap_or(Path::new(""))).expect("counted above");
            if *left > 0 {
                *left -= 1;
                change.apply(&mut state.durable_names);
            }
        }
        // A name below a directory that did not survive is unreachable.
        let durable = &state.durable_names;
        let reachable = |path: &PathBuf| {
            path.ancestors().skip(1).take_while(|a| a.starts_with(&self.root)).all(|a| durable.contains_key(a))
        };
        state.names = durable.iter().filter(|(path, _)| reachable(path)).map(|(p, e)| (p.clone(), *e)).collect();
        state.durable_names = state.names.clone();
        state.script = Script::seeded(random.next());
        state.boot += 1;
        state.powered = true;
    }

    /// The durable bytes of a file: what is certain to survive.
    pub fn durable_bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let state = self.state.lock();
        match state.durable_names.get(path.as_ref())? {
            Entry::File(inode) => Some(state.inodes[*inode].durable.to_vec()),
            Entry::Directory => None,
        }
    }

    /// Flips bits of a file where it lies, durable and in view: rot. True if the file reaches that far.
    pub fn corrupt(&self, path: impl AsRef<Path>, offset: usize, flip: u8) -> bool {
        let mut state = self.state.lock();
        let Some(Entry::File(inode)) = state.names.get(path.as_ref()).copied() else { return false };
        let inode = &mut state.inodes[inode];
        if let Some(byte) = inode.durable.get_mut(offset) {
            *byte ^= flip;
        }
        inode.view.get_mut(offset).map(|byte| *byte ^= flip).is_some()
    }

    // ---- the operations, as File and Directory call them

    pub(crate) fn open(&self, path: &Path, options: &OpenOptions) -> Result<SimFile> {
        let mut state = self.begin(Op::Open, path)?;
        let inode = match state.names.get(path).copied() {
            Some(Entry::Directory) => return Err(refused(Op::Open, path, ErrorKind::Other, "it is a directory")),
            Some(Entry::File(_)) if options.create_new => {
                return Err(refused(Op::Open, path, ErrorKind::AlreadyExists, "it exists"));
            }
            Some(Entry::File(inode)) => inode,
            None if options.create || options.create_new => {
                state.require_parent(Op::Open, path)?;
                state.inodes.push(Inode::default());
                let inode = state.inodes.len() - 1;
                state.change_names(NameChange::Set(path.to_owned(), Entry::File(inode)));
                inode
            }
            None => return Err(refused(Op::Open, path, ErrorKind::NotFound, "no such file")),
        };
        if options.truncate {
            state.set_length(path, inode, 0);
        }
        state.handles += 1;
        let (boot, handle) = (state.boot, state.handles);
        drop(state);
        Ok(SimFile { disk: self.clone(), inode, writable: options.write, boot, handle })
    }

    pub(crate) fn open_directory(&self, path: &Path) -> Result<()> {
        let state = self.begin(Op::Open, path)?;
        match state.names.get(path) {
            Some(Entry::Directory) => Ok(()),
            Some(Entry::File(_)) => Err(refused(Op::Open, path, ErrorKind::NotFound, "not a directory")),
            None => Err(refused(Op::Open, path, ErrorKind::NotFound, "no such directory")),
        }
    }

    /// Durable at once: `Directory::create` flushes the parent.
    pub(crate) fn create_directory(&self, path: &Path) -> Result<()> {
        let mut state = self.begin(Op::CreateDirectory, path)?;
        if state.names.contains_key(path) {
            return Err(refused(Op::CreateDirectory, path, ErrorKind::AlreadyExists, "it exists"));
        }
        state.require_parent(Op::CreateDirectory, path)?;
        state.change_names(NameChange::Set(path.to_owned(), Entry::Directory));
        drop(state);
        self.sync_directory(path.parent().expect("a directory on a disk has a parent"))
    }

    pub(crate) fn list(&self, path: &Path) -> Result<Vec<String>> {
        let state = self.begin(Op::List, path)?;
        let here = state.names.keys().filter(|name| name.parent() == Some(path));
        Ok(here.filter_map(|name| Some(name.file_name()?.to_str()?.to_owned())).collect())
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut state = self.begin(Op::Rename, from)?;
        if !matches!(state.names.get(from), Some(Entry::File(_))) {
            return Err(refused(Op::Rename, from, ErrorKind::NotFound, "no such file"));
        }
        state.change_names(NameChange::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        let mut state = self.begin(Op::Remove, path)?;
        let Some(Entry::File(inode)) = state.names.get(path).copied() else {
            return Err(refused(Op::Remove, path, ErrorKind::NotFound, "no such file"));
        };
        state.change_names(NameChange::Remove(path.to_owned()));
        let room = state.inodes[inode].view.allocated() as u64;
        state.script.refund(path, room);
        Ok(())
    }

    pub(crate) fn sync_directory(&self, path: &Path) -> Result<()> {
        let mut state = self.begin(Op::SyncDirectory, path)?;
        let state = &mut *state;
        let durable = &mut state.durable_names;
        state.pending_names.retain(|change| {
            let here = change.directory() == Some(path);
            if here {
                change.apply(durable);
            }
            !here
        });
        Ok(())
    }

    /// Counts the operation, asks the script, and hands out the state if the operation is to be done.
    fn begin(&self, op: Op, path: &Path) -> Result<sync::MutexGuard<'_, State>> {
        let mut state = self.state.lock();
        state.admit(&self.root, op, path, 0, 0)?;
        Ok(state)
    }
}

impl State {
    /// Counts the operation and asks the script. `Some(n)`: do the first `n` bytes of the write, then the power is off.
    fn admit(&mut self, root: &Path, op: Op, path: &Path, bytes: usize, growth: u64) -> Result<Option<usize>> {
        if !self.powered {
            return Err(power_failed(op, path));
        }
        if super::script::is_change(op)
            && let Some(mut witness) = self.witness.take()
        {
            witness(&Moment { op, path, root, state: self });
            self.witness = Some(witness);
        }
        *self.counts.entry(op).or_default() += 1;
        self.note(root, op, path, bytes, growth);
        match self.script.judge(op, path, bytes, growth) {
            Verdict::Go => Ok(None),
            Verdict::Fail(kind) => Err(injected(op, path, kind)),
            Verdict::Crash => {
                self.powered = false;
                Err(power_failed(op, path))
            }
            Verdict::Tear(keep) => {
                self.powered = false;
                Ok(Some(keep))
            }
        }
    }

    fn note(&mut self, root: &Path, op: Op, path: &Path, bytes: usize, growth: u64) {
        let name = path.strip_prefix(root).unwrap_or(path).as_os_str().as_encoded_bytes();
        let numbers = [op as u64, bytes as u64, growth].into_iter();
        for number in numbers.chain(name.iter().map(|byte| u64::from(*byte))) {
            self.digest = Random::new(self.digest ^ number).next();
        }
    }

    /// A flush failed: the kernel takes the pages for clean, whatever reached the device, and never writes them again. Lengths
    /// and blocks are in the file system's journal.
    fn forget_unflushed(&mut self, inode: usize) {
        let Inode { durable, pending, .. } = &mut self.inodes[inode];
        for change in std::mem::take(pending) {
            match change {
                Change::Length(_) | Change::Allocate { .. } | Change::Punch { .. } => pending.push(change),
                Change::Write { .. } | Change::WholeWrite { .. } => survive(&change, durable, &mut self.random),
            }
        }
    }

    fn image(&self, root: &Path) -> Image {
        Image {
            root: root.to_owned(),
            inodes: self.inodes.clone(),
            names: self.names.clone(),
            durable_names: self.durable_names.clone(),
            pending_names: self.pending_names.clone(),
        }
    }

    /// Makes the length of a file `len`, whatever the script says of growth.
    fn set_length(&mut self, path: &Path, inode: usize, len: usize) {
        let before = self.inodes[inode].view.allocated();
        self.inodes[inode].change(Change::Length(len));
        let after = self.inodes[inode].view.allocated();
        self.script.refund(path, before.saturating_sub(after) as u64);
    }

    fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    fn require_parent(&self, op: Op, path: &Path) -> Result<()> {
        let parent = path.parent().and_then(|parent| self.names.get(parent));
        if parent == Some(&Entry::Directory) {
            return Ok(());
        }
        Err(refused(op, path, ErrorKind::NotFound, "no such directory"))
    }
}

impl Inode {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.view);
        self.pending.push(change);
    }
}

/// What becomes of a change that was never flushed: nothing, all of it, or a part.
fn survive(change: &Change, durable: &mut Content, random: &mut Random) {
    match random.below(3) {
        0 => {}
        1 => change.apply(durable),
        _ => tear(change, durable, random),
    }
}

/// Applies a change as a device does that loses power meanwhile: each sector of a write and each block of a hole on its own; what
/// it promised to write whole, whole; a length not at all.
fn tear(change: &Change, durable: &mut Content, random: &mut Random) {
    if let Change::WholeWrite { .. } = change {
        change.apply(durable);
    }
    if let Change::Punch { offset, len } = change {
        for block in whole_blocks(*offset..offset + len) {
            if random.below(2) == 0 {
                Change::Punch { offset: block * BLOCK, len: BLOCK }.apply(durable);
            }
        }
    }
    let Change::Write { offset, bytes } = change else { return };
    let mut at = 0;
    while at < bytes.len() {
        let position = offset + at;
        let len = (SECTOR - position % SECTOR).min(bytes.len() - at);
        if random.below(2) == 0 {
            Change::Write { offset: position, bytes: bytes[at..at + len].to_vec() }.apply(durable);
        }
        at += len;
    }
}

fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).expect("a simulated file fits memory")
}

fn refused(op: Op, path: &Path, kind: ErrorKind, why: &str) -> Error {
    Error::with_kind(op, path, kind, why)
}

fn power_failed(op: Op, path: &Path) -> Error {
    Error::with_kind(op, path, ErrorKind::Device, "the simulated power has failed")
}

impl SimFile {
    fn begin(&self, op: Op, path: &Path) -> Result<sync::MutexGuard<'_, State>> {
        self.begin_change(op, path, 0, |_| 0).map(|(state, _)| state)
    }

    /// As [`State::admit`], where `growth` is a function of the file's content, for handles that may write.
    fn begin_change(
        &self,
        op: Op,
        path: &Path,
        bytes: usize,
        growth: impl FnOnce(&Content) -> usize,
    ) -> Result<(sync::MutexGuard<'_, State>, Option<usize>)> {
        if matches!(op, Op::Write | Op::Allocate | Op::Punch | Op::Truncate) && !self.writable {
            return Err(refused(op, path, ErrorKind::Other, "opened for reading only"));
        }
        let mut state = self.disk.state.lock();
        // A handle from before a crash must not touch the new boot's files.
        if state.boot != self.boot {
            return Err(power_failed(op, path));
        }
        let growth = growth(&state.inodes[self.inode].view) as u64;
        let torn = state.admit(&self.disk.root, op, path, bytes, growth)?;
        Ok((state, torn))
    }

    /// The state, if a rule made a device error of an operation that would have changed something.
    fn after_device_error(&self, error: &Error) -> Option<sync::MutexGuard<'_, State>> {
        let state = self.disk.state.lock();
        let by_rule = error.kind() == ErrorKind::Device && state.powered && state.boot == self.boot;
        by_rule.then_some(state)
    }

    pub(crate) fn read(&self, path: &Path, buf: &mut [u8], offset: u64) -> Result<usize> {
        let state = self.begin(Op::Read, path)?;
        let view = &state.inodes[self.inode].view;
        let start = view.len().min(offset as usize);
        let len = buf.len().min(view.len() - start);
        buf[..len].copy_from_slice(&view[start..start + len]);
        Ok(len)
    }

    pub(crate) fn atomic_write_bytes(&self) -> Option<usize> {
        self.disk.state.lock().atomic
    }

    /// A write that is done or not done, whatever fails meanwhile.
    pub(crate) fn write_whole(&self, path: &Path, bytes: Vec<u8>, offset: u64) -> Result<()> {
        let offset = in_memory(offset);
        let end = offset + bytes.len();
        let begun = self.begin_change(Op::Write, path, bytes.len(), |view| view.missing(offset..end));
        let (mut state, failure) = match begun {
            Ok((state, None)) => (state, None),
            Ok((state, Some(_))) => (state, Some(power_failed(Op::Write, path))),
            Err(error) => match self.after_device_error(&error) {
                Some(state) => (state, Some(error)),
                None => return Err(error),
            },
        };
        assert!(state.atomic.is_some_and(|most| bytes.len() <= most), "the device promises less");
        if failure.is_none() || state.random.below(2) == 0 {
            state.inodes[self.inode].change(Change::WholeWrite { offset, bytes });
        }
        failure.map_or(Ok(()), Err)
    }

    pub(crate) fn write(&self, path: &Path, mut bytes: Vec<u8>, offset: u64) -> Result<()> {
        let offset = in_memory(offset);
        let end = offset + bytes.len();
        let begun = self.begin_change(Op::Write, path, bytes.len(), |view| view.missing(offset..end));
        let (mut state, torn) = match begun {
            Err(error) => {
                if let Some(mut state) = self.after_device_error(&error) {
                    bytes.truncate(state.random.below(bytes.len() as u64 + 1) as usize);
                    state.inodes[self.inode].change(Change::Write { offset, bytes });
                }
                return Err(error);
            }
            Ok(begun) => begun,
        };
        bytes.truncate(torn.unwrap_or(bytes.len()));
        state.inodes[self.inode].change(Change::Write { offset, bytes });
        if torn.is_some() { Err(power_failed(Op::Write, path)) } else { Ok(()) }
    }

    pub(crate) fn sync(&self, path: &Path) -> Result<()> {
        let mut state = match self.begin(Op::Sync, path) {
            Err(error) => {
                if let Some(mut state) = self.after_device_error(&error) {
                    state.forget_unflushed(self.inode);
                }
                return Err(error);
            }
            Ok(state) => state,
        };
        let Inode { durable, pending, .. } = &mut state.inodes[self.inode];
        for change in pending.drain(..) {
            change.apply(durable);
        }
        Ok(())
    }

    pub(crate) fn allocate(&self, path: &Path, offset: u64, len: u64) -> Result<()> {
        let (offset, len) = (in_memory(offset), in_memory(len));
        let (mut state, _) = self.begin_change(Op::Allocate, path, 0, |view| view.missing(offset..offset + len))?;
        state.inodes[self.inode].change(Change::Allocate { offset, len });
        Ok(())
    }

    pub(crate) fn punch(&self, path: &Path, offset: u64, len: u64) -> Result<()> {
        let (mut state, _) = self.begin_change(Op::Punch, path, 0, |_| 0)?;
        let before = state.inodes[self.inode].view.allocated();
        state.inodes[self.inode].change(Change::Punch { offset: in_memory(offset), len: in_memory(len) });
        let after = state.inodes[self.inode].view.allocated();
        state.script.refund(path, (before - after) as u64);
        Ok(())
    }

    pub(crate) fn allocated(&self, path: &Path) -> Result<u64> {
        let state = self.begin(Op::Stat, path)?;
        Ok(state.inodes[self.inode].view.allocated() as u64)
    }

    pub(crate) fn truncate(&self, path: &Path, len: u64) -> Result<()> {
        // Lengthening makes a hole, which takes no room, as on a real disk.
        let (mut state, _) = self.begin_change(Op::Truncate, path, 0, |_| 0)?;
        state.set_length(path, self.inode, in_memory(len));
        Ok(())
    }

    pub(crate) fn len(&self, path: &Path) -> Result<u64> {
        let state = self.begin(Op::Stat, path)?;
        Ok(state.inodes[self.inode].view.len() as u64)
    }

    pub(crate) fn lock(&self, path: &Path) -> Result<()> {
        let mut state = self.begin(Op::Lock, path)?;
        let holder = &mut state.inodes[self.inode].holder;
        match *holder {
            Some(other) if other != self.handle => {
                Err(refused(Op::Lock, path, ErrorKind::Locked, "another handle holds the lock"))
            }
            _ => {
                *holder = Some(self.handle);
                Ok(())
            }
        }
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let mut state = self.disk.state.lock();
        let holder = &mut state.inodes[self.inode].holder;
        if *holder == Some(self.handle) {
            *holder = None;
        }
    }
}
