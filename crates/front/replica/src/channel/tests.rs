//! A channel of which a thread ends in the middle.

use super::*;
use crate::config::{Done, Mark};
use crate::host::{Apply, Origin};
use crate::schedule::Turn;
use crate::status::SqlState;
use binlog::LogKeys;
use binlog::decode::{QueryEvent, RowsEvent, SourceTable};
use binlog::event::{self, Checksum, GtidEvent, Kind, MAGIC, Query, Stamp, XaId, put, xid};
use std::path::PathBuf;
use types::gtid::Uuid;

/// What the transactions of a source have left, and where the next one panics.
#[derive(Default)]
struct Kept {
    /// Transactions by the second of their events, in the order of their commits.
    committed: Vec<u64>,
    low: Position,
    ahead: Vec<Position>,
    panics_after: Option<u64>,
}

struct Memory {
    kept: Arc<Mutex<Kept>>,
    directory: PathBuf,
    keeps_order: bool,
}

struct Applying {
    kept: Arc<Mutex<Kept>>,
    transaction: u64,
}

impl Apply for Applying {
    fn starts_from(&mut self, _: &Position) {}

    fn begin(&mut self, origin: &Origin) -> Result<(), SqlError> {
        self.transaction = origin.head.immediate_commit_us;
        Ok(())
    }

    fn set_insert_id(&mut self, _: bool, _: u64) {}

    fn set_random(&mut self, _: (u64, u64)) {}

    fn statement(&mut self, _: &QueryEvent<'_>, _: u32, _: &Filters, _: Option<&Position>) -> Result<(), SqlError> {
        Ok(())
    }

    fn rows(&mut self, _: &SourceTable, _: &RowsEvent<'_>, _: u32) -> Result<(), SqlError> {
        Ok(())
    }

    fn park(&mut self, _: &Turn) {}

    fn unpark(&mut self) {}

    fn commit(&mut self, mark: &Mark) -> Result<(), SqlError> {
        let mut kept = self.kept.lock();
        kept.committed.push(self.transaction);
        if mark.low.is_behind(&kept.low) {
            kept.low = mark.low.clone();
        }
        kept.ahead.extend(mark.ahead.clone());
        kept.ahead.retain(|end| !mark.passed.contains(end));
        let panics = kept.panics_after == Some(self.transaction);
        kept.panics_after = kept.panics_after.filter(|_| !panics);
        drop(kept);
        assert!(!panics, "on request: it is committed, and nobody knows");
        Ok(())
    }

    fn prepares(&mut self, _: XaId) {}

    fn rollback(&mut self) {}

    fn slot(&self) -> u32 {
        1
    }

    fn thread(&self) -> u32 {
        1
    }

    fn interrupter(&self) -> Box<dyn Fn() + Send + Sync> {
        Box::new(|| {})
    }
}

impl Host for Memory {
    fn applier(&self, _: &str, _: usize) -> Result<Box<dyn Apply>, SqlError> {
        Ok(Box::new(Applying { kept: Arc::clone(&self.kept), transaction: 0 }))
    }

    fn done(&self, _: &str) -> Result<Done, SqlError> {
        let kept = self.kept.lock();
        Ok(Done::of([kept.low.clone()].into_iter(), kept.ahead.clone().into_iter()))
    }

    fn save(&self, _: &str, _: Option<&[u8]>, position: Option<&Position>) -> Result<(), SqlError> {
        if let Some(position) = position {
            self.kept.lock().low = position.clone();
        }
        Ok(())
    }

    fn forget(&self, _: &str) -> Result<(), SqlError> {
        Ok(())
    }

    fn settle(&self) -> Result<(), SqlError> {
        Ok(())
    }

    fn executed(&self) -> GtidSet {
        GtidSet::default()
    }

    fn gtid_mode(&self) -> u64 {
        0
    }

    fn server_id(&self) -> u32 {
        2
    }

    fn server_uuid(&self) -> Uuid {
        Uuid::default()
    }

    fn version(&self) -> String {
        "8.4.0".to_string()
    }

    fn report(&self) -> (String, u16) {
        (String::new(), 0)
    }

    fn answers(&self) -> bool {
        false
    }

    fn net_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn retries(&self) -> u64 {
        0
    }

    fn workers(&self) -> usize {
        3
    }

    fn preserves_order(&self) -> bool {
        self.keeps_order
    }

    fn relay_file_max(&self) -> u64 {
        1 << 30
    }

    fn log_keys(&self) -> Option<Arc<LogKeys>> {
        None
    }

    fn relay_base(&self) -> (PathBuf, String) {
        (self.directory.clone(), "host-relay-bin".to_string())
    }

    fn take_skip_counter(&self) -> u64 {
        0
    }

    fn tell(&self, _: &str) {}
}

/// Transactions from 1 on that depend on nothing, as a source's first file has them.
fn source_file(transactions: u64) -> Vec<u8> {
    let query = Query {
        thread_id: 1,
        database: "",
        sql_mode: 0,
        flags: 0,
        collations: [45; 3],
        time_zone: "",
        microseconds: 0,
        invoker: None,
        utf8mb4_collation: 0,
        explicit_defaults: None,
        xid: None,
        any_database: false,
        require_primary_key: None,
        default_encryption: None,
    };
    let begin = [query.head(), b"BEGIN".to_vec()].concat();
    let mut file = MAGIC.to_vec();
    let mut add = |kind, body: &[u8]| {
        let at = file.len() as u64;
        let stamp = Stamp { timestamp: 1, server_id: 1 };
        put(&mut file, kind, stamp, 0, Some(at), &[body], Checksum::Crc32);
    };
    add(Kind::FormatDescription, &event::format_description("8.4.0", 0, Checksum::Crc32));
    for n in 1..=transactions {
        let head = GtidEvent {
            gtid: None,
            has_statements: false,
            last_committed: 0,
            sequence_number: n,
            immediate_commit_us: n,
            original_commit_us: n,
            immediate_version: 80_400,
            original_version: 80_400,
        };
        add(Kind::AnonymousGtid, &head.body(0, Checksum::Crc32));
        add(Kind::Query, &begin);
        add(Kind::Xid, &xid(n));
    }
    file
}

fn until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "it does not come to that");
        std::thread::yield_now();
    }
}

#[test]
fn who_panics_after_a_commit_has_it_neither_repeated_nor_lost() {
    const TRANSACTIONS: u64 = 8;
    for (keeps_order, at) in [(true, 1), (true, 5), (true, 8), (false, 1), (false, 5), (false, 8)] {
        let directory = std::env::temp_dir().join(format!("channel-test-{}-{keeps_order}-{at}", std::process::id()));
        let kept = Kept { panics_after: Some(at), ..Kept::default() };
        let kept = Arc::new(Mutex::new(Rank::LogBuffer, kept));
        let host = Memory { kept: Arc::clone(&kept), directory: directory.clone(), keeps_order };
        let channel = Arc::new(Channel::new("", Arc::new(host), SourceConfig::default(), Position::default()));
        let config = SourceConfig { host: "source".into(), ..SourceConfig::default() };
        channel.change(config, Some(Position::new("binlog.000001", 4)), Stopped::Both).unwrap();
        channel.open_relay().unwrap();
        let mut front = Vec::new();
        let stamp = Stamp { timestamp: 0, server_id: 1 };
        put(&mut front, Kind::Rotate, stamp, 0x20, None, &[&event::rotate("binlog.000001", 4)], Checksum::Crc32);
        channel.shared.relay().next_file(Checksum::Crc32, &front).unwrap();
        channel.shared.relay().append(&source_file(TRANSACTIONS)[MAGIC.len()..]).unwrap();

        let sql = ThreadChoice { io: false, sql: true };
        assert!(channel.start(sql, &Until::Never).unwrap());
        until(|| channel.status().sql == SqlState::Stopped);
        let told = channel.status().sql_error;
        assert!(told.code == ER_MTA_INCONSISTENT_DATA && told.text.ends_with("a worker has panicked."), "{told:?}");
        assert!(kept.lock().committed.contains(&at));

        assert!(channel.start(sql, &Until::Never).unwrap());
        let end = channel.shared.relay().end();
        until(|| channel.shared.applied_place() == Some(end));
        channel.stop(sql);
        assert_eq!(channel.status().sql_error.code, 0);
        let mut committed = kept.lock().committed.clone();
        committed.sort_unstable();
        assert_eq!(committed, (1..=TRANSACTIONS).collect::<Vec<_>>(), "{keeps_order} {at}");
        channel.reset().unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
