//! Real files and memory through the door.

use io::{ALIGNMENT, AlignedBuf, Directory, ErrorKind, File, Op, OpenOptions};
use std::io::IoSlice;
use std::path::PathBuf;

/// A directory of its own for a test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("clearway-io-{name}-{}", std::process::id()));
        Directory::create(&path).unwrap();
        Scratch(path)
    }

    fn open(&self) -> Directory {
        Directory::open(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn bytes_come_back_from_where_they_were_put() {
    let scratch = Scratch::new("bytes");
    let file = scratch.open().open_file("f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    file.write_at(b"abcdef", 10).unwrap();
    file.write_vectored_at(&[IoSlice::new(b"XY"), IoSlice::new(b""), IoSlice::new(b"Z")], 12).unwrap();
    file.sync_data().unwrap();
    let mut buf = [1; 16];
    file.read_at(&mut buf, 0).unwrap();
    assert_eq!(&buf, b"\0\0\0\0\0\0\0\0\0\0abXYZf");
    let short = file.read_at(&mut buf, 1).unwrap_err();
    assert_eq!((short.kind(), short.op()), (ErrorKind::ShortRead, Op::Read));
    assert_eq!(file.read_up_to(&mut buf, 12).unwrap(), 4);
    file.truncate(12).unwrap();
    assert_eq!(file.len().unwrap(), 12);
    file.allocate(0, 1 << 20).unwrap();
    assert_eq!(file.len().unwrap(), 1 << 20);
}

#[test]
fn more_buffers_than_one_call_takes() {
    let scratch = Scratch::new("vectored");
    let file = scratch.open().open_file("f", OpenOptions::create_new(sync::waits::Wait::MiscFile)).unwrap();
    let parts: Vec<Vec<u8>> = (0..2500_usize).map(|n| vec![n as u8; n % 7]).collect();
    let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    file.write_vectored_at(&slices, 3).unwrap();
    let mut back = vec![0; parts.iter().map(Vec::len).sum()];
    file.read_at(&mut back, 3).unwrap();
    assert_eq!(back, parts.concat());
    assert_eq!(file.len().unwrap(), 3 + back.len() as u64);
    file.write_vectored_at(&[IoSlice::new(&[]); 3], 0).unwrap();
}

#[test]
fn direct_transfers_or_none_but_the_same_bytes() {
    let scratch = Scratch::new("direct");
    let file =
        scratch.open().open_file("f", OpenOptions::create_new(sync::waits::Wait::MiscFile).direct(true)).unwrap();
    let mut page = AlignedBuf::zeroed(4 * ALIGNMENT);
    page[5000] = 7;
    file.write_at(&page, 8192).unwrap();
    file.sync_all().unwrap();
    let mut back = AlignedBuf::zeroed(4 * ALIGNMENT);
    file.read_at(&mut back, 8192).unwrap();
    assert_eq!(*back, *page);
}

#[test]
fn names_change_and_errors_say_which_file_and_why() {
    let scratch = Scratch::new("names");
    let dir = scratch.open();
    let missing = dir.open_file("a", OpenOptions::write(sync::waits::Wait::MiscFile)).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(missing.to_string().starts_with("cannot open /"), "{missing}");
    drop(dir.open_file("a", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap());
    assert_eq!(
        dir.open_file("a", OpenOptions::create_new(sync::waits::Wait::MiscFile)).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    drop(dir.open_file("b", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap());
    dir.rename("a", "b").unwrap();
    assert_eq!(dir.list().unwrap(), ["b"]);
    assert!(dir.contains("b").unwrap() && !dir.contains("a").unwrap());
    dir.remove("b").unwrap();
    assert_eq!(dir.remove("b").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(Directory::create(dir.path()).unwrap_err().kind(), ErrorKind::AlreadyExists);
    Directory::open_or_create(dir.join("sub")).unwrap();
    Directory::open_or_create(dir.join("sub")).unwrap();
}

#[test]
fn a_full_disk_is_told_apart() {
    let Ok(full) = File::open("/dev/full", OpenOptions::write(sync::waits::Wait::MiscFile)) else { return };
    assert_eq!(full.write_at(b"x", 0).unwrap_err().kind(), ErrorKind::Full);
}

#[test]
fn one_holder_of_the_lock() {
    let scratch = Scratch::new("lock");
    let open = || scratch.open().open_file("lock", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    let first = open();
    first.lock_exclusive().unwrap();
    assert_eq!(open().lock_exclusive().unwrap_err().kind(), ErrorKind::Locked);
    drop(first);
    open().lock_exclusive().unwrap();
}
