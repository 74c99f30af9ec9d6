//! Crashes: tails cut and bytes flipped anywhere, wrap-around, recycled segments, copies taken at random moments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use log::{Error, Log, Lsn, Options, Recovery};

/// A directory under the target's temporary one, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("log-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn small() -> Options {
    Options {
        ring_bytes: 16 << 10,
        capacity: 256 << 10,
        segment_bytes: Some(16 << 10),
        flush_interval: None,
        ..Options::default()
    }
}

/// A payload that says where it belongs.
fn payload(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

fn read_all(recovery: &Recovery) -> Result<Vec<(Lsn, Lsn, Vec<u8>)>, Error> {
    let mut groups = recovery.groups(recovery.checkpoint().lsn);
    let mut all = Vec::new();
    while let Some(group) = groups.next()? {
        all.push((group.start, group.end, group.payload.to_vec()));
    }
    Ok(all)
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    let names = || std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // The control file first, then segments in order. A segment that is just being made has no number yet.
    let mut names: Vec<String> = names().filter(|name| !name.contains("new")).collect();
    names.sort_by_key(|name| (name.ends_with(".log"), name.clone()));
    for name in names {
        std::fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

#[test]
fn an_empty_log_opens_again_and_again() {
    let dir = Scratch::new("empty");
    assert!(!Log::exists(&dir.0).unwrap() && !Log::exists(&dir.join("nowhere")).unwrap());
    let (log, recovery) = Log::open(&dir.0, small()).unwrap();
    assert!(recovery.created() && Log::exists(&dir.0).unwrap());
    assert_eq!(read_all(&recovery).unwrap(), []);
    let end = recovery.end();
    drop(log);
    for _ in 0..3 {
        let (_log, recovery) = Log::open(&dir.0, small()).unwrap();
        assert!(!recovery.created());
        assert_eq!(recovery.end(), end);
    }
}

#[test]
fn groups_come_back_in_order_across_wraps_of_ring_and_segments_and_restarts() {
    let dir = Scratch::new("wrap");
    let mut expected = Vec::new();
    let mut seed = 0;
    for _restart in 0..4 {
        let (log, recovery) = Log::open(&dir.0, small()).unwrap();
        assert_eq!(read_all(&recovery).unwrap(), expected);
        for i in 0..150 {
            seed += 1;
            let bytes = payload(seed, [1, 7, 8, 9, 100, 1500, log.group_bytes_max()][seed as usize % 7]);
            log.ensure_room(bytes.len()).unwrap();
            let at = log.append(&[&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]]).unwrap();
            expected.push((at.start, at.end, bytes));
            if i % 13 == 0 {
                log.wait_flushed(at.end).unwrap();
                assert!(log.flushed_lsn() >= at.end);
            }
        }
    }
    let total = expected.last().unwrap().1 - expected[0].0;
    assert!(total > 20 * (16 << 10), "the test wraps often: {total}");
}

#[test]
fn the_tail_cut_at_every_byte_leaves_a_prefix() {
    let dir = Scratch::new("cut");
    let home = dir.join("log");
    let (log, _) = Log::open(&home, small()).unwrap();
    let mut groups = Vec::new();
    for i in 0..6 {
        let bytes = payload(i, 5 + 17 * i as usize);
        let at = log.append(&[&bytes]).unwrap();
        groups.push((at.start, at.end, bytes));
    }
    // One write: none was durable before another, so any may be torn.
    log.wait_flushed(groups[5].1).unwrap();
    let file = home.join("clearway-0000000000.log");
    let whole = std::fs::read(&file).unwrap();
    let (base, end) = (groups[0].0, groups[5].1);
    for cut in base..=end {
        copy(&home, &dir.join("cut"));
        let mut bytes = whole.clone();
        bytes[(4096 + cut) as usize..].fill(0);
        std::fs::write(dir.join("cut/clearway-0000000000.log"), &bytes).unwrap();
        let (log, recovery) = Log::open(&dir.join("cut"), small()).unwrap();
        let found = read_all(&recovery).unwrap();
        // A group whose lost bytes were zero anyway is still whole.
        let kept = found.len();
        assert_eq!(found[..], groups[..kept], "cut at {cut}");
        assert!(groups.iter().take_while(|g| g.1 <= cut).count() <= kept, "cut at {cut}");
        // And it goes on from there.
        let at = log.append(&[b"after the crash"]).unwrap();
        assert_eq!(at.start, recovery.end());
        log.wait_flushed(at.end).unwrap();
        drop(log);
        let (_log, recovery) = Log::open(&dir.join("cut"), small()).unwrap();
        let found = read_all(&recovery).unwrap();
        assert_eq!(found.len(), kept + 1);
        assert_eq!(found[kept].2, b"after the crash");
    }
}

#[test]
fn every_flipped_byte_is_a_clean_end_or_named_damage_and_never_a_wrong_payload() {
    let dir = Scratch::new("flip");
    let home = dir.join("log");
    let (log, _) = Log::open(&home, small()).unwrap();
    let mut groups = Vec::new();
    for i in 0..6 {
        let bytes = payload(i, 5 + 17 * i as usize);
        let at = log.append(&[&bytes]).unwrap();
        // Each durable before the next: damage before the last group has a witness.
        log.wait_flushed(at.end).unwrap();
        groups.push((at.start, at.end, bytes));
    }
    let whole = std::fs::read(home.join("clearway-0000000000.log")).unwrap();
    let last = groups[5].0;
    for at in (0..48).chain(groups[0].0..groups[5].1) {
        let offset = if at < 48 { at } else { 4096 + at };
        copy(&home, &dir.join("flip"));
        let mut bytes = whole.clone();
        bytes[offset as usize] ^= 0x40;
        std::fs::write(dir.join("flip/clearway-0000000000.log"), &bytes).unwrap();
        match Log::open(&dir.join("flip"), small()) {
            Ok((_, recovery)) => {
                assert!(at >= last, "byte {at} was durable, and its loss went unseen");
                assert_eq!(read_all(&recovery).unwrap()[..], groups[..5]);
            }
            Err(Error::Corrupt { file, offset: told, .. }) => {
                assert!(at < last, "byte {at} is in the torn tail");
                assert!(file.ends_with("clearway-0000000000.log"));
                let group = groups.iter().find(|g| at < g.1).unwrap();
                assert!(at < 48 || told == 4096 + group.0, "byte {at} is reported at {told}");
            }
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
}

#[test]
fn a_control_slot_may_be_lost_but_not_both() {
    let dir = Scratch::new("control");
    let home = dir.join("log");
    let (log, _) = Log::open(&home, small()).unwrap();
    let at = log.append(&[b"one"]).unwrap();
    log.set_checkpoint(at.end, b"engine state").unwrap();
    drop(log);
    let whole = std::fs::read(home.join("clearway.control")).unwrap();
    for damaged in [&[0_usize][..], &[1], &[0, 1]] {
        copy(&home, &dir.join("copy"));
        let mut bytes = whole.clone();
        damaged.iter().for_each(|slot| bytes[slot * (64 << 10) + 40] ^= 1);
        std::fs::write(dir.join("copy/clearway.control"), &bytes).unwrap();
        match (Log::open(&dir.join("copy"), small()), damaged.len()) {
            (Ok((_, recovery)), 1) => assert!(read_all(&recovery).unwrap().len() <= 1),
            (Err(Error::Corrupt { file, .. }), 2) => assert!(file.ends_with("clearway.control")),
            (Ok(_), _) => panic!("opened without a control file"),
            (Err(error), _) => panic!("{damaged:?}: {error}"),
        }
    }
}

#[test]
fn checkpoints_recycle_segments_and_keep_the_payload() {
    let dir = Scratch::new("checkpoint");
    let (log, _) = Log::open(&dir.0, small()).unwrap();
    let mut most = 0;
    let mut checkpoint = 0;
    for i in 0..600 {
        let at = log.append(&[&payload(i, 3000)]).unwrap();
        if log.used() > 64 << 10 {
            log.set_checkpoint(at.start, &i.to_le_bytes()).unwrap();
            checkpoint = i;
        }
        most = most.max(log.file_bytes());
    }
    assert!(most < 400 << 10, "files grew to {most} bytes for 256 KiB of capacity");
    log.close().unwrap();
    drop(log);
    let (log, recovery) = Log::open(&dir.0, small()).unwrap();
    assert_eq!(recovery.checkpoint().payload, checkpoint.to_le_bytes());
    let groups = read_all(&recovery).unwrap();
    assert_eq!(groups.len() as u64, 600 - checkpoint);
    groups.iter().zip(checkpoint..).for_each(|(group, seed)| assert_eq!(group.2, payload(seed, 3000)));
    assert_eq!(log.oldest_needed(), recovery.checkpoint().lsn);
}

#[test]
fn a_missing_segment_is_damage() {
    let dir = Scratch::new("missing");
    let (log, _) = Log::open(&dir.0, small()).unwrap();
    for i in 0..30 {
        let at = log.append(&[&payload(i, 3000)]).unwrap();
        log.wait_flushed(at.end).unwrap();
    }
    drop(log);
    std::fs::remove_file(dir.join("clearway-0000000002.log")).unwrap();
    let error = Log::open(&dir.0, small()).err().unwrap();
    assert!(error.to_string().contains("clearway-0000000002.log before it is missing"), "{error}");
}

/// What one start wrote beyond its durable end must not come back when a later start's log lines up with it.
#[test]
fn leftovers_of_an_earlier_start_stay_dead() {
    let dir = Scratch::new("leftover");
    let home = dir.join("log");
    let small = || Options { ring_bytes: 32 << 10, ..small() };
    let (log, _) = Log::open(&home, small()).unwrap();
    let first = log.append(&[&[1; 100]]).unwrap();
    log.wait_flushed(first.end).unwrap();
    // A group over more than a block, and one behind it that begins a block: what is written to end there does not cover it.
    let len = (8192 - first.end as usize % 4096) - 16;
    let lost = log.append(&[&vec![2; len]]).unwrap();
    let leftover = log.append(&[&[3; 5000]]).unwrap();
    assert_eq!(leftover.start % 4096, 0);
    log.wait_flushed(leftover.end).unwrap();
    let whole = std::fs::read(home.join("clearway-0000000000.log")).unwrap();
    drop(log);
    // The device lost `lost`'s first block and kept the rest. Nobody was told that `lost` is durable.
    let control = home.join("clearway.control");
    let mut bytes = whole;
    let block = (4096 + lost.start) as usize;
    bytes[block..block.next_multiple_of(4096)].fill(0);
    std::fs::write(home.join("clearway-0000000000.log"), &bytes).unwrap();
    assert!(control.exists());

    let (log, recovery) = Log::open(&home, small()).unwrap();
    assert_eq!(recovery.end(), lost.start);
    let again = log.append(&[&vec![4; len]]).unwrap();
    assert_eq!(again.end, leftover.start, "the new group ends where the leftover starts");
    log.wait_flushed(again.end).unwrap();
    // Crash: the files as they are now.
    copy(&home, &dir.join("copy"));
    let (_, recovery) = Log::open(&dir.join("copy"), small()).unwrap();
    let payloads: Vec<u8> = read_all(&recovery).unwrap().iter().map(|group| group.2[0]).collect();
    assert_eq!(payloads, [1, 4]);
}

/// Appenders and waiters; meanwhile the files are copied, and each copy must hold what was acknowledged before it was begun.
#[test]
fn copies_at_random_moments_hold_what_was_acknowledged() {
    const THREADS: u64 = 4;
    let dir = Scratch::new("copies");
    let home = dir.join("log");
    let options = Options { flush_interval: Some(std::time::Duration::from_millis(5)), ..small() };
    let options = Options { capacity: 8 << 20, segment_bytes: Some(64 << 10), ring_bytes: 64 << 10, ..options };
    let (log, _) = Log::open(&home, options.clone()).unwrap();
    let acknowledged: Arc<Vec<AtomicU64>> = Arc::new((0..THREADS).map(|_| AtomicU64::new(0)).collect());
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (log, acknowledged, stop) = (Arc::clone(&log), Arc::clone(&acknowledged), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut count = 0_u64;
                while !stop.load(Ordering::Relaxed) && count < 3000 {
                    count += 1;
                    let body = payload(thread << 32 | count, 20 + (count as usize * 37) % 900);
                    let head = [thread.to_le_bytes(), count.to_le_bytes()].concat();
                    log.ensure_room(16 + body.len()).unwrap();
                    let mut reservation = log.reserve(16 + body.len()).unwrap();
                    assert_eq!(reservation.lsn() % 8, 0);
                    reservation.fill(&head);
                    reservation.fill(&body);
                    let at = reservation.complete();
                    if !count.is_multiple_of(3) {
                        log.wait_flushed(at.end).unwrap();
                        acknowledged[thread as usize].store(count, Ordering::Release);
                    }
                }
            })
        })
        .collect();
    let mut opens = 0;
    for round in 0..12 {
        let before: Vec<u64> = acknowledged.iter().map(|a| a.load(Ordering::Acquire)).collect();
        // Control file first, segments in order: what a crash that happened over the time of the copy could leave.
        let to = dir.join("copy");
        copy(&home, &to);
        let opened = Log::open(&to, options.clone());
        let (_copy, recovery) = match opened {
            Ok(opened) => {
                opens += 1;
                opened
            }
            // Not a moment of the disk: the copy read an early segment before, and a later one after more was written.
            Err(Error::Corrupt { why, .. }) if why.contains("says it was durable") => continue,
            Err(error) => panic!("round {round}: {error}"),
        };
        let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
        for (_, _, bytes) in read_all(&recovery).unwrap() {
            let thread = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            let count = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
            assert_eq!(bytes[16..], payload(thread << 32 | count, bytes.len() - 16));
            assert_eq!(seen.insert(thread, count).unwrap_or(0) + 1, count, "thread {thread} in order, without a gap");
        }
        for (thread, count) in before.iter().enumerate() {
            assert!(seen.get(&(thread as u64)).copied().unwrap_or(0) >= *count, "round {round}: thread {thread}");
        }
    }
    assert!(opens > 0);
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn waits_for_written_and_completed_need_no_sync() {
    let dir = Scratch::new("written");
    let (log, _) = Log::open(&dir.0, small()).unwrap();
    let at = log.append(&[b"one"]).unwrap();
    assert_eq!(log.known_complete_lsn(), at.start, "nobody has asked yet");
    log.wait_completed(at.end).unwrap();
    assert_eq!(log.known_complete_lsn(), at.end);
    assert_eq!((log.completed_lsn(), log.written_lsn()), (at.end, at.start));
    log.wait_written(at.end).unwrap();
    assert_eq!((log.written_lsn(), log.flushed_lsn()), (at.end, at.start));
    log.wait_flushed(at.end).unwrap();
    assert_eq!(log.flushed_lsn(), at.end);
    // What was waited for in another way is known as well.
    let at = log.append(&[b"two"]).unwrap();
    log.wait_written(at.end).unwrap();
    assert_eq!(log.known_complete_lsn(), at.end);
}

#[test]
fn a_late_checkpoint_stops_ordinary_writers_only() {
    let dir = Scratch::new("late");
    let options = Options { capacity: 64 << 10, checkpoint_wait: std::time::Duration::ZERO, ..small() };
    let (log, _) = Log::open(&dir.0, options).unwrap();
    let mut at = log.append(&[&[0; 3000]]).unwrap();
    while log.ensure_room(3000).is_ok() {
        at = log.append(&[&[0; 3000]]).unwrap();
        assert!(log.used() <= 128 << 10);
    }
    assert!(matches!(log.ensure_room(3000), Err(Error::NoSpace { .. })));
    log.ensure_room_critical(3000).unwrap();
    log.append(&[&[0; 3000]]).unwrap();
    log.set_checkpoint(at.start, b"").unwrap();
    log.ensure_room(3000).unwrap();
    let max = log.group_bytes_max();
    assert_eq!(log.append(&[&vec![0; max + 1]]), Err(Error::TooLarge { bytes: max + 1, max }));
}
