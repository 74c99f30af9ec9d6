//! Copying the log while it grows: the copy opens like a log whose server was killed, and a late copy is nobody's burden.

use std::path::{Path, PathBuf};

use io::faults::SimDisk;
use io::{Directory, Folder};
use log::{Error, Log, Lsn, Options};

const SEGMENT: u64 = 64 << 10;

fn options() -> Options {
    Options {
        ring_bytes: 64 << 10,
        capacity: 256 << 10,
        segment_bytes: Some(SEGMENT),
        flush_interval: None,
        checkpoint_wait: std::time::Duration::ZERO,
        retain_from: None,
        vault: None,
    }
}

fn folder(root: &Path) -> Folder {
    Directory::open_or_create(root).unwrap();
    Folder::open(root).unwrap()
}

/// Appends groups of 1,000 bytes that say their number, and flushes.
fn append(log: &Log, numbers: std::ops::Range<u32>) -> Lsn {
    let mut end = 0;
    for number in numbers {
        log.ensure_room(1004).unwrap();
        end = log.append(&[&number.to_le_bytes(), &[7; 1000]]).unwrap().end;
    }
    log.wait_flushed(end).unwrap();
    end
}

#[test]
fn a_copy_opens_with_all_groups_from_its_checkpoint_to_its_end() {
    let root = PathBuf::from("/sim/log-copy");
    let _disk = SimDisk::mount(&root, 3);
    let (log, _) = Log::open(&root.join("redo"), options()).unwrap();
    let checkpoint = append(&log, 0..100);
    log.set_checkpoint(checkpoint, b"state").unwrap();
    append(&log, 100..150);
    let folder = folder(&root);
    let mut copy = log.copy_to(&folder, "copy/").unwrap();
    assert!(log.copy_to(&folder, "second/").is_none(), "one at a time");
    copy.advance().unwrap();
    // The log goes on over several segments, and a checkpoint passes what is not copied yet.
    let end = append(&log, 150..500);
    log.set_checkpoint(end, b"later").unwrap();
    append(&log, 500..600);
    copy.finish(end).unwrap();

    let (_, recovery) = Log::open(&root.join("copy"), options()).unwrap();
    assert_eq!((recovery.checkpoint().lsn, &*recovery.checkpoint().payload), (checkpoint, &b"state"[..]));
    assert_eq!(recovery.end(), end);
    let mut groups = recovery.groups(checkpoint);
    let mut expected = 100_u32;
    while let Some(group) = groups.next().unwrap() {
        assert_eq!(group.payload[..4], expected.to_le_bytes());
        expected += 1;
    }
    assert_eq!(expected, 500);
}

#[test]
fn a_copy_that_is_late_fails_and_holds_nothing() {
    let root = PathBuf::from("/sim/log-late-copy");
    let _disk = SimDisk::mount(&root, 4);
    let (log, _) = Log::open(&root.join("redo"), options()).unwrap();
    let folder = folder(&root);
    let mut copy = log.copy_to(&folder, "copy/").unwrap();
    let mut next = 0;
    // Held beyond the checkpoint: writers go on, and the files grow.
    while log.tail_lsn() < 3 * (256 << 10) {
        let end = append(&log, next..next + 50);
        next += 50;
        log.set_checkpoint(end, b"").unwrap();
    }
    assert!(log.file_bytes() >= 3 * (256 << 10), "held {} bytes", log.file_bytes());
    let end = append(&log, next..next + 400);
    log.set_checkpoint(end, b"").unwrap();
    assert!(matches!(copy.advance(), Err(Error::Corrupt { .. })));
    assert!(log.file_bytes() < 2 * (256 << 10), "{} bytes are left", log.file_bytes());
    drop(copy);
    assert!(log.copy_to(&folder, "again/").is_some());
}
