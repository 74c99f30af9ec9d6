//! Pages, the log and rows.

use bolero::check;
use fuzz::{Draw, corpus, mutated};
use log::{Log, Lsn, Options, Step, Survey};
use std::path::{Path, PathBuf};
use types::{CollationId, DataType, RowLayout, TypeKind, Value};

const PAGE_BYTES: usize = 16 << 10;

/// Whatever stands on a page, telling it ends, and only a page with a good checksum is one.
#[test]
fn pages() {
    let corpus = corpus("pages");
    check!().with_type::<Draw>().for_each(|draw| {
        let mut bytes = mutated(&corpus, draw);
        bytes.resize(PAGE_BYTES, if draw.2[0] < 200 { 0 } else { draw.2[0] });
        let id = u64::from(draw.2[1]);
        let text = engine::dump::page(&bytes, id);
        let good = engine::verify_pages(&bytes, id).is_ok();
        assert_eq!(good, text.contains("checksum good") || text.contains("zeros"), "{text}");
    });
}

/// What a log group says, if its checksum were good.
#[test]
fn log_groups() {
    let seeds: Vec<Vec<u8>> = corpus("pages").iter().map(|page| page[..page.len().min(200)].to_vec()).collect();
    let ops = [
        &b"\x01\x04\0\0\0\0\0\x40\0\xff\x3f"[..],
        b"\x03\x04\0\0\0\0\0\x01\0",
        b"\x09\x04\0\0\0\0\0\x07\0\0\0\0\0\0\0",
    ];
    let seeds = [seeds, ops.map(<[u8]>::to_vec).into()].concat();
    check!().with_type::<Draw>().for_each(|draw| {
        let bytes = mutated(&seeds, draw);
        assert!(engine::dump::group(&bytes).len() <= bytes.len());
    });
}

/// A log of a few groups in a directory of its own.
struct Sample {
    home: PathBuf,
    segment: PathBuf,
    bytes: Vec<u8>,
    ends: Vec<Lsn>,
}

fn options() -> Options {
    Options { segment_bytes: Some(64 << 10), ring_bytes: 16 << 10, flush_interval: None, ..Options::default() }
}

impl Sample {
    fn new() -> Sample {
        let home = std::env::temp_dir().join(format!("clearway-fuzz-log-{}", std::process::id()));
        let (log, _) = Log::open(&home, options()).expect("a new log");
        let texts: [&[u8]; 4] = [b"one", &[7; 900], b"three", &[0; 64]];
        let ends: Vec<Lsn> = texts.iter().map(|text| log.append(&[text]).expect("room").end).collect();
        log.wait_flushed(*ends.last().expect("four")).expect("flushed");
        drop(log);
        let segments = std::fs::read_dir(&home).expect("a directory").flatten().map(|entry| entry.path());
        let segment = segments.filter(|path| is_segment(path)).min().expect("a segment");
        let bytes = std::fs::read(&segment).expect("readable");
        Sample { home, segment, bytes, ends }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _left_behind = std::fs::remove_dir_all(&self.home);
    }
}

fn is_segment(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
}

/// The scan of a damaged log: groups come whole and in their places up to the first that is not, and none is made up.
#[test]
fn log_scan() {
    let sample = Sample::new();
    check!().with_type::<Draw>().for_each(|draw| {
        let mut bytes = sample.bytes.clone();
        // Where groups are, behind the file's header.
        for &(kind, place, byte) in draw.1.iter().take(4) {
            let at = 4096 + usize::from(place) % 1200;
            bytes[at] = if kind % 2 == 0 { bytes[at] ^ 1 << (byte % 8) } else { byte };
        }
        std::fs::write(&sample.segment, &bytes).expect("written");
        let mut survey = Survey::open(&sample.home).expect("the control file is whole");
        let mut found = Vec::new();
        while let Step::Group { end, .. } = survey.step().expect("readable") {
            found.push(end);
        }
        assert!(sample.ends.starts_with(&found), "{found:?} of {:?}", sample.ends);
        if bytes == sample.bytes {
            assert_eq!(found, sample.ends);
        }
    });
}

/// What is put into a row comes out of it, also by a layout that has more columns since.
#[test]
fn rows() {
    let kinds =
        [TypeKind::TinyInt, TypeKind::Int, TypeKind::BigInt, TypeKind::Double, TypeKind::VarChar, TypeKind::Blob];
    check!().with_type::<(Vec<(u8, i64, Vec<u8>)>, u8)>().for_each(|(drawn, more)| {
        let columns: Vec<DataType> = drawn
            .iter()
            .map(|(kind, ..)| match kinds[usize::from(*kind) % kinds.len()] {
                TypeKind::VarChar => DataType::string(TypeKind::VarChar, 255, CollationId::BINARY),
                kind => DataType::new(kind),
            })
            .collect();
        let values: Vec<Value<'_>> = drawn
            .iter()
            .zip(&columns)
            .map(|((kind, number, bytes), column)| match column.kind {
                _ if kind & 0x80 != 0 => Value::Null,
                TypeKind::TinyInt => Value::Int(i64::from(*number as i8)),
                TypeKind::Int => Value::Int(i64::from(*number as i32)),
                TypeKind::BigInt => Value::Int(*number),
                TypeKind::Double => Value::Double(*number as f64),
                _ => Value::Bytes(bytes.as_slice().into()),
            })
            .collect();
        let layout = RowLayout::new(&columns);
        let mut row = Vec::new();
        layout.encode(&mut row, &values);
        let wider: Vec<DataType> =
            columns.iter().copied().chain((0..more % 3).map(|_| DataType::new(TypeKind::Int))).collect();
        for layout in [layout, RowLayout::new(&wider)] {
            for (i, value) in values.iter().enumerate() {
                assert_eq!(layout.get(&row, i).as_ref(), Some(value), "column {i} of {columns:?}");
            }
            assert!((values.len()..layout.columns()).all(|i| layout.get(&row, i).is_none()));
        }
    });
}
