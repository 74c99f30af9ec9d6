//! The engine as a whole: open with recovery, close, trees, counters, background threads.

use crate::btree::Target;
use crate::checkpoint::Checkpoints;
use crate::events::EventStream;
use crate::lock::{Deadlock, Interrupt, LockInfo, Teller, TransactionInfo};
use crate::mtr::Mtr;
use crate::options::{Background, EngineOptions};
use crate::page::node::{Node, NodeMut};
use crate::page::{self, ENCRYPTED, OFF_WORD_B, PAGE_BYTES, get_u64};
use crate::pool::doublewrite::Doublewrite;
use crate::pool::resize::{ResizeRefused, ResizeStage};
use crate::pool::settings::PoolSettings;
use crate::prepared::Prepared;
use crate::shared::confirm::{Confirmation, Confirmer};
use crate::shared::rollbacks::OpenTransaction;
use crate::shared::warm::{Order, WarmStage};
use crate::shared::{self, Awaits, Core, LAST_ROUND, STOPPING, history, rollbacks, warm};
use crate::space::{DICTIONARY_ROOT, DICTIONARY_TREE, Need, OFF_NEXT_TREE, Place, SUPER_PAGE, reclaim};
use crate::stepper::Stepper;
use crate::transaction::Transaction;
use crate::undo::{self, Kind, Record};
use crate::{Error, PurgeSettings, Range, Result, RollbackTeller, Tree, TreeKind, checkpoint, recovery};
use cipher::{KeyringStatus, Vault};
use log::{LogFile, Lsn};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use sync::{Mutex, Rank, futex};

/// Counters that `SHOW GLOBAL STATUS` shows as `Innodb_*`, computed when asked.
#[derive(Clone, Debug, Default)]
pub struct EngineStatus {
    /// (name, value), names as MySQL's. What lanes count (`Innodb_rows_read`, ...) is in `observe`.
    pub counters: Vec<(&'static str, u64)>,
}

pub struct Engine {
    core: Arc<Core>,
    /// Taken out when they are stopped.
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    /// Ends with the outcome of the last checkpoint.
    cleaner: Option<JoinHandle<Result<()>>>,
    /// Threads that change pages: purge, rollback, space.
    changers: Vec<JoinHandle<()>>,
    /// Threads that read and write pages for others.
    io: Vec<JoinHandle<()>>,
}

/// An engine after redo, with what its background work begins with.
struct Recovered {
    engine: Arc<Engine>,
    open: Vec<OpenTransaction>,
    doublewrite: Option<Doublewrite>,
}

impl Engine {
    /// Opens the data directory, creating it when empty; recovers after a crash, telling `progress` in words.
    pub fn open(options: EngineOptions, progress: &mut dyn FnMut(&str)) -> Result<Arc<Engine>> {
        let Recovered { engine, open, doublewrite } = Engine::recover(&options, Background::Threads, progress)?;
        // Each thread is known as soon as it runs, so that an error on the way ends those that do.
        let core = engine.core.clone();
        let cleaner = spawn("page-cleaner", move || checkpoint::run(&core, doublewrite))?;
        engine.threads.lock().cleaner = Some(cleaner);
        for number in 1..=options.write_io_threads {
            let core = engine.core.clone();
            let writer = spawn(&format!("page-writer-{number}"), move || core.pool.run_writer())?;
            engine.threads.lock().io.push(writer);
        }
        for number in 1..=options.read_io_threads {
            let core = engine.core.clone();
            let reader = spawn(&format!("page-reader-{number}"), move || core.pool.run_reader())?;
            engine.threads.lock().io.push(reader);
        }
        let (core, threads) = (engine.core.clone(), options.read_io_threads);
        let warmer = spawn("pool-warmer", move || warm::run(&core, threads))?;
        engine.threads.lock().io.push(warmer);
        // With the cleaner at work: what is rolled back may be larger than the pool, and than the log.
        engine.core.adopt_open_transactions(open, progress)?;
        let mut changers = vec![
            ("purge".to_string(), history::coordinate as fn(&Core)),
            ("rollback".to_string(), rollbacks::run),
            ("space".to_string(), reclaim::run),
        ];
        changers.extend((1..=options.purge_threads.max(1)).map(|n| (format!("purge-{n}"), history::work as fn(&Core))));
        for (name, work) in changers {
            let core = engine.core.clone();
            let changer = spawn(&name, move || work(&core))?;
            engine.threads.lock().changers.push(changer);
        }
        Ok(engine)
    }

    /// As [`Engine::open`], without a thread: `run` does the background work through the [`Stepper`]. Nothing waits for what no thread
    /// will do: a late checkpoint is [`Error::DiskFull`] at once.
    pub fn open_stepped<R>(
        options: EngineOptions,
        progress: &mut dyn FnMut(&str),
        run: impl FnOnce(&Engine, Stepper<'_>) -> R,
    ) -> Result<R> {
        let Recovered { engine, open, doublewrite } = Engine::recover(&options, Background::Steps, progress)?;
        engine.core.adopt_open_transactions(open, progress)?;
        let checkpoints = Checkpoints::new(&engine.core, doublewrite);
        Ok(run(&engine, Stepper::new(&engine.core, checkpoints)))
    }

    /// The engine after redo.
    fn recover(options: &EngineOptions, background: Background, progress: &mut dyn FnMut(&str)) -> Result<Recovered> {
        let opened = recovery::open(options, background, progress)?;
        let recovery::Opened { pool, log, space, system, segments, .. } = opened;
        let core = Arc::new(Core::new(pool, log, space, system, segments, options));
        // Ahead of the first statement; a full disk does not keep the engine from opening.
        match core.space.ensure_headroom(&core.pool, &core.log, Need::Room) {
            Ok(()) | Err(Error::DiskFull) => {}
            Err(error) => return Err(error),
        }
        let engine = Engine { core, threads: Mutex::new(Rank::Session, Threads::default()) };
        Ok(Recovered { engine: Arc::new(engine), open: opened.open, doublewrite: opened.doublewrite })
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The events of transactions from `from` on, which lies in what was retained: [`EngineOptions::events_from`], what
    /// [`EventStream::needed`] said later, or [`Engine::events_end`]. One stream at a time may wait.
    pub fn follow_events(&self, from: Lsn) -> EventStream {
        EventStream::new(self.core.log.follow(from))
    }

    /// Is the log still there from `lsn` on?
    pub fn has_log_from(&self, lsn: Lsn) -> bool {
        (self.core.log.first_lsn()..=self.core.log.tail_lsn()).contains(&lsn)
    }

    /// All events so far stand below, durable or not.
    pub fn events_end(&self) -> Lsn {
        self.core.log.tail_lsn()
    }

    /// Keeps the log from `lsn` on for a stream of events, and what is below no longer; `None`: nobody reads events.
    pub fn retain_events(&self, lsn: Option<Lsn>) -> Result<()> {
        Ok(self.core.log.retain(lsn.unwrap_or(Lsn::MAX))?)
    }

    /// For who reads events, before a look at what it can do without: what to tell [`Engine::answer_events`] afterwards. Where it is not
    /// what was told last, somebody finds no room for the log on a full disk.
    pub fn asked_for_events(&self) -> u32 {
        self.core.log.asked()
    }

    /// Who reads events has looked, and keeps what it must. `stalled`: it cannot go on, so that nobody should wait for it.
    pub fn answer_events(&self, asked: u32, stalled: bool) {
        self.core.log.answer(asked, stalled);
    }

    /// Makes all events so far durable, and wakes the stream: somebody waits for what becomes of them. Returns where they end.
    pub fn hurry_events(&self) -> Result<Lsn> {
        let end = self.events_end();
        self.core.log.wait_flushed(end)?;
        self.core.log.hurry_followers();
        Ok(end)
    }

    /// `innodb_flush_log_at_trx_commit`: 0, 1 or 2.
    pub fn set_flush_log_at_commit(&self, mode: u8) {
        assert!(mode <= 2);
        self.core.set_flush_log_at_commit(mode);
    }

    pub fn flush_log_at_commit(&self) -> u8 {
        self.core.flush_log_at_commit()
    }

    /// `innodb_deadlock_detect`.
    pub fn set_deadlock_detect(&self, on: bool) {
        // Relaxed: a setting that orders nothing.
        self.core.deadlock_detect.store(on, Ordering::Relaxed);
    }

    /// `innodb_fill_factor`: how full, in percent, a load leaves the leaves of a tree.
    pub fn set_fill_factor(&self, percent: u8) {
        assert!((10..=100).contains(&percent));
        // Relaxed: a setting that orders nothing.
        self.core.fill_factor.store(percent, Ordering::Relaxed);
    }

    /// `innodb_purge_batch_size`, `innodb_max_purge_lag`, `innodb_max_purge_lag_delay`.
    pub fn set_purge(&self, settings: PurgeSettings) {
        self.core.history.set(settings);
    }

    /// What the buffer pool obeys from now on.
    pub fn set_pool_settings(&self, settings: PoolSettings) {
        self.core.pool.set_settings(settings);
    }

    /// Makes the buffer pool, and with it the memory that locks may take, as large as `bytes`. A smaller one is reached in the background:
    /// [`Engine::pool_resize`].
    pub fn resize_pool(&self, bytes: u64) -> std::result::Result<(), ResizeRefused> {
        self.core.pool.resize(bytes)?;
        self.core.locks.set_memory_max(shared::lock_bytes(bytes));
        Ok(())
    }

    /// Writes the list of the `percent` of pages in memory that were used last to a file of the data directory, in the background:
    /// [`Engine::pool_dump`]. False: there are too many such orders already.
    pub fn dump_pool(&self, name: &str, percent: u64) -> bool {
        self.core.warm.orders.push(Order::Dump { name: name.to_string(), percent })
    }

    /// As [`Engine::dump_pool`], at once: before the engine is closed.
    pub fn dump_pool_last(&self, name: &str, percent: u64) -> WarmStage {
        self.core.dump_pool(name, percent);
        self.pool_dump()
    }

    /// Brings pages of such a list into memory, in the background, as far as frames are not in use: [`Engine::pool_load`]. False: as above.
    pub fn load_pool(&self, name: &str) -> bool {
        self.core.warm.order_load(name)
    }

    /// Ends the load that is under way.
    pub fn abort_pool_load(&self) {
        self.core.warm.abort();
    }

    /// What became of the last list that was written.
    pub fn pool_dump(&self) -> WarmStage {
        self.core.warm.dump_stage()
    }

    /// What became of the last list that was read.
    pub fn pool_load(&self) -> WarmStage {
        self.core.warm.load_stage()
    }

    /// How far the last change of the buffer pool's size has come.
    pub fn pool_resize(&self) -> ResizeStage {
        self.core.pool.resize_stage()
    }

    /// The keys of the data directory, for other files beside the engine's.
    pub fn vault(&self) -> Arc<Vault> {
        Arc::clone(self.core.pool.vault().expect("recovery has set it"))
    }

    /// Can tables be encrypted?
    pub fn has_keyring(&self) -> bool {
        self.core.vault().keyring_status().is_some()
    }

    /// Has anything ever been encrypted, so that there are keys?
    pub fn encrypts(&self) -> bool {
        self.core.vault().keys().is_some()
    }

    /// `innodb_redo_log_encrypt`: all of the log from here on, or only what is of encrypted tables. Errors: [`Error::Keyring`].
    pub fn set_redo_log_encrypt(&self, on: bool) -> Result<()> {
        if on {
            self.core.make_keys()?;
        }
        self.core.log.seal_all(on);
        Ok(())
    }

    /// `innodb_undo_log_encrypt`: all undo pages from here on, or only those with records of encrypted tables. Errors: [`Error::Keyring`].
    pub fn set_undo_log_encrypt(&self, on: bool) -> Result<()> {
        if on {
            self.core.make_keys()?;
        }
        self.core.pool.seal_undo(on);
        Ok(())
    }

    /// ALTER INSTANCE ROTATE INNODB MASTER KEY. Errors: [`Error::Keyring`].
    pub fn rotate_master_key(&self) -> Result<()> {
        self.core.make_keys()?;
        Ok(self.core.vault().rotate()?)
    }

    /// ALTER INSTANCE RELOAD KEYRING. Errors: [`Error::Keyring`].
    pub fn reload_keyring(&self) -> Result<()> {
        Ok(self.core.vault().reload()?)
    }

    /// The keyring and the names of its keys; `None`: there is none.
    pub fn keyring(&self) -> Option<KeyringStatus> {
        self.core.vault().keyring_status()
    }

    /// The files that hold redo log now, the oldest first.
    pub fn log_files(&self) -> Vec<LogFile> {
        self.core.log.files()
    }

    pub fn log_capacity(&self) -> u64 {
        self.core.log.capacity()
    }

    /// `innodb_redo_log_capacity`.
    pub fn set_log_capacity(&self, bytes: u64) {
        self.core.log.set_capacity(bytes);
    }

    /// Waits until every commit so far may be told of: for rows of locking reads that leave before their statement ends.
    pub fn await_commits(&self) -> Result<()> {
        self.core.wait_durable(self.core.log.tail_lsn(), &Interrupt::default(), Awaits::OthersCommits)
    }

    /// Stops background work, writes everything and a final checkpoint. Sessions have ended before. An error says that pages
    /// or the checkpoint were not written: nothing that was acknowledged is lost, the next start recovers it from the log.
    pub fn close(&self) -> Result<()> {
        let checkpoint = self.stop_threads();
        self.core.log.close()?;
        checkpoint
    }

    /// Ends the background work that changes pages, for good.
    pub(crate) fn stop_workers(&self) {
        let changers = std::mem::take(&mut self.threads.lock().changers);
        if changers.is_empty() {
            return;
        }
        self.stop_to(STOPPING);
        self.core.rollbacks.wake();
        self.core.space.want_work();
        self.core.history.want_end();
        for thread in changers {
            let _ = thread.join(); // it aborts on a panic
        }
    }

    /// The outcome of the last checkpoint; `Ok` when the threads were stopped before.
    fn stop_threads(&self) -> Result<()> {
        self.stop_workers();
        let Threads { cleaner, io, .. } = std::mem::take(&mut *self.threads.lock());
        // Nobody else changes pages any more: what the cleaner writes last is all there is.
        self.stop_to(LAST_ROUND);
        self.core.pool.end_waits();
        self.core.pool.want_cleaning();
        let outcome = cleaner.map_or(Ok(()), |cleaner| cleaner.join().expect("it aborts on a panic"));
        self.core.pool.end_io_threads();
        self.core.warm.orders.close();
        for thread in io {
            let _ = thread.join(); // it aborts on a panic
        }
        outcome
    }

    fn stop_to(&self, stage: u32) {
        // Relaxed would do: `stopping` reads no data behind it. The wake follows the store for the sleepers.
        self.core.stop.store(stage, Ordering::Release);
        futex::wake_all(&self.core.stop);
    }

    /// The tree that the catalog keeps its dictionary in: there from the first start.
    pub fn dictionary(&self) -> Tree {
        Tree { id: DICTIONARY_TREE, root: DICTIONARY_ROOT, kind: TreeKind::Clustered }
    }

    /// Makes an empty tree. If `tx` does not commit, or the server crashes before it does, the tree is freed again.
    pub fn create_tree(&self, tx: &mut Transaction, kind: TreeKind) -> Result<Tree> {
        self.create_tree_as(tx, kind, false)
    }

    /// As [`Engine::create_tree`]; `encrypted`: what the tree holds is encrypted wherever it is written. Errors: also [`Error::Keyring`].
    pub fn create_tree_as(&self, tx: &mut Transaction, kind: TreeKind, encrypted: bool) -> Result<Tree> {
        if encrypted {
            self.core.make_keys()?;
        }
        tx.start_writing(Need::Definition)?;
        let store = self.core.store();
        let id = {
            let mut page = self.core.pool.exclusive(SUPER_PAGE)?;
            let id = page::get_u32(page.bytes(), OFF_NEXT_TREE);
            assert!(id < ENCRYPTED - 1, "a billion trees were made");
            let mut mtr = Mtr::new();
            mtr.write(&mut page, OFF_NEXT_TREE, &(id + 1).to_le_bytes());
            mtr.commit(&self.core.log, &mut [&mut page]);
            if encrypted { id | ENCRYPTED } else { id }
        };
        loop {
            let segment = tx.segment.clone().expect("start_writing took one");
            // Relaxed: only the session that has the segment stores it.
            let undo_id = segment.newest.load(Ordering::Relaxed);
            let frame = self.core.pool.reserve_frame()?;
            let mut undo_page = self.core.pool.exclusive(undo_id)?;
            if !undo::fits(undo_page.bytes(), undo::RECORD_BYTES_MIN) {
                drop((undo_page, frame));
                segment.extend(store)?;
                continue;
            }
            let mut mtr = Mtr::new();
            let place = Place::of(Tree { id, root: 0, kind });
            let mut root = self.core.space.allocate(&self.core.pool, frame, &mut mtr, place)?;
            let tree = Tree { id, root: root.page.id, kind };
            encode_tree_record(tx, Kind::CreateTree, tree);
            NodeMut(root.page.bytes_mut()).format(tree.root, tree.id, 0, None, None);
            mtr.image(&root.page);
            let roll_ptr = undo::roll_ptr(undo_id, mtr.undo(&mut undo_page, &tx.record));
            mtr.commit(&self.core.log, &mut [&mut root.map, &mut root.page, &mut undo_page]);
            drop((root, undo_page));
            tx.changed(roll_ptr, 0);
            tx.trees_made.push(tree.id);
            return Ok(tree);
        }
    }

    /// Frees the tree's pages after `tx` commits (also when the server crashes in between).
    pub fn drop_tree(&self, tx: &mut Transaction, tree: Tree) -> Result<()> {
        tx.start_writing(Need::Definition)?;
        encode_tree_record(tx, Kind::DropTree, tree);
        loop {
            let segment = tx.segment.as_ref().expect("start_writing took one");
            // Relaxed: only the session that has the segment stores it.
            let undo_id = segment.newest.load(Ordering::Relaxed);
            let mut undo_page = self.core.pool.exclusive(undo_id)?;
            if !undo::fits(undo_page.bytes(), tx.record.len()) {
                drop(undo_page);
                segment.extend(self.core.store())?;
                continue;
            }
            let mut mtr = Mtr::new();
            let roll_ptr = undo::roll_ptr(undo_id, mtr.undo(&mut undo_page, &tx.record));
            mtr.commit(&self.core.log, &mut [&mut undo_page]);
            drop(undo_page);
            tx.changed(roll_ptr, 0);
            return Ok(());
        }
    }

    /// The tree's persistent counter (AUTO_INCREMENT ceiling, row id ceiling); 0 in a new tree.
    pub fn counter(&self, tree: Tree) -> Result<u64> {
        let page = self.core.pool.exclusive(tree.root)?;
        // Who lists tables may come to one that is gone, and whose page has become another's.
        let is_there = Node(page.bytes()).tree() == tree.id;
        Ok(if is_there { get_u64(page.bytes(), OFF_WORD_B) } else { 0 })
    }

    /// Raises the tree's persistent counter to at least `value`, at once and outside any transaction.
    pub fn raise_counter(&self, tree: Tree, value: u64) -> Result<()> {
        self.put_counter(tree, value, true)
    }

    /// Sets the tree's persistent counter (ALTER TABLE ... AUTO_INCREMENT, TRUNCATE).
    pub fn set_counter(&self, tree: Tree, value: u64) -> Result<()> {
        self.put_counter(tree, value, false)
    }

    fn put_counter(&self, tree: Tree, value: u64, raise: bool) -> Result<()> {
        self.core.log.ensure_room(4096)?;
        let mut root = self.core.pool.exclusive(tree.root)?;
        if raise && get_u64(root.bytes(), OFF_WORD_B) >= value {
            return Ok(());
        }
        let mut mtr = Mtr::new();
        mtr.write(&mut root, OFF_WORD_B, &value.to_le_bytes());
        mtr.commit(&self.core.log, &mut [&mut root]);
        Ok(())
    }

    /// Estimated (entries, leaf pages) of a tree from a few descents; no lock.
    pub fn estimate(&self, tree: Tree) -> Result<(u64, u64)> {
        let everything = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };
        let (low, high) = (self.path(tree, everything.lower, false)?, self.path(tree, everything.upper, true)?);
        let leaves: f64 = low.iter().skip(1).map(|step| step.fanout).product();
        let entries = leaves * (low[0].fanout + high[0].fanout) / 2.0;
        Ok((entries as u64, leaves.max(1.0) as u64))
    }

    /// Estimated entries between two keys (records_in_range), from two descents; no lock.
    pub fn estimate_range(&self, tree: Tree, range: Range<'_>) -> Result<u64> {
        let (low, high) = (self.path(tree, range.lower, false)?, self.path(tree, range.upper, true)?);
        let fraction = |path: &[Step]| {
            path.iter()
                .rev()
                .fold((0.0, 1.0), |(sum, part), step| {
                    (sum + part * step.position / step.fanout.max(1.0), part / step.fanout.max(1.0))
                })
                .0
        };
        let (entries, _) = self.estimate(tree)?;
        // Within one leaf the slots say it exactly.
        if low[0].page == high[0].page {
            return Ok((high[0].position - low[0].position).max(0.0) as u64);
        }
        Ok(((fraction(&high) - fraction(&low)).max(0.0) * entries as f64) as u64)
    }

    /// The way down to a bound, leaf first: where it goes in each node.
    fn path(&self, tree: Tree, bound: Bound<&[u8]>, upper: bool) -> Result<Vec<Step>> {
        let store = self.core.store();
        let target = match bound {
            Bound::Included(key) | Bound::Excluded(key) => Target::At(key),
            Bound::Unbounded if upper => Target::Below(None),
            Bound::Unbounded => Target::First,
        };
        let mut steps: Vec<Step> = Vec::new();
        while let Some(found) = store.node(tree, target, steps.len() as u8)? {
            let node = Node(found.node.bytes());
            let slots = node.len() as f64;
            let position = match bound {
                Bound::Included(key) | Bound::Excluded(key) => node.search(key).map(|(i, equal)| {
                    let after =
                        if upper { matches!(bound, Bound::Included(_)) } else { matches!(bound, Bound::Excluded(_)) };
                    i as f64 + (equal && (after || !node.is_leaf())) as u8 as f64
                }),
                Bound::Unbounded => Ok(if upper { slots } else { 0.0 }),
            };
            let fanout = if node.is_leaf() { slots } else { slots + 1.0 };
            if !found.node.validate() {
                continue;
            }
            let Ok(position) = position else { continue };
            steps.push(Step { page: found.node.id, fanout, position });
        }
        Ok(steps)
    }

    pub fn status(&self) -> EngineStatus {
        let core = &self.core;
        let resident = core.pool.resident() as u64;
        let dirty = core.pool.dirty_count() as u64;
        let total = core.pool.frames_left() as u64;
        EngineStatus {
            counters: vec![
                ("Innodb_buffer_pool_bytes_data", resident * PAGE_BYTES as u64),
                ("Innodb_buffer_pool_bytes_dirty", dirty * PAGE_BYTES as u64),
                ("Innodb_buffer_pool_pages_data", resident),
                ("Innodb_buffer_pool_pages_dirty", dirty),
                ("Innodb_buffer_pool_pages_free", total.saturating_sub(resident)),
                ("Innodb_buffer_pool_pages_total", total),
                // Runs of neighbours.
                ("Clearway_reads_ahead_pending", core.pool.reads_pending() as u64),
                ("Innodb_history_list_length", self.history_length()),
                ("Innodb_page_size", PAGE_BYTES as u64),
                ("Innodb_row_lock_current_waits", core.locks.row_waits(&core.system.slots) as u64),
                ("Innodb_redo_log_checkpoint_lsn", core.log.oldest_needed()),
                ("Innodb_redo_log_current_lsn", core.log.tail_lsn()),
                ("Innodb_redo_log_flushed_to_disk_lsn", core.log.flushed_lsn()),
                ("Innodb_redo_log_logical_size", core.log.used()),
                ("Innodb_redo_log_physical_size", core.log.file_bytes()),
                // Relaxed: a number.
                ("Clearway_pages_to_overwrite", core.space.overwrites.pages.load(Ordering::Relaxed)),
            ],
        }
    }

    /// Transactions that are undone in the background and are not done yet.
    pub fn rollbacks_pending(&self) -> u64 {
        self.core.rollbacks.pending()
    }

    /// Explicit row locks now, granted and awaited.
    pub fn locks(&self) -> Vec<LockInfo> {
        self.core.locks.locks()
    }

    /// Open transactions that have changed something, have a snapshot or wait.
    pub fn transactions(&self) -> Vec<TransactionInfo> {
        self.core.locks.transactions(&self.core.system.slots)
    }

    /// The last deadlock that was broken.
    pub fn latest_deadlock(&self) -> Option<Arc<Deadlock>> {
        self.core.locks.latest_deadlock()
    }

    /// Who tells of sessions in reports of deadlocks. The first call counts.
    pub fn set_teller(&self, teller: Teller) {
        self.core.locks.set_teller(teller);
    }

    /// Who hears in words how far rollbacks are that have no session. The first call counts.
    pub fn tell_of_rollbacks(&self, teller: RollbackTeller) {
        self.core.rollbacks.set_teller(teller);
    }

    /// Sessions that wait for a lock now.
    pub fn lock_waits(&self) -> usize {
        self.core.locks.waits(&self.core.system.slots)
    }

    /// Transactions that are over and have undo that purge has not passed. 0 where a page cannot be read; who needs it hears of that.
    pub fn history_length(&self) -> u64 {
        self.core.history_length().unwrap_or(0)
    }

    /// What each change of a row waits, in microseconds, because the history is longer than `innodb_max_purge_lag`.
    pub fn purge_delay_us(&self) -> u32 {
        self.core.history.delay_us()
    }

    /// Undo records not yet purged, in log bytes behind: how far the oldest snapshot lags.
    pub fn history_lag(&self) -> u64 {
        self.core.newest().saturating_sub(self.core.system.horizon())
    }

    /// The transactions that were prepared when the server ended, with their labels: the caller's from now on.
    pub fn take_prepared(&self) -> Vec<(Vec<u8>, Prepared)> {
        std::mem::take(&mut *self.core.prepared.lock())
    }

    /// The trees that a prepared transaction has changed, by their ids. Reads all of its undo. Errors: [`Error::Corrupt`], [`Error::Io`].
    pub fn trees_changed_by(&self, prepared: &Prepared) -> Result<Vec<u32>> {
        self.core.trees_to_undo(prepared.end, prepared.first, || Ok(()))
    }
}

impl Transaction {
    /// Errors: [`Error::TooManyTransactions`] when there are more sessions than slots.
    pub fn new(engine: &Engine) -> Result<Transaction> {
        Transaction::on(engine.core.clone())
    }
}

struct Step {
    page: u64,
    fanout: f64,
    position: f64,
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Err(error) = self.stop_threads() {
            eprintln!("[ERROR] [Engine] the last checkpoint: {error}; the next start recovers from the one before");
        }
    }
}

fn encode_tree_record(tx: &mut Transaction, kind: Kind, tree: Tree) {
    Record::of_tree(kind, tree, tx.trx).encode(&mut tx.record);
}

struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        std::process::abort();
    }
}

fn spawn<R: Send + 'static>(name: &str, run: impl FnOnce() -> R + Send + 'static) -> Result<JoinHandle<R>> {
    let run = move || {
        // A thread that the server cannot do without: recovery starts from what is durable.
        let abort = AbortOnPanic;
        let result = run();
        std::mem::forget(abort);
        result
    };
    std::thread::Builder::new()
        .name(name.into())
        .spawn(run)
        .map_err(|e| Error::Io(format!("cannot start thread {name}: {e}")))
}

impl Engine {
    /// Who is asked while commits have to be confirmed; for ever.
    pub fn set_confirmer(&self, confirmer: Arc<dyn Confirmer>) {
        self.core.set_confirmer(confirmer);
    }

    pub fn confirmation(&self) -> &Confirmation {
        &self.core.confirmation
    }

    /// From now on commits wait for the confirmer, or no longer do. Those whose wait for the flush is over may not have noticed: they
    /// are below the log's tail when this returns.
    pub fn want_confirmation(&self, on: bool) {
        self.core.want_confirmation(on);
    }

    /// From now on nobody is shown a commit before [`Confirmation::show_up_to`] has passed it. Returns the bound: above all commits so
    /// far.
    pub fn show_confirmed(&self) -> Lsn {
        self.core.show_confirmed()
    }
}
