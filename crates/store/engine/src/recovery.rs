//! Opening a data directory: making it, or redoing the log since the checkpoint and rolling back what was open.
//!
//! 1. The doublewrite file mends pages that a crash tore.
//! 2. Redo: every group since the checkpoint, page by page in order; an op applies to a page whose LSN is below the group's end ([`redo`]).
//! 3. Undo: the newest page of each undo segment says whether a transaction was open. It is so again, without a session, and is undone
//!    in the background ([`crate::shared::rollbacks`]) while others are served: its rows are locked, and no reader sees them. One that is
//!    prepared stays as it is ([`crate::Prepared`]).
//!
//! The checkpoint's payload is the next transaction id, the length of the data file in pages, and for each page that redo had to give up
//! its id and the LSN up to which its changes are lost; all u64.

use crate::options::{Background, EngineOptions};
use crate::page::node::NodeMut;
use crate::page::{self, PAGE_BYTES, PageType, get_u32, get_u64, put_u32};
use crate::pool::cleaner::Cleaner;
use crate::pool::doublewrite::Doublewrite;
use crate::pool::{Lost, Pool};
use crate::redo;
use crate::segment::{Segments, format_directory};
use crate::shared::Core;
use crate::shared::rollbacks::OpenTransaction;
use crate::space::{
    DICTIONARY_ROOT, DICTIONARY_TREE, FORMAT_VERSION, GROUP_PAGES, MAGIC, OFF_FORMAT, OFF_MAGIC, OFF_NEXT_TREE,
    OFF_PAGE_BYTES, SUPER_PAGE, Space, UNDO_DIRECTORY, UNIT_PAGES, format_map, map_page,
};
use crate::txn::System;
use crate::undo;
use crate::{Error, Result};
use cipher::Vault;
use io::{AlignedBuf, Directory, File, OpenOptions};
use log::Log;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub const DATA_FILE: &str = "clearway.data";
const NEW_DATA_FILE: &str = "clearway.data.new";
pub const LOG_DIRECTORY: &str = "redo";

/// Pages that a new data file begins with, within the first group.
pub const INITIAL_PAGES: u64 = if cfg!(small_groups) { 256 } else { 1024 };
const _: () = assert!(INITIAL_PAGES <= GROUP_PAGES);

/// Stream bytes of a log segment of an engine that is stepped.
const STEPPED_SEGMENT_BYTES: u64 = 256 << 10;

/// Words of the status ring, 8 bytes of address space each: how far writers may be ahead of purge. Fewer in a small address space.
const STATUS_RING_LEN: u64 = 1 << 24;

pub struct Opened {
    pub pool: Pool,
    pub log: Arc<Log>,
    pub space: Space,
    pub system: System,
    pub segments: Segments,
    /// Transactions that were open when the server ended.
    pub open: Vec<OpenTransaction>,
    pub doublewrite: Option<Doublewrite>,
}

pub fn open(options: &EngineOptions, background: Background, progress: &mut dyn FnMut(&str)) -> Result<Opened> {
    let directory = Directory::open_or_create(&options.datadir)?;
    let log_directory = directory.join(LOG_DIRECTORY);
    let (data, logged) = (directory.contains(DATA_FILE)?, Log::exists(&log_directory)?);
    if data && !logged {
        return Err(Error::Corrupt(format!(
            "{} has no log in {}: what is not in its pages yet is lost, and a new log would not fit them",
            directory.join(DATA_FILE).display(),
            log_directory.display()
        )));
    }
    let vault = Arc::new(Vault::open(&directory)?);
    let log_options = log_options(options, background, &vault);
    if !data {
        // The data file gets its name last, so that it never stands there without a log.
        let (_, recovery) = Log::open(&log_directory, log_options.clone())?;
        if !recovery.checkpoint().payload.is_empty() || recovery.end() > recovery.checkpoint().lsn {
            let (log, file) = (log_directory.display(), directory.join(DATA_FILE));
            return Err(Error::Corrupt(format!("{log} is the log of a data file that is gone: {}", file.display())));
        }
        create(&directory, options)?;
    }
    let file =
        directory.open_file(DATA_FILE, OpenOptions::write(sync::waits::Wait::DataFile).direct(options.direct_io))?;
    file.lock_exclusive()?;
    let doublewrite = Doublewrite::open(&directory, options.direct_io)?;
    mend_torn_pages(&doublewrite, &file, &vault, progress)?;
    check_super_page(&file)?;
    let atomic = options.doublewrite && file.atomic_write_bytes() >= PAGE_BYTES;
    if atomic {
        progress("the device writes pages whole or not at all: they are not written twice");
    }
    let twice = options.doublewrite && !atomic;

    let mut told = Instant::now();
    let (log, recovery) = Log::open_with_progress(&log_directory, log_options, &mut |read, most| {
        if told.elapsed() >= Duration::from_secs(1) {
            told = Instant::now();
            progress(&format!("looking for the end of the log: {} of at most {} MiB", read >> 20, most >> 20));
        }
    })?;
    let checkpoint = decode_checkpoint(&recovery.checkpoint().payload)?;
    let page_count = (options.address_space_bytes / PAGE_BYTES as u64).max(INITIAL_PAGES);
    let frames = (options.buffer_pool_bytes / PAGE_BYTES as u64).clamp(256, page_count.min(u32::MAX.into())) as usize;
    let path = directory.join(DATA_FILE);
    let mut pool = Pool::new(file, path.clone(), page_count, frames)?;
    pool.set_lost(checkpoint.lost);
    pool.set_atomic(atomic);
    pool.set_vault(Arc::clone(&vault));
    // Not the file's length: a growth that the log does not know of has not begun to count, and nothing was written there.
    let space = Space::new(checkpoint.file_pages);
    if space.file_pages() > page_count {
        return Err(Error::Io(format!(
            "{}: the data takes {} bytes of address space, the limit is {}",
            path.display(),
            space.file_pages() * PAGE_BYTES as u64,
            options.address_space_bytes
        )));
    }
    let mut cleaner = Cleaner::new(&pool, &log, doublewrite_for_redo(&directory, options, twice)?);
    let workers = if background == Background::Threads { redo::WORKERS } else { 0 };
    let redone = redo::run(&pool, &recovery, &mut cleaner, workers, !twice, progress)?;
    drop(cleaner);
    pool.set_lost(redone.lost);
    let next_trx = redone.next_trx.max(checkpoint.next_trx);
    // It has grown since the checkpoint. What is used was allocated durably before; the rest of that growth is grown anew.
    let reach = |pages: u64| -> Result<()> {
        let (from, to) = (space.file_pages(), pages.next_multiple_of(UNIT_PAGES));
        if to > from {
            pool.file().allocate(from * PAGE_BYTES as u64, (to - from) * PAGE_BYTES as u64)?;
            pool.file().sync_all()?;
            space.set_file_pages(to);
        }
        Ok(())
    };
    reach(redone.pages)?;
    // An extent is given as a whole: its units behind the last page that was put to use are in the map alone.
    reach(space.owned_pages(&pool)?)?;
    space.read_maps(&pool)?;
    if space.has_encrypted() && vault.keys().is_none() {
        // New keys would be taken for theirs.
        return Err(Error::Keyring(format!("there are encrypted tables, and {} is missing", cipher::FILE_NAME)));
    }
    let ring_len = STATUS_RING_LEN.min(page_count / 16);
    let store = crate::btree::Store { pool: &pool, log: &log, space: &space };
    let segments = Segments::open(store)?;
    let open = open_transactions(&pool, &segments)?;
    let system = System::new(next_trx.max(1), open.iter().map(|open| open.trx), ring_len)?;
    Ok(Opened { pool, log, space, system, segments, open, doublewrite: twice.then_some(doublewrite) })
}

fn log_options(options: &EngineOptions, background: Background, vault: &Arc<Vault>) -> log::Options {
    let mut log_options = log::Options {
        ring_bytes: options.log_buffer_bytes.next_power_of_two().clamp(16 << 20, 1 << 30) as usize,
        capacity: options.log_capacity_bytes,
        retain_from: options.events_from,
        vault: Some(Arc::clone(vault)),
        ..log::Options::default()
    };
    if background == Background::Steps {
        // Nobody else would bring what is waited for; and a short run is to pass several segments.
        log_options.flush_interval = None;
        log_options.checkpoint_wait = Duration::ZERO;
        log_options.segment_bytes = Some(STEPPED_SEGMENT_BYTES);
    }
    log_options
}

/// Puts the pages that a crash tore back from the doublewrite file, which has nothing left then.
fn mend_torn_pages(
    doublewrite: &Doublewrite,
    file: &File,
    vault: &Vault,
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let restored = doublewrite.restore(file)?;
    if !restored.is_empty() {
        progress(&format!("restored {} torn pages from the doublewrite file: {restored:?}", restored.len()));
    }
    // The next batches begin at the first half again: what is in the other would be older than it looks.
    match vault.keys() {
        Some(_) => doublewrite.overwrite()?,
        None => doublewrite.forget()?,
    }
    Ok(())
}

fn doublewrite_for_redo(directory: &Directory, options: &EngineOptions, twice: bool) -> Result<Option<Doublewrite>> {
    if twice { Ok(Some(Doublewrite::open(directory, options.direct_io)?)) } else { Ok(None) }
}

/// Makes a data file with its fixed pages; its name appears only when it is whole.
fn create(directory: &Directory, options: &EngineOptions) -> Result<()> {
    let file = directory.open_file(
        NEW_DATA_FILE,
        OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::DataFile) }.direct(options.direct_io),
    )?;
    file.allocate(0, INITIAL_PAGES * PAGE_BYTES as u64)?;
    let mut buffer = AlignedBuf::zeroed(PAGE_BYTES);
    let mut write = |id: u64, format: &mut dyn FnMut(&mut [u8])| -> Result<()> {
        format(&mut buffer);
        page::seal(&mut buffer);
        Ok(file.write_at(&buffer, id * PAGE_BYTES as u64)?)
    };
    write(SUPER_PAGE, &mut |bytes| {
        page::init(bytes, SUPER_PAGE, PageType::Super, 0);
        bytes[OFF_MAGIC..OFF_MAGIC + 8].copy_from_slice(MAGIC);
        put_u32(bytes, OFF_FORMAT, FORMAT_VERSION);
        put_u32(bytes, OFF_PAGE_BYTES, PAGE_BYTES as u32);
        put_u32(bytes, OFF_NEXT_TREE, DICTIONARY_TREE + 1);
    })?;
    write(map_page(0), &mut |bytes| format_map(bytes, 0))?;
    write(UNDO_DIRECTORY, &mut |bytes| format_directory(bytes, UNDO_DIRECTORY))?;
    write(DICTIONARY_ROOT, &mut |bytes| NodeMut(bytes).format(DICTIONARY_ROOT, DICTIONARY_TREE, 0, None, None))?;
    file.sync_all()?;
    drop(file);
    directory.rename(NEW_DATA_FILE, DATA_FILE)?;
    directory.sync()?;
    Ok(())
}

fn check_super_page(file: &File) -> Result<()> {
    let mut bytes = AlignedBuf::zeroed(PAGE_BYTES);
    file.read_at(&mut bytes, 0)?;
    let name = file.path().display();
    page::verify(&bytes, SUPER_PAGE).map_err(|why| Error::Corrupt(format!("{name}: page 0 is damaged: {why}")))?;
    if &bytes[OFF_MAGIC..OFF_MAGIC + 8] != MAGIC {
        return Err(Error::Corrupt(format!("{name} is no data file of this server")));
    }
    let (version, page_bytes) = (get_u32(&bytes, OFF_FORMAT), get_u32(&bytes, OFF_PAGE_BYTES));
    if (version, page_bytes) != (FORMAT_VERSION, PAGE_BYTES as u32) {
        return Err(Error::Corrupt(format!(
            "{name} has format {version} with pages of {page_bytes} bytes; this server reads {FORMAT_VERSION} with \
             {PAGE_BYTES}"
        )));
    }
    Ok(())
}

/// What a checkpoint remembers beside its LSN.
struct CheckpointState {
    next_trx: u64,
    file_pages: u64,
    lost: Lost,
}

/// The state for a checkpoint made now.
pub fn checkpoint_payload(core: &Core) -> Vec<u8> {
    let lost = core.pool.lost().iter().flat_map(|(&page, &until)| [page, until]);
    [core.system.next_id(), core.space.file_pages()].into_iter().chain(lost).flat_map(u64::to_le_bytes).collect()
}

fn decode_checkpoint(payload: &[u8]) -> Result<CheckpointState> {
    if payload.is_empty() {
        // A new log: nothing was done yet.
        return Ok(CheckpointState { next_trx: 1, file_pages: INITIAL_PAGES, lost: Lost::new() });
    }
    let Some((head, pairs)) = payload.split_at_checked(16).filter(|(_, pairs)| pairs.len() % 16 == 0) else {
        return Err(Error::Corrupt(format!("the checkpoint's payload has {} bytes", payload.len())));
    };
    let pair = |bytes: &[u8]| (get_u64(bytes, 0), get_u64(bytes, 8));
    let (next_trx, file_pages) = pair(head);
    Ok(CheckpointState { next_trx, file_pages, lost: pairs.chunks(16).map(pair).collect() })
}

/// Finds the transactions that were open when the server ended; their segments are theirs again.
fn open_transactions(pool: &Pool, segments: &Segments) -> Result<Vec<OpenTransaction>> {
    let mut open = Vec::new();
    for segment in segments.from(0) {
        // Relaxed: nobody else is there yet.
        let newest = segment.newest.load(Ordering::Relaxed);
        let page = pool.exclusive(newest)?;
        let Some((trx, first)) = undo::open_transaction(page.bytes()) else { continue };
        let end = undo::roll_ptr(newest, undo::free_at(page.bytes()));
        let prepared = undo::prepared_label(page.bytes()).map(<[u8]>::to_vec);
        drop(page);
        segments.claim(&segment);
        open.push(OpenTransaction { trx, segment, first, end, prepared });
    }
    Ok(open)
}
