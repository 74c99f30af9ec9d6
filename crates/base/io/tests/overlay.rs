//! Overlays: what is written shows, and the directory stays as it is.

use io::{Directory, ErrorKind, File, OpenOptions, Overlay};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("clearway-overlay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap())).collect()
}

#[test]
fn a_file_takes_any_writes_and_stays_as_it_was() {
    let scratch = Scratch::new("writes");
    let path = scratch.0.join("f");
    let original: Vec<u8> = (0..50_000u32).map(|i| i as u8).collect();
    std::fs::write(&path, &original).unwrap();
    let overlay = Overlay::mount(&scratch.0, std::env::temp_dir()).unwrap();
    let file = File::open(&path, OpenOptions::write(sync::waits::Wait::MiscFile)).unwrap();
    let (mut model, mut random) = (original.clone(), 1u64);
    let mut next = |n: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % n
    };
    for turn in 0..2000u64 {
        let (offset, len) = (next(60_000) as usize, 1 + next(9000) as usize);
        match next(20) {
            0 => {
                model.resize(offset, 0);
                file.truncate(offset as u64).unwrap();
            }
            1 => {
                model.resize(model.len().max(offset), 0);
                file.allocate(0, offset as u64).unwrap();
            }
            2..10 => {
                model.resize(model.len().max(offset + len), 0);
                model[offset..offset + len].fill(turn as u8);
                file.write_at(&vec![turn as u8; len], offset as u64).unwrap();
            }
            _ => {
                let mut found = vec![0; len];
                let got = file.read_up_to(&mut found, offset as u64).unwrap();
                let wanted = &model[offset.min(model.len())..(offset + len).min(model.len())];
                assert!(found[..got] == *wanted, "turn {turn}: {len} bytes at {offset}");
            }
        }
        assert_eq!(file.len().unwrap(), model.len() as u64, "turn {turn}");
    }
    file.sync_all().unwrap();
    let again = File::open(&path, OpenOptions::read(sync::waits::Wait::MiscFile)).unwrap();
    let mut found = vec![0; model.len()];
    again.read_at(&mut found, 0).unwrap();
    assert!(found == model, "another handle sees the same file");
    overlay.unmount();
    assert!(std::fs::read(&path).unwrap() == original);
}

#[test]
fn names_change_in_the_overlay_only() {
    let scratch = Scratch::new("names");
    for name in ["a", "b", "c"] {
        std::fs::write(scratch.0.join(name), name).unwrap();
    }
    let before = contents(&scratch.0);
    let overlay = Overlay::mount(&scratch.0, std::env::temp_dir()).unwrap();
    let directory = Directory::open(&scratch.0).unwrap();
    assert_eq!(directory.list().unwrap(), ["a", "b", "c"]);
    directory.rename("a", "b").unwrap();
    directory.remove("c").unwrap();
    let made = directory.open_file("d", OpenOptions::create_new(sync::waits::Wait::MiscFile)).unwrap();
    made.write_at(b"new", 0).unwrap();
    let sub = Directory::create(scratch.0.join("sub")).unwrap();
    sub.open_file("e", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    assert_eq!(directory.list().unwrap(), ["b", "d", "sub"]);
    assert_eq!(sub.list().unwrap(), ["e"]);
    let mut byte = [0];
    directory.open_file("b", OpenOptions::read(sync::waits::Wait::MiscFile)).unwrap().read_at(&mut byte, 0).unwrap();
    assert_eq!(byte, *b"a");
    let error = |name, options| directory.open_file(name, options).unwrap_err().kind();
    assert_eq!(error("c", OpenOptions::read(sync::waits::Wait::MiscFile)), ErrorKind::NotFound);
    assert_eq!(error("b", OpenOptions::create_new(sync::waits::Wait::MiscFile)), ErrorKind::AlreadyExists);
    assert_eq!(Directory::create(scratch.0.join("sub")).unwrap_err().kind(), ErrorKind::AlreadyExists);
    overlay.unmount();
    assert_eq!(contents(&scratch.0), before);
}

#[test]
fn a_lock_that_others_hold_keeps_the_overlay_out() {
    let scratch = Scratch::new("lock");
    let path = scratch.0.join("lock");
    let held = File::open(&path, OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    held.lock_exclusive().unwrap();
    let overlay = Overlay::mount(&scratch.0, std::env::temp_dir()).unwrap();
    let file = File::open(&path, OpenOptions::write(sync::waits::Wait::MiscFile)).unwrap();
    assert_eq!(file.lock_exclusive().unwrap_err().kind(), ErrorKind::Locked);
    drop(held);
    file.lock_exclusive().unwrap();
    overlay.unmount();
}
