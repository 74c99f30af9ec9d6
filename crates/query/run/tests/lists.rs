//! A long list of IN, which is looked up in a sorted copy, says what `=` of each of its values says.

mod common;

use common::{Database, Random, int, seeds, varchar};
use types::{CollationId, DataType, TypeKind};

const COLUMNS: [&str; 6] = ["i", "u", "d", "f", "s", "t"];

fn database(random: &mut Random) -> Database {
    let mut db = Database::new();
    let columns: [(&str, DataType); 7] = [
        ("id", int().not_null()),
        ("i", int()),
        ("u", DataType { length: 20, ..DataType::new(TypeKind::BigInt) }.unsigned()),
        ("d", DataType { length: 8, decimals: 2, ..DataType::new(TypeKind::Decimal) }),
        ("f", DataType::new(TypeKind::Double)),
        ("s", varchar(8)),
        ("t", DataType::new(TypeKind::Date)),
    ];
    assert_eq!(columns[5].1.collation, CollationId::UTF8MB4_0900_AI_CI);
    db.table("t", &columns, &[("PRIMARY", true, &[0])], false);
    for id in 0..40 {
        let mut values: Vec<String> = COLUMNS.iter().map(|c| value(random, c)).collect();
        values.insert(0, id.to_string());
        db.change(&format!("INSERT INTO t VALUES ({})", values.join(", ")));
    }
    db
}

/// A literal that a column of that name may have.
fn value(random: &mut Random, column: &str) -> String {
    let n = random.next(12);
    match column {
        _ if random.next(9) == 0 => "NULL".into(),
        "i" | "u" => n.to_string(),
        "d" => format!("{n}.{}", random.of(&["0", "5", "25"])),
        "f" => format!("{n}.5e0"),
        "s" => random.of(&["'a'", "'A'", "'b'", "'ä'", "'10'", "'1'", "'2.5'", "''", "'b '", "'zz'"]).into(),
        _ => format!("'2024-01-{:02}'", n + 1),
    }
}

#[test]
fn a_list_says_what_its_values_say() {
    for seed in seeds(0..40) {
        let mut random = Random(seed * 2 + 1);
        let mut db = database(&mut random);
        for _ in 0..20 {
            let column = random.of(&COLUMNS);
            // Mostly of the column's own kind, sometimes of any.
            let kinds = if random.next(3) == 0 { &COLUMNS[..] } else { &[column][..] };
            let kinds: Vec<&str> = kinds.iter().copied().filter(|kind| (*kind == "t") == (column == "t")).collect();
            let list: Vec<String> = (0..random.next(14) + 1)
                .map(|_| {
                    let kind = random.of(&kinds);
                    value(&mut random, kind)
                })
                .collect();
            let any: Vec<String> = list.iter().map(|v| format!("{column} = {v}")).collect();
            let (list, any) = (list.join(", "), any.join(" OR "));
            for (is, text) in [("IN", any.clone()), ("NOT IN", format!("NOT ({any})"))] {
                let by_list = db.rows(&format!("SELECT id, {column} {is} ({list}) FROM t ORDER BY id"));
                let by_values = db.rows(&format!("SELECT id, {text} FROM t ORDER BY id"));
                assert_eq!(by_list, by_values, "seed {seed}: {column} {is} ({list})");
                let found = db.rows(&format!("SELECT id FROM t WHERE {column} {is} ({list}) ORDER BY id"));
                let wanted = db.rows(&format!("SELECT id FROM t WHERE {text} ORDER BY id"));
                assert_eq!(found, wanted, "seed {seed}: WHERE {column} {is} ({list})");
            }
        }
    }
}
