//! Sums by digest. One test, since the table is one of the process.

use observe::digests::{self, Ended, Place};
use observe::{Figure, Figures};
use std::sync::atomic::{AtomicBool, Ordering};

const AGE_US: u64 = 60_000_000;

fn ended(took_ns: u64, now_us: u64, figures: &Figures) -> Ended<'_> {
    Ended { took_ns: Some(took_ns), bucket: observe::latency::bucket_of(took_ns), now_us, figures, has_rare: true }
}

fn run(place: Place, took_ns: u64, now_us: u64) {
    let mut figures = Figures::default();
    figures.set(Figure::RowsSent, 1);
    let ended = ended(took_ns, now_us, &figures);
    if let Some(sampling) = digests::add(place, &ended) {
        sampling.take(took_ns.to_string().as_bytes(), &ended);
    }
}

#[test]
fn sums_of_threads_samples_bounds_and_truncation() {
    digests::set_size(3);
    digests::set_sample_age(AGE_US / 1_000_000);
    let (a, b) = (digests::place_of(None, [1; 32], "A", 5), digests::place_of(Some("s"), [1; 32], "A", 6));
    assert_ne!(a, b);
    assert_eq!(digests::place_of(None, [1; 32], "A", 7), a);
    let rest = digests::place_of(None, [2; 32], "B", 8);
    assert_eq!(digests::place_of(None, [3; 32], "C", 9), rest);
    assert_eq!(digests::lost(), 2);

    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = 0;
            // Relaxed: it ends some time later.
            while !over.load(Ordering::Relaxed) {
                let count = digests::rows().iter().map(|row| row.totals.time.count).sum();
                assert!(count >= last, "{count} after {last}");
                last = count;
            }
        });
        let writers: Vec<_> = (0..4u64)
            .map(|n| scope.spawn(move || (0..1000).for_each(|at| run([a, b, rest][at % 3], 1000 * n + at as u64, 10))))
            .collect();
        writers.into_iter().for_each(|writer| writer.join().expect("it counts"));
        // Relaxed: as above.
        over.store(true, Ordering::Relaxed);
        reader.join().expect("sums only grow");
    });
    let rows = digests::rows();
    assert_eq!(rows.iter().map(|row| row.totals.time.count).collect::<Vec<_>>(), [1332, 1336, 1332]);
    assert_eq!(rows.iter().map(|row| row.latencies.total()).collect::<Vec<_>>(), [1332, 1336, 1332]);
    assert_eq!(rows.iter().map(|row| row.first_seen_us).collect::<Vec<_>>(), [8, 5, 6]);
    assert_eq!(rows.iter().map(|row| row.schema.as_deref()).collect::<Vec<_>>(), [None, None, Some("s")]);
    assert!(rows[0].digest.is_none());
    assert_eq!(rows[1].digest, Some(([1; 32], "A".to_string())));
    assert_eq!(rows[1].totals.figures.get(Figure::RowsSent), 1336);
    // The slowest.
    assert_eq!(rows[1].sample.as_ref().map(|s| (&s.text[..], s.took_ns, s.seen_us)), Some((&b"3999"[..], 3999, 10)));

    // An old sample makes room for a quicker one.
    run(a, 7, 11 + 2 * AGE_US);
    let sample = digests::rows()[1].sample.clone().expect("there is one");
    assert_eq!((&sample.text[..], sample.took_ns), (&b"7"[..], 7));

    digests::forget_latencies();
    assert_eq!(digests::rows()[1].latencies.total(), 0);
    run(a, 7, 20);
    assert_eq!(digests::rows()[1].latencies.total(), 1);

    assert!(a.is_current() && digests::digest_at(a, |d| d.text.len()) == Some(1));
    digests::forget();
    assert!(!a.is_current() && digests::rows().is_empty() && digests::digest_at(a, |_| ()).is_none());
    let again = digests::place_of(Some("s"), [1; 32], "A", 30);
    run(again, 9, 31);
    let rows = digests::rows();
    assert_eq!((rows.len(), rows[0].totals.time.count, rows[0].first_seen_us), (1, 1, 30));
}
