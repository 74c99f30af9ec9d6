//! Power cuts, full disks and failed devices, on a simulated disk that loses and tears what was not flushed.

use std::path::PathBuf;
use std::time::Duration;

use io::Op;
use io::faults::{Action, Rule, Script, SimDisk};
use log::{Error, Log, Lsn, Options, Recovery};

fn small() -> Options {
    Options {
        ring_bytes: 16 << 10,
        capacity: 128 << 10,
        segment_bytes: Some(16 << 10),
        flush_interval: None,
        ..Options::default()
    }
}

fn mount(name: &str, seed: u64) -> (SimDisk, PathBuf) {
    let root = PathBuf::from(format!("/sim/log-{name}-{seed}"));
    let disk = SimDisk::mount(&root, seed);
    (disk, root)
}

/// The counts in the log from its checkpoint on; each must be followed by its own pattern.
fn counts(recovery: &Recovery) -> Vec<u64> {
    let mut groups = recovery.groups(recovery.checkpoint().lsn);
    let mut counts = Vec::new();
    while let Some(group) = groups.next().unwrap() {
        let count = u64::from_le_bytes(group.payload[..8].try_into().unwrap());
        assert!(group.payload[8..].iter().all(|&byte| byte == count as u8), "a wrong payload");
        assert_eq!(group.payload.len(), payload(count).len());
        counts.push(count);
    }
    counts
}

fn payload(count: u64) -> Vec<u8> {
    let mut bytes = count.to_le_bytes().to_vec();
    bytes.resize(8 + (count as usize * 631) % 3800, count as u8);
    bytes
}

/// What the workload was told.
#[derive(Default)]
struct Told {
    /// The next count to append.
    next: u64,
    /// Counts below this were acknowledged as durable.
    durable: u64,
    /// Counts below this may be gone: a checkpoint that may have been made starts here.
    checkpoint: u64,
}

/// Appends, flushes, writes and checkpoints until the power fails.
fn work(log: &Log, told: &mut Told, steps: u64) -> Result<(), Error> {
    let mut starts: Vec<(u64, Lsn)> = Vec::new();
    for _ in 0..steps {
        let at = log.append(&[&payload(told.next)])?;
        starts.push((told.next, at.start));
        told.next += 1;
        match told.next % 5 {
            0 | 2 => {
                log.wait_flushed(at.end)?;
                told.durable = told.next;
            }
            3 => log.wait_written(at.end)?,
            _ => {}
        }
        if told.next.is_multiple_of(11) {
            let (count, lsn) = starts[starts.len() / 2];
            told.checkpoint = count;
            log.set_checkpoint(lsn, &count.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Crashes at the `n`th change for every n, three times over, and reads what is left.
#[test]
fn whatever_was_acknowledged_survives_a_power_cut_at_every_change() {
    let mut crashes = 0;
    for n in 1.. {
        let (disk, root) = mount("power", n);
        let mut told = Told::default();
        let mut finished = false;
        for life in 0..3 {
            disk.crash_at_change(n.div_ceil(life + 1));
            match Log::open(&root, small()) {
                Ok((log, recovery)) => {
                    let found = counts(&recovery);
                    let first = recovery.checkpoint().payload.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
                    assert!(first <= told.checkpoint, "n {n}: a checkpoint nobody made");
                    assert!(
                        found.iter().copied().eq(first..first + found.len() as u64),
                        "n {n}: {found:?} from {first}"
                    );
                    let next = first + found.len() as u64;
                    assert!(next >= told.durable, "n {n}: {} was acknowledged, found {found:?}", told.durable);
                    assert!(next <= told.next);
                    told.next = next;
                    told.durable = next;
                    finished = work(&log, &mut told, 60).is_ok();
                }
                Err(Error::Io { .. }) => {
                    assert!(disk.is_down(), "n {n}: only a dead disk may keep the log from opening")
                }
                Err(error) => panic!("n {n}, life {life}: {error}"),
            }
            disk.reboot();
        }
        let (_log, recovery) = Log::open(&root, small()).unwrap_or_else(|error| panic!("n {n}: {error}"));
        let found = counts(&recovery);
        let next = found.last().map_or(told.checkpoint, |last| last + 1);
        assert!(next >= told.durable, "n {n}: {} was acknowledged, found {found:?}", told.durable);
        disk.unmount();
        if finished && n > 30 {
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 30, "only {crashes}");
}

#[test]
fn on_a_full_disk_the_next_checkpoint_makes_room() {
    let (disk, root) = mount("recycled", 1);
    let (log, _) = Log::open(&root, small()).unwrap();
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            for count in 0..2_000 {
                for ask in [Log::ensure_room, Log::ensure_room_critical] {
                    ask(&log, 4_000).unwrap();
                    let at = log.append(&[&payload(count)]).unwrap();
                    log.wait_flushed(at.end).unwrap();
                }
                if count == 500 {
                    disk.set_room(Some(0));
                }
            }
        });
        while !writer.is_finished() {
            log.set_checkpoint(log.flushed_lsn(), b"").unwrap();
            std::thread::yield_now();
        }
    });
    assert!(log.tail_lsn() > 8 * log.capacity(), "{} bytes of log", log.tail_lsn());
    disk.unmount();
}

#[test]
fn a_full_disk_loses_nothing_and_ends() {
    let (disk, root) = mount("full", 1);
    let (log, _) = Log::open(&root, small()).unwrap();
    disk.set_room(Some(0));
    // Ordinary work is refused before it begins, once the spare segment is all that is left.
    let refused = log.ensure_room(1000);
    assert!(matches!(refused, Err(Error::NoSpace { .. })), "{refused:?}");
    let mut acknowledged = 0;
    let mut pending = None;
    for count in 0..100 {
        let at = log.append(&[&payload(count)]).unwrap();
        match log.wait_flushed(at.end) {
            Ok(()) => acknowledged = count + 1,
            Err(Error::NoSpace { .. }) => {
                assert!(log.flushed_lsn() < at.end, "not durable, and says so");
                pending = Some(at);
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let pending = pending.expect("the disk is full");
    assert!(acknowledged > 0);
    assert!(matches!(log.wait_flushed(pending.end), Err(Error::NoSpace { .. })));
    disk.set_room(None);
    log.wait_flushed(pending.end).unwrap();
    log.ensure_room(1000).unwrap();
    let at = log.append(&[&payload(acknowledged + 1)]).unwrap();
    log.wait_flushed(at.end).unwrap();
    disk.crash();
    drop(log);
    disk.reboot();
    let (_log, recovery) = Log::open(&root, small()).unwrap();
    assert!(counts(&recovery).into_iter().eq(0..acknowledged + 2));
    disk.unmount();
}

#[test]
fn a_failed_sync_poisons_every_later_wait() {
    let (disk, root) = mount("sync", 1);
    let (log, _) = Log::open(&root, small()).unwrap();
    let good = log.append(&[&payload(0)]).unwrap();
    log.wait_flushed(good.end).unwrap();
    disk.fail_from(Op::Sync, 1);
    let bad = log.append(&[&payload(1)]).unwrap();
    assert!(matches!(log.wait_flushed(bad.end), Err(Error::Poisoned { .. })));
    let syncs = disk.count(Op::Sync);
    assert!(matches!(log.wait_flushed(bad.end), Err(Error::Poisoned { .. })));
    assert!(matches!(log.append(&[b"x"]), Err(Error::Poisoned { .. })));
    assert!(matches!(log.ensure_room(1), Err(Error::Poisoned { .. })));
    assert!(matches!(log.set_checkpoint(bad.end, b""), Err(Error::Poisoned { .. })));
    assert_eq!(disk.count(Op::Sync), syncs, "a failed sync is never retried");
    log.wait_flushed(good.end).unwrap();
    drop(log);
    disk.crash();
    disk.reboot();
    let (_log, recovery) = Log::open(&root, small()).unwrap();
    assert_eq!(counts(&recovery)[0], 0);
    disk.unmount();
}

/// A process that dies leaves what it wrote in the kernel's cache only. The next start reads it there, counts it as durable, and so
/// must make it so.
#[test]
fn what_a_start_finds_is_durable_from_then_on() {
    for seed in 0..20 {
        let (disk, root) = mount("found", seed);
        let (log, _) = Log::open(&root, small()).unwrap();
        // Over several segments.
        for count in 0..20 {
            let at = log.append(&[&payload(count)]).unwrap();
            log.wait_written(at.end).unwrap();
        }
        assert!(log.written_lsn() > 2 * (16 << 10));
        // Dies without closing.
        std::mem::forget(log);
        let (log, recovery) = Log::open(&root, small()).unwrap();
        assert!(counts(&recovery).into_iter().eq(0..20), "seed {seed}");
        std::mem::forget(log);
        disk.crash();
        disk.reboot();
        let (_log, recovery) = Log::open(&root, small()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(counts(&recovery).into_iter().eq(0..20), "seed {seed}");
        disk.unmount();
    }
}

/// After a failed sync the kernel holds what was written as if it had been flushed. The next start reads it there, and a sync alone would
/// change nothing: it has to be written again.
#[test]
fn what_a_start_finds_after_a_failed_sync_is_durable_from_then_on() {
    for seed in 0..20 {
        let (disk, root) = mount("unsynced", seed);
        let (log, _) = Log::open(&root, small()).unwrap();
        for count in 0..7 {
            let at = log.append(&[&payload(count)]).unwrap();
            log.wait_flushed(at.end).unwrap();
        }
        // Over more than one segment.
        for count in 7..20 {
            log.append(&[&payload(count)]).unwrap();
        }
        let end = log.tail_lsn();
        log.wait_written(end).unwrap();
        disk.fail_from(Op::Sync, 1);
        assert!(matches!(log.wait_flushed(end), Err(Error::Poisoned { .. })));
        disk.set_script(Script::default());
        drop(log);
        let (log, recovery) = Log::open(&root, small()).unwrap();
        assert!(counts(&recovery).into_iter().eq(0..20), "seed {seed}");
        let more = log.append(&[&payload(20)]).unwrap();
        log.wait_flushed(more.end).unwrap();
        std::mem::forget(log);
        disk.crash();
        disk.reboot();
        let (_log, recovery) = Log::open(&root, small()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(counts(&recovery).into_iter().eq(0..=20), "seed {seed}");
        disk.unmount();
    }
}

/// Nothing in the log comes after it that could tell, but the control file knows.
#[test]
fn the_loss_of_what_an_earlier_start_found_is_damage() {
    let (disk, root) = mount("known", 1);
    let (log, _) = Log::open(&root, small()).unwrap();
    let at = log.append(&[&payload(1)]).unwrap();
    log.close().unwrap();
    drop(log);
    drop(Log::open(&root, small()).unwrap());
    assert!(disk.corrupt(root.join("clearway-0000000000.log"), 4096 + at.start as usize + 20, 1));
    match Log::open(&root, small()).err() {
        Some(Error::Corrupt { file, lsn, why, .. }) => {
            assert_eq!((file.as_path(), lsn), (root.join("clearway-0000000000.log").as_path(), at.start));
            assert!(why.contains("durable"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    disk.unmount();
}

/// One slot of the control file is rot, or cannot be read: the other says the same, whatever was done last. Were it older, the end of
/// the log would be that of an earlier start, and what was acknowledged since would be gone in silence.
#[test]
fn a_rotten_control_slot_loses_nothing() {
    for slot in 0..2 {
        for checkpoints in 0..4 {
            let (disk, root) = mount("slot", slot * 10 + checkpoints);
            drop(Log::open(&root, small()).unwrap());
            let (log, _) = Log::open(&root, small()).unwrap();
            for count in 0..10 {
                let at = log.append(&[&payload(count)]).unwrap();
                log.wait_flushed(at.end).unwrap();
                if count < checkpoints {
                    log.set_checkpoint(at.start, &count.to_le_bytes()).unwrap();
                }
            }
            let checkpoint = log.checkpoint();
            std::mem::forget(log);
            disk.crash();
            disk.reboot();
            assert!(disk.corrupt(root.join("clearway.control"), slot as usize * (64 << 10) + 40, 1));
            let (log, recovery) = Log::open(&root, small()).unwrap();
            assert_eq!(*recovery.checkpoint(), checkpoint);
            assert!(counts(&recovery).into_iter().eq(checkpoints.saturating_sub(1)..10), "slot {slot}, {checkpoints}");
            drop(log);
            // And the damage is mended: now the other one may rot.
            assert!(disk.corrupt(root.join("clearway.control"), (1 - slot as usize) * (64 << 10) + 40, 1));
            let (_log, recovery) = Log::open(&root, small()).unwrap();
            assert_eq!(recovery.checkpoint().lsn, checkpoint.lsn);
            assert!(counts(&recovery).into_iter().eq(checkpoints.saturating_sub(1)..10), "slot {slot}, {checkpoints}");
            disk.unmount();
        }
    }
}

/// A control file that is older than the log (restored from a copy, say) would end the log where an earlier start ended it.
#[test]
fn a_control_file_of_an_earlier_start_is_damage() {
    let (disk, root) = mount("older", 1);
    let (log, _) = Log::open(&root, small()).unwrap();
    let at = log.append(&[&payload(0)]).unwrap();
    log.close().unwrap();
    drop(log);
    let control =
        io::File::open(root.join("clearway.control"), io::OpenOptions::write(sync::waits::Wait::LogFile)).unwrap();
    let mut older = vec![0; control.len().unwrap() as usize];
    control.read_at(&mut older, 0).unwrap();
    let (log, _) = Log::open(&root, small()).unwrap();
    log.append(&[&payload(1)]).unwrap();
    log.close().unwrap();
    drop(log);
    control.write_at(&older, 0).unwrap();
    match Log::open(&root, small()).err() {
        Some(Error::Corrupt { file, lsn, why, .. }) => {
            assert_eq!((file.as_path(), lsn), (root.join("clearway-0000000000.log").as_path(), at.end));
            assert!(why.contains("later start"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    disk.unmount();
}

/// A checkpoint whose control file cannot be written fails, and neither it nor the ones before it are lost.
#[test]
fn a_checkpoint_that_fails_leaves_a_whole_slot() {
    for nth in 1..=4 {
        let (disk, root) = mount("half", nth);
        let (log, _) = Log::open(&root, small()).unwrap();
        let at = log.append(&[&payload(0)]).unwrap();
        log.wait_flushed(at.end).unwrap();
        // Writes of the one and the other slot, and the flushes of them.
        let op = if nth % 2 == 1 { Op::Write } else { Op::Sync };
        let mut script = Script::default();
        script.push(Rule::new(Action::Fail, Some(op), nth.div_ceil(2)).within("control"));
        disk.set_script(script);
        assert!(matches!(log.set_checkpoint(at.end, b"one"), Err(Error::Io { .. })), "{op:?} {nth}");
        assert_eq!(log.checkpoint().payload, b"");
        disk.set_script(Script::default());
        // The power fails in the middle of each write of the next attempt.
        let image = disk.image();
        for torn in 1..=3 {
            let moved = PathBuf::from(format!("/sim/log-half-torn-{nth}-{torn}"));
            let copy = image.clone().mount(&moved, torn);
            copy.reboot();
            let opened = Log::open(&moved, small());
            let (log, recovery) = opened.unwrap_or_else(|error| panic!("{op:?} {nth}: {error}"));
            assert!(recovery.checkpoint().payload.is_empty() || recovery.checkpoint().payload == b"one");
            copy.tear_at(torn);
            let attempt = log.set_checkpoint(at.end, b"two");
            drop(log);
            copy.reboot();
            let (_log, recovery) = Log::open(&moved, small()).unwrap_or_else(|error| panic!("{op:?} {nth}: {error}"));
            assert!(attempt.is_err() || recovery.checkpoint().payload == b"two");
            copy.unmount();
        }
        log.set_checkpoint(at.end, b"two").unwrap();
        drop(log);
        let (_log, recovery) = Log::open(&root, small()).unwrap();
        assert_eq!(recovery.checkpoint().payload, b"two");
        disk.unmount();
    }
}

/// The log ends where its last segment does: a start needs no room, and what comes next makes the segment.
#[test]
fn a_full_disk_does_not_keep_a_log_from_opening() {
    let (disk, root) = mount("boundary", 1);
    let (log, _) = Log::open(&root, small()).unwrap();
    while log.tail_lsn() < 16 << 10 {
        log.append(&[&vec![1; log.group_bytes_max()]]).unwrap();
    }
    assert_eq!(log.tail_lsn(), 16 << 10);
    log.close().unwrap();
    drop(log);
    disk.set_room(Some(0));
    for _ in 0..2 {
        // Nobody makes a checkpoint.
        let (log, recovery) = Log::open(&root, Options { checkpoint_wait: Duration::ZERO, ..small() }).unwrap();
        assert_eq!(recovery.end(), 16 << 10);
        assert!(matches!(log.ensure_room(1), Err(Error::NoSpace { .. })));
    }
    disk.set_room(None);
    let (log, _) = Log::open(&root, small()).unwrap();
    let at = log.append(&[&payload(1)]).unwrap();
    log.wait_flushed(at.end).unwrap();
    drop(log);
    assert_eq!(Log::open(&root, small()).unwrap().1.end(), at.end);
    disk.unmount();
}
