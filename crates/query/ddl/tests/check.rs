//! CHECK TABLE finds an entry too many, one too few, and one in another's place, and nothing in a sound table.

#[path = "../../run/tests/common/mod.rs"]
mod common;

use common::{Database, int, varchar};
use engine::Isolation;
use types::{KeyPart, Value, key};

/// A table of some rows with an index of `a`, which is that of the row's id.
fn database() -> Database {
    let mut db = Database::new();
    let columns = [("id", int().not_null()), ("a", int()), ("s", varchar(20))];
    db.table("t", &columns, &[("PRIMARY", true, &[0]), ("a", false, &[1]), ("s", true, &[2])], false);
    for id in 0..300 {
        db.change(&format!("INSERT INTO t VALUES ({id}, {}, 's{id}')", id * 10));
    }
    db
}

fn check(db: &mut Database) -> Option<String> {
    let table = db.version.table("test", "t").unwrap().clone();
    db.tx.begin(Isolation::RepeatableRead, true);
    let found = ddl::check::check_table(&mut db.tx, &table, 4).unwrap();
    db.tx.rollback().unwrap();
    found
}

/// The entry of index `a` for a row.
fn entry(db: &Database, a: i64, id: i64) -> Vec<u8> {
    let table = db.version.table("test", "t").unwrap();
    let mut bytes = Vec::new();
    let mut put = |part: &KeyPart, value| key::encode_part(&mut bytes, part, &Value::Int(value));
    put(&table.indexes[1].parts[0].key, a);
    put(&table.indexes[0].parts[0].key, id);
    bytes
}

fn damage(db: &mut Database, removed: Option<(i64, i64)>, added: Option<(i64, i64)>) {
    let tree = db.version.table("test", "t").unwrap().indexes[1].tree;
    let (removed, added) = (removed.map(|(a, id)| entry(db, a, id)), added.map(|(a, id)| entry(db, a, id)));
    db.tx.begin(Isolation::RepeatableRead, false);
    removed.iter().for_each(|entry| db.tx.index_delete(tree, entry).unwrap());
    added.iter().for_each(|entry| db.tx.index_insert(tree, entry, None, b"").unwrap());
    db.tx.commit().unwrap();
}

#[test]
fn what_differs_is_found() {
    let cases = [
        (None, None, None),
        (Some((70, 7)), None, Some("Found 299 entries in index 'a', and 300 rows")),
        (None, Some((71, 7)), Some("Entry 9 of index 'a' has no row")),
        (None, Some((70, 1000)), Some("Entry 9 of index 'a' has no row")),
        (Some((70, 7)), Some((80, 7)), Some("Entry 8 of index 'a' has no row")),
        (Some((2990, 299)), Some((3000, 299)), Some("Entry 300 of index 'a' has no row")),
    ];
    for (removed, added, expected) in cases {
        let mut db = database();
        damage(&mut db, removed, added);
        assert_eq!(check(&mut db).as_deref(), expected, "removed {removed:?}, added {added:?}");
    }
}

/// Entries of a transaction that is not over, both ways, are the row's to say.
#[test]
fn changes_in_progress_are_no_damage() {
    let mut db = database();
    db.change("UPDATE t SET a = a + 1 WHERE id < 50");
    let mut other = engine::Transaction::new(&db.env.engine).unwrap();
    std::mem::swap(&mut db.tx, &mut other);
    db.tx.begin(Isolation::RepeatableRead, false);
    let table = db.version.table("test", "t").unwrap().clone();
    for (id, a) in [(3, 31), (4, 41), (200, 2000)] {
        let (old, new) = (entry(&db, a, id), entry(&db, a + 5, id));
        db.tx.index_delete(table.indexes[1].tree, &old).unwrap();
        db.tx.index_insert(table.indexes[1].tree, &new, None, b"").unwrap();
    }
    // What is open there is not seen here: nothing is amiss.
    std::mem::swap(&mut db.tx, &mut other);
    assert_eq!(check(&mut db), None);
    other.commit().unwrap();
    assert_eq!(check(&mut db).as_deref(), Some("Entry 4 of index 'a' has no row"));
}
