//! Metadata locks between sessions: threads that wait are watched through [`MetadataLocks::list`], never by sleeping.

use super::*;
use engine::{Engine, Interrupt, Transaction};
use std::sync::atomic::AtomicU64;
use std::time::Duration as Time;
use types::Result;
use types::codes::*;

struct Server {
    engine: Arc<Engine>,
    locks: Arc<MetadataLocks>,
    _dir: Directory,
}

/// Gone with the test.
struct Directory(std::path::PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Session {
    tx: Transaction,
    pins: MetadataPins,
}

fn server() -> Server {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only has to be unique.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("clearway-mdl-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    let dir = Directory(path);
    let options = engine::EngineOptions {
        datadir: dir.0.clone(),
        buffer_pool_bytes: 8 << 20,
        log_capacity_bytes: 32 << 20,
        log_buffer_bytes: 1 << 20,
        address_space_bytes: 1 << 30,
        doublewrite: false,
        direct_io: false,
        flush_log_at_commit: 2,
        read_io_threads: 2,
        write_io_threads: 2,
        purge_threads: 2,
        events_from: None,
    };
    let engine = Engine::open(options, &mut |_| ()).unwrap();
    Server { engine, locks: Arc::default(), _dir: dir }
}

impl Server {
    fn session(&self, connection: u64) -> Session {
        let tx = Transaction::new(&self.engine).unwrap();
        let pins = MetadataPins::claim(&self.locks, &tx, connection).unwrap();
        Session { tx, pins }
    }

    /// Waits until `connection` waits for something.
    fn until_waiting(&self, connection: u64) {
        while !self.locks.waits().iter().any(|(id, _)| *id == connection) {
            std::thread::yield_now();
        }
    }

    fn rows(&self) -> Vec<(u64, Mode, bool)> {
        let tables = ["a", "b", "c"].map(|t| ("db".to_string(), t.to_string()));
        self.locks
            .list(tables.into_iter().map(|(s, t): (String, String)| Name::table(&s, &t)))
            .into_iter()
            .map(|r| (r.connection, r.mode, r.granted))
            .collect()
    }
}

const NOW: Time = Time::ZERO;
const LONG: Time = Time::from_secs(600);

fn table(name: &str) -> Arc<Name> {
    Arc::new(Name::table("db", name))
}

impl Session {
    fn read(&mut self, name: &str, timeout: Time) -> Result<bool> {
        self.pins.pin(&[Pin::new("db", name, false)], false, Waiting { timeout, tx: &mut self.tx })
    }

    fn write(&mut self, name: &str, timeout: Time) -> Result<bool> {
        self.pins.pin(&[Pin::new("db", name, true)], true, Waiting { timeout, tx: &mut self.tx })
    }

    fn lock(&mut self, name: &str, mode: Mode, timeout: Time) -> Result<bool> {
        self.pins.lock(&table(name), mode, Duration::Transaction, &mut Waiting { timeout, tx: &mut self.tx })
    }
}

fn code<T>(r: Result<T>) -> u16 {
    r.map_or_else(|e| e.code, |_| 0)
}

/// What a mode refuses on the fast path and in the queues is what its row of the matrix says.
#[test]
fn lanes_and_queues_obey_the_matrix() {
    let server = server();
    let (mut a, mut b) = (server.session(1), server.session(2));
    for held in Mode::ALL.into_iter().skip(1) {
        for asked in Mode::ALL.into_iter().skip(1) {
            // Held on the fast path where there is one, else through a queue; and so asked for.
            let take = |s: &mut Session, mode| match mode {
                Mode::SharedRead => s.read("a", NOW),
                Mode::SharedWrite => s.write("a", NOW),
                mode => s.lock("a", mode, NOW),
            };
            take(&mut a, held).unwrap();
            let refused = code(take(&mut b, asked));
            assert_eq!(refused, if asked.compatible(held) { 0 } else { 1205 }, "{asked:?} while {held:?} is held");
            a.pins.release();
            b.pins.release();
            assert!(server.rows().is_empty(), "{asked:?} after {held:?} leaves {:?}", server.rows());
            // Both ways are open again.
            assert_eq!((a.write("a", NOW), b.read("a", NOW)), (Ok(true), Ok(true)));
            a.pins.release();
            b.pins.release();
        }
    }
}

#[test]
fn statements_stand_behind_waiting_ddl_and_run_after_it() {
    let server = server();
    let mut reader = server.session(1);
    assert_eq!(reader.read("a", NOW), Ok(true));
    std::thread::scope(|scope| {
        let mut ddl = server.session(2);
        let ddl = scope.spawn(move || {
            ddl.lock("a", Mode::Exclusive, LONG).unwrap();
            ddl
        });
        server.until_waiting(2);
        let mut later = server.session(3);
        assert_eq!(code(later.read("a", NOW)), ER_LOCK_WAIT_TIMEOUT);
        assert_eq!(later.read("b", NOW), Ok(true), "other tables are free");
        // What a transaction has pinned stays usable.
        assert_eq!(reader.read("a", NOW), Ok(true));
        let later = scope.spawn(move || {
            assert_eq!(later.read("a", LONG), Ok(false), "the table is to be looked up again");
            assert_eq!(later.read("a", NOW), Ok(true));
        });
        server.until_waiting(3);
        reader.pins.release();
        let mut ddl = ddl.join().unwrap();
        assert!(server.rows().contains(&(2, Mode::Exclusive, true)));
        ddl.pins.release();
        later.join().unwrap();
    });
}

#[test]
fn kill_ends_a_wait_and_the_queue_goes_on() {
    let server = server();
    let mut holder = server.session(1);
    holder.write("a", NOW).unwrap();
    let mut ddl = server.session(2);
    let interrupt: Arc<Interrupt> = Arc::clone(ddl.tx.interrupt());
    std::thread::scope(|scope| {
        let ddl = scope.spawn(move || code(ddl.lock("a", Mode::Exclusive, LONG)));
        server.until_waiting(2);
        interrupt.raise(1);
        assert_eq!(ddl.join().unwrap(), 1317);
    });
    assert_eq!(server.session(3).read("a", NOW), Ok(true), "nobody waits behind the killed one");
}

#[test]
fn a_cycle_has_a_victim_with_the_least_to_lose() {
    let server = server();
    let (mut reader, mut ddl) = (server.session(1), server.session(2));
    reader.read("a", NOW).unwrap();
    ddl.lock("b", Mode::Exclusive, NOW).unwrap();
    std::thread::scope(|scope| {
        let ddl = scope.spawn(move || {
            ddl.lock("a", Mode::Exclusive, LONG).unwrap();
            ddl
        });
        server.until_waiting(2);
        assert_eq!(code(reader.read("b", LONG)), ER_LOCK_DEADLOCK);
        reader.pins.release();
        drop(ddl.join().unwrap());
    });
    assert!(server.rows().is_empty());
}

#[test]
fn an_upgrade_waits_for_readers_and_lets_nobody_in() {
    let server = server();
    let (mut reader, mut ddl) = (server.session(1), server.session(2));
    ddl.lock("a", Mode::SharedUpgradable, NOW).unwrap();
    reader.write("a", NOW).unwrap();
    let upgrade = |ddl: &mut Session, mode, timeout| {
        ddl.pins.upgrade(&table("a"), mode, &mut Waiting { timeout, tx: &mut ddl.tx })
    };
    assert_eq!(code(upgrade(&mut ddl, Mode::SharedNoWrite, NOW)), ER_LOCK_WAIT_TIMEOUT);
    reader.pins.release();
    upgrade(&mut ddl, Mode::SharedNoWrite, NOW).unwrap();
    assert_eq!(code(reader.write("a", NOW)), ER_LOCK_WAIT_TIMEOUT);
    assert_eq!(code(reader.read("a", NOW)), 0);
    std::thread::scope(|scope| {
        let ddl = scope.spawn(move || {
            upgrade(&mut ddl, Mode::Exclusive, LONG).unwrap();
            ddl
        });
        server.until_waiting(2);
        assert_eq!(code(server.session(3).read("a", NOW)), ER_LOCK_WAIT_TIMEOUT);
        reader.pins.release();
        let mut ddl = ddl.join().unwrap();
        ddl.pins.downgrade(&table("a"), Mode::SharedNoReadWrite);
        assert_eq!(ddl.read("a", NOW), Ok(true), "its own lock covers it");
    });
}

#[test]
fn a_global_read_lock_stops_statements_and_commits_that_write() {
    let server = server();
    let (mut writer, mut backup) = (server.session(1), server.session(2));
    let global = |s: &mut Session, timeout| {
        let mut waiting = Waiting { timeout, tx: &mut s.tx };
        s.pins.lock(&Arc::new(Name::Global), Mode::Shared, Duration::Explicit, &mut waiting)?;
        s.pins.lock(&Arc::new(Name::Commit), Mode::Shared, Duration::Explicit, &mut waiting)
    };
    writer.write("a", NOW).unwrap();
    assert_eq!(code(global(&mut backup, NOW)), ER_LOCK_WAIT_TIMEOUT, "a statement writes");
    backup.pins.release_where(|_| true);
    writer.pins.release_statement();
    global(&mut backup, NOW).unwrap();
    assert_eq!(code(writer.write("a", NOW)), ER_LOCK_WAIT_TIMEOUT);
    assert_eq!(code(writer.read("b", NOW)), 0);
    assert_eq!(code(writer.pins.begin_commit(Waiting { timeout: NOW, tx: &mut writer.tx })), ER_LOCK_WAIT_TIMEOUT);
    assert_eq!(code(backup.write("b", NOW)), ER_CANT_UPDATE_WITH_READLOCK);
    backup.pins.release_where(|_| true);
    writer.pins.begin_commit(Waiting { timeout: NOW, tx: &mut writer.tx }).unwrap();
    writer.pins.end_commit();
    assert_eq!(writer.write("a", NOW), Ok(true));
}

#[test]
fn more_tables_than_a_lane_has_room_for() {
    let server = server();
    let mut s = server.session(1);
    let names: Vec<String> = (0..40).map(|i| format!("t{i}")).collect();
    let pins: Vec<Pin> = names.iter().map(|n| Pin::new("db", n, false)).collect();
    while !s.pins.pin(&pins, false, Waiting { timeout: NOW, tx: &mut s.tx }).unwrap() {}
    let mut ddl = server.session(2);
    for name in &names {
        assert_eq!(code(ddl.lock(name, Mode::Exclusive, NOW)), ER_LOCK_WAIT_TIMEOUT, "{name}");
    }
    s.pins.release();
    for name in &names {
        assert_eq!(code(ddl.lock(name, Mode::Exclusive, NOW)), 0, "{name}");
    }
}

#[test]
fn weak_requests_are_not_starved_by_strong_ones() {
    let server = server();
    server.locks.set_write_lock_max(1);
    let mut first = server.session(1);
    first.lock("a", Mode::Exclusive, NOW).unwrap();
    std::thread::scope(|scope| {
        let strong = |connection| {
            let mut s = server.session(connection);
            scope.spawn(move || {
                s.lock("a", Mode::Exclusive, LONG).unwrap();
                s
            })
        };
        let (second, third) = (strong(2), strong(3));
        server.until_waiting(2);
        server.until_waiting(3);
        let mut reader = server.session(4);
        let reader = scope.spawn(move || {
            while !reader.read("a", LONG).unwrap() {}
            reader
        });
        server.until_waiting(4);
        // One strong lock after another was granted while the reader waited: now it is its turn.
        first.pins.release();
        let (granted, waits) =
            if server.rows().contains(&(2, Mode::Exclusive, true)) { (second, third) } else { (third, second) };
        granted.join().unwrap().pins.release();
        let mut reader = reader.join().unwrap();
        assert!(!waits.is_finished());
        reader.pins.release();
        drop(waits.join().unwrap());
    });
}
