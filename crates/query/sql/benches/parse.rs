//! Time to parse and to normalise: a point select, a join of five tables, an insert of a thousand rows.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sql::SqlMode;
use sql::digest::{Normalized, normalize};
use std::hint::black_box;

fn statements() -> [(&'static str, String); 3] {
    let rows: Vec<String> =
        (0..1000).map(|i| format!("({i}, {}, '{:0>119}', '{:0>59}')", i * 7919 % 1000, i, i)).collect();
    [
        ("point select", "SELECT c FROM sbtest1 WHERE id=50531".into()),
        (
            "five-table join",
            "SELECT c.name, o.id, SUM(l.price * l.quantity) AS total, p.title FROM customers c \
             JOIN orders o ON o.customer_id = c.id LEFT JOIN order_lines l ON l.order_id = o.id AND l.deleted = 0 \
             JOIN products p ON p.id = l.product_id JOIN regions r ON r.id = c.region_id \
             WHERE o.created BETWEEN '2024-01-01' AND '2024-12-31' AND r.code IN ('EU', 'US', 'JP') AND c.status <> \
             'closed' \
             GROUP BY c.name, o.id, p.title HAVING SUM(l.price * l.quantity) > 100 ORDER BY total DESC, c.name LIMIT 20"
                .into(),
        ),
        ("thousand-row insert", format!("INSERT INTO sbtest1 (id, k, c, pad) VALUES {}", rows.join(", "))),
    ]
}

fn parsing(c: &mut Criterion) {
    for (name, text) in statements() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("parse", |b| b.iter(|| sql::parse(black_box(text.as_bytes()), SqlMode::default())));
        let mut out = Normalized::default();
        group.bench_function("normalize", |b| {
            b.iter(|| normalize(black_box(text.as_bytes()), SqlMode::default(), &mut out));
        });
        group.finish();
    }
}

criterion_group!(benches, parsing);
criterion_main!(benches);
