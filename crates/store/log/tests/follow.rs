//! Reading the log while it grows: nothing is missed, nothing comes twice, nothing that is needed is freed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use io::faults::SimDisk;
use log::{Error, Follower, Log, Lsn, Options};

const SEGMENT: u64 = 64 << 10;

fn options(retain_from: Option<Lsn>) -> Options {
    Options {
        ring_bytes: 64 << 10,
        capacity: 256 << 10,
        segment_bytes: Some(SEGMENT),
        flush_interval: None,
        checkpoint_wait: Duration::ZERO,
        retain_from,
        vault: None,
    }
}

/// Takes groups until `end`, with the follower's own waits.
fn take_to(follower: &mut Follower, end: Lsn, mut take: impl FnMut(Lsn, &[u8])) {
    let began = Instant::now();
    while follower.position() < end {
        match follower.next().unwrap() {
            Some(group) => take(group.start, group.payload),
            None => follower.wait(Duration::from_secs(10)),
        }
        assert!(began.elapsed() < Duration::from_secs(60), "stuck at {}", follower.position());
    }
}

#[test]
fn every_group_comes_once_and_in_order_while_others_append() {
    let root = PathBuf::from("/sim/log-follow");
    let disk = SimDisk::mount(&root, 3);
    let (log, recovery) = Log::open(&root, Options { capacity: 1 << 30, ..options(None) }).unwrap();
    let mut follower = log.follow(recovery.end());
    let (threads, rounds) = (4_u32, 5_000_u32);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..threads)
            .map(|thread| {
                let log = Arc::clone(&log);
                scope.spawn(move || {
                    for round in 0..rounds {
                        let body = vec![thread as u8; (round % 400) as usize];
                        let at = log.append(&[&thread.to_le_bytes(), &round.to_le_bytes(), &body]).unwrap();
                        if round % 7 == 0 || round + 1 == rounds {
                            log.wait_flushed(at.end).unwrap();
                        }
                    }
                })
            })
            .collect();
        let (mut next, mut count) = (HashMap::new(), 0);
        let began = Instant::now();
        while count < threads * rounds {
            let Some(group) = follower.next().unwrap() else {
                follower.wait(Duration::from_secs(10));
                assert!(began.elapsed() < Duration::from_secs(60), "{count} groups");
                continue;
            };
            let word = |at: usize| u32::from_le_bytes(group.payload[at..at + 4].try_into().unwrap());
            let expected = next.entry(word(0)).or_insert(0);
            assert_eq!(word(4), *expected, "thread {}", word(0));
            assert_eq!(group.payload.len() as u32, 8 + *expected % 400);
            *expected += 1;
            count += 1;
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    assert_eq!(follower.position(), log.tail_lsn());
    assert!(follower.next().unwrap().is_none());
    drop((log, follower));
    disk.unmount();
}

/// Long enough that a thread which is about to sleep does; were it not, the test would pass without having tested.
fn await_sleeper() {
    sync::Parker::new().park_timeout(Duration::from_millis(150), sync::waits::Wait::Background);
}

#[test]
fn what_is_not_durable_is_not_seen() {
    let root = PathBuf::from("/sim/log-follow-durable");
    let disk = SimDisk::mount(&root, 4);
    let (log, recovery) = Log::open(&root, options(None)).unwrap();
    let mut follower = log.follow(recovery.end());
    let at = log.append(&[b"first"]).unwrap();
    log.wait_written(at.end).unwrap();
    assert!(follower.next().unwrap().is_none());
    log.wait_flushed(at.end).unwrap();
    assert_eq!(follower.next().unwrap().unwrap().payload, b"first");
    drop((log, follower));
    disk.unmount();
}

#[test]
fn a_follower_that_sleeps_is_woken_by_a_flush_and_by_a_hurry() {
    let root = PathBuf::from("/sim/log-follow-wake");
    let disk = SimDisk::mount(&root, 5);
    let (log, recovery) = Log::open(&root, options(None)).unwrap();
    let mut follower = log.follow(recovery.end());
    let sleeper = std::thread::spawn(move || {
        let began = Instant::now();
        while follower.next().unwrap().is_none() {
            follower.wait(Duration::from_secs(30));
        }
        let woken = began.elapsed();
        // The first waits after a group are naps.
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(100) {
            follower.wait(Duration::from_secs(30));
        }
        (woken, began.elapsed())
    });
    await_sleeper();
    let at = log.append(&[b"group"]).unwrap();
    log.wait_flushed(at.end).unwrap();
    while !sleeper.is_finished() {
        await_sleeper();
        log.hurry_followers();
    }
    let (woken, hurried) = sleeper.join().unwrap();
    assert!(woken < Duration::from_secs(20), "{woken:?}");
    assert!(hurried < Duration::from_secs(20), "{hurried:?}");
    drop(log);
    disk.unmount();
}

#[test]
fn what_a_follower_needs_outlives_checkpoints_and_restarts() {
    let root = PathBuf::from("/sim/log-follow-retain");
    let disk = SimDisk::mount(&root, 6);
    let (log, recovery) = Log::open(&root, options(Some(0))).unwrap();
    let begin = recovery.end();
    log.retain(begin).unwrap();
    let mut appended = Vec::new();
    for round in 0_u32..60 {
        let at = log.append(&[&round.to_le_bytes(), &[1; 4000]]).unwrap();
        log.wait_flushed(at.end).unwrap();
        log.set_checkpoint(at.end, b"").unwrap();
        appended.push(at);
    }
    let end = log.tail_lsn();
    assert!(end > begin + 3 * SEGMENT);
    drop((log, recovery));

    // Read a third, and free it.
    let (log, _) = Log::open(&root, options(Some(begin))).unwrap();
    let mut follower = log.follow(begin);
    let mut seen = 0;
    take_to(&mut follower, appended[20].start, |_, payload| {
        assert_eq!(payload[..4], u32::to_le_bytes(seen));
        seen += 1;
    });
    let files = log.file_bytes();
    log.retain(follower.position()).unwrap();
    let from = follower.position();
    drop((log, follower));

    // Once more from there, in a later epoch, across the end of the earlier one.
    let (log, _) = Log::open(&root, options(Some(from))).unwrap();
    assert!(log.file_bytes() <= files);
    let at = log.append(&[&60_u32.to_le_bytes()]).unwrap();
    log.wait_flushed(at.end).unwrap();
    let mut follower = log.follow(from);
    take_to(&mut follower, at.end, |_, payload| {
        assert_eq!(payload[..4], u32::to_le_bytes(seen));
        seen += 1;
    });
    assert_eq!(seen, 61);
    // Below, nothing is kept.
    assert!(matches!(log.follow(begin).next(), Err(Error::Corrupt { .. })));
    log.retain(Lsn::MAX).unwrap();
    drop((log, follower));

    let (log, _) = Log::open(&root, options(None)).unwrap();
    assert!(matches!(log.follow(from).next(), Err(Error::Corrupt { .. })));
    // Who comes too late is told, and the log opens all the same.
    log.append(&[&[2; 20 << 10]]).unwrap();
    drop(log);
    let (log, _) = Log::open(&root, options(Some(begin))).unwrap();
    assert!(log.first_lsn() > begin);
    drop(log);
    disk.unmount();
}

/// As one does that waits for the end of a transaction larger than the log.
#[test]
fn a_follower_may_need_more_than_the_log_is_bound_to() {
    let root = PathBuf::from("/sim/log-follow-far");
    let disk = SimDisk::mount(&root, 8);
    let (log, recovery) = Log::open(&root, options(Some(0))).unwrap();
    let begin = recovery.end();
    log.retain(begin).unwrap();
    let mut follower = log.follow(begin);
    while log.tail_lsn() < 8 * log.capacity() {
        log.ensure_room(4 << 10).unwrap();
        let at = log.append(&[&[1; 4 << 10]]).unwrap();
        log.set_checkpoint(at.end, b"").unwrap();
        take_to(&mut follower, at.end, |_, _| ());
    }
    let mut groups = 0;
    take_to(&mut follower.again(begin), log.tail_lsn(), |_, _| groups += 1);
    assert!(groups > 100, "{groups} groups");
    log.retain(follower.position()).unwrap();
    assert!(log.first_lsn() > begin);
    drop((log, follower));
    disk.unmount();
}

#[test]
fn a_follower_that_stays_behind_is_an_error_and_no_loss() {
    let root = PathBuf::from("/sim/log-follow-behind");
    let disk = SimDisk::mount(&root, 7);
    let (log, recovery) = Log::open(&root, options(Some(0))).unwrap();
    log.retain(recovery.end()).unwrap();
    let mut follower = log.follow(recovery.end());
    let (refused, count) = (0_u32..)
        .find_map(|round| {
            if let Err(error) = log.ensure_room(4 << 10) {
                return Some((error, round));
            }
            let at = log.append(&[&[0; 4 << 10]]).unwrap();
            log.set_checkpoint(at.end, b"").unwrap();
            None
        })
        .unwrap();
    assert!(matches!(&refused, Error::NoSpace { what } if what.contains("no reader of the log")), "{refused}");
    assert!(count > 100, "{count} groups fit in twice the capacity");
    take_to(&mut follower, log.tail_lsn(), |_, _| ());
    log.retain(follower.position()).unwrap();
    log.ensure_room(4 << 10).unwrap();
    drop((log, follower));
    disk.unmount();
}

/// A log on a disk without room, that keeps all for a follower who has come to its end.
fn kept_on_a_full_disk(name: &str) -> (SimDisk, Arc<Log>, Follower) {
    let root = PathBuf::from(format!("/sim/log-{name}"));
    let disk = SimDisk::mount(&root, 5);
    let options = Options { checkpoint_wait: Duration::from_secs(600), ..options(Some(0)) };
    let (log, recovery) = Log::open(&root, options).unwrap();
    let mut follower = log.follow(recovery.end());
    while log.tail_lsn() < 3 * SEGMENT {
        log.append(&[&[7; 1000]]).unwrap();
    }
    let end = log.tail_lsn();
    log.wait_flushed(end).unwrap();
    take_to(&mut follower, end, |_, _| ());
    log.set_checkpoint(end, b"").unwrap();
    disk.set_room(Some(0));
    (disk, log, follower)
}

#[test]
fn who_has_no_room_gets_what_the_follower_needs_no_more() {
    let (disk, log, mut follower) = kept_on_a_full_disk("asks");
    assert!(matches!(log.ensure_room_critical(SEGMENT as usize), Err(Error::NoSpace { .. })), "nobody answers");
    let mut answered = log.asked();
    log.answer(answered, false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..1000 {
                log.ensure_room_critical(1000).unwrap();
                let at = log.append(&[&[8; 1000]]).unwrap();
                log.wait_flushed(at.end).unwrap();
            }
        });
        while !writer.is_finished() {
            let asked = log.asked();
            while follower.next().unwrap().is_some() {}
            if asked != answered {
                log.set_checkpoint(follower.position(), b"").unwrap();
                log.retain(follower.position()).unwrap();
                answered = asked;
            }
            log.answer(asked, false);
            follower.wait(Duration::from_millis(20));
        }
    });
    assert!(log.first_lsn() > 3 * SEGMENT, "it went on in segments that were let go");
    disk.unmount();
}

/// Its own device is full, or it is gone: who waits for it is told so, long before the time is over.
#[test]
fn nobody_waits_for_a_follower_that_cannot_go_on() {
    for is_gone in [false, true] {
        let (disk, log, follower) = kept_on_a_full_disk("stalled");
        log.answer(log.asked(), false);
        let began = Instant::now();
        std::thread::scope(|scope| {
            let critical = scope.spawn(|| log.ensure_room_critical(SEGMENT as usize));
            while log.asked() == 0 {
                std::thread::yield_now();
            }
            if is_gone {
                drop(follower)
            } else {
                log.answer(log.asked(), true)
            }
            assert!(matches!(critical.join().unwrap(), Err(Error::NoSpace { .. })));
        });
        disk.set_room(None);
        let far = loop {
            match log.ensure_room(4000) {
                Ok(()) => log.append(&[&[9; 4000]]).unwrap(),
                outcome => break outcome,
            };
            log.wait_flushed(log.tail_lsn()).unwrap();
            log.set_checkpoint(log.tail_lsn(), b"").unwrap();
        };
        assert!(matches!(far, Err(Error::NoSpace { .. })), "{far:?}");
        assert!(began.elapsed() < Duration::from_secs(60));
        drop(log);
        disk.unmount();
    }
}

#[test]
fn a_rollback_has_what_it_is_owed() {
    let (disk, log, _follower) = kept_on_a_full_disk("owed");
    let mut owed = None;
    assert!(matches!(log.owe(&mut owed, 1), Err(Error::NoSpace { .. })) && owed.is_none());
    disk.set_room(None);
    log.owe(&mut owed, 3 * SEGMENT).unwrap();
    log.owe(&mut owed, 1).unwrap();
    disk.set_room(Some(0));
    assert!(matches!(log.ensure_room_critical(SEGMENT as usize), Err(Error::NoSpace { .. })), "it is for rollbacks");
    let end = log.tail_lsn() + 3 * SEGMENT;
    while log.tail_lsn() < end {
        log.ensure_room_owed(2000).unwrap();
        let at = log.append(&[&[8; 2000]]).unwrap();
        log.wait_flushed(at.end).unwrap();
    }
    assert!(matches!(log.ensure_room(1), Err(Error::NoSpace { .. })));
    let reserve = || {
        let names = io::Directory::open(disk.root()).unwrap().list().unwrap();
        names.into_iter().filter(|name| name.contains("reserve")).count()
    };
    disk.set_room(None);
    log.owe(&mut owed, 0).unwrap();
    assert_eq!(reserve(), 4);
    // A crash leaves it, for who goes on with the rollback.
    std::mem::forget(owed);
    drop(log);
    let (log, _) = Log::open(disk.root(), options(Some(0))).unwrap();
    let found = log.found_reserve();
    log.owe(&mut None, 0).unwrap();
    assert_eq!(reserve(), 4);
    // One file stays for who comes next, and goes back as soon as the disk is full.
    drop(found);
    assert_eq!(reserve(), 1);
    disk.set_room(Some(0));
    let end = log.tail_lsn() + 4 * SEGMENT;
    while reserve() == 1 {
        assert!(log.tail_lsn() < end, "nobody needed it");
        log.ensure_room_critical(1000).unwrap();
        log.append(&[&[9; 1000]]).unwrap();
    }
    drop(log);
    disk.unmount();
}
