//! Simulated disks: what a crash may take, and what it may not. The last test is a small crash-safe file, killed at every step.

use io::faults::{Script, SimDisk};
use io::{Directory, ErrorKind, File, Op, OpenOptions, Result};
use std::path::Path;

fn read_all(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path, OpenOptions::read(sync::waits::Wait::MiscFile)).ok()?;
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    Some(bytes)
}

#[test]
fn what_was_flushed_survives_and_what_was_not_may_not() {
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let disk = SimDisk::mount("/sim/flushed", seed);
        let dir = Directory::open("/sim/flushed").unwrap();
        let file = dir.open_file("f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        dir.sync().unwrap();
        file.write_at(&[1; 1024], 0).unwrap();
        file.sync_data().unwrap();
        file.write_at(&[2; 1024], 0).unwrap();
        assert_eq!(read_all(&dir.join("f")).unwrap(), [2; 1024], "a writer sees its writes");
        disk.crash();
        assert_eq!(file.read_at(&mut [0; 1], 0).unwrap_err().kind(), ErrorKind::Device);
        disk.reboot();
        assert!(file.write_at(&[9], 0).is_err(), "a handle from before the crash is dead");
        let bytes = read_all(&dir.join("f")).expect("the name was flushed");
        assert!(bytes.chunks(512).all(|sector| sector == [sector[0]; 512]), "seed {seed}: a sector is torn");
        outcomes.insert([bytes[0], bytes[512]]);
        disk.unmount();
    }
    assert_eq!(outcomes.len(), 4, "old, new, and both ways to tear: {outcomes:?}");
}

#[test]
fn names_survive_in_order_once_the_directory_is_flushed() {
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::mount("/sim/names", seed);
        let dir = Directory::open("/sim/names").unwrap();
        let sub = Directory::create("/sim/names/sub").unwrap();
        sub.open_file("kept", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        sub.sync().unwrap();
        dir.open_file("a", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        dir.open_file("b", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        disk.crash();
        disk.reboot();
        assert_eq!(sub.list().unwrap(), ["kept"]);
        outcomes.insert(dir.list().unwrap());
        disk.unmount();
    }
    let lists: Vec<Vec<&str>> = vec![vec!["a", "b", "sub"], vec!["a", "sub"], vec!["sub"]];
    assert_eq!(outcomes, lists.into_iter().map(|l| l.into_iter().map(String::from).collect()).collect());
}

#[test]
fn a_full_disk_takes_no_more_until_there_is_room() {
    let disk = SimDisk::mount("/sim/full", 1);
    let dir = Directory::open("/sim/full").unwrap();
    let file = dir.open_file("f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    disk.set_room(Some(100));
    file.allocate(0, 80).unwrap();
    file.write_at(&[1; 80], 0).unwrap();
    assert_eq!(file.write_at(&[1; 80], 40).unwrap_err().kind(), ErrorKind::Full);
    assert_eq!(file.allocate(0, 101).unwrap_err().kind(), ErrorKind::Full);
    assert_eq!(file.len().unwrap(), 80, "what did not fit was not done");
    file.truncate(10).unwrap();
    file.write_at(&[1; 80], 10).unwrap();
    drop(file);
    dir.remove("f").unwrap();
    dir.open_file("g", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap().write_at(&[1; 100], 0).unwrap();
    disk.unmount();
}

#[test]
fn a_device_that_fails_goes_on_failing() {
    let disk = SimDisk::mount("/sim/device", 1);
    let file = File::open("/sim/device/redo", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    disk.set_script("fail sync 2 in redo".parse::<Script>().unwrap());
    file.sync_data().unwrap();
    for _ in 0..2 {
        assert_eq!(file.sync_data().unwrap_err().kind(), ErrorKind::Device);
    }
    file.write_at(&[1], 0).unwrap();
    disk.unmount();
}

#[test]
fn locks_die_with_their_handle_and_with_the_machine() {
    let disk = SimDisk::mount("/sim/lock", 1);
    let open = || File::open("/sim/lock/f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    let first = open();
    first.lock_exclusive().unwrap();
    assert_eq!(open().lock_exclusive().unwrap_err().kind(), ErrorKind::Locked);
    drop(first);
    let second = open();
    second.lock_exclusive().unwrap();
    Directory::open("/sim/lock").unwrap().sync().unwrap();
    disk.crash();
    disk.reboot();
    open().lock_exclusive().unwrap();
    drop(second);
    disk.unmount();
}

/// Replaces the contents of `value` so that a crash leaves the old or the new: write aside, flush, rename.
fn replace(dir: &Directory, bytes: &[u8]) -> Result<()> {
    let aside =
        dir.open_file("value.new", OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::MiscFile) })?;
    aside.write_at(&bytes[..bytes.len() / 2], 0)?;
    aside.write_at(&bytes[bytes.len() / 2..], bytes.len() as u64 / 2)?;
    aside.sync_data()?;
    dir.rename("value.new", "value")
}

#[test]
fn the_loop_over_every_change_finds_each_state() {
    let (old, new) = ([1_u8; 2000], [2_u8; 3000]);
    let mut seen = [0; 2];
    for seed in 0..20 {
        let mut at = 1;
        loop {
            let disk = SimDisk::mount("/sim/loop", seed);
            let dir = Directory::open("/sim/loop").unwrap();
            replace(&dir, &old).unwrap();
            let before = disk.changes();
            if at % 2 == 0 {
                disk.crash_at_change(at);
            } else {
                disk.set_script(format!("seed {seed}; tear any {at}").parse().unwrap());
            }
            let outcome = replace(&dir, &new);
            let done = disk.changes() - before;
            disk.crash();
            disk.reboot();
            let bytes = read_all(&dir.join("value"));
            disk.unmount();
            let bytes = bytes.unwrap_or_else(|| panic!("seed {seed}, change {at}: the value is gone"));
            assert!(bytes == old || bytes == new, "seed {seed}, change {at}: a mixture");
            seen[usize::from(bytes == new)] += 1;
            if outcome.is_ok() {
                assert!(bytes == new, "seed {seed}: acknowledged and lost");
                assert_eq!(done, 5, "two writes, a flush, a rename, a flush of the directory");
                break;
            }
            at += 1;
            assert!(at < 100);
        }
    }
    assert!(seen[0] > 0 && seen[1] > 20, "both states occur: {seen:?}");
}

#[test]
fn the_harness_notices_a_missing_flush() {
    let caught = (0..50).any(|seed| {
        let disk = SimDisk::mount("/sim/careless", seed);
        let dir = Directory::open("/sim/careless").unwrap();
        dir.open_file("aside", OpenOptions::create(sync::waits::Wait::MiscFile))
            .unwrap()
            .write_at(&[2; 3000], 0)
            .unwrap();
        dir.rename("aside", "value").unwrap();
        assert_eq!(disk.count(Op::Sync), 0);
        disk.crash();
        disk.reboot();
        let bytes = read_all(&dir.join("value"));
        disk.unmount();
        bytes.is_none_or(|bytes| bytes != [2; 3000])
    });
    assert!(caught);
}

/// The body of the test below, in a process of its own: does nothing unless started by it.
#[test]
fn child_that_writes_three_times() {
    let Ok(path) = std::env::var("CLEARWAY_TEST_FILE") else { return };
    let file = File::open(&path, OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    for n in 0..3 {
        match file.write_at(&[n + 1; 100], u64::from(n) * 100) {
            Err(e) if e.kind() == ErrorKind::Full => return,
            done => done.unwrap(),
        }
    }
}

#[test]
fn a_process_is_killed_where_its_script_says() {
    let lengths = [
        ("crash write 3", 200..=200, false),
        ("seed 5; tear write 2", 100..=199, false),
        ("full 250", 200..=200, true),
        ("crash write 1 in elsewhere", 300..=300, true),
    ];
    for (n, (script, length, ends_well)) in lengths.into_iter().enumerate() {
        let path = std::env::temp_dir().join(format!("clearway-io-killed-{}-{n}", std::process::id()));
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_writes_three_times"])
            .env(io::faults::VARIABLE, script)
            .env("CLEARWAY_TEST_FILE", &path)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        let written = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(status.success(), ends_well, "{script}");
        assert!(length.contains(&written.len()), "{script}: {} bytes", written.len());
    }
}

#[test]
fn an_image_is_a_moment_of_the_disk_and_its_power_is_cut_elsewhere() {
    let root = Path::new("/sim/image");
    let disk = SimDisk::mount(root, 1);
    let directory = Directory::open(root).unwrap();
    let file = directory.open_file("a", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
    directory.sync().unwrap();
    file.write_at(b"durable", 0).unwrap();
    file.sync_data().unwrap();
    let (images, taken) = std::sync::mpsc::channel();
    disk.set_witness(move |moment| images.send((moment.op, moment.image())).unwrap());
    file.write_at(b"pending", 0).unwrap();
    file.sync_data().unwrap();
    let (op, before) = taken.recv().unwrap();
    assert_eq!(op, Op::Write);
    let (op, between) = taken.recv().unwrap();
    assert_eq!(op, Op::Sync);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        for (image, place) in [(before.clone(), "/sim/before"), (between.clone(), "/sim/between")] {
            let cut = image.mount(place, seed);
            assert!(Directory::open(place).is_err(), "the power is off");
            cut.reboot();
            let mut bytes = [0; 7];
            Directory::open(place)
                .unwrap()
                .open_file("a", OpenOptions::read(sync::waits::Wait::MiscFile))
                .unwrap()
                .read_at(&mut bytes, 0)
                .unwrap();
            seen.insert((place, bytes));
            cut.unmount();
        }
    }
    let expected = [("/sim/before", *b"durable"), ("/sim/between", *b"durable"), ("/sim/between", *b"pending")];
    assert!(
        seen.into_iter().eq(expected),
        "a write that is not flushed is there or not; an image has what came before it"
    );
    disk.unmount();
}

#[test]
fn a_flush_that_failed_is_not_made_good_by_the_next_one() {
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let disk = SimDisk::mount("/sim/fsync", seed);
        let dir = Directory::open("/sim/fsync").unwrap();
        let file = dir.open_file("f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        dir.sync().unwrap();
        file.write_at(&[1; 512], 0).unwrap();
        file.sync_data().unwrap();
        file.write_at(&[2; 512], 0).unwrap();
        disk.set_script("failonce sync 1".parse::<Script>().unwrap());
        assert_eq!(file.sync_data().unwrap_err().kind(), ErrorKind::Device);
        file.sync_data().unwrap();
        disk.restart();
        assert!(file.sync_data().is_err(), "a handle of the process before is dead");
        assert_eq!(read_all(&dir.join("f")).unwrap(), [2; 512], "the next process reads what the kernel has");
        dir.open_file("f", OpenOptions::write(sync::waits::Wait::MiscFile)).unwrap().sync_data().unwrap();
        disk.reboot();
        outcomes.insert(read_all(&dir.join("f")).unwrap()[0]);
        disk.unmount();
    }
    assert_eq!(outcomes, [1, 2].into(), "the write may or may not be on the device");
}

#[test]
fn a_write_that_failed_may_be_done_in_part() {
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let disk = SimDisk::mount("/sim/part", seed);
        let dir = Directory::open("/sim/part").unwrap();
        let file = dir.open_file("f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        disk.set_script("failonce write 1".parse::<Script>().unwrap());
        assert_eq!(file.write_at(&[1; 8], 0).unwrap_err().kind(), ErrorKind::Device);
        lengths.insert(file.len().unwrap());
        file.write_at(&[2; 8], 0).unwrap();
        assert_eq!(read_all(&dir.join("f")).unwrap(), [2; 8]);
        disk.unmount();
    }
    assert!(lengths.contains(&0) && lengths.contains(&8) && lengths.len() > 4, "{lengths:?}");
}

#[test]
fn equal_runs_have_equal_digests() {
    let run = |bytes: usize| {
        let disk = SimDisk::mount("/sim/digest", 1);
        let dir = Directory::open("/sim/digest").unwrap();
        let file = dir.open_file("f", OpenOptions::create(sync::waits::Wait::MiscFile)).unwrap();
        file.write_at(&vec![1; bytes], 0).unwrap();
        let digest = disk.digest();
        disk.unmount();
        digest
    };
    assert_eq!(run(10), run(10));
    assert_ne!(run(10), run(11));
}
