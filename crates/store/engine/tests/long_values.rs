//! Long values outlive no crash without their rows: whatever the disk was when the power failed, no page of theirs is lost.

mod common;

use common::{Stop, await_rollbacks, check_sound_after_crash, key, options, outside};
use engine::{Engine, EngineOptions, Isolation, Long, Transaction, TreeKind};
use io::faults::SimDisk;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

const IMAGES: usize = 24;
/// So many changes of the disk apart.
const APART: usize = 7;
/// The long values are written at least so often, and until all images are taken: how many changes of the disk that is
/// depends on how many commits share one.
const VALUES: u64 = 12;

fn simulated(datadir: PathBuf) -> EngineOptions {
    EngineOptions { buffer_pool_bytes: 16 << 20, log_capacity_bytes: 16 << 20, ..options(&datadir) }
}

fn open(options: EngineOptions) -> Arc<Engine> {
    Engine::open(options, &mut |_| ()).unwrap()
}

fn begin(engine: &Engine) -> Transaction {
    let mut tx = Transaction::new(engine).unwrap();
    tx.begin(Isolation::ReadCommitted, false);
    tx
}

#[test]
fn no_page_of_a_long_value_is_lost_in_a_crash() {
    let disk = SimDisk::mount("/sim/long-values", 1);
    let engine = open(simulated("/sim/long-values".into()));
    let mut tx = begin(&engine);
    let [tree, beside] = [(); 2].map(|()| engine.create_tree(&mut tx, TreeKind::Clustered).unwrap());
    tx.commit().unwrap();
    let (give, images) = channel();
    let taken = Arc::new(AtomicUsize::new(0));
    let (mut seen, count) = (0, taken.clone());
    disk.set_witness(move |moment| {
        seen += 1;
        if seen % APART == 0 && seen <= APART * IMAGES {
            give.send(moment.image()).expect("the test waits for them");
            // Relaxed: the images themselves come through the channel.
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Its commits make durable whatever the other has done by then.
        scope.spawn(|| {
            for i in 0.. {
                let mut tx = begin(&engine);
                tx.insert(beside, &key(i), b"x").unwrap();
                tx.commit().unwrap();
                // Relaxed: it only ends.
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let _stop = Stop(&is_over);
        for i in (0..).take_while(|i| *i < VALUES || taken.load(Ordering::Relaxed) < IMAGES) {
            let [first, second] = [400_000, 300_000].map(|bytes| vec![i as u8; bytes]);
            let mut tx = begin(&engine);
            tx.insert(tree, &key(i), outside(&[Long::New(&first)])).unwrap();
            if i % 3 == 0 {
                tx.rollback().unwrap();
                continue;
            }
            tx.update(tree, &key(i), outside(&[Long::New(&second)])).unwrap();
            tx.commit().unwrap();
            let mut tx = begin(&engine);
            tx.delete(tree, &key(i)).unwrap();
            tx.commit().unwrap();
        }
    });
    disk.set_witness(|_| ());
    let images: Vec<_> = images.try_iter().collect();
    assert_eq!(images.len(), IMAGES);
    for (i, image) in images.into_iter().enumerate() {
        let root = PathBuf::from(format!("/sim/long-values-{i}"));
        let after = image.mount(&root, i as u64);
        after.reboot();
        let restarted = open(simulated(root));
        await_rollbacks(&restarted);
        check_sound_after_crash(&restarted, &[tree, beside]);
    }
}
