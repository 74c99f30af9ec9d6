//! Row codec and key encoding on the shapes that sysbench's tables have.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use types::key::encode_part;
use types::{CollationId, DataType, KeyPart, RowLayout, TypeKind, Value};

const AI_CI: CollationId = CollationId::UTF8MB4_0900_AI_CI;

fn rows(c: &mut Criterion) {
    // CREATE TABLE sbtest1 (id INT NOT NULL, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL)
    let int = DataType::new(TypeKind::Int).not_null();
    let text = |n| DataType::string(TypeKind::Char, n, AI_CI).not_null();
    let layout = RowLayout::new(&[int, int, text(120), text(60)]);
    let (c_text, pad) = ("68487932199-".repeat(10), "67847967377-".repeat(5));
    let values = [
        Value::Int(1),
        Value::Int(50_000),
        Value::Bytes(c_text.as_bytes().into()),
        Value::Bytes(pad.as_bytes().into()),
    ];
    let mut row = Vec::new();
    layout.encode(&mut row, &values);
    c.bench_function("row/encode sbtest", |b| {
        let mut out = Vec::with_capacity(512);
        b.iter(|| {
            out.clear();
            layout.encode(&mut out, black_box(&values));
        })
    });
    c.bench_function("row/get int", |b| b.iter(|| layout.get(black_box(&row), 1)));
    c.bench_function("row/get_bytes c", |b| b.iter(|| layout.get_bytes(black_box(&row), 2)));
}

fn keys(c: &mut Criterion) {
    let mut bench = |name: &str, t: DataType, value: Value<'static>| {
        let part = KeyPart::new(t);
        c.bench_function(&format!("key/{name}"), |b| {
            let mut out = Vec::with_capacity(512);
            b.iter(|| {
                out.clear();
                encode_part(&mut out, black_box(&part), black_box(&value));
            })
        });
    };
    let text = || Value::Bytes("The quick brown fox jumps".as_bytes().into());
    let string = |id| DataType::string(TypeKind::VarChar, 255, id).not_null();
    bench("int", DataType::new(TypeKind::Int).not_null(), Value::Int(50_000));
    bench("bigint nullable", DataType::new(TypeKind::BigInt), Value::Int(-5));
    bench("decimal(10,2)", DataType::decimal(10, 2), Value::Decimal(types::Decimal::from_parts(false, 123_456, 2)));
    bench("0900_ai_ci, 25 characters", string(AI_CI), text());
    bench("general_ci, 25 characters", string(CollationId::UTF8MB4_GENERAL_CI), text());
    bench("utf8mb4_bin, 25 characters", string(CollationId::UTF8MB4_BIN), text());
    let (x, y) = ("The quick brown fox jumps", "the quick brown FOX jumpt");
    c.bench_function("compare/0900_ai_ci", |b| {
        b.iter(|| AI_CI.compare(black_box(x.as_bytes()), black_box(y.as_bytes())))
    });
}

criterion_group!(benches, rows, keys);
criterion_main!(benches);
