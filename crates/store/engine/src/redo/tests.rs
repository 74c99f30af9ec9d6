//! Redo over a pool smaller than the data, by one thread and by many; pages that cannot be read, and images that heal them.

use super::{Redone, WORKERS, run};
use crate::mtr::Mtr;
use crate::page::{self, PAGE_BYTES, PageId, PageType};
use crate::pool::Pool;
use crate::pool::cleaner::Cleaner;
use io::faults::{Action, Rule, Script, SimDisk};
use io::{AlignedBuf, Directory, File, Op, OpenOptions};
use log::{Log, Options, Recovery};
use std::path::PathBuf;
use std::sync::Arc;

const PAGES: u64 = 600;
const FRAMES: usize = 256;

/// A data file of whole pages, and a log.
struct Scene {
    disk: SimDisk,
    root: PathBuf,
}

impl Scene {
    fn new(name: &str) -> Scene {
        let root = PathBuf::from(format!("/sim/redo-{name}"));
        let disk = SimDisk::mount(&root, 1);
        let file = File::open(root.join("data"), OpenOptions::create(sync::waits::Wait::DataFile)).unwrap();
        let mut bytes = AlignedBuf::zeroed(PAGE_BYTES);
        for id in 0..PAGES {
            page::init(&mut bytes, id, PageType::Overflow, 0);
            page::seal(&mut bytes);
            file.write_at(&bytes, id * PAGE_BYTES as u64).unwrap();
        }
        file.sync_all().unwrap();
        Directory::open(&root).unwrap().sync().unwrap();
        Scene { disk, root }
    }

    /// The same files elsewhere.
    fn copy_of(other: &Scene, number: usize) -> Scene {
        let root = PathBuf::from(format!("{}-{number}", other.root.display()));
        let disk = other.disk.image().mount(&root, 1);
        disk.reboot();
        Scene { disk, root }
    }

    fn log(&self) -> (Arc<Log>, Recovery) {
        Log::open(&self.root.join("log"), Options { flush_interval: None, ..Options::default() }).unwrap()
    }

    fn pool(&self, frames: usize) -> Pool {
        let path = self.root.join("data");
        Pool::new(File::open(&path, OpenOptions::write(sync::waits::Wait::DataFile)).unwrap(), path, PAGES, frames)
            .unwrap()
    }

    /// Makes log, and leaves the pages as they are.
    fn change(&self, changes: impl FnOnce(&Pool, &Log)) {
        let (log, _) = self.log();
        changes(&self.pool(PAGES as usize + 1), &log);
        log.close().unwrap();
    }

    /// Redoes the log and writes the pages.
    fn redo(&self, workers: usize) -> (Pool, Redone) {
        self.redo_and(workers, false)
    }

    fn redo_and(&self, workers: usize, rewrite: bool) -> (Pool, Redone) {
        let (log, recovery) = self.log();
        let pool = self.pool(FRAMES);
        let mut cleaner = Cleaner::new(&pool, &log, None);
        let redone = run(&pool, &recovery, &mut cleaner, workers, rewrite, &mut |_| ()).unwrap();
        cleaner.write_all().unwrap();
        drop(cleaner);
        (pool, redone)
    }

    fn flip(&self, id: PageId) {
        assert!(self.disk.corrupt(self.root.join("data"), id as usize * PAGE_BYTES + 9000, 1));
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.disk.clone().unmount();
    }
}

fn put(pool: &Pool, log: &Log, id: PageId, at: usize, byte: u8) {
    let mut page = pool.exclusive(id).unwrap();
    let mut mtr = Mtr::new();
    mtr.write(&mut page, at, &[byte]);
    mtr.commit(log, &mut [&mut page]);
}

fn make_anew(pool: &Pool, log: &Log, id: PageId) {
    let mut page = pool.create(id, pool.reserve_frame().unwrap());
    page::init(page.bytes_mut(), id, PageType::Overflow, 7);
    let mut mtr = Mtr::new();
    mtr.image(&page);
    mtr.commit(log, &mut [&mut page]);
}

#[test]
fn many_threads_and_one_bring_each_page_to_the_same_bytes() {
    let scene = Scene::new("threads");
    let mut expected = Vec::new();
    scene.change(|pool, log| {
        let mut state = 1u64;
        for turn in 0..5_000u64 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let id = (state >> 33) % PAGES;
            if turn % 50 == 7 {
                make_anew(pool, log, id);
            } else {
                put(pool, log, id, 100 + (state >> 20) as usize % 50, turn as u8);
            }
        }
        expected.extend((0..PAGES).map(|id| pool.exclusive(id).unwrap().bytes().to_vec()));
    });
    // The first one begins with the pages as they were, the others with what the one before wrote.
    for workers in [0, WORKERS] {
        let again = Scene::copy_of(&scene, workers);
        for workers in [workers, 3] {
            let (pool, redone) = again.redo(workers);
            assert_eq!((redone.pages, redone.lost.len()), (PAGES, 0));
            for (id, expected) in (0..PAGES).zip(&expected) {
                // The checksum is set on the way to the disk.
                assert!(pool.exclusive(id).unwrap().bytes()[4..] == expected[4..], "{workers} threads, page {id}");
            }
        }
    }
}

#[test]
fn a_page_that_cannot_be_read_is_lost_until_it_is_made_anew() {
    let scene = Scene::new("lost");
    let mut ends = Vec::new();
    scene.change(|pool, log| {
        for id in 10..14 {
            put(pool, log, id, 100, 1);
        }
        make_anew(pool, log, 11);
        for id in 10..14 {
            put(pool, log, id, 200, 2);
            ends.push(log.tail_lsn());
        }
        // Made anew by its last change.
        make_anew(pool, log, 12);
    });
    for id in 10..13 {
        scene.flip(id);
    }
    let (mut pool, redone) = scene.redo(WORKERS);
    assert_eq!(redone.lost.into_iter().collect::<Vec<_>>(), [(10, ends[0])]);
    let byte = |pool: &Pool, id: PageId, at: usize| pool.exclusive(id).unwrap().bytes()[at];
    assert_eq!((byte(&pool, 11, 100), byte(&pool, 11, 200)), (0, 2));
    assert_eq!((byte(&pool, 12, 100), byte(&pool, 12, 200)), (0, 0));
    assert_eq!((byte(&pool, 13, 100), byte(&pool, 13, 200)), (1, 2));
    // The old bytes are back, whole: as long as it is known that they are old, they are not shown.
    scene.flip(10);
    pool.set_lost([(10, ends[0])].into());
    let error = pool.exclusive(10).err().expect("it is lost").to_string();
    assert!(error.contains("page 10 ") && error.contains(&ends[0].to_string()), "{error}");
    drop(pool);
    // Before a checkpoint has passed them, the changes are still there.
    let (pool, redone) = scene.redo(0);
    assert!(redone.lost.is_empty());
    assert_eq!((byte(&pool, 10, 100), byte(&pool, 10, 200)), (1, 2));
}

#[test]
fn what_was_lost_before_stays_so_until_the_page_has_got_further() {
    let scene = Scene::new("stays");
    scene.change(|pool, log| {
        put(pool, log, 20, 100, 1);
        make_anew(pool, log, 21);
    });
    let (log, recovery) = scene.log();
    let mut pool = scene.pool(FRAMES);
    let far = recovery.end() + 1000;
    pool.set_lost([(20, far), (21, recovery.end()), (22, far)].into());
    let redone = run(&pool, &recovery, &mut Cleaner::new(&pool, &log, None), WORKERS, false, &mut |_| ()).unwrap();
    // 20: changes since do not bring back what is missing; 22: nobody touched it.
    assert_eq!(redone.lost.into_iter().collect::<Vec<_>>(), [(20, far), (22, far)]);
}

/// After a failed sync the kernel takes a page for clean that never reached the device.
#[test]
fn what_may_stand_in_the_kernels_memory_alone_is_written_again() {
    let scene = Scene::new("rewrite");
    scene.change(|pool, log| put(pool, log, 30, 100, 1));
    let (pool, _) = Scene::copy_of(&scene, 0).redo(0);
    let mut newest = AlignedBuf::zeroed(PAGE_BYTES);
    newest.copy_from_slice(pool.read(30).unwrap().bytes());
    page::seal(&mut newest);
    let file = File::open(scene.root.join("data"), OpenOptions::write(sync::waits::Wait::DataFile)).unwrap();
    file.write_at(&newest, 30 * PAGE_BYTES as u64).unwrap();
    scene.disk.set_script({
        let mut script = Script::default();
        script.push(Rule::new(Action::FailOnce, Some(Op::Sync), 1).within("data"));
        script
    });
    file.sync_data().unwrap_err();
    drop(file);
    for (rewrite, expected) in [(false, 0), (true, 1)] {
        drop(scene.redo_and(0, rewrite));
        // What redo found in the file is all that a power cut leaves.
        let after = Scene::copy_of(&scene, 1 + expected as usize);
        let file = File::open(after.root.join("data"), OpenOptions::write(sync::waits::Wait::DataFile)).unwrap();
        let mut bytes = AlignedBuf::zeroed(PAGE_BYTES);
        file.read_at(&mut bytes, 30 * PAGE_BYTES as u64).unwrap();
        assert_eq!(bytes[100], expected, "rewrite: {rewrite}");
    }
}
