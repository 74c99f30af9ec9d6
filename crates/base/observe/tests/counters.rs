//! Counting from many threads: nothing is lost, nothing goes backwards, and a session sees its own share.

use observe::{Counter, SessionCounters, Timer};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

const THREADS: u64 = 4;
const ADDS: u64 = 50_000;

#[test]
fn sums_rise_while_threads_come_and_go_and_lose_nothing() {
    let start = observe::sum(Counter::InnodbRowsRead);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut last = start;
            let mut asked = 0;
            while !stop.load(Relaxed) || asked == 0 {
                let now = observe::sum(Counter::InnodbRowsRead);
                assert!(now >= last, "fell from {last} to {now}");
                last = now;
                asked += 1;
            }
        });
        for _ in 0..10 {
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| (0..ADDS / 10).for_each(|_| observe::increment(Counter::InnodbRowsRead)));
                }
            });
        }
        stop.store(true, Relaxed);
        asker.join().unwrap();
    });
    assert_eq!(observe::sum(Counter::InnodbRowsRead) - start, THREADS * ADDS);
}

#[test]
fn families_and_gauges_have_names_and_a_name_has_one_counter() {
    let com = observe::register_family("Com_", &["select", "insert", "xa_end"]);
    assert_eq!(observe::register_family("Com_", &["select", "insert", "xa_end"]), com);
    observe::add(com.at(1), 3);
    assert_eq!(observe::status_value("com_insert"), Some(3));
    assert_eq!(observe::register("Com_xa_end"), com.at(2));
    assert_eq!(observe::register("Handler_write"), Counter::HandlerWrite.into());
    observe::register_gauge("Threads_running", || 7);
    observe::register_gauge("Threads_running", || 8);
    assert_eq!(observe::status_value("THREADS_RUNNING"), Some(8));
    assert_eq!(observe::status_value("Threads_walking"), None);
    let all = observe::status();
    assert!(all.is_sorted() && all.contains(&("Com_insert".into(), 3)) && all.contains(&("Threads_running".into(), 8)));
    let mut names: Vec<_> = all.iter().map(|(name, _)| name).collect();
    names.dedup();
    assert_eq!(names.len(), all.len());
}

#[test]
#[should_panic(expected = "no member 2")]
fn a_family_ends_where_it_ends() {
    observe::register_family("Test_", &["a", "b"]).at(2);
}

#[test]
fn a_session_counts_what_threads_count_while_they_serve_it() {
    let mut session = SessionCounters::new();
    let serve = |session: &mut SessionCounters, rows| {
        observe::add(Counter::SortRows, 100); // Another session's, or the thread's own.
        session.attach();
        observe::add(Counter::SortRows, 100);
        session.enter();
        observe::add(Counter::SortRows, rows);
        let value = session.value(Counter::SortRows);
        session.leave();
        observe::add(Counter::SortRows, 100);
        session.detach();
        observe::add(Counter::SortRows, 100);
        value
    };
    let before = observe::sum(Counter::SortRows);
    assert_eq!(serve(&mut session, 5), 5);
    assert!(observe::sum(Counter::SortRows) >= before + 405);
    let there = thread::scope(|scope| scope.spawn(|| serve(&mut session, 7)).join().unwrap());
    assert_eq!(there, 12);
    assert_eq!(session.value(Counter::SortRows), 12);
    assert_eq!(session.value(Counter::SortScan), 0);
}

#[test]
fn the_clock_goes_forward_and_timers_add_up() {
    let start = observe::clock::now_ns();
    let mut last = start;
    for _ in 0..1000 {
        let now = observe::clock::now_ns();
        assert!(now >= last);
        last = now;
    }
    assert!(observe::clock::since(start).as_nanos() >= u128::from(last - start));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..1000).for_each(|_| observe::record(Timer::LogFlush, 50_000)));
        }
    });
    let flushes = observe::histogram(Timer::LogFlush);
    assert_eq!((flushes.count(), flushes.sum_ns()), (THREADS * 1000, THREADS * 1000 * 50_000));
    assert_eq!((flushes.quantile_ns(0.5), flushes.max_ns()), (50_000, 50_000));
    assert_eq!(flushes.buckets().count(), 1);
}
